"""A judge's work on a page: what the page begins its file with, and the file done again at the judge's desk.

The file has one JSON object a line: the head, then one record an event, then a checksum. The head says of
which collection and judge the page is, when it was made, and in which versions it showed what. A record says
what the judge did; all that follows from it (the state, the round) comes from the desk. It is known again by
its window and number, of which its moment tells as much: moments of a page ascend. The head is signed with
the collection's secret, so that no judge can put another one's name on a page; the checksum shows damage.
"""

from __future__ import annotations

import hmac
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Engine, Row, select, update
from sqlmodel import Session

from store.content.lookup import rows_by_key
from store.content.pools import pooled_pairs
from store.db.columns import insert_row
from store.db.engine import database_now, reading, writing
from store.db.tables import (
    COLLECTION,
    DOCUMENT,
    DOCUMENT_METADATA,
    GUIDELINE,
    JUDGE,
    JUDGEMENT,
    SITTING,
    TOPIC,
)
from store.errors import ArgumentError, ConflictError, Fault, FaultList, FormatError, StoreError
from store.event import STATE_OF
from store.fields import checked_values
from store.formats.json_lines import NoObjectError, json_line, read_json_object
from store.formats.markup import readable
from store.judging.desk import Desk, fetch_pooled
from store.judging.events import DECIDES, Pair, as_raw, deciding_events, fetch_histories, is_same_decision
from store.judging.judges import judge_named, lock_judge
from store.judging.page_records import RECORD, action_fault, decision_of
from store.records import DECIDED, Action, JudgeKind, Scale, State
from store.text import Readable

FORMAT = "pooler work 1"
_BEGINS = '{"format": "pooler work '
PROGRAM = "pooler page"
_AGAIN = "nothing of it was imported: save the file again in the page, and send it as it is"
_UNSIGNED = (
    "nothing of it was imported; where another copy of the collection made the page, import it there,"
    " then pooler export judgements JUDGE --history --out FILE there,"
    " and pooler import judgements FILE --as jsonl here"
)
_OTHERWISE = "expected what was imported before of this moment, got something else"
_SHOWN = 25


Prefer = Literal["page", "stored"]
"""Which of two decisions of a judge on a document stands: on the page, or elsewhere meanwhile."""


@dataclass(slots=True)
class WorkDone:
    """What was taken in of a page's file."""

    judge: str
    new: int = 0
    there: int = 0
    """Records that were taken in before."""
    overruled: int = 0
    """New decisions that were noted, and taken back at once: what was decided elsewhere stands."""
    outside: int = 0
    """Documents that left the pool, or are other judges' now: judged outside the pool."""
    refused: list[dict[str, Any]] = field(default_factory=list)
    """Records that cannot be stored, as they came, each with its reason under `refused`."""


def collection_uid(session: Session) -> str:
    """Return what distinguishes a collection from others of its name, and is the same in its backups."""
    about = COLLECTION.c
    name, made = session.execute(select(about.name, about.created_at)).one()
    return sha256(f"{name}\n{made.isoformat()}".encode()).hexdigest()[:16]


def _signature(session: Session, head: Mapping[str, Any]) -> bytes:
    """Sign a head, as it is written, with what only the collection has."""
    written = json_line({name: value for name, value in head.items() if name != "signature"})
    secret = session.scalar(select(COLLECTION.c.secret)) or ""
    return hmac.new(secret.encode(), written.encode(errors="surrogatepass"), sha256).hexdigest().encode()


def head_of(
    session: Session,
    judge: str,
    *,
    guidelines: int | None,
    topics: Mapping[str, int],
    hashes: Mapping[str, str | None],
) -> str:
    """Write the first line of what a page saves: versions of what it shows, hashes of texts by docno."""
    ids = {
        row.id: docno for docno, row in rows_by_key(session, hashes, DOCUMENT.c.docno, DOCUMENT.c.id).items()
    }
    markup = rows_by_key(session, ids, DOCUMENT_METADATA.c.document_id, DOCUMENT_METADATA.c.markup)
    forms = {ids[number]: row.markup for number, row in markup.items()}
    head = {
        "format": FORMAT,
        "collection": collection_uid(session),
        "judge": judge_named(session, judge, "uid").uid,
        # Browsers tell milliseconds.
        "made_at": database_now(session).isoformat(timespec="milliseconds"),
        "guidelines": guidelines,
        "topics": dict(topics),
        "documents": {docno: [digest, forms.get(docno)] for docno, digest in hashes.items()},
    }
    head["signature"] = _signature(session, head).decode()
    return json_line(head).replace("<", "\\u003c")


@dataclass(frozen=True, slots=True)
class _Record:
    """One thing done on a page."""

    line: int
    line_values: dict[str, Any]
    """As it came."""
    known: dict[str, Any]
    """The same as values."""

    @property
    def document(self) -> tuple[str, str]:
        return self.known["topic"], self.known["docno"]

    @property
    def key(self) -> tuple[str, datetime]:
        """What it is known again by."""
        return self.known["window"], self.known["judged_at"]


def import_work(
    engine: Engine,
    scale: Scale,
    file: Path,
    *,
    prefer: Prefer | None = None,
    keep: Callable[[list[dict[str, Any]]], None] | None = None,
) -> WorkDone:
    """Repeat, as the judge of a page, what the page saved: all of it in one transaction.

    What is there already is passed over. `FormatError`, with every fault: the file is not as the page wrote
    it, says what no page could, or says otherwise of a moment than what came in before. `ConflictError`: it
    is of another collection, or the judge decided otherwise elsewhere since the page was made, and `prefer`
    does not say what stands. `keep` is called with what cannot be stored, if there is any, before the rest
    is: a kill in between loses nothing of it.
    """
    faults = FaultList(str(file))
    head, records = _read(file, faults)
    with reading(engine) as session:
        if head.get("collection") != collection_uid(session):
            message = f"{file} is of another collection"
            raise ConflictError(message, hint="--collection names the one that the page was made of")
        signature = str(head.get("signature")).encode(errors="replace")
        if not hmac.compare_digest(signature, _signature(session, head)):
            message = f"{file} begins with a head that this collection did not sign"
            raise ConflictError(message, hint=_UNSIGNED)
        judge = session.execute(select(JUDGE).where(JUDGE.c.uid == head["judge"])).first()
        now = database_now(session)
    if judge is None:
        message = f"{file} is of a judge who is no longer in the collection"
        raise StoreError(message, hint="nothing of it was imported")
    if judge.kind not in (JudgeKind.HUMAN, JudgeKind.IMPORTED):
        message = f"{file} is of `{judge.name}`, who is of kind {judge.kind}: only people judge on a page"
        raise StoreError(message)
    head["made_at"] = datetime.fromisoformat(head["made_at"])
    _check(head, records, now, faults)
    desk = _PageDesk(engine, judge.name, scale, head, prefer, faults)
    with writing(engine) as session:
        done = desk.take(session, records)
        faults.raise_if_any(hint=_AGAIN)
        if keep is not None and done.refused:
            keep(done.refused)
    return done


def _read(file: Path, faults: FaultList) -> tuple[dict[str, Any], list[_Record]]:
    """Return the head as it came, and the records, of a file that is whole; their faults go to `faults`."""
    body, _, seal = file.read_bytes().removesuffix(b"\n").rpartition(b"\n")
    if not body.startswith(_BEGINS.encode()) and not seal.startswith(_BEGINS.encode()):
        expected = "expected what a page saved"
        raise FormatError(str(file), [Fault(1, expected, "page")], hint="pooler export work makes the page")
    if seal != b'{"crc32": "%08x"}' % zlib.crc32(body + b"\n"):
        expected = "expected what the page saved, got a file that was changed, or cut, since"
        raise FormatError(str(file), [Fault(None, expected, "page")], hint=_AGAIN)
    head: dict[str, Any] = {}
    records = []
    for line, text in enumerate(body.decode("utf-8", "replace").split("\n"), start=1):
        try:
            values = read_json_object(text)
        except NoObjectError as error:
            faults.add(line, str(error), "json")
            continue
        if line > 1:
            if known := checked_values(values, RECORD, line, faults):
                records.append(_Record(line, values, known))
            continue
        head = values
        if head.get("format") != FORMAT:
            faults.add(1, f"expected the format `{FORMAT}`, got `{head.get('format')}`", "format")
    faults.raise_if_any(hint=_AGAIN)
    return head, records


def _check(head: Mapping[str, Any], records: Iterable[_Record], now: datetime, faults: FaultList) -> None:
    """Refuse records that no page could have written after those before them."""
    revisions: dict[tuple[str, str], int] = {}
    standing: dict[tuple[str, str], list[tuple[int, str]]] = {}
    windows: dict[str, tuple[int, datetime]] = {}
    last = head["made_at"]
    for one in records:
        known = one.known
        if fault := _fault(one, head, revisions, standing.setdefault(one.document, []), windows):
            faults.add(one.line, fault, "record")
        elif known["judged_at"] <= last or known["opened_at"] > known["judged_at"]:
            message = "`judged_at`: expected a moment after the page was made and after the record before"
            faults.add(one.line, message, "moment")
        elif known["judged_at"] > now:
            message = f"`judged_at`: {known['judged_at']:%Y-%m-%d %H:%M:%S} UTC is in the future"
            clocks = "the clock of the page's computer was ahead, or this one's is behind"
            faults.add(one.line, f"{message}: {clocks}", "moment")
            faults.hint = "import it again when that moment has come, or this clock is right"
        elif known["shown_at"] is not None and not head["made_at"] <= known["shown_at"] <= known["judged_at"]:
            message = "`shown_at`: expected a moment after the page was made, and not after `judged_at`"
            faults.add(one.line, message, "moment")
        last = max(last, known["judged_at"])
    faults.raise_if_any(hint=faults.hint or _AGAIN)


def _fault(
    one: _Record,
    head: Mapping[str, Any],
    revisions: dict[tuple[str, str], int],
    standing: list[tuple[int, str]],
    windows: dict[str, tuple[int, datetime]],
) -> str | None:
    """Return why no page could have written a record after those before it; ``None`` = one could.

    `standing`: revision and window of what was done to its document on the page and is not taken back.
    """
    known = one.known
    action, window, revision = known["action"], known["window"], known["revision"]
    if known["topic"] not in head["topics"] or known["docno"] not in head["documents"]:
        return f"topic `{known['topic']}` docno `{known['docno']}` is not on this page"
    if revision != revisions.setdefault(one.document, revision - 1) + 1:
        return f"expected revision {revisions[one.document] + 1} of this document, got {revision}"
    if fault := action_fault(known):
        return fault
    if not window.startswith(head["signature"][:8]):
        return "`window`: expected one of this page, got a window of another page"
    number, opened = windows.get(window, (0, known["opened_at"]))
    if known["number"] != number + 1 or known["opened_at"] != opened or opened < head["made_at"]:
        return f"expected number {number + 1} of a window opened once, after the page was made"
    if action is Action.UNDO:
        if (known["undoes"], window) not in standing[-1:]:
            return f"`undoes`: expected what was done last in this window, got revision {known['undoes']}"
        standing.pop()
    else:
        standing.append((revision, window))
    revisions[one.document] = revision
    windows[window] = (known["number"], opened)
    return None


class _PageDesk(Desk):
    """The desk of a page's judge, in one transaction: in its sittings, at its moments, by its versions."""

    def __init__(
        self,
        engine: Engine,
        judge: str,
        scale: Scale,
        head: Mapping[str, Any],
        prefer: Prefer | None,
        faults: FaultList,
    ) -> None:
        super().__init__(engine, judge, scale, program=PROGRAM)
        self._head = head
        self._faults = faults
        self._prefer = prefer
        self._done = WorkDone(judge)
        self._outside: set[Pair] = set()
        self._rows: dict[tuple[Pair, int], Row[Any] | None] = {}
        """By document and revision on the page, what a record became; ``None`` = it is taken back already."""
        self._sittings: dict[str, int] = {}
        self._windows: dict[int, str] = {}
        """Of the sittings that were there."""
        self._taken: set[tuple[str, datetime]] = set()
        """Keys of the records that are there."""
        self._pooled: set[Pair] = set()
        self._hashes: dict[str, str | None] = {}
        self._overruled: set[Pair] = set()
        """Documents on which what was decided elsewhere stands."""
        self._elsewhere: dict[Pair, int] = {}
        """By document the revision of what was decided elsewhere."""
        self._said: dict[str, Any] = {}
        """The record at hand."""

    def take(self, session: Session, records: list[_Record]) -> WorkDone:
        """Repeat records; `ConflictError`, before anything is written: `prefer` is needed."""
        lock_judge(session, self._judge_id)
        self._find(session, records)
        self._pooled = pooled_pairs(session)
        by_pair: dict[Pair, list[_Record]] = {}
        new: list[_Record] = []
        for one in records:
            topic, docno = one.document
            if topic in self._topic_ids and docno in self._document_ids:
                by_pair.setdefault((self._topic_ids[topic], self._document_ids[docno]), []).append(one)
            else:
                self._refuse(one, "the collection has no such document, or no such topic")
        histories = fetch_histories(session, judge=self._judge_id)
        self._taken = {
            (self._windows[row.sitting_id], row.judged_at)
            for row in chain.from_iterable(histories.values())
            if row.sitting_id in self._windows
        }
        conflicts: list[str] = []
        for pair, own in by_pair.items():
            history = histories.get(pair, [])
            coming = self._recognise(session, pair, own, history)
            new += coming
            decider = self._decided_elsewhere(history, own)
            if decider is None or not coming:
                continue
            self._elsewhere[pair] = decider.revision
            wanted = _decided(coming)
            stands = (State(decider.state), decider.grade)
            if wanted is None or wanted == stands or stands[0] not in DECIDED:
                continue
            if wanted[0] in DECIDED and self._prefer is None:
                words = f"{_in_words(*wanted)} on the page, {_in_words(*stands)} here"
                conflicts.append(f"topic {own[0].known['topic']} {own[0].known['docno']}: {words}")
            elif wanted[0] not in DECIDED or self._prefer == "stored":
                self._overruled.add(pair)
        if conflicts:
            path, n_more = self._faults.path, len(conflicts) - _SHOWN
            lines = [f"{path}: `{self.judge}` decided otherwise elsewhere since the page was made:"]
            lines += [*conflicts[:_SHOWN], *([f"and {n_more} more"] if n_more > 0 else [])]
            hint = (
                f"nothing of {path} was imported; --prefer page or --prefer stored says which of the two"
                " stands (both stay in the history)"
            )
            raise ConflictError("\n  ".join(lines), hint=hint)
        for one in sorted(new, key=lambda record: record.line):
            self._do(session, one)
        self._done.outside = len(self._outside)
        return self._done

    def _find(self, session: Session, records: Iterable[_Record]) -> None:
        numbers, docnos = ({one.document[place] for one in records} for place in (0, 1))
        topics = rows_by_key(session, numbers, TOPIC.c.number, TOPIC.c.id, TOPIC.c.version)
        columns = DOCUMENT.c.docno, DOCUMENT.c.id, DOCUMENT.c.sha256
        documents = rows_by_key(session, docnos, *columns)
        self._topic_ids = {number: row.id for number, row in topics.items()}
        self._document_ids = {docno: row.id for docno, row in documents.items()}
        self._hashes = {docno: row.sha256 for docno, row in documents.items()}
        guideline = select(GUIDELINE.c.version).where(GUIDELINE.c.version == self._head["guidelines"])
        self._guideline = session.scalar(guideline) or 0
        for number, row in topics.items():
            version = self._head["topics"][number]
            # Of a version that a backup of before does not have, nothing is known.
            self._topic_versions[row.id] = version if version <= row.version else None
            for document, queued in fetch_pooled(session, row.id).items():
                self._orders[row.id, document] = queued
            for queued in self._queue(session, row.id):
                self._orders[row.id, queued.document] = queued
        windows = {one.known["window"] for one in records}
        query = select(SITTING.c.window, SITTING.c.id).where(
            SITTING.c.judge_id == self._judge_id, SITTING.c.window.in_(windows)
        )
        self._sittings = {row.window: row.id for row in session.execute(query)}
        self._windows = {number: window for window, number in self._sittings.items()}

    def _recognise(
        self, session: Session, pair: Pair, own: list[_Record], history: list[Row[Any]]
    ) -> list[_Record]:
        """Return the records of a document that are not there yet, and note what the others became."""
        there: dict[str, dict[datetime, Row[Any]]] = {}
        for row in history:
            if row.sitting_id in self._windows:
                # Of a decision that was taken back at once, the undo has its moment.
                there.setdefault(self._windows[row.sitting_id], {}).setdefault(row.judged_at, row)
        undone = {row.undoes for row in history}
        coming = []
        for one in own:
            window, moment = one.key
            known = there.get(window, {})
            if moment not in known and one.key in self._taken:
                self._faults.add(one.line, _OTHERWISE, "record")
            elif moment > max(known, default=self._head["made_at"]):
                coming.append(one)
            elif moment in known:
                event = known[moment]
                self._done.there += 1
                self._rows[pair, one.known["revision"]] = None if event.id in undone else event
                if self._is_other(session, one, event.id):
                    self._faults.add(one.line, _OTHERWISE, "record")
            elif self._rows.get((pair, one.known["undoes"]), one) is None:
                # It takes back what was taken back at once.
                self._done.there += 1
            else:
                self._refuse(one, "later work on the document was imported without it")
        return coming

    def _is_other(self, session: Session, one: _Record, event: int) -> bool:
        """Return whether a record says something else than the event that it became."""
        known = self._said = one.known
        row = session.execute(select(JUDGEMENT).where(JUDGEMENT.c.id == event)).one()
        if Action.UNDO in (known["action"], row.action):
            return bool(known["action"] != row.action)
        decision = decision_of(known)
        if known["passages"] and self._hashes[known["docno"]] != row.document_sha256:
            decision = replace(decision, passages=None)  # the text that they were of is gone
        elif known["passages"]:
            try:
                raw = as_raw(known["passages"], self._readable(session, row.document_id))
            except ArgumentError:
                return True
            decision = replace(decision, passages=raw)
        return not is_same_decision(decision, row, self._passages(session, row))

    def _decided_elsewhere(self, history: list[Row[Any]], own: list[_Record]) -> Row[Any] | None:
        """Return what decided how a document stands, if that is neither of the page nor older than it."""
        decider = deciding_events(history)[-1] if history else None
        keys = {one.key for one in own}
        if decider is None or (self._windows.get(decider.sitting_id), decider.judged_at) in keys:
            return None
        # By the clock, too: in a restored backup revisions begin again. The page's has milliseconds.
        is_older = decider.judged_at < self._head["made_at"] + timedelta(milliseconds=1)
        return None if is_older and decider.revision < own[0].known["revision"] else decider

    def _refuse(self, one: _Record, reason: str) -> None:
        self._done.refused.append({**one.line_values, "refused": reason})

    def _do(self, session: Session, one: _Record) -> None:
        known = self._said = one.known
        pair = self._topic_ids[known["topic"]], self._document_ids[known["docno"]]
        place = (pair, known["revision"])
        old = self._current(session, *pair)
        seen = 0 if old is None else old.revision
        if known["action"] is Action.UNDO:
            target = pair, known["undoes"]
            if target not in self._rows:
                self._refuse(one, "what it takes back is not stored")
                return
            undone = self._rows.pop(target)
            if undone is None:
                self._done.there += 1
                return
            undone = session.execute(select(JUDGEMENT).where(JUDGEMENT.c.id == undone.id)).one()
            if undone.revision < self._elsewhere.get(pair, 0) and self._prefer != "page":
                self._refuse(one, "the document was decided elsewhere since what it takes back")
                return
            self._sitting = self._sit_on(session)
            events = select(JUDGEMENT).where(self._pair(*pair), JUDGEMENT.c.revision == undone.revision - 1)
            self._take_back(session, undone, session.execute(events).first(), seen=seen)
        else:
            if known["grade"] is not None and known["grade"] not in self.scale.values:
                grades = ", ".join(map(str, self.scale.values))
                self._refuse(one, f"{known['grade']} is no grade of the scale ({grades})")
                return
            shown_sha256 = self._head["documents"][known["docno"]][0]
            if known["passages"] and self._hashes[known["docno"]] != shown_sha256:
                reason = "the document has another text now, so that what was marked has no place in it"
                self._refuse(one, reason)
                return
            self._sitting = self._sit_on(session)
            try:
                row, _ = self._append(session, decision_of(known), old)
            except ArgumentError:
                self._faults.add(one.line, "`passages`: expected parts of the document's text", "passages")
                return
            self._rows[place] = row
            if pair in self._overruled and known["action"] in DECIDES:
                self._take_back(session, row, old, seen=row.revision)
                self._rows[place] = None
                self._done.overruled += 1
        self._done.new += 1

    def _sit_on(self, session: Session) -> int:
        window, at = self._said["window"], self._said["judged_at"]
        lasts = {"seen_at": at, "ended_at": at}
        if window in self._sittings:
            session.execute(update(SITTING).where(SITTING.c.id == self._sittings[window]).values(lasts))
        else:
            values = {"judge_id": self._judge_id, "started_at": self._said["opened_at"], "window": window}
            values |= {"host": "", "process": 0, "program": PROGRAM, **lasts}
            self._sittings[window] = insert_row(session, SITTING, **values)
        return self._sittings[window]

    def _event(self, session: Session, topic: int, document: int, action: Action) -> dict[str, Any]:
        return super()._event(session, topic, document, action) | {
            "judged_at": self._said["judged_at"],
            "document_sha256": self._head["documents"][self._said["docno"]][0],
        }

    def _hold(self, session: Session, values: Mapping[str, Any]) -> None:
        pair = values["topic_id"], values["document_id"]
        if pair not in self._pooled:
            self._outside.add(pair)
            return
        try:
            super()._hold(session, values)
        except ConflictError:
            self._outside.add(pair)

    def _readable(self, session: Session, document: int) -> Readable:
        raw = session.scalar(select(DOCUMENT.c.text).where(DOCUMENT.c.id == document))
        return readable(raw or "", self._head["documents"][self._said["docno"]][1])


def _decided(coming: list[_Record]) -> tuple[State, int | None] | None:
    """Return what records decide in the end: state and grade; ``None`` = nothing."""
    undone = {one.known["undoes"] for one in coming}
    for one in reversed(coming):
        if one.known["action"] in DECIDES and one.known["revision"] not in undone:
            return STATE_OF[one.known["action"]], one.known["grade"]
    return None


def _in_words(state: State, grade: int | None) -> str:
    return str(state) if grade is None else str(grade)
