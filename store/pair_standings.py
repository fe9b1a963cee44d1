"""How every document of a topic stands: in which pools it is, and what judges made of it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session

from store.keys import Keys
from store.models import POOL
from store.records import State
from store.standing import RANKS, Found, looked_at, pooled

NOWHERE: frozenset[str] = frozenset()
"""The pools of a document that is in none."""


@dataclass(frozen=True, slots=True)
class PairStanding:
    """One document of a topic."""

    pools: frozenset[str]
    """Names of the pools not withdrawn where it is to be judged; empty = it is not pooled."""
    state: State
    """With all judges together, as `store.standing` says; of what is not pooled, too."""
    grade: int | None = None
    """The highest that anybody gave; ``None`` = nobody gave one."""


def fetch_pair_standings(
    session: Session, topics: Keys, documents: Keys
) -> dict[tuple[str, str], PairStanding]:
    """Return how every pair of topic and docno stands, pooled or not.

    Parameters
    ----------
    session : Session
        Any session.
    topics, documents : Keys
        Fresh.

    Returns
    -------
    dict of (str, str) to PairStanding
        In no order. Pairs that are not here are not pooled, and nobody graded them, skipped them or
        found them impossible to judge.

    Notes
    -----
    About 0.3 kB and 4 microseconds a pair.
    """
    names = {row.id: row.name for row in session.execute(select(POOL.c.id, POOL.c.name))}
    pools: dict[tuple[int, int], frozenset[str]] = {}
    # Of few pools there are few combinations: each is made once.
    joined: dict[tuple[frozenset[str], int], frozenset[str]] = {}
    for topic, document, pool in session.execute(pooled(Found())):
        key = (pools.get((topic, document), NOWHERE), pool)
        if key not in joined:
            joined[key] = key[0] | {names[pool]}
        pools[topic, document] = joined[key]
    state_of = {rank: state for state, rank in RANKS.items()}
    seen = {
        (topic, document): (state_of[rank], grade)
        for topic, document, rank, grade in session.execute(looked_at(Found()))
        if rank != RANKS[State.UNJUDGED]
    }
    nobody = (State.UNJUDGED, None)
    return {
        (topics.names[pair[0]], documents.names[pair[1]]): PairStanding(
            pools.get(pair, NOWHERE), *seen.get(pair, nobody)
        )
        for pair in pools.keys() | seen.keys()
    }
