"""The tables are made, where nothing else is."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine, inspect, text
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Session, SQLModel

from store.db.engine import SCHEMA_REVISION, check_schema, display, engine_at, writing
from store.db.tables import TABLES, CollectionRow, QrelsRow
from store.errors import StoreError


def create_schema(engine: Engine, collection: CollectionRow) -> None:
    """Make all tables of the newest schema in an empty database, and the row that names it."""
    url = engine.url
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        check_free_place(file)
        # SQLite says better why it cannot be written.
        with suppress(OSError):
            file.touch(0o600)
    with writing(engine, bulk=True, creates=True) as session:
        make_tables(session)
        session.add_all([collection, official(collection.created_at)])


def official(created_at: datetime) -> QrelsRow:
    """Return the qrels that every collection has from the start, and measures with by default."""
    return QrelsRow(name="official", version=1, rule="{}", is_default=True, created_at=created_at)


def revision() -> str:
    """Return what `SCHEMA_REVISION` is to be: 1 and a hash of what makes the tables on SQLite."""
    made = sorted(SQLModel.metadata.sorted_tables, key=lambda table: table.name)
    dialect = SQLiteDialect_pysqlite()
    parts = [CreateTable(table).compile(dialect=dialect) for table in made]
    parts += [
        CreateIndex(index).compile(dialect=dialect)
        for table in made
        for index in sorted(table.indexes, key=lambda index: str(index.name))
    ]
    return f"1_{hashlib.sha256(' '.join(map(str, parts)).encode()).hexdigest()[:8]}"


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
        keep_indexes_partial()
    SQLModel.metadata.create_all(connection)
    connection.exec_driver_sql(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL"
        ", CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{SCHEMA_REVISION}')")


def keep_indexes_partial() -> None:
    """Give PostgreSQL the conditions of partial indexes, which the models state for SQLite.

    Stated there for both, they would import all of SQLAlchemy's PostgreSQL at every start.
    """
    for table in TABLES.values():
        for index in table.indexes:
            condition = index.dialect_options["sqlite"]["where"]
            index.dialect_options["postgresql"]["where"] = condition


def check_free_place(file: Path) -> None:
    """Refuse to make a collection file where there is something already, or no folder."""
    if file.is_dir():
        message = f"{file} is a folder"
        raise StoreError(message, hint="name a file in it with --collection")
    if file.exists() and file.stat().st_size:
        with engine_at(file) as engine:
            check_schema(engine)
        message = f"{file} already holds a collection"
        raise StoreError(message, hint="choose another file with --collection")
    if not file.parent.is_dir():
        message = f"{file}: the folder {file.parent} does not exist"
        raise StoreError(message)
