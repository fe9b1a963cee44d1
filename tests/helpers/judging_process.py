"""`pooler judge --plain` as a process that is typed to, read from, and killed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Protocol

from judge_ui.session.messages import ALL_DECIDED
from tests.helpers.run import environment, program

PATIENCE_S = 60.0
"""How long a process may take to ask; a busy machine is slow, a broken program never asks."""
DOCUMENT = re.compile(r"^Document (\S+)", re.MULTILINE)
SKIPPED = re.compile(r"Enter = the \d+ skipped")
"""What stands at the end of a topic in which some are."""
processes = multiprocessing.get_context("forkserver")


class Started(Protocol):
    """A process that was started."""

    def kill(self) -> None:
        """Kill it without warning."""

    def wait(self) -> int:
        """Wait for its end and return how it ended."""


class _Forked:
    """A process forked from one that has imported everything, which is ten times as fast."""

    def __init__(self, process: multiprocessing.process.BaseProcess) -> None:
        self._process = process

    def kill(self) -> None:
        """Kill it without warning."""
        self._process.kill()

    def wait(self) -> int:
        """Wait for its end and return how it ended."""
        self._process.join(PATIENCE_S)
        code = self._process.exitcode
        assert code is not None, "the process did not end"
        return code


def _judge(arguments: list[str], typed: Pipe, shown: Pipe) -> None:
    """Run `pooler` with these streams; runs in a process of its own."""
    os.dup2(typed.fileno(), 0)
    os.dup2(shown.fileno(), 1)
    typed.close()
    shown.close()
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    from tests.helpers.run import run

    sys.exit(int(run(arguments)))


def _fork(arguments: list[str]) -> tuple[Started, int, int]:
    """Start a forked process; return it and the ends of its pipes."""
    preloaded = ["pooler.pools.live", "judge_ui.plain", "tests.helpers.judging_process"]
    processes.set_forkserver_preload(preloaded)
    typed, to_type = processes.Pipe(duplex=False)
    to_read, shown = processes.Pipe(duplex=False)
    process = processes.Process(target=_judge, args=(arguments, typed, shown))
    process.start()
    typed.close()
    shown.close()
    ends = os.dup(to_type.fileno()), os.dup(to_read.fileno())
    to_type.close()
    to_read.close()
    return _Forked(process), *ends


def _spawn(arguments: list[str]) -> tuple[Started, int, int]:
    """Start the program as a user does; return it and the ends of its pipes."""
    process = subprocess.Popen(
        [*program(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment({})
    )
    assert process.stdin is not None
    assert process.stdout is not None
    ends = os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno())
    process.stdin.close()
    process.stdout.close()
    return process, *ends


class JudgingProcess:
    """One process at one topic."""

    def __init__(self, process: Started, to_type: int, to_read: int) -> None:
        self._process = process
        self._to_type = to_type
        self._to_read = to_read
        self._shown = b""

    def ask(self) -> str | None:
        """Wait for the next question; return the docno to decide on, ``None`` when all are, or are skipped.

        Raises `EOFError` when the process has ended.
        """
        start = len(self._shown)
        limit = time.monotonic() + PATIENCE_S
        while not self._shown[start:].endswith(b" > "):
            readable, _, _ = select.select([self._to_read], [], [], limit - time.monotonic())
            assert readable, self._shown.decode()
            part = os.read(self._to_read, 65536)
            if not part:
                raise EOFError(self._shown.decode())
            self._shown += part
        text = self._shown.decode()
        if ALL_DECIDED in text[start:] or SKIPPED.search(text, start):
            return None
        return DOCUMENT.findall(text)[-1]

    def type(self, line: str) -> None:
        """Type a line."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._to_type, f"{line}\n".encode())

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        assert self._process.wait() == -signal.SIGKILL

    def end(self) -> None:
        """Let it end by itself."""
        self.type("q")
        code = self._process.wait()
        assert code == 0, f"ended with {code}: {self._shown.decode()}"

    def close(self) -> None:
        """Close the pipes."""
        os.close(self._to_type)
        os.close(self._to_read)


@contextlib.contextmanager
def judging(collection: Path, topic: str, *, forked: bool) -> Iterator[JudgingProcess]:
    """Sit ann down at a topic in a process of its own."""
    arguments = ["judge", "--plain", "--judge", "ann", "--topic", topic]
    start: Callable[[list[str]], tuple[Started, int, int]] = _fork if forked else _spawn
    process = JudgingProcess(*start([*arguments, "--collection", str(collection)]))
    try:
        yield process
    finally:
        process.close()
