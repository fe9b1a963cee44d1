"""RBP, ERR and their residuals: the articles' definitions, another program, every filling."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.bounds import score_bounds
from store.analysis.measures.names import parse_measure
from store.analysis.measures.residuals import (
    err_with_residual,
    expected_reciprocal_rank,
    rank_biased_precision,
    rbp_residual,
    rbp_with_residual,
    stop_probabilities,
)
from store.analysis.measures.table import evaluate
from store.errors import ArgumentError
from tests.store.analysis.measures.incomplete import Qrels, Runs, evaluations, in_arrays, one_list

LISTS = st.text("012?", max_size=7)
"""A character a rank, `?` for unjudged."""


@given(
    LISTS, st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)]), st.integers(1, 8)
)
def test_rbp_and_its_residual_by_definition(labels: str, p: Fraction, cutoff: int) -> None:
    """Base and residual are the sums over ranks, the tail of a short list included."""
    powers = [(1 - p) * p**place for place in range(len(labels))]
    base = sum((w for w, label in zip(powers, labels, strict=True) if label in "12"), Fraction(0))
    left = sum((w for w, label in zip(powers, labels, strict=True) if label == "?"), Fraction(0))
    left += p ** len(labels)
    rankings = one_list(labels, "1")
    relevant, judged = rankings.relevant(1), rankings.judged
    result = rbp_with_residual(relevant, judged, rankings.lengths, p=float(p))
    assert float(result.base.item()) == pytest.approx(float(base), abs=1e-14)
    assert float(result.residual.item()) == pytest.approx(float(left), abs=1e-14)
    assert float(result.upper.item()) == pytest.approx(float(base + left), abs=1e-14)
    texts = [f"RBPResidual(p={float(p)})", f"RBPResidual(p={float(p)})@{cutoff}"]
    whole, cut = evaluate(rankings, [parse_measure(text) for text in texts])
    assert whole.values.item() == result.residual.item()
    judged = sum((w for w, label in zip(powers[:cutoff], labels, strict=False) if label != "?"), Fraction(0))
    assert cut.values.item() == pytest.approx(float(1 - judged), abs=1e-14)


@pytest.mark.filterwarnings("ignore")  # of pandas, about the provider
@given(evaluations(least=0, most=1), st.sampled_from([0.5, 0.8, 0.95]))
def test_rbp_equals_ir_measures(evaluation: tuple[Qrels, Runs], p: float) -> None:
    """RBP of relevant or not is that of the provider of ir_measures."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs)
    (scores,) = evaluate(rankings, [parse_measure(f"RBP(p={p})")])
    pytest.importorskip("trectools", reason="trectools is absent (extra `peers`)")
    provider = ir_measures.providers.registry["trectools"]
    for run, tag in enumerate(rankings.tags):
        theirs = provider.iter_calc([ir_measures.RBP(p=p)], qrels, runs[tag])
        expected = {metric.query_id: metric.value for metric in theirs}
        wanted = [expected[topic] for topic in rankings.topics]
        np.testing.assert_allclose(scores.values[run], wanted, rtol=1e-12, atol=1e-14)


def test_residual_of_an_empty_and_of_a_judged_list() -> None:
    """Everything is open where nothing was retrieved; where all is judged the tail remains."""
    nothing = np.zeros(0, dtype=np.bool_)
    assert float(rbp_residual(nothing, 0, p=0.9)) == 1.0
    assert float(rbp_residual(np.ones(3, dtype=np.bool_), 3, p=0.9)) == pytest.approx(0.9**3)
    assert float(rbp_residual(np.ones(3, dtype=np.bool_), 1, p=0.5)) == 0.5


def plain_err(stops: Sequence[float]) -> float:
    """Compute ERR rank by rank."""
    reached, total = 1.0, 0.0
    for rank, stop in enumerate(stops, start=1):
        total += reached * stop / rank
        reached *= 1 - stop
    return total


@given(LISTS.filter(lambda labels: labels.count("?") <= 5))
def test_err_and_its_residual_by_definition(labels: str) -> None:
    """ERR is the sum over ranks; the upper bound that of a long list filled with the best."""
    rankings = one_list(labels, "1")
    stops = stop_probabilities(rankings.grades, 2)
    known = [(2 ** int(label) - 1) / 4 if label != "?" else 0.0 for label in labels]
    found = float(expected_reciprocal_rank(stops).item())
    assert found == pytest.approx(plain_err(known), abs=1e-14)
    result = err_with_residual(stops, rankings.judged, rankings.lengths, highest=0.75)
    assert float(result.base.item()) == found
    best = [0.75] * labels.count("?")
    longer = plain_err([*filled(labels, known, best), *[0.75] * 60])
    assert float(result.upper.item()) == pytest.approx(longer, abs=1e-13)
    fillings = itertools.product([0.0, 0.25, 0.75], repeat=labels.count("?"))
    values = [plain_err(filled(labels, known, filling)) for filling in fillings]
    assert max(values) == pytest.approx(plain_err(filled(labels, known, best)), abs=1e-13)
    assert min(values) == pytest.approx(found, abs=1e-13)


def filled(labels: str, known: Sequence[float], filling: Sequence[float]) -> list[float]:
    """Put what a filling says at the unjudged ranks."""
    left = iter(filling)
    return [next(left) if label == "?" else one for label, one in zip(labels, known, strict=True)]


def test_residual_of_a_short_list_by_hand() -> None:
    """Relevant and unjudged of p = .8: .2 below, .16 for rank 2 and .64 for all that may follow."""
    rankings = one_list("1?", "1")
    result = rbp_with_residual(rankings.relevant(1), rankings.judged, rankings.lengths, p=0.8)
    assert float(result.base.item()) == pytest.approx(0.2, abs=1e-15)
    assert float(result.residual.item()) == pytest.approx(0.16 + 0.64, abs=1e-15)
    # Of the list as it stands, rank 2 alone is open.
    (bounds,) = score_bounds(rankings, [parse_measure("RBP(p=0.8)")], scale=(0, 1))
    assert float(bounds.upper.item()) == pytest.approx(0.2 + 0.16, abs=1e-15)
    # Cut at rank 1, all below is open.
    names = [parse_measure(text) for text in ("RBPResidual(p=0.8)", "RBPResidual(p=0.8)@1")]
    whole, first = evaluate(rankings, names)
    assert float(whole.values.item()) == pytest.approx(0.8, abs=1e-15)
    assert float(first.values.item()) == pytest.approx(0.8, abs=1e-15)
    (short,) = evaluate(one_list("?1"), [parse_measure("RBPResidual(p=0.8)@1")])
    assert float(short.values.item()) == 1.0


def test_residual_of_negative_grades() -> None:
    """By its name a grade below 0 is no judgement, as in trec_eval."""
    runs = {"r": {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}}
    rankings = in_arrays({"t": {"a": -1, "b": 0}}, runs)
    (scores,) = evaluate(rankings, [parse_measure("RBPResidual(p=0.5)")])
    assert scores.values.tolist() == [[0.5 + 0.125 + 0.125]]


def test_scale_of_two_grades() -> None:
    """Where 1 is the highest grade a relevant document satisfies by (2^1 - 1) / 2^1, a half."""
    assert stop_probabilities(np.array([0, 1, -1]), 1).tolist() == [0.0, 0.5, 0.0]


def test_arguments_that_cannot_be_used() -> None:
    """A persistence of 1, a gain of 2, grades above the highest."""
    flags = np.array([True])
    for p in (1.0, -0.1, float("nan")):
        with pytest.raises(ArgumentError, match="`p` must be at least 0 and below 1"):
            rank_biased_precision(flags, p=p)
    with pytest.raises(ArgumentError, match="`gains` must be between 0 and 1"):
        rank_biased_precision(np.array([2]), p=0.5)
    with pytest.raises(ArgumentError, match="`cutoff` must be an integer >= 1"):
        rank_biased_precision(flags, p=0.5, cutoff=0)
    with pytest.raises(ArgumentError, match="`highest` must be an integer >= 1"):
        stop_probabilities(np.array([0]), 0)
    with pytest.raises(ArgumentError, match="`grades` must be at most 2, but got"):
        stop_probabilities(np.array([3]), 2)
    with pytest.raises(ArgumentError, match=r"`highest` must be from 0\.001 to 1"):
        err_with_residual(np.array([0.5]), flags, 1, highest=0.0)
