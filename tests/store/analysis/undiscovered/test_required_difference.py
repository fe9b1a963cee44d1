"""Differences of MAP that are significant: tables 7 and 8, and a wanted power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from store.analysis.significance.t_tests import paired_t_of_moments
from store.analysis.undiscovered import relative_drop, required_difference, round_up
from store.analysis.variation.collection import Components
from store.errors import ArgumentError
from tests.vectors.agreement_tables import assert_prints
from tests.vectors.kishida_tables import N_TOPICS, TABLE_7, TABLE_8


@pytest.mark.vector("Kishida 2001, tables 7 and 8: four decimals, rounded up")
def test_every_cell_of_tables_7_and_8() -> None:
    """All 120 printed cells are eq. 23 and 24 rounded up; 61 of them are not the nearest."""
    n_cells = n_nearest = 0
    for title, rows in (TABLE_7 | TABLE_8).items():
        drops = (
            {"variation_share": float(title)}
            if title in TABLE_7
            else dict(zip(("difference_drop", "variance_drop"), map(float, title.split()), strict=True))
        )
        for variance, printed in rows.items():
            values = required_difference(float(variance), np.array(N_TOPICS), **drops)
            for digits, value in zip(printed, values.tolist(), strict=True):
                assert f"{float(round_up(value)):.4f}" == digits
                n_cells += 1
                n_nearest += f"{value:.4f}" == digits
    assert (n_cells, n_cells - n_nearest) == (120, 61)


@pytest.mark.vector("Kishida 2001, sections 4.2.2, 4.3 and 5; recomputed")
def test_numbers_of_the_running_text() -> None:
    """5.01% and 5.37% are needed; K is 3.5%, 6.2% and 13%; undiscovered documents take 17%."""
    without, within = (float(required_difference(s2, 53)) for s2 in (0.0330, 0.03300 + 0.00487))
    assert_prints("0.05007143", without)
    assert_prints("0.05363900", within)
    assert_prints("0.05358940", float(required_difference(0.0378, 53)))
    assert round_up([without, within]).tolist() == [0.0501, 0.0537]
    judging, topics = np.array([0.00188, 0.00299, 0.00487]), np.array([0.05171, 0.04558, 0.0378 - 0.00487])
    shares = Components(np.zeros(3), topics, judging, 53).share
    for digits, share in zip(("0.03508", "0.06156", "0.129"), shares.tolist(), strict=True):
        assert_prints(digits, share)
    assert_prints("0.01170", 0.27973 - 0.26803)
    assert_prints("0.01969", 0.32588 - 0.30619)
    drops = relative_drop(
        [0.27973, 0.32588, 0.32588 - 0.27973, 0.0330], [0.26803, 0.30619, 0.30619 - 0.26803, 0.0294]
    )
    for digits, drop in zip(("0.0418", "0.0604", "0.173", "0.109"), drops.tolist(), strict=True):
        assert_prints(digits, drop)
    # Table 7 against table 8, variance .03 and 50 topics: 4.93% grows to 5.5%.
    wider = required_difference(0.03, 50, difference_drop=0.15, variance_drop=0.10)
    assert_prints("0.0550", float(round_up(wider)))


@pytest.mark.parametrize(("variance", "n_topics", "alpha"), [(0.03, 50, 0.05), (0.2, 7, 0.01)])
def test_required_difference_is_just_significant(variance: float, n_topics: int, alpha: float) -> None:
    """A paired t test of the difference that eq. 23 requires has p = alpha."""
    needed = float(required_difference(variance, n_topics, alpha=alpha))
    assert paired_t_of_moments(needed, variance, n_topics).p == pytest.approx(alpha, rel=1e-9)


def power_of(difference: float, variance: float, n_topics: int) -> float:
    """Compute the power of the two-sided 5% paired t test, exactly."""
    shift = difference / np.sqrt(variance / n_topics)
    limit = stats.t.ppf(0.975, n_topics - 1)
    above = stats.nct.sf(limit, n_topics - 1, shift)
    return float(above + stats.nct.cdf(-limit, n_topics - 1, shift))


@pytest.mark.parametrize("n_topics", [30, 50, 150])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.9, 0.95])
def test_wanted_power_is_had(n_topics: int, power: float) -> None:
    """The noncentral t has the wanted power at the returned difference, to within .007."""
    needed = float(required_difference(0.04, n_topics, power=power))
    assert power_of(needed, 0.04, n_topics) == pytest.approx(power, abs=0.007)


def test_arguments_broadcast() -> None:
    """A whole table is one call, and a variance of 0 needs no difference."""
    table = required_difference(np.array([[0.01], [0.0]]), np.array(N_TOPICS))
    assert table.shape == (2, 4)
    assert table[1].tolist() == [0.0] * 4
    assert np.isnan(relative_drop(0.0, 1.0))
    nothing = np.zeros(1)
    assert np.isnan(Components(nothing, nothing, nothing, 2).share)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variance": -1.0}, "`variance` must be at least 0 and finite, but got -1.0"),
        ({"n_topics": 1}, "`n_topics` must hold integers >= 2, but got 1"),
        ({"n_topics": 2.5}, "`n_topics` must hold integers >= 2"),
        ({"variation_share": 1.0}, "`variation_share` must be at least 0 and below 1"),
        ({"difference_drop": 1.0}, "`difference_drop` must be below 1, but got 1.0"),
        ({"variance_drop": float("nan")}, "`variance_drop` must be below 1"),
        ({"alpha": 0.0}, "`alpha` must be above 0 and below 1, but got 0.0"),
        ({"power": 0.4}, "`power` must be at least 0.5 and below 1, but got 0.4"),
    ],
)
def test_what_is_outside_its_range_is_refused(arguments: dict[str, float], message: str) -> None:
    """Each argument is named with its range."""
    with pytest.raises(ArgumentError, match=message):
        required_difference(**({"variance": 0.03, "n_topics": 50} | arguments))


def test_rounding_up_leaves_whole_digits() -> None:
    """A number with so many digits stays, whatever its last bit."""
    assert round_up([0.1 + 0.2, 0.3, 0.30001, 0.0], 4).tolist() == [0.3, 0.3, 0.3001, 0.0]
    assert float(round_up(0.123, 2)) == 0.13
