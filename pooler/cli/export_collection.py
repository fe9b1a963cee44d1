"""`pooler export collection`: everything there is, as a directory that can be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import counted, progress, say, warn
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.policy_options import (
    AggregateOption,
    CollapseOption,
    JudgeOption,
    OfOption,
    TiesOption,
    WithoutRulingsOption,
    policy_of,
)

if TYPE_CHECKING:
    from store.directory.moving import Wishes
    from store.directory.writing import Written


def whole_collection(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that is not there yet, or is empty.")
    ],
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    collapse: CollapseOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    without_texts: Annotated[
        bool, typer.Option("--without-texts", help="Docnos alone, not the texts of documents.")
    ] = False,
    without_runs: Annotated[
        bool,
        typer.Option(
            "--without-runs", help="Leave the runs out; plans of pools name none, either."
        ),
    ] = False,
    without_notes: Annotated[
        bool, typer.Option("--without-notes", help="Leave the judges' notes and reasons out.")
    ] = False,
    anonymise: Annotated[
        bool,
        typer.Option(
            "--anonymise",
            help="Judges become judge-1, judge-2, ... in an order drawn by chance and kept nowhere;"
            " their machines and own terms are left out. Notes and reasons stay: see"
            " --without-notes.",
        ),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Let DIR be an earlier export, unchanged since, and take its place."
        ),
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write the whole collection: topics, documents, runs, pools, qrels, all judgements, a README.

    Qrels are graded, and binary at every level of the scale. With several judges and neither
    --judge nor --aggregate every judge has qrels of their own, and there are no merged ones.
    `pooler import collection DIR` makes the same collection again.

    Example: pooler export collection garden --aggregate majority --ties low
    """
    from pooler import __version__
    from store.collection import Collection
    from store.directory.moving import Wishes
    from store.directory.writing import write_directory

    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, collapse=collapse, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    wishes = Wishes(
        texts=not without_texts,
        runs=not without_runs,
        notes=not without_notes,
        anonymised=anonymise,
        policy=policy,
    )
    with tidy_when_killed(), Collection(collection) as opened:
        written = write_directory(
            opened,
            folder,
            wishes,
            program=f"pooler {__version__}",
            replaces=replace,
            progress=progress,
        )
    _report(folder, wishes, written)


def _report(folder: Path, wishes: Wishes, written: Written) -> None:
    """Say on stderr what was written and what was not."""
    counts = written.counts
    kinds = (("topics", "topic"), ("documents", "document"), ("runs", "run"), ("pools", "pool"),
             ("judges", "judge"), ("events", "judgement event"))  # fmt: skip
    what = ", ".join(counted(counts[name], noun) for name, noun in kinds)
    say(f"{folder}: {what}; {counted(written.n_files, 'file')}, {written.n_bytes:,} bytes")
    left_out = [
        noun
        for noun, is_there in (
            ("texts", wishes.texts),
            ("runs", wishes.runs),
            ("notes", wishes.notes),
        )
        if not is_there
    ]
    if left_out:
        say(f"left out: {', '.join(left_out)}")
    graded = [one for one in written.qrels if one["level"] is None]
    if len(graded) > 1:
        say(f"{len(graded)} judges have qrels of their own; --aggregate RULE or --judge NAME gives"
            " one set")  # fmt: skip
    elif graded:
        _report_qrels(written.qrels)
    else:
        say("no qrels: nothing is judged yet")
    _report_left_out(graded)
    if counts.get("erasures"):
        say(f"judges erased: {counts['erasures']:,}, with"
            f" {counted(counts['erased_judgements'], 'judgement')}")  # fmt: skip
    if wishes.anonymised and (counts["notes"] or counts["reasons"]):
        parts = [counted(counts[f"{noun}s"], noun) for noun in ("note", "reason")
                 if counts[f"{noun}s"]]  # fmt: skip
        warn(f"judges' own words are in as they are: {' and '.join(parts)};"
             " --without-notes leaves them out")  # fmt: skip
    if written.names_kept:
        say("the judges are called judge-1, judge-2, ... already: they keep these names")
    say(f"the licence is for you to fill in: {folder / 'README.md'}")


def _report_qrels(qrels: Sequence[Mapping[str, Any]]) -> None:
    """Say how the grades of one set of qrels came about, and what the choice decided."""
    from pooler.cli.policy_report import level_name, rulings_words

    first = qrels[0]
    who = f"judge {', '.join(first['judges'])}"
    if first["rule"] != "single judge":
        who = f"{first['rule']} of {counted(len(first['judges']), 'judge')}"
    ties = "" if first["ties"] is None else f", ties {first['ties']}"
    say(f"qrels: {counted(first['documents'], 'document')}, {who}{ties}")
    for one in qrels:
        # Collapsed after, all levels are as the grades are.
        if one is not first and one["collapse"] != "before":
            continue
        words = []
        if one["ties"] == "unresolved":
            words.append(f"{counted(one['left_out']['tied'], 'document')} left out: tied votes")
        elif one["ties"] is not None:
            words.append(f"the tie rule decided {counted(one['decided_by_tie_rule'], 'document')}")
        if one["decided_by_ruling"] or one["cannot_by_ruling"]:
            decided = rulings_words(one["decided_by_ruling"], one["cannot_by_ruling"])
            words.append(f"rulings: {decided}")
        if words:
            say(f"  {level_name(one['level'])}: {'; '.join(words)}")


def _report_left_out(graded: Sequence[Mapping[str, Any]]) -> None:
    """Say how many documents have no grade in the qrels, though somebody looked at them."""
    skipped, cannot = (
        sum(one["left_out"][reason] for one in graded) for reason in ("skipped", "cannot")
    )
    if skipped or cannot:
        say(f"left out of the qrels: {skipped:,} skipped, {cannot:,} cannot be judged")
