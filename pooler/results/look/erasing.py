"""What goes with a judge who is erased, and what stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pooler.results.result import Result, frozen_settings
from pooler.results.table import JUDGE, Column, Table, View

if TYPE_CHECKING:
    from store.collection import Collection
    from store.judging.erasing import Erasing

_WORDS = {
    "judgements": ("judgement", "judgements"),
    "cannot": ("document found impossible to judge", "documents found impossible to judge"),
    "skipped": ("document skipped", "documents skipped"),
    "events": ("event in all, taken back or not", "events in all, taken back or not"),
    "notes": ("note or reason", "notes and reasons"),
    "passages": ("marked passage", "marked passages"),
    "sittings": ("sitting", "sittings"),
    "answers": ("answer of the model", "answers of the model"),
    "kept": (
        "judged document that other judges graded too: it keeps those grades",
        "judged documents that other judges graded too: they keep those grades",
    ),
    "lost": (
        "judged document without another grade: it then has none",
        "judged documents without another grade: they then have none",
    ),
    "rulings": (
        "ruling of an adjudicator that also rests on theirs: it stays, and so does what it rests on: the"
        " grades that the adjudicator saw, without names",
        "rulings of adjudicators that also rest on theirs: they stay, and so does what each rests on: the"
        " grades that the adjudicator saw, without names",
    ),
    "places": ("assignment of theirs", "assignments of theirs"),
    "reopened": (
        "claim of theirs: anybody may then claim the document",
        "claims of theirs: anybody may then claim the documents",
    ),
    "unassigned": (
        "document then unassigned: pooler assign --add",
        "documents then unassigned: pooler assign --add",
    ),
    "plans_naming": (
        "plan that names the judge: the name becomes 'erased'",
        "plans that name the judge: the name becomes 'erased'",
    ),
    "pools_naming": (
        "pool named after the judge, or its round: likewise",
        "pools named after the judge, or their rounds: likewise",
    ),
    "rounds_naming": (
        "event in rounds named after the judge: likewise",
        "events in rounds named after the judge: likewise",
    ),
    "notes_naming": (
        "note or reason of others that names the judge: it stays as it is;"
        " pooler export judgements --history has it",
        "notes and reasons of others that name the judge: they stay as they are;"
        " pooler export judgements --history has them",
    ),
}
"""What is counted, of one and of several."""
_RULINGS = {
    "judgements": ("ruling: the judges' grades count again", "rulings: the judges' grades count again"),
    "cannot": ("ruling that a document cannot be judged", "rulings that a document cannot be judged"),
}
"""The same, of an adjudicator."""
_MOST = 70
"""Columns of a terminal that a sentence has at most."""


def erasing(collection: Collection, judge: str) -> ErasingResult:
    """Count what erasing a judge would take, and what would stay; nothing is changed.

    Parameters
    ----------
    collection : Collection
        Open.
    judge : str
        Name.

    Returns
    -------
    ErasingResult
        Table `erasing` of counts by name, and `pairs`: judges with documents in common, whose
        agreement with this one would be gone.

    Raises
    ------
    UnknownNameError
        If there is no such judge.

    Notes
    -----
    One pass over the judgements of the collection.

    Examples
    --------
    >>> from store.collection import Collection
    >>> with Collection("collection.db") as opened:  # doctest: +SKIP
    ...     erasing(opened, "bob").counts["judgements"]
    31
    """
    found = collection.erasures.erase(judge, dry_run=True)
    return ErasingResult(settings=frozen_settings(collection=collection.name, judge=judge), found=found)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ErasingResult(Result):
    """What goes with a judge, and what stays; tables: `erasing`, and `pairs` of judges."""

    found: Erasing

    NAMES: ClassVar[tuple[str, ...]] = ("erasing", "pairs")

    @property
    def counts(self) -> dict[str, int]:
        """Every count by its name."""
        found, named = self.found, self.found.named
        naming = {
            "plans_naming": named.plans,
            "pools_naming": len(named.pools),
            "rounds_naming": named.events,
            "notes_naming": found.in_notes,
        }
        return {name: naming[name] if name in naming else getattr(found, name) for name in _WORDS}

    def sentences(self) -> Iterator[str]:
        """Say what goes and what stays, in a line each."""
        for words, number in self._counted():
            yield f"{number:,} {words}"
        if self.found.shared:
            pairs = ", ".join(f"{other.judge} ({other.documents:,})" for other in self.found.shared)
            yield f"the agreement with {pairs} is lost; in brackets, documents both graded"
        yield from self._unassigned()

    def shown(self) -> tuple[str, ...]:
        """Return the names of the tables that have rows, or the first."""
        return self.NAMES if self.found.shared else self.NAMES[:1]

    def _table(self, name: str) -> Table:
        if name == "erasing":
            columns = [Column("what", most=_MOST), Column("number", "int")]
            rows = [{"what": what, "number": number} for what, number in self.counts.items()]
            return Table.of_rows(name, columns, rows)
        columns = [JUDGE, Column("documents", "int", "documents both graded")]
        return Table.of_records(name, columns, self.found.shared, title="Pairs whose agreement is lost")

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        if name == "pairs":
            return [View(table)]
        rows = [{"what": words, "number": number} for words, number in self._counted()]
        nothing = [] if rows else [f"judge {self.found.judge} has done nothing"]
        notes = ["nothing is changed", *nothing, *self._unassigned()]
        return [View(Table.of_rows(name, table.columns, rows, notes=notes))]

    def _counted(self) -> Iterator[tuple[str, int]]:
        words = _WORDS | (_RULINGS if self.found.is_adjudicator else {})
        for name, number in self.counts.items():
            if number:
                yield words[name][number != 1], number

    def _unassigned(self) -> Iterator[str]:
        if self.found.is_last_assigned:
            yield "nothing is assigned then, and every judge sees every pool"
