"""The pane of the document being judged: it scrolls, and hands every other key on as its meaning.

On the full screen grade keys work here and nowhere else, so that a digit typed into a note can
never be a grade. While passages are marked no key grades at all.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.style import Style
from textual import events
from textual.message import Message

from judge_ui.session.keys import SCROLLING, Command, KeyTable, half_width, steps
from judge_ui.text.finding import Span, find_spans
from judge_ui.text.marking import Marking, merged
from judge_ui.widgets.laid_out import LaidText, Layer, Look, MarkedText
from judge_ui.widgets.text_pane import TextPane, look_style
from store.records import Passage

MARKING_HINTS = (
    *(("Enter", "mark"), ("j/k", "sentence"), ("J/K", "extend"), ("x", "unmark"), ("w", "words")),
    ("Esc", "done"),
)
"""Keys while passages are marked, and what they do: for the line of hints."""
WORD_HINTS = (MARKING_HINTS[0], ("j/k", "word"), *MARKING_HINTS[2:4], ("w", "sentences"), MARKING_HINTS[-1])
"""The same while they are marked by words."""

_MOVES = {"j": 1, "k": -1, "down": 1, "up": -1, "right": 1, "left": -1}
_EXTENDING = {"J": 1, "K": -1, "shift+down": 1, "shift+up": -1, "shift+right": 1, "shift+left": -1}


class DocumentPane(TextPane):
    """The document before the judge; see `TextPane` for the parameters."""

    @dataclass
    class Pressed(Message):
        """A key that means something was pressed."""

        meaning: int | Command
        """A grade value, or a command."""
        pressed_at: float
        """When the terminal sent the key, in seconds of Textual's clock."""

    @dataclass
    class Unknown(Message):
        """A character was typed that means nothing."""

        character: str

    @dataclass
    class Marked(Message):
        """Passages were marked or unmarked; they are drawn already."""

        passages: tuple[Passage, ...]
        """All of the document, in characters of its text: ascending, not overlapping."""

    @dataclass
    class MarkingChanged(Message):
        """Marking has begun or ended."""

        is_marking: bool

    def __init__(self, keys: KeyTable, marked_text: MarkedText | None = None) -> None:
        super().__init__(keys, marked_text)
        self._found: list[Span] | None = None
        self._current: Span | None = None
        self._marking: Marking | None = None

    @property
    def is_marking(self) -> bool:
        """Whether keys move through sentences, and none of them grades."""
        return self._marking is not None

    @property
    def marking_hints(self) -> Sequence[tuple[str, str]]:
        """What the keys do while passages are marked; empty at other times."""
        if self._marking is None:
            return ()
        return WORD_HINTS if self._marking.is_of_words else MARKING_HINTS

    @property
    def is_finding(self) -> bool:
        """Whether `find_next` goes through what was sought, not through the terms."""
        return self._found is not None

    @property
    def passages(self) -> tuple[Passage, ...]:
        """What is drawn as marked, in characters of `Page.text`."""
        return self._marked_text.passages

    def show(self, marked_text: MarkedText, laid: LaidText | None = None) -> None:
        """Show another text from its start; finding and marking end."""
        self.clear_find()
        self.stop_marking()
        super().show(marked_text, laid)

    def show_again(self, marked_text: MarkedText) -> None:
        """Show the same text with other words or passages marked; all else stays as it is."""
        if marked_text.text != self._marked_text.text:
            self.show(marked_text)
            return
        self._marked_text = marked_text
        if self._laid is not None:
            self._laid.marked_text = marked_text
        self.refresh()

    def show_passages(self, passages: Iterable[Passage]) -> None:
        """Draw other passages as marked: what is stored, after an undo or a failed write."""
        marked_text = self._marked_text
        if not marked_text.is_document:
            return
        wanted = merged(marked_text.text[marked_text.body :], passages)
        if wanted != marked_text.passages:
            self.show_again(replace(marked_text, passages=wanted))

    def find(self, text: str) -> int:
        """Find words in the document, go to the first from the top of the screen on, and count the places.

        With none the screen stays where it is, and `find_next` has nothing to go to until `clear_find`.
        """
        self._current = None
        self._found = find_spans(self._marked_text.text, text)
        self.refresh()
        if self._found:
            self.find_next(1)
        return len(self._found)

    def find_next(self, step: int) -> tuple[int, int] | None:
        """Go to the next (1) or the previous (-1) hit; return its number and their count.

        Where nothing is sought, lit words are hits. It starts from the hit gone to last if that is in sight,
        else from the top of the screen; after the last comes the first. ``None`` = there is none.
        """
        hits = self._hits()
        if not hits or self._laid is None:
            return None
        current = self._current
        if current is not None and self._is_in_sight(current[0]):
            # What a term was may be nothing that is sought, and is passed by either way.
            index = bisect_left(hits, current) if step < 0 else bisect_right(hits, current)
        else:
            index = bisect_left(hits, (self._top(), 0))
        index = (index if step > 0 else index - 1) % len(hits)
        self._current = hits[index]
        self._bring_into_view(*hits[index])
        self.refresh()
        return index + 1, len(hits)

    def clear_find(self) -> None:
        """Clear the search."""
        self._found = self._current = None
        self.refresh()

    def start_marking(self) -> bool:
        """Make keys mark passages until Escape; False when the document has no text."""
        marked_text = self._marked_text
        if self._marking is not None or self._laid is None or not marked_text.is_document:
            return self.is_marking
        marking = Marking(marked_text.text[marked_text.body :])
        if marking.is_empty:
            return False
        top, bottom = self._top(), self._bottom()
        if self._current is not None and top <= self._current[0] < bottom:
            marking.go_to(self._current[0] - marked_text.body)
        else:
            marking.go_into(top - marked_text.body, bottom - marked_text.body)
        self._marking = marking
        self._follow()
        self.post_message(self.MarkingChanged(is_marking=True))
        return True

    def stop_marking(self) -> None:
        """Give the keys their usual meaning again."""
        if self._marking is not None:
            self._marking = None
            self.refresh()
            self.post_message(self.MarkingChanged(is_marking=False))

    def overlays(self) -> Sequence[Layer]:
        layers: list[Layer] = []
        if self._found:
            layers.append((self._found, Look.FOUND))
        if self._marking is not None:
            layers.append(([self._in_text(self._marking.selection)], Look.SELECTED))
        elif self._current is not None:
            layers.append(([self._current], Look.CURRENT))
        return layers

    def style_of(self, look: Look) -> Style:
        """Return how a stretch of text is drawn: lit words stand back behind what is found."""
        if self._found and look & (Look.HIT | Look.OWN):
            look = look & ~(Look.HIT | Look.OWN) | Look.COMMON
        return look_style(look)

    def relaid(self) -> None:
        if self._marking is not None:
            self._follow()

    def on_key(self, event: events.Key) -> None:
        """Mark passages, or post to the screen what a key means; `TextPane` has those that scroll."""
        if self._marking is not None:
            event.stop().prevent_default()
            self._press_while_marking(self._marking, event)
            return
        meaning = self.keys.meaning(event.key, event.character)
        if meaning is None or meaning in SCROLLING:
            if meaning is None and event.is_printable and event.character:
                self.post_message(self.Unknown(event.character))
            return
        event.stop().prevent_default()
        # Begun here and not by the screen, so that a digit right after it is no grade.
        if meaning is Command.MARK and self.is_painted and self.start_marking():
            return
        self.post_message(self.Pressed(meaning, event.time))

    def _press_while_marking(self, marking: Marking, event: events.Key) -> None:
        """Carry out a key while passages are marked; most have no meaning."""
        typed = event.character if event.character and event.character.isprintable() else event.key
        key = half_width(typed)
        meaning = self.keys.meaning(event.key, event.character)
        if key == "escape":
            self.stop_marking()
            return
        if key == "enter":
            self._mark(marking.marked(self.passages))
            marking.drop()
        elif key in ("x", "delete"):
            self._mark(marking.unmarked(self.passages))
            marking.drop()
        elif key == "w":
            marking.switch()
            self.post_message(self.MarkingChanged(is_marking=True))
        elif key == "v" or meaning is Command.MARK:
            marking.is_extending = not marking.is_extending
        elif key in _EXTENDING:
            marking.move(_EXTENDING[key], extend=True)
        elif isinstance(meaning, Command) and meaning in SCROLLING:
            self._move(marking, meaning)
        elif key in _MOVES:
            marking.move(_MOVES[key])
        self._follow()

    def _move(self, marking: Marking, command: Command) -> None:
        if command is Command.TOP:
            marking.go_to(0)
        elif command is Command.BOTTOM:
            marking.go_to(len(self._marked_text.text))
        elif command in (Command.LINE_DOWN, Command.LINE_UP):
            marking.move(steps(command, 1))
        else:
            before = marking.cursor
            page = steps(command, max(self._height - 1, 1))
            line = max(self._line_of(self._in_text(before)[0]) + page, 0)
            marking.go_to(self._lines[min(line, len(self._lines) - 1)][0] - self._marked_text.body)
            if marking.cursor == before:
                marking.move(1 if page > 0 else -1)

    def _mark(self, passages: tuple[Passage, ...]) -> None:
        if passages != self.passages:
            self.show_passages(passages)
            self.post_message(self.Marked(passages))

    def _follow(self) -> None:
        if self._marking is not None and self._laid is not None:
            self._bring_into_view(*self._in_text(self._marking.cursor))
            self.refresh()

    def _in_text(self, span: Span) -> Span:
        """Turn a span of `Page.text` into one of the text of the pane."""
        return span[0] + self._marked_text.body, span[1] + self._marked_text.body

    def _hits(self) -> Sequence[Span]:
        return self._marked_text.lit_words if self._found is None else self._found
