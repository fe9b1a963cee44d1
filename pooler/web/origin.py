"""The address by which browsers know the server, and which of them it may have."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

from store.errors import ArgumentError

_USUAL = {"http": 80, "https": 443}


def is_here(host: str) -> bool:
    """Return whether a host is this machine.

    Examples
    --------
    >>> [is_here(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "judge.example")]
    [True, True, True, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Origin:
    """A scheme, a host and a port, as a browser writes them."""

    scheme: str
    host: str
    """In small letters, as in an address: an IPv6 number in brackets."""
    port: int

    @classmethod
    def read(cls, text: str) -> Self:
        """Read an origin; `ArgumentError`: it is none, or not encrypted and not this machine's.

        Examples
        --------
        >>> str(Origin.read("https://Judge.example/")), Origin.read("https://judge.example").host_header
        ('https://judge.example', 'judge.example')
        """
        requirement = "must be an address such as https://judge.example, without a path"
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ArgumentError("origin", requirement, text) from error
        is_bare = (
            parts.path in ("", "/") and not parts.query and not parts.fragment and "@" not in parts.netloc
        )
        if parts.scheme not in _USUAL or not host or not host.isascii() or not is_bare or port == 0:
            raise ArgumentError("origin", requirement, text)
        if parts.scheme == "http" and not is_here(host):
            message = "must begin with https:// unless it is this machine's own"
            hint = "a reverse proxy does the encryption: docs/how-to/judge-in-browser.md"
            raise ArgumentError("origin", message, text, hint=hint)
        return cls(parts.scheme, f"[{host}]" if ":" in host else host, port or _USUAL[parts.scheme])

    @property
    def is_secure(self) -> bool:
        """Whether it is encrypted."""
        return self.scheme == "https"

    @property
    def host_header(self) -> str:
        """What a request has as its host."""
        return self.host if self.port == _USUAL[self.scheme] else f"{self.host}:{self.port}"

    def is_of(self, host_header: str) -> bool:
        """Return whether a request's host is this one, with or without the usual port."""
        given = host_header.lower()
        return given in (self.host_header, f"{self.host}:{self.port}")

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_header}"
