"""`pooler judges erase`: what goes with a judge, and what stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pooler.command import Confirm, Stored, command
from pooler.commands.judge.judges import JudgeName, tell_removed
from pooler.messages import say
from pooler.result import Result
from pooler.tables import JUDGE, Column, Table, View
from store.text import counted

if TYPE_CHECKING:
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


@command
def judges_erase(
    collection: Stored, name: JudgeName, *, dry_run: bool = False, confirm: Confirm = None
) -> ErasingResult:
    """Erase a judge: name, judgements, notes, passages, sittings, assignments.

    Only a count and an identity number without a name remain; status, agreement, the list of judges and
    every export state the count: "31 judgements of an erased judge removed". Thanks to the number, a
    backup that still has the judge is not restored by mistake. Backups and exports made before still
    have everything, name and number; `pooler export collection --anonymised` leaves the number
    out. Other judges' judgements stay as they are.

    Example: pooler judges erase bob --dry-run

    dry_run : Only show what would go and what would stay.

    Examples
    --------
    >>> import pooler as p
    >>> p.judges_erase("collection.db", "bob", dry_run=True).counts["judgements"]  # doctest: +SKIP
    31
    """
    would = ErasingResult(found=collection.erasures.erase(name, dry_run=True), is_done=False)
    if dry_run:
        return would
    for sentence in would.sentences():
        say(f"  {sentence}")
    if confirm is not None:
        confirm(f"Erase judge {name}?")
    done = collection.erasures.erase(name)
    say(f"judge {name} erased: {counted(done.judgements, 'judgement')}, {counted(done.events, 'event')}")
    assert done.scrubbed is not None
    tell_removed(
        done.scrubbed,
        "they still hold what was erased; a count and an identity number without a name stay here, and"
        " those files show whose they are; `pooler export collection --anonymised` leaves the number out",
    )
    return ErasingResult(found=done, is_done=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ErasingResult(Result):
    """What goes with a judge, and what stays; tables: `erasing` of counts, and `pairs` of judges.

    `pairs` has the judges with documents in common, whose agreement with this one is gone then.
    """

    found: Erasing
    is_done: bool
    """Whether it is gone; else nothing is changed."""

    SHOWN = None

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

    def lines(self) -> Iterator[str] | None:
        """Return nothing where it is done: it was said."""
        return iter(()) if self.is_done else None

    def _tables(self) -> Iterator[Table]:
        columns = [Column("what", most=_MOST), Column("number", "int")]
        rows = [{"what": what, "number": number} for what, number in self.counts.items()]
        worded = [{"what": words, "number": number} for words, number in self._counted()]
        nothing = [] if worded else [f"judge {self.found.judge} has done nothing"]
        notes = ["nothing is changed", *nothing, *self._unassigned()]
        shown = View(Table.of_rows("erasing", columns, worded, notes=notes))
        yield Table.of_rows("erasing", columns, rows).seen_as(shown)
        if self.found.shared:
            columns = [JUDGE, Column("documents", "int", "documents both graded")]
            title = "Pairs whose agreement is lost"
            yield Table.of_records("pairs", columns, self.found.shared, title=title)

    def _counted(self) -> Iterator[tuple[str, int]]:
        words = _WORDS | (_RULINGS if self.found.is_adjudicator else {})
        for name, number in self.counts.items():
            if number:
                yield words[name][number != 1], number

    def _unassigned(self) -> Iterator[str]:
        if self.found.is_last_assigned:
            yield "nothing is assigned then, and every judge sees every pool"
