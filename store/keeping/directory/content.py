"""Topics, documents, guidelines, runs."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Row, func, select

from store.content.documents import document_sha256
from store.db.packing import pack_ranking, unpack_floats, unpack_integers
from store.db.tables import DOCUMENT, DOCUMENT_METADATA, GUIDELINE, RANKING, RUN, TOPIC, TOPIC_VERSION
from store.errors import PoolerError
from store.fields import UnfitValueError
from store.formats.run_header import header_of
from store.formats.syntax.compression import DamagedDataError
from store.formats.syntax.lines import open_bytes, read_text_lines
from store.keeping.directory import tables
from store.keeping.directory.tables import (
    FileColumn,
    FileTable,
    Incoming,
    Kind,
    Outgoing,
    or_none,
    whole,
    word,
)
from store.readable import MARKUPS
from store.records import Document, Run
from store.text import natural_key

_BATCH = 500


def _read_version(value: int) -> int:
    """Read the version of a topic's text."""
    if type(value) is not int or not 1 <= value <= tables.MOST:
        message = f"expected a number from 1, got {value}"
        raise UnfitValueError(message)
    return value


_TEXTS = tuple(FileColumn(name, tables.JSON_TEXT) for name in ("title", "description", "narrative"))
_VERSION = Kind(read=_read_version, types=(int,))
_CHANGED_AT = or_none(tables.TIME, None)
TOPICS = FileTable(
    "topics.jsonl",
    "topics; one JSON object a line",
    (
        FileColumn("topic", Kind(tables.TOPIC_ID.write), into="number"),
        *_TEXTS,
        FileColumn("listed", tables.JSON_BOOL, " (false = known only from a run or qrels), "),
        FileColumn("version", _VERSION, " of the text and when it came, "),
        FileColumn("changed_at", _CHANGED_AT, " (null = it is the first)"),
    ),
    into="topic",
    counts="topics",
    key=("number",),
    again="expected each id once, got `{number}` again",
    numbers="topics",
    later={"version": 1, "changed_at": None},
    is_needed=True,
)
TOPIC_VERSIONS = FileTable(
    "topic_versions.jsonl",
    "texts that topics had before",
    (
        FileColumn("topic", tables.JSON_TEXT, into="topic_id", of="topics"),
        *_TEXTS,
        FileColumn("version", _VERSION),
        FileColumn("changed_at", _CHANGED_AT),
    ),
    into="topic_version",
    counts="topic_versions",
)
_OR_NULL = or_none(tables.JSON_TEXT, None)
DOCUMENTS = FileTable(
    "documents.jsonl",
    "documents; one JSON object a line",
    (
        FileColumn("docno", Kind(tables.ID.write)),
        FileColumn("title", _OR_NULL),
        FileColumn("text", _OR_NULL, " (null = not here), "),
        FileColumn(
            "sha256", _OR_NULL, " (of the length of the title in bytes in decimal, a blank, title and text), "
        ),
        FileColumn("listed", tables.JSON_BOOL),
    ),
    into="document",
    counts="documents",
    key=("docno",),
    again="expected each id once, got `{docno}` again",
    numbers="documents",
    is_needed=True,
)
DOCNOS = FileTable(
    "docnos.tsv",
    "documents without their texts",
    (
        FileColumn("docno", tables.ID),
        FileColumn("listed", tables.YES_NO, " (no = known only from a run or qrels)"),
    ),
    into="document",
    counts="documents",
    key=("docno",),
    again=DOCUMENTS.again,
    numbers="documents",
    is_needed=True,
)


def _read_fields(value: dict[str, Any]) -> str:
    """Read the values of fields, into the column they are stored in."""
    if not all(isinstance(one, str) for one in value.values()):
        message = "expected text as the value of every field"
        raise UnfitValueError(message)
    return json.dumps(value, ensure_ascii=False)


DOCUMENT_FIELDS = FileTable(
    "document_fields.jsonl",
    "what is known of documents besides title and text",
    (
        FileColumn("docno", tables.JSON_TEXT, into="document_id", of="documents"),
        FileColumn("markup", or_none(word(MARKUPS), None), " of the text (null = it is plain), "),
        FileColumn("fields", Kind(json.loads, _read_fields, (dict,)), " (their values by name)"),
    ),
    into="document_metadata",
    counts="document_fields",
    key=("document_id",),
    again="expected each document once, got another line of it",
)
GUIDELINES = FileTable(
    "guidelines.tsv",
    "versions of the judging guidelines",
    (FileColumn("version", whole(1)), FileColumn("created_at", tables.TIME), FileColumn("file")),
    into="guideline",
    counts="guidelines",
    key=("version",),
    again="expected each version once, got {version} again",
)
RUNS = FileTable(
    "runs.tsv",
    "runs",
    (
        FileColumn("tag", tables.ID),
        FileColumn("file", into="run_file"),
        FileColumn("sha256", about=" of that file, ", into="file_sha256"),
        FileColumn("group"),
        FileColumn("contributes", tables.YES_NO, " (whether it feeds pools), "),
        FileColumn("priority", whole()),
        FileColumn("original_file", about=" and ", into="file"),
        FileColumn("submitted_sha256", about=" of the file that was handed in, ", into="sha256"),
        FileColumn("imported_at", tables.TIME),
    ),
    into="run",
    counts="runs",
    key=("tag",),
    again="expected each tag once, got `{tag}` again",
    numbers="runs",
)


def write_topics(out: Outgoing) -> None:
    """Write every topic, in natural order, and the texts that some had before, the oldest of each first."""
    topics = list(out.session.execute(select(TOPIC)).mappings())
    topics.sort(key=lambda row: natural_key(row["number"]))
    TOPICS.write(out, topics)
    earlier = list(out.session.execute(select(TOPIC_VERSION)).mappings())
    earlier.sort(key=lambda row: (natural_key(out.topics[row["topic_id"]]), row["version"]))
    TOPIC_VERSIONS.write(out, earlier)


def read_topics(coming: Incoming) -> None:
    """Read what `write_topics` wrote: every version below the one that a topic has now."""
    newest: dict[int, int] = {}

    def take(row: dict[str, Any]) -> None:
        coming.topic_versions[row["number"]] = newest[row["id"]] = row["version"]

    TOPICS.fill(coming, take)
    names = {row_id: name for name, row_id in coming.topics.items()}
    seen: set[tuple[int, int]] = set()

    def take_earlier(row: dict[str, Any]) -> str | None:
        topic, version = row["topic_id"], row["version"]
        if version >= newest.get(topic, version + 1):
            return f"expected a version before {newest[topic]}, got {version}"
        if topic in names and (topic, version) in seen:
            return f"expected each version once, got {version} of `{names[topic]}` again"
        seen.add((topic, version))
        return None

    TOPIC_VERSIONS.fill(coming, take_earlier)
    found = Counter(topic for topic, _ in seen)
    for name, version in coming.topic_versions.items():
        if (n_earlier := found[coming.topics[name]]) != version - 1:
            message = f"expected {version - 1} earlier texts of `{name}`, got {n_earlier}"
            coming.tell(TOPIC_VERSIONS.file, None, message)


def write_documents(out: Outgoing) -> None:
    """Write every document, or its docno alone; docnos bytewise, as both engines compare them."""
    table = DOCUMENTS if out.export_choice.texts else DOCNOS
    n_documents = out.session.scalar(select(func.count()).select_from(DOCUMENT)) or 0
    query = select(*(DOCUMENT.c[column.key] for column in table.columns)).order_by(DOCUMENT.c.docno)
    out.counts["texts"] = 0

    def rows() -> Iterator[Any]:
        for row in result.mappings():
            out.counts["texts"] += row.get("text") is not None
            yield row
            advance(1)

    with (
        out.progress("documents", n_documents) as advance,
        out.session.connection().execute(query, execution_options={"yield_per": _BATCH}) as result,
    ):
        table.write(out, rows())
    if out.export_choice.texts:
        known = out.session.execute(select(DOCUMENT_METADATA)).mappings()
        DOCUMENT_FIELDS.write(out, sorted(known, key=lambda row: out.documents[row["document_id"]]))


def read_documents(coming: Incoming) -> None:
    """Read what `write_documents` wrote."""
    table = DOCNOS if DOCNOS.file in coming.files else DOCUMENTS

    def take(row: dict[str, Any]) -> str | None:
        advance(1)
        text, due = row.get("text"), None
        if text is not None:
            due = document_sha256(Document(row["docno"], row["title"] or "", text))
        stated = row.get("sha256")
        return None if stated == due else f"expected the hash of title and text, {due}, got {stated}"

    with coming.progress("documents", coming.counts.get("documents", 0)) as advance:
        table.fill(coming, take)
    DOCUMENT_FIELDS.fill(coming)


def write_guidelines(out: Outgoing) -> None:
    """Write every version of the guidelines as a markdown file, and a list of them."""
    listed = []
    for row in out.session.execute(select(GUIDELINE).order_by(GUIDELINE.c.version)):
        file = f"guidelines/v{row.version}.md"
        out.writer.write(file, row.text)
        listed.append({**row._mapping, "file": file})
    GUIDELINES.write(out, listed)


def read_guidelines(coming: Incoming) -> None:
    """Read what `write_guidelines` wrote."""

    def take(row: dict[str, Any]) -> str | None:
        file = row.pop("file")
        if file not in coming.files:
            return f"expected a file of the manifest, got {file!r}"
        coming.guidelines.add(row["version"])
        row["text"] = _guideline_text(coming, file)
        return None

    GUIDELINES.fill(coming, take)


def _guideline_text(coming: Incoming, file: str) -> str:
    """Read a version of the guidelines."""
    with open(coming.path(file), "rb") as stream:  # noqa: PTH123 - a path in text
        content = stream.read()
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        coming.tell(file, line, f"expected UTF-8, got byte 0x{content[error.start]:02x}")
        return ""


_AT_ONCE = 64
"""Rankings in memory at a time."""
_PIECE = 1 << 18
"""Bytes of a file in memory at a time."""
NO_RANK = "-"
"""Stands in the fourth column where the file handed in had ranks that are no integers."""
_RANK = re.compile(r"-?[0-9]{1,19}")
_LONG = np.iinfo(np.int64)


def write_runs(out: Outgoing) -> None:
    """Write every run, or none at all; tags bytewise."""
    out.counts["run_lines"] = 0
    if not out.export_choice.runs:
        return
    runs = list(out.session.execute(select(RUN).order_by(RUN.c.tag)))
    if not runs:
        return
    stems = tables.file_stems(run.tag for run in runs)
    files = {run.id: f"runs/{stems[run.tag]}.run" for run in runs}
    by_run = select(RANKING.c.run_id, func.sum(RANKING.c.length)).group_by(RANKING.c.run_id)
    sizes = {run_id: int(length) for run_id, length in out.session.execute(by_run)}
    n_lines = sum(sizes.values())
    handed_in = _files_of(out.export_choice.run_files)
    is_bare = out.export_choice.layout == "trec"  # whose readers know no comments
    with out.progress("runs", n_lines) as advance:
        for run in runs:
            file, original = files[run.id], handed_in.get(run.sha256)
            if original is not None and out.writer.keeps(file) and not (is_bare and run.header):
                _copy(out, original, run, file)
            else:
                out.rewritten_runs.append(run.tag)
                with out.writer.text(file) as stream:
                    stream.write("" if is_bare else run.header or "")
                    stream.writelines(_text(out, run.tag, row) for row in _rankings(out, run.id))
            advance(sizes.get(run.id, 0))
    kept = {run_id: file for run_id, file in files.items() if out.writer.keeps(file)}
    written = {run_id: out.writer.files[file].sha256 for run_id, file in kept.items()}
    RUNS.write(
        out,
        ({**run._mapping, "run_file": files[run.id], "file_sha256": written.get(run.id, "")} for run in runs),
    )
    out.counts["run_lines"] = n_lines


def _files_of(folder: Path | None) -> dict[str, Path]:
    """Return the files in a folder, compressed ones too, by the SHA-256 of their text."""
    if folder is None:
        return {}
    if not folder.is_dir():
        message = f"{folder}: there is no such folder"
        raise PoolerError(message)
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with suppress(PoolerError, DamagedDataError), open_bytes(str(path)) as file:
            digest = sha256()
            while piece := file.read(_PIECE):
                digest.update(piece)
            found[digest.hexdigest()] = path
    return found


def _copy(out: Outgoing, original: Path, run: Row[Any], file: str) -> None:
    """Write the text of the file that was handed in."""
    with open_bytes(str(original)) as text, out.writer.text(file) as stream:
        shutil.copyfileobj(text, stream.buffer)
    if out.writer.files[file].sha256 != run.sha256:
        message = f"{original} was changed while it was read"
        raise PoolerError(message, hint="export again")


def _rankings(out: Outgoing, run_id: int) -> Iterator[Row[Any]]:
    """Yield the rankings of a run, topics in natural order, a few in memory at a time."""
    query = select(RANKING.c.topic_id).where(RANKING.c.run_id == run_id)
    topics = sorted(out.session.scalars(query), key=lambda topic: natural_key(out.topics[topic]))
    for start in range(0, len(topics), _AT_ONCE):
        some = topics[start : start + _AT_ONCE]
        rows = out.session.execute(
            select(RANKING).where(RANKING.c.run_id == run_id, RANKING.c.topic_id.in_(some))
        )
        by_topic = {row.topic_id: row for row in rows}
        yield from (by_topic[topic] for topic in some)


def _text(out: Outgoing, tag: str, row: Row[Any]) -> str:
    """Return the lines of a ranking, in file order."""
    in_file = np.argsort(unpack_integers(row.positions, row.length))
    # To SQLite, a part of no bytes is no value.
    names = out.documents
    docnos = [names[number] for number in np.frombuffer(row.document_ids or b"", "<i4")[in_file].tolist()]
    scores = unpack_floats(row.scores)[in_file].tolist()
    ranks = None if row.ranks is None else unpack_integers(row.ranks, row.length)[in_file].tolist()
    topic = out.topics[row.topic_id]
    return "".join(
        f"{topic} Q0 {docno} {rank} {score!r} {tag}\n"
        for docno, rank, score in zip(docnos, ranks or [NO_RANK] * len(docnos), scores, strict=True)
    )


def read_runs(coming: Incoming) -> None:
    """Read what `write_runs` wrote."""
    files: dict[str, str] = {}
    handed_in: set[str] = set()

    def take(row: dict[str, Any]) -> str | None:
        file = row.pop("run_file")
        if file not in coming.files or file in files.values():
            return f"expected a file of the manifest, each once, got {file!r}"
        files[row["tag"]] = file
        row["header"] = header_of(coming.path(file))
        stated = row.pop("file_sha256")
        if stated == row["sha256"]:
            handed_in.add(row["tag"])
        found = coming.files[file].sha256
        return None if stated == found else f"expected the hash of {file}, {found}, got {stated!r}"

    RUNS.fill(coming, take)
    with coming.progress("runs", coming.counts.get("run_lines", 0)) as advance:
        for tag, file in files.items():
            run = _handed_in(coming, tag, file) if tag in handed_in else None
            rows_read = _run_lines(coming, tag, file) if run is None else _lines_of(run)
            coming.insert(RANKING, _ranking_rows(coming, tag, file, rows_read, advance))


_Line = tuple[str, int | None, str, float, int | None]
"""Topic, number of the line, docno, score, stated rank."""


def _handed_in(coming: Incoming, tag: str, file: str) -> Run | None:
    """Read a run file that is as it was handed in, of whatever form; ``None`` = it can have been no such."""
    with suppress(PoolerError):
        run = None if coming.read_run is None else coming.read_run(coming.path(file))
        return run if run is not None and run.tag == tag else None
    return None


def _lines_of(run: Run) -> Iterator[_Line]:
    """Yield the lines of a run that was read."""
    for one in run.rankings:
        ranks = repeat(None) if one.ranks is None else one.ranks.tolist()
        for docno, score, rank in zip(one.docnos, one.scores.tolist(), ranks, strict=False):
            yield one.topic, None, docno, score, rank


def _ranking_rows(
    coming: Incoming, tag: str, file: str, rows_read: Iterator[_Line], advance: Callable[[int], None]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run's rankings."""
    seen: set[str] = set()
    for topic, lines in groupby(rows_read, key=itemgetter(0)):
        _, numbers, docnos, scores, ranks = zip(*lines, strict=True)
        advance(len(docnos))
        topic_id = coming.known(file, numbers[0], "topic", topic, coming.topics)
        if topic in seen:
            coming.tell(file, numbers[0], f"expected the lines of topic `{topic}` together, got more of them")
        seen.add(topic)
        first_at: dict[str, int] = {}
        for number, docno in zip(numbers, docnos, strict=True):
            if docno not in coming.documents:
                coming.tell(file, number, f"unknown docno `{docno}`")
            elif (first := first_at.setdefault(docno, number)) != number:
                message = f"expected each docno once a topic, got `{docno}`, which line {first} has"
                coming.tell(file, number, message)
        is_ranked = None not in ranks
        if not is_ranked and set(ranks) != {None}:
            coming.tell(file, numbers[0], f"expected ranks in all lines of topic `{topic}`, or in none")
        if len(coming.faults):
            continue
        ids = np.array([coming.documents[docno] for docno in docnos], np.int32)
        stated = np.array(ranks, np.int64) if is_ranked else None
        packed = pack_ranking(topic, docnos, ids, np.array(scores, np.float64), stated)
        yield {
            "run_id": coming.runs[tag],
            "topic_id": topic_id,
            "length": packed.length,
            "document_ids": packed.documents,
            "scores": packed.scores,
            "ranks": packed.ranks,
            "positions": packed.positions,
            "codec": 1,
        }


def _run_lines(coming: Incoming, tag: str, file: str) -> Iterator[_Line]:
    """Yield every line of a run file that stands as an export writes it."""
    n_of_header = (header_of(str(coming.path(file))) or "").count("\n")
    for number, text in read_text_lines(coming.path(file), coming.faults.of(file)):
        if number <= n_of_header:
            continue
        fields = text.split("\t" if "\t" in text else " ")
        if len(fields) != 6:
            message = f"expected 6 fields (topic Q0 docno rank score tag), got {len(fields)}"
            coming.tell(file, number, message)
            continue
        topic, _, docno, rank, score, of_tag = fields
        if of_tag != tag:
            coming.tell(file, number, f"expected the tag `{tag}`, got {of_tag!r}")
            continue
        try:
            yield topic, number, docno, tables.as_float(score), _as_rank(rank)
        except UnfitValueError as error:
            coming.tell(file, number, str(error))


def _as_rank(text: str) -> int | None:
    """Read a stated rank; ``None`` = the original had none that is an integer."""
    if text == NO_RANK:
        return None
    if _RANK.fullmatch(text) and _LONG.min <= int(text) <= _LONG.max:
        return int(text)
    message = f"expected an integer rank or {NO_RANK}, got {text!r}"
    raise UnfitValueError(message)
