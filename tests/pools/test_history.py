"""History, outdated judgements and disagreements as functions: what a notebook asks and is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pooler import history
from store.collection import Collection
from store.records import Action
from tests.helpers.wine import make, work


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Collection]:
    """Open a collection in which ann and bob differ on a document."""
    place = make(tmp_path / "c.db", scale="0-2")
    work(place, ("ann", "a", Action.JUDGE, 2))
    work(place, ("bob", "a", Action.JUDGE, 0))
    with Collection(str(place)) as collection:
        yield collection


SHOWN = 50
"""Rows that people see unless they ask for more."""


def test_newest_rows_are_read_and_shown(opened: Collection) -> None:
    """A limit takes the newest; a view of everything has no more than people see."""
    whole = history(opened)
    newest = history(opened, limit=1)
    assert newest.table("history").to_records() == whole.table("history").to_records()[-1:]
    assert newest.n_left_out == len(whole.entries) - 1
    many = type(whole)(settings=whole.settings, entries=[*whole.entries] * SHOWN, n_left_out=0)
    assert many.views()[0].table.cells("judge")[-1] == "bob"
    assert len(many.views()[0].table) == SHOWN


def test_moments_without_a_zone_are_of_utc(opened: Collection) -> None:
    """As on the command line; the end is not in the stretch."""
    last = history(opened).table("history").cells("at")[-1]
    assert isinstance(last, datetime)
    assert len(history(opened, since=last.replace(tzinfo=None)).entries) == 1
    later = last.astimezone(UTC) + timedelta(microseconds=1)
    assert len(history(opened, judges=["bob"], since=last, until=later).entries) == 1
    assert not history(opened, judges=["bob"], since=later).entries
    assert len(history(opened, judges=["bob"], since="2000-01-01").entries) == 2


def test_history_of_a_document_has_facts(opened: Collection) -> None:
    """Its grade is nobody's where two judges differ."""
    found = history(opened, "1", "a")
    assert found.facts()["final"]["reason"] == "undecided"
    assert found.table("standing").cells("grade") == [2, 0]
    assert found.table("events").cells("passages") == [[], []]
