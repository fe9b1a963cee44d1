"""A collection as whoever asks how sure its judgements are sees it: rankings and grades of all.

Like the layer below it, it loads nothing that judging needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from store.collection.scored import ScoredCollection
from store.db.engine import reading
from store.grades.votes import TalliedGrades, fetch_tallied_grades
from store.judging.judges import fetch_judges
from store.records import Judge


class TalliedCollection(ScoredCollection):
    """A test collection with its judges' grades by document; see `OpenCollection`."""

    def tallied_grades(self, of: Sequence[str] = ()) -> TalliedGrades:
        """Count judges' current grades by document; see `store.grades.votes`."""
        with reading(self._engine) as session:
            self._topics.refresh(session)
            return fetch_tallied_grades(session, self._topics, self.scale.values, of=of)

    def judges(self) -> list[Judge]:
        """Return every judge, by name."""
        with reading(self._engine) as session:
            return fetch_judges(session)

    def document_ids(self) -> Mapping[str, int]:
        """Return the id of every docno, as rankings and grades have it."""
        with self._reading():
            return self._documents.ids
