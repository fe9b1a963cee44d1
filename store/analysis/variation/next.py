r"""Which document to judge next, so that the order of runs is settled soonest.

A certain judgement of document i takes :math:`w_i (g^A_i - g^B_i)^2` off the variance of the
difference of two runs' AP, on average, g being the gradients of `variation_gradient` and w the
`judgement_weights` (:math:`p_i (1 - p_i)` where some document is sure): exactly the part of the
variance that is due to not knowing this one document. Over topics and over pairs of runs
these parts can be compared and added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.variation.collection import CollectionVariation, Topic
from store.analysis.variation.moments import judgement_weights, variation_gradient
from store.analysis.variation.order import order_probabilities
from store.errors import ArgumentError

CONFIDENCE = 0.95
"""Probability from which on the order of two runs counts as settled, unless another is given."""

_NOTHING = 1e-12
"""Share of the variance that rounding may bring about."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgementValues:
    """Documents by what their judgement would settle; arrays of shape (n,), the greatest value first.

    Documents whose judgement settles nothing are left out: sure ones, and those on which no pair depends.
    """

    topic: NDArray[np.int64]
    """Index of the topic."""
    document: NDArray[np.int64]
    """Index of the document within its topic."""
    gain: NDArray[np.float64]
    """Variance of the differences of MAP that the judgement takes away on average, added up over
    the pairs that are not settled."""
    variance: float
    """Variance of these differences by judging, added up: `gain` is a part of it."""
    unsettled: NDArray[np.bool_]
    """Shape (n_runs, n_runs), symmetric: pairs whose order is not settled."""

    @property
    def n_unsettled(self) -> int:
        """Count the pairs of runs that are not settled."""
        return int(np.count_nonzero(self.unsettled) // 2)


def settled_pairs(varied: CollectionVariation, confidence: float = CONFIDENCE) -> NDArray[np.bool_]:
    """Return which pairs of runs have an order that another judging keeps, shape (n_runs, n_runs).

    The arguments are those of `next_documents`. By the normal law; symmetric; pairs that are tied and do not
    vary are settled, as is the diagonal.
    """
    if not 0.5 < confidence < 1:
        raise ArgumentError("confidence", "must be above 0.5 and below 1", confidence)
    above = order_probabilities(varied)
    settled = (np.maximum(above, above.T) >= confidence) | (varied.difference_variances() <= 1e-24)
    return np.asarray(settled | np.eye(len(above), dtype=np.bool_))


def next_documents(
    topics: Sequence[Topic],
    varied: CollectionVariation,
    *,
    confidence: float = CONFIDENCE,
    progress: Callable[[int], None] | None = None,
) -> JudgementValues:
    r"""Rank all documents by what a certain judgement of each would settle.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.moments.variation` (pool mode). A document has its gain whether it
        is unjudged, with a probability from elsewhere, or was judged by judges who differ: a second
        judgement of one is as good as a first of another with the same probability.
    varied : CollectionVariation
        The moments of these topics; the rule for R = 0 is theirs.
    confidence : float, default=0.95
        Pairs whose order has this probability, above 1/2 and below 1, are settled and count no more.

    Returns
    -------
    JudgementValues
        Ties in the order of topics and documents.

    Notes
    -----
    With the Laplacian matrix Λ of the graph of unsettled pairs, the sum over pairs of
    :math:`(g^A_i - g^B_i)^2` is :math:`g_i' Λ g_i`: O(n_runs n_documents (n_nodes + n_runs)) a
    topic.

    Examples
    --------
    Two documents at ranks 1, 2 and 3, 2 of two runs, relevant half of the time: the difference is
    5/12, 2/3 or 0, of variance .0756; the first one being known leaves .0104 on average:

    >>> from store.analysis.variation.collection import collection_variation
    >>> topics = [(np.array([0.5, 0.5]), np.array([[1.0, 2.0], [3.0, 2.0]]))]
    >>> found = next_documents(topics, collection_variation(topics))
    >>> found.document.tolist(), found.gain.round(4).tolist(), round(found.variance, 4)
    ([0, 1], [0.0652, 0.0467], 0.0756)
    """
    settled = settled_pairs(varied, confidence)
    n_topics = len(topics)
    # The Laplacian: the number of unsettled pairs of each run, less the pairs themselves.
    pairs = (~settled).astype(np.float64)
    laplacian = np.diag(pairs.sum(axis=1)) - pairs
    gains = []
    for p, ranks in topics:
        gradient = variation_gradient(p, ranks, empty=varied.empty)
        spread = np.einsum("ri,ri->i", gradient, laplacian @ gradient)
        weights = judgement_weights(p, empty=varied.empty)
        gains.append(weights * np.maximum(spread, 0.0) / n_topics**2)
        if progress is not None:
            progress(1)
    topic = np.repeat(np.arange(n_topics), [one.size for one in gains])
    document = np.concatenate([np.arange(one.size) for one in gains])
    gain = np.concatenate(gains)
    variance = max(float((laplacian * varied.map_covariance).sum()), 0.0)
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > _NOTHING * variance]
    return JudgementValues(topic[order], document[order], gain[order], variance, ~settled)
