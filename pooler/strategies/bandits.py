"""MaxMean, Thompson.

`Bandit` says what they share: the arms, the reward, which runs are credited with it, and the cost of
O(n_runs) for each document, unless one says another. Equal arms go by run tag ascending.

References
----------
.. [1] Losada, Parapar and Barreiro, "Multi-armed bandits for adjudicating documents in
   pooling-based evaluation of information retrieval systems", *Information Processing &
   Management* 53(5), pp. 1005-1025, 2017, doi:10.1016/j.ipm.2017.04.005.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from pooler.strategies.adaptive import Unobserved
from pooler.strategies.kinds import AdaptiveStrategy, Parameter
from pooler.strategies.rankings import TopicRankings, uniform_numbers


class Bandit(ABC):
    """Choose a run by what its documents were worth; then its first unobserved document.

    Every run with unobserved documents is an arm, and to judge a document is to pull it. The
    reward is 1 for a relevant document and 0 for another one [1]_. A subclass says which arm to
    pull next.

    Notes
    -----
    The reward is credited to every run that returned the document, anywhere in the ranking as it
    was cut; so does MaxMean in Lipani et al.'s implementation, whose other bandits credit the arm
    pulled alone. So it does not matter from which arm a document came, and `observe` takes any
    document alike. A document without a judgement earns nothing, and counts as no pull.
    """

    def __init__(self, rankings: TopicRankings) -> None:
        self._unobserved = Unobserved(rankings)
        self._hits: list[float] = [0] * rankings.n_runs
        """By run: relevant documents among those judged."""
        self._judged: list[float] = [0] * rankings.n_runs
        """By run: judged documents."""

    def choose(self) -> int | None:
        """Return the first unobserved document of the best arm; ``None`` = none left."""
        arms = [run for run, n_left in enumerate(self._unobserved.n_left) if n_left]
        return self._unobserved.head(self._arm(arms)) if arms else None

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Record what was judged of a document; see `Adaptive.observe`."""
        self._unobserved.remove(document)
        if relevant is None:
            return
        for run, _ in self._unobserved.places[document]:
            self._credit(run, int(relevant))

    @abstractmethod
    def _arm(self, arms: list[int]) -> int:
        """Return the arm to pull next, of those there are: runs, ascending, at least one."""

    def _credit(self, run: int, reward: int) -> None:
        self._hits[run] += reward
        self._judged[run] += 1


class MaxMean(Bandit):
    r"""Pull the arm of the greatest expected reward.

    Notes
    -----
    .. math:: \mu_r = (1 + \mathrm{hits}_r) / (2 + \mathrm{judged}_r)

    the mean of a Beta distribution that was uniform before the first judgement (MM of [1]_, which
    breaks ties at random).

    Examples
    --------
    b was in both runs and is relevant; a, in the first one only, is not. So the second run is
    worth 2/3, the first 2/4, and the second gives d:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "d"]])
    >>> state = MaxMean(rankings)
    >>> state.observe(docnos.index("a"), False)
    >>> state.observe(docnos.index("b"), True)
    >>> docnos[state.choose()]
    'd'
    """

    _rho: float = 1
    """What a judgement still counts after the next one of its run."""

    def __init__(self, rankings: TopicRankings) -> None:
        super().__init__(rankings)
        self._means = [1 / 2] * rankings.n_runs

    def _arm(self, arms: list[int]) -> int:
        # `max` takes the first of equals. Equal fractions of small numbers are equal floats.
        return max(arms, key=self._means.__getitem__)

    def _credit(self, run: int, reward: int) -> None:
        hits = self._hits[run] = self._rho * self._hits[run] + reward
        judged = self._judged[run] = self._rho * self._judged[run] + 1
        self._means[run] = (1 + hits) / (2 + judged)


class MaxMeanNonStationary(MaxMean):
    r"""Pull the arm of the greatest expected reward, where old judgements fade.

    A judgement still counts rho, in [0, 1], after the next one of its run: with 0 the last one alone counts,
    with 1 this is `MaxMean`.

    Notes
    -----
    At every judgement of a document it returned, and at no other, a run gets

    .. math:: \mathrm{hits}_r \leftarrow \rho\,\mathrm{hits}_r + \mathrm{rel}, \quad
              \mathrm{judged}_r \leftarrow \rho\,\mathrm{judged}_r + 1    (MM-NS of [1]_)

    and the mean is that of `MaxMean`; so with ``rho=0`` it is 2/3 after a relevant document, 1/3
    after another one, and 1/2 before the first.

    Examples
    --------
    The first run's latest document was not relevant, so the second run is tried, for all that
    the first one found before:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c", "d"], ["e"]])
    >>> state = MaxMeanNonStationary(rankings, rho=0)
    >>> for docno, relevant in ("a", True), ("b", True), ("c", False):
    ...     state.observe(docnos.index(docno), relevant)
    >>> docnos[state.choose()]
    'e'
    """

    def __init__(self, rankings: TopicRankings, *, rho: float) -> None:
        super().__init__(rankings)
        self._rho = rho


class Thompson(Bandit):
    r"""Draw what every arm may be worth, and pull the one that drew the most.

    Notes
    -----
    .. math:: \theta_r \sim \mathrm{Beta}(1 + \mathrm{hits}_r, 1 + \mathrm{misses}_r)

    and the arm of the greatest :math:`\theta_r` is pulled ([2]_; "BLA" in [1]_).

    For whole numbers, Beta(a, b) is the distribution of the a-th smallest of a + b - 1 uniform
    numbers [3]_, and this is how it is drawn: no distribution of numpy, no logarithm of the
    machine has a part in it. After n observed documents they are the first of the topic's random stream
    of step n: 1 + hits + misses of them for the first arm by tag, and so on.

    O(j log j) for each document, where j is the sum over runs of judged documents, counted once for
    each run.

    References
    ----------
    .. [2] Thompson, "On the likelihood that one unknown probability exceeds another in view of
       the evidence of two samples", *Biometrika* 25, pp. 285-294, 1933.
    .. [3] David and Nagaraja, *Order Statistics*, 3rd edition, 2003, section 2.3.

    Examples
    --------
    Before the first judgement each arm is worth one uniform number, and the greatest wins:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a"], ["b"], ["c"]], topic="51")
    >>> uniform_numbers(7, "51", 3, step=0).round(2).tolist()
    [0.55, 0.36, 0.19]
    >>> docnos[Thompson(rankings, seed=7).choose()]
    'a'
    """

    def __init__(self, rankings: TopicRankings, *, seed: int) -> None:
        super().__init__(rankings)
        self._seed = seed
        self._topic = rankings.topic

    def _arm(self, arms: list[int]) -> int:
        hits = np.array([self._hits[run] for run in arms], np.intp)
        counts = np.array([self._judged[run] for run in arms], np.intp) + 1
        # One row an arm; what is beyond its numbers is sorted to the end.
        rows = np.full((len(arms), counts.max()), 2.0)
        numbers = uniform_numbers(
            self._seed, self._topic, int(counts.sum()), step=self._unobserved.n_observed
        )
        rows[np.arange(rows.shape[1]) < counts[:, np.newaxis]] = numbers
        rows.sort(axis=1)
        # The first of equals.
        return arms[int(rows[np.arange(len(arms)), hits].argmax())]


_LOSADA = "Losada, Parapar and Barreiro 2017"
_RHO = Parameter("rho", 0.0, "weight of past judgements", least=0, most=1)
BANDITS = (
    AdaptiveStrategy(
        "max-mean", "bandit: the run with the best share of relevant documents", _LOSADA, start=MaxMean
    ),
    AdaptiveStrategy(
        "mm-ns", "max-mean where old judgements fade", _LOSADA, (_RHO,), start=MaxMeanNonStationary
    ),
    AdaptiveStrategy(
        "thompson",
        "bandit: each run as often as it is likely to be the best",
        _LOSADA,
        start=Thompson,
        needs_seed=True,
    ),
)
"""In the order in which strategies are listed."""
