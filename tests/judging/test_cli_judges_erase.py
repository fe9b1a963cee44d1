"""`pooler judges erase`: shown first, asked for, and said ever after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.run import Cli
from tests.helpers.world import engine_of, stored_rows

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
    for command in ("show judges", "show judges"):
        assert cli(*command.split()).fine().out.count(GONE) == 1
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
