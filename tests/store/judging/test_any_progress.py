"""Progress of random collections: notes, undos, places, withdrawn pools, judges of every kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.judging.progress import Unclaimed
from store.records import JudgeKind, Qrel
from tests.helpers.world import new_collection
from tests.store.keeping.directory.any_collection import fill, named_contents
from tests.store.state_counts import Counts, state_counts

Rows = list[dict[str, Any]]


@contextmanager
def drawn(data: st.DataObject) -> Iterator[tuple[Collection, str]]:
    """Make a random collection that has an adjudicator, too."""
    with TemporaryDirectory() as folder:
        where = str(Path(folder) / "any.db")
        with new_collection(where) as collection:
            fill(collection, where, data)
            ruled = data.draw(st.lists(st.sampled_from("abz"), max_size=3, unique=True))
            collection.judgements.add(
                {"eve": [Qrel("1", docno, 2) for docno in ruled]}, JudgeKind.ADJUDICATOR
            )
            for judge in collection.judges.all():
                if data.draw(st.integers(0, 3)) == 0:
                    collection.judges.set_disabled([judge.name], disabled=True)
            yield collection, where


def looked_up(where: str) -> tuple[dict[str, Rows], set[tuple[str, str]]]:
    """Return the rows of every table by names, and what is to be judged in pools not withdrawn."""
    rows = named_contents(where)
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    entries = [row for row in rows["pool_entry"] if row["pool_id"] in in_use and row["sampled"]]
    return rows, {(row["topic_id"], row["document_id"]) for row in entries}


def to_draw(rows: Mapping[str, Rows]) -> Counter[str]:
    """Count what adaptive pools may still draw by topic, one pool after the other."""
    if rows["assignment"]:
        return Counter()
    left: Counter[str] = Counter()
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    for one in rows["pool_topic"]:
        if one["pool_id"] in in_use:
            key = (one["pool_id"], one["topic_id"])
            left[one["topic_id"]] += one["budget"] - sum(
                row["sampled"] for row in rows["pool_entry"] if (row["pool_id"], row["topic_id"]) == key
            )
    return +left


def counted(where: str) -> dict[tuple[str, str], Counts]:
    """Look at every document of every topic and judge, one by one."""
    rows, pooled = looked_up(where)
    now: dict[tuple[str, str, str], dict[str, Any]] = {}
    for event in sorted(rows["judgement"], key=lambda row: row["revision"]):
        now[event["topic_id"], event["document_id"], event["judge_id"]] = event
    held = {(row["topic_id"], row["document_id"], row["judge_id"]) for row in rows["assignment"]}
    topics = {topic for topic, _ in pooled} | {topic for topic, _, _ in now} | set(to_draw(rows))
    found: dict[tuple[str, str], Counts] = {}
    for judge in rows["judge"]:
        name = judge["name"]
        for topic in topics:
            events = {docno: one for (t, docno, j), one in now.items() if (t, j) == (topic, name)}
            if judge["disabled"] and not events:
                continue
            own = {docno for one, docno in pooled if one == topic}
            if rows["assignment"] and judge["kind"] == "human":
                own = {docno for docno in own if (topic, docno, name) in held}
            states = Counter((one["state"], docno in own) for docno, one in events.items())
            grades = Counter(one["grade"] for one in events.values())
            found[topic, name] = Counts(
                pooled=len(own),
                judged=states["judged", True],
                skipped=states["skipped", True],
                cannot=states["cannot", True],
                outside=states["judged", False],
                by_grade={grade: grades[grade] for grade in range(3)},
            )
    return found | {("", judge): summed(found, judge) for _, judge in found}


def summed(found: Mapping[tuple[str, str], Counts], judge: str) -> Counts:
    """Add up the topics of a judge."""
    own = [counts for (_, name), counts in found.items() if name == judge]
    return Counts(
        pooled=sum(one.pooled for one in own),
        judged=sum(one.judged for one in own),
        skipped=sum(one.skipped for one in own),
        cannot=sum(one.cannot for one in own),
        outside=sum(one.outside for one in own),
        by_grade={grade: sum(one.by_grade[grade] for one in own) for grade in range(3)},
    )


def lying(where: str) -> Unclaimed:
    """Look at every pooled document and every place, one by one."""
    rows, pooled = looked_up(where)
    if not rows["assignment"]:
        return Unclaimed(dict(to_draw(rows)))
    adaptive = {row["pool_id"] for row in rows["pool_topic"]}
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    assignable = {
        (row["topic_id"], row["document_id"])
        for row in rows["pool_entry"]
        if row["sampled"] and row["pool_id"] in in_use - adaptive
    }
    places = [(row["topic_id"], row["document_id"]) for row in rows["assignment"]]
    inside = [row for row in rows["assignment"] if (row["topic_id"], row["document_id"]) in pooled]
    without = pooled - set(places)
    return Unclaimed(
        is_assigned=True,
        open_places=Counter(row["topic_id"] for row in inside if row["judge_id"] is None),
        # Whatever `fill` claims has lapsed long ago.
        lapsed=Counter(row["topic_id"] for row in inside if row["judge_id"] and row["lease_until"]),
        unassigned=Counter(topic for topic, _ in without & assignable),
        drawn=Counter(topic for topic, _ in without - assignable),
    )


@pytest.mark.long
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_counts_equal_a_look_at_every_document(data: st.DataObject) -> None:
    """By topic and judge, and by judge; and what lies before nobody."""
    with drawn(data) as (collection, where):
        assert state_counts(collection) == counted(where)
        assert collection.progress.unclaimed() == lying(where)
