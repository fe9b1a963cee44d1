"""Sampled pools with their grades, of a collection or of prels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import exists, or_, select
from sqlmodel import Session

from store.analysis.arrays import Grades, RankedDocuments
from store.analysis.measures.sampled import GRADED, NOT_SAMPLED, UNGRADED, SampledPool, sampled_pool
from store.content.lookup import row_named, rows_by_key
from store.db.keys import Keys
from store.db.tables import DOCUMENT, POOL, POOL_ENTRY
from store.errors import PoolerError
from store.formats.prels import NOT_SAMPLED as CODE_NOT_SAMPLED
from store.formats.prels import PrelsRow, StatapRow, XinfapRow
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
        message = "there is no sampled pool in the collection"
        raise PoolerError(message, hint=_DRAWS)
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
    query = (
        select(
            columns.topic_id,
            columns.document_id,
            columns.sampled,
            columns.stratum,
            columns.inclusion_probability,
        )
        .where(columns.pool_id == stored.id)
        .order_by(columns.topic_id)
    )
    by_topic: dict[str, list[Sequence[object]]] = {}
    for topic, *entry in session.execute(query):
        by_topic.setdefault(topics.names[topic], []).append(entry)
    certain = _collisions(session, json.loads(stored.manifest))
    return {
        topic: _pool_of(by_topic[topic], *grades.get(topic, _NO_GRADES), certain.get(topic, []))
        for topic in sorted(by_topic, key=natural_key)
    }


_NO_GRADES = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def _collisions(session: Session, manifest: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return by topic the ids of documents that a pool's manifest notes with `COLLISION`."""
    noted: dict[str, list[str]] = manifest.get("methods", {}).get(COLLISION, {})
    every = (docno for docnos in noted.values() for docno in docnos)
    known = rows_by_key(session, every, DOCUMENT.c.docno, DOCUMENT.c.id)
    return {topic: [known[docno].id for docno in docnos if docno in known] for topic, docnos in noted.items()}


def _pool_of(
    entries: Sequence[Sequence[object]],
    graded: NDArray[np.int64],
    grades: NDArray[np.int64],
    certain: Sequence[int],
) -> SampledPool:
    documents, sampled, strata, chances = zip(*entries, strict=True)
    ids = np.array(documents, dtype=np.int64)
    order = np.argsort(graded)
    # One more id, which is none, so that every place can be looked up.
    known = np.append(graded[order], -1)
    places = np.searchsorted(known[:-1], ids)
    is_sampled = np.array(sampled, dtype=np.bool_)
    has_grade = is_sampled & (known[places] == ids)
    states = np.where(has_grade, GRADED, np.where(is_sampled, UNGRADED, NOT_SAMPLED))
    inclusion = np.array(chances, dtype=np.float64)  # None becomes NaN
    inclusion[np.isin(ids, certain)] = 1.0
    is_known = ~np.isnan(inclusion)
    has_chances = bool(is_known.any() and is_known[is_sampled].all())
    return sampled_pool(
        ids,
        states,
        np.append(grades[order], 0)[places],
        strata=None if None in strata else strata,
        inclusion=inclusion if has_chances else None,
    )


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
