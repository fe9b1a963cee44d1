"""Step 3: the rankings of a run file, one topic after another.

Blocks of lines are cut where topics end. It words no fault: at the first thing that is not plainly in order
it gives up, and `pooler.reading.strict` reads the file again and reports what is wrong, if anything is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pooler.messages import warn
from pooler.reading.fields import DOCNO, RANK, SCORE, TAG, TOPIC, FieldColumn, SuspicionError, find_fields
from pooler.reading.numbers import parse_ranks, parse_scores
from pooler.reading.strict import LOOKED_AT, exchanged, is_quoted, read_run
from store.errors import FormatError
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, is_regular_file, open_bytes
from store.records import Ranking, Run

_FACTOR = np.uint64(0xD6E8FEB86659FD93)
"""Odd; tells topics apart."""
_KEY_BITS = 64


def check_parts(keys: NDArray[np.uint64], firsts: Sequence[int]) -> None:
    """Raise `SuspicionError` when a part of a block may have a document twice.

    `firsts` are the first lines of the parts, ascending from 0.
    """
    n_lines = keys.size
    if len(firsts) > 1:
        parts = np.arange(len(firsts), dtype=np.uint64) * _FACTOR
        keys = keys ^ np.repeat(parts, np.diff(firsts, append=n_lines))
    bits = max(int(2 * n_lines - 1).bit_length(), 1)
    lines = np.arange(n_lines, dtype=np.uint32)
    table = np.empty(1 << bits, np.uint32)
    places = keys >> np.uint64(_KEY_BITS - bits)
    table[places] = lines
    found = table[places]
    others = np.flatnonzero(found != lines)
    suspects = keys[others]
    in_order = np.sort(suspects)
    if (suspects == keys[found[others]]).any() or (in_order[1:] == in_order[:-1]).any():
        raise SuspicionError("a document twice in a topic")


BLOCK_BYTES = 3 << 17
"""Bytes read at a time: a few topics' lines, whose columns fit a processor's cache."""
_LONGEST_LINE = 1 << 20
_LOOKED_AT_BYTES = 1 << 14
_BALLAST_BYTES = 1 << 23
"""More than any array here has; never touched, so it takes no memory."""
_LONGEST_START = 1 << 10
"""Bytes of a line in which its topic is looked for."""


@dataclass(slots=True)
class LineFacts:
    """What the lines of a file so far have in common."""

    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    tag: bytes = b""
    topics: set[bytes] = field(default_factory=set)
    n_lines: int = 0
    n_comments: int = 0
    """Lines above the first one of the run."""
    is_ascii: bool = True
    notes: dict[str, str] = field(default_factory=dict)
    """What is odd about the columns of the first lines, by code."""


@dataclass(slots=True, eq=False)
class WholeRanking:
    """All documents of one run for one topic, in file order; what is not asked for is not made."""

    topic: str
    columns: Sequence[FieldColumn]
    """The fields of its block, by `TOPIC` to `TAG`, and ..."""
    rows: slice
    """... its lines there."""
    scores: NDArray[np.float64]
    """Shape (n_documents,), finite."""
    line: int
    """Number of its first line in the file."""

    def column(self, field: int) -> FieldColumn:
        """Return one field of its lines."""
        return self.columns[field][self.rows]

    @property
    def docnos(self) -> list[str]:
        """Docnos, none twice; made anew each time."""
        return self.column(DOCNO).packed().decode().split("\n")

    @property
    def ranks(self) -> NDArray[np.int64] | None:
        """Stated ranks, shape (n_documents,); ``None`` when not all are integers."""
        of_block = _ranks_of_block(self.columns[RANK])
        return parse_ranks(self.column(RANK)) if of_block is None else of_block[self.rows]


_ranks_of_block = lru_cache(maxsize=1)(parse_ranks)


Made = TypeVar("Made")


def read_each(
    path: str,
    make: Callable[[WholeRanking | Ranking], Made],
    *,
    lenient: bool = False,
    titles: Mapping[str, str] | None = None,
    undo: Callable[[], object] = lambda: None,
) -> tuple[Run, list[Made]]:
    """Make something of each ranking of a run file; return the run, without its rankings, and what was made.

    Faults are those of `pooler.reading.strict.read_run`. `undo`: what was made is made again.
    """
    # A pipe cannot be read a second time, so it is read slowly at once.
    if is_regular_file(path):
        facts = LineFacts()
        try:
            made = [make(one) for one in stream_rankings(path, facts)]
        except SuspicionError:
            undo()
        else:
            for note in facts.notes.values():
                warn(f"{path}: {note}")
            return Run(facts.tag.decode(), [], facts.digest.hexdigest(), file=PurePath(path).name), made
    run = read_run(path, lenient=lenient, titles=titles)
    rankings, run.rankings[:] = run.rankings[:], []
    return run, [make(one) for one in rankings]


def stream_rankings(path: str, facts: LineFacts, *, block_bytes: int = BLOCK_BYTES) -> Iterator[WholeRanking]:
    """Read the rankings of a run file that is plainly in order, one topic after another.

    `SuspicionError` and `OSError` may come after any number of rankings: what was done with them is to be
    undone, and the file read by `read_run`. `facts` are whole once the last ranking has been taken.
    """
    for block in _whole_topics(_whole_lines(path, facts, block_bytes)):
        columns = find_fields(block)
        facts.is_ascii &= block.isascii()
        _check_tag(columns[TAG], facts)
        try:
            scores = parse_scores(columns[SCORE])
        except ValueError as error:
            raise SuspicionError("a score") from error
        topics = columns[TOPIC]
        firsts = [0, *topics.changes().tolist()]
        check_parts(columns[DOCNO].keys(), firsts)
        for first, end in zip(firsts, [*firsts[1:], len(topics)], strict=True):
            topic = topics[first]
            if topic.startswith(b"#"):
                raise SuspicionError("a comment, or a topic that looks like one")
            if topic in facts.topics:
                raise SuspicionError("a topic in two parts")
            facts.topics.add(topic)
            line = facts.n_comments + facts.n_lines + first + 1
            rows = slice(first, end)
            yield WholeRanking(topic.decode(), columns, rows, scores[rows], line)
        facts.n_lines += len(topics)
    if not facts.n_lines:
        raise SuspicionError("no line")


def _whole_topics(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut blocks of lines where topics end: the last topic of a block may go on in the next one."""
    waiting: list[bytes] = []
    topic = b""
    for block in blocks:
        before, (topic, first) = topic, _last_topic(block)
        if first or (waiting and topic != before):
            yield b"".join((*waiting, block[:first]))
            waiting = []
        waiting.append(block[first:])
    if waiting:
        yield b"".join(waiting)


def _last_topic(block: bytes) -> tuple[bytes, int]:
    """Return the topic of the last line of a block, and where the lines that have it begin."""
    low, high = 0, block.rfind(b"\n", 0, -1) + 1
    topic = _topic_at(block, high)
    while low < high:
        middle = max(low, block.rfind(b"\n", low, (low + high) // 2) + 1)
        if _topic_at(block, middle) == topic:
            high = middle
        else:
            low = block.find(b"\n", middle) + 1
    return topic, high


def _topic_at(block: bytes, start: int) -> bytes:
    return b"".join(block[start : start + _LONGEST_START].split(None, 1)[:1])


def _whole_lines(path: str, facts: LineFacts, block_bytes: int) -> Iterator[bytes]:
    """Yield blocks that end with a line end, without comments on top, and hash the file."""
    rest = b""
    is_first = True
    # The C library takes pages from the system and gives them back for every array of more than
    # 128 KiB, until it has seen a larger one freed.
    np.empty(_BALLAST_BYTES, np.uint8)
    try:
        opened = open_bytes(path)
    except FormatError as error:
        raise SuspicionError(str(error)) from error
    with opened as file:
        try:
            while data := file.read(block_bytes):
                facts.digest.update(data)
                if is_first:
                    data, is_first = _after_comments(data, facts), False
                if rest:
                    data = rest + data
                end = data.rfind(b"\n") + 1
                rest = data[end:]
                if len(rest) > _LONGEST_LINE:
                    raise SuspicionError("a very long line")
                if end:
                    yield data[:end]
        except DamagedDataError as error:
            raise SuspicionError(str(error)) from error
    if rest:
        yield rest + b"\n"


def _after_comments(data: bytes, facts: LineFacts) -> bytes:
    """Take a byte order mark and comments off the first bytes of a file; look at what follows."""
    data = data.removeprefix(BOM)
    while data.startswith(b"#"):
        facts.n_comments += 1
        _, end, data = data.partition(b"\n")
        if not end:
            raise SuspicionError("a comment of more than a block")
    if message := exchanged(data[:_LOOKED_AT_BYTES].split(b"\n", LOOKED_AT)[:-1]):
        facts.notes["exchanged"] = message
    return data


def _check_tag(tags: FieldColumn, facts: LineFacts) -> None:
    tag = tags[0]
    if is_quoted(tag):
        raise SuspicionError("quotation marks")
    if tag != (facts.tag or tag) or tags.changes().size:
        raise SuspicionError("a second tag")
    facts.tag = tag
