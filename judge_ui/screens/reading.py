"""Screens to read and go back from: the whole topic, and the keys."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from judge_ui.grades import grade_entries
from judge_ui.keys import EXPLANATIONS, SCROLLING, Command, KeyTable
from judge_ui.widgets.bars import Bar
from judge_ui.widgets.leaf import Leaf, strong, topic_leaf
from judge_ui.widgets.text_pane import TextPane
from judge_ui.widgets.too_small import TooSmall
from judge_ui.widgets.wrapping import pad
from store.records import Scale, Topic
from store.sanitise import sanitise_line

_COLUMN = 24
"""Width of the keys on the help page, in cells."""

_ABOUT = (
    "Every decision is written before the next document appears.",
    "A grade key that comes too soon after a document appears is dropped.",
    "Not judged, skipped, impossible to judge, and the lowest grade: four things.",
    "Words of the topic are reversed in the document: a help for the eye, no more.",
)


class ReadingScreen(Screen[None]):
    """A page of text; any of its keys goes back.

    Parameters
    ----------
    title : str
        Of the page, fit for a terminal.
    leaf : Leaf
        The text.
    keys : KeyTable
        Says which keys scroll.
    back : Command
        The command that opened the page; its keys close it.
    """

    AUTO_FOCUS = "TextPane"

    def __init__(self, title: str, leaf: Leaf, keys: KeyTable, back: Command) -> None:
        super().__init__()
        self._title = title
        self._leaf = leaf
        self._keys = keys
        self._back = back

    def compose(self) -> ComposeResult:
        """Lay out the page."""
        yield TooSmall()
        with Vertical(id="work"):
            yield Bar(id="topic-bar")
            yield TextPane(self._keys, self._leaf, id="page")
            yield Bar(id="foot")

    def on_mount(self) -> None:
        """Write the lines around the text."""
        self.query_one("#topic-bar", Bar).show(self._title)
        self._show_place()

    def on_text_pane_scrolled(self) -> None:
        """Say how far the text has been read."""
        self._show_place()

    def on_key(self, event: events.Key) -> None:
        """Go back."""
        meaning = self._keys.meaning(event.key, event.character)
        if event.key == "enter" or meaning in (self._back, Command.INBOX, Command.QUIT):
            event.stop()
            self.dismiss(None)

    def _show_place(self) -> None:
        """Write the last line."""
        percent = self.query_one(TextPane).percent
        back = self._keys.name(self._back)
        self.query_one("#foot", Bar).show(f"{back} or Esc  back", f"{percent}%")


def topic_screen(topic: Topic, keys: KeyTable) -> ReadingScreen:
    """Make the page of a whole topic."""
    title = f"Topic {sanitise_line(topic.topic)}"
    return ReadingScreen(title, topic_leaf(topic), keys, Command.TOPIC)


def help_screen(keys: KeyTable, scale: Scale) -> ReadingScreen:
    """Make the page of every key."""
    return ReadingScreen("Keys", help_leaf(keys, scale), keys, Command.HELP)


def help_leaf(keys: KeyTable, scale: Scale) -> Leaf:
    """Write every key and what it does."""
    leaf = strong("Grades: saved at once, then the next document") + Leaf("\n")
    for key, name in grade_entries(scale):
        leaf += _entry(key, name)
    for heading, commands in (
        ("Commands", [command for command in EXPLANATIONS if command not in SCROLLING]),
        ("Scrolling", [command for command in EXPLANATIONS if command in SCROLLING]),
    ):
        leaf += Leaf("\n") + strong(heading) + Leaf("\n")
        for command in commands:
            leaf += _entry("  ".join(keys.names(command)), EXPLANATIONS[command])
    leaf += Leaf("\n") + strong("Good to know") + Leaf("\n")
    return leaf + Leaf("\n".join(f"  {line}" for line in _ABOUT))


def _entry(key: str, meaning: str) -> Leaf:
    """Write one line of the help page."""
    return Leaf("  ") + strong(pad(key, _COLUMN)) + Leaf(f"{meaning}\n")
