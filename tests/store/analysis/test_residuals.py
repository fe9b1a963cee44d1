"""Residuals and bounds: every filling of small lists, other programs, the articles' definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.analysis.gain_bounds import ndcg_bounds
from store.analysis.measure_names import MeasureName, parse_measure
from store.analysis.measures import evaluate
from store.analysis.residuals import (
    err_with_residual,
    expected_reciprocal_rank,
    rank_biased_precision,
    rbp_residual,
    rbp_with_residual,
    stop_probabilities,
)
from store.analysis.score_bounds import BOUNDED, Bounds, score_bounds
from store.errors import ArgumentError, UnknownNameError
from tests.store.analysis.incomplete import Qrels, Runs, evaluations, in_arrays, one_list

LISTS = st.text("012?", max_size=7)
"""A character a rank, `?` for unjudged."""


@given(LISTS, st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)]))
def test_rbp_and_its_residual_by_definition(labels: str, p: Fraction) -> None:
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


@pytest.mark.filterwarnings("ignore")  # of pandas, about the provider
@settings(deadline=None)
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


def plain_score(name: MeasureName, grades: list[int], missed: list[int]) -> float | None:
    """Compute a measure of one list by its definition; ``None`` where it is undefined."""
    k = name.cutoff or max(1, len(grades))
    flags = [grade >= (name.rel or 1) for grade in grades]
    r = sum(flags) + sum(grade >= (name.rel or 1) for grade in missed)
    found = sum(flags[:k])
    precisions = [sum(flags[: i + 1]) / (i + 1) for i, flag in enumerate(flags[:k]) if flag]
    undivided = {"AP": sum(precisions), "Rprec": sum(flags[:r]), "R": found, "SetR": found}
    if name.name in undivided:
        return undivided[name.name] / r if r else None
    if name.name in ("nDCG", "DCG"):
        total, ideal = (plain_gain(name, x) for x in (grades, sorted([*grades, *missed])[::-1]))
        return total if name.name == "DCG" else total / ideal if ideal else None
    return {
        "P": found / k,
        "SetP": found / max(1, len(grades)),
        "NumRet": float(found),
        "Success": float(found > 0),
        "RR": 1 / (1 + flags.index(True)) if found else 0.0,
        "RBP": sum((1 - name.p) * name.p**i for i, flag in enumerate(flags[:k]) if flag),
    }[name.name]


def plain_gain(name: MeasureName, grades: Sequence[int]) -> float:
    """Compute DCG by its definition."""
    total = 0.0
    for rank, grade in enumerate(grades[: name.cutoff], start=1):
        worth = 2 ** max(0, grade) - 1 if name.dcg.startswith("exp") else max(0, grade)
        jarvelin = name.dcg.endswith("jarvelin")
        total += worth / (max(1.0, math.log2(rank)) if jarvelin else math.log2(rank + 1))
    return total


MEASURES = [
    "AP", "AP(rel=2)", "AP@3", "AP(rel=2)@2", "P@1", "P@3", "P(rel=2)@9", "R@1", "R@3",
    "R(rel=2)@2", "SetR", "Rprec", "Rprec(rel=2)", "RR", "RR(rel=2)@2", "Success@2", "nDCG",
    "nDCG@1", "nDCG@3", "nDCG(dcg='exp-log2')", "nDCG(dcg=jarvelin)@4",
    "nDCG(dcg='exp-jarvelin')@2", "DCG@4", "RBP", "RBP(p=0.5)@3", "SetP", "NumRelRet",
]  # fmt: skip


def check_every_filling(labels: str, missed: str, scale: Sequence[int], texts: list[str]) -> None:
    """Compare the bounds with the extremes over all fillings of the unjudged ranks."""
    rankings, others = one_list(labels, missed), [int(label) for label in missed]
    names = [parse_measure(text) for text in texts]
    known = [0 if label == "?" else int(label) for label in labels]
    fillings = [
        [int(grade) for grade in filled(labels, known, filling)]
        for filling in itertools.product(scale, repeat=labels.count("?"))
    ]
    for name, bounds in zip(names, score_bounds(rankings, names, scale=scale), strict=True):
        scores = [plain_score(name, grades, others) for grades in fillings]
        defined = [one for one in scores if one is not None]
        low, high = float(bounds.lower.item()), float(bounds.upper.item())
        told = (str(name), labels, missed, tuple(scale))
        if not defined:
            assert np.isnan([low, high]).all(), told
            continue
        assert low == pytest.approx(min(defined), abs=1e-12), told
        assert high == pytest.approx(max(defined), abs=1e-12), told
        assert bounds.n_unjudged.tolist() == [[labels.count("?")]]
        if min(scale) <= 0 and not np.isnan(bounds.values.item()):
            assert low - 1e-12 <= bounds.values.item() <= high + 1e-12, told


@settings(deadline=None)
@given(
    st.text("012??", max_size=7).filter(lambda labels: labels.count("?") <= 5),
    st.text("012", max_size=3),
    st.sampled_from([(0, 1), (0, 1, 2), (-1, 0, 2), (0, 2), (1, 2), (2,), (0,), (1, 2, 3)]),
)
def test_bounds_are_the_extremes_over_all_fillings(
    labels: str, missed: str, scale: tuple[int, ...]
) -> None:
    """For every measure, the least and the greatest value over the fillings of the scale."""
    check_every_filling(labels, missed, scale, MEASURES)


@pytest.mark.parametrize("length", range(5))
def test_bounds_of_every_binary_list(length: int) -> None:
    """All lists of relevant, not relevant and unjudged up to 4 ranks, with 0 to 1 missed."""
    for labels in itertools.product("01?", repeat=length):
        for missed in ("", "1"):
            check_every_filling("".join(labels), missed, (0, 1), ["AP", "AP@2", "nDCG", "Rprec"])


@pytest.mark.parametrize("length", range(1, 4))
def test_bounds_of_ndcg_of_every_graded_list(length: int) -> None:
    """All lists of three grades and unjudged documents up to 3 ranks."""
    for labels in itertools.product("012?", repeat=length):
        texts = ["nDCG", "nDCG(dcg='exp-log2')@2"]
        check_every_filling("".join(labels), "1", (0, 1, 2), texts)


def bounds_of(labels: str, text: str, scale: Sequence[int] = (0, 1, 2), missed: str = "") -> Bounds:
    """Bound one measure of one list."""
    (bounds,) = score_bounds(one_list(labels, missed), [parse_measure(text)], scale=scale)
    return bounds


def test_neither_all_nor_none_is_the_extreme() -> None:
    """Filling all with the best, or with the worst, would give bounds that are wrong."""
    bounds = bounds_of("1????", "AP", (0, 1))
    only_last, last_two = (1 + 2 / 5) / 2, (1 + 2 / 4 + 3 / 5) / 3
    assert bounds.values.item() == bounds.upper.item() == 1.0
    assert bounds.lower.item() == pytest.approx(min(only_last, last_two), abs=1e-15)
    assert bounds_of("1?1", "nDCG").upper.item() == 1.0
    assert bounds_of("1?1", "nDCG", (0, 2)).upper.item() < 1.0
    # Rank 2 is looked at once rank 3, too, is relevant.
    assert bounds_of("01?", "Rprec", (0, 1)).upper.item() == 0.5


def test_runs_and_topics_are_bounded_each_by_itself() -> None:
    """Several runs and topics at once give what each list gives alone."""
    qrels = {"t": {"a": 1, "b": 0, "z": 2}, "u": {"a": 0, "c": 2}, "v": {"x": 0}}
    whole = {t: {d: -float(i) for i, d in enumerate("abcde")} for t in "tuv"}
    runs: Runs = {"long": whole, "short": {"t": {"q": 1.0}}}
    rankings = in_arrays(qrels, runs)
    names = [parse_measure(text) for text in MEASURES]
    together = score_bounds(rankings, names, scale=(0, 1, 2))
    for run, tag in enumerate(rankings.tags):
        for column, topic in enumerate(rankings.topics):
            own = {topic: runs[tag][topic]} if topic in runs[tag] else {}
            alone = in_arrays({topic: qrels[topic]}, {tag: own})
            each = score_bounds(alone, names, scale=(0, 1, 2))
            for one, other in zip(together, each, strict=True):
                for field in ("lower", "values", "upper"):
                    found, expected = getattr(one, field)[run, column], getattr(other, field)
                    np.testing.assert_allclose(found, expected.item(), atol=1e-14)


def test_means_are_over_the_topics_that_have_a_score() -> None:
    """A topic without relevant documents has bounds of its own, and no part in the mean's."""
    qrels = {"t": {"a": 1}, "u": {"a": 0}}
    runs = {"r": {topic: {"a": 2.0, "b": 1.0} for topic in "tu"}}
    (bounds,) = score_bounds(in_arrays(qrels, runs), [parse_measure("AP")], scale=(0, 1))
    assert bounds.lower.tolist() == [[1.0, 0.5]]
    assert np.isnan(bounds.values[0, 1])
    assert [mean.tolist() for mean in bounds.means()] == [[1.0], [1.0], [1.0]]


def test_ranks_below_the_end_are_not_filled() -> None:
    """What another run's length leaves empty in the arrays is no unjudged document."""
    runs = {"long": {"t": {"a": 3.0, "x": 2.0, "y": 1.0}}, "short": {"t": {"a": 1.0}}}
    rankings = in_arrays({"t": {"a": 1, "b": 1}}, runs)
    (bounds,) = score_bounds(rankings, [parse_measure("AP")], scale=(0, 1))
    assert bounds.n_unjudged.tolist() == [[2], [0]]
    assert bounds.lower[1, 0] == bounds.upper[1, 0] == 0.5


def test_everything_judged_leaves_nothing_open() -> None:
    """Without an unjudged document both bounds are the score."""
    names = [parse_measure(text) for text in MEASURES]
    for bounds in score_bounds(one_list("01201", "12"), names, scale=(0, 1, 2)):
        np.testing.assert_allclose(bounds.lower, bounds.values, rtol=1e-13)
        np.testing.assert_allclose(bounds.upper, bounds.values, rtol=1e-13)


def test_no_runs_and_no_documents() -> None:
    """Shapes hold when nobody retrieved anything."""
    names = [parse_measure(text) for text in MEASURES]
    for bounds in score_bounds(in_arrays({"t": {"a": 1}}, {}), names, scale=(0, 1)):
        assert bounds.lower.shape == bounds.upper.shape == (0, 1)
    (bounds,) = score_bounds(one_list("", "1"), [parse_measure("nDCG@10")], scale=(0, 1))
    assert bounds.lower.tolist() == bounds.upper.tolist() == [[0.0]]


def test_bounded_measures_are_those_that_are_tried() -> None:
    """Every measure with bounds is compared with all fillings above."""
    assert {parse_measure(text).name for text in MEASURES} == set(BOUNDED)


def test_arguments_that_cannot_be_used() -> None:
    """A scale without grades, a measure without bounds, a persistence of 1."""
    rankings, flags = one_list("1?"), np.array([True])
    with pytest.raises(ArgumentError, match="`scale` must hold at least one grade"):
        score_bounds(rankings, [parse_measure("AP")], scale=())
    with pytest.raises(ArgumentError, match="`scale` must hold at least one grade"):
        ndcg_bounds(rankings, ~rankings.judged, scale=())
    with pytest.raises(UnknownNameError, match="unknown measure with known bounds `Bpref`"):
        score_bounds(rankings, [parse_measure("Bpref")], scale=(0, 1))
    with pytest.raises(ArgumentError, match="`cutoff` of P@10 must be at most the 5 ranks"):
        score_bounds(replace(rankings, cutoff=5), [parse_measure("P@10")], scale=(0, 1))
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
