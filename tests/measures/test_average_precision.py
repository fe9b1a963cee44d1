"""Average precision and what follows from it: the paper's tables, fractions, trec_eval."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.measures.average_precision import (
    average_precision,
    expected_average_precision,
    gains,
    least_average_precision,
    mean_average_precision,
    own_n_relevant,
    relevant_ranks,
    swap_effect,
    variance_of_average_precision,
)
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.rankings import RELEVANT
from store.errors import ArgumentError
from tests.helpers.agreement_tables import assert_prints
from tests.helpers.graded_lists import Qrels, Runs, evaluations, in_arrays
from tests.helpers.kishida_tables import N_RELEVANT, TABLE_1, TABLE_2
from tests.helpers.plain_lists import Drawn, drawn_collections


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
def test_strings_of_the_paper() -> None:
    """The AP of its example rankings, R being their own relevant documents; the third is printed short."""
    printed = {"1010": 5 / 6, "0011": 5 / 12, "1110000001": 0.85, "1011100000": 193 / 240}
    for text, expected in printed.items():
        value = average_precision(bits(text), own_n_relevant(bits(text)))
        assert float(value) == pytest.approx(expected, rel=1e-15)


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


def test_topic_without_relevant_documents_has_no_number() -> None:
    """R = 0 is undefined, an empty list with R > 0 is 0, and neither warns."""
    relevant = np.zeros((2, 0), dtype=bool)
    values = average_precision(relevant, np.array([0, 3]))
    assert np.isnan(values[0])
    assert values[1] == 0.0
    assert gains(relevant).shape == (2, 0)


def test_denominator_below_what_was_retrieved_is_refused() -> None:
    """R smaller than the relevant documents in the list would give AP above 1."""
    with pytest.raises(ArgumentError, match="`n_relevant` must be at least the number of relev"):
        average_precision(bits("11"), np.array(1))


@pytest.mark.vector("Kishida 2001, tables 1 and 2: three decimals")
def test_every_cell_of_tables_1_and_2() -> None:
    """Eq. 4 and eq. 5 give every printed digit, and no number where a cell is empty."""
    for table, function, n_cells in (
        (TABLE_1, least_average_precision, 41),
        (TABLE_2, expected_average_precision, 36),
    ):
        values = function(np.array(list(table))[:, None], np.array(N_RELEVANT))
        assert np.count_nonzero(~np.isnan(values)) == n_cells == sum(map(len, table.values()))
        for row, printed in zip(values.tolist(), table.values(), strict=True):
            assert np.isnan(row[len(printed) :]).all()
            for value, digits in zip(row, printed, strict=False):
                assert_prints(digits, value)


@pytest.mark.vector("exact fractions over all orders, and E1 in extended precision: twelve digits")
def test_variance_of_known_lists() -> None:
    """E1 gives the six values computed independently of it."""
    known = {
        (4, 2): 0.040316358025,
        (10, 5): 0.019978111129,
        (100, 10): 0.002875741378,
        (1000, 5): 0.000350607870,
        (1000, 100): 0.000130153714,
        (1000, 500): 0.000249117017,
    }
    lists, relevant = np.array(list(known)).T
    np.testing.assert_allclose(
        variance_of_average_precision(lists, relevant), list(known.values()), atol=5.1e-13, rtol=0
    )


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6])
def test_properties_equal_enumeration(size: int) -> None:
    """Of all orders of a small collection cut at N, least, mean and variance are exact."""
    for n_documents in range(1, size + 1):
        for n_relevant in range(1, size + 1):
            values = [
                slow_precision_sum([place in chosen for place in range(n_documents)]) / n_relevant
                for chosen in itertools.combinations(range(size), n_relevant)
            ]
            mean = sum(values, Fraction(0)) / len(values)
            variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
            given_ = (n_documents, n_relevant, size)
            assert float(least_average_precision(*given_)) == pytest.approx(float(min(values)))
            assert float(expected_average_precision(*given_)) == pytest.approx(float(mean))
            computed = float(variance_of_average_precision(*given_))
            assert computed == pytest.approx(float(variance), abs=1e-14)
    assert variance_of_average_precision(size, size) == 0.0


@given(st.data())
def test_swap_equals_recomputing(data: st.DataObject) -> None:
    """The closed form is AP after the swap less AP before, in both modes of R."""
    order = data.draw(
        st.lists(st.booleans(), min_size=2, max_size=25).filter(lambda drawn: 0 < sum(drawn) < len(drawn))
    )
    relevant = np.array(order)
    old = data.draw(st.sampled_from(np.flatnonzero(relevant).tolist()))
    new = data.draw(st.sampled_from(np.flatnonzero(~relevant).tolist()))
    n_relevant = own_n_relevant(relevant) + data.draw(st.integers(0, 5))
    after = relevant.copy()
    after[[old, new]] = after[[new, old]]
    expected = average_precision(after, n_relevant) - average_precision(relevant, n_relevant)
    change = float(swap_effect(relevant, n_relevant, old + 1, new + 1))
    assert change == pytest.approx(float(expected), abs=1e-13)
    assert (change > 0) == (new < old)


@pytest.mark.vector("Kishida 2001, section 2.2.3, corrected: S falls by 1/3")
def test_swap_of_the_paper() -> None:
    """11000 to 10100 loses 1/3 of S: taking eq. 6 twice on the first ranking would say 0."""
    lists = np.array([[True, True, False, False, False]] * 2)
    np.testing.assert_allclose(swap_effect(lists, np.array([2, 4]), 2, 3), [-1 / 6, -1 / 12], rtol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "`n_documents` must hold integers >= 1, but got 0"),
        ((5, -1), "`n_relevant` must hold integers >= 0"),
        ((5, 1.5), "`n_relevant` must hold integers"),
        ((5, 1, 4), "`collection_size` must be at least `n_documents`"),
    ],
)
def test_lists_that_cannot_be_are_refused(arguments: tuple[int, ...], message: str) -> None:
    """Each argument outside its range is named."""
    for function in (least_average_precision, expected_average_precision):
        with pytest.raises(ArgumentError, match=message):
            function(*arguments)


@pytest.mark.parametrize(
    ("n_relevant", "old", "new", "message"),
    [
        (1, 1, 3, "`n_relevant` must be at least the number of relevant"),
        (2, 3, 1, "`from_rank` must hold a document that is relevant, but got 3"),
        (2, 1, 2, "`to_rank` must hold a document that is not relevant, but got 2"),
        (2, 1, 4, "`to_rank` must be at most 3"),
        (2, 0, 3, "`from_rank` must hold integers >= 1"),
    ],
)
def test_swap_of_the_wrong_documents_is_refused(n_relevant: int, old: int, new: int, message: str) -> None:
    """A swap takes a relevant document and one that is not."""
    with pytest.raises(ArgumentError, match=message):
        swap_effect(np.array([True, True, False]), n_relevant, old, new)


@given(evaluations())
def test_gmap_is_that_of_trec_eval(evaluation: tuple[Qrels, Runs]) -> None:
    """By topic it is the logarithm of AP, over topics the exponential of the mean."""
    import pytrec_eval

    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs)
    (scores,) = evaluate(rankings, [parse_measure("gm_map")])
    for run, tag in enumerate(rankings.tags):
        found = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map"}).evaluate(runs[tag])
        theirs = [found[topic]["gm_map"] for topic in rankings.topics]
        np.testing.assert_allclose(scores.values[run], theirs, rtol=1e-12, atol=1e-14)
        overall = pytrec_eval.compute_aggregated_measure("gm_map", theirs)
        assert scores.overall[run] == pytest.approx(overall, rel=1e-12)


def test_a_topic_where_nothing_was_found_counts_as_a_hundred_thousandth() -> None:
    """AP of 1, 1/4 and 0, and no AP: the cube root of 1 * 1/4 * .00001 over three topics."""
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}, "4": {"a": 0}}
    runs = {"x": {"1": {"a": 1.0}, "2": {"b": 4.0, "c": 3.0, "d": 2.0, "a": 1.0}, "4": {"a": 1.0}}}
    (scores,) = evaluate(in_arrays(qrels, runs), [parse_measure("GMAP")])
    assert scores.overall.item() == pytest.approx((0.25 * 0.00001) ** (1 / 3), rel=1e-14)
    assert (scores.n_defined.item(), scores.reason(0, 3)) == (3, "no-relevant")


@given(drawn_collections(), st.data())
def test_map_is_that_of_judgements_without_the_unknown_documents(drawn: Drawn, data: st.DataObject) -> None:
    """Whatever is known, MAP is average precision of the ranks that hold a known document."""
    arrays = drawn.arrays()
    n_relevant = int(arrays.n_relevant.sum())
    known = np.array(data.draw(st.lists(st.booleans(), min_size=n_relevant, max_size=n_relevant)), np.bool_)
    numbers = iter(range(known.size))
    relevant = np.zeros(arrays.documents.shape, np.bool_)
    n_known = np.zeros(len(arrays.topics), np.int64)
    for topic, states in enumerate(arrays.states):
        for code in np.flatnonzero(states == RELEVANT):
            if known[next(numbers)]:
                relevant[:, topic] |= arrays.documents[:, topic] == code
                n_known[topic] += 1
    expected, n_defined = mean_average_precision(average_precision(relevant, n_known[None, :]))
    got, n_topics = relevant_ranks(arrays).mean_average_precision(known)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14, equal_nan=True)
    assert n_topics.tolist() == n_defined.tolist()
