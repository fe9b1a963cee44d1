"""RBP-weighted pooling, the adaptive kinds: methods B and C."""

from __future__ import annotations

import numpy as np

from pooler.strategies.exact_sums import from_units, units
from pooler.strategies.rbp import rbp_weights
from pooler.strategies.weighted_sums import WeightedSums
from pooler.topic_rankings import TIE_WITHIN, TopicRankings


class RbpB:
    r"""Judge what takes the most uncertainty from the RBP of the runs.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    p : float
        Persistence, in (0, 1); the smaller, the more the first ranks count.

    Notes
    -----
    The next document is the unobserved one with the greatest

    .. math:: s(d) = \sum_r w_r(d)\,\mathrm{res}_r, \qquad
              w_r(d) = (1 - p) p^{\mathrm{rank}_r(d) - 1}    (Method B of [1]_)

    over the runs that returned d, where the residual of a run is what its RBP may still change
    by: 1 less the weights of its judged documents. Made anew after every judgement, for each
    topic by itself ([1]_ lets the documents of all topics compete). What relevance the judgements
    found does not matter here. A document without a judgement leaves the residuals as they are.
    Ties: docno descending; sums that differ by less than `pooler.topic_rankings.TIE_WITHIN` tie,
    since 0.8 is no float and its powers are rounded.

    The residual is summed from what is left, that is from the weights of the documents not judged
    and from :math:`p^n` for all after the n-th and last, since nothing exact would be left of 1
    less nearly 1. These sums have no rounding. So the state depends on which documents were
    judged, and not on their order, nor on the machine. Far down, where products of weight and
    residual are too small for a float, they are 0, and docno alone decides.

    O(n_runs * depth) for each document.

    References
    ----------
    .. [1] Moffat, Webber and Zobel, "Strategic system comparisons via targeted relevance
       judgments", *SIGIR* 2007, pp. 375-382, doi:10.1145/1277741.1277806.

    Examples
    --------
    a and b are both first once. When a has been judged, half of its run's RBP is known, so c,
    second there, has 1/4 * 1/2, and b has all its 1/2:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "c"], ["b"]])
    >>> state = RbpB(rankings, p=0.5)
    >>> state.observe(docnos.index("a"), True)
    >>> docnos[state.choose()]
    'b'
    """

    def __init__(self, rankings: TopicRankings, *, p: float) -> None:
        weights = rbp_weights(rankings.depth, p=p)
        shape = rankings.documents.shape
        worth = np.broadcast_to(weights, shape)
        self._sums = WeightedSums(rankings, worth, tie_within=TIE_WITHIN)
        self._weights = [units(weight) for weight in weights.tolist()]
        powers = np.cumprod(np.full(rankings.depth, p)).tolist()
        lengths = rankings.lengths.tolist()
        self._residuals = [units(powers[n - 1]) + sum(self._weights[:n]) for n in lengths]
        """By run: what its RBP may still change by, in exact units."""
        self._bases = [0] * rankings.n_runs
        """By run: weights of its relevant documents, in exact units."""
        self._factors = [self._factor(run) for run in range(rankings.n_runs)]

    def choose(self) -> int | None:
        """Return the unobserved document of the greatest value; ``None`` = none left."""
        return self._sums.best(self._factors)

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Take in what came of a document; see `Adaptive.observe`."""
        self._sums.remove(document)
        if relevant is None:
            return
        for run, place in self._sums.unobserved.places[document]:
            self._residuals[run] -= self._weights[place]
            if relevant:
                self._bases[run] += self._weights[place]
            self._factors[run] = self._factor(run)

    def _factor(self, run: int) -> float:
        """Return what a run's weights are multiplied with."""
        return from_units(self._residuals[run])


class RbpC(RbpB):
    r"""Judge what takes the most uncertainty from the RBP of the runs that are likely good.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.
    p : float
        Persistence, in (0, 1); the smaller, the more the first ranks count.

    Notes
    -----
    As `RbpB`, with

    .. math:: s(d) = \sum_r w_r(d)\,\mathrm{res}_r\,(\mathrm{base}_r + \mathrm{res}_r / 2)^3
              (Method C of [1]_)

    where the base of a run is what its RBP is already: the weights of its documents judged
    relevant. So base + residual / 2 is the middle of what its RBP can be, and the third power
    prefers the runs at the top.

    References
    ----------
    .. [1] Moffat, Webber and Zobel, "Strategic system comparisons via targeted relevance
       judgments", *SIGIR* 2007, pp. 375-382, doi:10.1145/1277741.1277806.

    Examples
    --------
    Method B would leave the run of a, since b has 0.2 * 1 and c 0.16 * 0.8. Method C stays when a
    is relevant: c has 0.16 * 0.8 * (0.2 + 0.4)**3 = 0.028, and b 0.2 * 1 * 0.5**3 = 0.025.

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "c"], ["b"]])
    >>> state = RbpC(rankings, p=0.8)
    >>> state.observe(docnos.index("a"), True)
    >>> docnos[state.choose()]
    'c'
    """

    def _factor(self, run: int) -> float:
        residual = from_units(self._residuals[run])
        middle = from_units(self._bases[run]) + residual / 2
        return residual * (middle * middle * middle)
