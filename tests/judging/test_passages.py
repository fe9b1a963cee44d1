"""Passages: offsets of the raw text behind those of the screen, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.collection import Collection
from store.errors import ArgumentError, StoreError
from store.formats.markup import readable
from store.judging.events import as_raw, as_shown
from store.records import Action, Document, JudgeKind, Passage, State, Topic
from store.text import sanitise
from tests.helpers.world import JudgeAtWork, make_pool, stored_rows

RAW = "\ufeffA\r\nb\x00c\ud800\r\rd\u202e\u2028e\x1b]0;x\x07 検索\U0001f600.\r"
"""Every kind of character that the screen shows otherwise, or not at all."""
SHOWN = "\ufeffA\nb␀c\ufffdd\ufffd\ne␛]0;x␇ 検索\U0001f600."
Maker = Callable[[str], JudgeAtWork]
texts = st.text(st.sampled_from("ab\r\n\t\x00\x9b\ud800\udc00\u202e\u2029検\U0001f600"), max_size=25)


@pytest.fixture
def sit(collection: Collection) -> Maker:
    """Make document `d` of some text, and sit ann down before it."""
    collection.judges.add("ann", JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one")])
    collection.pools.add(make_pool({"1": "de"}))

    def make(text: str) -> JudgeAtWork:
        collection.documents.add([Document("d", "", text)], replace=True)
        return JudgeAtWork(collection.desk("ann"), "1")

    return make


def part(text: str, start: int, end: int) -> Passage:
    """Cut a passage out of a text."""
    return Passage(start, end - start, text[start:end])


def rows(name: str) -> dict[int, list[tuple[int, int, str]]]:
    """Return what is stored, by event: start, length, text."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    for _, event, start, length, text, *_ in stored_rows(name)["passage"]:
        decoded = bytes(text).decode("utf-8", "surrogatepass")
        found.setdefault(event, []).append((start, length, decoded))
    return {event: sorted(passages) for event, passages in sorted(found.items())}


@given(texts, st.data())
def test_raw_passage_is_shown_as_it_was_marked(text: str, data: st.DataObject) -> None:
    """What is marked on the screen is stored of the raw text and comes back as it was.

    The raw part is the shortest that the screen shows so: it begins and ends with a character that
    is shown.
    """
    shown = sanitise(text)
    places = st.integers(0, len(shown))
    start, end = sorted((data.draw(places), data.draw(places)))
    marked = part(shown, start, end)
    if start == end:
        with pytest.raises(ArgumentError, match="must be a part of the document"):
            as_raw([marked], readable(text))
        return
    (raw,) = as_raw([marked], readable(text))
    assert raw == part(text, raw.start, raw.end)
    assert sanitise(text[: raw.start]) == shown[:start]
    assert sanitise(raw.text) == shown[start:end]
    assert (raw.text[0], raw.text[-1]) != ("\r", "\r")
    assert raw.text.strip("\r") == raw.text
    assert as_shown([raw], readable(text)) == (marked,)


def test_offsets_counted_by_hand() -> None:
    """Each carriage return before a passage moves it by one; one inside makes it one longer."""
    assert sanitise(RAW) == SHOWN
    # Shown: BOM 0, A 1, newline 2, b 3, NUL picture 4, c 5, surrogate 6, d 7. Raw: A 1, CR 2,
    # newline 3, b 4, NUL 5, c 6, surrogate 7, CR 8, CR 9, d 10.
    assert as_raw([Passage(4, 4, "␀c\ufffdd")], readable(RAW)) == (Passage(5, 6, "\x00c\ud800\r\rd"),)
    assert as_raw([Passage(1, 2, "A\n")], readable(RAW)) == (Passage(1, 3, "A\r\n"),)
    assert as_raw([Passage(0, len(SHOWN), SHOWN)], readable(RAW)) == (Passage(0, len(RAW) - 1, RAW[:-1]),)


def test_several_are_sorted_and_come_once() -> None:
    """The order of marking is not kept, and what is marked twice is marked."""
    b, whole = part("abc", 1, 2), part("abc", 0, 3)
    assert as_raw([b, whole, b], readable("abc")) == (whole, b)


@pytest.mark.parametrize(
    "wrong",
    [
        Passage(0, 0, ""),
        Passage(0, 3, "xyz"),
        Passage(-3, 3, "abc"),
        Passage(-1, 1, "c"),
        Passage(1, 5, "bc"),
        Passage(1, 1, "bc"),
        Passage(3, 1, ""),
        Passage(7, 1, "a"),
        Passage(2, -1, ""),
    ],
)
def test_what_is_not_there_is_refused(wrong: Passage) -> None:
    """A passage that the document does not have where it says is no evidence of anything."""
    with pytest.raises(ArgumentError, match="must be a part of the document"):
        as_raw([wrong], readable("abc"))


def test_hostile_text_is_kept_byte_for_byte(sit: Maker, collection_name: str) -> None:
    """NUL, lone surrogates and escapes are stored as they are and shown harmless."""
    sitting = sit(RAW)
    marked = part(SHOWN, 3, 7), part(SHOWN, SHOWN.index("␛"), len(SHOWN))
    task = sitting.act("d", Action.MARK, passages=marked)
    assert task.passages == marked
    assert (task.state, task.revision) == (State.UNJUDGED, 1)
    start = RAW.index("\x1b")
    assert rows(collection_name) == {
        1: [(4, 4, "b\x00c\ud800"), (start, len(RAW) - 1 - start, RAW[start:-1])]
    }
    assert sitting.desk.queue("1")[0].passages == marked


def test_every_event_carries_the_whole_state(sit: Maker, collection_name: str) -> None:
    """Grades, notes and skips keep the passages, and undo brings back those before."""
    sitting = sit("one two three")
    one, two = part("one two three", 0, 3), part("one two three", 4, 7)
    seen = [
        sitting.act("d", Action.MARK, passages=(one,)).passages,
        sitting.grade("d", 2).passages,
        sitting.act("d", Action.NOTE, note="see there").passages,
        sitting.act("d", Action.MARK, passages=(two, one)).passages,
        sitting.act("d", Action.SKIP).passages,
        sitting.act("d", Action.MARK, passages=()).passages,
        sitting.act("d", Action.CANNOT, reason="x").passages,
    ]
    assert seen == [(one,), (one,), (one,), (one, two), (one, two), (), ()]
    undone = []
    while (task := sitting.undo()) is not None:
        undone.append(task.passages)
    assert undone == [(), (one, two), (one, two), (one,), (one,), (one,), ()]
    stored = rows(collection_name)
    assert [len(stored.get(event, ())) for event in range(1, 15)] == [
        *map(len, seen), *map(len, undone)
    ]  # fmt: skip
    # What a mark keeps: the standing decision and its note.
    sitting.grade("d", 1)
    sitting.act("d", Action.NOTE, note="n")
    task = sitting.act("d", Action.MARK, passages=(two,))
    assert (task.state, task.grade, task.note, task.passages) == (State.JUDGED, 1, "n", (two,))


def test_passages_are_of_their_document_and_judge(
    sit: Maker, collection: Collection, collection_name: str
) -> None:
    """Another judge of the same document, and another document, have none of them."""
    sitting = sit("abc")
    collection.judges.add("bob", JudgeKind.HUMAN)
    collection.documents.add([Document("e", "", "abc")])
    sitting.act("d", Action.MARK, passages=(part("abc", 0, 1),))
    assert sitting.grade("e", 1).passages == ()
    assert [task.passages for task in collection.desk("bob").queue("1")] == [(), ()]
    assert len(stored_rows(collection_name)["passage"]) == 1


def test_replaced_document_hides_what_it_no_longer_has(sit: Maker, collection_name: str) -> None:
    """A passage whose place holds another text is not shown, and is not lost either."""
    sitting = sit("alpha\r\nbeta gamma")
    shown = "alpha\nbeta gamma"
    alpha, beta = part(shown, 0, 5), part(shown, 6, 10)
    sitting.act("d", Action.MARK, passages=(alpha, beta))
    later = sit("alpha\r\nzeta gamma")
    assert later.tasks["d"].passages == (alpha,)
    assert later.grade("d", 1).passages == (alpha,)
    assert rows(collection_name)[2] == [(0, 5, "alpha"), (7, 4, "beta")]
    with pytest.raises(ArgumentError, match="must be a part of the document"):
        later.act("d", Action.MARK, passages=(alpha, beta))
    back = sit("alpha\r\nbeta gamma")
    assert back.tasks["d"].passages == (alpha, beta)


def test_refused_mark_writes_nothing(sit: Maker, collection_name: str) -> None:
    """No event is left of a mark that could not be stored."""
    sitting = sit("abc")
    sitting.desk._sit()
    before = stored_rows(collection_name)
    with pytest.raises(ArgumentError):
        sitting.act("d", Action.MARK, passages=(part("abc", 0, 1), Passage(1, 9, "bc")))
    with pytest.raises((ArgumentError, StoreError)):
        sitting.act("e", Action.MARK, passages=(Passage(0, 1, "a"),))
    assert stored_rows(collection_name) == before


def test_many_passages_of_many_events(sit: Maker, collection: Collection) -> None:
    """More events than one statement may name come back, each with its own."""
    sitting = sit("x" * 40)
    for number in range(30):
        sitting.act("d", Action.MARK, passages=tuple(part("x" * 40, n, n + 1) for n in range(number)))
    assert len(sitting.look()[0].passages) == 29
    from store.db.engine import reading
    from store.judging.events import fetch_passages

    with reading(collection._db.engine) as session:
        found = fetch_passages(session, [*range(-1500, 31)])
    assert {event: len(passages) for event, passages in found.items()} == {
        number + 1: number for number in range(1, 30)
    }
