"""Measures by name: how names are read, what trec_eval and ir_measures compute, why there is no number."""

from __future__ import annotations

import gzip
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pooler.reasons import OF_PAIRS, REASONS
from store.analysis.agreement import intervals, kappa
from store.analysis.measures import names
from store.analysis.measures.gain import rank_biased_precision
from store.analysis.measures.names import ALIASES, MEASURES, MeasureName, Scores, evaluate, parse_measure
from store.analysis.measures.ranked import interpolated_precision
from store.analysis.rankings import GradedRankings
from store.analysis.significance import generalizability, pairs, t_tests
from store.errors import ArgumentError, PoolerError, UnknownNameError
from tests.helpers.graded_lists import Qrels, Runs, evaluations, in_arrays
from tests.helpers.trec_covid import leaderboard, load_qrels, load_rankings


def score(rankings: GradedRankings, text: str, level: int = 1) -> Scores:
    """Evaluate one measure."""
    (scores,) = evaluate(rankings, [parse_measure(text, level=level)])
    return scores


TREC_EVAL = {
    "AP": "map", "AP@5": "map_cut_5", "Bpref": "bpref", "infAP": "infAP", "P@5": "P_5", "P@10": "P_10",
    "R@5": "recall_5", "R@10": "recall_10", "Rprec": "Rprec", "RR": "recip_rank", "Success@1": "success_1",
    "Success@5": "success_5", "nDCG": "ndcg", "nDCG@5": "ndcg_cut_5", "SetP": "set_P",
    "SetR": "set_recall", "SetF": "set_F", "NumRet": "num_ret", "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret", "IPrec@0.5": "iprec_at_recall_0.50",
    "IPrec@1": "iprec_at_recall_1.00",
}  # fmt: skip
ASKED = {
    "map", "map_cut.5", "bpref", "infAP", "P.5,10", "recall.5,10", "Rprec", "recip_rank", "success.1,5",
    "ndcg", "ndcg_cut.5", "set_P", "set_recall", "set_F", "num_ret", "num_rel", "num_rel_ret",
    "iprec_at_recall.0.5,1.0",
}  # fmt: skip


@pytest.mark.parametrize("judged_only", [False, True])
@given(level=st.integers(1, 3), data=st.data())
def test_measures_equal_trec_eval(judged_only: bool, level: int, data: st.DataObject) -> None:
    """Each measure, ties included, is trec_eval's on every topic; of the condensed list with -J.

    Where every grade is below the level less 1, trec_eval reads memory that is not its own.
    """
    import pytrec_eval

    qrels, runs = data.draw(evaluations(ties=True, best=level - 1))
    rankings = in_arrays(qrels, runs, order="trec9")
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, ASKED, relevance_level=level, judged_docs_only_flag=judged_only
    )
    theirs = {tag: evaluator.evaluate(runs[tag]) for tag in rankings.tags}
    names = {}
    for text, theirs_is in TREC_EVAL.items():
        assert parse_measure(theirs_is, level=level) == parse_measure(text, level=level)
        if not judged_only or MEASURES[parse_measure(text).name].can_condense:
            name, at, rank = text.partition("@")
            names[theirs_is] = parse_measure(f"{name}{'(condensed)' * judged_only}{at}{rank}", level=level)
    for theirs_is, scores in zip(names, evaluate(rankings, list(names.values())), strict=True):
        expected = [[theirs[tag][topic][theirs_is] for topic in rankings.topics] for tag in rankings.tags]
        # trec_eval has no undefined value, but 0 of 0 for the precision of an empty list.
        found = np.nan_to_num(scores.values)
        np.testing.assert_allclose(found, np.nan_to_num(expected), rtol=1e-12, atol=1e-14, err_msg=theirs_is)


OF_IR_MEASURES = {text: text for text in (
    "AP(rel=2)", "AP@3", "P(rel=2)@3", "R@2", "Rprec", "RR@2", "RR(rel=3)", "Success(rel=2)@3", "nDCG@3",
    "Judged@4", "Judged", "SetP", "SetR(rel=2)", "SetF", "NumRet", "NumRelRet", "NumRel",
)}  # fmt: skip
OF_IR_MEASURES |= {"SetF(beta=4.0)": "SetF(beta=2)", "SetR": "SetF(beta=inf)"}
"""Names of ir_measures, and ours: it and trec_eval do not square beta."""


@given(evaluations())
def test_measures_equal_ir_measures(evaluation: tuple[Qrels, Runs]) -> None:
    """Without ties, each name means what it means to ir_measures, and so does its mean or sum."""
    import ir_measures

    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs, order="trec")
    measures = {text: ir_measures.parse_measure(text) for text in OF_IR_MEASURES}
    found = {tag: ir_measures.calc(measures.values(), qrels, runs[tag]) for tag in rankings.tags}
    ours = evaluate(rankings, [parse_measure(text) for text in OF_IR_MEASURES.values()])
    for measure, scores in zip(measures.values(), ours, strict=True):
        for run, tag in enumerate(rankings.tags):
            by_topic = {one.query_id: one.value for one in found[tag].per_query if one.measure == measure}
            expected = [by_topic[topic] for topic in rankings.topics]
            values = np.nan_to_num(scores.values[run])
            np.testing.assert_allclose(values, expected, rtol=1e-13, atol=1e-15, err_msg=str(measure))
            if not np.isnan(scores.values[run]).any():
                overall = found[tag].aggregated[measure]
                assert scores.overall[run] == pytest.approx(overall, rel=1e-13, abs=1e-15), measure


@pytest.mark.slow
def test_official_scores_of_trec_covid() -> None:
    """nDCG@10 and P@5 of all 143 runs are the leaderboard's four decimals, in order trec9."""
    # In double precision, documents of BERT are not tied that official scoring saw as tied.
    lists, qrels = load_rankings("runs-top120", "trec9"), load_qrels()
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for (tag, topic), docnos in lists.items():
        top = {docno: -float(place) for place, docno in enumerate(docnos[:10])}
        runs.setdefault(tag, {})[topic] = top
    rankings = in_arrays(qrels, runs, order="file", cutoff=10)
    names = [parse_measure("nDCG@10"), parse_measure("P@5")]
    assert len(rankings.tags) == 143
    for scores, column in zip(evaluate(rankings, names), ["ndcg@10", "p@5"], strict=True):
        assert scores.n_defined.tolist() == [30] * 143
        for tag, value in zip(rankings.tags, scores.overall.tolist(), strict=True):
            assert value == pytest.approx(float(leaderboard()[tag][column]), abs=5.001e-5), tag


SMALL: Qrels = {"1": {"d1": 0, "d2": 2, "d3": 1, "d4": 1}, "2": {"d1": 0}, "3": {"d1": 1, "d2": -2}}
SMALL_RUNS: Runs = {
    "long": {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "2": {"d1": 1.0}, "3": {"d1": 2.0, "d5": 1.0}},
    "short": {"1": {"d3": 1.0}},
}


@pytest.mark.parametrize(
    ("text", "long", "short", "reasons"),
    [
        ("AP", [(1 / 2 + 2 / 3) / 3, None, 1.0], [1 / 3, None, 0.0], ["no-relevant"] * 2),
        ("AP(rel=2)", [1 / 2, None, None], [0.0, None, None], ["no-relevant"] * 4),
        ("P@2", [1 / 2, 0.0, 1 / 2], [1 / 2, 0.0, 0.0], []),
        ("RR", [1 / 2, 0.0, 1.0], [1.0, 0.0, 0.0], []),
        # The lists 011 and 001 of relevant documents: 0011's AP is 5/12 (Kishida 2001, section 2).
        ("OwnAP", [(1 / 2 + 2 / 3) / 2, None, 1.0], [1.0, None, None],
         ["no-relevant", "no-relevant", "none-retrieved"]),
        ("LeastAP", [(1 / 2 + 2 / 3) / 2, None, 1 / 2], [1.0, None, None],
         ["no-relevant", "no-relevant", "none-retrieved"]),
        # Two of three documents in three orders: 1, (1 + 2/3) / 2, (1/2 + 2/3) / 2; one of two: 1, 1/2.
        ("RandomAP", [(1 + 5 / 6 + 7 / 12) / 3, None, 3 / 4], [1.0, None, None],
         ["no-relevant", "no-relevant", "none-retrieved"]),
        ("LeastAP@2", [1 / 2, None, 1 / 2], [1.0, None, None],
         ["no-relevant", "no-relevant", "none-retrieved"]),
        ("CG", [3, 0.0, 1], [1, 0.0, 0.0], []),
        ("nCG@2", [2 / 3, None, 1.0], [1 / 3, None, 0.0], ["no-relevant"] * 2),
        ("BreakEven", [2 / 3, None, 1.0], [None, None, None],
         ["no-relevant", "list-too-short", "no-relevant", "list-too-short"]),
        ("Judged", [1.0, 1.0, 1 / 2], [1.0, None, None], ["no-documents"] * 2),
        ("Judged@1", [1.0, 1.0, 1.0], [1.0, None, None], ["no-documents"] * 2),
        ("Accuracy", [0.0, None, 1.0], [None, None, None],
         ["no-relevant", "no-pairs", "no-relevant", "no-pairs"]),
        ("SetP", [2 / 3, 0.0, 1 / 2], [1.0, 0.0, 0.0], []),
        ("SetE", [1 - 2 / 3, None, 1 - 2 / 3], [1 - 1 / 2, None, 1.0], ["no-relevant"] * 2),
        ("SetF(alpha=0.25)", [2 / 3, None, 1 / 1.25], [1 / 2.5, None, 0.0], ["no-relevant"] * 2),
        ("SetS", [4 / 3, None, 3 / 2], [4 / 3, None, 0.0], ["no-relevant"] * 2),
        ("SetBorko", [1 / 3, None, 1 / 2], [1 / 3, None, -1.0], ["no-relevant"] * 2),
        ("SetFallout(docs=4)", [1.0, 1 / 4, 1 / 3], [0.0, 0.0, 0.0], []),
        ("SetFallout(rel=-2, docs=4)", [None, 0.0, 1 / 2], [None, 0.0, 0.0],
         ["no-not-relevant"] * 2),
        ("SetSpecificity(docs=4)", [0.0, 3 / 4, 2 / 3], [1.0, 1.0, 1.0], []),
        ("SetGenerality(docs=4)", [3 / 4, 0.0, 1 / 4], [3 / 4, 0.0, 1 / 4], []),
        ("SetAccuracy(docs=4)", [2 / 4, 3 / 4, 3 / 4], [2 / 4, 1.0, 3 / 4], []),
        ("DCG(dcg=jarvelin)", [2.0 + 1 / np.log2(3), 0.0, 1.0], [1.0, 0.0, 0.0], []),
        # Recall .7 of three documents asks for two, as in trec_eval: up to .7 it is 2/3.
        ("ElevenPoint", [(8 * 2 / 3) / 11, None, 1.0], [4 / 11, None, 0.0], ["no-relevant"] * 2),
        ("IPrec@0.5", [2 / 3, None, 1.0], [0.0, None, 0.0], ["no-relevant"] * 2),
        ("NumRet", [3, 1, 2], [1, 0, 0], []),
        ("NumRet(rel=-2)", [3, 1, 1], [1, 0, 0], []),
    ],
)  # fmt: skip
def test_values_and_reasons_by_hand(
    text: str, long: list[float | None], short: list[float | None], reasons: list[str]
) -> None:
    """A topic without relevant documents, a run without documents: a number, or the reason why."""
    scores = score(in_arrays(SMALL, SMALL_RUNS, order="trec"), text)
    found = []
    for run, expected in enumerate((long, short)):
        defined = [value for value in expected if value is not None]
        assert scores.n_defined[run] == len(defined)
        for topic, value in enumerate(expected):
            if value is None:
                assert np.isnan(scores.values[run, topic])
                found.append(scores.reason(run, topic))
            else:
                assert scores.values[run, topic] == pytest.approx(value, rel=1e-15, abs=1e-15)
                assert scores.reason(run, topic) is None
        if defined:
            overall = sum(defined) / (1 if scores.is_sum else len(defined))
            assert float(scores.overall[run]) == pytest.approx(overall, rel=1e-14)
        else:
            assert np.isnan(scores.overall[run])
    assert found == reasons


def test_every_name_is_computed() -> None:
    """Each name that is read gives one value a list."""
    rankings = in_arrays(SMALL, SMALL_RUNS, order="trec")
    for name, measure in MEASURES.items():
        if measure.is_sampled:
            continue
        docs = "(docs=100)" if "docs" in measure.parameters else ""
        at = {"cutoff": "@2", "recall": "@0.5", None: ""}[measure.at]
        scores = score(rankings, name + docs + at)
        assert scores.values.shape == (2, 3)
        assert scores.overall.shape == (2,)


def test_arguments_that_cannot_be_used() -> None:
    """A cutoff or a collection that is too small for the rankings, or a name nobody knows."""
    rankings = in_arrays(SMALL, SMALL_RUNS, order="trec", cutoff=5)
    with pytest.raises(ArgumentError, match="`cutoff` of P@10 must be at most the 5 ranks that"):
        score(rankings, "P@10")
    with pytest.raises(ArgumentError, match="`docs` must be at least the 4 documents retrieved or"):
        score(rankings, "SetFallout(docs=3)")
    with pytest.raises(UnknownNameError, match="unknown measure `Nothing`; known: "):
        evaluate(rankings, [MeasureName("Nothing")])
    for text in ("P", "IPrec"):
        with pytest.raises(ArgumentError, match=f"must be given for {text}"):
            evaluate(rankings, [MeasureName(text, rel=1)])


def test_runs_without_documents_have_scores() -> None:
    """When no run retrieved anything, and when there is no run, shapes and reasons hold."""
    nothing = in_arrays(SMALL, {"a": {}}, order="trec")
    values = score(nothing, "nDCG@10").values
    assert values[0, 0] == 0.0
    assert np.isnan(values[0, 1])
    for text in ("AP", "P@5", "RR", "Rprec", "ElevenPoint", "Accuracy", "Judged@5", "SetF", "DCG"):
        assert score(nothing, text).values.shape == (1, 3)
        assert score(in_arrays(SMALL, {}, order="trec"), text).values.shape == (0, 3)


SHARED = [
    "AP", "MAP", "AP@100", "AP(rel=2)", "AP(rel=1)@5", "P@10", "Precision@5", "P(rel=3)@1000",
    "R@100", "Recall(rel=2)@7", "Rprec", "RPrec(rel=2)", "RR", "MRR@10", "RR(rel=2)@10",
    "Success@5", "Success(rel=2)@1", "nDCG", "NDCG@10", "nDCG(dcg='exp-log2')@10",
    'nDCG(dcg="log2")@3', "IPrec@0.1", "IPrec(rel=2)@0.5", "Accuracy", "Accuracy(rel=2)@20",
    "Judged", "Judged@10", "SetP", "SetR(rel=2)", "SetF", "SetF(beta=0.5)", "SetF(beta=1.0)",
    "NumRet", "NumRelRet", "NumRet(rel=2)", "NumRel", "NumRel(rel=2)", " P ( rel = 2 ) @ 5 ",
    "Bpref", "BPref(rel=2)", "infAP", "infAP(rel=2)", "RBP(rel=1)", "RBP(rel=1,p=0.5)@10",
    "RBP(rel=2,p=0.8)", "P(cutoff=5)", "P(rel=2,cutoff=5)", "IPrec(recall=0.3)",
]  # fmt: skip


@pytest.mark.parametrize("text", SHARED)
def test_names_are_those_of_ir_measures(text: str) -> None:
    """What both know is written in the same shortest form."""
    import ir_measures

    assert str(parse_measure(text)) == repr(ir_measures.parse_measure(text.strip()))


def test_aliases_are_those_of_ir_measures() -> None:
    """Every alias is one there, of the same measure."""
    import ir_measures

    for alias, name in ALIASES.items():
        if alias not in ("F", "E", "AUC"):  # of textbooks
            assert name == ir_measures.measures.registry[alias].NAME


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("map", "AP"), ("ap", "AP"), ("P_5", "P@5"), ("p.5", "P@5"), ("recall_10", "R@10"),
        ("success_1", "Success@1"), ("map_cut_100", "AP@100"), ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"), ("ndcg_cut.10", "nDCG@10"), ("ndcg@10", "nDCG@10"),
        ("recip_rank", "RR"), ("mrr@10", "RR@10"), ("bpref", "Bpref"), ("R-Precision", "Rprec"),
        ("num_rel_ret", "NumRet(rel=1)"), ("num_ret", "NumRet"), ("set_F", "SetF"),
        ("unj_10", "Unjudged@10"), ("DCG@5(dcg=jarvelin)", "DCG(dcg='jarvelin')@5"),
        (" P @5 (rel=2) ", "P(rel=2)@5"), ("infap", "infAP"), ("hit_rate@5", "Success@5"),
        ("gm_map", "GMAP"), ("11pt_avg", "ElevenPoint"), ("err@20", "ERR@20"),
        ("nDCG(judged_only=True)@10", "nDCG(condensed)@10"),
        ("AP@5(condensed)", "AP(condensed)@5"), ("AP(judged_only=False)", "AP"), ("ERR(max=4)", "ERR"),
        ("F@3", "SetF@3"), ("e", "SetE"), ("auc", "Accuracy"), ("F(beta=inf)", "SetF(beta=inf)"),
    ],
)  # fmt: skip
def test_names_of_other_programs_are_known(text: str, ours: str) -> None:
    """What means the very same is read, in any case."""
    assert str(parse_measure(text)) == ours


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("F1", "`SetF` is the F of the whole list"),
        ("ndcg_cut", "as in `nDCG@10`"),
        ("iprec_at_recall", "as in `IPrec@0.1`"),
        ("NERR10", "NERR8 to NERR11 of ir_measures are other measures"),
    ],
)
def test_names_that_mean_almost_the_same_have_a_hint(text: str, hint: str) -> None:
    """They are refused: what is close is named."""
    with pytest.raises(UnknownNameError, match=f"unknown measure `{text}`") as caught:
        parse_measure(text)
    assert hint in str(caught.value.hint)


def test_level_stands_in_where_no_rel_is_given() -> None:
    """The caller's level is the default of rel, and of nothing else."""
    assert parse_measure("AP", level=2).rel == 2
    assert parse_measure("AP(rel=1)", level=2).rel == 1
    assert parse_measure("AP(rel=-1)", level=2).rel == -1
    assert parse_measure("nDCG@10", level=2).rel is None
    assert parse_measure("NumRet", level=2).rel is None
    assert parse_measure("NumRelRet", level=2) == parse_measure("NumRet(rel=2)")
    assert parse_measure("Judged", level=2).rel is None


def test_parameters_are_read_exactly() -> None:
    """A recall of 0.7 is seven tenths; the other parameters arrive where they belong."""
    assert parse_measure("IPrec@0.7").recall == Fraction(7, 10)
    assert parse_measure("IPrec@1").recall == 1
    assert parse_measure("SetF(alpha=0.25)").alpha == 0.25
    assert parse_measure("SetFallout(docs=1000, rel=2)") == MeasureName("SetFallout", rel=2, docs=1000)
    assert parse_measure("DCG(dcg=jarvelin)@5") == MeasureName("DCG", cutoff=5, dcg="jarvelin")


@pytest.mark.parametrize(
    "text",
    [
        "SetFallout(rel=2,docs=1000)", "SetF(beta=0.00001)", "SetE(rel=0,alpha=0.25)",
        "DCG(dcg='exp-jarvelin')@5", "IPrec@0.001", "nERR(max=2,condensed)@9",
        "AP(rel=2,condensed)", "ElevenPoint(rel=-1)",
    ],
)  # fmt: skip
def test_shortest_form_is_the_text(text: str) -> None:
    """What only this project knows is written as it was typed, numbers in full."""
    assert str(parse_measure(text)) == text


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw the name of a measure with some of the parameters it takes."""
    name = draw(st.sampled_from(sorted(MEASURES)))
    measure = MEASURES[name]
    number = st.one_of(st.decimals(0, 9, places=2).map(str), st.sampled_from(["0.00001", "999999999", ".5"]))
    values = {
        "rel": st.integers(-2, 5).map(str),
        "beta": number,
        "alpha": st.decimals(0, 1, places=2).map(str),
        "dcg": st.sampled_from(["log2", "'exp-log2'", '"jarvelin"', "exp-jarvelin"]),
        "docs": st.integers(1, 10**6).map(str),
        "p": st.decimals(0, "0.99", places=2).map(str),
        "max": st.integers(1, 1000).map(str),
    }
    taken = [key for key in measure.parameters if key == "docs" or draw(st.booleans())]
    if "alpha" in taken and "beta" in taken:
        taken.remove("beta")
    words = [f"{key}={draw(values[key])}" for key in taken]
    listed = ",".join([*words, *["condensed"] * (measure.can_condense and draw(st.booleans()))])
    text = f"{name}({listed})" if listed else name
    if measure.at and (measure.is_at_required or draw(st.booleans())):
        at = (
            st.sampled_from(["0.000001", "1", "0.30", ".123456789"])
            if measure.at == "recall"
            else st.integers(1, 1000)
        )
        text += f"@{draw(at)}"
    return text


@given(texts(), st.integers(-1, 3))
def test_shortest_form_reads_back(text: str, level: int) -> None:
    """What a name writes is read as the same name, whatever the level."""
    name = parse_measure(text, level=level)
    assert parse_measure(str(name), level=1) == name


@given(
    st.text("AP1 @(=),\x00\u202e日é", max_size=20)
    | st.lists(st.sampled_from([*"P(rel=2)@10,'.- ", "nDCG"])).map("".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text whatever raises anything but an error of ours."""
    try:
        name = parse_measure(text)
    except PoolerError:
        return
    assert parse_measure(str(name)) == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`measure` must be a name, as in `AP`, `P@10` or "),
        ("P@", "`measure` must be a name"),
        ("P((5))", "`measure` must be a name"),
        ("P", "`measure` P needs a cutoff, as in `P@10`, but got 'P'"),
        ("IPrec", "`measure` IPrec needs a recall, as in `IPrec@0.1`"),
        ("P@0", "`measure` P@0: cutoff must be an integer >= 1, but got '0'"),
        ("P@1.5", ": cutoff must be an integer >= 1, but got '1.5'"),
        ("P@9999999999", ": cutoff must be an integer >= 1 of at most 9 digits, but got '9999999999'"),
        ("P(cutoff=3)@5", "`measure` must have one cutoff"),
        ("IPrec@1.1", ": recall must be between 0 and 1, but got '1.1'"),
        ("IPrec@-0.1", ": recall must be between 0 and 1"),
        ("Rprec@10", "`measure` Rprec takes nothing after `@`"),
        ("AP(rel=x)", ": rel must be an integer, but got 'x'"),
        ("AP(rel)", r"`measure` must have parameters as in `AP\(rel=2\)`"),
        ("AP(rel=1,rel=2)", "`measure` must have `rel` once"),
        ("SetF(beta=-1)", ": beta must be a number >= 0"),
        ("Q(beta=inf)", "`measure` Q needs a beta that is a number"),
        ("SetF(alpha=1.5)", ": alpha must be between 0 and 1"),
        ("SetF(alpha=.5,beta=1)", "`measure` must have one of `beta` and `alpha`"),
        ("RBP(p=1)", ": p must be at least 0 and below 1, but got '1'"),
        ("ERR(max=0)", ": max must be an integer from 1 to 1000, but got '0'"),
        ("AP(condensed=yes)", ": condensed must be True or False, but got 'yes'"),
        ("AP(condensed,judged_only=True)", "`measure` must have `condensed` once"),
        ("RBP(p=x)", ": p must be at least 0 and below 1"),
        ("nDCG(dcg=ln)", ": dcg must be one of log2, exp-log2, jarvelin, exp-jarvelin, but got"),
        ("SetFallout", r"needs the size of the collection, as in `SetFallout\(docs=100000\)`"),
        ("SetFallout(docs=0)", ": docs must be an integer >= 1"),
    ],
)
def test_text_that_is_no_measure(text: str, message: str) -> None:
    """Each fault is said, with an example of what to type."""
    with pytest.raises(ArgumentError, match=message):
        parse_measure(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ncdg@10", "unknown measure `ncdg`; known: `nCG`, `NDCG`, `nDCG`"),
        ("Precison@5", "unknown measure `Precison`; known: `Precision`"),
        ("AP(level=2)", "unknown parameter of AP `level`; known: `condensed`, `cutoff`, `rel`"),
        ("Judged(judged_only=True)@5", "unknown parameter of Judged `judged_only`; known: "),
        ("statAP(condensed)", "unknown parameter of statAP `condensed`"),
    ],
)
def test_unknown_name_lists_the_known(text: str, message: str) -> None:
    """An unknown measure or parameter is named, the nearest known ones first."""
    with pytest.raises(UnknownNameError, match=message):
        parse_measure(text)


@pytest.mark.parametrize(
    ("codes", "sentences"),
    [
        (kappa.Reason, REASONS),
        (intervals.IntervalReason, REASONS),
        (names.Reason, REASONS),
        (t_tests.TestReason, OF_PAIRS),
        (pairs.TukeyReason, REASONS),
        (generalizability.GeneralizabilityReason, REASONS),
    ],
)
def test_no_code_is_without_its_sentence(codes: Any, sentences: dict[str, str]) -> None:
    """A sentence begins small and ends without a full stop: it stands after the code and a colon."""
    for code in {*get_args(codes)} - {"undefined"}:  # of an interval: the number's own reason is shown
        assert code in sentences, code
        assert not sentences[code].endswith(".")


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
