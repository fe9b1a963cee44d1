"""The adjudicator's desk: what is shown of the judges, what is written, and what stays unsaid."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.errors import StoreError, UnknownNameError
from store.judging.adjudication import AdjudicationDesk
from store.judging.disagreements import Disagreement, Opinion, Selection, Settlement
from store.records import Action, Document, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, make_run, statements

NAMES = ("annabella", "gpt-9000", "oldqrels", "zoe")


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection of three judges and an adjudicator who disagree on a and b of topic 1."""
    for name in ("annabella", "gpt-9000", "oldqrels"):
        collection.judges.add(name, JudgeKind.HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    collection.topics.add([Topic("1", "wine")])
    collection.runs.add(make_run("bm25", {"1": [("a", 2.0), ("b", 1.0), ("c", 0.5)]}))
    collection.pools.add(make_pool({"1": ["c", "b", "a"]}, round="3", run_tags=("bm25",)))
    collection.documents.add([Document("a", "A", "text\r\nof a"), Document("b", "B", "b")])
    for name, grades in (("annabella", (0, 1, 1)), ("gpt-9000", (2, 0, 1)), ("oldqrels", (2, 0, 1))):
        sitting = judge(collection, name)
        for docno, grade in zip("abc", grades, strict=True):
            sitting.grade(docno, grade)
    return collection


def judge(collection: Collection, name: str, topic: str = "1") -> JudgeAtWork:
    """Sit down as a judge."""
    return JudgeAtWork(collection.desk(name), topic)


def adjudicate(collection: Collection, *, topic: str = "1", **wanted: Any) -> JudgeAtWork:
    """Sit down as the adjudicator."""
    return JudgeAtWork(collection.adjudication_desk("zoe", selection=Selection(**wanted)), topic)


def view(sitting: JudgeAtWork, docno: str) -> Disagreement:
    """Return what an adjudicator sees of the judges."""
    assert isinstance(sitting.desk, AdjudicationDesk)
    return sitting.desk.disagreement(sitting.topic, docno)


def events(name: str, judge: str) -> list[dict[str, Any]]:
    """Read every event of a judge, the oldest first, as column to value."""
    with engine_of(name) as engine, engine.connect() as connection:
        query = (
            "SELECT e.*, d.docno FROM judgement e JOIN document d ON d.id = e.document_id"
            " JOIN judge j ON j.id = e.judge_id WHERE j.name = :name ORDER BY e.id"
        )
        return [dict(row) for row in connection.execute(text(query), {"name": judge}).mappings()]


def test_desk_is_for_adjudicators(ready: Collection) -> None:
    """Another judge is told how to become one; who is disabled or unknown has no desk."""
    with pytest.raises(StoreError, match="judge `annabella` is of kind human, but only adj") as refused:
        ready.adjudication_desk("annabella")
    assert refused.value.hint == "pooler judges add NAME --kind adjudicator makes one"
    with pytest.raises(UnknownNameError, match="unknown judge `zoé`; known: `zoe`"):
        ready.adjudication_desk("zoé")


def test_disabled_adjudicator_has_no_desk(ready: Collection, collection_name: str) -> None:
    """An adjudicator may be disabled like any judge."""
    change_stored(collection_name, "UPDATE judge SET disabled = TRUE WHERE name = 'zoe'")
    with pytest.raises(StoreError, match="judge `zoe` is disabled"):
        ready.adjudication_desk("zoe")


def test_queue_is_what_judges_disagree_on(ready: Collection) -> None:
    """Documents come by docno, whatever their place in the pool; the agreed one is not there."""
    sitting = adjudicate(ready)
    assert list(sitting.tasks) == ["a", "b"]
    (line,) = sitting.desk.inbox()
    assert (line.topic, line.title, line.documents, line.left) == ("1", "wine", 2, 2)


def test_opinions_are_grades_reasons_notes_and_passages(ready: Collection) -> None:
    """Each judge is a letter with all that was decided and said; passages fit the page."""
    first, second = judge(ready, "annabella"), judge(ready, "gpt-9000")
    first.act("a", Action.CANNOT, reason="torn")
    first.act("a", Action.NOTE, note="page 2\nis gone")
    marked = Passage(5, 2, "of")
    second.act("a", Action.MARK, passages=(marked,))
    sitting = adjudicate(ready)
    found = view(sitting, "a")
    assert [one.letter for one in found.opinions] == ["A", "B", "C"]
    said = {(one.state, one.grade, one.reason, one.note, one.passages) for one in found.opinions}
    assert said == {
        (State.CANNOT, None, "torn", "page 2\nis gone", ()),
        (State.JUDGED, 2, "", "", (marked,)),
        (State.JUDGED, 2, "", "", ()),
    }
    assert (found.gap, found.status) == (None, Settlement.OPEN)
    page = sitting.desk.page("a")
    assert page.text is not None
    assert page.text[marked.start : marked.end] == "of"


def test_opinions_cannot_steer_a_terminal(ready: Collection) -> None:
    """Notes and reasons of judges are sanitised for display."""
    evil = "a\x1b]0;owned\x07\u202e\0\nb"
    sitting = judge(ready, "annabella")
    sitting.act("a", Action.CANNOT, reason=evil)
    sitting.act("a", Action.NOTE, note=evil)
    opinions = view(adjudicate(ready), "a").opinions
    (shown,) = [one for one in opinions if one.state is State.CANNOT]
    assert shown.note == "a␛]0;owned␇\ufffd␀\nb"
    assert shown.reason == "a␛]0;owned␇\ufffd␀ b"


def test_letter_of_a_judge_changes_from_document_to_document(collection: Collection) -> None:
    """Nobody is A throughout: on 40 documents each of two judges is A on some."""
    docnos = [f"d{number}" for number in range(40)]
    for name, grade in (("ann", 0), ("bob", 1)):
        qrels = [Qrel("1", docno, grade) for docno in docnos]
        collection.judgements.add({name: qrels}, JudgeKind.HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    sitting = adjudicate(collection)
    grades_of_a = [view(sitting, docno).opinions[0].grade for docno in docnos]
    assert 8 <= sum(one == 0 for one in grades_of_a) <= 32
    again = adjudicate(collection)
    assert [view(again, docno).opinions[0].grade for docno in docnos] == grades_of_a


def test_outcome_is_the_adjudicators_own_judgement(ready: Collection, collection_name: str) -> None:
    """A decision is one more event, of the round the judges worked in; nothing else changes."""
    before = {name: events(collection_name, name) for name in NAMES}
    sitting = adjudicate(ready)
    task = sitting.act("a", Action.JUDGE, grade=1, note="in between", position=0)
    assert (task.state, task.grade, task.note, task.revision) == (State.JUDGED, 1, "in between", 1)
    (event,) = events(collection_name, "zoe")
    assert (event["docno"], event["state"], event["grade"]) == ("a", "judged", 1)
    assert (event["iteration"], event["display_order"]) == ("3", "docno opinions of human:0,2,2")
    assert {name: events(collection_name, name) for name in NAMES[:3]} == {
        name: before[name] for name in NAMES[:3]
    }
    assert view(sitting, "a").status is Settlement.SETTLED
    assert [line.left for line in sitting.desk.inbox()] == [1]


def test_work_at_the_desk_is_a_judges(ready: Collection) -> None:
    """Skip, can't, note, passages and undo do what they do in judging."""
    sitting = adjudicate(ready)
    marked = (Passage(0, 4, "text"),)
    assert sitting.act("a", Action.SKIP).state is State.SKIPPED
    assert sitting.act("a", Action.CANNOT, reason="torn").reason == "torn"
    assert sitting.act("a", Action.NOTE, note="n").state is State.CANNOT
    assert sitting.act("a", Action.MARK, passages=marked).passages == marked
    assert sitting.grade("a", 2).grade == 2
    assert view(sitting, "a").status is Settlement.SETTLED
    undone = [sitting.undo() for _ in range(5)]
    assert [task and (task.state, task.note, task.passages) for task in undone] == [
        (State.CANNOT, "n", marked),
        (State.CANNOT, "n", ()),
        (State.CANNOT, "", ()),
        (State.SKIPPED, "", ()),
        (State.UNJUDGED, "", ()),
    ]
    assert view(sitting, "a").status is Settlement.OPEN
    assert sitting.undo() is None
    with pytest.raises(UnknownNameError, match="unknown grade `3`"):
        sitting.grade("a", 3)


def test_changed_disagreement_comes_again(ready: Collection) -> None:
    """It is without a decision until it is decided anew; the old outcome stays stored till then."""
    adjudicate(ready).grade("a", 2)
    judge(ready, "oldqrels").grade("a", 1)
    sitting = adjudicate(ready)
    assert (sitting.tasks["a"].state, sitting.tasks["a"].grade) == (State.UNJUDGED, None)
    found = view(sitting, "a")
    assert (found.status, found.outcome, found.outcome_on) == (Settlement.CHANGED, 2, (0, 2, 2))
    assert [line.left for line in sitting.desk.inbox()] == [2]
    assert stored(ready) == {"a": (State.JUDGED, 2)}
    assert sitting.act("a", Action.NOTE, note="look").state is State.UNJUDGED
    assert stored(ready) == {"a": (State.JUDGED, 2)}
    assert sitting.grade("a", 2).state is State.JUDGED
    assert view(sitting, "a").status is Settlement.SETTLED
    assert adjudicate(ready).tasks["a"].grade == 2


def test_undo_brings_the_changed_disagreement_back(ready: Collection) -> None:
    """What an undo restores rests on the verdicts it was decided on, not on those of the undo."""
    adjudicate(ready).grade("a", 2)
    judge(ready, "oldqrels").grade("a", 1)
    sitting = adjudicate(ready)
    sitting.grade("a", 0)
    undone = sitting.undo()
    assert undone is not None
    assert (undone.state, undone.grade) == (State.UNJUDGED, None)
    assert view(sitting, "a").outcome == 2
    assert stored(ready) == {"a": (State.JUDGED, 2)}
    assert adjudicate(ready).tasks["a"].state is State.UNJUDGED


def test_change_under_the_adjudicators_eyes_is_noticed(ready: Collection) -> None:
    """A ruling rests on what was shown, not on what a judge decided a moment before it."""
    sitting = adjudicate(ready)
    judge(ready, "oldqrels").grade("a", 1)
    sitting.grade("a", 2)
    assert view(sitting, "a").status is Settlement.SETTLED
    assert {one.grade for one in view(sitting, "a").opinions} == {0, 2}
    (task, _) = sitting.look()
    assert task.state is State.UNJUDGED
    assert {one.grade for one in view(sitting, "a").opinions} == {0, 1, 2}


def test_judges_who_return_to_their_grades_need_no_new_ruling(ready: Collection) -> None:
    """The same disagreement as before is settled as before."""
    adjudicate(ready).grade("a", 2)
    other = judge(ready, "oldqrels")
    other.grade("a", 1)
    other.undo()
    assert adjudicate(ready).tasks["a"].grade == 2


def test_agreement_takes_a_document_off_the_queue(ready: Collection) -> None:
    """When judges come to agree there is nothing to decide; the outcome stays stored."""
    adjudicate(ready).grade("b", 0)
    judge(ready, "annabella").grade("b", 0)
    assert list(adjudicate(ready).tasks) == ["a"]
    assert stored(ready) == {"b": (State.JUDGED, 0)}


def test_undo_after_agreement_takes_the_ruling_back(ready: Collection) -> None:
    """A ruling may be taken back though the judges agree by now."""
    sitting = adjudicate(ready)
    sitting.grade("b", 0)
    judge(ready, "annabella").grade("b", 0)
    undone = sitting.undo()
    assert undone is not None
    assert undone.state is State.UNJUDGED
    assert stored(ready) == {"b": (State.UNJUDGED, None)}


def test_settled_by_another_adjudicator_is_not_shown(ready: Collection) -> None:
    """Adjudicators share the work: what one has settled the other is spared, until it changes."""
    ready.judges.add("yan", JudgeKind.ADJUDICATOR)
    JudgeAtWork(ready.adjudication_desk("yan"), "1").grade("a", 2)
    assert list(adjudicate(ready).tasks) == ["b"]
    judge(ready, "oldqrels").grade("a", 1)
    sitting = adjudicate(ready)
    assert (list(sitting.tasks), sitting.tasks["a"].state) == (["a", "b"], State.UNJUDGED)
    assert view(sitting, "a").outcome == 2
    sitting.grade("a", 0)
    assert list(JudgeAtWork(ready.adjudication_desk("yan"), "1").tasks) == ["a", "b"]


def test_selection_cuts_queue_and_inbox(ready: Collection) -> None:
    """Gap and cell choose documents; all opinions of a chosen one are shown."""
    assert list(adjudicate(ready, gap=2).tasks) == ["a"]
    assert list(adjudicate(ready, cell=(0, 1)).tasks) == ["b"]
    sitting = adjudicate(ready, gap=2, cell=(0, 2))
    assert list(sitting.tasks) == ["a"]
    assert len(view(sitting, "a").opinions) == 3
    assert [line.documents for line in sitting.desk.inbox()] == [1]
    assert adjudicate(ready, gap=3).desk.inbox() == []


def test_selection_can_be_changed_at_the_desk(ready: Collection) -> None:
    """Cells are counted whatever cell is wanted, and lead to its documents."""
    sitting = adjudicate(ready, gap=2)
    assert isinstance(sitting.desk, AdjudicationDesk)
    sitting.grade("a", 2)
    counts = [(one.cell, one.documents, one.settled) for one in sitting.desk.cells()]
    assert counts == [((0, 1), 1, 0), ((0, 2), 1, 1)]
    sitting.desk.select(Selection(cell=(0, 1)))
    sitting.look()
    assert list(sitting.tasks) == ["b"]
    with pytest.raises(UnknownNameError):
        sitting.desk.select(Selection("9"))
    assert sitting.desk.selection == Selection(cell=(0, 1))


def test_adjudicator_needs_no_place(ready: Collection, collection_name: str) -> None:
    """Where documents are assigned to judges, adjudicators decide all the same."""
    change_stored(
        collection_name,
        "INSERT INTO assignment (topic_id, document_id, judge_id, position, purpose)"
        " SELECT topic.id, document.id, judge.id, 0, 'primary' FROM topic, document, judge"
        " WHERE number = '1' AND docno = 'b' AND name = 'annabella'",
    )
    sitting = adjudicate(ready)
    assert list(sitting.tasks) == ["a", "b"]
    assert sitting.grade("a", 1).state is State.JUDGED
    assert sitting.undo() is not None
    assert (sitting.desk.claim("1"), sitting.desk.claimable("1"), sitting.desk.undrawn("1")) == (False, 0, 0)
    sitting.desk.leave()


def stored(collection: Collection) -> dict[str, tuple[State, int | None]]:
    """Return the adjudicator's stored judgements by docno."""
    return {one.docno: (one.state, one.grade) for one in collection.judgements.current(["zoe"])}


FORBIDDEN = re.compile(
    r"\b(runs?|rankings?|pool\w*|manifest|scores?|ranks?|priority|stratum|inclusion_probability"
    r"|purpose)\b"
)


def test_desk_is_blind(ready: Collection) -> None:
    """No judge's name is read or given, and no statement names a run, a score or a pool."""
    judge(ready, "annabella").act("a", Action.NOTE, note="mine")
    given: list[object] = []
    with statements() as sent:
        sitting = adjudicate(ready)
        desk = sitting.desk
        assert isinstance(desk, AdjudicationDesk)
        given += [desk.inbox(), desk.topic("1"), sitting.look(), desk.cells(), desk.page("a")]
        given += [sitting.grade("a", 1), view(sitting, "a"), view(sitting, "b")]
        given += [sitting.act("b", Action.SKIP), sitting.act("b", Action.NOTE, note="n")]
        given += [sitting.undo(), desk.events(), desk.events_of("1", "a"), sitting.look()]
        desk.leave()
    written = repr(given)
    assert "mine" in written
    for name in NAMES[:3]:
        assert name not in written
    for statement, parameters in sent:
        assert not FORBIDDEN.search(statement), statement
        assert "judge.name" not in statement or "zoe" in repr(parameters), statement
        for name in NAMES[:3]:
            assert name not in repr(parameters)


def test_desk_has_no_door_to_the_rest(ready: Collection) -> None:
    """To a judge's desk it adds six words, and an opinion has no place for a name."""
    added = set(dir(ready.adjudication_desk("zoe"))) - set(dir(ready.desk("annabella")))
    words = {name for name in added if not name.startswith("_")}
    assert words == {"cells", "disagreement", "given", "select", "selection", "voters"}
    fields = Opinion.__dataclass_fields__
    assert set(fields) == {"letter", "state", "grade", "reason", "note", "passages"}
