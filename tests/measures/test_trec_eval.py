"""Every number that trec_eval's own expected outputs have and the measures here cover.

Not covered are those that nothing here defines.
"""

from __future__ import annotations

import gzip
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from store.analysis.measures.gain import rank_biased_precision
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.measures.ranked import interpolated_precision
from store.analysis.rankings import GradedRankings
from tests.helpers.graded_lists import in_arrays

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "trec-eval-test"
RUN = "STANDARD"
NAMES = {
    "map": "AP", "Rprec": "Rprec", "bpref": "Bpref", "infAP": "infAP",
    "recip_rank": "RR", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
    "ndcg": "nDCG", "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF",
    # Where only grades 0 and 1 occur the gains of 1, 2 and 4 change nothing.
    "ndcg_1=3,2=9,4=4.5": "nDCG",
}  # fmt: skip
NUMBERED = {
    "P": "P", "recall": "R", "map_cut": "AP", "ndcg_cut": "nDCG", "success": "Success",
    "unj": "Unjudged",
}  # fmt: skip
NOT_COVERED = (
    "G", "binG", "ndcg_rel", "Rndcg", "utility", "num_nonrel_judged_ret", "set_map", "relative_P",
    "set_relative_P", "relstring", "gm_bpref", "Rprec_mult",
)  # fmt: skip
SUMS = ("num_ret", "num_rel", "num_rel_ret")


def lines_of(name: str) -> list[list[str]]:
    """Return the fields of each line of one of the files, or skip the test."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"trec_eval's test files are not here: {name}")
    data = path.read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    return [line.split() for line in text.splitlines()]


def qrels_of(name: str) -> dict[str, dict[str, int]]:
    """Read qrels."""
    qrels: dict[str, dict[str, int]] = {}
    for topic, _, docno, grade in lines_of(name):
        qrels.setdefault(topic, {})[docno] = int(grade)
    return qrels


@cache
def rankings_of(qrels: str, run: str, cutoff: int = 1000) -> GradedRankings:
    """Read qrels and a run into arrays."""
    scores: dict[str, dict[str, float]] = {}
    for topic, _, docno, _, score, *_ in lines_of(run):
        scores.setdefault(topic, {})[docno] = float(score)
    return in_arrays(qrels_of(qrels), {RUN: scores}, cutoff=cutoff)


def by_name(rankings: GradedRankings, text: str, level: int) -> NDArray[np.float64]:
    """Score by a named measure; 0 where there is no number, as trec_eval has it."""
    (scores,) = evaluate(rankings, [parse_measure(text, level=level)])
    return np.nan_to_num(scores.values[0])


def at_recall(rankings: GradedRankings, level: int, recall: float) -> NDArray[np.float64]:
    """Interpolate precision at the documents trec_eval 10 asks for: recall * R, rounded.

    Version 9, and this project, round up from a tenth of a document.
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
    if name == "rbp":
        # Gains are grades over the highest of the topic, whatever the level.
        highest = np.array([grades.max() for grades in rankings.judged_grades])
        return rank_biased_precision(np.maximum(0, rankings.grades) / highest[:, None], p=0.9)[0]
    if name == "rbp_resid":
        values = by_name(rankings, "RBPResidual(p=0.9)", level)
        # trec_eval prints 0 where the list is empty; everything is open there.
        is_empty = rankings.lengths[0] == 0
        assert (values[is_empty] == 1).all()
        return np.where(is_empty, 0.0, values)
    return None


def overall(values: NDArray[np.float64], name: str) -> float:
    """Take the sum or the mean over topics."""
    return float(values.sum() if name in SUMS else values.mean())


def check(expected: str, rankings: GradedRankings, level: int) -> int:
    """Compare every covered line of an expected output; return how many those are."""
    compared = 0
    columns = {topic: column for column, topic in enumerate(rankings.topics)}
    for name, topic, printed in lines_of(expected):
        compared += 1
        if name == "runid":
            assert (printed,) == rankings.tags
            continue
        if name == "gm_map":
            (scores,) = evaluate(rankings, [parse_measure(name, level=level)])
            found = float(scores.overall[0])
        elif name == "num_q":
            found = float(len(rankings.topics))
        else:
            values = topic_values(rankings, name, level)
            if values is None:
                assert name.startswith(NOT_COVERED)
                compared -= 1
                continue
            found = overall(values, name) if topic == "all" else float(values[columns[topic]])
        assert float(printed) == pytest.approx(found, abs=5.001e-5), (expected, name, topic)
    return compared


@pytest.mark.parametrize(
    ("expected", "qrels", "run", "level", "cutoff", "n_lines"),
    [
        ("out.test", "qrels.test.gz", "results.test.gz", 1, 1000, 30),
        ("out.test.a", "qrels.test.gz", "results.test.gz", 1, 1000, 71),
        ("out.test.aq", "qrels.test.gz", "results.test.gz", 1, 1000, 275),
        ("out.test.aqc", "qrels.test.gz", "results.trunc", 1, 1000, 275),
        ("out.test.aqcM", "qrels.test.gz", "results.trunc", 1, 100, 275),
        ("out.test.aql", "qrels.rel_level.gz", "results.test.gz", 2, 1000, 275),
    ],
)
@pytest.mark.vector("trec_eval 10, test/out.test*")
def test_expected_outputs(expected: str, qrels: str, run: str, level: int, cutoff: int, n_lines: int) -> None:
    """Every covered line, topic by topic and over all, has trec_eval's four decimals.

    A cutoff of the run, -M, leaves measures of deeper ranks defined there: they count what is in
    the list, which in a wider array is all there is.
    """
    rankings = rankings_of(qrels, run, cutoff)
    if cutoff < 1000:
        # Precision at 1000 may not be asked of 100 ranks looked at; the lists are the same.
        rankings = replace(rankings, cutoff=1000)
    assert check(expected, rankings, level) == n_lines


@pytest.mark.vector("trec_eval 10, test/out.test.meas_params")
def test_output_with_parameters() -> None:
    """Cutoffs and recalls of one's own are trec_eval's."""
    rankings = rankings_of("qrels.test.gz", "results.test.gz")
    lines = lines_of("out.test.meas_params")
    assert len(lines) == 4 * 22
    columns = {topic: column for column, topic in enumerate(rankings.topics)}
    for name, topic, printed in lines:
        if name == "recall_2000":
            name = "recall_1000"  # the lists have 500
        values = topic_values(rankings, name, 1)
        if values is None:
            assert name.startswith(NOT_COVERED)
            continue
        found = overall(values, name) if topic == "all" else float(values[columns[topic]])
        assert float(printed) == pytest.approx(found, abs=5.001e-5), (name, topic)
