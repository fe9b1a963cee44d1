"""SQL of roles: groups, rights, policies and functions of one schema; run twice, it leaves the same.

Everything that is PUBLIC's goes: by default anybody who connects may call every function and make
temporary tables. What a schema's default privileges take from PUBLIC they do not take, since they can
only add; so it is taken from each function once it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from store.db.login import LOGIN_TABLE, OWNER, Role, policy_name
from store.roles.functions import Function, functions
from store.roles.sight import DRAWS, NUMBERED, SIGHT, TABLE_NAMES, VERSION, Sight

LONGEST_NAME = 63
"""Bytes of a name on PostgreSQL; it cuts longer ones."""
SETTINGS = {"idle_in_transaction_session_timeout": "30s", "statement_timeout": "60s", "lock_timeout": "10s"}
"""Of the logins of judges, each: what a group sets, its members do not have."""
_ANEW = r"""DO $$ DECLARE one record; BEGIN
  FOR one IN SELECT polname, polrelid::regclass AS relation
      FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
      WHERE relnamespace = current_schema()::regnamespace AND polname LIKE 'pooler\_%' LOOP
    EXECUTE format('DROP POLICY %I ON %s', one.polname, one.relation);
  END LOOP;
  FOR one IN SELECT oid::regprocedure AS function FROM pg_proc
      WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'pooler\_%' LOOP
    EXECUTE format('DROP FUNCTION %s', one.function);
  END LOOP;
END $$"""
"""Takes what an earlier version of the program made: a function cannot be given another result."""


@dataclass(frozen=True, slots=True)
class RolesPlace:
    """Where roles are made."""

    database: str
    schema: str
    owner: str
    prefix: str
    """Of the groups, which the whole server shares."""

    def group(self, role: Role) -> str:
        """Name the group of a role."""
        return f"{self.prefix}_{role}"

    def groups(self, *roles: Role) -> str:
        """Name the groups of some roles, by default of all, for a statement."""
        return ", ".join(quoted(self.group(role)) for role in roles or Role)


@dataclass(frozen=True, slots=True)
class RowPolicy:
    """Which rows of a table a role reads or writes."""

    table: str
    name: str
    command: str
    """``ALL``, ``SELECT``, ``INSERT``, ``UPDATE`` or ``DELETE``."""
    role: str
    """A `Role`, or `OWNER`."""
    using: str = ""
    check: str = ""


def quoted(name: str) -> str:
    """Write a name for a statement."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write a text for a statement."""
    return "'" + text.replace("'", "''") + "'"


def policies() -> Iterator[RowPolicy]:
    """Yield every policy of every table."""
    for table in TABLE_NAMES:
        for role in (OWNER, Role.ORGANISER):
            yield RowPolicy(table, policy_name(role), "ALL", role, "true", "true")
        yield RowPolicy(table, policy_name(Role.READER), "SELECT", Role.READER, "true")
        for role, sights in SIGHT.items():
            sight = sights[table]
            if sight.sees:
                yield RowPolicy(table, policy_name(role), "SELECT", role, sight.rows)
            for write in sight.writes:
                name = f"{policy_name(role)}_{write.kind.lower()}s"
                using = "" if write.kind == "INSERT" else write.rows
                check = "" if write.kind == "DELETE" else write.becomes
                yield RowPolicy(table, name, write.kind, role, using, check)


def column_rights(role: Role, table: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the rights to a table of a role that sees a part alone, each with its columns; none = all."""
    sight: Sight = SIGHT[role][table]
    if sight.sees:
        yield "SELECT", sight.sees
    for write in sight.writes:
        yield write.kind, write.columns


def make_groups(place: RolesPlace, present: set[str]) -> Iterator[str]:
    """Yield what makes the groups that are not there, and takes everybody else's rights to the database."""
    for role in Role:
        if place.group(role) not in present:
            yield f"CREATE ROLE {quoted(place.group(role))} NOLOGIN"
    database = quoted(place.database)
    yield f"REVOKE ALL ON DATABASE {database} FROM PUBLIC"
    yield f"GRANT CONNECT ON DATABASE {database} TO {quoted(place.owner)}, {place.groups()}"


def make_roles(place: RolesPlace) -> list[str]:
    """Return what gives the groups their rights; the tables' owner runs it, in one transaction."""
    statements = list(_rights_of_all(place))
    return [*statements, f"COMMENT ON TABLE {LOGIN_TABLE} IS {literal(mark_of(statements))}"]


def mark_of(statements: Sequence[str]) -> str:
    """Tell one version of the roles from another."""
    return "pooler roles " + sha256("\0".join(statements).encode()).hexdigest()[:16]


def _rights_of_all(place: RolesPlace) -> Iterator[str]:
    """Yield what makes tables, rights, functions and policies."""
    schema = quoted(place.schema)
    yield f"REVOKE ALL ON SCHEMA {schema} FROM PUBLIC"
    yield f"GRANT USAGE ON SCHEMA {schema} TO {place.groups()}"
    yield from _extra_tables()
    yield _ANEW
    for table in NUMBERED:
        yield _as_identity(table)
    for table in TABLE_NAMES:
        yield from _rights(place, table)
    yield f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM PUBLIC, {place.groups()}"
    yield f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {place.groups(Role.ORGANISER)}"
    made = functions()
    for function in made:
        yield from _function(place, function)
    for policy in policies():
        yield _policy(place, policy)


def _extra_tables() -> Iterator[str]:
    """Yield what makes the tables that only a server has."""
    yield (
        f"CREATE TABLE IF NOT EXISTS {LOGIN_TABLE} ("
        "judge_id integer PRIMARY KEY REFERENCES judge ON DELETE CASCADE,"
        ' login text COLLATE "C" NOT NULL UNIQUE)'
    )
    yield (
        f"CREATE TABLE IF NOT EXISTS {DRAWS} (judge_id integer NOT NULL REFERENCES judge ON DELETE CASCADE,"
        " topic_id integer NOT NULL REFERENCES topic,"
        " asked_at timestamptz NOT NULL DEFAULT clock_timestamp(), answered_at timestamptz, drawn"
        " boolean, fault text, PRIMARY KEY (judge_id, topic_id))"
    )


def _as_identity(table: str) -> str:
    """Return what lets a table number its rows itself, without a sequence that takes a right of its own."""
    return f"""DO $$ DECLARE after bigint; BEGIN
  IF (SELECT attidentity FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attname = 'id') = '' THEN
    SELECT coalesce(max(id), 0) + 1 INTO after FROM {table};
    ALTER TABLE {table} ALTER id DROP DEFAULT;
    DROP SEQUENCE IF EXISTS {table}_id_seq;
    EXECUTE format('ALTER TABLE {table} ALTER id ADD GENERATED BY DEFAULT AS IDENTITY (START %s)', after);
  END IF;
END $$"""


def _rights(place: RolesPlace, table: str) -> Iterator[str]:
    """Yield what takes all rights to a table, then gives those that a role has."""
    yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
    yield f"REVOKE ALL ON {table} FROM PUBLIC, {place.groups()}"
    organiser = "SELECT" if table == VERSION else "SELECT, INSERT, UPDATE, DELETE"
    yield f"GRANT {organiser} ON {table} TO {place.groups(Role.ORGANISER)}"
    yield f"GRANT SELECT ON {table} TO {place.groups(Role.READER)}"
    for role in SIGHT:
        for right, columns in column_rights(role, table):
            of = f" ({', '.join(map(quoted, columns))})" if columns else ""
            yield f"GRANT {right}{of} ON {table} TO {place.groups(role)}"


def _function(place: RolesPlace, function: Function) -> Iterator[str]:
    """Yield what makes a function of the owner, and says who may call it."""
    kind = "VOLATILE" if function.changes else "STABLE"
    # Nobody's temporary tables stand before the collection's.
    yield (
        f"CREATE FUNCTION {function.name}({function.arguments}) RETURNS {function.returns}"
        f" LANGUAGE {function.language} {kind} SECURITY DEFINER"
        f" SET search_path = {quoted(place.schema)}, pg_temp"
        f" AS $function${function.body}$function$"
    )
    yield f"REVOKE ALL ON FUNCTION {function.signature} FROM PUBLIC, {place.groups()}"
    callers = dict.fromkeys((Role.ORGANISER, *function.roles))
    yield f"GRANT EXECUTE ON FUNCTION {function.signature} TO {place.groups(*callers)}"


def _policy(place: RolesPlace, policy: RowPolicy) -> str:
    """Return what makes a policy."""
    whom = place.owner if policy.role == OWNER else place.group(Role(policy.role))
    using = f" USING ({policy.using})" if policy.using else ""
    check = f" WITH CHECK ({policy.check})" if policy.check else ""
    return (
        f"CREATE POLICY {policy.name} ON {policy.table} FOR {policy.command} TO {quoted(whom)}{using}{check}"
    )


def let_in(place: RolesPlace, login: str, role: Role, *, exists: bool, password: str | None) -> Iterator[str]:
    """Yield what gives a login its one role; `password` is what the server keeps, no password itself."""
    name = quoted(login)
    secret = "" if password is None else f" PASSWORD {literal(password)}"
    if secret or not exists:
        yield f"{'ALTER' if exists else 'CREATE'} ROLE {name} LOGIN{secret}"
    others = place.groups(*(one for one in Role if one is not role))
    yield f"REVOKE {others} FROM {name}"
    yield f"GRANT {place.groups(role)} TO {name}"
    for setting, value in SETTINGS.items():
        verb = f"SET {setting} = {literal(value)}" if role in SIGHT else f"RESET {setting}"
        yield f"ALTER ROLE {name} IN DATABASE {quoted(place.database)} {verb}"
