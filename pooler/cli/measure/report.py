"""`pooler report`: one page on how far a collection can be trusted."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.console import check_place
from pooler.cli.options import PoolDepthOption, ValueOption
from pooler.cli.signature import argument, command, option
from pooler.cli.source_options import SourceOptions
from store.errors import ArgumentError


@command
def report(
    given: SourceOptions,
    *,
    path: Annotated[str, argument("OUT.html", "The page to write; an existing page is replaced.")],
    depth: PoolDepthOption = None,
    title: Annotated[
        str | None, option("--title TEXT", "Title of the page.", show_default="the name")
    ] = None,
    values: ValueOption = None,
    limit: Annotated[int, option("--limit RUNS", "Runs, or pairs of runs, of one chart.", min=1)] = 20,
) -> None:
    """Write a page that shows how far the collection can be trusted.

    One HTML file that needs no network and no script. Its first lines answer whether a new run can be
    scored fairly, how far the order of the runs can change, and whether judges agree; the rest is what
    these answers rest on. Each figure comes with its numbers and the command that prints them.

    Example: pooler report trust.html --qrels alice

    Example: pooler report trust.html --qrels judgements/strict.qrels --runs runs.tsv --depth 5
    """
    from pooler.pages import report as reporting

    check_place(path)
    if path == "-":
        raise ArgumentError("path", "must be a file", path)
    cutoff = given.cutoff if given.names("cutoff") else None
    reporting.report(
        given.source(), path, depth=depth, title=title, values=values, cutoff=cutoff, limit=limit
    )
