"""Runs: packed, and given back in any of the five orders exactly as their files said; stored numbers."""

from __future__ import annotations

import dataclasses
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sqlalchemy import select
from sqlmodel import SQLModel

from pooler.reading.tops import top_of
from store.analysis.arrays import TopDocuments
from store.collection import Collection
from store.content.rankings import NumberedDocuments
from store.db.columns import raw_form, raw_rows
from store.db.engine import reading
from store.db.packing import (
    PackedRanking,
    pack_floats,
    pack_integers,
    pack_ranking,
    packed_elements,
    unpack_floats,
    unpack_integers,
)
from store.db.tables import JUDGEMENT
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.overview import float_at, read_ids
from store.ranking import ORDERS, Order, rank_order, ties_at_cut
from store.records import ImportReport, Ranking, Run, StoredRun
from store.text import natural_key
from tests.helpers.full_collection import fill
from tests.helpers.obvious_reader import Row, first_of
from tests.helpers.strategies import examples
from tests.helpers.world import (
    carry,
    change_stored,
    engine_of,
    make_pool,
    make_run,
    pairs_to_judge,
    statements,
    stored_rows,
    stored_run,
)

docnos = st.lists(
    st.sampled_from(["a", "A", "b", "10", "9", "09", "é", "e\u0301", "日本", "\U0001f377", "\uff21",
                     '"x', "2681119#1", "NA", "-", "a-", "z", "zz"]),
    unique=True, max_size=12,
)  # fmt: skip
NEAR = [1.0, 1.00000001, 1.00000002, 16777216.0, 16777217.0, 0.0, -0.0, 5e-324, 1e300, 2e300, -1e300]
numbers = [
    st.sampled_from(NEAR),
    st.sampled_from([2.5, 1.5, 1.0]),
    st.floats(allow_nan=False, allow_infinity=False),
]


@st.composite
def rankings(draw: st.DrawFn, topic: str, *, are_ranked: bool = False) -> Ranking:
    """Draw a ranking in any file order, with ties, near ties, ranks that disagree with scores, or none."""
    found = draw(docnos)
    scores = draw(st.lists(draw(st.sampled_from(numbers)), min_size=len(found), max_size=len(found)))
    rank = st.integers(0, 3) | st.sampled_from([2**62, 2**62 + 1]) | st.integers(-(2**63), 2**63 - 1)
    stated = st.lists(rank, min_size=len(found), max_size=len(found))
    ranks = draw(stated if are_ranked else st.none() | stated)
    return Ranking(
        topic, found, np.array(scores, np.float64), None if ranks is None else np.array(ranks, np.int64)
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
@settings(max_examples=examples(10))
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


def test_rankings_in_hand_outlive_a_failed_import(collection: Collection) -> None:
    """What was read keeps its meaning when a later import is refused."""
    collection.runs.add(make_run("r", {"1": [("a", 1.0), ("b", 0.5)]}))
    ranked = collection.runs.ranked()
    with pytest.raises(ConflictError):
        collection.runs.add(make_run("r", {"1": [("c", 1.0)]}, sha256="other"))
    ids = ranked.rankings["r", "1"].tolist()
    assert [ranked.docnos[number] for number in ids] == ["a", "b"]
    assert [ranked.ids[docno] for docno in "ab"] == ids


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
    other = make_run("bm25", {"1": [("z", 1.0)]}, sha256="other")
    # A new file of the run stays in its group unless another one is given; whether it feeds is said anew.
    assert collection.runs.add(other, replace=True) == ImportReport(replaced=1)
    assert_same_run(
        stored_run(collection, collection.runs.all()[0]), dataclasses.replace(other, group="unit")
    )


def test_runs_are_sorted_bytewise(collection: Collection) -> None:
    """Tags sort by their UTF-8 bytes on both engines, capitals before small letters."""
    tags = ["b", "B", "a-1", "a1", "A", "é", "e", "z", "日本", "\uff21", "\U0001f377", "10", "9"]
    for tag in tags:
        collection.runs.add(make_run(tag, {"1": [("x", 1.0)]}))
    found = [run.tag for run in collection.runs.all()]
    assert found == sorted(tags, key=lambda tag: tag.encode())
    assert [run.tag for run in collection.runs.all(["z", "B", "a1"])] == ["B", "a1", "z"]


def test_run_of_many_topics_comes_back(collection: Collection) -> None:
    """Of more topics than are written at a time."""
    run = make_run("r", {str(number): [(f"d{number}", 1.0), ("both", 0.5)] for number in range(300)})
    collection.runs.add(run)
    assert_same_run(stored_run(collection, collection.runs.all()[0]), run)


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


def assert_as_run_says(
    collection: Collection, top: TopDocuments, runs: list[Run], depth: int, order: Order
) -> None:
    """Compare arrays with the first documents of the runs in memory, ties and all."""
    names = collection.documents.names({number for number in top.ids.ravel().tolist() if number >= 0})
    assert top.tags == tuple(sorted(run.tag for run in runs))
    assert top.scores is not None
    for run in runs:
        expected = top_of(run, depth, order=order)
        row = top.tags.index(run.tag)
        for column, topic in enumerate(top.topics):
            ids, scores = top.ids[row, column].tolist(), top.scores[row, column]
            length = int(top.lengths[row, column])
            n_taken = min(length, depth)
            assert ids[n_taken:] == [-1] * (len(ids) - n_taken)
            assert np.isnan(scores[n_taken:]).all()
            if topic not in expected.topics:
                assert length == 0
                continue
            one = expected.topics[topic]
            assert length == one.n_documents
            assert [names[number] for number in ids[:n_taken]] == one.docnos
            assert scores[:n_taken].view(np.int64).tolist() == one.scores.view(np.int64).tolist()
            tied = int(top.tied_in[row, column]), int(top.tied_out[row, column])
            assert tied == (one.n_tied_in, one.n_tied_out)


@settings(max_examples=examples(5))
@given(st.data())
def test_top_documents_are_those_of_the_runs(collection: Collection, data: st.DataObject) -> None:
    """In every order and at every depth: documents, scores, lengths and ties at the cut."""
    runs = []
    for tag in ("s", "r"):
        topics = data.draw(st.lists(st.sampled_from(["10", "9", "T"]), unique=True, max_size=3))
        found = [data.draw(rankings(topic, are_ranked=True)) for topic in topics]
        runs.append(Run(tag, found, sha256=uuid.uuid4().hex))
        collection.runs.add(runs[-1], replace=True)
    topics = {ranking.topic for run in runs for ranking in run.rankings}
    longest = max((len(one.docnos) for run in runs for one in run.rankings), default=0)
    for order in ORDERS:
        for depth in (1, 3, 1000):
            top = collection.runs.top(depth=depth, order=order, scores=True)
            assert top.topics == tuple(sorted(topics, key=natural_key))
            assert top.ids.shape == (2, len(topics), min(depth, longest))
            assert top.ids.dtype == np.int32
            assert_as_run_says(collection, top, runs, depth, order)
            plain = collection.runs.top(depth=depth, order=order)
            assert plain.scores is None
            for name in ("ids", "lengths", "tied_in", "tied_out"):
                np.testing.assert_array_equal(getattr(plain, name), getattr(top, name))
        whole = collection.runs.top(depth=None, order=order, scores=True)
        assert_as_run_says(collection, whole, runs, 1000, order)


def test_orders_and_ties_by_hand(collection: Collection) -> None:
    """One small ranking, cut after two documents in five orders, worked out by hand."""
    scores = np.array([1.0, 1.00000001, 1.0, 1.0, 2.0])
    run = Run("r", [Ranking("1", list("abcde"), scores, np.array([2, 1, 2, 2, 9]))], "hash")
    collection.runs.add(run)

    def cut(order: Order) -> tuple[str, int, int]:
        top = collection.runs.top(depth=2, order=order)
        names = collection.documents.names(top.ids[top.ids >= 0].tolist())
        found = "".join(names[number] for number in top.ids[0, 0].tolist())
        return found, int(top.tied_in[0, 0]), int(top.tied_out[0, 0])

    assert cut("trec") == ("eb", 0, 0)
    # As 32-bit floats, a to d all score 1.
    assert cut("trec9") == ("ed", 1, 3)
    assert cut("docno-asc") == ("eb", 0, 0)
    assert cut("rank") == ("ba", 1, 2)
    assert cut("file") == ("ab", 0, 0)


def test_tie_of_zero_and_minus_zero(collection: Collection) -> None:
    """0.0 and -0.0 tie, however the scores are packed."""
    run = Run("r", [Ranking("1", ["a", "b", "c"], np.array([0.0, -0.0, 0.0]), None)], "hash")
    collection.runs.add(run)
    for order, first in (("trec", "c"), ("trec9", "c"), ("docno-asc", "a")):
        top = collection.runs.top(depth=1, order=order)  # type: ignore[arg-type]  # a literal
        assert collection.documents.names(top.ids[top.ids >= 0].tolist()) == {int(top.ids[0, 0, 0]): first}
        assert (top.tied_in.tolist(), top.tied_out.tolist()) == ([[1]], [[2]])


def test_documents_are_not_all_read(collection: Collection) -> None:
    """Only `trec9` asks for docnos, and only for those that it must compare."""
    near = [("a", 1.0), ("b", 1.00000001), ("c", 0.5), ("d", 0.5)]
    collection.runs.add(make_run("r", {"1": near}))
    for order in ORDERS:
        with statements() as sent:
            collection.runs.top(depth=1, order=order)
        asked = [statement for statement, _ in sent if "docno" in statement]
        assert len(asked) == (order == "trec9"), order
        if asked:
            assert asked[0].count(",") == 2  # id, docno; of two documents


def test_runs_that_are_not_there_and_ranks_that_are_no_integers_are_refused(collection: Collection) -> None:
    """Each by the run's name."""
    collection.runs.add(Run("r", [Ranking("1", ["a"], np.array([1.0]), None)], "hash"))
    with pytest.raises(ArgumentError, match="needs integer ranks, which run `r` lacks"):
        collection.runs.top(depth=1, order="rank")
    with pytest.raises(UnknownNameError, match="unknown run `s`"):
        collection.runs.top(["s"], depth=1)


def test_collection_without_runs(collection: Collection) -> None:
    """Without runs, or without rankings, the arrays are empty and have three dimensions."""
    top = collection.runs.top(depth=5, scores=True)
    assert (top.tags, top.topics, top.ids.shape, top.lengths.shape) == ((), (), (0, 0, 0), (0, 0))
    collection.runs.add(make_run("void", {}))
    top = collection.runs.top(depth=5)
    assert (top.tags, top.ids.shape) == (("void",), (1, 0, 0))


def test_only_the_named_runs_are_there(collection: Collection) -> None:
    """Topics are those of the named runs; rows stand by tag."""
    for tag, topic in (("b", "2"), ("a", "10"), ("c", "3")):
        collection.runs.add(make_run(tag, {topic: [("x", 1.0)]}))
    top = collection.runs.top(["b", "a"], depth=1)
    assert (top.tags, top.topics) == (("a", "b"), ("2", "10"))
    assert top.lengths.tolist() == [[0, 1], [1, 0]]


# Few different scores and short docnos of few characters, so that most rankings have ties and
# docnos that begin alike; -0.0 ties with 0.0.
few_scores = st.sampled_from([-1.5, -0.0, 0.0, 0.5, 0.5000000001, 1e300]) | st.floats(
    allow_nan=False, allow_infinity=False
)
rows = st.lists(
    st.tuples(st.text("ab0é東😀", max_size=4), few_scores, st.integers(-3, 5)),
    unique_by=lambda row: row[0],
    max_size=40,
)


@pytest.mark.parametrize("order", ORDERS)
@given(rows=rows)
@example(rows=[])
def test_rank_order_is_the_sort_by_key(order: Order, rows: list[tuple[str, float, int]]) -> None:
    """Every order equals plain sorts by its definition, for text and bytes alike."""
    docnos = [docno for docno, _, _ in rows]
    values = np.array([score for _, score, _ in rows], dtype=np.float64)
    ranks = np.array([rank for _, _, rank in rows], dtype=np.int64)
    expected = first_of([Row(*row) for row in rows], len(rows), order)
    assert expected is not None
    for named in (docnos, [docno.encode() for docno in docnos]):
        positions = rank_order(named, values, ranks, order=order)
        assert positions.dtype == np.int64
        assert [docnos[place] for place in positions.tolist()] == expected.docnos


@pytest.mark.vector("trec_eval 10.0: ties a, b with equal scores give b first; 2 before 10")
def test_trec_order_puts_tied_docnos_in_reverse_byte_order() -> None:
    """As trec_eval does with strcmp: "b" before "a", "2" before "10"."""
    docnos = ["a", "b", "10", "2"]
    tied = np.full(4, 0.5)
    assert [docnos[at] for at in rank_order(docnos, tied)] == ["b", "a", "2", "10"]
    ascending = rank_order(docnos, tied, order="docno-asc")
    assert [docnos[at] for at in ascending] == ["10", "2", "a", "b"]


def test_scores_closer_than_single_precision_are_a_tie_to_trec9_only() -> None:
    """1 + 1e-9 is above 1, but both are the same 32-bit float."""
    docnos = ["b", "a"]
    close = np.array([1.0, 1.0 + 1e-9])
    assert rank_order(docnos, close).tolist() == [1, 0]
    assert rank_order(docnos, close, order="docno-asc").tolist() == [1, 0]
    assert rank_order(docnos, close, order="trec9").tolist() == [0, 1]


def test_rank_order_needs_ranks() -> None:
    """Without integral stated ranks there is no order by them."""
    with pytest.raises(ArgumentError, match="`order` needs stated ranks that are integers"):
        rank_order(["a"], np.array([1.0]), order="rank")


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1), st.integers(1, 12))
def test_ties_at_cut_are_those_counted_one_by_one(values: list[float], depth: int) -> None:
    """Documents with the score of the last one taken, inside and outside, if any is outside."""
    ordered = sorted(values, reverse=True)
    inside = sum(score == ordered[depth - 1] for score in ordered[:depth]) if depth <= len(ordered) else 0
    outside = sum(score == ordered[depth - 1] for score in ordered[depth:]) if inside else 0
    expected = (inside, outside) if outside else (0, 0)
    assert ties_at_cut(np.array(ordered), depth) == expected


INT64 = np.iinfo(np.int64)
N_VALUES = st.integers(0, 40)

any_integers = arrays(np.int64, N_VALUES)
small_integers = arrays(np.int64, N_VALUES, elements=st.integers(-3, 70_000))
steps = st.builds(
    lambda first, n: np.arange(n, dtype=np.int64) + first, st.integers(INT64.min, INT64.max - 40), N_VALUES
)
edges = st.lists(
    st.sampled_from([INT64.min, INT64.min + 1, -1, 0, 1, 255, 256, 65_535, 65_536,
                     2**31 - 1, 2**31, -(2**31), -(2**31) - 1, INT64.max - 1, INT64.max]),
    max_size=4,
).map(lambda values: np.array(values, dtype=np.int64))  # fmt: skip

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
any_floats = arrays(np.float64, N_VALUES, elements=finite)
narrow_floats = arrays(
    np.float64, N_VALUES, elements=st.floats(allow_nan=False, allow_infinity=False, width=32)
)


@st.composite
def decimal_texts(draw: st.DrawFn) -> np.ndarray:
    """Draw scores as a run file writes them: decimal digits read by `float`."""
    decimals = draw(st.integers(1, 9))
    digits = draw(st.lists(st.integers(-(10**12), 10**12), max_size=40))
    texts = [f"{value // 10**decimals}.{value % 10**decimals:0{decimals}d}" for value in digits]
    return np.array([float(text) for text in texts], dtype=np.float64)


@given(any_integers | small_integers | steps | edges)
@example(np.array([INT64.max, INT64.min]))  # their difference wraps to 1
@example(np.array([INT64.max]))
@example(np.array([INT64.max - 1, INT64.max]))
@example(np.array([INT64.min]))
@example(np.array([], dtype=np.int64))
def test_integers_come_back(values: np.ndarray) -> None:
    """Every array of 64-bit integers comes back equal, as int64."""
    back = unpack_integers(pack_integers(values), len(values))
    assert back.dtype == np.int64
    assert back.tolist() == values.tolist()


@given(any_floats | narrow_floats | decimal_texts())
@example(np.array([-0.0]))
@example(np.array([0.0, -0.0, 1.5]))
@example(np.array([5e-324, -5e-324, 2.2250738585072009e-308]))
@example(np.array([1e308, -1.7976931348623157e308, 0.5]))
@example(np.array([2147483647.0, -2147483647.0]))
@example(np.array([2147483648.0, -2147483648.0]))
@example(np.array([214748364.7, 0.1]))
@example(np.array([16777217.0, 0.5]))  # the first integer a 32-bit float cannot hold
@example(np.array([], dtype=np.float64))
def test_floats_come_back_bit_for_bit(values: np.ndarray) -> None:
    """Every array of finite floats comes back with the same bits."""
    back = unpack_floats(pack_floats(values))
    assert back.dtype == np.float64
    assert bits(back) == bits(values)


@pytest.mark.parametrize(
    ("values", "size"),
    [
        (list(range(1, 1001)), 9),
        (list(range(-5, 5)), 9),
        ([0, 255, 7], 1 + 3),
        ([0, 256, 7], 1 + 2 * 3),
        ([0, 65_535, 7], 1 + 2 * 3),
        ([0, 65_536, 7], 1 + 4 * 3),
        ([-1, 5, 7], 1 + 4 * 3),
        ([-(2**31), 2**31 - 1, 7], 1 + 4 * 3),
        ([2**31, 0, 7], 1 + 8 * 3),
        ([INT64.min, INT64.max, 7], 1 + 8 * 3),
        ([], 1),
    ],
)
def test_integers_take_the_narrowest_form(values: list[int], size: int) -> None:
    """Consecutive integers take 9 bytes; others 1, 2, 4 or 8 each, by the largest."""
    assert len(pack_integers(np.array(values, dtype=np.int64))) == size


def test_packed_bytes_are_little_endian() -> None:
    """The bytes are those the module's table says, whatever the machine."""
    assert pack_integers(np.array([1, 256])) == b"h" + bytes([1, 0, 0, 1])
    assert pack_integers(np.array([-1, 5])) == b"i" + bytes([255] * 4 + [5, 0, 0, 0])
    assert pack_floats(np.array([1.5, -0.2])) == b"1" + bytes([15, 0, 0, 0, 254, 255, 255, 255])
    assert pack_floats(np.array([-0.0])) == b"f" + bytes([0, 0, 0, 128])


few_values = st.lists(
    st.sampled_from([0.0, -0.0, 1.5, 1.50000001, -2.0, 1 / 3, 16777217.0, 214748364.7, 1e300]), max_size=8
).map(lambda values: np.array(values, dtype=np.float64))


@given(few_values | any_floats | decimal_texts())
@example(np.array([0.0, -0.0]))
@example(np.array([2147483647.0, 2147483646.0]))
@example(np.array([2.147483647, 2.147483646]))
def test_packed_elements_compare_as_the_floats_do(values: np.ndarray) -> None:
    """Elements are equal, or less, exactly where the floats are, -0.0 and 0.0 being equal."""
    elements = packed_elements(pack_floats(values))
    assert elements.shape == values.shape
    with np.errstate(invalid="ignore"):
        assert ((elements[:, None] == elements) == (values[:, None] == values)).all()
        assert ((elements[:, None] < elements) == (values[:, None] < values)).all()


def slow_pack_floats(values: np.ndarray) -> bytes:
    """Try every form on all values, the narrowest first: what `pack_floats` must answer."""
    for decimals in range(10):
        scaled = [round(value * 10.0**decimals) for value in values.tolist()]
        exact = all(one / 10.0**decimals == value for one, value in zip(scaled, values.tolist(), strict=True))
        fits = all(abs(one) <= 2**31 - 1 for one in scaled)
        has_minus_zero = any(value == 0 and np.signbit(value) for value in values)
        if exact and fits and not has_minus_zero:
            return str(decimals).encode() + np.array(scaled, "<i4").tobytes()
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype("<f4")
    if (narrow.astype(np.float64) == values).all():
        return b"f" + narrow.tobytes()
    return b"d" + values.astype("<f8").tobytes()


@given(few_values | any_floats | narrow_floats | decimal_texts())
def test_few_values_rule_out_no_form_that_fits(values: np.ndarray) -> None:
    """The form taken is the first that gives all values back, and no value raises a warning."""
    values = values[np.abs(values) < 1e290]  # above it the slow reference overflows
    assert pack_floats(values) == slow_pack_floats(values)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([0.0, -0.0, 1.0, 2.5]),
                  st.integers(0, 9)),
        unique_by=lambda line: line[0],
    ),
    st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_ranking_is_packed_in_trec_order(
    lines: list[tuple[str, float, int]], has_ranks: bool, is_sorted: bool
) -> None:
    """Numbers, scores, ranks and positions stand in trec order, whatever the file's order is."""
    if is_sorted:
        lines.sort(key=lambda line: (line[1], line[0]), reverse=True)
    docnos = [line[0] for line in lines]
    scores = np.array([line[1] for line in lines], dtype=np.float64)
    ranks = np.array([line[2] for line in lines], dtype=np.int64)
    numbers = np.array([ord(docno) for docno in docnos], dtype=np.int32)
    packed = pack_ranking("t", docnos, numbers, scores, ranks if has_ranks else None)
    places = rank_order(docnos, scores)
    assert (packed.topic, packed.length) == ("t", len(lines))
    assert np.frombuffer(packed.documents, "<i4").tolist() == numbers[places].tolist()
    assert bits(unpack_floats(packed.scores)) == bits(scores[places])
    assert unpack_integers(packed.positions, packed.length).tolist() == places.tolist()
    assert (packed.ranks is None) == (not has_ranks)
    if packed.ranks is not None:
        assert unpack_integers(packed.ranks, packed.length).tolist() == ranks[places].tolist()


ids = st.lists(st.integers(1, 2**31 - 1), unique=True, max_size=30)
few_digits = st.integers(-99_999, 99_999).map(lambda number: number / 1000)
scores = st.one_of(
    few_digits, st.floats(allow_nan=False, allow_infinity=False), st.floats(width=32,
                                                                           allow_nan=False,
                                                                           allow_infinity=False)
)  # fmt: skip


@given(ids)
def test_ids_are_those_of_the_list(documents: list[int]) -> None:
    """Every id is read, in order."""
    assert read_ids(np.array(documents, "<i4").tobytes()) == tuple(documents)


def test_ranking_without_documents_has_no_bytes() -> None:
    """SQLite may give no value for no bytes."""
    assert read_ids(None) == read_ids(b"") == ()


@given(st.one_of(st.lists(few_digits, min_size=1), st.lists(scores, min_size=1)))
def test_one_number_is_that_of_all(values: list[float]) -> None:
    """In every form a number read alone is the very one that was packed, bit for bit."""
    packed = pack_floats(np.array(values))
    alone = [float_at(packed, place) for place in range(len(values))]
    assert alone == values == unpack_floats(packed).tolist()
    assert np.signbit(alone).tolist() == np.signbit(values).tolist()


def test_rows_are_what_sqlite_has(tmp_path: Path, postgres_url: str) -> None:
    """Both engines give what SQLite says the file has, in the order of the keys."""
    name = str(tmp_path / "full.db")
    fill(name)
    carry(name, postgres_url)
    with (
        engine_of(name) as here,
        engine_of(postgres_url) as there,
        reading(here) as file,
        reading(there) as server,
        closing(sqlite3.connect(name)) as connection,
    ):
        for table in SQLModel.metadata.sorted_tables:
            keys = ", ".join(column.name for column in table.primary_key)
            stored = connection.execute(f'SELECT * FROM "{table.name}" ORDER BY {keys}').fetchall()
            assert [tuple(row) for row in raw_rows(file, table)] == stored, table.name
            assert [tuple(row) for row in raw_rows(server, table)] == stored, table.name
        chosen = list(raw_rows(server, JUDGEMENT, where="revision = 1"))
        assert {row[4] for row in chosen} == {1}


def test_values_become_what_is_stored(tmp_path: Path) -> None:
    """What the program reads as objects is turned into what the file has, column by column."""
    name = str(tmp_path / "full.db")
    fill(name)
    with engine_of(name) as engine, reading(engine) as session:
        for table in SQLModel.metadata.sorted_tables:
            keys = list(table.primary_key)
            objects = session.execute(select(table).order_by(*keys)).all()
            raw = [
                tuple(
                    None if value is None else raw_form(column)(value)
                    for column, value in zip(table.columns, row, strict=True)
                )
                for row in objects
            ]
            assert raw == [tuple(row) for row in raw_rows(session, table)], table.name
