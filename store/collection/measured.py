"""A collection and its judges' grades, for whoever measures them or makes one of several."""

from __future__ import annotations

from collections.abc import Sequence

from store.analysis.agreement.populations import Population, PopulationVotes
from store.collection.staffed import StaffedCollection
from store.db.engine import reading
from store.grades.opinions import Ballots
from store.grades.policy import Policy
from store.grades.qrels import FinalQrels, decide
from store.grades.votes import fetch_ballots, fetch_votes


class MeasuredCollection(StaffedCollection):
    """A test collection as those who measure its judging see it; see `OpenCollection`."""

    def votes(
        self,
        judge_names: Sequence[str] | None = None,
        *,
        population: Population = "common",
        unlisted_as: int | None = None,
    ) -> PopulationVotes:
        """Return the current grades over a population; see `store.grades.votes.fetch_votes`."""
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
        """Return the votes and rulings that count; see `store.grades.votes.fetch_ballots`."""
        with self._reading() as session:
            return fetch_ballots(session, self._topics, self._documents, self.scale, policy)

    def final_qrels(self, policy: Policy) -> FinalQrels:
        """Choose the grade of every judged document; see `store.grades.qrels`.

        Raises
        ------
        UnknownNameError
            If a judge that the policy names is not known.
        ArgumentError, PoolerError
            As `store.grades.qrels.final_qrels` does; also if an adjudicator is to vote.
        """
        return decide(self.ballots(policy), policy)
