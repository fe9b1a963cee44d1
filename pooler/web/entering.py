"""Who comes in: by a code, which begins a login, or by a name that a proxy vouches for."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from threading import Lock
from typing import TYPE_CHECKING

from store.judging.codes import Access, hash_of, new_code

if TYPE_CHECKING:
    from starlette.requests import Request

    from pooler.web.origin import Origin
    from store.collection import Collection

PER_S = 60.0
GUESSES = 60
"""Wrong codes from one address in `PER_S`; beyond that, wrong codes wait. A right one never does: 125 bits
are not guessed, and one who guesses is not to lock others out behind the same address."""
_ADDRESSES = 10_000
"""Addresses that are counted; beyond that the oldest are forgotten."""
_IPV6_NETWORK = 64
"""Bits of an address of which one household or office has all that begin with them."""


class Guesses:
    """Wrong codes by address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._tried: dict[str, deque[float]] = {}

    def note(self, address: str) -> int:
        """Count a wrong code from an address: 0, or the seconds that the next wrong one waits."""
        now, network = self._clock(), _network(address)
        with self._lock:
            tried = self._tried.pop(network, None) or deque(maxlen=GUESSES + 1)
            tried.append(now)
            self._tried[network] = tried  # the last again
            if len(self._tried) > _ADDRESSES:
                del self._tried[next(iter(self._tried))]
            wait_s = PER_S - (now - tried[0]) if len(tried) > GUESSES else 0.0
        return max(0, round(wait_s))


def _network(address: str) -> str:
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((found, _IPV6_NETWORK), strict=False))


class Door:
    """Tells who a request is of.

    `trust_header`: the header in which a proxy names who has logged in; ``None`` = no such proxy is trusted.
    """

    def __init__(self, opened: Collection, origin: Origin, trust_header: str | None) -> None:
        self._codes = opened.codes
        self._trust_header = trust_header
        self._is_secure = origin.is_secure
        prefix = "__Host-" if origin.is_secure else ""
        self.cookie, self.organiser_cookie = f"{prefix}pooler", f"{prefix}pooler-organiser"
        self.organiser_code = new_code()
        """Of the page of progress, while this server runs."""
        self._organiser_token = secrets.token_urlsafe(32)
        self._guesses = Guesses()

    def judge_of(self, request: Request) -> Access | None:
        """Return whose request it is; ``None`` = nobody's who may judge."""
        if any(named := self.names_given(request)):
            # Of two, one is not the proxy's.
            return self._codes.judge_called(named[0]) if len(named) == 1 else None
        token = request.cookies.get(self.cookie, "")
        return self._codes.login_of(token) if token else None

    def names_given(self, request: Request) -> list[str]:
        """Return who a trusted proxy says has logged in: none, one, or more, of which not all are its own."""
        given = [] if self._trust_header is None else request.headers.getlist(self._trust_header)
        return [one.encode("latin-1").decode("utf-8", "replace") for one in given]

    def is_organiser(self, request: Request) -> bool:
        """Return whether a request is the organiser's."""
        token = request.cookies.get(self.organiser_cookie, "")
        return hmac.compare_digest(token.encode(), self._organiser_token.encode())

    def enter(self, code: str, address: str) -> tuple[str, str] | int:
        """Begin a login: the cookie's name and value; or the seconds that the next wrong code waits."""
        if hmac.compare_digest(hash_of(code), hash_of(self.organiser_code)):
            return self.organiser_cookie, self._organiser_token
        access = self._codes.judge_of(code)
        if access is None:
            return self._guesses.note(address)
        return self.cookie, self._codes.log_in(access)

    def leave(self, request: Request) -> None:
        """End the login of a request; of an organiser every one, as all have the same."""
        if self.is_organiser(request):
            self._organiser_token = secrets.token_urlsafe(32)
        self._codes.log_out(request.cookies.get(self.cookie, ""))

    def address(self, request: Request) -> str:
        """Return where a request is from: what the proxy says, where there is one."""
        passed_on = request.headers.getlist("x-forwarded-for") if self._is_secure else []
        if passed_on:
            return passed_on[-1].rpartition(",")[2].strip()[:64]
        return request.client.host if request.client is not None else ""
