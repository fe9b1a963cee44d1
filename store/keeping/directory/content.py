"""Topics, documents, guidelines, runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import CursorResult, Row, func, select

from store.content.documents import document_sha256
from store.db.packing import PackedRanking, pack_ranking, unpack_floats, unpack_integers
from store.db.tables import DOCUMENT, GUIDELINE, RANKING, RUN, TOPIC, TOPIC_VERSION
from store.errors import FaultList
from store.fields import id_fault, topic_fault
from store.formats.json_lines import json_line
from store.formats.lines import read_text_lines
from store.keeping.directory.tables import (
    CellError,
    FileTable,
    Incoming,
    Outgoing,
    as_float,
    as_moment,
    checked_id,
    checked_topic,
    file_stems,
    id_column,
    integer_column,
    moment_column,
    moment_text,
    text_column,
    yes_no_column,
)
from store.records import Document
from store.text import natural_key

TOPICS = "topics.jsonl"
TOPIC_VERSIONS = "topic_versions.jsonl"
DOCUMENTS = "documents.jsonl"
DOCNOS = "docnos.tsv"
GUIDELINES = "guidelines.tsv"
_BATCH = 500
_MOST = 2**31 - 1
_TEXT_KEYS = {"title": str, "description": str, "narrative": str}
_VERSION_KEYS = {"version": int, "changed_at": (str, type(None))}
_DOCNOS = FileTable((id_column("docno"), yes_no_column("listed")))
_GUIDELINES = FileTable(
    (integer_column("version", least=1), moment_column("created_at"), text_column("file"))
)


def write_topics(out: Outgoing) -> None:
    """Write every topic, in natural order, and the texts that some had before."""
    rows = list(out.session.execute(select(TOPIC)))
    rows.sort(key=lambda row: natural_key(row.number))
    with out.writer.text(TOPICS) as stream:
        for row in rows:
            values = {
                "topic": checked_topic(row.number),
                "title": row.title,
                "description": row.description,
                "narrative": row.narrative,
                "listed": row.listed,
                **_version_values(row),
            }
            stream.write(json_line(values) + "\n")
    out.counts["topics"] = len(rows)
    _write_topic_versions(out)


def _write_topic_versions(out: Outgoing) -> None:
    """Write the texts that topics had before, the oldest of each first."""
    rows = list(out.session.execute(select(TOPIC_VERSION)))
    if not rows:
        return
    out.counts["topic_versions"] = len(rows)
    rows.sort(key=lambda row: (natural_key(out.topics[row.topic_id]), row.version))
    with out.writer.text(TOPIC_VERSIONS) as stream:
        for row in rows:
            texts = {key: getattr(row, key) for key in _TEXT_KEYS}
            values = {"topic": out.topics[row.topic_id], **texts, **_version_values(row)}
            stream.write(json_line(values) + "\n")


def _version_values(row: Any) -> dict[str, Any]:
    """Say which version of a topic's text a row is, and when it came."""
    changed_at = None if row.changed_at is None else moment_text(row.changed_at)
    return {"version": row.version, "changed_at": changed_at}


def read_topics(coming: Incoming) -> None:
    """Read what `write_topics` wrote."""
    faults = coming.faults.of(TOPICS)

    def rows() -> Iterator[dict[str, Any]]:
        keys = {"topic": str, **_TEXT_KEYS, "listed": bool, **_VERSION_KEYS}
        first = {"version": 1, "changed_at": None}
        for line, given in coming.objects(TOPICS):
            # Directories written before topics had versions are read without them.
            values = given if first.keys() & given.keys() else {**given, **first}
            if not _has_just(values, keys, line, faults) or not _reads_version(values, line, faults):
                continue
            row_id = _add_id(coming.topics, values.pop("topic"), line, topic_fault, faults)
            if row_id:
                number = next(reversed(coming.topics))
                coming.topic_versions[number] = values["version"]
                yield {"id": row_id, "number": number, **values}

    coming.insert(TOPIC, rows())
    _read_topic_versions(coming)


def _read_topic_versions(coming: Incoming) -> None:
    """Read the texts that topics had before: every version below the one they have now."""
    faults = coming.faults.of(TOPIC_VERSIONS)
    seen: set[tuple[str, int]] = set()

    def rows() -> Iterator[dict[str, Any]]:
        keys = {"topic": str, **_TEXT_KEYS, **_VERSION_KEYS}
        for line, values in coming.objects(TOPIC_VERSIONS):
            if not _has_just(values, keys, line, faults) or not _reads_version(values, line, faults):
                continue
            topic, version = values.pop("topic"), values["version"]
            row_id = coming.known(TOPIC_VERSIONS, line, "topic", topic, coming.topics)
            if version >= coming.topic_versions.get(topic, version + 1):
                message = f"expected a version before {coming.topic_versions[topic]}, got {version}"
                faults.add(line, message, "version")
            elif (topic, version) in seen:
                message = f"expected each version once, got {version} of `{topic}` again"
                faults.add(line, message, "duplicate")
            else:
                seen.add((topic, version))
                yield {"topic_id": row_id, **values}

    if TOPIC_VERSIONS in coming.files:
        coming.insert(TOPIC_VERSION, rows())
    found = Counter(topic for topic, _ in seen)
    for topic, version in coming.topic_versions.items():
        if found[topic] != version - 1:
            message = f"expected {version - 1} earlier texts of `{topic}`, got {found[topic]}"
            faults.add(None, message, "version")


def _reads_version(values: dict[str, Any], line: int, faults: FaultList) -> bool:
    """Put the moment of a version in place of its text; tell a number that is none."""
    if type(values["version"]) is not int or not 1 <= values["version"] <= _MOST:
        faults.add(line, f"`version`: expected a number from 1, got {values['version']}", "value")
        return False
    try:
        if values["changed_at"] is not None:
            values["changed_at"] = as_moment(values["changed_at"])
    except CellError as error:
        faults.add(line, f"`changed_at`: {error}", "value")
        return False
    return True


def write_documents(out: Outgoing) -> None:
    """Write every document, or its docno alone; docnos bytewise."""
    n_documents = out.session.scalar(select(func.count()).select_from(DOCUMENT)) or 0
    n_texts = 0
    columns = [DOCUMENT.c.docno, DOCUMENT.c.listed]
    if out.export_choice.texts:
        columns += [DOCUMENT.c.title, DOCUMENT.c.text, DOCUMENT.c.sha256]
    query = select(*columns).order_by(DOCUMENT.c.docno)
    # Both engines compare docnos bytewise.
    with (
        out.progress("documents", n_documents) as advance,
        out.session.connection().execute(query, execution_options={"yield_per": _BATCH}) as result,
    ):
        if not out.export_choice.texts:
            _DOCNOS.write(out, DOCNOS, result.mappings())
        else:
            n_texts = _write_texts(out, result, advance)
    out.counts["documents"] = n_documents
    out.counts["texts"] = n_texts


def _write_texts(out: Outgoing, result: CursorResult[Any], advance: Callable[[int], None]) -> int:
    """Write documents with their texts; return how many have one."""
    n_texts = 0
    with out.writer.text(DOCUMENTS) as stream:
        for batch in result.partitions():
            for row in batch:
                n_texts += row.text is not None
                values = {
                    "docno": checked_id("docno", row.docno),
                    "title": row.title,
                    "text": row.text,
                    "sha256": row.sha256,
                    "listed": row.listed,
                }
                stream.write(json_line(values) + "\n")
            advance(len(batch))
    return n_texts


def read_documents(coming: Incoming) -> None:
    """Read what `write_documents` wrote."""
    with coming.progress("documents", coming.counts.get("documents", 0)) as advance:
        if DOCNOS in coming.files:
            coming.insert(DOCUMENT, _bare_documents(coming, advance))
        else:
            coming.insert(DOCUMENT, _documents(coming, advance))


def _bare_documents(coming: Incoming, advance: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    """Yield the rows of documents of which there is the docno alone."""
    faults = coming.faults.of(DOCNOS)
    for line, row in _DOCNOS.read(coming, DOCNOS):
        advance(1)
        row_id = _add_id(coming.documents, row["docno"], line, id_fault, faults)
        if row_id:
            yield {"id": row_id, **row}


def _documents(coming: Incoming, advance: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    """Yield the rows of documents."""
    faults = coming.faults.of(DOCUMENTS)
    text = (str, type(None))
    keys = {"docno": str, "title": text, "text": text, "sha256": text, "listed": bool}
    for line, values in coming.objects(DOCUMENTS):
        advance(1)
        if not _has_just(values, keys, line, faults):
            continue
        row_id = _add_id(coming.documents, values["docno"], line, id_fault, faults)
        document = Document(values["docno"], values["title"] or "", values["text"])
        due = None if document.text is None else document_sha256(document)
        if values["sha256"] != due:
            message = f"expected the hash of title and text, {due}, got {values['sha256']}"
            faults.add(line, message, "sha256")
        elif row_id:
            yield {"id": row_id, **values}


def write_guidelines(out: Outgoing) -> None:
    """Write every version of the guidelines as a markdown file, and a list of them."""
    rows = list(out.session.execute(select(GUIDELINE).order_by(GUIDELINE.c.version)))
    out.counts["guidelines"] = len(rows)
    if not rows:
        return
    listed = []
    for row in rows:
        file = f"guidelines/v{row.version}.md"
        out.writer.write(file, row.text.encode("utf-8", "surrogatepass"))
        listed.append({**row._mapping, "file": file})
    _GUIDELINES.write(out, GUIDELINES, listed)


def read_guidelines(coming: Incoming) -> None:
    """Read what `write_guidelines` wrote."""
    if GUIDELINES not in coming.files:
        return
    faults = coming.faults.of(GUIDELINES)

    def rows() -> Iterator[dict[str, Any]]:
        for line, row in _GUIDELINES.read(coming, GUIDELINES):
            version, file = row["version"], row.pop("file")
            if version in coming.guidelines:
                faults.add(line, f"expected each version once, got {version} again", "duplicate")
            elif file not in coming.files:
                faults.add(line, f"expected a file of the manifest, got {file!r}", "unknown")
            else:
                coming.guidelines.add(version)
                yield {**row, "text": _guideline_text(coming, file)}

    coming.insert(GUIDELINE, rows())


def _guideline_text(coming: Incoming, file: str) -> str:
    """Read a version of the guidelines."""
    with open(coming.path(file), "rb") as stream:  # noqa: PTH123 - a path in text
        content = stream.read()
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"expected UTF-8, got byte 0x{content[error.start]:02x}"
        coming.faults.of(file).add(line, message, "utf8")
        return ""


def _has_just(values: Mapping[str, Any], kinds: Mapping[str, Any], line: int, faults: FaultList) -> bool:
    """Say whether an object has just these keys, each of its kind; tell the fault."""
    if values.keys() != kinds.keys():
        message = f"expected the keys {', '.join(kinds)}, got {', '.join(values)}"
        faults.add(line, message, "fields")
        return False
    for key, kind in kinds.items():
        if not isinstance(values[key], kind):
            faults.add(line, f"`{key}`: expected another kind of value", "value")
            return False
    return True


def _add_id(
    ids: dict[str, int], name: str, line: int, fault_of: Callable[[str], str | None], faults: FaultList
) -> int:
    """Give a name the next row id and return it; 0 = it cannot have one, and the fault is told."""
    message = fault_of(name)
    if message is None and name in ids:
        message = f"expected each id once, got `{name}` again"
    if message is not None:
        faults.add(line, message, "id")
        return 0
    ids[name] = len(ids) + 1
    return len(ids)


RUNS = "runs.tsv"
_RUNS = FileTable(
    (
        id_column("tag"),
        text_column("file", into="run_file"),
        text_column("group"),
        yes_no_column("contributes"),
        integer_column("priority"),
        text_column("original_file", into="file"),
        text_column("original_sha256", into="sha256"),
        moment_column("imported_at"),
    )
)
_AT_ONCE = 64
"""Rankings in memory at a time."""
_NO_RANK = "-"
"""Stands in the fourth column where the original file had ranks that are no integers."""
_RANK = re.compile(r"-?[0-9]{1,19}")
_LONG = np.iinfo(np.int64)


def write_runs(out: Outgoing) -> None:
    """Write every run, or none at all; tags bytewise."""
    out.counts["runs"] = out.counts["run_lines"] = 0
    if not out.export_choice.runs:
        return
    runs = list(out.session.execute(select(RUN).order_by(RUN.c.tag)))
    if not runs:
        return
    stems = file_stems(run.tag for run in runs)
    files = {run.id: f"runs/{stems[run.tag]}.run" for run in runs}
    _RUNS.write(out, RUNS, ({**run._mapping, "run_file": files[run.id]} for run in runs))
    n_lines = int(out.session.scalar(select(func.sum(RANKING.c.length))) or 0)
    with out.progress("runs", n_lines) as advance:
        for run in runs:
            with out.writer.text(files[run.id]) as stream:
                for row in _rankings(out, run.id):
                    stream.writelines(_lines(out, run.tag, row))
                    advance(row.length)
    out.counts.update(runs=len(runs), run_lines=n_lines)


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


def _lines(out: Outgoing, tag: str, row: Row[Any]) -> Iterator[str]:
    """Yield the lines of a ranking, in file order."""
    in_file = np.argsort(unpack_integers(row.positions, row.length))
    # To SQLite, a part of no bytes is no value.
    ids = np.frombuffer(row.document_ids or b"", "<i4")[in_file].tolist()
    scores = unpack_floats(row.scores)[in_file].tolist()
    ranks: Sequence[int | str] = [_NO_RANK] * row.length
    if row.ranks is not None:
        ranks = unpack_integers(row.ranks, row.length)[in_file].tolist()
    topic, names = out.topics[row.topic_id], out.documents
    for number, rank, score in zip(ids, ranks, scores, strict=True):
        yield f"{topic} Q0 {names[number]} {rank} {score!r} {tag}\n"


def read_runs(coming: Incoming) -> None:
    """Read what `write_runs` wrote."""
    if RUNS not in coming.files:
        return
    faults = coming.faults.of(RUNS)
    files: dict[str, str] = {}

    def rows() -> Iterator[dict[str, Any]]:
        for line, row in _RUNS.read(coming, RUNS):
            tag, file = row["tag"], row.pop("run_file")
            if tag in coming.runs:
                faults.add(line, f"expected each tag once, got `{tag}` again", "duplicate")
            elif file not in coming.files or file in files.values():
                message = f"expected a file of the manifest, each once, got {file!r}"
                faults.add(line, message, "unknown")
            else:
                coming.runs[tag] = len(coming.runs) + 1
                files[tag] = file
                yield {"id": coming.runs[tag], **row}

    coming.insert(RUN, rows())
    with coming.progress("runs", coming.counts.get("run_lines", 0)) as advance:
        for tag, file in files.items():
            coming.insert(RANKING, _ranking_rows(coming, tag, file, advance))


def _ranking_rows(
    coming: Incoming, tag: str, file: str, advance: Callable[[int], None]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run's rankings."""
    seen: set[str] = set()
    faults = coming.faults.of(file)
    for lines in _by_topic(coming, tag, file):
        advance(len(lines.docnos))
        topic_id = coming.known(file, lines.line, "topic", lines.topic, coming.topics)
        if lines.topic in seen:
            message = f"expected the lines of topic `{lines.topic}` together, got more of them"
            faults.add(lines.line, message, "split")
        seen.add(lines.topic)
        packed = lines.packed(coming)
        if packed is not None and topic_id and not len(coming.faults):
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


@dataclass(slots=True)
class _Lines:
    """The lines of one topic."""

    file: str
    topic: str
    line: int
    """Number of the first one."""
    docnos: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    ranks: list[int | None] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    """Line numbers."""

    def packed(self, coming: Incoming) -> PackedRanking | None:
        """Pack the ranking; on a fault, tell it and return ``None``."""
        faults = coming.faults.of(self.file)
        ids = list(map(coming.documents.get, self.docnos))
        if None in ids or len(set(ids)) < len(ids):
            self._tell(coming, faults)
            return None
        ranks: NDArray[np.int64] | None = None
        if None not in self.ranks:
            ranks = np.array(self.ranks, np.int64)
        elif set(self.ranks) != {None}:
            message = f"expected ranks in all lines of topic `{self.topic}`, or in none"
            faults.add(self.line, message, "rank")
            return None
        return pack_ranking(
            self.topic, self.docnos, np.array(ids, np.int32), np.array(self.scores, np.float64), ranks
        )

    def _tell(self, coming: Incoming, faults: FaultList) -> None:
        """Tell documents that are not known, or stand there twice."""
        first_at: dict[str, int] = {}
        for number, docno in zip(self.numbers, self.docnos, strict=True):
            if docno not in coming.documents:
                faults.add(number, f"unknown docno `{docno}`", "unknown")
            elif (first := first_at.setdefault(docno, number)) != number:
                message = f"expected each docno once a topic, got `{docno}`, which line {first} has"
                faults.add(number, message, "duplicate")


def _by_topic(coming: Incoming, tag: str, file: str) -> Iterator[_Lines]:
    """Yield the lines of a run file, topic by topic."""
    faults = coming.faults.of(file)
    lines: _Lines | None = None
    for number, text in read_text_lines(coming.path(file), faults):
        fields = text.split(" ")
        if len(fields) != 6:
            message = f"expected 6 fields (topic Q0 docno rank score tag), got {len(fields)}"
            faults.add(number, message, "fields")
            continue
        topic, _, docno, rank, score, of_tag = fields
        if of_tag != tag:
            faults.add(number, f"expected the tag `{tag}`, got {of_tag!r}", "tag")
            continue
        try:
            value, stated = as_float(score), _as_rank(rank)
        except CellError as error:
            faults.add(number, str(error), "value")
            continue
        if lines is None or topic != lines.topic:
            if lines is not None:
                yield lines
            lines = _Lines(file, topic, number)
        lines.docnos.append(docno)
        lines.scores.append(value)
        lines.ranks.append(stated)
        lines.numbers.append(number)
    if lines is not None:
        yield lines


def _as_rank(text: str) -> int | None:
    """Read a stated rank; ``None`` = the original had none that is an integer."""
    if text == _NO_RANK:
        return None
    if _RANK.fullmatch(text) and _LONG.min <= int(text) <= _LONG.max:
        return int(text)
    message = f"expected an integer rank or {_NO_RANK}, got {text!r}"
    raise CellError(message)
