"""Differences of scores as whole multiples of a declared resolution.

Floating point tells differences apart that are equal: .3 - .2 is not .2 - .1. A test that ranks
differences, or adds them up with other signs, then breaks ties that are there, and its p-value
rests on the last bit. So these tests are defined on rounded differences, and the resolution stands
beside their p-value, which it often moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

RESOLUTION = 1e-4
"""The four digits that trec_eval prints."""

MOST_MULTIPLES = 2**52
"""Above, not every whole number is a float64."""


def rounded_differences(
    differences: NDArray[np.float64], resolution: float = RESOLUTION
) -> NDArray[np.int64]:
    """Round differences to whole multiples of a resolution.

    Parameters
    ----------
    differences : ndarray of float64, shape (...)
        Differences of scores, finite.
    resolution : float, default=1e-4
        Above 0, in the unit of the scores.

    Returns
    -------
    ndarray of int64, shape (...)
        Multiples, to the nearest; a half to the even one.

    Raises
    ------
    ArgumentError
        If a difference is not finite, or `resolution` is not above 0 or is too fine to count in
        whole numbers.

    Examples
    --------
    >>> rounded_differences(np.array([0.3 - 0.2, 0.2 - 0.1, 0.00004]), 0.01).tolist()
    [10, 10, 0]
    """
    values = np.asarray(differences, dtype=np.float64)
    if not (resolution > 0 and np.isfinite(resolution)):
        raise ArgumentError("resolution", "must be above 0", resolution)
    if not np.isfinite(values).all():
        raise ArgumentError("differences", "must be finite", "NaN or infinity")
    if np.max(np.abs(values), initial=0.0) >= MOST_MULTIPLES * resolution:
        requirement = "must not be so fine against the differences"
        raise ArgumentError("resolution", requirement, resolution)
    # 1/resolution is a whole number for the usual resolutions, which 1e-4 itself is not.
    inverse = 1 / resolution
    nearest = float(np.rint(inverse))
    scaled = values * nearest if abs(inverse - nearest) < 1e-9 * inverse else values / resolution
    return np.rint(scaled).astype(np.int64)
