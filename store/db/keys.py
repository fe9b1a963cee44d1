"""From docnos and topic ids to row ids and back, whole tables at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from sqlalchemy import Table
from sqlmodel import Session

from store.db.columns import insert_new
from store.db.digests import add_docnos, note_changed
from store.db.engine import damaged, display, driver_rows
from store.db.tables import DOCUMENT, TOPIC
from store.text import Pairs, look_alikes

_IDS_A_QUERY = 1_000


class Keys:
    """Ids of the documents or the topics of one collection, by their text key, kept in memory.

    Rows are only ever added, with rising ids, so `refresh` reads just those above the highest id it knows. A
    caller whose transaction was rolled back must call `forget`. `blank`: the other columns of a row that no
    topics or documents file names yet, as `store.db.columns.raw_rows` has them.
    """

    def __init__(self, table: Table, key: str, blank: Mapping[str, object]) -> None:
        self._table = table
        self._blank = blank
        self._key = key
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
        query = f"SELECT {self._key}, id FROM {self._table.name} WHERE id > {self._highest} ORDER BY id"
        with driver_rows(session.connection(), query) as rows:
            self.ids.update(rows)
        self._highest = next(reversed(self.ids.values()), 0)

    def add(self, session: Session, names: Iterable[str]) -> int:
        """Insert the names that are new, ids rising in their order, and return how many there were.

        The caller has called `refresh` inside the same bulk transaction.
        """
        new = [name for name in dict.fromkeys(names) if name not in self.ids]
        if new:
            note_changed(session.connection(), self._table)
            rows = ((name, *self._blank.values()) for name in new)
            insert_new(session, self._table, (self._key, *self._blank), rows)
            self.refresh(session)
            if self._table is DOCUMENT:
                add_docnos(session, [(self.ids[name], name) for name in new])
        self.look_alikes |= look_alikes(new, self.ids)
        return len(new)


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
    with driver_rows(session.connection(), query) as rows:
        found = [row for row in rows if is_wanted[row[0]]]
    ids, docnos = [number for number, _ in found], [docno for _, docno in found]
    if len(ids) != is_wanted.count(1):
        where = display(session.connection().engine.url)
        raise damaged(where, "documents that are judged are missing")
    return ids, docnos


def document_keys() -> Keys:
    """Make the empty keys of the documents."""
    return Keys(DOCUMENT, "docno", {"listed": 0})


def topic_keys() -> Keys:
    """Make the empty keys of the topics."""
    return Keys(TOPIC, "number", {"listed": 0, "title": b"", "description": b"", "narrative": b""})
