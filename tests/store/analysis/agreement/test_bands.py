"""Words for coefficients: each author's own limits."""

from __future__ import annotations

from typing import Any

import pytest

from store.analysis.agreement.kappa import band


@pytest.mark.vector("Landis and Koch 1977, table in section 2; IR book section 8.5; Krippendorff")
@pytest.mark.parametrize(
    ("bands", "value", "word"),
    [
        ("landis-koch", -0.01, "poor"),
        ("landis-koch", 0.0, "slight"),
        ("landis-koch", 0.20, "slight"),
        ("landis-koch", 0.21, "fair"),
        ("landis-koch", 0.40, "fair"),
        ("landis-koch", 0.60, "moderate"),
        ("landis-koch", 0.80, "substantial"),
        ("landis-koch", 0.81, "almost perfect"),
        ("ir-book", 0.81, "good"),
        ("ir-book", 0.80, "fair"),
        ("ir-book", 0.67, "fair"),
        ("ir-book", 0.66, "dubious"),
        ("krippendorff", 0.80, "firm"),
        ("krippendorff", 0.667, "tentative"),
        ("krippendorff", 0.66, "unreliable"),
    ],
)
def test_band_is_the_authors_word(bands: Any, value: float, word: str) -> None:
    """A value on a limit is on the side the author put it."""
    assert band(value, bands) == word
