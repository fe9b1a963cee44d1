"""MAP of all runs while the judgements grow.

Only relevant documents move average precision, and most ranks hold none. So the ranks that do are
gathered once, and any part of the relevant documents is scored in the time it takes to look at
them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.average_precision import mean_average_precision
from store.analysis.judged_rankings import RELEVANT, JudgedRankings
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True, eq=False)
class RelevantRanks:
    """Where every relevant document stands in every run; build it with `relevant_ranks`.

    Relevant documents are numbered topic by topic, and within a topic in the order of their codes
    in `JudgedRankings`, which is that of their ids. Those that no run retrieved have a number too.
    """

    n_runs: int
    topic_of: NDArray[np.int64]
    """Shape (n_relevant,): place of the document's topic, ascending."""
    n_topics: int
    lists: NDArray[np.int64]
    """Shape (n_places,), ascending: run * n_topics + topic of each relevant document retrieved."""
    ranks: NDArray[np.int64]
    """Shape (n_places,): its rank there, from 1; ascending within a list."""
    documents: NDArray[np.int64]
    """Shape (n_places,): its number."""

    def first_of(self, topic: int) -> int:
        """Return the least number of a topic's relevant documents: how many come before them."""
        return int(np.searchsorted(self.topic_of, topic))

    def mean_average_precision(
        self, found: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Score all runs as if only some of the relevant documents were known.

        Parameters
        ----------
        found : ndarray of bool, shape (n_relevant,)
            Which relevant documents are known; the others count as not relevant, and not in R.

        Returns
        -------
        mean : ndarray of float64, shape (n_runs,)
            MAP in [0, 1] over the topics with a known relevant document; NaN when there is none.
        n_defined : ndarray of int64, shape (n_runs,)
            Topics the mean is over, the same for every run.

        Raises
        ------
        ArgumentError
            If `found` has another length.

        Notes
        -----
        As `store.analysis.average_precision` has it, R over the pool, but for rounding.
        O(n_relevant + n_places).
        """
        if found.shape != self.topic_of.shape:
            requirement = f"must have shape {self.topic_of.shape}"
            raise ArgumentError("found", requirement, found.shape)
        is_known = found[self.documents]
        lists, ranks = self.lists[is_known], self.ranks[is_known]
        n_lists = self.n_runs * self.n_topics
        n_in_list = np.bincount(lists, minlength=n_lists)
        before = np.cumsum(n_in_list) - n_in_list
        n_so_far = np.arange(1, lists.size + 1) - before[lists]
        sums = np.bincount(lists, n_so_far / ranks, minlength=n_lists)
        n_relevant = np.bincount(self.topic_of[found], minlength=self.n_topics)
        shape = (self.n_runs, self.n_topics)
        undefined = np.full(shape, np.nan)
        average = np.divide(sums.reshape(shape), n_relevant, out=undefined, where=n_relevant > 0)
        return mean_average_precision(average)


def relevant_ranks(arrays: JudgedRankings) -> RelevantRanks:
    """Gather the ranks that hold a relevant document.

    Parameters
    ----------
    arrays : JudgedRankings
        Runs and judgements.

    Returns
    -------
    RelevantRanks
        Topics and runs in the order of `arrays`.

    Notes
    -----
    O(ranks of all runs), and memory for the ranks that hold a relevant document.

    Examples
    --------
    Documents 10 and 30 are relevant. With both known, AP is (1/1 + 2/3) / 2; with 30 alone, which
    is at rank 3, it is 1/3:

    >>> from store.analysis.judged_rankings import judged_rankings
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["run"],
    ...     {("run", "t"): np.array([10, 20, 30])},
    ...     {"t": (np.array([10, 20, 30]), np.array([True, False, True]))},
    ...     cutoff=1000,
    ... )
    >>> ranks = relevant_ranks(arrays)
    >>> ranks.mean_average_precision(np.array([True, True]))[0].round(4).tolist()
    [0.8333]
    >>> ranks.mean_average_precision(np.array([False, True]))[0].round(4).tolist()
    [0.3333]
    """
    runs, topics, columns = np.nonzero(arrays.relevant())
    is_relevant = [standing == RELEVANT for standing in arrays.standing]
    together = np.concatenate([np.zeros(0, np.bool_), *is_relevant])
    sizes = np.array([one.size for one in is_relevant], dtype=np.int64)
    before = np.cumsum(sizes) - sizes
    numbers = np.cumsum(together) - 1
    codes = arrays.documents[runs, topics, columns]
    n_topics = len(arrays.topics)
    return RelevantRanks(
        n_runs=len(arrays.tags),
        topic_of=np.repeat(np.arange(n_topics), arrays.n_relevant),
        n_topics=n_topics,
        lists=runs * n_topics + topics,
        ranks=columns + 1,
        documents=numbers[before[topics] + codes],
    )
