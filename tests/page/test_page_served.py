"""The page as it is served: what its window keeps, a server that is gone or killed, axe-core."""

from __future__ import annotations

import json
import os
import random
import socket
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Action, Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.browser import Browser, Page, Person, at, begin, select_words, until
from tests.helpers.pages import HTML, Served, codes_of, make_collection, make_whole, serving
from tests.helpers.run import run_inside
from tests.helpers.wine import work

pytestmark = [pytest.mark.chromium, pytest.mark.slow, pytest.mark.xdist_group("page")]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a collection in which bob and cleo disagree, and ann has done nothing."""
    whole = make_whole(tmp_path / "whole.db")
    with Collection(str(whole)) as opened:
        opened.documents.add([Document("d", "", HTML, (), "html")], replace=True)
        opened.judges.add("cleo", JudgeKind.HUMAN)
        opened.judges.add("zoe", JudgeKind.ADJUDICATOR)
    work(
        whole, ("bob", "a", Action.JUDGE, 0), ("bob", "a", Action.NOTE, "why"), ("cleo", "a", Action.JUDGE, 2)
    )
    return whole


@pytest.fixture
def served(whole: Path) -> Iterator[Served]:
    """Serve it."""
    with serving(whole) as server:
        yield server


def enter(page: Page, code: str) -> None:
    """Enter a code, and wait for what it leads to."""
    until(lambda: page.js("document.activeElement.id === 'code'"))
    page.press(code)
    page.load("Runtime.evaluate", expression="document.forms[0].requestSubmit()")
    until(lambda: page.js("document.querySelector('#topics, table, main p') !== null"))


def leave(page: Page) -> None:
    """Leave, and wait for the code page."""
    page.load("Runtime.evaluate", expression="[...document.querySelectorAll('#ways button')].at(-1).click()")
    until(lambda: page.js("document.getElementById('code') !== null"))


def until_at(page: Page, docno: str) -> None:
    """Wait until a document is before the judge."""
    until(lambda: page.js("$('stands') !== null") and at(page).startswith(f"{docno},"))


def test_draft_of_a_note(whole: Path, served: Served, person: Person) -> None:
    """Kept over a reload, offered, thrown away if that is meant, and removed when its judge leaves."""
    codes = codes_of(whole, "ann", "bob")
    page = person.open(served.origin)
    enter(page, codes["ann"])
    begin(page)
    until_at(page, "a")
    page.press("e", "begun here")
    page.reload()
    until_at(page, "a")
    assert "A note begun here is not saved" in page.text("#document")
    page.press("e")
    assert page.js("$('note').value") == "begun here"
    page.press("Escape")
    assert page.text("#said").startswith("the note is a draft:")
    page.press("e")
    page.js("[...$('box').querySelectorAll('button')].find(one => /discard/.test(one.textContent)).click()")
    assert "not saved" not in page.text("#document")
    assert page.text("#said") == "draft discarded: the note is as it was"
    page.press("e", "of ann", "Escape", "e", " alone", "Enter")
    until(lambda: page.text("#said") == "a: note, saved")
    assert "Note: of ann alone" in page.text("#document")
    page.press("e", ", or so", "Escape")
    leave(page)
    assert page.js("JSON.stringify([{...localStorage}, {...sessionStorage}])") == "[{},{}]"
    enter(page, codes["bob"])
    page.press("Enter")
    until(lambda: page.js("$('stands') !== null"))
    assert "ann" not in page.text("body")


@pytest.mark.usefixtures("started_by_users")
def test_what_the_server_does_not_do_is_said(whole: Path, served: Served, person: Person) -> None:
    """What is too much for it is not asked again and again; nobody has left before it says so."""
    page = person.open(served.origin)
    enter(page, codes_of(whole, "ann")["ann"])
    begin(page)
    until_at(page, "a")
    page.press("n")
    until_at(page, "b")
    until(lambda: page.js("!isBusy"))
    page.js("void run('note'), $('note').maxLength = 300_000, $('note').value = 'a'.repeat(300_000)")
    page.press("Enter")
    until(lambda: page.text("#said") == "NOT SAVED (note): that is too much at once")
    until_at(page, "b")
    page.js("draftOf(here, 'begun')")
    served.process.kill()
    served.process.wait()
    page.js("[...document.querySelectorAll('#ways button')].at(-1).click()")
    until(lambda: "you have not left" in page.text("#said"))
    assert "begun" in page.js("JSON.stringify({...localStorage})")


def test_note_on_the_document_just_decided(whole: Path, served: Served, person: Person) -> None:
    """It is written on that one and its text, and the next one stays before the judge."""
    page = person.open(served.origin)
    enter(page, codes_of(whole, "ann")["ann"])
    begin(page)
    until_at(page, "a")
    page.press("E")
    until(lambda: page.text("#said") == "no document of this topic was decided before")
    page.judge("1")
    until_at(page, "b")
    page.press("E")
    assert page.text("#box-title") == "Note on a"
    page.press("too short", "Escape")
    assert page.text("#said") == "the note is a draft: the note key on a goes on with it"
    page.press("E", "Enter")
    until(lambda: page.text("#said") == "a: note, saved")
    assert at(page) == "b, document 2 of 4"
    with Collection(str(whole)) as opened:
        grade, note = opened.judgements.history(["ann"])
    assert page.js("Object.values(data.keys).filter(one => isNaN(one) && !(one in actions))") == []
    assert (grade.docno, note.docno, note.note) == ("a", "a", "too short")
    assert grade.document_sha256 == note.document_sha256 != ""


def test_documents_are_drawn_by_what_was_decided_and_a_goal_ends_a_topic(
    tmp_path: Path, person: Person
) -> None:
    """Move-To-Front stays with a run after a hit, and goes to the other one after a miss.

    Of eight documents, all drawn, three are relevant and two are not: three more at most are, so that half is
    found for certain; what is left then may stay.
    """
    file = make_whole(tmp_path / "live.db")
    for run in "xy":
        lines = (f"3 Q0 {run}{rank} {rank} {-rank} {run}\n" for rank in (1, 2, 3))
        (tmp_path / f"{run}.run").write_text("".join(lines), "utf-8")
    drawn = [f"s{number}" for number in range(8)]
    with Collection(str(file)) as opened:
        opened.topics.add([Topic("3", "drawn"), Topic("4", "sampled")])
    for command in (
        ("import", "runs", tmp_path / "x.run", tmp_path / "y.run"),
        ("pool", "--strategy", "mtf", "--budget", "4", "--name", "live"),
    ):
        run_inside(*command, "--collection", file).fine()
    with Collection(str(file)) as opened:
        opened.pools.withdraw("pool")
        entries = [PoolEntry("4", docno, 0, stratum=1, inclusion_probability=1.0) for docno in drawn]
        opened.pools.add(Pool(entries, {"strategy": "uniform"}, "tail"))
        docnos = [*drawn, *(f"{run}{rank}" for run in "xy" for rank in (1, 2, 3))]
        opened.documents.add([Document(one, "", f"<h1>{one}</h1><p>wine", (), "html") for one in docnos])
    with serving(file, "--goal", "recall=.5") as server:
        page = person.open(server.origin)
        enter(page, codes_of(file, "ann")["ann"])
        begin(page)
        until(lambda: page.js("$('stands') !== null"))
        first, other = "xy" if at(page).startswith("x1,") else "yx"
        page.press("<")
        assert page.text("#text h3") == f"{first}1"
        for key, following in (("2", f"{first}2"), ("0", f"{other}1"), ("1", f"{other}2")):
            page.judge(key)
            assert at(page).startswith(f"{following},")
        page.judge("0")
        assert page.text("#box-title") == "3: every document has a decision"
        page.press("Enter")
        until(lambda: page.text("#box-title") == "4 sampled")
        page.press("Enter")
        until(lambda: page.js("topic.topic === '4' && here !== null"))
        page.judge("2", "2", "2", "0")
        assert "goal" in page.text("#far")
        page.judge("0")
        assert page.text("#box-title") == "You may stop here"
        page.press("t")
        until(lambda: page.js("$('topics') !== null"))
        assert "5 of 8 decided" in page.text("#topics")


def cut(page: Page) -> None:
    """Cut its connection; the next key counts at once."""
    page.js("window.honest ??= fetch; window.fetch = () => Promise.reject(new TypeError('cut')); 0")
    page.js("clock.quiet -= 1e3")


def test_server_that_is_gone(whole: Path, served: Served, person: Person) -> None:
    """It is said at once, the document stays; the decision is written when it is back, or is given up."""
    page = person.open(served.origin)
    enter(page, codes_of(whole, "ann")["ann"])
    begin(page)
    until_at(page, "a")
    cut(page)
    page.press("1")
    until(lambda: page.text("#alarm").startswith("NOT SAVED: 1 partially relevant. Since "))
    assert at(page) == "a, document 1 of 4"
    page.press("2")
    assert page.text("#said") == "not saved yet: 1 partially relevant; undo gives it up"
    page.js("$('said').textContent = '', desk.leave(); 0")
    assert page.text("#said") == "not saved yet: 1 partially relevant; undo gives it up"
    page.js("window.fetch = honest; $('alarm').querySelector('button').click()")
    until_at(page, "b")
    assert page.text("#alarm") == ""
    with Collection(str(whole)) as opened:
        assert [(one.docno, one.grade) for one in opened.judgements.current(["ann"])] == [("a", 1)]
    cut(page)
    page.press("0")
    until(lambda: page.text("#alarm").startswith("NOT SAVED: 0 not relevant."))
    page.js("$('alarm').querySelector('button').focus()")
    page.press("u")
    until(lambda: page.text("#alarm") == "")
    assert page.js("document.activeElement.id") == "document"
    assert page.text("#stands") == "b, document 2 of 4: unjudged"
    cut(page)
    page.press("2")
    until(lambda: page.text("#alarm").startswith("NOT SAVED: 2 relevant."))
    page.js("isLeaving = true")  # the browser would ask
    page.reload()
    until(lambda: page.text("#said") == "b: 2 relevant, saved after all")
    until_at(page, "c")
    page.press("u")
    until_at(page, "b")
    assert page.text("#said") == "b: 2 relevant undone: unjudged"


def test_proxy_that_asks_for_its_login_again(whole: Path, served: Served, person: Person) -> None:
    """A redirect is followed by the page as a whole; the decision waits in the tab, and is written then."""
    page, code = person.open(served.origin), codes_of(whole, "ann")["ann"]
    enter(page, code)
    begin(page)
    until_at(page, "a")
    page.js("window.honest = fetch; window.fetch = (_, asked) => honest('/leave', asked); clock.quiet -= 1e3")
    page.load("Runtime.evaluate", expression="run(1)")
    enter(page, code)
    until_at(page, "b")
    with Collection(str(whole)) as opened:
        assert [(one.docno, one.grade) for one in opened.judgements.current(["ann"])] == [("a", 1)]


def test_two_windows_of_one_judge(whole: Path, served: Served, person: Person) -> None:
    """The second says that there is another; what it would write over it asks about, and either can stand."""
    first = person.open(served.origin)
    enter(first, codes_of(whole, "ann")["ann"])
    begin(first)
    until_at(first, "a")
    first.judge("1")
    until_at(first, "b")
    second = person.open(served.origin.replace("//", "//who:what@"))  # as for a login of a proxy
    until(lambda: second.js("document.querySelector('#topics') !== null"))
    second.press("Enter")
    until_at(second, "b")
    assert "another sitting of yours" in second.text("#said:not(.urgent)")
    first.judge("0")
    until_at(first, "c")
    second.judge("2")
    assert second.text("#box-title") == "Decided elsewhere"
    second.press("k")
    until_at(second, "c")
    assert second.text("#said") == "b: 0 not relevant kept"
    first.press("p")
    until_at(first, "b")
    first.judge("1", "r")
    until_at(first, "c")
    with Collection(str(whole)) as opened:
        grades = [one.grade for one in opened.judgements.history(["ann"]) if one.docno == "b"]
    assert grades == [0, 2, 0, 1]  # what was not kept is taken back at once


def scenes(page: Page, served: Served, codes: dict[str, str]) -> Iterator[str]:
    """Go through everything that is shown to judge, adjudicator and organiser, one state after the other."""
    page.go(served.origin)
    yield "code"
    enter(page, "wrong")
    yield "wrong code"
    page.go(served.origin)
    enter(page, codes["ann"])
    yield "inbox"
    page.press("Enter")
    until(lambda: page.js("$('box').open"))
    yield "topic"
    page.press("Enter")
    until_at(page, "a")
    yield "document"
    select_words(page, "second one")
    page.press("v")
    until(lambda: page.js("document.querySelector('mark') !== null"))
    page.press("v")
    yield "marked, and marking"
    page.press("Escape")
    for key in ("e", "c", "l", "t", "?", "h", "y", "/"):
        page.press(key)
        yield f"dialog of {key}"
        if key == "e":
            page.press("a draft")
        page.press("Escape")
    page.press("/", "one", "Enter")
    yield "found, with a draft"
    page.judge("1", "s")
    until_at(page, "c")
    yield "without a text"
    page.judge("0")
    yield "without a text, asked"
    page.press("y")
    until_at(page, "d")
    page.press("<")
    assert page.js("document.querySelector('#text table') !== null")
    yield "structure"
    cut(page)
    page.press("2")
    until(lambda: page.text("#alarm").startswith("NOT SAVED"))
    yield "alarm"
    page.js("window.fetch = honest; $('alarm').querySelector('button').click()")
    until(lambda: page.js("$('box').open"))
    yield "end of topic"
    page.press("Escape")
    leave(page)
    enter(page, codes["zoe"])
    page.press("Enter")
    until(lambda: page.js("$('box').open || $('stands') !== null"))
    if page.js("$('box').open"):
        page.press("Enter")
    until_at(page, "a")
    assert "why" in page.text("#opinions")
    yield "opinions"
    leave(page)
    enter(page, served.organiser_code)
    assert "cleo" in page.text("main")
    yield "progress"
    page.ask("Network.clearBrowserCookies")


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_nothing(whole: Path, served: Served, person: Person, theme: str, width: int) -> None:
    """No violation of any rule of axe-core in any state, and nothing to scroll sideways."""
    axe = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    page = person.open(served.origin)
    page.size(width, 844, mobile=width < 400)
    page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    faults = {}
    for scene in scenes(page, served, codes_of(whole, "ann", "zoe")):
        page.js(f"window.axe ?? (() => {{ {axe} }})(); 1")
        found = page.js("axe.run().then(r => JSON.stringify([r.passes.length, r.violations.map(v =>"
                        " [v.id, v.nodes.map(n => n.html)])]))")  # fmt: skip
        n_passed, violations = json.loads(found)
        assert n_passed > 10, scene
        if violations:
            faults[scene] = violations
        if page.js("document.documentElement.scrollWidth") > width:
            faults[f"{scene}, sideways"] = page.js("document.documentElement.scrollWidth")
    assert faults == {}


JUDGES = ("ann", "bob", "cy", "dee")


def free_port() -> int:
    """Return a port that nobody listens at."""
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
                        page.press(codes[judge], "Enter")
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


@pytest.mark.usefixtures("started_by_users")
def test_nothing_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """With four browsers judging: every decision that was called saved is there, once, and none besides."""
    found = check_kills(tmp_path, 2, 60)
    assert found["saved"] >= 8


@pytest.mark.long
@pytest.mark.usefixtures("started_by_users")
def test_nothing_is_lost_when_the_server_is_killed_a_hundred_times(tmp_path: Path) -> None:
    """The same a hundred times (`POOLER_KILLS`)."""
    n_kills = int(os.environ.get("POOLER_KILLS", "100"))
    found = check_kills(tmp_path, n_kills, 12 * n_kills + 20)
    print(found)  # noqa: T201 - the count for the notes
    assert found["saved"] >= 4 * n_kills
