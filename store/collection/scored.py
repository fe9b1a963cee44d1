"""A collection as whoever scores its runs sees it: rankings and one judge's grades, no text.

This layer loads nothing that judging needs, so that a score is quick to get.
"""

from __future__ import annotations

from collections.abc import Sequence

from store.analysis.arrays import Grades, RankedDocuments
from store.analysis.measures.sampled import SampledPool
from store.content import rankings
from store.content.opened import OpenCollection
from store.content.runs import check_tags
from store.db.engine import reading
from store.grades.policy import Policy
from store.grades.sampled import fetch_sampled_pools, sole_sampled_pool
from store.grades.votes import SoleGrades, fetch_sole_grades
from store.ranking import Order


class ScoredCollection(OpenCollection):
    """A test collection as those who score its runs see it; see `OpenCollection`."""

    def ranked_documents(
        self, tags: Sequence[str] = (), *, order: Order = "trec", docnos: bool = True
    ) -> RankedDocuments:
        """Return the named runs (default all) as document ids in rank order; `docnos` if asked.

        Raises
        ------
        UnknownNameError
            If a tag is not known.
        ArgumentError
            If order ``rank`` is asked of a run whose stated ranks are not all integers.
        """
        with self._reading() if docnos else reading(self._engine) as session:
            self._topics.refresh(session)
            known = tuple(run.tag for run in check_tags(session, tags))
            rankings_read = rankings.iterate_document_ids(session, self._topics, known, order=order)
            by_run = {(tag, topic): ids for tag, topic, ids in rankings_read}
            if not docnos:
                return RankedDocuments(known, by_run, {}, {})
            return RankedDocuments(known, by_run, self._documents.ids, self._documents.names)

    def sole_grades(self, policy: Policy) -> SoleGrades | None:
        """Return the grades of the one judge that a policy chooses; see `store.grades.votes`."""
        with reading(self._engine) as session:
            self._topics.refresh(session)
            return fetch_sole_grades(session, self._topics, policy)

    def sampled_pools(self, grades: Grades, pool: str | None = None) -> tuple[str, dict[str, SampledPool]]:
        """Return a sampled pool, default the only one, by name; see `store.grades.sampled`.

        Raises
        ------
        UnknownNameError
            If there is no pool of that name.
        PoolerError
            If none is named, and there is no sampled pool or several.
        """
        with reading(self._engine) as session:
            self._topics.refresh(session)
            name = sole_sampled_pool(session) if pool is None else pool
            return name, fetch_sampled_pools(session, self._topics, name, grades)
