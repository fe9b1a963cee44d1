"""The tables of a collection as JSON lines, a file a table, and back: driven by what they say of themselves.

Row ids never leave: a row refers to another by its name, the first column of its table in which no two rows
are alike, or else by the number of its line. Rows stand in the order in which they came; where judges have
new names, rows that refer to one in an order of their values, which reveals no judge.
"""

from __future__ import annotations

import base64
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from sqlalchemy import Column, Connection, Table, func, insert, select
from sqlalchemy.exc import DataError, IntegrityError
from sqlmodel import Session, SQLModel

from store.db.columns import RawText
from store.errors import FaultList, FormatError, PoolerError
from store.fields import (
    ID,
    MOMENT,
    PROSE,
    SEED,
    TOPIC,
    Reader,
    UnfitValueError,
    checked_values,
    or_none,
    whole,
)
from store.formats.json_lines import json_line, read_json_lines

FOLDER = "tables/"
_ORDER = SQLModel.metadata.sorted_tables
"""None refers to a later one."""
_STAY = {"": {"judge_code", "digest"}, "texts": {"document_metadata"}, "runs": {"run", "ranking", "pool_run"}}
"""Tables that stay at home, by what is left out; those of "" always do."""
_BLANK: Mapping[str, Mapping[str, Any]] = {
    "texts": {
        **dict.fromkeys(("document.title", "document.text", "document.sha256", "collection.fields")),
        **dict.fromkeys(("passage.text", "answer.body"), ""),
    },
    "notes": dict.fromkeys(("judgement.note", "judgement.reason", "answer.body"), ""),
    "names": {
        **dict.fromkeys(("judge.renamed_at", "assignment.order_seed", "judgement.order_seed")),
        **dict.fromkeys(("sitting.host", "sitting.program"), ""),
        "sitting.process": 0,
    },
}
"""What stands in place of values, by what is left out."""
_READERS: dict[str, Reader] = {
    "topic.number": TOPIC.read,
    **dict.fromkeys(("document.docno", "run.tag", "judge.name"), ID.read),
    **dict.fromkeys(("assignment.order_seed", "judgement.order_seed"), SEED.read),
}
"""What names must be, and the only numbers of more than 32 bits."""
_PACKED = "document_ids"
"""A column of row ids, in whose place there is a list of docnos."""
_BATCH = 500
_Row = tuple[int, dict[str, Any]]
"""A line and its row."""


def _refers(column: Column[Any]) -> str:
    """Return the table that a column refers to; empty = none."""
    return next((key.column.table.name for key in column.foreign_keys), "")


def _kind(column: Column[Any]) -> type[Any]:
    return str if isinstance(column.type, RawText) else getattr(column.type, "impl", column.type).python_type


def _name(table: Table) -> str:
    """Return the column by which rows are referred to; empty = by their lines."""
    return next((column.name for column in table.columns if column.unique), "")


def _columns(table: Table) -> dict[str, Column[Any]]:
    own = (one for one in table.columns if one.name not in {"id", "digest", "secret"})
    return {one.name.removesuffix("_id") if _refers(one) else one.name: one for one in own}


def count_rows(session: Session, left_out: list[str]) -> dict[str, int]:
    """Count the rows of each table that goes out and has any; left out are texts, runs, notes, names."""
    at_home = set[str]().union(*(_STAY.get(one, ()) for one in ("", *left_out)))
    going = (table for table in _ORDER if table.name not in at_home)
    counts = {table.name: session.scalar(select(func.count()).select_from(table)) or 0 for table in going}
    return {name: n for name, n in counts.items() if n}


def table_lines(
    session: Session,
    tables: Collection[str],
    left_out: list[str],
    renamed: Mapping[str, Callable[[Any], Any]],
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield each table's file and its lines, which are taken before the next is asked for.

    `tables`, `left_out`: as `count_rows` has them. `renamed`: what writes a value, by table and column.
    """
    blank = {name: value for one in left_out for name, value in _BLANK.get(one, {}).items()}
    names: dict[str, dict[int, Any]] = defaultdict(dict)
    of_judges = {"judge"}

    def rows(table: Table) -> Iterator[dict[str, Any]]:
        own, name, columns = names[table.name], _name(table), _columns(table)
        blanks = {key: blank[str(one)] for key, one in columns.items() if str(one) in blank}
        later = {key: one for key, one in columns.items() if _refers(one) == table.name}
        ways = [
            (key, one, or_none(write) if one.nullable else write)
            for key, one in columns.items()
            if str(one) not in blank and key not in later
            for write in [renamed.get(str(one)) or _writer(one, names)]
        ]
        query = select(*(one for one in table.columns if one.primary_key or str(one) not in blank))
        ordered = query.order_by(*table.primary_key)
        with session.connection().execute(ordered, execution_options={"yield_per": _BATCH}) as result:
            mappings = result.mappings()
            found: Any = (({key: write(row[one]) for key, one, write in ways}, row) for row in mappings)
            if "names" in left_out and table.name in of_judges:
                found = sorted(
                    found, key=lambda one: [(value is not None, value) for value in one[0].values()]
                )
                own.update({row["id"]: number for number, (_, row) in enumerate(found, 1) if later})
            for number, (values, row) in enumerate(found, start=1):
                if "id" in table.columns:
                    own[row["id"]] = values.get(name, number)
                yield values | blanks | {key: own.get(row[one]) for key, one in later.items()}

    for table in _ORDER:
        if any(_refers(column) in of_judges for column in table.columns):
            of_judges.add(table.name)
        if table.name in tables:
            yield f"{FOLDER}{table.name}.jsonl", map(json_line, rows(table))


def _writer(column: Column[Any], names: Mapping[str, Mapping[int, Any]]) -> Callable[[Any], Any]:
    """Return what writes a value of a column, not ``None``, as JSON has it."""
    if table := _refers(column):
        return names[table].__getitem__
    if column.name == _PACKED:
        return lambda ids: [names["document"][one] for one in np.frombuffer(ids or b"", "<i4").tolist()]
    if _kind(column) is datetime and MOMENT.write:
        return MOMENT.write
    if _kind(column) is bytes:
        # To SQLite, a part of no bytes is no value.
        return lambda value: base64.b64encode(value or b"").decode("ascii")
    return lambda value: value


class Faults(list[FaultList]):
    """Faults of the files of a directory."""

    def of(self, file: Path) -> FaultList:
        """Return the list of a file, which is empty yet."""
        self.append(FaultList(str(file)))
        return self[-1]

    def raise_if_any(self) -> None:
        """Raise `PoolerError` with all faults, file by file."""
        faults = [FormatError(one.path, one.kept, n_faults=one.count).message for one in self if one]
        if faults:
            hint = "nothing was imported: get the directory again, or correct it"
            raise PoolerError("\n".join(faults), hint=hint)


class TableReader:
    """Reads tables into an empty collection; rows get the numbers of their lines as ids.

    Every fault is reported by file and line. After the first nothing is kept, but all is read. `counts`: rows
    of each table, as a manifest has them.
    """

    def __init__(self, session: Session, folder: Path, counts: Mapping[str, int], faults: Faults) -> None:
        self._session, self._folder, self._counts, self._faults = session, folder, counts, faults
        self._ids: dict[str, dict[Any, int]] = {}
        """Row ids by name, for each table that has names."""

    def read(self, files: Collection[str], advance: Callable[[int], None]) -> None:
        """Read the files of tables that are there; one of no table, or of one that stays, is a fault."""
        named = {f"{FOLDER}{table.name}.jsonl": table for table in _ORDER if table.name not in _STAY[""]}
        for file in files:
            if file.startswith(FOLDER) and file not in named:
                self._faults.of(self._folder / file).add(None, "expected a table of a collection")
        for file, table in named.items():
            expected, n_rows = self._counts.get(table.name, 0), 0
            faults = self._faults.of(self._folder / file)
            rows = self._rows(table, faults) if file in files else iter(())
            while batch := list(islice(rows, _BATCH)):
                if not any(self._faults):
                    _insert(self._session.connection(), table, batch, faults)
                n_rows += len(batch)
                advance(len(batch))
            if n_rows != expected and not faults:
                faults.add(None, f"expected {expected:,} rows, as the manifest has it, got {n_rows:,}")

    def _rows(self, table: Table, faults: FaultList) -> Iterator[_Row]:
        columns, name, ids = _columns(table), _name(table), self._ids.setdefault(table.name, {})
        readers = {key: self._reader(column) for key, column in columns.items()}
        for line, values in read_json_lines(faults.path, faults):
            known = checked_values(values, readers, line, faults)
            if name and known and ids.setdefault(known[name], line) != line:
                first = ids[known[name]]
                faults.add(line, f"expected each {name} once, got `{known[name]}`, which line {first} has")
            elif known is not None:
                row = {one.name: known[key] for key, one in columns.items()}
                yield line, row | ({"id": line} if "id" in table.columns else {})

    def _reader(self, column: Column[Any]) -> Reader:
        read = _TYPES.get(_kind(column), PROSE.read)
        if target := _refers(column):
            read = partial(self._row_id, target)
        elif column.name == _PACKED:
            read = self._document_ids
        read = _READERS.get(str(column), read)
        return or_none(read) if column.nullable else read

    def _row_id(self, table: str, value: Any) -> int:
        found = self._ids.get(table, {}).get(value) if isinstance(value, str | int) else None
        if not _name(SQLModel.metadata.tables[table]) and type(value) is int:
            found = value if 1 <= value <= self._counts.get(table, 0) else None
        if found is None:
            message = f"unknown {table.replace('_', ' ')} `{value}`"
            raise UnfitValueError(message)
        return found

    def _document_ids(self, value: Any) -> bytes:
        if not isinstance(value, list):
            _refuse("a list of docnos", value)
        return np.array([self._row_id("document", one) for one in value], "<i4").tobytes()


def _insert(connection: Connection, table: Table, batch: list[_Row], faults: FaultList) -> None:
    """Insert rows; where the database refuses them, one by one, to see which."""
    try:
        with connection.begin_nested():
            connection.execute(insert(table), [row for _, row in batch])
    except (IntegrityError, DataError, UnicodeEncodeError) as error:
        if len(batch) == 1:
            reason = str(getattr(error, "orig", error)).splitlines()[0]
            faults.add(batch[0][0], f"expected what the database can hold, got: {reason}")
        for one in batch if len(batch) > 1 else ():
            _insert(connection, table, [one], faults)


def _refuse(expected: str, value: Any) -> NoReturn:
    message = f"expected {expected}, got {value!r:.80}"
    raise UnfitValueError(message)


def _number(value: Any) -> float:
    is_fit = type(value) in (int, float) and abs(value) <= sys.float_info.max
    return float(value) if is_fit else _refuse("a finite number", value)


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (ValueError, TypeError):
        _refuse("base64", value)


_TYPES: dict[type[Any], Reader] = {
    datetime: MOMENT.read,
    bool: lambda value: value if isinstance(value, bool) else _refuse("true or false", value),
    int: whole().read,
    float: _number,
    bytes: _bytes,
}
"""By what a column holds; others hold text."""
