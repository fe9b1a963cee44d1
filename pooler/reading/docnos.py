"""Numbers for docnos, where whole rankings are kept by number.

A dictionary looks at one docno after another, and waits for the memory three times at each. Here all docnos
of a ranking are words of 8 bytes, looked up together in one open hash table.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from pooler.reading.fields import FieldColumn

NO_NUMBER = -1
_FIRST_BITS = 12
_ROOM = 8
"""Slots for each docno, at least half as many: few docnos find their slot taken."""
_AT_A_TIME = 1 << 14
"""Docnos worked on together where all of them are: their copies stay few."""
_SHIFT = np.uint64(31)
_FACTOR = 0x9E3779B97F4A7C15
"""Odd, so that multiplying loses nothing of a word; and so are its powers, one for each word."""


def column_of(docnos: Sequence[str]) -> FieldColumn:
    """Make a column of docnos, none of them empty or with a NUL."""
    return FieldColumn.of([*map(str.encode, docnos)])


class DocnoNumbers:
    """Every docno met so far, numbered from 0 in the order in which they were met."""

    def __init__(self) -> None:
        self._n = 0
        self._slots = np.full(1 << _FIRST_BITS, NO_NUMBER, np.int32)
        self._words: list[NDArray[np.uint64]] = []
        """Of all docnos the first words, the second words, and so on."""
        self._met: list[bytes] = []

    def __len__(self) -> int:
        return self._n

    def number(self, docnos: FieldColumn) -> NDArray[np.int32]:
        """Return the number of every docno; those not met before get the next ones."""
        words = docnos.words()
        numbers = self._find(words)
        new = np.flatnonzero(numbers == NO_NUMBER)
        if new.size:
            fields = docnos[new].packed().split(b"\n")
            met = dict(zip(dict.fromkeys(fields), count()))
            places = np.array([met[one] for one in fields])
            numbers[new] = places + self._n
            firsts = np.empty(len(met), np.int64)
            firsts[places[::-1]] = new[::-1]  # of several lines, the first one stays
            self._met.append(b"\n".join(met))
            self._append([word[firsts] for word in words])
        return numbers

    def find(self, docnos: FieldColumn) -> NDArray[np.int32]:
        """Return the number of every docno that was met before, `NO_NUMBER` for the others."""
        return self._find(docnos.words())

    def taken(self) -> bytes:
        """Return the docnos met since this was asked for, or some forgotten, joined by newlines."""
        met, self._met = b"\n".join(self._met), []
        return met

    def forget(self, n_known: int) -> None:
        """Take back the numbers from `n_known` on."""
        self._met = []
        if n_known != self._n:
            self._n = n_known
            self._rebuild()

    def _find(self, words: Sequence[NDArray[np.uint64]]) -> NDArray[np.int32]:
        while len(self._words) < len(words):
            size = self._words[0].size if self._words else 1 << _FIRST_BITS
            self._words.append(np.zeros(size, np.uint64))
        here, step = self._hashed(words), 0
        numbers = self._slots[here]
        rows = np.flatnonzero(numbers != NO_NUMBER)
        while rows.size:
            found = numbers[rows]
            is_other = np.zeros(rows.size, np.bool_)
            for place, word in enumerate(self._words):
                is_other |= word[found] != (words[place][rows] if place < len(words) else 0)
            step += 1
            rows = rows[is_other]
            here[rows] = self._further(here[rows], step)
            numbers[rows] = self._slots[here[rows]]
            rows = rows[numbers[rows] != NO_NUMBER]
        return numbers

    def _hashed(self, words: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """Return the slot of every docno; a word of zeros changes nothing."""
        mixed, factor = np.zeros(words[0].size, np.uint64), 1
        for word in words:
            factor = factor * _FACTOR % (1 << 64)
            mixed ^= (word ^ (word >> _SHIFT)) * np.uint64(factor)
        mixed ^= mixed >> _SHIFT
        mixed *= np.uint64(_FACTOR)
        mixed >>= np.uint64(65 - self._slots.size.bit_length())
        return mixed

    def _further(self, slots: NDArray[np.uint64], step: int) -> NDArray[np.uint64]:
        """Return where to look next: 1, then 2, then 3 slots on, which comes by every slot."""
        return (slots + np.uint64(step)) & np.uint64(self._slots.size - 1)

    def _append(self, words: list[NDArray[np.uint64]]) -> None:
        """Give the next numbers to docnos that have none, each of them once."""
        first, end = self._n, self._n + words[0].size
        if end > self._words[0].size:
            rest = np.zeros(end + end // 2 - first, np.uint64)
            self._words = [np.concatenate((word[:first], rest)) for word in self._words]
        for place, word in enumerate(self._words):
            word[first:end] = words[place] if place < len(words) else 0
        self._n = end
        if _ROOM // 2 * end > self._slots.size:
            self._rebuild()
        else:
            self._place(first, end)

    def _rebuild(self) -> None:
        """Place all docnos afresh, in a table with `_ROOM` slots for each."""
        n_slots = max(self._slots.size, 1 << (_ROOM * self._n).bit_length())
        self._slots = np.full(n_slots, NO_NUMBER, np.int32)
        for first in range(0, self._n, _AT_A_TIME):
            self._place(first, min(first + _AT_A_TIME, self._n))

    def _place(self, first: int, end: int) -> None:
        """Put the numbers from `first` to before `end` into the table."""
        numbers, step = np.arange(first, end, dtype=np.int32), 0
        here = self._hashed([word[first:end] for word in self._words])
        while numbers.size:
            is_free = self._slots[here] == NO_NUMBER
            self._slots[here[is_free]] = numbers[is_free]  # of several, the last one stays
            is_left = self._slots[here] != numbers
            numbers, step = numbers[is_left], step + 1
            here = self._further(here[is_left], step)
