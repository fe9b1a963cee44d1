"""Small collections of everything, drawn at random; and what is in one, without row ids."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sqlalchemy import inspect, select, text, update

from store.collection import Collection
from store.content.pools import Draw
from store.db.engine import reading, writing
from store.db.tables import ASSIGNMENT, ASSIGNMENT_PLAN, TABLES
from store.errors import StoreError
from store.records import Action, Document, JudgeKind, Passage, Pool, PoolEntry, Qrel, Ranking, Run, Topic
from tests.helpers.places import held_place
from tests.helpers.world import JudgeAtWork, change_stored, engine_of

TOPICS = ("1", "01", "10", "9", "T\u3042", '"q"')
DOCNOS = tuple("abcdefgh")
TAGS = ("bm25", "BM25", "../up", "a/b", "con", "文書", ".hidden", "a'b\"c")
JUDGES = ("ann", "Ann", "bob", "../eve")
PROSE = st.text(st.sampled_from("ab \t\n\r\\\x00\x1b\u2028\u202e\ud800é日|`\"'🙂"), max_size=8).filter(
    lambda prose: "\ud800\udc00" not in prose
)
MOMENT = datetime(2026, 3, 1, tzinfo=UTC)


def fill(collection: Collection, where: str, data: st.DataObject) -> None:
    """Fill an empty collection of scale 0-2."""
    draw = data.draw
    topics = draw(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=3, unique=True))
    listed = [Topic(topic, draw(PROSE), draw(PROSE), draw(PROSE)) for topic in topics]
    collection.topics.add(listed[: draw(st.integers(0, len(listed)))])
    for version in range(draw(st.integers(0, 2))):
        collection.guidelines.add(f"{version}{draw(PROSE)}")
    tags = draw(st.lists(st.sampled_from(TAGS), max_size=3, unique=True))
    for tag in tags:
        collection.runs.add(_run(tag, topics, data))
        change_stored(where, "UPDATE run SET priority = :n WHERE tag = :t", renews=True, n=len(tag), t=tag)
    for number in range(draw(st.integers(1, 3))):
        pool = _pool(f"p {number}\t{draw(st.sampled_from(TAGS))}", topics, tags, data)
        collection.pools.add(pool)
        for entry in pool.entries if pool.budgets else ():
            with suppress(StoreError):  # it is drawn already
                collection.pools.draw(pool.name, entry.topic, partial(_always, entry.docno))
        if draw(st.integers(0, 3)) == 0:
            collection.pools.withdraw(collection.pools.all()[-1].name)
    fields = st.dictionaries(st.sampled_from(("url", "日付", 'a"b')), PROSE, max_size=2)
    markup = st.sampled_from((None, None, "plain", "html", "markdown"))
    documents = [
        Document(
            docno, draw(PROSE), draw(st.none() | st.just("abc abc abc") | PROSE),
            tuple(draw(fields).items()), draw(markup),
        )
        for docno in draw(st.lists(st.sampled_from(DOCNOS), max_size=6, unique=True))
    ]  # fmt: skip
    shown = draw(st.none() | st.just(["日付", "url"]))
    collection.documents.add(documents, all_texts=draw(st.booleans()), fields=shown)
    _people(collection, where, data)
    for _ in range(draw(st.integers(0, 2))):
        again = Topic(draw(st.sampled_from(topics)), draw(PROSE), draw(PROSE), draw(PROSE))
        collection.topics.add([again], replace=True)
    _after(collection, where, data)


def _always(docno: str, _draws: Sequence[Draw]) -> str:
    """Choose one document."""
    return docno


def _run(tag: str, topics: list[str], data: st.DataObject) -> Run:
    """Draw a run."""
    draw = data.draw
    rankings = []
    some = st.sampled_from(topics)
    for topic in draw(st.lists(some, min_size=1, max_size=2, unique=True)):
        docnos = draw(st.lists(st.sampled_from(DOCNOS), min_size=1, max_size=6, unique=True))
        numbers = st.floats(-9, 9) | st.sampled_from([0.0, -0.0, 1.5, 1e300, 5e-324, 0.1])
        n = len(docnos)
        scores = draw(st.lists(numbers, min_size=n, max_size=n))
        whole = st.integers(-3, 9) | st.sampled_from([2**63 - 1, -(2**63)])
        ranks = draw(st.none() | st.lists(whole, min_size=n, max_size=n))
        stated = None if ranks is None else np.array(ranks, np.int64)
        rankings.append(Ranking(topic, docnos, np.array(scores), stated))
    group, file = draw(st.sampled_from(["", "g", "a b"])), draw(PROSE)
    return Run(tag, rankings, hashlib.sha256(tag.encode()).hexdigest(), file, group, draw(st.booleans()))


def _pool(name: str, topics: list[str], tags: list[str], data: st.DataObject) -> Pool:
    """Draw a pool: plain, sampled or adaptive."""
    draw = data.draw
    kind = draw(st.sampled_from(["plain", "sampled", "adaptive"]))
    entries = []
    for topic in topics:
        docnos = draw(st.lists(st.sampled_from(DOCNOS), max_size=6, unique=True))
        for position, docno in enumerate(docnos):
            if kind == "sampled":
                share = draw(st.sampled_from([0.5, 1 / 3, 1.0]))
                is_in = draw(st.booleans())
                entries.append(PoolEntry(topic, docno, position, 0.25, 2, share, is_in))
            else:
                priority = draw(st.none() | st.floats(-1, 1))
                entry = PoolEntry(topic, docno, position, priority, sampled=kind == "plain")
                entries.append(entry)
    budgets = dict.fromkeys(topics, 2) if kind == "adaptive" else {}
    manifest = {"strategy": "x", "out_order": "docno", "prose": draw(PROSE), "share": 0.1}
    return Pool(entries, manifest, name, draw(st.sampled_from(["0", "r2"])), tuple(tags), budgets)


def _people(collection: Collection, where: str, data: st.DataObject) -> None:
    """Let judges judge at their desks, skip, undo, mark and note; and import some grades."""
    draw = data.draw
    names = draw(st.lists(st.sampled_from(JUDGES), max_size=3, unique=True))
    for name in names:
        collection.judges.add(name, JudgeKind.HUMAN)
    for name in names[: draw(st.integers(0, 3))]:
        desk = collection.desk(name, program=draw(st.sampled_from(["", "pooler 1"])))
        for line in desk.inbox():
            sitting = JudgeAtWork(desk, line.topic)
            for _ in range(draw(st.integers(0, 6)) if sitting.tasks else 0):
                _act(sitting, data)
        if draw(st.booleans()):
            desk.leave()
    grades = [Qrel("1", docno, draw(st.integers(0, 2)), "7") for docno in "az"]
    collection.judgements.add({"model": grades[: draw(st.integers(0, 2))]}, JudgeKind.MODEL)
    if draw(st.booleans()):
        collection.judges.set_disabled(["model"], disabled=True)
    number = count()
    held: dict[int | None, list[tuple[str, str | None]]] = {}
    for name in names:
        if draw(st.booleans()):
            own = draw(st.sampled_from([None, name]))
            lease = draw(st.sampled_from([None, 600])) if own else 600
            docno = DOCNOS[next(number)]
            collection.judgements.add({"model": [Qrel("1", docno, 0)]}, JudgeKind.MODEL,
                                         replace=True)  # fmt: skip
            held.setdefault(lease, []).append((docno, own))
    for lease, kept in held.items():  # a plan at a time, as commands make them
        for docno, own in kept:
            order = {"display_order": "random", "order_seed": 2**40}
            held_place(where, "1", docno, own, lease_s=lease, purpose="overlap", **order)
    with engine_of(where) as engine, writing(engine) as session:
        until = MOMENT + timedelta(microseconds=1)
        by_lease = select(ASSIGNMENT_PLAN.c.id).where(ASSIGNMENT_PLAN.c.lease_s.is_not(None))
        claimed = ASSIGNMENT.c.judge_id.is_not(None) & ASSIGNMENT.c.plan_id.in_(by_lease)
        session.connection().execute(update(ASSIGNMENT).where(claimed).values(lease_until=until))


def _after(collection: Collection, where: str, data: st.DataObject) -> None:
    """Let judges come, judge by texts that have changed, be renamed, and be erased."""
    draw = data.draw
    # Nobody is at work any more.
    change_stored(where, "UPDATE sitting SET seen_at = :at", renews=True, at=MOMENT)
    known = [judge.name for judge in collection.judges.all() if not judge.disabled]
    for name in known[: draw(st.integers(0, 1))]:
        desk = collection.desk(name)
        for line in desk.inbox():
            desk.topic(line.topic)
            _act(JudgeAtWork(desk, line.topic), data)
        desk.leave()
    change_stored(where, "UPDATE sitting SET seen_at = :at", renews=True, at=MOMENT)
    if known and draw(st.booleans()):
        collection.judges.rename(known[0], "\u5be9")
    for judge in collection.judges.all()[: draw(st.integers(0, 2))]:
        collection.erasures.erase(judge.name)


def _act(sitting: JudgeAtWork, data: st.DataObject) -> None:
    """Do one thing at a desk."""
    draw = data.draw
    sitting.look()  # an undo may have changed a document of another topic
    if not sitting.tasks:  # all of them may have left the pools
        return
    docno = draw(st.sampled_from(sorted(sitting.tasks)))
    action = draw(st.sampled_from(["grade", "skip", "cannot", "note", "mark", "undo"]))
    if action == "undo":
        sitting.undo()
    elif action == "grade":
        timing = {"shown_at": MOMENT, "dwell_ms": 5, "active_ms": 4, "dropped_keys": 1}
        sitting.act(docno, Action.JUDGE, grade=draw(st.integers(0, 2)), position=0, **timing)
    elif action == "skip":
        sitting.act(docno, Action.SKIP)
    elif action == "cannot":
        sitting.act(docno, Action.CANNOT, reason=draw(PROSE))
    elif action == "note":
        sitting.act(docno, Action.NOTE, note=draw(PROSE))
    elif "abc abc" in (sitting.desk.page(docno).text or ""):
        sitting.act(docno, Action.MARK, passages=(Passage(4, 3, "abc"), Passage(0, 3, "abc")))


def named_contents(where: str) -> dict[str, list[dict[str, Any]]]:
    """Return every row of every table with names in place of row ids, in the order of ids.

    Rows whose order says nothing are sorted.
    """
    with engine_of(where) as engine, reading(engine) as session:
        connection = session.connection()
        assert set(TABLES) <= set(inspect(connection).get_table_names())
        found = {
            name: [dict(row._mapping) for row in session.execute(table.select())]
            for name, table in TABLES.items()
            if name != "digest"  # as row ids are
        }
        schema = session.execute(text("SELECT version_num FROM alembic_version")).all()
    assert len(schema) == 1
    for rows in found.values():
        rows.sort(key=lambda row: row.get("id", 0))
    keys = {"topic": "number", "document": "docno", "run": "tag", "pool": "name", "judge": "name"}
    names: dict[str, dict[int, Any]] = {
        table: {row["id"]: row[key] for row in found[table]} for table, key in keys.items()
    }
    for table in ("sitting", "assignment_plan"):
        names[table] = {row["id"]: place for place, row in enumerate(found[table])}
    names["judgement"] = {
        row["id"]: (row["topic_id"], row["document_id"], row["judge_id"], row["revision"])
        for row in found["judgement"]
    }
    refers = {f"{table}_id": table for table in names} | {"plan_id": "assignment_plan"}
    for table, rows in found.items():
        for row in rows:
            row.pop("id", None)
            for column, other in refers.items():
                if row.get(column) is not None:
                    row[column] = _named(names, other, row[column])
            if table == "judgement" and row["undoes"] is not None:
                row["undoes"] = _named(names, "judgement", row["undoes"])
            if table == "ranking":
                ids = np.frombuffer(row["document_ids"], "<i4").tolist()
                row["document_ids"] = [names["document"][number] for number in ids]
            row.pop("digest", None)
            row.pop("secret", None)  # stays at home
    in_order = {"pool", "sitting", "judgement", "assignment", "assignment_plan"}
    return {table: rows if table in in_order else sorted(rows, key=repr) for table, rows in found.items()}


def _named(names: dict[str, dict[int, Any]], table: str, row_id: int) -> Any:
    """Return the name of a row."""
    name = names[table][row_id]
    if table == "judgement":
        topic, document, judge, revision = name
        parts = (("topic", topic), ("document", document), ("judge", judge))
        return (*(names[other][one] for other, one in parts), revision)
    return name
