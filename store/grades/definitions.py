"""Definitions of qrels in a collection: by name, in versions, one of them the default."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, func, insert, select, text, update
from sqlmodel import Session

from store.content.lookup import count_rows
from store.db.columns import is_postgresql
from store.db.database import Area
from store.db.tables import JUDGE, JUDGEMENT, QRELS
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.fields import id_fault
from store.grades.definition import OFFICIAL, NamedQrels, QrelsDefinition, is_file_word
from store.judging.judges import judge_id
from store.judging.kinds import sorts_of
from store.records import JudgeKind
from store.text import natural_key

_VERSIONED = re.compile(r"(.+)@([0-9]{1,9})", re.ASCII)


def fetch_named(session: Session, word: str | None = None) -> NamedQrels:
    """Return a definition, by name with or without its version, or a judge's own grades; else the default.

    `UnknownNameError` where neither has the name.
    """
    identities = {row.uid: row.name for row in session.execute(select(JUDGE.c.uid, JUDGE.c.name))}
    rows = session.execute(select(QRELS).order_by(QRELS.c.version.desc())).all()
    versioned = _VERSIONED.fullmatch(word or "")
    name, version = (versioned[1], int(versioned[2])) if versioned else (word, None)
    named = [one for one in rows if (one.is_default if name is None else one.name == name)]
    found = next((one for one in named if (one.version == version if versioned else not one.dropped)), None)
    if found is not None and not found.dropped:
        return _of_row(found, identities)
    if named and versioned:
        message = f"there is no version {version} of `{name}`: the newest is {named[0].version}"
        if found is not None:
            message = f"`{word}` was dropped, and its number is never given again"
        raise PoolerError(message, hint="pooler qrels lists the versions")
    if word is not None and word in identities.values():
        return NamedQrels(word, QrelsDefinition(judges=(word,), without_rulings=True))
    known = sorted({*(one.name for one in rows if not one.dropped), *identities.values()}, key=natural_key)
    raise UnknownNameError("qrels", word or OFFICIAL, known, hint="pooler qrels lists the names")


def fetch_kinds(session: Session, definition: QrelsDefinition) -> tuple[str, ...]:
    """Name the kinds of judges whom a definition counts, where it names kinds or judges; else none."""
    if definition.kinds or not definition.judges:
        return definition.kinds
    kinds = session.scalars(select(JUDGE.c.kind).where(JUDGE.c.name.in_(definition.judges)).distinct())
    return sorts_of(map(JudgeKind, kinds))


def fetch_all_named(session: Session) -> list[NamedQrels]:
    """Return every version of every definition; the default first, then by name, newest first."""
    identities = {row.uid: row.name for row in session.execute(select(JUDGE.c.uid, JUDGE.c.name))}
    found = [_of_row(row, identities) for row in session.execute(select(QRELS).where(~QRELS.c.dropped))]
    first = {one.name for one in found if one.is_default}
    return sorted(found, key=lambda one: (one.name not in first, natural_key(one.name), -(one.version or 0)))


def _of_row(row: Row[Any], identities: dict[str, str]) -> NamedQrels:
    stored = QrelsDefinition.from_json(json.loads(row.rule) | {"last_event": row.last_event})
    gone = tuple(uid for uid in stored.judges if uid not in identities)
    known = replace(stored, judges=tuple(uid for uid in stored.judges if uid in identities), erased=gone)
    definition = known.with_judges(lambda uid: identities.get(uid, uid))
    return NamedQrels(row.name, definition, row.version, row.is_default, row.created_at)


class Definitions(Area):
    """The definitions of qrels of a collection."""

    def all(self) -> list[NamedQrels]:
        """Return every version of every definition; see `fetch_all_named`."""
        with self._db.reading() as session:
            return fetch_all_named(session)

    def named(self, word: str | None = None) -> NamedQrels:
        """Return a definition by its name, or a judge's own grades, or the default; see `fetch_named`."""
        with self._db.reading() as session:
            return fetch_named(session, word)

    def kinds(self, word: str | None = None) -> tuple[str, ...]:
        """Name the kinds of judges whom a definition counts; see `fetch_named` and `fetch_kinds`."""
        with self._db.reading() as session:
            return fetch_kinds(session, fetch_named(session, word).definition)

    def define(self, name: str, definition: QrelsDefinition, *, default: bool = False) -> NamedQrels:
        """Make the next version of a definition; with `default` its name is what is measured with.

        With `default`, and no choice in the definition, a name that is there stays as it is but for that.

        `ArgumentError`: the name is a judge's, or reads as a file or a version; choices do not go together,
        or have no meaning in this collection.
        """
        # Looking a name up loads no arrays.
        from store.grades.votes import pooled_of, refuse_adjudicators, topic_ids_of

        with self._db.writing() as session:
            self._db.topics.refresh(session)
            if fault := id_fault(name):
                raise ArgumentError("NAME", f"must be one word: {fault}", None)
            if is_file_word(name) or name.startswith("-") or "@" in name:
                requirement = "must be without / . = @, by which files and versions are known"
                raise ArgumentError("NAME", requirement, name)
            if session.scalar(select(JUDGE.c.id).where(JUDGE.c.name == name)) is not None:
                hint = f"--qrels {name} is the judge's own grades"
                raise ArgumentError("NAME", "must not be the name of a judge", name, hint=hint)
            definition.check()
            definition.check_scale(self._db.scale)
            pooled_of(session, definition)
            topic_ids_of(self._db.topics, definition)
            definition, last_event = replace(definition, events=None, last_event=None), None
            if definition.as_of is not None and definition.as_of <= datetime.now(UTC):
                if is_postgresql(session):  # an event that is being written may have a lower id
                    session.execute(text("LOCK TABLE judgement IN SHARE MODE"))
                until = JUDGEMENT.c.judged_at <= definition.as_of
                definition = replace(definition, events=count_rows(session, JUDGEMENT, until))
                last_event = session.scalar(select(func.max(JUDGEMENT.c.id)))
            for judge in (*definition.judges, *(who for _, who in definition.primary)):
                judge_id(session, judge)  # its error says how to see the names
            rulers = session.scalars(select(JUDGE.c.name).where(JUDGE.c.kind == JudgeKind.ADJUDICATOR.value))
            refuse_adjudicators(definition.judges if definition.sole is None else (), rulers.all())
            uids = {row.name: row.uid for row in session.execute(select(JUDGE.c.uid, JUDGE.c.name))}
            own = select(QRELS.c.version, QRELS.c.is_default, QRELS.c.dropped).where(QRELS.c.name == name)
            earlier = session.execute(own.order_by(QRELS.c.version.desc())).all()
            is_default = default or any(one.is_default for one in earlier)
            if is_default:
                session.execute(update(QRELS).where(QRELS.c.is_default).values(is_default=False))
            if earlier and not earlier[0].dropped and default and not definition.to_json():
                newest = (QRELS.c.name == name) & (QRELS.c.version == earlier[0].version)
                session.execute(update(QRELS).where(newest).values(is_default=True))
                return fetch_named(session, name)
            known = definition.with_judges(uids.__getitem__)
            stored = replace(known, judges=known.judges + known.erased, erased=())
            rule = json.dumps(stored.to_json(), sort_keys=True)
            version = 1 + (earlier[0].version if earlier else 0)
            values = {"name": name, "version": version, "rule": rule, "is_default": is_default}
            now = datetime.now(UTC)
            session.execute(insert(QRELS).values(**values, last_event=last_event, created_at=now))
            return fetch_named(session, f"{name}@{version}")

    def drop(self, name: str) -> int:
        """Take a definition away, with all its versions, whose numbers stay taken; return how many."""
        with self._db.writing() as session:
            rows = session.execute(select(QRELS.c.name, QRELS.c.is_default).where(~QRELS.c.dropped)).all()
            own = [one for one in rows if one.name == name]
            if not own:
                raise UnknownNameError("definition", name, {one.name for one in rows})
            if name == OFFICIAL or any(one.is_default for one in own):
                why = "every collection has it" if name == OFFICIAL else "it is the default"
                hint = "pooler qrels define NAME --default makes another the default"
                raise PoolerError(f"`{name}` stays: {why}", hint=hint)
            session.execute(update(QRELS).where(QRELS.c.name == name).values(dropped=True))
        return len(own)

    def missing_events(self, definition: QrelsDefinition) -> int:
        """Return how many events fewer there are up to a definition's moment than when it was made."""
        if definition.events is None or definition.until is None:
            return 0
        with self._db.reading() as session:
            return definition.events - count_rows(session, JUDGEMENT, definition.until.took(JUDGEMENT))
