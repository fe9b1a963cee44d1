"""The list of documents and the history, as screens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from judge_ui.screens.base import WorkScreen
from judge_ui.screens.reading import list_help, page_help
from judge_ui.session.keys import Command, KeyTable
from judge_ui.session.messages import (
    clock_time,
    day_or_time,
    event_words,
    given_lines,
    progress_words,
    topic_name,
)
from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import CANNOT_MARK, grade_mark, grade_name
from judge_ui.widgets.lines import Hint, TitleBar
from judge_ui.widgets.lists import LineInput, RowList
from store.errors import PoolerError
from store.records import SeenEvent, State, Task
from store.text import counted, sanitise_line
from store.wrapping import cell_width, cut, pad

_LEAST_DOCNO = 16
"""Cells of a row that belong to the docno before the words of its state."""

_LEAST_TITLE = 12
"""Cells of a row that a title must have, or there is none."""

_LEAST_BESIDE_TIME = 20
"""The same where the time stands beside it, too."""

_TIME = len("today 09:05")

_STATES = {State.SKIPPED: "skipped", State.CANNOT: "cannot be judged"}
_BRIEF_STATES = {State.SKIPPED: "skip", State.CANNOT: CANNOT_MARK}
_LEAST_FOR_NAMES = 60
"""Cells of a row from which on grades are named; below, the title needs the room."""
_BY_KEY = {
    Command.SKIP: Filter.SKIPPED,
    Command.CANNOT: Filter.CANNOT,
    Command.NOTE: Filter.NOTED,
    Command.MARK: Filter.MARKED,
}
"""A key that puts a document into a state filters the list for that state."""


class PoolList(Vertical):
    """The list, its filter, and a field to find a docno in it."""

    @dataclass
    class Chosen(Message):
        """A document was chosen."""

        place: int
        """In the queue of the open topic."""

    class Left(Message):
        """The judge wants to go back."""

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__()
        self._session = session
        self._keys = keys
        self._filters: list[Filter | int] = [
            *(Filter.ALL, Filter.UNJUDGED),
            *reversed(session.scale.values),
            *(Filter.SKIPPED, Filter.CANNOT, Filter.NOTED, Filter.MARKED, Filter.QUICK),
        ]
        self._filter: Filter | int = Filter.ALL
        self._places: Sequence[int] = ()
        self._is_shown = False
        self._measured: Sequence[Task] = ()
        self._docno_width = 0
        self._has_titles = False
        self._given: list[dict[str, str]] = []
        """What an adjudicator's judges gave, by docno, in forms that are ever narrower; empty for judges."""

    def compose(self) -> ComposeResult:
        yield TitleBar(id="list-bar")
        yield RowList(self._keys)
        with Horizontal(id="list-find"):
            yield Static("docno with:", markup=False)
            yield LineInput(is_selected=True, disabled=True)

    @property
    def rows(self) -> RowList:
        """The rows, for the focus."""
        return self.query_one(RowList)

    @property
    def is_finding(self) -> bool:
        """Whether the keys go into the field for a docno."""
        return self.query_one(Input).has_focus

    @property
    def is_in_use(self) -> bool:
        """Whether the keys go to the list."""
        return self.is_finding or self.rows.has_focus

    def show(self) -> None:
        """Show how the documents stand now, the cursor on the one that is on the screen."""
        session = self._session
        all_places = range(len(session.tasks))
        self._places = all_places if self._filter is Filter.ALL else session.places(self._filter)
        row = self.rows.cursor
        if not (self._is_shown and self.rows.has_focus):
            # While the judge moves about in the list its cursor stays; otherwise it follows the document.
            row = bisect_left(self._places, session.index)
        self.rows.show(len(self._places), self._line, row)
        self._is_shown = True
        if session.tasks is not self._measured:
            self._measured = session.tasks
            docnos = (cell_width(sanitise_line(task.docno)) for task in session.tasks)
            self._docno_width = max(docnos, default=0)
            self._has_titles = any(session.title(task.docno) for task in session.tasks)
            given = {task.docno: session.given(task.docno) for task in session.tasks}
            written = given_lines(list(given.values()), session.scale) if any(given.values()) else []
            self._given = [dict(zip(given, lines, strict=True)) for lines in written]
        self._show_filter()

    def _show_filter(self) -> None:
        total = len(self._session.tasks)
        name, some = str(self._filter), f"{len(self._places)} of {total}"
        if self._filter is Filter.ALL:
            name, some = counted(total, "document"), ""
        elif self._filter is Filter.QUICK:
            name = f"decided in under {self._session.quick_s:g} s"
        elif not isinstance(self._filter, Filter):
            name = grade_name(self._session.scale, self._filter)
        self.query_one("#list-bar", TitleBar).show(name, some)

    def on_key(self, event: events.Key) -> None:
        if self.is_finding:
            if event.key == "escape":
                event.stop()
                self._end_finding()
            return
        meaning = self._keys.meaning(event.key, event.character)
        if event.key in ("tab", "shift+tab"):
            step = 1 if event.key == "tab" else -1
            place = self._filters.index(self._filter) + step
            self._filter_by(self._filters[place % len(self._filters)])
        elif isinstance(meaning, int):
            self._filter_by(meaning)
        elif meaning in _BY_KEY:
            self._filter_by(_BY_KEY[meaning])
        elif meaning is Command.FIND:
            field = self.query_one(Input)
            field.disabled = False
            self.add_class("-finding")
            field.focus()
        elif meaning in (Command.NEXT_HIT, Command.PREVIOUS_HIT):
            self._find(1 if meaning is Command.NEXT_HIT else -1)
        elif meaning is Command.HELP:
            self.app.push_screen(list_help(self._keys, self._session.scale))
        elif meaning in (Command.LIST, Command.INBOX, Command.QUIT):
            self.post_message(self.Left())
        else:
            return
        event.stop().prevent_default()

    @on(RowList.Chosen)
    def _chosen(self, message: RowList.Chosen) -> None:
        message.stop()
        if message.row < len(self._places):
            self.post_message(self.Chosen(self._places[message.row]))

    def _filter_by(self, wanted: Filter | int) -> None:
        """Apply a filter; the cursor goes to the document on the screen, or to the next one in the list."""
        self._filter = wanted
        self.show()
        self.rows.move_to(bisect_left(self._places, self._session.index))

    def _end_finding(self) -> None:
        self.rows.focus()
        self.query_one(Input).disabled = True
        self.remove_class("-finding")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        """Go to the first docno from here on that has what was typed."""
        event.stop()
        self._find(0)

    @on(Input.Submitted)
    def _found(self, event: Input.Submitted) -> None:
        event.stop()
        self._end_finding()

    def _find(self, step: int) -> None:
        """Move to the next docno that has what was typed, in a direction, wrapping."""
        wanted = self.query_one(Input).value.casefold()
        n_rows = len(self._places)
        if not wanted or not n_rows:
            return
        direction = step or 1
        for distance in range(abs(step), n_rows + 1):
            row = (self.rows.cursor + direction * distance) % n_rows
            docno = self._session.tasks[self._places[row]].docno
            if wanted in sanitise_line(docno).casefold():
                self.rows.move_to(row)
                return

    def _line(self, row: int, width: int) -> str:
        place = self._places[row]
        if place >= len(self._session.tasks):
            return ""
        task = self._session.tasks[place]
        here = ">" if place == self._session.index else " "
        marks = ("*" if task.note else " ") + ('"' if task.passages else " ")
        scale, states, named = self._session.scale, _STATES, grade_name
        if self._given or (self._has_titles and width < _LEAST_FOR_NAMES):
            states, named = _BRIEF_STATES, grade_mark
        names = {value: named(scale, value) for value in scale.values}
        state = states.get(task.state, "-")
        if task.state is State.JUDGED and task.grade is not None:
            state = names[task.grade]
        widest = max(map(cell_width, [*names.values(), *states.values()]))
        column = min(widest, max(width - len('>  *" ') - _LEAST_DOCNO, 8))
        line = f"{here} {pad(state, column)} {marks} {pad(sanitise_line(task.docno), self._docno_width)}"
        if self._given:
            room = width - cell_width(line) - len("  ")
            written = [lines.get(task.docno, "") for lines in self._given]
            line += f"  {next((one for one in written if cell_width(one) <= room), written[-1])}"
        when = "" if task.judged_at is None else day_or_time(task.judged_at, datetime.now().astimezone())
        room = width - cell_width(line) - len("  ")
        with_time = room - _TIME - len("  ")
        if with_time >= _LEAST_BESIDE_TIME:
            return f"{line}  {pad(self._session.title(task.docno), with_time)}  {when}"
        return f"{line}  {cut(self._session.title(task.docno), room)}" if room >= _LEAST_TITLE else line


class PoolListScreen(WorkScreen[int | None]):
    """The list; gives the place of the document to go to, or ``None``."""

    AUTO_FOCUS = "RowList"

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__(keys, topic_name(session), progress_words(session))
        self._session = session

    def compose_work(self) -> ComposeResult:
        yield PoolList(self._session, self._keys)

    def on_mount(self) -> None:
        self.query_one(PoolList).show()
        self.on_descendant_focus()

    def on_descendant_focus(self) -> None:
        is_finding = self.query_one(PoolList).is_finding
        self.show_foot(list_hints(self._keys, is_finding=is_finding))

    @on(PoolList.Chosen)
    def _chosen(self, message: PoolList.Chosen) -> None:
        message.stop()
        self.dismiss(message.place)

    @on(PoolList.Left)
    def _left(self) -> None:
        self.dismiss(None)


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
        yield RowList(self._keys)

    def on_mount(self) -> None:
        self._show()

    def on_key(self, event: events.Key) -> None:
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
