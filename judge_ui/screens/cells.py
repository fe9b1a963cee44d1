"""Which disagreements are wanted: those of one cell of the kappa table, or all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from judge_ui.keys import KeyTable
from judge_ui.opinions import cell_name, cell_words
from judge_ui.widgets.bars import Bar
from judge_ui.widgets.rows import RowList
from judge_ui.widgets.wrapping import cell_width, pad
from store.disagreements import CellCount
from store.records import Scale
from store.verdicts import Verdict


class CellDialog(ModalScreen[int | None]):
    """Asks for a cell; gives its place in the list, -1 for all, ``None`` to leave it as it was.

    Parameters
    ----------
    cells : sequence of CellCount
        Those there are.
    wanted : tuple of two Verdict, optional
        The one that is wanted now.
    scale : Scale
        The declared grades.
    keys : KeyTable
        Says which keys move.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Cancel")]
    DEFAULT_CSS = """
    CellDialog RowList {
        height: auto;
        max-height: 12;
    }
    """
    AUTO_FOCUS = "RowList"

    def __init__(
        self,
        cells: Sequence[CellCount],
        wanted: tuple[Verdict, Verdict] | None,
        scale: Scale,
        keys: KeyTable,
    ) -> None:
        super().__init__()
        names = [cell_name(one.cell, scale) for one in cells]
        column = max([0, *map(cell_width, names)]) + 3
        self._rows = ["all disagreements"]
        self._rows += [
            f"{pad(name, column)}{cell_words(one, scale)}"
            for name, one in zip(names, cells, strict=True)
        ]
        places = [one.cell for one in cells]
        self._first = places.index(wanted) + 1 if wanted in places else 0
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        with Vertical(classes="dialog"):
            yield Bar("Which disagreements? One judge gave / another gave", classes="question")
            yield RowList(self._keys, id="cells")
            yield Bar("Enter shows them   Esc goes back")

    def on_mount(self) -> None:
        """Show the cells, the cursor on the one that is wanted."""
        rows = self.query_one(RowList)
        rows.styles.height = min(len(self._rows), 12)
        rows.show(len(self._rows), lambda row, _width: f" {self._rows[row]}", self._first)

    @on(RowList.Chosen)
    def _chosen(self, message: RowList.Chosen) -> None:
        """Take a cell."""
        message.stop()
        self.dismiss(message.row - 1)

    def action_cancel(self) -> None:
        """Take none."""
        self.dismiss(None)
