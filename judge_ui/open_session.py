"""A judging session, opened: the topic, the way through its documents, and what can be looked up.

Knows no screen and no database; `judge_ui.session` adds the decisions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from judge_ui.desks import DeskLike, Drawing
from judge_ui.dwell import Dwell
from judge_ui.listing import Filter, places
from judge_ui.open_queue import OpenQueue
from judge_ui.outcomes import Attempt, Conflict, Progress
from judge_ui.undoing import Undoing
from store.analysis.effort import Forecast, forecast
from store.errors import PoolerError, StoreError
from store.records import Event, Guideline, InboxLine, LiveSitting, Page, Scale, State, Task, Topic

MIN_DWELL_S = 0.3
"""Default least time a document is on the screen before a grade counts, in seconds."""

QUICK_S = 1.0
"""Default time below which a decision is offered for review, in seconds."""


class OpenSession:
    """One judge at one terminal.

    Parameters
    ----------
    desk : DeskLike
        The judge's desk.
    min_dwell : float, default=0.3
        Seconds a document must have been shown before a grade counts: a held key or a raw paste
        grades nothing.
    advance : bool, default=True
        Whether a decision goes on to the next document without one.
    clock : callable, default=time.monotonic
        Seconds that never run backwards.
    drawing : Drawing, optional
        Draws the next document when every one in the queue has a decision.
    quick : float, default=1.0
        Decisions after fewer seconds are offered for review.
    """

    def __init__(
        self,
        desk: DeskLike,
        *,
        min_dwell: float = MIN_DWELL_S,
        advance: bool = True,
        clock: Callable[[], float] = time.monotonic,
        drawing: Drawing | None = None,
        quick: float = QUICK_S,
    ) -> None:
        self._desk = desk
        self.min_dwell = min_dwell
        """Seconds a document must have been shown before a grade counts."""
        self.advances = advance
        """Whether a decision goes on to the next document without one."""
        self._dwell = Dwell(clock)
        self._queue = OpenQueue(desk, drawing)
        self._undoing = Undoing()
        self._active_ms: list[int] | None = None
        self.quick_s = quick
        self.own_terms: tuple[str, ...] = ()
        """Words the judge wants marked in the documents of the open topic."""
        self.needs_briefing = False
        """Whether nothing was decided in the open topic under the newest guidelines yet."""
        self.conflict: Conflict | None = None
        """What `keep_theirs` and `replace_theirs` settle."""
        self.pending: Attempt | None = None
        """A decision that could not be written; `retry` tries again."""
        self.unsaved: set[tuple[str, str]] = set()
        """Topics and docnos of decisions that were never written."""
        self.trouble = ""
        """Why the next document is not here; until it is, or another one, there is none."""

    @property
    def judge_name(self) -> str:
        """The judge's name, fit for a terminal."""
        return self._desk.judge_name

    @property
    def scale(self) -> Scale:
        """The declared grades."""
        return self._desk.scale

    @property
    def topic(self) -> Topic | None:
        """The open topic."""
        return self._queue.topic

    @property
    def tasks(self) -> list[Task]:
        """The documents of the open topic."""
        return self._queue.tasks

    @property
    def index(self) -> int:
        """The place of the document before the judge."""
        return self._queue.index

    @property
    def task(self) -> Task | None:
        """The document before the judge; ``None`` when there is none, as in `trouble`."""
        return None if self.trouble else self._queue.task

    @property
    def n_decided(self) -> int:
        """Documents decided in this sitting, but for what was taken back; a note decides none."""
        return self._undoing.n_decided

    @property
    def n_written(self) -> int:
        """Events of this sitting that are not taken back."""
        return len(self._undoing)

    @property
    def progress(self) -> Progress:
        """Counts of the open topic; the total is the queue and what may still come into it."""
        return self._queue.progress

    @property
    def is_complete(self) -> bool:
        """Whether every document of the open topic has a decision."""
        return self.progress.left == 0

    def inbox(self) -> list[InboxLine]:
        """Return the judge's topics."""
        return self._desk.inbox()

    def open_topic(self, topic: str) -> None:
        """Open a topic at the first document without a decision, else at the first.

        Raises
        ------
        UnknownNameError
            If the topic is not known.
        StoreError
            If a decision of the open one is not saved yet.
        PoolerError
            If its next document could not be drawn; what was open stays open.
        """
        self._check_saved()
        terms, needs_briefing = self._desk.terms(topic), not self._desk.has_seen_guidelines(topic)
        undecided = self._queue.open(topic)
        self._go_to(0 if undecided is None else undecided)
        self.own_terms, self.needs_briefing = terms, needs_briefing
        self.beat()

    def page(self) -> Page:
        """Return the document before the judge."""
        return self._desk.page(self._at_hand().docno)

    def page_ahead(self) -> Page | None:
        """Return the document that a decision would lead to, for reading ahead."""
        following = self._queue.look_ahead()
        return None if following is None else self._desk.page(following.docno)

    def mark_shown(self, page: Page | None = None) -> None:
        """Say that the document is on the screen now; the dwell is measured from here.

        Parameters
        ----------
        page : Page, optional
            What is shown, which may be older than what the collection has by now: an event names
            the text that was decided about.
        """
        if self._here is not None:
            self._dwell.show(self._here, "" if page is None else page.sha256)

    def touch(self) -> None:
        """Say that the judge did something; long pauses do not count as active time."""
        self._dwell.touch()

    def go_next(self) -> bool:
        """Go to the next document; False at the end.

        Raises
        ------
        PoolerError
            If it could not be drawn: then there is no document, and `trouble` says why.
        """
        return self._step(1)

    def go_previous(self) -> bool:
        """Go to the previous document, judged or not; False at the start."""
        return self._step(-1)

    def go_to(self, place: int) -> None:
        """Go to a place of the queue."""
        self._check_saved()
        self.touch()
        self._go_to(max(min(place, len(self.tasks) - 1), 0))

    def go_to_state(self, state: State) -> bool:
        """Go to the next document in a state, wrapping; False when there is no other."""
        place = self._queue.next_in(state)
        if place is None or place == self.index:
            return False
        self.go_to(place)
        return True

    def places(self, wanted: Filter | int) -> list[int]:
        """Return the places of the documents that a filter, or a grade, lets through."""
        return places(self.tasks, wanted, quick_s=self.quick_s)

    def events(self) -> list[Event]:
        """Return what was done in this sitting, the newest first."""
        return self._desk.events()

    def events_here(self) -> list[Event]:
        """Return everything the judge ever did to the document, the newest first."""
        topic = self.topic.topic if self.topic else ""
        return self._desk.events_of(topic, self._at_hand().docno)

    def guidelines(self) -> Guideline | None:
        """Return the newest guidelines; ``None`` = there are none."""
        return self._desk.guidelines()

    def set_own_terms(self, terms: Iterable[str]) -> None:
        """Mark other words of the judge's own in the documents of the open topic."""
        if self.topic is not None:
            self._desk.set_terms(self.topic.topic, tuple(terms))
            self.own_terms = self._desk.terms(self.topic.topic)

    def forecast(self, left: int | None = None) -> Forecast:
        """Say how long the documents left will take, by default those of the open topic."""
        if self._active_ms is None:
            self._active_ms = self._desk.recent_active_ms()
        return forecast(self._active_ms, self.progress.left if left is None else left)

    def beat(self) -> None:
        """Give a sign of life; without a database to give it to there is none."""
        if self.topic is not None:
            with suppress(PoolerError):
                self._desk.beat(self.topic.topic)

    def live_elsewhere(self) -> list[LiveSitting]:
        """Return other sittings of the same judge that are alive."""
        return self._desk.live_elsewhere()

    def leave(self) -> None:
        """End the sitting."""
        self._desk.leave()

    @property
    def _here(self) -> tuple[str, str] | None:
        """Topic and docno of the document before the judge."""
        if self.topic is None or self.task is None:
            return None
        return self.topic.topic, self.task.docno

    def _at_hand(self) -> Task:
        """Return the document before the judge, which there must be."""
        if self.trouble:
            raise StoreError(self.trouble)
        return self._queue.here()

    def _turn_to(self, topic: str) -> None:
        """Open a topic as it is, unless it is open already."""
        if self.topic is not None and self.topic.topic == topic:
            return
        terms = self._desk.terms(topic)
        self._queue.turn_to(topic)
        self.own_terms, self.needs_briefing = terms, False
        self._go_to(0)

    def _check_saved(self) -> None:
        """Refuse to leave a document whose decision is not written yet."""
        if self.pending is not None:
            message = f"NOT SAVED: {self.pending.said}"
            raise StoreError(message, hint="it is tried again; undo gives it up")

    def _step(self, step: int) -> bool:
        """Move without deciding."""
        self._check_saved()
        self.touch()
        queue, is_void = self._queue, bool(self.trouble)
        if is_void and step < 0:
            place: int | None = self.index
        else:
            place = self._bring(
                queue.find_or_bring if is_void else partial(queue.place_after, step)
            )
        if place is None:
            if is_void:
                self._go_to(self.index)
            return False
        self._go_to(place)
        return True

    def _bring(self, find: Callable[[], int | None]) -> int | None:
        """Find a document, drawn or claimed if need be.

        Where that fails there is none: what was here has had its decision, and a key that is
        meant for the next one must not change it.
        """
        try:
            return find()
        except PoolerError as error:
            self._go_to(max(self.index, 0))
            self.trouble = f"the next document could not be drawn: {error.message}"
            raise

    def _go_to(self, place: int) -> None:
        """Put another document before the judge; it is not shown yet."""
        self.conflict = None
        self.trouble = ""
        self._queue.index = place
        self._dwell.restart()
