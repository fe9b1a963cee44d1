"""The lines around the document: title, grades, hints, notices, and the judges' opinions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Unpack

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from judge_ui.session.keys import Command, KeyTable, key_of
from judge_ui.session.messages import brief_tail, history_words, opinion_head, opinion_tail
from judge_ui.session.words import grade_mark
from judge_ui.widgets.laid_out import LaidText, Look, MarkedText, lay_out, strong
from judge_ui.widgets.text_pane import WidgetNames, look_style
from store.judging.disagreements import Disagreement
from store.records import Scale, State, Task
from store.text import sanitise_line
from store.wrapping import cell_width, cut, drawn, fitting, pad

_ACCENT = "magenta"
"""The one colour, of keys and the grade given: one of the terminal's that is read on dark and on light."""
_ACCENTED = RichStyle(color=_ACCENT)
_STYLES = {Look.PLAIN: "", Look.STRONG: "bold", Look.HERE: "bold reverse"}


class Words(Static):
    """A sentence or two, over as many lines as they need."""

    def __init__(self, text: str | MarkedText, **named: Unpack[WidgetNames]) -> None:
        super().__init__(markup=False, **named)
        self.show(text)

    def show(self, text: str | MarkedText) -> None:
        """Show other words."""
        self.update(hints_content(text if isinstance(text, MarkedText) else MarkedText(text)))


class Lines(Widget):
    """Lines that fit: drawn as they are written, which takes a fraction of what Textual needs to fit them."""

    _base = RichStyle.null()

    def written(self) -> Sequence[MarkedText]:
        """Write the lines; they must be no wider than the widget, and fit for a terminal."""
        return ()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        return len(self.written())

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines, in a style that is looked up once."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        lines, width = self.written(), self.content_size.width
        if not 0 <= y < len(lines):
            return Strip.blank(width, self._base)
        return Strip(hints_segments(lines[y], self._base)).adjust_cell_length(width, self._base)


class TitleBar(Lines):
    """One line across the screen: something on the left, something on the right.

    The right side may be given in ever fewer words: the first that leave room for the left side are taken.
    They are not cut short; the left side is, unless the bar folds: then it goes on below.
    """

    def __init__(
        self,
        left: str = "",
        right: str | Sequence[str] = "",
        *,
        folds: bool = False,
        **named: Unpack[WidgetNames],
    ) -> None:
        super().__init__(**named)
        self.left = left
        self._rights = [right] if isinstance(right, str) else right
        self._folds = folds
        self._n_rows = 1

    def show(self, left: str, right: str | Sequence[str] = "") -> None:
        """Show other words; they must be fit for a terminal."""
        self.left, self._rights = left, [right] if isinstance(right, str) else right
        n_rows = len(self.rows())
        self.refresh(layout=n_rows != self._n_rows)
        self._n_rows = n_rows

    def rows(self) -> list[str]:
        """Write the line, and what folds below it, over the full width."""
        width = (self.size.width or self.app.size.width) - 2
        least = min(cell_width(drawn(self.left)), _LEAST_LEFT) + len(_GAP)
        fits = (one for one in self._rights if cell_width(one) + least <= width)
        right = cut(next(fits, self._rights[-1]), width)
        room = max(width - cell_width(right) - (len(_GAP) if right else 0), 0)
        first, below = self.left, []
        # On a wide screen the whole topic stands beside the document.
        if self._folds and not self.screen.has_class("-wide") and cell_width(drawn(first)) > room:
            _, end = lay_out(MarkedText(first), max(room, 2)).lines[0]
            rest = first[end:].strip()
            first = first[:end]
            below = [drawn(rest[start:stop]) for start, stop in lay_out(MarkedText(rest), width).lines]
        line = f" {pad(first, room)}{_GAP if right else ''}{right} "
        return [line, *(f" {pad(one, width)} " for one in below)]

    def written(self) -> Sequence[MarkedText]:
        return [MarkedText(row) for row in self.rows()]


class Brief(Widget):
    """The question below its title: the description whole, and as much of the narrative as leaves room."""

    LINES = 3
    """Most lines of the narrative that are shown."""

    def __init__(self, keys: KeyTable, above: TitleBar) -> None:
        super().__init__()
        self._keys = keys
        self._above = above
        self._description = self._narrative = ""
        self._room_of = (0, 1000)

    def show(self, description: str, narrative: str) -> None:
        """Show another topic; blank lines of it are left out."""
        self._description, self._narrative = (
            "\n".join(line for line in text.split("\n") if line.strip()) for text in (description, narrative)
        )
        self.fit(*self._room_of)

    def fit(self, n_taken: int, n_text: int) -> None:
        """Take the rows that there are now.

        `n_taken`: rows that the grades and opinions take beside the usual. `n_text`: lines of the document.
        """
        self._room_of = (n_taken, n_text)
        self.set_class(not self._rows(), "-empty")
        self.refresh(layout=True)

    def render(self) -> Content:
        return Content("\n".join(f" {line}" for line in self._rows()))

    @property
    def takes_bar(self) -> bool:
        """Whether the description is whole only with the row that names the document."""
        room = self._room()[0]
        return room > 0 and len(self._fitting(self._description, room + 1)) == room

    def _room(self) -> tuple[int, int, int]:
        """Return the rows for the description, for both texts, and for both above a short document.

        The row that names the document is not subtracted.
        """
        height, (n_taken, n_text) = self.app.size.height, self._room_of
        n_left = height - len(self._above.rows()) - 2 - n_taken - (height >= TALL) - (height >= HIGH)
        least, comfortable = next(rows for lowest, rows in _TEXT_ROWS if height >= lowest)
        return n_left - least, n_left - comfortable, n_left - min(n_text, n_left)

    def _rows(self) -> list[str]:
        n_bar = 0 if self.takes_bar else 1
        of_description, of_both, of_short = (room - n_bar for room in self._room())
        rows = self._fitting(self._description, max(of_description, of_short))
        # No row stays empty below a short document while the question is cut.
        n_rows = max(min(self.LINES, of_both - len(rows)), of_short - len(rows))
        return rows + self._fitting(self._narrative, n_rows)

    def _fitting(self, text: str, n_rows: int) -> list[str]:
        if n_rows <= 0 or not text:
            return []
        room = max((self.size.width or self.app.size.width) - 2, 2)
        spans = lay_out(MarkedText(text), room).lines
        lines = [drawn(text[start:end]) for start, end in spans[:n_rows]]
        if len(spans) > n_rows:
            more = f" ... ({self._keys.name(Command.TOPIC)}: all)"
            first, last = lay_out(MarkedText(lines[-1]), room - len(more)).lines[0]  # whole words
            lines[-1] = lines[-1][first:last] + more
        return lines


_TEXT_ROWS = ((24, (7, 12)), (16, (5, 9)), (0, (2, 12)))
"""By the least height: rows of the document that the description leaves, and that the narrative leaves."""


def hints_content(marked_text: MarkedText) -> Content:
    """Turn hints into what Textual draws, nothing in it markup; each presses its key when it is clicked."""
    pieces = LaidText(marked_text, 0, [(0, len(marked_text.text))]).pieces(0)
    drawn_text = Content.assemble(*((text, _STYLES[look]) for text, look in pieces))
    for start, stop, end, key in _hints_in(marked_text):
        if key:
            drawn_text = drawn_text.stylize(f"ansi_{_ACCENT}", start, stop)
            drawn_text = drawn_text.stylize(Style.from_meta({"key": key}), start, end)
    return drawn_text


def hints_segments(marked_text: MarkedText, base: RichStyle) -> list[Segment]:
    """Turn a line of hints into what is painted, as `hints_content` does."""
    text, at, segments = marked_text.text, 0, list[Segment]()
    for start, stop, end, key in _hints_in(marked_text):
        look = Look.HERE if (start, stop) in marked_text.hits else Look.STRONG
        style = base + RichStyle(meta={"key": key}) if key else base
        segments += [
            Segment(text[at:start], base),
            Segment(text[start:stop], style + look_style(look) + (_ACCENTED if key else RichStyle.null())),
            Segment(text[stop:end], style),
        ]
        at = end
    return [Segment(drawn(one.text), one.style) for one in [*segments, Segment(text[at:], base)] if one.text]


def _hints_in(marked_text: MarkedText) -> Iterator[tuple[int, int, int, str]]:
    """Yield where each highlighted part begins and ends, its hint, and its key, if it is one."""
    spans = sorted(marked_text.strong + marked_text.hits)
    ends = [*(start for start, _ in spans[1:]), len(marked_text.text)]
    for (start, stop), last in zip(spans, ends, strict=False):
        label = _HINT.match(marked_text.text, start)
        key = "" if label is None else key_of(marked_text.text[start:stop])
        yield start, stop, min(max(label.end(), stop), last) if label and key else stop, key


_HINT = re.compile(r"(?:\S| (?! ))+")
"""A hint ends before two blanks."""


_GAP = "  "
_LEAST_LEFT = 12
"""Cells of a title's left side that the right side leaves if it can."""
_LEAST_SHOWN = 15
_LEAST_STATUS = 16
"""Cells kept free on the right of either line, so that the left side does not come and go."""

_LONGEST_STATUS = 3
"""Most lines of a message that does not fit beside the hints."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The message about the latest key."""

    text: str = ""
    brief: str = ""
    """The same in fewer words, for where `text` would push the hints away."""
    urgent: bool = False
    """Whether something was not done that the judge meant to do."""
    unsaved: str = ""
    """The decision that is not written; it stays in sight until it is."""
    latest: str = ""
    """The decision before, on the status's own line."""


Hint = tuple[str, str]
"""A key and what it does, in a word or two."""


def hints_text(hints: Iterable[Hint], gap: str = "   ") -> MarkedText:
    """Write what keys do, beside each other."""
    marked_text = MarkedText("")
    for key, what in hints:
        marked_text += MarkedText(gap if marked_text.text else "") + strong(key) + MarkedText(f" {what}")
    return marked_text


def state_marks(task: Task, scale: Scale, unsaved: str = "") -> str:
    """Return in a word or two how a document stands."""
    names = {State.UNJUDGED: "-", State.SKIPPED: "skip", State.CANNOT: "can't"}
    grade = "" if task.grade is None else grade_mark(scale, task.grade)
    now = f"now: {names.get(task.state, grade)}"
    if unsaved:
        return f"{now}  NOT SAVED: {unsaved}"
    note = "  note: *" if task.note else ""
    passages = f"  marked: {len(task.passages)}" if task.passages else ""
    return now + note + passages


def grade_lines(
    scale: Scale, task: Task, width: int, unsaved: str = "", keys: KeyTable | None = None, most: int = 1
) -> list[MarkedText]:
    """Write the grade keys, the one that is given marked, and how the document stands, in at most some rows.

    Every key is in it, even where there is no room for every label. `unsaved`: a decision that could not be
    written.
    """
    now = state_marks(task, scale, unsaved)
    room = width - max(cell_width(now), _LEAST_SHOWN) - 3
    names = [sanitise_line(keys.grade_name(grade.value) if keys else grade.key) for grade in scale.grades]
    wanted = [_label(scale, grade.value, name) for grade, name in zip(scale.grades, names, strict=True)]
    items, gap = [(name, "") for name in names], " "
    for labels in _labels([*wanted]):
        tried = [(f"[{name}]", label and f" {label}") for name, label in zip(names, labels, strict=True)]
        taken = sum(cell_width(key + label) for key, label in tried)
        if gaps := [one for one in (_GAP, " ") if taken + len(one) * (len(tried) - 1) <= room]:
            items, gap = tried, gaps[0]
            break
    standing = strong(now) if unsaved else MarkedText(now)
    rows = [MarkedText("")]
    if most > 1 and any(label != f" {whole}" for (_, label), whole in zip(items, wanted, strict=True)):
        # Another row is better than shorter labels.
        items = [(f"[{name}]", f" {whole}") for name, whole in zip(names, wanted, strict=True)]
        rows, gap, room = _grade_rows(scale, task, items, _GAP, width), _GAP, width
        if cell_width(rows[-1].text) + len(_GAP) + cell_width(now) > width:
            rows.append(MarkedText(""))
        if len(rows) > most or any(cell_width(row.text) > width for row in rows):
            return grade_lines(scale, task, width, unsaved, keys)
    else:
        rows = _grade_rows(scale, task, items, gap)
    blanks = max(width - cell_width(rows[-1].text) - cell_width(now), 1)
    return [*rows[:-1], rows[-1] + MarkedText(" " * blanks) + standing]


def _grade_rows(
    scale: Scale, task: Task, items: Sequence[tuple[str, str]], gap: str, width: float = math.inf
) -> list[MarkedText]:
    rows = [MarkedText("")]
    for grade, (key, label) in zip(scale.grades, items, strict=True):
        is_given = task.state is State.JUDGED and task.grade == grade.value
        whole = key + label
        item = MarkedText(whole, hits=((0, len(whole)),)) if is_given else strong(key) + MarkedText(label)
        if rows[-1].text and cell_width(rows[-1].text + gap + whole) > width:
            rows.append(MarkedText(""))
        rows[-1] += MarkedText(gap if rows[-1].text else "") + item
    return rows


def _labels(labels: list[str]) -> Iterator[list[str]]:
    """Yield shorter and shorter labels: fewer words, fewer letters, none."""
    yield list(labels)
    while True:
        shorter = [" ".join(label.split()[:-1]) for label in labels]
        # Without its last word it must still be a label, and differ from the others.
        places = [place for place, one in enumerate(shorter) if cell_width(one) > 2 and one not in labels]
        if not places:
            break
        # The widest first, so that no label is cut while another has more than it needs.
        widest = max(places, key=lambda place: cell_width(labels[place]))
        labels[widest] = shorter[widest]
        yield list(labels)
    for width in range(max(map(cell_width, labels)) - 1, 3, -1):
        short = [label[: fitting(label, width)] for label in labels]
        if len(set(short)) == len(short):
            yield short
    yield ["" for _ in labels]


def _label(scale: Scale, value: int, key: str) -> str:
    """Return the label of a grade, the value before it where the key shows neither it nor a letter.

    One such as "S: highly relevant" loses its colon.
    """
    label, mark = sanitise_line(scale.label(value)), grade_mark(scale, value)
    if label.startswith(f"{mark}: "):
        return label.replace(":", "", 1)
    return label if key.casefold() == mark.casefold() else f"{mark} {label}"


def status_lines(status: Notice, width: int) -> list[MarkedText]:
    """Write the decision before and the status on a line of their own; a long status goes below it."""
    text, latest = drawn(status.text), drawn(status.latest)
    blanks = width - cell_width(latest) - cell_width(text)
    if blanks >= len(_GAP) or not text:
        return [MarkedText(latest + " " * blanks) + _status_text(text, status)]
    spans = lay_out(MarkedText(text), width).lines[:_LONGEST_STATUS]
    above = [MarkedText(latest)] if latest else []
    return above + [_status_text(text[start:end], status) for start, end in spans]


def hint_lines(
    keys: KeyTable,
    status: Notice,
    width: int,
    special: Sequence[Hint] = (),
    *,
    is_tall: bool = False,
    is_high: bool = False,
) -> list[MarkedText]:
    """Write the command keys and the state of the last save.

    `special` hints work at the moment instead of the usual commands; the last goes back, and is the last to
    go but for the first. One line where the status leaves room for a hint, else the status over up to three
    lines, and the hints below it where there are lines to spare (`is_tall`). On a high screen (`is_high`)
    the status has a line of its own, always, below the hints.
    """
    if is_high:
        return [
            _shown_hints(_all_hints(keys, special), width, special=bool(special))[0],
            *status_lines(status, width),
        ]
    text = drawn(status.text)
    hints = _all_hints(keys, special)
    usual = hints if special else [hints[place] for place in _PRIORITY[:_N_USUAL]]
    if status.brief and _breadth(usual) + len(_GAP) + cell_width(text) > width:
        text = drawn(status.brief)
    room = width - max(cell_width(text), 0 if special else _LEAST_STATUS) - 2
    line, is_any = _shown_hints(hints, room, special=bool(special))
    if not is_any:
        spans = lay_out(MarkedText(text), width).lines[:_LONGEST_STATUS]
        below = hint_lines(keys, Notice(), width, special) if is_tall else []
        return [*(_status_text(text[start:end], status) for start, end in spans), *below]
    blanks = width - cell_width(line.text) - cell_width(text)
    return [line + MarkedText(" " * blanks) + _status_text(text, status)]


def _all_hints(keys: KeyTable, special: Sequence[Hint]) -> list[MarkedText]:
    moves = f"{keys.name(Command.NEXT)}/{keys.name(Command.PREVIOUS)}"
    usual = [(moves if command is Command.NEXT else keys.name(command), word) for command, word in _HINTS]
    return [strong(key) + MarkedText(f" {word}") for key, word in special or usual]


def _shown_hints(hints: Sequence[MarkedText], room: int, *, special: bool) -> tuple[MarkedText, bool]:
    shown: list[int] = []
    ends_first = dict.fromkeys((0, len(hints) - 1, *range(len(hints))))
    for place in ends_first if special else _PRIORITY:
        tried = sorted([*shown, place])
        if _breadth([hints[place] for place in tried]) > room:
            break
        shown = tried
    line = MarkedText("")
    for place in shown:
        line += MarkedText(_GAP if line.text else "") + hints[place]
    return line, bool(shown)


HIGH, TALL = 24, 20
"""From so many rows on, the status has a line of its own, and a blank line is above the grades."""


class Hints(Lines):
    """The lines at the foot of a screen."""

    def __init__(self, keys: KeyTable, scale: Scale | None = None) -> None:
        super().__init__()
        self._keys = keys
        self._scale = scale
        self._document: Task | None = None
        self._status = Notice()
        self.special: Sequence[Hint] = ()
        """The hints that stand in place of the usual commands."""
        self._lines: list[MarkedText] = []
        self.n_grades = 1
        """Rows that the scale takes."""

    def show(self, task: Task | None, status: Notice, special: Sequence[Hint] = ()) -> None:
        """Show how another document stands, what came of the latest key, and what works now."""
        n_before = len(self._lines)
        self._document, self._status, self.special = task, status, special
        self._write()
        # Laying the whole screen out anew takes longer than drawing these lines.
        self.refresh(layout=len(self._lines) != n_before)

    def on_resize(self) -> None:
        self._write()
        self.refresh(layout=True)

    def written(self) -> Sequence[MarkedText]:
        return self._lines

    def _write(self) -> None:
        # Before the first layout it is the width of the terminal, and so will this one's be.
        room = max((self.size.width or self.app.size.width) - 2, 8)
        self._lines = []
        if self._document is not None and self._scale is not None:
            unsaved = self._status.unsaved
            most = 3 if self.screen.has_class("-tall") else 2
            grades = grade_lines(self._scale, self._document, room, unsaved, self._keys, most)
            self.n_grades = len(grades)
            # Keys that do not work at the moment are not shown.
            now = strong(state_marks(self._document, self._scale, unsaved))
            blanks = MarkedText(" " * max(room - cell_width(now.text), 0))
            self._lines += [blanks + now] if self.special else grades
        is_tall, is_high = self.screen.has_class("-tall"), self.app.size.height >= HIGH
        self._lines += hint_lines(
            self._keys, self._status, room, self.special, is_tall=is_tall, is_high=is_high
        )
        self._lines = [MarkedText(" ") + line for line in self._lines]


_HINTS = (
    (Command.UNDO, "undo"),
    (Command.SKIP, "skip"),
    (Command.CANNOT, "can't"),
    (Command.NOTE, "note"),
    (Command.FIND, "find"),
    (Command.HELP, "help"),
    (Command.NEXT, "move"),
    (Command.QUIT, "quit"),
    (Command.LIST, "list"),
    (Command.TOPIC, "topic"),
    (Command.GUIDELINES, "guidelines"),
    (Command.MARK, "mark"),
    (Command.TERMS, "words"),
    (Command.HISTORY, "history"),
)

_PRIORITY = (5, 0, 1, 2, 3, 6, 4, 7, 8, 9, 10, 11, 12, 13)
"""Places in `_HINTS`, the most needed first; what a longer status takes away is at the end."""

_N_USUAL = 5
"""Hints, the most needed, that a status in full words must leave room for."""


def _breadth(hints: Sequence[MarkedText]) -> int:
    return cell_width(_GAP.join(hint.text for hint in hints))


def _status_text(text: str, status: Notice) -> MarkedText:
    return strong(text) if status.urgent else MarkedText(text)


MOST_LINES = 5
"""Opinions that have a line each; more of them share one."""


class OpinionsBox(Widget):
    """A line for each judge: the letter, the grade, and what there is room for of the rest."""

    def __init__(self, scale: Scale, hints: str) -> None:
        super().__init__()
        self._scale = scale
        self._hints = hints
        self._found: Disagreement | None = None
        self._trouble = ""

    def show(self, found: Disagreement | None, trouble: str = "") -> None:
        """Show another disagreement, or say why it could not be read."""
        self._found, self._trouble = found, trouble
        self.refresh(layout=True)

    @property
    def n_rows(self) -> int:
        """Count the lines."""
        return len(self._entries())

    def _entries(self) -> list[tuple[str, str, str]]:
        if self._found is None:
            return [(self._trouble, "", "")]
        return _opinions_in(self._found, self._scale, is_tall=self.screen.has_class("-tall"))

    def render(self) -> Content:
        """Draw the lines; the last one is underlined, and ends in the hints."""
        room = max(self.size.width - 2, 8)
        drawn, lines = list[Content](), self._entries()
        for place, (head, tail, brief) in enumerate(lines, 1):
            is_last = place == len(lines)
            beside = room - cell_width(head) - len(_GAP)
            fits = cell_width(self._hints) <= min(beside, room // 2)
            right = self._hints if is_last and fits else ""
            left = room - cell_width(right) - (len(_GAP) if right else 0)
            head = cut(head, left)
            room_left = left - cell_width(head)
            said = tail if cell_width(_GAP + tail) <= room_left else brief
            rest = pad(f"{_GAP}{said}" if said else "", room_left)
            rule = " underline" if is_last else ""
            end = f"{_GAP}{right} " if right else " "
            drawn.append(Content.assemble((" " + head, "bold" + rule), (rest + end, rule.strip())))
        return Content("\n").join(drawn)


def _opinions_in(found: Disagreement, scale: Scale, *, is_tall: bool) -> list[tuple[str, str, str]]:
    marks = (f"{one.letter} {grade_mark(scale, one.grade)}" for one in found.opinions)
    lines = [("  ".join(marks), "", "")]
    if is_tall and len(found.opinions) <= MOST_LINES:
        lines = [(opinion_head(one, scale), opinion_tail(one), brief_tail(one)) for one in found.opinions]
    words = history_words(found, scale)
    return [*lines, (words, "", "")] if words else lines


def opinions_text(found: Disagreement, scale: Scale) -> MarkedText:
    """Write a disagreement in full: every note and every passage."""
    marked_text = MarkedText("")
    for one in found.opinions:
        marked_text += strong(opinion_head(one, scale)) + MarkedText("\n")
        if one.note.strip():
            marked_text += MarkedText(one.note.strip("\n") + "\n")
        for passage in one.passages:
            marked_text += MarkedText(f'passage: "{passage.text}"\n')
        marked_text += MarkedText("\n")
    words = history_words(found, scale)
    return marked_text + strong(words) + MarkedText("\n\n" if words else "")
