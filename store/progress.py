"""How far judging has come, counted with the five states kept apart."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import select
from sqlmodel import Session

from store.judgements import current_events
from store.keys import Keys
from store.models import JUDGE
from store.pools import pooled_pairs
from store.records import Counts, Scale, State


def count_states(session: Session, topics: Keys, scale: Scale) -> dict[tuple[str, str], Counts]:
    """Count documents by state for every topic and judge.

    Parameters
    ----------
    session : Session
        Any session.
    topics : Keys
        Fresh.
    scale : Scale
        The declared grades; every one gets its count.

    Returns
    -------
    dict of (str, str) to Counts
        By (topic, judge), for topics with a pooled or judged document and judges who are not
        disabled or have judged.

    Notes
    -----
    Counts are of the whole pool, whatever was assigned to whom.
    """
    pooled = pooled_pairs(session)
    pool_sizes = Counter(topic for topic, _ in pooled)
    seen: dict[tuple[int, int], Counter[str]] = {}
    grades: dict[tuple[int, int], Counter[int]] = {}
    for event in session.execute(current_events()):
        key = (event.topic_id, event.judge_id)
        inside = (event.topic_id, event.document_id) in pooled
        seen.setdefault(key, Counter())
        if event.state == State.JUDGED:
            grades.setdefault(key, Counter())[event.grade] += 1
            seen[key]["judged" if inside else "outside"] += 1
        elif inside:
            seen[key][event.state] += 1
    topic_ids = set(pool_sizes) | {topic for topic, _ in seen}
    counts = {}
    for judge in session.execute(select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.disabled)):
        for topic in topic_ids:
            key = (topic, judge.id)
            if judge.disabled and key not in seen:
                continue
            states, by_grade = seen.get(key, Counter()), grades.get(key, Counter())
            counts[topics.names[topic], judge.name] = Counts(
                pooled=pool_sizes[topic],
                judged=states["judged"],
                skipped=states[State.SKIPPED],
                cannot=states[State.CANNOT],
                outside=states["outside"],
                by_grade={value: by_grade[value] for value in scale.values},
            )
    return counts
