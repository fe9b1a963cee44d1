"""A page of 5,000 documents of 3 KB: how large it is, and what its judge and the organiser wait for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from store.collection import Collection
from store.formats.scale import parse_scale
from store.records import Document, JudgeKind, Topic
from tests.helpers.world import make_pool
from tests.judge_ui.page.browser import Browser
from tests.judge_ui.page.pages import make_page
from tests.judge_ui.page.test_page_in_browser import begin, merge, saved

pytestmark = [pytest.mark.benchmark, pytest.mark.chromium]

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


def test_large_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is hardly larger than its texts, what is done fits the browser, and all of it comes back."""
    whole = tmp_path / "whole.db"
    n_bytes = make_large(whole)
    told, began = [], time.perf_counter()
    file = make_page(whole)
    size = file.stat().st_size
    told.append(
        f"export {time.perf_counter() - began:.1f} s, {size / 1e6:.1f} of {n_bytes / 1e6:.1f} MB text"
    )
    assert size < 1.2 * n_bytes
    with Browser(tmp_path) as browser:
        began = time.perf_counter()
        page = browser.open(file)
        told.append(f"opened in {time.perf_counter() - began:.2f} s")
        begin(page)
        told.append(f"{page.js(JUDGE_ALL) / DOCUMENTS:.2f} ms a decision")
        assert page.text("#kept").startswith("kept in this browser")
        began = time.perf_counter()
        page.reload()
        told.append(f"all decided, opened again in {time.perf_counter() - began:.2f} s")
        assert "100 of 100 decided" in page.text("#topics")
        done = saved(page)
        told.append(f"saved {done.stat().st_size / 1e6:.1f} MB")
    began = time.perf_counter()
    assert len(merge(whole, done)) == DOCUMENTS
    told.append(f"merged in {time.perf_counter() - began:.1f} s")
    with capsys.disabled():
        print(f"\na page of {DOCUMENTS:,} documents", *told, sep="\n  ")  # noqa: T201 - a benchmark prints
