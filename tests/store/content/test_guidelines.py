"""Guidelines: versions that are added, never changed, with their text as it came."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from store.collection import Collection
from store.content.topics import newest_guideline
from store.errors import ArgumentError, UnknownNameError
from tests.helpers.world import engine_of, reading, stored_rows


def test_versions_count_from_one(collection: Collection) -> None:
    """Each new text is the next version, made now, and the newest is the default."""
    first, is_new = collection.guidelines.add("# One\n")
    assert (first.version, first.text, is_new) == (1, "# One\n", True)
    assert abs(datetime.now(UTC) - first.created_at) < timedelta(minutes=1)
    second, _ = collection.guidelines.add("# Two\n")
    assert second.version == 2
    assert collection.guidelines.get() == second
    assert collection.guidelines.get(1) == first
    assert collection.guidelines.all() == [first, second]


def test_same_text_again_adds_nothing(collection: Collection, collection_name: str) -> None:
    """The newest text once more gives the version there is; an older text is a new version."""
    collection.guidelines.add("a")
    kept = collection.guidelines.add("b")[0]
    before = stored_rows(collection_name)
    assert collection.guidelines.add("b") == (kept, False)
    assert stored_rows(collection_name) == before
    assert collection.guidelines.add("b ")[1]
    again, is_new = collection.guidelines.add("a")
    assert (again.version, is_new) == (4, True)


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "\x00\x1b[31m [red]\u202e", "判定基準\n\n- 関連", " x"])
def test_text_stays_as_it_is(collection: Collection, text: str) -> None:
    """Control characters, line ends and markup are kept byte for byte."""
    collection.guidelines.add(text)
    assert collection.guidelines.get().text == text


def test_no_guidelines(collection: Collection, collection_name: str) -> None:
    """Without any there is none, and asking for one says what to do."""
    assert collection.guidelines.all() == []
    with engine_of(collection_name) as engine, reading(engine) as session:
        assert newest_guideline(session) is None
    with pytest.raises(UnknownNameError, match="unknown guideline version `newest`; there is no"):
        collection.guidelines.get()
    collection.guidelines.add("a")
    with pytest.raises(UnknownNameError, match="unknown guideline version `7`; known: `1`"):
        collection.guidelines.get(7)


@pytest.mark.parametrize("text", ["", " \r\n\t\n"])
def test_blank_guidelines_are_refused(collection: Collection, text: str) -> None:
    """A text of blanks is no guideline."""
    with pytest.raises(ArgumentError, match="`guidelines` must hold a text"):
        collection.guidelines.add(text)
    assert collection.guidelines.all() == []


def test_newest_is_what_a_judge_is_shown(collection: Collection, collection_name: str) -> None:
    """The newest version comes raw; the desk sanitises it."""
    collection.guidelines.add("old")
    collection.guidelines.add("new\x1b[2J")
    with engine_of(collection_name) as engine, reading(engine) as session:
        newest = newest_guideline(session)
    assert newest is not None
    assert (newest.version, newest.text) == (2, "new\x1b[2J")
