"""Looking things up and moving about: nothing is decided here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual import on

from judge_ui.screens.dialogs import LineDialog, PaletteDialog
from judge_ui.screens.document import DocumentScreen
from judge_ui.screens.lists import HistoryScreen, PoolListScreen, list_hints
from judge_ui.screens.reading import Review, guidelines_screen, help_screen, list_help, topic_screen
from judge_ui.session.keys import Command, KeyTable
from judge_ui.session.messages import refusal
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.lines import Hint, Notice
from judge_ui.widgets.lists import PoolList
from store.errors import PoolerError
from store.records import SeenEvent
from store.text import counted, sanitise_line


class BrowsingScreen(DocumentScreen):
    """A document that can be searched, and left for another; see `DocumentScreen`."""

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__(session, keys)
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
            Command.HELP: lambda: self.app.push_screen(help_screen(keys, session.scale)),
            Command.PALETTE: lambda: self.ask(PaletteDialog(keys), self._run),
            Command.INBOX: self._back,
            Command.QUIT: lambda: self.call_later(self.app.action_quit),
        }

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
        """Go to a place of the queue, and end the review."""
        self._review = None
        self._move(partial(self._session.go_to, place))

    def _back(self) -> None:
        if self._pane.is_finding:
            self._clear_find()
        elif self._session.pending is not None:
            undo = self._keys.name(Command.UNDO)
            words = self._session.pending.words
            self._show_message(
                f"NOT SAVED: {words}; the program keeps trying, {undo} gives it up", urgent=True
            )
        else:
            self.dismiss(None)

    def _read_topic(self) -> None:
        if self._session.topic is not None:
            self.app.push_screen(topic_screen(self._session.topic, self._keys))

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

    @on(PoolList.HelpWanted)
    def _list_help_wanted(self) -> None:
        self.app.push_screen(list_help(self._keys, self._session.scale))

    def on_descendant_focus(self) -> None:
        """Show which keys work now."""
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
        if self._pane.is_marking:  # on a small screen the message stands where the keys are to be
            self._status = Notice()
        self._show_hints()
