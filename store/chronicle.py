"""Everything that happened to one document of one topic: why it has the grade it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any, Literal

from sqlalchemy import Row, select
from sqlmodel import Session

from store.annals import EVERYTHING, Stretch
from store.disagreements import (
    Case,
    Ruling,
    Status,
    Step,
    Vote,
    latest_ruling,
    lettered,
    ruling_of,
)
from store.errors import UnknownNameError
from store.guidelines import newest_guideline
from store.histories import fetch_sitting_numbers
from store.judges import fetch_identities, judge_id
from store.models import DOCUMENT, JUDGE, JUDGEMENT, POOL, POOL_ENTRY, SITTING, TOPIC
from store.passages import fetch_passages
from store.records import DECIDED, Action, JudgeKind, Passage, State
from store.standing import RANKS, topic_id
from store.verdicts import Verdict, read_basis, seen_basis

TextThen = Literal["same", "changed", "came later", "removed", "none", "not known"]
"""The text that an event rests on, beside the one there is now. ``came later``: there was none;
``none``: there was none and is none; ``not known``: an imported event that does not say."""

NoGrade = Literal["not-pooled", "unjudged", "skipped", "cannot", "several-judges", "ruled-cannot"]
"""Why a document has no final grade."""

_NEAR = 5
"""Docnos shown on either side of one that is not there."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One event of one judge, and what it rested on."""

    at: datetime
    """UTC."""
    judge: str
    kind: JudgeKind
    revision: int
    """Of this judge's events on the document, from 1."""
    action: Action
    state: State
    """After it, as are `grade`, `reason`, `note` and `passages`."""
    grade: int | None
    undid: int | None
    """The revision that an undo took back."""
    is_undone: bool
    """Whether a later event took it back."""
    follows: int | None
    """The revision that stood when the judge acted, on a copy of the collection, and of a
    settlement the one it took; ``None`` = the one before."""
    settled: str | None
    """How copies on which a judge had gone on apart were settled: a rule of
    `store.merging.settling`; ``None`` = a judge acted."""
    reason: str
    note: str
    passages: tuple[Passage, ...]
    """In characters of the raw text."""
    iteration: str
    guideline_version: int | None
    """``None`` = there were no guidelines, or an imported event does not say."""
    topic_version: int | None
    """Of the topic's text; ``None`` = the event does not say."""
    text: TextThen
    document_sha256: str | None
    """Of what the judge saw; ``None`` = no text, or not known."""
    shown_at: datetime | None
    dwell_ms: int | None
    active_ms: int | None
    sitting: int | None
    """Number of the sitting, from 1; ``None`` = imported, or reopened by the organiser."""
    host: str
    """The machine; empty = not known."""
    opinions: tuple[Verdict, ...] | None
    """Of an adjudicator's ruling: the judges' verdicts that lay before them; ``None`` = not known,
    or no ruling."""


@dataclass(frozen=True, slots=True)
class Place:
    """A pool that has the document for the topic."""

    pool: str
    round: str
    withdrawn: bool
    sampled: bool
    """False = not to be judged: listed in its stratum alone, or not drawn yet."""
    position: int
    """In the display order, from 0."""


@dataclass(frozen=True, slots=True)
class Final:
    """The grade that follows without a choice of a rule, or why none does."""

    grade: int | None
    reason: NoGrade | None
    """Given exactly when there is no grade."""
    by: str | None = None
    """Whose grade or ruling it is."""
    is_ruling: bool = False


@dataclass(frozen=True, slots=True)
class Chronicle:
    """One document of one topic, from the first event to the last."""

    topic: str
    docno: str
    title: str
    sha256: str | None
    """Of the text there is now; ``None`` = none."""
    newest_guideline: int | None
    """``None`` = there are no guidelines."""
    topic_version: int
    """Of the topic's text there is now, from 1."""
    places: tuple[Place, ...]
    """The oldest pool first."""
    events: tuple[Happening, ...]
    """By time; those of one moment in the order in which they were written. Those asked for."""
    total: int
    """Events there are, asked for or not."""
    n_left_out: int
    """Events asked for that the limit left out, the oldest."""
    standing: tuple[Happening, ...]
    """The newest event of every judge, by name."""
    ruling_status: Status | None
    """Of a ruling that stands: whether the judges decided otherwise since; ``None`` = there is no
    ruling."""
    final: Final

    @property
    def is_pooled(self) -> bool:
        """Whether it is to be judged in a pool not withdrawn."""
        return any(place.sampled and not place.withdrawn for place in self.places)


def fetch_chronicle(
    session: Session, topic: str, docno: str, asked: Stretch = EVERYTHING
) -> Chronicle:
    """Return what happened to a document of a topic.

    Parameters
    ----------
    session : Session
        Any session.
    topic, docno : str
        Of the collection.
    asked : Stretch, optional
        Which events are told; its topic does not count. How the document stands, and its final
        grade, rest on all of them in any case.

    Raises
    ------
    UnknownNameError
        If there is no such topic or document, or no judge of a name that is asked for.
    """
    topic_row = topic_id(session, topic)
    document = find_document(session, docno)
    judges = {judge_id(session, name) for name in asked.judges}
    rows = session.execute(_events(topic_row, document.id)).all()
    passages = fetch_passages(session, [row.id for row in rows])
    sittings = fetch_sitting_numbers(session) if rows else {}
    by_judge: dict[int, list[Row[Any]]] = {}
    for row in sorted(rows, key=lambda row: row.revision):
        by_judge.setdefault(row.judge_id, []).append(row)
    revisions = {row.id: row.revision for row in rows}
    undone = {row.undoes for row in rows}
    happened = {
        row.id: _happening(
            row,
            passages=passages.get(row.id, ()),
            undid=revisions.get(row.undoes),
            is_undone=row.id in undone,
            sitting=sittings.get(row.sitting_id),
            sha256=document.sha256,
        )
        for row in rows
    }
    newest = newest_guideline(session)
    places = _places(session, topic_row, document.id)
    identities = fetch_identities(session)
    case = _case(topic, docno, topic_row, document.id, by_judge, identities)
    standing = sorted((happened[part[-1].id] for part in by_judge.values()),
                      key=lambda one: one.judge)  # fmt: skip
    names = {part[0].judge_id: str(part[0].judge) for part in by_judge.values()}
    is_pooled = any(place.sampled and not place.withdrawn for place in places)
    told = [row.id for row in rows
            if asked.holds(row.judged_at) and (not judges or row.judge_id in judges)]  # fmt: skip
    kept = told if asked.limit is None else told[-asked.limit :]
    return Chronicle(
        topic=topic,
        docno=docno,
        title=document.title or "",
        sha256=document.sha256,
        newest_guideline=None if newest is None else newest.version,
        topic_version=session.scalar(select(TOPIC.c.version).where(TOPIC.c.id == topic_row)) or 1,
        places=places,
        events=tuple(happened[number] for number in kept),
        total=len(rows),
        n_left_out=len(told) - len(kept),
        standing=tuple(standing),
        ruling_status=None if case.ruling is None else case.status,
        final=final_of(standing, case.ruling, names, is_pooled=is_pooled),
    )


def find_document(session: Session, docno: str) -> Row[Any]:
    """Return the row of a document; raise `UnknownNameError`, naming its neighbours, for none."""
    columns = [column for column in DOCUMENT.c if column.name != "text"]
    row = session.execute(select(*columns).where(DOCUMENT.c.docno == docno)).first()
    if row is not None:
        return row
    names = select(DOCUMENT.c.docno).limit(_NEAR)
    after = names.where(DOCUMENT.c.docno > docno).order_by(DOCUMENT.c.docno)
    before = names.where(DOCUMENT.c.docno < docno).order_by(DOCUMENT.c.docno.desc())
    near = [*session.scalars(after), *session.scalars(before)]
    hint = "pooler list docs shows them all; these are its neighbours" if near else None
    raise UnknownNameError("document", docno, near, hint=hint)


def final_of(
    standing: Sequence[Happening],
    ruling: Ruling | None,
    names: Mapping[int, str],
    *,
    is_pooled: bool,
) -> Final:
    """Say which grade follows without a rule: a ruling's, or the only judge's who graded.

    Parameters
    ----------
    standing : sequence of Happening
        The newest event of every judge.
    ruling : Ruling or None
        The latest adjudicator's decision that stands.
    names : mapping of int to str
        Of judges, by row id.
    is_pooled : bool
        Whether the document is to be judged in a pool not withdrawn.

    Notes
    -----
    `store.final_qrels` gives the document the same grade, or none, when it is asked for the
    judgements of this document without judge or rule. Several judges' grades never become one
    here, not even when they are equal.
    """
    if ruling is not None:
        by = names[ruling.judge]
        reason: NoGrade | None = "ruled-cannot" if ruling.verdict is None else None
        return Final(ruling.verdict, reason, by, is_ruling=True)
    graded = [
        one
        for one in standing
        if one.state is State.JUDGED and one.kind is not JudgeKind.ADJUDICATOR
    ]
    if len(graded) == 1:
        return Final(graded[0].grade, None, graded[0].judge)
    if graded:
        return Final(None, "several-judges")
    rank = max((RANKS[one.state] for one in standing), default=0)
    if rank == RANKS[State.CANNOT]:
        return Final(None, "cannot")
    if rank == RANKS[State.SKIPPED]:
        return Final(None, "skipped")
    return Final(None, "unjudged" if is_pooled else "not-pooled")


def _events(topic: int, document: int) -> Any:
    """Select every event on a document of a topic, by time, with its judge and its host."""
    return (
        select(JUDGEMENT, JUDGE.c.name.label("judge"), JUDGE.c.kind, SITTING.c.host)
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .outerjoin(SITTING, SITTING.c.id == JUDGEMENT.c.sitting_id)
        .where(JUDGEMENT.c.topic_id == topic, JUDGEMENT.c.document_id == document)
        .order_by(JUDGEMENT.c.judged_at, JUDGEMENT.c.id)
    )


def _happening(
    row: Row[Any],
    *,
    passages: tuple[Passage, ...],
    undid: int | None,
    is_undone: bool,
    sitting: int | None,
    sha256: str | None,
) -> Happening:
    """Turn an event row into a `Happening`."""
    basis = seen_basis(row.display_order) if row.action in (Action.JUDGE, Action.CANNOT) else None
    return Happening(
        at=row.judged_at,
        judge=row.judge,
        kind=JudgeKind(row.kind),
        revision=row.revision,
        action=Action(row.action),
        state=State(row.state),
        grade=row.grade,
        undid=undid,
        is_undone=is_undone,
        follows=row.follows,
        settled=row.settled,
        reason=row.reason,
        note=row.note,
        passages=passages,
        iteration=row.iteration,
        guideline_version=row.guideline_version,
        topic_version=row.topic_version,
        text=_text_then(row, sha256),
        document_sha256=row.document_sha256,
        shown_at=row.shown_at,
        dwell_ms=row.dwell_ms,
        active_ms=row.active_ms,
        sitting=sitting,
        host=row.host or "",
        opinions=None if basis is None else read_basis(basis),
    )


def _text_then(row: Row[Any], sha256: str | None) -> TextThen:
    """Compare the text that an event rests on with the one there is now."""
    then: str | None = row.document_sha256
    if then is not None:
        return "removed" if sha256 is None else "same" if then == sha256 else "changed"
    if row.sitting_id is None:
        return "not known"
    return "none" if sha256 is None else "came later"


def _places(session: Session, topic: int, document: int) -> tuple[Place, ...]:
    """Return the pools that have a document for a topic, the oldest first."""
    query = (
        select(
            POOL.c.name,
            POOL.c.round,
            POOL.c.withdrawn,
            POOL_ENTRY.c.sampled,
            POOL_ENTRY.c.position,
        )
        .join(POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .where(POOL_ENTRY.c.topic_id == topic, POOL_ENTRY.c.document_id == document)
        .order_by(POOL.c.id)
    )
    return tuple(Place(*row) for row in session.execute(query))


def _case(
    topic: str,
    docno: str,
    topic_row: int,
    document: int,
    by_judge: Mapping[int, list[Row[Any]]],
    identities: Mapping[int, str],
) -> Case:
    """Gather the votes and the ruling as they stand, as an adjudicator's desk would."""
    votes: list[Vote] = []
    rulings: list[Ruling] = []
    for judge, rows in by_judge.items():
        last = rows[-1]
        if last.kind == JudgeKind.ADJUDICATOR:
            times = accumulate((row.judged_at for row in rows), max)
            steps = [
                Step(row.id, Action(row.action), row.undoes, row.grade, row.display_order,
                     row.follows, State(row.state), at)
                for row, at in zip(rows, times, strict=True)
            ]  # fmt: skip
            ruling = ruling_of(judge, steps)
            rulings += [] if ruling is None else [ruling]
        elif last.state in DECIDED:
            votes.append(Vote(judge, last.grade, last.id))
    latest = latest_ruling(rulings, identities)
    return Case(topic, docno, topic_row, document, lettered(topic, docno, votes), latest)
