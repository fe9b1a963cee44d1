"""Pools planned: official pools, manifests, statistics; runs of files and of a collection."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.pools.contents import PoolStatistics
from pooler.pools.plan import Plan, PoolBuild, pool_lines
from pooler.pools.runs import FileRuns, check_feeding, stored_runs
from pooler.reading.strict import read_run
from pooler.reading.tops import RunTop, read_tops
from store.collection import Collection
from store.errors import ArgumentError, PoolerError
from store.ranking import Order
from store.records import Pool
from tests.helpers.strategies import ids
from tests.helpers.strategy_play import top_run
from tests.helpers.world import parse_scale

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


class Built(NamedTuple):
    """A pool, and what it is made of."""

    pool: Pool
    statistics: PoolStatistics


def build(runs: list[RunTop], **plan: Any) -> Built:
    """Build the pool of runs read from files."""
    made = PoolBuild(FileRuns(runs), Plan(**plan), version="1")
    return Built(made.whole(), made.statistics)


def pairs(pool: Pool) -> set[tuple[str, str]]:
    """Give the (topic, docno) pairs of a pool."""
    return {(entry.topic, entry.docno) for entry in pool.entries}


run_contents = st.dictionaries(
    ids, st.lists(ids, min_size=1, max_size=6, unique=True), min_size=1, max_size=3
)
systems = st.dictionaries(ids, run_contents, min_size=1, max_size=4)


@given(contents=systems, depth=st.integers(1, 6), data=st.data())
def test_build_pool_equals_counting_by_hand(
    contents: dict[str, dict[str, list[str]]], depth: int, data: st.DataObject
) -> None:
    """Pairs, sizes, overlap, uniques and short rankings are those of a plain count."""
    runs = [top_run(tag, topics, depth=depth) for tag, topics in contents.items()]
    result = build(runs)
    owners: dict[tuple[str, str], set[str]] = {}
    for tag, topics in contents.items():
        for topic, docnos in topics.items():
            for docno in docnos[:depth]:
                owners.setdefault((topic, docno), set()).add(tag)
    facts = result.statistics
    assert pairs(result.pool) == set(owners)
    assert facts.total == len(owners) == len(result.pool.entries)
    assert facts.sizes == {
        topic: sum(pair[0] == topic for pair in owners) for topic in {pair[0] for pair in owners}
    }
    counts = [len(tags) for tags in owners.values()]
    assert facts.overlap == {count: counts.count(count) for count in sorted(set(counts))}
    assert facts.unique == {tag: sum(tags == {tag} for tags in owners.values()) for tag in contents}
    lengths = [len(docnos) for topics in contents.values() for docnos in topics.values()]
    assert facts.n_rankings == len(lengths)
    assert facts.n_short == sum(length < depth for length in lengths)
    # The order in which the runs are given changes nothing.
    shuffled = data.draw(st.permutations(runs))
    again = build(shuffled)
    assert again.pool == result.pool
    assert (again.statistics.overlap, again.statistics.unique) == (facts.overlap, facts.unique)


def test_build_pool_topics_are_in_natural_order() -> None:
    """Topic 9 comes before topic 10, and `009` is another topic."""
    runs = [top_run("x", {"10": ["b", "a"], "9": ["c"], "009": ["c"]}, depth=2)]
    lines = list(pool_lines(build(runs).pool))
    assert lines == ["009 c", "9 c", "10 a", "10 b"]


def test_sampled_pool_says_stratum_and_probability() -> None:
    """Two of four documents, all in one stratum: each had a chance of 2/4, taken or not."""
    runs = [top_run("x", {"1": ["a", "b", "c", "d"]}, depth=4)]
    entries = build(runs, strategy="uniform", budget=2, seed=1).pool.entries
    assert sorted(entry.docno for entry in entries) == ["a", "b", "c", "d"]
    assert [entry.stratum for entry in entries] == [1, 1, 1, 1]
    assert [entry.inclusion_probability for entry in entries] == [0.5, 0.5, 0.5, 0.5]


def test_build_pool_manifest_says_how_to_build_it_again() -> None:
    """The manifest holds everything, in JSON values, without times and folders."""
    runs = [
        top_run("y", {"2": ["b", "a", "c"], "10": ["a"]}, depth=2, group="acme"),
        top_run("x", {"2": ["a"]}, depth=2),
    ]
    pool = build(runs, seed=7, name="first", round="1.5").pool
    assert (pool.name, pool.round, pool.run_tags) == ("first", "1.5", ("x", "y"))
    facts = ("tag", "group", "contributes", "file", "sha256", "topics", "documents")
    assert json.loads(json.dumps(pool.manifest)) == {
        "tool": "pooler",
        "version": "1",
        "name": "first",
        "round": "1.5",
        "strategy": "depth",
        "parameters": {"depth": 2},
        "order": "trec",
        "out_order": "docno",
        "seed": 7,
        "runs": [
            dict(zip(facts, ("x", "", True, "x.run", "sha-x", 1, 1), strict=True)),
            dict(zip(facts, ("y", "acme", True, "y.run", "sha-y", 2, 4), strict=True)),
        ],
        "topics": 2,
        "pairs": 3,
        "sizes": {"2": 2, "10": 1},
    }


def test_build_pool_same_tag_twice_names_both_files() -> None:
    """Two runs with one tag are an error that names the files, and says when they are one."""
    one = top_run("x", {"1": ["a"]}, depth=1, file="one.run")
    two = top_run("x", {"1": ["b"]}, depth=1, file="two.run")
    message = r"run tag `x` is that of two files, `one.run` and `two.run`"
    for runs in ([one, two], [two, one]):
        with pytest.raises(PoolerError, match=message) as caught:
            build(runs)
        assert caught.value.hint == "the files have the same bytes: leave one out"
    with pytest.raises(PoolerError, match=message) as caught:
        build([one, replace(two, sha256="other")])
    assert caught.value.hint is None


def real_runs(folder: str, depth: int, order: Order = "trec") -> list[RunTop]:
    """Read every run of a folder of the shared data, or skip the test."""
    place = DATA / folder
    if not place.exists():
        pytest.skip(f"{folder} is absent")
    return read_tops([str(path) for path in sorted(place.iterdir())], depth, order=order)


@pytest.mark.vector("PoolBiasEstimators src/test/resources/TEST/TOY, commit ce84a2d")
def test_build_pool_toy_runs_have_the_known_sizes_and_uniques() -> None:
    """Sizes as counted from the files; at depth 3 in topic 1 A to E bring 1, 2, 2, 3, 3 documents alone."""
    sizes = {1: [5, 4, 5], 2: [9, 8, 9], 3: [13, 12, 13], 5: [20, 20, 20], 10: [40, 38, 36]}
    for depth, known in sizes.items():
        built = build(real_runs("toy-pool/runs", depth))
        assert built.statistics.sizes == dict(zip("123", known, strict=True))
    runs = [replace(run, topics={"1": run.topics["1"]}) for run in real_runs("toy-pool/runs", depth=3)]
    assert build(runs).statistics.unique == {"A": 1, "B": 2, "C": 2, "D": 3, "E": 3}


@pytest.mark.vector("Web-Table-Retrieval-Benchmark, commit 9309976")
def test_build_pool_web_tables_is_what_was_judged() -> None:
    """The pool of seven runs at depth 20 has 7,032 pairs; all 6,949 judged ones are in it."""
    runs = real_runs("wtr-pool/pool-runs", 20)
    pool = build(runs).pool
    with gzip.open(DATA / "wtr-pool" / "rel_table_qrels.txt.gz", "rt", encoding="utf-8") as file:
        judged = {(fields[0], fields[2]) for fields in map(str.split, file)}
    assert len(pool.entries) == 7032
    assert len(judged) == 6949
    assert judged <= pairs(pool)


@pytest.mark.vector("TREC-COVID round 1: castorini/TREC-COVID, commit be3ed3f")
def test_build_pool_trec_covid_is_the_official_pool() -> None:
    """Depth 7 of the 56 contributing runs, ties by docno ascending, is the pool NIST judged."""
    folder = DATA / "trec-covid-r1"
    if not folder.exists():
        pytest.skip("trec-covid-r1 is absent")
    with (folder / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        names = [row["run"] for row in csv.DictReader(file) if row["contributed judgments"] == "yes"]
    assert len(names) == 56
    runs = read_tops([str(folder / "runs-top120" / f"{name}.gz") for name in names], 7, order="docno-asc")
    result = build(runs)
    grades, iterations = {}, {}
    with gzip.open(folder / "qrels-rnd1.txt.gz", "rt", encoding="utf-8") as file:
        for topic, iteration, docno, grade in map(str.split, file):
            grades[topic, docno] = int(grade)
            iterations[topic, docno] = iteration
    pool = pairs(result.pool)
    assert len(result.pool.entries) == len(pool) == 6959
    assert pool <= set(grades)
    first_round = {pair for pair, iteration in iterations.items() if iteration == "1"}
    assert len(first_round) == 6064
    assert first_round <= pool
    assert result.statistics.overlap[1] == sum(result.statistics.unique.values()) == 5454
    owners: dict[tuple[str, str], int] = {}
    for run in runs:
        for topic, top in run.topics.items():
            for docno in top.docnos:
                owners[topic, docno] = owners.get((topic, docno), 0) + 1
    relevant = [pair for pair, count in owners.items() if count == 1 and grades[pair] >= 1]
    assert len(relevant) == 1070


def test_manifest_says_what_was_left_out() -> None:
    """Two pools without different pairs have different manifests: how many, and their hash."""
    runs = FileRuns([top_run("x", {"1": ["a", "b", "c"]}, depth=3)])
    manifests = [
        PoolBuild(runs, Plan(), version="1", known=known).whole().manifest
        for known in ({("1", "a")}, {("1", "b")}, {("1", "b"), ("1", "a")})
    ]
    # The hash of the sorted lines: sha256sum of "1 a" and of "1 a", "1 b", each with its newline.
    assert manifests[0]["without"] == {"pairs": 1, "sha256": hashlib.sha256(b"1 a\n").hexdigest()}
    assert manifests[2]["without"] == {"pairs": 2, "sha256": hashlib.sha256(b"1 a\n1 b\n").hexdigest()}
    assert manifests[0]["without"] != manifests[1]["without"]
    assert "without" not in PoolBuild(runs, Plan(), version="1").whole().manifest


def test_a_document_not_chosen_is_nobodys() -> None:
    """A budget of two a topic by the number of runs takes x and y of topic 1, which no run has alone."""
    # At depth 2 topic 1 has x of a and c, y of all, w of b; topic 2 has x of a, u and t of c.
    runs = {"a": {"1": "xyz", "2": "x"}, "b": {"1": "ywv"}, "c": {"1": "xy", "2": "ut"}}
    tops = [top_run(tag, {t: [*row] for t, row in topics.items()}, depth=2) for tag, topics in runs.items()]
    found = build(tops, strategy="count", budget=2).statistics
    assert (found.sizes, found.total) == ({"1": 2, "2": 2}, 4)
    assert found.overlap == {1: 2, 2: 1, 3: 1}
    assert sum(found.unique.values()) == 2
    assert found.unique["b"] == 0


def write(folder: Path, tag: str, *lines: str) -> str:
    """Write a run of `topic docno score` lines and return its path."""
    path = folder / f"{tag}.run"
    rows = [line.split() for line in lines]
    text = "".join(f"{topic} Q0 {docno} 1 {score} {tag}\n" for topic, docno, score in rows)
    path.write_text(text)
    return str(path)


def test_runs_that_do_not_contribute_feed_nothing(tmp_path: Path) -> None:
    """Neither their topics nor their documents are there, but they stand among the runs."""
    name = str(tmp_path / "c.db")
    with Collection.create(name, name="c", scale=parse_scale("0-1"), program="t") as collection:
        with pytest.raises(PoolerError, match="there is no run in the collection"):
            stored_runs(collection, depth=1, order="trec")
        collection.runs.add(read_run(write(tmp_path, "x", "1 a 2", "1 b 1")))
        late = read_run(write(tmp_path, "late", "2 c 1"))
        object.__setattr__(late, "contributes", False)
        collection.runs.add(late)
        runs = stored_runs(collection, depth=5, order="trec")
        assert runs.topics == ["1"]
        assert [(run.tag, run.contributes, run.n_documents) for run in runs.runs] == [
            ("late", False, 1),
            ("x", True, 2),
        ]
        with pytest.raises(ArgumentError, match="must hold a run that contributes"):
            check_feeding(runs.runs[:1])
        # Named ones all contribute: a pool keeps the runs it was made from.
        named = stored_runs(collection, depth=5, order="trec", tags=["late"])
        assert named.topics == ["2"]
        assert [run.contributes for run in named.runs] == [True]
