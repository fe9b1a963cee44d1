"""One POST to a server of models: a deadline, a cap, retries, a limit of rate, and a secret key.

The only module that knows the network. Requests run on a thread of their own, several at once; each is sent
again as it is, never changed. The deadline is over a whole attempt, since a server that sends a byte now and
then would outlast any timeout between bytes.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import random
import re
import shlex
import stat
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from httpx2 import AsyncClient

MAX_BODY = 1 << 20
RETRIES = 5
LONGEST_JITTER_S = 60.0
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request is sent again."""
CONTENT_STATUSES = frozenset({400, 413})
KEY_STATUSES = frozenset({401, 403, 407})
"""Statuses about the key: what a server says of it is not repeated, since it may say parts of it."""
_KEY = re.compile(r"[\x21-\x7e]+")
_DURATION = re.compile(r"([0-9]*\.?[0-9]+)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_HIDDEN = b"[key]"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go."""

    url: str
    """Empty = nowhere: they are answered within the program."""
    host: str
    is_here: bool
    is_encrypted: bool


def read_endpoint(base: str) -> Endpoint:
    """Read the base URL of a server; `ArgumentError`: it is none, or holds more than a place."""
    try:
        parts = urlsplit(base)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = SplitResult("", "", "", "", ""), "", None
    if parts.scheme not in ("http", "https") or not host:
        raise ArgumentError("--endpoint", "must be a URL such as http://127.0.0.1:11434/v1", "(not shown)")
    if "@" in parts.netloc or parts.query or parts.fragment:
        requirement = "must have no credentials, query or fragment; a key comes by --key-env or --key-file"
        raise ArgumentError("--endpoint", requirement, host)
    named = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme}://{named}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"
    return Endpoint(
        f"{url}/chat/completions",
        named if port is None else f"{named}:{port}",
        _is_here(host),
        parts.scheme == "https",
    )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_key(variable: str | None, file: Path | None, endpoint: Endpoint) -> str | None:
    """Read a key from where it is kept; no message holds it. ``None`` = none is sent."""
    if variable is None and file is None:
        return None
    if variable is not None and file is not None:
        raise ArgumentError("--key-env", "and --key-file exclude each other", variable)
    if variable is not None:
        key = os.environ.get(variable, "").strip()
        where = f"the environment variable {variable}"
    else:
        assert file is not None
        try:
            with file.open("rb") as opened:
                if stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & 0o077:
                    message = f"{file}: others than its owner may read this key"
                    raise PoolerError(message, hint=f"chmod 600 {shlex.quote(str(file))}")
                key = opened.read(10_000).decode("ascii", "replace").strip()
        except OSError as error:
            raise PoolerError(f"{file}: {error.strerror}") from error
        where = str(file)
    if not _KEY.fullmatch(key):
        message = (
            f"{where}: expected a key of visible ASCII characters, got {'another' if key else 'nothing'}"
        )
        raise PoolerError(message)
    if not (endpoint.is_encrypted or endpoint.is_here):
        message = f"a key is not sent to {endpoint.host} without encryption"
        raise PoolerError(message, hint="use https://, or a server on this machine")
    return key


class StoppedError(PoolerError):
    """The server refuses all further requests: its answer, or the wait it asks for, is none to be retried."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What happened to one request."""

    attempt: int
    """From 1: the one that this is of."""
    sent_at: datetime
    received_at: datetime
    status: int | None = None
    body: bytes = b""
    failure: str = ""
    """Why there is no reply that could be read, after all retries; empty = there is one."""
    is_cut: bool = False
    """Whether it ended before its `Content-Length`, the last time too; `body` is what came of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSettings:
    """How a server is asked."""

    deadline_s: float = 120.0
    retries: int = RETRIES
    max_wait_s: float = 300.0
    """A longer wait that the server asks for stops the run."""
    per_minute: float | None = None
    """Most requests begun in a minute; ``None`` = as many as there are."""
    concurrency: int = 1
    proxy: str | None = None


class Transport:
    """A thread that sends requests, and gives a future for each; to be closed."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: str | None,
        settings: RequestSettings,
        *,
        is_readable: Callable[[bytes], bool],
    ) -> None:
        self._endpoint, self._key, self._settings = endpoint, key, settings
        self._is_readable = is_readable
        self._broken: tuple[type[Exception], ...] = (OSError,)
        self._client: AsyncClient | None = None
        if endpoint.url:
            import httpx2

            self._broken = (httpx2.TransportError, OSError)
            self._ended_early = httpx2.RemoteProtocolError
            self._client = httpx2.AsyncClient(
                trust_env=False,
                follow_redirects=False,
                proxy=settings.proxy,
                timeout=None,  # the deadline is over all of it
                limits=httpx2.Limits(max_connections=settings.concurrency),
            )
        self._next_at = self._hold_until = 0.0
        self._ended = asyncio.Event()
        self._random = random.Random()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="asking", daemon=True)
        self._thread.start()

    def send(self, body: bytes) -> Future[Arrived | None]:
        """Send a request; the future raises `StoppedError` where the run cannot go on."""
        return asyncio.run_coroutine_threadsafe(self._ask(body), self._loop)

    def end_waits(self) -> None:
        """Let nothing wait for its turn or its next try any more; what was sent is still answered."""
        self._loop.call_soon_threadsafe(self._ended.set)

    def close(self) -> None:
        """End what is under way, and the thread."""

        async def end() -> None:
            others = asyncio.all_tasks(self._loop) - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            if self._client is not None:
                await self._client.aclose()

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def hidden(self, body: bytes) -> bytes:
        """Return bytes of the server without the key, which some of them repeat."""
        return body if self._key is None else body.replace(self._key.encode(), _HIDDEN)

    async def _ask(self, body: bytes) -> Arrived | None:
        for attempt in range(1, self._settings.retries + 2):
            if not await self._turn():
                return None
            sent_at, wait_s = datetime.now(UTC), 0.0
            status, got, failure, is_cut = None, b"", "", False
            try:
                async with asyncio.timeout(self._settings.deadline_s):
                    status, got, headers, is_cut = await self._post(body)
                if is_cut:
                    failure = "a body shorter than it was to be"
                else:
                    wait_s = self._heed(status, headers)
                    failure = self._fault(status, got)
            except TimeoutError:
                failure = f"no whole reply within {self._settings.deadline_s:g} s"
            except _TooLargeError:
                failure = f"a reply of more than {MAX_BODY:,} bytes"
                return Arrived(attempt, sent_at, datetime.now(UTC), status, failure=failure)
            except self._broken as error:
                failure = type(error).__name__
            arrived = Arrived(attempt, sent_at, datetime.now(UTC), status, got, failure, is_cut)
            if not failure or attempt > self._settings.retries:
                break
            jitter_s = self._random.uniform(0, min(LONGEST_JITTER_S, 2.0 ** (attempt - 1)))
            if not await self._rest(max(wait_s, jitter_s)):
                return None
        if failure and status == 429:
            message = f"{self._endpoint.host} refuses more requests (429), {attempt} times in a row"
            raise StoppedError(message, hint="the same command goes on from here; --rate N asks less often")
        return arrived

    async def _post(self, body: bytes) -> tuple[int, bytes, Mapping[str, str], bool]:
        """Send once; neither redirects nor proxies that the environment names are followed.

        The last says whether a reply ended before its `Content-Length`.
        """
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        got, is_cut = b"", False
        assert self._client is not None
        async with self._client.stream("POST", self._endpoint.url, content=body, headers=headers) as response:
            try:
                async for part in response.aiter_raw():  # as it comes: nothing is unpacked
                    got += part
                    if len(got) > MAX_BODY:
                        raise _TooLargeError
            except self._ended_early:
                if response.status_code != 200 or "content-length" not in response.headers:
                    raise
                is_cut = True
            return response.status_code, self.hidden(got), response.headers, is_cut

    def _fault(self, status: int, body: bytes) -> str:
        """Return why the same request must be sent again; empty = it need not. `StoppedError`: it cannot."""
        if status == 200:
            return "" if self._is_readable(body) else "status 200 without a chat completion"
        if status in AGAIN:
            return f"status {status}"
        if status in CONTENT_STATUSES:
            return ""
        raise self.refused(status, body)

    def refused(self, status: int, body: bytes) -> StoppedError:
        """Word an answer after which nothing more is asked."""
        said = "" if status in KEY_STATUSES else self._server_words(body)
        message = f"{self._endpoint.host} answered with status {status}" + (f": {said}" if said else "")
        hints = {401: "look at the key", 403: "look at the key", 404: "look at --endpoint and the model's id"}
        hint = hints.get(
            status, "redirects are not followed" if 300 <= status < 400 else "nothing more was asked"
        )
        return StoppedError(message, hint=hint)

    def _server_words(self, body: bytes) -> str:
        """Return a server's words without any that could hold a part of the key."""
        words = self.hidden(body)[:300].decode("utf-8", "replace").split()
        ends = () if self._key is None else (self._key[:4], self._key[-4:])
        hidden = _HIDDEN.decode()
        return " ".join(hidden if any(end in word for end in ends) else word for word in words)

    def _heed(self, status: int, headers: Mapping[str, str]) -> float:
        """Return how long the server asks to wait before this request comes again; hold others back, too."""
        asked_s = _retry_after(headers.get("retry-after", "")) if status in AGAIN else 0.0
        if asked_s > self._settings.max_wait_s:
            message = f"{self._endpoint.host} asks to wait {asked_s:,.0f} s, more than --max-wait"
            raise StoppedError(message, hint="the same command goes on from here, later")
        reset_s = max((_reset(headers, kind) for kind in ("requests", "tokens")), default=0.0)
        if reset_s > self._settings.max_wait_s:
            message = f"{self._endpoint.host} has a limit that ends in {reset_s:,.0f} s, more than --max-wait"
            raise StoppedError(message, hint="the same command goes on from here, later")
        if (hold_s := max(asked_s, reset_s)) > 0:
            self._hold_until = max(self._hold_until, time.monotonic() + hold_s)
        return asked_s

    async def _turn(self) -> bool:
        """Wait until one more request may begin; False = none may any more."""
        while (wait_s := max(self._next_at, self._hold_until) - time.monotonic()) > 0:
            if not await self._rest(wait_s):
                return False
        if self._settings.per_minute is not None:
            self._next_at = time.monotonic() + 60 / self._settings.per_minute
        return not self._ended.is_set()

    async def _rest(self, seconds: float) -> bool:
        """Wait; False = waits are ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        return not self._ended.is_set()


class _TooLargeError(Exception):
    """A reply went on beyond the cap."""


def _retry_after(text: str) -> float:
    """Read `Retry-After`: seconds, or a date of HTTP."""
    text = text.strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text):
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return 0.0
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def _reset(headers: Mapping[str, str], kind: str) -> float:
    """Return the seconds until a used-up limit of requests or tokens begins anew; 0 = it is not used up."""
    if headers.get(f"x-ratelimit-remaining-{kind}", "").strip() != "0":
        return 0.0
    text = headers.get(f"x-ratelimit-reset-{kind}", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text):
        return float(text)
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(text))
