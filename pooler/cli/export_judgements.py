"""`pooler export judgements`: who said what about which document."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption

if TYPE_CHECKING:
    from store.formats.judgement_files import JudgementsFormat


class JudgementsFormatName(StrEnum):
    """Formats of `store.formats.judgement_files`."""

    JSONL = "jsonl"
    TSV = "tsv"


def judgements(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="JUDGE...", help="Default all.")
    ] = None,
    form: Annotated[
        JudgementsFormatName,
        typer.Option(
            "--format",
            help="jsonl: a JSON object a line. tsv: a header and cells between tabs, with \\t, \\n,"
            " \\r, \\\\ and \\uXXXX in them for what a cell cannot hold; empty = nothing.",
        ),
    ] = JudgementsFormatName.JSONL,
    history: Annotated[
        bool,
        typer.Option(
            "--history", help="Every event with all that is known of it, in the order it was done."
        ),
    ] = False,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Default stdout.")
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write how every document stands with every judge, notes and reasons too: one a line.

    `pooler import judgements --format jsonl` (or tsv) reads it back.

    Example: pooler export judgements alice --history --out alice.jsonl
    """
    from store.collection import Collection
    from store.formats.judgement_files import history_lines, state_lines
    from store.ranking import natural_key

    kind: JudgementsFormat = "jsonl" if form is JudgementsFormatName.JSONL else "tsv"
    with Collection(collection) as opened:
        if history:
            write_lines(out, history_lines(opened.histories(names or None), kind))
            return
        records = opened.judgements(names or None)
    records.sort(key=lambda one: (natural_key(one.topic), one.docno, one.judge))
    write_lines(out, state_lines(records, kind))
