"""The judging state machine: which document, what was decided, what comes next.

Knows no screen and no database: it drives a desk (`store.desk.Desk`, or anything with its
methods) and is driven by the full-screen app and by the line mode alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from judge_ui.desks import DeskLike, Drawing
from judge_ui.grades import grade_mark, grade_name
from store.errors import ConflictError, PoolerError, UnknownNameError
from store.records import Action, Decision, InboxLine, Page, Scale, State, Task, Topic

MIN_DWELL_S = 0.3
"""Default least time a document is on the screen before a grade counts, in seconds."""

IDLE_AFTER_S = 120.0
"""A pause between two keys counts as work up to this long, in seconds."""


class Outcome(StrEnum):
    """What came of a key."""

    SAVED = "saved"
    STUCK = "saved, stuck"
    """Written, but the next document could not be drawn; `Result.message` says why."""
    UNCHANGED = "unchanged"
    """The document has that grade already; nothing was written."""
    TOO_EARLY = "too early"
    """Within the minimum dwell; dropped and counted."""
    CONFIRM = "confirm"
    """It would take a grade away; ask, then call again with ``confirmed=True``."""
    NOTHING = "nothing"
    """There was nothing to do it to."""
    FAILED = "failed"
    """Not written; the document stays, `Result.message` says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a key, and what to tell the judge."""

    outcome: Outcome
    message: str = ""
    saved_at: datetime | None = None
    """UTC; set when something was written."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the open topic has come."""

    total: int
    judged: int
    skipped: int
    cannot: int

    @property
    def left(self) -> int:
        """Documents with no decision yet."""
        return self.total - self.judged - self.skipped - self.cannot


class JudgingSession:
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
    """

    def __init__(
        self,
        desk: DeskLike,
        *,
        min_dwell: float = MIN_DWELL_S,
        advance: bool = True,
        clock: Callable[[], float] = time.monotonic,
        drawing: Drawing | None = None,
    ) -> None:
        self._desk = desk
        self._min_dwell = min_dwell
        self._advance = advance
        self._clock = clock
        self._drawing = drawing
        self._undrawn = 0
        self._shown: float | None = None
        self._shown_at: datetime | None = None
        self._touched = self._active = 0.0
        self._dropped = 0
        self.topic: Topic | None = None
        self.tasks: list[Task] = []
        self.index = 0
        self._done: list[str] = []
        self.unsaved: set[tuple[str, str]] = set()

    @property
    def judge_name(self) -> str:
        """The judge's name, fit for a terminal."""
        return self._desk.judge_name

    @property
    def scale(self) -> Scale:
        """The declared grades."""
        return self._desk.scale

    @property
    def task(self) -> Task | None:
        """The document before the judge; ``None`` when no topic is open."""
        return self.tasks[self.index] if self.tasks else None

    @property
    def n_decided(self) -> int:
        """Events of this sitting that are not taken back."""
        return len(self._done)

    @property
    def progress(self) -> Progress:
        """Counts of the open topic; the total is the queue and what may still be drawn into it."""
        states = [task.state for task in self.tasks]
        return Progress(
            len(states) + self._undrawn,
            states.count(State.JUDGED),
            states.count(State.SKIPPED),
            states.count(State.CANNOT),
        )

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
        PoolerError
            If its next document could not be drawn; what was open stays open.
        """
        opened = self._desk.topic(topic)
        before = (self.topic, self.tasks, self._undrawn, self.index)
        try:
            self._load(topic)
            self.topic, self.index = opened, -1
            undecided = self._find_or_draw()
        except PoolerError:
            self.topic, self.tasks, self._undrawn, self.index = before
            raise
        self._go_to(0 if undecided is None else undecided)

    def page(self) -> Page:
        """Return the document before the judge."""
        return self._desk.page(self._here().docno)

    def page_ahead(self) -> Page | None:
        """Return the document that a decision would lead to, for reading ahead."""
        following = self._next_in(State.UNJUDGED)
        if following is None or following == self.index:
            return None
        return self._desk.page(self.tasks[following].docno)

    def mark_shown(self) -> None:
        """Say that the document is on the screen now; the dwell is measured from here."""
        if self._shown is None:
            self._shown = self._touched = self._clock()
            self._shown_at = datetime.now(UTC)

    def touch(self) -> None:
        """Say that the judge did something; long pauses do not count as active time."""
        now = self._clock()
        if self._shown is not None:
            self._active += min(now - self._touched, IDLE_AFTER_S)
        self._touched = now

    def grade(self, value: int) -> Result:
        """Give the document a grade of the declared scale, and go on."""
        self.touch()
        name = grade_name(self.scale, value)
        if self._shown is None or self._clock() - self._shown < self._min_dwell:
            self._dropped += 1
            return Result(Outcome.TOO_EARLY, "too quick: that key was dropped")
        task = self._here()
        if task.state is State.JUDGED and task.grade == value:
            return Result(Outcome.UNCHANGED, f"{name}, as before{self._go_on()}")
        done = f"grade {grade_mark(self.scale, value)}"
        return self._decide(Action.JUDGE, grade=value, said=name, done=done)

    def skip(self, *, confirmed: bool = False) -> Result:
        """Leave the document for later; asks first when it has a grade."""
        self.touch()
        task = self._here()
        if task.state is State.SKIPPED:
            return Result(Outcome.UNCHANGED, f"skipped, as before{self._go_on()}")
        if task.state is State.JUDGED and not confirmed:
            return Result(Outcome.CONFIRM, f"take back {self._stands(task)} and skip?")
        return self._decide(Action.SKIP, said="skipped", done="skip")

    def cannot(self, reason: str, *, confirmed: bool = False) -> Result:
        """Say that the document cannot be judged, and why; asks first when it has a grade."""
        self.touch()
        task = self._here()
        if task.state is State.JUDGED and not confirmed:
            return Result(Outcome.CONFIRM, f"take back {self._stands(task)}: cannot be judged?")
        said = f"cannot be judged: {reason}"
        return self._decide(Action.CANNOT, reason=reason, said=said, done="can't judge")

    def note(self, text: str) -> Result:
        """Keep a note on the document; state and grade stay, and so does the document."""
        self.touch()
        if text == self._here().note:
            return Result(Outcome.UNCHANGED, "note as before")
        said = "note saved" if text else "note removed"
        return self._decide(Action.NOTE, note=text, said=said, done="note", stay=True)

    def undo(self) -> Result:
        """Take back this sitting's latest event, say which it was, and go to its document."""
        self.touch()
        try:
            undone = self._desk.undo()
        except PoolerError as error:
            return Result(Outcome.FAILED, error.message)
        if undone is None:
            return Result(Outcome.NOTHING, "nothing to undo in this sitting")
        topic, task = undone
        done = self._done.pop()
        message = f"{done} undone" + ("" if done == "note" else f": {self._stands(task)} again")
        if self.topic is None or topic != self.topic.topic:
            self.topic = self._desk.topic(topic)
            self._load(topic)
        index = self._place_of(task.docno)
        if index is not None:
            self.tasks[index] = task
            self._go_to(index)
        else:
            message += f"; {task.docno} is no longer in your queue"
        return Result(Outcome.SAVED, message, datetime.now(UTC))

    def go_next(self) -> bool:
        """Go to the next document; False at the end; `PoolerError` when none could be drawn."""
        return self._step(1)

    def go_previous(self) -> bool:
        """Go to the previous document, judged or not; False at the start."""
        return self._step(-1)

    def go_to_state(self, state: State) -> bool:
        """Go to the next document in a state, wrapping; False when there is no other."""
        place = self._next_in(state)
        if place is None or place == self.index:
            return False
        self.touch()
        self._go_to(place)
        return True

    def leave(self) -> None:
        """End the sitting."""
        self._desk.leave()

    def _here(self) -> Task:
        """Return the document before the judge, which there must be."""
        if self.task is None:
            raise UnknownNameError("document", "", ())
        return self.task

    def _stands(self, task: Task) -> str:
        """Say in a word or two how a document stands."""
        if task.grade is not None:
            return f"grade {grade_mark(self.scale, task.grade)}"
        return "cannot be judged" if task.state is State.CANNOT else str(task.state)

    def _decide(
        self,
        action: Action,
        *,
        said: str,
        done: str,
        grade: int | None = None,
        reason: str = "",
        note: str | None = None,
        stay: bool = False,
    ) -> Result:
        """Write a decision; go on only when it is durable. `done` is what undo will call it."""
        task = self._here()
        topic = self.topic.topic if self.topic else ""
        decision = Decision(
            topic=topic,
            docno=task.docno,
            action=action,
            grade=grade,
            reason=reason,
            note=note,
            seen_revision=task.revision,
            position=self.index,
            shown_at=self._shown_at,
            dwell_ms=None if self._shown is None else round((self._clock() - self._shown) * 1000),
            active_ms=round(self._active * 1000),
            dropped_keys=self._dropped,
        )
        try:
            self.tasks[self.index] = self._desk.record(decision)
        except ConflictError as error:
            self._load(topic)
            place = self._place_of(task.docno)
            if place is None:
                self._go_to(0)
                return Result(Outcome.FAILED, "this document is no longer in your queue")
            self.index = place
            now = self._stands(self._here())
            message = f"{error.message}; it is {now} there: press again to replace that"
            return Result(Outcome.FAILED, message)
        except PoolerError as error:
            self.unsaved.add((topic, task.docno))
            return Result(Outcome.FAILED, f"NOT SAVED ({said}): {error.message}")
        self.unsaved.discard((topic, task.docno))
        self._done.append(done)
        self._dropped = 0
        trouble = "" if stay else self._go_on()
        outcome = Outcome.STUCK if trouble else Outcome.SAVED
        return Result(outcome, said + trouble, datetime.now(UTC))

    def _place_of(self, docno: str) -> int | None:
        """Return the place of a document in the queue; ``None`` = it is no longer there."""
        return next((place for place, task in enumerate(self.tasks) if task.docno == docno), None)

    def _go_on(self) -> str:
        """Go to the next document without a decision; return what the judge must be told of it."""
        following, trouble = None, ""
        try:
            following = self._find_or_draw() if self._advance else None
        except PoolerError as error:
            trouble = f"; the next document could not be drawn: {error.message}"
        self._go_to(self.index if following is None else following)
        return trouble

    def _load(self, topic: str) -> None:
        """Read the queue of a topic anew."""
        # In this order a document that is drawn in between is counted twice rather than lost.
        undrawn = 0 if self._drawing is None else self._desk.undrawn(topic)
        self.tasks, self._undrawn = self._desk.queue(topic), undrawn

    def _find_or_draw(self) -> int | None:
        """Return the place of the next document without a decision, drawn if need be."""
        undecided = self._next_in(State.UNJUDGED)
        while undecided is None and self._undrawn and self._drawing and self.topic:
            # Another judge may have drawn since the queue was read.
            here = self.task
            self._load(self.topic.topic)
            self.index = 0 if here is None else self._place_of(here.docno) or 0
            undecided = self._next_in(State.UNJUDGED)
            if undecided is None and not self._drawing.draw(self.topic.topic):
                break
        return undecided

    def _next_in(self, state: State) -> int | None:
        """Return the place of the next document in a state, wrapping; the present one last."""
        n_tasks = len(self.tasks)
        places = ((self.index + step) % n_tasks for step in range(1, n_tasks + 1))
        return next((place for place in places if self.tasks[place].state is state), None)

    def _step(self, step: int) -> bool:
        """Move without deciding."""
        self.touch()
        is_last = self.index + step == len(self.tasks) and self._next_in(State.UNJUDGED) is None
        drawn = self._find_or_draw() if is_last else None
        index = self.index + step if drawn is None else drawn
        if not 0 <= index < len(self.tasks):
            return False
        self._go_to(index)
        return True

    def _go_to(self, index: int) -> None:
        """Put another document before the judge; it is not shown yet."""
        self.index = index
        self._shown = self._shown_at = None
        self._active = 0.0
        self._dropped = 0
