"""`pooler status`: how far judging has come."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import command


@command
def status(
    output: Output,
    by_topic: Annotated[bool, typer.Option("--by-topic", help="One row per topic and judge.")] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw one bar per row: every grade, and documents without one.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show how far each judge has got, and how long the rest will take.

    Pooled = in any pool that is not withdrawn; once documents are assigned, what is assigned to that
    judge. Documents judged outside of that are counted apart. Unjudged, skipped, cannot be judged and
    grade 0 are four different things. An adjudicator has no pool to get through: their judged documents
    are rulings. Left = unjudged, plus what adaptive pools may still draw; once documents are assigned,
    they draw nothing. The forecast is the mean active time of the judge's latest decisions, times left:
    minutes at the desk, without pauses. `pooler effort` tells more.

    Example: pooler status --by-topic --plot
    """
    from pooler.results.look.status import status as document_states
    from store.collection import Collection

    output.check(plot=plot)
    with Collection(collection) as opened:
        result = document_states(opened)
    render(result, output, "topics" if by_topic else "status", plot=plot)
