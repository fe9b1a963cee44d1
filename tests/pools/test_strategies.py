"""All strategies: what every one promises, their parameters, the arrays and random numbers they see."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import ADAPTIVE, STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, FixedStrategy, Parameter, ParameterValue
from pooler.strategies.rankings import TopicRankings, descending, rankings_of, raw_numbers, uniform_numbers
from store.analysis.pools.contributions import NO_DOCUMENT
from store.errors import ArgumentError, PoolerError
from tests.helpers.strategies import ids
from tests.helpers.strategy_play import Decisions, Log, drawn_decisions, drawn_rankings, relive, start

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


@each_strategy
@given(runs=drawn_rankings, decisions=drawn_decisions)
def test_adaptive_state_is_made_again_from_what_was_observed(
    name: str, given_parameters: dict[str, ParameterValue], runs: list[list[str]], decisions: Decisions
) -> None:
    """At any point a new state that observes the same past chooses the same; asked twice, too."""
    rankings, _ = rankings_of(runs, topic="51")
    state = start(name, rankings, **given_parameters)

    def check(chosen: int | None, log: Log) -> None:
        assert state.choose() == chosen
        again = start(name, rankings, **given_parameters)
        for document, outcome in log:
            again.observe(document, outcome)
        assert again.choose() == chosen
        # One that was asked at every step has not changed by it.
        assert (chosen is None) == (len(log) == rankings.n_documents)
        assert chosen not in {document for document, _ in log}

    relive(state, rankings, decisions, check)


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


@each_strategy
def test_adaptive_judgements_matter(name: str, given_parameters: dict[str, ParameterValue]) -> None:
    """What was found changes what comes next; method B alone looks at what is known only."""
    rankings = _big_topic()
    orders = []
    for remainder in range(4):
        state = start(name, rankings, **given_parameters)
        order = []
        while (chosen := state.choose()) is not None:
            order.append(chosen)
            state.observe(chosen, chosen % 4 == remainder)
        orders.append(order)
    is_blind = "rbp-b" in (name, given_parameters.get("then"))
    assert all(order == orders[0] for order in orders[1:]) == is_blind


@each_strategy
def test_adaptive_refuses_what_was_observed(name: str, given_parameters: dict[str, ParameterValue]) -> None:
    """A document cannot be observed twice, nor can one that is not there; nothing is changed."""
    rankings, _ = rankings_of([["a", "b"], ["c"]], topic="51")
    state = start(name, rankings, **given_parameters)
    state.observe(0, True)
    chosen = state.choose()
    for document in 0, 3, -1:
        with pytest.raises(ArgumentError, match="`document` must be the number of a document not"):
            state.observe(document, True)
    assert state.choose() == chosen


@each_strategy
@given(runs=drawn_rankings.filter(bool), run=st.integers(0, 4))
def test_adaptive_one_run_alone_is_taken_in_its_order(
    name: str, given_parameters: dict[str, ParameterValue], runs: list[list[str]], run: int
) -> None:
    """With a single run there is no choice but its own order, whatever is relevant."""
    ranking = runs[run % len(runs)]
    rankings, docnos = rankings_of([ranking], topic="51")
    order = _drain(rankings, name, 1, **given_parameters)
    assert [docnos[document] for document in order] == ranking


FREE = Parameter("weight", 1.5, "any number")
WHOLE = Parameter("depth", 10, "an integer", type=int, least=1, most=100)
OPEN = Parameter("p", None, "a probability", least=0, most=1, is_open=True)
NAMED = Parameter("arm", "ucb", "which rule", type=str)
STRATEGY = FixedStrategy(
    name="toy",
    summary="a toy",
    source="Nobody 1900",
    parameters=(WHOLE, OPEN, NAMED),
    values=lambda rankings, **_: np.zeros(rankings.n_documents),
)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (FREE, "-2.5e3", -2500.0),
        (FREE, "7", 7.0),
        (WHOLE, "100", 100),
        (NAMED, "60", "60"),
        (FREE, "much", "`weight` must be a number, but got 'much'"),
        (FREE, "inf", "`weight` must be a number, but got inf"),
        (FREE, "", "`weight` must be a number, but got ''"),
        (WHOLE, "101", "`depth` must be an integer >= 1 and <= 100, but got 101"),
        (WHOLE, "2.0", "`depth` must be an integer >= 1 and <= 100, but got '2.0'"),
        (OPEN, "0", "`p` must be a number > 0 and < 1, but got 0.0"),
    ],
)
def test_text_is_a_value_or_refused(parameter: Parameter, text: str, value: ParameterValue) -> None:
    """Text becomes a number or stays text, as the parameter says; or it is said what it must be."""
    found: ParameterValue
    try:
        found = parameter.parse(text)
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


def test_complete_adds_defaults_in_the_order_of_the_row() -> None:
    """What is not given has its default; what is given is checked."""
    completed = STRATEGY.complete({"p": 0.5, "depth": 3})
    assert list(completed.items()) == [("depth", 3), ("p", 0.5), ("arm", "ucb")]
    with pytest.raises(ArgumentError, match="`depth` must be an integer"):
        STRATEGY.complete({"p": 0.5, "depth": 0})


def test_rankings_of_worked_example() -> None:
    """Docnos are numbered bytewise, short rankings padded, and empty ones passed over."""
    rankings, docnos = rankings_of([["b", "é", "B"], [], ["é"]], [[3.0, 2.0, 1.0], [], [-7.5]], topic="51")
    assert docnos == ["B", "b", "é"]
    assert rankings.documents.tolist() == [[1, 2, 0], [2, NO_DOCUMENT, NO_DOCUMENT]]
    assert rankings.documents.dtype == np.int32
    assert rankings.scores is not None
    assert rankings.scores[0].tolist() == [3, 2, 1]
    assert rankings.scores[1, 0] == -7.5
    assert np.isnan(rankings.scores[1, 1:]).all()
    assert (rankings.n_runs, rankings.depth, rankings.n_documents) == (2, 3, 3)
    assert rankings.lengths.tolist() == [3, 1]
    assert rankings.topic == "51"


@given(values=st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e300]) | st.integers(-99, 99)))
def test_descending_is_value_then_number_descending(values: list[float]) -> None:
    """The one tie rule, for any numbers that differ by more than rounding, both zeros too."""
    expected = sorted(range(len(values)), key=lambda number: (-values[number], -number))
    order = descending(np.array(values, np.float64))
    assert order.tolist() == expected
    assert order.dtype == np.int64


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
