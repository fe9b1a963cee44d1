"""Checks of what is judged and where it came from: ids, runs, rankings, pools."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text
from sqlmodel import Session

from store.checks.check import REPORT, RESTORE, Check, Found, count, gather
from store.checks.texts import TEXT_CHECKS
from store.formats.lines import id_fault
from store.packing import unpack_floats, unpack_integers

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CODEC = 1
_BATCH = 256
"""Rows fetched at a time where they are large."""


def _ids(session: Session) -> Found:
    """Check that topic ids, docnos and run tags are ids."""
    found = Found()
    for table, column in (("topic", "number"), ("document", "docno"), ("run", "tag")):
        for (name,) in session.execute(text(f"SELECT {column} FROM {table} ORDER BY id")):
            found.n_checked += 1
            if fault := id_fault(name):
                found.add(f"{table}: {fault}")
    return found


def _runs(session: Session) -> Found:
    """Check that a run has the hash of its file."""
    found = Found()
    for tag, sha256 in session.execute(text("SELECT tag, sha256 FROM run ORDER BY id")):
        found.n_checked += 1
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            found.add(f"`{tag}` has no SHA-256 of its file, but {sha256!r}")
    return found


def _rankings(session: Session) -> Found:
    """Check that a ranking can be read, is in order, and has known documents, each once."""
    found = Found()
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


def _pools(session: Session) -> Found:
    """Check that a pool says how it was made, and draws no more than it may."""
    found = Found()
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


def _pool_entries(session: Session) -> Found:
    """Check that documents to judge have places of their own, and probabilities are such."""
    found = Found(count(session, "pool_entry"))
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
    Check("rankings", "rankings", _rankings,
          "take the run again: pooler import runs FILE --replace, or " + RESTORE),
    Check("pools", "pools", _pools, REPORT),
    Check("pool entries", "pooled documents", _pool_entries, REPORT),
)  # fmt: skip
