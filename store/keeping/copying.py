"""A whole collection from one database into another, row by row, with its row ids.

Rows travel as SQLite has them: moments as text in UTC, truth as 0 and 1. PostgreSQL is asked for
them in that form and takes them in it, so that nothing is converted here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Table, func, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError
from sqlmodel import Session, SQLModel

from store.db.engine import check_schema, display, make_engine, reading, translated_errors, writing
from store.db.files import check_folder, made_whole
from store.db.raw import is_postgresql, raw_rows
from store.db.schema import check_free_place, make_tables
from store.errors import ArgumentError, StoreError
from store.keeping.directory.tables import Progress, no_progress

_BATCH = 2000
"""Rows written between two steps of a progress bar."""

Counts = dict[str, int]
"""Rows by table."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What `copy_collection` did."""

    counts: Counts

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return sum(self.counts.values())


def copy_collection(source: URL, target: URL, *, progress: Progress = no_progress) -> Copied:
    """Copy a whole collection into an empty place, on the same engine or the other.

    One state of the source is read and one transaction written; nothing is left where a value does not fit
    (`StoreError`). A file appears under its name when all is in it and on the disk. Row ids are kept, and
    what comes next gets the next ones.
    """
    if source == target:
        raise ArgumentError("TO", "must be another place than FROM", display(target))
    engine = make_engine(source)
    try:
        check_schema(engine)
        if target.get_backend_name() == "postgresql":
            with reading(engine) as session:
                return Copied(_fill(session, target, progress))
        file = Path(target.database or "")
        check_free_place(file)
        check_folder(file)
        with reading(engine) as session, made_whole(file, replaces=file.exists()) as part:
            return Copied(fill_file(session, part, progress))
    finally:
        engine.dispose()


def fill_file(session: Session, part: Path, progress: Progress) -> Counts:
    """Copy what a reading session sees into a SQLite file that is not there yet; return rows by table."""
    return _fill(session, URL.create("sqlite", database=str(part)), progress)


def count_rows(session: Session) -> Counts:
    """Count the rows of every table."""
    return {
        table.name: session.scalar(select(func.count()).select_from(table)) or 0
        for table in SQLModel.metadata.sorted_tables
    }


def _fill(session: Session, target: URL, progress: Progress) -> Counts:
    """Copy all rows into an empty database, in one transaction."""
    counts = count_rows(session)
    engine = make_engine(target)
    try:
        with (
            _told_by(engine),
            progress("copying rows", sum(counts.values())) as advance,
            writing(engine, bulk=True, creates=True) as into,
        ):
            make_tables(into)
            # What refers to a table comes after it; of one table, what came first comes first.
            for table in SQLModel.metadata.sorted_tables:
                write = _write_postgresql if is_postgresql(into) else _write_sqlite
                # Left half read, as by Ctrl-C, it must not outlive its connection.
                with closing(_rows(session, table)) as rows:
                    write(into, table, _counting(rows, advance))
            written = count_rows(into)
            if written != counts:
                name = next(name for name in counts if counts[name] != written[name])
                message = f"`{name}` has {counts[name]} rows, and {written[name]} were written"
                raise StoreError(message, hint="nothing was copied; pooler verify says more")
        return counts
    finally:
        engine.dispose()


@contextmanager
def _told_by(engine: Engine) -> Iterator[None]:
    """Word what an engine says of a value it cannot take, or of the connection."""
    driver: Any = engine.dialect.loaded_dbapi
    try:
        yield
    except (DatabaseError, driver.Error) as error:
        cause = error.orig if isinstance(error, DatabaseError) else error
        reason = next(iter(str(cause).strip().splitlines()), "no reason given")
        where = display(engine.url)
        if isinstance(cause, driver.OperationalError):
            message = f"{where}: {reason}"
            raise StoreError(message, hint="nothing was copied") from error
        message = f"{where} cannot take a value: {reason}"
        hint = "nothing was copied; pooler verify says what is wrong with the collection"
        raise StoreError(message, hint=hint) from error


def _counting(rows: Iterator[Sequence[Any]], advance: Any) -> Iterator[Sequence[Any]]:
    """Pass rows on, and tell of them a batch at a time."""
    while batch := list(islice(rows, _BATCH)):
        yield from batch
        advance(len(batch))


def _rows(session: Session, table: Table) -> Generator[Sequence[Any], None, None]:
    """Yield the rows of a table; what goes wrong is told of the database they are of."""
    engine: Any = session.get_bind()
    with translated_errors(engine):
        yield from raw_rows(session, table)


def _names(table: Table) -> str:
    """List the columns of a table for a statement."""
    return ", ".join(f'"{column.name}"' for column in table.columns)


def _write_sqlite(session: Session, table: Table, rows: Iterator[Sequence[Any]]) -> None:
    """Write rows into a table of a SQLite file."""
    marks = ", ".join("?" * len(table.columns))
    connection: Any = session.connection().connection.driver_connection
    statement = f'INSERT INTO "{table.name}" ({_names(table)}) VALUES ({marks})'
    connection.executemany(statement, rows)


def _write_postgresql(session: Session, table: Table, rows: Iterator[Sequence[Any]]) -> None:
    """Write rows into a table of a PostgreSQL database, and let its ids go on after them."""
    connection: Any = session.connection().connection.driver_connection
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL TimeZone TO 'UTC'")
        with cursor.copy(f'COPY "{table.name}" ({_names(table)}) FROM STDIN') as copy:
            for row in rows:
                copy.write_row(row)
        if "id" in table.columns:
            cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", [f'"{table.name}"'])
            (sequence,) = cursor.fetchone()
            if sequence is not None:
                newest = f'SELECT max(id) FROM "{table.name}"'
                # Of an empty table the next id is the first one.
                cursor.execute(
                    f"SELECT setval(%s, coalesce(({newest}), 1), ({newest}) IS NOT NULL)", [sequence]
                )
