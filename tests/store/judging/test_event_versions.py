"""Events from elsewhere: what they rest on is kept where it can be looked up here."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.collection import Collection
from store.keeping.directory import ExportChoice, read_directory, write_directory
from store.records import Action, ImportReport, JudgeKind, Topic
from tests.helpers.world import JudgeAtWork, bring, make_pool, parse_scale


def elsewhere(folder: Path) -> Collection:
    """Make a collection of guidelines, and of a topic whose text changed before it was judged."""
    name = str(folder / "elsewhere.db")
    made = Collection.create(name, name="x", scale=parse_scale("0-2"), program="x")
    made.topics.add([Topic("1", "wine")])
    made.topics.add([Topic("1", "red wine")], replace=True)
    made.guidelines.add("judge well")
    made.pools.add(make_pool({"1": ["a"]}))
    made.judges.add("ann", JudgeKind.HUMAN)
    desk = made.desk("ann")
    desk.topic("1")
    JudgeAtWork(desk, "1").grade("a", 1)
    JudgeAtWork(desk, "1").act("a", Action.NOTE, note="clear")
    desk.leave()
    return made


@pytest.mark.slow
def test_version_that_is_not_here_is_not_known(collection: Collection, tmp_path: Path) -> None:
    """It is left out, the same events again are the same, and the collection can be carried."""
    with elsewhere(tmp_path) as source:
        events = list(source.judgements.history())
    assert {(one.guideline_version, one.topic_version) for one in events} == {(1, 2)}
    collection.judges.add("ann", JudgeKind.HUMAN)
    assert bring(collection, events) == ImportReport(added=2)
    assert {(one.guideline_version, one.topic_version) for one in collection.judgements.history()} == {
        (None, None)
    }
    assert bring(collection, events) == ImportReport(unchanged=2)
    collection.guidelines.add("judge well")
    assert bring(collection, events) == ImportReport(unchanged=2)
    write_directory(collection.as_it_stands(), tmp_path / "out", ExportChoice(), program="x")
    read_directory(str(tmp_path / "new.db"), tmp_path / "out")


def test_version_that_is_here_is_kept(collection: Collection, tmp_path: Path) -> None:
    """A collection with the same guidelines and topics takes events as they are."""
    with elsewhere(tmp_path) as source:
        events = list(source.judgements.history())
    collection.topics.add([Topic("1", "wine")])
    collection.topics.add([Topic("1", "red wine")], replace=True)
    collection.guidelines.add("judge well")
    collection.judges.add("ann", JudgeKind.HUMAN)
    assert bring(collection, events) == ImportReport(added=2)
    assert {(one.guideline_version, one.topic_version) for one in collection.judgements.history()} == {(1, 2)}
