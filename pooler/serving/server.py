"""A server of the judging screen: one browser window, one judge, one process.

Who the judge is comes from the code that was entered, never from the browser. Every request must name this
server as its host, so that no other name can be made to lead here; what changes something, and the WebSocket,
must come from the server's own pages.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

from aiohttp import WSMsgType, web

from pooler.messages import current_listener
from pooler.serving import pages
from pooler.serving.admission import Guesses, Login, Logins
from pooler.serving.origin import Origin
from pooler.serving.screen import FAILED, LEAVE_S, Screen
from pooler.serving.start import start_of
from store.errors import PoolerError

if TYPE_CHECKING:
    from store.collection import Collection

MOST_BODY = 4 << 10
"""Bytes of a request: a code has 29."""
MOST_FRAME = 64 << 10
"""Bytes of a message of the WebSocket: a paste."""
_BODY_S = 10.0
_HEARTBEAT_S = 15.0
"""A browser that gives no sign of life for half as long again is gone."""
_FRESH_S = 0.05
"""For so long it is known which codes open something; before a later key is taken, it is asked again."""
_ANSWER_S = 1.0
"""For so long a key waits for that: a database that does not answer takes no grade either."""
_WATCH_S = 2.0
"""Between two looks whether somebody is to be let out who presses no key."""
_SIZES = {"width": (20, 80, 500), "height": (5, 24, 300)}
"""Columns and rows of a window: least, usual, most."""
_CLEAR = "\x1b[?1000l\x1b[?1003l\x1b[?1049l\x1b[H\x1b[2J"

_ELSEWHERE = "You went on in another window."
_OVER = "The session is over: it was idle for too long, or the code was taken back. Everything saved stays."
_STOPPED = "The server was stopped. Everything saved stays."
_UNKNOWN = "This code is not known."
_NO_ANSWER = "The collection does not answer now. Try again; if that stays so, call the organiser."

Answer = TypeVar("Answer")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class JudgingWindow:
    """The window in which a judge works."""

    def __init__(self, login: Login, socket: web.WebSocketResponse) -> None:
        self.login = login
        self.socket = socket
        self.is_over = asyncio.Event()
        self.words = ""
        """Why it is over; empty = the process says."""

    def end(self, words: str) -> None:
        """Let it end; the first reason stands."""
        if not self.is_over.is_set():
            self.words = words
            self.is_over.set()


class Server:
    """The server of one collection at one address."""

    def __init__(
        self, opened: Collection, collection: str, origin: Origin, database: ThreadPoolExecutor
    ) -> None:
        self._codes = opened.codes
        """Asked in the one thread of `database` alone."""
        self._collection = collection
        """As the processes of judges are to open it."""
        self._origin = origin
        self._database = database
        self._cookie = "__Host-pooler" if origin.is_secure else "pooler"
        self._logins = Logins()
        self._guesses = Guesses()
        self._windows: dict[int, JudgingWindow] = {}
        """By the row id of the judge."""
        self._turns: dict[int, asyncio.Lock] = {}
        """A judge has one process at a time: the next begins when the one before has ended."""
        self._looking: asyncio.Task[None] | None = None
        self._known_at = 0.0
        """When the database was asked last which codes stand."""
        self._trouble = ""
        self._is_stopping = False
        self._listener = current_listener()

    def app(self) -> web.Application:
        """Return what aiohttp runs."""
        app = web.Application(client_max_size=MOST_BODY, middlewares=[self._guard])
        static = pages.static_folder()
        assert static is not None, "textual-serve is not installed"
        given = {path: (static / file, kind) for path, (file, kind) in pages.FILES.items()}
        app.add_routes(
            [
                web.get("/", self._page),
                web.post("/enter", self._enter),
                web.post("/leave", self._leave),
                web.get("/ws", self._judge),
                web.get("/pooler.css", partial(_text, pages.STYLE, "text/css")),
                web.get("/pooler.js", partial(_text, pages.SCRIPT, "text/javascript")),
                *(web.get(path, partial(_file, *file)) for path, file in given.items()),
            ]
        )
        app.cleanup_ctx.append(self._watching)
        app.on_shutdown.append(self._stop)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._check(request)
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(pages.HEADERS)
            raise
        if not response.prepared:
            response.headers.update(pages.HEADERS)
        return response

    def _check(self, request: web.Request) -> None:
        """Refuse what was meant for another host, or changes something and comes from another's page."""
        if not self._origin.is_of(request.headers.get("Host", "")):
            raise web.HTTPMisdirectedRequest(text=f"This server is {self._origin}: open that address.\n")
        if request.method not in ("GET", "HEAD"):
            self._check_page(request)
        if self._is_stopping:
            raise web.HTTPServiceUnavailable(text=f"{_STOPPED}\n")

    def _check_page(self, request: web.Request) -> None:
        if request.headers.get("Origin") != str(self._origin):
            raise web.HTTPForbidden(text="This came from another page.\n")

    async def _page(self, request: web.Request) -> web.Response:
        login = await self._login(request)
        if login is None:
            return _html(pages.code_page())
        self._logins.touch(login)
        return _html(pages.judging_page(self._origin.socket))

    async def _enter(self, request: web.Request) -> web.Response:
        code, address = await _code_of(request), self._address(request)
        if wait_s := self._guesses.begin(address):
            words = f"Too many wrong codes. Wait {wait_s} seconds."
            return _html(pages.code_page(words), 429, {"Retry-After": str(wait_s)})
        try:
            access = await self._ask(partial(self._codes.judge_of, code))
        except PoolerError as error:
            self._guesses.forget(address)
            self._listener.warn(error.message)
            return _html(pages.code_page(_NO_ANSWER), 503)
        if access is None:
            self._listener.say(f"a wrong code from {address}")
            return _html(pages.code_page(_UNKNOWN), 403)
        self._guesses.forget(address)
        self._logins.end(self._token(request))
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie(
            self._cookie,
            self._logins.begin(access),
            path="/",
            secure=self._origin.is_secure,
            httponly=True,
            samesite="Strict",
        )
        self._listener.say(f"{access.judge} came in from {address}")
        return response

    async def _leave(self, request: web.Request) -> web.Response:
        login = self._logins.end(self._token(request))
        if login is not None:
            self._let_out()
            self._listener.say(f"{login.access.judge} left")
        response = web.Response(status=303, headers={"Location": "/"})
        response.del_cookie(
            self._cookie, path="/", secure=self._origin.is_secure, httponly=True, samesite="Strict"
        )
        return response

    async def _judge(self, request: web.Request) -> web.StreamResponse:
        self._check_page(request)
        login = await self._login(request)
        if login is None:
            raise web.HTTPUnauthorized(text="Enter your code first.\n")
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, max_msg_size=MOST_FRAME, compress=False)
        socket.headers.update(pages.HEADERS)
        await socket.prepare(request)
        window, judge = JudgingWindow(login, socket), login.access.judge_id
        before, self._windows[judge] = self._windows.get(judge), window
        if before is not None:
            before.end(_ELSEWHERE)
        try:
            async with self._turns.setdefault(judge, asyncio.Lock()):
                words = "" if window.is_over.is_set() else await self._sit(window, _sizes(request.query))
        finally:
            if self._windows.get(judge) is window:
                del self._windows[judge]
        with suppress(ConnectionError, RuntimeError):
            await socket.send_bytes(f"{_CLEAR}{window.words or words}\r\n".encode())
            await socket.close()
        return socket

    async def _sit(self, window: JudgingWindow, sizes: dict[str, int]) -> str:
        judge = window.login.access.judge
        start = start_of(judge, self._collection, **sizes)
        try:
            screen = await Screen.begin(start, window.socket.send_bytes)
        except OSError as error:
            self._listener.warn(f"the screen of {judge} cannot be started: {error.strerror or error}")
            return FAILED
        ways = (self._pass_on(window, screen), screen.ended(), window.is_over.wait())
        ends = [asyncio.create_task(one) for one in ways]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in ends:
                one.cancel()
            words = await screen.end()
            if fault := screen.fault():
                self._listener.warn(f"the screen of {judge} {fault}")
        for one in ends:
            if not one.cancelled() and (bug := one.exception()) is not None:
                raise bug
        return words

    async def _pass_on(self, window: JudgingWindow, screen: Screen) -> None:
        """Pass on what is typed in a window; what no page of this server sends ends it."""
        async for message in window.socket:
            kind, about = _read_message(message)
            if kind not in ("stdin", "resize", "focus", "blur", "ping"):
                return
            await self._refresh()
            if not self._logins.lasts(window.login):
                window.end(_OVER)
                return
            if kind == "stdin":
                self._logins.touch(window.login)
                await screen.type(str(about))
            elif kind == "resize":
                await screen.tell("resize", **_sizes(about if isinstance(about, dict) else {}))
            elif kind == "ping":
                with suppress(ConnectionError):
                    await window.socket.send_json(["pong", about])
            else:
                await screen.tell(kind)

    async def _login(self, request: web.Request) -> Login | None:
        await self._refresh()
        return self._logins.find(self._token(request))

    def _token(self, request: web.Request) -> str:
        return request.cookies.get(self._cookie, "")

    def _address(self, request: web.Request) -> str:
        """Return who asks: behind a proxy that encrypts, who asked the proxy."""
        passed_on = request.headers.getall("X-Forwarded-For", []) if self._origin.is_secure else []
        return passed_on[-1].rpartition(",")[2].strip()[:64] if passed_on else request.remote or ""

    async def _refresh(self) -> None:
        """Read which codes are valid now; a database without an answer keeps no request waiting."""
        now = asyncio.get_running_loop().time()
        if self._looking is None or (self._looking.done() and now - self._known_at >= _FRESH_S):
            self._looking = asyncio.create_task(self._look())
        with suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                await asyncio.shield(self._looking)

    async def _look(self) -> None:
        """Log out browsers whose code is no longer valid."""
        trouble = ""
        try:
            self._logins.end_outdated(await self._ask(self._codes.valid))
        except PoolerError as error:
            # A screen says itself that it cannot save, and goes on when it can.
            trouble = error.message
        if trouble and trouble != self._trouble:
            self._listener.warn(trouble)
        self._trouble = trouble
        self._known_at = asyncio.get_running_loop().time()
        self._let_out()

    def _let_out(self) -> None:
        for window in self._windows.values():
            if not self._logins.lasts(window.login):
                window.end(_OVER)

    async def _ask(self, question: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._database, question)

    async def _watching(self, _app: web.Application) -> AsyncIterator[None]:
        async def watch() -> None:
            while True:
                await asyncio.sleep(_WATCH_S)
                if self._windows:
                    await self._refresh()

        watching = asyncio.create_task(watch())
        yield
        watching.cancel()

    async def _stop(self, _app: web.Application) -> None:
        self._is_stopping = True
        for window in self._windows.values():
            window.end(_STOPPED)
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * LEAVE_S):
                for turn in self._turns.values():
                    async with turn:
                        pass


async def _code_of(request: web.Request) -> str:
    if request.content_type != "application/x-www-form-urlencoded":
        raise web.HTTPUnsupportedMediaType(text="This is no form.\n")
    try:
        async with asyncio.timeout(_BODY_S):
            body = await request.read()
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=8)
    except TimeoutError as error:
        raise web.HTTPRequestTimeout from error
    except ValueError as error:
        raise web.HTTPBadRequest(text="This is no form.\n") from error
    return fields.get("code", [""])[0]


def _read_message(message: Any) -> tuple[str, Any]:
    """Read what a window sent: of what kind, and what about it; kind empty = it makes no sense."""
    if message.type is not WSMsgType.TEXT:
        return "", None
    try:
        parts = json.loads(message.data)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        return "", None
    return parts[0], parts[1] if len(parts) > 1 else None


def _sizes(given: Any) -> dict[str, int]:
    """Read the size of a window, within bounds; what is no number is the usual one."""
    sizes = {}
    for name, (least, usual, most) in _SIZES.items():
        text = str(given.get(name, ""))
        sizes[name] = min(max(int(text), least), most) if text.isdecimal() and len(text) < 12 else usual
    return sizes


def _html(text: str, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(text=text, status=status, headers=headers, content_type="text/html", charset="utf-8")


async def _text(text: str, kind: str, _request: web.Request) -> web.Response:
    return web.Response(text=text, content_type=kind, charset="utf-8")


async def _file(path: Path, kind: str, _request: web.Request) -> web.FileResponse:
    return web.FileResponse(path, headers={"Content-Type": kind})
