"""Many judges at work at once, each a process of the command line in line mode."""

from __future__ import annotations

import os
import random
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from store.collection import Collection
from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.run import PROGRAM, run_inside
from tests.helpers.world import parse_scale

_ASKS = re.compile(rb"> $")
_DOCUMENT = re.compile(rb"\nDocument (\S+)")
_SAVED = re.compile(rb"(\d) [a-z ]+[^\n]*\(saved \d\d:\d\d:\d\d\)")
_STEP_S = 0.005
_LONGEST_S = 1800.0


def pooler(place: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start the command line."""
    return subprocess.Popen(
        [*PROGRAM, *arguments, "--collection", place],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Wait for a process; return its exit code and the last line it printed."""
    lines = process.communicate()[0].decode().splitlines()
    return process.returncode, lines[-1] if lines else ""


@dataclass
class Judge:
    """One judge at work, and what became of it."""

    place: str
    name: str
    dice: random.Random
    waits: list[tuple[float, float]] = field(default_factory=list)
    """When an answer was sent, and how long the next question took."""
    saved: dict[str, int] = field(default_factory=dict)
    """Grades that were said to be saved, by the document that was printed before."""
    doubtful: dict[str, int] = field(default_factory=dict)
    """Grades that were typed when the process was killed."""
    shown: bytes = b""
    n_unsaved: int = 0
    n_void: int = 0
    is_done: bool = False
    next_at: float = 0.0
    _sent: tuple[float, str, int] | None = None
    _heard: int = 0
    """How much had been shown when the answer was sent."""

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Sit down."""
        self.shown = b""
        self.process = pooler(self.place, "judge", "--judge", self.name, "--topic", "1", "--plain")
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)

    def kill(self) -> None:
        """Kill the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        self.hear(self.process.stdout.read() or b"" if self.process.stdout else b"")
        if self._sent is not None:
            _, docno, grade = self._sent
            self.doubtful[docno] = grade
            self._sent = None
        self.close()

    def close(self) -> None:
        """Close the pipes."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def hear(self, part: bytes) -> None:
        """Take in what was printed."""
        self.shown += part
        answered = self.shown[self._heard :]
        if self._sent is None or not _ASKS.search(answered[-40:]):
            return
        sent_at, docno, grade = self._sent
        self.waits.append((sent_at, time.monotonic() - sent_at))
        said = _SAVED.search(answered)
        if said is not None:
            assert int(said[1]) == grade, answered
            assert docno not in self.saved, (docno, self.shown[-2500:].decode())
            self.saved[docno] = grade
        self.n_unsaved += b"NOT SAVED (" in answered
        self.n_void += b"no document is here" in answered
        self._sent = None

    def answer(self, now: float, think_s: float) -> None:
        """Answer the question there is, if any, after a while."""
        if self.is_done or self._sent is not None or now < self.next_at:
            return
        if not _ASKS.search(self.shown[-40:]):
            return
        printed, grade = _DOCUMENT.findall(self.shown), self.dice.randrange(3)
        docno = printed[-1].decode() if printed else ""
        answer = str(grade)
        last = self.shown[-300:]
        if b"\nNOT SAVED: " in last:
            # What waits is the grade that was typed before.
            grade = int(re.findall(rb"NOT SAVED: (\d)", last)[-1])
            answer = "retry"
        elif b"\nno document is here" in last:
            answer = "retry"
        elif b"every document has a decision" in self.shown[-600:]:
            answer = "q"
        self._sent, self._heard = (now, docno, grade), len(self.shown)
        self.next_at = now + self.dice.uniform(0.5, 1.5) * think_s
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{answer}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.is_done = True


def prepare(place: str, *, documents: int, judges: int) -> list[str]:
    """Make a collection whose documents are claimed, two judges each; return the judges."""
    names = [f"judge{n:02}" for n in range(judges)]
    with Collection.create(place, name="b", scale=parse_scale("0-2"), program="b") as made:
        made.topics.add([Topic("1", "bridges"), Topic("2", "roads")])
        docnos = [f"d{n:05}" for n in range(documents)]
        made.documents.add([Document(one, one, f"text of {one}") for one in docnos])
        made.pools.add(Pool([PoolEntry("1", one, n) for n, one in enumerate(docnos)], {}))
        for name in names:
            made.judges.add(name, JudgeKind.HUMAN)
    run_inside("assign", "--claim", "-k", "2", "--collection", place).fine()
    return names


def work(judges: Sequence[Judge], think_s: float, disturb: Callable[[float], None] = lambda _: None) -> None:
    """Let everybody answer until nothing is left."""
    began = time.monotonic()
    while not all(judge.is_done for judge in judges):
        assert time.monotonic() < began + _LONGEST_S
        with selectors.DefaultSelector() as selector:
            for judge in judges:
                if not judge.is_done and judge.process.stdout is not None:
                    selector.register(judge.process.stdout, selectors.EVENT_READ, judge)
            for key, _ in selector.select(_STEP_S):
                part = os.read(key.fd, 1 << 16)
                key.data.hear(part)
                key.data.is_done |= not part
        now = time.monotonic()
        for judge in judges:
            judge.answer(now, think_s)
        disturb(now)
    for judge in judges:
        judge.process.wait()
        judge.close()
