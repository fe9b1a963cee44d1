"""The desk by requests: what is written is written once, and only what a judge can do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.records import Document, JudgeKind, Topic
from tests.helpers.run import run_inside
from tests.helpers.world import make_pool, new_collection
from tests.web.served import WINDOW, Served, Visitor, asked_of, codes_of, judged, make_collection, serving

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serving")]

OTHER = "fedcba9876543210"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Make a collection."""
    file = tmp_path / "collection.db"
    make_collection(file, 6, "alice", "bob")
    return file


@pytest.fixture
def served(file: Path) -> Iterator[Served]:
    """Serve it."""
    with serving(file) as running:
        yield running
        assert "Traceback" not in running.said


@pytest.fixture
def alice(file: Path, served: Served) -> Visitor:
    """Let a judge come in."""
    visitor = Visitor(served)
    assert visitor.enter(codes_of(file, "alice")["alice"]) == 303
    return visitor


def history(file: Path) -> list[Any]:
    """Return every event, in the order of documents and revisions."""
    with Collection(str(file)) as opened:
        return list(opened.judgements.history())


def test_page_shows_what_the_desk_shows(alice: Visitor) -> None:
    """The topics, a topic with its queue, a document with its text; nobody's opinion."""
    assert [one["topic"] for one in alice.act("inbox")[1]] == ["1"]
    topic = alice.act("topic", topic="1")[1]
    assert [one["docno"] for one in topic["queue"]] == [f"d{number:03}" for number in range(6)]
    assert (topic["version"], topic["is_new"], topic["more"], topic["goal"]) == (1, True, 0, None)
    shown = alice.act("document", topic="1", docno="d002")[1]
    assert (shown["title"], shown["text"], shown["html"]) == ("Title d002", "Some text of d002.", None)
    assert "opinions" not in shown


def test_record_sent_twice_is_written_once(file: Path, alice: Visitor) -> None:
    """So is one of which the answer was lost; another one of the same revision is refused."""
    assert alice.decide("d000", 1)[0] == 200
    status, answer = alice.decide("d000", 1)
    assert (status, answer["now"]["grade"], answer["now"]["revision"]) == (200, 1, 1)
    status, answer = alice.decide("d000", 1, grade=2)
    assert (status, answer["now"]["grade"]) == (409, 1)
    assert [(one.docno, one.revision, one.grade) for one in history(file)] == [("d000", 1, 1)]


def test_undo_sent_twice_takes_back_one_event(file: Path, alice: Visitor) -> None:
    """It names what it takes back; not the one before, and nothing of another document."""
    alice.decide("d000", 1)
    alice.decide("d001", 1, grade=2)
    undo = {"action": "undo", "grade": None, "undoes": 1}
    for _ in range(2):
        status, answer = alice.decide("d001", 2, **undo)
        assert (status, answer["now"]["state"], answer["now"]["revision"]) == (200, "unjudged", 2)
    assert alice.decide("d000", 2, **(undo | {"undoes": 7}))[0] == 409
    assert [(one.docno, one.action.value) for one in history(file)] == [
        ("d000", "judge"), ("d001", "judge"), ("d001", "undo")]  # fmt: skip


def test_sitting_goes_on_after_a_restart(file: Path) -> None:
    """The same window can undo what it did before the server was killed; the events have one sitting."""
    code = codes_of(file, "alice")["alice"]
    with serving(file) as served:
        first = Visitor(served)
        first.enter(code)
        first.decide("d000", 1)
        served.process.kill()
    with serving(file) as served:
        again = Visitor(served)
        again.cookie = first.cookie  # nobody enters a code again
        done = again.act("begin")[1]["done"]
        assert [(one["docno"], one["revision"], one["grade"]) for one in done] == [("d000", 1, 1)]
        assert again.decide("d000", 2, action="undo", grade=None, undoes=1)[0] == 200
        assert again.act("begin")[1]["done"] == []
    assert {one.sitting for one in history(file)} == {1}


def test_two_windows_of_a_judge_conflict(file: Path, alice: Visitor) -> None:
    """The second is told what stands; it can keep that, and what it decided stays in the history."""
    alice.decide("d000", 1, grade=2)
    status, answer = alice.decide("d000", 1, OTHER, grade=0)
    assert (status, answer["now"]["grade"], answer["now"]["revision"]) == (409, 2, 1)
    for _ in range(2):  # the answer to the first may be lost
        status, answer = alice.decide("d000", 2, OTHER, grade=0, keep=True)
        assert (status, answer["now"]["grade"], answer["now"]["revision"]) == (200, 2, 3)
    assert [(one.action.value, one.grade) for one in history(file)] == [
        ("judge", 2),
        ("judge", 0),
        ("undo", 2),
    ]


def test_versions_and_view_that_were_read_travel_with_the_decision(file: Path, alice: Visitor) -> None:
    """Not the newest there are; of versions that there are not, the newest."""
    alice.act("topic", topic="1")
    with Collection(str(file)) as opened:
        opened.guidelines.add("# How\n\nOtherwise.\n")
        opened.topics.add([Topic("1", "bridges and tunnels")], replace=True)
    alice.decide("d000", 1, view="structure", versions=[1, 1])
    alice.decide("d001", 1, versions=[9, 9])
    alice.decide("d002", 1, versions=[None, 1])
    assert [(one.guideline_version, one.topic_version, one.view) for one in history(file)] == [
        (1, 1, "structure"), (2, 2, None), (None, 1, None)]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, {"grade": 9}),
        (400, {"grade": None}),
        (400, {"grade": "1"}),
        (400, {"action": "reopen", "grade": None}),
        (400, {"action": "settle", "grade": None}),
        (400, {"topic": "2"}),
        (409, {"docno": "elsewhere"}),
        (409, {"revision": 7}),
        (400, {"revision": 0}),
        (400, {"action": "mark", "grade": None, "passages": [[0, 4, "none"]]}),
        (400, {"action": "cannot", "grade": None, "reason": ""}),
        (400, {"action": "note", "grade": None, "note": "x" * 20_001}),
        (400, {"versions": [1]}),
        (400, {"sha256": "x"}),
        (400, {"shown_at": "9999-12-31T00:00:00+00:00"}),
        (400, {"shown_at": "0001-01-01T00:00:00+00:00"}),
        (400, {"more": 1}),
    ],
)
def test_what_no_page_asks_is_refused(file: Path, alice: Visitor, status: int, said: dict[str, Any]) -> None:
    """Nothing of it is written."""
    docno, revision = said.pop("docno", "d000"), said.pop("revision", 1)
    assert alice.decide(docno, revision, **said)[0] == status
    assert history(file) == []


def test_no_judge_reaches_another_s_desk(file: Path, served: Served, alice: Visitor) -> None:
    """A window's number is looked up together with the judge of the cookie: it is another sitting."""
    alice.decide("d000", 1)
    bob = Visitor(served)
    bob.enter(codes_of(file, "bob")["bob"])
    assert bob.act("begin")[1]["done"] == []
    assert bob.act("topic", topic="1")[1]["queue"][0]["now"]["state"] == "unjudged"
    assert bob.decide("d000", 2, action="undo", grade=None, undoes=1)[0] == 409
    assert bob.decide("d000", 1, grade=0)[0] == 200
    assert judged(file) == {("alice", "d000"): 1, ("bob", "d000"): 0}
    for window in ("", "short", "x" * 16 + "y", "../../../../etc0", 7):
        assert bob.ask("POST", "/api/inbox", f'{{"window": "{window}"}}'.encode())[0] == 400


def test_topic_of_others_is_not_shown(file: Path, served: Served, alice: Visitor) -> None:
    """Its words are in no answer, nor its documents."""
    run_inside("assign", "bob", "--collection", file).fine()
    known = alice.act("topic", topic="1")[1]
    assert (known["queue"], known["title"], "bridges" in str(known)) == ([], "", False)
    bob = Visitor(served)
    bob.enter(codes_of(file, "bob")["bob"])
    assert bob.act("topic", topic="1")[1]["title"] == "bridges"


def test_documents_of_a_queue_are_claimed_a_few_at_a_time(file: Path) -> None:
    """What is not held is not shown; leaving gives back what was claimed and not decided."""
    run_inside("assign", "--claim", "--per-document", "1", "--collection", file).fine()
    codes = codes_of(file, "alice", "bob")
    with serving(file) as served:
        alice, bob = Visitor(served), Visitor(served)
        for visitor, judge in ((alice, "alice"), (bob, "bob")):
            assert visitor.enter(codes[judge]) == 303
        assert alice.act("topic", topic="1")[1]["queue"] == []
        held = {one["docno"] for one in alice.act("more", topic="1")[1]["queue"]}
        assert held
        theirs = {one["docno"] for one in bob.act("more", topic="1")[1]["queue"]}
        assert held.isdisjoint(theirs)
        assert bob.act("document", topic="1", docno=min(held))[0] == 400
        assert bob.decide(min(held), 1)[0] == 409
        assert alice.ask("POST", "/leave")[0] == 303
        while bob.act("more", topic="1")[1]["more"]:
            pass
        assert len(bob.act("topic", topic="1")[1]["queue"]) == 6


def test_adjudicator_sees_opinions_as_letters(tmp_path: Path) -> None:
    """Who is who stays hidden; the ruling is the adjudicator's own judgement."""
    file = tmp_path / "disputed.db"
    with new_collection(str(file)) as made:
        made.topics.add([Topic("1", "bridges")])
        made.pools.add(make_pool({"1": ["a", "b"]}))
        made.documents.add([Document(docno, f"Title {docno}", "Some text.") for docno in "ab"])
        for judge, kind in (
            ("ann", JudgeKind.HUMAN),
            ("ben", JudgeKind.HUMAN),
            ("zoe", JudgeKind.ADJUDICATOR),
        ):
            made.judges.add(judge, kind)
    codes = codes_of(file, "ann", "ben", "zoe")
    with serving(file) as served:
        people = {judge: Visitor(served) for judge in codes}
        for judge, visitor in people.items():
            assert visitor.enter(codes[judge]) == 303
        for judge, grades in (("ann", (0, 1)), ("ben", (2, 1))):
            for docno, grade in zip("ab", grades, strict=True):
                assert people[judge].decide(docno, 1, grade=grade)[0] == 200
        zoe = people["zoe"]
        assert [one["docno"] for one in zoe.act("topic", topic="1")[1]["queue"]] == ["a"]
        shown = zoe.act("document", topic="1", docno="a")[1]
        assert sorted(lines[0][0] for lines in shown["opinions"]) == ["A", "B"]
        assert sorted(lines[0].split()[1] for lines in shown["opinions"]) == ["0", "2"]
        assert "ann" not in str(shown)
        assert zoe.decide("a", 1, grade=2)[0] == 200
    assert judged(file)["zoe", "a"] == 2


def test_what_is_sent_while_the_collection_is_locked_is_asked_for_again(file: Path, alice: Visitor) -> None:
    """503, which the page takes for a server that is gone; where the collection lies is not said."""
    import sqlite3

    blocker = sqlite3.connect(file, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    status, answer = alice.decide("d000", 1)
    assert (status, file.name in str(answer)) == (503, False)
    blocker.execute("ROLLBACK")
    assert alice.act("record", WINDOW, **asked_of("d000", 1))[0] == 200
    assert judged(file) == {("alice", "d000"): 1}
