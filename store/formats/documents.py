"""Document files: JSON lines, TREC's `<DOC>` SGML, or tab-separated."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal, get_args

from store.errors import ArgumentError, FaultList
from store.formats.lines import id_fault, read_text_lines
from store.formats.sgml import (
    Record,
    elements,
    fold,
    plain_text,
    read_records,
    shortened,
)
from store.records import Document

DocumentFormat = Literal["auto", "jsonl", "trec", "tsv"]
DOCUMENT_FORMATS: tuple[DocumentFormat, ...] = get_args(DocumentFormat)

DOCNO_KEYS = ("docno", "id", "_id", "docid", "doc_id")
TITLE_KEYS = ("title",)
TEXT_KEYS = ("text", "contents", "body", "abstract")
TITLE_TAGS = ("TITLE", "HEADLINE", "TI", "HEAD")
_HEADERS = (["docno", "text"], ["docno", "title", "text"])


def read_documents(path: str, *, format: DocumentFormat = "auto") -> Iterator[Document]:  # noqa: A002 - as the option is called
    r"""Read documents one by one.

    The file may be larger than memory, so documents are yielded while it is read, and its faults
    are raised at the end: **a caller keeps nothing of a file until this generator has ended**. One
    transaction a file, rolled back on `FormatError`, does that.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input; gzip is seen through.
    format : {"auto", "jsonl", "trec", "tsv"}, default="auto"
        ``jsonl``: an object a line, with `DOCNO_KEYS` (text or an integer), and optionally
        `TITLE_KEYS` and `TEXT_KEYS` (text or null); the first key present counts, others are
        ignored. ``trec``: ``<DOC>`` records. ``tsv``: ``docno<TAB>text`` or
        ``docno<TAB>title<TAB>text``, with or without a line of these names on top. ``auto``: by the
        first line that is not blank: ``{`` is JSON lines, ``<`` TREC, all else tab-separated.

    Yields
    ------
    Document
        In file order, each of a line or record without faults. The text is raw: control
        characters and lone surrogates (from JSON escapes) stay. It is ``None`` in JSON lines
        without text.

    Raises
    ------
    FormatError
        When the file has been read, with every fault of it, by code: ``json``, ``type``,
        ``missing`` (no docno), ``fields`` (no tab), ``id``, ``duplicate``, ``markup`` (a record
        that is not closed, text between records), ``utf8``, ``gzip``, ``empty``.
    ArgumentError
        If `format` is none of the above.
    PoolerError
        If the file cannot be opened.

    Notes
    -----
    In a ``<DOC>``, the title is the first of `TITLE_TAGS` that occurs outside ``<TEXT>``, else
    inside, its elements joined by a blank; the text is that of all ``<TEXT>`` elements, joined by a
    blank line, or, where there is none, everything after ``</DOCNO>``. Tags are stripped and the
    basic entities resolved (`store.formats.sgml.plain_text`), but not in docnos. O(n) in time; the
    docnos of the whole file are kept to find duplicates, about 200 bytes each.

    Examples
    --------
    >>> from pathlib import Path
    >>> file = getfixture("tmp_path") / "docs.jsonl"
    >>> _ = file.write_text('{"id": 7, "title": "Tides", "contents": "Why the sea rises."}\n')
    >>> list(read_documents(str(file)))
    [Document(docno='7', title='Tides', text='Why the sea rises.')]
    """
    if format not in DOCUMENT_FORMATS:
        raise ArgumentError("--format", f"must be one of {', '.join(DOCUMENT_FORMATS)}", format)
    return _documents(path, format)


def _documents(path: str, form: DocumentFormat) -> Iterator[Document]:
    """Yield the documents of a file, then raise its faults."""
    faults = FaultList(path)
    lines = read_text_lines(path, faults)
    # Leading blank lines carry nothing in any format; the first other line tells which it is.
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is not None:
        if form == "auto":
            form = _sniff(first[1])
        ids = IdRegister("docno", faults)
        reader = {"jsonl": _read_jsonl, "trec": _read_trec, "tsv": _read_tsv}[form]
        yield from reader(chain([first], lines), ids, faults)
        n_documents = len(ids)
    else:
        n_documents = 0
    if not n_documents and not faults:
        faults.add(None, "expected at least one document, got none", "empty")
    faults.raise_if_any()


def _sniff(line: str) -> DocumentFormat:
    """Tell the format by the first line."""
    start = line.lstrip()[:1]
    return "jsonl" if start == "{" else "trec" if start == "<" else "tsv"


class IdRegister:
    """Ids of one file: each well formed, each once.

    Parameters
    ----------
    kind : str
        What the ids are of, for messages: ``docno``, ``topic``.
    faults : FaultList
        Where bad and repeated ids are told.
    """

    def __init__(self, kind: str, faults: FaultList) -> None:
        self._kind = kind
        self._faults = faults
        self._line_of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._line_of)

    def accept(self, line: int, text: str, message: str | None) -> bool:
        """Register an id; ``False`` when `message` says it is bad, or it was there before."""
        if message:
            self._faults.add(line, message, "id")
            return False
        first = self._line_of.setdefault(text, line)
        if first != line or len(self._line_of) == self._n_before:
            self._faults.add(
                line,
                f"expected each {self._kind} once, got `{text}` again; it is on line {first}",
                "duplicate",
            )
            return False
        return True


def _read_jsonl(
    lines: Iterator[tuple[int, str]], ids: IdRegister, faults: FaultList
) -> Iterator[Document]:
    """Read one JSON object a line."""
    for number, line in lines:
        if not line.strip():
            continue
        record = json_object(number, line, faults)
        if record is None:
            continue
        docno = id_value(number, record, DOCNO_KEYS, faults)
        title = text_value(number, record, TITLE_KEYS, faults)
        text = text_value(number, record, TEXT_KEYS, faults)
