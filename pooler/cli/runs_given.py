"""Run files as the command line names them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pooler.cli.console import progress
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.run_list import RunEntry
    from store.records import Run


def entries_of(files: Sequence[str], listed: str | None, group: str = "") -> list[RunEntry]:
    """Return the runs that arguments and `--runs FILE` name, arguments first."""
    from pooler.run_list import RunEntry, read_run_list
    from store.formats.lines import id_fault

    if group and (fault := id_fault(group)):
        raise ArgumentError("--group", f"must be one word ({fault})", group)
    entries = [RunEntry(file, group=group) for file in files]
    return entries + (read_run_list(listed) if listed is not None else [])


def read_entry(entry: RunEntry, *, lenient: bool) -> Run:
    """Read a run file, with what the list of runs says of it; its tag is what it is called."""
    from pooler.whole_runs import read_whole

    run = read_whole(entry.file, lenient=lenient)
    called = entry.called(run.tag)
    return replace(run, tag=called, group=entry.group, contributes=entry.contributes)


def read_entries(entries: Sequence[RunEntry], *, lenient: bool) -> Iterator[Run]:
    """Read one run file after the other, as `read_entry` does, and show how far that has come."""
    with progress("runs", len(entries)) as advance:
        for entry in entries:
            yield read_entry(entry, lenient=lenient)
            advance(1)
