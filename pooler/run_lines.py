"""The fields of a block of run lines, found for all lines at once.

It words no fault: what is not plainly in order is a suspicion, and `pooler.runs` says what is
wrong, if anything is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.columns import BACK, FRONT, LONGEST_FIELD, Column

_CONTROLS = bytes([*range(9), *range(14, 32), 127])
"""The ASCII controls that are no blanks; none may stand in an id."""
_DELETE = b"\x7f"
_ODD_CHARACTERS = re.compile("[\x80-\xa0\u061c\u1680\u180e\u2000-\u206f\u3000\ufeff]")
"""The blanks, controls and bidirectional controls beyond ASCII, and some harmless neighbours."""
_FIRST_PRINTABLE = 33
_NEWLINE = 10
_FIELDS = 6
_SEPARATORS = (b" ", b"\t")


class SuspicionError(Exception):
    """Something in the file is not plainly in order; it may be a fault."""


@dataclass(slots=True, eq=False)
class RunLines:
    """A block of run lines; the second field is not looked at."""

    text: bytes
    """The block, with `FRONT` bytes before it and `BACK` after it."""
    starts: NDArray[np.int64]
    """Where every field begins in the block, shape (n_lines, 6)."""
    lengths: NDArray[np.int64]
    """Their bytes, shape (n_lines, 6)."""

    def __len__(self) -> int:
        return len(self.starts)

    def topics(self) -> Column:
        """Return the first field of every line."""
        return self._column(0)

    def docnos(self) -> Column:
        """Return the third field of every line."""
        return self._column(2)

    def ranks(self) -> Column:
        """Return the fourth field of every line."""
        return self._column(3)

    def scores(self) -> Column:
        """Return the fifth field of every line."""
        return self._column(4)

    def tags(self) -> Column:
        """Return the sixth field of every line."""
        return self._column(5)

    def _column(self, field: int) -> Column:
        lengths = self.lengths[:, field].copy()
        width = int(lengths[0])
        if (lengths != width).any():
            width = 0
        return Column(self.text, self.starts[:, field] + FRONT, lengths, width)


def find_fields(block: bytes) -> RunLines:
    r"""Find the fields of a block of run lines.

    Parameters
    ----------
    block : bytes
        Lines of a run file, the last one with its end; at least one.

    Returns
    -------
    RunLines
        Every line has six fields, and no field a character that cannot stand in an id.

    Raises
    ------
    SuspicionError
        If a line has not six fields, a field is longer than `LONGEST_FIELD`, or a character may
        be a fault in an id.

    Notes
    -----
    Fields stand between any ASCII blanks. Where all blanks are single ones of one kind, a line
    costs some 50 nanoseconds, else twice that.

    Examples
    --------
    >>> lines = find_fields(b"51 Q0 d1 1 0.9 bm25\n51  Q0 d22 2 0.4 bm25 \n")
    >>> lines.docnos().at(0), lines.docnos().at(1)
    (b'd1', b'd22')
    """
    padded = b"".join((bytes(FRONT), block, bytes(BACK)))
    text = np.frombuffer(padded, np.uint8)[FRONT:-BACK]
    bounds = _single_blanks(text)
    if bounds is None:
        if len(block.translate(None, _CONTROLS)) != len(block):
            raise SuspicionError("a control character")
        bounds = _any_blanks(text)
    elif _DELETE in block:
        raise SuspicionError("a control character")
    if not block.isascii():
        _check_characters(block)
    starts, lengths = bounds
    if lengths.max() > LONGEST_FIELD:
        raise SuspicionError("a very long field")
    return RunLines(padded, starts, lengths)


def _single_blanks(
    text: NDArray[np.uint8],
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Find fields that stand between single blanks; ``None`` when some do not.

    Returns where fields start and how long they are, both of shape (n_lines, 6).
    """
    places = np.flatnonzero(text < _FIRST_PRINTABLE)
    blanks = text[places].tobytes()
    of_line = blanks[:1] * (_FIELDS - 1) + (b"\r\n" if blanks[5:6] == b"\r" else b"\n")
    n_lines = places.size // len(of_line)
    # Nothing else is below the first printable character, so there is no control among these.
    if blanks[:1] not in _SEPARATORS or blanks != of_line * n_lines:
        return None
    starts = np.empty_like(places)
    starts[0] = 0
    np.add(places[:-1], 1, out=starts[1:])
    places -= starts
    shape = n_lines, len(of_line)
    lengths = places.reshape(shape)
    if lengths[:, :_FIELDS].min() < 1 or lengths[:, _FIELDS:].any():
        return None
    return starts.reshape(shape)[:, :_FIELDS], lengths[:, :_FIELDS]


def _any_blanks(text: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find fields that stand between any blanks, as `_single_blanks` does."""
    is_blank = np.ones(text.size + 2, np.bool_)
    np.less(text, _FIRST_PRINTABLE, out=is_blank[1:-1])
    edges = np.flatnonzero(is_blank[1:] != is_blank[:-1])
    n_lines, rest = divmod(edges.size, 2 * _FIELDS)
    newlines = np.flatnonzero(text == _NEWLINE)
    if rest or n_lines == 0 or newlines.size != n_lines:
        raise SuspicionError("a line has not six fields")
    starts, ends = (edges[side::2].reshape(n_lines, _FIELDS) for side in (0, 1))
    # As many newlines as lines, one after every sixth field: so there is none between others.
    if (newlines < ends[:, -1]).any() or (newlines[:-1] > starts[1:, 0]).any():
        raise SuspicionError("a line has not six fields")
    return starts, ends - starts


def _check_characters(block: bytes) -> None:
    """Raise `SuspicionError` when a character beyond ASCII could be a fault in an id."""
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        raise SuspicionError("no UTF-8") from error
    if _ODD_CHARACTERS.search(text):
        raise SuspicionError("an odd character")
