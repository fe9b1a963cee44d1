"""`verify` from a notebook: faults are counted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pooler as p
from store.records import Action
from tests.helpers.wine import make, work


def test_faults_are_counted_with_examples(here: Path) -> None:
    """A whole collection has none; of a damaged one every check tells its faults."""
    place = make(here / "collection.db")
    work(place, ("ann", "a", Action.JUDGE, 1))
    with p.open_collection(str(place)) as collection:
        assert (p.verify(collection).n_faults, p.verify(collection).checks[0].name) == (0, "file")
    with closing(sqlite3.connect(place)) as opened:
        opened.execute("UPDATE judgement SET grade = 7")
        opened.commit()
    found = p.verify(place)
    assert found.n_faults == sum(one.n_faults for one in found.checks) > 0
    assert found.table("verify").cells("faults") == [one.n_faults for one in found.checks]
    assert any("grade 7" in example for one in found.checks for example in one.examples)
