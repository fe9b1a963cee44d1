"""Judgements: appended, never changed; the newest event is the state."""

from __future__ import annotations

import random
import re

import pytest
from sqlalchemy.exc import IntegrityError

from store.collection import Collection
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.records import Action, ImportReport, JudgeKind, Judgement, Qrel, State
from tests.helpers.world import (
    JudgeAtWork,
    change_stored,
    count_rows,
    make_pool,
    pairs_to_judge,
    parse_scale,
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


def test_same_judgements_again_change_nothing(
    collection: Collection, collection_name: str
) -> None:  # fmt: skip
    """Importing the same file again is counted and writes nothing."""
    pool = make_pool({"1": ["a", "c"]}, name="unjudged", manifest={"file": "x"})
    collection.judgements.add({"ann": QRELS}, HUMAN, pool=pool)
    before = stored_rows(collection_name)
    for replace in (False, True):
        report = collection.judgements.add({"ann": QRELS}, HUMAN, pool=pool, replace=replace)
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
    with Collection.create(postgres_url, name="x", scale=parse_scale("0-2"), program="x") as one:
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


def test_grade_off_the_scale_is_refused(collection: Collection, collection_name: str) -> None:
    """No grade that was not declared is stored, whoever brings it."""
    before = stored_rows(collection_name)
    for grade in (3, -1):
        with pytest.raises(ArgumentError, match=r"`grade` must be one of \(0, 1, 2\)"):
            collection.judgements.add({"ann": [*QRELS, Qrel("9", "z", grade)]}, HUMAN)
    assert stored_rows(collection_name) == before


def test_judge_of_another_kind_is_refused(collection: Collection, collection_name: str) -> None:
    """A file cannot make a person's name stand for a model, and nothing of it is kept."""
    collection.judges.add("ann", HUMAN)
    before = stored_rows(collection_name)
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
