"""Collections with a bit of everything: one, any that may be drawn, what is in one; processes that judge."""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sqlalchemy import insert, inspect, select, text, update

from store.collection import Collection
from store.content.pools import Draw
from store.db.digests import write_event_digests
from store.db.engine import reading, writing
from store.db.tables import (
    ASSIGNMENT,
    ASSIGNMENT_PLAN,
    DOCUMENT,
    ERASURE,
    JUDGE,
    JUDGEMENT,
    TABLES,
    TOPIC,
    TOPIC_VERSION,
)
from store.errors import StoreError
from store.judging.rejudging import Why
from store.model_judge import Answer, ModelIdentity, Unreadable, prompt_hash
from store.records import (
    Action,
    Document,
    JudgeKind,
    Passage,
    Pool,
    PoolEntry,
    Qrel,
    Ranking,
    Run,
    State,
    Topic,
)
from tests.helpers.drawing import adaptive_pool
from tests.helpers.places import held_place
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, make_run, parse_scale

TEXT = "水道橋 — the aqueduct was inspected.\r\nIt\x00 holds."
LATER = datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
DOCNOS = [f"d{number:02}" for number in range(12)]


def fill(name: str, *, n_events: int = 60, seed: int = 1) -> None:
    """Make a collection: texts, runs, two pools, places, guidelines, histories with undo; a file once."""
    if "://" in name:
        _fill(name, n_events, seed)
    else:
        Path(name).write_bytes(_filled(n_events, seed))


@cache
def _filled(n_events: int, seed: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "full.db"
        _fill(str(file), n_events, seed)
        return file.read_bytes()


def _fill(name: str, n_events: int, seed: int) -> None:
    dice = random.Random(seed)
    scale = parse_scale("0-2")
    with Collection.create(name, name="full", scale=scale, program="test") as made:
        made.topics.add([Topic("1", "aqueducts", "水", "narrative\n"), Topic("007", 'a "title"')])
        made.documents.add(
            [
                Document(docno, f"Title {docno}", TEXT + docno, (("url", f"http://{docno}"),), "plain")
                for docno in DOCNOS
            ],
            all_texts=True,
            fields=["url"],
        )
        for tag in ("bm25", "lm"):
            ranked = {
                topic: [(docno, dice.random()) for docno in dice.sample(DOCNOS, 8)] for topic in ("1", "007")
            }
            made.runs.add(make_run(tag, ranked, sha256=hashlib.sha256(tag.encode()).hexdigest()))
        made.pools.add(make_pool({"1": DOCNOS, "007": DOCNOS[:6]}, run_tags=("bm25", "lm")))
        made.pools.add(adaptive_pool({"007": DOCNOS[6:]}, budget=3, name="drawn"))
        made.pools.draw("drawn", "007", lambda drawn: DOCNOS[6 + len(drawn)])
        for judge in ("ann", "bob", "cy", "dee"):
            made.judges.add(judge, JudgeKind.HUMAN)
        made.guidelines.add("# One\n")
        made.judgements.add({"qrels": [Qrel("1", docno, 1) for docno in DOCNOS]},
                               JudgeKind.IMPORTED)  # fmt: skip
        for judge in ("ann", "bob"):
            judge_by_chance(made, judge, dice, n_events // 2)
        made.guidelines.add("# Two\n")
        made.rejudging.reopen(judges=["ann"], topics=["1"], why=[Why.GUIDELINES])
        judge_by_chance(made, "ann", dice, 5)
        identity = ModelIdentity("m-1", prompt_sha256=prompt_hash("水 {text}"), family="m",
                                 parameters={"temperature": 0})  # fmt: skip
        answers = [
            Answer("gpt", "1", "d00", grade=2, body="水 2".encode(), prompt_tokens=9, cost=0.25,
                   probabilities={0: 0.25, 2: 0.75}, mass=0.9, sent_at=LATER, received_at=LATER),
            Answer("gpt", "1", "d01", unreadable=Unreadable.REFUSAL, body=b"no"),
        ]  # fmt: skip
        made.models.take("gpt", answers, identity=identity, prompt="水 {text}")
    for judge in ("ann", "bob", "cy", "dee"):
        held_place(name, "1", DOCNOS, judge, purpose="overlap")
    held_place(name, "007", DOCNOS[3:6], None, lease_s=600)
    add_history(name)


def add_history(name: str) -> None:
    """Add what months bring: a corrected topic, an erased judge, a grade given twice."""
    with engine_of(name) as engine, writing(engine) as session:
        connection = session.connection()
        topic = connection.execute(select(TOPIC).where(TOPIC.c.number == "1")).one()
        texts = {"title": topic.title, "description": "", "narrative": topic.narrative}
        before = {"topic_id": topic.id, "version": 1, "changed_at": None, **texts}
        connection.execute(insert(TOPIC_VERSION), [before])
        now = {"version": 2, "changed_at": LATER, "title": "aqueducts, corrected"}
        connection.execute(update(TOPIC).where(TOPIC.c.id == topic.id).values(now))
        gone = {"uid": "0123456789abcdef", "kind": "human", "judgements": 3, "events": 5,
                "erased_at": LATER}  # fmt: skip
        connection.execute(insert(ERASURE), [gone])
        judge = connection.execute(select(JUDGE.c.id).where(JUDGE.c.name == "cy")).scalar_one()
        # Graded again, noted by an older text of the topic, then the first grade taken back, or noted again.
        for docno, last, grade in (("d10", Action.UNDO, None), ("d11", Action.NOTE, 2)):
            document = select(DOCUMENT.c.id).where(DOCUMENT.c.docno == docno).scalar_subquery()
            same = {"topic_id": topic.id, "judge_id": judge, "judged_at": LATER, "reason": "",
                    "document_id": connection.execute(select(document)).scalar_one()}  # fmt: skip
            first = connection.execute(insert(JUDGEMENT).values(
                **same, revision=1, action=Action.JUDGE, state=State.JUDGED, grade=1
            )).inserted_primary_key[0]  # fmt: skip
            state = State.UNJUDGED if grade is None else State.JUDGED
            undone = first if last is Action.UNDO else None
            for row in (
                {"revision": 2, "action": Action.JUDGE, "state": State.JUDGED, "grade": 2,
                 "topic_version": 2},
                {"revision": 3, "action": Action.NOTE, "state": State.JUDGED, "grade": 2, "topic_version": 1},
                {"revision": 4, "action": last, "state": state, "grade": grade, "undoes": undone},
            ):  # fmt: skip
                connection.execute(insert(JUDGEMENT).values(**same, **row))
        write_event_digests(session)


def judge_by_chance(made: Collection, judge: str, dice: random.Random, n_events: int) -> None:
    """Let a judge do all that can be done, in any order."""
    sitting = JudgeAtWork(made.desk(judge, program="test"), "1")
    for _ in range(n_events):
        docno = dice.choice(sorted(sitting.tasks))
        what = dice.choice([Action.JUDGE, Action.JUDGE, Action.SKIP, Action.CANNOT, Action.NOTE,
                            Action.MARK, Action.UNDO])  # fmt: skip
        if what is Action.UNDO:
            sitting.undo()
        elif what is Action.JUDGE:
            sitting.grade(docno, dice.randrange(3))
        elif what is Action.MARK:
            sitting.act(docno, what, passages=(Passage(0, 3, "水道橋"),))
        else:
            sitting.act(docno, what, note="備考: why", reason="torn" * (what is Action.CANNOT))
    sitting.desk.leave()


def judge_to_file(name: str, judge: str, told: str, stop: str) -> None:
    """Grade without end, noting each event in a file when it is acknowledged.

    Runs in a process of its own, until the file `stop` is there.
    """
    with Collection(name) as collection, Path(told).open("a", encoding="utf-8") as file:
        sitting = JudgeAtWork(collection.desk(judge), "1")
        number = 0
        while not Path(stop).exists():
            for docno in list(sitting.tasks):
                number += 1
                try:
                    task = sitting.grade(docno, number % 3)
                except StoreError as error:
                    # A judge who is told to wait tries again; nothing was acknowledged.
                    if "did not finish in time" not in error.message:
                        raise
                    continue
                file.write(f"{judge} {docno} {task.revision} {task.grade}\n")
                file.flush()
                time.sleep(0.002)
        sitting.desk.leave()


TOPICS = ("1", "01", "10", "9", "T\u3042", '"q"')
LETTERS = tuple("abcdefgh")
TAGS = ("bm25", "BM25", "../up", "a/b", "con", "文書", ".hidden", "a'b\"c")
NAMES = ("ann", "Ann", "bob", "../eve")
PROSE = st.text(st.sampled_from("ab \t\n\r\\\x00\x1b\u2028\u202e\ud800é日|`\"'🙂"), max_size=8).filter(
    lambda prose: "\ud800\udc00" not in prose
)
MOMENT = datetime(2026, 3, 1, tzinfo=UTC)


def fill_by_chance(collection: Collection, where: str, data: st.DataObject) -> None:
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
        for docno in draw(st.lists(st.sampled_from(LETTERS), max_size=6, unique=True))
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
        docnos = draw(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=6, unique=True))
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
        docnos = draw(st.lists(st.sampled_from(LETTERS), max_size=6, unique=True))
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
    names = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
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
            docno = LETTERS[next(number)]
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
