"""Ratios that may have nothing to divide by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def quotient(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide arrays of shapes that go together, with NaN where `whole` is not above 0."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))
