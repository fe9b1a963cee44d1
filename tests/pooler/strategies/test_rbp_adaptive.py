"""`pooler.strategies.adaptive`: RBP-weighted pooling, methods B and C."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import find_strategy
from pooler.strategies.rankings import rankings_of
from store.errors import ArgumentError
from tests.pooler.strategies.adaptive import (
    Decisions,
    Log,
    Rows,
    drawn_decisions,
    drawn_outcomes,
    drawn_rankings,
    play,
    relive,
    rows_of,
    start,
)

METHODS = ["rbp-b", "rbp-c"]
RANKINGS = [["a", "b", "c"], ["b", "d"], ["e"]]
# p = 1/2, so the weights are 1/2, 1/4, 1/8, and all residuals 1 at first. In both methods
# b = 1/4 + 1/2 comes first: all runs have the factor 1 in B, and 1/8 in C. Then the residuals
# are 3/4 (first run), 1/2 (second) and 1 (third).


@pytest.mark.parametrize("outcomes", [{}, {"b": True}])
def test_rbp_b_worked_example(outcomes: dict[str, bool]) -> None:
    """Three runs by hand; what is relevant has no say."""
    # After b: a 1/2 * 3/4 = 0.375, c 1/8 * 3/4 = 0.094, d 1/4 * 1/2 = 0.125, e 1/2 * 1 = 0.5.
    # After e: a. Then the first run has 1/4 left: c 1/8 * 1/4 = 0.031, d 0.125.
    assert play("rbp-b", RANKINGS, outcomes, p=0.5) == "b e a d c"


def test_rbp_c_worked_example_nothing_relevant() -> None:
    """Three runs by hand: without a relevant document the known runs lose."""
    # After b: first run 3/4 * (3/8)**3 = 0.0396, second 1/2 * (1/4)**3 = 0.0078, third 1/8.
    # a 0.0198, c 0.0049, d 0.0020, e 0.0625. After e: a. Then the first run has
    # 1/4 * (1/8)**3 = 0.0005, so c 0.00006 and d 0.0020.
    assert play("rbp-c", RANKINGS, {}, p=0.5) == "b e a d c"


def test_rbp_c_worked_example_first_relevant() -> None:
    """Three runs by hand: the runs of a relevant document gain."""
    # After b: first run 3/4 * (1/4 + 3/8)**3 = 0.1831, second 1/2 * (1/2 + 1/4)**3 = 0.2109,
    # third 1/8. a 0.0916, c 0.0229, d 0.0527, e 0.0625: a. It is not relevant: first run
    # 1/4 * (1/4 + 1/8)**3 = 0.0132, c 0.0016. So e, d, c.
    assert play("rbp-c", RANKINGS, {"b": True}, p=0.5) == "b a e d c"


@pytest.mark.parametrize("name", METHODS)
def test_rbp_without_judgement_leaves_residuals(name: str) -> None:
    """A document that nobody judged has told nothing, so its run stays as it was."""
    # a, of no judgement: b still has 1/4 of a whole residual, more than c with 1/8.
    rankings = [["a", "b"], ["e", "d", "c"]]
    assert play(name, rankings, {"a": None, "e": None}, p=0.5) == "e a d b c"


@pytest.mark.parametrize("p", [0.1, 0.2, 0.3, 0.35])
@pytest.mark.parametrize(("name", "n_drawn"), [("rbp-b", 99), ("rbp-c", 199)])
def test_rbp_residual_never_drowns(name: str, n_drawn: int, p: float) -> None:
    """What little is left of a run almost all known is told exactly, and is not rounding."""
    # First run: 60 documents judged, x left, so the residual is p**60, and x has
    # (1 - p) * p**60 * p**60 in method B, and (1 - p) * p**60 * p**240 / 8 in method C.
    # Second run: 99 or 199 documents drawn without judgement, so the residual is 1, and y has
    # (1 - p) * p**99, or (1 - p) * p**199 / 8: more. But 1 less the weights of the first run, in
    # floats, would leave about 1e-17 for the residual, and x with more than y.
    runs = [[f"a{i:02}" for i in range(60)] + ["x"], [f"b{i:03}" for i in range(n_drawn)] + ["y"]]
    rankings, docnos = rankings_of(runs)
    state = start(name, rankings, p=p)
    for run, outcome in zip(runs, (False, None), strict=True):
        for docno in run[:-1]:
            state.observe(docnos.index(docno), outcome)
    assert docnos[state.choose()] == "y"


@pytest.mark.parametrize("p", [0, 1])
@pytest.mark.parametrize("name", METHODS)
def test_rbp_impossible_p_is_refused(name: str, p: float) -> None:
    """A reader who never or always goes on is none."""
    with pytest.raises(ArgumentError, match=r"`p` must be a number > 0 and < 1"):
        find_strategy(name).complete({"p": p})


def _values(name: str, rows: Rows, log: Log, p: Fraction) -> dict[int, Fraction]:
    """Work out the values of the unobserved documents from the whole log, in fractions."""
    seen = {document for document, _ in log}
    judged = {document: relevant for document, relevant in log if relevant is not None}
    values: dict[int, Fraction] = {}
    for row in rows:
        weights = {document: (1 - p) * p**i for i, document in enumerate(row)}
        residual = 1 - sum(weights[document] for document in row if document in judged)
        base = sum((weights[document] for document in row if judged.get(document)), Fraction())
        factor = residual if name == "rbp-b" else residual * (base + residual / 2) ** 3
        for document in row:
            if document not in seen:
                values[document] = values.get(document, Fraction()) + weights[document] * factor
    return values


@pytest.mark.parametrize("name", METHODS)
@given(runs=drawn_rankings, decisions=drawn_decisions)
def test_rbp_equals_the_definition(name: str, runs: list[list[str]], decisions: Decisions) -> None:
    """With p = 1/2 floats are exact, and each choice is the one worked out from the log."""
    rankings, _ = rankings_of(runs)
    rows = rows_of(rankings)

    def check(chosen: int | None, log: Log) -> None:
        values = _values(name, rows, log, Fraction(1, 2))
        assert chosen == max(values, key=lambda d: (values[d], d), default=None)

    relive(start(name, rankings, p=0.5), rankings, decisions, check)


@pytest.mark.parametrize("name", METHODS)
@given(runs=drawn_rankings, decisions=drawn_decisions, p=st.floats(0.01, 0.99))
def test_rbp_chooses_the_greatest_value(
    name: str, runs: list[list[str]], decisions: Decisions, p: float
) -> None:
    """With any p no document has a greater value than the one chosen, up to rounding."""
    rankings, _ = rankings_of(runs)
    rows = rows_of(rankings)

    def check(chosen: int | None, log: Log) -> None:
        values = _values(name, rows, log, Fraction(p))
        if values:
            assert chosen is not None
            assert values[chosen] >= max(values.values()) * (1 - Fraction(1, 10**13))

    relive(start(name, rankings, p=p), rankings, decisions, check)


@pytest.mark.parametrize("name", METHODS)
@given(
    runs=drawn_rankings,
    p=st.floats(0.01, 0.99),
    outcomes=st.dictionaries(st.sampled_from("abcdefghij"), drawn_outcomes),
    data=st.data(),
)
def test_rbp_order_of_runs_and_of_judgements_changes_nothing(
    name: str, runs: list[list[str]], p: float, outcomes: dict[str, bool | None], data: st.DataObject
) -> None:
    """Other run tags give the same documents; so does the same past in another order."""
    order = play(name, runs, outcomes, p=p)
    assert play(name, data.draw(st.permutations(runs)), outcomes, p=p) == order

    rankings, docnos = rankings_of(runs)
    n_observed = data.draw(st.integers(0, len(docnos)))
    past = order.split()[:n_observed]
    state = start(name, rankings, p=p)
    for docno in data.draw(st.permutations(past)):
        state.observe(docnos.index(docno), outcomes.get(docno, False))
    chosen = state.choose()
    assert order.split()[n_observed:][:1] == ([] if chosen is None else [docnos[chosen]])
