"""A collection and its people: who judges, and what is assigned to whom."""

from __future__ import annotations

from collections.abc import Sequence

from store.content.opened import OpenCollection
from store.db.engine import reading, writing
from store.judging import assignments as assignment_plans
from store.judging import erasing, judges
from store.judging import erasing as scrubbing
from store.judging import judges as people
from store.judging.assignments import Make
from store.judging.erasing import Erasing, Scrubbed
from store.judging.judges import Anonymised, Renamed
from store.judging.progress import fetch_workloads
from store.records import AssignmentPlan, Cleared, Existing, JudgeKind, Scope, Workloads


class StaffedCollection(OpenCollection):
    """A test collection as those who organise its judging see it; see `OpenCollection`."""

    def add_judge(self, name: str, kind: JudgeKind) -> bool:
        """Add a judge; see `store.judging.judges.add_judge`."""
        with writing(self._engine, bulk=True) as session:
            return judges.add_judge(session, name, kind)

    def set_disabled(self, names: Sequence[str], *, disabled: bool) -> list[str]:
        """Disable judges, or let them judge again; see `store.judging.judges.set_disabled`."""
        with writing(self._engine, bulk=True) as session:
            return judges.set_disabled(session, names, disabled=disabled)

    def rename_judge(self, old: str, new: str) -> Renamed:
        """Give a judge another name; see `store.judging.judges.rename`."""
        with writing(self._engine, bulk=True) as session:
            return people.rename(session, old, new)

    def anonymise_judges(
        self, names: Sequence[str], *, without_notes: bool = False, dry_run: bool = False
    ) -> Anonymised:
        """Take from judges whatever tells who they are; see `store.judging.judges.anonymise`."""
        if dry_run:
            with reading(self._engine) as session:
                return people.anonymise(session, names, dry_run=True)
        with writing(self._engine, bulk=True) as session:
            scrubbing.overwrite_removed(session)
            return people.anonymise(session, names, without_notes=without_notes)

    def erase_judge(self, name: str, *, dry_run: bool = False) -> Erasing:
        """Erase a judge, or say what would go; see `store.judging.erasing.erase`."""
        if dry_run:
            with reading(self._engine) as session:
                return erasing.look_at(session, name)
        with writing(self._engine, bulk=True) as session:
            scrubbing.overwrite_removed(session)
            return erasing.erase(session, name)

    def scrub(self) -> Scrubbed:
        """Remove the bytes of what was removed; see `store.judging.erasing.scrub`."""
        return scrubbing.scrub(self._engine)

    def assign(
        self, scope: Scope, make: Make, *, existing: Existing, dry_run: bool = False
    ) -> tuple[AssignmentPlan, Cleared, Workloads]:
        """Assign documents; see `store.judging.assignments.assign`.

        With `dry_run` everything is done, counted, and taken back.
        """
        with writing(self._engine, bulk=True) as session:
            plan, cleared = assignment_plans.assign(session, scope, make, existing=existing)
            after = fetch_workloads(session)
            if dry_run:
                session.rollback()
            return plan, cleared, after

    def clear_places(self, scope: Scope, *, dry_run: bool = False) -> tuple[Cleared, Workloads]:
        """Take places away; see `store.judging.assignments.clear_places`."""
        with writing(self._engine, bulk=True) as session:
            cleared = assignment_plans.clear_places(session, scope)
            after = fetch_workloads(session)
            if dry_run:
                session.rollback()
            return cleared, after

    def workloads(self) -> Workloads:
        """Return what lies before every judge; see `store.judging.progress.fetch_workloads`."""
        with reading(self._engine) as session:
            return fetch_workloads(session)
