"""Rows to move about in; the documents as rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from judge_ui.session.keys import SCROLLING, Command, KeyTable, steps
from judge_ui.session.messages import CANNOT_MARK, day_or_time, given_lines
from judge_ui.session.queue import Filter
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import grade_mark, grade_name
from judge_ui.widgets.fields import LineInput
from judge_ui.widgets.lines import TitleBar
from store.records import State, Task
from store.text import counted, sanitise_line
from store.wrapping import cell_width, cut, pad

Line = Callable[[int, int], str]
"""Writes a row, by its number, into a width in cells; what it gives is fit for a terminal."""

_CURSOR = Style(reverse=True)


class RowList(ScrollView, can_focus=True):
    """Rows, one of them under the cursor, which shows while the keys come here, or never do."""

    @dataclass
    class Chosen(Message):
        """A row was chosen, with Enter or with the mouse."""

        row: int

    def __init__(self, keys: KeyTable, *, can_focus: bool = True) -> None:
        super().__init__()
        self.can_focus = can_focus
        self._keys = keys
        self._n_rows = 0
        self._line: Line = lambda _row, _width: ""
        self.cursor = 0

    def show(self, n_rows: int, line: Line, cursor: int = 0) -> None:
        """Show other rows, one of them under the cursor."""
        self._n_rows, self._line = n_rows, line
        self._fit()
        self.move_to(cursor)

    def move_to(self, row: int) -> None:
        """Put the cursor on a row, and the row in sight."""
        self.cursor = max(min(row, self._n_rows - 1), 0)
        height = self.scrollable_content_region.height
        top = self.scroll_offset.y
        if height and not top <= self.cursor < top + height:
            wanted = self.cursor if self.cursor < top else self.cursor - height + 1
            self.scroll_to(y=wanted, animate=False, immediate=True)
        self.refresh()

    def move(self, command: Command) -> None:
        """Move the cursor as a command says that scrolls a text."""
        page = max(self.scrollable_content_region.height - 1, 1)
        self.move_to(self.cursor + steps(command, page, self._n_rows))

    def choose(self) -> None:
        """Choose the row under the cursor."""
        if self._n_rows:
            self.post_message(self.Chosen(self.cursor))

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._fit()
        self.move_to(self.cursor)

    def on_key(self, event: events.Key) -> None:
        """Move or choose."""
        meaning = self._keys.meaning(event.key, event.character)
        if event.key == "enter":
            self.choose()
        elif isinstance(meaning, Command) and meaning in SCROLLING:
            self.move(meaning)
        else:
            return
        event.stop().prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked."""
        row = self.scroll_offset.y + event.y
        if row < self._n_rows:
            self.move_to(row)
            self.choose()

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width = self.scrollable_content_region.width
        row = self.scroll_offset.y + y
        base = self.rich_style
        if row >= self._n_rows:
            return Strip.blank(width, base)
        is_cursor = row == self.cursor and (self.has_focus or not self.can_focus)
        text = pad(self._line(row, width), width)
        return Strip([Segment(text, base + _CURSOR if is_cursor else base)])

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._n_rows)


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
"""What a list is cut down to by the key that makes a document so."""


class PoolList(Vertical):
    """The list, what it is cut down to, and a field to find a docno in it."""

    @dataclass
    class Chosen(Message):
        """A document was chosen."""

        place: int
        """In the queue of the open topic."""

    class Left(Message):
        """The judge wants to go back."""

    class HelpWanted(Message):
        """The judge wants to know the keys."""

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
        """By docno what an adjudicator's judges gave, written ever closer; empty for judges."""

    def compose(self) -> ComposeResult:
        """Lay out the list."""
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
        """Show how the documents stand now, the cursor on the one before the judge."""
        session = self._session
        all_places = range(len(session.tasks))
        self._places = all_places if self._filter is Filter.ALL else session.places(self._filter)
        row = self.rows.cursor
        if not (self._is_shown and self.rows.has_focus):
            # Moved about in, the list stays where it is; else it follows the judge.
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
        """Cut the list down, look for a docno, or go back."""
        if self.is_finding:
            if event.key == "escape":
                event.stop()
                self._end_finding()
            return
        meaning = self._keys.meaning(event.key, event.character)
        if event.key in ("tab", "shift+tab"):
            step = 1 if event.key == "tab" else -1
            place = self._filters.index(self._filter) + step
            self._cut_down(self._filters[place % len(self._filters)])
        elif isinstance(meaning, int):
            self._cut_down(meaning)
        elif meaning in _BY_KEY:
            self._cut_down(_BY_KEY[meaning])
        elif meaning is Command.FIND:
            field = self.query_one(Input)
            field.disabled = False
            self.add_class("-finding")
            field.focus()
        elif meaning in (Command.NEXT_HIT, Command.PREVIOUS_HIT):
            self._find(1 if meaning is Command.NEXT_HIT else -1)
        elif meaning is Command.HELP:
            self.post_message(self.HelpWanted())
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

    def _cut_down(self, wanted: Filter | int) -> None:
        """Show other documents, the cursor on the one before the judge or the next after it."""
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
