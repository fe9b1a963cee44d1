"""Pages of small collections, as `pooler export work` makes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from store.collection import Collection
from store.records import Document, JudgeKind, Topic
from tests.helpers.run import run_inside
from tests.helpers.saved_pages import block
from tests.helpers.world import make_pool, parse_scale

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
