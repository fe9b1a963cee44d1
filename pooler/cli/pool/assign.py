"""`pooler assign`: who judges which documents."""

from __future__ import annotations

import secrets
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.results.look import (
    drawable,
    idle_words,
    report_cleared,
    report_plan,
    report_rest,
    way_out,
    workload_table,
)
from pooler.results.printed import Format
from pooler.telling import say, warn
from store.errors import ArgumentError, PoolerError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pooler.assigning import AssignmentOptions
    from store.collection import Collection
    from store.judging.assignments import Make
    from store.records import Assignable, AssignmentPlan, Scope

LEASE_MINUTES = 120


class ByName(StrEnum):
    """What goes to judges as a whole, as `pooler.assigning.By`, not imported for `--help`."""

    DOCUMENT = "document"
    TOPIC = "topic"


class DisplayOrderName(StrEnum):
    """Orders of `pooler.assigning.DisplayOrder`, which is not imported for `--help`."""

    DOCNO = "docno"
    RANDOM = "random"
    PRIORITY = "priority"


def assign(
    judges: Annotated[
        list[str] | None, typer.Argument(metavar="JUDGE...", help="Default: every human judge not disabled.")
    ] = None,
    by: Annotated[
        ByName,
        typer.Option(
            "--by",
            help="document: every document goes to its own judges, with loads and the documents"
            " that pairs of judges share kept even; topic: whole topics go to the same judges.",
        ),
    ] = ByName.DOCUMENT,
    per_document: Annotated[
        int, typer.Option("--per-document", "-k", min=1, help="Judges of each document.")
    ] = 1,
    overlap: Annotated[
        float,
        typer.Option("--overlap", min=0, max=1, metavar="SHARE", help="Share of each topic for more judges."),
    ] = 0.0,
    overlap_judges: Annotated[
        int | None,
        typer.Option(
            "--overlap-judges",
            min=2,
            help="Judges of the documents of --overlap.  [default: one more than the others]",
        ),
    ] = None,
    calibration: Annotated[
        int,
        typer.Option(
            "--calibration", min=0, help="Documents of each topic for all judges, hidden among the rest."
        ),
    ] = 0,
    order: Annotated[
        DisplayOrderName,
        typer.Option(
            "--order",
            help="What a judge sees first: docno; random, for every judge another order; priority,"
            " the pooling strategy's.",
        ),
    ] = DisplayOrderName.DOCNO,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Of all that chance decides.  [default: drawn, and printed]"),
    ] = None,
    claim: Annotated[
        bool, typer.Option("--claim", help="Name no judges: whoever works next claims what is left.")
    ] = False,
    lease: Annotated[
        int | None,
        typer.Option(
            "--lease",
            min=1,
            metavar="MINUTES",
            help="How long a claimed document waits for a decision before others may claim it."
            f"  [default: {LEASE_MINUTES}]",
        ),
    ] = None,
    pools: Annotated[
        list[str] | None,
        typer.Option(
            "--pool", metavar="NAME", help="Of this pool; may be repeated.  [default: all but adaptive ones]"
        ),
    ] = None,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", metavar="TOPIC", help="Of this topic; may be repeated.")
    ] = None,
    add: Annotated[
        bool, typer.Option("--add", help="Assign only documents that nobody has a place at yet.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Assign anew what has no decision; what has one stays and counts."),
    ] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Take back what has no decision; assign nothing.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Show what is assigned; change nothing.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what it would come to; change nothing.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Assign pooled documents to judges, by name or for whoever claims them.

    Without any assignment every judge is shown the whole pool; from the first one on, each is
    shown only what is assigned to him or her, and never why. A document gets exactly as many judges
    as it should; a decision that stands keeps its judge. Adaptive pools are left out, and nobody
    draws from them while anything is assigned.

    Example: pooler assign --per-document 2 --calibration 1 --order random
    """
    from pooler.assigning import AssignmentOptions
    from store.collection import Collection
    from store.records import Existing, Scope

    _check_together(show=show, clear=clear, add=add, replace=replace)
    if show and (pools or topics):
        raise ArgumentError("--show", "shows all that is assigned: leave --pool and --topic out", None)
    if lease is not None and not claim:
        raise ArgumentError("--lease", "needs --claim: what is assigned by name never lapses", None)
    if claim and judges:
        raise ArgumentError("JUDGE", "must not be given with --claim, where anybody may", judges[0])
    options = AssignmentOptions(
        seed=secrets.randbits(31) if seed is None else seed,
        by=by.value,
        per_document=per_document,
        overlap=overlap,
        overlap_judges=overlap_judges,
        calibration=calibration,
        order=order.value,
        existing=Existing.ADD if add else Existing.REPLACE if replace else Existing.REFUSE,
        lease_s=60 * (LEASE_MINUTES if lease is None else lease) if claim else None,
    )
    scope = Scope(tuple(pools or ()), tuple(topics or ()))
    said: list[str] = []
    with Collection(collection) as opened:
        if show:
            workloads = opened.assignments.workloads()
        elif clear:
            _check_names(opened, scope)
            cleared, workloads = opened.assignments.clear(scope, dry_run=dry_run)
            said = report_cleared(cleared, workloads, dry_run=dry_run)
        else:
            _check_names(opened, scope)
            _check_pools(opened, scope)
            people = _people(opened, judges or [])
            _warn_of_few(people, options)
            plan, cleared, workloads = opened.assignments.make(
                scope, _planner(people, scope, options), existing=options.existing, dry_run=dry_run
            )
            said = report_plan(plan, cleared, dry_run=dry_run)
        idle = drawable(opened.pools.all()) if workloads.is_assigned else []
    emit([workload_table(workloads, fmt)], fmt)
    for line in [*said, *report_rest(workloads)]:
        say(line)
    if idle:
        warn(f"{idle_words(idle)}; {way_out(workloads)}")


def _check_together(**chosen: bool) -> None:
    """Refuse two options of which each is another thing to do."""
    names = [f"--{name}" for name, is_chosen in chosen.items() if is_chosen]
    if len(names) > 1:
        raise ArgumentError(names[0], f"and {names[1]} exclude each other", None)


def _check_names(opened: Collection, scope: Scope) -> None:
    """Refuse pools and topics that are not there."""
    known = [pool.name for pool in opened.pools.all()]
    for name in scope.pools:
        if name not in known:
            raise UnknownNameError("pool", name, known)
    known = [one.topic for one in opened.topics.all()]
    for topic in scope.topics:
        if topic not in known:
            raise UnknownNameError("topic", topic, known)


def _check_pools(opened: Collection, scope: Scope) -> None:
    """Refuse pools whose documents cannot be assigned."""
    in_use = [pool for pool in opened.pools.all() if not pool.withdrawn]
    adaptive = [pool.name for pool in in_use if pool.budget is not None]
    has_fixed = len(adaptive) < len(in_use)
    for name in scope.pools:
        if name not in {pool.name for pool in in_use}:
            raise ArgumentError("--pool", "must be in use, and this one is withdrawn", name)
    # Without --pool they are left out, unless there are no others.
    for name in (name for name in adaptive if name in scope.pools or not has_fixed):
        message = (
            f"pool `{name}` is adaptive: each of its documents is drawn when the one before is"
            " judged, so none can be assigned beforehand"
        )
        hint = "every judge draws from it as long as nothing is assigned"
        if has_fixed:
            hint = "without --pool, all pools but adaptive ones are assigned"
        raise PoolerError(message, hint=hint)
    if not in_use:
        message = "there is no pool to assign documents of"
        raise PoolerError(message, hint="pooler pool --depth 100 makes one")


def _people(opened: Collection, names: Sequence[str]) -> list[str]:
    """Return the judges who are named, or all who are people and not disabled."""
    known = {judge.name: judge for judge in opened.judges.all()}
    for name in names:
        if name not in known:
            hint = "pooler judges list shows them; pooler judges add makes a new one"
            raise UnknownNameError("judge", name, known, hint=hint)
        judge = known[name]
        if judge.kind.value != "human":
            requirement = f"must be a human judge, and this one is of kind {judge.kind.value}"
            raise ArgumentError("JUDGE", requirement, name)
        if judge.disabled:
            hint = f"pooler judges enable {name}"
            raise ArgumentError("JUDGE", "must not be disabled", name, hint=hint)
    everybody = [judge.name for judge in known.values()
                 if judge.kind.value == "human" and not judge.disabled]  # fmt: skip
    return list(dict.fromkeys(names)) or everybody


def _warn_of_few(people: Sequence[str], options: AssignmentOptions) -> None:
    """Warn when there are not judges enough yet to claim every place."""
    if options.lease_s is not None and options.most_judges > len(people):
        warn(f"{options.most_judges} judges are to claim a document, and there are"
             f" {len(people)} yet: pooler judges add NAME")  # fmt: skip


def _planner(people: Sequence[str], scope: Scope, options: AssignmentOptions) -> Make:
    """Make the planner that the store calls with the documents as they stand."""
    from dataclasses import replace

    from pooler import __version__
    from pooler.assigning import plan_assignment

    def plan(documents: Sequence[Assignable]) -> AssignmentPlan:
        there = {one.topic for one in documents}
        for topic in scope.topics:
            if topic not in there:
                message = f"no document of topic `{topic}` is pooled to be judged"
                raise PoolerError(message)
        planned = plan_assignment(documents, people, options)
        wider = {"version": __version__, "pools": scope.pools, "topics": scope.topics}
        return replace(planned, manifest={**planned.manifest, **wider})

    return plan
