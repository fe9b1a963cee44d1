"""Pages of small collections, servers that serve them, and somebody who asks as a browser does."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from store.collection import Collection
from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.run import environment, program, run_inside
from tests.helpers.saved_pages import block
from tests.helpers.world import make_pool, new_collection, parse_scale

HOSTILE = (
    "</script><script>window.owned = 1</script> <img src=x onerror='window.owned = 2'> &lt; \\u003c <!-- ]]>"
    " \x1b[2J \x07\x9b \u202eesrever\u202c \u2028 \r\n\t שלום עולם 👩\u200d👩\u200d👧 end."
)
TEXTS = {
    "a": "The first sentence. The second one names wine. A third!",
    "b": "Nothing of it here.",
    "c": None,
    "d": "wine " * 400 + "\nand an end.",
}


def make_whole(file: Path, *, texts: dict[str, str | None] | None = None, word: str = "wine") -> Path:
    """Make a collection of two topics of the same documents, for two judges."""
    texts = TEXTS if texts is None else texts
    with Collection.create(str(file), name=word, scale=parse_scale("0-2"), program="x") as made:
        made.topics.add([Topic("1", f"red {word}", f"What of {word}?", "All of it."), Topic("2", "white")])
        made.pools.add(make_pool({"1": [*texts], "2": [*texts][:2]}))
        made.documents.add([Document(docno, f"Title {docno}", text) for docno, text in texts.items()])
        made.guidelines.add("# How\n\n- **2** if *all*\n- else 0\n\n[link](http://x.invalid)\n")
        for judge in ("ann", "bob"):
            made.judges.add(judge, JudgeKind.HUMAN)
    return file


def make_page(whole: Path, judge: str = "ann", name: str | None = None) -> Path:
    """Export a judge's page beside a collection."""
    page = whole.with_name(f"{name or judge}.html")
    command = ["export", "work", judge, "--out", page, "--collection", whole]
    run_inside(*command).fine()
    return page


def shown_data(page: Path) -> dict[str, Any]:
    """Return what a page shows."""
    return dict(json.loads(block(page, "data")))


HTML = """<h1 onclick="window.owned=1">Red wine</h1><ul><li>one <a href="https://x.invalid/a">link</a></li></ul>
<table><tr><th colspan="2">head</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="https://x.invalid/p.png" alt="a cask" onerror="window.owned=2">
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" alt="a dot">
<script>window.owned = 3</script><svg><script>window.owned = 4</script></svg><form><input name="x"></form>"""
"""What looks like something, and much that would act."""


MARKED_UP = [
    Document("a", "", "<h1>Red 😀 wine</h1><p>of Rhône</p>", (("url", "http://a"), ("date", "1991")), "html"),
    Document("b", "", "<p> <br></p>", (), "html"),
    Document("c", "", None, (("date", "1992"),)),
    Document("d", "", " \n "),
]
"""With fields and a heading; and three of which there is nothing to read, each for another reason."""


def make_described(file: Path) -> Path:
    """Make a collection of documents with markup and fields, of which judges are shown two."""
    make_whole(file, texts=dict.fromkeys("abcd"))
    with Collection(str(file)) as opened:
        opened.documents.add(MARKED_UP, fields=["date", "url"])
    return file


PATIENCE_S = 60.0
WINDOW = "0123456789abcdef"


def make_collection(file: Path | str, n_documents: int, *judges: str) -> None:
    """Make a collection of one topic, in which every judge has all documents."""
    docnos = [f"d{number:03}" for number in range(n_documents)]
    with new_collection(str(file)) as made:
        made.topics.add([Topic("1", "bridges")])
        made.pools.add(Pool([PoolEntry("1", docno, place) for place, docno in enumerate(docnos)], {}))
        made.documents.add([Document(docno, f"Title {docno}", f"Some text of {docno}.") for docno in docnos])
        made.guidelines.add("# How\n\nAs you like.\n")
        for judge in judges:
            made.judges.add(judge, JudgeKind.HUMAN)


def codes_of(file: Path | str, *judges: str) -> dict[str, str]:
    """Give codes to judges."""
    with Collection(str(file)) as opened:
        return {judge: opened.codes.give(judge) for judge in judges}


def judged(file: Path | str) -> dict[tuple[str, str], int | None]:
    """Return the grades there are, by judge and docno."""
    with Collection(str(file)) as opened:
        return {(one.judge, one.docno): one.grade for one in opened.judgements.current()}


class Served:
    """A server that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said = ""
        self._hearing = threading.Thread(target=self._hear, daemon=True)
        self._hearing.start()
        self.wait_for("stops it")
        found = re.search(r"judges open (\S+)", self.said)
        organiser = re.search(r"/progress, code (\S+)", self.said)
        assert found is not None
        assert organiser is not None
        self.origin, self.organiser_code = found[1], organiser[1]

    def _hear(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line

    def wait_for(self, words: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while words not in self.said:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < end, self.said
            time.sleep(0.01)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE_S)
        self._hearing.join(PATIENCE_S)
        return code


@contextmanager
def serving(file: Path | str, *options: str) -> Iterator[Served]:
    """Serve a collection at any free port, or that of the options."""
    port = () if "--port" in options else ("--port", "0")
    process = subprocess.Popen(
        [*program(), "serve", *port, "--collection", str(file), *options],
        stderr=subprocess.PIPE,
        text=True,
        env=environment({}),
    )
    try:
        yield Served(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE_S)
        if process.stderr is not None:
            process.stderr.close()


class Visitor:
    """Somebody with a browser: asks with the headers of one, and keeps the cookie."""

    def __init__(self, served: Served, *, at: str | None = None) -> None:
        self.origin = served.origin
        self._at = at or served.origin
        self.cookie = ""

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str | None] = {}
    ) -> tuple[int, str, dict[str, str]]:
        """Ask for something; return status, body and headers. A header ``None`` is left out."""
        parts = urlsplit(self._at)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
        named = {"Host": self.origin.partition("://")[2], "Origin": self.origin, "Cookie": self.cookie}
        sent = {name: value for name, value in (named | {**headers}).items() if value}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        text, told = answer.read().decode(), dict(answer.getheaders())
        connection.close()
        if kept := told.get("set-cookie"):
            self.cookie = kept.partition(";")[0]
        return answer.status, text, told

    def enter(self, code: str, **headers: str) -> int:
        form = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return self.ask("POST", "/enter", urlencode({"code": code}).encode(), form)[0]

    def act(self, verb: str, window: str = WINDOW, **asked: Any) -> tuple[int, Any]:
        """Ask what a window of the page asks; return status and answer."""
        body = json.dumps({"window": window, **asked}).encode()
        status, text, _ = self.ask("POST", f"/api/{verb}", body, {"Content-Type": "application/json"})
        return status, json.loads(text) if text.startswith(("{", "[", "n")) else text

    def decide(self, docno: str, revision: int, window: str = WINDOW, **said: Any) -> tuple[int, Any]:
        """Record what a judge does; `said` are the fields of the record that differ from a grade 1."""
        return self.act("record", window, **asked_of(docno, revision, window, **said))


def asked_of(docno: str, revision: int, window: str = WINDOW, **said: Any) -> dict[str, Any]:
    """Return what a page asks to record."""
    more = {name: said.pop(name) for name in ("keep", "sha256", "versions") if name in said}
    moment = datetime(2026, 11, 29, 9, 0, 0, tzinfo=UTC).isoformat()
    record = {"window": window, "number": 1, "opened_at": moment, "topic": "1", "docno": docno}
    record |= {"revision": revision, "action": "judge", "grade": 1, "reason": "", "position": 0}
    record |= {"shown_at": moment, "judged_at": moment, "dwell_ms": 900, "active_ms": 900, "dropped_keys": 0}
    record |= dict.fromkeys(("undoes", "note", "passages", "view"))
    return {"record": record | said, "sha256": None, "versions": [1, 1], **more}
