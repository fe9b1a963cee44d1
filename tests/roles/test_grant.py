"""`pooler grant`: logins let in and put out, passwords, SQL for an administrator, old collections."""

from __future__ import annotations

import json
import re
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from store.collection import Collection
from store.db.engine import as_login, collection_url
from store.db.login import Role
from store.errors import ArgumentError
from store.keeping.upgrade import upgrade
from tests.helpers.run import run_inside
from tests.roles.served import Served, empty_database, fill, judge_some

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fresh(postgres_server: str) -> Served:
    """Give a collection on a server, without roles."""
    made = empty_database(postgres_server)
    fill(made, assigned=True)
    return made


def test_the_first_grant_makes_the_roles(fresh: Served) -> None:
    """Before it everything is as ever; the files for the login's machine are printed, the password once."""
    assert "nobody has a role" in run_inside("grant", "--list", "--collection", fresh.owner).fine().out
    judge_some(fresh.owner, "alice", 1)
    login = fresh.login("alice")
    answer = run_inside(
        "grant", login, "--role", "judge", "--judge", "alice", "--collection", fresh.owner
    ).fine()
    assert "the collection has its roles now" in answer.err
    assert f"login {login}: judges as alice" in answer.err
    lines = answer.out.splitlines()
    host = str(make_url(fresh.owner).query["host"])
    assert f"[garden_{fresh.tag}]" in lines
    assert f"user={login}" in lines
    assert "sslmode" not in answer.out  # a socket of this machine
    (secret,) = [line for line in lines if line.startswith(f"{host}:5432:garden_{fresh.tag}:{login}:")]
    assert len(secret.rpartition(":")[2]) == 24
    kept = f"SELECT rolpassword FROM pg_authid WHERE rolname = '{login}'"
    with psycopg.connect(fresh.admin) as connection:
        (verifier,) = connection.execute(kept).fetchone() or ("",)
    assert verifier.startswith("SCRAM-SHA-256$4096:")
    again = run_inside(
        "grant", login, "--role", "judge", "--judge", "alice", "--collection", fresh.owner
    ).fine()
    assert "its password stays as it is" in again.err
    assert "pgpass" not in again.out
    run_inside("verify", "--collection", fresh.owner).fine()


def test_another_password(fresh: Served) -> None:
    """Only when it is asked for."""
    login = fresh.login("pat")
    words = ("grant", login, "--role", "reader", "--collection", fresh.owner)
    first = run_inside(*words).fine()
    second = run_inside(*words, "--new-password").fine()
    secrets = [re.search(rf":{login}:(\S+)", one.out) for one in (first, second)]
    assert all(secrets)
    assert len({one[1] for one in secrets if one}) == 2


def test_a_login_has_one_role(fresh: Served) -> None:
    """A second grant moves it: a reader who becomes a judge reads no more."""
    login = fresh.login("moving")
    run_inside("judges", "add", "moving", "--collection", fresh.owner).fine()
    for role in ("reader", "judge"):
        words = ("--judge", "moving") if role == "judge" else ()
        run_inside("grant", login, "--role", role, *words, "--collection", fresh.owner).fine()
    rows = run_inside("grant", "--list", "--format", "json", "--collection", fresh.owner).fine().json()
    assert [(row["role"], row["judge"]) for row in rows if row["login"] == login] == [("judge", "moving")]
    assert run_inside("status", "--collection", fresh.url("moving")).code == 3


def test_judges_are_added_with_their_logins(fresh: Served) -> None:
    """One command: the judge, the login, the role of the judge's kind."""
    login = fresh.login("zoe")
    words = ("judges", "add", "zoe", "--kind", "adjudicator", "--login", login)
    answer = run_inside(*words, "--collection", fresh.owner).fine()
    assert "judge zoe (adjudicator) added" in answer.err
    assert f"login {login}: settles disagreements as zoe" in answer.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("grant",), "`LOGIN` must be given"),
        (("grant", "x"), "`--role` must be one of organiser, reader"),
        (("grant", "x", "--role", "king"), "king"),
        (("grant", "a b", "--role", "reader"), "must be one word"),
        (("grant", "x" * 64, "--role", "reader"), "at most 63 bytes"),
        (("grant", "pg_x", "--role", "reader"), "no name of the server's own"),
        (("grant", "x", "--role", "reader", "--judge", "alice"), "is for the roles judge and adjudicator"),
        (("grant", "x", "--role", "judge"), "unknown judge `x`"),
        (("grant", "x", "--role", "judge", "--judge", "gpt"), "judge `gpt` is of kind model"),
        (("grant", "x", "--role", "adjudicator", "--judge", "bob"), "judge `bob` is of kind human"),
        (("grant", "postgres", "--role", "reader"), "stands above every right"),
        (("grant", "owner_{tag}", "--role", "reader"), "owns the collection"),
        (("grant", "garden_{tag}_judge", "--role", "reader"), "is one of its groups"),
        (("grant", "x", "--revoke"), "login `x` has no role here"),
        (("grant", "x", "--revoke", "--role", "judge"), "and --revoke exclude each other"),
        (("grant", "--list", "--revoke"), "lists all logins"),
        (("grant", "x", "--list"), "lists all logins"),
        (("judges", "add", "m", "--kind", "model", "--login", "m"), "is for people"),
        (("judges", "add", "m", "n", "--login", "m"), "must be one: a login is one judge"),
    ],
)
def test_refusals(fresh: Served, words: tuple[str, ...], told: str) -> None:
    """One line each; no login is made."""
    answer = run_inside(*(word.format(tag=fresh.tag) for word in words), "--collection", fresh.owner)
    assert answer.code != 0
    assert "Traceback" not in answer.err
    assert told in answer.err
    with psycopg.connect(fresh.admin) as connection:
        assert connection.execute("SELECT count(*) FROM pg_roles WHERE rolname = 'x'").fetchone() == (0,)


def test_two_logins_are_not_one_judge(fresh: Served) -> None:
    """Else neither could be told from the other in what was judged."""
    run_inside("judges", "add", "una", "--login", fresh.login("una"), "--collection", fresh.owner).fine()
    other = ("grant", fresh.login("duo"), "--role", "judge", "--judge", "una")
    assert (
        f"has the login `{fresh.login('una')}`"
        in run_inside(*other, "--collection", fresh.owner).failed(3).err
    )


def test_a_login_is_put_out(fresh: Served) -> None:
    """What is connected is cut, what is not cannot log in; the judgements stay."""
    login = fresh.login("gone")
    run_inside("judges", "add", "gone", "--login", login, "--collection", fresh.owner).fine()
    judge_some(fresh.url("gone"), "gone", 1, topic="G02")
    with psycopg.connect(fresh.url("gone"), autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM judgement").fetchone() == (1,)
        answer = run_inside("grant", login, "--revoke", "--collection", fresh.admin).fine()
        assert "1 connection ended" in answer.err
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT count(*) FROM judgement")
    answer = run_inside("judge", "--plain", "--collection", fresh.url("gone")).failed(3)
    assert "is not permitted to log in" in answer.err
    count = "SELECT count(*) FROM judgement JOIN judge ON judge.id = judge_id WHERE name = 'gone'"
    assert fresh.value(count) == 1
    back = run_inside(
        "grant", login, "--role", "judge", "--judge", "gone", "--collection", fresh.owner
    ).fine()
    assert "its password is shown here alone" in back.err
    judge_some(fresh.url("gone"), "gone", 2, topic="G02")


def test_an_owner_cannot_end_connections_but_its_word_counts(fresh: Served) -> None:
    """Without the right to end them, they see nothing all the same."""
    login = fresh.login("open")
    run_inside("judges", "add", "open", "--login", login, "--collection", fresh.owner).fine()
    with psycopg.connect(fresh.url("open"), autocommit=True) as connection:
        assert connection.execute("SELECT count(*) > 0 FROM document").fetchone() == (True,)
        answer = run_inside("grant", login, "--revoke", "--collection", fresh.owner).fine()
        if "could not be ended" in answer.err:
            # Not even the schema is seen any more.
            with pytest.raises(psycopg.errors.UndefinedTable):
                connection.execute("SELECT count(*) FROM document")


def test_an_erased_judges_login_is_nobody(fresh: Served) -> None:
    """The row goes with the judge; the login sees nothing, and is told."""
    run_inside("judges", "add", "ed", "--login", fresh.login("ed"), "--collection", fresh.owner).fine()
    run_inside("judges", "erase", "ed", "--yes", "--collection", fresh.owner).fine()
    answer = run_inside("judge", "--plain", "--collection", fresh.url("ed")).failed(3)
    assert "is tied to no judge of this collection" in answer.err


def test_sql_for_an_administrator(postgres_server: str) -> None:
    """What `--dry-run` prints makes the same roles where the owner may make none, run by who may."""
    served = empty_database(postgres_server, can_grant=False)
    fill(served, assigned=False)
    login = served.login("alice")
    words = ("grant", login, "--role", "judge", "--judge", "alice", "--collection", served.owner)
    assert "permission denied to create role" in run_inside(*words).failed(3).err
    sql = run_inside(*words, "--dry-run").fine().out
    assert "PASSWORD" not in sql
    assert served.value("SELECT to_regclass('pooler_login')") is None
    with psycopg.connect(served.admin, autocommit=True) as connection:
        connection.execute(f"BEGIN;\n{sql}\nCOMMIT")
    with Collection(served.owner) as collection:
        assert collection.roles.faults() == []
        assert [(one.login, one.judge) for one in collection.roles.all()] == [(login, "alice")]
    with Collection(as_login(served.owner, login)) as collection:
        assert collection.sits_as(None) == "alice"


def test_an_upgrade_gives_a_new_table_its_policies(fresh: Served) -> None:
    """And mends what somebody took away; without a fault it finds nothing to do."""
    url = collection_url(fresh.owner)
    assert upgrade(url, backs_up=False).mended == ()
    fresh.as_admin("DROP POLICY pooler_judge ON judgement")
    answer = run_inside("verify", "--collection", fresh.owner)
    assert answer.code == 1
    assert "`judgement`: the policy `pooler_judge` is missing" in answer.out + answer.err
    done = upgrade(url, backs_up=False)
    assert done.mended == ("the roles are others than this program's",)
    run_inside("verify", "--collection", fresh.owner).fine()


def test_an_older_collection_gets_its_roles(postgres_server: str, tmp_path: Path) -> None:
    """Of a file that moves to a server: ids go on where they were."""
    file = str(tmp_path / "old.db")
    run_inside("init", "--scale", "0-2", "--collection", file).fine()
    run_inside("restore", file, "--collection", empty_database(postgres_server).owner).fine()
    served = empty_database(postgres_server)
    fill(served, assigned=True)
    judge_some(served.owner, "alice", 2)
    newest = served.value("SELECT max(id) FROM judgement")
    run_inside(
        "grant", served.login("alice"), "--role", "judge", "--judge", "alice", "--collection", served.owner
    )
    judge_some(served.url("alice"), "alice", 3)
    assert served.value(f"SELECT min(id) FROM judgement WHERE id > {newest}") == newest + 1
    # A backup of it restores into a file, and into another database.
    run_inside("backup", tmp_path / "b.backup", "--collection", served.owner).fine()
    target = empty_database(postgres_server)
    run_inside("restore", tmp_path / "b.backup", "--collection", target.owner).fine()
    with Collection(target.owner) as collection:
        assert collection.login is None
        assert collection.roles.all() == []


def test_groups_that_were_there_are_told(postgres_server: str) -> None:
    """Of a database that was dropped, say: who is in them would be let in."""
    served = empty_database(postgres_server)
    fill(served, assigned=False)
    eve = served.login("eve")
    served.as_admin(
        f"CREATE ROLE {eve} LOGIN",
        *(f"CREATE ROLE garden_{served.tag}_{role} ROLE owner_{served.tag}" for role in Role),
        *(f"GRANT garden_{served.tag}_{role} TO owner_{served.tag} WITH ADMIN OPTION" for role in Role),
        f"GRANT garden_{served.tag}_reader TO {eve}",
    )
    answer = run_inside(
        "grant", served.login("rita"), "--role", "reader", "--collection", served.owner
    ).fine()
    assert f"have members: {eve}, owner_{served.tag}" in answer.err


def test_grants_as_json(fresh: Served) -> None:
    """The list is a table as any other."""
    login = fresh.login("rita")
    run_inside("grant", login, "--role", "reader", "--collection", fresh.owner).fine()
    answer = run_inside("grant", "--list", "--format", "json", "--collection", fresh.owner).fine()
    known = json.loads(answer.out)
    assert {"login", "role", "judge", "disabled", "may_log_in", "connections"} == set(known["grants"][0])


def test_addresses_of_logins() -> None:
    """No password in them, whatever the owner's address has; a file has none."""
    assert as_login("postgresql://o:secret@h:5433/w?sslmode=verify-full", "al:ice") == (
        "postgresql://al%3Aice@h:5433/w?sslmode=verify-full"
    )
    with pytest.raises(ArgumentError, match="a file has no logins"):
        as_login("wine.db", "alice")


def test_a_service_is_kept(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service file names host, database and login; the address says which service."""
    url = make_url(served.owner)
    (tmp_path / "services").write_text(
        f"[wine]\nhost={url.query['host']}\ndbname={url.database}\nuser={served.login('alice')}\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    with Collection("postgresql:///?service=wine") as collection:
        assert collection.sits_as(None) == "alice"
        assert collection.where.endswith("?service=wine")
