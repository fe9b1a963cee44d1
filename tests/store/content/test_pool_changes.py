"""A pool in the place of another: what changes, and what does not."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.content.pools import Replacement
from store.errors import ConflictError
from store.records import Pool
from tests.helpers.filled_collection import fill, pairs_of
from tests.helpers.world import make_pool, pairs_to_judge, stored_rows
from tests.store.drawing import adaptive_pool


def replace(collection: Collection, pool: Pool) -> Replacement:
    """Put a pool in the place of another, its entries in one batch."""
    return collection.pools.replace([pool.entries], lambda: pool)


def test_the_old_pool_steps_aside_with_all_it_has(collection: Collection, collection_name: str) -> None:
    """Entries, runs, round and date stay, under a new name; judgements are not touched."""
    fill(collection)
    old, judged = collection.pools.get("main"), collection.judgements.current()
    before = stored_rows(collection_name)
    new = make_pool({"1": ["b", "x"]}, name="main", round="5")
    assert replace(collection, new) == Replacement(is_new=True, former="main.replaced-1")
    former = collection.pools.get("main.replaced-1")
    assert (former.entries, former.round, former.run_tags) == (
        old.entries, old.round, old.run_tags)  # fmt: skip
    assert former.manifest == {**old.manifest, "name": "main.replaced-1", "replaced": True}
    stored = {pool.name: pool for pool in collection.pools.all()}
    assert stored["main.replaced-1"].withdrawn
    assert (stored["main"].withdrawn, stored["main"].round) == (False, "5")
    assert pairs_of(collection, ["main"]) == {("1", "b"), ("1", "x")}
    assert collection.judgements.current() == judged
    after = stored_rows(collection_name)
    assert after["judgement"] == before["judgement"]
    assert {row[0] for row in before["pool"]} < {row[0] for row in after["pool"]}
    # a and g of topic 1 are in pool late still; the rest of main is in no pool.
    pooled = {("1", "a"), ("1", "b"), ("1", "g"), ("1", "x")}
    assert pairs_to_judge(collection) == pooled


def test_the_same_pool_is_not_replaced(collection: Collection, collection_name: str) -> None:
    """Saying the same again changes nothing, and names no former pool."""
    pool = make_pool({"1": ["a", "b"]}, name="main", manifest={"version": "1"})
    collection.pools.add(pool)
    before = stored_rows(collection_name)
    again = make_pool({"1": ["a", "b"]}, name="main", manifest={"version": "2"})
    assert replace(collection, again) == Replacement(is_new=False, former=None)
    assert stored_rows(collection_name) == before


def test_names_of_former_pools_count_on(collection: Collection) -> None:
    """A name replaced twice leaves two pools; a name that is free replaces nothing."""
    first = make_pool({"1": ["a"]}, name="main")
    assert replace(collection, first).former is None
    for number, docno in enumerate("bc", start=1):
        pool = make_pool({"1": [docno]}, name="main", manifest={"seed": number})
        assert replace(collection, pool).former == f"main.replaced-{number}"
    assert [(pool.name, pool.withdrawn) for pool in collection.pools.all()] == [
        ("main.replaced-1", True),
        ("main.replaced-2", True),
        ("main", False),
    ]
    assert pairs_to_judge(collection) == {("1", "c")}


def test_a_withdrawn_pool_gives_its_name_away(collection: Collection) -> None:
    """The name of a pool that was withdrawn is not lost, be the new pool the same."""
    pool = make_pool({"1": ["a"]}, name="main")
    collection.pools.add(pool)
    collection.pools.withdraw("main")
    with pytest.raises(ConflictError, match="another pool named `main`, and it is withdrawn"):
        collection.pools.add(pool)
    assert replace(collection, pool).former == "main.replaced-1"
    assert pairs_to_judge(collection) == {("1", "a")}


def test_adaptive_pools_do_not_replace_each_other(collection: Collection, collection_name: str) -> None:
    """A judge who draws from the old pool would draw from the new one: refused, nothing done."""
    collection.pools.add(adaptive_pool({"1": list("abc")}, budget=2, name="live"))
    before = stored_rows(collection_name)
    other = adaptive_pool({"1": list("xyz")}, budget=3, name="live")
    other.manifest["seed"] = 9
    with pytest.raises(ConflictError, match="cannot be replaced by another adaptive pool"):
        replace(collection, other)
    assert stored_rows(collection_name) == before
    assert replace(collection, make_pool({"1": ["a"]}, name="live")).former == "live.replaced-1"


def test_a_failure_leaves_the_old_pool_in_place(collection: Collection, collection_name: str) -> None:
    """An error while the new pool is written takes back the step aside."""
    collection.pools.add(make_pool({"1": ["a"]}, name="main"))
    before = stored_rows(collection_name)
    twice = make_pool({"1": ["b", "b"]}, name="main", manifest={"seed": 1})
    with pytest.raises(Exception, match=r"(?i)unique"):
        replace(collection, twice)
    assert stored_rows(collection_name) == before
