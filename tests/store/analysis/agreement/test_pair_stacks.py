"""Stacks of pairs and all judges together: the same as one table at a time, intervals too."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.intervals import topic_bootstrap
from store.analysis.agreement.kappa import macro_overlap
from store.analysis.agreement.many import all_judges, all_judges_by_topic, many_coefficient
from store.analysis.agreement.tables import (
    all_pair_stacks,
    binary_stack,
    coefficients,
    pair_intervals,
    pair_tables,
    reasons,
    sharing_pairs,
    stacks_of,
)
from store.analysis.agreement.votes import (
    Cells,
    PopulationVotes,
    collapse_table,
    grade_counts,
    population_votes,
)
from tests.store.analysis.agreement.exact import cohen_kappa, pair_coefficient, relevant_in

SCALE = (0, 1, 3)
JUDGES = ("ann", "bob", "cy")
N_DOCUMENTS = 6

plain_cells = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, N_DOCUMENTS - 1), st.integers(0, 2)),
    st.integers(0, 2),
    max_size=40,
)


def population_of(plain: dict[tuple[int, int, int], int]) -> PopulationVotes:
    """Take plain grades as judgements."""
    plain = {**plain, **{(0, 0, judge): 0 for judge in range(3)}}
    rows = np.array([(*key, place) for key, place in plain.items()], dtype=np.int64)
    return population_votes(Cells(("1", "2", "3", "4"), JUDGES, SCALE, *rows.T))


@given(plain=plain_cells)
def test_stack_of_all_pairs_equals_one_pair_at_a_time(plain: dict[tuple[int, int, int], int]) -> None:
    """Tables, macro overlaps and every coefficient are those of each pair's own tables."""
    population = population_of(plain)
    stacks = all_pair_stacks(population, [1, 2])
    assert [stack.level_index for stack in stacks] == [None, 1, 2]
    for number, (first, second) in enumerate(combinations(JUDGES, 2)):
        tables = pair_tables(population.votes, first, second)
        for stack in stacks:
            level = stack.level_index
            own = tables if level is None else collapse_table(tables, level)
            assert stack.topic_tables(number).tolist() == own.tolist()
            assert stack.tables[number].tolist() == own.sum(axis=0).tolist()
            columns = coefficients(stack.tables, binary=level is not None)
            for name in ("kappa", "pi", "s", "ac1", "alpha_nominal"):
                exact = pair_coefficient(name, own.sum(axis=0))  # type: ignore[arg-type]  # a name
                got = columns[name][number]
                assert np.isnan(got) if exact.value is None else got == pytest.approx(exact.value)
                if name == "kappa":
                    reason = reasons(stack.tables, columns)[number]
                    assert (exact.reason or "") in (reason or "")
            if stack.overlaps is not None:
                expected = macro_overlap(relevant_in(own))
                total, count = stack.overlaps[number].tolist()
                assert count == expected.n_topics
                assert total == pytest.approx((expected.value or 0) * count)


def test_pairs_that_share_a_document_are_kept_with_their_own_topics() -> None:
    """Of ann, bob, cy and dee the pairs are AB AC AD BC BD CD; AD and BC share documents."""
    judges = ("ann", "bob", "cy", "dee")
    # Topic 1: ann 0 and dee 1 on a document, bob 1 alone; topic 2: bob 2 and cy 2.
    rows = np.array([(0, 0, 0, 0), (0, 0, 3, 1), (0, 1, 1, 1), (1, 2, 1, 2), (1, 2, 2, 2)])
    population = population_votes(Cells(("1", "2"), judges, SCALE, *rows.T))
    stacks, numbers = sharing_pairs(all_pair_stacks(population, [1, 2]))
    assert numbers == [2, 3]
    graded, at_1, at_3 = stacks
    assert [np.argwhere(table).tolist() for table in graded.tables] == [[[0, 1]], [[2, 2]]]
    assert graded.topic_tables(0)[0].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert graded.topic_tables(1)[1].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert at_1.topic_tables(0)[0].tolist() == [[0, 1], [0, 0]]
    assert at_1.overlaps is not None
    # AD: relevant to one of them, overlap 0 in one topic; BC: relevant to both, 1 in one topic.
    assert at_1.overlaps.tolist() == [[0, 1], [1, 1]]
    assert at_3.overlaps is not None
    # Nothing is relevant to A or D at grade 3, so no topic has an overlap.
    assert at_3.overlaps.tolist() == [[0, 0], [1, 1]]


def test_pairs_of_a_crowd_that_share_nothing_are_none() -> None:
    """No stack has a row then, and each of its coefficients is empty."""
    rows = np.array([(0, judge, judge, 1) for judge in range(3)])
    stacks, numbers = sharing_pairs(
        all_pair_stacks(population_votes(Cells(("1",), JUDGES, SCALE, *rows.T)), [1])
    )
    assert numbers == []
    assert [len(stack.tables) for stack in stacks] == [0, 0]
    assert coefficients(stacks[0].tables, binary=False)["kappa"].shape == (0,)
    assert sharing_pairs([]) == ([], [])


def test_reasons_tell_everything_that_is_undefined() -> None:
    """No document, one document, one grade, nothing relevant: each has its code."""
    tables = np.array(
        [
            [[0, 0], [0, 0]],
            [[1, 0], [0, 0]],
            [[0, 0], [0, 1]],
            [[5, 0], [0, 0]],
            [[0, 0], [0, 5]],
            [[2, 1], [0, 3]],
        ]
    )
    assert reasons(tables, coefficients(tables, binary=True)) == [
        "no-common-docs",
        "one-doc, no-relevant",
        "one-doc",
        "single-grade, no-relevant",
        "single-grade",
        None,
    ]


def make_tables(n_topics: int = 30) -> Any:
    """Make the tables of one pair on three grades."""
    rng = np.random.default_rng(5)
    return rng.multinomial(20, [0.3, 0.1, 0.02, 0.1, 0.2, 0.08, 0.0, 0.05, 0.15], n_topics).reshape(
        n_topics, 3, 3
    )


def test_topic_intervals_are_those_of_each_coefficient_alone() -> None:
    """Resampling all coefficients of a pair at once gives what each has by itself."""
    tables = make_tables()
    stacks = stacks_of(tables[np.newaxis], [2])
    graded, binary = pair_intervals(stacks, 0, "topic", resamples=500, seed=3)

    def kappa_at_2(sums: Any) -> Any:
        return [cohen_kappa(collapse_table(one.astype(np.int64), 2)).value for one in sums]

    alone = topic_bootstrap(tables, kappa_at_2, seed=3, resamples=500)
    assert binary["kappa"].low == pytest.approx(alone.low, abs=1e-12)
    assert binary["kappa"].high == pytest.approx(alone.high, abs=1e-12)
    assert set(graded) == {"kappa", "quadratic"}
    assert set(binary) == {"kappa", "macro_overlap"}


def test_asymptotic_interval_is_two_standard_errors_wide() -> None:
    """The interval from the standard error is kappa -+ 1.96 errors, as the error is defined."""
    tables = make_tables()
    [graded] = pair_intervals(stacks_of(tables[np.newaxis], []), 0, "asymptotic", resamples=1, seed=0)
    exact = cohen_kappa(tables.sum(axis=0), "quadratic")
    assert exact.value is not None
    assert exact.standard_error is not None
    width = 2 * 1.959964 * exact.standard_error
    assert graded["quadratic"].width == pytest.approx(width, rel=1e-6)
    [item] = pair_intervals(stacks_of(tables[np.newaxis], []), 0, "item", resamples=4000, seed=0)
    assert item["quadratic"].width == pytest.approx(width, rel=0.1)


def test_binary_tables_stand_at_their_level() -> None:
    """Tables that are binary already keep the level they were made at."""
    stack = binary_stack(np.array([[[[3, 1], [0, 2]]]]), 2)
    assert (stack.level_index, stack.tables.tolist()) == (2, [[[3, 1], [0, 2]]])
    assert stack.overlaps is not None
    assert stack.overlaps.tolist() == [[2 / 3, 1.0]]


@given(plain=plain_cells, level=st.sampled_from([None, 1, 2]))
def test_all_judges_equal_the_exact_coefficients(
    plain: dict[tuple[int, int, int], int], level: int | None
) -> None:
    """A missing number has the same reason."""
    population = population_of(plain)
    full = (population if level is None else population.collapsed(level)).votes
    for one in all_judges(population, level, "none", resamples=1, seed=0):
        if one.name in ("raw", "macro_overlap"):
            continue
        if one.name == "positive":
            found = [(yes, yes + no) for no, yes in grade_counts(full).tolist() if yes + no > 1]
            pairs = sum(yes * (of - 1) for yes, of in found)
            same = sum(yes * (yes - 1) for yes, of in found)
            assert one.value == (pytest.approx(same / pairs, abs=1e-12) if pairs else None)
            assert (one.reason == "no-relevant") == (bool(found) and not pairs)
            continue
        values = SCALE if one.name == "alpha_interval" and level is None else None
        exact = many_coefficient(one.name, full, values=values)  # type: ignore[arg-type]  # a name
        assert (one.reason, one.n_documents) == (exact.reason, exact.n_documents)
        if exact.value is not None:
            assert one.value == pytest.approx(exact.value, abs=1e-12)


def test_item_bootstrap_of_all_judges_agrees_with_the_standard_error() -> None:
    """Documents resampled by pattern give an interval as wide as the asymptotic one."""
    rng = np.random.default_rng(2)
    plain = {
        (0, document, judge): int(np.clip(document % 3 + rng.choice([-1, 0, 1]), 0, 2))
        for document in range(400)
        for judge in range(3)
    }
    rows = np.array([(*key, place) for key, place in plain.items()], dtype=np.int64)
    population = population_votes(Cells(("1",), JUDGES, SCALE, *rows.T))
    item = {one.name: one.interval for one in all_judges(population, None, "item", resamples=2000, seed=1)}
    error = {
        one.name: one.interval for one in all_judges(population, None, "asymptotic", resamples=1, seed=1)
    }
    for name in ("fleiss", "quadratic", "ac1"):
        by_item, by_error = item[name], error[name]
        assert by_item is not None
        assert by_error is not None
        assert by_item.width == pytest.approx(by_error.width, rel=0.15)


def test_topics_of_all_judges_stand_alone() -> None:
    """Each topic's numbers are its own; a topic without shared documents has none."""
    plain = {
        (topic, d, j): (d + j * (topic == 1)) % 3 for topic in (0, 1) for d in range(6) for j in range(3)
    }
    population = population_of({**plain, (2, 0, 0): 1})
    found = all_judges_by_topic(population, None)
    assert list(found) == ["1", "2"]
    assert {one.name: one.value for one in found["1"]}["fleiss"] == 1.0
    [overlap] = [one for one in all_judges_by_topic(population, 1)["1"] if one.name == "macro_overlap"]
    assert (overlap.value, overlap.n_topics) == (1.0, 1)
