"""What others read of a collection: a file a kind of thing, or BEIR's and TREC's files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Row, func, select
from sqlmodel import Session

from store.content.documents import fetch_metadata
from store.db.database import Inside
from store.db.packing import unpack_floats
from store.db.tables import DOCUMENT, POOL, POOL_ENTRY, POOL_RUN, POOL_TOPIC, RANKING, RUN, TOPIC
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.event import JudgementEvent
from store.formats import Layout
from store.formats.judgements import escape_cell, history_lines
from store.formats.qrels import QrelCells, qrels_blocks
from store.formats.scale import scale_to_json
from store.formats.syntax.compression import DamagedDataError
from store.formats.syntax.json_lines import json_line
from store.formats.syntax.lines import is_regular_file, open_bytes
from store.grades.policy import Policy
from store.grades.qrels import decide
from store.grades.votes import fetch_all_votes
from store.judging.judges import Disguise, fetch_graders, fetch_judges
from store.judging.kinds import Heard, count_kinds, hear
from store.keeping.directory.folder import Writer, file_stems
from store.keeping.histories import fetch_histories_of
from store.keeping.progress import Progress
from store.records import Judge, JudgeKind, Scale
from store.text import natural_key, sanitise_line

_BATCH = 500
_RUN_KEYS = {"runs", "unpooled"}
"""Keys of a pool's manifest whose lists name runs."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")
FILES: Mapping[Layout, Mapping[str, str]] = {
    "pooler": {
        "topics.jsonl": "topics, a JSON object a line: `topic`, `title`, `description`, `narrative`",
        "documents.jsonl": "documents: `docno`, `title`, `text` (null = not here), `sha256` (of the length of the"
        " title in bytes in decimal, a blank, title and text), and where known `markup` and `metadata`; of"
        " documents without their texts the `docno` alone",
        "runs.tsv": "runs: `tag`, `file`, `group`, `contributes` (whether it feeds pools), `sha256` of that file,"
        " and `submitted_file` and `submitted_sha256` of what was handed in",
        "runs/": "topic, `Q0`, docno, rank, score, tag: in the collection's order, or as it was handed in where"
        " both hashes are the same",
        "pools/": "entries: `topic`, `docno`, `position`, `priority`, `stratum`, `inclusion_probability`,"
        " `sampled` (no = not to be judged); beside them how they were chosen",
        "judgements.jsonl": "every judgement with its whole history, an object an event, in the order in which"
        " they were done; the highest `revision` of a topic, docno and judge is the current state",
        "qrels/": "topic, iteration, docno, grade, as evaluators read them",
        "qrels.json": "how each of these was made: rule, judges, counts, hash; the grades and their labels",
        "tables/": "the collection itself, guidelines too, a table a file: what `pooler import collection` reads",
    },
    "beir": {
        "corpus.jsonl": "documents with a text: `_id`, `title`, `text`, and their fields in `metadata`",
        "queries.jsonl": "topics with a text: `_id`, `text` (the title; the description of one without), and what"
        " else the topic says in `metadata`",
        "qrels/": "topic, docno, grade between tabs, below a header: a file a split",
    },
    "trec": {
        "topics.trec": "topics with a text, as `<top>` records",
        "documents.trec": "documents with a text, as `<DOC>` records; without their fields",
    },
}
"""What a README says of the files of a layout; what another says of the rest, the first."""


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
        if self.run_files and (self.layout == "beir" or not self.runs):
            raise ArgumentError("--run-files", "needs an export that has runs", str(self.run_files))
        if self.run_files and not self.run_files.is_dir():
            raise ArgumentError("--run-files", "must be a folder", str(self.run_files))


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A collection on its way into files."""

    session: Session
    inside: Inside
    scale: Scale
    choice: ExportChoice
    disguise: Disguise
    judges: Mapping[int, str]
    """Row id to name, the new one where judges have new names."""
    pools: Mapping[int, str]
    """Likewise, the oldest first."""
    kinds: Mapping[str, JudgeKind]
    """Of judges, as they are named."""
    writer: Writer
    progress: Progress
    counts: dict[str, int]
    """Rows by table, and ``texts``, ``notes``, ``as_handed_in`` (runs)."""

    def topic_rows(self) -> list[dict[str, str]]:
        """Return every topic, in natural order."""
        columns = (TOPIC.c.number.label("topic"), TOPIC.c.title, TOPIC.c.description, TOPIC.c.narrative)
        rows = map(dict, self.session.execute(select(*columns)).mappings())
        return sorted(rows, key=lambda row: natural_key(row["topic"]))

    def document_rows(self) -> Iterator[dict[str, Any]]:
        """Yield every document, docnos bytewise, as both engines compare them."""
        known = fetch_metadata(self.session) if self.choice.texts else {}
        names = ("id", "docno", "title", "text", "sha256") if self.choice.texts else ("id", "docno")
        query = select(*(DOCUMENT.c[name] for name in names)).order_by(DOCUMENT.c.docno)
        with self.session.connection().execute(query, execution_options={"yield_per": _BATCH}) as result:
            for row in map(dict, result.mappings()):
                markup, fields = known.get(row.pop("id"), (None, {}))
                yield row | ({"markup": markup} if markup else {}) | ({"metadata": fields} if fields else {})


def write_contract(out: Outgoing) -> None:
    """Write what others read, but for qrels."""
    topics, documents, lines = out.topic_rows(), out.document_rows(), out.writer.lines
    if out.choice.layout == "pooler":
        lines("topics.jsonl", map(json_line, topics))
        lines("documents.jsonl", map(json_line, documents))
        _write_pools(out)
        _write_judgements(out)
    else:
        titled = (row for row in topics if "".join([*row.values()][1:]).strip())
        with_text = (row for row in documents if row.get("text") is not None)
        if out.choice.layout == "beir":
            lines("queries.jsonl", map(_query, titled))
            lines("corpus.jsonl", map(_entry, with_text))
        else:
            lines("topics.trec", map(_top, titled))
            if out.choice.texts:
                lines("documents.trec", map(_doc, with_text))
    if out.choice.runs and out.choice.layout != "beir":
        _write_runs(out)


def _query(row: dict[str, str]) -> str:
    """Write a topic as BEIR has it."""
    there = {name: text for name, text in row.items() if text.strip()}
    topic, first = there.pop("topic"), next(name for name in there if name != "topic")
    return json_line({"_id": topic, "text": there.pop(first), "metadata": there})


def _entry(row: dict[str, Any]) -> str:
    """Write a document as BEIR has it."""
    texts = {"title": row["title"] or "", "text": row["text"], "metadata": row.get("metadata", {})}
    return json_line({"_id": row["docno"], **texts})


def _top(row: dict[str, str]) -> str:
    """Write a ``<top>`` record."""
    return (
        f"<top>\n<num> Number: {row['topic']}\n<title> {_on_one_line(row['title'])}\n\n<desc> Description:\n"
        f"{_marked(row['description'])}\n\n<narr> Narrative:\n{_marked(row['narrative'])}\n</top>\n"
    )


def _doc(row: dict[str, Any]) -> str:
    """Write a ``<DOC>`` record."""
    title = _on_one_line(row["title"] or "")
    head = f"<DOC>\n<DOCNO>{row['docno']}</DOCNO>\n" + (f"<TITLE>{title}</TITLE>\n" if title else "")
    return f"{head}<TEXT>\n{_marked(row['text'])}\n</TEXT>\n</DOC>"


def _marked(text: str) -> str:
    """Write text that is no markup; what UTF-8 has no bytes for is U+FFFD."""
    return escape(_SURROGATES.sub("\ufffd", text), quote=False)


def _on_one_line(text: str) -> str:
    """Write text on one line."""
    return _marked(_BLANKS.sub(" ", text).strip())


def _write_runs(out: Outgoing) -> None:
    """Write every run as plain lines in the collection's order, or as it was handed in where that is there."""
    columns = (RUN.c[name] for name in ("id", "tag", "group", "contributes", "file", "sha256"))
    runs = out.session.execute(select(*columns).order_by(RUN.c.tag)).all()
    originals = _hashes(out.choice.run_files)
    stems = file_stems(run.tag for run in runs)
    listed = ["tag\tfile\tgroup\tcontributes\tsha256\tsubmitted_file\tsubmitted_sha256"]
    with out.progress("runs", len(runs)) as advance:
        for run in runs:
            name, original = f"runs/{stems[run.tag]}.run", originals.get(run.sha256)
            if original is None:
                out.writer.lines(name, _run_blocks(out, run))
            else:
                with open_bytes(original) as file, out.writer.text(name) as stream:
                    shutil.copyfileobj(file, stream.buffer)
            sha256 = out.writer.files[name].sha256
            if original is not None and sha256 != run.sha256:
                message = f"{original} was changed while it was read"
                raise PoolerError(message, hint="try again")
            contributes = "yes" if run.contributes else "no"
            cells = (run.tag, name, run.group, contributes, sha256, run.file, run.sha256)
            listed.append("\t".join(map(escape_cell, cells)))
            advance(1)
    out.counts["as_handed_in"] = sum(run.sha256 in originals for run in runs)
    if runs:
        out.writer.lines("runs.tsv", listed)


def _hashes(folder: Path | None) -> dict[str, str]:
    """Return the files in a folder, or below, by the SHA-256 of what they hold uncompressed."""
    found = {}
    for path in [] if folder is None else sorted(map(str, folder.rglob("*"))):
        try:
            if is_regular_file(path):
                with open_bytes(path) as file:
                    found[hashlib.file_digest(file, "sha256").hexdigest()] = path
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


def pool_manifest(text: str, choice: ExportChoice, disguise: Disguise) -> dict[str, Any]:
    """Return the manifest of a pool as it is written: judges as named; without runs, none named."""
    written = disguise.manifest(json.loads(text))
    for key in () if choice.runs else _RUN_KEYS & written.keys():
        # Readers of a manifest look for its runs: an empty list, and how many there were.
        count = f"{key}_left_out"
        written[count] = written.get(count, 0) + len(written[key])
        written[key] = []
    return written


def _write_pools(out: Outgoing) -> None:
    """Write the entries of every pool, those withdrawn too, and beside them how they were chosen."""
    stems, topics = file_stems(out.pools.values()), out.inside.topics.names
    for pool in out.session.execute(select(POOL).order_by(POOL.c.id)).all():
        stem = f"pools/{stems[out.pools[pool.id]]}"
        out.writer.lines(f"{stem}.tsv", _entries(out, pool.id))
        runs = select(RUN.c.tag).join(POOL_RUN, POOL_RUN.c.run_id == RUN.c.id).order_by(RUN.c.tag)
        budgets = select(POOL_TOPIC.c.topic_id, POOL_TOPIC.c.budget).where(POOL_TOPIC.c.pool_id == pool.id)
        tags = out.session.scalars(runs.where(POOL_RUN.c.pool_id == pool.id))
        plan = {
            "name": out.pools[pool.id],
            "round": out.disguise.iteration(pool.round),
            "withdrawn": pool.withdrawn,
            "created_at": pool.created_at.isoformat(),
            "display_order": pool.display_order,
            "runs": list(tags) if out.choice.runs else [],
            "budgets": {topics[topic]: budget for topic, budget in out.session.execute(budgets)},
            "manifest": pool_manifest(pool.manifest, out.choice, out.disguise),
        }
        out.writer.lines(f"{stem}.json", [json.dumps(plan, indent=1, sort_keys=True)])


def _entries(out: Outgoing, pool: int) -> Iterator[str]:
    """Yield the lines of a pool: topics in natural order, then by position."""
    names = ("position", "priority", "stratum", "inclusion_probability")
    yield "\t".join(("topic", "docno", *names, "sampled"))
    topics, documents, of_pool = (
        out.inside.topics.names,
        out.inside.documents.names,
        POOL_ENTRY.c.pool_id == pool,
    )
    ids = out.session.scalars(select(POOL_ENTRY.c.topic_id).where(of_pool).distinct())
    for number in sorted(ids, key=lambda one: natural_key(topics[one])):
        rows = out.session.execute(select(POOL_ENTRY).where(of_pool, POOL_ENTRY.c.topic_id == number))
        for row in sorted(rows, key=lambda one: (one.position, documents[one.document_id])):
            cells = ("" if row._mapping[name] is None else repr(row._mapping[name]) for name in names)
            pair = (topics[number], documents[row.document_id])
            yield "\t".join((*pair, *cells, "yes" if row.sampled else "no"))


def pool_words(out: Outgoing) -> Iterator[str]:
    """Say in a sentence how each pool came about."""
    stems = file_stems(out.pools.values())
    entries = select(POOL_ENTRY.c.pool_id, func.count()).group_by(POOL_ENTRY.c.pool_id)
    counts = dict(map(tuple, out.session.execute(entries)))
    for pool in out.session.execute(select(POOL).order_by(POOL.c.id)):
        manifest = json.loads(pool.manifest)
        said = str(manifest.get("strategy", "not known"))
        if isinstance(parameters := manifest.get("parameters"), dict):
            said += "".join(f", {key} {value}" for key, value in sorted(parameters.items()))
        words, end = sanitise_line(said).replace("`", "'"), "; withdrawn." if pool.withdrawn else "."
        yield f"Pool `{stems[out.pools[pool.id]]}`: {counts.get(pool.id, 0):,} entries by strategy `{words}`{end}"


def _write_judgements(out: Outgoing) -> None:
    """Write every event of every judge, in the order in which they were done, as `export judgements` does."""
    keys = out.inside.topics, out.inside.documents
    # Left open by an interruption, the query would outlive its connection.
    with (
        out.progress("judgements", out.counts.get("judgement", 0)) as advance,
        closing(fetch_histories_of(out.session, *keys, names=out.judges)) as events,
    ):

        def as_wished() -> Iterator[JudgementEvent]:
            for event in events:
                said: dict[str, Any] = {} if out.choice.notes else {"note": "", "reason": ""}
                if not out.choice.texts:
                    said["passages"] = tuple(replace(one, text="") for one in event.passages)
                said["judge"] = out.disguise.name(event.judge)
                said["iteration"] = out.disguise.iteration(event.iteration)
                said["display_order"] = out.disguise.order(event.display_order)
                yield replace(event, **said)
                advance(1)

        out.writer.lines("judgements.jsonl", history_lines(as_wished(), out.kinds, "jsonl"))


@dataclass(frozen=True, slots=True)
class WrittenQrels:
    """Files of qrels, and who graded."""

    files: list[dict[str, Any]]
    """What `qrels.json` says of every file."""
    n_idle: int
    """Judges of the collection who have graded nothing."""
    heard: Heard = field(default_factory=Heard)
    """Whose grades became one, and who was left out; nobody where every judge has qrels of their own."""


def write_all_qrels(out: Outgoing) -> WrittenQrels:
    """Write qrels, and how they were made.

    With a judge or a rule named there is one set; so there is without, where one judge alone voted.
    Several judges whose grades nobody said how to make one of have a set each.
    """
    judges, graders, policy = fetch_judges(out.session), fetch_graders(out.session), out.choice.policy
    for each in _policies(out.scale, policy):
        each.check()
        each.check_scale(out.scale)
    names = [judge.name for judge in judges]
    for name in (policy.judge, *policy.of):
        if name is not None and name not in names:
            raise UnknownNameError("judge", name, names)
    people = {judge.name for judge in judges if judge.kind is not JudgeKind.ADJUDICATOR}
    heard = hear(judges, graders, kinds=policy.kinds)
    # An adjudicator who alone graded is the only judge there is.
    voters = (graders & heard.names if policy.kinds else graders & people) or graders
    is_named = policy.judge is not None or policy.rule is not None
    if is_named or (graders and len(set(policy.of) or voters) == 1):
        if not is_named and not graders & people:
            policy = replace(policy, judge=next(iter(voters)))
        files, heard = _write_set(out, policy, "")
    else:
        own = sorted(voters if policy.kinds else graders, key=lambda one: natural_key(out.disguise.name(one)))
        stems, heard = file_stems(map(out.disguise.name, own)), Heard()
        sets = (_write_set(out, Policy(judge=one), f"{stems[out.disguise.name(one)]}.") for one in own)
        files = [one for written, _ in sets for one in written]
    data = {"format": "pooler qrels", "format_version": 1, "scale": scale_to_json(out.scale), "qrels": files}
    out.writer.lines("qrels.json", [json.dumps(data, indent=1, sort_keys=True)])
    return WrittenQrels(files, len(judges) - len(graders), heard)


def _write_set(out: Outgoing, policy: Policy, prefix: str) -> tuple[list[dict[str, Any]], Heard]:
    """Write graded and binary qrels by one policy; return what is said of each file, and who counts."""
    policies, name = _policies(out.scale, policy), out.disguise.name
    # The votes are the same at any level, and collapsing first is of a level alone.
    all_votes = fetch_all_votes(out.session, out.inside.topics, out.scale, policies[-1])
    is_beir = out.choice.layout == "beir"  # one file a split, and its grades may be of any scale
    written = []
    for one in policies[:1] if is_beir else policies:
        final = decide(all_votes, one)
        kind = "graded" if one.level is None else f"level{one.level}"
        file = f"qrels/{prefix[:-1] or 'test'}.tsv" if is_beir else f"qrels/{prefix}{kind}.qrels"
        cells = ((topic, out.disguise.iteration(label), *rest) for topic, label, *rest in final.cells())
        out.writer.lines(file, (_beir_lines if is_beir else qrels_blocks)(cells))
        judges, rulers = (
            sorted(map(name, who), key=natural_key) for who in (final.judges, final.adjudicators)
        )
        facts = {
            "judges": judges,
            "kinds": count_kinds(Judge(judge, out.kinds[judge]) for judge in judges),
            "kinds_left_out": all_votes.heard.counts_left_out,
            "adjudicators": rulers,
            "documents": final.n_documents,
            "by_grade": {str(grade): n for grade, n in final.by_grade.items()},
            "left_out": {reason: final.count_left_out(reason) for reason in ("tied", "cannot", "skipped")},
            "decided_by_tie_rule": final.n_decided_by_ties,
            "decided_by_ruling": final.n_ruled,
            "cannot_by_ruling": final.n_ruled_cannot,
        }
        written.append({"file": file, "sha256": out.writer.files[file].sha256, **one.to_json(), **facts})
    return written, all_votes.heard


def _policies(scale: Scale, policy: Policy) -> list[Policy]:
    """Return a policy as it is for grades, then for every level; sums of grades have none."""
    levels = () if policy.rule == "sum" else scale.values[1:]
    graded = replace(policy, collapse="after", level=None)
    return [graded, *(replace(policy, level=level) for level in levels)]


def _beir_lines(cells: Iterable[QrelCells]) -> Iterator[str]:
    """Yield the lines of BEIR's qrels: a header, topic, docno and grade between tabs."""
    yield "query-id\tcorpus-id\tscore"
    yield from (f"{topic}\t{docno}\t{grade}" for topic, _, docno, grade in cells)
