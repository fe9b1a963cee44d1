"""Sittings of several copies, and the words that judges want marked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, insert, select, update
from sqlmodel import Session

from store.merging.copies import Copy, Here
from store.merging.raw_writing import insert_one
from store.models import JUDGE_TERM, SITTING

Key = tuple[int, datetime]
"""Row id of a judge, here, and when a sitting began: nobody begins two at once."""


def unite_sittings(here: Here, copy: Copy) -> None:
    """Take in the sittings of a copy, in the order in which they began.

    One that is on both has gone on as far as the later of them knows; its host is not known where
    one of them has forgotten it.
    """
    own: dict[Key, list[Row[Any]]] = {}
    for row in here.session.execute(select(SITTING)):
        own.setdefault((row.judge_id, row.started_at), []).append(row)
    connection = here.session.connection()
    order = (SITTING.c.started_at, SITTING.c.id)
    for row in copy.session.execute(select(SITTING).order_by(*order)).all():
        judge = copy.judges.get(row.judge_id)
        if judge is None:
            continue
        known = own.get((judge, row.started_at), [])
        mine = next((one for one in known if _is_same(one, row)), None)
        topic = None if row.topic_id is None else copy.topics[row.topic_id]
        if mine is None:
            values = {column.name: getattr(row, column.name)
                      for column in SITTING.c if column.name != "id"}  # fmt: skip
            values |= {"judge_id": judge, "topic_id": topic}
            copy.sittings[row.id] = insert_one(here.session, SITTING, values)
            copy.count.new["sittings"] += 1
            continue
        copy.sittings[row.id] = mine.id
        merged = _united(here, mine, row, topic)
        if any(getattr(mine, name) != value for name, value in merged.items()):
            connection.execute(update(SITTING).where(SITTING.c.id == mine.id).values(merged))


def _is_same(one: Row[Any], other: Row[Any]) -> bool:
    """Say whether two sittings of one judge that began at one moment are one."""
    if not one.host or not other.host:
        return True
    return (one.host, one.process) == (other.host, other.process)


def _united(here: Here, mine: Row[Any], row: Row[Any], topic: int | None) -> dict[str, Any]:
    """Return what two rows of one sitting come to."""
    names = here.topics.names
    last = max(
        (mine.seen_at, names[mine.topic_id] if mine.topic_id else "", mine.topic_id),
        (row.seen_at, names[topic] if topic else "", topic),
        key=lambda one: one[:2],
    )
    ends = [one.ended_at for one in (mine, row) if one.ended_at is not None]
    is_forgotten = not (mine.host and row.host) and mine.host != row.host
    return {
        "seen_at": last[0],
        "topic_id": last[2],
        "ended_at": max(ends, default=None),
        "host": "" if is_forgotten else mine.host,
        "process": 0 if is_forgotten else mine.process,
        "program": min(mine.program, row.program),
    }


def unite_terms(here: Here, copy: Copy) -> None:
    """Take in words that judges want marked; lists that differ become one, by the alphabet."""
    own, theirs = _terms(here.session), _terms(copy.session)
    for (judge, topic), terms in theirs.items():
        if judge not in copy.judges:
            continue
        key = copy.judges[judge], copy.topics[topic]
        mine = own.get(key, [])
        if mine == terms:
            continue
        united = sorted({*mine, *terms}) if mine else terms
        if united != mine:
            _write_terms(here.session, key, united)
            copy.count.new["terms"] += len(set(united) - set(mine))


def _terms(session: Session) -> Mapping[tuple[int, int], list[str]]:
    """Return the terms of every judge for every topic, in their order, by row ids."""
    order = (JUDGE_TERM.c.judge_id, JUDGE_TERM.c.topic_id, JUDGE_TERM.c.position)
    found: dict[tuple[int, int], list[str]] = {}
    for row in session.execute(select(JUDGE_TERM).order_by(*order)):
        found.setdefault((row.judge_id, row.topic_id), []).append(row.term)
    return found


def _write_terms(session: Session, key: tuple[int, int], terms: list[str]) -> None:
    """Replace the terms of a judge for a topic."""
    judge, topic = key
    own = (JUDGE_TERM.c.judge_id == judge, JUDGE_TERM.c.topic_id == topic)
    session.connection().execute(delete(JUDGE_TERM).where(*own))
    rows = [
        {"judge_id": judge, "topic_id": topic, "position": position, "term": term}
        for position, term in enumerate(terms)
    ]
    session.connection().execute(insert(JUDGE_TERM), rows)
