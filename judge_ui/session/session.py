"""The state machine: way, decisions, undo, outcomes, dwell.

Knows no screen and no database: it drives a desk, and is driven by the full screen and the line mode alike.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from judge_ui.session.drafts import Drafts
from judge_ui.session.queue import Drawing, Filter, OpenQueue, is_let_through
from judge_ui.session.words import (
    Attempt,
    DecisionConflict,
    Goal,
    KeyOutcome,
    KeyResult,
    Lit,
    TermGroups,
    TopicProgress,
    grade_mark,
    grade_name,
)
from judge_ui.text.finding import common_terms, query_terms
from store.analysis.pools.pace import Forecast, forecast
from store.errors import ConflictError, PoolerError, StoreError
from store.judging.disagreements import Settlement
from store.records import Action, Decision, Passage, SeenEvent, ShownDocument, State, Task, Topic
from store.text import sanitise_line

if TYPE_CHECKING:
    from store.judging.adjudication import AdjudicationDesk
    from store.judging.desk import Desk
    from store.judging.disagreements import Disagreement, GivenGrade


IDLE_AFTER_S = 120.0
"""A pause between two keys counts as work up to this long, in seconds."""


class Dwell:
    """The clock of the document before the judge."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._shown: float | None = None
        self._touched = 0.0
        self._active = 0.0
        self._dropped_at: float | None = None
        self.document: tuple[str, str] | None = None
        """Topic and docno of what is on the screen; ``None`` = nothing yet."""
        self.sha256: str | None = ""
        """Hash of what is on the screen; ``None`` = it has no text, empty = not known."""
        self.has_text = True
        """Whether there is anything to read in it."""
        self.shown_at: datetime | None = None
        """UTC; ``None`` = it is not on the screen yet."""
        self.dropped = 0
        """Grade keys that came too soon."""

    @property
    def ms(self) -> int | None:
        """How long it has been on the screen, in milliseconds; ``None`` = it is not yet."""
        return None if self._shown is None else round((self._clock() - self._shown) * 1000)

    @property
    def quiet_seconds(self) -> float | None:
        """How long there, or since the latest key that came too soon: a held key never stops coming."""
        since = self._shown if self._dropped_at is None else self._dropped_at
        return None if self._shown is None or since is None else self._clock() - since

    @property
    def active_ms(self) -> int:
        """How long it has been there, in milliseconds, without long pauses."""
        return round(self._active * 1000)

    def show(self, document: tuple[str, str], sha256: str | None = "", *, has_text: bool = True) -> None:
        """Note that a document is on the screen now, unless it was already."""
        if self._shown is None:
            self.document, self.sha256, self.has_text = document, sha256, has_text
            self._dropped_at = None
            self._shown = self._touched = self._clock()
            self.shown_at = datetime.now(UTC)

    def touch(self) -> None:
        """Note that the judge did something."""
        now = self._clock()
        if self._shown is not None:
            self._active += min(now - self._touched, IDLE_AFTER_S)
        self._touched = now

    def drop(self) -> None:
        """Drop a grade key that came too soon, and count it."""
        self.dropped += 1
        self._dropped_at = self._clock()


class Undoing:
    """The decisions of a sitting that are not taken back, and those that were.

    A decision is known by its document and the revision it was written as: after a broken
    connection the store may hold more, or fewer, than were seen to be written.
    """

    def __init__(self) -> None:
        self._done: list[tuple[Attempt, int]] = []
        self._undone: list[Attempt] = []

    def __len__(self) -> int:
        return len(self._done)

    @property
    def n_decided(self) -> int:
        """Documents about which something was decided that is not taken back."""
        decisions = (one.decision for one, _ in self._done if not one.stays)
        return len({(one.topic, one.docno) for one in decisions})

    @property
    def latest(self) -> Decision | None:
        """The event that undo would take back; ``None`` = there is none."""
        return self._done[-1][0].decision if self._done else None

    @property
    def last_decided(self) -> Decision | None:
        """The latest decision about a document, notes and passages left out; ``None`` = there is none."""
        return next((one.decision for one, _ in reversed(self._done) if not one.stays), None)

    @property
    def last_undone(self) -> Attempt | None:
        """What redo would do again."""
        return self._undone[-1] if self._undone else None

    def wrote(self, attempt: Attempt, revision: int) -> None:
        """Remember a decision; what was undone before it cannot be redone any more."""
        if attempt.is_redo:
            self._undone.pop()
        else:
            self._undone.clear()
        self._done.append((attempt, revision))

    def undid(self, topic: str, docno: str, revision: int) -> Attempt | None:
        """Return the decision that was undone; ``None`` when it was never seen to be written."""
        for place, (attempt, written) in reversed(list(enumerate(self._done))):
            decision = attempt.decision
            if (decision.topic, decision.docno, written) == (topic, docno, revision):
                del self._done[place:]
                self._undone.append(replace(attempt, is_redo=False))
                return attempt
        return None

    def forget_redo(self) -> None:
        """Forget the latest undone decision."""
        self._undone.pop()


MIN_DWELL_S = 0.3
"""Default least time a document is on the screen before a grade counts, in seconds."""

QUICK_S = 1.0
"""Default time below which a decision is offered for review, in seconds."""


class JudgingSession:
    """One judge at one terminal.

    `min_dwell`: seconds a document must have been shown before a grade counts, so that a held key or a raw
    paste grades nothing. `advance`: whether a decision goes on to the next document without one. `quick`:
    decisions after fewer seconds are offered for review. `goal`: what the organiser wants found; ``None`` =
    nothing is said of that.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        min_dwell: float = MIN_DWELL_S,
        advance: bool = True,
        clock: Callable[[], float] = time.monotonic,
        drawing: Drawing | None = None,
        quick: float = QUICK_S,
        goal: Goal | None = None,
        drafts: Drafts | None = None,
    ) -> None:
        self.desk = desk
        self.scale = desk.scale
        """The declared grades."""
        self.min_dwell = min_dwell
        """Seconds a document must have been shown before a grade counts."""
        self.advances = advance
        """Whether a decision goes on to the next document without one."""
        self._clock = clock
        self._dwell = Dwell(clock)
        self.queue = OpenQueue(desk, drawing)
        """The documents of the open topic, and the place in them."""
        self.undoing = Undoing()
        """The decisions of this sitting."""
        self._active_ms: list[int] | None = None
        self.quick_s = quick
        self.goal = goal
        self.drafts = Drafts() if drafts is None else drafts
        """Notes that are not saved yet."""
        self.may_end: set[str] = set()
        """Topics in which the goal was reached before the last document: the judge was offered to stop."""
        self.lit = Lit.ALL
        """Which groups of terms are lit up."""
        self.is_raw = False
        """Whether the document before the judge is shown as it came, with its markup."""
        self._common: tuple[str, tuple[str, ...]] | None = None
        self._titles: dict[str, str] = {}
        self._own_terms: dict[str, tuple[str, ...]] = {}
        """Words the judge wants marked in the documents of the open topic."""
        self.needs_briefing = False
        """Whether nothing was decided in the open topic under the newest guidelines yet."""
        self.conflict: DecisionConflict | None = None
        """What `keep_theirs` and `replace_theirs` settle."""
        self.pending: Attempt | None = None
        """A decision that could not be written; `retry` tries again."""
        self.unsaved: set[tuple[str, str]] = set()
        """Topics and docnos of decisions that were never written."""
        self.trouble = ""
        """Why the next document is not here; until it is, or another one, there is none."""

    @property
    def topic(self) -> Topic | None:
        """The open topic."""
        return self.queue.topic

    @property
    def tasks(self) -> list[Task]:
        """The documents of the open topic."""
        return self.queue.tasks

    @property
    def index(self) -> int:
        """The place of the document before the judge."""
        return self.queue.index

    @property
    def task(self) -> Task | None:
        """The document before the judge; ``None`` when there is none, as in `trouble`."""
        return None if self.trouble else self.queue.task

    @property
    def here(self) -> tuple[str, str] | None:
        """Topic and docno of the document before the judge."""
        if self.topic is None or self.task is None:
            return None
        return self.topic.topic, self.task.docno

    @property
    def progress(self) -> TopicProgress:
        """Counts of the open topic; the total is the queue and what may still come into it."""
        return self.queue.progress

    def reaches_end(self, before: TopicProgress) -> bool:
        """Return whether the topic has ended since `before`: all looked at, or all decided."""
        is_all_seen = bool(before.left) and self.is_through
        return is_all_seen or (before.decided < before.total and self.is_complete)

    def offers_end(self) -> bool:
        """Return, once in a topic, whether the goal is reached and documents are left."""
        topic = "" if self.topic is None else self.topic.topic
        if self.goal is None or not topic or topic in self.may_end or self.is_through:
            return False
        with suppress(PoolerError):
            if self.goal.is_reached(topic):
                self.may_end.add(topic)
        return topic in self.may_end

    @property
    def is_at_goal(self) -> bool:
        """Whether the judge may stop here, and documents are left."""
        return self.topic is not None and self.topic.topic in self.may_end and not self.is_through

    @property
    def is_complete(self) -> bool:
        """Whether every document of the open topic has a decision; one that is skipped has none."""
        return self.is_through and not self.progress.skipped

    @property
    def is_through(self) -> bool:
        """Whether every document of the open topic has a decision or is skipped."""
        return self.progress.left == 0

    def open_topic(self, topic: str) -> None:
        """Open a topic at the first document without a decision, else the first skipped, else the first.

        `StoreError`: a decision of the open topic is not saved yet. `PoolerError`: the next document could
        not be drawn; what was open stays open.
        """
        self._check_saved()
        needs_briefing = not self.desk.has_seen_guidelines(topic)
        undecided = self.queue.open(topic)
        if undecided is None:
            undecided = self.queue.next_in(State.SKIPPED)
        self._go_to(0 if undecided is None else undecided)
        self.needs_briefing = needs_briefing
        with suppress(PoolerError):
            self.forecast()  # reads the pace
        self.beat()

    @property
    def unwritten(self) -> Attempt | None:
        """The decision that is not written: it failed, or awaits an answer."""
        return self.pending if self.conflict is None else self.conflict.attempt

    def term_groups(self) -> TermGroups:
        """Return what is lit up in the documents of the open topic, as it is switched now."""
        if self.topic is None:
            return TermGroups()
        own = self.own_terms if self.lit in (Lit.ALL, Lit.OWN) else ()
        of_topic = query_terms(self.topic) if self.lit in (Lit.ALL, Lit.TOPIC) else ()
        if self._common is None or self._common[0] != self.topic.topic:
            texts: list[str] = []
            with suppress(PoolerError):
                texts = self.desk.sample_texts(self.topic.topic)
            self._common = (self.topic.topic, common_terms(texts, query_terms(self.topic)))
        common = tuple(term for term in of_topic if term in self._common[1])
        return TermGroups(tuple(term for term in of_topic if term not in common), own, common)

    def switch_lit(self) -> Lit:
        """Light up the next groups of terms."""
        every = list(Lit)
        self.lit = every[(every.index(self.lit) + 1) % len(every)]
        return self.lit

    def page(self) -> ShownDocument:
        """Return the document before the judge."""
        return self.desk.page(self._at_hand().docno)

    def given(self, docno: str) -> tuple[GivenGrade, ...]:  # noqa: ARG002 - of an adjudicator's session
        """Return what other judges gave a document of the open topic: here nothing, which is for no judge."""
        return ()

    def title(self, docno: str) -> str:
        """Return the title of a document of the open topic; empty = it has none, or it is not known."""
        if docno not in self._titles and self.topic is not None:
            with suppress(PoolerError):
                self._titles = dict.fromkeys((task.docno for task in self.tasks), "")
                self._titles |= self.desk.titles(self.topic.topic)
        return self._titles.get(docno, "")

    def page_ahead(self) -> ShownDocument | None:
        """Return the document that a decision would lead to, for reading ahead."""
        following = self.queue.look_ahead()
        return None if following is None else self.desk.page(following.docno)

    def mark_shown(self, page: ShownDocument | None = None) -> None:
        """Note that the document is on the screen now; the dwell is measured from here.

        `page` may be older than what the collection has by now: an event names the text that was decided
        about.
        """
        if self.here is not None:
            has_text = page is None or bool((page.text or "").strip())
            self._dwell.show(self.here, "" if page is None else page.sha256, has_text=has_text)

    def touch(self) -> None:
        """Note that the judge did something; long pauses do not count as active time."""
        self._dwell.touch()

    def go_next(self) -> bool:
        """Go to the next document; False at the end.

        `PoolerError`: it could not be drawn; then there is no document, and `trouble` says why.
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

    def go_to_document(self, topic: str, docno: str) -> bool:
        """Go to a document, in another topic if need be; False = it is no longer in the queue."""
        if self.topic is None or self.topic.topic != topic:
            self.open_topic(topic)
        place = self.queue.place_of(docno)
        if place is not None:
            self.go_to(place)
        return place is not None

    def places(self, wanted: Filter | int) -> list[int]:
        """Return the places of the documents that a filter, or a grade, lets through."""
        tasks, quick_s = enumerate(self.tasks), self.quick_s
        return [place for place, task in tasks if is_let_through(task, wanted, quick_s)]

    def docnos(self, wanted: Filter | int) -> list[str]:
        """Return the documents that a filter, or a grade, lets through."""
        return [self.tasks[place].docno for place in self.places(wanted)]

    def events_here(self) -> list[SeenEvent]:
        """Return everything the judge ever did to the document, the newest first."""
        topic = self.topic.topic if self.topic else ""
        return self.desk.events_of(topic, self._at_hand().docno)

    @property
    def own_terms(self) -> tuple[str, ...]:
        """The judge's own words for the open topic, as long as the session lasts."""
        return () if self.topic is None else self._own_terms.get(self.topic.topic, ())

    def set_own_terms(self, text: str) -> None:
        """Mark other words of the judge's own in the documents of the open topic, commas between them."""
        if self.topic is not None:
            words = (sanitise_line(word.strip()) for word in re.split("[,，、]", text))
            self._own_terms[self.topic.topic] = tuple(dict.fromkeys(filter(None, words)))

    @property
    def knows_pace(self) -> bool:
        """Whether a forecast needs no database."""
        return self._active_ms is not None

    def forecast(self, left: int | None = None) -> Forecast:
        """Return how long the documents left will take, by default those of the open topic."""
        if self._active_ms is None:
            self._active_ms = self.desk.recent_active_ms()
        return forecast(self._active_ms, self.progress.left if left is None else left)

    def beat(self) -> None:
        """Renew the sign of life in the database, where it answers."""
        if self.topic is not None:
            with suppress(PoolerError):
                self.desk.beat(self.topic.topic)

    def grade(self, value: int, *, confirmed: bool = False, revises: bool = False) -> KeyResult:
        """Give the document a grade of the declared scale, and go on.

        Asks first when it has no text, or another grade in a topic that is finished, unless the judge
        `revises` it.
        """
        self.touch()
        name = grade_name(self.scale, value)
        seconds = self._dwell.quiet_seconds
        if not self.trouble and (seconds is None or seconds < self.min_dwell):
            self._dwell.drop()
            return KeyResult(KeyOutcome.TOO_EARLY, "too quick: that key was dropped")
        if refused := self._refused():
            return refused
        task = self.queue.here()
        if task.state is State.JUDGED and task.grade == value and self.pending is None:
            return KeyResult(KeyOutcome.UNCHANGED, f"{name}, as before{self._go_on()}")
        before = ""
        if task.state in (State.JUDGED, State.CANNOT):
            before = f" (was {grade_mark(self.scale, task.grade)})"
        if before and self.is_complete and self.pending is None and not (confirmed or revises):
            question = f"every document has a decision; replace {self._stands(task)} by {name}?"
            return KeyResult(KeyOutcome.CONFIRM, question)
        if not (self._dwell.has_text or confirmed):
            return KeyResult(KeyOutcome.CONFIRM, f"this document has no text to judge; {name} all the same?")
        done = f"grade {grade_mark(self.scale, value)}"
        return self._decide(Action.JUDGE, grade=value, words=name + before, done=done)

    def skip(self, *, confirmed: bool = False) -> KeyResult:
        """Leave the document for later; asks first when it has a grade."""
        self.touch()
        if refused := self._refused():
            return refused
        task = self.queue.here()
        if task.state is State.SKIPPED and self.pending is None:
            return KeyResult(KeyOutcome.UNCHANGED, f"skipped, as before{self._go_on()}")
        if task.state is State.JUDGED and not confirmed:
            return KeyResult(KeyOutcome.CONFIRM, f"take back {self._stands(task)} and skip?")
        return self._decide(Action.SKIP, words="skipped", done="skip")

    def cannot(self, reason: str, *, confirmed: bool = False) -> KeyResult:
        """Record that the document cannot be judged, and why; asks first when it has a grade."""
        self.touch()
        if refused := self._refused():
            return refused
        task = self.queue.here()
        if task.state is State.JUDGED and not confirmed:
            return KeyResult(KeyOutcome.CONFIRM, f"replace {self._stands(task)} by cannot be judged?")
        words = f"cannot be judged: {reason}"
        return self._decide(Action.CANNOT, reason=reason, words=words, done="can't judge")

    def note(self, text: str) -> KeyResult:
        """Keep a note on the document; state and grade stay, and so does the document."""
        self.touch()
        if refused := self._refused():
            return refused
        if text == self.queue.here().note and self.pending is None:
            return KeyResult(KeyOutcome.UNCHANGED, "note unchanged")
        words = "note saved" if text else "note removed"
        return self._decide(Action.NOTE, note=text, words=words, done="note")

    def note_before(self, text: str) -> KeyResult:
        """Keep a note on the document of `decided_before`; the one before the judge stays there."""
        self.touch()
        decision = self.decided_before
        place = None if decision is None else self.queue.place_of(decision.docno)
        if decision is None or place is None:
            return KeyResult(KeyOutcome.NOTHING, "no document of this topic was decided before")
        if self.pending is not None:
            return KeyResult(KeyOutcome.FAILED, f"NOT SAVED yet: {self.pending.words}")
        if text == self.tasks[place].note:
            return KeyResult(KeyOutcome.UNCHANGED, "note unchanged")
        about = Decision(
            topic=decision.topic,
            docno=decision.docno,
            action=Action.NOTE,
            seen_revision=self.tasks[place].revision,
            position=place,
            document_sha256=decision.document_sha256,
            note=text,
        )
        words = f"note on {sanitise_line(decision.docno)} {'saved' if text else 'removed'}"
        return self._write(Attempt(about, words, "note"))

    @property
    def decided_before(self) -> Decision | None:
        """The latest decision of this sitting that stands, of the open topic; ``None`` = there is none."""
        decision = self.undoing.last_decided
        is_here = decision is not None and self.topic is not None and decision.topic == self.topic.topic
        return decision if is_here else None

    def mark(self, passages: Sequence[Passage]) -> KeyResult:
        """Keep passages of the document as evidence, instead of those marked before."""
        self.touch()
        if refused := self._refused():
            return refused
        marked = tuple(sorted(passages))
        before = self.queue.here().passages
        if marked == before:
            return KeyResult(KeyOutcome.UNCHANGED, "passages unchanged")
        words = "passage marked" if len(marked) >= len(before) else "passage no longer marked"
        return self._decide(Action.MARK, passages=marked, words=words, done="mark")

    def undo(self) -> KeyResult:
        """Take back this sitting's latest event, return which it was, and go to its document.

        A decision that could not be written is given up instead.
        """
        self.touch()
        if self.pending is not None:
            return self._give_up(self.pending)
        try:
            undone = self.desk.undo()
        except PoolerError as error:
            return KeyResult(KeyOutcome.FAILED, f"not undone: {error.message}")
        if undone is None:
            return KeyResult(KeyOutcome.NOTHING, "nothing to undo in this sitting")
        topic, task, revision = undone
        attempt = self.undoing.undid(topic, task.docno, revision)
        done = "the latest decision" if attempt is None else attempt.done
        stays = attempt is not None and attempt.stays
        message = f"{done} undone" + ("" if stays else f": {self._stands(task)} again")
        return self._go_back(topic, task, message)

    def redo(self) -> KeyResult:
        """Do again what was undone last, unless something else was decided since."""
        self.touch()
        attempt = self.undoing.last_undone
        if attempt is None:
            return KeyResult(KeyOutcome.NOTHING, "nothing to redo")
        decision = attempt.decision
        try:
            self._check_saved()
            self._turn_to(decision.topic)
        except PoolerError as error:
            return KeyResult(KeyOutcome.FAILED, error.message)
        place = self.queue.place_of(decision.docno)
        if place is None:
            self.undoing.forget_redo()
            docno = sanitise_line(decision.docno)
            return KeyResult(KeyOutcome.NOTHING, f"{docno} is no longer in your queue")
        self._go_to(place)
        again = replace(
            decision,
            seen_revision=self.queue.here().revision,
            shown_at=None,
            dwell_ms=None,
            active_ms=None,
            dropped_keys=0,
        )
        return self._write(replace(attempt, decision=again, is_redo=True))

    def retry(self) -> KeyResult:
        """Try again to write the decision, or to bring the document, that could not be had."""
        if self.pending is not None:
            return self._write(self.pending)
        if not self.trouble:
            return KeyResult(KeyOutcome.NOTHING)
        self._go_on(bring=True)
        return KeyResult(KeyOutcome.FAILED if self.trouble else KeyOutcome.UNCHANGED, self.trouble)

    def keep_theirs(self) -> KeyResult:
        """Keep the decision made elsewhere; what was decided here stays in the history."""
        conflict = self.conflict
        if conflict is None:
            return KeyResult(KeyOutcome.NOTHING)
        try:
            task = self.desk.record_and_undo(conflict.attempt.decision)
        except PoolerError as error:
            return KeyResult(KeyOutcome.FAILED, error.message)
        self.queue.put(self.index, task)
        self.conflict = None
        trouble = "" if conflict.attempt.stays else self._go_on()
        outcome = KeyOutcome.STUCK if trouble else KeyOutcome.SAVED
        return KeyResult(outcome, f"{conflict.theirs} kept{trouble}", datetime.now(UTC))

    def replace_theirs(self) -> KeyResult:
        """Put what was decided here in place of what was decided elsewhere."""
        if self.conflict is None:
            return KeyResult(KeyOutcome.NOTHING)
        attempt = self.conflict.attempt
        decision = replace(attempt.decision, seen_revision=self.queue.here().revision)
        return self._write(replace(attempt, decision=decision))

    def _at_hand(self) -> Task:
        """Return the document before the judge, which there must be."""
        if self.trouble:
            raise StoreError(self.trouble)
        return self.queue.here()

    def _turn_to(self, topic: str) -> None:
        if self.topic is not None and self.topic.topic == topic:
            return
        self.queue.turn_to(topic)
        self.needs_briefing = False
        self._go_to(0)

    def _check_saved(self) -> None:
        if self.pending is not None:
            message = f"NOT SAVED: {self.pending.words}"
            raise StoreError(message, hint="the program keeps trying; undo gives it up")

    def _step(self, step: int) -> bool:
        self._check_saved()
        self.touch()
        queue, is_void = self.queue, bool(self.trouble)
        if is_void and step < 0:
            place: int | None = self.index
        else:
            place = self._bring(queue.find_or_bring if is_void else partial(queue.place_after, step))
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
        self.queue.index = place
        self.is_raw = False
        self._dwell = Dwell(self._clock)

    def _turn(self, place: int) -> None:
        """Put the document of a decision before the judge, if another one is there."""
        if self._dwell.document is None or self._dwell.document[1] != self.tasks[place].docno:
            self._go_to(place)
        self.queue.index = place

    def _stands(self, task: Task) -> str:
        if task.grade is not None:
            return f"grade {grade_mark(self.scale, task.grade)}"
        return "cannot be judged" if task.state is State.CANNOT else str(task.state)

    def _decide(self, action: Action, *, words: str, done: str, **said: Any) -> KeyResult:
        """Write a decision, with what it says: a grade, a reason, a note or passages."""
        waiting = self.pending
        if waiting is not None and action in (Action.NOTE, Action.MARK):
            # A note takes the place of a note, as a grade does of a grade.
            if action is Action.MARK or waiting.decision.note is None:
                return KeyResult(KeyOutcome.FAILED, f"NOT SAVED yet: {waiting.words}")
        elif waiting is not None and waiting.stays:
            # A note that waits is not given up for a grade: it goes first, or neither does.
            written = self._write(waiting)
            if written.outcome not in (KeyOutcome.SAVED, KeyOutcome.UNCHANGED):
                return written
        if refused := self._refused():
            return refused
        task = self.queue.here()
        topic, docno = self._dwell.document or ("", "")
        decision = Decision(
            topic=topic,
            docno=docno,
            action=action,
            seen_revision=task.revision,
            position=self.index,
            document_sha256=self._dwell.sha256,
            shown_at=self._dwell.shown_at,
            dwell_ms=self._dwell.ms,
            active_ms=self._dwell.active_ms,
            dropped_keys=self._dwell.dropped,
            **said,
        )
        return self._write(Attempt(decision, words, done))

    def _refused(self) -> KeyResult | None:
        """Refuse to decide about anything but the document that was shown last, and is here."""
        shown = self._dwell.document
        if shown is not None and shown == self.here:
            return None
        why = self.trouble or "this document is not on the screen yet"
        if shown is not None:
            # What is painted is not what would be decided about.
            self._go_to(self.index)
            why = "another document is here now"
        return KeyResult(KeyOutcome.FAILED, f"nothing was written: {why}")

    def _write(self, attempt: Attempt) -> KeyResult:
        """Write a decision; go on only when it is durable."""
        decision = attempt.decision
        self.conflict = None
        try:
            task = self.desk.record(decision)
        except ConflictError as error:
            return self._meet(attempt, error)
        except StoreError as error:
            return self._postpone(attempt, error)
        except PoolerError as error:
            self._settle(decision)
            return KeyResult(KeyOutcome.FAILED, f"NOT SAVED ({attempt.words}): {error.message}")
        self._settle(decision)
        if decision.note is not None:
            self.drafts.drop((decision.topic, decision.docno))
        place = self.queue.place_of(decision.docno)
        self.queue.put(self.index if place is None else place, task)
        self.undoing.wrote(attempt, task.revision)
        if (
            self._active_ms is not None
            and decision.active_ms is not None
            and decision.action in (Action.JUDGE, Action.CANNOT)
        ):
            self._active_ms.append(decision.active_ms)
        self._dwell.dropped = 0
        trouble = "" if attempt.stays else self._go_on()
        outcome = KeyOutcome.STUCK if trouble else KeyOutcome.SAVED
        return KeyResult(outcome, attempt.words + trouble, datetime.now(UTC))

    def _postpone(self, attempt: Attempt, error: PoolerError) -> KeyResult:
        self.pending = attempt
        self.unsaved.add((attempt.decision.topic, attempt.decision.docno))
        return KeyResult(KeyOutcome.FAILED, f"NOT SAVED ({attempt.words}): {error.message}")

    def _settle(self, decision: Decision) -> None:
        self.pending = None
        self.unsaved.discard((decision.topic, decision.docno))

    def _meet(self, attempt: Attempt, error: ConflictError) -> KeyResult:
        """Find out what was decided elsewhere, or that the document is somebody else's now."""
        topic, docno = attempt.decision.topic, attempt.decision.docno
        try:
            events = self.desk.events_of(topic, docno)
            self.queue.load(topic)
        except PoolerError as trouble:
            return self._postpone(attempt, trouble)
        self._settle(attempt.decision)
        place = self.queue.place_of(docno)
        if place is None:
            message = f"NOT SAVED ({attempt.words}): the document is no longer in your queue"
            self.queue.index = -1
            return KeyResult(KeyOutcome.FAILED, message + self._go_on())
        self._turn(place)
        if not events or events[0].revision == attempt.decision.seen_revision:
            return KeyResult(KeyOutcome.FAILED, f"NOT SAVED ({attempt.words}): {error.message}")
        here = self.queue.here()
        if attempt.decision.action is Action.JUDGE and attempt.decision.grade == here.grade:
            return KeyResult(KeyOutcome.UNCHANGED, f"{attempt.words}, as elsewhere{self._go_on()}")
        theirs = self._stands(here)
        self.conflict = DecisionConflict(attempt, theirs, events[0].host, events[0].judged_at)
        return KeyResult(KeyOutcome.CONFLICT, f"{error.message}; it is {theirs} there")

    def _give_up(self, attempt: Attempt) -> KeyResult:
        decision = attempt.decision
        self._settle(decision)
        message = f"{attempt.done} given up"
        with suppress(PoolerError):
            # Where the connection broke at the very end it was written after all.
            self.queue.load(decision.topic)
        place = self.queue.place_of(decision.docno)
        if place is None:
            self._go_to(0)
            return KeyResult(KeyOutcome.NOTHING, f"{message}: it is no longer in your queue")
        self._turn(place)
        return KeyResult(KeyOutcome.NOTHING, f"{message}: {self._stands(self.queue.here())}")

    def _go_back(self, topic: str, task: Task, message: str) -> KeyResult:
        saved_at = datetime.now(UTC)
        try:
            self._turn_to(topic)
        except PoolerError as error:
            return KeyResult(KeyOutcome.STUCK, f"{message}; {error.message}", saved_at)
        place = self.queue.place_of(task.docno)
        if place is not None:
            self.queue.put(place, task)
            self._go_to(place)
        else:
            message += f"; {sanitise_line(task.docno)} is no longer in your queue"
        return KeyResult(KeyOutcome.SAVED, message, saved_at)

    def _go_on(self, *, bring: bool = False) -> str:
        """Go to the next document without a decision; return the message for the judge."""
        following = None
        try:
            if self.advances or bring:
                following = self._bring(self.queue.find_or_bring)
                if following is None:
                    following = self.queue.next_in(State.SKIPPED)
        except PoolerError:
            return f"; {self.trouble}"
        self._go_to(max(self.index, 0) if following is None else following)
        return ""


class AdjudicatingSession(JudgingSession):
    """One adjudicator at one terminal."""

    desk: AdjudicationDesk

    def disagreement(self) -> Disagreement | None:
        """Return how the judges stand to the document; ``None`` when there is no document."""
        if self.topic is None or self.task is None:
            return None
        return self.desk.disagreement(self.topic.topic, self.task.docno)

    def given(self, docno: str) -> tuple[GivenGrade, ...]:
        """Return what the judges A, B, C gave a document of the open topic."""
        return () if self.topic is None else self.desk.given(self.topic.topic, docno)

    def select_cell(self, cell: tuple[GivenGrade, GivenGrade] | None) -> bool:
        """Select the documents of one cell, or of all; return whether the open topic, read anew, has any.

        Raises as `open_topic` does.
        """
        self._check_saved()
        self.desk.select(replace(self.desk.selection, cell=cell))
        if self.topic is not None:
            self.open_topic(self.topic.topic)
        return self.task is not None

    def skip(self, *, confirmed: bool = False) -> KeyResult:
        """Leave the document for later; asks first when it has a grade.

        What was settled once stays so until it is settled anew: then nothing is written.
        """
        found = self.disagreement()
        if found is None or found.status is not Settlement.CHANGED or self.pending is not None:
            return super().skip(confirmed=confirmed)
        self.touch()
        mark = grade_mark(self.scale, found.outcome)
        return KeyResult(KeyOutcome.UNCHANGED, f"left for later; {mark} stands till then{self._go_on()}")
