"""The line mode: answers in, words out, rows in the store."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from judge_ui.plain import run_plain
from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.records import Document, Judgement, State, Topic
from tests.helpers.drawing import adaptive_pool
from tests.judge_ui.conftest import ENGLISH, JAPANESE, Maker, NothingToDraw


def run(collection: Collection, *answers: str, topic: str | None = None, end: str = "\n") -> str:
    """Let alice give answers, one a line, and return everything that was printed."""
    session = JudgingSession(collection.desk("alice"), min_dwell=0)
    if topic is not None:
        session.open_topic(topic)
    write = io.StringIO()
    run_plain(session, io.StringIO("\n".join(answers) + end), write)
    session.desk.leave()
    return write.getvalue()


def states(collection: Collection) -> dict[str, Judgement]:
    """Return alice's judgements by docno."""
    return {judgement.docno: judgement for judgement in collection.judgements.current(["alice"])}


def test_answers_become_judgements(two_topics: Collection) -> None:
    """A grade, a skip, a reason and a note each end up in the store under their document."""
    printed = run(two_topics, "12", "2", "s", "c", "1", "e", "look again", "0")
    stored = states(two_topics)
    assert (stored["e0"].state, stored["e0"].grade) == (State.JUDGED, 2)
    assert stored["e1"].state is State.SKIPPED
    assert (stored["e2"].state, stored["e2"].reason) == (State.CANNOT, "unreadable")
    assert (stored["e3"].grade, stored["e3"].note) == (0, "look again")
    assert "2 relevant (saved " in printed
    assert "\n12 bridge maintenance: 1 skipped\n" in printed


def test_the_topic_is_printed_once_and_every_document_once(two_topics: Collection) -> None:
    """A screen reader hears the narrative when the topic opens, not before every document."""
    printed = run(two_topics, "12", "0", "1", "nonsense", "2")
    assert printed.count("Narrative: A relevant document names a schedule.") == 1
    for n in range(4):
        assert printed.count(f"\nDocument e{n}\nTitle: Bridge {n}\nText of bridge {n}.\n") == 1


def test_the_prompt_says_how_far_and_what_can_be_answered(two_topics: Collection) -> None:
    """The question after a document is whole in itself."""
    printed = run(two_topics, "12", "2")
    commands = "s skip, c can't, e note, u undo, n next, q quit, ? help > "
    assert f"\n0/4 grade 0-2, {commands}" in printed
    assert f"\n1/4 grade 0-2, {commands}" in printed


def test_enter_opens_the_first_topic_with_documents_left(two_topics: Collection) -> None:
    """The judge need not name the topic to go on."""
    run(two_topics, "12", "0", "0", "0", "0")
    assert "\nTopic 0013 情報検索の評価\n" in run(two_topics, "", "1")
    assert states(two_topics)["j0"].grade == 1


def test_a_topic_that_is_open_already_is_judged_first(two_topics: Collection) -> None:
    """`--topic` goes straight to the document."""
    printed = run(two_topics, "1", topic="0013")
    assert "topic?" not in printed
    assert states(two_topics)["j0"].grade == 1


def test_a_script_that_runs_twice_grades_nothing_again(two_topics: Collection) -> None:
    """A topic that is done is summed up first: its answers are no grades any more."""
    run(two_topics, "2", "1", topic="0013")
    before = states(two_topics)
    printed = run(two_topics, "0", "0", "0", topic="0013")
    assert states(two_topics) == before
    assert "0013 情報検索の評価: every document has a decision" in printed
    assert "'0' means nothing here" in printed


def test_an_unknown_topic_is_asked_again(two_topics: Collection) -> None:
    """A slip loses nothing."""
    printed = run(two_topics, "13", "0013", "1")
    assert "`13` is none of these topics" in printed
    assert states(two_topics)["j0"].grade == 1


@pytest.mark.parametrize("end", ["\n", ""])
def test_the_end_of_the_input_quits_with_everything_saved(two_topics: Collection, end: str) -> None:
    """A script that ends, or a line that drops, keeps what was answered."""
    printed = run(two_topics, "12", "2", end=end)
    assert printed.endswith("\nalice: 1 decision in this sitting, all saved\n")
    assert states(two_topics)["e0"].grade == 2


def test_q_quits_from_every_question_that_offers_it(two_topics: Collection) -> None:
    """Quitting at the topics, at a document, and after a topic are the same goodbye."""
    for answers in (["q"], ["12", "q"], ["12", "0", "0", "0", "0", "q"]):
        assert run(two_topics, *answers, "2", "2").endswith("all saved\n")
    assert {judgement.grade for judgement in states(two_topics).values()} == {0}


def test_undo_shows_the_document_again(two_topics: Collection) -> None:
    """`u` goes back and the prompt counts one less."""
    printed = run(two_topics, "12", "2", "u")
    assert printed.count("\nDocument e0") == 2
    assert printed.count("\n0/4 ") == 2
    assert "grade 2 undone: unjudged again (saved " in printed
    assert states(two_topics)["e0"].state is State.UNJUDGED


def test_undoing_a_note_says_so(two_topics: Collection) -> None:
    """A note taken back is no judgement taken back."""
    printed = run(two_topics, "12", "e", "a note", "u")
    assert "note undone (saved " in printed
    assert "again" not in printed


def test_a_note_is_no_decision(two_topics: Collection) -> None:
    """What is counted at the end is documents decided."""
    printed = run(two_topics, "12", "e", "hello", "q")
    assert printed.endswith("\nalice: 0 decisions in this sitting, all saved\n")


def test_undo_across_topics_prints_the_other_topic(two_topics: Collection) -> None:
    """A judge who is taken back to another topic is told its narrative again."""
    printed = run(two_topics, "12", "0", "0", "0", "2", "", "0013", "u")
    assert printed.count("Narrative: A relevant document names a schedule.") == 2


def test_taking_a_grade_away_asks(two_topics: Collection) -> None:
    """Only y skips a graded document."""
    printed = run(two_topics, "12", "0", "0", "0", "2", "d", "s", "n", "s", "y")
    assert printed.count("take back grade 2 and skip? y/n > ") == 2
    assert states(two_topics)["e3"].state is State.SKIPPED


@pytest.mark.parametrize("answers", [["c", ""], ["c", "9"], ["c", "4", ""], ["e", ""]])
def test_a_question_left_empty_writes_nothing(two_topics: Collection, answers: list[str]) -> None:
    """Enter goes back from every question."""
    run(two_topics, "12", *answers)
    assert states(two_topics) == {}


def test_a_reason_in_words_and_a_note_taken_away(two_topics: Collection) -> None:
    """Reason 4 asks for words; a note of `-` is none."""
    run(two_topics, "12", "c", "4", "torn page", "e", "a note", "e", "-")
    stored = states(two_topics)
    assert (stored["e0"].reason, stored["e1"].note) == ("torn page", "")


def test_going_over_the_skipped(two_topics: Collection) -> None:
    """After a topic `s` goes back to the first skipped document."""
    run(two_topics, "12", "s", "0", "0", "0", "s", "2")
    assert states(two_topics)["e0"].grade == 2


def test_full_width_answers_and_words_work(two_topics: Collection) -> None:
    """An input method's digit grades; whole words mean what their keys do."""
    run(two_topics, "12", "２", "skip", "undo", "ｓ")
    stored = states(two_topics)
    assert (stored["e0"].grade, stored["e1"].state) == (2, State.SKIPPED)


def test_a_scale_of_letters_moves_the_commands(make_collection: Maker) -> None:
    """With grades c, b, a, s the prompt offers x and i, and both s and S are a grade."""
    documents = [Document(docno, "", "x") for docno in "abc"]
    collection = make_collection({Topic("1"): documents}, scale="ntcir")
    printed = run(collection, "1", "s", "S", "x", "s", "x", "C")
    assert "grade c/b/a/s, x skip, i can't," in printed
    assert "S: highly relevant (saved " in printed
    assert "Enter = the 1 skipped, topics = topics, u = undo, d = stay" in printed
    assert {docno: one.grade for docno, one in states(collection).items()} == {"a": 3, "b": 3, "c": 0}
    assert "'s' means nothing here" in printed


@pytest.mark.parametrize("scale", ["0-2", "ntcir"])
def test_whole_words_in_any_case_are_commands(make_collection: Maker, scale: str) -> None:
    """A word always means its command, whatever keys the scale has taken."""
    documents = [Document(docno, "", "x") for docno in "abcd"]
    collection = make_collection({ENGLISH: documents}, scale=scale)
    run(
        collection,
        *("12", "Skip", "CANNOT", "1", "Can't", "2", "undo", "Note", "a note", "Next"),
        *("QUIT", "skip"),
    )
    stored = states(collection)
    assert (stored["a"].state, stored["b"].reason) == (State.SKIPPED, "unreadable")
    assert (stored["c"].state, stored["c"].note) == (State.UNJUDGED, "a note")
    assert "d" not in stored
    assert run(collection, "Quit", "12", "skip").endswith("alice: 0 decisions in this sitting, all saved\n")


def test_one_of_anything_is_singular(make_collection: Maker) -> None:
    """One document is a document, one decision a decision."""
    printed = run(make_collection({ENGLISH: [Document("d", "", "x")]}), "12", "1", "q")
    assert "12 bridge maintenance: 1 document, 0 judged" in printed
    assert printed.endswith("alice: 1 decision in this sitting, all saved\n")


def test_documents_without_text_say_so(make_collection: Maker) -> None:
    """A missing text is said to be missing, no command is named; an empty one is said to be."""
    topic = Topic("1")
    collection = make_collection({topic: [Document("none"), Document("empty", "", "")]})
    printed = run(collection, "1", "0")
    assert "\nDocument none\nno text is stored for this document\n" in printed
    assert "\nDocument empty\nthe text of this document is empty\n" in printed


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
    assert states(two_topics) == {}


def test_nothing_hostile_reaches_the_stream(make_collection: Maker) -> None:
    """Escapes in topic, title, text and notes are printed as pictures."""
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x00"
    topic = Topic("1", f"t{evil}", f"d{evil}", f"n{evil}")
    collection = make_collection({topic: [Document("d", f"t{evil}", f"x{evil}")]})
    printed = run(collection, "1", "e", f"note{evil}", "2", "u", "zzz\x1b[31m")
    assert not set("\x1b\x07\x9b\u202e\x00\r") & set(printed)
    assert "␛]0;owned␇" in printed


def test_japanese_is_printed_whole(make_collection: Maker) -> None:
    """Nothing is wrapped, cut or widened."""
    text = "検索の評価には、①テストコレクションと②適合判定が要る。" * 50
    assert text in run(make_collection({JAPANESE: [Document("j", "題", text)]}), "")


def test_an_open_topic_without_documents_goes_to_the_topics(two_topics: Collection) -> None:
    """A topic with an empty queue is no dead end."""
    two_topics.topics.add([Topic("empty", "nothing pooled")])
    assert "nothing to judge in this topic\nTopics of alice\n" in run(two_topics, "12", topic="empty")


def test_a_judge_without_work_is_told(make_collection: Maker) -> None:
    """No pool, no topics, and still a way out."""
    printed = run(make_collection({}), "")
    assert "none: no pool holds a document for you" in printed


def test_a_draw_that_fails_is_told_and_the_grade_is_kept(two_topics: Collection) -> None:
    """The judge reads why there is no next document, after the grade and when asking for it."""
    two_topics.pools.add(adaptive_pool({"0013": "a"}, 1))
    session = JudgingSession(two_topics.desk("alice"), min_dwell=0, drawing=NothingToDraw())
    session.open_topic("0013")
    printed = io.StringIO()
    run_plain(session, io.StringIO("2\n1\nn\n"), printed)
    assert {docno: one.grade for docno, one in states(two_topics).items()} == {"j0": 2, "j1": 1}
    assert "1 partially relevant; the next document could not be drawn: the runs" in printed.getvalue()
    assert "1 answer was ignored\nalice: 2 decisions in this sitting, all saved\n" in printed.getvalue()
