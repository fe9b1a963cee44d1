"""The server's life: bound, announced, stopped by Ctrl-C or `kill`."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from aiohttp import web

from pooler.messages import warn
from pooler.serving.origin import Origin, is_here
from pooler.serving.screen import LEAVE_S
from pooler.serving.server import Server
from store.collection import Collection
from store.errors import ArgumentError, PoolerError


def serve(
    collection: str, *, host: str, port: int, origin: str | None, began: Callable[[Origin, int], None]
) -> None:
    """Serve the judging screens of a collection until the process is interrupted.

    `began` gets the address, and how many judges have a code. `ArgumentError`: an origin that is none, or
    an address that others can reach without an origin that is encrypted. `PoolerError`: it cannot be
    listened at.
    """
    asked = None if origin is None else Origin.read(origin)
    if not is_here(host) and (asked is None or not asked.is_secure):
        requirement = "must be this machine's own (127.0.0.1) unless --origin names an https address"
        hint = "leave --host out, and let a reverse proxy on this machine serve the URL of --origin"
        raise ArgumentError("host", requirement, host, hint=hint)
    # The one thread in which the database is asked: its connections are of the thread that opened them.
    with ThreadPoolExecutor(1, "database") as database:
        opened = database.submit(Collection, collection).result()
        try:
            if doubt := database.submit(opened.clock_doubt).result():
                warn(doubt)
            n_codes = len(database.submit(opened.codes.valid).result())
            with _bound(host, port) as listening:
                name = f"[{host}]" if ":" in host else host.lower()
                own = Origin("http", name, listening.getsockname()[1])
                server = Server(opened, collection, asked or own, database)
                asyncio.run(_run(server.app(), listening, partial(began, asked or own, n_codes)))
        finally:
            database.submit(opened.close).result()


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket at an address; port 0 = any that is free."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"cannot listen at {host}, port {port}: {reason}"
        raise PoolerError(message, hint="--port names another port; 0 = any that is free") from error


async def _run(app: web.Application, listening: socket.socket, began: Callable[[], None]) -> None:
    """Serve until somebody interrupts; then let every screen save and end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=LEAVE_S)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        began()
        await stop.wait()
    finally:
        await runner.cleanup()
