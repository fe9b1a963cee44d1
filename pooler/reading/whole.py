"""Whole rankings, by name or by number.

A reader numbers the documents it meets, from 0 on, and reports the docno of each number once. So the work on
every line is the reader's, which may be another process, and what comes back of a run is a few bytes a
document. What is stored does not depend on who reads: numbers become row ids in the order of the files.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import numpy as np
from numpy.typing import NDArray

from pooler.messages import progress
from pooler.reading.blocks import LineFacts, SuspicionError, is_ranked, stream_rankings
from pooler.reading.columns import NO_NUMBER, DocnoNumbers, FieldColumn
from pooler.reading.parallel import PARALLEL_BYTES, in_order, n_processors, share_files
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from store.analysis.arrays import RankedDocuments
from store.db.packing import PackedRanking, pack_ranking
from store.errors import ArgumentError, PoolerError
from store.formats.lines import is_regular_file
from store.formats.tables import Numbering
from store.ranking import rank_order
from store.records import Order, Ranking, Run


def read_whole(path: str, *, lenient: bool = False, titles: Mapping[str, str] | None = None) -> Run:
    """Read a run file whole; faults and result are those of `pooler.reading.strict.read_run`."""
    # A pipe cannot be read a second time, so it is read slowly at once.
    if is_regular_file(path):
        facts = LineFacts()
        try:
            rankings = [
                Ranking(whole.topic, whole.docnos, whole.scores, whole.ranks)
                for whole in stream_rankings(path, facts)
            ]
        except SuspicionError:
            pass
        else:
            facts.warn(path)
            sha256 = facts.digest.hexdigest()
            header = None if facts.header is None else facts.header.text
            return Run(facts.tag.decode(), rankings, sha256, file=PurePath(path).name, header=header)
    return read_run(path, lenient=lenient, titles=titles)


@dataclass(frozen=True, slots=True)
class NumberedRun:
    """A run file, read whole."""

    tag: str
    sha256: str
    file: str
    reader: int
    packed_docnos: bytes
    """Of the numbers this reader uses here for the first time, in their order, joined by newlines."""
    rankings: list[PackedRanking]
    header: str | None
    """What the file says of the run, as it stands there; ``None`` = nothing."""

    def docnos(self) -> list[str]:
        """Return the docnos of the numbers this reader uses here for the first time."""
        return self.packed_docnos.decode().split("\n") if self.packed_docnos else []


def column_of(docnos: Sequence[str]) -> FieldColumn:
    """Make a column of docnos, which have no NUL."""
    return FieldColumn.of("\0".join(docnos).encode().split(b"\0"))


class RunReader:
    """Reads runs one after another, and numbers their documents.

    Memory holds about 150 bytes for every document met so far, and one run, packed. With an `order` rankings
    have their documents, in that order, and nothing else, and runs the names that they are measured by.
    Documents that are not `known`, if some are, have `NO_NUMBER`.
    """

    def __init__(
        self, *, lenient: bool = False, order: Order | None = None, known: DocnoNumbers | None = None
    ) -> None:
        self._lenient = lenient
        self._order = order
        self._numbers = DocnoNumbers() if known is None else known
        self._number = self._numbers.number if known is None else self._numbers.find

    def read(self, entry: RunEntry) -> NumberedRun:
        """Read a run file, with the faults of `pooler.reading.strict.read_run`."""
        n_known = len(self._numbers)
        try:
            # A pipe cannot be read a second time, so it is read slowly at once.
            if is_regular_file(entry.file):
                try:
                    return self._read_fast(entry, n_known)
                except SuspicionError:
                    self._numbers.forget(n_known)
            return self._read_slowly(entry, n_known)
        except BaseException:
            self._numbers.forget(n_known)  # these were not reported
            raise

    def _read_fast(self, entry: RunEntry, n_known: int) -> NumberedRun:
        facts, with_ranks = LineFacts(), self._order in (None, "rank")
        rankings = [
            self._pack(one.topic, one.names, one.numbers, one.scores, one.ranks)
            for one in stream_rankings(entry.file, facts, with_ranks=with_ranks, number=self._number)
        ]
        facts.warn(entry.file)
        header = None if facts.header is None else facts.header.text
        return self._made(entry, facts.tag.decode(), facts.digest.hexdigest(), n_known, rankings, header)

    def _read_slowly(self, entry: RunEntry, n_known: int) -> NumberedRun:
        run = read_run(entry.file, lenient=self._lenient, titles=entry.titles)
        rankings = [
            self._pack(one.topic, one.docnos, self._number(column_of(one.docnos)), one.scores, one.ranks)
            for one in run.rankings
        ]
        return self._made(entry, run.tag, run.sha256, n_known, rankings, run.header)

    def _pack(
        self,
        topic: str,
        docnos: Sequence[str] | Sequence[bytes],
        numbers: NDArray[np.int32],
        scores: NDArray[np.float64],
        ranks: NDArray[np.int64] | None,
    ) -> PackedRanking:
        """Pack a ranking in file order: as the store keeps it, or its documents in rank order."""
        if self._order is None:
            return pack_ranking(topic, docnos, numbers, scores, ranks)
        if not is_ranked(scores, self._order):
            numbers = numbers[rank_order(docnos, scores, ranks, order=self._order)]
        return PackedRanking(topic, len(docnos), numbers.astype("<i4", copy=False).tobytes(), b"", None, b"")

    def _made(
        self,
        entry: RunEntry,
        tag: str,
        sha256: str,
        n_known: int,
        rankings: list[PackedRanking],
        header: str | None,
    ) -> NumberedRun:
        """Put together what was read; the tag is what it should be, or `FormatError` is raised."""
        if self._order is None:
            entry.check_tag(tag)
        docnos, file = self._numbers.since(n_known), PurePath(entry.file).name
        return NumberedRun(entry.called(tag), sha256, file, os.getpid(), docnos, rankings, header)


READERS = 2
"""Processes that read, when others do; the store's own process can use no more."""


def n_readers(entries: Sequence[RunEntry]) -> int:
    """Return how many processes should read: this one alone, or `READERS` others."""
    if not all(is_regular_file(entry.file) for entry in entries):
        return 1
    n_bytes = sum(Path(entry.file).stat().st_size for entry in entries)
    return READERS if min(n_processors(), len(entries)) > 1 and n_bytes > PARALLEL_BYTES else 1


def read_numbered(
    entries: Sequence[RunEntry], *, lenient: bool = False, order: Order | None = None, workers: int = 1
) -> Generator[NumberedRun, None, None]:
    """Read run files one after another; the same runs whatever `workers` is, but for the numbers."""
    for run in in_order(RunReader(lenient=lenient, order=order).read, entries, workers=workers):
        if isinstance(run, PoolerError):
            raise run
        yield run


_Rankings = dict[tuple[str, str], NDArray[np.signedinteger]]


def ranked_runs(
    named: Sequence[RunEntry | Run], *, order: Order = "trec", lenient: bool = False
) -> RankedDocuments:
    """Rank the documents of runs, numbered across all of them in the order in which they are met.

    `named`: files, and runs in memory, which are called by their tags. Large files are read by other
    processes, which number documents; the result is the same. Memory holds 4 bytes a line, and some 200 a
    docno. `FormatError` has all faults of a file; `ArgumentError`: two runs have the same tag, or ``rank`` is
    asked of ranks that are no integers.
    """
    ids = Numbering()
    rankings: _Rankings = {}
    tags: list[str] = []
    entries = [one for one in named if isinstance(one, RunEntry)]
    with progress("runs", len(entries)) as advance:
        workers = n_readers(entries) if entries else 1
        # Of small files a dictionary is done with the docnos before another process has started.
        files: Iterator[NumberedRun | Run] = (
            _read(entries, lenient=lenient)
            if workers == 1
            else read_numbered(entries, lenient=lenient, order=order, workers=workers)
        )
        of_reader: dict[int, NDArray[np.int32]] = {}
        for one in named:
            run = next(files) if isinstance(one, RunEntry) else one
            advance(isinstance(one, RunEntry))
            see_tag(run.tag, tags)
            if isinstance(run, NumberedRun):
                fresh = [*map(ids.__getitem__, run.docnos())]
                known = of_reader.get(run.reader, np.empty(0, np.int32))
                common = of_reader[run.reader] = np.concatenate([known, np.array(fresh, np.int32)])
                for packed in run.rankings:
                    rankings[run.tag, packed.topic] = common[np.frombuffer(packed.documents, "<i4")]
                continue
            for ranking in run.rankings:
                numbers = map(ids.__getitem__, ranking.docnos)
                documents = np.fromiter(numbers, np.int32, len(ranking.docnos))
                in_order = rank_order(ranking.docnos, ranking.scores, ranking.ranks, order=order)
                rankings[run.tag, ranking.topic] = documents[in_order]
    return RankedDocuments(tuple(tags), rankings, dict(ids), dict(enumerate(ids)))


def judged_runs(
    entries: Sequence[RunEntry], judged: Iterable[str], *, order: Order = "trec", lenient: bool = False
) -> RankedDocuments:
    """Rank the documents of run files, of which only the judged ones, each given once, are distinguished."""
    docnos = [*judged]
    # What no file can name comes last; it needs a number too.
    odd = [one for one in docnos if not one or "\0" in one]
    docnos = [one for one in docnos if one and "\0" not in one] + odd if odd else docnos
    known = DocnoNumbers()
    if n_possible := len(docnos) - len(odd):
        known.add(column_of(docnos[:n_possible]))
    reader = RunReader(lenient=lenient, order=order, known=known)
    rankings: _Rankings = {}
    tags: list[str] = []
    files = [entry.file for entry in entries]
    with progress("runs", len(entries)) as advance:
        for run in share_files(reader.read, entries, files, progress=advance):
            if isinstance(run, PoolerError):
                raise run
            see_tag(run.tag, tags)
            for packed in run.rankings:
                numbers = np.frombuffer(packed.documents, "<i4")
                others = np.arange(len(docnos), len(docnos) + numbers.size, dtype=np.int32)
                rankings[run.tag, packed.topic] = np.where(numbers == NO_NUMBER, others, numbers)
    return RankedDocuments(tuple(tags), rankings, dict(zip(docnos, range(len(docnos)), strict=True)), {})


def see_tag(tag: str, tags: list[str]) -> None:
    """Add a tag to those before; raise `ArgumentError` where it is among them."""
    if tag in tags:
        hint = "name a file once; a column `name` in the list of --runs FILE renames runs of one tag"
        raise ArgumentError("runs", "must each have their own tag", tag, hint=hint)
    tags.append(tag)


def _read(entries: Sequence[RunEntry], *, lenient: bool) -> Iterator[Run]:
    for entry in entries:
        run = read_whole(entry.file, lenient=lenient, titles=entry.titles)
        yield replace(run, tag=entry.called(run.tag))
