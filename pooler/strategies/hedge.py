"""Hedge pooling: runs are experts, and lose weight by what they recommended in vain."""

from __future__ import annotations

import math

import numpy as np

from pooler.strategies.exact_sums import from_units, units
from pooler.strategies.weighted_sums import WeightedSums
from pooler.topic_rankings import TopicRankings


class Hedge:
    r"""Judge what the runs recommend, weighted by how good their advice was.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    beta : float
        In (0, 1); the smaller, the faster a run loses weight.

    Notes
    -----
    With n documents in the union, a run r of length :math:`n_r` recommends each of them by

    .. math:: g_r(d) = \ln n - \ln \mathrm{rank}_r(d), \quad\text{or else}\quad
              \ln n - \frac{1}{n - n_r} \sum_{i=n_r}^{n-1} \ln i

    when it did not return d: about the mean over the ranks d can have. The next document is the
    unobserved one with the greatest :math:`\sum_r \omega_r g_r(d)`, where

    .. math:: \omega_r \propto \beta^{\mathrm{loss}_r}, \qquad \mathrm{loss}_r =
              \sum_{d\ \mathrm{judged}} \frac12 (-1)^{\mathrm{rel}(d)} g_r(d)    ([1]_)

    so before the first judgement all weights are alike. The bounds of the mean over missing
    ranks are those of Lipani et al.'s implementation. A document without a judgement gives
    neither loss nor gain. Ties: docno descending. Documents tie when their sums differ by less
    than one part in 1e10: logarithms and powers are the C library's, whose last bits are not the
    same on every machine, and ranks 1 and 6 are to tie with ranks 2 and 3.

    What a run gives to documents it did not return is common to all documents, so it is taken
    from every :math:`g_r` when documents are compared, and weights are relative to the best run
    that has documents left. That changes no order, and keeps differences that would drown beside
    a great common part when one run has nearly all the weight; documents tie by what is left.
    Losses are summed without rounding, so the order of the judgements does not matter.

    O(n_runs * depth) for each document.

    References
    ----------
    .. [1] Aslam, Pavlu and Savell, "A unified model for metasearch, pooling, and system
       evaluation", *CIKM* 2003, pp. 484-491, doi:10.1145/956863.956953.

    Examples
    --------
    Both runs lead with a document of their own. When the first run's is not relevant, the second
    run is followed:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["d", "c"], ["a", "b"]])
    >>> state = Hedge(rankings, beta=0.1)
    >>> order = []
    >>> for relevant in False, True, True, False:
    ...     chosen = state.choose()
    ...     order.append(docnos[chosen])
    ...     state.observe(chosen, relevant)
    >>> order
    ['d', 'a', 'b', 'c']
    """

    def __init__(self, rankings: TopicRankings, *, beta: float) -> None:
        n_documents = rankings.n_documents
        lengths: list[int] = rankings.lengths.tolist()
        # numpy's logarithm depends on the processor.
        logs = [math.log(rank) for rank in range(1, n_documents + 1)]
        # The mean over i = n_r .. n - 1, that is over the places from n_r - 1 to n - 2 of `logs`.
        means = {
            n: math.fsum(logs[n - 1 : -1]) / (n_documents - n) for n in set(lengths) - {n_documents}
        }
        # A run that returned every document has no missing ranks; any number does.
        of_missing = [means.get(n, logs[-1]) for n in lengths]
        self._beta = beta
        self._missing = [logs[-1] - mean for mean in of_missing]
        """By run: what it recommends each document by that it did not return."""
        worth = np.array(of_missing)[:, np.newaxis] - np.array(logs[: rankings.depth])
        self._sums = WeightedSums(rankings, worth, tie_within=1e-10)
        self._worth = [[units(value) for value in row] for row in self._sums.worth.tolist()]
        self._more = [0] * rankings.n_runs
        """By run: twice the loss from what it recommends its own documents by beyond the
        others, in exact units."""
        self._more_floats = [0.0] * rankings.n_runs
        """The same as floats."""
        self._n_in_vain = 0
        """Judged documents that are not relevant, less those that are."""

    def choose(self) -> int | None:
        """Return the unobserved document recommended most; ``None`` = none left."""
        return None if self._sums.unobserved.is_empty else self._sums.best(self._weights())

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Take in what came of a document; see `Adaptive.observe`."""
        self._sums.remove(document)
        if relevant is None:
            return
        sign = -1 if relevant else 1
        self._n_in_vain += sign
        for run, place in self._sums.unobserved.places[document]:
            self._more[run] += sign * self._worth[run][place]
            self._more_floats[run] = from_units(self._more[run])

    def _weights(self) -> list[float]:
        """Return the weights of the runs, 1 for the best one with documents left."""
        twice = np.array(self._missing) * self._n_in_vain + np.array(self._more_floats)
        # A run that has nothing left to recommend may be far better than those that have.
        losses = np.where(self._sums.unobserved.n_left, twice / 2, np.inf)
        return [self._beta**loss for loss in (losses - losses.min()).tolist()]
