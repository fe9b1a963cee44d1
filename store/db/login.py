"""Who has a collection open on a server, where the server itself enforces who may see what.

A collection has roles once `pooler grant` made them (`store.roles`). Then a login is tied to one judge,
or reads everything, or is the owner's. It is asked once, when a collection is opened; without roles, and
on SQLite, there is no login, and nothing is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Engine, text
from sqlmodel import Session

from store.errors import StoreError

LOGIN_TABLE = "pooler_login"
"""Which login is which judge; it is there where a collection has roles."""
_OPTION = "pooler_login"


class Role(StrEnum):
    """What a login may do in a collection; the order is that of what it sees, the most first."""

    ORGANISER = "organiser"
    READER = "reader"
    DRAWER = "drawer"
    ADJUDICATOR = "adjudicator"
    JUDGE = "judge"


OWNER = "owner"
"""Who made the tables, and whoever stands above every right, as a superuser does."""
SEATED = (Role.JUDGE, Role.ADJUDICATOR)
"""Roles of those who are a judge of the collection, and see what is theirs alone."""
LIMITED = (*SEATED, Role.DRAWER)
"""Roles that do not see everything."""
_MAY = {
    Role.JUDGE: "judges and sees its own judgements alone",
    Role.ADJUDICATOR: "settles disagreements and sees no judge's name",
    Role.DRAWER: "draws from adaptive pools, and nothing else",
    Role.READER: "reads everything and changes nothing",
    Role.ORGANISER: "changes everything but the tables themselves, the roles and the logins",
}


@dataclass(frozen=True, slots=True)
class Login:
    """A login of the server on a collection that has roles."""

    name: str
    role: str
    """A `Role`, or `OWNER`."""
    judge_id: int = 0
    """Row id of the judge it is tied to; 0 = of none."""
    judge: str = ""
    kind: str = ""
    """Of the judge."""

    @property
    def is_limited(self) -> bool:
        """Whether it sees a part of the collection alone."""
        return self.role in LIMITED

    @property
    def is_seated(self) -> bool:
        """Whether it is a judge's or an adjudicator's, and writes through functions of the owner."""
        return self.role in SEATED

    @property
    def hint(self) -> str:
        """What would let it do more."""
        if self.role == OWNER:
            return (
                f"login `{self.name}` has the role of the owner; the server's administrator has more rights"
            )
        may = _MAY[Role(self.role)]
        return f"login `{self.name}` has the role {self.role}, which {may}; `pooler grant` gives another"

    def refuse_others(self, where: str, *roles: Role) -> None:
        """Raise `StoreError` if it sees a part alone, and has none of these roles."""
        if self.is_limited and self.role not in roles:
            message = f"{where}: this needs to see more than the login `{self.name}` does"
            raise StoreError(message, hint=self.hint)

    def sits_as(self, judge: str | None, role: Role) -> str | None:
        """Return who sits down: for a judge's login that judge alone, else whoever was named.

        `StoreError`: it is another judge's, nobody's, or of a role that only looks.
        """
        command = "judge" if role is Role.JUDGE else "adjudicate"
        if not self.is_seated:
            if self.role in (Role.READER, Role.DRAWER):
                message = f"login `{self.name}` has the role {self.role}, and cannot {command}"
                raise StoreError(message, hint=f"pooler grant {self.name} --role {role} gives it that role")
            return judge
        if not self.judge:
            message = f"login `{self.name}` is tied to no judge of this collection"
            raise StoreError(
                message, hint=f"an organiser: pooler grant {self.name} --role {role} --judge NAME"
            )
        if self.role != role:
            other = "adjudicate" if role is Role.JUDGE else "judge"
            message = f"login `{self.name}` has the role {self.role}, and cannot {command}"
            raise StoreError(message, hint=f"pooler {other} is for it")
        if judge not in (None, self.judge):
            message = f"this login judges as `{self.judge}`, not as `{judge}`"
            raise StoreError(
                message, hint=f"--judge {self.judge}, or leave it out; `{judge}` has another login"
            )
        return self.judge


_ROLES = text("""
    SELECT session_user, array(
        SELECT policy.polname FROM pg_policy policy
        WHERE policy.polrelid = 'collection'::regclass AND EXISTS (
            SELECT FROM unnest(policy.polroles) AS held (role)
            WHERE pg_has_role(session_user, held.role, 'USAGE')))
""")
_JUDGE = text("SELECT id, name, kind FROM pooler_whoami()")


def note_login(engine: Engine, session: Session, where: str, columns: set[tuple[str, str]]) -> None:
    """Find out in a session whose login an engine's connections are, and note it; `columns` are those stored.

    `StoreError`: the collection has roles, and the login has none.
    """
    if (LOGIN_TABLE, "login") not in columns:
        return
    name, policies = session.execute(_ROLES).one()
    held = [role for role in (OWNER, *Role) if policy_name(role) in policies]
    if not held:
        message = f"{where}: login `{name}` has no role in this collection"
        raise StoreError(message, hint=f"an organiser: pooler grant {name} --role ROLE")
    login = Login(name, held[0])
    if login.is_seated and (row := session.execute(_JUDGE).first()) is not None:
        login = Login(name, held[0], row.id, row.name, row.kind)
    engine.update_execution_options(**{_OPTION: login})


def policy_name(role: str) -> str:
    """Name the policy of a role on a table; on `collection` every role has one."""
    return f"pooler_{role}"


def login_of(bind: Any) -> Login | None:
    """Return the login of an engine or connection; ``None`` = the collection has no roles."""
    found: Login | None = bind.get_execution_options().get(_OPTION)
    return found


def is_seated(session: Session) -> bool:
    """Say whether a session is of a judge's own login: it asks functions of the owner."""
    login = login_of(session.get_bind())
    return login is not None and login.is_seated
