"""The server's life: bound, announced, stopped by Ctrl-C or `kill`."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pooler.messages import warn
from pooler.web.entering import Door
from pooler.web.origin import Origin, is_here
from pooler.web.seats import Seats
from pooler.web.server import Server
from store.collection import Collection
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from judge_ui.session.queue import Drawing
    from judge_ui.session.words import Goal

REQUEST_S = 10.0
"""In which a request that has begun, or the first of a connection, must have its headers."""
KEEP_ALIVE_S = 120
"""Longer than reading a document, so that not every decision opens a connection."""
STOP_S = 5


class _Impatient(H11Protocol):
    """Drops a connection on which a request does not come to the end of its headers."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer = self.loop.call_later(REQUEST_S, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_half = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if is_half and self._timer is None:
            self._timer = self.loop.call_later(REQUEST_S, self.transport.abort)
        elif not is_half:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Stoppable(uvicorn.Server):
    """Ends in order at Ctrl-C or `kill`, and does not hand the signal on."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Listen for signals while it serves."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # on Windows Ctrl-C ends it at once
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def serve(
    collection: str,
    *,
    host: str,
    port: int,
    origin: str | None,
    trust_header: str | None,
    goal_of: Callable[[Collection], Goal | None],
    drawing_of: Callable[[Collection], Drawing | None],
    began: Callable[[Origin, int, str], None],
) -> None:
    """Serve the judging page of a collection until the process is interrupted.

    `host`: an address, or the path of a Unix socket. `began` gets the address, how many judges have a code,
    and the organiser's code. `ArgumentError`: an origin that is none, or an address that others can reach
    without an origin that is encrypted, or with a trusted header. `PoolerError`: it cannot be listened at.
    """
    asked = None if origin is None else Origin.read(origin)
    is_socket = "/" in host
    if is_socket and asked is None:
        raise ArgumentError("origin", "must say what judges open, where the server is a Unix socket", None)
    if trust_header is not None and not (is_socket or is_here(host)):
        requirement = "is for a proxy on this machine: --host must be 127.0.0.1 or a Unix socket"
        raise ArgumentError("trust_header", requirement, trust_header)
    if not (is_socket or is_here(host)) and (asked is None or not asked.is_secure):
        requirement = "must be this machine's own (127.0.0.1) unless --origin names an https address"
        hint = "leave --host out, and let a reverse proxy on this machine serve the URL of --origin"
        raise ArgumentError("host", requirement, host, hint=hint)
    _raise_limit()
    with Collection(collection) as opened, _bound(host, port) as listening:
        if doubt := opened.clock_doubt():
            warn(doubt)
        name = f"[{host}]" if ":" in host else host.lower()
        address = asked or Origin("http", name, listening.getsockname()[1])
        door = Door(opened, address, trust_header)
        server = Server(opened, address, Seats(opened, drawing_of(opened), goal_of(opened)), door, warn)
        settings = uvicorn.Config(
            server.app(),
            http=_Impatient,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=STOP_S,
        )
        began(address, opened.codes.count(), door.organiser_code)
        _Stoppable(settings).run([listening])


def _raise_limit() -> None:
    """Let the process have as many connections as it may: a thousand idle ones keep nobody out."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    """Listen at an address, port 0 = any that is free; or at a path, for this user and group alone."""
    is_path, family = "/" in host, socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        if is_path:
            listening = _at_path(host)
        else:
            listening = socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"cannot listen at {host if is_path else f'{host}, port {port}'}: {reason}"
        hint = "--port names another port; 0 = any that is free"
        if is_path:
            hint = "--host may name another path; its folder must be there"
        raise PoolerError(message, hint=hint) from error
    with listening:
        try:
            yield listening
        finally:
            if is_path:
                Path(host).unlink(missing_ok=True)


def _at_path(path: str) -> socket.socket:
    with socket.socket(socket.AF_UNIX) as one:
        if Path(path).is_socket() and one.connect_ex(path) == errno.ECONNREFUSED:
            Path(path).unlink()  # of a server that was killed
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(path)
        Path(path).chmod(0o660)
        listening.listen(1024)
    except OSError:
        listening.close()
        raise
    return listening
