"""The line mode: answers in, words out, rows in the store."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_ui.plain import RETRY, USES, Act, Answers, hit_lines, run_plain
from judge_ui.session.keys import Command, key_table
from judge_ui.session.session import JudgingSession
from judge_ui.text.finding import find_spans
from judge_ui.text.marking import sentence_spans
from store.collection import Collection
from store.judging.desk import Desk
from store.records import Document, Grade, Scale, State, Topic
from tests.helpers.drawing import adaptive_pool
from tests.helpers.places import held_place
from tests.helpers.terminals import PtyTerminal, judge
from tests.helpers.world import parse_scale
from tests.screens.conftest import ENGLISH, Clock, Maker, NothingToDraw
from tests.screens.sitting import after, elsewhere, locked, sit, stored


def answers(scale: str = "0-3") -> Answers:
    """Make the answers of a scale."""
    parsed = parse_scale(scale)
    return Answers(key_table(parsed), parsed)


MEANT: dict[str, tuple[int | Act | None, str]] = {
    **dict.fromkeys(("2", "２"), (2, "")),
    **dict.fromkeys(("s", "ｓ", "ＳＫＩＰ"), (Command.SKIP, "")),
    **dict.fromkeys(("can't", "can\u2019t"), (Command.CANNOT, "")),
    "Cannot 2": (Command.CANNOT, "2"),
    "c torn page": (Command.CANNOT, "torn page"),
    "ｃ　２": (Command.CANNOT, "２"),
    "note Ask  Ann": (Command.NOTE, "Ask  Ann"),
    "/": (Command.FIND, ""),
    "/bridge": (Command.FIND, "bridge"),
    "/ Iron Bridge": (Command.FIND, "Iron Bridge"),
    "／橋": (Command.FIND, "橋"),
    "RETRY": (RETRY, ""),
    # A held key, a pasted row, or a word too many never grades and never decides.
    **dict.fromkeys(("", "22", "2 2", "2.", "2\t1", "s 2", "skip it", "next 3", "²", "4", "-1"), (None, "")),
    **dict.fromkeys(("undo 2", "yes", "redo", "topics"), (None, "")),
}


@pytest.mark.parametrize("text", MEANT)
def test_what_answers_mean(text: str) -> None:
    """Keys and words of any width and case; what follows a command stays as it was typed."""
    answer = answers().read(text)
    assert (answer.meaning, answer.rest) == MEANT[text]


def test_a_value_of_several_characters_is_typed_as_it_is() -> None:
    """Grades above 9 and below 0 can be given by their value beside their key."""
    grades = (Grade(-2, "junk", "j"), Grade(0, "no", "0"), Grade(10, "yes", "a"))
    scale = Scale(grades, relaxed=10, rigid=10)
    found = Answers(key_table(scale), scale)
    assert [found.read(text).meaning for text in ("-2", "j", "10", "１０", "a")] == [*(-2, -2), *(10, 10, 10)]
    assert found.grades == [("j", "-2 junk"), ("0", "no"), ("a", "10 yes")]
    assert found.grade_keys == "grade j/0/a"


def test_a_grade_key_is_no_command() -> None:
    """With grades c, b, a, s the letter s grades, and the commands are words or other letters."""
    found = answers("ntcir")
    assert (found.read("s").meaning, found.read("c 2").meaning) == (3, None)
    assert found.read("cannot 2").rest == "2"
    assert found.name(Command.CANNOT) == "i"


@pytest.mark.parametrize("scale", ["0-3", "ntcir"])
def test_the_help_names_everything_and_what_it_names_works(scale: str) -> None:
    """Every key, word and example of the help means the command it stands beside."""
    found = answers(scale)
    lines = found.help_lines()
    for act, use in USES.items():
        line = next(line for line in lines if line.startswith(f"  {found.names(act)}: "))
        assert found.read(use.word).meaning == act
        assert found.read(found.name(act)).meaning == act
        if "as in `" in line:
            assert found.read(line.split("`")[1]).meaning is act


run = partial(sit, topic=None)


def test_answers_become_judgements(two_topics: Collection) -> None:
    """A grade, a skip, a reason and a note each end up in the store under their document."""
    printed = run(two_topics, "12", "2", "s", "c", "1", "e", "look again", "0")
    found = stored(two_topics)
    assert (found["e0"].state, found["e0"].grade) == (State.JUDGED, 2)
    assert found["e1"].state is State.SKIPPED
    assert (found["e2"].state, found["e2"].reason) == (State.CANNOT, "unreadable")
    assert (found["e3"].grade, found["e3"].note) == (0, "look again")
    assert "2 relevant (saved " in printed
    assert "\n12 bridge maintenance: 1 skipped\n" in printed


def test_topic_documents_and_question_are_whole_in_themselves(two_topics: Collection) -> None:
    """A screen reader hears the narrative when the topic opens, not before every document."""
    printed = run(two_topics, "12", "0", "1", "nonsense", "2")
    narrative = "Narrative: A relevant document names a schedule."
    assert printed.count(narrative) == 1
    for n in range(4):
        assert printed.count(f"\nDocument e{n}\nTitle: Bridge {n}\nText of bridge {n}.\n") == 1
    commands = "s skip, c can't, e note, u undo, n next, q quit, ? help > "
    assert all(f"\n{n}/4 grade 0-2, {commands}" in printed for n in range(4))
    printed = run(two_topics, "12", "u", "2", "", "0013", "u")
    assert printed.count(narrative) == 2  # undo leads back to another topic


def test_a_topic_is_opened_by_its_name_or_by_enter(two_topics: Collection) -> None:
    """The judge need not name the topic to go on; a slip loses nothing."""
    assert "`13` is none of these topics" in run(two_topics, "13", "12", "0", "0", "0", "0")
    assert "\nTopic 0013 情報検索の評価\n" in run(two_topics, "", "1")
    assert stored(two_topics)["j0"].grade == 1


def test_a_script_that_runs_twice_grades_nothing_again(two_topics: Collection) -> None:
    """A topic that is done is summed up first: its answers are no grades any more."""
    run(two_topics, "2", "1", topic="0013")
    before = stored(two_topics)
    printed = run(two_topics, "0", "0", "0", topic="0013")
    assert stored(two_topics) == before
    assert "0013 情報検索の評価: every document has a decision" in printed
    assert "'0' means nothing here" in printed


def test_q_quits_from_every_question_that_offers_it(two_topics: Collection) -> None:
    """Quitting at the topics, at a document, and after a topic are the same goodbye."""
    for answers in (["q"], ["12", "q"], ["12", "0", "0", "0", "0", "q"]):
        assert run(two_topics, *answers, "2", "2").endswith("all saved\n")
    assert {judgement.grade for judgement in stored(two_topics).values()} == {0}


def test_undo_shows_the_document_again(two_topics: Collection) -> None:
    """`u` goes back and the prompt counts one less; only y takes a grade away."""
    printed = run(two_topics, "12", "2", "u", "2", "0", "0", "2", "d", "s", "n", "s", "y")
    assert printed.count("\nDocument e0") == 2
    assert printed.count("\n0/4 ") == 2
    assert "grade 2 undone: unjudged again (saved " in printed
    assert printed.count("take back grade 2 and skip? y/n > ") == 2
    assert stored(two_topics)["e3"].state is State.SKIPPED


def test_a_question_left_empty_writes_nothing(two_topics: Collection) -> None:
    """Enter goes back from every question; reason 4 asks for words; a note of `-` is none."""
    for answers in (["c", ""], ["c", "9"], ["c", "4", ""], ["e", ""]):
        run(two_topics, "12", *answers)
        assert stored(two_topics) == {}
    run(two_topics, "12", "c", "4", "torn page", "e", "a note", "e", "-")
    found = stored(two_topics)
    assert (found["e0"].reason, found["e1"].note) == ("torn page", "")


def test_a_scale_of_letters_moves_the_commands(make_collection: Maker) -> None:
    """With grades c, b, a, s the prompt offers x and i, and both s and S are a grade."""
    documents = [Document(docno, "", "x") for docno in "abc"]
    collection = make_collection({Topic("1"): documents}, scale="ntcir")
    printed = run(collection, "1", "s", "S", "x", "s", "x", "C")
    assert "grade c/b/a/s, x skip, i can't," in printed
    assert "S: highly relevant (saved " in printed
    assert "Enter = the 1 skipped, topics = topics, u = undo, d = stay" in printed
    assert {docno: one.grade for docno, one in stored(collection).items()} == {"a": 3, "b": 3, "c": 0}
    assert "'s' means nothing here" in printed


def test_a_document_that_cannot_be_read_cannot_be_graded(
    two_topics: Collection, collection_file: Path
) -> None:
    """A text that did not come up takes no grade."""
    session = JudgingSession(two_topics.desk("alice"), min_dwell=0)
    session.open_topic("12")
    two_topics._db.engine.dispose()
    away = collection_file.with_suffix(".away")
    collection_file.rename(away)
    write = io.StringIO()
    run_plain(session, io.StringIO("2\n"), write)
    two_topics._db.engine.dispose()
    away.rename(collection_file)
    assert write.getvalue().count("this document could not be read: ") == 1
    assert "1 answer was ignored" in write.getvalue()
    assert stored(two_topics) == {}


Events = Callable[[], list[dict[str, Any]]]


def decided(events: Events) -> list[tuple[str, str, int | None]]:
    """Return docno, action and grade of every event."""
    return [(row["docno"], row["action"], row["grade"]) for row in events()]


def graded(events: Events) -> list[tuple[str, int | None]]:
    """Return docno and grade of every event."""
    return [(docno, grade) for docno, _, grade in decided(events)]


class Lock:
    """Makes writing to a collection impossible, and possible again."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._held = ExitStack()

    def shut(self) -> None:
        self._held.enter_context(locked(self._collection))

    def open(self) -> None:
        self._held.close()


@pytest.fixture
def lock(two_topics: Collection, monkeypatch: pytest.MonkeyPatch) -> Lock:
    """Give a lock on the collection of two topics."""
    # The default of seconds would make these slow tests of SQLite.
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    return Lock(two_topics)


def test_a_reason_or_a_note_on_the_same_line(two_topics: Collection) -> None:
    """A key or words after the command are the reason; the note is as it was typed; `-` takes it away."""
    sit(two_topics, "c 2", "can't 3", "c ２", "cannot torn page")
    reasons = ["wrong language", "text missing", "wrong language", "torn page"]
    assert [one.reason for one in stored(two_topics).values()] == reasons
    sit(two_topics, "note 2 or 1?  Ask Ann", "n", "e 日本語", "n", "note x", "note -", judge="bob")
    notes = [(one.grade, one.note) for one in stored(two_topics, "bob").values()]
    assert notes == [(None, "2 or 1?  Ask Ann"), (None, "日本語"), (None, "")]


def test_a_decision_made_elsewhere_is_asked_about_and_kept(two_topics: Collection, events: Events) -> None:
    """`k` keeps what was decided elsewhere, goes on, and leaves both in the history."""
    printed = sit(two_topics, partial(elsewhere, two_topics, 1), "2", "k", "0")
    assert "grade 1 at " in after(printed, 0)
    assert "your 2 is NOT SAVED\n" in after(printed, 0)
    assert after(printed, 0).endswith("k = keep that, r = replace it by your 2; both stay in the history")
    assert "grade 1 kept (saved " in after(printed, 1)
    grades = {docno: one.grade for docno, one in stored(two_topics).items()}
    assert grades == {"e0": 1, "e1": 0}
    assert [row[1:] for row in decided(events) if row[0] == "e0"] == [("judge", 1), ("judge", 2), ("undo", 1)]


@pytest.mark.parametrize("answer", ["r", "ｒ", "Replace"])
def test_a_decision_made_elsewhere_is_replaced(two_topics: Collection, answer: str) -> None:
    """`r` puts the new grade in its place; a script's next grade answers no question it was not meant for."""
    printed = sit(two_topics, partial(elsewhere, two_topics, 1), "2", "0", "", "q", "1", answer)
    assert printed.count("k or r\n") == 4
    assert after(printed, 5).startswith("2 relevant (saved ")
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 2}


def test_the_end_of_the_input_at_a_conflict_keeps_what_was_decided_elsewhere(
    two_topics: Collection, events: Events
) -> None:
    """Nothing is replaced that nobody was asked about; both stay in the history."""
    printed = sit(two_topics, partial(elsewhere, two_topics, 1), "2")
    assert printed.endswith("alice: 0 decisions in this sitting, all saved\n")
    assert "grade 1 kept (saved " in printed
    assert stored(two_topics)["e0"].grade == 1
    assert [grade for _, _, grade in decided(events)] == [1, 2, 1]


@pytest.mark.slow
def test_a_decision_that_is_not_saved_is_said_to_be_and_saved_by_retry(
    two_topics: Collection, lock: Lock, events: Events
) -> None:
    """The question says what waits; the document stays until it is written, once."""
    printed = sit(two_topics, lock.shut, "2", "retry", "", lock.open, "retry", "1")
    assert "NOT SAVED (2 relevant): " in after(printed, 0)
    question = "\nNOT SAVED: 2 relevant. Enter or retry = try again, u = give it up, q quits"
    assert [after(printed, n).endswith(question) for n in range(4)] == [True] * 3 + [False]
    assert after(printed, 3).startswith("2 relevant (saved ")
    assert "\nDocument e1\n" in after(printed, 3)
    assert decided(events) == [("e0", "judge", 2), ("e1", "judge", 1)]
    assert printed.endswith("all saved\n")


@pytest.mark.slow
def test_a_script_gets_no_further_than_what_is_not_saved(two_topics: Collection, lock: Lock) -> None:
    """The grades after it were meant for other documents: none is written, now or later."""
    printed = sit(two_topics, "0", lock.shut, "2", "1", lock.open, "0", "n", "s", "/")
    grades = {docno: one.grade for docno, one in stored(two_topics).items()}
    # The end of the input is the last chance of the grade that waited.
    assert grades == {"e0": 0, "e1": 2}
    assert "5 answers were ignored\n" in printed
    assert printed.endswith("alice: 2 decisions in this sitting, all saved\n")


@pytest.mark.slow
def test_what_is_not_saved_can_be_given_up(two_topics: Collection, lock: Lock) -> None:
    """`u` gives it up, and the document is asked about as before."""
    printed = sit(two_topics, lock.shut, "2", "u", lock.open, "1")
    assert after(printed, 1).startswith("grade 2 given up: unjudged\n\n0/4 grade 0-2, ")
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 1}


@pytest.mark.slow
def test_at_a_terminal_another_decision_takes_the_place_of_one_that_waits(
    two_topics: Collection, lock: Lock, events: Events
) -> None:
    """The judge sees which document is here, so a grade is for that one."""
    for answer, action in (("1", "judge"), ("s", "skip"), ("c 1", "cannot")):
        sit(two_topics, "", lock.shut, "2", lock.open, answer, typed=True)
        assert decided(events)[-1][1] == action
    assert [docno for docno, *_ in decided(events)] == ["e0", "e1", "e2"]


@pytest.mark.slow
def test_at_a_terminal_anything_else_tries_once_more_and_is_not_done(
    two_topics: Collection, lock: Lock, events: Events
) -> None:
    """`n` after the outage saves the grade and goes on by one document, not by two."""
    printed = sit(two_topics, "", lock.shut, "2", "n", lock.open, "n", "1", typed=True)
    assert printed.count("NOT SAVED (2 relevant): ") == 2
    assert "'n' was ignored: answer again\n\nDocument e1\n" in printed
    assert decided(events) == [("e0", "judge", 2), ("e1", "judge", 1)]


@pytest.mark.slow
def test_what_waited_and_met_another_decision_is_asked_about(two_topics: Collection, lock: Lock) -> None:
    """After an outage the same judge may have decided on another machine."""
    answers = (lock.shut, "2", lock.open, partial(elsewhere, two_topics, 1), "retry", "r")
    printed = sit(two_topics, *answers)
    assert "k = keep that, r = replace it by your 2" in printed
    assert stored(two_topics)["e0"].grade == 2


@pytest.mark.parametrize("answers", [["c"], ["c", "4"], ["note"], ["find"], ["2", "c"], ["0", "0", "0", "0"]])
def test_the_end_of_the_input_in_any_question_quits(two_topics: Collection, answers: list[str]) -> None:
    """What was answered before is kept, the question is not answered."""
    printed = sit(two_topics, *answers)
    assert printed.count("all saved\n") == 1
    n_graded = len([answer for answer in answers if answer.isdigit() and answer != "4"])
    assert len(stored(two_topics)) == n_graded
    assert {one.state for one in stored(two_topics).values()} <= {State.JUDGED}


def test_a_wrong_answer_to_why_is_asked_again(two_topics: Collection) -> None:
    """A word that is no reason, a digit that is none; Enter goes back to the document."""
    printed = sit(two_topics, "c", "banana", "9", "2", "c 7", "", "retry", "1")
    assert after(printed, 1).startswith("'banana' is none of these\nwhy? 1 unreadable, ")
    assert after(printed, 2).startswith("'9' is none of these\nwhy? 1 unreadable, ")
    assert after(printed, 6).startswith("nothing is left to save\n")
    found = stored(two_topics)
    assert (found["e0"].state, found["e0"].reason) == (State.CANNOT, "wrong language")
    assert found["e1"].grade == 1


def test_a_script_is_told_how_many_documents_without_text_it_graded(make_collection: Maker) -> None:
    """Nobody can be asked: each answer is of the document at hand; the count stands at the end."""
    documents = [Document("a"), Document("b", text="x"), Document("c")]
    collection = make_collection({Topic("1"): documents})
    printed = sit(collection, "0", "1", "2", topic="1")
    assert "2 documents graded without a text to judge\n" in printed
    assert {docno: one.grade for docno, one in stored(collection).items()} == {"a": 0, "b": 1, "c": 2}


ALL_DONE = "12 bridge maintenance: every document has a decision"


def test_the_skipped_are_gone_over_one_after_the_other(two_topics: Collection) -> None:
    """Each is shown once, whatever is decided, and the topic is summed up again."""
    printed = sit(two_topics, "s", "1", "s", "s", "s", "2", "s", "0")
    assert after(printed, 4).startswith("2 more to go over\n\nDocument e0 (skipped)\n")
    assert "\n1 more to go over\n\nDocument e2 (skipped)\n" in after(printed, 5)
    assert "\nthe last to go over\n\nDocument e3 (skipped)\n" in after(printed, 6)
    assert "12 bridge maintenance: 1 skipped\n" in after(printed, 7)
    assert "Enter = the 1 skipped, topics = topics" in after(printed, 7)
    found = {docno: (one.state, one.grade) for docno, one in stored(two_topics).items()}
    assert found == {
        "e0": (State.JUDGED, 2),
        "e1": (State.JUDGED, 1),
        "e2": (State.SKIPPED, None),
        "e3": (State.JUDGED, 0),
    }


def test_at_the_end_of_a_topic_a_grade_key_grades_nothing(two_topics: Collection) -> None:
    """An answer too many is no judgement of the document that happens to be last; u takes that one back.

    `n` after the last document sums up, as in the full screen, once all is decided.
    """
    printed = sit(two_topics, "0", "0", "0", "n", "0", "2", "foo", "d", "n", "u", "1")
    assert after(printed, 3).startswith("this is the last document\n")
    assert ALL_DONE in after(printed, 4)
    assert after(printed, 5).startswith("'2' means nothing here\nEnter = topics, ")
    assert "\nDocument e3 (judged: 0 not relevant)\n" in after(printed, 7)
    assert after(printed, 8).startswith(f"\n{ALL_DONE}\n")
    assert "\nDocument e3\n" in after(printed, 9)
    assert ALL_DONE in after(printed, 10)
    assert [one.grade for one in stored(two_topics).values()] == [0, 0, 0, 1]


def test_at_a_terminal_the_first_document_waits_for_enter(two_topics: Collection) -> None:
    """Who is new to a topic reads it first; a key typed meanwhile grades nothing."""
    two_topics.guidelines.add("Be kind.")
    printed = sit(two_topics, "2", "?", "", "1", typed=True)
    assert printed.split(" > ")[0].endswith("Be kind.\n\nq quits, Enter = the first document")
    assert after(printed, 0).startswith("'2' was ignored: no document is shown yet\n")
    assert "  ? or help: these lines" in after(printed, 1)
    assert "\nDocument e0\n" in after(printed, 2)
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 1}
    assert "Enter = the first document" not in sit(two_topics, "2", typed=True)


def test_the_first_document_can_be_turned_away_from(two_topics: Collection) -> None:
    """Quitting and the end of the input work before the first document."""
    assert "Document" not in sit(two_topics, "q", "2", typed=True)
    assert sit(two_topics, typed=True).endswith("all saved\n")
    assert stored(two_topics) == {}


def test_another_sitting_is_warned_about_and_every_answer_is_a_sign_of_life(two_topics: Collection) -> None:
    """As long as the other one is alive; a judge who only reads is seen by a second sitting, too."""
    seen, other = [], JudgingSession(two_topics.desk("alice"), min_dwell=0)

    def look() -> None:
        seen.extend(one.seen_at for one in other.desk.live_elsewhere())

    assert "Warning" not in sit(two_topics, "?", look, "?", look)
    assert len(seen) == 2
    assert seen[0] < seen[1]
    other.open_topic("12")
    warning = sit(two_topics).splitlines()[0]
    assert warning.startswith("Warning: ")
    assert "this very topic" in warning


def test_the_skipped_can_be_left_for_other_topics(two_topics: Collection) -> None:
    """After a topic `topics` goes to the list; a `next` too many does not."""
    printed = sit(two_topics, "0", "12", "s", "1", "1", "1", "n", "Topics", "0013", "2", topic=None)
    assert after(printed, 0).startswith("`0` is none of these topics")
    assert after(printed, 6).startswith("'n' means nothing here\n")
    assert "Topics of alice" in after(printed, 7)
    assert {docno: one.grade for docno, one in stored(two_topics).items() if one.grade == 2} == {"j0": 2}


def test_active_time_is_counted_at_every_answer(two_topics: Collection, clock: Clock, events: Any) -> None:
    """Looking around is work: 100 s, then 100 s, and of a pause of 1000 s two minutes."""
    steps = [lambda: clock.wait(100), "?", lambda: clock.wait(100), "find bridge"]
    sit(two_topics, *steps, lambda: clock.wait(1000), "2", clock=clock)
    (event,) = events()
    assert (event["dwell_ms"], event["active_ms"]) == (1_200_000, 320_000)


DOCNOS = ("e0", "e1", "e2", "e3")


class Claims(Lock):
    """Claims of alice's desk, which somebody else's writing may come before."""

    claim = staticmethod(Desk.claim)
    n_left = 1
    """Claims that go well before the file is locked."""

    def __call__(self, desk: Desk, topic: str) -> bool:
        """Claim, or fail as it fails behind a writer who takes too long."""
        self.n_left -= 1
        if self.n_left == -1:
            self.shut()
        return self.claim(desk, topic)


@pytest.fixture
def claims(two_topics: Collection, collection_file: Path, monkeypatch: pytest.MonkeyPatch) -> Claims:
    """Let the documents of the first topic be claimed one by one, by whoever comes."""
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    monkeypatch.setattr("store.judging.desk.CLAIMED_AT_ONCE", 1)
    held_place(str(collection_file), "12", DOCNOS, None, lease_s=600)
    claims = Claims(two_topics)
    monkeypatch.setattr(Desk, "claim", lambda desk, topic: claims(desk, topic))
    return claims


@pytest.mark.slow
def test_a_script_gets_no_further_than_the_document_it_saw(
    two_topics: Collection, claims: Claims, events: Events
) -> None:
    """Its further answers were meant for documents that never came: they are counted."""
    printed = sit(two_topics, *"01230123", "u", claims.open)
    assert graded(events) == [("e0", 0)]
    assert "the next document could not be drawn: " in after(printed, 0)
    question = "\nno document is shown. Enter or retry = try again, u undo, q quits"
    assert after(printed, 0).endswith(question)
    assert after(printed, 5) == question
    assert printed.endswith("8 answers were ignored\nalice: 1 decision in this sitting, all saved\n")
    assert printed.count("\nDocument ") == 1


@pytest.mark.slow
@pytest.mark.parametrize("again", ["retry", ""])
def test_the_answer_after_a_retry_is_for_the_document_it_brought(
    two_topics: Collection, claims: Claims, events: Events, again: str
) -> None:
    """What came too early is said once, with its number."""
    printed = sit(two_topics, "0", "2", again, "3", claims.open, again, "1", "q")
    assert graded(events) == [("e0", 0), ("e1", 1)]
    assert printed.count("ignored") == 1
    assert after(printed, 4).startswith("2 answers were ignored\n\nDocument e1\n")


@pytest.mark.slow
def test_undo_at_once_takes_the_last_grade_back(
    two_topics: Collection, claims: Claims, events: Events
) -> None:
    """Its document is printed again, and the next answer is for that."""
    printed = sit(two_topics, "0", claims.open, "u", claims.shut, "2", claims.open, "retry")
    assert graded(events) == [("e0", 0), ("e0", None), ("e0", 2)]
    assert after(printed, 1).startswith("grade 0 undone: unjudged again (saved ")
    assert "\nDocument e0\n" in after(printed, 1)


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["2", "s", "c 1", "e a note", "/ bridge"])
def test_at_a_terminal_nothing_is_decided(
    two_topics: Collection, claims: Claims, events: Events, answer: str
) -> None:
    """The judge is told that there is no document, and may ask for help."""
    printed = sit(two_topics, "", "0", answer, "?", claims.open, "n", "1", "q", typed=True)
    assert graded(events) == [("e0", 0), ("e1", 1)]
    assert f"{answer!r} was ignored: no document is shown\n" in after(printed, 2)
    assert "  ? or help: these lines" in after(printed, 3)
    assert "\nDocument e1" in after(printed, 4)


@pytest.mark.slow
def test_a_step_to_a_document_that_cannot_be_brought_leaves_none(
    two_topics: Collection, claims: Claims, events: Events
) -> None:
    """A script's `n` and the grade after it are for the next document, or for none."""
    printed = sit(two_topics, "0", "n", "2", claims.open, "q", advance=False)
    assert graded(events) == [("e0", 0)]
    assert "1 answer was ignored" in printed


@pytest.mark.slow
def test_a_topic_that_cannot_be_opened_takes_no_answer_for_a_topic(
    two_topics: Collection, claims: Claims, events: Events, collection_file: Path
) -> None:
    """A script's grades could be the names of other topics."""
    claims.n_left = 0
    printed = sit(two_topics, "12", "0", "0013", "retry", claims.open, "retry", "2", topic=None)
    assert graded(events) == [("e0", 2)]
    assert "12 is not open. Enter or retry = try again, q quits" in after(printed, 0)
    assert "2 answers were ignored\n" in after(printed, 4)


@pytest.mark.slow
def test_an_adaptive_pool_that_fails_takes_no_grade(two_topics: Collection, events: Events) -> None:
    """The judge can go back to the last document, and change it knowingly."""
    two_topics.pools.add(adaptive_pool({"0013": "a"}, 1))
    drawing = NothingToDraw()
    printed = sit(two_topics, "", "2", "1", "0", "u", "0", "q", topic="0013", typed=True, drawing=drawing)
    assert graded(events) == [("j0", 2), ("j1", 1), ("j1", None), ("j1", 0)]
    assert "'0' was ignored: no document is shown" in after(printed, 3)


@pytest.mark.slow
def test_when_others_claim_the_last_documents_the_topic_is_done(
    two_topics: Collection, claims: Claims, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were counted as left a moment before: no answer is taken for the document before."""
    claim = Desk.claim
    bob = two_topics.desk("bob")

    def beaten(desk: Desk, topic: str) -> bool:
        """Let bob claim all before alice's second claim."""
        if desk.judge == "alice" and events():
            monkeypatch.setattr("store.judging.desk.CLAIMED_AT_ONCE", 9)
            claim(bob, topic)
        return claim(desk, topic)

    claims.n_left = 9
    monkeypatch.setattr(Desk, "claim", beaten)
    printed = sit(two_topics, "0", "2", "1", "2")
    assert graded(events) == [("e0", 0)]
    assert "12 bridge maintenance: every document has a decision" in after(printed, 0)


EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x00"


@pytest.fixture
def bridges(make_collection: Maker) -> Collection:
    """Make a topic of two documents that have a few lines and sentences."""
    first = "The Dee is wide. Its bridge is old.\nA BRIDGE needs paint.\nNo more."
    second = "橋の検査は毎年行う。橋は古い。\n費用は高い。"
    return make_collection({ENGLISH: [Document("d1", "Dee", first), Document("d2", "橋", second)]})


def test_find_prints_the_lines_with_the_hit_marked(bridges: Collection) -> None:
    """Without colour: line, sentence, and double brackets, whatever the case."""
    printed = sit(bridges, "find bridge", "/bridge", "/ ｂｒｉｄｇｅ", "find", "old", "/ nowhere")
    lines = (
        "2 sentences with `bridge`\n"
        "line 1, sentence 2: Its [[bridge]] is old.\n"
        "line 2, sentence 3: A [[BRIDGE]] needs paint.\n"
    )
    assert after(printed, 0).startswith(lines)
    assert after(printed, 1).startswith(lines)
    assert "line 2, sentence 3: A [[BRIDGE]] needs paint.\n" in after(printed, 2)
    assert "Its bridge is [[old]].\n" in after(printed, 4)
    assert after(printed, 5).startswith("no `nowhere` in this document\n")
    printed = sit(bridges, "find", "", "n", "/橋")  # `bridge` is a word of the topic, `paint` is none
    assert after(printed, 1).startswith(lines.replace("`bridge`", "words of the topic"))
    assert "line 1, sentence 1: [[橋]]の検査は毎年行う。\nline 1, sentence 2: [[橋]]は古" in after(printed, 3)


def test_all_hits_and_the_whole_text_are_printed(make_collection: Maker) -> None:
    """Nothing is held back: the terminal scrolls."""
    text = "A bridge.\n" * 45
    collection = make_collection({ENGLISH: [Document("d", "", text)]})
    printed = sit(collection, "/bridge")
    assert f"\nDocument d\n{text}\n0/1 " in printed
    assert after(printed, 0).count("[[bridge]]") == 45


def test_guidelines_are_printed_when_new(two_topics: Collection) -> None:
    """Before the first document of a topic, not again once something was decided under them."""
    assert "uidelines" not in sit(two_topics, "?")
    two_topics.guidelines.add("# How to judge\n\nBe *kind*.\n")
    text = "\n# How to judge\n\nBe *kind*.\n"
    first = sit(two_topics, "2")
    assert first.split("\nDocument ")[0].endswith(text)
    assert "\nGuidelines, version 1 of " in first
    assert text not in sit(two_topics, "?")
    two_topics.guidelines.add("Be strict.")
    assert "\nGuidelines, version 2 of " in sit(two_topics, "2").split("\nDocument ")[0]


def test_nothing_hostile_reaches_the_stream(make_collection: Maker) -> None:
    """Whatever is looked up: escapes come as pictures, of documents and of what was typed."""
    text = f"One x{EVIL} bridge.\r\nTwo bridge.{EVIL}"
    topic = Topic("12", f"bridge {EVIL}", f"d{EVIL}", f"n{EVIL}")
    collection = make_collection({topic: [Document("d", f"t{EVIL}", text)]})
    collection.guidelines.add(f"g{EVIL}")
    printed = sit(
        collection,
        *("?", "/ bridge", f"/ {EVIL}", f"note {EVIL}", "e", "", f"c torn {EVIL}", "d", EVIL),
        *("u", "u", "2", EVIL, "", EVIL),
    )
    assert "Topics of alice" in printed
    assert not set("\x1b\x07\x9b\u202e\x00\r") & set(printed)
    assert "␛]0;owned␇" in printed


def test_fields_are_printed_between_title_and_text(make_collection: Maker) -> None:
    """A line each, in the order of the collection; whenever the document is printed."""
    html, fields = (
        "<p>The <b>old</b> bridge. It &amp; its\r\n paint.</p>",
        (("url", "http://a"), ("date", "1991")),
    )
    collection = make_collection(
        {ENGLISH: [Document("h", "Dee", html, fields, "html"), Document("p", "", "x")]}
    )
    collection.documents.add([], fields=["date", "url"])
    printed = sit(collection, "0", "u")
    text = "Title: Dee\ndate: 1991\nurl: http://a\nThe old bridge. It & its paint.\n"
    assert text in printed.split(" > ")[0]
    assert text in after(printed, 1)


@given(st.text("ab. \n", max_size=60), st.sampled_from(["a", "ab", "aba", "."]))
def test_every_hit_is_printed_once_with_its_line_and_sentence(text: str, wanted: str) -> None:
    """The brackets of all hits are those of the text, and stand where they are said to."""
    spans: list[tuple[int, int]] = []
    for place in range(len(text)):
        if text.startswith(wanted, place) and (not spans or place >= spans[-1][1]):
            spans.append((place, place + len(wanted)))
    lines = hit_lines(text, spans)
    assert sum(line.count(f"[[{wanted}]]") for line in lines) == len(spans)
    for line in lines:
        said = re.fullmatch(r"line (\d+), sentence (\d+): (.*)", line)
        assert said is not None
        bare = said[3].replace("[[", "").replace("]]", "")
        assert bare == text[slice(*sentence_spans(text)[int(said[2]) - 1])]
        assert bare in text.split("\n")[int(said[1]) - 1]


@pytest.mark.parametrize(
    ("text", "wanted", "lines"),
    [
        (
            "A bridge is a bridge. Nothing here.\nThe Bridge! Ends.",
            "bridge",
            ["line 1, sentence 1: A [[bridge]] is a [[bridge]].", "line 2, sentence 3: The [[Bridge]]!"],
        ),
        (
            "One. The Bridge\n  Street is old. Two.",
            "bridge street",
            ["line 1, sentence 2: The [[Bridge   Street]] is old."],
        ),
        ("橋は古い。検索の評価。費用。", "検索", ["line 1, sentence 2: [[検索]]の評価。"]),
    ],
)
def test_hits_are_printed_by_sentences(text: str, wanted: str, lines: list[str]) -> None:
    """Those of one sentence together, those across lines with both; sentences without a hit are left out."""
    assert hit_lines(text, find_spans(text, wanted)) == lines
    # Between two sentences nothing that was found is lost.
    assert hit_lines("x.  \u0301y", [(3, 5)]) == ["line 1, sentence 1: x. [[ \u0301]]y"]


def test_a_megabyte_of_hits_takes_seconds() -> None:
    """A hundred thousand hits on one line are gathered in seconds, not in minutes."""
    text = "bridge abc " * 100_000
    spans = find_spans(text, "bridge")
    before = time.process_time()
    lines = hit_lines(text, spans)
    assert time.process_time() - before < 10
    assert sum(line.count("[[") for line in lines) == 100_000


@pytest.mark.slow
def test_at_a_terminal_what_is_typed_or_pasted_too_early_is_not_taken(
    two_topics: Collection, collection_file: Path
) -> None:
    """Of a pasted block the first line is the answer, or the note; ctrl-d among the lines quits."""
    with PtyTerminal(judge(collection_file, "--plain", "--topic", "12")) as terminal:
        place = 0
        for shows, typed in (
            (["Enter = the first document > "], "\n"),
            (["0/4 grade 0-2"], "2\n1\n0\n1\n"),
            (["3 lines typed too early: ignored", "1/4 grade 0-2"], "e\n"),
            (["note? "], "see page\n2\nq\n"),
            (["2 lines typed too early: ignored", "1/4 grade 0-2"], "１\n"),
            (["2/4 grade 0-2"], "0\n1\n\x04"),
            (["alice: 3 decisions in this sitting, all saved"], ""),
        ):
            terminal.wait_for(*shows, since=place)
            place = terminal.send(typed.encode())
        assert terminal.wait() == 0
    found = {docno: (one.grade, one.note) for docno, one in stored(two_topics).items()}
    assert found == {"e0": (2, ""), "e1": (1, "see page"), "e2": (0, "")}
