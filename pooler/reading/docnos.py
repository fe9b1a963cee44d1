"""Numbers for docnos: the same docno, the same number, for thousands of lines at once.

A dictionary looks at one docno after another, and waits for the memory three times at each. Here
all docnos of a column are words of 8 bytes (`pooler.reading.columns`), looked up together in one open
hash table: a few passes of numpy, and 8 bytes a word to keep of every document.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pooler.reading.columns import WORD, FieldColumn

_MOST_WORDS = 8
"""Docnos of more words than this are looked up one by one, so that few do not widen all."""
_FIRST_BITS = 12
_ROOM = 8
"""Slots for each docno, at least half as many: few docnos find their slot taken."""
_AT_A_TIME = 1 << 14
"""Docnos worked on together where all of them are: their copies stay few."""
NO_NUMBER = -1
_SHIFT = np.uint64(31)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that multiplying loses nothing of a word."""
_FACTORS = [np.uint64(pow(int(_FACTOR), place, 1 << 64)) for place in range(1, _MOST_WORDS + 1)]
"""One for each word, odd as well."""


class DocnoNumbers:
    """Every docno met so far, numbered from 0 in the order in which they were met.

    About 8 bytes for each 8 bytes of the longest docno, and 16 to 64 more, for each document.
    """

    def __init__(self) -> None:
        self._n = 0
        self._bits = _FIRST_BITS
        self._slots = _empty_slots(_FIRST_BITS)
        # Word by word; a row of zeros is a docno in `_long`, since no byte of a docno is 0.
        self._words: list[NDArray[np.uint64]] = []
        self._long: dict[bytes, int] = {}
        self._long_docnos: dict[int, bytes] = {}

    def __len__(self) -> int:
        return self._n

    def number(self, docnos: FieldColumn) -> NDArray[np.int32]:
        """Return the number of every docno; those not met before get the next ones."""
        words, long = self._words_of(docnos)
        numbers = self._found(docnos, words, long)
        new = np.flatnonzero(numbers == NO_NUMBER)
        if not new.size:
            return numbers
        fresh = FieldColumn(docnos.text, docnos.starts[new], docnos.lengths[new])
        _, firsts, which = np.unique(fresh.keys(), return_index=True, return_inverse=True)
        in_order = np.argsort(firsts)
        places = np.empty_like(in_order)
        places[in_order] = np.arange(in_order.size)
        met = firsts[which]
        words = [word[new] for word in words]
        are_same = all((word == word[met]).all() for word in words)
        if not are_same or any(
            fresh.at(row) != fresh.at(int(met[row])) for row in np.flatnonzero(words[0] == 0).tolist()
        ):
            # Docnos that differ have one key: none is met twice in a column of one.
            return np.concatenate([self.number(docnos[row : row + 1]) for row in range(len(docnos))])
        firsts = firsts[in_order]
        for number, row in enumerate(firsts.tolist(), start=self._n) if long.size else ():
            if fresh.lengths[row] > _MOST_WORDS * WORD:
                self._long[fresh.at(row)] = number
                self._long_docnos[number] = fresh.at(row)
        numbers[new] = self._n + places[which]
        self._append([word[firsts] for word in words])
        return numbers

    def find(self, docnos: FieldColumn) -> NDArray[np.int32]:
        """Return the number of every docno that was met before, `NO_NUMBER` for the others."""
        return self._found(docnos, *self._words_of(docnos))

    def since(self, n_known: int) -> bytes:
        """Return the docnos of the numbers from `n_known` on, joined by newlines."""
        ends = range(n_known, self._n, _AT_A_TIME)
        return b"\n".join(b"\n".join(self._docnos(end, end + _AT_A_TIME)) for end in ends)

    def _docnos(self, first: int, end: int) -> list[bytes]:
        """Return the docnos of the numbers from `first` to before `end`."""
        end = min(end, self._n)
        table = np.zeros((end - first, len(self._words)), "<u8")
        for column, word in enumerate(self._words):
            table[:, column] = word[first:end]
        docnos: list[bytes] = table.view(f"S{table.shape[1] * WORD}")[:, 0].tolist()
        for row in np.flatnonzero(table[:, 0] == 0).tolist():
            docnos[row] = self._long_docnos[first + row]
        return docnos

    def forget(self, n_known: int) -> None:
        """Take back the numbers from `n_known` on."""
        if n_known == self._n:
            return
        self._n = n_known
        self._long = {docno: one for docno, one in self._long.items() if one < n_known}
        self._long_docnos = {number: docno for docno, number in self._long.items()}
        self._rebuild()

    def _words_of(self, docnos: FieldColumn) -> tuple[list[NDArray[np.uint64]], NDArray[np.int64]]:
        """Return the docnos as words, the long ones as words of zeros; and the rows of these."""
        is_long = docnos.lengths > _MOST_WORDS * WORD
        if not is_long.any():
            return docnos.words(), np.empty(0, np.int64)
        words = [np.zeros(len(docnos), np.uint64)]
        short = np.flatnonzero(~is_long)
        if short.size:
            some = FieldColumn(docnos.text, docnos.starts[short], docnos.lengths[short]).words()
            words = [np.zeros(len(docnos), np.uint64) for _ in some]
            for whole, word in zip(words, some, strict=True):
                whole[short] = word
        return words, np.flatnonzero(is_long)

    def _found(
        self, docnos: FieldColumn, words: list[NDArray[np.uint64]], long: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Find docnos, the short ones by their words, the long ones by a dictionary."""
        numbers = self._find(words)
        for row in long.tolist():
            numbers[row] = self._long.get(docnos.at(row), NO_NUMBER)
        return numbers

    def _find(self, words: Sequence[NDArray[np.uint64]]) -> NDArray[np.int32]:
        """Return the number of every docno that has one, -1 for the others, and for words of zeros."""
        while len(self._words) < len(words):
            size = self._words[0].size if self._words else 1 << _FIRST_BITS
            self._words.append(np.zeros(size, np.uint64))
        here = self._hashed(words)
        numbers = self._slots[here]
        rows = np.flatnonzero(numbers != NO_NUMBER)
        here, found, step = here[rows], numbers[rows], 0
        while rows.size:
            is_other = ~self._are_equal(found, [word[rows] for word in words])
            step += 1
            rows, here = rows[is_other], self._further(here[is_other], step)
            numbers[rows] = found = self._slots[here]
            is_left = found != NO_NUMBER
            rows, here, found = rows[is_left], here[is_left], found[is_left]
        return numbers

    def _hashed(self, words: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        mixed = np.zeros(words[0].size, np.uint64)
        for word, factor in zip(words, _FACTORS, strict=False):
            mixed ^= (word ^ (word >> _SHIFT)) * factor  # a word of zeros changes nothing
        mixed ^= mixed >> _SHIFT
        mixed *= _FACTOR
        mixed >>= np.uint64(64 - self._bits)
        return mixed

    def _further(self, slots: NDArray[np.uint64], step: int) -> NDArray[np.uint64]:
        """Return where to look next: 1, then 2, then 3 slots on, which comes by every slot."""
        return (slots + np.uint64(step)) & np.uint64(self._slots.size - 1)

    def _are_equal(
        self, numbers: NDArray[np.int32], words: Sequence[NDArray[np.uint64]]
    ) -> NDArray[np.bool_]:
        is_equal = np.ones(numbers.size, np.bool_)
        for place, word in enumerate(self._words):
            if place < len(words):
                is_equal &= word[numbers] == words[place]
            else:
                is_equal &= word[numbers] == 0
        return is_equal

    def _append(self, words: list[NDArray[np.uint64]]) -> None:
        """Give the next numbers to docnos that have none, each of them once."""
        first = self._n
        self._extend(words)
        if _ROOM // 2 * self._n > self._slots.size:
            self._rebuild()
        else:
            self._place_short(np.arange(first, self._n, dtype=np.int32), words)

    def _extend(self, words: Sequence[NDArray[np.uint64]]) -> None:
        end = self._n + words[0].size
        if end > self._words[0].size:
            room = max(1 << _FIRST_BITS, end + end // 2)
            rest = np.zeros(room - self._n, np.uint64)
            self._words = [np.concatenate((word[: self._n], rest)) for word in self._words]
        for place, word in enumerate(self._words):
            word[self._n : end] = words[place] if place < len(words) else 0
        self._n = end

    def _rebuild(self) -> None:
        """Place all docnos afresh, in a table with `_ROOM` slots for each."""
        while _ROOM * self._n > 1 << self._bits:
            self._bits += 1
        self._slots = _empty_slots(self._bits)
        for first in range(0, self._n, _AT_A_TIME):
            rows = np.arange(first, min(first + _AT_A_TIME, self._n), dtype=np.int32)
            self._place_short(rows, [word[rows] for word in self._words])

    def _place_short(self, numbers: NDArray[np.int32], words: list[NDArray[np.uint64]]) -> None:
        """Put new numbers into the table, but for those of long docnos."""
        is_short = words[0] != 0
        if not is_short.all():
            numbers, words = numbers[is_short], [word[is_short] for word in words]
        self._place(numbers, words)

    def _place(self, numbers: NDArray[np.int32], words: list[NDArray[np.uint64]]) -> None:
        here = self._hashed(words)
        step = 0
        while numbers.size:
            is_free = self._slots[here] == NO_NUMBER
            self._slots[here[is_free]] = numbers[is_free]  # of several, the last one stays
            is_left = self._slots[here] != numbers
            numbers, here = numbers[is_left], here[is_left]
            step += 1
            here = self._further(here, step)


def _empty_slots(bits: int) -> NDArray[np.int32]:
    return np.full(1 << bits, NO_NUMBER, np.int32)
