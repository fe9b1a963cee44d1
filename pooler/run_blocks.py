"""The fast reader of run files that are plainly in order.

It takes a block of lines at a time: one `split` for all their fields, one comparison for all
their tags, one conversion for all their scores. Of each topic it keeps only the documents that
can still be among the first `depth`. It words no fault: at the first thing that is not plainly in
order it gives up, and `pooler.runs` reads the file again and says what is wrong, if anything is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from pooler.runs import whole_ranks
from pooler.scores import parse_scores
from pooler.top_ranking import RunTop, TopRanking, take_top
from store.formats.lines import BOM, GZIP_ERRORS, open_bytes
from store.ranking import Order, compared_scores

_BLOCK = 1 << 16
"""Bytes read at a time: a few topics' lines, whose fields fit a processor's cache."""
_LONGEST_LINE = 1 << 20
_CONTROLS = bytes([*range(9), *range(14, 32), 127])
"""The ASCII controls that are no blanks; none may stand in an id."""
_LINE_END = b"\x01"
"""Stands for a line end among the fields; being a control, it is no field itself."""
_FIELDS = 7
"""Six fields and the line end."""
_ODD_CHARACTERS = re.compile("[\x80-\xa0\u061c\u1680\u180e\u2000-\u206f\u3000\ufeff]")
"""The blanks, controls and bidirectional controls beyond ASCII, and some harmless neighbours."""


class SuspicionError(Exception):
    """Something in the file is not plainly in order; it may be a fault."""


def read_blocks(path: str, depth: int, *, order: Order, block_bytes: int = _BLOCK) -> RunTop:
    """Read the first documents of every topic of a run file that is plainly in order.

    Parameters
    ----------
    path : str
        A regular file, plain or gzip.
    depth : int
        Documents kept for a topic, at least 1.
    order : {"trec", "trec9", "docno-asc", "rank", "file"}
        What orders the run, see `store.ranking`.
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
    exactly when its score is below ``cut``; ties are kept until the topic ends. About 0.4
    microseconds a line; memory holds the kept documents, one block, and one topic's docnos.
    """
    digest = hashlib.sha256()
    topics: dict[str, TopRanking] = {}
    tag: bytes | None = None
    current: bytes | None = None
    candidates = _Candidates(depth, order)
    for block in _whole_lines(path, digest, block_bytes):
        _check_characters(block)
        fields = block.replace(b"\n", b" " + _LINE_END + b" ").split()
        n_lines = block.count(b"\n")
        if len(fields) != _FIELDS * n_lines or fields[6::7].count(_LINE_END) != n_lines:
            raise SuspicionError("a line has not six fields")
        if tag is None:
            tag = fields[5]
        if fields[5::7].count(tag) != n_lines:
            raise SuspicionError("a second tag")
        try:
            scores = parse_scores(fields[4::7])
        except ValueError as error:
            raise SuspicionError("a score") from error
        ranks = whole_ranks(fields[3::7]) if order == "rank" else None
        if order == "rank" and ranks is None:
            raise SuspicionError("a stated rank")
        docnos = fields[2::7]
        for topic, start, end in _topic_spans(fields[0::7]):
            if topic != current:
                if current is not None:
                    topics[current.decode()] = candidates.finish()
                if topic.startswith(b"#"):
                    raise SuspicionError("a topic that looks like a comment")
                if topic.decode() in topics:
                    raise SuspicionError("a topic in two parts")
                current = topic
                candidates = _Candidates(depth, order)
            candidates.add(
                docnos[start:end], scores[start:end], None if ranks is None else ranks[start:end]
            )
    if tag is None or current is None:
        raise SuspicionError("no line")
    topics[current.decode()] = candidates.finish()
    return RunTop(
        tag=tag.decode(),
        file=PurePath(path).name,
        sha256=digest.hexdigest(),
        depth=depth,
        order=order,
        topics=topics,
        n_lines=sum(top.n_documents for top in topics.values()),
    )


def _whole_lines(path: str, digest: hashlib._Hash, block_bytes: int) -> Iterator[bytes]:
    """Yield blocks that end with a line end, and hash the file."""
    rest = b""
    with open_bytes(path) as file:
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
        except GZIP_ERRORS as error:
            raise SuspicionError("gzip data") from error
    if rest:
        yield rest + b"\n"


def _check_characters(block: bytes) -> None:
    """Raise `SuspicionError` when a character of `block` could be a fault in an id."""
    if len(block.translate(None, _CONTROLS)) != len(block):
        raise SuspicionError("a control character")
    if block.startswith(b"#") or b"\n#" in block:
        raise SuspicionError("a comment, or a topic that looks like one")
    if block.isascii():
        return
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        raise SuspicionError("no UTF-8") from error
    if block.startswith(BOM) or _ODD_CHARACTERS.search(text):
        raise SuspicionError("an odd character")


def _topic_spans(topics: list[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Yield each topic with the first of its lines and the first that is no longer its own."""
    start, n_lines = 0, len(topics)
    while start < n_lines:
        topic = topics[start]
        if topics[-1] == topic:
            end = n_lines
        else:
            # Lines of a topic stand together, so halving finds where they end; counting proves it.
            last, end = start, n_lines - 1
            while end - last > 1:
                middle = (last + end) // 2
                if topics[middle] == topic:
                    last = middle
                else:
                    end = middle
        if topics[start:end].count(topic) != end - start:
            raise SuspicionError("a topic in two parts")
        yield topic, start, end
        start = end


class _Candidates:
    """The documents of one topic that can still be among its first `depth`."""

    def __init__(self, depth: int, order: Order) -> None:
        self.depth = depth
        self.order: Order = order
        self.seen: set[bytes] = set()
        self.n_documents = 0
        self.docnos: list[bytes] = []
        self.scores: NDArray[np.float64] = np.empty(0)
        self.ranks: NDArray[np.int64] | None = np.empty(0, np.int64) if order == "rank" else None
        self.most = depth

    def add(
        self, docnos: list[bytes], scores: NDArray[np.float64], ranks: NDArray[np.int64] | None
    ) -> None:
        """Add lines that come next in the file."""
        self.seen.update(docnos)
        self.n_documents += len(docnos)
        self.docnos += docnos
        self.scores = np.concatenate((self.scores, scores)) if self.scores.size else scores
        if self.ranks is not None and ranks is not None:
            self.ranks = np.concatenate((self.ranks, ranks))
        if len(self.docnos) > self.most:
            self._drop()

    def _drop(self) -> None:
        """Drop the documents that `depth` others precede, whatever a tie rule says."""
        if self.order == "file":
            del self.docnos[self.depth :]
            self.scores = self.scores[: self.depth].copy()
            return
        # The complement reverses the order of all integers, where the minus sign overflows.
        keys = compared_scores(self.scores, self.order) if self.ranks is None else ~self.ranks
        place = keys.size - self.depth
        kept = np.flatnonzero(keys >= np.partition(keys, place)[place])
        self.docnos = [self.docnos[index] for index in kept.tolist()]
        self.scores = self.scores[kept]
        if self.ranks is not None:
            self.ranks = self.ranks[kept]
        # Twice as many as are left, so that a long tie is not gone through at every block.
        self.most = max(4 * self.depth, 2 * len(self.docnos))

    def finish(self) -> TopRanking:
        """Rank what is left."""
        if len(self.seen) != self.n_documents:
            raise SuspicionError("a document twice in a topic")
        return take_top(
            b"\n".join(self.docnos).decode().split("\n"),
            self.scores,
            self.ranks,
            depth=self.depth,
            order=self.order,
            n_documents=self.n_documents,
        )
