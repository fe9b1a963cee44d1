"""Pooling by UCB1-tuned: a bandit that is optimistic about what it knows little of."""

from __future__ import annotations

import math

import numpy as np

from pooler.strategies.bandits import Bandit


class Ucb1Tuned(Bandit):
    r"""Pull the arm that could be the best.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Notes
    -----
    An arm none of whose documents has been judged is pulled first. Of the others, that with the
    greatest

    .. math:: \mu_r + \sqrt{\frac{\ln n}{n_r} \min\left(\frac14,
              \mu_r (1 - \mu_r) + \sqrt{\frac{2 \ln n}{n_r}}\right)}    ([2]_, section 4)

    where :math:`n_r` documents of the run have been judged, :math:`\mu_r` of them relevant (a
    share; its variance is :math:`\mu_r (1 - \mu_r)`), and n documents of the topic. Since one
    judgement is credited to several runs, n is not the sum of the :math:`n_r`. Ties: run tag
    ascending. The logarithm is the C library's: where two arms differ by less than about 1e-15,
    another machine may choose the other one. What is credited to which run:
    `pooler.strategies.bandits.Bandit`. O(n_runs) for each document.

    References
    ----------
    .. [1] Losada, Parapar and Barreiro, "Multi-armed bandits for adjudicating documents in
       pooling-based evaluation of information retrieval systems", *Information Processing &
       Management* 53(5), pp. 1005-1025, 2017, doi:10.1016/j.ipm.2017.04.005.
    .. [2] Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit
       problem", *Machine Learning* 47, pp. 235-256, 2002, doi:10.1023/A:1013689704352.

    Examples
    --------
    Nothing is known of the second run, so it comes next, however good the first one is:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["c"]])
    >>> state = Ucb1Tuned(rankings)
    >>> state.observe(docnos.index("a"), True)
    >>> docnos[state.choose()]
    'c'
    """

    def _arm(self, arms: list[int]) -> int:
        for run in arms:
            if not self._judged[run]:
                return run
        n_judged = np.array([self._judged[run] for run in arms], np.float64)
        means = np.array([self._hits[run] for run in arms], np.float64) / n_judged
        spread = math.log(self._n_judged) / n_judged
        variances = means * (1 - means) + np.sqrt(2 * spread)
        bounds = means + np.sqrt(spread * np.minimum(1 / 4, variances))
        # The first of equals.
        return arms[int(bounds.argmax())]
