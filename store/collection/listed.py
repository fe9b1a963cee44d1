"""A collection as whoever looks at it sees it: lists, one thing at a time, and why a grade.

This layer loads none of the arithmetic, so that a look at a collection is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.collection.pooled import PooledCollection
from store.db.engine import reading
from store.judging import erasing as erasures
from store.judging.states import Sought, find
from store.looking import lists as document_lines
from store.looking import lists as listings

if TYPE_CHECKING:
    from store.judging.erasing import Erasure
    from store.looking.details import DocumentDossier, JudgeDossier, PoolDossier, RunDossier, TopicDossier
    from store.looking.history import Annals, Chronicle, Stretch
    from store.looking.lists import DocumentLines, JudgeLine, PoolLine, RoundLine, RunLine, TopicLine

EVERYTHING = Sought()


class ListedCollection(PooledCollection):
    """A test collection as those who look at it see it; see `OpenCollection`.

    Notes
    -----
    Every method raises `UnknownNameError` for a name that is not there.
    """

    def run_lines(self, sought: Sought = EVERYTHING) -> list[RunLine]:
        """Return the runs, each with its counts; see `store.looking.lists.run_lines`."""
        with reading(self._engine) as session:
            return listings.run_lines(session, find(session, sought))

    def topic_lines(self, sought: Sought = EVERYTHING) -> list[TopicLine]:
        """Return the topics, each with its counts; see `store.looking.lists.topic_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return listings.topic_lines(session, found, relaxed=self.scale.relaxed)

    def document_lines(self, sought: Sought = EVERYTHING, *, limit: int | None = None) -> DocumentLines:
        """Return documents, each with its counts; see `store.looking.lists`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return document_lines.document_lines(session, found, relaxed=self.scale.relaxed, limit=limit)

    def pool_lines(self, sought: Sought = EVERYTHING) -> list[PoolLine]:
        """Return the pools, each with its counts; see `store.looking.lists.pool_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return listings.pool_lines(session, found, relaxed=self.scale.relaxed)

    def judge_lines(self, sought: Sought = EVERYTHING) -> list[JudgeLine]:
        """Return the judges, each with their counts; see `store.looking.lists.judge_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return listings.judge_lines(session, found, relaxed=self.scale.relaxed)

    def round_lines(self, sought: Sought = EVERYTHING) -> list[RoundLine]:
        """Return the rounds, each with its counts; see `store.looking.lists.round_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return listings.round_lines(session, found, relaxed=self.scale.relaxed)

    def run_dossier(self, tag: str) -> RunDossier:
        """Return everything known of a run; see `store.looking.details.run_dossier`."""
        from store.looking import details as dossiers

        with reading(self._engine) as session:
            return dossiers.run_dossier(session, tag, relaxed=self.scale.relaxed)

    def topic_dossier(self, topic: str) -> TopicDossier:
        """Return everything known of a topic; see `store.looking.details.topic_dossier`."""
        from store.looking import details as dossiers

        with reading(self._engine) as session:
            return dossiers.topic_dossier(session, topic, relaxed=self.scale.relaxed)

    def document_dossier(self, docno: str) -> DocumentDossier:
        """Return everything known of a document; see `store.looking.details`."""
        from store.looking.details import document_dossier

        with reading(self._engine) as session:
            return document_dossier(session, docno)

    def pool_dossier(self, name: str) -> PoolDossier:
        """Return everything known of a pool; see `store.looking.details.pool_dossier`."""
        from store.looking import details as dossiers

        with reading(self._engine) as session:
            return dossiers.pool_dossier(session, name, relaxed=self.scale.relaxed)

    def judge_dossier(self, name: str) -> JudgeDossier:
        """Return everything known of a judge; see `store.looking.details.judge_dossier`."""
        from store.looking import details as dossiers

        with reading(self._engine) as session:
            return dossiers.judge_dossier(session, name, relaxed=self.scale.relaxed)

    def erasures(self) -> list[Erasure]:
        """Return what is left of judges who were erased; see `store.judging.erasing.Erasure`."""
        with reading(self._engine) as session:
            return erasures.fetch_erasures(session)

    def chronicle(self, topic: str, docno: str, asked: Stretch | None = None) -> Chronicle:
        """Return what happened to a document; see `store.looking.history.fetch_chronicle`."""
        from store.looking.history import EVERYTHING, fetch_chronicle

        with reading(self._engine) as session:
            return fetch_chronicle(session, topic, docno, asked or EVERYTHING)

    def annals(self, asked: Stretch | None = None) -> Annals:
        """Return what happened, when and by whom; see `store.looking.history.fetch_annals`."""
        from store.looking import history as annals

        with reading(self._engine) as session:
            return annals.fetch_annals(session, asked or annals.EVERYTHING)
