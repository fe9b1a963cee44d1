"""A real Chromium without a window, driven by its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import itertools
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

from tests.judge_ui.pty_terminal import SEQUENCE
from tests.pooler.serving.served import LABELS, PATIENCE_S

OPTIONS = """
    --headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
    --disable-background-networking --disable-component-update --remote-debugging-port=0
    --hide-scrollbars --disable-dev-shm-usage
""".split()  # noqa: SIM905 - a list of words would be a screen long
_BINARY = 2
"""The opcode of a WebSocket's message of bytes."""
_LOST_S = 5.0
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "PageDown": ("PageDown", 34, "")}


class Tab:
    """A page in a browser context of its own, or in that of another page."""

    def __init__(self, browser: Chromium, session: str, context: str) -> None:
        self._browser = browser
        self._session = session
        self.context = context
        self.output = bytearray()
        """What WebSockets brought."""
        self.told: list[dict[str, Any]] = []
        """Every event that the browser told of."""

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol for this page."""
        return await self._browser.call(method, self._session, **parameters)

    def hear(self, event: dict[str, Any]) -> None:
        """Keep what the browser tells of."""
        self.told.append(event)
        if event["method"] == "Network.webSocketFrameReceived":
            frame = event["params"]["response"]
            if frame["opcode"] == _BINARY:
                self.output += base64.b64decode(frame["payloadData"])

    def text(self, since: int = 0) -> str:
        """Return what the screen was sent, without its escape sequences."""
        return SEQUENCE.sub(b"", bytes(self.output[since:])).decode(errors="replace")

    async def js(self, expression: str) -> Any:
        """Evaluate an expression in the page."""
        given = await self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        return given.get("result", {}).get("value")

    async def until(self, expression: str) -> None:
        """Wait until an expression is true in the page."""
        end = time.monotonic() + PATIENCE_S
        while True:
            # A question that meets a page on its way out gets no answer.
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOST_S):
                    if await self.js(expression):
                        return
            assert time.monotonic() < end, f"{expression}: never; {await self.js('document.body.innerText')}"
            await asyncio.sleep(0.05)

    async def go(self, address: str) -> None:
        """Open an address, and wait until it is there."""
        await self.call("Page.navigate", url=address)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def resize(self, width: int, height: int) -> None:
        """Give the page a size, in pixels."""
        about = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.call("Emulation.setDeviceMetricsOverride", **about)

    async def key(self, key: str) -> int:
        """Press a key as a finger does; return where the output stands."""
        place = len(self.output)
        code, number, text = KEYS.get(
            key, (f"Digit{key}" if key.isdigit() else f"Key{key.upper()}", ord(key[0].upper()), key)
        )
        about = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **({"text": text} if text else {}), **about)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **about)
        return place

    async def type(self, text: str) -> None:
        """Type a text."""
        for letter in text:
            await self.call("Input.dispatchKeyEvent", type="char", text=letter)

    async def shoot(self, file: Path) -> None:
        """Take a picture."""
        file.write_bytes(base64.b64decode((await self.call("Page.captureScreenshot"))["data"]))

    async def wait_for(self, pattern: str, since: int = 0) -> str:
        """Wait until the screen was sent a pattern."""
        end = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.text(since)):
            assert time.monotonic() < end, f"{pattern!r} never came:\n{self.text(since)[-3000:]}"
            await asyncio.sleep(0.02)
        return self.text(since)

    async def until_quiet(self, seconds: float = 0.4) -> None:
        """Wait until the screen is sent nothing for a while."""
        size = -1
        while size != len(self.output):
            size = len(self.output)
            await asyncio.sleep(seconds)

    async def enter(self, origin: str, code: str) -> None:
        """Open the page, type the code, press Enter, and wait for the screen."""
        await self.go(origin)
        await self.until("document.activeElement?.id === 'code'")
        await self.type(code)
        await self.key("Enter")
        await self.until("document.getElementById('terminal') !== null")

    async def begin(self) -> None:
        """Go from the topics, or from the page before the first document, to the document."""
        end = time.monotonic() + PATIENCE_S
        while "Title d" not in self.text():
            await self.until_quiet()
            if self.output and "Title d" not in self.text():
                await self.key("Enter")
            assert time.monotonic() < end, self.text()[-3000:]
        await self.until_quiet()

    async def grade(self, grade: int) -> None:
        """Give a grade, again if it came too soon, and wait until it is said to be saved."""
        words = rf"\b{grade} (?:{LABELS[grade]} )?\(?saved \d\d:\d\d:\d\d"
        for _ in range(20):
            place = await self.key(str(grade))
            await self.wait_for(f"{words}|too quick", place)
            # It may be said once more of the key before, while this one is being saved.
            if not re.search(words, self.text(place)):
                await self.until_quiet(0.5)
            if re.search(words, self.text(place)):
                return
        raise AssertionError(self.text()[-3000:])

    def addresses(self) -> set[str]:
        """Return the hosts that were asked."""
        asked = [one["params"] for one in self.told if one["method"] == "Network.requestWillBeSent"]
        urls = [one["request"]["url"] for one in asked if not one["request"]["url"].startswith("data:")]
        return {url.split("/")[2] for url in urls}

    def complaints(self) -> list[str]:
        """Return what stands in the console of the page."""
        entries = [one["params"]["entry"] for one in self.told if one["method"] == "Log.entryAdded"]
        thrown = [one["params"] for one in self.told if one["method"] == "Runtime.exceptionThrown"]
        return [one.get("text", "") for one in entries] + [str(one) for one in thrown]


class Chromium:
    """A browser that runs."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._tabs: dict[str, Tab] = {}
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._socket:
            told = message.json()
            if "id" in told:
                self._asked.pop(told["id"]).set_result(told)
            elif told.get("sessionId") in self._tabs:
                self._tabs[told["sessionId"]].hear(told)

    async def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol."""
        number = next(self._numbers)
        self._asked[number] = asyncio.get_running_loop().create_future()
        about = {"sessionId": session} if session else {}
        await self._socket.send_json({"id": number, "method": method, "params": parameters, **about})
        try:
            async with asyncio.timeout(PATIENCE_S):
                told = await self._asked[number]
        except TimeoutError:
            last = [one["method"] for one in self._tabs[session].told[-20:]] if session else []
            raise AssertionError(f"{method} {parameters}: no answer; the page told last: {last}") from None
        assert "error" not in told, told
        result: dict[str, Any] = told["result"]
        return result

    async def tab(self, beside: Tab | None = None, *, width: int = 1100, height: int = 700) -> Tab:
        """Open a page: of somebody else, or beside another one and with its cookies."""
        context = (
            beside.context if beside else (await self.call("Target.createBrowserContext"))["browserContextId"]
        )
        made = await self.call("Target.createTarget", url="about:blank", browserContextId=context)
        attached = await self.call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        tab = self._tabs[attached["sessionId"]] = Tab(self, attached["sessionId"], context)
        for area in ("Page", "Runtime", "Log", "Network"):
            await tab.call(f"{area}.enable")
        await tab.resize(width, height)
        # A page in the background would be drawn seldom.
        await tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
        return tab

    async def close(self) -> None:
        """Stop listening to it."""
        await self._socket.close()
        await self._reading


@asynccontextmanager
async def chromium(*options: str) -> AsyncIterator[Chromium]:
    """Run a browser with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            ["chromium", *OPTIONS, *options, f"--user-data-dir={profile}", "about:blank"],
            stderr=subprocess.DEVNULL,  # a pipe that nobody empties stops the browser once it is full
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            told = Path(profile, "DevToolsActivePort")
            end = time.monotonic() + PATIENCE_S
            while not (told.exists() and len(where := told.read_text().split()) == 2):
                assert time.monotonic() < end, "Chromium did not start"
                await asyncio.sleep(0.05)
            address = "ws://127.0.0.1:{}{}".format(*where)
            async with ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
                browser = Chromium(socket)
                try:
                    yield browser
                finally:
                    await browser.close()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE_S)
