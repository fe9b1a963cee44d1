"""Questions at the foot of the screen, and the palette of commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from judge_ui.screens.base import Dialog, Question, WaitsForPaint
from judge_ui.session.drafts import Drafts, Pair
from judge_ui.session.keys import OTHER_REASON, REASONS, SCROLLING, Command, KeyTable, half_width
from judge_ui.widgets.lines import Hint, TitleBar, Words, hints_text
from judge_ui.widgets.lists import LineInput, NoteField, RowList
from store.text import sanitise, sanitise_line
from store.wrapping import cell_width, pad

_BACK = ("Esc", "goes back")


class LineDialog(Dialog[str | None]):
    """Asks for a line of text; gives ``None`` when it is to stay as it was."""

    HINTS: ClassVar[Sequence[Hint]] = (("Esc", "leaves it as it was"),)

    def __init__(self, question: str, text: str, enter: str, *, is_selected: bool = False) -> None:
        super().__init__()
        self._question = question
        self._text = sanitise_line(text)
        self._enter = enter
        self._field: LineInput | NoteField = LineInput(self._text, is_selected=is_selected)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield TitleBar(self._question, classes="question")
            yield self._field
            yield Words(hints_text([("Enter", self._enter), *self.HINTS]))

    @property
    def is_changed(self) -> bool:
        """Whether something was typed that leaving would lose."""
        return self._field.value != self._text

    def ask_before_quitting(self) -> None:
        """Show what to press first, so that what was typed is not lost by a habit."""
        self.query_one(".question", TitleBar).show("Not saved yet: Enter or Esc first, then quit")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())


class NoteDialog(LineDialog):
    """Asks for a note on a document, its docno fit for a terminal; it may have several lines."""

    AUTO_FOCUS = "NoteField"
    HINTS = (("ctrl+j", "new line"), ("Esc", "keeps a draft"), ("ctrl+g", "discards it"))
    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+g", "discard", "Discard")]

    def __init__(self, docno: str, note: str, drafts: Drafts, pair: Pair) -> None:
        draft = drafts.get(pair)
        super().__init__(f"Note on {docno}" + ("" if draft is None else ": a draft, not saved"), "", "saves")
        self._text = sanitise(note)
        self._field = NoteField(self._text if draft is None else sanitise(draft))
        self._drafts, self._pair = drafts, pair

    @on(NoteField.Changed)
    def _typed(self) -> None:
        """Keep what is typed, however the program ends."""
        if self.is_changed:
            self._drafts.keep(self._pair, self._field.value)
        else:
            self._drafts.drop(self._pair)

    async def action_dismiss(self, result: str | None = None) -> None:
        """Leave, and keep what was typed last, too."""
        self._typed()
        await super().action_dismiss(result)

    def action_discard(self) -> None:
        self._drafts.drop(self._pair)
        self.dismiss(None)

    def on_note_field_submitted(self, event: NoteField.Submitted) -> None:
        """Take the note, unless it is the one there was."""
        event.stop()
        self.dismiss(self._field.value.strip() if self.is_changed else None)


class CannotDialog(Dialog[str | None]):
    """Asks why a document cannot be judged; gives ``None`` when it can after all."""

    def __init__(self) -> None:
        super().__init__()
        self._asks_words = False

    def compose(self) -> ComposeResult:
        answers = hints_text((f"[{key}]", reason) for key, reason in REASONS)
        with Vertical(classes="dialog"):
            yield TitleBar("Why can it not be judged?", classes="question")
            yield Words(answers, id="reasons")
            with Horizontal(id="words"):
                yield Static("In your words:", markup=False)
                yield LineInput(placeholder="_" * 20, disabled=True)
            yield Words(hints_text([_BACK]), id="back")
            yield Words(hints_text([("Enter", "saves"), _BACK]), id="way-out")

    def on_key(self, event: events.Key) -> None:
        """Take a reason of one key, or ask for words."""
        key = half_width(event.character or event.key)
        reason = dict(REASONS).get(key)
        if self._asks_words or reason is None:
            return
        event.stop()
        if key != OTHER_REASON:
            self.dismiss(reason)
            return
        self._asks_words = True
        self.add_class("-words")
        words = self.query_one(Input)
        words.disabled = False
        words.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.dismiss(event.value.strip())


class ChoiceDialog(WaitsForPaint, Question[str | None]):
    """Asks for one of a few keys; gives the key, or ``None`` for none of them."""

    def __init__(self, question: str, answers: dict[str, str], otherwise: str = "") -> None:
        super().__init__()
        self._question = question
        self._answers = answers
        self._otherwise = otherwise

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Words(self._question, classes="question")
            yield Words("", id="answers")

    def begin(self) -> None:
        answers = [*self._answers.items(), *([("Esc", self._otherwise)] if self._otherwise else [])]
        self.query_one("#answers", Words).show(hints_text(answers))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        key = half_width(event.character or event.key).lower()
        if not self.is_meant(event):
            return
        if key in self._answers:
            self.dismiss(key)
        elif event.key == "escape":
            self.dismiss(None)


class ConfirmDialog(ChoiceDialog):
    """Asks yes or no; gives ``"y"`` for yes."""

    def __init__(self, question: str) -> None:
        super().__init__(question, {"y": "yes", "n": "no"})


COMMANDS = tuple(command for command in Command if command not in (*SCROLLING, Command.PALETTE))
"""What the palette of the judging screen has."""

_ARROWS = {
    "down": Command.LINE_DOWN,
    "up": Command.LINE_UP,
    "pagedown": Command.PAGE_DOWN,
    "pageup": Command.PAGE_UP,
}
"""Keys that move in the list while the field has the focus: letters are typed."""


class PaletteDialog(Dialog[Command | None]):
    """Asks for a command; gives ``None`` for none."""

    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+p", "dismiss", "Back")]

    def __init__(self, keys: KeyTable, commands: Sequence[Command] = COMMANDS) -> None:
        super().__init__()
        self._keys = keys
        self._commands = commands
        self._found: list[Command] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="palette"):
            yield TitleBar("Commands", classes="question")
            yield LineInput(placeholder="type a few letters")
            yield RowList(self._keys, can_focus=False)
            yield Words(hints_text([("Enter", "runs it"), ("Esc", "goes back")]))

    def on_mount(self) -> None:
        self._fill("")

    def on_key(self, event: events.Key) -> None:
        if event.key in _ARROWS:
            event.stop()
            self.query_one(RowList).move(_ARROWS[event.key])

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(RowList).choose()

    @on(RowList.Chosen)
    def _chosen(self, message: RowList.Chosen) -> None:
        message.stop()
        self.dismiss(self._found[message.row])

    def _fill(self, typed: str) -> None:
        """Show the commands that match, first those whose name begins with what was typed."""
        self._found = matching(self._commands, typed)
        self.query_one(RowList).show(len(self._found), self._line)

    def _line(self, row: int, _width: int) -> str:
        command = self._found[row]
        names = max(cell_width(str(one)) for one in self._commands)
        keys = max(cell_width(self._keys.name(one)) for one in self._commands)
        name, key = pad(str(command), names), pad(self._keys.name(command), keys)
        return f" {name}  {key}  {command.explanation}"


def matching(commands: Sequence[Command], typed: str) -> list[Command]:
    """Return the commands that have every word typed in their name or explanation."""
    words = typed.casefold().split()
    found = [
        command
        for command in commands
        if all(word in f"{command} {command.explanation}".casefold() for word in words)
    ]
    return sorted(found, key=lambda command: not str(command).startswith(typed.casefold().strip()))
