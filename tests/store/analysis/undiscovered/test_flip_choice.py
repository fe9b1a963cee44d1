"""Which unjudged documents are supposed relevant."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from store.analysis.rankings import NOT_RETRIEVED, UNJUDGED
from store.analysis.undiscovered.flips import AT, ENDED, JUDGED, NO_RUN, check_at, choose_flips
from store.errors import ArgumentError
from tests.store.analysis.plain_lists import plain_ap

pair_states = st.integers(0, 9).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([-1, -1, 0, 1]), max_size=width).map(
            lambda row: row + [NOT_RETRIEVED] * (width - len(row))
        ),
        min_size=1,
        max_size=3,
    )
)


@given(pair_states, st.sampled_from(AT), st.integers(1, 6), st.integers(1, 4))
def test_choice_equals_a_plain_loop(rows: list[list[int]], at: str, depth: int, flips: int) -> None:
    """Chosen are the unjudged ranks the words name; the four states of a list stay apart."""
    known = check_at(at, depth, flips, depth + 1)
    document_states = np.array(rows, dtype=np.int8).reshape(len(rows), -1)
    chosen, states = choose_flips(document_states, at=known, depth=depth, flips=flips)
    for row, columns, status, count in zip(
        rows, chosen.tolist(), states.tolist(), np.count_nonzero(chosen >= 0, axis=1).tolist(), strict=True
    ):
        searched = {"next": range(depth, depth + flips), "first": range(depth, len(row))}.get(
            at, range(len(row))
        )
        unjudged = [place for place in searched if place < len(row) and row[place] == UNJUDGED]
        expected = unjudged[-flips:] if at == "worst" else unjudged[:flips]
        assert columns == expected + [-1] * (flips - len(expected))
        assert count == len(expected)
        length = len(row) - row.count(NOT_RETRIEVED)
        if not length:
            assert status == NO_RUN
        elif expected:
            assert status == UNJUDGED
        else:
            below = at in ("next", "first")
            assert status == (ENDED if below and length <= depth else JUDGED)


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=9), st.integers(1, 3), st.integers(0, 2))
def test_best_and_worst_are_the_extremes_of_all_choices(row: list[int], flips: int, unretrieved: int) -> None:
    """No other unjudged documents, as many at once, leave a higher or a lower AP."""
    unjudged = [place for place, one in enumerate(row) if one == UNJUDGED]
    assume(len(unjudged) >= flips)

    def after(chosen: tuple[int, ...] | list[int]) -> float:
        flags = [one == 1 or place in chosen for place, one in enumerate(row)]
        value = plain_ap(flags, sum(flags) + unretrieved)
        assert value is not None
        return float(value)

    every = [after(chosen) for chosen in combinations(unjudged, flips)]
    document_states = np.array([row], dtype=np.int8)
    best = choose_flips(document_states, at="best", flips=flips)[0][0].tolist()
    worst = choose_flips(document_states, at="worst", flips=flips)[0][0].tolist()
    assert after(best) == max(every)
    assert after(worst) == min(every)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lowest", 1, 1, 5), "`at` must be one of next, first, best, worst, but got 'lowest'"),
        (("next", None, 1, 5), r"`depth` must be an integer >= 1 and below the cutoff \(5\)"),
        (("first", 5, 1, 5), r"`depth` must be an integer >= 1 and below the cutoff \(5\)"),
        (("best", None, 0, 5), "`flips` must be an integer >= 1, but got 0"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, int | None, int, int], message: str) -> None:
    """The argument at fault is named; a whole list needs no depth."""
    with pytest.raises(ArgumentError, match=message):
        check_at(*arguments)
    assert check_at("worst", None, 1, 5) == "worst"
