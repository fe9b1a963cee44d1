"""Judgements and their history: appended, never changed, each with what it rested on, and never invented."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from store.collection import Collection
from store.errors import ArgumentError, ConflictError, PoolerError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.grades.qrels import decide
from store.history import CollectionEvents, HistoryFilter
from store.judging.disagreements import Settlement
from store.keeping.directory import ExportChoice, read_directory, write_directory
from store.records import (
    Action,
    Decision,
    Document,
    ImportReport,
    JudgeKind,
    Judgement,
    Passage,
    Qrel,
    State,
    Topic,
)
from tests.helpers.strategies import examples
from tests.helpers.world import (
    JudgeAtWork,
    bring,
    change_stored,
    count_rows,
    engine_of,
    make_pool,
    make_run,
    new_collection,
    pairs_to_judge,
    statements,
    stored_rows,
)

HUMAN = JudgeKind.HUMAN
QRELS = [Qrel("1", "a", 2), Qrel("1", "b", 0, "7"), Qrel("001", "a", 1, "Q0")]


def states(collection: Collection) -> dict[tuple[str, str, str], tuple[State, int | None, int]]:
    """Give state, grade and revision by (topic, docno, judge)."""
    return {
        (one.topic, one.docno, one.judge): (one.state, one.grade, one.revision)
        for one in collection.judgements.current()
    }


def test_imported_judgements_come_back(collection: Collection) -> None:
    """Grades and iterations come back by judge, each its first revision."""
    report = collection.judgements.add({"ann": QRELS, "bob": QRELS[:1]}, HUMAN)
    assert report == ImportReport(added=4)
    back = {(one.topic, one.docno, one.judge): one for one in collection.judgements.current()}
    assert len(back) == 4
    one = back["1", "b", "ann"]
    assert one == Judgement("1", "b", "ann", State.JUDGED, 0, 1, "", "", "7", one.judged_at)
    assert back["001", "a", "ann"].iteration == "Q0"
    assert {one.judge for one in collection.judgements.current(["bob"])} == {"bob"}
    assert collection.judgements.current([]) == []
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        collection.judgements.current(["ann", "eve"])


def test_same_judgements_again_change_nothing(collection: Collection, collection_name: str) -> None:
    """Importing the same file again is counted and writes nothing."""
    pool = make_pool({"1": ["a", "c"]}, name="unjudged", manifest={"file": "x"})
    collection.judgements.add({"ann": QRELS}, HUMAN, pool=pool)
    before = stored_rows(collection_name)
    for replaces in (False, True):
        report = collection.judgements.add({"ann": QRELS}, HUMAN, pool=pool, replace=replaces)
        assert report == ImportReport(unchanged=3)
    assert stored_rows(collection_name) == before


def test_import_tells_of_every_judgement_that_is_done(collection: Collection) -> None:
    """Those that are there already, and those that are new, 5,000 at a time: all of the file."""
    told: list[int] = []
    many = [Qrel("1", f"d{number}", 1) for number in range(11_000)]
    collection.judgements.add({"ann": many[:1000]}, HUMAN)
    collection.judgements.add({"ann": many, "bob": many[:3]}, HUMAN, advance=told.append)
    assert told == [1000, 5000, 5000, 0, 3]
    assert len(collection.judgements.current()) == 11_003


@pytest.mark.parametrize("other", [Qrel("1", "a", 1), Qrel("1", "a", 2, "7")])
def test_other_grade_is_refused_or_appended(
    collection: Collection, collection_name: str, other: Qrel
) -> None:
    """A differing line is refused with all else in the file; `replace` appends a revision."""
    collection.judgements.add({"ann": QRELS}, HUMAN)
    before = stored_rows(collection_name)
    pool = make_pool({"5": ["new"]}, name="unjudged", manifest={"file": "x"})
    by_judge = {"bob": [Qrel("6", "newer", 1)], "ann": [Qrel("7", "c", 1), other]}
    with pytest.raises(ConflictError, match="1 judgements of `ann` are there otherwise: 1 a: 2 ->"):
        collection.judgements.add(by_judge, HUMAN, pool=pool)
    assert stored_rows(collection_name) == before
    report = collection.judgements.add(by_judge, HUMAN, pool=pool, replace=True)
    assert report == ImportReport(added=2, replaced=1)
    assert states(collection)["1", "a", "ann"] == (State.JUDGED, other.grade, 2)
    kept = [row for row in stored_rows(collection_name)["judgement"] if row in before["judgement"]]
    assert kept == before["judgement"]


def test_import_over_a_judge_at_work(collection: Collection) -> None:
    """A skipped document differs from a graded one; a note outlives the imported grade."""
    collection.judges.add("ann", HUMAN)
    collection.pools.add(make_pool({"1": ["a", "b"]}))
    sitting = JudgeAtWork(collection.desk("ann"), "1")
    sitting.act("a", Action.SKIP, note="later")
    with pytest.raises(ConflictError, match="1 a: skipped -> 2"):
        collection.judgements.add({"ann": QRELS}, HUMAN)
    collection.judgements.add({"ann": QRELS}, HUMAN, replace=True)
    (one,) = [one for one in collection.judgements.current() if (one.topic, one.docno) == ("1", "a")]
    assert (one.state, one.grade, one.revision, one.note) == (State.JUDGED, 2, 2, "later")


def test_import_that_meets_the_judge_is_a_conflict(postgres_url: str) -> None:
    """When the judge grades a document while the file is read, nothing is imported."""
    with new_collection(postgres_url) as one:
        one.judges.add("ann", HUMAN)
        one.pools.add(make_pool({"1": ["a", "b"]}))
        sitting = JudgeAtWork(one.desk("ann"), "1")
        one.judgements.add({"bob": [Qrel("1", "b", 1)]}, HUMAN)
        qrels = {"ann": [Qrel("1", "b", 2), Qrel("1", "a", 2)]}
        with pytest.raises(ConflictError, match="`ann` judged one of these documents"):
            # Told of progress when it has looked at what is there, and before it writes.
            one.judgements.add(qrels, HUMAN, advance=lambda _steps: sitting.grade("a", 1))
        assert states(one) == {
            ("1", "a", "ann"): (State.JUDGED, 1, 1),
            ("1", "b", "bob"): (State.JUDGED, 1, 1),
        }


def test_what_is_off_the_scale_or_of_another_kind_is_refused(
    collection: Collection, collection_name: str
) -> None:
    """No undeclared grade is stored, and no file makes a person's name stand for a model; nothing is kept."""
    collection.judges.add("ann", HUMAN)
    before = stored_rows(collection_name)
    for grade in (3, -1):
        with pytest.raises(ArgumentError, match=r"`grade` must be one of \(0, 1, 2\)"):
            collection.judgements.add({"ann": [*QRELS, Qrel("9", "z", grade)]}, HUMAN)
    with pytest.raises(ConflictError, match="kind human, not model"):
        collection.judgements.add({"new": QRELS, "ann": QRELS}, JudgeKind.MODEL)
    assert stored_rows(collection_name) == before


def test_ids_are_text(collection: Collection) -> None:
    """Ids that look alike stay apart in topics, docnos, judges and iterations."""
    ids = ["1", "001", "NA", "na", '"x', "2681119#1", "文書", "é", "e\u0301"]
    by_judge = {
        judge: [Qrel(topic, docno, len(judge) % 3, docno) for topic in ids for docno in ids]
        for judge in ("1", "001")
    }
    collection.judgements.add(by_judge, HUMAN)
    found = {(one.judge, one.topic, one.docno): one for one in collection.judgements.current()}
    assert len(found) == 2 * len(ids) ** 2
    for (judge, _, docno), one in found.items():
        assert (one.grade, one.iteration) == (len(judge) % 3, docno)


def test_work_at_desks_only_ever_adds_events(collection: Collection, collection_name: str) -> None:
    """Whatever judges do, no event is changed or removed, and revisions have no gaps."""
    dice = random.Random(11)
    docnos = ["a", "b", "c"]
    collection.pools.add(make_pool({"1": docnos}))
    for judge in ("ann", "bob"):
        collection.judges.add(judge, HUMAN)
    sittings = [JudgeAtWork(collection.desk(judge), "1") for judge in ("ann", "bob", "ann")]
    before = stored_rows(collection_name)["judgement"]
    n_written = 0
    with statements() as sent:
        for _ in range(60):
            sitting = dice.choice(sittings)
            try:
                match dice.randrange(6):
                    case 0 | 1:
                        sitting.grade(dice.choice(docnos), dice.randrange(3))
                    case 2:
                        sitting.act(dice.choice(docnos), Action.SKIP)
                    case 3:
                        sitting.act(dice.choice(docnos), Action.CANNOT, reason="broken")
                    case 4:
                        sitting.act(dice.choice(docnos), Action.NOTE, note=str(dice.random()))
                    case _ if sitting.undo() is None:
                        continue
                n_written += 1
            except ConflictError:
                sitting.look()
        for sitting in sittings:
            sitting.desk.leave()
        collection.judgements.add({"ann": QRELS[:2]}, HUMAN, replace=True)
    changes = re.compile(r"(UPDATE judgement SET \w+|DELETE FROM judgement|INSERT INTO judgement)\b")
    said = {found.group(1) for text, _ in sent if (found := changes.search(text))}
    assert said == {"INSERT INTO judgement", "UPDATE judgement SET digest"}
    after = stored_rows(collection_name)["judgement"]
    assert n_written > 30
    assert len(after) >= len(before) + n_written
    revisions: dict[tuple[int, ...], list[int]] = {}
    for _, topic, document, judge, revision, *_ in after:
        revisions.setdefault((topic, document, judge), []).append(revision)
    for found in revisions.values():
        assert sorted(found) == list(range(1, len(found) + 1))


def test_database_itself_refuses_contradictions(collection: Collection, collection_name: str) -> None:
    """No revision exists twice, and a grade stands if and only if the state is judged."""
    collection.judgements.add({"ann": QRELS}, HUMAN)
    for columns in ("1, 'judged', 1", "2, 'judged', NULL", "2, 'skipped', 1"):
        with pytest.raises(IntegrityError):
            change_stored(
                collection_name,
                "INSERT INTO judgement (topic_id, document_id, judge_id, revision, state, grade,"
                " action, reason, note, iteration, judged_at, dropped_keys)"
                f" SELECT topic_id, document_id, judge_id, {columns}, 'judge', reason, note, '0',"
                " judged_at, 0 FROM judgement WHERE grade = 2",
            )
    assert count_rows(collection_name)["judgement"] == 3


def test_nothing_judged_is_no_judgement(collection: Collection) -> None:
    """A file that says of every line that it is pooled and unjudged makes a judge and a pool."""
    pool = make_pool({"1": ["a"]}, name="unjudged", manifest={"file": "x"})
    assert collection.judgements.add({"ann": []}, HUMAN, pool=pool) == ImportReport()
    assert collection.judgements.current() == []
    assert [judge.name for judge in collection.judges.all()] == ["ann"]
    assert pairs_to_judge(collection) == {("1", "a")}


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
    whats = [one.what for one in collection.history.everything().entries if one.docno]
    assert whats == ["event", "event", "ruling"]
    assert (found.final.grade, found.final.by, found.final.is_ruling) == (1, "zoe", True)
    assert found.ruling_status is Settlement.SETTLED
    ann.grade("a", 2)
    assert collection.history.of_document("1", "a").ruling_status is Settlement.CHANGED


def test_a_ruling_is_held_to_the_grades_that_the_default_qrels_count(collection: Collection) -> None:
    """Where models count, too, it is changed since a model changed its grade, as the adjudicator sees it."""
    (ann,) = fill(collection, "ann")
    collection.judges.add("gpt", JudgeKind.MODEL)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    collection.qrels.define("official", QrelsDefinition(kinds=("human", "model")))
    gpt = JudgeAtWork(collection.desk("gpt"), "1")
    ann.grade("a", 0)
    gpt.grade("a", 2)
    JudgeAtWork(collection.adjudication_desk("zoe", selection=collection.disputes()), "1").grade("a", 1)
    assert collection.history.of_document("1", "a").ruling_status is Settlement.SETTLED
    gpt.grade("a", 1)
    [case] = collection.disagreements.all(collection.disputes())
    assert case.status is Settlement.CHANGED
    assert collection.history.of_document("1", "a").ruling_status is Settlement.CHANGED


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
@settings(max_examples=examples(5))
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

    A model's grade counts for both where no person graded. With one document in the collection, the export's
    only judge is the document's only judge.
    """
    file: Path = tmp_path_factory.mktemp("final") / "c.db"
    with new_collection(str(file)) as made:
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
        why = "cannot" if final.reason == "ruled-cannot" else final.reason
        assert list(exported.left_out.values()) == ([] if final.grade is not None else [why])
        assert why in (None, "cannot", "undecided")
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


def fill(collection: Collection, *judges: str) -> list[JudgeAtWork]:
    """Make two topics, a run of topic 1, a pool of both, and seat people before topic 1."""
    collection.topics.add([Topic("1", "wine"), Topic("2", "beer")])
    collection.runs.add(make_run("bm25", {"1": [("a", 2.0), ("b", 1.0)]}))
    collection.pools.add(make_pool({"1": ["a", "b"], "2": ["a"]}, name="main", round="3"))
    collection.pools.add(make_pool({"2": ["b"]}, name="late"))
    collection.documents.add([Document("a", "A title", "some text"), Document("b", "", "b")])
    for judge in judges:
        collection.judges.add(judge, JudgeKind.HUMAN)
    return [JudgeAtWork(collection.desk(judge), "1") for judge in judges]


def told(found: CollectionEvents) -> list[tuple[Any, ...]]:
    """Return judge, docno, action, and the grades or states before and after, of the events."""
    return [
        (one.judge, one.docno, one.action,
         one.state_before if one.grade_before is None else one.grade_before,
         one.state if one.grade is None else one.grade)
        for one in found.entries
        if one.docno is not None
    ]  # fmt: skip


def things(found: CollectionEvents) -> list[tuple[Any, ...]]:
    """Return what happened beside the events, sorted, with names and versions."""
    return sorted(
        (one.what, one.action, one.name or one.judge or one.topic or "",
         one.guideline_version or one.topic_version or 0)
        for one in found.entries
        if one.docno is None
    )  # fmt: skip


def set_times(name: str, *moments: datetime) -> None:
    """Give the events of a collection, in the order in which they were written, other times."""
    with engine_of(name) as engine:
        zone = "" if engine.dialect.name == "sqlite" else "+00"
    for number, moment in enumerate(moments, 1):
        words = f"{moment:%Y-%m-%d %H:%M:%S.%f}{zone}"
        change_stored(name, f"UPDATE judgement SET judged_at = '{words}' WHERE id = {number}")


def test_events_tell_how_it_stood_before_and_after(collection: Collection) -> None:
    """First grade, change, note, undo, skip: each with the grade before it and after it."""
    ann, bob = fill(collection, "ann", "bob")
    ann.grade("a", 1)
    bob.grade("a", 0)
    ann.grade("a", 2)
    ann.act("a", Action.NOTE, note="odd")
    ann.undo()
    ann.undo()
    bob.act("b", Action.CANNOT, reason="torn")
    found = collection.history.everything()
    assert told(found) == [
        ("ann", "a", "judge", None, 1),
        ("bob", "a", "judge", None, 0),
        ("ann", "a", "judge", 1, 2),
        ("ann", "a", "note", 2, 2),
        ("ann", "a", "undo", 2, 2),
        ("ann", "a", "undo", 2, 1),
        ("bob", "b", "cannot", None, "cannot"),
    ]
    events = [one for one in found.entries if one.docno is not None]
    assert [one.undid for one in events] == [None, None, None, None, 3, 2, None]
    assert [one.has_new_note for one in events] == [False, False, False, True, True, False, False]
    assert (events[-1].reason, events[-1].topic, events[-1].at_desk) == ("torn", "1", True)
    assert found.total == len(found.entries)
    assert [one.at for one in found.entries] == sorted(one.at for one in found.entries)


def test_what_has_a_date_is_told(collection: Collection) -> None:
    """Runs, pools, texts, guidelines, judges, assignments: each once, with what names it."""
    [ann] = fill(collection, "ann")
    collection.guidelines.add("One.")
    collection.guidelines.add("Two.")
    ann.grade("a", 1)
    collection.topics.add([Topic("1", "red wine")], replace=True)
    collection.pools.withdraw("late")
    found = collection.history.everything()
    assert things(found) == [
        ("collection", "made", "test", 0),
        ("guidelines", "set", "", 1),
        ("guidelines", "set", "", 2),
        ("judge", "added", "ann", 0),
        ("pool", "made", "late", 0),
        ("pool", "made", "main", 0),
        ("run", "imported", "bm25", 0),
        ("topic", "changed", "1", 2),
    ]
    assert {one.name: one.withdrawn for one in found.entries if one.what == "pool"} == {
        "main": False,
        "late": True,
    }
    assert [one.title for one in found.entries if one.what == "topic"] == ["red wine"]
    collection.topics.add([Topic("1", "white wine")], replace=True)
    versions = [one for one in collection.history.everything().entries if one.what == "topic"]
    assert [(one.topic_version, one.title) for one in versions][:1] == [(2, "red wine")]


def test_stretch_begins_with_its_first_moment_and_ends_before_its_last(
    collection: Collection, collection_name: str
) -> None:
    """What happens at --since is told, what happens at --until is not, to the microsecond."""
    [ann] = fill(collection, "ann")
    for grade in (0, 1, 2):
        ann.grade("a", grade)
    noon = datetime(2020, 3, 2, 12, tzinfo=UTC)
    tick = timedelta(microseconds=1)
    set_times(collection_name, noon - tick, noon, noon + tick)
    for since, until, grades in (
        (noon, None, [1, 2]),
        (None, noon, [0]),
        (noon, noon + tick, [1]),
        (noon - tick, noon + tick, [0, 1]),
        (noon + 2 * tick, None, []),
    ):
        found = collection.history.everything(HistoryFilter(judges=("ann",), since=since, until=until))
        assert [one.grade for one in found.entries if one.docno] == grades, (since, until)
    later = collection.history.everything(HistoryFilter(since=datetime(2021, 1, 1, tzinfo=UTC)))
    assert told(later) == []
    assert ("judge", "added", "ann", 0) in things(later)


def test_limit_is_part_of_the_query(collection: Collection) -> None:
    """Of many events no more are fetched than are told."""
    [ann] = fill(collection, "ann")
    for number in range(20):
        ann.grade("a", number % 3)
    with statements() as sent:
        found = collection.history.everything(HistoryFilter(limit=2))
    assert [one.revision for one in found.entries] == [19, 20]
    assert found.total == 20 + len(things(collection.history.everything()))
    fetching = [statement for statement, _ in sent if "judgement.note" in statement]
    assert all("LIMIT" in statement for statement in fetching)
    assert len(fetching) == 1


@settings(max_examples=examples(5))
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), st.sampled_from("ab"), st.integers(0, 2),
                  st.integers(0, 5)),
        max_size=12,
    ),
    judges=st.sets(st.sampled_from(["ann", "bob"])),
    since=st.none() | st.integers(0, 6),
    until=st.none() | st.integers(0, 6),
    limit=st.none() | st.integers(1, 5),
)  # fmt: skip
def test_conditions_choose_as_a_plain_loop_does(
    steps: list[tuple[str, str, int, int]], judges: set[str], since: int | None,
    until: int | None, limit: int | None, tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    """Whatever is asked for, it is what a loop over everything would leave, the newest of it."""
    file = str(tmp_path_factory.mktemp("events") / "c.db")
    first = datetime(2031, 1, 1, tzinfo=UTC)

    def day(number: int | None) -> datetime | None:
        return None if number is None else first + timedelta(days=number)

    with new_collection(file) as made:
        ann, bob = fill(made, "ann", "bob")
        for judge, docno, grade, _ in steps:
            {"ann": ann, "bob": bob}[judge].grade(docno, grade)
        set_times(file, *(first + timedelta(days=number) for *_, number in steps))
        asked = HistoryFilter(None, tuple(sorted(judges)), day(since), day(until), limit)
        found = made.history.everything(asked)
        everything = made.history.everything().entries
    counts_at = [  # never before an earlier event of the same judge on the same document
        max(day for *pair, _, day in steps[: number + 1] if pair == list(steps[number][:2]))
        for number in range(len(steps))
    ]
    order = sorted(range(len(steps)), key=lambda number: (counts_at[number], number))
    assert [one.docno for one in everything if one.docno] == [steps[n][1] for n in order]
    plain = [
        one
        for one in everything
        if (not judges or one.judge in judges)
        and (since is None or one.at >= first + timedelta(days=since))
        and (until is None or one.at < first + timedelta(days=until))
    ]
    assert found.total == len(plain)
    assert list(found.entries) == (plain if limit is None else plain[-limit:])
    assert replace(asked, limit=None).holds(first) == (
        (since is None or since <= 0) and (until is None or until > 0)
    )


def elsewhere(folder: Path) -> Collection:
    """Make a collection of guidelines, and of a topic whose text changed before it was judged."""
    made = new_collection(str(folder / "elsewhere.db"))
    made.topics.add([Topic("1", "wine")])
    made.topics.add([Topic("1", "red wine")], replace=True)
    made.guidelines.add("judge well")
    made.pools.add(make_pool({"1": ["a"]}))
    made.judges.add("ann", JudgeKind.HUMAN)
    desk = made.desk("ann")
    desk.topic("1")
    JudgeAtWork(desk, "1").grade("a", 1)
    JudgeAtWork(desk, "1").act("a", Action.NOTE, note="clear")
    desk.leave()
    return made


@pytest.mark.parametrize("is_here", [False, True])
def test_version_is_kept_where_it_is_here(collection: Collection, tmp_path: Path, is_here: bool) -> None:
    """Else it is not known; the same events again are the same, and the collection can be carried."""
    with elsewhere(tmp_path) as source:
        events = list(source.judgements.history())
    assert {(one.guideline_version, one.topic_version) for one in events} == {(1, 2)}
    if is_here:
        collection.topics.add([Topic("1", "wine")])
        collection.topics.add([Topic("1", "red wine")], replace=True)
        collection.guidelines.add("judge well")
    collection.judges.add("ann", JudgeKind.HUMAN)
    assert bring(collection, events) == ImportReport(added=2)
    versions = {(one.guideline_version, one.topic_version) for one in collection.judgements.history()}
    assert versions == {(1, 2) if is_here else (None, None)}
    assert bring(collection, events) == ImportReport(unchanged=2)
    collection.guidelines.add("judge well, and read on")
    assert bring(collection, events) == ImportReport(unchanged=2)
    write_directory(collection.as_it_stands(), tmp_path / "out", ExportChoice(), program="x")
    read_directory(str(tmp_path / "new.db"), tmp_path / "out")
