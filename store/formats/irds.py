"""Datasets of ir_datasets, read as files: a record is a line.

``irds:NAME#queries`` and ``irds:NAME#docs`` are JSON lines with the fields of a record, ``irds:NAME#qrels``
is qrels. Only what is on this machine is read: nothing is downloaded.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from store.errors import PoolerError, UnknownNameError
from store.formats.compression import ByteBlocks

PREFIX = "irds:"
HINT = "pip install 'pooler[datasets]'"
_WORDS = {"queries": "topics", "docs": "documents", "qrels": "judgements"}
_TEXTS = {"text", "contents", "body", "abstract", "title", "query", "question", "description"}
"""Fields of which one at least is read as the text of a topic or a document."""


def place_of(file: str, entity: str) -> str:
    """Return a file as it is named, and of a dataset the path of its queries, docs or qrels.

    >>> place_of("irds:vaswani", "queries"), place_of("topics.tsv", "queries")
    ('irds:vaswani#queries', 'topics.tsv')
    """
    return f"{file}#{entity}" if file.startswith(PREFIX) and "#" not in file else file


def open_dataset(path: str) -> BinaryIO:
    """Open what `place_of` named; `PoolerError`, at the latest when it is read: it is not here."""
    name, _, entity = path.removeprefix(PREFIX).partition("#")
    if entity not in _WORDS:
        raise PoolerError(f"{path}: expected one of {', '.join(f'#{one}' for one in _WORDS)} behind the name")
    dataset = _load(name)
    if not dataset.has(entity):
        has = [words for one, words in _WORDS.items() if dataset.has(one)]
        raise PoolerError(f"{PREFIX}{name} has no {_WORDS[entity]}; it has {', '.join(has) or 'nothing'}")
    lines = _qrels(dataset, name) if entity == "qrels" else _records(dataset, entity)
    return io.BufferedReader(ByteBlocks(f"{line}\n".encode() for line in _local(lines, name, entity)))


def _load(name: str) -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise PoolerError("ir_datasets is not installed", hint=HINT) from error
    try:
        return ir_datasets.load(name)
    except KeyError as error:
        hint = "`ir_datasets list` names them"
        raise UnknownNameError("dataset of ir_datasets", name, ir_datasets.registry, hint=hint) from error


class _AbsentError(BaseException):
    """Something would have to be downloaded; no ``except Exception`` on the way takes it for a failed try."""


@contextmanager
def _offline() -> Iterator[None]:
    """Let ir_datasets raise `_AbsentError` wherever it would ask the network."""
    from ir_datasets.util import download

    def refuse(source: Any) -> Any:
        raise _AbsentError(getattr(source, "url", None) or getattr(source, "uri", "a file"))

    kinds = [kind for kind in download.BaseDownload.__subclasses__() if kind is not download.LocalDownload]
    before = {kind: kind.stream for kind in kinds}
    for kind in kinds:
        kind.stream = refuse
    try:
        yield
    finally:
        for kind, stream in before.items():
            kind.stream = stream


def _local(lines: Iterator[str], name: str, entity: str) -> Iterator[str]:
    """Yield lines; the error names what of them is not on this machine, and how to get it."""
    hint = f"ir_datasets export {name} {entity} > /dev/null downloads it, by the terms of its publisher"
    while True:
        try:
            with _offline():  # not while somebody else works with a line
                line = next(lines, None)
        except _AbsentError as error:
            message = f"{PREFIX}{name}: its {_WORDS[entity]} are not on this machine: {error}"
            raise PoolerError(message, hint=hint) from error
        except FileNotFoundError as error:
            message = f"{PREFIX}{name}: its {_WORDS[entity]} are not on this machine: {error.args[0]}"
            hint = f"its publisher hands it out: see https://ir-datasets.com/{name.partition('/')[0]}.html"
            raise PoolerError(message, hint=hint) from error
        if line is None:
            return
        yield line


def _records(dataset: Any, entity: str) -> Iterator[str]:
    for record in getattr(dataset, f"{entity}_iter")():
        values = record._asdict()
        if not _TEXTS & {name for name, value in values.items() if value} and hasattr(record, "default_text"):
            values["text"] = record.default_text()
        yield json.dumps(values, default=_as_text)


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _qrels(dataset: Any, name: str) -> Iterator[str]:
    """Yield qrels; of those that say more than a grade, there is no such line."""
    fields = set(dataset.qrels_cls()._fields)
    if not fields >= {"query_id", "doc_id", "relevance"} or fields & {"subtopic_id", "iprob", "method"}:
        listed = ", ".join(dataset.qrels_cls()._fields)
        message = f"{PREFIX}{name}: expected judgements with one grade a topic and document, got {listed}"
        raise PoolerError(message)
    for one in dataset.qrels_iter():
        iteration = "_".join(str(getattr(one, "iteration", "") or "0").split())
        yield f"{one.query_id} {iteration} {one.doc_id} {one.relevance}"
