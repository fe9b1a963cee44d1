"""The screens of `pooler serve` on a collection with roles: each is its judge's own login."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.db.login import Role
from tests.pooler.serving.served import Visitor, Window, serving
from tests.roles.served import Served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serving")]

SAVED = r"saved \d\d:\d\d:\d\d"


def judgements(opened: Collection) -> set[tuple[str, str, str, int | None]]:
    """Return who gave what to which document."""
    return {(one.judge, one.topic, one.docno, one.grade) for one in opened.judgements.current()}


async def at_a_document(window: Window) -> None:
    """Go on from the inbox, and from the page before the first document."""
    await window.wait_for("G01")
    for _ in range(20):
        await window.until_quiet()
        if "now: -" in window.text():
            return
        await window.type("\r")
    raise AssertionError(window.text()[-3000:])


async def test_each_screen_is_its_judges_login(served: Served) -> None:
    """The server sees two logins that are not its own; what they save is theirs."""
    with Collection(served.owner) as opened:
        codes = {judge: opened.codes.give(judge) for judge in ("alice", "bob")}
        before = judgements(opened)
    with serving(served.url("otto")) as running:
        async with Visitor(running.origin) as alice, Visitor(running.origin) as bob:
            windows = []
            for judge, visitor in (("alice", alice), ("bob", bob)):
                assert await visitor.enter(codes[judge]) == 303
                windows.append(await visitor.open())
            for window in windows:
                await at_a_document(window)
                await window.press("1", SAVED)
            asked = "SELECT array_agg(DISTINCT usename ORDER BY usename) FROM pg_stat_activity"
            there = served.value(f"{asked} WHERE datname = current_database() AND pid <> pg_backend_pid()")
            assert there == sorted(served.login(who) for who in ("alice", "bob", "otto"))
        assert running.stop() == 0
    with Collection(served.owner) as opened:
        new = judgements(opened) - before
    assert sorted((judge, grade) for judge, _, _, grade in new) == [("alice", 1), ("bob", 1)]


async def test_a_judge_without_a_login_is_told(served: Served) -> None:
    """In the window that the organiser is to be called, in the server's words what to do."""
    with Collection(served.owner) as opened:
        code = opened.codes.give("bob")
        opened.roles.revoke(served.login("bob"))
    try:
        with serving(served.url("otto")) as running:
            async with Visitor(running.origin) as bob:
                assert await bob.enter(code) == 303
                window = await bob.open()
                await window.ended()
                assert "The collection does not let you in. Call the organiser." in window.text()
            running.stop()
            assert "judge `bob` has no login of their own: pooler grant LOGIN --role judge" in running.said
    finally:
        with Collection(served.owner) as opened:
            opened.roles.grant(served.login("bob"), Role.JUDGE, judge="bob")
