"""Sampled pools with their grades, of a collection or of prels; what bounds of recall are made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import exists, or_, select
from sqlmodel import Session

from store.analysis.arrays import Grades, RankedDocuments
from store.analysis.measures.sampled import GRADED, NOT_SAMPLED, UNGRADED, SampledPool, sampled_pool
from store.analysis.pools.stopping import Candidates
from store.content.lookup import row_named, rows_by_key, topic_id
from store.db.keys import Keys
from store.db.tables import DOCUMENT, JUDGE, POOL, POOL_ENTRY
from store.errors import PoolerError
from store.formats.prels import NOT_SAMPLED as CODE_NOT_SAMPLED
from store.formats.prels import PrelsRow, StatapRow, XinfapRow
from store.judging.event_arrays import (
    LOW,
    PAIR,
    are_in,
    as_pairs,
    codes_of,
    fetch_integers,
    fetch_pairs,
    moment_literal,
    newest_events,
)
from store.judging.kinds import Voters
from store.text import natural_key

COLLISION = "2"
"""Method of a statap file by which the sample and another choice both took a document."""

_DRAWS = "pooler pool --strategy stratified, uniform or statap draws a sample"


def sole_sampled_pool(session: Session) -> str:
    """Return the name of the only pool in use that is a sample; `PoolerError`: none is, or several."""
    columns = POOL_ENTRY.c
    is_of_sample = or_(columns.stratum.is_not(None), columns.inclusion_probability.is_not(None))
    has_one = exists().where(columns.pool_id == POOL.c.id, is_of_sample)
    query = select(POOL.c.name).where(POOL.c.withdrawn.is_(False), has_one)
    names: list[str] = sorted(session.execute(query).scalars(), key=natural_key)
    if not names:
        raise PoolerError("there is no sampled pool in the collection", hint=_DRAWS)
    if len(names) > 1:
        message = f"there are {len(names)} sampled pools: {', '.join(names)}"
        raise PoolerError(message, hint="name the one that is meant")
    return names[0]


def fetch_sampled_pools(session: Session, topics: Keys, pool: str, grades: Grades) -> dict[str, SampledPool]:
    """Return the sample that a pool of the collection is, with grades by document id, by topic.

    A grade of a document that was not sampled is not looked at: no sample tells what it stands for. Strata
    are ``None`` for a topic where a document has none, and probabilities where a sampled document, or every
    one, has none. What an imported statap file gave method 2 is certain to be judged, see `statap_pools`.
    """
    stored = row_named(session, "pool", POOL.c.name, pool)
    columns = POOL_ENTRY.c
    names = ("topic_id", "document_id", "sampled", "stratum", "inclusion_probability")
    query = select(*(columns[name] for name in names)).where(columns.pool_id == stored.id)
    by_topic: dict[str, list[Sequence[object]]] = {}
    for topic, *entry in session.execute(query):
        by_topic.setdefault(topics.names[topic], []).append(entry)
    noted: dict[str, list[str]] = json.loads(stored.manifest).get("methods", {}).get(COLLISION, {})
    every = (docno for docnos in noted.values() for docno in docnos)
    known = rows_by_key(session, every, DOCUMENT.c.docno, DOCUMENT.c.id)
    certain = {
        topic: [known[docno].id for docno in docnos if docno in known] for topic, docnos in noted.items()
    }
    found: dict[str, SampledPool] = {}
    for topic in sorted(by_topic, key=natural_key):
        documents, sampled, strata, chances = zip(*by_topic[topic], strict=True)
        ids, given = (column.tolist() for column in grades.get(topic, (np.empty(0), np.empty(0))))
        grade_of = dict(zip(ids, given, strict=True))
        is_sampled = np.array(sampled, dtype=np.bool_)
        has_grade = is_sampled & np.array([one in grade_of for one in documents])
        inclusion = np.array(chances, dtype=np.float64)  # None becomes NaN
        inclusion[np.isin(documents, certain.get(topic, []))] = 1.0
        is_known = ~np.isnan(inclusion)
        has_chances = bool(is_known.any() and is_known[is_sampled].all())
        found[topic] = sampled_pool(
            np.array(documents, dtype=np.int64),
            np.where(has_grade, GRADED, np.where(is_sampled, UNGRADED, NOT_SAMPLED)),
            np.array([grade_of.get(one, 0) for one in documents], dtype=np.int64),
            strata=None if None in strata else strata,
            inclusion=inclusion if has_chances else None,
        )
    return found


NO_JUDGEMENT = -999
"""The rel, and all below, that statAP_MQ_eval passes over."""
CHOSEN_OTHERWISE = (0, 2)
"""Methods of a statap file by which a document is judged whatever the sample."""


def xinfap_pools(
    ranked: RankedDocuments, rows: Iterable[XinfapRow], *, negatives_judged: bool = False
) -> dict[str, SampledPool]:
    """Take stratified pools from the rows of a file `topic iteration docno stratum rel`.

    Topics are in natural order, documents by their numbers in the rankings. Every negative rel means `not
    sampled`, as it does for `sample_eval.pl`; with `negatives_judged` only -1 does, and other negatives, as
    junk has, are judgements. The format has no code for a document that was sampled and has no grade.
    """
    found = {}
    for topic, documents, lines in _numbered(ranked, rows):
        codes = np.array([line.code for line in lines], dtype=np.int64)
        is_not_sampled = codes == CODE_NOT_SAMPLED if negatives_judged else codes < 0
        strata = np.array([line.stratum for line in lines], dtype=np.int64)
        states = np.where(is_not_sampled, NOT_SAMPLED, GRADED)
        found[topic] = sampled_pool(documents, states, codes, strata=strata)
    return found


def statap_pools(
    ranked: RankedDocuments, rows: Iterable[StatapRow], *, collisions_certain: bool = True
) -> dict[str, SampledPool]:
    """Take samples with probabilities from the rows of a file `topic docno rel method iprob`.

    Topics are in natural order, documents by their numbers in the rankings. A rel of -999 or below means `not
    sampled`; other negatives are judgements. With `collisions_certain` a document of method 2, which the
    sample chose and another method as well, counts as certain to be judged whatever its iprob, as it does for
    NIST's `statAP_MQ_eval`; method 0 is certain by its iprob already.
    """
    found = {}
    for topic, documents, lines in _numbered(ranked, rows):
        codes = np.array([line.code for line in lines], dtype=np.int64)
        states = np.where(codes <= NO_JUDGEMENT, NOT_SAMPLED, GRADED)
        inclusion = np.array([line.probability for line in lines])
        if collisions_certain:
            methods = np.array([line.method for line in lines])
            inclusion[np.isin(methods, CHOSEN_OTHERWISE)] = 1.0
        found[topic] = sampled_pool(documents, states, codes, inclusion=inclusion)
    return found


def _numbered(
    ranked: RankedDocuments, rows: Iterable[PrelsRow]
) -> Iterator[tuple[str, NDArray[np.int64], list[PrelsRow]]]:
    """Yield every topic in natural order, the numbers of its documents, and its rows."""
    by_topic: dict[str, list[PrelsRow]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    unranked = 1 + max(ranked.docnos, default=0)
    for topic in sorted(by_topic, key=natural_key):
        lines = by_topic[topic]
        # Pooled documents that no run retrieved need a number all the same.
        numbers = [ranked.ids.get(line.docno, unranked + place) for place, line in enumerate(lines)]
        yield topic, np.array(numbers, dtype=np.int64), lines


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
    whose = ", ".join(map(str, judges.tolist())) or "NULL"
    earlier = f"SELECT {PAIR} FROM judgement WHERE judge_id IN ({whose}) AND state = 'judged'{here}"
    before = {
        pool: fetch_pairs(
            connection, f"{earlier} AND judged_at < {moment_literal(connection, row.created_at)}"
        )
        for pool, row in pools.items()
    }
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
        depth = json.loads(pool.manifest).get("parameters", {}).get("depth")
        depth = depth if isinstance(depth, int) else None  # an imported pool says none
        candidates = Candidates(
            graded=are_in(pairs, graded),
            relevant=are_in(pairs, relevant),
            known=are_in(pairs, before[pool.id]),
            strata=rows[:, 2],
            sampled=is_sampled,
            places=order,
            is_shuffled=places is not None,
        )
        found.append(TopicCandidates(topics.names[of], n_relevant, own, pool.name, depth, candidates))
    return found


def _places_of_a_judge(sampled: NDArray[np.int64], held: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the places at all sampled documents that one plan gave one judge at random, if one did."""
    for one in np.unique(held[:, 0]).tolist():
        own = held[held[:, 0] == one]
        codes = codes_of(sampled, own[:, 1])
        if sampled.size and (codes >= 0).all():
            places: NDArray[np.int64] = own[codes, 2]
            return places
    return None
