"""Following strategies through topics that are judged already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from pooler.pools.replay import (
    JudgedTopic,
    TopicReplay,
    Unjudged,
    check_replayable,
    counts_by_budget,
    default_budgets,
    found_by_budget,
    judged_topics,
    order_points,
    replay_topic,
)
from pooler.reading.whole import ranked_runs
from pooler.strategies import STRATEGIES, find_strategy
from pooler.strategies.kinds import AdaptiveStrategy, Sample, SamplingStrategy
from pooler.strategies.rankings import TopicRankings, rankings_of
from store.analysis.arrays import judged_arrays
from store.analysis.measures.average_precision import relevant_ranks
from store.analysis.rankings import NOT_RELEVANT, RELEVANT, UNJUDGED
from store.analysis.run_order import TauResult
from store.errors import ArgumentError
from store.records import Qrel, Ranking, Run
from tests.store.analysis.plain_tau_ap import plain_tau_ap

REPLAYED = [name for name, row in STRATEGIES.items() if not isinstance(row, SamplingStrategy)]


class Alternating:
    """Takes the least number left after a relevant document, else the greatest, and remembers."""

    def __init__(self, rankings: TopicRankings, seed: int | None = None) -> None:
        self.left = list(range(rankings.n_documents))
        self.was_relevant: bool | None = False
        self.observed: list[tuple[int, bool | None]] = []
        self.seed = seed

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


def row_of(started: list[Alternating], *, needs_seed: bool = False) -> AdaptiveStrategy:
    """Return a row whose states are put into `started`."""

    def start(rankings: TopicRankings, **given: Any) -> Alternating:
        started.append(Alternating(rankings, **given))
        return started[-1]

    return AdaptiveStrategy(name="alternating", summary="", source="", start=start, needs_seed=needs_seed)


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
    replay = replay_topic(row_of(started), TOPIC, {}, unjudged=unjudged)
    assert started[0].observed == told
    assert replay.order.tolist() == [document for document, _ in told]
    assert replay.found.tolist() == found


def test_seed_goes_to_strategies_that_need_one_only() -> None:
    """A strategy that is not random gets no seed; a random one must be given it."""
    started: list[Alternating] = []
    replay_topic(row_of(started), TOPIC, {}, seed=7)
    replay_topic(row_of(started, needs_seed=True), TOPIC, {}, seed=7)
    assert [state.seed for state in started] == [None, 7]
    with pytest.raises(ArgumentError, match="`seed` must be given: `alternating` chooses at"):
        replay_topic(row_of(started, needs_seed=True), TOPIC, {})


def test_seed_goes_to_a_strategy_that_is_random_by_its_parameters_alone() -> None:
    """What goes on at random after a depth pool gives the same again with a seed, and needs one."""
    row = find_strategy("depth-then")
    parameters = row.complete({"then": "thompson", "first": 1})
    rankings, _ = rankings_of([[f"{run}-{place}" for place in range(9)] for run in range(5)], topic="51")
    outcomes = np.arange(rankings.n_documents, dtype=np.int8) % 2
    topic = JudgedTopic(rankings, outcomes, np.flatnonzero(outcomes), np.arange(22))
    first, again = (replay_topic(row, topic, parameters, seed=1).order.tolist() for _ in range(2))
    assert first == again
    with pytest.raises(ArgumentError, match="`seed` must be given: `depth-then` chooses at random"):
        replay_topic(row, topic, parameters)


def test_sampling_strategies_are_refused() -> None:
    """A sample has no order in which judgements could be spent."""

    def draw(rankings: TopicRankings, *, budget: int | None, seed: int) -> Sample:
        raise NotImplementedError

    row = SamplingStrategy(name="lottery", summary="", source="", draw=draw)
    with pytest.raises(ArgumentError, match=r"`strategy` must order documents; a sample.*'lotte"):
        check_replayable(row, 1)
    with pytest.raises(ArgumentError, match="a sample, drawn at once, has no order to replay"):
        replay_topic(row, TOPIC, {}, seed=1)


def test_topic_without_documents_costs_nothing() -> None:
    """A judged topic that no run has is replayed without asking any strategy."""
    empty = judged_topic([], {})
    for name in REPLAYED:
        row = find_strategy(name)
        replay = replay_topic(row, empty, row.complete({}), seed=1)
        assert (replay.order.size, replay.found.tolist()) == (0, [0])


docnos = st.sampled_from("abcdefgh")
judged = st.builds(
    judged_topic,
    st.lists(st.lists(docnos, unique=True, min_size=1, max_size=5), min_size=1, max_size=4),
    st.dictionaries(docnos, st.integers(0, 1)),
)


@pytest.mark.parametrize("name", REPLAYED)
@given(topic=judged, unjudged=st.sampled_from(["pass", "nonrelevant"]))
def test_every_strategy_draws_every_document_once(name: str, topic: JudgedTopic, unjudged: Unjudged) -> None:
    """All strategies end with the same judgements and finds; counting along the order gives them.

    So at the last budget nothing separates them, and all that was not judged was passed over.
    """
    row = find_strategy(name)
    if row.uses_scores:
        is_there = topic.rankings.documents >= 0
        scores = np.where(is_there, -np.arange(float(topic.rankings.depth)), np.nan)
        table = TopicRankings(topic.rankings.documents, topic.rankings.n_documents, scores)
        topic = JudgedTopic(table, topic.outcomes, topic.relevant, topic.among_relevant)
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


def plain_map(runs: list[Run], relevant: dict[str, set[str]]) -> list[float] | None:
    """Average AP over the topics with a relevant document; None when there is none."""
    topics = [topic for topic, docnos in relevant.items() if docnos]
    if not topics:
        return None
    means = []
    for run in runs:
        rankings = {ranking.topic: ranking.docnos for ranking in run.rankings}
        total = 0.0
        for topic in topics:
            hits = 0
            for rank, docno in enumerate(rankings.get(topic, []), start=1):
                if docno in relevant[topic]:
                    hits += 1
                    total += hits / rank / len(relevant[topic])
        means.append(total / len(topics))
    return means


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[Run], list[Qrel]]:
    """Draw up to four runs over up to three topics, and qrels of some of the documents."""
    topics = ["1", "2", "3"][: draw(st.integers(1, 3))]
    listed = st.lists(docnos, unique=True, min_size=1, max_size=6)
    runs = []
    for number in range(draw(st.integers(1, 4))):
        rankings = []
        for topic in topics:
            if draw(st.integers(0, 3)):
                names = draw(listed)
                rankings.append(Ranking(topic, names, -np.arange(float(len(names))), None))
        runs.append(Run(f"r{number}", rankings, sha256=""))
    qrels = [
        Qrel(topic, docno, grade)
        for topic in topics
        for docno, grade in draw(st.dictionaries(docnos, st.integers(0, 1))).items()
    ]
    return runs, qrels


@given(collections(), st.integers(1, 6), st.sampled_from(["take", "rrf", "mtf", "max-mean"]))
def test_run_order_is_that_of_qrels_cut_to_the_judgements_spent(
    drawn: tuple[list[Run], list[Qrel]], depth: int, name: str
) -> None:
    """At every budget tau-b and tau-AP are those of qrels that hold the judged documents only."""
    runs, qrels = drawn
    ranked = ranked_runs(runs, order="file")
    topics = judged_topics(ranked, qrels, level=1, depth=depth)
    row = find_strategy(name)
    replays = [replay_topic(row, topic, row.complete({})) for topic in topics]
    ranks = relevant_ranks(judged_arrays(ranked, qrels, level=1, cutoff=1000))
    budgets = [1, 2, 4, 9]
    names = sorted({qrel.topic for qrel in qrels})
    everything = {
        topic: {qrel.docno for qrel in qrels if qrel.topic == topic and qrel.grade} for topic in names
    }
    truth = plain_map(runs, everything)
    for budget, (tau_b, tau_ap) in zip(budgets, order_points(ranks, topics, replays, budgets), strict=True):
        spent = {}
        for topic, of_topic, replay in zip(names, topics, replays, strict=True):
            taken = {
                ranking.docnos[place]
                for run in runs
                for ranking in run.rankings
                if ranking.topic == topic
                for place in range(min(depth, len(ranking.docnos)))
            }
            union = sorted(taken)
            judged = [union[document] for document in replay.order[replay.paid][:budget]]
            assert of_topic.rankings.n_documents == len(union)
            spent[topic] = everything[topic] & set(judged)
        estimate = plain_map(runs, spent)
        if estimate is None or truth is None:
            assert tau_b == tau_ap == TauResult(None, "no-relevant")
            continue
        levels = [{round(one, 12) for one in scores} for scores in (estimate, truth)]
        if len(runs) < 2:
            assert tau_b == tau_ap == TauResult(None, "fewer-than-two")
        elif min(map(len, levels)) < 2:
            assert tau_b == tau_ap == TauResult(None, "all-tied")
        else:
            rounded = [[round(one, 12) for one in scores] for scores in (estimate, truth)]
            assert tau_b.tau == pytest.approx(float(kendalltau(*rounded).statistic), abs=1e-12)
            assert tau_ap.tau == pytest.approx(plain_tau_ap(*rounded), abs=1e-12)


def test_run_order_is_the_true_one_when_all_is_found() -> None:
    """Once every relevant document is judged, both coefficients are 1."""
    runs = [
        Run(tag, [Ranking("1", list(listed), -np.arange(3.0), None)], sha256="")
        for tag, listed in (("x", "abc"), ("y", "bca"), ("z", "cba"))
    ]
    qrels = [Qrel("1", "a", 1), Qrel("1", "b", 1), Qrel("1", "c", 0)]
    ranked = ranked_runs(runs)
    topics = judged_topics(ranked, qrels, level=1, depth=3)
    replays: list[TopicReplay] = [replay_topic(find_strategy("take"), one, {}) for one in topics]
    ranks = relevant_ranks(judged_arrays(ranked, qrels, level=1, cutoff=1000))
    [last] = order_points(ranks, topics, replays, [3])
    assert last == (TauResult(1.0), TauResult(1.0))
