"""A collection and its judges' grades, for whoever measures them or makes one of several."""

from __future__ import annotations

from collections.abc import Sequence

from store.analysis.populations import Population, PopulationVotes
from store.ballots import Ballots
from store.database import reading
from store.final_qrels import FinalQrels, decide
from store.gathering import fetch_ballots
from store.policy import Policy
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

    def ballots(self, policy: Policy) -> Ballots:
        """Return the votes and rulings that count; see `store.gathering.fetch_ballots`."""
        with self._reading() as session:
            return fetch_ballots(session, self._topics, self._documents, self.scale, policy)

    def final_qrels(self, policy: Policy) -> FinalQrels:
        """Choose the grade of every judged document; see `store.final_qrels`.

        Raises
        ------
        UnknownNameError
            If a judge that the policy names is not known.
        ArgumentError, PoolerError
            As `store.final_qrels.final_qrels` does; also if an adjudicator is to vote.
        """
        return decide(self.ballots(policy), policy)
