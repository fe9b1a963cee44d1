"""What several functions ask of an argument, in the same words.

Loads numpy for arrays alone: a judge's pace, which is shown at the start of a screen, has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from store.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


Name = TypeVar("Name", bound=str)


def check_integer(name: str, value: int, least: int) -> None:
    """Raise `ArgumentError` unless an integer is at least so much."""
    if value < least:
        raise ArgumentError(name, f"must be an integer >= {least}", value)


def check_share(name: str, value: float) -> None:
    """Raise `ArgumentError` unless a number is above 0 and below 1; NaN is neither."""
    if not 0 < value < 1:
        raise ArgumentError(name, "must be above 0 and below 1", value)


def one_of(name: str, value: str, known: tuple[Name, ...]) -> Name:
    """Return a value that is one of those known, else raise `ArgumentError`."""
    for one in known:
        if value == one:
            return one
    raise ArgumentError(name, f"must be one of {', '.join(known)}", value)


def check_cutoff(cutoff: int | None) -> None:
    """Raise `ArgumentError` unless `cutoff` is at least 1 or not given."""
    if cutoff is not None:
        check_integer("cutoff", cutoff, 1)


def vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as an array of one dimension, which may be empty; NaN and infinity may be among them.

    Raise `ArgumentError`, by the argument's `name`, for another number of dimensions.

    >>> vector("scores", [1, 2]).tolist()
    [1.0, 2.0]
    """
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ArgumentError(name, "must be one-dimensional", f"shape {array.shape}")
    return array


def finite_vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as `vector` does; raise `ArgumentError` too if one is not finite."""
    import numpy as np

    array = vector(name, values)
    if not np.isfinite(array).all():
        raise ArgumentError(name, "must be finite", array.tolist())
    return array
