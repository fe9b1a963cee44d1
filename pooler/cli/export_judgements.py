"""`pooler export judgements`: who said what about which document."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import json_line, write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def judgements(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="JUDGE...", help="Default all.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Default stdout.")
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write how every document stands with every judge, notes and reasons too: one JSON a line.

    Example: pooler export judgements alice --out alice.jsonl
    """
    from store.collection import Collection
    from store.ranking import natural_key

    with Collection(collection) as opened:
        records = opened.judgements(names or None)
    records.sort(key=lambda one: (natural_key(one.topic), one.docno, one.judge))
    fields = ("topic", "docno", "judge", "state", "grade", "reason", "note", "iteration")
    write_lines(
        out,
        (json_line({field: getattr(one, field) for field in fields}) for one in records),
    )
