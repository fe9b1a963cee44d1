"""Measures by name: equal to trec_eval and ir_measures, official scores, reasons."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score

from store.analysis.measures.confusion import confusion_at, f_measure, fallout
from store.analysis.measures.names import MEASURES, MeasureName, Scores, evaluate, parse_measure
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError, UnknownNameError
from tests.store.analysis.measures.incomplete import in_arrays
from tests.trec_covid import leaderboard, load_qrels, load_rankings

Qrels = dict[str, dict[str, int]]
Runs = dict[str, dict[str, dict[str, float]]]
DOCNOS = [f"d{number}" for number in range(12)]


def score(rankings: GradedRankings, text: str, level: int = 1) -> Scores:
    """Evaluate one measure."""
    (scores,) = evaluate(rankings, [parse_measure(text, level=level)])
    return scores


@st.composite
def evaluations(draw: st.DrawFn, *, ties: bool) -> tuple[Qrels, Runs]:
    """Draw qrels of grades -2 to 3 with something relevant in every topic, and two runs."""
    topics = [f"t{number}" for number in range(draw(st.integers(1, 3)))]
    qrels: Qrels = {}
    runs: Runs = {"a": {}, "b": {}}
    for topic in topics:
        grades = draw(st.dictionaries(st.sampled_from(DOCNOS), st.integers(-2, 3)))
        qrels[topic] = grades | {draw(st.sampled_from(DOCNOS)): draw(st.integers(1, 3))}
        for by_topic in runs.values():
            docnos = draw(st.lists(st.sampled_from(DOCNOS), min_size=1, unique=True))
            scores = draw(
                st.lists(st.integers(0, 3), min_size=12, max_size=12) if ties else st.permutations(range(12))
            )
            by_topic[topic] = {docno: float(value) for docno, value in zip(docnos, scores, strict=False)}
    return qrels, runs


TREC_EVAL = {
    "AP": "map", "AP@5": "map_cut_5", "P@5": "P_5", "P@10": "P_10", "R@5": "recall_5",
    "R@10": "recall_10", "Rprec": "Rprec", "RR": "recip_rank", "Success@1": "success_1",
    "Success@5": "success_5", "nDCG": "ndcg", "nDCG@5": "ndcg_cut_5", "SetP": "set_P",
    "SetR": "set_recall", "SetF": "set_F", "NumRet": "num_ret", "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret", "IPrec@0.5": "iprec_at_recall_0.50",
    "IPrec@1": "iprec_at_recall_1.00",
}  # fmt: skip


@given(evaluations(ties=True), st.integers(1, 3))
def test_measures_equal_trec_eval(evaluation: tuple[Qrels, Runs], level: int) -> None:
    """In order trec9, ties included, each measure is trec_eval's on every topic of every run."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs, order="trec9")
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels,
        {
            "map", "map_cut.5", "P.5,10", "recall.5,10", "Rprec", "recip_rank", "success.1,5",
            "ndcg", "ndcg_cut.5", "set_P", "set_recall", "set_F", "num_ret", "num_rel",
            "num_rel_ret", "iprec_at_recall.0.5,1.0",
        },
        relevance_level=level,
    )  # fmt: skip
    theirs = {tag: evaluator.evaluate(runs[tag]) for tag in rankings.tags}
    for text, name in TREC_EVAL.items():
        scores = score(rankings, text, level)
        for run, tag in enumerate(rankings.tags):
            for column, topic in enumerate(rankings.topics):
                value = scores.values[run, column]
                if scores.reason(run, column) == "no-relevant":
                    # trec_eval has no undefined value.
                    assert np.isnan(value)
                    value = 0.0
                expected = theirs[tag][topic][name]
                assert value == pytest.approx(expected, rel=1e-13, abs=1e-15), text


@given(evaluations(ties=False))
def test_measures_equal_ir_measures(evaluation: tuple[Qrels, Runs]) -> None:
    """Without ties, each name means what it means to ir_measures, and so does its mean or sum."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs, order="trec")
    texts = [
        "AP(rel=2)", "AP@3", "P(rel=2)@3", "R@2", "Rprec", "RR@2", "RR(rel=3)", "Success(rel=2)@3",
        "nDCG@3", "Judged@4", "Judged", "SetP", "SetR(rel=2)", "SetF", "NumRet", "NumRelRet",
        "NumRel",
    ]  # fmt: skip
    for text in texts:
        measure = ir_measures.parse_measure(text)
        scores = score(rankings, text)
        for run, tag in enumerate(rankings.tags):
            found = measure.calc(qrels, runs[tag])
            per_topic = {metric.query_id: metric.value for metric in found.per_query}
            ours = np.nan_to_num(scores.values[run])
            expected = [per_topic[topic] for topic in rankings.topics]
            np.testing.assert_allclose(ours, expected, rtol=1e-13, atol=1e-15, err_msg=text)
            if not np.isnan(scores.values[run]).any():
                overall = float(scores.overall[run])
                assert overall == pytest.approx(found.aggregated, rel=1e-13, abs=1e-15), text


@given(evaluations(ties=False))
def test_unsquared_beta_is_trec_evals(evaluation: tuple[Qrels, Runs]) -> None:
    """The SetF(beta=4.0) of ir_measures is ours with beta 2: trec_eval does not square it. Inf is recall."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs, order="trec")
    theirs = ir_measures.parse_measure("SetF(beta=4.0)").calc(qrels, runs["a"]).per_query
    expected = {metric.query_id: metric.value for metric in theirs}
    of_recall = (score(rankings, name).values for name in ("SetF(beta=inf)", "SetR"))
    np.testing.assert_allclose(*of_recall, rtol=1e-15)
    values = score(rankings, "SetF(beta=2)").values[0]
    np.testing.assert_allclose(values, [expected[topic] for topic in rankings.topics], rtol=1e-13)


@given(evaluations(ties=False))
def test_exponential_gain_equals_scikit_learn(evaluation: tuple[Qrels, Runs]) -> None:
    """With exp-log2, nDCG is scikit-learn's DCG of the run over its DCG of the judged."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs, order="trec")
    values = score(rankings, "nDCG(dcg='exp-log2')").values[0]
    for column, topic in enumerate(rankings.topics):
        scores, grades = runs["a"][topic], qrels[topic]
        worth = [2 ** max(0, grades.get(docno, 0)) - 1 for docno in DOCNOS]
        found = [gain if docno in scores else 0 for gain, docno in zip(worth, DOCNOS, strict=True)]
        placed = [scores.get(docno, -1.0) for docno in DOCNOS]
        expected = dcg_score([found], [placed]) / dcg_score([worth], [worth])
        assert values[column] == pytest.approx(expected, rel=1e-13)


def test_official_scores_of_trec_covid() -> None:
    """nDCG@10 and P@5 of all 143 runs are the leaderboard's four decimals, in order trec9."""
    # In double precision, documents of BERT are not tied that official scoring saw as tied.
    lists, qrels = load_rankings("runs-top120", "trec9"), load_qrels()
    runs: Runs = {}
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


@pytest.mark.vector("slides, average precision and the two lists of figure 1.3")
def test_lists_of_the_slides() -> None:
    """AP of ranks 1 and 4 is the printed .75; ++--+-+- has .7929 and break-even .5 by hand."""
    labels = {"1": "+--+--", "2": "++--+-+-", "3": "++++----"}
    qrels = {t: {f"d{i}": int(x == "+") for i, x in enumerate(row)} for t, row in labels.items()}
    runs = {"a": {t: {f"d{i}": -float(i) for i in range(len(row))} for t, row in labels.items()}}
    rankings = in_arrays(qrels, runs, order="trec")
    by_hand = (1 + 1 + 3 / 5 + 4 / 7) / 4
    assert by_hand == pytest.approx(0.792857142857, abs=5e-13)
    np.testing.assert_allclose(score(rankings, "AP").values[0], [0.75, by_hand, 1.0], rtol=1e-15)
    assert score(rankings, "BreakEven").values[0].tolist() == [0.5, 0.5, 1.0]
    assert score(rankings, "Accuracy").values[0].tolist() == [6 / 8, 11 / 16, 1.0]


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


def test_several_measures_are_those_of_each_alone() -> None:
    """Evaluating together changes nothing, and keeps the order asked for."""
    rankings = in_arrays(SMALL, SMALL_RUNS, order="trec")
    names = [parse_measure(text) for text in ("P@2", "AP(rel=2)", "AP", "nDCG@2", "AP(rel=2)")]
    for name, scores in zip(names, evaluate(rankings, names), strict=True):
        assert scores.measure == name
        np.testing.assert_array_equal(scores.values, score(rankings, str(name)).values)


def test_set_measures_are_those_of_the_table() -> None:
    """SetF by alpha and SetFallout are the functions of the confusion table."""
    rankings = in_arrays(SMALL, SMALL_RUNS, order="trec")
    table = confusion_at(rankings.relevant(1), rankings.n_relevant(1), rankings.lengths, n_documents=50)
    np.testing.assert_array_equal(score(rankings, "SetFallout(docs=50)").values, fallout(table))
    weighted = f_measure(2 / 3, 2 / 3, alpha=0.25)
    assert score(rankings, "SetF(alpha=0.25)").values[0, 0] == pytest.approx(float(weighted))


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
