"""Model judges: who they are, what they answered, and the desk they work at.

What cannot be read becomes "cannot be judged", with its reason; what failed on its way becomes nothing.
An answer and its judgement event are written in one transaction.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, Row, and_, func, insert, select
from sqlmodel import Session

from store.content.lookup import count_rows, row_named
from store.db.database import Area
from store.db.digests import write_event_digests
from store.db.engine import database_now, reading
from store.db.keys import Keys, fetch_docnos
from store.db.process_locks import ProcessLocks
from store.db.tables import ANSWER, DOCUMENT, JUDGE, JUDGEMENT, MODEL_JUDGE, TOPIC
from store.errors import ArgumentError, ConflictError, StoreError
from store.event import ACTION_OF
from store.judging.desk import Desk
from store.judging.events import KEY, append_states, fetch_current, importing, refuse_differing
from store.judging.judges import add_judge, judge_named
from store.model_judge import CANARIES, NOT_STATED, Answer, Asked, ModelIdentity, Unreadable, prompt_hash
from store.records import DECIDED, Action, Decision, ImportReport, JudgeKind, Scale, State, Task
from store.text import natural_key

_BATCH = 1000
_SPECIAL = {"judge", "topic", "docno", "asked", "unreadable", "body", "probabilities", "note"}
ANSWER_VALUES = tuple(one.name for one in fields(Answer) if one.name not in _SPECIAL)
"""Fields of an answer that its row has as they are."""


@dataclass(frozen=True, slots=True)
class StatedModel:
    """A judge of kind model."""

    judge: str
    identity: ModelIdentity | None
    """``None`` = not stated."""
    prompt: str | None = None
    """The template; ``None`` = not stated."""
    stated_at: datetime | None = None
    """UTC."""


@dataclass(frozen=True, slots=True)
class ModelWork:
    """What a model judge answered, and what it cost."""

    judge: str
    answers: int
    """Stored; canaries are counted nowhere here but as such."""
    canaries: int
    judged: int
    """Answers with a grade that became judgements."""
    unreadable: Mapping[str, int]
    """Answers without one that did, by reason."""
    failed: int
    """Requests that failed on their way for good."""
    retries: int
    """Attempts before those that are stored."""
    prompt_tokens: int | None
    """Sums over all answers; ``None`` = no answer says, as of the next."""
    cached_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    seconds: float | None
    """Between requests and ends of replies, added up; several at once count several times."""
    first_at: datetime | None
    """UTC; when the first of its judgements was made, and the last."""
    last_at: datetime | None
    served_models: tuple[str, ...]
    """As the server answered; more than one cannot be."""
    fingerprints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """What the answers of a judge took, of whatever kind."""

    tokens: int
    """Of prompts and replies, as servers counted."""
    largest: int
    """Of one answer."""
    cost: float
    """Of answers that were stored with a cost."""
    without_cost: tuple[int, int, int]
    """Prompt, completion and cached tokens of the others."""


def state_model(session: Session, name: str, identity: ModelIdentity, *, prompt: str | None = None) -> bool:
    """Store the identity of a model judge, adding the judge where there is none; return whether it was new.

    The same again changes nothing. `ConflictError`: the judge is another one, is no model, or has judged
    before it was stated who it is.
    """
    if prompt is not None and prompt_hash(prompt) != identity.prompt_sha256:
        raise ArgumentError("prompt", "must be the one whose hash the identity has", "another")
    add_judge(session, name, JudgeKind.MODEL)
    judge = judge_named(session, name, "id", "kind")
    if judge.kind != JudgeKind.MODEL:
        message = f"judge `{name}` is of kind {judge.kind}: only a model has a model's identity"
        raise ConflictError(message, hint="take another name for the model")
    old = session.execute(select(MODEL_JUDGE).where(MODEL_JUDGE.c.judge_id == judge.id)).first()
    another = "take another name: it is another judge, and its judgements are others"
    if old is not None:
        known = identity_of(old)
        if (known.sha256, known.family) == (identity.sha256, identity.family):
            return False
        differ = ", ".join(_differences(known, identity))
        raise ConflictError(f"model judge `{name}` is another one: {differ}", hint=another)
    if count_rows(session, JUDGEMENT, JUDGEMENT.c.judge_id == judge.id):
        message = f"model judge `{name}` judged before it was described"
        raise ConflictError(message, hint="take another name: those judgements may not be this model's")
    values = {
        "judge_id": judge.id,
        "identity": identity.canonical(),
        "sha256": identity.sha256,
        "family": identity.family,
        "prompt": prompt,
        "stated_at": database_now(session),
    }
    session.execute(insert(MODEL_JUDGE).values(values))
    return True


def _differences(old: ModelIdentity, new: ModelIdentity) -> Iterator[str]:
    one, other = old.values(), new.values()
    for key in one:
        if one[key] != other[key]:
            yield f"{key} {_short(one[key])}, not {_short(other[key])}"
    if old.family != new.family:
        yield f"family {old.family or NOT_STATED}, not {new.family or NOT_STATED}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:12]}..."


def identity_of(row: Row[Any]) -> ModelIdentity:
    """Read the identity of a row."""
    return ModelIdentity.of_canonical(row.identity, family=row.family)


def fetch_models(session: Session) -> list[StatedModel]:
    """Return every judge of kind model, by name."""
    query = (
        select(JUDGE.c.name, MODEL_JUDGE)
        .outerjoin(MODEL_JUDGE, MODEL_JUDGE.c.judge_id == JUDGE.c.id)
        .where(JUDGE.c.kind == JudgeKind.MODEL.value)
        .order_by(JUDGE.c.name)
    )
    return [
        StatedModel(row.name, row.identity and identity_of(row), row.prompt, row.stated_at)
        for row in session.execute(query)
    ]


def answer_values(answer: Answer, judged_at: datetime | None) -> dict[str, Any]:
    """Return what an answer's row has, but for the ids it refers to."""
    chances = answer.probabilities
    return {name: getattr(answer, name) for name in ANSWER_VALUES} | {
        "asked": answer.asked.value,
        "judged_at": judged_at,
        "unreadable": None if answer.unreadable is None else answer.unreadable.value,
        "body": zlib.compress(answer.body, 9) if answer.body else b"",
        "probabilities": None
        if chances is None
        else json.dumps({str(grade): chances[grade] for grade in sorted(chances)}),
    }


def check_answer(answer: Answer, scale: Scale) -> None:
    """Refuse grades that the scale has not, and a grade without a body that could be read again."""
    chances = answer.probabilities or {}
    for grade in {*chances, *([] if answer.grade is None else [answer.grade])}:
        scale.label(grade)
    if chances and abs(sum(chances.values()) - 1) > 1e-6:
        raise ArgumentError("probabilities", "must sum to 1", sum(chances.values()))


IS_REPLY = ANSWER.c.grade.is_not(None) | ANSWER.c.unreadable.is_not(None)
"""The request did not fail on its way."""


def fetch_answers(session: Session, topics: Keys, *, judge: str) -> Iterator[Answer]:
    """Yield the answers of a judge, by topic in natural order, docno, and when they were asked."""
    number = judge_named(session, judge, "id").id
    rows = session.execute(select(ANSWER).where(ANSWER.c.judge_id == number).order_by(ANSWER.c.id)).all()
    docnos = fetch_docnos(session, {row.document_id for row in rows})
    notes: dict[tuple[int, int, datetime], str] = {}
    own = (JUDGEMENT.c.judge_id == number, JUDGEMENT.c.note != "")
    columns = (JUDGEMENT.c.topic_id, JUDGEMENT.c.document_id, JUDGEMENT.c.judged_at, JUDGEMENT.c.note)
    for topic, document, at, note in session.execute(select(*columns).where(*own)):
        notes[topic, document, at] = note
    for row in sorted(
        rows, key=lambda one: (natural_key(topics.names[one.topic_id]), docnos[one.document_id])
    ):
        chances = None if row.probabilities is None else json.loads(row.probabilities)
        yield Answer(
            judge=judge,
            topic=topics.names[row.topic_id],
            docno=docnos[row.document_id],
            asked=Asked(row.asked),
            unreadable=None if row.unreadable is None else Unreadable(row.unreadable),
            body=zlib.decompress(row.body) if row.body else b"",
            probabilities=None if chances is None else {int(one): share for one, share in chances.items()},
            note=notes.get((row.topic_id, row.document_id, row.judged_at), ""),
            **{name: row._mapping[name] for name in ANSWER_VALUES},
        )


def import_answers(
    session: Session,
    topics: Keys,
    documents: Keys,
    judge: str,
    answers: Sequence[Answer],
    *,
    replace: bool = False,
) -> ImportReport:
    """Append answers from elsewhere, each pair once, with the judgements they lead to.

    What differs from the stored judgement becomes a new revision with `replace`, else a `ConflictError`.
    """
    number = judge_named(session, judge, "id").id
    topics.add(session, (one.topic for one in answers))
    documents.add(session, (one.docno for one in answers))
    wanted = ("topic_id", "document_id", "revision", "state", "grade", "reason")
    current = fetch_current(session, number, *wanted)
    now = datetime.now(UTC)
    events: list[tuple[Any, ...]] = []
    rows: list[dict[str, Any]] = []
    differing: list[str] = []
    unchanged = 0
    beside = {
        _fingerprint(one) for one in fetch_answers(session, topics, judge=judge) if not one.is_judgement
    }
    for one in answers:
        pair = (topics.ids[one.topic], documents.ids[one.docno])
        keys = dict(zip(KEY, (*pair, number), strict=True))
        if not one.is_judgement:
            if _fingerprint(one) in beside:
                unchanged += 1
            else:
                rows.append({**keys, **answer_values(one, None)})
            continue
        state = State.JUDGED if one.grade is not None else State.CANNOT
        reason = "" if one.unreadable is None else one.unreadable.value
        old = current.get(pair)
        if old is not None:
            if (old.state, old.grade, old.reason) == (state, one.grade, reason):
                unchanged += 1
                continue
            was, new = (old.state if old.grade is None else old.grade), one.grade
            differing.append(f"{one.topic} {one.docno}: {was} -> {reason if new is None else new}")
        revision = 1 if old is None else old.revision + 1
        words = reason.encode(), one.note.encode("utf-8", "surrogatepass")
        acted = ACTION_OF[state].value, state.value, one.grade, *words, "0"
        events.append((*pair, number, revision, *acted))
        rows.append({**keys, **answer_values(one, now)})
    if not replace:
        refuse_differing(judge, differing)
    with importing(f"`{judge}`"):
        append_states(session, sorted(events), now)
    for first in range(0, len(rows), _BATCH):
        session.connection().execute(insert(ANSWER), rows[first : first + _BATCH])
    write_event_digests(session, ANSWER)
    return ImportReport(added=len(rows) - len(differing), unchanged=unchanged, replaced=len(differing))


def _fingerprint(answer: Answer) -> tuple[object, ...]:
    return answer.topic, answer.docno, *(value for _, value in sorted(answer_values(answer, None).items()))


def fetch_work(session: Session) -> list[ModelWork]:
    """Return what every model judge with an answer or a judgement did, by name."""
    models = select(JUDGE.c.id, JUDGE.c.name).where(JUDGE.c.kind == JudgeKind.MODEL.value)
    names = {row.id: row.name for row in session.execute(models.order_by(JUDGE.c.name))}
    at = JUDGEMENT.c.judged_at
    span = select(JUDGEMENT.c.judge_id, func.min(at).label("first"), func.max(at).label("last"))
    decided = span.where(JUDGEMENT.c.judge_id.in_(names), JUDGEMENT.c.state.in_(DECIDED))
    spans = {row.judge_id: row for row in session.execute(decided.group_by(JUDGEMENT.c.judge_id))}
    columns = [ANSWER.c[name] for name in ("judge_id", "asked", "judged_at", "unreadable", *ANSWER_VALUES)]
    rows: dict[int, list[Row[Any]]] = {}
    for row in session.execute(select(*columns).order_by(ANSWER.c.id)):
        rows.setdefault(row.judge_id, []).append(row)
    return [
        _work(name, rows.get(number, []), spans.get(number))
        for number, name in names.items()
        if number in rows or number in spans
    ]


_SUMMED = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "cost")


def _work(judge: str, rows: Sequence[Row[Any]], span: Row[Any] | None) -> ModelWork:
    n_all = len(rows)
    rows = [row for row in rows if row.asked not in CANARIES]
    led = [row for row in rows if row.judged_at is not None]
    reasons = [row.unreadable for row in led if row.unreadable is not None]
    seconds = [
        (row.received_at - row.sent_at).total_seconds()
        for row in rows
        if row.sent_at is not None and row.received_at is not None
    ]
    return ModelWork(
        judge=judge,
        answers=len(rows),
        canaries=n_all - len(rows),
        judged=sum(row.grade is not None for row in led),
        unreadable={reason: reasons.count(reason) for reason in Unreadable if reason in reasons},
        failed=sum(row.grade is None and row.unreadable is None for row in rows),
        retries=sum(row.attempt - 1 for row in rows),
        **{name: _total(row._mapping[name] for row in rows) for name in _SUMMED},
        seconds=sum(seconds) if seconds else None,
        first_at=None if span is None else span.first,
        last_at=None if span is None else span.last,
        served_models=tuple(sorted({row.served_model or NOT_STATED for row in rows if row.status == 200})),
        fingerprints=tuple(dict.fromkeys(row.fingerprint for row in rows if row.fingerprint)),
    )


def _total(values: Iterable[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class TextKeys:
    """What texts are of, for files that name none: ``None`` = of several."""

    topics: Mapping[bytes, str | None]
    """By the hash of a title, or of a description."""
    documents: Mapping[bytes, str | None]
    """By the hash of a text, or of title and text with a blank or a line end between."""


def text_key(text: str) -> bytes:
    """Return the hash of a text; blanks around and between its words do not count."""
    return sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).digest()


def _keys_of(texts: Iterable[tuple[str, Iterable[str]]]) -> dict[bytes, str | None]:
    """Return by the hash of a text what it is of, given names and their texts; ``None`` = of several."""
    known: dict[bytes, str | None] = {}
    for name, own in texts:
        for key in {text_key(text) for text in own if text and not text.isspace()}:
            known[key] = name if known.get(key, name) == name else None
    return known


class Models(Area):
    """The model judges of a collection."""

    def text_keys(self) -> TextKeys:
        """Return the documents of every text of the collection."""
        with self._db.reading() as session:
            topics = session.execute(select(TOPIC))
            documents = session.execute(select(DOCUMENT).where(DOCUMENT.c.text.is_not(None)))
            return TextKeys(
                _keys_of((row.number, (row.title, row.description)) for row in topics),
                _keys_of((row.docno, (row.text, f"{row.title or ''} {row.text}")) for row in documents),
            )

    def all(self) -> list[StatedModel]:
        """Return every judge of kind model; see `fetch_models`."""
        with self._db.reading() as session:
            return fetch_models(session)

    def add(self, name: str, identity: ModelIdentity, *, prompt: str | None = None) -> bool:
        """Store the identity of a model judge; see `state_model`."""
        with self._db.writing(bulk=True) as session:
            return state_model(session, name, identity, prompt=prompt)

    def work(self) -> list[ModelWork]:
        """Return what model judges did; see `fetch_work`."""
        with self._db.reading() as session:
            return fetch_work(session)

    def answers(self, judge: str) -> list[Answer]:
        """Return the answers of a judge; see `fetch_answers`."""
        with self._db.reading_topics() as (session, topics):
            return list(fetch_answers(session, topics, judge=judge))

    def take(
        self,
        judge: str,
        answers: Sequence[Answer],
        *,
        identity: ModelIdentity | None = None,
        prompt: str | None = None,
        replace: bool = False,
    ) -> ImportReport:
        """Import answers of a judge, who is added where there is none; see `import_answers`."""
        for one in answers:
            check_answer(one, self._db.scale)
        with self._db.filling() as inside:
            if identity is None:
                add_judge(inside.session, judge, JudgeKind.MODEL)
            else:
                state_model(inside.session, judge, identity, prompt=prompt)
            return import_answers(
                inside.session, inside.topics, inside.documents, judge, answers, replace=replace
            )


STATING_HINT = (
    "pooler judges add OTHER --model CARD.toml states one that can be asked, by a card with model, host,"
    ' prompt, endpoint = "chat-completions", parser = "json-grade:1", shows = ["topic.title", "doc.text"]'
)


class AnotherModelError(ConflictError):
    """The server answers as another model than before."""


class ModelDesk(Desk):
    """One model's work on one collection, in one sitting: what `Desk` shows, and answers in place of keys."""

    patience_ms = None  # no one waits before a screen

    def __init__(
        self, engine: Engine, judge: str, scale: Scale, *, program: str = "", fields: tuple[str, ...] = ()
    ) -> None:
        super().__init__(engine, judge, scale, program=program, fields=fields)
        self._guideline = 0  # a model judges by its prompt alone
        self._served = ""
        """The model that the server answered as before; empty = not looked up, or none."""
        with reading(engine) as session:
            kind = judge_named(session, judge, "kind").kind
            row = session.execute(select(MODEL_JUDGE).where(MODEL_JUDGE.c.judge_id == self._judge_id)).first()
        if kind != JudgeKind.MODEL:
            message = f"judge `{judge}` is of kind {kind}, and only a model is asked by a program"
            raise StoreError(message, hint=STATING_HINT)
        if row is None:
            raise StoreError(f"model judge `{judge}` has no description", hint=STATING_HINT)
        self.identity = identity_of(row)
        self.prompt: str | None = row.prompt

    def answered(self, asked: Asked) -> set[tuple[str, str]]:
        """Return topic and docno of every pair that has an answer of a kind, readable or not."""
        query = (
            select(TOPIC.c.number, DOCUMENT.c.docno)
            .select_from(ANSWER)
            .join(TOPIC, TOPIC.c.id == ANSWER.c.topic_id)
            .join(DOCUMENT, DOCUMENT.c.id == ANSWER.c.document_id)
            .where(ANSWER.c.judge_id == self._judge_id, ANSWER.c.asked == asked.value, IS_REPLY)
        )
        with reading(self._engine) as session:
            return {(topic, docno) for topic, docno in session.execute(query)}

    def is_answered(self, topic: str, docno: str, asked: Asked) -> bool:
        """Return whether a pair has an answer of a kind, readable or not; or a current judgement."""
        with reading(self._engine) as session:
            known = self._pair_of(session, Answer(self.judge, topic, docno))
            if asked is Asked.JUDGE:
                now = self._current(session, *known)
                return now is not None and now.state in DECIDED
            own = (ANSWER.c.judge_id == self._judge_id, ANSWER.c.asked == asked.value)
            pair = (ANSWER.c.topic_id == known[0], ANSWER.c.document_id == known[1])
            return session.scalar(select(ANSWER.c.id).where(*own, *pair, IS_REPLY).limit(1)) is not None

    def spent(self) -> Spent:
        """Return what all answers of the judge took, repetitions and canaries too."""
        counts = [ANSWER.c[name] for name in ("prompt_tokens", "completion_tokens", "cached_tokens")]
        both = func.coalesce(counts[0], 0) + func.coalesce(counts[1], 0)
        unpriced = [func.sum(count).filter(ANSWER.c.cost.is_(None)) for count in counts]
        found = [func.sum(both), func.max(both), func.sum(ANSWER.c.cost), *unpriced]
        query = select(*found).where(ANSWER.c.judge_id == self._judge_id)
        with reading(self._engine) as session:
            tokens, largest, cost, *others = session.execute(query).one()
        prompt, completion, cached = (int(one or 0) for one in others)
        return Spent(int(tokens or 0), int(largest or 0), float(cost or 0.0), (prompt, completion, cached))

    def holding(self) -> ProcessLocks:
        """Return what keeps two programs of one judge from asking the same."""
        return ProcessLocks(self._engine)

    def answer(self, answer: Answer) -> Task | None:
        """Store an answer, and with it the judgement it leads to; return how the document stands then.

        ``None`` = it leads to none: a canary, a repetition, or a request that failed for good. The same
        answer again, after a connection broke, is not written twice. `ConflictError`: the pair is another
        judge's, or has a judgement of this one already; `AnotherModelError`: the server answered as another
        model than before.
        """
        if answer.judge != self.judge:
            raise ArgumentError("answer", f"must be of judge `{self.judge}`", answer.judge)
        check_answer(answer, self.scale)
        self._sit()
        with self._writing() as session:
            topic, document = self._pair_of(session, answer)
            keys = {"judge_id": self._judge_id, "topic_id": topic, "document_id": document}
            old = self._current(session, topic, document)
            known = answer_values(answer, None)
            same = [ANSWER.c[name].is_not_distinct_from(known[name]) for name in _SAME]
            is_there = and_(*(ANSWER.c[name] == value for name, value in keys.items()), *same)
            if session.scalar(select(ANSWER.c.id).where(is_there).limit(1)) is not None:
                return self._task(session, answer.docno, old) if answer.is_judgement and old else None
            self._check_served(session, answer)
            row = None
            if answer.is_judgement:
                row = self._judge(session, answer, old)
            at = None if row is None else row.judged_at
            added = session.execute(
                insert(ANSWER).values({**keys, **known, "judged_at": at}).returning(ANSWER.c.id)
            )
            write_event_digests(session, ANSWER, where=f"answer.id = {added.scalar_one():d}")
            return None if row is None else self._task(session, answer.docno, row)

    def _judge(self, session: Session, answer: Answer, old: Row[Any] | None) -> Row[Any]:
        if old is not None and old.state in DECIDED:
            message = f"topic {answer.topic} `{answer.docno}` has a judgement of `{self.judge}` already"
            raise ConflictError(message, hint="it stands: a model is asked once")
        is_graded = answer.grade is not None
        decision = Decision(
            answer.topic,
            answer.docno,
            Action.JUDGE if is_graded else Action.CANNOT,
            grade=answer.grade,
            reason="" if answer.unreadable is None else answer.unreadable.value,
            note=answer.note or None,
            document_sha256=answer.document_sha256,
            shown_at=answer.sent_at,
        )
        if answer.topic_version is not None:
            self._topic_versions[self._topic_ids[answer.topic]] = answer.topic_version
        row, _ = self._append(session, decision, old)
        return row

    def _pair_of(self, session: Session, answer: Answer) -> tuple[int, int]:
        topic = self._topic_id(session, answer.topic)
        if answer.docno not in self._document_ids:
            row = row_named(session, "document", DOCUMENT.c.docno, answer.docno, "id")
            self._document_ids[answer.docno] = row.id
        return topic, self._document_ids[answer.docno]

    def _check_served(self, session: Session, answer: Answer) -> None:
        """Stop where the server answers as another model than before: that is another judge."""
        if not answer.served_model:
            return
        if not self._served:
            own = (ANSWER.c.judge_id == self._judge_id, ANSWER.c.served_model != "")
            self._served = session.scalar(select(ANSWER.c.served_model).where(*own).limit(1)) or ""
        if self._served not in ("", answer.served_model):
            message = (
                f"the server answered as model `{answer.served_model}`, and before as `{self._served}`:"
                f" two models are two judges, and `{self.judge}` is one"
            )
            raise AnotherModelError(message, hint="nothing of this answer was stored; take another name")


_SAME = ("asked", "request_sha256", "attempt", "sent_at", "received_at", "grade", "unreadable")
"""What makes two answers of a pair the same."""
