"""Every number that trec_eval's own expected outputs have and the measures here cover.

Not covered, since nothing here defines them: G, binG, ndcg_rel and Rndcg. Those of which only the
name is missing here are put together from measures that there are.
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
from store.analysis.measures.ranked import attainable_precision, interpolated_precision, precision_at
from store.analysis.rankings import GradedRankings
from tests.store.analysis.measures.incomplete import in_arrays, unjudged_below

DATA = Path(__file__).resolve().parents[5] / "shared" / "data" / "trec-eval-test"
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
NOT_COVERED = ("G", "binG", "ndcg_rel", "Rndcg")
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
def rankings_of(qrels: str, run: str, cutoff: int = 1000, group: str | None = None) -> GradedRankings:
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
    if base == "Rprec_mult":
        flags, n_relevant = rankings.relevant(level)[0], rankings.n_relevant(level)
        ranks = np.floor(float(number) * n_relevant + 0.9).astype(np.int64)
        pairs = zip(flags, ranks.tolist(), strict=True)
        return np.array([float(precision_at(one, rank)) for one, rank in pairs])
    if name.startswith("utility"):
        worth, cost, *others = (float(x) for x in (number if base else "1,-1,0,0").split(","))
        assert others == [0.0, 0.0]
        retrieved = by_name(rankings, "NumRet", level), by_name(rankings, "NumRelRet", level)
        return worth * retrieved[1] + cost * (retrieved[0] - retrieved[1])
    if name == "num_nonrel_judged_ret":
        judged = unjudged_below(rankings)
        return np.count_nonzero(judged.judged & ~judged.relevant(level), axis=-1)[0] * 1.0
    if name == "set_map":
        return by_name(rankings, "SetP", level) * by_name(rankings, "SetR", level)
    if base == "relative_P":
        n_relevant = rankings.n_relevant(level)
        highest = attainable_precision(n_relevant, int(number)).highest
        return by_name(rankings, f"P@{number}", level) / highest
    if name == "set_relative_P":
        n_relevant, lengths = rankings.n_relevant(level), rankings.lengths[0]
        return by_name(rankings, "NumRelRet", level) / np.maximum(1, np.minimum(n_relevant, lengths))
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


def letters(rankings: GradedRankings, column: int, number: int) -> str:
    """Write the first grades of a list as trec_eval does; a dot: below 0, a hyphen: none."""
    grades = rankings.grades[0, column, : min(number, int(rankings.lengths[0, column]))].tolist()
    judged = rankings.judged[0, column].tolist()
    return "".join(
        "-" if not known else str(grade) if grade >= 0 else "."
        for grade, known in zip(grades, judged, strict=False)
    )


def check(expected: str, rankings: GradedRankings, level: int) -> int:
    """Compare every covered line of an expected output; return how many those are."""
    compared = 0
    columns = {topic: column for column, topic in enumerate(rankings.topics)}
    for name, topic, printed in lines_of(expected):
        compared += 1
        if name == "runid":
            assert (printed,) == rankings.tags
            continue
        if name.startswith("relstring"):
            number = int(name.partition("_")[2] or 10)
            assert printed.strip("'") == letters(rankings, columns[topic], number)
            continue
        if name == "gm_map":
            (scores,) = evaluate(rankings, [parse_measure(name, level=level)])
            found = float(scores.overall[0])
        elif name == "gm_bpref":
            values = by_name(rankings, "Bpref", level)
            found = float(np.exp(np.mean(np.log(np.maximum(values, 1e-5)))))
        elif name == "num_q":
            found = float(len(rankings.topics))
        else:
            values = topic_values(rankings, name, level)
            if values is None:
                assert name in NOT_COVERED
                compared -= 1
                continue
            found = overall(values, name) if topic == "all" else float(values[columns[topic]])
        assert float(printed) == pytest.approx(found, abs=5.001e-5), (expected, name, topic)
    return compared


@pytest.mark.parametrize(
    ("expected", "qrels", "run", "level", "cutoff", "n_lines"),
    [
        ("out.test", "qrels.test.gz", "results.test.gz", 1, 1000, 30),
        ("out.test.a", "qrels.test.gz", "results.test.gz", 1, 1000, 99 - 4),
        ("out.test.aq", "qrels.test.gz", "results.test.gz", 1, 1000, 387 - 4 * 4),
        ("out.test.aqc", "qrels.test.gz", "results.trunc", 1, 1000, 387 - 4 * 4),
        ("out.test.aqcM", "qrels.test.gz", "results.trunc", 1, 100, 387 - 4 * 4),
        ("out.test.aql", "qrels.rel_level.gz", "results.test.gz", 2, 1000, 387 - 4 * 4),
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
        assert values is not None
        found = overall(values, name) if topic == "all" else float(values[columns[topic]])
        assert float(printed) == pytest.approx(found, abs=5.001e-5), (name, topic)


@pytest.mark.vector("trec_eval 10, test/out.test.qrels_jg")
def test_output_of_judgement_groups() -> None:
    """The means over three judgement groups are those of the measures by each group alone."""
    groups = [rankings_of("qrels.123.gz", "results.test.gz", 1000, g) for g in "012"]
    lines = [line for line in lines_of("out.test.qrels_jg") if line[0] not in ("runid", "num_q")]
    assert len(lines) == 4 * 20
    for name, topic, printed in lines:
        each = []
        for group in groups:
            values = topic_values(group, name.replace("_avgjg", ""), 1)
            assert values is not None
            each.append(values)
        values = np.mean(each, axis=0)
        columns = {t: column for column, t in enumerate(groups[0].topics)}
        found = float(values.mean() if topic == "all" else values[columns[topic]])
        assert float(printed) == pytest.approx(found, abs=5.001e-5), (name, topic)


@pytest.mark.vector("V2: trec_eval -J, -l2, -M100 on its own test files")
def test_options_of_trec_eval() -> None:
    """Judged documents only; a higher level; fewer ranks."""
    plain = rankings_of("qrels.test.gz", "results.test.gz")
    assert int(by_name(plain, "NumRet(condensed)", 1).sum()) == 738
    assert by_name(plain, "AP(condensed)", 1).mean() == pytest.approx(0.1848, abs=5e-5)
    graded = rankings_of("qrels.rel_level.gz", "results.test.gz")
    assert graded.n_relevant(2).sum() == 97
    assert by_name(graded, "AP", 2).mean() == pytest.approx(0.1667, abs=5e-5)
    short = rankings_of("qrels.test.gz", "results.test.gz", 100)
    assert by_name(short, "AP", 1).mean() == pytest.approx(0.1622, abs=5e-5)
