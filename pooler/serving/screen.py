"""The screen of one judge: a process of its own, behind the protocol of Textual's driver for the web.

A packet is a letter (`D` what a terminal would get or send, `M` a JSON object about the terminal), its length
in four bytes, and that many bytes. What the process offers beyond its screen, as files and addresses to be
opened, is not passed on.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress

from pooler.serving.start import Start
from store.text import sanitise_line

_HANDSHAKE = b"__GANGLION__\n"
_DATA, _ABOUT = b"D", b"M"
LEAVE_S = 10.0
"""For so long a process may save what it has when it is asked to end; then it is killed."""
_MOST_WORDS = 8192
"""Bytes of stderr that are kept: the last."""
_DATA_EXIT = 1
FAILED = "The screen ended by itself. What it said to be saved is saved."


class Screen:
    """A process that was started, until it ends."""

    def __init__(self, process: Process, show: Callable[[bytes], Awaitable[None]]) -> None:
        self._process = process
        self._show = show
        self._words = b""
        self._reading = asyncio.create_task(self._read())
        self._hearing = asyncio.create_task(self._hear())

    @classmethod
    async def begin(cls, start: Start, show: Callable[[bytes], Awaitable[None]]) -> Screen:
        """Start the process of a judge; `show` is given what the terminal is to get."""
        # In a session of its own: Ctrl-C at the server's terminal is for the server, which ends them.
        process = await asyncio.create_subprocess_exec(
            *start.command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=dict(start.environment),
            start_new_session=True,
        )
        return cls(process, show)

    async def type(self, text: str) -> None:
        """Pass on what was typed."""
        await self._send(_DATA, text.encode("utf-8", "replace"))

    async def tell(self, kind: str, **about: int) -> None:
        """Pass on what happened to the window."""
        await self._send(_ABOUT, json.dumps({"type": kind, **about}).encode())

    async def ended(self) -> None:
        """Wait until the process has ended."""
        await asyncio.shield(self._reading)

    async def end(self) -> str:
        """Let the process save, and end it; return its last words, or a message about its end."""
        await self.tell("quit")
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        await asyncio.gather(self._reading, self._hearing, return_exceptions=True)
        return self._last_words()

    def fault(self) -> str:
        """Return what the process said on stderr, if it ended otherwise than it should: for the organiser."""
        words = self._words.decode("utf-8", "replace").strip()
        return "" if self._process.returncode == 0 else f"ended with {self._process.returncode}: {words}"

    def _last_words(self) -> str:
        """Return how it ended: in its own words where these are for the judge, who sees no address."""
        lines = [sanitise_line(line) for line in self._words.decode("utf-8", "replace").splitlines()]
        code = self._process.returncode
        if code == 0:
            return " ".join(lines)
        errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        return f"{errors[0]}. Tell the organiser." if code == _DATA_EXIT and errors else FAILED

    async def _send(self, kind: bytes, data: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with suppress(ConnectionError, RuntimeError):  # it has ended: the reader of its output sees that
            pipe.write(kind + len(data).to_bytes(4, "big") + data)
            await pipe.drain()

    async def _read(self) -> None:
        """Pass on what the process shows, and read it to the end in any case, so that it never waits."""
        pipe = self._process.stdout
        assert pipe is not None
        is_shown = True
        with suppress(asyncio.IncompleteReadError, ValueError):
            while (line := await pipe.readline()) != _HANDSHAKE:
                if not line:
                    return
            while True:
                head = await pipe.readexactly(5)
                data = await pipe.readexactly(int.from_bytes(head[1:], "big"))
                if head[:1] == _DATA and is_shown:
                    try:
                        await self._show(data)
                    except (ConnectionError, RuntimeError):
                        is_shown = False

    async def _hear(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        while data := await pipe.read(_MOST_WORDS):
            self._words = (self._words + data)[-_MOST_WORDS:]
