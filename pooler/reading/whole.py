"""Whole rankings, by name or by number.

`read_whole` gives the same as `pooler.reading.strict.read_run`, for every file. `stream_rankings` gives the
rankings of a file that is plainly in order one after another, so that a run of thousands of
topics is never in memory.

A reader numbers the documents it meets, from 0 on, and reports the docno of each number once. So the
work on every line is the reader's, which may be another process, and what comes back of a run is a
few bytes a document.

What is stored does not depend on who reads: numbers of documents are turned into row ids in the
order of the files.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, overload

import numpy as np
from numpy.typing import NDArray

from pooler.messages import kept_warnings, progress, warn
from pooler.reading.blocks import (
    BLOCK_BYTES,
    LineFacts,
    Numbering,
    SuspicionError,
    TopicPart,
    check_across,
    is_ranked,
    topic_parts,
)
from pooler.reading.columns import NO_NUMBER, DocnoNumbers, FieldColumn
from pooler.reading.parallel import PARALLEL_BYTES, interrupts_held, n_processors, share_files
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from store.analysis.arrays import RankedDocuments
from store.db.packing import PackedRanking, pack_ranking
from store.errors import ArgumentError, PoolerError
from store.formats.lines import is_regular_file
from store.ranking import SortedByThemselves, rank_order
from store.records import Order, Ranking, Run

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


class WholeRanking:
    """All documents of one run for one topic, in file order; `SuspicionError` if one may be there twice.

    Docnos and numbers are made when they are asked for.
    """

    def __init__(self, parts: Sequence[TopicPart]) -> None:
        check_across([part.keys for part in parts])
        self._parts = parts
        self.topic = parts[0].topic.decode()
        self.line = parts[0].line
        """Number of the first line; the others follow."""
        self.names = _Fields([part.docnos for part in parts])
        """Docnos in UTF-8."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def docnos(self) -> list[str]:
        """Docnos; made anew each time."""
        return self.names.packed().decode().split("\n")

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores to the last bit, shape (n_documents,), finite."""
        exact = [part.scores.exact(np.arange(len(part.docnos))) for part in self._parts]
        return np.concatenate(exact) if len(exact) > 1 else exact[0]

    @property
    def ranks(self) -> NDArray[np.int64] | None:
        """Stated ranks, shape (n_documents,); ``None`` when not all are integers, or they are not wanted."""
        ranks = [part.ranks.all_or_none() for part in self._parts if part.ranks is not None]
        known = [some for some in ranks if some is not None]
        return np.concatenate(known) if len(known) == len(self._parts) else None

    def rank_fields(self) -> list[bytes]:
        """Return the stated ranks as they are written; they must be wanted."""
        columns = [part.ranks.column for part in self._parts if part.ranks is not None]
        return list(_Fields(columns))

    @property
    def numbers(self) -> NDArray[np.int32]:
        """What was made of the docnos, shape (n_documents,); something must have been."""
        numbers = [part.numbers for part in self._parts if part.numbers is not None]
        return np.concatenate(numbers)


def read_whole(path: str, *, lenient: bool = False) -> Run:
    """Read a run file whole; faults and result are those of `pooler.reading.strict.read_run`.

    ``-`` is standard input. About 0.3 microseconds a line of a file that is plainly in order. `PoolerError`
    if the file cannot be opened.
    """
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
    return read_run(path, lenient=lenient)


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
    undone, and the file read by `read_run`. `seen` is whole once the last ranking has been taken.
    """
    here: list[TopicPart] = []
    for part in topic_parts(
        path, facts, with_ranks=with_ranks, with_q0=with_q0, number=number, block_bytes=block_bytes
    ):
        if part.is_new and here:
            yield WholeRanking(here)
            here = []
        here.append(part)
    yield WholeRanking(here)


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
    header: str | None = None
    """What the file says of the run, as it stands there; ``None`` = nothing."""

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


def column_of(docnos: Iterable[str]) -> FieldColumn:
    """Make a column of docnos."""
    return FieldColumn.of([docno.encode() for docno in docnos])


class RunReader:
    """Reads runs one after another, and numbers their documents; temporary files go to `folder`.

    Memory holds about 150 bytes for every document met so far, one block of lines, one topic, and
    `spool_bytes` (packed bytes of a run); a file that is not plainly in order is read whole. With an
    `order` rankings have their documents, in that order, and nothing else, and runs the names that they are
    measured by. Documents that are not `known`, if some are, have `NO_NUMBER`.
    """

    def __init__(
        self,
        folder: str,
        *,
        lenient: bool = False,
        order: Order | None = None,
        spool_bytes: int = SPOOL_BYTES,
        known: DocnoNumbers | None = None,
    ) -> None:
        self._folder = folder
        self._lenient = lenient
        self._order = order
        self._spool_bytes = spool_bytes
        self._numbers = DocnoNumbers() if known is None else known
        self._number = self._numbers.number if known is None else self._numbers.find

    def read(self, entry: RunEntry) -> NumberedRun:
        """Read a run file, with the faults of `pooler.reading.strict.read_run`.

        `FormatError` also if it has another tag than the entry says; `PoolerError` if it cannot be opened.
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
            self._numbers.forget(n_known)  # these were not reported
            raise

    def _read_fast(self, entry: RunEntry) -> NumberedRun:
        n_known = len(self._numbers)
        facts = LineFacts()
        with _Spool(self._folder, self._spool_bytes) as spool:
            with_ranks = self._order in (None, "rank")
            for whole in stream_rankings(entry.file, facts, with_ranks=with_ranks, number=self._number):
                spool.add(self._pack(whole.topic, whole.names, whole.numbers, whole.scores, whole.ranks))
            facts.warn(entry.file)
            header = None if facts.header is None else facts.header.text
            sha256 = facts.digest.hexdigest()
            return self._made(entry, facts.tag.decode(), sha256, n_known, spool, header)

    def _read_slowly(self, entry: RunEntry) -> NumberedRun:
        is_piped = self._order is None and not is_regular_file(entry.file)
        run = read_run(entry.file, lenient=self._lenient)
        n_known = len(self._numbers)
        with _Spool(self._folder, self._spool_bytes) as spool:
            for ranking in run.rankings:
                numbers = self._number(column_of(ranking.docnos))
                spool.add(self._pack(ranking.topic, ranking.docnos, numbers, ranking.scores, ranking.ranks))
            kept = run if is_piped else None
            return self._made(entry, run.tag, run.sha256, n_known, spool, run.header, kept)

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
        spool: _Spool,
        header: str | None,
        run: Run | None = None,
    ) -> NumberedRun:
        """Put together what was read; the tag is what it should be, or `FormatError` is raised."""
        if self._order is None:
            entry.check_tag(tag)
        return NumberedRun(
            entry.called(tag),
            sha256,
            PurePath(entry.file).name,
            os.getpid(),
            self._numbers.since(n_known),
            spool.topics,
            spool.packed,
            spool.keep(),
            run,
            header,
        )


class _Fields(Sequence[bytes], SortedByThemselves):
    """One field of one topic, such as its docnos; made only if they are looked at: where scores tie."""

    def __init__(self, columns: Sequence[FieldColumn]) -> None:
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

    def ascending(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        if len(self._columns) == 1:
            return self._columns[0].ascending(rows)
        return np.array(sorted(rows.tolist(), key=self._list().__getitem__))

    def _list(self) -> list[bytes]:
        if not self._made:
            self._made = self.packed().split(b"\n")
        return self._made

    def packed(self) -> bytes:
        return b"\n".join([column.packed(np.arange(len(column))) for column in self._columns])


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


READERS = 2
"""Processes that read, when others do; the store's own process can use no more."""
_AHEAD = 2
"""Runs read before they are asked for, by each process."""


def n_readers(entries: Sequence[RunEntry]) -> int:
    """Return how many processes should read: this one alone, or `READERS` others.

    Others pay for more than `PARALLEL_BYTES` on two processors; what is no regular file is read
    here.
    """
    if not all(is_regular_file(entry.file) for entry in entries):
        return 1
    n_bytes = sum(Path(entry.file).stat().st_size for entry in entries)
    return READERS if min(n_processors(), len(entries)) > 1 and n_bytes > PARALLEL_BYTES else 1


def read_numbered(
    entries: Sequence[RunEntry],
    folder: str,
    *,
    lenient: bool = False,
    order: Order | None = None,
    workers: int = 1,
) -> Generator[NumberedRun, None, None]:
    """Read run files one after another; the same runs whatever `workers` is, but for the numbers.

    Each process is at most `_AHEAD` runs ahead of the one taken. Should one die, this process reads what is
    left.
    """
    reader = RunReader(folder, lenient=lenient, order=order)
    if workers == 1:
        yield from map(reader.read, entries)
        return
    n_read = 0
    for run in _read_elsewhere(entries, (folder, lenient, order), workers):
        n_read += 1
        yield run
    yield from map(reader.read, entries[n_read:])


def _read_elsewhere(
    entries: Sequence[RunEntry], reader: tuple[str, bool, Order | None], workers: int
) -> Iterator[NumberedRun]:
    """Read runs in other processes, each with such a reader; end early when they die."""
    import multiprocessing  # these two take longer to load than a small file takes
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Spawned, not forked: a fork copies the locks of threads that it does not copy.
    executor = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_set_up_worker, initargs=reader
    )
    coming = iter(entries)
    ahead: deque[Future[tuple[NumberedRun, list[str]]]] = deque()
    try:
        with interrupts_held():  # until a worker ignores them, it would show a trace
            for _ in range(_AHEAD * workers):
                _submit_next(executor, coming, ahead)
        while ahead:
            run, warnings = ahead.popleft().result()
            for message in warnings:
                warn(message)
            _submit_next(executor, coming, ahead)
            yield run
    except BrokenProcessPool:
        return
    finally:
        executor.shutdown(cancel_futures=True)


def _submit_next(
    executor: ProcessPoolExecutor,
    coming: Iterator[RunEntry],
    ahead: deque[Future[tuple[NumberedRun, list[str]]]],
) -> None:
    for entry in coming:
        ahead.append(executor.submit(_read_in_worker, entry))
        return


_READERS: list[RunReader] = []
"""Of a worker: its one reader, which knows the documents of all runs the worker has read."""


def _set_up_worker(folder: str, lenient: bool, order: Order | None) -> None:  # noqa: FBT001 - an executor's
    """Make a worker's reader; Ctrl-C is this process's parent's to act on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _READERS.append(RunReader(folder, lenient=lenient, order=order))


def _read_in_worker(entry: RunEntry) -> tuple[NumberedRun, list[str]]:
    with kept_warnings() as warnings:
        return _READERS[0].read(entry), warnings


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
