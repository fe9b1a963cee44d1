"""Runs: packed, and given back in any of the five orders exactly as their files said."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.content.rankings import NumberedDocuments
from store.db.packing import PackedRanking, pack_ranking
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.ranking import Order, rank_order
from store.records import ImportReport, Ranking, Run, StoredRun
from tests.helpers.world import change_stored, make_pool, make_run, pairs_to_judge, stored_rows, stored_run
from tests.strategies import examples

ORDERS: tuple[Order, ...] = get_args(Order)

docnos = st.lists(
    st.sampled_from(["a", "A", "b", "10", "9", "09", "é", "e\u0301", "日本", "\U0001f377", "\uff21",
                     '"x', "2681119#1", "NA", "-", "a-", "z", "zz"]),
    unique=True, min_size=1, max_size=12,
)  # fmt: skip
tied_scores = st.sampled_from([0.0, -0.0, 1.0, 2.5, -1.0])
wild_scores = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def rankings(draw: st.DrawFn, topic: str) -> Ranking:
    """Draw a ranking with ties, ranks that disagree with the scores, or none."""
    found = draw(docnos)
    scores = draw(
        st.lists(draw(st.sampled_from([tied_scores, wild_scores])),
                 min_size=len(found), max_size=len(found))
    )  # fmt: skip
    rank = st.integers(0, 3) | st.integers(-(2**63), 2**63 - 1)
    ranks = draw(st.none() | st.lists(rank, min_size=len(found), max_size=len(found)))
    return Ranking(
        topic,
        found,
        np.array(scores, dtype=np.float64),
        None if ranks is None else np.array(ranks, dtype=np.int64),
    )


def bits(scores: np.ndarray) -> list[int]:
    """View scores as the integers of their bits, so that -0.0 is not 0.0."""
    return scores.view(np.int64).tolist()


def assert_same_run(back: Run, run: Run) -> None:
    """Compare two runs, scores bit for bit; topics may stand in another order."""
    plain = ("tag", "sha256", "file", "group", "contributes")
    assert [getattr(back, name) for name in plain] == [getattr(run, name) for name in plain]
    by_topic = {ranking.topic: ranking for ranking in run.rankings}
    assert sorted(ranking.topic for ranking in back.rankings) == sorted(by_topic)
    for ranking in back.rankings:
        original = by_topic[ranking.topic]
        assert ranking.docnos == original.docnos
        assert bits(ranking.scores) == bits(original.scores)
        if original.ranks is None:
            assert ranking.ranks is None
        else:
            assert ranking.ranks is not None
            assert ranking.ranks.tolist() == original.ranks.tolist()


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.data())
def test_any_run_comes_back_in_any_order(collection: Collection, data: st.DataObject) -> None:
    """File order, scores and ranks come back; ids are ranked as `rank_order` ranks the file."""
    topics = data.draw(st.permutations(["1", "001", "T"]))
    found = [data.draw(rankings(topic)) for topic in topics]
    run = Run("bm25", found, sha256=uuid.uuid4().hex)
    collection.runs.add(run, replace=True)
    assert_same_run(stored_run(collection, collection.runs.all()[0]), run)
    for order in ORDERS:
        without_ranks = any(ranking.ranks is None for ranking in run.rankings)
        if order == "rank" and without_ranks:
            with pytest.raises(ArgumentError, match="which run `bm25` lacks"):
                collection.runs.ranked(["bm25"], order=order)
            continue
        ranked = collection.runs.ranked(["bm25"], order=order)
        assert set(ranked.rankings) == {("bm25", topic) for topic in topics}
        for ranking in run.rankings:
            places = rank_order(ranking.docnos, ranking.scores, ranking.ranks, order=order)
            ids = ranked.rankings["bm25", ranking.topic]
            assert ids.dtype == np.int32
            assert ids.tolist() == [ranked.ids[ranking.docnos[place]] for place in places]
            assert [ranked.docnos[number] for number in ids.tolist()] == [
                ranking.docnos[place] for place in places
            ]


def test_orders_by_hand(collection: Collection) -> None:
    """Five orders of one small ranking, worked out by hand."""
    scores = np.array([1.0, 2.0, 2.0, 0.5])
    ranking = Ranking("1", ["b", "a", "c", "d"], scores, np.array([2, 3, 1, 1]))
    collection.runs.add(Run("r", [ranking], "hash"))

    def ranked(order: Order) -> str:
        found = collection.runs.ranked(["r"], order=order)
        return "".join(found.docnos[number] for number in found.rankings["r", "1"].tolist())

    assert ranked("trec") == ranked("trec9") == "cabd"
    assert ranked("docno-asc") == "acbd"
    assert ranked("rank") == "cdba"
    assert ranked("file") == "bacd"


def test_read_run_does_not_depend_on_what_came_before(collection: Collection) -> None:
    """Topics come in natural order, whichever run or file brought them first."""
    run = make_run("r", {"10": [("a", 1.0)], "9": [("b", 1.0)], "1": [("c", 1.0)]})
    collection.pools.add(make_pool({"9": ["z"]}))
    collection.runs.add(run)
    topics = [ranking.topic for ranking in stored_run(collection, collection.runs.all()[0]).rankings]
    assert topics == ["1", "9", "10"]


def test_rankings_in_hand_outlive_a_failed_import(collection: Collection) -> None:
    """What was read keeps its meaning when a later import is refused."""
    collection.runs.add(make_run("r", {"1": [("a", 1.0), ("b", 0.5)]}))
    ranked = collection.runs.ranked()
    with pytest.raises(ConflictError):
        collection.runs.add(make_run("r", {"1": [("c", 1.0)]}, sha256="other"))
    ids = ranked.rankings["r", "1"].tolist()
    assert [ranked.docnos[number] for number in ids] == ["a", "b"]
    assert [ranked.ids[docno] for docno in "ab"] == ids


def test_header_comes_back_as_it_stands(collection: Collection) -> None:
    """Line ends, blanks and letters of what a file says of its run; of another file, what that says."""
    run = dataclasses.replace(
        make_run("a", {"1": [("d1", 1.0)]}), header="# ir_metadata.start\r\n#  tag: ä \n"
    )
    collection.runs.add(run)
    (stored,) = collection.runs.all(["a"])
    assert stored.header == stored_run(collection, stored).header == run.header
    collection.runs.add(dataclasses.replace(run, sha256="other", header=None), replace=True)
    assert collection.runs.all(["a"])[0].header is None


def test_only_the_named_runs_are_ranked(collection: Collection) -> None:
    """Rankings of other runs are left out; no name is no run."""
    for tag in ("a", "b", "c"):
        collection.runs.add(make_run(tag, {"1": [("x", 1.0)], "2": [("y", 1.0)]}))
    found = collection.runs.ranked(["c", "a"])
    assert found.tags == ("a", "c")
    assert list(found.rankings) == [("a", "1"), ("a", "2"), ("c", "1"), ("c", "2")]
    assert collection.runs.ranked().tags == ("a", "b", "c")
    with pytest.raises(UnknownNameError, match="unknown run `d`"):
        collection.runs.ranked(["a", "d"])


def test_same_run_again_changes_nothing(collection: Collection, collection_name: str) -> None:
    """Importing the same file again is counted and writes nothing."""
    run = make_run("bm25", {"1": [("a", 1.0)]}, group="unit", contributes=False)
    assert collection.runs.add(run) == ImportReport(added=1)
    before = stored_rows(collection_name)
    for replace in (False, True):
        assert collection.runs.add(run, replace=replace) == ImportReport(unchanged=1)
    assert stored_rows(collection_name) == before


def test_other_file_is_refused_or_taken(collection: Collection, collection_name: str) -> None:
    """Another file under the same tag is refused; with `replace` its rankings take the place."""
    collection.runs.add(make_run("bm25", {"1": [("a", 1.0)], "2": [("b", 1.0)]}, sha256="old"))
    collection.pools.add(make_pool({"1": ["a"]}, run_tags=("bm25",)))
    other = make_run("bm25", {"2": [("c", 1.0)], "3": [("d", 1.0)]}, sha256="new")
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match=r"exists with another file \(bm25.run\)") as caught:
        collection.runs.add(other)
    assert caught.value.hint == "--replace takes the new file"
    assert stored_rows(collection_name) == before
    assert collection.runs.add(other, replace=True) == ImportReport(replaced=1)
    assert_same_run(stored_run(collection, collection.runs.all()[0]), other)
    assert pairs_to_judge(collection) == {("1", "a")}
    assert collection.pools.get("pool").run_tags == ("bm25",)


def test_same_file_takes_a_new_group(collection: Collection) -> None:
    """What the user says of a run, not in its file, can be changed by importing it again."""
    collection.runs.add(make_run("bm25", {"1": [("a", 1.0)]}))
    changed = make_run("bm25", {"1": [("a", 1.0)]}, group="unit", contributes=False)
    assert collection.runs.add(changed) == ImportReport(replaced=1)
    assert collection.runs.all() == [
        StoredRun("bm25", "unit", contributes=False, sha256="sha256 of bm25", file="bm25.run")
    ]
    assert_same_run(stored_run(collection, collection.runs.all()[0]), changed)


def test_runs_are_sorted_bytewise(collection: Collection) -> None:
    """Tags sort by their UTF-8 bytes on both engines, capitals before small letters."""
    tags = ["b", "B", "a-1", "a1", "A", "é", "e", "z", "日本", "\uff21", "\U0001f377", "10", "9"]
    for tag in tags:
        collection.runs.add(make_run(tag, {"1": [("x", 1.0)]}))
    found = [run.tag for run in collection.runs.all()]
    assert found == sorted(tags, key=lambda tag: tag.encode())
    assert [run.tag for run in collection.runs.all(["z", "B", "a1"])] == ["B", "a1", "z"]


def test_unknown_tag_lists_the_known(collection: Collection) -> None:
    """A tag that no run has is told with the nearest ones."""
    collection.runs.add(make_run("bm25", {"1": [("x", 1.0)]}))
    with pytest.raises(UnknownNameError, match="unknown run `BM25`; known: `bm25`"):
        collection.runs.all(["BM25"])


def test_odd_file_names_are_kept(collection: Collection) -> None:
    """A file name that is not valid UTF-8, as Linux allows, comes back."""
    odd = b"caf\xe9 \xff.run".decode("utf-8", "surrogateescape")
    collection.runs.add(Run("r", [], "hash", file=odd))
    assert collection.runs.all()[0].file == odd


def test_run_and_ranking_without_documents(collection: Collection) -> None:
    """A run without topics and a topic without documents are kept as such."""
    run = make_run("empty", {"1": []})
    collection.runs.add(run)
    collection.runs.add(make_run("void", {}))
    assert_same_run(stored_run(collection, collection.runs.all()[0]), run)
    assert stored_run(collection, collection.runs.all()[1]).rankings == []
    for order in ORDERS:
        found = collection.runs.ranked(["empty", "void"], order=order)
        assert found.tags == ("empty", "void")
        assert {key: ids.tolist() for key, ids in found.rankings.items()} == {("empty", "1"): []}


def test_conflict_leaves_the_object_working(collection: Collection, collection_name: str) -> None:
    """After a refused import the same object adds and finds new documents correctly."""

    def refuse(number: int) -> None:
        with pytest.raises(ConflictError):
            collection.runs.add(make_run("r", {"9": [(f"lost{number}", 1.0)]}, sha256="other"))

    collection.runs.add(make_run("r", {"1": [("a", 1.0)]}))
    for number in range(3):
        refuse(number)
        # This takes the row ids that the refused import had for a moment.
        with Collection(collection_name) as other:
            other.runs.add(make_run(f"other{number}", {f"t{number}": [(f"won{number}", 1.0)]}))
        run = make_run(f"s{number}", {f"u{number}": [(f"mine{number}", 1.0)], "9": [("a", 0.5)]})
        collection.runs.add(run)
        assert_same_run(stored_run(collection, collection.runs.all([f"s{number}"])[0]), run)


def test_error_while_rows_are_written_forgets_their_ids(collection: Collection, collection_name: str) -> None:
    """When the database fails after new docnos were inserted, they are learnt afresh."""
    change_stored(collection_name, "ALTER TABLE ranking RENAME TO hidden")
    run = make_run("r", {"1": [("a", 1.0), ("b", 0.5)]})
    with pytest.raises(Exception, match="ranking"):
        collection.runs.add(run)
    change_stored(collection_name, "ALTER TABLE hidden RENAME TO ranking")
    with Collection(collection_name) as other:
        other.runs.add(make_run("other", {"2": [("z", 1.0), ("b", 0.5)]}))
    collection.runs.add(run)
    assert_same_run(stored_run(collection, collection.runs.all(["r"])[0]), run)


def test_rankings_come_one_at_a_time(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is stored while its rankings are still being read, as if it had come whole."""
    monkeypatch.setattr("store.content.runs._BATCH", 2)
    topics = {str(number): [(f"d{number}", 1.0), ("both", 0.5)] for number in range(7)}
    run = make_run("bm25", topics, group="unit")
    n_taken = 0

    def coming() -> Iterator[Ranking]:
        nonlocal n_taken
        for ranking in run.rankings:
            n_taken += 1
            yield ranking

    def add(run: Run, rankings: Iterator[Ranking], *, replace: bool = False) -> ImportReport:
        lazy: Any = rankings
        return collection.runs.add(dataclasses.replace(run, rankings=lazy), replace=replace)

    assert add(run, coming()) == ImportReport(added=1)
    assert_same_run(stored_run(collection, collection.runs.all()[0]), run)
    assert add(run, coming()) == ImportReport(unchanged=1)
    assert n_taken == len(run.rankings), "the same file is not read a second time"
    other = make_run("bm25", {"1": [("z", 1.0)]}, sha256="other")
    with pytest.raises(ConflictError):
        add(other, iter(other.rankings))
    report = add(other, iter(other.rankings), replace=True)
    assert report == ImportReport(replaced=1)
    # A new file of the run stays in its group unless another one is given.
    assert_same_run(
        stored_run(collection, collection.runs.all()[0]), dataclasses.replace(other, group="unit")
    )


def test_error_between_rankings_undoes_the_run(
    collection: Collection, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When reading fails midway, nothing of the run stays, nor what the object knew of it."""
    monkeypatch.setattr("store.content.runs._BATCH", 1)
    run = make_run("r", {"1": [("a", 1.0)], "2": [("b", 1.0)], "3": [("c", 1.0)]})
    before = stored_rows(collection_name)

    def failing() -> Iterator[Ranking]:
        yield from run.rankings[:2]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        collection.runs.add(dataclasses.replace(run, rankings=failing()))  # type: ignore[arg-type]  # not a list
    assert stored_rows(collection_name) == before
    with Collection(collection_name) as other:
        other.runs.add(make_run("other", {"9": [("z", 1.0), ("b", 0.5)]}))
    collection.runs.add(run)
    assert_same_run(stored_run(collection, collection.runs.all(["r"])[0]), run)


def packed(numbers: list[int], topic: str = "1") -> PackedRanking:
    """Make a ranking of numbered documents."""
    docnos = [f"{number:03}" for number in numbers]
    scores = -np.arange(len(numbers), dtype=np.float64)
    return pack_ranking(topic, docnos, np.array(numbers, np.int32), scores, None)


def test_numbered_documents_become_row_ids(collection: Collection) -> None:
    """Readers number by themselves; a refused run spoils no reader's numbers."""
    one, two = NumberedDocuments(), NumberedDocuments()

    def add(tag: str, numbers: list[int], numbered: NumberedDocuments, sha256: str = "") -> None:
        about = StoredRun(tag, "", contributes=True, sha256=sha256 or tag, file=tag)
        collection.runs.add_packed(about, iter([packed(numbers)]), numbered)

    def docnos(tag: str) -> list[str]:
        (stored,) = collection.runs.all([tag])
        return stored_run(collection, stored).rankings[0].docnos

    one.extend(["a", "b"])
    add("r", [1, 0], one)
    two.extend(["b", "c"])
    add("s", [0, 1], two)
    one.extend(["c", "d"])
    with pytest.raises(ConflictError):
        add("r", [3, 0], one, sha256="other")
    two.extend(["e"])
    add("t", [2, 0], two)
    one.extend(["f"])
    add("u", [4, 3, 2, 1, 0], one)
    assert [docnos(tag) for tag in "rstu"] == [list("ba"), list("bc"), list("eb"), list("fdcba")]
    add("u", [4, 3, 2, 1, 0], one)  # there already: nothing is looked at
    assert docnos("u") == list("fdcba")
