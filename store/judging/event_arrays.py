"""Events and pooled documents as arrays of row ids, a million in a second.

They are read past SQLAlchemy into one array of integers, two of them in one number, and the newest revision
of each is found there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row

from store.analysis.agreement.votes import PLACE_OF_STATE
from store.db.columns import raw_form
from store.db.engine import driver_rows
from store.db.tables import JUDGEMENT
from store.formats.tables import Numbering
from store.records import AsOf

PAIR = "(CAST(topic_id AS BIGINT) << 32) | document_id"
"""`as_pairs` in SQL."""
_STATES = " ".join(f"WHEN '{state.value}' THEN {-code}" for state, code in PLACE_OF_STATE.items())
# Judged comes first, being most: a comparison of text fewer for each event.
_STATE = f"CASE state WHEN 'judged' THEN 0 {_STATES} ELSE 0 END"
_EVENTS = f"""
SELECT {PAIR}, (CAST(judge_id AS BIGINT) << 32) | revision, CAST(COALESCE(grade, 0) AS BIGINT) * 4 + {_STATE}
  FROM judgement"""
"""Topic and document; judge and revision; grade and state (0 = judged): half the objects of six columns."""
LOW = (1 << 32) - 1
"""What of a pair is the document."""
FROM_EVERY_POOL = """
FROM pool_entry JOIN pool ON pool.id = pool_entry.pool_id WHERE NOT pool.withdrawn"""
FROM_POOLS = f"{FROM_EVERY_POOL} AND pool_entry.sampled"
POOLED = f"SELECT {PAIR} {FROM_POOLS}"


def newest_events(
    connection: Connection,
    judge_ids: NDArray[np.int64] | None,
    rounds: Numbering | None = None,
    *,
    topic: int | None = None,
    until: AsOf | None = None,
) -> NDArray[np.int64]:
    """Read the newest event of every (topic, document, judge), by default of all judges; shape (5, n_events).

    Row ids of topic, document and judge; `PLACE_OF_STATE`, or 0 where there is a grade; and the grade, or 0.
    With `rounds`, a sixth row has the round by that numbering. `until`: as they stood then.
    """
    where = " WHERE TRUE" if topic is None else f" WHERE topic_id = {topic:d}"
    if until is not None:
        where += f" AND judged_at <= {moment_literal(connection, until.moment)} AND id <= {until.event:d}"
    if judge_ids is not None:
        where += f" AND judge_id IN ({', '.join(map(str, judge_ids.tolist())) or 'NULL'})"
    query = _EVENTS if rounds is None else _EVENTS.replace("FROM", ", iteration FROM")
    pairs, whose, codes, *named = fetch_integers(connection, query + where, 3, rounds).T
    if pairs.size and int((whose & LOW).max()) > 1:
        order = np.lexsort((whose, pairs))
        pairs, judges = pairs[order], whose[order] >> 32
        is_newest = np.ones(order.size, dtype=np.bool_)
        is_newest[:-1] = (pairs[1:] != pairs[:-1]) | (judges[1:] != judges[:-1])
        pairs, order = pairs[is_newest], order[is_newest]
        whose, codes, named = whose[order], codes[order], [column[order] for column in named]
    return np.stack([pairs >> 32, pairs & LOW, whose >> 32, -(codes & 3), codes >> 2, *named])


def moment_literal(connection: Connection, moment: datetime) -> str:
    """Write a moment as the SQL of an engine compares it with a stored one."""
    zone = "+00:00" if connection.dialect.name == "postgresql" else ""
    return f"'{raw_form(JUDGEMENT.c.judged_at)(moment)}{zone}'"


def fetch_integers(
    connection: Connection, query: str, n_columns: int, names: Numbering | None = None
) -> NDArray[np.int64]:
    """Read columns of integers without a NULL, shape (n_rows, n_columns).

    With `names` a column of text is the last, and comes as its numbers: one column more.
    """
    with driver_rows(connection, query) as rows:
        if names is not None:
            n_columns += 1
            rows = ((*numbers, names[text]) for *numbers, text in rows)
        numbers = np.fromiter(chain.from_iterable(rows), np.int64)
    return numbers.reshape(-1, n_columns)


def as_pairs(topics: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put row ids of topics and documents, which have 31 bits each, into one number."""
    return topics << 32 | documents


def pairs_of(rows: Iterable[Row[Any]]) -> NDArray[np.int64]:
    """Put rows of topic and document into such numbers."""
    return as_pairs(*np.array([tuple(row) for row in rows], dtype=np.int64).reshape(-1, 2).T)


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
