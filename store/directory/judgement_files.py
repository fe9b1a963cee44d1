"""All judgements with their whole history, one event a line, in the order in which they were done.

That is the order of `store.histories.fetch_histories_of`: of time, and no row id shows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace

from store.directory.moving import Incoming, Outgoing
from store.formats.judgements import JudgementEvent, iterate_events, write_events
from store.histories import EventWriter, count_events, fetch_histories_of
from store.records import State
from store.rejudging import Why

JUDGEMENTS = "judgements.jsonl"


def write_judgements(out: Outgoing) -> None:
    """Write every event of every judge, in the order in which they were done.

    Notes and reasons are counted once, though a note stays with the events that follow it.
    """
    out.counts["events"] = count_events(out.session)
    notes: set[tuple[str, str, str, str]] = set()
    reasons: set[tuple[str, str, str, str]] = set()
    with (
        out.progress("judgements", out.counts["events"]) as advance,
        out.writer.text(JUDGEMENTS) as stream,
    ):

        def events() -> Generator[JudgementEvent, None, None]:
            keys = out.topic_keys, out.document_keys
            # Left open by an interruption, the query would outlive its connection.
            with closing(fetch_histories_of(out.session, *keys, names=out.judges)) as stored:
                for event in stored:
                    advance(1)
                    if out.wishes.notes:
                        own = event.topic, event.docno, event.judge
                        notes.update([(*own, event.note)] if event.note else ())
                        reasons.update([(*own, event.reason)] if _is_own_reason(event) else ())
                    yield _as_wished(out, event)

        with closing(events()) as written:
            write_events(written, stream)
    out.counts.update(notes=len(notes), reasons=len(reasons))


def _is_own_reason(event: JudgementEvent) -> bool:
    """Say whether an event has a reason in its judge's words: not why it was reopened."""
    is_reopened = event.state is State.UNJUDGED and set(event.reason.split()).issubset(Why)
    return bool(event.reason) and not is_reopened


def _as_wished(out: Outgoing, event: JudgementEvent) -> JudgementEvent:
    """Return an event without what is to be left out."""
    if not out.wishes.notes:
        event = replace(event, note="", reason="")
    if not out.wishes.texts and event.passages:
        event = replace(event, passages=tuple(replace(one, text="") for one in event.passages))
    if not out.disguise.is_on:
        return event
    return replace(
        event,
        judge=out.disguise.name(event.judge),
        iteration=out.disguise.iteration(event.iteration),
        display_order=out.disguise.order(event.display_order),
    )


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
    of_topic, newest = event.topic_version, coming.topic_versions.get(event.topic, 0)
    if of_topic is not None and newest and of_topic > newest:
        yield f"unknown version {of_topic} of topic `{event.topic}`"
    if sitting is not None and not sitting <= len(coming.sittings):
        yield f"unknown sitting {sitting}"
    elif sitting is not None and coming.sittings[sitting - 1] != event.judge:
        yield f"expected a sitting of judge `{event.judge}`, got {sitting}"
