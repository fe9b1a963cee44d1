"""What a judge reads and marks: what is selected, HTML with its structure, a text of 1 MB, lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Document
from tests.helpers.run import run_inside
from tests.judge_ui.page.browser import Page, Person
from tests.judge_ui.page.pages import make_page, make_whole
from tests.judge_ui.page.test_page_in_browser import at, begin, reopen, saved

pytestmark = [pytest.mark.chromium, pytest.mark.slow, pytest.mark.xdist_group("page")]

MARKED = "[...document.querySelectorAll('#text mark')].map(one => one.textContent).join('|')"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a small collection."""
    return make_whole(tmp_path / "whole.db")


def select(page: Page, words: str) -> None:
    """Select words of the text, as by a mouse."""
    page.js(f"""{{
        const nodes = document.createTreeWalker($("text"), NodeFilter.SHOW_TEXT), words = {words!r};
        let place = -1;
        while (place < 0) place = nodes.nextNode().data.indexOf(words);
        const node = nodes.currentNode;
        getSelection().setBaseAndExtent(node, place, node, place + words.length);
    }}""")


def click(page: Page, selector: str, *, nth: int = 0, times: int = 1) -> None:
    """Click with the mouse, in the middle of an element."""
    x, y = page.js(f"""
        (r => [r.x + r.width / 2, r.y + r.height / 2])
        (document.querySelectorAll({selector!r})[{nth}].getBoundingClientRect())
    """)
    for count in range(1, times + 1):
        for kind in ("mousePressed", "mouseReleased"):
            page.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)


def marked(whole: Path, page: Page) -> list[str]:
    """Import what was done, and return the passages that are marked at the end."""
    run_inside("import", "work", saved(page), "--collection", whole).fine()
    with Collection(str(whole)) as opened:
        *_, last = (one for one in opened.judgements.history() if one.action == "mark")
    return [one.text for one in last.passages]


def test_what_is_selected_is_marked(tmp_path: Path, person: Person) -> None:
    """By key or button; blanks around it are left out; marked again it is not; what meets becomes one."""
    whole = make_whole(tmp_path / "w.db", texts={"a": "😀 One wine, and\n\ntwo 👩‍👧 wines there. An end."})
    page = person.open(make_page(whole))
    begin(page)
    select(page, "two 👩‍👧 ")
    page.press("v")
    assert page.js(MARKED) == "two 👩‍👧"
    click(page, ".lit", times=2)
    assert page.js("getSelection().toString()") == "wine"
    buttons = page.js("[...$('commands').children].map(one => one.textContent)")
    click(page, "#commands button", nth=buttons.index("v mark"))
    assert page.js(MARKED) == "wine|two 👩‍👧"
    select(page, "👩‍👧")
    page.press("v")
    assert page.js(MARKED) == "wine"
    assert page.text("#said") == "a: passage no longer marked"
    page.js("getSelection().selectAllChildren($('main'))")
    page.press("v")
    assert marked(whole, page) == ["😀 One wine, and\n\ntwo 👩‍👧 wines there. An end."]


def test_sentences_are_marked_by_keys_and_by_touch(whole: Path, person: Person) -> None:
    """One, several at a time, and by a tap; Enter on what is marked takes it back."""
    page = person.open(make_page(whole))
    begin(page)
    for key in ("v", "J", "Enter"):
        page.press(key)
    assert page.js(MARKED).replace("|", "") == "The first sentence. The second one names wine."
    assert page.text("#said") == "a: passage marked"
    page.press("Enter")
    assert page.js(MARKED) == ""
    click(page, "[data-s]", nth=page.js("document.querySelectorAll('[data-s]').length - 1"))
    assert page.js(MARKED) == "A third!"
    page.press("Escape")
    assert marked(whole, page) == ["A third!"]


HTML = """<h1 onclick="window.owned=1">Red wine</h1><ul><li>one <a href="https://x.invalid/a">link</a></li></ul>
<table><tr><th colspan="2">head</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="https://x.invalid/p.png" alt="a cask" onerror="window.owned=2">
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" alt="a dot">
<script>window.owned = 3</script><svg><script>window.owned = 4</script></svg><form><input name="x"></form>"""


def test_structure_of_html_is_remembered_and_told(tmp_path: Path, person: Person) -> None:
    """Text first; by `<` headings, lists, tables and embedded pictures, without anything that acts."""
    whole = make_whole(tmp_path / "w.db")
    with Collection(str(whole)) as opened:
        opened.documents.add([Document(docno, "", HTML, (), "html") for docno in "ab"], replace=True)
    page = person.open(make_page(whole))
    begin(page)
    assert page.js("document.querySelector('#text table')") is None
    page.judge("1")
    page.press("<")
    assert at(page) == "b, document 2 of 4"
    shown = "[...document.querySelectorAll('#text > div *:not(span)')].map(one => one.tagName)"
    wanted = "H3 UL LI TABLE TBODY TR TH TR TD TD IMG".split()  # noqa: SIM905 - as it is read
    assert page.js(shown) == wanted
    attributes = (
        "[...document.querySelectorAll('#text > div *')].flatMap(one => one.getAttributeNames()).sort()"
    )
    assert set(page.js(attributes)) == {"alt", "class", "colspan", "src", "title"}
    assert page.js("document.querySelector('#text .link').title") == "https://x.invalid/a"
    assert "[picture: a cask]" in page.text("#text")
    reopen(page)
    page.press("Enter")
    assert page.js(shown) == wanted
    page.judge("1")
    page.press("<")  # `c` is plain text: nothing is switched
    assert "plain text" in page.text("#said")
    page.press("p")
    assert page.js(shown) == wanted
    assert page.js("window.owned") is None
    assert [
        one for one in person.browser.events if "x.invalid" in str(one.get("params", {}).get("request"))
    ] == []
    run_inside("import", "work", saved(page), "--collection", whole).fine()
    with Collection(str(whole)) as opened:
        assert [(one.docno, one.view) for one in opened.judgements.history()] == [
            ("a", None),
            ("b", "structure"),
        ]


def test_a_megabyte_is_drawn_in_parts(tmp_path: Path, person: Person) -> None:
    """Its first screen is painted before the rest is there; what is marked and found at its end is right."""
    text = "😀 Some red wine, or so.\n" * 40_000 + "The end is here."
    page = person.open(make_page(make_whole(tmp_path / "w.db", texts={"a": "x", "b": text})))
    begin(page)
    page.js("""
        window.drawn = [];
        const look = () => {
            if (here?.docno === "b") drawn.push([$("text").textContent.length, performance.now() - pressed]);
            if (drawn.length < 1000) requestAnimationFrame(look);
        };
        addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
        look();
    """)
    page.judge("1")
    length = page.js("shown.text.length")
    assert length > 1_000_000
    (first, ms), *_ = page.js("drawn")
    assert 10_000 < first < length / 2, (first, ms)
    page.press("G")
    assert page.js("$('text').textContent === shown.text")
    page.press("/")
    page.write("end is")
    page.press("Enter")
    assert page.text("#said") == "1 of 1 place"
    assert page.text(".here") == "end is"
    page.press("v")
    page.js("marking.at = marking.from = shown.sentences.length - 1")
    page.press("Enter")
    page.press("Escape")
    page.press("G")
    assert page.js(MARKED).replace("|", "") == "The end is here."
    place = page.js("scrollY")
    page.press("e")
    page.write("why")
    page.press("Enter")
    assert page.js("scrollY") >= place > 100_000


def test_list_shows_what_is_asked_for(whole: Path, person: Person) -> None:
    """By state, note, passages, grade and haste."""
    page = person.open(make_page(whole))
    begin(page)
    page.press("e")
    page.write("why")
    page.press("Enter")
    page.judge("2", "s", "c", "1")
    page.press("l")

    def listed(name: str) -> str:
        page.js(f"$('filter').value = {name!r}, $('filter').onchange()")
        words = (
            "[...document.querySelectorAll('#box li:not([hidden])')].map(one => one.innerText[0]).join('')"
        )
        return str(page.js(words))

    wanted = {
        "all": "abcd",
        "unjudged": "d",
        "judged": "a",
        "skipped": "b",
        "cannot be judged": "c",
        "with a note": "a",
        "with passages": "",
        "decided quickly": "ac",
        "0 not relevant": "",
        "2 relevant": "a",
    }
    assert {name: listed(name) for name in wanted} == wanted
    listed("skipped")
    page.js("$('box-body').focus()")
    page.press("ArrowDown")
    page.press("Enter")
    assert at(page) == "b, document 2 of 4"


def test_own_grade_that_is_replaced(whole: Path, person: Person) -> None:
    """It is said what it was; in a finished topic it is asked first; a digit that is no grade is answered."""
    page = person.open(make_page(whole))
    begin(page)
    page.judge("0", "p", "2")
    assert page.text("#said") == "a: 2 relevant (was 0 not relevant)"
    page.press("7")
    assert page.text("#said") == "7 is no grade here: 0 not relevant, 1 partially relevant, 2 relevant"
    page.judge("1", "c", "3", "1", "Escape", "0")
    assert (
        page.text("#box-title")
        == "Every document here has a decision. Replace 1 partially relevant by 0 not relevant?"
    )


def test_after_the_last_document_comes_the_next_topic(whole: Path, person: Person) -> None:
    """Enter is enough; and how long the rest takes is told from the fifth decision on."""
    page = person.open(make_page(whole))
    begin(page)
    for key in "2121":
        assert "left" not in page.text("#far")
        page.js("clock.active = 120_000")
        page.judge(key, *("y" for _ in range(page.text("#text").startswith("no text"))))
    assert page.text("#box-title") == "1: every document has a decision"
    page.press("Enter")
    assert page.text("#box-title") == "2 white"
    page.press("Enter")
    assert page.js("topic.topic") == "2"
    page.js("clock.active = 120_000")
    page.judge("1")
    assert page.text("#far").strip() == "1 of 2 decided, about 2 min left"


def test_goal_of_the_organiser_is_offered_once(whole: Path, person: Person) -> None:
    """Where it is reached the judge may stop or go on, and is not asked again in this topic."""
    page = person.open(make_page(whole))
    begin(page)
    page.js("topic.goal = {words: 'Enough is found.', is_reached: true}; 0")
    page.judge("1")
    assert page.text("#box-title") == "You may stop here"
    assert "Enough is found." in page.text("#box-body")
    page.press("Enter")
    page.judge("1")
    assert at(page) == "c, document 3 of 4"
    assert "Enough is found." in page.text("#far")
