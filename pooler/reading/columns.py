"""One field of many lines at once: digits, scores, ranks, and numbers for docnos.

A column is where the field begins in each line and how long it is. Its bytes stay in the block;
they are compared, gathered and turned into numbers by numpy, a column at a time: a row of the last characters
of all fields, a row of those before them, and so on.

A dictionary looks at one docno after another, and waits for the memory three times at each. Here all docnos
of a column are words of 8 bytes, looked up together in one open hash table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from pooler.reading.strict import whole_ranks
from store.fields import LONGEST_ID
from store.ranking import SortedByThemselves

LONGEST_FIELD = 256
"""Bytes; longer fields are left to readers that go line by line."""
FRONT, BACK = 32, LONGEST_FIELD + 16
"""Bytes before and after a block, so that a window on its first or last field is inside."""
WORD = 8
_FIRST_BYTES = np.array([(1 << 8 * n_bytes) - 1 for n_bytes in range(WORD + 1)], np.uint64)
"""What keeps the first 0 to 8 bytes of a word."""
_NEWLINE = 10
_HALF, _SHIFT = np.uint64(32), np.uint64(29)
_FACTORS = np.array(
    [pow(0x9E3779B97F4A7C15, place + 1, 1 << 64) for place in range(LONGEST_ID // WORD)], np.uint64
)
"""One for each word of a field; odd, so that multiplying loses nothing of a word."""


@dataclass(slots=True, eq=False)
class FieldColumn(Sequence[bytes], SortedByThemselves):
    """One field of many lines."""

    text: bytes
    """A block of lines, with `FRONT` bytes before it and `BACK` after it."""
    starts: NDArray[np.int64]
    """Where the field begins in `text`, shape (n_lines,)."""
    lengths: NDArray[np.int64]
    """Its bytes, 1 to `LONGEST_FIELD` in a block, none of them a control character; shape (n_lines,)."""
    width: int = 0
    """Bytes of every field, where all have as many; 0 = they differ, or it is not known."""

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
        return FieldColumn(self.text, self.starts[rows], self.lengths[rows], self.width)

    def listed(self) -> list[bytes]:
        """Return the fields one by one."""
        return self.packed().split(b"\n")

    def windows(self, starts: NDArray[np.int64], n_bytes: int) -> NDArray[np.uint8]:
        """Return the `n_bytes` bytes from each of `starts`, shape (n_starts, n_bytes)."""
        n_windows = len(self.text) - n_bytes + 1
        every = np.ndarray((n_windows,), f"V{n_bytes}", self.text, strides=(1,))
        return every[starts].view(np.uint8).reshape(starts.size, n_bytes)

    def words(self) -> list[NDArray[np.uint64]]:
        """Return the fields as words of 8 bytes (first words, second words, ...).

        Those after a field's end 0. Fields are equal exactly when all their words are: no byte of a field is
        0.
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
        """Return the lines whose field is not that of the line before, in file order."""
        first, *others = self.words()
        is_changed = first[1:] != first[:-1]
        for word in others:
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
        if width := self.width:
            windows = self.windows(self.starts, width + 1)
            windows[:, width] = _NEWLINE
            return windows.tobytes()[:-1]
        longest = int(self.lengths.max())
        windows = self.windows(self.starts, longest + 1)
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


MOST_BYTES = 24
_ZERO, _NINE = ord("0"), 9
_POINT, _MINUS, _PLUS = ord("."), ord("-"), ord("+")


@dataclass(slots=True, eq=False)
class FixedPoint:
    """What a column of fields like `-12.5` says; meaningless where a field is no such one."""

    is_plain: NDArray[np.bool_]
    digits: NDArray[np.float64]
    """The number that the digits make without their point, exact below 2**53, shape (n_lines,)."""
    n_points: NDArray[np.uint8]
    n_decimals: NDArray[np.int64] | None
    is_minus: NDArray[np.bool_] | None


def read_fixed_point(column: FieldColumn) -> FixedPoint:
    """Read digits, points and signs."""
    first = np.frombuffer(column.text, np.uint8)[column.starts]
    is_minus = first == _MINUS
    is_signed = is_minus | (first == _PLUS)
    has_signs = bool(is_signed.any())
    n_characters = column.lengths - is_signed if has_signs else column.lengths
    digits = _characters(column, n_characters)
    is_other = digits > _NINE
    n_others = _count(is_other)
    # What was less than a zero has become more than 9: unsigned numbers wrap round.
    n_points = _count(digits == (_POINT - _ZERO) % 256)
    is_plain = (n_others == n_points) & (n_points <= 1) & (n_characters > n_others)
    if int(column.lengths.max()) > MOST_BYTES:
        is_plain &= column.lengths <= MOST_BYTES
    n_decimals = None
    if n_points.any():
        digits, n_decimals = _without_points(digits, is_other)
    return FixedPoint(is_plain, _together(digits), n_points, n_decimals, is_minus if has_signs else None)


def _characters(column: FieldColumn, n_characters: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Lay out the last characters of fields, less the code of zero.

    Returns an array of shape (8, 16 or 24, n_lines): the last character of every field in the last
    row, and 0 before its `n_characters` last ones.
    """
    n_rows = min(-(-int(column.lengths.max()) // WORD) * WORD, MOST_BYTES)
    ends = column.starts + column.lengths
    digits = column.windows(ends - n_rows, n_rows).T.copy()
    digits -= _ZERO
    n_before = n_rows - np.minimum(n_characters, n_rows).astype(np.uint8)
    some = digits[: int(n_before.max())]
    rows = np.arange(len(some), dtype=np.uint8)[:, np.newaxis]
    np.copyto(some, 0, where=rows < n_before)
    return digits


def _without_points(
    digits: NDArray[np.uint8], is_point: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Close the gaps that points leave; return also how many digits came after each."""
    n_rows, n_lines = digits.shape
    row = int(is_point[:, 0].argmax())
    if is_point[row].all():
        digits[1 : row + 1] = digits[:row].copy()
        digits[0] = 0
        return digits, np.full(n_lines, n_rows - 1 - row)
    # Up to its point, a number moves one place back.
    is_before = is_point.view(np.uint8).copy()
    for row in range(n_rows - 2, -1, -1):
        is_before[row] |= is_before[row + 1]
    n_decimals = n_rows - is_before.sum(axis=0, dtype=np.uint8).astype(np.int64)
    n_decimals[n_decimals == n_rows] = 0
    moved = np.zeros_like(digits)
    moved[1:] = digits[:-1]
    moved -= digits  # differences wrap round, and come back in the sum
    moved *= is_before
    digits += moved
    return digits, n_decimals


def _count(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Count the flags of each line; rows of bytes are added faster than flags."""
    counts: NDArray[np.uint8] = flags.view(np.uint8).sum(axis=0, dtype=np.uint8)
    return counts


def _together(digits: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Put digits together, shape (8, 16 or 24, n_lines)."""
    pairs = digits[0::2] * np.uint8(10) + digits[1::2]
    fours = pairs[0::2].astype(np.uint16) * np.uint16(100) + pairs[1::2]
    eights = fours[0::2].astype(np.uint32) * np.uint32(10_000) + fours[1::2]
    numbers: NDArray[np.float64] = eights[0].astype(np.float64)
    for more in eights[1:]:
        numbers *= 1e8
        numbers += more
    return numbers


_MOST_EXACT = 2.0**53
"""float64 holds every integer up to here, and ..."""
_POWERS = np.array([float(10**exponent) for exponent in range(MOST_BYTES)])
"""... these powers of ten, up to ..."""
_EXACT_POWER = 22
_FEW = 50
"""So many numbers are read one by one as fast as all at once."""
_LOWER_CASE = 32
RELATIVE_ERROR = 1e-14
"""No approximate score is further than this, relatively, from the score."""


@dataclass(slots=True, eq=False)
class FieldScores:
    """The numbers of a column, some of them approximate until they are asked for."""

    column: FieldColumn
    approximate: NDArray[np.float64]
    """Within `RELATIVE_ERROR` of what is written, and of the same sign; shape (n_lines,)."""
    is_exact: NDArray[np.bool_] | None
    """Where `approximate` has the very bits that `float` gives; ``None`` = everywhere."""

    def __getitem__(self, rows: slice) -> FieldScores:
        is_exact = None if self.is_exact is None else self.is_exact[rows]
        return FieldScores(self.column[rows], self.approximate[rows], is_exact)

    def exact(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the numbers of some lines to the last bit."""
        numbers = self.approximate[rows]
        if self.is_exact is not None:
            places = np.flatnonzero(~self.is_exact[rows])
            if places.size:
                numbers[places] = _read_singly(self.column, rows[places])
        return numbers


def parse_scores(column: FieldColumn) -> FieldScores:
    """Turn score fields into finite numbers; `FieldScores.exact` gives, to the last bit, what `float` does.

    Up to 15 digits, and powers of ten up to 22, are exact in float64, and so is one product or quotient of
    them. Other numbers are approximate until asked for. `ValueError`: a field is no finite number.
    """
    read = read_fixed_point(column)
    numbers = read.digits
    is_exact = numbers < _MOST_EXACT
    if read.n_decimals is not None:
        is_exact &= read.n_decimals <= _EXACT_POWER
        numbers /= _POWERS[read.n_decimals]
    _set_signs(numbers, read)
    odd = np.flatnonzero(~read.is_plain)
    if odd.size:
        numbers[odd] = _read_exponents(column, odd)
        is_exact[odd] = True
    return FieldScores(column, numbers, None if is_exact.all() else is_exact)


def _set_signs(numbers: NDArray[np.float64], read: FixedPoint) -> None:
    if read.is_minus is not None:
        np.negative(numbers, out=numbers, where=read.is_minus)


def _read_exponents(column: FieldColumn, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    if rows.size <= _FEW:
        return _read_singly(column, rows)
    starts, lengths = column.starts[rows], column.lengths[rows]
    windows = column.windows(starts, min(int(lengths.max()), MOST_BYTES))
    is_letter = (windows | _LOWER_CASE) == ord("e")
    place = is_letter[0].argmax()
    is_same_place = bool(is_letter[:, place].all())
    # Where there is no letter, the place is 0.
    places = np.full(rows.size, place) if is_same_place else is_letter.argmax(axis=1)
    is_good = (places > 0) & (places < lengths - 1)
    # Where there is no exponent, the first character stands for both parts.
    n_before = np.where(is_good, places, 1)
    n_after = np.where(is_good, lengths - places - 1, 1)
    before = read_fixed_point(FieldColumn(column.text, starts, n_before))
    after = read_fixed_point(FieldColumn(column.text, starts + lengths - n_after, n_after))
    numbers, powers = before.digits, after.digits
    _set_signs(numbers, before)
    _set_signs(powers, after)
    if before.n_decimals is not None:
        powers -= before.n_decimals
    is_good &= before.is_plain & after.is_plain & (after.n_points == 0)
    is_good &= (np.abs(numbers) < _MOST_EXACT) & (np.abs(powers) <= _EXACT_POWER)
    exponents = np.where(is_good, powers, 0.0).astype(np.int64)
    numbers *= _POWERS[np.maximum(exponents, 0)]
    numbers /= _POWERS[np.maximum(-exponents, 0)]  # one of the two is 1
    odd = np.flatnonzero(~is_good)
    if odd.size:
        numbers[odd] = _read_singly(column, rows[odd])
    return numbers


def _read_singly(column: FieldColumn, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Read some fields as `float` does; raise `ValueError` for what is no finite number."""
    packed = column[rows].packed()
    if b"_" in packed:
        raise ValueError("could not convert a score with an underscore")
    numbers = np.fromiter(map(float, packed.split(b"\n")), np.float64, rows.size)
    if not np.isfinite(numbers).all():
        raise ValueError("could not convert a score that is infinite or NaN")
    return numbers


_MOST_BYTES = 15


@dataclass(slots=True, eq=False)
class Ranks:
    """Stated ranks, as far as they are plain integers."""

    column: FieldColumn
    numbers: NDArray[np.int64]
    is_plain: NDArray[np.bool_]

    def __getitem__(self, rows: slice) -> Ranks:
        return Ranks(self.column[rows], self.numbers[rows], self.is_plain[rows])

    def all_or_none(self) -> NDArray[np.int64] | None:
        """Return the ranks as `pooler.reading.strict.whole_ranks` does: ``None`` unless all are integers."""
        if self.is_plain.all():
            return self.numbers
        return whole_ranks(self.column.listed())


def parse_ranks(column: FieldColumn) -> Ranks:
    """Read stated ranks: fields of up to 15 digits at once, others when they are asked for."""
    read = read_fixed_point(column)
    is_plain = read.is_plain & (read.n_points == 0) & (column.lengths <= _MOST_BYTES)
    if read.is_minus is not None:
        np.negative(read.digits, out=read.digits, where=read.is_minus)
    return Ranks(column, np.where(is_plain, read.digits, 0.0).astype(np.int64), is_plain)


_MOST_WORDS = 8
"""Docnos of more words than this are looked up one by one, so that few do not widen all."""
_BYTE = np.uint64(8)
"""Bits by which their numbers are moved: the first byte of what stands for them is 0, as that of no docno."""
_FIRST_BITS = 12
_ROOM = 8
"""Slots for each docno, at least half as many: few docnos find their slot taken."""
_AT_A_TIME = 1 << 14
"""Docnos worked on together where all of them are: their copies stay few."""
NO_NUMBER = -1
_SLOT_SHIFT = np.uint64(31)
_SLOT_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that multiplying loses nothing of a word."""
_SLOT_FACTORS = [np.uint64(pow(int(_SLOT_FACTOR), place, 1 << 64)) for place in range(1, _MOST_WORDS + 1)]
"""One for each word, odd as well."""


class DocnoNumbers:
    """Every docno met so far, numbered from 0 in the order in which they were met."""

    def __init__(self) -> None:
        self._n = 0
        self._bits = _FIRST_BITS
        self._slots = _empty_slots(_FIRST_BITS)
        self._words: list[NDArray[np.uint64]] = []
        """Of all docnos the first words, the second words, and so on."""
        self._long: dict[bytes, int] = {}

    def __len__(self) -> int:
        return self._n

    def number(self, docnos: FieldColumn) -> NDArray[np.int32]:
        """Return the number of every docno; those not met before get the next ones."""
        words = self._words_of(docnos)
        numbers = self._find(words)
        new = np.flatnonzero(numbers == NO_NUMBER)
        if not new.size:
            return numbers
        _, firsts, which = np.unique(docnos[new].keys(), return_index=True, return_inverse=True)
        in_order = np.argsort(firsts)
        places = np.empty_like(in_order)
        places[in_order] = np.arange(in_order.size)
        met = firsts[which]
        words = [word[new] for word in words]
        if not all((word == word[met]).all() for word in words):
            # Docnos that differ have one key: none is met twice in a column of one.
            return np.concatenate([self.number(docnos[row : row + 1]) for row in range(len(docnos))])
        numbers[new] = self._n + places[which]
        self._append([word[firsts[in_order]] for word in words])
        return numbers

    def add(self, docnos: FieldColumn) -> None:
        """Give the next numbers to docnos that were not met before, each of them once."""
        words = self._words_of(docnos)
        self._find([word[:0] for word in words])  # makes room for as many
        self._append(words)

    def find(self, docnos: FieldColumn) -> NDArray[np.int32]:
        """Return the number of every docno that was met before, `NO_NUMBER` for the others."""
        return self._find(self._words_of(docnos))

    def since(self, n_known: int) -> bytes:
        """Return the docnos of the numbers from `n_known` on, joined by newlines."""
        ends = range(n_known, self._n, _AT_A_TIME)
        return b"\n".join(b"\n".join(self._docnos(end, end + _AT_A_TIME)) for end in ends)

    def _docnos(self, first: int, end: int) -> list[bytes]:
        """Return the docnos of the numbers from `first` to before `end`."""
        table = np.stack([word[first : min(end, self._n)] for word in self._words], axis=1).astype("<u8")
        docnos: list[bytes] = table.view(f"S{table.shape[1] * WORD}")[:, 0].tolist()
        is_long = table[:, 0] & _FIRST_BYTES[1] == 0
        if is_long.any():
            long = list(self._long)
            for row in np.flatnonzero(is_long).tolist():
                docnos[row] = long[int(table[row, 0] >> _BYTE) - 1]
        return docnos

    def forget(self, n_known: int) -> None:
        """Take back the numbers from `n_known` on."""
        if n_known != self._n:
            self._n = n_known
            self._rebuild()

    def _words_of(self, docnos: FieldColumn) -> list[NDArray[np.uint64]]:
        """Return the docnos as words; for a long one stands one word that no docno has."""
        rows = np.flatnonzero(docnos.lengths > _MOST_WORDS * WORD)
        if not rows.size:
            return docnos.words()
        lengths = np.minimum(docnos.lengths, _MOST_WORDS * WORD)
        words = FieldColumn(docnos.text, docnos.starts, lengths).words()
        for word in words:
            word[rows] = 0
        long = self._long
        numbers = [long.setdefault(docnos[row], len(long) + 1) for row in rows.tolist()]
        words[0][rows] = np.array(numbers, np.uint64) << _BYTE
        return words

    def _find(self, words: Sequence[NDArray[np.uint64]]) -> NDArray[np.int32]:
        """Return the number of every docno that has one, `NO_NUMBER` for the others."""
        while len(self._words) < len(words):
            size = self._words[0].size if self._words else 1 << _FIRST_BITS
            self._words.append(np.zeros(size, np.uint64))
        here = self._hashed(words)
        numbers = self._slots[here]
        rows = np.flatnonzero(numbers != NO_NUMBER)
        here, found, step = here[rows], numbers[rows], 0
        while rows.size:
            is_other = np.zeros(rows.size, np.bool_)
            for place, word in enumerate(self._words):
                is_other |= word[found] != (words[place][rows] if place < len(words) else 0)
            step += 1
            rows, here = rows[is_other], self._further(here[is_other], step)
            numbers[rows] = found = self._slots[here]
            is_left = found != NO_NUMBER
            rows, here, found = rows[is_left], here[is_left], found[is_left]
        return numbers

    def _hashed(self, words: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
        mixed = np.zeros(words[0].size, np.uint64)
        for word, factor in zip(words, _SLOT_FACTORS, strict=False):
            mixed ^= (word ^ (word >> _SLOT_SHIFT)) * factor  # a word of zeros changes nothing
        mixed ^= mixed >> _SLOT_SHIFT
        mixed *= _SLOT_FACTOR
        mixed >>= np.uint64(64 - self._bits)
        return mixed

    def _further(self, slots: NDArray[np.uint64], step: int) -> NDArray[np.uint64]:
        """Return where to look next: 1, then 2, then 3 slots on, which comes by every slot."""
        return (slots + np.uint64(step)) & np.uint64(self._slots.size - 1)

    def _append(self, words: list[NDArray[np.uint64]]) -> None:
        """Give the next numbers to docnos that have none, each of them once."""
        first, end = self._n, self._n + words[0].size
        if end > self._words[0].size:
            rest = np.zeros(max(1 << _FIRST_BITS, end + end // 2) - first, np.uint64)
            self._words = [np.concatenate((word[:first], rest)) for word in self._words]
        for place, word in enumerate(self._words):
            word[first:end] = words[place] if place < len(words) else 0
        self._n = end
        if _ROOM // 2 * end > self._slots.size:
            self._rebuild()
        else:
            self._place(np.arange(first, end, dtype=np.int32), words)

    def _rebuild(self) -> None:
        """Place all docnos afresh, in a table with `_ROOM` slots for each."""
        while _ROOM * self._n > 1 << self._bits:
            self._bits += 1
        self._slots = _empty_slots(self._bits)
        for first in range(0, self._n, _AT_A_TIME):
            rows = np.arange(first, min(first + _AT_A_TIME, self._n), dtype=np.int32)
            self._place(rows, [word[rows] for word in self._words])

    def _place(self, numbers: NDArray[np.int32], words: list[NDArray[np.uint64]]) -> None:
        """Put new numbers into the table."""
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
