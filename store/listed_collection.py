"""A collection as whoever looks at it sees it: lists, one thing at a time, and why a grade.

This layer loads none of the arithmetic, so that a look at a collection is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from store import document_lines, erasures, listings
from store.database import reading
from store.pooled_collection import PooledCollection
from store.standing import Sought, find

if TYPE_CHECKING:
    from store.annals import Annals, Stretch
    from store.chronicle import Chronicle
    from store.document_dossier import DocumentDossier
    from store.document_lines import DocumentLines
    from store.dossiers import (
        JudgeDossier,
        PoolDossier,
        RunDossier,
        TopicDossier,
    )
    from store.erasures import Erasure
    from store.listings import JudgeLine, PoolLine, RoundLine, RunLine, TopicLine

EVERYTHING = Sought()


class ListedCollection(PooledCollection):
    """A test collection as those who look at it see it; see `OpenCollection`.

    Notes
    -----
    Every method raises `UnknownNameError` for a name that is not there.
    """

    def run_lines(self, sought: Sought = EVERYTHING) -> list[RunLine]:
        """Return the runs, each with its counts; see `store.listings.run_lines`."""
        with reading(self._engine) as session:
            return listings.run_lines(session, find(session, sought))

    def topic_lines(self, sought: Sought = EVERYTHING) -> list[TopicLine]:
        """Return the topics, each with its counts; see `store.listings.topic_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return listings.topic_lines(session, found, relaxed=self.scale.relaxed)

    def document_lines(
        self, sought: Sought = EVERYTHING, *, limit: int | None = None
    ) -> DocumentLines:
        """Return documents, each with its counts; see `store.document_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return document_lines.document_lines(
                session, found, relaxed=self.scale.relaxed, limit=limit
            )

    def pool_lines(self, sought: Sought = EVERYTHING) -> list[PoolLine]:
        """Return the pools, each with its counts; see `store.listings.pool_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return listings.pool_lines(session, found, relaxed=self.scale.relaxed)

    def judge_lines(self, sought: Sought = EVERYTHING) -> list[JudgeLine]:
        """Return the judges, each with their counts; see `store.listings.judge_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return listings.judge_lines(session, found, relaxed=self.scale.relaxed)

    def round_lines(self, sought: Sought = EVERYTHING) -> list[RoundLine]:
        """Return the rounds, each with its counts; see `store.listings.round_lines`."""
        with reading(self._engine) as session:
            found = find(session, sought)
            return listings.round_lines(session, found, relaxed=self.scale.relaxed)

    def run_dossier(self, tag: str) -> RunDossier:
        """Return everything known of a run; see `store.dossiers.run_dossier`."""
        from store import dossiers

        with reading(self._engine) as session:
            return dossiers.run_dossier(session, tag, relaxed=self.scale.relaxed)

    def topic_dossier(self, topic: str) -> TopicDossier:
        """Return everything known of a topic; see `store.dossiers.topic_dossier`."""
        from store import dossiers

        with reading(self._engine) as session:
            return dossiers.topic_dossier(session, topic, relaxed=self.scale.relaxed)

    def document_dossier(self, docno: str) -> DocumentDossier:
        """Return everything known of a document; see `store.document_dossier`."""
        from store.document_dossier import document_dossier

        with reading(self._engine) as session:
            return document_dossier(session, docno)

    def pool_dossier(self, name: str) -> PoolDossier:
        """Return everything known of a pool; see `store.dossiers.pool_dossier`."""
        from store import dossiers

        with reading(self._engine) as session:
            return dossiers.pool_dossier(session, name, relaxed=self.scale.relaxed)

    def judge_dossier(self, name: str) -> JudgeDossier:
        """Return everything known of a judge; see `store.dossiers.judge_dossier`."""
        from store import dossiers

        with reading(self._engine) as session:
            return dossiers.judge_dossier(session, name, relaxed=self.scale.relaxed)

    def erasures(self) -> list[Erasure]:
        """Return what is left of judges who were erased; see `store.erasures.Erasure`."""
        with reading(self._engine) as session:
            return erasures.fetch_erasures(session)

    def chronicle(self, topic: str, docno: str, asked: Stretch | None = None) -> Chronicle:
        """Return what happened to a document; see `store.chronicle.fetch_chronicle`."""
        from store.annals import EVERYTHING
        from store.chronicle import fetch_chronicle

        with reading(self._engine) as session:
            return fetch_chronicle(session, topic, docno, asked or EVERYTHING)

    def annals(self, asked: Stretch | None = None) -> Annals:
        """Return what happened, when and by whom; see `store.annals.fetch_annals`."""
        from store import annals

        with reading(self._engine) as session:
            return annals.fetch_annals(session, asked or annals.EVERYTHING)
