"""History, outdated judgements and disagreements as functions: what a notebook asks and is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import pooler as p
from pooler import adjudicate, history, status_outdated
from store.collection import Collection
from store.errors import ArgumentError, UnknownNameError
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


def test_disagreements_tell_names_when_asked_alone(opened: Collection) -> None:
    """Nobody learns who A and B are unasked."""
    found = adjudicate(opened, gap=2)
    assert found.table("disagreements").cells("gap") == [2]
    assert "judges" not in found.table("disagreements").data
    assert len(adjudicate(opened, gap=3).cases) == 0
    named = adjudicate(opened, names=True).table("disagreements")
    (judges,) = named.cells("judges")
    assert sorted(str(one)[2:] for one in judges) == ["ann", "bob"]


def test_what_cannot_be_asked_is_refused(opened: Collection) -> None:
    """By the names of the parameters, with what may be."""
    with pytest.raises(ArgumentError, match="`docno` needs a topic"):
        history(opened, docno="a")
    with pytest.raises(ArgumentError, match="`since` must be a date or date-time like"):
        history(opened, since="soon")
    with pytest.raises(ArgumentError, match="`until` must be later than"):
        history(opened, since="2026-03-02", until="2026-03-02")
    with pytest.raises(ArgumentError, match="`limit` must be an integer >= 1"):
        history(opened, limit=0)
    with pytest.raises(ArgumentError, match="`why` must be some of guidelines, text, text-came-later, topic"):
        status_outdated(opened, why=["mood"])
    with pytest.raises(ArgumentError, match="`unresolved` must be one of majority, median"):
        adjudicate(opened, unresolved="mean")
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        p.judges_erase(opened, "eve", dry_run=True)


def test_counts_of_erasing_are_worded_by_their_number(opened: Collection) -> None:
    """One of a thing is one; the table has every count."""
    found = p.judges_erase(opened, "ann", dry_run=True)
    assert found.counts["judgements"] == 1
    assert next(found.sentences()) == "1 judgement"
    assert found.table("pairs").to_records() == [{"judge": "bob", "documents": 1}]
    assert len(found.table("erasing")) == len(found.counts)
