"""Whole histories out of and into a collection."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select, text
from sqlmodel import Session

from store.content.pools import add_pool
from store.db.columns import insert_new, raw_form
from store.db.database import Area, Inside
from store.db.digests import write_event_digests
from store.db.tables import DOCUMENT, JUDGE, JUDGEMENT, PASSAGE, TOPIC
from store.errors import ArgumentError, ConflictError
from store.event import ACTION_OF, JudgementEvent
from store.formats.judgements import KEY_FIELDS, STATE_FIELDS
from store.judging.events import (
    KEY,
    STORED,
    append_states,
    current_events,
    event_of_row,
    fetch_judgements,
    fetch_passages,
    import_judgements,
    importing,
    no_advance,
    no_earlier,
    stored_values,
)
from store.judging.judges import add_judge, fetch_judge_names, fetch_sitting_numbers, judge_called, judge_id
from store.judging.rejudging import KnownVersions, is_same_event
from store.records import Action, ImportReport, JudgeKind, Judgement, Pool, Qrel, State

_BATCH = 1000
"""Events read or written at a time."""
_TEXTS = STATE_FIELDS[len(KEY_FIELDS) :]
"""What a state says, by names that the columns have, too."""

Pair = tuple[int, int, int]
"""Row ids of a topic, a document and a judge."""


def fetch_histories_of(
    inside: Inside, *, judges: Sequence[str] | None = None, names: Mapping[int, str] | None = None
) -> Generator[JudgementEvent, None, None]:
    """Yield every event by time; a judge's events on a document by revision, whatever the clocks said.

    Of one moment by topic, docno and judge, bytewise (`names`: what judges are called for that, by row id),
    so that collections that hold the same yield the same. Sittings are numbered from 1 as they began.
    """
    session, topics, documents = inside
    own_names = fetch_judge_names(session)
    sittings = fetch_sitting_numbers(session, names)
    has_passages = session.scalar(select(PASSAGE.c.id).limit(1)) is not None
    undone = JUDGEMENT.alias("undone")
    called = judge_called(session, names)
    query = (
        select(JUDGEMENT, undone.c.revision.label("undone_revision"))
        .outerjoin(undone, undone.c.id == JUDGEMENT.c.undoes)
        .join(TOPIC, TOPIC.c.id == JUDGEMENT.c.topic_id)
        .join(DOCUMENT, DOCUMENT.c.id == JUDGEMENT.c.document_id)
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.judge_id)
        .order_by(no_earlier(), TOPIC.c.number, DOCUMENT.c.docno, called, JUDGEMENT.c.revision)
    )
    if judges is not None:
        numbers = [judge_id(session, name) for name in judges]
        query = query.where(JUDGEMENT.c.judge_id.in_(numbers))
    with session.connection().execute(query, execution_options={"yield_per": _BATCH}) as result:
        for batch in result.partitions():
            passages = fetch_passages(session, [row.id for row in batch]) if has_passages else {}
            for row in batch:
                yield event_of_row(
                    row,
                    JudgementEvent,
                    topic=topics.names[row.topic_id],
                    docno=documents.names[row.document_id],
                    judge=own_names[row.judge_id],
                    undoes=row.undone_revision,
                    passages=passages.get(row.id, ()),
                    sitting=sittings.get(row.sitting_id),
                )


def import_histories(
    inside: Inside, events: Sequence[JudgementEvent], kinds: Mapping[str, JudgeKind]
) -> ImportReport:
    """Append the events of a file that are not there yet; new ids are added, and judges, of their kind.

    `events`: grades of the scale; revisions in order, as `store.event.EventChain` checks. Sittings are left
    out, and versions that are not here. `ConflictError`: another event stands at a revision, or one before
    it is missing.
    """
    session, topics, documents = inside
    judges = _add_judges(session, (event.judge for event in events), kinds)
    topics.add(session, (event.topic for event in events))
    documents.add(session, (event.docno for event in events))
    known = KnownVersions(session)
    key = [JUDGEMENT.c[name] for name in KEY]
    rows = session.execute(select(*key, func.max(JUDGEMENT.c.revision)).group_by(*key))
    newest: dict[Pair, int] = {(row.topic_id, row.document_id, row.judge_id): row[-1] for row in rows}
    stored: dict[str, dict[tuple[str, str, int], JudgementEvent]] = {}
    coming: list[tuple[Pair, JudgementEvent]] = []
    for event in events:
        pair = (topics.ids[event.topic], documents.ids[event.docno], judges[event.judge])
        before = newest.get(pair, 0)
        if event.revision == before + 1:
            newest[pair] = event.revision
            coming.append((pair, known.without_unknown(event)))
            continue
        where = f"topic `{event.topic}` docno `{event.docno}` judge `{event.judge}`"
        if event.revision > before + 1:
            message = f"{where}: expected revision {before + 1}, got {event.revision}"
            raise ConflictError(message, hint="nothing was imported")
        if event.judge not in stored:
            stored[event.judge] = {
                (one.topic, one.docno, one.revision): one
                for one in fetch_histories_of(inside, judges=[event.judge])
            }
        there = stored[event.judge].get((event.topic, event.docno, event.revision))
        if there is None or not is_same_event(there, event):
            message = f"{where}: revision {event.revision} is there otherwise"
            raise ConflictError(message, hint="nothing was imported")
    with importing("one of the judges"):
        _append(session, coming)
    return ImportReport(added=len(coming), unchanged=len(events) - len(coming))


def _append(session: Session, events: Sequence[tuple[Pair, JudgementEvent]]) -> None:
    keys = ((pair, event.revision) for pair, event in events)
    ids = dict(zip(keys, next_ids(session, len(events)), strict=True))
    for start in range(0, len(events), _BATCH):
        rows: list[Sequence[Any]] = []
        passages: list[Sequence[Any]] = []
        for pair, event in events[start : start + _BATCH]:
            row_id, undone = ids[pair, event.revision], None
            if event.undoes is not None and (undone := ids.get((pair, event.undoes))) is None:
                of_pair = (JUDGEMENT.c[name] == value for name, value in zip(KEY, pair, strict=True))
                query = select(JUDGEMENT.c.id).where(*of_pair, JUDGEMENT.c.revision == event.undoes)
                undone = session.execute(query).scalar_one()
            rows.append((row_id, *pair, undone, *stored_values(event)))
            passages += [
                (row_id, one.start, one.length, one.text.encode("utf-8", "surrogatepass"))
                for one in event.passages
            ]
        insert_new(session, JUDGEMENT, ("id", *KEY, "undoes", *STORED), rows)
        if passages:
            insert_new(session, PASSAGE, ("judgement_id", "start", "length", "text"), passages)
        within = f"judgement.id BETWEEN {rows[0][0]:d} AND {rows[-1][0]:d} AND digest IS NULL"
        write_event_digests(session, where=within)


def next_ids(session: Session, n: int) -> list[int]:
    """Reserve rising row ids for `n` new events, which no judge at work can get meanwhile."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE judgement IN ROW EXCLUSIVE MODE"))  # `Definitions.define` waits
        taken = session.execute(
            text("SELECT nextval(pg_get_serial_sequence('judgement', 'id')) FROM generate_series(1, :n)"),
            {"n": n},
        )
        return sorted(taken.scalars())
    # A transaction that writes to SQLite has the file for itself.
    highest = session.scalar(select(func.max(JUDGEMENT.c.id))) or 0
    return list(range(highest + 1, highest + 1 + n))


def import_states(
    inside: Inside, states: Sequence[Judgement], kinds: Mapping[str, JudgeKind], *, replace: bool = False
) -> ImportReport:
    """Append what makes documents stand with judges as a file says; new ids and judges are added.

    `states`: grades of the declared scale, each document once a topic and judge. One that differs from the
    stored state becomes a revision with `replace`, else a `ConflictError`. A document without a decision and
    without an event before it gets a note, which may be empty; one that had a decision is reopened.
    """
    session, topics, documents = inside
    numbers = _add_judges(session, (one.judge for one in states), kinds)
    topics.add(session, (one.topic for one in states))
    documents.add(session, (one.docno for one in states))
    coming = {(topics.ids[one.topic], documents.ids[one.docno], numbers[one.judge]): one for one in states}
    query = current_events(*KEY, "revision", *_TEXTS, judges=[*numbers.values()])
    newest = {key: row for row in session.execute(query) if (key := tuple(row[: len(KEY)])) in coming}
    forms = [(name, raw_form(JUDGEMENT.c[name])) for name in _TEXTS]
    rows: list[tuple[Any, ...]] = []
    differing: list[str] = []
    for key, one in coming.items():
        values = [(getattr(one, name), form) for name, form in forms]
        old = newest.get(key)
        if old is None:
            revision, action = 1, Action.NOTE if one.state is State.UNJUDGED else ACTION_OF[one.state]
        elif [value for value, _ in values] == [*old[-len(_TEXTS) :]]:
            continue
        else:
            revision, action = old.revision + 1, ACTION_OF[one.state]
            differing.append(f"{one.topic} {one.docno} of {one.judge}")
        texts = (None if value is None else form(value) for value, form in values)
        rows.append((*key, revision, action.value, *texts))
    if differing and not replace:
        some = "; ".join(differing[:3]) + ("; ..." if len(differing) > 3 else "")
        message = f"{len(differing):,} judgements are there otherwise: {some}"
        raise ConflictError(message, hint="--replace appends the new ones as revisions")
    rows.sort()  # so that each index is filled from left to right
    with importing("one of the judges"):
        append_states(session, rows, datetime.now(UTC))
    return ImportReport(
        added=len(coming) - len(newest), unchanged=len(newest) - len(differing), replaced=len(differing)
    )


def _add_judges(session: Session, names: Iterable[str], kinds: Mapping[str, JudgeKind]) -> dict[str, int]:
    wanted = dict.fromkeys(names)
    known = set(session.scalars(select(JUDGE.c.name)))
    for name in wanted:
        if name not in known:
            add_judge(session, name, kinds[name])
    rows = session.execute(select(JUDGE.c.name, JUDGE.c.id))
    return {row.name: row.id for row in rows if row.name in wanted}


class Judgements(Area):
    """The judgements of a collection as they go into files and come out of them."""

    def current(self, judges: Sequence[str] | None = None) -> list[Judgement]:
        """Return the current state of every (topic, docno, judge) that has an event."""
        with self._db.reading_topics() as (session, topics):
            self._db.check_digests(session, judgements=True)
            return list(fetch_judgements(session, topics, judges=judges))

    def add(
        self,
        by_judge: Mapping[str, Sequence[Qrel]],
        kind: JudgeKind,
        *,
        pool: Pool | None = None,
        states: Sequence[Judgement] = (),
        replace: bool = False,
        advance: Callable[[int], None] = no_advance,
    ) -> ImportReport:
        """Append the judgements of a file in one transaction; judges who are new are added, of `kind`.

        `pool`: what the file says was pooled; one without entries is not added. `states`: what the judges
        skipped or could not judge; none of the documents is in `by_judge`. What differs from what is stored
        becomes a revision with `replace`, else a `ConflictError`.
        """
        grades = (qrel.grade for qrels in by_judge.values() for qrel in qrels)
        scale = self._db.scale
        if off_scale := sorted(set(grades).difference(scale.values)):
            raise ArgumentError("grade", f"must be one of {scale.values}", off_scale)
        with self._db.filling() as inside:
            if pool is not None and pool.entries:
                add_pool(inside, [pool.entries], lambda: pool)
            total = ImportReport()
            for judge, qrels in by_judge.items():
                add_judge(inside.session, judge, kind)
                total += import_judgements(*inside, judge, qrels, replace=replace, advance=advance)
            if states:
                kinds = dict.fromkeys((one.judge for one in states), kind)
                total += import_states(inside, states, kinds, replace=replace)
            return total

    def history(self, judges: Sequence[str] | None = None) -> Iterator[JudgementEvent]:
        """Yield every event in one transaction; see `fetch_histories_of`."""
        with self._db.reading_keyed() as inside:
            self._db.check_digests(inside.session, judgements=True)
            yield from fetch_histories_of(inside, judges=judges)
