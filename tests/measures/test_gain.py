"""DCG, Q, ERR and RBP: the sources' examples, exact sums, other programs."""

from __future__ import annotations

import math
import shutil
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.gain import (
    Discount,
    Gain,
    discounted_gain,
    expected_reciprocal_rank,
    normalised_gain,
    q_measure,
    rank_biased_precision,
    rbp_residual,
)
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.measures.ranked import condensed
from store.errors import ArgumentError
from tests.helpers.graded_lists import in_arrays, one_list

SLIDES = [4, 1, 4, 2, 1]


@pytest.mark.vector("slides, nDCG: printed DCG 8.96, IDCG 10.70, nDCG .83 and .65")
def test_example_of_the_slides() -> None:
    """DCG is as printed; IDCG is 10.19, not 10.70, so nDCG is .8785 and .6853, not .83 and .65."""
    by_hand = 4 + 1 + 4 / math.log2(3) + 2 / 2 + 1 / math.log2(5)
    assert by_hand == pytest.approx(8.954395572359, abs=5e-13)
    ideal_by_hand = 4 + 4 + 2 / math.log2(3) + 1 / 2 + 1 / math.log2(5)
    assert ideal_by_hand == pytest.approx(10.192536065216, abs=5e-13)
    # With the logarithms rounded as on the slide, its own numbers are 8.96 and 10.20.
    assert round(4 + 1 + 4 / 1.58 + 2 / 2 + 1 / 2.32, 2) == 8.96
    assert round(4 + 4 + 2 / 1.58 + 1 / 2 + 1 / 2.32, 2) == 10.20
    grades = np.array([[SLIDES], [sorted(SLIDES)]])
    total = discounted_gain(grades, discount="jarvelin")
    assert float(total[0, 0]) == pytest.approx(by_hand, rel=1e-15)
    assert float(total[1, 0]) == pytest.approx(6.984565739436, abs=5e-13)
    values = normalised_gain(grades, [np.array(SLIDES)], discount="jarvelin")
    np.testing.assert_allclose(values[:, 0], [0.878524786674, 0.685262793749], atol=5e-13)


@pytest.mark.vector("Järvelin and Kekäläinen 2002, section 2: CG' and nCG', two decimals")
def test_cumulated_gain_of_the_article() -> None:
    """Their list of ten, three judged documents of grade 1 below it; .7647 is printed as .76."""
    rankings = one_list("3230012230", "111")
    printed = {
        "CG": [3, 5, 8, 8, 8, 9, 11, 13, 16, 16],
        "nCG": [1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84],
    }
    for name, values in printed.items():
        found = evaluate(rankings, [parse_measure(f"{name}@{rank}") for rank in range(1, 11)])
        np.testing.assert_allclose([one.values.item() for one in found], values, atol=0.005)
    (nothing,) = evaluate(one_list("00"), [parse_measure("nCG@2")])
    assert nothing.reason(0, 0) == "no-relevant"


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=15).filter(any),
    st.sampled_from(get_args(Gain)),
    st.integers(1, 18),
)
def test_gain_equals_scikit_learn(grades: list[int], gain: Gain, cutoff: int) -> None:
    """With log2(i + 1), DCG and nDCG of a whole ranking without ties are scikit-learn's."""
    from sklearn.metrics import dcg_score, ndcg_score

    array = np.array([grades])
    worth = array if gain == "grade" else 2**array - 1
    scores = -np.arange(len(grades))[None, :]
    dcg = discounted_gain(array, cutoff=cutoff, gain=gain)
    ndcg = normalised_gain(array, [array[0]], cutoff=cutoff, gain=gain)
    assert float(dcg[0]) == pytest.approx(dcg_score(worth, scores, k=cutoff), rel=1e-13)
    assert float(ndcg[0]) == pytest.approx(ndcg_score(worth, scores, k=cutoff), rel=1e-13)


@given(
    st.lists(st.integers(-2, 9), min_size=1, max_size=40),
    st.integers(0, 9),
    st.sampled_from(get_args(Gain)),
    st.sampled_from(get_args(Discount)),
)
def test_ideal_list_has_exactly_one(
    judged: list[int], n_unfilled: int, gain: Gain, discount: Discount
) -> None:
    """A list in the best order has 1, not 1 less a rounding error, whatever follows it."""
    best = sorted(judged, reverse=True)
    kept = [grade for grade in best if grade > 0]
    grades = np.array([[kept + [0] * n_unfilled]], dtype=np.int32)
    value = normalised_gain(grades, [np.array(judged)], gain=gain, discount=discount)
    assert np.isnan(value[0, 0]) if not kept else value[0, 0] == 1.0


LISTS = st.text("0123?", max_size=7)
MISSED = st.text("0123", max_size=4)


def plain_q(labels: str, missed: str, beta: Fraction, cutoff: int | None) -> Fraction | None:
    """Compute Q of one list, `?` unjudged; ``None`` where no document is relevant."""
    gains = [0 if label == "?" else int(label) for label in labels]
    ideal = sorted([*gains, *(int(label) for label in missed)], reverse=True)
    n_relevant = sum(gain > 0 for gain in ideal)
    total = Fraction(0)
    for rank in range(1, min(len(gains), cutoff or len(gains)) + 1):
        if gains[rank - 1]:
            found = sum(gain > 0 for gain in gains[:rank])
            total += (found + beta * sum(gains[:rank])) / (rank + beta * sum(ideal[:rank]))
    divisor = n_relevant if cutoff is None else min(n_relevant, cutoff)
    return total / divisor if divisor else None


@given(
    LISTS, MISSED, st.sampled_from(["0", "0.5", "1", "10"]), st.none() | st.integers(1, 9),
    st.booleans(),
)  # fmt: skip
def test_q_by_definition(labels: str, missed: str, beta: str, cutoff: int | None, is_condensed: bool) -> None:
    """Every list has the sum of its blended ratios, condensed or not."""
    rankings = one_list(labels, missed)
    if is_condensed:
        rankings, labels = condensed(rankings), labels.replace("?", "")
    at = "" if cutoff is None else f"@{cutoff}"
    (scores,) = evaluate(rankings, [parse_measure(f"Q(beta={beta}){at}")])
    expected = plain_q(labels, missed, Fraction(beta), cutoff)
    if expected is None:
        assert np.isnan(scores.values).all()
        assert scores.reason(0, 0) == "no-relevant"
    else:
        assert scores.values.item() == pytest.approx(float(expected), abs=1e-14)


def test_q_of_several_lists() -> None:
    """Runs and topics stand apart; grades below 0 gain nothing, and no list is a list."""
    grades = np.array([[[3, -2, 1], [0, 1, 0]], [[0, 0, 0], [1, 0, 0]]])
    judged = [np.array([3, 1, -2]), np.array([1, 0])]
    expected = [[(1 + (2 + 4) / (3 + 4)) / 2, (1 + 1) / (2 + 1)], [0.0, 1.0]]
    np.testing.assert_allclose(q_measure(grades, judged), expected, rtol=1e-15)
    assert q_measure(grades[:0], judged).shape == (0, 2)
    assert q_measure(grades[:, :, :0], judged).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert q_measure(np.zeros((1, 0, 3), dtype=np.int64), []).shape == (1, 0)


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


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script, and Perl is not installed")
@pytest.mark.parametrize("cutoff", [3, 20])
def test_gdeval_prints_the_same(cutoff: int) -> None:
    """ERR@k of ir_measures is gdeval's, which prints five decimals; a grade of 4 is the highest there."""
    import ir_measures

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


OF_TWO_GRADES = st.text("012?", max_size=7)
"""A character a rank, `?` for unjudged."""


@given(
    OF_TWO_GRADES,
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)]),
    st.integers(1, 8),
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


@given(OF_TWO_GRADES, st.text("0123", max_size=4), st.integers(1, 8), st.integers(3, 5))
def test_err_and_nerr_by_definition(labels: str, missed: str, cutoff: int, highest: int) -> None:
    """The search ends at a rank with (2**grade - 1) / 2**max; the ideal list has all that was judged."""

    def err(grades: list[int]) -> Fraction:
        total, reached = Fraction(0), Fraction(1)
        for rank, grade in enumerate(grades[:cutoff], start=1):
            chance = Fraction(2**grade - 1, 2**highest)
            total, reached = total + reached * chance / rank, reached * (1 - chance)
        return total

    found = err([int(label) if label != "?" else 0 for label in labels])
    best = err(sorted(map(int, labels.replace("?", "") + missed), reverse=True))
    condensed = err([int(label) for label in labels if label != "?"])
    names = (f"ERR(max={highest})", f"nERR(max={highest})", f"nERR(max={highest},condensed)")
    scores = evaluate(one_list(labels, missed), [parse_measure(f"{name}@{cutoff}") for name in names])
    wanted = (found, found / best if best else None, condensed / best if best else None)
    for one, value in zip(scores, wanted, strict=True):
        assert one.values.item() == pytest.approx(
            np.nan if value is None else float(value), abs=1e-14, nan_ok=True
        )


def test_residual_of_negative_grades() -> None:
    """By its name a grade below 0 is no judgement, as in trec_eval."""
    runs = {"r": {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}}
    rankings = in_arrays({"t": {"a": -1, "b": 0}}, runs)
    (scores,) = evaluate(rankings, [parse_measure("RBPResidual(p=0.5)")])
    assert scores.values.tolist() == [[0.5 + 0.125 + 0.125]]
