"""Parquet files, seen through: a row is the line that the text file has in its place.

What the columns are called says which text that is:

====== ===================================================================================================
run    one of `_TOPICS`, one of `_DOCNOS` and `score`, where `rank` and one of `_TAGS` may be: a row is
       ``topic Q0 docno rank score tag``; without a tag it is the name of the file
qrels  one of `_TOPICS`, one of `_DOCNOS` and one of `_GRADES`, where `iteration` may be: ``topic
       iteration docno grade``
jsonl  any other columns, or one of `_OF_JUDGES`: a JSON object, its keys the columns
====== ===================================================================================================

What pooler wrote says in the file's metadata what else it is: ``tsv``, cells between tabs below a line of
names; ``jsonl`` whatever its columns are called, some of which hold JSON because Arrow has no one kind for
their values, or could not keep one (a lone surrogate). What is written comes back byte for byte.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import dropwhile, islice, takewhile
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from store.errors import FaultList, PoolerError
from store.formats.syntax.content import ByteBlocks
from store.text import escape_json

SUFFIX = ".parquet"
MAGIC = b"PAR1\x15"
"""How a file begins: the mark, and the first field of the first header behind it."""
HINT = "pip install 'pooler[arrow]'"
_TOPICS = ("topic", "qid", "q_id", "query_id")
_DOCNOS = ("docno", "doc_id", "docid")
_GRADES = ("grade", "label", "relevance", "rel")
_TAGS = ("tag", "run", "run_id")
_OF_JUDGES = ("judge", "state")
"""What judgements have that are no qrels."""
_COLUMNS = {
    "run": (("topic", "text"), ("docno", "text"), ("rank", "int"), ("score", "float"), ("tag", "text")),
    "qrels": (("topic", "text"), ("iteration", "text"), ("docno", "text"), ("grade", "int")),
}
_OWN = b"pooler"
"""Key of what pooler says of a file, and of a column."""
_HEAD = b"pooler head"
"""Key of the comment lines above a run."""
_JSON = {_OWN: b"json"}
_BATCH = 10_000
_LARGEST = 2**63


def arrow() -> Any:
    """Import pyarrow with what reads and writes Parquet; `ImportError` where it is not installed."""
    import pyarrow.parquet

    return pyarrow


def form_of(path: str) -> str | None:
    """Say which text a Parquet file stands for, as the module has it; ``None`` = it is none."""
    try:
        with Path(path).open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
        return _Rows(arrow().parquet.ParquetFile(path), path).form
    except (OSError, ValueError, ImportError):
        return None  # whoever reads it says what is wrong


def text_of(source: io.BufferedReader, path: str, damaged: Callable[[str], Exception]) -> ByteBlocks:
    """Return the text that a Parquet file stands for; `ImportError` without pyarrow.

    `damaged` makes the error that the reader raises of a file that is none, of its reason.
    """
    parquet = arrow().parquet

    def blocks() -> Iterator[bytes]:
        try:
            yield from _Rows(parquet.ParquetFile(_seekable(source)), path).blocks()
        except (OSError, ValueError) as error:  # as pyarrow's own are
            raise damaged(f"is damaged: {str(error).partition(chr(10))[0]}") from error

    return ByteBlocks(blocks(), source.close)


def _seekable(source: io.BufferedReader) -> BinaryIO:
    """Return a file, or what a pipe gave: the end of a Parquet file says where its parts are."""
    return source if source.seekable() else io.BytesIO(source.read())


class _Rows:
    """The rows of a Parquet file, and which lines they are."""

    def __init__(self, file: Any, path: str) -> None:
        self._file, self._path = file, path
        self._names: list[str] = file.schema_arrow.names
        known = file.schema_arrow.metadata or {}
        self._head, own = known.get(_HEAD, b""), known.get(_OWN, b"")
        self.form = {b"tsv": "tsv", b"jsonl": "jsonl"}.get(own) or self._guess()

    def _first(self, names: Sequence[str]) -> str | None:
        """Return the first of some names that a column has."""
        return next((name for name in names if name in self._names), None)

    def _guess(self) -> str:
        """Tell by the names of columns."""
        if self._first(_TOPICS) and self._first(_DOCNOS) and not self._first(_OF_JUDGES):
            if self._first(_GRADES):
                return "qrels"
            if "score" in self._names:
                return "run"
        return "jsonl"

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of many lines at a time."""
        if self.form == "tsv":
            yield ("\t".join(self._names) + "\n").encode()
        elif self.form == "run":
            yield self._head
        lines = {"run": self._run, "qrels": self._qrels, "tsv": self._cells}.get(self.form, self._objects)
        number = 1
        for batch in self._file.iter_batches(_BATCH):
            # Other writers number and encode ids, and have whole grades as floats.
            columns = {name: batch.column(at).to_pylist() for at, name in enumerate(self._names)}
            yield "".join(f"{line}\n" for line in lines(columns, number)).encode("utf-8")
            number += batch.num_rows

    def _run(self, columns: Mapping[str, list[Any]], row: int) -> Iterator[str]:
        topics, docnos = self._ids(columns, row, _TOPICS), self._ids(columns, row, _DOCNOS)
        tags, ranks = self._ids(columns, row, _TAGS), columns.get("rank") or [None] * len(topics)
        for topic, docno, rank, score, tag in zip(topics, docnos, ranks, columns["score"], tags, strict=True):
            place = "-" if rank is None else _field(_whole(rank))
            yield f"{topic} Q0 {docno} {place} {_field(score)} {tag}"

    def _qrels(self, columns: Mapping[str, list[Any]], number: int) -> Iterator[str]:
        topics, docnos = self._ids(columns, number, _TOPICS), self._ids(columns, number, _DOCNOS)
        iterations = self._ids(columns, number, ("iteration",))
        grades = columns[self._first(_GRADES) or ""]
        for topic, iteration, docno, grade in zip(topics, iterations, docnos, grades, strict=True):
            yield f"{topic} {iteration} {docno} {_field(_whole(grade))}"

    def _cells(self, columns: Mapping[str, list[Any]], _number: int) -> Iterator[str]:
        for row in zip(*columns.values(), strict=True):
            yield "\t".join("" if one is None else one if isinstance(one, str) else repr(one) for one in row)

    def _objects(self, columns: Mapping[str, list[Any]], _number: int) -> Iterator[str]:
        schema = self._file.schema_arrow
        is_json = [(schema.field(name).metadata or {}).items() >= _JSON.items() for name in self._names]
        for row in zip(*columns.values(), strict=True):
            values = (json.loads(one) if text else one for one, text in zip(row, is_json, strict=True))
            data = dict(zip(self._names, values, strict=True))
            yield escape_json(json.dumps(data, ensure_ascii=False, default=str))

    def _ids(self, columns: Mapping[str, list[Any]], number: int, names: Sequence[str]) -> list[str]:
        """Return ids, each a text without blanks or a whole number; `FormatError` has those that are not."""
        name = self._first(names)
        if name is None:
            usual = PurePath(self._path).name.removesuffix(SUFFIX) if names is _TAGS else "0"
            return ["_".join(usual.split())] * len(next(iter(columns.values())))
        faults = FaultList(self._path)
        for row, one in enumerate(columns[name], number):
            if isinstance(one, bool) or not isinstance(one, (str, int)) or str(one).split() != [str(one)]:
                faults.add(
                    row, f"expected text without blanks or a whole number in `{name}`, got {one!r}", "id"
                )
        faults.raise_if_any()
        return list(map(str, columns[name]))


def _field(value: Any) -> str:
    """Return a value as one field of a line: a row stays a line whatever a text has in it."""
    return "_".join(value.split()) if isinstance(value, str) else str(value)


def _whole(value: Any) -> Any:
    """Return a whole number without its point, which pandas gives it beside a missing value."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def to_parquet(text: Path, target: Path, form: str, kinds: Mapping[str, str] | None = None) -> None:
    """Write the Parquet file of a text file: each line a row.

    `form`: one of the module's, which the text has to the letter. `kinds`: of the columns of ``tsv`` those
    that are ``int`` or ``float``, empty cells being null. `PoolerError` without pyarrow.
    """
    try:
        pyarrow = arrow()
    except ImportError as error:
        message = f"{target}: Parquet files need the Python package `pyarrow`"
        raise PoolerError(message, hint=HINT) from error
    head = ""
    if form == "run":
        with text.open(encoding="utf-8", newline="\n") as file:
            head = "".join(takewhile(lambda line: line.startswith("#"), file))
    rows, columns = _reader(text, form, kinds or {})
    types = {"int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_()}
    fields = [
        pyarrow.field(name, types.get(kind, pyarrow.string()), metadata=_JSON if kind == "json" else None)
        for name, kind in columns.items()
    ]
    schema = pyarrow.schema(
        fields, metadata={_OWN: form.encode(), **({_HEAD: head.encode()} if head else {})}
    )
    dumps = {at for at, kind in enumerate(columns.values()) if kind == "json"}
    with pyarrow.parquet.ParquetWriter(target, schema) as writer:
        coming = rows()
        while batch := [*islice(coming, _BATCH)]:
            cells = list(zip(*batch, strict=True)) or [()] * len(fields)
            arrays = [
                pyarrow.array([json.dumps(one) for one in column] if at in dumps else column, fields[at].type)
                for at, column in enumerate(cells)
            ]
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


@contextmanager
def rows_of(target: Path, form: str, kinds: Mapping[str, str] | None = None) -> Iterator[Path]:
    """Give a place, for nobody else to see, for a text that becomes a Parquet file; see `to_parquet`."""
    import tempfile  # brings every decompressor, which plain files need none of

    with tempfile.TemporaryDirectory(prefix="pooler-") as folder:
        text = Path(folder) / "text"
        yield text
        to_parquet(text, target, form, kinds)


_Made = tuple[Callable[[], Iterator[tuple[Any, ...]]], dict[str, str]]


def _reader(text: Path, form: str, kinds: Mapping[str, str]) -> _Made:
    """Return what yields the values of every line, and the columns with their kinds."""

    def lines() -> Iterator[str]:
        with text.open(encoding="utf-8", newline="\n") as file:
            below = dropwhile(lambda line: form == "run" and line.startswith("#"), file)
            yield from (line.removesuffix("\n") for line in below)

    if form == "jsonl":
        objects = map(json.loads, lines())
        found: dict[str, set[str]] = {}
        for one in objects:
            for name, value in one.items():
                found.setdefault(name, set()).add(_kind(value))
        listed = {name: _one_kind(known - {"none"}) for name, known in found.items()}
        return lambda: (tuple(json.loads(line)[name] for name in listed) for line in lines()), listed
    if form == "tsv":
        columns = {name: kinds.get(name, "text") for name in next(lines()).split("\t")}
        fields, sep = list(enumerate(columns.values())), "\t"
    else:
        columns = dict(_COLUMNS[form])
        # The second field of a run says nothing.
        fields = [(at + (form == "run" and at > 0), kind) for at, kind in enumerate(columns.values())]
        sep = " "
    as_value = {"int": int, "float": float}

    def rows() -> Iterator[tuple[Any, ...]]:
        for line in islice(lines(), 1 if form == "tsv" else 0, None):
            cells = line.split(sep)
            yield tuple(
                as_value.get(kind, str)(cells[at]) if kind == "text" or cells[at] not in ("", "-") else None
                for at, kind in fields
            )

    return rows, columns


def _kind(value: Any) -> str:
    """Name the kind of a JSON value, as a column has it."""
    if value is None:
        return "none"
    if isinstance(value, bool | float):
        return "bool" if isinstance(value, bool) else "float"
    if isinstance(value, int):
        return "int" if -_LARGEST <= value < _LARGEST else "json"
    if isinstance(value, str):
        return "text" if value.isascii() or value.encode("utf-8", "replace").decode() == value else "json"
    return "json"


def _one_kind(kinds: set[str]) -> str:
    """Return the kind of a column with values of some kinds."""
    return (kinds or {"text"}).pop() if len(kinds) < 2 else "json"
