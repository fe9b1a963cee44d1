"""Judges: known by name or code, heard by kind, renamed without a trace, erased but for a count."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from contextlib import closing
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from sqlalchemy import inspect, text

from store.collection import Collection
from store.db.engine import collection_url, engine_at, scrub
from store.errors import ArgumentError, ConflictError, PoolerError, StoreError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.judging.codes import hash_of, new_code
from store.judging.disagreements import Selection
from store.judging.erasing import Shared, removed_words
from store.judging.judges import Disguise
from store.judging.kinds import Voters, choose_voters, count_kinds, is_mixed, sorts_words
from store.keeping.backup import back_up, restore
from store.keeping.directory import ExportChoice, write_directory
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
from tests.helpers.full_collection import fill as fill_whole
from tests.helpers.places import held_place, places
from tests.helpers.world import (
    JudgeAtWork,
    change_stored,
    engine_of,
    make_pool,
    meanwhile,
    new_collection,
    stored_rows,
)


def test_judges_come_back_bytewise_sorted(collection: Collection) -> None:
    """Names sort by their UTF-8 bytes on both engines; those alike but for case stay apart."""
    kinds = list(JudgeKind)
    names = ["bob", "Bob", "ann", "Émile", "emile", "赤松", "z", "A1", "\U0001f377", "\uff21"]
    for number, name in enumerate(names):
        assert collection.judges.add(name, kinds[number % 4])
    expected = sorted(names, key=lambda name: name.encode())
    assert [judge.name for judge in collection.judges.all()] == expected
    assert Judge("Bob", JudgeKind.MODEL) in collection.judges.all()


def test_same_judge_again_changes_nothing(collection: Collection, collection_name: str) -> None:
    """Adding a judge who is there tells so and writes nothing."""
    assert collection.judges.add("ann", JudgeKind.HUMAN)
    before = stored_rows(collection_name)
    assert not collection.judges.add("ann", JudgeKind.HUMAN)
    assert stored_rows(collection_name) == before


def test_other_kind_is_refused(collection: Collection, collection_name: str) -> None:
    """A name stands for one kind of judge."""
    collection.judges.add("gpt", JudgeKind.MODEL)
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match="`gpt` is there as kind model, not human") as caught:
        collection.judges.add("gpt", JudgeKind.HUMAN)
    assert caught.value.hint == "--kind model, or another name"
    assert stored_rows(collection_name) == before


def test_name_must_be_one_clean_word(collection: Collection) -> None:
    """A name that could not stand in a file or on a terminal is refused."""
    controls = ["ann\n", "a\tb", "a\0b", "a\x1b[2J", "\u202eann", "\ud800"]
    for name in ["", " ", "ann b", "a\u3000b", *controls]:
        with pytest.raises(ArgumentError, match="`judge` must be one word"):
            collection.judges.add(name, JudgeKind.HUMAN)
    assert collection.judges.all() == []


def test_judges_are_disabled_and_enabled_by_name(collection: Collection, collection_name: str) -> None:
    """Those that changed are told; with an unknown name among them nobody is changed."""
    for name in ("ann", "ben", "cat"):
        collection.judges.add(name, JudgeKind.HUMAN)
    assert collection.judges.set_disabled(["cat", "ann"], disabled=True) == ["cat", "ann"]
    assert collection.judges.set_disabled(["ann", "ben"], disabled=True) == ["ben"]
    assert [judge.disabled for judge in collection.judges.all()] == [True, True, True]
    assert collection.judges.set_disabled(["ann"], disabled=False) == ["ann"]
    before = stored_rows(collection_name)
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        collection.judges.set_disabled(["ben", "eve"], disabled=False)
    assert stored_rows(collection_name) == before


def test_two_who_add_one_judge_at_once(postgres_url: str) -> None:
    """When two programs add the same judge at the same moment, one adds and the other sees it."""
    answers: list[bool] = []
    with new_collection(postgres_url) as one:

        def add_too() -> None:
            with Collection(postgres_url) as other:
                answers.append(other.judges.add("ann", JudgeKind.HUMAN))

        thread = Thread(target=add_too)
        with meanwhile("INSERT INTO judge", lambda: (thread.start(), thread.join(0.3))):
            answers.append(one.judges.add("ann", JudgeKind.HUMAN))
        thread.join()
        assert sorted(answers) == [False, True]
        assert len(one.judges.all()) == 1


ANN, ZOE = Judge("ann", JudgeKind.HUMAN), Judge("zoe", JudgeKind.ADJUDICATOR)
OLD = Judge("old", JudgeKind.IMPORTED)
GPT, QWEN = Judge("gpt", JudgeKind.MODEL), Judge("qwen", JudgeKind.MODEL)
ALL = (ANN, OLD, GPT, QWEN, ZOE)


def names(heard: Voters) -> tuple[list[str], list[str]]:
    """Return who is heard, and who is left out."""
    return [one.name for one in heard.judges], [one.name for one in heard.left_out]


@pytest.mark.parametrize(
    ("graders", "heard", "left_out"),
    [
        ("ann old gpt qwen", ["ann"], ["old", "gpt", "qwen"]),
        ("ann", ["ann"], []),
        ("old gpt", ["old"], ["gpt"]),
        ("gpt qwen", ["gpt", "qwen"], []),
        ("gpt", ["gpt", "qwen"], []),
        ("", ["ann"], []),
    ],
)
def test_one_sort_is_heard(graders: str, heard: list[str], left_out: list[str]) -> None:
    """People before imported judges before models, by who graded; without a grade by who is there."""
    assert names(choose_voters(ALL, graders.split())) == (heard, left_out)


def test_adjudicators_are_people_where_they_have_a_say() -> None:
    """Their rulings are heard with people's votes, before all others, and not in what has no rulings."""
    assert names(choose_voters(ALL, ["ann", "gpt", "zoe"], rulings=True)) == (["ann", "zoe"], ["gpt"])
    assert names(choose_voters(ALL, ["gpt", "zoe"], rulings=True)) == (["ann", "zoe"], ["gpt"])
    assert names(choose_voters(ALL, ["gpt", "zoe"])) == (["gpt", "qwen"], [])
    assert choose_voters(ALL, ["gpt", "zoe"], rulings=True).voting == ()


def test_who_is_named_is_heard_and_nobody_is_left_out() -> None:
    """Names mix whom they will; kinds are human (with adjudicators), model and imported."""
    graded = ["ann", "old", "gpt", "zoe"]
    named = choose_voters(ALL, graded, of=["gpt", "ann"])
    assert names(named) == (["ann", "gpt"], [])
    assert (named.counts_if_mixed, named.to_json()) == (
        {"human": 1, "model": 1},
        {"kinds": {"human": 1, "model": 1}},
    )
    mixed = choose_voters(ALL, graded, kinds=["model", "human"], rulings=True)
    assert names(mixed) == (["ann", "gpt", "qwen", "zoe"], [])
    assert mixed.counts == {"human": 1, "model": 1, "adjudicator": 1}
    models = choose_voters(ALL, graded, kinds=["model"], rulings=True)
    assert names(models) == (["gpt", "qwen"], [])
    assert (models.counts_if_mixed, models.models) == ({"model": 1}, ("gpt",))
    assert choose_voters(ALL, graded).to_json() == {"kinds_left_out": {"model": 1, "imported": 1}}
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        choose_voters(ALL, graded, of=["eve"])
    with pytest.raises(ArgumentError, match="`kinds` must be human, model or imported"):
        choose_voters(ALL, graded, kinds=["adjudicator"])


def test_people_and_adjudicators_are_no_mixture() -> None:
    """They are of one sort, in counts and in words."""
    assert not is_mixed({"human": 2, "adjudicator": 1})
    assert is_mixed({"model": 2, "adjudicator": 1})
    assert count_kinds(ALL) == {"human": 1, "model": 2, "imported": 1, "adjudicator": 1}
    assert sorts_words(count_kinds(ALL)) == "people, models and imported judges"


def test_a_collection_hears_who_has_a_grade_now(collection: Collection) -> None:
    """A grade that was undone is none; a ruling that nothing can be judged is one; on both databases."""
    area = collection.grades
    assert area.voters() == choose_voters((), ())
    collection.pools.add(make_pool({"1": ["a", "b"]}))
    collection.judgements.add({"gpt": [Qrel("1", "a", 1), Qrel("1", "b", 0)]}, JudgeKind.MODEL)
    collection.judgements.add({"old": [Qrel("1", "a", 0)]}, JudgeKind.IMPORTED)
    collection.judges.add("ann", JudgeKind.HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    assert names(area.voters(rulings=True)) == (["old"], ["gpt"])
    desk = collection.desk("ann")
    desk.queue("1")
    desk.record(Decision("1", "a", Action.JUDGE, 2))
    assert names(area.voters()) == (["ann"], ["gpt", "old"])
    assert area.final(QrelsDefinition()).rows == [Qrel("1", "a", 2)]  # half of what a model graded
    assert area.votes().votes.judges == ("ann",)
    desk.undo()
    desk.leave()
    assert names(area.voters()) == (["old"], ["gpt"])
    ruling = collection.adjudication_desk("zoe", selection=Selection(kinds=("imported", "model")))
    ruling.queue("1")
    ruling.record(Decision("1", "a", Action.CANNOT, None))
    ruling.leave()
    with pytest.raises(PoolerError, match="people graded 0 documents and models 2"):
        area.voters(rulings=True)
    with pytest.raises(PoolerError, match="people graded 0 documents and models 2"):
        area.final(QrelsDefinition())
    assert area.final(QrelsDefinition(kinds=("human",))).left_out == {("1", "a"): "cannot"}
    both = QrelsDefinition(aggregate="majority", ties="low", kinds=("human", "model"))
    assert area.final(both).rows == [Qrel("1", "b", 0)]
    assert area.final(both).all_votes.voters.counts_if_mixed == {"model": 1, "adjudicator": 1}


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
    with new_collection(name) as made:
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
        assert found_in(tmp_path, secret)
        assert made.judges.rename(secret, "ben").scrubbed == "done"
        assert not found_in(tmp_path, secret)
        assert [one.judge for one in made.judgements.current()] == ["ben"]


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


@pytest.fixture
def opened(collection: Collection) -> Collection:
    """Add judges to a collection, on each engine."""
    kinds = (JudgeKind.HUMAN, JudgeKind.HUMAN, JudgeKind.MODEL, JudgeKind.ADJUDICATOR)
    for name, kind in zip(("ann", "bob", "gpt", "zoe"), kinds, strict=True):
        collection.judges.add(name, kind)
    return collection


def rows(name: str) -> list[tuple[str, str]]:
    """Read what is kept of codes."""
    with engine_at(collection_url(name)) as engine, engine.connect() as connection:
        query = "SELECT judge.name, sha256 FROM judge_code JOIN judge ON judge.id = judge_id ORDER BY name"
        return [tuple(row) for row in connection.execute(text(query))]


def test_code_lets_its_judge_in(opened: Collection) -> None:
    """Each judge comes in as themselves; a code nearly right is nobody's."""
    ann, bob = opened.codes.give("ann"), opened.codes.give("bob")
    assert [one.judge for one in (opened.codes.judge_of(ann), opened.codes.judge_of(bob)) if one] == [
        "ann",
        "bob",
    ]
    for wrong in ("", "guess", ann[:-1], f"{ann}0", "' OR 1=1 --", "\0", "\ud800"):
        assert opened.codes.judge_of(wrong) is None
    assert opened.codes.count() == 2


def test_code_cannot_be_guessed() -> None:
    """125 bits: 25 letters of 32; and no two are the same."""
    codes = {new_code() for _ in range(1000)}
    assert len(codes) == 1000
    assert all(re.fullmatch(r"(?:[0-9a-hjkmnp-tv-z]{5}-){4}[0-9a-hjkmnp-tv-z]{5}", one) for one in codes)
    assert math.log2(len(set("".join(codes)) - {"-"})) * 25 == 125


def test_code_may_be_typed_in_other_ways() -> None:
    """Capitals, blanks, other dashes, and letters that look like digits."""
    code = "01abc-defgh-jkmnp-qrstv-wxyz0"
    for typed in (
        code.upper(),
        f"  {code} ",
        code.replace("-", " "),
        code.replace("-", "‑"),
        code.replace("-", ""),
    ):
        assert hash_of(typed) == hash_of(code)
    assert (
        hash_of("OLabc-defgh-jkmnp-qrstv-wxyzo") == hash_of("oIabc-defgh-jkmnp-qrstv-wxyzO") == hash_of(code)
    )
    assert hash_of(code[::-1]) != hash_of(code)


def test_only_the_hash_is_kept(opened: Collection, collection_name: str) -> None:
    """The code is in no table, nor in the bytes of the file."""
    code = opened.codes.give("ann")
    assert rows(collection_name) == [("ann", hash_of(code))]
    if "://" not in collection_name:
        opened.close()
        files = Path(collection_name).parent.glob(f"{Path(collection_name).name}*")
        assert not any(code.encode() in file.read_bytes() for file in files)


def test_code_opens_until_another_one_or_revoking_or_disabling_ends_it(
    opened: Collection, collection_name: str
) -> None:
    """A judge has one at most; who is disabled stays out until enabled again, and gets no new one."""
    old, code = opened.codes.give("ann"), opened.codes.give("ann")
    assert opened.codes.judge_of(old) is None
    assert opened.codes.judge_of(code) is not None
    assert len(rows(collection_name)) == 1
    opened.judges.set_disabled(["ann"], disabled=True)
    assert (opened.codes.judge_of(code), opened.codes.count()) == (None, 0)
    with pytest.raises(ConflictError, match="`ann` is disabled"):
        opened.codes.give("ann")
    opened.judges.set_disabled(["ann"], disabled=False)
    assert opened.codes.judge_of(code) is not None
    assert [opened.codes.revoke("ann"), opened.codes.revoke("ann")] == [True, False]
    assert (opened.codes.judge_of(code), opened.codes.count()) == (None, 0)
    with pytest.raises(UnknownNameError, match="unknown judge `ana`"):
        opened.codes.revoke("ana")


def test_people_and_adjudicators_have_codes(opened: Collection) -> None:
    """No model judges in a browser."""
    with pytest.raises(ConflictError, match="only people judge in a browser"):
        opened.codes.give("gpt")
    found = opened.codes.judge_of(opened.codes.give("zoe"))
    assert found is not None
    assert (found.judge, found.kind) == ("zoe", JudgeKind.ADJUDICATOR)


def test_login_is_a_judge_s_until_it_ends(opened: Collection, collection_name: str) -> None:
    """By leaving, by another code, by erasing; its cookie is in no table."""
    access = opened.codes.judge_of(opened.codes.give("ann"))
    assert access is not None
    first, second = opened.codes.log_in(access), opened.codes.log_in(access)
    assert opened.codes.login_of(first) == opened.codes.login_of(second) == access
    assert opened.codes.login_of("made-up") is None
    opened.codes.log_out(first)
    assert (opened.codes.login_of(first), opened.codes.login_of(second)) == (None, access)
    with engine_at(collection_url(collection_name)) as engine, engine.connect() as connection:
        kept = [one[0] for one in connection.execute(text("SELECT sha256 FROM login"))]
    assert len(kept) == 1
    assert second not in kept
    opened.codes.give("ann")
    assert opened.codes.login_of(second) is None


def test_code_follows_a_renamed_judge_and_goes_with_an_erased_one(
    opened: Collection, collection_name: str
) -> None:
    """It is the judge's, whatever they are called."""
    code = opened.codes.give("ann")
    opened.judges.rename("ann", "anna")
    found = opened.codes.judge_of(code)
    assert found is not None
    assert found.judge == "anna"
    opened.erasures.erase("anna")
    assert opened.codes.judge_of(code) is None
    assert rows(collection_name) == []


def test_no_copy_has_a_code(tmp_path: Path) -> None:
    """Neither backup nor directory, whole or byte by byte."""
    whole = str(tmp_path / "whole.db")
    fill_whole(whole)
    with Collection(whole) as opened:
        judges = [one.name for one in opened.judges.all() if one.kind is JudgeKind.HUMAN and not one.disabled]
        hashes = [hash_of(opened.codes.give(judge)) for judge in judges]
        assert len(hashes) == len(rows(whole)) > 0
        write_directory(opened.as_it_stands(), tmp_path / "out", ExportChoice(), program="x")
    back_up(collection_url(whole), tmp_path / "backup.db")
    restore(tmp_path / "backup.db", collection_url(str(tmp_path / "restored.db")))
    (tmp_path / "byte-by-byte.db").write_bytes(Path(whole).read_bytes())
    restore(tmp_path / "byte-by-byte.db", collection_url(str(tmp_path / "restored-2.db")))
    for name in ("backup", "restored", "restored-2"):
        file = tmp_path / f"{name}.db"
        assert rows(str(file)) == [], name
        assert not any(one.encode() in file.read_bytes() for one in hashes), name
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert written
    assert not any(one.encode() in written for one in hashes)
    with closing(sqlite3.connect(whole)) as connection:
        assert connection.execute("SELECT count(*) FROM judge_code").fetchone() == (len(hashes),)


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
    """Neither the name nor a note can be found in the file or its log, in any encoding."""
    file = tmp_path / "c.db"
    secret, name = "Geheimnis-水道橋-7261", "Zacharias-the-Judge"
    with new_collection(str(file)) as made:
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


@pytest.mark.slow
def test_bytes_go_with_the_last_who_reads(tmp_path: Path) -> None:
    """While another program reads, the old pages are kept for it; once it is closed nothing is left."""
    file = tmp_path / "c.db"
    with new_collection(str(file)) as made:
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
