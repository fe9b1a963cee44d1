"""`pooler export pool`: the documents chosen for judging."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import write_json, write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def pool(
    name: Annotated[str, typer.Option("--name", help="Of the pool.")] = "pool",
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Default stdout.")
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write a pool of the collection: one `topic docno` a line, in its display order.

    Example: pooler export pool --out pool.txt
    """
    from pooler.plan import pool_lines
    from store.collection import Collection

    with Collection(collection) as opened:
        stored = opened.pool(name)
    write_lines(out, pool_lines(stored))
    if out not in (None, "-"):
        write_json(f"{out}.manifest.json", stored.manifest)
