"""The tables of a collection as JSON lines, a file a table, and back: driven by what they say of themselves.

Row ids never leave. A row refers to another by its name, the first column of its table in which no two rows
are alike, or, where there is none, by the number of its line. Rows stand in the order in which they came;
where judges have new names, rows that refer to one in an order of what they say, which tells of nobody.

What the tables do not say of themselves stands on top: which of them stay at home, which values are blank in
what is published, what a name must be, and that a ranking is packed.
"""

from __future__ import annotations

import base64
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import islice
from operator import index
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary, Table, func, insert, select
from sqlalchemy.exc import DataError, IntegrityError
from sqlmodel import Session, SQLModel

from store.db.columns import RawText, is_of
from store.db.packing import pack_ranking, unpack_floats, unpack_integers
from store.db.raw import CHECKSUM
from store.errors import FaultList, FormatError, PoolerError
from store.fields import ID, MOMENT, PROSE, TOPIC, Reader, UnfitValueError, checked_values, or_none, whole
from store.formats.syntax.json_lines import json_line, read_json_lines

FOLDER = "tables/"
"""Where they lie in an exported folder."""
_ORDER = SQLModel.metadata.sorted_tables
"""None refers to a later one."""
_STAY = {"": {"judge_code"}, "texts": {"document_metadata"}, "runs": {"run", "ranking", "pool_run"}}
"""Tables that stay at home, by what is left out; those of "" always do."""
_BLANK: Mapping[str, Mapping[str, Any]] = {
    "texts": {
        **dict.fromkeys(("document.title", "document.text", "document.sha256", "collection.fields")),
        **dict.fromkeys(("passage.text", "answer.body"), ""),
    },
    "notes": dict.fromkeys(("judgement.note", "judgement.reason", "answer.body"), ""),
    "names": {
        **dict.fromkeys(("judge.uid", "erasure.uid"), ...),
        "judge.renamed_at": None,
        "sitting.host": "",
        "sitting.process": 0,
    },
}
"""What stands in place of values, by what is left out; for ``...`` nothing does, and one is made anew."""
_READERS: dict[str, Reader] = {
    "topic.number": TOPIC.read,
    **dict.fromkeys(("document.docno", "run.tag", "judge.name"), ID.read),
}
"""What names must be."""
_PACKED = {"ranking": {"document_ids", "scores", "ranks", "positions", "length", "codec"}}
"""Columns in whose place there are `_LISTS`, in file order."""
_LISTS = ("documents", "scores", "ranks")
_BATCH = 500
_SHOWN = 100
"""Lines of faults that are shown of a whole directory."""


def _refers(column: Column[Any]) -> str:
    """Return the table that a column refers to; empty = none."""
    return next((key.column.table.name for key in column.foreign_keys), "")


_REFERRED = {_refers(column) for table in _ORDER for column in table.columns}


def _name(table: Table) -> str:
    """Return the column by which rows are referred to; empty = by their lines."""
    return next((column.name for column in table.columns if column.unique), "")


def _columns(table: Table) -> dict[str, Column[Any]]:
    """Return the columns that a file has, by its keys."""
    own = (one for one in table.columns if one.name not in {"id", CHECKSUM} | _PACKED.get(table.name, set()))
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
        full = {one: f"{table.name}.{one.name}" for one in table.columns}
        blanks = {
            key: blank[full[one]] for key, one in columns.items() if blank.get(full[one], ...) is not ...
        }
        later = {key: one for key, one in columns.items() if _refers(one) == table.name}
        ways = [
            (key, one, renamed.get(full[one]) or _writer(one, names))
            for key, one in columns.items()
            if full[one] not in blank and key not in later
        ]

        def said(row: Mapping[Any, Any]) -> dict[str, Any]:
            values = {key: None if row[one] is None else write(row[one]) for key, one, write in ways}
            return values | blanks | (_lists(row, names["document"]) if table.name in _PACKED else {})

        query = select(*(one for one in table.columns if one.primary_key or full[one] not in blank))
        ordered = query.order_by(*table.primary_key)
        with session.connection().execute(ordered, execution_options={"yield_per": _BATCH}) as result:
            found: Any = ((said(row), row) for row in result.mappings())
            if "names" in left_out and table.name in of_judges:
                found = sorted(
                    found, key=lambda one: [(value is not None, value) for value in one[0].values()]
                )
                own.update({row["id"]: number for number, (_, row) in enumerate(found, 1) if later})
            for number, (values, row) in enumerate(found, start=1):
                if table.name in _REFERRED:
                    own[row["id"]] = values[name] if name else number
                yield values | {
                    key: None if row[one] is None else own[row[one]] for key, one in later.items()
                }

    for table in _ORDER:
        if any(_refers(column) in of_judges for column in table.columns):
            of_judges.add(table.name)
        if table.name in tables:
            yield f"{FOLDER}{table.name}.jsonl", map(json_line, rows(table))


def _writer(column: Column[Any], names: Mapping[str, Mapping[int, Any]]) -> Callable[[Any], Any]:
    """Return what writes a value of a column, not ``None``, as JSON has it."""
    if table := _refers(column):
        return names[table].__getitem__
    if is_of(column, DateTime) and MOMENT.write:
        return MOMENT.write
    if is_of(column, LargeBinary) and not isinstance(column.type, RawText):
        return lambda value: base64.b64encode(value).decode("ascii")
    return lambda value: value


def _lists(row: Mapping[Any, Any], docnos: Mapping[int, str]) -> dict[str, Any]:
    """Return documents, scores and stated ranks of a ranking, as they stood in its file."""
    order = np.argsort(unpack_integers(row["positions"], row["length"]))
    # To SQLite, a part of no bytes is no value.
    documents = np.frombuffer(row["document_ids"] or b"", "<i4")[order].tolist()
    ranks = None if row["ranks"] is None else unpack_integers(row["ranks"], row["length"])[order].tolist()
    scores = unpack_floats(row["scores"])[order].tolist()
    return {"documents": [docnos[one] for one in documents], "scores": scores, "ranks": ranks}


class Faults(dict[str, FaultList]):
    """Faults of the files of a directory, by file, each of which has a list when it is asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __missing__(self, name: str) -> FaultList:
        self[name] = FaultList(str(self._folder / name))
        return self[name]

    def raise_if_any(self) -> None:
        """Raise `PoolerError` with all that were told, file by file."""
        told = [FormatError(one.path, one.kept, n_faults=one.count) for one in self.values() if one]
        lines = [line for one in told for line in one.message.split("\n")]
        if len(lines) > _SHOWN:
            lines[_SHOWN:] = [f"{self._folder}: and {len(lines) - _SHOWN} more lines like these"]
        if lines:
            hint = "nothing was imported: get the directory again, or correct it"
            raise PoolerError("\n".join(lines), hint=hint)


class TableReader:
    """Reads tables into an empty collection; rows get the numbers of their lines as ids.

    Every fault is told by file and line. After the first nothing is kept, but all is read. `counts`: rows of
    each table, as a manifest has them.
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
                self._faults[file].add(None, "expected a table of a collection, got another file")
        for file, table in named.items():
            expected, n_rows, told = self._counts.get(table.name, 0), 0, self._faults[file]
            rows = self._rows(table, str(self._folder / file), told) if file in files else iter(())
            while batch := list(islice(rows, _BATCH)):
                if not any(self._faults.values()):
                    self._insert(table, batch, told)
                n_rows += len(batch)
                advance(len(batch))
            if n_rows != expected and not told:
                told.add(None, f"expected {expected:,} rows, as the manifest has it, got {n_rows:,}")

    def _insert(self, table: Table, batch: list[tuple[int, dict[str, Any]]], told: FaultList) -> None:
        """Insert rows; where the database refuses them, one by one, to see which."""
        connection = self._session.connection()
        try:
            with connection.begin_nested():
                connection.execute(insert(table), [row for _, row in batch])
        except (IntegrityError, DataError, UnicodeEncodeError) as error:
            if len(batch) == 1:
                reason = str(getattr(error, "orig", error)).splitlines()[0]
                told.add(batch[0][0], f"expected what the database can hold, got: {reason}")
            for one in batch if len(batch) > 1 else ():
                self._insert(table, [one], told)

    def _rows(self, table: Table, path: str, told: FaultList) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield lines and rows of a file, those without a fault."""
        columns, name, ids = _columns(table), _name(table), self._ids.setdefault(table.name, {})
        readers = {key: self._reader(column) for key, column in columns.items()}
        readers |= dict.fromkeys(_LISTS, lambda value: value) if table.name in _PACKED else {}
        for line, values in read_json_lines(path, told):
            for key in columns.keys() - values.keys():
                default: Any = columns[key].default
                if default is not None:
                    values[key] = default.arg(None) if default.is_callable else default.arg
            known = checked_values(values, readers, line, told)
            if name and known and ids.setdefault(known[name], line) != line:
                first = ids[known[name]]
                told.add(line, f"expected each {name} once, got `{known[name]}`, which line {first} has")
            elif known is not None:
                row = {one.name: known[key] for key, one in columns.items()}
                try:
                    packed = _packed(known, self._ids["document"]) if table.name in _PACKED else {}
                    yield line, row | packed | ({"id": line} if "id" in table.columns else {})
                except UnfitValueError as error:
                    told.add(line, str(error))

    def _reader(self, column: Column[Any]) -> Reader:
        """Return what reads a value of a column, or raises `UnfitValueError`."""
        read = _READERS.get(f"{column.table.name}.{column.name}", PROSE.read)
        if target := _refers(column):
            read = partial(self._row_id, target)
        elif not isinstance(column.type, RawText):
            read = next((one for kind, one in _TYPES.items() if is_of(column, kind)), read)
        return or_none(read) if column.nullable else read

    def _row_id(self, table: str, value: Any) -> int:
        """Return the id of the row that a name, or the number of a line, is of."""
        found: int | None = None
        if not _name(SQLModel.metadata.tables[table]):
            found = value if type(value) is int and 1 <= value <= self._counts.get(table, 0) else None
        elif isinstance(value, str | int):
            found = self._ids.get(table, {}).get(value)
        if found is None:
            message = f"unknown {table.replace('_', ' ')} `{value}`"
            raise UnfitValueError(message)
        return found


def _refuse(expected: str, value: Any) -> NoReturn:
    message = f"expected {expected}, got {value!r:.80}"
    raise UnfitValueError(message)


def _truth(value: Any) -> bool:
    return value if isinstance(value, bool) else _refuse("true or false", value)


def _number(value: Any) -> float:
    is_fit = type(value) in (int, float) and abs(value) <= sys.float_info.max
    return float(value) if is_fit else _refuse("a finite number", value)


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (ValueError, TypeError):
        _refuse("base64", value)


_TYPES: dict[type[Any], Reader] = {
    DateTime: MOMENT.read,
    Boolean: _truth,
    Integer: whole().read,
    Float: _number,
    LargeBinary: _bytes,
}
"""By what a column holds; others hold text."""


def _packed(known: Mapping[str, Any], numbers: Mapping[Any, int]) -> dict[str, Any]:
    """Pack what `_lists` made of a ranking."""
    docnos, scores, ranks = (known[key] for key in _LISTS)
    try:
        ids = [numbers[one] for one in docnos]
        values = np.array([_number(one) for one in scores], np.float64)
        stated = None if ranks is None else np.array([index(one) for one in ranks], np.int64)
    except (KeyError, TypeError, OverflowError) as error:
        _refuse("lists of known docnos, scores and ranks, the last perhaps null", error)
    if len({len(docnos), len(set(ids)), len(values), len(docnos if stated is None else stated)}) > 1:
        _refuse("each docno once, with a score, and with a rank or all without", docnos)
    packed = pack_ranking("", docnos, np.array(ids, np.int32), values, stated)
    parts = {"scores": packed.scores, "ranks": packed.ranks, "positions": packed.positions}
    return {"length": packed.length, "document_ids": packed.documents, **parts, "codec": 1}
