r"""The sign test of two runs over the same topics: in how many each is ahead.

References
----------
.. [1] W. J. Conover, *Practical Nonparametric Statistics*, 3rd edition, Wiley, 1999, section 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.significance.randomisation import RESOLUTION, rounded_differences


@dataclass(frozen=True, slots=True)
class SignTest:
    """Whether one run is ahead in more topics than chance would have it."""

    p: float | None
    """Two-sided and exact, in (0, 1]; ``None`` when it is undefined."""
    reason: Literal["no-topics", "no-difference"] | None
    """Why there is no p: no topic at all, or only differences that round to 0."""
    positive: int
    """Topics in which the first run is ahead."""
    negative: int


def sign_test(differences: NDArray[np.float64], *, resolution: float = RESOLUTION) -> SignTest:
    """Test by the signs of differences whether two runs differ.

    Parameters
    ----------
    differences, resolution
        As in `randomisation_test`. Differences that round to 0 are left out [1]_.

    Returns
    -------
    SignTest
        Twice the smaller tail of the binomial law with 1/2, at most 1.

    Examples
    --------
    Ahead in one of five topics: p = 2 (1 + 5) / 32.

    >>> sign_test(np.array([0.1, -0.1, -0.2, -0.1, -0.3])).p
    0.375
    """
    whole = rounded_differences(differences, resolution=resolution)
    positive, negative = int((whole > 0).sum()), int((whole < 0).sum())
    if not positive + negative:
        return SignTest(None, "no-difference" if whole.size else "no-topics", 0, 0)
    n_topics = positive + negative
    # In whole numbers: 4 to 3 is 1, not 1 but for rounding.
    ways = one = 1
    for fewer in range(min(positive, negative)):
        one = one * (n_topics - fewer) // (fewer + 1)
        ways += one
    return SignTest(min(1.0, 2 * ways / 2**n_topics), None, positive, negative)
