"""Screens to read and go back from: the whole topic, the guidelines, the briefing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from judge_ui.keys import Command, KeyTable
from judge_ui.messages import grade_keys
from judge_ui.screens.unhurried import Unhurried
from judge_ui.widgets.bars import Bar
from judge_ui.widgets.hints import Hints, Status
from judge_ui.widgets.leaf import Leaf, strong, topic_leaf
from judge_ui.widgets.markdown_leaf import markdown_leaf
from judge_ui.widgets.text_pane import TextPane
from judge_ui.widgets.too_small import TooSmall
from store.records import Guideline, Scale, Topic
from store.sanitise import sanitise_line

NO_GUIDELINES = "this collection has no guidelines"


class ReadingScreen(Unhurried, Screen[bool]):
    """A page of text; gives whether Enter closed it.

    Parameters
    ----------
    title : str
        Of the page, fit for a terminal.
    leaf : Leaf or callable
        The text, or what makes it for a width in cells.
    keys : KeyTable
        Says which keys scroll.
    back : collection of Command
        The commands whose keys close the page; the first is named on it.
    enter : str, default=""
        What Enter does, where that is another thing than going back.
    """

    AUTO_FOCUS = "TextPane"

    def __init__(
        self,
        title: str,
        leaf: Leaf | Callable[[int], Leaf],
        keys: KeyTable,
        back: Collection[Command],
        enter: str = "",
    ) -> None:
        super().__init__()
        self._title = title
        self._leaf = leaf
        self._width = 0
        self._keys = keys
        self._back = (*back, Command.INBOX, Command.QUIT)
        self._enter = enter

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield TooSmall()
        with Vertical(id="work"):
            yield Bar(id="topic-bar")
            yield TextPane(
                self._keys, self._leaf if isinstance(self._leaf, Leaf) else None, id="page"
            )
            yield Hints(self._keys, id="hints")

    def on_mount(self) -> None:
        """Write the lines around the text."""
        self.query_one("#topic-bar", Bar).show(self._title)

    def on_text_pane_scrolled(self) -> None:
        """Write the text for the width there is, and say how far it has been read."""
        pane = self.query_one(TextPane)
        if not isinstance(self._leaf, Leaf) and pane.text_width != self._width:
            self._width = pane.text_width
            pane.show(self._leaf(self._width))
        self._show_place()

    def on_key(self, event: events.Key) -> None:
        """Go back."""
        meaning = self._keys.meaning(event.key, event.character)
        if event.key == "enter" or meaning in self._back:
            event.stop()
            if self.is_meant(event):
                self.dismiss(event.key == "enter")

    def begin(self) -> None:
        """Show what the keys do."""
        self._show_place()

    def _show_place(self) -> None:
        """Write the last line."""
        if not self.has_begun:
            return
        names = dict.fromkeys((self._keys.name(self._back[0]), "Esc"))
        back = (" or ".join(names), "back")
        hints = [("Enter", self._enter), back] if self._enter else [back]
        read = Status(f"{self.query_one(TextPane).percent}%")
        self.query_one(Hints).show(None, read, hints)


def topic_screen(topic: Topic, keys: KeyTable) -> ReadingScreen:
    """Make the page of a whole topic."""
    title = f"Topic {sanitise_line(topic.topic)}"
    return ReadingScreen(title, topic_leaf(topic), keys, [Command.TOPIC])


def guidelines_screen(guideline: Guideline | None, keys: KeyTable) -> ReadingScreen:
    """Make the page of the guidelines."""
    title = "Guidelines" if guideline is None else guidelines_title(guideline)
    text = NO_GUIDELINES if guideline is None else guideline.text
    return ReadingScreen(title, partial(markdown_leaf, text), keys, [Command.GUIDELINES])


def briefing_screen(
    topic: Topic, guideline: Guideline | None, scale: Scale, keys: KeyTable
) -> ReadingScreen:
    """Make the page that comes before the first document of a topic."""
    before = Leaf("")
    if guideline is not None:
        before = strong(f"{guidelines_title(guideline)}: below, after the grades.") + Leaf("\n\n")
    before += topic_leaf(topic) + Leaf("\n\n") + strong("Grades")
    for key, name in grade_keys(keys, scale):
        before += Leaf("\n  ") + strong(key) + Leaf(f"  {name}")

    def leaf(width: int) -> Leaf:
        if guideline is None:
            return before
        heading = Leaf("\n\n") + strong(guidelines_title(guideline)) + Leaf("\n\n")
        return before + heading + markdown_leaf(guideline.text, width)

    title = f"Before you begin: topic {sanitise_line(topic.topic)}"
    return ReadingScreen(title, leaf, keys, [Command.INBOX], "begin")


def guidelines_title(guideline: Guideline) -> str:
    """Name a version of the guidelines by its number and its date."""
    date = guideline.created_at.astimezone().date()
    return f"Guidelines, version {guideline.version} of {date}"
