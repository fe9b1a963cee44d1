"""A collection with a bit of everything, and processes that judge in it."""

from __future__ import annotations

import hashlib
import random
import time
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import insert, select, update

from store.collection import Collection
from store.db.digests import write_event_digests
from store.db.engine import writing
from store.db.tables import DOCUMENT, ERASURE, JUDGE, JUDGEMENT, TOPIC, TOPIC_VERSION
from store.errors import StoreError
from store.judging.rejudging import Why
from store.model_judge import Answer, ModelIdentity, Unreadable, prompt_hash
from store.records import Action, Document, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.drawing import adaptive_pool
from tests.helpers.places import held_place
from tests.helpers.world import JudgeAtWork, engine_of, make_pool, make_run, parse_scale

TEXT = "水道橋 — the aqueduct was inspected.\r\nIt\x00 holds."
LATER = datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
DOCNOS = [f"d{number:02}" for number in range(12)]


def fill(name: str, *, n_events: int = 60, seed: int = 1) -> None:
    """Make a collection: texts, runs, two pools, places, guidelines, histories with undo."""
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
