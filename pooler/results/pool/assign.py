"""assign: who judges which documents; the workload of each judge."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pooler.messages import warn
from pooler.results.idle import drawable, idle_words, way_out
from pooler.results.result import Result, collect_warnings, frozen_settings
from pooler.results.source import named_collection, opened_collection
from pooler.results.table import DOCNO, DOCUMENTS, JUDGE, TOPIC, Column, Table
from pooler.version import __version__
from store.errors import ArgumentError, ConflictError, PoolerError, UnknownNameError
from store.records import Assignable, AssignmentPlan, Cleared, DisplayOrder, Existing, Scope, Workloads
from store.text import counted

if TYPE_CHECKING:
    from pooler.assigning import AssignmentOptions, By
    from store.collection import Collection
    from store.judging.assignments import Make

LEASE_MINUTES = 120
"""How long a claimed document waits for a decision, unless another time is given."""


def assign(
    collection: str | Path | Collection,
    judges: Sequence[str] = (),
    *,
    by: By = "document",
    per_document: int = 1,
    overlap: float = 0.0,
    overlap_judges: int | None = None,
    calibration: int = 0,
    order: DisplayOrder = "docno",
    seed: int | None = None,
    claim: bool = False,
    lease: int | None = None,
    pools: Sequence[str] = (),
    topics: Sequence[str] = (),
    topic_judges: Mapping[str, str] | None = None,
    existing: Literal["refuse", "add", "replace"] = "refuse",
    dry_run: bool = False,
) -> AssignmentResult:
    """Assign pooled documents to judges, by name or to be claimed.

    Parameters
    ----------
    collection : str, Path or Collection
        Its file or URL, or the open collection.
    judges : sequence of str, optional
        Default every human judge who is not disabled; models by name.
    by : {"document", "topic"}, optional
        Every document goes to its own judges, loads kept even, or whole topics to the same.
    per_document : int, optional
        Judges of each document, from 1.
    overlap : float, optional
        Share of each topic for more judges, from 0 to 1.
    overlap_judges : int, optional
        Judges of these documents, from 2; default one more than the others have.
    calibration : int, optional
        Documents of each topic for all judges, hidden among the rest, from 0.
    order : {"docno", "random", "priority"}, optional
        What a judge sees first.
    seed : int, optional
        Of all that chance decides; default drawn, and kept in the plan.
    claim : bool, optional
        Name no judges: judges claim documents as they work.
    lease : int, optional
        Minutes that a claimed document waits for a decision before others may claim it.
    pools, topics : sequence of str, optional
        Of these alone; default all pools but adaptive ones.
    topic_judges : mapping of str to str, optional
        By topic the judge who gets all of it, as primary; whoever judges there besides is second.
    existing : {"refuse", "add", "replace"}, optional
        Where documents are assigned already: refuse; assign those that nobody has a place at; or
        assign anew what has no decision.
    dry_run : bool, optional
        Change nothing.

    Returns
    -------
    AssignmentResult
        The workload of each judge then.

    Raises
    ------
    UnknownNameError
        If a judge, a pool or a topic is not there.
    ArgumentError
        If a judge cannot judge, or a number cannot be used.
    PoolerError
        If there is nothing that can be assigned, or documents are assigned already.
    """
    from pooler.assigning import AssignmentOptions

    check_claim(judges, lease, claim=claim)
    options = AssignmentOptions(
        seed=secrets.randbits(31) if seed is None else seed,
        by=by,
        per_document=per_document,
        overlap=overlap,
        overlap_judges=overlap_judges,
        calibration=calibration,
        order=order,
        existing=Existing(existing),
        primary=tuple(sorted((topic_judges or {}).items())),
        lease_s=60 * (LEASE_MINUTES if lease is None else lease) if claim else None,
    )
    scope = Scope(tuple(pools), tuple(topics))
    with collect_warnings() as collected, opened_collection(collection) as opened:
        _check_names(opened, scope)
        _check_pools(opened, scope)
        people = _people(opened, judges)
        _check_names(opened, Scope((), tuple(topic_judges or ())))
        for judge in (topic_judges or {}).values():
            if judge not in people:
                hint = "name the judges of topics among JUDGE..."
                raise UnknownNameError("judge", judge, people, hint=hint)
        if options.lease_s is not None and options.most_judges > len(people):
            warn(
                f"{options.most_judges} judges are to claim each document, but there are only {len(people)}:"
                " pooler judges add NAME"
            )
        try:
            plan, cleared, workloads = opened.assignments.make(
                scope, _planner(people, scope, options), existing=options.existing, dry_run=dry_run
            )
        except ConflictError as error:
            if line := _line_with_others(opened, judges, scope):
                error.hint = f"{line}; --add assigns only documents without a judge"
            raise
        way_in = "" if plan.places else _line_with_others(opened, judges, scope)
        doubts = _doubts(opened, workloads)
    settings = frozen_settings(
        judges=tuple(judges),
        by=by,
        per_document=per_document,
        overlap=overlap,
        overlap_judges=overlap_judges,
        calibration=calibration,
        order=order,
        seed=options.seed,
        claim=claim,
        lease=lease,
        pools=scope.pools,
        topics=scope.topics,
        existing=existing,
        topic_judges=dict(options.primary) or None,
        dry_run=dry_run,
        **named_collection(collection),
    )
    words = [*_plan_words(plan, cleared, dry_run=dry_run), *_rest_words(workloads)]
    if way_in:
        words.append(way_in)
    return AssignmentResult(
        workloads=workloads,
        words=words,
        doubts=doubts,
        settings=settings,
        warnings=(*collected.warnings, *doubts),
    )


def check_claim(judges: Sequence[str], lease: int | None, *, claim: bool) -> None:
    """Raise `ArgumentError` for judges named together with claiming, or a lease without it."""
    if lease is not None and not claim:
        raise ArgumentError("lease", "needs --claim: what is assigned by name never lapses", None)
    if claim and judges:
        raise ArgumentError("judges", "must not be given with --claim, where anybody may claim", judges[0])


def assigned(collection: str | Path | Collection) -> AssignmentResult:
    """Say what is assigned; see `assign`.

    Parameters
    ----------
    collection : str, Path or Collection
        Its file or URL, or the open collection.

    Returns
    -------
    AssignmentResult
        The workload of each judge, and who has what in the table `places`.
    """
    with opened_collection(collection) as opened:
        workloads = opened.assignments.workloads()
        places = opened.assignments.places()
        doubts = _doubts(opened, workloads)
    return AssignmentResult(
        workloads=workloads,
        places=places,
        words=_rest_words(workloads),
        doubts=doubts,
        warnings=doubts,
        settings=frozen_settings(**named_collection(collection)),
    )


def clear_assignments(
    collection: str | Path | Collection,
    *,
    pools: Sequence[str] = (),
    topics: Sequence[str] = (),
    dry_run: bool = False,
) -> AssignmentResult:
    """Take back what has no decision; see `assign`.

    Parameters
    ----------
    collection : str, Path or Collection
        Its file or URL, or the open collection.
    pools, topics : sequence of str, optional
        Of these alone.
    dry_run : bool, optional
        Change nothing.

    Returns
    -------
    AssignmentResult
        The workload of each judge then.

    Raises
    ------
    UnknownNameError
        If a pool or a topic is not there.
    """
    scope = Scope(tuple(pools), tuple(topics))
    with opened_collection(collection) as opened:
        _check_names(opened, scope)
        cleared, workloads = opened.assignments.clear(scope, dry_run=dry_run)
        doubts = _doubts(opened, workloads)
    return AssignmentResult(
        workloads=workloads,
        doubts=doubts,
        warnings=doubts,
        words=[*_clear_words(cleared, workloads, dry_run=dry_run), *_rest_words(workloads)],
        settings=frozen_settings(
            pools=scope.pools, topics=scope.topics, dry_run=dry_run, **named_collection(collection)
        ),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AssignmentResult(Result):
    """The workload of each judge; table: `workload`, a row each, places open to claim last.

    Of what is assigned also `places`, a row for each judge of a document.
    """

    workloads: Workloads = field(default_factory=Workloads)
    places: Sequence[Any] | None = None
    """Who has what; ``None`` = not asked for."""
    words: Sequence[str] = ()
    """What was done, and what is left."""
    doubts: tuple[str, ...] = ()
    """Whether no draws from adaptive pools."""

    NAMES: ClassVar[tuple[str, ...]] = ("workload", "places")
    SHOWN: ClassVar[int] = 1

    def names(self) -> tuple[str, ...]:
        """Return the names of the tables there are."""
        return self.NAMES[: 1 if self.places is None else 2]

    def _places(self) -> Table:
        columns = [JUDGE, TOPIC, DOCNO, Column("purpose"), Column("decided", "bool")]
        return Table.of_records("places", columns, self.places or ())

    def _workload(self) -> Table:
        columns = [
            JUDGE,
            Column("topics", "int"),
            DOCUMENTS,
            Column("primary", "int"),
            Column("overlap", "int", show="if_any"),
            Column("calibration", "int", show="if_any"),
            Column("decided", "int"),
            Column("left", "int"),
            Column("claimed", "int", about="waiting for a decision until the lease runs out", show="if_any"),
            Column("lapsed", "int", about="the lease ran out, and others may claim them", show="if_any"),
            Column("until", "moment", show="if_any"),
        ]
        return Table.of_records("workload", columns, self.workloads.lines, notes=self._notes())

    def _notes(self) -> list[str]:
        lines = self.workloads.lines
        if not lines:
            return [] if self.workloads.outside else ["nothing is assigned: all judges see the whole pool"]
        return ["judge -: open to any judge"] if lines[-1].judge is None else []


def _doubts(opened: Collection, workloads: Workloads) -> tuple[str, ...]:
    idle = drawable(opened.pools.all()) if workloads.is_assigned else []
    return (f"{idle_words(idle)}; {way_out(workloads)}",) if idle else ()


def _plan_words(plan: AssignmentPlan, cleared: Cleared, *, dry_run: bool) -> list[str]:
    lines = _cleared_lines(cleared, dry_run=dry_run)
    manifest = plan.manifest
    n_documents = sum(manifest["sizes"].values())
    if not plan.places:
        named = [f"{noun}s" for noun in ("pool", "topic") if manifest.get(f"{noun}s")]
        of_named = f" of the {' and '.join(named)} named" if named else ""
        why = f"no document{of_named} is unassigned"
        if n_documents:
            why = "every document has its judges"
        return [*lines, f"nothing to assign: {why}"]
    documents, topics = counted(n_documents, "document"), counted(len(manifest["sizes"]), "topic")
    to_whom = "to be claimed"
    if plan.lease_s is None:
        to_whom = f"for {counted(len({place.judge for place in plan.places}), 'judge')}"
    assignments = counted(len(plan.places), "assignment")
    lines.append(
        f"{_verb(dry_run=dry_run)}assigned: {documents} of {topics}, {assignments} {to_whom};"
        f" seed {manifest['seed']}"
    )
    counts = {name: count for name, count in manifest["documents"].items() if count}
    if set(counts) != {"primary"}:
        listed = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        lines.append(f"documents: {listed}")
    if manifest["decided"]:
        lines.append(
            f"{counted(manifest['decided'], 'decision')} made earlier count: their judges keep these"
            " documents"
        )
    return lines


def _clear_words(cleared: Cleared, workloads: Workloads, *, dry_run: bool) -> list[str]:
    lines = _cleared_lines(cleared, dry_run=dry_run)
    if not lines:
        lines = ["nothing undecided was assigned"]
    places = sum(line.places for line in workloads.lines) + workloads.outside
    if places:
        lines.append(
            f"{counted(places, 'assignment')} in all; judges see these documents and no others until more"
            " are assigned"
        )
    else:
        lines.append("nothing is assigned any more: every judge sees the whole pool")
    return lines


def _rest_words(workloads: Workloads) -> list[str]:
    lines = []
    if workloads.lines and workloads.unassigned:
        lines.append(
            f"{workloads.unassigned:,} of {counted(workloads.pooled, 'pooled document')}"
            " unassigned: pooler assign --add assigns them"
        )
    if workloads.lines and workloads.drawn:
        lines.append(f"{counted(workloads.drawn, 'document')} that adaptive pools drew cannot be assigned")
    if workloads.outside:
        lines.append(
            f"{counted(workloads.outside, 'assignment')} of documents no longer in any pool: not counted"
            " here, and shown to no judge"
        )
    return lines


def _cleared_lines(cleared: Cleared, *, dry_run: bool) -> list[str]:
    if not cleared.removed and not cleared.kept:
        return []
    claimed = f" ({cleared.claimed:,} of them claimed right now)" if cleared.claimed else ""
    kept = counted(cleared.kept, "assignment")
    return [
        f"{_verb(dry_run=dry_run)}taken back: {counted(cleared.removed, 'assignment')} without"
        f" a decision{claimed}; {kept} with a decision stay"
    ]


def _verb(*, dry_run: bool) -> str:
    return "would be " if dry_run else ""


def _check_names(opened: Collection, scope: Scope) -> None:
    known = [pool.name for pool in opened.pools.all()]
    for name in scope.pools:
        if name not in known:
            raise UnknownNameError("pool", name, known)
    known = [one.topic for one in opened.topics.all()]
    for topic in scope.topics:
        if topic not in known:
            raise UnknownNameError("topic", topic, known)


def _check_pools(opened: Collection, scope: Scope) -> None:
    in_use = [pool for pool in opened.pools.all() if not pool.withdrawn]
    adaptive = [pool.name for pool in in_use if pool.budget is not None]
    has_fixed = len(adaptive) < len(in_use)
    for name in scope.pools:
        if name not in {pool.name for pool in in_use}:
            raise ArgumentError("pools", "must be in use, but this one is withdrawn", name)
    # Without --pool they are left out, unless there are no others.
    for name in (name for name in adaptive if name in scope.pools or not has_fixed):
        message = (
            f"pool `{name}` is adaptive: each of its documents is drawn when the one before is judged, so"
            " none can be assigned in advance"
        )
        hint = "every judge draws from it as long as nothing is assigned"
        if has_fixed:
            hint = "without --pool, all pools but adaptive ones are assigned"
        raise PoolerError(message, hint=hint)
    if not in_use:
        message = "there is no pool to assign documents of"
        raise PoolerError(message, hint="pooler pool --depth 10 --name NAME makes one from the runs")


def _people(opened: Collection, names: Sequence[str]) -> list[str]:
    """Return the judges who are named, models too, or all who are people and not disabled."""
    known = {judge.name: judge for judge in opened.judges.all()}
    for name in names:
        if name not in known:
            hint = "pooler show judges shows them; pooler judges add makes a new one"
            raise UnknownNameError("judge", name, known, hint=hint)
        judge = known[name]
        if judge.kind.value not in ("human", "model"):
            requirement = f"must be a person or a model, not of kind {judge.kind.value}"
            raise ArgumentError("judges", requirement, name)
        if judge.disabled:
            hint = f"pooler judges enable {name}"
            raise ArgumentError("judges", "must not be disabled", name, hint=hint)
    everybody = [judge.name for judge in known.values() if judge.kind.value == "human" and not judge.disabled]
    return list(dict.fromkeys(names)) or everybody


def _line_with_others(opened: Collection, judges: Sequence[str], scope: Scope) -> str:
    """Say which line gives documents that others have to judges who have none too; empty = none is due."""
    workloads = opened.assignments.workloads()
    able = {one.name for one in opened.judges.all() if not one.disabled}
    there = [line.judge for line in workloads.lines if line.judge in able]
    new = [name for name in dict.fromkeys(judges) if name not in there]
    if not new or not there or any(line.judge is None for line in workloads.lines):
        return ""
    n_documents = workloads.pooled - workloads.unassigned - workloads.drawn
    n_each = -(-sum(line.places for line in workloads.lines) // max(n_documents, 1))
    names = " ".join(map(quote, (*there, *new)))
    within = "".join(f" --pool {quote(one)}" for one in scope.pools)
    within += "".join(f" --topic {quote(one)}" for one in scope.topics)
    n_judges = min(n_each + len(new), len(there) + len(new))
    line = f"pooler assign {names}{within} --per-document {n_judges} --replace"
    return f"{line} gives each document {n_judges:,} judges; decisions stay"


def _planner(people: Sequence[str], scope: Scope, options: AssignmentOptions) -> Make:
    from pooler.assigning import plan_assignment

    def plan(documents: Sequence[Assignable]) -> AssignmentPlan:
        there = {one.topic for one in documents}
        for topic in scope.topics:
            if topic not in there:
                message = f"no pooled document of topic `{topic}` is to be judged"
                raise PoolerError(message)
        planned = plan_assignment(documents, people, options)
        wider = {"version": __version__, "pools": scope.pools, "topics": scope.topics}
        return replace(planned, manifest={**planned.manifest, **wider})

    return plan
