"""The page by keyboard alone, read aloud, in the dark, on a telephone, on paper."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.judge_ui.page.browser import Page, Person, until
from tests.judge_ui.page.pages import make_page, make_whole
from tests.judge_ui.page.test_page_in_browser import begin

pytestmark = [pytest.mark.chromium, pytest.mark.slow, pytest.mark.xdist_group("page")]


@pytest.fixture
def page(person: Person, tmp_path: Path) -> Page:
    """Open ann's page."""
    return person.open(make_page(make_whole(tmp_path / "whole.db")))


def scenes(page: Page) -> Iterator[str]:
    """Go through everything that a page shows, one view after the other."""
    yield "topics"
    page.press("Enter")
    yield "question of a topic"
    page.press("Enter")
    yield "document"
    page.press("v")
    page.press("J")
    page.press("Enter")
    yield "marking"
    page.press("Escape")
    page.judge("2", "1", "p")
    yield "judged"
    page.press("/")
    yield "find"
    page.write("here")
    page.press("Enter")
    yield "found"
    for key in ("c", "e", "l", "y", "?", "h"):
        page.press(key)
        yield f"dialog of {key}"
        page.press("Escape")
    page.judge("n")
    yield "without a text"
    page.judge("s", "0")
    until(lambda: page.js("document.getElementById('box').open"))
    yield "end of the topic"


def test_axe_finds_nothing(page: Page) -> None:
    """No violation of any rule of axe-core, in every view, light and dark, on a screen and a telephone."""
    axe = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    for theme, width in (("light", 1100), ("dark", 320)):
        page.size(width, 700)
        page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        page.js("localStorage.clear(), sessionStorage.clear()")
        page.reload()
        page.js(f"{axe}; 1")
        for scene in scenes(page):
            found = page.js("axe.run().then(r => JSON.stringify([r.passes.length, r.violations.map(v =>"
                            " [v.id, v.nodes.map(n => n.html)])]))")  # fmt: skip
            n_passed, violations = json.loads(found)
            assert (violations, n_passed > 10) == ([], True), (scene, theme, width)
            if width == 320:
                assert page.js("document.documentElement.scrollWidth") <= 320, scene


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
    for wanted in (
        "0 not relevant",
        "2 relevant",
        "u undo",
        "Esc inbox",
        "q save file",
        "open a saved file",
        "? keys",
        "letters",
        "document",
    ):
        assert wanted in names, names
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
