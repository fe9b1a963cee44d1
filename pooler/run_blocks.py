"""The fast reader of run files that are plainly in order.

It takes a block of lines at a time and works on columns: see `pooler.run_lines`. Of each topic it
keeps only the documents that can still be among the first `depth`, and makes bytes and numbers of
no others. It words no fault: at the first thing that is not plainly in order it gives up, and
`pooler.runs` reads the file again and says what is wrong, if anything is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from pooler.candidates import Candidates
from pooler.columns import Column
from pooler.distinct import check_parts
from pooler.ranks import parse_ranks
from pooler.run_lines import SuspicionError, find_fields
from pooler.scores import Scores, parse_scores
from pooler.top_ranking import RunTop, TopRanking
from store.errors import FormatError
from store.formats.compression import DamagedDataError
from store.formats.lines import open_bytes
from store.ranking import Order

BLOCK_BYTES = 3 << 17
"""Bytes read at a time: a few topics' lines, whose columns fit a processor's cache."""
_LONGEST_LINE = 1 << 20
_BALLAST_BYTES = 1 << 23
"""More than any array here has; never touched, so it takes no memory."""


@dataclass(slots=True)
class RunSeen:
    """What the lines of a file so far have in common."""

    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    """Of the uncompressed bytes."""
    tag: bytes = b""
    """Of all lines."""
    topics: set[bytes] = field(default_factory=set)
    n_lines: int = 0


@dataclass(slots=True, eq=False)
class TopicPart:
    """Lines of one topic that stand together in one block."""

    topic: bytes
    is_new: bool
    """Whether the topic begins here; else it goes on from the block before."""
    docnos: Column
    scores: Scores
    keys: NDArray[np.uint64]
    """A number for every docno, as `Column.keys`; none twice here."""
    ranks: NDArray[np.int64] | None
    """Stated ranks; ``None`` when they are not wanted, or are not all integers."""


def read_blocks(
    path: str,
    depth: int,
    *,
    order: Order,
    with_scores: bool = True,
    block_bytes: int = BLOCK_BYTES,
) -> RunTop:
    """Read the first documents of every topic of a run file that is plainly in order.

    Parameters
    ----------
    path : str
        A regular file, plain or compressed.
    depth : int
        Documents kept for a topic, at least 1.
    order : {"trec", "trec9", "docno-asc", "rank", "file"}
        What orders the run, see `store.ranking`.
    with_scores : bool, default=True
        Keep the scores of the documents.
    block_bytes : int, optional
        Bytes read at a time; changes the time and nothing else.

    Returns
    -------
    RunTop
        The first documents, exact for any order of the lines within a topic.

    Raises
    ------
    SuspicionError
        If the file may have a fault, or has blank lines, or a topic in two parts.
    PoolerError
        If the file cannot be opened.

    Notes
    -----
    With ``cut`` the least score among the best `depth` so far of a topic, a document is dropped
    exactly when its score is below ``cut``; ties are kept until the topic ends. About 0.2
    microseconds a line; memory holds the kept documents, one block, and 8 bytes for every document
    of one topic.
    """
    seen = RunSeen()
    topics: dict[str, TopRanking] = {}
    topic = b""
    candidates = Candidates(depth, order, with_scores=with_scores)
    for part in topic_parts(path, seen, with_ranks=order == "rank", block_bytes=block_bytes):
        if order == "rank" and part.ranks is None:
            raise SuspicionError("a stated rank")
        if part.is_new:
            if topic:
                topics[topic.decode()] = candidates.finish()
            topic = part.topic
            candidates = Candidates(depth, order, with_scores=with_scores)
        candidates.add(part.docnos, part.scores, part.keys, part.ranks)
    topics[topic.decode()] = candidates.finish()
    return RunTop(
        tag=seen.tag.decode(),
        file=PurePath(path).name,
        sha256=seen.digest.hexdigest(),
        depth=depth,
        order=order,
        topics=topics,
        n_lines=seen.n_lines,
    )


def topic_parts(
    path: str, seen: RunSeen, *, with_ranks: bool, block_bytes: int = BLOCK_BYTES
) -> Iterator[TopicPart]:
    """Read a run file that is plainly in order, block by block and topic by topic.

    Parameters
    ----------
    path : str
        A run file, plain or compressed; ``-`` is standard input.
    seen : RunSeen
        Filled while reading; whole once the last part has been taken.
    with_ranks : bool
        Whether to read the stated ranks.
    block_bytes : int, optional
        Bytes read at a time.

    Yields
    ------
    TopicPart
        In file order; a topic that goes beyond a block comes in several parts, one after another.

    Raises
    ------
    SuspicionError
        If the file may have a fault, or has blank lines, or a topic in two parts. Whether parts of
        a topic have a document in common is left to the caller: `pooler.distinct.check_across`.
    PoolerError
        If the file cannot be opened.
    """
    topic = b""
    for block in _whole_lines(path, seen.digest, block_bytes):
        lines = find_fields(block)
        seen.n_lines += len(lines)
        _check_tag(lines.tags(), seen)
        try:
            scores = parse_scores(lines.scores())
        except ValueError as error:
            raise SuspicionError("a score") from error
        ranks = parse_ranks(lines.ranks()) if with_ranks else None
        topics, docnos = lines.topics(), lines.docnos()
        keys = docnos.keys()
        firsts = [0, *topics.changes().tolist()]
        check_parts(keys, firsts)
        for first, end in zip(firsts, [*firsts[1:], len(lines)], strict=True):
            here = topics.at(first)
            is_new = here != topic
            if is_new:
                _check_topic(here, seen)
                topic = here
            rows = slice(first, end)
            yield TopicPart(
                topic,
                is_new,
                docnos[rows],
                scores[rows],
                keys[rows],
                None if ranks is None else ranks[rows].all_or_none(),
            )
    if not seen.n_lines:
        raise SuspicionError("no line")


def _whole_lines(path: str, digest: hashlib._Hash, block_bytes: int) -> Iterator[bytes]:
    """Yield blocks that end with a line end, and hash the file."""
    rest = b""
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
                digest.update(data)
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


def _check_tag(tags: Column, seen: RunSeen) -> None:
    """Raise `SuspicionError` unless all lines have the tag of those before."""
    tag = tags.at(0)
    if tag != (seen.tag or tag) or tags.changes().size:
        raise SuspicionError("a second tag")
    seen.tag = tag


def _check_topic(topic: bytes, seen: RunSeen) -> None:
    """Raise `SuspicionError` unless a topic that begins is plainly a new one."""
    if topic.startswith(b"#"):
        raise SuspicionError("a comment, or a topic that looks like one")
    if topic in seen.topics:
        raise SuspicionError("a topic in two parts")
    seen.topics.add(topic)
