"""The windows at which judges sit, and what each may ask of its desk, by the judging page's words.

Who the judge is comes from the session, never from what a window says: a window is looked up together with
its judge.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any

from judge_ui.page.page import (
    LitTerms,
    document_data,
    head_data,
    inbox_data,
    lit_terms,
    now_data,
    opinions_data,
    queue_data,
    topic_data,
)
from judge_ui.session.messages import elsewhere_words
from pooler.version import __version__
from store.errors import ConflictError, UnknownNameError
from store.judging.adjudication import AdjudicationDesk
from store.judging.page_records import RecordAsked, read_asked
from store.records import Action, JudgeKind, State

if TYPE_CHECKING:
    from judge_ui.session.queue import Drawing
    from judge_ui.session.words import Goal
    from store.collection import Collection
    from store.judging.codes import Access
    from store.judging.desk import Desk

MOST = 500
"""Windows that are remembered; one that is not is taken up again from its sitting."""


class Seat:
    """A window of a judge; its requests take turns."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.lock = Lock()
        self.lit: dict[str, LitTerms] = {}
        """By topic, what is lit up in its documents."""

    def lit_in(self, topic: str) -> LitTerms:
        """Return what is lit up in the documents of a topic."""
        if topic not in self.lit:
            self.lit[topic] = lit_terms(self.desk, self.desk.topic(topic))
        return self.lit[topic]


class Seats:
    """The seats of one collection.

    `drawing`: where adaptive pools' documents come from; `goal`: what the organiser wants found.
    """

    def __init__(self, opened: Collection, drawing: Drawing | None, goal: Goal | None) -> None:
        self._opened = opened
        self._drawing = drawing
        self._drawing_lock = Lock()
        self._goal = goal
        self._seats: OrderedDict[tuple[int, str], Seat] = OrderedDict()
        self._lock = Lock()
        # A file has one writer: to queue here is fair and quick, where SQLite would poll.
        self._turn: AbstractContextManager[Any] = nullcontext() if "://" in opened.where else Lock()
        self.verbs: Mapping[str, Callable[[Seat, dict[str, Any]], Any]] = {
            "begin": self._begin,
            "inbox": lambda seat, _: inbox_data(seat.desk),
            "topic": self._topic,
            "document": self._document,
            "more": self._more,
            "record": self._record,
            "beat": lambda seat, asked: seat.desk.beat(str(asked["topic"])),
        }

    def of(self, access: Access, window: str) -> Seat:
        """Return the seat of a judge's window; its sitting goes on after a reload or a restart."""
        key = access.judge_id, window
        with self._lock:
            if key not in self._seats:
                desk = self.desk(access)
                desk.sit_at(window)
                self._seats[key] = Seat(desk)
                while len(self._seats) > MOST:
                    self._seats.popitem(last=False)
            self._seats.move_to_end(key)
            return self._seats[key]

    def desk(self, access: Access) -> Desk:
        """Make the desk of a judge, or of an adjudicator."""
        program = f"pooler {__version__} serve"
        if access.kind is JudgeKind.ADJUDICATOR:
            disputes = self._opened.disputes()
            return self._opened.adjudication_desk(access.judge, selection=disputes, program=program)
        return self._opened.desk(access.judge, program=program)

    def head(self, access: Access) -> dict[str, Any]:
        """Return what the page of a judge has from the start."""
        return head_data(self.desk(access), self._opened.name, is_file=False)

    def leave(self, access: Access) -> None:
        """End the sittings of a judge; what was claimed and not decided is given back."""
        with self._lock:
            own = [self._seats.pop(key) for key in list(self._seats) if key[0] == access.judge_id]
        for seat in own:
            with seat.lock:
                seat.desk.leave()

    def _begin(self, seat: Seat, _asked: dict[str, Any]) -> dict[str, Any]:
        names = ("topic", "docno", "action", "grade", "reason", "note", "revision")
        events = [one for one in reversed(seat.desk.events()) if not one.is_undone]
        done = [{name: getattr(one, name) for name in names} for one in events]
        return {"done": [one for one in done if one["action"] != Action.UNDO]}

    def _topic(self, seat: Seat, asked: dict[str, Any]) -> dict[str, Any]:
        name, desk = str(asked["topic"]), seat.desk
        is_new = not desk.has_seen_guidelines(name)
        topic = desk.topic(name)
        seat.lit[name] = lit_terms(desk, topic)
        desk.beat(name)
        known, more = topic_data(desk, topic), self._more_of(desk, name)
        if not known["queue"] and not more["more"]:  # it is others' alone
            known |= dict.fromkeys(("title", "description", "narrative"), "")
        return {
            **known,
            **more,
            "version": desk.topic_version(name),
            "is_new": is_new,
            "times": desk.recent_active_ms(),
            "elsewhere": elsewhere_words(desk.live_elsewhere(), name),
            "goal": self._reached(desk, name),
        }

    def _document(self, seat: Seat, asked: dict[str, Any]) -> dict[str, Any]:
        topic, docno, desk = str(asked["topic"]), str(asked["docno"]), seat.desk
        if not desk.has_in_queue(topic, docno):
            raise UnknownNameError("document", docno, ())
        shown = document_data(desk, docno, seat.lit_in(topic))
        if isinstance(desk, AdjudicationDesk):
            shown |= opinions_data(desk.disagreement(topic, docno), desk.scale)
        return shown

    def _more(self, seat: Seat, asked: dict[str, Any]) -> dict[str, Any]:
        topic, desk = str(asked["topic"]), seat.desk
        with self._turn:
            is_claimed = desk.claim(topic)
        if not is_claimed and self._drawing is not None and desk.undrawn(topic):
            with self._drawing_lock:
                # What is drawn follows from what was decided, so not before the last one is.
                if all(task.state is not State.UNJUDGED for task in desk.queue(topic)):
                    self._drawing.draw(topic)
        return {"queue": queue_data(desk, topic), **self._more_of(desk, topic)}

    def _more_of(self, desk: Desk, topic: str) -> dict[str, int]:
        """Count the documents that may still come before a judge, and those that may at once."""
        claimable, undrawn = desk.claimable(topic), 0 if self._drawing is None else desk.undrawn(topic)
        return {"more": claimable + undrawn, "claimable": claimable}

    def _record(self, seat: Seat, given: dict[str, Any]) -> dict[str, Any]:
        asked, desk = read_asked(given), seat.desk
        topic, docno = asked.decision.topic, asked.decision.docno
        if not desk.has_in_queue(topic, docno):
            message = "this document is no longer in your queue"
            raise ConflictError(message)
        desk.note_shown(topic, version=asked.topic_version, guidelines=asked.guidelines)
        with self._turn:
            now = now_data(self._written(desk, asked))
        return {"now": now, "goal": self._reached(desk, topic)}

    def _written(self, desk: Desk, asked: RecordAsked) -> Any:
        if asked.undoes is not None:
            undone = desk.undo(of=(asked.decision.topic, asked.decision.docno, asked.undoes))
            assert undone is not None  # what there is not is a conflict
            return undone.task
        if asked.keep:
            return desk.record_and_undo(asked.decision)
        return desk.record(asked.decision, is_strict=True)

    def _reached(self, desk: Desk, topic: str) -> dict[str, Any] | None:
        if self._goal is None or isinstance(desk, AdjudicationDesk):  # a goal ends no disagreement
            return None
        return {"words": self._goal.words(topic), "is_reached": self._goal.is_reached(topic)}

    def now(self, seat: Seat, topic: str, docno: str) -> dict[str, Any] | None:
        """Return how a document stands; ``None`` = it is not the judge's."""
        found = (one for one in seat.desk.queue(topic) if one.docno == docno)
        return next((now_data(one) for one in found), None)
