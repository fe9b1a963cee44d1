"""Checks of the collection itself and of who works in it: scale, versions, judges, sittings."""

from __future__ import annotations

import json
import re

from sqlalchemy import text
from sqlmodel import Session

from store.checks.check import REPORT, RESTORE, Check, Found, count, gather, quoted
from store.errors import PoolerError
from store.formats.lines import id_fault
from store.records import JudgeKind
from store.scale import make_scale, scale_from_json

_UID = re.compile(r"[0-9a-f]{16}")
_PURPOSES = ("primary", "overlap", "calibration")


def _collection(session: Session) -> Found:
    """Check that one row says what the collection is, and its scale can be read."""
    rows = session.execute(text("SELECT name, scale FROM collection")).all()
    found = Found(len(rows))
    if len(rows) != 1:
        found.add(f"expected one row that names the collection, got {len(rows)}")
    for _, scale in rows:
        try:
            read = scale_from_json(json.loads(scale))
            make_scale(read.grades, relaxed=read.relaxed, rigid=read.rigid)
        except (ValueError, LookupError, TypeError, PoolerError) as error:
            found.add(f"the scale cannot be read: {error}")
    return found


def _guidelines(session: Session) -> Found:
    """Check that versions count from 1 without gaps."""
    versions = session.execute(text("SELECT version FROM guideline ORDER BY version")).scalars()
    found = Found()
    for expected, version in enumerate(versions, start=1):
        found.n_checked += 1
        if version != expected:
            found.add(f"expected version {expected}, got {version}")
            break
    return found


def _topic_versions(session: Session) -> Found:
    """Check that every text that a topic had is kept, with the moment it came."""
    found = Found(count(session, "topic"))
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


def _erasures(session: Session) -> Found:
    """Check that a judge who was erased is gone, and that the tombstone can be right."""
    found = Found(count(session, "erasure"))
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


def _judges(session: Session) -> Found:
    """Check that a judge has a name that can be typed, an identity, and a known kind."""
    found = Found()
    for name, kind, uid in session.execute(text("SELECT name, kind, uid FROM judge ORDER BY id")):
        found.n_checked += 1
        if kind not in set(JudgeKind):
            found.add(f"`{name}` is of the unknown kind `{kind}`")
        elif fault := id_fault(name):
            found.add(fault)
        elif not _UID.fullmatch(uid):
            found.add(f"`{name}` has no identity, but `{uid}`")
    return found


def _sittings(session: Session) -> Found:
    """Check that a sitting ends after it began, and holds events of its own judge alone."""
    found = Found(count(session, "sitting"))
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


def _assignments(session: Session) -> Found:
    """Check that a place is of a known purpose, and open or claimed only if its plan is so."""
    found = Found(count(session, "assignment"))
    query = f"""
        SELECT t.number, d.docno, coalesce(j.name, 'nobody'), e.purpose, e.position
        FROM assignment e LEFT JOIN assignment_plan p ON p.id = e.plan_id
        LEFT JOIN topic t ON t.id = e.topic_id LEFT JOIN document d ON d.id = e.document_id
        LEFT JOIN judge j ON j.id = e.judge_id
        WHERE e.purpose NOT IN ({quoted(_PURPOSES)}) OR e.position < 0
           OR ((e.judge_id IS NULL OR e.lease_until IS NOT NULL) AND p.lease_s IS NULL)
           OR (e.judge_id IS NULL AND e.lease_until IS NOT NULL)
        ORDER BY 1, 2, 3"""
    gather(
        session,
        found,
        query,
        lambda row: f"topic {row[0]} `{row[1]}` of {row[2]}: {row[3]} at {row[4]}",
    )
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
