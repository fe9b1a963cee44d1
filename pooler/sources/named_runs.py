"""Runs as they are named: files, lists of files, tags of a collection, rankings in memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from pooler.messages import progress
from pooler.sources.memory import by_topic, is_ranking, is_row
from store.errors import ArgumentError, PoolerError
from store.fields import id_fault
from store.formats.lines import is_pattern
from store.records import Ranking, Run

if TYPE_CHECKING:
    from pooler.reading.run_list import RunEntry
    from store.collection import Collection


def entries_of(files: Iterable[str], listed: str | None, group: str = "") -> list[RunEntry]:
    """Return the runs that arguments and `--runs FILE` name, arguments first."""
    from pooler.reading.run_list import RunEntry, read_run_list

    if group and (fault := id_fault(group)):
        raise ArgumentError("group", f"must be one word: {fault}", None)
    entries = [RunEntry(file, group=group, where="`--group`") for file in files]
    return entries + (read_run_list(listed) if listed is not None else [])


def named_runs(runs: Iterable[str | Run], listed: str | None) -> list[RunEntry | Run]:
    """Return runs in the order given, files and those in memory alike; then those of a list.

    Of files that can be read twice with what their headers say; the others' is known when they are read.
    """
    from pooler.reading.run_list import RunEntry
    from store.formats.run_header import header_of

    named: list[RunEntry | Run] = []
    for run in runs:
        named += entries_of([run], None) if isinstance(run, str) else [run]
    named += entries_of((), listed)
    return [one.with_header(header_of(one.file)) if isinstance(one, RunEntry) else one for one in named]


def read_named(named: Sequence[RunEntry | Run], *, lenient: bool) -> Iterator[Run]:
    """Yield runs, those of files read, with what a list of runs says of them; show how far that has come."""
    from pooler.reading.run_list import RunEntry
    from pooler.reading.whole import read_whole

    with progress("runs", sum(isinstance(one, RunEntry) for one in named)) as advance:
        for one in named:
            if not isinstance(one, RunEntry):
                yield one
                continue
            run = read_whole(one.file, lenient=lenient)
            one = one.with_header(run.header)
            yield replace(run, tag=one.called(run.tag), group=one.group, contributes=one.contributes)
            advance(1)


def is_collection(given: object) -> TypeGuard[Collection]:
    """Tell an open collection; who measures files has no database loaded, and no such object."""
    module = sys.modules.get("store.collection")
    return module is not None and isinstance(given, module.Collection)


def check_no_file_for_a_tag(opened: Collection, runs: Iterable[str], hint: str) -> set[str]:
    """Return the tags of a collection; raise `PoolerError` where a run file is named for one."""
    tags = {run.tag for run in opened.runs.all()}
    for run in runs:
        if run not in tags and Path(run).is_file():
            message = f"{run} is a file, not a run tag of the collection"
            raise PoolerError(message, hint=hint)
    return tags


def check_some_run(tags: Sized) -> None:
    """Raise `PoolerError` for a collection without runs."""
    if not tags:
        message = "there is no run in the collection"
        raise PoolerError(message, hint="pooler import runs")


def check_no_files(runs: Iterable[str], collection: str, what: str, hint: str) -> None:
    """Raise `PoolerError` where run files are named, and neither a collection nor `what` measures them."""
    files = [run for run in runs if Path(run).is_file()]
    if files and "://" not in collection and not Path(collection).exists():
        message = f"{files[0]} is a file, and {what} to measure it with"
        raise PoolerError(message, hint=hint)


def runs_given(runs: Any) -> Iterator[str | Run]:
    """Yield runs that are given as `source` takes them, in order: files, or what is read of them."""
    if isinstance(runs, str | Path):
        yield from files_of([runs])
    elif is_ranking(runs) and not (isinstance(runs, Mapping) and hasattr(runs, "to_dict")):
        name = getattr(runs, "name", None)  # of a data frame it may be a column
        yield _run(name if isinstance(name, str) and name else "run", runs)
    elif isinstance(runs, Mapping):
        for tag, run in runs.items():
            yield replace(run, tag=tag) if isinstance(run, Run) else _run(tag, run)
    elif isinstance(runs, Iterable):
        given = [*runs]
        if given and is_row(given[0]):
            yield _run("run", given)
            return
        for run in given:
            if isinstance(run, str | Path):
                yield from files_of([run])
            else:
                yield run if isinstance(run, Run) else _run(getattr(run, "name", None) or "run", run)
    else:
        requirement = "must be files, {tag: {topic: {docno: score}}}, or one run"
        raise ArgumentError("runs", requirement, runs)


def _run(tag: Any, run: Any) -> Run:
    import numpy as np

    rankings = [
        Ranking(topic, [*scores], np.array([*scores.values()], dtype=np.float64), None)
        for topic, scores in by_topic("runs", run).items()
    ]
    return Run(str(tag), rankings, sha256="")


def grade_files(judgements: Any) -> list[str]:
    """List the files of grades that are named, one or several."""
    given = [judgements] if isinstance(judgements, str | Path) else [*judgements]
    if isinstance(judgements, Mapping) or not all(isinstance(one, str | Path) for one in given):
        raise ArgumentError("judgements", "must be files of grades; what is in memory is `qrels`", None)
    return [*files_of(given)]


def files_of(names: Iterable[str | Path]) -> Iterator[str]:
    """Yield files, those of a pattern in order; a pattern without any stays, to be told as missing."""
    for name in map(str, names):
        found = sorted(glob(name)) if is_pattern(name) and not Path(name).exists() else []  # noqa: PTH207 - may be absolute
        yield from found or [name]


def check_named(runs: Sequence[str]) -> None:
    """Raise `ArgumentError` where one run alone is named, or one twice."""
    if len(runs) == 1:
        raise ArgumentError("runs", "must name two, or none for all", runs[0])
    for place, tag in enumerate(runs):
        if tag in runs[:place]:
            raise ArgumentError("runs", "must name each run once", tag)
