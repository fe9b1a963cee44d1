"""Changes of pools: two compared; a run taken out, or a pool withdrawn; what judging a change costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pooler.command import Option, OptionalPlace, Stored, command
from pooler.messages import say, warn
from pooler.pools.change import (
    ChangeCount,
    JudgeShare,
    Pair,
    PoolChange,
    PoolDiff,
    PooledWhen,
    PoolSide,
    StatesInPool,
    by_topic,
    count_bringers,
    count_places,
    judging_cost,
    place_of,
    total_seconds,
)
from pooler.pools.change import pool_diff as compare
from pooler.pools.contents import brought_alone, brought_by
from pooler.pools.runs import RunSet, stored_runs
from pooler.result import Later, Message, Result, frozen_settings, said
from pooler.sources.source import opened_collection
from pooler.strategies import chooses_at_once
from pooler.tables import DOCNO, DOCUMENTS, GRADE, RUN, TOPIC, Column, Table
from store.analysis.pools.pace import RECENT_DECISIONS, duration_words
from store.errors import ArgumentError, PoolerError, StoreError, UnknownNameError
from store.formats.pairs import read_pairs
from store.ranking import check_order
from store.records import Pool
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.content.pools import StoredPool
    from store.judging.states import PairState
    from store.records import StoredRun

STATES = tuple(Column(name, "int") for name in ("judged", "cannot", "skipped", "unjudged"))

_WORDS = {
    "no-judges": "no person judges yet (pooler judges add NAME)",
    "plan-cannot-be-continued": "the new documents cannot be assigned like the others, since judges are"
    " missing",
    "not-assigned": "documents are assigned, but those of an adaptive pool cannot be",
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What documents cost, and why it is so much."""

    shares: list[JudgeShare]
    plan: Mapping[str, Any] | None
    """How documents were assigned last; ``None`` = nothing is assigned."""


def pairs_to_judge(pool: Pool) -> set[Pair]:
    """Return topic and docno of what a pool has to judge."""
    return {(one.topic, one.docno) for one in pool.entries if one.sampled}


def filled_columns(table: Table) -> list[str]:
    """Return the columns that say something in at least one row; 0 does, all without a row."""
    filled = [name for name in table.data if any(cell not in (None, "", []) for cell in table.cells(name))]
    return filled or [*table.data]


def fetch_cost(opened: Collection, pairs: Iterable[Pair], *, drawable: int) -> Cost:
    """Return what documents cost, be they new or about to leave, judge by judge."""
    if_pooled = opened.pool_changes.if_pooled([*pairs])
    times = opened.progress.recent_times(limit=RECENT_DECISIONS)
    return Cost(judging_cost(if_pooled, times, drawable=drawable), if_pooled.plan)


def cost_words(cost: Cost) -> str:
    """Word what documents, of which there are some, cost in all, and how many judges each has.

    >>> from pooler.pools.change import JudgeShare
    >>> shares = [JudgeShare("ann", 3, 60.0, 180.0), JudgeShare("ben", 2, 60.0, 120.0)]
    >>> cost_words(Cost(shares, None))
    '5 judgements: about 5 min; every judge sees every document'
    >>> cost_words(Cost(shares, {"per_document": 1, "overlap": 0.25, "overlap_judges": 2}))
    '5 judgements: about 5 min; as last assigned: 1 judge per document, 2 for 25% of each topic'
    """
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
        return "every judge sees every document" if len(cost.shares) > 1 else ""
    words = [f"{counted(plan.get('per_document', 1), 'judge')} per document"]
    if overlap := plan.get("overlap"):
        most = plan.get("overlap_judges") or plan.get("per_document", 1) + 1
        words.append(f"{most} for {100 * overlap:g}% of each topic")
    if calibration := plan.get("calibration"):
        words.append(f"all judges for {counted(calibration, 'document')} of each topic")
    return f"as last assigned: {', '.join(words)}"


def change_words(change: PoolChange) -> list[str]:
    """Say in short what a change did, where it did anything."""
    new, leaving = change.total(PooledWhen.NEW), change.total(PooledWhen.LEAVING)
    staying = change.total(PooledWhen.STAYING)
    lines = []
    if staying.documents or leaving.documents:
        words = f"{counted(new.documents, 'document')} new to the pools"
        if new.judged:
            words += f", {new.judged:,} of them so far judged outside every pool"
        lines.append(f"{words}; {staying.documents:,} stay")
    if leaving.documents:
        lines.append(f"{counted(leaving.documents, 'document')} left without a pool: {in_words(leaving)}")
    if leaving.judged:
        lines.append(
            f"judgements stay; judged documents outside every pool: {change.outside_after:,} now,"
            f" {change.outside_before:,} before"
        )
    return lines


def planned_words(change: PoolChange, *, drawable: int = 0) -> list[str]:
    """Say in four lines what a change would come to; `drawable` documents may be drawn while it is judged."""
    lines = []
    for part in PooledWhen:
        counts = change.total(part)
        words = f"{part.value}: {counted(counts.documents, 'document')}"
        lines.append(f"{words}: {in_words(counts)}" if counts.documents else words)
    if drawable:
        lines[0] += f"; {drawable:,} may be drawn"
    lines.append(
        f"judged outside every pool: {change.outside_before:,} before, {change.outside_after:,} after"
    )
    return lines


def in_words(counts: StatesInPool) -> str:
    """Word how documents stand.

    >>> from pooler.pools.change import StatesInPool
    >>> in_words(StatesInPool(judged=2, unjudged=3))
    '2 judged, 0 cannot be judged, 0 skipped, 3 unjudged'
    """
    return (
        f"{counts.judged:,} judged, {counts.cannot:,} cannot be judged, {counts.skipped:,} skipped,"
        f" {counts.unjudged:,} unjudged"
    )


Named: TypeAlias = str | Path | Pool | Set[Pair]
NO_COLLECTION = "no-collection"
_COLUMNS = (
    Column("what"),
    DOCUMENTS,
    *STATES,
    Column("outside", "int", about="judged, but in no pool that is in use"),
    Column("not_pooled", "int", about="in none, without a grade"),
    Column("reason"),
)
_POOL = "A pool of the collection, or a pool file (`topic docno`); ./NAME is always a file."


@command
def pool_diff(
    a: Annotated[Named, Option("A", _POOL, read=lambda _name, text: text)],
    b: Annotated[Named, Option("B", _POOL, read=lambda _name, text: text)],
    *,
    collection: OptionalPlace = None,
) -> PoolDifference:
    """Compare two pools: what only A has, only B has, and both; how it stands; who brought it.

    States are those of the whole collection, with all judges together; a document may also be in
    another pool. Outside: judged, but in no pool in use. Not pooled: in no pool, without a grade.
    Where B is a pool of the collection that runs fed, the runs that brought its additional documents
    are named, up to its depth. Files need no collection. Tables: summary, runs, topics, documents.

    Example: pooler pool diff pool sample

    Example: pooler pool diff ./pool.txt ./deeper.txt --table documents

    Raises
    ------
    UnknownNameError
        If a name is that of no pool, and of no file.
    PoolerError
        If it is that of both.
    StoreError
        If a pool is named, and there is no collection.

    Notes
    -----
    In Python a pool in memory may be given, or a set of topic and docno; without `collection` there is none.

    Examples
    --------
    >>> from pooler import pool_diff
    >>> found = pool_diff({("1", "x"), ("1", "y")}, {("1", "y"), ("2", "z")})
    >>> found.only_a, found.only_b, found.both
    ([('1', 'x')], [('2', 'z')], [('1', 'y')])
    """
    if a == b == "-":
        raise ArgumentError("b", "must not be `-` too: stdin can be read once", None)
    with _opened(collection, (a, b)) as opened:
        stored = {pool.name: pool for pool in opened.pools.all()} if opened else {}
        sides = [_side(one, opened, stored) for one in (a, b)]
        found = compare(sides[0].pairs, sides[1].pairs)
        pair_states = None if opened is None else opened.pool_changes.pair_states()
        only_b = found[PoolSide.ONLY_B]
        runs = _runs_of(opened, sides[1]) if only_b else None
        brought = None if runs is None else brought_by(runs, only_b)
        if pair_states is None:
            say("without a collection, the state of the documents is not known (--collection names one)")
    named: dict[str, Any] = {"a": a, "b": b, "collection": collection if opened else None}
    return PoolDifference(
        found=found,
        pair_states=pair_states,
        brought=brought,
        title=f"A = {sides[0].words}, B = {sides[1].words}",
        settings=frozen_settings(
            **{name: str(one) if isinstance(one, str | Path) else None for name, one in named.items()}
        ),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class PoolDifference(Result):
    """Two pools compared.

    Tables: `summary`, a row a side; `topics`, a row a topic and side; `runs`, what they brought of
    what B alone has, where that is known; `documents`, those that one alone has.
    """

    found: PoolDiff = field(repr=False)
    pair_states: Mapping[Pair, PairState] | None = field(repr=False)
    """How documents stand in the collection; ``None`` = there is none."""
    brought: Mapping[Pair, list[tuple[int, str]]] | None = field(repr=False)
    """Of what B alone has the rank and tag of every run that has it; ``None`` = not known."""
    title: str = ""

    HAS_TOPICS = True

    def _tables(self) -> Iterator[Later]:
        yield Later(self._summary)
        if self.brought is not None:
            yield Later(self._runs)
        yield Later(self._topics)
        yield Later(self._documents)

    def shown(self) -> tuple[str, ...]:
        """Return the names of the tables that a command shows by default."""
        return self.names()[: 1 if self.brought is None else 2]

    @property
    def only_a(self) -> list[Pair]:
        """Topic and docno of what A alone has, topics in natural order."""
        return self.found[PoolSide.ONLY_A]

    @property
    def only_b(self) -> list[Pair]:
        """What B alone has."""
        return self.found[PoolSide.ONLY_B]

    @property
    def both(self) -> list[Pair]:
        """What both have."""
        return self.found[PoolSide.BOTH]

    def _summary(self) -> Table:
        sides = ({"what": side.value, **self._cells(pairs)} for side, pairs in self.found.items())
        return _filled(Table.of_rows("summary", _COLUMNS, sides, title=self.title))

    def _topics(self) -> Table:
        topics = by_topic(self.found)
        rows = [
            {"topic": topic, "what": side.value, **self._cells(pairs)}
            for topic, of_topic in topics.items()
            for side, pairs in of_topic.items()
        ]
        differing = {topic for topic, one in topics.items() if one[PoolSide.ONLY_A] or one[PoolSide.ONLY_B]}
        notes = [f"{counted(len(differing), 'topic')} of {len(topics):,} differ."]
        table = Table.of_rows("topics", [TOPIC, *_COLUMNS], rows, notes=notes)
        shown = [at for at, row in enumerate(rows) if row["documents"] and row["topic"] in differing]
        return table.seen_as(columns=filled_columns(table), rows=shown)

    def _cells(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        if self.pair_states is None:
            return {"documents": len(pairs), "reason": NO_COLLECTION}
        counts = count_places(pairs, self.pair_states)
        return {"documents": len(pairs), **{place.value: n for place, n in counts.items()}}

    def _runs(self) -> Table:
        assert self.brought is not None
        columns = [
            RUN,
            Column("documents", "int", about="those it has among what only B has"),
            Column("alone", "int", about="those that no other run has"),
        ]
        notes = []
        if n_unbrought := len(self.only_b) - len(self.brought):
            were = "was" if n_unbrought == 1 else "were"
            notes = [f"Of what only B has, {n_unbrought:,} of {len(self.only_b):,} {were} brought by no run."]
        bringers = count_bringers(self.brought)
        return _filled(Table.of_records("runs", columns, bringers, notes=notes, run=lambda one: one.tag))

    def _documents(self) -> Table:
        columns = [
            TOPIC,
            DOCNO,
            Column("what"),
            Column("state"),
            GRADE,
            Column("rank", "int", "best rank"),
            Column("runs", "texts"),
        ]
        rows: list[dict[str, Any]] = []
        for side in (PoolSide.ONLY_A, PoolSide.ONLY_B):
            for pair in self.found[side]:
                bringers = (self.brought or {}).get(pair, []) if side is PoolSide.ONLY_B else []
                row = {
                    "topic": pair[0],
                    "docno": pair[1],
                    "what": side.value,
                    "rank": bringers[0][0] if bringers else None,
                    "runs": [tag for _, tag in bringers],
                }
                if self.pair_states is not None:
                    known = self.pair_states.get(pair)
                    row["state"] = place_of(known).value.replace("_", " ")
                    row["grade"] = None if known is None else known.grade
                rows.append(row)
        return _filled(Table.of_rows("documents", columns, rows))


def _filled(table: Table) -> Table:
    return table.seen_as(columns=filled_columns(table))


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two pools, read."""

    words: str
    pairs: Set[Pair]
    pool: StoredPool | None = None


def _side(named: Named, opened: Collection | None, stored: Mapping[str, StoredPool]) -> _Side:
    if isinstance(named, Pool):
        return _Side(f"pool `{named.name}`", pairs_to_judge(named))
    if isinstance(named, Set):
        return _Side("pairs", named)
    word = str(named)
    if isinstance(named, Path) or _is_file(word, stored):
        return _Side(f"file {word}", read_pairs(word))
    if opened is None or word not in stored:
        raise UnknownNameError("pool", word, stored, hint="there is no such file, either")
    pool = stored[word]
    words = f"pool `{word}`" + (", withdrawn" if pool.withdrawn else "")
    return _Side(words, pairs_to_judge(opened.pools.get(word)), pool)


def _is_path(word: str) -> bool:
    return word == "-" or "/" in word or "\\" in word


def _is_file(word: str, stored: Mapping[str, Any]) -> bool:
    """Return whether a word names a file; refuse what could be either."""
    if _is_path(word):
        return True
    is_file = Path(word).is_file()
    if is_file and word in stored:
        message = f"`{word}` is a pool of the collection, and a file here"
        raise PoolerError(message, hint=f"./{word} is the file; in another folder it is the pool")
    return is_file


@contextmanager
def _opened(
    collection: str | Path | Collection | None, named: Sequence[Named]
) -> Iterator[Collection | None]:
    words = [one for one in named if isinstance(one, str)]
    others = [word for word in words if not _is_path(word) and not Path(word).is_file()]
    is_place = isinstance(collection, str | Path)
    is_there = not is_place or "://" in str(collection) or Path(str(collection)).exists()
    if collection is None or (not is_there and len(others) < len(named)):
        if others:
            where = "collection" if collection is None else collection
            message = f"{others[0]}: there is no such file, and no {where} whose pool it could be"
            raise StoreError(message, hint="name two files, or with --collection the collection of the pools")
        yield None
        return
    with opened_collection(collection) as opened:
        yield opened


def _runs_of(opened: Collection | None, side: _Side) -> RunSet | None:
    """Return the runs that fed a pool, as deep as it looked into them; ``None`` = not known."""
    if opened is None or side.pool is None:
        return None
    manifest = side.pool.manifest
    fed = {run["tag"]: run["sha256"] for run in manifest.get("runs", ()) if run["contributes"]}
    now = {run.tag: run.sha256 for run in opened.runs.all()}
    same = sorted(tag for tag, sha256 in fed.items() if now.get(tag) == sha256)
    if gone := sorted(fed.keys() - set(same)):
        names = ", ".join(f"`{tag}`" for tag in gone[:10])
        warn(f"what {names} brought is not known: replaced since, or not in the collection")
    depth = manifest.get("parameters", {}).get("depth")
    if not same or not isinstance(depth, int):
        return None
    order = check_order(manifest.get("order", "trec"))
    return stored_runs(opened, depth=depth, order=order, tags=same)


@command
def pool_drop(
    collection: Stored,
    run: Annotated[str | None, Option("RUN")] = None,
    *,
    pool: Annotated[str | None, Option("--pool NAME", default="all")] = None,
    dry_run: bool = False,
) -> Unpooled:
    """Take a run out of the pools it fed, or withdraw a pool.

    Documents that only this run brought leave the pools. Their judgements stay and count as outside
    every pool; the same goes for the documents of a withdrawn pool. The run contributes to no later
    pool. Adaptive pools and samples keep their documents, because their choice depends on every run.

    Example: pooler pool drop bm25-words --dry-run

    Example: pooler pool drop --pool pool --dry-run

    run : Tag of a run; without it, the whole pool is withdrawn (--pool).
    pool : Only from this pool.
    dry_run : Show what would leave the pools; change nothing.

    Raises
    ------
    ArgumentError
        If neither a run nor a pool is named, or a named pool keeps its documents.
    UnknownNameError
        If there is no such run, or no such pool in use.
    PoolerError
        If the run does not feed the pool, or feeds none and is to feed none.
    """
    if run is None:
        return _withdrawn(collection, pool, dry_run=dry_run)
    return _without_run(collection, run, pool, dry_run=dry_run)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Unpooled(Result):
    """What leaves the pools; table: `alone`, of a run a row a document and pool."""

    alone: Sequence[Mapping[str, Any]] = ()
    """Of a run: documents that it alone had brought, by pool."""
    change: PoolChange
    words: Sequence[str] = ()

    def closing(self) -> Sequence[Message]:
        """Return what left, or would leave."""
        return said(self.words)

    @classmethod
    def blank(cls) -> Unpooled:
        """Return one without rows."""
        return cls(change=PoolChange({}, 0, 0))

    def lines(self) -> Iterator[str] | None:
        """Return no line of a pool that was withdrawn as a whole."""
        return iter(()) if self.settings["run"] is None else None

    def _tables(self) -> Iterator[Table]:
        columns = [
            Column("pool"),
            TOPIC,
            DOCNO,
            Column("rank", "int"),
            Column("state"),
            GRADE,
            Column("other_pool", "texts"),
        ]
        yield Table.of_rows("alone", columns, self.alone)


def _without_run(opened: Collection, run: str, pool: str | None, *, dry_run: bool) -> Unpooled:
    (known,) = opened.runs.all([run])
    pair_states = opened.pool_changes.pair_states()
    rows: list[dict[str, Any]] = []
    fed = _fed_pools([one for one in opened.pools.all() if not one.withdrawn], known, pool)
    reasons = [(one, _kept_whole(opened, one)) for one in fed]
    for one, reason in reasons:
        if reason is None:
            continue
        if pool is not None and not dry_run:
            raise ArgumentError("pool", f"must be another: {reason}", pool)
        warn(f"pool `{one.name}` keeps its documents: {reason}")
        fed.remove(one)
    alone: dict[str, set[tuple[str, str]]] = {}
    for one in fed:
        runs = stored_runs(
            opened,
            depth=one.manifest["parameters"]["depth"],
            order=one.manifest["order"],
            tags=[fact["tag"] for fact in one.manifest["runs"] if fact["contributes"]],
        )
        brought = brought_alone(runs, run, pairs_to_judge(opened.pools.get(one.name)))
        alone[one.name] = {(topic, docno) for topic, docno, _ in brought}
        for topic, docno, rank in brought:
            stands = pair_states[topic, docno]
            row = {"pool": one.name, "topic": topic, "docno": docno, "rank": rank, "grade": stands.grade}
            others = sorted(stands.pools - {one.name})
            rows.append(row | {"state": stands.state.value, "other_pool": others})
    change = ChangeCount(pair_states, alone).finish()
    cost = fetch_cost(opened, change.leaving, drawable=0) if dry_run else None
    if not dry_run:
        opened.pools.remove_run(run, alone)
    words = [f"run `{run}` has fed no pool yet"]
    if fed or reasons:
        words = _words(run, rows, dry_run=dry_run)
    verb = "would contribute" if dry_run else "contributes"
    words.append(f"`{run}` {verb} to no later pool")
    return Unpooled(alone=rows, change=change, words=[*words, *_words_of_rest(change, cost)])


def _withdrawn(opened: Collection, name: str | None, *, dry_run: bool) -> Unpooled:
    if name is None:
        raise ArgumentError("run", "must be given, or --pool NAME to withdraw a pool", None)
    n_pairs = len(pairs_to_judge(opened.pools.get(name)))
    n_judged = opened.progress.count_judged(name)
    change = ChangeCount(opened.pool_changes.pair_states(), {name: None}).finish()
    stored = next(one for one in opened.pools.all() if one.name == name)
    was_withdrawn = stored.withdrawn
    undrawn = 0 if was_withdrawn or stored.budget is None else stored.budget - stored.pairs
    cost = fetch_cost(opened, change.leaving, drawable=undrawn) if dry_run else None
    if not dry_run:
        opened.pools.withdraw(name)
    verb = "was already" if was_withdrawn else "would be" if dry_run else "is"
    words = (
        f"pool `{name}` {verb} withdrawn: {counted(n_pairs, 'document')}, of which {n_judged:,} are judged"
        " and stay so"
    )
    return Unpooled(change=change, words=[words, *_words_of_rest(change, cost)])


def _words(run: str, rows: Sequence[Mapping[str, Any]], *, dry_run: bool) -> list[str]:
    judged = sum(row["state"] == "judged" for row in rows)
    kept = sum(bool(row["other_pool"]) for row in rows)
    verb = "would leave" if dry_run else "left"
    lines = [
        f"{counted(len(rows), 'document')} that only `{run}` brought {verb} the pools; {judged:,} of them"
        " are judged and stay so"
    ]
    return [*lines, f"{kept:,} of them stay in another pool"] if kept else lines


def _words_of_rest(change: PoolChange, cost: Cost | None) -> list[str]:
    """Say how what is left without a pool stands; `cost` is that of a dry run."""
    if cost is not None:
        less = [f"no longer needed: {cost_words(cost)}"] if cost.shares else []
        return [*planned_words(change), *less, "nothing was changed: this is --dry-run"]
    leaving = change.total(PooledWhen.LEAVING)
    if not leaving.documents:
        return []
    return [f"{counted(leaving.documents, 'document')} left without a pool: {in_words(leaving)}"]


def _fed_pools(pools: list[StoredPool], run: StoredRun, name: str | None) -> list[StoredPool]:
    """Return the pools in use that a run feeds; none where it may only feed later ones."""
    if name is not None and name not in {pool.name for pool in pools}:
        raise UnknownNameError("pool", name, (pool.name for pool in pools))

    def feeds(pool: StoredPool) -> bool:
        return any(fact["tag"] == run.tag and fact["contributes"] for fact in pool.manifest.get("runs", []))

    fed = [pool for pool in pools if name in (None, pool.name) and feeds(pool)]
    if not fed and (name is not None or not run.contributes):
        where = "any pool, nor will it" if name is None else f"pool `{name}`"
        message = f"run `{run.tag}` does not feed {where}"
        if any(map(feeds, pools)):
            hint = f"pooler show runs {run.tag} names the pools it feeds"
        elif run.contributes:
            hint = "it feeds no pool yet"
        else:
            hint = (
                "there is nothing to take out: it was added with --late, or taken out before; pooler show"
                f" runs {run.tag} says what it brings"
            )
        raise PoolerError(message, hint=hint)
    return fed


def _kept_whole(opened: Collection, pool: StoredPool) -> str | None:
    """Say why no run can be taken out of a pool; ``None`` when one can."""
    name = pool.manifest["strategy"]
    if not chooses_at_once(name):  # `next` and `imported` are none
        return f"what `{name}` chose depends on every run"
    hashes = {run.tag: run.sha256 for run in opened.runs.all()}
    for run in pool.manifest["runs"]:
        if run["contributes"] and hashes.get(run["tag"]) != run["sha256"]:
            return f"its run `{run['tag']}` has been replaced since"
    return None
