"""Documents and history as screens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual import events, on
from textual.app import ComposeResult

from judge_ui.screens.base import WorkScreen
from judge_ui.screens.reading import list_help, page_help
from judge_ui.session.keys import Command, KeyTable
from judge_ui.session.messages import clock_time, event_words, progress_words, topic_name
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.lines import Hint
from judge_ui.widgets.lists import PoolList, RowList
from store.errors import PoolerError
from store.records import SeenEvent
from store.text import sanitise_line
from store.wrapping import cell_width, cut, pad


class PoolListScreen(WorkScreen[int | None]):
    """The list; gives the place of the document to go to, or ``None``."""

    AUTO_FOCUS = "RowList"

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__(keys, topic_name(session), progress_words(session))
        self._session = session

    def compose_work(self) -> ComposeResult:
        """Yield the list."""
        yield PoolList(self._session, self._keys)

    def on_mount(self) -> None:
        """List the documents."""
        self.query_one(PoolList).show()
        self.on_descendant_focus()

    def on_descendant_focus(self) -> None:
        """Show which keys work now."""
        is_finding = self.query_one(PoolList).is_finding
        self.show_foot(list_hints(self._keys, is_finding=is_finding))

    @on(PoolList.Chosen)
    def _chosen(self, message: PoolList.Chosen) -> None:
        message.stop()
        self.dismiss(message.place)

    @on(PoolList.Left)
    def _left(self) -> None:
        self.dismiss(None)

    @on(PoolList.HelpWanted)
    def _help_wanted(self) -> None:
        self.app.push_screen(list_help(self._keys, self._session.scale))


def list_hints(keys: KeyTable, *, is_finding: bool) -> list[Hint]:
    """Return the keys that work in a list, or in its field for a docno."""
    if is_finding:
        return [("Enter", "or Esc: done")]
    return [
        ("Enter", "go there"),
        ("Tab", "filter"),
        (keys.name(Command.FIND), "find docno"),
        (keys.name(Command.HELP), "help"),
        (keys.name(Command.LIST), "back"),
    ]


_USUAL_WIDTH = 60
_LONGEST_TOPIC = 14
_SHORTEST_DOCNO = 8
_SHORTEST_WORDS = 14
"""Cells of a row that belong to what was done before the docno."""
_LEAST_TITLE = 12
"""Cells of a title, or there is none."""


class HistoryScreen(WorkScreen[SeenEvent | None]):
    """A list of events; gives the one to go to, or ``None``."""

    AUTO_FOCUS = "RowList"

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__(keys)
        self._session = session
        self._is_of_document = False
        self._events: Sequence[SeenEvent] = ()
        self._topic_width = self._docno_width = self._words_width = 0

    def compose_work(self) -> ComposeResult:
        """Yield the list."""
        yield RowList(self._keys)

    def on_mount(self) -> None:
        """Begin with the sitting."""
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Show the other list, or go back."""
        meaning = self._keys.meaning(event.key, event.character)
        if self.shows_help(event, partial(page_help, self._keys)):
            return
        if event.key in ("tab", "shift+tab"):
            if self._session.task is not None:
                self._is_of_document = not self._is_of_document
                self._show()
        elif meaning in (Command.HISTORY, Command.INBOX, Command.QUIT):
            self.dismiss(None)
        else:
            return
        event.stop().prevent_default()

    @on(RowList.Chosen)
    def _chosen(self, message: RowList.Chosen) -> None:
        message.stop()
        self.dismiss(self._events[message.row])

    def _show(self) -> None:
        session, task = self._session, self._session.task
        of_document = self._is_of_document and task is not None
        docno = sanitise_line(task.docno) if task is not None else ""
        trouble = ""
        try:
            self._events = session.events_here() if of_document else session.desk.events()
        except PoolerError as error:
            self._events, trouble = (), sanitise_line(error.message)
        title = f"History of {docno}" if of_document else "History of this sitting"
        count = f"{len(self._events)} in all sittings" if of_document else str(len(self._events))
        self._title_bar.show(title, trouble or count)
        topics, docnos = ({_ids(event)[which] for event in self._events} for which in (0, 1))
        self._topic_width = max(map(cell_width, topics), default=0)
        self._docno_width = max(map(cell_width, docnos), default=0)
        words = (event_words(event, session.scale) for event in self._events)
        self._words_width = max(map(cell_width, words), default=0)
        self.query_one(RowList).show(len(self._events), self._line)
        other = [("Tab", "sitting" if of_document else "document")] if task else []
        back = self._keys.name(Command.HISTORY)
        help_hint = (self._keys.name(Command.HELP), "help")
        self.show_foot([("Enter", "go there"), *other, help_hint, (back, "back")])

    def _line(self, row: int, width: int) -> str:
        event = self._events[row]
        words = event_words(event, self._session.scale)
        if self._is_of_document:
            when = event.judged_at.astimezone().strftime("%Y-%m-%d %H:%M")
            where = "" if event.is_here else f" ({sanitise_line(event.host) or 'elsewhere'})"
            return f" {when}  {words}{where}"
        when = clock_time(event.judged_at)[: None if width >= _USUAL_WIDTH else len("12:04")]
        topic, docno = _ids(event)
        topic_width = min(self._topic_width, _LONGEST_TOPIC)
        room = width - len(f" {when}") - topic_width - 6 - _SHORTEST_WORDS
        docno_width = min(self._docno_width, max(room, _SHORTEST_DOCNO))
        line = f" {when}  {pad(topic, topic_width)}  {pad(docno, docno_width)}  {words}"
        here = self._session.topic
        title = self._session.title(event.docno) if here is not None and here.topic == event.topic else ""
        blanks = " " * (self._words_width - cell_width(words) + len("  "))
        room = width - cell_width(line) - len(blanks)
        return f"{line}{blanks}{cut(title, room)}" if title and room >= _LEAST_TITLE else line


def _ids(event: SeenEvent) -> tuple[str, str]:
    return sanitise_line(event.topic), sanitise_line(event.docno)
