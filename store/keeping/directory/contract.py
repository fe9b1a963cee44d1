"""What others read of a collection: a file a kind of thing, or BEIR's and TREC's files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from sqlalchemy import Row, func, select
from sqlmodel import Session

from store.content.documents import fetch_metadata
from store.db.database import Inside
from store.db.packing import unpack_floats
from store.db.tables import DOCUMENT, JUDGE, POOL, POOL_ENTRY, RANKING, RUN, TABLES, TOPIC
from store.errors import ArgumentError, PoolerError
from store.event import JudgementEvent
from store.formats import Layout
from store.formats.judgements import escape_cell, history_lines
from store.formats.scale import scale_from_json
from store.formats.syntax.compression import DamagedDataError
from store.formats.syntax.json_lines import json_line
from store.formats.syntax.lines import is_regular_file, open_bytes
from store.grades.policy import Policy
from store.judging.judges import Disguise, count_notes, disguise_of
from store.keeping.directory.tables import count_rows
from store.keeping.histories import fetch_histories_of
from store.keeping.progress import Progress
from store.records import JudgeKind, Scale
from store.text import natural_key

_STREAM = {"yield_per": 500}
_RUN_KEYS = {"runs", "unpooled"}
"""Keys of a pool's manifest whose lists name runs."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])?(\..*)?", re.IGNORECASE)
"""No name, and those that are devices on Windows, whatever comes behind a dot."""
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What goes into a directory."""

    texts: bool = True
    runs: bool = True
    notes: bool = True
    anonymised: bool = False
    policy: Policy = field(default_factory=Policy)
    """How several judges' grades become one; with neither a judge nor a rule they stay apart."""
    layout: Layout = "pooler"
    run_files: Path | None = None
    """A folder with run files as they were handed in, which go out where the collection has their SHA-256."""

    @property
    def left_out(self) -> list[str]:
        """What is left out, as `store.keeping.directory.tables` calls it."""
        is_in = {"texts": self.texts, "runs": self.runs, "notes": self.notes, "names": not self.anonymised}
        return [name for name in is_in if not is_in[name]]

    def check(self) -> None:
        """Raise `ArgumentError` where a layout has no place for what is asked for, or cannot be without."""
        if self.layout == "beir" and not self.texts:
            requirement = "goes with a layout that can be without documents; a BEIR folder cannot"
            raise ArgumentError("--without-texts", requirement, None)
        if self.run_files and (self.layout == "beir" or not self.runs or not self.run_files.is_dir()):
            requirement = "must be a folder, and the export one that has runs"
            raise ArgumentError("--run-files", requirement, str(self.run_files))


class FileFacts(NamedTuple):
    """What a manifest says of a file."""

    sha256: str
    bytes: int


def facts_of(path: Path) -> FileFacts:
    """Hash a file."""
    with path.open("rb") as file:
        return FileFacts(hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size)


def file_stems(names: Iterable[str]) -> dict[str, str]:
    """Turn names into stems of file names that any file system can hold side by side, in the order given.

    >>> file_stems(["bm25", "BM25", "../etc", "文書", "nul"])
    {'bm25': 'bm25', 'BM25': 'BM25-2', '../etc': '_etc', '文書': '__', 'nul': '_nul'}
    """
    stems: dict[str, str] = {}
    for name in names:
        safe = _UNSAFE.sub("_", name)[:100].strip(".-")
        wanted = stem = f"_{safe}" if _RESERVED.fullmatch(safe) else safe
        number = 1
        while stem.lower() in map(str.lower, stems.values()):
            number += 1
            stem = f"{wanted}-{number}"
        stems[name] = stem
    return stems


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A collection on its way into files."""

    session: Session
    inside: Inside
    name: str
    scale: Scale
    choice: ExportChoice
    folder: Path
    progress: Progress
    disguise: Disguise
    judges: Mapping[int, str]
    """Row id to name, the new one where judges have new names."""
    kinds: Mapping[str, JudgeKind]
    """By that name."""
    pools: list[Row[Any]]
    """The oldest first."""
    counts: dict[str, int]
    """Rows by table, and ``texts``, ``notes``, ``as_handed_in`` (runs)."""
    renamed: dict[str, Callable[[Any], Any]]
    """What writes values in which judges or runs are named, by table and column."""
    files: dict[str, FileFacts] = field(default_factory=dict)
    """What was written, by path in the folder, with slashes."""

    @contextmanager
    def text(self, name: str) -> Iterator[TextIO]:
        """Open a file for text: UTF-8, lines that end as they are written."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        with path.open("x", 1 << 18, "utf-8", "surrogatepass", "\n") as stream:
            yield stream
        self.files[name] = facts_of(path)

    def lines(self, name: str, lines: Iterable[str]) -> None:
        """Write a file, line by line."""
        with self.text(name) as stream:
            stream.writelines(f"{line}\n" for line in lines)


def outgoing(inside: Inside, choice: ExportChoice, folder: Path, progress: Progress) -> Outgoing:
    """Look at a collection as a whole."""
    session = inside.session
    about = session.execute(select(TABLES["collection"])).one()
    rows = session.execute(select(JUDGE)).all()
    disguise = disguise_of(one.name for one in rows) if choice.anonymised else Disguise({})
    has_text = select(func.count()).select_from(DOCUMENT).where(DOCUMENT.c.text.is_not(None))
    n_notes = count_notes(session, [one.id for one in rows]) if choice.notes else 0
    counts = {"texts": session.scalar(has_text) or 0 if choice.texts else 0, "notes": n_notes}
    renamed: dict[str, Callable[[Any], Any]] = {}
    out = Outgoing(
        session=session,
        inside=inside,
        name=about.name,
        scale=scale_from_json(json.loads(about.scale)),
        choice=choice,
        folder=folder,
        progress=progress,
        disguise=disguise,
        judges={one.id: disguise.name(one.name) for one in rows},
        kinds={disguise.name(one.name): JudgeKind(one.kind) for one in rows},
        pools=list(session.execute(select(POOL).order_by(POOL.c.id))),
        counts=count_rows(session, choice.left_out) | counts,
        renamed=renamed,
    )
    if not choice.runs or choice.anonymised:
        renamed["pool.manifest"] = lambda text: json.dumps(pool_manifest(out, text), sort_keys=True)
    if choice.anonymised:
        renamed["judge.created_at"] = lambda _: about.created_at.isoformat()
        renamed["judgement.note"] = renamed["judgement.reason"] = disguise.note
        names = pool_names(out)
        renamed["judge.name"], renamed["pool.name"] = disguise.name, names.__getitem__
        renamed["pool.round"] = renamed["judgement.iteration"] = disguise.iteration

        def of_plan(text: str) -> str:
            # With the seed, and a name that is guessed, a judge's order could be drawn again.
            plan = {key: value for key, value in json.loads(text).items() if key != "seed"}
            own = {"pools": [names.get(one, one) for one in plan.pop("pools")]} if "pools" in plan else {}
            return json.dumps(disguise.manifest(plan) | own, sort_keys=True)

        renamed["assignment_plan.manifest"] = of_plan
    return out


def pool_names(out: Outgoing) -> dict[str, str]:
    """Return what pools are called, by their names: where judges have new names, so have their pools."""
    names: dict[str, str] = {}
    for pool in out.pools:
        wanted = new = out.disguise.within(pool.name)
        while new in names.values():
            new = f"{wanted}-{len(names) + 1}"
        names[pool.name] = new
    return names


def pool_manifest(out: Outgoing, text: str) -> dict[str, Any]:
    """Return the manifest of a pool as it is written: judges as named; without runs, none named."""
    written = out.disguise.manifest(json.loads(text))
    for key in () if out.choice.runs else _RUN_KEYS & written.keys():
        # Readers of a manifest look for its runs: an empty list, and how many there were.
        count = f"{key}_left_out"
        written |= {count: written.get(count, 0) + len(written[key]), key: []}
    return written


def write_contract(out: Outgoing) -> None:
    """Write what others read, but for qrels."""
    topics, documents = _topics(out), _documents(out)
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
        names = pool_names(out)
        stems = file_stems(names.values())
        for pool in out.pools:
            stem = f"pools/{stems[names[pool.name]]}"
            out.lines(f"{stem}.tsv", _entries(out, pool.id))
            out.lines(
                f"{stem}.json", [json.dumps(pool_manifest(out, pool.manifest), indent=1, sort_keys=True)]
            )
        _write_judgements(out)
    if out.choice.runs:
        _write_runs(out)


def _topics(out: Outgoing) -> list[dict[str, str]]:
    """Return every topic, in natural order."""
    columns = (TOPIC.c.number.label("topic"), TOPIC.c.title, TOPIC.c.description, TOPIC.c.narrative)
    rows = map(dict, out.session.execute(select(*columns)).mappings())
    return sorted(rows, key=lambda row: natural_key(row["topic"]))


def _documents(out: Outgoing) -> Iterator[dict[str, Any]]:
    """Yield every document, docnos bytewise, as both engines compare them."""
    known = fetch_metadata(out.session) if out.choice.texts else {}
    names = ("id", "docno", "title", "text", "sha256") if out.choice.texts else ("id", "docno")
    query = select(*(DOCUMENT.c[name] for name in names)).order_by(DOCUMENT.c.docno)
    with out.session.connection().execute(query, execution_options=_STREAM) as result:
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
    return escape(_SURROGATES.sub("\ufffd", text), quote=False)


def _entries(out: Outgoing, pool: int) -> Iterator[str]:
    """Yield the lines of a pool: topics in natural order, then by position."""
    names = ("position", "priority", "stratum", "inclusion_probability")
    yield "\t".join(("topic", "docno", *names, "sampled"))
    topics, documents = out.inside.topics.names, out.inside.documents.names
    rows = out.session.execute(select(POOL_ENTRY).where(POOL_ENTRY.c.pool_id == pool)).mappings().all()
    keys = {one["topic_id"]: natural_key(topics[one["topic_id"]]) for one in rows}
    for row in sorted(rows, key=lambda one: (keys[one["topic_id"]], one["position"])):
        cells = ("" if row[name] is None else repr(row[name]) for name in names)
        pair = (topics[row["topic_id"]], documents[row["document_id"]])
        yield "\t".join((*pair, *cells, "yes" if row["sampled"] else "no"))


def _write_judgements(out: Outgoing) -> None:
    """Write every event of every judge, in the order in which they were done, as `export judgements` does."""
    stored = fetch_histories_of(out.session, out.inside.topics, out.inside.documents, names=out.judges)
    disguise, n_events = out.disguise, out.counts.get("judgement", 0)
    # Left open by an interruption, the query would outlive its connection.
    with out.progress("judgements", n_events) as advance, closing(stored) as events:

        def as_wished() -> Iterator[JudgementEvent]:
            for one in events:
                note = disguise.note if out.choice.notes else lambda _: ""
                said: dict[str, Any] = {"note": note(one.note), "reason": note(one.reason)}
                if not out.choice.texts:
                    said["passages"] = tuple(replace(passage, text="") for passage in one.passages)
                said |= {"judge": disguise.name(one.judge), "iteration": disguise.iteration(one.iteration)}
                said |= {"order_seed": None} if out.choice.anonymised else {}
                yield replace(one, **said)
                advance(1)

        out.lines("judgements.jsonl", history_lines(as_wished(), out.kinds, "jsonl"))


def _write_runs(out: Outgoing) -> None:
    """Write every run as plain lines in the collection's order, or as it was handed in where that is here."""
    columns = (RUN.c[name] for name in ("id", "tag", "group", "contributes", "file", "sha256"))
    runs = out.session.execute(select(*columns).order_by(RUN.c.tag)).all()
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
            sha256 = out.files[name].sha256
            if original is not None and sha256 != run.sha256:
                message = f"{original} was changed while it was read"
                raise PoolerError(message, hint="try again")
            contributes = "yes" if run.contributes else "no"
            cells = (run.tag, name, run.group, contributes, sha256, run.file, run.sha256)
            listed.append("\t".join(map(escape_cell, cells)))
            advance(1)
    out.counts["as_handed_in"] = sum(run.sha256 in originals for run in runs)
    if runs:
        out.lines("runs.tsv", listed)


_BLOCK = 1 << 20
"""Bytes read at once."""


def _originals(folder: Path | None) -> dict[str, str]:
    """Return the files in a folder, or below, by the SHA-256 of what they hold uncompressed."""
    found: dict[str, str] = {}
    for path in [] if folder is None else sorted(map(str, folder.rglob("*"))):
        try:
            if is_regular_file(path):
                digest = hashlib.sha256()
                with open_bytes(path) as file:
                    while block := file.read(_BLOCK):
                        digest.update(block)
                found[digest.hexdigest()] = path
        except (PoolerError, DamagedDataError, OSError):
            continue  # it is none of the files that were read
    return found


def _run_blocks(out: Outgoing, run: Row[Any]) -> Iterator[str]:
    """Yield the lines of a run, a topic at a time: topics in natural order, ranks from 1."""
    topics, documents, of_run = (
        out.inside.topics.names,
        out.inside.documents.names,
        RANKING.c.run_id == run.id,
    )
    ids = out.session.scalars(select(RANKING.c.topic_id).where(of_run))
    for number in sorted(ids, key=lambda one: natural_key(topics[one])):
        row = out.session.execute(select(RANKING).where(of_run, RANKING.c.topic_id == number)).one()
        # To SQLite, a part of no bytes is no value.
        docnos = [documents[one] for one in np.frombuffer(row.document_ids or b"", "<i4").tolist()]
        ranked = enumerate(zip(docnos, unpack_floats(row.scores).tolist(), strict=True), start=1)
        start = f"{topics[number]} Q0"
        yield "\n".join(f"{start} {docno} {rank} {score} {run.tag}" for rank, (docno, score) in ranked)
