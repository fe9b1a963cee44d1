"""The README of a directory, columns described from the field tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from store.event import EVENT
from store.judging.kinds import sorts_words
from store.keeping.directory.content import RUNS
from store.keeping.directory.layouts import BEIR_FOLDERS, CORPUS, KEPT
from store.keeping.directory.layouts import FILES as LAYOUT_FILES
from store.keeping.directory.parts import FILES
from store.keeping.directory.pools import ENTRIES
from store.keeping.directory.tables import About, ExportChoice, Outgoing
from store.text import sanitise_line

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

def scoreddocs_iter(tag):  # one run; its lines stand as in the file handed in, topics sorted
    (file,) = (one["file"] for one in rows("runs.tsv") if one["tag"] == tag)
    for line in lines(file):
        if line.startswith("#"):  # what its file says of the run
            continue
        query_id, _, doc_id, _, score, _ = line.split()
        yield ScoredDoc(query_id, doc_id, float(score))
"""


def loader(*, texts: bool, qrels: str | None, runs: bool) -> str:
    """Write the Python snippet that loads what a directory holds, run in it.

    Fields are named as in ir_datasets.

    `qrels`: the file to read by default; ``None`` = there is none, nor a function for them.

    >>> "def qrels_iter" in loader(texts=True, qrels=None, runs=True)
    False
    """
    head = _HEAD.format(doc="doc_id title text" if texts else "doc_id") + (_DOCS if texts else _DOCNOS)
    judged = "" if qrels is None else _QRELS.format(file=qrels)
    return head + _QUERIES + judged + (_SCOREDDOCS if runs else "")


_FOLDERS = {
    "guidelines/": "the guidelines, markdown",
    "runs/": "run files: topic, `Q0`, docno, stated rank (`-` = none), score, tag; above them the header of a"
    " file that had one; a file with both hashes of `runs.tsv` alike stands as it was handed in",
    ENTRIES.file: f"{ENTRIES.words}; beside them the plan",
    "qrels/": "topic, iteration, docno, grade, as evaluators read them",
}


_READ_BY = {
    "beir": "BEIR reads this folder: `GenericDataLoader(DIR).load(split)`; a split is a file in `qrels/`, by"
    " default `test`.",
    "trec": "These are TREC's formats: trec_eval, ir_measures and pytrec_eval read qrels and runs, Terrier,"
    " Anserini and ir_datasets topics and documents, too.",
}
_NOT_HERE = (
    "Every judgement, the pools and the guidelines are in what `pooler export collection` writes alone."
)


def readme(out: Outgoing, qrels: Sequence[Mapping[str, Any]]) -> str:
    """Write the README of a directory whose other files are written: markdown, with one block of Python."""
    there = sorted(out.writer.files)
    about, choice = out.about, out.export_choice
    default = next((one["file"] for one in qrels if one["level"] is None), None)
    snippet = loader(texts=choice.texts, qrels=default, runs=RUNS.file in there)
    by_hand = ("Run in this directory; field names are those of `ir_datasets`.", f"```python\n{snippet}```")
    sections = [
        f"# {_cell(about.name) or 'A test collection'}",
        "Licence: *to be filled in by the publisher; this file may be edited, no other.*",
        _sizes(out.counts, choice),
        "## Files",
        _file_table(there),
        _format_words(there) * (choice.layout not in KEPT),
        "## Grades",
        _grade_table(about),
        "## Qrels",
        _qrels_words(qrels),
        "## Judgements",
        "\n".join(f"- {sentence}" for sentence in out.how),
    ]
    if choice.layout in KEPT:
        sections += [_NOT_HERE, "## Reading it", _READ_BY[choice.layout]]
    else:
        sections += [
            "Every object of `judgements.jsonl` has these keys; one that does not apply is `null`.",
            _table("| key | what |\n| --- | --- |", [(f"`{one.name}`", one.about) for one in EVENT]),
            *_hidden(choice),
            "## Reading it with Python",
            *by_hand,
            "## Reading it with pooler",
            "    pooler import collection DIR --collection NEW.db",
            "makes the same collection again. `manifest.json` has the size and SHA-256 of every file"
            " but this one, and of itself.",
        ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _sizes(counts: Mapping[str, int], export_choice: ExportChoice) -> str:
    """Say how much there is."""
    nouns = {
        "topics": "topics",
        "documents": "documents",
        "runs": "runs",
        "pools": "pools",
        "judges": "judges",
        "events": "judgement events",
    }
    rows = [
        (noun, f"{counts[name]:,}") for name, noun in nouns.items() if name != "runs" or export_choice.runs
    ]
    if export_choice.layout in KEPT and export_choice.texts:
        rows.insert(2, ("of these, with a text and so here", f"{counts['texts']:,}"))
    left_out = []
    if not export_choice.texts:
        left_out.append(
            "The texts of the documents are not included; marked passages have their place alone."
        )
    if counts.get("answers") and not (export_choice.texts and export_choice.notes):
        left_out.append("The models' answers are here without their words (`body`).")
    if not export_choice.runs:
        left_out.append("The runs are not included, and the plans of pools name none.")
    table = _table("| | |\n| --- | ---: |", rows)
    return "\n\n".join([table, "\n".join(left_out)] if left_out else [table])


def _table(head: str, rows: Iterable[Sequence[str]]) -> str:
    """Write a table in markdown."""
    return "\n".join([head, *(f"| {' | '.join(row)} |" for row in rows)])


def _file_table(there: Sequence[str]) -> str:
    """List the files that are there."""
    known = {one.file: one.words for one in FILES} | LAYOUT_FILES
    rows = [(f"`{name}`", what) for name, what in known.items() if name in there]
    rows += [
        (f"`{folder}`", what)
        for folder, what in (_FOLDERS | (BEIR_FOLDERS if CORPUS in there else {})).items()
        if any(name.startswith(folder) for name in there)
    ]
    return _table("| file | what |\n| --- | --- |", rows)


def _format_words(there: Sequence[str]) -> str:
    """Say how the tables are written."""
    text = (
        "Everything is UTF-8 with `\\n` at line ends. Tables (`.tsv`) have tabs between columns, a"
        " header, and no quoting: a quote is a character. An empty cell is not known. In free text"
        " `\\\\`, `\\t`, `\\n`, `\\r` and `\\uXXXX` stand for a backslash, a tab, line ends and"
        " other characters that would break a line. Topic ids and docnos are text: `001` is not"
        " `1`. Times are UTC."
    )
    if any(name.startswith("runs/") for name in there):
        text += " File names of runs, pools and qrels are made safe; the tables say which is which."
    return text


def _grade_table(about: About) -> str:
    """List the grades of the scale."""
    rows = [(str(grade.value), _cell(grade.label)) for grade in about.scale.grades]
    levels = f"Relevant, relaxed: {about.scale.relaxed} or more"
    if about.scale.rigid is not None:
        levels += f"; rigid: {about.scale.rigid} or more"
    return _table("| grade | label |\n| --- | --- |", rows) + f"\n\n{levels}."


def _qrels_words(qrels: Sequence[Mapping[str, Any]]) -> str:
    """Say which qrels there are and how they came about."""
    if not qrels:
        return "Nothing is judged yet, so there are none."
    graded = [one for one in qrels if one["level"] is None]
    text = "Unjudged, skipped and unjudgeable documents are in none of them."
    if len(graded) < len(qrels) or graded[0]["rule"] == "sum":
        text += " Binary qrels (`levelN`) have 1 for a grade of N or more, else 0."
    if len(graded) > 1:
        text = (
            "Several judges judged, and no rule was named that makes one grade of theirs: every"
            f" judge has qrels of their own, and there are no merged ones. {text}"
        )
    elif graded[0]["rule"] == "sum":
        text += " The grades of several judges are added up, so there are no binary qrels."
    text += _tied_words(graded, qrels) + _collapse_words(qrels)
    rows = []
    for one in qrels:
        names = ", ".join(map(_cell, one["judges"]))
        rule = one["rule"] if one["ties"] is None else f"{one['rule']}, ties {one['ties']}"
        if "kinds" in one:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in one["kinds"].items())
            rule += f"; {sorts_words(one['kinds'])} vote together ({kinds})"
        if "kinds_left_out" in one:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in one["kinds_left_out"].items())
            rule += f"; left out for their kind: {kinds}"
        if one["adjudicators"]:
            rule += f"; rulings of {', '.join(map(_cell, one['adjudicators']))} win"
        rows.append((f"`{one['file']}`", names, rule, f"{one['documents']:,}"))
    head = "| file | judges | rule | documents |\n| --- | --- | --- | --- |"
    return f"{text}\n\n{_table(head, rows)}"


def _tied_words(graded: Sequence[Mapping[str, Any]], qrels: Sequence[Mapping[str, Any]]) -> str:
    """Say what became of documents whose votes are tied; empty where no tie rule was asked for."""
    ties = graded[0]["ties"]
    if ties is None:
        return ""
    if ties != "unresolved":
        return f" Of tied grades the {ties} one was taken: {_by_file('decided_by_tie_rule', qrels)}."
    where = "in none of them" if len({one["left_out"]["tied"] for one in qrels}) == 1 else "left out"
    return f" Documents whose votes are tied are {where}: {_by_file('tied', qrels)}."


def _by_file(key: str, qrels: Sequence[Mapping[str, Any]]) -> str:
    """Write a count of documents, which may be another one in every file."""
    numbers = [one["left_out"][key] if key == "tied" else one[key] for one in qrels]
    if len(set(numbers)) == 1:
        return f"{numbers[0]:,} {'document' if numbers[0] == 1 else 'documents'}"
    files = [one["file"].rpartition("/")[2] for one in qrels]
    return ", ".join(f"{n:,} of `{file}`" for n, file in zip(numbers, files, strict=True))


def _collapse_words(qrels: Sequence[Mapping[str, Any]]) -> str:
    """Say in which order grades were aggregated and made binary; empty where there is none."""
    words = {
        "before": " For binary qrels every judge's grades were made binary first and aggregated then"
        " (collapsed before), so they need not be the graded qrels cut at N.",
        "after": " For binary qrels the judges' grades were aggregated first and made binary then"
        " (collapsed after): they are the graded qrels cut at N.",
    }
    orders = {one["collapse"] for one in qrels} - {None}
    return words.get(orders.pop(), "") if len(orders) == 1 else ""


def _hidden(export_choice: ExportChoice) -> list[str]:
    """Say what was left out of the judgements, and what was not."""
    said = []
    if export_choice.anonymised:
        said.append(
            "The judges have new names, given by chance; who is who is kept nowhere. The machines"
            " they worked at, the words they had marked and the days on which they were registered"
            " are left out, and so are the seeds of the orders in which documents came. The times"
            " of their judgements are here"
            + (", and so are their notes and reasons, as they wrote them." if export_choice.notes else ".")
        )
    if not export_choice.notes:
        said.append("The judges' notes and reasons are left out.")
    return said


def _cell(text: str) -> str:
    """Write text from outside into markdown."""
    line = sanitise_line(text)
    for character in "\\`*_[]<>|#":
        line = line.replace(character, f"\\{character}")
    return line
