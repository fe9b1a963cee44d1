"""The desk of a model judge: an answer and its judgement event are written in one transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, Row, and_, insert, select
from sqlmodel import Session

from store.content.lookup import row_named
from store.db.digests import write_event_digests
from store.db.engine import reading
from store.db.process_locks import ProcessLocks
from store.db.tables import ANSWER, DOCUMENT, MODEL_JUDGE
from store.errors import ArgumentError, ConflictError, StoreError
from store.judging.desk import Desk
from store.judging.judges import judge_named
from store.judging.models.stored import (
    IS_REPLY,
    Spent,
    answer_values,
    check_answer,
    fetch_answered,
    fetch_spent,
    identity_of,
)
from store.model_judge import Answer, Asked
from store.records import DECIDED, Action, Decision, JudgeKind, Scale, Task

STATING_HINT = (
    "pooler judges add OTHER --model CARD.toml states one that can be asked, by a card with model, host,"
    ' prompt, endpoint = "chat-completions", parser = "json-grade:1", shows = ["topic.title", "doc.text"]'
)


class AnotherModelError(ConflictError):
    """The server answers as another model than before."""


class ModelDesk(Desk):
    """One model's work on one collection, in one sitting: what `Desk` shows, and answers in place of keys."""

    _patience_ms = None  # nobody waits before a screen

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
            message = f"model judge `{judge}` has no description"
            raise StoreError(message, hint=STATING_HINT)
        self.identity = identity_of(row)
        self.prompt: str | None = row.prompt

    def answered(self, asked: Asked) -> set[tuple[str, str]]:
        """Return topic and docno of every pair that has an answer of a kind, readable or not."""
        with reading(self._engine) as session:
            return fetch_answered(session, self._judge_id, asked)

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
        """Say what all answers of the judge took, repetitions and canaries too."""
        with reading(self._engine) as session:
            return fetch_spent(session, self._judge_id)

    def version_of(self, topic: str) -> int | None:
        """Return the version of a topic's text that was read last; ``None`` = none was."""
        return self._topic_versions.get(self._topic_ids.get(topic, 0))

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
        row, _ = self._append(session, decision, old, seen=0 if old is None else old.revision)
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
