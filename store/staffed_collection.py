"""A collection and its people: who judges, and what is assigned to whom."""

from __future__ import annotations

from collections.abc import Sequence

from store import assignment_plans, erasing, judges, people, scrubbing
from store.assignment_plans import Make
from store.database import reading, writing
from store.erasing import Erasing
from store.open_collection import OpenCollection
from store.people import Anonymised, Renamed
from store.records import JudgeKind
from store.scrubbing import Scrubbed
from store.seats import AssignmentPlan, Cleared, Existing, Scope, Workloads
from store.workloads import fetch_workloads


class StaffedCollection(OpenCollection):
    """A test collection as those who organise its judging see it; see `OpenCollection`."""

    def add_judge(self, name: str, kind: JudgeKind) -> bool:
        """Add a judge; see `store.judges.add_judge`."""
        with writing(self._engine, bulk=True) as session:
            return judges.add_judge(session, name, kind)

    def set_disabled(self, names: Sequence[str], *, disabled: bool) -> list[str]:
        """Disable judges, or let them judge again; see `store.judges.set_disabled`."""
        with writing(self._engine, bulk=True) as session:
            return judges.set_disabled(session, names, disabled=disabled)

    def rename_judge(self, old: str, new: str) -> Renamed:
        """Give a judge another name; see `store.people.rename`."""
        with writing(self._engine, bulk=True) as session:
            return people.rename(session, old, new)

    def anonymise_judges(
        self, names: Sequence[str], *, without_notes: bool = False, dry_run: bool = False
    ) -> Anonymised:
        """Take from judges whatever tells who they are; see `store.people.anonymise`."""
        if dry_run:
            with reading(self._engine) as session:
                return people.anonymise(session, names, dry_run=True)
        with writing(self._engine, bulk=True) as session:
            scrubbing.overwrite_removed(session)
            return people.anonymise(session, names, without_notes=without_notes)

    def erase_judge(self, name: str, *, dry_run: bool = False) -> Erasing:
        """Erase a judge, or say what would go; see `store.erasing.erase`."""
        if dry_run:
            with reading(self._engine) as session:
                return erasing.look_at(session, name)
        with writing(self._engine, bulk=True) as session:
            scrubbing.overwrite_removed(session)
            return erasing.erase(session, name)

    def scrub(self) -> Scrubbed:
        """Remove the bytes of what was removed; see `store.scrubbing.scrub`."""
        return scrubbing.scrub(self._engine)

    def assign(
        self, scope: Scope, make: Make, *, existing: Existing, dry_run: bool = False
    ) -> tuple[AssignmentPlan, Cleared, Workloads]:
        """Assign documents; see `store.assignment_plans.assign`.

        With `dry_run` everything is done, counted, and taken back.
        """
        with writing(self._engine, bulk=True) as session:
            plan, cleared = assignment_plans.assign(session, scope, make, existing=existing)
            after = fetch_workloads(session)
            if dry_run:
                session.rollback()
            return plan, cleared, after

    def clear_places(self, scope: Scope, *, dry_run: bool = False) -> tuple[Cleared, Workloads]:
        """Take places away; see `store.assignment_plans.clear_places`."""
        with writing(self._engine, bulk=True) as session:
            cleared = assignment_plans.clear_places(session, scope)
            after = fetch_workloads(session)
            if dry_run:
                session.rollback()
            return cleared, after

    def workloads(self) -> Workloads:
        """Return what lies before every judge; see `store.workloads.fetch_workloads`."""
        with reading(self._engine) as session:
            return fetch_workloads(session)
