"""Judges are killed, servers stop, connections break: what was said to be saved is stored, once.

A judge in a process keeps a ledger of what was typed at which document, and of what was said to be saved.
After a kill the store may hold one event more than was said to be saved - the one that was typed last - and
never anything else. Moments and answers come from fixed seeds. `pytest -m long tests/screens/test_faults.py`
kills a hundred times on each engine and while a server stops; soaks are in tests/benchmarks/soak.py.
"""

from __future__ import annotations

import random
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Engine, NullPool, create_engine, event, text
from sqlalchemy.exc import DatabaseError

from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult
from store.collection import Collection
from store.db.engine import collection_url
from store.errors import PoolerError, StoreError
from store.records import Document, JudgeKind, Passage, State, Topic
from tests.helpers.places import held_place, places
from tests.helpers.postgres import Cut, Proxy, StoppingServer, proxy, stopping_server
from tests.helpers.run import run_inside
from tests.helpers.terminals import ANSWERED_S, Ended, living
from tests.helpers.world import engine_of, make_pool, new_collection, stored_rows
from tests.screens.conftest import Clock

pytestmark = pytest.mark.slow

DOCNOS = "abcdef"
JUDGES = ("ann", "bob", "cy")


@pytest.fixture(scope="module")
def server() -> Iterator[StoppingServer]:
    """Run a server of this module's own."""
    with stopping_server() as made:
        yield made


def with_schema(url: str) -> str:
    """Make an empty schema, which to a program is a database, and return its URL."""
    name = f"test_{uuid.uuid4().hex}"
    engine = create_engine(collection_url(url), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    return f"{url}&options=-csearch_path%3D{name}"


@dataclass
class AtWork:
    """A judge at a session on a server that stops."""

    name: str
    collection: Collection
    session: JudgingSession
    clock: Clock

    def show(self) -> None:
        self.session.mark_shown()
        self.clock.wait(1)

    def grade(self, value: int) -> KeyResult:
        self.show()
        return self.session.grade(value)

    @property
    def docno(self) -> str:
        assert self.session.task is not None
        return self.session.task.docno

    def events(self) -> list[tuple[str, str, int | None, int]]:
        """Return docno, action, grade and revision of every event."""
        rows = stored_rows(self.name)
        docnos = {row[0]: row[1] for row in rows["document"]}
        return [
            (docnos[row[2]], row[5], row[8], row[4]) for row in sorted(rows["judgement"])
        ]  # fmt: skip


def make(name: str, docnos: Sequence[str]) -> None:
    """Make a collection of one topic and three judges."""
    with new_collection(name) as made:
        made.topics.add([Topic("1", "one")])
        made.pools.add(make_pool({"1": docnos}))
        made.documents.add([Document(docno, f"Title {docno}", f"text of {docno}") for docno in docnos])
        for judge in JUDGES:
            made.judges.add(judge, JudgeKind.HUMAN)


@contextmanager
def at_work(name: str, through: str = "") -> Iterator[AtWork]:
    """Make a collection at a URL and sit ann down, perhaps through another URL."""
    make(name, DOCNOS)
    clock = Clock()
    with Collection(through or name) as opened:
        session = JudgingSession(opened.desk("ann"), clock=clock)
        session.open_topic("1")
        yield AtWork(name, opened, session, clock)


@pytest.fixture
def ann(server: StoppingServer) -> Iterator[AtWork]:
    """Sit ann down at a collection on the server."""
    with at_work(with_schema(server.url)) as judge:
        yield judge


def test_grade_waits_for_the_server_and_is_saved_once(server: StoppingServer, ann: AtWork) -> None:
    """While the server is down the grade is kept and nothing moves; then it is saved, once."""
    assert ann.grade(1).outcome is KeyOutcome.SAVED
    server.stop()
    try:
        refused = ann.grade(2)
        assert refused.outcome is KeyOutcome.FAILED
        assert refused.message.startswith("NOT SAVED (2 relevant): ")
        assert "\n" not in refused.message
        assert refused.saved_at is None
        for _ in range(2):
            assert ann.session.retry().outcome is KeyOutcome.FAILED
        assert ann.docno == "b"
        assert ann.session.pending is not None
        assert ann.session.pending.words == "2 relevant"
        for move in (ann.session.go_next, lambda: ann.session.go_to(4), ann.session.go_previous):
            with pytest.raises(StoreError, match="NOT SAVED"):
                move()
        with pytest.raises(StoreError, match="NOT SAVED"):
            ann.session.open_topic("1")
        assert ann.session.note("n").outcome is KeyOutcome.FAILED
        assert ann.docno == "b"
        assert ann.session.unsaved == {("1", "b")}
    finally:
        server.start()
    saved = ann.session.retry()
    assert (saved.outcome, saved.saved_at is None) == (KeyOutcome.SAVED, False)
    assert (ann.docno, ann.session.pending, ann.session.unsaved) == ("c", None, set())
    assert ann.session.retry().outcome is KeyOutcome.NOTHING
    assert ann.grade(0).outcome is KeyOutcome.SAVED
    assert ann.events() == [("a", "judge", 1, 1), ("b", "judge", 2, 1), ("c", "judge", 0, 1)]
    assert ann.session.undo().outcome is KeyOutcome.SAVED
    assert ann.docno == "c"


def test_everything_else_says_so_in_words_while_the_server_is_down(
    server: StoppingServer, ann: AtWork
) -> None:
    """Whatever asks the store is refused by an error of ours, and works again afterwards."""
    ann.grade(1)
    session = ann.session
    asks: list[Callable[[], Any]] = [
        session.desk.inbox,
        session.page,
        session.page_ahead,
        lambda: session.open_topic("1"),
        session.desk.events,
        session.events_here,
        session.desk.guidelines,
        session.desk.live_elsewhere,
        session.desk.recent_active_ms,
        session.desk.leave,
        lambda: ann.collection.desk("bob"),
    ]
    server.stop()
    try:
        for ask in asks:
            with pytest.raises(PoolerError) as refused:
                ask()
            assert "\n" not in refused.value.message
        assert session.undo().outcome is KeyOutcome.FAILED
        session.beat()  # without a server there is nobody to give it to
        assert ann.docno == "b"
    finally:
        server.start()
    for ask in asks:
        ask()
    assert ann.events() == [("a", "judge", 1, 1)]


class HangUp:
    """Ends the backend of every other connection before the n-th statement from now."""

    def __init__(self, url: str) -> None:
        self._admin = create_engine(collection_url(url), isolation_level="AUTOCOMMIT", poolclass=NullPool)
        self.left = -1
        self.sent: list[str] = []

    def before(self, connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if connection.engine.url == self._admin.url:
            return
        self.sent.append(statement)
        self.left -= 1
        if self.left == 0:
            self.now()

    def now(self) -> None:
        with self._admin.connect() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                    " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )
            )


def test_connection_lost_at_any_statement_of_a_save(server: StoppingServer) -> None:
    """Wherever within a save the connection is lost, nothing of it is left and a retry saves it."""
    with at_work(with_schema(server.url)) as ann:
        hang_up = HangUp(server.url)
        event.listen(Engine, "before_cursor_execute", hang_up.before)
        try:
            ann.grade(0)
            n_statements = len(hang_up.sent)
            assert n_statements >= 5
            for number in range(1, n_statements + 1):
                # Again and again the same document, so that every save sends as much.
                ann.session.go_to(0)
                value = number % 3
                if value == ann.session.tasks[0].grade:
                    value = (value + 1) % 3
                hang_up.left, before = number, len(ann.events())
                result = ann.grade(value)
                hang_up.left = -1
                if result.outcome is KeyOutcome.FAILED:
                    assert len(ann.events()) == before
                    assert ann.session.retry().outcome is KeyOutcome.SAVED
                assert ann.session.tasks[0].grade == value
                assert len(ann.events()) == before + 1
        finally:
            event.remove(Engine, "before_cursor_execute", hang_up.before)
        revisions = [revision for *_, revision in ann.events()]
        assert revisions == list(range(1, n_statements + 2))


@pytest.fixture
def through_proxy(server: StoppingServer) -> Iterator[tuple[AtWork, Proxy]]:
    """Sit ann down behind a connection that breaks at commits."""
    name = with_schema(server.url)
    with proxy(server.socket_folder) as (made, folder):
        through = name.replace(server.url, server.url_at(folder))
        with at_work(name, through) as judge:
            yield judge, made


Act = Callable[[JudgingSession], KeyResult]
ACTS: dict[str, Act] = {
    "grade": lambda session: session.grade(2),
    "cannot": lambda session: session.cannot("unreadable", confirmed=True),
    "note": lambda session: session.note("a note"),
    "mark": lambda session: session.mark([Passage(0, 4, "text")]),
}


@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize("act", ACTS)
def test_commit_without_an_answer_is_not_written_twice(
    through_proxy: tuple[AtWork, Proxy], act: str, cut: Cut
) -> None:
    """A decision whose commit broke off is told as not saved; tried again it is there once."""
    ann, line = through_proxy
    ann.grade(1)
    ann.show()
    line.cut = cut
    refused = ACTS[act](ann.session)
    assert line.n_cut == 1
    assert refused.outcome is KeyOutcome.FAILED
    assert refused.message.startswith("NOT SAVED")
    assert ann.docno == "b"
    written = ann.events()
    assert len(written) == (2 if cut is Cut.AFTER else 1)
    saved = ann.session.retry()
    assert saved.outcome is KeyOutcome.SAVED
    events = ann.events()
    assert len(events) == 2
    assert cut is Cut.BEFORE or events == written
    ann.session.go_to(1)
    assert len(ann.session.undoing) == 2
    assert ann.session.undo().outcome is KeyOutcome.SAVED
    assert ann.session.tasks[1].state is State.UNJUDGED
    assert ann.session.undo().outcome is KeyOutcome.SAVED
    assert ann.session.undo().outcome is KeyOutcome.NOTHING
    assert len(ann.events()) == 4


@pytest.mark.parametrize("cut", Cut)
def test_undo_without_an_answer_takes_back_one_decision(
    through_proxy: tuple[AtWork, Proxy], cut: Cut
) -> None:
    """Undo pressed again after a broken commit is the same undo, not one more."""
    ann, line = through_proxy
    ann.grade(1)
    ann.grade(2)
    line.cut = cut
    assert ann.session.undo().outcome is KeyOutcome.FAILED
    assert line.n_cut == 1
    assert len(ann.events()) == (3 if cut is Cut.AFTER else 2)
    undone = ann.session.undo()
    assert (undone.outcome, undone.message) == (KeyOutcome.SAVED, "grade 2 undone: unjudged again")
    assert ann.docno == "b"
    assert ann.events() == [("a", "judge", 1, 1), ("b", "judge", 2, 1), ("b", "undo", None, 2)]
    assert len(ann.session.undoing) == 1
    ann.show()
    assert ann.session.redo().outcome is KeyOutcome.SAVED
    assert ann.events()[-1] == ("b", "judge", 2, 3)


@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize("settle", ["keep_theirs", "replace_theirs"])
def test_conflict_settled_over_a_broken_connection(
    through_proxy: tuple[AtWork, Proxy], settle: str, cut: Cut
) -> None:
    """A conflict that could not be settled can be settled again; their grade is never lost."""
    ann, line = through_proxy
    other = JudgingSession(ann.collection.desk("ann"), clock=ann.clock)
    other.open_topic("1")
    other.mark_shown()
    ann.clock.wait(1)
    other.grade(0)
    assert ann.grade(2).outcome is KeyOutcome.CONFLICT
    line.cut = cut
    assert getattr(ann.session, settle)().outcome is KeyOutcome.FAILED
    if ann.session.pending is not None:
        assert ann.session.retry().outcome is KeyOutcome.SAVED
    else:
        assert getattr(ann.session, settle)().outcome is KeyOutcome.SAVED
    (task, *_) = ann.collection.desk("ann").queue("1")
    assert task.grade == (0 if settle == "keep_theirs" else 2)
    grades = [grade for _, _, grade, _ in ann.events()]
    assert grades[0] == 0
    assert 2 in grades
    assert ann.events()[-1][3] == len(grades)
    if settle == "replace_theirs":
        assert grades == [0, 2]


@pytest.mark.parametrize("cut", Cut)
def test_claim_without_an_answer_takes_no_more_than_it_may(
    through_proxy: tuple[AtWork, Proxy], cut: Cut
) -> None:
    """Documents claimed by a commit without an answer are the judge's, and nobody has one twice."""
    ann, line = through_proxy
    held_place(ann.name, "1", DOCNOS, None, lease_s=600)
    ann.session.desk.leave()
    session = JudgingSession(ann.collection.desk("ann"), clock=ann.clock)
    session.beat()
    desk = ann.collection.desk("ann")
    desk.beat("1")
    line.cut = cut
    with pytest.raises(StoreError):
        desk.claim("1")
    assert line.n_cut == 1
    session.open_topic("1")
    held = [docno for _, docno, judge, _ in places(ann.name) if judge == "ann"]
    assert len(held) == len(set(held)) == 3
    assert [task.docno for task in session.tasks] == sorted(held)


@pytest.mark.parametrize("cut", Cut)
def test_first_sign_of_life_without_an_answer(through_proxy: tuple[AtWork, Proxy], cut: Cut) -> None:
    """A sitting that did not begin, or unheard, is begun again; what follows is of that one."""
    ann, line = through_proxy
    clock = ann.clock
    line.cut = cut
    session = JudgingSession(ann.collection.desk("bob"), clock=clock)
    session.open_topic("1")
    session.mark_shown()
    clock.wait(1)
    assert session.grade(1).outcome is KeyOutcome.SAVED
    assert session.undo().outcome is KeyOutcome.SAVED
    assert [one[1] for one in ann.events()] == ["judge", "undo"]


LABELS = ("not relevant", "partially relevant", "relevant")
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
    docnos = [f"d{number:03}" for number in range(n_documents)]
    make(name, docnos)
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


OFTEN = pytest.param(100, marks=pytest.mark.long)


@pytest.mark.parametrize("n_kills", [6, OFTEN])
def test_saved_grades_outlive_kills(
    collection_name: str, n_kills: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of all grades of three judges, some in the full screen, every saved one is there, each once."""
    figures = check_kills(collection_name, n_kills, 0.15 if n_kills < 100 else 1 / 3)
    with capsys.disabled():
        print(f"\n{figures}")  # noqa: T201 - figures for whoever runs it by hand


@pytest.mark.parametrize("n_kills", [10, OFTEN])
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
