"""The end of a topic, going over it again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from judge_ui.session.keys import Command, KeyTable, half_width
from judge_ui.session.messages import (
    ALL_DECIDED,
    NEXT_STEPS,
    NextStep,
    counted,
    forecast_words,
    own_keys,
    pace_words,
    tally,
    topic_name,
)
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.laid_out import MarkedText, strong
from judge_ui.widgets.lines import Hints, Notice, TitleBar, progress_words
from judge_ui.widgets.small import TooSmall, WaitsForPaint
from judge_ui.widgets.text_pane import TextPane
from store.analysis.pools.pace import duration_words
from store.errors import PoolerError
from store.records import State, Task
from store.wrapping import cell_width, pad


class SummaryScreen(WaitsForPaint, Screen[NextStep]):
    """The end of the open topic."""

    AUTO_FOCUS = "TextPane"

    def __init__(self, session: JudgingSession, keys: KeyTable, n_quick: int) -> None:
        super().__init__()
        self._session = session
        self._keys = keys
        self._n_quick = n_quick

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield TooSmall()
        marked_text = summary_text(self._session, self._keys, self._n_quick)
        with Vertical(id="work"):
            yield TitleBar(id="topic-bar")
            yield TextPane(self._keys, marked_text, id="page")
            yield Hints(self._keys, self._session.scale, id="hints")

    def on_mount(self) -> None:
        """Write the lines around the counts."""
        session = self._session
        self.query_one("#topic-bar", TitleBar).show(
            topic_name(session), progress_words(session.judge_name, session.progress)
        )

    def on_text_pane_scrolled(self) -> None:
        """Say how much has been read."""
        self._show_place()

    def on_key(self, event: events.Key) -> None:
        """Take the answer."""
        meaning = self._keys.meaning(event.key, event.character)
        wish = NEXT_STEPS.get(meaning) if isinstance(meaning, Command) else None
        key = half_width(event.character or event.key)
        if event.key == "enter":
            wish = NextStep.INBOX
        elif wish is None:
            own = own_keys(self._keys.meaning)
            wish = next((wish for wish in own if own[wish] == key), None)
        if wish is NextStep.SKIPPED and not self._session.progress.skipped:
            return
        if wish is NextStep.QUICK and not self._n_quick:
            return
        if wish is not None:
            event.stop()
            if self.is_meant(event):
                self.dismiss(wish)

    def begin(self) -> None:
        """Show what the keys do."""
        self._show_place()

    def _show_place(self) -> None:
        """Write the last line."""
        if not self.has_begun:
            return
        read = Notice(f"{self.query_one(TextPane).percent}%")
        self.query_one(Hints).show(None, read, [("Enter", "back to the topics")])


def summary_text(session: JudgingSession, keys: KeyTable, n_quick: int) -> MarkedText:
    """Write what was decided in the open topic, how long it took, and what can be done now."""
    progress = session.progress
    lines = tally(session.tasks, session.scale)
    column = max(cell_width(name) for name, _ in lines) + 4
    left = f"{counted(progress.left, 'document')} without a decision"
    head = ALL_DECIDED if session.is_complete else left
    marked_text = strong(f"{head[0].upper()}{head[1:]}.") + MarkedText("\n\n")
    for name, count in lines:
        marked_text += MarkedText(f"  {pad(name, column)}{count:>6}\n")
    for line in (*_times(session.tasks), *_forecast(session)):
        marked_text += MarkedText(f"\n{line}")
    quick = f"{n_quick} decided in under {session.quick_s:g} s"
    own = own_keys(keys.meaning)
    answers = [
        ("Enter", "back to the topics", True),
        (own[NextStep.QUICK], f"go over the {quick}", n_quick > 0),
        (keys.name(Command.SKIP), f"go over the {progress.skipped} skipped", progress.skipped > 0),
        (keys.name(Command.UNDO), "undo the latest decision", True),
        (own[NextStep.STAY], "stay with the documents", True),
        (keys.name(Command.QUIT), "quit", True),
    ]
    marked_text += MarkedText("\n\n")
    for key, meaning, is_there in answers:
        if is_there:
            marked_text += MarkedText("  ") + strong(pad(key, 8)) + MarkedText(f"{meaning}\n")
    return marked_text


def _times(tasks: Sequence[Task]) -> list[str]:
    """Say how long the decisions took, where that is known."""
    seconds = [
        task.dwell_ms / 1000
        for task in tasks
        if task.state in (State.JUDGED, State.CANNOT) and task.dwell_ms is not None
    ]
    if not seconds:
        return []
    total, middle = duration_words(sum(seconds)), pace_words(median(seconds))
    return [f"Time on the screen: {total}, the median document {middle}."]


def _forecast(session: JudgingSession) -> list[str]:
    """Say how fast the judge is and how long the other topics will take, where that is known."""
    here = session.topic.topic if session.topic else ""
    lines = []
    with suppress(PoolerError):
        left = sum(line.left for line in session.inbox() if line.topic != here)
        forecast = session.forecast(left)
        if forecast.pace is not None:
            lines.append(f"Your pace: {pace_words(forecast.pace)} a document.")
        if words := forecast_words(forecast):
            lines.append(f"Other topics: {words}.")
    return lines


@dataclass
class Review:
    """Documents to go over.

    Examples
    --------
    >>> review = Review("skipped", ["d2", "d5"])
    >>> review.here, review.where
    ('d2', '1 of 2 skipped')
    >>> review.go(1), review.here, review.go(1), review.here
    (True, 'd5', False, 'd5')
    """

    what: str
    """What they have in common, as in ``skipped``."""
    docnos: Sequence[str]
    """At least one, in display order."""
    at: int = 0

    @property
    def here(self) -> str:
        """The document that is gone over."""
        return self.docnos[self.at]

    @property
    def where(self) -> str:
        """How far it has come, in words."""
        return f"{self.at + 1} of {len(self.docnos)} {self.what}"

    def go(self, step: int) -> bool:
        """Go to the next document, or back; False where there is none."""
        if not 0 <= self.at + step < len(self.docnos):
            return False
        self.at += step
        return True
