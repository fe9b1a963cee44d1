"""Work on many files, shared between this process and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from store.errors import PoolerError

Item = TypeVar("Item")
Result = TypeVar("Result")


def share(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    workers: int,
    progress: Callable[[int], None],
) -> list[Result | PoolerError]:
    """Do a task for each of several items, in this process and in others.

    Parameters
    ----------
    task : callable
        What to do with one item; a function of a module, or a partial of one, when `workers` is
        above 1.
    items : sequence
        What to do it for. The work is shared best when the largest come first.
    workers : int
        Processes, this one included, at least 1.
    progress : callable
        Called with the number of items just done.

    Returns
    -------
    list
        What `task` returned, or the `PoolerError` it raised, in the order of `items`.

    Notes
    -----
    This process takes items from the front while the others, started afresh, take them from the
    back; so a worker's start delays nothing. Should the workers die (the memory is short, or the
    main module cannot be imported again), this process does what is left.

    Examples
    --------
    >>> share(len, ["a", "bcd"], workers=1, progress=lambda n_done: None)
    [1, 3]
    """
    if workers > 1:
        return _share(task, items, workers, progress)
    outcomes = []
    for item in items:
        outcomes.append(_attempt(task, item))
        progress(1)
    return outcomes


def _share(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    progress: Callable[[int], None],
) -> list[Result | PoolerError]:
    """Share the items with `workers` - 1 other processes."""
    import multiprocessing  # these two take longer to load than a small task takes
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    outcomes: list[Result | PoolerError] = []
    n_told = 0
    # Spawned, not forked: a fork copies the locks of threads that it does not copy.
    executor = ProcessPoolExecutor(
        workers - 1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_leave_interrupts_to_parent,
    )
    try:
        with _interrupts_held():  # until a worker ignores them, it would show a trace
            futures = [executor.submit(_attempt, task, item) for item in reversed(items)]
        for item, future in zip(items, reversed(futures), strict=True):
            if future.cancel():
                outcomes.append(_attempt(task, item))
            else:
                try:
                    outcomes.append(future.result())
                except BrokenProcessPool:
                    outcomes.append(_attempt(task, item))
            n_done = sum(other.done() for other in futures)  # a cancelled one is done, above
            progress(n_done - n_told)
            n_told = n_done
    finally:
        executor.shutdown(cancel_futures=True)
    return outcomes


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back; processes that are started meanwhile never see it."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - not on this system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _attempt(task: Callable[[Item], Result], item: Item) -> Result | PoolerError:
    """Do the task for one item; a user's error becomes a value."""
    try:
        return task(item)
    except PoolerError as error:
        return error


def _leave_interrupts_to_parent() -> None:
    """Ignore Ctrl-C in a worker: this process is told too, and ends the workers."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
