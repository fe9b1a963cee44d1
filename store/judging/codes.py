"""Access codes and logins: with a code a judge comes in by a browser, and a login is one that came in.

A code is 125 bits by chance, so that it cannot be guessed and its hash needs not be slow; only the hash is
kept. A judge has one at most: a new one ends the one before, and the logins of that one.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, delete, insert, select, update

from store.db.database import Area
from store.db.engine import database_now
from store.db.tables import JUDGE, JUDGE_CODE, LOGIN
from store.errors import ConflictError
from store.judging.judges import judge_named
from store.records import JudgeKind

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Five bits each; none that is like another."""
_LIKE = str.maketrans("oil", "011")
_GROUPS, _GROUP = 5, 5
IDLE, LONGEST = timedelta(minutes=30), timedelta(hours=12)
"""Without a request for so long, and after so long in any case, a login ends."""
_FRESH = timedelta(minutes=1)
"""A request is noted unless one was so lately."""
_WHO_COME = (JudgeKind.HUMAN.value, JudgeKind.ADJUDICATOR.value)


class Access(NamedTuple):
    """A judge who may come in."""

    judge_id: int
    judge: str
    kind: JudgeKind
    sha256: str = ""
    """Of the code; empty = another login vouches for the judge."""


def new_code() -> str:
    """Make a code, in groups that can be read out and typed."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def hash_of(code: str) -> str:
    """Return what is kept of a code, however it was typed: in capitals, with blanks, an `O` for a zero.

    Examples
    --------
    >>> hash_of("k0f3m-x01zp") == hash_of(" KoF3M XOLZP")
    True
    """
    letters = "".join(letter for letter in code.lower() if letter.isalnum())
    return sha256(letters.translate(_LIKE).encode("utf-8", "surrogatepass")).hexdigest()


def _may_come() -> ColumnElement[bool]:
    return ~JUDGE.c.disabled & JUDGE.c.kind.in_(_WHO_COME)


def _valid_codes() -> Select[tuple[int, str, str, str]]:
    columns = JUDGE.c.id, JUDGE.c.name, JUDGE.c.kind, JUDGE_CODE.c.sha256
    return select(*columns).join(JUDGE_CODE, JUDGE_CODE.c.judge_id == JUDGE.c.id).where(_may_come())


def _access(judge_id: int, judge: str, kind: str, sha256: str = "") -> Access:
    return Access(judge_id, judge, JudgeKind(kind), sha256)


class Codes(Area):
    """The access codes of a collection's judges."""

    def give(self, judge: str) -> str:
        """Make the code of a judge and return it: it can be had once. The one before ends.

        `ConflictError`: the judge is disabled, or does not judge.
        """
        with self._db.writing(bulk=True) as session:
            row = judge_named(session, judge, "id", "kind", "disabled")
            if row.kind not in _WHO_COME:
                message = f"judge `{judge}` is of kind {row.kind}: only people judge in a browser"
                raise ConflictError(message, hint="pooler judges add NAME adds a person")
            if row.disabled:
                message = f"judge `{judge}` is disabled"
                raise ConflictError(message, hint=f"pooler judges enable {judge}")
            code = new_code()
            for table in (JUDGE_CODE, LOGIN):
                session.execute(delete(table).where(table.c.judge_id == row.id))
            values = {"judge_id": row.id, "sha256": hash_of(code), "made_at": database_now(session)}
            session.execute(insert(JUDGE_CODE).values(values))
            return code

    def revoke(self, judge: str) -> bool:
        """Remove a judge's code; return whether there was one."""
        with self._db.writing(bulk=True) as session:
            number = judge_named(session, judge, "id").id
            session.execute(delete(LOGIN).where(LOGIN.c.judge_id == number))
            gone = delete(JUDGE_CODE).where(JUDGE_CODE.c.judge_id == number)
            return bool(session.connection().execute(gone).rowcount)

    def judge_of(self, code: str) -> Access | None:
        """Return the judge of a code; ``None`` = there is none."""
        with self._db.reading() as session:
            row = session.execute(_valid_codes().where(JUDGE_CODE.c.sha256 == hash_of(code))).first()
            return None if row is None else _access(*row)

    def judge_called(self, name: str) -> Access | None:
        """Return the judge of a name, for whom another login vouches; ``None`` = nobody who may judge."""
        query = select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.kind).where(_may_come(), JUDGE.c.name == name)
        with self._db.reading() as session:
            row = session.execute(query).first()
            return None if row is None else _access(*row)

    def count(self) -> int:
        """Count the valid codes."""
        with self._db.reading() as session:
            return len(session.execute(_valid_codes()).all())

    def log_in(self, access: Access) -> str:
        """Begin a login of a judge, and return what the browser's cookie holds."""
        token = secrets.token_urlsafe(32)
        with self._db.writing() as session:
            now = database_now(session)
            is_over = (LOGIN.c.seen_at < now - IDLE) | (LOGIN.c.began_at < now - LONGEST)
            session.execute(delete(LOGIN).where(is_over))
            whose = {"judge_id": access.judge_id, "code_sha256": access.sha256}
            values = {"sha256": _hash(token), "began_at": now, "seen_at": now, **whose}
            session.execute(insert(LOGIN).values(values))
        return token

    def login_of(self, token: str) -> Access | None:
        """Return whose login a cookie holds, and note that it is used; ``None`` = it is over, or none."""
        query = _valid_codes().join(
            LOGIN, (LOGIN.c.judge_id == JUDGE.c.id) & (LOGIN.c.code_sha256 == JUDGE_CODE.c.sha256)
        )
        with self._db.reading() as session:
            now = database_now(session)
            lasts = (LOGIN.c.seen_at > now - IDLE) & (LOGIN.c.began_at > now - LONGEST)
            columns = query.add_columns(LOGIN.c.seen_at).where(LOGIN.c.sha256 == _hash(token), lasts)
            row = session.execute(columns).first()
        if row is None:
            return None
        *found, seen_at = row
        if now - seen_at > _FRESH:
            with self._db.writing() as session:
                session.execute(update(LOGIN).where(LOGIN.c.sha256 == _hash(token)).values(seen_at=now))
        return _access(*found)

    def log_out(self, token: str) -> None:
        """End a login."""
        with self._db.writing() as session:
            session.execute(delete(LOGIN).where(LOGIN.c.sha256 == _hash(token)))


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
