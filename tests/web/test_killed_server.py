"""The server is killed while four judges work in browsers: what was said to be saved is there, once."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from store.collection import Collection
from tests.judge_ui.page.browser import Browser, Page, until
from tests.web.served import codes_of, make_collection, serving

pytestmark = [pytest.mark.chromium, pytest.mark.xdist_group("serving")]

JUDGES = ("ann", "bob", "cy", "dee")


def free_port() -> int:
    """Return a port that nobody listens at."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Worker:
    """A judge in a browser, and what the page said."""

    def __init__(self, judge: str, page: Page) -> None:
        self.judge, self.page = judge, page
        self.saved: dict[str, int] = {}
        """By docno, what was said to be saved."""
        self.pressed: dict[str, int] = {}
        """By docno, every key that was pressed on it."""

    def step(self) -> None:
        """Read what the page says of its decisions; press a key where one counts."""
        done, docno, is_ready = self.page.js(
            "[done.map(one => [one.docno, one.grade]), here?.docno ?? null, Boolean(here && clock && !isBusy"
            " && !$('box').open && here.now.state === 'unjudged'"
            " && performance.now() - clock.quiet >= data.dwell_ms)]"
        )
        self.saved |= dict(done)
        if is_ready:
            self.pressed[docno] = (len(self.pressed) + len(self.judge)) % 3
            self.page.press(str(self.pressed[docno]))


def check_kills(folder: Path, n_kills: int, n_documents: int) -> dict[str, int]:
    """Let four judges work, kill the server again and again; compare what the pages said."""
    file, port, dice = folder / "collection.db", free_port(), random.Random(n_kills)
    make_collection(file, n_documents, *JUDGES)
    codes = codes_of(file, *JUDGES)
    with Browser(folder) as browser:
        workers = []
        for round_ in range(n_kills + 1):
            with serving(file, "--port", str(port)) as served:
                while not workers:
                    for judge in JUDGES:
                        (folder / judge).mkdir()
                        person = browser.person(folder / judge).__enter__()
                        page = person.open(Path(__file__))
                        page.go(served.origin)
                        page.js("document.getElementById('code').focus()")
                        page.write(codes[judge])
                        page.press("Enter")
                        until(lambda page=page: page.js("document.querySelector('#topics button') !== null"))
                        page.press("Enter")
                        until(lambda page=page: page.js("document.getElementById('box').open"))
                        page.press("Enter")
                        until(lambda page=page: page.js("typeof here === 'object' && here !== null"))
                        workers.append(Worker(judge, page))
                end = time.monotonic() + 0.5 + dice.random() * 1.5
                while time.monotonic() < end:
                    for one in workers:
                        one.step()
                if round_ < n_kills:
                    served.process.kill()
                    served.process.wait()
                else:
                    until(lambda: not any(one.page.js("isBusy") for one in workers))
                    for one in workers:
                        one.step()
                    until(lambda: not any(one.page.js("isBusy") for one in workers))
                    for one in workers:
                        one.saved |= dict(one.page.js("done.map(x => [x.docno, x.grade])"))
    with Collection(str(file)) as opened:
        events = list(opened.judgements.history())
        assert all(check.n_faults == 0 for check in opened.verify())
    for one in workers:
        stored = [(event.docno, event.revision, event.grade) for event in events if event.judge == one.judge]
        assert {revision for _, revision, _ in stored} <= {1}, "an event was written twice"
        grades = {docno: grade for docno, _, grade in stored}
        assert grades == one.saved
        assert all(one.pressed[docno] == grade for docno, grade in grades.items())
    return {"kills": n_kills, "saved": len(events), "pressed": sum(len(one.pressed) for one in workers)}


@pytest.mark.slow
def test_nothing_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """With four browsers judging: every decision that was called saved is there, once, and none besides."""
    found = check_kills(tmp_path, 3, 60)
    assert found["saved"] >= 8


@pytest.mark.long
def test_nothing_is_lost_when_the_server_is_killed_a_hundred_times(tmp_path: Path) -> None:
    """The same a hundred times (`POOLER_KILLS`)."""
    n_kills = int(os.environ.get("POOLER_KILLS", "100"))
    found = check_kills(tmp_path, n_kills, 12 * n_kills + 20)
    print(found)  # noqa: T201 - the count for the notes
    assert found["saved"] >= 4 * n_kills
