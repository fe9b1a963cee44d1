"""Run files with a header go out of a collection as they were handed in, whatever they look like.

Most stand in one of the usual forms (`store.formats.run_forms`), which is found again by the SHA-256 of the
file. The text of any other is kept, as gzip.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, Self, cast

from store.errors import PoolerError
from store.formats.run_forms import MOST_USUAL, OWN, RunForm, decimals_of, usual_forms
from store.formats.syntax.compression import uncompressed
from store.formats.syntax.lines import open_bytes
from store.records import Run
from store.text import NaturalKey, natural_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEVEL = 1
"""The usual 6 makes a text a tenth smaller in four times the time."""
_PIECE = 1 << 18
"""Bytes in memory at a time."""


class TextCopy:
    """A text that passes by, compressed."""

    def __init__(self) -> None:
        self._made = io.BytesIO()
        self._packer = gzip.GzipFile(fileobj=self._made, mode="wb", compresslevel=_LEVEL, mtime=0)
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Take what comes next."""
        self._digest.update(data)
        self._packer.write(data)

    def close(self) -> tuple[bytes, str]:
        """Return what is kept of it, and the SHA-256 of the text."""
        self._packer.close()
        return self._made.getvalue(), self._digest.hexdigest()


def open_kept(kept: bytes) -> BinaryIO:
    """Open a text that is kept; `DamagedDataError` where it is not what it was."""
    return uncompressed(io.BufferedReader(cast(Any, io.BytesIO(kept))), "")


class _Ranked(Protocol):
    """A ranking in file order, as each reader of runs has it."""

    @property
    def topic(self) -> str: ...
    @property
    def docnos(self) -> Sequence[str]: ...
    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def ranks(self) -> NDArray[np.int64] | None: ...


class FormSought:
    """Reads a run file beside its reader, to see whether it stands in one of the usual forms.

    About 0.7 microseconds a line of one that does; of another the first ranking that does not is the last.
    """

    def __init__(self, opened: Callable[[], BinaryIO]) -> None:
        self._opened = opened
        self._file: BinaryIO | None = None
        self._forms: list[RunForm] = []
        """Those that all lines so far may have."""
        self._needed = 0
        self._digest = hashlib.sha256()
        """Of what an export would write."""
        self._last: NaturalKey | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file is not None:
            self._file.close()

    def see(self, header: str, tag: str, ranking: _Ranked) -> None:
        """Compare the next ranking with the file."""
        is_first = self._file is None
        if self._file is None:
            above = header.encode()
            self._file = self._opened()
            self._file.read(len(above))
            self._digest.update(above)
        elif not self._forms:
            return
        topic, docnos, scores = ranking.topic, ranking.docnos, ranking.scores.tolist()
        key = natural_key(topic)
        ranks = None if ranking.ranks is None else ranking.ranks.tolist()
        lines = b"".join(islice(self._file, len(docnos)))
        if is_first:
            self._forms = _forms_like(lines)
        left: list[RunForm] = []
        if self._last is None or self._last < key:  # as an export has topics
            fit: list[str] = []
            for form in self._forms:
                texts = [*form.score_texts(scores)]
                if texts == fit if left else form.text(tag, topic, docnos, texts, ranks).encode() == lines:
                    left, fit = [*left, form], texts
        # A number that has been written with some decimals needs no more.
        if any((form.decimals or 0) > MOST_USUAL for form in left):
            self._needed = max(self._needed, decimals_of(scores))
        self._forms, self._last = left, key
        self._digest.update(lines)

    def text(self, name: str, sha256: str) -> bytes | None:
        """Return the file to be kept, or ``None`` where an export makes it anew; name and hash are its."""
        known = usual_forms(self._needed)
        is_usual = any(replace(form, separator=OWN.separator) in known for form in self._forms)
        if is_usual and self._digest.hexdigest() == sha256:
            return None
        copy = TextCopy()
        with self._opened() as file:
            while piece := file.read(_PIECE):
                copy.write(piece)
        kept, read = copy.close()
        if read != sha256:
            message = f"{name} was changed while it was read"
            raise PoolerError(message, hint="import it again")
        return kept


def _forms_like(lines: bytes) -> list[RunForm]:
    """Return the forms that a file may have which begins with these lines."""
    score = [*lines.split(None, 5), b"", b"", b"", b"", b""][4]
    decimals = len(score.partition(b".")[2])
    forms = [OWN, RunForm(is_bare=True), RunForm(decimals=decimals)]
    return [form.with_tabs() for form in forms] if b"\t" in lines else forms


def text_to_keep(run: Run, opened: Callable[[], BinaryIO] | None = None) -> bytes | None:
    """Return what is to be kept of the text of a run that was read.

    ``None`` where it has no header, stands in a usual form, or cannot be read again; `opened` opens what is
    no regular file.
    """
    if run.header is None or not (opened or run.path):
        return None
    with FormSought(opened or partial(open_bytes, run.path)) as sought:
        for ranking in run.rankings:
            sought.see(run.header, run.tag, ranking)
        return sought.text(run.file, run.sha256)
