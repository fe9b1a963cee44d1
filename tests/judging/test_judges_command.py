"""`pooler judges`: added, listed, disabled, renamed, erased: shown first, asked for, and said ever after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.collection import Collection
from tests.helpers.run import Cli, write
from tests.helpers.world import engine_of, stored_rows


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
