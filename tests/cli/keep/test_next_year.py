"""Next year begins from the published folder: runs are added, pooled, judged, and the difference is seen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.oracles import average_precision, mean, read_qrels, read_run
from tests.helpers.run import Cli, read_lines


@pytest.mark.parametrize("options", [("--anonymised",), ("--without-runs", "--without-texts")])
def test_a_published_collection_goes_on(cli: Cli, judged: Path, options: tuple[str, ...]) -> None:
    """What was published stays to the byte; new documents alone are judged; the rest is measured apart."""
    rule = ("qrels", "define", "official", "--aggregate", "majority", "--ties", "low")
    cli(*rule, "--as-of", "now").fine()
    cli("export", "collection", "published", *options).fine()
    old = Path("published/qrels/official.qrels").resolve()
    runs = [path.resolve() for path in sorted(Path("runs").iterdir()) if path.stem != "late-tfidf-bigrams"]
    Path("next").mkdir()
    os.chdir("next")
    cli("import", "collection", "../published").fine()
    assert "official        2      yes" in cli("qrels").fine().out
    lower = [line.split() for line in read_lines(judged / "runs" / "lm-words-full.run")]
    new = "".join(f"{t} Q0 {d} {int(r) - 6} {s} new\n" for t, _, d, r, s, _ in lower if int(r) > 6)
    Path("new.run").write_text(new, "utf-8")
    cli("import", "runs", "new.run", *(runs if "--without-runs" in options else ())).fine()
    added = cli("pool", "--add", "--depth", "5").fine()
    assert "16 documents new to the pools; 84 stay" in added.err
    cli("export", "pool", "--name", "pool-2", "--out", "new.txt").fine()
    pairs = [line.split() for line in read_lines(Path("new.txt"))]
    assert {*map(tuple, pairs)}.isdisjoint((t, d) for t, of in read_qrels(old).items() for d in of)
    grades = "".join(f"{topic} 0 {docno} {place % 3}\n" for place, (topic, docno) in enumerate(pairs))
    Path("zoe.qrels").write_text(grades, "utf-8")
    cli("import", "judgements", "zoe.qrels", "--judge", "zoe", "--kind", "human").fine()
    cli(*rule, "--kinds", "human,model").fine()
    rows = cli("qrels", "diff", "official@2", "official", "--format", "json").fine().json()["summary"]
    assert {row["what"]: row["documents"] for row in rows}["added"] == 16
    cli("export", "qrels", "official@2", "--out", "old.qrels").fine()
    assert Path("old.qrels").read_bytes() == old.read_bytes()
    how = ("--without", "official@2", "--order", "trec9", "--format", "json")
    got = cli("evaluate", "new", *how).fine().whole()
    assert got["settings"]["without"] == "official@2"
    seen = read_qrels(old)
    ranked = {
        topic: {docno: score for docno, score in of.items() if docno not in seen[topic]}
        for topic, of in read_run(Path("new.run")).items()
    }
    expected = average_precision(read_qrels(Path("zoe.qrels")), ranked)
    values = {row["topic"]: row["value"] for row in got["topics"] if row["value"] is not None}
    assert values == pytest.approx({**expected, "all": mean(expected.values())}, abs=1e-12)
    fed = cli("diagnose", "--by", "run", "--format", "json").fine().json()["runs"]
    assert {row["run"]: row["unique"] for row in fed}["new"] == 16
    cli("verify").fine()
