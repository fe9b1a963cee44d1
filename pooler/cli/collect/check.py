"""`pooler check`: every fault of every run file, with line numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import ExitCode, emit
from pooler.cli.options import FormatOption, LenientOption, OrderName, OrderOption, RunsOption
from pooler.results.printed import Cell, Column, Format, Table
from pooler.results.source import entries_of
from pooler.telling import progress, say
from store.errors import PoolerError
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from pooler.reading.check import RunReport


def check(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN...", help="- is stdin; .gz, .xz, .zst are fine.")
    ] = None,
    listed: RunsOption = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", "-N", min=1, help="Also report ties at this cut, and short topics."),
    ] = None,
    order: OrderOption = OrderName.TREC,
    strict: Annotated[bool, typer.Option("--strict", help="A warning fails the check, too.")] = False,
    lenient: LenientOption = False,
    collection: Annotated[
        str | None,
        typer.Option(
            "--collection",
            metavar="PATH|URL",
            help="Also report topics and docnos that this collection does not know.",
            show_default=False,
        ),
    ] = None,
    fmt: FormatOption = Format.TABLE,
) -> None:
    """Check run files: exit code 0 when there is no fault, else 1.

    Faults: not six fields, a score that is no finite number, a document twice in a topic, a topic
    split by another, two tags, unknown topic or docno (with --collection), control characters or
    invalid UTF-8 in an id, a byte order mark, an empty file, damaged gzip. Warnings: ties, the rank
    column against the scores, ranks from 0, short or missing topics, field 2 not Q0.

    Example: pooler check runs/*.run --depth 100
    """
    from pooler.reading.check import check_run

    topics, docnos = _known(collection)
    entries = entries_of(runs or [], listed)
    if not entries:
        message = "no run file is named"
        raise PoolerError(message, hint="name run files, or a list of them with --runs FILE")
    reports: list[RunReport] = []
    met: set[str] = set()
    with progress("files", len(entries)) as advance:
        for entry in entries:
            try:
                report = check_run(entry.file, known_topics=topics, known_docnos=docnos,
                                   depth=depth, order=order.value, lenient=lenient,
                                   met=met)  # fmt: skip
            except PoolerError as error:  # it cannot be opened; the others are checked all the same
                report = _unreadable(entry.file, error)
            reports.append(report)
            advance(1)
    reports = _with_repeated_tags(reports)
    if fmt is Format.TABLE:
        _tell(reports)
    else:
        emit([_faults(reports)], fmt)
    n_faults = sum(report.n_faults for report in reports)
    n_warnings = sum(len(report.warnings) for report in reports)
    n_bad = sum(report.n_faults > 0 for report in reports)
    faults = f"{n_bad:,} with faults ({n_faults:,} in all)" if n_bad else "none with a fault"
    say(f"{counted(len(reports), 'file')}, {faults}, {counted(n_warnings, 'warning')}")
    if n_faults or (strict and n_warnings):
        raise typer.Exit(ExitCode.DATA)


def _unreadable(file: str, error: PoolerError) -> RunReport:
    """Report a file that cannot be opened as one fault."""
    from pooler.reading.check import RunReport
    from store.errors import Fault

    message = error.message.removeprefix(f"{file}: ")
    fault = Fault(None, message, "open")
    return RunReport(file, "", "", 0, 0, 0, (fault,), {"open": 1}, (), (), error.hint)


def _with_repeated_tags(reports: list[RunReport]) -> list[RunReport]:
    """Add a fault to every file whose tag an earlier one has: runs are told apart by their tags."""
    from dataclasses import replace

    from store.errors import Fault

    first: dict[str, RunReport] = {}
    checked = []
    for report in reports:
        other = first.setdefault(report.tag, report) if report.tag else report
        if other is not report:
            message = f"expected a run tag of its own, got `{report.tag}` as in {other.path}"
            fault = Fault(None, message, "tag")
            counts = {**report.fault_counts, "tag": report.fault_counts.get("tag", 0) + 1}
            checked.append(replace(report, faults=(*report.faults, fault), fault_counts=counts))
        else:
            checked.append(report)
    return checked


def _known(collection: str | None) -> tuple[set[str] | None, set[str] | None]:
    """Return the topics and docnos that a collection's own files named; ``None`` = not known."""
    if collection is None:
        return None, None
    from store.collection import Collection

    with Collection(collection) as opened:
        return opened.topics.listed() or None, opened.documents.listed() or None


def _tell(reports: list[RunReport]) -> None:
    """Write the faults and warnings of every file as lines."""
    from pooler.cli.console import write_lines

    lines = []
    for report in reports:
        for fault in report.faults:
            place = report.path if fault.line is None else f"{report.path}:{fault.line}"
            lines.append(f"{place}: {fault.message}")
        if report.n_faults > len(report.faults):
            lines.append(f"{report.path}: and {report.n_faults - len(report.faults):,} more faults")
        lines += [f"{report.path}: hint: {report.hint}"] if report.hint else []
        lines += [f"{report.path}: warning: {one.message}" for one in report.warnings]
        if not report.n_faults:
            lines.append(f"{report.path}: ok: run {report.tag}, {report.n_topics:,} topics,"
                         f" {report.n_documents:,} documents")  # fmt: skip
    write_lines(None, map(sanitise_line, lines))


def _faults(reports: list[RunReport]) -> Table:
    """Make one table of faults and warnings; a clean file has one row of kind `ok`."""
    columns = [Column(name) for name in ("file", "tag", "kind", "code", "line", "message", "count")]
    table = Table("check", columns)
    for report in reports:
        base: dict[str, Cell] = {"file": report.path, "tag": report.tag}
        for fault in report.faults:
            table.rows.append({**base, "kind": "fault", "code": fault.code, "line": fault.line,
                               "message": fault.message, "count": 1})  # fmt: skip
        more = report.n_faults - len(report.faults)
        if more > 0:
            table.rows.append({**base, "kind": "fault", "code": "more", "count": more,
                               "message": f"{more} more faults"})  # fmt: skip
        for one in report.warnings:
            table.rows.append({**base, "kind": "warning", "code": one.code,
                               "message": one.message, "count": one.count})  # fmt: skip
        if not report.n_faults and not report.warnings:
            table.rows.append({**base, "kind": "ok", "count": report.n_documents})
    return table
