"""Judges, sittings, terms, places, events; other names.

That is the order of `store.keeping.histories.fetch_histories_of`: of time, and no row id shows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from sqlalchemy import case, func, select

from store.db.columns import new_uid
from store.db.tables import ASSIGNMENT, ASSIGNMENT_PLAN, DOCUMENT, JUDGE, JUDGE_TERM, POOL, SITTING, TOPIC
from store.event import JudgementEvent
from store.fields import id_fault
from store.formats.judgements import iterate_events, write_events
from store.judging.erasing import fetch_erasures, removed_words
from store.judging.events import count_events
from store.judging.rejudging import Why
from store.judging.sittings import judge_called, order_of_sittings
from store.keeping.directory.pools import pool_names
from store.keeping.directory.tables import (
    DOCUMENT_OF,
    ID,
    JSON_TEXT,
    JUDGE_OF,
    MOST,
    TIME,
    TOPIC_OF,
    YES_NO,
    FileColumn,
    FileTable,
    Incoming,
    Kind,
    Outgoing,
    or_none,
    whole,
    word,
)
from store.keeping.histories import EventWriter, fetch_histories_of
from store.records import JudgeKind, Purpose, State
from store.text import natural_key

_UID_LENGTH = 16
_BATCH = 1000
JUDGES = FileTable(
    "judges.tsv",
    "judges",
    (
        FileColumn("judge", ID, into="name"),
        FileColumn("kind", word(JudgeKind), f" ({', '.join(JudgeKind)}), "),
        FileColumn("disabled", YES_NO),
        FileColumn("created_at", TIME),
        FileColumn("uid", about=" (the same in every backup of the collection), "),
        FileColumn("renamed_at", or_none(TIME)),
    ),
    into="judge",
    counts="judges",
    key=("name",),
    again="expected each judge once, got `{name}` again",
    numbers="judges",
    later={"uid": "", "renamed_at": None},
    is_needed=True,
)
ERASURES = FileTable(
    "erasures.tsv",
    "judges who were erased",
    (
        FileColumn("erased_at", TIME),
        FileColumn("kind", word(JudgeKind), ", how many "),
        FileColumn("judgements", whole(0), " and "),
        FileColumn("events", whole(0), " went with them, "),
        FileColumn("uid"),
    ),
    into="erasure",
    counts="erasures",
)
SITTINGS = FileTable(
    "sittings.tsv",
    "stretches of work at one terminal",
    (
        FileColumn("sitting", whole(1), into="id"),
        JUDGE_OF,
        FileColumn("started_at", TIME),
        FileColumn("seen_at", TIME, " (last sign of life), "),
        FileColumn("ended_at", or_none(TIME)),
        FileColumn("host"),
        FileColumn("process", whole()),
        FileColumn("program"),
        FileColumn("topic", or_none(ID), into="topic_id", of="topics"),
        FileColumn("window", or_none(ID), " (of a page)"),
    ),
    into="sitting",
    counts="sittings",
    later={"window": None},
)
TERMS = FileTable(
    "terms.jsonl",
    "words that judges had marked in documents",
    (
        FileColumn("judge", JSON_TEXT, into="judge_id", of="judges"),
        FileColumn("topic", JSON_TEXT, into="topic_id", of="topics"),
        FileColumn("terms", Kind(types=(list,))),
    ),
    key=("judge_id", "topic_id"),
    again="expected each judge and topic once",
    shape="expected a judge, a topic, and a list of terms",
)
PLANS = FileTable(
    "assignment_plans.jsonl",
    "how documents were assigned",
    (
        FileColumn("plan", Kind(types=(int,)), into="id"),
        FileColumn("lease_s", Kind(types=(int, type(None)))),
        FileColumn("created_at", TIME),
        FileColumn("manifest", Kind(read=lambda plan: json.dumps(plan, sort_keys=True), types=(dict,))),
    ),
    into="assignment_plan",
    shape="expected plan {plan}: lease_s, created_at and manifest",
)
ASSIGNMENTS = FileTable(
    "assignments.tsv",
    "who was to judge what",
    (
        TOPIC_OF,
        DOCUMENT_OF,
        replace(JUDGE_OF, kind=or_none(ID), about=" (empty = whoever comes), "),
        FileColumn("position", whole()),
        FileColumn("purpose", word(Purpose)),
        FileColumn("lease_until", or_none(TIME)),
        FileColumn("plan", or_none(whole()), into="plan_id"),
        FileColumn("display_order"),
    ),
    into="assignment",
    counts="assignments",
    key=("topic_id", "document_id", "judge_id"),
    again="expected one place of a judge at a document, got another",
)
JUDGEMENTS = FileTable(
    "judgements.jsonl",
    "every judgement with its whole history, one JSON object an event, in the order in which they were done;"
    " the highest `revision` of a topic, docno and judge is the current state",
    into="judgement",
    counts="events",
)


def write_judges(out: Outgoing) -> None:
    """Write every judge, by name; of those with new names, nothing that tells who it is."""
    hidden = {"created_at": out.about.created_at, "uid": "", "renamed_at": None}
    rows = [
        {**row, "name": out.judges[row["id"]], **(hidden if out.export_choice.anonymised else {})}
        for row in out.session.execute(select(JUDGE)).mappings()
    ]
    rows.sort(key=lambda row: natural_key(row["name"]))
    JUDGES.write(out, rows)
    kinds = Counter(row["kind"] for row in rows)
    out.how.extend(f"Judges of kind {kind}: {n:,}." for kind, n in sorted(kinds.items()))


def read_judges(coming: Incoming) -> None:
    """Read what `write_judges` wrote; who has no identity gets one."""
    JUDGES.fill(coming, partial(_take_uid, coming))


def write_erasures(out: Outgoing) -> None:
    """Write what is left of judges who were erased; of anonymous ones without their identity."""
    found = fetch_erasures(out.session)
    if not found:
        return
    hidden = {"uid": ""} if out.export_choice.anonymised else {}
    rows = ({**asdict(one), "kind": one.kind.value, **hidden} for one in found)
    ERASURES.write(out, rows)
    out.counts["erased_judgements"] = sum(one.judgements for one in found)
    where = f" (`{ERASURES.file}`)" * out.writer.keeps(ERASURES.file)
    out.how.append(f"Erased: {removed_words(one.judgements for one in found)}{where}.")


def read_erasures(coming: Incoming) -> None:
    """Read what `write_erasures` wrote."""

    def take(row: dict[str, Any]) -> str | None:
        if row["judgements"] > row["events"]:
            return f"expected at least {row['judgements']} events, got {row['events']}"
        return _take_uid(coming, row)

    ERASURES.fill(coming, take)


def _take_uid(coming: Incoming, row: dict[str, Any]) -> str | None:
    """Make an identity where a row has none; say why one cannot be, or comes again."""
    row["uid"] = uid = row["uid"] or new_uid()
    if id_fault(uid) or len(uid) > _UID_LENGTH:
        return f"`uid`: expected a word of {_UID_LENGTH} characters, got {uid!r}"
    if uid in coming.uids:
        return f"expected each uid once, got {uid} again"
    coming.uids.add(uid)
    return None


def write_sittings(out: Outgoing) -> None:
    """Write every sitting, in the order in which they began; without host where names are new."""
    order = order_of_sittings(out.session, out.judges)
    query = select(SITTING).join(JUDGE, JUDGE.c.id == SITTING.c.judge_id).order_by(*order)
    rows = enumerate(out.session.execute(query).mappings(), start=1)
    hidden = {"host": "", "process": 0, "window": None} if out.export_choice.anonymised else {}
    SITTINGS.write(out, ({**row, "id": number, **hidden} for number, row in rows))


def read_sittings(coming: Incoming) -> None:
    """Read what `write_sittings` wrote."""
    names = {row_id: name for name, row_id in coming.judges.items()}

    def take(row: dict[str, Any]) -> str | None:
        coming.sittings.append(names.get(row["judge_id"], ""))
        number = len(coming.sittings)
        return None if row["id"] == number else f"expected sitting {number}, got {row['id']}"

    SITTINGS.fill(coming, take)


def write_terms(out: Outgoing) -> None:
    """Write the words that judges want marked; none where judges have new names."""
    out.counts["terms"] = 0
    if out.export_choice.anonymised:
        return
    terms: dict[tuple[int, int], list[str]] = {}
    for row in out.session.execute(select(JUDGE_TERM).order_by(JUDGE_TERM.c.position)):
        terms.setdefault((row.judge_id, row.topic_id), []).append(row.term)
    in_order = sorted(
        terms, key=lambda key: (natural_key(out.judges[key[0]]), natural_key(out.topics[key[1]]))
    )
    out.counts["terms"] = sum(map(len, terms.values()))
    TERMS.write(out, ({"judge_id": one, "topic_id": two, "terms": terms[one, two]} for one, two in in_order))


def read_terms(coming: Incoming) -> None:
    """Read what `write_terms` wrote."""

    def rows() -> Iterator[dict[str, Any]]:
        for line, row in TERMS.read(coming):
            terms = row.pop("terms")
            if not all(isinstance(term, str) for term in terms):
                coming.tell(TERMS.file, line, TERMS.shape)
                continue
            yield from ({**row, "position": place, "term": term} for place, term in enumerate(terms))

    coming.insert(JUDGE_TERM, rows())


def write_assignments(out: Outgoing) -> None:
    """Write every plan, the oldest first, and every place: by plan, topic and position."""
    age = (ASSIGNMENT_PLAN.c.created_at, ASSIGNMENT_PLAN.c.manifest, ASSIGNMENT_PLAN.c.id)
    plans = list(out.session.execute(select(ASSIGNMENT_PLAN).order_by(*age)))
    numbers = {row.id: number for number, row in enumerate(plans, start=1)}
    PLANS.write(
        out,
        (
            {**row._mapping, "id": numbers[row.id], "manifest": _plan_manifest(out, json.loads(row.manifest))}
            for row in plans
        ),
    )
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
        ASSIGNMENTS.write(out, rows)


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

    def take_plan(row: dict[str, Any]) -> str | None:
        if row["id"] != coming.n_plans + 1 or abs(row["lease_s"] or 0) > MOST:
            return PLANS.shape.format(plan=coming.n_plans + 1)
        coming.n_plans += 1
        return None

    def take_place(row: dict[str, Any]) -> str | None:
        plan = row["plan_id"]
        return None if plan is None or 1 <= plan <= coming.n_plans else f"unknown plan {plan}"

    PLANS.fill(coming, take_plan)
    ASSIGNMENTS.fill(coming, take_place)


def write_judgements(out: Outgoing) -> None:
    """Write every event of every judge, in the order in which they were done.

    Notes and reasons are counted once, though a note stays with the events that follow it.
    """
    out.counts["events"] = count_events(out.session)
    notes: set[tuple[str, str, str, str]] = set()
    reasons: set[tuple[str, str, str, str]] = set()
    with (
        out.progress("judgements", out.counts["events"]) as advance,
        out.writer.text(JUDGEMENTS.file) as stream,
    ):

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
    file = JUDGEMENTS.file
    writer = EventWriter(coming.session)
    with coming.progress("judgements", coming.counts.get("events", 0)) as advance:
        for line, event in iterate_events(coming.path(file), coming.faults.of(file)):
            advance(1)
            known = (
                coming.known(file, line, "topic", event.topic, coming.topics),
                coming.known(file, line, "docno", event.docno, coming.documents),
                coming.known(file, line, "judge", event.judge, coming.judges),
            )
            for message in _faults_of(coming, event):
                coming.tell(file, line, message)
            # After a fault nothing is kept of what is read: it is read for further faults alone.
            if not len(coming.faults):
                writer.add(known, event, event.sitting)
    if not len(coming.faults):
        writer.flush()


def _faults_of(coming: Incoming, event: JudgementEvent) -> Iterator[str]:
    """Say what an event refers to that is not there."""
    if fault := coming.grade_fault(event.grade):
        yield fault
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
