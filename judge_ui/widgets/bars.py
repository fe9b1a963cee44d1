"""The lines around the document: what is judged, how far it has come, and what the keys do."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from judge_ui.keys import Command, KeyTable
from judge_ui.session import Progress
from judge_ui.widgets.leaf import Leaf, Look, lay_out
from judge_ui.widgets.wrapping import cell_width, cut, drawn, pad
from store.records import Scale, State, Task

STYLES = {Look.PLAIN: "", Look.STRONG: "bold", Look.HIT: "bold reverse"}

_HINTS = (
    Command.UNDO,
    Command.SKIP,
    Command.CANNOT,
    Command.NOTE,
    Command.NEXT,
    Command.PREVIOUS,
    Command.TOPIC,
    Command.QUIT,
)
"""The commands of the hint line, the most needed first; help is always there."""

_LONGEST_STATUS = 3
"""Most lines of a message that does not fit beside the hints."""


class Bar(Widget):
    """One line across the screen: something on the left, something on the right.

    The right side is never cut short; the left side is.
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._left = ""
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
        self.display = bool(self._text)
        self.refresh(layout=True)

    def render(self) -> Content:
        """Draw up to three lines, and say when there are more."""
        room = max(self.size.width - 2, 2)
        spans = lay_out(Leaf(self._text), room).lines
        lines = [drawn(self._text[start:end]) for start, end in spans[: self.LINES]]
        if len(spans) > self.LINES:
            more = f" ... ({self._keys.name(Command.TOPIC)}: all)"
            kept = lines[-1][: max(len(lines[-1]) - len(more), 0)]
            fits = cell_width(kept) + len(more) <= room
            lines[-1] = (kept if fits else "") + more
        return Content("\n".join(f" {line}" for line in lines))


@dataclass(frozen=True, slots=True)
class Status:
    """What the judge is told about the latest key."""

    text: str = ""
    urgent: bool = False
    """Whether something was not done that the judge meant to do."""
    unsaved: str = ""
    """The decision that could not be written; it stays in sight until it is."""


def standing(task: Task, unsaved: str = "") -> str:
    """Say in a word or two how a document stands.

    Examples
    --------
    >>> standing(Task("d1", State.JUDGED, 2, "a note", "", 1))
    'now: 2  note: *'
    >>> standing(Task("d1", State.UNJUDGED, None, "", "", 0), "1 relevant")
    'now: -  NOT SAVED: 1 relevant'
    """
    names = {State.UNJUDGED: "-", State.SKIPPED: "skipped", State.CANNOT: "can't"}
    now = f"now: {names.get(task.state, task.grade)}"
    if unsaved:
        return f"{now}  NOT SAVED: {unsaved}"
    return f"{now}  note: *" if task.note else now


def grade_line(scale: Scale, task: Task, width: int, unsaved: str = "") -> Leaf:
    """Write the grade keys, the one that is given marked, and how the document stands.

    Parameters
    ----------
    scale : Scale
        The declared grades.
    task : Task
        The document before the judge.
    width : int
        Of the line, in cells.
    unsaved : str, default=""
        A decision that could not be written.

    Returns
    -------
    Leaf
        One line, with every key in it even where there is no room for every label.
    """
    now = standing(task, unsaved)
    room = width - cell_width(now) - 3
    longest = max(cell_width(grade.label) for grade in scale.grades)
    items: list[tuple[str, str]] = []
    for label_width in (*range(longest, 2, -1), 0):
        items = [
            (f"[{grade.key}]", f" {cut(grade.label, label_width)}" if label_width else "")
            for grade in scale.grades
        ]
        gaps = 2 * (len(items) - 1) if label_width else len(items) - 1
        if sum(cell_width(key + label) for key, label in items) + gaps <= room:
            break
    else:
        items = [(grade.key, "") for grade in scale.grades]
    gap = "  " if items[0][1] else " "
    leaf = Leaf("")
    for grade, (key, label) in zip(scale.grades, items, strict=True):
        given = task.state is State.JUDGED and task.grade == grade.value
        whole = Leaf(key + label, hits=((0, len(key + label)),))
        plain = Leaf(key + label, strong=((0, len(key)),))
        leaf += Leaf(gap if leaf.text else "") + (whole if given else plain)
    blanks = max(width - cell_width(leaf.text) - cell_width(now), 1)
    return leaf + Leaf(" " * blanks) + Leaf(now, strong=((0, len(now)),) if unsaved else ())


def hint_lines(keys: KeyTable, status: Status, width: int) -> list[Leaf]:
    """Write the command keys and the state of the last save.

    Parameters
    ----------
    keys : KeyTable
        The keys of the scale.
    status : Status
        What to say.
    width : int
        Of a line, in cells.

    Returns
    -------
    list of Leaf
        One line where the status leaves room for a hint, else the status over up to three lines.
    """
    text = drawn(status.text)
    room = width - cell_width(text) - 3
    hints = [_hint(keys, Command.HELP)]
    for command in _HINTS:
        tried = [*hints[:-1], _hint(keys, command), hints[-1]]
        if sum(cell_width(hint.text) + 2 for hint in tried) - 2 > room:
            break
        hints = tried
    if cell_width(hints[-1].text) > room:
        spans = lay_out(Leaf(text), width).lines[:_LONGEST_STATUS]
        return [_said(text[start:end], status) for start, end in spans]
    line = hints[0]
    for hint in hints[1:]:
        line += Leaf("  ") + hint
    blanks = width - cell_width(line.text) - cell_width(text)
    return [line + Leaf(" " * blanks) + _said(text, status)]


class Hints(Widget):
    """The lines at the foot of the judging screen."""

    def __init__(self, keys: KeyTable, scale: Scale, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._keys = keys
        self._scale = scale
        self._task: Task | None = None
        self._status = Status()

    def show(self, task: Task | None, status: Status) -> None:
        """Show how another document stands and what came of the latest key."""
        self._task, self._status = task, status
        self.refresh(layout=True)

    def render(self) -> Content:
        """Draw the grades; then the commands where there is room, and the status."""
        room = max(self.size.width - 2, 8)
        leaves = []
        if self._task is not None:
            leaves.append(grade_line(self._scale, self._task, room, self._status.unsaved))
        if not self.screen.has_class("-short", "-narrow"):
            leaves += hint_lines(self._keys, self._status, room)
        elif self._status.urgent:
            text = drawn(self._status.text)
            spans = lay_out(Leaf(text), room).lines[:_LONGEST_STATUS]
            leaves += [_said(text[start:end], self._status) for start, end in spans]
        lines = [_content(leaf) for leaf in leaves]
        return Content("\n").join([Content(" ") + line for line in lines])


def progress_words(judge: str, progress: Progress) -> str:
    """Say who judges and how far the topic has come."""
    decided = progress.total - progress.left
    return f"{judge}   {decided}/{progress.total}  left {progress.left}"


def _hint(keys: KeyTable, command: Command) -> Leaf:
    """Write one key and its command."""
    return Leaf(keys.name(command), ((0, len(keys.name(command))),)) + Leaf(f" {command}")


def _said(text: str, status: Status) -> Leaf:
    """Write a status; an urgent one stands out."""
    return Leaf(text, hits=((0, len(text)),) if status.urgent and text else ())


def _content(leaf: Leaf) -> Content:
    """Turn one line into what Textual draws; nothing in it is markup."""
    pieces = lay_out(leaf, max(cell_width(leaf.text), 2)).pieces(0)
    return Content.assemble(*((text, STYLES[look]) for text, look in pieces))
