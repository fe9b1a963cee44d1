"""Every fault of every run file, with its line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Beside, Lenient, Option, RunList, TrackRules, command
from pooler.messages import progress
from pooler.reading.check import CheckOptions, RunReport, check_files, with_faults
from pooler.reading.results import ids_by_title
from pooler.reading.rules import RULES, apply_rules, read_rules, verdict, warned_by
from pooler.reading.run_list import NO_MODEL, RunEntry
from pooler.result import Later, Message, Result, frozen_settings
from pooler.sources.files import entries_of
from pooler.sources.source import named_collection, opened_collection
from pooler.tables import DOCUMENTS, RUN, Column, Table, hidden
from store.errors import Fault, PoolerError
from store.records import Order
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from store.collection import Collection


@command
def check(
    *runs: Annotated[str | Path, Option("RUN...")],
    listed: RunList = None,
    depth: Annotated[int | None, Option("--depth -N", least=1)] = None,
    order: Order = "trec",
    strict: bool = False,
    lenient: Lenient = False,
    collection: Beside = None,
    rules: TrackRules = None,
) -> CheckResult:
    """Check run files: exit code 0 if there is no fault, otherwise 1.

    With --rules FILE also check the rules of a track: a row for each run, then the rules it breaks. Exit
    code 0: all runs are accepted; 4: some break a rule that only warns; 1: some are refused.

    Faults: not six fields, a score that is not a finite number, a document twice in a topic, a topic
    split by another, two tags, an unknown topic or docno (with --collection), control characters or
    invalid UTF-8 in an id, an empty file, damaged gzip. Warnings: ties, ranks that contradict the scores,
    ranks from 0, short or missing topics, field 2 not Q0.

    Example: pooler check runs/*.run --depth 100

    runs : - is stdin; .gz, .xz, .bz2, .zst are fine.
    depth : Also report ties at this cut, and short topics.
    order : Rank order: trec (by score, ties by docno descending), trec9 (the same, scores rounded to 32 bits
        as trec_eval 9.0.4 does), docno-asc (by score, ties by docno ascending), rank (the rank in the file),
        file (the order of lines).
    strict : Warnings also fail the check.

    Raises
    ------
    PoolerError
        If no file is named, or the list, the collection or the rules cannot be read.

    Notes
    -----
    `CheckResult.exit_code` is that of the command. Two files with one tag are a fault of the second: runs are
    told apart by their tags. O(lines log lines of a topic). Large files are read by two processes, each with
    one topic in memory; of a file with a fault, or in no plain order, everything.

    Examples
    --------
    >>> from pooler import check
    >>> found = check("no-such.run")
    >>> found.ok, found.faults
    (False, ('no-such.run: no such file or directory',))
    """
    entries = entries_of(map(str, runs), None if listed is None else str(listed))
    if not entries:
        raise PoolerError("no run file is named", hint="name run files, or a list of them with --runs FILE")
    return check_entries(
        entries, depth=depth, order=order, lenient=lenient, collection=collection, rules=rules
    )


def check_entries(
    entries: Sequence[RunEntry],
    *,
    depth: int | None = None,
    order: Order = "trec",
    lenient: bool = False,
    collection: str | Path | Collection | None = None,
    rules: str | Path | None = None,
    submitted: Mapping[str, str] | None = None,
) -> CheckResult:
    """Check runs of which something is known, as `check` does.

    `submitted`: groups, by tag, of runs that were submitted before.
    """
    track = None if rules is None else read_rules(str(rules))
    topics: AbstractSet[str] | None = None
    docnos: AbstractSet[str] | None = None
    titles = entries[0].titles
    if collection is not None:
        with opened_collection(collection) as opened:  # what its own files named
            topics, docnos = opened.topics.listed() or None, opened.documents.listed() or None
            titles = ids_by_title(opened.topics.all())
    if track is not None:
        topics, docnos = track.get("topics", topics), track.get("documents", docnos)
    files = [entry.file for entry in entries]
    with progress("files", len(entries)) as advance:
        outcomes = check_files(files, CheckOptions(topics, docnos, depth, order, lenient, titles), advance)
        # What cannot be opened is told, and the others are checked all the same.
        reports = []
        for file, one in zip(files, outcomes, strict=True):
            if isinstance(one, PoolerError):
                fault = Fault(None, one.message.removeprefix(f"{file}: "), "open")
                one = RunReport(file, "", "", 0, 0, 0, (fault,), {"open": 1}, (), (), one.hint)
            reports.append(one)
    settings = frozen_settings(runs=tuple(files), **named_collection(collection))
    checked = _with_repeated_tags(reports)
    if track is not None:
        checked = tuple(apply_rules(track, checked, entries, submitted or {}))
    warnings = tuple(f"{report.path}: {one.message}" for report in checked for one in report.warnings)
    return CheckResult(
        reports=checked, runs=entries, has_rules=track is not None, settings=settings, warnings=warnings
    )


def _with_repeated_tags(reports: Iterable[RunReport]) -> tuple[RunReport, ...]:
    first: dict[str, RunReport] = {}
    checked = []
    for report in reports:
        other = first.setdefault(report.tag, report) if report.tag else report
        if other is not report:
            message = f"expected a run tag of its own, got `{report.tag}` as in {other.path}"
            report = with_faults(report, [Fault(None, message, "tag")])
        checked.append(report)
    return tuple(checked)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class CheckResult(Result):
    """Faults and oddities of run files; table: `check`, a row each, and one of a clean file."""

    reports: Sequence[RunReport]
    """A file each, in the order given: tag, hash, lines, topics, documents, faults by code."""
    runs: Sequence[RunEntry]
    """What the list of runs says of them."""
    has_rules: bool = False

    def _tables(self) -> Iterator[Later]:
        if self.has_rules:
            yield Later(self._submissions)
        yield Later(self._check)

    @property
    def exit_code(self) -> int:
        """0 = no fault, 1 = some, 4 = a rule that only warns is broken."""
        if not self.ok or (self.settings["strict"] and self.warnings):
            return 1
        return 4 if self.is_warned else 0

    @property
    def ok(self) -> bool:
        """Whether no file has a fault."""
        return not self.n_faults

    def closing(self) -> Sequence[Message]:
        """Return how many files have faults, or how many runs the rules accept."""
        if self.has_rules:
            numbers = Counter(map(verdict, self.reports))
            words = [f"{n:,} {one}" for one in ("accepted", "warned", "refused") if (n := numbers[one])]
            return [("say", f"{counted(len(self.reports), 'run')}: {', '.join(words)}")]
        n_bad = sum(report.n_faults > 0 for report in self.reports)
        faults = f"{n_bad:,} with faults ({self.n_faults:,} in all)" if n_bad else "none with a fault"
        files, warnings = counted(len(self.reports), "file"), counted(len(self.warnings), "warning")
        return [("say", f"{files}, {faults}, {warnings}")]

    @property
    def is_warned(self) -> bool:
        """Whether a run breaks a rule that warns."""
        return any(map(warned_by, self.reports))

    @property
    def n_faults(self) -> int:
        """Faults of all files, those beyond the first of a file, too."""
        return sum(report.n_faults for report in self.reports)

    @property
    def faults(self) -> tuple[str, ...]:
        """The first faults of each file: `file:line: what`."""
        return tuple(line for report in self.reports for line in _faults(report))

    def lines(self) -> Iterator[str] | None:
        """Return what editors and `grep` know, a file, a line and a message; with rules there are tables."""
        return None if self.has_rules else self._lines()

    def shown(self) -> tuple[str, ...]:
        """Return the tables that people see: of reasons only where there are some."""
        return self.names()[:1] if self.ok and not self.is_warned else self.names()

    def _lines(self) -> Iterator[str]:
        for report in self.reports:
            yield from map(sanitise_line, _faults(report))
            if report.hint:
                yield sanitise_line(f"{report.path}: hint: {report.hint}")
            for one in report.warnings:
                yield sanitise_line(f"{report.path}: warning: {one.message}")
            if not report.n_faults:
                topics, documents = counted(report.n_topics, "topic"), counted(report.n_documents, "document")
                yield sanitise_line(f"{report.path}: ok: run {report.tag}, {topics}, {documents}")

    def _first(self, table: Table, called: str) -> Column:
        """Return the column that tells files apart: of tags where these do."""
        if len({report.tag for report in self.reports if report.n_documents}) < len(self.reports):
            called = "file"
        return replace(table.column(called), heading="run", show="always")

    def _submissions(self) -> Table:
        columns = [
            RUN,
            Column("group", show="if_any"),
            Column("verdict"),
            Column("because", "texts", show="if_any"),
            Column("warned", "texts", show="if_any"),
            Column("topics", "int"),
            DOCUMENTS,
            Column("ties", "int", about="documents with the score of another one of their topic"),
            Column(
                "disagreements", "int", "disagree", "topics that the stated ranks order unlike the scores"
            ),
            Column("faults", "int", can_go=3),
            Column("models", "texts", show="if_any", can_go=2),
            hidden("file", "text"),
        ]
        table = Table.of_rows("submissions", columns, map(_submission, self.reports, self.runs))
        shown = [self._first(table, "run"), *columns[1:-1]]
        return table.seen_as(columns=shown, of_rows="run")

    def _check(self) -> Table:
        names = ("file", "tag", "kind", "code", "line", "message", "count")
        columns = [Column(one, "int" if one in ("line", "count") else "text") for one in names]
        table = Table.of_rows("check", columns, (row for report in self.reports for row in _rows(report)))
        if not self.has_rules:
            return table
        found = zip(table.data["kind"], table.data["code"], strict=True)
        rows = [row for row, (kind, code) in enumerate(found) if kind == "fault" or code in RULES]
        shown = [self._first(table, "tag"), table.column("line"), table.column("message")]
        return table.seen_as(columns=shown, rows=rows, title="What is against the rules")


def _submission(report: RunReport, entry: RunEntry) -> dict[str, Any]:
    odd = {one.code: one.count for one in report.warnings}
    return {
        "run": report.tag if report.n_documents else None,
        "group": entry.group or None,
        "models": None if entry.models is None else list(entry.models) or [NO_MODEL],
        "topics": report.n_topics,
        "documents": report.n_documents,
        "ties": odd.get("ties", 0),
        "disagreements": odd.get("rank-order", 0),
        "faults": report.n_faults,
        "verdict": verdict(report),
        "because": list(report.fault_counts),
        "warned": warned_by(report),
        "file": report.path,
    }


def _faults(report: RunReport) -> Iterator[str]:
    for fault in report.faults:
        yield f"{report.path if fault.line is None else f'{report.path}:{fault.line}'}: {fault.message}"
    if report.n_faults > len(report.faults):
        yield f"{report.path}: and {report.n_faults - len(report.faults):,} more faults"


def _rows(report: RunReport) -> Iterator[dict[str, Any]]:
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
