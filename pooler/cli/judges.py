"""`pooler judges`: who judges."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pooler.cli.console import Column, Format, Table, counted, emit, say
from pooler.cli.erased import erased_words
from pooler.cli.judges_anonymise import anonymise
from pooler.cli.judges_erase import erase
from pooler.cli.judges_rename import rename
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.cli.scrubbed import scrub
from store.errors import ArgumentError

app = typer.Typer(help="The judges of a collection.", no_args_is_help=True)


class Kind(StrEnum):
    """Kinds of judges, as in `store.records.JudgeKind`, which is not imported for `--help`."""

    HUMAN = "human"
    MODEL = "model"
    IMPORTED = "imported"
    ADJUDICATOR = "adjudicator"


KindOption = Annotated[
    Kind,
    typer.Option(
        "--kind",
        help="human; model (a language model's labels); imported (a qrels file of unknown"
        " making); adjudicator.",
    ),
]


@app.command("add")
def add(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="One word each.")],
    kind: KindOption = Kind.HUMAN,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Add judges.

    Example: pooler judges add alice bob
    """
    from store.collection import Collection
    from store.formats.lines import id_fault
    from store.records import JudgeKind

    for name in names:  # all, before the first is added
        if fault := id_fault(name):
            raise ArgumentError("NAME", f"must be one word ({fault})", name)
    with Collection(collection) as opened:
        for name in names:
            new = opened.add_judge(name, JudgeKind(kind.value))
            say(f"judge {name} ({kind.value}) " + ("added" if new else "is there already"))


@app.command("list")
def list_(
    fmt: FormatOption = Format.TABLE, collection: CollectionOption = DEFAULT_COLLECTION
) -> None:
    """List the judges and what each has judged.

    Example: pooler judges list
    """
    from store.collection import Collection

    columns = [Column("judge"), Column("kind"), Column("disabled"), Column("judged"),
               Column("cannot"), Column("skipped")]  # fmt: skip
    table = Table("judges", columns)
    with Collection(collection) as opened:
        counts = opened.progress()
        for judge in opened.judges():
            mine = [count for (_, name), count in counts.items() if name == judge.name]
            table.rows.append({
                "judge": judge.name, "kind": judge.kind.value, "disabled": judge.disabled,
                "judged": sum(count.judged + count.outside for count in mine),
                "cannot": sum(count.cannot for count in mine),
                "skipped": sum(count.skipped for count in mine),
            })  # fmt: skip
        erased = erased_words(opened)
    lines = [] if table.rows else ["no judges yet: pooler judges add NAME"]
    table.caption = "\n".join([*lines, *([erased] if erased else [])])
    emit([table], fmt)


@app.command("disable")
def disable(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Judges.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Let judges judge no more. What they judged stays, and counts as before.

    Example: pooler judges disable bob
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        changed = opened.set_disabled(names, disabled=True)
        for name in dict.fromkeys(names):
            say(f"judge {name} " + ("disabled" if name in changed else "was disabled already"))
        for line in opened.workloads().lines:
            if line.judge not in names:
                continue
            if line.claimed:
                it = "it" if line.claimed == 1 else "them"
                say(f"{counted(line.claimed, 'document')} that {line.judge} claimed without a"
                    f" decision: others may claim {it} when the lease has run out")  # fmt: skip
            if by_name := line.left - line.claimed - line.lapsed:
                have = "has" if by_name == 1 else "have"
                say(f"{counted(by_name, 'document')} assigned to {line.judge} {have} no decision:"
                    " pooler assign --replace gives them to others")  # fmt: skip


@app.command("enable")
def enable(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Judges.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Let disabled judges judge again.

    Example: pooler judges enable bob
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        changed = opened.set_disabled(names, disabled=False)
        for name in dict.fromkeys(names):
            say(f"judge {name} " + ("enabled" if name in changed else "was not disabled"))


app.command("rename")(rename)
app.command("anonymise")(anonymise)
app.command("erase")(erase)
app.command("scrub")(scrub)
