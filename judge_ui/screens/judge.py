"""The screen a judge spends the day on: one document, one key."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from judge_ui.grades import grade_mark, grade_name
from judge_ui.highlight import query_terms
from judge_ui.keys import Command, KeyTable
from judge_ui.messages import clock_time, said, topic_name
from judge_ui.screens.dialogs import CannotDialog, ConfirmDialog, NoteDialog
from judge_ui.screens.reading import help_screen, topic_screen
from judge_ui.screens.summary import Afterwards, SummaryScreen
from judge_ui.session import JudgingSession, Outcome, Result
from judge_ui.widgets.bars import Bar, Brief, Hints, Status, progress_words
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.leaf import LaidLeaf, Leaf, document_leaf, lay_out, topic_leaf
from judge_ui.widgets.text_pane import TextPane
from judge_ui.widgets.too_small import TooSmall
from judge_ui.widgets.wrapping import cut
from store.errors import PoolerError
from store.records import State, Topic
from store.sanitise import sanitise_line

READ_AHEAD_S = 0.2
"""Pause between the paint of a document and the reading of the next one, in seconds."""

_BLINK_S = 0.15


class JudgeScreen(Screen[None]):
    """The open topic of a session.

    Parameters
    ----------
    session : JudgingSession
        With a topic open.
    keys : KeyTable
        The keys of its scale.
    opening : Result, optional
        What to say at once.
    """

    AUTO_FOCUS = "DocumentPane"

    def __init__(
        self, session: JudgingSession, keys: KeyTable, opening: Result | None = None
    ) -> None:
        super().__init__()
        self._session = session
        self._keys = keys
        self._status = Status()
        self._saved = ""
        self._topic: Topic | None = None
        self._terms: tuple[str, ...] = ()
        self._on_screen: tuple[str, str] | None = None
        self._showing = 0
        self._ahead: tuple[str, LaidLeaf] | None = None
        self._ahead_timer: Timer | None = None
        self._failed_at = 0.0
        self._is_unread = False
        self._over_skipped = False
        self._commands: dict[Command, Callable[[], object]] = {
            Command.UNDO: lambda: self._do(session.undo),
            Command.SKIP: self._skip,
            Command.CANNOT: self._ask_reason,
            Command.NOTE: self._ask_note,
            Command.NEXT: self._next,
            Command.PREVIOUS: self._previous,
            Command.TOPIC: self._read_topic,
            Command.HELP: lambda: self.app.push_screen(help_screen(keys, session.scale)),
            Command.INBOX: lambda: self.dismiss(None),
            Command.QUIT: self.app.exit,
        }
        if opening is not None:
            self._remember(opening, "")

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield TooSmall()
        with Vertical(id="work"):
            yield Bar(id="topic-bar")
            yield Brief(self._keys, id="brief")
            with Horizontal(id="middle"):
                yield TextPane(self._keys, id="topic-pane")
                with Vertical(id="document"):
                    yield Bar(id="document-bar")
                    yield DocumentPane(self._keys, id="document-pane")
            yield Hints(self._keys, self._session.scale, id="hints")

    def on_mount(self) -> None:
        """Show the document the session stands at."""
        self.query_one("#topic-pane").can_focus = False
        self._show()

    def on_resize(self) -> None:
        """Give the keys back to the document when there is room for it again."""
        self.call_after_refresh(self._pane.focus)

    @property
    def _pane(self) -> DocumentPane:
        """The pane of the document."""
        return self.query_one(DocumentPane)

    @on(DocumentPane.Pressed)
    def _pressed(self, message: DocumentPane.Pressed) -> None:
        """Do what a key means."""
        if self.has_class("-tiny") or self.has_class("-flat"):
            return
        # A key from before the dialog that is on top now, or from while a write was failing, was
        # not meant for what is on the screen.
        if not self.is_active or message.pressed_at < self._failed_at:
            return
        meaning = message.meaning
        if isinstance(meaning, Command):
            self._commands[meaning]()
        elif self._is_unread:
            # Nobody grades what is not on the screen; try to read it instead.
            is_read = self._show_document()
            self._tell("" if is_read else "not graded: the document could not be read")
        else:
            scale = self._session.scale
            mark, name = grade_mark(scale, meaning), grade_name(scale, meaning)
            self._decide(partial(self._session.grade, meaning), mark, name)

    @on(TextPane.Scrolled)
    def _scrolled(self) -> None:
        """Keep the clock of active time running, and say how far the text has been read."""
        self._session.touch()
        self._show_document_bar()
        self.call_after_refresh(self._mark_shown, self._showing)

    def _do(self, act: Callable[[], Result], what: str = "", name: str = "") -> Result:
        """Let the session act, say what came of it, and show where it stands now."""
        try:
            result = act()
        except PoolerError as error:
            result = Result(Outcome.FAILED, error.message)
        self._remember(result, what, name)
        self._show()
        return result

    def _decide(self, act: Callable[[], Result], what: str, name: str = "") -> Result:
        """Let the session decide about the document, and see whether the topic is done."""
        left = self._session.progress.left
        result = self._do(act, what, name)
        done = self._session.is_complete
        if result.outcome in (Outcome.SAVED, Outcome.UNCHANGED) and done:
            if self._over_skipped and self._session.go_to_state(State.SKIPPED):
                self._show()
            elif self._over_skipped or left:
                self._over_skipped = False
                self._sum_up()
        return result

    def _remember(self, result: Result, what: str, name: str = "") -> None:
        """Keep what the judge is to be told: what was done, in a word and by its whole name."""
        if result.outcome is Outcome.CONFIRM:
            return
        failed = result.outcome is Outcome.FAILED
        if result.saved_at is not None:
            self._saved = f"saved {clock_time(result.saved_at)}"
        if result.outcome is Outcome.SAVED and what:
            self._status = Status(f"{name or what} {self._saved}", brief=f"{what} {self._saved}")
            return
        urgent = failed or result.outcome is Outcome.TOO_EARLY
        self._status = Status(said(result), urgent=urgent, unsaved=what if failed else "")
        if failed:
            # Keys typed while the write was waiting are dropped, not tried again one by one.
            self._failed_at = Message().time
        elif urgent:
            self._blink()

    def _blink(self) -> None:
        """Make the grade keys blink once."""
        hints = self.query_one(Hints)
        hints.add_class("-blink")
        self.set_timer(_BLINK_S, lambda: hints.remove_class("-blink"))

    def _tell(self, text: str) -> None:
        """Say something that is no outcome."""
        self._status = Status(text)
        self._show()

    def _skip(self) -> None:
        """Leave the document for later."""
        self._confirmed(self._session.skip, "skip")

    def _ask_reason(self) -> None:
        """Ask why the document cannot be judged."""

        def answered(reason: str | None) -> None:
            if reason is not None:
                self._confirmed(partial(self._session.cannot, reason), "can't")

        self.app.push_screen(CannotDialog(), answered)

    def _confirmed(self, act: Callable[..., Result], what: str) -> None:
        """Decide, asking first where the session wants that."""

        def answered(yes: bool | None) -> None:  # noqa: FBT001 - Textual's callback
            if yes:
                self._decide(partial(act, confirmed=True), what)

        result = self._decide(act, what)
        if result.outcome is Outcome.CONFIRM:
            self.app.push_screen(ConfirmDialog(said(result)), answered)

    def _ask_note(self) -> None:
        """Ask for the note."""
        task = self._session.task
        if task is None:
            return

        def answered(note: str | None) -> None:
            if note is not None:
                self._do(partial(self._session.note, note), "note")

        self.app.push_screen(NoteDialog(sanitise_line(task.docno), task.note), answered)

    def _next(self) -> None:
        """Go to the next document, or sum up at the end."""
        try:
            moved = self._session.go_next()
        except PoolerError as error:
            self._status = Status(sanitise_line(error.message), urgent=True)
            self._show()
            return
        if moved:
            self._tell(self._saved)
        elif self._session.is_complete:
            self._sum_up()
        else:
            self._tell("this is the last document")

    def _previous(self) -> None:
        """Go to the previous document."""
        moved = self._session.go_previous()
        self._tell(self._saved if moved else "this is the first document")

    def _read_topic(self) -> None:
        """Show the whole topic."""
        if self._session.topic is not None:
            self.app.push_screen(topic_screen(self._session.topic, self._keys))

    def _sum_up(self) -> None:
        """Show the end of the topic."""
        self.app.push_screen(SummaryScreen(self._session, self._keys), self._after_summary)

    def _after_summary(self, wish: Afterwards | None) -> None:
        """Do what the judge wants after a topic."""
        if wish is Afterwards.INBOX:
            self.dismiss(None)
        elif wish is Afterwards.QUIT:
            self.app.exit()
        elif wish is Afterwards.UNDO:
            self._do(self._session.undo)
        elif wish is Afterwards.SKIPPED:
            self._over_skipped = True
            self._session.go_to_state(State.SKIPPED)
            self._tell(self._saved)

    def _show(self) -> None:
        """Show where the session stands."""
        topic, task = self._session.topic, self._session.task
        if topic is not None and topic is not self._topic:
            self._show_topic(topic)
        place = (topic.topic, task.docno) if topic is not None and task is not None else None
        if place != self._on_screen:
            self._on_screen = place
            self._show_document()
        progress = progress_words(self._session.judge_name, self._session.progress)
        self.query_one("#topic-bar", Bar).show(topic_name(self._session), progress)
        self._show_document_bar()
        self.query_one(Hints).show(task, self._status)
        self._showing += 1
        self.call_after_refresh(self._mark_shown, self._showing)

    def _show_topic(self, topic: Topic) -> None:
        """Show another topic."""
        self._topic = topic
        self._terms = query_terms(topic)
        self._ahead = None
        self.query_one(Brief).show(topic.narrative or topic.description)
        self.query_one("#topic-pane", TextPane).show(topic_leaf(topic))

    def _show_document(self) -> bool:
        """Show another document, read ahead or read now; False when it could not be read."""
        self._is_unread = False
        docno = self._on_screen[1] if self._on_screen else ""
        if self._ahead is not None and self._ahead[0] == docno:
            self._pane.show(self._ahead[1].leaf, self._ahead[1])
            return True
        try:
            leaf = document_leaf(self._session.page(), self._terms)
        except PoolerError as error:
            self._is_unread = True
            leaf = Leaf(f"this document could not be read: {sanitise_line(error.message)}")
        self._pane.show(leaf)
        return not self._is_unread

    def _show_document_bar(self) -> None:
        """Name the document, and say how much of it has been on the screen."""
        task = self._session.task
        if task is None:
            return
        read = f"{self._pane.percent}%"
        if task.state is State.CANNOT:
            read = f"can't: {cut(sanitise_line(task.reason), 30)}   {read}"
        self.query_one("#document-bar", Bar).show(sanitise_line(task.docno), read)

    def _mark_shown(self, showing: int) -> None:
        """Start the clock of the document that is painted now."""
        if showing != self._showing or self._is_unread or not self._pane.is_painted:
            return
        self._session.mark_shown()
        if self._ahead_timer is not None:
            self._ahead_timer.stop()
        self._ahead_timer = self.set_timer(READ_AHEAD_S, self._read_ahead)

    def _read_ahead(self) -> None:
        """Read and lay out the document that a decision would lead to."""
        try:
            page = self._session.page_ahead()
        except PoolerError:
            return
        if page is not None and (self._ahead is None or self._ahead[0] != page.docno):
            leaf = document_leaf(page, self._terms)
            self._ahead = (page.docno, lay_out(leaf, self._pane.text_width))
