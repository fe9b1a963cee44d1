"""Pools: stored whole, replaced, exported with grades; and draws of adaptive pools, whoever asks."""

from __future__ import annotations

import json
import multiprocessing
import random
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from store.collection import Collection
from store.content.pools import Draw, Replacement, StoredPool, differences, name_taken
from store.errors import ConflictError, StoreError
from store.records import Action, Decision, JudgeKind, Pool, PoolEntry, Qrel
from tests.helpers.drawing import Watched, adaptive_pool, draw_at_once, ends
from tests.helpers.filled_collection import fill, pairs_of
from tests.helpers.run import Cli, by_rule, write
from tests.helpers.strategies import examples
from tests.helpers.world import JudgeAtWork, engine_of, make_pool, make_run, pairs_to_judge, stored_rows

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


ANY_TEXT = st.text(st.characters())
"""Lone surrogates among it: names of files need be no UTF-8."""

entries = st.builds(
    PoolEntry,
    st.sampled_from(["1", "001", "T"]),
    st.sampled_from(["a", "A", "é", "日本", '"x', "NA", "1"]),
    st.integers(0, 2**31 - 1),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.integers(0, 2**31 - 1),
    st.none() | st.floats(0, 1),
)


@settings(max_examples=examples(10))
@given(
    st.lists(entries, unique_by=lambda entry: (entry.topic, entry.docno)),
    st.dictionaries(ANY_TEXT, ANY_TEXT | st.integers() | st.none()),
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


def test_runs_that_differ_are_named() -> None:
    """By how they differ; runs that fed neither pool are no difference worth a name."""
    old = [{"tag": tag, "sha256": tag} for tag in "abcdefgh"]
    new = [{"tag": "a", "sha256": "other"}, {"tag": "z", "sha256": "z", "contributes": False}]
    assert differences({"runs": old}, {"runs": new}) == (
        " (run `a` had another file; run `b`, `c`, `d`, `e`, `f` and 2 more too)"
    )
    assert differences({"runs": new}, {"runs": new[:1]}) == " (what is known of its runs)"
    assert differences({"without": {"pairs": 1}}, {}) == " (what it leaves out)"


def test_a_name_that_is_taken_says_what_differs_and_what_to_do() -> None:
    """One line with the two depths, and a hint that names both ways out."""
    old, new = ({"parameters": {"depth": depth}, "pairs": depth} for depth in (5, 7))
    error = name_taken("main", old, new, withdrawn=False, adaptive=False)
    assert error.message == "there is another pool named `main` (depth 5, not 7)"
    assert error.hint is not None
    assert "--name NEW" in error.hint
    assert "--replace" in error.hint
    assert "--as-pool" not in error.hint


def cells(text: str) -> list[list[str]]:
    """Return the fields of every line."""
    return [line.split(" ") for line in text.splitlines()]


def test_lines_are_those_of_the_pool_with_a_grade_behind_each(cli: Cli, judged: Path) -> None:
    """The first six columns are what `pooler pool --annotated` wrote; the seventh is the grade."""
    cli("pool", "--runs", "runs.tsv", "--depth", "5", "--annotated", "--out", "then.txt").fine()
    told = cli("export", "pool", "--annotated", "--qrels", "middle", "--out", "now.txt").fine()
    then, now = ((judged / f"{name}.txt").read_text("utf-8") for name in ("then", "now"))
    assert [row[:6] for row in cells(now)] == cells(then)
    qrels = [line.split() for line in cli("export", "qrels", "middle").out.splitlines()]
    grades = {(row[0], row[2]): row[3] for row in qrels}
    assert [row[6] for row in cells(now)] == [grades[row[0], row[1]] for row in cells(now)]
    assert "84 documents of 8 runs, 0 unjudged" in told.err
    facts = json.loads((judged / "now.txt.manifest.json").read_text("utf-8"))
    plain = json.loads((judged / "then.txt.manifest.json").read_text("utf-8"))
    assert facts["runs"] == plain["runs"]
    assert facts["grades"]["judges"] == [{"name": "middle", "kind": "model"}]


def test_tied_documents_are_called_undecided(cli: Cli, judged: Path) -> None:
    """A grade that a rule leaves open is the word undecided; every other is the exported one."""
    rule = ("--aggregate", "majority", "--ties", "unresolved")
    rows = cells(by_rule(cli, "export", "pool", "--annotated", *rule).fine().out)
    words = {(row[0], row[1]): row[6] for row in rows}
    qrels = cells(by_rule(cli, "export", "qrels", *rule).fine().out)
    grades = {(row[0], row[2]): row[3] for row in qrels}
    tied = words.keys() - grades.keys()
    assert {words[pair] for pair in tied} == {"undecided"}
    assert {pair: word for pair, word in words.items() if pair not in tied} == grades


def test_documents_without_a_grade_have_a_word(cli: Cli, judged: Path) -> None:
    """Skipped, impossible and unjudged are words, never numbers; nobody needs to have graded."""
    cli("judges", "add", "anna").fine()
    with Collection(str(judged / "collection.db")) as opened:
        desk = opened.desk("anna")
        docnos = [task.docno for task in desk.queue("G01")][:4]
        desk.record(Decision("G01", docnos[0], Action.SKIP))
        desk.record(Decision("G01", docnos[1], Action.CANNOT, reason="cut off"))
        desk.record(Decision("G01", docnos[2], Action.NOTE, note="?"))
        before = cells(cli("export", "pool", "--annotated", "--qrels", "anna").fine().out)
        desk.record(Decision("G01", docnos[3], Action.JUDGE, grade=1))
        desk.leave()
    expected = dict(zip(docnos, ("skipped", "cannot", "unjudged", "1"), strict=True))
    after = cells(cli("export", "pool", "--annotated", "--qrels", "anna").fine().out)
    for rows, words in ((before, expected | {docnos[3]: "unjudged"}), (after, expected)):
        assert len(rows) == len(after)
        for topic, docno, *_, word in rows:
            assert word == (words.get(docno, "unjudged") if topic == "G01" else "unjudged")


def test_pool_without_any_judgement_is_unjudged(cli: Cli, garden: Path) -> None:
    """Before anybody judged, every line ends with the word unjudged."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "3").fine()
    told = cli("export", "pool", "--annotated", "--out", "p").fine().err
    assert {row[6] for row in cells((garden / "p").read_text("utf-8"))} == {"unjudged"}
    assert "runs, " in told
    assert json.loads((garden / "p.manifest.json").read_text("utf-8"))["grades"] is None


def test_imported_pool_has_lines_for_documents_that_no_run_has(cli: Cli, here: Path) -> None:
    """Without a run a document has one line of dashes; with runs, one for each that has it."""
    cli("init", "--scale", "0-2").fine()
    write(here / "q", "10 0 d1 2", "10 0 d9 0", "9 0 d1 1")
    cli("import", "judgements", "q", "--judge", "me", "--as-pool", "official").fine()
    lines = ["9 d1 - - - - 1", "10 d1 - - - - 2", "10 d9 - - - - 0"]
    options = ("export", "pool", "--annotated", "--name", "official")
    assert cli(*options).fine().out.splitlines() == lines
    write(here / "a", *(f"10 Q0 d{number} 0 {99 - number} a" for number in (3, 2, 1)), "8 Q0 d1 1 1 a")
    write(here / "b", "10 Q0 d1 1 0.1 b")
    write(here / "late", "9 Q0 d1 1 0.1 late")
    write(here / "runs.tsv", "file\ttag\tgroup\tcontributes", "a\ta\tacme\tyes", "b\tb\t\tyes",
          "late\tlate\t\tno")  # fmt: skip
    cli("import", "runs", "--runs", "runs.tsv").fine()
    told = cli(*options).fine()
    assert told.out.splitlines() == [
        "9 d1 - - - - 1",
        "10 d1 a acme 1 98.0 2",
        "10 d1 b - 1 0.1 2",
        "10 d9 - - - - 0",
    ]
    assert "3 documents of 2 runs, 0 unjudged" in told.err


def test_contributors_are_those_that_the_pool_looked_at(cli: Cli, here: Path) -> None:
    """A run that has the document below the depth, and one that came later, brought nothing."""
    cli("init", "--scale", "0-2").fine()
    write(here / "a", "1 Q0 d1 1 9 a", "1 Q0 d2 2 8 a")
    write(here / "b", "1 Q0 d2 1 9 b", "1 Q0 d1 2 8 b")
    cli("import", "runs", "a", "b").fine()
    cli("pool", "--depth", "1").fine()
    write(here / "c", "1 Q0 d1 1 9 c")
    cli("import", "runs", "c").fine()
    rows = cli("export", "pool", "--annotated").fine().out.splitlines()
    assert rows == ["1 d1 a - 1 9.0 unjudged", "1 d2 b - 1 9.0 unjudged"]


def test_plain_pool_has_no_grades(cli: Cli, judged: Path) -> None:
    """Whose grades count is asked of the annotated pool alone."""
    refused = cli("export", "pool", "--qrels", "strict").failed(1).err
    assert "`--qrels` is for a pool with grades" in refused
    assert "hint: --annotated writes them" in refused
    assert Counter(len(row) for row in cells(cli("export", "pool").fine().out)) == {2: 84}


def test_other_pools_are_named(cli: Cli, judged: Path) -> None:
    """Who exports one of several pools is told of the others, but not of those withdrawn."""
    assert cli("export", "pool").fine().err == ""
    for depth, name in (("6", "deep"), ("7", "late")):
        cli("pool", "--add", "--depth", depth, "--name", name).fine()
    words = "this is only pool `pool`; other pools: deep, late (--name writes one)"
    assert words in cli("export", "pool").fine().err
    assert words in cli("export", "pool", "--annotated", "--qrels", "strict").fine().err
    cli("pool", "drop", "--pool", "deep").fine()
    assert "other pools: pool (" in cli("export", "pool", "--name", "late").fine().err


HUMAN = JudgeKind.HUMAN
DOCNOS = "abcdef"
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.helpers.world", "tests.helpers.drawing"])


@pytest.fixture
def live(collection: Collection) -> Collection:
    """Make a pool `live` that may draw four of the documents a to f for topics 1 and 2."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, HUMAN)
    collection.pools.add(adaptive_pool({"1": DOCNOS, "2": DOCNOS}, 4))
    return collection


def draw(collection: Collection, topic: str = "1") -> str | None:
    """Draw from the pool `live` by the strategy `ends`."""
    return collection.pools.draw("live", topic, ends(DOCNOS))


def told(collection: Collection, topic: str = "1") -> list[tuple[str, int | None]]:
    """Return what a strategy is told of the draws so far, drawing nothing."""
    watched = Watched(lambda _draws: None)
    assert collection.pools.draw("live", topic, watched) is None
    assert watched.told is not None
    return [(one.docno, one.grade) for one in watched.told]


def drawn(collection: Collection, topic: str = "1") -> list[tuple[int, str]]:
    """Return position and docno of the documents drawn, as the pool has them."""
    entries = collection.pools.get("live").entries
    return sorted((one.position, one.docno) for one in entries if one.sampled and one.topic == topic)


def test_nothing_is_to_be_judged_before_it_is_drawn(live: Collection) -> None:
    """What may be drawn is in no queue; each draw brings one document, in the order of drawing."""
    assert live.desk("ann").queue("1") == []
    for expected in ("a", "f", "e"):
        assert draw(live) == expected
    assert [task.docno for task in live.desk("ann").queue("1")] == ["a", "f", "e"]
    assert drawn(live) == [(0, "a"), (1, "f"), (2, "e")]
    assert drawn(live, "2") == []
    assert live.desk("ann").queue("2") == []
    assert pairs_to_judge(live) == {("1", "a"), ("1", "f"), ("1", "e")}


def test_strategy_is_told_every_draw_and_its_grade(live: Collection) -> None:
    """A hit is followed by the first document left, anything else by the last one."""
    watched = Watched(ends(DOCNOS))
    sequence = []
    for grade in (1, 0, 2):
        docno = live.pools.draw("live", "1", watched)
        assert docno is not None
        JudgeAtWork(live.desk("ann"), "1").grade(docno, grade)
        sequence.append(Draw(docno, grade))
    assert live.pools.draw("live", "1", watched) == "c"
    assert sequence == [Draw("a", 1), Draw("b", 0), Draw("f", 2)]
    assert watched.told == sequence


def test_budget_ends_drawing(live: Collection) -> None:
    """With four drawn the strategy is not asked again; the other topic has a budget of its own."""
    assert [draw(live) for _ in range(4)] == ["a", "f", "e", "d"]
    watched = Watched(ends(DOCNOS))
    assert live.pools.draw("live", "1", watched) is None
    assert watched.n_asked == 0
    assert draw(live, "2") == "a"


def test_nothing_is_drawn_where_nothing_may_be(live: Collection, collection_name: str) -> None:
    """Of a fixed pool, for a topic that the pool lacks, of a withdrawn one: no strategy is asked."""
    live.pools.add(make_pool({"1": "ab", "3": "a"}, name="fixed"))
    before = stored_rows(collection_name)
    assert live.pools.draw("live", "1", lambda _draws: None) is None  # it may end before the budget does
    assert stored_rows(collection_name) == before
    watched = Watched(ends(DOCNOS))
    for pool, topic in (("fixed", "1"), ("live", "3"), ("live", "none")):
        assert live.pools.draw(pool, topic, watched) is None
    live.pools.withdraw("live")
    assert live.pools.draw("live", "1", watched) is None
    assert watched.n_asked == 0


def test_pools_tell_what_is_drawn_and_may_be(live: Collection) -> None:
    """Of an adaptive pool both are known, over all topics; another pool has no such budget."""
    live.pools.add(make_pool({"1": "ab", "3": "a"}, name="fixed"))
    draw(live)
    draw(live)
    draw(live, "2")
    sizes = {pool.name: (pool.pairs, pool.budget) for pool in live.pools.all()}
    assert sizes == {"live": (3, 8), "fixed": (3, None)}
    assert live.pools.get("live").budgets == {"1": 4, "2": 4}


def test_same_pool_again_keeps_its_draws(live: Collection, collection_name: str) -> None:
    """Making the pool once more changes nothing, however much is drawn."""
    draw(live)
    before = stored_rows(collection_name)
    assert not live.pools.add(adaptive_pool({"1": DOCNOS, "2": DOCNOS}, 4))
    assert stored_rows(collection_name) == before


@pytest.mark.parametrize("named", ["a", "z", "nowhere", ""])
def test_document_that_cannot_be_drawn_is_refused(live: Collection, collection_name: str, named: str) -> None:
    """Drawn already, another topic's, in no pool: the strategy is wrong, and nothing is written."""
    live.pools.add(adaptive_pool({"1": "z"}, 1, name="other"))
    draw(live)
    draw(live, "2")
    before = stored_rows(collection_name)
    message = f"the strategy of pool `live` named `{named}`, which cannot be drawn"
    with pytest.raises(StoreError, match=message):
        live.pools.draw("live", "1", lambda _draws: named)
    assert stored_rows(collection_name) == before


def test_strategy_that_fails_writes_nothing(live: Collection, collection_name: str) -> None:
    """An error of the strategy reaches the caller; the next draw is as if it had not been."""

    def fail(_draws: Sequence[Draw]) -> str | None:
        message = "no such run"
        raise ZeroDivisionError(message)

    before = stored_rows(collection_name)
    with pytest.raises(ZeroDivisionError, match="no such run"):
        live.pools.draw("live", "1", fail)
    assert stored_rows(collection_name) == before
    assert draw(live) == "a"


def test_skipped_and_impossible_count_as_drawn_without_reward(live: Collection) -> None:
    """Neither is a grade, and neither is drawn again; a note alone is no grade either."""
    for act in (Action.SKIP, Action.CANNOT, Action.NOTE):
        docno = draw(live)
        assert docno is not None
        JudgeAtWork(live.desk("ann"), "1").act(docno, act, reason="torn", note="n")
    assert told(live) == [("a", None), ("f", None), ("e", None)]
    assert draw(live) == "d"


def test_undo_after_a_draw_leaves_it_drawn(live: Collection) -> None:
    """What was drawn because of a grade stays when the grade is undone; the next draw knows."""
    draw(live)
    sitting = JudgeAtWork(live.desk("ann"), "1")
    sitting.grade("a", 1)
    assert draw(live) == "b"
    sitting.undo()
    assert drawn(live) == [(0, "a"), (1, "b")]
    assert told(live) == [("a", None), ("b", None)]
    assert draw(live) == "f"


def test_grade_that_has_stood_longest_counts_of_two_judges(live: Collection) -> None:
    """Bob was first; once he changes his mind Ann was; a note changes nothing."""
    draw(live)
    ann, bob = (JudgeAtWork(live.desk(judge), "1") for judge in ("ann", "bob"))
    bob.grade("a", 0)
    ann.grade("a", 2)
    assert told(live) == [("a", 0)]
    bob.act("a", Action.NOTE, note="sure")
    assert told(live) == [("a", 0)]
    bob.grade("a", 1)
    assert told(live) == [("a", 2)]
    ann.act("a", Action.NOTE, note="sure too")
    assert told(live) == [("a", 2)]
    ann.act("a", Action.SKIP)
    assert told(live) == [("a", 1)]
    ann.undo()  # her 2 stands again, but Bob's 1 stood through
    assert told(live) == [("a", 1)]
    bob.undo()  # his 0 stands again, newer than her 2
    assert told(live) == [("a", 2)]


def test_judgements_from_elsewhere_count_too(live: Collection) -> None:
    """Imported grades are grades; those of other topics and of documents not drawn are not told."""
    qrels = [Qrel("1", "a", 2), Qrel("1", "f", 1), Qrel("2", "a", 0), Qrel("1", "e", 1)]
    live.judgements.add({"trec": qrels}, JudgeKind.IMPORTED)
    assert draw(live) == "a"
    assert draw(live) == "b"
    assert told(live) == [("a", 2), ("b", None)]
    assert draw(live, "2") == "a"
    assert draw(live, "2") == "f"
    assert told(live, "2") == [("a", 0), ("f", None)]


def test_people_alone_are_told_where_one_has_graded(live: Collection) -> None:
    """Models and imported judges do not steer what is drawn for people, however early their grades were."""
    for docno in "afe":
        assert draw(live) == docno
    live.judgements.add({"gpt": [Qrel("1", "a", 2), Qrel("1", "f", 2)]}, JudgeKind.MODEL)
    assert told(live) == [("a", 2), ("f", 2), ("e", None)]
    live.judgements.add({"trec": [Qrel("1", "e", 1)]}, JudgeKind.IMPORTED)
    assert told(live) == [("a", None), ("f", None), ("e", 1)]
    sitting = JudgeAtWork(live.desk("ann"), "1")
    sitting.grade("a", 0)
    assert told(live) == [("a", 0), ("f", None), ("e", None)]
    sitting.undo()
    assert told(live) == [("a", None), ("f", None), ("e", 1)]


def test_first_current_grade_follows_from_the_events(live: Collection, collection_name: str) -> None:
    """After any sequence of acts of two judges it is the current grade that began to stand first.

    The slow reference reads the events of each judge backwards for as long as the grade is the
    current one.
    """
    dice = random.Random(20010101)
    draw(live)
    draw(live)
    desks = [live.desk(judge) for judge in ("ann", "bob")]
    for _ in range(40):
        sitting = JudgeAtWork(dice.choice(desks), "1")
        act = dice.choice([*(one for one in Action if one != Action.REOPEN), *3 * [Action.JUDGE]])
        if act is Action.UNDO:
            sitting.undo()
        else:
            grade = dice.randrange(3) if act is Action.JUDGE else None
            note = str(dice.random()) if act is Action.NOTE else None
            sitting.act(dice.choice("af"), act, grade=grade, note=note)
        assert told(live) == [(docno, obvious_grade(collection_name, docno)) for docno in "af"]


def obvious_grade(name: str, docno: str) -> int | None:
    """Return the current grade that began to stand first."""
    query = (
        "SELECT judgement.id, judge_id, grade FROM judgement"
        " JOIN document ON document.id = document_id WHERE docno = :docno ORDER BY judgement.id"
    )
    with engine_of(name) as engine, engine.connect() as connection:
        events = connection.execute(text(query), {"docno": docno}).all()
    document_states = []
    for judge in {event.judge_id for event in events}:
        own = [event for event in reversed(events) if event.judge_id == judge]
        current = own[0].grade
        since = [event.id for event in takewhile(lambda one: one.grade == current, own)]  # noqa: B023 - used at once
        if current is not None:
            document_states.append((since[-1], current))
    return min(document_states)[1] if document_states else None


@pytest.mark.slow
def test_two_processes_draw_each_document_once(collection: Collection, collection_name: str) -> None:
    """Drawing at once, two never get the same document or number; no number is left out."""
    docnos = "".join(chr(ord("A") + number) for number in range(58))
    collection.pools.add(adaptive_pool({"1": docnos}, 50))
    collection.close()
    barrier = processes.Barrier(2)
    pipes = [processes.Pipe(duplex=False) for _ in range(2)]
    started = [
        processes.Process(target=draw_at_once, args=(collection_name, docnos, barrier, sender))
        for _, sender in pipes
    ]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
        assert process.exitcode == 0
    first, second = (receiver.recv() for receiver, _ in pipes)
    assert (len(first), len(second)) == (25, 25)
    assert [number for number, _ in sorted(first + second)] == list(range(50))
    assert drawn(collection) == sorted(first + second)
    # Without a grade the strategy takes the first document, then always the last one left.
    assert "".join(docno for _, docno in drawn(collection)) == docnos[0] + docnos[:8:-1]
