"""Whose judgements count: the options, what they mean, and runs and qrels by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import progress, say
from pooler.cli.runs_given import entries_of, read_entry
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from store.arrays import RankedDocuments
    from store.policy import Policy
    from store.ranking import Order
    from store.records import Qrel, Run, Scale


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
CutoffOption = Annotated[
    int,
    typer.Option("--cutoff", min=1, help="Documents of a ranking that AP looks at (trec_eval -M)."),
]


@dataclass(frozen=True, slots=True)
class Judged:
    """Runs, the qrels they are measured with, and what counts as relevant."""

    ranked: RankedDocuments
    qrels: Sequence[Qrel]
    level: int
    pool_depths: frozenset[int] = frozenset()
    """Depths of the collection's pools; empty for bare files."""


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


def load_judged(
    runs: Sequence[str],
    *,
    qrels: str | None,
    collection: str,
    policy: Policy,
    level: int | None,
    rigid: bool,
    relaxed: bool,
    order: Order,
    lenient: bool,
) -> Judged:
    """Read runs and qrels from files (`--qrels`) or from the collection.

    Raises
    ------
    ArgumentError
        If options of the one way are used with the other, or there is no run.
    """
    if qrels is not None:
        _check_no_policy(policy)
        if rigid or relaxed:
            hint = "--level N says it for bare files"
            raise ArgumentError("--rigid", "needs a declared scale", "bare files", hint=hint)
        return _from_files(runs, qrels, 1 if level is None else level, order, lenient=lenient)
    from pooler.cli.policy_report import who_judged
    from store.collection import Collection

    with Collection(collection) as opened:
        cut = _level(opened.scale, policy, level=level, rigid=rigid, relaxed=relaxed)
        # Grades stay grades where they can: measures may want them.
        is_binary = policy.collapse == "before" or policy.rule == "sum"
        final = opened.final_qrels(replace(policy, level=cut) if is_binary else policy)
        ranked = opened.ranked_documents(runs, order=order)
        if not ranked.tags:
            message = "there is no run in the collection"
            raise PoolerError(message, hint="pooler import runs")
        what = "sum of grades" if policy.rule == "sum" else "grade"
        n_rows = f"{len(final.rows):,} judgements"
        say(f"{n_rows} ({who_judged(final)}), relevant = {what} {cut} or more")
        plans = [
            pool.manifest.get("parameters", {}) for pool in opened.pools() if not pool.withdrawn
        ]
        depths = frozenset(plan["depth"] for plan in plans if "depth" in plan)
        return Judged(ranked, final.rows, 1 if is_binary else cut, depths)


def _level(scale: Scale, policy: Policy, *, level: int | None, rigid: bool, relaxed: bool) -> int:
    """Return the least relevant grade, by default the relaxed one; of sums, the least sum."""
    from store.analysis.collapse import level_of, levels_of

    if policy.rule != "sum":
        cut = level_of(scale, level=level, rigid=rigid, relaxed=relaxed)
        return scale.relaxed if cut is None else cut
    levels_of(scale, rigid=rigid, relaxed=relaxed, sums=True)
    if level is None:
        requirement = "must say which sum of grades is relevant, with --aggregate sum"
        raise ArgumentError("--level", requirement, None)
    return level


def _check_no_policy(policy: Policy) -> None:
    """Refuse options on whose judgements count where a file of qrels is given."""
    given = {
        "--judge": policy.judge,
        "--aggregate": policy.rule,
        "--ties": policy.ties,
        "--of": ", ".join(policy.of) or None,
        "--without-rulings": None if policy.rulings else "no collection",
    }
    for name, value in given.items():
        if value is not None:
            requirement = "is for a collection; --qrels already is one grade a document"
            raise ArgumentError(name, requirement, value)


def _from_files(
    runs: Sequence[str], qrels: str, level: int, order: Order, *, lenient: bool
) -> Judged:
    """Read bare files."""
    from store.arrays import ranked_documents
    from store.formats.qrels import read_qrels
    from store.records import Qrel

    if not runs:
        message = "no run file is named"
        raise PoolerError(message, hint="--qrels FILE goes with run files")
    content = read_qrels(qrels, lenient=lenient)
    rows = [
        Qrel(row.topic, row.docno, row.code, row.iteration) for row in content.rows if row.code >= 0
    ]
    negative = len(content.rows) - len(rows)
    if negative:
        say(f"{qrels}: {negative:,} lines with a negative code are unjudged, as in trec_eval")

    def read() -> Iterator[Run]:
        with progress("runs", len(runs)) as advance:
            for entry in entries_of(runs, None):
                yield read_entry(entry, lenient=lenient)
                advance(1)

    return Judged(ranked_documents(read(), order=order), rows, level)
