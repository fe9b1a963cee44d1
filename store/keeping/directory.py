"""A collection as a folder for others, pooler's own, BEIR's or TREC's, with a data card; and back from it.

What comes back is in its tables, JSON lines, a file a table, driven by what they say of themselves. Row ids
never leave: a row refers to another by its name, the first column of its table in which no two rows are
alike, or else by the number of its line. Rows stand in the order in which they came; where judges have new
names, rows that refer to one in an order of their values, which reveals no judge.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import stat
import sys
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy as np
from sqlalchemy import Column, Connection, Row, Table, func, insert, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import DataError, IntegrityError
from sqlmodel import Session, SQLModel

from store.content.documents import fetch_metadata
from store.content.lookup import count_rows
from store.db.columns import RawText, new_uid
from store.db.database import Inside, check_free_place, make_tables
from store.db.digests import write_all_digests
from store.db.engine import collection_url, damaged, display, engine_at, writing
from store.db.files import folder_beside, made_whole, real_place
from store.db.packing import unpack_floats
from store.db.tables import (
    COLLECTION,
    DOCUMENT,
    JUDGE,
    OF_THIS_PLACE,
    POOL,
    POOL_ENTRY,
    QRELS,
    RANKING,
    RUN,
    TABLES,
    TOPIC,
)
from store.errors import ArgumentError, FaultList, FormatError, PoolerError, SchemaError
from store.event import EVENT, READERS, JudgementEvent
from store.fields import MOMENT, PROSE, Reader, UnfitValueError, checked_values, or_none, whole
from store.formats import Layout
from store.formats.compression import DamagedDataError
from store.formats.json_lines import NoObjectError, json_line, read_json_lines, read_json_object
from store.formats.judgements import escape_cell, history_lines
from store.formats.lines import is_regular_file, open_bytes
from store.formats.qrels import qrels_blocks
from store.formats.scale import scale_from_json, scale_to_json
from store.grades.definition import OFFICIAL, NamedQrels, QrelsDefinition
from store.grades.definitions import fetch_all_named
from store.grades.opinions import AllVotes
from store.grades.qrels import decide
from store.grades.votes import fetch_all_votes
from store.judging.erasing import fetch_erasures, removed_words
from store.judging.judges import Disguise, count_notes, disguise_of, fetch_graders, fetch_judges
from store.judging.kinds import Voters, count_kinds, is_mixed, sorts_words
from store.keeping import Progress, no_progress
from store.keeping.backup import go_on_after
from store.keeping.histories import fetch_histories_of
from store.keeping.verify import broken_rules, first_fault
from store.records import Judge, JudgeKind, Scale
from store.text import counted, free_name, natural_key, sanitise_line

MANIFEST = "manifest.json"
README = "README.md"
FORMAT = "pooler collection"
VERSION = 1
_RUN_KEYS = {"runs", "unpooled"}
"""Keys of a pool's manifest whose lists name runs."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])?(\..*)?", re.IGNORECASE)
"""No name, and those that are devices on Windows, whatever comes behind a dot."""


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What goes into a directory."""

    texts: bool = True
    runs: bool = True
    notes: bool = True
    anonymised: bool = False
    layout: Layout = "pooler"
    run_files: Path | None = None
    """A folder with run files as they were handed in, which go out where the collection has their SHA-256."""

    @property
    def left_out(self) -> list[str]:
        """What is left out, as `_STAY` and `_BLANK` have it."""
        is_in = {"texts": self.texts, "runs": self.runs, "notes": self.notes, "names": not self.anonymised}
        return [name for name in is_in if not is_in[name]]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_stems(names: Iterable[str]) -> dict[str, str]:
    """Turn names into stems of file names that any file system can hold side by side, in the order given.

    >>> file_stems(["bm25", "BM25", "../etc", "文書", "nul"])
    {'bm25': 'bm25', 'BM25': 'BM25-2', '../etc': '_etc', '文書': '__', 'nul': '_nul'}
    """
    stems: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        safe = _UNSAFE.sub("_", name)[:100].strip(".-")
        wanted = f"_{safe}" if _RESERVED.fullmatch(safe) else safe
        stems[name] = free_name(wanted, lambda stem: stem.lower() in taken)
        taken.add(stems[name].lower())
    return stems


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A collection on its way into files."""

    inside: Inside
    name: str
    scale: Scale
    choice: ExportChoice
    folder: Path
    progress: Progress
    disguise: Disguise
    judges: Mapping[int, Judge]
    """By row id, under new names where judges have new ones."""
    pools: Mapping[str, Row[Any]]
    """By the name that each has in the folder, the oldest first."""
    counts: dict[str, int]
    """Rows by table, and ``texts``, ``notes``, ``as_handed_in`` (runs)."""
    files: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of what was written, by path in the folder, with slashes."""

    @contextmanager
    def text(self, name: str) -> Iterator[TextIO]:
        """Open a file for text: UTF-8, lines that end as they are written."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        with path.open("x", 1 << 18, "utf-8", "surrogatepass", "\n") as stream:
            yield stream
        self.files[name] = _sha256(path)

    def lines(self, name: str, lines: Iterable[str]) -> None:
        """Write a file, line by line."""
        with self.text(name) as stream:
            stream.writelines(f"{line}\n" for line in lines)

    def manifest(self, text: str) -> dict[str, Any]:
        """Return the manifest of a pool or a plan, judges and pools as they are called there."""
        known = json.loads(text)
        written = self.disguise.manifest(known)
        if isinstance(pooled := known.get("pools"), list):
            names = {pool.name: name for name, pool in self.pools.items()}
            written["pools"] = [names.get(one, one) for one in pooled]
        for key in () if self.choice.runs else _RUN_KEYS & written.keys():
            # Readers of a manifest look for its runs: an empty list, and how many there were.
            count = f"{key}_left_out"
            written |= {count: written.get(count, 0) + len(written[key]), key: []}
        return written

    def definition(self, definition: QrelsDefinition) -> dict[str, Any]:
        """Return the choices of a definition, judges and pools called as they are in the folder."""
        facts = definition.with_judges(self.disguise.name).to_json()
        if "erased" in facts:
            facts["erased"] = len(facts["erased"])
        if "pool" in facts:
            facts["pool"] = {pool.name: name for name, pool in self.pools.items()}[facts["pool"]]
        return facts

    def renamed(self) -> dict[str, Callable[[Any], Any]]:
        """Return what writes values in which judges or runs are named, by table and column."""

        def manifest(text: str, *left_out: str) -> str:
            written = {key: one for key, one in self.manifest(text).items() if key not in left_out}
            return json.dumps(written, sort_keys=True)

        if not self.choice.anonymised:
            return {} if self.choice.runs else {"pool.manifest": manifest}
        disguise, names = self.disguise, {pool.name: name for name, pool in self.pools.items()}
        made = self.inside.session.execute(select(COLLECTION.c.created_at)).scalar_one()
        uids = defaultdict[str, str](new_uid)

        def rule(text: str) -> str:
            values = json.loads(text) | {"pool": names.get(json.loads(text).get("pool"))}
            stored = QrelsDefinition.from_json({key: one for key, one in values.items() if one is not None})
            return json.dumps(stored.with_judges(uids.__getitem__).to_json(), sort_keys=True)

        return {
            "pool.manifest": manifest,
            "pool.name": names.__getitem__,
            # With the seed, and a name that is guessed, a judge's order could be drawn again.
            "assignment_plan.manifest": lambda text: manifest(text, "seed"),
            "judge.name": disguise.name,
            "judge.created_at": lambda _: made.isoformat(),
            **dict.fromkeys(("judge.uid", "erasure.uid"), uids.__getitem__),
            "qrels.rule": rule,
            **dict.fromkeys(("pool.round", "judgement.iteration"), disguise.iteration),
            **dict.fromkeys(("judgement.note", "judgement.reason"), disguise.note),
        }


def _outgoing(inside: Inside, choice: ExportChoice, folder: Path, progress: Progress) -> Outgoing:
    session = inside.session
    about = session.execute(select(COLLECTION)).one()
    rows = session.execute(select(JUDGE)).all()
    disguise = disguise_of(one.name for one in rows) if choice.anonymised else Disguise({})
    pools: dict[str, Row[Any]] = {}
    for pool in session.execute(select(POOL).order_by(POOL.c.id)):
        pools[free_name(disguise.within(pool.name), pools.__contains__)] = pool
    counts = {
        "texts": count_rows(session, DOCUMENT, DOCUMENT.c.text.is_not(None)) if choice.texts else 0,
        "notes": count_notes(session, [one.id for one in rows]) if choice.notes else 0,
    }
    judges = {one.id: Judge(disguise.name(one.name), JudgeKind(one.kind)) for one in rows}
    counts |= rows_by_table(session, choice.left_out)
    scale = scale_from_json(json.loads(about.scale))
    return Outgoing(inside, about.name, scale, choice, folder, progress, disguise, judges, pools, counts)


def _write_contract(out: Outgoing) -> None:
    columns = (TOPIC.c.number.label("topic"), TOPIC.c.title, TOPIC.c.description, TOPIC.c.narrative)
    rows = map(dict, out.inside.session.execute(select(*columns)).mappings())
    topics, documents = sorted(rows, key=lambda row: natural_key(row["topic"])), _documents(out)
    with_words = (one for one in topics if "".join([*one.values()][1:]).strip())
    with_text = (one for one in documents if one.get("text") is not None)
    if out.choice.layout == "beir":
        out.lines("queries.jsonl", map(_query, with_words))
        out.lines("corpus.jsonl", map(_entry, with_text))
        return
    if out.choice.layout == "trec":
        out.lines("topics.trec", map(_top, with_words))
        if out.choice.texts:
            out.lines("documents.trec", map(_doc, with_text))
    else:
        out.lines("topics.jsonl", map(json_line, topics))
        out.lines("documents.jsonl", map(json_line, documents))
        for name, stem in file_stems(out.pools).items():
            pool = out.pools[name]
            out.lines(f"pools/{stem}.tsv", _entries(out, pool.id))
            manifest = json.dumps(out.manifest(pool.manifest), indent=1, sort_keys=True)
            out.lines(f"pools/{stem}.json", [manifest])
        _write_judgements(out)
    if out.choice.runs:
        _write_runs(out)


def _documents(out: Outgoing) -> Iterator[dict[str, Any]]:
    """Yield every document, docnos bytewise, as both engines compare them."""
    known = fetch_metadata(out.inside.session) if out.choice.texts else {}
    names = ("id", "docno", "title", "text", "sha256") if out.choice.texts else ("id", "docno")
    query = select(*(DOCUMENT.c[name] for name in names)).order_by(DOCUMENT.c.docno)
    with out.inside.session.connection().execute(query, execution_options={"yield_per": 500}) as result:
        for row in map(dict, result.mappings()):
            markup, fields = known.get(row.pop("id"), (None, {}))
            yield row | ({"markup": markup} if markup else {}) | ({"metadata": fields} if fields else {})


def _query(row: dict[str, str]) -> str:
    there = {name: text for name, text in row.items() if text.strip()}
    topic, first = there.pop("topic"), next(name for name in there if name != "topic")
    return json_line({"_id": topic, "text": there.pop(first), "metadata": there})


def _entry(row: dict[str, Any]) -> str:
    texts = {"title": row["title"] or "", "text": row["text"], "metadata": row.get("metadata", {})}
    return json_line({"_id": row["docno"], **texts})


def _top(row: dict[str, str]) -> str:
    title, description, narrative = (_marked(row[name]) for name in ("title", "description", "narrative"))
    return (
        f"<top>\n<num> Number: {row['topic']}\n<title> {' '.join(title.split())}\n\n<desc> Description:\n"
        f"{description}\n\n<narr> Narrative:\n{narrative}\n</top>\n"
    )


def _doc(row: dict[str, Any]) -> str:
    title = " ".join(_marked(row["title"] or "").split())
    head = f"<DOC>\n<DOCNO>{row['docno']}</DOCNO>\n" + (f"<TITLE>{title}</TITLE>\n" if title else "")
    return f"{head}<TEXT>\n{_marked(row['text'])}\n</TEXT>\n</DOC>"


def _marked(text: str) -> str:
    """Write text that is no markup; what UTF-8 has no bytes for is U+FFFD."""
    return escape(re.sub("[\ud800-\udfff]", "\ufffd", text), quote=False)


def _entries(out: Outgoing, pool: int) -> Iterator[str]:
    """Yield the lines of a pool: topics in natural order, then by position."""
    names = ("position", "priority", "stratum", "inclusion_probability")
    yield "\t".join(("topic", "docno", *names, "sampled"))
    topics, documents = out.inside.topics.names, out.inside.documents.names
    rows = out.inside.session.execute(select(POOL_ENTRY).where(POOL_ENTRY.c.pool_id == pool)).mappings().all()
    keys = {one["topic_id"]: natural_key(topics[one["topic_id"]]) for one in rows}
    for row in sorted(rows, key=lambda one: (keys[one["topic_id"]], one["position"])):
        cells = ("" if row[name] is None else repr(row[name]) for name in names)
        pair = (topics[row["topic_id"]], documents[row["document_id"]])
        yield "\t".join((*pair, *cells, "yes" if row["sampled"] else "no"))


def _write_judgements(out: Outgoing) -> None:
    """Write every event of every judge, in the order in which they were done, as `export judgements` does."""
    disguise, choice = out.disguise, out.choice
    names = {number: judge.name for number, judge in out.judges.items()}
    kinds = {judge.name: judge.kind for judge in out.judges.values()}
    note = disguise.note if choice.notes else lambda _: ""

    def as_wished(one: JudgementEvent) -> JudgementEvent:
        advance(1)
        judge, iteration = disguise.name(one.judge), disguise.iteration(one.iteration)
        passages = one.passages if choice.texts else tuple(replace(it, text="") for it in one.passages)
        seed = None if choice.anonymised else one.order_seed
        own = replace(one, judge=judge, iteration=iteration, order_seed=seed, passages=passages)
        return replace(own, note=note(one.note), reason=note(one.reason))

    # Left open by an interruption, the query would outlive its connection.
    stored = closing(fetch_histories_of(out.inside, names=names))
    with out.progress("judgements", out.counts.get("judgement", 0)) as advance, stored as events:
        out.lines("judgements.jsonl", history_lines(map(as_wished, events), kinds, "jsonl"))


def _write_runs(out: Outgoing) -> None:
    """Write every run as plain lines in the collection's order, or as it was handed in where that is here."""
    runs = out.inside.session.execute(select(RUN).order_by(RUN.c.tag)).all()
    originals, stems = _originals(out.choice.run_files), file_stems(run.tag for run in runs)
    listed = ["tag\tfile\tgroup\tcontributes\tsha256\tsubmitted_file\tsubmitted_sha256"]
    with out.progress("runs", len(runs)) as advance:
        for run in runs:
            name, original = f"runs/{stems[run.tag]}.run", originals.get(run.sha256)
            if original is None:
                out.lines(name, _run_blocks(out, run))
            else:
                with open_bytes(original) as file, out.text(name) as stream:
                    shutil.copyfileobj(file, stream.buffer)
            contributes, sha256 = "yes" if run.contributes else "no", out.files[name]
            cells = (run.tag, name, run.group, contributes, sha256, run.file, run.sha256)
            listed.append("\t".join(map(escape_cell, cells)))
            advance(1)
    out.counts["as_handed_in"] = sum(run.sha256 in originals for run in runs)
    if runs:
        out.lines("runs.tsv", listed)


def _originals(folder: Path | None) -> dict[str, str]:
    """Return the files in a folder, or below, by the SHA-256 of what they hold uncompressed."""
    found: dict[str, str] = {}
    for path in [] if folder is None else sorted(map(str, folder.rglob("*"))):
        try:
            if is_regular_file(path):
                with open_bytes(path) as file:
                    digest = hashlib.file_digest(file, "sha256")  # type: ignore[arg-type]  # it has a buffer
                found[digest.hexdigest()] = path
        except (PoolerError, DamagedDataError, OSError):
            continue  # it is none of the files that were read
    return found


def _run_blocks(out: Outgoing, run: Row[Any]) -> Iterator[str]:
    """Yield the lines of a run, a topic at a time: topics in natural order, ranks from 1."""
    session, topics, documents = out.inside
    of_run = RANKING.c.run_id == run.id
    ids = session.scalars(select(RANKING.c.topic_id).where(of_run))
    for number in sorted(ids, key=lambda one: natural_key(topics.names[one])):
        row = session.execute(select(RANKING).where(of_run, RANKING.c.topic_id == number)).one()
        # To SQLite, a part of no bytes is no value.
        docnos = [documents.names[one] for one in np.frombuffer(row.document_ids or b"", "<i4").tolist()]
        ranked = enumerate(zip(docnos, unpack_floats(row.scores).tolist(), strict=True), start=1)
        name = topics.names[number]
        yield "\n".join(f"{name} Q0 {docno} {rank} {score} {run.tag}" for rank, (docno, score) in ranked)


def write_all_qrels(out: Outgoing) -> tuple[list[dict[str, Any]], int, Voters]:
    """Write qrels; return what `qrels.json` says of each file, how many judges graded nothing, who counts.

    Every definition has a file, as its newest version makes it: of the grades, or where they are made binary
    first of the relaxed level; BEIR's layout has that of the default, as its split ``test``. Definitions by
    which nothing is graded have none.
    """
    session, named = out.inside.session, fetch_all_named(out.inside.session)
    judges, graders = fetch_judges(session), fetch_graders(session)
    newest = {one.name: one for one in reversed(named)}
    files, voters = [], Voters()
    stems = file_stems(sorted(newest, key=natural_key))
    for name, stem in stems.items():
        one = newest[name]
        if one.is_default or out.choice.layout != "beir":
            all_votes = fetch_all_votes(session, out.inside.topics, out.scale, one.definition)
            if all_votes.votes.n_documents or all_votes.rulings:
                files.append(_write_qrels(out, one, all_votes, stem))
                voters = all_votes.voters if one.is_default else voters
    data = {"format": "pooler qrels", "format_version": 1, "scale": scale_to_json(out.scale), "qrels": files}
    out.lines("qrels.json", [json.dumps(data, indent=1, sort_keys=True)])
    return files, len(judges) - len(graders), voters


def _write_qrels(out: Outgoing, named: NamedQrels, all_votes: AllVotes, stem: str) -> dict[str, Any]:
    """Write qrels of one definition; return what is said of the file."""
    definition, name, iteration = named.definition, out.disguise.name, out.disguise.iteration
    try:
        final = decide(all_votes, definition, out.scale.relaxed if definition.binary_first else None)
    except PoolerError as error:
        stays = named.is_default or named.name == OFFICIAL
        hint = f"pooler qrels define {named.name} says anew how they are made"
        hint = hint if stays else f"pooler qrels drop {named.name} leaves them out"
        raise PoolerError(f"{named.label}: {error.message}", hint=hint) from error
    if final.n_undecided:
        number = counted(final.n_undecided, "document")
        message = f"{named.label}: {number} undecided: judges differ, and no rule says what then"
        raise PoolerError(message, hint=named.undecided_hint)
    is_beir = out.choice.layout == "beir"  # a file a split, and its grades may be of any scale
    file = "qrels/test.tsv" if is_beir else f"qrels/{stem}.qrels"
    cells = ((topic, iteration(label), docno, grade) for topic, label, docno, grade in final.cells())
    beir = (f"{topic}\t{docno}\t{grade}" for topic, _, docno, grade in cells)
    out.lines(file, ["query-id\tcorpus-id\tscore", *beir] if is_beir else qrels_blocks(cells))
    judges, rulers = (sorted(map(name, who), key=natural_key) for who in (final.judges, final.adjudicators))
    levels = (definition.relaxed, definition.rigid) if definition.aggregate == "sum" else None
    relaxed, rigid = levels or (out.scale.relaxed, out.scale.rigid)
    return {
        "name": named.name,
        "qrels_version": named.version,
        "is_default": named.is_default,
        "defined": out.definition(definition),
        "file": file,
        "sha256": out.files[file],
        **final.to_json(),
        "levels": {"relaxed": relaxed, "rigid": rigid},
        "judges": judges,
        "kinds": count_kinds(one for one in out.judges.values() if one.name in judges),
        "kinds_left_out": all_votes.voters.counts_left_out,
        "adjudicators": rulers,
        "documents": final.n_documents,
        "by_grade": {str(grade): n for grade, n in final.by_grade.items()},
        "left_out": {reason: final.count_left_out(reason) for reason in ("undecided", "cannot", "skipped")},
        "decided_by_tie_rule": final.n_decided_by_ties,
        "decided_by_ruling": final.n_ruled,
        "cannot_by_ruling": final.n_ruled_cannot,
    }


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
    "names": "The judges have new names, given by chance; who is who is kept nowhere. Their machines and"
    " programs, the words they had marked, the days they were registered on and the seeds of their orders are"
    " left out; in their notes and reasons, each name of a judge is `[judge]`.",
}
_NOUNS = {"topic": "topics", "document": "documents", "texts": "of these, with a text", "run": "runs"}
_NOUNS |= {"pool": "pools", "judge": "judges", "judgement": "judgement events"}


def readme(out: Outgoing, qrels: Sequence[Mapping[str, Any]]) -> str:
    """Write the README of a directory whose other files are written: markdown."""
    layout, scale = out.choice.layout, out.scale
    rigid = "" if scale.rigid is None else f"; rigid: {scale.rigid} or more"
    keys = _table("key | what", [(f"`{one.name}`", one.about) for one in EVENT])
    history = f"Keys of `judgements.jsonl`, beside the judge's `kind`:\n\n{keys}"
    known = {**_FILES["pooler"], **_FILES[layout]}.items()
    files = [(f"`{name}`", what) for name, what in known if any(one.startswith(name) for one in out.files)]
    sections = [
        f"# {_cell(out.name) or 'A test collection'}",
        "Licence: *to be filled in by the publisher; this file may be edited, no other.*",
        _table(" | how many", [(noun, f"{out.counts.get(name, 0):,}") for name, noun in _NOUNS.items()]),
        *(_LEFT_OUT[one] for one in out.choice.left_out),
        f"## Files\n\n{_table('file | what', files)}",
        "## Grades",
        _table("grade | label", [(str(one.value), _cell(one.label)) for one in scale.grades]),
        f"Relevant, relaxed: {scale.relaxed} or more{rigid}.",
        "## Qrels",
        *_qrels_words(qrels),
        "\n- ".join(["## Judgements\n", *_how(out)]),
        history if layout == "pooler" else "Every judgement is in what `pooler export collection` writes.",
        f"## Reading it\n\n{_READ_BY[layout]}",
    ]
    return "\n\n".join(filter(None, sections))


def _how(out: Outgoing) -> Iterator[str]:
    query = select(POOL_ENTRY.c.pool_id, func.count()).group_by(POOL_ENTRY.c.pool_id)
    n_entries = dict(map(tuple, out.inside.session.execute(query)))
    for name, pool in out.pools.items():
        manifest = json.loads(pool.manifest)
        parameters = manifest.get("parameters")
        more = sorted(parameters.items()) if isinstance(parameters, dict) else []
        parts = [manifest.get("strategy", "not known"), *(f"{key} {value}" for key, value in more)]
        said, end = _cell(", ".join(map(str, parts))), "; withdrawn." if pool.withdrawn else "."
        yield f"Pool {_cell(name)}: {n_entries.get(pool.id, 0):,} entries by strategy {said}{end}"
    for kind, n in sorted(Counter(one.kind.value for one in out.judges.values()).items()):
        yield f"Judges of kind {kind}: {n:,}."
    if words := removed_words(one.judgements for one in fetch_erasures(out.inside.session)):
        yield f"Erased: {words}."


def _qrels_words(qrels: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if qrels:
        yield "Undecided, unjudged, skipped and unjudgeable documents are in none of them."
        yield _table("file | qrels | judges | rule | documents", [_qrels_row(one) for one in qrels])
    else:
        yield "Nothing is judged yet, so there are none."


def _qrels_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    rule, kinds, others = one["rule"], one["kinds"], one["kinds_left_out"]
    if one["ties"] == "unresolved":
        rule += f", ties unresolved: {one['left_out']['undecided']:,} left out"
    elif one["ties"]:
        rule += f", ties {one['ties']}: {one['decided_by_tie_rule']:,} decided"
    if is_mixed(kinds):
        counts = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
        rule += f"; {sorts_words(kinds)} vote together ({counts})"
    if others:
        rule += f"; left out for their kind: {', '.join(f'{n:,} {kind}' for kind, n in others.items())}"
    if one["adjudicators"]:
        rule += f"; rulings of {', '.join(map(_cell, one['adjudicators']))} win"
    name = f"{one['name']}@{one['qrels_version']}" + (" (default)" if one["is_default"] else "")
    judges = ", ".join(map(_cell, one["judges"]))
    return f"`{one['file']}`", _cell(name), judges, rule, f"{one['documents']:,}"


def _table(head: str, rows: Iterable[Sequence[str]]) -> str:
    """Write a table in markdown; names of columns have ` | ` between them."""
    line = "|".join([" --- "] * (head.count("|") + 1))
    return "\n".join([f"| {head} |", f"|{line}|", *(f"| {' | '.join(row)} |" for row in rows)])


def _cell(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", sanitise_line(text))


FOLDER = "tables/"
_ORDER = SQLModel.metadata.sorted_tables
"""None refers to a later one."""
_STAY = {
    "": {*(table.name for table in OF_THIS_PLACE), "digest"},
    "texts": {"document_metadata"},
    "runs": {"run", "ranking", "pool_run"},
}
"""Tables that stay at home, by what is left out; those of "" always do."""
_BLANK: Mapping[str, Mapping[str, Any]] = {
    "texts": {
        **dict.fromkeys(("document.title", "document.text", "document.sha256", "collection.fields")),
        **dict.fromkeys(("passage.text", "answer.body"), ""),
    },
    "notes": dict.fromkeys(("judgement.note", "judgement.reason", "answer.body"), ""),
    "names": {
        **dict.fromkeys(("judge.renamed_at", "assignment.order_seed", "judgement.order_seed")),
        **dict.fromkeys(("sitting.host", "sitting.program"), ""),
        "sitting.process": 0,
    },
}
"""What stands in place of values, by what is left out."""
_READERS: dict[str, Reader] = {
    "topic.number": READERS["topic"],
    **dict.fromkeys(("document.docno", "run.tag", "judge.name"), READERS["docno"]),
    **dict.fromkeys(("assignment.order_seed", "judgement.order_seed"), READERS["order_seed"]),
}
"""What names must be, and the only numbers of more than 32 bits."""
_PACKED = "document_ids"
"""A column of row ids, in whose place there is a list of docnos."""
_BATCH = 500
_Row = tuple[int, dict[str, Any]]
"""A line and its row."""


def _refers(column: Column[Any]) -> str:
    return next((key.column.table.name for key in column.foreign_keys), "")


def _kind(column: Column[Any]) -> type[Any]:
    return str if isinstance(column.type, RawText) else getattr(column.type, "impl", column.type).python_type


def _name(table: Table) -> str:
    """Return the column by which rows are referred to; empty = by their lines."""
    return next((column.name for column in table.columns if column.unique), "")


def _columns(table: Table) -> dict[str, Column[Any]]:
    own = (one for one in table.columns if one.name not in {"id", "digest", "secret"})
    return {one.name.removesuffix("_id") if _refers(one) else one.name: one for one in own}


def rows_by_table(session: Session, left_out: list[str]) -> dict[str, int]:
    """Count the rows of each table that goes out and has any; left out are texts, runs, notes, names."""
    at_home = set[str]().union(*(_STAY.get(one, ()) for one in ("", *left_out)))
    counts = {one.name: count_rows(session, one) for one in _ORDER if one.name not in at_home}
    return {name: n for name, n in counts.items() if n}


def table_lines(
    session: Session,
    tables: Collection[str],
    left_out: list[str],
    renamed: Mapping[str, Callable[[Any], Any]],
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield each table's file and its lines, which are taken before the next is asked for.

    `tables`, `left_out`: as `rows_by_table` has them. `renamed`: what writes a value, by table and column.
    """
    blank = {name: value for one in left_out for name, value in _BLANK.get(one, {}).items()}
    names: dict[str, dict[int, Any]] = defaultdict(dict)
    of_judges = {"judge"}
    lasts = sorted(filter(None, session.scalars(select(QRELS.c.last_event))))

    def rows(table: Table) -> Iterator[dict[str, Any]]:
        own, name, columns = names[table.name], _name(table), _columns(table)
        blanks = {key: blank[str(one)] for key, one in columns.items() if str(one) in blank}
        later = {key: one for key, one in columns.items() if _refers(one) == table.name}
        ways = [
            (key, one, or_none(write) if one.nullable else write)
            for key, one in columns.items()
            if str(one) not in blank and key not in later
            for write in [renamed.get(str(one)) or _writer(one, names)]
        ]
        query = select(*(one for one in table.columns if one.primary_key or str(one) not in blank))
        ordered = query.order_by(*table.primary_key)
        with session.connection().execute(ordered, execution_options={"yield_per": _BATCH}) as result:
            mappings = result.mappings()
            found: Any = (({key: write(row[one]) for key, one, write in ways}, row) for row in mappings)
            if "names" in left_out and table.name in of_judges:
                found = sorted(
                    found, key=lambda one: [(value is not None, value) for value in one[0].values()]
                )
                if table.name == "judgement":
                    found.sort(key=lambda one: bisect_left(lasts, one[1]["id"]))
                own.update({row["id"]: number for number, (_, row) in enumerate(found, 1) if later})
            for number, (values, row) in enumerate(found, start=1):
                if "id" in table.columns:
                    own[row["id"]] = values.get(name, number)
                yield values | blanks | {key: own.get(row[one]) for key, one in later.items()}

    for table in _ORDER:
        if any(_refers(column) in of_judges for column in table.columns):
            of_judges.add(table.name)
        if table.name in tables:
            yield f"{FOLDER}{table.name}.jsonl", map(json_line, rows(table))


def _writer(column: Column[Any], names: Mapping[str, Mapping[int, Any]]) -> Callable[[Any], Any]:
    """Return what writes a value of a column, not ``None``, as JSON has it."""
    if column is QRELS.c.last_event:
        return lambda last: sum(one <= last for one in names["judgement"])
    if table := _refers(column):
        return names[table].__getitem__
    if column.name == _PACKED:
        return lambda ids: [names["document"][one] for one in np.frombuffer(ids or b"", "<i4").tolist()]
    if _kind(column) is datetime and MOMENT.write:
        return MOMENT.write
    if _kind(column) is bytes:
        # To SQLite, a part of no bytes is no value.
        return lambda value: base64.b64encode(value or b"").decode("ascii")
    return lambda value: value


class Faults(list[FaultList]):
    """Faults of the files of a directory."""

    def of(self, file: Path) -> FaultList:
        """Return the list of a file, which is empty yet."""
        self.append(FaultList(str(file)))
        return self[-1]

    def raise_if_any(self) -> None:
        """Raise `PoolerError` with all faults, file by file."""
        if faults := [FormatError(one.path, one.kept, n_faults=one.count).message for one in self if one]:
            hint = "nothing was imported: get the directory again, or correct it"
            raise PoolerError("\n".join(faults), hint=hint)


class TableReader:
    """Reads tables into an empty collection; rows get the numbers of their lines as ids.

    Every fault is reported by file and line. After the first nothing is kept, but all is read. `counts`: rows
    of each table, as a manifest has them.
    """

    def __init__(self, session: Session, folder: Path, counts: Mapping[str, int], faults: Faults) -> None:
        self._session, self._folder, self._counts, self._faults = session, folder, counts, faults
        self._ids: dict[str, dict[Any, int]] = {}
        """Row ids by name, for each table that has names."""

    def read(self, files: Collection[str], advance: Callable[[int], None]) -> None:
        """Read the files of tables that are there; one of no table, or of one that stays, is a fault."""
        named = {f"{FOLDER}{table.name}.jsonl": table for table in _ORDER if table.name not in _STAY[""]}
        for file in files:
            if file.startswith(FOLDER) and file not in named:
                self._faults.of(self._folder / file).add(None, "expected a table of a collection")
        for file, table in named.items():
            expected, n_rows = self._counts.get(table.name, 0), 0
            faults = self._faults.of(self._folder / file)
            rows = self._rows(table, faults) if file in files else iter(())
            while batch := list(islice(rows, _BATCH)):
                if not any(self._faults):
                    _insert(self._session.connection(), table, batch, faults)
                n_rows += len(batch)
                advance(len(batch))
            if n_rows != expected and not faults:
                faults.add(None, f"expected {expected:,} rows, as the manifest has it, got {n_rows:,}")

    def _rows(self, table: Table, faults: FaultList) -> Iterator[_Row]:
        columns, name, ids = _columns(table), _name(table), self._ids.setdefault(table.name, {})
        readers = {key: self._reader(column) for key, column in columns.items()}
        for line, values in read_json_lines(faults.path, faults):
            known = checked_values(values, readers, line, faults)
            if name and known and ids.setdefault(known[name], line) != line:
                first = ids[known[name]]
                faults.add(line, f"expected each {name} once, got `{known[name]}`, which line {first} has")
            elif known is not None:
                row = {one.name: known[key] for key, one in columns.items()}
                yield line, row | ({"id": line} if "id" in table.columns else {})

    def _reader(self, column: Column[Any]) -> Reader:
        read = _TYPES.get(_kind(column), PROSE.read)
        if target := _refers(column):
            read = partial(self._row_id, target)
        elif column.name == _PACKED:
            read = self._document_ids
        read = _READERS.get(str(column), read)
        return or_none(read) if column.nullable else read

    def _row_id(self, table: str, value: Any) -> int:
        found = self._ids.get(table, {}).get(value) if isinstance(value, str | int) else None
        if not _name(SQLModel.metadata.tables[table]) and type(value) is int:
            found = value if 1 <= value <= self._counts.get(table, 0) else None
        if found is None:
            raise UnfitValueError(f"unknown {table.replace('_', ' ')} `{value}`")
        return found

    def _document_ids(self, value: Any) -> bytes:
        if not isinstance(value, list):
            _refuse("a list of docnos", value)
        return np.array([self._row_id("document", one) for one in value], "<i4").tobytes()


def _insert(connection: Connection, table: Table, batch: list[_Row], faults: FaultList) -> None:
    """Insert rows; where the database refuses them, one by one, to see which."""
    try:
        with connection.begin_nested():
            connection.execute(insert(table), [row for _, row in batch])
    except (IntegrityError, DataError, UnicodeEncodeError) as error:
        if len(batch) == 1:
            reason = str(getattr(error, "orig", error)).splitlines()[0]
            faults.add(batch[0][0], f"expected what the database can hold, got: {reason}")
        for one in batch if len(batch) > 1 else ():
            _insert(connection, table, [one], faults)


def _refuse(expected: str, value: Any) -> NoReturn:
    raise UnfitValueError(f"expected {expected}, got {value!r:.80}")


def _number(value: Any) -> float:
    is_fit = type(value) in (int, float) and abs(value) <= sys.float_info.max
    return float(value) if is_fit else _refuse("a finite number", value)


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (ValueError, TypeError):
        _refuse("base64", value)


_TYPES: dict[type[Any], Reader] = {
    datetime: MOMENT.read,
    bool: lambda value: value if isinstance(value, bool) else _refuse("true or false", value),
    int: whole().read,
    float: _number,
    bytes: _bytes,
}
"""By what a column holds; others hold text."""


@dataclass(frozen=True, slots=True)
class Written:
    """What an export wrote."""

    counts: Mapping[str, int]
    """Rows by table, and ``texts``, ``notes`` (reasons too), ``as_handed_in`` (runs)."""
    qrels: list[dict[str, Any]]
    """What `qrels.json` says of every file of qrels."""
    n_idle: int
    """Judges who have graded nothing."""
    n_files: int
    n_bytes: int
    voters: Voters
    """Whose grades became those of the qrels; empty where every judge has qrels of their own."""


def write_directory(
    transaction: AbstractContextManager[Inside],
    target: Path,
    choice: ExportChoice,
    *,
    program: str,
    progress: Progress = no_progress,
) -> Written:
    """Write a whole collection, as it stands at one moment, into a directory that is empty or not there yet.

    The same collection gives the same bytes, but for new names and identities of judges, which are drawn by
    chance: they cannot be drawn again by someone who knows the judges.
    """
    if choice.layout == "beir" and not choice.texts:
        requirement = "goes with a layout that can be without documents; a BEIR folder cannot"
        raise ArgumentError("--without-texts", requirement, None)
    if choice.run_files and (choice.layout == "beir" or not choice.runs or not choice.run_files.is_dir()):
        requirement = "must be a folder, and the export one that has runs"
        raise ArgumentError("--run-files", requirement, str(choice.run_files))
    _check_target(target)
    with folder_beside(target, private=not choice.anonymised) as folder, transaction as inside:
        if fault := first_fault(inside.session, ("digests", "texts")):
            where = display(inside.session.connection().engine.url)
            raise damaged(where, fault, hint="nothing was exported; pooler verify says more")
        out = _outgoing(inside, choice, folder, progress)
        tables = {name: n for name, n in out.counts.items() if name in TABLES}
        if choice.layout == "pooler":
            with progress("tables", len(tables)) as advance:
                for file, lines in table_lines(inside.session, tables, choice.left_out, out.renamed()):
                    out.lines(file, lines)
                    advance(1)
        _write_contract(out)
        qrels, n_idle, voters = write_all_qrels(out)
        out.lines(README, [readme(out, qrels)])
        # The card is the publisher's to complete.
        files = {name: sha256 for name, sha256 in out.files.items() if name != README}
        tool, _, version = program.partition(" ")
        data = {"format": FORMAT, "format_version": VERSION, "tool": tool, "version": version}
        data |= {"options": {"layout": choice.layout, "left_out": choice.left_out}}
        data |= {"counts": tables, "files": files}
        out.lines(MANIFEST, [json.dumps(data, indent=1, sort_keys=True)])
        n_bytes = sum((folder / name).stat().st_size for name in out.files)
    return Written(out.counts, qrels, n_idle, len(out.files), n_bytes, voters)


def _check_target(target: Path) -> None:
    place, message = real_place(target), ""
    is_empty = target.is_dir() and next(target.iterdir(), None) is None
    if str(target) == "-":
        message = "it stands for standard output, and this is a folder"
    elif not place.parent.is_dir():
        message = f"there is no folder {place.parent}"
    elif place == Path.cwd().resolve() or (target.exists() and not is_empty):
        message = "expected a new or empty folder, and not the one you are in"
    if message:
        raise PoolerError(f"{target}: {message}", hint="name another folder, or remove what is there first")


def read_manifest(folder: Path) -> tuple[dict[str, str], dict[str, int]]:
    """Read the manifest of a directory: the SHA-256 of each file, and the rows of each table."""
    path = folder / MANIFEST
    hint = "pooler export collection DIR makes one"
    if not path.is_file() or path.is_symlink():
        raise PoolerError(f"{folder}: there is no {MANIFEST}: it is no exported collection", hint=hint)
    try:
        data = read_json_object(path.read_text("utf-8"))
        version, layout = data.get("format_version"), data["options"]["layout"]
        if data.get("format") != FORMAT or type(version) is not int:
            raise PoolerError(f"{path} is not that of a collection which this program exported", hint=hint)
        if version > VERSION:
            message = f"{folder} has the newer format {version}; this program knows {VERSION}"
            raise SchemaError(message, hint="install the newest pooler")
        if layout != "pooler":
            message = f"{folder} is laid out as {layout}: it does not hold a whole collection"
            hint = "take its files: pooler import topics, import docs, import runs, import judgements"
            raise PoolerError(message, hint=hint)
        files, counts = data["files"], data["counts"]
    except NoObjectError as error:
        raise PoolerError(f"{path}: {error}", hint="get the directory again") from error
    except (ValueError, LookupError, TypeError) as error:
        message = f"{path}: expected a manifest with options, files and counts of rows"
        raise PoolerError(message, hint="get the directory again") from error
    are_counts = isinstance(counts, dict) and all(type(n) is int for n in counts.values())
    if not are_counts or not isinstance(files, dict):
        message = f"{path}: expected the SHA-256 of each file, and a number of rows for each table"
        raise PoolerError(message, hint="get the directory again")
    return files, counts


def read_directory(
    where: str, folder: Path, *, progress: Progress = no_progress
) -> tuple[str, Mapping[str, int]]:
    """Make the collection that a directory was exported from, or none: each fault is reported by its line.

    Nothing is read but files that the manifest lists, lie in the directory, and are no links. Returns where
    the collection is, fit to be shown, and its rows by table.
    """
    url, faults = collection_url(where), Faults()
    files, counts = read_manifest(folder)
    # What lies behind a link, or is a pipe, is no file of the folder.
    paths = (path for path in folder.rglob("*") if stat.S_ISREG(path.lstat().st_mode))
    there = {path.relative_to(folder).as_posix(): path for path in paths}
    with progress("files", len(files)) as advance:
        for name, sha256 in sorted(files.items()):
            if name not in there:
                faults.of(folder / name).add(None, "expected a file, and there is none")
            elif _sha256(there[name]) != sha256:
                faults.of(folder / name).add(None, "expected another hash (sha256): it was changed")
            advance(1)
    faults.raise_if_any()
    target: AbstractContextManager[URL | Path] = nullcontext(url)
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        check_free_place(file)
        target = made_whole(file, replaces=file.exists())
    with (
        target as place,
        engine_at(place) as engine,
        progress("tables", sum(counts.values())) as advance,
        writing(engine, bulk=True, creates=True) as session,
    ):
        make_tables(session)
        TableReader(session, folder, counts, faults).read(files, advance)
        faults.raise_if_any()
        write_all_digests(session)
        found_faults = faults.of(folder / FOLDER)
        for words in broken_rules(session):
            found_faults.add(None, words)
        faults.raise_if_any()
        for table in TABLES.values():
            go_on_after(session, table)
    return display(url) if "://" in where else where, counts
