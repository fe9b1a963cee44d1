"""`pooler import work`: what judges saved on their pages, done again at their desks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pooler.cli.console import ExitCode, show_error, write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.signature import argument, option
from pooler.interrupts import tidy_when_killed
from pooler.messages import say, warn
from store.errors import PoolerError
from store.text import counted

if TYPE_CHECKING:
    from store.keeping.work import WorkDone

_REFUSED = ".refused.jsonl"


def work(
    files: Annotated[list[Path], argument("FILE...", "Files saved on pages: NAME.judged.jsonl.")],
    prefer: Annotated[
        Literal["page", "stored"] | None,
        option(
            "--prefer",
            "What stands where a judge decided otherwise elsewhere since the page was made: what the page"
            " says, or what is stored. Both stay in the history.",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Bring back what was judged on the pages of `pooler export work`.

    It is done again as the page's judge, with the checks of the judging screen, at the page's times: all
    of a file, or on an error nothing of it, and the other files all the same. Importing a file twice
    changes nothing; a later file of the same page brings what is new. A decision on a document that left
    the pool, or is other judges' now, is stored as judged outside the pool. What cannot be stored at all
    goes to FILE.refused.jsonl, with the reason.

    Example: pooler import work ann.judged.jsonl
    """
    from store.collection import Collection

    n_stopped = 0
    with Collection(collection) as opened, tidy_when_killed():
        if doubt := opened.clock_doubt():
            warn(doubt)
        for file in files:
            try:
                done = opened.import_work(file, prefer=prefer, keep=partial(_keep, f"{file}{_REFUSED}"))
            except (PoolerError, OSError) as error:
                if len(files) == 1:
                    raise
                if isinstance(error, OSError):
                    show_error(PoolerError(f"{file}: {error.strerror or error}"))
                else:
                    show_error(error)
                n_stopped += 1
                continue
            _tell(file, done)
    if n_stopped:
        say(f"{n_stopped:,} of {counted(len(files), 'file')} not imported, as said above")
        raise typer.Exit(ExitCode.DATA)


def _keep(place: str, refused: Iterable[dict[str, Any]]) -> None:
    from store.formats.json_lines import json_line

    write_lines(place, map(json_line, refused), private=True)


def _tell(file: Path, done: WorkDone) -> None:
    there = f", {done.there:,} there already" if done.there else ""
    say(f"{file}: {counted(done.new, 'new event')} of `{done.judge}`{there}")
    if done.overruled:
        say(f"{file}: {counted(done.overruled, 'decision')} noted and taken back: what was stored stands")
    if done.outside:
        documents = counted(done.outside, "document")
        warn(f"{file}: {documents} no longer `{done.judge}`'s to judge: stored as judged outside the pool")
    if done.refused:
        what = counted(len(done.refused), "record")
        warn(f"{file}: {what} cannot be stored: see {file}{_REFUSED}")
