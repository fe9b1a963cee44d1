"""Access codes: with one a judge comes in by a browser, and as whom.

A code is 125 bits by chance, so that it cannot be guessed and its hash needs not be slow; only the hash is
kept. A judge has one at most: a new one ends the one before.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import Select, delete, insert, select

from store.db.database import Area
from store.db.engine import database_now
from store.db.tables import JUDGE, JUDGE_CODE
from store.errors import ConflictError
from store.judging.judges import judge_named
from store.records import JudgeKind

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Five bits each; none that is like another."""
_LIKE = str.maketrans("oil", "011")
_GROUPS, _GROUP = 5, 5


class Access(NamedTuple):
    """A judge who may come in."""

    judge_id: int
    judge: str
    sha256: str
    """Of the code."""


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


def _valid_codes() -> Select[tuple[int, str, str]]:
    return (
        select(JUDGE.c.id, JUDGE.c.name, JUDGE_CODE.c.sha256)
        .join(JUDGE_CODE, JUDGE_CODE.c.judge_id == JUDGE.c.id)
        .where(~JUDGE.c.disabled, JUDGE.c.kind == JudgeKind.HUMAN.value)
    )


class Codes(Area):
    """The access codes of a collection's judges."""

    def give(self, judge: str) -> str:
        """Make the code of a judge and return it: it can be had once. The one before ends.

        `ConflictError`: the judge is disabled, or does not judge.
        """
        with self._db.writing(bulk=True) as session:
            row = judge_named(session, judge, "id", "kind", "disabled")
            if row.kind != JudgeKind.HUMAN.value:
                message = f"judge `{judge}` is of kind {row.kind}: only people judge in a browser"
                raise ConflictError(message, hint="pooler judges add NAME adds a person")
            if row.disabled:
                message = f"judge `{judge}` is disabled"
                raise ConflictError(message, hint=f"pooler judges enable {judge}")
            code = new_code()
            session.execute(delete(JUDGE_CODE).where(JUDGE_CODE.c.judge_id == row.id))
            values = {"judge_id": row.id, "sha256": hash_of(code), "made_at": database_now(session)}
            session.execute(insert(JUDGE_CODE).values(values))
            return code

    def revoke(self, judge: str) -> bool:
        """Remove a judge's code; return whether there was one."""
        with self._db.writing(bulk=True) as session:
            number = judge_named(session, judge, "id").id
            gone = delete(JUDGE_CODE).where(JUDGE_CODE.c.judge_id == number)
            return bool(session.connection().execute(gone).rowcount)

    def judge_of(self, code: str) -> Access | None:
        """Return the judge of a code; ``None`` = there is none."""
        with self._db.reading() as session:
            row = session.execute(_valid_codes().where(JUDGE_CODE.c.sha256 == hash_of(code))).first()
            return None if row is None else Access(*row)

    def valid(self) -> frozenset[Access]:
        """Return all valid codes with the judges' present names."""
        with self._db.reading() as session:
            return frozenset(Access(*row) for row in session.execute(_valid_codes()))
