r"""How far apart two runs must be, by the variance and the undiscovered documents of those two.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.pair_sensitivity import PairSensitivity
from store.analysis.required_difference import ALPHA, relative_drop, required_difference
from store.analysis.run_pairs import RunPairs
from store.analysis.significance import TestReason
from store.analysis.undiscovered import TIED_MAP

RequiredReason = TestReason | Literal["tied", "order-turns", "no-variation-left"]
"""Why a number is undefined: there is no difference to fall; once the documents are found, none of
its sign is left; nothing varies any more."""


@dataclass(frozen=True, slots=True, eq=False)
class RequiredOfPairs:
    """What pairs of runs have, and what they need; shape (n_pairs,) each, NaN = undefined."""

    first: NDArray[np.int64]
    """The run ahead, by its row."""
    second: NDArray[np.int64]
    before: RunPairs
    """Difference, variance and topics of each pair as judged."""
    variation_share: NDArray[np.float64]
    """K; 0 where none was given."""
    difference_drop: NDArray[np.float64]
    """Q, by what share the difference falls; 1 or more where the order turns."""
    variance_drop: NDArray[np.float64]
    """H, by what share the variance of one judging's scores falls.

    Of the two readings of H in [1]_, of :math:`\\sigma_\\mu^2` (judging removed) and of the sum
    with :math:`\\sigma_d^2` (judging included), the second, which goes with K = 0.
    """
    needed: NDArray[np.float64]
    """Eq. 23: the difference that is significant as judged."""
    needed_if_found: NDArray[np.float64]
    """Eq. 24: the difference, as judged, that would be significant with the documents found."""
    reasons: tuple[RequiredReason | None, ...]
    """Why `needed_if_found` is NaN; ``None`` where it is a number."""


def required_of_pairs(
    moved: PairSensitivity,
    *,
    variation_share: ArrayLike = 0.0,
    alpha: float = ALPHA,
    power: float = 0.5,
) -> RequiredOfPairs:
    """Compute the difference that every pair needs, with Q and H as its own flips give them.

    Parameters
    ----------
    moved : PairSensitivity
        From `pair_sensitivity`. The documents of the lower run are what turns relevant, as in
        section 4.3 of [1]_: what speaks for a difference is least then.
    variation_share : float or array of float, shape (n_pairs,), default=0
        K.
    alpha, power : float
        As in `required_difference`.

    Returns
    -------
    RequiredOfPairs
        In the order of the pairs of `moved`.

    Raises
    ------
    ArgumentError
        If an argument is outside its range.

    Notes
    -----
    O(n_pairs).

    Examples
    --------
    A is ahead by 2/3, 1/2 and 0 in three topics. B's document at rank 2 of the first is unjudged;
    relevant, it takes that difference to 1/2 - 7/12, and the mean from .3889 to .1389.

    >>> from store.analysis.judged_rankings import judged_rankings
    >>> from store.analysis.pair_sensitivity import pair_sensitivity
    >>> yes = np.array([True])
    >>> arrays = judged_rankings(
    ...     ["t1", "t2", "t3"],
    ...     ["a", "b"],
    ...     {
    ...         ("a", "t1"): np.array([1, 2]),
    ...         ("b", "t1"): np.array([2, 3, 1]),
    ...         ("a", "t2"): np.array([1, 2]),
    ...         ("b", "t2"): np.array([2, 1]),
    ...         ("a", "t3"): np.array([1, 2]),
    ...         ("b", "t3"): np.array([1, 2]),
    ...     },
    ...     {topic: (np.array([1, 2]), np.array([True, False])) for topic in ("t1", "t2", "t3")},
    ...     cutoff=10,
    ... )
    >>> found = required_of_pairs(pair_sensitivity(arrays, depth=1))
    >>> found.before.difference.round(4).tolist(), found.difference_drop.round(4).tolist()
    ([0.3889], [0.6429])
    """
    before, after = moved.before, moved.after_second
    shares = np.broadcast_to(np.asarray(variation_share, dtype=np.float64), before.variance.shape)
    q = relative_drop(before.difference, after.difference)
    q[np.abs(before.difference) <= TIED_MAP] = np.nan
    h = relative_drop(before.variance, after.variance)
    reasons = tuple(
        _reason(*numbers) for numbers in zip(before.t_reasons, q.tolist(), h.tolist(), strict=True)
    )
    tested = np.array([reason is None for reason in before.t_reasons], dtype=np.bool_)
    found = np.array([reason is None for reason in reasons], dtype=np.bool_)
    needed, needed_if_found = np.full((2, before.variance.size), np.nan)
    needed[tested] = required_difference(
        before.variance[tested], before.n_topics[tested], variation_share=shares[tested],
        alpha=alpha, power=power,
    )  # fmt: skip
    needed_if_found[found] = required_difference(
        before.variance[found], before.n_topics[found], variation_share=shares[found],
        difference_drop=q[found], variance_drop=h[found], alpha=alpha, power=power,
    )  # fmt: skip
    return RequiredOfPairs(
        first=moved.first,
        second=moved.second,
        before=before,
        variation_share=shares,
        difference_drop=q,
        variance_drop=h,
        needed=needed,
        needed_if_found=needed_if_found,
        reasons=reasons,
    )


def _reason(tested: TestReason | None, q: float, h: float) -> RequiredReason | None:
    """Say why a pair has no number; ``None`` = it has one."""
    if tested is not None:
        return tested
    if np.isnan(q):
        return "tied"
    if q >= 1:
        return "order-turns"
    return "no-variation-left" if h >= 1 else None
