"""Histories: every event with what it rested on, and a final grade that is never invented."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.errors import PoolerError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.grades.qrels import decide
from store.history import HistoryFilter
from store.judging.disagreements import Settlement
from store.records import Action, Decision, Document, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, parse_scale
from tests.strategies import examples


def fill(collection: Collection, *judges: str) -> list[JudgeAtWork]:
    """Make a pool of a and b in topic 1, and seat people before it."""
    collection.topics.add([Topic("1", "wine")])
    collection.pools.add(make_pool({"1": ["a", "b"]}, name="main", round="3"))
    collection.documents.add([Document("a", "A title", "some text"), Document("b", "", "b")])
    for judge in judges:
        collection.judges.add(judge, JudgeKind.HUMAN)
    return [JudgeAtWork(collection.desk(judge), "1") for judge in judges]


def test_events_tell_what_was_done_taken_back_and_seen(collection: Collection) -> None:
    """Grade, note, passages and undo come in order, each with the state after it."""
    collection.guidelines.add("Read all.")
    [ann] = fill(collection, "ann")
    shown = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
    sha256 = collection.history.of_document("1", "a").sha256
    ann.act("a", Action.JUDGE, grade=1, shown_at=shown, dwell_ms=2500, active_ms=2000,
            document_sha256=sha256)  # fmt: skip
    ann.act("a", Action.NOTE, note="odd")
    marked = (Passage(5, 4, "text"),)
    ann.act("a", Action.MARK, passages=marked)
    ann.grade("a", 2)
    ann.undo()
    found = collection.history.of_document("1", "a")
    told = [
        (one.revision, one.action.value, one.grade, one.undoes, one.is_undone, one.note)
        for one in found.events
    ]
    assert told == [
        (1, "judge", 1, None, False, ""),
        (2, "note", 1, None, False, "odd"),
        (3, "mark", 1, None, False, "odd"),
        (4, "judge", 2, None, True, "odd"),
        (5, "undo", 1, 4, False, "odd"),
    ]
    assert [one.passages for one in found.events] == [(), (), marked, marked, marked]
    first = found.events[0]
    assert (first.judge, first.kind, first.shown_at) == ("ann", JudgeKind.HUMAN, shown)
    assert (first.dwell_ms, first.active_ms, first.sitting) == (2500, 2000, 1)
    assert (first.guideline_version, first.text, found.newest_guideline) == (1, "same", 1)
    assert first.host != ""
    assert first.judged_at.utcoffset() == datetime.now(UTC).utcoffset()
    [place] = found.places
    assert (place.pool, place.round, place.withdrawn, place.sampled) == ("main", "3", False, True)
    assert (found.final.grade, found.final.reason, found.final.by) == (1, None, "ann")


def test_text_that_changed_since_is_told(collection: Collection) -> None:
    """Same, changed, come later, and not known are four things."""
    ann, bob = fill(collection, "ann", "bob")
    sha256 = collection.history.of_document("1", "a").sha256
    ann.act("a", Action.JUDGE, grade=1, document_sha256=sha256)
    bob.act("a", Action.JUDGE, grade=1, document_sha256=None)
    collection.judgements.add({"old": [Qrel("1", "a", 0)]}, JudgeKind.IMPORTED)
    told = {one.judge: one.text for one in collection.history.of_document("1", "a").events}
    assert told == {"ann": "same", "bob": "came later", "old": "not known"}
    collection.documents.add([Document("a", "A title", "other text")], replace=True)
    told = {one.judge: one.text for one in collection.history.of_document("1", "a").events}
    assert told == {"ann": "changed", "bob": "came later", "old": "not known"}


def test_events_of_all_judges_come_by_time(collection: Collection, collection_name: str) -> None:
    """An event that was written later but happened before comes before."""
    ann, bob = fill(collection, "ann", "bob")
    ann.grade("a", 1)
    bob.grade("a", 2)
    with engine_of(collection_name) as engine:
        sqlite = engine.dialect.name == "sqlite"
    moment = "'2020-01-01 00:00:00.000000'" if sqlite else "'2020-01-01 00:00:00+00'"
    change_stored(collection_name, f"UPDATE judgement SET judged_at = {moment} WHERE grade = 2")
    found = collection.history.of_document("1", "a")
    assert [one.judge for one in found.events] == ["bob", "ann"]
    assert [one.judge for one in found.newest_events] == ["ann", "bob"]


def test_ruling_tells_what_it_rested_on(collection: Collection) -> None:
    """The verdicts that lay before the adjudicator stand with the ruling, which is final."""
    ann, bob = fill(collection, "ann", "bob")
    ann.grade("a", 0)
    bob.act("a", Action.CANNOT, reason="torn")
    found = collection.history.of_document("1", "a")
    assert (found.final.grade, found.final.by) == (0, "ann")
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    desk = collection.adjudication_desk("zoe")
    [task] = [one for one in desk.queue("1") if one.docno == "a"]
    desk.record(Decision("1", "a", Action.JUDGE, grade=1, seen_revision=task.revision))
    found = collection.history.of_document("1", "a")
    assert found.events[-1].opinions == (0, None)
    assert found.events[0].opinions is None
    assert (found.final.grade, found.final.by, found.final.is_ruling) == (1, "zoe", True)
    assert found.ruling_status is Settlement.SETTLED
    ann.grade("a", 2)
    assert collection.history.of_document("1", "a").ruling_status is Settlement.CHANGED


def test_document_without_an_event_is_told_apart(collection: Collection) -> None:
    """Pooled and unjudged, and in no pool, are two reasons for no grade."""
    fill(collection, "ann")
    pooled = collection.history.of_document("1", "a")
    assert (pooled.events, pooled.final.grade, pooled.final.reason) == ((), None, "unjudged")
    collection.pools.withdraw("main")
    left = collection.history.of_document("1", "a")
    assert (left.is_pooled, left.places[0].withdrawn, left.final.reason) == (False, True, "not-pooled")


def test_kinds_that_are_not_asked_for_give_no_final_grade(collection: Collection) -> None:
    """A person graded `a`, a model both: of `a` the person's grade is final, of `b` none is."""
    (ann,) = fill(collection, "ann")
    collection.judgements.add({"gpt": [Qrel("1", "a", 2), Qrel("1", "b", 2)]}, JudgeKind.MODEL)
    final = collection.history.of_document("1", "a").final
    assert (final.grade, final.by) == (2, "gpt")  # no person graded anything yet
    ann.grade("a", 0)
    final = collection.history.of_document("1", "a").final
    assert (final.grade, final.by) == (0, "ann")
    final = collection.history.of_document("1", "b").final
    assert (final.grade, final.reason) == (None, "other-kinds")
    exported = decide(collection.grades.all_votes(QrelsDefinition()), QrelsDefinition())
    assert [(row.docno, row.grade) for row in exported.rows] == [("a", 0)]


def test_unknown_document_is_told_with_its_neighbours(collection: Collection) -> None:
    """Neither topic nor document is guessed."""
    fill(collection)
    with pytest.raises(UnknownNameError, match=re.escape("unknown document `aa`; known: `a`, `b`")):
        collection.history.of_document("1", "aa")
    with pytest.raises(UnknownNameError, match=re.escape("unknown topic `01`; known: `1`")):
        collection.history.of_document("01", "a")


@pytest.mark.slow
@settings(max_examples=examples(10))
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["ann", "bob", "zoe"]),
            st.sampled_from(["0", "1", "skip", "cannot", "note", "undo"]),
        ),
        max_size=8,
    ),
    model=st.sampled_from([None, 0, 2]),
)
def test_final_grade_is_that_of_the_export(
    steps: list[tuple[str, str]], model: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever happens to one document, history and export agree on its grade, or on having none.

    A model's grade counts for both where no person graded.

    With one document in the collection, the export's only judge is the document's only judge.
    """
    file: Path = tmp_path_factory.mktemp("final") / "c.db"
    with Collection.create(str(file), name="x", scale=parse_scale("0-2"), program="x") as made:
        made.pools.add(make_pool({"1": ["a"]}))
        for judge in ("ann", "bob"):
            made.judges.add(judge, JudgeKind.HUMAN)
        made.judges.add("zoe", JudgeKind.ADJUDICATOR)
        if model is not None:
            made.judgements.add({"gpt": [Qrel("1", "a", model)]}, JudgeKind.MODEL)
        sittings = {judge: JudgeAtWork(made.desk(judge), "1") for judge in ("ann", "bob")}
        ruler = made.adjudication_desk("zoe")
        for judge, what in steps:
            if judge == "zoe":
                tasks = [one for one in ruler.queue("1") if one.docno == "a"]
                if what == "undo":
                    ruler.undo()
                elif tasks:
                    action = Action.JUDGE if what.isdigit() else Action(what)
                    ruler.record(
                        Decision(
                            "1", "a", action, grade=int(what) if what.isdigit() else None,
                            reason="r" if what == "cannot" else "",
                            note="n" if what == "note" else None,
                            seen_revision=tasks[0].revision,
                        )
                    )  # fmt: skip
                continue
            sitting = sittings[judge]
            if what.isdigit():
                sitting.grade("a", int(what))
            elif what == "undo":
                sitting.undo()
            else:
                sitting.act("a", Action(what), reason="r" if what == "cannot" else "",
                            note="n" if what == "note" else None)  # fmt: skip
        final = made.history.of_document("1", "a").final
        try:
            exported = decide(made.grades.all_votes(QrelsDefinition()), QrelsDefinition())
        except PoolerError as error:
            if "nothing is judged" in error.message:
                assert final.reason in ("unjudged", "skipped", "cannot")
            else:
                # A ruling says what the grade is, and not which rule gives the others theirs.
                assert final.reason == "undecided" or final.is_ruling
            return
        assert [row.grade for row in exported.rows] == ([] if final.grade is None else [final.grade])
        assert list(exported.left_out.values()) == ([] if final.grade is not None else ["cannot"])
        assert final.grade is not None or final.reason == "ruled-cannot"
        states = {one.state for one in made.judgements.current()}
        assert final.grade is None or State.JUDGED in states


def test_events_asked_for_are_told_and_all_of_them_count(collection: Collection) -> None:
    """By judge and limit fewer events are told; standing and final grade are as without."""
    ann, bob = fill(collection, "ann", "bob")
    ann.grade("a", 0)
    bob.act("a", Action.SKIP)
    ann.grade("a", 2)
    ann.grade("a", 1)
    whole = collection.history.of_document("1", "a")
    found = collection.history.of_document("1", "a", HistoryFilter(judges=("ann",), limit=2))
    assert [one.grade for one in found.events] == [2, 1]
    assert (found.total, found.n_left_out, whole.n_left_out) == (4, 1, 0)
    assert (found.newest_events, found.final) == (whole.newest_events, whole.final)
    moment = whole.events[1].judged_at
    later = collection.history.of_document(
        "1", "a", HistoryFilter(since=moment, until=whole.events[3].judged_at)
    )
    assert later.events == whole.events[1:3]
    with pytest.raises(UnknownNameError, match="unknown judge `eve`; known: `ann`, `bob`"):
        collection.history.of_document("1", "a", HistoryFilter(judges=("eve",)))


@pytest.mark.parametrize("limit", [None, 2])
def test_a_clock_put_back_puts_no_event_before_those_it_follows(
    collection: Collection, collection_name: str, limit: int | None
) -> None:
    """The first grade was given in 2999: what is latest rests on revisions."""
    [ann] = fill(collection, "ann")
    for grade in (0, 1, 2):
        ann.grade("a", grade)
    ahead = "UPDATE judgement SET judged_at = '2999-01-01 00:00:00.000000' WHERE revision = 1"
    change_stored(collection_name, ahead, renews=True)
    expected = [1, 2, 3] if limit is None else [2, 3]
    asked = HistoryFilter(limit=limit)
    assert [one.revision for one in collection.history.of_document("1", "a", asked).events] == expected
    events = [one for one in collection.history.everything(asked).entries if one.what == "event"]
    assert [one.revision for one in events] == expected
    assert [one.grade for one in collection.judgements.current(["ann"])] == [2]
    assert [one.revision for one in collection.judgements.history()] == [1, 2, 3]
