"""Bytes that are made while they are read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class ByteBlocks(io.RawIOBase):
    """Blocks of bytes, one after another, as a file; `close` closes what they are made of.

    An error of theirs is raised as often as it is read on.
    """

    def __init__(self, blocks: Iterator[bytes], close: Callable[[], object] | None = None) -> None:
        self._blocks, self._close = blocks, close
        self._given = memoryview(b"")
        self._error: Exception | None = None

    def readable(self) -> bool:  # noqa: D102 - as every stream has it
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:  # noqa: D102 - likewise
        if self._error is not None:
            raise self._error
        try:
            while not self._given and (block := next(self._blocks, None)) is not None:
                self._given = memoryview(block)
        except Exception as error:
            self._error = error
            raise
        view = memoryview(buffer).cast("B")
        n_bytes = min(len(view), len(self._given))
        view[:n_bytes] = self._given[:n_bytes]
        self._given = self._given[n_bytes:]
        return n_bytes

    def close(self) -> None:  # noqa: D102 - likewise
        if not self.closed and self._close is not None:
            self._close()
        super().close()
