"""A collection whose pools change while it is judged: what a change would do, and doing it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from store.content.opened import OpenCollection

if TYPE_CHECKING:
    from store.content.pools import Replacement
    from store.looking.pool_change import PairStanding, Prospects
    from store.records import Pool, PoolEntry


class PooledCollection(OpenCollection):
    """A test collection as those who change its pools see it; see `OpenCollection`."""

    def pair_standings(self) -> dict[tuple[str, str], PairStanding]:
        """Return how every document stands; see `store.looking.pool_change.fetch_pair_standings`."""
        from store.looking.pool_change import fetch_pair_standings

        with self._reading() as session:
            return fetch_pair_standings(session, self._topics, self._documents)

    def prospects(self, pairs: Collection[tuple[str, str]]) -> Prospects:
        """Return who would judge documents; see `store.looking.pool_change.fetch_prospects`."""
        from store.looking.pool_change import fetch_prospects

        with self._reading() as session:
            return fetch_prospects(session, self._topics, self._documents, pairs)

    def replace_pool(self, batches: Iterable[Sequence[PoolEntry]], finish: Callable[[], Pool]) -> Replacement:
        """Add a pool in the place of another; see `store.content.pools.replace_pool`."""
        from store.content.pools import replace_pool

        with self._importing() as session:
            return replace_pool(session, self._topics, self._documents, batches, finish)
