"""Every command by its name, for what one has no key in mind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from judge_ui.keys import EXPLANATIONS, SCROLLING, Command, KeyTable
from judge_ui.widgets.bars import Bar, Words
from judge_ui.widgets.hints import hints_leaf
from judge_ui.widgets.line_input import LineInput
from judge_ui.widgets.rows import RowList
from judge_ui.widgets.wrapping import cell_width, pad

COMMANDS = tuple(
    command for command in EXPLANATIONS if command not in SCROLLING | {Command.PALETTE}
)
"""What the palette of the judging screen has."""

_ARROWS = {
    "down": Command.LINE_DOWN,
    "up": Command.LINE_UP,
    "pagedown": Command.PAGE_DOWN,
    "pageup": Command.PAGE_UP,
}
"""Keys that move in the list while the field has the focus: letters are typed."""


class PaletteDialog(ModalScreen[Command | None]):
    """Asks for a command; gives ``None`` for none.

    Parameters
    ----------
    keys : KeyTable
        Says which key each command has.
    commands : sequence of Command
        Those that work where it was opened.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape,ctrl+p", "cancel", "Cancel")]

    def __init__(self, keys: KeyTable, commands: Sequence[Command] = COMMANDS) -> None:
        super().__init__()
        self._keys = keys
        self._commands = commands
        self._found: list[Command] = []

    def compose(self) -> ComposeResult:
        """Lay out the field over the list."""
        with Vertical(classes="dialog", id="palette"):
            yield Bar("Commands", classes="question")
            yield LineInput(placeholder="type a few letters")
            yield RowList(self._keys, id="commands")
            yield Words(hints_leaf([("Enter", "runs it"), ("Esc", "goes back")]))

    def on_mount(self) -> None:
        """Begin with all of them."""
        rows = self.query_one(RowList)
        rows.can_focus = False
        rows.shows_cursor = True
        self._fill("")

    def on_key(self, event: events.Key) -> None:
        """Move in the list while the letters go into the field."""
        if event.key in _ARROWS:
            event.stop()
            self.query_one(RowList).move(_ARROWS[event.key])

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        """Show the commands that have every word that was typed."""
        event.stop()
        self._fill(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        """Run the command under the cursor."""
        event.stop()
        self.query_one(RowList).choose()

    @on(RowList.Chosen)
    def _chosen(self, message: RowList.Chosen) -> None:
        """Give the command."""
        message.stop()
        self.dismiss(self._found[message.row])

    def action_cancel(self) -> None:
        """Give none."""
        self.dismiss(None)

    def _fill(self, typed: str) -> None:
        """Show the commands that match, those whose name begins so before others."""
        self._found = matching(self._commands, typed)
        self.query_one(RowList).show(len(self._found), self._line)

    def _line(self, row: int, _width: int) -> str:
        """Write one command: its name, its key, what it does."""
        command = self._found[row]
        names = max(cell_width(str(one)) for one in self._commands)
        keys = max(cell_width(self._keys.name(one)) for one in self._commands)
        name, key = pad(str(command), names), pad(self._keys.name(command), keys)
        return f" {name}  {key}  {EXPLANATIONS[command]}"


def matching(commands: Sequence[Command], typed: str) -> list[Command]:
    """Return the commands that have every word typed in their name or explanation.

    Examples
    --------
    >>> [str(matching(COMMANDS, typed)[0]) for typed in ("no", "back top", "undone")]
    ['note', 'inbox', 'redo']
    """
    words = typed.casefold().split()
    found = [
        command
        for command in commands
        if all(word in f"{command} {EXPLANATIONS[command]}".casefold() for word in words)
    ]
    return sorted(found, key=lambda command: not str(command).startswith(typed.casefold().strip()))
