"""The server's life: bound, announced, stopped by Ctrl-C or `kill`."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

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
ACCEPTED, WAITING = 16, 1024
"""Connections that are accepted in one turn, and those that wait for that."""
KEPT_FILES = 160
"""What the database and the program need besides, and connections that are on their way out."""


class _Impatient(H11Protocol):
    """Drops a connection whose headers do not come to their end, nor a body that was answered before."""

    most = 1000
    """Connections that are held; one more, and an idle one goes."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            others = (one for one in self.connections if isinstance(one, _Impatient) and one is not self)
            next((one for one in others if one.is_idle), self).transport.abort()
        self._timer = self.loop.call_later(REQUEST_S, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        is_half = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if is_half:
            self.transport.close()
        self._watch()

    @property
    def is_idle(self) -> bool:
        """Whether it is still open, and no request on it is being answered."""
        asked: RequestResponseCycle | None = self.cycle
        return not self.transport.is_closing() and (asked is None or asked.response_complete)

    def _watch(self) -> None:
        """Give a request that has begun its time, also one that came right behind another."""
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

    began: Callable[[], None]
    """Called when it answers, and can be ended."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin; `backlog` was both, and no more than that were to wait."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(WAITING)
        self.began()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Listen for signals while it serves."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, of: warn(f"{of['message']}: {of.get('exception', '')}"))
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
    _Impatient.most = max(_raise_limit() - KEPT_FILES, ACCEPTED)
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
            log_level="critical",  # what is to be known is said by `warn`
            access_log=False,
            server_header=False,
            backlog=ACCEPTED,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=STOP_S,
        )
        stoppable = _Stoppable(settings)
        stoppable.began = partial(began, address, opened.codes.count(), door.organiser_code)
        stoppable.run([listening])


def _raise_limit() -> int:
    """Let the process have as many files as it may, and return how many these are, as far as is known."""
    most = 1024
    with suppress(ImportError, ValueError, OSError):
        import resource

        most, may = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (may, may))
        most = may if may > 0 else most  # -1 = there is no limit
    return most


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    """Listen at an address, port 0 = any that is free; or at a path, for this user and group alone."""
    is_path, family = "/" in host, socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        if is_path:
            listening = _at_path(host)
        else:
            listening = socket.create_server((host, port), family=family, backlog=WAITING)
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
        listening.listen(WAITING)
    except OSError:
        listening.close()
        raise
    return listening
