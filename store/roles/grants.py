"""Roles made, logins let in and put out, and who has which role."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from store.db.database import Area
from store.db.login import LOGIN_TABLE, Role, policy_name
from store.db.tables import POOL
from store.errors import ArgumentError, ConflictError, StoreError
from store.fields import id_fault
from store.judging.judges import judge_named
from store.records import JudgeKind
from store.roles.faults import role_faults
from store.roles.statements import (
    LONGEST_NAME,
    RolesPlace,
    let_in,
    literal,
    make_groups,
    make_roles,
    mark_of,
    quoted,
)

_PASSWORD_BYTES = 18
"""144 bits: nobody guesses it, so no slow hash is needed."""
_GIVERS_SINCE = 16_00_00
"""The version of PostgreSQL from which on a membership is each giver's own."""
_KINDS = {Role.JUDGE: JudgeKind.HUMAN, Role.ADJUDICATOR: JudgeKind.ADJUDICATOR}
_LONGEST_ROLE = max(len(role) for role in Role) + 1
_HERE = text("""
    SELECT current_database(), current_schema(), pg_get_userbyid(relowner),
           (SELECT rolname FROM pg_policy JOIN pg_roles held ON held.oid = ANY(polroles)
            WHERE polrelid = pg_class.oid AND polname = :reader)
    FROM pg_class WHERE oid = 'collection'::regclass""")
_MEMBERS = """pg_auth_members JOIN pg_roles person ON person.oid = member
    JOIN pg_roles held ON held.oid = roleid"""
_HOLDS = "(NOT admin_option OR pg_has_role(member, roleid, 'USAGE'))"
"""Not of whoever may only let others in, as who made a group may from PostgreSQL 16 on."""
_GRANTED = text(f"""
    SELECT person.rolname AS login, held.rolname AS held, person.rolcanlogin AS may_log_in,
           judge.name AS judge, judge.disabled AS disabled,
           (SELECT count(*) FROM pg_stat_activity
            WHERE usesysid = person.oid AND datname = current_database()) AS connections
    FROM {_MEMBERS}
    LEFT JOIN pooler_login ON pooler_login.login = person.rolname
    LEFT JOIN judge ON judge.id = pooler_login.judge_id
    WHERE held.rolname = ANY(:groups) AND (person.rolcanlogin OR judge.id IS NOT NULL) AND {_HOLDS}
    ORDER BY 1, 2""")


@dataclass(frozen=True, slots=True)
class Granted:
    """A login that has a role."""

    login: str
    role: Role
    judge: str | None
    """Which judge of the collection it is; ``None`` = none."""
    is_disabled: bool
    """Whether that judge is."""
    may_log_in: bool
    connections: int
    """Now, to this database."""


@dataclass(frozen=True, slots=True)
class LetIn:
    """What letting a login in did."""

    login: str
    role: Role
    judge: str | None
    password: str | None
    """New; it is kept nowhere. ``None`` = the login keeps the one it has."""
    were_made: bool
    """Whether the collection had no roles before, or others than this program's."""
    in_groups: tuple[str, ...] = ()
    """Logins that were members already of groups that were there before the collection had roles."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a collection is, as a client names it."""

    host: str
    """A name, an address, or the folder of a socket."""
    port: str
    database: str
    schema: str
    has_tls: bool = False
    """Whether this program reached it so."""

    @property
    def needs_tls(self) -> bool:
        """Whether a client must know that it is that server, and nobody between."""
        return self.has_tls or not self._is_local

    @property
    def _is_local(self) -> bool:
        return self.host.startswith(("/", "@")) or self.host in ("", "localhost", "127.0.0.1", "::1")


def has_roles(connection: Connection) -> bool:
    """Say whether a collection has roles."""
    if connection.dialect.name != "postgresql":
        return False
    found = text("SELECT to_regclass(quote_ident(current_schema()) || :name)")
    return connection.execute(found, {"name": f".{LOGIN_TABLE}"}).scalar() is not None


def place_of(session: Session) -> RolesPlace:
    """Find out where a collection is on its server, and what its groups are called."""
    database, schema, owner, reader = session.execute(_HERE, {"reader": policy_name(Role.READER)}).one()
    prefix = database if schema == "public" else f"{database}_{schema}"
    if reader is not None:
        # As they were made: a database may have another name since.
        prefix = reader.removesuffix(f"_{Role.READER}")
    if len(prefix.encode()) + _LONGEST_ROLE > LONGEST_NAME:
        message = f"the name of the database is too long for groups of its own: {prefix}"
        raise StoreError(
            message, hint=f"ALTER DATABASE ... RENAME TO one of at most {LONGEST_NAME - _LONGEST_ROLE} bytes"
        )
    return RolesPlace(database, schema, owner, prefix)


def apply_roles(session: Session) -> None:
    """Make the roles of a collection, or make them anew, in the transaction that is open."""
    place = place_of(session)
    present = set(_known_roles(session, [place.group(role) for role in Role]))
    run(session, make_groups(place, present))
    # What is made is the owner's, whoever makes it.
    run(session, [f"SET LOCAL ROLE {quoted(place.owner)}", "SET LOCAL lock_timeout = '10s'"])
    run(session, [*make_roles(place), "RESET ROLE"])


def faults_of_roles(session: Session) -> Iterator[str]:
    """Compare the roles of a collection with the program's; see `store.roles.faults.role_faults`."""
    return role_faults(session, place_of(session))


def run(session: Session, statements: Iterable[str]) -> None:
    """Run statements as they are: no sign in them is a place for a value."""
    connection: Any = session.connection().connection.driver_connection
    failure = session.get_bind().dialect.loaded_dbapi.Error
    for statement in statements:
        try:
            connection.execute(statement)
        except failure as error:
            # Not the statement itself, in which what the server keeps of a password may stand.
            kind = " ".join(statement.split()[:2])
            raise DBAPIError.instance(
                kind, None, error, failure, dialect=session.get_bind().dialect
            ) from error


def are_made(session: Session, place: RolesPlace) -> bool:
    """Say whether a collection has just the roles of this program."""
    if not has_roles(session.connection()):
        return False
    mark = session.scalar(text(f"SELECT obj_description('{LOGIN_TABLE}'::regclass)"))
    return mark == mark_of(make_roles(place)[:-1]) and next(role_faults(session, place), None) is None


def _known_roles(session: Session, names: Sequence[str]) -> dict[str, Any]:
    """Return the roles of the server that have some names."""
    query = text(
        "SELECT rolname, rolcanlogin, rolsuper OR rolbypassrls AS is_above FROM pg_roles"
        " WHERE rolname = ANY(:names)"
    )
    return {row.rolname: row for row in session.execute(query, {"names": list(names)})}


def check_login(login: str) -> None:
    """Refuse a name that cannot be a login's (`ArgumentError`)."""
    if fault := id_fault(login):
        raise ArgumentError("LOGIN", f"must be one word ({fault})", login)
    if len(login.encode()) > LONGEST_NAME:
        raise ArgumentError("LOGIN", f"must have at most {LONGEST_NAME} bytes", login)
    if login.startswith("pg_") or login.lower() in ("public", "none", "current_user", "session_user"):
        raise ArgumentError("LOGIN", "must be no name of the server's own", login)


class Roles(Area):
    """Who may see and do what in a collection on PostgreSQL."""

    def all(self) -> list[Granted]:
        """Return every login that has a role, by name; none where the collection has no roles."""
        self._check_server()
        with self._db.reading() as session:
            if not has_roles(session.connection()):
                return []
            place = place_of(session)
            groups = {place.group(role): role for role in Role}
            return [
                Granted(
                    row.login,
                    groups[row.held],
                    row.judge,
                    bool(row.disabled),
                    row.may_log_in,
                    row.connections,
                )
                for row in session.execute(_GRANTED, {"groups": list(groups)})
            ]

    def login_of(self, judge: str) -> str:
        """Return the login of a judge that judges; `StoreError`: there is none that may log in."""
        for one in self.all():
            if one.judge == judge and one.role is Role.JUDGE and one.may_log_in:
                return one.login
        message = f"judge `{judge}` has no login of their own"
        raise StoreError(message, hint=f"pooler grant LOGIN --role judge --judge {judge} makes one")

    def address(self) -> Address:
        """Say where the collection is, as this program reached it."""
        self._check_server()
        with self._db.reading() as session:
            connection: Any = session.connection().connection.driver_connection
            place, info = place_of(session), connection.info
            has_tls = bool(connection.pgconn.ssl_in_use)
            return Address(info.host, str(info.port), place.database, place.schema, has_tls)

    def open_to_judges(self) -> list[str]:
        """Say what a judge may find out all the same: the order of a pool that is laid by priority."""
        with self._db.reading() as session:
            query = select(POOL.c.name).where(POOL.c.display_order == "priority", ~POOL.c.withdrawn)
            pools = session.scalars(query.order_by(POOL.c.id)).all()
        return [
            f"pool `{name}` lies before judges by priority, which its order tells: --out-order docno hides it"
            for name in pools
        ]

    def faults(self) -> list[str]:
        """Compare the roles with the program's; see `store.roles.faults.role_faults`."""
        self._check_server()
        with self._db.reading() as session:
            return list(faults_of_roles(session)) if has_roles(session.connection()) else []

    def grant(self, login: str, role: Role, *, judge: str | None = None, new_password: bool = False) -> LetIn:
        """Give a login its one role, and the collection its roles first, in one transaction.

        A judge's and an adjudicator's login is tied to `judge`, by default of the same name. A login that
        the server does not know is made, with a password of 144 bits that is returned and kept nowhere:
        the server is sent what it keeps of it alone. `new_password`: one that it knows gets another, too.
        """
        with self._prepared(login, role, judge) as (session, place, number, name):
            were_made = not are_made(session, place)
            in_groups: tuple[str, ...] = ()
            if were_made:
                in_groups = () if has_roles(session.connection()) else _members(session, place)
                apply_roles(session)
            known = _known_roles(session, [login]).get(login)
            password = None
            if known is None or new_password or not known.rolcanlogin:
                password = secrets.token_urlsafe(_PASSWORD_BYTES)
            kept = None if password is None else _kept(session, login, password)
            exists = known is not None
            run(session, let_in(place, login, role, exists=exists, password=kept))
            _take_roles(session, place, login, role)
            _tie(session, login, number)
            return LetIn(login, role, name, password, were_made, in_groups)

    def statements(self, login: str, role: Role, *, judge: str | None = None) -> list[str]:
        """Return the SQL of `grant` for whoever runs the server, and change nothing; it sets no password."""
        with self._prepared(login, role, judge) as (session, place, number, _):
            present = set(_known_roles(session, [place.group(one) for one in Role]))
            exists = bool(_known_roles(session, [login]))
            made = [f"SET search_path = {quoted(place.schema)}"]
            if not are_made(session, place):
                made += [*make_groups(place, present), f"SET ROLE {quoted(place.owner)}", *make_roles(place)]
                made.append("RESET ROLE")
            made += let_in(place, login, role, exists=exists, password=None)
            made.append(f"DELETE FROM {LOGIN_TABLE} WHERE login = {literal(login)}")
            if number:
                made.append(
                    f"INSERT INTO {LOGIN_TABLE} (judge_id, login) VALUES ({number}, {literal(login)})"
                )
            session.rollback()
            return made

    def revoke(self, login: str) -> int | None:
        """Take a login's role; return how many connections were ended, ``None`` = that was not allowed.

        Whatever is still connected sees nothing from now on. A login that has no other role on the server
        cannot log in any more. `StoreError`: it has no role here.
        """
        granted = [one for one in self.all() if one.login == login]
        if not granted:
            message = f"{self._db.where}: login `{login}` has no role here"
            raise StoreError(message, hint="pooler grant --list shows who has one")
        with self._db.writing(bulk=True) as session:
            place = place_of(session)
            _tie(session, login, 0)
            _take_roles(session, place, login)
            others = text(
                "SELECT EXISTS (SELECT FROM pg_auth_members JOIN pg_roles ON pg_roles.oid = member"
                " WHERE rolname = :login)"
            )
            if not session.scalar(others, {"login": login}):
                run(session, [f"ALTER ROLE {quoted(login)} NOLOGIN"])
        ended = text(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = :login"
            " AND datname = current_database()"
        )
        with suppress(StoreError), self._db.writing() as session:
            return int(session.scalar(ended, {"login": login}) or 0)
        return None

    def _check_server(self) -> None:
        """Refuse a collection that is a file."""
        if self._db.engine.dialect.name != "postgresql":
            message = f"{self._db.where} is a file: whoever can read it reads all of it"
            raise StoreError(message, hint="pooler copy takes it to a PostgreSQL server, which has roles")

    @contextmanager
    def _prepared(
        self, login: str, role: Role, judge: str | None
    ) -> Iterator[tuple[Session, RolesPlace, int, str | None]]:
        """Open a transaction in which a login is let in, after all that can be refused before."""
        self._check_server()
        check_login(login)
        with self._db.writing(bulk=True) as session:
            place = place_of(session)
            if login == place.owner or login in {place.group(one) for one in Role}:
                what = "owns the collection" if login == place.owner else "is one of its groups"
                raise ConflictError(f"`{login}` {what}", hint="name another login")
            known = _known_roles(session, [login]).get(login)
            if known is not None and known.is_above:
                message = f"login `{login}` stands above every right of the server"
                raise ConflictError(
                    message, hint="name one that is no superuser's, or let pooler grant make one"
                )
            yield (session, place, *_seat(session, login, role, judge))


def _seat(session: Session, login: str, role: Role, judge: str | None) -> tuple[int, str | None]:
    """Return row id and name of the judge that a login is to be; 0 = the role is no judge's."""
    if role not in _KINDS:
        if judge is not None:
            raise ArgumentError("judge", f"is for the roles {' and '.join(_KINDS)}", judge)
        return 0, None
    name = judge or login
    row = judge_named(session, name, "id", "kind")
    if row.kind != _KINDS[role]:
        message = f"judge `{name}` is of kind {row.kind}, and the role {role} is for the kind {_KINDS[role]}"
        raise ConflictError(message, hint="models are asked by an organiser's login")
    if has_roles(session.connection()):
        query = text(f"SELECT login FROM {LOGIN_TABLE} WHERE judge_id = :judge")
        other = session.scalar(query, {"judge": row.id})
        if other not in (None, login):
            message = f"judge `{name}` has the login `{other}`"
            raise ConflictError(message, hint=f"pooler grant {other} --revoke takes it away")
    return int(row.id), name


def _tie(session: Session, login: str, judge: int) -> None:
    """Tie a login to a judge, by row id; 0 = to none."""
    session.execute(text(f"DELETE FROM {LOGIN_TABLE} WHERE login = :login"), {"login": login})
    if judge:
        values = {"judge": judge, "login": login}
        session.execute(text(f"INSERT INTO {LOGIN_TABLE} (judge_id, login) VALUES (:judge, :login)"), values)


def _members(session: Session, place: RolesPlace) -> tuple[str, ...]:
    """Return who is a member of groups that are there already, as of a database that was dropped."""
    query = text(
        f"SELECT DISTINCT person.rolname FROM {_MEMBERS}"
        f" WHERE held.rolname = ANY(:groups) AND person.rolcanlogin AND {_HOLDS} ORDER BY 1"
    )
    return tuple(session.scalars(query, {"groups": [place.group(role) for role in Role]}))


def _take_roles(session: Session, place: RolesPlace, login: str, *due: Role) -> None:
    """Take from a login the roles that are not due, whoever gave them.

    What somebody else gave a server does not take unless he or she is named, and tells so in a warning alone.
    """
    query = text(
        "SELECT held.rolname, pg_get_userbyid(grantor), current_setting('server_version_num')::int"
        f" FROM {_MEMBERS} WHERE held.rolname = ANY(:groups) AND person.rolname = :login"
    )
    groups = {place.group(role): role for role in Role}
    for held, giver, version in session.execute(query, {"groups": list(groups), "login": login}).all():
        if groups[held] not in due:
            by = f" GRANTED BY {quoted(giver)}" if version >= _GIVERS_SINCE else ""
            run(session, [f"REVOKE {quoted(held)} FROM {quoted(login)}{by}"])


def _kept(session: Session, login: str, password: str) -> str:
    """Return what a server keeps of a password, which cannot be had from it, nor from the server's log."""
    connection: Any = session.connection().connection.driver_connection
    kept: bytes = connection.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256")
    return kept.decode()
