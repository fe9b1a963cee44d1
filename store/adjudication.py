"""Queries on disagreements between judges, and on what adjudicators decided.

Judges of every kind but adjudicators count, disabled ones too: their judgements stand. A document
counts whether it is in a pool or not, as it does in the tables of kappa.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Select, and_, func, or_, select, tuple_
from sqlmodel import Session

from store.disagreements import (
    Case,
    Ruling,
    Selection,
    Step,
    Vote,
    latest_ruling,
    lettered,
    ruling_of,
)
from store.errors import ArgumentError, UnknownNameError
from store.judgements import current_events
from store.judges import fetch_identities
from store.keys import fetch_docnos
from store.models import JUDGE, JUDGEMENT, TOPIC
from store.natural_order import natural_key
from store.records import DECIDED, Action, JudgeKind, State

_IS_ADJUDICATOR = JUDGE.c.kind == JudgeKind.ADJUDICATOR.value

Pair = tuple[int, int]
"""Row ids of a topic and a document."""


def fetch_cases(
    session: Session, *, topic: int | None = None, document: int | None = None
) -> list[Case]:
    """Return every document in disagreement, and every one that an adjudicator has ruled on.

    Parameters
    ----------
    session : Session
        Any session.
    topic, document : int, optional
        Row ids; default all.

    Returns
    -------
    list of Case
        Topics in natural order, docnos bytewise. A case has the votes of all judges who decided:
        two at least, or fewer where only a ruling is left.

    Notes
    -----
    What is in disagreement is found by the database: 300,000 judgements of 100,000 documents take
    about two seconds, whatever few of them differ.
    """
    rulings = _fetch_rulings(session, topic, document)
    votes: dict[Pair, list[Vote]] = {pair: [] for pair in rulings}
    for row in session.execute(_disputed_votes(topic, document)):
        vote = Vote(row.judge_id, row.grade, row.id, row.reason, row.note, row.iteration)
        votes.setdefault((row.topic_id, row.document_id), []).append(vote)
    docnos = fetch_docnos(session, {pair[1] for pair in votes})
    numbers = {row.id: row.number for row in session.execute(select(TOPIC.c.id, TOPIC.c.number))}
    identities = fetch_identities(session) if rulings else {}
    cases = []
    for (topic_id, document_id), cast in votes.items():
        number, docno = numbers[topic_id], docnos[document_id]
        standing = rulings.get((topic_id, document_id), [])
        latest = latest_ruling(standing, identities)
        in_order = lettered(number, docno, cast)
        rulers = frozenset(ruling.judge for ruling in standing)
        cases.append(Case(number, docno, topic_id, document_id, in_order, latest, rulers))
    # An adjudicator may have skipped a document, or noted something, on which judges agree now.
    cases = [case for case in cases if case.ruling is not None or case.is_disagreement]
    return sorted(cases, key=lambda case: (natural_key(case.topic), case.docno))


def select_cases(session: Session, cases: Iterable[Case], selection: Selection) -> list[Case]:
    """Return the disagreements that are wanted.

    Raises
    ------
    UnknownNameError
        If the topic or a judge of the selection is not known.
    ArgumentError
        If the two judges are one, or one is an adjudicator.
    """
    pair = fetch_pair(session, selection)
    return [case for case in cases if selection.takes(case, pair)]


def fetch_listed(session: Session, selection: Selection) -> list[Case]:
    """Return the disagreements that are wanted, and rulings that are no longer needed.

    Of a selection by gap, cell or judges the latter are no part: there is no such disagreement
    any more. Raises as `select_cases` does.
    """
    cases = fetch_cases(session)
    listed = set(map(id, select_cases(session, cases, selection)))
    whole = Selection(selection.topic) == selection
    return [
        case
        for case in cases
        if id(case) in listed
        or (whole and not case.is_disagreement and selection.topic in (None, case.topic))
    ]


def fetch_pair(session: Session, selection: Selection) -> tuple[int, int] | None:
    """Return the row ids of the two judges of a selection; raises as `select_cases` does."""
    if selection.topic is not None:
        known = list(session.scalars(select(TOPIC.c.number)))
        if selection.topic not in known:
            raise UnknownNameError("topic", selection.topic, known)
    if selection.judges is None:
        return None
    judges = {row.name: row for row in session.execute(select(JUDGE))}
    first, second = selection.judges
    for name in (first, second):
        if name not in judges:
            raise UnknownNameError("judge", name, judges)
        if judges[name].kind == JudgeKind.ADJUDICATOR:
            raise ArgumentError("--judges", "must be judges, not adjudicators", name)
    if first == second:
        raise ArgumentError("--judges", "must be two different judges", f"{first},{second}")
    return int(judges[first].id), int(judges[second].id)


def count_deciders(session: Session) -> int:
    """Count the judges who have decided on any document: those who can disagree."""
    decided = (
        current_events()
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .where(~_IS_ADJUDICATOR, JUDGEMENT.c.state.in_(DECIDED))
        .with_only_columns(func.count(JUDGEMENT.c.judge_id.distinct()))
    )
    return int(session.scalar(decided) or 0)


def fetch_judge_names(session: Session) -> dict[int, str]:
    """Return the names of all judges by row id."""
    return {row.id: row.name for row in session.execute(select(JUDGE.c.id, JUDGE.c.name))}


def _disputed_votes(topic: int | None, document: int | None) -> Select[Any]:
    """Select the decisions on documents in disagreement or ruled on."""
    newest = current_events(topic=topic)
    if document is not None:
        newest = newest.where(JUDGEMENT.c.document_id == document)
    key = (JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id)
    names = ("id", "judge_id", "topic_id", "document_id", "grade", "reason", "note", "iteration")
    decided = (
        newest.join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .where(~_IS_ADJUDICATOR, JUDGEMENT.c.state.in_(DECIDED))
        .with_only_columns(
            *(JUDGEMENT.c[name] for name in names),
            func.min(JUDGEMENT.c.grade).over(partition_by=key).label("lowest"),
            func.max(JUDGEMENT.c.grade).over(partition_by=key).label("highest"),
            func.count(JUDGEMENT.c.grade).over(partition_by=key).label("n_grades"),
            func.count().over(partition_by=key).label("n_votes"),
        )
        .subquery()
    )
    differ = decided.c.lowest != decided.c.highest
    some_cannot = and_(decided.c.n_grades > 0, decided.c.n_grades < decided.c.n_votes)
    ruled = _adjudicators_events(topic, document).with_only_columns(*key)
    is_ruled = tuple_(decided.c.topic_id, decided.c.document_id).in_(ruled)
    return select(*(decided.c[name] for name in names)).where(or_(differ, some_cannot, is_ruled))


def _adjudicators_events(topic: int | None, document: int | None) -> Select[Any]:
    """Select every event of every adjudicator."""
    query = select(JUDGEMENT).join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id).where(_IS_ADJUDICATOR)
    if topic is not None:
        query = query.where(JUDGEMENT.c.topic_id == topic)
    return query if document is None else query.where(JUDGEMENT.c.document_id == document)


def _fetch_rulings(
    session: Session, topic: int | None, document: int | None
) -> dict[Pair, list[Ruling]]:
    """Return the rulings that stand, by topic and document."""
    names = ("id", "judge_id", "topic_id", "document_id", "action", "undoes", "grade",
             "display_order", "follows", "state", "judged_at")  # fmt: skip
    query = _adjudicators_events(topic, document).with_only_columns(
        *(JUDGEMENT.c[name] for name in names)
    )
    histories: dict[tuple[Pair, int], list[Step]] = {}
    for row in session.execute(query.order_by(JUDGEMENT.c.revision)):
        history = histories.setdefault(((row.topic_id, row.document_id), row.judge_id), [])
        at = max(row.judged_at, history[-1].at or row.judged_at) if history else row.judged_at
        history.append(
            Step(row.id, Action(row.action), row.undoes, row.grade, row.display_order, row.follows,
                 State(row.state), at)
        )  # fmt: skip
    rulings: dict[Pair, list[Ruling]] = {}
    for (pair, judge), history in histories.items():
        ruling = ruling_of(judge, history)
        if ruling is not None:
            rulings.setdefault(pair, []).append(ruling)
    return rulings
