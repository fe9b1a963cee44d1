"""Whose judgements count, and of which source: the options, and what does not go together."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from store.errors import ArgumentError

if TYPE_CHECKING:
    from store.policy import Policy


class RuleName(StrEnum):
    """Rules of `store.policy`."""

    MAJORITY = "majority"
    MEDIAN = "median"
    MEAN = "mean"
    MIN = "min"
    MAX = "max"
    SUM = "sum"
    DAWID_SKENE = "dawid-skene"


class TiesName(StrEnum):
    """Tie rules of `store.analysis.aggregation`."""

    LOW = "low"
    HIGH = "high"
    UNRESOLVED = "unresolved"


class CollapseName(StrEnum):
    """Orders of `store.policy`."""

    BEFORE = "before"
    AFTER = "after"


JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="Take this judge's own grades, and no adjudicator's ruling.",
        show_default=False,
    ),
]
AggregateOption = Annotated[
    RuleName | None,
    typer.Option(
        "--aggregate",
        help="One grade of all judges' grades: the most frequent (majority), the middle one"
        " (median), the mean with halves up, the lowest, the highest, their sum (no grade of the"
        " scale any more), or the most probable one once every judge's habits are learnt"
        " (dawid-skene, for three judges a document or more).",
        show_default=False,
    ),
]
TiesOption = Annotated[
    TiesName | None,
    typer.Option(
        "--ties",
        help="What tied grades give (majority, median): the low one, the high one, or none"
        " (unresolved).",
        show_default=False,
    ),
]
CollapseOption = Annotated[
    CollapseName | None,
    typer.Option(
        "--collapse",
        help="With a level: make every judge's grade binary and then aggregate (before), or"
        " aggregate and make that binary (after).",
        show_default="after",
    ),
]
OfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--of",
        metavar="NAME",
        help="Let this judge vote, and only those named so; may be repeated.",
        show_default="all judges",
    ),
]
WithoutRulingsOption = Annotated[
    bool,
    typer.Option(
        "--without-rulings",
        help="Leave adjudicators out; otherwise their rulings win over any rule.",
    ),
]
QrelsOption = Annotated[
    str | None,
    typer.Option(
        "--qrels",
        metavar="FILE",
        help="Work on files, without a collection: these qrels and the named run files.",
        show_default=False,
    ),
]
FileScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="With --qrels: the scale of the file, 0-3, binary, ntcir or a TOML file as in `init`;"
        " --rigid and --relaxed need it, and its negative values are grades.",
        show_default=False,
    ),
]
FileRunsOption = Annotated[
    str | None,
    typer.Option(
        "--runs",
        metavar="FILE",
        help="With --qrels: TSV with a header that lists the runs: file, and optionally tag,"
        " group, contributes (yes/no), name (which it goes by here, whatever its tag).",
        show_default=False,
    ),
]
PoolDepthOption = Annotated[
    int | None,
    typer.Option(
        "--depth",
        "-N",
        min=1,
        help="N: the pool's depth.",
        show_default="the pools', where they have one; else what the judgements look like",
    ),
]
CutoffOption = Annotated[
    int,
    typer.Option("--cutoff", min=1, help="Documents of a ranking that AP looks at (trec_eval -M)."),
]


def policy_of(
    *,
    judge: str | None,
    aggregate: RuleName | None,
    ties: TiesName | None,
    collapse: CollapseName | None = None,
    of: Sequence[str] | None = None,
    without_rulings: bool = False,
) -> Policy:
    """Read the options on whose judgements count; `Policy.check` says what does not go together.

    Raises
    ------
    ArgumentError
        If an order of collapsing is named for judgements that no rule aggregates.
    """
    from store.policy import Policy

    if collapse is not None and aggregate is None:
        requirement = "is a part of --aggregate, which is absent"
        raise ArgumentError("--collapse", requirement, collapse.value)
    return Policy(
        judge=judge,
        rule=None if aggregate is None else aggregate.value,
        ties=None if ties is None else ties.value,
        collapse="after" if collapse is None else collapse.value,
        rulings=not without_rulings,
        of=tuple(dict.fromkeys(of or ())),
    )


def names_collection(ctx: typer.Context) -> bool:
    """Say whether `--collection` stands on the command line; a setting is not meant for files."""
    source = ctx.get_parameter_source("collection")
    return source is not None and source.name == "COMMANDLINE"


def check_way(
    ctx: typer.Context,
    *,
    qrels: str | None,
    scale: str | None,
    collection: str,
    listed: str | None = None,
) -> None:
    """Refuse options of files and of a collection together.

    Raises
    ------
    ArgumentError
        If both `--qrels` and `--collection` are given; or for a collection, which has its own, a
        scale or a list of run files.
    """
    if qrels is not None and names_collection(ctx):
        requirement = "and --qrels exclude each other: files need no collection"
        raise ArgumentError("--collection", requirement, collection)
    if qrels is None and scale is not None:
        requirement = "is for files; a collection has declared its own"
        raise ArgumentError("--scale", requirement, scale)
    if qrels is None and listed is not None:
        hint = "--qrels FILE names the judgements of files; without, RUN is a run tag"
        raise ArgumentError("--runs", "is for files, with --qrels", listed, hint=hint)
