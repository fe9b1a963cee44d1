"""`pooler provenance`: which run brought what into the pool, and what another depth would give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit, write_lines
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FormatOption,
    LenientOption,
    LevelOption,
    OrderName,
    OrderOption,
    RunsOption,
)
from pooler.results.printed import Cell, Column, Format, Table
from pooler.results.source import entries_of
from pooler.telling import progress, say
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.pools.contents import Contributions, DepthCurve
    from pooler.pools.runs import RunSet
    from pooler.reading.run_list import RunEntry
    from store.ranking import Order


class ByName(StrEnum):
    """What a row of the table is."""

    RUN = "run"
    GROUP = "group"
    DEPTH = "depth"
    DOCUMENT = "document"


def provenance(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Run files; without any, the runs of the collection."),
    ] = None,
    listed: RunsOption = None,
    by: Annotated[
        ByName,
        typer.Option(
            "--by",
            help="run or group: what each brought, and brought alone; depth: the pool at every"
            " depth; document: one line for each document and run.",
        ),
    ] = ByName.RUN,
    depth: Annotated[
        int, typer.Option("--depth", "-d", "-N", min=1, help="Documents taken from each run and topic.")
    ] = 100,
    order: OrderOption = OrderName.TREC,
    qrels: Annotated[
        str | None, typer.Option("--qrels", metavar="FILE", help="Judgements, for run files.")
    ] = None,
    level: LevelOption = None,
    lenient: LenientOption = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show which runs and groups brought what into a depth pool, and the pool at other depths.

    In a collection a document counts as relevant when some judge's grade is at least the level.

    Example: pooler provenance --by depth --depth 20
    """
    entries = entries_of(runs or [], listed)
    with_scores = by is ByName.DOCUMENT
    if entries:
        run_set = _from_files(entries, depth, order.value, lenient=lenient)
        is_relevant = {} if qrels is None else _from_qrels(qrels, level, lenient=lenient)
    else:
        if qrels is not None:
            raise ArgumentError("--qrels", "goes with run files", qrels)
        run_set, is_relevant = _from_collection(collection, depth, order.value, level, scores=with_scores)
    if by is ByName.DOCUMENT:
        _write_documents(run_set, fmt)
        return
    from pooler.pools.contents import contributions, depth_curve

    if by is ByName.DEPTH:
        emit([_depth_table(depth_curve(run_set, is_relevant))], fmt)
    else:
        by_group = by is ByName.GROUP
        brought = contributions(run_set, is_relevant, depth=depth, by_group=by_group)
        emit([_run_table(brought, by, run_set)], fmt)
    if not is_relevant:
        say("nothing is judged, so nothing counts as judged or relevant")


def _from_files(entries: list[RunEntry], depth: int, order: Order, *, lenient: bool) -> RunSet:
    """Read run files."""
    from pooler.pools.runs import FileRuns
    from pooler.reading.top import read_tops

    with progress("runs", len(entries)) as advance:
        tops = read_tops(entries, depth, order=order, lenient=lenient, progress=advance)
    return FileRuns(tops)


def _from_qrels(path: str, level: int | None, *, lenient: bool) -> dict[tuple[str, str], bool]:
    """Read which pairs are judged and relevant; negative codes are unjudged, as in trec_eval."""
    from pooler.results.judgement_files import read_given_qrels

    rows = read_given_qrels(path, lenient=lenient).rows
    cut = 1 if level is None else level
    return {(row.topic, row.docno): row.code >= cut for row in rows if row.code >= 0}


def _from_collection(
    collection: str, depth: int, order: Order, level: int | None, *, scores: bool
) -> tuple[RunSet, dict[tuple[str, str], bool]]:
    """Load runs and judgements of a collection."""
    from pooler.pools.runs import stored_runs
    from store.collection import Collection

    with Collection(collection) as opened:
        cut = opened.scale.relaxed if level is None else opened.scale.check_level(level)
        run_set = stored_runs(opened, depth=depth, order=order, scores=scores)
        is_relevant: dict[tuple[str, str], bool] = {}
        for one in opened.judgements.current():
            if one.grade is not None:
                pair = (one.topic, one.docno)
                is_relevant[pair] = is_relevant.get(pair, False) or one.grade >= cut
    return run_set, is_relevant


def _run_table(brought: Contributions, by: ByName, run_set: RunSet) -> Table:
    """Make the table by run or by group."""
    columns = [Column(by.value)]
    groups = {run.tag: run.group for run in run_set.feeding}
    with_groups = by is ByName.RUN and any(groups.values())
    if with_groups:
        columns.append(Column("group"))
    columns += [Column(name) for name in ("documents", "unique", "unique_judged", "unique_relevant")]
    rows: list[Mapping[str, Cell]] = [
        {
            "group": groups.get(name) or None,
            by.value: name,
            "documents": int(brought.documents[row]),
            "unique": int(brought.unique[row]),
            "unique_judged": int(brought.unique_judged[row]),
            "unique_relevant": int(brought.unique_relevant[row]),
        }
        for row, name in enumerate(brought.names)
    ]
    caption = f"pairs of topic and document within depth {run_set.depth}; unique = no other has it"
    return Table("contributions", columns, rows, caption=caption)


def _depth_table(curve: DepthCurve) -> Table:
    """Make the table by depth."""
    names = ("depth", "pairs", "new", "judged", "relevant", "of_one_run")
    rows: list[Mapping[str, Cell]] = []
    before = 0
    for place, pairs in enumerate(curve.pairs.tolist()):
        rows.append(
            {
                "depth": place + 1,
                "pairs": pairs,
                "new": pairs - before,
                "judged": int(curve.judged[place]),
                "relevant": int(curve.relevant[place]),
                "of_one_run": int(curve.unique[place]),
            }
        )
        before = pairs
    return Table("depths", [Column(name) for name in names], rows)


def _write_documents(run_set: RunSet, fmt: Format) -> None:
    """Write one row for each document and run that has it."""
    from pooler.pools.annotated import annotated_rows

    names = ("topic", "docno", "run", "group", "rank", "score")
    if fmt is Format.TABLE:
        write_lines(None, _lines(run_set))
        return
    rows: list[Mapping[str, Cell]] = [dict(zip(names, row, strict=True)) for row in annotated_rows(run_set)]
    emit([Table("documents", [Column(name) for name in names], rows)], fmt)


def _lines(run_set: RunSet) -> Iterator[str]:
    """Yield the annotated pool, a line at a time: it may be large."""
    from pooler.pools.annotated import annotated_rows, annotated_text

    yield from map(annotated_text, annotated_rows(run_set))
