"""What a pool was made by, whether it was deep enough, what deeper ranks or a run left out would change."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import pooler as p
from pooler.pools.contents import annotated_lines, contributions, depth_curve, graded_lines
from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import FileRuns
from pooler.reading.run_list import RunEntry
from pooler.reading.tops import read_tops
from store.analysis.measures.bounds import readings
from store.analysis.measures.names import parse_measure
from store.analysis.pools.contributions import (
    RANKS_PER_HOLE,
    UNTOLD,
    Withdrawn,
    infer_pool,
    remove_uniques,
    within_depth,
)
from store.analysis.pools.diagnosis import (
    PoolDiagnosis,
    RankCounts,
    brought_by,
    diagnose,
    overlaps,
    rank_counts,
    topic_counts,
)
from store.analysis.pools.growth import FirstRetrievals, first_retrievals, fit_growth, missed_relevant
from store.analysis.pools.leave_out import LeaveOut, adjust_scores, leave_out, pool_errors
from store.analysis.rankings import RELEVANT, graded_rankings, judged_rankings
from store.analysis.run_order import TIED_MAP, kendall_tau_b, tau_ap
from store.errors import ArgumentError
from store.records import Pool, PoolEntry
from tests.helpers.plain_lists import Drawn, Grades, Lists, arrays_of, as_float, drawn_collections, plain_mean
from tests.helpers.run import Cli, read_run_list
from tests.helpers.strategies import examples
from tests.helpers.strategy_play import top_run
from tests.helpers.trec_covid import covid_arrays, leaderboard, load_qrels, load_rankings

GradedLists = dict[tuple[str, str], list[int]]
OfTopics = dict[str, dict[int, int]]
WIDTH = 6

drawn_lists = st.lists(
    st.lists(st.permutations(range(10)).map(lambda one: one[:WIDTH]), min_size=2, max_size=3),
    min_size=2,
    max_size=4,
)
"""By run, then topic."""
drawn_grades = st.lists(
    st.dictionaries(st.integers(0, 11), st.integers(0, 2), min_size=1), min_size=2, max_size=3
)


def collection(lists: list[list[list[int]]], grades: list[dict[int, int]]) -> tuple[GradedLists, OfTopics]:
    """Name the runs and the topics that there are of both."""
    n_topics = min(len(grades), *map(len, lists))
    return (
        {(f"r{run}", f"t{topic}"): one[topic] for run, one in enumerate(lists) for topic in range(n_topics)},
        {f"t{topic}": grades[topic] for topic in range(n_topics)},
    )


def diagnosed(lists: GradedLists, grades: OfTopics, **options: object) -> PoolDiagnosis:
    """Diagnose; relevant = grade 1 or more."""
    tags = list(dict.fromkeys(tag for tag, _ in lists))
    ranked = {key: np.array(one, dtype=np.int64) for key, one in lists.items()}
    ids = {topic: np.array([*one], dtype=np.int64) for topic, one in grades.items()}
    codes = {topic: np.array([*one.values()], dtype=np.int64) for topic, one in grades.items()}
    binary = {topic: (ids[topic], codes[topic] >= 1) for topic in grades}
    both = {topic: (ids[topic], codes[topic]) for topic in grades}
    return diagnose(
        judged_rankings([*grades], tags, ranked, binary, cutoff=50),
        graded_rankings([*grades], tags, ranked, both, cutoff=50),
        level=1,
        **options,  # type: ignore[arg-type]  # the tests' own keywords
    )


def test_counts_are_added_up_and_not_averaged() -> None:
    """NumRet of two topics: 2 + 1 as judged, 1 + 0 of the judged documents."""
    lists: GradedLists = {("a", "t"): [1, 2], ("a", "u"): [3]}
    found = diagnosed(lists, {"t": {1: 1}, "u": {9: 1}})
    (one,) = readings(found.graded, [parse_measure("NumRet")], scale=(0, 1))
    assert one.scores.overall.tolist() == [3]
    assert one.judged_only.overall.tolist() == [1]
    assert one.low is not None
    assert one.low.tolist() == [3]
    nothing = diagnosed(lists, {"t": {1: 1}, "u": {9: 1}}, depth=1, contributing=np.zeros(1, np.bool_))
    assert (nothing.pool, nothing.reason) == (None, "no-contributing-run")


def test_bounds_are_over_the_topics_that_have_a_score() -> None:
    """Topic `u` has nothing relevant and no AP; it is in no bound, though it might be."""
    lists: GradedLists = {("a", "t"): [1, 2], ("a", "u"): [3]}
    found = diagnosed(lists, {"t": {2: 1}, "u": {9: 0}})
    (one,) = readings(found.graded, [parse_measure("AP")], scale=(0, 1))
    assert one.low is not None
    assert one.high is not None
    # Unjudged, relevant: 1/2, or 1 of R = 2.
    assert (one.low.tolist(), one.scores.overall.tolist(), one.high.tolist()) == ([0.5], [0.5], [1])


@settings(max_examples=examples(25))
@given(drawn_collections(), st.integers(1, WIDTH))
def test_counts_are_those_of_sets(drawn: Drawn, depth: int) -> None:
    """Ranks, topics and runs a document: all counted one by one."""
    arrays, judged, depth = drawn.arrays(), drawn.grades, min(depth, drawn.cutoff)
    plain = {(tag, topic): drawn.listed(tag, topic) for tag in drawn.tags for topic in judged}
    ranks = rank_counts(arrays)
    for rank, (n, known) in enumerate(zip(ranks.documents, ranks.judged, strict=True)):
        there = [(topic, one[rank]) for (_, topic), one in plain.items() if len(one) > rank]
        assert (n, known) == (len(there), sum(docno in judged[topic] for topic, docno in there))
    counts = topic_counts(arrays, within_depth(arrays, depth))
    by_runs: dict[tuple[str, int], int] = {}
    for place, (topic, grades) in enumerate(judged.items()):
        pool = {docno for (_, its), one in plain.items() if its == topic for docno in one[:depth]}
        for docno in pool:
            lists = [one[:depth] for (_, its), one in plain.items() if its == topic]
            by_runs[topic, docno] = sum(docno in one for one in lists)
        assert counts.judged[place] == len(grades)
        assert counts.relevant[place] == sum(grades.values())
        assert counts.pooled[place] == len(pool)
        assert counts.pool_judged[place] == len(pool & {*grades})
        assert counts.pool_unjudged[place] == len(pool - {*grades})
        assert counts.pool_relevant[place] == sum(grades.get(docno, False) for docno in pool)
        assert counts.pool_not_relevant[place] == sum(grades.get(docno) is False for docno in pool)
        assert counts.outside[place] == len({*grades} - pool)
    brought = brought_by(arrays, within_depth(arrays, depth))
    for n in range(len(arrays.tags) + 1):
        pairs = [pair for pair, runs in by_runs.items() if runs == n]
        assert brought.documents[n] == len(pairs)
        assert brought.judged[n] == sum(docno in judged[topic] for topic, docno in pairs)
        assert brought.relevant[n] == sum(judged[topic].get(docno, False) for topic, docno in pairs)


def test_overlaps_of_all_pairs() -> None:
    """Limits that touch overlap; a run without a score is no neighbour."""
    low = np.array([0.1, 0.6, np.nan, 0.4, 0.1])
    high = np.array([0.2, 0.9, np.nan, 0.6, 0.4])
    scores = np.array([0.15, 0.7, np.nan, 0.5, 0.3])
    found = overlaps(low, scores, high)
    # In order .7, .5, .3, .15: .6 meets .6; .4 meets .4; .2 is above .1.
    assert (found.n_pairs, found.n_overlapping) == (3, 3)
    # 1 of 6 pairs of neighbours at two steps: .7 | .3, .7 | .15, .5 | .15 are apart.
    assert (found.n_settled, found.n_all_pairs) == (3, 6)
    assert overlaps(low[2:3], scores[2:3], high[2:3]).n_pairs == 0


def test_depth_down_to_which_nearly_all_is_judged() -> None:
    """Cumulated 4 of 4, 7 of 8, 11 of 12, 11 of 16: .9 holds to rank 3 again, 1 to rank 1."""
    counts = RankCounts(np.array([4, 4, 4, 4]), np.array([4, 3, 4, 0]))
    assert counts.judged_down_to(0.9) == (3, 12, 11)
    assert counts.judged_down_to(1.0) == (1, 4, 4)
    assert counts.unjudged.tolist() == [0, 1, 0, 4]
    assert RankCounts(np.array([4]), np.array([3])).judged_down_to(0.9) is None


def test_rank_without_documents_has_no_share() -> None:
    """Nothing is unjudged of nothing: NaN, and no warning of a division by 0."""
    shares = RankCounts(np.array([4, 0]), np.array([3, 0])).unjudged_share()
    np.testing.assert_array_equal(shares, [0.25, np.nan])


def plain_prefix(drawn: Drawn, tag: str) -> int | None:
    """Count the judged documents from the top, list by list; ``None`` where all are judged."""
    prefixes = []
    for topic, judged in drawn.grades.items():
        documents = drawn.listed(tag, topic)
        n_judged = 0
        while n_judged < len(documents) and documents[n_judged] in judged:
            n_judged += 1
        if n_judged < len(documents):
            prefixes.append(n_judged)
    return min(prefixes, default=None)


@given(drawn=drawn_collections(most_runs=6), given_depth=st.sampled_from([None, None, 1, 2]))
def test_every_field_equals_a_plain_count(drawn: Drawn, given_depth: int | None) -> None:
    """Prefixes, depth, runs, pairs and judgements outside are those of loops over lists."""
    pool = infer_pool(drawn.arrays(), given_depth)
    prefixes = {tag: plain_prefix(drawn, tag) for tag in drawn.tags}
    answers = {tag: any(drawn.listed(tag, topic) for topic in drawn.grades) for tag in drawn.tags}
    assert pool.prefixes.tolist() == [UNTOLD if prefix is None else prefix for prefix in prefixes.values()]
    counts = Counter(prefix for prefix in prefixes.values() if prefix)
    depth = given_depth
    if depth is None and counts:
        depth = max(counts, key=lambda prefix: (counts[prefix], prefix))
    assert pool.depth == depth
    if depth is not None:
        assert pool.reason is None
    elif not any(answers.values()):
        assert pool.reason == "no-documents"
    else:
        assert pool.reason == ("none-judged" if 0 in prefixes.values() else "all-judged")
    reach = depth or 0
    for row, tag in enumerate(drawn.tags):
        holes = [
            sum(one not in judged for one in drawn.listed(tag, topic)[:reach])
            for topic, judged in drawn.grades.items()
        ]
        assert pool.pooled[row] == (answers[tag] and bool(depth) and not any(holes))


@pytest.mark.parametrize(("depth", "n_forgiven"), [(19, 0), (20, 1), (39, 1), (40, 2)])
def test_holes_are_forgiven_by_the_depth(depth: int, n_forgiven: int) -> None:
    """One hole in every twenty ranks of each list is forgiven, and one more is not."""
    assert depth // RANKS_PER_HOLE == n_forgiven
    for n_holes in (n_forgiven, n_forgiven + 1):
        judged = dict.fromkeys(range(n_holes, 50), False)
        lists: Lists = {("a", "t"): list(range(60)), ("a", "u"): list(range(n_holes, 60))}
        pool = infer_pool(arrays_of(lists, {"t": judged, "u": judged}, 100), depth)
        assert pool.pooled.tolist() == [n_holes == n_forgiven]


@pytest.mark.vector("V10: sample.rel and sample.res of pyNTCIREVAL")
def test_ntcir_sample_is_judged_to_rank_two() -> None:
    """Of dummy11, 01, 12 and 04 the third is unjudged, so that the depth is 2."""
    grades: Grades = {"1": {number: number < 11 for number in range(1, 12)}}
    arrays = arrays_of({("run", "1"): [11, 1, 12, 4]}, grades, 1000)
    assert int(np.count_nonzero(arrays.states_by_rank(0) == RELEVANT)) == 2
    pool = infer_pool(arrays)
    assert (pool.depth, pool.pooled.tolist()) == (2, [True])
    with pytest.raises(ArgumentError, match="`depth` must be from 1 to 1000"):
        within_depth(arrays, 1001)


@pytest.mark.slow
def test_trec_covid_was_pooled_to_depth_seven() -> None:
    """The depth and the 56 runs that fed it are found, with 5 that were judged by chance.

    6,959 pairs, and 1,732 judgements from elsewhere, are those of the leaderboard's runs alone: the
    5 others bring nothing new. Ties in another order hide 4 of the runs, not the depth.
    """
    arrays, rows = covid_arrays(), leaderboard()
    fed = np.array([rows[tag]["contributed judgments"] == "yes" for tag in arrays.tags])
    pool = infer_pool(arrays)
    assert (pool.depth, np.count_nonzero(pool.prefixes == 7)) == (7, 61)
    assert (int(fed.sum()), int(pool.pooled.sum())) == (56, 61)
    assert pool.pooled[fed].all()
    counts = topic_counts(arrays, within_depth(arrays, 7, pool.pooled))
    assert (counts.pooled.sum(), counts.pool_judged.sum(), counts.outside.sum()) == (6959, 6959, 8691 - 6959)
    other = infer_pool(covid_arrays(order="trec"))
    assert other.depth == 7
    assert int(np.count_nonzero(fed & other.pooled)) == 52


DOCNOS = "abcdef"
rankings = st.lists(st.sampled_from(DOCNOS), min_size=1, max_size=6, unique=True)
systems = st.dictionaries(
    st.sampled_from(["u", "v", "w", "x"]),
    st.dictionaries(st.sampled_from(["1", "2"]), rankings, min_size=1),
    min_size=1,
)
judged_pairs = st.dictionaries(st.sampled_from(list(product("12", DOCNOS))), st.booleans(), max_size=8)
GROUPS = {"u": "one", "v": "one", "w": "", "x": "two"}


def runs_of(systems: dict[str, dict[str, list[str]]], depth: int) -> FileRuns:
    """Make runs of ranked docnos."""
    return FileRuns([top_run(tag, one, depth=depth, group=GROUPS[tag]) for tag, one in systems.items()])


def owners_of(
    systems: dict[str, dict[str, list[str]]], depth: int, *, by_group: bool
) -> dict[tuple[str, str], set[str]]:
    """Return who has each pair within a depth, counted in the plainest way."""
    owners: dict[tuple[str, str], set[str]] = {}
    for tag, topics in systems.items():
        owner = (GROUPS[tag] or tag) if by_group else tag
        for topic, docnos in topics.items():
            for docno in docnos[:depth]:
                owners.setdefault((topic, docno), set()).add(owner)
    return owners


@given(systems=systems, judged=judged_pairs, depth=st.integers(1, 6), by_group=st.booleans())
def test_contributions_equal_a_plain_count(
    systems: dict[str, dict[str, list[str]]], judged: dict[tuple[str, str], bool], depth: int, by_group: bool
) -> None:
    """Pairs, uniques, the judged and relevant among both are those of a loop over sets."""
    owners = owners_of(systems, depth, by_group=by_group)
    found = contributions(runs_of(systems, 6), judged, depth=depth, by_group=by_group)
    names = sorted({(GROUPS[tag] or tag) if by_group else tag for tag in systems})
    assert found.names == names
    for row, name in enumerate(names):
        alone = [pair for pair, who in owners.items() if who == {name}]
        brought = [pair for pair, who in owners.items() if name in who]
        for pairs, counts in (
            (brought, (found.documents, found.judged, found.relevant)),
            (alone, (found.unique, found.unique_judged, found.unique_relevant)),
        ):
            assert counts[0][row].sum() == len(pairs)
            assert counts[1][row].sum() == sum(pair in judged for pair in pairs)
            assert counts[2][row].sum() == sum(judged.get(pair, False) for pair in pairs)


@given(systems=systems, judged=judged_pairs)
def test_depth_curve_equals_the_pool_of_every_depth(
    systems: dict[str, dict[str, list[str]]], judged: dict[tuple[str, str], bool]
) -> None:
    """One pass gives what counting each depth afresh gives."""
    curve = depth_curve(runs_of(systems, 6), judged)
    for depth in range(1, 7):
        owners = owners_of(systems, depth, by_group=False)
        assert curve.pairs[depth - 1] == len(owners)
        assert curve.judged[depth - 1] == sum(pair in judged for pair in owners)
        assert curve.relevant[depth - 1] == sum(judged.get(pair, False) for pair in owners)
        assert curve.unique[depth - 1] == sum(len(who) == 1 for who in owners.values())


def test_annotated_lines_one_for_each_run_that_returned_it(tmp_path: Path) -> None:
    """Every document has a line for each of its runs: place by our order, score in full."""
    (tmp_path / "b").write_text(
        "10 Q0 d1 7 0.30000000000000004 b\n10 Q0 d2 8 1e3 b\n10 Q0 d3 9 0.1 b\n9 Q0 z 1 -2 b\n"
    )
    (tmp_path / "a").write_text("10 Q0 d1 0 5 a\n")
    (tmp_path / "c").write_text("10 Q0 d1 0 5 c\n10 Q0 d9 0 4 c\n")
    entries = [
        RunEntry(str(tmp_path / "c"), contributes=False),
        RunEntry(str(tmp_path / "b"), group="acme"),
        RunEntry(str(tmp_path / "a")),
    ]
    runs = FileRuns(read_tops(entries, 2))
    pool = PoolBuild(runs, Plan(), version="1").whole()
    assert list(annotated_lines(runs, pool)) == [
        "9 z b acme 1 -2.0",
        "10 d1 a - 1 5.0",
        "10 d1 b acme 2 0.30000000000000004",
        "10 d2 b acme 1 1000.0",
    ]


def test_graded_lines_have_every_document_to_judge(tmp_path: Path) -> None:
    """Each line has its grade; a document that no run has is there once, with dashes."""
    (tmp_path / "b").write_text("10 Q0 d1 7 0.3 b\n10 Q0 d2 8 1e3 b\n8 Q0 d1 1 1 b\n")
    (tmp_path / "a").write_text("10 Q0 d1 0 5 a\n")
    entries = [RunEntry(str(tmp_path / "b"), group="acme"), RunEntry(str(tmp_path / "a"))]
    runs = FileRuns(read_tops(entries, 9))
    pool = Pool(
        [
            PoolEntry("10", "d3", 0),
            PoolEntry("10", "d1", 1),
            PoolEntry("10", "d2", 2, sampled=False),
            PoolEntry("9", "d1", 0),
        ],
        {},
    )
    grades = {("10", "d1"): "-2", ("10", "d3"): "tied", ("8", "d1"): "1"}
    assert list(graded_lines(runs, pool, grades)) == [
        "9 d1 - - - - unjudged",
        "10 d1 a - 1 5.0 -2",
        "10 d1 b acme 2 0.3 -2",
        "10 d3 - - - - tied",
    ]
    assert list(graded_lines(None, pool, grades)) == [
        "9 d1 - - - - unjudged",
        "10 d1 - - - - -2",
        "10 d3 - - - - tied",
    ]


RUNS = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"a": 1.0}}, "y": {"1": {"b": 3.0}}}


def test_files_and_collection_agree(cli: Cli, judged: Path) -> None:
    """Runs, groups and depths are counted alike; documents come with run, group, rank and score."""
    for words in (("contributions",), ("contributions", "--by", "group"), ("depths",), ("documents",)):
        options = ("diagnose", "--depth", "4", "--format", "json", "--table", *words)
        stored = cli(*options, "--qrels", "strict").fine().json()
        files = cli(*options, "--runs", "runs.tsv").fine().json()
        keys = [key for key in stored[0] if "judged" not in key and "relevant" not in key]
        assert [[row[key] for key in keys] for row in stored] == [[row[key] for key in keys] for row in files]
    options = ("diagnose", "--table", "documents", "--depth", "1", "--runs", "runs.tsv", "--format", "tsv")
    lines = cli("pool", "--runs", "runs.tsv", "--depth", "1", "--annotated").fine().out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        [row["topic"], row["docno"], row["run"]] for row in cli(*options).fine().tsv()
    ]
    tags = {row["tag"] for row in read_run_list(judged / "runs.tsv") if row["contributes"] == "yes"}
    rows = cli("diagnose", "--qrels", "strict", "--depth", "1", "--table", "contributions", "--format", "tsv")
    assert {row["run"] for row in rows.fine().tsv()} == tags


def test_judged_and_relevant_are_counted(cli: Cli, here: Path) -> None:
    """From qrels and collection alike."""
    (here / "x.run").write_text("1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n1 Q0 c 3 1 x\n")
    (here / "y.run").write_text("1 Q0 b 1 3 y\n")
    (here / "q.txt").write_text("1 0 a 1\n1 0 c 0\n1 0 b 2\n")
    options = ("--depth", "3", "--format", "json", "--table")
    files = ("x.run", "y.run", "--qrels", "q.txt")
    from_files = cli("diagnose", *files, *options, "contributions").fine().json()
    assert from_files == [
        {"run": "x", "documents": 3, "unique": 2, "unique_judged": 2, "unique_relevant": 1},
        {"run": "y", "documents": 1, "unique": 0, "unique_judged": 0, "unique_relevant": 0},
    ]
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "x.run", "y.run").fine()
    cli("import", "judgements", "q.txt", "--judge", "ann").fine()
    assert cli("diagnose", *options, "contributions").fine().json() == from_files
    strict = cli("diagnose", *options, "contributions", "--level", "2").fine().json()
    assert strict[0]["unique_relevant"] == 0
    depths = cli("diagnose", *options, "depths").fine().json()
    # Depth 1: a and b; depth 2: the same; depth 3: c too. b is in both runs from depth 2 on.
    assert [(row["pairs"], row["new"], row["relevant"], row["of_one_run"]) for row in depths] == [
        (2, 2, 2, 2),
        (2, 0, 2, 1),
        (3, 1, 2, 2),
    ]


def test_nothing_need_be_judged(cli: Cli, here: Path) -> None:
    """Runs in memory, in files and in a collection: contributions alone, first; no table of judgements."""
    found = p.diagnose((RUNS, {}), depth=2)
    assert (found.names(), found.conclusions) == (("contributions", "depths"), ())
    assert found.table("contributions").to_dict()["unique"] == [2, 0]
    assert found.table("depths").to_dict()["new"] == [3, 0]
    assert p.diagnose((RUNS, {}), depth=1).table("documents").to_dict()["docno"] == ["a", "b", "a"]
    with pytest.raises(p.UnknownNameError, match="unknown table `scores`; known: `contributions`"):
        found.table("scores")
    (here / "x.run").write_text("1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n")
    alone = cli("diagnose", "x.run", "--depth", "1").fine()
    assert "nothing is judged" in alone.err
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "x.run").fine()
    assert cli("diagnose", "--depth", "1").fine().out == alone.out


lists = st.lists(st.integers(0, 12), unique=True, max_size=8)
grades = st.dictionaries(st.integers(0, 15), st.booleans())


def first_of(relevant: list[int] | np.ndarray[Any, Any]) -> FirstRetrievals:
    """Make counts of one topic, everything judged and relevant."""
    counts = np.array([relevant], dtype=np.int64)
    return FirstRetrievals(("t",), counts, counts, counts)


@given(data=st.data())
def test_counts_are_those_of_looking_at_every_list(data: st.DataObject) -> None:
    """Best rank over the runs of each document of each topic."""
    rankings = {(tag, topic): data.draw(lists) for tag in "abc" for topic in "12"}
    judged = {topic: data.draw(grades) for topic in "12"}
    arrays = arrays_of(rankings, judged, cutoff=6)
    first = first_retrievals(arrays)
    width = first.documents.shape[1]
    for row, topic in enumerate("12"):
        best: dict[int, int] = {}
        for tag in "abc":
            for rank, document in enumerate(rankings[tag, topic][:6], start=1):
                best[document] = min(best.get(document, rank), rank)
        for depth in range(1, width + 1):
            entering = [document for document, rank in best.items() if rank == depth]
            found = [judged[topic][document] for document in entering if document in judged[topic]]
            assert first.documents[row, depth - 1] == len(entering)
            assert first.judged[row, depth - 1] == len(found)
            assert first.relevant[row, depth - 1] == sum(found)


@given(
    counts=st.lists(st.integers(0, 500), min_size=3, max_size=100).filter(lambda counts: len(set(counts)) > 1)
)
def test_fit_is_the_regression_of_scipy(counts: list[int]) -> None:
    """Both coefficients, both standard errors, and the residual, on logarithms.

    Of a constant scipy says no standard error; `test_constant_counts_are_a_level_line` has them.
    """
    from scipy import stats

    fit = fit_growth(counts).fit
    assert fit is not None
    x, y = np.log(np.arange(1, len(counts) + 1)), np.log(np.array(counts) + 1)
    expected = stats.linregress(x, y)
    rest = y - expected.intercept - expected.slope * x
    residual = math.sqrt(rest @ rest / (len(counts) - 2))
    design = np.column_stack([np.ones(len(counts)), x])
    covariance = residual**2 * np.linalg.inv(design.T @ design)
    pairs = [
        (fit.exponent, expected.slope),
        (fit.log_scale, expected.intercept),
        (fit.exponent_error, expected.stderr),
        (fit.log_scale_error, expected.intercept_stderr),
        (fit.residual, residual),
        (fit.covariance, covariance[0, 1]),
    ]
    for ours, theirs in pairs:
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-7)


def test_constant_counts_are_a_level_line() -> None:
    """A count of 7 is ln 8 at every depth: slope 0, nothing left over."""
    fit = fit_growth([7, 7, 7, 7]).fit
    assert fit is not None
    values = (fit.log_scale, fit.exponent, fit.exponent_error, fit.log_scale_error, fit.residual)
    assert values == pytest.approx((math.log(8), 0, 0, 0, 0), abs=1e-12)


@pytest.mark.parametrize(("scale", "exponent"), [(80.0, -0.6), (500.0, -1.2)])
def test_power_law_is_found_again(scale: float, exponent: float) -> None:
    """Without chance the curve, its errors and both ends of the interval are exact."""
    counts = scale * np.arange(1, 21) ** exponent - 1
    fit = fit_growth(counts).fit
    assert fit is not None
    assert math.exp(fit.log_scale) == pytest.approx(scale, rel=1e-9)
    assert fit.exponent == pytest.approx(exponent, rel=1e-9)
    assert fit.exponent_error == pytest.approx(0, abs=1e-9)
    below = np.maximum(scale * np.arange(21, 1001) ** exponent - 1, 0).sum()
    assert fit.expected(21, 1000) == pytest.approx(below, rel=1e-9)
    assert fit.expected(5, 4) == 0


@pytest.mark.parametrize(
    ("counts", "reason"),
    [([], "fewer-than-three-depths"), ([5, 3], "fewer-than-three-depths"), ([0, 0, 0, 0], "no-relevant")],
)
def test_what_cannot_be_fitted_has_a_reason(counts: list[int], reason: str) -> None:
    """And no numbers."""
    growth = fit_growth(counts)
    assert (growth.fit, growth.reason) == (None, reason)
    if counts:
        missed = missed_relevant(first_of(counts), depth=len(counts), to_depth=50)
        assert (missed.expected, missed.low, missed.high) == (None,) * 3
        assert missed.reason == reason


def test_growth_that_does_not_fall_is_not_extrapolated() -> None:
    """There is no sum."""
    missed = missed_relevant(first_of([1, 2, 3, 4]), depth=4, to_depth=50)
    assert missed.reason == "not-falling"
    assert missed.expected is None
    assert missed_relevant(first_of([2, 2, 2]), depth=3, to_depth=9).reason == "not-falling"


def test_counts_of_topics_are_added_and_those_below_the_pool_are_known() -> None:
    """Two topics; the fit looks at the first 3 depths, 5 relevant lie at depths 4 and 5."""
    relevant = np.array([[9, 3, 2, 1, 0, 7], [6, 4, 1, 2, 2, 0]])
    documents, judged = relevant + 4, relevant + 1
    first = FirstRetrievals(("1", "2"), documents, judged, relevant)
    missed = missed_relevant(first, depth=3, to_depth=5)
    assert missed.n_known == 5
    assert missed.n_unjudged == 2 * 2 * 3
    fit = fit_growth([15, 7, 3]).fit
    assert fit is not None
    assert missed.expected == fit.expected(4, 5)


@pytest.mark.parametrize("coverage", [0.5, 0.95])
def test_interval_of_one_depth_is_that_of_the_regression(coverage: float) -> None:
    """The textbook's prediction interval of one more point, on logarithms, with Student's t."""
    from scipy import stats

    counts = np.array([300, 140, 119, 70, 66, 50, 41, 44, 30, 34])
    missed = missed_relevant(first_of(counts), depth=10, to_depth=11, coverage=coverage, n_draws=40_000)
    x, y = np.log(np.arange(1, 11)), np.log(counts + 1)
    line = stats.linregress(x, y)
    rest = y - line.intercept - line.slope * x
    at = math.log(11)
    leverage = 1 / 10 + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    spread = math.sqrt(rest @ rest / 8 * (1 + leverage))
    half = stats.t(8).ppf((1 + coverage) / 2) * spread
    middle = line.intercept + line.slope * at
    assert missed.expected == pytest.approx(math.exp(middle) - 1, rel=1e-9)
    assert missed.low == pytest.approx(math.exp(middle - half) - 1, rel=0.02)
    assert missed.high == pytest.approx(math.exp(middle + half) - 1, rel=0.02)


TEAMS = ["one", "", "two", "one", "two", ""]


def plain_uniques(
    drawn: Drawn, owners: list[str], contributing: list[bool], depth: int, name: str
) -> dict[str, set[int]]:
    """Take the judged documents that only runs of one name brought, as sets."""
    found = {}
    for topic, judged in drawn.grades.items():
        own: set[int] = set()
        other: set[int] = set()
        for tag, owner, is_fed in zip(drawn.tags, owners, contributing, strict=True):
            if is_fed:
                (own if owner == name else other).update(drawn.listed(tag, topic)[:depth])
        found[topic] = (own - other) & set(judged)
    return found


def scored_without(drawn: Drawn, tag: str, removed: dict[str, set[int]]) -> list[Fraction | None]:
    """Compute AP of one run over the topics from scratch, with documents unjudged."""
    grades = {
        topic: {one: flag for one, flag in judged.items() if one not in removed[topic]}
        for topic, judged in drawn.grades.items()
    }
    less = Drawn(drawn.tags, drawn.rankings, grades, drawn.cutoff)
    scores = []
    for topic in sorted(drawn.grades):
        score = less.ap(tag, topic, "pool")
        was = drawn.ap(tag, topic, "pool")
        scores.append(Fraction(0) if score is None and was is not None else score)
    return scores


def withdrawn_sets(withdrawn: Withdrawn, drawn: Drawn, name: str) -> dict[str, set[int]]:
    """Turn codes back into documents: codes ascend with them."""
    found: dict[str, set[int]] = {topic: set() for topic in drawn.grades}
    topics = sorted(drawn.grades)
    for by, topic, code in zip(withdrawn.by, withdrawn.topics, withdrawn.codes, strict=True):
        if withdrawn.names[by] == name:
            title = topics[topic]
            known = set(drawn.grades[title]).union(*(drawn.listed(t, title) for t in drawn.tags))
            found[title].add(sorted(known)[code])
    return found


@given(drawn=drawn_collections(most_runs=5), data=st.data())
def test_leaving_out_equals_scoring_from_scratch(drawn: Drawn, data: st.DataObject) -> None:
    """Withdrawn documents, AP, means and ranks are those of sets and of AP by its definition."""
    n_runs = len(drawn.tags)
    groups = data.draw(st.sampled_from([None, TEAMS[:n_runs]]))
    contributing = data.draw(st.lists(st.booleans(), min_size=n_runs, max_size=n_runs))
    depth = data.draw(st.integers(1, drawn.cutoff))
    arrays = drawn.arrays()
    pooled = within_depth(arrays, depth, np.array(contributing))
    withdrawn = remove_uniques(arrays, pooled, groups)
    left = leave_out(arrays, withdrawn)
    owners = [group or tag for tag, group in zip(drawn.tags, groups or [""] * n_runs, strict=True)]
    assert withdrawn.names == tuple(dict.fromkeys(owners))
    nothing: dict[str, set[int]] = {topic: set() for topic in drawn.grades}
    before = [scored_without(drawn, tag, nothing) for tag in drawn.tags]
    means = [as_float(plain_mean(row)) for row in before]
    np.testing.assert_allclose(left.before, [[as_float(one) for one in row] for row in before])
    np.testing.assert_allclose(left.score_before, means)
    for place, name in enumerate(withdrawn.names):
        removed = plain_uniques(drawn, owners, contributing, depth, name)
        assert withdrawn_sets(withdrawn, drawn, name) == removed
        assert withdrawn.n_judged()[place] == sum(map(len, removed.values()))
        n_relevant = sum(len(one & drawn.relevant(topic)) for topic, one in removed.items())
        assert left.n_relevant[place] == n_relevant
        replaced = list(means)
        rows = [row for row, owner in enumerate(owners) if owner == name]
        for row in rows:
            after = scored_without(drawn, drawn.tags[row], removed)
            np.testing.assert_allclose(left.after[row], [as_float(one) for one in after])
            replaced[row] = as_float(plain_mean(after))
            assert left.score_after[row] == pytest.approx(replaced[row], nan_ok=True)
        for row in rows:
            for ranks, scores in ((left.rank_before, means), (left.rank_after, replaced)):
                above = sum(one > scores[row] + TIED_MAP for one in scores)
                assert ranks[row] == (0 if np.isnan(scores[row]) else 1 + above)
        if not np.isnan(means).any():
            both = np.array(means), np.array(replaced)
            expected = kendall_tau_b(*both, tolerance=TIED_MAP)
            np.testing.assert_allclose(left.tau_b[place], as_number(expected.tau))
            of_ap = tau_ap(both[1], both[0], tolerance=TIED_MAP)
            np.testing.assert_allclose(left.tau_ap[place], as_number(of_ap.tau))


def as_number(tau: float | None) -> float:
    """Return a tau as arrays hold it."""
    return np.nan if tau is None else tau


# Juru and wdo each have two documents of their own and share one: ECIR'23, bootstrap code, the test
# of the creation of incomplete pools. All five are pooled; without juru three are.
JURU = {("juru", "1"): [1, 2, 5], ("wdo", "1"): [3, 4, 5]}


@pytest.mark.vector("V7: test_creation_of_incomplete_pools.py of the ECIR'23 bootstrap code")
def test_two_runs_that_share_a_document() -> None:
    """Two thirds are unjudged of the run left out."""
    grades = {"1": dict.fromkeys(range(1, 6), True)}
    arrays = arrays_of(JURU, grades, 3, ["juru", "wdo"])
    withdrawn = remove_uniques(arrays, within_depth(arrays, 3))
    # Two of each run's three documents are its own.
    assert (withdrawn.n_judged() / 3).round(4).tolist() == [0.6667, 0.6667]


def changed(before: list[float], after: list[float], topics: NDArray[np.float64]) -> LeaveOut:
    """Make a result of means alone, each run by itself."""
    names = tuple("ABCDE"[: len(before)])
    nothing = np.zeros(0, np.int64)
    zeros = np.zeros(len(before), np.int64)
    withdrawn = Withdrawn(names, np.arange(len(before)), nothing, nothing, nothing)
    means = np.array(before), np.array(after)
    taus = np.full(len(before), np.nan)
    return LeaveOut(withdrawn, zeros, topics, topics, *means, zeros, zeros, taus, taus)


TRUE = [0.5, 0.3, 0.3, 0.2, 0.1]


@pytest.mark.vector("TestScoreError.scala of PoolBiasEstimators")
def test_errors_of_the_pool_bias_estimators() -> None:
    """MAE .01 where every score moves by .01, and SRE 3 where two runs fall by 2 and by 1."""
    same = np.zeros((5, 2))
    assert pool_errors(changed(TRUE, [one + 0.01 for one in TRUE], same)).mae == pytest.approx(0.01)
    found = pool_errors(changed(TRUE, [0.2, 0.3, 0.3, 0.0, 0.1], same))
    assert (found.sre, found.sre_significant, found.n_runs) == (3, 0, 5)


def test_run_that_is_passed_but_does_not_differ_is_not_significant() -> None:
    """Of two runs that A passes, SRE* counts the one whose difference from A has p below .05.

    A - B is .4, -.3, .4, -.1: mean .1, standard deviation sqrt(.38 / 3) = .356, t = .1 / .178 =
    .56. A - C is .1, .12, .1, .12: mean .11, standard deviation .0115, t = .11 / .0058 = 19. With
    3 degrees of freedom t is significant above 3.18.
    """
    topics = np.array([[0.9, 0.6, 0.9, 0.6], [0.5, 0.9, 0.5, 0.7], [0.8, 0.48, 0.8, 0.48]])
    left = changed([0.75, 0.65, 0.64], [0.6, 0.65, 0.64], topics)
    found = pool_errors(left)
    assert (found.sre, found.sre_significant) == (2, 1)
    subset = pool_errors(left, np.array([False, True, True]))
    assert (subset.sre, subset.mae, subset.n_runs) == (0, 0.0, 2)
    nobody = pool_errors(left, np.zeros(3, bool))
    assert (nobody.mae, nobody.tau_b.reason) == (None, "fewer-than-two")


def test_adjustment_adds_the_mean_loss_to_newcomers_alone() -> None:
    """Webber and Park's: runs A and B lost .1 and .2, so C and D gain .15."""
    left = changed([0.5, 0.4, 0.3, np.nan], [0.4, 0.2, 0.3, np.nan], np.zeros((4, 2)))
    adjusted = adjust_scores(left, np.array([True, True, False, False]))
    assert adjusted.bias == pytest.approx(0.15)
    np.testing.assert_allclose(adjusted.scores, [0.5, 0.4, 0.45, np.nan])
    none = adjust_scores(left, np.array([False, False, False, True]))
    assert none.bias is None
    assert np.isnan(none.scores).all()


def test_relative_difference_of_a_score_of_zero_is_undefined() -> None:
    """Neither 0 nor a missing score is divided by."""
    left = changed([0.5, 0.0, np.nan], [0.4, 0.0, np.nan], np.zeros((3, 2)))
    np.testing.assert_allclose(left.relative(), [-0.2, np.nan, np.nan])


# Real data ------------------------------------------------------------------------------------


def pooled_runs() -> NDArray[np.bool_]:
    """Tell which runs of TREC-COVID were pooled, by the leaderboard."""
    rows = leaderboard()
    return np.array([rows[tag]["contributed judgments"] == "yes" for tag in covid_arrays().tags])


def plain_pool(depth: int) -> dict[tuple[str, str], set[str]]:
    """Return who of the 56 has each pair within a depth, by a plain loop."""
    fed = {tag for tag, row in leaderboard().items() if row["contributed judgments"] == "yes"}
    owners: dict[tuple[str, str], set[str]] = {}
    for (tag, topic), docnos in load_rankings().items():
        if tag in fed:
            for docno in docnos[:depth]:
                owners.setdefault((topic, docno), set()).add(tag)
    return owners


@pytest.mark.slow
def test_trec_covid_uniques() -> None:
    """56 runs at depth 7: uniques as counted by a plain loop."""
    arrays, fed = covid_arrays(), pooled_runs()
    withdrawn = remove_uniques(arrays, within_depth(arrays, 7, fed))
    left = leave_out(arrays, withdrawn)
    grades, owners = load_qrels(), plain_pool(7)
    alone: dict[str, list[tuple[str, str]]] = {}
    for pair, who in owners.items():
        if len(who) == 1 and pair[1] in grades[pair[0]]:
            alone.setdefault(next(iter(who)), []).append(pair)
    n_alone = [len(alone.get(tag, [])) for tag in arrays.tags]
    assert withdrawn.n_judged().tolist() == n_alone
    assert (len(owners), sum(n_alone)) == (6959, 5454)
    assert n_alone[arrays.tags.index("lda400s5000")] == 209
    assert n_alone[arrays.tags.index("ERST_PROSE")] == 208
    # Only the runs that were pooled owe anything.
    assert left.difference()[~fed].tolist() == [0.0] * 87
    assert (left.difference()[fed] < 0).any()


@pytest.mark.slow
def test_trec_covid_teams_lose_what_their_one_pooled_run_brought() -> None:
    """A team's other runs lose the judgements too."""
    arrays, fed = covid_arrays(), pooled_runs()
    teams = [leaderboard()[tag]["team"] for tag in arrays.tags]
    assert (len(set(teams)), int(fed.sum())) == (56, 56)
    by_run = remove_uniques(arrays, within_depth(arrays, 7, fed))
    by_team = remove_uniques(arrays, within_depth(arrays, 7, fed), teams)
    of_run = {arrays.tags[by]: n for by, n in enumerate(by_run.n_judged().tolist()) if fed[by]}
    of_team = dict(zip(by_team.names, by_team.n_judged().tolist(), strict=True))
    assert {teams[arrays.tags.index(tag)]: n for tag, n in of_run.items()} == of_team
    left, alone = leave_out(arrays, by_team), leave_out(arrays, by_run)
    np.testing.assert_allclose(left.score_after[fed], alone.score_after[fed])
    assert np.count_nonzero(left.difference()[~fed] < 0) > 0
