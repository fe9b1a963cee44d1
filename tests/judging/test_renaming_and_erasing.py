"""Judges renamed without a trace and erased but for a count, shown first, asked for, and said ever after."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import inspect, text

from store.collection import Collection
from store.db.engine import scrub
from store.errors import ConflictError, StoreError
from store.judging.disagreements import Selection
from store.judging.erasing import Shared, removed_words
from store.judging.judges import Disguise
from store.records import (
    Action,
    AssignmentPlan,
    Decision,
    Document,
    Existing,
    Judge,
    JudgeKind,
    Passage,
    Place,
    Purpose,
    Qrel,
    Scope,
    State,
)
from tests.helpers.places import held_place, places
from tests.helpers.run import Cli
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, new_collection, stored_rows

HUMAN = JudgeKind.HUMAN


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection whose judges bob, bob-2 and eve judged, and stand in plans and rounds.

    bob holds an order of his own, and wrote a note and a reason; ed's round is called bob.
    """
    for name in ("bob", "bob-2", "eve"):
        collection.judges.add(name, HUMAN)
    collection.pools.add(make_pool({"1": list("abc")}, name="main"))
    collection.pools.add(make_pool({"2": ["a"]}, name="unjudged-bob", round="bob",
                                  manifest={"strategy": "imported", "file": "bob.qrels",
                                            "name": "unjudged-bob", "round": "bob"}))  # fmt: skip
    places = [
        Place("1", docno, judge, Purpose.PRIMARY, position, "docno" if seed is None else "random", seed)
        for judge, seed in (("bob", 77), ("eve", None), ("bob-2", 78))
        for position, docno in enumerate("abc")
    ]
    manifest = {"judges": ["eve", "bob", "bob-2"], "seed": 7, "pools": ["main", "unjudged-bob"]}
    collection.assignments.make(Scope(), lambda _open: AssignmentPlan(places, manifest),
                      existing=Existing.REFUSE)  # fmt: skip
    bob = JudgeAtWork(collection.desk("bob", program="pooler 9"), "1")
    bob.act("a", Action.JUDGE, grade=2, note="as bob said")
    bob.act("b", Action.CANNOT, reason="my reader broke")
    bob.grade("a", 1)
    bob.desk.leave()
    collection.judgements.add({"ed": [Qrel("1", "a", 1, "bob")]}, JudgeKind.IMPORTED)
    return collection


def manifests(name: str, table: str) -> list[dict[str, object]]:
    """Return the manifests of a table, the oldest first."""
    with engine_of(name) as engine, engine.connect() as connection:
        rows = connection.execute(text(f"SELECT manifest FROM {table} ORDER BY id"))
        return [json.loads(row.manifest) for row in rows]


def column(name: str, query: str) -> list[object]:
    """Return what a query of one column finds."""
    with engine_of(name) as engine, engine.connect() as connection:
        return list(connection.execute(text(query)).scalars())


def test_renamed_judge_is_the_same_judge(ready: Collection, collection_name: str) -> None:
    """The name changes wherever it stood; grades, times and the identity number do not."""
    before = stored_rows(collection_name)
    done = ready.judges.rename("bob", "robert")
    after = stored_rows(collection_name)
    assert ready.judges.all() == [
        Judge(name, kind) for name, kind in
        (("bob-2", HUMAN), ("ed", JudgeKind.IMPORTED), ("eve", HUMAN), ("robert", HUMAN))
    ]  # fmt: skip
    changed = {table for table, rows in after.items() if rows != before[table]}
    assert changed == {"judge", "pool", "assignment_plan", "judgement", "digest"}
    assert (done.named.plans, dict(done.named.pools), done.named.events) == (
        2, {"unjudged-bob": "unjudged-robert"}, 1,
    )  # fmt: skip
    uids = {row[1]: row[5] for row in before["judge"]}
    assert {row[1]: row[5] for row in after["judge"]} == {
        ("robert" if name == "bob" else name): uid for name, uid in uids.items()
    }
    assert [row[6] is not None for row in sorted(after["judge"])] == [True, False, False, False]


def test_old_name_stands_nowhere_but_in_notes(ready: Collection, collection_name: str) -> None:
    """Manifests, pools' names and rounds, and rounds of events have the new one; plans keep their seed."""
    done = ready.judges.rename("bob", "robert")
    assert manifests(collection_name, "pool")[1] == {
        "strategy": "imported", "file": "robert.qrels", "name": "unjudged-robert", "round": "robert",
    }  # fmt: skip
    assert manifests(collection_name, "assignment_plan")[0] == {
        "judges": ["bob-2", "eve", "robert"], "seed": 7, "pools": ["main", "unjudged-robert"],
    }  # fmt: skip
    assert column(collection_name, "SELECT iteration FROM judgement ORDER BY id")[-1] == "robert"
    assert column(collection_name, "SELECT round FROM pool ORDER BY id") == ["0", "robert"]
    cells = [str(cell) for rows in stored_rows(collection_name).values() for row in rows for cell in row]
    named = [cell for cell in cells if "bob" in cell.replace("bob-2", "")]
    assert named == [str(b"as bob said")] * 2  # the note, and the event that kept it
    assert done.in_notes == 1


def test_judge_at_work_goes_on_under_the_new_name(ready: Collection) -> None:
    """A desk that was open before saves as the renamed judge, and is told of."""
    eve = JudgeAtWork(ready.desk("eve"), "1")
    eve.grade("a", 0)
    (live,) = ready.judges.rename("eve", "eva").live
    assert live.host
    eve.grade("b", 2)
    grades = {one.docno: one.grade for one in ready.judgements.current(["eva"])}
    assert grades == {"a": 0, "b": 2}


def test_names_are_replaced_as_words_of_their_own() -> None:
    """A name within another word stays."""
    disguise = Disguise({"ann": "judge-2", "bob": "judge-1"})
    assert disguise.name("ann") == "judge-2"
    assert disguise.within("unjudged-ann") == "unjudged-judge-2"
    assert disguise.within("annotated") == "annotated"
    assert disguise.within("annさん") == "judge-2さん"
    assert disguise.note("Ann and bob: annotated") == "[judge] and [judge]: annotated"


BYTES = 300_000
"""Of a secret that is spread over many pages of a file."""


@pytest.fixture
def five(collection: Collection) -> Collection:
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
def test_nothing_is_left_but_a_count(five: Collection, collection_name: str) -> None:
    """Every row of the judge is gone, every other row is as it was, and the tombstone counts."""
    before, others = stored_rows(collection_name), rest(collection_name, 2)
    uid = next(row[5] for row in before["judge"] if row[1] == "bob")
    moment = datetime.now(UTC)
    indexes = indexes_of(collection_name)
    five.erasures.erase("bob")
    after = stored_rows(collection_name)
    assert indexes_of(collection_name) == indexes
    assert rest(collection_name, 2) == others
    assert [row[1] for row in after["judge"]] == ["ann", "zoe", "eve"]
    assert {row[3] for row in after["judgement"]} == {1, 3, 4}
    assert after["passage"] == []
    assert len(after["sitting"]) == len(before["sitting"]) - 1
    (erasure,) = five.erasures.all()
    assert (erasure.uid, erasure.kind, erasure.judgements, erasure.events) == (uid, HUMAN, 2, 5)
    assert moment <= erasure.erased_at <= datetime.now(UTC)
    assert not any("bob" in str(cell) for rows in after.values() for row in rows for cell in row)


def test_what_goes_is_counted_before(five: Collection, collection_name: str) -> None:
    """A dry run says all that erasing then takes, and changes nothing."""
    before = stored_rows(collection_name)
    would = five.erasures.erase("bob", dry_run=True)
    assert stored_rows(collection_name) == before
    assert would == five.erasures.erase("bob")
    assert (would.judgements, would.cannot, would.skipped, would.events) == (2, 1, 1, 5)
    assert (would.notes, would.passages, would.sittings) == (2, 1, 1)
    # a keeps the grades of ann and eve; b was bob's alone.
    assert (would.kept, would.lost) == (1, 1)
    assert would.shared == (Shared("ann", 1), Shared("eve", 1))
    assert would.rulings == 1
    assert would.in_notes == 0


@pytest.mark.slow
def test_state_of_documents_is_as_if_the_judge_had_never_been(five: Collection, tmp_path: Path) -> None:
    """Progress, agreement and inboxes are those of a collection made without the judge."""
    five.erasures.erase("bob")
    with new_collection(str(tmp_path / "without.db")) as other:
        other.judges.add("ann", HUMAN)
        other.judges.add("zoe", JudgeKind.ADJUDICATOR)
        other.pools.add(make_pool({"1": list("abcde")}))
        ann = JudgeAtWork(other.desk("ann"), "1")
        ann.grade("a", 0)
        ann.grade("c", 1)
        other.judgements.add({"eve": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
        rule(other, "a", 1)
        counted, expected = five.progress.counts(), other.progress.counts()
        for field in fields(counted):
            assert np.array_equal(getattr(counted, field.name), getattr(expected, field.name)), field.name
        assert five.grades.votes() is not None
        for one in (five, other):
            assert {task.docno: task.state for task in one.desk("ann").queue("1")} == {
                "a": State.JUDGED, "b": State.UNJUDGED, "c": State.JUDGED, "d": State.UNJUDGED,
                "e": State.UNJUDGED,
            }  # fmt: skip
        assert [(line.topic, line.counts) for line in five.lists.topics()] == [
            (line.topic, line.counts) for line in other.lists.topics()
        ]


def test_rulings_of_an_erased_adjudicator_go(five: Collection, collection_name: str) -> None:
    """The judges' grades count again; they are not said to lose any."""
    would = five.erasures.erase("zoe")
    assert would.is_adjudicator
    assert (would.judgements, would.kept, would.lost, would.shared, would.rulings) == (
        1, 0, 0, (), 0,
    )  # fmt: skip
    assert five.history.of_document("1", "a").final.reason == "undecided"
    (erasure,) = five.erasures.all()
    assert (erasure.kind, erasure.judgements) == (JudgeKind.ADJUDICATOR, 1)


def test_places_by_name_go_and_claims_are_open_again(five: Collection, collection_name: str) -> None:
    """Whoever comes may claim what the judge had claimed; what was assigned by name is counted."""
    held_place(collection_name, "1", "ab", "bob")
    held_place(collection_name, "1", "b", "ann")
    held_place(collection_name, "1", "cd", "bob", lease_s=600)
    done = five.erasures.erase("bob")
    assert (done.places, done.reopened, done.unassigned) == (2, 2, 1)  # a has no place then
    assert not done.is_last_assigned
    assert [place[:3] for place in places(collection_name)] == [
        ("1", "b", "ann"), ("1", "c", None), ("1", "d", None),
    ]  # fmt: skip
    assert five.desk("ann").claim("1")
    assert {docno for _, docno, judge, _ in places(collection_name) if judge == "ann"} == set("bd")


def test_end_of_all_assignment_is_told(five: Collection, collection_name: str) -> None:
    """Where all places were the judge's, everybody is shown the whole pool then."""
    held_place(collection_name, "1", "ab", "bob")
    assert five.desk("ann").queue("1") == []
    assert five.erasures.erase("bob").is_last_assigned
    assert len(five.desk("ann").queue("1")) == 5


def test_name_goes_from_plans_and_rounds(five: Collection, collection_name: str) -> None:
    """`erased` stands where the name stood; a judge whose name holds it keeps the own."""
    five.judges.add("bob-2", HUMAN)
    five.pools.add(make_pool({"2": ["a"]}, name="unjudged-bob", round="bob"))
    manifest = {"judges": ["ann", "bob", "bob-2"], "seed": 3, "pools": ["unjudged-bob"]}
    places_made = [Place("2", "a", "ann", Purpose.PRIMARY, 0, "docno")]
    five.assignments.make(Scope(), lambda _open: AssignmentPlan(places_made, manifest),
                 existing=Existing.REFUSE)  # fmt: skip
    change_stored(collection_name, "UPDATE judgement SET note = :note WHERE judge_id = 1",
            note=b"bob says 2, bob-2 says 1")  # fmt: skip
    done = five.erasures.erase("bob")
    assert (done.named.plans, dict(done.named.pools)) == (1, {"unjudged-bob": "unjudged-erased"})
    assert done.in_notes == 2  # ann's, of two documents, which stay as they are
    assert five.pools.all()[1].name == "unjudged-erased"
    plan = stored_rows(collection_name)["assignment_plan"][0][1]
    assert plan == '{"judges": ["ann", "bob-2", "erased"], "pools": ["unjudged-erased"]}'
    again = five.erasures.erase("bob-2")
    assert again.named.plans == 1
    assert len(five.erasures.all()) == 2


def test_judge_at_work_is_not_erased(five: Collection, collection_name: str) -> None:
    """Nothing changes while a sitting is alive."""
    bob = JudgeAtWork(five.desk("bob"), "1")
    bob.grade("e", 1)
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match="judge `bob` is at work"):
        five.erasures.erase("bob")
    assert stored_rows(collection_name) == before


def test_desk_of_an_erased_judge_saves_nothing(five: Collection, collection_name: str) -> None:
    """A screen that was left open says in words that the judge is gone, whatever is tried."""
    desk = five.desk("bob")
    asleep = JudgeAtWork(desk, "1")
    asleep.grade("e", 1)
    fresh = five.desk("bob")
    change_stored(collection_name, "UPDATE sitting SET seen_at = '2001-01-01 00:00:00.000000'")
    five.erasures.erase("bob")
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
    """Neither the name nor a note can be found in the file or its log, in any encoding.

    Nor can the old name of a judge with a new one, wherever it stood.
    """
    file = tmp_path / "c.db"
    secret, name, old = "Geheimnis-水道橋-7261", "Zacharias-the-Judge", "Wilhelmina-7261"
    with new_collection(str(file)) as made:
        made.judges.add(name, HUMAN)
        made.judges.add(old, HUMAN)
        manifest = {"strategy": "imported", "file": f"{old}.qrels"}
        made.pools.add(make_pool({"1": [f"d{number}" for number in range(60)]},
                                 name=f"unjudged-{old}", round=old, manifest=manifest))  # fmt: skip
        for judge in (name, old):
            sitting = JudgeAtWork(made.desk(judge), "1")
            for docno in sitting.tasks:
                note = secret * (BYTES // 60 // len(secret)) if judge == name else "fine"
                sitting.act(docno, Action.JUDGE, grade=1, note=note)
            sitting.desk.leave()
        assert found_in(tmp_path, secret, name, old) == {secret, name, old}
        assert made.judges.rename(old, "anna").scrubbed == "done"
        assert found_in(tmp_path, secret, name, old) == {secret, name}
        assert made.erasures.erase(name).scrubbed == "done"
        assert found_in(tmp_path, secret, name) == set()
        assert len(made.judgements.current(["anna"])) == 60


def test_bytes_of_what_was_removed_before_go_too(tmp_path: Path) -> None:
    """A note that was replaced long ago, by a program that overwrote nothing, is not found."""
    file = tmp_path / "c.db"
    with new_collection(str(file)) as made:
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


def test_file_that_another_program_writes_is_not_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are overwritten, and the answer says that the file was not written anew."""
    file = str(tmp_path / "c.db")
    with new_collection(file) as made:
        made.judges.add("Zacharias", HUMAN)
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    with engine_of(file) as engine, closing(sqlite3.connect(file)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert scrub(engine) == "not-rewritten"


def test_bytes_of_a_server_are_not_touched(postgres_url: str) -> None:
    """PostgreSQL is told apart: vacuuming is for whoever runs it."""
    with new_collection(postgres_url) as made:
        made.judges.add("ann", HUMAN)
        assert made.judges.rename("ann", "anna").scrubbed == "not-here"
        assert made.erasures.erase("anna").scrubbed == "not-here"


def test_what_is_gone_is_told_in_words() -> None:
    """Judgements of one or of several judges; nothing where nobody was erased."""
    assert removed_words([31]) == "31 judgements of an erased judge removed"
    assert removed_words([1]) == "1 judgement of an erased judge removed"
    assert removed_words([1200, 3]) == "1,203 judgements of 2 erased judges removed"
    assert removed_words([]) == ""


def test_renamed_judge_keeps_everything(cli: Cli, judged: Path) -> None:
    """Judgements, assignments and plans go by the new name; the old one is not known any more."""
    cli("judges", "add", "anna", "ben").fine()
    cli("assign", "--seed", "1").fine()
    answer = cli("judges", "rename", "anna", "hanna").fine()
    assert (answer.out, answer.err) == (
        "", "judge anna is hanna now\n1 plan named the judge, and now uses the new name\n"
        "the file was rewritten: no byte of what was removed is left in it\n"
        "backups and exports made before are unchanged: they have the old name\n",
    )  # fmt: skip
    rows = cli("show", "judges", "--format", "json").fine().json()
    assert [row["judge"] for row in rows] == ["ben", "hanna", "lenient", "middle", "strict"]
    assert "unknown judge `anna`" in cli("show", "judges", "anna").failed(1).err
    assert cli("show", "judges", "hanna", "--format", "json").fine().known()["assigned"] == 42
    cli("judges", "rename", "strict", "厳しい").fine()
    assert "厳しい" in cli("show", "judges").fine().out


def test_no_name_is_taken_from_anybody(cli: Cli, judged: Path) -> None:
    """A name in use, or one that is none, is refused with what to do."""
    before = cli("export", "judgements").fine().out
    refused = cli("judges", "rename", "strict", "middle").failed(3)
    assert "error: there is a judge `middle` already" in refused.err
    assert "hint: two judges stay two: choose another name" in refused.err
    assert "`NEW` must be one word" in cli("judges", "rename", "strict", "a b").failed(1).err
    assert "unknown judge `strit`" in cli("judges", "rename", "strit", "x").failed(1).err
    cli("judges", "rename", "strict").failed(2)
    assert cli("export", "judgements").fine().out == before


def test_pools_and_rounds_named_after_the_judge_are_told(cli: Cli, judged: Path) -> None:
    """They have the new name, and so has the file: the old one is in no byte of it."""
    cli("pool", "--depth", "6", "--name", "again-strict", "--round", "strict").fine()
    cli("pool", "--depth", "7", "--name", "more", "--round", "strict").fine()
    answer = cli("judges", "rename", "strict", "stern").fine()
    assert "pool again-strict is again-stern now" in answer.err
    assert "the round of pool more is renamed" in answer.err
    assert [row["round"] for row in cli("show", "pools", "--format", "json").json()][1:] == ["stern", "stern"]
    assert b"strict" not in (judged / "collection.db").read_bytes()


def test_notes_that_name_the_judge_stay_and_are_counted(cli: Cli, judged: Path) -> None:
    """Words of judges are never changed."""
    note = {"topic": "G01", "docno": "KG-E-002", "judge": "carla", "kind": "human", "state": "judged",
            "grade": 1, "reason": "", "note": "as strict says", "iteration": "0"}  # fmt: skip
    (judged / "notes.jsonl").write_text(json.dumps(note) + "\n", "utf-8")
    cli("import", "judgements", "notes.jsonl", "--as", "jsonl").fine()
    answer = cli("judges", "rename", "strict", "stern").fine()
    assert "the old name stays in 1 note or reason" in answer.err
    assert "as strict says" in cli("export", "judgements", "carla").fine().out


def test_plan_by_topic_names_nobody_any_more(cli: Cli, judged: Path) -> None:
    """Renamed, erased, exported without names: nothing tells who was to judge which topic."""
    cli("judges", "add", "anna", "ben").fine()
    topics = [row["topic"] for row in cli("show", "topics", "--format", "json").json()]
    lines = [f"{topic}\t{('anna', 'ben')[place % 2]}\n" for place, topic in enumerate(topics)]
    (judged / "authors.tsv").write_text("".join(lines), "utf-8")
    cli("assign", "--topic-judges", "authors.tsv").fine()
    cli("qrels", "define", "official", "--aggregate", "min").fine()
    cli("export", "collection", "public", "--anonymised").fine()
    files = [path for path in (judged / "public").rglob("*") if path.is_file()]
    assert [path.name for path in files if b"anna" in path.read_bytes()] == []
    cli("judges", "rename", "anna", "hanna").fine()
    assert b"anna" not in (judged / "collection.db").read_bytes().replace(b"hanna", b"")
    cli("judges", "erase", "hanna", "--yes").fine()
    assert b"hanna" not in (judged / "collection.db").read_bytes()


GONE = "84 judgements of an erased judge removed"


def test_dry_run_shows_and_changes_nothing(cli: Cli, judged: Path) -> None:
    """What goes with the judge and what stays, in numbers that programs read too."""
    before = stored_rows("collection.db")
    told = cli("judges", "erase", "strict", "--dry-run").fine()
    assert "nothing is changed" in told.out
    assert "84" in told.out
    found = cli("judges", "erase", "strict", "--dry-run", "--format", "json").fine().json()
    numbers = {row["what"]: row["number"] for row in found["erasing"]}
    assert {what: number for what, number in numbers.items() if number} == {
        "judgements": 84, "events": 84, "kept": 84,
    }  # fmt: skip
    assert "notes_naming" in numbers
    assert found["pairs"] == [
        {"judge": "lenient", "documents": 84}, {"judge": "middle", "documents": 84},
    ]  # fmt: skip
    assert stored_rows("collection.db") == before


def test_nothing_happens_without_a_yes(cli: Cli, judged: Path) -> None:
    """What would go is shown before the question; no answer is no."""
    before = stored_rows("collection.db")
    refused = cli("judges", "erase", "strict").failed(1)
    assert refused.err == (
        "  84 judgements\n"
        "  84 events in all, taken back or not\n"
        "  84 judged documents that other judges graded too: they keep those grades\n"
        "  the agreement with lenient (84), middle (84) is lost; in brackets, documents both graded\n"
        "Erase judge strict? This cannot be undone. Type yes to continue:\n"
        "error: nothing was changed: the answer was not yes\n"
        "hint: --yes continues without asking\n"
    )
    assert "unknown judge `strikt`" in cli("judges", "erase", "strikt", "--yes").failed(1).err
    assert stored_rows("collection.db") == before


def test_what_goes_is_worded_by_its_number(cli: Cli, judged: Path) -> None:
    """One of a thing is one; that a ruling keeps the grades it rests on is said beforehand."""
    qrels = judged / "one.qrels"
    qrels.write_text("G01 0 KG-E-002 1\n", "utf-8")
    cli("import", "judgements", qrels, "--judge", "ann", "--kind", "human").fine()
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    settle = ("adjudicate", "--judge", "zoe", "--topic", "G01", "--plain")
    none = cli(*settle, stdin=b"2\nq\n")
    assert "left out: 3 models (qrels define --kinds human,model counts both)" in none.err
    assert "there is nothing to adjudicate" in none.err
    cli("qrels", "define", "all", "--kinds", "human,model").fine()
    cli(*settle, "--qrels", "all", stdin=b"2\nq\n").fine()
    told = cli("judges", "erase", "ann").failed(1).err
    assert told.startswith(
        "  1 judgement\n  1 event in all, taken back or not\n"
        "  1 judged document that other judges graded too: it keeps those grades\n"
        "  1 ruling of an adjudicator that also rests on theirs: it stays, and so does what it"
        " rests on: the grades that the adjudicator saw, without names\n"
    )
    rulings = cli("judges", "erase", "zoe").failed(1).err
    assert rulings.startswith("  1 ruling: the judges' grades count again\n")


def test_every_report_says_how_much_is_gone(cli: Cli, judged: Path) -> None:
    """Lists, exports and their manifests count the erased judge, once, without a name."""
    assert "erased" not in cli("show", "judges").fine().out
    answer = cli("judges", "erase", "strict", stdin=b"yes\n").fine()
    assert "judge strict erased: 84 judgements, 84 events" in answer.err
    assert b"strict" not in (judged / "collection.db").read_bytes()
    assert cli("show", "judges").fine().out.count(GONE) == 1
    told = cli("export", "qrels", "middle", "--out", "q.txt").fine()
    assert told.err.count(GONE) == 1
    told = cli("export", "judgements", "--out", "j.jsonl").fine()
    assert told.err.count(GONE) == 1
    for name in ("q.txt", "j.jsonl"):
        manifest = json.loads((judged / f"{name}.manifest.json").read_text("utf-8"))
        assert manifest["erased"] == {"judges": 1, "judgements": 84}
    cli("qrels", "define", "official", "--aggregate", "majority", "--ties", "low").fine()
    cli("export", "collection", "out").fine()
    assert (judged / "out" / "README.md").read_text("utf-8").count(GONE) == 1
    manifest = json.loads((judged / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["counts"]["erasure"] == 1
    cli("import", "collection", "out", "--collection", "again.db").fine()
    assert GONE in cli("show", "judges", "--collection", "again.db").fine().out
    assert "strict" not in "".join(path.read_text("utf-8") for path in (judged / "out").glob("*.*"))


@pytest.mark.parametrize("command", ["status", "agreement"])
def test_standing_and_agreement_say_it_too(cli: Cli, judged: Path, command: str) -> None:
    """Once, below the table."""
    cli("judges", "erase", "strict", "--yes").fine()
    answer = cli(command).fine()
    assert (answer.out + answer.err).count(GONE) == 1


def test_erased_judge_can_be_imported_as_somebody_new(cli: Cli, judged: Path) -> None:
    """The same file under the same name makes a new judge; the count of the old one stays."""
    cli("judges", "erase", "strict", "--yes").fine()
    qrels = str(judged / "judgements" / "strict.qrels")
    cli("import", "judgements", qrels, "--judge", "strict").fine()
    assert GONE in cli("show", "judges").fine().out
    rows = cli("show", "judges", "--format", "json").fine().json()
    assert [(row["judge"], row["judged"]) for row in rows][-1] == ("strict", 84)


@pytest.mark.slow
def test_bytes_are_gone_when_the_reader_has_gone(cli: Cli, judged: Path) -> None:
    """While another program reads, what was removed may be in the log, and that is told.

    SQLite can write the file anew beside a reader, but cannot take the old pages from it.
    """
    with engine_of("collection.db") as engine, engine.connect() as reader:
        reader.exec_driver_sql("SELECT * FROM judge").all()
        answer = cli("judges", "erase", "strict", "--yes").fine()
        assert "warning: another program has the collection open" in answer.err
    assert not any(b"strict" in path.read_bytes() for path in judged.glob("collection.db*"))
