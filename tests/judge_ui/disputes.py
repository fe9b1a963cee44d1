"""A collection whose judges disagree, and an adjudicator at work on it."""

from __future__ import annotations

from typing import Any

from judge_ui.session.session import AdjudicatingSession
from store.collection import Collection
from store.judging.disagreements import Selection
from store.records import Action, Document, JudgeKind, Judgement, Passage
from tests.helpers.world import JudgeAtWork
from tests.judge_ui.conftest import ENGLISH, JAPANESE, Clock, Maker

JUDGES = ("alice", "bob", "carolina")
GRADES: dict[str, tuple[int | None, ...]] = {
    "alice": (0, 1, 1, 2),
    "bob": (2, 0, 1, 0),
    "carolina": (2, None, 1, 0),
}
"""Of e0 to e3: gap 2; 0, 1 and cannot; agreed; gap 2."""


def make_disputed(make_collection: Maker) -> Collection:
    """Make a collection in which three judges disagree on e0, e1, e3, and two of them on j0."""
    english = [Document(f"e{n}", f"Bridge {n}", f"Text of bridge {n}.") for n in range(4)]
    japanese = [Document("j0", "研究", "検索の評価。")]
    collection = make_collection({ENGLISH: english, JAPANESE: japanese})
    collection.judges.add("carolina", JudgeKind.HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    for name in JUDGES:
        sitting = JudgeAtWork(collection.desk(name), "12")
        for docno, grade in zip(sitting.tasks, GRADES[name], strict=True):
            if grade is None:
                sitting.act(docno, Action.CANNOT, reason="unreadable")
            else:
                sitting.grade(docno, grade)
        if name == "bob":
            sitting.act("e0", Action.NOTE, note="names a schedule")
            sitting.act("e0", Action.MARK, passages=(Passage(8, 8, "bridge 0"),))
        sitting.desk.leave()
    for name, grade in (("alice", 0), ("bob", 1)):
        sitting = JudgeAtWork(collection.desk(name), "0013")
        sitting.grade("j0", grade)
        sitting.desk.leave()
    return collection


def change(collection: Collection, judge: str, docno: str, grade: int) -> None:
    """Let a judge decide otherwise."""
    sitting = JudgeAtWork(collection.desk(judge), "12")
    sitting.grade(docno, grade)
    sitting.desk.leave()


def begin(
    collection: Collection, *, topic: str | None = "12", clock: Clock | None = None, **wanted: Any
) -> AdjudicatingSession:
    """Sit down as the adjudicator, a topic open or not, its briefing read."""
    desk = collection.adjudication_desk("zoe", selection=Selection(**wanted))
    timing = {} if clock is None else {"clock": clock}
    session = AdjudicatingSession(desk, min_dwell=0.0, **timing)
    if topic is not None:
        session.open_topic(topic)
        session.needs_briefing = False
    return session


def docno(session: AdjudicatingSession) -> str | None:
    """Name the document before the adjudicator."""
    return None if session.task is None else session.task.docno


def rulings(collection: Collection) -> dict[str, Judgement]:
    """Return the adjudicator's judgements by docno."""
    return {judgement.docno: judgement for judgement in collection.judgements.current(["zoe"])}
