"""A collection and its judges' grades as arrays, for whoever measures them."""

from __future__ import annotations

from collections.abc import Sequence

from store.analysis.populations import Population, PopulationVotes
from store.database import reading
from store.staffed_collection import StaffedCollection
from store.votes import fetch_votes


class MeasuredCollection(StaffedCollection):
    """A test collection as those who measure its judging see it; see `OpenCollection`."""

    def votes(
        self,
        judge_names: Sequence[str] | None = None,
        *,
        population: Population = "common",
        unlisted_as: int | None = None,
    ) -> PopulationVotes:
        """Return the current grades over a population; see `store.votes.fetch_votes`."""
        with reading(self._engine) as session:
            self._topics.refresh(session)
            return fetch_votes(
                session,
                self._topics,
                self.scale.values,
                judges=judge_names,
                population=population,
                unlisted_as=unlisted_as,
            )
