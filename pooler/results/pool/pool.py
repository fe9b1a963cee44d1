"""Pool, compare_pools: result, tables, words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pooler.pools.change import Part
from pooler.results.look import idle_words, way_out
from pooler.results.printed import Cell, Column, Format, Table, without_empty
from pooler.telling import say, warn
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from pooler.pools.change import Pair, PoolChange, Share, StateCounts
    from pooler.pools.contents import PoolStatistics
    from pooler.pools.plan import OutOrder, Plan
    from store.collection import Collection
    from store.ranking import Order
    from store.records import Workloads

BARE_SHOWN = 10
"""Topics without a pooled document are named up to this many."""
TOPICS_SHOWN = 60
"""Pool sizes are listed topic by topic up to this many topics."""


def report(facts: PoolStatistics, manifest: dict[str, Any]) -> None:
    """Say how large a pool is, where ties were cut, and how far runs overlap."""
    depth, strategy = manifest["parameters"]["depth"], manifest["strategy"]
    sizes = list(facts.sizes.values())
    n_runs = sum(run["contributes"] for run in manifest["runs"])
    least, most = min(sizes, default=0), max(sizes, default=0)
    spread = f", {least:,} to {most:,} a topic" if least < most else f", {most:,} a topic"
    by = "" if strategy == "depth" else f"{strategy}, "
    say(f"{counted(facts.total, 'pair')} to judge in {counted(len(sizes), 'topic')}{spread};"
        f" {by}depth {depth} of {counted(n_runs, 'run')}")  # fmt: skip
    if len(sizes) <= TOPICS_SHOWN:
        say("  " + ", ".join(f"{topic}: {size:,}" for topic, size in facts.sizes.items()))
    alone = facts.overlap.get(1, 0)
    if facts.total:
        returned = sum(count * pairs for count, pairs in facts.overlap.items())
        say(f"{alone:,} of them ({_percent(alone, facts.total)}) come from one run only; on average"
            f" {returned / facts.total:.1f} runs bring a document")  # fmt: skip
    if facts.n_not_sampled:
        say(f"{counted(facts.n_not_sampled, 'pair')} more stand in the strata, not sampled (in a"
            " collection, `pooler export prels` lists them)")  # fmt: skip
    warn_of_runs(facts, manifest)


def warn_of_bare_topics(known: Set[str], pooled: Set[str], retrieved: Set[str]) -> None:
    """Warn of topics that have no pooled document, and of those that no run retrieved any for.

    Parameters
    ----------
    known : set of str
        Topics that a topics file named; empty = there is none, and nothing to warn of.
    pooled : set of str
        Topics with a document in any pool, or one that may be drawn.
    retrieved : set of str
        Topics of the runs that contribute.
    """
    from store.text import natural_key

    bare = sorted(known - pooled, key=natural_key)
    if not bare:
        return
    named = ", ".join(bare[:BARE_SHOWN])
    named += f" and {len(bare) - BARE_SHOWN:,} more" if len(bare) > BARE_SHOWN else ""
    words = f"{len(bare):,} of {counted(len(known), 'topic')} without a pooled document: {named}"
    n_missed = len(set(bare) - retrieved)
    if n_missed:
        which = "" if n_missed == len(bare) else f" for {n_missed:,} of them"
        words += f"; no contributing run has a document{which}"
    warn(words)


def _percent(part: int, whole: int) -> str:
    """Write a share in whole percent; 0% is none of it, and 100% all.

    Examples
    --------
    >>> _percent(59_694, 59_846), _percent(1, 1_000), _percent(1, 4), _percent(7, 7)
    ('over 99%', 'under 1%', '25%', '100%')
    """
    if part == 0 or part == whole:
        return f"{part / whole:.0%}"
    if 200 * part <= whole:
        return "under 1%"
    if 200 * (whole - part) <= whole:
        return "over 99%"
    return f"{part / whole:.0%}"


def report_adaptive(
    facts: PoolStatistics, manifest: dict[str, Any], budgets: dict[str, int], *, workloads: Workloads
) -> None:
    """Say what an adaptive pool will draw from; warn that nobody draws where anything is assigned.

    Parameters
    ----------
    facts : PoolStatistics
        Of the runs.
    manifest : dict
        The pool's.
    budgets : dict of str to int
        The most documents that may be drawn, by topic.
    workloads : Workloads
        What is assigned to judges.
    """
    depth, strategy = manifest["parameters"]["depth"], manifest["strategy"]
    n_runs = sum(run["contributes"] for run in manifest["runs"])
    verb = "could" if workloads.is_assigned else "will"
    say(f"{strategy} {verb} draw up to {counted(sum(budgets.values()), 'document')} in"
        f" {counted(len(budgets), 'topic')}, one by one as they are judged; a hit is grade"
        f" {manifest['level']} or more; depth {depth} of {counted(n_runs, 'run')}")  # fmt: skip
    warn_of_runs(facts, manifest, budgets)
    if workloads.is_assigned:
        warn(f"{idle_words([manifest['name']])}; {way_out(workloads)}")


def warn_of_runs(
    facts: PoolStatistics, manifest: dict[str, Any], budgets: dict[str, int] | None = None
) -> None:
    """Warn of ties at the cut, short rankings, budgets that cannot be spent, constant scores."""
    depth = manifest["parameters"]["depth"]
    if facts.ties_at_cut:
        worst = max(facts.ties_at_cut, key=lambda tie: tie.n_in + tie.n_out)
        warn(
            f"{len(facts.ties_at_cut):,} of {facts.n_rankings:,} rankings tie across depth"
            f" {depth}, so the order decided, as in: {worst.n_in + worst.n_out} documents of run"
            f" {worst.tag} in topic {worst.topic}: {worst.n_in} in, {worst.n_out} out"
        )
    if facts.n_short:
        warn(f"{facts.n_short:,} of {facts.n_rankings:,} rankings have fewer than {depth} documents")
    if facts.n_below_budget:
        warn(
            f"{counted(facts.n_below_budget, 'topic')} of {len(facts.sizes):,} have fewer documents"
            " than the budget: all are taken"
        )
    if manifest.get("total_budget", 0) > max(facts.total, sum((budgets or {}).values())):
        warn(f"there are fewer documents than the budget of {manifest['total_budget']:,}")
    if facts.n_constant:
        warn(
            f"{facts.n_constant:,} of {facts.n_rankings:,} rankings have one score throughout,"
            " which counts as 0.5"
        )


STATES = (Column("judged"), Column("cannot"), Column("skipped"), Column("unjudged"))
"""How documents stand with all judges together."""
DRAWABLE = "may be drawn"
"""What an adaptive pool adds while it is judged."""
_COST = (
    Column("judge"),
    Column("judgements"),
    Column("at_most", "at most"),
    Column("pace_s", "seconds each", digits=1),
    Column("hours", digits=1),
    Column("reason"),
)

_WORDS = {
    "no-judges": "there is no judge yet (pooler judges add NAME)",
    "plan-cannot-be-continued": "the new documents cannot be assigned as the others were, since"
    " judges are missing",
    "not-assigned": "documents are assigned, and those of an adaptive pool cannot be",
}
"""Reasons of `pooler.pools.change`, for people."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What documents cost, and why it is so much."""

    shares: list[Share]
    """Judge by judge."""
    plan: Mapping[str, Any] | None
    """How documents were assigned last; ``None`` = nothing is assigned."""


def change_tables(change: PoolChange, fmt: Format, *, drawable: int, by_topic: bool) -> list[Table]:
    """Make the table of what comes, goes and stays, in all and by topic.

    Parameters
    ----------
    change : PoolChange
        The change, counted.
    fmt : Format
        Programs get every row.
    drawable : int
        Documents that an adaptive pool may draw; 0 = there is none.
    by_topic : bool
        Whether the topics follow.
    """
    columns = (Column("what"), Column("documents"), *STATES)
    table = Table("change", columns)
    table.rows = [{"what": part.value, **state_cells(change.total(part))} for part in Part]
    if drawable:
        table.rows.insert(1, {"what": DRAWABLE, "documents": drawable})
    outside = {"outside before": change.outside_before, "outside after": change.outside_after}
    table.rows += [{"what": what, "documents": n, "judged": n} for what, n in outside.items()]
    table.caption = "new: in no pool now; leaving: left without a pool; outside: judged, but in no pool"
    if not by_topic:
        return [table]
    topics = Table("topics", (Column("topic"), *columns))
    for topic, parts in change.by_topic.items():
        for part, counts in parts.items():
            if counts.documents or fmt is not Format.TABLE:
                topics.rows.append({"topic": topic, "what": part.value, **state_cells(counts)})
    return [table, topics]


def state_cells(counts: StateCounts) -> dict[str, Cell]:
    """Return how many documents there are, and how they stand."""
    cells: dict[str, Cell] = {"documents": counts.documents}
    return cells | {column.name: getattr(counts, column.name) for column in STATES}


def fetch_cost(opened: Collection, pairs: Iterable[Pair], *, drawable: int) -> Cost:
    """Return what documents cost, be they new or about to leave, judge by judge."""
    from pooler.pools.change import judging_cost
    from store.analysis.pools.pace import RECENT_DECISIONS

    prospects = opened.pool_changes.prospects([*pairs])
    times = opened.progress.recent_times(limit=RECENT_DECISIONS)
    return Cost(judging_cost(prospects, times, drawable=drawable), prospects.plan)


def cost_table(cost: Cost, fmt: Format) -> Table:
    """Make the table of what new documents would cost."""
    shares = cost.shares
    table = Table("cost", _COST)
    for one in shares:
        hours = None if one.seconds is None else one.seconds / 3600
        table.rows.append({
            "judge": one.judge, "judgements": one.judgements, "at_most": one.is_at_most or None,
            "pace_s": one.pace, "hours": hours, "reason": one.reason,
        })  # fmt: skip
    table.caption = cost_words(cost) if shares else "no judgement more is asked for"
    if fmt is Format.TABLE and any(one.judgements is None for one in shares):
        table.rows = []
    if fmt is Format.TABLE:
        for row in table.rows:
            if row["judge"] is None and row["judgements"] is not None:
                table.rows[table.rows.index(row)] = {**row, "judge": "(whoever claims)"}
        table.columns = without_empty(table.columns, table.rows) or table.columns
    return table


def cost_words(cost: Cost) -> str:
    """Word what documents, of which there are some, cost in all, and how many judges each has.

    Examples
    --------
    >>> from pooler.pools.change import Share
    >>> shares = [Share("ann", 3, 60.0, 180.0), Share("ben", 2, 60.0, 120.0)]
    >>> cost_words(Cost(shares, None))
    '5 judgements: about 5 min; every judge is shown every document'
    >>> cost_words(Cost(shares, {"per_document": 1, "overlap": 0.25, "overlap_judges": 2}))
    '5 judgements: about 5 min; as assigned last: 1 judge a document, 2 for 25% of a topic'
    """
    from pooler.pools.change import total_seconds
    from store.analysis.pools.pace import duration_words

    shares = cost.shares
    numbers = [one.judgements for one in shares if one.judgements is not None]
    if len(numbers) < len(shares):
        return f"what it costs is not known: {_WORDS.get(shares[0].reason or '')}"
    seconds = total_seconds(shares)
    time = "how long is not known" if seconds is None else duration_words(seconds)
    at_most = "at most " if any(one.is_at_most for one in shares) else ""
    how = _sharing(cost)
    return f"{at_most}{counted(sum(numbers), 'judgement')}: {time}" + (f"; {how}" if how else "")


def _sharing(cost: Cost) -> str:
    """Say how many judges a document has; empty where there is but one judge."""
    plan = cost.plan
    if plan is None:
        return "every judge is shown every document" if len(cost.shares) > 1 else ""
    words = [f"{counted(plan.get('per_document', 1), 'judge')} a document"]
    if overlap := plan.get("overlap"):
        most = plan.get("overlap_judges") or plan.get("per_document", 1) + 1
        words.append(f"{most} for {100 * overlap:g}% of a topic")
    if calibration := plan.get("calibration"):
        words.append(f"all judges for {counted(calibration, 'document')} of a topic")
    return f"as assigned last: {', '.join(words)}"


def say_change(change: PoolChange) -> None:
    """Say in short what a change did, where it did anything."""
    new, leaving = change.total(Part.NEW), change.total(Part.LEAVING)
    staying = change.total(Part.STAYING)
    if staying.documents or leaving.documents:
        words = f"{counted(new.documents, 'document')} new to the pools"
        if new.judged:
            words += f", {new.judged:,} of them judged outside every pool until now"
        say(f"{words}; {staying.documents:,} stay")
    if leaving.documents:
        say(f"{counted(leaving.documents, 'document')} left without a pool: {in_words(leaving)}")
    if leaving.judged:
        say(f"what is judged stays judged; outside every pool are {change.outside_after:,} judged"
            f" documents now, {change.outside_before:,} before")  # fmt: skip


def in_words(counts: StateCounts) -> str:
    """Word how documents stand.

    Examples
    --------
    >>> from pooler.pools.change import StateCounts
    >>> in_words(StateCounts(judged=2, unjudged=3))
    '2 judged, 0 cannot be judged, 0 skipped, 3 unjudged'
    """
    return (
        f"{counts.judged:,} judged, {counts.cannot:,} cannot be judged, {counts.skipped:,} skipped,"
        f" {counts.unjudged:,} unjudged"
    )


DEPTH = 100
"""Ranks taken from each run, unless another number is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The options as given; ``None`` = not given."""

    strategy: str | None
    parameters: dict[str, str] = field(default_factory=dict)
    depth: int | None
    order: Order | None
    budget: int | None
    total_budget: int | None
    out_order: OutOrder | None
    seed: int | None
    level: int | None
    name: str | None
    round: str | None

    @property
    def pool_name(self) -> str:
        """The name of the pool."""
        return self.name or "pool"

    def plan(self, *, level: int | None = None) -> Plan:
        """Make the plan; what is not given takes its default, and `level` where it is needed.

        Raises
        ------
        UnknownNameError
            If there is no such strategy, or it has no such parameter.
        ArgumentError
            If a parameter's value cannot be read.
        """
        from pooler.pools.plan import Plan
        from pooler.strategies import find_strategy
        from pooler.strategies.kinds import AdaptiveStrategy

        strategy = find_strategy(self.strategy or "depth")
        is_adaptive = isinstance(strategy, AdaptiveStrategy)
        if self.level is not None and not is_adaptive:
            requirement = f"is for adaptive strategies, and `{strategy.name}` is not"
            raise ArgumentError("--level", requirement, self.level)
        values = strategy.parse(self.parameters)
        return Plan(
            strategy=strategy.name,
            parameters=values,
            budget=self.budget,
            total_budget=self.total_budget,
            out_order=self.out_order or "docno",
            seed=self.seed,
            level=(self.level if self.level is not None else level) if is_adaptive else None,
            name=self.pool_name,
            round=self.round or "0",
        )


def parse_parameters(given: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=VALUE`` texts.

    Raises
    ------
    ArgumentError
        If one has no ``=``, or a name comes twice.

    Examples
    --------
    >>> parse_parameters(["k=60"])
    {'k': '60'}
    """
    parameters: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ArgumentError("--param", "must be NAME=VALUE", text)
        if name in parameters:
            raise ArgumentError("--param", f"must give `{name}` once", text)
        parameters[name] = value
    return parameters


def as_wishes(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a pool's manifest says in the words of `Wishes`."""
    out_order = manifest.get("out_order")  # of an adaptive pool, `drawn`
    own = {name: str(value) for name, value in manifest["parameters"].items() if name != "depth"}
    return {
        "strategy": manifest["strategy"],
        "parameters": own,
        "depth": manifest["parameters"]["depth"],
        "order": manifest["order"],
        "budget": manifest.get("budget"),
        "total_budget": manifest.get("total_budget"),
        "out_order": out_order if out_order in ("priority", "random") else None,
        "seed": manifest["seed"],
        "level": manifest.get("level"),
    }
