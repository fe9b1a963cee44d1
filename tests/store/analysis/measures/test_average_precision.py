"""Average precision, the gain of one more relevant document, and the mean over topics."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.measures.average_precision import (
    average_precision,
    check_r_mode,
    gains,
    mean_average_precision,
    own_n_relevant,
    precision_sum,
)
from store.analysis.rankings import judged_rankings
from store.errors import ArgumentError
from tests.trec_covid import covid_arrays, leaderboard


def bits(text: str) -> NDArray[np.bool_]:
    """Read a string of ones and zeros, the first rank first."""
    return np.array([letter == "1" for letter in text])


def slow_precision_sum(relevant: list[bool]) -> Fraction:
    """Add up the precision at each relevant rank, exactly."""
    total = Fraction(0)
    for rank in range(1, len(relevant) + 1):
        if relevant[rank - 1]:
            total += Fraction(sum(relevant[:rank]), rank)
    return total


@pytest.mark.vector("Kishida 2001, sections 2.1 and 2.2.3")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1010", Fraction(5, 6)),
        ("0011", Fraction(5, 12)),
        # Printed with nine characters; ten are meant, N = 10.
        ("1110000001", Fraction(85, 100)),
        ("1011100000", Fraction(193, 240)),
    ],
)
def test_strings_of_the_paper(text: str, expected: Fraction) -> None:
    """The AP of the paper's example rankings comes out, R being their own relevant documents."""
    relevant = bits(text)
    value = average_precision(relevant, own_n_relevant(relevant))
    assert float(value) == pytest.approx(float(expected), rel=1e-15)


def test_gains_of_a_worked_example() -> None:
    """Relevant at ranks 1, 3 and 6 of 10: S = 13/6, and the gain at each rank is as by hand."""
    relevant = bits("1010010000")
    # S = 1/1 + 2/3 + 3/6
    assert float(precision_sum(relevant)) == pytest.approx(13 / 6, rel=1e-15)
    expected = [
        1 + 1 / 3 + 1 / 6,  # (1 + 0)/1 + 1/3 + 1/6
        2 / 2 + 1 / 3 + 1 / 6,
        2 / 3 + 1 / 6,
        3 / 4 + 1 / 6,
        3 / 5 + 1 / 6,
        3 / 6,
        4 / 7,
        4 / 8,
        4 / 9,
        4 / 10,
    ]
    np.testing.assert_allclose(gains(relevant), expected, rtol=1e-15)
    # Two documents at once interact: flips 2 and 7 give S + g_2 + g_7 + 1/7, AP .7301587 of 6.
    both = bits("1110011000")
    by_hand = 13 / 6 + expected[1] + expected[6] + 1 / 7
    assert float(precision_sum(both)) == pytest.approx(by_hand, rel=1e-15)
    assert float(average_precision(both, np.array(6))) == pytest.approx(0.7301587, abs=5e-8)


@given(st.lists(st.booleans(), max_size=30), st.integers(0, 5))
def test_average_precision_equals_a_plain_loop(relevant: list[bool], unretrieved: int) -> None:
    """AP is the exact sum over relevant ranks, divided by R."""
    n_relevant = sum(relevant) + unretrieved
    value = float(average_precision(np.array(relevant, dtype=bool), np.array(n_relevant)))
    if n_relevant == 0:
        assert np.isnan(value)
    else:
        expected = slow_precision_sum(relevant) / n_relevant
        assert value == pytest.approx(float(expected), rel=1e-14)
        assert 0 <= value <= 1


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_gain_is_the_change_of_the_sum(relevant: list[bool]) -> None:
    """The gain at every rank is S with the document relevant less S with it not relevant."""
    computed = gains(np.array(relevant))
    for rank, gain in enumerate(computed.tolist()):
        with_it, without = relevant.copy(), relevant.copy()
        with_it[rank], without[rank] = True, False
        expected = slow_precision_sum(with_it) - slow_precision_sum(without)
        assert gain == pytest.approx(float(expected), rel=1e-14)
    assert np.all(np.diff(computed[~np.array(relevant)]) < 0)


@given(st.integers(1, 2000))
def test_perfect_list_has_exactly_one(n_relevant: int) -> None:
    """A list of relevant documents only has AP 1, not 1 less a rounding error."""
    assert average_precision(np.ones(n_relevant, dtype=bool), np.array(n_relevant)) == 1.0


@st.composite
def evaluations(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Draw qrels with a relevant document in every topic, and runs with distinct scores."""
    topics = [f"t{number}" for number in range(draw(st.integers(1, 3)))]
    docnos = [f"d{number}" for number in range(12)]
    qrels, runs = {}, {}
    for topic in topics:
        grades = draw(st.dictionaries(st.sampled_from(docnos), st.integers(0, 2)))
        qrels[topic] = grades | {draw(st.sampled_from(docnos)): 1}
    for tag in ("a", "b"):
        runs[tag] = {
            topic: {
                docno: float(score)
                for docno, score in zip(
                    draw(st.lists(st.sampled_from(docnos), min_size=1, unique=True)),
                    draw(st.permutations(range(len(docnos)))),
                    strict=False,
                )
            }
            for topic in topics
        }
    return qrels, runs


@given(evaluations())
def test_average_precision_equals_trec_eval(
    evaluation: tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]],
) -> None:
    """Over the pool's R, AP of every run and topic and MAP are those of trec_eval."""
    qrels, runs = evaluation
    topics = sorted(qrels)
    arrays = judged_rankings(
        topics,
        sorted(runs),
        {
            (tag, topic): np.array([int(d[1:]) for d in sorted(scores, key=lambda d: -scores[d])])
            for tag, by_topic in runs.items()
            for topic, scores in by_topic.items()
        },
        {
            topic: (
                np.array([int(docno[1:]) for docno in grades]),
                np.array([grade >= 1 for grade in grades.values()]),
            )
            for topic, grades in qrels.items()
        },
        cutoff=1000,
    )
    ours = average_precision(arrays.relevant(), arrays.n_relevant)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map"})
    for row, tag in enumerate(sorted(runs)):
        theirs = evaluator.evaluate(runs[tag])
        expected = [theirs[topic]["map"] for topic in topics]
        np.testing.assert_allclose(ours[row], expected, rtol=1e-14)
        mean, n_defined = mean_average_precision(ours[row])
        assert float(mean) == pytest.approx(sum(expected) / len(topics), rel=1e-14)
        assert n_defined == len(topics)


def test_whole_runs_have_their_official_scores() -> None:
    """MAP of the 14 whole TREC-COVID runs is the official four decimals, in order trec9."""
    # In double precision, documents of BERT are not tied that official scoring saw as tied.
    arrays = covid_arrays("runs-full", "trec9", 1000)
    mean, n_defined = mean_average_precision(average_precision(arrays.relevant(), arrays.n_relevant))
    assert n_defined.tolist() == [30] * 14
    for tag, value in zip(arrays.tags, mean.tolist(), strict=True):
        assert value == pytest.approx(float(leaderboard()[tag]["MAP"]), abs=5.001e-5), tag


def test_topic_without_relevant_documents_has_no_number() -> None:
    """R = 0 is undefined, an empty list with R > 0 is 0, and neither warns."""
    relevant = np.zeros((2, 0), dtype=bool)
    values = average_precision(relevant, np.array([0, 3]))
    assert np.isnan(values[0])
    assert values[1] == 0.0
    assert gains(relevant).shape == (2, 0)


def test_mean_is_over_the_defined_topics() -> None:
    """MAP leaves undefined topics out and says how many are left; none left is undefined."""
    mean, n_defined = mean_average_precision(
        np.array([[0.5, np.nan, 0.25], [np.nan, np.nan, np.nan], [0.0, 0.0, 0.0]])
    )
    np.testing.assert_array_equal(mean, [0.375, np.nan, 0.0])
    assert n_defined.tolist() == [2, 0, 3]


def test_denominator_of_a_topic_serves_all_runs() -> None:
    """R given once a topic is used for every run: strings 10 and 01 with R = 2 and R = 1."""
    relevant = np.array([[bits("10"), bits("10")], [bits("01"), bits("00")]])
    expected = [[1 / 2, 1 / 1], [1 / 4, 0.0]]
    np.testing.assert_array_equal(average_precision(relevant, np.array([2, 1])), expected)


def test_denominator_below_what_was_retrieved_is_refused() -> None:
    """R smaller than the relevant documents in the list would give AP above 1."""
    with pytest.raises(ArgumentError, match="`n_relevant` must be at least the number of relev"):
        average_precision(bits("11"), np.array(1))


def test_unknown_r_mode_is_refused() -> None:
    """R has two modes, and the message names them."""
    with pytest.raises(ArgumentError, match="`r_mode` must be one of pool, own, but got 'all'"):
        check_r_mode("all")
    assert check_r_mode("own") == "own"
