"""The end of a topic, going over it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from textual import events
from textual.screen import Screen

from judge_ui.screens.base import TextScreen
from judge_ui.screens.reading import page_help
from judge_ui.session.ending import (
    NextStep,
    conclusion,
    forecast_of_others,
    goal_words,
    next_step,
    own_keys,
    tally,
)
from judge_ui.session.keys import Command, KeyTable, half_width
from judge_ui.session.messages import forecast_words, pace_words, progress_words, topic_name
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.laid_out import MarkedText, strong
from judge_ui.widgets.lines import Hint
from store.analysis.pools.pace import duration_words
from store.records import State, Task
from store.wrapping import cell_width, pad


class SummaryScreen(TextScreen[NextStep]):
    """The end of the open topic."""

    def __init__(self, session: JudgingSession, keys: KeyTable, n_quick: int) -> None:
        self._offers = offers(session, keys, n_quick)
        marked_text = summary_text(session, list(self._offers.values()))
        back = [next(iter(self._offers.values()))]
        back.append((keys.name(Command.HELP), "help"))
        super().__init__(keys, topic_name(session), progress_words(session), marked_text, back)

    def _help(self, title: str, _hints: Sequence[Hint]) -> Screen[bool]:
        return page_help(self._keys, title, list(self._offers.values()))

    def on_key(self, event: events.Key) -> None:
        """Take the answer, or show the keys."""
        if self.shows_help(event, self._help):
            return
        step: NextStep | None = next(iter(self._offers))  # what Enter does
        if event.key != "enter":
            meaning = self._keys.meaning(event.key, event.character)
            typed = half_width(event.character or event.key)
            step = next_step(meaning, typed, own_keys(self._keys.meaning))
        if step in self._offers:
            event.stop()
            if self.is_meant(event):
                self.dismiss(step)


def offers(session: JudgingSession, keys: KeyTable, n_quick: int) -> dict[NextStep, tuple[str, str]]:
    """Say what can be done after the open topic: by which key, and in words."""
    own, may_end = own_keys(keys.meaning), session.is_at_goal
    n_skipped = session.progress.skipped
    quick = f"go over the {n_quick} decided in under {session.quick_s:g} s"
    skipped = f"go to the {n_skipped} skipped"
    is_first = n_skipped > 0 and not may_end
    first = {NextStep.SKIPPED: ("Enter", skipped)} if is_first else {}
    back = "stop here: back to the topics" if may_end else "back to the topics"
    steps = {
        **first,
        NextStep.INBOX: (keys.name(Command.INBOX) if is_first else "Enter", back),
        NextStep.SKIPPED: first.get(
            NextStep.SKIPPED, (keys.name(Command.SKIP), skipped if n_skipped else "")
        ),
        NextStep.QUICK: (own[NextStep.QUICK], quick if n_quick else ""),
        NextStep.UNDO: (keys.name(Command.UNDO), "undo the latest decision"),
        NextStep.STAY: (own[NextStep.STAY], "go on judging" if may_end else "stay with the documents"),
        NextStep.QUIT: (keys.name(Command.QUIT), "quit"),
    }
    return {step: (key, words) for step, (key, words) in steps.items() if words}


def summary_text(session: JudgingSession, offered: Sequence[tuple[str, str]]) -> MarkedText:
    """Write what was decided in the open topic, how long it took, and what can be done now."""
    lines = tally(session.tasks, session.scale)
    column = max(cell_width(name) for name, _ in lines) + 4
    head = conclusion(session)
    marked_text = strong(f"{head[0].upper()}{head[1:]}.") + MarkedText("\n\n")
    for name, count in lines:
        marked_text += MarkedText(f"  {pad(name, column)}{count:>6}\n")
    for line in (*_times(session.tasks), *_forecast(session), *_goal(session)):
        marked_text += MarkedText(f"\n{line}")
    marked_text += MarkedText("\n\n")
    for key, meaning in offered:
        marked_text += MarkedText("  ") + strong(pad(key, 8)) + MarkedText(f"{meaning}\n")
    return marked_text


def _times(tasks: Sequence[Task]) -> list[str]:
    seconds = [
        task.dwell_ms / 1000
        for task in tasks
        if task.state in (State.JUDGED, State.CANNOT) and task.dwell_ms is not None
    ]
    if not seconds:
        return []
    total, middle = duration_words(sum(seconds)), pace_words(median(seconds))
    return [f"Time on the screen: {total}, the median document {middle}."]


def _goal(session: JudgingSession) -> list[str]:
    words = goal_words(session)
    return [f"{words[0].upper()}{words[1:]}."] if words else []


def _forecast(session: JudgingSession) -> list[str]:
    forecast = forecast_of_others(session)
    if forecast is None:
        return []
    pace = [] if forecast.pace is None else [f"Your pace: {pace_words(forecast.pace)} a document."]
    words = forecast_words(forecast)
    return [*pace, f"Other topics: {words}."] if words else pace


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
