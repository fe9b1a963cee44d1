"""The PostgreSQL server stops, comes back, or takes a commit and cannot say so.

The judge is told, the grade stays, and it is saved afterwards: once.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Engine, NullPool, create_engine, event, text

from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult
from store.collection import Collection
from store.db.engine import collection_url
from store.errors import PoolerError, StoreError
from store.records import Document, JudgeKind, Passage, State, Topic
from tests.helpers.places import held_place, places
from tests.helpers.stopping import Cut, Proxy, StoppingServer, proxy, stopping_server
from tests.helpers.world import make_pool, parse_scale, stored_rows
from tests.screens.conftest import Clock
from tests.screens.terminals import living
from tests.store.places import held_place, places
from tests.store.stopping import Cut, Proxy, StoppingServer, proxy, stopping_server

pytestmark = pytest.mark.slow


DOCNOS = "abcdef"


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


@contextmanager
def at_work(name: str, through: str = "") -> Iterator[AtWork]:
    """Make a collection at a URL and sit ann down, perhaps through another URL."""
    scale = parse_scale("0-2")
    with Collection.create(name, name="x", scale=scale, program="x") as made:
        made.topics.add([Topic("1", "one")])
        made.pools.add(make_pool({"1": DOCNOS}))
        made.documents.add([Document(docno, f"Title {docno}", f"text of {docno}") for docno in DOCNOS])
        for judge in ("ann", "bob"):
            made.judges.add(judge, JudgeKind.HUMAN)
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
    "same grade": lambda session: session.grade(1),
    "skip": lambda session: session.skip(confirmed=True),
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


def test_other_grade_after_a_commit_without_an_answer(through_proxy: tuple[AtWork, Proxy]) -> None:
    """Who grades otherwise instead of trying again has both in the history, and undo knows both."""
    ann, line = through_proxy
    ann.grade(1)
    ann.show()
    line.cut = Cut.AFTER
    ann.session.grade(1)
    assert ann.session.grade(2).outcome is KeyOutcome.SAVED
    assert [one[1:] for one in ann.events()[1:]] == [("judge", 1, 1), ("judge", 2, 2)]
    for stands in (1, None):
        assert ann.session.undo().outcome is KeyOutcome.SAVED
        assert ann.docno == "b"
        assert ann.session.tasks[1].grade == stands
    assert ann.session.redo().outcome in (KeyOutcome.SAVED, KeyOutcome.NOTHING)
    assert [one[0] for one in ann.events()].count("a") == 1


def test_giving_up_a_commit_without_an_answer_says_how_it_stands(through_proxy: tuple[AtWork, Proxy]) -> None:
    """A grade that was written after all is not said to be gone, and undo takes it back."""
    ann, line = through_proxy
    ann.show()
    line.cut = Cut.AFTER
    ann.session.grade(2)
    given_up = ann.session.undo()
    assert (given_up.outcome, ann.session.pending) == (KeyOutcome.NOTHING, None)
    assert "grade 2" in given_up.message
    assert ann.session.tasks[0].grade == 2
    assert ann.session.undo().outcome is KeyOutcome.SAVED
    assert ann.events() == [("a", "judge", 2, 1), ("a", "undo", None, 2)]


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


@pytest.mark.parametrize(
    "in_terminal", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["line mode", "full screen"]
)
def test_judge_is_told_and_the_grade_is_saved_when_the_server_is_back(
    server: StoppingServer, in_terminal: bool
) -> None:
    """End to end: NOT SAVED is on the terminal, the document stays, and the grade is saved once."""
    name = with_schema(server.url)
    with at_work(name):
        pass
    with living(name, "bob", "1", in_terminal=in_terminal) as bob:
        saved = re.compile(r"2 relevant \(?saved \d\d:\d\d:\d\d")
        assert bob.see() == "a"
        bob.answer("0")
        bob.wait_to_hear(re.compile(r"0 not relevant \(?saved"))
        assert bob.see() == "b"
        server.stop()
        try:
            bob.answer("2")
            bob.wait_to_hear(re.compile("NOT SAVED"))
            time.sleep(0.5)
            assert not bob.heard(saved)
            assert "Title c" not in bob.life.text()
        finally:
            server.start()
        if not in_terminal:
            bob.answer("retry")
        bob.wait_to_hear(saved)
        assert bob.see() == "c"
        bob.answer("q")
        bob.life.end()
        assert "2 decisions in this sitting, all saved" in bob.life.text()
    with Collection(name) as opened:
        judged = {one.docno: (one.grade, one.revision) for one in opened.judgements.current(["bob"])}
    assert judged == {"a": (0, 1), "b": (2, 1)}
