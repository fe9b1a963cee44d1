"""What a judge waits for, at a pseudo-terminal of 80 x 24, the commit of every grade included.

`POOLER_BENCH_KEYS` is how many keys are timed with documents of 5 KB (default 200), a tenth of
them with documents of 1 MB; `POOLER_BENCH_POOL` the size of the large pool (default 100000).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from store.collection import Collection
from store.formats.scale import parse_scale
from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.benchmarks.timing import in_folder, once
from tests.helpers.postgres import empty_schema, postgres_server
from tests.judge_ui.pty_terminal import PtyTerminal, begin, judge

KEYS = int(os.environ.get("POOLER_BENCH_KEYS", "200"))
POOL = int(os.environ.get("POOLER_BENCH_POOL", "100000"))
LISTED = 10_000
JUDGES = 8
THINK_S = 0.05

MIXED = "The bridge was inspected, 橋梁の点検と保守の予定について述べる。 "
PEERS = """\
aims: p50 12, p95 30 on SQLite; p95 60 on PostgreSQL
reference, measured once with other widgets in the same kind of terminal, ms p50/p95:
  5,000 characters, a line-API pane 9/15; 10,000: Static 30/73, RichLog 20/57, TextArea 38/62
  1,000,000 characters: Static 3344/5500, RichLog 3701/4256, TextArea 760/843, Log 545/597
  a bare read, insert and commit on PostgreSQL 4.0/8.1; 8 writers on SQLite 1.8/12, no error"""

SAVING = """
import json, sys, time
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome
from store.collection import Collection
place, name, n, think = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
saves, errors = [], []
with Collection(place) as collection:
    session = JudgingSession(collection.desk(name), min_dwell=0)
    session.open_topic("1")
    for number in range(n):
        session.page()
        session.mark_shown()
        time.sleep(think)
        began = time.perf_counter()
        result = session.grade(number % 3)
        saves.append(time.perf_counter() - began)
        if result.outcome is not KeyOutcome.SAVED:
            errors.append(result.message)
    session.desk.leave()
json.dump([saves, errors], sys.stdout)
"""
"""A judge without a screen."""
IMPORTS = (sys.executable, "-c", "import textual.app, sqlmodel")
"""What no start of the screen can do without."""


def make(place: str, texts: Sequence[str], *, topics: int = 1, markup: str | None = None) -> None:
    """Make a collection of topics with equal shares of the documents."""
    with Collection.create(place, name="b", scale=parse_scale("0-2"), program="b") as made:
        about = ("bridge maintenance", "Which bridges?", "It must name a schedule.")
        made.topics.add([Topic(str(n + 1), *about) for n in range(topics)])
        share = len(texts) // topics
        fields = (("url", "http://a.example"),) if markup else ()
        documents = [
            Document(f"d{n:06}", f"head{n:06}", text, fields, markup) for n, text in enumerate(texts)
        ]
        entries = [PoolEntry(str(n // share + 1), one.docno, n % share) for n, one in enumerate(documents)]
        made.pools.add(Pool(entries, {}))
        made.documents.add(documents, fields=["url"])
        for name in ("alice", *(f"judge{n}" for n in range(JUDGES))):
            made.judges.add(name, JudgeKind.HUMAN)


def text_of(size: int) -> str:
    """Make a mixed English and Japanese text of about a size in bytes of UTF-8."""
    return MIXED * (size // len(MIXED.encode()))


def processor_ms(pid: int) -> float:
    """Return the processor time that a process has used so far; 0 where the system has no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def grading(place: str, n: int, pause_s: float) -> tuple[list[float], float]:
    """Grade documents one by one.

    Returns the seconds from each key to the whole next screen, and the processor time of a key in
    milliseconds, reading ahead included.
    """
    options = ("--topic", "1", "--min-dwell", "0")
    with PtyTerminal(judge(place, *options)) as terminal:
        begin(terminal)
        terminal.wait_for("head000000", "now: -")
        terminal.until_quiet(1.0)
        taken = []
        used = processor_ms(terminal.process.pid)
        for number in range(1, n + 1):
            began = time.perf_counter()
            place_before = terminal.send(b"012"[number % 3 :][:1])
            # The last line of the screen says that the grade is saved.
            terminal.wait_for(f"head{number:06}", "saved ", since=place_before)
            taken.append(terminal.chunks[-1].came_at - began)
            end = time.monotonic() + pause_s
            while (left := end - time.monotonic()) > 0:
                terminal.read(left)
        used = processor_ms(terminal.process.pid) - used
        terminal.send(b"\x11")
        terminal.wait()
    return taken, used / n


def quantiles(seconds: Sequence[float]) -> str:
    """Write median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return f"p50 {statistics.median(ordered) * 1e3:6.1f}  p95 {p95 * 1e3:6.1f} ms  n={len(ordered)}"


def show(line: str) -> None:
    """Print a figure with the load of the machine."""
    print(f"{line} (load {os.getloadavg()[0]:.1f})")


def on_each_engine(benchmark: Callable[..., None], *arguments: object) -> None:
    """Call a benchmark with the name of an engine and an empty place on it."""
    in_folder(lambda folder: benchmark("sqlite", str(folder / "collection.db"), *arguments))
    with postgres_server() as server:
        benchmark("postgresql", empty_schema(server), *arguments)


def key_speed(engine: str, place: str, markup: str | None) -> None:
    """Print the time from a grade key to the next document, 5 KB each."""
    text = text_of(5_000)
    if markup:
        text = f"<html><body><p>{text.replace('. ', '.</p><p>Tom &amp; <b>more</b> ')}</p></body></html>"
    make(place, [text] * (KEYS + 2), markup=markup)
    taken, used = grading(place, KEYS, THINK_S)
    form = markup or "plain"
    show(f"key to next document, 5 KB, {form}, {engine}: {quantiles(taken)}  processor {used:.1f} ms")


def key_speed_with_huge_documents(folder: Path) -> None:
    """Print the same with documents of 1 MB in one line, read ahead or not."""
    n = max(KEYS // 10, 2)
    show("key to next document, 1 MB of English and Japanese in one line, sqlite")
    for name, pause_s in (("read ahead (aim p95 50)", 1.5), ("cold (aim p50 300)", 0.0)):
        place = str(folder / f"{pause_s}.db")
        make(place, [text_of(1_000_000)] * (n + 2))
        taken, used = grading(place, n, pause_s)
        print(f"  {name:24} {quantiles(taken)}  processor {used:.0f} ms")


def start_speed(folder: Path, topics: int, waits_for: str) -> None:
    """Print the time from the command to the first screen of a large pool."""
    place = str(folder / "collection.db")
    make(place, [text_of(200)] * POOL, topics=topics)
    options = ("--topic", "1") if topics == 1 else ()
    taken, used, imported = [], [], []
    for _ in range(9):
        imported.append(once(lambda: subprocess.run(IMPORTS, check=True)))
        began = time.perf_counter()
        with PtyTerminal(judge(place, *options)) as terminal:
            terminal.wait_for(waits_for)
            taken.append(terminal.chunks[-1].came_at - began)
            used.append(processor_ms(terminal.process.pid))
            terminal.until_quiet(0.3)
            terminal.send(b"\x11")
            terminal.wait()
    what = "a topic" if topics == 1 else "the topics"
    above = statistics.median(taken) - statistics.median(imported)
    show(
        f"start to {what}, {topics} topics with {POOL:,} documents: {quantiles(taken)}"
        f"  processor {statistics.median(used):.0f} ms (aim 1000)"
    )
    print(f"  importing textual and sqlmodel alone: {quantiles(imported)}")
    best = min(taken) - min(imported)
    print(f"  above that: {above * 1e3:.0f} ms (aim 300), at best {best * 1e3:.0f} ms")


def list_speed(folder: Path) -> None:
    """Print how long the list of a large topic takes to open."""
    place = str(folder / "collection.db")
    make(place, [text_of(200)] * LISTED)
    taken = []
    with PtyTerminal(judge(place, "--topic", "1")) as terminal:
        begin(terminal)
        terminal.wait_for("now: -")
        for _ in range(5):
            terminal.until_quiet(0.5)
            began = time.perf_counter()
            before = len(terminal.chunks)
            terminal.send(b"l")
            terminal.until_quiet(2.0)
            taken += [chunk.came_at - began for chunk in terminal.chunks[before:][-1:]]
            terminal.send(b"l")
        terminal.send(b"\x11")
        terminal.wait()
    told = f"{quantiles(taken)} (aim 500)" if taken else "not there yet: the key does nothing"
    show(f"list of {LISTED:,} documents opens: {told}")


def saving_speed_of_many(engine: str, place: str) -> None:
    """Print what eight judges at once wait for a save, and how many saves failed."""
    make(place, [text_of(5_000)] * (KEYS // 2 + 1))
    command = (sys.executable, "-c", SAVING, place)
    running = [
        subprocess.Popen(
            (*command, f"judge{n}", str(KEYS // 2), str(THINK_S)), stdout=subprocess.PIPE, text=True
        )
        for n in range(JUDGES)
    ]
    results = [json.loads(process.communicate(timeout=600)[0]) for process in running]
    saves = [one for taken, _ in results for one in taken]
    errors = [one for _, failed in results for one in failed]
    show(
        f"{JUDGES} judges, {engine}, a save: {quantiles(saves)}"
        f"  longest {max(saves) * 1e3:.0f} ms  failed {len(errors)} (aim p95 50, none failed)"
    )
    for error in sorted(set(errors)):
        print(f"  {error}")


if __name__ == "__main__":
    for form in (None, "html"):
        on_each_engine(key_speed, form)
    print(PEERS)
    in_folder(key_speed_with_huge_documents)
    in_folder(start_speed, 50, "Enter open")
    in_folder(start_speed, 1, "Enter begin")
    in_folder(list_speed)
    on_each_engine(saving_speed_of_many)
