"""From docnos and topic ids to row ids and back, whole tables at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from sqlalchemy import Connection, Table, select
from sqlmodel import Session

from store.db.digests import add_docnos, note_changed
from store.db.engine import DAMAGED, DAMAGED_HINT, display, driver_rows
from store.db.tables import DOCUMENT, TOPIC
from store.errors import StoreError
from store.text import Pairs, look_alikes

_BATCH = 10_000
"""Rows inserted or read at a time."""
_IDS_A_QUERY = 1_000


class Keys:
    """Ids of the documents or the topics of one collection, by their text key, kept in memory.

    Rows are only ever added, with rising ids, so `refresh` reads just those above the highest id it knows. A
    caller whose transaction was rolled back must call `forget`. `blank`: the other columns of a row that no
    topics or documents file names yet.
    """

    def __init__(self, table: Table, key: str, blank: Mapping[str, object]) -> None:
        self._table = table
        self._blank = blank
        self._key = table.c[key]
        self._names: dict[int, str] = {}
        self._highest = 0
        self.ids: dict[str, int] = {}
        """Name to id."""
        self.look_alikes: Pairs = {}
        """Of the names added here, those that differ from another in Unicode normal form alone."""

    @property
    def names(self) -> dict[int, str]:
        """Id to name; made when it is first asked for, which an import of runs never does."""
        if len(self._names) < len(self.ids):
            # A dictionary keeps the order in which it was filled.
            unnamed = islice(self.ids.items(), len(self._names), None)
            self._names.update((number, name) for name, number in unnamed)
        return self._names

    def forget(self) -> None:
        """Drop everything; what was handed out stays as it was."""
        self.ids = {}
        self._names = {}
        self._highest = 0
        self.look_alikes = {}

    def refresh(self, session: Session) -> None:
        """Read the rows added since the last time."""
        row_id = self._table.c.id
        query = select(self._key, row_id).where(row_id > self._highest).order_by(row_id)
        result = session.connection().execute(query)
        while rows := result.fetchmany(_BATCH):
            self.ids.update(map(tuple, rows))
            self._highest = rows[-1][1]

    def add(self, session: Session, names: Iterable[str]) -> int:
        """Insert the names that are new, ids rising in their order, and return how many there were.

        The caller has called `refresh` inside the same bulk transaction.
        """
        new = [name for name in dict.fromkeys(names) if name not in self.ids]
        for start in range(0, len(new), _BATCH):
            self._insert(session, new[start : start + _BATCH])
        self.look_alikes |= look_alikes(new, self.ids)
        return len(new)

    def _insert(self, session: Session, names: list[str]) -> None:
        """Insert new names; their ids rise in the order of the list."""
        connection = session.connection()
        table, key = self._table.name, self._key.name
        note_changed(connection, self._table)
        columns = ", ".join((key, *self._blank))
        blank = [self._for_driver(connection, name) for name in self._blank]
        # The driver is handed plain values: SQLAlchemy's rows cost more than the insertion.
        if connection.dialect.name == "postgresql":
            # One statement with one array; a row at a time takes twenty times as long.
            result = connection.exec_driver_sql(
                f"INSERT INTO {table} ({columns})"
                f" SELECT name{', %s' * len(blank)} FROM unnest(%s::text[])"
                f" WITH ORDINALITY AS new (name, place) ORDER BY place RETURNING {key}, id",
                (*blank, names),
            )
            self.ids.update(map(tuple, result))
            self._highest = max(self._highest, self.ids[names[-1]])
            self._add_to_digest(session, names)
            return
        # Imports wait for each other and rows are never deleted, so the next ids are these.
        numbers = range(self._highest + 1, self._highest + 1 + len(names))
        connection.exec_driver_sql(
            f"INSERT INTO {table} (id, {columns}) VALUES (?, ?{', ?' * len(blank)})",
            [(number, name, *blank) for number, name in zip(numbers, names, strict=True)],
        )
        self.ids.update(zip(names, numbers, strict=True))
        self._highest = numbers[-1]
        self._add_to_digest(session, names)

    def _add_to_digest(self, session: Session, names: list[str]) -> None:
        if self._table is DOCUMENT:
            add_docnos(session, ((self.ids[name], name) for name in names))

    def _for_driver(self, connection: Connection, column: str) -> object:
        kind = self._table.c[column].type.dialect_impl(connection.dialect)
        process = kind.bind_processor(connection.dialect)
        return self._blank[column] if process is None else process(self._blank[column])


def fetch_docnos(session: Session, ids: Iterable[int]) -> dict[int, str]:
    """Return the docnos of some documents, by id; ids that no document has are left out."""
    wanted = sorted(set(ids))
    docnos: dict[int, str] = {}
    for start in range(0, len(wanted), _IDS_A_QUERY):
        numbers = ", ".join(map(str, wanted[start : start + _IDS_A_QUERY]))
        query = f"SELECT id, docno FROM document WHERE id IN ({numbers})"
        with driver_rows(session.connection(), query) as rows:
            docnos.update(rows)
    return docnos


def fetch_ordered_docnos(session: Session, is_wanted: bytes) -> tuple[list[int], list[str]]:
    """Return the ids and the docnos of the documents whose ids have a one, by docno bytewise.

    The whole table is looked through: what is judged is often most of it.
    """
    query = f"SELECT id, docno FROM document WHERE id < {len(is_wanted)} ORDER BY docno"
    ids, docnos = [], []
    with driver_rows(session.connection(), query) as rows:
        for number, docno in rows:
            if is_wanted[number]:
                ids.append(number)
                docnos.append(docno)
    if len(ids) != is_wanted.count(1):
        where = display(session.connection().engine.url)
        message = f"{where}: {DAMAGED}: documents that are judged are missing"
        raise StoreError(message, hint=DAMAGED_HINT)
    return ids, docnos


def document_keys() -> Keys:
    """Make the empty keys of the documents."""
    return Keys(DOCUMENT, "docno", {"listed": False})


def topic_keys() -> Keys:
    """Make the empty keys of the topics."""
    blank = {"listed": False, "title": "", "description": "", "narrative": ""}
    return Keys(TOPIC, "number", blank)
