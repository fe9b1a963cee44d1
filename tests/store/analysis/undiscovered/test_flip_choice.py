"""Which unjudged documents are supposed relevant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.rankings import NOT_RETRIEVED, UNJUDGED
from store.analysis.undiscovered import AT, ENDED, JUDGED, NO_RUN, check_at, choose_flips
from store.errors import ArgumentError

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
    rows_of_states = np.array(rows, dtype=np.int8).reshape(len(rows), -1)
    chosen, states = choose_flips(rows_of_states, at=known, depth=depth, flips=flips)
    for row, columns, status, count in zip(
        rows, chosen.tolist(), states.tolist(), np.count_nonzero(chosen >= 0, axis=1).tolist(), strict=True
    ):
        searched = range(depth, depth + flips if at == "next" else len(row))
        unjudged = [place for place in searched if place < len(row) and row[place] == UNJUDGED]
        expected = unjudged[:flips]
        assert columns == expected + [-1] * (flips - len(expected))
        assert count == len(expected)
        length = len(row) - row.count(NOT_RETRIEVED)
        if not length:
            assert status == NO_RUN
        elif expected:
            assert status == UNJUDGED
        else:
            assert status == (ENDED if length <= depth else JUDGED)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lowest", 1, 1, 5), "`at` must be one of next, first, but got 'lowest'"),
        (("next", 0, 1, 5), r"`depth` must be an integer >= 1 and below the cutoff \(5\)"),
        (("first", 5, 1, 5), r"`depth` must be an integer >= 1 and below the cutoff \(5\)"),
        (("first", 1, 0, 5), "`flips` must be an integer >= 1, but got 0"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, int, int, int], message: str) -> None:
    """The argument at fault is named."""
    with pytest.raises(ArgumentError, match=message):
        check_at(*arguments)
