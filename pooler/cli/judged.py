"""Whose judgements count: the options, what they mean, and runs and qrels by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import counted, progress, say
from pooler.cli.judged_level import level_of_collection, level_of_files
from pooler.cli.runs_given import entries_of, read_entry
from store.errors import ArgumentError, FaultList, PoolerError

if TYPE_CHECKING:
    from pooler.run_list import RunEntry
    from store.arrays import Grades, RankedDocuments
    from store.policy import Policy
    from store.ranking import Order
    from store.records import Qrel, Run, Scale


_ONE_GRADE = "is for a collection; --qrels already is one grade a document"
_NEEDS_QRELS = "--qrels FILE goes with run files; without, RUN is a run tag of a collection"
_MAKE_ONE = "pooler collapse makes one qrels file of several judges' files"


class RuleName(StrEnum):
    """Rules of `store.policy`."""

    MAJORITY = "majority"
    MEDIAN = "median"
    MEAN = "mean"
    MIN = "min"
    MAX = "max"
    SUM = "sum"
    DAWID_SKENE = "dawid-skene"


class TiesName(StrEnum):
    """Tie rules of `store.analysis.aggregation`."""

    LOW = "low"
    HIGH = "high"
    UNRESOLVED = "unresolved"


class CollapseName(StrEnum):
    """Orders of `store.policy`."""

    BEFORE = "before"
    AFTER = "after"


JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="Take this judge's own grades, and no adjudicator's ruling.",
        show_default=False,
    ),
]
AggregateOption = Annotated[
    RuleName | None,
    typer.Option(
        "--aggregate",
        help="One grade of all judges' grades: the most frequent (majority), the middle one"
        " (median), the mean with halves up, the lowest, the highest, their sum (no grade of the"
        " scale any more), or the most probable one once every judge's habits are learnt"
        " (dawid-skene, for three judges a document or more).",
        show_default=False,
    ),
]
TiesOption = Annotated[
    TiesName | None,
    typer.Option(
        "--ties",
        help="What tied grades give (majority, median): the low one, the high one, or none"
        " (unresolved).",
        show_default=False,
    ),
]
CollapseOption = Annotated[
    CollapseName | None,
    typer.Option(
        "--collapse",
        help="With a level: make every judge's grade binary and then aggregate (before), or"
        " aggregate and make that binary (after).",
        show_default="after",
    ),
]
OfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--of",
        metavar="NAME",
        help="Let this judge vote, and only those named so; may be repeated.",
        show_default="all judges",
    ),
]
WithoutRulingsOption = Annotated[
    bool,
    typer.Option(
        "--without-rulings",
        help="Leave adjudicators out; otherwise their rulings win over any rule.",
    ),
]
QrelsOption = Annotated[
    str | None,
    typer.Option(
        "--qrels",
        metavar="FILE",
        help="Work on files, without a collection: these qrels and the named run files.",
        show_default=False,
    ),
]
FileScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="With --qrels: the scale of the file, 0-3, binary, ntcir or a TOML file as in `init`;"
        " --rigid and --relaxed need it, and its negative values are grades.",
        show_default=False,
    ),
]
FileRunsOption = Annotated[
    str | None,
    typer.Option(
        "--runs",
        metavar="FILE",
        help="With --qrels: TSV with a header that lists the runs: file, and optionally tag,"
        " group, contributes (yes/no).",
        show_default=False,
    ),
]
CutoffOption = Annotated[
    int,
    typer.Option("--cutoff", min=1, help="Documents of a ranking that AP looks at (trec_eval -M)."),
]


@dataclass(frozen=True, slots=True)
class Judged:
    """Runs, the qrels they are measured with, and what counts as relevant."""

    ranked: RankedDocuments
    qrels: Sequence[Qrel]
    level: int
    grades: Grades | None = None
    """Instead of `qrels`, which are empty then, where no docno is needed; see `by_topic`."""
    pool_depths: frozenset[int] = frozenset()
    """Depths of the collection's pools; empty for bare files."""
    feeding: tuple[str, ...] = ()
    """Tags of the run files that contribute to pools, in order; empty for a collection."""

    def by_topic(self) -> Grades:
        """Return the grades by topic and document id."""
        from store.arrays import grades_by_topic

        return grades_by_topic(self.ranked, self.qrels) if self.grades is None else self.grades


def policy_of(
    *,
    judge: str | None,
    aggregate: RuleName | None,
    ties: TiesName | None,
    collapse: CollapseName | None = None,
    of: Sequence[str] | None = None,
    without_rulings: bool = False,
) -> Policy:
    """Read the options on whose judgements count; `Policy.check` says what does not go together.

    Raises
    ------
    ArgumentError
        If an order of collapsing is named for judgements that no rule aggregates.
    """
    from store.policy import Policy

    if collapse is not None and aggregate is None:
        requirement = "is a part of --aggregate, which is absent"
        raise ArgumentError("--collapse", requirement, collapse.value)
    return Policy(
        judge=judge,
        rule=None if aggregate is None else aggregate.value,
        ties=None if ties is None else ties.value,
        collapse="after" if collapse is None else collapse.value,
        rulings=not without_rulings,
        of=tuple(dict.fromkeys(of or ())),
    )


def names_collection(ctx: typer.Context) -> bool:
    """Say whether `--collection` stands on the command line; a setting is not meant for files."""
    source = ctx.get_parameter_source("collection")
    return source is not None and source.name == "COMMANDLINE"


def check_way(
    ctx: typer.Context,
    *,
    qrels: str | None,
    scale: str | None,
    collection: str,
    listed: str | None = None,
) -> None:
    """Refuse options of files and of a collection together.

    Raises
    ------
    ArgumentError
        If both `--qrels` and `--collection` are given; or for a collection, which has its own, a
        scale or a list of run files.
    """
    if qrels is not None and names_collection(ctx):
        requirement = "and --qrels exclude each other: files need no collection"
        raise ArgumentError("--collection", requirement, collection)
    if qrels is None and scale is not None:
        requirement = "is for files; a collection has declared its own"
        raise ArgumentError("--scale", requirement, scale)
    if qrels is None and listed is not None:
        hint = "--qrels FILE names the judgements of files; without, RUN is a run tag"
        raise ArgumentError("--runs", "is for files, with --qrels", listed, hint=hint)


def load_judged(
    runs: Sequence[str],
    *,
    qrels: str | None,
    collection: str,
    policy: Policy,
    level: int | None,
    rigid: bool,
    relaxed: bool,
    order: Order,
    lenient: bool,
    scale: str | None = None,
    listed: str | None = None,
    docnos: bool = True,
) -> Judged:
    """Read runs and qrels from files (`--qrels`) or from the collection.

    With a scale, grades of files must be on it; negative codes off it are unjudged documents. Run
    files may be named in a list of runs, too. Without `docnos` a collection need not give any, and
    its `qrels` may be absent; `by_topic` is there always.

    Raises
    ------
    ArgumentError
        If options of the one way are used with the other, or there is no run.
    """
    from pooler.cli.policy_report import who_judged
    from store.scale import parse_scale

    if qrels is not None:
        _check_no_policy(policy)
        declared = None if scale is None else parse_scale(scale)
        cut = level_of_files(declared, level=level, rigid=rigid, relaxed=relaxed)
        entries = entries_of(runs, listed)
        return _from_files(entries, qrels, cut, order, lenient=lenient, scale=declared)
    _check_no_files(runs, collection)
    from store.collection import Collection

    with Collection(collection) as opened:
        tags = {run.tag for run in opened.runs()}
        for run in runs:
            if run not in tags and Path(run).is_file():
                message = f"{run} is a file, and no run tag of the collection"
                raise PoolerError(message, hint=_NEEDS_QRELS)
        cut = level_of_collection(opened.scale, policy, level=level, rigid=rigid, relaxed=relaxed)
        sole = None if docnos else opened.sole_grades(policy)
        if sole is not None:
            ranked = _some_run(opened.ranked_documents(runs, order=order, docnos=False))
            n_rows = f"{sole.n_documents:,} judgements"
            say(f"{n_rows} (judge {sole.judge}), relevant = grade {cut} or more")
            return Judged(ranked, (), cut, grades=sole.by_topic)
        # Grades stay grades where they can: measures may want them.
        is_binary = policy.collapse == "before" or policy.rule == "sum"
        final = opened.final_qrels(replace(policy, level=cut) if is_binary else policy)
        ranked = _some_run(opened.ranked_documents(runs, order=order))
        what = "sum of grades" if policy.rule == "sum" else "grade"
        n_rows = f"{len(final.rows):,} judgements"
        say(f"{n_rows} ({who_judged(final)}), relevant = {what} {cut} or more")
        plans = [
            pool.manifest.get("parameters", {}) for pool in opened.pools() if not pool.withdrawn
        ]
        depths = frozenset(plan["depth"] for plan in plans if "depth" in plan)
        return Judged(ranked, final.rows, 1 if is_binary else cut, pool_depths=depths)


def _some_run(ranked: RankedDocuments) -> RankedDocuments:
    """Raise `PoolerError` for a collection without runs."""
    if not ranked.tags:
        message = "there is no run in the collection"
        raise PoolerError(message, hint="pooler import runs")
    return ranked


def _check_no_files(runs: Sequence[str], collection: str) -> None:
    """Raise `PoolerError` where run files are named, and neither qrels nor a collection."""
    files = [run for run in runs if Path(run).is_file()]
    if files and "://" not in collection and not Path(collection).exists():
        message = f"{files[0]} is a file, and no qrels are named to measure it with"
        raise PoolerError(message, hint=_NEEDS_QRELS)


def _check_no_policy(policy: Policy) -> None:
    """Refuse options on whose judgements count where a file of qrels is given."""
    given = {
        "--judge": policy.judge,
        "--aggregate": policy.rule,
        "--ties": policy.ties,
        "--of": ", ".join(policy.of) or None,
    }
    for name, value in given.items():
        if value is not None:
            raise ArgumentError(name, _ONE_GRADE, value, hint=_MAKE_ONE)
    if not policy.rulings:
        raise ArgumentError("--without-rulings", _ONE_GRADE, None)


def _from_files(
    entries: Sequence[RunEntry],
    qrels: str,
    level: int,
    order: Order,
    *,
    lenient: bool,
    scale: Scale | None,
) -> Judged:
    """Read bare files."""
    from store.arrays import ranked_documents
    from store.codes import decode_rows, graded_rows
    from store.formats.qrels import read_qrels
    from store.records import Qrel

    if not entries:
        message = "no run file is named"
        raise PoolerError(message, hint="--qrels FILE goes with run files, or --runs FILE")
    content = read_qrels(qrels, lenient=lenient)
    if scale is None:
        rows = [
            Qrel(row.topic, row.docno, row.code, row.iteration)
            for row in content.rows
            if row.code >= 0
        ]
    else:
        faults = FaultList(qrels)
        off = {row.code for row in content.rows if row.code < 0} - set(scale.values)
        graded = graded_rows(content.rows, judge="")
        rows = decode_rows(graded, scale, unjudged=off, faults=faults).judged.get("", [])
        faults.raise_if_any(hint="--scale declares the grades there are")
    negative = len(content.rows) - len(rows)
    if negative:
        verb = "is" if negative == 1 else "are"
        say(f"{qrels}: {counted(negative, 'line')} with a negative code {verb} unjudged, as in"
            " trec_eval")  # fmt: skip

    feeding: list[str] = []

    def read() -> Iterator[Run]:
        with progress("runs", len(entries)) as advance:
            for entry in entries:
                run = read_entry(entry, lenient=lenient)
                if run.contributes:
                    feeding.append(run.tag)
                yield run
                advance(1)

    ranked = ranked_documents(read(), order=order)
    return Judged(ranked, rows, level, feeding=tuple(feeding))
