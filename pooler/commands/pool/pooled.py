"""A pool, and what there is to say of it; the runs of a collection pooled into it, or what that comes to."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pooler.commands.pool.change import change_words, cost_words, planned_words
from pooler.files import WritesFile
from pooler.messages import say, warn
from pooler.pools.change import ChangeCount, Pair, PoolChange, PooledWhen
from pooler.pools.contents import PoolStatistics, annotated_lines
from pooler.pools.live import idle_words, missing_words, start_strategy, way_out
from pooler.pools.plan import DEPTH, Plan, PoolBuild, TopicPool
from pooler.pools.runs import stored_runs
from pooler.reading.tops import TieAtCut
from pooler.result import Later, Message, Result, messages_of
from pooler.sources.meeting import check_runs
from pooler.sources.source import Source, opened_collection
from pooler.strategies import STRATEGIES, chooses_at_once, find_strategy
from pooler.strategies.kinds import AdaptiveStrategy
from pooler.tables import DOCNO, RUN, TOPIC, Column, Table, listed
from pooler.version import __version__
from store.errors import ArgumentError, PoolerError
from store.formats.pairs import Classes, read_classes
from store.records import Pool, PoolEntry, Workloads
from store.text import counted, natural_key

if TYPE_CHECKING:
    from store.collection import Collection
    from store.content.pools import StoredPool
    from store.judging.states import PairState
    from store.records import Order


BARE_SHOWN = 10
TOPICS_SHOWN = 12


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class PoolResult(WritesFile, Result):
    """A pool; tables: `sizes`, a row a topic; `runs`, a row a run; `ties`; `documents`."""

    build: PoolBuild = field(repr=False)
    chosen: Sequence[TopicPool] | None = field(default=None, repr=False)
    """``None`` = of a collection: its documents are chosen again where they are asked for."""
    change: PoolChange | None = None
    """Of a collection's pools."""
    is_nothing: bool = False
    """Whether every document is in a pool of the collection already."""
    is_new: bool = False
    """Whether the pool was not in the collection before."""
    former: str | None = None
    """The name that the replaced pool has now."""
    messages: Sequence[Message] = ()
    """What there is to say of it, in order."""

    IS_FILE = True

    def _tables(self) -> Iterator[Later]:
        yield Later(self._sizes)
        yield Later(self._runs)
        yield Later(self._ties)
        yield Later(self._documents, by_name=True)

    def closing(self) -> Sequence[Message]:
        """Return what a command says below it."""
        return self.messages

    @property
    def words(self) -> list[str]:
        """What there is to say that is no doubt."""
        return [words for kind, words in self.messages if kind == "say"]

    @property
    def statistics(self) -> PoolStatistics:
        """What it is made of."""
        return self.build.statistics

    @property
    def manifest(self) -> Mapping[str, Any]:
        """All that is needed to make the same pool again."""
        return self.build.manifest()

    @property
    def topics(self) -> Sequence[str]:
        """In natural order."""
        return [*self.statistics.sizes]

    @property
    def runs(self) -> Sequence[str]:
        """Tags of those that contribute."""
        return [*self.statistics.unique]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Documents to judge, shape (topics,)."""
        return np.array([*self.statistics.sizes.values()], np.int64)

    @property
    def unique(self) -> NDArray[np.int64]:
        """Documents of the pool that no other run has, shape (runs,)."""
        return np.array([*self.statistics.unique.values()], np.int64)

    @property
    def ties_at_cut(self) -> Sequence[TieAtCut]:
        """Rankings in which a tie rule decided what is in."""
        return self.statistics.ties_at_cut

    @property
    def pool(self) -> Pool:
        """The pool as a collection takes it: `collection.pools.add(found.pool)`."""
        if self.chosen is None:
            return self.build.again().whole()
        return self.build.pool(entry for topic in self.chosen for entry in topic.entries())

    def file_lines(self, *, annotated: bool = False) -> Iterator[str]:
        """Return the lines of a pool file, `topic docno`; with runs, ranks and scores if asked."""
        if annotated:
            if not self.settings["annotated"]:
                raise ArgumentError(
                    "annotated", "must be asked of `pool`, which reads scores then", annotated
                )
            return annotated_lines(self.build.runs, self.pool)
        if self.chosen is None:
            return self.build.again().lines()
        return (f"{topic.topic} {docno}" for topic in self.chosen for docno in topic.to_judge)

    def lines(self) -> Iterator[str] | None:
        """Return what goes to stdout: the lines of the file, unless they went into one, or a collection."""
        is_shown = self.settings["out"] == "-" or (self.chosen is not None and self.settings["out"] is None)
        return self.file_lines(annotated=self.settings["annotated"]) if is_shown else iter(())

    def _sizes(self) -> Table:
        columns = {TOPIC: self.topics, Column("documents", "int", about="to judge"): self.sizes}
        return Table.of_columns("sizes", columns, notes=size_words(self.statistics, self.manifest))

    def _runs(self) -> Table:
        unique = Column("unique", "int", about="documents that no other run has")
        return Table.of_columns("runs", {RUN: self.runs, unique: self.unique})

    def _ties(self) -> Table:
        columns = [
            Column("inside", "int", about="tied documents within the depth"),
            Column("outside", "int", about="those with the same score beyond it"),
        ]
        rows = [
            {"run": one.tag, "topic": one.topic, "inside": one.n_in, "outside": one.n_out}
            for one in self.ties_at_cut
        ]
        return Table.of_rows("ties", [RUN, TOPIC, *columns], rows)

    def _documents(self) -> Table:
        columns = [
            TOPIC,
            DOCNO,
            Column("priority", "float"),
            Column("sampled", "bool"),
            Column("stratum", "int", show="if_any"),
            Column("inclusion", "float", about="probability of being sampled", show="if_any"),
        ]
        entries = self.pool.entries
        return Table.of_records(
            "documents", columns, entries, inclusion=lambda one: one.inclusion_probability
        )


def size_words(facts: PoolStatistics, manifest: Mapping[str, Any]) -> list[str]:
    """Say how large a pool is, and how far runs overlap."""
    depth, strategy = manifest["parameters"]["depth"], manifest["strategy"]
    sizes = list(facts.sizes.values())
    n_runs = sum(run["contributes"] for run in manifest["runs"])
    least, most = min(sizes, default=0), max(sizes, default=0)
    spread = f", {least:,} to {most:,} per topic" if least < most else f", {most:,} per topic"
    by = "" if strategy == "depth" else f"{strategy}, "
    lines = [
        f"{counted(facts.total, 'pair')} to judge in {counted(len(sizes), 'topic')}{spread};"
        f" {by}depth {depth:,} of {counted(n_runs, 'run')}"
    ]
    if len(sizes) <= TOPICS_SHOWN:
        lines.append("  " + ", ".join(f"{topic}: {size:,}" for topic, size in facts.sizes.items()))
    alone = facts.overlap.get(1, 0)
    if facts.total:
        returned = sum(count * pairs for count, pairs in facts.overlap.items())
        lines.append(
            f"{alone:,} of them ({_percent(alone, facts.total)}) come from one run only; on average"
            f" {returned / facts.total:.1f} runs bring a document"
        )
    if "one_of" in manifest:
        left_out = counted(manifest["one_of"]["left_out"], "document")
        lines.append(f"{left_out} left out: near-duplicates of documents that are pooled")
    if facts.n_not_sampled:
        lines.append(
            f"{counted(facts.n_not_sampled, 'more pair')} in the strata, not sampled (in a collection,"
            " `pooler export prels` lists them)"
        )
    return lines


def bare_warnings(known: Set[str], pooled: Set[str], retrieved: Set[str]) -> list[str]:
    """Doubt topics that have no pooled document, and those that no contributing run retrieved any for."""
    bare = sorted(known - pooled, key=natural_key)
    if not bare:
        return []
    named = listed(bare, BARE_SHOWN)
    words = f"{len(bare):,} of {counted(len(known), 'topic')} without a pooled document: {named}"
    n_missed = len(set(bare) - retrieved)
    if n_missed:
        which = "" if n_missed == len(bare) else f" for {n_missed:,} of them"
        words += f"; no contributing run has a document{which}"
    return [words]


def _percent(part: int, whole: int) -> str:
    """Write a share in whole percent; 0% is none of it, and 100% all.

    >>> _percent(59_694, 59_846), _percent(1, 1_000), _percent(1, 4), _percent(7, 7)
    ('over 99%', 'under 1%', '25%', '100%')
    """
    if 0 < 200 * part <= whole:
        return "under 1%"
    if 0 < 200 * (whole - part) <= whole:
        return "over 99%"
    return f"{part / whole:.0%}"


def run_warnings(facts: PoolStatistics, manifest: Mapping[str, Any]) -> list[str]:
    """Doubt ties at the cut, short rankings, budgets that cannot be spent, constant scores."""
    depth = manifest["parameters"]["depth"]
    lines, ties, n_rankings, n_short = [], facts.ties_at_cut, facts.n_rankings, facts.n_short
    if ties:
        worst = max(ties, key=lambda tie: tie.n_in + tie.n_out)
        lines.append(
            f"{len(ties):,} of {n_rankings:,} rankings have ties across"
            f" depth {depth:,}, so the order decided; for example, {worst.n_in + worst.n_out:,} documents of"
            f" run {worst.tag} in topic {worst.topic}: {worst.n_in:,} in, {worst.n_out:,} out"
        )
    if n_short:
        lines.append(f"{n_short:,} of {n_rankings:,} rankings have fewer than {depth:,} documents")
    if facts.n_below_budget:
        lines.append(
            f"{counted(facts.n_below_budget, 'topic')} of {len(facts.sizes):,} have fewer documents"
            " than the budget: all are taken"
        )
    if facts.n_constant and "strategy_sha256" not in manifest:
        lines.append(
            f"{facts.n_constant:,} of {n_rankings:,} rankings have a single score, which counts as 0.5"
        )
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """The options as given; ``None`` = not given."""

    strategy: str | None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """As text or as values."""
    depth: int | None
    order: Order | None
    budget: int | None
    seed: int | None
    level: int | None
    name: str | None
    round: str | None
    one_of: bool = False
    """Whether classes of near-duplicates are given, which a manifest does not hold."""
    add: bool = False
    replace: bool = False
    annotated: bool = False
    out: str | None = None

    def plan(self, *, level: int | None = None) -> Plan:
        """Make the plan; what is not given takes its default, and `level` where it is needed."""
        strategy = find_strategy(self.strategy or "depth")
        is_adaptive = isinstance(strategy, AdaptiveStrategy)
        if self.level is not None and not is_adaptive:
            requirement = f"is for adaptive strategies, and `{strategy.name}` is not"
            raise ArgumentError("level", requirement, self.level)
        texts = {name: one for name, one in self.parameters.items() if isinstance(one, str)}
        values = {**self.parameters, **strategy.parse(texts)}
        return Plan(
            strategy=self.strategy or "depth",
            parameters=values,
            budget=self.budget,
            seed=self.seed,
            level=(self.level if self.level is not None else level) if is_adaptive else None,
            name=self.name or "pool",
            round=self.round or "0",
        )


def parse_parameters(option: str, given: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=VALUE`` texts, each name once.

    >>> parse_parameters("parameters", ["k=60"])
    {'k': '60'}
    """
    parameters: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ArgumentError(option, "must be NAME=VALUE", text)
        if name in parameters:
            raise ArgumentError(option, f"must give `{name}` once", text)
        parameters[name] = value
    return parameters


def options_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of `PoolOptions` as a pool's manifest says them."""
    own = {name: str(value) for name, value in manifest["parameters"].items() if name != "depth"}
    return {
        "strategy": manifest["strategy"],
        "parameters": own,
        "depth": manifest["parameters"]["depth"],
        "order": manifest["order"],
        "budget": manifest.get("budget"),
        "seed": manifest["seed"],
        "level": manifest.get("level"),
    }


def as_added_to(options: PoolOptions, pools: Sequence[StoredPool]) -> PoolOptions:
    """Fill in what is not given from the newest fixed pool, with the next name and round."""
    own = [pool for pool in pools if not pool.withdrawn and chooses_at_once(pool.manifest.get("strategy"))]
    if not own:
        message = (
            "--add needs a pool to add to, and the collection has none whose documents were chosen at once"
        )
        raise PoolerError(message, hint="pooler pool without --add makes the first")
    names = {pool.name for pool in pools}
    return replace(
        _filled(options, own[-1]),
        name=options.name or _next_name(own[-1].name, names),
        round=options.round or _next_round([pool.round for pool in pools]),
    )


def as_replaced(options: PoolOptions, pools: Sequence[StoredPool]) -> PoolOptions:
    """Fill in what is not given from the pool that has the name, its round too."""
    old = _named(options, pools)
    if old is None:
        return options
    strategy = old.manifest.get("strategy")
    if strategy in STRATEGIES or chooses_at_once(strategy):
        options = _filled(options, old)
    return replace(options, round=options.round or old.round)


def leaves_others_out(options: PoolOptions, pools: Sequence[StoredPool], *, has_minus: bool) -> bool:
    """Return whether what takes a pool's place leaves out other pools' documents, as that one did."""
    old = _named(options, pools)
    without = {} if old is None else old.manifest.get("without", {})
    if old is None or not without:
        return False
    left_out = "pools" in without
    if ("others" in without or not left_out) and not has_minus:
        what = "the pairs of a file, too" if left_out else "documents of other pools, or of a file"
        warn(f"pool `{old.name}` left out {what}; its replacement does not, unless --minus FILE says so")
    if left_out and not chooses_at_once(options.strategy or "depth"):
        warn(f"pool `{old.name}` left out documents of other pools; `{options.strategy}` cannot")
        return False
    return left_out


def _named(options: PoolOptions, pools: Sequence[StoredPool]) -> StoredPool | None:
    return next((pool for pool in pools if pool.name == (options.name or "pool")), None)


def _filled(options: PoolOptions, old: StoredPool) -> PoolOptions:
    if "one_of" in old.manifest and not options.one_of:
        has_one = f"pool `{old.name}` has one document of near-duplicates"
        warn(f"{has_one}; the new pool has all, unless --one-of CLASSES names them")
    before = options_of(old.manifest)
    if options.strategy not in (None, before["strategy"]):
        before["strategy"], before["parameters"] = options.strategy, {}
        before["level"] = None
    given = {name: getattr(options, name) for name in before}
    filled = {name: before[name] if value is None else value for name, value in given.items()}
    filled["parameters"] = {**before["parameters"], **options.parameters}
    return replace(options, **filled)


def _next_name(name: str, taken: Container[str]) -> str:
    stem = re.sub(r"-[0-9]+$", "", name)
    number = 2
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"


def _next_round(rounds: Sequence[str]) -> str:
    """Return the whole number after the highest round; rounds need not be numbers, though."""
    numbers = [float(label) for label in rounds if re.fullmatch(r"[0-9]+(\.[0-9]+)?", label)]
    if not numbers:
        hint = "--round LABEL names the new one"
        raise ArgumentError("round", "must be given, since no round is a number", None, hint=hint)
    return str(int(max(numbers)) + 1)


def pooled_into(
    source: Source, options: PoolOptions, minus: Set[Pair] | None, one_of: Classes | None, *, dry_run: bool
) -> PoolResult:
    """Pool the runs of a collection into it, or say what that would come to."""
    if source.option("runs"):
        requirement = "must be none: all runs of the collection that contribute are pooled"
        raise ArgumentError("runs", requirement, source.option("runs")[0])
    with opened_collection(source.collection) as opened:
        classes = None if one_of is None else read_classes(one_of, opened.documents.numbers())
        build, count = _build(opened, options, minus, classes)
        return (_planned if dry_run else _stored)(opened, build, count, options)


def _build(
    opened: Collection, options: PoolOptions, minus: Set[Pair] | None, classes: Mapping[str, str] | None
) -> tuple[PoolBuild, ChangeCount]:
    """Complete what was asked for, and load the runs."""
    stored = opened.pools.all()
    pair_states = opened.pool_changes.pair_states()
    leaves_out = options.add
    if options.add:
        options = as_added_to(options, stored)
    elif options.replace:
        options = as_replaced(options, stored)
        leaves_out = leaves_others_out(options, stored, has_minus=minus is not None)
    if options.level is not None:
        opened.scale.check_level(options.level)
    plan = options.plan(level=opened.scale.relaxed)
    known, known_from = minus, None
    if leaves_out:
        others = {one.name for one in stored if not one.withdrawn}
        if options.replace:
            others.discard(plan.name)
            say(f"documents of other pools are left out, as `{plan.name}` did")
        known, known_from = _pairs_of(pair_states, others, minus)
    runs = stored_runs(
        opened,
        depth=options.depth or DEPTH,
        order=options.order or "trec",
        scores=options.annotated or find_strategy(plan.strategy).uses_scores,
    )
    check_runs(runs, is_live=True)
    build = PoolBuild(runs, plan, version=__version__, known=known, known_from=known_from, classes=classes)
    if build.is_adaptive:
        _check_adaptive(build, options, has_classes=classes is not None, has_minus=minus is not None)
        for topic in runs.topics[:1]:
            start_strategy(build.manifest(), runs.of_topic(topic).rankings)
    return build, ChangeCount(pair_states, {plan.name: None} if options.replace else {})


def _stored(opened: Collection, build: PoolBuild, count: ChangeCount, options: PoolOptions) -> PoolResult:
    entries = _counted(build, count)
    plan, former = build.plan, None
    if options.add:  # what is new is little, and may be nothing
        listed = [entry for of_topic in entries for entry in of_topic]
        if not build.statistics.total:
            return PoolResult(build=build, is_nothing=True, messages=[_nothing_to_add(build)])
        new = opened.pools.add(build.pool(listed))
    elif options.replace:
        if _leaves_pools_out(build):
            entries = iter([*entries])
            _check_anything_left(build)
        replacement = opened.pools.replace(entries, build.pool)
        new, former = replacement.is_new, replacement.former
    else:
        new = opened.pools.add_by_topic(entries, build.pool)
    judged = opened.progress.count_judged(plan.name)
    without_text = opened.documents.count_without_text()
    change = count.finish()
    listed_topics = opened.topics.listed()
    n_unassigned = 0
    workloads = opened.assignments.workloads()
    if new and workloads.is_assigned:
        # What was assigned before it left the pools has its places still.
        if_pooled = opened.pool_changes.if_pooled(change.new)
        n_unassigned = sum(not one.has_place for one in if_pooled.documents)
    closing = [f"{judged:,} of the pairs are already judged, and stay so"] if judged else []
    if new:
        closing += change_words(change)
    where = "is in the collection" if new else "already there, unchanged"
    closing.append(f"pool `{plan.name}`, round {plan.round}, {where}")
    if former is not None:
        closing.append(f"the pool that was `{plan.name}` is withdrawn, and listed as `{former}`")
    if n_unassigned:
        new_documents = counted(len(change.new), "new document")
        closing.append(f"{n_unassigned:,} of {new_documents} not assigned yet: pooler assign --add")
    if missing := missing_words(without_text):
        closing.append(f"{missing}: pooler import docs FILE brings it")
    messages = [*_of_pool(build, workloads), *_bare(build, change, listed_topics), *messages_of(closing)]
    return PoolResult(build=build, change=change, is_new=new, former=former, messages=messages)


def _planned(opened: Collection, build: PoolBuild, count: ChangeCount, options: PoolOptions) -> PoolResult:
    for _ in _counted(build, count):
        pass
    if options.replace and _leaves_pools_out(build):
        _check_anything_left(build)
    is_nothing = options.add and not build.statistics.total
    opening = [_nothing_to_add(build)] if is_nothing else []
    plan, budgets = build.plan, build.pool().budgets
    is_there = not is_nothing and _is_there(opened, build, replace=options.replace)
    change = count.finish()
    drawable = 0 if is_there else sum(budgets.values())
    if build.is_adaptive or not is_nothing:
        opening += _of_pool(build, opened.assignments.workloads() if build.is_adaptive else None)
    if is_there:
        opening.append(("say", f"pool `{plan.name}` already exists unchanged: nothing would change"))
        change = ChangeCount(opened.pool_changes.pair_states()).finish()
    elif options.replace and plan.name in {pool.name for pool in opened.pools.all()}:
        withdrawn = "would be withdrawn, and listed under another name"
        opening.append(("say", f"the pool that is `{plan.name}` now {withdrawn}"))
    opening += _bare(build, change, opened.topics.listed())
    closing = []
    if not is_nothing:
        closing += planned_words(change, drawable=drawable)
        cost = cost_words(opened, change.new, drawable=drawable)
        closing.append(cost or "no further judgement is needed")
    if options.replace and change.leaving:
        closing.append(f"no longer needed: {cost_words(opened, change.leaving)}")
    closing.append(f"pool `{plan.name}`, round {plan.round}: nothing was written, this is --dry-run")
    return PoolResult(
        build=build,
        change=change,
        is_nothing=is_nothing,
        is_new=not is_there and not is_nothing,
        messages=opening[:1] if is_nothing else [*opening, *messages_of(closing)],
    )


def _of_pool(build: PoolBuild, workloads: Workloads | None) -> list[Message]:
    """Say what a pool is made of, or what an adaptive one draws from: nothing where anything is assigned."""
    facts, manifest = build.statistics, build.manifest()
    doubts = run_warnings(facts, manifest)
    if not build.is_adaptive or workloads is None:
        return messages_of(size_words(facts, manifest), doubts)
    budgets = build.pool().budgets
    verb = "could" if workloads.is_assigned else "will"
    words = (
        f"{manifest['strategy']} {verb} draw up to {counted(sum(budgets.values()), 'document')} in"
        f" {counted(len(budgets), 'topic')}, one by one as they are judged; a hit is grade"
        f" {manifest['level']} or more; depth {build.runs.depth:,} of"
        f" {counted(len(build.runs.feeding), 'run')}"
    )
    if workloads.is_assigned:
        doubts.append(f"{idle_words([manifest['name']])}; {way_out(workloads)}")
    return messages_of([words], doubts)


def _bare(build: PoolBuild, change: PoolChange, topics: Set[str]) -> list[Message]:
    pooled = {
        topic
        for topic, parts in change.by_topic.items()
        if parts[PooledWhen.NEW].documents or parts[PooledWhen.STAYING].documents
    }
    pooled |= {topic for topic, most in build.pool().budgets.items() if most}
    return messages_of(doubts=bare_warnings(topics, pooled, {*build.runs.topics}))


def _counted(build: PoolBuild, count: ChangeCount) -> Iterator[list[PoolEntry]]:
    for entries in build.entries():
        count.add((entry.topic, entry.docno) for entry in entries if entry.sampled)
        yield entries


def _pairs_of(
    pair_states: Mapping[Pair, PairState], pools: Set[str], minus: Set[Pair] | None
) -> tuple[set[Pair], dict[str, Any]]:
    pooled = {pair for pair, one in pair_states.items() if one.pools & pools}
    known = pooled | (minus or set())
    facts: dict[str, Any] = {"pools": sorted(pools)}
    if len(known) > len(pooled):
        facts["others"] = len(known) - len(pooled)
    return known, facts


def _leaves_pools_out(build: PoolBuild) -> bool:
    return "pools" in build.manifest().get("without", {})


def _check_anything_left(build: PoolBuild) -> None:
    if not build.statistics.total:
        name = build.plan.name
        message = f"nothing would be left of pool `{name}`: other pools have all of it"
        raise PoolerError(message, hint=f"pooler pool drop --pool {name} withdraws it")


def _is_there(opened: Collection, build: PoolBuild, *, replace: bool) -> bool:
    """Return whether this very pool is there; raise as the real run would when another has its name."""
    from store.content.pools import cannot_replace, is_same_plan, name_taken

    pool = build.pool()
    old = next((one for one in opened.pools.all() if one.name == pool.name), None)
    if old is None:
        return False
    if not old.withdrawn and old.round == pool.round and is_same_plan(old.manifest, pool.manifest):
        return True
    plans = old.manifest, pool.manifest
    if build.is_adaptive and old.budget is not None and not old.withdrawn:
        raise cannot_replace(pool.name, *plans)
    if not replace:
        raise name_taken(pool.name, *plans, withdrawn=old.withdrawn, adaptive=build.is_adaptive)
    return False


def _nothing_to_add(build: PoolBuild) -> Message:
    tags = [f"`{run.tag}`" for run in build.runs.runs if not run.contributes]
    left_out = f" (left out: {', '.join(tags[:10])}, not contributing)" if tags else ""
    near = ", or a near-duplicate of one that is" if "one_of" in build.manifest() else ""
    return "say", f"every document is in a pool already{near}: nothing to add{left_out}"


def _check_adaptive(build: PoolBuild, options: PoolOptions, *, has_classes: bool, has_minus: bool) -> None:
    name = build.plan.strategy
    if has_classes:
        raise ArgumentError("one_of", "is for strategies that choose all documents at once", name)
    if options.add or has_minus:
        option = "add" if options.add else "without"
        hint = "what a judge has already graded is drawn with its grade, and not shown again"
        raise ArgumentError(option, "is for strategies that choose all documents at once", name, hint=hint)
    if options.out is not None:
        hint = f"pooler export pool --name {build.plan.name} writes what was drawn"
        raise ArgumentError("out", "cannot write an adaptive pool", options.out, hint=hint)
