"""What a judge waits for, at a pseudo-terminal of 80 x 24, the commit of every grade included; on SQLite."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from store.collection import Collection
from store.formats.scale import parse_scale
from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.benchmarks.timing import POOLER, PYTHON, folder, peer, print_rows, timed
from tests.helpers.terminals import PtyTerminal, begin
from tests.helpers.terminals import judge as seated

KEYS, STARTS, THINK_S = 100, 7, 0.05
MIXED = "The bridge was inspected, 橋梁の点検と保守の予定について述べる。 "
POOLS = {"1,000 documents": 1_000, "10,000": 10_000, "100,000": 100_000}


def make(place: str, texts: Sequence[str]) -> None:
    """Make a collection of one topic."""
    with Collection.create(place, name="b", scale=parse_scale("0-2"), program="b") as made:
        made.topics.add([Topic("1", "bridge maintenance", "Which bridges?", "It must name a schedule.")])
        documents = [Document(f"d{n:06}", f"head{n:06}", text) for n, text in enumerate(texts)]
        made.pools.add(Pool([PoolEntry("1", one.docno, n) for n, one in enumerate(documents)], {}))
        made.documents.add(documents)
        made.judges.add("alice", JudgeKind.HUMAN)


def text_of(size: int) -> str:
    """Make a mixed English and Japanese text of about a size in bytes of UTF-8."""
    return MIXED * (size // len(MIXED.encode()))


def processor_s(pid: int) -> float:
    """Return the processor time that a process has used so far; 0 where the system has no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(place: str) -> list[tuple[float, float]]:
    """Return seconds, and those of the processor, from the command to the first screen."""
    taken = []
    for _ in range(STARTS):
        began = time.perf_counter()
        with PtyTerminal(seated(place, "--topic", "1")) as terminal:
            terminal.wait_for("Enter begin")
            taken.append((terminal.chunks[-1].came_at - began, processor_s(terminal.process.pid)))
            terminal.until_quiet(0.3)
            terminal.send(b"\x11")
            terminal.wait()
    return taken


def graded(place: str, n: int, pause_s: float) -> list[tuple[float, float]]:
    """Grade documents one by one; return seconds from a key to the whole next screen, and its processor's."""
    with PtyTerminal(seated(place, "--topic", "1", "--min-dwell", "0")) as terminal:
        begin(terminal)
        terminal.wait_for("head000000", "now: -")
        terminal.until_quiet(1.0)
        taken = []
        for number in range(1, n + 1):
            used, began = processor_s(terminal.process.pid), time.perf_counter()
            before = terminal.send(b"012"[number % 3 :][:1])
            # The last line of the screen says that the grade is saved.
            terminal.wait_for(f"head{number:06}", "saved ", since=before)
            came = terminal.chunks[-1].came_at - began
            end = time.monotonic() + pause_s
            while (left := end - time.monotonic()) > 0:
                terminal.read(left)  # reading ahead is of the same key
            taken.append((came, processor_s(terminal.process.pid) - used))
        terminal.send(b"\x11")
        terminal.wait()
    return taken


def judge(place: Path) -> None:
    """Print the table."""
    rows = []

    def add(what: str, taken: Sequence[tuple[float, float]]) -> None:
        walls, processor = zip(*taken, strict=True)
        p95 = sorted(walls)[min(len(walls) - 1, round(0.95 * len(walls)))]
        cells = (statistics.median(walls), p95, statistics.fmean(processor))
        rows.append([what, *(f"{cell * 1e3:.0f}" for cell in cells)])

    imports = [timed(*PYTHON, "import textual.app, sqlmodel") for _ in range(STARTS)]
    names = f"importing {peer('textual')} and {peer('sqlmodel')} alone"
    add(names, [(one.wall, one.processor) for one in imports])
    for name, size in POOLS.items():
        where = str(place / f"{size}.db")
        make(where, [text_of(200)] * size)
        add(f"{POOLER} judge to the first screen, {name}", started(where))
    for name, size, n, pause_s in (
        ("5 KB", 5_000, KEYS, THINK_S),
        ("1 MB in one line, read ahead", 1_000_000, KEYS // 10, 1.5),
        ("1 MB in one line, at once", 1_000_000, KEYS // 10, 0.0),
    ):
        where = str(place / f"{size}{pause_s}.db")
        make(where, [text_of(size)] * (n + 2))
        add(f"{POOLER} key to the next document, {name}", graded(where, n, pause_s))
    print_rows("What a judge waits for, in milliseconds", ["", "Median", "95 %", "Processor"], rows)


if __name__ == "__main__":
    with folder() as made:
        judge(made)
