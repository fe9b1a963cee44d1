"""What is in a page: the keys of the screen, nothing of runs and of others, nothing that acts."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from judge_ui.session.keys import Command, key_table
from judge_ui.session.messages import EMPTY_TEXT, NO_TEXT, NOTHING_TO_READ
from judge_ui.text.finding import query_terms
from judge_ui.text.marking import sentence_spans
from pooler.web.origin import Origin
from store.collection import Collection
from store.errors import ArgumentError
from store.records import Action, JudgeKind, Topic
from store.text import sanitise
from tests.helpers.pages import HOSTILE, make_described, make_page, make_whole, shown_data
from tests.helpers.run import run_inside
from tests.helpers.twin_worlds import PLACES, SECRETS, make_world
from tests.helpers.wine import work
from tests.helpers.world import parse_scale


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Make a small collection."""
    return make_whole(tmp_path / "whole.db")


@pytest.mark.parametrize("places", PLACES)
def test_page_is_blind(places: str, tmp_path: Path) -> None:
    """Where another judge has done everything and runs are there, the page is as where nobody has."""
    shown = []
    for other in (True, False):
        world = make_world(tmp_path / f"{other}", places=places, other=other)
        if places == "claimed":
            world.collection.desk("bob").claim("1")
        world.collection.close()
        page = make_page(tmp_path / f"{other}" / "c.db", "bob")
        assert not SECRETS.search(page.read_text("utf-8"))
        data = shown_data(page)
        shown.append({name: data[name] for name in ("topics", "documents", "keys", "grades", "judge")})
    assert shown[0]["documents"] or places == "claimed"
    if places != "claimed":  # there the other judge has taken places
        assert shown[0] == shown[1]


def test_page_has_what_the_screen_has(whole: Path) -> None:
    """Queue, state, note, lit words, sentences and keys are those of the desk and the screen."""
    work(
        whole, ("ann", "b", Action.JUDGE, 1), ("ann", "b", Action.NOTE, "why"), ("ann", "b", Action.MARK, "")
    )
    data = shown_data(make_page(whole))
    with Collection(str(whole)) as opened:
        desk = opened.desk("ann")
        tasks = {topic: desk.queue(topic) for topic in ("1", "2")}
        text = desk.page("a").text or ""
    assert [one["topic"] for one in data["topics"]] == ["1", "2"]
    for topic in data["topics"]:
        assert [(one["docno"], one["now"]["state"], one["now"]["grade"], one["now"]["note"],
                 one["now"]["revision"]) for one in topic["queue"]] == [
            (one.docno, one.state, one.grade, one.note, one.revision) for one in tasks[topic["topic"]]
        ]  # fmt: skip
    assert data["documents"]["a"]["text"] == text
    assert data["documents"]["c"]["text"] == ""
    assert data["documents"]["a"]["sentences"] == [list(one) for one in sentence_spans(text)]
    (first,) = [one for one in data["topics"][0]["queue"] if one["docno"] == "a"]
    assert [text[start:end] for start, end in first["lit"]] == ["wine"]
    assert "wine" in query_terms(Topic("1", "red wine", "What of wine?"))
    table = key_table(parse_scale("0-2"))
    assert {key: table.meaning(key) for key in data["keys"] if key != "escape"} == {
        key: value for key, value in data["keys"].items() if key != "escape"
    }
    left_out = {command for command in Command if command.value not in data["keys"].values()}
    assert left_out == {Command.PALETTE, Command.TERMS}


def test_page_shows_of_a_document_what_the_screen_shows(tmp_path: Path) -> None:
    """Its fields in the order that was chosen, what is bold in its text, why there is nothing to read."""
    documents = shown_data(make_page(make_described(tmp_path / "w.db")))["documents"]
    first = documents["a"]
    assert first["fields"] == [["date", "1991"], ["url", "http://a"]]
    assert [first["text"][start:end] for start, end in first["strong"]] == ["Red 😀 wine"]
    assert [documents[docno]["fields"] for docno in "bcd"] == [[], [["date", "1992"]], []]
    assert [documents[docno]["missing"] for docno in "abcd"] == ["", NOTHING_TO_READ, NO_TEXT, EMPTY_TEXT]


def test_title_and_head_are_two(tmp_path: Path) -> None:
    """One names the tab and the other the page; names are shown as they are written."""
    page = make_page(make_whole(tmp_path / "w.db", word="<wine> & co")).read_text("utf-8")
    assert re.findall('<(title|p id="who")>(.*?)</[tp]', page) == [
        ("title", "&lt;wine&gt; &amp; co - ann - pooler"),
        ('p id="who"', "<strong>ann</strong> · &lt;wine&gt; &amp; co"),
    ]


def test_nothing_acts_but_the_script(tmp_path: Path) -> None:
    """Hostile texts everywhere: no tag of theirs, the policy has the hashes of script and style alone."""
    whole = make_whole(tmp_path / "w.db", texts={"a": HOSTILE, "b": HOSTILE * 2}, word=sanitise(HOSTILE))
    with Collection(str(whole)) as opened:
        opened.guidelines.add(f"# {HOSTILE}\n\n{HOSTILE}\n\n&#27;[2J &#x202e; <b onclick=x>b</b>\n")
    page = make_page(whole).read_bytes().decode()
    assert page.count("<script") == page.count("</script>") == 3
    assert "<img" not in page
    assert "<b onclick" not in page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    policy = re.search('Content-Security-Policy" content="([^"]*)"', page)
    script = re.search("<script>(.*?)</script>", page, re.DOTALL)
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)
    assert policy is not None
    assert script is not None
    assert style is not None
    hashes = [base64.b64encode(hashlib.sha256(one[1].encode()).digest()).decode() for one in (script, style)]
    assert policy[1] == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}';"
        " img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    assert "http://" not in page.replace("http://x.invalid", "")
    assert shown_data(whole.with_name("ann.html"))["documents"]["a"]["text"] == sanitise(HOSTILE)


def test_page_is_refused_where_it_makes_no_sense(whole: Path, tmp_path: Path) -> None:
    """A model, an adjudicator, nobody, two names, a file that is there, a folder that is not."""
    place = ("--collection", whole)
    with Collection(str(whole)) as opened:
        opened.judges.add("gpt", JudgeKind.MODEL)
        opened.judges.add("boss", JudgeKind.ADJUDICATOR)
        opened.judges.add("a/b", JudgeKind.HUMAN)
    told = run_inside("export", "work", "gpt", "--out", tmp_path / "x.html", *place).failed(1)
    assert "kind model, but only people judge on a page" in told.err
    told = run_inside("export", "work", "boss", "--out", tmp_path / "x.html", *place).failed(3)
    assert "adjudicator" in told.err
    told = run_inside("export", "work", *place).failed(1)
    assert "must name one judge" in told.err
    told = run_inside("export", "work", "a/b", *place).failed(1)
    assert "`--out` must name the file" in told.err
    told = run_inside("export", "work", "ann", "--out", tmp_path / "no" / "x.html", *place).failed(3)
    assert "there is no folder" in told.err
    assert not list(tmp_path.glob("*.html"))
    page = make_page(whole)
    before = page.read_bytes()
    told = run_inside("export", "work", "ann", "--out", page, *place).failed(3)
    assert "already exists" in told.err
    assert page.read_bytes() == before
    assert page.stat().st_mode & 0o777 == 0o600


def test_pages_of_all_judges_are_a_folder_or_nothing(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ended after the first page: no page is there, none was told of, and the same command goes through."""
    folder, link, made = whole.with_name("pages"), Path.hardlink_to, list[str]()
    command = ("export", "work", "--all", folder, "--collection", whole)

    def stop(self: Path, target: Path) -> None:
        if made:
            raise KeyboardInterrupt
        made.append(self.name)
        link(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "hardlink_to", stop)
        ended = run_inside(*command)
    assert (ended.code, ".html" in ended.err, folder.exists(), made) == (130, False, False, ["ann.html"])
    told = run_inside(*command).fine().err
    for judge in ("ann", "bob"):
        assert f"{folder / judge}.html: 6 documents of 2 topics, 6 unjudged" in told
        assert shown_data(folder / f"{judge}.html")["judge"] == judge
    assert [path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())] == [0o700, 0o600, 0o600]
    assert "already exists" in run_inside(*command).failed(3).err


def test_page_of_a_judge_whose_name_is_no_files_lies_in_the_folder_too(whole: Path) -> None:
    """Two names that become one have two files, and neither is elsewhere."""
    place = ("--collection", whole)
    run_inside("judges", "add", "../ann", ".ann", "_ann", *place).fine()
    folder = whole.with_name("all")
    run_inside("export", "work", "--all", folder, *place).fine()
    pages = {shown_data(path)["judge"] for path in folder.iterdir()}
    assert pages == {"ann", "bob", "../ann", ".ann", "_ann"}
    assert not whole.with_name("ann.html").exists()


@pytest.mark.parametrize(
    ("text", "origin", "hosts"),
    [
        ("https://judge.example", "https://judge.example", ("judge.example", "Judge.Example:443")),
        ("HTTPS://Judge.Example:443/", "https://judge.example", ("judge.example",)),
        ("https://judge.example:8443", "https://judge.example:8443", ("judge.example:8443",)),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", ("127.0.0.1:8000",)),
        ("http://localhost:80", "http://localhost", ("localhost", "localhost:80")),
        ("http://[::1]:8000", "http://[::1]:8000", ("[::1]:8000",)),
    ],
)
def test_origin_is_read_as_browsers_write_it(text: str, origin: str, hosts: tuple[str, ...]) -> None:
    """Small letters, no usual port, no path; a request may name the usual port."""
    read = Origin.read(text)
    assert str(read) == origin
    assert all(read.is_of(host) for host in hosts)
    assert not read.is_of("")
    assert not read.is_of(f"{read.host_header}.evil.example")


@pytest.mark.parametrize(
    "text",
    [
        "judge.example", "https://", "ftp://judge.example", "https://judge.example/wine", "https://a@judge.example",
        "https://judge.example?x", "https://judge.example#x", "https://judge.example:0", "https://judge.example:x",
        "https://judge.example:99999", "https://[::1", "https://jüdge.example", "",
    ],
)  # fmt: skip
def test_what_is_no_origin_is_refused(text: str) -> None:
    """A path, a name before the host, a port that is none."""
    with pytest.raises(ArgumentError, match="must be an address such as https://judge"):
        Origin.read(text)


@pytest.mark.parametrize("text", ["http://judge.example", "http://192.0.2.1:8000", "http://0.0.0.0"])
def test_others_come_in_by_https_alone(text: str) -> None:
    """Without encryption the cookie and every grade could be read on the way."""
    with pytest.raises(ArgumentError, match="must begin with https://"):
        Origin.read(text)
