"""Documents of runs in rank order, by number: what is measured of run files, and of runs in memory."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pooler.messages import progress
from pooler.reading.docnos import NO_NUMBER, DocnoNumbers
from pooler.reading.parallel import share_files
from pooler.reading.run_list import RunEntry
from pooler.reading.whole import NumberedRun, RunReader, column_of, n_readers, read_numbered, read_whole
from store.analysis.arrays import RankedDocuments
from store.errors import ArgumentError, PoolerError
from store.ranking import rank_order
from store.records import Order, Run

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
    ids: dict[str, int] = {}
    rankings: _Rankings = {}
    tags: list[str] = []
    entries = [one for one in named if isinstance(one, RunEntry)]
    with tempfile.TemporaryDirectory() as folder, progress("runs", len(entries)) as advance:
        workers = n_readers(entries) if entries else 1
        # Of small files a dictionary is done with the docnos before another process has started.
        files: Iterator[NumberedRun | Run] = (
            _read(entries, lenient=lenient)
            if workers == 1
            else read_numbered(entries, folder, lenient=lenient, order=order, workers=workers)
        )
        numbers = _Numbers(ids)
        for one in named:
            run = next(files) if isinstance(one, RunEntry) else one
            advance(isinstance(one, RunEntry))
            see_tag(run.tag, tags)
            if isinstance(run, NumberedRun):
                numbers.add(run, rankings)
                continue
            for ranking in run.rankings:
                documents = [ids.setdefault(docno, len(ids)) for docno in ranking.docnos]
                in_order = rank_order(ranking.docnos, ranking.scores, ranking.ranks, order=order)
                rankings[run.tag, ranking.topic] = np.array(documents, dtype=np.int32)[in_order]
    return RankedDocuments(tuple(tags), rankings, ids, dict(enumerate(ids)))


def judged_runs(
    entries: Sequence[RunEntry], judged: Iterable[str], *, order: Order = "trec", lenient: bool = False
) -> RankedDocuments:
    """Rank the documents of run files, of which only the judged ones are distinguished.

    Much sooner than `ranked_runs`, whose errors it has. The others have numbers that stand once in a ranking,
    and say nothing across rankings. `RankedDocuments.ids` has the judged docnos, and `docnos` none.
    """
    # What no file can name comes last; it needs a number too.
    docnos = sorted(dict.fromkeys(judged), key=lambda docno: not docno or "\0" in docno)
    n_possible = sum(1 for docno in docnos if docno and "\0" not in docno)
    known = DocnoNumbers()
    if n_possible:
        known.number(column_of(docnos[:n_possible]))
    reader = RunReader("", lenient=lenient, order=order, spool_bytes=sys.maxsize, known=known)
    rankings: _Rankings = {}
    tags: list[str] = []
    files = [entry.file for entry in entries]
    with progress("runs", len(entries)) as advance:
        for run in share_files(reader.read, entries, files, progress=advance):
            if isinstance(run, PoolerError):
                raise run
            see_tag(run.tag, tags)
            for packed in run.packed:
                numbers = np.frombuffer(packed.documents, "<i4")
                others = np.arange(len(docnos), len(docnos) + numbers.size, dtype=np.int32)
                rankings[run.tag, packed.topic] = np.where(numbers == NO_NUMBER, others, numbers)
    return RankedDocuments(tuple(tags), rankings, {docno: one for one, docno in enumerate(docnos)}, {})


def see_tag(tag: str, tags: list[str]) -> None:
    """Add a tag to those before; raise `ArgumentError` where it is among them."""
    if tag in tags:
        hint = "name a file once; a column `name` in the list of --runs FILE renames runs of one tag"
        raise ArgumentError("runs", "must each have their own tag", tag, hint=hint)
    tags.append(tag)


def _read(entries: Sequence[RunEntry], *, lenient: bool) -> Iterator[Run]:
    for entry in entries:
        run = read_whole(entry.file, lenient=lenient)
        yield replace(run, tag=entry.called(run.tag))


class _Numbers:
    """Numbers that readers gave, each its own, as numbers that all have in common."""

    def __init__(self, ids: dict[str, int]) -> None:
        self._ids = ids
        self._of_reader: dict[int, NDArray[np.int32]] = {}

    def add(self, run: NumberedRun, rankings: _Rankings) -> None:
        ids = self._ids
        fresh = [ids.setdefault(docno, len(ids)) for docno in run.docnos()]
        known = self._of_reader.get(run.reader, np.empty(0, np.int32))
        common = self._of_reader[run.reader] = np.concatenate([known, np.array(fresh, np.int32)])
        for packed in run.rankings():
            rankings[run.tag, packed.topic] = common[np.frombuffer(packed.documents, "<i4")]
