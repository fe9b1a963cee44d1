"""Queries on documents and their texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    Select,
    bindparam,
    cast,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlmodel import Session

from store.content.lookup import to_judge
from store.content.pools import draws_left, is_adaptive
from store.db.database import Area
from store.db.digests import add_docnos, document_values
from store.db.engine import DAMAGED, DAMAGED_HINT
from store.db.keys import fetch_docnos
from store.db.tables import COLLECTION, DOCUMENT, DOCUMENT_METADATA, JUDGEMENT, POOL, POOL_ENTRY
from store.errors import ConflictError, StoreError
from store.records import Document, ImportReport

_BATCH = 500
_TEXTS = ("title", "text", "sha256")
_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class TextCounts:
    """How many documents, not pairs, have no text."""

    missing: int = 0
    """Pooled documents without text."""
    pooled: int = 0
    """Documents to be judged in a pool not withdrawn."""
    missing_undrawn: int = 0
    """Documents without text among `undrawn`."""
    undrawn: int = 0
    """Documents not pooled that adaptive pools, were anybody to draw, have yet to choose from."""


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _json(values: object) -> str:
    return json.dumps(values, ensure_ascii=False)


def document_sha256(document: Document) -> str:
    """Hash title and text, so that a judgement records which text it was made on."""
    title, text = _raw(document.title), _raw(document.text or "")
    # The length says where the title ends; no character could.
    return hashlib.sha256(b"%d " % len(title) + title + text).hexdigest()


def _ids_in_use() -> Select[int]:
    """Select the ids of documents with an entry in a pool not withdrawn, once an entry."""
    return (
        select(POOL_ENTRY.c.document_id)
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(~POOL.c.withdrawn)
    )


def _is_of_interest() -> ColumnElement[bool]:
    """Return the SQL condition that a document is to be judged for some topic, or has an event."""
    pooled = to_judge(POOL_ENTRY.c.document_id)
    return or_(DOCUMENT.c.id.in_(pooled), DOCUMENT.c.id.in_(select(JUDGEMENT.c.document_id)))


def _stored_texts(session: Session, ids: list[int]) -> dict[int, tuple[bytes, bytes | None]]:
    """Return title and text of documents as bytes, whatever they may have become."""
    stored = (cast(column, LargeBinary) for column in (DOCUMENT.c.title, DOCUMENT.c.text))
    query = select(DOCUMENT.c.id, *stored).where(DOCUMENT.c.id.in_(ids))
    return {row_id: (title or b"", text) for row_id, title, text in session.execute(query)}


def _batches(things: Iterable[_Thing]) -> Iterator[tuple[_Thing, ...]]:
    iterator = iter(things)
    while batch := tuple(islice(iterator, _BATCH)):
        yield batch


Metadata = tuple[str | None, dict[str, str]]
"""Markup, and the values of fields by name."""


def fetch_metadata(session: Session, ids: Iterable[int] | None = None) -> dict[int, Metadata]:
    """Return what is known besides title and text, of some documents or all, by row id."""
    query = select(DOCUMENT_METADATA)
    if ids is not None:
        query = query.where(DOCUMENT_METADATA.c.document_id.in_(ids))
    return {row.document_id: (row.markup, json.loads(row.fields)) for row in session.execute(query)}


def differing(one: Metadata, other: Metadata) -> str | None:
    """Return the first field that two documents have with different values; ``None`` = none."""
    if one[0] and other[0] and one[0] != other[0]:
        return "markup"
    return next((name for name, value in one[1].items() if other[1].get(name, value) != value), None)


class Documents(Area):
    """The documents of a collection, with or without their texts."""

    def add(
        self,
        documents: Iterable[Document],
        *,
        all_texts: bool = False,
        replace: bool = False,
        fields: Sequence[str] | None = None,
    ) -> ImportReport:
        """Add documents, read in batches, each docno once; texts are stored of pooled documents, or of all.

        With `replace` another text takes the place of the stored one, and so does any text of one that is
        damaged: not the text its hash was made of. Without it another text raises `ConflictError`. Fields and
        markup go with a text; what is stored of them already stays, and another value is as another text is.
        `fields`: those that judges are shown from now on, in this order; ``None`` = as it was.
        """
        with self._db.filling() as (session, _, keys):
            added = unchanged = replaced = n_texts = left_out = without_text = described = 0
            # To be judged, or waiting to be drawn.
            is_shown = POOL_ENTRY.c.sampled | is_adaptive(POOL_ENTRY.c.pool_id)
            pooled: set[int] = set(session.scalars(_ids_in_use().where(is_shown)))
            new_values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _TEXTS}
            own = DOCUMENT.c.id == bindparam("row_id")
            statement = update(DOCUMENT).where(own).values(listed=True, **new_values)
            for batch in _batches(documents):
                keys.add(session, (document.docno for document in batch))
                ids = [keys.ids[document.docno] for document in batch]
                columns = (DOCUMENT.c.id, DOCUMENT.c.listed, DOCUMENT.c.sha256)
                found = session.execute(select(*columns).where(DOCUMENT.c.id.in_(ids)))
                stored = {row_id: (listed, sha256) for row_id, listed, sha256 in found}
                texts = _stored_texts(session, ids) if replace else {}
                metadata = fetch_metadata(session, ids)
                changes: list[dict[str, Any]] = []
                described_now: dict[int, Metadata] = {}
                for row_id, document in zip(ids, batch, strict=True):
                    listed, old = stored[row_id]
                    wanted = all_texts or row_id in pooled or old is not None
                    keeps_text = wanted and document.text is not None
                    new = document_sha256(document) if keeps_text else None
                    left_out += document.text is not None and not wanted
                    without_text += document.text is None
                    raw = (_raw(document.title), _raw(document.text or "")) if keeps_text else (b"", None)
                    is_whole = row_id not in texts or texts[row_id] == raw
                    is_same = listed and (document.text is None or (old == new and is_whole))
                    if wanted and (document.fields or document.markup):
                        before = metadata.get(row_id, (None, {}))
                        now = (document.markup or before[0], {**before[1], **dict(document.fields)})
                        another = differing(before, (document.markup, dict(document.fields)))
                        if another is not None and not replace:
                            message = f"document `{document.docno}` exists with another {another}"
                            raise ConflictError(message, hint="--replace takes the new one")
                        if now != before:
                            described_now[row_id] = now
                            if is_same:
                                replaced += another is not None
                                described += another is None
                                continue
                    if is_same:
                        unchanged += 1
                        continue
                    if old is not None:
                        if not replace:
                            message = f"document `{document.docno}` exists with another text"
                            raise ConflictError(message, hint="--replace takes the new text")
                        replaced += 1
                    elif listed:
                        n_texts += 1
                    else:
                        added += 1
                    texts_now = (document.title, document.text, new) if keeps_text else (None,) * 3
                    named = zip(_TEXTS, texts_now, strict=True)
                    changes.append({"row_id": row_id} | {f"new_{name}": value for name, value in named})
                if changes:
                    session.connection().execute(statement, changes)
                    new_hashes = [(one["row_id"], 1, one["new_sha256"]) for one in changes]
                    old = ((one, *stored[one]) for one, *_ in new_hashes)
                    values = ((one, keys.names[one], *rest) for one, *rest in chain(old, new_hashes))
                    add_docnos(session, (document_values(*one) for one in values))
                if described_now:
                    is_there = DOCUMENT_METADATA.c.document_id.in_(described_now)
                    session.execute(delete(DOCUMENT_METADATA).where(is_there))
                    written = [
                        {"document_id": one, "markup": markup, "fields": _json(values)}
                        for one, (markup, values) in described_now.items()
                    ]
                    session.connection().execute(insert(DOCUMENT_METADATA), written)
            if fields is not None and tuple(fields) != self._db.fields:
                names = _json(list(fields)) if fields else None
                session.execute(update(COLLECTION).values(fields=names))
            report = ImportReport(added, unchanged, replaced, without_text, n_texts, left_out, described)
        if fields is not None:
            self._db.fields = tuple(fields)
        return report

    def get(self, docno: str) -> Document | None:
        """Return a document, its text ``None`` when it is not stored; ``None`` = no such docno."""
        return next(iter(self.read([docno])), None)

    def with_texts(self) -> list[str]:
        """Return the docnos of documents whose text is here, bytewise."""
        with self._db.reading() as session:
            return sorted(session.scalars(select(DOCUMENT.c.docno).where(DOCUMENT.c.text.is_not(None))))

    def read(self, docnos: Iterable[str]) -> list[Document]:
        """Return the documents of some docnos, in their order; unknown ones are passed over."""
        documents = []
        with self._db.reading() as session:
            for some in _batches(docnos):
                rows = session.execute(select(DOCUMENT).where(DOCUMENT.c.docno.in_(some)))
                found = {row.docno: row for row in rows}
                known = fetch_metadata(session, [row.id for row in found.values()])
                for row in (found[docno] for docno in some if docno in found):
                    markup, fields = known.get(row.id, (None, {}))
                    text = Document(row.docno, row.title or "", row.text, tuple(fields.items()), markup)
                    documents.append(text)
        return documents

    def texts(self, *, pooled: bool = True) -> Iterator[tuple[str, str]]:
        """Yield docno, and title and text as they are read, of the documents that have a text, by docno.

        By default of those to be judged, or looked at.
        """
        from store.formats.markup import MOST_CHARACTERS, readable

        with self._db.reading() as session:
            query = select(DOCUMENT.c.id).where(DOCUMENT.c.sha256.is_not(None)).order_by(DOCUMENT.c.docno)
            ids = session.scalars(query.where(_is_of_interest()) if pooled else query).all()
            columns = [DOCUMENT.c[name] for name in ("docno", "title", "text")]
            query = select(*columns, DOCUMENT_METADATA.c.markup).outerjoin(
                DOCUMENT_METADATA, DOCUMENT_METADATA.c.document_id == DOCUMENT.c.id
            )
            for some in _batches(ids):
                rows = session.execute(query.where(DOCUMENT.c.id.in_(some)).order_by(DOCUMENT.c.docno))
                for docno, title, text, markup in rows:
                    words = readable(text or "", markup).text if markup in MOST_CHARACTERS else text or ""
                    yield docno, f"{title or ''}\n{words}"

    def count_texts(self, *, pooled: bool = True) -> tuple[int, int]:
        """Count the documents of `texts`, and those that have no text to be compared."""
        with self._db.reading() as session:
            query = select(func.count(DOCUMENT.c.sha256), func.count()).select_from(DOCUMENT)
            with_text, every = session.execute(query.where(_is_of_interest()) if pooled else query).one()
            return with_text, every - with_text

    def listed(self) -> set[str]:
        """Return the docnos that a documents file named; empty = none was imported."""
        with self._db.reading() as session:
            return set(session.scalars(select(DOCUMENT.c.docno).where(DOCUMENT.c.listed)))

    def count_without_text(self) -> TextCounts:
        """Count pooled documents without text, and those that adaptive pools choose from apart."""
        with self._db.reading() as session:
            in_use = _ids_in_use()
            pooled = in_use.where(POOL_ENTRY.c.sampled)
            left = draws_left().subquery()
            open_here = exists().where(
                left.c.pool_id == POOL_ENTRY.c.pool_id, left.c.topic_id == POOL_ENTRY.c.topic_id
            )
            is_pooled = POOL_ENTRY.c.document_id.in_(pooled.correlate(None))
            open_pools = in_use.where(is_adaptive(POOL_ENTRY.c.pool_id), open_here)
            undrawn = open_pools.where(~POOL_ENTRY.c.sampled, ~is_pooled)
            counts: list[int] = []
            for ids in (pooled, undrawn):
                both = select(func.count().filter(DOCUMENT.c.text.is_(None)), func.count())
                counts += session.execute(both.where(DOCUMENT.c.id.in_(ids))).one()
            return TextCounts(*counts)

    def names(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the docnos of some document ids; raise `StoreError` where one is not there: damage."""
        asked = set(ids)
        with self._db.reading() as session:
            found = fetch_docnos(session, asked)
        if unknown := asked - found.keys():
            message = f"{DAMAGED}: a ranking names document number {min(unknown)}, which is not there"
            raise StoreError(message, hint=DAMAGED_HINT)
        return found

    def lengths(self, ids: Iterable[int]) -> dict[int, int]:
        """Return the characters of the text, as stored, of those of some document ids that have one."""
        query = select(DOCUMENT.c.id, DOCUMENT.c.text).where(DOCUMENT.c.text.is_not(None))
        with self._db.reading() as session:
            some = (session.execute(query.where(DOCUMENT.c.id.in_(one))) for one in _batches(ids))
            return {number: len(text) for rows in some for number, text in rows}

    def numbers(self) -> Mapping[str, int]:
        """Return the id of every docno, as rankings and grades have it."""
        with self._db.reading_keyed() as (_, _, documents):
            return documents.ids
