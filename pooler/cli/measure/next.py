"""`pooler next`: the documents whose judgement settles the order of the runs soonest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.measure.probability_options import EmptyOption, EmptyRule, ProbabilitiesOption, ValueOption
from pooler.cli.render import Output, render
from pooler.cli.signature import command
from pooler.cli.source_options import Given
from pooler.telling import say
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from pooler.results.measure.next import NextDocuments

LIMIT = 20
"""Documents listed unless told otherwise."""


@command
def next_(
    given: Given,
    output: Output,
    *,
    values: ValueOption = None,
    probabilities: ProbabilitiesOption = None,
    unjudged: Annotated[
        str,
        typer.Option(
            "--unjudged",
            metavar="P|by-rank",
            help="How likely a document is relevant that a run retrieved and nobody judged: by its"
            " best rank, as a curve fitted to the judged ones says, or one probability for all.",
        ),
    ] = "by-rank",
    empty: EmptyOption = EmptyRule.GIVEN,
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence",
            help="Pairs of runs whose order another judging keeps with this probability are"
            " settled, and no document is asked for on their account.",
        ),
    ] = 0.95,
    pool: Annotated[
        str | None,
        typer.Option(
            "--pool",
            metavar="NAME",
            help="Add the documents to the collection as a pool, each topic's in this order, for"
            " `pooler judge` to follow; an older pool's come first, unless `pooler assign JUDGE"
            " --pool NAME --order priority` gives out these alone.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the documents that would settle the order of runs soonest.

    Where judges differ, or nobody judged, a document may be relevant or not, and so may MAP differ.
    A row is a document, and what part of the variance of the differences between runs a certain
    judgement of it would take away. Two runs are one comparison; of more, every pair counts that is
    not settled. --limit says how many documents: by default 20, and in json, tsv and parquet
    without --pool all.

    Example: pooler next bm25-words rm3-words-title

    Example: pooler next --limit 50 --pool second-look
    """
    from pooler.results.measure.next import next_documents

    output.check()
    if not 0.5 < confidence < 1:
        raise ArgumentError("--confidence", "must be above 0.5 and below 1", confidence)
    if pool is not None and (given.qrels is not None or given.listed is not None):
        raise ArgumentError("--pool", "is for a collection, and there are files alone", pool)
    found = next_documents(
        given.probable_source(probabilities),
        limit=output.limit or (LIMIT if output.is_for_people or pool is not None else None),
        confidence=confidence,
        values=values,
        probabilities=probabilities,
        unjudged=unjudged,
        empty=empty.value,
        cutoff=given.cutoff,
    )
    if pool is not None:
        _add_pool(given.collection, pool, found)
    if len(found) or not output.is_for_people:
        render(found, output)


def _add_pool(collection: str, name: str, found: NextDocuments) -> None:
    """Add the documents to the collection as a pool, and say what judges see of it."""
    from store.collection import Collection

    if not len(found):
        say(f"no document would tell anything: pool `{name}` was not made")
        return
    pool = found.as_pool(name)
    with Collection(collection) as opened:
        older = next((one.name for one in opened.pools.all() if not one.withdrawn), name)
        is_new = opened.pools.add(pool)
    n_topics = counted(len(set(found.topic)), "topic")
    again = "" if is_new else ", was there already, the same"
    say(f"pool `{name}`: {counted(len(found), 'document')} of {n_topics}{again}")
    if older != name:
        command_line = f"pooler assign JUDGE --pool {name} --order priority"
        say(f"judges see the documents of older pools first; `{command_line}` gives out these alone")
    say("`pooler next`, once they are judged, says whether the order is settled")
