"""check_runs: every fault of every run file, with its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pooler.reading.check import Asked, RunReport, check_files
from pooler.results.named_runs import entries_of
from pooler.results.result import Progress, Result, frozen, heard
from pooler.results.source import opened_collection
from pooler.results.table import Column, Table
from pooler.telling import progress as telling
from store.errors import Fault, PoolerError
from store.text import sanitise_line

if TYPE_CHECKING:
    from store.collection import Collection
    from store.ranking import Order


def check_runs(
    *paths: str | Path,
    depth: int | None = None,
    listed: str | Path | None = None,
    order: Order = "trec",
    lenient: bool = False,
    collection: str | Path | Collection | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Check run files: is anything in them that no pool can be built of, and what is odd about them.

    Parameters
    ----------
    *paths : str or Path
        Run files, compressed or not; ``"-"`` is standard input.
    depth : int, optional
        Ranks, from 1: ties across this cut and topics with fewer documents are told, too. Without,
        a topic is short below 10 documents.
    listed : str or Path, optional
        A list of more run files.
    order : {"trec", "trec9", "docno-asc", "rank", "file"}, optional
        Of documents within a run.
    lenient : bool, optional
        Read files by trec_eval's own rules.
    collection : str, Path or Collection, optional
        Topics and docnos that it does not know are faults.

    Returns
    -------
    CheckResult
        True `ok` where no file has a fault; `faults` and `warnings` as sentences, `reports` with
        everything. A file that cannot be opened is one fault, and the others are checked.

    Raises
    ------
    PoolerError
        If no file is named, or the list or the collection cannot be read.
    ArgumentError
        If `depth` is below 1.

    Notes
    -----
    Two files with one tag are a fault of the second: runs are told apart by their tags. O(lines log
    lines of a topic). Large files are read by two processes, each with one topic in memory; of a file with a
    fault, or in no plain order, everything.

    Examples
    --------
    >>> found = check_runs("no-such.run")
    >>> found.ok, found.faults
    (False, ('no-such.run: no such file or directory',))
    """
    topics, docnos = _known(collection)
    entries = entries_of([str(path) for path in paths], None if listed is None else str(listed))
    if not entries:
        message = "no run file is named"
        raise PoolerError(message, hint="name run files, or a list of them with --runs FILE")
    files = [entry.file for entry in entries]
    with heard(progress), telling("files", len(entries)) as advance:
        outcomes = check_files(files, Asked(topics, docnos, depth, order, lenient), advance)
        # What cannot be opened is told, and the others are checked all the same.
        reports = [
            _unreadable(file, one) if isinstance(one, PoolerError) else one
            for file, one in zip(files, outcomes, strict=True)
        ]
    settings = frozen(
        runs=tuple(files),
        depth=depth,
        order=order,
        lenient=lenient,
        **({"collection": str(collection)} if isinstance(collection, str | Path) else {}),
    )
    checked = _with_repeated_tags(reports)
    warnings = tuple(f"{report.path}: {one.message}" for report in checked for one in report.warnings)
    return CheckResult(reports=checked, settings=settings, warnings=warnings)


def _unreadable(file: str, error: PoolerError) -> RunReport:
    """Report a file that cannot be opened as one fault."""
    fault = Fault(None, error.message.removeprefix(f"{file}: "), "open")
    return RunReport(file, "", "", 0, 0, 0, (fault,), {"open": 1}, (), (), error.hint)


def _with_repeated_tags(reports: Sequence[RunReport]) -> tuple[RunReport, ...]:
    """Add a fault to every file whose tag an earlier one has."""
    first: dict[str, RunReport] = {}
    checked = []
    for report in reports:
        other = first.setdefault(report.tag, report) if report.tag else report
        if other is not report:
            message = f"expected a run tag of its own, got `{report.tag}` as in {other.path}"
            counts = {**report.fault_counts, "tag": report.fault_counts.get("tag", 0) + 1}
            faults = (*report.faults, Fault(None, message, "tag"))
            report = replace(report, faults=faults, fault_counts=counts)
        checked.append(report)
    return tuple(checked)


def _known(collection: str | Path | Collection | None) -> tuple[set[str] | None, set[str] | None]:
    """Return the topics and docnos that a collection's own files named; ``None`` = not known."""
    if collection is None:
        return None, None
    with opened_collection(collection) as opened:
        return opened.topics.listed() or None, opened.documents.listed() or None


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class CheckResult(Result):
    """Faults and oddities of run files; table: `check`, a row each, and one of a clean file."""

    reports: Sequence[RunReport]
    """A file each, in the order given: tag, hash, lines, topics, documents, faults by code."""

    NAMES: ClassVar[tuple[str, ...]] = ("check",)

    @property
    def ok(self) -> bool:
        """Whether no file has a fault."""
        return not self.n_faults

    @property
    def n_faults(self) -> int:
        """Faults of all files, those beyond the first of a file, too."""
        return sum(report.n_faults for report in self.reports)

    @property
    def faults(self) -> tuple[str, ...]:
        """The first faults of each file: `file:line: what`."""
        return tuple(line for report in self.reports for line in _faults(report))

    def lines(self, *names: str) -> Iterator[str]:  # noqa: ARG002 - there is one
        """Yield what editors and `grep` know: a file, a line and a message."""
        for report in self.reports:
            yield from map(sanitise_line, _faults(report))
            if report.hint:
                yield sanitise_line(f"{report.path}: hint: {report.hint}")
            for one in report.warnings:
                yield sanitise_line(f"{report.path}: warning: {one.message}")
            if not report.n_faults:
                counts = f"{report.n_topics:,} topics, {report.n_documents:,} documents"
                yield sanitise_line(f"{report.path}: ok: run {report.tag}, {counts}")

    def _table(self, name: str) -> Table:
        columns = [
            Column("file"),
            Column("tag"),
            Column("kind"),
            Column("code"),
            Column("line", "int"),
            Column("message"),
            Column("count", "int"),
        ]
        return Table.of_rows(name, columns, (row for report in self.reports for row in _rows(report)))


def _faults(report: RunReport) -> Iterator[str]:
    """Yield the faults of a file as sentences."""
    for fault in report.faults:
        yield f"{report.path if fault.line is None else f'{report.path}:{fault.line}'}: {fault.message}"
    if report.n_faults > len(report.faults):
        yield f"{report.path}: and {report.n_faults - len(report.faults):,} more faults"


def _rows(report: RunReport) -> Iterator[dict[str, Any]]:
    """Yield a row for each fault and warning of a file; one of kind `ok` where there is neither."""
    base = {"file": report.path, "tag": report.tag}
    fault = {**base, "kind": "fault"}
    for one in report.faults:
        yield {**fault, "code": one.code, "line": one.line, "message": one.message, "count": 1}
    more = report.n_faults - len(report.faults)
    if more > 0:
        yield {**fault, "code": "more", "message": f"{more} more faults", "count": more}
    for odd in report.warnings:
        yield {**base, "kind": "warning", "code": odd.code, "message": odd.message, "count": odd.count}
    if not report.n_faults and not report.warnings:
        yield {**base, "kind": "ok", "count": report.n_documents}
