"""`pooler sensitivity`: what if the document just below the pool is relevant after all."""

from __future__ import annotations

from enum import StrEnum
from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import Cell, Column, Format, Table, emit, warn
from pooler.cli.judged import (
    AggregateOption,
    CollapseOption,
    CutoffOption,
    FileRunsOption,
    FileScaleOption,
    JudgeOption,
    OfOption,
    QrelsOption,
    TiesOption,
    WithoutRulingsOption,
    check_way,
    load_judged,
    policy_of,
)
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FormatOption,
    LenientOption,
    LevelOption,
    OrderName,
    OrderOption,
    RelaxedOption,
    RigidOption,
)

if TYPE_CHECKING:
    from store.analysis.judged_rankings import JudgedRankings
    from store.analysis.undiscovered import Sensitivity


class ScenarioName(StrEnum):
    """Scenarios of `store.analysis.undiscovered`."""

    SHARED = "shared"
    OWN = "own"


class RModeName(StrEnum):
    """What R counts."""

    POOL = "pool"
    OWN = "own"


def sensitivity(
    ctx: typer.Context,
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Run tags (default all), or files with --qrels."),
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", min=1, help="N: the pool's depth; rank N+1 is flipped.")
    ] = ...,  # type: ignore[assignment]  # typer's way to say required
    scenario: Annotated[
        ScenarioName,
        typer.Option(
            "--scenario",
            help="shared: every run that retrieved the document gains, the others have R+1."
            " own: only the flipped run gains, all others have R+1, retrieved or not, also with"
            " --r own (the paper's section 4.3).",
        ),
    ] = ScenarioName.SHARED,
    r_mode: Annotated[
        RModeName,
        typer.Option(
            "--r", help="R = relevant documents of the topic (pool), or of the run (own)."
        ),
    ] = RModeName.POOL,
    by_topic: Annotated[
        bool, typer.Option("--by-topic", "-q", help="One row a run and topic.")
    ] = False,
    qrels: QrelsOption = None,
    listed: FileRunsOption = None,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    collapse: CollapseOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    level: LevelOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    cutoff: CutoffOption = 1000,
    order: OrderOption = OrderName.TREC,
    scale: FileScaleOption = None,
    lenient: LenientOption = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Flip the unjudged documents at rank N+1 to relevant and see what moves.

    For every run in turn, all its unjudged documents at rank N+1 (one a topic) turn relevant:
    AP changes by eq. 19 of Kishida 2001. A row shows the run's own MAP before and after, and what
    its flips do to the order of all runs: Kendall's tau-b, and pairs that swap.

    Example: pooler sensitivity --depth 5 --judge alice

    Example: pooler sensitivity --depth 5 --qrels judgements/strict.qrels runs/bm25-words.run
    """
    from store.analysis.undiscovered import sensitivity as analyse
    from store.arrays import judged_arrays

    check_way(ctx, qrels=qrels, scale=scale, collection=collection, listed=listed)
    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, collapse=collapse, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    judged = load_judged(
        runs or [], qrels=qrels, collection=collection, policy=policy, level=level, rigid=rigid,
        relaxed=relaxed, order=order.value, lenient=lenient, scale=scale,
        listed=listed,
    )  # fmt: skip
    arrays = judged_arrays(judged.ranked, judged.qrels, level=judged.level, cutoff=cutoff)
    if judged.pool_depths and depth not in judged.pool_depths:
        known = ", ".join(map(str, sorted(judged.pool_depths)))
        warn(f"depth {depth} is not that of the pool ({known})")
    result = analyse(arrays, depth=depth, scenario=scenario.value, r_mode=r_mode.value)
    if by_topic:
        docnos = judged.ranked.docnos
        at_rank = {
            key: docnos[int(ids[depth])]
            for key, ids in judged.ranked.rankings.items()
            if len(ids) > depth and depth < cutoff
        }
        emit([_by_topic(arrays, result, at_rank)], fmt)
    else:
        emit([_by_run(arrays, result, fmt)], fmt)


def _by_run(arrays: JudgedRankings, result: Sensitivity, fmt: Format) -> Table:
    """Make the table of runs."""
    from store.analysis import undiscovered

    columns = [
        Column("run"), Column("unjudged"), Column("judged"), Column("ended"),
        Column("no_run", "no run"), Column("map_before", "MAP"),
        Column("map_after", "after"), Column("change"), Column("tau_b", "tau-b"),
        Column("swapped"), Column("reason"),
    ]  # fmt: skip
    rank = result.depth + 1
    table = Table("sensitivity", columns, title=f"Unjudged documents at rank {rank} turned relevant"
                  f" (scenario {result.scenario}, R {result.r_mode})")  # fmt: skip
    counts = {
        name: (result.status == code).sum(axis=1)
        for name, code in (
            ("judged", undiscovered.JUDGED),
            ("unjudged", undiscovered.UNJUDGED),
            ("ended", undiscovered.ENDED),
            ("no_run", undiscovered.NO_RUN),
        )
    }
    for index, tag in enumerate(arrays.tags):
        row: dict[str, Cell] = {"run": tag}
        row |= {name: int(count[index]) for name, count in counts.items()}
        before, after = result.map_before[index], result.map_after[index, index]
        defined = not isnan(before)
        reason = result.tau_reason[index]
        comparable = defined and reason != "fewer-than-two"
        tau = float(result.tau_b[index])
        row |= {"map_before": float(before) if defined else None,
                "map_after": float(after) if defined else None,
                "change": float(after - before) if defined else None,
                "tau_b": None if reason else tau,
                "swapped": int(result.n_swapped[index]) if comparable else None,
                "reason": reason if defined else "no-relevant"}  # fmt: skip
        table.rows.append(row)
    empty = {
        "reason": all(row["reason"] is None for row in table.rows),
        "no_run": not counts["no_run"].any(),
    }
    if fmt is Format.TABLE:
        table.columns = [column for column in columns if not empty.get(column.name)]
    unjudged, judged = int(counts["unjudged"].sum()), int(counts["judged"].sum())
    ended, no_run = int(counts["ended"].sum()), int(counts["no_run"].sum())
    parts = [f"At rank {rank}, {unjudged:,} of {unjudged + judged:,} documents are unjudged"]
    if not unjudged:
        parts[0] += ": nothing to turn"
    parts += [f"{ended:,} rankings ended before it"] if ended else []
    parts += [f"{no_run:,} times a run has no document for a topic"] if no_run else []
    table.caption = "; ".join(parts) + (
        ".\nafter: the run's MAP with its own documents turned relevant. The other runs'\n"
        "MAPs change too; tau-b and swapped say what all that does to the order of the\nruns."
    )
    return table


def _by_topic(
    arrays: JudgedRankings, result: Sensitivity, docnos: dict[tuple[str, str], str]
) -> Table:
    """Make the table of runs and topics."""
    from store.analysis import undiscovered

    words = {
        undiscovered.JUDGED: "judged", undiscovered.UNJUDGED: "unjudged",
        undiscovered.ENDED: "run ended", undiscovered.NO_RUN: "no documents",
    }  # fmt: skip
    columns = [Column("run"), Column("topic"), Column("docno"), Column("status"),
               Column("ap_before", "AP before"), Column("ap_after", "AP after"),
               Column("change"), Column("reason")]  # fmt: skip
    table = Table("sensitivity", columns)
    for index, tag in enumerate(arrays.tags):
        for place, topic in enumerate(arrays.topics):
            before = float(result.ap_before[index, place])
            after = float(result.ap_after[index, place])
            known = not isnan(before)
            table.rows.append({
                "run": tag, "topic": topic, "docno": docnos.get((tag, topic)),
                "status": words[int(result.status[index, place])],
                "ap_before": before if known else None,
                "ap_after": None if isnan(after) else after,
                "change": after - before if known else None,
                "reason": None if known else "no-relevant",
            })  # fmt: skip
    return table
