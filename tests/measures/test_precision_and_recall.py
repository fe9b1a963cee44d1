"""Precision, recall, F, curves and thresholds: the sources' examples, plain loops, other programs."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

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
    interpolated_precision,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from store.errors import ArgumentError, PoolerError


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
    from sklearn.metrics import fbeta_score

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


SLIDES = {"a": {"1": {str(rank): -float(rank) for rank in range(1, 9)}}}
"""++--+-+- of the slides: documents 1, 2, 5 and 7 are relevant, and there are no others."""
SLIDES_QRELS = {"1": {str(rank): int(rank in (1, 2, 5, 7)) for rank in range(1, 9)}}


def drawn(seed: int) -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, dict[str, int]]]:
    """Draw two runs and judgements of four topics, some documents unjudged, some not retrieved."""
    chance = random.Random(seed)
    docnos = [f"d{number}" for number in range(30)]
    qrels = {t: {d: chance.randint(0, 1) for d in docnos if chance.random() < 0.7} for t in "1234"}
    runs = {run: {t: {d: chance.random() for d in chance.sample(docnos, 20)} for t in "1234"} for run in "ab"}
    return runs, qrels


def test_curves_of_the_slides() -> None:
    """6 recalls at 1, 2 at 3/5, 3 at 4/7: mean .810389610390; area 11/16."""
    found = p.evaluate_curves((SLIDES, SLIDES_QRELS))
    assert found.precision[:, 0, 0].tolist() == [1.0] * 6 + [3 / 5] * 2 + [4 / 7] * 3
    assert found.precision.mean() == pytest.approx(0.810389610390, abs=1e-12)
    assert found.areas.tolist() == [[11 / 16]]
    of_topic = [(row["fallout"], row["recall"]) for row in found.table("corners").to_records()]
    # Up by two, right by two, up, right, up, right.
    steps = [(0, 0), (0, 0.5), (0.5, 0.5), (0.5, 0.75), (0.75, 0.75), (0.75, 1), (1, 1)]
    assert of_topic == steps


@pytest.mark.parametrize("seed", range(5))
def test_precision_is_that_of_pytrec_eval(seed: int) -> None:
    """Every topic and recall, also where floating point rounds recall .7 of 3 documents to 2."""
    import pytrec_eval

    runs, qrels = drawn(seed)
    found = p.evaluate_curves((runs, qrels))
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"})
    for tag, of_run in runs.items():
        for topic, measured in evaluator.evaluate(of_run).items():
            place = found.runs.index(tag), found.topics.index(topic)
            for step in range(11):
                expected = measured[f"iprec_at_recall_{step / 10:.2f}"]
                assert found.precision[(step, *place)] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_relevant", [3, 10, 13, 20, 23, 30, 43, 60])
def test_recalls_are_rounded_as_in_trec_eval(n_relevant: int) -> None:
    """Precision falls with every relevant document, so that one document too many shows."""
    import pytrec_eval

    flags = [flag for gap in range(n_relevant) for flag in (True, *[False] * gap)]
    qrels = {"1": {f"d{rank}": int(flag) for rank, flag in enumerate(flags)}}
    run = {"1": {f"d{rank}": -float(rank) for rank in range(len(flags))}}
    measured = pytrec_eval.RelevanceEvaluator(qrels, {"11pt_avg", "iprec_at_recall"}).evaluate(run)["1"]
    found = p.evaluate_curves(({"a": run}, qrels), cutoff=len(flags))
    expected = [measured[f"iprec_at_recall_{step / 10:.2f}"] for step in range(11)]
    assert found.precision[:, 0, 0].tolist() == pytest.approx(expected, rel=1e-14)
    mean = p.evaluate(({"a": run}, qrels), ["ElevenPoint"], cutoff=len(flags)).mean
    assert mean.item() == pytest.approx(measured["11pt_avg"], rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_roc_is_that_of_scikit_learn(seed: int) -> None:
    """Area, and corners, of the documents of each list; the mean curve by hand from these."""
    from sklearn.metrics import roc_auc_score
    from sklearn.metrics import roc_curve as sklearn_curve

    runs, qrels = drawn(seed)
    found = p.evaluate_curves((runs, qrels))
    for (run, column), (false, true) in found.points.items():
        scores = runs[found.runs[run]][found.topics[column]]
        labels = [qrels[found.topics[column]].get(docno, 0) for docno in scores]
        values = list(scores.values())
        assert found.areas[run, column] == pytest.approx(roc_auc_score(labels, values), abs=1e-12)
        every = np.stack(sklearn_curve(labels, values, drop_intermediate=False)[:2], axis=1)
        for corner in zip(false, true, strict=True):
            assert np.abs(every - corner).max(axis=1).min() < 1e-12
        assert np.trapezoid(true, false) == pytest.approx(found.areas[run, column], abs=1e-12)
        at_half = max(t for f, t in zip(false, true, strict=True) if f <= 0.5 + 1e-12)
        assert found.rates[5, run, column] == at_half
    assert found.mean_rates[5] == pytest.approx(np.nanmean(found.rates[5], axis=1))


def test_curves_that_do_not_exist_have_a_reason() -> None:
    """Topic 2 has no relevant document, topic 3 none that was retrieved; neither is in the mean."""
    runs = {"a": {topic: {"x": 2.0, "y": 1.0} for topic in "123"}}
    qrels = {"1": {"x": 1}, "2": {"x": 0}, "3": {"z": 1}}
    found = p.evaluate_curves((runs, qrels))
    assert found.table("topics").select(["topic", "area", "reason"]).to_records() == [
        {"topic": "1", "area": 1.0, "reason": None},
        {"topic": "2", "area": None, "reason": "no-relevant"},
        {"topic": "3", "area": None, "reason": "no-pairs"},
    ]
    (mean,) = found.table("areas").to_records()
    assert mean == {"run": "a", "area": 1.0, "reason": None, "topics": 1}
    assert found.mean_precision[:, 0].tolist() == [0.5] * 11  # of 1 and 0
    assert [one.table.name for one in found.plots()] == ["precision_recall", "roc"]


TIED = {"a": {"1": {"u": 4.0, "v": 3.0, "w": 3.0, "x": 3.0, "y": 2.0, "z": 1.0}}}
TIED_QRELS = {"1": {"u": 1, "v": 1, "w": 0, "x": 0, "y": 1, "z": 0}}


def test_documents_of_one_score_are_one_step() -> None:
    """Relevant u, v, y: u wins 3 pairs, v ties with two and wins one, y wins one: 6 of 9.

    The curve goes up to (0, 1/3), aslant to (2/3, 2/3) over the tie, up to 1, and right. On the
    slope recall is 1/3 + fallout/2, so .48333 at fallout .3.
    """
    from sklearn.metrics import roc_auc_score

    found = p.evaluate_curves((TIED, TIED_QRELS))
    assert found.areas.tolist() == [[6 / 9]]
    assert roc_auc_score([1, 1, 0, 0, 1, 0], [*TIED["a"]["1"].values()]) == pytest.approx(6 / 9)
    false, true = found.points[0, 0]
    assert false.tolist() == pytest.approx([0, 0, 2 / 3, 2 / 3, 1])
    assert true.tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])
    rises = [1 / 3 + tenth / 20 for tenth in range(7)]
    assert found.rates[:, 0, 0].tolist() == pytest.approx([*rises, 1, 1, 1, 1])


def test_ties_need_scores_that_order_the_run() -> None:
    """Scores that only 32 bits tie are apart, but in order trec9; in order file every rank is a step."""
    near = {"a": {"1": {"x": 16.00000001, "y": 16.0}}}
    qrels = {"1": {"x": 1, "y": 0}}
    areas = {
        order: p.evaluate_curves(p.source(near, qrels=qrels, order=order)).areas.item()
        for order in ("trec", "trec9", "file")
    }
    assert areas == {"trec": 1.0, "trec9": 0.5, "file": 1.0}
    # In the file u, v, w, x, y, z as given: v wins all three pairs, with 7 of 9 won.
    assert p.evaluate_curves(p.source(TIED, qrels=TIED_QRELS, order="file")).areas.item() == 7 / 9


def test_order_of_ties_is_that_of_the_option() -> None:
    """Of two documents of one score, order trec ranks y first and docno-asc x: precision 1/2 and 1."""
    runs, qrels = {"a": {"1": {"x": 1.0, "y": 1.0}}}, {"1": {"x": 1}}
    for order, expected in (("trec", 0.5), ("docno-asc", 1.0)):
        found = p.evaluate_curves(p.source(runs, qrels=qrels, order=order))
        assert found.precision[:, 0, 0].tolist() == [expected] * 11
        assert found.areas.tolist() == [[0.5]]


def test_a_run_has_one_place_in_both_pictures() -> None:
    """Run a has the higher precision, run b the higher area; both pictures list a first."""
    runs = {
        "a": {"1": {"r": 9.0, "x": 8.0, "y": 7.0, "s": 6.0}},
        "b": {"1": {"x": 9.0, "r": 8.0, "s": 7.0, "y": 6.0, "z": 5.0, "v": 4.0}},
    }
    found = p.evaluate_curves((runs, {"1": {"r": 1, "s": 1, "x": 0}}))
    assert found.mean_precision.mean(axis=0).argmax() == 0
    assert found.areas[:, 0].tolist() == [1 / 2, 6 / 8]
    for plot, name in zip(found.plots(), ("recall", "fallout"), strict=True):
        assert list(plot.parts) == ["a", "b"]
        assert plot.heading() == name
        assert plot.table.cells(name) == [step / 10 for step in range(11)]


def test_a_run_without_an_area_keeps_its_place() -> None:
    """Run a retrieves relevant documents only, so it has no ROC; b is the second in that picture, too."""
    runs = {"a": {"1": {"r": 2.0}}, "b": {"1": {"x": 2.0, "r": 1.0}}}
    found = p.evaluate_curves((runs, {"1": {"r": 1, "x": 0}}))
    assert [list(plot.parts) for plot in found.plots()] == [["a", "b"], ["a", "b"]]


@pytest.mark.vector("slides, tables 1.2 and 1.3")
@pytest.mark.parametrize(
    ("labels", "rank", "cells", "ratios"),
    [
        ("++++----", 1, (1, 0, 3, 4), (1, 1 / 4, 5 / 8)),
        ("++++----", 4, (4, 0, 0, 4), (1, 1, 8 / 8)),
        ("++++----", 7, (4, 3, 0, 1), (4 / 7, 1, 5 / 8)),
        ("++--+-+-", 1, (1, 0, 3, 4), (1, 1 / 4, 5 / 8)),
        ("++--+-+-", 4, (2, 2, 2, 2), (1 / 2, 1 / 2, 4 / 8)),
        ("++--+-+-", 7, (4, 3, 0, 1), (4 / 7, 1, 5 / 8)),
    ],
)
def test_cuts_of_the_slides(
    labels: str, rank: int, cells: tuple[int, ...], ratios: tuple[float, ...]
) -> None:
    """Cells at ranks 1, 4 and 7; precision, recall, accuracy; what follows from them."""
    qrels = {"1": {str(place): int(label == "+") for place, label in enumerate(labels, 1)}}
    names = ["TP", "FP", "FN", "TN(docs=8)", "SetP", "SetR", "SetAccuracy(docs=8)"]
    names += ["SetFallout(docs=8)", "SetGenerality(docs=8)", "SetF", "SetE"]
    expected = (*cells, *ratios, cells[1] / 4, 0.5, f := 2 / (1 / ratios[0] + 1 / ratios[1]), 1 - f)
    at_rank = p.evaluate((SLIDES, qrels), [f"{name}@{rank}" for name in names])
    assert at_rank.mean[:, 0].tolist() == pytest.approx(expected)
    score = SLIDES["a"]["1"][str(rank)]
    at_score = p.evaluate((SLIDES, qrels), names, threshold=score)
    assert at_score.mean[:, 0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.9, 2.0])
def test_cut_at_a_score_is_that_of_scikit_learn(threshold: float) -> None:
    """Retrieved = score at least the threshold, among all 30 documents; AP looks no further."""
    from sklearn.metrics import confusion_matrix

    runs, qrels = drawn(3)
    found = p.evaluate((runs, qrels), ["TN(docs=30)", "FP", "FN", "TP", "NumRet", "AP"], threshold=threshold)
    docnos = [f"d{number}" for number in range(30)]
    for run, topic in product(found.runs, found.topics):
        scores, judged = runs[run][topic], qrels[topic]
        above = [int(scores.get(docno, -1) >= threshold) for docno in docnos]
        cells = confusion_matrix([judged.get(docno, 0) for docno in docnos], above, labels=[0, 1])
        at = found.runs.index(run), found.topics.index(topic)
        *counts, retrieved, _ = found.values[:, *at].tolist()
        assert counts == cells.ravel().tolist()
        assert retrieved == sum(above)
    short = {
        run: {
            topic: {docno: score for docno, score in scores.items() if score >= threshold}
            for topic, scores in of_run.items()
        }
        for run, of_run in runs.items()
    }
    if threshold < 2:
        assert found.values[-1].tolist() == p.evaluate((short, qrels)).values[0].tolist()


def test_threshold_refuses_what_cannot_be() -> None:
    """A collection of 7 has no room for 8; a threshold needs a number and an order by score."""
    with pytest.raises(ArgumentError, match="`docs` must be at least the 8 documents"):
        p.evaluate((SLIDES, SLIDES_QRELS), "TN(docs=7)")
    with pytest.raises(ArgumentError, match="`threshold` must be a number, but got nan"):
        p.evaluate((SLIDES, SLIDES_QRELS), threshold=float("nan"))
    with pytest.raises(ArgumentError, match="order of their scores"):
        p.evaluate(p.source(SLIDES, qrels=SLIDES_QRELS, order="rank"), threshold=1.0)


def choosing() -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, dict[str, int]]]:
    """Make two runs with AP 1, 1, 1/2, 1/2 and 1/2, 1, 1, 1/2 on four topics."""
    first, second = {"x": 2.0, "y": 1.0}, {"y": 2.0, "x": 1.0}
    lists = {"a": (first, first, second, second), "b": (second, first, first, second)}
    runs = {run: dict(zip("1234", ranked, strict=True)) for run, ranked in lists.items()}
    return runs, {topic: {"x": 1, "y": 0} for topic in "1234"}


def test_choice_by_hand_in_two_folds() -> None:
    """Fold 1 = topics 1, 2: topics 3, 4 choose b (3/4 to 1/2), which has 3/4 there; fold 2: a, 1/2."""
    found = p.choose(choosing(), folds=2)
    assert found.chosen == ("b", "a")
    assert found.train.tolist() == [0.75, 1.0]
    assert found.test.tolist() == [0.75, 0.5]
    assert found.test_mean == 0.625
    assert found.spread == pytest.approx(0.125 * 2**0.5)
    assert (found.best_of_all, found.mean_of_all) == ("a", 0.75)  # a tie: the first
    assert found.table("folds").select(["best", "best_run", "topics"]).to_records() == [
        {"best": 1.0, "best_run": "a", "topics": ["1", "2"]},
        {"best": 0.75, "best_run": "b", "topics": ["3", "4"]},
    ]


def test_choice_leaving_one_out_by_hand() -> None:
    """Without topic 1: a 2/3, b 5/6; without 2 or 4 a tie, so a; without 3: a 5/6, b 2/3."""
    found = p.choose(choosing())
    assert found.chosen == ("b", "a", "a", "a")
    assert found.test.tolist() == [0.5, 1.0, 0.5, 0.5]
    assert found.test_mean == 0.625
    assert found.table("runs").cells("chosen") == [3, 1]


def test_choice_leaves_out_topics_without_a_score() -> None:
    """A topic without a relevant document has no AP; the folds are of the others."""
    runs, qrels = choosing()
    found = p.choose((runs, {**qrels, "4": {"x": 0}}))
    assert found.topics == ("1", "2", "3")
    assert found.facts()["topics"] == 3


def test_choice_refuses_too_little() -> None:
    """One run, more folds than topics, a seed without folds."""
    runs, qrels = choosing()
    with pytest.raises(PoolerError, match="on 1 topic; a choice"):
        p.choose((runs, {"1": qrels["1"]}))
    with pytest.raises(PoolerError, match="nothing to choose"):
        p.choose(({"a": runs["a"]}, qrels))
    with pytest.raises(ArgumentError, match="`folds` must be at most the 4 topics, but got 5"):
        p.choose((runs, qrels), folds=5)
    with pytest.raises(ArgumentError, match="is for folds"):
        p.choose((runs, qrels), seed=1)
