"""Tables of results: CSV, TSV and the like, whose header names the columns, as search engines write them.

A row becomes the line of a run file, with tabs between the fields, so that all that makes a run sound is said
in one place, `pooler.reading.strict`. Rows of a topic need not stand together. Without a column of scores
documents are scored by minus their rank; without one of runs the run is called as the file is.
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
    # `corpus_id` beside a score is the qrels of BEIR.
    "docno": (*(name for name in HEADERS["docno"] if name != "corpus_id"), "id"),
    "rank": ("rank", "position", "pos"),
    "score": ("score", "similarity", "sim"),
    "run": ("run", "run_id", "run_tag", "tag", "system", "engine"),
}
NO_RANK = "-"
"""What a line has for a rank where no column of a table has ranks."""
_TEXT_HINT = "a query's text is looked for among the titles of a collection: pooler import runs"
_RUNS_HINT = "a file holds one run: write the rows of each to a file of its own"


def layout_of(line: bytes) -> Layout | None:
    """Return the columns that a header names; ``None`` = it is not that of results.

    >>> layout_of(b"query,doc_id,position").columns, layout_of(b"1 Q0 d1 1 2.5 bm25")
    ('topic docno rank', None)
    """
    for separator in SEPARATORS:
        layout = header_layout(Layout("", separator), line, {"topic", "docno"}, _HEADERS)
        if layout is not None and not {"rank", "score"}.isdisjoint(layout.columns.split()):
            return layout
    return None


def tag_of(path: str) -> str:
    """Name a run after its file, in letters that every tool takes.

    >>> tag_of("out/new ranking.csv.gz")
    'new_ranking'
    """
    return re.sub(r"[^A-Za-z0-9-]+", "_", "" if path == STDIN else PurePath(path).name.split(".")[0]) or "run"


def ids_by_title(topics: Iterable[Topic]) -> dict[str, str]:
    """Return the ids of topics by titles, in one case and with single blanks, that no two of them have."""
    keys = [(" ".join(one.title.split()).casefold(), one.topic) for one in topics]
    n_topics = Counter(key for key, _ in keys)
    return {key: topic for key, topic in keys if n_topics[key] == 1}


def as_run_lines(
    lines: Iterable[tuple[int, bytes]], layout: Layout, faults: FaultList, titles: Mapping[str, str] | None
) -> Iterator[tuple[int, bytes]]:
    """Yield the rows of a table, whose header has been read, as lines of a run, topic by topic.

    `titles`: ids of topics by `ids_by_title`, for queries that are named by their text.
    """
    names, ids = layout.columns.split(), {*(titles or {}).values()}
    places = {name: names.index(name) for name in _HEADERS if name in names}
    tag, tags, untitled = tag_of(faults.path), set[str](), set[str]()
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
            cells = {name: " ".join(row[place].split()) for name, place in places.items()}
            topic, docno, rank = cells["topic"], cells["docno"], cells.get("rank", NO_RANK)
            if titles is not None and topic not in ids:
                topic = titles.get(topic.casefold(), topic)
            if " " in topic and topic not in untitled:
                untitled.add(topic)
                expected = "a topic id" if titles is None else "the title of one topic"
                faults.add(number, f"expected {expected}, got the query `{topic}`", "id")
                faults.hint = _TEXT_HINT if titles is None else "`pooler show topics` has the titles"
            run, score = cells.get("run", tag), cells.get("score", f"-{rank}")
            tags.add(run)
            checks = {"topic id": topic_fault(topic), "docno": id_fault(docno), "run tag": id_fault(run)}
            checks["score"] = None if score else "expected a number, got nothing"
            if fault := next(((what, one) for what, one in checks.items() if one), None):
                if topic not in untitled:
                    faults.add(number, ": ".join(fault), "score" if fault[0] == "score" else "id")
                continue
            line = "\t".join((topic, "Q0", docno, rank or NO_RANK, score, run))
            found.setdefault(topic, []).append((number, line.encode(errors="surrogateescape")))
    except csv.Error as error:
        between = SEPARATORS[layout.separator]
        faults.add(rows.line_num + 1, f"expected cells with {between} between: {error}", "fields")
    if len(tags) > 1:
        faults.hint = _RUNS_HINT
    for of_topic in found.values():
        yield from of_topic
