"""The one rank order, ties at a cut, and the natural order of topics."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from store.errors import ArgumentError
from store.ranking import ORDERS, Order, check_order, rank_order, ties_at_cut
from store.text import natural_key

# Few different scores and short docnos of few characters, so that most rankings have ties and
# docnos that begin alike; -0.0 ties with 0.0.
scores = st.sampled_from([-1.5, -0.0, 0.0, 0.5, 0.5000000001, 1e300]) | st.floats(
    allow_nan=False, allow_infinity=False
)
rows = st.lists(
    st.tuples(st.text("ab0é東😀", max_size=4), scores, st.integers(-3, 5)),
    unique_by=lambda row: row[0],
    max_size=40,
)


def slow_key(order: Order, position: int, row: tuple[str, float, int]) -> tuple[Any, ...]:
    """Give the sort key of a row, straight from the table in the module."""
    docno, score, rank = row
    code = docno.encode()
    # Bytes negated and closed with 1 sort in reverse, longer before shorter.
    reverse = [-byte for byte in code] + [1]
    return {
        "trec": (-score, reverse),
        "trec9": (-ctypes.c_float(score).value, reverse),
        "docno-asc": (-score, list(code)),
        "rank": (rank, position),
        "file": (position,),
    }[order]


@pytest.mark.parametrize("order", ORDERS)
@given(rows=rows)
@example(rows=[])
def test_rank_order_is_the_sort_by_key(order: Order, rows: list[tuple[str, float, int]]) -> None:
    """Every order equals a plain sort by its definition, for text and bytes alike."""
    keyed = sorted(range(len(rows)), key=lambda at: slow_key(order, at, rows[at]))
    docnos = [docno for docno, _, _ in rows]
    values = np.array([score for _, score, _ in rows], dtype=np.float64)
    ranks = np.array([rank for _, _, rank in rows], dtype=np.int64)
    positions = rank_order(docnos, values, ranks, order=order)
    assert positions.tolist() == keyed
    assert positions.dtype == np.int64
    as_bytes = [docno.encode() for docno in docnos]
    assert rank_order(as_bytes, values, ranks, order=order).tolist() == keyed


@given(rows=rows, random=st.randoms(use_true_random=False))
def test_trec_orders_do_not_depend_on_file_order(rows: list[tuple[str, float, int]], random: Any) -> None:
    """Shuffling the lines of a run changes no ranking by score."""
    shuffled = list(rows)
    random.shuffle(shuffled)
    for order in ("trec", "trec9", "docno-asc"):
        ranked = []
        for some in (rows, shuffled):
            docnos = [docno for docno, _, _ in some]
            values = np.array([score for _, score, _ in some], dtype=np.float64)
            ranked.append([docnos[at] for at in rank_order(docnos, values, order=order)])
        assert ranked[0] == ranked[1]


@pytest.mark.vector("trec_eval 10.0: ties a, b with equal scores give b first; 2 before 10")
def test_trec_order_puts_tied_docnos_in_reverse_byte_order() -> None:
    """As trec_eval does with strcmp: "b" before "a", "2" before "10"."""
    docnos = ["a", "b", "10", "2"]
    tied = np.full(4, 0.5)
    assert [docnos[at] for at in rank_order(docnos, tied)] == ["b", "a", "2", "10"]
    ascending = rank_order(docnos, tied, order="docno-asc")
    assert [docnos[at] for at in ascending] == ["10", "2", "a", "b"]


def test_scores_closer_than_single_precision_are_a_tie_to_trec9_only() -> None:
    """1 + 1e-9 is above 1, but both are the same 32-bit float."""
    docnos = ["b", "a"]
    close = np.array([1.0, 1.0 + 1e-9])
    assert rank_order(docnos, close).tolist() == [1, 0]
    assert rank_order(docnos, close, order="docno-asc").tolist() == [1, 0]
    assert rank_order(docnos, close, order="trec9").tolist() == [0, 1]


def test_scores_given_are_not_changed() -> None:
    """The caller's arrays stay as they were."""
    values = np.array([0.5, 0.5, 0.9])
    rank_order(["a", "b", "c"], values)
    assert values.tolist() == [0.5, 0.5, 0.9]


def test_rank_order_needs_ranks() -> None:
    """Without integral stated ranks there is no order by them."""
    with pytest.raises(ArgumentError, match="`order` needs stated ranks that are integers"):
        rank_order(["a"], np.array([1.0]), order="rank")


def test_check_order_knows_every_order() -> None:
    """The option's values are those of the type; anything else is told what there is."""
    assert ORDERS == ("trec", "trec9", "docno-asc", "rank", "file")
    assert [check_order(order) for order in ORDERS] == list(ORDERS)
    with pytest.raises(ArgumentError, match="`order` must be one of trec, trec9, docno-asc,"):
        check_order("TREC")


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1), st.integers(1, 12))
def test_ties_at_cut_are_those_counted_one_by_one(values: list[float], depth: int) -> None:
    """Documents with the score of the last one taken, inside and outside, if any is outside."""
    ordered = sorted(values, reverse=True)
    inside = sum(score == ordered[depth - 1] for score in ordered[:depth]) if depth <= len(ordered) else 0
    outside = sum(score == ordered[depth - 1] for score in ordered[depth:]) if inside else 0
    expected = (inside, outside) if outside else (0, 0)
    assert ties_at_cut(np.array(ordered), depth) == expected


def test_ties_at_cut_beyond_the_ranking_are_none() -> None:
    """A run shorter than the depth, or empty, has no cut."""
    assert ties_at_cut(np.array([1.0, 1.0]), 2) == (0, 0)
    assert ties_at_cut(np.array([]), 1) == (0, 0)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["10", "9", "1", "100", "2"], ["1", "2", "9", "10", "100"]),
        (["T10", "T2", "T1"], ["T1", "T2", "T10"]),
        (["9", "009", "09"], ["009", "09", "9"]),
        (["a1b10", "a1b9", "a01b9"], ["a01b9", "a1b9", "a1b10"]),
        (["b", "a", "A", "1", "é", "東"], ["1", "A", "a", "b", "é", "東"]),
        (["MB10", "MB9", "10", "9"], ["9", "10", "MB9", "MB10"]),
        (["1.5", "1.10", "1"], ["1", "1.5", "1.10"]),
        (["٣", "2", "1"], ["1", "2", "٣"]),
    ],
)
def test_natural_key_orders_numbers_by_value(texts: list[str], expected: list[str]) -> None:
    """Digits compare as numbers, all else bytewise; equal values by their text."""
    assert sorted(texts, key=natural_key) == expected


@given(st.lists(st.text("019aé", max_size=5), unique=True, max_size=6))
def test_natural_key_is_one_order_whatever_comes_first(texts: list[str]) -> None:
    """Any two different texts compare, and sorting does not depend on where they stood."""
    expected = sorted(texts, key=natural_key)
    for some in itertools.islice(itertools.permutations(texts), 24):
        assert sorted(some, key=natural_key) == expected


@given(st.lists(st.integers(0, 10**20), unique=True))
def test_natural_key_of_whole_numbers_is_numeric_order(numbers: list[int]) -> None:
    """Topic numbers sort as numbers, beyond 64 bits too."""
    assert sorted(map(str, numbers), key=natural_key) == [str(number) for number in sorted(numbers)]


def test_natural_key_of_thousands_of_digits_is_a_key() -> None:
    """An id that readers accept can be sorted."""
    assert sorted(["9" * 5000, "1"], key=natural_key) == ["1", "9" * 5000]
