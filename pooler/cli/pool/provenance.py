"""`pooler provenance`: which run brought what into the pool, at every depth."""

from __future__ import annotations

from typing import Annotated, Literal

from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FileCodeOption,
    LenientOption,
    LevelOption,
    OrderOption,
    QrelsOption,
    RunsOption,
)
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.results.source import Source
from store.errors import ArgumentError
from store.grades.definition import is_file_word


@command
def provenance(
    output: Output,
    *,
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run files; without any, the runs of the collection.")
    ] = None,
    listed: RunsOption = None,
    by: Annotated[
        Literal["run", "group", "depth", "document"],
        option(
            "--by",
            "run or group: what each brought, and what only it brought; depth: the pool at every depth;"
            " document: one line per document and run.",
        ),
    ] = "run",
    depth: Annotated[
        int, option("--depth -d -N", "Documents taken from each run for each topic.", min=1)
    ] = 100,
    order: OrderOption = "trec",
    qrels: QrelsOption = None,
    codes: FileCodeOption = None,
    level: LevelOption = None,
    lenient: LenientOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show what each run or group brought into a depth pool.

    Example: pooler provenance --by depth --depth 20
    """
    from pooler.results.pool import provenance as results

    output.check()
    is_of_files = bool(runs) or listed is not None
    is_file = qrels is not None and is_file_word(qrels)
    if is_file and not is_of_files:
        raise ArgumentError("--qrels", "must be a name where no run file is named", qrels)
    if codes and not is_file:
        raise ArgumentError("--code", "is for files, with --qrels FILE", codes[0])
    source = Source(
        runs or [],
        listed=listed,
        qrels=() if is_of_files and qrels is None else qrels,
        collection=collection,
        codes=codes or (),
        level=level,
        order=order,
        lenient=lenient,
    )
    found = results.provenance(source, depth=depth, by=by)
    render(found, output, *found.shown())
