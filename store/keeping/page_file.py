"""What a judge's page saves, and a part made of it.

A page (`judge_ui.page`) holds a judge's part. Its file has that part again, without texts; then what was done
on the page, one JSON object a line; then a checksum. `_part_of_page` does it again on the part, as a desk
would: a record says what the judge did, and all that follows from it (the state, the round, the versions of
what was read) comes from the part. What is made so is merged as every part is.
"""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.engine import URL
from sqlmodel import Session

from store.content.topics import newest_guideline
from store.db.engine import (
    SCHEMA_REVISION,
    check_schema,
    collection_url,
    display,
    engine_at,
    reading,
    stored_revision,
    writing,
)
from store.db.files import is_cut
from store.db.keys import document_keys, topic_keys
from store.db.raw import insert_one
from store.db.tables import DOCUMENT, DOCUMENT_METADATA, JUDGE, SITTING, TABLES, TOPIC
from store.errors import ArgumentError, Fault, FaultList, FormatError
from store.event import READERS, JudgementEvent
from store.fields import MOMENT, PASSAGES, PROSE, checked_values, or_none
from store.formats.scale import scale_from_json
from store.formats.syntax.json_lines import NoObjectError, read_json_object
from store.judging.desk import Queued, fetch_queue
from store.judging.events import as_raw, state_after
from store.keeping.histories import EventWriter, fetch_histories_of
from store.keeping.merge.copies import is_part
from store.readable import readable
from store.records import Action, Decision, JudgeKind, Passage, Scale, State

_BEGINS, _ENDS = '{"pooler_page": 1, "part": "', '"}'
_WITHOUT_FIELDS = "UPDATE document_metadata SET fields = '{}', checksum = NULL"
_LARGEST = 1 << 30
"""Bytes of a part without texts, of more than a million documents."""
_HINT = "nothing was merged: save the file again in the page, and send it as it is"
_SAID = ("topic", "docno", "revision", "action", "undoes", "grade", "reason", "judged_at")
_TIMES = ("shown_at", "dwell_ms", "active_ms", "dropped_keys")
_RECORD = {
    **{name: READERS[name] for name in (*_SAID, *_TIMES)},
    "note": or_none(PROSE.read),
    "passages": or_none(PASSAGES.read),
    "sitting": MOMENT.read,
}
"""How the values of a record are read. `note` and `passages` (of the text as it was shown) are null where
they are not what was done; `sitting` is when the page was opened."""
_DONE = (Action.JUDGE, Action.SKIP, Action.CANNOT, Action.NOTE, Action.MARK, Action.UNDO)

Texts = Callable[[str, str | None], str | None]
"""Gives the text of a docno, as it came, where it has this hash; ``None`` = another one, or none."""


def head_of(part: Path) -> str:
    """Write the first line of what a page saves; texts and fields go from the file of the part for that.

    How texts are marked up stays: passages are of what was read on the page.
    """
    with closing(sqlite3.connect(part, isolation_level=None)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for statement in (
            "PRAGMA journal_mode = DELETE",
            "UPDATE document SET text = NULL, title = NULL",
            *([_WITHOUT_FIELDS] if "document_metadata" in tables else ()),
            "VACUUM",
        ):
            connection.execute(statement).close()
    return f"{_BEGINS}{base64.b64encode(zlib.compress(part.read_bytes())).decode()}{_ENDS}"


def _seal_of(lines: bytes) -> str:
    """Write the last line of what a page saves: of all lines before it, with their line ends."""
    return f'{{"crc32": "{zlib.crc32(lines):08x}"}}'


def is_page_file(file: Path) -> bool:
    """Say whether a file is what a page saved, or what is left of it."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return stream.read(len(_BEGINS)) == _BEGINS.encode()


@contextmanager
def places_of(others: Sequence[str], whole: Engine) -> Iterator[list[tuple[URL, str]]]:
    """Give the place and the name of every collection that is to be merged.

    For the time of the block a page's file has that of a part.
    """

    def text_of(docno: str, sha256: str | None) -> str | None:
        found = select(DOCUMENT.c.text).where(DOCUMENT.c.docno == docno, DOCUMENT.c.sha256 == sha256)
        with reading(whole) as session:
            return session.scalar(found)

    with ExitStack() as stack:
        places = []
        for url in map(collection_url, others):
            file = Path(url.database or "")
            place = url
            if url.get_backend_name() == "sqlite" and is_page_file(file):
                part = stack.enter_context(_part_of_page(file, text_of))
                place = URL.create("sqlite", database=str(part))
            places.append((place, display(url)))
        yield places


@contextmanager
def _part_of_page(file: Path, texts: Texts) -> Iterator[Path]:
    """Make a part, for the time of the block, of what a page saved.

    `FormatError`, with every fault: the file is not as the page wrote it, or says what no page could.
    """
    faults = FaultList(str(file))
    packed, records = _read(file, faults)
    with TemporaryDirectory(prefix="pooler-") as folder:
        part = Path(folder) / "part.db"
        part.touch(0o600)
        part.write_bytes(packed)
        _bring_up(part)
        with engine_at(part) as engine, writing(engine, bulk=True) as session:
            again = _Again(session, texts, faults)
            for line, values in records:
                again.take(values, line)
            faults.raise_if_any(hint=_HINT)
            again.write()
        yield part


def _read(file: Path, faults: FaultList) -> tuple[bytes, list[tuple[int, dict[str, Any]]]]:
    """Return the part, and the records with their line numbers."""
    body, _, seal = file.read_bytes().removesuffix(b"\n").rpartition(b"\n")
    if seal != _seal_of(body + b"\n").encode():
        raise _unlike(file, None, "what the page saved, got a file that was changed, or cut, since")
    head, *lines = body.decode("utf-8", "replace").split("\n")
    records = []
    for number, text in enumerate(lines, start=2):
        try:
            records.append((number, read_json_object(text)))
        except NoObjectError as error:
            faults.add(number, str(error), "json")
    unpacker = zlib.decompressobj()
    try:
        packed = base64.b64decode(head.removeprefix(_BEGINS).removesuffix(_ENDS), validate=True)
        part = unpacker.decompress(packed, _LARGEST)
    except (ValueError, zlib.error) as error:
        raise _unlike(file, 1, "the part that the page holds") from error
    if not unpacker.eof:
        raise _unlike(file, 1, "the part that the page holds")
    return part, records


def _unlike(file: Path, line: int | None, expected: str) -> FormatError:
    """Refuse a file as a whole."""
    return FormatError(str(file), [Fault(line, f"expected {expected}", "page")], hint=_HINT)


def _bring_up(part: Path) -> None:
    """Bring a part that an older program made to the schema of this one."""
    with engine_at(part) as engine:
        revision = None if is_cut(part) else stored_revision(engine)
        if revision is not None and revision < SCHEMA_REVISION:
            from store.keeping.upgrade import upgrade  # which loads Alembic

            upgrade(URL.create("sqlite", database=str(part)), backs_up=False)
        check_schema(engine)


@dataclass(slots=True)
class _Worked:
    """One document of the queue of a topic, and what was done to it."""

    pair: tuple[int, int, int]
    """Row ids of topic, document and judge."""
    queued: Queued
    position: int
    sha256: str | None
    markup: str | None
    topic_version: int
    events: list[JudgementEvent] = field(default_factory=list)
    new: list[tuple[JudgementEvent, datetime]] = field(default_factory=list)
    """Those of the page, each with the beginning of its sitting."""
    standing: list[tuple[int, datetime]] = field(default_factory=list)
    """Of those the revisions that are not taken back, and their sittings."""


class _Again:
    """Does again on a part what was done on a page."""

    def __init__(self, session: Session, texts: Texts, faults: FaultList) -> None:
        self._session = session
        self._texts = texts
        self._faults = faults
        self._judge, self._judge_id = self._whose()
        self._scale = self._read_scale()
        guideline = newest_guideline(session)
        self._guideline = None if guideline is None else guideline.version
        self._worked = self._fetch()
        self._sittings: dict[datetime, datetime] = {}
        """When each began, and when something was last done in it."""

    def take(self, values: Mapping[str, Any], line: int) -> None:
        """Do what a record says, or tell why no page could have written it."""
        known = checked_values(values, _RECORD, line, self._faults)
        if known is None:
            return
        one = self._worked.get((known["topic"], known["docno"]))
        if one is None:
            message = f"topic `{known['topic']}` docno `{known['docno']}` is not in this part"
            self._faults.add(line, message, "document")
        elif fault := self._fault(one, known):
            self._faults.add(line, fault, "record")
        else:
            self._do(one, known, line)

    def write(self) -> None:
        """Append what was done, in sittings of its own."""
        ids: dict[datetime, int] = {}
        for began, last in sorted(self._sittings.items()):
            values = {"judge_id": self._judge_id, "started_at": began, "seen_at": last, "ended_at": last}
            values |= {"host": "", "process": 0, "program": "pooler page"}
            ids[began] = insert_one(self._session, SITTING, values)
        writer = EventWriter(self._session)
        for one in self._worked.values():
            for event, began in one.new:
                writer.add(one.pair, event, ids[began])
        writer.flush()

    def _whose(self) -> tuple[str, int]:
        """Return the name and the row id of the judge; the part must be one, and its judge a person."""
        judges = self._session.execute(select(JUDGE.c.name, JUDGE.c.id, JUDGE.c.kind)).all()
        people = (JudgeKind.HUMAN.value, JudgeKind.IMPORTED.value)
        if not is_part(self._session) or len(judges) != 1 or judges[0].kind not in people:
            raise _unlike(Path(self._faults.path), 1, "the part of one judge, a person")
        return judges[0].name, judges[0].id

    def _read_scale(self) -> Scale:
        """Return the declared grades."""
        return scale_from_json(json.loads(self._session.scalar(select(TABLES["collection"].c.scale)) or ""))

    def _fetch(self) -> dict[tuple[str, str], _Worked]:
        """Return the documents of all queues, by topic and docno."""
        session = self._session
        topics, documents = topic_keys(), document_keys()
        topics.refresh(session)
        documents.refresh(session)
        hashes = dict(session.execute(select(DOCUMENT.c.id, DOCUMENT.c.sha256)).all())
        markups = dict(
            session.execute(select(DOCUMENT_METADATA.c.document_id, DOCUMENT_METADATA.c.markup)).all()
        )
        found = {
            (topic.number, queued.docno): _Worked(
                (topic.id, queued.document, self._judge_id),
                queued,
                position,
                hashes[queued.document],
                markups.get(queued.document),
                topic.version,
            )
            for topic in session.execute(select(TOPIC.c.id, TOPIC.c.number, TOPIC.c.version))
            for position, queued in enumerate(fetch_queue(session, self._judge_id, topic.id))
        }
        for event in fetch_histories_of(session, topics, documents):
            found[event.topic, event.docno].events.append(event)
        return found

    def _fault(self, one: _Worked, known: Mapping[str, Any]) -> str | None:
        """Say why no page could have written a record after those before it; ``None`` = one could."""
        action, grade, undoes = known["action"], known["grade"], known["undoes"]
        if known["revision"] != len(one.events) + 1:
            return f"expected revision {len(one.events) + 1} of this document, got {known['revision']}"
        if action not in _DONE:
            return f"`action`: expected one of {', '.join(_DONE)}, got {action}"
        for name, of in (
            ("undoes", Action.UNDO),
            ("grade", Action.JUDGE),
            ("note", Action.NOTE),
            ("passages", Action.MARK),
        ):
            if (known[name] is not None) != (action is of):
                return f"`{name}`: expected a value with the action {of}, and with no other"
        if grade is not None and grade not in self._scale.values:
            return f"`grade`: expected one of {', '.join(map(str, self._scale.values))}, got {grade}"
        if undoes is not None and (undoes, known["sitting"]) not in one.standing[-1:]:
            return f"`undoes`: expected what was done last in this sitting, got revision {undoes}"
        return None

    def _do(self, one: _Worked, known: Mapping[str, Any], line: int) -> None:
        """Append the event that a record makes."""
        action, sitting = known["action"], known["sitting"]
        before = one.events[-1] if one.events else None
        if action is Action.UNDO:
            restored = one.events[known["undoes"] - 2] if known["undoes"] > 1 else None
            said = _stands(restored, one.queued.round)
            one.standing.pop()
        else:
            said = _stands(before, one.queued.round)
            decision = Decision(known["topic"], known["docno"], action, known["grade"], known["reason"])
            state, said["grade"], said["reason"] = state_after(decision, before)
            said["state"] = State(state)
            if action is Action.NOTE:
                said["note"] = known["note"]
            elif action is Action.MARK:
                said["passages"] = self._raw(known, one, line)
            else:
                said["iteration"] = one.queued.round
            one.standing.append((known["revision"], sitting))
        event = JudgementEvent(
            judge=self._judge,
            **{name: known[name] for name in ("topic", "docno", "revision", "action", "undoes", "judged_at")},
            **{name: known[name] for name in _TIMES},
            **said,
            display_order=one.queued.display_order,
            position=one.position,
            guideline_version=self._guideline,
            document_sha256=one.sha256,
            topic_version=one.topic_version,
        )
        one.events.append(event)
        one.new.append((event, sitting))
        self._sittings[sitting] = max(self._sittings.get(sitting, sitting), known["judged_at"])

    def _raw(self, known: Mapping[str, Any], one: _Worked, line: int) -> tuple[Passage, ...]:
        """Turn passages of what was shown into those of the text; where it is not here, nothing is merged."""
        text = self._texts(known["docno"], one.sha256)
        if text is None:
            return ()
        try:
            return as_raw(known["passages"], readable(text, one.markup))
        except ArgumentError:
            self._faults.add(line, "`passages`: expected parts of the document's text", "passages")
            return ()


def _stands(event: JudgementEvent | None, label: str) -> dict[str, Any]:
    """Say how a document stands after an event; ``None`` = there is none."""
    if event is None:
        blank = {"state": State.UNJUDGED, "grade": None, "reason": "", "note": "", "passages": ()}
        return {**blank, "iteration": label}
    return {
        name: getattr(event, name) for name in ("state", "grade", "reason", "note", "passages", "iteration")
    }
