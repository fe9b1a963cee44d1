"""`pooler sensitivity`: what trec_eval says once the qrels are edited as the table supposes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from statistics import variance

import pytest
from scipy.stats import kendalltau, ttest_rel

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
from tests.helpers.run import Cli, write, write_run

DEPTH = 5
Runs = dict[str, Scores]


def test_table_by_run_equals_edited_qrels(cli: Cli, qrels: Grades, runs: Runs) -> None:
    """For every run, MAP after, tau-b and swaps are those of qrels with its documents added."""
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


def plain_tau_ap(after: list[float], before: list[float]) -> float:
    """Compute tau_AP of scores without ties by its definition (Yilmaz et al. 2008)."""
    places = sorted(range(len(after)), key=lambda run: -after[run])
    shares = [
        sum(before[above] > before[run] for above in places[:place]) / place
        for place, run in enumerate(places)
        if place
    ]
    return 2 / (len(after) - 1) * sum(shares) - 1


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
