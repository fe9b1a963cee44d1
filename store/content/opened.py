"""A collection's database, opened: its name and scale, and the transactions on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from sqlalchemy import select
from sqlmodel import Session

from store.content.runs import StoredRun, check_tags
from store.db.engine import (
    MISREAD,
    check_schema,
    collection_url,
    damage_told,
    display,
    make_engine,
    reading,
    writing,
)
from store.db.keys import Keys, document_keys, topic_keys
from store.db.schema import create_schema
from store.db.tables import TABLES, CollectionRow
from store.formats.scale import scale_from_json, scale_to_json
from store.records import Scale
from store.text import Pairs


@dataclass(frozen=True, slots=True)
class Inside:
    """One transaction on a collection, and the keys that go with it."""

    session: Session
    topics: Keys
    documents: Keys


class OpenCollection:
    """A test collection: one SQLite file or one PostgreSQL database.

    Parameters
    ----------
    name : str
        A file path or a ``postgresql://`` URL.

    Raises
    ------
    StoreError
        If there is no collection there, or it cannot be reached.
    SchemaError
        If its schema is older or newer than this program's.
    """

    def __init__(self, name: str) -> None:
        self._engine = make_engine(collection_url(name))
        self._documents = document_keys()
        self._topics = topic_keys()
        try:
            check_schema(self._engine)
            with reading(self._engine) as session:
                table = TABLES["collection"]
                row = session.execute(select(table.c.name, table.c.scale)).one()
        except BaseException:
            self._engine.dispose()
            raise
        self.name: str = row.name
        self.scale: Scale = scale_from_json(json.loads(row.scale))

    @classmethod
    def create(cls, where: str, *, name: str, scale: Scale, program: str) -> Self:
        """Make an empty collection and open it.

        Parameters
        ----------
        where : str
            A file path or a ``postgresql://`` URL of an empty database.
        name : str
            What the collection is called.
        scale : Scale
            The declared grades.
        program : str
            Name and version of the program, kept in the collection.

        Raises
        ------
        StoreError
            If there is a collection already.
        """
        declared = json.dumps(scale_to_json(scale), ensure_ascii=False)
        now = datetime.now(UTC)
        row = CollectionRow(name=name, scale=declared, created_at=now, created_by=program)
        engine = make_engine(collection_url(where))
        try:
            create_schema(engine, row)
        finally:
            engine.dispose()
        return cls(where)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, MISREAD):
                # A value may be made sense of, and fail, long after it was read.
                with damage_told(self._engine):
                    raise error
        finally:
            self.close()

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @property
    def where(self) -> str:
        """The file, or the URL without its password."""
        return display(self._engine.url)

    @property
    def look_alikes(self) -> Pairs:
        """Documents added here whose docnos differ from others in Unicode normal form alone."""
        return self._documents.look_alikes

    def runs(self, tags: Sequence[str] = ()) -> list[StoredRun]:
        """Return the named runs, or all, by tag; raise `UnknownNameError` for an unknown tag."""
        with reading(self._engine) as session:
            return check_tags(session, tags)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        """Open a reading session with fresh keys."""
        with reading(self._engine) as session:
            self._topics.refresh(session)
            self._documents.refresh(session)
            yield session

    @contextmanager
    def _importing(self) -> Iterator[Session]:
        """Open a bulk writing session with fresh keys, forgotten again on an error."""
        try:
            with writing(self._engine, bulk=True) as session:
                self._topics.refresh(session)
                self._documents.refresh(session)
                yield session
        except BaseException:
            self._topics.forget()
            self._documents.forget()
            raise

    @contextmanager
    def as_it_stands(self) -> Iterator[Inside]:
        """Open a transaction that sees one state of everything, whatever judges do meanwhile."""
        with self._reading() as session:
            yield Inside(session, self._topics, self._documents)

    @contextmanager
    def being_filled(self) -> Iterator[Inside]:
        """Open a transaction that fills the collection: wholly, or on any error not at all."""
        with self._importing() as session:
            yield Inside(session, self._topics, self._documents)
