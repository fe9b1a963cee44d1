"""Pages of text: topic, guidelines, briefing, help, the end of a topic; what is gone over again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from textual import events
from textual.screen import Screen

from judge_ui.screens.base import TextScreen
from judge_ui.session.keys import SCROLLING, Command, KeyTable, half_width
from judge_ui.session.messages import (
    NextStep,
    conclusion,
    following_topic,
    forecast_of_others,
    forecast_words,
    goal_words,
    grade_keys,
    guidelines_title,
    next_step,
    own_keys,
    pace_words,
    progress_words,
    tally,
    topic_name,
)
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.laid_out import MarkedText, markdown_text, strong, topic_text
from judge_ui.widgets.lines import Hint
from store.analysis.pools.pace import duration_words
from store.records import Guideline, Scale, State, Task, Topic
from store.text import sanitise_line
from store.wrapping import cell_width, pad, wrap

NO_GUIDELINES = "this collection has no guidelines"


class ReadingScreen(TextScreen[bool]):
    """A page of text; gives whether Enter closed it."""

    def __init__(
        self,
        title: str,
        marked_text: MarkedText | Callable[[int], MarkedText],
        keys: KeyTable,
        back: Command,
        enter: str = "",
    ) -> None:
        self._back = (back, Command.INBOX, Command.QUIT)
        names = dict.fromkeys((keys.name(back), "Esc"))
        hints = [("Enter", enter)] if enter else []
        if back is not Command.HELP:
            hints.append((keys.name(Command.HELP), "help"))
        super().__init__(keys, title, "", marked_text, [*hints, (" or ".join(names), "back")])

    def on_key(self, event: events.Key) -> None:
        if Command.HELP not in self._back and self.shows_help(event, partial(page_help, self._keys)):
            return
        if event.key == "enter" or self._keys.meaning(event.key, event.character) in self._back:
            event.stop()
            if self.is_meant(event):
                self.dismiss(event.key == "enter")


def guidelines_screen(guideline: Guideline | None, keys: KeyTable) -> ReadingScreen:
    """Make the page of the guidelines."""
    title = "Guidelines" if guideline is None else guidelines_title(guideline)
    text = NO_GUIDELINES if guideline is None else guideline.text
    return ReadingScreen(title, partial(markdown_text, text), keys, Command.GUIDELINES)


def briefing_screen(topic: Topic, guideline: Guideline | None, scale: Scale, keys: KeyTable) -> ReadingScreen:
    """Make the page that comes before the first document of a topic."""
    before = MarkedText("")
    if guideline is not None:
        before = strong(f"{guidelines_title(guideline)}: below, after the grades.") + MarkedText("\n\n")
    before += topic_text(topic) + MarkedText("\n\n") + strong("Grades")
    for key, name in grade_keys(keys, scale):
        before += MarkedText("\n  ") + strong(key) + MarkedText(f"  {name}")

    def marked_text(width: int) -> MarkedText:
        if guideline is None:
            return before
        heading = MarkedText("\n\n") + strong(guidelines_title(guideline)) + MarkedText("\n\n")
        return before + heading + markdown_text(guideline.text, width)

    title = f"Before you begin: topic {sanitise_line(topic.topic)}"
    return ReadingScreen(title, marked_text, keys, Command.INBOX, "begin")


_COLUMN = 14
"""Width of the keys, in cells; longer ones have a line of their own."""

_ABOUT = (
    "Every decision is saved before the next document appears.",
    "A grade key that comes too soon after a document appears is dropped.",
    "Not judged, skipped, cannot be judged, lowest grade: four different things.",
    "The topic's words are highlighted in the document only to guide the eye.",
)

Entry = tuple[str, str]
"""Keys, and what they do."""


def inbox_help(keys: KeyTable, commands: Sequence[Command]) -> ReadingScreen:
    """Make the page of the keys of the list of topics."""
    return page_help(keys, "Topics", [("Enter", "open the topic"), *_commands(keys, commands)])


def page_help(keys: KeyTable, title: str, hints: Sequence[Entry], about: str = "") -> ReadingScreen:
    """Make the page of the keys of a screen that has only those it names, and those that move."""

    def marked_text(width: int) -> MarkedText:
        moving = _section("Moving", _commands(keys, SCROLLING), width)
        return _section(title, hints, width) + moving + MarkedText(about)

    return ReadingScreen("Keys", marked_text, keys, Command.HELP)


def list_help(keys: KeyTable, scale: Scale) -> ReadingScreen:
    """Make the page of the keys of the list of documents."""
    hits = f"{keys.name(Command.NEXT_HIT)}  {keys.name(Command.PREVIOUS_HIT)}"
    entries = [
        ("Enter", "go to the document"),
        ("Tab", "only the unjudged, those with a grade, skipped, ..."),
        ("Shift+Tab", "the same backwards"),
        *((key, f"only those graded {name}") for key, name in grade_keys(keys, scale)),
        (keys.name(Command.SKIP), "only those skipped"),
        (keys.name(Command.CANNOT), "only those that cannot be judged"),
        (keys.name(Command.NOTE), "only those with a note"),
        (keys.name(Command.MARK), "only those with marked passages"),
        (keys.name(Command.FIND), "find a docno by a part of it"),
        (hits, "to the next such docno, to the one before"),
        (f"{keys.name(Command.LIST)}  Esc", "back to the document"),
        (keys.name(Command.HELP), Command.HELP.explanation),
    ]
    about = 'In a row, > means the document on the screen, * a note, " marked passages.'
    return page_help(keys, "List of documents: nothing is decided here", entries, about)


def help_text(keys: KeyTable, scale: Scale, width: int = 80) -> MarkedText:
    """Write every key of the judging screen and what it does, for a width in cells."""
    commands = [command for command in Command if command not in SCROLLING]
    grades = grade_keys(keys, scale)
    marked_text = _section("Grades: saved at once, then the next document", grades, width)
    marked_text += _section("Commands", _commands(keys, commands), width)
    marked_text += _section("Scrolling", _commands(keys, SCROLLING), width)
    marked_text += strong("Good to know")
    return marked_text + MarkedText("".join(f"\n  {_hanging(line, '  ', width)}" for line in _ABOUT))


def _commands(keys: KeyTable, commands: Sequence[Command]) -> list[Entry]:
    return [("  ".join(keys.names(command)), command.explanation) for command in commands]


def _section(heading: str, entries: Sequence[Entry], width: int) -> MarkedText:
    marked_text = strong(heading) + MarkedText("\n")
    indent = " " * (_COLUMN + 2)
    for key, meaning in entries:
        apart = f"\n{indent}" if cell_width(key) > _COLUMN - 2 else ""
        name = strong(key if apart else pad(key, _COLUMN))
        marked_text += MarkedText("  ") + name + MarkedText(f"{apart}{_hanging(meaning, indent, width)}\n")
    return marked_text + MarkedText("\n")


def _hanging(text: str, indent: str, width: int) -> str:
    spans = wrap(text, width - len(indent))
    return f"\n{indent}".join(text[start:end] for start, end in spans)


class SummaryScreen(TextScreen[NextStep]):
    """The end of the open topic."""

    def __init__(self, session: JudgingSession, keys: KeyTable, n_quick: int) -> None:
        self._offers = offers(session, keys, n_quick)
        marked_text = summary_text(session, list(self._offers.values()))
        hints = [next(iter(self._offers.values())), (keys.name(Command.HELP), "help")]
        super().__init__(keys, topic_name(session), progress_words(session), marked_text, hints)

    def _help(self, title: str, _hints: Sequence[Hint]) -> Screen[bool]:
        return page_help(self._keys, title, list(self._offers.values()))

    def on_key(self, event: events.Key) -> None:
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
    """Return what can be done after the open topic: by which key, and in words."""
    own, may_end = own_keys(keys.meaning), session.is_at_goal
    n_skipped = session.progress.skipped
    quick = f"go over the {n_quick} decided in under {session.quick_s:g} s"
    skipped = f"go to the {n_skipped} skipped"
    is_first = n_skipped > 0 and not may_end
    first = {NextStep.SKIPPED: ("Enter", skipped)} if is_first else {}
    back = "stop here: back to the topics" if may_end else "back to the topics"
    following = "" if is_first or may_end else following_topic(session)
    # Enter goes on: with what is skipped, else with the next topic.
    begins = {NextStep.TOPIC: ("Enter", f"go on with topic {following}")} if following else first
    steps = {
        **begins,
        NextStep.INBOX: (keys.name(Command.INBOX) if begins else "Enter", back),
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
    if line := _times(session.tasks):
        marked_text += MarkedText(f"\n{line}")
    if (forecast := forecast_of_others(session)) is not None:
        if forecast.pace is not None:
            marked_text += MarkedText(f"\nYour pace: {pace_words(forecast.pace)} a document.")
        if words := forecast_words(forecast):
            marked_text += MarkedText(f"\nOther topics: {words}.")
    if words := goal_words(session):
        marked_text += MarkedText(f"\n{words[0].upper()}{words[1:]}.")
    marked_text += MarkedText("\n\n")
    for key, meaning in offered:
        marked_text += MarkedText("  ") + strong(pad(key, 8)) + MarkedText(f"{meaning}\n")
    return marked_text


def _times(tasks: Sequence[Task]) -> str:
    seconds = [
        task.dwell_ms / 1000
        for task in tasks
        if task.state in (State.JUDGED, State.CANNOT) and task.dwell_ms is not None
    ]
    if not seconds:
        return ""
    total, middle = duration_words(sum(seconds)), pace_words(median(seconds))
    return f"Time on the screen: {total}, the median document {middle}."


@dataclass
class Review:
    """Documents to go over."""

    what: str
    """What they have in common, as in ``skipped``."""
    docnos: Sequence[str]
    """At least one, in display order."""
    at: int = 0

    @property
    def here(self) -> str:
        """The document that is gone over now."""
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
