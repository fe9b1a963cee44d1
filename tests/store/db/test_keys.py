"""Ids of docnos: new ones in the order of their names, on both engines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sqlmodel import Session

from store.collection import Collection
from store.content.rankings import NumberedDocuments
from store.db import keys as module
from store.db.engine import reading, writing
from store.db.keys import Keys, document_keys, fetch_docnos, topic_keys
from store.errors import StoreError
from tests.helpers.world import engine_of, make_run

NAMES = ["b", "a", "é", "A", "\U0001f377", '"quoted"', "%s", "?", ":name", "NA", "0", "1'"]


@pytest.fixture
def session(collection: Collection, collection_name: str) -> Iterator[Session]:
    """Open a writing session, on each engine in turn."""
    with engine_of(collection_name) as engine, writing(engine, bulk=True) as opened:
        yield opened


@pytest.mark.parametrize("make", [document_keys, topic_keys])
def test_new_names_get_rising_ids(session: Session, make: type[Keys]) -> None:
    """Ids rise in the order of the names; known names and repeated ones add nothing."""
    keys = make()
    keys.refresh(session)
    assert keys.add(session, [*NAMES, *NAMES]) == len(NAMES)
    ids = [keys.ids[name] for name in NAMES]
    assert ids == sorted(set(ids))
    assert keys.add(session, ["z", NAMES[3], "y"]) == 2
    assert max(ids) < keys.ids["z"] < keys.ids["y"]
    assert keys.names == {number: name for name, number in keys.ids.items()}
    afresh = make()
    afresh.refresh(session)
    assert afresh.ids == keys.ids


def test_rows_of_others_are_learnt(collection: Collection, collection_name: str) -> None:
    """What another process added is read by the next `refresh`, and names follow ids."""
    keys = document_keys()
    with engine_of(collection_name) as engine:
        with reading(engine) as session:
            keys.refresh(session)
        assert keys.names == {}
        for tag in ("r", "s"):
            collection.runs.add(make_run(tag, {"1": [(f"{tag}1", 1.0), ("both", 0.5)]}))
            with reading(engine) as session:
                keys.refresh(session)
            assert keys.names == {number: name for name, number in keys.ids.items()}
    assert sorted(keys.ids) == ["both", "r1", "s1"]
    keys.forget()
    assert (keys.ids, keys.names) == ({}, {})


def test_many_names_are_added_in_batches(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """More names than one statement takes are all there, in order."""
    monkeypatch.setattr(module, "_IDS_A_QUERY", 3)
    keys = document_keys()
    keys.refresh(session)
    names = [f"d{number}" for number in range(40, 0, -1)]
    assert keys.add(session, names) == 40
    assert sorted(keys.ids, key=keys.ids.__getitem__) == names
    afresh = document_keys()
    afresh.refresh(session)
    assert afresh.ids == keys.ids
    wanted = [keys.ids[name] for name in names[5:25]]
    assert fetch_docnos(session, [*wanted, *wanted, 10**6]) == dict(zip(wanted, names[5:25], strict=True))


def test_docnos_of_a_collection(collection: Collection) -> None:
    """Docnos come by id; ids that no document has are left out."""
    collection.runs.add(make_run("r", {"1": [("a", 1.0), ("b", 0.5)]}))
    ids = collection.runs.top(depth=None).ids[0, 0].tolist()
    assert collection.documents.names(ids) == dict(zip(ids, "ab", strict=True))
    with pytest.raises(StoreError, match="document number 99, which is not there"):
        collection.documents.names([*ids, 99])
    assert collection.documents.names(np.array(ids)[1:].tolist()) == {ids[1]: "b"}
    assert collection.documents.names([]) == {}


def test_numbers_wait_until_they_are_settled(session: Session) -> None:
    """Row ids that were proposed and not settled are worked out again."""
    documents = document_keys()
    documents.refresh(session)
    documents.add(session, ["b"])
    numbered = NumberedDocuments()
    numbered.extend(["a", "b"])
    first = numbered.resolve(session, documents)
    assert first.tolist() == [documents.ids["a"], documents.ids["b"]]
    # As after a transaction that was rolled back: ids may be others the next time.
    documents.ids["a"] = 77
    assert numbered.resolve(session, documents).tolist() == [77, documents.ids["b"]]
    numbered.settle()
    documents.ids["a"] = 78
    numbered.extend(["c"])
    assert numbered.resolve(session, documents).tolist() == [77, documents.ids["b"], documents.ids["c"]]
