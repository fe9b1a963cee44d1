"""Sampled pools of a collection, with grades as arrays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import exists, or_, select
from sqlmodel import Session

from store.analysis.sampled_pool import GRADED, NOT_SAMPLED, UNGRADED, SampledPool, sampled_pool
from store.arrays import Grades
from store.errors import PoolerError, UnknownNameError
from store.keys import Keys
from store.models import DOCUMENT, POOL, POOL_ENTRY
from store.natural_order import natural_key

COLLISION = "2"
"""Method of a statap file by which the sample and another choice both took a document."""

_DRAWS = "pooler pool --strategy stratified, uniform or statap draws a sample"
_DOCNOS_A_QUERY = 1_000


def sole_sampled_pool(session: Session) -> str:
    """Return the name of the only pool of a collection that is a sample and not withdrawn.

    Parameters
    ----------
    session : Session
        Any session.

    Raises
    ------
    PoolerError
        If there is none, or several.

    Notes
    -----
    A sample has strata or inclusion probabilities. A pool that is none is read through.
    """
    columns = POOL_ENTRY.c
    is_of_sample = or_(columns.stratum.is_not(None), columns.inclusion_probability.is_not(None))
    has_one = exists().where(columns.pool_id == POOL.c.id, is_of_sample)
    query = select(POOL.c.name).where(POOL.c.withdrawn.is_(False), has_one)
    names: list[str] = sorted(session.execute(query).scalars(), key=natural_key)
    if not names:
        message = "there is no sampled pool in the collection"
        raise PoolerError(message, hint=_DRAWS)
    if len(names) > 1:
        message = f"there are {len(names)} sampled pools: {', '.join(names)}"
        raise PoolerError(message, hint="--pool NAME says which is meant")
    return names[0]


def fetch_sampled_pools(
    session: Session, topics: Keys, pool: str, grades: Grades
) -> dict[str, SampledPool]:
    """Return the sample that a pool of the collection is, with grades.

    Parameters
    ----------
    session : Session
        Any session.
    topics : Keys
        Fresh.
    pool : str
        Its name.
    grades : Grades
        By document id: `SoleGrades.by_topic` of the policy, or, where several judges have a say,
        `store.arrays.grades_by_topic` of the final qrels and the collection's ranked documents.

    Returns
    -------
    dict of str to SampledPool
        Topics of the pool in natural order. A document is not sampled, or sampled without a grade,
        or graded; a grade of a document that was not sampled is not looked at, since no sample
        tells what it stands for. Strata are ``None`` for a topic where a document has none, and
        probabilities where a sampled document, or every one, has none: as in any pool that is no
        sample. What an imported statap file gave method 2 is certain to be judged, see
        `store.sampled_grades.statap_pools`.

    Raises
    ------
    UnknownNameError
        If there is no such pool.

    Notes
    -----
    Some microseconds a document of the pool.
    """
    pools = {row.name: row.id for row in session.execute(select(POOL.c.name, POOL.c.id))}
    if pool not in pools:
        raise UnknownNameError("pool", pool, pools)
    columns = POOL_ENTRY.c
    query = (
        select(columns.topic_id, columns.document_id, columns.sampled, columns.stratum,
               columns.inclusion_probability)
        .where(columns.pool_id == pools[pool])
        .order_by(columns.topic_id)
    )  # fmt: skip
    by_topic: dict[str, list[Sequence[object]]] = {}
    for topic, *entry in session.execute(query):
        by_topic.setdefault(topics.names[topic], []).append(entry)
    certain = _collisions(session, pools[pool])
    return {
        topic: _pool_of(by_topic[topic], *grades.get(topic, _NO_GRADES), certain.get(topic, []))
        for topic in sorted(by_topic, key=natural_key)
    }


_NO_GRADES = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def _collisions(session: Session, pool: int) -> dict[str, list[int]]:
    """Return by topic the ids of documents that a pool's manifest notes with `COLLISION`."""
    text = session.execute(select(POOL.c.manifest).where(POOL.c.id == pool)).scalar_one()
    noted: dict[str, list[str]] = json.loads(text).get("methods", {}).get(COLLISION, {})
    waiting = iter(sorted({docno for docnos in noted.values() for docno in docnos}))
    ids: dict[str, int] = {}
    while some := list(islice(waiting, _DOCNOS_A_QUERY)):
        rows = session.execute(
            select(DOCUMENT.c.docno, DOCUMENT.c.id).where(DOCUMENT.c.docno.in_(some))
        )
        ids.update(map(tuple, rows))
    return {
        topic: [ids[docno] for docno in docnos if docno in ids] for topic, docnos in noted.items()
    }


def _pool_of(
    entries: Sequence[Sequence[object]],
    graded: NDArray[np.int64],
    grades: NDArray[np.int64],
    certain: Sequence[int],
) -> SampledPool:
    """Make the pool of one topic from its entries, and ids and grades of judged documents."""
    documents, sampled, strata, chances = zip(*entries, strict=True)
    ids = np.array(documents, dtype=np.int64)
    order = np.argsort(graded)
    # One more id, which is none, so that every place can be looked up.
    known = np.append(graded[order], -1)
    places = np.searchsorted(known[:-1], ids)
    is_sampled = np.array(sampled, dtype=np.bool_)
    has_grade = is_sampled & (known[places] == ids)
    standing = np.where(has_grade, GRADED, np.where(is_sampled, UNGRADED, NOT_SAMPLED))
    inclusion = np.array(chances, dtype=np.float64)  # None becomes NaN
    inclusion[np.isin(ids, certain)] = 1.0
    is_known = ~np.isnan(inclusion)
    has_chances = bool(is_known.any() and is_known[is_sampled].all())
    return sampled_pool(
        ids,
        standing,
        np.append(grades[order], 0)[places],
        strata=None if None in strata else strata,
        inclusion=inclusion if has_chances else None,
    )
