"""Move-To-Front pooling."""

from __future__ import annotations

from pooler.strategies.unobserved import Unobserved
from pooler.topic_rankings import TopicRankings


class MoveToFront:
    """Stay with a run while it gives relevant documents, else go to the best other run.

    Every run has a priority; all begin alike. The next document is the first unobserved one of
    the current run, at the beginning the first run by tag. When it is relevant, the run stays
    the current one. When it is not, the run's priority falls by 1, and the other run of the
    highest priority becomes the current one (no other left: the same run). A run without
    unobserved documents leaves, and the run of the highest priority follows it. Documents
    observed already are passed over and change no priority.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Notes
    -----
    [1]_ begins at a random run and breaks ties at random; here the run tag decides, ascending, so
    that judging can be replayed. Topics are apart (the local form of [1]_).

    A document that is not the one `choose` names, as when a late judgement changes the past,
    counts as taken from the run at whose head (first unobserved document) it stands: the current
    run if it is one of them, else that of the highest priority. Relevant, it makes this run the
    current one; not relevant, it lowers the run's priority, and the current run goes only if it
    is this run. At the head of no run, it is marked as observed and no more. A document without
    a judgement is only marked, too, wherever it stands.

    O(n_runs) for each document, and O(n) in all for n documents taken from all runs.

    References
    ----------
    .. [1] Cormack, Palmer and Clarke, "Efficient construction of large test collections", *SIGIR*
       1998, pp. 282-289, doi:10.1145/290941.291009.

    Examples
    --------
    a is relevant, so its run goes on; b is not, and the other run takes over:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["d", "c"]])
    >>> state = MoveToFront(rankings)
    >>> for relevant in True, False, False, False:
    ...     chosen = state.choose()
    ...     print(docnos[chosen], relevant)
    ...     state.observe(chosen, relevant)
    a True
    b False
    d False
    c False
    """

    def __init__(self, rankings: TopicRankings) -> None:
        self._unobserved = Unobserved(rankings)
        self._priorities = [0] * rankings.n_runs
        self._current = self._best_run()

    def choose(self) -> int | None:
        """Return the first unobserved document of the current run; ``None`` = none left."""
        return None if self._current is None else self._unobserved.head(self._current)

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Take in what came of a document; see `Adaptive.observe`."""
        self._unobserved.check(document)
        charged = None if relevant is None else self._charged_run(document)
        self._unobserved.remove(document)
        if charged is not None and relevant:
            self._current = charged
        elif charged is not None:
            self._priorities[charged] -= 1
            if charged == self._current:
                other = self._best_run(but=charged)
                self._current = charged if other is None else other
        if self._current is not None and not self._unobserved.n_left[self._current]:
            self._current = self._best_run()

    def _charged_run(self, document: int) -> int | None:
        """Return the run a document counts as taken from."""
        current, head = self._current, self._unobserved.head
        if current is not None and head(current) == document:
            return current
        runs = (run for run, _ in self._unobserved.places[document] if head(run) == document)
        return max(runs, key=self._priorities.__getitem__, default=None)

    def _best_run(self, but: int | None = None) -> int | None:
        """Return the run of the highest priority that has documents left, other than `but`."""
        left = (run for run, n in enumerate(self._unobserved.n_left) if n and run != but)
        # `max` takes the first of equals.
        return max(left, key=self._priorities.__getitem__, default=None)
