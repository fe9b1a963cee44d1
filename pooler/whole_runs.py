"""Whole rankings of run files, read fast: what an import needs.

`read_whole` gives the same as `pooler.runs.read_run`, for every file. `stream_rankings` gives the
rankings of a file that is plainly in order one after another, so that a run of thousands of
topics is never in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from pooler.distinct import check_across
from pooler.run_blocks import BLOCK_BYTES, RunSeen, TopicPart, topic_parts
from pooler.run_lines import SuspicionError
from pooler.runs import read_run
from store.formats.lines import is_regular_file
from store.records import Ranking, Run


@dataclass(frozen=True, slots=True, eq=False)
class WholeRanking:
    """All documents of one run for one topic, in file order."""

    topic: str
    packed_docnos: bytes
    """Docnos in UTF-8, joined by newlines."""
    scores: NDArray[np.float64]
    """Shape (n_documents,), finite."""
    ranks: NDArray[np.int64] | None
    """Stated ranks, shape (n_documents,); ``None`` when they are not all integers."""

    def __len__(self) -> int:
        """Count the documents."""
        return self.scores.size

    @property
    def docnos(self) -> list[str]:
        """Docnos; unpacked anew each time."""
        return self.packed_docnos.decode().split("\n")


def read_whole(path: str, *, lenient: bool = False) -> Run:
    r"""Read a run file whole.

    Parameters
    ----------
    path : str
        A run file, plain or compressed; ``-`` is standard input.
    lenient : bool, default=False
        Follow trec_eval where it accepts more, see `pooler.runs`.

    Returns
    -------
    Run
        The same as ``read_run(path, lenient=lenient)`` of `pooler.runs`.

    Raises
    ------
    FormatError
        If the file has faults: those of `pooler.runs.read_run`.
    PoolerError
        If the file cannot be opened.

    Notes
    -----
    About 0.3 microseconds a line of a file that is plainly in order.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".run") as file:
    ...     _ = file.write("51 Q0 d2 1 0.9 bm25\n51 Q0 d1 2 0.4 bm25\n")
    ...     file.flush()
    ...     run = read_whole(file.name)
    >>> run.tag, run.rankings[0].docnos, run.rankings[0].ranks.tolist()
    ('bm25', ['d2', 'd1'], [1, 2])
    """
    # A pipe cannot be read a second time, so it is read slowly at once.
    if is_regular_file(path):
        seen = RunSeen()
        try:
            rankings = [
                Ranking(whole.topic, whole.docnos, whole.scores, whole.ranks)
                for whole in stream_rankings(path, seen)
            ]
        except SuspicionError:
            pass
        else:
            sha256 = seen.digest.hexdigest()
            return Run(seen.tag.decode(), rankings, sha256, file=PurePath(path).name)
    return read_run(path, lenient=lenient)


def stream_rankings(
    path: str, seen: RunSeen, *, block_bytes: int = BLOCK_BYTES
) -> Iterator[WholeRanking]:
    r"""Read the rankings of a run file that is plainly in order, one topic after another.

    Parameters
    ----------
    path : str
        A regular file, plain or compressed.
    seen : RunSeen
        A new one. Its tag, hash and number of lines are the file's once the last ranking has been
        taken.
    block_bytes : int, optional
        Bytes read at a time; changes the time and nothing else.

    Yields
    ------
    WholeRanking
        In file order.

    Raises
    ------
    SuspicionError
        If the file may have a fault, or has blank lines, or a topic in two parts. It may come
        after any number of rankings: what was done with them is to be undone, and the file to be
        read by `pooler.runs.read_run`, which says what is wrong, or finds nothing wrong.
    PoolerError
        If the file cannot be opened; before the first ranking.
    OSError
        If the system cannot read on; after any number of rankings.

    Notes
    -----
    Memory holds one block and one topic.

    Examples
    --------
    >>> import tempfile
    >>> seen = RunSeen()
    >>> with tempfile.NamedTemporaryFile("w", suffix=".run") as file:
    ...     _ = file.write("51 Q0 d2 1 0.9 bm25\n52 Q0 d1 x 0.4 bm25\n")
    ...     file.flush()
    ...     [(one.topic, one.docnos, one.ranks) for one in stream_rankings(file.name, seen)]
    [('51', ['d2'], array([1])), ('52', ['d1'], None)]
    >>> seen.tag, seen.n_lines
    (b'bm25', 2)
    """
    for parts in _by_topic(topic_parts(path, seen, with_ranks=True, block_bytes=block_bytes)):
        check_across([part.keys for part in parts])
        every = [np.arange(len(part.docnos)) for part in parts]
        packed = [part.docnos.packed(rows) for part, rows in zip(parts, every, strict=True)]
        scores = [part.scores.exact(rows) for part, rows in zip(parts, every, strict=True)]
        ranks = [part.ranks for part in parts if part.ranks is not None]
        yield WholeRanking(
            parts[0].topic.decode(),
            b"\n".join(packed),
            np.concatenate(scores),
            np.concatenate(ranks) if len(ranks) == len(parts) else None,
        )


def _by_topic(parts: Iterable[TopicPart]) -> Iterator[list[TopicPart]]:
    """Put the parts of each topic together."""
    here: list[TopicPart] = []
    for part in parts:
        if part.is_new and here:
            yield here
            here = []
        here.append(part)
    yield here
