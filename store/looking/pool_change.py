"""What a changed pool would meet: documents that stand, judges who would judge."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from store.db.database import Area
from store.db.tables import ASSIGNMENT_PLAN, JUDGE, POOL
from store.judging.assignments import has_assignments, with_judges
from store.judging.states import SoughtIds, looked_at, pooled
from store.records import RANKS, Assignable, JudgeKind, State

NOWHERE: frozenset[str] = frozenset()
"""The pools of a document that is in none."""


@dataclass(frozen=True, slots=True)
class PairState:
    """One document of a topic."""

    pools: frozenset[str]
    """Names of the pools not withdrawn where it is to be judged; empty = it is not pooled."""
    state: State
    """With all judges together, as `store.judging.states` says; of what is not pooled, too."""
    grade: int | None = None
    """The highest that was given; ``None`` = none was."""


@dataclass(frozen=True, slots=True)
class IfPooled:
    """Documents as judges would see them if they were pooled now."""

    documents: tuple[Assignable, ...]
    """Without priorities; topics and docnos in no order."""
    judges: tuple[str, ...]
    """People who are not disabled, by name."""
    plan: Mapping[str, Any] | None
    """How documents were assigned last, as `store.records.AssignmentPlan.manifest`; ``None`` =
    nothing is assigned, so that every judge is shown every document."""


class PoolChanges(Area):
    """What a change of pools would meet."""

    def pair_states(self) -> dict[tuple[str, str], PairState]:
        """Return how every pair of topic and docno that is pooled or looked at stands."""
        with self._db.reading_keyed() as (session, topics, documents):
            names = {row.id: row.name for row in session.execute(select(POOL.c.id, POOL.c.name))}
            pools: dict[tuple[int, int], frozenset[str]] = {}
            # Of few pools there are few combinations: each is made once.
            joined: dict[tuple[frozenset[str], int], frozenset[str]] = {}
            for topic, document, pool in session.execute(pooled(SoughtIds())):
                key = (pools.get((topic, document), NOWHERE), pool)
                if key not in joined:
                    joined[key] = key[0] | {names[pool]}
                pools[topic, document] = joined[key]
            state_of = {rank: state for state, rank in RANKS.items()}
            seen = {
                (topic, document): (state_of[rank], grade)
                for topic, document, rank, grade in session.execute(looked_at(SoughtIds()))
                if rank != RANKS[State.UNJUDGED]
            }
            nobody = (State.UNJUDGED, None)
            return {
                (topics.names[pair[0]], documents.names[pair[1]]): PairState(
                    pools.get(pair, NOWHERE), *seen.get(pair, nobody)
                )
                for pair in pools.keys() | seen.keys()
            }

    def if_pooled(self, pairs: Collection[tuple[str, str]]) -> IfPooled:
        """Return who decided on documents, who has a place there, and how new ones are assigned."""
        with self._db.reading_keyed() as (session, topics, documents):
            people = select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.disabled)
            rows = session.execute(people.where(JUDGE.c.kind == JudgeKind.HUMAN.value)).all()
            names = {row.id: row.name for row in rows}
            able = tuple(sorted(row.name for row in rows if not row.disabled))
            unknown = 0  # no row's id
            asked = []
            for topic, docno in pairs:
                pair = (topics.ids.get(topic, unknown), documents.ids.get(docno, unknown))
                asked.append((pair, Assignable(topic, docno)))
            found = with_judges(session, asked, names, names)
            if not has_assignments(session):
                return IfPooled(tuple(found), able, None)
            newest = select(ASSIGNMENT_PLAN.c.manifest).order_by(ASSIGNMENT_PLAN.c.id.desc())
            return IfPooled(tuple(found), able, json.loads(session.scalar(newest.limit(1)) or "{}"))
