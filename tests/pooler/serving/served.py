"""`pooler serve` as a process, windows in it without a browser, and a network that can be cut."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType

from store.collection import Collection
from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.run import environment, program
from tests.helpers.world import new_collection
from tests.judge_ui.pty_terminal import SEQUENCE

PATIENCE_S = 60.0
LABELS = ("not relevant", "partially relevant", "relevant")
_ADDRESS = re.compile(r"judges open (\S+)")


def make_collection(file: Path | str, n_documents: int, *judges: str) -> None:
    """Make a collection of one topic, in which every judge has all documents."""
    docnos = [f"d{number:03}" for number in range(n_documents)]
    with new_collection(str(file)) as made:
        made.topics.add([Topic("1", "bridges")])
        made.pools.add(Pool([PoolEntry("1", docno, place) for place, docno in enumerate(docnos)], {}))
        made.documents.add([Document(docno, f"Title {docno}", f"Some text of {docno}.") for docno in docnos])
        for judge in judges:
            made.judges.add(judge, JudgeKind.HUMAN)


def judged(file: Path | str) -> dict[tuple[str, str], int | None]:
    """Return the grades there are, by judge and docno."""
    with Collection(str(file)) as opened:
        return {(one.judge, one.docno): one.grade for one in opened.judgements.current()}


def codes_of(file: Path | str, *judges: str) -> dict[str, str]:
    """Give codes to judges."""
    with Collection(str(file)) as opened:
        return {judge: opened.codes.give(judge) for judge in judges}


class Served:
    """A server that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said = ""
        self._hearing = threading.Thread(target=self._hear, daemon=True)
        self._hearing.start()
        end = time.monotonic() + PATIENCE_S
        while (found := _ADDRESS.search(self.said)) is None or "stops it" not in self.said:
            assert process.poll() is None, self.said
            assert time.monotonic() < end, self.said
            time.sleep(0.01)
        self.origin = found[1]

    @property
    def port(self) -> int:
        """The port it listens at, where it is its own origin."""
        return int(self.origin.rpartition(":")[2])

    def _hear(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line

    def screens(self) -> list[int]:
        """Return the processes that it has started and that run."""
        with suppress(OSError):
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
            return [int(child) for child in children.split()]
        return []

    def kill(self) -> None:
        """Kill it without warning."""
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def stop(self) -> int:
        """Stop it as Ctrl-C does, and return how it ended."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE_S)
        self._hearing.join(PATIENCE_S)
        return code


def wait_until_gone(processes: Sequence[int]) -> None:
    """Wait until processes have ended."""
    end = time.monotonic() + PATIENCE_S
    while alive := [number for number in processes if _is_alive(number)]:
        assert time.monotonic() < end, f"{alive} never ended"
        time.sleep(0.05)


def _is_alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@contextmanager
def serving(file: Path | str, *options: str, settings: dict[str, str] | None = None) -> Iterator[Served]:
    """Serve a collection at any free port, or that of the options."""
    port = () if "--port" in options else ("--port", "0")
    process = subprocess.Popen(
        [*program(), "serve", *port, "--collection", str(file), *options],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(settings or {}),
    )
    try:
        yield Served(process)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE_S)
        if process.stderr is not None:
            process.stderr.close()


class Window:
    """A window of a judge without a browser: what it is sent, and what is typed in it."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.output = bytearray()
        self.close_code: int | None = None
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self.socket:
            if message.type is WSMsgType.BINARY:
                self.output += message.data
        self.close_code = self.socket.close_code

    def text(self, since: int = 0) -> str:
        """Return what was written, without its escape sequences."""
        return SEQUENCE.sub(b"", bytes(self.output[since:])).decode(errors="replace")

    async def type(self, text: str) -> int:
        """Type something; return where the output stands."""
        place = len(self.output)
        await self.socket.send_json(["stdin", text])
        return place

    async def wait_for(self, pattern: str, since: int = 0) -> str:
        """Wait until a pattern was written."""
        end = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.text(since)):
            assert time.monotonic() < end, f"{pattern!r} never came:\n{self.text(since)[-3000:]}"
            is_over = self._reading.done()
            await asyncio.sleep(0.02)
            assert not is_over or re.search(pattern, self.text(since)), (
                f"it ended before {pattern!r}:\n{self.text(since)[-3000:]}"
            )
        return self.text(since)

    async def until_quiet(self, seconds: float = 0.3) -> None:
        """Wait until nothing has come for a while."""
        size = -1
        while size != len(self.output):
            size = len(self.output)
            await asyncio.sleep(seconds)

    async def begin(self) -> None:
        """Go from the list of topics, or the page before the first document, to the document."""
        end = time.monotonic() + PATIENCE_S
        while "Title d" not in self.text():
            await self.until_quiet()
            if self.output and "Title d" not in self.text():
                await self.type("\r")
            assert time.monotonic() < end, self.text()[-3000:]
        await self.until_quiet()

    async def grade(self, grade: int) -> None:
        """Give a grade, again if it came too soon, and wait until it is said to be saved."""
        await self.press(str(grade), rf"\b{grade} (?:{LABELS[grade]} )?\(?saved \d\d:\d\d:\d\d")

    async def press(self, key: str, words: str) -> int:
        """Press a key, again if it came too soon, until words were said; return where the output stood."""
        for _ in range(20):
            place = await self.type(key)
            await self.wait_for(f"{words}|too quick", place)
            # It may be said once more of the key before, while this one is being saved.
            if not re.search(words, self.text(place)):
                await self.until_quiet(0.5)
            if re.search(words, self.text(place)):
                return place
        raise AssertionError(self.text()[-3000:])

    async def ended(self) -> None:
        """Wait until the server has closed it."""
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.shield(self._reading)


class Visitor:
    """Somebody who asks a server, with cookies of their own."""

    def __init__(self, origin: str, *, at: str | None = None, headers: dict[str, str] | None = None) -> None:
        self.origin = origin
        self._at = at or origin
        """Where it is asked: behind a proxy it is known by another address."""
        self._headers = {"Host": origin.partition("://")[2], **(headers or {})}
        self.session = ClientSession(cookie_jar=CookieJar(unsafe=True))
        self._windows: list[Window] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for window in self._windows:
            with suppress(Exception):
                await window.socket.close()
        await self.session.close()

    async def ask(self, method: str, path: str, **more: Any) -> tuple[int, str, dict[str, str]]:
        """Ask for something; return status, body and headers."""
        headers = {**self._headers, "Origin": self.origin, **more.pop("headers", {})}
        headers = {name: value for name, value in headers.items() if value is not None}
        async with self.session.request(
            method, self._at + path, headers=headers, allow_redirects=False, **more
        ) as answer:
            return answer.status, await answer.text(), dict(answer.headers)

    async def enter(self, code: str) -> int:
        """Enter a code."""
        status, _, _ = await self.ask("POST", "/enter", data={"code": code})
        return status

    async def open(self, size: tuple[int, int] = (80, 24), **headers: str | None) -> Window:
        """Open a window."""
        given = {**self._headers, "Origin": self.origin, **headers}
        kept = {name: value for name, value in given.items() if value is not None}
        socket = await self.session.ws_connect(
            f"{self._at}/ws?width={size[0]}&height={size[1]}", headers=kept, max_msg_size=0
        )
        window = Window(socket)
        self._windows.append(window)
        return window

    def cookie(self) -> str:
        """Return the cookie there is, as a header has it."""
        return "; ".join(f"{one.key}={one.value}" for one in self.session.cookie_jar)


class Network:
    """What lies between a browser and a server; it can be cut. With a certificate it encrypts, as a proxy."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._pipes: set[asyncio.StreamWriter] = set()
        self.is_up = True
        self.port = 0

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.is_up:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        pipes = {writer, back}
        self._pipes |= pipes

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                while data := await source.read(1 << 16):
                    sink.write(data)
                    await sink.drain()
            for one in pipes:
                one.transport.abort()

        await asyncio.gather(pump(reader, back), pump(there, writer))
        self._pipes -= pipes

    def cut(self) -> None:
        """Cut every connection, and let none through."""
        self.is_up = False
        for one in self._pipes:
            one.transport.abort()

    def mend(self) -> None:
        """Let connections through again."""
        self.is_up = True

    @asynccontextmanager
    async def carrying(self, certificate: ssl.SSLContext | None = None, port: int = 0) -> AsyncIterator[Self]:
        """Carry connections."""
        server = await asyncio.start_server(self._carry, "127.0.0.1", port, ssl=certificate)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.cut()
            await asyncio.sleep(0.05)


def free_port() -> int:
    """Return a port that nobody listens at."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def settings_of(process: int) -> dict[str, str]:
    """Return the environment of a process."""
    given = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return dict(os.fsdecode(one).split("=", 1) for one in given if one)
