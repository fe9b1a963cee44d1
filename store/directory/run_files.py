"""Runs: one file each in the six columns of TREC, and a list of what these columns cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, func, select

from store.directory.moving import Incoming, Outgoing
from store.directory.names import file_stems
from store.directory.tables import (
    CellError,
    as_float,
    id_column,
    integer_column,
    moment_column,
    read_table,
    text_column,
    write_table,
    yes_no_column,
)
from store.errors import FaultList
from store.formats.lines import read_text_lines
from store.models import RANKING, RUN
from store.natural_order import natural_key
from store.packing import PackedRanking, pack_ranking, unpack_floats, unpack_integers

RUNS = "runs.tsv"
_COLUMNS = (
    id_column("tag"),
    text_column("file"),
    text_column("group"),
    yes_no_column("contributes"),
    integer_column("priority"),
    text_column("original_file"),
    text_column("original_sha256"),
    moment_column("imported_at"),
)
_AT_ONCE = 64
"""Rankings in memory at a time."""
_NO_RANK = "-"
"""Stands in the fourth column where the original file had ranks that are no integers."""
_RANK = re.compile(r"-?[0-9]{1,19}")
_RANKS = np.iinfo(np.int64)


def write_runs(out: Outgoing) -> None:
    """Write every run, or none at all; tags bytewise."""
    out.counts["runs"] = out.counts["run_lines"] = 0
    if not out.wishes.runs:
        return
    runs = list(out.session.execute(select(RUN).order_by(RUN.c.tag)))
    if not runs:
        return
    stems = file_stems(run.tag for run in runs)
    files = {run.id: f"runs/{stems[run.tag]}.run" for run in runs}
    with out.writer.text(RUNS) as stream:
        listed = (
            (run.tag, files[run.id], run.group, run.contributes, run.priority, run.file,
             run.sha256, run.imported_at)
            for run in runs
        )  # fmt: skip
        write_table(_COLUMNS, listed, stream)
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
        names = ("tag", "group", "contributes", "priority", "file", "sha256", "imported_at")
        for line, (tag, file, *values) in read_table(coming.path(RUNS), _COLUMNS, faults):
            if tag in coming.runs:
                faults.add(line, f"expected each tag once, got `{tag}` again", "duplicate")
            elif file not in coming.files or file in files.values():
                message = f"expected a file of the manifest, each once, got {file!r}"
                faults.add(line, message, "unknown")
            else:
                coming.runs[tag] = len(coming.runs) + 1
                files[tag] = file
                about = dict(zip(names, (tag, *values), strict=True))
                yield {"id": coming.runs[tag], **about}

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
            self.topic,
            self.docnos,
            np.array(ids, np.int32),
            np.array(self.scores, np.float64),
            ranks,
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
    if _RANK.fullmatch(text) and _RANKS.min <= int(text) <= _RANKS.max:
        return int(text)
    message = f"expected an integer rank or {_NO_RANK}, got {text!r}"
    raise CellError(message)
