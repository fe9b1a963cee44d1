"""Judges in a real browser: who comes in, what is saved, and what becomes of it when something breaks."""

from __future__ import annotations

import asyncio
import re
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.pooler.serving.chromium import Chromium, Tab, chromium
from tests.pooler.serving.served import (
    Network,
    codes_of,
    free_port,
    judged,
    make_collection,
    serving,
    wait_until_gone,
)

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.slow,
    pytest.mark.xdist_group("serving"),
    pytest.mark.asyncio(loop_scope="module"),
]

ENDED = "document.getElementById('ended')?.hidden === false"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Chromium]:
    """Run a browser; each page is somebody else's unless it is opened beside another."""
    async with chromium("--ignore-certificate-errors") as running:
        yield running


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Make a collection."""
    file = tmp_path / "collection.db"
    make_collection(file, 12, "alice", "bob")
    return file


async def go_on(tab: Tab) -> None:
    """Press Enter on what the page offers when the window has ended: it has the focus."""
    await tab.until(ENDED)
    await tab.until("document.activeElement?.id === 'go-on'")
    tab.output.clear()
    await tab.key("Enter")
    await tab.until("document.getElementById('ended')?.hidden === true")


async def test_judge_comes_in_and_judges(file: Path, browser: Chromium) -> None:
    """By keys alone: code, topic, grades, undo, end; no other host is asked, no script has the cookie."""
    codes = codes_of(file, "alice")
    with serving(file) as served:
        tab = await browser.tab()
        await tab.go(served.origin)
        await tab.until("document.activeElement?.id === 'code'")
        await tab.type("wrong")
        await tab.key("Enter")
        await tab.until("document.querySelector('[role=alert]')?.textContent === 'This code is not known.'")
        await tab.enter(served.origin, codes["alice"].upper())
        await tab.begin()
        for grade in (2, 0, 1):
            await tab.grade(grade)
        place = await tab.key("u")
        await tab.wait_for(r"grade 1 undone", place)
        assert judged(file) == {("alice", "d000"): 2, ("alice", "d001"): 0, ("alice", "d002"): None}
        place = len(tab.output)
        await tab.resize(600, 400)
        await tab.wait_for("Title d002", place)
        await tab.grade(1)
        assert await tab.js("document.cookie") == ""
        assert "secret" not in await tab.js("document.documentElement.outerHTML")
        assert file.name not in await tab.js("document.documentElement.outerHTML")
        await tab.key("q")
        await tab.until(ENDED)
        assert "3 decisions in this sitting, all saved" in tab.text()
        assert tab.addresses() == {served.origin.removeprefix("http://")}
        # Of the wrong code; of a machine without a graphics card; the focus that goes when all is over.
        known = re.compile("403|software WebGL|already in CLOSING")
        assert [one for one in tab.complaints() if not known.search(one)] == []
        await go_on(tab)
        await tab.wait_for("Title d003")  # where the judge stopped


async def test_judge_goes_on_after_a_cut(file: Path, browser: Chromium) -> None:
    """The network is cut and comes back: the session stays, the process ends, no grade is lost."""
    codes = codes_of(file, "alice")
    port = free_port()
    with serving(file, "--origin", f"http://127.0.0.1:{port}") as served:
        from tests.pooler.serving.test_attacks import listening_port

        async with Network(listening_port(served)).carrying(port=port) as network:
            tab = await browser.tab()
            await tab.enter(served.origin, codes["alice"])
            await tab.begin()
            await tab.grade(2)
            running = served.screens()
            network.cut()
            await tab.until(ENDED)
            await asyncio.to_thread(wait_until_gone, running)
            network.mend()
            await go_on(tab)
            await tab.wait_for("Title d001")
            await tab.until_quiet()
            await tab.grade(1)
            assert judged(file) == {("alice", "d000"): 2, ("alice", "d001"): 1}
            assert len(served.screens()) == 1


async def test_two_windows_of_one_judge(file: Path, browser: Chromium) -> None:
    """The newer one judges; the first says so, and takes the work back when asked to."""
    codes = codes_of(file, "alice")
    with serving(file) as served:
        first = await browser.tab()
        await first.enter(served.origin, codes["alice"])
        await first.begin()
        await first.grade(0)
        second = await browser.tab(beside=first)
        await second.go(served.origin)
        await first.until(ENDED)
        assert "You went on in another window." in first.text()
        await second.wait_for("Title d001")
        await second.until_quiet()
        await second.grade(1)
        await go_on(first)
        await second.until(ENDED)
        await first.wait_for("Title d002")
        assert judged(file) == {("alice", "d000"): 0, ("alice", "d001"): 1}
        assert len(served.screens()) == 1


async def test_other_pages_and_other_cookies_open_nothing(file: Path, browser: Chromium) -> None:
    """A page of another origin can open no window and send no form, although the browser has the cookie."""
    codes = codes_of(file, "alice")
    with serving(file) as served, serving(file) as evil:
        tab = await browser.tab()
        await tab.enter(served.origin, codes["alice"])
        await tab.wait_for("bridges")
        attacker = await browser.tab(beside=tab)
        await attacker.go(f"{evil.origin}/pooler.css")  # a page of another port is another origin
        opened = await attacker.js(
            f"new Promise(told => {{ const one = new WebSocket('{served.origin.replace('http', 'ws')}/ws');"
            " one.onopen = () => told('open'); one.onerror = () => told('refused'); })"
        )
        assert opened == "refused"
        sent = await attacker.js(
            f"fetch('{served.origin}/leave', {{method: 'POST', mode: 'no-cors', credentials: 'include'}})"
            ".then(() => 'sent', () => 'refused')"
        )
        assert sent in ("sent", "refused")
        assert not await tab.js(ENDED)
        # A cookie of another server's session is nobody's here.
        stranger = await browser.tab()
        await stranger.call("Network.setCookie", name="pooler", value="A" * 43, url=served.origin)
        await stranger.go(served.origin)
        assert await stranger.js("document.getElementById('code') !== null")


async def test_revoked_code_shuts_the_window(file: Path, browser: Chromium) -> None:
    """It ends by itself, and then there is the page with the code; so there is after leaving."""
    codes = codes_of(file, "alice")
    with serving(file) as served:
        tab = await browser.tab()
        await tab.enter(served.origin, codes["alice"])
        await tab.begin()
        await tab.grade(2)
        codes_of(file, "alice")
        await tab.until(ENDED)
        assert "the code was taken back" in tab.text()
        await tab.until("document.activeElement?.id === 'go-on'")
        await tab.key("Enter")
        await tab.until("document.getElementById('code') !== null")
        assert judged(file) == {("alice", "d000"): 2}
        await tab.enter(served.origin, codes_of(file, "alice")["alice"])
        await tab.wait_for("bridges")
        await tab.until_quiet()
        await tab.key("q")
        await tab.until(ENDED)
        await tab.js("document.querySelector('#ended button').click()")
        await tab.until("document.getElementById('code') !== null")
        await tab.go(served.origin)
        assert await tab.js("document.getElementById('code') !== null")


@pytest.mark.long
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
async def test_behind_a_proxy_with_https(file: Path, browser: Chromium, tmp_path: Path) -> None:
    """A browser takes the cookie that only https may carry, and opens an encrypted WebSocket."""
    codes = codes_of(file, "alice")
    port = free_port()
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    encrypted = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    encrypted.load_cert_chain(certificate, key)
    with serving(file, "--origin", f"https://localhost:{port}") as served:
        from tests.pooler.serving.test_attacks import listening_port

        async with Network(listening_port(served)).carrying(encrypted, port):
            tab = await browser.tab()
            await tab.enter(served.origin, codes["alice"])
            await tab.begin()
            await tab.grade(1)
            (cookie,) = (await tab.call("Network.getCookies"))["cookies"]
            assert cookie["name"] == "__Host-pooler"
            assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
    assert judged(file) == {("alice", "d000"): 1}
