"""Pools of several copies, with their entries.

A pool is known by the moment it was made, else by its name: where a pool was replaced on one copy,
the old one has another name there. What was chosen never differs between copies; what an adaptive
pool has drawn may be more on one, and then that one's draws stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlmodel import Session

from store.db.raw import insert_one, insert_raw, raw_rows
from store.db.tables import POOL, POOL_ENTRY, POOL_RUN, POOL_TOPIC
from store.keeping.merge.copies import Copy, Here
from store.keeping.merge.tables import POOLS, Values

_FIELDS = ("position", "priority", "stratum", "inclusion_probability", "sampled")
_NAMES = [column.name for column in POOL_ENTRY.columns]
_read_pair = itemgetter(_NAMES.index("topic_id"), _NAMES.index("document_id"))
_read_entry = itemgetter(*map(_NAMES.index, _FIELDS))

Pair = tuple[int, int]
"""Row ids, here, of a topic and a document."""


Entry = tuple[Any, ...]
"""An entry of a pool as `_FIELDS`."""


@dataclass(frozen=True, slots=True)
class _PoolContent:
    """What a pool holds, by row ids here."""

    entries: dict[Pair, Entry]
    budgets: dict[int, int]


def unite_pools(here: Here, copy: Copy) -> None:
    """Take in the pools of a copy."""
    own, theirs = POOLS.fetch(here.session), POOLS.fetch(copy.session)
    by_moment = {row["created_at"]: row for row in own}
    by_name = {row["name"]: row for row in own}
    moments = {row["created_at"] for row in theirs}
    added = False
    # Those that are here first: one may give up a name that another one takes.
    for row in sorted(theirs, key=lambda row: row["created_at"] not in by_moment):
        mine = by_moment.get(row["created_at"])
        if mine is None and row["name"] in by_name and by_name[row["name"]]["created_at"] not in moments:
            mine = by_name[row["name"]]
        n_differences = len(here.differences)
        draws: dict[Pair, Entry] | None = None
        if mine is not None:
            draws = _fresh_draws(here, copy, mine, row)
        if len(here.differences) == n_differences:
            pool = POOLS.unite(here, copy, mine, row)
        if len(here.differences) > n_differences:
            continue
        if mine is None:
            _add_content(here, pool, _content(copy.session, row["id"], copy))
            added = True
        elif draws:
            _draw(here, pool, draws)
            copy.count.new["draws"] += len(draws)
        _add_runs(here, copy, pool, row["id"])
    if added and _put_in_order(here.session):
        here.pools.clear()


def _fresh_draws(here: Here, copy: Copy, mine: Values, row: Values) -> dict[Pair, Entry] | None:
    """Return what the copy has drawn further, if anything; note where pools hold other documents."""
    if mine["id"] not in here.pools:
        here.pools[mine["id"]] = _content(here.session, mine["id"])
    own: _PoolContent = here.pools[mine["id"]]
    other = _content(copy.session, row["id"], copy)
    draws = _longer_draws(own, other) if own.budgets and own.budgets == other.budgets else None
    if draws is None and own != other:
        what = "has other documents" if own.entries != other.entries else "may draw more or fewer"
        here.differs(copy, f"pool `{mine['name']}` {what} there")
    return draws


def _draw(here: Here, pool: int, draws: Mapping[Pair, Entry]) -> None:
    """Draw what another copy has drawn."""
    for (topic, document), entry in draws.items():
        own = (
            POOL_ENTRY.c.pool_id == pool,
            POOL_ENTRY.c.topic_id == topic,
            POOL_ENTRY.c.document_id == document,
        )
        here.session.execute(update(POOL_ENTRY).where(*own).values(sampled=True, position=entry[0]))
    del here.pools[pool]


def _longer_draws(own: _PoolContent, other: _PoolContent) -> dict[Pair, Entry] | None:
    """Return the draws that only the other copy has; ``None`` = not all of these fit together."""
    if own.entries.keys() != other.entries.keys():
        return None
    fixed = [{pair: entry[1:-1] for pair, entry in one.entries.items()} for one in (own, other)]
    if fixed[0] != fixed[1]:
        return None
    new: dict[Pair, Entry] = {}
    mine, theirs = _drawn(own), _drawn(other)
    for topic in mine.keys() | theirs.keys():
        here, there = mine.get(topic, []), theirs.get(topic, [])
        shorter = min(len(here), len(there))
        if here[:shorter] != there[:shorter]:
            return None
        new.update({(topic, document): other.entries[topic, document] for document in there[shorter:]})
    return new


def _drawn(content: _PoolContent) -> dict[int, list[int]]:
    """Return the documents that were drawn, in order, by topic."""
    drawn: dict[int, list[tuple[int, int]]] = {}
    for (topic, document), entry in content.entries.items():
        if entry[-1]:
            drawn.setdefault(topic, []).append((entry[0], document))
    return {topic: [document for _, document in sorted(some)] for topic, some in drawn.items()}


def _content(session: Session, pool: int, copy: Copy | None = None) -> _PoolContent:
    """Read what a pool holds; of a copy, by the row ids that its topics and documents have here."""
    rows = raw_rows(session, POOL_ENTRY, where=f"pool_id = {pool:d}")
    query = select(POOL_TOPIC.c.topic_id, POOL_TOPIC.c.budget).where(POOL_TOPIC.c.pool_id == pool)
    budgets: dict[int, int] = dict(map(tuple, session.execute(query)))
    if copy is None:
        return _PoolContent({_read_pair(row): _read_entry(row) for row in rows}, budgets)
    topics, documents = copy.topics, copy.documents
    entries = {}
    for row in rows:
        topic, document = _read_pair(row)
        entries[topics[topic], documents[document]] = _read_entry(row)
    return _PoolContent(entries, {topics[topic]: budget for topic, budget in budgets.items()})


def _add_content(here: Here, pool: int, content: _PoolContent) -> None:
    """Write what a new pool holds."""
    insert_raw(
        here.session, POOL_ENTRY, (_as_row(pool, pair, entry) for pair, entry in content.entries.items())
    )
    budgets = [{"pool_id": pool, "topic_id": topic, "budget": n} for topic, n in content.budgets.items()]
    if budgets:
        here.session.connection().execute(insert(POOL_TOPIC), budgets)


def _as_row(pool: int, pair: Pair, entry: Entry) -> list[Any]:
    """Lay an entry out as its table has it."""
    values = dict(zip(_FIELDS, entry, strict=True))
    values |= {"pool_id": pool, "topic_id": pair[0], "document_id": pair[1]}
    return [values.get(name) for name in _NAMES]


def _add_runs(here: Here, copy: Copy, own: int, theirs: int) -> None:
    """Note the runs that fed a pool on either copy."""
    known = set(here.session.scalars(select(POOL_RUN.c.run_id).where(POOL_RUN.c.pool_id == own)))
    runs = copy.session.scalars(select(POOL_RUN.c.run_id).where(POOL_RUN.c.pool_id == theirs))
    new = sorted({copy.runs[run] for run in runs} - known)
    if new:
        rows = [{"pool_id": own, "run_id": run} for run in new]
        here.session.connection().execute(insert(POOL_RUN), rows)


def _put_in_order(session: Session) -> bool:
    """Let row ids rise with the age of pools: the oldest one names a document's round.

    Returns whether any has another row id now.
    """
    rows = session.execute(select(POOL.c.id, POOL.c.created_at, POOL.c.name)).all()
    wanted = [row.id for row in sorted(rows, key=lambda row: (row.created_at, row.name))]
    by_id = sorted(wanted)
    place = next((place for place, one in enumerate(wanted) if one != by_id[place]), None)
    for pool in () if place is None else wanted[place:]:
        _put_last(session, pool)
    return place is not None


def _put_last(session: Session, pool: int) -> None:
    """Give a pool the next row id."""
    connection = session.connection()
    row = session.execute(select(POOL).where(POOL.c.id == pool)).one()
    values = {column.name: getattr(row, column.name) for column in POOL.c if column.name != "id"}
    own = POOL.c.id == pool
    connection.execute(update(POOL).where(own).values(name=f"{pool} {row.name}"))
    number = insert_one(session, POOL, values)
    for table in (POOL_ENTRY, POOL_RUN, POOL_TOPIC):
        moved = update(table).where(table.c.pool_id == pool).values(pool_id=number)
        connection.execute(moved)
    connection.execute(delete(POOL).where(own))
