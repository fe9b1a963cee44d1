"""A pool put in the place of another: the old one is withdrawn, and keeps all but its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Any

from sqlalchemy import Row, exists, select, update
from sqlmodel import Session

from store.keys import Keys
from store.models import POOL, POOL_TOPIC
from store.pool_manifests import as_json, cannot_replace
from store.pools import add_pool_by_topic, insert_pool, is_same_pool
from store.records import Pool, PoolEntry


@dataclass(frozen=True, slots=True)
class Replacement:
    """What became of a name."""

    is_new: bool
    """False = the same pool was there already, and nothing was changed."""
    former: str | None
    """What the pool that had the name is called now; ``None`` = there was none."""


def replace_pool(
    session: Session,
    topics: Keys,
    documents: Keys,
    batches: Iterable[Sequence[PoolEntry]],
    finish: Callable[[], Pool],
) -> Replacement:
    """Add a pool; another one of its name is withdrawn in the same transaction.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    topics, documents : Keys
        Fresh.
    batches, finish
        As of `store.pools.add_pool_by_topic`.

    Returns
    -------
    Replacement
        Whether anything was changed, and the new name of the pool that was replaced.

    Raises
    ------
    ConflictError
        If both pools are adaptive: judges at work on the old one would draw from the new one.

    Notes
    -----
    The pool that was replaced keeps its entries, runs, round and date, so `list pools` shows it
    as withdrawn, and the documents that only it had are in no pool any more. It is called
    ``NAME.replaced-N``, N counting from 1; its manifest says so, under ``name``
    and ``replaced``. Judgements stay, and keep the round they were made in.
    """
    name = finish().name
    old = session.execute(select(POOL).where(POOL.c.name == name)).first()
    if old is None:
        add_pool_by_topic(session, topics, documents, batches, finish)
        return Replacement(is_new=True, former=None)
    entries = [entry for batch in batches for entry in batch]
    pool = with_changes(finish(), entries=entries)
    if is_same_pool(session, topics, documents, old, pool):
        return Replacement(is_new=False, former=None)
    if pool.budgets and not old.withdrawn and _is_adaptive(session, old):
        raise cannot_replace(name)
    former = _step_aside(session, old)
    insert_pool(session, topics, documents, [entries], lambda: pool)
    return Replacement(is_new=True, former=former)


def former_name(name: str, taken: Iterable[str]) -> str:
    """Return what a pool is called once another one has its name.

    Parameters
    ----------
    name : str
        Its name.
    taken : iterable of str
        Names of all pools.

    Examples
    --------
    >>> former_name("main", ["main", "main.replaced-1"])
    'main.replaced-2'
    """
    known = set(taken)
    number = 1
    while f"{name}.replaced-{number}" in known:
        number += 1
    return f"{name}.replaced-{number}"


def _step_aside(session: Session, old: Row[Any]) -> str:
    """Withdraw a pool and give it another name, which is returned."""
    former = former_name(old.name, session.scalars(select(POOL.c.name)))
    manifest = {**json.loads(old.manifest), "name": former, "replaced": True}
    values = {"name": former, "withdrawn": True, "manifest": as_json(manifest)}
    session.execute(update(POOL).where(POOL.c.id == old.id).values(values))
    return former


def _is_adaptive(session: Session, pool: Row[Any]) -> bool:
    """Say whether a pool draws its documents while they are judged."""
    query = select(exists().where(POOL_TOPIC.c.pool_id == pool.id))
    return bool(session.scalar(query))
