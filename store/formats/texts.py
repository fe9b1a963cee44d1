"""Document files; guidelines.

Document files:

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

TREC's SGML has no DTD anybody checks against: tags in either case, closing tags left out, ampersands that
begin no entity, HTML inside. Nothing here fails on such text, or takes more time than in proportion to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any, get_args

from store.errors import ArgumentError, FaultList
from store.fields import id_fault
from store.formats import DocumentFormat
from store.formats.compression import LIFTED, DamagedDataError, most_bytes
from store.formats.json_lines import IdRegister, read_texts
from store.formats.lines import BOM, DOCUMENTS, open_bytes, read_text_lines, report_kind
from store.records import Document


def begun(path: str, faults: FaultList) -> tuple[str, Iterator[tuple[int, str]]]:
    """Return the first line of a file that is not blank, which shows its format, and all from there on."""
    lines = read_text_lines(path, faults)
    first = next((one for one in lines if one[1].strip()), None)
    return ("", lines) if first is None else (first[1].lstrip(), chain([first], lines))


def doubt_words(ids: Iterable[str], noun: str, names: str) -> str | None:
    """Return a warning if the first id of a table looks like the name of its column; ``None`` = it does not.

    It does when it is a word without a digit, and every other has a digit. `names` are the column names
    that would have been known.
    """
    rest = iter(ids)
    first, second = next(rest, ""), next(rest, "")
    is_word = any(map(str.isalpha, first)) and not _has_digit(first)
    if not is_word or not _has_digit(second) or not all(map(_has_digit, rest)):
        return None
    return (
        f"the first line was read as {noun} `{first}`, but looks like names of columns, since all"
        f" other ids have digits; known names are {names}"
    )


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


DOCUMENT_FORMATS: tuple[DocumentFormat, ...] = get_args(DocumentFormat)

DOCNO_KEYS = ("docno", "id", "_id", "docid", "doc_id")
TITLE_KEYS = ("title",)
TEXT_KEYS = ("text", "contents", "body", "abstract")
TITLE_TAGS = ("TITLE", "HEADLINE", "TI", "HEAD")
_DOCNO_COLUMNS = (*DOCNO_KEYS, "pid", "document_id")
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
    start, lines = begun(path, faults)
    if start:
        if form == "auto":
            form = "jsonl" if start[0] == "{" else "trec" if start[0] == "<" else "tsv"
        read = {"jsonl": _jsonl_documents, "trec": _trec_documents, "tsv": _tsv_documents}[form]
        yield from read(lines, ids, faults, fields)
        names = "docno, title, text"
        if doubt and form == "tsv" and not faults and (words := doubt_words(ids, "document", names)):
            doubt(words)
    if not ids and not faults:
        faults.add(None, "expected at least one document, got none", "empty")
    elif faults:
        report_kind(faults, DOCUMENTS)
    faults.raise_if_any()


def _jsonl_documents(
    lines: Iterable[tuple[int, str]], ids: IdRegister, faults: FaultList, fields: Fields
) -> Iterator[Document]:
    for number, docno, texts, others, n_faults in read_texts(lines, DOCNO_KEYS, _FIELDS, faults):
        ids.add(number, docno, id_fault(docno))
        found = fields.of(number, others, faults) if others else ()
        if len(faults) == n_faults:
            yield Document(docno, texts["title"] or "", texts["text"], found)


def _trec_documents(
    lines: Iterable[tuple[int, str]], ids: IdRegister, faults: FaultList, fields: Fields
) -> Iterator[Document]:
    for record in read_records(lines, "DOC", faults):
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
        fault = f"expected `</DOCNO>` after the docno, got {shortened(docno)}" if "<" in docno else None
        ids.add(record.line_at(start), docno, fault or id_fault(docno))
        if len(faults) == n_faults:
            document, outside = _document(docno, record, end)
            found = fields.of(record.line, _elements(outside), faults)
            yield replace(document, fields=found) if found else document


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
    names = [cell.strip(" ") for cell in cells]
    known = [name.lower().replace(" ", "_").replace("-", "_") for name in names]
    meant = {key: field for field, keys in _FIELDS.items() for key in keys}
    named = [meant.get(one, name) for one, name in zip(known[1:], names[1:], strict=True)]
    is_each_once = len({name.lower() for name in named}) == len(named)
    is_header = known[0] in _DOCNO_COLUMNS and "text" in named and all(map(_NAME.fullmatch, names[1:]))
    return named if is_header and is_each_once else None


def _tsv_documents(
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
    """Read guidelines from a UTF-8 file, with its line ends, but without a byte order mark."""
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


_INLINE = "a abbr b big cite code em font i kbd mark q s small span strike strong sub sup tt u"
INLINE_TAGS = frozenset(_INLINE.split())
"""Tags that stand inside a word or a sentence; every other tag separates what is around it."""

# Possessive: `[^<>]*` may not take back what the name gave up, or a long name costs its square.
_TAG = re.compile(r"<[/!?]?([A-Za-z][\w:.-]*+)[^<>]*+>")
_ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")
_LEADING_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True)
class Record:
    """What stands between a record's opening and closing tag."""

    line: int
    """Line of the opening tag, from 1."""
    text: str

    def line_at(self, offset: int) -> int:
        """Return the line number of a place in `text`."""
        return self.line + self.text.count("\n", 0, offset)


def read_records(lines: Iterable[tuple[int, str]], tag: str, faults: FaultList) -> Iterator[Record]:
    """Cut a file into records, in file order; the tag is read in either case.

    Text outside every record is added to `faults`, as is a record left open. A record in which a line could
    not be read is left out: its fault is reported.
    """
    boundary = re.compile(rf"<(/?){re.escape(tag)}(?:\s[^<>]*)?>", re.IGNORECASE)
    opened = 0  # line of the open record's tag; 0 outside records
    n_faults = 0  # faults known when it opened; more of them = a line in it was lost
    parts: list[str] = []
    size, longest = 0, most_bytes()
    # Of the text before a record one line is reported, and none when the record may have begun on a
    # line that was lost: one that is missing here, or that `faults` knows from above the first.
    outside_told = bool(faults)
    next_number = 0
    for number, line in lines:
        outside_told = outside_told or 0 < next_number < number
        next_number = number + 1
        position = 0
        size += len(line) + 1
        for match in boundary.finditer(line) if "<" in line else ():
            before = line[position : match.start()]
            closes = match[1] == "/"
            if opened:
                parts.append(before)
                if len(faults) == n_faults and closes:
                    yield Record(opened, "\n".join(parts))
                elif len(faults) == n_faults:
                    faults.add(
                        opened, f"expected `</{tag}>` before the next `<{tag}>` on line {number}", "markup"
                    )
            elif _is_text(before) and not outside_told:
                faults.add(number, _outside(tag, before), "markup")
            opened, n_faults, parts, size = 0 if closes else number, len(faults), [], len(line)
            outside_told = False
            position = match.end()
        rest = line[position:]
        if opened and size > longest:
            faults.add(opened, f"expected a `<{tag}>` of at most {longest:,} bytes, got more", "long")
            faults.hint = LIFTED
            return
        if opened:
            parts.append(rest)
        elif not outside_told and _is_text(rest):
            faults.add(number, _outside(tag, rest), "markup")
            outside_told = True
    if opened and len(faults) == n_faults:
        faults.add(opened, f"expected `</{tag}>`, got the end of the file", "markup")


def _is_text(text: str) -> bool:
    return bool(_TAG.sub("", text).strip())


def _outside(tag: str, text: str) -> str:
    return f"expected `<{tag}>`, got {shortened(text.strip())}"


def shortened(text: str) -> str:
    """Quote the beginning of `text` for a message."""
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}..."


@cache
def _tags_of(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    escaped = re.escape(name)
    opening = re.compile(rf"<{escaped}(?:\s[^<>]*)?>", re.IGNORECASE)
    return opening, re.compile(rf"</{escaped}\s*>", re.IGNORECASE)


def elements(text: str, name: str, *, one_line: bool = False) -> list[tuple[int, int]]:
    """Return start and end of what is between the tags of one name, in either case; they do not nest.

    An element without closing tag ends at the end of `text`, or with `one_line` at the end of its line.
    """
    opening, closing = _tags_of(name)
    found: list[tuple[int, int]] = []
    position = 0
    may_close = True
    while match := opening.search(text, position):
        start = match.end()
        close = closing.search(text, start) if may_close else None
        if close:
            end, position = close.start(), close.end()
        else:
            may_close = False
            line_end = text.find("\n", start) if one_line else -1
            end = position = len(text) if line_end < 0 else line_end
        found.append((start, end))
    return found


def unescape(text: str) -> str:
    """Resolve ``&amp;`` ``&lt;`` ``&gt;`` ``&quot;`` ``&apos;`` and numbers; leave all else."""
    return _ENTITY.sub(_resolve, text) if "&" in text else text


def _resolve(match: re.Match[str]) -> str:
    named, decimal, hexadecimal = match.groups()
    if named:
        return _NAMED[named]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return match[0]
    return chr(code)


def fold(text: str) -> str:
    """Turn every run of ASCII blanks and line ends into one blank, and drop the outer ones.

    Other blanks stay: an ideographic space is a character of a Japanese text.
    """
    return _BLANKS.sub(" ", text).strip(" ")


def plain_text(text: str) -> str:
    """Strip tags and comments, resolve entities, and keep the lines.

    Tags of `INLINE_TAGS` vanish, every other tag becomes a line end; blank lines are dropped at both ends,
    and several of them inside become one.
    """
    if "<" in text:
        text = _TAG.sub(lambda tag: "" if tag[1].lower() in INLINE_TAGS else "\n", without_comments(text))
    text = _BLANK_LINES.sub("\n\n", _LEADING_BLANK_LINES.sub("", text))
    return unescape(text.rstrip(" \t\n\r"))


def without_comments(text: str) -> str:
    """Drop ``<!-- ... -->``; a comment that does not end stays."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + 3
    kept.append(text[position:])
    return "".join(kept)
