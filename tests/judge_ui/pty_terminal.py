"""A terminal of our own: it keeps every byte that a program writes, and answers nothing."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tests.helpers.run import PROGRAM

PATIENCE_S = 30.0
"""How long a screen may take; a busy machine is slow, a broken program never comes."""

ESCAPE_S = 0.2
"""Pause after Escape: a terminal program waits a moment for the rest of a sequence."""

SEQUENCE = re.compile(
    rb"\x1b(?:"
    rb"\[[0-?]*[ -/]*[@-~]"  # CSI: cursor, colours, modes
    rb"|[\]PX^_].*?(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC: strings up to BEL or ST
    rb"|[ -/]*[0-Z\\^-~]"  # the short ones
    rb")",
    re.DOTALL,
)
"""One escape sequence, as ECMA-48 has them."""

_NUMBERS = re.compile(rb"[0-9;]*")
_MANY_FORMS = b"mH"
"""Last bytes of the sequences whose numbers are any: colours, and places of the cursor."""


class Chunk(NamedTuple):
    """Bytes that came at once."""

    start: int
    """Where they begin in the output."""
    came_at: float
    """Seconds of `time.perf_counter`."""


class PtyTerminal:
    """A program in a pseudo-terminal.

    Parameters
    ----------
    command : sequence of str
        What to run.
    size : tuple of int, default=(80, 24)
        Columns and rows.
    environment : mapping, optional
        Variables to set beside those of this process.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        size: tuple[int, int] = (80, 24),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.output = bytearray()
        self.chunks: list[Chunk] = []
        self._master, terminal = os.openpty()
        self._set_size(size)
        variables = {
            **os.environ,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLUMNS": str(size[0]),
            "LINES": str(size[1]),
            **(environment or {}),
        }
        hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored by whoever inherits
        try:
            self.process = subprocess.Popen(
                command,
                stdin=terminal,
                stdout=terminal,
                stderr=terminal,
                env=variables,
                start_new_session=True,
            )
        finally:
            signal.signal(signal.SIGHUP, hangup)
            os.close(terminal)

    def __enter__(self) -> PtyTerminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _set_size(self, size: tuple[int, int]) -> None:
        """Say how large the terminal is."""
        columns, rows = size
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, timeout: float) -> bool:
        """Keep what comes within some seconds, at once when it is there; False = nothing came."""
        ready, _, _ = select.select([self._master], [], [], max(timeout, 0.0))
        if not ready:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # Linux says so when the program has closed the terminal
            return False
        self.chunks.append(Chunk(len(self.output), time.perf_counter()))
        self.output += data
        return bool(data)

    def send(self, data: bytes) -> int:
        """Type bytes as they are; return where the output stands."""
        place = len(self.output)
        os.write(self._master, data)
        return place

    def text(self, since: int = 0) -> str:
        """Return the output from a place on without its escape sequences."""
        return SEQUENCE.sub(b"", bytes(self.output[since:])).decode(errors="replace")

    def wait_for(self, *texts: str, since: int = 0) -> str:
        """Wait until texts have been written; return the output since the place.

        A text is looked for in what was written, not on the screen: choose one that comes with
        the last line of a screen, or wait `until_quiet` as well.
        """
        end = time.monotonic() + PATIENCE_S
        while True:
            written = self.text(since)
            if missing := [text for text in texts if text not in written]:
                if time.monotonic() > end or (not self.read(0.5) and self.is_over()):
                    raise AssertionError(f"{missing} never came up:\n{written[-3000:]}")
            else:
                return written

    def until_quiet(self, seconds: float = 0.15) -> None:
        """Wait until nothing has come for a while, the longer the busier the machine is."""
        busy = os.getloadavg()[0] / (os.cpu_count() or 1)
        end = time.monotonic() + PATIENCE_S
        while self.read(seconds * min(max(busy, 1.0), 5.0)):
            assert time.monotonic() < end, "the program never stops writing"

    def vanish(self) -> None:
        """Take the terminal away, as a connection that breaks does; no signal is sent."""
        os.close(self._master)
        self._master = os.open(os.devnull, os.O_RDWR)

    def is_over(self) -> bool:
        """Say whether the program has ended."""
        return self.process.poll() is not None

    def wait(self) -> int:
        """Read until the program ends; return its exit code."""
        end = time.monotonic() + PATIENCE_S
        while not self.is_over():
            self.read(0.05)
            assert time.monotonic() < end, f"never ended:\n{self.text()[-3000:]}"
        while self.read(0.05):
            pass
        return self.process.wait()


def judge(file: Path | str, *options: str) -> tuple[str, ...]:
    """Return the command that sits alice down."""
    return (*PROGRAM, "judge", "--judge", "alice", "--collection", str(file), *options)


def begin(terminal: PtyTerminal) -> None:
    """Go from the page that comes before the first document to the document."""
    terminal.wait_for("Enter begin")
    terminal.until_quiet()  # a key from before it was painted is none
    terminal.send(b"\r")


def forms(output: bytes) -> set[bytes]:
    """Return the escape sequences of an output, those of colours and places without numbers."""
    found = set()
    for sequence in SEQUENCE.findall(output):
        is_free = sequence[1:2] == b"[" and sequence[-1:] in _MANY_FORMS
        found.add(_NUMBERS.sub(b"", sequence) if is_free else sequence)
    return found
