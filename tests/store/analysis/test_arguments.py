"""Arguments that cannot be used are refused by name."""

from __future__ import annotations

import pytest

from store.analysis.arguments import check_cutoff
from store.errors import ArgumentError


@pytest.mark.parametrize("cutoff", [0, -1])
def test_cutoff_below_one_is_refused(cutoff: int) -> None:
    """There is no rank 0; a cutoff that is not given is none."""
    check_cutoff(None)
    check_cutoff(1)
    with pytest.raises(ArgumentError, match=rf"cutoff.*must be an integer >= 1.*{cutoff}"):
        check_cutoff(cutoff)
