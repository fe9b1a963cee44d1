"""`pooler evaluate --without`: the residual collection equals trec_eval on files filtered by hand."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import pytrec_eval

import pooler as p
from tests.cli.oracles import read_qrels, read_run
from tests.helpers.run import Cli
from tests.trec_covid import data_path

MEASURES = {"map": "AP", "P_10": "P@10", "ndcg_cut_10": "nDCG@10", "bpref": "Bpref", "Rprec": "Rprec"}


def expected(qrels: Path, before: Path, run: Path) -> dict[str, dict[str, float]]:
    """Return trec_eval's values by topic, of what is left of qrels and run."""
    seen = read_qrels(before)
    left, ranked = (
        {
            topic: {docno: value for docno, value in of.items() if docno not in seen.get(topic, {})}
            for topic, of in given.items()
        }
        for given in (read_qrels(qrels), read_run(run))
    )
    left = {topic: of for topic, of in left.items() if of}
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(left, {*MEASURES}).evaluate(ranked)
    return found


@pytest.mark.parametrize("tag", ["run1", "sab20.1.meta.docs", "udel_fang_run2"])
def test_round_1_without_what_was_judged_before(cli: Cli, here: Path, tag: str) -> None:
    """Of TREC-COVID, documents of iteration .5 were judged before round 1."""
    run = data_path(f"runs-full/{tag}.gz")
    lines = gzip.decompress(data_path("qrels-rnd1.txt.gz").read_bytes()).decode().splitlines(keepends=True)
    Path("all.qrels").write_text("".join(lines))
    Path("before.qrels").write_text("".join(line for line in lines if line.split()[1] == "0.5"))
    options = [word for name in MEASURES.values() for word in ("-m", name)]
    how = ("--order", "trec9", "--qrels", "all.qrels", "--without", "before.qrels", "--format", "json")
    got = cli("evaluate", run, *options, *how).fine()
    assert "without before.qrels: 2,627 of 8,691 judgements and" in got.err
    whole = got.whole()
    assert whole["settings"]["without"] == "before.qrels"
    values = {(row["topic"], row["measure"]): row["value"] for row in whole["topics"]}
    want = expected(Path("all.qrels"), Path("before.qrels"), run)
    assert {topic for topic, _ in values} == {*want, "all"}
    for topic, of_topic in want.items():
        for theirs, ours in MEASURES.items():
            assert values[topic, ours] == pytest.approx(of_topic[theirs], abs=1e-12)


RUN = "".join(f"{topic} Q0 d{n} {n} {9 - n} r\n" for topic in "123" for n in range(1, 7))
ALL = "1 0 d2 1\n1 0 d4 2\n1 0 d5 0\n2 0 d1 1\n2 0 d3 0\n3 0 d6 1\n"


def test_ranks_close_up_and_topics_may_be_left_with_nothing(cli: Cli, here: Path) -> None:
    """By hand: of topic 1 d1 and d2 go, so d4 is at rank 2 of d3 d4 d5 d6; topic 2 loses both judgements."""
    Path("r.run").write_text(RUN)
    Path("all.qrels").write_text(ALL)
    Path("old.qrels").write_text("1 0 d2 1\n1 0 d1 0\n2 0 d1 2\n2 0 d3 0\n9 0 d6 1\n")
    words = ("evaluate", "r.run", "--qrels", "all.qrels", "-m", "RR", "-m", "P@2", "--without")
    got = cli(*words, "old.qrels", "--format", "json").fine()
    assert "without old.qrels: 3 of 6 judgements and 4 of 18 ranked documents left out" in got.err
    assert "1 topic not measured, as every judged document is in old.qrels: 2" in got.err
    whole = got.whole()
    assert whole["settings"]["topics_without_judgement"] == ["2"]
    values = {(row["topic"], row["measure"]): row["value"] for row in whole["topics"]}
    assert values == {
        ("1", "RR"): 1 / 2,
        ("1", "P@2"): 1 / 2,
        ("3", "RR"): 1 / 6,
        ("3", "P@2"): 0,
        ("all", "RR"): 1 / 3,
        ("all", "P@2"): 1 / 4,
    }
    # A threshold of 6 keeps d1 to d3 of every list, of which d3 alone is left in topic 1.
    cut = p.evaluate(("r.run", "all.qrels"), ["RR"], without=Path("old.qrels"), threshold=6)
    assert cut.mean.tolist() == [[0.0]]
    cut = p.evaluate(("r.run", "all.qrels"), ["RR"], without={"1": {"d2": 1, "d1": 0}}, threshold=5)
    assert cut.values.tolist() == [[[1 / 2, 1, 0]]]
    Path("far.qrels").write_text("1 0 x 1\n")
    assert "no document that is judged in far.qrels is in the runs" in cli(*words, "far.qrels").fine().err
    refused = cli(*words, "all.qrels").failed(1)
    assert "no judgement is left: every document of the qrels is judged in all.qrels" in refused.err
    assert "`--without` is not for xinfAP" in cli(*words, "old.qrels", "-m", "xinfAP").failed(1).err


def test_qrels_of_a_collection_by_name(cli: Cli, judged: Path) -> None:
    """A name gives what its exported file gives, and stands in the settings with its version."""
    cli("qrels", "define", "round", "--judge", "strict", "--without-topic", "G02").fine()
    cli("export", "qrels", "round", "--out", "round.qrels").fine()
    Path("one.run").write_bytes((judged / "runs" / "late-tfidf-bigrams.run").read_bytes())
    cli("export", "qrels", "middle", "--out", "middle.qrels").fine()
    how = ("--qrels", "middle", "-m", "AP", "--format", "json", "--without")
    got = cli("evaluate", "late-tfidf-bigrams", *how, "round").fine().whole()
    assert got["settings"]["without"] == "round@1"
    assert {row["topic"] for row in got["topics"]} == {"G02", "all"}
    how = ("--qrels", "middle.qrels", "-m", "AP", "--format", "json", "--without", "round.qrels")
    assert cli("evaluate", "one.run", *how).fine().whole()["topics"] == got["topics"]
