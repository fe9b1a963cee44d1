"""Questions at the foot of the screen; the document stays in sight above them."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from judge_ui.keys import OTHER_REASON, REASONS, half_width
from judge_ui.widgets.bars import Bar
from store.sanitise import BIDI_CONTROLS, sanitise_line

_TYPED = rf"[^\x00-\x1f\x7f-\x9f\ud800-\udfff{BIDI_CONTROLS}]*"
"""What may be typed or pasted: nothing that could steer a terminal."""


class NoteDialog(ModalScreen[str | None]):
    """Asks for a note; gives ``None`` when it is to stay as it was.

    Parameters
    ----------
    docno : str
        The document, fit for a terminal.
    note : str
        The note so far.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Cancel")]

    def __init__(self, docno: str, note: str) -> None:
        super().__init__()
        self._docno = docno
        self._note = sanitise_line(note)

    def compose(self) -> ComposeResult:
        """Lay out the question."""
        with Vertical(classes="dialog"):
            yield Bar(f"Note on {self._docno}", classes="question")
            yield Input(self._note, restrict=_TYPED, select_on_focus=False)
            yield Bar("Enter saves   Esc leaves it as it was")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the note."""
        event.stop()
        self.dismiss(None if event.value == self._note else event.value.strip())

    def action_cancel(self) -> None:
        """Take nothing."""
        self.dismiss(None)


class CannotDialog(ModalScreen[str | None]):
    """Asks why a document cannot be judged; gives ``None`` when it can after all."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "cancel", "Cancel")]

    def __init__(self) -> None:
        super().__init__()
        self._asks_words = False

    def compose(self) -> ComposeResult:
        """Lay out the question."""
        answers = "   ".join(f"[{key}] {reason}" for key, reason in REASONS)
        with Vertical(classes="dialog"):
            yield Bar("Why can it not be judged?", classes="question")
            yield Static(Content(answers), id="reasons", markup=False)
            with Horizontal(id="words"):
                yield Static("In your words:", markup=False)
                yield Input(placeholder="_" * 20, restrict=_TYPED, disabled=True)
            yield Bar("Esc goes back", id="way-out")

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
        self.query_one("#way-out", Bar).show("Enter saves   Esc goes back")
        words = self.query_one(Input)
        words.disabled = False
        words.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take a reason in words."""
        event.stop()
        if event.value.strip():
            self.dismiss(event.value.strip())

    def action_cancel(self) -> None:
        """Take nothing."""
        self.dismiss(None)


class ConfirmDialog(ModalScreen[bool]):
    """Asks yes or no; anything but `y` is no.

    Parameters
    ----------
    question : str
        Fit for a terminal.
    """

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """Lay out the question."""
        with Vertical(classes="dialog"):
            yield Bar(self._question, classes="question")
            yield Bar("y yes   n no")

    def on_key(self, event: events.Key) -> None:
        """Take the answer."""
        key = half_width(event.character or event.key).lower()
        if key in ("y", "n", "escape"):
            event.stop()
            self.dismiss(key == "y")
