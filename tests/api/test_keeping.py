"""`merge` and `verify` from a notebook: copies brought together, conflicts settled, faults counted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import pooler as p
from store.records import Action
from tests.helpers.run import Cli, read_lines
from tests.store.keeping.merge.apart import bytes_of, copies, make, work


@pytest.fixture
def apart(here: Path) -> list[Path]:
    """Grade `a` 1 in `collection.db` and 2 in its copy, both ann; bob could not judge `b` there."""
    made = [make(here / "collection.db"), *copies(here / "collection.db", 1)]
    for place, grade in zip(made, (1, 2), strict=True):
        work(place, ("ann", "a", Action.JUDGE, grade))
    work(made[1], ("bob", "b", Action.CANNOT, "torn"))
    return made


def test_open_conflict_stops_a_merge(cli: Cli, apart: list[Path]) -> None:
    """Nothing is changed; what copies say is there, and the command prints the same."""
    before = bytes_of(apart)
    made = p.merge(apart[0], [apart[1]])
    assert (made.is_done, made.facts()) == (False, {"done": False, "open_conflicts": 1})
    rows = made.table("conflicts").to_records()
    assert [(row["copy"], row["says"]) for row in rows] == [("this collection", "1"), (str(apart[1]), "2")]
    assert made.shown() == ("conflicts",)
    assert bytes_of(apart) == before
    told = cli("merge", apart[1], "--format", "json").whole()
    assert told["facts"] == made.facts()
    assert [row["says"] for row in told["conflicts"]] == ["1", "2"]


def test_conflicts_are_settled_by_hand(apart: list[Path], here: Path) -> None:
    """By a mapping or a list filled in; a rule settles the rest; a second merge brings nothing."""
    open_ = p.merge(apart[0], apart[1:])
    open_.write_conflicts(here / "c.tsv")
    assert read_lines(here / "c.tsv") == [*open_.conflict_lines()]
    with pytest.raises(p.PoolerError, match="already exists"):
        open_.write_conflicts(here / "c.tsv")
    with p.open_collection(str(apart[0])) as collection:
        with pytest.raises(p.ArgumentError, match="a grade of the scale"):
            p.merge(collection, apart[1:], settle_by={("1", "a", "ann"): 7})
        trial = p.merge(collection, apart[1:], settle="highest", dry_run=True)
        assert trial.table("conflicts").cells("took") == ["2", "2"]
        made = p.merge(collection, apart[1:], settle_by={("1", "a", "ann"): "skip"})
        assert (made.is_done, made.table("conflicts").cells("settled")) == (True, ["by hand"] * 2)
        assert made.table("judges").cells("new") == [1, 1]
        again = p.merge(collection, apart[1:])
    assert again.words() == "nothing new: everything is already here"
    assert again.shown() == ("judges",)


def test_faults_are_counted_with_examples(apart: list[Path]) -> None:
    """A whole collection has none; of a damaged one every check tells its faults."""
    with p.open_collection(str(apart[0])) as collection:
        assert (p.verify(collection).n_faults, p.verify(collection).checks[0].name) == (0, "file")
    with closing(sqlite3.connect(apart[0])) as opened:
        opened.execute("UPDATE judgement SET grade = 7")
        opened.commit()
    found = p.verify(apart[0])
    assert found.n_faults == sum(one.n_faults for one in found.checks) > 0
    assert found.table("verify").cells("faults") == [one.n_faults for one in found.checks]
    assert any("grade 7" in example for one in found.checks for example in one.examples)
