"""The documents an adaptive strategy has not observed yet, run by run."""

from __future__ import annotations

from pooler.topic_rankings import NO_DOCUMENT, TopicRankings
from store.errors import ArgumentError


class Unobserved:
    """The documents of one topic that are still to be observed.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Notes
    -----
    O(n) to make and O(n) for all calls together, for n documents taken from all runs.

    Examples
    --------
    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b"]])
    >>> unobserved = Unobserved(rankings)
    >>> unobserved.remove(docnos.index("a"))
    >>> docnos[unobserved.head(0)], unobserved.n_left
    ('b', [2, 1])
    """

    def __init__(self, rankings: TopicRankings) -> None:
        self.places: list[list[tuple[int, int]]] = [[] for _ in range(rankings.n_documents)]
        """By document: the runs that returned it, ascending, each with its rank from 0."""
        self.n_left: list[int] = rankings.lengths.tolist()
        """By run: documents not observed yet."""
        self.n_observed = 0
        """Documents observed."""
        self._rows: list[list[int]] = rankings.documents.tolist()
        # Places before these are observed; where `head` looks on, and no part of the state.
        self._starts = [0] * rankings.n_runs
        self._is_left = bytearray(b"\1") * rankings.n_documents
        for run, row in enumerate(self._rows):
            for place, document in enumerate(row):
                if document == NO_DOCUMENT:
                    break
                self.places[document].append((run, place))

    @property
    def is_empty(self) -> bool:
        """Whether all documents have been observed."""
        return self.n_observed == len(self.places)

    def head(self, run: int) -> int:
        """Return the first document of a run that is not observed; there must be one."""
        row, place = self._rows[run], self._starts[run]
        while not self._is_left[row[place]]:
            place += 1
        self._starts[run] = place
        return row[place]

    def check(self, document: int) -> None:
        """Raise `ArgumentError` unless the document is one not observed before."""
        if not 0 <= document < len(self.places) or not self._is_left[document]:
            requirement = "must be the number of a document not observed before"
            raise ArgumentError("document", requirement, document)

    def remove(self, document: int) -> None:
        """Take a document as observed.

        Raises
        ------
        ArgumentError
            If it is no document of the topic, or was observed before.
        """
        self.check(document)
        self._is_left[document] = 0
        self.n_observed += 1
        for run, _ in self.places[document]:
            self.n_left[run] -= 1
