"""`pooler pool diff`: two pools compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import emit
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.results.printed import Cell, Column, Format, Table, without_empty
from pooler.telling import say, warn
from store.errors import ArgumentError, PoolerError, StoreError, UnknownNameError
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pooler.pools.change import Pair, PoolDiff
    from pooler.pools.runs import RunSet
    from store.collection import Collection
    from store.content.pools import StoredPool
    from store.looking.pool_change import PairStanding

NO_COLLECTION = "no-collection"
"""Why it is not known how documents stand."""

_POOL_HELP = "A pool of the collection, or a pool file (`topic docno`); ./NAME is always a file."
_STATES = (
    Column("judged"),
    Column("cannot"),
    Column("skipped"),
    Column("unjudged"),
    Column("outside"),
    Column("not_pooled"),
)


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help=_POOL_HELP)],
    second: Annotated[str, typer.Argument(metavar="B", help=_POOL_HELP)],
    by_topic: Annotated[bool, typer.Option("--by-topic", "-q", help="Topic by topic, too.")] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="One row a document that only one of them has.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Compare two pools: what only A has, only B has, and both; how it stands; who brought it.

    The states are those of the whole collection, with all judges together: a document of these
    pools may be pooled by another one too. Outside: judged, but in no pool that is in use; not
    pooled: in none, and graded by nobody. Where B is a pool of the collection that runs fed, it is
    told which runs brought what it has more, within its depth. Files need no collection.

    Example: pooler pool diff pool pool-2

    Example: pooler pool diff ./pool.txt ./deeper.txt --list
    """
    from pooler.pools.change import Side, pool_diff

    if first == second == "-":
        raise ArgumentError("B", "must not be `-` too: stdin can be read once", None)
    opened = _open(collection, (first, second))
    try:
        stored = {pool.name: pool for pool in opened.pools.all()} if opened else {}
        sides = [_Side(word, opened, stored) for word in (first, second)]
        found = pool_diff(sides[0].pairs, sides[1].pairs)
        standings = None if opened is None else opened.pool_changes.standings()
        brought: dict[Pair, list[tuple[int, str]]] = {}
        runs = _runs_of(opened, sides[1]) if found.pairs[Side.ONLY_B] else None
        if runs is not None:
            from pooler.pools.change import brought_by

            brought = brought_by(runs, found.pairs[Side.ONLY_B])
    finally:
        if opened is not None:
            opened.close()
    tables = [_summary(found, standings, f"A = {sides[0].words}, B = {sides[1].words}")]
    if by_topic:
        tables.append(_topics(found, standings, fmt))
    if runs is not None:
        tables.append(_bringers(brought, len(found.pairs[Side.ONLY_B])))
    if list_:
        tables.append(_listed(found, standings, brought))
    if fmt is Format.TABLE:
        for table in tables:
            table.columns = without_empty(table.columns, table.rows) or table.columns
    emit(tables, fmt)
    if standings is None:
        say("without a collection it is not known how the documents stand (--collection names one)")


class _Side:
    """One of the two pools, read."""

    def __init__(self, word: str, opened: Collection | None, stored: Mapping[str, StoredPool]) -> None:
        from store.formats.pairs import read_pairs

        self.pool: StoredPool | None = None
        if _is_file(word, stored):
            self.words = f"file {word}"
            self.pairs = read_pairs(word)
        elif opened is not None and word in stored:
            self.pool = stored[word]
            self.words = f"pool `{word}`" + (", withdrawn" if self.pool.withdrawn else "")
            entries = opened.pools.get(word).entries
            self.pairs = {(one.topic, one.docno) for one in entries if one.sampled}
        else:
            hint = "there is no such file, either"
            raise UnknownNameError("pool", word, stored, hint=hint)


def _is_path(word: str) -> bool:
    """Say whether a word can only be a file."""
    return word == "-" or "/" in word or "\\" in word


def _is_file(word: str, stored: Mapping[str, Any]) -> bool:
    """Say whether a word names a file; refuse what could be either."""
    if _is_path(word):
        return True
    is_file = Path(word).is_file()
    if is_file and word in stored:
        message = f"`{word}` is a pool of the collection, and a file here"
        raise PoolerError(message, hint=f"./{word} is the file; in another folder it is the pool")
    return is_file


def _open(collection: str, words: Sequence[str]) -> Collection | None:
    """Open the collection; ``None`` = there is none, and none is needed."""
    files = [word for word in words if _is_path(word) or Path(word).is_file()]
    if "://" not in collection and not Path(collection).exists() and files:
        if len(files) == len(words):
            return None
        (other,) = set(words) - set(files)
        message = f"{other}: there is no such file, and no {collection} whose pool it could be"
        raise StoreError(message, hint="name two files; or a collection, by --collection")
    from store.collection import Collection

    return Collection(collection)


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
    from pooler.pools.runs import stored_runs
    from store.ranking import check_order

    order = check_order(manifest.get("order", "trec"))
    return stored_runs(opened, depth=depth, order=order, tags=same)


def _cells(pairs: Sequence[Pair], standings: Mapping[Pair, PairStanding] | None) -> dict[str, Cell]:
    """Return how many documents there are, and how they stand."""
    from pooler.pools.change import count_places

    if standings is None:
        return {"documents": len(pairs), "reason": NO_COLLECTION}
    counts = count_places(pairs, standings)
    return {"documents": len(pairs), **{place.value: n for place, n in counts.items()}}


def _summary(found: PoolDiff, standings: Mapping[Pair, PairStanding] | None, title: str) -> Table:
    """Make the table of counts."""
    columns = (Column("what"), Column("documents"), *_STATES, Column("reason"))
    table = Table("summary", columns, title=title)
    for side, pairs in found.pairs.items():
        table.rows.append({"what": side.value, **_cells(pairs, standings)})
    return table


def _topics(found: PoolDiff, standings: Mapping[Pair, PairStanding] | None, fmt: Format) -> Table:
    """Make the table of topics; for people of those that differ."""
    from pooler.pools.change import Side

    columns = (Column("topic"), Column("what"), Column("documents"), *_STATES, Column("reason"))
    table = Table("topics", columns)
    by_topic, n_differing = found.by_topic(), 0
    for topic, sides in by_topic.items():
        differs = bool(sides[Side.ONLY_A] or sides[Side.ONLY_B])
        n_differing += differs
        for side, pairs in sides.items():
            if fmt is not Format.TABLE or (differs and pairs):
                cells = _cells(pairs, standings)
                table.rows.append({"topic": topic, "what": side.value, **cells})
    table.caption = f"{counted(n_differing, 'topic')} of {len(by_topic):,} differ"
    return table


def _bringers(brought: Mapping[Pair, list[tuple[int, str]]], n_new: int) -> Table:
    """Make the table of the runs that brought what only B has."""
    from pooler.pools.change import count_bringers

    table = Table("runs", (Column("run"), Column("documents"), Column("alone")))
    table.rows = [
        {"run": one.tag, "documents": one.documents, "alone": one.alone} for one in count_bringers(brought)
    ]
    table.caption = f"runs that brought what only B has; no run brought {n_new - len(brought):,} of {n_new:,}"
    return table


def _listed(
    found: PoolDiff,
    standings: Mapping[Pair, PairStanding] | None,
    brought: Mapping[Pair, list[tuple[int, str]]],
) -> Table:
    """Make the list of documents that only one of the pools has."""
    from pooler.pools.change import Side, place_of

    columns = (Column("topic"), Column("docno"), Column("what"), Column("state"), Column("grade"),
               Column("rank", "best rank"), Column("runs"))  # fmt: skip
    table = Table("documents", columns)
    for side in (Side.ONLY_A, Side.ONLY_B):
        for pair in found.pairs[side]:
            row: dict[str, Cell] = {"topic": pair[0], "docno": pair[1], "what": side.value}
            if standings is not None:
                known = standings.get(pair)
                row["state"] = place_of(known).value.replace("_", " ")
                row["grade"] = None if known is None else known.grade
            bringers = brought.get(pair, []) if side is Side.ONLY_B else []
            row["rank"] = bringers[0][0] if bringers else None
            row["runs"] = " ".join(tag for _, tag in bringers) or None
            table.rows.append(row)
    return table
