"""`pooler sensitivity`: what trec_eval says once the qrels are edited as the table supposes."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import variance
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.measures import average_precision as measures
from store.analysis.measures.average_precision import R_MODES, RMode
from store.analysis.rankings import UNJUDGED, JudgedRankings
from store.analysis.run_order import TIED_MAP
from store.analysis.undiscovered import (
    AT,
    ENDED,
    JUDGED,
    NO_RUN,
    SCENARIOS,
    At,
    Scenario,
    better_first,
    discovery_effect,
    discovery_effect_below,
    discovery_range,
    flip_topic,
    pair_sensitivity,
    run_thresholds,
    sensitivity,
    threshold_ranks,
)
from store.ranking import Order
from store.text import percent, rough
from tests.helpers.oracles import (
    STRICT,
    Grades,
    Scores,
    average_precision,
    first_documents,
    mean,
    measured_ap,
    runs_of,
    swapped_pairs,
    unjudged_of,
    with_relevant,
)
from tests.helpers.plain_lists import (
    Drawn,
    arrays_of,
    as_float,
    drawn_collections,
    plain_ap,
    plain_mean,
    plain_tau_ap,
)
from tests.helpers.run import Cli, write, write_run
from tests.helpers.trec_covid import MIN_GRADE, covid_arrays, load_qrels, load_rankings

DEPTH = 5
Runs = dict[str, Scores]


def test_table_by_run_equals_edited_qrels(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """For every run, MAP after, tau-b and swaps are those of qrels with its documents added."""
    from scipy.stats import kendalltau

    before = {tag: mean(average_precision(qrels, run).values()) for tag, run in runs.items()}
    options = ("--depth", str(DEPTH), "--qrels", "strict", "--order", "trec9", "--format", "json")
    rows = cli("sensitivity", *options).fine().json()
    assert [row["run"] for row in rows] == sorted(runs)
    n_unjudged = 0
    for row in rows:
        flipped = {topic: first_documents(runs[row["run"]], topic, DEPTH + 1)[DEPTH] for topic in qrels}
        edited = {
            topic: {flipped[topic]: 1, **grades} for topic, grades in qrels.items()
        }  # a judged document keeps its grade
        after = {tag: mean(average_precision(edited, run).values()) for tag, run in runs.items()}
        unjudged = [topic for topic in qrels if flipped[topic] not in qrels[topic]]
        n_unjudged += len(unjudged)
        assert (row["unjudged"], row["judged"]) == (len(unjudged), 8 - len(unjudged))
        assert (row["ended"], row["no_run"], row["reason"]) == (0, 0, None)
        assert row["map_before"] == pytest.approx(before[row["run"]], abs=1e-12)
        assert row["map_after"] == pytest.approx(after[row["run"]], abs=1e-12)
        assert row["change"] == pytest.approx(after[row["run"]] - before[row["run"]], abs=1e-12)
        tau = kendalltau(list(before.values()), list(after.values())).statistic
        assert row["tau_b"] == pytest.approx(tau, abs=1e-12)
        assert row["swapped"] == swapped_pairs(list(before.values()), list(after.values()))
    assert n_unjudged == 19  # as the sample collection's README says


def test_scenario_own_lets_only_the_flipped_run_gain(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """In the paper's extreme case every other run's AP becomes R / (R+1) of what it was."""
    before = {tag: average_precision(qrels, run) for tag, run in runs.items()}
    options = ("--depth", str(DEPTH), "--qrels", "strict", "--scenario", "own")
    for row in cli("sensitivity", *options, "--format", "json").fine().json():
        after = []
        for tag, run in runs.items():
            values = []
            for topic, grades in qrels.items():
                docno = first_documents(runs[row["run"]], topic, DEPTH + 1)[DEPTH]
                n_relevant = sum(grade > 0 for grade in grades.values())
                if docno in grades:
                    values.append(before[tag][topic])
                elif tag == row["run"]:
                    edited = {topic: {**grades, docno: 1}}
                    values.append(average_precision(edited, {topic: run[topic]})[topic])
                else:
                    values.append(before[tag][topic] * n_relevant / (n_relevant + 1))
            after.append(mean(values))
        assert row["map_after"] == pytest.approx(after[list(runs).index(row["run"])], abs=1e-12)
        assert row["swapped"] == swapped_pairs([mean(aps.values()) for aps in before.values()], after)


def test_cells_by_topic_equal_ir_measures_on_edited_files(cli: Cli, judged: Path) -> None:
    """Adding the named document to the qrels file, by hand as it were, gives the AP after."""
    options = ("--depth", str(DEPTH), "--qrels", "strict", "--by-topic", "--format", "tsv")
    rows = cli("sensitivity", *options).fine().tsv()
    assert len(rows) == 9 * 8
    original = (judged / "judgements" / "strict.qrels").read_text("utf-8")
    unjudged = [row for row in rows if row["status"] == "unjudged"]
    assert len(unjudged) == 19
    for row in [*unjudged[::4], unjudged[-1]]:
        edited = judged / "edited.qrels"
        edited.write_text(f"{original}{row['topic']} 0 {row['docno']} 1\n", "utf-8")
        run = judged / "runs" / f"{row['run']}.run"
        after = measured_ap(edited, run)[row["topic"]]
        before = measured_ap(judged / "judgements" / "strict.qrels", run)[row["topic"]]
        assert float(row["ap_after"]) == pytest.approx(after, abs=1e-12)
        assert float(row["ap_before"]) == pytest.approx(before, abs=1e-12)
        assert float(row["change"]) == pytest.approx(after - before, abs=1e-12)
    for row in rows:
        if row["status"] == "judged":
            assert f"{row['topic']} 0 {row['docno']} " in original
            assert row["ap_after"] == row["ap_before"]


@pytest.mark.parametrize(
    "own", [("--order", "trec", "--by-topic"), ("--order", "rank")], ids=["topics", "rank"]
)
def test_bare_files_give_what_the_collection_gives(cli: Cli, judged: Path, own: tuple[str, ...]) -> None:
    """`--qrels FILE RUN...` prints, to the last digit, what the collection with them prints."""
    runs = [f"runs/{tag}.run" for tag in sorted(runs_of(judged))]
    options = ("--depth", str(DEPTH), "--r", "own", *own, "--format", "json")
    stored = cli("sensitivity", *options, "--qrels", "strict").fine()
    files = cli("sensitivity", *options, "--qrels", "judgements/strict.qrels", *runs).fine()
    assert files.json() == stored.json()


def test_states_at_the_next_rank_are_kept_apart(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Judged, unjudged, the run ended, no document for the topic, no relevant document: five words.

    Depth 1. Topic 1: x has b (judged) at rank 2, y has c (unjudged). Topic 2: x ends at rank 1, y
    has nothing. Topic 3: nothing is relevant; x has c unjudged, y has nothing.
    """
    collection_of(me=["1 0 a 1", "1 0 b 0", "2 0 a 1", "3 0 a 0"])
    write(here / "x.run", *("1 Q0 a 1 2 x", "1 Q0 b 2 1 x", "2 Q0 a 1 1 x", "3 Q0 a 1 2 x", "3 Q0 c 2 1 x"))
    write(here / "y.run", "1 Q0 a 1 2 y", "1 Q0 c 2 1 y")
    cli("import", "runs", "x.run", "y.run").fine()
    rows = cli("sensitivity", "--depth", "1", "--by-topic", "--format", "json").fine().json()
    got = {(row["run"], row["topic"]): row for row in rows}
    words = {key: (row["status"], row["docno"], row["reason"]) for key, row in got.items()}
    assert words == {
        ("x", "1"): ("judged", ["b"], None),
        ("x", "2"): ("run ended", [], None),
        ("x", "3"): ("unjudged", ["c"], "no-relevant"),
        ("y", "1"): ("unjudged", ["c"], None),
        ("y", "2"): ("no documents", [], None),
        ("y", "3"): ("no documents", [], "no-relevant"),
    }
    # c at rank 2 of topic 1 relevant: AP (1 + 2/2) / 2 = 1; in topic 3 it is 1/2 from nothing.
    assert (got["y", "1"]["ap_before"], got["y", "1"]["ap_after"]) == (1.0, 1.0)
    assert (got["x", "3"]["ap_before"], got["x", "3"]["ap_after"]) == (None, 0.5)
    assert got["x", "3"]["change"] is None
    by_run = {row["run"]: row for row in cli(
        "sensitivity", "--depth", "1", "--format", "json").fine().json()}  # fmt: skip
    counts = ("judged", "unjudged", "ended", "no_run")
    assert [by_run["x"][name] for name in counts] == [1, 1, 1, 0]
    assert [by_run["y"][name] for name in counts] == [0, 1, 0, 2]
    assert (by_run["x"]["map_before"], by_run["x"]["map_after"]) == (1.0, 1.0)
    assert by_run["y"]["map_before"] == 0.5


def test_depth_is_that_of_the_pools_where_they_have_one(cli: Cli, judged: Path) -> None:
    """Not asked for then; of files it is, with the option to type."""
    for options in (("--by", "pair"), ("--at", "first"), ("--flips", "2")):
        given = cli("sensitivity", "--depth", "5", "--qrels", "strict", *options).fine()
        assert cli("sensitivity", "--qrels", "strict", *options).fine().out == given.out
    cli("pool", "--strategy", "uniform", "--budget", "5", "--seed", "1", "--name", "five").fine()
    assert cli("sensitivity", "--qrels", "strict").fine().out
    cli("pool", "--depth", "7", "--name", "deeper").fine()
    own, of_5, of_7 = (
        cli("sensitivity", *depth, "--by-topic", "--qrels", "strict", "--format", "json").fine().json()
        for depth in ((), ("--depth", "5"), ("--depth", "7"))
    )
    wanted = [
        five if five["run"].startswith("late") else seven for five, seven in zip(of_5, of_7, strict=True)
    ]
    assert [{**row, "depth": None} for row in own] == [{**row, "depth": None} for row in wanted]
    assert {row["run"] for row in own if row["depth"] == 5} == {"late-tfidf-bigrams"}
    files = ("--qrels", "judgements/strict.qrels", "runs/bm25-words.run", "runs/lm-words-full.run")
    refused = cli("sensitivity", *files).failed(1).err
    assert "how deep is the pool?" in refused
    [option] = re.findall(r"hint: (--depth \d+) where ", refused)
    assert "At rank 11, " in cli("sensitivity", *files, *option.split()).fine().out


def test_every_run_has_the_depth_of_the_pools_it_fed(cli: Cli, here: Path) -> None:
    """Runs a and b fed to depth 2, c to depth 1 in a second round; e came late and has the smallest.

    Rank N+1 holds z of a and q of e, unjudged, and what is judged of b and c. R = 1, relevant is x, so AP is
    1, 1/2, 1/2, 1; with z at rank 3 that of a is (1 + 2/3) / 2, with q at rank 2 that of e is 1.
    """
    cli("init", "--scale", "0-1").fine()
    for depth, runs in ((2, {"a": "xyz", "b": "yxw"}), (1, {"c": "wxq"}), (0, {"e": "xq"})):
        for tag, docnos in runs.items():
            cli("import", "runs", write_run(here, tag, {"1": docnos})).fine()
        if depth:
            more = ("--add",) if depth == 1 else ()
            cli("pool", "--depth", str(depth), *more, "--name", f"deep{depth}").fine()
    write(here / "q", "1 0 x 1", "1 0 y 0", "1 0 w 0")
    cli("import", "judgements", "q", "--judge", "ann").fine()
    rows = cli("sensitivity", "--by-topic", "--format", "json").fine().json()
    found = pytest.approx(5 / 6)
    assert [(row["run"], row["depth"], row["docno"], row["status"], row["ap_after"]) for row in rows] == [
        ("a", 2, ["z"], "unjudged", found), ("b", 2, ["w"], "judged", 0.5),
        ("c", 1, ["x"], "judged", 0.5), ("e", 1, ["q"], "unjudged", 1),
    ]  # fmt: skip
    shown = cli("sensitivity").fine().out
    assert "Unjudged documents at rank N+1 (N 1-2) turned relevant" in shown
    assert "At rank N+1 (N 1-2), 2 of 4 documents are unjudged" in shown
    pairs = cli("sensitivity", "--by", "pair", "--format", "json").fine().whole()
    assert pairs["settings"]["depth"] == "1-2"
    diagnosed = cli("diagnose", "--format", "json").fine().whole()["facts"]
    assert [diagnosed[name] for name in ("depth", "pool", "pool_judged", "judged_outside_pool")] == [
        "1-2", 3, 3, 0]  # fmt: skip
    said = "All 3 documents of the pool, the first 1-2 documents of each of 4 runs, are judged."
    assert diagnosed["conclusions"][0] == said
    cli("report", "page.html").fine()
    page = (here / "page.html").read_text("utf-8")
    assert "if the unjudged documents at rank N+1 (N 1-2) of one run, the worst, were relevant" in page
    assert "<code>pooler sensitivity</code>" in page


def test_report_takes_each_run_at_its_own_depth(cli: Cli, here: Path) -> None:
    """Runs a and b fed both rounds, so the pool is 2 deep; e, which feeds none, has N = 1."""
    cli("init", "--scale", "0-1").fine()
    for tag, docnos in {"a": "xyz", "b": "xwv"}.items():
        cli("import", "runs", write_run(here, tag, {"1": docnos})).fine()
    cli("pool", "--depth", "1").fine()
    cli("pool", "--depth", "2", "--add", "--name", "second").fine()
    late = write(here / "late.tsv", "file\tcontributes", f"{write_run(here, 'e', {'1': 'xqw'})}\tno")
    cli("import", "runs", "--runs", late).fine()
    write(here / "q", "1 0 x 1", "1 0 y 0", "1 0 w 1")
    cli("import", "judgements", "q", "--judge", "ann").fine()
    said = "MAP changes by "
    (moved,) = (line for line in cli("sensitivity").fine().out.splitlines() if line.startswith(said))
    cli("report", "page.html").fine()
    page = (here / "page.html").read_text("utf-8")
    assert "if the unjudged documents at rank N+1 (N 1-2) of one run, the worst, were relevant" in page
    assert moved in page
    assert "<code>pooler sensitivity</code>" in page


def test_runs_that_change_alike_are_told_in_one(cli: Cli, here: Path) -> None:
    """x, found at rank 2 of both, keeps AP at 1."""
    runs = [write_run(here, tag, {"1": "yx"}) for tag in ("a", "b")]
    write(here / "q", "1 0 y 1")
    shown = cli("sensitivity", "--qrels", "./q", "--depth", "1", *runs).fine().out
    assert "MAP changes by 0 in every run.\n" in shown


def test_depth_that_is_not_the_pools_is_warned_of(cli: Cli, judged: Path) -> None:
    """N is compared with the depth the collection was pooled at."""
    options = ("--qrels", "strict")
    assert "warning" not in cli("sensitivity", "--depth", "5", *options).fine().err
    deeper = cli("sensitivity", "--depth", "7", *options).fine().err
    assert "warning: depth 7 is not that of the pool (5)" in deeper


def test_what_cannot_be_ordered_is_no_number(cli: Cli, here: Path) -> None:
    """Without a MAP, or with one run, no pair of runs can swap: the cell is empty, with a reason."""
    write(here / "z.qrels", "1 0 d1 0")
    write(here / "a.run", "1 Q0 d1 1 2 a", "1 Q0 d2 2 1 a")
    write(here / "b.run", "1 Q0 d9 1 2 b", "1 Q0 d2 2 1 b")
    options = ("sensitivity", "--depth", "1", "--qrels", "z.qrels", "--format", "json")
    rows = cli(*options, "a.run", "b.run").fine().json()
    assert [(row["map_after"], row["swapped"], row["reason"]) for row in rows] == [
        (None, None, "no-relevant")
    ] * 2
    (row,) = cli(*options, "--by", "pair", "a.run", "b.run").fine().json()
    assert (row["difference_b"], row["reason"]) == (None, "no-topics")
    write(here / "z.qrels", "1 0 d1 1")
    (row,) = cli(*options, "a.run").fine().json()
    assert (row["swapped"], row["reason"]) == (None, "fewer-than-two")
    refused = cli(*options, "--by", "pair", "a.run").failed(1)
    assert (refused.out, "there is one run, `a`" in refused.err) == ("", True)


@pytest.mark.parametrize(
    ("options", "chosen"),
    [(("--depth", "5", "--at", "first"), slice(0, 1)), (("--depth", "5", "--flips", "3"), slice(0, 3))],
)
def test_other_ranks_equal_edited_qrels(
    cli: Cli, qrels: Grades, runs: Runs, options: tuple[str, ...], chosen: slice
) -> None:
    """The named documents, added to the qrels, give AP, MAP, tau_AP and swaps after."""
    before = {tag: mean(average_precision(qrels, run).values()) for tag, run in runs.items()}
    cells = cli("sensitivity", *options, *STRICT, "--by-topic", "--format", "json").fine().json()
    by_run = cli("sensitivity", *options, *STRICT, "--format", "json").fine().json()
    found: dict[str, dict[str, list[str]]] = {tag: {} for tag in runs}
    for cell in cells:
        run, topic = runs[cell["run"]], cell["topic"]
        ranked = first_documents(run, topic, 1000)
        unjudged = [one for one in unjudged_of(qrels, run, topic) if one in ranked[5:]]
        expected = unjudged[chosen]
        assert cell["docno"] == expected
        assert cell["rank"] == [ranked.index(one) + 1 for one in expected]
        found[cell["run"]][topic] = expected
        edited = with_relevant(qrels, {topic: expected})
        after = average_precision(edited, run)[topic]
        assert cell["ap_after"] == pytest.approx(after, abs=1e-12)
    for row in by_run:
        edited = with_relevant(qrels, found[row["run"]])
        after_of = {tag: mean(average_precision(edited, run).values()) for tag, run in runs.items()}
        assert row["map_after"] == pytest.approx(after_of[row["run"]], abs=1e-12)
        scores = list(after_of.values()), list(before.values())
        assert row["tau_ap"] == pytest.approx(plain_tau_ap(*scores), abs=1e-12)
        assert row["swapped"] == swapped_pairs(*scores)
        assert row.get("turned", 1) in (1, 8 * len(range(20)[chosen]))


def test_threshold_is_where_the_sign_turns(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """Of one run, each unjudged document at the threshold or below lowers AP; above none does."""
    run = runs["bm25-words"]
    options = ("--depth", "5", "--by-topic", *STRICT, "--format", "json")
    n_below = 0
    for cell in cli("sensitivity", "bm25-words", *options).fine().json():
        topic = cell["topic"]
        for docno in unjudged_of(qrels, run, topic):
            rank = first_documents(run, topic, 1000).index(docno) + 1
            after = average_precision(with_relevant(qrels, {topic: [docno]}), run)[topic]
            below = rank >= cell["threshold"]
            n_below += below
            assert (after < cell["ap_before"] - 1e-12) == below
    assert n_below


def ap_rows(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> list[float]:
    """Return AP by topic, in the order of the qrels."""
    found = average_precision(qrels, run)
    return [found[topic] for topic in qrels]


def test_where_equation_20_holds(cli: Cli, judged: Path, qrels: Grades, runs: Runs) -> None:
    """True where every relevant document of the topic is among the first five of the run."""
    options = ("--depth", "5", "--qrels", "strict", "--by-topic", "--order", "trec9", "--format", "json")
    rows = cli("sensitivity", *options).fine().json()
    for row in rows:
        run = runs[row["run"]]
        sixth = first_documents(run, row["topic"], 6)[5:]
        wanted = {docno for docno, grade in qrels[row["topic"]].items() if grade >= 1}
        if not sixth or sixth[0] in qrels[row["topic"]] or not wanted:
            assert row["all_relevant_above"] is None
        else:
            assert row["all_relevant_above"] == (wanted <= set(first_documents(run, row["topic"], 5)))
    assert any(row["all_relevant_above"] is False for row in rows)
    # By hand: a topic whose one relevant document is first, and an unjudged one second.
    (judged / "a.run").write_text("1 Q0 x 1 2 a\n1 Q0 y 2 1 a\n", "utf-8")
    (judged / "q").write_text("1 0 x 1\n", "utf-8")
    (row,) = (
        cli("sensitivity", "a.run", "--qrels", "./q", "--depth", "1", "--by-topic", "--format", "json")
        .fine()
        .json()
    )
    assert row["all_relevant_above"] is True


@pytest.mark.parametrize("scenario", ["shared", "own"])
def test_pairs_are_tested_before_and_after(cli: Cli, qrels: Grades, runs: Runs, scenario: str) -> None:
    """Differences, t2 and p are scipy's on edited qrels; own is like section 4.3."""
    from scipy.stats import ttest_rel

    options = ("--depth", "5", "--by", "pair", "--scenario", scenario, *STRICT, "--format", "json")
    rows = cli("sensitivity", *options).fine().json()
    assert len(rows) == 9 * 8 // 2
    added = {}
    for tag, run in runs.items():
        sixth = {topic: first_documents(run, topic, 6)[5] for topic in qrels}
        added[tag] = {t: [docno] for t, docno in sixth.items() if docno not in qrels[t]}
    for row in rows:
        pair = row["a"], row["b"]
        old = [ap_rows(qrels, runs[tag]) for tag in pair]
        assert mean(old[0]) >= mean(old[1])
        peer = ttest_rel(*old)
        assert row["difference"] == pytest.approx(mean(old[0]) - mean(old[1]), abs=1e-12)
        assert (row["t2"], row["p"]) == (pytest.approx(peer.statistic), pytest.approx(peer.pvalue))
        for side, flipped in zip("ab", pair, strict=True):
            edited = with_relevant(qrels, added[flipped])
            new = []
            for tag, before in zip(pair, old, strict=True):
                if scenario == "shared" or tag == flipped:
                    new.append(ap_rows(edited, runs[tag]))
                    continue
                counts = [sum(grade > 0 for grade in qrels[topic].values()) for topic in qrels]
                new.append([
                    ap * n / (n + 1) if topic in added[flipped] else ap
                    for topic, n, ap in zip(qrels, counts, before, strict=True)
                ])  # fmt: skip
            difference = mean(new[0]) - mean(new[1])
            peer = ttest_rel(*new)
            assert row[f"difference_{side}"] == pytest.approx(difference, abs=1e-12)
            assert row[f"t2_{side}"] == pytest.approx(peer.statistic)
            assert row[f"p_{side}"] == pytest.approx(peer.pvalue)
            assert row[f"sign_{side}"] == ("swapped" if difference < 0 else "kept")
            assert row[f"drop_{side}"] == pytest.approx(1 - difference / row["difference"])
            s2, s2_after = (variance([a - b for a, b in zip(*scores, strict=True)]) for scores in (old, new))
            assert row[f"variance_drop_{side}"] == pytest.approx(1 - s2_after / s2)


@pytest.mark.parametrize(
    "options",
    [
        ("--depth", "5"),
        ("--depth", "5", "--flips", "3"),
        ("--depth", "5", "--by-topic"),
        ("--depth", "5", "--by", "pair"),
        ("--depth", "5", "--by", "pair", "--scenario", "own", "--r", "own"),
    ],
)
def test_every_report_fits_80_columns(cli: Cli, judged: Path, options: tuple[str, ...]) -> None:
    """With tags of about ten characters no line is longer, be it a row or words."""
    files = ("runs/bm25-words.run", "runs/rm3-bigrams.run")
    shown = cli("sensitivity", "--qrels", "judgements/strict.qrels", *files, *options).fine().out
    assert max(map(len, shown.splitlines())) <= 80


def test_words_below_the_runs_draw_the_conclusion(cli: Cli, judged: Path) -> None:
    """How far MAP moves and at most how many pairs swap is said, for whose documents, of how many."""
    options = ("sensitivity", "--depth", "5", *STRICT)
    rows = cli(*options, "--format", "json").fine().json()
    words = " ".join(cli(*options).fine().out.split())
    changes = sorted((row["change"], row["run"]) for row in rows)
    (least, low), (most, high) = changes[0], changes[-1]
    assert f"MAP changes by {rough(least)} ({low}) to {rough(most)} ({high})." in words
    worst = max(rows, key=lambda row: row["swapped"])
    n_none = sum(row["swapped"] == 0 for row in rows)
    assert worst["swapped"] > 1
    share = percent(worst["swapped"], 36)
    assert (
        f"Of 36 pairs of runs, at most {worst['swapped']} ({share}) are swapped"
        f" by one run's documents ({worst['run']}); those of {n_none} runs swap none."
    ) in words
    alone = cli(*options, "bm25-words").fine().out
    assert "MAP changes by" in alone
    assert "pairs of runs, at most" not in alone


def test_words_below_pairs_count_both_ways(cli: Cli, judged: Path) -> None:
    """Pairs that come to be significant, and those that cease to be, are two numbers."""
    options = ("sensitivity", "--depth", "5", "--flips", "5", "--by", "pair", *STRICT)
    rows = cli(*options, "--format", "json").fine().json()
    words = " ".join(cli(*options).fine().out.split())
    n = {
        (side, was): sum((row["p"] <= 0.05) == was and (row[f"p_{side}"] <= 0.05) != was for row in rows)
        for side in "ab"
        for was in (False, True)
    }
    assert sum(n.values())
    assert (
        f"Significant at 0.05 as judged: {sum(row['p'] <= 0.05 for row in rows)}; with A's"
        f" documents {n['a', False]} become so and {n['a', True]} cease to be, with B's"
        f" {n['b', False]} become so and {n['b', True]} cease to be."
    ) in words
    swaps = [sum(row[f"sign_{side}"] == "swapped" for row in rows) for side in "ab"]
    assert f"Of 36 pairs, {swaps[0]} swap with A's documents, {swaps[1]} with B's." in words


def test_pairs_without_a_test_are_counted_in_words(cli: Cli, here: Path) -> None:
    """Two runs that are the same have no t2: the reason is below the table, which stays narrow."""
    (here / "z.qrels").write_text("1 0 d1 1\n2 0 d1 1\n")
    for tag in ("aaaaaaaaaa", "bbbbbbbbbb"):
        lines = [f"{topic} Q0 {docno} 1 {4 - n} {tag}" for topic in "12"
                 for n, docno in enumerate(("d1", "d2", "d3"))]  # fmt: skip
        (here / f"{tag}.run").write_text("\n".join(lines) + "\n")
    files = ("--qrels", "z.qrels", "aaaaaaaaaa.run", "bbbbbbbbbb.run")
    shown = cli("sensitivity", "--depth", "1", "--by", "pair", *files).fine().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "-: undefined in 1 pair (the same difference in every topic)." in shown


def test_pairs_nearest_to_a_swap_are_shown_first(cli: Cli, judged: Path) -> None:
    """--limit keeps the least differences after, in that order; what is counted stays all pairs."""
    after = ("difference_a", "difference_b")
    asked = ("sensitivity", "--depth", "5", "--by", "pair", *STRICT)
    every = cli(*asked, "--format", "json").fine().json()
    few = cli(*asked, "--limit", "4", "--format", "json").fine().json()
    least = sorted(min(row[name] for name in after) for row in every)
    assert [min(row[name] for name in after) for row in few] == least[:4]
    assert all(row in every for row in few)
    words = cli(*asked, "--limit", "4").fine().out
    assert "Shown: 4 of 36 pairs, those furthest past a swap" in words
    assert words.count("36 pairs") == 2


def at_ranks(ranks: Iterable[int], width: int) -> NDArray[np.bool_]:
    """Return a list of `width` ranks, relevant at the given ones."""
    return np.isin(np.arange(1, width + 1), list(ranks))


@given(st.lists(st.booleans(), min_size=1, max_size=25), st.integers(0, 5))
def test_effect_equals_recomputation(relevant: list[bool], unretrieved: int) -> None:
    """Eq. 19 is AP computed again with the document relevant, less AP before."""
    n_relevant = sum(relevant) + unretrieved
    effect = discovery_effect(np.array(relevant), np.array(n_relevant))
    before = plain_ap([bool(flag) for flag in relevant], n_relevant) or Fraction(0)
    for rank in range(len(relevant)):
        if relevant[rank]:
            assert np.isnan(effect[rank])
            continue
        after = plain_ap([*relevant[:rank], True, *relevant[rank + 1 :]], n_relevant + 1)
        assert after is not None
        assert float(effect[rank]) == pytest.approx(float(after - before), abs=1e-14)
        assert -0.5 <= effect[rank] <= 1


TABLE_3 = [
    (10, 0.1, 0.00081),
    (10, 0.3, -0.01737),
    (10, 0.5, -0.03555),
    (50, 0.1, 0.00794),
    (50, 0.3, 0.00402),
    (50, 0.5, 0.00010),
    (100, 0.1, 0.00891),
    (100, 0.3, 0.00693),
    (100, 0.5, 0.00495),
]


@pytest.mark.vector("Kishida 2001, table 3: five decimals")
@pytest.mark.parametrize(("n_relevant", "ap", "printed"), TABLE_3)
def test_table_3(n_relevant: int, ap: float, printed: float) -> None:
    """Eq. 20 at rank 101 gives every printed digit of table 3."""
    assert discovery_effect_below(n_relevant, ap, 101) == pytest.approx(printed, abs=5e-6)


# Ranks within 1..100 whose AP is the column of table 3, to within 2e-6.
RANKS_OF_TABLE_3 = {
    (10, 0.1): [23, 27, 33, 42, 47, 48, 62, 63, 79, 90],
    (10, 0.3): [1, 4, 7, 17, 24, 27, 75, 79, 88, 92],
    (10, 0.5): [1, 2, 3, 5, 16, 27, 31, 46, 69, 74],
    (50, 0.5): [
        *(2, 3, 6, 10, 11, 12, 15, 16, 19, 21, 22, 25, 27, 29, 30, 33, 35, 36, 38, 40, 43, 45),
        *(46, 48, 49, 50, 57, 59, 61, 62, 63, 64, 66, 68, 69, 70, 71, 73, 76, 77, 79, 81, 83),
        *(86, 87, 89, 91, 92, 98, 99),
    ],
}


@pytest.mark.vector("Kishida 2001, table 3: five decimals")
@pytest.mark.parametrize(("n_relevant", "ap", "printed"), TABLE_3)
def test_table_3_from_rankings(n_relevant: int, ap: float, printed: float) -> None:
    """The cells of table 3 that can occur come from whole rankings too; the others cannot."""
    # The least AP with all R documents in the first 100 ranks has them at the very bottom.
    lowest = plain_ap([False] * (100 - n_relevant) + [True] * n_relevant, n_relevant)
    assert lowest is not None
    assert (float(lowest) <= ap) == ((n_relevant, ap) in RANKS_OF_TABLE_3)
    if lowest > ap:
        return
    relevant = at_ranks(RANKS_OF_TABLE_3[n_relevant, ap], 101)
    before = float(measures.average_precision(relevant, np.array(n_relevant)))
    assert before == pytest.approx(ap, abs=2e-6)
    effect = float(discovery_effect(relevant, np.array(n_relevant))[100])
    assert effect == pytest.approx(printed, abs=5e-6)
    assert effect == pytest.approx(discovery_effect_below(n_relevant, before, 101), abs=1e-15)


def test_special_case_is_wrong_where_documents_are_not_retrieved() -> None:
    """With 6 of 10 relevant documents not retrieved, eq. 20 understates the loss."""
    # S = 4, AP = .4. Exact: (5/101 - .4)/11. Eq. 20: 1/101 - .4/11.
    relevant = at_ranks([1, 2, 3, 4], 101)
    exact = float(discovery_effect(relevant, np.array(10))[100])
    assert exact == pytest.approx(-0.0318631863, abs=5e-11)
    assert discovery_effect_below(10, 0.4, 101) == pytest.approx(-0.0264626463, abs=5e-11)


# The analysis of rank N+1.
@pytest.mark.parametrize(
    ("depth", "own_after"), [(1, 0.7333333), (6, 0.5476190), (7, 0.5333333), (9, 0.5133333)]
)
def test_two_runs_by_hand(depth: int, own_after: float) -> None:
    """A, relevant at 1, 3, 6, and B, relevant at 2, 5, move as computed by hand, R being 4."""
    found = depth + 1
    a = list(range(1, 11))
    without = [101, 1, 102, 103, 109, 104]
    with_it = [101, 1, 102, found, 109, 104]
    grades = {"t": {1: True, 3: True, 6: True, 109: True, 102: False}}
    for b, b_shared in ((without, 0.18), (with_it, 0.32)):
        # AP of B: (1/2 + 2/5)/4 = .225; then .9/5, or with rank 4, (1/2 + 2/4 + 3/5)/5.
        arrays = arrays_of({("a", "t"): a, ("b", "t"): b}, grades, 10)
        shared = sensitivity(arrays, depth=depth)
        np.testing.assert_allclose(shared.map_before, [13 / 24, 0.225], rtol=1e-15)
        np.testing.assert_allclose(shared.map_after[0], [own_after, b_shared], atol=5e-8)
        own = sensitivity(arrays, depth=depth, scenario="own")
        np.testing.assert_allclose(own.map_after[0], [own_after, 0.18], atol=5e-8)
        assert float(own.ap_after[0, 0]) == pytest.approx(own_after, abs=5e-8)


def test_topic_that_becomes_defined_stays_out_of_both_means() -> None:
    """A topic with R = 0 enters neither MAP, is counted, and shows its AP after."""
    rankings = {("a", "t1"): [1, 2], ("a", "t2"): [1, 2]}
    result = sensitivity(arrays_of(rankings, {"t1": {}, "t2": {1: True}}, 2), depth=1)
    assert np.isnan(result.ap_before[0, 0])
    assert result.ap_after[0].tolist() == [0.5, 1.0]
    assert result.map_before.tolist() == [1.0]
    assert result.map_after.tolist() == [[1.0]]  # topic t2: (1 + 2/2)/2
    assert result.tau_reason == ("fewer-than-two",)
    assert np.isnan(result.tau_b[0])


def test_means_equal_but_for_rounding_are_tied() -> None:
    """Runs with the same APs on different topics are tied, so no flip can swap them."""
    places = {"a": (1, 2, 6), "b": (2, 6, 1)}
    rankings = {
        (tag, f"t{number}"): [9 if rank == place else rank for rank in range(1, 7)]
        for tag, ranks in places.items()
        for number, place in enumerate(ranks)
    }
    grades = {f"t{number}": {9: True} | dict.fromkeys(range(1, 7), False) for number in range(3)}
    rankings |= {("a", "t3"): [1, 2], ("b", "t3"): [1, 3]}
    grades["t3"] = {1: True}
    result = sensitivity(arrays_of(rankings, grades, 6), depth=1)
    # (1 + 1/2 + 1/6 + 1)/4 in two orders of summation: a is ahead by the last bit.
    assert 0 < result.map_before[0] - result.map_before[1] < 1e-15
    # Each run gets ahead of the other in topic t3 when its own document is found.
    assert result.map_after[0, 0] - result.map_after[0, 1] == pytest.approx(1 / 8)
    assert result.map_after[1, 1] - result.map_after[1, 0] == pytest.approx(1 / 8)
    assert result.n_swapped.tolist() == [0, 0]
    assert result.tau_reason == ("all-tied", "all-tied")
    assert np.isnan(result.tau_ap).all()


@pytest.mark.parametrize(
    ("n_relevant", "ap", "least", "greatest"),
    [
        (10, 0.1, -0.0072907291, 0.0008100810),
        (10, 0.3, -0.0236723672, -0.0173717372),
        (10, 0.5, -0.0400540054, -0.0355535554),
        (50, 0.1, -0.0007959619, 0.0038633275),
        (50, 0.3, -0.0027761600, 0.0038245001),
        (50, 0.5, -0.0047563580, 0.0000970685),
        (100, 0.1, 0.0000882266, 0.0030291148),
        (100, 0.3, 0.0000686207, 0.0035976865),
        (100, 0.5, 0.0000490148, 0.0030879326),
    ],
)
def test_cells_of_table_3_have_the_range_of_what_can_occur(
    n_relevant: int, ap: float, least: float, greatest: float
) -> None:
    """Computed apart, from the bounds of AP for every number of documents above rank 101."""
    found = discovery_range(n_relevant, ap, 101)
    assert found == pytest.approx((least, greatest), abs=5.1e-11)


def test_ranges_hold_what_all_rankings_show() -> None:
    """Every set of relevant ranks above rank 6, with R = 3 of which some are nowhere."""
    for count in range(4):
        for ranks in itertools.combinations(range(1, 6), count):
            ap = sum((place + 1) / rank for place, rank in enumerate(ranks)) / 3
            after = (ap * 3 + (count + 1) / 6) / 4
            found = discovery_range(3, ap, 6)
            assert found is not None
            assert found[0] - 1e-12 <= after - ap <= found[1] + 1e-12
    assert discovery_range(3, 0.0, 6) == pytest.approx((1 / 24, 1 / 24))
    assert discovery_range(2, 0.9, 2) is None


# TREC-COVID round 1: 143 runs, 30 topics, first 120 ranks.
@pytest.mark.parametrize(
    ("order", "depth", "unjudged", "deep_enough"),
    [
        # Counted by other programs from the same files.
        ("docno-asc", 7, 1993, 4270),
        ("docno-asc", 10, 2211, 4262),
        ("docno-asc", 20, 2532, 4252),
        ("docno-asc", 50, 3027, 4151),
        ("trec", 7, 1978, 4270),
        ("trec", 10, 2205, 4262),
        ("trec", 20, 2530, 4252),
        ("trec", 50, 3026, 4151),
    ],
)
@pytest.mark.slow
def test_unjudged_documents_of_trec_covid(order: Order, depth: int, unjudged: int, deep_enough: int) -> None:
    """The documents at rank N+1 that nobody judged are as many as counted elsewhere."""
    result = sensitivity(covid_arrays(order=order), depth=depth)
    n = {code: np.count_nonzero(result.status == code) for code in (UNJUDGED, JUDGED, ENDED, NO_RUN)}
    assert n[UNJUDGED] == unjudged
    assert n[UNJUDGED] + n[JUDGED] == deep_enough
    assert n[ENDED] + n[NO_RUN] == 143 * 30 - deep_enough


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_changes_of_trec_covid_equal_recomputation(scenario: Scenario) -> None:
    """In 50 sampled flips the AP of all 143 runs is that of scoring the lists again."""
    arrays, depth = covid_arrays(), 7
    rankings, grades = load_rankings(), load_qrels()
    whole = sensitivity(arrays, depth=depth, scenario=scenario)
    flips = np.argwhere(whole.status == UNJUDGED).tolist()
    sample = random.Random(20).sample(flips, 50)
    total = np.zeros((143, 143))
    for column, topic in enumerate(arrays.topics):
        # Over one topic, MAP is AP.
        single = sensitivity(one_topic(arrays, column), depth=depth, scenario=scenario)
        total += single.map_after
        relevant = {docno for docno, grade in grades[topic].items() if grade >= MIN_GRADE}
        for run in [run for run, of_topic in sample if of_topic == column]:
            discovered = rankings[arrays.tags[run], topic][depth]
            assert discovered not in grades[topic]
            for other, tag in enumerate(arrays.tags):
                counted = relevant | {discovered}
                if scenario == "own" and other != run:
                    counted = relevant
                flags = [docno in counted for docno in rankings.get((tag, topic), [])[:120]]
                hits = [rank for rank, flag in enumerate(flags, start=1) if flag]
                expected = math.fsum(number / rank for number, rank in enumerate(hits, start=1)) / (
                    len(relevant) + 1
                )
                value = float(single.map_after[run, other])
                assert value == pytest.approx(expected, rel=1e-12), (topic, run, tag)
                if other == run:
                    assert whole.ap_after[run, column] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(whole.map_after, total / 30, rtol=1e-12)


def one_topic(arrays: JudgedRankings, column: int) -> JudgedRankings:
    """Return the arrays of one topic alone."""
    kept = slice(column, column + 1)
    parts = {name: getattr(arrays, name)[kept] for name in ("topics", "states", "n_relevant")}
    return replace(arrays, documents=arrays.documents[:, kept], lengths=arrays.lengths[:, kept], **parts)


@given(
    drawn_collections(),
    st.sampled_from(AT),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from(SCENARIOS),
    st.sampled_from(R_MODES),
)
def test_flips_equal_recomputation(
    case: Drawn, at: At, depth: int, flips: int, scenario: Scenario, r_mode: RMode
) -> None:
    """Wherever documents turn relevant, one or several, every AP, MAP and tau is that of the edited lists."""
    from scipy.stats import kendalltau

    depth = min(depth, case.cutoff - 1)
    arrays = case.arrays()
    how: dict[str, Any] = {"at": at, "depth": depth, "flips": flips, "scenario": scenario, "r_mode": r_mode}
    whole = sensitivity(arrays, **how)
    topics = sorted(case.grades)
    after: dict[tuple[str, str], list[tuple[Fraction | None, Fraction | None]]] = {}
    for column, topic in enumerate(topics):
        one = flip_topic(arrays, column, **how)
        before = [case.ap(tag, topic, r_mode) for tag in case.tags]
        np.testing.assert_allclose(one.before, list(map(as_float, before)), rtol=1e-14)
        for row, tag in enumerate(case.tags):
            places = [place for place in one.columns[row].tolist() if place >= 0]
            listed, unjudged = case.listed(tag, topic), {*case.unjudged(tag, topic)}
            end = min(depth + flips, len(listed)) if at == "next" else len(listed)
            assert places == [one for one in range(depth, end) if listed[one] in unjudged][:flips]
            state = UNJUDGED if places else ENDED if len(listed) <= depth else JUDGED
            assert whole.status[row, column] == (state if listed else NO_RUN)
            found = {listed[place] for place in places}
            assert (row in one.flipped) == bool(found)
            values = []
            for other in case.tags:
                if scenario == "own" and other != tag:
                    values.append(case.ap(other, topic, r_mode, n_more=len(found)))
                else:
                    values.append(case.ap(other, topic, r_mode, found))
            after[tag, topic] = list(zip(before, values, strict=True))
            if found:
                got = one.after[list(one.flipped).index(row)]
                np.testing.assert_allclose(got, list(map(as_float, values)), rtol=1e-13)
            assert whole.ap_after[row, column] == pytest.approx(as_float(values[row]), rel=1e-13, nan_ok=True)
    for row, tag in enumerate(case.tags):
        maps = []
        for other in range(len(case.tags)):
            pairs = [after[tag, topic][other] for topic in topics]
            mean = plain_mean(new for old, new in pairs if old is not None)
            maps.append((mean, plain_mean(old for old, _ in pairs)))
            assert whole.map_after[row, other] == pytest.approx(as_float(mean), rel=1e-12, nan_ok=True)
        y, x = ([one[side] for one in maps if one[1] is not None] for side in (0, 1))
        if len({*x}) < 2 or len({*y}) < 2:
            assert whole.tau_reason[row] == ("all-tied" if len(x) > 1 else "fewer-than-two")
            continue
        tau = kendalltau([*map(float, x)], [*map(float, y)]).statistic
        assert whole.tau_b[row] == pytest.approx(tau, abs=1e-14)
        assert whole.tau_ap[row] == pytest.approx(plain_tau_ap(y, x), abs=1e-13)
        steps = [(a - b) * (c - d) for (a, c), (b, d) in combinations(zip(x, y, strict=True), 2)]
        assert whole.n_swapped[row] == sum(one < 0 for one in steps)


def test_more_flips_than_ranks_are_those_there_are() -> None:
    """A number of flips beyond any list needs no memory and flips all that is unjudged."""
    arrays = arrays_of({("a", "t"): [1, 2, 3]}, {"t": {1: True}}, 10)
    moved = sensitivity(arrays, at="first", depth=1, flips=10**12)
    assert moved.columns.tolist() == [[[1, 2, -1]]]
    assert moved.map_after.tolist() == [[1.0]]


def first_that_lowers(flags: list[bool], n_relevant: int) -> int:
    """Try rank after rank, of a list that goes on without relevant documents."""
    before = plain_ap(flags, n_relevant)
    if not before:
        return 0
    for rank in range(1, 10_000):
        longer = flags + [False] * (rank - len(flags))
        if longer[rank - 1]:
            continue
        longer[rank - 1] = True
        after = plain_ap(longer, n_relevant + 1)
        assert after is not None
        if after < before:
            return rank
    raise AssertionError


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 4))
def test_threshold_equals_trying_every_rank(flags: list[bool], unretrieved: int) -> None:
    """A discovery lowers AP from the threshold down, also below the list; equal is not lower."""
    n_relevant = sum(flags) + unretrieved
    found = threshold_ranks(np.array(flags, dtype=bool), np.array(n_relevant))
    assert int(found) == first_that_lowers(flags, n_relevant)


@given(drawn_collections(), st.sampled_from(R_MODES))
def test_threshold_of_every_run_and_topic(case: Drawn, r_mode: RMode) -> None:
    """R is of the pool or of the run; without a relevant document there is no threshold."""
    arrays = case.arrays()
    found = run_thresholds(arrays, r_mode=r_mode)
    width = arrays.documents.shape[2]
    for column, topic in enumerate(arrays.topics):
        relevant = case.relevant(topic)
        for row, tag in enumerate(arrays.tags):
            flags = [one in relevant for one in case.listed(tag, topic)]
            flags += [False] * (width - len(flags))
            n_relevant = len(relevant) if r_mode == "pool" else sum(flags)
            assert int(found[row, column]) == first_that_lowers(flags, n_relevant)
            if plain_ap(flags, n_relevant) == Fraction(0):
                assert found[row, column] == 0


def plain_differences(
    case: Drawn,
    r_mode: RMode,
    scenario: Scenario,
    flipped: str,
    found: dict[str, set[int]],
    pair: tuple[str, str],
) -> list[float]:
    """Compute the differences by topic, where both have an AP before, from scratch."""
    result = []
    for topic in sorted(case.grades):
        if any(case.ap(tag, topic, r_mode) is None for tag in pair):
            continue
        values = []
        for tag in pair:
            if scenario == "own" and tag != flipped:
                value = case.ap(tag, topic, r_mode, n_more=len(found[topic]))
            else:
                value = case.ap(tag, topic, r_mode, found[topic])
            assert value is not None
            values.append(value)
        result.append(float(values[0] - values[1]))
    return result


@given(
    drawn_collections(3, 4),
    st.sampled_from(AT),
    st.integers(1, 3),
    st.sampled_from(SCENARIOS),
    st.sampled_from(R_MODES),
)
def test_pairs_equal_recomputation(
    case: Drawn, at: At, flips: int, scenario: Scenario, r_mode: RMode
) -> None:
    """Difference and t2 are those of the edited lists; the run ahead before comes first."""
    from scipy import stats

    how: dict[str, Any] = {"at": at, "depth": 1, "flips": flips, "scenario": scenario, "r_mode": r_mode}
    arrays = case.arrays()
    moved = pair_sensitivity(arrays, **how)
    flipped = sensitivity(arrays, **how)
    found = {
        tag: {
            topic: {case.listed(tag, topic)[place] for place in places if place >= 0}
            for topic, places in zip(arrays.topics, flipped.columns[row].tolist(), strict=True)
        }
        for row, tag in enumerate(case.tags)
    }
    nothing: dict[str, set[int]] = {topic: set() for topic in case.grades}
    for place, (first, second) in enumerate(zip(moved.first, moved.second, strict=True)):
        a, b = case.tags[first], case.tags[second]
        for tests, whose, documents in (
            (moved.before, a, nothing),
            (moved.after_first, a, found[a]),
            (moved.after_second, b, found[b]),
        ):
            expected = plain_differences(case, r_mode, scenario, whose, documents, (a, b))
            assert tests.n_topics[place] == len(expected)
            if not expected:
                assert np.isnan(tests.difference[place])
                continue
            assert tests.difference[place] == pytest.approx(np.mean(expected), abs=1e-14)
            assert moved.before.difference[place] > -1e-12
            if len(expected) < 2 or np.ptp(expected) < 1e-9:
                assert tests.t_reasons[place] in ("one-topic", "no-variation")
                continue
            peer = stats.ttest_1samp(expected, 0.0)
            assert tests.t[place] == pytest.approx(float(peer.statistic), rel=1e-9, abs=1e-9)
            assert tests.p_t[place] == pytest.approx(float(peer.pvalue), rel=1e-9)


def test_runs_whose_means_are_tied_stand_as_they_come() -> None:
    """Half the tolerance apart in the mean of ten topics is a tie, twice the tolerance is not."""
    for apart, expected in ((TIED_MAP / 2, (0, 1)), (2 * TIED_MAP, (1, 0))):
        first, second = better_first(np.array([[0.0] * 10, [apart] * 10]))
        assert (first.tolist(), second.tolist()) == ([expected[0]], [expected[1]])
