"""The lines around the document: what is judged, how far it has come, and what the keys do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from judge_ui.grades import grade_mark
from judge_ui.keys import Command, KeyTable
from judge_ui.session import Progress
from judge_ui.widgets.leaf import LaidLeaf, Leaf, Look, lay_out, strong
from judge_ui.widgets.wrapping import cell_width, cut, drawn, fitting, pad
from store.records import Scale, State, Task
from store.sanitise import sanitise_line

STYLES = {Look.PLAIN: "", Look.STRONG: "bold", Look.HIT: "bold reverse"}

_GAP = "  "
_LEAST_STANDING = 15
_LEAST_STATUS = 16
"""Cells kept free on the right of either line, so that the left side does not come and go."""

_LONGEST_STATUS = 3
"""Most lines of a message that does not fit beside the hints."""


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


@dataclass(frozen=True, slots=True)
class Status:
    """What the judge is told about the latest key."""

    text: str = ""
    brief: str = ""
    """The same in fewer words, for where `text` would push the hints away."""
    urgent: bool = False
    """Whether something was not done that the judge meant to do."""
    unsaved: str = ""
    """The decision that could not be written; it stays in sight until it is."""


def standing(task: Task, scale: Scale, unsaved: str = "") -> str:
    """Say in a word or two how a document stands.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> standing(Task("d1", State.JUDGED, 3, "a note", "", 1), parse_scale("ntcir"))
    'now: S  note: *'
    >>> standing(Task("d1", State.UNJUDGED, None, "", "", 0), parse_scale("0-2"), "1")
    'now: -  NOT SAVED: 1'
    """
    names = {State.UNJUDGED: "-", State.SKIPPED: "skip", State.CANNOT: "can't"}
    grade = "" if task.grade is None else grade_mark(scale, task.grade)
    now = f"now: {names.get(task.state, grade)}"
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
    now = standing(task, scale, unsaved)
    room = width - max(cell_width(now), _LEAST_STANDING) - 3
    items = [(sanitise_line(grade.key), "") for grade in scale.grades]
    for labels in _labels(scale):
        tried = [
            (f"[{key}]", f" {label}" if label else "")
            for (key, _), label in zip(items, labels, strict=True)
        ]
        taken = sum(cell_width(key + label) for key, label in tried)
        gap = next((one for one in (_GAP, " ") if taken + len(one) * (len(tried) - 1) <= room), "")
        if gap:
            items = tried
            break
    gap = gap or " "
    leaf = Leaf("")
    for grade, (key, label) in zip(scale.grades, items, strict=True):
        given = task.state is State.JUDGED and task.grade == grade.value
        whole = Leaf(key + label, hits=((0, len(key + label)),))
        plain = Leaf(key + label, strong=((0, len(key)),))
        leaf += Leaf(gap if leaf.text else "") + (whole if given else plain)
    blanks = max(width - cell_width(leaf.text) - cell_width(now), 1)
    return leaf + Leaf(" " * blanks) + Leaf(now, strong=((0, len(now)),) if unsaved else ())


def _labels(scale: Scale) -> Iterator[list[str]]:
    """Give the labels of a scale shorter and shorter: fewer words, fewer letters, nothing."""
    labels = [_label(scale, grade.value) for grade in scale.grades]
    yield list(labels)
    while places := [place for place in range(len(labels)) if _can_lose_a_word(labels, place)]:
        # The widest first, so that no label is cut while another has more than it needs.
        widest = max(places, key=lambda place: cell_width(labels[place]))
        labels[widest] = _without_a_word(labels[widest])
        yield list(labels)
    for width in range(max(map(cell_width, labels)) - 1, 3, -1):
        short = [label[: fitting(label, width)] for label in labels]
        if len(set(short)) == len(short):
            yield short
    yield ["" for _ in labels]


def _label(scale: Scale, value: int) -> str:
    """Return the label of a grade, without the colon of one such as "S: highly relevant"."""
    label, mark = sanitise_line(scale.label(value)), grade_mark(scale, value)
    return label.replace(":", "", 1) if label.startswith(f"{mark}: ") else label


def _without_a_word(label: str) -> str:
    """Return a label without its last word."""
    return " ".join(label.split()[:-1])


def _can_lose_a_word(labels: list[str], place: int) -> bool:
    """Say whether a label without its last word is still a label, and one of its own."""
    shorter = _without_a_word(labels[place])
    return cell_width(shorter) > 2 and shorter not in labels


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
    hints = _hints(keys)
    usual = cell_width(_GAP.join(hint.text for hint in hints[:_N_USUAL]))
    if status.brief and usual + len(_GAP) + cell_width(text) > width:
        text = drawn(status.brief)
    room = width - max(cell_width(text), _LEAST_STATUS) - 2
    shown: list[int] = []
    for place in _PRIORITY:
        tried = sorted([*shown, place])
        if cell_width(_GAP.join(hints[place].text for place in tried)) > room:
            break
        shown = tried
    if not shown:
        spans = lay_out(Leaf(text), width).lines[:_LONGEST_STATUS]
        return [_said(text[start:end], status) for start, end in spans]
    line = hints[shown[0]]
    for place in shown[1:]:
        line += Leaf(_GAP) + hints[place]
    blanks = width - cell_width(line.text) - cell_width(text)
    return [line + Leaf(" " * blanks) + _said(text, status)]


class Hints(Widget):
    """The lines at the foot of the judging screen."""

    def __init__(self, keys: KeyTable, scale: Scale, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._keys = keys
        self._scale = scale
        self._document: Task | None = None
        self._status = Status()

    def show(self, task: Task | None, status: Status) -> None:
        """Show how another document stands and what came of the latest key."""
        self._document, self._status = task, status
        self.refresh(layout=True)

    def render(self) -> Content:
        """Draw the grades; then the commands that there is room for, and the status."""
        room = max(self.size.width - 2, 8)
        leaves = []
        if self._document is not None:
            leaves.append(grade_line(self._scale, self._document, room, self._status.unsaved))
        leaves += hint_lines(self._keys, self._status, room)
        lines = [_content(leaf) for leaf in leaves]
        return Content("\n").join([Content(" ") + line for line in lines])


def progress_words(judge: str, progress: Progress) -> str:
    """Say who judges and how far the topic has come."""
    decided = progress.total - progress.left
    return f"{judge}   {decided}/{progress.total}  left {progress.left}"


def _hints(keys: KeyTable) -> list[Leaf]:
    """Write every hint, from left to right."""
    name = keys.name
    hints = [
        (name(Command.UNDO), "undo"),
        (name(Command.SKIP), "skip"),
        (name(Command.CANNOT), "can't"),
        (name(Command.NOTE), "note"),
        (name(Command.HELP), "help"),
        (f"{name(Command.NEXT)}/{name(Command.PREVIOUS)}", "move"),
        (name(Command.QUIT), "quit"),
        (name(Command.TOPIC), "topic"),
    ]
    return [strong(key) + Leaf(f" {word}") for key, word in hints]


_PRIORITY = (4, 0, 1, 2, 3, 5, 6, 7)
"""Places in `_hints`, the most needed first; what a longer status takes away is at the end."""

_N_USUAL = 5
"""Hints, from the left, that a status in full words must leave room for."""


def _cut_at_word(text: str, width: int) -> str:
    """Shorten a line to whole words, or wherever it must be cut."""
    first, last = lay_out(Leaf(text), width).lines[0]
    return text[first:last]


def _said(text: str, status: Status) -> Leaf:
    """Write a status; an urgent one stands out."""
    return Leaf(text, hits=((0, len(text)),) if status.urgent and text else ())


def _content(leaf: Leaf) -> Content:
    """Turn one line into what Textual draws; nothing in it is markup."""
    pieces = LaidLeaf(leaf, 0, [(0, len(leaf.text))]).pieces(0)
    return Content.assemble(*((text, STYLES[look]) for text, look in pieces))
