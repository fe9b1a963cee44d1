"""What `pooler serve` does not begin with, and `pooler judges code` does not do."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.helpers.run import Cli


@pytest.fixture(autouse=True)
def _collection(cli: Cli) -> None:
    cli("init", "--scale", "0-2").fine()
    cli("judges", "add", "alice").fine()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "judge.example"])
@pytest.mark.parametrize("origin", [(), ("--origin", "http://127.0.0.1:8000")])
def test_others_reach_it_by_https_alone(cli: Cli, host: str, origin: tuple[str, ...]) -> None:
    """An address that others can reach needs an origin that is encrypted."""
    said = cli("serve", "--port", "0", "--host", host, *origin).failed(1).err
    assert "must be this machine's own (127.0.0.1) unless --origin names an https address" in said
    assert "leave --host out, and let a reverse proxy on this machine serve the URL of --origin" in said


def test_origin_is_https_or_here(cli: Cli) -> None:
    """Behind a proxy without encryption nobody is to judge."""
    said = cli("serve", "--origin", "http://judge.example").failed(1).err
    assert "`--origin` must begin with https:// unless it is this machine's own" in said
    assert "`--origin` must be an address" in cli("serve", "--origin", "judge.example").failed(1).err


def test_port_that_is_taken(cli: Cli) -> None:
    """It is said which, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = cli("serve", "--port", str(port)).failed(1).err
    assert f"cannot listen at 127.0.0.1, port {port}: Address already in use" in said
    assert "hint: --port names another port; 0 = any that is free" in said


def test_no_collection(cli: Cli, tmp_path: Path) -> None:
    """Nothing is served that is not there."""
    assert "there is no collection" in cli("serve", "--collection", str(tmp_path / "none.db")).failed(3).err


def test_code_is_all_of_stdout(cli: Cli) -> None:
    """What is said of it is on stderr, so that it can be put where it belongs."""
    made = cli("judges", "code", "alice").fine()
    assert len(made.out.strip()) == 29
    assert made.out.strip() not in made.err
    assert "not shown again" in made.err
    assert "opens nothing any more" in cli("judges", "code", "alice", "--revoke").fine().err
    assert "has no code" in cli("judges", "code", "alice", "--revoke").fine().err
    assert "unknown judge `ana`; known: `alice`" in cli("judges", "code", "ana").failed(1).err
