"""Incomplete judgements: bounds of scores, bpref, infAP, condensed lists; published collections."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.bounds import BOUNDED, Bounds, score_bounds
from store.analysis.measures.gain import rank_biased_precision
from store.analysis.measures.names import MeasureName, evaluate, parse_measure
from store.analysis.measures.ranked import bpref_of, condensed, inferred_ap_of, judged_share, unjudged_share
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError, UnknownNameError
from tests.helpers.graded_lists import Runs, in_arrays, one_list, plain_gain
from tests.helpers.trec_covid import leaderboard, load_qrels, load_rankings


def test_level_below_zero_makes_negative_grades_judgements() -> None:
    """At level -1 a grade of -1 is relevant, as for every other measure, and so it is judged."""
    rankings = in_arrays({"t": {"a": -1, "b": -2}}, {"r": {"t": {"a": 2.0, "b": 1.0}}})
    assert bpref_of(rankings, -1).tolist() == [[1.0]]
    assert inferred_ap_of(rankings, -1).tolist() == [[1.0]]
    assert np.isnan(bpref_of(rankings, 0)).all()


@pytest.mark.parametrize(("length", "judged", "unjudged"), [(3, 1 / 3, 0.2), (0, np.nan, 0.0)])
def test_two_conventions_of_short_lists(length: int, judged: float, unjudged: float) -> None:
    """Of a list shorter than the cutoff, judged are told of its length, unjudged of the cutoff."""
    flags = np.array([True, False, False])[:length]
    assert float(judged_share(flags, length, 10)) == pytest.approx(judged, nan_ok=True)
    assert float(unjudged_share(flags, length, 10)) == pytest.approx(unjudged)


@pytest.mark.parametrize("level", [1, -2])
def test_a_condensed_name_is_the_measure_of_the_condensed_list(level: int) -> None:
    """AUC and RBP of judged documents only; a grade below 0 is one where the level is below 0, too."""
    qrels = {"t": {"a": 1, "b": -2, "c": 0, "d": 2}}
    rankings = in_arrays(qrels, {"x": {"t": {"?": 9.0, "b": 8.0, "a": 7.0, "!": 6.0, "c": 5.0, "d": 4.0}}})
    kept = "bacd" if level < 0 else "acd"
    alone = in_arrays(qrels, {"x": {"t": {docno: -float(place) for place, docno in enumerate(kept)}}})
    for text in ("AUC{}", "RBP{}", "TP{}@3", "LeastAP{}", *["ERR{}@2"] * (level > 0)):
        names = [parse_measure(text.format(how), level=level) for how in ("(condensed)", "")]
        (of_name,), (of_list,) = evaluate(rankings, names[:1]), evaluate(alone, names[1:])
        np.testing.assert_array_equal(of_name.values, of_list.values)


def covid(folder: str, depth: int) -> GradedRankings:
    """Load the first ranks of TREC-COVID round 1."""
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for (tag, topic), docnos in load_rankings(folder, "trec9").items():
        scores = {docno: -float(place) for place, docno in enumerate(docnos[:depth])}
        runs.setdefault(tag, {})[topic] = scores
    return in_arrays(load_qrels(), runs, order="file")


@pytest.mark.slow
@pytest.mark.vector("TREC-COVID round 1, leaderboard.csv")
def test_official_bpref_of_trec_covid() -> None:
    """All 14 whole runs have the leaderboard's four decimals."""
    rankings = covid("runs-full", 1000)
    (scores,) = evaluate(rankings, [parse_measure("Bpref")])
    assert len(rankings.tags) == 14
    for tag, value in zip(rankings.tags, scores.overall.tolist(), strict=True):
        assert value == pytest.approx(float(leaderboard()[tag]["bpref"]), abs=5.001e-5), tag


@pytest.mark.slow
@pytest.mark.vector("TREC-COVID round 1, leaderboard.csv")
def test_official_rbp_of_trec_covid() -> None:
    """RBP(p=.5) of all 143 runs is that of half the grade, 0 to 2; below rank 40 nothing counts."""
    rankings = covid("runs-top120", 40)
    values = rank_biased_precision(np.maximum(0, rankings.grades) / 2, p=0.5).mean(axis=-1)
    assert len(rankings.tags) == 143
    for tag, value in zip(rankings.tags, values.tolist(), strict=True):
        assert value == pytest.approx(float(leaderboard()[tag]["RBP(p=.5)"]), abs=5.001e-5), tag


FOUR_DIGITS = 5.001e-5


def values_of(rankings: GradedRankings, text: str) -> list[float]:
    """Score the only run by a named measure, topic by topic."""
    (scores,) = evaluate(rankings, [parse_measure(text)])
    return [float(value) for value in scores.values[0]]


def check(rankings: GradedRankings, printed: dict[str, float]) -> None:
    """Compare measures of the only list with what was printed with four decimals."""
    for text, expected in printed.items():
        (value,) = values_of(rankings, text)
        assert value == pytest.approx(expected, abs=FOUR_DIGITS), text


# Grades of the pool that juru's run was left out of: wdo's two documents and the shared one.
WITHOUT_JURU = {"wdo-01": 2, "wdo-02": 0, "shared-01": 1}
WITHOUT_WDO = {"juru-01": 2, "juru-02": 0, "shared-01": 1}


@pytest.mark.parametrize(
    ("qrels", "unjudged", "ndcg", "only_judged", "highest"),
    [
        (WITHOUT_JURU | WITHOUT_WDO, 0.0, 0.6645649565734895, 0.6645649565734895,
         0.6645649565734895),
        (WITHOUT_JURU, 0.6666666666666666, 0.19004688335796713, 0.38009376671593426,
         0.8826803184943108),
        (WITHOUT_WDO, 0.0, 0.9502344167898356, 0.9502344167898356, 0.9502344167898356),
    ],
    ids=["complete", "without juru", "without wdo"],
)  # fmt: skip
@pytest.mark.vector("V7: the test of evaluation_util of the ECIR'23 bootstrap code, run of juru")
def test_incomplete_pools(
    qrels: dict[str, int], unjudged: float, ndcg: float, only_judged: float, highest: float
) -> None:
    """UNJ@3, and nDCG@3 as judged, condensed, and with the unjudged at 0 and at the highest."""
    run = {"juru-01": 3000.0, "juru-02": 2999.0, "shared-01": 2998.0}
    rankings = in_arrays({"301": qrels}, {"juru": {"301": run}})
    assert values_of(rankings, "Unjudged@3") == pytest.approx([unjudged], rel=1e-14)
    assert values_of(rankings, "Judged@3") == pytest.approx([1 - unjudged], rel=1e-14)
    assert values_of(rankings, "nDCG@3") == pytest.approx([ndcg], rel=1e-14)
    assert values_of(condensed(rankings), "nDCG@3") == pytest.approx([only_judged], rel=1e-14)
    (bounds,) = score_bounds(rankings, [parse_measure("nDCG@3")], scale=(0, 1, 2))
    assert float(bounds.lower.item()) == pytest.approx(ndcg, rel=1e-14)
    assert float(bounds.upper.item()) == pytest.approx(highest, rel=1e-14)


LEVELS = {"3": ("01", "02", "03"), "2": ("04", "05", "06"), "1": ("07", "08", "09", "10")}


def ntcir(gains: str = "123") -> GradedRankings:
    """Build sample.rel and sample.res; `gains` of the levels L1, L2 and L3, and 0 of L0."""
    qrels = {
        f"dummy{number}": int(gains[int(level) - 1])
        for level, numbers in LEVELS.items()
        for number in numbers
    }
    run = {f"dummy{number}": -float(rank) for rank, number in enumerate(("11", "01", "12", "04"))}
    return in_arrays({"t": qrels | {"dummy11": 0}}, {"run": {"t": run}})


NTCIREVAL = {
    # Gains: what is printed of the list, and of its judged documents alone.
    "123": (
        {"RR": 0.5, "AP": 0.1, "Q": 0.0967, "Q@1000": 0.0967, "nDCG(dcg=jarvelin)@1000": 0.3380,
         "nDCG@1000": 0.2760, "P@1000": 0.0020, "Success@1000": 1.0, "RBP": 0.0761},
        {"RR": 0.5, "AP": 0.1167, "Q": 0.1083, "Q@1000": 0.1083, "nDCG(dcg=jarvelin)@1000": 0.3601,
         "nDCG@1000": 0.2899, "P@1000": 0.0020, "Success@1000": 1.0, "RBP": 0.0776},
    ),
    "149": (
        {"RR": 0.5, "AP": 0.1, "Q": 0.0929, "Q@1000": 0.0929, "nDCG(dcg=jarvelin)@1000": 0.3636,
         "nDCG@1000": 0.2947, "P@1000": 0.0020, "Success@1000": 1.0, "RBP": 0.0666},
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("gains", NTCIREVAL)
@pytest.mark.vector("V10: pyNTCIREVAL, tests/dat/res_test_compute*.txt")
def test_sample_of_ntcireval(gains: str) -> None:
    """Ten relevant documents, of which ranks 2 and 4 hold one; two sets of gains; condensed.

    NTCIREVAL's nDCG has Järvelin's discount, and its MSnDCG the one usual today; its RBP has
    p = .95 and gain / highest gain, as far as is known of it, which no name here tells.
    """
    rankings = ntcir(gains)
    for one, printed in zip((rankings, condensed(rankings)), NTCIREVAL[gains], strict=True):
        check(one, {text: value for text, value in printed.items() if text != "RBP"})
        if "RBP" in printed:
            graded = rank_biased_precision(one.grades / int(gains[-1]), p=0.95)
            assert graded.item() == pytest.approx(printed["RBP"], abs=FOUR_DIGITS)


@pytest.mark.vector("V10: pyNTCIREVAL, tests/dat/res_test_compute_cutoff.txt")
def test_sample_of_ntcireval_at_rank_two() -> None:
    """At a cutoff k its AP and Q are divided by min(R, k); AP by that rule is Q without gains."""
    check(ntcir(), {
        "Q(beta=0)@2": 0.25, "Q@2": 0.25, "nDCG(dcg=jarvelin)@2": 0.5, "nDCG@2": 0.3869,
        "P@2": 0.5, "Success@2": 1.0,
    })  # fmt: skip
    assert values_of(ntcir(), "AP@2") == [pytest.approx(float(Fraction(1, 2) / 10))]


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
    st.lists(GRADES, max_size=7).filter(lambda labels: labels.count(None) <= 4),
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
