"""`pooler status`: how far judging has come."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, kinds_of
from pooler.cli.render import Output, render
from pooler.cli.signature import command, option
from store.errors import ArgumentError, ContradictionError


@command
def status(
    output: Output,
    by_topic: Annotated[bool, option("--by-topic", "One row per topic and judge.")] = False,
    recall: Annotated[
        float | None,
        option(
            "--recall CONFIDENCE",
            "Show instead, topic by topic, how much of what is relevant is found at least, by a random"
            " sample: .95 = right in 95 of 100 cases.",
        ),
    ] = None,
    kinds: Annotated[
        str | None,
        option(
            "--kinds KIND,...",
            "With --recall: count judges of these kinds together, human, model or imported.",
            show_default="people alone; where no person judged, imported, else models",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show how far each judge has got, and how long the rest will take.

    Pooled = in any pool that is not withdrawn; once documents are assigned, what is assigned to that judge.
    Documents judged outside of that are counted apart. Unjudged, skipped, cannot be judged and grade 0 are
    four different things. An adjudicator has no pool to get through: their judged documents are rulings.
    Left = unjudged, plus what adaptive pools may still draw; once documents are assigned, they draw
    nothing. The forecast is the mean active time of the judge's latest decisions, times left: minutes at
    the desk, without pauses. See also `pooler effort`.

    Example: pooler status --by-topic

    Example: pooler status --recall .95
    """
    from store.collection import Collection

    output.check()
    if recall is not None:
        from pooler.results.look.recall import recall_bounds
        from pooler.results.source import source

        if by_topic:
            raise ContradictionError("--by-topic", "and --recall exclude each other", recall)
        if not 0 < recall < 1:
            raise ArgumentError(
                "--recall", "must be a confidence above 0 and below 1", recall, hint="--recall .95"
            )
        with Collection(collection) as opened:
            voters = source(opened, kinds=kinds_of(kinds))
            bounds = recall_bounds(voters, confidence=recall)
        render(bounds, output)
        return
    if kinds is not None:
        raise ArgumentError("--kinds", "goes with --recall: otherwise every judge has a row", kinds)
    from pooler.results.look.status import status as status_of

    with Collection(collection) as opened:
        result = status_of(opened)
    render(result, output, "topics" if by_topic else "status")
