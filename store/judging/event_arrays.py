"""Events and pooled documents as arrays of row ids, a million in a second.

They are read through the driver's own cursor into one array of integers, and the newest revision of
each is found there.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from store.analysis.agreement.populations import PLACE_OF_STATE
from store.db.driver import driver_rows
from store.formats.qrels import Numbering

_STATES = " ".join(f"WHEN '{state.value}' THEN {code}" for state, code in PLACE_OF_STATE.items())
_EVENTS = f"""
SELECT revision, topic_id, document_id, judge_id,
       CASE state {_STATES} ELSE 0 END, COALESCE(grade, 0) FROM judgement"""
"""Revision, topic, document, judge, state (0 = judged), grade."""
_EVENTS_OF_ROUNDS = _EVENTS.replace(" FROM", ", iteration FROM")
FROM_POOLS = """
FROM pool_entry JOIN pool ON pool.id = pool_entry.pool_id WHERE NOT pool.withdrawn AND pool_entry.sampled"""
POOLED = f"SELECT DISTINCT topic_id, document_id {FROM_POOLS}"


def newest_events(
    connection: Connection, judge_ids: NDArray[np.int64] | None, rounds: Numbering[str] | None = None
) -> NDArray[np.int64]:
    """Read the newest event of every (topic, document, judge), by default of all judges; shape (5, n_events).

    Row ids of topic, document and judge; `PLACE_OF_STATE`, or 0 where there is a grade; and the grade, or 0.
    With `rounds`, a sixth row has the round by that numbering.
    """
    query = _EVENTS if rounds is None else _EVENTS_OF_ROUNDS
    if judge_ids is not None:
        query += f" WHERE judge_id IN ({', '.join(map(str, judge_ids.tolist())) or 'NULL'})"
    n_columns = 6 if rounds is None else 7
    rows = np.ascontiguousarray(fetch_integers(connection, query, n_columns, rounds).T)
    if rows.size and int(rows[0].max()) > 1:
        rows = rows[:, np.lexsort((rows[0], rows[3], rows[2], rows[1]))]
        is_newest = np.ones(rows.shape[1], dtype=np.bool_)
        is_newest[:-1] = np.any(rows[1:4, 1:] != rows[1:4, :-1], axis=0)
        rows = rows[:, is_newest]
    return rows[1:]


def fetch_integers(
    connection: Connection, query: str, n_columns: int, names: Numbering[str] | None = None
) -> NDArray[np.int64]:
    """Read columns of integers without a NULL, shape (n_rows, n_columns); with `names`, text in the last."""
    with driver_rows(connection, query) as rows:
        if names is not None:
            rows = ((*row[:-1], names[row[-1]]) for row in rows)
        numbers = np.fromiter(chain.from_iterable(rows), np.int64)
    return numbers.reshape(-1, n_columns)


def as_pairs(topics: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put row ids of topics and documents, which have 31 bits each, into one number."""
    return topics << 32 | documents


def fetch_pairs(connection: Connection, query: str) -> NDArray[np.int64]:
    """Read topics and documents as `as_pairs` has them, rising."""
    rows = fetch_integers(connection, query, 2)
    return np.sort(as_pairs(rows[:, 0], rows[:, 1]))


def codes_of(ids: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each id stands in `known`, -1 for one that is not there."""
    if not len(known):
        return np.full(len(ids), -1, dtype=np.int64)
    order = np.argsort(known)
    places = np.minimum(np.searchsorted(known[order], ids), len(known) - 1)
    codes = order[places]
    return np.where(known[codes] == ids, codes, -1)
