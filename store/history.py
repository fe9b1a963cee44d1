"""Who changed what, by time; why one document has its grade.

Two sources, read with conditions and merged by time: the judges' events (table ``judgement``), and
whatever else in the collection has a date. Merges, and the withdrawal of a pool, have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlalchemy import Column, ColumnElement, Row, String, and_, cast, exists, or_, select, true
from sqlmodel import Session

from store.content.lookup import count_rows, topic_id
from store.content.topics import newest_guideline
from store.db.database import Area
from store.db.tables import (
    ASSIGNMENT,
    ASSIGNMENT_PLAN,
    COLLECTION,
    DOCUMENT,
    ERASURE,
    GUIDELINE,
    JUDGE,
    JUDGEMENT,
    POOL,
    POOL_ENTRY,
    QRELS,
    RANKING,
    RUN,
    SITTING,
    TOPIC,
    TOPIC_VERSION,
)
from store.errors import PoolerError, UnknownNameError
from store.event import JudgementEvent
from store.grades.definition import OFFICIAL, NamedQrels, QrelsDefinition
from store.grades.definitions import fetch_kinds, fetch_named
from store.judging.disagreements import (
    Case,
    GivenGrade,
    Ruling,
    Settlement,
    Vote,
    latest_ruling,
    lettered,
    read_basis,
    seen_opinions,
)
from store.judging.events import KEY, Pair, count_graded, event_of_row, fetch_passages, no_earlier, ruling_of
from store.judging.judges import fetch_identities, fetch_sitting_numbers, fetch_voters_of_kinds, judge_id
from store.judging.kinds import check_share
from store.records import DECIDED, Action, JudgeKind, Scale, State
from store.text import natural_key

if TYPE_CHECKING:
    from store.grades.opinions import AllVotes

What = Literal[
    "event", "ruling", "run", "pool", "topic", "guidelines", "judge", "assignment", "qrels", "collection"
]
"""To what something happened. ``event`` is a judge's, on a document; ``ruling`` an adjudicator's
decision on one."""


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """What is asked for; whatever is ``None`` or empty is not."""

    topic: str | None = None
    """Its events, its texts, the pools that have documents of it, the runs that retrieved for it,
    and the documents of it that were assigned."""
    judges: tuple[str, ...] = ()
    """Their events, and changes to them as judges."""
    since: datetime | None = None
    """The first moment; with a zone."""
    until: datetime | None = None
    """The first moment after it; with a zone."""
    limit: int | None = None
    """Most entries, the newest; at least 1."""

    def holds(self, at: datetime) -> bool:
        """Return whether a moment is in the stretch."""
        begun = self.since is None or at >= self.since
        return begun and (self.until is None or at < self.until)


EVERYTHING = HistoryFilter()


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened; whatever does not apply to it is ``None``, or empty."""

    at: datetime
    """UTC."""
    what: What
    action: str
    """An `Action` of a judge; else ``imported``, ``made``, ``changed``, ``set``, ``added``,
    ``renamed``, ``erased``, ``assigned``, ``defined``."""
    judge: str | None = None
    """By the name of now; ``None`` of one who was erased."""
    kind: JudgeKind | None = None
    topic: str | None = None
    docno: str | None = None
    name: str | None = None
    """Of the run, the pool, the collection, or qrels with their version."""
    round: str | None = None
    """Of the pool; the iteration of the event."""
    withdrawn: bool | None = None
    """Whether the pool is withdrawn now; since when is not known."""
    revision: int | None = None
    """Of this judge's events on the document, from 1."""
    state_before: State | None = None
    """How it stood with the judge; ``None`` = there was no event of theirs before."""
    grade_before: int | None = None
    state: State | None = None
    """After it, as are `grade`, `reason` and `note`."""
    grade: int | None = None
    undid: int | None = None
    """The revision that an undo took back."""
    at_desk: bool | None = None
    """False = imported, or reopened by the organiser."""
    reason: str = ""
    note: str = ""
    has_new_note: bool = False
    """Whether the note is another one than before."""
    guideline_version: int | None = None
    """That the event rests on, or that was set."""
    topic_version: int | None = None
    """Of the topic's text: that the event rests on, or that came."""
    title: str = ""
    """Of the topic, as that version has it."""
    judgements: int | None = None
    """Of a judge who was erased: documents that had a grade."""
    events: int | None = None
    """Of a judge who was erased: all there were."""


@dataclass(frozen=True, slots=True)
class CollectionEvents:
    """What happened, the newest last."""

    entries: tuple[Entry, ...]
    """By time. Events of one moment stand in the order in which they were written, and after the
    other things of that moment."""
    total: int
    """Of those asked for, with the older ones that the limit left out."""


def _within(at: ColumnElement[datetime], asked: HistoryFilter) -> Iterator[ColumnElement[bool]]:
    if asked.since is not None:
        yield at >= asked.since
    if asked.until is not None:
        yield at < asked.until


def _events(
    session: Session, topic: int | None, judges: list[int], asked: HistoryFilter
) -> tuple[list[tuple[datetime, Entry]], int]:
    """Return the newest events by when each counts, the newest last, and how many there are in all."""
    at = JUDGEMENT.c.judged_at
    conditions = list(_within(at, asked))
    if topic is not None:
        conditions.append(JUDGEMENT.c.topic_id == topic)
    if judges:
        conditions.append(JUDGEMENT.c.judge_id.in_(judges))
    before, undone = JUDGEMENT.alias("before"), JUDGEMENT.alias("undone")
    same = (JUDGEMENT.c[name] == before.c[name] for name in KEY)
    query = (
        select(
            JUDGEMENT,
            JUDGE.c.name.label("judge"),
            JUDGE.c.kind,
            TOPIC.c.number.label("topic"),
            DOCUMENT.c.docno,
            before.c.state.label("state_before"),
            before.c.grade.label("grade_before"),
            before.c.note.label("note_before"),
            undone.c.revision.label("undid"),
            no_earlier().label("counts_at"),
        )
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .join(TOPIC, TOPIC.c.id == JUDGEMENT.c.topic_id)
        .join(DOCUMENT, DOCUMENT.c.id == JUDGEMENT.c.document_id)
        .outerjoin(before, and_(*same, before.c.revision == JUDGEMENT.c.revision - 1))
        .outerjoin(undone, undone.c.id == JUDGEMENT.c.undoes)
        .order_by(no_earlier(), JUDGEMENT.c.id)
    )
    # With a limit chosen first, so that only these are looked up in other tables.
    newest = select(JUDGEMENT.c.id).where(*conditions).order_by(no_earlier().desc(), JUDGEMENT.c.id.desc())
    chosen = conditions if asked.limit is None else [JUDGEMENT.c.id.in_(newest.limit(asked.limit))]
    entries = [(row.counts_at, _event(row)) for row in session.execute(query.where(*chosen))]
    is_cut = len(entries) == asked.limit
    return entries, count_rows(session, JUDGEMENT, *conditions) if is_cut else len(entries)


_AS_READ = (
    *("action", "judge", "topic", "docno", "revision", "grade", "grade_before", "undid"),
    *("reason", "note", "guideline_version", "topic_version"),
)
"""Fields of an `Entry` that a row of an event has as they are."""


def _event(row: Row[Any]) -> Entry:
    return Entry(
        at=row.judged_at,
        what="ruling" if row.action in _RULES and row.kind == JudgeKind.ADJUDICATOR else "event",
        kind=JudgeKind(row.kind),
        round=row.iteration,
        state_before=None if row.state_before is None else State(row.state_before),
        state=State(row.state),
        at_desk=row.sitting_id is not None,
        has_new_note=row.note != (row.note_before or ""),
        **{name: row._mapping[name] for name in _AS_READ},
    )


class _Source(NamedTuple):
    """What else has a date: one kind of entry, and the columns that its fields are read from."""

    what: What
    action: str
    at: Column[Any]
    fields: Mapping[str, ColumnElement[Any]]
    condition: ColumnElement[bool]

    def newest(self, session: Session, asked: HistoryFilter) -> tuple[list[Entry], int]:
        """Return the newest entries in a stretch of time, and how many there are in all."""
        columns = [column.label(name) for name, column in self.fields.items()]
        query = select(self.at.label("at"), *columns).where(self.at.is_not(None), self.condition)
        query = query.where(*_within(self.at, asked))
        newest = query.order_by(self.at.desc(), *columns[:1]).limit(asked.limit)
        entries = []
        for row in session.execute(newest):
            values = dict(row._mapping)
            values |= {"kind": JudgeKind(values["kind"])} if "kind" in values else {}
            entries.append(Entry(what=self.what, action=self.action, **values))
        is_cut = len(entries) == asked.limit
        return entries, count_rows(session, query.subquery()) if is_cut else len(entries)


def _sources(topic: int | None, judges: list[int]) -> Iterator[_Source]:
    """Return what else has a date: of a topic or all of them, of some judges or the whole collection."""
    everything: ColumnElement[bool] = true()
    if not judges:
        of_run = of_pool = of_plan = of_text = everything
        if topic is not None:
            of_run = exists().where(RANKING.c.run_id == RUN.c.id, RANKING.c.topic_id == topic)
            of_pool = exists().where(POOL_ENTRY.c.pool_id == POOL.c.id, POOL_ENTRY.c.topic_id == topic)
            in_plan = ASSIGNMENT.c.plan_id == ASSIGNMENT_PLAN.c.id
            of_plan = exists().where(in_plan, ASSIGNMENT.c.topic_id == topic)
            of_text = TOPIC.c.id == topic
        yield _Source("run", "imported", RUN.c.imported_at, {"name": RUN.c.tag}, of_run)
        pool = {"name": POOL.c.name, "round": POOL.c.round, "withdrawn": POOL.c.withdrawn}
        yield _Source("pool", "made", POOL.c.created_at, pool, of_pool)
        for table, is_its in ((TOPIC, everything), (TOPIC_VERSION, TOPIC.c.id == TOPIC_VERSION.c.topic_id)):
            text = {"topic": TOPIC.c.number, "title": table.c.title, "topic_version": table.c.version}
            yield _Source("topic", "changed", table.c.changed_at, text, and_(is_its, of_text))
        yield _Source("assignment", "assigned", ASSIGNMENT_PLAN.c.created_at, {}, of_plan)
    if topic is None:
        judge = {"judge": JUDGE.c.name, "kind": JUDGE.c.kind}
        is_asked = JUDGE.c.id.in_(judges) if judges else everything
        yield _Source("judge", "added", JUDGE.c.created_at, judge, is_asked)
        yield _Source("judge", "renamed", JUDGE.c.renamed_at, judge, is_asked)
    if topic is None and not judges:
        about, version = COLLECTION.c, {"guideline_version": GUIDELINE.c.version}
        yield _Source("collection", "made", about.created_at, {"name": about.name}, everything)
        yield _Source("guidelines", "set", GUIDELINE.c.created_at, version, everything)
        label = QRELS.c.name + "@" + cast(QRELS.c.version, String)
        # The first one came with the collection.
        is_later = or_(QRELS.c.name != OFFICIAL, QRELS.c.version > 1)
        yield _Source("qrels", "defined", QRELS.c.created_at, {"name": label}, is_later)
        gone = {name: ERASURE.c[name] for name in ("kind", "judgements", "events")}
        yield _Source("judge", "erased", ERASURE.c.erased_at, gone, everything)


TextThen = Literal["same", "changed", "came later", "removed", "none", "not known"]
"""The text that an event rests on, beside the one there is now. ``came later``: there was none;
``none``: there was none and is none; ``not known``: an imported event that does not say."""

NoGrade = Literal[
    "not-pooled",
    "unjudged",
    "skipped",
    "cannot",
    "other-kinds",
    "undecided",
    "ruled-cannot",
    "left-out",
    "refused",
]
"""Why a document has no final grade. ``other-kinds``: only judges of kinds that are not asked for graded it;
``left-out``: the definition of the qrels leaves the document out; ``refused``: it gives no qrels as it is."""

_RULES = (Action.JUDGE, Action.CANNOT)
"""Actions of an adjudicator that are a ruling."""
_NEAR = 5
"""Docnos shown on either side of one that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailedEvent(JudgementEvent):
    """One event of one judge, and what it rested on."""

    kind: JudgeKind
    is_undone: bool
    """Whether a later event took it back."""
    text: TextThen
    host: str
    """The machine; empty = not known."""
    opinions: tuple[GivenGrade, ...] | None
    """Of an adjudicator's ruling: the judges' decisions that lay before them; ``None`` = not known,
    or no ruling."""


@dataclass(frozen=True, slots=True)
class Pooling:
    """One pool that has a document for one topic."""

    topic: str
    pool: str
    round: str
    withdrawn: bool
    sampled: bool
    """False = not to be judged: listed in its stratum alone, or not drawn yet."""
    position: int
    """In the display order, from 0."""
    priority: float | None
    stratum: int | None
    inclusion_probability: float | None


How = Literal["only", "equal", "primary", "rule"]
"""The only judge's grade, several judges' who agree, that of the primary judge, or that of a rule."""


@dataclass(frozen=True, slots=True)
class Final:
    """The grade that a document has in the default qrels, or why it has none."""

    grade: int | None
    reason: NoGrade | None
    """Given exactly when there is no grade."""
    by: str | None = None
    """Whose grade or ruling it is; of a rule, the qrels that have it."""
    is_ruling: bool = False
    how: How = "only"


@dataclass(frozen=True, slots=True)
class DocumentEvents:
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
    places: tuple[Pooling, ...]
    """The oldest pool first."""
    events: tuple[DetailedEvent, ...]
    """By time; those of one moment in the order in which they were written. Those asked for."""
    total: int
    """Events there are, asked for or not."""
    n_left_out: int
    """Events asked for that the limit left out, the oldest."""
    newest_events: tuple[DetailedEvent, ...]
    """The newest event of every judge, by name."""
    ruling_status: Settlement | None
    """Of a ruling that stands: whether the judges decided otherwise since; ``None`` = there is no
    ruling."""
    final: Final
    voting_kinds: frozenset[JudgeKind]
    """Whose grades the default qrels count, in the whole collection."""

    @property
    def is_pooled(self) -> bool:
        """Whether it is to be judged in a pool not withdrawn."""
        return any(place.sampled and not place.withdrawn for place in self.places)


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
    hint = "these docnos are next to it in order; pooler show docs shows all" if near else None
    raise UnknownNameError("document", docno, near, hint=hint)


def _ruled(given_grade: GivenGrade, by: str) -> Final:
    return Final(given_grade, "ruled-cannot" if given_grade is None else None, by, is_ruling=True)


def final_of(
    newest_events: Sequence[DetailedEvent],
    ruling: Ruling | None,
    names: Mapping[int, str],
    voting_kinds: Set[JudgeKind],
    *,
    is_pooled: bool,
    primary: Set[str] = frozenset(),
) -> Final:
    """Say which grade follows where no rule is defined, as in `store.grades.qrels`.

    A ruling's, else that of the primary judge, else the only or the equal ones. Of judges, those of a kind
    that counts where no judge is named.
    """
    if ruling is not None:
        return _ruled(ruling.given_grade, names[ruling.judge])
    graded = [
        one for one in newest_events if one.state is State.JUDGED and one.kind is not JudgeKind.ADJUDICATOR
    ]
    counted = [one for one in graded if one.kind in voting_kinds]
    deciding = [one for one in newest_events if one.judge in primary and one.state in DECIDED]
    if deciding := [one for one in deciding if one.kind in voting_kinds]:
        counted = graded = [one for one in deciding if one.state is State.JUDGED]
        newest_events = deciding
    if len({one.grade for one in counted}) == 1:
        how: How = "primary" if deciding else "only" if len(counted) == 1 else "equal"
        return Final(counted[0].grade, None, " and ".join(one.judge for one in counted), how=how)
    if graded:
        return Final(None, "undecided" if counted else "other-kinds")
    states = {one.state for one in newest_events}
    if State.CANNOT in states:
        return Final(None, "cannot")
    if State.SKIPPED in states:
        return Final(None, "skipped")
    return Final(None, "unjudged" if is_pooled else "not-pooled")


def final_by(votes: AllVotes, named: NamedQrels, scale: Scale, topic: str, docno: str) -> Final:
    """Say which grade follows by a definition."""
    definition = named.definition
    level = definition.level_on(scale, None) if definition.binary_first else None
    from store.grades.qrels import decide  # arrays are loaded where a rule is applied

    final = decide(votes, definition, level)
    for ruling in votes.rulings.values():
        if (ruling.topic, ruling.docno) == (topic, docno):
            return _ruled(ruling.given_grade, ruling.adjudicator)
    for row in final.rows:
        if (row.topic, row.docno) == (topic, docno):
            return Final(row.grade, None, named.label, how="rule")
    return Final(None, final.left_out.get((topic, docno), "left-out"))


def _text_then(row: Row[Any], sha256: str | None) -> TextThen:
    then: str | None = row.document_sha256
    if then is not None:
        return "removed" if sha256 is None else "same" if then == sha256 else "changed"
    if row.sitting_id is None:
        return "not known"
    return "none" if sha256 is None else "came later"


def poolings(session: Session, document: int, *, topic: int | None = None) -> tuple[Pooling, ...]:
    """Return the pools that have a document, topics in natural order, the oldest pool first."""
    names = ("sampled", "position", "priority", "stratum", "inclusion_probability")
    of_entry = (POOL_ENTRY.c[name] for name in names)
    query = (
        select(TOPIC.c.number, POOL.c.name, POOL.c.round, POOL.c.withdrawn, *of_entry)
        .join_from(POOL_ENTRY, POOL, POOL.c.id == POOL_ENTRY.c.pool_id)
        .join(TOPIC, TOPIC.c.id == POOL_ENTRY.c.topic_id)
        .where(POOL_ENTRY.c.document_id == document)
        .order_by(POOL.c.id)
    )
    if topic is not None:
        query = query.where(TOPIC.c.id == topic)
    found = (Pooling(*row) for row in session.execute(query))
    return tuple(sorted(found, key=lambda one: natural_key(one.topic)))


def _case(
    topic: str,
    docno: str,
    pair: Pair,
    by_judge: Mapping[int, list[Row[Any]]],
    identities: Mapping[int, str],
    voting_kinds: Set[JudgeKind],
) -> Case:
    """Gather the votes and the ruling as they stand, as an adjudicator's desk would; of the voting kinds."""
    votes: list[Vote] = []
    rulings: list[Ruling] = []
    for judge, rows in by_judge.items():
        last = rows[-1]
        if last.kind == JudgeKind.ADJUDICATOR:
            ruling = ruling_of(judge, rows)
            rulings += [] if ruling is None else [ruling]
        elif last.state in DECIDED:
            votes.append(Vote(judge, last.grade, last.id, kind=JudgeKind(last.kind)))
    in_order = lettered(topic, docno, (vote for vote in votes if vote.kind in voting_kinds))
    others = tuple(vote for vote in votes if vote.kind not in voting_kinds)
    return Case(topic, docno, *pair, in_order, latest_ruling(rulings, identities), others=others)


class HistoryQueries(Area):
    """What happened in a collection."""

    def everything(self, asked: HistoryFilter = EVERYTHING) -> CollectionEvents:
        """Return what happened in a range of time, to a topic, by judges.

        No name comes from anywhere but the list of judges, so a judge who was renamed, anonymous or erased
        is not named. With a limit of n, no source gives more than n rows.
        """
        with self._db.reading() as session:
            topic = None if asked.topic is None else topic_id(session, asked.topic)
            judges = [judge_id(session, name) for name in asked.judges]
            total = 0
            things: list[Entry] = []
            for source in _sources(topic, judges):
                entries, n = source.newest(session, asked)
                things += entries
                total += n
            # Row ids reveal in which order judges were added; names that were made anonymous do not.
            named = attrgetter("topic", "name", "judge")
            things.sort(key=lambda one: (one.at, one.what, one.action, *(name or "" for name in named(one))))
            events, n = _events(session, topic, judges, asked)
            dated = sorted([*((one.at, one) for one in things), *events], key=itemgetter(0))
            found = [one for _, one in dated]
            kept = found if asked.limit is None else found[-asked.limit :]
            return CollectionEvents(tuple(kept), total + n)

    def of_document(self, topic: str, docno: str, asked: HistoryFilter = EVERYTHING) -> DocumentEvents:
        """Return what happened to a document of a topic; how it stands rests on all events, always."""
        with self._db.reading() as session:
            topic_row = topic_id(session, topic)
            document = find_document(session, docno)
            judges = {judge_id(session, name) for name in asked.judges}
            rows = session.execute(
                select(JUDGEMENT, JUDGE.c.name.label("judge"), JUDGE.c.kind, SITTING.c.host)
                .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
                .outerjoin(SITTING, SITTING.c.id == JUDGEMENT.c.sitting_id)
                .where(JUDGEMENT.c.topic_id == topic_row, JUDGEMENT.c.document_id == document.id)
                .order_by(no_earlier(), JUDGEMENT.c.id)
            ).all()
            passages = fetch_passages(session, [row.id for row in rows])
            sittings = fetch_sitting_numbers(session) if rows else {}
            by_judge: dict[int, list[Row[Any]]] = {}
            for row in sorted(rows, key=lambda row: row.revision):
                by_judge.setdefault(row.judge_id, []).append(row)
            revisions = {row.id: row.revision for row in rows}
            undone = {row.undoes for row in rows}
            happened = {
                row.id: event_of_row(
                    row,
                    DetailedEvent,
                    topic=topic,
                    docno=docno,
                    judge=row.judge,
                    undoes=revisions.get(row.undoes),
                    passages=passages.get(row.id, ()),
                    sitting=sittings.get(row.sitting_id),
                    kind=JudgeKind(row.kind),
                    is_undone=row.id in undone,
                    text=_text_then(row, document.sha256),
                    host=row.host or "",
                    opinions=None if basis is None else read_basis(basis),
                )
                for row in rows
                for basis in [seen_opinions(row.display_order)[0] if row.action in _RULES else None]
            }
            newest = newest_guideline(session)
            places = poolings(session, document.id, topic=topic_row)
            identities = fetch_identities(session)
            named = fetch_named(session)
            voters = fetch_voters_of_kinds(session, fetch_kinds(session, named.definition))
            voting_kinds = voters.voting_kinds
            case = _case(topic, docno, (topic_row, document.id), by_judge, identities, voting_kinds)
            newest_events = sorted(
                (happened[part[-1].id] for part in by_judge.values()), key=lambda one: one.judge
            )
            names = {part[0].judge_id: str(part[0].judge) for part in by_judge.values()}
            is_pooled = any(one.sampled and not one.withdrawn for one in places)
            is_seen = any(one.state in {*DECIDED, State.SKIPPED} for one in newest_events)
            is_usual = named.definition == QrelsDefinition()
            final: Final | None = None
            try:
                if is_seen and is_usual and voters.left_out:
                    check_share(count_graded(session), voters)
                elif is_seen and not is_usual:
                    from store.grades.votes import fetch_all_votes  # arrays, which no other look needs

                    self._db.topics.refresh(session)
                    votes = fetch_all_votes(session, self._db.topics, self._db.scale, named.definition)
                    final = final_by(votes, named, self._db.scale, topic, docno)
            except PoolerError:
                final = Final(None, "refused")
            if final is None:
                places_of = ASSIGNMENT.c.topic_id == topic_row, ASSIGNMENT.c.document_id == document.id
                held = select(ASSIGNMENT.c.judge_id).where(*places_of, ASSIGNMENT.c.purpose == "primary")
                primary = {names[one] for one in session.scalars(held) if one in names}
                final = final_of(
                    newest_events, case.ruling, names, voting_kinds, is_pooled=is_pooled, primary=primary
                )
            asked_for = [
                row.id
                for row in rows
                if asked.holds(row.judged_at) and (not judges or row.judge_id in judges)
            ]
            kept = asked_for if asked.limit is None else asked_for[-asked.limit :]
            return DocumentEvents(
                topic=topic,
                docno=docno,
                title=document.title or "",
                sha256=document.sha256,
                newest_guideline=None if newest is None else newest.version,
                topic_version=session.scalar(select(TOPIC.c.version).where(TOPIC.c.id == topic_row)) or 1,
                places=places,
                events=tuple(happened[number] for number in kept),
                total=len(rows),
                n_left_out=len(asked_for) - len(kept),
                newest_events=tuple(newest_events),
                ruling_status=None if case.ruling is None else case.status,
                final=final,
                voting_kinds=voting_kinds,
            )
