"""The snippet of a directory's README that reads it with Python's own library alone."""

from __future__ import annotations

_HEAD = """\
import json
from collections import namedtuple
from pathlib import Path

HERE = Path()  # this directory

Doc = namedtuple("Doc", "{doc}")
Query = namedtuple("Query", "query_id title description narrative")
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")


def lines(name):
    with (HERE / name).open(encoding="utf-8", newline="\\n") as file:
        for line in file:
            yield line.rstrip("\\n")


def rows(name):
    header, *rest = (line.split("\\t") for line in lines(name))
    return [dict(zip(header, row)) for row in rest]
"""

_DOCS = """

def docs_iter():
    for line in lines("documents.jsonl"):
        one = json.loads(line)
        if one["text"] is not None:  # null where the collection has the docno alone
            yield Doc(one["docno"], one["title"], one["text"])
"""

_DOCNOS = """

def docs_iter():  # the texts are not in this directory
    for one in rows("docnos.tsv"):
        yield Doc(one["docno"])
"""

_QUERIES = """

def queries_iter():
    for line in lines("topics.jsonl"):
        one = json.loads(line)
        yield Query(one["topic"], one["title"], one["description"], one["narrative"])
"""

_QRELS = """

def qrels_iter(file="{file}"):
    for line in lines(file):
        query_id, iteration, doc_id, relevance = line.split(" ")
        yield Qrel(query_id, doc_id, int(relevance), iteration)
"""

_SCOREDDOCS = """

def scoreddocs_iter(tag):  # one run; its lines stand as in the submitted file, topics sorted
    (file,) = (one["file"] for one in rows("runs.tsv") if one["tag"] == tag)
    for line in lines(file):
        query_id, _, doc_id, _, score, _ = line.split(" ")
        yield ScoredDoc(query_id, doc_id, float(score))
"""


def loader(*, texts: bool, qrels: str | None, runs: bool) -> str:
    """Write the snippet for what a directory holds.

    Parameters
    ----------
    texts : bool
        Whether documents have texts.
    qrels : str or None
        The file of qrels to read by default; ``None`` = there is none, nor a function for them.
    runs : bool
        Whether there are runs.

    Returns
    -------
    str
        Python, to be run in the directory. Namedtuples have the field names of ir_datasets.

    Examples
    --------
    >>> "def qrels_iter" in loader(texts=True, qrels=None, runs=True)
    False
    """
    parts = [
        _HEAD.format(doc="doc_id title text" if texts else "doc_id"),
        _DOCS if texts else _DOCNOS,
        _QUERIES,
    ]
    if qrels is not None:
        parts.append(_QRELS.format(file=qrels))
    if runs:
        parts.append(_SCOREDDOCS)
    return "".join(parts)
