"""The rules of a collection, a row of `CHECKS` a rule, and whether a database keeps them."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError, SQLAlchemyError
from sqlmodel import Session, SQLModel

from store.db.columns import is_postgresql
from store.db.digests import CHANGING, WHOLE, wrong_events, wrong_pools, wrong_runs, wrong_tables
from store.db.engine import (
    MISREAD,
    check_revision,
    engine_at,
    hinting,
    is_like_damage,
    reading,
    stored_columns,
    unreadable_place,
)
from store.db.files import seal_fault
from store.db.packing import unpack_floats, unpack_integers
from store.db.tables import TABLES
from store.errors import PoolerError, StoreError
from store.event import STATE_OF
from store.fields import id_fault
from store.formats.json_lines import NoObjectError, read_json_object
from store.formats.markup import MARKUPS
from store.formats.scale import make_scale, scale_from_json
from store.keeping import Progress, no_progress
from store.model_judge import Asked, ModelIdentity, Unreadable
from store.records import Action, JudgeKind, State

RESTORE = "restore a backup: pooler restore BACKUP --replace"
REPORT = f"please report this, and {RESTORE}"

N_EXAMPLES = 3
"""Faults of a check that are listed; the rest are counted."""
_BATCH = 256
"""Rows fetched at a time."""

Counted = Callable[[Session], int]
Faults = Callable[[Session], Iterator[str]]


class Check:
    """One rule that holds in every collection.

    `what` is counted, a plural noun: the rows of a table, if `counted` is its name. `faults` yield a sentence
    for all that breaks the rule; the first are listed, or of the tables all, with `advice` on what to do.
    """

    def __init__(
        self, name: str, what: str, counted: str | Counted, *faults: Faults, advice: str = RESTORE
    ) -> None:
        self.name, self.what, self.faults, self.advice = name, what, faults, advice
        self.count = among(counted) if isinstance(counted, str) else counted
        self.n_listed = None if name == "tables" else N_EXAMPLES


def among(*rows: str) -> Counted:
    """Count the rows of some tables, or those of a table that a condition after its name chooses."""
    queries = [text(f"SELECT count(*) FROM {one}") for one in rows]
    return lambda session: sum(session.execute(query).scalar_one() for query in queries)


def rows(query: str, fault: str | Callable[..., str | None]) -> Faults:
    """Yield the faults of the rows of a query.

    Every row is one, laid into a sentence, or a function of its values says what is wrong with it.
    """
    words_of = fault.format if isinstance(fault, str) else fault

    def found_in(session: Session) -> Iterator[str]:
        options = {"yield_per": _BATCH}
        with session.connection().execute(text(query), execution_options=options) as result:
            yield from filter(None, (words_of(*row) for row in result))

    return found_in


_NAMED = """
    LEFT JOIN topic t ON t.id = e.topic_id LEFT JOIN document d ON d.id = e.document_id
    LEFT JOIN judge j ON j.id = e.judge_id
"""
"""Joins that name the topic, the document and the judge of `e`."""
_EVENT = "topic {0} `{1}` of `{2}`, revision {3}"


def events(broken: str, sentence: str, *, more: str, joins: str = "") -> Faults:
    """Yield the judgement events `e` that a condition chooses, each in a sentence with `more`.

    `more` are columns after topic, docno, judge and revision, numbered from 4.
    """
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision, {more} FROM judgement e {joins} {_NAMED}
        WHERE {broken} ORDER BY 1, 2, 3, 4"""
    return rows(query, f"{_EVENT}: {sentence}")


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


def _sealed(session: Session) -> Iterator[str]:
    if not is_postgresql(session):
        file: Any = session.get_bind()
        if fault := seal_fault(Path(file.url.database or "")):
            yield fault


def _pages(session: Session) -> int:
    """Count the pages of a file; a server looks after its own."""
    return 0 if is_postgresql(session) else int(session.execute(text("PRAGMA page_count")).scalar_one())


def _integrity(session: Session) -> Iterator[str]:
    if not is_postgresql(session):
        for (said,) in session.execute(text("PRAGMA integrity_check")):
            for line in str(said).splitlines():
                if line != "ok" and not line.startswith("*** in database"):
                    yield line


def _different_tables(session: Session) -> Iterator[str]:
    stored = stored_columns(session)
    for table in SQLModel.metadata.sorted_tables:
        lacking = [column.name for column in table.columns if (table.name, column.name) not in stored]
        if len(lacking) == len(table.columns):
            yield f"the table `{table.name}` is missing"
        elif lacking:
            yield f"`{table.name}` has no column `{'`, `'.join(lacking)}`"


def _broken_references(session: Session) -> Iterator[str]:
    if not is_postgresql(session):
        for table, row, parent, _ in session.execute(text("PRAGMA foreign_key_check")):
            yield f"row {row} of `{table}` refers to no `{parent}`"
        return
    for table in SQLModel.metadata.sorted_tables:
        for key in table.foreign_keys:
            column, parent = key.parent.name, key.column
            query = f"""
                SELECT count(*) FROM "{table.name}" c WHERE c."{column}" IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM "{parent.table.name}" p
                                WHERE p."{parent.name}" = c."{column}")"""
            for _ in range(session.execute(text(query)).scalar_one()):
                yield f"a row of `{table.name}` refers to no `{parent.table.name}`"


def _scale_fault(scale: str) -> str | None:
    try:
        read = scale_from_json(json.loads(scale))
        make_scale(read.grades, relaxed=read.relaxed, rigid=read.rigid)
    except (ValueError, LookupError, TypeError, RecursionError, PoolerError) as error:
        return f"the scale cannot be read: {error}"
    return None


def _judge_fault(name: str, uid: str) -> str | None:
    is_uid = re.fullmatch("[0-9a-f]{16}", uid)
    return id_fault(name) or (None if is_uid else f"`{name}` has no identity, but `{uid}`")


def _run_fault(tag: str, sha256: object) -> str | None:
    is_hash = isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256)
    return None if is_hash else f"`{tag}` has no SHA-256 of its file, but {sha256!r}"


def _called_fault(what: str, name: str) -> str | None:
    return f"{what}: {fault}" if (fault := id_fault(name)) else None


_IN_MANIFEST: Mapping[str, type[Any]] = {
    "strategy": str,
    "order": str,
    "parameters": dict,
    "sizes": dict,
    "runs": list,
}
"""What these values of a manifest are, where it has them."""


def _manifest_fault(whose: str, manifest: Any) -> str | None:
    try:
        values = read_json_object(_raw(manifest).decode("utf-8", "replace"))
    except NoObjectError as error:
        return f"the manifest of {whose} cannot be read: {error}"
    odd = [name for name, kind in _IN_MANIFEST.items() if not isinstance(values.get(name, kind()), kind)]
    runs = [] if "runs" in odd else values.get("runs", [])
    if not all(isinstance(one, dict) and {"tag", "sha256", "contributes"} <= one.keys() for one in runs):
        odd.append("runs")
    return f"the manifest of {whose} has another `{odd[0]}` than pooler writes" if odd else None


def _text_fault(docno: str, title: Any, body: Any, sha256: str | None) -> str | None:
    if title is None or body is None or sha256 is None or isinstance(title, str) or isinstance(body, str):
        return f"`{docno}` has a hash without a title or text, or the reverse, or one that is of another type"
    raw = _raw(title)
    if hashlib.sha256(b"%d " % len(raw) + raw + _raw(body)).hexdigest() != sha256:
        return f"`{docno}` has another title or text than its hash says"
    return None


def _metadata_fault(docno: str, markup: str | None, fields: Any) -> str | None:
    if markup is not None and markup not in MARKUPS:
        return f"`{docno}`: markup {markup}"
    try:
        values = json.loads(_raw(fields).decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        values = None
    is_fit = isinstance(values, dict) and all(isinstance(value, str) for value in values.values())
    return None if is_fit else f"`{docno}`: its fields cannot be read"


def _raw(value: Any) -> bytes:
    """Return the bytes of a column of bytes, in which SQLite may have text."""
    return value.encode() if isinstance(value, str) else bytes(value)


def _qrels_fault(name: str, version: int, rule: Any) -> str | None:
    from store.grades.definition import QrelsDefinition

    try:
        QrelsDefinition.from_json(read_json_object(_raw(rule).decode("utf-8", "replace"))).check()
    except (ValueError, TypeError, AttributeError, PoolerError) as error:
        return f"`{name}@{version}` cannot be read: {error}"
    return None


def _wrong_rankings(session: Session) -> Iterator[str]:
    """Check that a ranking can be read, is in order, and has known documents, each once."""
    documents = np.fromiter(session.execute(text("SELECT id FROM document")).scalars(), np.int64)
    known = np.zeros(1 + int(documents.max(initial=0)), np.bool_)
    known[documents] = True
    query = """
        SELECT r.tag, t.number, k.length, k.document_ids, k.scores, k.ranks, k.positions, k.codec
        FROM ranking k LEFT JOIN run r ON r.id = k.run_id LEFT JOIN topic t ON t.id = k.topic_id
        ORDER BY k.run_id, k.topic_id"""
    for row in session.execute(text(query), execution_options={"yield_per": _BATCH}):
        if fault := _ranking_fault(row, known):
            yield f"run `{row.tag}` topic {row.number}: {fault}"


def _ranking_fault(row: Any, known: NDArray[np.bool_]) -> str | None:
    if row.codec != 1:
        return f"unknown codec {row.codec}"
    try:
        ids = np.frombuffer(row.document_ids, "<i4")
        if ids.size != row.length:  # it says how much the others unpack to
            return f"expected {row.length} documents, got {ids.size}"
        scores, positions = unpack_floats(row.scores), unpack_integers(row.positions, row.length)
        ranks = [] if row.ranks is None else [unpack_integers(row.ranks, row.length)]
    except (ValueError, LookupError, TypeError) as error:
        return f"it cannot be read: {error}"
    sizes = [one.size for one in (scores, positions, *ranks)]
    if any(size != row.length for size in sizes):
        return f"expected {row.length} values, got {', '.join(map(str, sizes))}"
    if ids.size and (ids.min() < 1 or ids.max() >= known.size or not known[ids].all()):
        return "a document that is not there"
    if np.unique(ids).size != ids.size:
        return "a document twice"
    if not np.isfinite(scores).all() or np.any(scores[1:] > scores[:-1]):
        return "scores that do not fall"
    if not np.array_equal(np.sort(positions), np.arange(row.length)):
        return "places in the file that are not 0, 1, 2, ..."
    return None


_STAYS = _listed((Action.NOTE, Action.MARK))
_IS_UNDO = f"(e.action = '{Action.UNDO}')"
_DIFFERS = (
    f"e.state <> coalesce(b.state, '{State.UNJUDGED}')"
    " OR coalesce(e.grade, -1000000) <> coalesce(b.grade, -1000000)"
)
"""The state of `e` is another than that of `b`, which may not be there."""


def _same_pair(other: str) -> str:
    columns = ("topic_id", "document_id", "judge_id")
    return " AND ".join(f"{other}.{column} = e.{column}" for column in columns)


_UNDOES_NONE = f"(u.id IS NULL OR NOT ({_same_pair('u')}) OR u.revision >= e.revision)"


def _wrong_states(session: Session) -> Iterator[str]:
    """Check that a state is known, fits its action, and has a grade of the scale where it is judged."""
    scale = session.execute(text("SELECT scale FROM collection")).scalar()
    grades = ", ".join(map(str, scale_from_json(json.loads(str(scale))).values))
    fits = " ".join(f"WHEN '{action}' THEN '{state}'" for action, state in STATE_OF.items())
    return events(
        f"""e.state NOT IN ({_listed(State)}) OR e.action NOT IN ({_listed(Action)})
            OR (e.state = '{State.JUDGED}') <> (e.grade IS NOT NULL) OR e.grade NOT IN ({grades})
            OR e.state <> CASE e.action {fits} ELSE e.state END""",
        "action {4}, state {5}, grade {6}",
        more="e.action, e.state, e.grade",
    )(session)


def _passage_fault(*row: Any) -> str | None:
    """Return whether a passage is no part of the text that was judged, where that is still stored."""
    *event, start, length, part, body, is_same = row
    part, whole = (_raw(one or b"").decode("utf-8", "surrogatepass") for one in (part, body))
    # Offsets refer to the text that was judged; another one may have replaced it.
    # Of a collection that came without texts, a passage has its place alone.
    is_there = not part or not is_same or whole[start : start + length] == part
    if start < 0 or length < 1 or len(part) not in (0, length) or not is_there:
        return f"{_EVENT.format(*event)}: no part of its text at {start}"
    return None


def _model_fault(name: str, kind: str, identity: Any, sha256: str, prompt: Any) -> str | None:
    if kind != JudgeKind.MODEL:
        return f"`{name}` is of kind {kind}, and has the identity of a model"
    written = _raw(identity).decode("utf-8", "surrogatepass")
    try:
        known = ModelIdentity.of_canonical(written)
    except ValueError as error:
        return f"`{name}`: {error}"
    if known.canonical() != written or known.sha256 != sha256:
        return f"`{name}` has another identity than its hash says"
    if prompt is not None and hashlib.sha256(_raw(prompt)).hexdigest() != known.prompt_sha256:
        return f"`{name}` has another prompt than its identity says"
    return None


def _answer_fault(*row: Any) -> str | None:
    topic, docno, name, asked, unreadable, grade, body, n_events, is_pointing = row
    where = f"topic {topic} `{docno}`, an answer of `{name}`"
    if asked not in set(Asked) or unreadable not in {None, *Unreadable}:
        return f"{where}: asked for {asked}, unreadable by {unreadable}"
    if grade is not None and unreadable is not None:
        return f"{where}: a grade and a reason"
    if is_pointing and n_events != 1:
        return f"{where}: the judgement it led to is not there, or has another grade"
    if bool(is_pointing) != (asked == Asked.JUDGE and (grade is not None or unreadable is not None)):
        return f"{where}: it led to a judgement and must not, or must and did not"
    try:
        zlib.decompress(_raw(body)) if body else b""
    except zlib.error as error:
        return f"{where}: it cannot be read: {error}"
    return None


_WITH_TEXT = "document WHERE text IS NOT NULL OR title IS NOT NULL OR sha256 IS NOT NULL"

CHECKS = (
    Check("file", "pages", _pages, _sealed, _integrity),
    Check("tables", "tables", lambda _: len(TABLES), _different_tables),
    Check(
        "references",
        "rows",
        lambda session: among(*TABLES.keys() & {table for table, _ in stored_columns(session)})(session),
        _broken_references,
    ),
    Check(
        "digests",
        "rows",
        among(*sorted((*WHOLE, *CHANGING)), "judgement", "answer", "document"),
        wrong_tables,
        wrong_runs,
        wrong_pools,
        lambda session: chain.from_iterable(
            wrong_events(session, TABLES[name]) for name in ("judgement", "answer", *CHANGING)
        ),
    ),
    Check(
        "texts",
        "documents with a text",
        _WITH_TEXT,
        rows(f"SELECT docno, title, text, sha256 FROM {_WITH_TEXT} ORDER BY id", _text_fault),
        advice="take the texts again: pooler import docs FILE --replace",
    ),
    Check(
        "fields",
        "documents with fields",
        "document_metadata",
        rows(
            """SELECT d.docno, m.markup, m.fields FROM document_metadata m
               JOIN document d ON d.id = m.document_id ORDER BY d.id""",
            _metadata_fault,
        ),
        advice="take them again: pooler import docs FILE --replace",
    ),
    Check(
        "ids",
        "ids",
        among("topic", "document", "run", "judge"),
        rows("SELECT 'topic', number FROM topic ORDER BY id", _called_fault),
        rows("SELECT 'document', docno FROM document ORDER BY id", _called_fault),
        rows("SELECT 'run', tag FROM run ORDER BY id", _called_fault),
        rows("SELECT name, uid FROM judge ORDER BY id", _judge_fault),
        rows(
            "SELECT j.name FROM erasure e JOIN judge j ON j.uid = e.uid ORDER BY j.id",
            "`{0}` was erased, and is still there",
        ),
    ),
    Check(
        "collection",
        "collection",
        "collection",
        rows(
            "SELECT n FROM (SELECT count(*) AS n FROM collection) c WHERE n <> 1",
            "expected one row that names the collection, got {0}",
        ),
        rows("SELECT scale FROM collection", _scale_fault),
    ),
    Check(
        "versions",
        "versions",
        among("guideline", "topic", "topic_version"),
        rows(
            """SELECT place, version
               FROM (SELECT version, row_number() OVER (ORDER BY version) AS place FROM guideline) g
               WHERE version <> place ORDER BY place LIMIT 1""",
            "expected version {0} of the guidelines, got {1}",
        ),
        rows(
            """SELECT t.number, t.version, count(v.version)
               FROM topic t LEFT JOIN topic_version v ON v.topic_id = t.id
               GROUP BY t.number, t.version, t.changed_at
               HAVING count(v.version) <> t.version - 1
                   OR coalesce(max(v.version), 0) <> t.version - 1 OR coalesce(min(v.version), 1) <> 1
                   OR (t.version = 1) <> (t.changed_at IS NULL)
               ORDER BY t.number""",
            "topic {0} is at version {1}, and has {2} earlier texts",
        ),
        events(
            "e.topic_version < 1 OR e.topic_version > t.version",
            "its topic has no text of version {4}",
            more="e.topic_version",
        ),
    ),
    Check(
        "qrels",
        "definitions of qrels",
        "qrels",
        rows("SELECT name, version, rule FROM qrels ORDER BY id", _qrels_fault),
        rows(
            """SELECT name, count(*), max(version) FROM qrels GROUP BY name
               HAVING min(version) <> 1 OR max(version) <> count(*) ORDER BY name""",
            "`{0}` has {1} versions, the newest is {2}",
        ),
        rows(
            """SELECT n FROM (SELECT count(*) AS n FROM qrels q WHERE is_default AND NOT EXISTS
                              (SELECT 1 FROM qrels o WHERE o.name = q.name AND o.version > q.version)) d
               WHERE n <> 1""",
            "expected one default, a newest version, got {0}",
        ),
        rows(
            "SELECT q.name FROM qrels q JOIN judge j ON j.name = q.name WHERE NOT q.dropped ORDER BY q.id",
            "`{0}` is the name of a judge, too",
        ),
    ),
    Check(
        "rankings",
        "rankings",
        "ranking",
        _wrong_rankings,
        rows("SELECT tag, sha256 FROM run ORDER BY id", _run_fault),
        advice=f"take the run again: pooler import runs FILE --replace, or {RESTORE}",
    ),
    Check(
        "pools",
        "pooled documents",
        "pool_entry",
        rows("SELECT '`' || name || '`', manifest FROM pool ORDER BY id", _manifest_fault),
        rows(
            """SELECT p.name, t.number, b.budget, count(*) FROM pool_topic b
               JOIN pool_entry e ON e.pool_id = b.pool_id AND e.topic_id = b.topic_id AND e.sampled
               JOIN pool p ON p.id = b.pool_id JOIN topic t ON t.id = b.topic_id
               GROUP BY p.name, t.number, b.budget HAVING count(*) > b.budget ORDER BY 1, 2""",
            "`{0}` drew {3} documents of topic {1}, more than {2}",
        ),
        rows(
            """SELECT p.name, t.number, e.position, e.n
               FROM (SELECT pool_id, topic_id, position, count(*) AS n FROM pool_entry WHERE sampled
                     GROUP BY pool_id, topic_id, position HAVING count(*) > 1) e
               LEFT JOIN pool p ON p.id = e.pool_id LEFT JOIN topic t ON t.id = e.topic_id
               ORDER BY 1, 2, 3""",
            "`{0}` topic {1}: {3} documents at position {2}",
        ),
        advice=REPORT,
    ),
    Check(
        "assignments",
        "places",
        "assignment",
        rows(
            f"""SELECT t.number, d.docno, coalesce(j.name, 'no judge'), e.purpose, e.position
                FROM assignment e LEFT JOIN assignment_plan p ON p.id = e.plan_id {_NAMED}
                WHERE ((e.judge_id IS NULL OR e.lease_until IS NOT NULL) AND p.lease_s IS NULL)
                   OR (e.judge_id IS NULL AND e.lease_until IS NOT NULL)
                ORDER BY 1, 2, 3""",
            "topic {0} `{1}` of {2}: {3} at {4}",
        ),
        rows("SELECT 'plan ' || id, manifest FROM assignment_plan ORDER BY id", _manifest_fault),
        advice=f"run pooler assign again, or {RESTORE}",
    ),
    Check(
        "judgements",
        "judgement events",
        "judgement",
        rows(
            f"""SELECT t.number, d.docno, j.name, e.n, e.lowest, e.highest
                FROM (SELECT topic_id, document_id, judge_id, count(*) AS n, min(revision) AS lowest,
                             max(revision) AS highest
                      FROM judgement GROUP BY topic_id, document_id, judge_id
                      HAVING min(revision) <> 1 OR max(revision) <> count(*)) e {_NAMED}
                ORDER BY 1, 2, 3""",
            "topic {0} `{1}` of `{2}` has {3} events, numbered {4} to {5}",
        ),
        _wrong_states,
        events(
            f"e.action IN ({_STAYS}) AND ({_DIFFERS})",
            "a {4} changed the state",
            more="e.action",
            joins=f"""LEFT JOIN judgement b ON {_same_pair("b")}
                AND b.revision = e.revision - 1""",
        ),
        events(
            f"""{_IS_UNDO} <> (e.undoes IS NOT NULL)
                OR (e.undoes IS NOT NULL AND ({_UNDOES_NONE} OR {_DIFFERS}))""",
            "{4}",
            more=f"""CASE WHEN {_IS_UNDO} <> (e.undoes IS NOT NULL)
                          THEN 'an undo names what it takes back, and nothing else does'
                          WHEN {_UNDOES_NONE}
                          THEN 'it takes back no earlier event of the same judge and document'
                          ELSE 'it does not restore what was before the event it takes back' END""",
            joins=f"""LEFT JOIN judgement u ON u.id = e.undoes LEFT JOIN judgement b ON {_same_pair("b")}
                AND b.revision = u.revision - 1""",
        ),
        rows(
            """SELECT e.sitting_id, count(*) FROM judgement e JOIN sitting s ON s.id = e.sitting_id
               WHERE s.judge_id <> e.judge_id GROUP BY e.sitting_id ORDER BY e.sitting_id""",
            "sitting {0} has {1} events of another judge",
        ),
        advice=REPORT,
    ),
    Check(
        "passages",
        "passages",
        "passage",
        rows(
            f"""SELECT t.number, d.docno, j.name, e.revision, p.start, p.length, p.text, d.text,
                       coalesce(e.document_sha256 = d.sha256, d.sha256 IS NULL)
                FROM passage p JOIN judgement e ON e.id = p.judgement_id {_NAMED} ORDER BY d.id, p.id""",
            _passage_fault,
        ),
    ),
    Check(
        "models",
        "model judges and answers",
        among("model_judge", "answer"),
        rows(
            """SELECT j.name, j.kind, m.identity, m.sha256, m.prompt
               FROM model_judge m JOIN judge j ON j.id = m.judge_id ORDER BY j.name""",
            _model_fault,
        ),
        rows(
            f"""SELECT t.number, d.docno, j.name, e.asked, e.unreadable, e.grade, e.body,
                       (SELECT count(*) FROM judgement b WHERE {_same_pair("b")}
                        AND b.judged_at = e.judged_at AND b.action IN ('{Action.JUDGE}', '{Action.CANNOT}')
                        AND coalesce(b.grade, -1000000) = coalesce(e.grade, -1000000)),
                       e.judged_at IS NOT NULL
                FROM answer e {_NAMED} ORDER BY 1, 2, 3, e.id""",
            _answer_fault,
        ),
    ),
)
"""The most basic first."""


_OF_THE_DATABASE = {"file", "tables", "references", "digests"}
"""Checks of how rows are stored, which say nothing of rows that the database took a moment ago."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What one check found."""

    name: str
    what: str
    """What was counted."""
    n_checked: int
    n_faults: int
    examples: tuple[str, ...]
    """The first faults, at most `store.keeping.verify.N_EXAMPLES`; of the tables, all."""
    advice: str
    """What to do about a fault."""


def verify(url: URL, *, progress: Progress = no_progress) -> list[Verified]:
    """Check a collection against its own rules, read only, while others may work on it; one answer a check.

    All checks but the first see one state.
    """
    with engine_at(url) as engine, hinting(RESTORE):
        check_revision(engine)
        results = []
        with progress("checking", len(CHECKS)) as advance, reading(engine) as session:
            for check in CHECKS:
                results.append(_verified(check, session))
                advance(1)
        return results


def broken_rules(session: Session) -> Iterator[str]:
    """Yield the first faults of every check of what rows say, each with the check's name."""
    for check in CHECKS:
        # A check that fails on what it reads undoes the transaction: there is nothing for the next one.
        if check.name not in _OF_THE_DATABASE and session.in_transaction():
            yield from (f"{check.name}: {words}" for words in _verified(check, session).examples)


def first_fault(session: Session, names: Sequence[str]) -> str | None:
    """Return what some checks find first, in a few words; ``None`` = nothing."""
    results = (_verified(check, session) for check in CHECKS if check.name in names)
    return next((one.examples[0] for one in results if one.n_faults), None)


def damage(engine: Engine) -> str | None:
    """Return what is wrong with a collection, in a few words; ``None`` = nothing that is known."""
    file = engine.url.database if engine.dialect.name == "sqlite" else None
    if file is not None and not Path(file).is_file():
        return None
    try:
        # Not `reading`, which asks here what its errors come of.
        with Session(engine) as session:
            return first_fault(session, [check.name for check in CHECKS if check.name != "tables"])
    except (DatabaseError, sqlite3.Error) as error:
        return str(error) if is_like_damage(error) else None


def _verified(check: Check, session: Session) -> Verified:
    """Make one check; whatever it fails on is a fault of the collection."""
    try:
        n_checked = check.count(session)
        faults = chain.from_iterable(faults_in(session) for faults_in in check.faults)
        examples = tuple(islice(faults, check.n_listed))
        n_faults = len(examples) + sum(1 for _ in faults)
    except (SQLAlchemyError, sqlite3.Error, StoreError, *MISREAD) as error:
        cause = getattr(error, "orig", None) or error
        if isinstance(cause, sqlite3.Error) and not is_like_damage(cause):
            raise  # a disk that is full, or cannot be read: the collection may be whole
        reason = next(iter(str(cause).strip().splitlines()), type(cause).__name__)
        database: Any = session.get_bind()
        is_text = isinstance(cause, sqlite3.Error | UnicodeDecodeError)
        place = unreadable_place(database) if is_text else ""
        n_checked, n_faults, examples = 0, 1, (place or f"what is stored cannot be read: {reason}",)
        session.rollback()
    return Verified(check.name, check.what, n_checked, n_faults, examples, check.advice)
