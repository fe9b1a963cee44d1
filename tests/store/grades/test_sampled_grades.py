"""Sampled pools of a collection and of prels files: the same scores, four standings apart."""

from __future__ import annotations

import numpy as np
import pytest

from store.analysis.arrays import Grades, RankedDocuments, grades_by_topic
from store.analysis.measures.sampled import (
    GRADED,
    NOT_SAMPLED,
    UNGRADED,
    SampledPool,
    sampled_rankings,
    statap_scores,
    stratified_scores,
)
from store.collection import Collection
from store.db.engine import reading
from store.db.keys import topic_keys
from store.errors import PoolerError, UnknownNameError
from store.formats.prels import StatapRow, XinfapRow
from store.grades.definition import QrelsDefinition
from store.grades.sampled import fetch_sampled_pools, statap_pools, xinfap_pools
from store.records import JudgeKind, Pool, PoolEntry, Qrel, Ranking, Run
from tests.helpers.world import engine_of, make_pool

ENTRIES = [
    PoolEntry("10", "a", 0, stratum=1, inclusion_probability=1.0),
    PoolEntry("10", "b", 1, stratum=2, inclusion_probability=0.5),
    PoolEntry("10", "c", 2, stratum=2, inclusion_probability=0.5, sampled=False),
    PoolEntry("10", "d", 3, stratum=2, inclusion_probability=0.5),
    PoolEntry("10", "e", 4, stratum=2, inclusion_probability=0.5, sampled=False),
    PoolEntry("9", "a", 0, stratum=1, inclusion_probability=1.0),
]
QRELS = [Qrel("10", "a", 1), Qrel("10", "b", 2), Qrel("10", "c", 1), Qrel("10", "x", 1), Qrel("9", "a", 0)]
"""One that was not sampled, one that is not pooled; `d` of topic 10 waits."""


XINFAP = [
    XinfapRow("10", "0", "a", 1, 1),
    XinfapRow("10", "0", "b", 2, 2),
    XinfapRow("10", "0", "c", 2, -1),
    XinfapRow("10", "0", "d", 2, -1),
    XinfapRow("10", "0", "e", 2, -1),
    XinfapRow("9", "0", "a", 1, 0),
]
STATAP = [StatapRow("10", "a", 1, 0, 1.0), StatapRow("10", "b", 2, 1, 0.5), StatapRow("9", "a", 0, 0, 1.0)]
"""What prels files say of the same pool."""


def pools_of(name: str, pool: str, grades: Grades) -> dict[str, SampledPool]:
    """Fetch a pool in a session of its own."""
    with engine_of(name) as engine, reading(engine) as session:
        topics = topic_keys()
        topics.refresh(session)
        return fetch_sampled_pools(session, topics, pool, grades)


@pytest.fixture
def filled(collection: Collection) -> Collection:
    """Hold a sampled pool, judgements of one judge, and a run."""
    rankings = [
        Ranking("10", ["c", "b", "z", "a", "d"], np.arange(5.0, 0, -1), None),
        Ranking("9", ["a"], np.array([1.0]), None),
    ]
    collection.runs.add(Run("r", rankings, "0" * 64))
    collection.pools.add(Pool(ENTRIES, {"strategy": "stratified"}, name="sample"))
    collection.judgements.add({"ann": QRELS}, kind=JudgeKind.HUMAN)
    return collection


def test_four_standings_stay_apart(filled: Collection, collection_name: str) -> None:
    """Graded, waiting, not sampled though judged; what is not pooled is not there."""
    sole = filled.grades.sole(QrelsDefinition())
    assert sole is not None
    pools = pools_of(collection_name, "sample", sole.by_topic)
    assert list(pools) == ["9", "10"]
    names = filled.runs.ranked().docnos
    pool = pools["10"]
    assert pool.strata is not None
    assert pool.inclusion is not None
    found = {
        names[number]: tuple(
            column[place].item() for column in (pool.states, pool.grades, pool.strata, pool.inclusion)
        )
        for place, number in enumerate(pool.documents.tolist())
    }
    assert found == {
        "a": (GRADED, 1, 1, 1.0),
        "b": (GRADED, 2, 2, 0.5),
        "c": (NOT_SAMPLED, 0, 2, 0.5),
        "d": (UNGRADED, 0, 2, 0.5),
        "e": (NOT_SAMPLED, 0, 2, 0.5),
    }
    assert (pools["9"].states.tolist(), pools["9"].grades.tolist()) == ([GRADED], [0])


def test_collection_and_files_give_the_same_scores(filled: Collection, collection_name: str) -> None:
    """One judge's grades, the final qrels as grades, and rows of both kinds of file."""
    ranked = filled.runs.ranked()
    sole = filled.grades.sole(QrelsDefinition())
    assert sole is not None
    final = grades_by_topic(ranked, filled.grades.final(QrelsDefinition()).rows)
    pools = [pools_of(collection_name, "sample", sole.by_topic), pools_of(collection_name, "sample", final)]
    pools += [xinfap_pools(ranked, XINFAP), statap_pools(ranked, STATAP)]
    arrays = [sampled_rankings(ranked.tags, ranked.rankings, one, cutoff=1000) for one in pools]
    assert {one.topics for one in arrays} == {("9", "10")}
    stratified = [stratified_scores(one, cutoffs=(), max_retrieved=1000, level=1) for one in arrays[:3]]
    for scores in stratified:
        # Relevant: b at rank 2 for four, below c of its stratum (a third), and a at rank 4.
        expected = (4 * (1 + 1 / 3) / 2 + (1 + 2 * 1 / 1) / 4) / 5
        assert scores.n_relevant.tolist() == [0.0, 5.0]
        assert scores.inf_ap[0, 1] == pytest.approx(expected, abs=3e-5)
        assert scores.inf_ap[0, 1] == stratified[0].inf_ap[0, 1]
    for one in (*arrays[:2], arrays[3]):
        assert statap_scores(one, level=1).n_relevant.tolist() == [0.0, 3.0]
        by_hand = (2 * 1 / 2 + (1 + 2) / 4) / 3
        assert statap_scores(one, level=1).stat_ap[0, 1] == pytest.approx(by_hand, rel=1e-14)


def test_pool_that_is_no_sample_has_neither(collection: Collection, collection_name: str) -> None:
    """A depth pool; nothing judged; and a pool there is not."""
    collection.pools.add(make_pool({"1": ["a", "b"]}))
    pool = pools_of(collection_name, "pool", {})["1"]
    assert (pool.strata, pool.inclusion) == (None, None)
    assert pool.states.tolist() == [UNGRADED, UNGRADED]
    with pytest.raises(UnknownNameError, match="pool"):
        pools_of(collection_name, "none", {})


def test_negative_rels_of_a_stratified_file(filled: Collection) -> None:
    """As the program has it none is sampled; by choice -1 alone is not."""
    ranked = filled.runs.ranked()
    rows = [XinfapRow("10", "0", docno, 1, code) for docno, code in (("a", -2), ("b", -1))]
    assert xinfap_pools(ranked, rows)["10"].states.tolist() == [NOT_SAMPLED] * 2
    pool = xinfap_pools(ranked, rows, negatives_judged=True)["10"]
    by_document = dict(zip(pool.documents.tolist(), pool.states.tolist(), strict=True))
    assert by_document == {ranked.ids["a"]: GRADED, ranked.ids["b"]: NOT_SAMPLED}


def test_methods_of_a_statap_file(filled: Collection) -> None:
    """Two methods that chose a document make it certain; -999 is no judgement."""
    ranked = filled.runs.ranked()
    rows = [
        StatapRow("10", "a", 1, 2, 0.1),
        StatapRow("10", "b", -2, 1, 0.25),
        StatapRow("10", "new", -999, 4, 0.5),
    ]
    pool = statap_pools(ranked, rows)["10"]
    order = [pool.documents.tolist().index(ranked.ids[docno]) for docno in "ab"]
    assert pool.inclusion is not None
    assert pool.inclusion[order].tolist() == [1.0, 0.25]
    assert pool.states[order].tolist() == [GRADED, GRADED]
    assert sorted(pool.states.tolist()) == [NOT_SAMPLED, GRADED, GRADED]
    told = statap_pools(ranked, rows, collisions_certain=False)["10"].inclusion
    assert told is not None
    assert told[order].tolist() == [0.1, 0.25]


def test_only_the_sampled_document_needs_a_probability(collection: Collection, collection_name: str) -> None:
    """One that was not sampled may lack it, as of a stratum of which nothing was."""
    entries = [
        PoolEntry("1", "a", 0, stratum=1, inclusion_probability=0.5),
        PoolEntry("1", "b", 1, stratum=2, sampled=False),
        PoolEntry("2", "a", 0, stratum=1),
        PoolEntry("2", "b", 1, stratum=1, inclusion_probability=0.5, sampled=False),
        PoolEntry("3", "a", 0, stratum=2, sampled=False),
    ]
    collection.pools.add(Pool(entries, {"strategy": "stratified"}, name="sample"))
    pools = pools_of(collection_name, "sample", {})
    inclusion = pools["1"].inclusion
    assert inclusion is not None
    assert np.isnan(inclusion).tolist() == [False, True]
    assert (pools["2"].inclusion, pools["3"].inclusion) == (None, None)
    assert all(one.strata is not None for one in pools.values())


def test_documents_that_two_choices_took_are_certain(filled: Collection) -> None:
    """The manifest of an imported file notes method 2; other methods leave probabilities alone."""
    methods = {"2": {"10": ["b", "gone"]}, "4": {"10": ["d"]}, "1": {"9": ["a"]}}
    filled.pools.add(Pool(ENTRIES, {"strategy": "imported", "methods": methods}, name="two"))
    name, pools = filled.grades.sampled_pools({}, "two")
    assert name == "two"
    names = filled.runs.ranked().docnos
    inclusion = pools["10"].inclusion
    assert inclusion is not None
    numbers = pools["10"].documents.tolist()
    found = {names[one]: chance for one, chance in zip(numbers, inclusion.tolist(), strict=True)}
    assert found == {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.5, "e": 0.5}


def test_only_sampled_pool_needs_no_name(filled: Collection) -> None:
    """A pool that is no sample and one that is withdrawn do not count; of two one is named."""
    filled.pools.add(make_pool({"1": ["a", "b"]}))
    assert filled.grades.sampled_pools({})[0] == "sample"
    filled.pools.add(Pool(ENTRIES[:1], {"strategy": "uniform"}, name="other"))
    with pytest.raises(PoolerError, match="there are 2 sampled pools: other, sample"):
        filled.grades.sampled_pools({})
    filled.pools.withdraw("sample")
    assert filled.grades.sampled_pools({})[0] == "other"
    filled.pools.withdraw("other")
    with pytest.raises(PoolerError, match="there is no sampled pool"):
        filled.grades.sampled_pools({})


def test_files_of_samples_are_read_as_pools() -> None:
    """Strata or probabilities by document number; a collision is certain to be judged."""
    ranked = RankedDocuments(("x",), {}, {"a": 4}, {4: "a"})
    pool = xinfap_pools(ranked, [XinfapRow("t", "0", "b", 2, -1), XinfapRow("t", "0", "a", 1, 2)])["t"]
    assert (pool.documents.tolist(), pool.states.tolist()) == ([4, 5], [1, -1])
    assert pool.strata is not None
    assert pool.strata.tolist() == [1, 2]
    certain = statap_pools(ranked, [StatapRow("t", "a", 1, 1, 0.5), StatapRow("t", "b", 0, 2, 0.25)])["t"]
    assert certain.inclusion is not None
    assert certain.inclusion.tolist() == [0.5, 1.0]
