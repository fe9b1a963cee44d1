"""RBP and its residual: the articles' definitions, another program, every filling."""

from __future__ import annotations

from fractions import Fraction

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.bounds import score_bounds
from store.analysis.measures.gain import rank_biased_precision, rbp_residual
from store.analysis.measures.names import evaluate, parse_measure
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
    residual = rbp_residual(judged, rankings.lengths, p=float(p))
    assert rank_biased_precision(relevant, p=float(p)).item() == pytest.approx(float(base), abs=1e-14)
    assert residual.item() == pytest.approx(float(left), abs=1e-14)
    texts = [f"RBPResidual(p={float(p)})", f"RBPResidual(p={float(p)})@{cutoff}"]
    whole, cut = evaluate(rankings, [parse_measure(text) for text in texts])
    assert whole.values.item() == residual.item()
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


def test_residual_of_a_short_list_by_hand() -> None:
    """Relevant and unjudged of p = .8: .2 below, .16 for rank 2 and .64 for all that may follow."""
    rankings = one_list("1?", "1")
    assert rank_biased_precision(rankings.relevant(1), p=0.8).item() == pytest.approx(0.2, abs=1e-15)
    residual = rbp_residual(rankings.judged, rankings.lengths, p=0.8)
    assert residual.item() == pytest.approx(0.16 + 0.64, abs=1e-15)
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
