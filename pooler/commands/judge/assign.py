"""Who judges which documents; the workload of each judge."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from pooler.assigning import AssignmentOptions, By, plan_assignment
from pooler.command import Option, Stored, command
from pooler.messages import warn
from pooler.pools.live import drawable, idle_words, way_out
from pooler.result import Later, Message, Result, frozen_settings, messages_of
from pooler.sources.stored import topic_judges_of
from pooler.tables import DOCNO, DOCUMENTS, JUDGE, TOPIC, Column, Table, listed
from pooler.version import __version__
from store.errors import ArgumentError, ConflictError, PoolerError, UnknownNameError
from store.formats.pairs import TopicJudges
from store.records import Assignable, AssignmentPlan, Cleared, DisplayOrder, Existing, Scope, Workloads
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.judging.assignments import Make

LEASE_MINUTES = 120
"""How long a claimed document waits for a decision, unless another time is given."""


@command
def assign(
    collection: Stored,
    judges: Annotated[
        Sequence[str], Option("JUDGE...", default="every person who is not disabled; models by name")
    ] = (),
    *,
    by: Annotated[By | None, Option("--by", default="document")] = None,
    per_document: Annotated[int | None, Option("--per-document -k", least=1, default="1")] = None,
    overlap: Annotated[float | None, Option("--overlap SHARE", least=0, most=1, default="0")] = None,
    overlap_judges: Annotated[
        int | None, Option("--overlap-judges", least=2, default="one more than the others")
    ] = None,
    calibration: Annotated[int | None, Option("--calibration", least=0, default="0")] = None,
    order: Annotated[DisplayOrder | None, Option("--order", default="docno")] = None,
    seed: Annotated[int | None, Option("--seed", least=0, default="drawn, and printed")] = None,
    claim: bool = False,
    lease: Annotated[int | None, Option("--lease MINUTES", least=1, default=str(LEASE_MINUTES))] = None,
    pools: Annotated[Sequence[str], Option("--pool NAME", default="all but adaptive ones")] = (),
    topics: Annotated[Sequence[str], Option("--topic TOPIC", default="all")] = (),
    topic_judges: Annotated[
        TopicJudges | None, Option("--topic-judges FILE", read=lambda _name, file: file)
    ] = None,
    add: bool = False,
    replace: bool = False,
    clear: bool = False,
    dry_run: bool = False,
) -> AssignmentResult:
    """Assign pooled documents to judges, or list who has what.

    Without judges and options it shows how much each judge has, and with --table places who has what.
    As long as nothing is assigned, every judge sees the whole pool; from the first assignment on, each sees
    only what is assigned to them, and never why. A document gets exactly as many judges as asked for; where
    a decision stands, its judge keeps the document. Adaptive pools are left out, and cannot be drawn from
    while anything is assigned.

    Example: pooler assign --per-document 2 --calibration 1 --order random

    Example: pooler assign --topic-judges authors.tsv --overlap .25

    judges : Who gets documents.
    by : document: judges are chosen for each document, keeping even both workloads and the numbers of
        documents that pairs of judges share; topic: all documents of a topic go to the same judges.
    per_document : How many judges each document gets.
    overlap : Share of each topic that gets extra judges.
    overlap_judges : How many judges the documents of --overlap get.
    calibration : Documents of each topic that go to every judge, unmarked among the rest.
    order : The order in which a judge sees documents: docno; random, different for every judge; priority,
        as the pooling strategy ranked them.
    seed : Seed of everything random.
    claim : Name no judges: judges claim documents as they work.
    lease : How long a claimed document waits for a decision before others may claim it.
    pools : Only this pool; may be repeated.
    topics : Only this topic; may be repeated.
    topic_judges : Who is primary for each topic, and gets all of it: lines `topic judge`, with a tab between.
    add : Assign only documents without a judge; topics keep the judges that --topic-judges gave them.
    replace : Reassign undecided documents; decided ones stay and count.
    clear : Take back every undecided assignment; assign nothing.
    dry_run : Show what the result would be; change nothing.

    Raises
    ------
    UnknownNameError
        If a judge, a pool or a topic is not there.
    FormatError
        With every fault of the file of topics' judges.
    ArgumentError
        If a judge cannot judge, or a number cannot be used.
    PoolerError
        If there is nothing that can be assigned, or documents are assigned already.
    """
    if add + replace + clear > 1:
        asked = {"clear": clear, "add": add, "replace": replace}
        first, second = [name for name, is_so in asked.items() if is_so][:2]
        raise ArgumentError(first, f"and --{second} exclude each other", None)
    if lease is not None and not claim:
        raise ArgumentError("lease", "needs --claim: what is assigned by name never lapses", None)
    if claim and judges:
        raise ArgumentError("judges", "must not be given with --claim, where anybody may claim", judges[0])
    scope, settings = Scope(tuple(pools), tuple(topics)), dict[str, Any]()
    chosen = {by, per_document, overlap, overlap_judges, calibration, order, seed} - {None}
    is_asked = bool(chosen) or topic_judges is not None
    if clear:
        _check_names(collection, scope)
        cleared, workloads = collection.assignments.clear(scope, dry_run=dry_run)
        words = _clear_words(cleared, workloads, dry_run=dry_run)
    elif not any((judges, pools, topics, claim, add, replace, dry_run, is_asked)):
        workloads, words = collection.assignments.workloads(), []
    else:
        options = AssignmentOptions(
            seed=secrets.randbits(31) if seed is None else seed,
            by=by or "document",
            per_document=per_document or 1,
            overlap=overlap or 0.0,
            overlap_judges=overlap_judges,
            calibration=calibration or 0,
            order=order or "docno",
            existing=Existing("add" if add else "replace" if replace else "refuse"),
            primary=_primary(collection, topic_judges, goes_on=add and not claim),
            lease_s=60 * (LEASE_MINUTES if lease is None else lease) if claim else None,
        )
        names = ("seed", "by", "per_document", "overlap", "calibration", "order")
        settings = {name: getattr(options, name) for name in names}
        workloads, words = _assigned(collection, judges, scope, options, dry_run=dry_run)
    idle = drawable(collection.pools.all()) if workloads.is_assigned else []
    return AssignmentResult(
        workloads=workloads,
        places=() if dry_run else collection.assignments.places(),
        words=[*words, *_rest_words(workloads)],
        warnings=(f"{idle_words(idle)}; {way_out(workloads)}",) if idle else (),
        settings=frozen_settings(**settings),
    )


def _assigned(
    opened: Collection, judges: Sequence[str], scope: Scope, options: AssignmentOptions, *, dry_run: bool
) -> tuple[Workloads, list[str]]:
    _check_names(opened, scope)
    _check_pools(opened, scope)
    people = _people(opened, judges)
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
    words = _plan_words(plan, cleared, dry_run=dry_run)
    sizes, has_judge = plan.manifest["sizes"], dict(options.primary)
    if has_judge and (others := [topic for topic in sizes if topic not in has_judge]):
        of_all = f"{len(others):,} of {counted(len(sizes), 'topic')}"
        warn(f"{of_all} without a judge of their own, whose documents go to anybody: {listed(others)}")
    if not plan.places and (way_in := _line_with_others(opened, judges, scope)):
        return workloads, [*words, way_in]
    return workloads, words


def _primary(opened: Collection, given: TopicJudges | None, *, goes_on: bool) -> tuple[tuple[str, str], ...]:
    if given is not None:
        return tuple(sorted(topic_judges_of(opened, given).items()))
    return tuple(sorted(opened.assignments.topic_judges().items())) if goes_on else ()


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AssignmentResult(Result):
    """The workload of each judge.

    Tables: `workload`, a row each, places open to claim last; `places`, a row for each judge of a document.
    """

    workloads: Workloads = field(default_factory=Workloads)
    places: Sequence[Any] = ()
    """Who has what; none of a dry run."""
    words: Sequence[str] = ()

    def closing(self) -> Sequence[Message]:
        """Return what was done, and what there is to doubt."""
        return messages_of(self.words, self.warnings)

    @classmethod
    def blank(cls) -> AssignmentResult:
        """Return one without rows."""
        return cls()

    def _tables(self) -> Iterator[Later]:
        yield Later(self._workload)
        yield Later(self._places, by_name=True)

    def _places(self) -> Table:
        columns = [JUDGE, TOPIC, DOCNO, Column("purpose"), Column("decided", "bool")]
        return Table.of_records("places", columns, self.places)

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


def _plan_words(plan: AssignmentPlan, cleared: Cleared, *, dry_run: bool) -> list[str]:
    lines = _cleared_lines(cleared, dry_run=dry_run)
    manifest = plan.manifest
    n_documents = sum(manifest["sizes"].values())
    if not plan.places:
        named = [f"{noun}s" for noun in ("pool", "topic") if manifest.get(f"{noun}s")]
        of_named = f" of the {' and '.join(named)} named" if named else ""
        why = "every document has its judges" if n_documents else f"no document{of_named} is unassigned"
        return [*lines, f"nothing to assign: {why}"]
    documents, topics = counted(n_documents, "document"), counted(len(manifest["sizes"]), "topic")
    n_judges = len({place.judge for place in plan.places})
    to_whom = f"for {counted(n_judges, 'judge')}" if plan.lease_s is None else "to be claimed"
    what = f"{documents} of {topics}, {counted(len(plan.places), 'assignment')} {to_whom}"
    lines.append(f"{'would be ' * dry_run}assigned: {what}; seed {manifest['seed']}")
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
    lines = _cleared_lines(cleared, dry_run=dry_run) or ["nothing undecided was assigned"]
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
        f"{'would be ' * dry_run}taken back: {counted(cleared.removed, 'assignment')} without"
        f" a decision{claimed}; {kept} with a decision stay"
    ]


def _check_names(opened: Collection, scope: Scope) -> None:
    pools, topics = ([one.name for one in opened.pools.all()], [one.topic for one in opened.topics.all()])
    for noun, names, known in (("pool", scope.pools, pools), ("topic", scope.topics, topics)):
        for name in names:
            if name not in known:
                raise UnknownNameError(noun, name, known)


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
            raise UnknownNameError("judge", name, known, hint=f"pooler judges add {quote(name)}")
        judge = known[name]
        if judge.kind.value not in ("human", "model"):
            requirement = f"must be a person or a model, not of kind {judge.kind.value}"
            raise ArgumentError("judges", requirement, name)
        if judge.disabled:
            raise ArgumentError("judges", "must not be disabled", name, hint=f"pooler judges enable {name}")
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
    def plan(documents: Sequence[Assignable]) -> AssignmentPlan:
        there = {one.topic for one in documents}
        for topic in scope.topics:
            if topic not in there:
                raise PoolerError(f"no pooled document of topic `{topic}` is to be judged")
        planned = plan_assignment(documents, people, options)
        wider = {"version": __version__, "pools": scope.pools, "topics": scope.topics}
        return replace(planned, manifest={**planned.manifest, **wider})

    return plan
