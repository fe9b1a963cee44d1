"""`pooler assign`: who judges which documents."""

from __future__ import annotations

from typing import Annotated, Literal

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, check_choice, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say, warn
from store.errors import ArgumentError
from store.formats.pairs import read_topic_judges

LEASE_MINUTES = 120
"""As in `pooler.results.pool.assign`, which is not imported for `--help`."""


@command
def assign(
    output: Output,
    *,
    judges: Annotated[
        list[str] | None, argument("JUDGE...", "Default: every person who is not disabled; models by name.")
    ] = None,
    by: Annotated[
        Literal["document", "topic"],
        option(
            "--by",
            "document: judges are chosen for each document, keeping even both workloads and the numbers of"
            " documents that pairs of judges share; topic: all documents of a topic go to the same judges.",
        ),
    ] = "document",
    per_document: Annotated[
        int, option("--per-document -k", "How many judges each document gets.", min=1)
    ] = 1,
    overlap: Annotated[
        float, option("--overlap SHARE", "Share of each topic that gets extra judges.", min=0, max=1)
    ] = 0.0,
    overlap_judges: Annotated[
        int | None,
        option(
            "--overlap-judges",
            "How many judges the documents of --overlap get.  [default: one more than the others]",
            min=2,
        ),
    ] = None,
    calibration: Annotated[
        int,
        option(
            "--calibration", "Documents of each topic that go to every judge, unmarked among the rest.", min=0
        ),
    ] = 0,
    order: Annotated[
        Literal["docno", "random", "priority"],
        option(
            "--order",
            "The order in which a judge sees documents: docno; random, different for every judge; priority,"
            " as the pooling strategy ranked them.",
        ),
    ] = "docno",
    seed: Annotated[
        int | None, option("--seed", "Seed of everything random.  [default: drawn, and printed]", min=0)
    ] = None,
    claim: Annotated[bool, option("--claim", "Name no judges: judges claim documents as they work.")] = False,
    lease: Annotated[
        int | None,
        option(
            "--lease MINUTES",
            "How long a claimed document waits for a decision before others may claim it.  [default:"
            f" {LEASE_MINUTES}]",
            min=1,
        ),
    ] = None,
    pools: Annotated[
        list[str] | None,
        option("--pool NAME", "Only this pool; may be repeated.  [default: all but adaptive ones]"),
    ] = None,
    topics: Annotated[list[str] | None, option("--topic TOPIC", "Only this topic; may be repeated.")] = None,
    topic_judges: Annotated[
        str | None,
        option(
            "--topic-judges FILE",
            "Who is primary for each topic, and gets all of it: lines `topic judge`, with a tab between.",
        ),
    ] = None,
    add: Annotated[bool, option("--add", "Assign only documents without a judge.")] = False,
    replace: Annotated[
        bool, option("--replace", "Reassign undecided documents; decided ones stay and count.")
    ] = False,
    clear: Annotated[
        bool, option("--clear", "Take back every undecided assignment; assign nothing.")
    ] = False,
    show: Annotated[
        bool,
        option("--show", "Show how much each judge has, with --table places who has what; change nothing."),
    ] = False,
    dry_run: Annotated[bool, option("--dry-run", "Show what the result would be; change nothing.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Assign pooled documents to judges, by name or to be claimed.

    As long as nothing is assigned, every judge sees the whole pool; from the first assignment on, each sees
    only what is assigned to them, and never why. A document gets exactly as many judges as asked for; where
    a decision stands, its judge keeps the document. Adaptive pools are left out, and cannot be drawn from
    while anything is assigned.

    Example: pooler assign --per-document 2 --calibration 1 --order random

    Example: pooler assign --topic-judges authors.tsv --overlap .25
    """
    from pooler.results.pool import assign as results

    _check_together(show=show, clear=clear, add=add, replace=replace)
    if show and (pools or topics):
        raise ArgumentError("--show", "shows everything assigned: leave out --pool and --topic", None)
    results.check_claim(judges or (), lease, claim=claim)
    output.check()
    check_choice(results.AssignmentResult(places=() if show else None), output, "workload")
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
            topic_judges=None if topic_judges is None else read_topic_judges(topic_judges),
            existing="add" if add else "replace" if replace else "refuse",
            dry_run=dry_run,
        )
    render(found, output, "workload")
    for words in found.words:
        say(words)
    for words in found.doubts:
        warn(words)


def _check_together(**chosen: bool) -> None:
    names = [f"--{name}" for name, is_chosen in chosen.items() if is_chosen]
    if len(names) > 1:
        raise ArgumentError(names[0], f"and {names[1]} exclude each other", None)
