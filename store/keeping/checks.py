"""The rules of a collection, one function a rule."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary, String, Table, text
from sqlmodel import Session, SQLModel

from store.db.columns import RawText
from store.db.engine import stored_columns
from store.db.files import seal_fault
from store.db.packing import unpack_floats, unpack_integers
from store.db.raw import guarded_tables, wrong_rows
from store.db.tables import TABLES
from store.errors import PoolerError
from store.fields import id_fault
from store.formats.scale import make_scale, scale_from_json
from store.records import Action, JudgeKind, State

N_EXAMPLES = 3
"""Faults of a check that are told; the rest are counted."""

RESTORE = "restore a backup: pooler restore BACKUP --replace"
REPORT = f"please report this, and {RESTORE}"

EVENT_NAMES = """
    LEFT JOIN topic t ON t.id = e.topic_id LEFT JOIN document d ON d.id = e.document_id
    LEFT JOIN judge j ON j.id = e.judge_id
"""
"""Joins that name the topic `t`, document `d` and judge `j` of an event `e`."""


@dataclass(slots=True)
class CheckFound:
    """What a check found."""

    n_checked: int = 0
    n_faults: int = 0
    examples: list[str] = field(default_factory=list)
    """The first faults, at most `N_EXAMPLES`."""

    def add(self, fault: str) -> None:
        """Take in one fault."""
        self.n_faults += 1
        if len(self.examples) < N_EXAMPLES:
            self.examples.append(fault)


@dataclass(frozen=True, slots=True)
class Check:
    """One rule that holds in every collection."""

    name: str
    what: str
    """What is counted: a plural noun."""
    look: Callable[[Session], CheckFound]
    advice: str
    """What to do about a fault."""


def is_postgresql(session: Session) -> bool:
    """Say which engine a session is on."""
    return session.get_bind().dialect.name == "postgresql"


def count(session: Session, table: str) -> int:
    """Count the rows of a table."""
    return int(session.execute(text(f'SELECT count(*) FROM "{table}"')).scalar_one())


def gather(session: Session, found: CheckFound, query: str, describe: Callable[[Sequence[Any]], str]) -> None:
    """Take in a fault for every row of a query."""
    for row in session.execute(text(query)):
        found.add(describe(tuple(row)) if len(found.examples) < N_EXAMPLES else "")


def quoted(values: Iterable[str]) -> str:
    """List words for a statement."""
    return ", ".join(f"'{value}'" for value in values)


_TOPIC = "(SELECT number FROM topic WHERE id = :topic_id)"
_DOCNO = "(SELECT docno FROM document WHERE id = :document_id)"
_POOL = "(SELECT name FROM pool WHERE id = :pool_id)"
_JUDGE = "(SELECT name FROM judge WHERE id = :judge_id)"
_NAMES = {
    "collection": ("the collection's name, scale or making", ""),
    "guideline": ("version {0} of the guidelines", ":version"),
    "topic": ("topic {0}", ":number"),
    "topic_version": ("topic {0}, version {1} of its text", f"{_TOPIC}, :version"),
    "run": ("run `{0}`", ":tag"),
    "ranking": ("run `{0}` topic {1}", f"(SELECT tag FROM run WHERE id = :run_id), {_TOPIC}"),
    "pool": ("pool `{0}`, its plan or state", ":name"),
    "pool_entry": ("pool `{0}` topic {1} `{2}`", f"{_POOL}, {_TOPIC}, {_DOCNO}"),
    "pool_topic": ("pool `{0}` topic {1}, its budget", f"{_POOL}, {_TOPIC}"),
    "judge": ("judge `{0}`", ":name"),
    "erasure": ("what is left of the erased judge {0}", ":uid"),
    "assignment_plan": ("assignment plan {0}", ":id"),
    "judgement": ("topic {0} `{1}` of `{2}`, revision {3}", f"{_TOPIC}, {_DOCNO}, {_JUDGE}, :revision"),
    "judge_term": ("a word that `{0}` marks in topic {1}", f"{_JUDGE}, {_TOPIC}"),
    "passage": ("a passage of judgement event {0}", ":judgement_id"),
}
"""What a row is called, and where its names are."""
_KEYS = (
    "id",
    "version",
    "number",
    "tag",
    "name",
    "uid",
    "run_id",
    "topic_id",
    "pool_id",
    "document_id",
    "judge_id",
    "revision",
    "judgement_id",
)


def wrong_checksums(session: Session) -> CheckFound:
    """Check that rows that have a checksum are as they were written.

    Tables of another schema, without all the columns they have now, are not looked at.
    """
    found = CheckFound()
    columns = stored_columns(session)
    for table in guarded_tables():
        if not columns.issuperset((table.name, column.name) for column in table.columns):
            continue
        wrong = []
        for values, is_wrong in wrong_rows(session, table):
            found.n_checked += 1
            if is_wrong:
                wrong.append({name: values[name] for name in _KEYS if name in values})
        # A server answers one question at a time.
        for number, keys in enumerate(wrong):
            found.add(_describe(session, table, keys) if number < N_EXAMPLES else "")
    return found


def _describe(session: Session, table: Table, keys: Mapping[str, Any]) -> str:
    """Name a row that is not as it was written."""
    words, names = _NAMES[table.name]
    row = session.execute(text(f"SELECT {names}"), dict(keys)).one() if names else ()
    return f"{words.format(*row)}: not as it was written, by its checksum"


CHECKSUM_CHECKS = (Check("checksums", "rows", wrong_checksums, RESTORE),)


_STATES = {
    Action.JUDGE: State.JUDGED,
    Action.SKIP: State.SKIPPED,
    Action.CANNOT: State.CANNOT,
    Action.REOPEN: State.UNJUDGED,
}
"""The state after an action, where the action alone says it."""


def _pair(row: Sequence[Any]) -> str:
    """Name what an event is about: the first three columns are topic, docno and judge."""
    topic, docno, judge = row[:3]
    return f"topic {topic} `{docno}` of `{judge}`"


def _event(row: Sequence[Any]) -> str:
    """Name an event: the fourth column is its revision."""
    return f"{_pair(row)}, revision {row[3]}"


def _revisions(session: Session) -> CheckFound:
    """Check that revisions count from 1 without gaps."""
    found = CheckFound(count(session, "judgement"))
    query = f"""
        SELECT t.number, d.docno, j.name, e.n, e.lowest, e.highest
        FROM (SELECT topic_id, document_id, judge_id, count(*) AS n, min(revision) AS lowest,
                     max(revision) AS highest
              FROM judgement GROUP BY topic_id, document_id, judge_id
              HAVING min(revision) <> 1 OR max(revision) <> count(*)) e {EVENT_NAMES}
        ORDER BY 1, 2, 3"""
    gather(
        session, found, query, lambda row: f"{_pair(row)} has {row[3]} events, numbered {row[4]} to {row[5]}"
    )
    return found


def _states(session: Session) -> CheckFound:
    """Check that a state is known, fits its action, and has a grade where it is judged."""
    found = CheckFound(count(session, "judgement"))
    scale = session.execute(text("SELECT scale FROM collection")).scalar()
    grades = ", ".join(map(str, scale_from_json(json.loads(str(scale))).values))
    fits = " ".join(f"WHEN '{action}' THEN '{state}'" for action, state in _STATES.items())
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision, e.action, e.state, e.grade
        FROM judgement e {EVENT_NAMES}
        WHERE e.state NOT IN ({quoted(State)}) OR e.action NOT IN ({quoted(Action)})
           OR (e.state = '{State.JUDGED}') <> (e.grade IS NOT NULL)
           OR e.grade NOT IN ({grades})
           OR e.state <> CASE e.action {fits} ELSE e.state END
        ORDER BY 1, 2, 3, 4"""
    gather(
        session, found, query, lambda row: f"{_event(row)}: action {row[4]}, state {row[5]}, grade {row[6]}"
    )
    return found


def _kept_states(session: Session) -> CheckFound:
    """Check that a note or a mark leaves state and grade as they were before it."""
    actions = quoted((Action.NOTE, Action.MARK))
    n_checked = text(f"SELECT count(*) FROM judgement WHERE action IN ({actions})")
    found = CheckFound(int(session.execute(n_checked).scalar_one()))
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision, e.action
        FROM judgement e LEFT JOIN judgement b ON b.topic_id = e.topic_id
             AND b.document_id = e.document_id AND b.judge_id = e.judge_id
             AND b.revision = coalesce(e.follows, e.revision - 1) {EVENT_NAMES}
        WHERE e.action IN ({actions})
          AND (e.state <> coalesce(b.state, '{State.UNJUDGED}')
               OR coalesce(e.grade, -1000000) <> coalesce(b.grade, -1000000))
        ORDER BY 1, 2, 3, 4"""
    gather(session, found, query, lambda row: f"{_event(row)}: a {row[4]} changed the state")
    return found


def _undone(session: Session) -> CheckFound:
    """Check that an undo names an earlier event, and restores what was before that."""
    n_checked = text(f"SELECT count(*) FROM judgement WHERE action = '{Action.UNDO}'")
    found = CheckFound(int(session.execute(n_checked).scalar_one()))
    same = "{0}.topic_id = e.topic_id AND {0}.document_id = e.document_id"
    same += " AND {0}.judge_id = e.judge_id"
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision,
               CASE WHEN (e.action = '{Action.UNDO}') <> (e.undoes IS NOT NULL)
                         THEN 'an undo names what it takes back, and nothing else does'
                    WHEN u.id IS NULL OR NOT ({same.format("u")}) OR u.revision >= e.revision
                         THEN 'it takes back no earlier event of the same judge and document'
                    ELSE 'it does not restore what was before the event it takes back' END
        FROM judgement e LEFT JOIN judgement u ON u.id = e.undoes
        LEFT JOIN judgement b ON {same.format("b")}
             AND b.revision = coalesce(u.follows, u.revision - 1) {EVENT_NAMES}
        WHERE (e.action = '{Action.UNDO}') <> (e.undoes IS NOT NULL)
           OR (e.undoes IS NOT NULL
               AND (u.id IS NULL OR NOT ({same.format("u")}) OR u.revision >= e.revision
                    OR e.state <> coalesce(b.state, '{State.UNJUDGED}')
                    OR coalesce(e.grade, -1000000) <> coalesce(b.grade, -1000000)))
        ORDER BY 1, 2, 3, 4"""
    gather(session, found, query, lambda row: f"{_event(row)}: {row[4]}")
    return found


def _lineage(session: Session) -> CheckFound:
    """Check what an event says of copies that came together, and of the text that was shown."""
    found = CheckFound(count(session, "judgement"))
    query = f"""
        SELECT t.number, d.docno, j.name, e.revision,
               CASE WHEN e.follows < 0 OR e.follows >= e.revision THEN 'it follows no earlier one'
                    WHEN (e.action = '{Action.SETTLE}') <> (e.settled IS NOT NULL)
                         THEN 'copies are settled by a rule, and nothing else is'
                    ELSE 'its topic has no text of version ' || e.topic_version END
        FROM judgement e {EVENT_NAMES}
        WHERE e.follows < 0 OR e.follows >= e.revision
           OR (e.action = '{Action.SETTLE}') <> (e.settled IS NOT NULL)
           OR e.topic_version < 1 OR e.topic_version > t.version
        ORDER BY 1, 2, 3, 4"""
    gather(session, found, query, lambda row: f"{_event(row)}: {row[4]}")
    return found


def _passages(session: Session) -> CheckFound:
    """Check that a passage is a part of the text that was judged, where that is still stored."""
    found = CheckFound(count(session, "passage"))
    query = """
        SELECT d.id, p.id, t.number, d.docno, j.name, e.revision, p.start, p.length, p.text,
               coalesce(e.document_sha256 = d.sha256, d.sha256 IS NULL) AS is_same
        FROM passage p JOIN judgement e ON e.id = p.judgement_id
        LEFT JOIN topic t ON t.id = e.topic_id LEFT JOIN judge j ON j.id = e.judge_id
        JOIN document d ON d.id = e.document_id ORDER BY d.id, p.id"""
    document, whole = None, ""
    stored = text("SELECT text FROM document WHERE id = :id")
    for row in session.execute(text(query)).all():
        if row[0] != document:
            document = row[0]
            raw = session.execute(stored, {"id": document}).scalar()
            whole = _decoded(raw or b"")
        part, start, length = _decoded(row.text), row.start, row.length
        # Offsets refer to the text that was judged; another one may have replaced it.
        is_there = not row.is_same or whole[start : start + length] == part
        if start < 0 or length < 1 or len(part) != length or not is_there:
            found.add(f"{_event(tuple(row)[2:])}: no part of its text at {start}")
    return found


def _decoded(raw: Any) -> str:
    """Return text of a column of bytes."""
    return raw if isinstance(raw, str) else bytes(raw).decode("utf-8", "surrogatepass")


EVENT_CHECKS = (
    Check("revisions", "judgement events", _revisions, f"events are missing: {RESTORE}"),
    Check("states", "judgement events", _states, RESTORE),
    Check("notes", "notes and marks", _kept_states, REPORT),
    Check("undo", "undo events", _undone, REPORT),
    Check("lineage", "judgement events", _lineage, RESTORE),
    Check("passages", "passages", _passages, RESTORE),
)


_UID = re.compile(r"[0-9a-f]{16}")
_PURPOSES = ("primary", "overlap", "calibration")


def _collection(session: Session) -> CheckFound:
    """Check that one row says what the collection is, and its scale can be read."""
    rows = session.execute(text("SELECT name, scale FROM collection")).all()
    found = CheckFound(len(rows))
    if len(rows) != 1:
        found.add(f"expected one row that names the collection, got {len(rows)}")
    for _, scale in rows:
        try:
            read = scale_from_json(json.loads(scale))
            make_scale(read.grades, relaxed=read.relaxed, rigid=read.rigid)
        except (ValueError, LookupError, TypeError, PoolerError) as error:
            found.add(f"the scale cannot be read: {error}")
    return found


def _guidelines(session: Session) -> CheckFound:
    """Check that versions count from 1 without gaps."""
    versions = session.execute(text("SELECT version FROM guideline ORDER BY version")).scalars()
    found = CheckFound()
    for expected, version in enumerate(versions, start=1):
        found.n_checked += 1
        if version != expected:
            found.add(f"expected version {expected}, got {version}")
            break
    return found


def _topic_versions(session: Session) -> CheckFound:
    """Check that every text that a topic had is kept, with the moment it came."""
    found = CheckFound(count(session, "topic"))
    query = """
        SELECT t.number, t.version, count(v.version)
        FROM topic t LEFT JOIN topic_version v ON v.topic_id = t.id
        GROUP BY t.number, t.version, t.changed_at
        HAVING t.version < 1 OR count(v.version) <> t.version - 1
            OR coalesce(max(v.version), 0) <> t.version - 1 OR coalesce(min(v.version), 1) <> 1
            OR (t.version = 1) <> (t.changed_at IS NULL)
        ORDER BY t.number"""
    gather(
        session,
        found,
        query,
        lambda row: f"topic {row[0]} is at version {row[1]}, and has {row[2]} earlier texts",
    )
    return found


def _erasures(session: Session) -> CheckFound:
    """Check that a judge who was erased is gone, and that the tombstone can be right."""
    found = CheckFound(count(session, "erasure"))
    query = f"""
        SELECT e.id, e.judgements, e.events, j.name
        FROM erasure e LEFT JOIN judge j ON j.uid = e.uid
        WHERE j.id IS NOT NULL OR e.judgements < 0 OR e.judgements > e.events
           OR e.kind NOT IN ({quoted(JudgeKind)})
        ORDER BY e.id"""
    gather(
        session,
        found,
        query,
        lambda row: (
            f"erased judge {row[0]}: `{row[3]}` is still there"
            if row[3] is not None
            else f"erased judge {row[0]}: {row[1]} judgements in {row[2]} events, or no known kind"
        ),
    )
    return found


def _judges(session: Session) -> CheckFound:
    """Check that a judge has a name that can be typed, an identity, and a known kind."""
    found = CheckFound()
    for name, kind, uid in session.execute(text("SELECT name, kind, uid FROM judge ORDER BY id")):
        found.n_checked += 1
        if kind not in set(JudgeKind):
            found.add(f"`{name}` is of the unknown kind `{kind}`")
        elif fault := id_fault(name):
            found.add(fault)
        elif not _UID.fullmatch(uid):
            found.add(f"`{name}` has no identity, but `{uid}`")
    return found


def _sittings(session: Session) -> CheckFound:
    """Check that a sitting ends after it began, and holds events of its own judge alone."""
    found = CheckFound(count(session, "sitting"))
    gather(
        session,
        found,
        """SELECT s.id, j.name FROM sitting s LEFT JOIN judge j ON j.id = s.judge_id
           WHERE j.id IS NULL OR s.ended_at < s.started_at OR s.seen_at < s.started_at
           ORDER BY s.id""",
        lambda row: f"sitting {row[0]} of `{row[1]}` ends before it begins, or has no judge",
    )
    gather(
        session,
        found,
        """SELECT e.sitting_id, count(*) FROM judgement e JOIN sitting s ON s.id = e.sitting_id
           WHERE s.judge_id <> e.judge_id GROUP BY e.sitting_id ORDER BY e.sitting_id""",
        lambda row: f"sitting {row[0]} has {row[1]} events of another judge",
    )
    return found


def _assignments(session: Session) -> CheckFound:
    """Check that a place is of a known purpose, and open or claimed only if its plan is so."""
    found = CheckFound(count(session, "assignment"))
    query = f"""
        SELECT t.number, d.docno, coalesce(j.name, 'nobody'), e.purpose, e.position
        FROM assignment e LEFT JOIN assignment_plan p ON p.id = e.plan_id
        LEFT JOIN topic t ON t.id = e.topic_id LEFT JOIN document d ON d.id = e.document_id
        LEFT JOIN judge j ON j.id = e.judge_id
        WHERE e.purpose NOT IN ({quoted(_PURPOSES)}) OR e.position < 0
           OR ((e.judge_id IS NULL OR e.lease_until IS NOT NULL) AND p.lease_s IS NULL)
           OR (e.judge_id IS NULL AND e.lease_until IS NOT NULL)
        ORDER BY 1, 2, 3"""
    gather(session, found, query, lambda row: f"topic {row[0]} `{row[1]}` of {row[2]}: {row[3]} at {row[4]}")
    for number, manifest in session.execute(text("SELECT id, manifest FROM assignment_plan")):
        try:
            json.loads(manifest)
        except ValueError as error:
            found.add(f"the manifest of plan {number} cannot be read: {error}")
    return found


PEOPLE_CHECKS = (
    Check("collection", "collection", _collection, RESTORE),
    Check("guidelines", "versions", _guidelines, RESTORE),
    Check("topic versions", "topics", _topic_versions, RESTORE),
    Check("judges", "judges", _judges, RESTORE),
    Check("erasures", "erased judges", _erasures, REPORT),
    Check("sittings", "sittings", _sittings, REPORT),
    Check("assignments", "places", _assignments, "pooler assign anew, or " + RESTORE),
)


_BATCH = 256
"""Texts fetched at a time."""


def wrong_texts(session: Session) -> CheckFound:
    """Check that the hash of a document is that of its stored title and text."""
    found = CheckFound()
    query = text(
        "SELECT docno, title, text, sha256 FROM document WHERE text IS NOT NULL"
        " OR title IS NOT NULL OR sha256 IS NOT NULL ORDER BY id"
    )
    options = {"yield_per": _BATCH}
    with session.connection().execute(query, execution_options=options) as result:
        for docno, title, body, sha256 in result:
            found.n_checked += 1
            if body is None or sha256 is None:
                found.add(f"`{docno}` has a hash without a text, or a text without a hash")
                continue
            raw = _raw(title or b"")
            stored = hashlib.sha256(b"%d " % len(raw) + raw + _raw(body)).hexdigest()
            if stored != sha256:
                found.add(f"`{docno}` has another title or text than its hash says")
    return found


def _raw(value: Any) -> bytes:
    """Return the bytes of a column of bytes, in which SQLite may have text."""
    return value.encode() if isinstance(value, str) else bytes(value)


TEXT_CHECKS = (
    Check(
        "texts",
        "documents with a text",
        wrong_texts,
        "take the texts again: pooler import docs FILE --replace",
    ),
)


_SHA256 = re.compile(r"[0-9a-f]{64}")
_CODEC = 1


def _ids(session: Session) -> CheckFound:
    """Check that topic ids, docnos and run tags are ids."""
    found = CheckFound()
    for table, column in (("topic", "number"), ("document", "docno"), ("run", "tag")):
        for (name,) in session.execute(text(f"SELECT {column} FROM {table} ORDER BY id")):
            found.n_checked += 1
            if fault := id_fault(name):
                found.add(f"{table}: {fault}")
    return found


def _runs(session: Session) -> CheckFound:
    """Check that a run has the hash of its file."""
    found = CheckFound()
    for tag, sha256 in session.execute(text("SELECT tag, sha256 FROM run ORDER BY id")):
        found.n_checked += 1
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            found.add(f"`{tag}` has no SHA-256 of its file, but {sha256!r}")
    return found


def _rankings(session: Session) -> CheckFound:
    """Check that a ranking can be read, is in order, and has known documents, each once."""
    found = CheckFound()
    documents = np.fromiter(session.execute(text("SELECT id FROM document")).scalars(), np.int64)
    known = np.zeros(1 + int(documents.max(initial=0)), np.bool_)
    known[documents] = True
    query = text("""
        SELECT r.tag, t.number, k.length, k.document_ids, k.scores, k.ranks, k.positions, k.codec
        FROM ranking k LEFT JOIN run r ON r.id = k.run_id LEFT JOIN topic t ON t.id = k.topic_id
        ORDER BY k.run_id, k.topic_id""")
    options = {"yield_per": _BATCH}
    with session.connection().execute(query, execution_options=options) as result:
        for row in result:
            found.n_checked += 1
            if fault := _ranking_fault(row, known):
                found.add(f"run `{row.tag}` topic {row.number}: {fault}")
    return found


def _ranking_fault(row: Any, known: NDArray[np.bool_]) -> str | None:
    """Say what is wrong with a stored ranking."""
    if row.codec != _CODEC:
        return f"unknown codec {row.codec}"
    try:
        ids = np.frombuffer(row.document_ids, "<i4")
        if ids.size != row.length:  # it says how much the others unpack to
            return f"expected {row.length} documents, got {ids.size}"
        scores = unpack_floats(row.scores)
        positions = unpack_integers(row.positions, row.length)
        ranks = None if row.ranks is None else unpack_integers(row.ranks, row.length)
    except (ValueError, LookupError, TypeError) as error:
        return f"it cannot be read: {error}"
    parts = (scores, positions) if ranks is None else (scores, positions, ranks)
    if any(part.size != row.length for part in parts):
        return f"expected {row.length} values, got {', '.join(str(one.size) for one in parts)}"
    if ids.size and (ids.min() < 1 or ids.max() >= known.size or not known[ids].all()):
        return "a document that is not there"
    if np.unique(ids).size != ids.size:
        return "a document twice"
    if not np.isfinite(scores).all() or np.any(scores[1:] > scores[:-1]):
        return "scores that do not fall"
    if not np.array_equal(np.sort(positions), np.arange(row.length)):
        return "places in the file that are not 0, 1, 2, ..."
    return None


def _pools(session: Session) -> CheckFound:
    """Check that a pool says how it was made, and draws no more than it may."""
    found = CheckFound()
    for name, manifest in session.execute(text("SELECT name, manifest FROM pool ORDER BY id")):
        found.n_checked += 1
        try:
            json.loads(manifest)
        except ValueError as error:
            found.add(f"the manifest of `{name}` cannot be read: {error}")
    query = """
        SELECT p.name, t.number, b.budget, count(*) FROM pool_topic b
        JOIN pool_entry e ON e.pool_id = b.pool_id AND e.topic_id = b.topic_id AND e.sampled
        JOIN pool p ON p.id = b.pool_id JOIN topic t ON t.id = b.topic_id
        GROUP BY p.name, t.number, b.budget HAVING count(*) > b.budget ORDER BY 1, 2"""
    gather(
        session,
        found,
        query,
        lambda row: f"`{row[0]}` drew {row[3]} documents of topic {row[1]}, more than {row[2]}",
    )
    return found


def _pool_entries(session: Session) -> CheckFound:
    """Check that documents to judge have places of their own, and probabilities are such."""
    found = CheckFound(count(session, "pool_entry"))
    gather(
        session,
        found,
        """SELECT p.name, t.number, e.position, e.n
           FROM (SELECT pool_id, topic_id, position, count(*) AS n FROM pool_entry WHERE sampled
                 GROUP BY pool_id, topic_id, position HAVING count(*) > 1) e
           LEFT JOIN pool p ON p.id = e.pool_id LEFT JOIN topic t ON t.id = e.topic_id
           ORDER BY 1, 2, 3""",
        lambda row: f"`{row[0]}` topic {row[1]}: {row[3]} documents at position {row[2]}",
    )
    gather(
        session,
        found,
        """SELECT p.name, t.number, d.docno FROM pool_entry e
           LEFT JOIN pool p ON p.id = e.pool_id LEFT JOIN topic t ON t.id = e.topic_id
           LEFT JOIN document d ON d.id = e.document_id
           WHERE p.id IS NULL OR t.id IS NULL OR d.id IS NULL OR e.position < 0 OR e.stratum < 0
              OR e.inclusion_probability < 0 OR e.inclusion_probability > 1
           ORDER BY 1, 2, 3""",
        lambda row: f"`{row[0]}` topic {row[1]} `{row[2]}`: no such row, place or probability",
    )
    return found


POOLING_CHECKS = (
    Check("ids", "ids", _ids, RESTORE),
    *TEXT_CHECKS,
    Check("runs", "runs", _runs, "take the file again: pooler import runs FILE --replace"),
    Check(
        "rankings",
        "rankings",
        _rankings,
        "take the run again: pooler import runs FILE --replace, or " + RESTORE,
    ),
    Check("pools", "pools", _pools, REPORT),
    Check("pool entries", "pooled documents", _pool_entries, REPORT),
)


_HASHED = {("document", "text"), ("document", "title")}
"""Columns that another check reads."""
_MOMENT = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"


def _file(session: Session) -> CheckFound:
    """Ask SQLite for its pages and indexes, and compare a sealed file with its checksum."""
    if is_postgresql(session):
        return CheckFound(0)  # the server looks after its own pages
    pages = session.execute(text("PRAGMA page_count")).scalar_one()
    found = CheckFound(int(pages))
    file: Any = session.get_bind()
    if fault := seal_fault(Path(file.url.database or "")):
        found.add(fault)
    for (said,) in session.execute(text("PRAGMA integrity_check")):
        for line in str(said).splitlines():
            if line != "ok" and not line.startswith("*** in database"):
                found.add(line)
    return found


def _references(session: Session) -> CheckFound:
    """Check that rows refer to rows that are there."""
    found = CheckFound()
    for table in SQLModel.metadata.sorted_tables:
        found.n_checked += count(session, table.name)
    if not is_postgresql(session):
        for table, row, parent, _ in session.execute(text("PRAGMA foreign_key_check")):
            found.add(f"row {row} of `{table}` refers to no `{parent}`")
        return found
    for table in SQLModel.metadata.sorted_tables:
        for key in table.foreign_keys:
            column, parent = key.parent.name, key.column
            query = f"""
                SELECT count(*) FROM "{table.name}" c WHERE c."{column}" IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM "{parent.table.name}" p
                                WHERE p."{parent.name}" = c."{column}")"""
            for _ in range(session.execute(text(query)).scalar_one()):
                found.add(f"a row of `{table.name}` refers to no `{parent.table.name}`")
    return found


def _values(session: Session) -> CheckFound:
    """Check that values are of their columns' types, moments are moments, and text is UTF-8."""
    found = CheckFound()
    for table in SQLModel.metadata.sorted_tables:
        found.n_checked += count(session, table.name)
        if not is_postgresql(session):
            _types(session, table, found)
        for column in table.columns:
            if _is_text(column) and (table.name, column.name) not in _HASHED:
                for fault in _undecodable(session, table, column):
                    found.add(fault)
    return found


def _is(column: Column[Any], kind: type[Any]) -> bool:
    """Say whether a column is of a kind, under whatever it is wrapped in."""
    return isinstance(getattr(column.type, "impl", column.type), kind)


def _is_text(column: Column[Any]) -> bool:
    """Say whether a column holds text, as text or as bytes."""
    return isinstance(column.type, RawText) or _is(column, String)


def _types(session: Session, table: Table, found: CheckFound) -> None:
    """Compare the types of values, which SQLite leaves open, with those of their columns."""
    wrong = []
    for column in table.columns:
        # Of a column that is missing, SQLite would take the bare name for a text.
        name = f'"{table.name}"."{column.name}"'
        if _is(column, Boolean):
            wrong.append(f"{name} NOT IN (0, 1)")
        elif _is(column, DateTime):
            wrong.append(f"{name} NOT GLOB '{_MOMENT}' OR datetime({name}) IS NULL")
        elif _is(column, Integer):
            wrong.append(f"typeof({name}) NOT IN ('integer', 'null')")
        elif _is(column, Float):
            wrong.append(f"typeof({name}) NOT IN ('real', 'integer', 'null')")
        elif _is(column, LargeBinary):
            wrong.append(f"typeof({name}) NOT IN ('blob', 'null')")
        else:
            wrong.append(f"typeof({name}) NOT IN ('text', 'null')")
    # No value is no fault of its type.
    tests = [
        f'("{column.name}" IS NOT NULL AND ({test}))'
        for column, test in zip(table.columns, wrong, strict=True)
    ]
    shown = ", ".join(tests)
    query = f'SELECT {shown} FROM "{table.name}" WHERE {" OR ".join(tests)}'
    for row in session.execute(text(query)):
        names = [column.name for column, bad in zip(table.columns, row, strict=True) if bad]
        found.add(f"`{table.name}` has a value of another type in `{names[0]}`")


def _undecodable(session: Session, table: Table, column: Column[Any]) -> Iterator[str]:
    """Tell of values of a column that are no UTF-8."""
    name = f'"{column.name}"'
    if not is_postgresql(session):
        name = f"CAST({name} AS BLOB)"
    elif not _is(column, LargeBinary):
        return  # the server has seen to it
    query = f'SELECT DISTINCT {name} FROM "{table.name}" WHERE length({name}) > 0'
    for (raw,) in session.execute(text(query)):
        try:
            bytes(raw).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            yield f"`{table.name}` has a text in `{column.name}` that is no UTF-8"


FILE_CHECKS = (Check("file", "pages", _file, RESTORE),)
VALUE_CHECKS = (Check("references", "rows", _references, RESTORE), Check("values", "rows", _values, RESTORE))


def _tables(session: Session) -> CheckFound:
    """Check that the tables are those of the models; every difference is told."""
    from store.db.differences import differences  # Alembic takes time to import

    told = [one.told for one in differences(session.connection())]
    return CheckFound(len(TABLES), len(told), told)


TABLE_CHECKS = (
    Check(
        "tables",
        "tables",
        _tables,
        "pooler upgrade makes a backup, then adds what is missing and says what it cannot mend",
    ),
)
