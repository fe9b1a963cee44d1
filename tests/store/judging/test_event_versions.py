"""Events from elsewhere: what they rest on is kept where it can be looked up here."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.collection.collection import Collection
from store.formats.scale import parse_scale
from store.keeping.directory.read import read_directory
from store.keeping.directory.tables import Wishes
from store.keeping.directory.write import write_directory
from store.records import Action, ImportReport, JudgeKind, Topic
from tests.store.outside import Sitting, make_pool


def elsewhere(folder: Path) -> Collection:
    """Make a collection of guidelines, and of a topic whose text changed before it was judged."""
    name = str(folder / "elsewhere.db")
    made = Collection.create(name, name="x", scale=parse_scale("0-2"), program="x")
    made.add_topics([Topic("1", "wine")])
    made.add_topics([Topic("1", "red wine")], replace=True)
    made.add_guideline("judge well")
    made.add_pool(make_pool({"1": ["a"]}))
    made.add_judge("ann", JudgeKind.HUMAN)
    desk = made.desk("ann")
    desk.topic("1")
    Sitting(desk, "1").grade("a", 1)
    Sitting(desk, "1").act("a", Action.NOTE, note="clear")
    desk.leave()
    return made


@pytest.mark.slow
def test_version_that_is_not_here_is_not_known(collection: Collection, tmp_path: Path) -> None:
    """It is left out, the same events again are the same, and the collection can be carried."""
    with elsewhere(tmp_path) as source:
        events = list(source.histories())
    assert {(one.guideline_version, one.topic_version) for one in events} == {(1, 2)}
    collection.add_judge("ann", JudgeKind.HUMAN)
    assert collection.append_histories(events) == ImportReport(added=2)
    assert {(one.guideline_version, one.topic_version) for one in collection.histories()} == {(None, None)}
    assert collection.append_histories(events) == ImportReport(unchanged=2)
    collection.add_guideline("judge well")
    assert collection.append_histories(events) == ImportReport(unchanged=2)
    write_directory(collection, tmp_path / "out", Wishes(), program="x")
    read_directory(str(tmp_path / "new.db"), tmp_path / "out")


def test_version_that_is_here_is_kept(collection: Collection, tmp_path: Path) -> None:
    """A collection with the same guidelines and topics takes events as they are."""
    with elsewhere(tmp_path) as source:
        events = list(source.histories())
    collection.add_topics([Topic("1", "wine")])
    collection.add_topics([Topic("1", "red wine")], replace=True)
    collection.add_guideline("judge well")
    collection.add_judge("ann", JudgeKind.HUMAN)
    assert collection.append_histories(events) == ImportReport(added=2)
    assert {(one.guideline_version, one.topic_version) for one in collection.histories()} == {(1, 2)}
