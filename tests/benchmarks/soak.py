"""Twenty judges for hours, while servers stop, files are locked and processes are killed.

What they were told was saved is stored, once, and a screen needs no more memory at the end. `POOLER_SOAKED`
(default 360, two hours at 20 s each) documents of a judge, `POOLER_ATTACKED` (default 400) of all.
"""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from store.collection import Collection
from store.records import Document, JudgeKind, Topic
from tests.benchmarks.judges_at_work import Judge, prepare, work
from tests.benchmarks.timing import folder
from tests.helpers.postgres import Cut, Proxy, StoppingServer, proxy, stopping_server
from tests.helpers.terminals import LivingJudge, living
from tests.helpers.world import engine_of, make_pool, parse_scale
from tests.screens.test_faults import LABELS, Entry, Ledger, Typed, check, stored, typed_undo

TWENTY = tuple(f"judge{number:02}" for number in range(20))
SOAKED = int(os.environ.get("POOLER_SOAKED", "360"))
"""For each judge: two hours at 20 seconds a document."""
N_RESTARTS = 10
WARM = 0.2
"""Share of the documents after which a screen has loaded and shown all that it ever will."""
GROWTH = 1.05
KIB = 1024


def own_bytes(pid: int) -> int:
    """Return the memory of a process that no other one has."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * KIB for line in lines if line.startswith("Private_"))


def graded(grade: int) -> Typed:
    """Type a grade at whatever is on the screen, which names the document once it is saved."""
    words = rf"(d\d{{3}}): {grade}, u undoes +{grade} {LABELS[grade]} saved \d\d:"
    return Typed(Entry("", "judge", grade), str(grade), re.compile(words))


def standing(entries: list[Entry]) -> list[str]:
    """Return the documents that have a grade."""
    last = {entry.docno: entry.action for entry in entries}
    return [docno for docno, action in last.items() if action == "judge"]


class Sitting:
    """One judge at one screen, from the first document to the last."""

    def __init__(self, url: str, judge: str, docnos: list[str]) -> None:
        self._url = url
        self._docnos = docnos
        self._dice = random.Random(judge)
        self.ledger = Ledger(judge)
        self.memory: list[int] = []
        """After every tenth document, in bytes, from the share on that is called warm."""
        self.longest_s = 0.0

    def run(self) -> None:
        """Grade every document; what goes wrong is in the ledger."""
        try:
            with living(self._url, self.ledger.judge, "1", in_terminal=True) as judge:
                self._work(judge)
        except BaseException as error:  # noqa: BLE001 - raised by the test, which waits for all
            self.ledger.error = error

    def _work(self, judge: LivingJudge) -> None:
        entries = self.ledger.entries
        before, n_graded = entries[-1:], 0
        while n_graded < len(self._docnos) - 1:
            judge.see()
            can_undo = before and before[0].action == "judge"
            if can_undo and self._dice.random() < 0.05:
                typed = typed_undo(before[0])
            else:
                given = before[0].grade if can_undo else None
                typed = graded(self._dice.choice([one for one in range(3) if one != given]))
            began = time.monotonic()
            judge.answer(typed.key)
            self.ledger.n_told += judge.wait_to_hear(typed.saved)
            self.longest_s = max(self.longest_s, time.monotonic() - began)
            entry = typed.entry
            if not entry.docno:
                entry = entry._replace(docno=judge.last_said(typed.saved))
            entries.append(entry)
            before = [entry]
            n_graded += 1 if typed.entry.action == "judge" else -1
            if n_graded % 10 == 0 and n_graded >= WARM * len(self._docnos):
                self.memory.append(own_bytes(judge.life.pid))
        judge.see()
        judge.answer("0")
        judge.life.wait_for(lambda text: "back to the topics" in text, 0)
        entries.append(Entry(({*self._docnos} - {*standing(entries)}).pop(), "judge", 0))

    @property
    def growth(self) -> float:
        """The last memory beside the first."""
        return self.memory[-1] / self.memory[0]


def make_collection(url: str) -> list[str]:
    """Make a collection of one topic and twenty judges; return its docnos."""
    docnos = [f"d{number:03}" for number in range(SOAKED)]
    with Collection.create(url, name="x", scale=parse_scale("0-2"), program="x") as made:
        made.topics.add([Topic("1", "one")])
        made.pools.add(make_pool({"1": docnos}))
        made.documents.add([Document(docno, f"Title {docno}", "Some text. " * 200) for docno in docnos])
        for judge in TWENTY:
            made.judges.add(judge, JudgeKind.HUMAN)
    return docnos


def disturb(server: StoppingServer, network: Proxy, progress: Callable[[], float]) -> int:
    """Restart the server ten times, and cut every connection once, at even shares of the work."""
    dice, n_cut = random.Random(1), 0
    for number in range(N_RESTARTS + 1):
        while progress() < (number + 1) / (N_RESTARTS + 3):
            time.sleep(0.05)
        if number == N_RESTARTS // 2:
            network.cut = Cut.AFTER  # one commit that nobody hears of, then everybody's connection
            while network.cut is not None and progress() < 1:
                time.sleep(0.01)
            n_cut = network.hang_up()
            continue
        server.stop()
        time.sleep(dice.random())
        server.start()
    return n_cut


def two_hours_of_twenty_judges() -> None:
    """Ten restarts and a cut: nothing lost, nothing doubled, and screens that do not grow."""
    with stopping_server() as server, proxy(server.socket_folder) as (network, folder):
        docnos = make_collection(server.url)
        sittings = [Sitting(server.url_at(folder), judge, docnos) for judge in TWENTY]
        threads = [threading.Thread(target=one.run) for one in sittings]
        began = time.monotonic()
        for thread in threads:
            thread.start()

        def progress() -> float:
            n_entries = sum(len(one.ledger.entries) for one in sittings)
            is_over = not any(thread.is_alive() for thread in threads)
            return 1.0 if is_over else n_entries / (len(sittings) * len(docnos))

        n_cut = disturb(server, network, progress)
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - began
        for one in sittings:
            if one.ledger.error is not None:
                raise one.ledger.error
            check(stored(server.url, one.ledger.judge), docnos, one.ledger)
    n_events = sum(len(one.ledger.entries) for one in sittings)
    growths = sorted(one.growth for one in sittings)
    print(
        f"\n{n_events} events of {len(TWENTY)} judges in {seconds:.0f} s, {N_RESTARTS} restarts, "
        f"{n_cut} connections cut; longest wait {max(one.longest_s for one in sittings):.1f} s; "
        f"memory of a screen {sittings[0].memory[0] >> 20} MiB, grew by {growths[0] - 1:.1%} to "
        f"{growths[-1] - 1:.1%}"
    )
    assert n_cut > 0
    assert growths[-1] <= GROWTH


ATTACKED = int(os.environ.get("POOLER_ATTACKED", "400"))


@contextmanager
def locked_now_and_then(place: str, seed: int) -> Iterator[None]:
    """Hold what judges write to for up to 2.6 s, again and again."""
    dice, is_over = random.Random(seed), threading.Event()

    def hold() -> None:
        with engine_of(place) as engine:
            while not is_over.wait(dice.uniform(0.1, 2.0)):
                held_s = dice.choice((0.05, 0.3, 1.0, 2.6))
                writer = engine.execution_options(pooler_writes=True)  # it takes no turn
                with suppress(DBAPIError), writer.begin() as connection:
                    connection.execute(text("SELECT 1"))
                    time.sleep(held_s)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def twenty_judges_claim_while_files_are_locked_and_processes_killed(folder: Path) -> None:
    """Locks of up to 2.6 s, a judge killed every second and sitting down again."""
    collection_name = str(folder / "c.db")
    names = prepare(collection_name, documents=ATTACKED, judges=20)
    dice = random.Random(7)
    judges = [Judge(collection_name, name, random.Random(name)) for name in names]
    n_killed, next_at = 0, time.monotonic() + 5

    def kill(now: float) -> None:
        nonlocal n_killed, next_at
        alive = [judge for judge in judges if not judge.is_done]
        if now < next_at or not alive:
            return
        judge = dice.choice(alive)
        judge.kill()
        judge.start()
        n_killed, next_at = n_killed + 1, now + dice.uniform(0.5, 1.5)

    with locked_now_and_then(collection_name, 7):
        work(judges, 0.2, kill)
    unsaved = sum(judge.n_unsaved for judge in judges)
    void = sum(judge.n_void for judge in judges)
    print(f"\n{n_killed} killed, {unsaved} NOT SAVED, {void} without a document")
    assert n_killed > 10
    with Collection(collection_name) as collection:
        kept = {(one.judge, one.docno): one for one in collection.judgements.current(names)}
    for judge in judges:
        here = {docno: one.grade for (name, docno), one in kept.items() if name == judge.name}
        sure = {docno: grade for docno, grade in judge.saved.items() if docno not in judge.doubtful}
        assert sure.items() <= here.items()
        for docno in here.keys() - sure.keys():
            assert here[docno] in (judge.doubtful.get(docno), judge.saved.get(docno))
    assert {one.revision for one in kept.values()} == {1}
    per_document = Counter(docno for _, docno in kept)
    assert set(per_document.values()) == {2}
    assert len(per_document) == ATTACKED


if __name__ == "__main__":
    with folder() as made:
        twenty_judges_claim_while_files_are_locked_and_processes_killed(made)
    two_hours_of_twenty_judges()
