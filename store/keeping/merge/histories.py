"""Events of a topic read, united, written; what was forgotten stays so.

A judge who is made anonymous may take the notes along (`store.judging.judges.anonymise`). The events stay,
so they must be known as the same ones on a copy that was made before; and what was removed must not
come back with it, nor in events that were made there later and have kept an old note.

Where a copy has only gone on, its events are appended. Where copies have gone on apart, the events
are laid in one row (`store.keeping.merge.graph`) and a settlement closes it
(`store.keeping.merge.settle`): events that are here keep their rows, and get their places in it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update
from sqlmodel import Session

from store.db.engine import overwrite_removed
from store.db.raw import CHECKSUM, insert_raw, raw_rows, with_checksums
from store.db.tables import JUDGE, JUDGEMENT, PASSAGE
from store.errors import StoreError
from store.keeping.histories import next_ids
from store.keeping.merge.copies import Copy, Here, JudgeCount, MergeConflict, SettleRule, Take
from store.keeping.merge.graph import OTHER, Chain, Content, CopyEvent, Id, Placed, nodes_of, placed, united
from store.keeping.merge.settle import BY_HAND, conflict_of, settle
from store.records import Action
from store.text import natural_key

NAMES = tuple(column.name for column in JUDGEMENT.columns)
AT = {name: place for place, name in enumerate(NAMES)}
"""Where a column stands in a row."""

_TOLD = [name for name in Content._fields if name not in ("other", "passages")]
_read_told = itemgetter(*(AT[name] for name in _TOLD))
_read_other = itemgetter(*(AT[name] for name in OTHER))
_read_compared = itemgetter(*(AT[name] for name in (*_TOLD, *OTHER, "revision", "follows")))
_read_document_and_judge = itemgetter(AT["document_id"], AT["judge_id"])
_read_revision = itemgetter(AT["revision"])
_PASSAGE_NAMES = tuple(column.name for column in PASSAGE.columns)

Key = tuple[int, int]
"""Row ids, here, of a document and a judge."""

Row = Sequence[Any]
"""Of the table of events, as `store.db.raw` gives it."""

Passages = Mapping[int, tuple[tuple[int, int, bytes], ...]]
"""By row id of an event."""


@dataclass(frozen=True, slots=True)
class TopicEvents:
    """The events of one topic in one collection."""

    rows: dict[Key, list[Row]] = field(default_factory=dict)
    """By document and judge, by rising revision."""
    passages: Passages = field(default_factory=dict)


def _read_passages(session: Session, topic: int) -> Passages:
    """Read the passages of a topic's events, by row id."""
    where = f"judgement_id IN (SELECT id FROM judgement WHERE topic_id = {topic:d})"
    found: dict[int, list[tuple[int, int, bytes]]] = {}
    for row in raw_rows(session, PASSAGE, where=where):
        one = dict(zip(_PASSAGE_NAMES, row, strict=True))
        part = one["start"], one["length"], bytes(one["text"])
        found.setdefault(one["judgement_id"], []).append(part)
    return {event: tuple(sorted(parts)) for event, parts in found.items()}


def _refuse_damaged(taken: Sequence[tuple[Copy, Row]]) -> None:
    """Refuse events, before they are written anew, whose checksum is another than their values give."""
    place = AT[CHECKSUM]
    written = with_checksums(JUDGEMENT, (row for _, row in taken))
    for (copy, row), one in zip(taken, written, strict=True):
        if row[place] is not None and row[place] != one[place]:
            message = f"{copy.name} is damaged: a judgement event in it is not as it was written"
            hint = (
                f"nothing was merged: pooler verify --collection {copy.name} says which; merge a"
                " backup of it instead"
            )
            raise StoreError(message, hint=hint)


def is_beginning(short: Sequence[Row], own: TopicEvents, long: Sequence[Row], other: TopicEvents) -> bool:
    """Say whether the events of one collection are the first ones of another's."""
    for one, two in zip(short, long, strict=False):
        if _read_compared(one) != _read_compared(two):
            return False
        undone = one[AT["undoes"]], two[AT["undoes"]]
        if undone != (None, None) and _place(short, undone[0]) != _place(long, undone[1]):
            return False
        marked = own.passages.get(one[AT["id"]]), other.passages.get(two[AT["id"]])
        if marked[0] != marked[1]:
            return False
    return True


def _place(rows: Sequence[Row], row_id: int | None) -> int | None:
    """Return the place of an event among others by its row id."""
    return next((place for place, row in enumerate(rows) if row[AT["id"]] == row_id), None)


def _chain_of_rows(number: int, side: TopicEvents, key: Key) -> list[CopyEvent]:
    """Make a chain of the events of a judge and a document; tags are the side and the row."""
    rows = side.rows[key]
    revisions = {row[AT["id"]]: row[AT["revision"]] for row in rows}
    return [
        CopyEvent(
            Content._make((*_read_told(row), _read_other(row), side.passages.get(row[AT["id"]], ()))),
            None if row[AT["undoes"]] is None else revisions[row[AT["undoes"]]],
            row[AT["follows"]],
            (number, row),
        )
        for row in rows
    ]


_WORDS = ("note", "reason")


def without_forgotten(chains: Mapping[int, Chain]) -> dict[int, Chain]:
    """Empty notes and reasons of one judge on one document that one of several copies has emptied.

    Of an event that is the same on two copies but for its note, which is empty on one of them, the note is
    empty; so it is in those after it that had kept it. Likewise reasons. Two notes that differ are of two
    events, and stay.
    """
    found = dict(chains)
    words = {word: {value for chain in chains.values() for value in _values(chain, word)} for word in _WORDS}
    if len(chains) < 2 or all(len(values) < 2 for values in words.values()):
        return found
    bare = {
        copy: nodes_of([_with(event, note=b"", reason=b"") for event in chain])
        for copy, chain in chains.items()
    }
    for word in _WORDS:
        told: dict[Id, set[bytes]] = {}
        for copy, chain in chains.items():
            for node, value in zip(bare[copy], _values(chain, word), strict=True):
                told.setdefault(node.identity, set()).add(value)
        emptied = {one for one, values in told.items() if b"" in values and len(values) == 2}
        for copy, chain in chains.items() if emptied else ():
            gone: dict[Id, bytes] = {}
            cleaned: list[CopyEvent] = []
            values = _values(chain, word)
            for node, event, value in zip(bare[copy], found[copy], values, strict=True):
                is_kept = any(gone.get(parent) == value for parent in node.parents)
                if value and (node.identity in emptied or is_kept):
                    gone[node.identity] = value
                    event = _with(event, **{word: b""})
                cleaned.append(event)
            found[copy] = cleaned
    return found


def _values(chain: Chain, word: str) -> Sequence[bytes]:
    """Return the notes or the reasons of a chain."""
    return [getattr(event.content, word) for event in chain]


def _with(event: CopyEvent, **words: Any) -> CopyEvent:
    """Return an event with another note or reason."""
    return event._replace(content=event.content._replace(**words))


_SETTLE = Action.SETTLE.value
_FAR = 1 << 24
"""Beyond every revision: where rows stand while they change places."""


@dataclass(frozen=True, slots=True)
class HowToSettle:
    """How conflicts are to be settled."""

    rule: SettleRule | None = None
    takes: Mapping[tuple[str, str, str], Take] = field(default_factory=dict)
    """By topic, docno and judge: settled by hand."""


@dataclass(slots=True)
class _Changes:
    """What is to be written of one topic."""

    gone: list[int] = field(default_factory=list)
    """Row ids of settlements that are made anew."""
    moved: list[dict[str, Any]] = field(default_factory=list)
    emptied: list[dict[str, Any]] = field(default_factory=list)
    """Rows whose notes or reasons were removed on a copy."""
    taken: list[tuple[Copy, Sequence[Any]]] = field(default_factory=list)
    """Rows of copies as they are there, of those that are new here."""
    rows: list[list[Any]] = field(default_factory=list)
    """New ones, without row ids; `undoes` is a place in this list, or a row id."""
    passages: list[tuple[int, tuple[tuple[int, int, bytes], ...]]] = field(default_factory=list)
    """Of new rows, by their place in that list."""
    undone: list[tuple[int, int]] = field(default_factory=list)
    """Places of new rows in that list: of an undo, and of what it takes back."""


class HistoryMerge:
    """The merge of all histories, in a transaction of `here`, which knows all topics and judges."""

    def __init__(self, here: Here, copies: Sequence[Copy], wanted: HowToSettle) -> None:
        self._here = here
        self._copies = copies
        self._wanted = wanted
        names = here.session.execute(select(JUDGE.c.id, JUDGE.c.name))
        self._judges = {row.id: row.name for row in names}
        self._where = ["this collection", *(copy.name for copy in copies)]
        self._sides = [(here.session, None), *((copy.session, copy) for copy in copies)]
        self._has_passages = [
            session.scalar(select(PASSAGE.c.id).limit(1)) is not None for session, _ in self._sides
        ]
        self._changes = _Changes()
        self.counts: dict[int, JudgeCount] = {}
        self.conflicts: list[MergeConflict] = []
        self.n_emptied = 0
        """Events here whose note or reason was removed, as on a copy."""

    def run(self, advance: Callable[[int], None]) -> None:
        """Merge topic by topic; `advance` is told how many events of copies have been read."""
        numbers = self._here.topics.names
        back = [{own: other for other, own in copy.topics.items()} for copy in self._copies]
        busy = {
            copy.topics[topic]
            for copy in self._copies
            for topic in copy.session.scalars(select(JUDGEMENT.c.topic_id).distinct())
        }
        with _cycles_left_alone():
            for topic in sorted(busy, key=lambda one: natural_key(numbers[one])):
                self._run_topic(topic, back, advance)

    def _run_topic(
        self, topic: int, back: Sequence[Mapping[int, int]], advance: Callable[[int], None]
    ) -> None:
        """Merge the events of a topic; `back` gives row ids here to those on each copy."""
        sides = [self._read(0, topic)]
        for number, known in enumerate(back, start=1):
            there = known.get(topic)
            sides.append(TopicEvents() if there is None else self._read(number, there))
        own, copies = sides[0], sides[1:]
        holders: dict[Key, list[int]] = {}
        for number, side in enumerate(copies, 1):
            for key in side.rows:
                holders.setdefault(key, []).append(number)
        for key, with_it in sorted(holders.items()):
            is_taken = bool(self._wanted.takes) and self._name(topic, key) in self._wanted.takes
            if is_taken or not self._only_goes_on(topic, key, own, sides, with_it):
                chains = {
                    number: _chain_of_rows(number, sides[number], key)
                    for number in ([0, *with_it] if key in own.rows else with_it)
                }
                self._settle_pair(topic, key, chains)
        self._write()
        advance(sum(len(rows) for side in copies for rows in side.rows.values()))

    def _read(self, side: int, topic: int) -> TopicEvents:
        """Read the events of a topic on one side, but for those of judges who are erased here."""
        session, copy = self._sides[side]
        rows: dict[Key, list[Row]] = {}
        for row in raw_rows(session, JUDGEMENT, where=f"topic_id = {topic:d}"):
            key = _read_document_and_judge(row)
            if copy is not None:
                document, judge = key
                if judge not in copy.judges:
                    continue
                key = copy.documents[document], copy.judges[judge]
            known = rows.get(key)
            if known is None:
                rows[key] = [row]
            else:
                known.append(row)
        for some in rows.values():
            if len(some) > 1:
                some.sort(key=_read_revision)
        return TopicEvents(rows, _read_passages(session, topic) if self._has_passages[side] else {})

    def _count(self, judge: int) -> JudgeCount:
        """Return the count of a judge."""
        if judge not in self.counts:
            self.counts[judge] = JudgeCount(self._judges[judge])
        return self.counts[judge]

    def _name(self, topic: int, key: Key) -> tuple[str, str, str]:
        """Return topic, docno and judge by name."""
        here = self._here
        return here.topics.names[topic], here.documents.names[key[0]], self._judges[key[1]]

    def _only_goes_on(
        self, topic: int, key: Key, own: TopicEvents, sides: Sequence[TopicEvents], with_it: Sequence[int]
    ) -> bool:
        """Append what a copy has more, unless events were made apart; say whether they were not."""
        mine = own.rows.get(key, [])
        if not mine and len(with_it) == 1:
            [source] = with_it
            new = sides[source].rows[key]
            self._count(key[1]).new += sum(row[AT["action"]] != _SETTLE for row in new)
            self._append(topic, key, mine, new, source, sides[source].passages)
            return True
        longest, source = mine, 0
        for number in with_it:
            if len(sides[number].rows[key]) > len(longest):
                longest, source = sides[number].rows[key], number
        for number in (0, *with_it):
            rows = sides[number].rows.get(key, mine)
            if number != source and not is_beginning(rows, sides[number], longest, sides[source]):
                return False
        new = longest[len(mine) :]
        count = self._count(key[1])
        acted = sum(row[AT["action"]] != _SETTLE for row in new)
        in_copies = sum(row[AT["action"]] != _SETTLE for number in with_it for row in sides[number].rows[key])
        count.new += acted
        count.there += in_copies - acted
        # What rules made says nothing new; a ruling by hand does.
        if any(row[AT["settled"]] == BY_HAND for row in new):
            count.settled[BY_HAND] += 1
        if new:
            self._append(topic, key, mine, longest, source, sides[source].passages)
        return True

    def _settle_pair(self, topic: int, key: Key, chains: Mapping[int, Chain]) -> None:
        """Merge events that were made apart."""
        count = self._count(key[1])
        chains = without_forgotten(chains)
        graph = united(chains)
        name = self._name(topic, key)
        take = self._wanted.takes.get(name)
        known = {one for one, node in graph.items() if 0 in node.seen}
        found = settle(graph, rule=self._wanted.rule, take=take)
        if found.is_conflict:
            was_settled = any(0 in node.seen for node in found.before)
            if not was_settled or self._wanted.takes:
                told = conflict_of(name, found, self._where, was_settled=was_settled)
                self.conflicts.append(told)
        if found.is_open:
            return
        fresh = [node for node in found.row if 0 not in node.seen and not node.is_settlement]
        count.new += len(fresh)
        on_copies = (event for side, chain in chains.items() if side for event in chain)
        count.there += sum(event.content.action != _SETTLE for event in on_copies) - len(fresh)
        if found.how is not None and found.row[-1].identity not in known:
            count.settled[found.how] += 1
        elif any(node.content.settled == BY_HAND and 0 not in node.seen for node in found.row):
            count.settled[BY_HAND] += 1
        self._rewrite(topic, key, chains.get(0, ()), placed(found.row))

    def _append(
        self,
        topic: int,
        key: Key,
        mine: Sequence[Row],
        longest: Sequence[Row],
        source: int,
        passages: Passages,
    ) -> None:
        """Append events that follow those that are here."""
        changes = self._changes
        places: dict[int, int] = {}
        first = len(changes.rows) - len(mine)
        for place in range(len(mine), len(longest)):
            row = longest[place]
            values = self._values(topic, key, source, row)
            if row[AT["undoes"]] is not None:
                places = places or {one[AT["id"]]: number for number, one in enumerate(longest)}
                undone = places[row[AT["undoes"]]]
                if undone < len(mine):
                    values[AT["undoes"]] = mine[undone][AT["id"]]
                else:
                    changes.undone.append((first + place, first + undone))
            self._add(values, passages.get(row[AT["id"]], ()) if passages else ())

    def _rewrite(self, topic: int, key: Key, own: Chain, row: Sequence[Placed]) -> None:
        """Give the events that are here their places, and put the others between them."""
        changes = self._changes
        kept = {id(one.node.seen[0]) for one in row if 0 in one.node.seen}
        changes.gone += [event.tag[1][AT["id"]] for event in own if id(event) not in kept]
        ids: dict[int, int] = {}
        places: dict[int, int] = {}
        for one in row:
            stands = {"revision": one.revision, "follows": one.follows, "display_order": one.display_order}
            mine = one.node.seen.get(0)
            if mine is not None:
                old = mine.tag[1]
                ids[one.revision] = old[AT["id"]]
                if any(old[AT[name]] != value for name, value in stands.items()):
                    changes.moved.append({"row_id": old[AT["id"]], **stands})
                words = {name: getattr(one.node.content, name) for name in _WORDS}
                if any(old[AT[name]] != value for name, value in words.items()):
                    prose = {name: value.decode("utf-8", "surrogatepass") for name, value in words.items()}
                    changes.emptied.append({"row_id": old[AT["id"]], **prose})
                continue
            # One that is on no copy is made here.
            side, source = next((event.tag for event in one.node.seen.values()), (0, None))
            values = self._values(topic, key, side, source)
            content = one.node.content
            told = content._asdict() | dict(zip(OTHER, content.other, strict=True)) | stands
            for name, value in told.items():
                if name in AT:
                    values[AT[name]] = value
            if one.undoes is not None:
                if one.undoes in ids:
                    values[AT["undoes"]] = ids[one.undoes]
                else:
                    changes.undone.append((len(changes.rows), places[one.undoes]))
            places[one.revision] = len(changes.rows)
            self._add(values, one.node.content.passages)

    def _values(self, topic: int, key: Key, side: int, row: Sequence[Any] | None) -> list[Any]:
        """Return an event's row as it is here, without its row id and what it takes back."""
        values: list[Any] = [None] * len(NAMES) if row is None else list(row)
        sitting = values[AT["sitting_id"]]
        copy = self._sides[side][1]
        if copy is not None and row is not None:
            self._changes.taken.append((copy, row))
            if sitting is not None:
                values[AT["sitting_id"]] = copy.sittings[sitting]
        values[AT["id"]] = values[AT["undoes"]] = None
        values[AT["topic_id"]], (values[AT["document_id"]], values[AT["judge_id"]]) = topic, key
        return values

    def _add(self, values: list[Any], passages: tuple[tuple[int, int, bytes], ...]) -> None:
        """Put a new row to those that wait."""
        if passages:
            self._changes.passages.append((len(self._changes.rows), passages))
        self._changes.rows.append(values)

    def _write(self) -> None:
        """Write what waits."""
        session, changes = self._here.session, self._changes
        self._changes = _Changes()
        _refuse_damaged(changes.taken)
        connection = session.connection()
        if changes.gone:
            gone = [{"row_id": one} for one in changes.gone]
            own = PASSAGE.c.judgement_id == bindparam("row_id")
            connection.execute(delete(PASSAGE).where(own), gone)
            connection.execute(delete(JUDGEMENT).where(JUDGEMENT.c.id == bindparam("row_id")), gone)
        if changes.moved:
            own = JUDGEMENT.c.id == bindparam("row_id")
            aside = update(JUDGEMENT).where(own).values(revision=JUDGEMENT.c.revision + _FAR)
            connection.execute(aside, [{"row_id": one["row_id"]} for one in changes.moved])
            _update(session, changes.moved)
        if changes.emptied:
            self.n_emptied += len(changes.emptied)
            overwrite_removed(session)
            _update(session, changes.emptied)
        if not changes.rows:
            return
        ids = next_ids(session, len(changes.rows))
        for values, row_id in zip(changes.rows, ids, strict=True):
            values[AT["id"]] = row_id
        for undo, undone in changes.undone:
            changes.rows[undo][AT["undoes"]] = ids[undone]
        insert_raw(session, JUDGEMENT, changes.rows)
        if changes.passages:
            n_passages = sum(len(parts) for _, parts in changes.passages)
            numbers = iter(next_ids(session, n_passages, PASSAGE))
            insert_raw(
                session,
                PASSAGE,
                [
                    (next(numbers), ids[place], *part, None)
                    for place, parts in changes.passages
                    for part in parts
                ],
            )


def _update(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Give rows of events, by `row_id`, other values."""
    new: dict[str, Any] = {name: bindparam(f"new_{name}") for name in rows[0] if name != "row_id"}
    statement = update(JUDGEMENT).where(JUDGEMENT.c.id == bindparam("row_id")).values(new)
    values = [{"row_id": row["row_id"], **{f"new_{name}": row[name] for name in new}} for row in rows]
    session.connection().execute(statement, values)


@contextmanager
def _cycles_left_alone() -> Iterator[None]:
    """Let Python not look for cycles of references meanwhile.

    Rows by the hundred thousand come and go, in none: looking takes a quarter of all the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def count_of_copies(copies: Sequence[Copy]) -> int:
    """Count the events of all copies."""
    query = select(func.count(JUDGEMENT.c.id))
    return sum(copy.session.scalar(query) or 0 for copy in copies)
