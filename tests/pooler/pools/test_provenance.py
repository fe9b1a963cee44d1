"""`pooler.pools.contents` and `pooler.pools.contents`: who brought what."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooler.pools.contents import brought_alone, contributions, depth_curve
from pooler.pools.runs import FileRuns
from pooler.reading.tops import RunTop, TopRanking

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
    return FileRuns(
        [
            RunTop(
                tag,
                tag,
                tag,
                depth,
                "trec",
                {
                    topic: TopRanking.of(docnos[:depth], -np.arange(float(len(docnos[:depth]))), 9)
                    for topic, docnos in topics.items()
                },
                9,
                GROUPS[tag],
            )
            for tag, topics in systems.items()
        ]
    )


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
