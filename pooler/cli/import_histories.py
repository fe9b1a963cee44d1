"""What `pooler export judgements` wrote, back into a collection: every judge, all they said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.console import counted, say, warn
from pooler.cli.import_report import report_words, say_wait
from pooler.cli.judgement_sources import COLUMNS_HINT, UNKNOWN_HINT
from store.errors import ArgumentError, FaultList

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pooler.cli.judges import Kind
    from store.collection import Collection
    from store.formats.judgement_files import JudgementsFormat
    from store.records import JudgeKind

_NAMES_SHOWN = 8


def import_file(
    opened: Collection,
    file: str,
    form: JudgementsFormat,
    *,
    kind: Kind | None,
    allow_unknown: bool,
    replace: bool,
) -> None:
    """Import a file of judgements of every judge: whole histories, or current states.

    Judges who are new are of `kind`, or of the kind that the file says, or human; the others stay
    what they are.

    Raises
    ------
    FormatError
        With every fault of the file; a grade off the scale and an unknown topic or docno too.
    ArgumentError
        If `replace` is asked for a history, which is never changed.
    """
    from store.event_versions import KnownVersions
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
    said: dict[str, JudgeKind | None] = {}
    n_unknown = 0
    for line, one, kind_there in iterate_judgements(file, form, faults):
        before = faults.count
        if known_topics and one.topic not in known_topics:
            faults.add(line, f"unknown topic `{one.topic}`", "unknown-topic")
        if known_docnos and one.docno not in known_docnos:
            faults.add(line, f"unknown docno `{one.docno}`", "unknown-docno")
        n_unknown += faults.count - before
        if one.grade not in grades:
            message = f"expected a grade of the scale ({listed}), got {one.grade}"
            faults.add(line, message, "grade")
        said[one.judge] = kind_there or said.get(one.judge)
        if isinstance(one, JudgementEvent):
            events.append(one)
        else:
            states.append(one)
    if any(fault.code == "header" for fault in faults.kept):
        faults.hint = COLUMNS_HINT
    faults.raise_if_any(hint=UNKNOWN_HINT if n_unknown else None)
    if events and replace:
        requirement = "is for current judgements; a history is never changed, only continued"
        raise ArgumentError("--replace", requirement, None)
    if kind is not None:
        said = dict.fromkeys(said, JudgeKind(kind.value))
    there = {judge.name: judge.kind for judge in opened.judges() if judge.name in said}
    kinds = {name: one or JudgeKind.HUMAN for name, one in said.items()}
    say_wait(opened, len(events) + len(states))
    with opened.being_filled() as inside:
        keys = inside.session, inside.topics, inside.documents
        versions = KnownVersions(inside.session)
        n_unversioned = sum(versions.without_unknown(event) is not event for event in events)
        if events:
            report = import_histories(*keys, events, kinds)
        else:
            report = import_states(*keys, states, kinds, replace=replace)
    what = "event" if events else "judgement"
    say(f"{file}: {report_words(report, what)} of {counted(len(said), 'judge')}")
    _say_kinds(file, said, there, is_option=kind is not None)
    if any(event.sitting for event in events):
        say(f"{file}: which sitting an event is of was not kept")
    if n_unversioned:
        say(f"{file}: {counted(n_unversioned, 'event')} name versions of guidelines or topics that"
            " are not here; these were not kept")  # fmt: skip


def _say_kinds(
    file: str,
    said: Mapping[str, JudgeKind | None],
    there: Mapping[str, JudgeKind],
    *,
    is_option: bool,
) -> None:
    """Say of which judges nobody said what they are, and which are here as something else."""
    unsaid = [name for name, kind in said.items() if kind is None and name not in there]
    if unsaid:
        warn(f"{file}: no line says of what kind {_names_words(unsaid)} is; new judges are human"
             " without --kind")  # fmt: skip
    who = "--kind" if is_option else file
    for name, kind in sorted(said.items()):
        if kind is not None and there.get(name, kind) is not kind:
            warn(f"judge `{name}` stays {there[name]}, as here before; {who} says {kind}")


def _names_words(names: Iterable[str]) -> str:
    """Name judges, or the first of them where they are many."""
    listed = sorted(names)
    more = len(listed) - _NAMES_SHOWN
    words = ", ".join(f"`{name}`" for name in listed[:_NAMES_SHOWN])
    return words if more <= 0 else f"{words} and {more} more"
