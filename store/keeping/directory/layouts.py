"""A collection as other programs read it: a BEIR folder, or TREC's files; with the data card of the whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from sqlalchemy import select

from store.content.documents import fetch_metadata
from store.db.tables import DOCUMENT, TOPIC
from store.errors import ArgumentError
from store.formats import Layout
from store.formats.qrels import QrelCells
from store.formats.syntax.json_lines import json_line
from store.keeping.directory.manifest import MANIFEST, README
from store.keeping.directory.tables import ExportChoice, Outgoing
from store.records import Document, Topic
from store.text import natural_key

CORPUS, QUERIES, TOPICS, DOCUMENTS = "corpus.jsonl", "queries.jsonl", "topics.trec", "documents.trec"
FILES = {
    CORPUS: "documents with a text: `_id`, `title`, `text`, and their fields in `metadata`",
    QUERIES: "topics with a text: `_id`, `text` (the title; the description of one without), and what else"
    " the topic says in `metadata`",
    TOPICS: "topics with a text, as `<top>` records",
    DOCUMENTS: "documents with a text, as `<DOC>` records; without their fields",
}
BEIR_FOLDERS = {"qrels/": "topic, docno, grade between tabs, below a header: a file a split"}
KEPT: dict[Layout, tuple[str, ...]] = {
    "beir": (CORPUS, QUERIES, "qrels/", README, MANIFEST),
    "trec": (TOPICS, DOCUMENTS, "qrels/", "runs/", "runs.tsv", README, MANIFEST),
}
"""How the names of the files begin that are in a folder."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")


def check_layout(choice: ExportChoice) -> None:
    """Raise `ArgumentError` where a layout has no place for what is asked for, or cannot be without."""
    if choice.layout == "beir" and not choice.texts:
        requirement = "goes with a layout that can be without documents; a BEIR folder cannot"
        raise ArgumentError("--without-texts", requirement, None)


def is_kept(layout: Layout, name: str) -> bool:
    """Say whether a file is written; one that is not is gone through for the data card alone."""
    return layout not in KEPT or name.startswith(KEPT[layout])


def write_layout(out: Outgoing) -> None:
    """Write topics and documents with a text as others read them."""
    if out.export_choice.layout == "beir":
        _write_lines(out, QUERIES, map(_query, _topics(out)))
        _write_lines(out, CORPUS, map(_entry, _documents(out)))
    elif out.export_choice.layout == "trec":
        _write_lines(out, TOPICS, map(_top, _topics(out)))
        if out.export_choice.texts:
            _write_lines(out, DOCUMENTS, map(_doc, _documents(out)))


def beir_lines(cells: Iterable[QrelCells]) -> Iterator[str]:
    """Yield the lines of BEIR's qrels: a header, topic, docno and grade between tabs."""
    yield "query-id\tcorpus-id\tscore"
    yield from (f"{topic}\t{docno}\t{grade}" for topic, _, docno, grade in cells)


def _write_lines(out: Outgoing, name: str, lines: Iterable[str]) -> None:
    """Write a file."""
    with out.writer.text(name) as stream:
        stream.writelines(f"{line}\n" for line in lines)


def _topics(out: Outgoing) -> Iterator[Topic]:
    """Yield topics with a text, in natural order."""
    rows = out.session.execute(select(TOPIC))
    for row in sorted(rows, key=lambda row: natural_key(row.number)):
        topic = Topic(row.number, row.title, row.description, row.narrative)
        if row.title.strip() or row.description.strip() or row.narrative.strip():
            yield topic


def _documents(out: Outgoing) -> Iterator[Document]:
    """Yield documents with a text, docnos bytewise."""
    known = fetch_metadata(out.session)
    query = select(DOCUMENT).where(DOCUMENT.c.text.is_not(None)).order_by(DOCUMENT.c.docno)
    with out.session.connection().execute(query, execution_options={"yield_per": 500}) as result:
        for row in result:
            _, fields = known.get(row.id, (None, {}))
            yield Document(row.docno, row.title or "", row.text, tuple(fields.items()))


def _query(topic: Topic) -> str:
    """Write a line of `QUERIES`."""
    texts = {"title": topic.title, "description": topic.description, "narrative": topic.narrative}
    there = {name: text for name, text in texts.items() if text.strip()}
    first = next(iter(there))
    return json_line({"_id": topic.topic, "text": there.pop(first), "metadata": there})


def _entry(document: Document) -> str:
    """Write a line of `CORPUS`."""
    texts = {"title": document.title, "text": document.text, "metadata": dict(document.fields)}
    return json_line({"_id": document.docno, **texts})


def _top(topic: Topic) -> str:
    """Write a ``<top>`` record."""
    title = _on_one_line(topic.title)
    return (
        f"<top>\n<num> Number: {topic.topic}\n<title> {title}\n\n<desc> Description:\n"
        f"{_marked(topic.description)}\n\n<narr> Narrative:\n{_marked(topic.narrative)}\n</top>\n"
    )


def _doc(document: Document) -> str:
    """Write a ``<DOC>`` record."""
    title = f"<TITLE>{_on_one_line(document.title)}</TITLE>\n" if document.title.strip() else ""
    return (
        f"<DOC>\n<DOCNO>{document.docno}</DOCNO>\n{title}"
        f"<TEXT>\n{_marked(document.text or '')}\n</TEXT>\n</DOC>"
    )


def _marked(text: str) -> str:
    """Write text that is no markup; what UTF-8 has no bytes for is U+FFFD."""
    return escape(_SURROGATES.sub("\ufffd", text), quote=False)


def _on_one_line(text: str) -> str:
    """Write text on one line."""
    return _marked(_BLANKS.sub(" ", text).strip())
