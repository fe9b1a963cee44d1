"""Topic files, as tracks publish them.

====== ===================================================================================================
trec   tags, SGML or XML: records ``<top>``, ``<topic>`` or ``<query>``, whose elements and attributes are
       the parts of a topic; tags in either case, closed or not, the root left out or not. NIST's labels
       (``Number:``, ``Topic:``) are dropped. A document type may declare elements; one that declares
       entities or names another file is refused, as it can blow up a small file or fetch what it likes
tsv    ``topic<TAB>title[<TAB>description[<TAB>narrative]]``, or as a line on top names the columns
csv    as a line on top names the columns; between commas or semicolons, in quotes or not
jsonl  an object a line, or a list of objects; keys of an object ``metadata`` (BEIR) are keys, too
auto   by the first line that is not blank: ``<`` begins tags, ``{`` or ``[`` JSON, a tab or names between
       commas a table; else lines ``1:title`` (or ``<1>title``, or ``1:priority:title``), where all are
====== ===================================================================================================

A part is known by its name: one of `ID_NAMES`, or of `TEXT_NAMES` of a field, where the first with a value
counts, with a language before it or not (``EN-title``). Whatever else is text is a line of the narrative
under its own name, so that judges read it; what is no text (lists, objects, numbers) is left out, and told.
Blanks are folded between tags, where lines are wrapped; elsewhere text is raw. A topic may not begin with
``#``: trec_eval takes such a line of a qrels file for a comment.

Fault codes: ``json``, ``type``, ``missing`` (no id; nothing to read), ``fields`` (no tab, too many), ``id``,
``duplicate``, ``markup``, ``doctype``, ``entity``, ``utf8``, ``gzip``, ``long``, ``empty``.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from html import escape
from itertools import chain
from json import JSONDecoder
from typing import Any, NamedTuple, get_args

from store.errors import ArgumentError, FaultList
from store.fields import topic_fault
from store.formats import TopicFormat
from store.formats.json_lines import IdRegister, json_kind, json_object
from store.formats.lines import TOPICS, piped, report_kind
from store.formats.texts import INLINE_TAGS, begun, doubt_words, fold, shortened, unescape
from store.records import Topic
from store.text import counted

TOPIC_FORMATS: tuple[TopicFormat, ...] = get_args(TopicFormat)

ID_NAMES = (
    *("topic", "number", "num", "qid", "query_id", "topic_id", "identifier", "id", "_id", "no", "topicid"),
    *("topic_number", "queryid", "request_id", "question_id", "tweet_id", "iclaim_id", "q", "topic_num"),
)
TEXT_NAMES = {
    "title": ("title", "query", "text", "content", "iclaim"),
    "description": ("description", "question", "desc", "text"),
    "narrative": ("narrative", "narr"),
}
"""Names of each field, in lower case, with ``_`` for blanks and hyphens."""

_FIELD_OF = {name: field for field, names in reversed(TEXT_NAMES.items()) for name in names}
_KNOWN = {*_FIELD_OF, *ID_NAMES}
_PREFIX = re.compile(
    r"(?:[a-z]{2,3}|topic|query|tweet)_(?=(?:title|desc|description|narr|narrative|text|content)$)"
)
_OWN_LABEL = re.compile(r"[A-Z][\w()]*(?: [\w()]+)?: ")
_UNREAD = {"head", "lang", "xml:lang", "xmlns"}
"""Names of what says nothing about a topic."""


class Part(NamedTuple):
    """A named text of a topic."""

    line: int
    name: str
    text: str
    label: str
    """What it is called in the narrative; empty where its text says that itself."""

    @property
    def meant(self) -> str:
        """Its name as `ID_NAMES` and `TEXT_NAMES` write it."""
        return _meaning(self.name)


@lru_cache(1000)
def _meaning(name: str) -> str:
    return _PREFIX.sub("", re.sub(r"[ -]", "_", name.strip(" ").lower()))


def read_topics(
    path: str,
    *,
    format: TopicFormat = "auto",  # noqa: A002 - the option's name
    doubt: Callable[[str], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[Topic]:
    """Read a topic file, in file order; ``-`` is standard input, and compression is seen through.

    `doubt` is called when the first topic looks like a line of column names, `tell` when something is left
    out.
    """
    if format not in TOPIC_FORMATS:
        raise ArgumentError("format", f"must be one of {', '.join(TOPIC_FORMATS)}", format)
    faults = FaultList(path)
    topics = _Topics(faults)
    hint = None
    start, coming = begun(path, faults)
    lines = list(coming)
    form = format if format != "auto" else _form_of(start, lines)
    if form == "tsv":
        hint = _tsv_topics(lines, topics, faults)
        names = "topic, title, description, narrative"
        ids = (one.topic for one in topics.read)
        if doubt and not faults and (words := doubt_words(ids, "topic", names)):
            doubt(words)
    elif start:
        read = {"trec": _tagged_topics, "csv": _csv_topics, "jsonl": _json_topics, "": _colon_topics}[form]
        read(lines, topics, faults)
    if not topics.read and not faults:
        faults.add(None, "expected at least one topic, got none", "empty")
    elif faults:
        report_kind(faults, TOPICS)
        hint = faults.hint or hint
    faults.raise_if_any(hint=hint)
    if tell and topics.left_out:
        names = ", ".join(f"{name} ({n:,})" for name, n in topics.left_out.most_common(10))
        tell(f"left out, as it is no text: {names}")
    return topics.read


def _form_of(start: str, lines: Sequence[tuple[int, str]]) -> str:
    """Return the form of a file by the first line that is not blank; empty = ``1:title``."""
    if start.startswith(("{", "[")):
        return "jsonl"
    if start.startswith("<") and not _COLON.fullmatch(start):
        return "trec"
    if "\t" not in start:
        if _mark_of(start):
            return "csv"
        if lines and all(_COLON.fullmatch(line) for _, line in lines if line.strip()):
            return ""
    return "tsv"


class _Topics:
    """Topics of one file: each id good and once, each with something to read."""

    def __init__(self, faults: FaultList) -> None:
        self.read: list[Topic] = []
        self.left_out: Counter[str] = Counter()
        """Topics that have something that is no text, by its name."""
        self._faults = faults
        self._ids = IdRegister("topic", faults)

    def add(self, line: int, parts: Sequence[Part]) -> None:
        """Make a topic of its parts."""
        first: dict[str, Part] = {}
        more: list[Part] = []
        for part in parts:
            known = first.setdefault(part.meant, part)
            if known is not part:
                if part.meant in _KNOWN and (part.name, part.label) == (known.name, known.label):
                    message = f"expected `{part.name}` once in a topic, got it again"
                    self._faults.add(part.line, message, "markup")
                more.append(part)
        names = [name for name in ID_NAMES if name in first]
        is_titled = any(name in first for name in TEXT_NAMES["title"])
        if len(names) > 1 and names[0] == "topic" and (not is_titled or " " in first["topic"].text):
            del names[0]  # it is what the topic is about
            if "title" not in first:
                first["title"] = first.pop("topic")
        if not names:
            message = "expected an id in `topic`, `number`, `num`, `qid`, `id` or the like, got none"
            self._faults.add(line, message, "missing")
            return
        number = first.pop(names[0])
        self._ids.add(number.line, number.text, topic_fault(number.text))
        texts = {}
        for field, known_names in TEXT_NAMES.items():
            found = (name for name in known_names if name in first and first[name].text.strip())
            name = next(found, "")
            texts[field] = first.pop(name).text if name else ""
        bare = first.pop("", None)
        if bare and not (texts["title"] or texts["description"]):
            texts["title"] = bare.text  # TREC's clinical topics are text without fields
        elif bare:
            self._faults.add(bare.line, f"expected a tag before {shortened(bare.text)}, got none", "markup")
        left = {*map(id, (*first.values(), *more))}
        others = [
            f"{part.label}: {part.text}" if part.label else part.text
            for part in parts
            if id(part) in left
            and part.text.strip()
            and part.meant not in _UNREAD
            and not (part.meant in ID_NAMES and part.text == number.text)
        ]
        texts["narrative"] = "\n".join(filter(None, (texts["narrative"], *others)))
        if not any(text.strip() for text in texts.values()):
            message = f"expected a title, description or narrative of topic `{number.text}`, got none"
            self._faults.add(number.line, message, "missing")
        self.read.append(Topic(number.text, **texts))


_RECORD = re.compile(r"<(top|topic|inex_topic|query)(?=[\s>])", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*+)((?:[\s/][^<>]*+)?)>")
_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]*+)[^<>]*+>[^<>]*+</\1\s*+>")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>]++)""")
_UNSEEN = {"<!--": "-->", "<![CDATA[": "]]>"}
_UNSEEN_MARK = re.compile(r"<!--|<!\[CDATA\[")
_DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)
_DECLARED = re.compile(r"<!DOCTYPE([^<>\[]*+)(?:\[[^\]]*+\]\s*+)?>", re.IGNORECASE)
_OTHER_FILE = re.compile(r"\b(?:SYSTEM|PUBLIC)\s[^\n]*", re.IGNORECASE)
_ENTITY = re.compile(r"<!ENTITY\s++(?:%\s*+)?\S*+", re.IGNORECASE)
_INSTRUCTION = re.compile(r"<[?!][A-Za-z][^<>]*+>")
_BREAK_NAMES = "br dd div dl dt h1 h2 h3 h4 hr li ol p pre table tbody td th tr ul"
_BREAKS = frozenset(_BREAK_NAMES.split())
"""Tags that separate what is around them, and begin no part."""


def _tagged_topics(lines: Sequence[tuple[int, str]], topics: _Topics, faults: FaultList) -> None:
    if faults:
        return  # of what is left, a topic may be half
    text = _declared(_seen("\n" * (lines[0][0] - 1) + "\n".join(line for _, line in lines)), faults)
    kind = _RECORD.search(text)
    if kind is None and not faults:
        message = "expected `<top>`, `<topic>` or `<query>` around each topic, got none"
        faults.add(None, message, "empty")
    if kind is None:
        return
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line_at(offset: int) -> int:
        return bisect_right(starts, offset)

    for opening, end in _records(text, kind[1].lower(), line_at, faults):
        line = line_at(opening.start())
        topics.add(line, [*_attributes(line, opening[2]), *_elements(text, opening, end, line_at, faults)])


def _seen(text: str) -> str:
    """Blank out comments, and make text of CDATA; lines stay where they are."""
    kept: list[str] = []
    position = 0
    for mark in _UNSEEN_MARK.finditer(text):
        if mark.start() < position:
            continue
        end = text.find(_UNSEEN[mark[0]], mark.end())
        if end < 0:
            break
        inside = text[mark.end() : end]
        is_text = mark[0] != "<!--"
        kept += [text[position : mark.start()], escape(inside) if is_text else "\n" * inside.count("\n")]
        position = end + 3
    return "".join((*kept, text[position:]))


def _blanked(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _declared(text: str, faults: FaultList) -> str:
    """Blank out declarations; all of a file that declares entities, or is in part another file."""
    if (entity := _ENTITY.search(text)) is not None:
        message = f"expected a file without entities of its own, got {shortened(entity[0])}"
        faults.add(text.count("\n", 0, entity.start()) + 1, message, "entity")
        return ""
    for start in _DOCTYPE.finditer(text):
        declared = _DECLARED.match(text, start.start())
        other = declared and _OTHER_FILE.search(declared[1])
        if declared and not other:
            continue
        message, at = "expected the document type to end, got `<!DOCTYPE` without `>`", start.start()
        if declared and other:
            message = f"expected a document type without another file, got {shortened(other[0])}"
            at = declared.start(1) + other.start()
        faults.add(text.count("\n", 0, at) + 1, message, "doctype")
        return ""
    return _INSTRUCTION.sub(_blanked, _DECLARED.sub(_blanked, text))


def _records(
    text: str, tag: str, line_at: Callable[[int], int], faults: FaultList
) -> Iterator[tuple[re.Match[str], int]]:
    """Yield the opening tag and the end of each record; the next one closes a record that is open."""
    opened: re.Match[str] | None = None
    position = n_closed = 0
    boundary = re.compile(rf"<(/?){tag}((?:\s[^<>]*+)?)>", re.IGNORECASE)
    for match in chain(boundary.finditer(text), (None,)):
        end = match.start() if match else len(text)
        if opened and match is None and n_closed:
            faults.add(line_at(opened.start()), f"expected `</{tag}>`, got the end of the file", "markup")
        elif opened:
            yield opened, end
        else:
            outside = _TAG.sub(_blanked, _ELEMENT.sub(_blanked, text[position:end]))
            if lost := outside.strip():
                at = position + text[position:end].find(lost.partition("\n")[0])
                faults.add(line_at(at), f"expected `<{tag}>`, got {shortened(fold(lost))}", "markup")
        if match:
            n_closed += match[1] == "/"
            is_open = not match[1] and not match[2].endswith("/")
            if not match[1] and not is_open:
                yield match, match.end()
            opened, position = match if is_open else None, match.end()
    root = _TAG.search(text)
    if root and root[2].lower() in ("topics", "queries") and f"</{root[2]}" not in text[position:]:
        faults.add(line_at(len(text)), f"expected `</{root[2]}>`, got the end of the file", "markup")


def _attributes(line: int, text: str) -> Iterator[Part]:
    for name, value in _ATTRIBUTE.findall(text):
        value = fold(unescape(value.strip("\"'") if value[0] in "\"'" else value.removesuffix("/")))
        yield Part(line, name, value, name)


def _elements(
    text: str, record: re.Match[str], end: int, line_at: Callable[[int], int], faults: FaultList
) -> list[Part]:
    """Return the parts between the tags of a record; what stands outside of all tags has no name.

    An element that is closed holds all to its end; one that is not, all to the next part. A tag that is
    neither closed nor known begins a part at the start of a line only, and is else text.
    """
    is_nist = record[0][1:4].lower() == "top" and record[0][4:5] in " \t\n>"
    tags = [*_TAG.finditer(text, record.end(), end)]
    closed = {tag[2].lower() for tag in tags if tag[1]}
    found: list[tuple[int, str, str, list[str]]] = [(record.end(), "", "", [""])]
    nested: list[tuple[str, int]] = []
    position = record.end()
    for tag in (*tags, None):
        between = text[position : tag.start() if tag else end]
        pieces = found[-1][3]
        pieces[-1] += between
        if tag is None:
            break
        position, name = tag.end(), tag[2].lower()
        is_plain = not tag[3].strip(" /") or name in ("a", "font", "span")
        begins = not between.strip() or not between.rpartition("\n")[2].strip(" \t")
        is_known = name in _KNOWN or name in closed
        if tag[1] and name in (one for one, _ in nested):
            while nested.pop()[0] != name:
                pass
            if nested:
                pieces.append("")
            else:
                found.append((position, "", "", [""]))
        elif tag[1] or (name in INLINE_TAGS and is_plain):
            continue
        elif name in _BREAKS or tag[3].endswith("/"):
            pieces.append("")
        elif nested and (is_known or begins):
            pieces.append("")
            nested += [(name, tag.start())] if name in closed else []
        elif is_known or begins:
            label = " ".join((tag[2], *(part.text for part in _attributes(0, tag[3]) if part.text)))
            found.append((position, tag[2], label, [""]))
            nested += [(name, tag.start())] if name in closed else []
        else:
            pieces[-1] += tag[0]
    for name, at in nested[:1]:
        faults.add(line_at(at), f"expected `</{name}>` before the topic ends, got none", "markup")
    parts = []
    for at, name, label, pieces in found:
        texts = [*filter(None, (unescape(fold(piece)) for piece in pieces))]
        part = Part(line_at(at), name, "; ".join(texts).replace(":; ", ": "), label)
        if not name or part.meant in _FIELD_OF:
            part = part._replace(text=" ".join(texts))
        if is_nist:
            part = _without_label(part)
        if name or part.text:
            parts.append(part)
    return parts


def _without_label(part: Part) -> Part:
    """Drop what NIST writes before a part that is known; before another one it is what it is called."""
    field = _FIELD_OF.get(part.meant, "number")
    label = "topic:" if field == "title" else f"{field}:"
    if part.meant in _KNOWN and part.text[: len(label)].lower() == label:
        return part._replace(text=part.text[len(label) :].lstrip(" "))
    return part._replace(label="") if part.meant not in _KNOWN and _OWN_LABEL.match(part.text) else part


def _header(cells: Sequence[str]) -> list[Part] | None:
    """Return the columns that a line on top names; ``None`` = it names no id, or no text of a topic."""
    names = [Part(0, cell.strip(), "", cell.strip()) for cell in cells]
    known = [part.meant for part in names if part.meant in _KNOWN]
    has_both = bool({*known} & {*ID_NAMES} and {*known} & {*_FIELD_OF})
    return names if has_both and len({*known}) == len(known) and all(part.name for part in names) else None


_POSITIONS = [Part(0, name, "", name) for name in ("topic", *TEXT_NAMES)]


def _rows(
    rows: Iterable[tuple[int, Sequence[str]]], topics: _Topics, faults: FaultList, expected: str
) -> list[int]:
    """Read the rows of a table; return the lines of those that have but one cell, or too many."""
    columns: list[Part] | None = None
    wrong = []
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if columns is None:
            named = _header(cells)
            # Columns between tabs without a name are the fields that no other is, in their order.
            fields = {_FIELD_OF.get(part.meant, "topic") for part in named or ()}
            columns = [*(named or ()), *(part for part in _POSITIONS if expected and part.name not in fields)]
            if named is not None:
                continue
            if not expected:
                message = f"expected names of columns, an id and a title among them, got {cells!r:.60}"
                faults.add(number, message, "fields")
                return []
        if not 1 < len(cells) <= len(columns):
            got = "a line without a tab" if expected and len(cells) == 1 else counted(len(cells), "field")
            wanted = expected or f"2 to {len(columns)} fields, as the first line has"
            faults.add(number, f"expected {wanted}, got {got}", "fields")
            wrong.append(number)
            continue
        named_cells = zip(columns, cells, strict=False)
        topics.add(number, [part._replace(line=number, text=cell) for part, cell in named_cells])
    return wrong


def _tsv_topics(lines: Sequence[tuple[int, str]], topics: _Topics, faults: FaultList) -> str | None:
    """Read columns between tabs; return a hint when something else stands where a tab must."""
    rows = ((number, line.split("\t")) for number, line in lines)
    wrong = {*_rows(rows, topics, faults, "topic<TAB>title[<TAB>description[<TAB>narrative]]")}
    return _tabs_hint(faults.path, [line for at, line in lines if at in wrong], is_mixed=bool(topics.read))


def _mark_of(first: str) -> str | None:
    """Return what stands between the names of columns; ``None`` = the line names none."""
    return next((mark for mark in ",;" if _header([cell.strip(' "') for cell in first.split(mark)])), None)


def _csv_topics(lines: Sequence[tuple[int, str]], topics: _Topics, faults: FaultList) -> None:
    first = next(line for _, line in lines if line.strip())
    cells = csv.reader((f"{line}\n" for _, line in lines), delimiter=_mark_of(first) or ",")
    # A cell in quotes may go over several lines: a row is told by its first.
    firsts = chain([0], (cells.line_num for _ in iter(int, 1)))
    rows = ((lines[at][0], row) for at, row in zip(firsts, cells, strict=False))
    try:
        _rows(rows, topics, faults, "")
    except csv.Error as error:
        faults.add(lines[min(cells.line_num, len(lines)) - 1][0], f"expected CSV, got {error}", "fields")


_COLON = re.compile(r"(?:<(\d+)>|([^\s:<>,;]+):)\s*+(?:\d+:)?(\S.*)")


def _colon_topics(lines: Sequence[tuple[int, str]], topics: _Topics, faults: FaultList) -> None:  # noqa: ARG001 - no line is wrong
    for number, line in lines:
        if match := _COLON.fullmatch(line):
            texts = ("topic", match[1] or match[2]), ("title", match[3].rstrip())
            topics.add(number, [Part(number, name, text, "") for name, text in texts])


_MARKS = {",": "comma", ";": "semicolon", "|": "bar", ": ": "colon", " ": "blank"}
_WITH_NUMBER = re.compile(r"\S*\d")
_ID_AND_MARK = re.compile(r"[^\s,;|]+?([,;|]|:? )")


def _tabs_hint(path: str, bare: Sequence[str], *, is_mixed: bool) -> str | None:
    """Return what to type where all `bare` lines have the same in place of a tab, and others tabs."""
    names = [Part(0, cell.strip(' "'), "", "").meant for cell in re.split("[,;]", bare[0])] if bare else []
    if not is_mixed and {*names} & {*_FIELD_OF}:
        return f"the first line names no column of ids: add one, as in id,{names[0]}"
    # A title may have any mark: it is the first that parts it from the topic.
    found = {match and match[1] for match in map(_ID_AND_MARK.match, bare)}
    mark = found.pop() if len(found) == 1 else None
    if mark is None:
        return None
    if mark == " " and not all(map(_WITH_NUMBER.match, bare)):
        return "each line begins with the id of its topic, and a tab: 1<TAB>red shoes"
    passed = r"/\t/!" if is_mixed else ""
    command = piped(path, rf"sed '{passed}s/{mark} */\t/'")
    return f"turn the first {_MARKS[mark]} of each line into a tab: {command}"


_DECODER = JSONDecoder()
_LIST = re.compile(r"""\s*(?:\{\s*"[^"]*"\s*:\s*)?\[\s*(?=[{\]])""")
_LIST_END = re.compile(r"\]\s*\}?\s*")


_EXPORTED = frozenset({"listed", "version"})
"""What an exported collection says of its topics besides."""


def _json_topics(lines: Sequence[tuple[int, str]], topics: _Topics, faults: FaultList) -> None:
    for line, data in _objects(lines, faults):
        n_faults = len(faults)
        more = data.pop("metadata") if isinstance(data.get("metadata"), dict) else {}
        versions = data.get("topics")  # NeuCLIR has one a language
        versions = [one for one in versions if isinstance(one, dict)] if isinstance(versions, list) else []
        english = [one for one in versions if str(one.get("lang")).startswith("en")]
        parts = []
        for key, value in {**(english or versions or [{}])[0], **more, **data}.items():
            part = Part(line, key, "", key)
            is_id = part.meant in ID_NAMES
            if isinstance(value, str) or (is_id and type(value) is int):
                if key not in more or part.meant in _KNOWN:
                    parts.append(part._replace(text=str(value)))
            elif value is not None and (part.meant in _KNOWN):
                wanted = "text or an integer" if is_id else "text"
                faults.add(line, f"expected {wanted} in `{key}`, got {json_kind(value)}", "type")
            elif value is not None and key not in _EXPORTED:
                topics.left_out[key] += 1
        if len(faults) == n_faults:
            topics.add(line, parts)


def _objects(lines: Sequence[tuple[int, str]], faults: FaultList) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line and object of a file of one object a line, or of one list of objects."""
    first = next(line for _, line in lines if line.strip())
    is_list = _LIST.match(first) or not first.rstrip().endswith("}")
    text = "\n".join(line for _, line in lines) if is_list else ""
    found = []
    start = _LIST.match(text)
    position, place = start.end() if start else 0, text.count("\n", 0, start.end()) if start else 0
    with suppress(ValueError, RecursionError):  # what is wrong is told by line
        while start and text[position : position + 1] == "{":
            data, end = _DECODER.raw_decode(text, position)
            found.append((lines[place][0], data))
            after = re.compile(r"[\s,]*").match(text, end).end()  # type: ignore[union-attr]  # it matches all
            position, place = after, place + text.count("\n", position, after)
    if found and _LIST_END.fullmatch(text, position):
        yield from found
        return
    for line, one in lines:
        record = json_object(line, one, faults) if one.strip() else None
        if record is not None:
            yield line, record
