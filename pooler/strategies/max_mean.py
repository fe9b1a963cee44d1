"""MaxMean pooling, and its kind that forgets: bandits that pull the arm of the best mean."""

from __future__ import annotations

from pooler.strategies.bandits import Bandit
from pooler.topic_rankings import TopicRankings


class MaxMean(Bandit):
    r"""Pull the arm of the greatest expected reward.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Notes
    -----
    .. math:: \mu_r = (1 + \mathrm{hits}_r) / (2 + \mathrm{judged}_r)

    the mean of a Beta distribution that was uniform before the first judgement (MM of [1]_).
    Ties, which [1]_ breaks at random: run tag ascending. What is credited to which run, and cost:
    `pooler.strategies.bandits.Bandit`.

    References
    ----------
    .. [1] Losada, Parapar and Barreiro, "Multi-armed bandits for adjudicating documents in
       pooling-based evaluation of information retrieval systems", *Information Processing &
       Management* 53(5), pp. 1005-1025, 2017, doi:10.1016/j.ipm.2017.04.005.

    Examples
    --------
    b was in both runs and is relevant; a, in the first one only, is not. So the second run is
    worth 2/3, the first 2/4, and the second gives d:

    >>> from pooler.topic_rankings import rankings_of
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

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    rho : float
        What a judgement still counts after the next one of its run, in [0, 1]: with 0 the last
        one alone counts, with 1 this is `MaxMean`.

    Notes
    -----
    At every judgement of a document it returned, and at no other, a run gets

    .. math:: \mathrm{hits}_r \leftarrow \rho\,\mathrm{hits}_r + \mathrm{rel}, \quad
              \mathrm{judged}_r \leftarrow \rho\,\mathrm{judged}_r + 1    (MM-NS of [1]_)

    and the mean is that of `MaxMean`; so with ``rho=0`` it is 2/3 after a relevant document, 1/3
    after another one, and 1/2 before the first. Ties: run tag ascending.

    References
    ----------
    .. [1] Losada, Parapar and Barreiro, "Multi-armed bandits for adjudicating documents in
       pooling-based evaluation of information retrieval systems", *Information Processing &
       Management* 53(5), pp. 1005-1025, 2017, doi:10.1016/j.ipm.2017.04.005.

    Examples
    --------
    The first run's latest document was not relevant, so the second run is tried, for all that
    the first one found before:

    >>> from pooler.topic_rankings import rankings_of
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
