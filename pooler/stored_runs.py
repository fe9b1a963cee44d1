"""The runs of a collection, at one depth and in one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pooler.run_set import RunFacts, TopicRuns, check_feeding
from pooler.top_ranking import TieAtCut
from pooler.topic_rankings import NO_DOCUMENT, TopicRankings
from store.errors import ArgumentError, PoolerError
from store.ranking import Order

if TYPE_CHECKING:
    from store.arrays import TopDocuments
    from store.collection import Collection


class StoredRuns:
    """Runs of a collection.

    Parameters
    ----------
    runs : sequence of RunFacts
        The runs, by tag; one contributes.
    top : TopDocuments
        The first documents of those that contribute.
    docnos : mapping of int to str
        Docno of every document id in `top`.
    depth : int
        The depth `top` was read at.
    order : Order
        The order `top` was read in.

    Raises
    ------
    ArgumentError
        If no run contributes.
    """

    def __init__(
        self,
        runs: Sequence[RunFacts],
        top: TopDocuments,
        docnos: Mapping[int, str],
        *,
        depth: int,
        order: Order,
    ) -> None:
        self.depth = depth
        self.order = order
        check_feeding(runs)
        self.runs = runs
        self.feeding = [run for run in self.runs if run.contributes]
        self._top = top
        self._docnos = docnos
        self._columns = {topic: column for column, topic in enumerate(top.topics)}
        self.topics = [
            topic for topic, column in self._columns.items() if top.lengths[:, column].any()
        ]

    def of_topic(self, topic: str, *, scores: bool = False) -> TopicRuns:
        """Return the rankings of one topic; O(n log n) for n documents taken."""
        column = self._columns[topic]
        rows = np.flatnonzero(self._top.lengths[:, column])
        ids = self._top.ids[rows, column]
        width = int((ids >= 0).sum(axis=1).max(initial=0))
        ids = ids[:, :width]
        present, places = np.unique(ids, return_inverse=True)
        places = places.reshape(ids.shape)
        if present.size and present[0] < 0:
            present, places = present[1:], places - 1  # the padding becomes NO_DOCUMENT
        names = [self._docnos[number] for number in present.tolist()]
        by_docno = sorted(range(len(names)), key=names.__getitem__)
        numbers = np.full(len(names) + 1, NO_DOCUMENT, np.int32)  # the last place is the padding's
        numbers[by_docno] = np.arange(len(names))
        table = None
        if scores:
            if self._top.scores is None:
                raise ArgumentError("scores", "must have been loaded with the runs", None)
            table = self._top.scores[rows, column, :width]
        rankings = TopicRankings(numbers[places], len(names), table, topic)
        return TopicRuns(rankings, [names[place] for place in by_docno], rows.tolist())

    def ties_at_cut(self) -> list[TieAtCut]:
        """List the ties across the cut, by tag, then topic."""
        return [
            TieAtCut(
                self._top.tags[row],
                self._top.topics[column],
                int(self._top.tied_in[row, column]),
                int(self._top.tied_out[row, column]),
            )
            for row, column in np.argwhere(self._top.tied_in).tolist()
        ]

    def lengths(self) -> NDArray[np.int64]:
        """Return the whole length of every ranking."""
        lengths: NDArray[np.int64] = self._top.lengths[self._top.lengths > 0].astype(np.int64)
        return lengths


def stored_runs(
    collection: Collection,
    *,
    depth: int,
    order: Order,
    tags: Sequence[str] | None = None,
    scores: bool = False,
) -> StoredRuns:
    """Load the first documents of a collection's runs.

    Parameters
    ----------
    collection : Collection
        The collection.
    depth : int
        Ranks taken from each run, at least 1.
    order : Order
        What orders the runs.
    tags : sequence of str, optional
        These runs, and all of them contribute; default: every run, each as the collection says.
    scores : bool, default=False
        Whether scores are loaded too.

    Raises
    ------
    PoolerError
        If there is no run.
    ArgumentError
        If no run contributes, or order ``rank`` meets stated ranks that are not integers.
    UnknownNameError
        If a tag is not known.
    """
    sizes = collection.run_sizes()
    facts = [
        RunFacts(
            run.tag,
            run.group,
            run.contributes or tags is not None,
            run.file,
            run.sha256,
            *sizes.get(run.tag, (0, 0)),
        )
        for run in collection.runs(() if tags is None else tags)
    ]
    if not facts:
        message = "there is no run in the collection"
        raise PoolerError(message, hint="pooler import runs, or name run files")
    check_feeding(facts)
    feeding = [run.tag for run in facts if run.contributes]
    top = collection.top_documents(feeding, depth=depth, order=order, scores=scores)
    present = np.unique(top.ids)
    docnos = collection.docnos(present[present >= 0].tolist())
    return StoredRuns(facts, top, docnos, depth=depth, order=order)
