"""Events and pooled documents as arrays of row ids, a million in a second.

They are read past SQLAlchemy into arrays of integers, two of them in one number, and the newest revision of
each is found there.
"""

from __future__ import annotations

from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from store.analysis.agreement.votes import PLACE_OF_STATE
from store.db.columns import raw_form
from store.db.engine import driver_rows
from store.db.tables import JUDGEMENT
from store.records import AsOf

PAIR = "(CAST(topic_id AS BIGINT) << 32) | document_id"
"""`as_pairs` in SQL."""
_STATES = " ".join(f"WHEN '{state.value}' THEN {-code}" for state, code in PLACE_OF_STATE.items())
# Judged comes first, being most: a comparison of text fewer for each event.
_STATE = f"CASE state WHEN 'judged' THEN 0 {_STATES} ELSE 0 END"
_EVENTS = (
    PAIR,
    "(CAST(judge_id AS BIGINT) << 32) | revision",
    f"CAST(COALESCE(grade, 0) AS BIGINT) * 4 + {_STATE}",
)
"""Topic and document; judge and revision; grade and state (0 = judged)."""
LOW = (1 << 32) - 1
"""What of a pair is the document."""
FROM_EVERY_POOL = """
FROM pool_entry JOIN pool ON pool.id = pool_entry.pool_id WHERE NOT pool.withdrawn"""
FROM_POOLS = f"{FROM_EVERY_POOL} AND pool_entry.sampled"
POOLED = f"SELECT {PAIR} {FROM_POOLS}"
_ROUNDS = "SELECT DISTINCT iteration FROM judgement"
_PLACES = f"SELECT iteration, ROW_NUMBER() OVER (ORDER BY iteration) - 1 AS place FROM ({_ROUNDS}) AS named"


def fetch_rounds(connection: Connection) -> list[str]:
    """Return every round that an event is of, as `newest_events` numbers them."""
    with driver_rows(connection, f"{_ROUNDS} ORDER BY iteration") as rows:
        return [name for (name,) in rows]


def newest_events(
    connection: Connection,
    judge_ids: NDArray[np.int64] | None,
    *,
    has_rounds: bool = False,
    topic: int | None = None,
    until: AsOf | None = None,
) -> NDArray[np.int64]:
    """Read the newest event of every (topic, document, judge), by default of all judges; shape (5, n_events).

    Row ids of topic, document and judge; `PLACE_OF_STATE`, or 0 where there is a grade; and the grade, or 0.
    `has_rounds`: a sixth row has the place of the round in `fetch_rounds`. `until`: as they stood then.
    """
    where = "TRUE" if topic is None else f"topic_id = {topic:d}"
    if until is not None:
        where += f" AND judged_at <= {moment_literal(connection, until.moment)} AND id <= {until.event:d}"
    if judge_ids is not None:
        where += f" AND judge_id IN ({', '.join(map(str, judge_ids.tolist())) or 'NULL'})"
    columns = [*_EVENTS]
    source = "judgement"
    if has_rounds:
        columns.append("place")
        source += f" LEFT JOIN ({_PLACES}) AS numbered USING (iteration)"
    query = f"SELECT {', '.join(columns)} FROM {source} WHERE {where}"
    pairs, whose, codes, *more = fetch_integers(connection, query, len(columns)).T
    if pairs.size and int((whose & LOW).max()) > 1:
        order = np.lexsort((whose, pairs))
        pairs, judges = pairs[order], whose[order] >> 32
        is_newest = np.ones(order.size, dtype=np.bool_)
        is_newest[:-1] = (pairs[1:] != pairs[:-1]) | (judges[1:] != judges[:-1])
        pairs, order = pairs[is_newest], order[is_newest]
        whose, codes, more = whose[order], codes[order], [column[order] for column in more]
    return np.stack([pairs >> 32, pairs & LOW, whose >> 32, -(codes & 3), codes >> 2, *more])


def moment_literal(connection: Connection, moment: datetime) -> str:
    """Write a moment as the SQL of an engine compares it with a stored one."""
    zone = "+00:00" if connection.dialect.name == "postgresql" else ""
    return f"'{raw_form(JUDGEMENT.c.judged_at)(moment)}{zone}'"


def fetch_integers(connection: Connection, query: str, n_columns: int) -> NDArray[np.int64]:
    """Read columns of integers without a NULL, shape (n_rows, n_columns).

    The database writes each column as one text: a million rows would be as many objects.
    """
    names = ", ".join(f"c{place}" for place in range(n_columns))
    is_server = connection.dialect.name == "postgresql"
    joined = "string_agg(CAST({} AS TEXT), ',')" if is_server else "group_concat({})"
    texts = ", ".join(joined.format(name) for name in names.split(", "))
    counted = f"WITH found ({names}) AS ({query}) SELECT count(*), {texts} FROM found"
    with driver_rows(connection, counted) as rows:
        ((n_rows, *found),) = rows
    columns = [np.fromstring(text or "", np.int64, sep=",") for text in found]
    return np.array(columns).reshape(n_columns, n_rows).T  # a NULL leaves too few


def as_pairs(topics: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put row ids of topics and documents, which have 31 bits each, into one number."""
    return topics << 32 | documents


def fetch_pairs(connection: Connection, query: str) -> NDArray[np.int64]:
    """Read a column of `PAIR`, each number once, rising."""
    pairs = np.sort(fetch_integers(connection, query, 1)[:, 0])
    return pairs[np.diff(pairs, prepend=-1) > 0]  # np.unique takes ten times as long


def are_in(numbers: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which numbers are among others."""
    return codes_of(numbers, known) >= 0


def codes_of(ids: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each id stands in `known`, -1 for one that is not there."""
    if not len(known):
        return np.full(len(ids), -1, dtype=np.int64)
    highest = int(max(known.max(), ids.max(initial=0)))
    if highest < 2 * (len(ids) + len(known)) and min(known.min(), ids.min(initial=0)) >= 0:
        # A table of all numbers costs a tenth of a search.
        code_of = np.full(highest + 1, -1, dtype=np.int64)
        code_of[known] = np.arange(len(known))
        return code_of[ids]
    order = np.argsort(known)
    places = np.minimum(np.searchsorted(known[order], ids), len(known) - 1)
    codes = order[places]
    return np.where(known[codes] == ids, codes, -1)
