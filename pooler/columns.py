"""One field of many lines: bytes in a block, worked on for all lines at once.

A column is where the field begins in each line and how long it is. Its bytes stay in the block;
they are compared, gathered and turned into numbers by numpy, a column at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST_FIELD = 256
"""Bytes; longer fields are left to readers that go line by line."""
FRONT, BACK = 32, LONGEST_FIELD + 16
"""Bytes before and after a block, so that a window on its first or last field is inside."""
WORD = 8
"""Bytes compared at a time."""
_FIRST_BYTES = np.array([(1 << 8 * n_bytes) - 1 for n_bytes in range(WORD + 1)], np.uint64)
"""What keeps the first 0 to 8 bytes of a word."""
_NEWLINE = 10
_HALF, _SHIFT = np.uint64(32), np.uint64(29)
_FACTORS = np.array(
    [pow(0x9E3779B97F4A7C15, place + 1, 1 << 64) for place in range(LONGEST_FIELD // WORD)],
    np.uint64,
)
"""One for each word of a field; odd, so that multiplying loses nothing of a word."""


@dataclass(slots=True, eq=False)
class Column:
    """One field of many lines."""

    text: bytes
    """A block of lines, with `FRONT` bytes before it and `BACK` after it."""
    starts: NDArray[np.int64]
    """Where the field begins in `text`, shape (n_lines,)."""
    lengths: NDArray[np.int64]
    """Its bytes, 1 to `LONGEST_FIELD`, none of them a control character; shape (n_lines,)."""
    width: int = 0
    """Bytes of every field, where all have as many; 0 = they differ, or it is not known."""

    def __len__(self) -> int:
        return self.starts.size

    def __getitem__(self, rows: slice) -> Column:
        """Return the field of some lines."""
        return Column(self.text, self.starts[rows], self.lengths[rows], self.width)

    def at(self, row: int) -> bytes:
        """Return the field of one line."""
        start = int(self.starts[row])
        return self.text[start : start + int(self.lengths[row])]

    def windows(self, starts: NDArray[np.int64], n_bytes: int) -> NDArray[np.uint8]:
        """Return the `n_bytes` bytes from each of `starts`, shape (n_starts, n_bytes)."""
        n_windows = len(self.text) - n_bytes + 1
        every = np.ndarray((n_windows,), f"V{n_bytes}", self.text, strides=(1,))
        return every[starts].view(np.uint8).reshape(starts.size, n_bytes)

    def words(self) -> list[NDArray[np.uint64]]:
        """Return the fields as words of 8 bytes, those after a field's end 0.

        Returns
        -------
        list of ndarray of uint64, shape (n_lines,)
            First words, second words, and so on. Fields are equal exactly when all their words
            are: no byte of a field is 0.

        Examples
        --------
        >>> [word.tolist() for word in Column.of([b"a", b"b", b"a"]).words()]
        [[97, 98, 97]]
        """
        shortest = longest = self.width
        if not longest:
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
        """Return the lines whose field is not that of the line before, in file order.

        Examples
        --------
        >>> Column.of([b"1", b"1", b"10", b"1"]).changes().tolist()
        [2, 3]
        """
        first, *others = self.words()
        is_changed = first[1:] != first[:-1]
        for word in others:
            is_changed |= word[1:] != word[:-1]
        return np.flatnonzero(is_changed) + 1

    def keys(self) -> NDArray[np.uint64]:
        """Return a number for each field.

        Returns
        -------
        ndarray of uint64, shape (n_lines,)
            Equal for equal fields, of other columns too. Different for different ones of up to 8
            bytes, and almost certainly for longer ones.

        Examples
        --------
        >>> keys = Column.of([b"FR940104-0-1", b"FR940104-0-2", b"FR940104-0-1"]).keys()
        >>> len(set(keys.tolist()))
        2
        """
        keys = np.zeros(len(self), np.uint64)
        for word, factor in zip(self.words(), _FACTORS, strict=False):
            # A word of zeros adds nothing, so longer fields in the block change no key.
            word ^= word >> _HALF
            word *= factor
            word ^= word >> _SHIFT
            keys += word
        return keys

    def packed(self, rows: NDArray[np.int64]) -> bytes:
        r"""Return the fields of some lines, joined by newlines.

        Examples
        --------
        >>> Column.of([b"d1", b"d20", b"d3"]).packed(np.array([2, 1]))
        b'd3\nd20'
        """
        if rows.size == 0:
            return b""
        starts, width = self.starts[rows], self.width
        if width:
            windows = self.windows(starts, width + 1)
            windows[:, width] = _NEWLINE
            return windows.tobytes()[:-1]
        lengths = self.lengths[rows]
        longest = int(lengths.max())
        windows = self.windows(starts, longest + 1)
        windows[np.arange(rows.size), lengths] = _NEWLINE
        is_inside = np.arange(longest + 1) <= lengths[:, np.newaxis]
        return windows[is_inside].tobytes()[:-1]

    @staticmethod
    def of(fields: Sequence[bytes]) -> Column:
        """Make a column of fields that stand nowhere yet."""
        lengths = np.fromiter(map(len, fields), np.int64, len(fields))
        starts = FRONT + np.cumsum(lengths) - lengths
        return Column(b"".join((bytes(FRONT), *fields, bytes(BACK))), starts, lengths)
