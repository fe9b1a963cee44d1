"""Pooling by Thompson sampling: a bandit that pulls an arm as often as it is likely the best."""

from __future__ import annotations

import numpy as np

from pooler.randomness import uniform_numbers
from pooler.strategies.bandits import Bandit
from pooler.topic_rankings import TopicRankings


class Thompson(Bandit):
    r"""Draw what every arm may be worth, and pull the one that drew the most.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    seed : int
        Not negative.

    Notes
    -----
    .. math:: \theta_r \sim \mathrm{Beta}(1 + \mathrm{hits}_r, 1 + \mathrm{misses}_r)

    and the arm of the greatest :math:`\theta_r` is pulled ([2]_; "BLA" in [1]_). Ties, of which
    there are none in practice: run tag ascending.

    For whole numbers, Beta(a, b) is the distribution of the a-th smallest of a + b - 1 uniform
    numbers [3]_, and this is how it is drawn: no distribution of numpy, no logarithm of the
    machine has a part in it. The choice after n observed documents takes numbers of the topic's
    random stream of step n: the first 1 + hits + misses for the first arm by tag, and so on.

    What is credited to which run: `pooler.strategies.bandits.Bandit`. O(j log j) for each
    document, where j is the sum over runs of judged documents, counted once for each run.

    References
    ----------
    .. [1] Losada, Parapar and Barreiro, "Multi-armed bandits for adjudicating documents in
       pooling-based evaluation of information retrieval systems", *Information Processing &
       Management* 53(5), pp. 1005-1025, 2017, doi:10.1016/j.ipm.2017.04.005.
    .. [2] Thompson, "On the likelihood that one unknown probability exceeds another in view of
       the evidence of two samples", *Biometrika* 25, pp. 285-294, 1933.
    .. [3] David and Nagaraja, *Order Statistics*, 3rd edition, 2003, section 2.3.

    Examples
    --------
    Before the first judgement each arm is worth one uniform number, and the greatest wins:

    >>> from pooler.topic_rankings import rankings_of
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
        step = self._unobserved.n_observed
        numbers = uniform_numbers(self._seed, self._topic, int(counts.sum()), step=step)
        # One row an arm; what is beyond its numbers is sorted to the end.
        rows = np.full((len(arms), counts.max()), 2.0)
        rows[np.arange(rows.shape[1]) < counts[:, np.newaxis]] = numbers
        rows.sort(axis=1)
        # The first of equals.
        return arms[int(rows[np.arange(len(arms)), hits].argmax())]
