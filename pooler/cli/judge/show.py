"""`pooler show`: everything known about one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option

if TYPE_CHECKING:
    from pooler.results.look.details import Details, Kind

app = typer.Typer(help="Show everything known about one thing.", no_args_is_help=True)


@app.command("run")
@command
def run(
    tag: Annotated[str, argument("TAG", "The run's tag.")],
    *,
    output: Output,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a run: where it came from, the pools it fed, and what of it is pooled and judged.

    Example: pooler show run bm25-words
    """
    _show("run", tag, output, collection)


@app.command("topic")
@command
def topic(
    number: Annotated[str, argument("TOPIC", "The topic's id.")],
    version: Annotated[
        int | None, option("--version", "Show this version of its text; default the newest.", min=1)
    ] = None,
    *,
    output: Output,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a topic: its text, the state of its documents, its judges, and the runs that have it.

    Where the text has changed, every version of it is listed, with the judgements made by it.

    Example: pooler show topic G01
    """
    _show("topic", number, output, collection, version=version)


@app.command("doc")
@command
def doc(
    docno: Annotated[str, argument("DOCNO", "The document's docno.")],
    text: Annotated[bool, option("--text", "Also its text, at the end.")] = False,
    *,
    output: Output,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a document: its pools, the runs that retrieved it, and every current judgement.

    Ranks are in trec order. A document may be pooled for one topic and retrieved for another; a topic
    without a row neither pools it nor has a judgement of it. `pooler history` shows how a judgement came
    about.

    Example: pooler show doc KG-E-002 --text
    """
    from pooler.cli.console import write_lines
    from store.text import sanitise

    result = _show("doc", docno, output, collection, text=text)
    if text and output.is_for_people and output.out is None:
        whole = result.facts()["text"]
        shown = "(the text is not in the collection)" if whole is None else whole
        write_lines(None, ["", *sanitise(shown).removesuffix("\n").split("\n")])


@app.command("pool")
@command
def pool(
    name: Annotated[str, argument("NAME", "The pool's name.")],
    *,
    output: Output,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a pool: how it was chosen, from which runs, and the state of its documents by topic.

    Example: pooler show pool pool
    """
    _show("pool", name, output, collection)


@app.command("judge")
@command
def judge(
    name: Annotated[str, argument("NAME", "The judge's name.")],
    *,
    output: Output,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show a judge: what they did, topic by topic and sitting by sitting.

    Pooled counts what pools hold, assigned to this judge or not. `pooler status` shows what a judge still
    has to do, and `pooler status effort` what judging cost.

    Example: pooler show judge alice
    """
    _show("judge", name, output, collection)


def _show(
    kind: Kind, name: str, output: Output, collection: str, *, version: int | None = None, text: bool = False
) -> Details:
    from pooler.results.look.details import details
    from store.collection import Collection

    output.check()
    with Collection(collection) as opened:
        result = details(opened, kind, name, version=version, text=text)
    render(result, output)
    return result
