"""Rows as the driver gives them, where SQLAlchemy's would cost as much as all the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError


@contextmanager
def driver_rows(connection: Connection, query: str) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Give the rows of a query without parameters, to be read within the block."""
    cursor: Any = connection.exec_driver_sql(query).cursor
    failure = connection.dialect.loaded_dbapi.Error
    try:
        yield cursor
    except failure as error:
        raise DBAPIError.instance(query, None, error, failure, dialect=connection.dialect) from error
    finally:
        cursor.close()
