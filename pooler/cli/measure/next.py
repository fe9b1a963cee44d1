"""`pooler next`: the documents whose judgement would settle the order of the runs soonest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from pooler.cli.options import EmptyOption, ProbabilitiesOption, ValueOption
from pooler.cli.render import Output, render
from pooler.cli.signature import command, option
from pooler.cli.source_options import ProbableOptions, SourceOptions
from pooler.messages import say
from store.errors import ArgumentError, ContradictionError
from store.text import counted

if TYPE_CHECKING:
    from pooler.results.variation.next import NextDocuments

LIMIT = 20
"""Documents listed unless told otherwise."""
CONFIDENCE = 0.95
"""How sure an order is to be unless told otherwise."""


@command
def next_(
    given: ProbableOptions,
    output: Output,
    *,
    values: ValueOption = None,
    probabilities: ProbabilitiesOption = None,
    unjudged: Annotated[
        str,
        option(
            "--unjudged P",
            "How likely an unjudged document that a run retrieved is relevant: one probability for all.",
        ),
    ] = "0.1",
    empty: EmptyOption = "given",
    confidence: Annotated[
        float,
        option(
            "--confidence",
            "A pair of runs is settled when judging again would keep its order with at least this"
            " probability; no document is listed for its sake.",
        ),
    ] = CONFIDENCE,
    until: Annotated[
        str | None,
        option(
            "--until recall=R[@C]",
            "Show instead, by topic, how many documents to judge at random until a recall of R is reached"
            " with confidence C, as in recall=.9@.95.",
        ),
    ] = None,
    pool: Annotated[
        str | None,
        option(
            "--pool NAME",
            "Add the documents to the collection as a pool, in this order within each topic, for `pooler"
            " judge` to follow. Documents of older pools come first, unless `pooler assign JUDGE --pool NAME"
            " --order priority` hands out only these.",
        ),
    ] = None,
) -> None:
    """List the documents that would settle the order of runs soonest.

    Where judges differ, or none judged, a document may be relevant or not, and MAP with it. A row is
    a document, with the part of the variance of the differences between runs that a certain judgement
    of it would remove. Two runs make one comparison; with more, every pair counts that is not settled
    yet. --limit sets the number of documents: 20 by default, and in json and tsv without
    --pool all of them.

    Example: pooler next --limit 50 --pool second-look

    Example: pooler next --until recall=.9@.95
    """
    from pooler.results.variation.next import next_documents

    output.check()
    if until is not None:
        others: dict[str, object] = {
            "--pool": pool,
            "--value": values,
            "--probabilities": probabilities,
            "--confidence": confidence if confidence != CONFIDENCE else None,
        }
        _show_recall(given, output, until, others)
        return
    if not 0.5 < confidence < 1:
        raise ArgumentError("--confidence", "must be above 0.5 and below 1", confidence)
    if pool is not None and (given.is_of_file or given.listed is not None):
        raise ArgumentError("--pool", "needs a collection, but there are only files", pool)
    found = next_documents(
        given.source(),
        limit=output.limit or (LIMIT if output.is_for_people or pool is not None else None),
        confidence=confidence,
        values=values,
        probabilities=probabilities,
        unjudged=unjudged,
        empty=empty,
        cutoff=given.cutoff,
    )
    if pool is not None:
        _add_pool(given.collection, pool, found)
    if len(found) or not output.is_for_people:
        render(found, output)


def _show_recall(given: SourceOptions, output: Output, until: str, others: Mapping[str, object]) -> None:
    """Show what is to be judged until a recall is sure."""
    from pooler.results.look.goals import parse_until
    from pooler.results.look.recall import recall_bounds

    wanted = parse_until(until)
    if wanted.recall is None:
        requirement = "must be recall=R here; for the order of the runs, give --confidence"
        raise ArgumentError(
            "--until", requirement, until, hint=f"pooler next --confidence {wanted.confidence:g}"
        )
    for name, value in others.items():
        if value is not None:
            raise ContradictionError(name, "and --until exclude each other", value)
    if given.is_of_file or given.listed is not None:
        raise ArgumentError("--until", "needs a collection, but there are only files", until)
    bounds = recall_bounds(
        given.source(), confidence=wanted.confidence, target=wanted.recall, cutoff=given.cutoff
    )
    render(bounds, output)


def _add_pool(collection: str, name: str, found: NextDocuments) -> None:
    """Add the documents to the collection as a pool, and say what judges see of it."""
    from store.collection import Collection

    if not len(found):
        say(f"no document would change anything: pool `{name}` was not made")
        return
    pool = found.as_pool(name)
    with Collection(collection) as opened:
        older = next((one.name for one in opened.pools.all() if not one.withdrawn), name)
        is_new = opened.pools.add(pool)
    n_topics = counted(len(set(found.topic)), "topic")
    again = "" if is_new else ", already there, unchanged"
    say(f"pool `{name}`: {counted(len(found), 'document')} of {n_topics}{again}")
    if older != name:
        command_line = f"pooler assign JUDGE --pool {name} --order priority"
        say(f"judges see the documents of older pools first; `{command_line}` hands out only these")
    say("once they are judged, `pooler next` says whether the order is settled")
