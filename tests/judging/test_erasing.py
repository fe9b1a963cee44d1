"""Erasing a judge: nothing of them is left but a count, and nobody else is touched."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import inspect

from store.collection import Collection
from store.db.engine import scrub
from store.errors import ConflictError, StoreError
from store.judging.disagreements import Selection
from store.judging.erasing import Shared, removed_words
from store.records import (
    Action,
    AssignmentPlan,
    Decision,
    Document,
    Existing,
    JudgeKind,
    Passage,
    Place,
    Purpose,
    Qrel,
    Scope,
    State,
)
from tests.helpers.places import held_place, places
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, parse_scale, stored_rows

HUMAN = JudgeKind.HUMAN
BYTES = 300_000
"""Of a secret that is spread over many pages of a file."""


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection of five documents, of which bob and others judged some.

    bob grades a 2, b 1 (a second time, with a note and a passage), cannot judge c, skips d. ann
    grades a 0 and c 1; eve, a model, grades a 1. zoe rules on a and b.
    """
    for name in ("ann", "bob"):
        collection.judges.add(name, HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    collection.pools.add(make_pool({"1": list("abcde")}))
    collection.documents.add([Document(docno, text="abc abc") for docno in "abcde"])
    ann, bob = (JudgeAtWork(collection.desk(name), "1") for name in ("ann", "bob"))
    ann.grade("a", 0)
    ann.grade("c", 1)
    bob.grade("a", 2)
    bob.grade("b", 0)
    bob.act("b", Action.JUDGE, grade=1, note="bob was here", passages=(Passage(0, 3, "abc"),))
    bob.act("c", Action.CANNOT, reason="torn")
    bob.act("d", Action.SKIP)
    for one in (ann, bob):
        one.desk.leave()
    collection.judgements.add({"eve": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    rule(collection, "a", 1)
    return collection


def rule(collection: Collection, docno: str, grade: int) -> None:
    """Let zoe rule on a document in disagreement."""
    desk = collection.adjudication_desk("zoe", selection=Selection(kinds=("human", "model")))
    (task,) = [task for task in desk.queue("1") if task.docno == docno]
    desk.record(Decision("1", docno, Action.JUDGE, grade=grade, seen_revision=task.revision))
    desk.leave()


def rest(name: str, judge: int) -> dict[str, Any]:
    """Return what is in a database beside the rows of a judge, by row id."""
    found = stored_rows(name)
    return {
        "judge": [row for row in found["judge"] if row[0] != judge],
        "judgement": [row for row in found["judgement"] if row[3] != judge],
        "sitting": [row for row in found["sitting"] if row[1] != judge],
        "document": found["document"],
        "pool": found["pool"],
        "pool_entry": found["pool_entry"],
    }


def indexes_of(name: str) -> set[str | None]:
    """Return the indexes of events."""
    with engine_of(name) as engine:
        return {index["name"] for index in inspect(engine).get_indexes("judgement")}


@pytest.mark.slow
def test_nothing_is_left_but_a_count(ready: Collection, collection_name: str) -> None:
    """Every row of the judge is gone, every other row is as it was, and the tombstone counts."""
    before, others = stored_rows(collection_name), rest(collection_name, 2)
    uid = next(row[5] for row in before["judge"] if row[1] == "bob")
    moment = datetime.now(UTC)
    indexes = indexes_of(collection_name)
    ready.erasures.erase("bob")
    after = stored_rows(collection_name)
    assert indexes_of(collection_name) == indexes
    assert rest(collection_name, 2) == others
    assert [row[1] for row in after["judge"]] == ["ann", "zoe", "eve"]
    assert {row[3] for row in after["judgement"]} == {1, 3, 4}
    assert after["passage"] == []
    assert len(after["sitting"]) == len(before["sitting"]) - 1
    (erasure,) = ready.erasures.all()
    assert (erasure.uid, erasure.kind, erasure.judgements, erasure.events) == (uid, HUMAN, 2, 5)
    assert moment <= erasure.erased_at <= datetime.now(UTC)
    assert not any("bob" in str(cell) for rows in after.values() for row in rows for cell in row)


def test_what_goes_is_counted_before(ready: Collection, collection_name: str) -> None:
    """A dry run says all that erasing then takes, and changes nothing."""
    before = stored_rows(collection_name)
    would = ready.erasures.erase("bob", dry_run=True)
    assert stored_rows(collection_name) == before
    assert would == ready.erasures.erase("bob")
    assert (would.judgements, would.cannot, would.skipped, would.events) == (2, 1, 1, 5)
    assert (would.notes, would.passages, would.sittings) == (2, 1, 1)
    # a keeps the grades of ann and eve; b was bob's alone.
    assert (would.kept, would.lost) == (1, 1)
    assert would.shared == (Shared("ann", 1), Shared("eve", 1))
    assert would.rulings == 1
    assert would.in_notes == 0


@pytest.mark.slow
def test_state_of_documents_is_as_if_the_judge_had_never_been(ready: Collection, tmp_path: Path) -> None:
    """Progress, agreement and inboxes are those of a collection made without the judge."""
    ready.erasures.erase("bob")
    scale = parse_scale("0-2")
    name = str(tmp_path / "without.db")
    with Collection.create(name, name="x", scale=scale, program="x") as other:
        other.judges.add("ann", HUMAN)
        other.judges.add("zoe", JudgeKind.ADJUDICATOR)
        other.pools.add(make_pool({"1": list("abcde")}))
        ann = JudgeAtWork(other.desk("ann"), "1")
        ann.grade("a", 0)
        ann.grade("c", 1)
        other.judgements.add({"eve": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
        rule(other, "a", 1)
        counted, expected = ready.progress.counts(), other.progress.counts()
        for field in fields(counted):
            assert np.array_equal(getattr(counted, field.name), getattr(expected, field.name)), field.name
        assert ready.grades.votes() is not None
        for one in (ready, other):
            assert {task.docno: task.state for task in one.desk("ann").queue("1")} == {
                "a": State.JUDGED, "b": State.UNJUDGED, "c": State.JUDGED, "d": State.UNJUDGED,
                "e": State.UNJUDGED,
            }  # fmt: skip
        assert [(line.topic, line.counts) for line in ready.lists.topics()] == [
            (line.topic, line.counts) for line in other.lists.topics()
        ]


def test_rulings_of_an_erased_adjudicator_go(ready: Collection, collection_name: str) -> None:
    """The judges' grades count again; they are not said to lose any."""
    would = ready.erasures.erase("zoe")
    assert would.is_adjudicator
    assert (would.judgements, would.kept, would.lost, would.shared, would.rulings) == (
        1, 0, 0, (), 0,
    )  # fmt: skip
    assert ready.history.of_document("1", "a").final.reason == "undecided"
    (erasure,) = ready.erasures.all()
    assert (erasure.kind, erasure.judgements) == (JudgeKind.ADJUDICATOR, 1)


def test_places_by_name_go_and_claims_are_open_again(ready: Collection, collection_name: str) -> None:
    """Whoever comes may claim what the judge had claimed; what was assigned by name is counted."""
    held_place(collection_name, "1", "ab", "bob")
    held_place(collection_name, "1", "b", "ann")
    held_place(collection_name, "1", "cd", "bob", lease_s=600)
    done = ready.erasures.erase("bob")
    assert (done.places, done.reopened, done.unassigned) == (2, 2, 1)  # a has no place then
    assert not done.is_last_assigned
    assert [place[:3] for place in places(collection_name)] == [
        ("1", "b", "ann"), ("1", "c", None), ("1", "d", None),
    ]  # fmt: skip
    assert ready.desk("ann").claim("1")
    assert {docno for _, docno, judge, _ in places(collection_name) if judge == "ann"} == set("bd")


def test_end_of_all_assignment_is_told(ready: Collection, collection_name: str) -> None:
    """Where all places were the judge's, everybody is shown the whole pool then."""
    held_place(collection_name, "1", "ab", "bob")
    assert ready.desk("ann").queue("1") == []
    assert ready.erasures.erase("bob").is_last_assigned
    assert len(ready.desk("ann").queue("1")) == 5


def test_name_goes_from_plans_and_rounds(ready: Collection, collection_name: str) -> None:
    """`erased` stands where the name stood; a judge whose name holds it keeps the own."""
    ready.judges.add("bob-2", HUMAN)
    ready.pools.add(make_pool({"2": ["a"]}, name="unjudged-bob", round="bob"))
    manifest = {"judges": ["ann", "bob", "bob-2"], "seed": 3, "pools": ["unjudged-bob"]}
    places_made = [Place("2", "a", "ann", Purpose.PRIMARY, 0, "docno")]
    ready.assignments.make(Scope(), lambda _open: AssignmentPlan(places_made, manifest),
                 existing=Existing.REFUSE)  # fmt: skip
    change_stored(collection_name, "UPDATE judgement SET note = :note WHERE judge_id = 1",
            note=b"bob says 2, bob-2 says 1")  # fmt: skip
    done = ready.erasures.erase("bob")
    assert (done.named.plans, dict(done.named.pools)) == (1, {"unjudged-bob": "unjudged-erased"})
    assert done.in_notes == 2  # ann's, of two documents, which stay as they are
    assert ready.pools.all()[1].name == "unjudged-erased"
    plan = stored_rows(collection_name)["assignment_plan"][0][1]
    assert plan == '{"judges": ["ann", "bob-2", "erased"], "pools": ["unjudged-erased"]}'
    again = ready.erasures.erase("bob-2")
    assert again.named.plans == 1
    assert len(ready.erasures.all()) == 2


def test_judge_at_work_is_not_erased(ready: Collection, collection_name: str) -> None:
    """Nothing changes while a sitting is alive."""
    bob = JudgeAtWork(ready.desk("bob"), "1")
    bob.grade("e", 1)
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match="judge `bob` is at work"):
        ready.erasures.erase("bob")
    assert stored_rows(collection_name) == before


def test_desk_of_an_erased_judge_saves_nothing(ready: Collection, collection_name: str) -> None:
    """A screen that was left open says in words that the judge is gone, whatever is tried."""
    desk = ready.desk("bob")
    asleep = JudgeAtWork(desk, "1")
    asleep.grade("e", 1)
    fresh = ready.desk("bob")
    change_stored(collection_name, "UPDATE sitting SET seen_at = '2001-01-01 00:00:00.000000'")
    ready.erasures.erase("bob")
    before = stored_rows(collection_name)
    for attempt in (
        lambda: asleep.grade("a", 0),
        lambda: fresh.record(Decision("1", "a", Action.SKIP)),
        lambda: fresh.beat("1"),
        lambda: desk.claim("1"),
        desk.leave,
    ):
        with pytest.raises(StoreError, match="judge `bob` is no longer in the collection"):
            attempt()
    assert stored_rows(collection_name) == before


def test_no_byte_is_left_in_the_file(tmp_path: Path) -> None:
    """Neither the name nor a note can be found in the file or its log, in any encoding."""
    file = tmp_path / "c.db"
    secret, name = "Geheimnis-水道橋-7261", "Zacharias-the-Judge"
    with Collection.create(str(file), name="x", scale=parse_scale("0-2"), program="x") as made:
        made.judges.add(name, HUMAN)
        made.judges.add("ann", HUMAN)
        made.pools.add(make_pool({"1": [f"d{number}" for number in range(60)]}))
        for judge in (name, "ann"):
            sitting = JudgeAtWork(made.desk(judge), "1")
            for docno in sitting.tasks:
                note = secret * (BYTES // 60 // len(secret)) if judge == name else "fine"
                sitting.act(docno, Action.JUDGE, grade=1, note=note)
            sitting.desk.leave()
        made.judges.rename("ann", "anna")
        assert found_in(tmp_path, secret, name) == {secret, name}
        assert made.erasures.erase(name).scrubbed == "done"
        assert found_in(tmp_path, secret, name) == set()
        assert len(made.judgements.current(["anna"])) == 60


def test_bytes_of_what_was_removed_before_go_too(tmp_path: Path) -> None:
    """A note that was replaced long ago, by a program that overwrote nothing, is not found."""
    file = tmp_path / "c.db"
    with Collection.create(str(file), name="x", scale=parse_scale("0-2"), program="x") as made:
        made.judges.add("ann", HUMAN)
        made.judgements.add({"ann": [Qrel("1", "a", 1)]}, HUMAN)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        for note in (b"Geheimnis" * 2000, b""):
            connection.execute("UPDATE judgement SET note = ?", (note,))
            connection.commit()
    with Collection(str(file)) as opened:
        assert found_in(tmp_path, "Geheimnis") == {"Geheimnis"}
        assert opened.erasures.erase("ann").scrubbed == "done"
        assert found_in(tmp_path, "Geheimnis") == set()


def found_in(folder: Path, *words: str) -> set[str]:
    """Return the words whose bytes are in a file of a folder."""
    content = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
    codes = ("utf-8", "utf-16-le", "utf-16-be")
    return {word for word in words if any(word.encode(code) in content for code in codes)}


@pytest.mark.slow
def test_bytes_go_with_the_last_who_reads(tmp_path: Path) -> None:
    """While another program reads, the old pages are kept for it; once it is closed nothing is left."""
    file = tmp_path / "c.db"
    with Collection.create(str(file), name="x", scale=parse_scale("0-2"), program="x") as made:
        made.judges.add("Zacharias", HUMAN)
        made.judgements.add({"Zacharias": [Qrel("1", "a", 1)]}, HUMAN)
    with engine_of(str(file)) as engine, engine.connect() as reader:
        reader.exec_driver_sql("SELECT * FROM judge").all()
        with Collection(str(file)) as opened:
            assert opened.erasures.erase("Zacharias").scrubbed == "open-elsewhere"
        assert found_in(tmp_path, "Zacharias") == {"Zacharias"}
    assert found_in(tmp_path, "Zacharias") == set()


def test_file_that_another_program_writes_is_not_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are overwritten, and the answer says that the file was not written anew."""
    file = str(tmp_path / "c.db")
    with Collection.create(file, name="x", scale=parse_scale("0-2"), program="x") as made:
        made.judges.add("Zacharias", HUMAN)
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    with engine_of(file) as engine, closing(sqlite3.connect(file)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert scrub(engine) == "not-rewritten"


def test_bytes_of_a_server_are_not_touched(postgres_url: str) -> None:
    """PostgreSQL is told apart: vacuuming is for whoever runs it."""
    scale = parse_scale("0-2")
    with Collection.create(postgres_url, name="x", scale=scale, program="x") as made:
        made.judges.add("ann", HUMAN)
        assert made.judges.rename("ann", "anna").scrubbed == "not-here"
        assert made.erasures.erase("anna").scrubbed == "not-here"


def test_what_is_gone_is_told_in_words() -> None:
    """Judgements of one or of several judges; nothing where nobody was erased."""
    assert removed_words([31]) == "31 judgements of an erased judge removed"
    assert removed_words([1]) == "1 judgement of an erased judge removed"
    assert removed_words([1200, 3]) == "1,203 judgements of 2 erased judges removed"
    assert removed_words([]) == ""
