"""Votes from the store, without a Python object for each judgement.

A million judgements are read through the driver's own cursor into one array of integers, and the
newest revision of each is found there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from store.analysis.populations import (
    PLACE_OF_STATE,
    Cells,
    Pairs,
    Population,
    PopulationVotes,
    population_votes,
)
from store.judges import fetch_judges, judge_id
from store.keys import Keys
from store.models import DOCUMENT
from store.natural_order import natural_key
from store.records import JudgeKind

_STATES = " ".join(f"WHEN '{state.value}' THEN {code}" for state, code in PLACE_OF_STATE.items())
_EVENTS = f"""
SELECT topic_id, document_id, judge_id, revision,
       CASE state {_STATES} ELSE 0 END, COALESCE(grade, 0) FROM judgement"""
"""Topic, document, judge, revision, state (0 = judged), grade."""
_POOLED = """
SELECT DISTINCT topic_id, document_id FROM pool_entry JOIN pool ON pool.id = pool_entry.pool_id
WHERE NOT pool.withdrawn AND pool_entry.sampled"""


def fetch_votes(
    session: Session,
    topics: Keys,
    scale_values: Sequence[int],
    *,
    judges: Sequence[str] | None = None,
    population: Population = "common",
    unlisted_as: int | None = None,
) -> PopulationVotes:
    """Return the current grades of some judges, over a population of documents.

    Parameters
    ----------
    session : Session
        Any session.
    topics : Keys
        Fresh.
    scale_values : sequence of int
        The declared grades, ascending.
    judges : sequence of str, optional
        Judges of the collection, in this order; a name that comes twice counts once. Default every
        judge with a grade, by name, but for adjudicators, who settle what the others disagree on.
    population, unlisted_as
        As for `store.analysis.populations.population_votes`.

    Raises
    ------
    UnknownNameError
        If a judge is not known.
    ArgumentError
        If the population needs a declared grade, or cannot have the one that was declared.

    Notes
    -----
    About 0.8 s and 100 MB for a million judgements in SQLite.
    """
    if judges is None:
        kinds = {judge.name: judge.kind for judge in fetch_judges(session)}
        names = [name for name, kind in kinds.items() if kind is not JudgeKind.ADJUDICATOR]
    else:
        names = list(dict.fromkeys(judges))
    ids = np.array([judge_id(session, name) for name in names], dtype=np.int64)
    connection = session.connection()
    events = newest_events(connection, ids if judges is not None else None)
    topic_of, document_of, judge_of, state_of, grade_of = events
    values = np.array(scale_values, dtype=np.int64)
    places = np.where(state_of < 0, state_of, np.searchsorted(values, grade_of))
    judge_codes = _codes(judge_of, ids)
    if judges is None and names:
        chosen = (judge_codes >= 0) & (places >= 0)
        has_grade = np.bincount(judge_codes[chosen], minlength=len(names)) > 0
        new_code = np.where(has_grade, np.cumsum(has_grade) - 1, -1)
        judge_codes = np.where(judge_codes >= 0, new_code[judge_codes], -1)
        names = [name for name, has in zip(names, has_grade.tolist(), strict=True) if has]
    if not (kept := judge_codes >= 0).all():
        topic_of, document_of, judge_codes, places = (
            column[kept] for column in (topic_of, document_of, judge_codes, places)
        )
    pooled = _fetch_integers(connection, _POOLED, 2) if population == "pooled" else None
    n_documents = 0
    if population == "collection":
        n_documents = session.scalar(select(func.count()).select_from(DOCUMENT)) or 0
        topic_ids = np.fromiter(topics.ids.values(), np.int64, len(topics.ids))
    else:
        pooled_topics = [] if pooled is None else [pooled[:, 0]]
        topic_ids = np.unique(np.concatenate([topic_of, *pooled_topics]))
    ordered = sorted(topic_ids.tolist(), key=lambda number: natural_key(topics.names[number]))
    order = np.array(ordered, dtype=np.int64)
    cells = Cells(
        topics=tuple(topics.names[number] for number in ordered),
        judges=tuple(names),
        scale_values=tuple(scale_values),
        topic_codes=_codes(topic_of, order),
        documents=document_of,
        judge_codes=judge_codes,
        places=places,
    )
    return population_votes(
        cells,
        population,
        unlisted_as=unlisted_as,
        pooled=None if pooled is None else Pairs(_codes(pooled[:, 0], order), pooled[:, 1]),
        n_documents=n_documents,
    )


def newest_events(connection: Connection, judge_ids: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Read the newest event of every (topic, document, judge).

    Parameters
    ----------
    connection : Connection
        Of any session.
    judge_ids : ndarray of int64, shape (n_judges,), or None
        Row ids; ``None`` = every judge.

    Returns
    -------
    ndarray of int64, shape (5, n_events)
        Row ids of topic, document and judge; what the event holds instead of a grade (below 0, see
        `PLACE_OF_STATE`) or 0; and the grade, 0 where there is none.
    """
    query = _EVENTS
    if judge_ids is not None:
        query += f" WHERE judge_id IN ({', '.join(map(str, judge_ids.tolist())) or 'NULL'})"
    rows = np.ascontiguousarray(_fetch_integers(connection, query, 6).T)
    if rows.size and int(rows[3].max()) > 1:
        rows = rows[:, np.lexsort((rows[3], rows[2], rows[1], rows[0]))]
        is_newest = np.ones(rows.shape[1], dtype=np.bool_)
        is_newest[:-1] = np.any(rows[:3, 1:] != rows[:3, :-1], axis=0)
        rows = rows[:, is_newest]
    return rows[[0, 1, 2, 4, 5]]


def _fetch_integers(connection: Connection, query: str, n_columns: int) -> NDArray[np.int64]:
    """Read columns of integers without a NULL, shape (n_rows, n_columns)."""
    # The driver's own cursor: a row of SQLAlchemy's costs as much as all the rest.
    cursor: Any = connection.exec_driver_sql(query).cursor
    failure = connection.dialect.loaded_dbapi.Error
    try:
        numbers = np.fromiter(chain.from_iterable(cursor), np.int64)
    except failure as error:
        raise DBAPIError.instance(
            query, None, error, failure, dialect=connection.dialect
        ) from error
    finally:
        cursor.close()
    return numbers.reshape(-1, n_columns)


def _codes(ids: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each id stands in `known`, -1 for one that is not there."""
    if not len(known):
        return np.full(len(ids), -1, dtype=np.int64)
    order = np.argsort(known)
    places = np.minimum(np.searchsorted(known[order], ids), len(known) - 1)
    codes = order[places]
    return np.where(known[codes] == ids, codes, -1)
