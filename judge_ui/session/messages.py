"""Words that the full screen and the line mode share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime

from judge_ui.session.keys import KeyTable
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


def state_words(task: Task, scale: Scale) -> str:
    """Return how a document stands, in words.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> state_words(Task("d1", State.JUDGED, 1, "", "", 1), parse_scale("binary"))
    'judged: 1 relevant'
    """
    if task.state is State.JUDGED and task.grade is not None:
        return f"judged: {grade_name(scale, task.grade)}"
    if task.state is State.CANNOT:
        return f"cannot be judged: {sanitise_line(task.reason)}"
    return str(task.state)


def progress_words(session: JudgingSession) -> list[str]:
    """Return who judges and how far the topic has come, and the same in ever fewer words."""
    progress = session.progress
    name, done = f"{session.desk.judge_name}   ", f"{progress.decided}/{progress.total}"
    skipped, left = skipped_words(progress.skipped, ", "), f"  left {progress.left}"
    # Where the database does not answer, not every key is to wait for it.
    seconds = session.forecast().seconds if session.knows_pace else None
    rest = f", {duration_words(seconds)}" if progress.left and seconds is not None else left
    return [
        f"{name}{done}{skipped}{rest}",
        f"{name}{done}{skipped}{left}",
        f"{name}{done}{left}",
        done + left,
    ]


def skipped_words(n_skipped: int, before: str = "") -> str:
    """Count what is skipped, behind something else; empty where nothing is.

    Examples
    --------
    >>> skipped_words(18, ", "), skipped_words(0, ", ")
    (', 18 skipped', '')
    """
    return f"{before}{n_skipped} skipped" if n_skipped else ""


def guidelines_title(guideline: Guideline) -> str:
    """Name a version of the guidelines by its number and its date."""
    return f"Guidelines, version {guideline.version} of {guideline.created_at.astimezone().date()}"


def topic_name(session: JudgingSession) -> str:
    """Name the open topic: its id and its title."""
    topic = session.topic
    return sanitise_line(f"{topic.topic} {topic.title}".rstrip()) if topic else ""


def decision_mark(decision: Decision, scale: Scale) -> str:
    """Name a decision as shortly as can be.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> decision_mark(Decision("12", "d1", Action.JUDGE, grade=1), parse_scale("binary"))
    '1'
    """
    if decision.grade is not None:
        return grade_mark(scale, decision.grade)
    names = {Action.SKIP: "skip", Action.CANNOT: "can't", Action.MARK: "passage"}
    return names.get(decision.action, str(decision.action))


def event_words(event: SeenEvent, scale: Scale) -> str:
    """Return what one event did, fit for one line of a terminal.

    Examples
    --------
    >>> from datetime import UTC
    >>> from store.formats.scale import parse_scale
    >>> at = datetime(2025, 11, 21, 9, 5, tzinfo=UTC)
    >>> judged = ("12", "d1", Action.JUDGE, State.JUDGED, 1, "", "", 1, at)
    >>> event_words(SeenEvent(*judged, is_undone=True, is_here=True), parse_scale("binary"))
    'undone: 1 relevant'
    """
    stands = str(event.state)
    if event.state is State.JUDGED and event.grade is not None:
        stands = grade_name(scale, event.grade)
    elif event.state is State.CANNOT:
        stands = f"cannot be judged: {sanitise_line(event.reason)}"
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
    """Name every grade beside the keys that give it, the value only where a key is another.

    Examples
    --------
    >>> from judge_ui.session.keys import Keymap, key_table
    >>> from store.formats.scale import parse_scale
    >>> scale = parse_scale("binary")
    >>> grade_keys(key_table(scale, Keymap({0: ("a", "f9")})), scale)
    [('a  F9', '0 not relevant'), ('1', 'relevant')]
    """
    entries = []
    for grade in scale.grades:
        names = [sanitise_line(name) for name in keys.grade_names(grade.value)]
        label = sanitise_line(grade.label)
        is_value = names == [str(grade.value)]
        entries.append(("  ".join(names), label if is_value else f"{grade.value} {label}"))
    return entries


def forecast_words(forecast: Forecast) -> str:
    """Return how long the rest will take; empty while unknown.

    Examples
    --------
    >>> forecast_words(Forecast(173, 6500.0, 5000.0, 8000.0, 40, 37.6))
    '173 left, about 1 h 50 at your pace'
    """
    if not forecast.left or forecast.seconds is None:
        return ""
    return f"{forecast.left} left, {duration_words(forecast.seconds)} at your pace"


def pace_words(seconds: float) -> str:
    """Return a time for one document in words.

    Examples
    --------
    >>> pace_words(0.84), pace_words(9.4), pace_words(130)
    ('0.8 s', '9 s', '2 min 10 s')
    """
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds < 2 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def warning_of_others(session: JudgingSession) -> str:
    """Warn of another sitting of the same judge, one at the open topic before others; empty = none."""
    with suppress(PoolerError):
        return elsewhere_words(session.desk.live_elsewhere(), session.topic.topic if session.topic else "")
    return ""


def elsewhere_words(sittings: Iterable[LiveSitting], topic: str) -> str:
    """Name another sitting that is alive, one at this topic before others; empty = there is none."""
    for one in sorted(sittings, key=lambda sitting: sitting.topic != topic):
        host = sanitise_line(one.host) or "another terminal"
        same = "this very topic" if one.topic == topic else f"topic {sanitise_line(one.topic)}"
        at = f", at {same}," if one.topic else ""
        return f"another sitting of yours on {host}{at} was alive at {clock_time(one.seen_at)}"
    return ""


CANNOT_MARK = "can't"


def given_grade_mark(scale: Scale, given_grade: GivenGrade) -> str:
    """Name what a judge decided as shortly as can be.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> given_grade_mark(parse_scale("ntcir"), 3), given_grade_mark(parse_scale("0-2"), None)
    ('S', "can't")
    """
    return CANNOT_MARK if given_grade is None else grade_mark(scale, given_grade)


def given_grade_name(scale: Scale, given_grade: GivenGrade) -> str:
    """Name what a judge decided in full."""
    return "can't be judged" if given_grade is None else grade_name(scale, given_grade)


def marks(scale: Scale, given_grades: Iterable[GivenGrade]) -> str:
    """Name what several judges decided as shortly as can be, with commas."""
    return ", ".join(given_grade_mark(scale, given_grade) for given_grade in given_grades)


def opinion_marks(opinions: Iterable[Opinion], scale: Scale) -> str:
    """Write who gave what on one line, in as few cells as can be.

    Examples
    --------
    >>> from store.records import State
    >>> from store.formats.scale import parse_scale
    >>> opinions = [Opinion("A", State.JUDGED, 2, "", "sure"), Opinion("B", State.CANNOT, None, "torn", "")]
    >>> opinion_marks(opinions, parse_scale("0-2"))
    "A 2  B can't"
    """
    return "  ".join(f"{one.letter} {given_grade_mark(scale, one.grade)}" for one in opinions)


def given_lines(given_grades: Sequence[Sequence[GivenGrade]], scale: Scale) -> list[list[str]]:
    """Write what A, B, C gave and the gap, of several documents under each other, then closer and closer.

    At last without letters.

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
        marked, gap = [given_grade_mark(scale, grade) for grade in one], gap_of(one)
        rest = [""] * (n_judges - len(one)) + ["" if gap is None else f"gap {gap}"]
        named.append([*(f"{letter(place)} {mark}" for place, mark in enumerate(marked)), *rest])
        bare.append([*marked, *rest])
    return [_in_columns(named, "  "), _in_columns(named, " "), _in_columns(bare, " ")]


def _in_columns(rows: Sequence[Sequence[str]], blanks: str) -> list[str]:
    """Write rows under each other; a column without words is left out."""
    from store.wrapping import cell_width, pad  # loads rich, which line mode needs not

    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    return [
        blanks.join(pad(cell, width) for cell, width in zip(row, widths, strict=True) if width)
        for row in rows
    ]


def opinion_head(opinion: Opinion, scale: Scale) -> str:
    """Write whose opinion it is, what was decided, and for which reason."""
    reason = f": {opinion.reason}" if opinion.reason else ""
    return f"{opinion.letter}  {given_grade_name(scale, opinion.grade)}{reason}"


def opinion_tail(opinion: Opinion) -> str:
    r"""Write on one line what stands beside the decision: the note, and what was marked.

    Examples
    --------
    >>> from store.records import Passage, State
    >>> opinion_tail(Opinion("A", State.JUDGED, 2, "", "see\nbelow", (Passage(0, 3, "oak"),)))
    'see below "oak"'
    """
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
    """Return what happened to a disagreement before; empty = nothing.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> history_words(Disagreement((), 1, Settlement.CHANGED, 2, (0, 2)), parse_scale("0-2"))
    'changed since 0, 2 was settled as 2'
    """
    if found.status is Settlement.OPEN:
        return ""
    mark = given_grade_mark(scale, found.outcome)
    if found.status is Settlement.CHANGED:
        return f"changed since {marks(scale, found.outcome_on)} was settled as {mark}"
    return f"settled as {mark}"


def cell_name(cell: tuple[GivenGrade, GivenGrade], scale: Scale) -> str:
    """Name a cell of the kappa table.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> cell_name((0, None), parse_scale("0-2"))
    "0 / can't"
    """
    return " / ".join(given_grade_mark(scale, given_grade) for given_grade in cell)


def cell_words(count: CellCount, scale: Scale) -> str:
    """Return how many documents a cell has, how many are settled, and as what.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> cell_words(CellCount((0, 2), 5, 3, {2: 2, None: 1}), parse_scale("0-2"))
    "5 documents, 3 settled (as 2: 2, as can't: 1)"
    """
    outcomes = ", ".join(
        f"as {given_grade_mark(scale, given_grade)}: {count.outcomes[given_grade]}"
        for given_grade in in_order(count.outcomes)
    )
    more = f" ({outcomes})" if outcomes else ""
    return f"{counted(count.documents, 'document')}, {count.settled} settled{more}"
