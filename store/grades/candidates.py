"""What bounds of recall are made of: by topic the documents a random sample is of, with their grades."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, select
from sqlmodel import Session

from store.analysis.pools.stopping import Candidates
from store.content.lookup import topic_id
from store.db.keys import Keys
from store.db.tables import JUDGE, JUDGEMENT, POOL
from store.judging.event_arrays import (
    LOW,
    PAIR,
    are_in,
    as_pairs,
    codes_of,
    fetch_integers,
    newest_events,
    pairs_of,
)
from store.judging.kinds import Voters
from store.records import State
from store.text import natural_key

_LISTED = f"""
SELECT pool_id, {PAIR}, COALESCE(stratum, -1), position, CASE WHEN sampled THEN 1 ELSE 0 END
  FROM pool_entry JOIN pool ON pool.id = pool_entry.pool_id WHERE NOT pool.withdrawn"""
_SHUFFLED = f"""
SELECT (CAST(judge_id AS BIGINT) << 32) | COALESCE(plan_id, 0), {PAIR}, position
  FROM assignment WHERE judge_id IS NOT NULL AND display_order = 'random'"""


@dataclass(frozen=True, slots=True, eq=False)
class TopicCandidates:
    """A topic that pools in use have documents of, and the sample that speaks for it."""

    topic: str
    n_relevant: int
    """Its documents graded relevant, in whatever pool."""
    graded: NDArray[np.int64]
    """Row ids of its documents with a grade, ascending."""
    pool: str | None = None
    """The sample: of several the oldest, since each that is drawn because another one disappointed would be
    one more chance to be wrong. ``None`` = there is none."""
    depth: int | None = None
    """How many documents of each run that pool listed; ``None`` = not known."""
    candidates: Candidates | None = None


def fetch_candidates(
    session: Session, topics: Keys, voters: Voters, level: int, *, topic: str | None = None
) -> list[TopicCandidates]:
    """Return what bounds of recall are made of, topics in natural order, or one.

    A document is relevant where one of the judges who count grades it at the level or above; rulings are
    not asked for.
    """
    number = None if topic is None else topic_id(session, topic)
    here = "" if number is None else f" AND topic_id = {number:d}"
    connection = session.connection()
    listed = fetch_integers(connection, _LISTED + here, 5)
    known = session.execute(select(JUDGE.c.id).where(JUDGE.c.name.in_(voters.voting)))
    judges = np.array([row.id for row in known], dtype=np.int64)
    events = newest_events(connection, judges, topic=number)
    events = events[:, events[3] == 0]
    graded = np.unique(as_pairs(events[0], events[1]))
    is_relevant = events[4] >= level
    relevant = np.unique(as_pairs(events[0][is_relevant], events[1][is_relevant]))
    # Of each topic the documents of its oldest sample.
    samples = listed[listed[:, 2] >= 0]
    oldest: dict[int, int] = {}
    for pool, of in np.unique(np.stack([samples[:, 0], samples[:, 1] >> 32], axis=1), axis=0).tolist():
        oldest.setdefault(of, pool)
    query = select(POOL.c.id, POOL.c.name, POOL.c.created_at, POOL.c.manifest)
    pools = {row.id: row for row in session.execute(query.where(POOL.c.id.in_(set(oldest.values()))))}
    before = {pool: _graded_before(session, judges, row.created_at, number) for pool, row in pools.items()}
    shuffled = fetch_integers(connection, _SHUFFLED + here, 3)
    found = []
    for of in sorted(np.unique(listed[:, 1] >> 32).tolist(), key=lambda one: natural_key(topics.names[one])):
        n_relevant = int(np.count_nonzero(relevant >> 32 == of))
        own = graded[graded >> 32 == of] & LOW
        if of not in oldest:
            found.append(TopicCandidates(topics.names[of], n_relevant, own))
            continue
        pool = pools[oldest[of]]
        rows = samples[(samples[:, 0] == pool.id) & (samples[:, 1] >> 32 == of)]
        pairs, is_sampled = rows[:, 1], rows[:, 4] == 1
        places = _places_of_a_judge(pairs[is_sampled], shuffled)
        order = rows[:, 3]
        if places is not None:
            order = order.copy()
            order[is_sampled] = places
        candidates = Candidates(
            graded=are_in(pairs, graded),
            relevant=are_in(pairs, relevant),
            known=are_in(pairs, before[pool.id]),
            strata=rows[:, 2],
            sampled=is_sampled,
            places=order,
            is_shuffled=places is not None,
        )
        found.append(TopicCandidates(topics.names[of], n_relevant, own, pool.name, _depth(pool), candidates))
    return found


def _depth(pool: Row[tuple[object, ...]]) -> int | None:
    """Return the depth a pool was drawn from; an imported one says none."""
    depth = json.loads(pool.manifest).get("parameters", {}).get("depth")
    return depth if isinstance(depth, int) else None


def _graded_before(
    session: Session, judges: NDArray[np.int64], moment: datetime, topic: int | None
) -> NDArray[np.int64]:
    """Return the documents that some judges had graded before a moment, rising."""
    query = select(JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id).where(
        JUDGEMENT.c.judge_id.in_(judges.tolist()),
        JUDGEMENT.c.state == State.JUDGED.value,
        JUDGEMENT.c.judged_at < moment,
    )
    if topic is not None:
        query = query.where(JUDGEMENT.c.topic_id == topic)
    return np.unique(pairs_of(session.execute(query.distinct())))


def _places_of_a_judge(sampled: NDArray[np.int64], held: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the places at all sampled documents that one plan gave one judge at random, if one did."""
    for one in np.unique(held[:, 0]).tolist():
        own = held[held[:, 0] == one]
        codes = codes_of(sampled, own[:, 1])
        if sampled.size and (codes >= 0).all():
            places: NDArray[np.int64] = own[codes, 2]
            return places
    return None
