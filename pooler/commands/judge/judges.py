"""The judges of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pooler.command import Option, Stored, command
from pooler.messages import say, warn, write
from pooler.result import Done, frozen_settings
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from store.db.engine import Scrubbed

JudgeName = Annotated[str, Option("NAME", "The judge.")]
JudgeNames = Annotated[Sequence[str], Option("NAME...", "Judges.")]
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


def tell_removed(scrubbed: Scrubbed, elsewhere: str) -> None:
    """Say where what was removed may still be found."""
    if scrubbed.value in _SAID:
        say(_SAID[scrubbed.value])
    else:
        warn(_WARNED[scrubbed.value])
    say(f"backups and exports made before are unchanged: {elsewhere}")


@command
def judges_add(
    collection: Stored,
    names: Annotated[Sequence[str], Option("NAME...", "One word each.")],
    *,
    kind: Annotated[
        Literal["human", "model", "imported", "adjudicator"] | None,
        Option("--kind", default="human; with --model, model"),
    ] = None,
    model: Annotated[str | Path | None, Option("--model CARD.toml")] = None,
) -> Done:
    """Add judges.

    The card says who a model is: model (its id), revision, family, endpoint, host, prompt (a file beside the
    card), parser, shows (a list such as ["topic.title", "doc.text"]), max_characters, and the tables
    parameters and map (FROM = TO: grades read as others); all but model may be left out. The same model with
    another prompt or another temperature is another judge. The card is read once, before the model judges,
    and never changes.

    Example: pooler judges add carol dora

    Example: pooler judges add judy --model judy.toml

    kind : human; model (a language model's labels); imported (a qrels file of unknown making); adjudicator.
    model : The card of a model, which is one judge.

    Raises
    ------
    FormatError
        With every fault of the card.
    ConflictError
        If a model of that name is another one, or has judged already.
    """
    from pooler.commands.judge.model_card import read_card
    from store.fields import id_fault
    from store.records import JudgeKind

    for name in names:  # all, before the first is added
        if fault := id_fault(name):
            raise ArgumentError("names", f"must be one word ({fault})", name)
    n_new = 0
    if model is not None:
        if kind not in (None, "model"):
            raise ArgumentError("model", f"says who a model is, and cannot be used with --kind {kind}", None)
        if len(names) > 1:
            raise ArgumentError("names", "must be one: a card is of one judge", names[1])
        identity, prompt = read_card(model)
        n_new = collection.models.add(names[0], identity, prompt=prompt)
        say(f"model judge {names[0]} " + ("stated" if n_new else "is stated so already"))
        say(f"its identity: {identity.sha256}")
    else:
        of_kind = JudgeKind(kind or "human")
        for name in names:
            new = collection.judges.add(name, of_kind)
            n_new += new
            say(f"judge {name} ({of_kind}) " + ("added" if new else "already exists"))
    return Done(counts=frozen_settings(added=int(n_new)))


@command
def judges_disable(collection: Stored, names: JudgeNames) -> Done:
    """Stop judges from judging.

    What they judged stays, and counts as before.

    Example: pooler judges disable bob
    """
    changed = collection.judges.set_disabled(names, disabled=True)
    for name in dict.fromkeys(names):
        say(f"judge {name} " + ("disabled" if name in changed else "was already disabled"))
    for line in collection.assignments.workloads().lines:
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
    return Done(counts=frozen_settings(changed=len(changed)))


@command
def judges_enable(collection: Stored, names: JudgeNames) -> Done:
    """Let disabled judges judge again.

    Example: pooler judges enable bob
    """
    changed = collection.judges.set_disabled(names, disabled=False)
    for name in dict.fromkeys(names):
        say(f"judge {name} " + ("enabled" if name in changed else "was not disabled"))
    return Done(counts=frozen_settings(changed=len(changed)))


@command
def judges_code(collection: Stored, name: JudgeName, *, revoke: bool = False) -> Done:
    """Make a judge's access code for `pooler serve`, and show it once.

    Only its hash is stored, in this database alone: no page, export or backup has it. A judge has one code:
    a new one ends the old one, and every screen opened with it.

    Example: pooler judges code alice

    Example: pooler judges code alice --revoke

    revoke : End the judge's code.

    Returns
    -------
    Done
        `written` has the code.
    """
    if revoke:
        gone = collection.codes.revoke(name)
        say(f"the code of {name} opens nothing any more" if gone else f"judge {name} has no code")
    else:
        write([collection.codes.give(name)])
        say(f"anyone with this code judges as {name}; it is not shown again")
    return Done()


@command
def judges_rename(
    collection: Stored,
    old: Annotated[str, Option("OLD", "The judge.")],
    new: Annotated[str, Option("NEW", "One word, the name of no other judge.")],
) -> Done:
    """Give a judge another name.

    The judge keeps everything judged so far, and files saved on their pages can still be imported. The
    old name is replaced in plans, pools and rounds, too, and the file is rewritten without its bytes; notes
    and reasons stay as they were written.

    Example: pooler judges rename ann anna
    """
    done = collection.judges.rename(old, new)
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
    tell_removed(done.scrubbed, "they have the old name")
    return Done()
