"""`pooler judges`: add, list, rename, erase, disable, access codes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pooler.cli.collect.identity import IdentityOptions
from pooler.cli.console import confirm
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, YesOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say, warn
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from pooler.results.look.erasing import ErasingResult
    from store.db.scrubbing import Scrubbed

_SAID = {
    "done": "the file was rewritten: no byte of what was removed is left in it",
    "not-here": "PostgreSQL keeps removed rows on disk until VACUUM FULL, and may"
    " keep them in its logs and archives: ask the server's administrator",
}
_WARNED = {
    "open-elsewhere": "another program has the collection open: what was removed stays in the file"
    " until that program is closed",
    "not-rewritten": "another program was writing, or the disk is full: what was removed is overwritten, but"
    " earlier copies may be in the file until it is rewritten; `sqlite3 FILE VACUUM` does that",
}


def _tell_scrubbed(scrubbed: Scrubbed | None) -> None:
    assert scrubbed is not None
    if scrubbed.value in _SAID:
        say(_SAID[scrubbed.value])
    else:
        warn(_WARNED[scrubbed.value])


def _tell_others(what: str) -> None:
    say(f"backups and exports made before are unchanged: {what}")


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
    have everything, name and number; `pooler export collection --anonymised` leaves the number
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
        confirm(f"Erase judge {name}?", yes=yes)
        done = opened.erasures.erase(name)
        events = counted(done.events, "event")
        say(f"judge {name} erased: {counted(done.judgements, 'judgement')}, {events}")
        if yes:
            _tell_erased(replace(would, found=done))
    _tell_scrubbed(done.scrubbed)
    _tell_others(
        "they still hold what was erased; a count and an identity number without a name stay here, and"
        " those files show whose they are; `pooler export collection --anonymised` leaves the number out"
    )


def _tell_erased(found: ErasingResult) -> None:
    for sentence in found.sentences():
        say(f"  {sentence}")


def rename(
    old: Annotated[str, argument("OLD", "The judge.")],
    new: Annotated[str, argument("NEW", "One word, the name of no other judge.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Give a judge another name.

    The judge keeps everything judged so far, and files saved on their pages can still be imported. The
    old name is replaced in plans, pools and rounds, too, and the file is rewritten without its bytes; notes
    and reasons stay as they were written.

    Example: pooler judges rename ann anna
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        done = opened.judges.rename(old, new)
    say(f"judge {old} is {new} now")
    if done.named.plans:
        use = "uses" if done.named.plans == 1 else "use"
        say(f"{counted(done.named.plans, 'plan')} named the judge, and now {use} the new name")
    for before, after in done.named.pools.items():
        say(f"pool {before} is {after} now" if after != before else f"the round of pool {before} is renamed")
    if done.named.events:
        say(f"the round of {counted(done.named.events, 'event')} is renamed")
    if done.in_notes:
        say(f"the old name stays in {counted(done.in_notes, 'note or reason', 'notes and reasons')}")
    for live in done.live:
        where = f" on {live.host}" if live.host else ""
        say(
            f"{new} is at work{where}: everything is saved under the new name, but the screen"
            " shows the old one until it is closed"
        )
    _tell_scrubbed(done.scrubbed)
    _tell_others("they have the old name")


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
app.command("erase")(erase)
