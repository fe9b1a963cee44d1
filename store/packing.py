"""Number arrays as small byte strings, for the columns of a stored ranking.

The first byte says how the rest is to be read, so that each array takes the narrowest form that
gives back exactly the same numbers:

====  ==================================================================================
`b`   unsigned 8-bit integers            `h`  unsigned 16-bit      `i`  signed 32-bit
`q`   signed 64-bit integers
`r`   consecutive integers: the first one, signed 64-bit
`f`   32-bit floats                      `d`  64-bit floats
`0`-`9`  decimal fractions: signed 32-bit integers to be divided by that power of ten
====  ==================================================================================

Everything is little-endian.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_INTEGER_FORMS = {b"b": "<u1", b"h": "<u2", b"i": "<i4", b"q": "<i8"}
_FLOAT_FORMS = {b"f": "<f4", b"d": "<f8"}
_DECIMALS_TRIED = range(10)


def pack_integers(values: NDArray[np.int64]) -> bytes:
    r"""Pack integers.

    Parameters
    ----------
    values : ndarray of int64, shape (n,)
        Any 64-bit integers.

    Returns
    -------
    bytes
        9 bytes when the values are consecutive, else 1 to 8 bytes a value.

    Examples
    --------
    >>> pack_integers(np.arange(1, 1001))
    b'r\x01\x00\x00\x00\x00\x00\x00\x00'
    """
    # Differences here and sums in `unpack_integers` wrap alike, so the edge of int64 is no edge.
    if values.size and np.all(np.diff(values) == 1):
        return b"r" + np.array(values[:1], dtype="<i8").tobytes()
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    for form, dtype in _INTEGER_FORMS.items():
        limits = np.iinfo(dtype)
        if limits.min <= low and high <= limits.max:
            return form + values.astype(dtype).tobytes()
    raise AssertionError  # every int64 fits the last form


def unpack_integers(packed: bytes, length: int) -> NDArray[np.int64]:
    """Read what `pack_integers` made of `length` integers."""
    form = packed[:1]
    if form == b"r":
        first = int(np.frombuffer(packed, "<i8", count=1, offset=1)[0])
        return first + np.arange(length, dtype=np.int64)
    return _read(packed, _INTEGER_FORMS[form]).astype(np.int64)


def pack_floats(values: NDArray[np.float64]) -> bytes:
    """Pack floats without loss.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        Finite numbers.

    Returns
    -------
    bytes
        4 bytes a value for decimal fractions of few digits and for 32-bit floats, else 8.

    Notes
    -----
    A quotient of two integers below 2**53 and 10**22 is rounded correctly, hence equal to what
    reading the decimal digits gives; it is compared all the same before it is used.
    """
    for decimals in _DECIMALS_TRIED:
        scaled = np.rint(values * 10.0**decimals)
        if np.any(np.abs(scaled) > np.iinfo("<i4").max):
            break
        if np.array_equal(scaled / 10.0**decimals, values) and not np.any(
            (values == 0) & np.signbit(values)
        ):
            return str(decimals).encode() + scaled.astype("<i4").tobytes()
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype("<f4")
    if np.array_equal(narrow.astype(np.float64), values):
        return b"f" + narrow.tobytes()
    return b"d" + values.astype("<f8").tobytes()


def unpack_floats(packed: bytes) -> NDArray[np.float64]:
    """Read what `pack_floats` made."""
    form = packed[:1]
    if form in _FLOAT_FORMS:
        return _read(packed, _FLOAT_FORMS[form]).astype(np.float64)
    quotients: NDArray[np.float64] = _read(packed, "<i4") / 10.0 ** int(form)
    return quotients


def _read(packed: bytes, dtype: str) -> NDArray[Any]:
    """View all bytes but the first as an array; it need not be aligned."""
    return np.frombuffer(packed, dtype=dtype, offset=1)
