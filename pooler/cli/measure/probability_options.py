"""Options on how likely documents are relevant."""

from __future__ import annotations

from typing import Annotated, Literal

from pooler.cli.signature import option

ValueOption = Annotated[
    list[str] | None,
    option(
        "--value GRADE=P",
        "The probability, from 0 to 1, that a document a judge gave this grade is relevant. Repeat for every"
        " grade of the scale. Default: the share of judges at or above the level.",
    ),
]
ProbabilitiesOption = Annotated[
    str | None,
    option(
        "--probabilities FILE",
        "Read the probabilities from a file, `topic docno p`, as `export probabilities` writes it. RUN may"
        " then be files, without --qrels.",
    ),
]
UnjudgedOption = Annotated[
    str,
    option(
        "--unjudged P|by-rank",
        "How likely an unjudged document that a run retrieved is relevant: one probability for all, or by"
        " its best rank, following a curve fitted to the judged ones.",
    ),
]


EmptyRule = Literal["given", "zero"]


EmptyOption = Annotated[
    EmptyRule,
    option(
        "--empty",
        "What to do where judging again would leave a topic without a relevant document: leave that outcome"
        " out, as AP does not exist there (given), or count AP as 0, as trec_eval does (zero). The same goes"
        " for a topic in which no document can be relevant; a topic that nobody judged never counts.",
    ),
]
