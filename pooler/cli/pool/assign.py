"""`pooler assign`: who judges which documents."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, check_choice, render
from pooler.cli.signature import command
from pooler.telling import say, warn
from store.errors import ArgumentError

LEASE_MINUTES = 120
"""As in `pooler.results.pool.assign`, which is not imported for `--help`."""


AssignByName = Literal["document", "topic"]


DisplayOrderName = Literal["docno", "random", "priority"]


@command
def assign(
    output: Output,
    *,
    judges: Annotated[
        list[str] | None,
        typer.Argument(metavar="JUDGE...", help="Default: every human judge who is not disabled."),
    ] = None,
    by: Annotated[
        AssignByName,
        typer.Option(
            "--by",
            help="document: judges are chosen for each document, keeping even both workloads and the"
            " numbers of documents that pairs of judges share; topic: all documents of a topic go to the same"
            " judges.",
        ),
    ] = "document",
    per_document: Annotated[
        int, typer.Option("--per-document", "-k", min=1, help="How many judges each document gets.")
    ] = 1,
    overlap: Annotated[
        float,
        typer.Option(
            "--overlap", min=0, max=1, metavar="SHARE", help="Share of each topic that gets extra judges."
        ),
    ] = 0.0,
    overlap_judges: Annotated[
        int | None,
        typer.Option(
            "--overlap-judges",
            min=2,
            help="How many judges the documents of --overlap get.  [default: one more than the others]",
        ),
    ] = None,
    calibration: Annotated[
        int,
        typer.Option(
            "--calibration",
            min=0,
            help="Documents of each topic that go to every judge, unmarked among the rest.",
        ),
    ] = 0,
    order: Annotated[
        DisplayOrderName,
        typer.Option(
            "--order",
            help="The order in which a judge sees documents: docno; random, different for every judge;"
            " priority, as the pooling strategy ranked them.",
        ),
    ] = "docno",
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Seed of everything random.  [default: drawn, and printed]"),
    ] = None,
    claim: Annotated[
        bool, typer.Option("--claim", help="Name no judges: whoever works next claims what is left.")
    ] = False,
    lease: Annotated[
        int | None,
        typer.Option(
            "--lease",
            min=1,
            metavar="MINUTES",
            help="How long a claimed document waits for a decision before others may claim it.  [default:"
            f" {LEASE_MINUTES}]",
        ),
    ] = None,
    pools: Annotated[
        list[str] | None,
        typer.Option(
            "--pool",
            metavar="NAME",
            help="Only this pool; may be repeated.  [default: all but adaptive ones]",
        ),
    ] = None,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", metavar="TOPIC", help="Only this topic; may be repeated.")
    ] = None,
    add: Annotated[
        bool, typer.Option("--add", help="Assign only documents that nobody is assigned yet.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Reassign undecided documents; decided ones stay and count.")
    ] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Take back every undecided assignment; assign nothing.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Show what is assigned; change nothing.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what the result would be; change nothing.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Assign pooled documents to judges, by name or to be claimed.

    As long as nothing is assigned, every judge sees the whole pool; from the first assignment on, each
    sees only what is assigned to them, and never why. A document gets exactly as many judges as asked
    for; where a decision stands, its judge keeps the document. Adaptive pools are left out, and nobody
    draws from them while anything is assigned.

    Example: pooler assign --per-document 2 --calibration 1 --order random
    """
    from pooler.results.pool import assign as results

    _check_together(show=show, clear=clear, add=add, replace=replace)
    if show and (pools or topics):
        raise ArgumentError("--show", "shows everything assigned: leave out --pool and --topic", None)
    results.check_claim(judges or (), lease, claim=claim)
    output.check()
    check_choice(results.AssignmentResult(), output)
    if show:
        found = results.assigned(collection)
    elif clear:
        found = results.clear_assignments(collection, pools=pools or (), topics=topics or (), dry_run=dry_run)
    else:
        found = results.assign(
            collection,
            judges or (),
            by=by,
            per_document=per_document,
            overlap=overlap,
            overlap_judges=overlap_judges,
            calibration=calibration,
            order=order,
            seed=seed,
            claim=claim,
            lease=lease,
            pools=pools or (),
            topics=topics or (),
            existing="add" if add else "replace" if replace else "refuse",
            dry_run=dry_run,
        )
    render(found, output)
    for words in found.words:
        say(words)
    for words in found.doubts:
        warn(words)


def _check_together(**chosen: bool) -> None:
    """Refuse two options of which each is another thing to do."""
    names = [f"--{name}" for name, is_chosen in chosen.items() if is_chosen]
    if len(names) > 1:
        raise ArgumentError(names[0], f"and {names[1]} exclude each other", None)
