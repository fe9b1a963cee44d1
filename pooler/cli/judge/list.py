"""`pooler list`: the things of one kind in a collection, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import command, option

if TYPE_CHECKING:
    from pooler.results.look.listing import Kind

app = typer.Typer(help="List the runs, topics, documents, pools, judges or rounds.", no_args_is_help=True)

TopicOption = Annotated[str | None, option("--topic TOPIC", "Only this topic.")]
PoolOption = Annotated[str | None, option("--pool NAME", "Only this pool, withdrawn or not.")]
JudgeOption = Annotated[str | None, option("--judge NAME", "Count only what this judge did.")]


@app.command("runs")
@command
def runs(
    output: Output,
    topic: TopicOption = None,
    pool: PoolOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List the runs: how much each retrieved, how many pools it fed, and its file.

    With --topic: the runs that have it, with their documents. With --pool: the runs that fed it.

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
    """List the topics, with the state of each one's documents over all judges.

    Every pooled document is in one state: judged by somebody; otherwise found impossible to judge;
    otherwise skipped; otherwise unjudged. Outside: judged by somebody, but in no pool. Relevant: graded
    at or above the scale's relaxed level by somebody, pooled or not; with --pool, in that pool.
    Version: of the topic's text. By older text: judgements made with another text than the current one;
    see `pooler status outdated --why topic`.

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
    """List the documents: which have a text, and for how many topics each is pooled or judged.

    The states are those of `pooler list topics`, counted over topics: pooled 2, judged 1 is a document
    pooled for two topics and judged for one. With --topic: documents that are pooled, judged or
    otherwise looked at for it. With --judge: documents this judge did anything to.

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
    """List the pools, with the state of each one's documents over all judges.

    A document that is in several pools counts in each of them. The states are those of `pooler list
    topics`. Withdrawn pools are listed; documents that only they hold no longer count as pooled.

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
    """List the judges, and what each has done.

    Counts are of what stands now, in pools or not. Undecided: documents with only a note or a marked
    passage, or whose decision was taken back. Events counts everything ever done. `pooler status` shows
    what each judge still has to do.

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
    """List the rounds: the labels that pools give and judgements carry.

    A document in pools of several rounds counts in the round of its oldest pool, so that rounds add up.
    Judgements: current grades of all judges with the label, pooled or not.

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
