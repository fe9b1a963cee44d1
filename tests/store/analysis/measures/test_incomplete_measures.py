"""bpref, infAP, judged@k and condensed lists: pytrec_eval, ir_measures, and plain loops."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.gain import rank_biased_precision
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.measures.ranked import (
    bpref,
    bpref_of,
    condensed,
    inferred_ap_of,
    inferred_average_precision,
    judged_share,
    unjudged_share,
)
from store.analysis.rankings import GradedRankings
from tests.store.analysis.measures.incomplete import (
    DOCNOS,
    Qrels,
    Runs,
    evaluations,
    in_arrays,
    one_list,
    unjudged_below,
)
from tests.trec_covid import leaderboard, load_qrels, load_rankings

TREC_EVAL = {
    "AP": "map", "AP@3": "map_cut_3", "Bpref": "bpref", "infAP": "infAP", "P@3": "P_3",
    "R@4": "recall_4", "Rprec": "Rprec", "RR": "recip_rank", "nDCG": "ndcg",
    "nDCG@4": "ndcg_cut_4", "Success@2": "success_2", "NumRet": "num_ret",
    "NumRelRet": "num_rel_ret", "SetP": "set_P", "SetR": "set_recall",
}  # fmt: skip
ASKED = {
    "map", "map_cut.3", "bpref", "infAP", "P.3", "recall.4", "Rprec", "recip_rank", "ndcg",
    "ndcg_cut.4", "success.2", "num_ret", "num_rel_ret", "set_P", "set_recall",
}  # fmt: skip


def check_against_trec_eval(
    evaluation: tuple[Qrels, Runs], level: int, texts: list[str], *, judged_only: bool
) -> None:
    """Compare measures of every run and topic with pytrec_eval."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs)
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, ASKED, relevance_level=level, judged_docs_only_flag=judged_only
    )
    how = "(condensed)" * judged_only
    parts = [text.partition("@") for text in texts]
    names = [parse_measure(f"{name}{how}{at}{rank}", level=level) for name, at, rank in parts]
    theirs = {tag: evaluator.evaluate(runs[tag]) for tag in rankings.tags}
    for text, scores in zip(texts, evaluate(rankings, names), strict=True):
        for run, tag in enumerate(rankings.tags):
            for column, topic in enumerate(rankings.topics):
                # trec_eval has no undefined value, but 0 of 0 for the precision of an empty list.
                value = float(np.nan_to_num(scores.values[run, column]))
                expected = float(np.nan_to_num(theirs[tag][topic][TREC_EVAL[text]]))
                assert value == pytest.approx(expected, rel=1e-12, abs=1e-14), (text, topic)


@st.composite
def tied_evaluations(draw: st.DrawFn) -> tuple[tuple[Qrels, Runs], int]:
    """Draw qrels and two runs with ties, and a level that need not be reached.

    Where every grade is below the level less 1, trec_eval reads memory that is not its own.
    """
    level = draw(st.integers(1, 3))
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    for topic in ("t1", "t2")[: draw(st.integers(1, 2))]:
        grades = st.dictionaries(st.sampled_from(DOCNOS), st.integers(-2, 3))
        qrels[topic] = draw(grades)
        qrels[topic][draw(st.sampled_from(DOCNOS))] = draw(st.integers(level - 1, 3))
        for by_topic in runs.values():
            scores = st.integers(-1, 2).map(float)
            by_topic[topic] = draw(st.dictionaries(st.sampled_from(DOCNOS), scores, min_size=1))
    return (qrels, runs), level


@given(tied_evaluations())
def test_bpref_and_inferred_ap_equal_trec_eval(drawn: tuple[tuple[Qrels, Runs], int]) -> None:
    """Both are trec_eval's, with grades of -1 as pooled but not judged."""
    evaluation, level = drawn
    check_against_trec_eval(evaluation, level, ["Bpref", "infAP"], judged_only=False)


@given(tied_evaluations())
def test_condensed_lists_equal_trec_eval(drawn: tuple[tuple[Qrels, Runs], int]) -> None:
    """Every measure of the condensed list is trec_eval's with -J."""
    evaluation, level = drawn
    check_against_trec_eval(evaluation, level, list(TREC_EVAL), judged_only=True)


@given(evaluations())
def test_names_mean_what_they_mean_to_ir_measures(evaluation: tuple[Qrels, Runs]) -> None:
    """Bpref, infAP and Judged@k are those of ir_measures, topic by topic."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs)
    for text in ("Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)", "Judged@3", "Judged@9"):
        (scores,) = evaluate(rankings, [parse_measure(text)])
        for run, tag in enumerate(rankings.tags):
            theirs = ir_measures.parse_measure(text).calc(qrels, runs[tag]).per_query
            expected = {metric.query_id: metric.value for metric in theirs}
            values = np.nan_to_num(scores.values[run])
            wanted = [expected[topic] for topic in rankings.topics]
            np.testing.assert_allclose(values, wanted, rtol=1e-12, atol=1e-14, err_msg=text)
    for cutoff in (3, 9):
        (scores,) = evaluate(rankings, [parse_measure(f"Judged@{cutoff}")])
        shares = judged_share(rankings.judged, rankings.lengths, cutoff)
        np.testing.assert_array_equal(shares, scores.values)


@given(tied_evaluations(), st.integers(1, 12))
def test_unjudged_by_name(drawn: tuple[tuple[Qrels, Runs], int], cutoff: int) -> None:
    """Unjudged@k counts what has no grade from 0 on, in order of score and docno descending."""
    (qrels, runs), _ = drawn
    rankings = in_arrays(qrels, runs)
    (scores,) = evaluate(rankings, [parse_measure(f"Unjudged@{cutoff}")])
    for run, tag in enumerate(rankings.tags):
        for column, topic in enumerate(rankings.topics):
            by_score = runs[tag][topic]
            ranked = sorted(by_score, key=lambda docno: (by_score[docno], docno), reverse=True)
            n_unjudged = sum(qrels[topic].get(docno, -1) < 0 for docno in ranked[:cutoff])
            assert scores.values[run, column] == n_unjudged / cutoff
            assert scores.reason(run, column) is None


def plain_bpref(labels: list[int | None], n_relevant: int, n_not_relevant: int) -> float:
    """Compute bpref from labels 1, 0 and None in rank order."""
    total, wrong = 0.0, 0
    for label in labels:
        if label == 0:
            wrong += 1
        elif label == 1:
            total += 1 - min(wrong, n_relevant) / min(n_relevant, n_not_relevant) if wrong else 1
    return total / n_relevant if n_relevant else np.nan


def plain_inferred_ap(labels: list[str], n_relevant: int) -> float:
    """Compute infAP from labels +, -, u (pooled, unjudged) and o (not pooled) in rank order."""
    total = 0.0
    for rank, label in enumerate(labels, start=1):
        if label == "+":
            above = labels[: rank - 1]
            found, wrong, unjudged = (above.count(one) for one in "+-u")
            share = (found + 1e-5) / (found + wrong + 2e-5)
            total += 1 / rank + (found + wrong + unjudged) / rank * share
    return total / n_relevant if n_relevant else np.nan


LABELS = st.lists(st.lists(st.sampled_from("+-uo"), min_size=6, max_size=6), max_size=4)


@given(LABELS, st.integers(0, 2), st.integers(0, 2))
def test_several_lists_equal_plain_loops(lists: list[list[str]], more: int, worse: int) -> None:
    """Arrays of lists, and of a leading axis, give what each list alone gives by the definition."""
    letters = np.array(lists, dtype=object).reshape(-1, 6)
    relevant, judged = letters == "+", (letters == "+") | (letters == "-")
    n_relevant = np.count_nonzero(relevant, axis=-1) + more
    n_wrong = np.count_nonzero(judged & ~relevant, axis=-1) + worse
    of_bpref = bpref(relevant[None], judged[None], n_relevant, n_wrong)
    of_infap = inferred_average_precision(relevant, judged, letters != "o", n_relevant)
    assert of_bpref.shape == (1, len(lists))
    for place, labels in enumerate(lists):
        known: list[int | None] = [{"+": 1, "-": 0}.get(label) for label in labels]
        expected = plain_bpref(known, int(n_relevant[place]), int(n_wrong[place]))
        assert of_bpref[0, place] == pytest.approx(expected, rel=1e-13, nan_ok=True)
        expected = plain_inferred_ap(labels, int(n_relevant[place]))
        assert of_infap[place] == pytest.approx(expected, rel=1e-13, nan_ok=True)


def test_unjudged_documents_do_not_change_bpref() -> None:
    """Deleting what is not judged leaves bpref as it was, and not infAP."""
    plain, only = one_list("0?1??01", "10"), condensed(one_list("0?1??01", "10"))
    np.testing.assert_array_equal(bpref_of(plain, 1), bpref_of(only, 1))
    assert inferred_ap_of(plain, 1)[0, 0] < inferred_ap_of(only, 1)[0, 0]


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


@given(evaluations(least=-2))
def test_condensed_lists_equal_ir_measures(evaluation: tuple[Qrels, Runs]) -> None:
    """A name with `judged_only=True` means there what it means here, its mean or sum included."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs)
    for text in ("nDCG(judged_only=True)@3", "P(rel=2,judged_only=True)@2", "SetP(judged_only=True)"):
        (scores,) = evaluate(rankings, [parse_measure(text)])
        found = ir_measures.parse_measure(text).calc(qrels, runs["a"])
        expected = {metric.query_id: metric.value for metric in found.per_query}
        wanted = [expected[topic] for topic in rankings.topics]
        np.testing.assert_allclose(scores.values[0], wanted, rtol=1e-12, atol=1e-14, err_msg=text)
        assert scores.overall[0] == pytest.approx(found.aggregated, rel=1e-12)


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


def test_condensed_list_by_hand() -> None:
    """Judged documents move up, lengths are theirs, and R stays."""
    rankings = one_list("?2??01", "1")
    only = condensed(rankings)
    assert only.grades.tolist() == [[[2, 0, 1]]]
    assert only.judged.all()
    assert only.lengths.tolist() == [[3]]
    assert only.n_relevant(1).tolist() == [3]
    assert only.cutoff == rankings.cutoff
    nothing = condensed(one_list("???", "1"))
    assert nothing.grades.shape == (1, 1, 0)
    assert nothing.lengths.tolist() == [[0]]
    assert condensed(one_list("", "1")).lengths.tolist() == [[0]]


@given(evaluations(least=-2), st.integers(-2, 2))
def test_grades_below_a_least_one_are_gone(evaluation: tuple[Qrels, Runs], least: int) -> None:
    """Taking low grades for no judgement is evaluating qrels without their lines."""
    qrels, runs = evaluation
    fewer = {
        topic: {docno: grade for docno, grade in grades.items() if grade >= least}
        for topic, grades in qrels.items()
    }
    found, expected = unjudged_below(in_arrays(qrels, runs), least), in_arrays(fewer, runs)
    for name in ("grades", "judged", "lengths"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for ours, theirs in zip(found.judged_grades, expected.judged_grades, strict=True):
        np.testing.assert_array_equal(ours, theirs)


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
