"""Bounds of scores: the extremes over every filling of the unjudged documents of small lists."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.bounds import BOUNDED, Bounds, score_bounds
from store.analysis.measures.names import MeasureName, parse_measure
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError, UnknownNameError
from tests.helpers.graded_lists import Runs, in_arrays, one_list, plain_gain

MEASURES = [
    "AP", "AP(rel=2)", "AP@3", "AP(rel=2)@2", "AP(rel=0)", "AP(rel=-1)@2", "P@1", "P@3",
    "P(rel=2)@9", "P(rel=0)@2", "R@1", "R@3", "R(rel=2)@2", "R(rel=0)@1", "SetR", "Rprec",
    "Rprec(rel=2)", "Rprec(rel=0)", "RR", "RR(rel=2)@2", "RR(rel=0)", "Success@2", "nDCG",
    "nDCG@1", "nDCG@3", "nDCG(dcg='exp-log2')", "nDCG(dcg=jarvelin)@4",
    "nDCG(dcg='exp-jarvelin')@2", "DCG", "DCG(dcg='exp-jarvelin')@4", "RBP", "RBP(p=0.5)@3",
    "RBP(rel=2)", "SetP", "SetP(rel=0)", "NumRet", "NumRelRet",
]  # fmt: skip
SCALES = [(0, 1), (0, 1, 2), (-1, 0, 2), (2, 0), (1, 2), (2,), (0,), (-2, -1), (3, 1, 2, 1)]

Labels = Sequence[int | None]
"""Grades in rank order; ``None`` = unjudged."""


def list_of(labels: Labels, missed: Sequence[int]) -> GradedRankings:
    """Take one list, and judged documents that it does not have."""
    qrels = {f"d{place}": grade for place, grade in enumerate(labels) if grade is not None}
    qrels |= {f"m{place}": grade for place, grade in enumerate(missed)}
    run = {f"d{place}": -float(place) for place in range(len(labels))}
    return in_arrays({"t": qrels}, {"a": {"t": run} if run else {}})


def fillings(labels: Labels, scale: Sequence[int]) -> Iterator[list[int]]:
    """Give each unjudged rank every grade of the scale."""
    for filling in itertools.product(scale, repeat=sum(label is None for label in labels)):
        left = iter(filling)
        yield [next(left) if label is None else label for label in labels]


def plain_score(name: MeasureName, grades: list[int], missed: Sequence[int]) -> float | None:
    """Compute a measure of one list by its definition; ``None`` where it is undefined."""
    if name.name in ("nDCG", "DCG"):
        total, ideal = (plain_gain(name, x) for x in (grades, sorted([*grades, *missed])[::-1]))
        return total if name.name == "DCG" else total / ideal if ideal else None
    k, level = name.cutoff or max(1, len(grades)), -9 if name.rel is None else name.rel
    flags = [grade >= level for grade in grades]
    r = sum(flags) + sum(grade >= level for grade in missed)
    found = sum(flags[:k])
    precisions = [sum(flags[: i + 1]) / (i + 1) for i, flag in enumerate(flags[:k]) if flag]
    undivided = {"AP": sum(precisions), "Rprec": sum(flags[:r]), "R": found, "SetR": found}
    if name.name in undivided:
        return undivided[name.name] / r if r else None
    return {
        "P": found / k,
        "SetP": found / max(1, len(grades)),
        "NumRet": float(found),
        "Success": float(found > 0),
        "RR": 1 / (1 + flags.index(True)) if found else 0.0,
        "RBP": sum((1 - name.p) * name.p**i for i, flag in enumerate(flags[:k]) if flag),
    }[name.name]


GRADES = st.none() | st.none() | st.integers(-1, 3)


@given(
    st.lists(GRADES, max_size=7).filter(lambda labels: labels.count(None) <= 5),
    st.lists(st.integers(-1, 3), max_size=4),
    st.sampled_from(SCALES),
)
def test_bounds_are_the_extremes_over_all_fillings(
    labels: Labels, missed: list[int], scale: tuple[int, ...]
) -> None:
    """For every measure, the least and the greatest value over the fillings of the scale."""
    rankings = list_of(labels, missed)
    names = [parse_measure(text) for text in MEASURES]
    filled = list(fillings(labels, scale))
    for name, bounds in zip(names, score_bounds(rankings, names, scale=scale), strict=True):
        scores = [plain_score(name, grades, missed) for grades in filled]
        defined = [one for one in scores if one is not None]
        low, high = float(bounds.lower.item()), float(bounds.upper.item())
        told = (str(name), labels, missed, scale)
        if not defined:
            assert np.isnan([low, high]).all(), told
            continue
        assert low == pytest.approx(min(defined), rel=1e-14, abs=1e-15), told
        assert high == pytest.approx(max(defined), rel=1e-14, abs=1e-15), told
        level = 1 if name.rel is None else name.rel
        if min(scale) <= 0 and min(scale) < level and not np.isnan(bounds.values.item()):
            assert low - 1e-14 <= bounds.values.item() <= high + 1e-14, told


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


@given(
    st.lists(st.lists(GRADES, max_size=4), min_size=2, max_size=2), st.lists(st.integers(0, 2), max_size=2)
)
def test_documents_that_only_the_other_run_has_stay_unjudged(
    lists: list[list[int | None]], missed: list[int]
) -> None:
    """A filling is of one list: what another run found of no grade adds nothing to R."""
    qrels, runs = {f"m{place}": grade for place, grade in enumerate(missed)}, {}
    for tag, labels in zip("ab", lists, strict=True):
        docnos = [f"{tag}{place}" for place in range(len(labels))]
        pairs = zip(docnos, labels, strict=True)
        qrels |= {docno: grade for docno, grade in pairs if grade is not None}
        runs[tag] = {"t": {docno: -float(place) for place, docno in enumerate(docnos)}}
    texts = ["AP", "R@2", "Rprec", "nDCG", "nDCG@2", "SetR", "P@2"]
    names = [parse_measure(text) for text in texts]
    found = score_bounds(in_arrays({"t": qrels}, runs), names, scale=(0, 1, 2))
    for run, labels in enumerate(lists):
        others = missed + [grade for grade in lists[1 - run] if grade is not None]
        for name, bounds in zip(names, found, strict=True):
            scores = [plain_score(name, one, others) for one in fillings(labels, (0, 1, 2))]
            defined = [one for one in scores if one is not None] or [np.nan]
            ends = [min(defined), max(defined)]
            ours = [bounds.lower[run, 0], bounds.upper[run, 0]]
            np.testing.assert_allclose(ours, ends, rtol=1e-14, atol=1e-15, err_msg=str(name))


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
    """A scale without grades, a measure without bounds, a cutoff below what was looked at."""
    rankings = one_list("1?")
    with pytest.raises(ArgumentError, match="`scale` must hold at least one grade"):
        score_bounds(rankings, [parse_measure("AP")], scale=())
    with pytest.raises(UnknownNameError, match="unknown measure with known bounds `Bpref`"):
        score_bounds(rankings, [parse_measure("Bpref")], scale=(0, 1))
    with pytest.raises(UnknownNameError, match=r"unknown measure with known bounds `AP\(condensed\)`"):
        score_bounds(rankings, [parse_measure("AP(condensed)")], scale=(0, 1))
    with pytest.raises(ArgumentError, match="`cutoff` of P@10 must be at most the 5 ranks"):
        score_bounds(replace(rankings, cutoff=5), [parse_measure("P@10")], scale=(0, 1))
