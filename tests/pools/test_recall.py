"""Bounds on recall of a collection: which sample speaks, in which order, by whose grades; goals of judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import pooler as p
from pooler.commands.judge.status_recall import OrderGoal, RecallGoal, goal_of, parse_goal
from store.analysis.pools.stopping import most_relevant
from store.collection import Collection
from store.errors import ArgumentError, UnknownNameError
from store.records import Action, Decision, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.world import new_collection

N = 60
"""Documents of the runs."""
DOCNOS = [f"d{number:02}" for number in range(N)]


@pytest.fixture
def collection(collection_name: str) -> Iterator[Collection]:
    """Make a collection of two topics, a person and a model: nothing pooled."""
    with new_collection(collection_name) as opened:
        opened.topics.add([Topic("1", "one", "", ""), Topic("2", "two", "", "")])
        opened.judges.add("ann", JudgeKind.HUMAN)
        opened.judges.add("bob", JudgeKind.HUMAN)
        opened.judges.add("gpt", JudgeKind.MODEL)
        yield opened


def pool(*docnos: str, name: str = "pool", topic: str = "1") -> Pool:
    """Make a pool of chosen documents."""
    entries = [PoolEntry(topic, docno, place) for place, docno in enumerate(docnos)]
    return Pool(entries, {"strategy": "depth", "parameters": {"depth": 5}}, name)


def sample(drawn: Sequence[str], *, name: str = "tail", topic: str = "1", of: Sequence[str] = DOCNOS) -> Pool:
    """Make a uniform sample; `drawn` in display order."""
    rest = [docno for docno in of if docno not in drawn]
    chance = len(drawn) / len(of)
    entries = [
        PoolEntry(topic, docno, place, stratum=1, inclusion_probability=chance, sampled=place < len(drawn))
        for place, docno in enumerate([*drawn, *rest])
    ]
    manifest = {"strategy": "uniform", "parameters": {"depth": 9}}
    return Pool(entries, manifest, name)


def judge(
    opened: Collection,
    docnos: Sequence[str],
    relevant: Sequence[str] = (),
    *,
    who: str = "ann",
    topic: str = "1",
) -> None:
    """Grade documents at a desk: 1 for those that are relevant, else 0."""
    desk = opened.desk(who)
    revisions = {task.docno: task.revision for task in desk.queue(topic)}
    for docno in docnos:
        grade = int(docno in relevant)
        desk.record(Decision(topic, docno, Action.JUDGE, grade=grade, seen_revision=revisions[docno]))
    desk.leave()


def shuffled(opened: Collection) -> list[str]:
    """Assign topic 1 to ann in a random order, and return it."""
    p.assign(opened, ["ann"], order="random", seed=3, topics=["1"])
    order = [task.docno for task in opened.desk("ann").queue("1")]
    assert order != sorted(order)
    return order


def bound(opened: Collection, topic: str = "1", **how: float) -> dict[str, object]:
    """Return the row of a topic."""
    found = p.status_recall(opened, **how)  # type: ignore[arg-type]
    return next(row for row in found.table("recall").to_records() if row["topic"] == topic)


def test_a_tail_sample_after_a_pool(collection: Collection) -> None:
    """10 documents are judged first, 4 of them relevant; 20 of the 50 others are drawn, none relevant."""
    collection.pools.add(pool(*DOCNOS[:10]))
    judge(collection, DOCNOS[:10], DOCNOS[:4])
    drawn = DOCNOS[5:8] + DOCNOS[20:40]
    collection.pools.add(sample(drawn))
    assert bound(collection)["reason"] == "sample-unjudged"
    judge(collection, DOCNOS[20:40])
    more = most_relevant(50, 20, 0)
    row = bound(collection, target=0.5)
    assert (row["found"], row["judged"], row["n_random"], row["relevant"]) == (4, 20, 50, 0)
    assert (row["more"], row["recall"], row["reason"]) == (more, 4 / (4 + more), None)
    assert (row["waiting"], row["open"], row["pool"]) == (0, 0, "tail")
    needed = next(n for n in range(20, 51) if most_relevant(50, n, 0) <= 4) - 20
    assert row["needed"] == needed


def test_the_beginning_of_a_random_order_is_a_sample_of_another_it_is_not(collection: Collection) -> None:
    """Half of the sample is judged: in a random order that one judge has all of, or by docno."""
    collection.pools.add(sample(DOCNOS[:40]))
    collection.pools.add(sample(DOCNOS[:40], topic="2", name="other"))
    order = shuffled(collection)
    judge(collection, order[:20], order[:1])
    p.assign(collection, ["ann"], topics=["2"], add=True)
    judge(collection, DOCNOS[:20], ["d00"], topic="2")
    assert bound(collection)["more"] == most_relevant(60, 20, 1) - 1
    assert bound(collection, "2")["more"] == most_relevant(60, 40, 21) - 1


def test_whose_grades_count(collection: Collection) -> None:
    """A document is relevant if one person says so; a model is not heard beside people."""
    collection.pools.add(sample(DOCNOS[:30]))
    judge(collection, DOCNOS[:30], who="gpt", relevant=DOCNOS)
    assert bound(collection)["relevant"] == 30  # where nobody else judged
    judge(collection, DOCNOS[:30])
    assert bound(collection)["relevant"] == 0
    judge(collection, DOCNOS[:5], DOCNOS[:2], who="bob")
    assert bound(collection)["relevant"] == 2
    collection.qrels.define("models", p.Qrels(kinds=["model"]))
    found = p.status_recall(collection, qrels="models")
    assert found.bounds[0].relevant == 30


def test_the_oldest_sample_speaks(collection: Collection) -> None:
    """Another one, drawn since, changes nothing until the first is withdrawn."""
    collection.pools.add(sample(DOCNOS[:30], name="first"))
    judge(collection, DOCNOS[:30], ["d00"])
    before = bound(collection)
    collection.pools.add(sample(DOCNOS[30:40], name="second"))
    judge(collection, DOCNOS[30:40])
    assert bound(collection)["pool"] == "first"
    assert bound(collection)["more"] == before["more"]
    collection.pools.withdraw("first")
    row = bound(collection)
    assert (row["pool"], row["n_random"], row["judged"]) == ("second", 30, 10)
    assert row["more"] == most_relevant(30, 10, 0)


def test_states_stay_apart(collection: Collection) -> None:
    """Skipped and cannot be judged are no grade: they count as relevant, and nothing is written."""
    collection.pools.add(sample(DOCNOS[:30]))
    judge(collection, [*DOCNOS[:10], *DOCNOS[12:30]], ["d00"])
    desk = collection.desk("ann")
    desk.queue("1")
    desk.record(Decision("1", "d10", Action.SKIP, seen_revision=0))
    desk.record(Decision("1", "d11", Action.CANNOT, reason="no text", seen_revision=0))
    desk.leave()
    row = bound(collection)
    assert (row["judged"], row["waiting"]) == (28, 2)
    best = min(most_relevant(60, 10, 1), most_relevant(60, 30, 3))
    assert row["more"] == best - 1
    assert {task.docno: task.grade for task in desk.queue("1")}["d10"] is None


def test_nothing_at_all_and_one_topic(collection: Collection) -> None:
    """No pool, no row; a topic that is not known is refused."""
    assert len(p.status_recall(collection).table("recall")) == 0
    with pytest.raises(UnknownNameError, match="unknown topic `9`"):
        p.status_recall(collection, topic="9")
    collection.pools.add(pool("x"))
    assert [row["reason"] for row in p.status_recall(collection).table("recall").to_records()] == [
        "no-sample"
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: p.status_recall(c, confidence=1), "`confidence` must be between 0 and 1, but got 1"),
        (lambda c: p.status_recall(c, target=0), "`target` must be between 0 and 1, but got 0"),
    ],
)
def test_refusals(collection: Collection, call: Callable[[Collection], object], message: str) -> None:
    """What cannot be is refused by name."""
    with pytest.raises(ArgumentError, match=message):
        call(collection)


@pytest.mark.parametrize(
    "text",
    ["", "recall", "recall=", "recall=1", "recall=.9@1", "order=.5", "order=.9@.9", "recall=nan", "depth=3"],
)
def test_goals_that_are_none(text: str) -> None:
    """One line says what one looks like."""
    with pytest.raises(ArgumentError, match="`goal` must "):
        parse_goal(text)


def test_a_recall_is_reached_where_the_bound_says_so(collection: Collection) -> None:
    """The judge is told whether, and no number of the bound; nothing is written."""
    collection.pools.add(sample(DOCNOS[:55]))
    collection.pools.add(pool("x", topic="2"))
    order = shuffled(collection)
    goal = goal_of(collection, "recall=.5@.9")
    assert isinstance(goal, RecallGoal)
    sought = (
        "at least 50% of the relevant documents of the runs are found (90% sure), if the sample is random"
    )
    assert not goal.is_reached("1")
    assert goal.words("1") == f"goal not reached yet: {sought}"
    judge(collection, order[:50], order[:3])
    assert (most_relevant(60, 50, 3, confidence=0.9), most_relevant(60, 52, 3, confidence=0.9)) == (7, 6)
    assert not goal.is_reached("1")
    judge(collection, order[50:52])
    assert goal.is_reached("1")
    assert goal.words("1") == f"goal reached: {sought}"
    assert not goal.is_reached("2")
    assert goal.words("2") == "unknown whether the goal is reached: nothing was judged at random"


@pytest.mark.slow
def test_an_order_is_settled_where_next_says_so(
    imported_garden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the sample collection; nothing else of what `next` says reaches the judge."""
    with Collection(str(imported_garden / "collection.db")) as opened:
        goal = goal_of(opened, "order=.95")
        assert isinstance(goal, OrderGoal)
        is_open = bool(p.pool_next(opened, confidence=0.95).unsettled.any())
        assert goal.is_reached("G01") is not is_open
        state = "not reached" if is_open else "reached"
        order = "the order of the runs is settled at 0.95"
        assert goal.words("G01") == f"goal {state} when this sitting began: {order}"
    assert capsys.readouterr() == ("", "")


def test_an_order_of_nothing_is_not_settled(collection: Collection) -> None:
    """Nothing is judged, and there is no run: no offer."""
    assert not goal_of(collection, "order=.95").is_reached("1")
