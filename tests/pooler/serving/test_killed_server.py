"""The server is killed while four judges work in browsers: what was said to be saved is there."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from store.collection import Collection
from tests.pooler.serving.chromium import Chromium, Tab, chromium
from tests.pooler.serving.served import codes_of, free_port, make_collection, serving, wait_until_gone

pytestmark = [pytest.mark.chromium, pytest.mark.slow, pytest.mark.xdist_group("serving")]

JUDGES = ("ann", "bob", "cy", "dee")


class Worker:
    """A judge in a browser, and what they were told."""

    def __init__(self, judge: str, tab: Tab) -> None:
        self.judge = judge
        self.tab = tab
        self.saved: list[int] = []
        """Grades that were said to be saved, or found after a kill, in the order of documents."""
        self.pressed: int | None = None
        """A grade whose key was pressed and of which nothing was said yet."""

    async def work(self, n_grades: int) -> None:
        """Grade documents, one after another."""
        for _ in range(n_grades):
            self.pressed = (len(self.saved) + len(self.judge)) % 3
            await self.tab.grade(self.pressed)
            self.saved.append(self.pressed)
            self.pressed = None


async def check_kills(folder: Path, browser: Chromium, n_kills: int, n_documents: int) -> dict[str, int]:
    """Let four judges work, kill the server again and again; compare what they were told."""
    file = folder / "collection.db"
    make_collection(file, n_documents, *JUDGES)
    codes, port, dice = codes_of(file, *JUDGES), free_port(), random.Random(n_kills)
    workers = [Worker(judge, await browser.tab()) for judge in JUDGES]
    found = {"kills": 0, "saved": 0, "in between": 0}
    for _ in range(n_kills + 1):
        is_last = found["kills"] == n_kills
        with serving(file, "--port", str(port)) as served:
            for one in workers:
                one.tab.output.clear()
                await one.tab.enter(served.origin, codes[one.judge])
            await asyncio.gather(*(one.tab.begin() for one in workers))
            running = served.screens()
            assert len(running) == len(JUDGES)
            work = [asyncio.create_task(one.work(2 if is_last else 50)) for one in workers]
            if is_last:
                await asyncio.gather(*work)
            else:
                await asyncio.sleep(0.3 + dice.random() * 1.5)
                served.kill()
                found["kills"] += 1
                await asyncio.to_thread(wait_until_gone, running)
                for one in work:
                    one.cancel()
                await asyncio.gather(*work, return_exceptions=True)
        for one in workers:
            told = one.saved + ([] if one.pressed is None else [one.pressed])
            stored = _stored(file, one.judge)
            assert stored in (one.saved, told), f"{one.judge}\n{stored}\n{one.saved}\n{told}"
            found["in between"] += stored != one.saved
            one.saved, one.pressed = stored, None
    found["saved"] = sum(len(one.saved) for one in workers)
    with Collection(str(file)) as opened:
        assert all(check.n_faults == 0 for check in opened.verify())
    return found


def _stored(file: Path, judge: str) -> list[int]:
    """Return a judge's grades, by document, each of which was decided once."""
    with Collection(str(file)) as opened:
        own = [one for one in opened.judgements.current() if one.judge == judge]
    own.sort(key=lambda one: one.docno)
    assert [one.docno for one in own] == [f"d{number:03}" for number in range(len(own))]
    return [one.grade for one in own if one.grade is not None]


async def test_nothing_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """With four browsers judging: every grade that was called saved is there, once."""
    async with chromium() as browser:
        found = await check_kills(tmp_path, browser, 1, 60)
    assert found["kills"] == 1
    assert found["saved"] >= 8


@pytest.mark.long
async def test_nothing_is_lost_when_the_server_is_killed_a_hundred_times(tmp_path: Path) -> None:
    """The same a hundred times (`POOLER_KILLS`)."""
    n_kills = int(os.environ.get("POOLER_KILLS", "100"))
    async with chromium() as browser:
        found = await check_kills(tmp_path, browser, n_kills, 9 * n_kills + 20)
    print(found)  # noqa: T201 - the count for the notes
    assert found["kills"] == n_kills
