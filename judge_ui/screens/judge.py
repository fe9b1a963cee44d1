"""The screen a judge spends the day on: one document, one key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual import on
from textual.message import Message
from textual.timer import Timer

from judge_ui.screens.dialogs import CannotDialog, ChoiceDialog, ConfirmDialog, NoteDialog
from judge_ui.screens.document import DocumentScreen
from judge_ui.screens.reading import Review, SummaryScreen
from judge_ui.session.keys import Command, KeyTable
from judge_ui.session.messages import (
    NextStep,
    clock_time,
    conflict_words,
    decision_mark,
    draft_words,
    result_text,
    warning_of_others,
)
from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult, TopicProgress, grade_mark, grade_name, tried
from judge_ui.text.marking import seen_in_text
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.lines import Notice
from store.errors import PoolerError
from store.text import sanitise_line

RETRY_S = 2.0
"""Pause between two attempts to write what could not be written, in seconds."""

_TRIED_AGAIN = "Leave this window open; trying again. "
_BLINK_S = 0.15
_DONE = (KeyOutcome.SAVED, KeyOutcome.UNCHANGED)


_CHANGING = frozenset({Command.SKIP, Command.UNDO, Command.REDO})
"""Commands that change a judgement at once, without a question."""

_LEAST_PAUSE_S = 0.12
"""Fingers are slower, the repetition of a held key is faster."""
_LEAST_PAUSE_BACK_S = 0.06
"""The same for what can be taken back by the key beside it: the quickest finger is no held key."""


class JudgeScreen(DocumentScreen):
    """The open topic of a session."""

    def __init__(self, session: JudgingSession, keys: KeyTable, opening: KeyResult | None = None) -> None:
        super().__init__(session, keys)
        self._opening = opening
        self._pressed_at: dict[Command, float] = {}
        self._failed_at = 0.0
        self._reviewed: set[str] = set()
        """Documents that the judge has gone over, by docno."""
        self._retries: Timer | None = None
        self._commands |= {
            Command.NEXT: self._next,
            Command.UNDO: self._undo,
            Command.REDO: self._redo,
            Command.SKIP: partial(self._confirmed, session.skip, "skip"),
            Command.CANNOT: lambda: self.ask(
                CannotDialog(), lambda why: self._confirmed(partial(session.cannot, why), "can't")
            ),
            Command.NOTE: self._ask_note,
            Command.NOTE_BEFORE: self._ask_note_before,
        }

    def on_mount(self) -> None:
        self._retries = self.set_interval(RETRY_S, self._retry, pause=True)
        if self._opening is not None:
            self._remember(self._opening, "")
        elif warning := warning_of_others(self._session) or draft_words(self._session):
            self._show_message(warning, urgent=True)
        self._after(self._opening)
        is_skipped = self._session.is_through and not self._session.is_complete
        if is_skipped and self._opening is None:
            self._begin_review(self._skipped())

    @on(DocumentPane.Unknown)
    def _unknown(self, message: DocumentPane.Unknown) -> None:
        if self._is_too_small or not self.is_active or self._session.pending is not None:
            return
        typed, scale = sanitise_line(message.character), self._session.scale
        grades = " ".join(self._keys.grade_name(value) for value in scale.values)
        what = f"is no grade: they are {grades}" if typed.isdecimal() else "means nothing here"
        self._show_message(f"{typed} {what}; {self._keys.name(Command.HELP)} lists the keys", urgent=True)

    @on(DocumentPane.Pressed)
    def _pressed(self, message: DocumentPane.Pressed) -> None:
        # A key from before the dialog that is on top now, or from while a write was failing, was
        # not meant for what is on the screen.
        if self._is_too_small or not self.is_active or message.pressed_at < self._failed_at:
            return
        meaning = message.meaning
        if isinstance(meaning, Command):
            if self._is_held(meaning, message.pressed_at):
                self._show_message("too quick: that key was dropped", urgent=True)
            else:
                self._run(meaning)
        elif self._session.conflict is not None:
            self._ask_conflict()
        elif self._session.trouble:
            self._show_message(f"not graded: {self._session.trouble}", urgent=True)
        elif self._is_unread:
            # What is not on the screen is not graded; try to read it instead.
            is_read = self._show_document()
            self._show_message("" if is_read else "not graded: the document could not be read")
        else:
            scale = self._session.scale
            mark, name = grade_mark(scale, meaning), grade_name(scale, meaning)
            revises = self._review is not None
            self._confirmed(partial(self._session.grade, meaning, revises=revises), mark, name)

    def _is_held(self, command: Command, pressed_at: float) -> bool:
        """Return whether a key that changes judgements comes as fast as only a held one does."""
        before = self._pressed_at.get(command)
        self._pressed_at[command] = pressed_at
        least = _LEAST_PAUSE_S if command is Command.SKIP else _LEAST_PAUSE_BACK_S
        pause = min(self._session.min_dwell, least)
        return command in _CHANGING and before is not None and pressed_at - before < pause

    def _run(self, command: Command) -> None:
        """Carry out a command, once it is settled which of two decisions stays."""
        if self._session.conflict is not None and command is not Command.QUIT:
            self._ask_conflict()
        else:
            super()._run(command)

    def _do(self, act: Callable[[], KeyResult], what: str = "", name: str = "") -> KeyResult:
        result = tried(act)
        self._remember(result, what, name)
        self._show()
        self._after(result)
        return result

    def _decide(self, act: Callable[[], KeyResult], what: str, name: str = "") -> KeyResult:
        before = self._session.progress
        result = self._do(act, what, name)
        self._go_on(result, before)
        return result

    def _go_on(self, result: KeyResult, before: TopicProgress) -> None:
        """Go on with a review, or sum up when the last document was decided or skipped."""
        if result.outcome not in _DONE:
            return
        if self._review is not None:
            if self._session.advances:
                self._go_on_reviewing()
        elif self._session.reaches_end(before) or self._session.offers_end():
            self._sum_up()

    def _remember(self, result: KeyResult, what: str, name: str = "") -> None:
        if result.outcome is KeyOutcome.CONFIRM:
            return
        if result.saved_at is not None:
            self._saved = f"saved {clock_time(result.saved_at)}"
        if result.outcome is KeyOutcome.SAVED and what:
            whole = (result_text(result) if name else what).removesuffix(" saved")
            brief = what + whole.removeprefix(name) if name else what  # with what it replaced
            self._status = Notice(f"{whole} {self._saved}", brief=f"{brief} {self._saved}")
            return
        failed = result.outcome in (KeyOutcome.FAILED, KeyOutcome.CONFLICT)
        urgent = failed or result.outcome is KeyOutcome.TOO_EARLY
        # Of two sittings the question says it all.
        asked = result.outcome is KeyOutcome.CONFLICT
        # First, as a long reason may be cut.
        said = (_TRIED_AGAIN if failed and self._session.pending else "") + result_text(result)
        self._status = Notice() if asked else Notice(said, urgent=urgent)
        if failed:
            # Keys typed while the write was waiting are dropped, not tried again one by one.
            self._failed_at = Message().time
        elif urgent:
            self._blink()

    def _after(self, result: KeyResult | None) -> None:
        if result is not None and result.outcome is KeyOutcome.CONFLICT:
            self._ask_conflict()
        if self._session.pending is not None or self._is_unread:
            self._try_again()

    @property
    def _is_unread(self) -> bool:
        """Whether what the judge is to see could not be had."""
        return self._page is None or not self._is_whole

    def _try_again(self) -> None:
        if self._retries is not None:
            self._retries.reset()
            self._retries.resume()

    def _show_document(self) -> bool:
        is_read = super()._show_document()
        if not is_read:
            self._try_again()
        return is_read

    def _refuse(self, error: PoolerError) -> None:
        """Show why something was not done; go on trying to bring the next document."""
        super()._refuse(error)
        self._after(None)

    def _blink(self) -> None:
        self._hint_lines.add_class("-blink")
        self.set_timer(_BLINK_S, lambda: self._hint_lines.remove_class("-blink"))

    def _retry(self) -> None:
        attempt, trouble = self._session.pending, self._session.trouble
        if attempt is None and not trouble:
            if not self._is_unread:
                if self._retries is not None:
                    self._retries.pause()
            elif self.is_active and self._show_document():
                self._show_message("") if self._status.urgent else self._show()
        elif self.is_active:
            # Behind a dialog the document must not change.
            progress, failed_at = self._session.progress, self._failed_at
            mark = name = ""
            if attempt is not None:
                mark, name = decision_mark(attempt.decision, self._session.scale), attempt.words
            result = self._do(self._session.retry, mark, name)
            if result.outcome is KeyOutcome.FAILED:
                # What was typed meanwhile was typed at what is still on the screen.
                self._failed_at = failed_at
            self._go_on(result, progress)

    def _ask_conflict(self) -> None:
        """Ask which of two decisions is to stand; until then neither key nor time writes one."""
        conflict = self._session.conflict
        if conflict is None:
            return
        happened, instead = conflict_words(conflict, self._session.scale)
        mark = decision_mark(conflict.attempt.decision, self._session.scale)
        answers = {"k": "keep that", "r": instead}

        def answered(key: str | None) -> None:
            if key == "k":
                self._decide(self._session.keep_theirs, "", "")
            elif key == "r":
                self._decide(self._session.replace_theirs, mark, conflict.attempt.words)
            else:
                self._show_message(f"{happened}: press any key but the scroll keys to decide", urgent=True)

        self.app.push_screen(ChoiceDialog(happened, answers, "look first"), answered)

    def _undo(self) -> None:
        self._do(self._session.undo)
        task = self._session.task
        if self._review is not None and task is not None:
            if task.docno in self._review.docnos:
                self._review.at = list(self._review.docnos).index(task.docno)
            else:
                self._review = None

    def _redo(self) -> None:
        result = self._decide(self._session.redo, "")
        if result.outcome is KeyOutcome.SAVED:
            done = result_text(result).removesuffix(" saved")
            self._show_message(f"done again: {done} {self._saved}")

    def _confirmed(self, act: Callable[..., KeyResult], what: str, name: str = "") -> None:
        def answered(key: str | None) -> None:
            if key == "y":
                self._decide(partial(act, confirmed=True), what, name)

        result = self._decide(act, what, name)
        if result.outcome is KeyOutcome.CONFIRM:
            self.app.push_screen(ConfirmDialog(result_text(result)), answered)

    def _ask_note(self) -> None:
        """Ask for the note, unless something else waits that would have to be written first."""
        task, waiting = self._session.task, self._session.pending
        if task is None:
            return
        if waiting is not None and waiting.decision.note is None:
            self._show_message(
                f"NOT SAVED yet: {waiting.words}; add the note once that is saved", urgent=True
            )
            return

        before = task.note if waiting is None else waiting.decision.note or ""
        self._write_note(task.docno, before, self._session.note)

    def _ask_note_before(self) -> None:
        """Ask for the note on the document just decided, which stays behind."""
        decision = self._session.decided_before
        place = None if decision is None else self._session.queue.place_of(decision.docno)
        if decision is None or place is None:
            self._show_message("no document of this topic was decided before")
        elif self._session.pending is not None:
            self._back()  # which says what is not saved
        else:
            self._write_note(decision.docno, self._session.tasks[place].note, self._session.note_before)

    def _write_note(self, docno: str, before: str, save: Callable[[str], KeyResult]) -> None:
        drafts, topic = self._session.drafts, self._session.topic
        pair = ("" if topic is None else topic.topic, docno)
        had_draft = drafts.get(pair) is not None

        def answered(note: str | None) -> None:
            if note is not None:
                self._do(partial(save, note), "note")
            elif drafts.get(pair) is not None:
                key = self._keys.name(Command.NOTE)
                self._show_message(f"draft of a note on {docno} kept, not saved: {key} there goes on with it")
            elif had_draft:
                self._show_message("draft discarded: the note is as it was")

        self.app.push_screen(NoteDialog(sanitise_line(docno), before, drafts, pair), answered)

    @on(DocumentPane.Marked)
    def _marked(self, message: DocumentPane.Marked) -> None:
        if self._session.conflict is not None:
            self._show()
            self._ask_conflict()
            return
        passages, page = message.passages, self._page
        if self._session.is_raw and page is not None and page.readable is not None:
            passages = seen_in_text(page.readable, passages)
        result = self._do(partial(self._session.mark, passages), "passages")
        if result.outcome is KeyOutcome.SAVED:
            self._status = Notice(f"{result_text(result)}, {self._saved}", brief=self._saved)
            self._show()

    def _next(self) -> None:
        """Go to the next document; at the end of the review, or of all, sum up."""
        if self._review is not None and self._session.pending is None:
            self._go_on_reviewing()
            return
        moved = self._move(self._session.go_next, "this is the last document")
        if moved is False and self._session.is_through:
            self._sum_up()

    def _begin_review(self, review: Review) -> None:
        self._review = review
        self._show_review()

    def _go_on_reviewing(self) -> None:
        if self._review is not None:
            self._reviewed.add(self._review.here)
            if self._review.go(1):
                self._show_review()
            else:
                self._sum_up()

    def _quick(self) -> list[str]:
        return [docno for docno in self._session.docnos(Filter.QUICK) if docno not in self._reviewed]

    def _skipped(self) -> Review:
        return Review("skipped", self._session.docnos(Filter.SKIPPED))

    def _sum_up(self) -> None:
        self._review = None
        quick = self._quick()
        self.app.push_screen(SummaryScreen(self._session, self._keys, len(quick)), self._after_summary)

    def _after_summary(self, wish: NextStep | None) -> None:
        session = self._session
        if wish in (NextStep.INBOX, NextStep.TOPIC):
            self.dismiss(wish is NextStep.TOPIC)
        elif wish is NextStep.QUIT:
            self._run(Command.QUIT)
        elif wish is NextStep.UNDO:
            self._undo()
        elif wish is NextStep.SKIPPED:
            self._begin_review(self._skipped())
        elif wish is NextStep.QUICK:
            what = f"decided in under {session.quick_s:g} s"
            self._begin_review(Review(what, self._quick()))
