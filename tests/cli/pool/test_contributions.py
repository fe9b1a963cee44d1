"""`pooler diagnose --table contributions`, `depths`, `documents`: who brought what, judged or not."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli, read_run_list

RUNS = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"a": 1.0}}, "y": {"1": {"b": 3.0}}}
QRELS = {"1": {"a": 1, "c": 0, "b": 2}}


def test_files_and_collection_agree(cli: Cli, judged: Path) -> None:
    """Runs, groups and depths are counted alike; documents come with run, group, rank and score."""
    for words in (("contributions",), ("contributions", "--by", "group"), ("depths",), ("documents",)):
        options = ("diagnose", "--depth", "4", "--format", "json", "--table", *words)
        stored = cli(*options, "--qrels", "strict").fine().json()
        files = cli(*options, "--runs", "runs.tsv").fine().json()
        keys = [key for key in stored[0] if "judged" not in key and "relevant" not in key]
        assert [[row[key] for key in keys] for row in stored] == [[row[key] for key in keys] for row in files]
    options = ("diagnose", "--table", "documents", "--depth", "1", "--runs", "runs.tsv", "--format", "tsv")
    lines = cli("pool", "--runs", "runs.tsv", "--depth", "1", "--annotated").fine().out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        [row["topic"], row["docno"], row["run"]] for row in cli(*options).fine().tsv()
    ]
    tags = {row["tag"] for row in read_run_list(judged / "runs.tsv") if row["contributes"] == "yes"}
    rows = cli("diagnose", "--qrels", "strict", "--depth", "1", "--table", "contributions", "--format", "tsv")
    assert {row["run"] for row in rows.fine().tsv()} == tags


def test_judged_and_relevant_are_counted(cli: Cli, here: Path) -> None:
    """From qrels and collection alike."""
    (here / "x.run").write_text("1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n1 Q0 c 3 1 x\n")
    (here / "y.run").write_text("1 Q0 b 1 3 y\n")
    (here / "q.txt").write_text("1 0 a 1\n1 0 c 0\n1 0 b 2\n")
    options = ("--depth", "3", "--format", "json", "--table")
    files = ("x.run", "y.run", "--qrels", "q.txt")
    from_files = cli("diagnose", *files, *options, "contributions").fine().json()
    assert from_files == [
        {"run": "x", "documents": 3, "unique": 2, "unique_judged": 2, "unique_relevant": 1},
        {"run": "y", "documents": 1, "unique": 0, "unique_judged": 0, "unique_relevant": 0},
    ]
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "x.run", "y.run").fine()
    cli("import", "judgements", "q.txt", "--judge", "ann").fine()
    assert cli("diagnose", *options, "contributions").fine().json() == from_files
    strict = cli("diagnose", *options, "contributions", "--level", "2").fine().json()
    assert strict[0]["unique_relevant"] == 0
    depths = cli("diagnose", *options, "depths").fine().json()
    # Depth 1: a and b; depth 2: the same; depth 3: c too. b is in both runs from depth 2 on.
    assert [(row["pairs"], row["new"], row["relevant"], row["of_one_run"]) for row in depths] == [
        (2, 2, 2, 2),
        (2, 0, 2, 1),
        (3, 1, 2, 2),
    ]


def test_nothing_need_be_judged(cli: Cli, here: Path) -> None:
    """Runs in memory, in files and in a collection: contributions alone, first; no table of judgements."""
    found = p.diagnose((RUNS, {}), depth=2)
    assert (found.names(), found.conclusions) == (("contributions", "depths"), ())
    assert found.table("contributions").to_dict()["unique"] == [2, 0]
    assert found.table("depths").to_dict()["new"] == [3, 0]
    assert p.diagnose((RUNS, {}), depth=1).table("documents").to_dict()["docno"] == ["a", "b", "a"]
    with pytest.raises(p.UnknownNameError, match="unknown table `scores`; known: `contributions`"):
        found.table("scores")
    (here / "x.run").write_text("1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n")
    alone = cli("diagnose", "x.run", "--depth", "1").fine()
    assert "nothing is judged" in alone.err
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "x.run").fine()
    assert cli("diagnose", "--depth", "1").fine().out == alone.out


def test_judged_documents_are_counted_in_memory() -> None:
    """By run, of the topics that are judged and those that are not; a level says what is relevant."""
    found = p.diagnose((RUNS, QRELS), depth=3)
    assert found.table("contributions").to_records()[0] == {
        "run": "x", "documents": 4, "unique": 3, "unique_judged": 2, "unique_relevant": 1,
    }  # fmt: skip
    strict = p.diagnose(p.source(RUNS, qrels=QRELS, level=2), depth=3)
    assert strict.table("contributions").to_dict()["unique_relevant"] == [0, 0]


def test_a_depth_is_a_rank() -> None:
    """Nothing is taken from less than the first rank."""
    with pytest.raises(p.ArgumentError, match="depth"):
        p.diagnose((RUNS, {}), depth=0)
