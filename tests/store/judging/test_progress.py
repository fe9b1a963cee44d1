"""Progress: five states counted apart, for every topic and judge."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from store.collection import Collection
from store.judging.progress import Unclaimed
from store.records import Action, Grade, JudgeKind, Qrel, Scale, State
from tests.helpers.world import JudgeAtWork, change_stored, make_pool
from tests.store.drawing import adaptive_pool, ends
from tests.store.state_counts import Counts, by_topic

HUMAN = JudgeKind.HUMAN


@pytest.fixture
def judged(collection: Collection) -> Collection:
    """Make a pool of six documents for topic 1, one of each state, and one of topic 2."""
    collection.judges.add("ann", HUMAN)
    collection.judges.add("bob", HUMAN)
    collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a"]}))
    sitting = JudgeAtWork(collection.desk("ann"), "1")
    sitting.grade("a", 0)
    sitting.grade("b", 2)
    sitting.act("c", Action.SKIP)
    sitting.act("d", Action.CANNOT, reason="no text")
    sitting.grade("e", 1)
    sitting.undo()
    return collection


def test_states_by_hand(judged: Collection) -> None:
    """A grade of 0 is a judgement; undone is unjudged; another judge's work counts for nobody."""
    progress = by_topic(judged)
    assert progress["1", "ann"] == Counts(
        pooled=6, judged=2, skipped=1, cannot=1, outside=0, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert progress["1", "ann"].unjudged == 2
    nothing = {0: 0, 1: 0, 2: 0}
    assert progress["1", "bob"] == Counts(pooled=6, by_grade=nothing)
    assert progress["2", "ann"] == progress["2", "bob"] == Counts(pooled=1, by_grade=nothing)
    assert set(progress) == {(topic, judge) for topic in "12" for judge in ("ann", "bob")}


@pytest.mark.parametrize("revisions", [0, 2048])
@pytest.mark.parametrize("high", [1, 2**48])
def test_grades_and_revisions_of_any_size(high: int, revisions: int, collection_name: str) -> None:
    """An event is read as one number where it has the bits, and as three where it has not."""
    low, high = -3, high if "://" not in collection_name else min(high, 2**31 - 1)  # a server's integers
    scale = Scale((Grade(low, "spam", "s"), Grade(0, "no", "0"), Grade(high, "yes", "1")), high, None)
    with Collection.create(collection_name, name="test", scale=scale, program="test") as collection:
        collection.pools.add(make_pool({"1": list("abc")}))
        grades = [Qrel("1", "a", low), Qrel("1", "b", high), Qrel("2", "a", low)]
        collection.judgements.add({"ann": grades}, HUMAN)
        change_stored(collection_name, f"UPDATE judgement SET revision = revision + {revisions}")
        progress = by_topic(collection)
    assert progress["1", "ann"] == Counts(pooled=3, judged=2, by_grade={low: 1, 0: 0, high: 1})
    assert progress["2", "ann"] == Counts(outside=1, by_grade={low: 1, 0: 0, high: 0})


def test_judged_outside_every_pool_is_counted_apart(judged: Collection) -> None:
    """Judgements of documents or topics in no pool never count as pooled."""
    judged.judgements.add({"ann": [Qrel("1", "z", 1), Qrel("3", "a", 0)]}, HUMAN)
    progress = by_topic(judged)
    assert progress["1", "ann"] == Counts(
        pooled=6, judged=2, skipped=1, cannot=1, outside=1, by_grade={0: 1, 1: 1, 2: 1}
    )
    assert progress["3", "ann"] == Counts(outside=1, by_grade={0: 1, 1: 0, 2: 0})
    assert progress["3", "bob"] == Counts(by_grade={0: 0, 1: 0, 2: 0})


def test_withdrawn_pool_does_not_count(judged: Collection, collection_name: str) -> None:
    """What only a withdrawn pool held is not pooled: judgements count outside, skips nowhere."""
    judged.pools.add(make_pool({"1": ["a", "c"]}, name="second"))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'pool'")
    progress = by_topic(judged)
    assert progress["1", "ann"] == Counts(
        pooled=2, judged=1, skipped=1, cannot=0, outside=1, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert ("2", "ann") not in progress


def test_document_of_two_pools_counts_once(judged: Collection) -> None:
    """Pooled means in any pool."""
    judged.pools.add(make_pool({"1": ["a", "b", "g"]}, name="second"))
    assert by_topic(judged)["1", "ann"].pooled == 7
    assert by_topic(judged)["1", "ann"].judged == 2


def test_disabled_judge_counts_with_what_was_judged(
    judged: Collection, collection_name: str
) -> None:  # fmt: skip
    """A disabled judge's work is shown; topics the judge never saw are not."""
    change_stored(collection_name, "UPDATE judge SET disabled = TRUE")
    assert set(by_topic(judged)) == {("1", "ann")}


def test_empty_collection_has_no_progress(collection: Collection) -> None:
    """Without pool and judgement there is nothing to count."""
    collection.judges.add("ann", HUMAN)
    assert by_topic(collection) == {}


def test_topic_with_nothing_drawn_is_there(judged: Collection) -> None:
    """A topic of an adaptive pool counts before its first draw; drawn documents are pooled."""
    judged.pools.add(adaptive_pool({"2": list("abcd"), "5": list("abcd")}, budget=3))
    assert judged.progress.unclaimed() == Unclaimed({"2": 3, "5": 3})
    assert by_topic(judged)["5", "ann"] == Counts(by_grade={0: 0, 1: 0, 2: 0})
    judged.pools.draw("live", "5", ends("abcd"))
    assert judged.progress.unclaimed() == Unclaimed({"2": 3, "5": 2})
    assert by_topic(judged)["5", "bob"].pooled == 1


def test_drawn_documents_without_a_place_are_apart(judged: Collection, collection_name: str) -> None:
    """Once anything is assigned nobody draws, and what adaptive pools alone drew has no place."""
    judged.pools.add(adaptive_pool({"1": ["a", "x"], "2": list("yz")}, budget=2))
    for docno in "ax":
        judged.pools.draw("live", "1", lambda _, docno=docno: docno)  # type: ignore[misc]
    place(collection_name, "b", "ann")
    # Of six documents of 1 and one of 2 that the other pool has, b has a place; a is one of them.
    assert judged.progress.unclaimed() == Unclaimed(
        {}, is_assigned=True, unassigned={"1": 5, "2": 1}, drawn={"1": 1}
    )
    place(collection_name, "x", "ann")
    assert judged.progress.unclaimed().drawn == {}


def test_without_assignments_nothing_is_unclaimed(judged: Collection) -> None:
    """While nothing is assigned every judge has the whole pool."""
    assert judged.progress.unclaimed() == Unclaimed()


def test_assigned_documents_are_a_persons_pool(judged: Collection, collection_name: str) -> None:
    """Once anything is assigned, that is what a person has; the rest judged counts as outside."""
    judged.judges.add("eve", JudgeKind.ADJUDICATOR)
    judged.judgements.add({"gpt": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    judged.pools.add(make_pool({"1": ["y", "z"]}, name="withdrawn", manifest={}))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'withdrawn'")
    for judge, docno in (("ann", "a"), ("ann", "c"), ("ann", "f"), ("ann", "z"), ("bob", "b")):
        place(collection_name, docno, judge)
    progress = by_topic(judged)
    assert progress["1", "ann"] == Counts(
        pooled=3, judged=1, skipped=1, cannot=0, outside=1, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert progress["1", "ann"].unjudged == 1
    assert progress["2", "ann"].pooled == progress["2", "bob"].pooled == 0
    assert progress["1", "bob"].pooled == 1
    assert (progress["1", "gpt"].pooled, progress["1", "gpt"].judged) == (6, 1)
    assert progress["1", "eve"].pooled == 6


def test_what_lies_before_nobody(judged: Collection, collection_name: str) -> None:
    """Open places, lapsed claims, and documents without a place are counted where they are."""
    judged.pools.add(make_pool({"1": ["z"]}, name="withdrawn", manifest={}))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'withdrawn'")
    place(collection_name, "a", "ann")
    place(collection_name, "b", None)
    place(collection_name, "b", None)
    place(collection_name, "c", "ann", until="2001-01-01")
    place(collection_name, "d", "ann", until="2901-01-01")
    place(collection_name, "d", "bob", until="2901-01-01")
    place(collection_name, "z", None)
    assert judged.progress.unclaimed() == Unclaimed(
        {}, is_assigned=True, open_places={"1": 2}, lapsed={"1": 1}, unassigned={"1": 2, "2": 1}
    )


def place(name: str, docno: str, judge: str | None, *, until: str | None = None) -> None:
    """Make a place at a document of topic 1."""
    change_stored(
        name,
        "INSERT INTO assignment (topic_id, document_id, judge_id, position, purpose)"
        " SELECT t.id, d.id, (SELECT id FROM judge WHERE name = :judge), 0, 'primary'"
        " FROM topic t, document d WHERE t.number = '1' AND d.docno = :docno",
        judge=judge,
        docno=docno,
    )
    if until is not None:
        change_stored(
            name,
            "UPDATE assignment SET lease_until = :until WHERE lease_until IS NULL"
            " AND document_id = (SELECT id FROM document WHERE docno = :docno)",
            docno=docno,
            until=f"{until} 00:00:00.000000",
        )


def test_counts_equal_a_plain_loop(collection: Collection, collection_name: str) -> None:
    """After random work the counts are those of looking at every document one by one."""
    dice = random.Random(5)
    docnos, judges = list("abcdefgh"), ["ann", "bob"]
    for judge in judges:
        collection.judges.add(judge, HUMAN)
    pools = {name: {topic: dice.sample(docnos, 4) for topic in "12"} for name in ("p", "q", "r")}
    for name, documents in pools.items():
        collection.pools.add(make_pool(documents, name=name, manifest={"name": name}))
    expected: dict[tuple[str, str, str], tuple[State, int | None]] = {}
    for judge in judges:
        for topic in "12":
            sitting = JudgeAtWork(collection.desk(judge), topic)
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
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'q'")
    pooled = {
        (topic, docno) for name in "pr" for topic in "12" for docno in pools[name][topic]
    }  # fmt: skip
    for (topic, judge), counts in by_topic(collection).items():
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
