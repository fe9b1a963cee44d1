"""Documents that no judge is shown since a near-duplicate is: carried over, which is no judgement.

A row of table ``carried`` is an event of its own kind: from a moment on, one document of a topic (`source`)
is shown in the place of another. No grade is written. What the other's grade would be is that of the source,
looked up whenever it is asked for: it changes, and goes, with the source's.

Nothing is carried that is not as it was when the two were compared: see `CarriedState`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from sqlalchemy import Boolean, ColumnElement, FromClause, Select, and_, func, insert, or_, select, update
from sqlmodel import Session

from store.content.draws import is_adaptive
from store.content.lookup import is_pooled, same_pair, to_judge, topic_id
from store.db.database import Area
from store.db.engine import database_now
from store.db.login import is_seated
from store.db.tables import CARRIED, DOCUMENT, DOCUMENT_METADATA, JUDGEMENT, POOL, POOL_ENTRY, TOPIC
from store.judging.events import KEY, current_events
from store.readable import MOST_CHARACTERS, readable
from store.records import DECIDED, Action, State
from store.text import natural_key

_BATCH = 500
_LOOKED_AT = (*DECIDED, State.SKIPPED.value)


class CarriedState(StrEnum):
    """What has become of a document that was carried over."""

    CARRIED = "carried"
    """The source is graded: its grade is carried over."""
    WAITING = "waiting"
    """The source is to be judged, and nobody has graded it yet."""
    OWN = "looked-at"
    """Somebody decided on the document itself, or skipped it, or is to decide on it again: that stands, and
    nothing is carried over."""
    CANNOT = "source-cannot"
    """Somebody found the source impossible to judge: the document is shown itself."""
    DRAWN = "drawn"
    """An adaptive or sampled pool has drawn the document, and rests on its judgement: it is shown itself."""
    CHANGED = "text-changed"
    """One of the two has another text than was compared, or none: the document is shown itself."""
    UNPOOLED = "source-not-pooled"
    """The source is in no pool, and nobody has graded it: the document is shown itself."""
    CHAINED = "source-carried"
    """The source is carried over itself: the document is shown itself."""
    RELEASED = "released"
    """By the organiser."""


HOLDS = frozenset({CarriedState.CARRIED, CarriedState.WAITING})
"""The document is shown to nobody."""


@dataclass(frozen=True, slots=True)
class Alike:
    """A document of a topic, one that is shown in its place, and how alike they are; row ids."""

    topic: int
    document: int
    source: int
    shared: int
    """Shingles of both, ..."""
    united: int
    """... and of either."""
    document_sha256: str
    """Of the texts that were compared."""
    source_sha256: str


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """One document carried over."""

    topic: str
    docno: str
    source: str
    """Docno of the document that is shown in its place."""
    shared: int
    united: int
    state: CarriedState
    carried_at: datetime
    """UTC."""
    ended_at: datetime | None
    """UTC; ``None`` = it is not released."""
    is_pooled: bool
    """Whether the document is to be judged in a pool not withdrawn."""

    @property
    def similarity(self) -> float:
        """Jaccard of the two, in (0, 1]."""
        return self.shared / self.united

    @property
    def holds(self) -> bool:
        """Whether the document is shown to nobody."""
        return self.state in HOLDS


def _has_state(row: FromClause, document: ColumnElement[Any], states: Sequence[str]) -> ColumnElement[bool]:
    """Say in SQL that somebody's newest event on a document leaves a state, of the topic of a row."""
    event, later = JUDGEMENT.alias(), JUDGEMENT.alias()
    same = (later.c[name] == event.c[name] for name in KEY)
    is_later = select(later.c.id).where(*same, later.c.revision > event.c.revision).correlate(event)
    newest = (event.c.state.in_(states), ~is_later.exists())
    own = (event.c.topic_id == row.c.topic_id, event.c.document_id == document)
    return select(event.c.id).where(*own, *newest).correlate(row).exists()


def _is_looked_at(row: FromClause) -> ColumnElement[bool]:
    """Say in SQL that somebody decided on the document of a row or skipped it, or is to do so again."""
    event = JUDGEMENT.alias()
    own = (event.c.topic_id == row.c.topic_id, event.c.document_id == row.c.document_id)
    again = select(event.c.id).where(*own, event.c.action == Action.REOPEN.value)
    return or_(_has_state(row, row.c.document_id, _LOOKED_AT), again.correlate(row).exists())


def _drawn(*columns: ColumnElement[Any]) -> Select[Any]:
    """Select what adaptive and sampled pools drew: they rest on a judgement of every such document."""
    is_sampled = POOL_ENTRY.c.inclusion_probability.is_not(None)
    return to_judge(*columns).where(or_(is_adaptive(POOL.c.id), is_sampled))


def _conditions(row: FromClause) -> dict[str, ColumnElement[bool]]:
    """Say in SQL all that a row of `CARRIED` has to be asked."""
    other, entry = CARRIED.alias(), POOL_ENTRY
    texts = []
    for name, column in (("document_id", "document_sha256"), ("source_id", "source_sha256")):
        text = DOCUMENT.alias()
        same = (text.c.id == row.c[name], text.c.sha256 == row.c[column])
        texts.append(select(text.c.id).where(*same).correlate(row).exists())
    is_carried = (
        other.c.topic_id == row.c.topic_id,
        other.c.document_id == row.c.source_id,
        other.c.ended_at.is_(None),
        ~_is_looked_at(other),
    )
    pooled = to_judge(entry.c.pool_id).where(
        entry.c.topic_id == row.c.topic_id, entry.c.document_id == row.c.source_id
    )
    return {
        "is_ended": row.c.ended_at.is_not(None),
        "is_looked_at": _is_looked_at(row),
        "is_drawn": _drawn(entry.c.pool_id).where(same_pair(entry, row)).correlate(row).exists(),
        "is_chained": select(other.c.id).where(*is_carried).correlate(row).exists(),
        "is_same_text": and_(*texts),
        "cannot_source": _has_state(row, row.c.source_id, [State.CANNOT.value]),
        "has_grade": _has_state(row, row.c.source_id, [State.JUDGED.value]),
        "is_source_pooled": pooled.correlate(row).exists(),
        "is_pooled": is_pooled(row),
    }


@lru_cache(maxsize=8)  # of a few tables; to build it takes 8 ms, and it is asked whenever a topic is opened
def is_carried(rows: FromClause) -> ColumnElement[bool]:
    """Say in SQL that the document of a row is shown to no judge, since a near-duplicate is."""
    kept = CARRIED.alias()
    asked = _conditions(kept)
    holds = (
        ~asked["is_ended"],
        ~asked["is_looked_at"],
        ~asked["is_drawn"],
        ~asked["is_chained"],
        asked["is_same_text"],
        ~asked["cannot_source"],
        or_(asked["has_grade"], asked["is_source_pooled"]),
    )
    return select(kept.c.id).where(same_pair(kept, rows), *holds).correlate(rows).exists()


def is_carried_to(session: Session, rows: FromClause) -> ColumnElement[bool]:
    """Say so to whoever asks: a judge's own login does not see what it depends on, and asks the owner."""
    if is_seated(session):
        return func.pooler_is_carried(rows.c.topic_id, rows.c.document_id, type_=Boolean)
    return is_carried(rows)


def carried_pairs() -> Select[Any]:
    """Select topic and document of everything to be judged that no judge is shown, each once."""
    return to_judge(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id).where(is_carried(POOL_ENTRY)).distinct()


def _looked_at(session: Session) -> dict[tuple[int, int], set[str]]:
    """Return topic and document of all that `_is_looked_at`, and how it stands with judges."""
    newest = current_events("topic_id", "document_id", "state").where(JUDGEMENT.c.state.in_(_LOOKED_AT))
    found: dict[tuple[int, int], set[str]] = {}
    for topic, document, state in session.execute(newest):
        found.setdefault((topic, document), set()).add(state)
    again = select(JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id)
    for topic, document in session.execute(again.where(JUDGEMENT.c.action == Action.REOPEN.value)):
        found.setdefault((topic, document), set())
    return found


def _state(row: Any) -> CarriedState:
    """Say what has become of a row, by its `_conditions`."""
    if row.is_ended:
        return CarriedState.RELEASED
    if row.is_looked_at:
        return CarriedState.OWN
    if row.is_drawn:
        return CarriedState.DRAWN
    if not row.is_same_text:
        return CarriedState.CHANGED
    if row.is_chained:
        return CarriedState.CHAINED
    if row.cannot_source:
        return CarriedState.CANNOT
    if row.has_grade:
        return CarriedState.CARRIED
    return CarriedState.WAITING if row.is_source_pooled else CarriedState.UNPOOLED


def fetch_carried(
    session: Session, *, topic: int | None = None, document: int | None = None, standing: bool = False
) -> list[CarriedOver]:
    """Return what was carried over, topics in natural order, then by docno, the oldest first.

    `document`: that it is carried itself, or is shown in another's place. `standing`: what is not released.
    """
    shown, source = DOCUMENT.alias(), DOCUMENT.alias()
    asked = [condition.label(name) for name, condition in _conditions(CARRIED).items()]
    query = (
        select(CARRIED, TOPIC.c.number, shown.c.docno, source.c.docno.label("source"), *asked)
        .join(TOPIC, TOPIC.c.id == CARRIED.c.topic_id)
        .join(shown, shown.c.id == CARRIED.c.document_id)
        .join(source, source.c.id == CARRIED.c.source_id)
    )
    if topic is not None:
        query = query.where(CARRIED.c.topic_id == topic)
    if document is not None:
        query = query.where(or_(CARRIED.c.document_id == document, CARRIED.c.source_id == document))
    if standing:
        query = query.where(CARRIED.c.ended_at.is_(None))
    found = [
        CarriedOver(
            row.number,
            row.docno,
            row.source,
            row.shared,
            row.united,
            _state(row),
            row.carried_at,
            row.ended_at,
            bool(row.is_pooled),
        )
        for row in session.execute(query)
    ]
    return sorted(found, key=lambda one: (natural_key(one.topic), one.docno, one.carried_at, one.source))


def first_holding(carried: Sequence[CarriedOver]) -> dict[tuple[str, str], CarriedOver]:
    """Return by topic and docno what holds and is pooled; of several the oldest."""
    found: dict[tuple[str, str], CarriedOver] = {}
    for one in carried:
        if one.holds and one.is_pooled:
            found.setdefault((one.topic, one.docno), one)
    return found


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A document whose text can be compared."""

    document: int
    """Row id."""
    docno: str
    sha256: str
    words: str
    """Title and text, as they are read."""


class NearDuplicates(Area):
    """Near-duplicates of a collection: texts to be compared, and what is carried over."""

    def texts(self, *, pooled: bool = True) -> Iterator[ComparedText]:
        """Yield the documents that have a text, by docno; by default those to be judged, or looked at."""
        with self._db.reading() as session:
            query = select(DOCUMENT.c.id).where(DOCUMENT.c.sha256.is_not(None)).order_by(DOCUMENT.c.docno)
            if pooled:
                query = query.where(_is_of_interest())
            ids = list(session.scalars(query))
            columns = [DOCUMENT.c[name] for name in ("id", "docno", "sha256", "title", "text")]
            query = select(*columns, DOCUMENT_METADATA.c.markup).outerjoin(
                DOCUMENT_METADATA, DOCUMENT_METADATA.c.document_id == DOCUMENT.c.id
            )
            for first in range(0, len(ids), _BATCH):
                some = query.where(DOCUMENT.c.id.in_(ids[first : first + _BATCH]))
                for row in session.execute(some.order_by(DOCUMENT.c.docno)):
                    text = row.text or ""
                    if row.markup in MOST_CHARACTERS:
                        text = readable(text, row.markup).text
                    yield ComparedText(row.id, row.docno, row.sha256, f"{row.title or ''}\n{text}")

    def count_texts(self, *, pooled: bool = True) -> tuple[int, int]:
        """Count the documents of `texts`, and those that have no text to be compared."""
        with self._db.reading() as session:
            query = select(func.count(DOCUMENT.c.sha256), func.count()).select_from(DOCUMENT)
            with_text, every = session.execute(query.where(_is_of_interest()) if pooled else query).one()
            return with_text, every - with_text

    def pooled(self, topics: Sequence[str] = ()) -> list[tuple[int, int]]:
        """Return topic and document, by row ids, of all to be judged that no adaptive or sampled pool has."""
        with self._db.reading() as session:
            drawn = _drawn(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id)
            query = to_judge(POOL_ENTRY.c.topic_id, POOL_ENTRY.c.document_id)
            if topics:
                query = query.where(POOL_ENTRY.c.topic_id.in_([topic_id(session, one) for one in topics]))
            barred = {tuple(row) for row in session.execute(drawn)}
            pairs = {(topic, document) for topic, document in session.execute(query)}
            return sorted(pairs - barred)

    def looked_at(self) -> dict[tuple[int, int], set[str]]:
        """Return topic and document, by row ids, of all that is looked at, and states with judges."""
        with self._db.reading() as session:
            return _looked_at(session)

    def kept(self) -> list[tuple[int, int, int]]:
        """Return topic, document and source, by row ids, of all that is not released."""
        with self._db.reading() as session:
            rows = select(CARRIED.c.topic_id, CARRIED.c.document_id, CARRIED.c.source_id)
            kept = session.execute(rows.where(CARRIED.c.ended_at.is_(None)))
            return [(topic, document, source) for topic, document, source in kept]

    def all(self, topics: Sequence[str] = (), *, standing: bool = False) -> list[CarriedOver]:
        """Return what was carried over; see `fetch_carried`."""
        with self._db.reading() as session:
            if not topics:
                return fetch_carried(session, standing=standing)
            numbers = [topic_id(session, one) for one in topics]
            return [
                one for topic in numbers for one in fetch_carried(session, topic=topic, standing=standing)
            ]

    def carry(self, pairs: Sequence[Alike]) -> int:
        """Show a document in the place of others from now on; return how many were carried over.

        What somebody decided on or skipped meanwhile is left, as is what is carried over already, what is
        shown in another's place, and what would be carried over from a document that cannot be judged.
        """
        if not pairs:
            return 0
        with self._db.writing(bulk=True) as session:
            looked = _looked_at(session)
            kept = session.execute(select(CARRIED).where(CARRIED.c.ended_at.is_(None))).all()
            documents = {(row.topic_id, row.document_id) for row in kept}
            sources = {(row.topic_id, row.source_id) for row in kept}
            now = database_now(session)
            rows = []
            for one in pairs:
                document, source = (one.topic, one.document), (one.topic, one.source)
                if document in looked or document in documents | sources or source in documents:
                    continue
                if State.CANNOT.value in looked.get(source, ()):
                    continue
                documents.add(document)
                sources.add(source)
                rows.append(
                    {
                        "topic_id": one.topic,
                        "document_id": one.document,
                        "source_id": one.source,
                        "shared": one.shared,
                        "united": one.united,
                        "document_sha256": one.document_sha256,
                        "source_sha256": one.source_sha256,
                        "carried_at": now,
                    }
                )
            for first in range(0, len(rows), _BATCH):
                session.connection().execute(insert(CARRIED), rows[first : first + _BATCH])
            return len(rows)

    def release(self, topics: Sequence[str] = ()) -> int:
        """Show all documents themselves again, of some topics or all; return how many that are."""
        with self._db.writing(bulk=True) as session:
            kept: ColumnElement[bool] = CARRIED.c.ended_at.is_(None)
            if topics:
                kept = and_(kept, CARRIED.c.topic_id.in_([topic_id(session, one) for one in topics]))
            if session.scalar(select(CARRIED.c.id).where(kept).limit(1)) is None:
                return 0
            ended = update(CARRIED).where(kept).values(ended_at=database_now(session))
            return session.connection().execute(ended).rowcount


def _is_of_interest() -> ColumnElement[bool]:
    """Say in SQL that a document is to be judged for some topic, or somebody did something to it."""
    pooled = to_judge(POOL_ENTRY.c.document_id)
    return or_(DOCUMENT.c.id.in_(pooled), DOCUMENT.c.id.in_(select(JUDGEMENT.c.document_id)))
