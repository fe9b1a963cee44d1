"""A collection that can be carried elsewhere: whole histories, and everything there is at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlmodel import Session

from store import histories
from store.formats.judgements import JudgementEvent
from store.imports import ImportReport
from store.keys import Keys
from store.staffed_collection import StaffedCollection


@dataclass(frozen=True, slots=True)
class Inside:
    """One transaction on a collection, and the keys that go with it."""

    session: Session
    topics: Keys
    documents: Keys


class PortableCollection(StaffedCollection):
    """A test collection as it goes into files as a whole, and comes back; see `OpenCollection`."""

    def histories(self, judge_names: Sequence[str] | None = None) -> Iterator[JudgementEvent]:
        """Yield every event in one transaction; see `store.histories.fetch_histories_of`."""
        with self._reading() as session:
            yield from histories.fetch_histories_of(
                session, self._topics, self._documents, judges=judge_names
            )

    def append_histories(self, events: Iterable[JudgementEvent]) -> ImportReport:
        """Append events that are not there yet; see `store.histories.append_histories`."""
        with self._importing() as session:
            return histories.append_histories(session, self._topics, self._documents, events)

    @contextmanager
    def as_it_stands(self) -> Iterator[Inside]:
        """Open a transaction that sees one state of everything, whatever judges do meanwhile."""
        with self._reading() as session:
            yield Inside(session, self._topics, self._documents)

    @contextmanager
    def being_filled(self) -> Iterator[Inside]:
        """Open a transaction that fills the collection: wholly, or on any error not at all."""
        with self._importing() as session:
            yield Inside(session, self._topics, self._documents)
