"""The adjudicator's screen, and which cells."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical

from judge_ui.screens.base import Dialog
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.reading import ReadingScreen, help_text
from judge_ui.session.keys import Command, KeyTable, key_name
from judge_ui.session.messages import cell_name, cell_words
from judge_ui.session.session import AdjudicatingSession
from judge_ui.session.words import KeyResult
from judge_ui.widgets.laid_out import MarkedText, strong, topic_text
from judge_ui.widgets.lines import OpinionsBox, TitleBar, opinions_text
from judge_ui.widgets.lists import RowList
from store.errors import PoolerError
from store.judging.disagreements import CellCount, GivenGrade
from store.records import Scale
from store.text import sanitise_line
from store.wrapping import cell_width, pad


class CellDialog(Dialog[int | None]):
    """Asks for a cell; gives its place in the list, -1 for all, ``None`` to leave it as it was."""

    AUTO_FOCUS = "RowList"

    def __init__(
        self,
        cells: Sequence[CellCount],
        wanted: tuple[GivenGrade, GivenGrade] | None,
        scale: Scale,
        keys: KeyTable,
    ) -> None:
        super().__init__()
        names = [cell_name(one.cell, scale) for one in cells]
        column = max([0, *map(cell_width, names)]) + 3
        self._rows = ["all disagreements"]
        self._rows += [
            f"{pad(name, column)}{cell_words(one, scale)}" for name, one in zip(names, cells, strict=True)
        ]
        places = [one.cell for one in cells]
        self._first = places.index(wanted) + 1 if wanted in places else 0
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield TitleBar("Which disagreements? One judge gave / another gave", classes="question")
            yield RowList(self._keys)
            yield TitleBar("Enter shows them   Esc goes back")

    def on_mount(self) -> None:
        rows = self.query_one(RowList)
        rows.styles.height = min(len(self._rows), 12)
        rows.show(len(self._rows), lambda row, _width: f" {self._rows[row]}", self._first)

    @on(RowList.Chosen)
    def _chosen(self, message: RowList.Chosen) -> None:
        message.stop()
        self.dismiss(message.row - 1)


_FILTER_KEYS = ("d", "f11", "ctrl+k", "ctrl+o", "insert")
"""Keys that choose disagreements, the best first; the first that means nothing else is taken."""


class AdjudicateScreen(JudgeScreen):
    """The disagreements of the open topic of a session."""

    ROLE = "Adjudicate"

    def __init__(
        self, session: AdjudicatingSession, keys: KeyTable, opening: KeyResult | None = None
    ) -> None:
        super().__init__(session, keys, opening)
        self._adjudicating = session
        self._filter_key = next((key for key in _FILTER_KEYS if keys.meaning(key) is None), _FILTER_KEYS[-1])
        self._opinions = MarkedText("")

    def compose_above(self) -> ComposeResult:
        hints = f"{self._keys.name(Command.TOPIC)} in full  {key_name(self._filter_key)} choose which"
        yield OpinionsBox(self._session.scale, hints)

    @property
    def n_above(self) -> int:
        return self.query_one(OpinionsBox).n_rows

    def show_above(self) -> None:
        scale, found, trouble = self._session.scale, None, ""
        try:
            found = self._adjudicating.disagreement()
        except PoolerError as error:
            trouble = f"what the judges said could not be read: {sanitise_line(error.message)}"
        self._is_whole = not trouble
        self.query_one(OpinionsBox).show(found, trouble)
        opinions = MarkedText(f"{trouble}\n\n" if trouble else "")
        if found is not None:
            opinions = opinions_text(found, scale)
        if opinions != self._opinions:
            self._opinions = opinions
            self._show_side()

    def on_key(self, event: events.Key) -> None:
        if event.key == self._filter_key and self.is_active and not self._is_too_small:
            event.stop()
            self._ask_cell()

    def _show(self) -> None:
        cell = self._adjudicating.desk.selection.cell
        named = "" if cell is None else f" {cell_name(cell, self._session.scale)}:"
        self.ROLE = f"{AdjudicateScreen.ROLE}{named}"
        super()._show()

    def _aside(self) -> MarkedText:
        return self._opinions + MarkedText(f"{key_name(self._filter_key)} choose which\n\n")

    def _read_topic(self) -> None:
        task, topic = self._session.task, self._session.topic
        if topic is None:
            return
        docno = "" if task is None else sanitise_line(task.docno)
        marked_text = strong(f"Document {docno}") + MarkedText("\n\n") + self._opinions
        marked_text += strong(f"Topic {sanitise_line(topic.topic)}") + MarkedText("\n\n") + topic_text(topic)
        page = ReadingScreen("What the judges said", marked_text, self._keys, Command.TOPIC)
        self.app.push_screen(page)

    def _help(self) -> None:
        key = key_name(self._filter_key)
        marked_text = strong("Adjudicating: what you decide is stored as your own judgement") + MarkedText(
            f"\n  A, B, C are judges; which judge is which changes from document to document."
            f"\n  Their notes and passages stand in full above the whole topic."
            f"\n  {key}  choose disagreements: one cell of the kappa table, or all\n\n"
        )
        marked_text += help_text(self._keys, self._session.scale)
        self.app.push_screen(ReadingScreen("Keys", marked_text, self._keys, Command.HELP))

    def _ask_cell(self) -> None:
        session = self._adjudicating
        try:
            cells = session.desk.cells()
        except PoolerError as error:
            self._refuse(error)
            return

        def answered(place: int) -> None:
            try:
                is_any = session.select_cell(None if place < 0 else cells[place].cell)
            except PoolerError as error:
                self._refuse(error)
                return
            self._review = None
            if is_any:
                self._show_message("")
            else:
                self.dismiss(None)

        wanted = session.desk.selection.cell
        self.ask(CellDialog(cells, wanted, session.scale, self._keys), answered)
