"""`pooler diagnose`, against sets, pytrec_eval, edited qrels and published scores of collections."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pooler.commands.trust.conclusions import conclusions
from pooler.commands.trust.diagnose import Diagnosis, chosen_left
from pooler.sources.source import Source
from pooler.tables import Table
from store.analysis.pools.diagnosis import PoolDiagnosis, diagnose
from store.analysis.rankings import graded_rankings, judged_rankings
from store.text import rough
from tests.helpers.oracles import (
    STRICT,
    Grades,
    Scores,
    average_precision,
    first_documents,
    mean,
    read_qrels,
    read_run,
)
from tests.helpers.run import Cli, write
from tests.helpers.shared_data import shared_data

DEPTH = 5
LATE = "late-tfidf-bigrams"
"""The run that does not feed pools."""
Pairs = set[tuple[str, str]]
Pooled = dict[str, Pairs]
"""Topic and docno within the depth, by run."""
Runs = dict[str, Scores]


def pooled_of(runs: Runs, depth: int = DEPTH) -> Pooled:
    """Take the first documents of every run that feeds the pool."""
    return {
        tag: {(topic, docno) for topic in run for docno in first_documents(run, topic, depth)}
        for tag, run in runs.items()
        if tag != LATE
    }


def pool_of(runs: Runs, depth: int = DEPTH) -> Pairs:
    """Take all of these together."""
    return set().union(*pooled_of(runs, depth).values())


def diagnosed(cli: Cli, *options: str | Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the facts, and the rows by run."""
    found = cli("diagnose", *options, "--format", "json").fine().dossier()
    return found, {row["run"]: row for row in found["runs"]}


def test_runs_are_scored_as_if_they_had_come_late(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """Without what a run alone brought: uniques by sets, AP and places by pytrec_eval."""
    pooled = pooled_of(runs)
    official = {tag: mean(average_precision(qrels, run).values()) for tag, run in runs.items()}
    _, rows = diagnosed(cli, *STRICT, "--by", "run")
    assert set(rows) == set(runs)
    for tag, row in rows.items():
        assert row["ap"] == pytest.approx(official[tag])
        assert row["contributes"] == (tag != LATE)
        if tag == LATE:
            assert [row[name] for name in ("unique", "unique_relevant", "ap_left_out", "change",
                                           "rank_left_out", "tau")] == [None] * 6  # fmt: skip
            continue
        others = [pairs for name, pairs in pooled.items() if name != tag]
        alone = pooled[tag] - set().union(*others)
        left = {
            topic: {docno: grade for docno, grade in grades.items() if (topic, docno) not in alone}
            for topic, grades in qrels.items()
        }
        late = mean(average_precision(left, runs[tag]).values())
        assert row["ap_left_out"] == pytest.approx(late)
        assert row["change"] == pytest.approx(late - official[tag], abs=1e-15)
        assert row["rank"] == 1 + sum(one > official[tag] + 1e-12 for one in official.values())
        elsewhere = [score for name, score in official.items() if name != tag]
        assert row["rank_left_out"] == 1 + sum(one > late + 1e-12 for one in elsewhere)
        assert row["unique"] == len(alone)
        assert row["unique_relevant"] == sum(qrels[topic][docno] > 0 for topic, docno in alone)


def test_scores_of_incomplete_judgements_are_the_peers(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """bpref; AP of the judged documents alone; the share of them; limits around AP."""
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"})
    _, rows = diagnosed(cli, *STRICT)
    for tag, run in runs.items():
        row = rows[tag]
        assert row["bpref"] == pytest.approx(mean(one["bpref"] for one in evaluator.evaluate(run).values()))
        known = {
            topic: {docno: score for docno, score in scores.items() if docno in qrels[topic]}
            for topic, scores in run.items()
        }
        assert row["condensed"] == pytest.approx(mean(average_precision(qrels, known).values()))
        shares = [
            sum(docno in qrels[topic] for docno in first_documents(run, topic, 10)) / 10 for topic in qrels
        ]
        assert row["judged"] == pytest.approx(mean(shares))
        assert row["low"] <= row["ap"] <= row["high"]


def test_pool_is_told_of(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """Sizes by sets; how the depth is known: from the collection, the option, the judgements."""
    pairs = pool_of(runs)
    facts, _ = diagnosed(cli, *STRICT)
    known = {(topic, docno) for topic, grades in qrels.items() for docno in grades}
    assert (facts["depth"], facts["depth_known"]) == (DEPTH, "as the collection was pooled")
    assert (facts["pool"], facts["pool_judged"]) == (len(pairs), len(pairs & known))
    assert facts["judged_outside_pool"] == len(known - pairs)
    assert facts["contributing_runs"] == 8
    given, _ = diagnosed(cli, *STRICT, "--depth", "3")
    assert (given["depth"], given["depth_known"]) == (3, "as given")
    assert given["judged_outside_pool"] > 0


def test_files_need_no_collection(cli: Cli, judged: Path) -> None:
    """With the list of runs the same rows; without one, depth and runs are told from the qrels."""
    qrels = ("--qrels", "judgements/strict.qrels", "--order", "trec9")
    expected, rows = diagnosed(cli, *STRICT)
    facts, of_files = diagnosed(cli, *qrels, "--runs", "runs.tsv", "--depth", str(DEPTH))
    assert of_files == {tag: pytest.approx(row) for tag, row in rows.items()}
    assert facts["pool"] == expected["pool"]
    files = [f"runs/{tag}.run" for tag in rows]
    inferred, _ = diagnosed(cli, *qrels, *files)
    assert inferred["depth_known"] == "as the judgements look"
    assert inferred["depth"] == DEPTH
    assert inferred["contributing_runs"] >= 8


def test_groups_are_left_out_whole(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """Documents that a group's runs alone brought, for all of its runs."""
    pooled = pooled_of(runs)
    words = {"bm25-words", "lm-words-full", "tfidf-words"}
    inside = set().union(*(pooled[tag] for tag in words))
    outside = set().union(*(pairs for tag, pairs in pooled.items() if tag not in words))
    left = {
        topic: {docno: grade for docno, grade in grades.items()
                if (topic, docno) not in inside - outside}
        for topic, grades in qrels.items()
    }  # fmt: skip
    facts, rows = diagnosed(cli, *STRICT)
    assert diagnosed(cli, *STRICT, "--by", "group") == (facts, rows)
    apart, of_runs = diagnosed(cli, *STRICT, "--by", "run")
    for tag, row in rows.items():
        assert row["change_by_run"] == of_runs[tag]["change"]
    assert "change_by_run" not in of_runs[LATE]
    assert facts["left_out"] == "whole groups"
    assert apart["left_out"] == "single runs"
    for name in ("unique", "mean_change", "newcomer_loses"):
        full = {"mean_change": "mean_change_left_out"}.get(name, name)
        assert facts[f"{name}_by_run"] == apart[full]
        assert facts[full] != apart[full]
    alone = inside - outside
    for tag in words:
        late = mean(average_precision(left, runs[tag]).values())
        assert rows[tag]["ap_left_out"] == pytest.approx(late)
        assert rows[tag]["unique"] == len(alone)
        assert rows[tag]["unique_relevant"] == sum(qrels[topic][one] > 0 for topic, one in alone)
    losses = [abs(row["change"]) for row in rows.values() if row["contributes"]]
    assert facts["mean_change_left_out"] == pytest.approx(mean(losses))
    text = " ".join(cli("diagnose", *STRICT).fine().out.split())
    assert f"one at a time they would lose {rough(-mean(_changes(of_runs)))} on average" in text
    late = f"with its whole group, a pooled run would lose {rough(mean(losses))} of MAP"
    assert late in text


def test_places_are_told_by_what_they_are_counted(cli: Cli, judged: Path) -> None:
    """Three runs fall by a place each with their groups; each alone among the others, four do.

    tfidf-words falls from .6118 to .6007, below the .6012 that bm25-words of its group has now,
    and not below the .5900 that this run is left with.
    """
    facts, rows = diagnosed(cli, *STRICT)
    fed = [row for row in rows.values() if row["contributes"]]
    assert sum(abs(row["rank"] - row["rank_left_out"]) for row in fed) == 3
    assert (rows["tfidf-words"]["rank"], rows["tfidf-words"]["rank_left_out"]) == (4, 4)
    passed = sum(row["ap_left_out"] < other["ap"] < row["ap"] for row in fed for other in rows.values())
    assert facts["rank_changes_left_out"] == passed == 4
    words = " ".join(cli("diagnose", *STRICT).fine().out.split())
    placed = ", with each ranked among the present scores of all others"
    theirs = ", when the other runs of its group have lost theirs too"
    assert f"In all{placed}, runs would move by 4 places" in words
    assert f"rank: place among all runs. late: its place without its unique documents{theirs}." in words
    by_run = " ".join(cli("diagnose", *STRICT, "--by", "run").fine().out.split())
    assert (placed in by_run, theirs in by_run) == (False, False)


def _changes(rows: dict[str, dict[str, Any]]) -> list[float]:
    """Return the changes of the runs that fed the pool."""
    return [row["change"] for row in rows.values() if row["contributes"]]


def test_what_no_depth_pool_is_says_so(cli: Cli, judged: Path) -> None:
    """Judgements of single documents look like no pool; scores are there all the same."""
    Path("few.qrels").write_text("G01 0 KG-E-002 1\nG02 0 nowhere 1\n", encoding="utf-8")
    facts, rows = diagnosed(cli, "--qrels", "few.qrels", "runs/bm25-words.run", "runs/tfidf-words.run")
    assert facts["depth"] is None
    assert facts["reason"]
    assert set(rows["bm25-words"]) >= {"ap", "bpref", "low", "high"}
    assert "unique" not in rows["bm25-words"]
    Path("none.tsv").write_text(
        "file\tcontributes\nruns/bm25-words.run\tno\nruns/tfidf-words.run\tno\n", encoding="utf-8"
    )
    late = ("--qrels", "judgements/strict.qrels", "--runs", "none.tsv", "--depth", "5")
    facts, _ = diagnosed(cli, *late)
    assert (facts["depth"], facts["reason"]) == (None, "no-contributing-run")


def test_topics_and_ranks_are_counted(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """Documents of each topic's pool, and of each rank, by sets."""
    found, _ = diagnosed(cli, *STRICT, "--depth", "3", "--limit", "12")
    assert len(found["topics"]) == len(qrels)
    shallow = pool_of(runs, 3)
    for row in found["topics"]:
        grades = qrels[row["topic"]]
        pool = {docno for topic, docno in shallow if topic == row["topic"]}
        assert row == {
            "topic": row["topic"],
            "pooled": len(pool),
            "pool_judged": len(pool & {*grades}),
            "pool_relevant": sum(grades.get(docno, 0) > 0 for docno in pool),
            "pool_not_relevant": sum(grades.get(docno, 1) <= 0 for docno in pool),
            "pool_unjudged": len(pool - {*grades}),
            "judged": len(grades),
            "relevant": sum(grade > 0 for grade in grades.values()),
            "outside": len({*grades} - pool),
        }
    assert sum(row["pooled"] for row in found["topics"]) == found["pool"] == len(shallow)
    assert [row["rank"] for row in found["ranks"]] == [*range(1, 13)]
    assert len(diagnosed(cli, *STRICT)[0]["ranks"]) == 20
    for row in found["ranks"]:
        place = row["rank"] - 1
        there = [
            (topic, first_documents(run, topic, 1000)[place])
            for run in runs.values()
            for topic in run
            if len(first_documents(run, topic, 1000)) > place
        ]
        known = sum(docno in qrels[topic] for topic, docno in there)
        assert (row["documents"], row["judged"]) == (len(there), known)
        assert row["unjudged"] == len(there) - known
        assert row["share_unjudged"] == pytest.approx(1 - known / len(there))
        new = pool_of(runs, place + 1) - pool_of(runs, place)
        assert row["entering"] == len(new)
        assert row["entering_judged"] == sum(docno in qrels[topic] for topic, docno in new)
        assert row["entering_relevant"] == sum(qrels[t].get(docno, 0) > 0 for t, docno in new)


def test_lists_may_end_above_the_depth(cli: Cli, runs: Runs) -> None:
    """A depth below the end of every list: the pool is all there is."""
    late = ("--qrels", "judgements/strict.qrels", "--runs", "runs.tsv", "--depth", "900")
    facts, _ = diagnosed(cli, *late, "--order", "trec9")
    assert facts["pool"] == len(pool_of(runs, 900))


def test_cutoff_above_what_is_looked_at_by_itself(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """Five ranks: judged@5, and no measure that looks deeper."""
    options = (*STRICT, "--cutoff", "5")
    found, rows = diagnosed(cli, *options)
    assert {row["measure"] for row in found["scores"]} == {"AP", "RBP(rel=1)"}
    for tag, run in runs.items():
        shares = [
            sum(docno in qrels[topic] for docno in first_documents(run, topic, 5)) / 5 for topic in qrels
        ]
        assert rows[tag]["judged"] == pytest.approx(mean(shares))
    assert "judged@5" in cli("diagnose", *options).fine().out
    assert cli("diagnose", *STRICT, "--cutoff", "5", "--judged-at", "10").code == 1


def test_what_was_pooled_and_not_judged_is_no_matter_of_order(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """One of twelve documents lacks a grade: the stored pool says that it was there to be judged."""
    docnos = [f"d{number:02}" for number in range(12)]
    collection_of("0-1", ann=[f"1 0 {docno} {int(docno < 'd03')}" for docno in docnos[:-1]])
    write(here / "a.run", *[f"1 Q0 {docno} 1 {-rank} a" for rank, docno in enumerate(docnos)])
    cli("import", "runs", "a.run").fine()
    cli("pool", "--depth", "12").fine()
    said = " ".join(cli("diagnose").fine().out.split())
    assert "1 of 12 pooled documents" in said
    assert ("are unjudged; the pool is" in said, "equal scores" in said) == (True, False)


def test_a_pool_stays_in_the_order_that_it_was_made_in(cli: Cli, here: Path) -> None:
    """By docno-asc r brought a and b, s b and c; trec ranks c, b, a and e, c, b: scores follow it."""
    for tag, docnos in (("r", "abc"), ("s", "bce")):
        write(here / tag, *[f"1 Q0 {one} 1 1 {tag}" for one in docnos])
    write(here / "runs.tsv", "file\tcontributes", "r\tyes", "s\tyes")
    write(here / "ann", "1 0 a 1", "1 0 b 0", "1 0 c 0")
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "2", "--order", "docno-asc").fine()
    cli("import", "judgements", "ann", "--judge", "ann").fine()
    for order, ap in (("trec", 1 / 3), ("trec9", 1 / 3), ("docno-asc", 1.0)):
        options = ("--order", order, "--format", "json")
        found = cli("diagnose", *options).fine().dossier()
        assert [row["ap"] for row in found["runs"]] == pytest.approx([ap, 0]), order
        assert [row["unique"] for row in found["runs"]] == [1, 1]
        [topic] = found["topics"]
        assert (topic["pooled"], topic["pool_unjudged"], topic["outside"]) == (3, 0, 0)
        assert any("P@2" in one for one in found["conclusions"]) == (order == "docno-asc")
        depths = cli("diagnose", "--table", "depths", *options).fine().json()
        assert [row["pairs"] for row in depths] == [2, 3]
        brought = cli("report", "runs", "pages", *options).fine().json()["brought_alone"]
        assert [(one["run"], one["docno"], one["rank"]) for one in brought] == [("r", "a", 1), ("s", "c", 2)]
        assert [one["outcome"] for one in brought] == ["relevant", "not relevant"]


def scored(cli: Cli, *options: str) -> dict[tuple[str, str], Any]:
    """Return the rows of scores by measure and run."""
    found = cli("diagnose", *options, "--format", "json").fine().dossier()
    return {(row["measure"], row["run"]): row for row in found["scores"]}


def by_pytrec_eval(qrels: Grades, run: Scores, measure: str) -> float:
    """Return the mean of a measure, over the topics of the qrels."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    name = measure.replace(".", "_")
    return mean(found[topic][name] if topic in found else 0.0 for topic in qrels)


def test_scores_of_every_reading_are_the_peers(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """As judged and of the judged documents alone: pytrec_eval; RBP by its sum."""
    rows = scored(cli, *STRICT)
    assert {measure for measure, _ in rows} == {"AP", "nDCG@10", "P@10", "RBP(rel=1)"}
    for tag, run in runs.items():
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


def test_bounds_of_a_small_run_are_those_of_all_fillings(cli: Cli, here: Path) -> None:
    """Two unjudged of five, grades 0 to 2: every filling by pytrec_eval; R grows with them."""
    write(here / "some.qrels", "t 0 a 1", "t 0 c 2", "t 0 d 0")
    run = {"t": {"a": 5.0, "x": 4.0, "c": 3.0, "y": 2.0, "d": 1.0}}
    write(here / "r.run", *[f"t Q0 {docno} 1 {score} r" for docno, score in run["t"].items()])
    files = ("--qrels", "some.qrels", "--scale", "0-2", "r.run")
    rows = scored(cli, *files, "-m", "AP", "-m", "nDCG@3", "-m", "P@3", "-m", "Rprec")
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
    rows = scored(cli, *STRICT, "-m", "Bpref")
    for row in rows.values():
        assert (row["low"], row["high"], row["reason"]) == (None, None, "no-bounds")
    Path("none.qrels").write_text("Z01 0 nowhere 1\nZ02 0 nowhere 0\n", encoding="utf-8")
    Path("z.run").write_text("Z01 Q0 nowhere 1 1 z\nG01 Q0 KG-E-001 1 1 z\n", encoding="utf-8")
    lost = ("--qrels", "none.qrels", "runs/bm25-words.run", "z.run", "-m", "AP")
    rows = scored(cli, *lost)
    assert rows["AP", "bm25-words"]["score"] == 0
    Path("none.qrels").write_text("G01 0 KG-E-001 0\n", encoding="utf-8")
    rows = scored(cli, *lost)
    row = rows["AP", "bm25-words"]
    assert [row[name] for name in ("score", "judged_only", "low", "high")] == [None] * 4
    assert row["reason"] == "no-relevant"


def test_contributors_are_counted_and_late_runs_adjusted(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """Documents of the pool by how many runs brought them; the late run gets what others lose on average."""
    times = Counter(pair for pairs in pooled_of(runs).values() for pair in pairs)
    found, rows = diagnosed(cli, *STRICT)
    assert found["contributors"] == [
        {
            "runs": n,
            "documents": sum(count == n for count in times.values()),
            "judged": sum(docno in qrels[topic] for (topic, docno), count in times.items() if count == n),
            "relevant": sum(qrels[topic][docno] > 0 for (topic, docno), count in times.items() if count == n),
        }
        for n in sorted({*times.values()})
    ]
    late = rows.pop(LATE)
    loss = mean(row["ap"] - row["ap_left_out"] for row in rows.values())
    assert found["newcomer_loses"] == pytest.approx(loss)
    assert late["adjusted"] == pytest.approx(late["ap"] + loss)
    assert all(row["adjusted"] == row["ap"] for row in rows.values())


def test_files_with_one_tag_are_told_apart_by_names(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """Two files of one tag with blanks: the lenient reading and the list's `name`."""
    for tag in ("bm25-words", "tfidf-words"):
        text = Path(f"runs/{tag}.run").read_text(encoding="utf-8").replace(f" {tag}", " X [d]")
        Path(f"{tag}.txt").write_text(text, encoding="utf-8")
    Path("named.tsv").write_text(
        "file\tname\nbm25-words.txt\tfirst\ntfidf-words.txt\tsecond\n", encoding="utf-8"
    )
    files = ("--qrels", "judgements/strict.qrels", "--order", "trec9", "--lenient")
    assert cli("diagnose", *files, "bm25-words.txt", "tfidf-words.txt").code == 1
    found = cli("diagnose", *files, "--runs", "named.tsv", "--format", "json").fine().dossier()
    expected = {
        name: pytest.approx(mean(average_precision(qrels, runs[tag]).values()))
        for name, tag in (("first", "bm25-words"), ("second", "tfidf-words"))
    }
    assert {row["run"]: row["ap"] for row in found["runs"]} == expected
    refused = cli("pool", "--runs", "named.tsv", "--depth", "5", "--lenient")
    assert refused.code == 1
    assert "as the list of runs names the run" in refused.err


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


def listed(rows: list[tuple[str, ...]], *columns: str) -> str:
    """Write a list of runs beside the test's other files."""
    lines = ["\t".join(columns), *("\t".join(row) for row in rows)]
    Path("runs.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return "runs.tsv"


def first_of(path: Path, depth: int) -> dict[str, list[str]]:
    """Return the first documents of each topic: score descending, ties by docno ascending."""
    topics: dict[str, list[tuple[float, str]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, _, docno, _, score, _ = line.split()
            topics.setdefault(topic, []).append((-float(score), docno))
    return {topic: [docno for _, docno in sorted(one)[:depth]] for topic, one in topics.items()}


@pytest.mark.slow
def test_trec_covid_pool_is_the_organisers(cli: Cli) -> None:
    """Depth 7 of 56 of 143 runs: the pool, what each brought, and its AP without that, by sets."""
    folder = shared_data("trec-covid-r1")
    with (folder / "leaderboard.csv").open(encoding="utf-8") as file:
        board = list(csv.DictReader(file))
    fed = {row["run"] for row in board if row["contributed judgments"] == "yes"}
    files = {row["run"]: folder / "runs-top120" / f"{row['run']}.gz" for row in board}
    rows = [(str(files[run]), "yes" if run in fed else "no") for run in files]
    found, by_run = diagnosed(
        cli, "--qrels", folder / "qrels-rnd1.txt.gz", "--runs", listed(rows, "file", "contributes"),
        "--depth", "7", "--order", "docno-asc", "--limit", "143",
    )  # fmt: skip
    assert (len(by_run), found["contributing_runs"]) == (143, 56)
    assert (found["pool"], found["pool_judged"], found["judged"]) == (6959, 6959, 8691)
    assert found["judged_outside_pool"] == 8691 - 6959
    # Printed with the data: unjudged of all at rank N + 1.
    ranks = {row["rank"]: (row["unjudged"], row["documents"]) for row in found["ranks"]}
    assert ranks[8] == (1993, 4270)
    assert ranks[11] == (2211, 4262)
    assert ranks[21] == (2532, 4252)
    assert ranks[51] == (3027, 4151)

    qrels = read_qrels(folder / "qrels-rnd1.txt.gz")
    pooled: dict[str, Pairs] = {
        run: {(topic, docno) for topic, one in first_of(files[run], 7).items() for docno in one}
        for run in fed
    }
    times: dict[tuple[str, str], int] = {}
    for pair in (pair for pairs in pooled.values() for pair in pairs):
        times[pair] = times.get(pair, 0) + 1
    n_alone = n_alone_relevant = 0
    for run, pairs in pooled.items():
        alone = {pair for pair in pairs if times[pair] == 1}
        relevant = sum(qrels[topic][docno] > 0 for topic, docno in alone)
        assert (by_run[run]["unique"], by_run[run]["unique_relevant"]) == (len(alone), relevant)
        n_alone, n_alone_relevant = n_alone + len(alone), n_alone_relevant + relevant
    assert found["unique"] == n_alone
    assert found["contributors"][0]["documents"] == n_alone
    assert found["contributors"][0]["relevant"] == n_alone_relevant
    assert sum(row["documents"] for row in found["contributors"]) == len(times)
    for row in found["topics"]:
        assert row["pooled"] == sum(topic == row["topic"] for topic, _ in times)
    for run in ("xj4wang_run1", "poznan_run1", "sab20.1.meta.docs", "OHSU_RUN2"):
        if run not in fed:
            continue
        # trec_eval's order is another one: say the order by scores that have no ties.
        order = first_of(files[run], 1000)
        ranked = {topic: {docno: -float(at) for at, docno in enumerate(one)}
                  for topic, one in order.items()}  # fmt: skip
        left = {
            topic: {docno: grade for docno, grade in grades.items()
                    if (topic, docno) not in pooled[run] or times[topic, docno] > 1}
            for topic, grades in qrels.items()
        }  # fmt: skip
        official = mean(average_precision(qrels, ranked).values())
        late = mean(average_precision(left, ranked).values())
        assert by_run[run]["ap"] == pytest.approx(official)
        assert by_run[run]["ap_left_out"] == pytest.approx(late)


@pytest.mark.slow
def test_trec_covid_bpref_is_the_leaderboards(cli: Cli) -> None:
    """The 14 whole runs, to the four decimals printed."""
    folder = shared_data("trec-covid-r1")
    with (folder / "leaderboard.csv").open(encoding="utf-8") as file:
        board = {row["run"]: row for row in csv.DictReader(file)}
    files = sorted((folder / "runs-full").iterdir())
    _, by_run = diagnosed(cli, "--qrels", folder / "qrels-rnd1.txt.gz", "--order", "trec9", *files)
    assert len(by_run) == 14
    for run, row in by_run.items():
        assert row["bpref"] == pytest.approx(float(board[run]["bpref"]), abs=0.000051), run
        assert row["ap"] == pytest.approx(float(board[run]["MAP"]), abs=0.000051), run


@pytest.mark.slow
def test_wtr_pool_has_gaps_where_its_makers_left_them(cli: Cli) -> None:
    """Depth 20 of 7 runs: 7,032 pairs, 83 of them unjudged, in a few topics."""
    folder = shared_data("wtr-pool")
    rows = [(str(path),) for path in sorted((folder / "pool-runs").iterdir())]
    qrels = folder / "rel_table_qrels.txt.gz"
    found, by_run = diagnosed(cli, "--qrels", qrels, "--runs", listed(rows, "file"), "--depth", "20")
    assert (found["pool"], found["pool_judged"]) == (7032, 6949)
    assert (found["pool_unjudged"], found["judged_outside_pool"]) == (83, 0)
    unjudged = {row["topic"]: row["pool_unjudged"] for row in found["topics"]}
    assert [unjudged[topic] for topic in ("28", "2", "40", "9", "16")] == [15, 14, 7, 5, 4]
    assert sum(unjudged.values()) == 83
    assert round(by_run["catchall"]["ap"], 4) == 0.1498
    assert round(by_run["textBefore"]["ap"], 4) == 0.1417
    text = " ".join(
        cli("diagnose", "--qrels", qrels, "--runs", "runs.tsv", "--depth", "20").fine().out.split()
    )
    assert "83 of 7,032 pooled documents (1.2 %) are unjudged" in text


@pytest.mark.slow
def test_acordar_has_a_pool_that_is_judged_by_less_than_half(cli: Cli) -> None:
    """Files of one tag with blanks, told apart by name: 12,733 of 22,669 are unjudged."""
    folder = shared_data("acordar")
    files = sorted((folder / "runs").iterdir())
    rows = [(str(path), path.name.removesuffix(".txt.gz")) for path in files]
    options = (
        "--qrels", folder / "qrels.txt.gz", "--runs", listed(rows, "file", "name"),
        "--depth", "10", "--lenient",
    )  # fmt: skip
    found, by_run = diagnosed(cli, *options, "-m", "nDCG@10")
    assert len(by_run) == 12
    assert (found["pool"], found["pool_judged"], found["pool_unjudged"]) == (22669, 9936, 12733)
    assert found["judged_outside_pool"] == 735
    gains = {row["run"]: row["score"] for row in found["scores"]}
    assert (round(gains["BM25F"], 4), round(gains["FSDM"], 4)) == (0.5876, 0.6151)
    assert round(by_run["BM25F"]["ap"], 4) == 0.4356
    assert round(by_run["FSDM"]["ap"], 4) == 0.4602
    qrels = read_qrels(folder / "qrels.txt.gz")
    run = read_run(folder / "runs" / "BM25F.txt.gz")
    known = sum(docno in qrels[topic] for topic, one in run.items() for docno in one)
    assert by_run["BM25F"]["judged"] == pytest.approx(known / sum(map(len, run.values())))
    text = " ".join(cli("diagnose", *options).fine().out.split())
    assert "12,733 of 22,669 pooled documents (56.2 %) are unjudged" in text


@pytest.mark.slow
def test_runs_that_made_no_pool_are_told_nothing_of_it(cli: Cli, here: Path) -> None:
    """TREC-COVID by two runs that fed no pool: what they look like is withheld, and why."""
    folder = shared_data("trec-covid-r1")
    files = [folder / "runs-top120" / f"{tag}.gz" for tag in ("BBGhelani1", "run2")]
    bare = ("--qrels", folder / "qrels-rnd1.txt.gz", *files, "--order", "docno-asc")
    found, rows = diagnosed(cli, *bare)
    assert (found["depth"], found["reason"]) == (None, "bad-guess")
    assert "unique" not in rows["run2"]
    told = " ".join(cli("diagnose", *bare).fine().out.split())
    assert "of 8,691 judged documents" in told
    assert "are not among those, so other runs or ranks made it" in told
    assert "submitted late," not in told
    cli("report", "page.html", *bare).fine()
    page = (here / "page.html").read_text("utf-8")
    assert "Nothing is concluded about the pool: " in page
    assert "What the pool owes to its runs" not in page
    assert "The difference that two runs need" not in page


Lists = dict[tuple[str, str], list[int]]
GradesById = dict[str, dict[int, int]]


def diagnosed_lists(lists: Lists, grades: GradesById, **options: object) -> PoolDiagnosis:
    """Diagnose small lists; relevant = grade 1 or more."""
    tags = list(dict.fromkeys(tag for tag, _ in lists))
    ranked = {key: np.array(one, dtype=np.int64) for key, one in lists.items()}
    ids = {topic: np.array([*one], dtype=np.int64) for topic, one in grades.items()}
    codes = {topic: np.array([*one.values()], dtype=np.int64) for topic, one in grades.items()}
    return diagnose(
        judged_rankings([*grades], tags, ranked,
                        {topic: (ids[topic], codes[topic] >= 1) for topic in grades}, cutoff=1000),
        graded_rankings([*grades], tags, ranked,
                        {topic: (ids[topic], codes[topic]) for topic in grades}, cutoff=1000),
        level=1, **options,  # type: ignore[arg-type]  # the tests' own keywords
    )  # fmt: skip


def table(found: PoolDiagnosis, name: str) -> Table:
    """Return a table of what was found."""
    settings = {"limit": None}
    made = Diagnosis(analysed=found, left_out=None, conclusions=(), source=Source(), settings=settings)
    return made.table(name)


def said(found: PoolDiagnosis, *, by: str | None = None, judged_at: int = 2) -> str:
    """Return all conclusions in one text."""
    return " ".join(conclusions(found, chosen_left(found, by=by), judged_at))


ALL = np.ones(3, np.bool_)
LISTS: Lists = {
    ("a", "t"): [1, 2, 3],
    ("b", "t"): [1, 4, 5],
    ("c", "t"): [6, 1, 7],
    ("a", "u"): [1, 2],
    ("b", "u"): [2, 1],
    ("c", "u"): [1, 2],
}
WHOLE: GradesById = {"t": {1: 1, 2: 0, 4: 1, 6: 0}, "u": {1: 0, 2: 0}}
"""The pool of depth 2 of all runs."""


def test_whole_pool() -> None:
    """All judged; `b` alone brought 4, and without it has 1 alone of R = 1."""
    text = said(diagnosed_lists(LISTS, WHOLE, depth=2, contributing=ALL, judged_at=2))
    assert "All 6 documents of the pool, the first 2 documents of each of 3 runs, are" in text
    # AP of `b` is 1 before and after; `a` and `c` have nothing relevant of their own.
    late = "Had it been submitted late, no pooled run would lose any MAP"
    assert f"{late}; 0 of 3 runs would change place." in text
    assert "No run would lose 5 % of its AP or more" in text
    # At rank 2 three documents came: 2 and 4 of t, 2 of u would be first already.
    assert "Rank 2, the last of the pool, still brought 1 relevant document among 2" in text
    assert "(50 %; 5 % or more is a sign that the pool ended too early). With so few, the share" in text
    assert "cannot be estimated: a pool of fewer than three ranks shows no trend" in text
    assert "1 topic has no relevant document and no AP: u." in text
    assert "1 topic has fewer than 5 relevant documents" in text
    assert "Every run has at least 90 % of the first 2 documents judged." in text
    # Of three judged at the last rank none is relevant: less than 5 %, and nothing more.
    none: GradesById = {"t": {1: 1, 2: 0, 4: 0, 6: 0}, "u": {1: 0, 2: 0}}
    text = said(diagnosed_lists(LISTS, none, depth=2, contributing=ALL))
    assert "(0 %; 5 % or more would be a sign that the pool ended too early)" in text


def test_pool_with_gaps() -> None:
    """Unjudged ones are counted, and what is judged outside."""
    grades: GradesById = {"t": {1: 1, 2: 0, 9: 1}, "u": {1: 0}}
    text = said(diagnosed_lists(LISTS, grades, depth=2, contributing=ALL, judged_at=2))
    assert "3 of 6 pooled documents (50 %) are unjudged; the pool is the first 2 documents" in text
    assert "1 judged document is not in the pool and came from elsewhere" in text
    # Of a: 1, 2 of t and 1 of u: 3/4. b: 1 of t, 1 of u: 2/4. c: 1 of t, 1 of u: 2/4.
    assert "3 of 3 runs have less than 90 % of the first 2 documents judged" in text
    assert "b (50 %), c (50 %), a (75 %)" in text
    # Where more than a fifth of the pool is unjudged, nothing is told of deeper ranks.
    assert "cannot be estimated: " in text
    assert "(more than 20 %), and so is the trend" in text


def test_pool_that_is_hardly_the_one_judged() -> None:
    """Depth 1 explains 3 of 6 judgements at most: here 2 of 6."""
    grades: GradesById = {"t": {1: 1, 2: 0, 3: 0, 4: 0, 5: 1, 6: 0}}
    lists = {key: one for key, one in LISTS.items() if key[1] == "t"}
    text = said(diagnosed_lists(lists, grades, depth=1, contributing=ALL))
    assert "Most judged documents, 4 of 6, are not in the pool (more than 50 %)" in text


def test_runs_that_suffer_are_named() -> None:
    """`b` without 4: AP from (1/2)(1/2) to 0 of R = 1, in place 3 behind `a` and `c`."""
    lists: Lists = {("a", "t"): [1, 2], ("b", "t"): [3, 4], ("c", "t"): [2, 1]}
    grades: GradesById = {"t": {1: 1, 2: 0, 3: 0, 4: 1}}
    found = diagnosed_lists(lists, grades, depth=2, contributing=ALL)
    text = said(found)
    # a: 1/2, b: 1/4, c: 1/4; the loss is .25 for one of three.
    assert "would lose 0.083 of MAP on average and 0.25 at most (b)" in text
    assert "1 of 3 runs would lose 5 % of their AP or more: b (0.25, 100 %)." in text
    assert "change place" in text
    grouped = diagnosed_lists(lists, grades, depth=2, contributing=ALL, groups=["g", "h", "g"])  # fmt: skip
    text = said(grouped)
    # Without g, 1 is gone: `a` and `c` lose all they have, .5 and .25.
    assert "Had it been submitted late, with its whole group, a pooled run would lose 0.33" in text
    assert "3 of 3 runs would lose 5 % of their AP or more: a (0.50, 100 %)" in text
    assert "one at a time they would lose 0.083 on average and 0.25 at most (b)." in text
    # 1 is shared by siblings alone, and 4 is of `b` alone, which has none.
    alone = "were brought by one group only, 1 (50 %) by one run only."
    assert f"2 of 2 relevant documents of the pool (100 %) {alone}" in text
    assert said(grouped, by="run") == said(found)


def test_groups_of_one_run_are_runs() -> None:
    """Siblings of which one fed the pool shield nobody: nothing is said of groups."""
    lists: Lists = {("a", "t"): [1, 2], ("b", "t"): [3, 4], ("c", "t"): [2, 1]}
    fed = np.array([True, True, False])
    options: dict[str, object] = {"depth": 2, "contributing": fed}
    grades: GradesById = {"t": {1: 1, 2: 0, 3: 0, 4: 1}}
    text = said(diagnosed_lists(lists, grades, groups=["g", "h", "g"], **options))
    assert "group" not in text
    assert text == said(diagnosed_lists(lists, grades, **options))


def test_a_guess_that_leaves_most_outside_is_withheld() -> None:
    """Only `a` has its first document judged; 5 of 6 judged ones came from elsewhere."""
    lists: Lists = {("a", "t"): [1, 20, 2], ("b", "t"): [30, 2]}
    grades: GradesById = {"t": {1: 1, 2: 0, 3: 0, 4: 0, 5: 1, 6: 0}}
    found = diagnosed_lists(lists, grades)
    text = said(found)
    assert "from these runs it would be the first document of 1 run, but 5 of 6 judged" in text
    assert "documents (83.3 %; more than 50 %) are not among those" in text
    assert "--depth N can state how deep the pool is; --runs FILE with a column" in text
    assert found.pool is None
    assert found.reason == "bad-guess"
    assert not {"late", "guess", "final", "P@1"} & {*text.replace(".", " ").split()}
    assert all(cell is None for row in table(found, "topics").to_records()
               for name, cell in row.items() if name.startswith("pool"))  # fmt: skip
    # The depth is known, and that all runs fed it is a guess: of 1, 20, 30 and 2 two are judged.
    assert "(66.7 %; more" in said(diagnosed_lists(lists, grades, depth=2))
    assert "--depth N" not in said(diagnosed_lists(lists, grades, depth=2))
    # Somebody knows both: it is concluded, and doubted.
    told = said(diagnosed_lists(lists, grades, depth=1, contributing=np.array([True, False])))
    assert "Most judged documents, 5 of 6, are not in the pool" in told
    # One of two judged documents outside is half of them, and no more.
    half = diagnosed_lists(lists, {"t": {1: 1, 3: 0}})
    assert half.pool is not None
    assert half.pool.n_outside == 1


@pytest.mark.parametrize(("n_shared", "words"), [
    # Without its own first document, `a` has n relevant ones at ranks 2 to n + 1, of R = n: AP
    # falls from 1 to 1 - (H(n + 1) - 1) / n, by 21.4 % of n = 9, and by 4.6 % of n = 80.
    (9, "1 of 2 runs would lose 5 % of their AP or more: a (0.21, 21.4 %)."),
    (80, "No run would lose 5 % of its AP or more"),
])  # fmt: skip
def test_share_that_counts_as_suffering(n_shared: int, words: str) -> None:
    """One document of its own at rank 1, and the others shared."""
    shared = [*range(1, n_shared + 1)]
    lists: Lists = {("a", "t"): [0, *shared], ("b", "t"): shared}
    grades = {"t": dict.fromkeys([0, *shared], 1)}
    found = diagnosed_lists(lists, grades, depth=n_shared + 1, contributing=ALL[:2])
    assert words in said(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no run has its first document judged in every topic"),
        ({"depth": 2, "contributing": np.zeros(3, np.bool_)}, "no run that fed it"),
    ],
)
def test_no_pool_says_why(options: dict[str, object], words: str) -> None:
    """Without a pool nothing is said of newcomers, and tables have no column of it."""
    grades: GradesById = {"t": {7: 1}, "u": {9: 0}}
    found = diagnosed_lists(LISTS, grades, **options)
    text = said(found)
    assert f"There is no depth pool to look at: {words}" in text
    assert "submitted late" not in text
    assert [column.name for column in table(found, "topics").columns] == [
        "topic", "judged", "relevant",
    ]  # fmt: skip
    assert "pooled" not in table(found, "topics").data
    assert "entering" not in table(found, "ranks").to_records()[0]


def test_limits_of_order() -> None:
    """Nothing unjudged: no run can pass another; all unjudged: any can."""
    grades: GradesById = {"t": {1: 1, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0}}
    lists = {key: one for key, one in LISTS.items() if key[1] == "t" and key[0] != "b"}
    options = {"depth": 2, "contributing": ALL[:2]}
    text = said(diagnosed_lists(lists, grades, **options))
    assert "overlap for none of 1 pair" in text
    assert "have limits that do not meet" not in text
    assert "Whether or not its own unjudged documents are relevant, the MAP of a run lies" in text
    few: GradesById = {"t": {1: 1}}
    assert "These limits overlap for 1 of 1 pair" in said(diagnosed_lists(lists, few, **options))


def test_nothing_retrieved() -> None:
    """Runs without any document of the judged topics: a reason, no numbers, no error."""
    found = diagnosed_lists({("a", "z"): [1]}, {"t": {1: 1}}, depth=3, contributing=ALL[:1])
    assert found.reason == "no-documents"
    assert "no run has a document for any judged topic" in said(found)
    assert "--depth" not in said(found)  # it would bring none
    assert len(table(found, "ranks")) == 0


def test_final_measures_are_named() -> None:
    """A whole pool settles what looks no deeper; one document unjudged, and it does not."""
    grades: GradesById = {"t": dict.fromkeys(range(1, 8), 1), "u": dict.fromkeys(range(1, 8), 0)}
    whole = {"depth": 2, "contributing": ALL}
    final = "P@2, and any other measure that looks only at the first 2 and"
    assert final in said(diagnosed_lists(LISTS, grades, **whole))
    del grades["t"][1]
    text = said(diagnosed_lists(LISTS, grades, **whole))
    assert final not in text
    assert "try --order" not in text


def test_depth_that_somebody_knows_is_taken_for_all_runs() -> None:
    """Holes in every run: all are taken to have fed the pool, and that is said."""
    grades: GradesById = {"t": {1: 1, 3: 0, 4: 1}, "u": {2: 1, 4: 0}}
    found = diagnosed_lists(LISTS, grades, depth=2)
    assert found.pool is not None
    assert found.pool.contributing.all()
    assert "No run has all of its first 2 documents judged in every topic" in said(found)


def test_runs_that_fed_the_pool_are_told_from_others() -> None:
    """Below the pool's depth it is no wonder that documents are unjudged."""
    grades: GradesById = {"t": {1: 1}, "u": {1: 0}}
    fed = np.array([True, False, False])
    text = said(diagnosed_lists(LISTS, grades, depth=1, contributing=fed, judged_at=2))
    assert "of them fed the pool, which is 1 deep" in text
    assert "Doubt first the scores of runs that fed no pool" in text
