"""The end of a topic: what was decided in it, and what the judge may want next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from operator import itemgetter

from judge_ui.session.keys import Command
from judge_ui.session.messages import skipped_words
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import grade_name
from store.analysis.pools.pace import Forecast
from store.errors import PoolerError
from store.records import InboxLine, Scale, State, Task
from store.text import counted

ALL_DECIDED = "every document has a decision"


def tally(tasks: Sequence[Task], scale: Scale) -> list[tuple[str, int]]:
    """Count the documents of a topic by grade, the highest first, and by the other states.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> tasks = [Task("d1", State.JUDGED, 1, "", "", 1), Task("d2", State.SKIPPED, None, "", "", 1)]
    >>> tally(tasks, parse_scale("binary"))
    [('1 relevant', 1), ('0 not relevant', 0), ('skipped', 1), ('cannot be judged', 0)]
    """
    grades = Counter(task.grade for task in tasks)
    states = Counter(task.state for task in tasks)
    lines = [(grade_name(scale, value), grades[value]) for value in reversed(scale.values)]
    lines += [("skipped", states[State.SKIPPED]), ("cannot be judged", states[State.CANNOT])]
    if states[State.UNJUDGED]:
        lines.append(("unjudged", states[State.UNJUDGED]))
    return lines


def conclusion(session: JudgingSession) -> str:
    """Return whether the open topic is done: a document that is skipped is not decided."""
    progress = session.progress
    if session.is_complete:
        return ALL_DECIDED
    left = f"{counted(progress.left, 'document')} unjudged" if progress.left else ""
    return left + skipped_words(progress.skipped, ", " if left else "")


def goal_words(session: JudgingSession) -> str:
    """Return how the open topic stands to the organiser's goal; empty where there is none."""
    if session.goal is None or session.topic is None:
        return ""
    try:
        words = session.goal.words(session.topic.topic)
    except PoolerError:
        # Its words may name runs, which no judge is to see.
        return "whether the goal is reached could not be found out"
    return f"{words}; the rest may stay unjudged" if session.is_at_goal else words


def last_topic(lines: Sequence[InboxLine], but: Collection[str] = ()) -> str | None:
    """Return the topic that was worked at last; ``None`` = there is none, or it is done, or among others."""
    worked_at = [(line.last_judged_at, line) for line in lines if line.last_judged_at is not None]
    _, last = max(worked_at, key=itemgetter(0), default=(None, None))
    is_done = last is None or last.topic in but or not (last.left or last.skipped)
    return None if last is None or is_done else last.topic


def forecast_of_others(session: JudgingSession) -> Forecast | None:
    """Foresee how long the other topics will take; ``None`` where the database has no answer."""
    here = session.topic.topic if session.topic else ""
    with suppress(PoolerError):
        return session.forecast(sum(line.left for line in session.desk.inbox() if line.topic != here))
    return None


class NextStep(Enum):
    """What the judge wants after a topic."""

    INBOX = "inbox"
    SKIPPED = "skipped"
    QUICK = "quick"
    UNDO = "undo"
    STAY = "stay"
    QUIT = "quit"


NEXT_STEPS: Mapping[object, NextStep] = {
    Command.INBOX: NextStep.INBOX,
    Command.SKIP: NextStep.SKIPPED,
    Command.UNDO: NextStep.UNDO,
    Command.QUIT: NextStep.QUIT,
}
"""What commands mean there."""

_OWN_KEYS = {NextStep.STAY: "daf", NextStep.QUICK: "rvw"}


def own_keys(meaning: Callable[[str], object]) -> dict[NextStep, str]:
    """Choose the keys that mean something at the end of a topic alone: the first that mean no other step.

    Examples
    --------
    >>> own_keys({"d": Command.SKIP}.get)[NextStep.STAY]
    'a'
    """
    return {
        wish: next((key for key in keys if meaning(key) not in NEXT_STEPS), "")
        for wish, keys in _OWN_KEYS.items()
    }


def next_step(meaning: object, typed: str, own: Mapping[NextStep, str]) -> NextStep | None:
    """Return what was asked for, by the meaning of a key or by a key of `own_keys`; ``None`` = nothing."""
    step = NEXT_STEPS.get(meaning)
    return next((one for one in own if own[one] == typed), None) if step is None else step
