"""A whole collection from one database into another on a server, or back, row by row, with its row ids.

Rows travel as SQLite has them: moments as text in UTC, truth as 0 and 1. PostgreSQL is asked for
them in that form and takes them in it, so that nothing is converted here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Table, delete, func, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError
from sqlmodel import Session, SQLModel

from store.db.engine import display, engine_at, translated_errors, writing
from store.db.raw import is_postgresql, raw_rows, write_raw
from store.db.schema import make_tables
from store.db.tables import DIGEST, JUDGE_CODE
from store.errors import StoreError
from store.keeping import Progress

_BATCH = 2000
"""Rows written between two steps of a progress bar."""

Counts = dict[str, int]
"""Rows by table."""


def fill(session: Session, target: URL | Path, progress: Progress) -> Counts:
    """Copy what a reading session sees into an empty database, in one transaction; return rows by table."""
    # What refers to a table comes after it; of one table, what came first comes first. Who may come in with
    # which code is for this place alone.
    tables = [table for table in SQLModel.metadata.sorted_tables if table is not JUDGE_CODE]
    counts = {table.name: session.scalar(select(func.count()).select_from(table)) or 0 for table in tables}
    with (
        engine_at(target) as engine,
        _errors_named(engine),
        progress("copying rows", sum(counts.values())) as advance,
        writing(engine, bulk=True, creates=True) as into,
        _errors_named(engine),  # before the transaction words it
    ):
        make_tables(into)
        for table in tables:
            # Left half read, as by Ctrl-C, it must not outlive its connection.
            with closing(_rows(session, table, advance)) as rows:
                write_raw(into, table, rows)
            go_on_after(into, table)
        into.execute(delete(DIGEST).where(DIGEST.c.name == JUDGE_CODE.name))
    return counts


@contextmanager
def _errors_named(engine: Engine) -> Iterator[None]:
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


def _rows(
    session: Session, table: Table, advance: Callable[[int], None]
) -> Generator[Sequence[Any], None, None]:
    """Yield the rows of a table; what goes wrong is told of the database they are of."""
    engine: Any = session.get_bind()
    with translated_errors(engine):
        rows = raw_rows(session, table)
        while batch := list(islice(rows, _BATCH)):
            yield from batch
            advance(len(batch))


def go_on_after(session: Session, table: Table) -> None:
    """Let the ids of a table on PostgreSQL go on after those it has; of an empty one the first is 1."""
    if is_postgresql(session) and "id" in table.columns:
        newest = f'(SELECT max(id) FROM "{table.name}")'
        sequence = "pg_get_serial_sequence(:name, 'id')"
        query = text(f"SELECT setval({sequence}, coalesce({newest}, 1), {newest} IS NOT NULL)")
        session.execute(query, {"name": f'"{table.name}"'})
