"""Judges, sittings, terms, places, events; other names.

That is the order of `store.keeping.histories.fetch_histories_of`: of time, and no row id shows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any

from sqlalchemy import case, func, select

from store.db.columns import new_uid
from store.db.tables import (
    ASSIGNMENT,
    ASSIGNMENT_PLAN,
    DOCUMENT,
    ERASURE,
    JUDGE,
    JUDGE_TERM,
    POOL,
    SITTING,
    TOPIC,
)
from store.errors import FaultList
from store.event import JudgementEvent
from store.fields import id_fault
from store.formats.json_lines import json_line
from store.formats.judgements import iterate_events, write_events
from store.formats.lines import read_text_lines
from store.judging.erasing import fetch_erasures, removed_words
from store.judging.events import count_events
from store.judging.rejudging import Why
from store.keeping.directory.pools import pool_names
from store.keeping.directory.tables import (
    DOCUMENT_OF,
    JUDGE_OF,
    TOPIC_OF,
    CellError,
    FileTable,
    Incoming,
    Outgoing,
    as_moment,
    id_column,
    integer_column,
    moment_column,
    moment_text,
    or_none,
    text_column,
    word_column,
    yes_no_column,
)
from store.keeping.histories import EventWriter, fetch_histories_of, judge_called, order_of_sittings
from store.records import JudgeKind, Purpose, State
from store.text import natural_key

JUDGES = "judges.tsv"
ERASURES = "erasures.tsv"
_UID_LENGTH = 16
_KINDS = tuple(kind.value for kind in JudgeKind)
_JUDGES = FileTable(
    (
        id_column("judge", into="name"),
        word_column("kind", _KINDS),
        yes_no_column("disabled"),
        moment_column("created_at"),
        text_column("uid"),
        or_none(moment_column("renamed_at")),
    )
)
_OLD_JUDGES = FileTable(_JUDGES.columns[:4])
"""Of directories written before a judge was the same in all copies of a collection."""
_ERASURES = FileTable(
    (
        moment_column("erased_at"),
        word_column("kind", _KINDS),
        integer_column("judgements", least=0),
        integer_column("events", least=0),
        text_column("uid"),
    )
)


def write_judges(out: Outgoing) -> None:
    """Write every judge, by name; of those with new names, nothing that tells who it is."""
    hidden = {"created_at": out.created_at, "uid": "", "renamed_at": None}
    rows = [
        {**row, "name": out.judges[row["id"]], **(hidden if out.export_choice.anonymised else {})}
        for row in out.session.execute(select(JUDGE)).mappings()
    ]
    rows.sort(key=lambda row: natural_key(row["name"]))
    out.counts["judges"] = _JUDGES.write(out, JUDGES, rows)
    kinds = Counter(row["kind"] for row in rows)
    out.how.extend(f"Judges of kind {kind}: {n:,}." for kind, n in sorted(kinds.items()))


def read_judges(coming: Incoming) -> None:
    """Read what `write_judges` wrote; who has no identity gets one."""
    faults = coming.faults.of(JUDGES)
    table = _OLD_JUDGES if _is_old(coming.path(JUDGES)) else _JUDGES

    def rows() -> Iterator[dict[str, Any]]:
        for line, row in table.read(coming, JUDGES):
            about = {"uid": "", "renamed_at": None, **row}
            name = row["name"]
            if name in coming.judges:
                faults.add(line, f"expected each judge once, got `{name}` again", "duplicate")
            elif _takes_uid(coming, line, about, faults):
                coming.judges[name] = len(coming.judges) + 1
                yield {"id": coming.judges[name], **about}

    coming.insert(JUDGE, rows())


def _is_old(path: str) -> bool:
    """Say whether a list of judges has the columns of old."""
    first = next((line for _, line in read_text_lines(path, FaultList(path))), "")
    return first.split("\t") == [column.name for column in _OLD_JUDGES.columns]


def write_erasures(out: Outgoing) -> None:
    """Write what is left of judges who were erased; of anonymous ones without their identity."""
    found = fetch_erasures(out.session)
    if not found:
        return
    hidden = {"uid": ""} if out.export_choice.anonymised else {}
    rows = ({**asdict(one), "kind": one.kind.value, **hidden} for one in found)
    out.counts["erasures"] = _ERASURES.write(out, ERASURES, rows)
    out.counts["erased_judgements"] = sum(one.judgements for one in found)
    out.how.append(f"Erased: {removed_words(one.judgements for one in found)} (`{ERASURES}`).")


def read_erasures(coming: Incoming) -> None:
    """Read what `write_erasures` wrote."""
    if ERASURES not in coming.files:
        return
    faults = coming.faults.of(ERASURES)

    def rows() -> Iterator[dict[str, Any]]:
        for line, about in _ERASURES.read(coming, ERASURES):
            if about["judgements"] > about["events"]:
                message = f"expected at least {about['judgements']} events, got {about['events']}"
                faults.add(line, message, "value")
            elif _takes_uid(coming, line, about, faults):
                yield about

    coming.insert(ERASURE, rows())


def _takes_uid(coming: Incoming, line: int, values: dict[str, Any], faults: FaultList) -> bool:
    """Make an identity where a row has none; tell one that cannot be, or comes again."""
    values["uid"] = uid = values["uid"] or new_uid()
    if id_fault(uid) or len(uid) > _UID_LENGTH:
        faults.add(line, f"`uid`: expected a word of {_UID_LENGTH} characters, got {uid!r}", "uid")
        return False
    if uid in coming.uids:
        faults.add(line, f"expected each uid once, got {uid} again", "duplicate")
        return False
    coming.uids.add(uid)
    return True


SITTINGS = "sittings.tsv"
TERMS = "terms.jsonl"
PLANS = "assignment_plans.jsonl"
ASSIGNMENTS = "assignments.tsv"
_BATCH = 1000
_MOST = 2**31 - 1
_SITTINGS = FileTable(
    (
        integer_column("sitting", least=1, into="id"),
        JUDGE_OF,
        moment_column("started_at"),
        moment_column("seen_at"),
        or_none(moment_column("ended_at")),
        text_column("host"),
        integer_column("process"),
        text_column("program"),
        or_none(replace(id_column("topic"), of="topics", into="topic_id")),
    )
)
_ASSIGNMENTS = FileTable(
    (
        TOPIC_OF,
        DOCUMENT_OF,
        or_none(JUDGE_OF),
        integer_column("position"),
        word_column("purpose", [purpose.value for purpose in Purpose]),
        or_none(moment_column("lease_until")),
        or_none(integer_column("plan", into="plan_id")),
        text_column("display_order"),
    )
)


def write_sittings(out: Outgoing) -> None:
    """Write every sitting, in the order in which they began; without host where names are new."""
    out.counts["sittings"] = out.session.scalar(select(func.count()).select_from(SITTING)) or 0
    if not out.counts["sittings"]:
        return
    order = order_of_sittings(out.session, out.judges)
    query = select(SITTING).join(JUDGE, JUDGE.c.id == SITTING.c.judge_id).order_by(*order)
    rows = enumerate(out.session.execute(query).mappings(), start=1)
    hidden = {"host": "", "process": 0} if out.export_choice.anonymised else {}
    _SITTINGS.write(out, SITTINGS, ({**row, "id": number, **hidden} for number, row in rows))


def read_sittings(coming: Incoming) -> None:
    """Read what `write_sittings` wrote."""
    if SITTINGS not in coming.files:
        return
    faults = coming.faults.of(SITTINGS)
    names = {row_id: name for name, row_id in coming.judges.items()}

    def rows() -> Iterator[dict[str, Any]]:
        for line, row in _SITTINGS.read(coming, SITTINGS):
            coming.sittings.append(names.get(row["judge_id"], ""))
            if row["id"] != len(coming.sittings):
                message = f"expected sitting {len(coming.sittings)}, got {row['id']}"
                faults.add(line, message, "order")
            yield row

    coming.insert(SITTING, rows())


def write_terms(out: Outgoing) -> None:
    """Write the words that judges want marked; none where judges have new names."""
    out.counts["terms"] = 0
    if out.export_choice.anonymised:
        return
    rows = sorted(
        (
            natural_key(out.judges[row.judge_id]),
            natural_key(out.topics[row.topic_id]),
            row.position,
            out.judges[row.judge_id],
            out.topics[row.topic_id],
            row.term,
        )
        for row in out.session.execute(select(JUDGE_TERM))
    )
    if not rows:
        return
    out.counts["terms"] = len(rows)
    with out.writer.text(TERMS) as stream:
        for (judge, topic), some in groupby(rows, key=lambda row: row[3:5]):
            values = {"judge": judge, "topic": topic, "terms": [row[5] for row in some]}
            stream.write(json_line(values) + "\n")


def read_terms(coming: Incoming) -> None:
    """Read what `write_terms` wrote."""
    if TERMS not in coming.files:
        return
    faults = coming.faults.of(TERMS)
    seen: set[tuple[str, str]] = set()

    def rows() -> Iterator[dict[str, Any]]:
        for line, values in coming.objects(TERMS):
            match values:
                case {"judge": str(judge), "topic": str(topic), "terms": list(terms)} if all(
                    isinstance(term, str) for term in terms
                ):
                    judge_id = coming.known(TERMS, line, "judge", judge, coming.judges)
                    topic_id = coming.known(TERMS, line, "topic", topic, coming.topics)
                case _:
                    faults.add(line, "expected a judge, a topic, and a list of terms", "fields")
                    continue
            if (judge, topic) in seen:
                faults.add(line, "expected each judge and topic once", "duplicate")
                continue
            seen.add((judge, topic))
            for position, term in enumerate(terms):
                own = {"judge_id": judge_id, "topic_id": topic_id}
                yield {**own, "position": position, "term": term}

    coming.insert(JUDGE_TERM, rows())


def write_assignments(out: Outgoing) -> None:
    """Write every plan, the oldest first, and every place: by plan, topic and position."""
    age = (ASSIGNMENT_PLAN.c.created_at, ASSIGNMENT_PLAN.c.manifest, ASSIGNMENT_PLAN.c.id)
    plans = list(out.session.execute(select(ASSIGNMENT_PLAN).order_by(*age)))
    numbers = {row.id: number for number, row in enumerate(plans, start=1)}
    out.counts["assignments"] = out.session.scalar(select(func.count()).select_from(ASSIGNMENT)) or 0
    if plans:
        with out.writer.text(PLANS) as stream:
            for row in plans:
                values = {
                    "plan": numbers[row.id],
                    "lease_s": row.lease_s,
                    "created_at": moment_text(row.created_at),
                    "manifest": _plan_manifest(out, json.loads(row.manifest)),
                }
                stream.write(json_line(values) + "\n")
    if not out.counts["assignments"]:
        return
    called = func.coalesce(judge_called(out.session, out.judges), "")
    plan = case({0: 0, **numbers}, value=ASSIGNMENT.c.plan_id, else_=0)
    query = (
        select(ASSIGNMENT)
        .join(TOPIC, TOPIC.c.id == ASSIGNMENT.c.topic_id)
        .join(DOCUMENT, DOCUMENT.c.id == ASSIGNMENT.c.document_id)
        .outerjoin(JUDGE, JUDGE.c.id == ASSIGNMENT.c.judge_id)
        .order_by(
            plan,
            TOPIC.c.number,
            ASSIGNMENT.c.position,
            DOCUMENT.c.docno,
            called,
            ASSIGNMENT.c.purpose,
            ASSIGNMENT.c.id,
        )
    )
    options = {"yield_per": _BATCH}
    with out.session.connection().execute(query, execution_options=options) as result:
        rows = (
            {
                **row,
                "plan_id": numbers.get(row["plan_id"]),
                "display_order": out.disguise.order(row["display_order"]),
            }
            for row in result.mappings()
        )
        _ASSIGNMENTS.write(out, ASSIGNMENTS, rows)


def _plan_manifest(out: Outgoing, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a plan as it is written: keys sorted, judges and pools as named."""
    if out.disguise.is_on:
        # With the seed, and a name that is guessed, a judge's order could be drawn again.
        manifest = {key: value for key, value in manifest.items() if key != "seed"}
    if out.disguise.is_on and isinstance(manifest.get("pools"), list):
        old = out.session.execute(select(POOL.c.name, POOL.c.id))
        ids: dict[str, int] = dict(map(tuple, old))
        names = pool_names(out)
        pools = [names[ids[name]] if name in ids else name for name in manifest["pools"]]
        manifest = {**out.disguise.manifest({**manifest, "pools": []}), "pools": pools}
    else:
        manifest = out.disguise.manifest(manifest)
    return dict(sorted(manifest.items()))


def read_assignments(coming: Incoming) -> None:
    """Read what `write_assignments` wrote."""
    if PLANS in coming.files:
        coming.insert(ASSIGNMENT_PLAN, _plan_rows(coming))
    if ASSIGNMENTS in coming.files:
        coming.insert(ASSIGNMENT, _assignment_rows(coming))


def _plan_rows(coming: Incoming) -> Iterator[dict[str, Any]]:
    """Yield the rows of plans."""
    faults = coming.faults.of(PLANS)
    for line, values in coming.objects(PLANS):
        match values:
            case {
                "plan": int(number),
                "lease_s": int() | None as lease_s,
                "created_at": str(created_at),
                "manifest": dict(manifest),
            } if number == coming.n_plans + 1 and -_MOST <= (lease_s or 0) <= _MOST:
                coming.n_plans = number
            case _:
                message = f"expected plan {coming.n_plans + 1}: lease_s, created_at and manifest"
                faults.add(line, message, "fields")
                continue
        try:
            moment = as_moment(created_at)
        except CellError as error:
            faults.add(line, f"`created_at`: {error}", "value")
            continue
        text = json.dumps(manifest, sort_keys=True)
        yield {"id": number, "lease_s": lease_s, "created_at": moment, "manifest": text}


def _assignment_rows(coming: Incoming) -> Iterator[dict[str, Any]]:
    """Yield the rows of places."""
    faults = coming.faults.of(ASSIGNMENTS)
    seen: set[tuple[int, int, int]] = set()
    for line, row in _ASSIGNMENTS.read(coming, ASSIGNMENTS):
        plan, judge_id = row["plan_id"], row["judge_id"]
        if plan is not None and not 1 <= plan <= coming.n_plans:
            faults.add(line, f"unknown plan {plan}", "unknown")
        if judge_id:
            place = row["topic_id"], row["document_id"], judge_id
            if place in seen:
                message = "expected one place of a judge at a document, got another"
                faults.add(line, message, "duplicate")
            seen.add(place)
        yield row


JUDGEMENTS = "judgements.jsonl"


def write_judgements(out: Outgoing) -> None:
    """Write every event of every judge, in the order in which they were done.

    Notes and reasons are counted once, though a note stays with the events that follow it.
    """
    out.counts["events"] = count_events(out.session)
    notes: set[tuple[str, str, str, str]] = set()
    reasons: set[tuple[str, str, str, str]] = set()
    with out.progress("judgements", out.counts["events"]) as advance, out.writer.text(JUDGEMENTS) as stream:

        def events() -> Generator[JudgementEvent, None, None]:
            keys = out.topic_keys, out.document_keys
            # Left open by an interruption, the query would outlive its connection.
            with closing(fetch_histories_of(out.session, *keys, names=out.judges)) as stored:
                for event in stored:
                    advance(1)
                    if out.export_choice.notes:
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
    if not out.export_choice.notes:
        event = replace(event, note="", reason="")
    if not out.export_choice.texts and event.passages:
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
