"""`pooler diagnose` on the sample collection, against sets, pytrec_eval and edited qrels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from store.text import rough
from tests.cli.edited_qrels import STRICT, runs_of
from tests.cli.oracles import Scores, average_precision, first_documents, mean, read_qrels
from tests.helpers.run import Cli, write

DEPTH = 5
LATE = "late-tfidf-bigrams"
"""The run that does not feed pools."""

Pooled = dict[str, set[tuple[str, str]]]
"""Topic and docno within the depth, by run."""


def pooled_of(runs: dict[str, Scores]) -> Pooled:
    """Take the first documents of every run that feeds the pool."""
    return {
        tag: {(topic, docno) for topic in run for docno in first_documents(run, topic, DEPTH)}
        for tag, run in runs.items()
        if tag != LATE
    }


def diagnosed(cli: Cli, *options: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the facts, and the rows by run."""
    found = cli("diagnose", *options, "--format", "json").fine().dossier()
    return found, {row["run"]: row for row in found["runs"]}


def test_runs_are_scored_as_if_they_had_come_late(cli: Cli, judged: Path) -> None:
    """Without what a run alone brought: uniques by sets, AP and places by pytrec_eval."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
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


def test_scores_of_incomplete_judgements_are_the_peers(cli: Cli, judged: Path) -> None:
    """bpref; AP of the judged documents alone; the share of them; limits around AP."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"})
    _, rows = diagnosed(cli, *STRICT)
    for tag, run in runs_of(judged).items():
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


def test_pool_is_told_of(cli: Cli, judged: Path) -> None:
    """Sizes by sets; how the depth is known: from the collection, the option, the judgements."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    pairs = set().union(*pooled_of(runs_of(judged)).values())
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


def test_groups_are_left_out_whole(cli: Cli, judged: Path) -> None:
    """Documents that a group's runs alone brought, for all of its runs."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
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


def test_people_read_what_follows(cli: Cli, judged: Path) -> None:
    """The conclusions stand before the tables, and no line of them is wider than 80 columns."""
    text = cli("diagnose", *STRICT, "--by", "run").fine().out
    assert text.startswith("What follows\n- All 84 documents of the pool")
    first, table = text.split("\nruns\n")
    assert max(map(len, first.splitlines())) <= 80
    words = " ".join(first.split())
    assert "All 84 documents of the pool, the first 5 documents of each of 8 runs" in words
    assert "Had it been submitted late, a pooled run would lose" in words
    assert "of 8 runs would change place" in words
    assert "unjudged documents there): a guess about unseen documents" in words
    assert max(map(len, table[table.index("judged@10: ") :].splitlines())) <= 80


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


def test_topics_and_ranks_are_counted(cli: Cli, judged: Path) -> None:
    """Documents of each topic's pool, and of each rank, by sets."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
    pairs = set().union(*pooled_of(runs).values())
    found, _ = diagnosed(cli, *STRICT, "--depth", "3", "--limit", "12")
    assert len(found["topics"]) == len(qrels)
    shallow = {
        (topic, docno)
        for tag, run in runs.items()
        for topic in run
        for docno in first_documents(run, topic, 3)
        if tag != LATE
    }
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
    assert sum(row["pooled"] for row in found["topics"]) == found["pool"] < len(pairs)
    assert [row["rank"] for row in found["ranks"]] == [*range(1, 13)]
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
        new = {
            (topic, docno)
            for tag, run in runs.items()
            for topic in run
            for docno in first_documents(run, topic, place + 1)
            if tag != LATE
        } - {
            (topic, docno)
            for tag, run in runs.items()
            for topic in run
            for docno in first_documents(run, topic, place)
            if tag != LATE
        }
        assert row["entering"] == len(new)
        assert row["entering_judged"] == sum(docno in qrels[topic] for topic, docno in new)
        assert row["entering_relevant"] == sum(qrels[t].get(docno, 0) > 0 for t, docno in new)


def test_ranks_end_somewhere(cli: Cli, judged: Path) -> None:
    """Twenty where nobody says; the caption says how many more there are."""
    found, _ = diagnosed(cli, *STRICT)
    assert len(found["ranks"]) == 20
    text = cli("diagnose", *STRICT, "--table", "ranks", "--limit", "3").fine().out
    assert "more ranks: --limit" in text


def test_lists_may_end_above_the_depth(cli: Cli, judged: Path) -> None:
    """A depth below the end of every list: the pool is all there is."""
    late = ("--qrels", "judgements/strict.qrels", "--runs", "runs.tsv", "--depth", "900")
    facts, _ = diagnosed(cli, *late, "--order", "trec9")
    runs = runs_of(judged)
    everything = {
        (topic, docno) for tag, run in runs.items() if tag != LATE
        for topic in run for docno in run[topic]
    }  # fmt: skip
    assert facts["pool"] == len(everything)


def test_cutoff_above_what_is_looked_at_by_itself(cli: Cli, judged: Path) -> None:
    """Five ranks: judged@5, and no measure that looks deeper."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    options = (*STRICT, "--cutoff", "5")
    found, rows = diagnosed(cli, *options)
    assert {row["measure"] for row in found["scores"]} == {"AP", "RBP(rel=1)"}
    for tag, run in runs_of(judged).items():
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
