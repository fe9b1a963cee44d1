"""What many queries share: a row by its name, what is to be judged, one document in two tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import Column, ColumnElement, FromClause, Row, Select, and_, func, select, update
from sqlmodel import Session

from store.db.tables import POOL, POOL_ENTRY, QRELS, TOPIC
from store.errors import UnknownNameError

_KEYS_A_QUERY = 1_000
"""Far below what either engine takes as parameters of one statement."""


def row_named(
    session: Session, kind: str, column: Column[Any], name: str, *wanted: str, hint: str | None = None
) -> Row[Any]:
    """Return the row with a name in a column, or wanted columns of it; else raise `UnknownNameError`."""
    columns = [column.table.c[one] for one in wanted or column.table.c.keys()]
    row = session.execute(select(*columns).where(column == name)).first()
    if row is None:
        raise UnknownNameError(kind, name, session.scalars(select(column)), hint=hint)
    return row


def topic_id(session: Session, topic: str) -> int:
    """Return the row id of a topic; raise `UnknownNameError` when there is none."""
    return int(row_named(session, "topic", TOPIC.c.number, topic, "id").id)


def fetch_topic_names(session: Session) -> dict[int, str]:
    """Return the topics' ids by row id."""
    return {row.id: row.number for row in session.execute(select(TOPIC.c.id, TOPIC.c.number))}


def rows_by_key(session: Session, keys: Iterable[Any], *columns: Column[Any]) -> dict[Any, Row[Any]]:
    """Return columns of rows, by the first of them, which is a key; keys that no row has are left out."""
    wanted = sorted(set(keys))
    found: dict[Any, Row[Any]] = {}
    for start in range(0, len(wanted), _KEYS_A_QUERY):
        is_wanted = columns[0].in_(wanted[start : start + _KEYS_A_QUERY])
        found.update({row[0]: row for row in session.execute(select(*columns).where(is_wanted))})
    return found


def count_rows(session: Session, rows: FromClause, *where: ColumnElement[bool]) -> int:
    """Count the rows of a table, or of a query, of which all conditions are true."""
    return session.scalar(select(func.count()).select_from(rows).where(*where)) or 0


def same_pair(first: FromClause, second: FromClause) -> ColumnElement[bool]:
    """Return the SQL condition that two rows are of one document of one topic."""
    return and_(first.c.topic_id == second.c.topic_id, first.c.document_id == second.c.document_id)


def to_judge(*columns: ColumnElement[Any], pool: int | None = None) -> Select[Any]:
    """Select columns of pools and their entries to be judged: of all pools in use, or of one pool."""
    return (
        select(*columns)
        .join_from(POOL_ENTRY, POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(POOL_ENTRY.c.sampled, ~POOL.c.withdrawn if pool is None else POOL.c.id == pool)
    )


def is_pooled(rows: FromClause, *, pool: int | None = None) -> ColumnElement[bool]:
    """Return the SQL condition that the document of a row is to be judged; see `to_judge`."""
    # Looked up one by one: of a join, SQLite may make every pair of rows.
    entries = to_judge(POOL_ENTRY.c.pool_id, pool=pool)
    return entries.where(same_pair(POOL_ENTRY, rows)).correlate(rows).exists()


def rules_of_pools(session: Session, pools: Collection[str]) -> list[tuple[Row[Any], dict[str, Any]]]:
    """Return the qrels, and their rules, that are of one of some pools."""
    found = [(row, json.loads(row.rule)) for row in session.execute(select(QRELS))]
    return [(row, rule) for row, rule in found if rule.get("pool") in pools]


def write_rule(session: Session, qrels: int, rule: Mapping[str, Any]) -> None:
    """Write the rule of qrels anew."""
    session.execute(update(QRELS).where(QRELS.c.id == qrels).values(rule=json.dumps(rule, sort_keys=True)))
