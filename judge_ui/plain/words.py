"""Lines that only the line mode says: a document in a list, an event in a history."""

from __future__ import annotations

from judge_ui.messages import clock_time, counted, event_words, standing
from store.records import Event, Scale, State, Task
from store.sanitise import sanitise_line


def where_it_stands(task: Task, scale: Scale) -> str:
    """Say in brackets how a document stands that something was done to before.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> where_it_stands(Task("d1", State.JUDGED, 1, "odd", "", 1), parse_scale("binary"))
    ' (judged: 1 relevant) (note: odd)'
    """
    stands = [] if task.state is State.UNJUDGED else [standing(task, scale)]
    return "".join(f" ({one})" for one in stands + _remarks(task))


def list_line(place: int, task: Task, scale: Scale, *, is_here: bool) -> str:
    """Write one document of a list; its number is its place, from 1.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> task = Task("d4", State.UNJUDGED, None, "odd", "", 1)
    >>> list_line(3, task, parse_scale("binary"), is_here=True)
    '4 d4: no decision yet, note: odd, you are here'
    """
    stands = "no decision yet" if task.state is State.UNJUDGED else standing(task, scale)
    here = ["you are here"] if is_here else []
    return f"{place + 1} {sanitise_line(task.docno)}: {', '.join([stands, *_remarks(task), *here])}"


def event_line(event: Event, scale: Scale, *, named: bool) -> str:
    """Write one thing that was done.

    Parameters
    ----------
    event : Event
        What was done.
    scale : Scale
        The declared grades.
    named : bool
        Whether it stands among those of a sitting: with its topic and document, and the time of
        day alone. Otherwise it stands among those of a document: with the date, and where it was
        done if not in this sitting.
    """
    words = event_words(event, scale)
    if named:
        name = sanitise_line(f"{event.topic} {event.docno}")
        return f"{clock_time(event.judged_at)} {name}: {words}"
    host = f" on {sanitise_line(event.host)}" if event.host else ""
    elsewhere = "" if event.is_here else f" (in another sitting{host})"
    return f"{event.judged_at.astimezone():%Y-%m-%d %H:%M:%S} {words}{elsewhere}"


def _remarks(task: Task) -> list[str]:
    """Name the note and the passages of a document."""
    note = [f"note: {sanitise_line(task.note)}"] if task.note else []
    passages = [f"{counted(len(task.passages), 'passage')} marked"] if task.passages else []
    return note + passages
