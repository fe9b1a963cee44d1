"""The page by keyboard alone, read aloud, in the dark, on a telephone, on paper; by a finger, by ear."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from tests.helpers.pages import codes_of, make_page, make_whole, serving
from tests.page.browser import DWELL_S, Page, Person, until
from tests.page.test_page_file import begin

pytestmark = [pytest.mark.chromium, pytest.mark.slow, pytest.mark.xdist_group("page")]


@pytest.fixture
def page(person: Person, tmp_path: Path) -> Page:
    """Open ann's page."""
    return person.open(make_page(make_whole(tmp_path / "whole.db")))


SPOKEN = ("heading", "button", "StaticText", "status", "article", "checkbox")


def spoken(page: Page) -> list[tuple[str, str]]:
    """Return role and name of what a screen reader comes across, in its order."""
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    order: list[tuple[str, str]] = []

    def walk(node: dict[str, Any]) -> None:
        role = node.get("role", {}).get("value", "")
        if not node.get("ignored") and role in SPOKEN:
            order.append((role, node.get("name", {}).get("value", "")))
        for child in node.get("childIds", []):
            if child in by_id:
                walk(by_id[child])

    walk(nodes[0])
    return order


def test_order_of_reading(page: Page) -> None:
    """Whose page, then the question, the document, its grades and keys, and what was said last."""
    begin(page)
    page.judge("2")
    order = spoken(page)
    wanted = [
        ("StaticText", "ann"),
        ("heading", "1 red wine"),
        ("StaticText", "What of wine?"),
        ("article", "Title b b, document 2 of 4: unjudged"),
        ("heading", "Title b"),
        ("StaticText", "Nothing of it here."),
        ("button", "0 not relevant"),
        ("button", "2 relevant"),
        ("button", "u undo"),
        ("StaticText", "a: 2 relevant"),
    ]
    places = [order.index(one) for one in wanted]
    assert places == sorted(places), order


def test_keyboard_alone_reaches_everything(page: Page) -> None:
    """Tab goes through every way in the order of the page, each with a frame; focus is never lost."""
    begin(page)
    assert page.js("document.activeElement.id") == "document"
    names = []
    for _ in range(40):
        page.press("Tab")
        names.append(
            page.js(
                "(e => e === document.body ? '' : (e.id || e.textContent).trim())(document.activeElement)"
            )
        )
        if names[-1]:
            frame = page.js("(({outlineStyle, boxShadow}) => [outlineStyle, boxShadow])"
                            "(getComputedStyle(document.activeElement))")  # fmt: skip
            assert frame[0] == "solid" or frame[1] != "none", names
    wanted = "0 not relevant,2 relevant,u undo,Esc inbox,open a saved file,? keys,letters,document"
    assert set(wanted.split(",")) <= set(names), names
    for key in ("e", "?", "l", "c"):
        page.press(key)
        assert page.js("document.getElementById('box').contains(document.activeElement)")
        page.press("Escape")
        assert page.js("document.activeElement.id") == "document"
    page.judge("2")
    assert page.js("document.activeElement.id") == "document"


def test_keys_of_one_character_can_be_switched_off(page: Page) -> None:
    """For those whose voice or shaking hand types letters; buttons stay."""
    begin(page)
    page.js("document.getElementById('letters').click()")
    page.js("document.getElementById('document').focus()")
    page.judge("2")
    assert page.text("#stands") == "a, document 1 of 4: unjudged"
    page.js("[...document.querySelectorAll('#grades button')][2].click()")
    assert page.text("#said") == "a: 2 relevant"


def test_finger_on_a_telephone(page: Page) -> None:
    """Grades are large enough for a finger, and stay at the foot of a long text."""
    page.size(320, 568, mobile=True)
    page.reload()
    begin(page)
    page.judge("n", "n", "n")
    assert page.text("#docname") == "Title d"
    boxes = page.js("[...document.querySelectorAll('#grades button')].map(b => b.getBoundingClientRect())"
                    ".map(r => [r.width, r.height, r.bottom])")  # fmt: skip
    assert all(width >= 38 and height >= 38 and bottom <= 568 for width, height, bottom in boxes), boxes


def test_paper_has_the_whole_document(page: Page) -> None:
    """Printed, nothing scrolls and nothing is cut, and keys are left out."""
    begin(page)
    page.judge("n", "n", "n")
    page.ask("Emulation.setEmulatedMedia", media="print")
    assert page.js("(d => d.scrollHeight - d.clientHeight)(document.getElementById('document'))") <= 1
    assert page.js("document.getElementById('commands').offsetParent") is None
    paper = base64.b64decode(page.ask("Page.printToPDF")["data"])
    assert paper.startswith(b"%PDF")


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
        page.press(codes_of(whole, "ann")["ann"])
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
