"""The first documents of run files: what pooling needs.

`read_top` reads fast (`pooler.reading.blocks`) what is plainly in order, and leaves the rest to
`pooler.reading.strict`, so that every file is judged once and there is one wording of every fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from pooler.reading.blocks import RunTop, SuspicionError, read_blocks, take_top
from pooler.reading.parallel import share_files
from pooler.reading.run_list import RunEntry, as_entries
from pooler.reading.strict import read_run
from store.errors import ArgumentError, PoolerError
from store.formats.lines import is_regular_file
from store.ranking import check_order
from store.records import Order, Run


def read_top(
    path: str, depth: int, *, order: Order = "trec", lenient: bool = False, with_scores: bool = True
) -> RunTop:
    """Read the first documents of every topic of a run file: the same as ``top_of(read_run(path), depth)``.

    `with_scores`: keep the scores, a third of all that is kept. `ArgumentError`: also when order ``rank``
    meets stated ranks that are not integers.
    """
    _check(depth, order)
    # A pipe cannot be read a second time, so it is read slowly at once.
    if is_regular_file(path):
        try:
            return read_blocks(path, depth, order=order, with_scores=with_scores)
        except SuspicionError:
            pass
    run = read_run(path, lenient=lenient)
    return top_of(run, depth, order=order, with_scores=with_scores)


def top_of(run: Run, depth: int, *, order: Order = "trec", with_scores: bool = True) -> RunTop:
    """Take the first documents of every topic of a run in memory, topics in the order of the run."""
    _check(depth, order)
    topics = {}
    for ranking in run.rankings:
        if order == "rank" and ranking.ranks is None:
            hint = f"run `{run.file or run.tag}` has other ranks in topic `{ranking.topic}`"
            raise ArgumentError("order", "needs stated ranks that are integers", order, hint=hint)
        topics[ranking.topic] = take_top(
            ranking.docnos,
            ranking.scores,
            ranking.ranks,
            depth=depth,
            order=order,
            n_documents=len(ranking.docnos),
            with_scores=with_scores,
        )
    return RunTop(
        tag=run.tag,
        file=run.file,
        sha256=run.sha256,
        depth=depth,
        order=order,
        topics=topics,
        n_lines=sum(top.n_documents for top in topics.values()),
        group=run.group,
        contributes=run.contributes,
        header=run.header,
    )


def read_tops(
    runs: Sequence[str | RunEntry],
    depth: int,
    *,
    order: Order = "trec",
    lenient: bool = False,
    with_scores: bool = True,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[RunTop]:
    """Read the first documents of many run files, in their order, whatever the number of processes.

    Each entry's group and contribution are carried over, its tag is checked. `FormatError` is of the first
    file with faults; its hint names the others.
    """
    _check(depth, order)
    entries = as_entries(runs)
    outcomes = share_files(
        partial(read_entry, depth=depth, order=order, lenient=lenient, with_scores=with_scores),
        entries,
        [entry.file for entry in entries],
        workers=workers,
        progress=progress,
    )
    tops: list[RunTop] = []
    failed: list[tuple[str, PoolerError]] = []
    for entry, outcome in zip(entries, outcomes, strict=True):
        if isinstance(outcome, PoolerError):
            failed.append((entry.file, outcome))
        else:
            tops.append(outcome)
    if failed:
        raise first_error(failed)
    return tops


def read_entry(entry: RunEntry, *, depth: int, order: Order, lenient: bool, with_scores: bool) -> RunTop:
    """Read the first documents of one run of a list."""
    top = read_top(entry.file, depth, order=order, lenient=lenient, with_scores=with_scores)
    entry.check_tag(top.tag)
    entry = entry.with_header(top.header)
    return replace(top, group=entry.group, contributes=entry.contributes)


def first_error(failed: list[tuple[str, PoolerError]]) -> PoolerError:
    """Return the first of the errors of some files, with the names of the others in its hint."""
    (_, first), *others = failed
    if others:
        names = ", ".join(f"`{file}`" for file, _ in others[:10])
        if len(others) > 10:
            names += f" and {len(others) - 10} more"
        hint = f"cannot be read either: {names}"
        first.hint = f"{first.hint}; {hint}" if first.hint else hint
    return first


def _check(depth: int, order: str) -> None:
    if depth < 1:
        raise ArgumentError("depth", "must be an integer >= 1", depth)
    check_order(order)
