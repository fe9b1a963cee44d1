"""`pooler grant`: who may see and do what in a collection on a PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pooler.cli.console import write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.telling import say, warn
from store.db.login import Role
from store.errors import ArgumentError, ContradictionError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection

_SAID = {
    Role.JUDGE: "judges as {}, and sees that judge's own judgements alone",
    Role.ADJUDICATOR: "settles disagreements as {}, and sees no judge's name",
    Role.READER: "reads everything, and changes nothing",
    Role.DRAWER: "draws from adaptive pools for judges: pooler draw --serve",
    Role.ORGANISER: "changes everything but tables, roles and logins",
}


@command
def grant(
    login: Annotated[str | None, argument("LOGIN", "A login of the server.")] = None,
    role: Annotated[Role | None, option("--role", "The one role it has from now on.")] = None,
    judge: Annotated[
        str | None,
        option("--judge NAME", "Which judge or adjudicator it is. Default: the one of its own name."),
    ] = None,
    new_password: Annotated[
        bool, option("--new-password", "Give a login that the server knows another password.")
    ] = False,
    revoke: Annotated[
        bool, option("--revoke", "Take its role, end its connections, and let it in no more.")
    ] = False,
    list_: Annotated[bool, option("--list", "List who has which role.")] = False,
    dry_run: Annotated[
        bool, option("--dry-run", "Print the SQL, for whoever runs the server; change nothing.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Give a login of a PostgreSQL server its role in the collection.

    The server then enforces it: a judge's login sees the documents and its own judgements, not runs,
    priorities, purposes, or anything of other judges, and can change no judgement, whatever program it
    uses. The first grant makes the roles; the owner of the tables does it, who may create roles. A new
    login gets a password that is printed once, as the files that its owner needs.

    Example: pooler grant alice --role judge

    Example: pooler grant --list
    """
    from store.collection import Collection

    output.check()
    wanted = {
        "--role": role,
        "--judge": judge,
        "--new-password": new_password or None,
        "--dry-run": dry_run or None,
    }
    other = "--list" if list_ else "--revoke" if revoke else None
    for name, given in wanted.items():
        if other is not None and given is not None:
            raise ContradictionError(name, f"and {other} exclude each other", None)
    if list_ and (revoke or login is not None):
        raise ContradictionError("--list", "lists all logins, and takes none", None)
    if not list_ and login is None:
        raise ArgumentError("LOGIN", "must be given", None, hint="pooler grant LOGIN --role judge")
    if other is None and role is None:
        roles = ", ".join(Role)
        raise ArgumentError(
            "--role", f"must be one of {roles}", None, hint=f"pooler grant {login} --role judge"
        )
    if list_:
        from pooler.results.keep.grants import grants

        render(grants(collection), output)
        return
    with Collection(collection) as opened:
        if login is not None and revoke:
            _revoke(opened, login)
        elif login is not None and role is not None and dry_run:
            write_lines(None, (f"{line};" for line in opened.roles.statements(login, role, judge=judge)))
            say("nothing was changed: this is --dry-run")
            say(f"the login has no password yet: \\password {login} in psql sets one")
        elif login is not None and role is not None:
            let_in(opened, login, role, judge=judge, new_password=new_password)


def let_in(
    opened: Collection, login: str, role: Role, *, judge: str | None, new_password: bool = False
) -> None:
    """Give a login its role, and say so; print what its owner needs."""
    from pooler.results.keep.grants import client_files

    done = opened.roles.grant(login, role, judge=judge, new_password=new_password)
    if done.were_made:
        say("the collection has its roles now; the server enforces them")
    if done.in_groups:
        warn(f"groups of that name were on the server, and have members: {', '.join(done.in_groups)}")
    say(f"login {login}: {_SAID[role].format(done.judge)}")
    if role is Role.JUDGE:
        for line in opened.roles.open_to_judges():
            warn(line)
    write_lines(None, [client_files(opened.roles.address(), login, done.password)])
    if done.password is None:
        say("its password stays as it is; --new-password gives it another")
    else:
        say("its password is shown here alone, and kept nowhere")


def _revoke(opened: Collection, login: str) -> None:
    """Put a login out, and say what has become of its connections."""
    ended = opened.roles.revoke(login)
    say(f"login {login} has no role here any more; what its judge decided stays")
    if ended is None:
        say("its connections could not be ended, and see nothing from now on")
    elif ended:
        say(f"{counted(ended, 'connection')} ended")
