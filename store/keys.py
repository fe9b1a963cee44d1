"""From docnos and topic ids to row ids and back, whole tables at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Table, insert, select
from sqlmodel import Session

from store.models import DOCUMENT, TOPIC


class Keys:
    """Ids of the documents or the topics of one collection, kept in memory.

    Parameters
    ----------
    table : Table
        `DOCUMENT` or `TOPIC`.
    key : str
        Its text key: ``docno`` or ``number``.
    blank : mapping of str to object
        What a row has in its other columns before a topics or documents file names it.

    Notes
    -----
    Rows are only ever added, with rising ids, so `refresh` reads just those above the highest id
    it knows. A caller whose transaction was rolled back must call `forget`.
    """

    def __init__(self, table: Table, key: str, blank: Mapping[str, object]) -> None:
        self._table = table
        self._blank = blank
        self._key = table.c[key]
        self.ids: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self._highest = 0

    def forget(self) -> None:
        """Drop everything; what was handed out stays as it was."""
        self.ids = {}
        self.names = {}
        self._highest = 0

    def refresh(self, session: Session) -> None:
        """Read the rows added since the last time."""
        row_id = self._table.c.id
        query = select(row_id, self._key).where(row_id > self._highest)
        self._learn(session.execute(query))

    def add(self, session: Session, names: Iterable[str]) -> int:
        """Insert the names that are new and return how many there were.

        The caller has called `refresh` inside the same bulk transaction.
        """
        new = [
            {self._key.name: name, **self._blank}
            for name in dict.fromkeys(names)
            if name not in self.ids
        ]
        if new:
            statement = insert(self._table).returning(self._table.c.id, self._key)
            self._learn(session.execute(statement, new))
        return len(new)

    def _learn(self, rows: Iterable[tuple[int, str]]) -> None:
        """Take in rows of id and name."""
        for number, name in rows:
            self.ids[name] = number
            self.names[number] = name
            self._highest = max(self._highest, number)


def document_keys() -> Keys:
    """Make the empty keys of the documents."""
    return Keys(DOCUMENT, "docno", {"listed": False})


def topic_keys() -> Keys:
    """Make the empty keys of the topics."""
    blank = {"listed": False, "title": "", "description": "", "narrative": ""}
    return Keys(TOPIC, "number", blank)
