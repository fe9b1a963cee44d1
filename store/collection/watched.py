"""A collection as whoever watches over its judging sees it: what is there, how far it has come.

This layer loads none of the arithmetic either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.collection.listed import ListedCollection
from store.content import documents, pools, topics
from store.db.engine import reading
from store.judging import judges, progress

if TYPE_CHECKING:
    from store.content.documents import TextCounts
    from store.content.pools import StoredPool
    from store.judging.disagreements import Case, Selection
    from store.judging.progress import Unclaimed
    from store.records import Counts, Judge, Topic


class WatchedCollection(ListedCollection):
    """A test collection as those who watch over its judging see it; see `OpenCollection`."""

    def topics(self) -> list[Topic]:
        """Return every topic in natural order."""
        with reading(self._engine) as session:
            return topics.fetch_topics(session)

    def pools(self) -> list[StoredPool]:
        """Return every pool without its entries, the oldest first."""
        with reading(self._engine) as session:
            return pools.fetch_pools(session)

    def judges(self) -> list[Judge]:
        """Return every judge, by name."""
        with reading(self._engine) as session:
            return judges.fetch_judges(session)

    def count_pooled_without_text(self) -> TextCounts:
        """Count pooled documents without text, and those that adaptive pools choose from apart."""
        with reading(self._engine) as session:
            return documents.count_pooled_without_text(session)

    def progress(self) -> dict[tuple[str, str], Counts]:
        """Return how many documents stand where, by (topic, judge)."""
        with self._reading() as session:
            return progress.count_states(session, self._topics, self.scale)

    def unclaimed(self) -> Unclaimed:
        """Return what lies before no judge yet; see `store.judging.progress.Unclaimed`."""
        with reading(self._engine) as session:
            self._topics.refresh(session)
            return progress.count_unclaimed(session, self._topics)

    def recent_times(self, *, limit: int) -> dict[str, list[int]]:
        """Return the active times of every judge's latest decisions; see `store.judging.effort`."""
        with reading(self._engine) as session:
            return progress.recent_times(session, limit=limit)

    def disagreements(self, selection: Selection | None = None) -> list[Case]:
        """Return the disagreements that are wanted, default all of them.

        See `store.judging.adjudication.fetch_listed`.
        """
        from store.judging.adjudication import fetch_listed
        from store.judging.disagreements import ALL

        with reading(self._engine) as session:
            return fetch_listed(session, ALL if selection is None else selection)
