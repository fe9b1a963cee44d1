"""How the tables of a database differ from those of the models, and making what is missing.

A revision says which migrations a collection went through, not what they were at the time: the
tables themselves are read, by Alembic's own comparison and what that leaves out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import CheckConstraint, Column, Connection, Index, Table, inspect, text
from sqlalchemy.exc import InvalidRequestError, SAWarning
from sqlalchemy.schema import CreateColumn
from sqlmodel import SQLModel

from store.db.schema import keep_indexes_partial
from store.db.tables import TABLES

POOL_TOPIC = "pool_topic"
"""The only table that a collection may lack which never had it, made before pools were adaptive."""


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """One way in which a database is not as the models have it."""

    told: str
    missing: Table | Column[Any] | Index | None = None
    """What can be made anew; ``None`` = left as it is."""
    is_in_the_way: bool = False
    """It cannot be mended, and must not be left: what was in a missing table is not known."""


def differences(connection: Connection) -> list[SchemaDifference]:
    """Compare the tables of a database with the models; tables of other names than ours are not looked at."""
    # What SQLAlchemy cannot make out is a difference, and told as one.
    with warnings.catch_warnings(action="ignore", category=SAWarning):
        return list(dict.fromkeys([*_compared(connection), *_not_compared(connection)]))


def _compared(connection: Connection) -> list[SchemaDifference]:
    """Return what Alembic finds."""
    options = {
        "compare_type": True,
        "compare_server_default": True,
        "include_name": lambda name, kind, _parents: kind != "table" or name in TABLES,
    }
    context = MigrationContext.configure(connection, opts=options)
    changes: list[tuple[Any, ...]] = []
    try:
        compared = compare_metadata(context, SQLModel.metadata)
    except InvalidRequestError as error:  # a table refers to a column that is not there
        return [SchemaDifference(str(error).splitlines()[0], is_in_the_way=True)]
    for one in compared:
        changes.extend(one if isinstance(one, list) else [one])
    known = {index.name: index for table in TABLES.values() for index in table.indexes}
    strange = {change[2]: change[3].name for change in changes if change[0] == "remove_column"}
    removed = {change[1].name for change in changes if change[0] == "remove_index"}
    absent = {change[1].name for change in changes if change[0] == "add_table"}
    found = []
    for change in changes:
        match change:
            case "add_table", table:
                told = f"the table `{table.name}` is missing"
                is_lost = table.name != POOL_TOPIC or _has_undrawn(connection)
                found.append(SchemaDifference(told, None if is_lost else TABLES[table.name], is_lost))
            case "add_column", _, table, column:
                told = f"`{table}.{column.name}` is missing"
                if table in strange:
                    told += f", and `{table}.{strange[table]}` may be what it was"
                is_lost = table in strange or not (column.nullable or column.server_default)
                found.append(SchemaDifference(told, None if is_lost else column, is_lost))
            case "add_index", index if index.table.name not in absent:
                state = "another" if index.name in removed else "missing"
                told = f"the index `{index.name}` is {state}"
                found.append(SchemaDifference(told, known[index.name]))
            case "remove_index", index if index.name not in known:
                told = f"the index `{index.name}` of `{index.table.name}` is unknown"
                found.append(SchemaDifference(told))
            case "add_index" | "remove_index", _:
                pass  # its table is missing, or it was told as another one
            case _:
                found.append(SchemaDifference(_in_words(change, connection)))
    return found


def _in_words(change: Sequence[Any], connection: Connection) -> str:
    """Tell a change of Alembic's that is not made here."""
    kind, *rest = change
    state = "missing" if kind.startswith("add") else "unknown"
    match kind:
        case "remove_column":
            return f"`{rest[1]}.{rest[2].name}` is unknown"
        case "modify_type":
            old, new = (one.compile(dialect=connection.dialect) for one in rest[-2:])
            return f"`{rest[1]}.{rest[2]}` has the type {old}, not {new}"
        case "modify_nullable":
            return f"`{rest[1]}.{rest[2]}` {'may' if rest[-2] else 'may not'} be empty"
        case "modify_default":
            return f"`{rest[1]}.{rest[2]}` has another default"
        case "add_fk" | "remove_fk":
            columns, target = rest[0].column_keys, rest[0].elements[0].target_fullname
            rule = f"FOREIGN KEY ({', '.join(columns)}) to `{target}`"
            return f"`{rest[0].table.name}`: {rule} is {state}"
        case _:
            columns = [column.name for column in rest[0].columns]
            return f"`{rest[0].table.name}`: UNIQUE ({', '.join(columns)}) is {state}"


def _not_compared(connection: Connection) -> Iterator[SchemaDifference]:
    """Yield what Alembic does not compare: keys, rules, and the conditions of indexes."""
    inspector = inspect(connection)
    for name in sorted(TABLES.keys() & {*inspector.get_table_names()}):
        table = TABLES[name]
        keys = [column.name for column in table.primary_key]
        stored = inspector.get_pk_constraint(name)["constrained_columns"]
        if stored != keys:
            told = f"PRIMARY KEY is ({', '.join(stored)}), not ({', '.join(keys)})"
            yield SchemaDifference(f"`{name}`: {told}")
        rules = {str(one.name) for one in table.constraints if isinstance(one, CheckConstraint)}
        for rule in sorted(rules - {str(one["name"]) for one in inspector.get_check_constraints(name)}):
            yield SchemaDifference(f"`{name}`: CHECK {rule} is missing")
        where = f"{connection.dialect.name}_where"
        conditions = {
            one["name"]: one.get("dialect_options", {}).get(where) for one in inspector.get_indexes(name)
        }
        for index in table.indexes:
            condition = index.dialect_options["sqlite"]["where"]
            if _bare(conditions.get(index.name, condition)) != _bare(condition):
                yield SchemaDifference(f"the index `{index.name}` is another", index)


def _bare(condition: object) -> str:
    """Write a condition as both engines give it back, but for brackets and spaces."""
    return re.sub(r"[\s()]", "", str(condition)).lower()


def _has_undrawn(connection: Connection) -> bool:
    """Say whether a pool has documents that were not drawn: it has budgets, too."""
    columns = {column["name"] for column in inspect(connection).get_columns("pool_entry")}
    if "sampled" not in columns:
        return False
    query = text("SELECT 1 FROM pool_entry WHERE NOT sampled LIMIT 1")
    return connection.execute(query).first() is not None


def mend(connection: Connection, found: Sequence[SchemaDifference]) -> None:
    """Make the table, columns and indexes that are missing, in the transaction that is open.

    A column is empty then, or has the default of a row of which nothing was said.
    """
    missing = [one.missing for one in found]
    if connection.dialect.name == "postgresql":
        keep_indexes_partial()
    tables = [one for one in missing if isinstance(one, Table)]
    SQLModel.metadata.create_all(connection, tables)
    for one in missing:
        if isinstance(one, Column):
            clause = str(CreateColumn(one).compile(dialect=connection.dialect))
            for key in one.foreign_keys:
                clause += f' REFERENCES "{key.column.table.name}" ("{key.column.name}")'
            connection.execute(text(f'ALTER TABLE "{one.table.name}" ADD COLUMN {clause}'))
    for one in missing:
        if isinstance(one, Index):
            one.drop(connection, checkfirst=True)
            one.create(connection)
