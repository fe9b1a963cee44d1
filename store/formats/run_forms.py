"""How a run goes out of a collection as it was handed in: in one of the few forms that programs write.

One with a header may look like anything, so its text is kept, as gzip. Other run files are written anew, in
the usual form that has their SHA-256, if one has.
"""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

from store.errors import PoolerError
from store.formats.syntax.compression import uncompressed

NO_RANK = "-"
"""Stands in the fourth column where the original file had ranks that are no integers."""
_MOST_USUAL = 6
"""Decimals that programs write whatever the scores need; C's ``%f``."""


@dataclass(frozen=True, slots=True)
class RunForm:
    """How the lines of a run file look."""

    separator: str = " "
    """A blank or a tab."""
    decimals: int | None = None
    """Of every score; ``None`` = as few as say what it is."""
    is_bare: bool = False
    """Whether whole numbers have no ``.0`` then."""

    def score_texts(self, scores: Iterable[float]) -> Iterable[str]:
        """Write scores.

        >>> [*RunForm(is_bare=True).score_texts([3.0, 2.5])], [*RunForm(decimals=2).score_texts([3.0])]
        (['3', '2.5'], ['3.00'])
        """
        if self.decimals is not None:
            return (f"{score:.{self.decimals}f}" for score in scores)
        if self.is_bare:
            return (repr(score).removesuffix(".0") for score in scores)
        return map(repr, scores)

    def text(
        self,
        tag: str,
        topic: str,
        docnos: Sequence[str],
        scores: Iterable[float],
        ranks: Sequence[int] | None,
    ) -> str:
        r"""Write the lines of a ranking; `ranks`: ``None`` = not all were integers.

        >>> RunForm().text("bm25", "51", ["d2", "d1"], [0.5, 0.25], None)
        '51 Q0 d2 - 0.5 bm25\n51 Q0 d1 - 0.25 bm25\n'
        """
        sep = self.separator
        start, end = f"{topic}{sep}Q0{sep}", f"{sep}{tag}\n"
        stated = [NO_RANK] * len(docnos) if ranks is None else ranks
        return "".join(
            f"{start}{docno}{sep}{rank}{sep}{score}{end}"
            for docno, rank, score in zip(docnos, stated, self.score_texts(scores), strict=True)
        )

    def with_tabs(self) -> RunForm:
        """Return the same with tabs for blanks."""
        return replace(self, separator="\t")


OWN = RunForm()
"""What is written where nothing else is known."""


def usual_forms(needed: int) -> list[RunForm]:
    """Return the forms that a run can have had, with blanks; `needed`: see `decimals_of`.

    >>> [form.decimals for form in usual_forms(4)], [form.decimals for form in usual_forms(9)]
    ([None, None, 4, 5, 6], [None, None, 9])
    """
    fixed = range(needed, max(needed, _MOST_USUAL) + 1)
    return [OWN, RunForm(is_bare=True), *(RunForm(decimals=decimals) for decimals in fixed)]


def decimals_of(scores: Iterable[float]) -> int:
    """Return how many decimals the longest score needs.

    >>> decimals_of([3.0, 2.25, 1e-05])
    5
    """
    from decimal import Decimal  # whoever reads runs needs none of it

    needed = 0
    for text in map(repr, scores):
        if "e" in text:
            exponent = Decimal(text).normalize().as_tuple().exponent
            needed = max(needed, -int(exponent))
        elif not text.endswith(".0"):
            needed = max(needed, len(text) - text.index(".") - 1)
    return needed


_LEVEL = 1
"""The usual 6 makes a text a tenth smaller in four times the time."""
_GZIP = 31
"""What zlib calls gzip's form."""
_PIECE = 1 << 18
"""Bytes in memory at a time."""


class TextCopy:
    """A text that passes by, compressed."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Take what comes next."""
        self._digest.update(data)
        if piece := self._packer.compress(data):
            self._pieces.append(piece)

    def close(self) -> tuple[bytes, str]:
        """Return what is kept of it, and the SHA-256 of the text."""
        return b"".join([*self._pieces, self._packer.flush()]), self._digest.hexdigest()


def open_kept(kept: bytes) -> BinaryIO:
    """Open a text that is kept; `DamagedDataError` where it is not what it was."""
    return uncompressed(io.BufferedReader(cast(Any, io.BytesIO(kept))), "")


def text_to_keep(header: str | None, name: str, sha256: str, opened: Callable[[], BinaryIO]) -> bytes | None:
    """Return what is kept of the text of a run file; ``None`` for one without a header.

    `PoolerError`: it is no longer what was read.
    """
    if header is None:
        return None
    copy = TextCopy()
    with opened() as file:
        while piece := file.read(_PIECE):
            copy.write(piece)
    kept, read = copy.close()
    if read != sha256:
        message = f"{name} was changed while it was read"
        raise PoolerError(message, hint="import it again")
    return kept
