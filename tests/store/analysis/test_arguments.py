"""Arguments that cannot be used are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from store.analysis.arguments import check_cutoff, finite_vector, vector
from store.errors import ArgumentError


@pytest.mark.parametrize("cutoff", [0, -1])
def test_cutoff_below_one_is_refused(cutoff: int) -> None:
    """There is no rank 0; a cutoff that is not given is none."""
    check_cutoff(None)
    check_cutoff(1)
    with pytest.raises(ArgumentError, match=rf"cutoff.*must be an integer >= 1.*{cutoff}"):
        check_cutoff(cutoff)


@pytest.mark.parametrize("values", [1.0, [[1.0]], np.zeros((0, 2))])
def test_other_dimensions_are_refused_with_the_shape(values: object) -> None:
    """A number, a matrix and an empty matrix are no vector; the error says whose and which."""
    for check in (vector, finite_vector):
        with pytest.raises(ArgumentError, match=r"scores.*must be one-dimensional.*shape \("):
            check("scores", np.asarray(values))


def test_only_the_finite_one_refuses_what_is_not_finite() -> None:
    """NaN and infinity are values of a vector; an empty vector is finite."""
    assert np.isnan(vector("scores", [float("nan")])).all()
    assert finite_vector("scores", []).shape == (0,)
    for value in (float("nan"), float("inf"), -float("inf")):
        with pytest.raises(ArgumentError, match=r"scores.*must be finite"):
            finite_vector("scores", [0.0, value])
