"""`replay`: what a notebook gets of strategies that are followed."""

from __future__ import annotations

import numpy as np
import pytest

from pooler import replay
from store.errors import ArgumentError, PoolerError

RUNS = {
    "x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"d": 2.0, "e": 1.0}},
    "y": {"1": {"c": 3.0, "b": 2.0}, "2": {"e": 1.0}},
}
QRELS = {"1": {"a": 0, "b": 1, "c": 1}, "2": {"d": 1}}


def test_arrays_add_up_to_the_tables() -> None:
    """A row is a budget and strategy, its counts the sums over topics."""
    found = replay((RUNS, QRELS), ["take", "mtf"], depth=3, budgets=[1, None])
    assert found.budgets == (1, 3)
    assert found.found.shape == found.judgements.shape == (2, 2, 2)
    rows = found.table("replay").to_records()
    assert [row["relevant"] for row in rows] == found.found.sum(axis=1).T.ravel().tolist()
    assert [row["strategy"] for row in rows] == ["take", "mtf"] * 2
    assert found.facts()["relevant_in_union"] == found.in_union.sum() == 3
    assert found.curves[:, -1].tolist() == [3, 3]
    assert np.allclose(found.tau_b[:, 1], 1)
    assert [len(view.table) for view in found.views()] == [3, 2, 2, 2]


def test_an_undefined_order_is_nan_beside_a_reason() -> None:
    """While nothing relevant is found, there is no order to compare."""
    found = replay((RUNS, {"1": {"a": 0}}), "take", depth=1)
    assert np.isnan(found.tau_b).all()
    assert found.tau_reasons == [["no-relevant"]]
    assert found.table("topics").to_dict()["reason"] == ["no-relevant"]


def test_what_cannot_be_replayed_is_refused() -> None:
    """A budget is at least 1, and something within the depth is judged."""
    with pytest.raises(ArgumentError, match="budgets"):
        replay((RUNS, QRELS), budgets=[0])
    with pytest.raises(PoolerError, match="no topic of the runs is in the qrels"):
        replay((RUNS, {"9": {"a": 1}}))
