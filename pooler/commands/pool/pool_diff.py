"""What only one of two pools has, how it stands, and who brought it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pooler.command import Option, OptionalPlace, command
from pooler.commands.pool.change import STATES, filled_columns, pairs_to_judge
from pooler.messages import say, warn
from pooler.pools.change import Pair, PoolDiff, PoolSide, by_topic, count_bringers, count_places, place_of
from pooler.pools.change import pool_diff as compare
from pooler.pools.contents import brought_by
from pooler.pools.runs import RunSet, stored_runs
from pooler.result import Later, Result, frozen_settings
from pooler.sources.source import opened_collection
from pooler.tables import DOCNO, DOCUMENTS, GRADE, RUN, TOPIC, Column, Table
from store.errors import ArgumentError, PoolerError, StoreError, UnknownNameError
from store.formats.pairs import read_pairs
from store.ranking import check_order
from store.records import Pool
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.content.pools import StoredPool
    from store.judging.states import PairState

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
