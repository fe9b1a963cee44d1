"""`pooler.strategies.fixed`: fusion of scaled scores."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import find_strategy
from pooler.strategies.fixed import n_constant_rankings
from pooler.strategies.kinds import FixedStrategy
from pooler.strategies.rankings import rankings_of
from store.errors import ArgumentError
from tests.pooler.strategies.fixed import cut_at, order_of, values_of
from tests.strategies import ids
from tests.vectors import fusion_ranx

NAMES = ["comb-max", "comb-sum", "comb-mnz"]

# alpha, 9 to 5, scales to a 1, b 3/4, c 1/4, d 0; beta, 2 to -2, to b 1, c 1/2, a 0; gamma, one
# document, to c 1/2.
RANKINGS = [["a", "b", "c", "d"], ["b", "c", "a"], ["c"]]
SCORES = [[9.0, 8.0, 6.0, 5.0], [2.0, 0.0, -2.0], [7.0]]

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


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("comb-max", {"a": 1, "b": 1, "c": 0.5, "d": 0}),
        ("comb-sum", {"a": 1, "b": 1.75, "c": 1.25, "d": 0}),
        ("comb-mnz", {"a": 2, "b": 3.5, "c": 3.75, "d": 0}),
    ],
)
def test_comb_values_worked_example(name: str, expected: dict[str, float]) -> None:
    """Three runs by hand, one of them of a single document."""
    # a: 0, 1. b: 3/4, 1. c: 1/4, 1/2, 1/2. d: 0.
    assert values_of(name, RANKINGS, SCORES) == expected


def test_comb_order_worked_example() -> None:
    """Ties are docno descending: a and b at the top of CombMAX."""
    assert order_of("comb-max", RANKINGS, SCORES) == ["b", "a", "c", "d"]
    assert order_of("comb-mnz", RANKINGS, SCORES) == ["c", "b", "a", "d"]


@pytest.mark.parametrize("name", NAMES)
def test_comb_values_scale_what_the_cut_leaves(name: str) -> None:
    """Scores below the cut have no part in the scaling."""
    # At depth 2, alpha's 9 and 8 scale to a 1 and b 0.
    assert values_of(name, RANKINGS[:1], SCORES[:1], depth=2) == {"a": 1, "b": 0}


@pytest.mark.parametrize("name", NAMES)
def test_comb_values_of_constant_scores_are_one_half(name: str) -> None:
    """A run whose scores are all equal gives each document 0.5, and so does one document."""
    assert values_of(name, [["b", "a"]], [[3.0, 3.0]]) == {"a": 0.5, "b": 0.5}
    assert values_of(name, [["a"]], [[-1e300]]) == {"a": 0.5}


@pytest.mark.parametrize("name", NAMES)
def test_comb_values_of_extreme_scores_are_finite(name: str) -> None:
    """The greatest and the least float, and the smallest steps above 0, scale like any others."""
    huge = values_of(name, [["a", "b", "c"]], [[1.7e308, 0.0, -1.7e308]])
    assert huge == {"a": 1, "b": 0.5, "c": 0}
    tiny = values_of(name, [["a", "b", "c"]], [[1e-323, 5e-324, 0.0]])
    assert tiny == {"a": 1, "b": 0.5, "c": 0}


@pytest.mark.parametrize("name", NAMES)
def test_comb_without_scores_is_refused(name: str) -> None:
    """Rankings alone are not enough, and the table says so."""
    strategy = find_strategy(name)
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


@given(runs=runs_of(_tame), name=st.sampled_from(NAMES))
def test_comb_values_of_equal_scores_are_tied(runs: Scored, name: str) -> None:
    """Documents with the same scaled scores, from whichever runs, tie to the last bit."""
    values = values_of(name, *apart(runs))
    tied = defaultdict(set)
    for docno, of_document in scaled(runs, 9).items():
        tied[tuple(of_document)].add(values[docno])
    assert all(len(of_equals) == 1 for of_equals in tied.values())


@given(runs=runs_of(_tame | _wild), depth=st.integers(1, 9))
def test_n_constant_rankings_counts_equal_scores(runs: Scored, depth: int) -> None:
    """A ranking is constant when its scores above the cut are one number."""
    rankings, _ = rankings_of(*cut_at(depth, *apart(runs)))
    expected = sum(len({score for _, score in run[:depth]}) == 1 for run in runs)
    assert n_constant_rankings(rankings) == expected


@pytest.mark.vector("ranx 0.3.21")
@pytest.mark.parametrize("name", NAMES)
def test_comb_values_agree_with_ranx(name: str) -> None:
    """The three runs of the vector get the numbers of ranx."""
    rankings = [list(run) for run in fusion_ranx.RUNS.values()]
    scores = [list(run.values()) for run in fusion_ranx.RUNS.values()]
    expected = fusion_ranx.VALUES[name]
    assert values_of(name, rankings, scores) == pytest.approx(expected, rel=1e-14)
