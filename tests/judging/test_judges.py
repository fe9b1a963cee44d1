"""Judges: added once, of a kind, known by name or code, listed, disabled, and heard by kind."""

from __future__ import annotations

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
from store.judging.kinds import Voters, choose_voters, count_kinds, is_mixed, sorts_words
from store.keeping.backup import back_up, restore
from store.keeping.directory import ExportChoice, write_directory
from store.records import Action, Decision, Judge, JudgeKind, Qrel
from tests.helpers.full_collection import fill as fill_whole
from tests.helpers.run import Cli, write
from tests.helpers.world import make_pool, meanwhile, new_collection


def test_judges_come_back_bytewise_sorted(collection: Collection) -> None:
    """Names sort by their UTF-8 bytes on both engines; those alike but for case stay apart."""
    kinds = list(JudgeKind)
    names = ["bob", "Bob", "ann", "Émile", "emile", "赤松", "z", "A1", "\U0001f377", "\uff21"]
    for number, name in enumerate(names):
        assert collection.judges.add(name, kinds[number % 4])
    expected = sorted(names, key=lambda name: name.encode())
    assert [judge.name for judge in collection.judges.all()] == expected
    assert Judge("Bob", JudgeKind.MODEL) in collection.judges.all()


def test_name_must_be_one_clean_word(collection: Collection) -> None:
    """A name that could not stand in a file or on a terminal is refused."""
    controls = ["ann\n", "a\tb", "a\0b", "a\x1b[2J", "\u202eann", "\ud800"]
    for name in ["", " ", "ann b", "a\u3000b", *controls]:
        with pytest.raises(ArgumentError, match="`judge` must be one word"):
            collection.judges.add(name, JudgeKind.HUMAN)
    assert collection.judges.all() == []


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


def test_judges_are_added_once(cli: Cli, judged: Path) -> None:
    """A known name of the same kind is there already; another kind is refused."""
    answer = cli("judges", "add", "anna", "ben").fine()
    assert answer.err == "judge anna (human) added\njudge ben (human) added\n"
    assert "judge anna (human) already exists" in cli("judges", "add", "anna").fine().err
    refused = cli("judges", "add", "anna", "--kind", "model").failed(3)
    assert "judge `anna` is there as kind human, not model" in refused.err
    assert "hint: --kind human, or another name" in refused.err


def test_list_names_kind_and_work(cli: Cli, judged: Path) -> None:
    """Every judge stands in the list with kind and number of judgements."""
    cli("judges", "add", "審査員", "--kind", "adjudicator").fine()
    rows = cli("show", "judges", "--format", "json").fine().json()
    assert [(row["judge"], row["kind"], row["disabled"], row["judged"]) for row in rows] == [
        *((judge, "model", False, 84) for judge in ("lenient", "middle", "strict")),
        ("審査員", "adjudicator", False, 0),
    ]
    assert "審査員" in cli("show", "judges").fine().out


def test_list_counts_what_lies_in_no_pool(cli: Cli, here: Path) -> None:
    """Of 4 documents in no pool, 2 that cannot be judged and 1 skipped stand as in `show judges`."""
    cli("init", "--scale", "0-2").fine()
    write(here / "q", "1 0 a -1", "1 0 b -1", "1 0 c -2", "1 0 d 2")
    codes = ("--code", "-1=cannot", "--code", "-2=skipped")
    cli("import", "judgements", "q", "--judge", "me", *codes).fine()
    [row] = cli("show", "judges", "--format", "json").fine().json()
    assert (row["judged"], row["cannot"], row["skipped"]) == (1, 2, 1)
    shown = cli("show", "judges", "me", "--format", "json").fine().known()
    assert {name: shown[name] for name in ("judged", "cannot", "skipped")} == {
        "judged": 1, "cannot": 2, "skipped": 1,
    }  # fmt: skip


def test_disabled_judges_get_no_desk_and_keep_what_they_judged(cli: Cli, judged: Path) -> None:
    """Disabled and enabled again by name; work that is left with them is counted."""
    cli("judges", "add", "anna", "ben").fine()
    cli("assign", "--seed", "1").fine()
    answer = cli("judges", "disable", "anna", "strict", "anna").fine()
    assert answer.err == (
        "judge anna disabled\njudge strict disabled\n42 documents assigned to anna have no"
        " decision: pooler assign --replace gives them to others\n"
    )
    assert "judge anna was already disabled" in cli("judges", "disable", "anna").fine().err
    refused = cli("judge", "--judge", "anna", "--plain").failed(3).err
    assert refused == "error: judge `anna` is disabled\nhint: pooler judges enable anna\n"
    rows = cli("show", "judges", "--format", "json").fine().json()
    states = {row["judge"]: (row["disabled"], row["judged"]) for row in rows}
    assert (states["anna"], states["strict"], states["ben"]) == ((True, 0), (True, 84), (False, 0))
    assert cli("judges", "enable", "anna", "ben").fine().err == (
        "judge anna enabled\njudge ben was not disabled\n"
    )


def test_what_a_disabled_judge_claimed_needs_no_command(cli: Cli, judged: Path) -> None:
    """A claim without a decision comes to others by itself; `assign` is named for names alone."""
    cli("judges", "add", "anna").fine()
    cli("assign", "--claim", "--topic", "G01").fine()
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        assert desk.claim("G01")
        said = cli("judges", "disable", "anna").fine().err
    assert said == (
        "judge anna disabled\n3 documents claimed by anna without a decision: others may claim"
        " them when the lease has run out\n"
    )


def test_unknown_judge_disables_nobody(cli: Cli, judged: Path) -> None:
    """One wrong name among several changes nothing."""
    cli("judges", "add", "anna").fine()
    refused = cli("judges", "disable", "anna", "bne").failed(1)
    assert "unknown judge `bne`" in refused.err
    rows = cli("show", "judges", "--format", "json").fine().json()
    assert not any(row["disabled"] for row in rows)
