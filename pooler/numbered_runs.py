"""Whole runs read for a collection: rankings packed as the store has them, documents as numbers.

A reader numbers the documents it meets, from 0 on, and tells the docno of each number once. So the
work on every line is the reader's, which may be another process, and what comes back of a run is a
few bytes a document.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO, overload

import numpy as np

from pooler.columns import Column
from pooler.docno_numbers import DocnoNumbers
from pooler.run_blocks import RunSeen, TopicPart, topic_parts
from pooler.run_lines import SuspicionError
from pooler.run_list import RunEntry
from pooler.runs import read_run
from store.errors import PoolerError
from store.formats.lines import is_regular_file
from store.packing import PackedRanking, pack_ranking
from store.records import Run

SPOOL_BYTES = 1 << 23
"""A run of more packed bytes than this goes through a temporary file."""


@dataclass(frozen=True, slots=True)
class NumberedRun:
    """A run file, read whole."""

    tag: str
    sha256: str
    file: str
    """File name without its folder."""
    reader: int
    """Who numbered the documents."""
    packed_docnos: bytes
    """Of the numbers this reader uses here for the first time, in their order, joined by
    newlines."""
    topics: list[str]
    """In file order."""
    packed: list[PackedRanking]
    """The rankings of `topics`; empty when they are in `spool`."""
    spool: str = ""
    """A temporary file with the rankings; `rankings` removes it."""
    run: Run | None = None
    """The run itself, when the file cannot be read again."""

    def docnos(self) -> list[str]:
        """Return the docnos of the numbers this reader uses here for the first time."""
        return self.packed_docnos.decode().split("\n") if self.packed_docnos else []

    def rankings(self) -> Iterator[PackedRanking]:
        """Yield the rankings in file order, once."""
        yield from self.packed
        if self.spool:
            with Path(self.spool).open("rb") as file:
                for _ in self.topics:
                    yield pickle.load(file)
            self.discard()

    def discard(self) -> None:
        """Remove the temporary file, if there is one."""
        if self.spool:
            Path(self.spool).unlink(missing_ok=True)


class RunReader:
    """Reads runs one after another, and numbers their documents.

    Parameters
    ----------
    folder : str
        Where temporary files go.
    lenient : bool, default=False
        Follow trec_eval where it accepts more, see `pooler.runs`.
    spool_bytes : int, optional
        Packed bytes of a run kept in memory.

    Notes
    -----
    Memory holds about 150 bytes for every document met so far, one block of lines, one topic, and
    `spool_bytes`; a file that is not plainly in order is read whole.
    """

    def __init__(
        self, folder: str, *, lenient: bool = False, spool_bytes: int = SPOOL_BYTES
    ) -> None:
        self._folder = folder
        self._lenient = lenient
        self._spool_bytes = spool_bytes
        self._numbers = DocnoNumbers()

    def read(self, entry: RunEntry) -> NumberedRun:
        """Read a run file.

        Raises
        ------
        FormatError
            If the file has faults: those of `pooler.runs.read_run`; or if it has another tag than
            the entry says.
        PoolerError
            If the file cannot be opened.
        """
        n_known = len(self._numbers)
        try:
            # A pipe cannot be read a second time, so it is read slowly at once.
            if is_regular_file(entry.file):
                try:
                    return self._read_fast(entry)
                except SuspicionError:
                    self._numbers.forget(n_known)
            return self._read_slowly(entry)
        except BaseException:
            self._numbers.forget(n_known)  # nobody is told of these
            raise

    def _read_fast(self, entry: RunEntry) -> NumberedRun:
        """Read a run file that is plainly in order; else raise `SuspicionError`."""
        n_known = len(self._numbers)
        seen = RunSeen()
        with _Spool(self._folder, self._spool_bytes) as spool:
            for parts in _by_topic(topic_parts(entry.file, seen, with_ranks=True)):
                spool.add(self._pack_parts(parts))
            tag = seen.tag.decode()
            entry.check_tag(tag)
            return self._made(entry, tag, seen.digest.hexdigest(), n_known, spool)

    def _read_slowly(self, entry: RunEntry) -> NumberedRun:
        """Read a run file line by line."""
        run = read_run(entry.file, lenient=self._lenient)
        entry.check_tag(run.tag)
        n_known = len(self._numbers)
        with _Spool(self._folder, self._spool_bytes) as spool:
            for ranking in run.rankings:
                column = Column.of([docno.encode() for docno in ranking.docnos])
                numbers = self._numbers.number(column)
                spool.add(
                    pack_ranking(
                        ranking.topic, ranking.docnos, numbers, ranking.scores, ranking.ranks
                    )
                )
            can_be_read_again = is_regular_file(entry.file)
            kept = None if can_be_read_again else run
            return self._made(entry, run.tag, run.sha256, n_known, spool, kept)

    def _pack_parts(self, parts: list[TopicPart]) -> PackedRanking:
        """Pack the lines of one topic."""
        numbers = np.concatenate([self._numbers.number(part.docnos) for part in parts])
        ordered = np.sort(numbers)
        if (ordered[1:] == ordered[:-1]).any():
            raise SuspicionError("a document twice in a topic")
        every = [np.arange(len(part.docnos)) for part in parts]
        scores = [part.scores.exact(rows) for part, rows in zip(parts, every, strict=True)]
        ranks = [part.ranks for part in parts if part.ranks is not None]
        return pack_ranking(
            parts[0].topic.decode(),
            _Docnos([part.docnos for part in parts]),
            numbers,
            np.concatenate(scores),
            np.concatenate(ranks) if len(ranks) == len(parts) else None,
        )

    def _made(
        self,
        entry: RunEntry,
        tag: str,
        sha256: str,
        n_known: int,
        spool: _Spool,
        run: Run | None = None,
    ) -> NumberedRun:
        """Put together what was read."""
        return NumberedRun(
            tag,
            sha256,
            PurePath(entry.file).name,
            os.getpid(),
            self._numbers.since(n_known),
            spool.topics,
            spool.packed,
            spool.keep(),
            run,
        )


class _Docnos(Sequence[bytes]):
    """The docnos of one topic, made only if they are looked at: where scores tie."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._made: list[bytes] = []

    def __len__(self) -> int:
        return sum(map(len, self._columns))

    @overload
    def __getitem__(self, row: int) -> bytes: ...

    @overload
    def __getitem__(self, row: slice) -> list[bytes]: ...

    def __getitem__(self, row: int | slice) -> bytes | list[bytes]:
        return self._list()[row]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._list())

    def _list(self) -> list[bytes]:
        """Make them, once."""
        if not self._made:
            parts = [column.packed(np.arange(len(column))) for column in self._columns]
            self._made = b"\n".join(parts).split(b"\n")
        return self._made


class _Spool:
    """Packed rankings of one run: in memory, and in a temporary file when they are many."""

    def __init__(self, folder: str, most_bytes: int) -> None:
        self.topics: list[str] = []
        self.packed: list[PackedRanking] = []
        self._folder = folder
        self._most_bytes = most_bytes
        self._n_bytes = 0
        self._file: BinaryIO | None = None
        self._name = ""

    def __enter__(self) -> _Spool:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file is not None:
            self._file.close()
        if self._name:
            Path(self._name).unlink(missing_ok=True)

    def add(self, ranking: PackedRanking) -> None:
        """Take in the next ranking."""
        self.topics.append(ranking.topic)
        self.packed.append(ranking)
        parts = (ranking.documents, ranking.scores, ranking.ranks, ranking.positions)
        self._n_bytes += sum(len(part) for part in parts if part is not None)
        if self._n_bytes > self._most_bytes:
            self._write()

    def keep(self) -> str:
        """Close the temporary file and return its name; empty when there is none."""
        if self._file is None:
            return ""
        self._write()
        self._file.close()
        name, self._name = self._name, ""
        return name

    def _write(self) -> None:
        """Move what is in memory to the temporary file."""
        try:
            if self._file is None:
                descriptor, self._name = tempfile.mkstemp(dir=self._folder, prefix="run-")
                self._file = os.fdopen(descriptor, "wb")
            for ranking in self.packed:
                pickle.dump(ranking, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except OSError as error:
            message = f"a temporary file in {self._folder} cannot be written: {error.strerror}"
            raise PoolerError(message, hint="TMPDIR names another folder for them") from error
        self.packed.clear()
        self._n_bytes = 0


def _by_topic(parts: Iterable[TopicPart]) -> Iterator[list[TopicPart]]:
    """Put the parts of each topic together."""
    here: list[TopicPart] = []
    for part in parts:
        if part.is_new and here:
            yield here
            here = []
        here.append(part)
    yield here
