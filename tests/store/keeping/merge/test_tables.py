"""How two rows become one: in any order, and however often, it is the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from store.keeping.merge.tables import (
    DIFFERENT,
    ERASURES,
    GUIDELINES,
    JUDGES,
    POOLS,
    RUNS,
    MergedTable,
    United,
    sittings,
)

MOMENTS = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2, 3)]
PLANS = [json.dumps(plan) for plan in ({"seed": 1}, {"seed": 1, "replaced": "2026-03-01"}, {"seed": 2})]
VALUES: dict[tuple[str, ...], list[Any]] = {
    ("group",): ["", "g", "h"],
    ("priority",): [0, 1, -1],
    ("judgements",): [0, 1, 2],
    ("events",): [0, 1, 2],
    ("contributes",): [True, False],
    ("withdrawn",): [True, False],
    ("disabled",): [True, False],
    ("ended_at",): [None, *MOMENTS],
    ("seen_at", "topic_id"): [*product(MOMENTS, (None, 1, 2))],
    ("renamed_at", "name"): [*product((None, *MOMENTS), ("ann", "eve"))],
    # Those of two known hosts are two sittings.
    ("host", "process"): [("", 0), ("desk", 7)],
    ("round", "display_order"): [("0", "docno"), ("1", "docno")],
    ("manifest", "name"): [*product(PLANS, ("late", "old"))],
    **{(name,): MOMENTS for name in ("created_at", "imported_at", "erased_at")},
}
"""Of columns; of others, words."""
TABLES = (GUIDELINES, RUNS, JUDGES, ERASURES, POOLS, sittings({1: "a", 2: "b"}))


def united(column: United, one: Any, other: Any) -> Any:
    """Unite two values, of which one may be what came of two that differ."""
    return DIFFERENT if DIFFERENT in (one, other) else column.unite(one, other)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        pytest.param(table, column, id=f"{table.table.name}-{'-'.join(column.names)}")
        for table in TABLES
        for column in table.columns
    ],
)
def test_order_and_number_of_copies_do_not_matter(table: MergedTable, column: United) -> None:
    """Of any three copies, every column comes to the same in any order, and twice as once."""
    assert set(column.names) <= {*table.table.c.keys()}
    values = VALUES.get(column.names, ["x", "y", "z"])
    for one in values:
        assert united(column, one, one) == one
    for one, two, three in product(values, repeat=3):
        assert united(column, one, two) == united(column, two, one)
        left = united(column, united(column, one, two), three)
        assert left == united(column, one, united(column, two, three))
