"""A login that may not do what it tries on a server: one line that names the right it lacks."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.helpers.run import GARDEN, run_inside

pytestmark = pytest.mark.slow


@pytest.fixture
def logins(postgres_url: str) -> Iterator[tuple[str, str]]:
    """Give the owner's address of a collection and that of a login that may only read it."""
    here = ("--collection", postgres_url)
    for command in (
        ("init", "--scale", "0-2"),
        ("import", "topics", GARDEN / "topics.jsonl"),
        ("import", "runs", *sorted((GARDEN / "runs").glob("*.run"))),
        ("pool", "--depth", "3"),
        ("judges", "add", "ann"),
    ):
        run_inside(*command, *here).fine()
    url = make_url(postgres_url)
    schema = str(url.query["options"]).partition("search_path=")[2]
    name = f"reader_{uuid.uuid4().hex[:8]}"
    owner = create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with owner.connect() as connection:
        connection.execute(text(f"CREATE ROLE {name} LOGIN"))
        connection.execute(text(f"GRANT USAGE ON SCHEMA {schema} TO {name}"))
        connection.execute(text(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}"))
    yield postgres_url, url.set(username=name, password=None).render_as_string(hide_password=False)
    with owner.connect() as connection:
        connection.execute(text(f"DROP OWNED BY {name}"))
        connection.execute(text(f"DROP ROLE {name}"))
    owner.dispose()


@pytest.mark.parametrize(
    ("command", "right"),
    [
        ("judges add bob", "INSERT on table judge"),
        ("import docs {garden}/documents.jsonl", "UPDATE on table document"),
        ("guidelines set {garden}/topics.jsonl", "INSERT on table guideline"),
        ("unpool bm25-words", "DELETE on table pool_run"),
    ],
)
def test_what_a_reader_may_not_do(logins: tuple[str, str], command: str, right: str) -> None:
    """What was refused, and the right that is missing."""
    words = command.format(garden=GARDEN).split()
    answer = run_inside(*words, "--collection", logins[1]).failed(3)
    (line, hint) = answer.err.splitlines()[-2:]
    assert ": this login may not do it: permission denied for " in line
    assert hint.startswith(f"hint: the right it lacks is {right}")


def test_a_judge_without_rights_is_told_at_the_first_grade(
    logins: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading goes well; the grade is NOT SAVED, in one line that says why."""
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.StringIO("G01\n2\nq\n"))
    answer = run_inside("judge", "--judge", "ann", "--plain", "--collection", logins[1])
    assert "Traceback" not in answer.out + answer.err
    assert "permission denied for " in answer.out + answer.err


def test_rights_on_sequences_and_schemas_are_named(logins: tuple[str, str]) -> None:
    """A table's own right is not enough to number its rows, nor to find it."""
    owner = create_engine(make_url(logins[0]).set(drivername="postgresql+psycopg"))
    name = make_url(logins[1]).username
    schema = str(make_url(logins[0]).query["options"]).partition("search_path=")[2]
    with owner.begin() as connection:
        connection.execute(text(f"GRANT INSERT ON judge TO {name}"))
    answer = run_inside("judges", "add", "bob", "--collection", logins[1]).failed(3)
    assert "the right it lacks is USAGE on sequence judge_id_seq" in answer.err
    with owner.begin() as connection:
        connection.execute(text(f"REVOKE USAGE ON SCHEMA {schema} FROM {name}"))
    answer = run_inside("status", "--collection", logins[1]).failed(3)
    assert f"the right it lacks is USAGE on schema {schema}" in answer.err
    with owner.begin() as connection:
        connection.execute(text(f"GRANT USAGE ON SCHEMA {schema} TO {name}"))
        connection.execute(text(f"ALTER ROLE {name} SET default_transaction_read_only = on"))
    answer = run_inside("judges", "add", "bob", "--collection", logins[1]).failed(3)
    assert "may be read but not written" in answer.err
    owner.dispose()


def test_a_reader_may_look(logins: tuple[str, str]) -> None:
    """Nothing that only reads needs more than SELECT."""
    for command in ("status", "verify", "list runs", "list judges"):
        run_inside(*command.split(), "--collection", logins[1]).fine()


def test_a_table_that_may_not_be_read(logins: tuple[str, str]) -> None:
    """Told on opening, whichever table it is."""
    owner = create_engine(make_url(logins[0]).set(drivername="postgresql+psycopg"))
    name = make_url(logins[1]).username
    for table in ("collection", "judge", "judgement"):
        with owner.begin() as connection:
            connection.execute(text(f"REVOKE SELECT ON {table} FROM {name}"))
        answer = run_inside("status", "--collection", logins[1]).failed(3)
        assert f"hint: the right it lacks is SELECT on table {table}" in answer.err
        with owner.begin() as connection:
            connection.execute(text(f"GRANT SELECT ON {table} TO {name}"))
    owner.dispose()
