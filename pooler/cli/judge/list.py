"""`pooler list`: what there is in a collection, one row a thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import command

if TYPE_CHECKING:
    from pooler.results.look.listing import Kind

app = typer.Typer(help="List what there is, one row a thing, with its counts.", no_args_is_help=True)

TopicOption = Annotated[
    str | None, typer.Option("--topic", metavar="TOPIC", help="Of this topic alone.", show_default=False)
]
PoolOption = Annotated[
    str | None,
    typer.Option("--pool", metavar="NAME", help="Of this pool alone, withdrawn or not.", show_default=False),
]
JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME", help="Count only what this judge did.", show_default=False),
]


@app.command("runs")
@command
def runs(
    output: Output,
    topic: TopicOption = None,
    pool: PoolOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the runs: how much each retrieved, how many pools it fed, and its file.

    Of a topic: the runs that have it, with its documents. Of a pool: the runs that fed it.

    Example: pooler list runs --topic G01
    """
    _list("runs", output, collection, topic=topic, pool=pool)


@app.command("topics")
@command
def topics(
    output: Output,
    pool: PoolOption = None,
    judge: JudgeOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the topics, and how the documents of each stand with all judges together.

    Every pooled document is in one state: judged by somebody; else found impossible to judge;
    else skipped; else unjudged. Outside: judged by somebody, but in no pool. Relevant: graded at
    the scale's relaxed level or above by somebody, pooled or not; with --pool, in that pool.
    Version: of the topic's text; by older text: judgements made at a desk by another text than now,
    `pooler rejudge --why topic`.

    Example: pooler list topics
    """
    _list("topics", output, collection, pool=pool, judge=judge)


@app.command("docs")
@command
def docs(
    output: Output,
    topic: TopicOption = None,
    pool: PoolOption = None,
    judge: JudgeOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the documents by docno: which have a text, and for how many topics each is what.

    The states are those of `pooler list topics`, counted over topics: pooled 2, judged 1 is a
    document pooled for two topics and judged for one. Of a topic: documents pooled, judged or
    otherwise looked at for it. Of a judge: documents they did anything to.

    Example: pooler list docs --topic G01
    """
    _list("docs", output, collection, topic=topic, pool=pool, judge=judge)


@app.command("pools")
@command
def pools(
    output: Output,
    topic: TopicOption = None,
    judge: JudgeOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the pools, and how the documents of each stand with all judges together.

    A document that is in several pools is counted in each of them. The states are those of
    `pooler list topics`. Withdrawn pools are listed; what they alone hold is not pooled any more.

    Example: pooler list pools
    """
    _list("pools", output, collection, topic=topic, judge=judge)


@app.command("judges")
@command
def judges(
    output: Output,
    topic: TopicOption = None,
    pool: PoolOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the judges, and what each did: as it stands now, in pools or not.

    Undecided: documents with a note or a marked passage alone, or whose decision was taken back.
    Events are all there ever were. What still lies before each judge is told by `pooler status`.

    Example: pooler list judges
    """
    _list("judges", output, collection, topic=topic, pool=pool)


@app.command("rounds")
@command
def rounds(
    output: Output,
    topic: TopicOption = None,
    judge: JudgeOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the rounds: the iteration labels that pools give, and judgements carry.

    A document in pools of several rounds is counted in the round of its oldest pool, so that
    rounds add up. Judgements: current grades of all judges with the label, pooled or not.

    Example: pooler list rounds
    """
    _list("rounds", output, collection, topic=topic, judge=judge)


def _list(
    kind: Kind,
    output: Output,
    collection: str,
    *,
    topic: str | None = None,
    pool: str | None = None,
    judge: str | None = None,
) -> None:
    """Write a list; of documents no more are read than are written, unless they are sorted."""
    from pooler.results.look.listing import SHOWN_DOCUMENTS, listing
    from store.collection import Collection

    output.check()
    limit = output.limit or (SHOWN_DOCUMENTS if kind == "docs" and output.is_for_people else None)
    with Collection(collection) as opened:
        result = listing(
            opened, kind, topic=topic, pool=pool, judge=judge, limit=limit if output.sort is None else None
        )
    render(result, output)
