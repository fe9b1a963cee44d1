"""Run files with a header go out of a collection as they were handed in, whatever they look like.

Their text is kept, as gzip; other run files are written anew, in a usual form if one has their SHA-256.
"""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from store.errors import PoolerError
from store.formats.syntax.compression import uncompressed

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
