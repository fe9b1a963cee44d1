"""What a pool is made of, counted by hand on three short runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from pooler.pools.contents import PoolStatistics
from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import FileRuns
from pooler.reading.tops import RunTop, TopRanking

RUNS = {"a": {"1": "xyz", "2": "x"}, "b": {"1": "ywv"}, "c": {"1": "xy", "2": "ut"}}
"""At depth 2 topic 1 has x of a and c, y of all, w of b; topic 2 has x of a, u and t of c."""


def statistics(**plan: Any) -> PoolStatistics:
    """Count the pool of the three runs at depth 2."""
    tops = [
        RunTop(
            tag,
            f"{tag}.run",
            tag,
            2,
            "trec",
            {
                topic: TopRanking.of(list(docnos[:2]), -np.arange(1.0, len(docnos[:2]) + 1), len(docnos))
                for topic, docnos in topics.items()
            },
            6,
            "",
            True,
        )
        for tag, topics in RUNS.items()
    ]
    build = PoolBuild(FileRuns(tops), Plan(**plan), version="1")
    list(build.topics())
    return build.statistics


def test_documents_are_counted_by_topic_run_and_overlap() -> None:
    """Of six pairs four come from one run, one from two, one from all; one ranking of five is short."""
    found = statistics()
    assert (found.sizes, found.total) == ({"1": 3, "2": 3}, 6)
    assert found.overlap == {1: 4, 2: 1, 3: 1}
    assert found.unique == {"a": 1, "b": 1, "c": 2}
    assert (found.n_rankings, found.n_short) == (5, 1)
    assert (found.n_below_budget, found.n_not_sampled, found.n_constant) == (0, 0, 0)


def test_a_document_not_chosen_is_nobodys() -> None:
    """A budget of two a topic by the number of runs takes x and y of topic 1, which no run has alone."""
    found = statistics(strategy="count", budget=2)
    assert (found.sizes, found.total) == ({"1": 2, "2": 2}, 4)
    assert found.overlap == {1: 2, 2: 1, 3: 1}
    assert sum(found.unique.values()) == 2
    assert found.unique["b"] == 0


def test_topics_that_do_not_fill_their_budget_are_counted() -> None:
    """Three documents fill a budget of three, and not one of four."""
    assert statistics(strategy="count", budget=3).n_below_budget == 0
    assert statistics(strategy="count", budget=4).n_below_budget == 2
