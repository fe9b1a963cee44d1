"""The first screen: the judge's topics, and how far each has come."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial

from textual import events, on
from textual.app import ComposeResult

from judge_ui.screens.adjudicate import AdjudicateScreen
from judge_ui.screens.base import WorkScreen
from judge_ui.screens.dialogs import PaletteDialog
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.lists import HistoryScreen
from judge_ui.screens.reading import briefing_screen, guidelines_screen, inbox_help
from judge_ui.session.keys import SCROLLING, Command, KeyTable
from judge_ui.session.messages import day_or_time, forecast_words, next_row, result_text, skipped_words
from judge_ui.session.session import AdjudicatingSession, JudgingSession
from judge_ui.session.words import KeyOutcome, KeyResult, tried
from judge_ui.widgets.lines import Notice, TitleBar
from judge_ui.widgets.lists import RowList
from store.errors import PoolerError
from store.records import InboxLine, SeenEvent
from store.text import sanitise_line
from store.wrapping import cell_width, cut, pad

_COLUMNS = ("topic", "title", "docs", "judged", "skipped", "can't", "left", "last judged")
_HEADS = {name: name for name in _COLUMNS}
_OPTIONAL = ("last judged", "docs", "can't", "skipped")
"""Columns that give way to the title on a narrow screen, the first to go first."""

_LEAST_TITLE = 30
"""Cells that the longest title may claim before any optional column."""

_LONGEST_ID = 14

_HINTS = (
    (Command.HELP, "help"),
    (Command.UNDO, "undo"),
    (Command.GUIDELINES, "guidelines"),
    (Command.HISTORY, "history"),
    (Command.QUIT, "quit"),
)


class InboxScreen(WorkScreen[None]):
    """The topics of a session's judge."""

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__(keys)
        self._session = session
        self._briefed: set[tuple[str, int]] = set()
        """Topics whose briefing was acknowledged, and the version of the guidelines in it."""
        self._lines: list[InboxLine] = []
        self._has_moved = False
        """Whether the cursor is where the judge put it."""
        self._rows: list[dict[str, str]] = []
        self._widest: dict[str, int] = {}
        self._commands: dict[Command, Callable[[], object]] = {
            Command.UNDO: lambda: self._act(session.undo),
            Command.REDO: lambda: self._act(session.redo),
            Command.GUIDELINES: lambda: self._do(self._read_guidelines),
            Command.HISTORY: lambda: self.ask(HistoryScreen(session, keys), self._open_event),
            Command.HELP: lambda: self.app.push_screen(inbox_help(keys, list(self._commands))),
            Command.PALETTE: self._ask_command,
            Command.QUIT: lambda: self.call_later(self.app.action_quit),
        }
        """What works here besides Enter and moving."""

    def compose_work(self) -> ComposeResult:
        yield TitleBar(id="columns")
        # The keys are the screen's, so that none comes before the list has the focus.
        yield RowList(self._keys, can_focus=False)
        yield TitleBar(id="forecast")

    def on_mount(self) -> None:
        if self._session.topic is not None:
            self._open()

    def on_screen_resume(self) -> None:
        self._list()

    def on_resize(self) -> None:
        self.call_after_refresh(self._name_columns)

    @on(RowList.Chosen)
    def _chosen(self, message: RowList.Chosen) -> None:
        message.stop()
        self._open_row(message.row)

    def on_key(self, event: events.Key) -> None:
        meaning = self._keys.meaning(event.key, event.character)
        if event.key == "enter":
            event.stop()
            self._open_row(self.query_one(RowList).cursor)
        elif isinstance(meaning, Command) and meaning in SCROLLING:
            event.stop()
            self._has_moved = True
            self.query_one(RowList).move(meaning)
        elif isinstance(meaning, Command) and meaning in self._commands:
            event.stop()
            self._commands[meaning]()

    def _ask_command(self) -> None:
        others = [one for one in self._commands if one is not Command.PALETTE]
        self.ask(PaletteDialog(self._keys, others), lambda command: self._commands[command]())

    def _read_guidelines(self) -> None:
        self.app.push_screen(guidelines_screen(self._session.desk.guidelines(), self._keys))

    def _do(self, act: Callable[[], object]) -> bool:
        try:
            act()
        except PoolerError as error:
            self._foot(error.message)
            return False
        return True

    def _open_row(self, row: int) -> None:
        if self.is_active and 0 <= row < len(self._lines):
            topic = self._lines[row].topic
            if self._do(lambda: self._session.open_topic(topic)):
                self._open()

    def _open_event(self, event: SeenEvent) -> None:
        opening = partial(self._session.open_topic, event.topic)
        going = partial(self._session.go_to_document, event.topic, event.docno)
        if self._do(opening) and self._do(going):
            self._open()

    def _act(self, act: Callable[[], KeyResult]) -> None:
        result = tried(act)
        if result.outcome in (KeyOutcome.NOTHING, KeyOutcome.FAILED) and self._session.pending is None:
            self._foot(result_text(result))
        else:
            self._go_in(result)

    def _open(self) -> None:
        """Show the open topic, after what a judge who is new to it must know."""
        session, topic = self._session, self._session.topic
        if topic is None or not session.needs_briefing:
            self._go_in()
            return
        guideline = None
        with suppress(PoolerError):
            guideline = session.desk.guidelines()
        version = 0 if guideline is None else guideline.version
        is_empty = guideline is None and not (topic.narrative + topic.description).strip()
        if is_empty or (topic.topic, version) in self._briefed:
            self._go_in()
            return

        def answered(begins: bool | None) -> None:  # noqa: FBT001 - Textual's callback
            if begins:
                self._briefed.add((topic.topic, version))
                self._go_in()

        page = briefing_screen(topic, guideline, session.scale, self._keys)
        self.app.push_screen(page, answered)

    def _go_in(self, opening: KeyResult | None = None) -> None:
        self._has_moved = False
        session, keys = self._session, self._keys
        if isinstance(session, AdjudicatingSession):
            self.ask(AdjudicateScreen(session, keys, opening), self._go_on)
        else:
            self.ask(JudgeScreen(session, keys, opening), self._go_on)

    def _go_on(self, wants_next: bool) -> None:  # noqa: FBT001 - a screen's answer
        """Open the next topic, where the one that was left is to be followed by it."""
        if wants_next:
            self._list()
            self.call_after_refresh(lambda: self._open_row(self._first_row()))

    def _list(self) -> None:
        try:
            self._lines = self._session.desk.inbox()
        except PoolerError as error:
            self._foot(error.message)
            return
        total = sum(line.documents for line in self._lines)
        left = sum(line.left for line in self._lines)
        n_skipped = sum(line.skipped for line in self._lines)
        done = f"{self._session.desk.judge_name}   {total - left - n_skipped}/{total}"
        skipped = skipped_words(n_skipped, ", ")
        self._title_bar.show("Topics", [f"{done}{skipped}  left {left}", f"{done}  left {left}"])
        self._foot("" if self._lines else "nothing to judge yet: nothing is pooled, or assigned to you")
        self._forecast(left)
        self._rows = [_cells(line) for line in self._lines]
        self._widest = {
            name: max(cell_width(row[name]) for row in [_HEADS, *self._rows]) for name in _COLUMNS
        }
        table = self.query_one(RowList)
        table.show(len(self._rows), self._line, table.cursor if self._has_moved else self._first_row())
        self._name_columns()

    def _forecast(self, left: int) -> None:
        words = ""
        with suppress(PoolerError):
            words = forecast_words(self._session.forecast(left))
        bar = self.query_one("#forecast", TitleBar)
        bar.show(words)
        bar.display = bool(words)

    def _foot(self, message: str = "") -> None:
        hints = [("Enter", "open")]
        hints += [(self._keys.name(command), word) for command, word in _HINTS]
        self.show_foot(hints, Notice(sanitise_line(message)))

    def _name_columns(self) -> None:
        if not self._widest:
            return
        room = self.query_one(RowList).scrollable_content_region.width
        self.query_one("#columns", TitleBar).show(_written(_HEADS, _widths(self._widest, room))[1:])

    def _line(self, row: int, width: int) -> str:
        return _written(self._rows[row], _widths(self._widest, width))

    def _first_row(self) -> int:
        return next_row(self._session, self._lines) or 0


def _cells(line: InboxLine) -> dict[str, str]:
    now = datetime.now().astimezone()
    values = (
        cut(sanitise_line(line.topic), _LONGEST_ID),
        line.title,
        str(line.documents),
        str(line.judged),
        str(line.skipped),
        str(line.cannot),
        str(line.left) if line.left else skipped_words(line.skipped) or "done",
        day_or_time(line.last_judged_at, now),
    )
    return dict(zip(_COLUMNS, values, strict=True))


def _widths(widest: dict[str, int], room: int) -> dict[str, int]:
    """Choose columns and their widths; the title takes what the others leave."""
    widths = dict(widest)
    for name in ("", *_OPTIONAL):
        widths.pop(name, None)
        others = sum(width for other, width in widths.items() if other != "title")
        widths["title"] = room - others - 2 * len(widths)
        if widths["title"] >= min(widest["title"], _LEAST_TITLE):
            break
    widths["title"] = max(widths["title"], 1)
    return widths


def _written(cells: dict[str, str], widths: dict[str, int]) -> str:
    """Write cells, each between two blanks; numbers end where their column does."""
    line = ""
    for name, width in widths.items():
        text = cut(cells[name], width)
        is_text = name in ("topic", "title", "last judged")
        line += f" {pad(text, width) if is_text else ' ' * (width - cell_width(text)) + text} "
    return line
