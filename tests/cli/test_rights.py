"""A login on a server that is not the owner's."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.helpers.run import run_inside

pytestmark = pytest.mark.slow


@pytest.fixture
def reader(postgres_url: str) -> Iterator[str]:
    """Give the address of a collection for a login that may read its tables and nothing else."""
    run_inside("init", "--scale", "0-2", "--collection", postgres_url).fine()
    url = make_url(postgres_url)
    schema = str(url.query["options"]).partition("search_path=")[2]
    name = f"reader_{uuid.uuid4().hex[:8]}"
    owner = create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with owner.connect() as connection:
        connection.execute(text(f"CREATE ROLE {name} LOGIN"))
        connection.execute(text(f"GRANT USAGE ON SCHEMA {schema} TO {name}"))
        connection.execute(text(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}"))
    yield url.set(username=name, password=None).render_as_string(hide_password=False)
    with owner.connect() as connection:
        connection.execute(text(f"DROP OWNED BY {name}"))
        connection.execute(text(f"DROP ROLE {name}"))
    owner.dispose()


def test_what_another_login_may_not_do(reader: str) -> None:
    """One line with the server's reason, and which login to use."""
    answer = run_inside("judges", "add", "bob", "--collection", reader).failed(3)
    (line, hint) = answer.err.splitlines()
    assert ": the server refused it: permission denied for " in line
    assert hint.startswith("hint: use the login that owns the collection")
