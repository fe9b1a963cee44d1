"""Progress: five states counted apart, for every topic and judge."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from store.collection import Collection
from store.records import Action, Counts, JudgeKind, Qrel, State
from tests.store.outside import Sitting, execute, make_pool

HUMAN = JudgeKind.HUMAN


@pytest.fixture
def judged(collection: Collection) -> Collection:
    """Make a pool of six documents for topic 1, one of each state, and one of topic 2."""
    collection.add_judge("ann", HUMAN)
    collection.add_judge("bob", HUMAN)
    collection.add_pool(make_pool({"1": list("abcdef"), "2": ["a"]}))
    sitting = Sitting(collection.desk("ann"), "1")
    sitting.grade("a", 0)
    sitting.grade("b", 2)
    sitting.act("c", Action.SKIP)
    sitting.act("d", Action.CANNOT, reason="no text")
    sitting.grade("e", 1)
    sitting.undo()
    return collection


def test_states_by_hand(judged: Collection) -> None:
    """A grade of 0 is a judgement; undone is unjudged; another judge's work counts for nobody."""
    progress = judged.progress()
    assert progress["1", "ann"] == Counts(
        pooled=6, judged=2, skipped=1, cannot=1, outside=0, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert progress["1", "ann"].unjudged == 2
    nothing = {0: 0, 1: 0, 2: 0}
    assert progress["1", "bob"] == Counts(pooled=6, by_grade=nothing)
    assert progress["2", "ann"] == progress["2", "bob"] == Counts(pooled=1, by_grade=nothing)
    assert set(progress) == {(topic, judge) for topic in "12" for judge in ("ann", "bob")}


def test_judged_outside_every_pool_is_counted_apart(judged: Collection) -> None:
    """Judgements of documents or topics in no pool never count as pooled."""
    judged.import_judgements({"ann": [Qrel("1", "z", 1), Qrel("3", "a", 0)]}, HUMAN)
    progress = judged.progress()
    assert progress["1", "ann"] == Counts(
        pooled=6, judged=2, skipped=1, cannot=1, outside=1, by_grade={0: 1, 1: 1, 2: 1}
    )
    assert progress["3", "ann"] == Counts(outside=1, by_grade={0: 1, 1: 0, 2: 0})
    assert progress["3", "bob"] == Counts(by_grade={0: 0, 1: 0, 2: 0})


def test_withdrawn_pool_does_not_count(judged: Collection, collection_name: str) -> None:
    """What only a withdrawn pool held is not pooled: judgements count outside, skips nowhere."""
    judged.add_pool(make_pool({"1": ["a", "c"]}, name="second"))
    execute(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'pool'")
    progress = judged.progress()
    assert progress["1", "ann"] == Counts(
        pooled=2, judged=1, skipped=1, cannot=0, outside=1, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert ("2", "ann") not in progress


def test_document_of_two_pools_counts_once(judged: Collection) -> None:
    """Pooled means in any pool."""
    judged.add_pool(make_pool({"1": ["a", "b", "g"]}, name="second"))
    assert judged.progress()["1", "ann"].pooled == 7
    assert judged.progress()["1", "ann"].judged == 2


def test_disabled_judge_counts_with_what_was_judged(
    judged: Collection, collection_name: str
) -> None:  # fmt: skip
    """A disabled judge's work is shown; topics the judge never saw are not."""
    execute(collection_name, "UPDATE judge SET disabled = TRUE")
    assert set(judged.progress()) == {("1", "ann")}


def test_empty_collection_has_no_progress(collection: Collection) -> None:
    """Without pool and judgement there is nothing to count."""
    collection.add_judge("ann", HUMAN)
    assert collection.progress() == {}


def test_counts_equal_a_plain_loop(collection: Collection, collection_name: str) -> None:
    """After random work the counts are those of looking at every document one by one."""
    dice = random.Random(5)
    docnos, judges = list("abcdefgh"), ["ann", "bob"]
    for judge in judges:
        collection.add_judge(judge, HUMAN)
    pools = {name: {topic: dice.sample(docnos, 4) for topic in "12"} for name in ("p", "q", "r")}
    for name, documents in pools.items():
        collection.add_pool(make_pool(documents, name=name, manifest={"name": name}))
    expected: dict[tuple[str, str, str], tuple[State, int | None]] = {}
    for judge in judges:
        for topic in "12":
            sitting = Sitting(collection.desk(judge), topic)
            for docno in list(sitting.tasks):
                grade = dice.randrange(3)
                match dice.randrange(4):
                    case 0:
                        sitting.grade(docno, grade)
                        expected[topic, docno, judge] = (State.JUDGED, grade)
                    case 1:
                        sitting.act(docno, Action.SKIP)
                        expected[topic, docno, judge] = (State.SKIPPED, None)
                    case 2:
                        sitting.act(docno, Action.CANNOT)
                        expected[topic, docno, judge] = (State.CANNOT, None)
    execute(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'q'")
    pooled = {
        (topic, docno) for name in "pr" for topic in "12" for docno in pools[name][topic]
    }  # fmt: skip
    for (topic, judge), counts in collection.progress().items():
        inside: Counter[State] = Counter()
        grades: Counter[int | None] = Counter()
        outside = 0
        for (one_topic, docno, one_judge), (state, grade) in expected.items():
            if (one_topic, one_judge) == (topic, judge):
                if (topic, docno) in pooled:
                    inside[state] += 1
                elif state is State.JUDGED:
                    outside += 1
                if state is State.JUDGED:
                    grades[grade] += 1
        assert counts == Counts(
            pooled=sum(one_topic == topic for one_topic, _ in pooled),
            judged=inside[State.JUDGED],
            skipped=inside[State.SKIPPED],
            cannot=inside[State.CANNOT],
            outside=outside,
            by_grade={grade: grades[grade] for grade in range(3)},
        )
