"""`pooler replay`: strategies followed on collections that are judged already."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau

from tests.cli.oracles import average_precision, first_documents, mean, read_qrels, read_run
from tests.helpers.run import Cli, controls, run_process, write
from tests.trec_covid import data_path, leaderboard

ACORDAR = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "acordar"
BARE = ("--qrels", "judgements/strict.qrels")


def run_files(folder: Path, *, contributing: bool = False) -> list[Path]:
    """Return the runs of the sample collection: all, or those that contribute."""
    left_out = {"late-tfidf-bigrams"} if contributing else set()
    return [path for path in sorted((folder / "runs").iterdir()) if path.stem not in left_out]


def take_order(tops: list[list[str]]) -> list[str]:
    """Return documents by best rank, then by the number of runs that have it there, then docno."""
    best: dict[str, int] = {}
    for top in tops:
        for rank, docno in enumerate(top):
            best[docno] = min(rank, best.get(docno, rank))
    n_at_best = Counter(docno for top in tops for rank, docno in enumerate(top) if best[docno] == rank)
    return sorted(sorted(best, reverse=True), key=lambda docno: (best[docno], -n_at_best[docno]))


@pytest.mark.parametrize(("depth", "unjudged"), [(5, "pass"), (20, "pass"), (20, "nonrelevant")])
def test_take_equals_trec_eval_on_cut_qrels(cli: Cli, judged: Path, depth: int, unjudged: str) -> None:
    """Counts are those of the ordered pool, and the run order that of trec_eval on cut qrels."""
    qrels = read_qrels(judged / "judgements" / "strict.qrels")
    runs = {path.stem: read_run(path) for path in run_files(judged)}
    feeding = {path.stem: read_run(path) for path in run_files(judged, contributing=True)}
    truth = [mean(average_precision(qrels, run).values()) for run in runs.values()]
    budgets = [1, 3, 10, 40]
    rows = cli(
        "replay", "--qrels", "strict", "-s", "take", "--depth", str(depth), "--order", "trec9",
        "--unjudged", unjudged, "--budgets", ",".join(map(str, budgets)), "--format", "json",
    ).fine().json()  # fmt: skip
    assert [row["budget"] for row in rows] == budgets
    n_relevant = sum(grade > 0 for grades in qrels.values() for grade in grades.values())
    for row, budget in zip(rows, budgets, strict=True):
        cut: dict[str, dict[str, int]] = {}
        n_judgements = n_passed = n_union = 0
        for topic, grades in qrels.items():
            order = take_order([first_documents(run, topic, depth) for run in feeding.values()])
            n_union += sum(grades.get(docno, 0) > 0 for docno in order)
            cut[topic] = {}
            spent = 0
            for docno in order:
                if docno not in grades and unjudged == "pass":
                    n_passed += 1
                    continue
                if spent == budget:
                    break
                spent += 1
                cut[topic][docno] = grades.get(docno, 0)
            n_judgements += spent
        found = sum(grade > 0 for grades in cut.values() for grade in grades.values())
        assert (row["judgements"], row["passed_over"]) == (n_judgements, n_passed)
        assert row["relevant"] == found
        assert row["of_union"] == pytest.approx(found / n_union)
        assert row["of_qrels"] == pytest.approx(found / n_relevant)
        assert row["precision"] == pytest.approx(found / n_judgements)
        known = {topic: grades for topic, grades in cut.items() if grades}
        measured = [list(average_precision(known, run).values()) for run in runs.values()]
        tau = kendalltau([round(mean(one), 9) for one in measured], truth).statistic
        assert row["tau_b"] == pytest.approx(tau, abs=1e-12)
        assert row["reason"] is None


def test_topics_add_up_to_the_whole(cli: Cli, judged: Path) -> None:
    """Of every strategy and budget, the rows by topic sum to the row of all topics."""
    options = ("--qrels", "strict", "--depth", "9", "--budgets", "2,7,all")
    whole = cli("replay", *options, "--format", "json").fine().json()
    by_topic = cli("replay", *options, "--by-topic", "--format", "json").fine().json()
    assert len(by_topic) == 8 * len(whole)
    for row in whole:
        key = (row["strategy"], row["budget"])
        same = [one for one in by_topic if (one["strategy"], one["budget"]) == key]
        assert len(same) == 8
        for name in ("judgements", "passed_over", "relevant"):
            assert sum(one[name] for one in same) == row[name]
        for one in same:
            assert one["judgements"] <= one["budget"]
            assert one["precision"] == pytest.approx(one["relevant"] / one["judgements"])


def test_bare_files_give_what_the_collection_gives(cli: Cli, judged: Path) -> None:
    """`--qrels FILE RUN...` prints what the collection with the same runs prints, scores too."""
    files = run_files(judged, contributing=True)
    options = ["--depth", "6", "--format", "tsv", "-s", "take", "-s", "hedge", "-s", "comb-mnz",
               "-s", "rbp-a:p=0.9", "-s", "thompson", "--seed", "3"]  # fmt: skip
    stored = cli("replay", *(path.stem for path in files), "--qrels", "strict", *options).fine()
    bare = cli("replay", *files, *BARE, *options).fine()
    assert bare.out == stored.out
    assert "seed 3" in bare.err


@pytest.mark.parametrize(("order", "found"), [("trec", 0), ("docno-asc", 1)])
@pytest.mark.parametrize("strategy", ["take", "comb-sum"])
def test_rank_order_decides_ties_at_the_depth(
    cli: Cli, here: Path, order: str, found: int, strategy: str
) -> None:
    """Of the tied documents a and b, trec_eval's order has b first, NIST's a; a is relevant."""
    write(here / "x.run", "1 Q0 a 1 1 x", "1 Q0 b 2 1 x")
    write(here / "q", "1 0 a 1", "1 0 b 0")
    options = ("--depth", "1", "--order", order, "-s", strategy, "--format", "json")
    [row] = cli("replay", "x.run", "--qrels", "./q", *options).fine().json()
    assert (row["judgements"], row["relevant"]) == (1, found)


def test_scores_are_those_of_the_ranks_taken(cli: Cli, here: Path) -> None:
    """In file order a and b are the first two of c's run, and by score b comes before a."""
    write(here / "x.run", "1 Q0 a 1 1 x", "1 Q0 b 2 2 x", "1 Q0 c 3 3 x")
    write(here / "q", "1 0 a 0", "1 0 b 1", "1 0 c 1")
    options = ("--depth", "2", "--order", "file", "-s", "comb-sum", "--budgets", "1,all")
    rows = cli("replay", "x.run", "--qrels", "./q", *options, "--format", "json").fine().json()
    assert [(row["judgements"], row["relevant"]) for row in rows] == [(1, 1), (2, 1)]


def test_seed_is_the_strategies_own(cli: Cli, judged: Path) -> None:
    """Another seed gives another order, and the same seed the same."""
    options = ("--qrels", "strict", "-s", "thompson", "-q", "--budgets", "1,2,3,4,5")
    first, again, other = (cli("replay", *options, "--seed", seed).fine().out for seed in "334")
    assert first == again != other


def test_runs_that_do_not_contribute_are_scored_and_not_pooled(cli: Cli, judged: Path) -> None:
    """The late run's own documents are in the union of bare files only."""
    options = ("--depth", "8", "-s", "take", "--budgets", "all", "--unjudged", "nonrelevant",
               "--format", "json")  # fmt: skip
    stored = cli("replay", "--qrels", "strict", *options).fine()
    bare = cli("replay", *run_files(judged), *BARE, *options).fine()
    assert "of the 8 of 9 runs that contribute; all are scored" in stored.err
    assert stored.json()[0]["judgements"] < bare.json()[0]["judgements"]
    refused = cli("replay", "late-tfidf-bigrams", "--qrels", "strict").failed(1)
    assert "none of these runs contributes to pools" in refused.err


def test_a_list_of_runs_says_of_files_which_contribute(cli: Cli, judged: Path) -> None:
    """With `--runs`, files give what the collection gives, late run and declared scale included."""
    options = ["--depth", "8", "--budgets", "5,all", "--level", "rigid", "--format", "tsv", "-s", "take",
               "-s", "comb-mnz"]  # fmt: skip
    stored = cli("replay", "--qrels", "strict", *options).fine()
    listed = ("--runs", judged / "runs.tsv")
    bare = cli("replay", *listed, *BARE, *options, "--scale", "0-2").fine()
    assert bare.out == stored.out
    assert "of the 8 of 9 runs that contribute; all are scored" in bare.err
    assert "`--level` needs a declared scale" in cli("replay", *listed, *BARE, *options[:-4],
                                                      "-s", "take").failed(1).err  # fmt: skip
    late = write(judged / "late.tsv", "file\tcontributes", "runs/late-tfidf-bigrams.run\tno")
    refused = cli("replay", "--runs", late, *BARE, "-s", "take").failed(1)
    assert "none of these runs contributes to pools" in refused.err
    assert "`contributes`" in refused.err


def test_options_of_files_and_of_a_collection_exclude_each_other(cli: Cli, judged: Path) -> None:
    """Nothing that is named is passed over in silence."""
    refused = cli("replay", *run_files(judged), *BARE, "--collection", "c.db").failed(1)
    assert "`--collection` and --qrels FILE exclude each other" in refused.err
    assert "`--runs` is for files, with --qrels" in cli("replay", "--runs", "runs.tsv").failed(1).err
    assert "`--scale` is for files" in cli("replay", "--qrels", "strict", "--scale", "0-2").failed(1).err


def test_table_for_people_has_a_row_a_strategy_and_a_column_a_budget(cli: Cli, judged: Path) -> None:
    """Four tables, headed by their budgets, say in words what there was to find."""
    shown = cli("replay", "--qrels", "strict", "--depth", "20", "-s", "take", "-s", "rrf:k=10",
                "--budgets", "5,1000,all").fine()  # fmt: skip
    heads = re.findall(r"^strategy +(.*)$", shown.out, re.MULTILINE)
    assert [re.sub(" +", " ", head).strip() for head in heads] == ["5 all 1,000"] * 4
    assert re.search(r"^take +[\d ]+$", shown.out, re.MULTILINE)
    assert len(re.findall(r"^rrf:k=10 ", shown.out, re.MULTILINE)) == 4
    assert "have no judgement: passed over, at no cost" in " ".join(shown.out.split())
    assert max(map(len, shown.out.splitlines())) <= 88
    assert not controls(shown.out + shown.err)
    costly = cli("replay", "--qrels", "strict", "-s", "take", "--unjudged", "nonrelevant").fine()
    assert "each costs a judgement that says not relevant" in " ".join(costly.out.split())
    long = cli("replay", "--qrels", "strict", "-s", "take", "--sort", "tau_b").fine().out
    assert long.splitlines()[0].split()[:3] == ["strategy", "budget", "judgements"]


def test_what_is_undefined_has_a_reason(cli: Cli, here: Path, collection_of: Callable[..., None]) -> None:
    """No judgement spent, nothing relevant, nothing relevant in the union: a word, and no number.

    Topic 1: a is judged not relevant, z, in no run, is. Topic 2: nothing is relevant. Topic 3: the
    only document of the runs is not judged.
    """
    collection_of(me=["1 0 a 0", "1 0 z 1", "2 0 a 0", "3 0 z 1"])
    write(here / "x.run", "1 Q0 a 1 1 x", "2 Q0 a 1 1 x", "3 Q0 b 1 1 x", "4 Q0 b 1 1 x")
    cli("import", "runs", "x.run").fine()
    told = cli("replay", "-s", "take", "-q", "--format", "json").fine()
    words = {row["topic"]: (row["of_union"], row["of_qrels"], row["precision"], row["reason"])
             for row in told.json()}  # fmt: skip
    assert words == {
        "1": (None, 0.0, 0.0, "none-in-union"),
        "2": (None, None, 0.0, "no-relevant"),
        "3": (None, 0.0, None, "no-judgements"),
    }
    assert "3 judged topics, the first 100 documents of 1 run\n" in told.err
    assert "1 topic of the runs have no judgement" not in told.err
    assert "1 topic of the runs has no judgement and is left out" in told.err
    [row] = cli("replay", "-s", "take", "--format", "json").fine().json()
    assert (row["tau_b"], row["tau_ap"], row["reason"]) == (None, None, "no-relevant")
    assert (
        "-: undefined, because no judge found a relevant document." in cli("replay", "-s", "take").fine().out
    )


def test_judged_topics_without_a_run_are_told(cli: Cli, here: Path) -> None:
    """A topic that is judged and in no run is counted in the judgements, and said."""
    write(here / "x.run", "1 Q0 a 1 1 x")
    write(here / "q", "1 0 a 1", "2 0 a 1")
    told = cli("replay", "x.run", "--qrels", "./q", "-s", "take", "--format", "json").fine()
    assert "1 of them is in none of these runs" in told.err
    [row] = told.json()
    assert (row["relevant"], row["of_union"], row["of_qrels"]) == (1, 1.0, 0.5)
    assert (row["tau_b"], row["reason"]) == (None, "fewer-than-two")
    write(here / "x.run", "1 Q0 b 1 2 x", "1 Q0 a 2 1 x")
    refused = cli("replay", "x.run", "--qrels", "./q", "--depth", "1").failed(1)
    assert "none of the first 1 documents of any run is judged" in refused.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-s", "hegde"], "unknown strategy `hegde`; known: `hedge`, "),
        (["-s", "rrf:q=3"], "unknown parameter of `rrf` `q`; known: `k`"),
        (["-s", "rrf:k=x"], "`--strategy rrf:k` must be a number >= 0, but got 'x'"),
        (["-s", "rrf:k"], "must be NAME, or NAME:PARAM=VALUE,PARAM=VALUE, each parameter once"),
        (["-s", "rrf:k=1,k=2"], "each parameter once, but got 'rrf:k=1,k=2'"),
        (["-s", "thompson"], "`--seed` must be given: `thompson` chooses at random"),
        (["-s", "stratified"], "`--strategy` must order documents; a sample, drawn at once, has"),
        (["--budgets", "5,0"], "`--budgets` must be integers >= 1, or `all`, with commas"),
        (["--budgets", ""], "`--budgets` must be integers >= 1, or `all`"),
        (["--budgets", "²"], "`--budgets` must be integers >= 1, or `all`"),
    ],
)
def test_options_that_cannot_be_used_are_refused_before_any_reading(
    cli: Cli, here: Path, options: list[str], words: str
) -> None:
    """Names and values at fault are told, the nearest known names first."""
    assert words in cli("replay", *options).failed(1).err


def test_scores_of_standard_input_are_those_of_the_file(cli: Cli, judged: Path) -> None:
    """A strategy on scores reads files a second time; standard input is kept."""
    content = (judged / "runs" / "bm25-words.run").read_bytes()
    path = judged / "runs" / "bm25-words.run"
    for strategy in ("rrf", "comb-sum"):
        piped = cli("replay", "-", *BARE, "-s", strategy, stdin=content).fine()
        assert piped.out == cli("replay", path, *BARE, "-s", strategy).fine().out


@pytest.mark.slow
def test_a_seed_gives_the_same_bytes_in_another_process(judged: Path) -> None:
    """The same command prints the same, whatever the hash seed."""
    command = ("replay", "--qrels", "strict", "-s", "thompson", "-s", "depth-then:then=thompson", "--seed",
               "5")  # fmt: skip
    first, second = (
        run_process(*command, folder=judged, settings={"PYTHONHASHSEED": number}).stdout for number in "12"
    )
    assert first == second != b""


def found(rows: list[dict[str, Any]]) -> dict[tuple[str, int], int]:
    """Return the relevant documents by strategy and budget."""
    return {(row["strategy"], row["budget"]): row["relevant"] for row in rows}


@pytest.mark.slow
def test_covid_is_found_earlier_by_adaptive_strategies(cli: Cli) -> None:
    """On TREC-COVID round 1, MTF, Hedge, MaxMean and MM-NS beat depth pooling from 20 on.

    The 56 contributing runs to rank 100. Depth pooling is `take`.
    """
    runs = data_path("runs-top120")
    files = [runs / f"{tag}.gz" for tag, row in leaderboard().items()
             if row["contributed judgments"] == "yes"]  # fmt: skip
    names = ("take", "mtf", "hedge", "max-mean", "mm-ns")
    options = [word for name in names for word in ("-s", name)]
    told = cli("replay", *files, "--qrels", data_path("qrels-rnd1.txt.gz"), "--order",
               "docno-asc", *options, "--format", "json").fine()  # fmt: skip
    assert "30 judged topics, the first 100 documents of 56 runs" in told.err
    got = found(told.json())
    budgets = sorted({budget for _, budget in got})
    for name in names[1:]:
        assert all(got[name, budget] > got["take", budget] for budget in budgets[1:-1])
        assert got[name, budgets[-1]] == got["take", budgets[-1]]


@pytest.mark.slow
def test_acordar_is_found_earlier_by_adaptive_strategies(cli: Cli, here: Path) -> None:
    """On ACORDAR, with 12,733 of 22,669 documents unjudged, they beat depth pooling as well.

    Some of its runs have a blank in their tag; the files' names stand here in its place.
    """
    if not ACORDAR.is_dir():
        pytest.skip("the ACORDAR data is not here")
    files = []
    for path in sorted((ACORDAR / "runs").glob("*.gz")):
        tag = path.name.partition(".")[0]
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        files.append(write(here / tag, *(" ".join([*line.split()[:5], tag]) for line in lines)))
    names = ("take", "mtf", "hedge", "max-mean", "mm-ns")
    options = [word for name in names for word in ("-s", name)]
    qrels = ("--qrels", ACORDAR / "qrels.txt.gz")
    rows = cli("replay", *files, *qrels, *options, "--format", "json").fine().json()
    got = found(rows)
    last = max(budget for _, budget in got)
    for row in rows:
        if row["budget"] == last:  # as PROVENANCE.md counts the pool of the 12 runs at depth 10
            assert (row["judgements"], row["passed_over"]) == (9_936, 12_733)
    for name in names[1:]:
        assert all(got[name, budget] > got["take", budget] for budget in (10, 20))
    costly = cli("replay", *files, *qrels, *options, "--unjudged", "nonrelevant", "--budgets",
                 "all", "--format", "json").fine().json()  # fmt: skip
    assert {(row["judgements"], row["passed_over"]) for row in costly} == {(22_669, 0)}
