"""The address by which browsers know a server."""

from __future__ import annotations

import pytest

from pooler.web.origin import Origin
from store.errors import ArgumentError


@pytest.mark.parametrize(
    ("text", "origin", "hosts"),
    [
        ("https://judge.example", "https://judge.example", ("judge.example", "Judge.Example:443")),
        ("HTTPS://Judge.Example:443/", "https://judge.example", ("judge.example",)),
        ("https://judge.example:8443", "https://judge.example:8443", ("judge.example:8443",)),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", ("127.0.0.1:8000",)),
        ("http://localhost:80", "http://localhost", ("localhost", "localhost:80")),
        ("http://[::1]:8000", "http://[::1]:8000", ("[::1]:8000",)),
    ],
)
def test_origin_is_read_as_browsers_write_it(text: str, origin: str, hosts: tuple[str, ...]) -> None:
    """Small letters, no usual port, no path; a request may name the usual port."""
    read = Origin.read(text)
    assert str(read) == origin
    assert all(read.is_of(host) for host in hosts)
    assert not read.is_of("")
    assert not read.is_of(f"{read.host_header}.evil.example")


@pytest.mark.parametrize(
    "text",
    [
        "judge.example", "https://", "ftp://judge.example", "https://judge.example/wine", "https://a@judge.example",
        "https://judge.example?x", "https://judge.example#x", "https://judge.example:0", "https://judge.example:x",
        "https://judge.example:99999", "https://[::1", "https://jüdge.example", "",
    ],
)  # fmt: skip
def test_what_is_no_origin_is_refused(text: str) -> None:
    """A path, a name before the host, a port that is none."""
    with pytest.raises(ArgumentError, match="must be an address such as https://judge"):
        Origin.read(text)


@pytest.mark.parametrize("text", ["http://judge.example", "http://192.0.2.1:8000", "http://0.0.0.0"])
def test_others_come_in_by_https_alone(text: str) -> None:
    """Without encryption the cookie and every grade could be read on the way."""
    with pytest.raises(ArgumentError, match="must begin with https://"):
        Origin.read(text)
