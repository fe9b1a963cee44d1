"""Every code that stands in a cell where a number is undefined has its sentence."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from pooler.reasons import OF_PAIRS, REASONS
from store.analysis.agreement import intervals, kappa
from store.analysis.measures import names
from store.analysis.significance import generalizability, pairs, t_tests


@pytest.mark.parametrize(
    ("codes", "sentences"),
    [
        (kappa.Reason, REASONS),
        (intervals.IntervalReason, REASONS),
        (names.Reason, REASONS),
        (t_tests.TestReason, OF_PAIRS),
        (pairs.TukeyReason, REASONS),
        (generalizability.GeneralizabilityReason, REASONS),
    ],
)
def test_no_code_is_without_its_sentence(codes: Any, sentences: dict[str, str]) -> None:
    """A sentence begins small and ends without a full stop: it stands after the code and a colon."""
    for code in {*get_args(codes)} - {"undefined"}:  # of an interval: the number's own reason is shown
        assert code in sentences, code
        assert not sentences[code].endswith(".")
