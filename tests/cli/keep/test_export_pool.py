"""`pooler export pool --annotated`: who brought a document, and what it was found to be."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from store.collection import Collection
from store.records import Action, Decision
from tests.helpers.run import Cli, by_rule, write


def cells(text: str) -> list[list[str]]:
    """Return the fields of every line."""
    return [line.split(" ") for line in text.splitlines()]


def test_lines_are_those_of_the_pool_with_a_grade_behind_each(cli: Cli, judged: Path) -> None:
    """The first six columns are what `pooler pool --annotated` wrote; the seventh is the grade."""
    cli("pool", "--runs", "runs.tsv", "--depth", "5", "--annotated", "--out", "then.txt").fine()
    told = cli("export", "pool", "--annotated", "--qrels", "middle", "--out", "now.txt").fine()
    then, now = ((judged / f"{name}.txt").read_text("utf-8") for name in ("then", "now"))
    assert [row[:6] for row in cells(now)] == cells(then)
    qrels = [line.split() for line in cli("export", "qrels", "middle").out.splitlines()]
    grades = {(row[0], row[2]): row[3] for row in qrels}
    assert [row[6] for row in cells(now)] == [grades[row[0], row[1]] for row in cells(now)]
    assert "84 documents of 8 runs, 0 unjudged" in told.err
    facts = json.loads((judged / "now.txt.manifest.json").read_text("utf-8"))
    plain = json.loads((judged / "then.txt.manifest.json").read_text("utf-8"))
    assert facts["runs"] == plain["runs"]
    assert facts["grades"]["judges"] == [{"name": "middle", "kind": "model"}]


def test_tied_documents_are_called_undecided(cli: Cli, judged: Path) -> None:
    """A grade that a rule leaves open is the word undecided; every other is the exported one."""
    rule = ("--aggregate", "majority", "--ties", "unresolved")
    rows = cells(by_rule(cli, "export", "pool", "--annotated", *rule).fine().out)
    words = {(row[0], row[1]): row[6] for row in rows}
    qrels = cells(by_rule(cli, "export", "qrels", *rule).fine().out)
    grades = {(row[0], row[2]): row[3] for row in qrels}
    tied = words.keys() - grades.keys()
    assert {words[pair] for pair in tied} == {"undecided"}
    assert {pair: word for pair, word in words.items() if pair not in tied} == grades


def test_what_judges_differ_on_is_undecided(cli: Cli, judged: Path) -> None:
    """Without a rule the documents that all three graded alike have a grade, and the other 28 a word."""
    words = Counter(
        row[6]
        for row in {
            row[:2] + row[6:]: row
            for row in map(tuple, cells(cli("export", "pool", "--annotated").fine().out))
        }.values()
    )
    assert words["undecided"] == 28
    assert words.total() == 84


def test_documents_without_a_grade_have_a_word(cli: Cli, judged: Path) -> None:
    """Skipped, impossible and unjudged are words, never numbers; nobody needs to have graded."""
    cli("judges", "add", "anna").fine()
    with Collection(str(judged / "collection.db")) as opened:
        desk = opened.desk("anna")
        docnos = [task.docno for task in desk.queue("G01")][:4]
        desk.record(Decision("G01", docnos[0], Action.SKIP))
        desk.record(Decision("G01", docnos[1], Action.CANNOT, reason="cut off"))
        desk.record(Decision("G01", docnos[2], Action.NOTE, note="?"))
        before = cells(cli("export", "pool", "--annotated", "--qrels", "anna").fine().out)
        desk.record(Decision("G01", docnos[3], Action.JUDGE, grade=1))
        desk.leave()
    expected = dict(zip(docnos, ("skipped", "cannot", "unjudged", "1"), strict=True))
    after = cells(cli("export", "pool", "--annotated", "--qrels", "anna").fine().out)
    for rows, words in ((before, expected | {docnos[3]: "unjudged"}), (after, expected)):
        assert len(rows) == len(after)
        for topic, docno, *_, word in rows:
            assert word == (words.get(docno, "unjudged") if topic == "G01" else "unjudged")


def test_pool_without_any_judgement_is_unjudged(cli: Cli, garden: Path) -> None:
    """Before anybody judged, every line ends with the word unjudged."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "3").fine()
    told = cli("export", "pool", "--annotated", "--out", "p").fine().err
    assert {row[6] for row in cells((garden / "p").read_text("utf-8"))} == {"unjudged"}
    assert "runs, " in told
    assert json.loads((garden / "p.manifest.json").read_text("utf-8"))["grades"] is None


def test_imported_pool_has_lines_for_documents_that_no_run_has(cli: Cli, here: Path) -> None:
    """Without a run a document has one line of dashes; with runs, one for each that has it."""
    cli("init", "--scale", "0-2").fine()
    write(here / "q", "10 0 d1 2", "10 0 d9 0", "9 0 d1 1")
    cli("import", "judgements", "q", "--judge", "me", "--as-pool", "official").fine()
    lines = ["9 d1 - - - - 1", "10 d1 - - - - 2", "10 d9 - - - - 0"]
    options = ("export", "pool", "--annotated", "--name", "official")
    assert cli(*options).fine().out.splitlines() == lines
    write(here / "a", *(f"10 Q0 d{number} 0 {99 - number} a" for number in (3, 2, 1)), "8 Q0 d1 1 1 a")
    write(here / "b", "10 Q0 d1 1 0.1 b")
    write(here / "late", "9 Q0 d1 1 0.1 late")
    write(here / "runs.tsv", "file\ttag\tgroup\tcontributes", "a\ta\tacme\tyes", "b\tb\t\tyes",
          "late\tlate\t\tno")  # fmt: skip
    cli("import", "runs", "--runs", "runs.tsv").fine()
    told = cli(*options).fine()
    assert told.out.splitlines() == [
        "9 d1 - - - - 1",
        "10 d1 a acme 1 98.0 2",
        "10 d1 b - 1 0.1 2",
        "10 d9 - - - - 0",
    ]
    assert "3 documents of 2 runs, 0 unjudged" in told.err


def test_contributors_are_those_that_the_pool_looked_at(cli: Cli, here: Path) -> None:
    """A run that has the document below the depth, and one that came later, brought nothing."""
    cli("init", "--scale", "0-2").fine()
    write(here / "a", "1 Q0 d1 1 9 a", "1 Q0 d2 2 8 a")
    write(here / "b", "1 Q0 d2 1 9 b", "1 Q0 d1 2 8 b")
    cli("import", "runs", "a", "b").fine()
    cli("pool", "--depth", "1").fine()
    write(here / "c", "1 Q0 d1 1 9 c")
    cli("import", "runs", "c").fine()
    rows = cli("export", "pool", "--annotated").fine().out.splitlines()
    assert rows == ["1 d1 a - 1 9.0 unjudged", "1 d2 b - 1 9.0 unjudged"]


def test_plain_pool_has_no_grades(cli: Cli, judged: Path) -> None:
    """Whose grades count is asked of the annotated pool alone."""
    refused = cli("export", "pool", "--qrels", "strict").failed(1).err
    assert "`--qrels` is for a pool with grades" in refused
    assert "hint: --annotated writes them" in refused
    assert Counter(len(row) for row in cells(cli("export", "pool").fine().out)) == {2: 84}


def test_other_pools_are_named(cli: Cli, judged: Path) -> None:
    """Who exports one of several pools is told of the others, but not of those withdrawn."""
    assert cli("export", "pool").fine().err == ""
    for depth, name in (("6", "deep"), ("7", "late")):
        cli("pool", "--add", "--depth", depth, "--name", name).fine()
    words = "this is only pool `pool`; other pools: deep, late (--name writes one)"
    assert words in cli("export", "pool").fine().err
    assert words in cli("export", "pool", "--annotated", "--qrels", "strict").fine().err
    cli("pool", "drop", "--pool", "deep").fine()
    assert "other pools: pool (" in cli("export", "pool", "--name", "late").fine().err
