"""What is carried over from a near-duplicate: never a judgement, and gone with what it rests on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from store.collection import Collection
from store.grades.policy import Policy
from store.judging.carried import CarriedOver, CarriedState, first_holding
from store.keeping.directory.folder import read_directory
from store.model_judge import ModelIdentity
from store.records import (
    Action,
    AssignmentPlan,
    Document,
    Existing,
    JudgeKind,
    Pool,
    PoolEntry,
    Qrel,
    Scope,
    Topic,
)
from tests.helpers.world import JudgeAtWork, change_stored, make_pool, new_collection, stored_rows
from tests.store.carrying import carry
from tests.store.keeping.merge.apart import export, merge
from tests.store.places import held_place

HUMAN = JudgeKind.HUMAN
TEXTS = {"a": "one text", "b": "one text, edited", "c": "another", "d": "one text, too"}
TOPIC = "1"


def fill(made: Collection) -> None:
    """Make a pool of four documents of topic 1, of which b and d are near-duplicates of a; two judges."""
    made.topics.add([Topic(TOPIC, "wine"), Topic("2", "beer")])
    made.pools.add(make_pool({TOPIC: [*TEXTS], "2": ["a", "b"]}))
    made.documents.add(Document(docno, docno, text) for docno, text in TEXTS.items())
    for name in ("ann", "bob"):
        made.judges.add(name, HUMAN)


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make the collection and carry b and d over from a, of topic 1 alone."""
    fill(collection)
    assert carry(collection, ("b", "a"), ("d", "a")) == 2
    return collection


def states(made: Collection) -> dict[str, CarriedState]:
    """Return the states of what was carried over, by docno."""
    return {one.docno: one.state for one in made.duplicates.all()}


def queue(made: Collection, judge: str = "ann", topic: str = TOPIC) -> list[str]:
    """Return what is shown to a judge; all ways to ask for it say the same."""
    desk = made.desk(judge)
    docnos = [task.docno for task in desk.queue(topic)]
    lines = {line.topic: line.documents for line in desk.inbox()}
    assert lines.get(topic, 0) == len(docnos)
    assert sorted(desk.titles(topic)) == sorted(docnos)
    return docnos


def progress_of(made: Collection, judge: str = "ann") -> tuple[int, int, int, int]:
    """Return what a judge has pooled, judged, unjudged, and of these carried over: all topics."""
    counts = made.progress.counts()
    by_judge, by_topic = counts.by_judge(), counts.by_topic()
    place = counts.judges.index(judge)
    row = by_judge.judges.tolist().index(place)
    found = tuple(
        int(one[row]) for one in (by_judge.pooled, by_judge.judged, by_judge.unjudged, by_judge.carried)
    )
    rows = by_topic.judges == place
    columns = (by_topic.pooled, by_topic.judged, by_topic.unjudged, by_topic.carried)
    assert found == tuple(int(one[rows].sum()) for one in columns)
    return found[0], found[1], found[2], found[3]


def test_one_document_is_shown(ready: Collection) -> None:
    """The others are in no queue; of another topic, of which nothing was carried over, they are."""
    assert queue(ready) == queue(ready, "bob") == ["a", "c"]
    assert queue(ready, topic="2") == ["a", "b"]
    assert set(states(ready).values()) == {CarriedState.WAITING}


def test_it_is_unjudged_everywhere(ready: Collection) -> None:
    """The source is graded: nobody has graded the others, whatever counts."""
    JudgeAtWork(ready.desk("ann"), TOPIC).grade("a", 2)
    assert states(ready) == {"b": CarriedState.CARRIED, "d": CarriedState.CARRIED}
    assert [one.docno for one in ready.judgements.current()] == ["a"]
    assert [row.docno for row in ready.grades.final(Policy()).rows] == ["a"]
    votes = ready.grades.all_votes(Policy())
    assert votes.pairs == ((TOPIC, "a"),)
    assert {pair[1] for pair in ready.grades.open_pairs(votes) if pair[0] == TOPIC} == {"b", "c", "d"}
    (line,) = [one for one in ready.lists.topics() if one.topic == TOPIC]
    found = line.document_states
    assert (found.pooled, found.judged, found.unjudged, found.carried) == (4, 1, 3, 2)
    (pool,) = ready.lists.pools()
    assert (pool.document_states.pooled, pool.document_states.carried) == (6, 2)
    (label,) = ready.lists.rounds()
    assert label.document_states.carried == 2
    documents = {one.docno: one.document_states for one in ready.lists.documents().lines}
    assert {docno: one.carried for docno, one in documents.items()} == {"a": 0, "b": 1, "c": 0, "d": 1}
    assert documents["b"].unjudged == 2
    assert progress_of(ready) == (6, 1, 5, 2)
    final = ready.history.of_document(TOPIC, "b").final
    assert (final.grade, final.reason) == (None, "unjudged")
    assert ready.history.of_document(TOPIC, "b").events == ()


def carried_grades(made: Collection) -> dict[str, int]:
    """Return the grades that would be carried over: those of the sources, as they stand."""
    known = {(row.topic, row.docno): row.grade for row in made.grades.final(Policy()).rows}
    kept = first_holding(made.duplicates.all())
    return {pair[1]: known[TOPIC, one.source] for pair, one in kept.items() if (TOPIC, one.source) in known}


def test_grade_changes_and_goes_with_the_source(ready: Collection) -> None:
    """Another grade of the source is carried over; taken back, none is, and the document stays in waiting."""
    sitting = JudgeAtWork(ready.desk("ann"), TOPIC)
    JudgeAtWork(ready.desk("bob"), "2").grade("a", 1)
    sitting.grade("a", 2)
    policy = Policy(judge="ann")
    assert {row.docno: row.grade for row in ready.grades.final(policy).rows} == {"a": 2}
    sitting.grade("a", 0)
    assert states(ready)["b"] is CarriedState.CARRIED
    sitting.undo()
    sitting.undo()
    assert states(ready)["b"] is CarriedState.WAITING
    assert queue(ready) == ["a", "c"]


def test_carried_grade_follows(ready: Collection) -> None:
    """What is carried over is the grade of now, never one that was."""
    sitting = JudgeAtWork(ready.desk("ann"), TOPIC)
    for grade in (2, 0, 1):
        sitting.grade("a", grade)
        assert carried_grades(ready) == {"b": grade, "d": grade}


def test_erased_judge_takes_carried_grades_along(ready: Collection, collection_name: str) -> None:
    """Nothing remains of who is erased: the documents wait for another grade of the source."""
    JudgeAtWork(ready.desk("ann"), TOPIC).grade("a", 2)
    JudgeAtWork(ready.desk("bob"), TOPIC).grade("c", 1)
    change_stored(collection_name, "UPDATE sitting SET ended_at = seen_at")
    ready.erasures.erase("ann")
    assert carried_grades(ready) == {}
    assert set(states(ready).values()) == {CarriedState.WAITING}


def test_source_that_cannot_be_judged_carries_nothing(ready: Collection) -> None:
    """The others are shown themselves, until that is taken back."""
    sitting = JudgeAtWork(ready.desk("ann"), TOPIC)
    sitting.act("a", Action.CANNOT, reason="torn")
    assert set(states(ready).values()) == {CarriedState.CANNOT}
    assert queue(ready, "bob") == ["a", "b", "c", "d"]
    sitting.undo()
    assert queue(ready, "bob") == ["a", "c"]


@pytest.mark.parametrize("action", [Action.JUDGE, Action.CANNOT, Action.SKIP])
def test_own_decision_stands(ready: Collection, action: Action) -> None:
    """Who had the document before them when it was carried over may decide: it is shown to all then."""
    ready.duplicates.release()
    sitting = JudgeAtWork(ready.desk("ann"), TOPIC)
    carry(ready, ("b", "a"), ("d", "a"))
    sitting.act(
        "b", action, grade=1 if action is Action.JUDGE else None, reason="torn" * (action is Action.CANNOT)
    )
    JudgeAtWork(ready.desk("bob"), TOPIC).grade("a", 2)
    kept = {one.docno: one.state for one in ready.duplicates.all(standing=True)}
    assert kept == {"b": CarriedState.OWN, "d": CarriedState.CARRIED}
    assert queue(ready, "bob") == ["a", "b", "c"]
    assert set(first_holding(ready.duplicates.all())) == {(TOPIC, "d")}
    sitting.undo()
    assert queue(ready, "bob") == ["a", "c"]


def test_what_is_put_back_to_be_judged_again_is_shown(ready: Collection) -> None:
    """Guidelines changed, and a document that was decided on itself lies before its judge, as is promised."""
    ready.guidelines.add("# One")
    ready.duplicates.release()
    sitting = JudgeAtWork(ready.desk("ann"), TOPIC)
    carry(ready, ("b", "a"))
    sitting.grade("b", 1)
    sitting.desk.leave()
    ready.guidelines.add("# Two")
    assert [one.docno for one in ready.rejudging.reopen()] == ["b"]
    assert "b" in queue(ready)
    JudgeAtWork(ready.desk("ann"), TOPIC).act("b", Action.NOTE, note="again")
    assert "b" in queue(ready)
    assert states(ready)["b"] is CarriedState.OWN
    ready.duplicates.release()
    assert carry(ready, ("b", "a")) == 0


def test_imported_grade_stands(ready: Collection) -> None:
    """A grade from a file is one: nothing is carried over to its document."""
    ready.judgements.add({"old": [Qrel(TOPIC, "b", 0)]}, JudgeKind.IMPORTED)
    assert states(ready)["b"] is CarriedState.OWN


@pytest.mark.parametrize("docno", ["a", "b"])
def test_another_text_ends_it(ready: Collection, docno: str) -> None:
    """What was compared is no longer what there is: both are shown."""
    ready.documents.add([Document(docno, docno, "rewritten")], replace=True)
    assert states(ready)["b"] is CarriedState.CHANGED
    assert "b" in queue(ready)
    ready.documents.add([Document(docno, docno, TEXTS[docno])], replace=True)
    assert states(ready)["b"] is CarriedState.WAITING


@pytest.mark.parametrize("docno", ["a", "b"])
def test_another_markup_ends_it(ready: Collection, docno: str) -> None:
    """What was compared was read otherwise: both are shown, the third stays as it was."""
    text = Document(docno, docno, TEXTS[docno])
    ready.documents.add([replace(text, fields=(("url", "u"),), markup="plain")])
    assert set(states(ready).values()) == {CarriedState.WAITING}
    ready.documents.add([replace(text, markup="html")], replace=True)
    assert states(ready)["b"] is CarriedState.RELEASED
    assert states(ready)["d"] is (CarriedState.WAITING if docno == "b" else CarriedState.RELEASED)
    assert "b" in queue(ready)


def test_source_in_no_pool_carries_only_a_grade_it_has(ready: Collection) -> None:
    """Whose source nobody will be shown is shown itself; a grade that there is stays carried over."""
    ready.pools.add(make_pool({TOPIC: ["b", "d"]}, name="others"))
    ready.pools.withdraw("pool")
    assert set(states(ready).values()) == {CarriedState.UNPOOLED}
    assert queue(ready) == ["b", "d"]
    ready.judgements.add({"old": [Qrel(TOPIC, "a", 2)]}, JudgeKind.IMPORTED)
    assert set(states(ready).values()) == {CarriedState.CARRIED}
    assert queue(ready) == []
    assert ready.desk("ann").is_idle()


def test_document_in_no_pool_gets_nothing(ready: Collection) -> None:
    """A grade is carried over to what is to be judged alone."""
    ready.pools.withdraw("pool")
    ready.judgements.add({"old": [Qrel(TOPIC, "a", 2)]}, JudgeKind.IMPORTED)
    assert first_holding(ready.duplicates.all()) == {}


def test_release_shows_every_document_again(ready: Collection) -> None:
    """Of a topic or all; what was, stays in the history, as no judge's doing."""
    carry(ready, ("b", "a"), topic="2")
    assert ready.duplicates.release(["2"]) == 1
    assert queue(ready, topic="2") == ["a", "b"]
    assert queue(ready) == ["a", "c"]
    assert ready.duplicates.release() == 2
    assert ready.duplicates.release() == 0
    assert queue(ready) == ["a", "b", "c", "d"]
    happened = [one for one in ready.history.everything().entries if one.what == "duplicate"]
    assert [one.action for one in happened] == ["carried"] * 3 + ["released"] * 3
    assert {(one.judge, one.name, one.similarity, one.state, one.grade) for one in happened} == {
        (None, "a", 0.8, None, None)
    }
    assert ready.duplicates.all(standing=True) == []
    assert carry(ready, ("b", "a")) == 1


def test_what_somebody_looked_at_is_not_carried_over(collection: Collection) -> None:
    """Nor is what is carried over already, or shown in another's place, or from what is carried over."""
    fill(collection)
    sitting = JudgeAtWork(collection.desk("ann"), TOPIC)
    sitting.grade("b", 1)
    sitting.act("c", Action.SKIP)
    assert carry(collection, ("b", "a"), ("c", "a"), ("d", "a")) == 1
    assert carry(collection, ("d", "c"), ("a", "c"), ("c", "d")) == 0
    sitting.grade("c", 1)
    sitting.undo()
    sitting.undo()
    assert carry(collection, ("c", "a")) == 1


def test_nothing_is_carried_over_from_what_cannot_be_judged(collection: Collection) -> None:
    """Somebody said so since the documents were compared."""
    fill(collection)
    JudgeAtWork(collection.desk("ann"), TOPIC).act("a", Action.CANNOT, reason="torn")
    assert carry(collection, ("b", "a"), ("d", "c")) == 1
    assert states(collection) == {"d": CarriedState.WAITING}


def test_carried_documents_are_not_assigned(ready: Collection, collection_name: str) -> None:
    """Places are made at what is shown; places there were are passed over, and back after a release."""
    ready.duplicates.release()
    for judge in ("ann", "bob"):
        held_place(collection_name, TOPIC, "abcd", judge)
        held_place(collection_name, "2", "ab", judge)
    assert queue(ready) == ["a", "b", "c", "d"]
    carry(ready, ("b", "a"), ("d", "a"))
    assert queue(ready) == ["a", "c"]
    assert progress_of(ready) == (6, 0, 6, 2)
    (ann,) = [one for one in ready.assignments.workloads().lines if one.judge == "ann"]
    assert ann.documents == 4
    offered: list[str] = []

    def note(documents: object) -> AssignmentPlan:
        offered.extend(one.docno for one in documents if one.topic == TOPIC)  # type: ignore[attr-defined]
        return AssignmentPlan([], {})

    ready.assignments.make(Scope(), note, existing=Existing.ADD)
    assert offered == ["a", "c"]
    assert sum(ready.progress.unclaimed().unassigned.values()) == 0


def test_model_is_asked_what_is_shown(ready: Collection) -> None:
    """A model's queue is a judge's."""
    ready.models.add("gpt", ModelIdentity("gpt-4o"))
    assert [one.docno for one in ready.model_desk("gpt").queue(TOPIC)] == ["a", "c"]


def test_part_has_what_is_shown(ready: Collection, tmp_path: Path) -> None:
    """Handed out is the queue; brought back is what was done, and nothing that was carried over changes."""
    file = tmp_path / "part.db"
    ready.hand_out("ann", file, program="x")
    with Collection(str(file)) as part:
        assert [task.docno for task in part.desk("ann").queue(TOPIC)] == ["a", "c"]
        JudgeAtWork(part.desk("ann"), TOPIC).grade("a", 2)
        assert part.duplicates.all() == []
    ready.merge([str(file)])
    assert set(states(ready).values()) == {CarriedState.CARRIED}


def kept(made: Collection) -> list[CarriedOver]:
    """Return all that was carried over."""
    return made.duplicates.all()


def test_directory_brings_it_back(ready: Collection, collection_name: str, tmp_path: Path) -> None:
    """Exported and read again it is the same, released or not; without texts nothing holds."""
    carry(ready, ("b", "a"), topic="2")
    ready.duplicates.release(["2"])
    export(collection_name, tmp_path / "out")
    read_directory(str(tmp_path / "new.db"), tmp_path / "out")
    with Collection(str(tmp_path / "new.db")) as read:
        assert kept(read) == kept(ready)
        assert {one.name for one in read.verify() if one.n_faults} == set()


def two_copies(tmp_path: Path) -> tuple[Path, Path]:
    """Make a collection and a copy of it."""
    with new_collection(str(tmp_path / "one.db")) as made:
        fill(made)
    shutil.copy(tmp_path / "one.db", tmp_path / "two.db")
    return tmp_path / "one.db", tmp_path / "two.db"


def at(place: Path, act: Callable[[Collection], object]) -> None:
    """Do something in a collection."""
    with Collection(str(place)) as opened:
        act(opened)


def test_merge_unites_what_was_carried_over(tmp_path: Path) -> None:
    """Either way round the same comes of it; a release on one copy is one."""
    one, two = two_copies(tmp_path)
    at(one, lambda made: carry(made, ("b", "a")))
    merge(two, one)
    at(two, lambda made: carry(made, ("d", "a")))
    at(one, lambda made: made.duplicates.release())
    shutil.copy(two, tmp_path / "three.db")
    shutil.copy(one, tmp_path / "four.db")
    assert merge(two, one).copies[0].changed["documents carried over"] == 1
    assert merge(tmp_path / "four.db", tmp_path / "three.db").copies[0].new["documents carried over"] == 1
    found = []
    for place in (two, tmp_path / "four.db"):
        with Collection(str(place)) as opened:
            found.append(kept(opened))
            assert states(opened) == {"b": CarriedState.RELEASED, "d": CarriedState.WAITING}
            assert {check.name for check in opened.verify() if check.n_faults} == set()
    assert found[0] == found[1]
    assert merge(two, tmp_path / "four.db").is_nothing_new


def test_copies_that_hide_each_others_sources_hide_nothing(tmp_path: Path) -> None:
    """One shows a in b's place, the other b in a's: together both are shown."""
    one, two = two_copies(tmp_path)
    at(one, lambda made: carry(made, ("b", "a")))
    at(two, lambda made: carry(made, ("a", "b")))
    merge(one, two)
    with Collection(str(one)) as opened:
        assert states(opened) == {"a": CarriedState.CHAINED, "b": CarriedState.CHAINED}
        assert queue(opened) == ["a", "b", "c", "d"]


def test_copy_that_hid_a_graded_source_hides_nothing(tmp_path: Path) -> None:
    """One copy showed a in b's place and a was graded there; the other showed c in a's: a's grade stands."""
    one, two = two_copies(tmp_path)
    at(one, lambda made: carry(made, ("b", "a")))
    at(one, lambda made: JudgeAtWork(made.desk("ann"), TOPIC).grade("a", 2))
    at(two, lambda made: carry(made, ("a", "c")))
    merge(one, two)
    with Collection(str(one)) as opened:
        assert states(opened) == {"a": CarriedState.OWN, "b": CarriedState.CARRIED}
        assert queue(opened) == ["a", "c", "d"]


def test_of_two_sources_the_first_counts(tmp_path: Path) -> None:
    """Two copies carried b over, from a and from d: the grade is that of the one that came first."""
    one, two = two_copies(tmp_path)
    at(one, lambda made: carry(made, ("b", "d")))
    at(two, lambda made: carry(made, ("b", "a")))
    merge(one, two)
    with Collection(str(one)) as opened:
        assert queue(opened) == ["a", "c", "d"]
        assert [kept_one.source for kept_one in first_holding(opened.duplicates.all()).values()] == ["d"]


@pytest.mark.parametrize(
    "change",
    ["shared = 6", "shared = 0", "source_id = document_id", "ended_at = '2000-01-01 00:00:00.000000'"],
)
def test_verify_tells_what_cannot_be(ready: Collection, collection_name: str, change: str) -> None:
    """More alike than united, from itself, over before it began."""
    change_stored(collection_name, f"UPDATE carried SET {change}, checksum = NULL WHERE id = 1")
    (check,) = [one for one in ready.verify() if one.name == "carried over"]
    assert check.n_faults == 1
    assert stored_rows(collection_name)["judgement"] == []


def test_carried_documents_are_not_claimed(ready: Collection, collection_name: str) -> None:
    """An open place at one is nobody's to take."""
    held_place(collection_name, TOPIC, "abcd", None, lease_s=3600)
    desk = ready.desk("ann")
    assert desk.claimable(TOPIC) == 2
    while desk.claim(TOPIC):
        pass
    assert [task.docno for task in desk.queue(TOPIC)] == ["a", "c"]
    ready.duplicates.release()
    assert desk.claimable(TOPIC) == 2


def test_sampled_and_adaptive_pools_are_left_alone(collection: Collection) -> None:
    """What they say rests on a judgement of every document they drew."""
    fill(collection)
    entries = [PoolEntry(TOPIC, docno, place, None, 0, 0.5) for place, docno in enumerate("ab")]
    collection.pools.add(Pool(entries, {}, "sample"))
    names = {number: docno for docno, number in _ids(collection).items()}
    assert [names[document] for topic, document in collection.duplicates.pooled([TOPIC])] == ["c", "d"]


def test_what_a_sample_draws_later_is_shown(ready: Collection) -> None:
    """As long as the sample is in use; what it did not draw stays carried over."""
    entries = [PoolEntry(TOPIC, "b", 0, None, 0, 0.5)]
    ready.pools.add(Pool(entries, {}, "sample"))
    assert states(ready) == {"b": CarriedState.DRAWN, "d": CarriedState.WAITING}
    assert queue(ready) == ["a", "b", "c"]
    assert progress_of(ready)[3] == 1
    ready.pools.withdraw("sample")
    assert states(ready)["b"] is CarriedState.WAITING
    assert queue(ready) == ["a", "c"]


def _ids(made: Collection) -> dict[str, int]:
    """Return the row ids of documents."""
    with made.as_it_stands() as inside:
        return dict(inside.documents.ids)
