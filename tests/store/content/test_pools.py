"""Pools: stored whole, once, under their own name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.content.pools import StoredPool
from store.errors import ConflictError, UnknownNameError
from store.records import Pool, PoolEntry
from tests.helpers.world import make_pool, make_run, pairs_to_judge, stored_rows
from tests.strategies import examples

MANIFEST = {"strategy": "depth", "depth": 100, "seed": 7, "out_order": "priority",
            "runs": [{"tag": "bm25", "sha256": "abc"}], "日本": [1, 2.5, None, True]}  # fmt: skip


def shuffled_pool() -> Pool:
    """Make a pool of three topics with everything an entry can say."""
    entries = [
        PoolEntry("1", "b", 1, priority=0.1 + 0.2, stratum=2, inclusion_probability=1 / 3),
        PoolEntry("1", "a", 0),
        PoolEntry("10", "a", 0, priority=-1e300),
        PoolEntry("9", "001", 0, priority=0.0, stratum=0, inclusion_probability=1.0),
    ]
    return Pool(entries, MANIFEST, name="main", round="2", run_tags=("tfidf", "bm25"))


def test_pool_comes_back(collection: Collection) -> None:
    """Every field of every entry comes back; topics in natural order, then by position."""
    for tag in ("bm25", "tfidf"):
        collection.runs.add(make_run(tag, {"1": [("a", 1.0)]}))
    pool = shuffled_pool()
    assert collection.pools.add(pool)
    back = collection.pools.get("main")
    second, first, tenth, ninth = pool.entries
    assert back.entries == [first, second, ninth, tenth]
    assert (back.name, back.round, back.manifest) == ("main", "2", MANIFEST)
    assert back.run_tags == ("bm25", "tfidf")
    assert collection.pools.all() == [StoredPool("main", "2", False, 4, MANIFEST)]
    assert pairs_to_judge(collection) == {("1", "a"), ("1", "b"), ("10", "a"), ("9", "001")}


entries = st.builds(
    PoolEntry,
    st.sampled_from(["1", "001", "T"]),
    st.sampled_from(["a", "A", "é", "日本", '"x', "NA", "1"]),
    st.integers(0, 2**31 - 1),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.integers(0, 2**31 - 1),
    st.none() | st.floats(0, 1),
)


@settings(max_examples=examples(30))
@given(
    st.lists(entries, unique_by=lambda entry: (entry.topic, entry.docno)),
    st.dictionaries(st.text(), st.text() | st.integers() | st.none()),
)
def test_any_pool_comes_back(
    collection: Collection, drawn: list[PoolEntry], manifest: dict[str, str | int | None]
) -> None:
    """Whatever entries and manifest a pool has, it comes back, and is known when it comes again."""
    name = f"pool-{len(collection.pools.all())}"
    manifest.pop("out_order", None)
    pool = Pool(drawn, manifest, name)
    assert collection.pools.add(pool)
    back = collection.pools.get(name)
    assert set(back.entries) == set(drawn)
    assert len(back.entries) == len(drawn)
    assert back.manifest == manifest
    assert not collection.pools.add(pool)


def test_same_pool_again_changes_nothing(collection: Collection, collection_name: str) -> None:
    """A pool that already exists is not added; the order of its entries does not matter."""
    pool = shuffled_pool()
    collection.pools.add(pool)
    before = stored_rows(collection_name)
    again = Pool(pool.entries[::-1], dict(reversed(MANIFEST.items())), pool.name, pool.round)
    assert not collection.pools.add(again)
    assert stored_rows(collection_name) == before


def test_other_pool_of_the_same_name_is_refused(collection: Collection, collection_name: str) -> None:
    """A pool that differs in anything needs a name of its own, and nothing of it is kept."""
    entries = shuffled_pool().entries
    collection.pools.add(shuffled_pool())
    before = stored_rows(collection_name)
    for other in (
        Pool([*entries, PoolEntry("8", "new", 0)], {"depth": 1}, "main", "2"),
        Pool([*entries, PoolEntry("8", "new", 0)], MANIFEST, "main", "2"),
        Pool(entries[:-1], MANIFEST, "main", "2"),
        Pool([*entries[:-1], PoolEntry("9", "001", 0)], MANIFEST, "main", "2"),
        Pool(entries, MANIFEST, "main", "3"),
    ):
        with pytest.raises(ConflictError, match="there is another pool named `main`") as caught:
            collection.pools.add(other)
        assert caught.value.hint is not None
        assert stored_rows(collection_name) == before


def test_withdrawn_pool_keeps_its_name(collection: Collection) -> None:
    """A withdrawn pool stays for the record: its pairs are not pooled, its name is taken."""
    collection.pools.add(make_pool({"1": ["a", "b"]}, name="first"))
    collection.pools.add(make_pool({"1": ["b", "c"]}, name="second"))
    assert collection.pools.withdraw("first")
    assert pairs_to_judge(collection) == {("1", "b"), ("1", "c")}
    assert [(pool.name, pool.withdrawn, pool.pairs) for pool in collection.pools.all()] == [
        ("first", True, 2),
        ("second", False, 2),
    ]
    assert len(collection.pools.get("first").entries) == 2
    with pytest.raises(ConflictError, match="another pool named `first`"):
        collection.pools.add(make_pool({"1": ["a", "b"]}, name="first"))


def test_pool_brings_unknown_topics_and_documents(collection: Collection) -> None:
    """A pool may name what no file has listed yet; known ids are used again."""
    collection.runs.add(make_run("r", {"1": [("a", 1.0)]}))
    collection.pools.add(make_pool({"1": ["a", "b"], "2": ["c"]}))
    assert [topic.topic for topic in collection.topics.all()] == ["1", "2"]
    assert (collection.topics.listed(), collection.documents.listed()) == (set(), set())
    assert collection.documents.get("c") is not None


def test_pool_of_runs_elsewhere_is_kept(collection: Collection) -> None:
    """Runs that are not in the collection may have fed a pool; only known ones are linked."""
    collection.runs.add(make_run("b", {"1": [("a", 1.0)]}))
    collection.pools.add(make_pool({"1": ["a"]}, run_tags=("a", "b")))
    assert collection.pools.get("pool").run_tags == ("b",)


def test_empty_pool_is_a_pool(collection: Collection) -> None:
    """A pool without documents is kept, with its manifest."""
    assert collection.pools.add(Pool([], MANIFEST, "none"))
    assert collection.pools.all() == [StoredPool("none", "0", False, 0, MANIFEST)]
    assert collection.pools.get("none").entries == []
    assert pairs_to_judge(collection) == set()


def test_unknown_pool_lists_the_known(collection: Collection) -> None:
    """A pool name that is not there is told with the nearest ones."""
    collection.pools.add(make_pool({"1": ["a"]}, name="main"))
    with pytest.raises(UnknownNameError, match="unknown pool `mian`; known: `main`"):
        collection.pools.get("mian")


def test_odd_file_name_in_a_manifest_is_kept(collection: Collection) -> None:
    """A manifest may name a file whose name is not valid UTF-8."""
    odd = b"caf\xe9 \x01.qrels".decode("utf-8", "surrogateescape")
    collection.pools.add(make_pool({"1": ["a"]}, manifest={"file": odd}))
    assert collection.pools.get("pool").manifest == {"file": odd}


def test_display_order_is_the_manifests(collection: Collection, collection_name: str) -> None:
    """How documents are laid before a judge can be told from the pool."""
    for name, manifest in {
        "docno": {},
        "priority": {"out_order": "priority"},
        "drawn": {"out_order": "drawn"},
    }.items():
        collection.pools.add(make_pool({"1": ["a"]}, name=name, manifest=manifest))
    orders = [(row[1], row[4]) for row in stored_rows(collection_name)["pool"]]
    assert orders == [(name, name) for name in ("docno", "priority", "drawn")]


def test_run_leaves_a_pool_with_what_it_alone_brought(collection: Collection) -> None:
    """Sizes and pairs fall by these documents; the manifest says who left, and it feeds nothing more."""
    for tag in ("a", "b"):
        collection.runs.add(make_run(tag, {"1": [("x", 2.0)], "2": [("y", 1.0)]}))
    runs = [{"tag": "a", "contributes": True}, {"tag": "b", "contributes": True}]
    manifest = {"strategy": "depth", "depth": 2, "runs": runs, "sizes": {"1": 2, "2": 1}, "pairs": 3}
    collection.pools.add(make_pool({"1": ["x", "z"], "2": ["y"]}, manifest=manifest, run_tags=("a", "b")))
    with pytest.raises(ConflictError, match="`x` is not in it"):
        collection.pools.remove_run("a", {"pool": {("1", "z"), ("2", "x")}})
    collection.pools.remove_run("a", {"pool": {("1", "z")}})
    back = collection.pools.get("pool")
    assert [(entry.topic, entry.docno) for entry in back.entries] == [("1", "x"), ("2", "y")]
    assert back.run_tags == ("b",)
    assert back.manifest == {
        **manifest,
        "runs": [{"tag": "a", "contributes": False}, {"tag": "b", "contributes": True}],
        "sizes": {"1": 1, "2": 1},
        "pairs": 2,
        "unpooled": ["a"],
    }
    assert [run.contributes for run in collection.runs.all()] == [False, True]
