"""A page of 5,000 documents of 3 KB: how large it is, and what its judge and the organiser wait for."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from store.collection import Collection
from store.formats.scale import parse_scale
from store.records import Document, JudgeKind, Topic
from tests.benchmarks.timing import in_folder, once
from tests.helpers.world import make_pool
from tests.judge_ui.page.browser import Browser, Person
from tests.judge_ui.page.pages import make_page
from tests.judge_ui.page.test_page_in_browser import begin, bring_back, saved

DOCUMENTS, TOPICS = 5000, 50

JUDGE_ALL = """(() => {
    const began = performance.now();
    for (const topic of data.topics) for (const task of topic.queue) {
        here = task;
        startClock();
        decide({action: "judge", grade: 1}, "1");
        document.getElementById("box").close();
    }
    return performance.now() - began;
})()"""
"""Every document once, by the page's own code, faster than a finger could."""


def make_large(file: Path) -> int:
    """Make the collection, and return how many bytes of text it has."""
    words = [f"word{number}" for number in range(997)]
    texts = [" ".join(words[(n * 7 + k * 13) % 997] for k in range(420)) + ". End." for n in range(500)]
    docnos = [f"DOC-{number:05d}" for number in range(DOCUMENTS)]
    a_topic = DOCUMENTS // TOPICS
    with Collection.create(str(file), name="w", scale=parse_scale("0-2"), program="x") as made:
        made.topics.add([Topic(str(number), f"word{number}") for number in range(TOPICS)])
        queues = {str(n): docnos[n * a_topic : (n + 1) * a_topic] for n in range(TOPICS)}
        made.pools.add(make_pool(queues))
        made.documents.add([Document(docno, docno, texts[n % 500]) for n, docno in enumerate(docnos)])
        made.judges.add("ann", JudgeKind.HUMAN)
    return sum(len(texts[n % 500]) for n in range(DOCUMENTS))


def large_page(folder: Path) -> None:
    """Print how large it is beside its texts, and the times; see that all that is done comes back."""
    whole = folder / "whole.db"
    n_bytes = make_large(whole)
    began = time.perf_counter()
    file = make_page(whole)
    took, size = time.perf_counter() - began, file.stat().st_size
    print(f"a page of {DOCUMENTS:,} documents")
    print(f"  export {took:.1f} s, {size / 1e6:.1f} of {n_bytes / 1e6:.1f} MB text")
    assert size < 1.2 * n_bytes
    with Browser(folder) as browser:
        began = time.perf_counter()
        page = Person(browser, folder).open(file)
        print(f"  opened in {time.perf_counter() - began:.2f} s")
        begin(page)
        print(f"  {page.js(JUDGE_ALL) / DOCUMENTS:.2f} ms a decision")
        assert page.text("#kept").startswith("kept in this browser")
        print(f"  all decided, opened again in {once(page.reload):.2f} s")
        assert "100 of 100 decided" in page.text("#topics")
        done = saved(page)
        print(f"  saved {done.stat().st_size / 1e6:.1f} MB")
    began = time.perf_counter()
    assert len(bring_back(whole, done)) == DOCUMENTS
    print(f"  imported in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    if shutil.which("chromium"):
        in_folder(large_page)
    else:
        print("chromium: absent")
