"""Which run brought what into a pool; what a deeper one would bring: plain counts, scipy's fit."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import pooler as p
from pooler.pools.contents import annotated_lines, brought_alone, contributions, depth_curve, graded_lines
from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import FileRuns
from pooler.reading.run_list import RunEntry
from pooler.reading.tops import read_tops
from store.analysis.pools.growth import FirstRetrievals, first_retrievals, fit_growth, missed_relevant
from store.records import Pool, PoolEntry
from tests.helpers.plain_lists import arrays_of
from tests.helpers.run import Cli, read_run_list
from tests.helpers.strategy_play import top_run

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


@given(systems=systems, data=st.data())
def test_brought_alone_equals_the_difference_of_two_pools(
    systems: dict[str, dict[str, list[str]]], data: st.DataObject
) -> None:
    """A run's own documents are the pool with it less the pool without it."""
    tag = data.draw(st.sampled_from(sorted(systems)))
    with_it = set(owners_of(systems, 3, by_group=False))
    others = {name: topics for name, topics in systems.items() if name != tag}
    without = set(owners_of(others, 3, by_group=False))
    alone = brought_alone(runs_of(systems, 3), tag, with_it)
    assert {(topic, docno) for topic, docno, _ in alone} == with_it - without
    assert all(systems[tag][topic][rank - 1] == docno for topic, docno, rank in alone)
    # What is not in the pool is nobody's.
    assert brought_alone(runs_of(systems, 3), tag, set()) == []


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
