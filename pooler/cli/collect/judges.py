"""`pooler judges`: add, list, rename, anonymise, erase, disable, access codes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pooler.cli.collect.identity import IdentityOptions
from pooler.cli.console import ask
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, YesOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.telling import say, warn
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from pooler.results.look.erasing import ErasingResult
    from store.judging.erasing import Scrubbed
    from store.judging.judges import Anonymised

_SAID = {
    "done": "the file was rewritten: no byte of what was removed is left in it",
    "not-here": "PostgreSQL keeps removed rows on disk until VACUUM FULL, and may"
    " keep them in its logs and archives: ask the server's administrator",
}
_IN_USE = (
    "another program has the collection open, so the file or its log may still hold what was"
    " removed: run `pooler judges scrub` once it is closed"
)


def scrub(collection: CollectionOption = DEFAULT_COLLECTION) -> None:
    """Rewrite the collection's file without the bytes of removed data.

    Erasing and anonymising do this themselves; the command is for when another program had the file
    open, or they were interrupted.

    Example: pooler judges scrub
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        tell_scrubbed(opened.erasures.scrub())


def tell_scrubbed(scrubbed: Scrubbed) -> None:
    """Say what has become of the bytes."""
    if scrubbed.value in _SAID:
        say(_SAID[scrubbed.value])
    else:
        warn(_IN_USE)


def tell_others(what: str) -> None:
    """Say that backups and exports are not reached; `what` is in them."""
    say(f"backups and exports made before are unchanged: {what}")


def anonymise(
    names: Annotated[list[str], argument("NAME...", "Judges.")],
    without_notes: Annotated[bool, option("--without-notes", "Also remove their notes and reasons.")] = False,
    dry_run: Annotated[bool, option("--dry-run", "Show what would change; write nothing.")] = False,
    yes: YesOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Remove everything that shows who judges are.

    They are renamed at random to the first free of judge-1, judge-2, ... The machines and programs they
    worked with, the words they had marked, the day they were registered and the seeds of their orders
    are forgotten. Grades and times stay; notes stay unless --without-notes is given. Each judge's
    identity number stays too: backups and exports made before still tell who it was. `pooler export
    collection --anonymise` leaves numbers and names out of what is published.

    Example: pooler judges anonymise alice bob --dry-run

    Example: pooler judges anonymise alice bob --yes
    """
    from store.collection import Collection

    wanted = list(dict.fromkeys(names))
    whom = counted(len(wanted), "judge")
    with Collection(collection) as opened:
        would = opened.judges.anonymise(wanted, dry_run=True)
        if dry_run:
            chance = ", at random" if len(wanted) > 1 else ""
            say(
                f"{whom} would be renamed to the first free of judge-1, judge-2, ...{chance}:"
                f" {', '.join(wanted)}"
            )
        if dry_run or not yes:
            _tell_known(would)
            _tell_notes(would.notes, gone=without_notes, would=dry_run)
        if dry_run:
            say("nothing was changed: this is --dry-run")
            return
        ask(f"Make {whom} anonymous: {', '.join(wanted)}?", yes=yes)
        done = opened.judges.anonymise(wanted, without_notes=without_notes)
        are = "are" if len(wanted) > 1 else "is"
        say(f"{whom} {are} {', '.join(done.names)} now; who is who is not recorded here")
        if yes:
            _tell_known(done)
        _tell_notes(done.notes, gone=without_notes)
        if done.notes and not without_notes:
            say(
                f"pooler export judgements {' '.join(done.names)} --history shows them;"
                " --without-notes removes them"
            )
        tell_scrubbed(opened.erasures.scrub())
    tell_others(
        "they still show who it was, since they share an identity number with this collection;"
        " `pooler export collection --anonymise` leaves it out"
    )


def _tell_known(found: Anonymised) -> None:
    """Say what tells who the judges are."""
    parts = [
        counted(found.sittings, "sitting") + " with the machine or program" if found.sittings else "",
        counted(found.terms, "word") + " they had marked" if found.terms else "",
        counted(found.orders, "seed") + " of orders of theirs" if found.orders else "",
        counted(found.named.plans, "plan") + " that named them" if found.named.plans else "",
        f"names or rounds of {counted(len(found.named.pools), 'pool')}" if found.named.pools else "",
        f"rounds of {counted(found.named.events, 'event')}" if found.named.events else "",
    ]
    if any(parts):
        say("what showed who they are: " + ", ".join(part for part in parts if part))


def _tell_notes(number: int, *, gone: bool, would: bool = False) -> None:
    """Say what becomes of notes and reasons, or would."""
    if number:
        what = counted(number, "note or reason", "notes and reasons")
        stay = "would stay" if would else "stays" if number == 1 else "stay"
        removed = "would be removed" if would else "removed"
        say(f"{what} of theirs " + (removed if gone else f"{stay}, and may contain names"))


@command
def erase(
    name: Annotated[str, argument("NAME", "The judge.")],
    dry_run: Annotated[bool, option("--dry-run", "Only show what would go and what would stay.")] = False,
    yes: YesOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Erase a judge: name, judgements, notes, passages, sittings, assignments.

    Only a count and an identity number without a name remain; status, agreement, the list of judges and
    every export state the count: "31 judgements of an erased judge removed". Thanks to the number, a
    backup that still has the judge is not restored by mistake. Backups and exports made before still
    have everything, name and number; `pooler export collection --anonymise` leaves the number
    out. Other judges' judgements stay as they are.

    Example: pooler judges erase bob --dry-run
    """
    from pooler.results.look.erasing import erasing
    from store.collection import Collection

    output.check()
    with Collection(collection) as opened:
        would = erasing(opened, name)
        if dry_run:
            render(would, output)
            return
        if not yes:
            _tell_erased(would)
        ask(f"Erase judge {name}?", yes=yes)
        done = opened.erasures.erase(name)
        events = counted(done.events, "event")
        say(f"judge {name} erased: {counted(done.judgements, 'judgement')}, {events}")
        if yes:
            _tell_erased(replace(would, found=done))
        tell_scrubbed(opened.erasures.scrub())
    tell_others(
        "they still hold what was erased; a count and an identity number without a name stay here, and"
        " those files show whose they are; `pooler export collection --anonymise` leaves the number out"
    )


def _tell_erased(found: ErasingResult) -> None:
    """Say what goes and what stays."""
    for sentence in found.sentences():
        say(f"  {sentence}")


def rename(
    old: Annotated[str, argument("OLD", "The judge.")],
    new: Annotated[str, argument("NEW", "One word, the name of no other judge.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Give a judge another name.

    The judge keeps everything judged so far, and files saved on their pages can still be imported. Names of
    pools, rounds and files that contain the old name stay, and are listed.

    Example: pooler judges rename ann anna
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        done = opened.judges.rename(old, new)
    say(f"judge {old} is {new} now")
    if done.plans:
        say(f"{counted(done.plans, 'plan')} named the judge, and now use the new name")
    for live in done.live:
        where = f" on {live.host}" if live.host else ""
        say(
            f"{new} is at work{where}: everything is saved under the new name, but the screen"
            " shows the old one until it is closed"
        )
    if done.left.pools:
        say(f"the old name stays in pools that were named after it: {', '.join(done.left.pools)}")
    if done.left.events:
        say(f"the old name stays in the round of {counted(done.left.events, 'event')}")


app = typer.Typer(help="The judges of a collection.", no_args_is_help=True)


KindName = Literal["human", "model", "imported", "adjudicator"]


@app.command("add")
@command
def add(
    names: Annotated[list[str], argument("NAME...", "One word each.")],
    kind: Annotated[
        KindName,
        option(
            "--kind",
            "human; model (a language model's labels); imported (a qrels file of unknown making);"
            " adjudicator.",
        ),
    ] = "human",
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    stated: IdentityOptions,
) -> None:
    """Add judges.

    With --kind model, --model and what follows describe the model: the same model with another prompt or
    another temperature is another judge. The description is given once, before it judges, and never
    changes.

    Example: pooler judges add carol dora

    Example: pooler judges add judy --kind model --model gpt-4o-2024-08-06 --prompt prompt.txt --param top_p=1
    """
    from store.collection import Collection
    from store.fields import id_fault
    from store.records import JudgeKind

    for name in names:  # all, before the first is added
        if fault := id_fault(name):
            raise ArgumentError("NAME", f"must be one word ({fault})", name)
    if kind != "model":
        stated.refuse_any(f"with --kind {kind}")
    identity, prompt = stated.identity({})
    if identity is not None and len(names) > 1:
        raise ArgumentError("NAME", "must be one: a model has one identity, and is one judge", names[1])
    with Collection(collection) as opened:
        if identity is not None:
            new = opened.models.add(names[0], identity, prompt=prompt)
            say(f"model judge {names[0]} " + ("stated" if new else "is stated so already"))
            say(f"its identity: {identity.sha256}")
            return
        for name in names:
            new = opened.judges.add(name, JudgeKind(kind))
            say(f"judge {name} ({kind}) " + ("added" if new else "already exists"))


_LISTED = "judge,kind,disabled,judged,cannot,skipped"
"""Columns of the list unless others are asked for."""


@app.command("list")
@command
def list_(output: Output, collection: CollectionOption = DEFAULT_COLLECTION) -> None:
    """List the judges and how much each has judged, in pools or not.

    See also `pooler list judges`.

    Example: pooler judges list
    """
    from pooler.results.look.listing import listing
    from store.collection import Collection

    output.check()
    with Collection(collection) as opened:
        result = listing(opened, "judges")
    render(result, replace(output, columns=output.columns or _LISTED))


@app.command("disable")
def disable(
    names: Annotated[list[str], argument("NAME...", "Judges.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Stop judges from judging.

    What they judged stays, and counts as before.

    Example: pooler judges disable bob
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        changed = opened.judges.set_disabled(names, disabled=True)
        for name in dict.fromkeys(names):
            say(f"judge {name} " + ("disabled" if name in changed else "was already disabled"))
        for line in opened.assignments.workloads().lines:
            if line.judge not in names:
                continue
            if line.claimed:
                it = "it" if line.claimed == 1 else "them"
                say(
                    f"{counted(line.claimed, 'document')} claimed by {line.judge} without a"
                    f" decision: others may claim {it} when the lease has run out"
                )
            if by_name := line.left - line.claimed - line.lapsed:
                have = "has" if by_name == 1 else "have"
                say(
                    f"{counted(by_name, 'document')} assigned to {line.judge} {have} no decision:"
                    " pooler assign --replace gives them to others"
                )


@app.command("enable")
def enable(
    names: Annotated[list[str], argument("NAME...", "Judges.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Let disabled judges judge again.

    Example: pooler judges enable bob
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        changed = opened.judges.set_disabled(names, disabled=False)
        for name in dict.fromkeys(names):
            say(f"judge {name} " + ("enabled" if name in changed else "was not disabled"))


@app.command("code")
def code(
    name: Annotated[str, argument("NAME", "The judge.")],
    revoke: Annotated[bool, option("--revoke", "End the judge's code.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Make a judge's access code for `pooler serve`, and show it once.

    Only its hash is stored, in this database alone: no page, export or backup has it. A judge has one code:
    a new one ends the old one, and every screen opened with it.

    Example: pooler judges code alice

    Example: pooler judges code alice --revoke
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        if revoke:
            gone = opened.codes.revoke(name)
            say(f"the code of {name} opens nothing any more" if gone else f"judge {name} has no code")
            return
        made = opened.codes.give(name)
    typer.echo(made)
    say(f"anyone with this code judges as {name}; it is not shown again")


app.command("rename")(rename)
app.command("anonymise")(anonymise)
app.command("erase")(erase)
app.command("scrub")(scrub)
