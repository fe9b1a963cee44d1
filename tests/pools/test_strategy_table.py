"""`pooler.strategies`: the table of strategies, and what every fixed one promises."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pooler.strategies import STRATEGIES, find_strategy
from pooler.strategies.kinds import FixedStrategy, ParameterValue
from pooler.strategies.rankings import TopicRankings, descending, rankings_of
from store.analysis.pools.contributions import NO_DOCUMENT
from store.errors import UnknownNameError
from tests.helpers.strategies import ids

FIXED = [
    pytest.param(strategy, id=name)
    for name, strategy in STRATEGIES.items()
    if isinstance(strategy, FixedStrategy)
]
fixed = pytest.mark.parametrize("strategy", FIXED)

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


def test_find_strategy_unknown_name_lists_the_known() -> None:
    """A name that no strategy has is told with those there are, the nearest first."""
    assert find_strategy("depth") is STRATEGIES["depth"]
    with pytest.raises(UnknownNameError, match="unknown strategy `dept`; known: `depth`, "):
        find_strategy("dept")
    with pytest.raises(UnknownNameError, match="unknown strategy `combsum`; known: `comb-sum`, "):
        find_strategy("combsum")


@fixed
@given(runs=drawn_runs)
def test_fixed_values_are_finite_and_order_every_document(strategy: FixedStrategy, runs: Runs) -> None:
    """Every document of the union has a number, and a place in the order."""
    rankings = arrays_of(runs)
    values = evaluate(strategy, rankings)
    assert values.shape == (rankings.n_documents,)
    assert values.dtype == np.float64
    assert np.isfinite(values).all()
    assert sorted(descending(values).tolist()) == list(range(rankings.n_documents))


@fixed
@given(runs=drawn_runs, data=st.data())
def test_fixed_values_do_not_depend_on_the_order_of_runs(
    strategy: FixedStrategy, runs: Runs, data: st.DataObject
) -> None:
    """Whatever the runs are called, every value is the same to the last bit."""
    shuffled = data.draw(st.permutations(runs))
    values = evaluate(strategy, arrays_of(runs))
    assert evaluate(strategy, arrays_of(shuffled)).tolist() == values.tolist()


@pytest.mark.slow
@fixed
@given(runs=drawn_runs, data=st.data())
def test_fixed_values_do_not_depend_on_docnos(
    strategy: FixedStrategy, runs: Runs, data: st.DataObject
) -> None:
    """Documents given other numbers take their values along, to the last bit."""
    rankings = arrays_of(runs)
    new = np.array(data.draw(st.permutations(range(rankings.n_documents))), np.int32)
    documents = rankings.documents.copy()
    is_there = documents != NO_DOCUMENT
    documents[is_there] = new[documents[is_there]]
    renamed = TopicRankings(documents, rankings.n_documents, rankings.scores)
    values = evaluate(strategy, rankings)
    assert evaluate(strategy, renamed)[new].tolist() == values.tolist()


@fixed
@given(n_documents=st.integers(1, 12))
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
