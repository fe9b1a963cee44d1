"""The judging state machine: what a judge decides, and what comes of it.

Knows no screen and no database: it drives a desk (`store.desk.Desk`, or anything with its
methods) and is driven by the full-screen app and by the line mode alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from judge_ui.grades import grade_mark, grade_name
from judge_ui.open_session import OpenSession
from judge_ui.outcomes import Attempt, Conflict, Outcome, Result
from store.errors import ConflictError, PoolerError, StoreError
from store.records import Action, Decision, Passage, State, Task
from store.sanitise import sanitise_line


class JudgingSession(OpenSession):
    """One judge at one terminal; see `OpenSession` for the parameters and the way about."""

    def grade(self, value: int) -> Result:
        """Give the document a grade of the declared scale, and go on."""
        self.touch()
        name = grade_name(self.scale, value)
        seconds = self._dwell.quiet_seconds
        if not self.trouble and (seconds is None or seconds < self.min_dwell):
            self._dwell.drop()
            return Result(Outcome.TOO_EARLY, "too quick: that key was dropped")
        if refused := self._refused():
            return refused
        task = self._queue.here()
        if task.state is State.JUDGED and task.grade == value and self.pending is None:
            return Result(Outcome.UNCHANGED, f"{name}, as before{self._go_on()}")
        done = f"grade {grade_mark(self.scale, value)}"
        return self._decide(Action.JUDGE, grade=value, said=name, done=done)

    def skip(self, *, confirmed: bool = False) -> Result:
        """Leave the document for later; asks first when it has a grade."""
        self.touch()
        if refused := self._refused():
            return refused
        task = self._queue.here()
        if task.state is State.SKIPPED and self.pending is None:
            return Result(Outcome.UNCHANGED, f"skipped, as before{self._go_on()}")
        if task.state is State.JUDGED and not confirmed:
            return Result(Outcome.CONFIRM, f"take back {self._stands(task)} and skip?")
        return self._decide(Action.SKIP, said="skipped", done="skip")

    def cannot(self, reason: str, *, confirmed: bool = False) -> Result:
        """Say that the document cannot be judged, and why; asks first when it has a grade."""
        self.touch()
        if refused := self._refused():
            return refused
        task = self._queue.here()
        if task.state is State.JUDGED and not confirmed:
            return Result(Outcome.CONFIRM, f"replace {self._stands(task)} by cannot be judged?")
        said = f"cannot be judged: {reason}"
        return self._decide(Action.CANNOT, reason=reason, said=said, done="can't judge")

    def note(self, text: str) -> Result:
        """Keep a note on the document; state and grade stay, and so does the document."""
        self.touch()
        if refused := self._refused():
            return refused
        if text == self._queue.here().note and self.pending is None:
            return Result(Outcome.UNCHANGED, "note as before")
        said = "note saved" if text else "note removed"
        return self._decide(Action.NOTE, note=text, said=said, done="note")

    def mark(self, passages: Sequence[Passage]) -> Result:
        """Keep passages of the document as evidence, instead of those marked before."""
        self.touch()
        if refused := self._refused():
            return refused
        marked = tuple(sorted(passages))
        before = self._queue.here().passages
        if marked == before:
            return Result(Outcome.UNCHANGED, "passages as before")
        said = "passage marked" if len(marked) >= len(before) else "passage no longer marked"
        return self._decide(Action.MARK, passages=marked, said=said, done="mark")

    def undo(self) -> Result:
        """Take back this sitting's latest event, say which it was, and go to its document.

        A decision that could not be written is given up instead.
        """
        self.touch()
        if self.pending is not None:
            return self._give_up(self.pending)
        try:
            undone = self._desk.undo()
        except PoolerError as error:
            return Result(Outcome.FAILED, error.message)
        if undone is None:
            return Result(Outcome.NOTHING, "nothing to undo in this sitting")
        topic, task, revision = undone
        attempt = self._undoing.undid(topic, task.docno, revision)
        done = "the latest decision" if attempt is None else attempt.done
        stays = attempt is not None and attempt.stays
        message = f"{done} undone" + ("" if stays else f": {self._stands(task)} again")
        return self._go_back(topic, task, message)

    def redo(self) -> Result:
        """Do again what was undone last, unless something else was decided since."""
        self.touch()
        attempt = self._undoing.last_undone
        if attempt is None:
            return Result(Outcome.NOTHING, "nothing to redo")
        decision = attempt.decision
        try:
            self._check_saved()
            self._turn_to(decision.topic)
        except PoolerError as error:
            return Result(Outcome.FAILED, error.message)
        place = self._queue.place_of(decision.docno)
        if place is None:
            self._undoing.forget_redo()
            docno = sanitise_line(decision.docno)
            return Result(Outcome.NOTHING, f"{docno} is no longer in your queue")
        self._go_to(place)
        again = replace(
            decision,
            seen_revision=self._queue.here().revision,
            shown_at=None,
            dwell_ms=None,
            active_ms=None,
            dropped_keys=0,
        )
        return self._write(replace(attempt, decision=again, is_redo=True))

    def retry(self) -> Result:
        """Try again to write the decision, or to bring the document, that could not be had."""
        if self.pending is not None:
            return self._write(self.pending)
        if not self.trouble:
            return Result(Outcome.NOTHING)
        self._go_on(bring=True)
        return Result(Outcome.FAILED if self.trouble else Outcome.UNCHANGED, self.trouble)

    def keep_theirs(self) -> Result:
        """Let stand what was decided elsewhere; what was decided here stays in the history."""
        conflict = self.conflict
        if conflict is None:
            return Result(Outcome.NOTHING)
        try:
            task = self._desk.keep(conflict.attempt.decision)
        except PoolerError as error:
            return Result(Outcome.FAILED, error.message)
        self._queue.put(self.index, task)
        self.conflict = None
        trouble = "" if conflict.attempt.stays else self._go_on()
        outcome = Outcome.STUCK if trouble else Outcome.SAVED
        return Result(outcome, f"{conflict.theirs} kept{trouble}", datetime.now(UTC))

    def replace_theirs(self) -> Result:
        """Put what was decided here in place of what was decided elsewhere."""
        if self.conflict is None:
            return Result(Outcome.NOTHING)
        attempt = self.conflict.attempt
        decision = replace(attempt.decision, seen_revision=self._queue.here().revision)
        return self._write(replace(attempt, decision=decision))

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
        passages: tuple[Passage, ...] | None = None,
    ) -> Result:
        """Decide about the document before the judge."""
        waiting = self.pending
        if waiting is not None and (note is not None or passages is not None):
            # A note takes the place of a note, as a grade does of a grade.
            if note is None or waiting.decision.note is None:
                return Result(Outcome.FAILED, f"NOT SAVED yet: {waiting.said}")
        elif waiting is not None and waiting.stays:
            # A note that waits is not given up for a grade: it goes first, or neither does.
            written = self._write(waiting)
            if written.outcome not in (Outcome.SAVED, Outcome.UNCHANGED):
                return written
        if refused := self._refused():
            return refused
        task = self._queue.here()
        topic, docno = self._dwell.document or ("", "")
        decision = Decision(
            topic=topic,
            docno=docno,
            action=action,
            grade=grade,
            reason=reason,
            note=note,
            passages=passages,
            seen_revision=task.revision,
            position=self.index,
            document_sha256=self._dwell.sha256,
            shown_at=self._dwell.shown_at,
            dwell_ms=self._dwell.ms,
            active_ms=self._dwell.active_ms,
            dropped_keys=self._dwell.dropped,
        )
        return self._write(Attempt(decision, said, done))

    def _refused(self) -> Result | None:
        """Refuse to decide about anything but the document that was shown last, and is here."""
        shown = self._dwell.document
        if shown is not None and shown == self._here:
            return None
        why = self.trouble or "this document is not on the screen yet"
        if shown is not None:
            # What is painted is not what would be decided about.
            self._go_to(self.index)
            why = "another document is here now"
        return Result(Outcome.FAILED, f"nothing was written: {why}")

    def _write(self, attempt: Attempt) -> Result:
        """Write a decision; go on only when it is durable."""
        decision = attempt.decision
        self.conflict = None
        try:
            task = self._desk.record(decision)
        except ConflictError as error:
            return self._meet(attempt, error)
        except StoreError as error:
            return self._put_off(attempt, error)
        except PoolerError as error:
            self._settle(decision)
            return Result(Outcome.FAILED, f"NOT SAVED ({attempt.said}): {error.message}")
        self._settle(decision)
        self._queue.put(self.index, task)
        self._undoing.wrote(attempt, task.revision)
        if (
            self._active_ms is not None
            and decision.active_ms is not None
            and decision.action in (Action.JUDGE, Action.CANNOT)
        ):
            self._active_ms.append(decision.active_ms)
        self._dwell.dropped = 0
        trouble = "" if attempt.stays else self._go_on()
        outcome = Outcome.STUCK if trouble else Outcome.SAVED
        return Result(outcome, attempt.said + trouble, datetime.now(UTC))

    def _put_off(self, attempt: Attempt, error: PoolerError) -> Result:
        """Keep a decision that could not be written, to try again."""
        self.pending = attempt
        self.unsaved.add((attempt.decision.topic, attempt.decision.docno))
        return Result(Outcome.FAILED, f"NOT SAVED ({attempt.said}): {error.message}")

    def _settle(self, decision: Decision) -> None:
        """Stop trying to write a decision."""
        self.pending = None
        self.unsaved.discard((decision.topic, decision.docno))

    def _meet(self, attempt: Attempt, error: ConflictError) -> Result:
        """Find out what was decided elsewhere, or that the document is somebody else's now."""
        topic, docno = attempt.decision.topic, attempt.decision.docno
        try:
            events = self._desk.events_of(topic, docno)
            self._queue.load(topic)
        except PoolerError as trouble:
            return self._put_off(attempt, trouble)
        self._settle(attempt.decision)
        place = self._queue.place_of(docno)
        if place is None:
            message = f"NOT SAVED ({attempt.said}): the document is no longer in your queue"
            self._queue.index = -1
            return Result(Outcome.FAILED, message + self._go_on())
        self._queue.index = place
        if not events or events[0].revision == attempt.decision.seen_revision:
            return Result(Outcome.FAILED, f"NOT SAVED ({attempt.said}): {error.message}")
        here = self._queue.here()
        if attempt.decision.action is Action.JUDGE and attempt.decision.grade == here.grade:
            return Result(Outcome.UNCHANGED, f"{attempt.said}, as elsewhere{self._go_on()}")
        theirs = self._stands(here)
        self.conflict = Conflict(attempt, theirs, events[0].host, events[0].judged_at)
        return Result(Outcome.CONFLICT, f"{error.message}; it is {theirs} there")

    def _give_up(self, attempt: Attempt) -> Result:
        """Give up a decision that could not be written."""
        decision = attempt.decision
        self._settle(decision)
        message = f"{attempt.done} given up"
        with suppress(PoolerError):
            # Where the connection broke at the very end it was written after all.
            self._queue.load(decision.topic)
        place = self._queue.place_of(decision.docno)
        if place is None:
            self._go_to(0)
            return Result(Outcome.NOTHING, f"{message}: it is no longer in your queue")
        self._queue.index = place
        return Result(Outcome.NOTHING, f"{message}: {self._stands(self._queue.here())}")

    def _go_back(self, topic: str, task: Task, message: str) -> Result:
        """Go to a document that stands differently now, and say so."""
        saved_at = datetime.now(UTC)
        try:
            self._turn_to(topic)
        except PoolerError as error:
            return Result(Outcome.STUCK, f"{message}; {error.message}", saved_at)
        place = self._queue.place_of(task.docno)
        if place is not None:
            self._queue.put(place, task)
            self._go_to(place)
        else:
            message += f"; {sanitise_line(task.docno)} is no longer in your queue"
        return Result(Outcome.SAVED, message, saved_at)

    def _go_on(self, *, bring: bool = False) -> str:
        """Go to the next document without a decision; return what the judge must be told of it."""
        following = None
        try:
            if self.advances or bring:
                following = self._bring(self._queue.find_or_bring)
        except PoolerError:
            return f"; {self.trouble}"
        self._go_to(max(self.index, 0) if following is None else following)
        return ""
