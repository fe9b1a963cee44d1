"""`pooler export pool`: the documents chosen for judging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import check_out, counted, say, write_json, write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.policy_options import (
    AggregateOption,
    JudgeOption,
    OfOption,
    RuleName,
    TiesName,
    TiesOption,
    WithoutRulingsOption,
    policy_of,
)
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.run_set import RunSet
    from store.collection import Collection
    from store.policy import Policy
    from store.records import Pool

_PROGRAM = {"tool": "pooler"}
"""Stands in every manifest, also in that of a pool that was imported."""
_OTHERS_SHOWN = 10
_WHOLE = 2**31 - 1
"""A depth that no ranking reaches."""


def pool(
    name: Annotated[str, typer.Option("--name", help="Of the pool.")] = "pool",
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Default stdout.")
    ] = None,
    annotated: Annotated[
        bool,
        typer.Option(
            "--annotated",
            help="Write `topic docno run group rank score grade`, one line a contributor. Without"
            " one: - for run, group, rank and score; without a grade: unjudged, skipped, cannot or"
            " tied.",
        ),
    ] = False,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write a pool of the collection: one `topic docno` a line, in its display order.

    Example: pooler export pool --out pool.txt

    Example: pooler export pool --annotated --aggregate majority --ties low --out contributions.txt
    """
    from pooler.plan import pool_lines
    from store.collection import Collection

    check_out(out, None)
    if not annotated:
        _check_no_policy(judge, aggregate, ties, of, without_rulings=without_rulings)
        with Collection(collection) as opened:
            stored = opened.pool(name)
            others = _others(opened, name)
        write_lines(out, pool_lines(stored))
        if out not in (None, "-"):
            write_json(f"{out}.manifest.json", {**stored.manifest, **_PROGRAM})
        _say_others(name, others)
        return
    from pooler.annotated import UNJUDGED, graded_lines

    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    with Collection(collection) as opened:
        stored = opened.pool(name)
        others = _others(opened, name)
        runs = _runs_of(opened, stored)
        grades, facts = _grades(opened, policy)
        write_lines(out, graded_lines(runs, stored, grades))
    if out not in (None, "-"):
        entries = {**stored.manifest, **_PROGRAM, "grades": facts}
        write_json(f"{out}.manifest.json", entries, private=True)
    listed = {(entry.topic, entry.docno) for entry in stored.entries if entry.sampled}
    n_open = sum(grades.get(pair, UNJUDGED) == UNJUDGED for pair in listed)
    n_runs = 0 if runs is None else sum(run.contributes for run in runs.runs)
    say(f"{counted(len(listed), 'document')} of {counted(n_runs, 'run')}, {n_open:,} unjudged")
    _say_others(name, others)


def _others(opened: Collection, name: str) -> list[str]:
    """Return the names of the other pools that are not withdrawn."""
    return [one.name for one in opened.pools() if one.name != name and not one.withdrawn]


def _say_others(name: str, others: list[str]) -> None:
    """Say that what was written is not all that is pooled."""
    if not others:
        return
    named = ", ".join(others[:_OTHERS_SHOWN])
    named += f" and {len(others) - _OTHERS_SHOWN:,} more" if len(others) > _OTHERS_SHOWN else ""
    say(f"this is pool `{name}` alone; other pools: {named} (--name writes one)")


def _check_no_policy(
    judge: str | None,
    aggregate: RuleName | None,
    ties: TiesName | None,
    of: list[str] | None,
    *,
    without_rulings: bool,
) -> None:
    """Refuse options on whose grades count where no grade is written."""
    given = {"--judge": judge, "--aggregate": aggregate, "--ties": ties, "--of": of,
             "--without-rulings": without_rulings or None}  # fmt: skip
    for option, value in given.items():
        if value:
            requirement = "is for a pool with grades"
            raise ArgumentError(option, requirement, None, hint="--annotated writes them")


def _runs_of(opened: Collection, stored: Pool) -> RunSet | None:
    """Return the runs that fed a pool, as deep as it looked into them; ``None`` = there are none.

    Of a pool that no run fed, as an imported one, these are all contributing runs, whole.
    """
    from pooler.stored_runs import stored_runs
    from store.ranking import check_order

    tags = list(stored.run_tags) or [run.tag for run in opened.runs() if run.contributes]
    if not tags:
        return None
    manifest = stored.manifest if stored.run_tags else {}
    depth = manifest.get("parameters", {}).get("depth", _WHOLE)
    order = check_order(manifest.get("order", "trec"))
    return stored_runs(opened, depth=depth, order=order, tags=tags, scores=True)


def _grades(
    opened: Collection, policy: Policy
) -> tuple[dict[tuple[str, str], str], dict[str, Any] | None]:
    """Return how every document stands, in a word or a grade, and whose grades these are."""
    from pooler.cli.judge_kinds import kind_counts, tell_kinds
    from pooler.cli.policy_report import policy_facts
    from store.final_qrels import decide

    ballots = opened.ballots(policy)
    if not ballots.votes.n_documents and not ballots.rulings:
        return dict(ballots.reasons), None
    final = decide(ballots, policy)
    tell_kinds(kind_counts(opened.judges(), final.judges))
    grades: dict[tuple[str, str], str] = dict(final.left_out)
    grades |= {(row.topic, row.docno): str(row.grade) for row in final.rows}
    return grades, policy_facts(opened, final)
