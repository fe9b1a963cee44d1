"""The data card of a directory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select

from store.db.tables import POOL_ENTRY
from store.event import EVENT
from store.formats import Layout
from store.judging.erasing import fetch_erasures, removed_words
from store.judging.kinds import is_mixed, sorts_words
from store.keeping.directory.contract import Outgoing, pool_names
from store.text import sanitise_line

_FILES: Mapping[Layout, Mapping[str, str]] = {
    "pooler": {
        "topics.jsonl": "topics, a JSON object a line: `topic`, `title`, `description`, `narrative`",
        "documents.jsonl": "`docno`, `title`, `text` (null = not here), `sha256` (of the title's length in"
        " bytes in decimal, a blank, title, text), where known `markup`, `metadata`; else `docno` alone",
        "runs.tsv": "tag, file, group, whether it feeds pools, hash; name and hash of what was handed in",
        "runs/": "topic, `Q0`, docno, rank, score, tag; as handed in where both hashes are the same",
        "pools/": "what was pooled, and how it was chosen; sampled: no = not to be judged",
        "judgements.jsonl": "every judgement with its history, an object an event, in the order of time; the"
        " highest `revision` of a topic, docno and judge is the current state",
        "qrels/": "topic, iteration, docno, grade, as evaluators read them",
        "qrels.json": "how each of them was made: rule, judges, counts, hash; the grades and their labels",
        "tables/": "the collection itself, a table a file: guidelines, judges, assignments and all else",
    },
    "beir": {
        "corpus.jsonl": "documents with a text: `_id`, `title`, `text`, and their fields in `metadata`",
        "queries.jsonl": "topics with a text: `_id`, `text` (the first there is), the rest in `metadata`",
        "qrels/": "topic, docno, grade between tabs, below a header: a file a split",
    },
    "trec": {
        "topics.trec": "topics with a text, as `<top>` records",
        "documents.trec": "documents with a text, as `<DOC>` records; without their fields",
    },
}
"""What is said of the files of a layout, and of the others, the first."""
_READ_BY = {
    "beir": "BEIR reads this folder: `GenericDataLoader(DIR).load(split)`; a split is a file in `qrels/`.",
    "trec": "trec_eval, ir_measures and pytrec_eval read qrels and runs, Terrier, Anserini and ir_datasets"
    " topics and documents, too.",
    "pooler": """\
```python
import json
from pathlib import Path

def lines(name):  # in this directory
    return Path(name).read_bytes().decode().split("\\n")[:-1]

topics = [json.loads(line) for line in lines("topics.jsonl")]
documents = [json.loads(line) for line in lines("documents.jsonl")]

def rows(name):  # qrels: topic, iteration, docno, grade; a run: topic, Q0, docno, rank, score, tag
    return [line.split() for line in lines(name) if not line.startswith("#")]
```

All is UTF-8. A table (`.tsv`) has a header and no quoting; an empty cell is not known; `\\\\`, `\\t`, `\\n`,
`\\r`, `\\uXXXX` stand for what would break a line. Ids are text: `001` is not `1`. `manifest.json` has the
hash of every file but this one. `pooler import collection DIR --collection NEW.db` makes it again.""",
}
_LEFT_OUT = {
    "texts": "The texts of the documents are not included; marked passages have their place alone.",
    "runs": "The runs are not included, and the plans of pools name none.",
    "notes": "The judges' notes and reasons are left out, and the words of models' answers.",
    "names": "The judges have new names, given by chance; who is who is kept nowhere. Their machines, the"
    " days they were registered on and the seeds of their orders are left out.",
}
_NOUNS = {"topic": "topics", "document": "documents", "texts": "of these, with a text", "run": "runs"}
_NOUNS |= {"pool": "pools", "judge": "judges", "judgement": "judgement events"}


def readme(out: Outgoing, qrels: Sequence[Mapping[str, Any]]) -> str:
    """Write the README of a directory whose other files are written: markdown."""
    layout, scale = out.choice.layout, out.scale
    rigid = "" if scale.rigid is None else f"; rigid: {scale.rigid} or more"
    keys = _table("key", "what", [(f"`{one.name}`", one.about) for one in EVENT])
    has_notes = out.choice.anonymised and out.counts["notes"] and layout == "pooler"
    elsewhere = (
        "Every judgement, the pools and the guidelines are in what `pooler export collection` writes alone."
    )
    known = {**_FILES["pooler"], **_FILES[layout]}.items()
    files = [(f"`{name}`", what) for name, what in known if any(one.startswith(name) for one in out.files)]
    sections = [
        f"# {_cell(out.name) or 'A test collection'}",
        "Licence: *to be filled in by the publisher; this file may be edited, no other.*",
        _table("", "how many", [(noun, f"{out.counts.get(name, 0):,}") for name, noun in _NOUNS.items()]),
        *(_LEFT_OUT[one] for one in out.choice.left_out),
        "Their notes and reasons are here, as they wrote them." if has_notes else "",
        f"## Files\n\n{_table('file', 'what', files)}",
        "## Grades",
        _table("grade", "label", [(str(one.value), _cell(one.label)) for one in scale.grades]),
        f"Relevant, relaxed: {scale.relaxed} or more{rigid}.",
        "## Qrels",
        *_qrels_words(qrels),
        "## Judgements",
        "\n".join(f"- {sentence}" for sentence in _how(out)),
        elsewhere
        if layout != "pooler"
        else f"Keys of `judgements.jsonl`, beside the judge's `kind`:\n\n{keys}",
        f"## Reading it\n\n{_READ_BY[layout]}",
    ]
    return "\n\n".join(filter(None, sections))


def _how(out: Outgoing) -> Iterator[str]:
    """Say how it was judged, a sentence each."""
    query = select(POOL_ENTRY.c.pool_id, func.count()).group_by(POOL_ENTRY.c.pool_id)
    n_entries = dict(map(tuple, out.session.execute(query)))
    for pool, name in zip(out.pools, pool_names(out).values(), strict=True):
        manifest = json.loads(pool.manifest)
        parameters = manifest.get("parameters")
        more = sorted(parameters.items()) if isinstance(parameters, dict) else []
        said = ", ".join(
            [str(manifest.get("strategy", "not known")), *(f"{key} {value}" for key, value in more)]
        )
        end = "; withdrawn." if pool.withdrawn else "."
        yield f"Pool {_cell(name)}: {n_entries.get(pool.id, 0):,} entries by strategy {_cell(said)}{end}"
    for kind, n in sorted(Counter(kind.value for kind in out.kinds.values()).items()):
        yield f"Judges of kind {kind}: {n:,}."
    if words := removed_words(one.judgements for one in fetch_erasures(out.session)):
        yield f"Erased: {words}."


def _qrels_words(qrels: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say which qrels there are and how they came about."""
    n_sets = sum(one["level"] is None for one in qrels)
    if n_sets > 1:
        yield "No rule makes one grade of several: every judge has qrels, and there are none of all together."
    if n_sets < len(qrels):
        order = qrels[-1]["collapse"]
        when = f"; grades were made binary {order} the rule (collapsed {order})" if order else ""
        yield f"Binary qrels (`levelN`) have 1 for a grade of N or more, else 0{when}."
    if n_sets:
        yield "Unjudged, skipped and unjudgeable documents are in none of them."
        yield _table("file", "judges | rule | documents", [_qrels_row(one) for one in qrels])
    else:
        yield "Nothing is judged yet, so there are none."


def _qrels_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    """Say how one file of qrels came about."""
    rule, kinds, others = one["rule"], one["kinds"], one["kinds_left_out"]
    if one["ties"] == "unresolved":
        rule += f", ties unresolved: {one['left_out']['tied']:,} left out"
    elif one["ties"]:
        rule += f", ties {one['ties']}: {one['decided_by_tie_rule']:,} decided"
    if is_mixed(kinds):
        counts = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
        rule += f"; {sorts_words(kinds)} vote together ({counts})"
    if others:
        rule += f"; left out for their kind: {', '.join(f'{n:,} {kind}' for kind, n in others.items())}"
    if one["adjudicators"]:
        rule += f"; rulings of {', '.join(map(_cell, one['adjudicators']))} win"
    return f"`{one['file']}`", ", ".join(map(_cell, one["judges"])), rule, f"{one['documents']:,}"


def _table(first: str, others: str, rows: Iterable[Sequence[str]]) -> str:
    """Write a table in markdown; names of columns have ` | ` between them."""
    head = f"| {first} | {others} |"
    line = "|".join([" --- "] * (head.count("|") - 1))
    return "\n".join([head, f"|{line}|", *(f"| {' | '.join(row)} |" for row in rows)])


def _cell(text: str) -> str:
    """Write text from outside into markdown."""
    line = sanitise_line(text)
    for character in "\\`*_[]<>|#":
        line = line.replace(character, f"\\{character}")
    return line
