"""`pooler.reading.blocks`: no topic has a document twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.blocks import SuspicionError, check_parts
from pooler.reading.columns import FieldColumn

few_keys = st.lists(st.integers(0, 30) | st.integers(0, 30).map(lambda key: key << 58), max_size=12)


@given(st.lists(few_keys, min_size=1, max_size=4))
def test_parts_pass_exactly_when_none_has_a_key_twice(parts: list[list[int]]) -> None:
    """A key may be in several parts, each of them another topic, but not twice in one."""
    parts = [part for part in parts if part] or [[1]]
    keys = np.array([key for part in parts for key in part], np.uint64)
    firsts = np.cumsum([0, *map(len, parts)])[:-1].tolist()
    if all(len(set(part)) == len(part) for part in parts):
        check_parts(keys, firsts)
    else:
        with pytest.raises(SuspicionError, match="twice"):
            check_parts(keys, firsts)


@pytest.mark.parametrize("n_lines", [2, 100, 20_000])
def test_one_document_twice_is_found_wherever_it_stands(n_lines: int) -> None:
    """Any two lines of a large part may be those of the same document."""
    rng = np.random.default_rng(n_lines)
    keys = FieldColumn.of([b"d%d" % number for number in range(n_lines)]).keys()
    check_parts(keys, [0])
    for _ in range(50):
        one, other = rng.choice(n_lines, 2, replace=False)
        changed = keys.copy()
        changed[one] = changed[other]
        with pytest.raises(SuspicionError, match="twice"):
            check_parts(changed, [0])
        if one != other and min(one, other) < (middle := max(one, other)):
            check_parts(changed, [0, middle])
