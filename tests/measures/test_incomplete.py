"""Incomplete judgements: bpref, infAP, condensed lists; published collections."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from store.analysis.measures.bounds import score_bounds
from store.analysis.measures.gain import rank_biased_precision
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.measures.ranked import bpref_of, condensed, inferred_ap_of, judged_share, unjudged_share
from store.analysis.rankings import GradedRankings
from tests.helpers.graded_lists import in_arrays
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
