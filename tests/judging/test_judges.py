"""Judges: known by name or code, heard by kind, and renamed without a trace."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.db.engine import collection_url, engine_at
from store.errors import ArgumentError, ConflictError, PoolerError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.judging.codes import hash_of, new_code
from store.judging.disagreements import Selection
from store.judging.judges import Disguise
from store.judging.kinds import Voters, choose_voters, count_kinds, is_mixed, sorts_words
from store.keeping.backup import back_up, restore
from store.keeping.directory import ExportChoice, write_directory
from store.records import (
    Action,
    AssignmentPlan,
    Decision,
    Existing,
    Judge,
    JudgeKind,
    Place,
    Purpose,
    Qrel,
    Scope,
)
from tests.helpers.full_collection import fill as fill_whole
from tests.helpers.world import JudgeAtWork, engine_of, make_pool, meanwhile, parse_scale, stored_rows


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
    with Collection.create(postgres_url, name="x", scale=parse_scale("0-1"), program="x") as one:

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


def test_new_code_ends_the_one_before(opened: Collection, collection_name: str) -> None:
    """A judge has one at most."""
    old, new = opened.codes.give("ann"), opened.codes.give("ann")
    assert opened.codes.judge_of(old) is None
    assert opened.codes.judge_of(new) is not None
    assert len(rows(collection_name)) == 1


def test_code_that_is_revoked_opens_nothing(opened: Collection) -> None:
    """It is said whether there was one."""
    code = opened.codes.give("ann")
    assert [opened.codes.revoke("ann"), opened.codes.revoke("ann")] == [True, False]
    assert opened.codes.judge_of(code) is None
    assert opened.codes.count() == 0
    with pytest.raises(UnknownNameError, match="unknown judge `ana`"):
        opened.codes.revoke("ana")


def test_judge_who_is_disabled_stays_out(opened: Collection) -> None:
    """Until they are enabled again; and gets no new code."""
    code = opened.codes.give("ann")
    opened.judges.set_disabled(["ann"], disabled=True)
    assert opened.codes.judge_of(code) is None
    assert opened.codes.count() == 0
    with pytest.raises(ConflictError, match="`ann` is disabled"):
        opened.codes.give("ann")
    opened.judges.set_disabled(["ann"], disabled=False)
    assert opened.codes.judge_of(code) is not None


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
