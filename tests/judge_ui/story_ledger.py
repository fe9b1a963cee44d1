"""Every event of one judge as the store has it, for stories that are checked by what they leave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from store.collection import Collection
from store.db.engine import reading
from store.db.tables import DOCUMENT, JUDGEMENT, PASSAGE, TOPIC
from store.records import Action, Passage, Task
from store.text import sanitise

TOPICS = {"1": "abc", "2": "de"}
RAW = "\x00one\r\ntwo \ud800three\r\r\nfour"
SHOWN = sanitise(RAW)
PASSAGES = [Passage(SHOWN.index(word), len(word), word) for word in ("one\ntwo", "three", "four")]

Pair = tuple[str, str]


@dataclass(frozen=True)
class Written:
    """One event as the store has it."""

    id: int
    pair: Pair
    revision: int
    action: Action
    undoes: int | None
    sitting: int | None
    stands: tuple[Any, ...]
    """State, grade, reason, note, and the passages of the raw text."""


NOTHING_YET = ("unjudged", None, "", "", ())


@dataclass
class Ledger:
    """Every event of one judge, read from the store, and what was undone."""

    events: list[Written] = field(default_factory=list)

    def of(self, pair: Pair) -> list[Written]:
        """Return the events on a document by rising revision."""
        return [one for one in self.events if one.pair == pair]

    def stands(self, pair: Pair, revision: int | None = None) -> tuple[Any, ...]:
        """Say how a document stood after a revision, by default the newest."""
        own = self.of(pair)
        if revision is None:
            revision = len(own)
        return own[revision - 1].stands if revision else NOTHING_YET

    def undoable(self, sitting: int | None) -> list[Written]:
        """Return the events of a sitting that are not taken back, the oldest first."""
        undone = {one.undoes for one in self.events}
        return [
            one
            for one in self.events
            if one.sitting == sitting and one.action is not Action.UNDO and one.id not in undone
        ]


def read_events(collection: Collection, judge: str) -> list[Written]:
    """Read a judge's events, the oldest first."""
    with reading(collection._db.engine) as session:
        query = (
            select(JUDGEMENT, TOPIC.c.number, DOCUMENT.c.docno)
            .join(TOPIC, TOPIC.c.id == JUDGEMENT.c.topic_id)
            .join(DOCUMENT, DOCUMENT.c.id == JUDGEMENT.c.document_id)
            .where(JUDGEMENT.c.judge_id == collection.desk(judge)._judge_id)
            .order_by(JUDGEMENT.c.id)
        )
        rows = session.execute(query).all()
        passages: dict[int, list[tuple[int, int, str]]] = {}
        chosen = select(PASSAGE).where(PASSAGE.c.judgement_id.in_([row.id for row in rows]))
        for one in session.execute(chosen):
            passages.setdefault(one.judgement_id, []).append((one.start, one.length, one.text))
    return [
        Written(
            row.id,
            (row.number, row.docno),
            row.revision,
            Action(row.action),
            row.undoes,
            row.sitting_id,
            (row.state, row.grade, row.reason, row.note, tuple(sorted(passages.get(row.id, [])))),
        )
        for row in rows
    ]


def in_raw(passages: tuple[Passage, ...]) -> tuple[tuple[int, int, str], ...]:
    """Turn passages of the text as shown into those of the raw text, the obvious way."""
    found = []
    for one in passages:
        place = -1
        start = end = 0
        for raw_place, character in enumerate(RAW):
            if character == "\r":
                continue
            place += 1
            if place == one.start:
                start = raw_place
            if place == one.end - 1:
                end = raw_place + 1
        found.append((start, end - start, RAW[start:end]))
    return tuple(sorted(found))


def as_shown_standing(task: Task) -> tuple[Any, ...]:
    """Say how a task stands, with the passages of the raw text."""
    return (str(task.state), task.grade, task.reason, task.note, in_raw(task.passages))
