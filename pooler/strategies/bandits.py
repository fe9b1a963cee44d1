"""What all bandit strategies share: runs as the arms of a slot machine."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pooler.strategies.unobserved import Unobserved
from pooler.topic_rankings import TopicRankings


class Bandit(ABC):
    """Choose a run by what its documents were worth; then its first unobserved document.

    Every run with unobserved documents is an arm, and to judge a document is to pull it. The
    reward is 1 for a relevant document and 0 for another one [1]_. A subclass says which arm to
    pull next.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Notes
    -----
    The reward is credited to every run that returned the document, anywhere in the ranking as it
    was cut; so does MaxMean in Lipani et al.'s implementation, whose other bandits credit the arm
    pulled alone. So it does not matter from which arm a document came, and `observe` takes any
    document alike. A document without a judgement earns nothing, and counts as no pull.

    O(n_runs) for each document observed.

    References
    ----------
    .. [1] Losada, Parapar and Barreiro, "Multi-armed bandits for adjudicating documents in
       pooling-based evaluation of information retrieval systems", *Information Processing &
       Management* 53(5), pp. 1005-1025, 2017, doi:10.1016/j.ipm.2017.04.005.
    """

    def __init__(self, rankings: TopicRankings) -> None:
        self._unobserved = Unobserved(rankings)
        self._hits: list[float] = [0] * rankings.n_runs
        """By run: relevant documents among those judged."""
        self._judged: list[float] = [0] * rankings.n_runs
        """By run: judged documents."""
        self._n_judged = 0
        """Judged documents of the topic: pulls so far."""

    def choose(self) -> int | None:
        """Return the first unobserved document of the best arm; ``None`` = none left."""
        arms = [run for run, n_left in enumerate(self._unobserved.n_left) if n_left]
        return self._unobserved.head(self._arm(arms)) if arms else None

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Take in what came of a document; see `Adaptive.observe`."""
        self._unobserved.remove(document)
        if relevant is None:
            return
        self._n_judged += 1
        for run, _ in self._unobserved.places[document]:
            self._credit(run, int(relevant))

    @abstractmethod
    def _arm(self, arms: list[int]) -> int:
        """Return the arm to pull next, of those there are: runs, ascending, at least one."""

    def _credit(self, run: int, reward: int) -> None:
        """Credit a run with a reward of 0 or 1."""
        self._hits[run] += reward
        self._judged[run] += 1
