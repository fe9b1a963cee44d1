"""A collection that is worked on in several places: copies come together, parts are handed out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from store.content.opened import OpenCollection
from store.db.engine import collection_url
from store.keeping.directory.tables import Progress, no_progress

if TYPE_CHECKING:
    from store.keeping.merge.copies import Merged
    from store.keeping.merge.histories import Wanted
    from store.keeping.work_copy import HandedOut


class MergedCollection(OpenCollection):
    """A test collection as those who judge it in several places see it; see `OpenCollection`."""

    def merge(
        self,
        others: Sequence[str],
        wanted: Wanted | None = None,
        *,
        dry_run: bool = False,
        progress: Progress = no_progress,
    ) -> Merged:
        """Bring copies together in this collection; see `store.keeping.merge.merge.merge`."""
        from store.keeping.merge.histories import Wanted
        from store.keeping.merge.merge import merge

        urls = [collection_url(other) for other in others]
        return merge(self._engine, urls, wanted or Wanted(), dry_run=dry_run, progress=progress)

    def hand_out(
        self, judge: str, file: Path, *, program: str, progress: Progress = no_progress
    ) -> HandedOut:
        """Make a collection of one judge's documents; see `store.keeping.work_copy.hand_out`."""
        from store.keeping.work_copy import hand_out

        return hand_out(self._engine, judge, file, program=program, progress=progress)
