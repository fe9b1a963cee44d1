"""Documents of adaptive pools asked for by judges' own logins, and the answers of whoever may draw.

A strategy looks at runs and at everybody's grades, to which a judge has no right: the judge asks in a row
of a table, and a program of the organiser draws and answers there. What is drawn is stored as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from store.content.lookup import topic_id
from store.db.database import Area
from store.db.engine import translated_errors
from store.db.login import OWNER, Role
from store.db.tables import POOL, POOL_TOPIC
from store.errors import StoreError

_WAITING = text("""
    SELECT request.judge_id, request.topic_id, topic.number AS topic, request.asked_at
    FROM pooler_draw request JOIN topic ON topic.id = request.topic_id
    WHERE request.answered_at IS NULL ORDER BY request.asked_at""")
# Asked again meanwhile, it is another request.
_ANSWER = text("""
    UPDATE pooler_draw SET answered_at = clock_timestamp(), drawn = :drawn, fault = :fault
    WHERE judge_id = :judge AND topic_id = :topic AND asked_at = :asked_at""")
_ANSWERED = text("SELECT drawn, fault FROM pooler_draw WHERE topic_id = :topic AND answered_at IS NOT NULL")


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """A judge asks for the next document of a topic."""

    judge_id: int
    topic_id: int
    topic: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class DrawAnswer:
    """What came of it."""

    drawn: bool
    """False = no pool has one left."""
    fault: str | None = None
    """Why nothing could be drawn."""


class Requests(Area):
    """Draws that are asked for and answered."""

    def are_adaptive(self) -> bool:
        """Say whether a pool in use is adaptive."""
        with self._db.reading() as session:
            query = select(POOL_TOPIC.c.topic_id).join(POOL, POOL.c.id == POOL_TOPIC.c.pool_id)
            return session.scalar(query.where(~POOL.c.withdrawn).limit(1)) is not None

    def check_may_draw(self) -> None:
        """Refuse a collection in which nobody can ask, and a login that may not draw (`StoreError`)."""
        login = self._db.login
        if login is None:
            message = f"{self._db.where} has no roles: judges draw for themselves as they judge"
            raise StoreError(
                message, hint="pooler grant gives judges logins of their own on a PostgreSQL server"
            )
        if login.role not in (OWNER, Role.ORGANISER, Role.DRAWER):
            message = f"{self._db.where}: login `{login.name}` may not draw"
            raise StoreError(message, hint=login.hint)

    def ask(self, topic: str) -> bool:
        """Ask for the next document of a topic; False = one lies before the judge that has no event yet."""
        with self._db.writing() as session:
            return bool(
                session.scalar(text("SELECT pooler_want(:topic)"), {"topic": topic_id(session, topic)})
            )

    def answer(self, topic: str) -> DrawAnswer | None:
        """Return the answer to what was asked last; ``None`` = there is none yet."""
        with self._db.reading() as session:
            row = session.execute(_ANSWERED, {"topic": topic_id(session, topic)}).first()
            return None if row is None else DrawAnswer(bool(row.drawn), row.fault)

    def waiting(self) -> list[DrawRequest]:
        """Return what is not answered, the oldest first."""
        with self._db.reading() as session:
            return [DrawRequest(*row) for row in session.execute(_WAITING)]

    def settle(self, request: DrawRequest, answer: DrawAnswer) -> None:
        """Answer a request, unless it has been made anew."""
        values = {"judge": request.judge_id, "topic": request.topic_id, "asked_at": request.asked_at}
        with self._db.writing() as session:
            session.execute(_ANSWER, {**values, "drawn": answer.drawn, "fault": answer.fault})

    @contextmanager
    def listening(self) -> Iterator[Callable[[float], None]]:
        """Give what waits until somebody asks, or so many seconds; requests before are not told."""
        engine = self._db.engine
        with (
            translated_errors(engine),
            Session(engine.execution_options(isolation_level="AUTOCOMMIT")) as session,
        ):
            session.execute(text("LISTEN pooler_draw"))
            connection: Any = session.connection().connection.driver_connection
            failure = engine.dialect.loaded_dbapi.Error

            def wait(seconds: float) -> None:
                try:
                    for _ in connection.notifies(timeout=seconds, stop_after=1):
                        pass
                except failure as error:
                    # As SQLAlchemy words it, for whoever expects that.
                    raise DBAPIError.instance(
                        "LISTEN", None, error, failure, dialect=engine.dialect
                    ) from error

            yield wait
