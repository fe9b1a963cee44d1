"""A collection that can be carried elsewhere: whole histories, and everything there is at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from store.collection.staffed import StaffedCollection
from store.event import JudgementEvent
from store.keeping import histories
from store.records import ImportReport


class PortableCollection(StaffedCollection):
    """A test collection as it goes into files as a whole, and comes back; see `OpenCollection`."""

    def histories(self, judge_names: Sequence[str] | None = None) -> Iterator[JudgementEvent]:
        """Yield every event in one transaction; see `store.keeping.histories.fetch_histories_of`."""
        with self._reading() as session:
            yield from histories.fetch_histories_of(
                session, self._topics, self._documents, judges=judge_names
            )

    def append_histories(self, events: Iterable[JudgementEvent]) -> ImportReport:
        """Append events that are not there yet; see `store.keeping.histories.append_histories`."""
        with self._importing() as session:
            return histories.append_histories(session, self._topics, self._documents, events)
