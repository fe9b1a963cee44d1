"""Who is in, and who may try a code: sessions and guesses, in memory, without HTTP."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address, ip_network

from store.judging.judges import Access

IDLE_S = 30 * 60.0
"""Without a key for so long, a session ends."""
LONGEST_S = 12 * 3600.0
"""After so long it ends in any case."""
PER_S = 60.0
GUESSES = 5
"""Wrong codes from one address in `PER_S`."""
GUESSES_OF_ALL = 60
"""The same, from all addresses together."""
_SESSIONS = 4
"""Of one judge: as many browsers. One more ends the oldest."""
_IPV6_NETWORK = 64
"""Bits of an address of which one household or office has all that begin with them."""


class Guesses:
    """Codes that were tried and were not right, or of which it is not known yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tried: list[tuple[float, str]] = []

    def begin(self, address: str) -> int:
        """Note that a code is tried from an address: 0, or the seconds until one may be.

        Noted before it is known whether it is right: many that are tried at once are many.
        """
        now = self._clock()
        self._tried = [one for one in self._tried if now - one[0] < PER_S]
        network = _network(address)
        own = [at for at, other in self._tried if other == network]
        everybody = [at for at, _ in self._tried]
        for tries, most in ((own, GUESSES), (everybody, GUESSES_OF_ALL)):
            if len(tries) >= most:
                return max(1, math.ceil(PER_S - (now - tries[-most])))
        self._tried.append((now, network))
        return 0

    def forget(self, address: str) -> None:
        """Take back the latest guess from an address: it was right, or was not looked at."""
        network = _network(address)
        for place in reversed(range(len(self._tried))):
            if self._tried[place][1] == network:
                del self._tried[place]
                return


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


@dataclass(slots=True)
class Login:
    """A browser in which a code was entered."""

    access: Access
    began: float
    last_active: float
    """When a key came last, or a page was asked for."""


class Logins:
    """The browsers that are in, by the hash of their cookie; who reads it cannot come in with it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logins: dict[bytes, Login] = {}

    def begin(self, access: Access) -> str:
        """Log a judge in; return the content of the cookie."""
        own = [key for key, one in self._logins.items() if one.access.judge_id == access.judge_id]
        for key in own[: max(0, len(own) - _SESSIONS + 1)]:
            del self._logins[key]
        token, now = secrets.token_urlsafe(32), self._clock()
        self._logins[_key(token)] = Login(access, now, now)
        return token

    def find(self, token: str) -> Login | None:
        """Return the visit of a cookie, unless it is over."""
        login = self._logins.get(_key(token))
        return login if login is not None and self.lasts(login) else None

    def lasts(self, login: Login) -> bool:
        """Return whether a visit goes on: it was not ended, and is neither idle nor too old."""
        now = self._clock()
        is_timely = now - login.last_active < IDLE_S and now - login.began < LONGEST_S
        return is_timely and any(one is login for one in self._logins.values())

    def touch(self, login: Login) -> None:
        """Note that somebody is there."""
        login.last_active = self._clock()

    def end(self, token: str) -> Login | None:
        """Log a browser out, and return its visit."""
        return self._logins.pop(_key(token), None)

    def end_outdated(self, valid: Iterable[Access]) -> None:
        """End the visits whose code is another or none by now; names may have changed."""
        by_code = {(one.judge_id, one.sha256): one for one in valid}
        for key, login in list(self._logins.items()):
            found = by_code.get((login.access.judge_id, login.access.sha256))
            if found is None or not self.lasts(login):
                del self._logins[key]
            else:
                login.access = found


def _key(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
