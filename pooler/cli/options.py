"""Options that several commands share, each worded once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pooler.cli.console import Format


class OrderName(StrEnum):
    """The rank orders of `store.ranking`, which is not imported for `--help`."""

    TREC = "trec"
    TREC9 = "trec9"
    DOCNO_ASC = "docno-asc"
    RANK = "rank"
    FILE = "file"


CollectionOption = Annotated[
    str,
    typer.Option(
        "--collection",
        envvar="POOLER_COLLECTION",
        metavar="PATH|URL",
        help="SQLite file or postgresql:// URL of the collection.",
    ),
]
DEFAULT_COLLECTION = "collection.db"

FormatOption = Annotated[
    Format, typer.Option("--format", help="A table for people, or json or tsv for programs.")
]
OrderOption = Annotated[
    OrderName,
    typer.Option(
        "--order",
        help="Rank order: trec (score, ties docno descending), trec9 (the same, scores rounded to"
        " 32 bits as trec_eval 9.0.4 does), docno-asc (score, ties docno ascending), rank (the"
        " stated rank), file (line order).",
    ),
]
LenientOption = Annotated[
    bool,
    typer.Option(
        "--lenient",
        help="Read files by trec_eval's own rules: text after the last field and # lines are"
        " ignored, topics may be split.",
    ),
]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Take the new content where the collection has another.")
]
RunsOption = Annotated[
    str | None,
    typer.Option(
        "--runs",
        metavar="FILE",
        help="TSV with a header that lists the runs: file, and optionally tag, group,"
        " contributes (yes/no).",
    ),
]
LevelOption = Annotated[
    int | None,
    typer.Option("--level", help="Least grade that counts as relevant.", show_default=False),
]
RigidOption = Annotated[
    bool,
    typer.Option(
        "--rigid",
        help="Relevant = the scale's rigid level or above: the stricter one (NTCIR: S, A).",
    ),
]
RelaxedOption = Annotated[
    bool,
    typer.Option(
        "--relaxed",
        help="Relevant = the scale's relaxed level or above: the milder one (NTCIR: S, A, B).",
    ),
]
AllowUnknownOption = Annotated[
    bool,
    typer.Option(
        "--allow-unknown",
        help="Keep topics and docnos that no imported topics or documents file names.",
    ),
]
