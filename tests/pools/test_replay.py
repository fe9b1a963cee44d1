"""Strategies replayed on topics that are judged: by hand, and against qrels cut to what was spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler import replay
from pooler.pools.replay import (
    JudgedTopic,
    Unjudged,
    counts_by_budget,
    default_budgets,
    found_by_budget,
    replay_topic,
)
from pooler.strategies import STRATEGIES, find_strategy
from pooler.strategies.kinds import AdaptiveStrategy, SamplingStrategy
from pooler.strategies.rankings import TopicRankings, rankings_of
from store.analysis.rankings import NOT_RELEVANT, RELEVANT, UNJUDGED
from store.errors import ArgumentError
from tests.helpers.oracles import average_precision, first_documents, mean, read_qrels, read_run
from tests.helpers.plain_lists import plain_tau_ap
from tests.helpers.run import Cli, run_process, write
from tests.helpers.trec_covid import data_path, leaderboard

REPLAYED = [name for name, row in STRATEGIES.items() if not isinstance(row, SamplingStrategy)]


class Alternating:
    """Takes the least number left after a relevant document, else the greatest, and remembers."""

    def __init__(self, rankings: TopicRankings) -> None:
        self.left = list(range(rankings.n_documents))
        self.was_relevant: bool | None = False
        self.observed: list[tuple[int, bool | None]] = []

    def choose(self) -> int | None:
        """Return the next document."""
        if not self.left:
            return None
        return self.left[0] if self.was_relevant else self.left[-1]

    def observe(self, document: int, relevant: bool | None) -> None:
        """Take in an outcome."""
        self.left.remove(document)
        self.was_relevant = relevant
        self.observed.append((document, relevant))


def judged_topic(rankings: Sequence[Sequence[str]], grades: dict[str, int]) -> JudgedTopic:
    """Put rankings of docnos and grades of some of them together; from 1 on is relevant."""
    table, docnos = rankings_of(rankings)
    outcomes = np.array(
        [(RELEVANT if grades[one] else NOT_RELEVANT) if one in grades else UNJUDGED
         for one in docnos], np.int8
    )  # fmt: skip
    relevant = np.flatnonzero(outcomes == RELEVANT)
    return JudgedTopic(table, outcomes, relevant, np.arange(relevant.size))


TOPIC = judged_topic([["a", "b", "e"], ["c", "b"], ["d"]], {"a": 0, "b": 1, "d": 2})
"""By best rank, then docno descending: d, c, a, b, e; nobody judged c and e."""


def test_fixed_strategy_by_hand() -> None:
    """D costs a judgement and is found, c is free, a costs one, b another and is found, e is free.

    So with 0, 1, 2, 3 judgements 0, 1, 1, 2 are found, and 0, 1, 1, 2 documents passed over until
    the next judgement would be due.
    """
    replay = replay_topic(find_strategy("take"), TOPIC, {})
    assert replay.order.tolist() == [3, 2, 0, 1, 4]
    assert replay.paid.tolist() == [0, 2, 3]
    assert replay.found.tolist() == [0, 1, 1, 2]
    _, found, passed_over = counts_by_budget([replay], range(6))[:, 0].tolist()
    assert found == passed_over == [0, 1, 1, 2, 2, 2]


def test_unjudged_may_cost_a_judgement_and_count_as_not_relevant() -> None:
    """Then every document costs one, none is passed over, and d is found first, b fourth."""
    replay = replay_topic(find_strategy("take"), TOPIC, {}, unjudged="nonrelevant")
    assert replay.found.tolist() == [0, 1, 1, 1, 2, 2]
    assert not counts_by_budget([replay], range(7))[2].any()


@pytest.mark.parametrize(
    ("unjudged", "told", "found"),
    [
        # e (nothing known) -> greatest, d relevant -> least, a not -> greatest, c unknown -> b.
        ("pass", [(4, None), (3, True), (0, False), (2, None), (1, True)], [0, 1, 1, 2]),
        ("nonrelevant", [(4, False), (3, True), (0, False), (2, False), (1, True)],
         [0, 0, 1, 1, 1, 2]),
    ],
)  # fmt: skip
def test_adaptive_strategy_is_told_what_came_of_each_document(
    unjudged: Unjudged, told: list[tuple[int, bool | None]], found: list[int]
) -> None:
    """Every document is observed once, as it was chosen; an unjudged one as None, or as asked."""
    started: list[Alternating] = []

    def start(rankings: TopicRankings) -> Alternating:
        started.append(Alternating(rankings))
        return started[-1]

    row = AdaptiveStrategy(name="alternating", summary="", source="", start=start)
    replay = replay_topic(row, TOPIC, {}, unjudged=unjudged)
    assert started[0].observed == told
    assert replay.order.tolist() == [document for document, _ in told]
    assert replay.found.tolist() == found


docnos = st.sampled_from("abcdefgh")
judged = st.builds(
    judged_topic,
    st.lists(st.lists(docnos, unique=True, min_size=1, max_size=5), max_size=4),
    st.dictionaries(docnos, st.integers(0, 1)),
)


@given(topic=judged, unjudged=st.sampled_from(["pass", "nonrelevant"]))
def test_every_strategy_draws_every_document_once(topic: JudgedTopic, unjudged: Unjudged) -> None:
    """All strategies end with the same judgements and finds; counting along the order gives them.

    So at the last budget nothing separates them, and all that was not judged was passed over.
    """
    is_there = topic.rankings.documents >= 0
    scores = np.where(is_there, -np.arange(float(topic.rankings.depth)), np.nan)
    table = TopicRankings(topic.rankings.documents, topic.rankings.n_documents, scores)
    scored = JudgedTopic(table, topic.outcomes, topic.relevant, topic.among_relevant)
    for name in REPLAYED:
        check_replay(name, scored if find_strategy(name).uses_scores else topic, unjudged)


def check_replay(name: str, topic: JudgedTopic, unjudged: Unjudged) -> None:
    """Replay one strategy, and again."""
    row = find_strategy(name)
    parameters = row.complete({})
    replay = replay_topic(row, topic, parameters, seed=3, unjudged=unjudged)
    assert sorted(replay.order.tolist()) == list(range(topic.rankings.n_documents))
    found, curve, passed = 0, [0], 0
    for document in replay.order.tolist():
        outcome = topic.outcomes[document]
        if outcome == UNJUDGED and unjudged == "pass":
            passed += 1
            continue
        found += int(outcome == RELEVANT)
        curve.append(found)
    assert replay.found.tolist() == curve
    assert counts_by_budget([replay], [replay.n_judgements])[2, 0, 0] == passed
    again = replay_topic(row, topic, parameters, seed=3, unjudged=unjudged)
    assert again.order.tolist() == replay.order.tolist()


def test_budgets_are_a_series_with_the_end() -> None:
    """10, 20, 50 and their multiples by ten, below the end; then the end."""
    assert default_budgets(1200) == [10, 20, 50, 100, 200, 500, 1000, 1200]
    assert default_budgets(100) == [10, 20, 50, 100]
    assert default_budgets(3) == [3]


REPLAYS = [
    replay_topic(find_strategy("take"), topic, {})
    for topic in (TOPIC, judged_topic([["x", "y"]], {"x": 1}), judged_topic([], {}))
]
"""Found after each judgement: 0 1 1 2; 0 1, with y unjudged; 0."""


def test_counts_add_up_topics_by_hand() -> None:
    """The same budget for every topic; one that has ended keeps what it has."""
    listed = counts_by_budget(REPLAYS, [1, 2, 3, 9]).sum(axis=1).T.tolist()
    assert listed == [[2, 2, 2], [3, 2, 2], [4, 3, 3], [4, 3, 3]]
    assert found_by_budget(REPLAYS, 3).tolist() == [0, 2, 2, 3]
    assert found_by_budget(REPLAYS, 1).tolist() == [0, 2]
    assert found_by_budget(REPLAYS, 5).tolist() == [0, 2, 2, 3, 3, 3]


RUNS = {
    "x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"d": 2.0, "e": 1.0}},
    "y": {"1": {"c": 3.0, "b": 2.0}, "2": {"e": 1.0}},
}
TWO_TOPICS = {"1": {"a": 0, "b": 1, "c": 1}, "2": {"d": 1}}


def test_arrays_add_up_to_the_tables() -> None:
    """A row is a budget and strategy, its counts the sums over topics."""
    found = replay((RUNS, TWO_TOPICS), ["take", "mtf"], depth=3, budgets=[1, None])
    assert found.budgets == (1, 3)
    assert found.found.shape == found.judgements.shape == (2, 2, 2)
    rows = found.table("replay").to_records()
    assert [row["relevant"] for row in rows] == found.found.sum(axis=1).T.ravel().tolist()
    assert [row["strategy"] for row in rows] == ["take", "mtf"] * 2
    by_topic = found.table("topics").to_records()
    assert [row["relevant"] for row in by_topic if (row["strategy"], row["budget"]) == ("mtf", 3)] == [2, 1]
    assert all(row["precision"] == row["relevant"] / row["judgements"] for row in by_topic)
    assert found.facts()["relevant_in_union"] == found.in_union.sum() == 3
    assert found.curves[:, -1].tolist() == [3, 3]
    assert np.allclose(found.tau_b[:, 1], 1)
    assert [len(view.table) for view in found.views()] == [3, 2, 2, 2]
    with pytest.raises(ArgumentError, match="`budgets` must be integers >= 1, or None"):
        replay((RUNS, TWO_TOPICS), budgets=[0])


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
    from scipy.stats import kendalltau

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
        estimate = [round(mean(one), 9) for one in measured]
        assert row["tau_b"] == pytest.approx(kendalltau(estimate, truth).statistic, abs=1e-12)
        assert row["tau_ap"] == pytest.approx(plain_tau_ap(estimate, [round(one, 9) for one in truth]))
        assert row["reason"] is None


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


def test_runs_that_do_not_contribute_are_scored_and_not_pooled(cli: Cli, judged: Path) -> None:
    """With `--runs`, files give what the collection gives, late run and declared scale included."""
    options = ["--depth", "8", "--budgets", "5,all", "--level", "rigid", "-s", "take", "-s", "comb-mnz"]
    options += ["--unjudged", "nonrelevant"]
    stored = cli("replay", "--qrels", "strict", *options, "--format", "json").fine()
    listed = (*BARE, "--scale", "0-2", *options, "--format", "json")
    bare = cli("replay", "--runs", "runs.tsv", *listed).fine()
    assert bare.json() == stored.json()
    for said in (stored, bare):
        assert "of the 8 of 9 runs that contribute; all are scored" in said.err
    # Named one by one all are pooled.
    everything = cli("replay", *run_files(judged), *listed).fine().json()
    assert stored.json()[-1]["judgements"] < everything[-1]["judgements"]
    write(judged / "late.tsv", "file\tcontributes", "runs/late-tfidf-bigrams.run\tno")
    for words in (("late-tfidf-bigrams", "--qrels", "strict"), ("--runs", "late.tsv", *BARE, "-s", "take")):
        assert "none of these runs contributes to pools" in cli("replay", *words).failed(1).err


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
