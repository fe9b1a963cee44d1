"""What many queries ask alike: rows by their names and keys."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.content.lookup import row_named, rows_by_key
from store.db.engine import reading
from store.db.tables import DOCUMENT, TOPIC
from store.errors import UnknownNameError
from store.records import Document, Topic


def test_rows_of_many_keys_are_read_so_many_a_query(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each key once, in whatever order; keys that no row has are left out."""
    collection.documents.add([Document(docno) for docno in "abcde"])
    monkeypatch.setattr("store.content.lookup._KEYS_A_QUERY", 2)
    with reading(collection._db.engine) as session:
        found = rows_by_key(session, ["e", "a", "c", "z", "a"], DOCUMENT.c.docno, DOCUMENT.c.id)
    assert {docno: row.id for docno, row in found.items()} == {"a": 1, "c": 3, "e": 5}


def test_row_is_found_by_its_name_with_the_columns_asked_for(collection: Collection) -> None:
    """A name that nothing has is an error that lists those there are."""
    collection.topics.add([Topic("9", "nine"), Topic("10", "ten")])
    with reading(collection._db.engine) as session:
        row = row_named(session, "topic", TOPIC.c.number, "9", "title")
        assert tuple(row) == ("nine",)
        assert row_named(session, "topic", TOPIC.c.number, "10").title == "ten"
        with pytest.raises(UnknownNameError, match="unknown topic `11`; known: `9`, `10`") as caught:
            row_named(session, "topic", TOPIC.c.number, "11", hint="look")
    assert caught.value.hint == "look"
