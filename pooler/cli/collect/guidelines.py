"""`pooler guidelines`: the instructions to judges, version by version."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say
from store.text import counted

app = typer.Typer(help="The judging guidelines, in versions.", no_args_is_help=True)


@app.command("set")
def set_(
    file: Annotated[str, argument("FILE", "Markdown, UTF-8; - is stdin.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Make a text the newest version of the guidelines.

    Every judgement keeps the version it was made by. Setting the text of the newest version again
    changes nothing.

    Example: pooler guidelines set guidelines.md
    """
    from store.collection import Collection
    from store.formats.documents import read_guidelines
    from store.judging.rejudging import Why

    text = read_guidelines(file)
    with Collection(collection) as opened:
        newest, is_new = opened.guidelines.add(text)
        outdated = opened.rejudging.outdated(why=[Why.GUIDELINES]).rows if is_new else ()
    if not is_new:
        say(f"version {newest.version} of the guidelines already has this text")
        return
    say(f"version {newest.version} of the guidelines")
    if outdated:
        say(f"{counted(len(outdated), 'judgement')} made under an older one: pooler status outdated")


@app.command("show")
def show(
    version: Annotated[int | None, option("--version", "Default: the newest.", min=1)] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Print a version of the guidelines.

    Example: pooler guidelines show
    """
    from store.collection import Collection
    from store.text import sanitise

    with Collection(collection) as opened:
        text = opened.guidelines.get(version).text
    write_lines(None, sanitise(text).removesuffix("\n").split("\n"))


@app.command("list")
@command
def list_(output: Output, collection: CollectionOption = DEFAULT_COLLECTION) -> None:
    """List the versions of the guidelines.

    Example: pooler guidelines list
    """
    from pooler.results.look.listing import listing
    from store.collection import Collection

    output.check()
    with Collection(collection) as opened:
        result = listing(opened, "guidelines")
    render(result, output)
