"""All strategies: what every one promises, its parameters and random numbers; those of ranks or scores."""

from __future__ import annotations

import math
import random
import re
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pooler.strategies import ADAPTIVE, STRATEGIES
from pooler.strategies.fixed import condorcet_values
from pooler.strategies.kinds import AdaptiveStrategy, FixedStrategy, ParameterValue
from pooler.strategies.rankings import TopicRankings, descending, rankings_of, raw_numbers, uniform_numbers
from store.analysis.pools.contributions import NO_DOCUMENT
from store.errors import ArgumentError, PoolerError
from tests.helpers import fusion_programs
from tests.helpers.strategies import ids
from tests.helpers.strategy_play import (
    Decisions,
    Log,
    drawn_decisions,
    drawn_ranking,
    drawn_rankings,
    id_rankings,
    order_of,
    ranks_of,
    relive,
    start,
    values_of,
)

NAMES = [name for name, row in STRATEGIES.items() if isinstance(row, AdaptiveStrategy)]
CASES: list[tuple[str, dict[str, ParameterValue]]] = [(name, {}) for name in NAMES]
CASES += [("depth-then", {"then": row.name, "first": 2}) for row in ADAPTIVE]
each_strategy = pytest.mark.parametrize(("name", "given_parameters"), CASES)


def _big_topic() -> TopicRankings:
    """Return 12 runs of 30 out of 100 documents, the same every time."""
    rng = random.Random(7)
    docnos = [f"d{i:02}" for i in range(100)]
    return rankings_of([rng.sample(docnos, 30) for _ in range(12)], topic="51")[0]


def _drain(rankings: TopicRankings, name: str, seed: int, **given: ParameterValue) -> list[int]:
    """Judge in the order chosen; every fourth document is relevant."""
    state = start(name, rankings, seed=seed, **given)
    order: list[int] = []
    while (chosen := state.choose()) is not None:
        order.append(chosen)
        state.observe(chosen, chosen % 4 == 0)
    return order


@given(runs=drawn_rankings, decisions=drawn_decisions)
def test_adaptive_state_is_made_again_from_what_was_observed(
    runs: list[list[str]], decisions: Decisions
) -> None:
    """At any point a new state that observes the same past chooses the same; asked twice, too."""
    rankings, _ = rankings_of(runs, topic="51")

    def check_case(name: str, parameters: dict[str, ParameterValue]) -> None:
        state = start(name, rankings, **parameters)

        def check(chosen: int | None, log: Log) -> None:
            assert state.choose() == chosen, name
            again = start(name, rankings, **parameters)
            for document, outcome in log:
                again.observe(document, outcome)
            assert again.choose() == chosen, name
            # One that was asked at every step has not changed by it.
            assert (chosen is None) == (len(log) == rankings.n_documents), name
            assert chosen not in {document for document, _ in log}, name

        relive(state, rankings, decisions, check)

    for case in CASES:
        check_case(*case)


@each_strategy
def test_adaptive_seed_decides(name: str, given_parameters: dict[str, ParameterValue]) -> None:
    """The same seed gives the same order; another seed another one where chance has a say."""
    rankings = _big_topic()
    first, again, other = (_drain(rankings, name, seed, **given_parameters) for seed in (1, 1, 2))
    assert first == again
    strategy = STRATEGIES[name]
    assert isinstance(strategy, AdaptiveStrategy)
    is_random = strategy.needs_seed_for(strategy.complete(given_parameters))
    assert (first != other) == is_random


@given(ranking=drawn_ranking)
def test_adaptive_one_run_alone_is_taken_in_its_order(ranking: list[str]) -> None:
    """With a single run there is no choice but its own order, whatever is relevant."""
    rankings, docnos = rankings_of([ranking], topic="51")
    for name, parameters in CASES:
        order = _drain(rankings, name, 1, **parameters)
        assert [docnos[document] for document in order] == ranking, name


@pytest.mark.parametrize(
    ("name", "parameter", "text", "value"),
    [
        ("rrf", "k", "2.5e3", 2500.0),
        ("rrf", "k", "7", 7.0),
        ("rrf", "k", "much", "`k` must be a number >= 0, but got 'much'"),
        ("rrf", "k", "inf", "`k` must be a number >= 0, but got inf"),
        ("rrf", "k", "", "`k` must be a number >= 0, but got ''"),
        ("depth-then", "first", "100", 100),
        ("depth-then", "first", "2.0", "`first` must be an integer >= 1, but got '2.0'"),
        ("depth-then", "then", "60", "60"),
        ("rbp-b", "p", "0", "`p` must be a number > 0 and < 1, but got 0.0"),
    ],
)
def test_text_is_a_value_or_refused(name: str, parameter: str, text: str, value: ParameterValue) -> None:
    """Text becomes a number or stays text, as the parameter says; or it is said what it must be."""
    (asked,) = (one for one in STRATEGIES[name].parameters if one.name == parameter)
    found: ParameterValue
    try:
        found = asked.parse(text)
    except ArgumentError as error:
        found = str(error)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "given_parameters", "words"),
    [
        ("hedge", {"beta": 0}, "`beta` must be a number > 0 and < 1"),
        ("hedge", {"beta": 1}, "`beta` must be a number > 0 and < 1"),
        ("rbp-b", {"p": 0}, "`p` must be a number > 0 and < 1"),
        ("rbp-c", {"p": 1}, "`p` must be a number > 0 and < 1"),
        ("mm-ns", {"rho": 1.1}, "`rho` must be a number >= 0 and <= 1"),
        ("rrf", {"k": math.inf}, "`k` must be a number >= 0, but got inf"),
        ("rrf", {"k": 10**400}, "`k` must be a number >= 0"),
        ("depth-then", {"first": 0}, "`first` must be an integer >= 1, but got 0"),
        ("depth-then", {"first": True}, "`first` must be an integer >= 1"),
        ("depth-then", {"first": "5"}, "`first` must be an integer >= 1, but got '5'"),
        ("depth-then", {"then": 5}, "`then` must be a name, but got 5"),
        ("stratified", {}, "`strata` must be given: "),
        ("rrf", {"q": 1}, "unknown parameter of `rrf` `q`; known: `k`"),
    ],
)
def test_parameters_that_cannot_be_are_refused(
    name: str, given_parameters: dict[str, ParameterValue], words: str
) -> None:
    """By name, with what they must be."""
    with pytest.raises(PoolerError, match=words):
        STRATEGIES[name].complete(given_parameters)


def test_descending_ties_what_rounding_alone_tells_apart() -> None:
    """0.1 + 0.2 is not 0.3 in floats, but ties with it; a difference of 1e-12 stays one."""
    assert descending(np.array([0.1 + 0.2, 0.3])).tolist() == [1, 0]
    assert descending(np.array([0.3, 0.1 + 0.2])).tolist() == [1, 0]
    assert descending(np.array([0.3 + 1e-12, 0.3])).tolist() == [0, 1]
    assert descending(np.array([-0.3, -0.1 - 0.2, 7.0])).tolist() == [2, 1, 0]


seeds = st.integers(0, 9) | st.integers(0, 2**64)
steps = st.none() | st.integers(0, 9) | st.integers(0, 2**33)


@pytest.mark.parametrize(
    ("seed", "topic", "step", "numbers"),
    [
        (0, "51", None, [10196243239087999399, 121220191056897674]),
        (5, "51", 0, [1393089589488899939, 2846926699368811728]),
        (2**64, "é", 2**33, [18308357745300945995, 2368376785964099491]),
    ],
)
def test_raw_numbers_are_those_of_the_published_generator(
    seed: int, topic: str, step: int | None, numbers: list[int]
) -> None:
    """The bits are those of PCG64, once written out by hand: no version of numpy may change them."""
    found = raw_numbers(seed, topic, 2, step=step)
    assert (found.dtype, found.tolist()) == (np.uint64, numbers)


@given(seed=seeds, topic=ids, step=steps)
def test_uniform_numbers_are_the_upper_53_bits(seed: int, topic: str, step: int | None) -> None:
    """Each is in [0, 1) and keeps the 53 upper of 64 random bits exactly."""
    numbers = uniform_numbers(seed, topic, 20, step=step)
    assert ((numbers >= 0) & (numbers < 1)).all()
    bits = [number >> 11 for number in raw_numbers(seed, topic, 20, step=step).tolist()]
    assert [int(number * 2**53) for number in numbers.tolist()] == bits


FIXED = [strategy for strategy in STRATEGIES.values() if isinstance(strategy, FixedStrategy)]
fixed = pytest.mark.parametrize("strategy", FIXED, ids=lambda one: one.name)

drawn_runs = st.lists(
    st.tuples(
        st.lists(ids, min_size=1, max_size=8, unique=True),
        st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1.0]), min_size=8, max_size=8),
    ),
    max_size=6,
)
"""Docnos in rank order, and scores for them; a score may rise along a ranking, as it does where
the file's ranks decide."""

Runs = list[tuple[list[str], list[float]]]


def arrays_of(runs: Runs) -> TopicRankings:
    """Turn drawn runs into arrays."""
    rankings = [docnos for docnos, _ in runs]
    return rankings_of(rankings, [scores[: len(docnos)] for docnos, scores in runs])[0]


def evaluate(strategy: FixedStrategy, rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents with the defaults, and 0.9 for what must be given."""
    must = {part.name: 0.9 for part in strategy.parameters if part.default is None}
    given: dict[str, ParameterValue] = {**must}
    return strategy.values(rankings, **strategy.complete(given))


def test_strategies_rows_are_complete() -> None:
    """Every row is under its own name and has a summary, a dated source and told parameters."""
    for name, strategy in STRATEGIES.items():
        assert strategy.name == name
        assert re.fullmatch(r"[a-z]+[0-9]*(-[a-z0-9]+)*", name)
        assert 0 < len(strategy.summary) <= 90
        assert not strategy.summary.endswith(".")
        assert re.search(r"\b(19|20)[0-9]{2}\b", strategy.source), name
        for parameter in strategy.parameters:
            assert parameter.summary
            if parameter.default is not None:
                assert parameter.check(parameter.default) == parameter.default
                assert parameter.parse(str(parameter.default)) == parameter.default


@given(runs=drawn_runs, order=st.randoms(use_true_random=True))
def test_fixed_values_are_of_what_the_runs_have(runs: Runs, order: random.Random) -> None:
    """Each document has a finite value and a place, to the last bit in any order of runs and documents."""
    rankings, shuffled = arrays_of(runs), arrays_of(order.sample(runs, len(runs)))
    new = np.array(order.sample(range(rankings.n_documents), rankings.n_documents), np.int32)
    documents = rankings.documents.copy()
    is_there = documents != NO_DOCUMENT
    documents[is_there] = new[documents[is_there]]
    renamed = TopicRankings(documents, rankings.n_documents, rankings.scores)
    for strategy in FIXED:
        values = evaluate(strategy, rankings)
        assert values.shape == (rankings.n_documents,), strategy.name
        assert values.dtype == np.float64, strategy.name
        assert np.isfinite(values).all(), strategy.name
        assert sorted(descending(values).tolist()) == list(range(rankings.n_documents)), strategy.name
        assert evaluate(strategy, shuffled).tolist() == values.tolist(), strategy.name
        assert evaluate(strategy, renamed)[new].tolist() == values.tolist(), strategy.name


@fixed
@pytest.mark.parametrize("n_documents", [1, 2, 3, 7, 12])
def test_fixed_values_of_a_merry_go_round_are_tied(strategy: FixedStrategy, n_documents: int) -> None:
    """Where every document has every rank once, all tie to the last bit: docno descending."""
    documents = np.arange(n_documents, dtype=np.int32)
    rows = np.stack([np.roll(documents, -run) for run in range(n_documents)])
    # Scores on a scale of its own for each run, in equal steps.
    scores = -np.outer(2.0 ** np.arange(n_documents), documents.astype(float)) + 3
    values = evaluate(strategy, TopicRankings(rows, n_documents, scores))
    assert len(set(values.tolist())) == 1
    assert descending(values).tolist() == documents[::-1].tolist()


@fixed
def test_fixed_values_of_no_runs_are_none(strategy: FixedStrategy) -> None:
    """A topic without rankings has no documents, and is no error."""
    assert evaluate(strategy, rankings_of([], [])[0]).shape == (0,)


@fixed
def test_fixed_order_of_one_run_is_its_own(strategy: FixedStrategy) -> None:
    """A single run is pooled from the top; only `count` has nothing to go by."""
    docnos = ["b", "d", "a", "e", "c"]
    rankings, names = rankings_of([docnos], [[5.0, 4.0, 2.5, 2.0, -1.0]])
    order = [names[number] for number in descending(evaluate(strategy, rankings))]
    assert order == (["e", "d", "c", "b", "a"] if strategy.name == "count" else docnos)


# alpha, 9 to 5, scales to a 1, b 3/4, c 1/4, d 0; beta, 2 to -2, to b 1, c 1/2, a 0; gamma, one
# document, to c 1/2.
SCORES = [[9.0, 8.0, 6.0, 5.0], [2.0, 0.0, -2.0], [7.0]]

WORKED: list[tuple[str, str, dict[str, Any], list[float], str]] = [
    # b: ranks 2, 1, 3 = 3 runs. a: 1 + 2 = 3; c: 3 + 1 = 4, both 2 runs. d: 3, e: 2, 1 run each. At
    # depth 3, n runs have a sum of ranks of at most 3 n.
    ("depth", "abcz bad ceb", {"depth": 3},
     [2 - 3 / 7, 3 - 6 / 10, 2 - 4 / 7, 1 - 3 / 4, 1 - 2 / 4], "baced"),
    # Best ranks: a 1 (two runs), b 1 (one run), c 2 (two runs), d 3, e 3. One of three runs adds 1/4.
    ("take", "acd bce ab", {}, [-0.5, -0.75, -1.5, -2.75, -2.75], "abced"),
    # Cut at 2: b is in all three; a, c and d are in one each. Without the cut a is in two.
    ("count", "ab bca db", {"depth": 2}, [1, 3, 1, 1], "bdca"),
    ("count", "ab bca db", {}, [2, 3, 1, 1], "badc"),
    # Of 4 documents, alpha gives 4, 3, 2, 1; beta 4 and 3, and (2 + 1) / 2 to c and d; gamma 4, and
    # (3 + 2 + 1) / 3 to the others: 4 + 3 + 2, 3 + 4 + 2, 2 + 1.5 + 4, 1 + 1.5 + 2.
    ("borda", "abcd ba c", {}, [9, 9, 7.5, 4.5], "bacd"),
    # a beats b (2 to 1), c (alpha and beta against gamma) and d; b beats c and d; d beats c.
    ("condorcet", "abd adc bc", {}, [3, 2, 0, 1], "abdc"),
    # Condorcet's paradox: each beats one other, so the docno decides. One against one is no majority.
    ("condorcet", "abc bca cab", {}, [1, 1, 1], "cba"),
    ("condorcet", "ab ba", {}, [0, 0], "ba"),
    # Discounts 1, 1 / log2(3), 1/2, and 1/3 at rank 7.
    ("dcg", "abc cxapqrz", {},
     [1.5, 1 / math.log2(3), 1.5, 1 / math.log2(5), 1 / math.log2(6), 1 / math.log2(7),
      1 / math.log2(3), 1 / 3], "caxbpqrz"),
    # k = 2: a 1/3 + 1/4, b 1/4 + 1/3 + 1/5, c 1/5 + 1/3, d 1/4. Unless told otherwise k is 60. With a
    # vast k only the number of runs is left; with k = 0 a first rank is worth 1.
    ("rrf", "abc ba cdb", {"k": 2}, [35 / 60, 47 / 60, 32 / 60, 15 / 60], "bacd"),
    ("rrf", "ab ba", {}, [1 / 61 + 1 / 62] * 2, "ba"),
    ("rrf", "ab bc", {"k": 1e300}, [1e-300, 2e-300, 1e-300], "bca"),
    ("rrf", "ab bc", {"k": 0}, [1, 1.5, 0.5], "bac"),
    # p = 1/2: a 1/2 + 1/4, b 1/4 + 1/2 + 1/8, c 1/8 + 1/2, d 1/4.
    ("rbp-a", "abc ba cdb", {"p": 0.5}, [6 / 8, 7 / 8, 5 / 8, 2 / 8], "bacd"),
    # a: 0, 1. b: 3/4, 1. c: 1/4, 1/2, 1/2. d: 0.
    ("comb-max", "abcd bca c", {"scores": SCORES}, [1, 1, 0.5, 0], "bacd"),
    ("comb-sum", "abcd bca c", {"scores": SCORES}, [1, 1.75, 1.25, 0], "bcad"),
    ("comb-mnz", "abcd bca c", {"scores": SCORES}, [2, 3.5, 3.75, 0], "cbad"),
]  # fmt: skip  # a strategy a line
"""Runs of documents of one letter, parameters, values by docno, and the order of the pool."""


@pytest.mark.parametrize(("name", "runs", "given", "values", "order"), WORKED)
def test_worked_examples(
    name: str, runs: str, given: dict[str, Any], values: list[float], order: str
) -> None:
    """Values by hand, and their order: ties are docno descending."""
    rankings = [[*run] for run in runs.split()]
    found = values_of(name, rankings, **given)
    assert found == pytest.approx(dict(zip(sorted(set(order)), values, strict=True)), rel=1e-15)
    assert "".join(order_of(name, rankings, **given)) == order


def test_every_fixed_strategy_has_a_worked_example() -> None:
    """None is without one."""
    names = {name for name, row in STRATEGIES.items() if isinstance(row, FixedStrategy)}
    assert names == {name for name, *_ in WORKED}


DEFINITIONS: dict[str, Callable[[list[int]], float]] = {
    "count": len,
    "dcg": lambda ranks: math.fsum(math.log(2) / math.log(rank + 1) for rank in ranks),
    "rrf": lambda ranks: float(sum(Fraction(1, 60 + rank) for rank in ranks)),
    "rbp-a": lambda ranks: float(sum(Fraction(1, 5) * Fraction(4, 5) ** (rank - 1) for rank in ranks)),
}
"""Values as functions of a document's ranks, in fractions or with other logarithms."""
FACTS: dict[str, Callable[[list[int]], tuple[float, float]]] = {
    "depth": lambda ranks: (len(ranks), -sum(ranks)),
    "take": lambda ranks: (-ranks[0], ranks.count(ranks[0])),
}
"""What decides the order: runs, then smaller sums; best rank, then runs at that rank."""


@given(rankings=id_rankings, depth=st.integers(1, 9))
def test_values_and_orders_equal_their_definitions(rankings: list[list[str]], depth: int) -> None:
    """Of any runs, cut anywhere; the last word has the docno, descending bytewise."""
    ranks = ranks_of(rankings, depth=depth)
    for name, value in DEFINITIONS.items():
        expected = {docno: value(of_document) for docno, of_document in ranks.items()}
        assert values_of(name, rankings, depth=depth) == pytest.approx(expected, rel=1e-13), name
    for name, facts in FACTS.items():
        by_facts = sorted(ranks, key=lambda docno: (facts(ranks[docno]), docno.encode()), reverse=True)
        assert order_of(name, rankings, depth=depth) == by_facts, name


@given(rankings=id_rankings, depth=st.integers(1, 9))
def test_borda_values_equal_the_election(rankings: list[list[str]], depth: int) -> None:
    """Values are those of counting every voter's points one by one, exactly."""
    cut = [ranking[:depth] for ranking in rankings]
    union = {docno for ranking in cut for docno in ranking}
    points = dict.fromkeys(union, Fraction())
    for ranking in cut:
        left = list(range(len(union), 0, -1))
        for docno in ranking:
            points[docno] += left.pop(0)
        for docno in union - set(ranking):
            points[docno] += Fraction(sum(left), len(left))
    assert values_of("borda", rankings, depth=depth) == points
    # Every voter hands out the same points.
    assert sum(points.values()) == len(cut) * len(union) * (len(union) + 1) / 2


def victories(rankings: list[list[str]]) -> dict[str, int]:
    """Count victories by asking every run about every two documents."""
    union = sorted({docno for ranking in rankings for docno in ranking})

    def place(ranking: list[str], docno: str) -> int:
        return ranking.index(docno) if docno in ranking else len(ranking)

    def beats(one: str, other: str) -> bool:
        places = [(place(ranking, one), place(ranking, other)) for ranking in rankings]
        return sum(a < b for a, b in places) > sum(b < a for a, b in places)

    return {one: sum(beats(one, other) for other in union) for one in union}


@given(rankings=id_rankings, depth=st.integers(1, 9))
def test_condorcet_values_equal_the_definition(rankings: list[list[str]], depth: int) -> None:
    """Values are the victories of a slow count."""
    expected = victories([ranking[:depth] for ranking in rankings])
    assert values_of("condorcet", rankings, depth=depth) == expected


def test_condorcet_values_of_many_documents_equal_the_definition() -> None:
    """A union too large to hold all its pairs at once gives the same."""
    n_documents, depth = 3000, 1500
    rng = np.random.default_rng(11)
    # The first two runs have every document between them.
    rows = np.stack([rng.permutation(n_documents)[:depth] for _ in range(5)])
    rows[1] = np.setdiff1d(np.arange(n_documents), rows[0])
    places = np.full((len(rows), n_documents), depth)
    np.put_along_axis(places, rows, np.arange(depth)[np.newaxis], axis=1)
    expected = [
        int((np.sign(places - places[:, [document]]).sum(axis=0) > 0).sum())
        for document in range(n_documents)
    ]
    rankings = TopicRankings(rows.astype(np.int32), n_documents)
    assert condorcet_values(rankings).tolist() == expected


COMBINED = ["comb-max", "comb-sum", "comb-mnz"]
Scored = list[list[tuple[str, float]]]

_tame = st.integers(-9, 9).map(float) | st.sampled_from([0.5, -0.25, 1e6])
_wild = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [1.7e308, -1.7e308, 5e-324, -5e-324, 0.0, -0.0, 1.0, 1.0000000000000002]
)


def runs_of(score: st.SearchStrategy[float]) -> st.SearchStrategy[Scored]:
    """Draw runs of one topic: docnos with scores, best first."""
    row = st.tuples(ids, score)
    run = st.lists(row, min_size=1, max_size=8, unique_by=lambda row: row[0])
    return st.lists(run.map(lambda rows: sorted(rows, key=lambda row: -row[1])), max_size=5)


def apart(runs: Scored) -> tuple[list[list[str]], list[list[float]]]:
    """Take docnos and scores apart."""
    return [[docno for docno, _ in run] for run in runs], [[s for _, s in run] for run in runs]


def scaled(runs: Scored, depth: int) -> dict[str, list[Fraction]]:
    """Scale scores exactly, the slow way; each document's, ascending."""
    by_docno = defaultdict(list)
    for run in runs:
        exact = [(docno, Fraction(score)) for docno, score in run[:depth]]
        least, most = min(s for _, s in exact), max(s for _, s in exact)
        for docno, score in exact:
            is_constant = least == most
            value = Fraction(1, 2) if is_constant else (score - least) / (most - least)
            by_docno[docno].append(value)
    return {docno: sorted(values) for docno, values in by_docno.items()}


@pytest.mark.parametrize("name", COMBINED)
def test_comb_values_scale_what_the_cut_leaves(name: str) -> None:
    """From 0 to 1, whatever floats they are; a half where all are equal, and of one document."""
    # At depth 2, alpha's 9 and 8 scale to a 1 and b 0.
    assert values_of(name, [["a", "b", "c", "d"]], SCORES[:1], depth=2) == {"a": 1, "b": 0}
    assert values_of(name, [["b", "a"]], [[3.0, 3.0]]) == {"a": 0.5, "b": 0.5}
    assert values_of(name, [["a"]], [[-1e300]]) == {"a": 0.5}
    for scores in ([1.7e308, 0.0, -1.7e308], [1e-323, 5e-324, 0.0]):
        assert values_of(name, [["a", "b", "c"]], [scores]) == {"a": 1, "b": 0.5, "c": 0}
    strategy = STRATEGIES[name]
    assert isinstance(strategy, FixedStrategy)
    assert strategy.uses_scores
    with pytest.raises(ArgumentError, match="`rankings` must have scores"):
        strategy.values(rankings_of([["a"]])[0])


@given(runs=runs_of(_tame | _wild), depth=st.integers(1, 9))
def test_comb_values_equal_the_definition(runs: Scored, depth: int) -> None:
    """Values are those of exact arithmetic, whatever the scores."""
    rankings, scores = apart(runs)
    exact = scaled(runs, depth)
    by_hand = {
        "comb-max": {docno: values[-1] for docno, values in exact.items()},
        "comb-sum": {docno: sum(values) for docno, values in exact.items()},
        "comb-mnz": {docno: sum(values) * len(values) for docno, values in exact.items()},
    }
    for name, expected in by_hand.items():
        values = values_of(name, rankings, scores, depth=depth)
        floats = {docno: float(value) for docno, value in expected.items()}
        assert values == pytest.approx(floats, rel=1e-14, abs=1e-300), name


@given(runs=runs_of(_tame), name=st.sampled_from(COMBINED))
def test_comb_values_of_equal_scores_are_tied(runs: Scored, name: str) -> None:
    """Documents with the same scaled scores, from whichever runs, tie to the last bit."""
    values = values_of(name, *apart(runs))
    tied = defaultdict(set)
    for docno, of_document in scaled(runs, 9).items():
        tied[tuple(of_document)].add(values[docno])
    assert all(len(of_equals) == 1 for of_equals in tied.values())


RUNS = [list(run) for run in fusion_programs.RUNS.values()]


@pytest.mark.vector("ranx 0.3.21; trectools 0.0.50")
def test_values_are_those_of_ranx_and_trectools() -> None:
    """The three runs of the vectors get the numbers of two other programs."""
    scores = [list(run.values()) for run in fusion_programs.RUNS.values()]
    for program in (fusion_programs.RANX, fusion_programs.TRECTOOLS):
        for name, expected in program.items():
            uses_scores = name.startswith("comb")
            found = values_of(name, RUNS, scores if uses_scores else None)
            assert found == pytest.approx(expected, rel=1e-14), name
    for name, expected in fusion_programs.TRECTOOLS.items():
        assert order_of(name, RUNS) == list(expected)


@pytest.mark.vector("trectools 0.0.50")
def test_pools_are_those_of_trectools() -> None:
    """Depth pools, and the first documents by RRF."""
    for depth, pool in fusion_programs.DEPTH_POOLS.items():
        assert set(order_of("depth", RUNS, depth=depth)) == pool
    for budget, pool in fusion_programs.RRF_POOLS.items():
        assert set(order_of("rrf", RUNS)[:budget]) == pool


def test_equal_sums_of_different_ranks_tie() -> None:
    """1/63 + 1/140 = 1/84 + 1/90 = 29/1260, so ranks (3, 80) and (24, 30) tie: docno decides."""
    for early, late in (("a", "z"), ("z", "a")):
        runs = []
        for places in ({early: 3, late: 24}, {early: 80, late: 30}):
            by_rank = {rank: docno for docno, rank in places.items()}
            filler = f"f{len(runs)}-"
            runs.append([by_rank.get(rank, f"{filler}{rank}") for rank in range(1, 101)])
        order = [docno for docno in order_of("rrf", runs, k=60.0) if docno in ("a", "z")]
        assert order == ["z", "a"]
