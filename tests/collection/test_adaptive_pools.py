"""Draws of adaptive pools: which document, told what, once and for all, whoever asks."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Sequence
from itertools import takewhile

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.content.pools import Draw
from store.errors import StoreError
from store.records import Action, JudgeKind, Qrel
from tests.helpers.drawing import Watched, adaptive_pool, draw_at_once, ends
from tests.helpers.world import JudgeAtWork, engine_of, make_pool, pairs_to_judge, stored_rows

HUMAN = JudgeKind.HUMAN
DOCNOS = "abcdef"
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.helpers.world", "tests.helpers.drawing"])


@pytest.fixture
def live(collection: Collection) -> Collection:
    """Make a pool `live` that may draw four of the documents a to f for topics 1 and 2."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, HUMAN)
    collection.pools.add(adaptive_pool({"1": DOCNOS, "2": DOCNOS}, 4))
    return collection


def draw(collection: Collection, topic: str = "1") -> str | None:
    """Draw from the pool `live` by the strategy `ends`."""
    return collection.pools.draw("live", topic, ends(DOCNOS))


def told(collection: Collection, topic: str = "1") -> list[tuple[str, int | None]]:
    """Return what a strategy is told of the draws so far, drawing nothing."""
    watched = Watched(lambda _draws: None)
    assert collection.pools.draw("live", topic, watched) is None
    assert watched.told is not None
    return [(one.docno, one.grade) for one in watched.told]


def drawn(collection: Collection, topic: str = "1") -> list[tuple[int, str]]:
    """Return position and docno of the documents drawn, as the pool has them."""
    entries = collection.pools.get("live").entries
    return sorted((one.position, one.docno) for one in entries if one.sampled and one.topic == topic)


def test_nothing_is_to_be_judged_before_it_is_drawn(live: Collection) -> None:
    """What may be drawn is in no queue; each draw brings one document, in the order of drawing."""
    assert live.desk("ann").queue("1") == []
    for expected in ("a", "f", "e"):
        assert draw(live) == expected
    assert [task.docno for task in live.desk("ann").queue("1")] == ["a", "f", "e"]
    assert drawn(live) == [(0, "a"), (1, "f"), (2, "e")]
    assert drawn(live, "2") == []
    assert live.desk("ann").queue("2") == []
    assert pairs_to_judge(live) == {("1", "a"), ("1", "f"), ("1", "e")}


def test_strategy_is_told_every_draw_and_its_grade(live: Collection) -> None:
    """A hit is followed by the first document left, anything else by the last one."""
    watched = Watched(ends(DOCNOS))
    sequence = []
    for grade in (1, 0, 2):
        docno = live.pools.draw("live", "1", watched)
        assert docno is not None
        JudgeAtWork(live.desk("ann"), "1").grade(docno, grade)
        sequence.append(Draw(docno, grade))
    assert live.pools.draw("live", "1", watched) == "c"
    assert sequence == [Draw("a", 1), Draw("b", 0), Draw("f", 2)]
    assert watched.told == sequence


def test_budget_ends_drawing(live: Collection) -> None:
    """With four drawn the strategy is not asked again; the other topic has a budget of its own."""
    assert [draw(live) for _ in range(4)] == ["a", "f", "e", "d"]
    watched = Watched(ends(DOCNOS))
    assert live.pools.draw("live", "1", watched) is None
    assert watched.n_asked == 0
    assert draw(live, "2") == "a"


def test_nothing_is_drawn_where_nothing_may_be(live: Collection, collection_name: str) -> None:
    """Of a fixed pool, for a topic that the pool lacks, of a withdrawn one: no strategy is asked."""
    live.pools.add(make_pool({"1": "ab", "3": "a"}, name="fixed"))
    before = stored_rows(collection_name)
    assert live.pools.draw("live", "1", lambda _draws: None) is None  # it may end before the budget does
    assert stored_rows(collection_name) == before
    watched = Watched(ends(DOCNOS))
    for pool, topic in (("fixed", "1"), ("live", "3"), ("live", "none")):
        assert live.pools.draw(pool, topic, watched) is None
    live.pools.withdraw("live")
    assert live.pools.draw("live", "1", watched) is None
    assert watched.n_asked == 0


def test_pools_tell_what_is_drawn_and_may_be(live: Collection) -> None:
    """Of an adaptive pool both are known, over all topics; another pool has no such budget."""
    live.pools.add(make_pool({"1": "ab", "3": "a"}, name="fixed"))
    draw(live)
    draw(live)
    draw(live, "2")
    sizes = {pool.name: (pool.pairs, pool.budget) for pool in live.pools.all()}
    assert sizes == {"live": (3, 8), "fixed": (3, None)}
    assert live.pools.get("live").budgets == {"1": 4, "2": 4}


def test_same_pool_again_keeps_its_draws(live: Collection, collection_name: str) -> None:
    """Making the pool once more changes nothing, however much is drawn."""
    draw(live)
    before = stored_rows(collection_name)
    assert not live.pools.add(adaptive_pool({"1": DOCNOS, "2": DOCNOS}, 4))
    assert stored_rows(collection_name) == before


@pytest.mark.parametrize("named", ["a", "z", "nowhere", ""])
def test_document_that_cannot_be_drawn_is_refused(live: Collection, collection_name: str, named: str) -> None:
    """Drawn already, another topic's, in no pool: the strategy is wrong, and nothing is written."""
    live.pools.add(adaptive_pool({"1": "z"}, 1, name="other"))
    draw(live)
    draw(live, "2")
    before = stored_rows(collection_name)
    message = f"the strategy of pool `live` named `{named}`, which cannot be drawn"
    with pytest.raises(StoreError, match=message):
        live.pools.draw("live", "1", lambda _draws: named)
    assert stored_rows(collection_name) == before


def test_strategy_that_fails_writes_nothing(live: Collection, collection_name: str) -> None:
    """An error of the strategy reaches the caller; the next draw is as if it had not been."""

    def fail(_draws: Sequence[Draw]) -> str | None:
        message = "no such run"
        raise ZeroDivisionError(message)

    before = stored_rows(collection_name)
    with pytest.raises(ZeroDivisionError, match="no such run"):
        live.pools.draw("live", "1", fail)
    assert stored_rows(collection_name) == before
    assert draw(live) == "a"


def test_skipped_and_impossible_count_as_drawn_without_reward(live: Collection) -> None:
    """Neither is a grade, and neither is drawn again; a note alone is no grade either."""
    for act in (Action.SKIP, Action.CANNOT, Action.NOTE):
        docno = draw(live)
        assert docno is not None
        JudgeAtWork(live.desk("ann"), "1").act(docno, act, reason="torn", note="n")
    assert told(live) == [("a", None), ("f", None), ("e", None)]
    assert draw(live) == "d"


def test_undo_after_a_draw_leaves_it_drawn(live: Collection) -> None:
    """What was drawn because of a grade stays when the grade is undone; the next draw knows."""
    draw(live)
    sitting = JudgeAtWork(live.desk("ann"), "1")
    sitting.grade("a", 1)
    assert draw(live) == "b"
    sitting.undo()
    assert drawn(live) == [(0, "a"), (1, "b")]
    assert told(live) == [("a", None), ("b", None)]
    assert draw(live) == "f"


def test_grade_that_has_stood_longest_counts_of_two_judges(live: Collection) -> None:
    """Bob was first; once he changes his mind Ann was; a note changes nothing."""
    draw(live)
    ann, bob = (JudgeAtWork(live.desk(judge), "1") for judge in ("ann", "bob"))
    bob.grade("a", 0)
    ann.grade("a", 2)
    assert told(live) == [("a", 0)]
    bob.act("a", Action.NOTE, note="sure")
    assert told(live) == [("a", 0)]
    bob.grade("a", 1)
    assert told(live) == [("a", 2)]
    ann.act("a", Action.NOTE, note="sure too")
    assert told(live) == [("a", 2)]
    ann.act("a", Action.SKIP)
    assert told(live) == [("a", 1)]
    ann.undo()  # her 2 stands again, but Bob's 1 stood through
    assert told(live) == [("a", 1)]
    bob.undo()  # his 0 stands again, newer than her 2
    assert told(live) == [("a", 2)]


def test_judgements_from_elsewhere_count_too(live: Collection) -> None:
    """Imported grades are grades; those of other topics and of documents not drawn are not told."""
    qrels = [Qrel("1", "a", 2), Qrel("1", "f", 1), Qrel("2", "a", 0), Qrel("1", "e", 1)]
    live.judgements.add({"trec": qrels}, JudgeKind.IMPORTED)
    assert draw(live) == "a"
    assert draw(live) == "b"
    assert told(live) == [("a", 2), ("b", None)]
    assert draw(live, "2") == "a"
    assert draw(live, "2") == "f"
    assert told(live, "2") == [("a", 0), ("f", None)]


def test_people_alone_are_told_where_one_has_graded(live: Collection) -> None:
    """Models and imported judges do not steer what is drawn for people, however early their grades were."""
    for docno in "afe":
        assert draw(live) == docno
    live.judgements.add({"gpt": [Qrel("1", "a", 2), Qrel("1", "f", 2)]}, JudgeKind.MODEL)
    assert told(live) == [("a", 2), ("f", 2), ("e", None)]
    live.judgements.add({"trec": [Qrel("1", "e", 1)]}, JudgeKind.IMPORTED)
    assert told(live) == [("a", None), ("f", None), ("e", 1)]
    sitting = JudgeAtWork(live.desk("ann"), "1")
    sitting.grade("a", 0)
    assert told(live) == [("a", 0), ("f", None), ("e", None)]
    sitting.undo()
    assert told(live) == [("a", None), ("f", None), ("e", 1)]


def test_first_current_grade_follows_from_the_events(live: Collection, collection_name: str) -> None:
    """After any sequence of acts of two judges it is the current grade that began to stand first.

    The slow reference reads the events of each judge backwards for as long as the grade is the
    current one.
    """
    dice = random.Random(20010101)
    draw(live)
    draw(live)
    desks = [live.desk(judge) for judge in ("ann", "bob")]
    for _ in range(40):
        sitting = JudgeAtWork(dice.choice(desks), "1")
        act = dice.choice([*(one for one in Action if one != Action.REOPEN), *3 * [Action.JUDGE]])
        if act is Action.UNDO:
            sitting.undo()
        else:
            grade = dice.randrange(3) if act is Action.JUDGE else None
            note = str(dice.random()) if act is Action.NOTE else None
            sitting.act(dice.choice("af"), act, grade=grade, note=note)
        assert told(live) == [(docno, obvious_grade(collection_name, docno)) for docno in "af"]


def obvious_grade(name: str, docno: str) -> int | None:
    """Return the current grade that began to stand first."""
    query = (
        "SELECT judgement.id, judge_id, grade FROM judgement"
        " JOIN document ON document.id = document_id WHERE docno = :docno ORDER BY judgement.id"
    )
    with engine_of(name) as engine, engine.connect() as connection:
        events = connection.execute(text(query), {"docno": docno}).all()
    document_states = []
    for judge in {event.judge_id for event in events}:
        own = [event for event in reversed(events) if event.judge_id == judge]
        current = own[0].grade
        since = [event.id for event in takewhile(lambda one: one.grade == current, own)]  # noqa: B023 - used at once
        if current is not None:
            document_states.append((since[-1], current))
    return min(document_states)[1] if document_states else None


@pytest.mark.slow
def test_two_processes_draw_each_document_once(collection: Collection, collection_name: str) -> None:
    """Drawing at once, two never get the same document or number; no number is left out."""
    docnos = "".join(chr(ord("A") + number) for number in range(58))
    collection.pools.add(adaptive_pool({"1": docnos}, 50))
    collection.close()
    barrier = processes.Barrier(2)
    pipes = [processes.Pipe(duplex=False) for _ in range(2)]
    started = [
        processes.Process(target=draw_at_once, args=(collection_name, docnos, barrier, sender))
        for _, sender in pipes
    ]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
        assert process.exitcode == 0
    first, second = (receiver.recv() for receiver, _ in pipes)
    assert (len(first), len(second)) == (25, 25)
    assert [number for number, _ in sorted(first + second)] == list(range(50))
    assert drawn(collection) == sorted(first + second)
    # Without a grade the strategy takes the first document, then always the last one left.
    assert "".join(docno for _, docno in drawn(collection)) == docnos[0] + docnos[:8:-1]
