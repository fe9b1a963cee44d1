"""Qrels files as columns of numbers: for arithmetic that needs no object a line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, LONGEST_ID, is_regular_file, open_bytes

_BLANK, _BREAK, _HASH = 0x20, 0x0A, 0x23
_N_FIELDS = 4
_CODE = re.compile(rb"[+-]?[0-9]{1,18}")

Key = TypeVar("Key", str, bytes)


class Numbering(dict[Key, int], Generic[Key]):
    """Numbers from 0 for texts, in the order in which they are first asked for.

    Examples
    --------
    >>> numbering = Numbering[str]()
    >>> [numbering[text] for text in ("b", "a", "b")]
    [0, 1, 0]
    """

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number

    def codes(self, texts: Iterable[Key], count: int = -1) -> NDArray[np.int64]:
        """Return the number of each text, shape (n_texts,); `count` texts, or as many as come."""
        return np.fromiter(map(self.__getitem__, texts), np.int64, count)


@dataclass(frozen=True, slots=True, eq=False)
class QrelsColumns:
    """What a qrels file says, in file order; all arrays have shape (n_lines,)."""

    topics: NDArray[np.int64]
    """Numbers of topics, by the numbering that was passed."""
    docnos: NDArray[np.int64]
    """Numbers of docnos, by the numbering that was passed."""
    codes: NDArray[np.int64]
    """The fourth column; whether a negative code is a grade is not decided here."""


def read_qrels_columns(
    path: str, topics: Numbering[str], docnos: Numbering[str]
) -> QrelsColumns | None:
    """Read a qrels file in which there is nothing to remark on.

    Parameters
    ----------
    path : str
        The file; compression is seen through.
    topics, docnos : Numbering of str
        They number what the file names; what is new to them is added. After ``None`` they are as
        before.

    Returns
    -------
    QrelsColumns or None
        ``None`` = `store.formats.qrels.read_qrels` has to look at it, as it has a fault, or may
        have one, or something to be told: characters other than printable ASCII, lines without
        four fields, comments, codes that are no plain integers, a document twice. So has a file
        that can be read once only.

    Raises
    ------
    PoolerError
        If the file cannot be opened.

    Notes
    -----
    O(n); it takes a quarter of the time that a tuple a line costs.
    """
    if not is_regular_file(path):
        return None
    try:
        with open_bytes(path) as file:
            data = file.read().removeprefix(BOM)
    except DamagedDataError:
        return None
    if not _is_plain(data):
        return None
    fields = data.split()
    codes = set(fields[3::_N_FIELDS])
    if not fields or not all(map(_CODE.fullmatch, codes)):
        return None
    known = len(topics), len(docnos)
    n_lines = len(fields) // _N_FIELDS
    values = {field: int(field) for field in codes}
    columns = QrelsColumns(
        _codes(topics, fields[0::_N_FIELDS]),
        _codes(docnos, fields[2::_N_FIELDS]),
        np.fromiter(map(values.__getitem__, fields[3::_N_FIELDS]), np.int64, n_lines),
    )
    pairs = np.sort(columns.topics * len(docnos) + columns.docnos)
    if (pairs[1:] == pairs[:-1]).any():
        for numbering, size in zip((topics, docnos), known, strict=True):
            for text in list(numbering)[size:]:
                del numbering[text]
        return None
    return columns


def _codes(numbering: Numbering[str], fields: list[bytes]) -> NDArray[np.int64]:
    """Return the numbers of fields, decoding each text once."""
    own = Numbering[bytes]()
    codes = own.codes(fields, len(fields))
    of_own = numbering.codes((field.decode("ascii") for field in own), len(own))
    return of_own[codes]


def _is_plain(data: bytes) -> bool:
    """Say whether every line is four fields of printable ASCII, or blank, and none a comment."""
    if not data.isascii():
        return False
    codes = np.frombuffer(data, dtype=np.uint8)
    is_blank = codes <= _BLANK
    odd = codes[is_blank | (codes == 0x7F)]
    if not np.isin(odd, (_BLANK, _BREAK, 0x09, 0x0D)).all():
        return False
    starts = np.flatnonzero(~is_blank & np.concatenate(([True], is_blank[:-1])))
    if len(starts) % _N_FIELDS or (np.diff(starts, append=len(codes)) > LONGEST_ID).any():
        return False
    # Of four fields in a row the first must begin a line, and only the first.
    line_of = np.searchsorted(np.flatnonzero(codes == _BREAK), starts).reshape(-1, _N_FIELDS)
    is_whole = (line_of == line_of[:, :1]).all() and (np.diff(line_of[:, 0]) > 0).all()
    return bool(is_whole and not (codes[starts[0::_N_FIELDS]] == _HASH).any())
