"""`pooler diagnose`: tables scores and contributors, and named runs, against the peers."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import pytrec_eval

from tests.cli.edited_qrels import STRICT, runs_of
from tests.cli.oracles import Scores, average_precision, first_documents, mean, read_qrels
from tests.helpers.run import Cli
from tests.trust.test_diagnose import pooled_of

Qrels = dict[str, dict[str, int]]


def scored(cli: Cli, *options: str) -> tuple[dict[tuple[str, str], Any], dict[str, Any]]:
    """Return the rows of scores by measure and run, and those of gaps by run."""
    found = cli("diagnose", *options, "--format", "json").fine().dossier()
    by_run = {row["run"]: row for row in found["coverage"]}
    return {(row["measure"], row["run"]): row for row in found["scores"]}, by_run


def by_pytrec_eval(qrels: Qrels, run: Scores, measure: str) -> float:
    """Return the mean of a measure, over the topics of the qrels."""
    found = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    name = measure.replace(".", "_")
    return mean(found[topic][name] if topic in found else 0.0 for topic in qrels)


def test_scores_of_every_reading_are_the_peers(cli: Cli, judged: Path) -> None:
    """As judged and of the judged documents alone: pytrec_eval; RBP by its sum; unj_k by counts."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    rows, gaps = scored(cli, *STRICT)
    assert {measure for measure, _ in rows} == {"AP", "nDCG@10", "P@10", "RBP(rel=1)"}
    for tag, run in runs_of(judged).items():
        known = {
            topic: {docno: score for docno, score in scores.items() if docno in qrels[topic]}
            for topic, scores in run.items()
        }
        for measure, theirs in (("AP", "map"), ("nDCG@10", "ndcg_cut.10"), ("P@10", "P.10")):
            row = rows[measure, tag]
            assert row["score"] == pytest.approx(by_pytrec_eval(qrels, run, theirs)), measure
            assert row["judged_only"] == pytest.approx(by_pytrec_eval(qrels, known, theirs))
            assert row["low"] <= row["score"] <= row["high"]
            assert (row["residual"], row["reason"]) == (None, None)
        row = rows["RBP(rel=1)", tag]
        base, residual = [], []
        for topic, grades in qrels.items():
            weights = [(docno, 0.2 * 0.8**rank)
                       for rank, docno in enumerate(first_documents(run, topic, 1000))]  # fmt: skip
            base.append(sum(weight for docno, weight in weights if grades.get(docno, 0) > 0))
            residual.append(sum(weight for docno, weight in weights if docno not in grades)
                            + 0.8 ** len(weights))  # fmt: skip
        assert row["score"] == pytest.approx(mean(base))
        assert row["residual"] == pytest.approx(mean(residual))
        assert row["high"] <= row["score"] + row["residual"] + 1e-12
        unjudged = [
            sum(docno not in qrels[topic] for docno in first_documents(run, topic, 10)) / 10
            for topic in qrels
        ]
        assert gaps[tag]["unj"] == pytest.approx(mean(unjudged))
        assert gaps[tag]["bpref"] == pytest.approx(by_pytrec_eval(qrels, run, "bpref"))


def test_bounds_of_a_small_run_are_those_of_all_fillings(cli: Cli, here: Path) -> None:
    """Two unjudged of five, grades 0 to 2: every filling by pytrec_eval; R grows with them."""
    Path("some.qrels").write_text("t 0 a 1\nt 0 c 2\nt 0 d 0\n", encoding="utf-8")
    run = {"t": {"a": 5.0, "x": 4.0, "c": 3.0, "y": 2.0, "d": 1.0}}
    lines = [f"t Q0 {docno} 1 {score} r\n" for docno, score in run["t"].items()]
    Path("r.run").write_text("".join(lines), encoding="utf-8")
    files = ("--qrels", "some.qrels", "--scale", "0-2", "r.run")
    rows, _ = scored(cli, *files, "-m", "AP", "-m", "nDCG@3", "-m", "P@3", "-m", "Rprec")
    for measure, theirs in (
        ("AP", "map"), ("nDCG@3", "ndcg_cut.3"), ("P@3", "P.3"), ("Rprec", "Rprec"),
    ):  # fmt: skip
        values = [
            by_pytrec_eval({"t": {"a": 1, "c": 2, "d": 0, "x": x, "y": y}}, run, theirs)
            for x, y in product(range(3), repeat=2)
        ]
        assert rows[measure, "r"]["low"] == pytest.approx(min(values))
        assert rows[measure, "r"]["high"] == pytest.approx(max(values))


def test_what_is_not_known_has_a_reason(cli: Cli, judged: Path) -> None:
    """A measure without bounds; runs without documents; topics without relevant ones."""
    rows, _ = scored(cli, *STRICT, "-m", "Bpref")
    for row in rows.values():
        assert (row["low"], row["high"], row["reason"]) == (None, None, "no-bounds")
    text = cli("diagnose", *STRICT, "--table", "scores", "-m", "Bpref").fine().out
    assert "no-bounds: the lowest and the highest value of this measure are not known." in text
    Path("none.qrels").write_text("Z01 0 nowhere 1\nZ02 0 nowhere 0\n", encoding="utf-8")
    Path("z.run").write_text("Z01 Q0 nowhere 1 1 z\nG01 Q0 KG-E-001 1 1 z\n", encoding="utf-8")
    lost = ("--qrels", "none.qrels", "runs/bm25-words.run", "z.run", "-m", "AP")
    rows, gaps = scored(cli, *lost)
    assert rows["AP", "bm25-words"]["score"] == 0
    assert gaps["bm25-words"]["judged"] is None
    assert gaps["bm25-words"]["unj"] == 0
    assert gaps["bm25-words"]["reason"] == "no-pool, no-documents"
    Path("none.qrels").write_text("G01 0 KG-E-001 0\n", encoding="utf-8")
    rows, gaps = scored(cli, *lost)
    row = rows["AP", "bm25-words"]
    assert [row[name] for name in ("score", "judged_only", "low", "high")] == [None] * 4
    assert row["reason"] == "no-relevant"
    assert (gaps["bm25-words"]["bpref"], gaps["bm25-words"]["infap"]) == (None, None)


def test_infap_knows_the_pool(cli: Cli, here: Path) -> None:
    """What the pool holds and nobody judged, as trec_eval reads a line of grade -1."""
    lists = {
        "a": {"d1": 5.0, "d2": 4.0, "d3": 3.0, "d4": 2.0, "d9": 1.0},
        "b": {"d4": 5.0, "d5": 4.0, "d1": 3.0, "d8": 2.0, "d2": 1.0},
    }
    for tag, scores in lists.items():
        lines = [f"t Q0 {docno} 1 {score} {tag}\n" for docno, score in scores.items()]
        Path(f"{tag}.run").write_text("".join(lines), encoding="utf-8")
    grades = {"d2": 0, "d4": 1, "d1": 1, "d8": 1}
    lines = [f"t 0 {docno} {grade}\n" for docno, grade in grades.items()]
    Path("some.qrels").write_text("".join(lines), encoding="utf-8")
    Path("runs.tsv").write_text("file\na.run\nb.run\n", encoding="utf-8")
    files = ("--qrels", "some.qrels", "--runs", "runs.tsv", "--depth", "3")
    _, gaps = scored(cli, *files)
    # The pool of depth 3 is d1, d2, d3, d4, d5; d3 and d5 have no judgement.
    told = {"t": {**grades, "d3": -1, "d5": -1}}
    for tag, scores in lists.items():
        expected = by_pytrec_eval(told, {"t": scores}, "infAP")
        assert gaps[tag]["infap"] == pytest.approx(expected)
        assert gaps[tag]["infap"] != pytest.approx(by_pytrec_eval({"t": grades}, {"t": scores},
                                                                  "infAP"))  # fmt: skip


def test_judged_in_both_conventions(cli: Cli, here: Path) -> None:
    """A list of two, one judged: half of the documents (ir_measures), a tenth of ten ranks."""
    Path("some.qrels").write_text("t 0 a 1\n", encoding="utf-8")
    Path("r.run").write_text("t Q0 a 1 2 r\nt Q0 b 2 1 r\n", encoding="utf-8")
    _, gaps = scored(cli, "--qrels", "some.qrels", "r.run")
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure("Judged@10")],
        [ir_measures.Qrel("t", "a", 1)],
        [ir_measures.ScoredDoc("t", "a", 2.0), ir_measures.ScoredDoc("t", "b", 1.0)],
    )
    assert gaps["r"]["judged"] == next(iter(theirs.values())) == 0.5
    assert gaps["r"]["unj"] == pytest.approx(0.1)
    text = cli("diagnose", "--qrels", "some.qrels", "r.run", "--table", "coverage").fine().out
    assert "judged@10" in text
    assert "unj_10" in text


def test_contributors_are_counted(cli: Cli, judged: Path) -> None:
    """Documents of the pool by how many runs brought them, by sets."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    pooled = pooled_of(runs_of(judged))
    times = Counter(pair for pairs in pooled.values() for pair in pairs)
    found = cli("diagnose", *STRICT, "--format", "json").fine().dossier()
    expected = []
    for n in sorted({*times.values()}):
        pairs = [pair for pair, count in times.items() if count == n]
        relevant = sum(qrels[topic][docno] > 0 for topic, docno in pairs)
        judged_pairs = sum(docno in qrels[topic] for topic, docno in pairs)
        expected.append({"runs": n, "documents": len(pairs), "judged": judged_pairs,
                         "relevant": relevant})  # fmt: skip
    assert found["contributors"] == expected


def test_adjusted_scores_are_of_runs_that_fed_nothing(cli: Cli, judged: Path) -> None:
    """The late run gets what the others lose on average; theirs stay."""
    found = cli("diagnose", *STRICT, "--format", "json").fine().dossier()
    fed = [row for row in found["runs"] if row["contributes"]]
    (late,) = [row for row in found["runs"] if not row["contributes"]]
    loss = mean(row["ap"] - row["ap_left_out"] for row in fed)
    assert found["newcomer_loses"] == pytest.approx(loss)
    assert late["adjusted"] == pytest.approx(late["ap"] + loss)
    assert all(row["adjusted"] == row["ap"] for row in fed)
    assert "adjusted: AP, plus, for runs that fed no pool" in cli("diagnose", *STRICT).fine().out


def test_files_with_one_tag_are_told_apart_by_names(cli: Cli, judged: Path) -> None:
    """Two files of one tag with blanks: the lenient reading and the list's `name`."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    for tag in ("bm25-words", "tfidf-words"):
        text = Path(f"runs/{tag}.run").read_text(encoding="utf-8").replace(f" {tag}", " X [d]")
        Path(f"{tag}.txt").write_text(text, encoding="utf-8")
    Path("named.tsv").write_text(
        "file\tname\nbm25-words.txt\tfirst\ntfidf-words.txt\tsecond\n", encoding="utf-8"
    )
    files = ("--qrels", "judgements/strict.qrels", "--order", "trec9", "--lenient")
    assert cli("diagnose", *files, "bm25-words.txt", "tfidf-words.txt").code == 1
    found = cli("diagnose", *files, "--runs", "named.tsv", "--format", "json").fine().dossier()
    runs = runs_of(judged)
    expected = {
        name: pytest.approx(mean(average_precision(qrels, runs[tag]).values()))
        for name, tag in (("first", "bm25-words"), ("second", "tfidf-words"))
    }
    assert {row["run"]: row["ap"] for row in found["runs"]} == expected
    refused = cli("pool", "--runs", "named.tsv", "--depth", "5", "--lenient")
    assert refused.code == 1
    assert "as the list of runs names the run" in refused.err


def test_options_that_chose_tables(cli: Cli, judged: Path) -> None:
    """Refused with the line to type; a limit is of whatever is shown."""
    refused = cli("diagnose", *STRICT, "--scores").failed(2)
    assert "hint: pooler diagnose --table scores" in refused.err
    shown = cli("diagnose", *STRICT, "--limit", "5", "--format", "json").fine().whole()
    assert len(shown["runs"]) == 5


@pytest.mark.parametrize(
    "options",
    [
        ("--strategy", "take", "--depth", "9", "--budget", "5"),
        ("--strategy", "mtf", "--depth", "9", "--budget", "5"),
        ("--strategy", "uniform", "--depth", "9", "--budget", "9", "--seed", "1"),
    ],
)
def test_pool_that_is_no_depth_pool_is_told(cli: Cli, judged: Path, options: tuple[str, ...]) -> None:
    """What follows is of a depth pool of the same runs, which is said; with a depth nothing is to be said."""
    cli("pool", "drop", "--pool", "pool").fine()
    cli("pool", "--name", "other", *options).fine()
    assert "warning: pool `other` was made by" in cli("diagnose", *STRICT).fine().err
    assert "warning" not in cli("diagnose", *STRICT, "--depth", "5").fine().err
