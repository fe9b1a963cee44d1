"""`pooler judges erase`: everything of a judge goes, and a count of it stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.asking import YesOption, ask
from pooler.cli.console import Column, Format, Table, counted, emit, say
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.cli.scrubbed import tell_others, tell_scrubbed

if TYPE_CHECKING:
    from store.erasing import Erasing

_WORDS = {
    "judgements": "judgements",
    "cannot": "documents found impossible to judge",
    "skipped": "documents skipped",
    "events": "events in all, taken back or not",
    "notes": "notes and reasons",
    "passages": "marked passages",
    "sittings": "sittings",
    "terms": "words that were marked",
    "kept": "judged documents that other judges graded too: they keep those grades",
    "lost": "judged documents that nobody else graded: they have no grade then",
    "rulings": "rulings of adjudicators that rest on theirs, too: they stay, and so does what each"
    " rests on: the grades that lay before the adjudicator, without names",
    "places": "assignments of theirs",
    "reopened": "claims of theirs: whoever comes may claim the documents",
    "unassigned": "documents that are assigned to nobody then: pooler assign --add",
    "plans_naming": "plans that name the judge: 'erased' stands there then",
    "pools_naming": "pools named after the judge, or their rounds: likewise",
    "rounds_naming": "events in rounds named after the judge: likewise",
    "notes_naming": "notes and reasons of others that name the judge: they stay as they are;"
    " pooler export judgements --history has them",
}
"""What is counted, for people."""
_ONE = {
    "judgements": "judgement",
    "cannot": "document found impossible to judge",
    "skipped": "document skipped",
    "events": "event in all, taken back or not",
    "notes": "note or reason",
    "passages": "marked passage",
    "sittings": "sitting",
    "terms": "word that was marked",
    "kept": "judged document that other judges graded too: it keeps those grades",
    "lost": "judged document that nobody else graded: it has no grade then",
    "rulings": "ruling of an adjudicator that rests on theirs, too: it stays, and so does what it"
    " rests on: the grades that lay before the adjudicator, without names",
    "places": "assignment of theirs",
    "reopened": "claim of theirs: whoever comes may claim the document",
    "unassigned": "document that is assigned to nobody then: pooler assign --add",
    "plans_naming": "plan that names the judge: 'erased' stands there then",
    "pools_naming": "pool named after the judge, or its round: likewise",
    "rounds_naming": "event in rounds named after the judge: likewise",
    "notes_naming": "note or reason of others that names the judge: it stays as it is;"
    " pooler export judgements --history has it",
}
"""The same, of one."""
_OF_AN_ADJUDICATOR = {
    "judgements": "rulings: the judges' grades count again",
    "cannot": "rulings that a document cannot be judged",
}
_ONE_OF_AN_ADJUDICATOR = {
    "judgements": "ruling: the judges' grades count again",
    "cannot": "ruling that a document cannot be judged",
}


def erase(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The judge.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would go, and what would stay.")
    ] = False,
    yes: YesOption = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Erase a judge: judgements, notes, passages, sittings, assignments, and the name.

    What stays is a count and an identity number without a name; status, agreement, the list of
    judges and every export say the count: "31 judgements of an erased judge removed". By the number
    a merge with a copy of the collection brings nothing back. Copies, backups and exports made
    before have all of it, name and number; `pooler export collection --anonymise` leaves the number
    out. Other judges' judgements stay as they are.

    Example: pooler judges erase bob --dry-run
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        would = opened.erase_judge(name, dry_run=True)
        if dry_run:
            emit(_tables(would, fmt), fmt)
            return
        if not yes:
            _tell(would)
        ask(f"Erase judge {name}?", yes=yes)
        done = opened.erase_judge(name)
        events = counted(done.events, "event")
        say(f"judge {name} erased: {counted(done.judgements, 'judgement')}, {events}")
        if yes:
            _tell(done)
        tell_scrubbed(opened.scrub())
    tell_others(
        "what was erased is in them, and a merge brings none of it back; a count and an identity"
        " number without a name stay here, and they tell whose;"
        " `pooler export collection --anonymise` leaves the number out"
    )


def _counts(found: Erasing) -> dict[str, int]:
    """Return every count by its name in `_WORDS`."""
    naming = {
        "plans_naming": found.named.plans,
        "pools_naming": len(found.named.pools),
        "rounds_naming": found.named.events,
        "notes_naming": found.in_notes,
    }
    return {name: naming[name] if name in naming else getattr(found, name) for name in _WORDS}


def _words(found: Erasing) -> dict[str, str]:
    """Return what is counted, for people."""
    return _WORDS | (_OF_AN_ADJUDICATOR if found.is_adjudicator else {})


def _tables(found: Erasing, fmt: Format) -> list[Table]:
    """Make the tables of a dry run: for programs every count, for people those that are some."""
    counts, words = _counts(found), _words(found)
    table = Table("erasing", (Column("what"), Column("number")))
    for what, number in counts.items():
        if number or fmt is not Format.TABLE:
            shown = words[what] if fmt is Format.TABLE else what
            table.rows.append({"what": shown, "number": number})
    pairs = Table("pairs", (Column("judge"), Column("documents", "documents both graded")))
    for one in found.shared:
        pairs.rows.append({"judge": one.judge, "documents": one.documents})
    pairs.caption = "pairs whose agreement goes" if pairs.rows else ""
    lines = ["" if table.rows else f"judge {found.judge} did nothing", _assigned(found),
             "nothing is changed"]  # fmt: skip
    if fmt is not Format.TABLE:
        return [table, pairs]
    last = pairs if pairs.rows else table
    last.caption = "\n".join(line for line in (last.caption, *lines) if line)
    return [table, pairs] if pairs.rows else [table]


def _tell(found: Erasing) -> None:
    """Say what goes and what stays."""
    many, one = _words(found), _ONE | (_ONE_OF_AN_ADJUDICATOR if found.is_adjudicator else {})
    for what, number in _counts(found).items():
        if number:
            say(f"  {number:,} {(one if number == 1 else many)[what]}")
    if found.shared:
        pairs = ", ".join(f"{other.judge} ({other.documents:,})" for other in found.shared)
        say(f"  the agreement with {pairs} goes; in brackets, documents both graded")
    if assigned := _assigned(found):
        say(f"  {assigned}")


def _assigned(found: Erasing) -> str:
    """Say where erasing ends all assignment."""
    if not found.is_last_assigned:
        return ""
    return "nothing is assigned to anybody then, and every judge is shown every pool"
