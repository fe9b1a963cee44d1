"""Tables of results: CSV and the like, whose header names the columns, as search engines write them.

A row becomes the line of a run file, tabs between its fields: what makes a run sound stands once, in
`pooler.reading.strict`. Rows of a topic may stand apart. Without scores documents have minus their rank.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from store.errors import FaultList
from store.fields import id_fault, topic_fault
from store.formats.lines import STDIN
from store.formats.tables import HEADERS, SEPARATORS, Layout, header_layout
from store.records import Topic

_HEADERS = {
    "topic": HEADERS["topic"],
    "docno": (*(name for name in HEADERS["docno"] if name != "corpus_id"), "id"),  # that is BEIR's qrels
    "rank": ("rank", "position", "pos"),
    "score": ("score", "similarity", "sim"),
    "run": ("run", "run_id", "run_tag", "tag", "system", "engine"),
}


def layout_of(line: bytes) -> Layout | None:
    """Return the columns that a header names; ``None`` = it is not that of results."""
    for separator in SEPARATORS:
        layout = header_layout(Layout("", separator), line, {"topic", "docno"}, _HEADERS)
        if layout is not None and not {"rank", "score"}.isdisjoint(layout.columns.split()):
            return layout
    return None


def tag_of(path: str) -> str:
    """Name a run after its file, in letters that every tool takes: `new_ranking` of ``new ranking.csv``."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", "" if path == STDIN else PurePath(path).name.split(".")[0]) or "run"


def ids_by_title(topics: Iterable[Topic]) -> dict[str, str]:
    """Return the ids of topics by titles, in one case and with single blanks, that no two of them have."""
    keys = [(" ".join(one.title.split()).casefold(), one.topic) for one in topics]
    n_topics = Counter(key for key, _ in keys)
    return {key: topic for key, topic in keys if n_topics[key] == 1}


def as_run_lines(
    lines: Iterable[tuple[int, bytes]], layout: Layout, faults: FaultList, titles: Mapping[str, str] | None
) -> Iterator[tuple[int, bytes]]:
    """Yield the rows below a header as lines of a run, topic by topic; `titles`: see `ids_by_title`."""
    names, ids = layout.columns.split(), {*(titles or {}).values()}
    tags, untitled = set[str](), set[str]()
    found: dict[str, list[tuple[int, bytes]]] = {}
    rows = csv.reader((line.decode(errors="surrogateescape") for _, line in lines), **layout.dialect())
    try:
        for row in rows:
            number = rows.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(names):
                faults.add(number, f"expected {len(names)} cells, got {len(row)}", "fields")
                continue
            cells = {name: " ".join(cell.split()) for name, cell in zip(names, row, strict=True)}
            topic, docno, rank = cells["topic"], cells["docno"], cells.get("rank") or "-"
            if titles is not None and topic not in ids:
                topic = titles.get(topic.casefold(), topic)
            run, score = cells.get("run", tag_of(faults.path)), cells.get("score", f"-{rank}")
            tags.add(run)
            checks = {"topic id": topic_fault(topic), "docno": id_fault(docno), "run tag": id_fault(run)}
            checks["score"] = None if score else "expected a number, got nothing"
            if " " in topic and topic not in untitled:
                expected = "a topic id" if titles is None else "the title of one topic"
                faults.add(number, f"expected {expected}, got the query `{topic}`", "id")
                faults.hint = "queries are found by their text among the titles of a collection's topics"
                if titles is None:
                    faults.hint += ": pooler check FILE --collection FILE, pooler import runs FILE"
                untitled.add(topic)
            elif fault := next((f"{what}: {one}" for what, one in checks.items() if one), None):
                if topic not in untitled:
                    faults.add(number, fault, "score" if fault.startswith("score") else "id")
            else:
                line = "\t".join((topic, "Q0", docno, rank, score, run)).encode(errors="surrogateescape")
                found.setdefault(topic, []).append((number, line))
    except csv.Error as error:
        faults.add(rows.line_num + 1, f"expected cells as in CSV: {error}", "fields")
    if len(tags) > 1:
        faults.hint = "a file holds one run: write the rows of each to a file of its own"
    for of_topic in found.values():
        yield from of_topic
