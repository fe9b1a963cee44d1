"""`pooler provenance`: which run brought what, and the pool at every depth."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.run import Cli, read_run_list


def test_provenance_tables_from_files_and_collection_agree(cli: Cli, judged: Path) -> None:
    """Runs, groups and depths are counted alike; documents come with run, group, rank and score."""
    for by in ("run", "group", "depth", "document"):
        options = ("provenance", "--by", by, "--depth", "4", "--format", "json")
        stored = cli(*options).fine().json()
        files = cli(*options, "--runs", "runs.tsv").fine().json()
        keys = [key for key in stored[0] if "judged" not in key and "relevant" not in key]
        assert [[row[key] for key in keys] for row in stored] == [[row[key] for key in keys] for row in files]
    lines = cli("provenance", "--by", "document", "--depth", "1", "--runs", "runs.tsv").fine()
    assert lines.out == cli("pool", "--runs", "runs.tsv", "--depth", "1", "--annotated").fine().out
    tags = {row["tag"] for row in read_run_list(judged / "runs.tsv") if row["contributes"] == "yes"}
    rows = cli("provenance", "--depth", "1", "--format", "json").fine().json()
    assert {row["run"] for row in rows} == tags


def test_provenance_counts_judged_and_relevant(cli: Cli, here: Path) -> None:
    """From qrels and collection alike: relevant is what some judge graded at the level or above."""
    (here / "x.run").write_text("1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n1 Q0 c 3 1 x\n")
    (here / "y.run").write_text("1 Q0 b 1 3 y\n")
    (here / "q.txt").write_text("1 0 a 1\n1 0 c 0\n1 0 b 2\n")
    options = ("--depth", "3", "--format", "json")
    from_files = cli("provenance", "x.run", "y.run", "--qrels", "q.txt", *options).fine().json()
    assert from_files == [
        {"run": "x", "documents": 3, "unique": 2, "unique_judged": 2, "unique_relevant": 1},
        {"run": "y", "documents": 1, "unique": 0, "unique_judged": 0, "unique_relevant": 0},
    ]
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "x.run", "y.run").fine()
    cli("import", "judgements", "q.txt", "--judge", "ann").fine()
    assert cli("provenance", *options).fine().json() == from_files
    strict = cli("provenance", *options, "--level", "2").fine().json()
    assert strict[0]["unique_relevant"] == 0
    depths = cli("provenance", "--by", "depth", *options).fine().json()
    # Depth 1: a and b; depth 2: the same; depth 3: c too. b is in both runs from depth 2 on.
    assert [(row["pairs"], row["new"], row["relevant"], row["of_one_run"]) for row in depths] == [
        (2, 2, 2, 2),
        (2, 0, 2, 1),
        (3, 1, 2, 2),
    ]
    assert "must be a name where no run file is named" in cli("provenance", "--qrels", "q.txt").failed(1).err
