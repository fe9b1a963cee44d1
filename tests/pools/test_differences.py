"""Two pools, or two qrels, compared: against sets and plain loops."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler import pool, pool_diff
from pooler.pools.change import PoolSide, by_topic
from pooler.pools.change import pool_diff as sides_of
from store.analysis.pools.differences import ChangeKind, order_effect, qrels_diff
from store.analysis.rankings import JudgedRankings, judged_rankings
from store.errors import ArgumentError
from store.records import Qrel
from tests.helpers.run import Cli, run_inside, write

PAIRS = st.sets(st.tuples(st.sampled_from(["9", "10", "a"]), st.sampled_from("xyz")))


@given(first=PAIRS, second=PAIRS)
def test_every_document_is_on_one_side(first: set[tuple[str, str]], second: set[tuple[str, str]]) -> None:
    """The three lists are the two differences and the intersection, sorted; topics add up."""
    found = sides_of(first, second)
    sides = {PoolSide.ONLY_A: first - second, PoolSide.ONLY_B: second - first, PoolSide.BOTH: first & second}
    assert {side: set(pairs) for side, pairs in found.items()} == sides
    for side, pairs in found.items():
        assert pairs == sorted(pairs, key=lambda p: (["9", "10", "a"].index(p[0]), p[1]))
        assert sum(len(parts[side]) for parts in by_topic(found).values()) == len(pairs)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pool two runs at depth 1 as `main`, then a late one with them at 2 as `deep`.

    main: a, b of topic 1; e of topic 2. deep: a, b, c, x of topic 1; e, f of topic 2.
    ann grades c 2 and a 0.
    """
    folder = tmp_path_factory.mktemp("two-pools")

    def call(*arguments: str | Path) -> None:
        run_inside(*arguments, "--collection", folder / "collection.db").fine()

    call("init", "--scale", "0-2")
    for tag, rows in {
        "x": ("1 Q0 a 1 2 x", "1 Q0 c 2 1 x", "2 Q0 e 1 2 x", "2 Q0 f 2 1 x"),
        "y": ("1 Q0 b 1 2 y", "1 Q0 c 2 1 y"),
        "late": ("1 Q0 c 1 2 late", "1 Q0 x 2 1 late"),
    }.items():
        write(folder / f"{tag}.run", *rows)
    call("import", "runs", folder / "x.run", folder / "y.run")
    call("pool", "--depth", "1", "--name", "main")
    call("import", "runs", folder / "late.run")
    call("pool", "--depth", "2", "--name", "deep", "--out", folder / "deep.txt")
    write(folder / "q.txt", "1 0 c 2", "1 0 a 0")
    call("import", "judgements", folder / "q.txt", "--judge", "ann")
    return folder


@pytest.fixture
def two_pools(here: Path, prepared: Path) -> Path:
    """Work in a copy of it."""
    shutil.copytree(prepared, here, dirs_exist_ok=True)
    return here


def test_diff_counts_sides_states_and_bringers(cli: Cli, two_pools: Path) -> None:
    """c, x of topic 1 and f of topic 2 are new; c is judged; who has them within depth 2."""
    answer = cli("pool", "diff", "main", "deep", "--format", "json")
    found = answer.fine().json()
    states = ("documents", "judged", "cannot", "skipped", "unjudged", "outside", "not_pooled")
    assert {row["what"]: tuple(row[name] for name in states) for row in found["summary"]} == {
        "only in A": (0, 0, 0, 0, 0, 0, 0),
        "only in B": (3, 1, 0, 0, 2, 0, 0),
        "in both": (3, 1, 0, 0, 2, 0, 0),
    }
    assert [(row["run"], row["documents"], row["alone"]) for row in found["runs"]] == [
        ("late", 2, 1),
        ("x", 2, 1),
        ("y", 1, 0),
    ]
    listed = [
        (row["topic"], row["docno"], row["state"], row["grade"], row["rank"], row["runs"])
        for row in found["documents"]
    ]
    assert listed == [
        ("1", "c", "judged", 2, 1, ["late", "x", "y"]),
        ("1", "x", "unjudged", None, 2, ["late"]),
        ("2", "f", "unjudged", None, 2, ["x"]),
    ]
    topics = {(row["topic"], row["what"]): row["documents"] for row in found["topics"]}
    assert topics == {
        ("1", "only in A"): 0, ("1", "only in B"): 2, ("1", "in both"): 2,
        ("2", "only in A"): 0, ("2", "only in B"): 1, ("2", "in both"): 1,
    }  # fmt: skip
    assert "2 topics of 2 differ" in cli("pool", "diff", "main", "deep", "--by-topic").fine().out
    table = cli("pool", "diff", "main", "deep").fine().out
    assert "A = pool `main`, B = pool `deep`" in table
    assert "brought by no run" not in table


def test_a_withdrawn_pool_keeps_its_states_apart(cli: Cli, two_pools: Path) -> None:
    """What it alone has is not pooled, or judged outside every pool; never unjudged."""
    cli("pool", "drop", "--pool", "deep").fine()
    answer = cli("pool", "diff", "main", "deep", "--format", "json").fine().json()
    (row,) = (row for row in answer["summary"] if row["what"] == "only in B")
    assert (row["judged"], row["unjudged"], row["outside"], row["not_pooled"]) == (0, 0, 1, 2)
    assert "B = pool `deep`, withdrawn" in cli("pool", "diff", "main", "deep").fine().out


def test_files_need_no_collection(cli: Cli, two_pools: Path) -> None:
    """Two files are compared as they are, one of them from stdin; states are not known."""
    write(two_pools / "other.txt", "1 a", "9 q")
    files = ("deep.txt", "other.txt", "--collection", "none.db", "--format", "json")
    answer = cli("pool", "diff", *files).fine()
    rows = {row["what"]: (row["documents"], row["judged"], row["reason"]) for row in answer.json()["summary"]}
    assert rows == {
        "only in A": (5, None, "no-collection"),
        "only in B": (1, None, "no-collection"),
        "in both": (1, None, "no-collection"),
    }
    assert "the state of the documents is not known" in answer.err
    piped = cli("pool", "diff", "deep.txt", "-", "--format", "json", stdin=b"1 a\n9 q\n").fine()
    assert [row["documents"] for row in piped.json()["summary"]] == [5, 1, 1]
    assert [row["not_pooled"] for row in piped.json()["summary"]] == [0, 1, 0]


def test_what_a_replaced_run_brought_is_not_known(cli: Cli, two_pools: Path) -> None:
    """A run of another file than the pool's says nothing; the others do."""
    write(two_pools / "late.run", "1 Q0 zz 1 2 late")
    cli("import", "runs", "late.run", "--replace").fine()
    answer = cli("pool", "diff", "main", "deep", "--format", "json").fine()
    assert "what `late` brought is not known" in answer.err
    assert [row["run"] for row in answer.json()["runs"]] == ["x", "y"]


def test_words_that_name_nothing_or_two_things_are_refused(cli: Cli, two_pools: Path) -> None:
    """An unknown pool names the known; a pool and a file of one name must be told apart."""
    answer = cli("pool", "diff", "main", "dep").failed(1)
    assert "unknown pool `dep`; known: `deep`, `main`" in answer.err
    write(two_pools / "deep", "1 a")
    answer = cli("pool", "diff", "main", "deep").failed(1)
    assert "`deep` is a pool of the collection, and a file here" in answer.err
    cli("pool", "diff", "main", "./deep").fine()
    assert "must not be `-` too" in cli("pool", "diff", "-", "-").failed(1).err
    assert "none.db" in cli("pool", "diff", "main", "deep", "--collection", "none.db").failed(3).err
    cli("pool", "diff", "main").failed(2)
    alone = cli("pool", "diff", "./deep", "main", "--collection", "none.db").failed(3)
    assert "main: there is no such file, and no none.db whose pool it could be" in alone.err


def test_the_word_diff_is_a_command_and_a_file_as_a_path(cli: Cli, two_pools: Path) -> None:
    """A run of that name is ./diff, or stands behind an option."""
    (two_pools / "diff").write_bytes((two_pools / "x.run").read_bytes())
    assert cli("pool", "./diff", "--depth", "1").fine().out == "1 a\n2 e\n"
    assert cli("pool", "--depth", "1", "diff").fine().out == "1 a\n2 e\n"


def test_pools_in_memory_and_files_are_compared_alike(tmp_path: Path) -> None:
    """A pool, the file it is written to, and the pairs in it are one and the same."""
    found = pool({"x": {"1": {"a": 3.0, "b": 2.0}}, "y": {"1": {"a": 1.0}, "10": {"c": 1.0}}}, depth=2)
    found.write(tmp_path / "pool.txt")
    for same in (found.pool, tmp_path / "pool.txt", {("1", "a"), ("1", "b"), ("10", "c")}):
        compared = pool_diff(same, {("1", "b"), ("2", "d")})
        assert (compared.only_a, compared.only_b) == ([("1", "a"), ("10", "c")], [("2", "d")])
        assert compared.both == [("1", "b")]
    assert compared.names() == ("summary", "topics", "documents")
    assert compared.table("summary").to_dict()["reason"] == ["no-collection"] * 3
    assert "judged" not in compared.views("summary")[0].columns
    assert compared.table("topics").notes == ["3 topics of 3 differ."]


CODES = st.integers(-2, 2)
FILES = st.dictionaries(
    st.tuples(st.sampled_from(["1", "001", "NA", "10"]), st.sampled_from("abA")), CODES, max_size=12
)


def as_qrels(codes: dict[tuple[str, str], int]) -> list[Qrel]:
    """Turn codes by topic and docno into lines."""
    return [Qrel(topic, docno, code) for (topic, docno), code in codes.items()]


def obvious_kind(before: int | None, after: int | None) -> ChangeKind:
    """Say what became of a document, one case after the other; -1 alone is no judgement."""
    if before is None:
        return ChangeKind.LISTED if after == -1 else ChangeKind.ADDED
    if after is None:
        return ChangeKind.UNLISTED if before == -1 else ChangeKind.REMOVED
    if before == -1:
        return ChangeKind.NOW_JUDGED
    return ChangeKind.NOW_UNJUDGED if after == -1 else ChangeKind.CHANGED


@given(FILES, FILES)
def test_every_pair_is_counted_once_and_of_the_right_kind(
    before: dict[tuple[str, str], int], after: dict[tuple[str, str], int]
) -> None:
    """Differences, likes and the table of codes are those of a plain walk over all pairs."""
    found = qrels_diff(as_qrels(before), as_qrels(after))
    differing = {}
    pairs: dict[tuple[int | None, int | None], int] = {}
    for pair in before.keys() | after.keys():
        codes = (before.get(pair), after.get(pair))
        pairs[codes] = pairs.get(codes, 0) + 1
        if codes[0] != codes[1]:
            differing[pair] = (*codes, obvious_kind(*codes))
    told = {(one.topic, one.docno): (one.before, one.after, one.kind) for one in found.differences}
    assert told == differing
    assert len(found.differences) == len(differing)
    assert found.pairs == pairs
    assert found.n_same == sum(before[pair] == after.get(pair) for pair in before)
    assert sum(found.counts().values()) == len(differing)
    assert set(found.same) == {topic for topic, _ in before.keys() | after.keys()}


def test_negative_codes_are_unjudged_unless_they_are_grades() -> None:
    """From -1 to 0 a document is now judged; on a scale with -1 its grade changed."""
    before, after = [Qrel("1", "a", -1)], [Qrel("1", "a", 0)]
    [difference] = qrels_diff(before, after).differences
    assert difference.kind is ChangeKind.NOW_JUDGED
    [difference] = qrels_diff(before, after, unjudged=()).differences
    assert difference.kind is ChangeKind.CHANGED


def test_another_iteration_is_no_other_judgement() -> None:
    """The same grade of another round is alike, and counted."""
    found = qrels_diff([Qrel("1", "a", 1, "0")], [Qrel("1", "a", 1, "2")])
    assert (found.differences, found.n_same, found.n_iterations) == ((), 1, 1)


def test_document_twice_in_a_topic_is_refused() -> None:
    """Which of two grades counts is never guessed."""
    with pytest.raises(ArgumentError, match="`after` must have each document once a topic"):
        qrels_diff([], [Qrel("1", "a", 1), Qrel("1", "a", 1)])


def arrays(*relevant: bool) -> JudgedRankings:
    """Lay judgements of documents 0, 1, 2 of one topic over three runs."""
    rankings = {
        ("x", "1"): np.array([0, 1, 2]),
        ("y", "1"): np.array([1, 0, 2]),
        ("z", "1"): np.array([2, 1, 0]),
    }
    judged = {"1": (np.arange(3), np.array(relevant))}
    return judged_rankings(["1"], ("x", "y", "z"), rankings, judged, cutoff=10)


def test_effect_on_runs_is_that_of_a_hand_calculation() -> None:
    """One relevant document at ranks 1, 2, 3, then another at ranks 3, 3, 1: APs and places.

    Before: APs 1, 1/2, 1/3. After: 1/3, 1/3, 1. Of three pairs x-z and y-z swap, and x-y is tied
    after: tau-b = -2 / sqrt(3 * 2). tau_AP with the first places before: place 2 has the tied run
    above, which is half right; place 3 has two runs above, both wrong: 2/2 * (.5/1 + 0/2) - 1. With
    the first places after: x and y share places 2 and 3, each below z, which is wrong, and half
    right for each other: 2/2 * (0/1 + .5/2) - 1.
    """
    effect = order_effect(arrays(True, False, False), arrays(False, False, True))
    assert effect.map_before == pytest.approx([1, 1 / 2, 1 / 3])
    assert effect.map_after == pytest.approx([1 / 3, 1 / 3, 1])
    assert (effect.places_before, effect.places_after) == ((1, 2, 3), (2, 2, 1))
    assert effect.tau.tau == pytest.approx(-2 / 6**0.5)
    assert effect.tau_ap.tau == pytest.approx(-1 / 2)
    assert effect.tau_ap_reversed.tau == pytest.approx(-3 / 4)
    assert effect.n_swapped == 2


def test_order_without_a_relevant_document_is_undefined() -> None:
    """Where one file has nothing relevant there is no MAP, no tau and no count of swaps."""
    effect = order_effect(arrays(True, False, False), arrays(False, False, False))
    assert (effect.n_topics_before, effect.n_topics_after) == (1, 0)
    assert np.isnan(effect.map_after).all()
    assert effect.places_after == (None, None, None)
    assert (effect.tau.tau, effect.tau.reason) == (None, "no-relevant")
    assert (effect.tau_ap.tau, effect.n_swapped) == (None, None)


def test_crossings_are_of_changed_grades_alone() -> None:
    """A grade that is no longer listed, or now unjudged, did not become irrelevant."""
    before = [Qrel("1", docno, 2) for docno in "abcd"]
    after = [Qrel("1", "a", -1), Qrel("1", "b", 0), Qrel("1", "c", 1)]
    assert qrels_diff(before, after).crossings(1) == (0, 1)
    assert qrels_diff(before, after).crossings(2) == (0, 2)
    assert qrels_diff(before, after, unjudged=()).crossings(1) == (0, 2)
