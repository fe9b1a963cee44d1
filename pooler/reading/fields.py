"""Step 1: the fields of a block of lines, and what can be asked of one field of all of them.

A column is where the field begins in each line and how long it is. Its bytes stay in the block; numpy
compares and gathers them, 8 at a time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from store.fields import LONGEST_ID

LONGEST_FIELD = 256
"""Bytes; longer fields are left to the strict reader, which goes line by line."""
FRONT, BACK = 32, LONGEST_FIELD + 16
"""Bytes before and after a block, so that a window on its first or last field is inside."""
WORD = 8
N_FIELDS = 6
TOPIC, Q0, DOCNO, RANK, SCORE, TAG = range(N_FIELDS)
_FIRST_BYTES = np.array([(1 << 8 * n_bytes) - 1 for n_bytes in range(WORD + 1)], np.uint64)
"""What keeps the first 0 to 8 bytes of a word."""
_HALF, _SHIFT = np.uint64(32), np.uint64(29)
_FACTORS = np.array(
    [pow(0x9E3779B97F4A7C15, place + 1, 1 << 64) for place in range(LONGEST_ID // WORD)], np.uint64
)
"""One for each word of a field; odd, so that multiplying loses nothing of a word."""
_TAB, _NEWLINE, _FIRST_PRINTABLE = 9, 10, 33
_BLANKS = b"\t\n\v\f\r "
_DELETE = b"\x7f"
_ODD_CHARACTERS = re.compile("[\x80-\xa0\u061c\u1680\u180e\u2000-\u206f\u3000\ufeff]")


class SuspicionError(Exception):
    """Something in the file is not plainly in order; it may be a fault."""


@dataclass(slots=True, eq=False)
class FieldColumn(Sequence[bytes]):
    """One field of many lines."""

    text: bytes
    """A block of lines, with `FRONT` bytes before it and `BACK` after it."""
    starts: NDArray[np.int64]
    """Where the field begins in `text`, shape (n_lines,)."""
    lengths: NDArray[np.int64]
    """Its bytes, 1 to `LONGEST_FIELD` in a block, none of them a control character; shape (n_lines,)."""

    def __len__(self) -> int:
        return self.starts.size

    @overload
    def __getitem__(self, rows: int) -> bytes: ...

    @overload
    def __getitem__(self, rows: slice | NDArray[np.int64]) -> FieldColumn: ...

    def __getitem__(self, rows: int | slice | NDArray[np.int64]) -> bytes | FieldColumn:
        if isinstance(rows, int):
            start = int(self.starts[rows])
            return self.text[start : start + int(self.lengths[rows])]
        return FieldColumn(self.text, self.starts[rows], self.lengths[rows])

    def windows(self, starts: NDArray[np.int64], n_bytes: int) -> NDArray[np.uint8]:
        """Return the `n_bytes` bytes from each of `starts`, shape (n_starts, n_bytes)."""
        n_windows = len(self.text) - n_bytes + 1
        every = np.ndarray((n_windows,), f"V{n_bytes}", self.text, strides=(1,))
        return every[starts].view(np.uint8).reshape(starts.size, n_bytes)

    def words(self) -> list[NDArray[np.uint64]]:
        """Return the fields as words of 8 bytes (first words, second words, ...), 0 after a field's end.

        Fields are equal exactly when all their words are: no byte of a field is 0.
        """
        shortest, longest = int(self.lengths.min()), int(self.lengths.max())
        every = np.ndarray((len(self.text) - WORD + 1,), "<u8", self.text, strides=(1,))
        words = []
        for offset in range(0, longest, WORD):
            word = every[self.starts + offset if offset else self.starts]
            if shortest == longest:
                word &= _FIRST_BYTES[min(longest - offset, WORD)]
            elif shortest - offset < WORD:
                word &= _FIRST_BYTES[np.clip(self.lengths - offset, 0, WORD)]
            words.append(word)
        return words

    def changes(self) -> NDArray[np.int64]:
        """Return the lines whose field is not that of the line before, in file order."""
        is_changed = np.zeros(len(self) - 1, np.bool_)
        for word in self.words():
            is_changed |= word[1:] != word[:-1]
        return np.flatnonzero(is_changed) + 1

    def keys(self) -> NDArray[np.uint64]:
        """Return a number for each field: equal for equal fields, of other columns too.

        Different for different ones of up to 8 bytes, and almost certainly for longer ones.
        """
        keys = np.zeros(len(self), np.uint64)
        for word, factor in zip(self.words(), _FACTORS, strict=False):
            # A word of zeros adds nothing, so longer fields in the block change no key.
            word ^= word >> _HALF
            word *= factor
            word ^= word >> _SHIFT
            keys += word
        return keys

    def ascending(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put some lines in the order of their fields, bytewise."""
        # The last key counts most; and the first byte of a word, once it is its highest.
        return rows[np.lexsort([word.byteswap() for word in reversed(self[rows].words())])]

    def packed(self) -> bytes:
        """Return the fields joined by newlines."""
        if not len(self):
            return b""
        longest = int(self.lengths.max())
        windows = self.windows(self.starts, longest + 1)
        if (self.lengths == longest).all():
            windows[:, longest] = _NEWLINE
            return windows.tobytes()[:-1]
        windows[np.arange(len(self)), self.lengths] = _NEWLINE
        is_inside = np.arange(longest + 1) <= self.lengths[:, np.newaxis]
        return windows[is_inside].tobytes()[:-1]

    @staticmethod
    def of(fields: Sequence[bytes]) -> FieldColumn:
        """Make a column of fields that stand nowhere yet."""
        lengths = np.fromiter(map(len, fields), np.int64, len(fields))
        starts = FRONT + np.cumsum(lengths) - lengths
        back = bytes(BACK + int(lengths.max(initial=0)))
        return FieldColumn(b"".join((bytes(FRONT), *fields, back)), starts, lengths)


def find_fields(block: bytes) -> list[FieldColumn]:
    """Find the fields of a block of whole lines, at least one; columns as numbered by `TOPIC` to `TAG`.

    `SuspicionError` unless every line has six fields, none longer than `LONGEST_FIELD`, and no odd character.
    """
    padded = b"".join((bytes(FRONT), block, bytes(BACK)))
    text = np.frombuffer(padded, np.uint8)
    places = np.flatnonzero(text[FRONT:-BACK] < _FIRST_PRINTABLE)
    places += FRONT
    blanks = text[places]
    if blanks.tobytes().translate(None, _BLANKS) or _DELETE in block:
        raise SuspicionError("a control character")
    if not block.isascii():
        try:
            text_of_block = block.decode()
        except UnicodeDecodeError as error:
            raise SuspicionError("no UTF-8") from error
        if _ODD_CHARACTERS.search(text_of_block):
            raise SuspicionError("an odd character")
    starts = np.empty_like(places)
    starts[0] = FRONT
    np.add(places[:-1], 1, out=starts[1:])
    places -= starts
    lengths = places
    newlines = np.flatnonzero(blanks == _NEWLINE)
    # Between two blanks there is a field or nothing; of blanks, those that end a field.
    ends = np.arange(lengths.size)
    if not lengths.all():
        ends = np.flatnonzero(lengths)
        starts, lengths = starts[ends], lengths[ends]
    # As many newlines as lines, one after every sixth field: so there is none between others.
    first, last = ends[::N_FIELDS], ends[N_FIELDS - 1 :: N_FIELDS]
    if ends.size != N_FIELDS * newlines.size or (last > newlines).any() or (first[1:] <= newlines[:-1]).any():
        raise SuspicionError("a line has not six fields")
    if lengths.max() > LONGEST_FIELD:
        raise SuspicionError("a very long field")
    is_tab = blanks == _TAB
    n_tabs = np.count_nonzero(is_tab)
    if n_tabs and n_tabs + newlines.size < blanks.size:
        n_before = np.cumsum(is_tab) - is_tab
        is_between_tabs = np.diff(n_before[newlines], prepend=0) == N_FIELDS - 1
        has_none = (np.diff(n_before[ends].reshape(-1, N_FIELDS)) == 0).any(axis=1)
        if (is_between_tabs & has_none).any():
            raise SuspicionError("a blank in a field between tabs")
    bounds = starts.reshape(-1, N_FIELDS).T, lengths.reshape(-1, N_FIELDS).T
    return [FieldColumn(padded, *of_field) for of_field in zip(*bounds, strict=True)]
