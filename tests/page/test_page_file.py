"""The page as a file in a browser: judged by keys, kept, saved, brought back; by finger or ear alone, too."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.records import Document
from store.text import sanitise
from tests.helpers.browser import DWELL_S, Browser, Page, Person, at, begin, select_words, until
from tests.helpers.pages import HOSTILE, HTML, codes_of, make_page, make_whole, serving
from tests.helpers.run import run_inside

pytestmark = [pytest.mark.chromium, pytest.mark.slow, pytest.mark.xdist_group("page")]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a small collection."""
    return make_whole(tmp_path / "whole.db")


def reopen(page: Page) -> None:
    """Load a page anew, and go to its topics."""
    page.reload()
    page.press("Escape")


def saved(page: Page, judge: str = "ann") -> Path:
    """Save the file of a page."""
    name = f"{judge}.judged.jsonl"
    (page.person.downloads / name).unlink(missing_ok=True)
    page.press("s", ctrl=True)
    return page.person.downloaded(name)


def bring_back(whole: Path, *files: Path) -> Any:
    """Import what was saved, and return how documents of topic 1 stand with each judge."""
    run_inside("import", "work", *files, "--collection", whole).fine()
    with Collection(str(whole)) as opened:
        return {
            (one.judge, one.topic, one.docno): (one.state.value, one.grade, one.reason, one.note)
            for one in opened.judgements.current()
        }


def test_judged_by_keys_reloaded_saved_and_brought_back(whole: Path, person: Person) -> None:
    """Grade, skip, cannot, note, evidence, undo: each is in the collection at the end."""
    page = person.open(make_page(whole))
    assert page.text("#who") == "ann · wine"
    begin(page)
    assert at(page) == "a, document 1 of 4"
    page.press("v", "j", "Enter", "Escape")
    marked = "[...document.querySelectorAll('mark')].map(one => one.textContent).join('')"
    assert page.js(marked) == "The second one names wine."
    page.press("e", "first line")
    page.press("j", ctrl=True)
    page.press("second: é 😀", "Enter")
    page.judge("2")
    assert "a: 2 relevant" in page.text("#said")
    page.judge("s")
    assert at(page) == "c, document 3 of 4"
    page.judge("c", "3")
    page.judge("1", "u")
    assert "grade" not in page.text("#said")
    assert "undone: unjudged" in page.text("#said")
    reopen(page)
    assert "of 4 decided, 1 skipped" in page.text("#topics")
    page.press("Enter")
    assert at(page) == "d, document 4 of 4"
    page.judge("u")
    assert "nothing to undo" in page.text("#said")
    page.judge("0")
    until(lambda: page.js("document.getElementById('box').open"))
    assert page.text("#box-title") == "1: 1 skipped"
    page.press("Enter")
    assert at(page) == "b, document 2 of 4"
    assert bring_back(whole, saved(page)) == {
        ("ann", "1", "a"): ("judged", 2, "", "first line\nsecond: é 😀"),
        ("ann", "1", "b"): ("skipped", None, "", ""),
        ("ann", "1", "c"): ("cannot", None, "text missing", ""),
        ("ann", "1", "d"): ("judged", 0, "", ""),
    }
    with Collection(str(whole)) as opened:
        events = list(opened.judgements.history())
    assert [one.action.value for one in events] == [
        "mark", "note", "judge", "skip", "cannot", "judge", "undo", "judge"]  # fmt: skip
    assert {one.sitting for one in events} == {1, 2}
    assert [one.passages[0].text for one in events if one.docno == "a"] == ["The second one names wine."] * 3
    assert all(one.dwell_ms is None or one.dwell_ms >= (one.active_ms or 0) - 1 for one in events)
    assert (
        "0 new events of `ann`, 8 there already"
        in run_inside("import", "work", saved(page), "--collection", whole).fine().err
    )


def test_title_of_the_tab_says_how_far_of_what_and_whose(whole: Path, person: Person) -> None:
    """Counts of the topic, or of all on the page of topics; skipped is not decided, undone no longer."""
    page = person.open(make_page(whole))

    def title() -> Any:
        return page.js("document.title")

    assert title() == "0/6 wine - ann - pooler"
    begin(page)
    assert title() == "0/4 1 - ann - pooler"
    titles = []
    for keys in (("2",), ("s",), ("c", "3"), ("u",), ("e",)):
        page.judge(*keys)
        titles.append(title().split()[0])
    assert titles == ["1/4", "1/4", "2/4", "1/4", "1/4"]
    page.press("Escape", "Escape")
    assert title() == "1/6 wine - ann - pooler"
    reopen(page)
    assert title() == "1/6 wine - ann - pooler"


def test_keys_that_come_too_soon_and_questions(whole: Path, person: Person) -> None:
    """No grade within 0.3 s; one is taken back, or given without a text, if it is meant."""
    page = person.open(make_page(whole))
    begin(page)
    page.js("clock.quiet += 6e4")  # however busy the machine is, the key comes too soon
    page.press("1")
    assert "too quick" in page.text("#said")
    page.judge("1")
    page.judge("p")
    page.judge("s")
    assert page.text("#box-title") == "Take back 1 partially relevant and skip?"
    page.press("Escape")
    assert page.text("#stands") == "a, document 1 of 4: 1 partially relevant"
    page.judge("n", "n", "2")
    assert page.text("#box-title") == "This document has no text to judge; 2 relevant all the same?"
    page.press("y")
    assert "c: 2 relevant" in page.text("#said")
    page.press("l")
    assert page.text("#box-body li") == "a Title a: 1 partially relevant"
    page.press("Escape", "/", "AN END", "Enter")
    assert page.text(".here") == "an end"
    assert "1 of 1 place" in page.text("#said")
    page.press("/", "well-known? [/\\]$ .*", "Enter")
    assert page.text("#said") == "not found"
    for key, title in (("t", "1 red wine"), ("h", "Guidelines"), ("y", "Done in this window"),
                       ("?", "Keys")):  # fmt: skip
        page.press(key)
        assert page.text("#box-title") == title
        page.press("Escape")
    page.js("clock.at -= 3e9")  # shown for 35 days: more milliseconds than a database's integer holds
    page.judge("0")
    with_history = bring_back(whole, saved(page))
    assert with_history["ann", "1", "c"][:2] == ("judged", 2)
    with Collection(str(whole)) as opened:
        assert [one.dropped_keys for one in opened.judgements.history() if one.docno == "a"] == [1]


def test_key_right_after_escape_is_not_lost(whole: Path, person: Person) -> None:
    """The browser tells of a closed box late: the question that is open by then stays."""
    page = person.open(make_page(whole))
    begin(page)
    page.js("""(async () => {
        for (const key of ["l", "Escape", "/"]) {
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
            for (let n = 0; n < 20; n++) await null;
        }
        await new Promise(resolve => setTimeout(resolve, 100));
    })()""")
    page.press("names", "Enter")
    assert page.text("#said") == "1 of 1 place"


LOOKS = """
    window.looked = [];
    const get = Storage.prototype.getItem;
    Storage.prototype.getItem = function (key) { looked.push(key); return get.call(this, key); };
"""


def test_two_judges_in_one_browser_do_not_meet(whole: Path, person: Person) -> None:
    """Each page has what was done on it, and looks at nothing of the other's.

    Another collection of the same names is another one: its page begins empty.
    """
    pages = {judge: person.open(make_page(whole, judge)) for judge in ("ann", "bob")}
    for (judge, page), key in zip(pages.items(), "20", strict=True):
        page.js(LOOKS)
        begin(page)
        page.judge(key)
        assert {json.loads(one[: one.rindex("]") + 1])[2] for one in page.js("looked")} == {judge}
    for page in pages.values():
        reopen(page)
        assert "1 of 4 decided" in page.text("#topics")
    found = bring_back(whole, saved(pages["ann"]), saved(pages["bob"], "bob"))
    assert {key[0]: value[1] for key, value in found.items()} == {"ann": 2, "bob": 0}
    (whole.parent / "another").mkdir()
    another = person.open(make_page(make_whole(whole.parent / "another" / "w.db")))
    assert "0 of 4 decided" in another.text("#topics")


def test_two_windows_of_one_page_know_of_each_other(whole: Path, person: Person) -> None:
    """What one window does the other has at once; the same document is not decided twice unseen."""
    file = make_page(whole)
    first, second = person.open(file), person.open(file)
    begin(first)
    begin(second)
    first.judge("2")
    until(lambda: second.text("#stands").endswith("1 of 4: 2 relevant"))
    second.judge("n", "1")
    until(lambda: first.text("#stands").endswith("2 of 4: 1 partially relevant"))
    first.judge("u")
    assert first.text("#said").startswith("a: 2 relevant undone")
    found = bring_back(whole, saved(first), saved(second))
    assert (found["ann", "1", "a"][0], found["ann", "1", "b"][1]) == ("unjudged", 1)


def test_hostile_texts_are_shown_and_do_nothing(tmp_path: Path, person: Person) -> None:
    """In texts, titles, notes and guidelines: shown as they are, nothing runs, nothing is fetched."""
    texts: dict[str, str | None] = {"a": HOSTILE, "b": "x" * 200_000, "__proto__": HOSTILE}
    whole = make_whole(tmp_path / "w.db", texts=texts, word=sanitise(HOSTILE).replace("\n", " "))
    with Collection(str(whole)) as opened:
        opened.guidelines.add(f"# {HOSTILE}\n\n{HOSTILE}\n")
    page = person.open(make_page(whole))
    begin(page)
    assert page.js("document.getElementById('text').textContent") == sanitise(HOSTILE)
    page.press("e", HOSTILE.replace("\x1b", "").replace("\x07", ""), "Enter", "v", "J", "Enter", "Escape")
    page.judge("1", "0", "2")
    assert page.js("window.owned") is None
    asked = {event["params"]["request"]["url"].partition(":")[0] for event in person.browser.events
             if event.get("method") == "Network.requestWillBeSent"}  # fmt: skip
    assert asked <= {"file", "blob", "about"}
    blocked = [event for event in person.browser.events if event.get("method") == "Log.entryAdded"]
    assert blocked == []
    found = bring_back(whole, saved(page))
    assert found["ann", "1", "__proto__"][1] == 2
    assert found["ann", "1", "a"][3].startswith("</script><script>")
    with Collection(str(whole)) as opened:
        (passage,) = next(one for one in opened.judgements.history() if one.passages).passages
    assert HOSTILE[passage.start : passage.start + passage.length] == passage.text


def test_policy_lets_nothing_out(whole: Path, person: Person) -> None:
    """What a flaw would try: a picture, a fetch, a script that is none of ours, a form."""
    page = person.open(make_page(whole))
    page.js(
        "window.seen = []; addEventListener('securitypolicyviolation', e => seen.push(e.violatedDirective))"
    )
    page.js("fetch('https://x.invalid/').catch(() => 0)")
    page.js("document.body.append(Object.assign(new Image(), {src: 'https://x.invalid/a.png'}))")
    made = "Object.assign(document.createElement('script'), {textContent: 'window.owned = 1'})"
    page.js(f"document.body.append({made})")
    until(lambda: len(page.js("seen")) >= 3)
    assert page.js("window.owned") is None


def fill(page: Page) -> None:
    """Take all the room that the browser gives to pages."""
    page.js("""
        for (let size = 1 << 20, n = 0; size >= 1;) {
            try { localStorage.setItem("full" + n++, "x".repeat(size)); } catch { size >>= 1; }
        }
    """)


def test_full_storage_is_said_and_saving_still_works(whole: Path, person: Person) -> None:
    """Nothing is lost while the page is open; with room again, all of it is kept."""
    page = person.open(make_page(whole))
    begin(page)
    page.judge("2")
    fill(page)
    page.judge("1")
    assert "NOT KEPT by this browser" in page.text("#kept")
    page.judge("c", "1")
    assert "3 steps not in a saved file yet" in page.text("#kept")
    assert len(bring_back(whole, saved(page))) == 3
    assert "all in the saved file" in page.text("#kept")
    page.js(
        "Object.keys(localStorage).filter(k => k.startsWith('full')).forEach(k => localStorage.removeItem(k))"
    )
    page.judge("0")
    assert page.text("#kept").startswith("kept in this browser")
    page.press("Escape")
    reopen(page)
    assert "4 of 4 decided" in page.text("#topics")


def test_forbidden_storage_is_said_and_saving_still_works(whole: Path, tmp_path: Path) -> None:
    """A browser that lets no page keep anything."""
    forbids = {"profile": {"default_content_setting_values": {"cookies": 2}}}
    with Browser(tmp_path, preferences=forbids) as browser:
        page = Person(browser, tmp_path).open(make_page(whole))
        assert "NOT KEPT by this browser" in page.text("#kept")
        begin(page)
        page.press("e", "begun", "Escape", "e")
        assert page.js("$('note').value") == "begun"
        page.press("Escape")
        page.judge("2", "1")
        assert bring_back(whole, saved(page))["ann", "1", "a"][1] == 2


def test_damaged_state_is_said_and_never_used(whole: Path, person: Person) -> None:
    """What the browser keeps was changed: what is before it counts, and nothing is written over it."""
    page = person.open(make_page(whole))
    begin(page)
    page.judge("2", "1")
    page.js(
        "Object.keys(localStorage).filter(k => k.endsWith(' 1')).forEach(k => localStorage.setItem(k, '{'))"
    )
    reopen(page)
    until(lambda: page.text("#kept").startswith("NOT KEPT by this browser (what it has cannot be read"))
    assert "1 of 4 decided" in page.text("#topics")
    page.press("Enter")
    page.judge("0")
    found = bring_back(whole, saved(page))
    assert (found["ann", "1", "a"][1], found["ann", "1", "b"][1]) == (2, 0)


def test_saved_file_goes_on_in_another_browser(whole: Path, tmp_path: Path, person: Person) -> None:
    """From one computer to another and back; a file of another page, or a changed one, is not taken."""
    page = person.open(make_page(whole))
    begin(page)
    page.judge("2", "1")
    file = saved(page)
    (tmp_path / "other").mkdir()
    with person.browser.person(tmp_path / "other") as other:
        elsewhere = other.open(whole.with_name("ann.html"))
        bad = tmp_path / "bad.jsonl"
        bad.write_bytes(file.read_bytes().replace(b'"grade":2', b'"grade":1'))
        give(elsewhere, bad)
        until(lambda: "changed or cut" in elsewhere.text("#said"))
        bobs = other.open(make_page(whole, "bob"))
        give(bobs, file)
        until(lambda: "no file of this page" in bobs.text("#said"))
        give(elsewhere, file)
        until(lambda: "2 steps taken" in elsewhere.text("#said"))
        assert "2 of 4 decided" in elsewhere.text("#topics")
        reopen(elsewhere)
        elsewhere.press("Enter")
        elsewhere.judge("0", "y")
        back = saved(elsewhere)
        page.press("Escape")
        give(page, back)
        until(lambda: "1 step taken" in page.text("#said"))
        page.press("Enter")
        page.judge("2")
        give(elsewhere, file)
        until(lambda: "nothing in that file is new" in elsewhere.text("#said"))
    found = bring_back(whole, saved(page), back)
    assert [found["ann", "1", docno][1] for docno in "abcd"] == [2, 1, 0, 2]


def give(page: Page, file: Path) -> None:
    """Choose a file as the dialog of the browser does."""
    node = page.ask("Runtime.evaluate", expression="document.getElementById('file')")["result"]["objectId"]
    page.ask("DOM.setFileInputFiles", files=[str(file)], objectId=node)


MARKED = "[...document.querySelectorAll('#text mark')].map(one => one.textContent).join('|')"


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
    select_words(page, "two 👩‍👧 ")
    page.press("v")
    assert page.js(MARKED) == "two 👩‍👧"
    click(page, ".lit", times=2)
    assert page.js("getSelection().toString()") == "wine"
    buttons = page.js("[...$('commands').children].map(one => one.textContent)")
    click(page, "#commands button", nth=buttons.index("v mark"))
    assert page.js(MARKED) == "wine|two 👩‍👧"
    select_words(page, "👩‍👧")
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


def test_a_long_text_is_drawn_in_parts(tmp_path: Path, person: Person) -> None:
    """Its first screen is painted before the rest is there; what is marked and found at its end is right."""
    text = "😀 Some red wine, or so.\n" * 8000 + "The end is here."
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
    assert length > 180_000
    (first, ms), *_ = page.js("drawn")
    assert 10_000 < first < length / 2, (first, ms)
    page.press("G")
    assert page.js("$('text').textContent === shown.text")
    page.press("/", "end is", "Enter")
    assert page.text("#said") == "1 of 1 place"
    assert page.text(".here") == "end is"
    page.press("v")
    page.js("marking.at = marking.from = shown.sentences.length - 1")
    page.press("Enter", "Escape", "G")
    assert page.js(MARKED).replace("|", "") == "The end is here."
    place = page.js("scrollY")
    page.press("e", "why", "Enter")
    assert page.js("scrollY") >= place > 100_000


def test_list_shows_what_is_asked_for(whole: Path, person: Person) -> None:
    """By state, note, passages, grade and haste."""
    page = person.open(make_page(whole))
    begin(page)
    page.press("e", "why", "Enter")
    page.judge("2", "s", "c", "1")
    page.press("l")

    def listed(name: str) -> str:
        page.js(f"$('filter').value = {name!r}, $('filter').onchange()")
        words = (
            "[...document.querySelectorAll('#box li:not([hidden])')].map(one => one.innerText[0]).join('')"
        )
        return str(page.js(words))

    wanted = {
        "all": "abcd", "unjudged": "d", "judged": "a", "skipped": "b", "cannot be judged": "c",
        "with a note": "a", "with passages": "", "decided quickly": "ac", "0 not relevant": "",
        "2 relevant": "a",
    }  # fmt: skip
    assert {name: listed(name) for name in wanted} == wanted
    listed("skipped")
    page.js("$('box-body').focus()")
    page.press("ArrowDown", "Enter")
    assert at(page) == "b, document 2 of 4"


def test_own_grade_that_is_replaced(whole: Path, person: Person) -> None:
    """It is said what it was; in a finished topic it is asked first; a digit that is no grade is answered.

    Undo goes back to the start of the sitting, and redo forward again, as on the screen.
    """
    page = person.open(make_page(whole))
    begin(page)
    page.judge("2", "1")
    page.press("u", "u")
    assert page.text("#stands") == "a, document 1 of 4: unjudged"
    page.press("r", ctrl=True)
    page.press("r", ctrl=True)
    assert page.text("#said") == "b: 1 partially relevant"
    page.press("r", ctrl=True)
    assert page.text("#said") == "nothing to redo"
    page.press("u", "u")
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
    wanted = "0 not relevant,2 relevant,u undo,Esc topics,open a saved file,? keys,letters,document"
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


def test_finger_on_a_telephone_and_paper(page: Page) -> None:
    """Grades are large enough for a finger, and stay at the foot of a long text.

    Printed, nothing scrolls and nothing is cut, and keys are left out.
    """
    page.size(320, 568, mobile=True)
    page.reload()
    begin(page)
    page.judge("n", "n", "n")
    assert page.text("#docname") == "Title d"
    boxes = page.js("[...document.querySelectorAll('#grades button')].map(b => b.getBoundingClientRect())"
                    ".map(r => [r.width, r.height, r.bottom])")  # fmt: skip
    assert all(width >= 38 and height >= 38 and bottom <= 568 for width, height, bottom in boxes), boxes
    page.ask("Emulation.setEmulatedMedia", media="print")
    assert page.js("(d => d.scrollHeight - d.clientHeight)(document.getElementById('document'))") <= 1
    assert page.js("document.getElementById('commands').offsetParent") is None
    assert base64.b64decode(page.ask("Page.printToPDF")["data"]).startswith(b"%PDF")


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
def test_from_a_code_to_the_sixth_decision(
    push: Callable[[Page, str], None], tmp_path: Path, person: Person
) -> None:
    """Nothing has to be known before: every step is offered where the last one ended."""
    docnos = [f"d{number}" for number in range(6)]
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
        names = [*KEYS] * 2
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
