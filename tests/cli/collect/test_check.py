"""`pooler check`: every fault with its line, warnings apart, and an exit code to build on."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.run import Cli, write


def test_sound_runs_pass(cli: Cli, garden: Path) -> None:
    """The sample runs have no fault; a line a file says what is in it."""
    answer = cli("check", "--runs", "runs.tsv").fine()
    assert answer.out.count(": ok: run ") == 9
    write(Path("one.run"), "1 Q0 a 1 2 x", *(f"1 Q0 d{n} {n + 2} {-n} x" for n in range(1, 2000)))
    assert ": ok: run x, 1 topic, 2,000 documents\n" in cli("check", "one.run").fine().out
    said = cli("pool", "one.run", "--depth", "1500", "--out", "one.pool").fine().err
    assert "1,500 pairs to judge in 1 topic, 1,500 per topic; depth 1,500 of 1 run" in said
    assert "runs/bm25-words.run: ok: run bm25-words, 8 topics, 311 documents" in answer.out
    assert answer.err.startswith("9 files, none with a fault, 3 warnings")


def test_all_faults_of_all_files_are_told(cli: Cli, here: Path) -> None:
    """A bad file does not hide the next one; every fault has file and line."""
    write(here / "a.run", "1 Q0 d 1 nan a", "1 Q0 e 2 1 b", "1 Q0 d 3 1 a")
    write(here / "b.run", "1 Q0 d 1 1")
    write(here / "c.run", "1 Q0 d 1 1 c")
    answer = cli("check", "a.run", "b.run", "c.run")
    assert answer.code == 1
    lines = answer.out.splitlines()
    assert [line.partition(": ")[0] for line in lines if "warning" not in line] == [
        *("a.run:1", "a.run:2", "a.run:3", "b.run:1", "b.run", "c.run")
    ]
    assert "3 files, 2 with faults (4 in all)" in answer.err
    rows = cli("check", "a.run", "b.run", "c.run", "--format", "tsv").tsv()
    faults = [(row["file"], row["line"], row["code"]) for row in rows if row["kind"] == "fault"]
    assert faults == [
        ("a.run", "1", "score"),
        ("a.run", "2", "tag"),
        ("a.run", "3", "duplicate"),
        ("b.run", "1", "fields"),
    ]


def test_faults_beyond_those_shown_are_counted(cli: Cli, here: Path) -> None:
    """Of forty faults 25 are shown and 15 counted, for people and for programs."""
    write(here / "a.run", *["1 Q0 d 1"] * 40)
    answer = cli("check", "a.run")
    assert answer.out.count("expected 6 fields") == 25
    assert "a.run: and 15 more faults" in answer.out
    rows = cli("check", "a.run", "--format", "json").json()
    assert sum(row["count"] for row in rows if row["kind"] == "fault") == 40


def test_strict_fails_on_warnings(cli: Cli, here: Path) -> None:
    """A warning is no fault unless `--strict` says so."""
    write(here / "a.run", *[f"1 Q0 d{number} {number} 1.0 a" for number in range(12)])
    assert "warning: 12 documents have tied scores" in cli("check", "a.run").fine().out
    assert cli("check", "--strict", "a.run").code == 1


def test_ties_at_the_cut_are_told_with_a_depth(cli: Cli, here: Path) -> None:
    """With `--depth` the ties across that rank are counted, in the asked order."""
    write(here / "a.run", *[f"1 Q0 d{number} {number} 1.0 a" for number in range(12)])
    cut = "12 documents tied at depth 5 in topic 1: 5 in, 7 out"
    assert cut in cli("check", "a.run", "--depth", "5").fine().out
    assert cut not in cli("check", "a.run", "--depth", "5", "--order", "file").fine().out


def test_collection_tells_unknown_and_missing(cli: Cli, judged: Path) -> None:
    """With a collection, unknown topics and docnos are faults and missing topics warnings."""
    write(judged / "a.run", "G01 Q0 KG-E-001 1 1 a", "G99 Q0 KG-E-999 1 1 a")
    answer = cli("check", "a.run", "--collection", "collection.db")
    assert answer.code == 1
    assert "a.run:2: expected a known topic, got `G99`" in answer.out
    assert "a.run:2: expected a known docno, got `KG-E-999`" in answer.out
    assert "a.run: warning: no documents for topic G02 and 6 more" in answer.out
    cli("check", "a.run").fine()


def test_run_comes_from_stdin(cli: Cli, garden: Path) -> None:
    """`-` checks standard input."""
    content = (garden / "runs" / "bm25-words.run").read_bytes()
    answer = cli("check", "-", stdin=content).fine()
    assert "-: ok: run bm25-words, 8 topics, 311 documents" in answer.out


def test_file_that_cannot_be_opened_is_one_fault_among_the_others(cli: Cli, garden: Path) -> None:
    """A wrong path is told once, and the other files are checked all the same."""
    answer = cli("check", "runs/bm25-words.run", "nope.run", "runs/lm-words-full.run")
    assert answer.code == 1
    assert "nope.run: no such file or directory" in answer.out
    assert "lm-words-full.run: ok" in answer.out
    assert "3 files, 1 with faults (1 in all)" in answer.err


def test_two_files_with_one_tag_are_a_fault(cli: Cli, garden: Path) -> None:
    """Runs are told apart by their tags, so the second file of a tag is refused here already."""
    answer = cli("check", "runs/bm25-words.run", "runs/bm25-words.run", "--format", "json")
    assert answer.code == 1
    faults = [row for row in answer.json() if row["kind"] == "fault"]
    assert [(row["code"], row["line"]) for row in faults] == [("tag", None)]
    assert "as in runs/bm25-words.run" in faults[0]["message"]


def test_lines_for_people_become_a_table_that_is_asked_for(cli: Cli, garden: Path) -> None:
    """`--limit` keeps the first lines; sorting makes a table of them."""
    names = ("runs/bm25-words.run", "runs/rm3-words-title.run")
    assert cli("check", *names, "--limit", "1").fine().out.count("\n") == 1
    table = cli("check", *names, "--sort", "tag:desc").fine().out
    assert table.splitlines()[0].split()[:3] == ["file", "tag", "kind"]
    assert [line.split()[0] for line in table.splitlines()[2:]] == [*reversed(names)]
