"""Small published collections with unjudged documents, every number that other programs print."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from store.analysis.measures.bounds import score_bounds
from store.analysis.measures.gain import rank_biased_precision
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.measures.ranked import condensed, unjudged_share
from store.analysis.rankings import GradedRankings
from tests.store.analysis.measures.incomplete import in_arrays, unjudged_below

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


def tiny(cutoff: int = 1000) -> GradedRankings:
    """Build the small collection of V3: relevant, not, pooled only, absent from the qrels."""
    qrels = {"t": {"d1": 1, "d2": 0, "d3": -1, "d4": 1, "d6": 0, "d7": 1, "d8": 0}}
    order = ["d1", "d2", "d3", "d4", "d5", "d6", "d7", "d9"]
    run = {docno: 9.0 - place for place, docno in enumerate(order)}
    return in_arrays(qrels, {"run": {"t": run}}, cutoff=cutoff)


@pytest.mark.vector("V3: seven judgements and eight documents, values printed by trec_eval")
def test_tiny_collection() -> None:
    """A grade of -1 is pooled to infAP, and no judgement to the others."""
    check(tiny(), {
        "AP": 0.6429, "infAP": 0.7083, "Bpref": 0.6667, "Rprec": 0.3333, "P@5": 0.4,
        "nDCG": 0.8278, "RBP": 0.3548, "RBPResidual": 0.4196, "Unjudged@5": 0.4,
        "Unjudged@8": 0.375, "Unjudged@10": 0.3,
    })  # fmt: skip
    judged = unjudged_below(tiny())
    assert int(np.count_nonzero(judged.judged & ~judged.relevant(1))) == 2  # num_nonrel_judged_ret


@pytest.mark.vector("V3: trec_eval -J")
def test_tiny_collection_condensed() -> None:
    """What has no judgement is deleted from the list."""
    check(condensed(unjudged_below(tiny())), {
        "NumRet": 5, "AP": 0.7556, "infAP": 0.7556, "Bpref": 0.6667, "nDCG": 0.8855,
        "RBP": 0.4099,
    })  # fmt: skip


@pytest.mark.vector("V3: trec_eval -M4")
def test_tiny_collection_of_four_ranks() -> None:
    """What stands below rank 4 is not there."""
    check(tiny(4), {"AP": 0.5, "Bpref": 0.5556, "infAP": 0.5417})


@pytest.mark.vector("V4: trec_eval, and its issue 22; pytrec_eval, issue 56")
def test_ties() -> None:
    """Equal scores stand by docno descending."""
    a_and_b = {"run": {"t": {"a": 0.5, "b": 0.5}}}
    tied = in_arrays({"t": {"a": 1, "b": 0, "c": 1}}, a_and_b)
    assert values_of(tied, "AP") == [0.25]
    assert values_of(tied, "P@1") == [0.0]
    qrels = {"t": {"a": 0, "b": 1, "c": 0}}
    assert values_of(in_arrays(qrels, a_and_b), "nDCG") == [1.0]
    check(in_arrays(qrels, {"run": {"t": {"b": 0.5, "c": 0.5}}}), {"nDCG": 0.6309})
    three = {"run": {"t": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}}
    assert values_of(in_arrays({"t": {"d3": 1}}, three), "AP") == [1.0]


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


JUDGED_QRELS = {"0": {"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 2}}
JUDGED_RUN = {
    "0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
    "1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4},
}


@pytest.mark.vector("V8: ir_measures, tests/test_judged.py")
def test_judged_documents() -> None:
    """The share of the documents there are, whatever the cutoff beyond."""
    rankings = in_arrays(JUDGED_QRELS, {"run": JUDGED_RUN})
    expected = {"Judged": 1 / 4, "Judged@1000": 1 / 4, "Judged@10": 1 / 4, "Judged@3": 1 / 3,
                "Judged@1": 0.0}  # fmt: skip
    for text, share in expected.items():
        assert values_of(rankings, text) == [1.0, share]


@pytest.mark.vector("V8: ir_measures, tests/test_judged.py, empty ranking")
def test_judged_documents_of_an_empty_ranking() -> None:
    """It has 0 there; here there is no share, for a reason, and nothing in it is unjudged."""
    rankings = in_arrays({"0": {"D0": 1}, "1": {"D0": 1}}, {"run": {"0": {"D0": 0.8}, "1": {}}})
    for text in ("Judged", "Judged@5"):
        (scores,) = evaluate(rankings, [parse_measure(text)])
        assert np.nan_to_num(scores.values).tolist() == [[1.0, 0.0]]
        assert scores.reason(0, 1) == "no-documents"
    unjudged = unjudged_share(rankings.judged, rankings.lengths, 5)
    assert unjudged.tolist() == [[0.0, 0.0]]


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
