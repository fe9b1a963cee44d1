"""Runs and qrels as `pooler evaluate` and `pooler sensitivity` are given them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import progress, say
from pooler.cli.runs_given import entries_of, read_entry
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from store.analysis.aggregation import Ties
    from store.arrays import RankedDocuments
    from store.ranking import Order
    from store.records import Qrel, Run


class TiesName(StrEnum):
    """Tie rules of `store.analysis.aggregation`."""

    LOW = "low"
    HIGH = "high"
    UNRESOLVED = "unresolved"


JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME", help="Take this judge's grades.", show_default=False),
]
AggregateOption = Annotated[
    str | None,
    typer.Option(
        "--aggregate",
        metavar="majority",
        help="One grade of all judges' grades: the most frequent.",
        show_default=False,
    ),
]
TiesOption = Annotated[
    TiesName | None,
    typer.Option(
        "--ties",
        help="What tied grades give: the low one, the high one, or none (unresolved).",
        show_default=False,
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


def load_judged(
    runs: Sequence[str],
    *,
    qrels: str | None,
    collection: str,
    judge: str | None,
    aggregate: str | None,
    ties: TiesName | None,
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
    rule: Ties | None = None if ties is None else ties.value
    if qrels is not None:
        for name, value in (("--judge", judge), ("--aggregate", aggregate), ("--ties", rule)):
            if value is not None:
                requirement = "is for a collection; --qrels already is one grade a document"
                raise ArgumentError(name, requirement, value)
        if rigid or relaxed:
            hint = "--level N says it for bare files"
            raise ArgumentError("--rigid", "needs a declared scale", "bare files", hint=hint)
        return _from_files(runs, qrels, 1 if level is None else level, order, lenient=lenient)
    from store.analysis.collapse import level_of
    from store.collection import Collection
    from store.final_qrels import final_qrels

    with Collection(collection) as opened:
        names = None if judge is None else [judge]
        final = final_qrels(
            opened.judgements(names), opened.scale, judge=judge, aggregate=aggregate, ties=rule
        )
        cut = level_of(opened.scale, level=level, rigid=rigid, relaxed=relaxed)
        ranked = opened.ranked_documents(runs, order=order)
        if not ranked.tags:
            message = "there is no run in the collection"
            raise PoolerError(message, hint="pooler import runs")
        who = final.judges[0] if final.rule == "single judge" else f"{final.rule} of judges"
        cut = opened.scale.relaxed if cut is None else cut
        say(f"{len(final.rows):,} judgements ({who}), relevant = grade {cut} or more")
        plans = [
            pool.manifest.get("parameters", {}) for pool in opened.pools() if not pool.withdrawn
        ]
        depths = frozenset(plan["depth"] for plan in plans if "depth" in plan)
        return Judged(ranked, final.rows, cut, depths)


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
