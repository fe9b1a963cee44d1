"""What `pooler export judgements` wrote, back into a collection: every judge, all they said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.console import counted, say
from pooler.cli.import_report import report_words
from store.errors import ArgumentError, FaultList

if TYPE_CHECKING:
    from pooler.cli.judges import Kind
    from store.collection import Collection
    from store.formats.judgement_files import JudgementsFormat


def import_file(
    opened: Collection,
    file: str,
    form: JudgementsFormat,
    *,
    kind: Kind,
    allow_unknown: bool,
    replace: bool,
) -> None:
    """Import a file of judgements of every judge: whole histories, or current states.

    Raises
    ------
    FormatError
        With every fault of the file; a grade off the scale and an unknown topic or docno too.
    ArgumentError
        If `replace` is asked for a history, which is never changed.
    """
    from store.formats.judgement_files import iterate_judgements
    from store.formats.judgements import JudgementEvent
    from store.judgement_imports import import_histories, import_states
    from store.records import JudgeKind, Judgement

    faults = FaultList(file)
    known_topics = set() if allow_unknown else opened.listed_topics()
    known_docnos = set() if allow_unknown else opened.listed_docnos()
    grades = {None, *opened.scale.values}
    listed = ", ".join(map(str, opened.scale.values))
    events: list[JudgementEvent] = []
    states: list[Judgement] = []
    n_unknown = 0
    for line, one in iterate_judgements(file, form, faults):
        before = faults.count
        if known_topics and one.topic not in known_topics:
            faults.add(line, f"unknown topic `{one.topic}`", "unknown-topic")
        if known_docnos and one.docno not in known_docnos:
            faults.add(line, f"unknown docno `{one.docno}`", "unknown-docno")
        n_unknown += faults.count - before
        if one.grade not in grades:
            message = f"expected a grade of the scale ({listed}), got {one.grade}"
            faults.add(line, message, "grade")
        if isinstance(one, JudgementEvent):
            events.append(one)
        else:
            states.append(one)
    faults.raise_if_any(hint="--allow-unknown keeps them" if n_unknown == faults.count else None)
    if events and replace:
        requirement = "is for current judgements; a history is never changed, only continued"
        raise ArgumentError("--replace", requirement, None)
    judge_kind = JudgeKind(kind.value)
    with opened.being_filled() as inside:
        keys = inside.session, inside.topics, inside.documents
        if events:
            report = import_histories(*keys, events, judge_kind)
        else:
            report = import_states(*keys, states, judge_kind, replace=replace)
    names = {one.judge for one in events} | {one.judge for one in states}
    what = "event" if events else "judgement"
    say(f"{file}: {report_words(report, what)} of {counted(len(names), 'judge')}")
    if any(event.sitting for event in events):
        say(f"{file}: which sitting an event is of was not kept")
