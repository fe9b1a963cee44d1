"""Topics, guidelines and documents: as they came, in versions; texts of what is pooled, and fields."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.content.documents import TextCounts, document_sha256
from store.content.lookup import rows_by_key
from store.db.engine import collection_url, reading
from store.db.tables import DOCUMENT
from store.errors import ConflictError, FormatError, StoreError
from store.judging.rejudging import Why
from store.keeping.directory import read_directory
from store.keeping.verify import verify
from store.records import Action, Document, ImportReport, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.drawing import adaptive_pool
from tests.helpers.wine import export, make
from tests.helpers.world import (
    JudgeAtWork,
    carry,
    change_stored,
    count_rows,
    engine_of,
    make_pool,
    stored_rows,
)

OLD = Topic("1", "wine", "Which wines?", "A list is not relevant.")
NEW = Topic("1", "wine", "Which wines go with fish?", "A list is not relevant.")


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection of two topics, two judges, and texts."""
    collection.topics.add([OLD, Topic("2", "beer")])
    collection.pools.add(make_pool({"1": list("abcd"), "2": ["a"]}))
    collection.documents.add([Document(docno, text="abc abc") for docno in "abcd"])
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    return collection


def sit(collection: Collection, judge: str = "ann", topic: str = "1") -> JudgeAtWork:
    """Sit down and open a topic, as a screen does."""
    desk = collection.desk(judge)
    desk.topic(topic)
    return JudgeAtWork(desk, topic)


def versions(collection: Collection, topic: str = "1") -> list[tuple[int, str, int]]:
    """Return version, description and judgements of every text."""
    found = collection.details.topic(topic).versions
    return [(one.version, one.topic.description, one.judgements) for one in found]


def lines(collection: Collection) -> dict[str, tuple[int, int]]:
    """Return version and judgements by an older text, by topic."""
    return {line.topic: (line.version, line.older) for line in collection.lists.topics()}


def under(name: str) -> list[tuple[str, int | None]]:
    """Return action and topic version of every event, the oldest first."""
    with engine_of(name) as engine, engine.connect() as connection:
        rows = connection.execute(text("SELECT action, topic_version FROM judgement ORDER BY id"))
        return [(row.action, row.topic_version) for row in rows]


def outdated(collection: Collection) -> list[tuple[str, str]]:
    """Return judge and docno of what was judged by another text of the topic."""
    return [(one.judge, one.docno) for one in collection.rejudging.outdated(why=[Why.TOPIC]).rows]


def test_judgements_are_of_the_text_on_the_screen(ready: Collection, collection_name: str) -> None:
    """Who opened the topic before it changed judges by the old text until it is opened again."""
    ann = sit(ready)
    ann.grade("a", 1)
    ready.topics.add([NEW], replace=True)
    ann.grade("b", 1)
    ann.desk.topic("1")
    ann.grade("c", 1)
    assert under(collection_name) == [("judge", 1), ("judge", 1), ("judge", 2)]
    assert versions(ready) == [(1, OLD.description, 2), (2, NEW.description, 1)]
    assert outdated(ready) == [("ann", "a"), ("ann", "b")]
    assert lines(ready) == {"1": (2, 2), "2": (1, 0)}
    assert {one.topic_version for one in ready.rejudging.outdated(why=[Why.TOPIC]).rows} == {1}


def test_undo_and_notes_carry_what_was_shown_and_the_decider_counts(
    ready: Collection, collection_name: str
) -> None:
    """A note under the new text refreshes no grade; an undo brings back the old one as it was."""
    ann = sit(ready)
    ann.grade("a", 1)
    ann.grade("b", 1)
    ready.topics.add([NEW], replace=True)
    ann.desk.topic("1")
    ann.act("a", Action.NOTE, note="still so")
    ann.grade("b", 2)
    assert outdated(ready) == [("ann", "a")]
    ann.undo()
    assert outdated(ready) == [("ann", "a"), ("ann", "b")]
    assert under(collection_name)[2:] == [("note", 2), ("judge", 2), ("undo", 2)]


def test_older_text_that_comes_back_is_not_older(ready: Collection) -> None:
    """Version 1 with the text of version 3 is up to date; version 2 is not."""
    sit(ready).grade("a", 1)
    ready.topics.add([NEW], replace=True)
    sit(ready, "bob").grade("a", 1)
    ready.topics.add([OLD], replace=True)
    assert outdated(ready) == [("bob", "a")]
    assert lines(ready)["1"] == (3, 1)
    assert [version for version, *_ in versions(ready)] == [1, 2, 3]


def test_topic_without_a_text_that_was_judged_gets_its_first(collection: Collection) -> None:
    """Whoever judged by the bare id of a topic did not see the text that came later."""
    collection.pools.add(make_pool({"1": ["a"], "2": ["a"]}))
    collection.judges.add("ann", JudgeKind.HUMAN)
    collection.judgements.add({"old": [Qrel("2", "a", 1)]}, JudgeKind.IMPORTED)
    sit(collection).grade("a", 1)
    report = collection.topics.add([OLD, Topic("2", "beer")])
    assert report == ImportReport(added=2)
    assert lines(collection) == {"1": (2, 1), "2": (1, 0)}
    assert outdated(collection) == [("ann", "a")]


def test_event_from_before_versions_rests_on_the_first_text(ready: Collection, collection_name: str) -> None:
    """An event that does not say was made by the only text there was."""
    sit(ready).grade("a", 1)
    with engine_of(collection_name) as engine, engine.begin() as connection:
        connection.execute(text("UPDATE judgement SET topic_version = NULL"))
    assert outdated(ready) == []
    ready.topics.add([NEW], replace=True)
    assert outdated(ready) == [("ann", "a")]
    assert ready.rejudging.outdated(why=[Why.TOPIC]).rows[0].topic_version is None
    assert versions(ready)[0] == (1, OLD.description, 1)


def test_imported_grades_are_never_flagged(ready: Collection) -> None:
    """Nobody knows by which text an imported grade was given."""
    ready.judgements.add({"old": [Qrel("1", "a", 1)]}, JudgeKind.IMPORTED)
    ready.topics.add([NEW], replace=True)
    assert outdated(ready) == []
    assert lines(ready)["1"] == (2, 0)
    assert ready.rejudging.outdated(why=[Why.TOPIC]).n_imported == 1


def test_requeue_puts_it_back_with_its_passages(ready: Collection, collection_name: str) -> None:
    """Reopened, unjudged, the reason named; what was marked in the document stays marked."""
    ann = sit(ready)
    ann.act("a", Action.MARK, passages=(Passage(0, 3, "abc"),))
    ann.grade("a", 2)
    sit(ready, "bob", "2").grade("a", 1)
    ready.topics.add([NEW], replace=True)
    reopened = ready.rejudging.reopen(why=[Why.TOPIC])
    assert [(one.judge, one.topic, one.docno) for one in reopened] == [("ann", "1", "a")]
    task = sit(ready).tasks["a"]
    assert (task.state, task.passages) == (State.UNJUDGED, (Passage(0, 3, "abc"),))
    assert under(collection_name)[-1] == ("reopen", None)
    history = ready.history.of_document("1", "a")
    assert history.topic_version == 2
    assert [(one.action, one.topic_version, one.reason) for one in history.events] == [
        (Action.MARK, 1, ""), (Action.JUDGE, 1, ""), (Action.REOPEN, None, "topic"),
    ]  # fmt: skip
    sit(ready).grade("a", 0)
    assert outdated(ready) == []


def test_two_corrections_at_once_are_two_versions(ready: Collection, collection_name: str) -> None:
    """Two organisers who replace a text at the same moment make two versions, none lost."""
    others = [Topic("1", "wine", f"text {number}") for number in range(4)]

    def correct(topic: Topic) -> None:
        with Collection(collection_name) as opened:
            opened.topics.add([topic], replace=True)

    threads = [threading.Thread(target=correct, args=(one,)) for one in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found: list[Any] = versions(ready)
    assert [version for version, *_ in found] == [1, 2, 3, 4, 5]
    assert {words for _, words, _ in found} == {OLD.description, *(one.description for one in others)}


WINE = Topic("1", "wine", "Which wines go with fish?", "A wine list alone is not relevant.")
BEER = Topic("2", "beer", "How is beer brewed?", "")


def test_other_topic_is_refused_or_taken(collection: Collection, collection_name: str) -> None:
    """A topic that differs in any field is refused with all the rest, or taken by `replace`."""
    collection.topics.add([WINE])
    others = [
        Topic("1", "wines", WINE.description, WINE.narrative),
        Topic("1", "wines", "", WINE.narrative),
        Topic("1", "wines", "", ""),
    ]
    for n_topics, other in enumerate(others, start=1):
        new = Topic(f"new-{n_topics}")
        before = stored_rows(collection_name)
        with pytest.raises(ConflictError, match="topic `1` exists with another text") as caught:
            collection.topics.add([new, other])
        assert caught.value.hint == f"--replace takes the new text, as version {n_topics + 1} of it"
        assert stored_rows(collection_name) == before
        report = collection.topics.add([new, other], replace=True)
        assert report == ImportReport(added=1, replaced=1)
        assert collection.topics.all()[0] == other
        assert len(stored_rows(collection_name)["topic"]) == n_topics + 1


def test_topic_known_from_elsewhere_gets_its_text(collection: Collection) -> None:
    """A topic that a pool or a qrels file named first is not listed until a topics file comes."""
    collection.pools.add(make_pool({"1": ["a"]}))
    collection.judgements.add({"ann": [Qrel("3", "a", 1)]}, JudgeKind.HUMAN)
    assert collection.topics.listed() == set()
    assert collection.topics.all() == [Topic("1"), Topic("3")]
    assert collection.topics.add([WINE, BEER]) == ImportReport(added=2)
    assert collection.topics.listed() == {"1", "2"}
    assert collection.topics.all() == [WINE, BEER, Topic("3")]


def test_topic_without_text_is_listed(collection: Collection) -> None:
    """A topics file may name a topic without a word about it."""
    assert collection.topics.add([Topic("1")]) == ImportReport(added=1)
    assert collection.topics.listed() == {"1"}
    assert collection.topics.add([Topic("1")]) == ImportReport(unchanged=1)


def test_topic_is_kept_raw(collection: Collection) -> None:
    """NUL, escapes, lone surrogates and line ends of any kind come back as they went in."""
    raw = Topic("1", "a\0b\x1b[2J", "\ud800 and \udfff", "line\r\nline\rline\u2028酒 \U0001f377")
    collection.topics.add([raw])
    assert collection.topics.all() == [raw]


def test_ids_are_text_in_natural_order(collection: Collection) -> None:
    """Ids that look alike stay apart; digits in them sort by value, all else bytewise."""
    ids = ["10", "9", "009", "1", "001", "T2", "t2", "T10", "NA", '"x', "ワイン", "1.0"]
    collection.topics.add([Topic(number) for number in ids])
    found = [topic.topic for topic in collection.topics.all()]
    # The first part is compared first: empty before any letter, then the number.
    assert found == ["001", "1", "1.0", "009", "9", "10", '"x', "NA", "T2", "T10", "t2", "ワイン"]
    assert collection.topics.add([Topic(number) for number in ids]) == ImportReport(unchanged=12)


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "\x00\x1b[31m [red]\u202e", "判定基準\n\n- 関連", " x"])
def test_text_stays_as_it_is(collection: Collection, text: str) -> None:
    """Control characters, line ends and markup are kept byte for byte."""
    collection.guidelines.add(text)
    assert collection.guidelines.get().text == text


A = Document("a", "Wine", "Fish and wine.")
B = Document("b", "Beer", "Hops.")
C = Document("c", "", "")


@pytest.fixture
def pooled(collection: Collection) -> Collection:
    """Make a collection whose pool holds a and b."""
    collection.pools.add(make_pool({"1": ["a", "b"], "2": ["b"]}))
    collection.judges.add("ann", JudgeKind.HUMAN)
    return collection


def test_all_texts_are_kept_when_asked(pooled: Collection) -> None:
    """With `all_texts` every text is kept, the empty one too, which is a text."""
    assert pooled.documents.add([A, B, C], all_texts=True) == ImportReport(added=3)
    assert pooled.documents.get("c") == C
    assert pooled.documents.count_without_text() == TextCounts(0, 2)


def test_pooled_without_text_counts_documents(
    pooled: Collection, collection_name: str
) -> None:  # fmt: skip
    """Counts are of documents, not pairs, in pools that are not withdrawn."""
    assert pooled.documents.count_without_text() == TextCounts(2, 2)
    pooled.documents.add([A])
    assert pooled.documents.count_without_text() == TextCounts(1, 2)
    pooled.pools.add(make_pool({"1": ["c"], "2": ["c"]}, name="second", manifest={"depth": 2}))
    assert pooled.documents.count_without_text() == TextCounts(2, 3)
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'second'")
    assert pooled.documents.count_without_text() == TextCounts(1, 2)
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE")
    assert pooled.documents.count_without_text() == TextCounts(0, 0)


def test_documents_to_be_drawn_are_not_counted_as_pooled(pooled: Collection) -> None:
    """What an adaptive pool chooses from is apart, until it is drawn or its budget is spent."""
    pooled.pools.add(adaptive_pool({"1": ["a", "x", "y"], "2": ["x", "z"]}, 1))
    pooled.documents.add([A, Document("x", "", "An x.")])
    # a and b are pooled; x, y and z are not.
    assert pooled.documents.count_without_text() == TextCounts(1, 2, 2, 3)
    pooled.pools.draw("live", "2", lambda _: "z")
    # z is pooled now, and no more may be drawn for 2; x and y are to be chosen from for 1.
    assert pooled.documents.count_without_text() == TextCounts(2, 3, 1, 2)
    pooled.pools.draw("live", "1", lambda _: "a")
    assert pooled.documents.count_without_text() == TextCounts(2, 3)
    pooled.pools.add(adaptive_pool({"5": ["q"]}, 1, name="other"))
    assert pooled.documents.count_without_text() == TextCounts(2, 3, 1, 1)
    pooled.pools.withdraw("other")
    assert pooled.documents.count_without_text() == TextCounts(2, 3)


def test_text_of_a_withdrawn_pool_is_not_kept(pooled: Collection, collection_name: str) -> None:
    """A pool that was withdrawn asks for no texts; a text that is there stays."""
    pooled.documents.add([A])
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE")
    report = pooled.documents.add([A, B])
    assert report == ImportReport(added=1, unchanged=1, left_out=1)
    assert (pooled.documents.get("a"), pooled.documents.get("b")) == (A, Document("b"))


@pytest.mark.parametrize("all_texts", [False, True])
def test_same_documents_again_change_nothing(
    pooled: Collection, collection_name: str, all_texts: bool
) -> None:
    """Importing the same documents again is counted and writes nothing."""
    pooled.documents.add([A, B, C], all_texts=all_texts)
    before = stored_rows(collection_name)
    for replace in (False, True):
        report = pooled.documents.add([C, A, B], all_texts=all_texts, replace=replace)
        assert (report.added, report.unchanged, report.replaced) == (0, 3, 0)
    assert stored_rows(collection_name) == before


def test_other_text_is_refused_or_taken(pooled: Collection, collection_name: str) -> None:
    """A document with another title or text is refused; with `replace` it is taken."""
    pooled.documents.add([A])
    for number, other in enumerate((Document("a", A.title, "No."), Document("a", "W", "No."))):
        new = Document(f"new-{number}", "", "x")
        before = stored_rows(collection_name)
        with pytest.raises(ConflictError, match="document `a` exists with another text") as told:
            pooled.documents.add([new, other])
        assert told.value.hint == "--replace takes the new text"
        assert stored_rows(collection_name) == before
        report = pooled.documents.add([new, other], all_texts=True, replace=True)
        assert report == ImportReport(added=1, replaced=1)
        assert pooled.documents.get("a") == other


@pytest.mark.parametrize(
    "damage", ["text = :raw", "title = :raw", "text = NULL", "title = NULL", "text = :no_utf8"]
)
def test_damaged_text_is_written_again(pooled: Collection, collection_name: str, damage: str) -> None:
    """With `replace` a text that is not what its hash says is written again, and no other."""
    pooled.documents.add([A, B])
    before = stored_rows(collection_name)
    values = {"raw": b"Fish and wind.", "no_utf8": b"\xff\xfe"}
    values = {name: value for name, value in values.items() if f":{name}" in damage}
    change_stored(collection_name, f"UPDATE document SET {damage} WHERE docno = 'a'", **values)
    assert pooled.documents.add([A, B], replace=True) == ImportReport(unchanged=1, replaced=1)
    assert stored_rows(collection_name) == before
    assert pooled.documents.add([A, B], replace=True) == ImportReport(unchanged=2)


def test_docnos_alone_are_listed(pooled: Collection) -> None:
    """A file of docnos lists them, and takes no text away."""
    pooled.documents.add([A])
    report = pooled.documents.add([Document("a"), Document("b"), Document("z")])
    assert report == ImportReport(added=2, unchanged=1, without_text=3)
    assert pooled.documents.get("a") == A
    assert pooled.documents.get("z") == Document("z")
    assert pooled.documents.listed() == {"a", "b", "z"}
    again = pooled.documents.add([Document("a"), Document("b"), Document("z")])
    assert again == ImportReport(unchanged=3, without_text=3)
    assert pooled.documents.add([B]) == ImportReport(texts=1)
    assert pooled.documents.get("b") == B


def test_text_is_kept_raw(pooled: Collection) -> None:
    """Whatever characters a text has, it comes back the same."""
    for raw in (
        Document("a", "NUL \0 in a title", "text \0 with \0\0 NULs"),
        Document("a", "\ud83d alone", "low \udfff, high \ud800, and a pair \U0001f377"),
        Document("a", "\x1b]0;owned\x07", "\u202eabc\r\nline\rline\x85line"),
        Document("a", " ", "\n"),
        Document("a", "日本語", "の" * 1_000_000),
    ):
        pooled.documents.add([raw], replace=True)
        assert pooled.documents.get("a") == raw
        assert pooled.documents.add([raw]) == ImportReport(unchanged=1)


def test_error_in_the_stream_takes_all_of_it_back(
    pooled: Collection, collection_name: str
) -> None:  # fmt: skip
    """When the file turns out bad at its end, none of it is kept, and the object works on."""

    def stream() -> Iterator[Document]:
        yield A
        for number in range(1200):
            yield Document(f"d{number}", "", "x")
        raise FormatError("docs.jsonl", [], n_faults=1)

    pooled.documents.add([B])
    before = stored_rows(collection_name)
    with pytest.raises(FormatError):
        pooled.documents.add(stream(), all_texts=True)
    assert stored_rows(collection_name) == before
    # Rows of the first attempt are gone, and with them the ids the object had learnt.
    with Collection(collection_name) as other:
        other.documents.add([Document("z"), Document("d7", "", "other")], all_texts=True)
    assert pooled.documents.add([A, Document("d7", "", "other")], all_texts=True) == ImportReport(
        added=1, unchanged=1
    )
    pooled.pools.add(make_pool({"9": ["d8", "d7", "z"]}, name="second", manifest={"depth": 2}))
    assert [entry.docno for entry in pooled.pools.get("second").entries] == ["d8", "d7", "z"]
    assert pooled.documents.get("d7") == Document("d7", "", "other")


def test_many_batches_are_one_import(pooled: Collection, collection_name: str) -> None:
    """A stream longer than a batch is counted and stored whole."""
    documents = [Document(f"d{number}", str(number), "x") for number in range(1777)]
    assert pooled.documents.add(iter(documents), all_texts=True) == ImportReport(added=1777)
    assert count_rows(collection_name)["document"] == 2 + 1777
    assert pooled.documents.get("d1776") == documents[1776]
    with engine_of(collection_name) as engine, reading(engine) as session:
        found = rows_by_key(session, (one.docno for one in documents), DOCUMENT.c.docno, DOCUMENT.c.id)
    assert len(found) == 1777
    ids = pooled.documents.numbers()
    assert pooled.documents.names(ids.values()) == {number: docno for docno, number in ids.items()}
    with pytest.raises(StoreError, match="document number 9999, which is not there"):
        pooled.documents.names([1, 9999])
    assert pooled.documents.add(documents).unchanged == 1777


def test_ids_are_text(collection: Collection) -> None:
    """Docnos that differ in case, width, normal form or leading zeros only are different."""
    docnos = ["1", "001", "1.0", "NA", "na", "None", '"x', "'x", "2681119#1", "%s", ":a", "a\\",
              "日本", "Ａ", "A", "é", "e\u0301"]  # fmt: skip
    report = collection.documents.add(
        (Document(docno, "", f"text of {docno}") for docno in docnos), all_texts=True
    )
    assert report.added == len(docnos)
    assert collection.documents.listed() == set(docnos)
    for docno in docnos:
        assert collection.documents.get(docno) == Document(docno, "", f"text of {docno}")


def test_hash_tells_title_from_text() -> None:
    """Two documents have one hash only when title and text are the same."""
    documents = [A, B, C, Document("x", "Fish and wine.", "Wine"), Document("x", "WineFish", "x")]
    documents += [Document("x", "Wine Fish", "x"), Document("x", "\ud800"), Document("x", "?")]
    assert len({document_sha256(document) for document in documents}) == len(documents)
    assert document_sha256(A) == document_sha256(Document("other docno", A.title, A.text))


HTML = "<h1>Oaks</h1>\r\n<p>Tom &amp; <b>Jerry</b>.</p>"
FIELDS = (("url", "http://a\x1b[2J"), ("date", "1991"))
OAKS = Document("a", "Oaks", HTML, FIELDS, "html")


def test_fields_go_with_the_text(pooled: Collection) -> None:
    """They come back as they came, and the hash is of title and text as before."""
    assert pooled.documents.add(
        [OAKS, Document("z", "", "x", FIELDS)], fields=["date", "url"]
    ) == ImportReport(added=2, left_out=1)
    assert pooled.documents.get("a") == OAKS
    assert pooled.documents.get("z") == Document("z")
    assert pooled.fields == ("date", "url")
    assert pooled.details.document("a").sha256 == document_sha256(Document("a", "Oaks", HTML))


def test_fields_are_added_and_not_replaced_unasked(pooled: Collection) -> None:
    """More of them is an addition, the same again nothing, another value a conflict as of a text."""
    pooled.documents.add([Document("a", "Oaks", HTML)])
    with_url = Document("a", "Oaks", HTML, FIELDS[:1])
    assert pooled.documents.add([with_url]) == ImportReport(described=1)
    assert pooled.documents.add([OAKS]) == ImportReport(described=1)
    assert pooled.documents.add([with_url]) == ImportReport(unchanged=1)
    assert pooled.documents.get("a") == OAKS
    other = Document("a", "Oaks", HTML, (("date", "1992"),))
    with pytest.raises(ConflictError, match="document `a` exists with another date"):
        pooled.documents.add([other])
    with pytest.raises(ConflictError, match="exists with another markup"):
        pooled.documents.add([Document("a", "Oaks", HTML, (), "markdown")])
    assert pooled.documents.add([other], replace=True) == ImportReport(replaced=1)
    assert pooled.documents.get("a") == Document("a", "Oaks", HTML, (FIELDS[0], ("date", "1992")), "html")


def test_desk_shows_what_was_chosen_in_that_order(pooled: Collection) -> None:
    """Fit for a terminal; a document without text has its fields, too; nothing else is shown."""
    pooled.documents.add(
        [OAKS, Document("b", "", None, (("url", "u"), ("date", " ")))], fields=["date", "url"]
    )
    desk = pooled.desk("ann")
    page = desk.page("a")
    assert page.fields == (("date", "1991"), ("url", "http://a␛[2J"))
    assert page.text == "Oaks\n\nTom & Jerry."
    assert desk.page("b").fields == (("url", "u"),)
    pooled.documents.add([], fields=[])
    assert pooled.desk("ann").page("a").fields == ()
    assert pooled.fields == ()


def test_evidence_is_stored_of_the_raw_text(pooled: Collection) -> None:
    """Marked in what is read, stored with the tags in between, and shown as it was marked."""
    pooled.documents.add([OAKS])
    sitting = JudgeAtWork(pooled.desk("ann"), "1")
    marked = Passage(6, 11, "Tom & Jerry")
    task = sitting.act("a", Action.MARK, passages=(marked,))
    assert task.passages == (marked,)
    (raw,) = next(iter(pooled.judgements.history())).passages
    assert raw == Passage(HTML.index("Tom"), len("Tom &amp; <b>Jerry"), "Tom &amp; <b>Jerry")
    again = {one.docno: one for one in pooled.desk("ann").queue("1")}
    assert again["a"].passages == (marked,)
    assert sitting.act("a", Action.NOTE, note="see").passages == (marked,)
    sitting.desk.leave()


def faults(name: str) -> set[str]:
    """Return the checks that found something."""
    return {one.name for one in verify(collection_url(name)) if one.n_faults}


def test_damaged_fields_are_told(pooled: Collection, collection_name: str) -> None:
    """By the digest of their table, and where they are no JSON or of no known markup."""
    pooled.documents.add([OAKS])
    assert faults(collection_name) == set()
    change_stored(collection_name, "UPDATE document_metadata SET markup = 'odt'")
    assert faults(collection_name) == {"digests", "fields"}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a collection of four documents, one of them with fields and markup."""
    place = make(tmp_path / "whole.db")
    with Collection(str(place)) as opened:
        opened.documents.add([Document("a", "a", "text of a", FIELDS, "html")], fields=["date", "url"])
    return place


def described(place: Path | str) -> tuple[tuple[str, ...], Document | None, Document | None]:
    """Return what a collection shows, and two of its documents."""
    with Collection(str(place)) as opened:
        return opened.fields, opened.documents.get("a"), opened.documents.get("b")


def test_servers_and_directories_carry_fields(whole: Path, tmp_path: Path, postgres_url: str) -> None:
    """And the same collection gives the same files again; without texts there is none of it."""
    expected = described(whole)
    assert expected[0] == ("date", "url")
    files = export(whole, tmp_path / "files")
    first = json.loads(files["documents.jsonl"].splitlines()[0])
    assert (first["markup"], first["metadata"]) == ("html", {"url": "http://a\x1b[2J", "date": "1991"})
    again = tmp_path / "again.db"
    read_directory(str(again), tmp_path / "files")
    assert described(again) == expected
    assert export(again, tmp_path / "more") == files
    carry(str(whole), postgres_url)
    assert described(postgres_url) == expected
    for place in (again, postgres_url):
        assert faults(str(place)) == set()
