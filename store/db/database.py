"""A collection's database: its tables made, and opened, with its name, scale, keys and transactions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import inspect, select, text
from sqlmodel import Session, SQLModel

from store.db.columns import insert_row
from store.db.digests import CHANGING, broken_indexes, wrong_events, wrong_pools, wrong_runs, wrong_tables
from store.db.engine import (
    SCHEMA_REVISION,
    check_revision,
    collection_url,
    damaged,
    display,
    engine_at,
    make_engine,
    reading,
    unreadable_as_damage,
    writing,
)
from store.db.files import check_folder
from store.db.keys import Keys, document_keys, topic_keys
from store.db.tables import COLLECTION, QRELS, TABLES
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
            check_revision(self.engine)
            with unreadable_as_damage(self.engine), self.reading() as session:
                about = COLLECTION.c
                row = session.execute(select(about.name, about.scale, about.fields)).one()
                self.name: str = row.name
                self.scale: Scale = scale_from_json(json.loads(row.scale))
                self.fields: tuple[str, ...] = tuple(json.loads(row.fields or "[]"))
                """Of documents: what judges are shown above the text."""
        except BaseException:
            self.engine.dispose()
            raise

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
                raise damaged(self.where, fault)
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


def create_database(where: str, *, name: str, scale: Scale, program: str) -> None:
    """Make all tables of the newest schema in an empty database, the row that names it, and its qrels."""
    declared = json.dumps(scale_to_json(scale), ensure_ascii=False)
    url, now = collection_url(where), datetime.now(UTC)
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        check_free_place(file)
        with suppress(OSError):
            file.touch(0o600)
    with engine_at(url) as engine, writing(engine, bulk=True, creates=True) as session:
        make_tables(session)
        collection = {"name": name, "scale": declared, "created_by": program}
        insert_row(session, COLLECTION, **collection, created_at=now)
        insert_row(session, QRELS, name="official", version=1, rule="{}", is_default=True, created_at=now)


def make_tables(session: Session) -> None:
    """Make all tables of the newest schema in an empty database.

    `StoreError`: it already holds a collection or something else, or could not hold every text.
    """
    connection = session.connection()
    where = display(connection.engine.url)
    taken = sorted(set(inspect(connection).get_table_names()) & {*TABLES, "alembic_version"})
    if taken:
        message = f"{where} holds a table `{taken[0]}` of another program"
        if {"collection", "alembic_version"}.issubset(taken):
            message = f"{where} already holds a collection"
        raise StoreError(message, hint="choose another database with --collection")
    if connection.dialect.name == "postgresql":
        encoding = connection.execute(text("SHOW server_encoding")).scalar()
        if encoding != "UTF8":
            message = f"{where} has the encoding {encoding}, which not every text fits"
            raise StoreError(message, hint="CREATE DATABASE ... ENCODING 'UTF8'")
        # The models state the conditions of partial indexes for SQLite alone: for both, they would import all
        # of SQLAlchemy's PostgreSQL at every start.
        for index in (index for table in TABLES.values() for index in table.indexes):
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
    SQLModel.metadata.create_all(connection, checkfirst=False)
    connection.exec_driver_sql(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL"
        ", CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{SCHEMA_REVISION}')")


def check_free_place(file: Path) -> None:
    """Refuse to make a collection file where there is something already, or no folder to write to."""
    if file.is_dir():
        raise StoreError(f"{file} is a folder", hint="name a file in it with --collection")
    if file.exists() and file.stat().st_size:
        with engine_at(file) as engine:
            check_revision(engine)
        raise StoreError(f"{file} already holds a collection", hint="choose another file with --collection")
    if not file.parent.is_dir():
        raise StoreError(f"{file}: the folder {file.parent} does not exist")
    check_folder(file)
