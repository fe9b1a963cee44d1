"""Key press to the next document painted, on the served page: with others judging beside, and as a file.

`python -m tests.benchmarks.key_to_paint` prints the median and the 95th percentile of 60 keys in
milliseconds, on SQLite and PostgreSQL, with 0, 19 and 49 simulated judges at one decision a second each;
documents of 5 KB.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from pathlib import Path
from statistics import median, quantiles

from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.postgres import empty_schema, postgres_server
from tests.helpers.run import run_inside
from tests.helpers.world import new_collection
from tests.judge_ui.page.browser import Browser, Page, until
from tests.web.served import Visitor, codes_of, serving

N_KEYS, N_DOCUMENTS = 60, 400
WATCH = """
    window.took = []; let pressed = 0, before = "";
    addEventListener("keydown", event => {
      [pressed, before] = [event.timeStamp, $("docname")?.textContent];
    }, true);
    new MutationObserver(() => {
      if (!pressed || $("docname")?.textContent === before) return;
      const began = pressed; pressed = 0;
      requestAnimationFrame(() => setTimeout(() => took.push(performance.now() - began)));
    }).observe($("main"), {childList: true});
"""


def fill(where: str, judges: list[str]) -> None:
    """Make a collection of documents of 5 KB."""
    docnos = [f"d{number:04}" for number in range(N_DOCUMENTS)]
    with new_collection(where) as made:
        made.topics.add([Topic("1", "iron bridges", "Which bridges are of iron?", "Any bridge.")])
        made.pools.add(Pool([PoolEntry("1", docno, place) for place, docno in enumerate(docnos)], {}))
        texts = (
            "A bridge of iron and stone, as it was. " * 128,
            "Of water and its ways, and of fords. " * 140,
        )
        made.documents.add(
            [Document(docno, f"Title {docno}", texts[n % 2]) for n, docno in enumerate(docnos)]
        )
        for judge in judges:
            made.judges.add(judge, JudgeKind.HUMAN)


def press(page: Page) -> list[float]:
    """Judge documents by keys; return milliseconds from key to paint."""
    page.js(WATCH)
    for number in range(N_KEYS):
        until(lambda: page.js("!isBusy && performance.now() - clock.quiet > data.dwell_ms + 50"))
        page.press(str(number % 3))
        until(lambda number=number: page.js("took.length") > number)
    return [float(one) for one in page.js("took")]


def begin(page: Page) -> None:
    """Go to the first document."""
    until(lambda: page.js("document.querySelector('#topics button') !== null"))
    page.js("document.querySelector('#topics button').click()")
    until(lambda: page.js("document.getElementById('box').open"))
    page.press("Enter")
    until(lambda: page.js("document.getElementById('text') !== null"))


def told(what: str, took: list[float]) -> None:
    """Print a line."""
    print(f"{what:45} p50 {median(took):5.0f}  p95 {quantiles(took, n=20)[-1]:5.0f}", flush=True)


def served(where: str, n_others: int, browser: Browser, folder: Path) -> list[float]:
    """Judge beside others."""
    others = [f"j{number:02}" for number in range(n_others)]
    fill(where, ["me", *others])
    codes, stop = codes_of(where, "me", *others), threading.Event()
    with serving(where) as server:

        def work(judge: str) -> None:
            visitor = Visitor(server)
            assert visitor.enter(codes[judge]) == 303
            time.sleep(random.Random(judge).random())  # nobody presses keys in step with others
            for number in range(N_DOCUMENTS):
                begun = time.monotonic()
                docno = f"d{number:04}"
                visitor.act("document", topic="1", docno=docno)
                while visitor.decide(docno, 1, versions=[None, 1])[0] == 503:
                    time.sleep(1)
                if stop.wait(max(0.0, 1 - (time.monotonic() - begun))):
                    return

        threads = [threading.Thread(target=work, args=(one,)) for one in others]
        with browser.person(folder) as person:
            page = person.open(Path(__file__))
            page.go(server.origin)
            page.js("document.getElementById('code').focus()")
            page.write(codes["me"])
            page.press("Enter")
            begin(page)
            for one in threads:
                one.start()
            took = press(page)
        stop.set()
        for one in threads:
            one.join()
    return took


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name, Browser(Path(name)) as browser, postgres_server() as server:
        folder = Path(name)
        for n_others in (0, 19, 49):
            where = str(folder / f"c{n_others}.db")
            told(f"served, {n_others} others, SQLite", served(where, n_others, browser, folder))
            where = empty_schema(server)
            told(f"served, {n_others} others, PostgreSQL", served(where, n_others, browser, folder))
        file = folder / "file.db"
        fill(str(file), ["me"])
        run_inside("export", "work", "me", "--out", folder / "me.html", "--collection", file).fine()
        with browser.person(folder) as person:
            page = person.open(folder / "me.html")
            begin(page)
            told("offline, a file", press(page))


if __name__ == "__main__":
    main()
