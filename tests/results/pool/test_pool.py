"""`pool` and `pool_drop`: what a notebook gets, writes, and puts into a collection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pooler import list_strategies, pool, pool_drop
from pooler.messages import Listener, listening
from store.collection import Collection
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.records import Ranking, Run
from tests.helpers.world import parse_scale

RUNS = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"d": 2.0}}, "y": {"1": {"b": 3.0, "e": 2.0}}}


class Heard(Listener):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def say(self, message: str) -> None:
        """Keep words."""
        self.words.append(message)

    def warn(self, message: str) -> None:
        """Keep a doubt."""
        self.words.append(message)


def test_a_pool_has_sizes_uniques_and_doubts() -> None:
    """What there is to doubt is in the warnings; of topics that do not meet a listener hears at once."""
    listener = Heard()
    with listening(listener):
        found = pool(RUNS, depth=2)
    alone = "1 of 2 topics of one run alone: `2`"
    assert listener.words == [alone]
    assert (found.topics, found.sizes.tolist()) == (["1", "2"], [3, 1])
    assert (found.runs, found.unique.tolist()) == (["x", "y"], [2, 1])
    assert found.warnings == (alone, "1 of 3 rankings have fewer than 2 documents")
    assert found.manifest["parameters"] == {"depth": 2}
    assert found.table("documents").to_dict()["docno"] == ["a", "b", "e", "d"]
    with pytest.raises(ArgumentError, match="annotated"):
        found.file_lines(annotated=True)
    annotated = pool(RUNS, depth=1, annotated=True)
    assert next(annotated.file_lines(annotated=True)) == "1 a x - 1 3.0"


def test_a_pool_is_written_beside_its_manifest_and_over_nothing_else(tmp_path: Path) -> None:
    """An earlier result is replaced, another file is not."""
    found = pool(RUNS, depth=1)
    found.write(tmp_path / "pool.txt")
    found.write(tmp_path / "pool.txt")
    assert (tmp_path / "pool.txt").read_text() == "1 a\n1 b\n2 d\n"
    assert json.loads((tmp_path / "pool.txt.manifest.json").read_text())["pairs"] == 3
    (tmp_path / "mine").write_text("my notes")
    with pytest.raises(PoolerError, match="not an earlier result"):
        found.write(tmp_path / "mine")


def test_what_cannot_be_pooled_is_refused() -> None:
    """Strategies are known by name, have parameters of their own, and choose at once."""
    with pytest.raises(UnknownNameError):
        pool(RUNS, strategy="rff")
    with pytest.raises(UnknownNameError):
        pool(RUNS, strategy="rrf", parameters={"phi": 3})
    with pytest.raises(ArgumentError, match="strategy"):
        pool(RUNS, strategy="mtf")
    kinds = set(list_strategies().table("strategies").to_dict()["kind"])
    assert kinds == {"fixed", "adaptive", "sample"}


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    """Make a collection with the two runs."""
    where = str(tmp_path / "c.db")
    Collection.create(where, name="test", scale=parse_scale("0-1"), program="test").close()
    with Collection(where) as opened:
        for tag, topics in RUNS.items():
            rankings = [
                Ranking(topic, list(scores), np.array([*scores.values()]), None)
                for topic, scores in topics.items()
            ]
            opened.runs.add(Run(tag, rankings, sha256=tag))
        yield opened


def test_a_collection_is_pooled_deeper_and_a_run_taken_out(collection: Collection) -> None:
    """A dry run says what is new and writes nothing; what a run alone brought leaves with it."""
    first = pool(collection, depth=1)
    assert first.is_new
    assert first.words[-2] == "pool `pool`, round 0, is in the collection"
    planned = pool(collection, depth=2, add=True, dry_run=True)
    assert [one.name for one in collection.pools.all()] == ["pool"]
    assert planned.words[3:6] == [
        "new: 1 document: 0 judged, 0 cannot be judged, 0 skipped, 1 unjudged",
        "leaving: 0 documents",
        "staying: 3 documents: 0 judged, 0 cannot be judged, 0 skipped, 3 unjudged",
    ]
    assert planned.words[7].endswith("no person judges yet (pooler judges add NAME)")
    assert planned.settings["name"] == "pool-2"
    assert pool(collection, depth=1, add=True).is_nothing
    left = pool_drop(collection, "y", dry_run=True)
    assert left.table("alone").to_dict()["docno"] == ["b"]
    assert pool_drop(collection, "x").table("alone").to_dict()["docno"] == ["a", "d"]
    with pytest.raises(ArgumentError, match="run"):
        pool_drop(collection)


def test_a_pool_of_memory_goes_into_a_collection(collection: Collection) -> None:
    """The pool has entries as a collection takes them."""
    collection.pools.add(pool(RUNS, depth=1).pool)
    assert [one.pairs for one in collection.pools.all()] == [3]
