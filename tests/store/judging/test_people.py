"""People: another name for a judge, and nothing left of the old one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.judging.judges import Disguise
from store.records import Action, AssignmentPlan, Existing, Judge, JudgeKind, Place, Purpose, Qrel, Scope
from tests.helpers.world import JudgeAtWork, engine_of, make_pool, parse_scale, stored_rows

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


def test_no_byte_of_the_old_name_is_left_in_the_file(tmp_path: Path) -> None:
    """Neither the file nor its log has the name, though it stood in plans, pools, rounds and events."""
    name, secret = str(tmp_path / "c.db"), "Zacharias-7261"
    with Collection.create(name, name="x", scale=parse_scale("0-2"), program="x") as made:
        made.judges.add(secret, HUMAN)
        made.judges.add("ann", HUMAN)
        made.pools.add(make_pool({"1": list("abc")}, name=f"unjudged-{secret}", round=secret,
                                 manifest={"strategy": "imported", "file": f"{secret}.qrels"}))  # fmt: skip
        places = [Place("1", "a", secret, Purpose.PRIMARY, 0, "docno")]
        manifest = {"judges": ["ann", secret], "seed": 7, "pools": [f"unjudged-{secret}"]}
        made.assignments.make(Scope(), lambda _open: AssignmentPlan(places, manifest),
                              existing=Existing.REFUSE)  # fmt: skip
        bob = JudgeAtWork(made.desk(secret, program="pooler 9"), "1")
        bob.act("a", Action.JUDGE, grade=2, note="mine")
        bob.desk.leave()
        assert secret in file_bytes(tmp_path)
        assert made.judges.rename(secret, "ben").scrubbed == "done"
        assert secret not in file_bytes(tmp_path)
        assert [one.judge for one in made.judgements.current()] == ["ben"]


def file_bytes(folder: Path) -> str:
    """Return what lies in the files of a folder, a character a byte."""
    return b"".join(path.read_bytes() for path in folder.iterdir()).decode("latin-1")


def test_rename_refuses_what_is_no_new_name(ready: Collection, collection_name: str) -> None:
    """A taken name, no name, the old name, and a judge who is not there change nothing."""
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match="there is a judge `eve` already") as caught:
        ready.judges.rename("bob", "eve")
    assert caught.value.hint == "two judges stay two: choose another name"
    for bad in ("", "two words", "a\x1b[2J", "\u202ebob"):
        with pytest.raises(ArgumentError, match="`NEW` must be one word"):
            ready.judges.rename("bob", bad)
    with pytest.raises(ArgumentError, match="`NEW` must be another name than now"):
        ready.judges.rename("bob", "bob")
    with pytest.raises(UnknownNameError, match="unknown judge `bbo`; known: `bob`"):
        ready.judges.rename("bbo", "x")
    assert stored_rows(collection_name) == before


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
