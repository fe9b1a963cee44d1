"""Every number that trec_eval's own expected outputs have and the measures here cover.

Not covered, since nothing here defines them: G, binG, ndcg_rel, Rndcg, the Rprec_mult other than
1.00, utility, relstring, and ndcg with gains of one's own.
"""

from __future__ import annotations

import gzip
import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from store.analysis.graded_rankings import GradedRankings
from store.analysis.incomplete_measures import condensed, unjudged_at, unjudged_below
from store.analysis.interpolated_precision import interpolated_precision
from store.analysis.measure_names import parse_measure
from store.analysis.measures import evaluate
from store.analysis.ranked_measures import attainable_precision
from store.analysis.residuals import rank_biased_precision, rbp_residual
from tests.store.analysis.incomplete import in_arrays, one_list

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "trec-eval-test"
RUN = "STANDARD"
NAMES = {
    "map": "AP", "Rprec": "Rprec", "Rprec_mult_1.00": "Rprec", "bpref": "Bpref", "infAP": "infAP",
    "recip_rank": "RR", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
    "ndcg": "nDCG", "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF",
}  # fmt: skip
NUMBERED = {
    "P": "P", "recall": "R", "map_cut": "AP", "ndcg_cut": "nDCG", "success": "Success",
}  # fmt: skip
SUMS = ("num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")


def lines_of(name: str) -> list[list[str]]:
    """Return the fields of each line of one of the files, or skip the test."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"trec_eval's test files are not here: {name}")
    data = path.read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    return [line.split() for line in text.splitlines()]


def qrels_of(name: str, group: str | None = None) -> dict[str, dict[str, int]]:
    """Read qrels, of one judgement group if it is named."""
    qrels: dict[str, dict[str, int]] = {}
    for topic, iteration, docno, grade in lines_of(name):
        if group in (None, iteration):
            qrels.setdefault(topic, {})[docno] = int(grade)
    return qrels


@cache
def rankings_of(
    qrels: str, run: str, cutoff: int = 1000, group: str | None = None
) -> GradedRankings:
    """Read qrels and a run into arrays."""
    scores: dict[str, dict[str, float]] = {}
    for topic, _, docno, _, score, *_ in lines_of(run):
        scores.setdefault(topic, {})[docno] = float(score)
    return in_arrays(qrels_of(qrels, group), {RUN: scores}, cutoff=cutoff)


def by_name(rankings: GradedRankings, text: str, level: int) -> NDArray[np.float64]:
    """Score by a named measure; 0 where there is no number, as trec_eval has it."""
    (scores,) = evaluate(rankings, [parse_measure(text, level=level)])
    return np.nan_to_num(scores.values[0])


def at_recall(rankings: GradedRankings, level: int, recall: float) -> NDArray[np.float64]:
    """Interpolate precision at the documents trec_eval 10 asks for: recall * R, rounded.

    Version 9, and this project, ask for the next whole number above.
    """
    relevant = rankings.relevant(level)[0]
    values = [
        float(interpolated_precision(flags, r, Fraction(math.floor(recall * r + 0.5), r)))
        for flags, r in zip(relevant, rankings.n_relevant(level).tolist(), strict=True)
    ]
    return np.array(values)


def topic_values(rankings: GradedRankings, name: str, level: int) -> NDArray[np.float64] | None:
    """Return one of trec_eval's measures of each topic; ``None`` where it is not covered."""
    base, _, number = name.rpartition("_")
    judged = unjudged_below(rankings)
    if name in NAMES:
        return by_name(rankings, NAMES[name], level)
    if base in NUMBERED:
        return by_name(rankings, f"{NUMBERED[base]}@{number}", level)
    if base == "iprec_at_recall":
        return at_recall(rankings, level, float(number))
    if name.startswith("11pt_avg"):
        listed = name.removeprefix("11pt_avg").strip("_")
        recalls = [float(x) for x in listed.split(",")] if listed else np.arange(11) / 10
        return np.mean([at_recall(rankings, level, recall) for recall in recalls], axis=0)
    if name == "num_nonrel_judged_ret":
        return np.count_nonzero(judged.judged & ~judged.relevant(level), axis=-1)[0] * 1.0
    if name == "set_map":
        return by_name(rankings, "SetP", level) * by_name(rankings, "SetR", level)
    if base == "relative_P":
        n_relevant = rankings.n_relevant(level)
        highest = attainable_precision(n_relevant, int(number)).highest
        return by_name(rankings, f"P@{number}", level) / highest
    if name == "set_relative_P":
        n_relevant, lengths = rankings.n_relevant(level), rankings.lengths[0]
        return by_name(rankings, "NumRelRet", level) / np.maximum(
            1, np.minimum(n_relevant, lengths)
        )
    if name == "rbp":
        # Gains are grades over the highest of the topic, whatever the level.
        highest = np.array([grades.max() for grades in rankings.judged_grades])
        return rank_biased_precision(np.maximum(0, rankings.grades) / highest[:, None], p=0.9)[0]
    if name == "rbp_resid":
        values = rbp_residual(judged.judged, judged.lengths, p=0.9)[0]
        # trec_eval prints 0 where the list is empty; everything is open there.
        assert (values[judged.lengths[0] == 0] == 1).all()
        return np.where(judged.lengths[0] == 0, 0.0, values)
    if base == "unj":
        return unjudged_at(judged.judged, judged.lengths, int(number), convention="trec_eval")[0]
    return None


def overall(values: NDArray[np.float64], name: str) -> float:
    """Take the sum or the mean over topics."""
    return float(values.sum() if name in SUMS else values.mean())


def check(expected: str, rankings: GradedRankings, level: int) -> set[str]:
    """Compare every line of an expected output; return the measures that were compared."""
    compared = set()
    columns = {topic: column for column, topic in enumerate(rankings.topics)}
    for name, topic, printed in lines_of(expected):
        if name in ("gm_map", "gm_bpref"):
            values = topic_values(rankings, {"gm_map": "map"}.get(name, "bpref"), level)
            assert values is not None
            found = float(np.exp(np.mean(np.log(np.maximum(values, 1e-5)))))
        elif name == "num_q":
            found = float(len(rankings.topics))
        else:
            values = topic_values(rankings, name, level)
            if values is None:
                continue
            found = overall(values, name) if topic == "all" else float(values[columns[topic]])
        assert float(printed) == pytest.approx(found, abs=5.001e-5), (expected, name, topic)
        compared.add(name)
    return compared


MEASURES_OF_A = 84
"""Of the 99 lines of ``-m all_trec``."""


@pytest.mark.parametrize(
    ("expected", "qrels", "run", "level", "cutoff", "n_measures"),
    [
        ("out.test", "qrels.test.gz", "results.test.gz", 1, 1000, 29),
        ("out.test.a", "qrels.test.gz", "results.test.gz", 1, 1000, MEASURES_OF_A),
        ("out.test.aq", "qrels.test.gz", "results.test.gz", 1, 1000, MEASURES_OF_A),
        ("out.test.aqc", "qrels.test.gz", "results.trunc", 1, 1000, MEASURES_OF_A),
        ("out.test.aqcM", "qrels.test.gz", "results.trunc", 1, 100, MEASURES_OF_A),
        ("out.test.aql", "qrels.rel_level.gz", "results.test.gz", 2, 1000, MEASURES_OF_A),
    ],
)
@pytest.mark.vector("trec_eval 10, test/out.test*")
def test_expected_outputs(
    expected: str, qrels: str, run: str, level: int, cutoff: int, n_measures: int
) -> None:
    """Every covered line, topic by topic and over all, has trec_eval's four decimals.

    A cutoff of the run, -M, leaves measures of deeper ranks defined there: they count what is in
    the list, which in a wider array is all there is.
    """
    rankings = rankings_of(qrels, run, cutoff)
    if cutoff < 1000:
        # Precision at 1000 may not be asked of 100 ranks looked at; the lists are the same.
        rankings = replace(rankings, cutoff=1000)
    assert len(check(expected, rankings, level)) == n_measures


@pytest.mark.vector("trec_eval 10, test/out.test.meas_params")
def test_output_with_parameters() -> None:
    """Cutoffs and recalls of one's own are trec_eval's."""
    rankings = rankings_of("qrels.test.gz", "results.test.gz")
    covered = re.compile(r"(iprec_at_recall|P|recall|ndcg_cut|success|11pt_avg)_[0-9.,]+")
    assert len(lines_of("out.test.meas_params")) == 4 * 22
    known = [line for line in lines_of("out.test.meas_params") if covered.fullmatch(line[0])]
    assert len(known) == 4 * 17
    columns = {topic: column for column, topic in enumerate(rankings.topics)}
    for name, topic, printed in known:
        if name == "recall_2000":
            name = "recall_1000"  # the lists have 500
        values = topic_values(rankings, name, 1)
        assert values is not None
        found = overall(values, name) if topic == "all" else float(values[columns[topic]])
        assert float(printed) == pytest.approx(found, abs=5.001e-5), (name, topic)


@pytest.mark.vector("trec_eval 10, test/out.test.qrels_jg")
def test_output_of_judgement_groups() -> None:
    """The means over three judgement groups are those of the measures by each group alone."""
    groups = [rankings_of("qrels.123.gz", "results.test.gz", 1000, g) for g in "012"]
    compared = 0
    for name, topic, printed in lines_of("out.test.qrels_jg"):
        if not name.startswith(("map", "P_", "Rprec_mult_avgjg_1.00")):
            continue
        each = []
        for group in groups:
            values = topic_values(group, name.replace("_avgjg", ""), 1)
            assert values is not None
            each.append(values)
        values = np.mean(each, axis=0)
        columns = {t: column for column, t in enumerate(groups[0].topics)}
        found = float(values.mean() if topic == "all" else values[columns[topic]])
        assert float(printed) == pytest.approx(found, abs=5.001e-5), (name, topic)
        compared += 1
    assert compared == 4 * 11


@pytest.mark.vector("V2: trec_eval -J, -l2, -M100 on its own test files")
def test_options_of_trec_eval() -> None:
    """Judged documents only; a higher level; fewer ranks."""
    plain = rankings_of("qrels.test.gz", "results.test.gz")
    only = condensed(unjudged_below(plain))
    assert int(only.lengths.sum()) == 738
    assert by_name(only, "AP", 1).mean() == pytest.approx(0.1848, abs=5e-5)
    graded = rankings_of("qrels.rel_level.gz", "results.test.gz")
    assert graded.n_relevant(2).sum() == 97
    assert by_name(graded, "AP", 2).mean() == pytest.approx(0.1667, abs=5e-5)
    short = rankings_of("qrels.test.gz", "results.test.gz", 100)
    assert by_name(short, "AP", 1).mean() == pytest.approx(0.1622, abs=5e-5)


def tiny(cutoff: int = 1000) -> GradedRankings:
    """Build the small collection of V3."""
    qrels = {"t": {"d1": 1, "d2": 0, "d3": -1, "d4": 1, "d6": 0, "d7": 1, "d8": 0}}
    order = ["d1", "d2", "d3", "d4", "d5", "d6", "d7", "d9"]
    run = {docno: 9.0 - place for place, docno in enumerate(order)}
    return in_arrays(qrels, {RUN: {"t": run}}, cutoff=cutoff)


@pytest.mark.vector("V3: a tiny collection, values from trec_eval")
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("plain", {"AP": 0.6429, "infAP": 0.7083, "Bpref": 0.6667, "Rprec": 0.3333, "P@5": 0.4,
                   "nDCG": 0.8278, "RBP": 0.3548}),
        ("judged", {"NumRet": 5, "AP": 0.7556, "infAP": 0.7556, "Bpref": 0.6667, "nDCG": 0.8855,
                    "RBP": 0.4099}),
        ("short", {"AP": 0.5, "Bpref": 0.5556, "infAP": 0.5417}),
    ],
)  # fmt: skip
def test_tiny_collection(kind: str, expected: dict[str, float]) -> None:
    """Each value, with -J and with -M4 too, is trec_eval's."""
    rankings = tiny(4) if kind == "short" else tiny()
    if kind == "judged":
        rankings = condensed(unjudged_below(rankings))
    for text, value in expected.items():
        assert float(by_name(rankings, text, 1)[0]) == pytest.approx(value, abs=5e-5), text


@pytest.mark.vector("V3: a tiny collection, values from trec_eval")
def test_unjudged_of_the_tiny_collection() -> None:
    """The shares of unjudged documents, the residual and the count of judged ones."""
    judged = unjudged_below(tiny())
    for cutoff, share in ((5, 0.4), (8, 0.375), (10, 0.3)):
        found = unjudged_at(judged.judged, judged.lengths, cutoff, convention="trec_eval")
        assert float(found[0, 0]) == pytest.approx(share, abs=1e-15)
    residual = rbp_residual(judged.judged, judged.lengths, p=0.8)
    assert float(residual[0, 0]) == pytest.approx(0.4196, abs=5e-5)
    values = topic_values(tiny(), "num_nonrel_judged_ret", 1)
    assert values is not None
    assert values.tolist() == [2]


@pytest.mark.vector("V4: ties")
def test_ties() -> None:
    """Equal scores stand by docno descending."""
    a_and_b = {RUN: {"t": {"a": 0.5, "b": 0.5}}}
    tied = in_arrays({"t": {"a": 1, "b": 0, "c": 1}}, a_and_b)
    assert by_name(tied, "AP", 1).tolist() == [0.25]
    assert by_name(tied, "P@1", 1).tolist() == [0.0]
    qrels = {"t": {"a": 0, "b": 1, "c": 0}}
    assert by_name(in_arrays(qrels, a_and_b), "nDCG", 1).tolist() == [1.0]
    b_and_c = {RUN: {"t": {"b": 0.5, "c": 0.5}}}
    assert by_name(in_arrays(qrels, b_and_c), "nDCG", 1)[0] == pytest.approx(0.6309, abs=5e-5)
    three = {RUN: {"t": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}}
    assert by_name(in_arrays({"t": {"d3": 1}}, three), "AP", 1).tolist() == [1.0]


@pytest.mark.vector("V10: pyNTCIREVAL tests/dat")
def test_sample_of_ntcireval() -> None:
    """AP, nDCG with the original discount, and RBP of 0, 3, unjudged, 2; and condensed."""
    missed = "33" + "22" + "1111"
    plain = one_list("03?2", missed)
    only = condensed(plain)
    assert sorted(plain.judged_grades[0].tolist()) == [0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    for rankings, ap, ndcg in ((plain, 0.1, 0.3380), (only, 0.1167, 0.3601)):
        assert by_name(rankings, "AP", 1)[0] == pytest.approx(ap, abs=5e-5)
        assert by_name(rankings, "nDCG(dcg=jarvelin)@1000", 1)[0] == pytest.approx(ndcg, abs=5e-5)
    rbp = rank_biased_precision(plain.grades / 3, p=0.95)
    assert float(rbp[0, 0]) == pytest.approx(0.0761, abs=5e-5)
