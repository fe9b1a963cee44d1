"""All judgements with their whole history, one event a line, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from store.directory.moving import Incoming, Outgoing
from store.formats.judgements import JudgementEvent, iterate_events, write_events
from store.histories import EventWriter, count_events, fetch_histories_of

JUDGEMENTS = "judgements.jsonl"


def write_judgements(out: Outgoing) -> None:
    """Write every event of every judge, in the order in which they were written."""
    out.counts["events"] = count_events(out.session)
    with (
        out.progress("judgements", out.counts["events"]) as advance,
        out.writer.text(JUDGEMENTS) as stream,
    ):

        def events() -> Iterator[JudgementEvent]:
            keys = out.topic_keys, out.document_keys
            for event in fetch_histories_of(out.session, *keys):
                advance(1)
                if out.disguise.is_on or not out.wishes.notes:
                    yield replace(
                        event,
                        judge=out.disguise.name(event.judge),
                        iteration=out.disguise.iteration(event.iteration),
                        note=event.note if out.wishes.notes else "",
                    )
                else:
                    yield event

        write_events(events(), stream)


def read_judgements(coming: Incoming) -> None:
    """Read what `write_judgements` wrote."""
    faults = coming.faults.of(JUDGEMENTS)
    writer = EventWriter(coming.session)
    with coming.progress("judgements", coming.counts.get("events", 0)) as advance:
        for line, event in iterate_events(coming.path(JUDGEMENTS), faults):
            advance(1)
            known = (
                coming.known(JUDGEMENTS, line, "topic", event.topic, coming.topics),
                coming.known(JUDGEMENTS, line, "docno", event.docno, coming.documents),
                coming.known(JUDGEMENTS, line, "judge", event.judge, coming.judges),
            )
            for message in _faults_of(coming, event):
                faults.add(line, message, "unknown")
            # After a fault nothing is kept of what is read: it is read for further faults alone.
            if not len(coming.faults):
                writer.add(known, event, event.sitting)
    if not len(coming.faults):
        writer.flush()


def _faults_of(coming: Incoming, event: JudgementEvent) -> Iterator[str]:
    """Say what an event refers to that is not there."""
    if event.grade is not None and event.grade not in coming.scale.values:
        values = ", ".join(map(str, coming.scale.values))
        yield f"expected a grade of the scale ({values}), got {event.grade}"
    version, sitting = event.guideline_version, event.sitting
    if version is not None and version not in coming.guidelines:
        yield f"unknown version {version} of the guidelines"
    if sitting is not None and not sitting <= len(coming.sittings):
        yield f"unknown sitting {sitting}"
    elif sitting is not None and coming.sittings[sitting - 1] != event.judge:
        yield f"expected a sitting of judge `{event.judge}`, got {sitting}"
