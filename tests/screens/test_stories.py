"""Random stories of judges while the database fails and others claim: what must be stored then."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select

from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult
from store.collection import Collection
from store.db.engine import reading
from store.db.tables import ASSIGNMENT, DOCUMENT, JUDGE, JUDGEMENT, PASSAGE, TOPIC
from store.errors import PoolerError
from store.records import Action, Document, JudgeKind, Passage, State, Task, Topic
from store.text import sanitise
from tests.helpers.faults import Faults, When, failing_database
from tests.helpers.places import held_place, let_lapse
from tests.helpers.strategies import examples
from tests.helpers.world import JudgeAtWork, make_pool, new_collection
from tests.screens.conftest import Clock

TOPICS = {"1": "abc", "2": "de"}
RAW = "\x00one\r\ntwo \ud800three\r\r\nfour"
SHOWN = sanitise(RAW)
PASSAGES = [Passage(SHOWN.index(word), len(word), word) for word in ("one\ntwo", "three", "four")]

Pair = tuple[str, str]


@dataclass(frozen=True)
class Written:
    """One event as the store has it."""

    id: int
    pair: Pair
    revision: int
    action: Action
    undoes: int | None
    sitting: int | None
    stands: tuple[Any, ...]
    """State, grade, reason, note, and the passages of the raw text."""


NOTHING_YET = ("unjudged", None, "", "", ())


@dataclass
class Ledger:
    """Every event of one judge, read from the store, and what was undone."""

    events: list[Written] = field(default_factory=list)

    def of(self, pair: Pair) -> list[Written]:
        return [one for one in self.events if one.pair == pair]

    def stands(self, pair: Pair, revision: int | None = None) -> tuple[Any, ...]:
        """Say how a document stood after a revision, by default the newest."""
        own = self.of(pair)
        if revision is None:
            revision = len(own)
        return own[revision - 1].stands if revision else NOTHING_YET

    def undoable(self, sitting: int | None) -> list[Written]:
        """Return the events of a sitting that are not taken back, the oldest first."""
        undone = {one.undoes for one in self.events}
        return [
            one
            for one in self.events
            if one.sitting == sitting and one.action is not Action.UNDO and one.id not in undone
        ]


def read_events(collection: Collection, judge: str) -> list[Written]:
    """Read a judge's events, the oldest first."""
    with reading(collection._db.engine) as session:
        query = (
            select(JUDGEMENT, TOPIC.c.number, DOCUMENT.c.docno)
            .join(TOPIC, TOPIC.c.id == JUDGEMENT.c.topic_id)
            .join(DOCUMENT, DOCUMENT.c.id == JUDGEMENT.c.document_id)
            .where(JUDGEMENT.c.judge_id == collection.desk(judge)._judge_id)
            .order_by(JUDGEMENT.c.id)
        )
        rows = session.execute(query).all()
        passages: dict[int, list[tuple[int, int, str]]] = {}
        chosen = select(PASSAGE).where(PASSAGE.c.judgement_id.in_([row.id for row in rows]))
        for one in session.execute(chosen):
            passages.setdefault(one.judgement_id, []).append((one.start, one.length, one.text))
    return [
        Written(
            row.id,
            (row.number, row.docno),
            row.revision,
            Action(row.action),
            row.undoes,
            row.sitting_id,
            (row.state, row.grade, row.reason, row.note, tuple(sorted(passages.get(row.id, [])))),
        )
        for row in rows
    ]


def in_raw(passages: tuple[Passage, ...]) -> tuple[tuple[int, int, str], ...]:
    """Turn passages of the text as shown into those of the raw text, the obvious way."""
    found = []
    for one in passages:
        place = -1
        start = end = 0
        for raw_place, character in enumerate(RAW):
            if character == "\r":
                continue
            place += 1
            if place == one.start:
                start = raw_place
            if place == one.end - 1:
                end = raw_place + 1
        found.append((start, end - start, RAW[start:end]))
    return tuple(sorted(found))


def as_shown_standing(task: Task) -> tuple[Any, ...]:
    """Say how a task stands, with the passages of the raw text."""
    return (str(task.state), task.grade, task.reason, task.note, in_raw(task.passages))


numbers = itertools.count()


class Story(RuleBasedStateMachine):
    """One judge at two desks; the first is the session under test, the other only disturbs."""

    def __init__(self, collection: Collection, faults: Faults) -> None:
        super().__init__()
        self.judge = f"j{next(numbers)}"
        self.collection, self.faults = collection, faults
        faults.armed = faults.fired = None
        collection.judges.add(self.judge, JudgeKind.HUMAN)
        self.clock = Clock()
        self.desk = collection.desk(self.judge)
        self.session = JudgingSession(self.desk, clock=self.clock, min_dwell=0.3)
        self.session.open_topic("1")
        self.other = JudgeAtWork(collection.desk(self.judge), "1")
        self.ledger = Ledger()
        self.unheard: set[int] = set()
        """Ids of own events that were written while the session was told they were not."""
        self.redoable: list[Written] = []
        self.is_murky = False
        """Whether an answer was lost: the session may then know of less than there is."""
        self.undo_unheard = False
        self.waiting: int | None = None
        """Id of the event that the pending decision is, where it was written after all."""

    # What a key may leave behind.

    def act(self, key: Callable[[], KeyResult]) -> tuple[KeyResult, list[Written]]:
        """Press a key; return what came of it and the events that are new."""
        self.session.mark_shown()
        self.clock.wait(1)
        self.faults.fired = None
        is_sitting = self.desk._sitting is not None
        pending_before = self.session.pending
        try:
            result = key()
        except PoolerError as error:
            result = KeyResult(KeyOutcome.FAILED, error.message)
        if not is_sitting and self.faults.fired is When.AFTER:
            # It was the sitting that began unheard; nothing of the key was written.
            self.faults.fired = When.BEFORE
        with self.faults.suspended():
            events = read_events(self.collection, self.judge)
        n_before = len(self.ledger.events)
        assert events[:n_before] == self.ledger.events
        new = events[n_before:]
        if self.session.pending is None:
            self.waiting = None
        elif new:
            self.waiting = new[-1].id
        elif self.session.pending != pending_before:
            self.waiting = None  # another decision waits now, and is written nowhere
        return result, new

    def settle(self, new: list[Written], *, is_redo: bool = False) -> None:
        for one in new:
            assert one.revision == len(self.ledger.of(one.pair)) + 1
            self.ledger.events.append(one)
        if self.faults.fired is When.AFTER:
            self.is_murky = True
            self.unheard.update(one.id for one in new)
        if new and any(one.action is not Action.UNDO for one in new) and not is_redo:
            self.redoable.clear()

    @property
    def pair(self) -> Pair:
        assert self.session.topic is not None
        assert self.session.task is not None
        return self.session.topic.topic, self.session.task.docno

    def is_stale(self, pair: Pair, seen: int) -> bool:
        """Say whether somebody else than this session wrote after what it has seen."""
        later = self.ledger.of(pair)[seen:]
        return any(one.id not in self.unheard for one in later)

    def decide(self, key: Callable[[], KeyResult], action: Action, stands: Callable[[Any], Any]) -> None:
        """Press a key that decides about the document before the judge."""
        waiting = self.session.pending
        if waiting is not None and waiting.stays and action not in (Action.NOTE, Action.MARK):
            # A note that waits goes first; the session would see to it itself.
            self.retry()
            if self.session.pending is not None or self.session.conflict is not None:
                return
        assert self.session.task is not None
        pair, seen = self.pair, self.session.task.revision
        pending = self.session.pending
        before = self.ledger.stands(pair)
        result, new = self.act(key)
        fired = self.faults.fired
        match result.outcome:
            case KeyOutcome.SAVED:
                assert fired is None
                assert not self.is_stale(pair, seen)
                self.check_written(new, pair, action, stands(before))
                assert self.session.pending is None
            case KeyOutcome.UNCHANGED:
                assert new == []
                assert fired is None
                task = next(one for one in self.session.tasks if one.docno == pair[1])
                assert as_shown_standing(task) == stands(as_shown_standing(task))
            case KeyOutcome.CONFLICT:
                assert new == []
                assert self.is_stale(pair, seen)
                assert self.session.conflict is not None
                assert self.pair == pair
            case KeyOutcome.FAILED:
                if fired is When.AFTER:
                    self.check_written(new, pair, action, stands(before))
                else:
                    assert new == []
                    assert fired is not None or pending is not None
                    assert fired is not When.READING or self.is_stale(pair, seen)
                assert self.session.pending is not None
                assert self.pair == pair
            case _:
                pytest.fail(f"{action}: {result}")
        self.settle(new)
        self.check()

    def check_written(self, new: list[Written], pair: Pair, action: Action, stands: tuple[Any, ...]) -> None:
        """See that exactly what was asked for was written, now or before the answer was lost."""
        last = self.ledger.of(pair)[-1] if self.ledger.of(pair) else None
        if not new:
            assert last is not None
            assert last.id in self.unheard
            assert (last.action, last.stands) == (action, stands)
            return
        (one,) = new
        assert (one.pair, one.action, one.stands) == (pair, action, stands)
        assert one.sitting == self.desk._sitting

    def check(self) -> None:
        """See that the session says of each document what the store says."""
        assert self.session.topic is not None
        topic = self.session.topic.topic
        assert [task.docno for task in self.session.tasks] == list(TOPICS[topic])
        for task in self.session.tasks:
            pair = topic, task.docno
            assert as_shown_standing(task) == self.ledger.stands(pair, task.revision)
            later = self.ledger.of(pair)[task.revision :]
            assert all(one.sitting != self.desk._sitting or one.id in self.unheard for one in later)
        pending = self.session.pending
        if pending is None:
            assert self.session.unsaved == set()
        else:
            at = (pending.decision.topic, pending.decision.docno)
            assert at == self.pair
            assert self.session.unsaved == {at}
        own = [one for one in self.ledger.events if one.sitting == self.desk._sitting]
        undone = {one.undoes for one in self.ledger.events}
        with self.faults.suspended():
            listed = self.session.desk.events()
        assert [(one.topic, one.docno, one.revision, one.is_undone) for one in listed] == [
            (*one.pair, one.revision, one.id in undone) for one in reversed(own)
        ]
        if not self.is_murky:
            assert len(self.session.undoing) == len(self.ledger.undoable(self.desk._sitting))

    # The keys.

    @rule(value=st.integers(0, 2))
    def grade(self, value: int) -> None:
        self.decide(
            lambda: self.session.grade(value, revises=True),
            Action.JUDGE,
            lambda old: ("judged", value, "", *old[3:]),
        )

    @rule()
    def skip(self) -> None:
        self.decide(
            lambda: self.session.skip(confirmed=True),
            Action.SKIP,
            lambda old: ("skipped", None, "", *old[3:]),
        )

    @rule(reason=st.sampled_from(["unreadable", "other"]))
    def cannot(self, reason: str) -> None:
        self.decide(
            lambda: self.session.cannot(reason, confirmed=True),
            Action.CANNOT,
            lambda old: ("cannot", None, reason, *old[3:]),
        )

    @rule(text=st.sampled_from(["", "odd", "see\nbelow"]))
    def note(self, text: str) -> None:
        self.decide(lambda: self.session.note(text), Action.NOTE, lambda old: (*old[:3], text, old[4]))

    @rule(chosen=st.sets(st.sampled_from(PASSAGES)))
    def mark(self, chosen: set[Passage]) -> None:
        marked = tuple(sorted(chosen))
        self.decide(lambda: self.session.mark(marked), Action.MARK, lambda old: (*old[:4], in_raw(marked)))

    @rule()
    def undo(self) -> None:
        pending = self.session.pending
        stack = self.ledger.undoable(self.desk._sitting)
        result, new = self.act(self.session.undo)
        if pending is not None:
            assert new == []
            assert self.session.pending is None
        elif result.outcome is KeyOutcome.NOTHING:
            assert new == []
            assert stack == []
        elif new:
            (one,) = new
            top = stack[-1]
            assert (one.action, one.undoes, one.pair) == (Action.UNDO, top.id, top.pair)
            assert one.stands == self.ledger.stands(top.pair, top.revision - 1)
            later = self.ledger.of(top.pair)[top.revision :]
            assert all(event.sitting == self.desk._sitting for event in later)
            self.redoable.append(top)
            if self.faults.fired is When.AFTER:
                assert result.outcome is KeyOutcome.FAILED
                self.undo_unheard = True
            elif self.faults.fired is When.READING:
                assert result.outcome is KeyOutcome.STUCK
                assert self.pair[0] != one.pair[0]
            else:
                assert result.outcome is KeyOutcome.SAVED
                assert self.pair == one.pair
        elif result.outcome in (KeyOutcome.SAVED, KeyOutcome.STUCK):
            assert self.undo_unheard
            self.undo_unheard = False
        else:
            assert result.outcome is KeyOutcome.FAILED
            others = [event for event in self.ledger.events if event.sitting != self.desk._sitting]
            assert self.faults.fired is not None or others
        self.settle(new)
        self.check()

    @rule()
    def redo(self) -> None:
        wanted = self.redoable[-1] if self.redoable else None
        pending = self.session.pending
        seen = {
            (self.session.topic.topic if self.session.topic else "", task.docno): task.revision
            for task in self.session.tasks
        }
        result, new = self.act(self.session.redo)
        if new:
            (one,) = new
            assert wanted is not None, "there was nothing to redo"
            assert (one.pair, one.action) == (wanted.pair, wanted.action)
            mine, theirs = self.redone(one), self.redone(wanted)
            assert mine == theirs
            if result.outcome is KeyOutcome.SAVED:
                self.redoable.pop()
            else:
                assert self.faults.fired is When.AFTER
        elif result.outcome is KeyOutcome.SAVED:
            assert self.unheard
        elif result.outcome is KeyOutcome.NOTHING:
            assert wanted is None or self.is_murky
        elif result.outcome is KeyOutcome.CONFLICT:
            assert wanted is not None
            assert self.is_stale(wanted.pair, seen.get(wanted.pair, 0))
        else:
            assert result.outcome is KeyOutcome.FAILED
            assert self.faults.fired is not None or pending is not None
        self.settle(new, is_redo=True)
        self.check()

    @staticmethod
    def redone(event: Written) -> Any:
        """Return what an event itself decided, without what it found."""
        state, grade, reason, note, passages = event.stands
        if event.action is Action.NOTE:
            return note
        if event.action is Action.MARK:
            return passages
        return state, grade, reason

    @precondition(lambda self: self.session.pending is not None)
    @rule()
    def retry(self) -> None:
        assert self.session.pending is not None
        decision = self.session.pending.decision
        pair = decision.topic, decision.docno
        before = self.ledger.of(pair)
        is_written = bool(before) and before[-1].id == self.waiting
        result, new = self.act(self.session.retry)
        own = before + new
        assert not (is_written and new), "it was written already"
        if result.outcome is KeyOutcome.SAVED:
            assert own[-1].action is decision.action
            assert not self.is_stale(pair, decision.seen_revision)
            assert len(new) <= 1
            assert new or own[-1].id in self.unheard
        elif result.outcome in (KeyOutcome.CONFLICT, KeyOutcome.UNCHANGED):
            assert new == []
            assert self.is_stale(pair, decision.seen_revision)
        else:
            assert self.faults.fired is not None
            assert len(new) == (self.faults.fired is When.AFTER and not is_written)
        is_redo = bool(self.redoable) and not new
        self.settle(new, is_redo=is_redo)
        if new:
            self.redoable.clear()
        self.check()

    @precondition(lambda self: self.session.conflict is not None)
    @rule()
    def keep_theirs(self) -> None:
        assert self.session.conflict is not None
        decision = self.session.conflict.attempt.decision
        pair = decision.topic, decision.docno
        stands = self.ledger.stands(pair)
        result, new = self.act(self.session.keep_theirs)
        if result.outcome is KeyOutcome.SAVED or self.faults.fired is When.AFTER:
            mine, back = new
            assert (mine.pair, back.pair) == (pair, pair)
            assert (mine.action, back.action) == (decision.action, Action.UNDO)
            assert back.undoes == mine.id
            assert back.stands == stands
        else:
            assert new == []
            assert self.faults.fired is When.BEFORE
            assert self.session.conflict is not None, "it can be settled later"
        kept = list(self.redoable)
        self.settle(new)
        self.redoable = kept
        self.check()

    @precondition(lambda self: self.session.conflict is not None)
    @rule()
    def replace_theirs(self) -> None:
        assert self.session.conflict is not None
        decision = self.session.conflict.attempt.decision
        pair = decision.topic, decision.docno
        result, new = self.act(self.session.replace_theirs)
        if new:
            (one,) = new
            assert (one.pair, one.action) == (pair, decision.action)
            assert one.stands[1] == (decision.grade or one.stands[1])
        else:
            assert self.faults.fired is When.BEFORE or result.outcome is KeyOutcome.CONFLICT
        self.settle(new)
        self.check()

    @rule(move=st.integers(0, 2) | st.sampled_from("12"))
    def go(self, move: int | str) -> None:
        """Go to a document, or open a topic; refused while something is not written."""
        pending, pair = self.session.pending, self.pair
        with (
            self.faults.suspended(),
            contextlib.nullcontext() if pending is None else pytest.raises(PoolerError),
        ):
            self.session.go_to(move) if isinstance(move, int) else self.session.open_topic(move)
        if pending is not None:
            assert self.pair == pair
        elif isinstance(move, str):
            assert self.pair[0] == move
        self.check()

    # What seldom comes about by chance.

    @precondition(lambda self: self.session.pending is None)
    @rule(when=st.sampled_from(When), value=st.integers(0, 2), n_marked=st.integers(0, 3))
    def fail_and_retry(self, when: When, value: int, n_marked: int) -> None:
        self.faults.armed = when
        if n_marked:
            self.mark(set(PASSAGES[:n_marked]))
        else:
            self.grade(value)
        if self.session.pending is not None:
            self.retry()

    @precondition(lambda self: self.session.pending is None)
    @rule(when=st.sampled_from(When))
    def fail_and_undo_again(self, when: When) -> None:
        self.faults.armed = when
        self.undo()
        self.undo()

    @precondition(lambda self: self.session.pending is None)
    @rule(value=st.integers(0, 2), when=st.none() | st.sampled_from(When), keeps=st.booleans())
    def conflict(self, value: int, when: When | None, keeps: bool) -> None:
        """Decide what is decided elsewhere already; one of the two has to go."""
        self.elsewhere(self.pair[1], (value + 1) % 3)
        self.faults.armed = when
        self.grade(value)
        if self.session.conflict is not None:
            self.keep_theirs() if keeps else self.replace_theirs()

    @precondition(lambda self: self.session.pending is None)
    @rule(when=st.none() | st.sampled_from(When))
    def come_back(self, when: When | None) -> None:
        """Leave and sit down again, perhaps while the database fails."""
        with self.faults.suspended():
            self.session.desk.leave()
            self.desk = self.collection.desk(self.judge)
        self.session = JudgingSession(self.desk, clock=self.clock, min_dwell=0.3)
        self.faults.armed = when
        while self.session.topic is None:
            with contextlib.suppress(PoolerError):
                self.session.open_topic("1")
        self.unheard.clear()
        self.redoable.clear()
        self.is_murky = self.undo_unheard = False
        self.check()

    # What disturbs them.

    @rule(docno=st.sampled_from("abcde"), value=st.integers(-1, 2))
    def elsewhere(self, docno: str, value: int) -> None:
        self.other.topic = "1" if docno in TOPICS["1"] else "2"
        with self.faults.suspended():
            self.other.look()
            if value < 0:
                self.other.act(docno, Action.SKIP)
            else:
                self.other.grade(docno, value)
            self.ledger.events = read_events(self.collection, self.judge)
        self.check()

    @precondition(lambda self: self.faults.armed is None)
    @rule(when=st.sampled_from(When))
    def let_it_fail(self, when: When) -> None:
        self.faults.armed = when


@pytest.fixture
def shared(collection: Collection) -> Collection:
    """Make a collection of two topics."""
    collection.topics.add([Topic(topic, f"topic {topic}") for topic in TOPICS])
    collection.pools.add(make_pool(TOPICS))
    collection.documents.add([Document(docno, docno, RAW) for docno in "abcde"])
    return collection


@pytest.fixture
def faults() -> Iterator[Faults]:
    """Give the means to let commits fail."""
    with failing_database() as made:
        yield made


@pytest.mark.slow
def test_every_story_leaves_what_its_keys_asked_for(shared: Collection, faults: Faults) -> None:
    """Whatever is pressed, wherever a write fails: each event once, none lost, none elsewhere."""
    run_state_machine_as_test(
        lambda: Story(shared, faults),
        settings=settings(
            max_examples=examples(8),
            stateful_step_count=30,
            phases=[Phase.explicit, Phase.generate],
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


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
        self.k = k
        for _ in range(k):
            held_place(self.collection.where, "1", self.DOCNOS, None, lease_s=600)
        self.session = JudgingSession(self.collection.desk("ann"), clock=self.clock, min_dwell=0.3)
        self.session.open_topic("1")
        self.others = {judge: self.collection.desk(judge) for judge in ("bob", "cy")}
        self.paint()

    def paint(self) -> None:
        task = self.session.task
        self.painted = None if task is None else task.docno
        if task is not None:
            assert self.session.page().docno == task.docno
        self.session.mark_shown()
        self.clock.wait(1)

    def events(self) -> list[tuple[str, str, str]]:
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
        self.press(lambda: self.session.grade(value, revises=True))

    @rule()
    def skip(self) -> None:
        self.press(lambda: self.session.skip(confirmed=True))

    @rule()
    def note(self) -> None:
        self.press(lambda: self.session.note(f"note {next(numbers)}"))

    @rule()
    def undo(self) -> None:
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
        self.session.open_topic("1")
        self.check()
        self.paint()

    @rule()
    def come_back(self) -> None:
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
        made = new_collection(str(tmp_path / f"{next(numbers)}.db"))
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
                max_examples=examples(8),
                stateful_step_count=30,
                phases=[Phase.explicit, Phase.generate],
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        for one in opened:
            one.close()
