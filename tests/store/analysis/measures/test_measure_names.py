"""Names of measures: read as ir_measures reads them, and errors that say what there is."""

from __future__ import annotations

from fractions import Fraction

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.names import ALIASES, MEASURES, MeasureName, evaluate, parse_measure
from store.analysis.rankings import graded_rankings
from store.errors import ArgumentError, PoolerError, UnknownNameError

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
    assert str(parse_measure(text)) == repr(ir_measures.parse_measure(text.strip()))


def test_aliases_are_those_of_ir_measures() -> None:
    """Every alias is one there, of the same measure."""
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
        ("gm_map", "GMAP"), ("err@20", "ERR@20"), ("nDCG(judged_only=True)@10", "nDCG(condensed)@10"),
        ("AP@5(condensed)", "AP(condensed)@5"), ("AP(judged_only=False)", "AP"), ("ERR(max=4)", "ERR"),
        ("F@3", "SetF@3"), ("e", "SetE"), ("auc", "Accuracy"), ("F(beta=inf)", "SetF(beta=inf)"),
    ],
)  # fmt: skip
def test_names_of_other_programs_are_known(text: str, ours: str) -> None:
    """What means the very same is read, in any case."""
    assert str(parse_measure(text)) == ours


@pytest.mark.parametrize(
    ("theirs", "name"),
    [
        ("map", "map"), ("Rprec", "rprec"), ("recip_rank", "recip_rank"), ("bpref", "bpref"),
        ("P.5", "P_5"), ("recall.5", "recall_5"), ("success.5", "success_5"),
        ("ndcg", "ndcg"), ("ndcg_cut.5", "ndcg_cut_5"), ("map_cut.5", "map_cut_5"),
        ("set_F", "set_F"), ("set_P", "set_P"), ("set_recall", "set_recall"),
        ("num_ret", "num_ret"), ("num_rel", "num_rel"), ("num_rel_ret", "num_rel_ret"),
        ("infAP", "infAP"), ("11pt_avg", "11pt_avg"),
        ("iprec_at_recall.0.70", "iprec_at_recall_0.70"), ("iprec_at_recall.0.25", "IPrec@0.25"),
    ],
)  # fmt: skip
def test_a_name_of_trec_eval_is_worth_what_trec_eval_says(theirs: str, name: str) -> None:
    """On one topic with graded, unjudged and missing documents, pytrec_eval has the same number."""
    ranked = [f"d{number}" for number in range(12)]
    grades = {"d0": 0, "d1": 2, "d3": 1, "d4": 0, "d6": 3, "d9": 1, "x": 2, "y": 1}
    run = {"t": {docno: 20.0 - place for place, docno in enumerate(ranked)}}
    found = pytrec_eval.RelevanceEvaluator({"t": grades}, {theirs}).evaluate(run)["t"]
    numbers = {docno: place for place, docno in enumerate([*ranked, "x", "y"])}
    rankings = graded_rankings(
        ["t"],
        ["run"],
        {("run", "t"): np.arange(len(ranked))},
        {"t": (np.array([*map(numbers.__getitem__, grades)]), np.array([*grades.values()]))},
        cutoff=1000,
    )
    (scores,) = evaluate(rankings, [parse_measure(name)])
    assert scores.values[0, 0] == pytest.approx(found[theirs.replace(".", "_", 1)], abs=1e-12)


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


@given(st.text(max_size=20) | st.lists(st.sampled_from([*"P(rel=2)@10,'.- ", "nDCG"])).map("".join))
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
        ("P@9999999999", ": cutoff must be an integer >= 1"),
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
