"""The data card of a directory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from store.event import EVENT
from store.judging.erasing import fetch_erasures, removed_words
from store.judging.kinds import is_mixed, sorts_words
from store.keeping.directory.contract import FILES, Outgoing, pool_words
from store.text import sanitise_line

_LOADER = """\
import json
from collections import namedtuple
from pathlib import Path

HERE = Path()  # this directory

Doc = namedtuple("Doc", "doc_id title text", defaults=(None, None))
Query = namedtuple("Query", "query_id title description narrative")
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")


def lines(name):
    with (HERE / name).open(encoding="utf-8", newline="\\n") as file:
        yield from (line.rstrip("\\n") for line in file)


def docs_iter():
    for one in map(json.loads, lines("documents.jsonl")):
        if one.get("text", "") is not None:  # null where the collection has the docno alone
            yield Doc(one["docno"], one.get("title"), one.get("text"))


def queries_iter():
    for one in map(json.loads, lines("topics.jsonl")):
        yield Query(one["topic"], one["title"], one["description"], one["narrative"])


def qrels_iter(file={file!r}):
    for query_id, iteration, doc_id, relevance in (line.split(" ") for line in lines(file)):
        yield Qrel(query_id, doc_id, int(relevance), iteration)


def scoreddocs_iter(file):  # a run, as `runs.tsv` names its file; comments are of those who submitted it
    for query_id, _, doc_id, _, score, _ in (line.split() for line in lines(file) if line[:1] != "#"):
        yield ScoredDoc(query_id, doc_id, float(score))
"""
_FORMAT = (
    "Everything is UTF-8 with `\\n` at line ends. Tables (`.tsv`) have tabs between columns, a header, and no"
    " quoting; an empty cell is not known; `\\\\`, `\\t`, `\\n`, `\\r` and `\\uXXXX` stand for characters that"
    " would break a line. Topic ids and docnos are text: `001` is not `1`. Times are UTC. File names of runs,"
    " pools and qrels are made safe; the files say which is which."
)
_READ_BY = {
    "beir": "BEIR reads this folder: `GenericDataLoader(DIR).load(split)`; a split is a file in `qrels/`, by"
    " default `test`.",
    "trec": "These are TREC's formats: trec_eval, ir_measures and pytrec_eval read qrels and runs, Terrier,"
    " Anserini and ir_datasets topics and documents, too.",
}
_NOT_HERE = (
    "Every judgement, the pools and the guidelines are in what `pooler export collection` writes alone."
)
_NOUNS = {"topic": "topics", "document": "documents", "texts": "of these, with a text", "run": "runs",
          "pool": "pools", "judge": "judges", "judgement": "judgement events"}  # fmt: skip
_LEFT_OUT = {
    "texts": "The texts of the documents are not included; marked passages have their place alone.",
    "runs": "The runs are not included, and the manifests of pools name none.",
    "notes": "The judges' notes and reasons are left out, and so are the words of models' answers.",
    "names": "The judges have new names, given by chance; who is who is kept nowhere. The machines they worked"
    " at, the words they had marked and the days on which they were registered are left out, and so are the"
    " seeds of the orders in which documents came. The times of their judgements are here.",
}
_WORDS = "The judges' notes and reasons are here, as they wrote them."


def readme(out: Outgoing, name: str, qrels: Sequence[Mapping[str, Any]]) -> str:
    """Write the README of a directory whose other files are written: markdown, with one block of Python."""
    layout, left_out = out.choice.layout, out.choice.left_out
    sizes = [(noun, f"{out.counts.get(table, 0):,}") for table, noun in _NOUNS.items()
             if table not in ("run", "texts") or f"{table.removesuffix('s')}s" not in left_out]  # fmt: skip
    grades = [(str(grade.value), _cell(grade.label)) for grade in out.scale.grades]
    levels = f"Relevant, relaxed: {out.scale.relaxed} or more"
    rigid = "" if out.scale.rigid is None else f"; rigid: {out.scale.rigid} or more"
    words = [_LEFT_OUT[one] for one in left_out]
    if "names" in left_out and out.counts["notes"]:
        words.append(_WORDS)
    sections = [
        f"# {_cell(name) or 'A test collection'}",
        "Licence: *to be filled in by the publisher; this file may be edited, no other.*",
        _table(("", ""), sizes, end=" ---: "),
        *words,
        "## Files",
        _table(("file", "what"), _files(out)),
        "## Grades",
        _table(("grade", "label"), grades),
        f"{levels}{rigid}.",
        "## Qrels",
        *_qrels_words(qrels),
        "## Judgements",
        "\n".join(f"- {sentence}" for sentence in _how(out)),
    ]
    if layout == "pooler":
        file = next((one["file"] for one in qrels if one["level"] is None), "")
        keys = [(f"`{one.name}`", one.about) for one in EVENT]
        sections += [
            "Every object of `judgements.jsonl` has these keys, and the judge's `kind`; one that does not apply"
            " is `null`.",
            _table(("key", "what"), keys),
            "## Reading it with Python",
            "Run in this directory; field names are those of `ir_datasets`.",
            f"```python\n{_LOADER.replace('{file!r}', repr(file))}```",
            _FORMAT,
            "## Reading it with pooler",
            "    pooler import collection DIR --collection NEW.db",
            "makes the same collection again, of `tables/`. `manifest.json` has the size and SHA-256 of every"
            " file but this one, and of itself.",
        ]
    else:
        sections += [_NOT_HERE, "## Reading it", _READ_BY[layout]]
    return "\n\n".join(sections) + "\n"


def _files(out: Outgoing) -> Iterable[tuple[str, str]]:
    """List the files that are there."""
    known = {**FILES["pooler"], **FILES[out.choice.layout]}
    for name, what in known.items():
        if any(one == name or (name[-1] == "/" and one.startswith(name)) for one in out.writer.files):
            yield f"`{name}`", what


def _how(out: Outgoing) -> Iterable[str]:
    """Say how it was judged, a sentence each."""
    yield from pool_words(out)
    kinds = Counter(kind.value for kind in out.kinds.values())
    yield from (f"Judges of kind {kind}: {n:,}." for kind, n in sorted(kinds.items()))
    if words := removed_words(one.judgements for one in fetch_erasures(out.session)):
        yield f"Erased: {words}."


def _qrels_words(qrels: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Say which qrels there are and how they came about."""
    graded = [one for one in qrels if one["level"] is None]
    if not graded:
        yield "Nothing is judged yet, so there are none."
        return
    first = qrels[-1]
    if len(graded) > 1:
        yield (
            "Several judges judged, and no rule was named that makes one grade of theirs: every judge has qrels"
            " of their own, and there are no merged ones."
        )
    yield "Unjudged, skipped and unjudgeable documents are in none of them." + (
        " Binary qrels (`levelN`) have 1 for a grade of N or more, else 0."
        if len(graded) < len(qrels)
        else ""
    )
    if first["collapse"] == "before":
        yield "For binary qrels every judge's grades were made binary first (collapsed before)."
    elif first["collapse"]:
        yield "Binary qrels are the graded ones, cut at N (collapsed after)."
    yield _table(("file", "judges", "rule", "documents"), map(_qrels_row, qrels))


def _qrels_row(one: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Say how one file of qrels came about."""
    rule = one["rule"]
    if one["ties"] == "unresolved":
        rule += f", ties unresolved: {one['left_out']['tied']:,} left out"
    elif one["ties"]:
        rule += f", ties {one['ties']}: {one['decided_by_tie_rule']:,} decided"
    if is_mixed(one["kinds"]):
        counts = ", ".join(f"{count:,} {kind}" for kind, count in one["kinds"].items())
        rule += f"; {sorts_words(one['kinds'])} vote together ({counts})"
    if one["kinds_left_out"]:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in one["kinds_left_out"].items())
        rule += f"; left out for their kind: {counts}"
    if one["adjudicators"]:
        rule += f"; rulings of {', '.join(map(_cell, one['adjudicators']))} win"
    return f"`{one['file']}`", ", ".join(map(_cell, one["judges"])), rule, f"{one['documents']:,}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], end: str = " --- ") -> str:
    """Write a table in markdown."""
    line = f"|{'|'.join([*[' --- '] * (len(head) - 1), end])}|"
    return "\n".join([f"| {' | '.join(head)} |", line, *(f"| {' | '.join(row)} |" for row in rows)])


def _cell(text: str) -> str:
    """Write text from outside into markdown."""
    line = sanitise_line(text)
    for character in "\\`*_[]<>|#":
        line = line.replace(character, f"\\{character}")
    return line
