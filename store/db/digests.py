"""Digests: whether what is stored is what was written.

SQLite keeps no checksum of its pages: a bit that flips on the disk may turn a grade into another one of the
scale, and no rule is broken. So a collection keeps digests of 64 bits (BLAKE2b) of values as SQLite has them
(`store.db.columns`), written in the transaction that writes the values:

- ``judgement.digest``: one event, with the topic, the docno and the judge's uid in place of row ids, and its
  passages; ``answer.digest``: one answer of a model, likewise;
- ``run.digest``: the rankings of a run; ``pool.digest``: the entries of a pool, with topics and docnos;
- ``assignment.digest``, ``sitting.digest``: one place at a document, one sitting; an UPDATE takes it off, and
  the end of the transaction puts the new one on;
- the table ``digest``: the rows of each table of `WHOLE`, which places at documents there are, the
  docnos with the hashes of texts, all events and all answers.

The digest of several rows is the exclusive or of their digests, so that their order does not matter and a row
more costs no look at the others. A document's title and text have their SHA-256 beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from hashlib import blake2b
from itertools import islice
from operator import itemgetter, xor
from struct import unpack
from typing import Any

from sqlalchemy import Connection, Engine, Table, Update, delete, event, insert, select, text, update
from sqlmodel import Session

from store.db.columns import is_postgresql, raw_rows
from store.db.tables import (
    ANSWER,
    DIGEST,
    DOCUMENT,
    JUDGE,
    JUDGEMENT,
    PASSAGE,
    POOL,
    POOL_ENTRY,
    RANKING,
    RUN,
    TABLES,
    TOPIC,
)

WHOLE = (
    *("collection", "guideline", "topic", "topic_version", "document_metadata", "run", "pool", "pool_run"),
    *("pool_topic", "judge", "judge_code", "model_judge", "erasure", "assignment_plan"),
    "qrels",
)
"""Tables of few rows, whose digest is computed anew whenever a transaction has changed one."""
CHANGING = ("assignment", "sitting")
"""Tables whose rows change while judges are at work."""
_CHANGED = "pooler_changed_tables"
_EVENTS = "pooler_changed_events"
_LOCK = 0x64696765
"""Key of the PostgreSQL advisory lock of the table of digests ("dige")."""
_BATCH = 1000

_NAMES = {"topic_id": TOPIC.c.number, "document_id": DOCUMENT.c.docno, "judge_id": JUDGE.c.uid}
"""What stands in place of the row ids of a row whose digest is its own."""


def digests_of(rows: Iterable[Sequence[Any]]) -> tuple[int, ...]:
    r"""Return the digest of each row: 64 bits as a signed integer.

    BLAKE2b of the values as Python's ``repr`` writes them, with the unit separator between them: a number and
    its digits differ, and so do text and its bytes. A zero has one sign, for an engine may lose it.

    ``python -c 'import hashlib; print(int.from_bytes(hashlib.blake2b(b"7\x1fNone\x1f\x27a\x27",
    digest_size=8).digest(), "big", signed=True))'``:

    >>> digests_of([[7, None, "a"]])
    (-387954054118670911,)
    >>> digests_of([[-0.0]]) == digests_of([[0.0]])
    True
    """
    found = [blake2b(_written(row), digest_size=8).digest() for row in rows]
    return unpack(f">{len(found)}q", b"".join(found))


def _written(row: Sequence[Any]) -> bytes:
    written = "\x1f".join(map(repr, row))
    if "-0.0" in written:
        written = "\x1f".join(repr(one + 0.0 if type(one) is float else one) for one in row)
    return written.encode()


def _xor(digests: Iterable[int]) -> int:
    return reduce(xor, digests, 0)


def combined(rows: Iterable[Sequence[Any]]) -> int:
    """Return the digest of several rows."""
    rows, whole = iter(rows), 0
    while found := digests_of(islice(rows, _BATCH)):
        whole ^= _xor(found)
    return whole


def _named_rows(session: Session, table: Table, where: str) -> Iterator[tuple[Sequence[Any], int]]:
    """Yield rows of a table that refers to topics and documents, and the digest each is to have.

    A row has the values that its digest is of, an id first and names as in `_NAMES` last; and then the digest
    that is stored, if the table has one.
    """
    named = {name: column for name, column in _NAMES.items() if name in table.columns}
    joins = " ".join(
        f"LEFT JOIN {column.table.name} ON {column.table.name}.id = {table.name}.{key}"
        for key, column in named.items()
    )
    own = [one for one in table.columns if one.name not in {*named, "digest", "pool_id"}]
    columns = [*own, *named.values(), *([table.c.digest] if "digest" in table.c else [])]
    n_values = len(own) + len(named)
    passages = _passages(session, where) if table is JUDGEMENT else {}
    rows = raw_rows(session, table, where=where or "TRUE", joins=joins, columns=columns)
    while block := list(islice(rows, _BATCH)):
        values: Iterable[Sequence[Any]] = map(itemgetter(slice(n_values)), block)
        if passages:
            values = ((*one, *passages.get(one[0], ())) for one in values)
        yield from zip(block, digests_of(values), strict=True)


def _passages(session: Session, where: str) -> dict[int, list[Any]]:
    """Return start, length and text of the passages of some events, one after another, by the event."""
    of_events = f"judgement_id IN (SELECT id FROM judgement WHERE {where})" if where else ""
    found: dict[int, list[Any]] = {}
    for _, event_id, *passage in sorted(map(tuple, raw_rows(session, PASSAGE, where=of_events))):
        found.setdefault(event_id, []).extend(passage)
    return found


def write_event_digests(session: Session, table: Table = JUDGEMENT, *, where: str = "digest IS NULL") -> None:
    """Give a digest to the rows that a condition chooses: events, answers, or of a table of `CHANGING`."""
    session.flush()
    waiting = []
    for row, digest in _named_rows(session, table, where):
        waiting.append({"row": row[0], "new": digest})
        if table.name not in CHANGING:
            note_events(session, table, (digest, row[-1] or 0))
    statement = text(f"UPDATE {table.name} SET digest = :new WHERE id = :row")
    for first in range(0, len(waiting), _BATCH):
        session.connection().execute(statement, waiting[first : first + _BATCH])


def note_events(session: Session, table: Table, digests: Iterable[int]) -> None:
    """Note that events with these digests came or went; what one was before counts as gone."""
    changes = session.info.setdefault(_EVENTS, {})
    changes[table.name] = _xor((changes.get(table.name, 0), *digests))


def run_digest(session: Session, run_id: int) -> int:
    """Return the digest that a run is to have."""
    return combined(row[1:] for row in raw_rows(session, RANKING, where=f"run_id = {run_id:d}"))


def pool_digest(session: Session, pool_id: int, more: str = "") -> int:
    """Return the digest that a pool is to have; with `more`, a condition, that of some entries."""
    where = f"pool_entry.pool_id = {pool_id:d}{more}"
    return _xor(digest for _, digest in _named_rows(session, POOL_ENTRY, where))


def write_run_digest(session: Session, run_id: int) -> None:
    """Give a run the digest of its rankings."""
    session.execute(update(RUN).where(RUN.c.id == run_id).values(digest=run_digest(session, run_id)))


def write_pool_digest(session: Session, pool_id: int) -> None:
    """Give a pool the digest of its entries."""
    session.flush()
    session.execute(update(POOL).where(POOL.c.id == pool_id).values(digest=pool_digest(session, pool_id)))


def table_digest(session: Session, name: str) -> int:
    """Return the digest that a table of `WHOLE`, or the docnos, are to have."""
    if name == DOCUMENT.name:
        known = session.connection().exec_driver_sql("SELECT id, docno, listed, sha256 FROM document")
        return combined(document_values(*row) for row in known)
    if name == "assignment":
        return combined(map(tuple, session.connection().exec_driver_sql(f"SELECT id FROM {name}")))
    return combined(raw_rows(session, TABLES[name]))


def stored_digests(session: Session) -> dict[str, int]:
    """Return the digests of tables that are stored, by the name of the table."""
    return dict(map(tuple, session.connection().exec_driver_sql("SELECT name, value FROM digest")))


def _store(session: Session, digests: dict[str, int]) -> None:
    connection = session.connection()
    connection.execute(delete(DIGEST).where(DIGEST.c.name.in_(digests)))
    connection.execute(insert(DIGEST), [{"name": name, "value": value} for name, value in digests.items()])


def document_values(row_id: int, docno: str, listed: Any, sha256: str | None) -> tuple[Any, ...]:
    """Return what the digest of the docnos is made of: a document more leaves that of the others."""
    return (row_id, docno, *((1 if listed is True else listed, sha256) if listed else ()))


def add_docnos(session: Session, rows: Iterable[tuple[Any, ...]]) -> None:
    """Add documents to the digest of the docnos, or take them out if they are in it; see `document_values`.

    The transaction is a bulk one (`store.db.engine.writing`): no other adds documents.
    """
    before = stored_digests(session).get(DOCUMENT.name, 0)
    _store(session, {DOCUMENT.name: before ^ combined(rows)})


def note_changes(engine: Engine) -> None:
    """Note of each transaction on an engine which tables with a digest it changes."""

    def note(connection: Connection, statement: Any, *_rest: Any) -> None:
        if getattr(statement, "is_dml", False):
            note_changed(connection, statement.table, are_rows_same=statement.is_update)

    def take_off(_: Connection, statement: Any, many: Any, one: Any, __: Any) -> tuple[Any, Any, Any]:
        if isinstance(statement, Update) and getattr(statement.table, "name", "") in CHANGING:
            statement = statement.values(digest=None)
        return statement, many, one

    event.listen(engine, "before_execute", take_off, retval=True)
    event.listen(engine, "after_execute", note)


def note_changed(connection: Connection, table: Table, *, are_rows_same: bool = False) -> None:
    """Note that a transaction changes a table, past SQLAlchemy perhaps."""
    changed = connection.info.setdefault(_CHANGED, set())
    if table.name in CHANGING:
        changed.add((table.name, "rows"))
    # Which sittings there are is what others do: a judge's program reads nothing of it.
    if table.name in WHOLE or (table.name == "assignment" and not are_rows_same):
        changed.add((table.name, ""))


def renew_changed(session: Session) -> None:
    """Compute the digests of what this transaction has changed in tables of `WHOLE` and `CHANGING`."""
    changed = session.connection().info.pop(_CHANGED, set()) if session.in_transaction() else set()
    for name, what in sorted(changed):
        if what:
            write_event_digests(session, TABLES[name])
    if whole := sorted(name for name, what in changed if not what):
        renew_tables(session, whole)
    # Last of all, so that no judge waits for another one's whole decision.
    for name, change in sorted(session.info.pop(_EVENTS, {}).items()):
        _lock(session)
        _store(session, {name: stored_digests(session).get(name, 0) ^ change})


def _lock(session: Session) -> None:
    """Wait until no other transaction writes digests of tables; what it wrote is seen then."""
    if is_postgresql(session):
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def renew_tables(session: Session, names: Iterable[str]) -> None:
    """Compute the digests of tables, which no other transaction computes meanwhile."""
    _lock(session)
    _store(session, {name: table_digest(session, name) for name in names})


def write_all_digests(session: Session) -> None:
    """Give everything its digest: rows have come in that have none."""
    for table in (JUDGEMENT, ANSWER):
        write_event_digests(session, table, where="TRUE")
        _store(session, {table.name: _xor(session.scalars(select(table.c.digest)))})
    session.info.pop(_EVENTS, None)
    for name in CHANGING:
        write_event_digests(session, TABLES[name], where="TRUE")
    for run_id in session.scalars(select(RUN.c.id)).all():
        write_run_digest(session, run_id)
    for pool_id in session.scalars(select(POOL.c.id)).all():
        write_pool_digest(session, pool_id)
    renew_tables(session, (*WHOLE, "assignment", DOCUMENT.name))


def broken_indexes(session: Session, *tables: str) -> Iterator[str]:
    """Yield what SQLite finds wrong with tables and their indexes, by which rows are found.

    A digest is of the rows of a table; a query that goes by a damaged index would miss some of them. What may
    stand in a row is looked at where a digest does not say what did: it takes as long again.
    """
    for table in () if is_postgresql(session) else tables:
        connection = session.connection()
        connection.exec_driver_sql(f"PRAGMA ignore_check_constraints = {table not in CHANGING}")
        rows = connection.exec_driver_sql(f"PRAGMA integrity_check('{table}')").all()
        connection.exec_driver_sql("PRAGMA ignore_check_constraints = FALSE")
        yield from (str(found).splitlines()[-1] for (found,) in rows if found != "ok")


def wrong_tables(
    session: Session, names: Iterable[str] = (*WHOLE, "assignment", DOCUMENT.name)
) -> Iterator[str]:
    """Yield what is wrong with tables that have one digest."""
    stored = stored_digests(session)
    for name in names:
        if table_digest(session, name) != stored.get(name, 0):
            what = "the docnos, or the hashes of texts," if name == DOCUMENT.name else f"the rows of `{name}`"
            yield f"{what} are not as they were written"


def wrong_events(session: Session, table: Table = JUDGEMENT) -> Iterator[str]:
    """Yield what is wrong with judgement events, answers of models, or rows of a table of `CHANGING`."""
    # A server answers one question at a time.
    wrong, whole = [], 0
    for row, digest in _named_rows(session, table, ""):
        whole ^= row[-1] or 0
        if row[-1] != digest:
            wrong.append(row)
    if table.name in CHANGING:
        yield from (f"row {row[0]} of `{table.name}` is not as it was written" for row in wrong)
        return
    judges = dict(map(tuple, session.execute(select(JUDGE.c.uid, JUDGE.c.name)))) if wrong else {}
    for row in wrong:
        number, docno, uid = row[-4:-1]
        what = f", revision {row[1]}" if table is JUDGEMENT else ", an answer"
        yield f"topic {number} `{docno}` of `{judges.get(uid, uid)}`{what}: it is not as it was written"
    if not wrong and whole != stored_digests(session).get(table.name, 0):
        what = "judgement events" if table is JUDGEMENT else "answers of models"
        yield f"{what} are not all there, or there are more than were written"


def wrong_runs(session: Session, tag: str | None = None) -> Iterator[str]:
    """Yield what is wrong with the rankings of runs: one, or all."""
    query = select(RUN.c.id, RUN.c.tag, RUN.c.digest).order_by(RUN.c.tag)
    for row in session.execute(query if tag is None else query.where(RUN.c.tag == tag)).all():
        if run_digest(session, row.id) != row.digest:
            yield f"run `{row.tag}`: its rankings are not as they were written"


def wrong_pools(session: Session, name: str | None = None) -> Iterator[str]:
    """Yield what is wrong with the entries of pools: one, or all."""
    query = select(POOL.c.id, POOL.c.name, POOL.c.digest).order_by(POOL.c.name)
    for row in session.execute(query if name is None else query.where(POOL.c.name == name)).all():
        if pool_digest(session, row.id) != row.digest:
            yield f"pool `{row.name}`: its entries are not as they were written"
