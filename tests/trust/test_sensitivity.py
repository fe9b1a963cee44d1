"""`pooler sensitivity`: what trec_eval says once the qrels are edited as the table supposes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy.stats import kendalltau

from tests.cli.edited_qrels import STRICT, runs_of, unjudged_of, with_relevant
from tests.cli.oracles import average_precision, first_documents, mean, measured_ap, read_qrels, swapped_pairs
from tests.helpers.run import Cli, write, write_run

DEPTH = 5


def test_table_by_run_equals_edited_qrels(cli: Cli, judged: Path) -> None:
    """For every run, MAP after, tau-b and swaps are those of qrels with its documents added."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
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


def test_scenario_own_lets_only_the_flipped_run_gain(cli: Cli, judged: Path) -> None:
    """In the paper's extreme case every other run's AP becomes R / (R+1) of what it was."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
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


@pytest.mark.parametrize("by_topic", [True, False])
@pytest.mark.parametrize("order", ["trec", "rank"])
def test_bare_files_give_what_the_collection_gives(
    cli: Cli, judged: Path, order: str, by_topic: bool
) -> None:
    """`--qrels FILE RUN...` prints, to the last digit, what the collection with them prints."""
    runs = [f"runs/{tag}.run" for tag in sorted(runs_of(judged))]
    options = ["--depth", str(DEPTH), "--order", order, "--r", "own", "--format", "json"]
    options += ["--by-topic"] * by_topic
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


def test_swaps_of_what_cannot_be_ordered_are_no_number(cli: Cli, here: Path) -> None:
    """Without a MAP, or with one run, no pair of runs can swap: the cell is empty."""
    (here / "z.qrels").write_text("1 0 d1 0\n")
    (here / "a.run").write_text("1 Q0 d1 1 2 a\n1 Q0 d2 2 1 a\n")
    (here / "b.run").write_text("1 Q0 d9 1 2 b\n1 Q0 d2 2 1 b\n")
    options = ("--depth", "1", "--qrels", "z.qrels", "--format", "json")
    rows = cli("sensitivity", *options, "a.run", "b.run").fine().json()
    assert [(row["swapped"], row["reason"]) for row in rows] == [(None, "no-relevant")] * 2
    (here / "z.qrels").write_text("1 0 d1 1\n")
    (row,) = cli("sensitivity", *options, "a.run").fine().json()
    assert (row["swapped"], row["reason"]) == (None, "fewer-than-two")


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
    cli: Cli, judged: Path, options: tuple[str, ...], chosen: slice
) -> None:
    """The named documents, added to the qrels, give AP, MAP, tau_AP and swaps after."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = runs_of(judged)
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


def test_threshold_is_where_the_sign_turns(cli: Cli, judged: Path) -> None:
    """Of one run, each unjudged document at the threshold or below lowers AP; above none does."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    run = runs_of(judged)["bm25-words"]
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


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--flips", "0", "--depth", "5"), 2, "must be an integer >= 1"),
        (("--depth", "1000"), 1, "`--depth` must be an integer >= 1 and below the cutoff (1000)"),
        (("bm25-words", "--depth", "5", "--by", "pair"), 1, "there is one run, `bm25-words`"),
    ],
)
def test_what_does_not_go_together_is_refused(
    cli: Cli, judged: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    """A mistake is named in one line, with nothing on stdout."""
    outcome = cli("sensitivity", *options, "--qrels", "strict").failed(code)
    assert words in " ".join(outcome.err.replace("│", " ").split())
    assert not outcome.out
