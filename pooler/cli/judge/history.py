"""`pooler history`: who changed what, and why a document has the grade it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import command
from pooler.telling import say
from store.text import counted


@command
def history(
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="Of this topic alone.", show_default=False)
    ] = None,
    docno: Annotated[
        str | None,
        typer.Argument(metavar="DOCNO", help="Of this document of the topic alone.", show_default=False),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="WHEN",
            help="Not what happened before: 2026-03-02, which is that day at 00:00,"
            " 2026-03-02T09:30, or with a zone 2026-03-02T09:30+01:00; UTC without.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="WHEN",
            help="Not what happened at this moment or later; a date is that day at 00:00 here too,"
            " so that the day is not in it.",
            show_default=False,
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="NAME",
            help="Only what this judge did, or became; may be repeated.",
            show_default="all, and what no judge did",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Tell who changed what and when, or why a document has its grade.

    Without DOCNO: every event of every judge by time, the newest last, with how the document stood
    with that judge before and after it; and whatever else has a date. Of a topic that is runs,
    pools, assignments and new versions of its text; of the collection guidelines and judges too:
    added, renamed (by the name of now), erased (without one). A pool's withdrawal has no date.

    With DOCNO: what was done (by the judge, unless it says otherwise), how the document stood after
    it, what an undo took back, the versions of the guidelines and the topic's text it was done
    under, whether the document's text has changed since, how long the document was on the screen,
    and for an adjudicator's ruling the judges' verdicts it rested on. Below, the final grade where
    none has to be chosen - a ruling's, or that of the only judge who graded it - with the levels
    from which it is relevant, or why there is none; and how it stands with each judge now.
    json has the passages in full. Times are UTC. --limit takes the newest; without it people see
    the newest 50, and of one document all.

    Example: pooler history G01 KG-E-002

    Example: pooler history --since 2026-03-02 --judge carol
    """
    from pooler.results.look.history import SHOWN
    from pooler.results.look.history import history as changes
    from store.collection import Collection

    output.check()
    limit = output.limit or (SHOWN if docno is None and output.is_for_people else None)
    with Collection(collection) as opened:
        found = changes(opened, topic, docno, judges=judge or (), since=since, until=until, limit=limit)
    render(found, replace(output, limit=None))  # the newest are chosen, and other tables are whole
    if found.n_left_out:
        older = counted(found.n_left_out, f"older {'row' if docno is None else 'event'}")
        verb = "is" if found.n_left_out == 1 else "are"
        say(f"{older} {verb} not shown: --limit shows more, --since and --until others")
