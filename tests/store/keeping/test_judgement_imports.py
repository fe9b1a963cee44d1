"""`store.keeping.histories`: judgements of many judges at once, on both engines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from store.collection import Collection
from store.errors import ConflictError
from store.event import JudgementEvent
from store.keeping.histories import import_states
from store.records import Action, ImportReport, JudgeKind, Judgement, Passage, State
from tests.helpers.world import bring

WHEN = datetime(2026, 3, 1, 9, 30, 0, 250_000, tzinfo=UTC)


def event(
    judge: str, revision: int, action: Action, state: State, grade: int | None = None, **more: object
) -> JudgementEvent:
    """Make an event on document d1 of topic 1."""
    values: dict[str, object] = {
        "undoes": None,
        "reason": "",
        "note": "",
        "iteration": "0",
        "passages": (),
        "display_order": "docno",
        "position": 0,
        "shown_at": WHEN,
        "judged_at": WHEN,
        "dwell_ms": 900,
        "active_ms": 800,
        "dropped_keys": 0,
        "guideline_version": None,
        "document_sha256": None,
        "sitting": None,
    }
    values |= more
    return JudgementEvent("1", "d1", judge, revision, action, state=state, grade=grade, **values)  # type: ignore[arg-type]


HISTORY = [
    event("ann", 1, Action.JUDGE, State.JUDGED, 2, passages=(Passage(0, 3, "tea"),)),
    event("bob", 1, Action.CANNOT, State.CANNOT, reason="cut \ud800 off"),
    event("ann", 2, Action.JUDGE, State.JUDGED, 0, note="no"),
    event("ann", 3, Action.UNDO, State.JUDGED, 2, undoes=2),
]


def by_judge(events: Sequence[JudgementEvent]) -> list[JudgementEvent]:
    """Order events of one moment and one document as they come out."""
    return sorted(events, key=lambda one: (one.judge, one.revision))


def set_states(collection: Collection, states: Sequence[Judgement], *, replace: bool = False) -> ImportReport:
    """Import states; ann is a model, bob an adjudicator."""
    kinds = {"ann": JudgeKind.MODEL, "bob": JudgeKind.ADJUDICATOR}
    with collection.being_filled() as inside:
        keys = inside.session, inside.topics, inside.documents
        return import_states(*keys, states, kinds, replace=replace)


def test_history_is_kept_event_by_event(collection: Collection) -> None:
    """Every event comes out as it went in; judges are added, and what is there stays."""
    assert bring(collection, HISTORY) == ImportReport(added=4)
    assert list(collection.judgements.history()) == by_judge(HISTORY)
    assert [(judge.name, judge.kind) for judge in collection.judges.all()] == [
        ("ann", JudgeKind.HUMAN),
        ("bob", JudgeKind.HUMAN),
    ]
    more = [*HISTORY, event("ann", 4, Action.SKIP, State.SKIPPED)]
    assert bring(collection, more, JudgeKind.MODEL) == ImportReport(added=1, unchanged=4)
    assert list(collection.judgements.history()) == by_judge(more)
    assert collection.judges.all()[0].kind is JudgeKind.HUMAN


def test_history_that_differs_is_refused_as_a_whole(collection: Collection) -> None:
    """Another event at a revision is a conflict, and neither event nor judge is added."""
    bring(collection, HISTORY)
    other = [event("eve", 1, Action.SKIP, State.SKIPPED), event("bob", 1, Action.SKIP, State.SKIPPED)]
    with pytest.raises(ConflictError):
        bring(collection, other)
    assert list(collection.judgements.history()) == by_judge(HISTORY)
    assert [judge.name for judge in collection.judges.all()] == ["ann", "bob"]


STATES = [
    Judgement("1", "d1", "ann", State.JUDGED, 2, note="n", iteration="3"),
    Judgement("1", "d2", "ann", State.SKIPPED, None),
    Judgement("1", "d3", "ann", State.CANNOT, None, reason="empty"),
    Judgement("2", "d1", "bob", State.UNJUDGED, None, note="later"),
]


def shown(collection: Collection) -> list[tuple[object, ...]]:
    """Return how documents stand, without moments."""
    rows = collection.judgements.current()
    rows.sort(key=lambda one: (one.topic, one.docno, one.judge))
    return [
        (one.topic, one.docno, one.judge, one.state, one.grade, one.reason, one.note, one.iteration)
        for one in rows
    ]


def test_states_stand_as_the_file_says(collection: Collection) -> None:
    """Judged, skipped, impossible, only noted: each stands so; a second time adds nothing."""
    assert set_states(collection, STATES) == ImportReport(added=4)
    expected = [
        (one.topic, one.docno, one.judge, one.state, one.grade, one.reason, one.note, one.iteration)
        for one in STATES
    ]
    assert shown(collection) == expected
    assert [one.action for one in collection.judgements.history()] == [
        *(Action.JUDGE, Action.SKIP, Action.CANNOT, Action.NOTE)
    ]
    assert set_states(collection, STATES) == ImportReport(unchanged=4)
    assert [(judge.name, judge.kind) for judge in collection.judges.all()] == [
        ("ann", JudgeKind.MODEL),
        ("bob", JudgeKind.ADJUDICATOR),
    ]


def test_states_that_differ_need_replace_and_are_revisions(collection: Collection) -> None:
    """A difference in grade, note or state is a conflict; replaced, it is one more event."""
    set_states(collection, STATES)
    changed = [
        Judgement("1", "d1", "ann", State.UNJUDGED, None, note="n", iteration="3"),
        Judgement("1", "d2", "ann", State.JUDGED, 0),
        STATES[2],
    ]
    with pytest.raises(ConflictError, match="2 judgements are there otherwise: 1 d1 of ann; 1 d2"):
        set_states(collection, changed)
    assert len(list(collection.judgements.history())) == 4
    assert set_states(collection, changed, replace=True) == ImportReport(replaced=2, unchanged=1)
    last = list(collection.judgements.history())[4:]
    assert [(one.docno, one.revision, one.action, one.grade) for one in last] == [
        ("d1", 2, Action.REOPEN, None),
        ("d2", 2, Action.JUDGE, 0),
    ]
