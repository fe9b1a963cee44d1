"""Precision, recall, F, interpolated precision, ROC: the sources' examples, plain loops, other programs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import fbeta_score

import pooler as p
from store.analysis.measures.confusion import (
    area_of_rankings,
    borko,
    confusion,
    e_measure,
    f_measure,
    fallout,
    fallout_from,
    generality,
    precision,
    precision_plus_recall,
    recall,
    roc_curve,
    specificity,
)
from store.analysis.measures.ranked import (
    attainable_precision,
    attainable_recall,
    break_even,
    eleven_point,
    interpolated_precision,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from store.errors import ArgumentError


def signs(text: str) -> NDArray[np.bool_]:
    """Read a string of + and -, the first rank first."""
    return np.array([letter == "+" for letter in text])


@pytest.mark.parametrize("n_relevant", range(7))
@pytest.mark.parametrize("cutoff", range(1, 6))
def test_attained_values_are_the_attainable_ones(n_relevant: int, cutoff: int) -> None:
    """Over every list of 6 ranks, the values that occur are 0, step, ... up to the highest."""
    lists = [flags for flags in itertools.product([False, True], repeat=6) if sum(flags) <= n_relevant]
    relevant = np.array(lists)
    pairs = [(precision_at(relevant, cutoff), attainable_precision(n_relevant, cutoff))]
    if n_relevant:
        of_recall = recall_at(relevant, n_relevant, cutoff)
        pairs.append((of_recall, attainable_recall(n_relevant, cutoff)))
    else:
        assert np.isnan(recall_at(relevant, 0, cutoff)).all()
        assert np.isnan(attainable_recall(0, cutoff).highest)
        assert np.isnan(attainable_recall(0, cutoff).step)
    for values, attainable in pairs:
        n_steps = round(float(attainable.highest / attainable.step))
        expected = [step * float(attainable.step) for step in range(n_steps + 1)]
        np.testing.assert_allclose(np.unique(values), expected, rtol=1e-14)


@pytest.mark.vector("slides, examples of MRR and of break-even")
def test_examples_of_the_slides() -> None:
    """MRR of first ranks 1 and 4 is .625; break-even of the two lists is .5 and 1."""
    first_ranks = np.array([signs("+-+-"), signs("---+")])
    assert float(reciprocal_rank(first_ranks).mean()) == 0.625
    lists = np.array([signs("++--+-+-"), signs("++++----")])
    assert break_even(lists, [4, 4], [8, 8]).tolist() == [0.5, 1.0]


TENTHS = [Fraction(tenth, 10) for tenth in range(11)]


def theirs(flags: list[bool], missed: int) -> dict[str, float]:
    """Measure one list with pytrec_eval, `missed` relevant documents being outside it."""
    grades = {f"d{rank}": int(flag) for rank, flag in enumerate(flags)}
    grades |= {f"missed{number}": 1 for number in range(missed)}
    run = {f"d{rank}": -float(rank) for rank in range(len(flags))}
    evaluator = pytrec_eval.RelevanceEvaluator({"t": grades}, {"11pt_avg", "iprec_at_recall"})
    return dict(evaluator.evaluate({"t": run})["t"])


def check_against_trec_eval(flags: list[bool], missed: int) -> None:
    """Compare all eleven points and their mean."""
    n_relevant, expected = sum(flags) + missed, theirs(flags, missed)
    for point in TENTHS:
        ours = float(interpolated_precision(np.array(flags), n_relevant, point))
        assert ours == pytest.approx(expected[f"iprec_at_recall_{float(point):.2f}"], rel=1e-14)
    ours = float(eleven_point(np.array(flags), n_relevant))
    assert ours == pytest.approx(expected["11pt_avg"], rel=1e-14)


@pytest.mark.parametrize("n_relevant", [3, 10, 13, 20, 23, 30, 43, 60])
def test_recalls_are_rounded_as_in_trec_eval(n_relevant: int) -> None:
    """Precision falls with every relevant document, so that one document too many shows."""
    check_against_trec_eval([flag for gap in range(n_relevant) for flag in (True, *[False] * gap)], 0)


def test_recall_outside_its_range_is_refused() -> None:
    """A recall above 1 or below 0 is an error."""
    for outside in (Fraction(11, 10), Fraction(-1, 10)):
        with pytest.raises(ArgumentError, match="`recall` must be between 0 and 1, but got"):
            interpolated_precision(signs("+"), 1, outside)


def test_ratios_that_the_slides_print_wrong() -> None:
    """Fallout and generality are the right ratios, and differ from the printed ones."""
    table = confusion(3, 1, 2, 14)
    assert float(fallout(table)) == 1 / 15  # printed TN / (TN + FP) = 14/15
    assert float(specificity(table)) == 14 / 15
    assert float(generality(table)) == 5 / 20  # printed TP / all = 3/20


def test_e_of_a_perfect_set_is_zero() -> None:
    """E is 1 - F: 0 at P = R = 1, where the form printed without its 2 gives 1/2."""
    assert float(e_measure(1.0, 1.0)) == 0.0
    assert float(f_measure(1.0, 1.0)) == 1.0
    assert float(borko(1.0, 1.0)) == 1.0
    assert float(borko(0.0, 0.0)) == -1.0
    assert float(precision_plus_recall(1.0, 1.0)) == 2.0


@given(st.lists(st.booleans(), min_size=1), st.lists(st.booleans(), min_size=1), st.data())
def test_f_equals_scikit_learn(relevant: list[bool], found: list[bool], data: st.DataObject) -> None:
    """F over documents is scikit-learn's for every beta, 0 where it divides by 0 included."""
    size = min(len(relevant), len(found))
    truth, answer = np.array(relevant[:size]), np.array(found[:size])
    beta = data.draw(st.floats(0.05, 20))
    table = confusion(np.sum(truth & answer), np.sum(~truth & answer), np.sum(truth & ~answer), 0)
    both = np.nan_to_num(precision(table)), np.nan_to_num(recall(table))
    value = f_measure(*both, beta=beta)
    theirs = fbeta_score(truth, answer, beta=beta, zero_division=0.0)
    assert float(value) == pytest.approx(theirs, rel=1e-12, abs=1e-15)
    same = f_measure(*both, alpha=1 / (1 + beta * beta))
    assert float(same) == float(value)


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
def test_fallout_follows_from_the_others(tp: int, fp: int, fn: int, tn: int) -> None:
    """The identity of precision, recall, generality and fallout holds exactly, and in floats."""
    p, r = Fraction(tp, tp + fp), Fraction(tp, tp + fn)
    g = Fraction(tp + fn, tp + fp + fn + tn)
    assert r * g * (1 - p) / (p * (1 - g)) == Fraction(fp, fp + tn)
    computed = float(fallout_from(float(p), float(r), float(g)))
    assert computed == pytest.approx(fp / (fp + tn), rel=1e-12, abs=1e-15)


def test_extreme_weights_are_precision_and_recall() -> None:
    """Alpha 1 or beta 0 is precision, alpha 0 or an infinite beta recall."""
    assert float(f_measure(0.25, 0.75, beta=0.0)) == 0.25
    assert float(f_measure(0.25, 0.75, beta=math.inf)) == 0.75
    assert float(f_measure(0.25, 0.75, alpha=0.0)) == 0.75


def test_undefined_stays_undefined() -> None:
    """F and fallout of an undefined recall are NaN, not 0."""
    assert math.isnan(float(f_measure(0.0, math.nan)))
    assert math.isnan(float(fallout_from(0.0, 0.5, 0.5)))
    assert f_measure([0.5, math.nan], 0.5).tolist()[0] == 0.5


@given(st.lists(st.booleans(), min_size=1, max_size=15), st.integers(0, 3))
def test_area_of_a_ranking_is_that_of_its_ranks(flags: list[bool], n_unfilled: int) -> None:
    """Ranks for scores give the same area, and ranks that are not filled change nothing."""
    padded = np.array(flags + [False] * n_unfilled)
    value = float(area_of_rankings(padded, len(flags)))
    expected = roc_curve(-np.arange(len(flags), dtype=float), np.array(flags)).area
    assert np.isnan(value) if expected is None else value == expected


def relevant(number: int, topic: str) -> list[str]:
    """Name the relevant documents of a topic."""
    return [f"{topic}-{place}" for place in range(number)]


def test_values_that_can_occur_are_the_articles() -> None:
    """N = 10, |X| = 100: recall to .1 by .01, precision to 1 by .1; |X| = 5: to 1 by .2, to .5 by .1."""
    qrels = {"1": dict.fromkeys(relevant(100, "1"), 1), "2": dict.fromkeys(relevant(5, "2"), 1)}
    found = p.attainable(({"a": {"1": {"x": 1.0}}}, qrels | {"3": {"x": 0}}), 10)
    rows = found.table("attainable").to_records()
    names = ("topic", "measure", "least", "greatest", "step", "reason")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("1", "P@10", 0.0, 1.0, 0.1, None),
        ("1", "R@10", 0.0, 0.1, 0.01, None),
        ("2", "P@10", 0.0, 0.5, 0.1, None),
        ("2", "R@10", 0.0, 1.0, 0.2, None),
        ("3", "P@10", 0.0, 0.0, 0.1, None),
        ("3", "R@10", None, None, None, "no-relevant"),
    ]


def test_signs_of_the_article() -> None:
    """|X| 100 and 20; two documents less, one more: mean recall +.015, mean precision -.05."""
    judged = {"1": relevant(100, "1"), "2": relevant(20, "2")}
    hits = {"after": {"1": 3, "2": 4}, "before": {"1": 5, "2": 3}}
    runs = {
        run: {
            topic: {docno: -float(place) for place, docno in enumerate(judged[topic][:n])}
            for topic, n in of_run.items()
        }
        for run, of_run in hits.items()
    }
    qrels = {topic: dict.fromkeys(docnos, 1) for topic, docnos in judged.items()}
    for measure in ("P@10", "R@10"):
        found = p.compare((runs, qrels), "after", "before", measure=measure)
        changes = found.changes
        assert changes is not None
        assert (changes.recall, changes.precision) == (pytest.approx(0.015), pytest.approx(-0.05))
        assert changes.implied == "few"
        (said,) = (note for note in found.table("difference").notes if "signs" in note)
        assert "mean R@10 changes by +0.0150 and mean P@10 by -0.0500" in said
        assert "few relevant documents" in said
    again = p.compare((runs, qrels), "before", "after", measure="P@10").changes
    assert again is not None
    assert (again.recall < 0 < again.precision, again.implied) == (True, "many")
    assert p.compare((runs, qrels), "after", "before").changes is None
    assert p.compare((runs, qrels), measure="P@10", against="before").changes is None


def test_signs_of_precision_leave_out_topics_without_a_relevant_document() -> None:
    """There is no recall; and no change of recall where nothing is relevant at all."""
    runs = {"a": {"1": {"x": 1.0}, "2": {"u": 1.0}}, "b": {"1": {"y": 1.0}, "2": {"v": 1.0}}}
    found = p.compare((runs, {"1": {"x": 1}, "2": {"u": 0}}), "a", "b", measure="P@1").changes
    assert found is not None
    assert (found.recall, found.precision, found.implied) == (1.0, 1.0, None)
    assert p.compare((runs, {"1": {"x": 0}}), "a", "b", measure="P@1").changes is None
