"""A server of chat completions on this machine that fails in the ways that real ones do.

What it does is chosen by marks in the document: ``FAULT:name`` picks a row of `FAULTS`, ``GRADE:n`` the
grade. Real sockets, real waits; every request is kept with its time.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_FAULT = re.compile(r"FAULT:([\w-]+)")
_GRADE = re.compile(r"GRADE:(-?\d+)")
_NAME = re.compile(r"NAME:([\w-]+)")
PROMPT_TOKENS, COMPLETION_TOKENS = 90, 7


@dataclass(frozen=True)
class Request:
    """One request that came."""

    name: str
    """Of the document, by its mark ``NAME:``."""
    at: float
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes

    @property
    def prompt(self) -> str:
        """All that the model was told."""
        return "\n".join(one["content"] for one in self.body["messages"])


@dataclass
class ModelServer:
    """What a test sees of the server."""

    port: int = 0
    requests: list[Request] = field(default_factory=list)
    delay_s: float = 0.0
    model: str = "stub-1"
    grade: Callable[[str], int] | None = None
    """From a whole prompt to a grade; by default as the document's mark says, else 1."""
    answered: Counter[str] = field(default_factory=Counter)
    """Whole replies that were sent off, by name."""

    @property
    def base(self) -> str:
        """The URL that is asked."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def host(self) -> str:
        """As identities have it."""
        return f"127.0.0.1:{self.port}"

    def times(self, name: str) -> list[float]:
        """When requests about a document came."""
        return [one.at for one in self.requests if one.name == name]


def completion(content: Any, *, model: str = "stub-1", finish: str = "stop", **others: Any) -> bytes:
    """Write a reply."""
    message = {"role": "assistant", "content": content, **others.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": finish, **others.pop("choice", {})}
    usage = {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": COMPLETION_TOKENS,
        "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
        "prompt_tokens_details": {"cached_tokens": 10},
    }
    return json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "model": model,
            "choices": [choice],
            "usage": usage,
            **others,
        }
    ).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def reply(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        """Send a whole reply."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def begin(self, size: int) -> None:
        """Send the head of a reply alone."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.flush()

    def do_GET(self) -> None:
        """Note who followed a redirect."""
        self.server.state.requests.append(
            Request("redirected", time.monotonic(), self.path, dict(self.headers), {}, b"")
        )
        self.reply(200, completion('{"grade": 2}'))

    def do_POST(self) -> None:
        """Answer as the document asks for."""
        state = self.server.state
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw)
        self.text = text = "\n".join(one["content"] for one in body["messages"])
        named = _NAME.search(text)
        name = named[1] if named else ""
        before = len(state.times(name))
        state.requests.append(Request(name, time.monotonic(), self.path, dict(self.headers), body, raw))
        if state.delay_s:
            time.sleep(state.delay_s)
        fault = _FAULT.search(text)
        try:
            if fault:
                FAULTS[fault[1]](self, before)
            else:
                self.fine()
                state.answered[name] += 1
        except OSError:
            self.close_connection = True

    def fine(self) -> None:
        """Give the grade that the document asks for."""
        state, text = self.server.state, self.text
        found = _GRADE.search(text)
        grade = state.grade(text) if state.grade else int(found[1]) if found else 1
        self.reply(200, completion(json.dumps({"grade": grade}), model=state.model))


def _first(status: int, **headers: str) -> Callable[[_Handler, int], None]:
    """Fail the first time only."""

    def act(one: _Handler, before: int) -> None:
        if before == 0:
            one.reply(status, b'{"error": {"message": "slow down"}}', **headers)
        else:
            one.fine()

    return act


def _http_date(one: _Handler, before: int) -> None:
    if before == 0:
        # Dates have whole seconds: this is between 1 and 2 s from now.
        at = datetime.now(UTC) + timedelta(seconds=2)
        one.reply(429, b"{}", Retry_After=format_datetime(at, usegmt=True))
    else:
        one.fine()


def _drip(one: _Handler, before: int) -> None:
    body = completion('{"grade": 2}')
    one.begin(len(body))
    for byte in body:
        one.wfile.write(bytes([byte]))
        one.wfile.flush()
        time.sleep(0.02)


def _cut(one: _Handler, before: int) -> None:
    body = completion('{"grade": 2}')
    one.begin(len(body))
    one.wfile.write(body[:40])
    one.wfile.flush()
    one.close_connection = True
    one.connection.shutdown(socket.SHUT_RDWR)


def _hang(one: _Handler, before: int) -> None:
    time.sleep(2)
    one.close_connection = True


def _huge(one: _Handler, before: int) -> None:
    one.reply(200, completion('{"grade": 2}') + b" " * (2 << 20))


def _says(content: Any, **others: Any) -> Callable[[_Handler, int], None]:
    return lambda one, _before: one.reply(200, completion(content, **others))


def _status(status: int, body: bytes, **headers: str) -> Callable[[_Handler, int], None]:
    return lambda one, _before: one.reply(status, body, **headers)


def _unauthorised(one: _Handler, before: int) -> None:
    key = one.headers.get("Authorization", "none").removeprefix("Bearer ")
    one.reply(401, json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}}).encode())


def _masked(one: _Handler, before: int) -> None:
    key = one.headers.get("Authorization", "none").removeprefix("Bearer ")
    one.reply(404, f"no model for {key[:5]}***{key[-4:]}".encode())


def _used_up(one: _Handler, before: int) -> None:
    one.reply(
        200,
        completion('{"grade": 1}'),
        x_ratelimit_remaining_requests="0",
        x_ratelimit_reset_requests="1s200ms",
    )


FAULTS: dict[str, Callable[[_Handler, int], None]] = {
    "wait": _first(429, Retry_After="1"),
    "wait-date": _http_date,
    "wait-long": _status(429, b"{}", Retry_After="3600"),
    "wait-20": _status(429, b"{}", Retry_After="20"),
    "wait-ever": _status(429, b"{}"),
    "once-500": _first(500),
    "ever-503": _status(503, b"busy", Retry_After="0"),
    "hang": _hang,
    "drip": _drip,
    "cut": _cut,
    "cut-json": _status(200, completion('{"grade": 2}')[:60]),
    "length": _says('{"grade": 2}', finish="length"),
    "seven": _says('{"grade": 7}'),
    "float": _says('{"grade": 1.5}'),
    "string": _says('{"grade": "2"}'),
    "true": _says('{"grade": true}'),
    "two": _says('{"grade": 1} {"grade": 2}'),
    "empty": _says(""),
    "null": _says(None),
    "refusal": _says(None, message={"refusal": "I cannot"}),
    "filter": _says(None, finish="content_filter"),
    "words": _says("The grade is 2."),
    "huge": _huge,
    "html": lambda one, _before: one.reply(200, b"<html>gateway</html>", "text/html"),
    "401": _unauthorised,
    "masked": _masked,
    "other-model": _says('{"grade": 2}', model="stub-2"),
    "unnamed": _says('{"grade": 2}', model=""),
    "fingerprint": _says('{"grade": 2}', system_fingerprint="fp-2"),
    "redirect": _status(307, b"", Location="/v1/elsewhere"),
    "context": _status(400, b'{"error": {"code": "context_length_exceeded"}}'),
    "400": _status(400, b'{"error": {"message": "no such parameter"}}'),
    "used-up": _used_up,
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    state: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """Run a server while a test lasts."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.state = ModelServer(port=server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main(port_file: str, seconds: float = 300) -> None:
    """Serve for pages of the documentation: write the host and port into a file, and end by itself."""
    with model_server() as running:
        running.grade = lambda text: len(text) % 3
        Path(port_file).write_text(running.host)
        time.sleep(seconds)


if __name__ == "__main__":
    main(sys.argv[1])
