"""From a code to the twentieth decision: by keys alone, by a finger alone, by a screen reader alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from store.collection import Collection
from tests.judge_ui.page.browser import DWELL_S, Page, Person, until
from tests.judge_ui.page.pages import make_whole
from tests.web.served import codes_of, serving

pytestmark = [pytest.mark.chromium, pytest.mark.slow, pytest.mark.xdist_group("page")]

KEYS = {"0 ": "0", "1 partially": "1", "2 ": "2"}
"""By how a button begins; all others are pressed by Enter."""


def by_key(page: Page, name: str) -> None:
    """Press the key of a button."""
    page.press(KEYS.get(name, "Enter"))


def by_finger(page: Page, name: str) -> None:
    """Tap on the middle of a button that is on the screen, as large as a finger and covered by nothing."""
    x, y, width, height = page.js(f"""{{
        const buttons = [...document.querySelectorAll("button")], name = {name!r};
        const one = buttons.findLast(one => one.innerText.startsWith(name));
        const r = one.getBoundingClientRect(), at = [r.x + r.width / 2, r.y + r.height / 2];
        one.contains(document.elementFromPoint(...at)) ? [...at, r.width, r.height] : null;
    }}""")
    assert min(width, height) >= 38
    page.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    page.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def by_ear(page: Page, name: str) -> None:
    """Do the default action of what is a button and is called so."""
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    button = [one for one in nodes if not one["ignored"] and one["role"]["value"] == "button"
              and one["name"]["value"].startswith(name)][-1]  # fmt: skip
    node = page.ask("DOM.resolveNode", backendNodeId=button["backendDOMNodeId"])["object"]["objectId"]
    page.ask("Runtime.callFunctionOn", objectId=node, functionDeclaration="function () { this.click(); }")


def said(page: Page) -> str:
    """Return what a screen reader says by itself; over the last decision lies how the topic ended."""
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    named = {one["nodeId"]: one for one in nodes if not one["ignored"]}
    parts = []
    for one in named.values():
        if one["role"]["value"] in ("status", "dialog"):
            inside = [named[child] for child in one["childIds"] if child in named]
            parts += [part["name"]["value"] for part in (one, *inside)]
    return "".join(parts)


@pytest.mark.parametrize("push", [by_key, by_finger, by_ear])
def test_from_a_code_to_the_twentieth_decision(
    push: Callable[[Page, str], None], tmp_path: Path, person: Person
) -> None:
    """Nothing has to be known before: every step is offered where the last one ended."""
    docnos = [f"d{number:02}" for number in range(20)]
    whole = make_whole(tmp_path / "w.db", texts={docno: f"Text of {docno}. " * 40 for docno in docnos})
    with serving(whole) as served:
        page = person.open(served.origin)
        if push is by_finger:
            page.size(390, 844, mobile=True)
            page.ask("Emulation.setTouchEmulationEnabled", enabled=True)
        until(lambda: page.js("document.activeElement.id === 'code'"))
        page.write(codes_of(whole, "ann")["ann"])
        push(page, "Begin")
        time.sleep(1)
        until(
            lambda: page.js(
                "document.readyState === 'complete' && document.querySelector('#topics') !== null"
            )
        )
        push(page, "1 red wine")
        until(lambda: page.js("$('box').open"))
        push(page, "Enter begin")
        names = [list(KEYS)[number % 3] for number in range(20)]
        for docno, name in zip(docnos, names, strict=True):
            until(
                lambda docno=docno: (
                    page.js("!isBusy && here !== null") and page.text("#stands").startswith(docno)
                )
            )
            time.sleep(DWELL_S)
            until(lambda: page.js("performance.now() - clock.quiet >= data.dwell_ms"))
            push(page, name)
            words = "1: every" if docno == docnos[-1] else f"{docno}: {name}"
            until(lambda words=words: said(page).startswith(words))
    with Collection(str(whole)) as opened:
        found = {one.docno: one.grade for one in opened.judgements.current(["ann"])}
    assert found == {docno: int(name[0]) for docno, name in zip(docnos, names, strict=True)}
