"""Run files read for a collection by other processes, ahead of the one that stores them.

What is stored does not depend on who reads: numbers of documents are turned into row ids in the
order of the files.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pooler.numbered_runs import NumberedRun, RunReader
from pooler.processes import interrupts_held, n_processors
from pooler.run_list import RunEntry
from pooler.top import PARALLEL_BYTES
from store.formats.lines import is_regular_file

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

READERS = 2
"""Processes that read, when others do; the store's own process can use no more."""
_AHEAD = 2
"""Runs read before they are asked for, by each process."""


def n_readers(entries: Sequence[RunEntry]) -> int:
    """Say how many processes should read: this one alone, or `READERS` others.

    Others pay for more than `PARALLEL_BYTES` on two processors; what is no regular file is read
    here.
    """
    if not all(is_regular_file(entry.file) for entry in entries):
        return 1
    n_bytes = sum(Path(entry.file).stat().st_size for entry in entries)
    return READERS if min(n_processors(), len(entries)) > 1 and n_bytes > PARALLEL_BYTES else 1


def read_numbered(
    entries: Sequence[RunEntry], folder: str, *, lenient: bool = False, workers: int = 1
) -> Generator[NumberedRun, None, None]:
    """Read run files one after another.

    Parameters
    ----------
    entries : sequence of RunEntry
        Run files. One from standard input, or from a pipe, can be read by one process only.
    folder : str
        Where temporary files go; the caller removes it.
    lenient : bool, default=False
        Follow trec_eval where it accepts more, see `pooler.runs`.
    workers : int, default=1
        Processes that read; with 1 it is this one.

    Yields
    ------
    NumberedRun
        In the order of `entries`. The same ones whatever `workers` is, but for the numbers.

    Raises
    ------
    FormatError, PoolerError
        What reading an entry raises, in its turn.

    Notes
    -----
    Each process is at most `_AHEAD` runs ahead of the one taken. Should one die (the memory is
    short, or the main module cannot be imported again), this process reads what is left.
    """
    reader = RunReader(folder, lenient=lenient)
    if workers == 1:
        yield from map(reader.read, entries)
        return
    n_read = 0
    for run in _read_elsewhere(entries, folder, lenient=lenient, workers=workers):
        n_read += 1
        yield run
    yield from map(reader.read, entries[n_read:])


def _read_elsewhere(
    entries: Sequence[RunEntry], folder: str, *, lenient: bool, workers: int
) -> Iterator[NumberedRun]:
    """Read runs in other processes; end early when they die."""
    import multiprocessing  # these two take longer to load than a small file takes
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Spawned, not forked: a fork copies the locks of threads that it does not copy.
    executor = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_set_up_worker,
        initargs=(folder, lenient),
    )
    coming = iter(entries)
    ahead: deque[Future[NumberedRun]] = deque()
    try:
        with interrupts_held():  # until a worker ignores them, it would show a trace
            for _ in range(_AHEAD * workers):
                _submit_next(executor, coming, ahead)
        while ahead:
            run = ahead.popleft().result()
            _submit_next(executor, coming, ahead)
            yield run
    except BrokenProcessPool:
        return
    finally:
        executor.shutdown(cancel_futures=True)


def _submit_next(
    executor: ProcessPoolExecutor, coming: Iterator[RunEntry], ahead: deque[Future[NumberedRun]]
) -> None:
    """Have the next run read, if there is one."""
    for entry in coming:
        ahead.append(executor.submit(_read_in_worker, entry))
        return


_READERS: list[RunReader] = []
"""Of a worker: its one reader, which knows the documents of all runs the worker has read."""


def _set_up_worker(folder: str, lenient: bool) -> None:  # noqa: FBT001 - an executor's arguments
    """Make a worker's reader; Ctrl-C is this process's parent's to act on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _READERS.append(RunReader(folder, lenient=lenient))


def _read_in_worker(entry: RunEntry) -> NumberedRun:
    """Read a run in a worker."""
    return _READERS[0].read(entry)
