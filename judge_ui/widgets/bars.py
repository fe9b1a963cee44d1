"""The lines around the document: what is judged, and how far it has come."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from judge_ui.keys import Command, KeyTable
from judge_ui.outcomes import Progress
from judge_ui.widgets.leaf import LaidLeaf, Leaf, Look, lay_out
from judge_ui.widgets.wrapping import cell_width, cut, drawn, pad

_STYLES = {Look.PLAIN: "", Look.STRONG: "bold", Look.HIT: "bold reverse"}


class Words(Static):
    """A sentence or two, over as many lines as they need.

    Parameters
    ----------
    text : str or Leaf
        Fit for a terminal.
    id, classes : str, optional
        Of the widget.
    """

    def __init__(
        self,
        text: str | Leaf,
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self.show(text)

    def show(self, text: str | Leaf) -> None:
        """Show other words."""
        self.update(content(text if isinstance(text, Leaf) else Leaf(text)))


class Bar(Widget):
    """One line across the screen: something on the left, something on the right.

    The right side is never cut short; the left side is.

    Parameters
    ----------
    left : str, default=""
        What to begin with, fit for a terminal.
    id, classes : str, optional
        Of the widget.
    """

    def __init__(
        self,
        left: str = "",
        *,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._left = left
        self._right = ""

    def show(self, left: str, right: str = "") -> None:
        """Show other words; they must be fit for a terminal."""
        self._left, self._right = left, right
        self.refresh()

    def render(self) -> Content:
        """Draw the line over the full width."""
        room = self.size.width - 2
        right = cut(self._right, room)
        left = pad(self._left, max(room - cell_width(right) - (2 if right else 0), 0))
        return Content(f" {left}{'  ' if right else ''}{right} ")


class Brief(Widget):
    """The first lines of the narrative."""

    LINES = 3

    def __init__(self, keys: KeyTable, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._keys = keys
        self._text = ""

    def show(self, text: str) -> None:
        """Show another narrative; blank lines of it are left out."""
        self._text = "\n".join(line for line in text.split("\n") if line.strip())
        self.set_class(not self._text, "-empty")
        self.refresh(layout=True)

    def render(self) -> Content:
        """Draw up to three lines, and say when there are more."""
        room = max(self.size.width - 2, 2)
        spans = lay_out(Leaf(self._text), room).lines
        lines = [drawn(self._text[start:end]) for start, end in spans[: self.LINES]]
        if len(spans) > self.LINES:
            more = f" ... ({self._keys.name(Command.TOPIC)}: all)"
            lines[-1] = _cut_at_word(lines[-1], room - len(more)) + more
        return Content("\n".join(f" {line}" for line in lines))


def progress_words(judge: str, progress: Progress) -> str:
    """Say who judges and how far the topic has come."""
    decided = progress.total - progress.left
    return f"{judge}   {decided}/{progress.total}  left {progress.left}"


def content(leaf: Leaf) -> Content:
    """Turn one line into what Textual draws; nothing in it is markup."""
    pieces = LaidLeaf(leaf, 0, [(0, len(leaf.text))]).pieces(0)
    return Content.assemble(*((text, _STYLES[look]) for text, look in pieces))


def _cut_at_word(text: str, width: int) -> str:
    """Shorten a line to whole words, or wherever it must be cut."""
    first, last = lay_out(Leaf(text), width).lines[0]
    return text[first:last]
