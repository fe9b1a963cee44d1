"""Several documents of a topic turned relevant at once, against scoring the lists again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.analysis.measures.average_precision import R_MODES, RMode, gains
from store.analysis.undiscovered import AT, SCENARIOS, At, Scenario, discovered_sums, flip_topic, sensitivity
from tests.store.analysis.drawn_collections import Drawn, as_float, drawn_collections, plain_mean
from tests.store.analysis.plain_lists import arrays_of
from tests.strategies import examples

# Run A of formulas.md, section 4: relevant at ranks 1, 3, 6 of 10, R = 4, S = 13/6.
RUN_A = np.arange(1, 11, dtype=np.int32)[None]
RELEVANT_A = np.isin(RUN_A, [1, 3, 6])


def test_gains_by_hand() -> None:
    """All ten gains of run A; the one of rank 5 is (1 + 2)/5 + 1/6."""
    expected = [1.5, 1.5, 0.8333333, 0.9166667, 0.7666667, 0.5, 0.5714286, 0.5, 0.4444444, 0.4]
    np.testing.assert_allclose(gains(RELEVANT_A)[0], expected, atol=5e-8)


@pytest.mark.parametrize(
    ("found", "ap"),
    [
        ([2], 0.7333333),
        ([7], 0.5476190),
        ([8], 0.5333333),
        ([10], 0.5133333),
        ([2, 7], 0.7301587),  # S' = 4.3809524
        ([7, 2], 0.7301587),
        ([2, -1], 0.7333333),
    ],
)
def test_discoveries_by_hand(found: list[int], ap: float) -> None:
    """One flip and two at once give run A the AP computed by hand."""
    added, retrieved = discovered_sums(RUN_A, RELEVANT_A, np.array([found]))
    n_found = sum(one >= 0 for one in found)
    assert retrieved.tolist() == [[n_found]]
    assert float(13 / 6 + added[0, 0]) / (4 + n_found) == pytest.approx(ap, abs=5e-8)


def check_flips(case: Drawn, at: At, depth: int, flips: int, scenario: Scenario, r_mode: RMode) -> None:
    """Compare every AP and MAP with computing it from scratch."""
    depth = min(depth, case.cutoff - 1)
    arrays = case.arrays()
    how: dict[str, Any] = {"at": at, "depth": depth, "flips": flips, "scenario": scenario, "r_mode": r_mode}
    whole = sensitivity(arrays, **how)
    topics = sorted(case.grades)
    after: dict[tuple[str, str], list[tuple[Fraction | None, Fraction | None]]] = {}
    for column, topic in enumerate(topics):
        one = flip_topic(arrays, column, **how)
        before = [case.ap(tag, topic, r_mode) for tag in case.tags]
        np.testing.assert_allclose(one.before, list(map(as_float, before)), rtol=1e-14)
        for row, tag in enumerate(case.tags):
            places = [place for place in one.columns[row].tolist() if place >= 0]
            found = {case.listed(tag, topic)[place] for place in places}
            assert found <= set(case.unjudged(tag, topic))
            assert (row in one.flipped) == bool(found)
            values = []
            for other in case.tags:
                if scenario == "own" and other != tag:
                    values.append(case.ap(other, topic, r_mode, n_more=len(found)))
                else:
                    values.append(case.ap(other, topic, r_mode, found))
            after[tag, topic] = list(zip(before, values, strict=True))
            if found:
                got = one.after[list(one.flipped).index(row)]
                np.testing.assert_allclose(got, list(map(as_float, values)), rtol=1e-13)
            assert whole.ap_after[row, column] == pytest.approx(as_float(values[row]), rel=1e-13, nan_ok=True)
    for row, tag in enumerate(case.tags):
        for other in range(len(case.tags)):
            pairs = [after[tag, topic][other] for topic in topics]
            mean = plain_mean(new for old, new in pairs if old is not None)
            assert whole.map_after[row, other] == pytest.approx(as_float(mean), rel=1e-12, nan_ok=True)


def test_more_flips_than_ranks_are_those_there_are() -> None:
    """A number of flips beyond any list needs no memory and flips all that is unjudged."""
    arrays = arrays_of({("a", "t"): [1, 2, 3]}, {"t": {1: True}}, 10)
    moved = sensitivity(arrays, at="first", depth=1, flips=10**12)
    assert moved.columns.tolist() == [[[1, 2, -1]]]
    assert moved.map_after.tolist() == [[1.0]]


arguments = (
    drawn_collections(),
    st.sampled_from(AT),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from(SCENARIOS),
    st.sampled_from(R_MODES),
)


@given(*arguments)
def test_flips_equal_recomputation(
    case: Drawn, at: At, depth: int, flips: int, scenario: Scenario, r_mode: RMode
) -> None:
    """Wherever documents turn relevant, one or several, every AP is that of the edited lists."""
    check_flips(case, at, depth, flips, scenario, r_mode)


@pytest.mark.long
@settings(max_examples=examples(2000))
@given(*arguments)
def test_thousands_of_flips_equal_recomputation(
    case: Drawn, at: At, depth: int, flips: int, scenario: Scenario, r_mode: RMode
) -> None:
    """The same over thousands of collections."""
    check_flips(case, at, depth, flips, scenario, r_mode)
