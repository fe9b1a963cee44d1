"""Document files; guidelines.

====== ===================================================================================================
jsonl  an object a line, with one of `DOCNO_KEYS` (text or an integer), and optionally of `TITLE_KEYS`
       and `TEXT_KEYS` (text or null); the first key with a value counts, others may be fields; keys of an
       object ``metadata`` (BEIR) are such keys, too
trec   ``<DOC>`` records. The title is the first of `TITLE_TAGS` that occurs outside ``<TEXT>``, else
       inside, its elements joined by a blank; the text is that of all ``<TEXT>`` elements, joined by a
       blank line, or, where there is none, everything after ``</DOCNO>``; elements outside ``<TEXT>`` may
       be fields
tsv    ``docno<TAB>text`` or ``docno<TAB>title<TAB>text``, or as a line on top names the columns, of which
       others than these may be fields
auto   by the first line that is not blank: ``{`` begins JSON lines, ``<`` TREC, all else is tabs
====== ===================================================================================================

Fields are wanted by name, in any case (`Fields`): a list is joined, and what is empty is none.
Text is raw: control characters, and lone surrogates from JSON escapes, stay. It is ``None`` where a JSON
object has none. Fault codes: ``json``, ``type``, ``missing`` (no docno), ``fields`` (no tab), ``id``,
``duplicate``, ``markup`` (a record that is not closed, text between records), ``utf8``, ``gzip``, ``empty``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, get_args

from store.errors import ArgumentError, FaultList
from store.fields import id_fault
from store.formats import DocumentFormat
from store.formats.compression import DamagedDataError
from store.formats.json_lines import IdRegister, read_texts
from store.formats.lines import BOM, DOCUMENTS, open_bytes, read_text_lines, report_kind
from store.formats.sgml import (
    INLINE_TAGS,
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
_OPENING = re.compile(r"<([A-Za-z][\w:.-]*+)")
_NAME = re.compile(r"[^\W\d][\w:.-]{0,39}")
_MOST_TAGS = 50
"""Elements of a record that are looked at: each costs a look through the record."""
_MOST_NAMES = 1000
"""Names of fields that are counted: a file may have another one in every line."""


class Fields:
    """Takes what is wanted of what documents have besides title and text, and counts the rest."""

    def __init__(self, wanted: Sequence[str] = ()) -> None:
        self._wanted = {name.lower(): name for name in wanted}
        self.taken: Counter[str] = Counter()
        """Documents that have a wanted field, by its name."""
        self.left_out: Counter[str] = Counter()
        """Documents that have another one, by its name in the file."""

    @property
    def missing(self) -> list[str]:
        """Wanted fields that no document has."""
        return [name for name in self._wanted.values() if not self.taken[name]]

    def of(self, line: int, others: Mapping[str, Any], faults: FaultList) -> tuple[tuple[str, str], ...]:
        """Return the wanted fields of a document; a value that is none is a fault of code ``type``."""
        found: dict[str, str] = {}
        for key, value in others.items():
            name = self._wanted.get(key.lower())
            if name is None:
                if value not in (None, "", [], {}) and (
                    key in self.left_out or len(self.left_out) < _MOST_NAMES
                ):
                    self.left_out[key] += 1
                continue
            parts = value if isinstance(value, list) else [value]
            if any(isinstance(part, (dict, list)) for part in parts):
                faults.add(line, f"expected text, a number or a list of these in `{key}`", "type")
                continue
            text = "; ".join(_as_text(part) for part in parts if part not in (None, ""))
            if text.strip() and name not in found:
                found[name] = text
        self.taken.update(found.keys())
        return tuple((name, found[name]) for name in self._wanted.values() if name in found)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def read_documents(
    path: str,
    *,
    format: DocumentFormat = "auto",  # noqa: A002 - the option's name
    doubt: Callable[[str], None] | None = None,
    fields: Fields | None = None,
    markup: str | None = None,
) -> Iterator[Document]:
    """Read documents one by one, in file order, those without faults; ``-`` is standard input.

    They are yielded while the file is read, and its faults raised at its end: **a caller keeps nothing of a
    file until this iterator has ended**. `markup`: that of all its texts, see `store.formats.markup`.
    """
    if format not in DOCUMENT_FORMATS:
        raise ArgumentError("format", f"must be one of {', '.join(DOCUMENT_FORMATS)}", format)
    documents = _documents(path, format, doubt, fields or Fields())
    return documents if markup is None else (replace(one, markup=markup) for one in documents)


def _documents(
    path: str, form: DocumentFormat, doubt: Callable[[str], None] | None, fields: Fields
) -> Iterator[Document]:
    faults = FaultList(path)
    ids = IdRegister("docno", faults)
    lines = read_text_lines(path, faults)
    # Blank lines on top carry nothing in any format; the first other line shows which it is.
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is not None:
        if form == "auto":
            start = first[1].lstrip()[0]
            form = "jsonl" if start == "{" else "trec" if start == "<" else "tsv"
        read = {"jsonl": _read_jsonl, "trec": _read_trec, "tsv": _read_tsv}[form]
        yield from read(chain([first], lines), ids, faults, fields)
        if doubt and form == "tsv" and not faults:
            words = doubt_words(ids, "document", "docno, title, text")
            if words:
                doubt(words)
    if not ids and not faults:
        faults.add(None, "expected at least one document, got none", "empty")
    elif faults:
        report_kind(faults, DOCUMENTS)
    faults.raise_if_any()


def _read_jsonl(
    lines: Iterable[tuple[int, str]], ids: IdRegister, faults: FaultList, fields: Fields
) -> Iterator[Document]:
    for number, docno, texts, others, n_faults in read_texts(lines, DOCNO_KEYS, _FIELDS, faults):
        ids.add(number, docno, id_fault(docno))
        found = fields.of(number, others, faults) if others else ()
        if len(faults) == n_faults:
            yield Document(docno, texts["title"] or "", texts["text"], found)


def _read_trec(
    lines: Iterable[tuple[int, str]], ids: IdRegister, faults: FaultList, fields: Fields
) -> Iterator[Document]:
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
            document, outside = _document(docno, record, end)
            found = fields.of(record.line, _elements(outside), faults)
            yield replace(document, fields=found) if found else document


def _docno_fault(docno: str) -> str | None:
    if "<" in docno:
        return f"expected `</DOCNO>` after the docno, got {shortened(docno)}"
    return id_fault(docno)


def _document(docno: str, record: Record, docno_end: int) -> tuple[Document, str]:
    """Make the document of a record; return it and what is outside its text, if that has tags of its own."""
    before = without_comments(record.text[:docno_end])
    text = before + without_comments(record.text[docno_end:])
    bodies = elements(text, "TEXT")
    if not bodies:
        return Document(docno, _title(text), plain_text(text[len(before) :])), ""
    starts = [0, *(end for _, end in bodies)]
    ends = [*(start for start, _ in bodies), len(text)]
    outside = "".join(text[start:end] for start, end in zip(starts, ends, strict=True))
    body = "\n\n".join(filter(None, (plain_text(text[start:end]) for start, end in bodies)))
    return Document(docno, _title(outside) or _title(text), body), outside


def _elements(text: str) -> dict[str, str]:
    """Return the content of the elements outside the text of a record, by name in lower case."""
    names = dict.fromkeys(tag[1].lower() for tag in _OPENING.finditer(text))
    title = next((tag.lower() for tag in TITLE_TAGS if tag.lower() in names), "")
    found: dict[str, str] = {}
    for name in [*names][:_MOST_TAGS]:
        if name not in ("docno", "text", title) and name not in INLINE_TAGS:
            parts = (fold(plain_text(text[a:b])) for a, b in elements(text, name, one_line=True))
            found[name] = "; ".join(filter(None, parts))
    return found


def _title(text: str) -> str:
    """Return the title among the elements of `text`, on one line; empty when there is none."""
    for name in TITLE_TAGS:
        parts = (fold(plain_text(text[a:b])) for a, b in elements(text, name, one_line=True))
        if title := " ".join(filter(None, parts)):
            return title
    return ""


def _columns(cells: Sequence[str]) -> list[str] | None:
    """Return what the columns but the first are, as a line on top names them; ``None`` = it does not.

    A text must be among them; other names than those of title and text are of fields.
    """
    named = header_fields(cells, _COLUMN_KEYS, _FIELDS)
    if named is None and cells[0].strip(" ").lower() in _COLUMN_KEYS:
        meant = {key: name for name, keys in _FIELDS.items() for key in keys}
        names = [cell.strip(" ") for cell in cells[1:]]
        named = [meant.get(name.lower(), name) for name in names]
        lower = [name.lower() for name in named]
        if len(set(lower)) < len(lower) or not all(map(_NAME.fullmatch, names)):
            return None
    return named if named and "text" in named else None


def _read_tsv(
    lines: Iterable[tuple[int, str]], ids: IdRegister, faults: FaultList, fields: Fields
) -> Iterator[Document]:
    """Read two or three columns, or as many as a line on top names; tabs after the last belong to it."""
    columns: list[str] | None = None
    for number, line in lines:
        if not line.strip():
            continue
        if columns is None:
            named = _columns(line.split("\t"))
            columns = named or [*_FIELDS]
            if named:
                continue
        docno, *rest = line.split("\t", len(columns))
        if not rest:
            expected = "expected docno<TAB>text or docno<TAB>title<TAB>text"
            faults.add(number, f"{expected}, got a line without a tab", "fields")
            continue
        n_faults = len(faults)
        ids.add(number, docno, id_fault(docno))
        is_short = len(rest) < len(columns)
        if is_short and (len(rest) > 1 or not set(columns) <= _FIELDS.keys()):
            names = ", ".join(("docno", *columns))
            message = f"expected {len(columns) + 1} fields ({names}), got {len(rest) + 1}"
            faults.add(number, message, "fields")
        if len(faults) == n_faults:
            # One column alone is the text.
            texts = dict(zip(["text"] if is_short else columns, rest, strict=True))
            others = {name: text for name, text in texts.items() if name not in _FIELDS}
            found = fields.of(number, others, faults) if others else ()
            yield Document(docno, texts.get("title", ""), texts["text"], found)


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
