"""Document files; guidelines.

====== ===================================================================================================
jsonl  an object a line, with one of `DOCNO_KEYS` (text or an integer), and optionally of `TITLE_KEYS`
       and `TEXT_KEYS` (text or null); the first key with a value counts, others are ignored
trec   ``<DOC>`` records. The title is the first of `TITLE_TAGS` that occurs outside ``<TEXT>``, else
       inside, its elements joined by a blank; the text is that of all ``<TEXT>`` elements, joined by a
       blank line, or, where there is none, everything after ``</DOCNO>``
tsv    ``docno<TAB>text`` or ``docno<TAB>title<TAB>text``, or as a line on top names the columns
auto   by the first line that is not blank: ``{`` begins JSON lines, ``<`` TREC, all else is tabs
====== ===================================================================================================

Text is raw: control characters, and lone surrogates from JSON escapes, stay. It is ``None`` where a JSON
object has none. Fault codes: ``json``, ``type``, ``missing`` (no docno), ``fields`` (no tab), ``id``,
``duplicate``, ``markup`` (a record that is not closed, text between records), ``utf8``, ``gzip``, ``empty``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import get_args

from store.errors import ArgumentError, FaultList
from store.fields import id_fault
from store.formats import DocumentFormat
from store.formats.syntax.compression import DamagedDataError
from store.formats.syntax.json_lines import IdRegister, read_texts
from store.formats.syntax.lines import BOM, DOCUMENTS, open_bytes, read_text_lines, told_kind
from store.formats.syntax.sgml import (
    Record,
    elements,
    fold,
    plain_text,
    read_records,
    shortened,
    without_comments,
)
from store.formats.topics import doubt_words, header_fields
from store.records import Document

DOCUMENT_FORMATS: tuple[DocumentFormat, ...] = get_args(DocumentFormat)

DOCNO_KEYS = ("docno", "id", "_id", "docid", "doc_id")
TITLE_KEYS = ("title",)
TEXT_KEYS = ("text", "contents", "body", "abstract")
TITLE_TAGS = ("TITLE", "HEADLINE", "TI", "HEAD")
_COLUMN_KEYS = (*DOCNO_KEYS, "pid", "document_id")
_FIELDS = {"title": TITLE_KEYS, "text": TEXT_KEYS}


def read_documents(
    path: str,
    *,
    format: DocumentFormat = "auto",  # noqa: A002 - the option's name
    doubt: Callable[[str], None] | None = None,
) -> Iterator[Document]:
    """Read documents one by one, in file order, those without faults; ``-`` is standard input.

    They are yielded while the file is read, and its faults raised at its end: **a caller keeps nothing of a
    file until this iterator has ended**.
    """
    if format not in DOCUMENT_FORMATS:
        raise ArgumentError("format", f"must be one of {', '.join(DOCUMENT_FORMATS)}", format)
    return _documents(path, format, doubt)


def _documents(path: str, form: DocumentFormat, doubt: Callable[[str], None] | None) -> Iterator[Document]:
    """Yield the documents of a file, then raise its faults."""
    faults = FaultList(path)
    ids = IdRegister("docno", faults)
    lines = read_text_lines(path, faults)
    # Blank lines on top carry nothing in any format; the first other line tells which it is.
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is not None:
        if form == "auto":
            start = first[1].lstrip()[0]
            form = "jsonl" if start == "{" else "trec" if start == "<" else "tsv"
        read = {"jsonl": _read_jsonl, "trec": _read_trec, "tsv": _read_tsv}[form]
        yield from read(chain([first], lines), ids, faults)
        if doubt and form == "tsv" and not faults:
            words = doubt_words(ids, "document", "docno, title, text")
            if words:
                doubt(words)
    if not ids and not faults:
        faults.add(None, "expected at least one document, got none", "empty")
    elif faults:
        told_kind(faults, DOCUMENTS)
    faults.raise_if_any()


def _read_jsonl(lines: Iterator[tuple[int, str]], ids: IdRegister, faults: FaultList) -> Iterator[Document]:
    """Read one JSON object a line."""
    for number, docno, texts, n_faults in read_texts(lines, DOCNO_KEYS, _FIELDS, faults):
        ids.add(number, docno, id_fault(docno))
        if len(faults) == n_faults:
            yield Document(docno, texts["title"] or "", texts["text"])


def _read_trec(lines: Iterator[tuple[int, str]], ids: IdRegister, faults: FaultList) -> Iterator[Document]:
    """Read ``<DOC>`` records."""
    for record in read_records(lines, "DOC", faults, must_close=True):
        n_faults = len(faults)
        docnos = elements(record.text, "DOCNO", one_line=True)
        if len(docnos) != 1:
            line = record.line_at(docnos[1][0]) if docnos else record.line
            got = f"{len(docnos)} of them" if docnos else "none"
            message = f"expected one `<DOCNO>` in each `<DOC>`, got {got}"
            faults.add(line, message, "markup" if docnos else "missing")
            continue
        start, end = docnos[0]
        docno = record.text[start:end].strip()
        ids.add(record.line_at(start), docno, _docno_fault(docno))
        if len(faults) == n_faults:
            yield _document(docno, record, end)


def _docno_fault(docno: str) -> str | None:
    """Say why the content of ``<DOCNO>`` is no docno."""
    if "<" in docno:
        return f"expected `</DOCNO>` after the docno, got {shortened(docno)}"
    return id_fault(docno)


def _document(docno: str, record: Record, docno_end: int) -> Document:
    """Make the document of a record."""
    before = without_comments(record.text[:docno_end])
    text = before + without_comments(record.text[docno_end:])
    bodies = elements(text, "TEXT")
    if not bodies:
        return Document(docno, _title(text), plain_text(text[len(before) :]))
    starts = [0, *(end for _, end in bodies)]
    ends = [*(start for start, _ in bodies), len(text)]
    outside = "".join(text[start:end] for start, end in zip(starts, ends, strict=True))
    body = "\n\n".join(filter(None, (plain_text(text[start:end]) for start, end in bodies)))
    return Document(docno, _title(outside) or _title(text), body)


def _title(text: str) -> str:
    """Return the title among the elements of `text`, on one line; empty when there is none."""
    for name in TITLE_TAGS:
        parts = (fold(plain_text(text[a:b])) for a, b in elements(text, name, one_line=True))
        if title := " ".join(filter(None, parts)):
            return title
    return ""


def _read_tsv(lines: Iterator[tuple[int, str]], ids: IdRegister, faults: FaultList) -> Iterator[Document]:
    """Read two or three columns; tabs after the last belong to it."""
    columns: list[str] | None = None
    for number, line in lines:
        if not line.strip():
            continue
        if columns is None:
            named = header_fields(line.split("\t"), _COLUMN_KEYS, _FIELDS)
            columns = named if named and "text" in named else [*_FIELDS]
            if columns is named:
                continue
        docno, *rest = line.split("\t", len(columns))
        if not rest:
            expected = "expected docno<TAB>text or docno<TAB>title<TAB>text"
            faults.add(number, f"{expected}, got a line without a tab", "fields")
            continue
        n_faults = len(faults)
        ids.add(number, docno, id_fault(docno))
        if len(faults) == n_faults:
            # One column alone is the text.
            texts = dict(zip(columns if len(rest) > 1 else ["text"], rest, strict=True))
            yield Document(docno, texts.get("title", ""), texts["text"])


def read_guidelines(path: str) -> str:
    """Read guidelines from a UTF-8 file, with its line ends, but without a byte order mark.

    `FormatError` is raised if it is not UTF-8, is empty or blank, or is damaged.
    """
    faults = FaultList(path)
    text = ""
    with open_bytes(path) as file:
        try:
            raw = file.read().removeprefix(BOM)
            text = raw.decode("utf-8")
        except DamagedDataError as error:
            faults.add(None, str(error), error.kind)
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            faults.add(line, f"expected UTF-8, got byte 0x{raw[error.start]:02x}", "utf8")
    if not (text.strip() or len(faults)):
        faults.add(None, "expected guidelines, got no text", "empty")
    faults.raise_if_any()
    return text
