"""The Cystic Fibrosis collection as tests see it: documents, questions, and four judges.

Shaw, Wood, Wood and Tibbo, "The Cystic Fibrosis Database: Content and Research Opportunities",
*Library and Information Science Research* 13, 347-366, 1991. 1,239 documents, 100 questions and
4,819 (question, document) pairs graded 0, 1 or 2 by four judges. A test that asks for it is
skipped where it is absent.

Docnos and topics are written without leading zeros, as `cfquery` writes the documents it lists;
everywhere else in the files they are padded to five digits.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from store.records import Document, Judgement, State, Topic
from tests.helpers.shared_data import shared_data

JUDGES = ("REW", "colleagues", "post-docs", "JBW")
"""In the order of the four digits of a score."""
SCALE = (0, 1, 2)

_YEARS = range(74, 80)
_FIELD = re.compile("(PN|RN|AN|AU|TI|SO|MJ|MN|AB|EX|RF|CT|QN|QU|NR|RD) (.*)")
_SCORED = re.compile(r"(\d+) +([0-2]{4})\b")
_PADDING = "\x1a"


def data_path(name: str) -> Path:
    """Return the path of one file of the data, or skip the test."""
    return shared_data(f"cf/{name}")


@cache
def load_topics() -> tuple[Topic, ...]:
    """Return the 100 questions, in file order; the question is the title."""
    records = _read_records(data_path("cfquery"), "QN")
    return tuple(Topic(_number(record["QN"]), record["QU"]) for record in records)


@cache
def load_documents() -> tuple[Document, ...]:
    """Return the 1,239 documents in file order; the text is the abstract or the extract."""
    return tuple(
        Document(_number(record["RN"]), record["TI"], record.get("AB", record.get("EX")))
        for year in _YEARS
        for record in _read_records(data_path(f"cf{year}.gz"), "PN")
    )


@cache
def load_judgements() -> tuple[Judgement, ...]:
    """Return the 4 x 4,819 judgements: question, then document, then judge, in file order."""
    return tuple(
        Judgement(_number(record["QN"]), docno, judge, State.JUDGED, int(digit))
        for record in _read_records(data_path("cfquery"), "QN")
        for docno, score in _SCORED.findall(record["RD"])
        for judge, digit in zip(JUDGES, score, strict=True)
    )


def write_topics(folder: Path) -> Path:
    """Write `topics.jsonl`, keys topic, title, description, narrative, and return its path."""
    rows = (
        {
            "topic": topic.topic,
            "title": topic.title,
            "description": topic.description,
            "narrative": topic.narrative,
        }
        for topic in load_topics()
    )
    return _write_jsonl(folder / "topics.jsonl", rows)


def write_documents(folder: Path) -> Path:
    """Write `documents.jsonl`, keys docno, title, text, and return its path."""
    rows = (
        {"docno": document.docno, "title": document.title, "text": document.text}
        for document in load_documents()
    )
    return _write_jsonl(folder / "documents.jsonl", rows)


def write_qrels(folder: Path) -> dict[str, Path]:
    """Write one TREC qrels file a judge, `REW.qrels` and so on; return the paths by judge."""
    paths = {judge: folder / f"{judge}.qrels" for judge in JUDGES}
    for judge, path in paths.items():
        lines = [
            f"{row.topic} 0 {row.docno} {row.grade}\n" for row in load_judgements() if row.judge == judge
        ]
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return paths


def _read_records(path: Path, first: str) -> Iterator[dict[str, str]]:
    """Read records that begin with field `first`; wrapped lines are joined by a blank."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    # The first line of one extract has the high bit set on the last letter of every word, its
    # field tag included; all else is ASCII.
    text = bytes(byte & 0x7F for byte in content).decode("ascii").replace(_PADDING, "")
    fields: dict[str, list[str]] = {}
    tag = ""
    for line in text.splitlines():
        if match := _FIELD.match(line):
            tag = match[1]
            if tag == first and fields:
                yield _joined(fields)
                fields = {}
            fields[tag] = [match[2]]
        elif line.strip():
            # Most wrapped lines are indented, a few are not.
            fields[tag].append(line)
    yield _joined(fields)


def _joined(fields: dict[str, list[str]]) -> dict[str, str]:
    """Join the lines of every field, blanks squeezed to one."""
    return {tag: " ".join(" ".join(lines).split()) for tag, lines in fields.items()}


def _number(text: str) -> str:
    """Strip the padding of a number."""
    return str(int(text))


def _write_jsonl(path: Path, rows: Iterable[dict[str, str | None]]) -> Path:
    """Write one JSON object a line."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path
