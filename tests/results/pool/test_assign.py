"""`assign`: what lies before judges, planned, made and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pooler import assign, pool
from store.collection import Collection
from store.errors import ArgumentError, UnknownNameError
from store.records import JudgeKind, Ranking, Run
from tests.helpers.world import parse_scale


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    """Make a collection with four pooled documents and two judges."""
    where = str(tmp_path / "c.db")
    Collection.create(where, name="test", scale=parse_scale("0-1"), program="test").close()
    with Collection(where) as opened:
        ranking = Ranking("1", ["a", "b", "c", "d"], np.array([4.0, 3.0, 2.0, 1.0]), None)
        opened.runs.add(Run("x", [ranking], sha256="x"))
        pool(opened)
        opened.judges.add("ann", JudgeKind.HUMAN)
        opened.judges.add("ben", JudgeKind.HUMAN)
        yield opened


def test_a_dry_run_plans_and_nothing_is_assigned(collection: Collection) -> None:
    """The plan shows what each judge would have; a seed makes it the same when it is made."""
    planned = assign(collection, seed=3, dry_run=True)
    assert planned.table("workload").to_dict()["documents"] == [2, 2]
    assert assign(collection).table("workload").to_records() == []
    made = assign(collection, seed=3)
    assert made.table("workload").to_records() == planned.table("workload").to_records()
    assert assign(collection).workloads.is_assigned
    assert assign(collection, clear=True).workloads.lines == []
    assert made.settings["seed"] == 3


def test_who_and_what_are_checked(collection: Collection) -> None:
    """Judges and pools are known by name, and a lease is for claims."""
    with pytest.raises(UnknownNameError):
        assign(collection, ["nan"])
    with pytest.raises(UnknownNameError):
        assign(collection, pools=["pol"])
    with pytest.raises(ArgumentError, match="lease"):
        assign(collection, lease=5)
