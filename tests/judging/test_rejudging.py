"""Rejudging: what rests on something that has changed since, and its way back into the queues."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.errors import ConflictError
from store.judging.rejudging import Obstacle, Outdated, Why
from store.keeping.directory import ExportChoice, write_directory
from store.records import Action, Decision, Document, JudgeKind, Passage, State
from tests.helpers.filled_collection import state_counts
from tests.helpers.fixtures import made_once
from tests.helpers.places import held_place, places
from tests.helpers.run import Cli, write
from tests.helpers.wine import make, work
from tests.helpers.world import (
    JudgeAtWork,
    change_stored,
    make_pool,
    meanwhile,
    named_rows,
    new_collection,
    stored_rows,
)

HUMAN = JudgeKind.HUMAN
GUIDELINES, TEXT, CAME = Why.GUIDELINES, Why.TEXT, Why.TEXT_CAME


@pytest.fixture
def collection_name(tmp_path: Path) -> str:
    """Name a place on SQLite alone: what reopens beside others is tested on PostgreSQL below."""
    return str(tmp_path / "collection.db")


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection with guidelines, two judges, and a pool of which d has no text."""
    fill(collection)
    return collection


def fill(collection: Collection) -> None:
    """Fill a collection as the fixture `ready` says."""
    collection.judges.add("ann", HUMAN)
    collection.judges.add("bob", HUMAN)
    collection.guidelines.add("judge well")
    collection.pools.add(make_pool({"1": list("abcd"), "2": ["a"], "10": ["a"]}, round="7"))
    collection.documents.add([Document(docno, text=f"text of {docno}") for docno in "abc"])


def sit(collection: Collection, judge: str = "ann", topic: str = "1") -> JudgeAtWork:
    """Sit down."""
    return JudgeAtWork(collection.desk(judge), topic)


def listed(collection: Collection, *arguments: Any) -> list[tuple[str, str, str, tuple[Why, ...]]]:
    """List judge, topic, docno and reasons of what is outdated."""
    rows = collection.rejudging.outdated(*arguments).rows
    return [(one.judge, one.topic, one.docno, one.why) for one in rows]


def change(collection: Collection, docno: str) -> None:
    """Give a document another text."""
    collection.documents.add([Document(docno, text=f"new text of {docno}")], replace=True)


def test_judgements_under_older_guidelines_are_listed(ready: Collection) -> None:
    """A grade and a `cannot` given under an older version are listed; later ones are not."""
    ann = sit(ready)
    ann.grade("a", 2)
    ann.act("b", Action.CANNOT, reason="odd")
    ann.act("c", Action.SKIP)
    assert listed(ready) == []
    ready.guidelines.add("judge better")
    bob = sit(ready, "bob")
    bob.grade("a", 1)
    found = ready.rejudging.outdated()
    assert listed(ready) == [("ann", "1", "a", (GUIDELINES,)), ("ann", "1", "b", (GUIDELINES,))]
    first, second = found.rows
    assert first == Outdated("ann", "1", "a", State.JUDGED, 2, (GUIDELINES,), 1, first.judged_at, None, 1)
    assert (second.state, second.grade) == (State.CANNOT, None)
    assert abs(datetime.now(UTC) - first.judged_at) < timedelta(minutes=1)
    assert (found.newest_version, found.n_imported) == (2, 0)
    ann.grade("a", 2)
    assert listed(ready) == [("ann", "1", "b", (GUIDELINES,))]


def test_first_guidelines_make_what_was_before_outdated(collection: Collection) -> None:
    """What was judged without guidelines was not judged under the first version."""
    collection.judges.add("ann", HUMAN)
    collection.pools.add(make_pool({"1": ["a"]}))
    sit(collection).grade("a", 1)
    assert listed(collection) == []
    collection.guidelines.add("at last")
    assert listed(collection) == [("ann", "1", "a", (GUIDELINES,))]
    assert collection.rejudging.outdated().rows[0].guideline_version is None


def test_older_text_that_comes_back_is_not_older(ready: Collection) -> None:
    """Under version 1 with the text of version 3 nothing has changed; under version 2 it has."""
    sit(ready).grade("a", 1)
    ready.guidelines.add("judge badly")
    sit(ready, "bob").grade("a", 1)
    ready.guidelines.add("judge well")
    assert listed(ready) == [("bob", "1", "a", (GUIDELINES,))]


def test_the_event_that_decided_counts(ready: Collection) -> None:
    """A note under new guidelines refreshes no grade, and an undo brings the old one back."""
    ann = sit(ready)
    ann.grade("a", 1)
    ann.grade("b", 1)
    ann.grade("c", 1)
    ready.guidelines.add("judge better")
    ann.act("a", Action.NOTE, note="still so?")
    ann.grade("b", 2)
    ann.grade("c", 2)
    assert [docno for _, _, docno, _ in listed(ready)] == ["a"]
    ann.undo()
    assert [docno for _, _, docno, _ in listed(ready)] == ["a", "c"]


def test_changed_texts_are_listed(ready: Collection) -> None:
    """Another text, and a text where there was none, are two reasons; both may add up."""
    ann = sit(ready)
    for docno in "abc":
        ann.grade(docno, 1)
    ann.act("d", Action.CANNOT, reason="no text")
    change(ready, "a")
    ready.documents.add([Document("d", text="here it is")])
    ready.documents.add([Document("b", text="text of b")])
    assert listed(ready) == [("ann", "1", "a", (TEXT,)), ("ann", "1", "d", (CAME,))]
    ready.guidelines.add("judge better")
    assert listed(ready) == [
        ("ann", "1", "a", (GUIDELINES, TEXT)),
        ("ann", "1", "b", (GUIDELINES,)),
        ("ann", "1", "c", (GUIDELINES,)),
        ("ann", "1", "d", (GUIDELINES, CAME)),
    ]


def test_text_as_it_was_again_is_no_change(ready: Collection) -> None:
    """A text that came back to what was judged leaves the judgement as it is."""
    sit(ready).grade("a", 1)
    change(ready, "a")
    ready.documents.add([Document("a", text="text of a")], replace=True)
    assert listed(ready) == []


def test_why_it_was_reopened_is_no_judge_s_own_reason(tmp_path: Path) -> None:
    """An export counts the notes and reasons of judges, not those of the reopening."""
    place = make(tmp_path / "whole.db")
    work(place, ("ann", "a", Action.JUDGE, 1), ("ann", "b", Action.CANNOT, "torn"))
    with Collection(str(place)) as opened:
        opened.guidelines.add("# Two\n")
        assert len(opened.rejudging.reopen()) == 2
        written = write_directory(opened.as_it_stands(), tmp_path / "out", ExportChoice(), program="x 1")
    assert written.counts["notes"] == 1


def test_topics_stand_in_natural_order(ready: Collection) -> None:
    """Within each judge's."""
    for judge in ("bob", "ann"):
        for topic in ("10", "2"):
            sit(ready, judge, topic).grade("a", 1)
    change(ready, "a")
    assert [one[:2] for one in listed(ready)] == [("ann", "2"), ("ann", "10"), ("bob", "2"), ("bob", "10")]


def test_reopened_is_unjudged_with_its_note(ready: Collection, collection_name: str) -> None:
    """One event is appended: no grade, the note and the round kept, nothing of a screen."""
    ann = sit(ready)
    ann.grade("a", 2)
    ann.act("a", Action.NOTE, note="clear case")
    sit(ready, "bob").grade("a", 1)
    before = named_rows(collection_name, "judgement")
    ready.guidelines.add("judge better")
    [reopened] = ready.rejudging.reopen(["ann"])
    assert (reopened.judge, reopened.docno, reopened.grade) == ("ann", "a", 2)
    *history, event = named_rows(collection_name, "judgement")
    assert history == before
    number, moment = event.pop("id"), event.pop("judged_at")
    assert number > before[-1]["id"]
    assert None not in (moment, event.pop("digest"))
    stays = {name: before[0][name] for name in ("topic_id", "document_id", "judge_id")}
    is_new = {"revision": 3, "action": "reopen", "state": "unjudged", "reason": b"guidelines"}
    kept = {"note": b"clear case", "iteration": "7"}
    assert {name: value for name, value in event.items() if value not in (None, 0)} == stays | is_new | kept
    grades = {(one.judge, one.grade) for one in ready.judgements.current()}
    assert grades == {("ann", None), ("bob", 1)}


def test_reopened_is_before_its_judge_again(ready: Collection) -> None:
    """It is in the queue as unjudged, is not listed again, and can be judged at once."""
    sit(ready).grade("a", 2)
    change(ready, "a")
    assert len(ready.rejudging.reopen()) == 1
    assert listed(ready) == []
    assert ready.rejudging.reopen() == []
    ann = sit(ready)
    assert ann.tasks["a"].state is State.UNJUDGED
    assert ann.tasks["a"].revision == 2
    assert state_counts(ready)["1", "ann"].unjudged == 4
    ann.grade("a", 0)
    assert listed(ready) == []
    [now] = [one for one in ready.judgements.current() if one.docno == "a"]
    assert (now.grade, now.revision) == (0, 3)


def test_filtered_reopening_leaves_the_others(ready: Collection) -> None:
    """What the filters leave out stays judged, and stays listed."""
    sit(ready).grade("a", 2)
    sit(ready).grade("b", 2)
    sit(ready, "bob").grade("a", 1)
    change(ready, "a")
    ready.guidelines.add("judge better")
    assert [one.docno for one in ready.rejudging.reopen(["ann"], ["1"], [TEXT])] == ["a"]
    assert listed(ready) == [("ann", "1", "b", (GUIDELINES,)), ("bob", "1", "a", (GUIDELINES, TEXT))]


def test_passages_stay_while_their_text_does(ready: Collection, collection_name: str) -> None:
    """Evidence is kept under new guidelines, and left behind in the history with a new text."""
    ann = sit(ready)
    passage = Passage(0, 4, "text")
    for docno in "ab":
        ann.grade(docno, 1)
        ann.act(docno, Action.MARK, passages=(passage,))
    ready.guidelines.add("judge better")
    change(ready, "b")
    assert len(ready.rejudging.reopen()) == 2
    tasks = {task.docno: task for task in ann.look()}
    assert tasks["a"].passages == (passage,)
    assert tasks["b"].passages == ()
    assert len(stored_rows(collection_name)["passage"]) == 3


def test_what_nobody_would_be_shown_stays_judged(ready: Collection, collection_name: str) -> None:
    """A disabled judge, a document in no pool, one not assigned: listed with the obstacle only."""
    ready.pools.add(make_pool({"1": ["z"]}, name="second", manifest={}))
    sit(ready, "bob").grade("a", 1)
    ann = sit(ready)
    for docno in "abz":
        ann.grade(docno, 1)
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'second'")
    change_stored(collection_name, "UPDATE judge SET disabled = TRUE WHERE name = 'bob'")
    held_place(collection_name, "1", "a", "ann")
    ready.guidelines.add("judge better")
    found = {(one.judge, one.docno): one.obstacle for one in ready.rejudging.outdated().rows}
    assert found == {
        ("ann", "a"): None,
        ("ann", "b"): Obstacle.NOT_ASSIGNED,
        ("ann", "z"): Obstacle.NOT_POOLED,
        ("bob", "a"): Obstacle.DISABLED,
    }
    assert [(one.judge, one.docno) for one in ready.rejudging.reopen()] == [("ann", "a")]
    assert len(ready.rejudging.outdated().rows) == 3


@pytest.mark.slow
def test_adjudicators_settle_again_wherever_it_was(ready: Collection, collection_name: str) -> None:
    """An adjudicator's queue is no pool and no assignment: what was settled can be reopened."""
    ready.judges.add("eve", JudgeKind.ADJUDICATOR)
    sit(ready, "eve").grade("a", 1)
    held_place(collection_name, "1", "a", "ann")
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE")
    ready.guidelines.add("judge better")
    assert [one.judge for one in ready.rejudging.reopen()] == ["eve"]


@pytest.mark.slow
def test_claimed_places_wait_for_their_judge_again(ready: Collection, collection_name: str) -> None:
    """A settled claim gets a new lease, so that it lapses if nobody comes; other places do not."""
    for docno in "abc":
        sit(ready).grade(docno, 1)
    held_place(collection_name, "1", "ac", "ann", lease_s=600)
    held_place(collection_name, "1", "b", "ann")
    change(ready, "a")
    change(ready, "b")
    assert len(ready.rejudging.reopen()) == 2
    leases = {docno: until for _, docno, _, until in places(collection_name)}
    assert (leases["b"], leases["c"]) == (None, None)
    assert abs(leases["a"] - datetime.now(UTC) - timedelta(seconds=600)) < timedelta(minutes=1)


def test_event_at_the_same_moment_stops_everything(postgres_url: str) -> None:
    """An event that slips in is a conflict that names the document; nothing is reopened."""
    with new_collection(postgres_url) as collection:
        fill(collection)
        ann = sit(collection)
        ann.grade("a", 1)
        ann.grade("b", 1)
        collection.guidelines.add("judge better")
        before = stored_rows(postgres_url)

        def slip_in() -> None:
            change_stored(
                postgres_url,
                "INSERT INTO judgement (topic_id, document_id, judge_id, revision, action, state,"
                " reason, note, iteration, judged_at, dropped_keys) SELECT topic_id, document_id,"
                " judge_id, 2, 'skip', 'skipped', '', '', '0', now(), 0 FROM judgement j"
                " JOIN document d ON d.id = j.document_id WHERE docno = 'b'",
            )

        with (
            meanwhile("INSERT INTO judgement", slip_in),
            pytest.raises(ConflictError, match="`ann` judged `b` of topic 1 at this very moment"),
        ):
            collection.rejudging.reopen()
        after = stored_rows(postgres_url)
        assert len(after["judgement"]) == len(before["judgement"]) + 1
        assert "reopen" not in {event["action"] for event in named_rows(postgres_url, "judgement")}
        assert [one.docno for one in collection.rejudging.reopen()] == ["a"]


def test_judge_at_work_is_waited_for(postgres_url: str) -> None:
    """While a desk writes a grade, reopening waits, sees it, and leaves it alone."""
    with new_collection(postgres_url) as collection, Collection(postgres_url) as organiser:
        fill(collection)
        ann = sit(collection)
        ann.grade("a", 1)
        collection.guidelines.add("judge better")
        answers: list[list[Outdated]] = []
        thread = threading.Thread(target=lambda: answers.append(organiser.rejudging.reopen()))

        def start() -> None:
            thread.start()
            thread.join(timeout=0.5)
            assert thread.is_alive()

        with meanwhile("INSERT INTO judgement", start):
            ann.grade("a", 2)
        thread.join(timeout=30)
        assert answers == [[]]
        assert [event["action"] for event in named_rows(postgres_url, "judgement")] == ["judge", "judge"]


@pytest.fixture
@made_once
def changed(cli: Cli, here: Path) -> Path:
    """Work beside a collection whose guidelines changed, and whose document `b` did, since."""
    cli("init").fine()
    write(here / "x.run", *[f"{topic} Q0 {docno} 1 1 x" for topic in "12" for docno in "abc"])
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("judges", "add", "anna", "ben").fine()
    texts(cli, here, a="one", b="two")
    cli("import", "guidelines", "-", stdin=b"first").fine()
    decide("anna", "1", a=2, b=0)
    decide("ben", "2", b=1)
    with Collection("collection.db") as opened:
        desk = opened.desk("ben")
        desk.queue("1")
        desk.record(Decision("1", "c", Action.CANNOT, reason="no text"))
        desk.leave()
    cli("import", "guidelines", "-", stdin=b"second").fine()
    decide("anna", "2", a=1, b=1)
    texts(cli, here, b="new", c="came")
    return here


def texts(cli: Cli, folder: Path, **documents: str) -> None:
    """Import texts of documents."""
    lines = [json.dumps({"docno": docno, "text": text}) for docno, text in documents.items()]
    write(folder / "docs.jsonl", *lines)
    cli("import", "docs", "docs.jsonl", "--replace").fine()


def decide(name: str, topic: str, **grades: int) -> None:
    """Grade documents."""
    with Collection("collection.db") as opened:
        desk = opened.desk(name)
        tasks = {task.docno: task for task in desk.queue(topic)}
        for docno, grade in grades.items():
            seen = tasks[docno].revision
            desk.record(Decision(topic, docno, Action.JUDGE, grade=grade, seen_revision=seen))
        desk.leave()


EVERYTHING = [
    ("anna", "1", "a", "judged", 2, 1, "guidelines"),
    ("anna", "1", "b", "judged", 0, 1, "guidelines text"),
    ("anna", "2", "b", "judged", 1, 2, "text"),
    ("ben", "1", "c", "cannot", None, 1, "guidelines text-came-later"),
    ("ben", "2", "b", "judged", 1, 1, "guidelines text"),
]
NAMES = ("judge", "topic", "docno", "state", "grade", "guidelines", "why")


def outdated(cli: Cli, *options: str) -> list[tuple[object, ...]]:
    """List what is outdated."""
    rows = cli("status", "outdated", *options, "--format", "json").fine().json()
    return [(*(row[name] for name in NAMES[:-1]), " ".join(row["why"])) for row in rows]


def test_listing_changes_nothing(cli: Cli, changed: Path) -> None:
    """Without --requeue everything outdated is listed with its reasons, and nothing is written."""
    file = str(changed / "collection.db")
    before = stored_rows(file)
    assert outdated(cli) == EVERYTHING
    answer = cli("status", "outdated").fine()
    assert "nothing is changed; --requeue puts 5 documents back for their judges" in answer.err
    summary = "5 judgements: 4 guidelines, 3 text, 1 text-came-later"
    assert f"{summary}\nguidelines now: version 2\n" in answer.out
    assert stored_rows(file) == before
    assert max(map(len, answer.out.splitlines())) <= 80


def test_filters(cli: Cli, changed: Path) -> None:
    """Judge, topic and reason narrow the list; each may be given more than once."""
    assert outdated(cli, "--judge", "ben") == EVERYTHING[3:]
    assert outdated(cli, "--judge", "ben", "--judge", "anna", "--topic", "2") == [
        EVERYTHING[2],
        EVERYTHING[4],
    ]
    assert outdated(cli, "--why", "text") == [EVERYTHING[1], EVERYTHING[2], EVERYTHING[4]]
    assert outdated(cli, "--why", "text-came-later", "--why", "text") == EVERYTHING[1:]
    assert "unknown judge `eve`" in cli("status", "outdated", "--judge", "eve").failed(1).err
    assert "unknown topic `3`" in cli("status", "outdated", "--topic", "3").failed(1).err
    assert (
        "`--why` must be some of guidelines, text" in cli("status", "outdated", "--why", "mood").failed(1).err
    )


def test_requeued_are_before_their_judges_again(cli: Cli, changed: Path) -> None:
    """Asked to, it puts them back, says what leaves the qrels, and lists them no more."""
    answer = cli("status", "outdated", "--why", "text", "--requeue", "--format", "json").fine()
    assert [row["docno"] for row in answer.json()] == ["b", "b", "b"]
    assert answer.err == (
        "3 documents put back for 2 judges; 3 grades left the qrels until they are judged again\n"
    )
    assert outdated(cli) == [EVERYTHING[0], EVERYTHING[3]]
    qrels = cli("export", "qrels", "anna").fine().out
    assert qrels.splitlines() == ["1 0 a 2", "2 0 a 1"]
    rest = cli("status", "outdated", "--requeue").fine()
    assert "2 documents put back for 2 judges; 1 grade left the qrels" in rest.err
    assert "nothing was put back" in cli("status", "outdated", "--requeue").fine().err
    assert "no judgement rests on older guidelines or another text" in cli("status", "outdated").fine().out
    decide("anna", "1", b=2)
    assert "1 0 b 2" in cli("export", "qrels", "anna").fine().out
    assert outdated(cli) == []


def test_what_nobody_would_judge_again_is_left(cli: Cli, changed: Path) -> None:
    """A disabled judge's judgements are listed with the obstacle, and stay when asked for."""
    change_stored(str(changed / "collection.db"), "UPDATE judge SET disabled = TRUE WHERE name = 'ben'")
    answer = cli("status", "outdated").fine()
    assert "judge-disabled" in answer.out
    assert "--requeue puts 3 documents back" in answer.err
    requeued = cli("status", "outdated", "--requeue").fine().err
    assert "3 documents put back for 1 judge; 3 grades left" in requeued
    assert "2 judgements not put back: their judge is disabled" in requeued
    assert outdated(cli) == EVERYTHING[3:]


def test_imported_judgements_are_told_apart(cli: Cli, changed: Path) -> None:
    """How many judgements nothing is known of is said, and not one is listed."""
    write(changed / "q", "1 0 a 1", "1 0 b 1")
    cli("import", "judgements", "q", "--judge", "gpt", "--kind", JudgeKind.MODEL.value).fine()
    answer = cli("status", "outdated", "--format", "tsv").fine()
    assert "2 imported judgements not looked at" in answer.err
    assert {row["judge"] for row in answer.tsv()} == {"anna", "ben"}
