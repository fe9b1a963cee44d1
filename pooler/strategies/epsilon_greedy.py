"""Epsilon-greedy pooling: a bandit that mostly pulls the best arm, and sometimes any arm."""

from __future__ import annotations

from pooler.randomness import uniform_numbers
from pooler.strategies.bandits import Bandit
from pooler.topic_rankings import TopicRankings


class EpsilonGreedy(Bandit):
    r"""Pull any arm at random at first, later more and more often the best one.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    seed : int
        Not negative.
    c : float
        Above 0; the greater, the longer arms are tried at random.
    d : float
        In (0, 1); the smaller, the longer. Theory asks that it be at most what the best arm's
        mean is above the next one's [2]_.

    Notes
    -----
    The n-th pull is at random, every arm being as likely as another, with probability

    .. math:: \epsilon_n = \min(1, c m / (d^2 n))    ([2]_, figure 3)

    for m runs, those without unobserved documents too; else it goes to the arm with the greatest
    share of relevant documents among those judged (1/2 where none is; ties: run tag ascending).
    With ``c=0.01`` and ``d=0.1``, the values of [1]_, the first m pulls are all random.

    The choice after n observed documents takes two numbers of the topic's random stream of step
    n: the first decides whether it is random, the second on the arm. n in the formula counts
    judged documents, and 1 for the pull to come. What is credited to which run:
    `pooler.strategies.bandits.Bandit`. O(n_runs) for each document, and 20 microseconds for the
    random numbers.

    References
    ----------
    .. [1] Losada, Parapar and Barreiro, "Multi-armed bandits for adjudicating documents in
       pooling-based evaluation of information retrieval systems", *Information Processing &
       Management* 53(5), pp. 1005-1025, 2017, doi:10.1016/j.ipm.2017.04.005.
    .. [2] Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit
       problem", *Machine Learning* 47, pp. 235-256, 2002, doi:10.1023/A:1013689704352.

    Examples
    --------
    With a small `c`, chance has hardly a say: the run with the relevant document goes on.

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["c", "d"]])
    >>> state = EpsilonGreedy(rankings, seed=1, c=1e-9, d=0.5)
    >>> state.observe(docnos.index("a"), False)
    >>> state.observe(docnos.index("c"), True)
    >>> docnos[state.choose()]
    'd'
    """

    def __init__(self, rankings: TopicRankings, *, seed: int, c: float, d: float) -> None:
        super().__init__(rankings)
        self._seed = seed
        self._topic = rankings.topic
        # The square of a small d would be 0.
        self._scale = c * rankings.n_runs / d / d

    def _arm(self, arms: list[int]) -> int:
        step = self._unobserved.n_observed
        whether, which = uniform_numbers(self._seed, self._topic, 2, step=step).tolist()
        if whether < self._scale / (self._n_judged + 1):
            return arms[int(which * len(arms))]
        return max(arms, key=self._mean)

    def _mean(self, run: int) -> float:
        """Return the share of relevant documents of a run."""
        return self._hits[run] / self._judged[run] if self._judged[run] else 1 / 2
