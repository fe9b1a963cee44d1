"""Documents of several copies."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from store.collection import Collection
from store.db.engine import reading
from store.db.tables import DOCUMENT
from store.records import Document
from tests.helpers.world import engine_of, make_pool, new_collection
from tests.store.keeping.merge.apart import copies, merge


def test_every_text_of_a_copy_comes_in(tmp_path: Path) -> None:
    """Texts are copied some hundred at a time, and none of 501 is left behind."""
    start = tmp_path / "whole.db"
    texts = {f"x{number}": f"text of x{number}" for number in range(501)}
    with new_collection(str(start)) as opened:
        opened.pools.add(make_pool({"1": list(texts)}))
    [other] = copies(start, 1)
    with Collection(str(other)) as opened:
        opened.documents.add([Document(docno, docno, text) for docno, text in texts.items()])
    assert merge(start, other).copies[0].new["texts"] == 501
    with engine_of(str(start)) as engine, reading(engine) as session:
        found = session.execute(select(DOCUMENT.c.docno, DOCUMENT.c.text))
        assert {row.docno: row.text for row in found} == texts
