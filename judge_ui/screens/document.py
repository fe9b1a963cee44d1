"""The document on the screen and everything around it; nothing is decided here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from judge_ui.screens.base import WorkScreen
from judge_ui.screens.dialogs import LineDialog, PaletteDialog
from judge_ui.screens.lists import HistoryScreen, PoolList, PoolListScreen, list_hints
from judge_ui.screens.reading import ReadingScreen, Review, guidelines_screen, help_text
from judge_ui.session.keys import Command, KeyTable
from judge_ui.session.messages import decision_mark, guidelines_title, progress_words, refusal, topic_name
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import TermGroups
from judge_ui.text.marking import seen_in_raw
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.laid_out import (
    LaidText,
    MarkedText,
    document_text,
    lay_out,
    markdown_text,
    own_remarks,
    strong,
    topic_text,
)
from judge_ui.widgets.lines import Brief, Hint, Notice, TitleBar
from judge_ui.widgets.text_pane import MEASURE, TextPane
from store.errors import PoolerError
from store.records import Passage, SeenEvent, ShownDocument, State, Topic
from store.text import counted, sanitise_line
from store.wrapping import cut

_BESIDE = 190
"""From so many columns on, guidelines and the judge's own remarks stand to the right of the document."""

_LONGEST_DOCNO = 24

_SIDE = 56
"""Cells of the left side then: it shows titles and times."""

READ_AHEAD_S = 0.2
"""Pause between the paint of a document and the reading of the next one, in seconds."""
_AGAIN = "It will be tried again."


class DocumentScreen(WorkScreen[bool | None]):
    """The open topic of a session, shown; gives whether the judge goes on with the next topic."""

    AUTO_FOCUS = "DocumentPane"
    ROLE = ""
    """What stands before the topic's name: what is done here, where that is not judging."""

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__(keys, scale=session.scale, folds=True)
        self._session = session
        self._status = Notice()
        self._topic: Topic | None = None
        self._terms = TermGroups()
        self._page: ShownDocument | None = None
        """What is in the pane; ``None`` = there is none, or it could not be read."""
        self._is_whole = True
        """Whether all that belongs to the document could be read."""
        self._guided: tuple[Topic | None, int] = (None, 0)
        self._guidelines_text = MarkedText("")
        self._fitted = (0, 0)
        self._sides: dict[str, MarkedText] = {}
        self._on_screen: tuple[str, str] | None = None
        self._showing = 0
        self._ahead: tuple[ShownDocument, LaidText] | None = None
        """The document that a decision would lead to, read and laid out."""
        self._ahead_timer: Timer | None = None
        self._sought = ""
        self._saved = ""
        """When something was last written, in words."""
        self._review: Review | None = None
        self._commands: dict[Command, Callable[[], object]] = {
            Command.PREVIOUS: self._previous,
            Command.TOPIC: self._read_topic,
            Command.GUIDELINES: self._read_guidelines,
            Command.LIST: self._list,
            Command.HISTORY: lambda: self.ask(HistoryScreen(session, keys), self._go_to_event),
            Command.FIND: self._ask_find,
            Command.NEXT_HIT: lambda: self._to_hit(1),
            Command.PREVIOUS_HIT: lambda: self._to_hit(-1),
            Command.TERMS: self._ask_terms,
            Command.LIT: self._switch_lit,
            Command.MARK: self._start_marking,
            Command.RAW: self._switch_raw,
            Command.HELP: self._help,
            Command.PALETTE: lambda: self.ask(PaletteDialog(keys), self._run),
            Command.INBOX: self._back,
            Command.QUIT: lambda: self.call_later(self.app.action_quit),
        }

    def compose_work(self) -> ComposeResult:
        yield Brief(self._keys, self._title_bar)
        with Horizontal(id="middle"):
            with Vertical(id="side"):
                yield TextPane(self._keys, id="topic-pane")
                yield PoolList(self._session, self._keys)
            with Vertical(id="document"):
                yield TitleBar(id="document-bar")
                yield from self.compose_above()
                yield DocumentPane(self._keys)
            yield TextPane(self._keys, id="beside")

    def compose_above(self) -> ComposeResult:
        """Yield the widgets between the name of a document and its text: none here."""
        yield from ()

    def show_above(self) -> None:
        """Update the widgets of `compose_above` from the session."""

    def on_mount(self) -> None:
        for name in ("#topic-pane", "#beside"):
            self.query_one(name).can_focus = False
        self._show()

    def on_resize(self) -> None:
        """Give the keys back to the document when there is room for it again."""
        self.call_after_refresh(self._show_resized)

    def _show_resized(self) -> None:
        self._pane.focus()
        self._show_hints()
        self._hint_lines.refresh(layout=True)
        self._fit_question()
        if self.has_class("-wide"):
            self.query_one(PoolList).show()
        has_room = self.size.width >= _BESIDE
        self.query_one("#beside").display = has_room
        self.query_one("#document").styles.width = MEASURE + 4 if has_room else None
        self.query_one("#side").styles.width = _SIDE if has_room else None
        self.call_after_refresh(self._show_side)  # which is written for the width that it has then

    def on_screen_resume(self) -> None:
        """Begin the clock of a document that was behind something else."""
        self.call_after_refresh(self._mark_shown, self._showing)

    @property
    def _pane(self) -> DocumentPane:
        return self.query_one(DocumentPane)

    @property
    def _is_too_small(self) -> bool:
        return self.has_class("-tiny") or self.has_class("-flat")

    @on(TextPane.Scrolled)
    def _scrolled(self) -> None:
        self._session.touch()
        self._show_document_bar()
        self._fit_if_needed()
        if self.size.width >= _BESIDE and self._guided[1] != self._guidelines_width:
            self._show_side()
        self.call_after_refresh(self._mark_shown, self._showing)

    def _show_message(self, text: str, *, urgent: bool = False) -> None:
        self._status = Notice(sanitise_line(text), urgent=urgent)
        self._show()

    def _show(self) -> None:
        topic = self._session.topic
        if topic is not None and topic is not self._topic:
            self._topic = topic
            self._terms = self._session.term_groups()
            self._ahead = None
            self.query_one(Brief).show(topic.description, topic.narrative)
            self._fit_question()
            self._show_side()
        if self._session.here != self._on_screen or self._session.trouble:
            self._on_screen = self._session.here
            self._show_document()
        else:
            self._pane.show_passages(self._passages())
        name = f"{self.ROLE} {topic_name(self._session)}".strip()
        self._title_bar.show(name, progress_words(self._session))
        self._show_document_bar()
        self._show_hints()
        if self.has_class("-wide"):
            self.query_one(PoolList).show()
        self.show_above()
        self._show_side()
        self._fit_if_needed()
        self._showing += 1
        self.call_after_refresh(self._mark_shown, self._showing)

    def _show_hints(self) -> None:
        session = self._session
        attempt = session.unwritten
        unsaved = "" if attempt is None else decision_mark(attempt.decision, session.scale)
        status = self._status
        shown = Notice(status.text, status.brief, status.urgent, unsaved, self._latest())
        self._hint_lines.show(session.task, shown, self._hints())

    def _fit_if_needed(self) -> None:
        if self._fitted != self._room():
            self._fit_question()

    def _fit_question(self) -> None:
        brief = self.query_one(Brief)
        self._fitted = self._room()
        brief.fit(*self._fitted)
        self.query_one("#document-bar").display = self.has_class("-wide") or not brief.takes_bar

    def _room(self) -> tuple[int, int]:
        n_lines = self._pane.n_lines
        return self._hint_lines.n_grades - 1 + self.n_above, 1000 if n_lines is None else n_lines

    @property
    def n_above(self) -> int:
        """Rows of the widgets of `compose_above`."""
        return 0

    def _latest(self) -> str:
        latest = self._session.undoing.latest
        if latest is None or self._session.unwritten is not None:
            return ""
        docno = cut(sanitise_line(latest.docno), _LONGEST_DOCNO)
        mark = decision_mark(latest, self._session.scale)
        return f"{docno}: {mark}, {self._keys.name(Command.UNDO)} undoes"

    def _aside(self) -> MarkedText:
        """Write what stands over the topic beside the document: nothing here."""
        return MarkedText("")

    def _show_side(self) -> None:
        if not self.has_class("-wide"):
            return
        is_said = topic_name(self._session) in self._title_bar.rows()[0]
        topic = MarkedText("") if self._topic is None else topic_text(self._topic, titled=not is_said)
        remarks = own_remarks(self._session.task)
        has_room = self.size.width >= _BESIDE
        side = self._aside() + topic + (MarkedText("") if has_room else remarks)
        beside = remarks
        if has_room:
            beside += MarkedText("\n\n" if remarks.text else "") + self._guidelines()
        for name, text in (("#topic-pane", side), ("#beside", beside)):
            if self._sides.get(name) != text:
                self._sides[name] = text
                self.query_one(name, TextPane).show(text)

    @property
    def _guidelines_width(self) -> int:
        return max(self.query_one("#beside", TextPane).text_width, 20)

    def _guidelines(self) -> MarkedText:
        """Write the guidelines as they were when the topic was opened, for the width there is."""
        width = self._guidelines_width
        if self._guided != (self._topic, width):
            self._guided, self._guidelines_text = (self._topic, width), MarkedText("")
            with suppress(PoolerError):
                if (found := self._session.desk.guidelines()) is not None:
                    title = strong(guidelines_title(found)) + MarkedText("\n\n")
                    self._guidelines_text = title + markdown_text(found.text, width)
        return self._guidelines_text

    def _passages(self) -> tuple[Passage, ...]:
        """Return the passages marked in the text on the screen: as stored, or as they are to be stored."""
        task, attempt = self._session.task, self._session.unwritten
        passages = () if task is None else task.passages
        if attempt is not None and attempt.decision.passages is not None:
            passages = attempt.decision.passages
        text = None if self._page is None else self._page.readable
        return seen_in_raw(text, passages) if text is not None and self._session.is_raw else passages

    def _show_document(self) -> bool:
        if self._session.trouble:
            self._page = None
            self._pane.show(MarkedText(f"{sanitise_line(self._session.trouble)}\n\n{_AGAIN}"))
            return False
        docno = self._on_screen[1] if self._on_screen else ""
        if self._ahead is not None and self._ahead[0].docno == docno:
            self._page, laid = self._ahead
            self._pane.show(laid.marked_text, laid)
            self._ahead = None
            return True
        try:
            self._page = self._session.page()
        except PoolerError as error:
            self._page = None
            trouble = f"this document could not be read: {sanitise_line(error.message)}"
            self._pane.show(MarkedText(f"{trouble}\n\n{_AGAIN}"))
            return False
        self._pane.show(self._written(self._page, self._passages()))
        return True

    def _written(self, page: ShownDocument, passages: Iterable[Passage]) -> MarkedText:
        topic, own, common = self._terms
        is_raw = self._session.is_raw and page is self._page
        return document_text(page, topic, passages, own=own, common=common, is_raw=is_raw)

    def _show_again(self) -> None:
        """Show the same document with other words marked; place and search stay."""
        if self._page is not None:
            marked_text = self._written(self._page, self._passages())
            self._pane.show_again(marked_text)

    def _show_document_bar(self) -> None:
        task = self._session.task
        if task is None:
            self.query_one("#document-bar", TitleBar).show("", "")
            return
        read = f"{self._pane.percent}%"
        if self._page is not None and self._page.readable is not None:
            other = "as it is read" if self._session.is_raw else "raw"
            read = f"{self._keys.name(Command.RAW)} {other}   {read}"
        if task.state is State.CANNOT:
            read = f"can't: {cut(sanitise_line(task.reason), 30)}   {read}"
        self.query_one("#document-bar", TitleBar).show(sanitise_line(task.docno), read)

    def _mark_shown(self, showing: int) -> None:
        """Start the clock of the document that is painted now."""
        is_read = self._page is not None and self._is_whole
        is_seen = self.is_active and is_read and self._pane.is_painted
        if showing != self._showing or not is_seen:
            return
        self._session.mark_shown(self._page)
        if self._ahead_timer is not None:
            self._ahead_timer.stop()
        self._ahead_timer = self.set_timer(READ_AHEAD_S, self._read_ahead)

    def _read_ahead(self) -> None:
        try:
            page = self._session.page_ahead()
        except PoolerError:
            return
        if page is not None and (self._ahead is None or page != self._ahead[0]):
            tasks = self._session.tasks
            passages = next((task.passages for task in tasks if task.docno == page.docno), ())
            marked_text = self._written(page, passages)
            laid = lay_out(marked_text, self._pane.text_width)
            self._ahead = (page, laid)

    def _run(self, command: Command) -> None:
        self._commands.get(command, lambda: None)()

    def _refuse(self, error: PoolerError) -> None:
        self._show_message(refusal(error), urgent=True)

    def _move(self, go: Callable[[], bool | None], otherwise: str = "") -> bool | None:
        """Go to another document; False where there is none, ``None`` where that was refused."""
        try:
            moved = go() is not False
        except PoolerError as error:
            self._refuse(error)
            return None
        self._show_message(self._saved if moved else otherwise)
        return moved

    def _previous(self) -> None:
        """Go to the previous document, of those to be gone over if there are any."""
        if self._review is None or self._session.pending is not None:
            self._move(self._session.go_previous, "this is the first document")
        elif self._review.go(-1):
            self._show_review()
        else:
            self._show_message(f"the first of them: {self._review.where}")

    def _show_review(self) -> None:
        place = None
        while self._review is not None and place is None:
            place = self._session.queue.place_of(self._review.here)
            if place is None and not self._review.go(1):
                self._review = None
        if self._review is not None and place is not None:
            self._move(partial(self._session.go_to, place))
            self._status = Notice(f"{self._review.where}  {self._saved}", self._review.where)
            self._show()

    def _go_to(self, place: int) -> None:
        self._review = None
        self._move(partial(self._session.go_to, place))

    def _back(self) -> None:
        if self._pane.is_finding:
            self._clear_find()
        elif self._session.pending is not None:
            undo = self._keys.name(Command.UNDO)
            words = self._session.pending.words
            self._show_message(
                f"NOT SAVED: {words}; trying again, leave this window open; {undo} gives it up", urgent=True
            )
        else:
            self.dismiss(None)

    def _read_topic(self) -> None:
        if (topic := self._session.topic) is not None:
            title = f"Topic {sanitise_line(topic.topic)}"
            self.app.push_screen(ReadingScreen(title, topic_text(topic), self._keys, Command.TOPIC))

    def _help(self) -> None:
        marked_text = partial(help_text, self._keys, self._session.scale)
        self.app.push_screen(ReadingScreen("Keys", marked_text, self._keys, Command.HELP))

    def _read_guidelines(self) -> None:
        try:
            guideline = self._session.desk.guidelines()
        except PoolerError as error:
            self._refuse(error)
        else:
            self.app.push_screen(guidelines_screen(guideline, self._keys))

    def _go_to_event(self, event: SeenEvent) -> None:
        self._review = None
        go = partial(self._session.go_to_document, event.topic, event.docno)
        self._move(go, f"{event.docno} is no longer in your queue")

    def _list(self) -> None:
        if self.has_class("-wide"):
            self.query_one(PoolList).rows.focus()
        else:
            self.ask(PoolListScreen(self._session, self._keys), self._go_to)

    @on(PoolList.Chosen)
    def _chosen(self, message: PoolList.Chosen) -> None:
        self._pane.focus()
        self._go_to(message.place)

    @on(PoolList.Left)
    def _left(self) -> None:
        self._pane.focus()

    def on_descendant_focus(self) -> None:
        self._show_hints()

    def _hints(self) -> list[Hint]:
        if self._pane.is_marking:
            return list(self._pane.marking_hints)
        beside = self.query_one(PoolList)
        if beside.is_in_use:
            return list_hints(self._keys, is_finding=beside.is_finding)
        return []

    def _ask_find(self) -> None:
        question = f"Find in {sanitise_line(self._on_screen[1] if self._on_screen else '')}"
        self.ask(LineDialog(question, self._sought, "finds", is_selected=True), self._find)

    def _find(self, text: str) -> None:
        self._sought = text
        if not text:
            self._clear_find()
        elif n_hits := self._pane.find(text):
            following, before = map(self._keys.name, (Command.NEXT_HIT, Command.PREVIOUS_HIT))
            self._show_message(f"{counted(n_hits, 'hit')}: {following} next, {before} back")
        else:
            self._pane.clear_find()
            self._show_message(f"not in this document: {text}", urgent=True)

    def _clear_find(self) -> None:
        self._pane.clear_find()
        self._show_message("")

    def _to_hit(self, step: int) -> None:
        hit = self._pane.find_next(step)
        if hit is None:
            self._show_message("nothing is marked in this document")
        else:
            self._show_message(f"hit {hit[0]} of {hit[1]}")

    def _ask_terms(self) -> None:
        question = "Words to highlight, separated by commas"
        terms = ", ".join(self._session.own_terms)
        self.ask(LineDialog(question, terms, "marks"), self._set_terms)

    def _set_terms(self, text: str) -> None:
        self._session.set_own_terms(text)
        self._light_up()
        own = ", ".join(self._session.own_terms)
        self._show_message(f"highlighted: {own}" if own else "no words of your own")

    def _light_up(self) -> None:
        self._terms = self._session.term_groups()
        self._ahead = None
        self._show_again()

    def _switch_lit(self) -> None:
        lit = self._session.switch_lit()
        self._light_up()
        self._show_message(f"lit up: {lit}")

    def _switch_raw(self) -> None:
        if self._page is None or self._page.readable is None:
            self._show_message("this document is shown as it came: its text has no markup")
            return
        self._session.is_raw = not self._session.is_raw
        self._show_again()
        self._show_message("as it came" if self._session.is_raw else "as it is read")

    def _start_marking(self) -> None:
        if not self._pane.start_marking():
            self._show_message("nothing to mark: this document has no text")

    @on(DocumentPane.MarkingChanged)
    def _marking_changed(self) -> None:
        if self._pane.is_marking:  # on a small screen the message takes the place of the keys
            self._status = Notice()
        self._show_hints()
