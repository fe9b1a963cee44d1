"""`pooler history`: who changed what, and why a document has the grade it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say
from store.text import counted


@command
def history(
    topic: Annotated[str | None, argument("TOPIC", "Only this topic.")] = None,
    docno: Annotated[str | None, argument("DOCNO", "Only this document of the topic.")] = None,
    since: Annotated[
        str | None,
        option(
            "--since WHEN",
            "Only what happened at or after this moment: 2026-03-02 (that day at 00:00), 2026-03-02T09:30,"
            " or with a time zone 2026-03-02T09:30+01:00; UTC otherwise.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        option(
            "--until WHEN",
            "Only what happened before this moment; a date means that day at 00:00, so the day itself is"
            " left out.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        option(
            "--judge NAME",
            "Only what this judge did or what was done to this judge; may be repeated.",
            show_default="everything, including what no judge did",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Show who changed what and when, or why a document has its grade.

    Without DOCNO: every event of every judge by time, newest last, with the state of the document for
    that judge before and after; and everything else that has a date. For a topic that means runs,
    pools, assignments and new versions of its text; for the collection also guidelines and judges:
    added, renamed (under the current name), erased (without a name). The withdrawal of a pool has no
    date.

    With DOCNO: what was done (by the judge, unless stated otherwise), the state of the document after
    it, what an undo took back, the versions of the guidelines and the topic's text at the time, whether
    the document's text has changed since, how long the document was on the screen, and for an
    adjudicator's ruling the judges' grades it rested on. Below: the final grade where there is only one
    candidate (a ruling, or the grade of the only judge) with the levels from which it is relevant, or
    why there is none; and the current state with each judge. json has the passages in full. Times are
    UTC. --limit takes the newest; without it people see the newest 50, and of one document all.

    Example: pooler history G01 KG-E-002

    Example: pooler history --since 2026-03-02 --judge alice
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
