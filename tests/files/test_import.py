"""`pooler import topics|docs|runs`: brought in once, the same again, and replaced when asked."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from store.collection import Collection
from tests.helpers.run import Cli, write


@pytest.fixture
def started(cli: Cli, garden: Path) -> Path:
    """Work beside an empty collection in a copy of the sample collection."""
    cli("init").fine()
    return garden


@pytest.mark.parametrize(
    "command",
    [
        ["import", "topics", "topics.jsonl"],
        ["import", "docs", "documents.jsonl", "--all"],
        ["import", "runs", "--runs", "runs.tsv"],
    ],
)
def test_same_file_again_changes_nothing(cli: Cli, started: Path, command: list[str]) -> None:
    """A second import finds everything there already; stdout has nothing either time."""
    first = cli(*command).fine()
    again = cli(*command).fine()
    assert first.out == again.out == ""
    assert "added" in first.err
    expected = "nothing new" if command[1] != "runs" else "9 runs: 0 added, 9 already there"
    assert expected in again.err


def test_topics_come_as_trec_and_in_other_formats(cli: Cli, here: Path) -> None:
    """TREC, TSV and JSON lines say the same topics, so the later ones change nothing."""
    cli("init").fine()
    write(here / "t.trec", "<top>", "<num> Number: 301", "<title> Crime", "</top>")
    write(here / "t.tsv", "301\tCrime")
    write(here / "t.jsonl", '{"topic": "301", "title": "Crime"}')
    assert "t.trec: 1 topic added" in cli("import", "topics", "t.trec").fine().err
    for file in ("t.tsv", "t.jsonl"):
        assert "nothing new, 1 topic already there" in cli("import", "topics", file).fine().err
    zipped = gzip.compress((here / "t.tsv").read_bytes())
    assert "nothing new" in cli("import", "topics", "-", stdin=zipped).fine().err
    cli("import", "topics", "t.tsv", "--as", "jsonl").failed(1)


def test_changed_topic_needs_replace(cli: Cli, started: Path) -> None:
    """A topic with another text is refused without `--replace` and taken with it."""
    cli("import", "topics", "topics.jsonl").fine()
    write(started / "new.tsv", "G01\tanother title")
    cli("import", "topics", "new.tsv").failed(3)
    assert "1 replaced" in cli("import", "topics", "new.tsv", "--replace").fine().err


def test_texts_are_kept_of_pooled_documents_only(cli: Cli, started: Path) -> None:
    """Without `--all` a text that is in no pool stays out, and stderr says how many and why."""
    early = cli("import", "docs", "documents.jsonl").fine()
    assert "106 documents added\n" in early.err
    assert (
        "documents.jsonl: of its 106 documents 0 are stored with their text, 106 only as a docno:"
        " there is no pool yet"
    ) in early.err
    cli("import", "runs", "--runs", "runs.tsv").fine()
    pooled = cli("pool", "--depth", "5").fine()
    assert "74 of 74 pooled documents have no text" in pooled.err
    late = cli("import", "docs", "documents.jsonl").fine()
    assert "documents.jsonl: the text of 74 documents added, 32 already there" in late.err
    assert (
        "documents.jsonl: of its 106 documents 74 are stored with their text, 32 only as a"
        " docno: they are in no pool (import the file again after pooler pool, or use --all)"
    ) in late.err
    assert "have no text" not in cli("status").fine().out
    every = cli("import", "docs", "documents.jsonl", "--all").fine()
    assert every.err == "documents.jsonl: the text of 32 documents added, 74 already there\n"
    write(started / "more.jsonl", '{"docno": "KG-E-001"}', '{"docno": "x"}', '{"id": 7, "text": ""}')
    more = cli("import", "docs", "more.jsonl").fine()
    assert (
        "more.jsonl: of its 3 documents 0 are stored with their text, 2 have no text in the file, 1 only"
        " as a docno: they are in no pool"
    ) in more.err


def test_documents_to_be_drawn_are_told_apart_from_pooled_ones(cli: Cli, started: Path) -> None:
    """An adaptive pool has no document yet: what it chooses from is not said to be pooled."""
    cli("import", "runs", "--runs", "runs.tsv").fine()
    said = cli("pool", "-s", "mtf", "--depth", "5", "-b", "3", "--name", "live").fine().err
    words = "74 of 74 documents that adaptive pools may draw have no text: pooler import docs FILE"
    assert f"{words} brings it" in said
    assert words.partition(":")[0] in " ".join(cli("status").fine().out.split())
    cli("pool", "--depth", "1").fine()
    both = re.search(r"(\d+) of \1 pooled documents have no text, nor have (\d+) of \2 others that"
                     r" adaptive pools may draw", " ".join(cli("status").fine().out.split()))  # fmt: skip
    assert both
    assert int(both[1]) + int(both[2]) == 74
    cli("import", "docs", "documents.jsonl").fine()
    assert "no text" not in cli("status").fine().out


def test_names_of_columns_are_no_topic_or_document(cli: Cli, here: Path) -> None:
    """What is named as usual is known; what merely looks like names is warned of."""
    cli("init").fine()
    write(here / "known.tsv", "Query ID\tquery", "1\tred", "2\tblue")
    assert cli("import", "topics", "known.tsv").fine().err == "known.tsv: 2 topics added\n"
    write(here / "odd.tsv", "keyword\tquery", "11\tred", "12\tblue")
    assert cli("import", "topics", "odd.tsv").fine().err == (
        "warning: odd.tsv: the first line was read as topic `keyword`, but looks like names of"
        " columns, since all other ids have digits; known names are topic, title, description,"
        " narrative\nodd.tsv: 3 topics added\n"
    )
    write(here / "docs.tsv", "id\tcontents", "d1\tred", "d2\tblue")
    assert "docs.tsv: 2 documents added\n" in cli("import", "docs", "docs.tsv").fine().err
    write(here / "other.tsv", "key\tvalue", "d11\tred", "d12\tblue")
    told = cli("import", "docs", "other.tsv").fine().err
    assert "warning: other.tsv: the first line was read as document `key`, but looks like" in told


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("topics", "topic (or id, qid, query_id, number, ...), title (or query, text), description"),
        ("docs", "docno (or id, doc_id, ...), title if there is one, text (or contents, body"),
    ],
)
def test_help_names_columns_and_keys(cli: Cli, here: Path, what: str, words: str) -> None:
    """Nobody has to guess what a file's columns or keys may be called."""
    shown = " ".join(cli("import", what, "--help").fine().out.split())
    assert words in shown


def test_run_of_another_file_needs_replace(cli: Cli, started: Path) -> None:
    """A known tag with other bytes is refused without `--replace` and taken with it."""
    cli("import", "runs", "--runs", "runs.tsv").fine()
    run = (started / "runs" / "bm25-words.run").read_text("utf-8").splitlines()
    write(started / "short.run", *run[:10])
    refused = cli("import", "runs", "short.run").failed(3)
    assert "run `bm25-words` exists with another file (bm25-words.run)" in refused.err
    assert "1 replaced" in cli("import", "runs", "short.run", "--replace").fine().err
    pool = cli("pool", "--depth", "40", "--annotated", "--name", "p", "--out", "-").fine()
    assert sum(" bm25-words " in line for line in pool.out.splitlines()) == 10


def test_late_runs_feed_no_pool(cli: Cli, started: Path) -> None:
    """`--late` and `contributes` no keep a run out of pools; it is evaluated all the same."""
    cli("import", "runs", "runs/bm25-words.run", "runs/rm3-bigrams.run", "--late").fine()
    refused = cli("pool", "--depth", "5").failed(1)
    assert "must hold a run that contributes" in refused.err
    again = cli("import", "runs", "runs/bm25-words.run", "--group", "words").fine()
    assert "warning: `bm25-words`: already there, and left out of pools" in again.err
    cli("import", "runs", "runs/bm25-words.run", "--replace").fine()
    pool = cli("pool", "--depth", "1", "--annotated", "--out", "-").fine().out.splitlines()
    assert {tuple(line.split()[2:4]) for line in pool} == {("bm25-words", "words")}


def test_runs_with_unknown_ids_are_told_of_and_taken(cli: Cli, started: Path) -> None:
    """A run is refused where it has no topic of the collection, and never for documents without a text."""
    cli("import", "topics", "topics.jsonl").fine()
    write(started / "x.run", "G99 Q0 KG-E-001 1 1 x")
    assert (
        "no topic of x.run is in the collection: `G99` here" in cli("import", "runs", "x.run").failed(1).err
    )
    write(started / "d.jsonl", '{"docno": "KG-E-001", "text": "leek"}')
    cli("import", "docs", "d.jsonl", "--all").fine()
    write(started / "x.run", "G99 Q0 KG-E-001 1 1 x", "G01 Q0 KG-E-001 1 2 x", "G01 Q0 new 2 1 x")
    told = cli("import", "runs", "x.run").fine().err
    assert "warning: 1 of 2 topics of x.run not in the collection: `G99`;" in told
    assert "1 of 2 documents of these runs have no text" in told
    # The document is known by the run, and another one is not.
    write(started / "q", "G01 0 new 1", "G01 0 newer 1", "G01 0 newest 1", "G99 0 new 0")
    told = cli("import", "judgements", "q", "--judge", "ann").failed(1).err
    assert told.startswith(
        "error: q: 2 of 3 docnos (2 lines) not in the collection: `newer`, `newest`\nhint: "
    )
    cli("import", "judgements", "q", "--judge", "ann", "--allow-unknown").fine()


@pytest.mark.parametrize(
    ("kind", "lines", "words"),
    [
        (
            "topics",
            ['{"topic": "001", "title": "leek"}'],
            "without leading zeros, 1 of 2 would meet (`1` and `001`)",
        ),
        (
            "docs",
            ['{"docno": "A.txt", "text": "leek"}'],
            "without an ending such as `.txt`, 1 of 1 would meet",
        ),
        ("judgements", ["01 0 a 1"], "without leading zeros, 1 of 1 would meet (`01` and `1`)"),
        (
            "judgements",
            ["1 0 a.txt 1"],
            "without an ending such as `.txt`, 1 of 1 would meet (`a.txt` and `a`)",
        ),
    ],
)
def test_files_whose_ids_do_not_meet_those_of_runs_are_refused(
    kind: str, lines: list[str], words: str, cli: Cli, started: Path
) -> None:
    """With what would make them meet, and nothing of them is kept."""
    write(started / "x.run", "1 Q0 a 1 2 x", "1 Q0 A 2 1 x", "2 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    write(started / "f", *lines)
    options = ("--judge", "ann") if kind == "judgements" else ("--as", "jsonl")
    assert words in cli("import", kind, "f", *options).failed(1).err
    assert "no judges" in cli("show", "judges").fine().out
    with Collection("collection.db") as opened:
        assert (opened.topics.listed(), opened.documents.listed()) == (set(), set())


def test_lenient_reads_runs_by_trec_evals_rules(cli: Cli, started: Path) -> None:
    """`--lenient` passes over comments and what follows field 6, and joins a split topic."""
    write(started / "odd.run", *("# by hand", "1 Q0 a 1 2 x more", "2 Q0 a 1 2 x", "1 Q0 b 2 1 x"))
    cli("import", "runs", "odd.run").failed(1)
    assert "run x, 2 topics: added" in cli("import", "runs", "odd.run", "--lenient").fine().err


def test_file_after_a_faulty_one_is_not_reached(cli: Cli, started: Path) -> None:
    """Runs are one transaction a file: those before a faulty one are in, the others are not."""
    write(started / "bad.run", "G01 Q0 d 1 x bad")
    files = ("runs/bm25-words.run", "bad.run", "runs/rm3-bigrams.run")
    refused = cli("import", "runs", *files).failed(1)
    assert "bad.run:1: expected a finite number" in refused.err
    assert "stopped at bad.run: 1 of 3 files are in" in refused.err
    assert "1 run; pools: none" in cli("status").fine().out


def test_pools_of_a_replaced_run_are_named(cli: Cli, judged: Path) -> None:
    """A run that is replaced after pooling leaves its pools as they are, and says which."""
    write(judged / "new.run", "G01 Q0 KG-E-001 1 1 bm25-words")
    answer = cli("import", "runs", "new.run", "--replace").fine()
    assert "warning: pool `pool` was made from another file of a run" in answer.err


def test_same_file_again_keeps_what_was_said_of_the_run(cli: Cli, started: Path) -> None:
    """A plain second import neither forgets a group nor makes a late run contribute."""
    cli("import", "runs", "runs/bm25-words.run", "--group", "words", "--late").fine()
    again = cli("import", "runs", "runs/bm25-words.run").fine()
    assert "nothing new" in again.err
    pool = cli("pool", "--depth", "1").failed(1)
    assert "must hold a run that contributes" in pool.err


def test_every_malformed_file_has_a_hint(cli: Cli, started: Path) -> None:
    """A fault without advice of its own still says what to do next."""
    write(started / "twice.run", "1 Q0 d 1 1 x", "1 Q0 d 2 0 x")
    refused = cli("import", "runs", "twice.run").failed(1)
    assert "twice.run:2: document `d` is in topic `1` already" in refused.err
    assert "hint: nothing in this file was used" in refused.err
