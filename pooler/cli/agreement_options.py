"""The options of `pooler agreement`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

SEED = 1
RESAMPLES = 10_000
MIXTURES = 1000
CUTOFF = 1000


class PopulationName(StrEnum):
    """The populations of `store.analysis.populations`."""

    COMMON = "common"
    LISTED = "listed"
    POOLED = "pooled"
    COLLECTION = "collection"


class IntervalName(StrEnum):
    """The intervals of `store.analysis.pair_stacks`."""

    TOPIC = "topic"
    ITEM = "item"
    ASYMPTOTIC = "asymptotic"
    NONE = "none"


class BandsName(StrEnum):
    """The lists of words of `store.analysis.bands`."""

    LANDIS_KOCH = "landis-koch"
    IR_BOOK = "ir-book"
    KRIPPENDORFF = "krippendorff"


JudgesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="JUDGE|FILE...",
        help="Two or more judges; default all who graded, but for adjudicators. Or files, without"
        " a collection: each holds the judgements of one judge, named as the file, or NAME=FILE.",
    ),
]
LevelsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--level",
        help="Least grade that counts as relevant; may be repeated.  [default: the relaxed and"
        " the rigid level; for json and tsv all]",
        show_default=False,
    ),
]
PopulationOption = Annotated[
    PopulationName,
    typer.Option(
        "--population",
        help="Documents to measure over: graded by two judges (common), by any (listed), in a"
        " pool (pooled; of files: in any line of them), or all of the collection.",
    ),
]
UnlistedAsOption = Annotated[
    int | None,
    typer.Option(
        "--unlisted-as",
        metavar="GRADE",
        help="Take documents of the population that a judge has not judged as this grade;"
        " never those skipped.",
        show_default=False,
    ),
]
AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="JUDGE",
        help="Compare every other judge, and all their labels together, with this one.",
        show_default=False,
    ),
]
IntervalOption = Annotated[
    IntervalName | None,
    typer.Option(
        "--interval",
        help="95 % intervals: from resampled topics or documents, from standard errors, none."
        "  [default: topic; none for pairs when there are more than 66]",
        show_default=False,
    ),
]
ResamplesOption = Annotated[
    int, typer.Option("--resamples", min=100, max=1_000_000, help="Of topics or documents.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Of resamples and mixtures.")]
BandsOption = Annotated[
    BandsName | None,
    typer.Option(
        "--bands", help="Add words for kappa and alpha, by their author.", show_default=False
    ),
]
ByTopicOption = Annotated[bool, typer.Option("--by-topic", help="One row a topic, too.")]
PerGradeOption = Annotated[
    bool, typer.Option("--per-grade", help="The agreement on each grade, too.")
]
TablesOption = Annotated[
    bool, typer.Option("--tables", help="The cross table of grades of every pair, too.")
]
AllPairsOption = Annotated[
    bool,
    typer.Option(
        "--all-pairs",
        help="Show more than 66 pairs in full; json and tsv list pairs that share no document, too,"
        " which of more than 10 pairs are a number (pairs_apart) otherwise.",
    ),
]
PlanOption = Annotated[
    float | None,
    typer.Option(
        "--plan",
        metavar="WIDTH",
        help="Instead, say how many documents judges must share for an interval this wide.",
        show_default=False,
    ),
]
AssumeOption = Annotated[
    str | None,
    typer.Option(
        "--assume",
        metavar="KAPPA,SHARE",
        help="With --plan, before anything is judged: the kappa and the share of relevant"
        " documents to expect.",
        show_default=False,
    ),
]
MattersOption = Annotated[
    bool,
    typer.Option(
        "--matters", help="Instead, compare the order of the runs under different judges."
    ),
]
MixturesOption = Annotated[
    int, typer.Option("--mixtures", min=1, help="With --matters: random mixtures of judges.")
]
RunFilesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--run",
        metavar="FILE",
        help="With --matters and files of judgements: a run file; may be repeated.",
        show_default=False,
    ),
]
ManifestOption = Annotated[
    str | None,
    typer.Option(
        "--manifest",
        metavar="FILE",
        help="Write the settings here, as JSON.",
        show_default=False,
    ),
]
