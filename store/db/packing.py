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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.ranking import rank_order

_INTEGER_FORMS = {b"b": "<u1", b"h": "<u2", b"i": "<i4", b"q": "<i8"}
_FLOAT_FORMS = {b"f": "<f4", b"d": "<f8"}
_POWERS = np.array([float(10**decimals) for decimals in range(10)])
"""What the decimal forms divide by."""
_LARGEST = np.iinfo("<i4").max
_N_TRIED = 8
"""Values that rule out most of the forms before all values are looked at."""


@dataclass(frozen=True, slots=True)
class PackedRanking:
    """What one run gave for one topic, in trec order, as its row in the store has it."""

    topic: str
    length: int
    """Documents."""
    documents: bytes
    """Their numbers, little-endian int32: row ids, or those that a reader of runs gave them."""
    scores: bytes
    ranks: bytes | None
    """Stated ranks; ``None`` = not all integers."""
    positions: bytes
    """File positions from 0."""

    @property
    def is_contradicted(self) -> bool:
        """Whether a document with a higher score has a later rank."""
        if self.ranks is None or self.ranks.startswith(b"r"):
            return False  # they follow the scores
        by_rank = np.argsort(unpack_integers(self.ranks, self.length), kind="stable")
        return bool((np.diff(unpack_floats(self.scores)[by_rank]) > 0).any())


def pack_ranking(
    topic: str,
    docnos: Sequence[str] | Sequence[bytes],
    numbers: NDArray[np.int32],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int64] | None,
) -> PackedRanking:
    """Pack one ranking of documents in file order.

    `docnos`: looked at where scores tie. `numbers`: what is to be stored for them. `ranks`: as stated, when
    all are integers.

    >>> packed = pack_ranking("51", ["a", "b"], np.array([7, 8], np.int32), np.ones(2), None)
    >>> np.frombuffer(packed.documents, "<i4").tolist()
    [8, 7]
    """
    in_order: NDArray[np.int64] | slice = slice(None)
    positions = np.arange(len(docnos))
    if not np.all(scores[1:] < scores[:-1]):
        in_order = positions = rank_order(docnos, scores, order="trec")
    return PackedRanking(
        topic,
        len(docnos),
        numbers[in_order].astype("<i4", copy=False).tobytes(),
        pack_floats(scores[in_order]),
        None if ranks is None else pack_integers(ranks[in_order]),
        pack_integers(positions),
    )


def pack_integers(values: NDArray[np.int64]) -> bytes:
    r"""Pack 64-bit integers: 9 bytes when the values are consecutive, else 1 to 8 bytes a value.

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
    """Pack finite floats without loss: 4 bytes for short decimal fractions and 32-bit floats, else 8.

    A quotient of two integers below 2**53 and 10**22 is rounded correctly, hence equal to what reading the
    decimal digits gives; it is compared all the same before it is used.
    """
    for decimals in _possible_decimals(values[:: max(1, values.size // _N_TRIED)]):
        scaled: NDArray[np.float64] = np.rint(values * _POWERS[decimals])
        if np.abs(scaled).max(initial=0.0) > _LARGEST:
            break
        if np.array_equal(scaled / _POWERS[decimals], values):
            # Integers have no minus zero.
            if np.signbit(values[scaled == 0]).any():
                break
            return str(decimals).encode() + scaled.astype("<i4").tobytes()
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype("<f4")
    if np.array_equal(narrow.astype(np.float64), values):
        return b"f" + narrow.tobytes()
    return b"d" + values.astype("<f8").tobytes()


def _possible_decimals(some: NDArray[np.float64]) -> list[int]:
    """List the decimal forms that give back a few of the values exactly."""
    with np.errstate(over="ignore"):
        scaled = np.rint(some * _POWERS[:, np.newaxis])
    exact = (scaled / _POWERS[:, np.newaxis] == some) & (np.abs(scaled) <= _LARGEST)
    possible: list[int] = np.flatnonzero(exact.all(axis=1)).tolist()
    return possible


def unpack_floats(packed: bytes) -> NDArray[np.float64]:
    """Read what `pack_floats` made."""
    form = packed[:1]
    if form in _FLOAT_FORMS:
        return _read(packed, _FLOAT_FORMS[form]).astype(np.float64)
    quotients: NDArray[np.float64] = _read(packed, "<i4") / _POWERS[int(form)]
    return quotients


def packed_elements(packed: bytes) -> NDArray[Any]:
    """View packed floats, or the first of them, as numbers that compare as the floats do; nothing is copied.

    The floats themselves, or integers which are the floats times one power of ten: integers that differ, of
    32 bits, differ after the division too, since their quotients by up to 10**9 are more than one part in
    2**53 apart.

    >>> packed_elements(pack_floats(np.array([2.5, 1.5, 1.5]))).tolist()
    [25, 15, 15]
    """
    return _read(packed, _FLOAT_FORMS.get(packed[:1], "<i4"))


def _read(packed: bytes, dtype: str) -> NDArray[Any]:
    """View all bytes but the first as an array; it need not be aligned."""
    return np.frombuffer(packed, dtype=dtype, offset=1)
