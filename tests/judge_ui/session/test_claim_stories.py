"""Random stories of a judge who claims documents while others do, and leases run out.

What is painted changes only when a key was pressed: whatever happens meanwhile, a decision is about
the document that is on the screen, or is not written.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from sqlalchemy import select

from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult
from store.collection import Collection
from store.db.engine import reading
from store.db.tables import ASSIGNMENT, DOCUMENT, JUDGE, JUDGEMENT
from store.errors import PoolerError
from store.records import JudgeKind, State, Topic
from tests.helpers.places import held_place, let_lapse
from tests.helpers.world import JudgeAtWork, make_pool, parse_scale
from tests.judge_ui.conftest import Clock
from tests.strategies import examples

numbers = itertools.count()


class ClaimStory(RuleBasedStateMachine):
    """A judge who claims documents while two others do, and leases run out under all of them."""

    DOCNOS = "abcdef"

    def __init__(self, make: Callable[[], Collection]) -> None:
        super().__init__()
        self.collection = make()
        self.clock = Clock()
        self.k = 0
        self.painted: str | None = None

    @initialize(k=st.integers(1, 2))
    def sit_down(self, k: int) -> None:
        """Give every document so many places, and begin."""
        self.k = k
        for _ in range(k):
            held_place(self.collection.where, "1", self.DOCNOS, None, lease_s=600)
        self.session = JudgingSession(self.collection.desk("ann"), clock=self.clock, min_dwell=0.3)
        self.session.open_topic("1")
        self.others = {judge: self.collection.desk(judge) for judge in ("bob", "cy")}
        self.paint()

    def paint(self) -> None:
        """Put on the screen what the session has before it."""
        task = self.session.task
        self.painted = None if task is None else task.docno
        if task is not None:
            assert self.session.page().docno == task.docno
        self.session.mark_shown()
        self.clock.wait(1)

    def events(self) -> list[tuple[str, str, str]]:
        """Return judge, docno and state of every event."""
        with reading(self.collection._db.engine) as session:
            query = (
                select(JUDGE.c.name, DOCUMENT.c.docno, JUDGEMENT.c.state)
                .select_from(JUDGEMENT)
                .join(JUDGE)
                .join(DOCUMENT)
                .order_by(JUDGEMENT.c.id)
            )
            return [(row[0], row[1], row[2]) for row in session.execute(query)]

    def held(self) -> list[tuple[str, str, bool]]:
        """Return docno, judge and whether there is a lease of every place that is somebody's."""
        with reading(self.collection._db.engine) as session:
            query = (
                select(DOCUMENT.c.docno, JUDGE.c.name, ASSIGNMENT.c.lease_until.is_not(None))
                .select_from(ASSIGNMENT)
                .join(JUDGE)
                .join(DOCUMENT)
            )
            return [(row[0], row[1], bool(row[2])) for row in session.execute(query)]

    def press(self, key: Callable[[], KeyResult]) -> None:
        """Press a key that decides; see that it was about what is painted."""
        before = self.events()
        result = KeyResult(KeyOutcome.NOTHING)
        if self.session.task is None:
            with contextlib.suppress(PoolerError):
                assert key().outcome is KeyOutcome.TOO_EARLY
        else:
            result = key()
        new = self.events()[len(before) :]
        if result.outcome in (KeyOutcome.SAVED, KeyOutcome.STUCK):
            assert [one[:2] for one in new] == [("ann", self.painted)]
        else:
            assert new == []
            assert result.outcome in (KeyOutcome.UNCHANGED, KeyOutcome.NOTHING, KeyOutcome.FAILED)
        self.check()
        self.paint()

    def check(self) -> None:
        """See that no document has more judges than it may, and the session shows its own."""
        states: dict[tuple[str, str], str] = {}
        for judge, docno, state in self.events():
            states[judge, docno] = state
        decided = [docno for (_, docno), state in states.items() if state in ("judged", "cannot")]
        assert all(decided.count(docno) <= self.k for docno in self.DOCNOS)
        held = [(docno, judge) for docno, judge, _ in self.held()]
        assert len(held) == len(set(held)), "one place each"
        for judge, docno in states:
            if states[judge, docno] in ("judged", "cannot"):
                assert (docno, judge) in held
        docnos = [task.docno for task in self.session.tasks]
        assert len(docnos) == len(set(docnos))

    @rule(value=st.integers(0, 2))
    def grade(self, value: int) -> None:
        """Grade."""
        self.press(lambda: self.session.grade(value, revises=True))

    @rule()
    def skip(self) -> None:
        """Skip."""
        self.press(lambda: self.session.skip(confirmed=True))

    @rule()
    def note(self) -> None:
        """Note."""
        self.press(lambda: self.session.note(f"note {next(numbers)}"))

    @rule()
    def undo(self) -> None:
        """Undo; it goes to the document it is about."""
        before = self.events()
        result = self.session.undo()
        new = self.events()[len(before) :]
        if result.outcome is KeyOutcome.SAVED:
            assert self.session.task is not None
            (one,) = new
            assert one[0] == "ann"
            if "no longer in your queue" not in result.message:
                assert one[1] == self.session.task.docno
        else:
            assert new == []
        self.check()
        self.paint()

    @rule(step=st.sampled_from([1, -1]))
    def move(self, step: int) -> None:
        """Go on or back."""
        self.session.go_next() if step > 0 else self.session.go_previous()
        self.check()
        self.paint()

    @rule()
    def read_ahead(self) -> None:
        """Read ahead if there is a document on the screen; what is painted stays painted."""
        if self.painted is not None:
            self.session.page_ahead()
            assert self.session.task is not None
            assert self.painted == self.session.task.docno
        self.check()

    @rule()
    def open_again(self) -> None:
        """Open the topic again."""
        self.session.open_topic("1")
        self.check()
        self.paint()

    @rule()
    def come_back(self) -> None:
        """Leave, and sit down again."""
        self.session.desk.leave()
        states = {docno: state for judge, docno, state in self.events() if judge == "ann"}
        kept = [docno for docno, judge, lease in self.held() if judge == "ann" and lease]
        assert all(states.get(docno) == "skipped" for docno in kept)
        self.session = JudgingSession(self.collection.desk("ann"), clock=self.clock, min_dwell=0.3)
        self.session.open_topic("1")
        self.check()
        self.paint()

    @rule(docnos=st.sets(st.sampled_from(DOCNOS)))
    def lapse(self, docnos: set[str]) -> None:
        """Leases of the judge run out."""
        if docnos:
            let_lapse(self.collection.where, "ann", "".join(sorted(docnos)))

    @rule(judge=st.sampled_from(["bob", "cy"]), n_graded=st.integers(0, 2))
    def another(self, judge: str, n_graded: int) -> None:
        """Another judge claims some documents and grades a few."""
        desk = self.others[judge]
        desk.claim("1")
        sitting = JudgeAtWork(desk, "1")
        free = [task.docno for task in sitting.tasks.values() if not task.revision]
        for docno in free[:n_graded]:
            sitting.grade(docno, 1)
        self.check()

    @rule(value=st.integers(0, 2), judge=st.sampled_from(["bob", "cy"]))
    def grade_overtaken(self, value: int, judge: str) -> None:
        """Before the last document the judge was away too long; another takes it meanwhile."""
        for _ in self.DOCNOS:
            if sum(task.state is State.UNJUDGED for task in self.session.tasks) > 1:
                self.grade(value)
        let_lapse(self.collection.where, "ann")
        self.others[judge].claim("1")
        self.read_ahead()
        self.grade(value)

    @rule(judge=st.sampled_from(["bob", "cy"]))
    def another_leaves(self, judge: str) -> None:
        """Another judge leaves, or only looks away until the leases are over."""
        let_lapse(self.collection.where, judge)


@pytest.mark.slow
def test_claimed_documents_never_change_under_the_key(tmp_path: Path) -> None:
    """Whoever claims, leaves or is too slow: a key decides about what is painted, or nothing."""

    def make() -> Collection:
        name = str(tmp_path / f"{next(numbers)}.db")
        made = Collection.create(name, name="x", scale=parse_scale("0-2"), program="x")
        made.topics.add([Topic("1", "one")])
        made.pools.add(make_pool({"1": ClaimStory.DOCNOS}))
        for judge in ("ann", "bob", "cy"):
            made.judges.add(judge, JudgeKind.HUMAN)
        opened.append(made)
        return made

    opened: list[Collection] = []
    try:
        run_state_machine_as_test(
            lambda: ClaimStory(make),
            settings=settings(
                max_examples=examples(20),
                stateful_step_count=30,
                phases=[Phase.explicit, Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        for one in opened:
            one.close()
