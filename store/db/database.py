"""A collection's database, opened: its name and scale, the transactions on it, and its keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from itertools import chain
from types import TracebackType
from typing import NamedTuple, Self

from sqlalchemy import select
from sqlmodel import Session

from store.db.digests import CHANGING, broken_indexes, wrong_events, wrong_pools, wrong_runs, wrong_tables
from store.db.engine import (
    DAMAGED,
    DAMAGED_HINT,
    check_schema,
    collection_url,
    display,
    engine_at,
    make_engine,
    reading,
    unreadable_as_damage,
    writing,
)
from store.db.keys import Keys, document_keys, topic_keys
from store.db.schema import create_schema
from store.db.tables import TABLES, CollectionRow
from store.errors import StoreError
from store.formats.scale import scale_from_json, scale_to_json
from store.records import Scale

_MEASURED = ("collection", "topic", "judge", "run", "pool", "pool_run", "pool_topic", "qrels")
"""Small tables that measures and qrels rest on; an exported collection has all of them checked."""


class Inside(NamedTuple):
    """One transaction on a collection, and the keys that go with it."""

    session: Session
    topics: Keys
    documents: Keys


class Database:
    """The database of one collection: a file path or a ``postgresql://`` URL.

    `StoreError`: no collection is there, or it cannot be reached. `SchemaError`: its schema is older or newer
    than this program's.
    """

    def __init__(self, name: str) -> None:
        self.engine = make_engine(collection_url(name))
        self.documents = document_keys()
        self.topics = topic_keys()
        self._found_whole: set[tuple[str, str]] = set()
        try:
            check_schema(self.engine)
            with unreadable_as_damage(self.engine), self.reading() as session:
                table = TABLES["collection"]
                row = session.execute(select(table.c.name, table.c.scale, table.c.fields)).one()
                self.name: str = row.name
                self.scale: Scale = scale_from_json(json.loads(row.scale))
                self.fields: tuple[str, ...] = tuple(json.loads(row.fields or "[]"))
                """Of documents: what judges are shown above the text."""
        except BaseException:
            self.engine.dispose()
            raise

    @classmethod
    def create(cls, where: str, *, name: str, scale: Scale, program: str) -> Self:
        """Make an empty collection at a file path or in an empty PostgreSQL database, and open it."""
        declared = json.dumps(scale_to_json(scale), ensure_ascii=False)
        now = datetime.now(UTC)
        row = CollectionRow(name=name, scale=declared, created_at=now, created_by=program)
        with engine_at(collection_url(where)) as engine:
            create_schema(engine, row)
        return cls(where)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return display(self.engine.url)

    def check_digests(
        self,
        session: Session,
        *,
        judgements: bool = False,
        work: bool = False,
        runs: Sequence[str] = (),
        pool: str = "",
    ) -> None:
        """Raise `StoreError` where what is about to be published or measured is not as it was written.

        The small tables that say what is measured, and what is named; each once while the collection is open.
        `work`: answers of models, places at documents, sittings, and all small tables.
        """
        finders: dict[tuple[str, str], Iterator[str]] = {
            ("tables", ""): wrong_tables(session, _MEASURED),
            ("indexes", ""): broken_indexes(session, *_MEASURED),
        }
        if judgements:
            judged = ("judgement", "passage", "pool_entry", "assignment")
            finders["indexes of judgements", ""] = broken_indexes(session, *judged)
            finders["judgements", ""] = wrong_events(session)
            finders["pools", ""] = wrong_pools(session)
        if work:
            more = (wrong_events(session, TABLES[name]) for name in ("answer", *CHANGING))
            finders["work", ""] = chain(wrong_tables(session), *more)
        if pool:
            finders["pool", pool] = wrong_pools(session, pool)
        finders |= {("run", tag): wrong_runs(session, tag) for tag in runs}
        for what in [one for one in finders if one not in self._found_whole]:
            if fault := next(finders[what], None):
                message = f"{self.where}: {DAMAGED}: {fault}"
                raise StoreError(message, hint=DAMAGED_HINT)
            self._found_whole.add(what)

    def reading(self) -> AbstractContextManager[Session]:
        """Open a transaction that sees one state of everything, whatever judges do meanwhile."""
        return reading(self.engine)

    @contextmanager
    def reading_topics(self) -> Iterator[tuple[Session, Keys]]:
        """Open such a transaction with fresh keys of topics."""
        with reading(self.engine) as session:
            self.topics.refresh(session)
            yield session, self.topics

    @contextmanager
    def reading_keyed(self) -> Iterator[Inside]:
        """Open such a transaction with fresh keys of topics and documents."""
        with reading(self.engine) as session:
            yield self._inside(session)

    def writing(self, *, bulk: bool = False) -> AbstractContextManager[Session]:
        """Open a transaction that writes: wholly, or on any error nothing."""
        return writing(self.engine, bulk=bulk)

    @contextmanager
    def filling(self) -> Iterator[Inside]:
        """Open one that adds topics and documents; its keys are forgotten again on an error."""
        try:
            with writing(self.engine, bulk=True) as session:
                yield self._inside(session)
        except BaseException:
            self.topics.forget()
            self.documents.forget()
            raise

    def _inside(self, session: Session) -> Inside:
        self.topics.refresh(session)
        self.documents.refresh(session)
        return Inside(session, self.topics, self.documents)


class Area:
    """One part of a collection's methods, each a transaction of its own: all it says, or nothing."""

    def __init__(self, db: Database) -> None:
        self._db = db
