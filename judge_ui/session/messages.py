"""Words that the full screen and the line mode share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from enum import Enum
from operator import itemgetter

from judge_ui.session.keys import Command, KeyTable
from judge_ui.session.session import JudgingSession
from judge_ui.session.words import DecisionConflict, KeyResult, grade_mark, grade_name
from store.analysis.pools.pace import Forecast, duration_words
from store.errors import PoolerError
from store.formats.markup import readable
from store.judging.disagreements import (
    CellCount,
    Disagreement,
    GivenGrade,
    Opinion,
    Settlement,
    gap_of,
    in_order,
    letter,
)
from store.records import (
    Action,
    Decision,
    Guideline,
    InboxLine,
    LiveSitting,
    Scale,
    SeenEvent,
    ShownDocument,
    State,
    Task,
)
from store.text import counted, sanitise_line

NO_TEXT = "no text is stored for this document"
EMPTY_TEXT = "the text of this document is empty"
NOTHING_TO_READ = "there is nothing to read in this document: it is markup alone"
LONGEST_VALUE = 400
"""Cells that the value of a field may take: the text is not to be pushed out of sight."""


def text_shown(page: ShownDocument, *, is_raw: bool = False) -> str:
    """Return what is shown of a document's text: as it is read, or as it came; else why there is none."""
    if page.text is None:
        return NO_TEXT
    if is_raw and page.readable is not None:
        return readable(page.readable.raw).text
    if page.text.strip():
        return page.text
    return NOTHING_TO_READ if page.readable is not None and page.readable.raw.strip() else EMPTY_TEXT


def remarks(page: ShownDocument) -> list[tuple[str, str]]:
    """Return what stands between title and text: names and values."""
    note = "" if page.readable is None else page.readable.note
    return [*page.fields, ("note", note)] if note else [*page.fields]


def clock_time(moment: datetime) -> str:
    """Return the time of day at this place, to the second."""
    return moment.astimezone().strftime("%H:%M:%S")


def day_or_time(moment: datetime | None, now: datetime) -> str:
    """Return when something was last done: the time when it was today in the zone of `now`, else the date.

    ``None`` = never.
    """
    if moment is None:
        return "-"
    here = moment.astimezone(now.tzinfo)
    return here.strftime("today %H:%M") if here.date() == now.date() else here.date().isoformat()


def goodbye(session: JudgingSession) -> str:
    """Return the summary of a sitting."""
    decisions = counted(session.undoing.n_decided, "decision")
    lost = len(session.unsaved) + (session.conflict is not None)
    saved = f"{lost} NOT SAVED" if lost else "all saved"
    return f"{session.desk.judge_name}: {decisions} in this sitting, {saved}"


def refusal(error: PoolerError) -> str:
    """Return why something was not done, fit for one line of a terminal."""
    return sanitise_line(f"{error.message}; {error.hint}" if error.hint else error.message)


def result_text(result: KeyResult) -> str:
    """Return the outcome of a key, fit for one line of a terminal."""
    return sanitise_line(result.message)


def state_words(stands: Task | SeenEvent, scale: Scale) -> str:
    """Return how a document stands, in words."""
    if stands.state is State.JUDGED and stands.grade is not None:
        return grade_name(scale, stands.grade)
    if stands.state is State.CANNOT:
        return f"cannot be judged: {sanitise_line(stands.reason)}"
    return str(stands.state)


def progress_words(session: JudgingSession) -> list[str]:
    """Return who judges and how far the topic has come, and the same in ever fewer words."""
    progress = session.progress
    name, done = f"{session.desk.judge_name}   ", f"{progress.decided}/{progress.total}"
    skipped, left = skipped_words(progress.skipped, ", "), f"  left {progress.left}"
    # While the database does not answer, keys must not wait for it.
    seconds = session.forecast().seconds if session.knows_pace else None
    rest = f", {duration_words(seconds)}" if progress.left and seconds is not None else left
    return [
        f"{name}{done}{skipped}{rest}",
        f"{name}{done}{skipped}{left}",
        f"{name}{done}{left}",
        done + left,
    ]


def skipped_words(n_skipped: int, before: str = "") -> str:
    """Count what is skipped, behind something else; empty where nothing is."""
    return f"{before}{n_skipped} skipped" if n_skipped else ""


def guidelines_title(guideline: Guideline) -> str:
    """Name a version of the guidelines by its number and its date."""
    return f"Guidelines, version {guideline.version} of {guideline.created_at.astimezone().date()}"


def topic_name(session: JudgingSession) -> str:
    """Name the open topic: its id and its title."""
    topic = session.topic
    return sanitise_line(f"{topic.topic} {topic.title}".rstrip()) if topic else ""


def decision_mark(decision: Decision, scale: Scale) -> str:
    """Name a decision as shortly as can be."""
    if decision.grade is not None:
        return grade_mark(scale, decision.grade)
    names = {Action.SKIP: "skip", Action.CANNOT: "can't", Action.MARK: "passage"}
    return names.get(decision.action, str(decision.action))


def event_words(event: SeenEvent, scale: Scale) -> str:
    """Return what one event did, fit for one line of a terminal."""
    stands = state_words(event, scale)
    words = {
        Action.NOTE: f"note: {sanitise_line(event.note)}" if event.note else "note removed",
        Action.MARK: "passages marked",
        Action.UNDO: f"undo: {stands} again",
        Action.REOPEN: "put back into the queue",
    }.get(event.action, stands)
    return f"undone: {words}" if event.is_undone else words


def conflict_words(conflict: DecisionConflict, scale: Scale) -> tuple[str, str]:
    """Return the question which of two decisions of the same judge is to stay.

    What happened, and what can be done beside keeping it.
    """
    host = sanitise_line(conflict.host) or "another sitting"
    mine = decision_mark(conflict.attempt.decision, scale)
    happened = f"{host}: {conflict.theirs} at {clock_time(conflict.at)}; your {mine} is NOT SAVED"
    instead = "save" if conflict.attempt.stays else "replace it by"
    return happened, f"{instead} your {mine}"


def grade_keys(keys: KeyTable, scale: Scale) -> list[tuple[str, str]]:
    """Name every grade beside the key that gives it, the value only where the key is another.

    Examples
    --------
    >>> from judge_ui.session.keys import key_table
    >>> from store.formats.scale import parse_scale
    >>> scale = parse_scale("-1-1")
    >>> grade_keys(key_table(scale), scale)
    [('-', '-1 grade -1'), ('0', 'grade 0'), ('1', 'grade 1')]
    """
    entries = []
    for grade in scale.grades:
        key, label = sanitise_line(keys.of_grade[grade.value]), sanitise_line(grade.label)
        entries.append((key, label if key == str(grade.value) else f"{grade.value} {label}"))
    return entries


def forecast_words(forecast: Forecast) -> str:
    """Return how long the rest will take; empty while unknown."""
    if not forecast.left or forecast.seconds is None:
        return ""
    return f"{forecast.left} left, {duration_words(forecast.seconds)} at your pace"


def pace_words(seconds: float) -> str:
    """Return a time for one document in words."""
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds < 2 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def warning_of_others(session: JudgingSession) -> str:
    """Warn of another sitting of the same judge, one at the open topic before others; empty = none."""
    with suppress(PoolerError):
        return elsewhere_words(session.desk.live_elsewhere(), session.topic.topic if session.topic else "")
    return ""


def draft_words(session: JudgingSession) -> str:
    """Return where in the open topic a draft of a note is kept; empty = nowhere."""
    docnos = session.drafts.of(session.topic.topic if session.topic else "")
    return f"a draft of a note is kept, not saved, on {sanitise_line(', '.join(docnos))}" if docnos else ""


def elsewhere_words(sittings: Sequence[LiveSitting], topic: str) -> str:
    """Name another sitting that is active, one at this topic before others; empty = there is none."""
    for one in sorted(sittings, key=lambda sitting: sitting.topic != topic):
        host = sanitise_line(one.host) or "another terminal"
        same = "this very topic" if one.topic == topic else f"topic {sanitise_line(one.topic)}"
        at = f", at {same}," if one.topic else ""
        return f"another sitting of yours on {host}{at} was active at {clock_time(one.seen_at)}"
    return ""


def given_lines(given_grades: Sequence[Sequence[GivenGrade]], scale: Scale) -> list[list[str]]:
    """Write what A, B, C gave and the gap, a line a document, in three forms that are ever narrower.

    The last form has no letters.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> for lines in given_lines([(2, None, 0), (1, 0)], parse_scale("0-2")):
    ...     print("|" + "|".join(lines) + "|")
    |A 2  B can't  C 0  gap 2|A 1  B 0           gap 1|
    |A 2 B can't C 0 gap 2|A 1 B 0         gap 1|
    |2 can't 0 gap 2|1 0       gap 1|
    """
    n_judges = max(map(len, given_grades), default=0)
    named, bare = [], []
    for one in given_grades:
        marked, gap = [grade_mark(scale, grade) for grade in one], gap_of(one)
        rest = [""] * (n_judges - len(one)) + ["" if gap is None else f"gap {gap}"]
        named.append([*(f"{letter(place)} {mark}" for place, mark in enumerate(marked)), *rest])
        bare.append([*marked, *rest])
    return [_in_columns(named, "  "), _in_columns(named, " "), _in_columns(bare, " ")]


def _in_columns(rows: Sequence[Sequence[str]], blanks: str) -> list[str]:
    """Align rows in columns; a column without words is left out."""
    from store.wrapping import cell_width, pad  # loads rich, which line mode does not need

    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    return [
        blanks.join(pad(cell, width) for cell, width in zip(row, widths, strict=True) if width)
        for row in rows
    ]


def opinion_head(opinion: Opinion, scale: Scale) -> str:
    """Write whose opinion it is, what was decided, and for which reason."""
    reason = f": {opinion.reason}" if opinion.reason else ""
    return f"{opinion.letter}  {grade_name(scale, opinion.grade)}{reason}"


def opinion_tail(opinion: Opinion) -> str:
    """Write on one line what stands beside the decision: the note, and what was marked."""
    quotes = [f'"{one.text}"' for one in opinion.passages]
    return sanitise_line(" ".join([*([opinion.note] if opinion.note else []), *quotes]))


def brief_tail(opinion: Opinion) -> str:
    """Write the same in fewer words: how many passages were marked, and the note."""
    n_passages = len(opinion.passages)
    count = f"[{counted(n_passages, 'passage')}] " if n_passages else ""
    return (count + sanitise_line(opinion.note)).strip()


def opinion_lines(opinion: Opinion, scale: Scale) -> list[str]:
    """Write an opinion in full: the decision, the note, every passage."""
    lines = [opinion_head(opinion, scale)]
    if opinion.note:
        lines += ["note: " + line for line in opinion.note.split("\n") if line.strip()]
    lines += [f'passage: "{sanitise_line(one.text)}"' for one in opinion.passages]
    return lines


def history_words(found: Disagreement, scale: Scale) -> str:
    """Return what happened to a disagreement before; empty = nothing."""
    if found.status is Settlement.OPEN:
        return ""
    mark = grade_mark(scale, found.outcome)
    if found.status is Settlement.CHANGED:
        marks = ", ".join(grade_mark(scale, given_grade) for given_grade in found.outcome_on)
        return f"changed since {marks} was settled as {mark}"
    return f"settled as {mark}"


def cell_name(cell: tuple[GivenGrade, GivenGrade], scale: Scale) -> str:
    """Name a cell of the kappa table."""
    return " / ".join(grade_mark(scale, given_grade) for given_grade in cell)


def cell_words(count: CellCount, scale: Scale) -> str:
    """Return how many documents a cell has, how many are settled, and as what."""
    outcomes = ", ".join(
        f"as {grade_mark(scale, given_grade)}: {count.outcomes[given_grade]}"
        for given_grade in in_order(count.outcomes)
    )
    more = f" ({outcomes})" if outcomes else ""
    return f"{counted(count.documents, 'document')}, {count.settled} settled{more}"


ALL_DECIDED = "every document has a decision"


def tally(tasks: Sequence[Task], scale: Scale) -> list[tuple[str, int]]:
    """Count the documents of a topic by grade, the highest first, and by the other states."""
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
    """Return whether the open topic has reached the organiser's goal; empty where there is none."""
    if session.goal is None or session.topic is None:
        return ""
    try:
        words = session.goal.words(session.topic.topic)
    except PoolerError:
        # Its words may name runs, which no judge is to see.
        return "unknown whether the goal is reached: the collection cannot be read"
    return f"{words}; the rest may stay unjudged" if session.is_at_goal else words


def last_topic(lines: Sequence[InboxLine], but: Collection[str] = ()) -> str | None:
    """Return the topic that was worked at last; ``None`` = there is none, or it is done, or among others."""
    worked_at = [(line.last_judged_at, line) for line in lines if line.last_judged_at is not None]
    _, last = max(worked_at, key=itemgetter(0), default=(None, None))
    is_done = last is None or last.topic in but or not (last.left or last.skipped)
    return None if last is None or is_done else last.topic


def next_row(session: JudgingSession, lines: Sequence[InboxLine]) -> int | None:
    """Return the row of the topic worked at last, or if that is done the next that has documents left."""
    opened, ended = session.topic, session.may_end
    last = last_topic(lines) if opened is None else opened.topic
    at = next((row for row, line in enumerate(lines) if line.topic == last), 0)
    after = (*range(at, len(lines)), *range(at))
    rows = ((row, lines[row]) for row in after)
    return next((row for row, line in rows if line.topic not in ended and (line.left or line.skipped)), None)


def following_topic(session: JudgingSession) -> str:
    """Name the next topic that is not finished; empty = there is none, or it is not known."""
    with suppress(PoolerError):
        lines = session.desk.inbox()
        row = next_row(session, lines)
        if row is not None and (session.topic is None or lines[row].topic != session.topic.topic):
            return sanitise_line(f"{lines[row].topic} {lines[row].title}".rstrip())
    return ""


def forecast_of_others(session: JudgingSession) -> Forecast | None:
    """Estimate how long the other topics will take; ``None`` where the database does not answer."""
    here = session.topic.topic if session.topic else ""
    with suppress(PoolerError):
        return session.forecast(sum(line.left for line in session.desk.inbox() if line.topic != here))
    return None


class NextStep(Enum):
    """What the judge wants after a topic."""

    TOPIC = "topic"
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
"""What commands mean at the end of a topic."""

_OWN_KEYS = {NextStep.STAY: "daf", NextStep.QUICK: "rvw"}


def own_keys(meaning: Callable[[str], object]) -> dict[NextStep, str]:
    """Choose the keys of steps that exist only at the end of a topic: the first that mean no other step."""
    return {
        step: next((key for key in keys if meaning(key) not in NEXT_STEPS), "")
        for step, keys in _OWN_KEYS.items()
    }


def next_step(meaning: object, typed: str, own: Mapping[NextStep, str]) -> NextStep | None:
    """Return what was asked for, by the meaning of a key or by a key of `own_keys`; ``None`` = nothing."""
    step = NEXT_STEPS.get(meaning)
    return next((one for one in own if own[one] == typed), None) if step is None else step
