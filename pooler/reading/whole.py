"""Step 4, for all else: whole rankings, by name or by number.

A reader numbers the documents it meets, from 0 on, and reports the docno of each number once. So the work on
every line is the reader's, which may be another process, and what comes back of a run is a few bytes a
document. What is stored does not depend on who reads: numbers become row ids in the order of the files.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.messages import progress
from pooler.reading.blocks import WholeRanking, read_each
from pooler.reading.docnos import NO_NUMBER, DocnoNumbers, column_of
from pooler.reading.fields import DOCNO, FieldColumn
from pooler.reading.parallel import in_order, n_workers, share_files
from pooler.reading.run_list import RunEntry
from pooler.reading.tops import is_ranked
from store.analysis.arrays import RankedDocuments
from store.db.packing import PackedRanking, pack_ranking
from store.errors import ArgumentError, PoolerError
from store.formats.tables import Numbering
from store.ranking import rank_order
from store.records import Order, Ranking, Run


def read_whole(path: str, *, lenient: bool = False, titles: Mapping[str, str] | None = None) -> Run:
    """Read a run file whole; faults and result are those of `pooler.reading.strict.read_run`."""
    run, rankings = read_each(path, _ranking, lenient=lenient, titles=titles)
    return replace(run, rankings=rankings)


def _ranking(one: WholeRanking | Ranking) -> Ranking:
    return Ranking(one.topic, one.docnos, one.scores, one.ranks)


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

    def docnos(self) -> list[str]:
        """Return the docnos of the numbers this reader uses here for the first time."""
        return self.packed_docnos.decode().split("\n") if self.packed_docnos else []


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
        self._last: tuple[FieldColumn, NDArray[np.int32]] | None = None

    def read(self, entry: RunEntry) -> NumberedRun:
        """Read a run file, with the faults of `pooler.reading.strict.read_run`."""
        undo = partial(self._numbers.forget, len(self._numbers))
        try:
            how: dict[str, Any] = {"lenient": self._lenient, "titles": entry.titles}
            run, rankings = read_each(entry.file, self._pack, undo=undo, **how)
            if self._order is None:
                entry.check_tag(run.tag)
            about = entry.called(run.tag), run.sha256, PurePath(entry.file).name, os.getpid()
        except BaseException:
            undo()  # these were not reported
            raise
        return NumberedRun(*about, self._numbers.taken(), rankings)

    def _pack(self, one: WholeRanking | Ranking) -> PackedRanking:
        """Pack a ranking in file order: as the store keeps it, or its documents in rank order."""
        if isinstance(one, WholeRanking):
            docnos, column = one.column(DOCNO), one.columns[DOCNO]
            if self._last is None or self._last[0] is not column:  # a block has one for all its topics
                self._last = column, self._number(column)
            numbers = self._last[1][one.rows]
        else:
            docnos = column_of(one.docnos)
            numbers = self._number(docnos)
        order, scores = self._order, one.scores
        if order is None:
            return pack_ranking(one.topic, docnos, numbers, scores, one.ranks)
        if not is_ranked(scores, order):
            ranks = one.ranks if order == "rank" else None
            numbers = numbers[rank_order(docnos, scores, ranks, order=order)]
        packed = numbers.astype("<i4", copy=False).tobytes()
        return PackedRanking(one.topic, len(docnos), packed, b"", None, b"")


def read_numbered(
    entries: Sequence[RunEntry],
    *,
    lenient: bool = False,
    order: Order | None = None,
    workers: int | None = None,
) -> Generator[NumberedRun, None, None]:
    """Read run files one after another; the same runs whatever `workers` is, but for the numbers."""
    workers = workers or n_workers([entry.file for entry in entries])
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
    of_reader: dict[int, NDArray[np.int32]] = {}
    with progress("runs", len(entries)) as advance:
        files = read_numbered(entries, lenient=lenient, order=order)
        for one in named:
            run = next(files) if isinstance(one, RunEntry) else one
            advance(isinstance(one, RunEntry))
            see_tag(run.tag, tags)
            if isinstance(run, NumberedRun):
                known = of_reader.get(run.reader, np.empty(0, np.int32))
                fresh = np.array([*map(ids.__getitem__, run.docnos())], np.int32)
                common = of_reader[run.reader] = np.concatenate([known, fresh])
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
    docnos.sort(key=lambda docno: not docno or "\0" in docno)
    known = DocnoNumbers()
    if possible := [docno for docno in docnos if docno and "\0" not in docno]:
        known.number(column_of(possible))
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
    return RankedDocuments(tuple(tags), rankings, dict(zip(docnos, count())), {})


def see_tag(tag: str, tags: list[str]) -> None:
    """Add a tag to those before; raise `ArgumentError` where it is among them."""
    if tag in tags:
        hint = "name a file once; a column `name` in the list of --runs FILE renames runs of one tag"
        raise ArgumentError("runs", "must each have their own tag", tag, hint=hint)
    tags.append(tag)
