"""What the server answers: the page, its requests, the code page, and the organiser's page of progress."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import anyio
from anyio.to_thread import current_default_thread_limiter
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from judge_ui.page.page import html_of, page_html, policy, style_hash
from pooler.web.entering import Door
from pooler.web.progress import progress_body
from store.errors import ArgumentError, ConflictError, PoolerError, UnknownNameError
from store.text import escape_json, sanitise_line

if TYPE_CHECKING:
    from pooler.web.origin import Origin
    from pooler.web.seats import Seats
    from store.collection import Collection
    from store.judging.codes import Access

THREADS = 8
"""Requests that are answered at once: each may wait for the database."""
MOST_BODY = 256 << 10
"""Bytes of a request: a note has 20,000 characters, a passage may be the whole of a long text."""
BODY_S = 10.0
"""In which a body must have come."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # not no-referrer: with that Chromium says `Origin: null` of a form
    "Server": "pooler",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_FRAMED = "; frame-ancestors 'none'"
Handler = Callable[[Request, bytes], Response]


class Server:
    """The server of one collection at one address; `warn` gets a line of what the organiser should know."""

    def __init__(
        self, opened: Collection, origin: Origin, seats: Seats, door: Door, warn: Callable[[str], None]
    ) -> None:
        self._opened = opened
        self._origin = origin
        self._seats = seats
        self._door = door
        self._warn = warn
        self._trouble = ""

    def app(self) -> Starlette:
        """Return what answers requests."""

        @asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            current_default_thread_limiter().total_tokens = THREADS
            yield

        routes = [
            Route("/", self._guarded(self._page), methods=["GET"]),
            Route("/enter", self._guarded(self._enter), methods=["POST"]),
            Route("/leave", self._guarded(self._leave), methods=["POST"]),
            Route("/progress", self._guarded(self._progress), methods=["GET"]),
            Route("/api/{verb}", self._guarded(self._api), methods=["POST"]),
            Route("/{path:path}", self._guarded(lambda _request, _body: _plain("Not here.", 404))),
        ]
        return Starlette(routes=routes, lifespan=lifespan)

    def _guarded(self, handle: Handler) -> Callable[[Request], Any]:
        """Refuse requests for other hosts, of other pages and of too much; answer the others in a thread."""

        async def answer(request: Request) -> Response:
            try:
                response = await self._answer(request, handle)
            except TimeoutError:
                response = _plain("The request did not come in time.", 408, Connection="close")
            response.headers.update(_HEADERS)
            return response

        return answer

    async def _answer(self, request: Request, handle: Handler) -> Response:
        if not self._origin.is_of(request.headers.get("host", "")):
            return _plain(f"This server is {self._origin}: open that address.", 421)
        if request.method == "POST" and request.headers.get("origin") != str(self._origin):
            return _plain("This came from another page.", 403)
        body = bytearray()
        try:
            with anyio.fail_after(BODY_S):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > MOST_BODY:
                        return _json({"error": "that is too much at once"}, 413, Connection="close")
        except ClientDisconnect:
            return _plain("", 400)
        try:
            return await run_in_threadpool(handle, request, bytes(body))
        except PoolerError as error:
            return self._fault(error)
        except Exception as error:  # noqa: BLE001 - nothing that a request does ends the server, or is silent
            self._warn(f"{request.url.path}: {type(error).__name__}: {error}")
            return _json({"error": "the server has a fault; the organiser is told"}, 500)

    def _fault(self, error: PoolerError) -> Response:
        """Report a fault of the collection, once while it lasts; where it lies is for the organiser alone."""
        if error.message != self._trouble:
            self._trouble = error.message
            self._warn(error.message)
        return _json({"error": "the collection does not answer"}, 503)

    def _page(self, request: Request, _body: bytes) -> Response:
        access = self._door.judge_of(request)
        if access is None:
            named = sanitise_line(", ".join(self._door.names_given(request)))
            return code_page(
                f"Nobody who may judge here has the name of your login, {named}." if named else ""
            )
        return _page(page_html(self._seats.head(access)), policy(is_served=True))

    def _enter(self, request: Request, body: bytes) -> Response:
        try:
            code = parse_qs(body.decode("utf-8", "replace"), max_num_fields=8).get("code", [""])[0]
        except ValueError:
            return _plain("This is no form.", 400)
        address = self._door.address(request)
        entered = self._door.enter(code, address)
        if isinstance(entered, int):
            self._warn(f"wrong code from {address}")
            if entered:
                return code_page(f"Too many wrong codes. Wait {entered} seconds.", 429)
            return code_page("This code is not known.", 403)
        name, token = entered
        place = "/progress" if name == self._door.organiser_cookie else "/"
        response = RedirectResponse(place, 303)
        # Lax: an address in a mail leads in; what changes anything is checked by its Origin besides.
        response.set_cookie(name, token, secure=self._origin.is_secure, httponly=True, samesite="lax")
        return response

    def _leave(self, request: Request, _body: bytes) -> Response:
        if access := self._door.judge_of(request):
            self._seats.leave(access)
        self._door.leave(request)
        response = RedirectResponse("/", 303)
        for name in (self._door.cookie, self._door.organiser_cookie):
            response.delete_cookie(name, secure=self._origin.is_secure, httponly=True, samesite="lax")
        return response

    def _progress(self, request: Request, _body: bytes) -> Response:
        if not self._door.is_organiser(request):
            return code_page()
        rules = f"default-src 'none'; style-src 'sha256-{style_hash()}'; img-src data:; base-uri 'none'"
        title = f"{escape(self._opened.name)} - progress - pooler"
        return _page(html_of(title, progress_body(self._opened), rules), rules)

    def _api(self, request: Request, body: bytes) -> Response:
        access = self._door.judge_of(request)
        if access is None:
            return _json({"error": "enter your code again"}, 401)
        act = self._seats.verbs.get(request.path_params["verb"])
        try:
            asked = json.loads(body)
            window = asked["window"]
            if act is None or not isinstance(window, str) or not window.isalnum() or len(window) != 16:
                return _no_request()
        except (KeyError, TypeError, ValueError, RecursionError):
            return _no_request()
        return self._acted(access, act, window, asked)

    def _acted(self, access: Access, act: Callable[..., Any], window: str, asked: dict[str, Any]) -> Response:
        seat = self._seats.of(access, window)
        with seat.lock:
            try:
                answer = act(seat, asked)
            except ConflictError as error:
                record = asked["record"]
                now = self._seats.now(seat, str(record["topic"]), str(record["docno"]))
                return _json({"error": error.message, "now": now}, 409)
            except UnknownNameError as error:
                # Its message lists the names there are, and other judges' topics are no business of this one.
                return _json({"error": f"unknown {error.kind}"}, 400)
            except ArgumentError as error:
                return _json({"error": f"`{error.name}` {error.requirement}"}, 400)
            except (KeyError, TypeError, ValueError, AttributeError):
                return _no_request()
        self._trouble = ""
        return _json(answer)


def code_page(words: str = "", status: int = 200) -> Response:
    """Ask for an access code; `words` is about the one before."""
    own = f"default-src 'none'; style-src 'sha256-{style_hash()}'; img-src data:"
    rules = f"{own}; form-action 'self'; base-uri 'none'"
    body = f"""\
<body class="code"><main><h1>Judging</h1>
<form method="post" action="/enter"><label for="code">Your access code</label>
<input id="code" name="code" type="password" autocomplete="off" autofocus required>
<button>Begin</button></form>
<p role="alert">{escape(words)}</p></main></body>"""
    return _page(html_of("Judging - pooler", body, rules), rules, status)


def _page(html: str, rules: str, status: int = 200) -> Response:
    return HTMLResponse(html, status, {"Content-Security-Policy": rules + _FRAMED})


def _plain(words: str, status: int, **headers: str) -> Response:
    more = {"Content-Security-Policy": "default-src 'none'" + _FRAMED, **headers}
    return Response(f"{words}\n", status, more, "text/plain; charset=utf-8")


def _json(answer: Any, status: int = 200, **headers: str) -> Response:
    text = escape_json(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    return Response(text, status, headers, "application/json")


def _no_request() -> Response:
    return _json({"error": "this is no request of the page"}, 400)
