"""A desk, opened: who may sit there, which guidelines were seen, and settling a conflict."""

from __future__ import annotations

from typing import Any

import pytest

from store.collection import Collection
from store.db.tables import JUDGEMENT
from store.errors import StoreError, UnknownNameError
from store.records import Action, Decision, Document, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.world import JudgeAtWork, change_stored, make_pool, stored_rows
from tests.store.places import held_place, places

COLUMNS = [column.name for column in JUDGEMENT.columns]
HASH, VERSION = COLUMNS.index("document_sha256"), COLUMNS.index("guideline_version")
"""Places of the document's hash and the guidelines' version in a row of `judgement`."""


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make two topics and two judges."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    collection.pools.add(make_pool({"1": "ab", "2": "c"}))
    collection.documents.add([Document("a", "", "first text")])
    return collection


def disable(name: str) -> None:
    """Disable ann behind her back."""
    change_stored(name, "UPDATE judge SET disabled = TRUE WHERE name = 'ann'")


def column(name: str, place: int) -> list[Any]:
    """Return a column of every event, the oldest first."""
    return [row[place] for row in sorted(stored_rows(name)["judgement"])]


def test_disabled_judge_does_not_sit_down(ready: Collection, collection_name: str) -> None:
    """Who is disabled is told so; the others still judge."""
    disable(collection_name)
    with pytest.raises(StoreError, match="judge `ann` is disabled"):
        ready.desk("ann")
    assert ready.desk("bob").inbox()
    with pytest.raises(UnknownNameError, match="unknown judge `carl`"):
        ready.desk("carl")


def test_judge_disabled_while_at_work_writes_no_more(ready: Collection, collection_name: str) -> None:
    """Nothing that decides goes through; what was saved before stays."""
    held_place(collection_name, "1", "ab", None, lease_s=600)
    desk = ready.desk("ann")
    desk.claim("1")
    sitting = JudgeAtWork(desk, "1")
    sitting.grade("a", 1)
    disable(collection_name)
    before = stored_rows(collection_name)
    decision = Decision("1", "b", Action.JUDGE, 1)
    for act in (
        lambda: sitting.grade("b", 1),
        lambda: sitting.act("a", Action.NOTE, note="n"),
        lambda: desk.record_and_undo(decision),
        desk.undo,
        lambda: desk.claim("1"),
    ):
        with pytest.raises(StoreError, match="judge `ann` is disabled"):
            act()
    assert stored_rows(collection_name) == before
    desk.leave()
    assert [row[2] for row in places(collection_name)] == ["ann", None]


def test_kept_conflict_has_both_in_the_history_and_theirs_stands(ready: Collection) -> None:
    """The decision that met another is noted and taken back at once, whatever stood there."""
    here, elsewhere = JudgeAtWork(ready.desk("ann"), "1"), JudgeAtWork(ready.desk("ann"), "1")
    elsewhere.act("a", Action.MARK, passages=(Passage(0, 5, "first"),))
    elsewhere.act("a", Action.NOTE, note="theirs")
    elsewhere.grade("a", 2)
    mine = Decision("1", "a", Action.JUDGE, 0, note="mine", passages=(Passage(6, 4, "text"),))
    kept = here.desk.record_and_undo(mine)
    assert (kept.state, kept.grade, kept.note, kept.revision) == (State.JUDGED, 2, "theirs", 5)
    assert kept.passages == (Passage(0, 5, "first"),)
    events = here.desk.events_of("1", "a")
    assert [(one.action, one.grade, one.note, one.is_undone) for one in events] == [
        (Action.UNDO, 2, "theirs", False),
        (Action.JUDGE, 0, "mine", True),
        (Action.JUDGE, 2, "theirs", False),
        (Action.NOTE, None, "theirs", False),
        (Action.MARK, None, "", False),
    ]
    assert here.look()[0].passages == (Passage(0, 5, "first"),)
    assert here.desk.undo() is None, "it is taken back already"
    elsewhere.look()
    assert [(one.judge, one.grade) for one in ready.judgements.current()] == [("ann", 2)]


def test_keep_over_nothing_and_over_an_undone_decision(ready: Collection) -> None:
    """Kept over a document that stands undecided, it stands undecided still."""
    here, elsewhere = JudgeAtWork(ready.desk("ann"), "1"), JudgeAtWork(ready.desk("ann"), "1")
    assert here.desk.record_and_undo(Decision("1", "b", Action.JUDGE, 1)).state is State.UNJUDGED
    elsewhere.grade("a", 2)
    elsewhere.undo()
    kept = here.desk.record_and_undo(Decision("1", "a", Action.CANNOT, reason="x"))
    assert (kept.state, kept.reason, kept.revision) == (State.UNJUDGED, "", 4)
    ready.judgements.add({"ann": [Qrel("2", "c", 1)]}, JudgeKind.HUMAN)
    other = JudgeAtWork(here.desk, "2")
    assert other.tasks["c"].grade == 1
    kept = here.desk.record_and_undo(Decision("2", "c", Action.SKIP))
    assert (kept.state, kept.grade, kept.revision) == (State.JUDGED, 1, 3)


def test_keep_settles_the_place_as_their_decision_does(ready: Collection, collection_name: str) -> None:
    """Kept is theirs: decided, the place stays settled; undecided, its lease runs."""
    held_place(collection_name, "1", "ab", None, lease_s=600)
    here = ready.desk("ann")
    here.claim("1")
    sitting, elsewhere = JudgeAtWork(here, "1"), JudgeAtWork(ready.desk("ann"), "1")
    elsewhere.grade("a", 2)
    elsewhere.act("b", Action.SKIP)
    for docno in sitting.tasks:
        here.record_and_undo(Decision("1", docno, Action.JUDGE, 0))
    leases = {docno: lease is not None for _, docno, _, lease in places(collection_name)}
    assert leases == {"a": False, "b": True}


def test_off_the_scale_is_kept_neither(ready: Collection, collection_name: str) -> None:
    """A grade that cannot be is in no history."""
    desk = ready.desk("ann")
    desk.queue("1")
    with pytest.raises(UnknownNameError, match="unknown grade `9`"):
        desk.record_and_undo(Decision("1", "a", Action.JUDGE, 9))
    assert stored_rows(collection_name)["judgement"] == []


def test_guidelines_are_the_newest_and_cannot_steer_a_terminal(ready: Collection) -> None:
    """Without any there are none; a later version takes the place of the one before."""
    desk = ready.desk("ann")
    assert desk.guidelines() is None
    ready.guidelines.add("# One\x1b[2J")
    first = desk.guidelines()
    ready.guidelines.add("# Two")
    second = desk.guidelines()
    assert first is not None
    assert second is not None
    assert [(one.version, one.text) for one in (first, second)] == [(1, "# One␛[2J"), (2, "# Two")]


def test_briefed_is_who_judged_here_under_the_newest_guidelines(ready: Collection) -> None:
    """Another topic, another judge, an import, or an older version brief nobody."""
    ready.judgements.add({"ann": [Qrel("1", "a", 1)]}, JudgeKind.HUMAN)
    desk = ready.desk("ann")
    assert not desk.has_seen_guidelines("1")
    JudgeAtWork(desk, "1").grade("b", 1)
    assert desk.has_seen_guidelines("1")
    assert not desk.has_seen_guidelines("2")
    assert not ready.desk("bob").has_seen_guidelines("1")
    ready.guidelines.add("# One")
    assert not desk.has_seen_guidelines("1")
    assert desk.guidelines() is not None
    JudgeAtWork(desk, "1").act("b", Action.NOTE, note="n")
    assert desk.has_seen_guidelines("1")
    with pytest.raises(UnknownNameError, match="unknown topic `9`"):
        desk.has_seen_guidelines("9")


def test_event_names_the_guidelines_the_judge_had(ready: Collection, collection_name: str) -> None:
    """A version that came while the judge sat counts only once the judge was given it."""
    ready.guidelines.add("# One")
    desk = ready.desk("ann")
    desk.guidelines()
    sitting = JudgeAtWork(desk, "1")
    sitting.grade("a", 1)
    ready.guidelines.add("# Two")
    sitting.grade("a", 2)
    assert not ready.desk("ann").has_seen_guidelines("1")
    desk.guidelines()
    sitting.grade("a", 0)
    assert column(collection_name, VERSION) == [1, 1, 2]
    assert ready.desk("ann").has_seen_guidelines("1")


def test_first_guidelines_that_come_meanwhile_were_not_seen(ready: Collection, collection_name: str) -> None:
    """Who sat down before there were any decides under none."""
    desk = ready.desk("ann")
    assert not desk.has_seen_guidelines("1")
    assert desk.guidelines() is None
    sitting = JudgeAtWork(desk, "1")
    ready.guidelines.add("# One")
    sitting.grade("a", 1)
    assert column(collection_name, VERSION) == [None]
    assert not ready.desk("ann").has_seen_guidelines("1")


def test_event_names_the_text_the_judge_had(ready: Collection, collection_name: str) -> None:
    """A document that was replaced while it was read is known to have been judged before."""
    before = next(row[5] for row in stored_rows(collection_name)["document"] if row[1] == "a")
    desk = ready.desk("ann")
    sitting = JudgeAtWork(desk, "1")
    page = desk.page("a")
    assert (page.text, page.sha256) == ("first text", before)
    ready.documents.add([Document("a", "", "second text")], replace=True)
    after = next(row[5] for row in stored_rows(collection_name)["document"] if row[1] == "a")
    sitting.act("a", Action.JUDGE, grade=1, document_sha256=page.sha256)
    assert desk.page("a").sha256 == after
    sitting.grade("a", 2)
    assert before != after
    assert column(collection_name, HASH) == [before, after]


def test_event_on_a_page_without_text_names_none(ready: Collection, collection_name: str) -> None:
    """A text that came while the judge looked at nothing is not what was judged."""
    desk = ready.desk("ann")
    sitting = JudgeAtWork(desk, "1")
    page = desk.page("b")
    assert (page.text, page.sha256) == (None, None)
    ready.documents.add([Document("b", "", "a text")])
    sitting.act("b", Action.CANNOT, reason="no text", document_sha256=page.sha256)
    assert column(collection_name, HASH) == [None]
