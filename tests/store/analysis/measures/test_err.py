"""ERR and nERR: NTCIREVAL's printed numbers, gdeval, exact fractions, and what they refuse."""

from __future__ import annotations

import shutil
from fractions import Fraction
from itertools import permutations

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.gain import expected_reciprocal_rank
from store.analysis.measures.names import evaluate, parse_measure
from store.errors import ArgumentError
from tests.store.analysis.measures.incomplete import in_arrays, one_list

IDEAL = "3332221111"
"""Gain levels of the judged documents of sample.rel; the run has levels ?, 3, ?, 2 or 0, 3, 2."""


@pytest.mark.parametrize(
    ("gains", "labels", "cutoff", "err", "nerr"),
    [
        ("0123", "0302", 1000, 0.4062, 0.4710),
        ("0149", "0302", 1000, 0.4600, 0.4851),
        ("0123", "032", 1000, 0.4167, 0.4830),
        ("0123", "0302", 2, 0.3750, 0.4444),
    ],
)
@pytest.mark.vector("V10: pyNTCIREVAL, tests/dat/res_test_compute*.txt; ERR at rank 2 by hand")
def test_sample_of_ntcireval(gains: str, labels: str, cutoff: int, err: float, nerr: float) -> None:
    """There a document of gain g ends the search with a chance of g / (highest + 1)."""
    chances = np.array([int(gain) for gain in gains]) / (int(gains[-1]) + 1)
    rows = [[*map(int, row[:cutoff])] for row in (labels, IDEAL)]
    found, ideal = (float(expected_reciprocal_rank(chances[row])) for row in rows)
    assert found == pytest.approx(err, abs=5.001e-5)
    assert found / ideal == pytest.approx(nerr, abs=5.001e-5)


def exact(grades: list[int], highest: int) -> Fraction:
    """Add up in fractions, rank by rank: where the search ends, 1 / rank."""
    total, reached = Fraction(0), Fraction(1)
    for rank, grade in enumerate(grades, start=1):
        chance = Fraction(2 ** max(0, grade) - 1, 2**highest)
        total += reached * chance / rank
        reached *= 1 - chance
    return total


@given(st.lists(st.integers(-2, 3), min_size=1, max_size=5), st.integers(3, 6), st.integers(1, 6))
def test_definition(grades: list[int], highest: int, cutoff: int) -> None:
    """Both are the fractions of their definition; no order of the judged documents has a nERR above 1."""
    run = {f"d{place}": -float(place) for place in range(len(grades))}
    rankings = in_arrays({"t": dict(zip(run, grades, strict=True))}, {"a": {"t": run}})
    texts = (f"ERR(max={highest})@{cutoff}", f"nERR(max={highest})@{cutoff}")
    err, nerr = (one.values.item() for one in evaluate(rankings, [*map(parse_measure, texts)]))
    expected = exact(grades[:cutoff], highest)
    best = max(exact(list(order)[:cutoff], highest) for order in permutations(grades))
    assert err == pytest.approx(float(expected), rel=1e-12, abs=1e-14)
    assert nerr == pytest.approx(float(expected / best) if best else np.nan, rel=1e-12, nan_ok=True)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script, and Perl is not installed")
@pytest.mark.parametrize("cutoff", [3, 20])
def test_gdeval_prints_the_same(cutoff: int) -> None:
    """ERR@k of ir_measures is gdeval's, which prints five decimals; a grade of 4 is the highest there."""
    rng = np.random.default_rng(7)
    docnos = [f"d{number:02}" for number in range(40)]
    qrels = {
        str(topic): {d: int(rng.integers(-2, 5)) for d in rng.permutation(docnos)[:25]} for topic in range(12)
    }
    run = {topic: {d: float(rng.integers(12)) for d in rng.permutation(docnos)[:30]} for topic in qrels}
    rankings = in_arrays(qrels, {"a": run})
    (scores,) = evaluate(rankings, [parse_measure(f"ERR@{cutoff}")])
    measure = ir_measures.parse_measure(f"ERR@{cutoff}")
    theirs = {one.query_id: one.value for one in measure.iter_calc(qrels, run)}
    wanted = [theirs[topic] for topic in rankings.topics]
    np.testing.assert_allclose(scores.values[0], wanted, atol=5.001e-6, rtol=0)
    assert scores.values.max() > 0.5


def test_a_topic_without_relevant_documents_and_a_grade_off_the_scale() -> None:
    """ERR is 0 and nERR has a reason; a grade above the highest is told with what to type."""
    nothing = one_list("00?")
    err, nerr = evaluate(nothing, [parse_measure("ERR@2"), parse_measure("nERR@2")])
    assert (err.values.item(), nerr.reason(0, 0)) == (0.0, "no-relevant")
    for text in ("ERR@9", "nERR@9"):
        words = rf"`measure` must name the highest grade there is, as in `{text[:-2]}\(max=5\)@9`"
        with pytest.raises(ArgumentError, match=words):
            evaluate(one_list("1", "5"), [parse_measure(text)])
