"""Options on how likely documents are relevant."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

ValueOption = Annotated[
    list[str] | None,
    typer.Option(
        "--value",
        metavar="GRADE=P",
        help="What a judge's grade is worth: the probability, from 0 to 1, that the document is"
        " relevant. Once for every grade of the scale. Default: the share of judges at the level.",
        show_default=False,
    ),
]
ProbabilitiesOption = Annotated[
    str | None,
    typer.Option(
        "--probabilities",
        metavar="FILE",
        help="Take the probabilities from a file, `topic docno p`, as `export probabilities`"
        " writes it. RUN may be files then, without --qrels.",
        show_default=False,
    ),
]
UnjudgedOption = Annotated[
    str,
    typer.Option(
        "--unjudged",
        metavar="P|by-rank",
        help="How likely a document is relevant that a run retrieved and nobody judged: one"
        " probability for all, or by its best rank, as a curve fitted to the judged ones says.",
    ),
]


class EmptyRule(StrEnum):
    """What becomes of judgings in which a topic has no relevant document."""

    GIVEN = "given"
    ZERO = "zero"


EmptyOption = Annotated[
    EmptyRule,
    typer.Option(
        "--empty",
        help="Judgings in which a topic has no relevant document: left out, as AP is not defined"
        " there, or counted with an AP of 0, as by trec_eval. The same goes for a topic in which"
        " no document can be relevant; a topic that nobody judged never counts.",
    ),
]
