"""The fast reader: lines, tags, topics, heads, no document twice.

It takes a block of lines at a time and works on columns (`pooler.reading.columns`). Of each topic it
keeps only the documents that can still be among the first `depth`, and makes bytes and numbers of
no others. It words no fault: at the first thing that is not plainly in order it gives up, and
`pooler.reading.strict` reads the file again and reports what is wrong, if anything is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.messages import warn
from pooler.reading.columns import (
    BACK,
    FRONT,
    LONGEST_FIELD,
    RELATIVE_ERROR,
    WORD,
    FieldColumn,
    FieldScores,
    Ranks,
    parse_ranks,
    parse_scores,
)
from pooler.reading.parallel import share_files
from pooler.reading.run_list import RunEntry, as_entries
from pooler.reading.strict import LOOKED_AT, exchanged, is_quoted, read_run
from store.errors import ArgumentError, FaultList, FormatError, PoolerError
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, is_regular_file, open_bytes
from store.formats.run_header import START, RunHeader, cut_header, read_header
from store.ranking import check_order, compared_scores, rank_order, ties_at_cut
from store.records import Order, Run

_CONTROLS = bytes([*range(9), *range(14, 32), 127])
"""The ASCII controls that are no blanks; none may stand in an id."""
_DELETE = b"\x7f"
_ODD_CHARACTERS = re.compile("[\x80-\xa0\u061c\u1680\u180e\u2000-\u206f\u3000\ufeff]")
_FIRST_PRINTABLE = 33
_TAB, _NEWLINE = b"\t\n"
_FIELDS = 6
TOPIC, Q0, DOCNO, RANK, SCORE, TAG = range(_FIELDS)
_SEPARATORS = (b" ", b"\t")
_Q0_WORD, _ZERO_WORD = np.frombuffer(b"Q0".ljust(WORD, b"\0") + b"0".ljust(WORD, b"\0"), "<u8")


class SuspicionError(Exception):
    """Something in the file is not plainly in order; it may be a fault."""


@dataclass(slots=True, eq=False)
class RunLines:
    """A block of run lines; the second field is not looked at."""

    text: bytes
    """The block, with `FRONT` bytes before it and `BACK` after it."""
    starts: NDArray[np.int64]
    """Where every field begins in the block, shape (n_lines, 6)."""
    lengths: NDArray[np.int64]
    """Their bytes, shape (n_lines, 6)."""

    def __len__(self) -> int:
        return len(self.starts)

    def column(self, field: int) -> FieldColumn:
        """Return one field of every line, as numbered by `TOPIC` to `TAG`."""
        lengths = self.lengths[:, field].copy()
        width = int(lengths[0])
        if (lengths != width).any():
            width = 0
        return FieldColumn(self.text, self.starts[:, field] + FRONT, lengths, width)


def find_fields(block: bytes) -> RunLines:
    """Find the fields of a block of whole run lines, at least one.

    `SuspicionError` unless every line has six fields, none longer than `LONGEST_FIELD`, and no odd character.
    """
    padded = b"".join((bytes(FRONT), block, bytes(BACK)))
    text = np.frombuffer(padded, np.uint8)[FRONT:-BACK]
    bounds = _single_blanks(text)
    if bounds is None:
        if len(block.translate(None, _CONTROLS)) != len(block):
            raise SuspicionError("a control character")
        bounds = _any_blanks(text)
    elif _DELETE in block:
        raise SuspicionError("a control character")
    if not block.isascii():
        try:
            text_of_block = block.decode()
        except UnicodeDecodeError as error:
            raise SuspicionError("no UTF-8") from error
        if _ODD_CHARACTERS.search(text_of_block):
            raise SuspicionError("an odd character")
    starts, lengths = bounds
    if lengths.max() > LONGEST_FIELD:
        raise SuspicionError("a very long field")
    return RunLines(padded, starts, lengths)


def _single_blanks(text: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Find fields that stand between single blanks; ``None`` when some do not."""
    places = np.flatnonzero(text < _FIRST_PRINTABLE)
    blanks = text[places].tobytes()
    of_line = blanks[:1] * (_FIELDS - 1) + (b"\r\n" if blanks[5:6] == b"\r" else b"\n")
    n_lines = places.size // len(of_line)
    # Nothing else is below the first printable character, so there is no control among these.
    if blanks[:1] not in _SEPARATORS or blanks != of_line * n_lines:
        return None
    starts = np.empty_like(places)
    starts[0] = 0
    np.add(places[:-1], 1, out=starts[1:])
    places -= starts
    shape = n_lines, len(of_line)
    lengths = places.reshape(shape)
    if lengths[:, :_FIELDS].min() < 1 or lengths[:, _FIELDS:].any():
        return None
    return starts.reshape(shape)[:, :_FIELDS], lengths[:, :_FIELDS]


def _any_blanks(text: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find fields that stand between any blanks, as `_single_blanks` does."""
    is_blank = np.ones(text.size + 2, np.bool_)
    np.less(text, _FIRST_PRINTABLE, out=is_blank[1:-1])
    edges = np.flatnonzero(is_blank[1:] != is_blank[:-1])
    n_lines, rest = divmod(edges.size, 2 * _FIELDS)
    newlines = np.flatnonzero(text == _NEWLINE)
    if rest or n_lines == 0 or newlines.size != n_lines:
        raise SuspicionError("a line has not six fields")
    starts, ends = (edges[side::2].reshape(n_lines, _FIELDS) for side in (0, 1))
    # As many newlines as lines, one after every sixth field: so there is none between others.
    if (newlines < ends[:, -1]).any() or (newlines[:-1] > starts[1:, 0]).any():
        raise SuspicionError("a line has not six fields")
    if (is_tab := text == _TAB).any():
        n_tabs = np.cumsum(is_tab)
        is_between_tabs = np.diff(n_tabs[newlines], prepend=0) == _FIELDS - 1
        has_none = (n_tabs[starts[:, 1:]] == n_tabs[ends[:, :-1] - 1]).any(axis=1)
        if (is_between_tabs & has_none).any():
            raise SuspicionError("a blank in a field between tabs")
    return starts, ends - starts


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


@dataclass(frozen=True, slots=True)
class TopRanking:
    """The first documents of one run for one topic, in little memory."""

    packed_docnos: bytes
    """Docnos in UTF-8, joined by newlines; empty when there is none."""
    packed_scores: bytes | None
    """Scores as float64 of this machine; ``None`` = not kept."""
    n_documents: int
    """Of the whole ranking."""
    n_tied_in: int = 0
    """Documents taken that tie with one not taken: equal scores, or ranks where these order the run."""
    n_tied_out: int = 0
    """Not taken that tie with the last one taken; both are 0, or neither."""

    @staticmethod
    def of(
        docnos: Sequence[str], scores: NDArray[np.float64] | None, n_documents: int, *n_tied: int
    ) -> TopRanking:
        """Pack docnos, none of them empty or with a newline in it, and scores."""
        packed_scores = None if scores is None else scores.astype(np.float64).tobytes()
        return TopRanking("\n".join(docnos).encode(), packed_scores, n_documents, *n_tied)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle in little time and few bytes."""
        return TopRanking, tuple(getattr(self, name) for name in self.__slots__)

    def __len__(self) -> int:
        return self.packed_docnos.count(b"\n") + 1 if self.packed_docnos else 0

    @property
    def docnos(self) -> list[str]:
        """Docnos in rank order; unpacked anew each time."""
        return self.packed_docnos.decode().split("\n") if self.packed_docnos else []

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores in rank order, shape (len(self),), read-only; `ArgumentError` if not kept."""
        if self.packed_scores is None:
            raise ArgumentError("with_scores", "must be true to have scores", got=False)
        return np.frombuffer(self.packed_scores, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RunTop:
    """The first documents of one run, topic by topic."""

    tag: str
    file: str
    sha256: str
    """Hash of the whole file, uncompressed."""
    depth: int
    order: Order
    topics: dict[str, TopRanking]
    """By topic id, in file order."""
    n_lines: int
    """Lines of the file that name a document; the sum of `TopRanking.n_documents`."""
    group: str = ""
    contributes: bool = True
    header: str | None = None
    """What the file says of the run, as it stands there; ``None`` = nothing."""


@dataclass(frozen=True, slots=True)
class TieAtCut:
    """Documents of one topic that tie across the cut, so that a tie rule decided."""

    tag: str
    topic: str
    n_in: int
    n_out: int


def take_top(
    docnos: Sequence[str],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int64] | None,
    *,
    depth: int,
    order: Order,
    n_documents: int,
    with_scores: bool = True,
) -> TopRanking:
    """Take the first documents of a ranking, in rank order."""
    first, *tied = first_places(docnos, scores, ranks, depth=depth, order=order)
    taken = [docnos[place] for place in first.tolist()]
    return TopRanking.of(taken, scores[first] if with_scores else None, n_documents, *tied)


def first_places(
    docnos: Sequence[str] | Sequence[bytes],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int64] | None,
    *,
    depth: int,
    order: Order,
) -> tuple[NDArray[np.int64], int, int]:
    """Find the places in `docnos`, in rank order, of the first documents, and the ties across the cut."""
    if is_ranked(scores, order):
        return np.arange(min(len(docnos), depth)), 0, 0
    places = rank_order(docnos, scores, ranks, order=order)
    compared = compared_scores(scores, order)
    if ranks is not None and order == "rank":
        # Codes, since float64 does not tell all 64-bit integers apart.
        compared = np.unique(ranks, return_inverse=True)[1].astype(np.float64)
    return places[:depth], *ties_at_cut(compared[places], depth)


def is_ranked(scores: NDArray[np.float64], order: Order) -> bool:
    """Return whether documents with these scores stand in rank order already, and none tie.

    ``False`` may mean that it is not known.
    """
    if order == "rank":
        return False
    compared = compared_scores(scores, order)
    return order == "file" or bool((compared[1:] < compared[:-1]).all())


def _first_of(whole: WholeRanking, depth: int, order: Order, *, with_scores: bool) -> TopRanking:
    """Take the first documents of a ranking; exact numbers are made of no others."""
    ranks = whole.ranks
    if order == "rank" and ranks is None:
        raise SuspicionError("a stated rank")
    rows = _can_be_first(whole.read.approximate, ranks, depth, order)
    docnos, scores = whole.names[rows], whole.read.exact(rows)
    if ranks is not None:
        ranks = ranks[rows]
    first, *tied = first_places(docnos, scores, ranks, depth=depth, order=order)
    packed_scores = scores[first].tobytes() if with_scores else None
    return TopRanking(docnos[first].packed(), packed_scores, len(whole.names), *tied)


def _can_be_first(
    scores: NDArray[np.float64], ranks: NDArray[np.int64] | None, depth: int, order: Order
) -> NDArray[np.int64]:
    """Return the lines that can be among the first `depth`, whatever a tie rule says."""
    if order == "file" or scores.size <= depth:
        return np.arange(min(scores.size, depth))
    # The complement reverses the order of all integers, where the minus sign overflows.
    worth = scores if ranks is None else ~ranks
    if (worth[1:] <= worth[:-1]).all():
        last = worth[depth - 1]
    else:
        last = np.partition(worth, worth.size - depth)[worth.size - depth]
    return np.flatnonzero(worth >= _least_tied(last.item(), order))


def _least_tied(worth: float | int, order: Order) -> float | int:
    """Return a number that no document is below which ties with `worth` or is above it.

    Scores, but not ranks, may be off by `RELATIVE_ERROR`, this one and those compared with it.
    """
    if isinstance(worth, int):
        return worth
    least = worth - 4 * RELATIVE_ERROR * abs(worth)
    if order != "trec9":
        return least
    with np.errstate(over="ignore", under="ignore"):
        # Whatever rounds to the same 32-bit number is above the one below it.
        return float(np.nextafter(np.float32(least), np.float32(-np.inf)))


BLOCK_BYTES = 3 << 17
"""Bytes read at a time: a few topics' lines, whose columns fit a processor's cache."""
_LONGEST_LINE = 1 << 20
_LOOKED_AT_BYTES = 1 << 14
_BALLAST_BYTES = 1 << 23
"""More than any array here has; never touched, so it takes no memory."""


@dataclass(slots=True)
class LineFacts:
    """What the lines of a file so far have in common."""

    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    tag: bytes = b""
    topics: set[bytes] = field(default_factory=set)
    n_lines: int = 0
    header: RunHeader | None = None
    n_of_header: int = 0
    is_ascii: bool = True
    n_odd_q0: int = 0
    """Lines whose second field is neither `Q0` nor `0`, and ..."""
    notes: dict[str, str] = field(default_factory=dict)
    """What is odd about the columns of the first lines, by code."""
    odd_q0: tuple[int, bytes] | None = None
    """... line number and second field of the first of them; not looked for unless asked."""

    def warn(self, path: str) -> None:
        """Send the notes as warnings."""
        for note in self.notes.values():
            warn(f"{path}: {note}")


Numbering = Callable[[FieldColumn], NDArray[np.int32]]
"""Gives docnos their numbers, thousands at a time."""


@dataclass(slots=True, eq=False)
class WholeRanking:
    """All documents of one run for one topic, in file order; docnos and scores are made when asked for."""

    topic: str
    names: FieldColumn
    """Docnos in UTF-8, none twice."""
    read: FieldScores
    stated: Ranks | None
    """Stated ranks; ``None`` when they are not wanted."""
    line: int
    numbers: NDArray[np.int32]
    """What was made of the docnos, shape (n_documents,); empty when nothing was to be made."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def docnos(self) -> list[str]:
        """Docnos; made anew each time."""
        return self.names.packed().decode().split("\n")

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores to the last bit, shape (n_documents,), finite."""
        return self.read.exact(np.arange(len(self)))

    @property
    def ranks(self) -> NDArray[np.int64] | None:
        """Stated ranks, shape (n_documents,); ``None`` when not all are integers, or they are not wanted."""
        return None if self.stated is None else self.stated.all_or_none()


def read_blocks(
    path: str, depth: int, *, order: Order, with_scores: bool = True, block_bytes: int = BLOCK_BYTES
) -> RunTop:
    """Read the first documents of every topic of a regular run file that is plainly in order."""
    facts = LineFacts()
    wholes = stream_rankings(path, facts, with_ranks=order == "rank", block_bytes=block_bytes)
    topics = {one.topic: _first_of(one, depth, order, with_scores=with_scores) for one in wholes}
    facts.warn(path)
    header = None if facts.header is None else facts.header.text
    about = facts.tag.decode(), PurePath(path).name, facts.digest.hexdigest()
    return RunTop(*about, depth, order, topics, facts.n_lines, header=header)


def stream_rankings(
    path: str,
    facts: LineFacts,
    *,
    with_ranks: bool = True,
    with_q0: bool = False,
    number: Numbering | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[WholeRanking]:
    """Read the rankings of a run file that is plainly in order, one topic after another.

    `SuspicionError` and `OSError` may come after any number of rankings: what was done with them is to be
    undone, and the file read by `read_run`. `facts` are whole once the last ranking has been taken.
    """
    for block in _whole_topics(_whole_lines(path, facts, block_bytes)):
        lines = find_fields(block)
        facts.is_ascii &= block.isascii()
        _check_tag(lines.column(TAG), facts)
        if with_q0:
            _see_q0(lines.column(Q0), facts)
        try:
            scores = parse_scores(lines.column(SCORE))
        except ValueError as error:
            raise SuspicionError("a score") from error
        ranks = parse_ranks(lines.column(RANK)) if with_ranks else None
        topics, docnos = lines.column(TOPIC), lines.column(DOCNO)
        firsts = [0, *topics.changes().tolist()]
        check_parts(docnos.keys(), firsts)
        numbers = np.empty(0, np.int32) if number is None else number(docnos)
        for first, end in zip(firsts, [*firsts[1:], len(lines)], strict=True):
            topic = topics[first]
            if topic.startswith(b"#"):
                raise SuspicionError("a comment, or a topic that looks like one")
            if topic in facts.topics:
                raise SuspicionError("a topic in two parts")
            facts.topics.add(topic)
            rows = slice(first, end)
            line = facts.n_of_header + facts.n_lines + first + 1
            stated = None if ranks is None else ranks[rows]
            yield WholeRanking(topic.decode(), docnos[rows], scores[rows], stated, line, numbers[rows])
        facts.n_lines += len(lines)
    if not facts.n_lines:
        raise SuspicionError("no line")
    if facts.header is not None and facts.header.tag not in (None, facts.tag.decode()):
        raise SuspicionError("another tag in the header")


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
    first = block.rfind(b"\n", 0, -1) + 1
    topic = b"".join(block[first:].split(None, 1)[:1])
    if found := re.search(rb"\n" + re.escape(topic) + rb"\s", block[:first]):
        first = found.start() + 1
    while first:  # a line may begin with a blank
        before = block.rfind(b"\n", 0, first - 1) + 1
        if block[before:first].split(None, 1)[:1] != [topic]:
            break
        first = before
    return topic, first


def _whole_lines(path: str, facts: LineFacts, block_bytes: int) -> Iterator[bytes]:
    """Yield blocks that end with a line end, without a header, and hash the file."""
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
                    data, is_first = _after_header(data, facts), False
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


def _after_header(data: bytes, facts: LineFacts) -> bytes:
    """Take a byte order mark, a header and comments off the first bytes of a file; look at what follows."""
    data = data.removeprefix(BOM)
    if START.match(data):
        header, data = cut_header(data)
        faults = FaultList("")
        facts.header, facts.n_of_header = read_header(header, faults), header.count(b"\n")
        if faults:
            raise SuspicionError("a header")
    while data.startswith(b"#"):
        facts.n_of_header += 1
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


def _see_q0(column: FieldColumn, facts: LineFacts) -> None:
    first = column.words()[0]
    odd = np.flatnonzero((first != _Q0_WORD) & (first != _ZERO_WORD))
    if odd.size and facts.odd_q0 is None:
        row = int(odd[0])
        facts.odd_q0 = facts.n_of_header + facts.n_lines + row + 1, column[row]
    facts.n_odd_q0 += odd.size


def read_top(
    path: str,
    depth: int,
    *,
    order: Order = "trec",
    lenient: bool = False,
    with_scores: bool = True,
    titles: Mapping[str, str] | None = None,
) -> RunTop:
    """Read the first documents of every topic of a run file: as ``top_of(read_run(path), depth)``."""
    check_order(order)
    # A pipe cannot be read a second time, so it is read slowly at once.
    if is_regular_file(path):
        try:
            return read_blocks(path, depth, order=order, with_scores=with_scores)
        except SuspicionError:
            pass
    run = read_run(path, lenient=lenient, titles=titles)
    return top_of(run, depth, order=order, with_scores=with_scores)


def top_of(run: Run, depth: int, *, order: Order = "trec", with_scores: bool = True) -> RunTop:
    """Take the first documents of every topic of a run in memory, topics in the order of the run."""
    check_order(order)
    topics = {}
    for ranking in run.rankings:
        if order == "rank" and ranking.ranks is None:
            hint = f"run `{run.file or run.tag}` has no such ranks in topic `{ranking.topic}`"
            raise ArgumentError("order", "needs stated ranks that are integers", order, hint=hint)
        documents, n = (ranking.docnos, ranking.scores, ranking.ranks), len(ranking.docnos)
        topics[ranking.topic] = take_top(
            *documents, depth=depth, order=order, n_documents=n, with_scores=with_scores
        )
    n_lines = sum(top.n_documents for top in topics.values())
    facts = run.tag, run.file, run.sha256, depth, order, topics, n_lines
    return RunTop(*facts, run.group, run.contributes, run.header)


def read_tops(
    runs: Sequence[str | RunEntry],
    depth: int,
    *,
    order: Order = "trec",
    lenient: bool = False,
    with_scores: bool = True,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[RunTop]:
    """Read the first documents of many run files, in their order, whatever the number of processes."""
    check_order(order)
    entries = as_entries(runs)
    task = partial(read_entry, depth=depth, order=order, lenient=lenient, with_scores=with_scores)
    files = [entry.file for entry in entries]
    outcomes = share_files(task, entries, files, workers=workers, progress=progress)
    failed = [(file, one) for file, one in zip(files, outcomes, strict=True) if isinstance(one, PoolerError)]
    if failed:
        raise first_error(failed)
    return [one for one in outcomes if isinstance(one, RunTop)]


def read_entry(entry: RunEntry, *, depth: int, order: Order, lenient: bool, with_scores: bool) -> RunTop:
    """Read the first documents of one run of a list."""
    how: dict[str, Any] = {"order": order, "lenient": lenient, "with_scores": with_scores}
    top = read_top(entry.file, depth, titles=entry.titles, **how)
    entry.check_tag(top.tag)
    entry = entry.with_header(top.header)
    return replace(top, group=entry.group, contributes=entry.contributes)


def first_error(failed: list[tuple[str, PoolerError]]) -> PoolerError:
    """Return the first of the errors of some files, with the names of the others in its hint."""
    (_, first), *others = failed
    if others:
        names = ", ".join(f"`{file}`" for file, _ in others[:10])
        if len(others) > 10:
            names += f" and {len(others) - 10} more"
        hint = f"cannot be read either: {names}"
        first.hint = f"{first.hint}; {hint}" if first.hint else hint
    return first
