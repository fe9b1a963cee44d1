"""`pooler show`: the things of one kind in a collection, a row each, or everything known about one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from store.errors import ContradictionError

if TYPE_CHECKING:
    from pooler.results.look.details import Kind
    from pooler.results.look.listing import Kind as Many

_ALL: dict[Kind, Many] = {"run": "runs", "topic": "topics", "doc": "docs", "pool": "pools", "judge": "judges"}
app = typer.Typer(
    help="Show the runs, topics, documents, pools, judges and so on, or all of one.", no_args_is_help=True
)

TopicOption = Annotated[str | None, option("--topic TOPIC", "Without a name: only this topic.")]
PoolOption = Annotated[str | None, option("--pool NAME", "Without a name: only this pool, withdrawn or not.")]
JudgeOption = Annotated[str | None, option("--judge NAME", "Without a name: count only what this judge did.")]


@app.command("runs")
@command
def runs(
    tag: Annotated[str | None, argument("TAG", "The run; default all.")] = None,
    *,
    output: Output,
    topic: TopicOption = None,
    pool: PoolOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show the runs: how much each retrieved, how many pools it fed, and its file.

    With --topic: the runs that have it, with their documents. With --pool: the runs that fed it. Of one
    run: where it came from, the pools it fed, and what of it is pooled and judged.

    Example: pooler show runs --topic G01

    Example: pooler show runs bm25-words
    """
    _show("run", tag, output, collection, {"topic": topic, "pool": pool})


@app.command("topics")
@command
def topics(
    number: Annotated[str | None, argument("TOPIC", "The topic; default all.")] = None,
    version: Annotated[
        int | None, option("--version", "Show this version of its text; default the newest.", min=1)
    ] = None,
    *,
    output: Output,
    pool: PoolOption = None,
    judge: JudgeOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show the topics, with the state of each one's documents over all judges.

    Every pooled document is in one state: judged by somebody; otherwise found impossible to judge;
    otherwise skipped; otherwise unjudged. Outside: judged by somebody, but in no pool. Relevant: graded
    at or above the scale's relaxed level by somebody, pooled or not; with --pool, in that pool.
    Version: of the topic's text. By older text: judgements made with another text than the current one;
    see `pooler status outdated --why topic`. Of one topic: its text, with every version of it where it has
    changed, the state of its documents, its judges, and the runs that have it.

    Example: pooler show topics

    Example: pooler show topics G01
    """
    _show("topic", number, output, collection, {"pool": pool, "judge": judge}, version=version)


@app.command("docs")
@command
def docs(
    docno: Annotated[str | None, argument("DOCNO", "The document; default all.")] = None,
    text: Annotated[bool, option("--text", "Also its text, at the end.")] = False,
    *,
    output: Output,
    topic: TopicOption = None,
    pool: PoolOption = None,
    judge: JudgeOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show the documents: which have a text, and for how many topics each is pooled or judged.

    The states are those of `pooler show topics`, counted over topics: pooled 2, judged 1 is a document
    pooled for two topics and judged for one. With --topic: documents that are pooled, judged or
    otherwise looked at for it. With --judge: documents this judge did anything to. Of one document: its
    pools, the runs that retrieved it, with ranks in trec order, and every current judgement; `pooler
    history` shows how a judgement came about.

    Example: pooler show docs --topic G01

    Example: pooler show docs KG-E-002 --text
    """
    from pooler.cli.console import write_lines
    from store.text import sanitise

    found = _show("doc", docno, output, collection, {"topic": topic, "pool": pool, "judge": judge}, text=text)
    if text and output.is_for_people and output.out is None:
        whole = found.facts()["text"]
        shown = "(the text is not in the collection)" if whole is None else whole
        write_lines(None, ["", *sanitise(shown).removesuffix("\n").split("\n")])


@app.command("pools")
@command
def pools(
    name: Annotated[str | None, argument("NAME", "The pool; default all.")] = None,
    *,
    output: Output,
    topic: TopicOption = None,
    judge: JudgeOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show the pools, with the state of each one's documents over all judges.

    A document that is in several pools counts in each of them. The states are those of `pooler show
    topics`. Withdrawn pools are listed; documents that only they hold no longer count as pooled. Of one
    pool: how it was chosen, from which runs, and the state of its documents by topic.

    Example: pooler show pools

    Example: pooler show pools pool
    """
    _show("pool", name, output, collection, {"topic": topic, "judge": judge})


@app.command("judges")
@command
def judges(
    name: Annotated[str | None, argument("NAME", "The judge; default all.")] = None,
    *,
    output: Output,
    topic: TopicOption = None,
    pool: PoolOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show the judges, and what each has done.

    Counts are of what stands now, in pools or not. Undecided: documents with only a note or a marked
    passage, or whose decision was taken back. Events counts everything ever done. Of one judge: what they
    did, topic by topic and sitting by sitting. `pooler status` shows what each judge still has to do, and
    `pooler status effort` what judging cost.

    Example: pooler show judges

    Example: pooler show judges alice
    """
    _show("judge", name, output, collection, {"topic": topic, "pool": pool})


@app.command("guidelines")
@command
def guidelines(
    version: Annotated[
        int | None, argument("VERSION", "The version whose text is printed; default a list of all.")
    ] = None,
    *,
    output: Output,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show the versions of the judging guidelines, or the text of one, as it is.

    Example: pooler show guidelines
    """
    from pooler.cli.console import write_lines
    from pooler.results.look.listing import listing
    from store.collection import Collection
    from store.text import sanitise

    output.check()
    if version is not None and not output.is_for_people:
        raise ContradictionError("--format", "is of the list, without a version", None)
    with Collection(collection) as opened:
        if version is None:
            render(listing(opened, "guidelines"), output)
        else:
            text = sanitise(opened.guidelines.get(version).text)
            write_lines(str(output.out) if output.out else None, text.removesuffix("\n").split("\n"))


@app.command("strategies")
@command
def strategies(output: Output) -> None:
    """Show the strategies that choose documents, and their parameters.

    Example: pooler show strategies
    """
    from pooler.results.pool.pool import list_strategies

    output.check()
    render(list_strategies(), output)


@app.command("measures")
@command
def measures(output: Output) -> None:
    """Show the measures that score runs.

    Example: pooler show measures
    """
    from pooler.commands.measure.measures import list_measures

    output.check()
    render(list_measures(), output)


def _show(
    kind: Kind, name: str | None, output: Output, collection: str, only: dict[str, str | None], **of_one: Any
) -> Any:
    """Write a list, or what is known of the one that is named; `only` narrows a list, `of_one` is of one."""
    from pooler.results.look.details import details
    from pooler.results.look.listing import SHOWN_DOCUMENTS, listing
    from store.collection import Collection

    output.check()
    for option_name, value in (only if name is not None else of_one).items():
        if value:
            requirement = "is for a list, without a name" if name is not None else "needs a name"
            raise ContradictionError(f"--{option_name}", requirement, None)
    with Collection(collection) as opened:
        if name is not None:
            found: Any = details(opened, kind, name, **of_one)
        else:
            # Of documents no more are read than are written, unless they are sorted.
            limit = output.limit or (SHOWN_DOCUMENTS if kind == "doc" and output.is_for_people else None)
            found = listing(opened, _ALL[kind], **only, limit=limit if output.sort is None else None)
    render(found, output)
    return found
