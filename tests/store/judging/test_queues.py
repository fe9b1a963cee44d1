"""Which documents lie before a judge: pooled, assigned, claimed, drawn, withdrawn."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.db.engine import reading
from store.errors import ConflictError
from store.judging.assignments import claimable
from store.judging.desk import count_queues, count_undrawn, fetch_queue
from store.records import Action, Decision, InboxLine, JudgeKind, Topic
from tests.helpers.world import JudgeAtWork, change_stored, make_pool
from tests.store.drawing import adaptive_pool, ends
from tests.store.places import held_place, let_lapse, places

LEASE_S = 600


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make two topics pooled in an order of their own, and three judges."""
    for judge in ("ann", "bob", "cy"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    manifest = {"strategy": "depth", "out_order": "priority"}
    collection.pools.add(make_pool({"1": "dbac", "2": "ea"}, manifest=manifest, round="3"))
    return collection


def laid(collection: Collection, judge: str, topic: str = "1") -> str:
    """Return the docnos before a judge, in order."""
    return "".join(task.docno for task in collection.desk(judge).queue(topic))


def inbox(collection: Collection, judge: str) -> list[tuple[str, int, int]]:
    """Return topic, documents and documents left of each line of an inbox."""
    return [(line.topic, line.documents, line.left) for line in collection.desk(judge).inbox()]


def test_without_assignments_everybody_has_the_whole_pool(ready: Collection) -> None:
    """All judges have all documents, in the order of the pool, and nothing to claim."""
    for judge in ("ann", "bob"):
        assert laid(ready, judge) == "dbac"
        assert inbox(ready, judge) == [("1", 4, 4), ("2", 2, 2)]
        assert ready.desk(judge).claimable("1") == 0
        assert not ready.desk(judge).claim("1")


def test_one_assignment_ends_that_for_everybody(ready: Collection, collection_name: str) -> None:
    """From the first place on, a judge has what has a place, in the place's order, or nothing."""
    held_place(collection_name, "1", "ad", "ann", display_order="random", order_seed=3)
    held_place(collection_name, "2", "a", "bob")
    assert (laid(ready, "ann"), laid(ready, "bob"), laid(ready, "cy")) == ("ad", "", "")
    assert (laid(ready, "ann", "2"), laid(ready, "bob", "2")) == ("", "a")
    assert (inbox(ready, "ann"), inbox(ready, "bob"), inbox(ready, "cy")) == (
        [("1", 2, 2)],
        [("2", 1, 1)],
        [],
    )


def test_event_says_the_order_of_the_place_and_the_round_of_the_pool(
    ready: Collection, collection_name: str
) -> None:
    """Where something is assigned the judge's own order is the one that was seen."""
    held_place(collection_name, "1", "ca", "ann", display_order="random", order_seed=99)
    JudgeAtWork(ready.desk("ann"), "1").act("c", Action.JUDGE, grade=1, position=0)
    with reading(ready._db.engine) as session:
        queue = fetch_queue(session, 1, 1)
    assert [(one.docno, one.display_order, one.order_seed, one.round) for one in queue] == [
        ("c", "random", 99, "3"),
        ("a", "random", 99, "3"),
    ]


def test_positions_need_not_be_without_gaps(ready: Collection, collection_name: str) -> None:
    """Places of two plans follow each other by position, whichever was made first."""
    held_place(collection_name, "1", "b", "ann", first=7)
    held_place(collection_name, "1", "ac", "ann", first=3)
    assert laid(ready, "ann") == "acb"


def test_assigned_but_no_longer_pooled_is_not_shown(ready: Collection, collection_name: str) -> None:
    """A place at a document of withdrawn pools is none; it comes back with another pool."""
    held_place(collection_name, "1", "abcd", "ann")
    assert ready.pools.withdraw("pool")
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("", [])
    ready.pools.add(make_pool({"1": "xa"}, name="second", round="4"))
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("a", [("1", 1, 1)])


def test_documents_not_sampled_are_not_shown(ready: Collection, collection_name: str) -> None:
    """Listed in a stratum alone, a document is nobody's to judge."""
    change_stored(
        collection_name,
        "UPDATE pool_entry SET sampled = FALSE WHERE document_id IN"
        " (SELECT id FROM document WHERE docno = 'b')",
    )
    assert laid(ready, "ann") == "dac"
    held_place(collection_name, "1", "ab", "ann")
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("a", [("1", 1, 1)])


def test_inbox_and_queue_count_the_same(ready: Collection, collection_name: str) -> None:
    """However documents are laid, the inbox has as many as the queue."""
    ready.pools.add(make_pool({"1": "az", "2": "z"}, name="second"))
    held_place(collection_name, "1", "abz", "ann")
    held_place(collection_name, "2", "ez", "bob")
    held_place(collection_name, "1", "b", "bob")
    for number, judge in enumerate(("ann", "bob", "cy"), 1):
        with reading(ready._db.engine) as session:
            queues = count_queues(session, number)
        shown = {topic: len(laid(ready, judge, topic)) for topic in ("1", "2") if laid(ready, judge, topic)}
        assert {str(topic): count for topic, count in queues.items()} == shown
        assert {line.topic: line.documents for line in ready.desk(judge).inbox()} == shown


def test_open_places_are_counted_and_claimed(ready: Collection, collection_name: str) -> None:
    """What may be claimed is counted as left; claiming brings it into the queue, in plan order."""
    held_place(collection_name, "1", "cabd", None, lease_s=LEASE_S)
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("", [("1", 4, 4)])
    ann = ready.desk("ann")
    assert ann.claimable("1") == 4
    assert ann.claim("1")
    assert laid(ready, "ann") == "cab"
    assert inbox(ready, "ann") == [("1", 4, 4)]
    assert (inbox(ready, "bob"), ready.desk("bob").claimable("1")) == ([("1", 1, 1)], 1)
    bob = ready.desk("bob")
    assert bob.claim("1")
    assert not bob.claim("1")
    assert laid(ready, "bob") == "d"
    assert (inbox(ready, "ann"), inbox(ready, "cy")) == ([("1", 3, 3)], [])


def test_leaving_gives_back_what_was_not_decided(ready: Collection, collection_name: str) -> None:
    """Judged documents stay the judge's, skipped ones for a while; the rest is open again."""
    held_place(collection_name, "1", "cabd", None, lease_s=LEASE_S)
    ann = ready.desk("ann")
    ann.claim("1")
    sitting = JudgeAtWork(ann, "1")
    sitting.grade("c", 1)
    sitting.act("a", Action.SKIP)
    ann.leave()
    held = {(docno, judge): lease for _, docno, judge, lease in places(collection_name)}
    assert set(held) == {("c", "ann"), ("a", "ann"), ("b", None), ("d", None)}
    assert held["c", "ann"] is None
    assert held["a", "ann"] is not None
    assert laid(ready, "ann") == "ca"
    assert inbox(ready, "bob") == [("1", 2, 2)]


def test_place_lost_while_away_is_told_and_writes_nothing(ready: Collection, collection_name: str) -> None:
    """Who decides after another judge took the lapsed place writes nothing: never k + 1 judges."""
    held_place(collection_name, "1", "ab", None, lease_s=LEASE_S)
    ann, bob = ready.desk("ann"), ready.desk("bob")
    ann.claim("1")
    late = JudgeAtWork(ann, "1")
    let_lapse(collection_name, "ann")
    assert laid(ready, "ann") == "ab", "a lapsed place stays its holder's until it is taken"
    assert bob.claim("1")
    assert (laid(ready, "ann"), laid(ready, "bob")) == ("", "ab")
    JudgeAtWork(bob, "1").grade("a", 2)
    for docno in "ab":
        with pytest.raises(ConflictError, match="not assigned to you"):
            late.grade(docno, 0)
    assert [(one.judge, one.docno, one.grade) for one in ready.judgements.current()] == [("bob", "a", 2)]


def test_lapsed_place_that_nobody_took_can_still_be_decided(ready: Collection, collection_name: str) -> None:
    """A long pause costs nothing where nobody waited for the document."""
    held_place(collection_name, "1", "a", None, lease_s=LEASE_S)
    ann = ready.desk("ann")
    ann.claim("1")
    sitting = JudgeAtWork(ann, "1")
    let_lapse(collection_name, "ann")
    assert sitting.grade("a", 1).revision == 1
    assert places(collection_name) == [("1", "a", "ann", None)]
    assert not ready.desk("bob").claim("1")


def test_undo_gives_the_place_a_lease_again(ready: Collection, collection_name: str) -> None:
    """A decision settles the place; taking it back lets the place lapse again."""
    held_place(collection_name, "1", "a", None, lease_s=LEASE_S)
    ann = ready.desk("ann")
    ann.claim("1")
    sitting = JudgeAtWork(ann, "1")
    leases = [places(collection_name)[0][3]]
    sitting.grade("a", 1)
    leases.append(places(collection_name)[0][3])
    sitting.undo()
    leases.append(places(collection_name)[0][3])
    assert [lease is None for lease in leases] == [False, True, False]
    assert leases[2] >= leases[0]


@pytest.mark.parametrize("end", ["undo", "keep"])
def test_nothing_is_left_of_a_decision_whose_place_was_lost(
    ready: Collection, collection_name: str, end: str
) -> None:
    """Undo and keep write nothing either once the place is another judge's."""
    held_place(collection_name, "1", "a", None, lease_s=LEASE_S)
    ann, bob = ready.desk("ann"), ready.desk("bob")
    ann.claim("1")
    sitting = JudgeAtWork(ann, "1")
    sitting.act("a", Action.SKIP)
    let_lapse(collection_name, "ann")
    bob.claim("1")
    before = places(collection_name)
    with pytest.raises(ConflictError, match="not assigned to you"):
        ann.undo() if end == "undo" else ann.record_and_undo(Decision("1", "a", Action.JUDGE, 1))
    assert places(collection_name) == before
    assert [one.revision for one in ann.events_of("1", "a")] == [1]


def test_drawn_documents_count_until_something_is_assigned(ready: Collection, collection_name: str) -> None:
    """What adaptive pools may draw is left to do only where documents are not assigned."""
    ready.pools.add(adaptive_pool({"1": "xyz"}, 2))
    with reading(ready._db.engine) as session:
        assert count_undrawn(session) == {1: 2}
        assert claimable(session, 1) == {}
    assert inbox(ready, "ann") == [("1", 6, 6), ("2", 2, 2)]
    ready.pools.draw("live", "1", ends("xyz"))
    assert inbox(ready, "ann") == [("1", 6, 6), ("2", 2, 2)]
    held_place(collection_name, "1", "ax", "ann")
    with reading(ready._db.engine) as session:
        assert count_undrawn(session) == {}
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("ax", [("1", 2, 2)])


def test_counts_of_what_others_did_are_not_in_an_inbox(ready: Collection, collection_name: str) -> None:
    """With two places at every document, what one judge did leaves the other's inbox as it was."""
    for _ in range(2):
        held_place(collection_name, "1", "abcd", None, lease_s=LEASE_S)
    ann, bob = ready.desk("ann"), ready.desk("bob")
    bob.claim("1")
    before = inbox(ready, "bob"), laid(ready, "bob"), bob.claimable("1")
    while ann.claim("1"):
        pass
    sitting = JudgeAtWork(ann, "1")
    for docno, grade in zip("abcd", (0, 1, 2, 0), strict=True):
        sitting.grade(docno, grade)
    assert (inbox(ready, "bob"), laid(ready, "bob"), bob.claimable("1")) == before
    assert isinstance(ready.desk("bob").inbox()[0], InboxLine)
