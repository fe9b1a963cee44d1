"""The screen at the end of a topic: what was decided, and what to do next."""

from __future__ import annotations

from enum import Enum

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from judge_ui.keys import Command, KeyTable, half_width
from judge_ui.messages import ALL_DECIDED, counted, tally, topic_name
from judge_ui.session import JudgingSession
from judge_ui.widgets.bars import Bar, progress_words
from judge_ui.widgets.leaf import Leaf, strong
from judge_ui.widgets.text_pane import TextPane
from judge_ui.widgets.too_small import TooSmall
from judge_ui.widgets.wrapping import cell_width, pad


class Afterwards(Enum):
    """What the judge wants after a topic."""

    INBOX = "inbox"
    SKIPPED = "skipped"
    UNDO = "undo"
    STAY = "stay"
    QUIT = "quit"


_WISHES = {
    Command.INBOX: Afterwards.INBOX,
    Command.SKIP: Afterwards.SKIPPED,
    Command.UNDO: Afterwards.UNDO,
    Command.QUIT: Afterwards.QUIT,
}
_STAY = "d"


class SummaryScreen(Screen[Afterwards]):
    """The end of the open topic.

    Parameters
    ----------
    session : JudgingSession
        With a topic open.
    keys : KeyTable
        The keys of its scale.
    """

    AUTO_FOCUS = "TextPane"

    def __init__(self, session: JudgingSession, keys: KeyTable) -> None:
        super().__init__()
        self._session = session
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield TooSmall()
        with Vertical(id="work"):
            yield Bar(id="topic-bar")
            yield TextPane(self._keys, summary_leaf(self._session, self._keys), id="page")
            yield Bar(id="foot")

    def on_mount(self) -> None:
        """Write the lines around the counts."""
        session = self._session
        self.query_one("#topic-bar", Bar).show(
            topic_name(session), progress_words(session.judge_name, session.progress)
        )
        self.query_one("#foot", Bar).show("Enter  back to the topics")

    def on_key(self, event: events.Key) -> None:
        """Take the answer."""
        meaning = self._keys.meaning(event.key, event.character)
        wish = _WISHES.get(meaning) if isinstance(meaning, Command) else None
        if event.key == "enter":
            wish = Afterwards.INBOX
        elif half_width(event.character or event.key) == _STAY:
            wish = Afterwards.STAY
        if wish is Afterwards.SKIPPED and not self._session.progress.skipped:
            return
        if wish is not None:
            event.stop()
            self.dismiss(wish)


def summary_leaf(session: JudgingSession, keys: KeyTable) -> Leaf:
    """Write the counts of the open topic and what can be done now."""
    progress = session.progress
    lines = tally(session.tasks, session.scale)
    column = max(cell_width(name) for name, _ in lines) + 4
    left = f"{counted(progress.left, 'document')} without a decision"
    head = ALL_DECIDED if session.is_complete else left
    leaf = strong(f"{head[0].upper()}{head[1:]}.") + Leaf("\n\n")
    for name, count in lines:
        leaf += Leaf(f"  {pad(name, column)}{count:>6}\n")
    answers = [
        ("Enter", "back to the topics"),
        (keys.name(Command.UNDO), "undo the latest decision"),
    ]
    if progress.skipped:
        answers.append((keys.name(Command.SKIP), f"go over the {progress.skipped} skipped"))
    answers += [(_STAY, "stay with the documents"), (keys.name(Command.QUIT), "quit")]
    leaf += Leaf("\n")
    for key, meaning in answers:
        leaf += Leaf("  ") + strong(pad(key, 8)) + Leaf(f"{meaning}\n")
    return leaf
