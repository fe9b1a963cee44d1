"""What several functions ask of an argument, in the same words."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.errors import ArgumentError


def check_cutoff(cutoff: int | None) -> None:
    """Raise `ArgumentError` unless `cutoff` is at least 1 or not given."""
    if cutoff is not None and cutoff < 1:
        raise ArgumentError("cutoff", "must be an integer >= 1", cutoff)


def vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as an array of one dimension, which may be empty; NaN and infinity may be among them.

    Raise `ArgumentError`, by the argument's `name`, for another number of dimensions.

    >>> vector("scores", [1, 2]).tolist()
    [1.0, 2.0]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ArgumentError(name, "must be one-dimensional", f"shape {array.shape}")
    return array


def finite_vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as `vector` does; raise `ArgumentError` too if one is not finite."""
    array = vector(name, values)
    if not np.isfinite(array).all():
        raise ArgumentError(name, "must be finite", array.tolist())
    return array
