"""Who tries to come in without a code, from another page, by another name, or with too much."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import WSServerHandshakeError

from tests.pooler.serving.served import (
    Served,
    Visitor,
    codes_of,
    judged,
    make_collection,
    serving,
    settings_of,
    wait_until_gone,
)
from tests.store.stopping import stopping_server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serving")]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a collection."""
    file = tmp_path_factory.mktemp("served") / "secret-place.db"
    make_collection(file, 40, "alice", "bob")
    return file


@pytest.fixture(scope="module")
def codes(file: Path) -> dict[str, str]:
    """Give codes to its judges."""
    return codes_of(file, "alice", "bob")


@pytest.fixture(scope="module")
def served(file: Path, codes: dict[str, str]) -> Iterator[Served]:
    """Serve it."""
    with serving(file, settings={"PGPASSWORD": "secret", "OTHER_SECRET": "secret"}) as running:
        yield running
        assert running.stop() == 0
        assert "Traceback" not in running.said


async def refusal(visitor: Visitor, **headers: str | None) -> int:
    """Return the status with which a window is refused."""
    with pytest.raises(WSServerHandshakeError) as refused:
        await visitor.open(**headers)
    return refused.value.status


async def test_nobody_comes_in_without_a_code(served: Served, codes: dict[str, str]) -> None:
    """The page asks for the code; a window needs the cookie, and a cookie that was made up is none."""
    async with Visitor(served.origin) as visitor:
        status, page, _ = await visitor.ask("GET", "/")
        assert (status, "access code" in page, "terminal" in page) == (200, True, False)
        assert await refusal(visitor) == 401
        assert await refusal(visitor, Cookie="pooler=made-up") == 401
        assert await visitor.enter(codes["alice"]) == 303
        _, page, _ = await visitor.ask("GET", "/")
        assert "terminal" in page
        foreign = visitor.cookie()
        status, _, _ = await visitor.ask("POST", "/leave")
        assert status == 303
        assert await refusal(visitor, Cookie=foreign) == 401


async def test_cookie_is_for_this_server_alone(served: Served, codes: dict[str, str]) -> None:
    """No script reads it, no other page sends it; what the pages may do is said in a policy."""
    async with Visitor(served.origin) as visitor:
        _, _, headers = await visitor.ask("POST", "/enter", data={"code": codes["bob"].upper()})
        name, *rules = headers["Set-Cookie"].split("; ")
        assert name.startswith("pooler=")
        assert {"HttpOnly", "Path=/", "SameSite=Strict"} == set(rules)  # gone when the browser is
        for path in ("/", "/pooler.css", "/static/textual.js", "/missing"):
            _, _, headers = await visitor.ask("GET", path)
            assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
            assert headers["Referrer-Policy"] == "same-origin"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Server"] == "pooler"


async def test_https_makes_the_cookie_secure(file: Path, codes: dict[str, str]) -> None:
    """Behind a proxy with https no other host can set it, and no other way carries it."""
    with serving(file, "--origin", "https://judge.example") as served:
        assert served.origin == "https://judge.example"
        at = f"http://127.0.0.1:{listening_port(served)}"
        async with Visitor(served.origin, at=at) as visitor:
            _, _, headers = await visitor.ask("POST", "/enter", data={"code": codes["alice"]})
            name, *rules = headers["Set-Cookie"].split("; ")
            assert name.startswith("__Host-pooler=")
            assert {"HttpOnly", "Path=/", "SameSite=Strict", "Secure"} == set(rules)
            _, page, _ = await visitor.ask("GET", "/", headers={"Cookie": name})
            assert 'data-session-websocket-url="wss://judge.example/ws"' in page
            # Whoever asked the proxy is who guesses, and cannot say to be somebody else.
            for number in range(6):
                more = {"X-Forwarded-For": f"203.0.113.{number}, 198.51.100.7"}
                status, _, _ = await visitor.ask("POST", "/enter", data={"code": "x"}, headers=more)
            assert status == 429
            more = {"X-Forwarded-For": "198.51.100.8"}
            status, _, _ = await visitor.ask("POST", "/enter", data={"code": "x"}, headers=more)
            assert status == 403


def listening_port(served: Served) -> int:
    """Find the port that a server listens at, whatever it is called."""
    inodes = {
        link.readlink().as_posix().partition("[")[2].rstrip("]")
        for link in Path(f"/proc/{served.process.pid}/fd").iterdir()
        if link.is_symlink() and "socket:" in link.readlink().as_posix()
    }
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    (port,) = {int(line[1].partition(":")[2], 16) for line in lines if line[3] == "0A" and line[9] in inodes}
    return port


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", None, "http://127.0.0.1", "http://127.0.0.1:1"]
)
async def test_other_pages_can_do_nothing(served: Served, codes: dict[str, str], origin: str | None) -> None:
    """A form or a window of another page is refused, with the code and with the cookie."""
    async with Visitor(served.origin) as visitor:
        for path in ("/enter", "/leave"):
            status, _, headers = await visitor.ask(
                "POST", path, data={"code": codes["alice"]}, headers={"Origin": origin}
            )
            assert (status, "Set-Cookie" in headers) == (403, False)
        assert await visitor.enter(codes["alice"]) == 303
        assert await refusal(visitor, Origin=origin) == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "", "127.0.0.1", "localhost"])
async def test_other_names_lead_nowhere(served: Served, codes: dict[str, str], host: str) -> None:
    """A name that somebody has made to lead here is not this server's: no page, no code, no window."""
    async with Visitor(served.origin) as visitor:
        assert await visitor.enter(codes["alice"]) == 303
        for path in ("/", "/static/textual.js", "/missing"):
            status, body, _ = await visitor.ask("GET", path, headers={"Host": host})
            assert status == 421
            assert served.origin in body
        status, _, _ = await visitor.ask(
            "POST", "/enter", data={"code": codes["alice"]}, headers={"Host": host}
        )
        assert status == 421
        assert await refusal(visitor, Host=host) == 421


@pytest.mark.parametrize(
    "path",
    [
        "/static/", "/static", "/static/..%2f..%2fserver.py", "/static/../server.py", "/static/js/textual.js",
        "//static", "/enter", "/secret-place.db", "/etc/passwd",
    ],
)  # fmt: skip
async def test_nothing_else_is_there(served: Served, path: str) -> None:
    """What is served is listed by name: no folder, no way up."""
    async with Visitor(served.origin) as visitor:
        status, body, _ = await visitor.ask("GET", path)
        assert status in (404, 405)
        assert "root:" not in body
        assert "aiohttp" not in body


async def test_pages_do_not_say_where_the_collection_is(served: Served, codes: dict[str, str]) -> None:
    """Neither its file nor its folder, with a code or without."""
    async with Visitor(served.origin) as visitor:
        pages = [
            (await visitor.ask("GET", "/"))[1],
            (await visitor.ask("POST", "/enter", data={"code": "x"}))[1],
        ]
        assert await visitor.enter(codes["bob"]) == 303
        pages += [(await visitor.ask("GET", path))[1] for path in ("/", "/pooler.js", "/pooler.css")]
        assert not any(word in page for page in pages for word in ("secret-place", "sqlite", "postgres"))


async def test_sixth_wrong_code_in_a_minute_waits(file: Path, codes: dict[str, str]) -> None:
    """So does a right one then; thirty at once are not more than five."""
    with serving(file) as served:
        async with Visitor(served.origin) as visitor:
            at_once = await asyncio.gather(*(visitor.enter(f"guess-{number}") for number in range(30)))
            assert sorted(at_once) == [403] * 5 + [429] * 25
            status, page, headers = await visitor.ask("POST", "/enter", data={"code": codes["alice"]})
            assert (status, "Set-Cookie" in headers) == (429, False)
            assert 0 < int(headers["Retry-After"]) <= 60
            assert "Too many wrong codes" in page
        assert served.said.count("a wrong code from 127.0.0.1") == 5


async def test_odd_requests_are_refused(served: Served, codes: dict[str, str]) -> None:
    """Too long, no form, many fields, no HTTP at all: in words, and the server goes on."""
    async with Visitor(served.origin) as visitor:
        for data, kind, expected in (
            ("code=" + "x" * 5000, "application/x-www-form-urlencoded", 413),
            (json.dumps({"code": codes["alice"]}), "application/json", 415),
            ("&".join(f"a{n}=1" for n in range(50)), "application/x-www-form-urlencoded", 400),
            (b"code=\xff\xfe%ED%A0%80", "application/x-www-form-urlencoded", 403),
        ):
            status, _, _ = await visitor.ask("POST", "/enter", data=data, headers={"Content-Type": kind})
            assert status == expected
        for junk in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"A" * 100_000):
            with socket.create_connection(("127.0.0.1", served.port)) as raw:
                raw.sendall(junk)
                raw.shutdown(socket.SHUT_WR)
                raw.settimeout(5)
                raw.recv(1 << 16)
        assert await visitor.enter(codes["alice"]) == 303


@pytest.mark.parametrize(
    "frame",
    ["x" * 70_000, b"\0binary", "[" * 60_000, '["deliver_chunk_request", {"key": "x", "size": 9}]'],
    ids=["large", "binary", "deep", "file"],
)
async def test_odd_frames_end_the_window(served: Served, codes: dict[str, str], frame: str | bytes) -> None:
    """What no page of this server sends ends the window and its process, and nothing else."""
    async with Visitor(served.origin) as visitor:
        assert await visitor.enter(codes["alice"]) == 303
        window = await visitor.open()
        while not (running := served.screens()):
            await asyncio.sleep(0.02)
        await (window.socket.send_bytes(frame) if isinstance(frame, bytes) else window.socket.send_str(frame))
        await window.ended()
        if len(frame) > 65536:
            assert window.close_code == 1009  # too big, RFC 6455
        wait_until_gone(running)


async def test_odd_sizes_and_text_do_no_harm(served: Served, codes: dict[str, str]) -> None:
    """Of sizes what can be used is used; half a character is none."""
    async with Visitor(served.origin) as visitor:
        assert await visitor.enter(codes["alice"]) == 303
        window = await visitor.open((10**8, -5))
        await window.wait_for("bridges")
        for about in (
            {"width": 1e999, "height": "x"},
            {"width": -1},
            "x",
            None,
            {"width": 10**12, "height": True},
        ):
            await window.socket.send_str(json.dumps(["resize", about]))
        await window.socket.send_json(["stdin", "\ud800"])
        await window.socket.send_json(["stdin", {"a": 1}])
        await window.socket.send_json(["resize", {"width": 80, "height": 24}])
        await window.begin()
        await window.grade(1)


async def test_process_knows_nothing_that_is_not_listed(served: Served, codes: dict[str, str]) -> None:
    """Settings of the server's account stay with it; the judge's name is that of the code."""
    async with Visitor(served.origin) as visitor:
        assert await visitor.enter(codes["bob"]) == 303
        window = await visitor.open()
        await window.wait_for("bridges")
        (process,) = served.screens()
        settings = settings_of(process)
        assert "secret" not in settings.values()
        assert "PATH" not in settings
        command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        assert command[-2:] == [b"--judge=bob", b""]


async def test_second_window_closes_the_first(served: Served, codes: dict[str, str]) -> None:
    """Two windows of a judge are one process, the newer one's; another judge's stays."""
    async with Visitor(served.origin) as alice, Visitor(served.origin) as bob:
        assert [await alice.enter(codes["alice"]), await bob.enter(codes["bob"])] == [303, 303]
        other = await bob.open()
        await other.wait_for("bridges")
        windows = [await alice.open() for _ in range(4)]
        for window in windows[:-1]:
            await window.ended()
            assert "You went on in another window." in window.text()
        await windows[-1].wait_for("bridges")
        assert len(served.screens()) == 2
        assert not other.socket.closed


async def test_revoked_code_ends_the_session(served: Served, file: Path, codes: dict[str, str]) -> None:
    """At the next key at the latest, and without one within seconds; no key after it is taken."""
    codes |= codes_of(file, "bob")
    async with Visitor(served.origin) as visitor:
        assert await visitor.enter(codes["bob"]) == 303
        window = await visitor.open()
        await window.begin()
        await window.grade(2)
        before = judged(file)
        codes |= codes_of(file, "bob")  # another code ends the one before
        await asyncio.sleep(0.1)
        await window.type("1")
        await window.ended()
        assert "the code was taken back" in window.text()
        assert judged(file) == before
        assert await refusal(visitor) == 401
        assert await visitor.enter(codes["bob"]) == 303
        window = await visitor.open()
        await window.wait_for("bridges")
        codes |= codes_of(file, "bob")
        began = time.monotonic()
        await window.ended()
        assert time.monotonic() - began < 15


async def test_judge_with_nothing_to_do_is_told(tmp_path: Path) -> None:
    """Why there is no screen is said in the window, without where the collection is."""
    file = tmp_path / "secret-place.db"
    make_collection(file, 0, "alice")
    codes = codes_of(file, "alice")
    with serving(file) as served:
        async with Visitor(served.origin) as visitor:
            assert await visitor.enter(codes["alice"]) == 303
            window = await visitor.open()
            await window.ended()
            assert "there is nothing to judge: no pool holds a document. Tell the organiser." in window.text()
            assert "secret-place" not in window.text()
        words = "the screen of alice ended with 1: error: there is nothing to judge"
        for _ in range(100):  # the window ends a moment before the process does
            if words in served.said:
                break
            await asyncio.sleep(0.05)
        assert words in served.said


async def test_quitting_says_what_it_came_to(served: Served, codes: dict[str, str]) -> None:
    """The last words of the screen stand in the window when it has ended."""
    async with Visitor(served.origin) as visitor:
        assert await visitor.enter(codes["alice"]) == 303
        window = await visitor.open()
        await window.begin()
        await window.grade(0)
        await window.type("q")
        await window.ended()
        assert "alice: 1 decision in this sitting, all saved" in window.text()


async def test_server_that_is_stopped_lets_screens_save(file: Path, codes: dict[str, str]) -> None:
    """Ctrl-C ends every screen in order, and says so."""
    codes |= codes_of(file, "alice", "bob")
    with serving(file) as served:
        async with Visitor(served.origin) as alice, Visitor(served.origin) as bob:
            windows = []
            for visitor, name in ((alice, "alice"), (bob, "bob")):
                assert await visitor.enter(codes[name]) == 303
                windows.append(await visitor.open())
                await windows[-1].wait_for("bridges")
            running = served.screens()
            assert await asyncio.to_thread(served.stop) == 0
            wait_until_gone(running)
            for window in windows:
                await window.ended()
                assert "The server was stopped." in window.text()
        assert "stopped; what judges saved is in the collection" in served.said
        assert "Traceback" not in served.said


@pytest.mark.long
async def test_screen_does_not_say_where_a_lost_database_is() -> None:
    """NOT SAVED is said without the server's address; when it is back, the grade is saved."""
    with stopping_server() as server:
        make_collection(server.url, 5, "alice")
        codes = codes_of(server.url, "alice")
        with serving(server.url) as served:
            async with Visitor(served.origin) as visitor:
                assert await visitor.enter(codes["alice"]) == 303
                window = await visitor.open((120, 30))
                await window.begin()
                await window.grade(2)
                server.stop()
                place = await window.press("1", "NOT SAVED")
                server.start()
                await window.wait_for(r"saved \d\d:\d\d:\d\d", place)
                text = window.text()
                assert "does not answer as it should" in text
                assert not any(
                    word in text for word in ("postgres", "127.0.0.1", "localhost", "socket", "port ")
                )
        assert judged(server.url) == {("alice", "d000"): 2, ("alice", "d001"): 1}


KEYS = [
    *(chr(number) for number in range(1, 127) if chr(number) not in "\x03\x11q"),  # which quit
    *(f"\x1b[{number}~" for number in (*range(1, 7), *range(11, 35))),
    *(f"\x1b[1;{modifier}{letter}" for modifier in range(2, 9) for letter in "ABCDFHPQRS"),
    "\x1b[200~/etc/passwd\n!id\x1b[201~", "\x1b]52;c;?\x07", "\x1b\x1a", "\x1bO\x1a",
]  # fmt: skip
"""What a terminal may send: characters, control keys, function keys, a paste, sequences of programs."""


@pytest.mark.long
async def test_no_key_reaches_the_machine(tmp_path: Path) -> None:
    """None writes a file, starts a program or suspends: at topics, at documents, in dialogs."""
    home, place = tmp_path / "home", tmp_path / "served"
    home.mkdir()
    place.mkdir()
    file = place / "collection.db"
    make_collection(file, 300, "alice")
    codes = codes_of(file, "alice")
    with serving(file, settings={"HOME": str(home)}) as served:
        async with Visitor(served.origin) as visitor:
            assert await visitor.enter(codes["alice"]) == 303
            window = await visitor.open()
            await window.wait_for("bridges")
            (process,) = served.screens()
            for _ in range(2):
                for key in KEYS:
                    await window.type(key)
                await window.until_quiet(1.0)
                assert served.screens() == [process], served.said + window.text()[-2000:]
                state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
                assert state in "SRD"  # T = suspended
                children = [one.read_text() for one in Path(f"/proc/{process}/task").glob("*/children")]
                assert "".join(children) == ""
            assert not window.socket.closed
            written = {one.name for one in place.iterdir()}
    assert list(home.iterdir()) == []
    assert written <= {"collection.db", *(f"collection.db{end}" for end in ("-wal", "-shm", ".held"))}
