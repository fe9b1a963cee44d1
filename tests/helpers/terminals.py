"""Programs in terminals of our own, and judges in processes who may be killed."""

from __future__ import annotations

import contextlib
import fcntl
import multiprocessing
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

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
    """A program in a pseudo-terminal."""

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
        return self.process.poll() is not None

    def wait(self) -> int:
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


TOO_QUICK = "too quick"
"""What a key is answered that came before the screen knew that it was painted."""
NOT_SAVED = "NOT SAVED"
REFUSED = (TOO_QUICK, "not undone", "not graded")
"""What the full screen says of a key that did nothing, and is to be pressed again."""
BLINK_S = 0.15
UNREAD = "could not be read"
ANSWERED_S = 60.0
"""How long a question may take; a busy machine is slow, a broken program never asks."""

LOOKING = threading.Lock()
"""Held while a process is started or its exit code is read.

A start reads the exit codes of all, and one that two threads read at once is 255 for one of them.
"""
TITLE = re.compile(r"Title (\w+)")
BRIEFING_S = 1.0
"""Pause after which a full screen without a document is taken for the briefing."""
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    ["pooler.pools.live", "judge_ui.plain", "judge_ui.screens.app", "tests.helpers.terminals"]
)


class Handed:
    """A file descriptor that arrives in the process it is handed to as a number."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _arrived, (DupFd(self._number),)


def _arrived(handed: Any) -> int:
    """Return the number that a file descriptor has here."""
    number: int = handed.detach()
    return number


def run_in_streams(arguments: list[str], in_number: int, out_number: int, is_terminal: bool) -> None:
    """Run `pooler` with these streams; runs in a process of its own."""
    if is_terminal:
        os.setsid()
        fcntl.ioctl(in_number, termios.TIOCSCTTY, 0)
        os.dup2(out_number, 2)
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    os.dup2(in_number, 0)
    os.dup2(out_number, 1)
    os.close(in_number)
    os.close(out_number)
    sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8")
    if not is_terminal:
        os.dup2(1, 2)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", encoding="utf-8")
    # By this name the server knows whether anything of a killed process still goes on.
    os.environ["PGAPPNAME"] = arguments[arguments.index("--judge") + 1]
    from tests.helpers.run import run

    sys.exit(int(run(arguments)))


class Ended(Exception):  # noqa: N818 - how a process went, not an error
    """The process has ended by itself."""


class Life:
    """One process of one judge, from its start to its end."""

    def __init__(self, arguments: list[str], *, in_terminal: bool) -> None:
        self._is_terminal = in_terminal
        self._output = b""
        if in_terminal:
            self._reads, child = os.openpty()
            self._writes = os.dup(self._reads)
            fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            ends = [child, os.dup(child)]
        else:
            typed, self._writes = os.pipe()
            self._reads, shown = os.pipe()
            ends = [typed, shown]
        self._process: BaseProcess = processes.Process(
            target=run_in_streams, args=(arguments, *map(Handed, ends), in_terminal)
        )
        with LOOKING:
            self._process.start()
        for end in ends:
            os.close(end)

    def text(self, since: int = 0) -> str:
        """Return what was written from a place on, without escape sequences."""
        return SEQUENCE.sub(b"", self._output[since:]).decode(errors="replace")

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def place(self) -> int:
        return len(self._output)

    def read(self, timeout: float) -> bool:
        """Keep what comes within some seconds; False = nothing came, or nothing will."""
        ready, _, _ = select.select([self._reads], [], [], timeout)
        if not ready:
            return False
        try:
            part = os.read(self._reads, 1 << 16)
        except OSError:  # Linux says so when the program has closed the terminal
            return False
        self._output += part
        return bool(part)

    def wait_for(self, is_there: Callable[[str], bool], since: int) -> str:
        """Wait until something was written; return the output since the place.

        Raises `Ended` when it can no longer come.
        """
        end = time.monotonic() + ANSWERED_S
        while not is_there(text := self.text(since)):
            if not self.read(0.2):
                if self._exit_code() is not None:
                    raise Ended(text[-3000:])
                assert time.monotonic() < end, f"it never came:\n{text[-3000:]}"
        return text

    def type(self, text: str) -> int:
        place = self.place
        with contextlib.suppress(OSError):
            os.write(self._writes, text.encode())
        return place

    def kill(self) -> None:
        """Kill the process without warning, and keep what it had written.

        Raises `Ended` when it was first to end.
        """
        if self._killed() != -signal.SIGKILL:
            raise Ended(self.text()[-3000:])
        while self.read(0):
            pass

    def end(self) -> None:
        end = time.monotonic() + ANSWERED_S
        while (code := self._exit_code()) is None:
            self.read(0.05)
            assert time.monotonic() < end, f"it never ended:\n{self.text()[-3000:]}"
        while self.read(0):
            pass
        assert code == 0, f"it ended with {code}:\n{self.text()[-3000:]}"

    def close(self) -> None:
        if self._exit_code() is None:
            self._killed()
        os.close(self._reads)
        os.close(self._writes)

    def _exit_code(self) -> int | None:
        with LOOKING:
            return self._process.exitcode

    def _killed(self) -> int:
        """Kill the process if it still runs; return how it ended."""
        with LOOKING:
            self._process.kill()
            self._process.join(ANSWERED_S)
            code = self._process.exitcode
        assert code is not None, "it cannot be killed"
        return code


class LivingJudge:
    """A judge at a topic in a process, who answers what is asked."""

    def __init__(self, life: Life, *, in_terminal: bool) -> None:
        self.life = life
        self._is_terminal = in_terminal
        self._key = ""
        self._at = 0
        """Where the output stood when the answer before was typed."""

    def see(self) -> str:

        def is_there(text: str) -> bool:
            return bool(TITLE.search(text)) and (self._is_terminal or text.endswith(" > "))

        if self._is_terminal and self._at == 0:
            while not is_there(self.life.text()):
                if not self.life.read(BRIEFING_S) and self.life.place:
                    self.life.type("\r")
        if not self._is_terminal:
            while not TITLE.search(text := self.life.wait_for(_is_question, self._at)):
                assert UNREAD in text, text
                self.answer("")
        return TITLE.findall(self.life.wait_for(is_there, self._at))[-1]

    def answer(self, key: str) -> None:
        self._key = key
        self._at = self.life.type(key if self._is_terminal else f"{key}\n")

    def heard(self, words: re.Pattern[str]) -> bool:
        return bool(words.search(self.life.text(self._at)))

    def last_said(self, words: re.Pattern[str]) -> str:
        """Return what a group of words was the last time that they were said since the answer before."""
        found: list[str] = words.findall(self.life.text(self._at))
        return found[-1]

    def wait_to_hear(self, words: re.Pattern[str]) -> int:
        """Wait until words were said since the answer before; return how often they were not.

        A key that was too quick for the full screen is pressed again; what could not be saved in
        the line mode is tried again.
        """
        n_told, end = 0, time.monotonic() + ANSWERED_S
        while True:
            key = self._key
            text = self.life.wait_for(lambda text: self._is_answered(text, words), self._at)
            if words.search(text):
                return n_told
            # The full screen says it once more when its hints stop blinking.
            pause = time.monotonic() + (3 * BLINK_S if self._is_terminal else 0.05)
            while (left := pause - time.monotonic()) > 0:
                self.life.read(left)
            assert time.monotonic() < end, text
            self.answer("" if NOT_SAVED in text else key)
            self._key = key
            n_told += 1

    def _is_answered(self, text: str, words: re.Pattern[str]) -> bool:
        if self._is_terminal:
            return bool(words.search(text)) or any(said in text for said in REFUSED)
        return _is_question(text)


def _is_question(text: str) -> bool:
    """Say whether a line-mode output waits for an answer."""
    return text.endswith(" > ")


@contextlib.contextmanager
def living(collection: str, judge: str, topic: str, *, in_terminal: bool) -> Iterator[LivingJudge]:
    """Sit a judge down at a topic in a process."""
    arguments = ["judge", "--judge", judge, "--topic", topic, "--collection", collection]
    arguments += ["--min-dwell", "0"] if in_terminal else ["--plain"]
    life = Life(arguments, in_terminal=in_terminal)
    try:
        yield LivingJudge(life, in_terminal=in_terminal)
    finally:
        life.close()
