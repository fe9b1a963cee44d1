"""Judges are killed, servers stop, files are locked: what was said to be saved is stored, once.

Each judge keeps a ledger of what was typed at which document, and of what was said to be saved. After each
kill the store may hold one event more than was said to be saved - the one that was typed last - and never
anything else. Moments and answers come from fixed seeds. `pytest -m long tests/screens/test_kills.py` does it
a hundred times on each engine and on a server that stops meanwhile; soaks are in tests/benchmarks/soak.py.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from store.collection import Collection
from store.records import Document, JudgeKind, Topic
from tests.helpers.run import run_inside
from tests.helpers.stopping import StoppingServer, stopping_server
from tests.helpers.world import engine_of, make_pool, parse_scale
from tests.screens.terminals import ANSWERED_S, Ended, living
from tests.store.stopping import StoppingServer, stopping_server

LABELS = ("not relevant", "partially relevant", "relevant")
JUDGES = ("ann", "bob", "cy")
UNDO = "u"
MOST_WORK = 0.6
"""Share of the work within which the server stops; each judge is killed within more of it."""


class Entry(NamedTuple):
    """One event, as typed or as stored."""

    docno: str
    action: str
    grade: int | None


class Typed(NamedTuple):
    """What was typed, and what is said when it is saved: never what was said just before.

    The full screen may paint again what it said last.
    """

    entry: Entry
    key: str
    saved: re.Pattern[str]


def typed_grade(docno: str, grade: int) -> Typed:
    """Type a grade."""
    words = rf"\b{grade} {LABELS[grade]} \(?saved \d\d:\d\d:\d\d"
    return Typed(Entry(docno, "judge", grade), str(grade), re.compile(words))


def typed_undo(undone: Entry) -> Typed:
    """Take back a grade."""
    words = rf"\bgrade {undone.grade} undone: "
    return Typed(Entry(undone.docno, "undo", None), UNDO, re.compile(words))


class Row(NamedTuple):
    """What else the store says of an event."""

    entry: Entry
    revision: int
    position: int
    undoes: int | None
    id: int


@dataclass
class Ledger:
    """What one judge did, and what became of it."""

    judge: str
    entries: list[Entry] = field(default_factory=list)
    """Everything that was said to be saved, or found in the store after a kill."""
    where: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """How often a process was killed where."""
    n_told: int = 0
    """How often it was told that something was not saved, or that it cannot begin."""
    n_unheard: int = 0
    """Entries that were found in the store after a kill, and had not been said to be saved."""
    error: BaseException | None = None


def stored(name: str, judge: str) -> list[Row]:
    """Read a judge's events straight from the database, the oldest first.

    A server ends what a killed process has asked for: that is waited for.
    """
    query = (
        "SELECT document.docno, j.action, j.grade, j.revision, j.position, j.undoes, j.id"
        " FROM judgement j JOIN document ON document.id = j.document_id"
        " JOIN judge ON judge.id = j.judge_id WHERE judge.name = :judge ORDER BY j.id"
    )
    busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = :judge"
    with engine_of(name) as engine, engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            end = time.monotonic() + ANSWERED_S
            while connection.execute(text(busy), {"judge": judge}).scalar():
                assert time.monotonic() < end
                connection.rollback()
                time.sleep(0.01)
        rows = connection.execute(text(query), {"judge": judge}).all()
    return [Row(Entry(*row[:3]), *row[3:]) for row in rows]


def make_documents(name: str, n_documents: int) -> list[str]:
    """Make a collection of one topic and three judges; return its docnos."""
    docnos = [f"d{number:03}" for number in range(n_documents)]
    scale = parse_scale("0-2")
    with Collection.create(name, name="x", scale=scale, program="x") as made:
        made.topics.add([Topic("1", "one")])
        made.pools.add(make_pool({"1": docnos}))
        made.documents.add([Document(docno, f"Title {docno}", "Some text.") for docno in docnos])
        for judge in JUDGES:
            made.judges.add(judge, JudgeKind.HUMAN)
    return docnos


class Weather:
    """Stops and starts the server of the judges."""

    def __init__(self, server: StoppingServer | None = None, n_stops: int = 0) -> None:
        self._server = server
        self._n_stops = n_stops
        self.n_told = 0
        """How often the judges were told that something was not saved."""
        self.is_calm = threading.Event()
        """Set when the server stops no more."""

    def rage(self, progress: Callable[[], float]) -> None:
        """Stop and start the server at even shares of the work, which must not be all of it."""
        dice = random.Random(self._n_stops)
        try:
            for number in range(self._n_stops if self._server else 0):
                assert self._server is not None
                while progress() < MOST_WORK * number / self._n_stops:
                    time.sleep(0.01)
                time.sleep(dice.random() * 0.1)
                self._server.stop()
                time.sleep(dice.random() * 0.5)
                self._server.start()
        finally:
            self.is_calm.set()

    def outlast(self, read: Callable[[], list[Row]]) -> list[Row]:
        while True:
            try:
                return read()
            except DatabaseError:
                if self.is_calm.is_set():
                    raise
                time.sleep(0.1)


class Worker:
    """One judge's work, life after life, until every document has a grade."""

    def __init__(
        self,
        name: str,
        docnos: Sequence[str],
        judge: str,
        n_kills: int,
        full_screens: float,
        weather: Weather,
    ) -> None:
        self._weather = weather
        self._name = name
        self._docnos = docnos
        self._n_kills = n_kills
        self._full_screens = full_screens
        self._dice = random.Random(f"{judge} {n_kills}")
        self.ledger = Ledger(judge)
        self._late: Typed | None = None
        """What a killed process was told and the store did not have when it was looked at."""

    def run(self) -> None:
        try:
            for number in range(self._n_kills):
                goal = len(self._docnos) * (number + 1) // (self._n_kills + 1)
                failed_starts = 0
                while not self._live(goal):
                    # Without a server it does not start; nor does it write anything. By now the
                    # server may be back.
                    failed_starts += 1
                    self.ledger.n_told += 1
                    assert failed_starts < 100
            self._weather.is_calm.wait()
            self._finish()
        except BaseException as error:  # noqa: BLE001 - raised by the test, which waits for all
            self.ledger.error = error

    def _live(self, goal: int) -> bool:
        """Grade until about so many documents have a grade, then be killed; False = never began."""
        ledger, dice = self.ledger, self._dice
        in_terminal = dice.random() < self._full_screens
        begun: list[Entry] = []
        """What this sitting did that undo would take back."""
        with living(self._name, ledger.judge, "1", in_terminal=in_terminal) as judge:
            typed: Typed | None = None
            if dice.random() < 0.1:
                time.sleep(dice.random() * 0.3)
                moment = "at the start"
            else:
                while True:
                    try:
                        docno = judge.see()
                    except Ended:
                        assert typed is None
                        return False
                    self._take_late()
                    typed = self._choose(docno, begun, typed)
                    judge.answer(typed.key)
                    if len(ledger.entries) >= goal:
                        break
                    ledger.n_told += judge.wait_to_hear(typed.saved)
                    self._keep(typed, begun)
                time.sleep(dice.random() * (0.08 if in_terminal else 0.03))
                moment = "after an answer"
            try:
                judge.life.kill()
            except Ended:
                assert typed is None
                return False
            was_told = typed is not None and judge.heard(typed.saved)
        found = self._weather.outlast(partial(stored, self._name, ledger.judge))
        if was_told:
            assert typed is not None
            self._keep(typed, begun)
            moment = "after saved"
        elif typed is not None and len(found) > len(ledger.entries):
            self._keep(typed, begun)
            ledger.n_unheard += 1
            moment = "between the commit and saved"
        elif typed is not None and "://" not in self._name:
            self._late = typed
        assert [row.entry for row in found] == ledger.entries
        ledger.where[moment, in_terminal] += 1
        return True

    def _choose(self, docno: str, begun: list[Entry], before: Typed | None) -> Typed:
        """Choose what to do at a document: mostly a grade, now and then undo."""
        if begun and self._dice.random() < 0.1:
            return typed_undo(begun[-1])
        taken = before.entry.grade if before else None
        return typed_grade(docno, self._dice.choice([n for n in range(3) if n != taken]))

    def _take_late(self) -> None:
        """Take an answer into the ledger that came to light when the collection was opened again.

        SQLite finds a transaction that is whole in its log when it recovers from a kill, though
        the killed process had not yet shown it to others. It was never called saved.
        """
        if self._late is not None:
            found = self._weather.outlast(partial(stored, self._name, self.ledger.judge))
            if [row.entry for row in found] == [*self.ledger.entries, self._late.entry]:
                self.ledger.entries.append(self._late.entry)
                self.ledger.n_unheard += 1
            self._late = None

    def _keep(self, typed: Typed, begun: list[Entry]) -> None:
        self.ledger.entries.append(typed.entry)
        begun.pop() if typed.entry.action == "undo" else begun.append(typed.entry)

    def _finish(self) -> None:
        with living(self._name, self.ledger.judge, "1", in_terminal=False) as judge:
            self._take_late()
            left = len(self._docnos) - len({*self._graded()})
            for number in range(left):
                typed = typed_grade(judge.see(), number % 3)
                judge.answer(typed.key)
                self.ledger.n_told += judge.wait_to_hear(typed.saved)
                self.ledger.entries.append(typed.entry)
            judge.life.wait_for(lambda text: text.endswith(" > "), 0)
            judge.life.type("q\n")
            judge.life.end()

    def _graded(self) -> list[str]:
        last = {entry.docno: entry.action for entry in self.ledger.entries}
        return [docno for docno, action in last.items() if action == "judge"]


def check_kills(name: str, n_kills: int, full_screens: float, weather: Weather | None = None) -> str:
    """Let three judges work and be killed; compare the store with their ledgers; return the figures."""
    n_documents, began = 20 + 2 * n_kills // 3, time.monotonic()
    docnos = make_documents(name, n_documents)
    weather = weather or Weather()
    shares = [n_kills // 3 + (number < n_kills % 3) for number in range(3)]
    workers = [
        Worker(name, docnos, judge, share, full_screens, weather)
        for judge, share in zip(JUDGES, shares, strict=True)
    ]
    threads = [threading.Thread(target=worker.run) for worker in workers]
    for thread in threads:
        thread.start()

    def progress() -> float:
        """Return the share of the work that is done; all of it when nobody works any more."""
        n_entries = sum(len(worker.ledger.entries) for worker in workers)
        is_over = not any(thread.is_alive() for thread in threads)
        return 1.0 if is_over else n_entries / (len(workers) * n_documents)

    weather.rage(progress)
    for thread in threads:
        thread.join()
    where: Counter[tuple[str, bool]] = Counter()
    n_stored = n_unheard = 0
    for worker in workers:
        ledger = worker.ledger
        if ledger.error is not None:
            raise ledger.error
        rows = stored(name, ledger.judge)
        check(rows, docnos, ledger)
        where.update(ledger.where)
        weather.n_told += ledger.n_told
        n_stored, n_unheard = n_stored + len(rows), n_unheard + ledger.n_unheard
    run_inside("verify", "--collection", name).fine()
    assert where.total() == n_kills
    places = ", ".join(f"{n} {at}{' (full screen)' * full}" for (at, full), n in sorted(where.items()))
    return (
        f"{n_kills} kills: {n_stored - n_unheard} events said to be saved, {n_stored} stored, none lost or"
        f" doubled, in {time.monotonic() - began:.0f} s; {places}"
    )


def check(rows: list[Row], docnos: list[str], ledger: Ledger) -> None:
    """Compare what is stored of one judge with the ledger."""
    assert [row.entry for row in rows] == ledger.entries
    revisions: dict[str, list[int]] = {}
    events: dict[int, Row] = {}
    last: dict[str, Row] = {}
    for row in rows:
        revisions.setdefault(row.entry.docno, []).append(row.revision)
        # None for another document: its place in the queue is that of its docno.
        assert row.position == docnos.index(row.entry.docno)
        if row.entry.action == "undo":
            assert row.undoes is not None
            assert events[row.undoes].entry.docno == row.entry.docno
        events[row.id] = last[row.entry.docno] = row
    assert sorted(revisions) == docnos
    assert all(found == list(range(1, len(found) + 1)) for found in revisions.values())
    assert all(row.entry.action == "judge" for row in last.values())


KILLS = [pytest.param(10, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.long)]


@pytest.mark.parametrize("n_kills", KILLS)
def test_saved_grades_outlive_kills(
    collection_name: str, n_kills: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of all grades of three judges, some in the full screen, every saved one is there, each once."""
    figures = check_kills(collection_name, n_kills, 0.15 if n_kills < 100 else 1 / 3)
    with capsys.disabled():
        print(f"\n{figures}")  # noqa: T201 - figures for whoever runs it by hand


@pytest.mark.parametrize("n_kills", KILLS)
def test_saved_grades_outlive_kills_while_the_server_stops(
    n_kills: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same while the server stops, once for three kills: the judges are told, and try again."""
    with stopping_server() as server:
        weather = Weather(server, n_kills // 3)
        figures = check_kills(server.url, n_kills, 0.0, weather)
    assert weather.n_told > n_kills // 10
    with capsys.disabled():
        print(f"\n{figures}; told {weather.n_told} times")  # noqa: T201 - figures for whoever runs it by hand
