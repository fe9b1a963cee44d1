"""Documents by the numbers that a reader of runs gives them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from store.db.keys import Keys

_BATCH = 10_000
"""Documents told to the database at a time."""


class NumberedDocuments:
    """Documents as one reader of runs numbers them, from 0 on, and their row ids.

    The reader tells the docnos it meets, each once, in the order of their numbers. A run that is
    stored turns those still waiting into row ids, for good once its transaction is committed.
    """

    def __init__(self) -> None:
        self._ids: NDArray[np.int32] = np.empty(0, np.int32)
        self._waiting: list[str] = []
        self._proposed: NDArray[np.int32] | None = None

    def extend(self, docnos: Iterable[str]) -> None:
        """Take in the docnos of the numbers that come next."""
        self._waiting.extend(docnos)

    def resolve(self, session: Session, documents: Keys) -> NDArray[np.int32]:
        """Return the row id of every number so far, inserting the documents that are new."""
        for start in range(0, len(self._waiting), _BATCH):
            documents.add(session, self._waiting[start : start + _BATCH])
        ids = map(documents.ids.__getitem__, self._waiting)
        new = np.fromiter(ids, np.int32, len(self._waiting))
        self._proposed = np.concatenate((self._ids, new))
        return self._proposed

    def settle(self) -> None:
        """Keep what `resolve` returned: its transaction is committed."""
        if self._proposed is not None:
            self._ids, self._proposed = self._proposed, None
            self._waiting.clear()
