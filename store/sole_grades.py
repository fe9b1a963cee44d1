"""One judge's grades as arrays: the qrels of most collections, without a name of a document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlmodel import Session

from store.arrays import Grades
from store.keys import Keys
from store.models import JUDGE
from store.natural_order import natural_key
from store.policy import Policy
from store.records import JudgeKind
from store.votes import newest_events


@dataclass(frozen=True, slots=True, eq=False)
class SoleGrades:
    """What a policy of one judge chooses."""

    judge: str
    by_topic: Grades
    """Topics in natural order, document ids ascending."""
    n_documents: int
    """Graded (topic, document) pairs."""


def fetch_sole_grades(session: Session, topics: Keys, policy: Policy) -> SoleGrades | None:
    """Return the grades that a policy chooses, where they are those of one judge.

    Parameters
    ----------
    session : Session
        Any session.
    topics : Keys
        Fresh.
    policy : Policy
        Whose grades count, without a level.

    Returns
    -------
    SoleGrades or None
        The pairs and grades of `store.final_qrels.final_qrels`; ``None`` where several judges or
        an adjudicator may have a say, or nothing is graded, or no judge has that name. What
        becomes of those is said there.

    Raises
    ------
    ArgumentError
        If choices of the policy do not go together.

    Notes
    -----
    A third of a microsecond an event; `final_qrels` takes some fifty.
    """
    if policy.rule is not None or policy.of or policy.level is not None:
        return None
    policy.check()
    judges = session.execute(select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.kind)).all()
    adjudicators = [one for one in judges if one.kind == JudgeKind.ADJUDICATOR.value]
    if policy.judge is None and adjudicators:
        return None
    events = newest_events(session.connection(), None)
    topic_of, document_of, judge_of, _, grade_of = events[:, events[3] == 0]
    names = {one.id: one.name for one in judges}
    if policy.judge is None:
        who = {names[number] for number in np.unique(judge_of).tolist()}
        if len(who) != 1:
            return None
        (judge,) = who
    else:
        judge = policy.judge
    is_own = np.isin(judge_of, [number for number, name in names.items() if name == judge])
    topic_of, document_of, grade_of = topic_of[is_own], document_of[is_own], grade_of[is_own]
    if not topic_of.size:
        return None
    order = np.lexsort((document_of, topic_of))
    topic_of, document_of, grade_of = topic_of[order], document_of[order], grade_of[order]
    numbers, starts = np.unique(topic_of, return_index=True)
    parts = zip(np.split(document_of, starts[1:]), np.split(grade_of, starts[1:]), strict=True)
    found = {
        topics.names[number]: part for number, part in zip(numbers.tolist(), parts, strict=True)
    }
    by_topic = {topic: found[topic] for topic in sorted(found, key=natural_key)}
    return SoleGrades(judge, by_topic, int(topic_of.size))
