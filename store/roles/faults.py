"""What a server lets a role see or do, compared with what `store.roles.sight` says it should."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlalchemy import text
from sqlmodel import Session

from store.db.login import OWNER, Role
from store.roles.functions import functions
from store.roles.sight import SIGHT, TABLE_NAMES
from store.roles.statements import RolesPlace, column_rights, policies

_SCHEMA = "relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"
_TABLES = text(
    f"SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class WHERE {_SCHEMA} ORDER BY 1"
)
_RIGHTS = text(f"""
    SELECT held.rolname, relname, kind,
           has_table_privilege(held.oid, pg_class.oid, kind) AS whole,
           array(SELECT attname::text FROM pg_attribute
                 WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
                   AND CASE WHEN kind IN ('DELETE', 'TRUNCATE') THEN false
                            ELSE has_column_privilege(held.oid, pg_class.oid, attnum, kind) END) AS columns
    FROM pg_class, pg_roles held, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS kind
    WHERE {_SCHEMA} AND held.rolname = ANY(:groups) ORDER BY 1, 2, 3""")
_POLICIES = text(f"""
    SELECT relname, polname, polcmd::text, polpermissive,
           array(SELECT coalesce((SELECT rolname::text FROM pg_roles WHERE oid = held), 'PUBLIC')
                 FROM unnest(polroles) AS held) AS roles
    FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid WHERE {_SCHEMA} ORDER BY 1, 2""")
_FUNCTIONS = text("""
    SELECT proname, pg_get_function_identity_arguments(pg_proc.oid) AS arguments, prosecdef,
           coalesce(array_to_string(proconfig, ' '), '') AS settings,
           proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0) AS is_everybodys,
           array(SELECT rolname::text FROM pg_roles WHERE rolname = ANY(:groups)
                 AND has_function_privilege(pg_roles.oid, pg_proc.oid, 'EXECUTE')) AS roles
    FROM pg_proc WHERE pronamespace = current_schema()::regnamespace ORDER BY 1, 2""")
_SEQUENCES = text("""
    SELECT held.rolname, relname FROM pg_class, pg_roles held
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' AND held.rolname = ANY(:groups)
      AND has_sequence_privilege(held.oid, pg_class.oid, 'USAGE, SELECT, UPDATE') ORDER BY 1, 2""")
_EVERYBODY = text("""
    SELECT 'connect to the database' WHERE EXISTS (SELECT FROM pg_database, aclexplode(
        coalesce(datacl, acldefault('d', datdba))) WHERE datname = current_database() AND grantee = 0
        AND privilege_type = 'CONNECT')
    UNION ALL SELECT 'make temporary tables' WHERE EXISTS (SELECT FROM pg_database, aclexplode(
        coalesce(datacl, acldefault('d', datdba))) WHERE datname = current_database() AND grantee = 0
        AND privilege_type = 'TEMPORARY')
    UNION ALL SELECT 'use the schema' WHERE EXISTS (SELECT FROM pg_namespace, aclexplode(nspacl)
        WHERE oid = current_schema()::regnamespace AND grantee = 0)""")
_PEOPLE = text("""
    SELECT person.rolname, array_agg(held.rolname::text ORDER BY held.rolname) AS groups,
           bool_or(person.rolsuper OR person.rolbypassrls) AS is_above
    FROM pg_auth_members JOIN pg_roles person ON person.oid = member JOIN pg_roles held ON held.oid = roleid
    WHERE held.rolname = ANY(:groups) AND person.rolcanlogin
      AND (NOT admin_option OR pg_has_role(member, roleid, 'USAGE')) GROUP BY 1 ORDER BY 1""")
_GROUPS = text("""
    SELECT rolname, rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb AS is_more
    FROM pg_roles WHERE rolname = ANY(:groups)""")
_COMMANDS = {"*": "ALL", "r": "SELECT", "a": "INSERT", "w": "UPDATE", "d": "DELETE"}


def role_faults(session: Session, place: RolesPlace) -> Iterator[str]:
    """Yield a sentence for every way in which the server's rights are others than the program's."""
    groups = {place.group(role): role for role in Role}
    told = {"groups": list(groups)}
    yield from _tables(session)
    yield from _rights(session, groups)
    yield from _policies(session, place)
    yield from _functions(session, groups)
    for group, sequence in session.execute(_SEQUENCES, told):
        if groups[group] is not Role.ORGANISER:
            yield f"`{group}` may use the sequence `{sequence}`"
    for (what,) in session.execute(_EVERYBODY):
        yield f"everybody on the server may {what}"
    known = {row.rolname: row.is_more for row in session.execute(_GROUPS, told)}
    for group in groups:
        if known.get(group, True):
            yield f"`{group}` is more than a group" if group in known else f"the group `{group}` is missing"
    for login, held, is_above in session.execute(_PEOPLE, told):
        if is_above:
            yield f"login `{login}` stands above every right"
        if len(held) > 1:
            yield f"login `{login}` has more than one role: {', '.join(groups[one] for one in held)}"


def _tables(session: Session) -> Iterator[str]:
    """Tell of tables whose rows are not guarded, or of which nothing was decided."""
    found = {row.relname: row for row in session.execute(_TABLES)}
    for name, row in found.items():
        if name not in TABLE_NAMES:
            yield f"nothing was decided about who sees the table `{name}`"
        elif not (row.relrowsecurity and row.relforcerowsecurity):
            yield f"`{name}`: row-level security is not on, or not for its owner too"
    for name in sorted(set(TABLE_NAMES) - found.keys()):
        yield f"the table `{name}` is missing"


def _rights(session: Session, groups: dict[str, Role]) -> Iterator[str]:
    """Compare the rights to every column."""
    due: dict[tuple[Role, str], dict[str, frozenset[str]]] = defaultdict(dict)
    for role in SIGHT:
        for table in TABLE_NAMES:
            for right, columns in column_rights(role, table):
                due[role, table][right] = frozenset(columns)
    for group, table, kind, whole, columns in session.execute(_RIGHTS, {"groups": list(groups)}):
        role = groups[group]
        if role not in SIGHT:
            may = {Role.READER: ("SELECT",)}.get(role, ("SELECT", "INSERT", "UPDATE", "DELETE"))
            if whole and (kind not in may or table not in TABLE_NAMES):
                yield f"`{table}`: `{group}` may {kind}"
            elif not whole and kind == "SELECT" and table in TABLE_NAMES:
                yield f"`{table}`: `{group}` may not read it"
            continue
        rights = due.get((role, table), {})
        if kind in ("DELETE", "TRUNCATE"):
            if whole != (kind in rights):
                yield f"`{table}`: `{group}` may {'' if whole else 'not '}{kind}"
            continue
        wanted = rights.get(kind, frozenset())
        for column in sorted(set(columns) - wanted):
            yield f"`{table}.{column}`: `{group}` may {kind} it"
        for column in sorted(wanted - set(columns)):
            yield f"`{table}.{column}`: `{group}` may not {kind} it"


def _policies(session: Session, place: RolesPlace) -> Iterator[str]:
    """Compare the names, commands and roles of policies."""
    due = {
        (one.table, one.name): (
            one.command,
            place.owner if one.role == OWNER else place.group(Role(one.role)),
        )
        for one in policies()
    }
    for table, name, command, is_permissive, roles in session.execute(_POLICIES):
        known = due.pop((table, name), None)
        if known is None:
            if is_permissive and table in TABLE_NAMES:
                yield f"`{table}`: the policy `{name}` lets {', '.join(roles)} see or change more rows"
        elif known != (_COMMANDS[command], *roles):
            yield f"`{table}`: the policy `{name}` is another"
    for table, name in due:
        yield f"`{table}`: the policy `{name}` is missing"


def _functions(session: Session, groups: dict[str, Role]) -> Iterator[str]:
    """Compare who may call which function, and what these stand on."""
    due = {one.name: {Role.ORGANISER, *one.roles} for one in functions()}
    for name, arguments, is_owners, settings, is_everybodys, roles in session.execute(
        _FUNCTIONS, {"groups": list(groups)}
    ):
        called = f"{name}({arguments})"
        if is_everybodys:
            yield f"everybody may call {called}"
        if is_owners and not settings.endswith("pg_temp"):
            yield f"{called} runs as its owner, and takes the caller's search_path"
        if known := due.pop(name, None):
            if not is_everybodys and {groups[one] for one in roles} != known:
                yield f"{called}: others may call it than {', '.join(sorted(known))}"
        elif roles and not is_everybodys:
            yield f"{called} is none of this program's"
    for name in due:
        yield f"the function {name} is missing"
