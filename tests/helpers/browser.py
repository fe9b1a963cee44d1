"""A Chromium without a window, told what to do over a pipe (the DevTools protocol): no port, no driver."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

OPTIONS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --mute-audio
    --disable-background-networking --disable-component-update --disable-extensions
""".split()  # noqa: SIM905 - a list of words would be a screen long
PATIENCE_S = 30.0
DWELL_S = 0.33
"""After so long a key counts."""
_CODES = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "PageDown": 34, " ": 32}


class Browser:
    """One that runs; its pages are those of the people who use it."""

    def __init__(self, folder: Path, *, preferences: Mapping[str, Any] | None = None) -> None:
        profile = folder / "profile"
        if preferences is not None:
            (profile / "Default").mkdir(parents=True, exist_ok=True)
            (profile / "Default" / "Preferences").write_text(json.dumps(preferences), "utf-8")
        theirs, self._out = os.pipe()
        self._in, answers = os.pipe()

        def as_three_and_four() -> None:
            # Copied out of the way first: they may be 3 or 4 themselves, the other way round.
            high = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (theirs, answers)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            ["chromium", *OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=as_three_and_four,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(answers)
        self._buffer, self._number = b"", 0
        self.events: list[dict[str, Any]] = []
        """What the browser told unasked since the last person came."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._send("Browser.close", {}, None)
            self.process.wait(PATIENCE_S)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        os.close(self._out)

    def ask(self, method: str, session: str | None = None, **values: Any) -> dict[str, Any]:
        number = self._send(method, values, session)
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])
            self.events.append(answer)

    @contextmanager
    def person(self, folder: Path) -> Iterator[Person]:
        """Give somebody who shares nothing with those before; what they save is in the folder."""
        context = self.ask("Target.createBrowserContext")
        self.events.clear()
        yield Person(self, folder, context)
        self.ask("Target.disposeBrowserContext", **context)

    def _send(self, method: str, values: Mapping[str, Any], session: str | None) -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        return self._number

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._in], [], [], PATIENCE_S)[0], "the browser does not answer"
            read = os.read(self._in, 1 << 20)
            assert read, "the browser has gone"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))


class Person:
    """Somebody's pages, and what pages keep and save for them; without a context, the whole browser's."""

    def __init__(self, browser: Browser, folder: Path, context: Mapping[str, Any] | None = None) -> None:
        self.browser = browser
        self.downloads = folder / "downloads"
        self.downloads.mkdir(exist_ok=True)
        self._context = context or {}
        self.browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads),
                         eventsEnabled=True, **self._context)  # fmt: skip

    def open(self, page: Path | str) -> Page:
        made = self.browser.ask("Target.createTarget", url="about:blank", **self._context)
        target = made["targetId"]
        session = self.browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        opened = Page(self, session)
        for area in ("Page", "Runtime", "Network", "Log"):
            opened.ask(f"{area}.enable")
        opened.size(1100, 800)
        opened.go(page if isinstance(page, str) else page.resolve().as_uri())
        return opened

    def downloaded(self, name: str) -> Path:
        """Return a file that was saved; an earlier one of this name is another one's."""
        file = self.downloads / name
        until(lambda: file.is_file() and not list(self.downloads.glob("*.crdownload")))
        return file


class Page:
    """One tab."""

    def __init__(self, person: Person, session: str) -> None:
        self.person = person
        self.browser = person.browser
        self._session = session

    def ask(self, method: str, **values: Any) -> dict[str, Any]:
        return self.browser.ask(method, self._session, **values)

    def go(self, address: str) -> None:
        self.load("Page.navigate", url=address)

    def reload(self) -> None:
        self.load("Page.reload")

    def load(self, method: str, **values: Any) -> None:
        loaded = {"method": "Page.loadEventFired", "sessionId": self._session}

        def n_loaded() -> int:
            self.browser.ask("Browser.getVersion")
            return sum(loaded == {name: event.get(name) for name in loaded} for event in self.browser.events)

        before = n_loaded()
        self.ask(method, **values)
        until(lambda: n_loaded() > before)

    def js(self, expression: str) -> Any:
        """Evaluate an expression in the page; a promise is waited for."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys: str, ctrl: bool = False) -> None:
        """Press keys: a character, or a name such as Enter; any other word is typed where the cursor is."""
        for key in keys:
            if len(key) > 1 and key not in _CODES:
                self.ask("Input.insertText", text=key)
                continue
            text = "\r" if key == "Enter" else key if len(key) == 1 and not ctrl else ""
            code = _CODES[key] if key in _CODES else ord(key.upper()) if key.isalnum() else 0
            values = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 2 * ctrl}
            self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **values)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **values)

    def judge(self, *keys: str) -> None:
        for key in keys:
            time.sleep(DWELL_S)
            # A busy machine shows a document late, and the page counts from there.
            until(lambda: self.js("!clock || performance.now() - clock.quiet >= data.dwell_ms"))
            self.press(key)
            until(lambda: self.js("!isBusy || $('box').open"))

    def text(self, selector: str) -> str:
        return str(self.js(f"document.querySelector({json.dumps(selector)}).innerText"))

    def size(self, width: int, height: int, *, mobile: bool = False) -> None:
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=mobile)  # fmt: skip

    def look(self, file: Path) -> None:
        shot = self.ask("Page.captureScreenshot", format="png")["data"]
        file.write_bytes(base64.b64decode(shot))


def until(is_so: Callable[[], Any]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def begin(page: Page) -> None:
    """Open the first topic, and close its question."""
    page.press("Enter")
    until(lambda: page.js("document.getElementById('box').open"))
    page.press("Enter")
    until(lambda: not page.js("document.getElementById('box').open"))


def at(page: Page) -> str:
    """Return which document is before the judge."""
    return page.text("#stands").partition(":")[0]


def select_words(page: Page, words: str) -> None:
    """Select words of the text, as by a mouse."""
    page.js(f"""{{
        const nodes = document.createTreeWalker($("text"), NodeFilter.SHOW_TEXT), words = {words!r};
        let place = -1;
        while (place < 0) place = nodes.nextNode().data.indexOf(words);
        const node = nodes.currentNode;
        getSelection().setBaseAndExtent(node, place, node, place + words.length);
    }}""")


def browse(folder: Path, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page in a browser without a window and a profile of its own."""
    profile = f"--user-data-dir={folder / 'profile'}"
    address = page.resolve().as_uri()
    return subprocess.run(
        ["chromium", *OPTIONS, "--virtual-time-budget=2000", profile, *options, address],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def measured(folder: Path, page: Path, script: str, width: int) -> str:
    """Let a script see the page in a frame of a width, and return what it says."""
    frame = folder / "frame.html"
    frame.write_text(
        f'<iframe id="f" src="{page.name}" style="width:{width}px;height:900px;border:0"></iframe>'
        f"<p id=said></p><script>onload = () => {{ const page = document.getElementById('f')"
        f".contentDocument; document.getElementById('said').textContent = {script}; }}</script>",
        "utf-8",
    )
    ran = browse(folder, frame, "--allow-file-access-from-files", "--dump-dom")
    said = re.search(r'<p id="said">([^<]*)</p>', ran.stdout)
    assert said is not None, ran.stderr[-2000:]
    return said[1]
