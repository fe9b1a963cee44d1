"""Words that the full screen and the line mode share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from judge_ui.grades import grade_name
from judge_ui.session import JudgingSession, Result
from store.records import Scale, State, Task
from store.sanitise import sanitise_line

NO_TEXT = "text missing: pooler import docs FILE brings it"
EMPTY_TEXT = "the text of this document is empty"
ALL_DECIDED = "every document has a decision"


def clock_time(moment: datetime) -> str:
    """Tell the time of day at this place, to the second."""
    return moment.astimezone().strftime("%H:%M:%S")


def day_or_time(moment: datetime | None, now: datetime) -> str:
    """Tell when something was last done: the time when it was today, else the date.

    Parameters
    ----------
    moment : datetime, optional
        An aware moment; ``None`` = never.
    now : datetime
        An aware moment; its zone is the one that counts.

    Examples
    --------
    >>> from datetime import UTC
    >>> now = datetime(2025, 11, 21, 18, 0, tzinfo=UTC)
    >>> day_or_time(datetime(2025, 11, 21, 9, 5, tzinfo=UTC), now)
    'today 09:05'
    >>> day_or_time(datetime(2025, 11, 20, 23, 5, tzinfo=UTC), now), day_or_time(None, now)
    ('2025-11-20', '-')
    """
    if moment is None:
        return "-"
    here = moment.astimezone(now.tzinfo)
    return here.strftime("today %H:%M") if here.date() == now.date() else here.date().isoformat()


def counted(number: int, noun: str) -> str:
    """Count something in words.

    Examples
    --------
    >>> counted(1, "document"), counted(0, "decision")
    ('1 document', '0 decisions')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def goodbye(session: JudgingSession) -> str:
    """Say what a sitting came to."""
    decisions = counted(session.n_decided, "decision")
    lost = len(session.unsaved)
    saved = f"{lost} NOT SAVED" if lost else "all saved"
    return f"{session.judge_name}: {decisions} in this sitting, {saved}"


def said(result: Result) -> str:
    """Say what came of a key, fit for one line of a terminal."""
    return sanitise_line(result.message)


def standing(task: Task, scale: Scale) -> str:
    """Say how a document stands, in words.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> standing(Task("d1", State.JUDGED, 1, "", "", 1), parse_scale("binary"))
    'judged: 1 relevant'
    """
    if task.state is State.JUDGED and task.grade is not None:
        return f"judged: {grade_name(scale, task.grade)}"
    if task.state is State.CANNOT:
        return f"cannot be judged: {sanitise_line(task.reason)}"
    return str(task.state)


def tally(tasks: Sequence[Task], scale: Scale) -> list[tuple[str, int]]:
    """Count the documents of a topic by grade, the highest first, and by the other states.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> tasks = [Task("d1", State.JUDGED, 1, "", "", 1), Task("d2", State.SKIPPED, None, "", "", 1)]
    >>> tally(tasks, parse_scale("binary"))
    [('1 relevant', 1), ('0 not relevant', 0), ('skipped', 1), ('cannot be judged', 0)]
    """
    grades = Counter(task.grade for task in tasks)
    states = Counter(task.state for task in tasks)
    lines = [(grade_name(scale, value), grades[value]) for value in reversed(scale.values)]
    lines += [("skipped", states[State.SKIPPED]), ("cannot be judged", states[State.CANNOT])]
    if states[State.UNJUDGED]:
        lines.append(("no decision yet", states[State.UNJUDGED]))
    return lines


def topic_name(session: JudgingSession) -> str:
    """Name the open topic: its id and its title."""
    topic = session.topic
    return sanitise_line(f"{topic.topic} {topic.title}".rstrip()) if topic else ""
