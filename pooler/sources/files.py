"""Runs and qrels of files: how files are named, read and ranked, and how judges' grades become one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from glob import glob
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from pooler.judge_kinds import warn_about_voters
from pooler.messages import progress, say, warn
from pooler.sources.judged import GivenQrels, Level, code_words, level_of_files
from pooler.sources.judgement_files import FileReading, decode, read_files, read_given_qrels, scale_of
from store.errors import ArgumentError, FaultList, PoolerError
from store.fields import id_fault
from store.formats.lines import STDIN, is_pattern, is_regular_file
from store.formats.scale import Meaning, parse_scale, understood
from store.grades.definition import QrelsDefinition, is_file_word
from store.judging.kinds import Voters, choose_voters
from store.records import Judge, JudgeKind, Order, Qrel, QrelColumns, Run, Scale, State
from store.text import counted, look_alikes

if TYPE_CHECKING:
    from pooler.pools.runs import RunSet
    from pooler.reading.run_list import RunEntry
    from pooler.sources.judgement_files import JudgedFile
    from store.analysis.arrays import RankedDocuments
    from store.formats.tables import GradedRow
    from store.grades.opinions import AllVotes


def files_of(names: Iterable[str | Path]) -> Iterator[str]:
    """Yield files, those of a pattern in order; a pattern without any stays, to be told as missing."""
    for name in map(str, names):
        found = sorted(glob(name)) if is_pattern(name) and not Path(name).exists() else []  # noqa: PTH207 - may be absolute
        yield from found or [name]


def entries_of(files: Iterable[str], listed: str | Path | None, group: str = "") -> list[RunEntry]:
    """Return the runs that arguments and `--runs FILE` name, arguments first."""
    from pooler.reading.run_list import RunEntry, read_run_list

    if group and (fault := id_fault(group)):
        raise ArgumentError("group", f"must be one word: {fault}", None)
    entries = [RunEntry(file, group=group) for file in files]
    if program := next((one.file for one in entries if one.file.endswith(".py")), None):
        hint = f"pooler import runs --search {quote(program)} makes a run of its function search(query, k)"
        raise PoolerError(f"{program} is a program, not a run", hint=hint)
    return entries + (read_run_list(str(listed)) if listed is not None else [])


def named_runs(runs: Iterable[str | Run], listed: str | Path | None) -> list[RunEntry | Run]:
    """Return runs in the order given, files and those in memory alike; then those of a list."""
    named: list[RunEntry | Run] = []
    for run in runs:
        named += entries_of([run], None) if isinstance(run, str) else [run]
    named += entries_of((), listed)
    return named


def read_named(named: Sequence[RunEntry | Run], *, lenient: bool) -> Iterator[Run]:
    """Yield runs, those of files read, with what a list of runs says of them; show how far that has come."""
    from pooler.reading.whole import read_whole

    with progress("runs", sum(not isinstance(one, Run) for one in named)) as advance:
        for one in named:
            if isinstance(one, Run):
                yield one
                continue
            run = read_whole(one.file, lenient=lenient, titles=one.titles)
            yield replace(run, tag=one.called(run.tag), group=one.group, contributes=one.contributes)
            advance(1)


@dataclass(eq=False)
class NamedRuns:
    """Runs that are files or in memory, in the order in which they were named."""

    runs: Sequence[str | Run]
    listed: str | Path | None
    order: Order
    lenient: bool
    qrels: object
    """What they are measured with, as it was given."""
    titles: Mapping[str, str] | None = None
    """Topics by title, where a collection has them."""
    _by_tag: dict[str, RunEntry | Run] = field(default_factory=dict, init=False)
    """What each is called, once they were read."""

    def named(self) -> list[RunEntry | Run]:
        """Return the runs as they were named, with what is known of them before they are read."""
        named = named_runs(self.runs, self.listed)
        return [one if isinstance(one, Run) else replace(one, titles=self.titles) for one in named]

    @cached_property
    def at_hand(self) -> list[RunEntry | Run]:
        """Runs that may be read more than once: what cannot, as standard input and pipes, is in memory."""
        return [
            one
            if isinstance(one, Run)
            or (one.file != STDIN and (is_regular_file(one.file) or not Path(one.file).exists()))
            else next(read_named([one], lenient=self.lenient))
            for one in self.named()
        ]

    @cached_property
    def rankings(self) -> RankedDocuments:
        """Rankings alone, whatever they are measured with."""
        from pooler.reading.whole import ranked_runs

        return ranked_runs(self.at_hand, order=self.order, lenient=self.lenient)

    def beside(self, known: Set[str] | None) -> tuple[RankedDocuments, dict[str, Any]]:
        """Return the rankings, and facts of the runs that are fields of `Judged`.

        `known`: docnos that must be told apart; ``None`` = all.
        """
        from pooler.reading.whole import judged_runs
        from pooler.sources.meeting import other_forms

        entries = [one for one in self.at_hand if not isinstance(one, Run)]
        files = [*(one.file for one in entries), *([STDIN] if len(entries) < len(self.at_hand) else [])]
        files += [one for one in (self.qrels, self.listed) if isinstance(one, str) and is_file_word(one)]
        # What cannot be read again is read once, docnos and all.
        if known is None or not all(map(is_regular_file, files)):
            ranked = self.rankings
        else:
            # Look-alikes are told apart, to be warned of.
            wanted = [*known, *other_forms(known)]
            ranked = judged_runs(entries, wanted, order=self.order, lenient=self.lenient)
        by_tag = self._by_tag = dict(zip(ranked.tags, self.at_hand, strict=True))
        return ranked, {
            "feeding": tuple(tag for tag, one in by_tag.items() if one.contributes),
            "tells_feeding": any(one.is_told for one in entries),
            "groups": {tag: one.group for tag, one in by_tag.items()},
            "files": {tag: one.file for tag, one in by_tag.items() if not isinstance(one, Run)},
        }

    def tops(self, depth: int, *, scores: bool, tags: Sequence[str] | None) -> RunSet:
        """Return the first documents of every run; of those with these tags as if they contributed."""
        from pooler.pools.runs import FileRuns
        from pooler.reading.tops import read_tops, top_of

        how: dict[str, Any] = {"order": self.order, "with_scores": scores}
        named = self.at_hand if tags or self.qrels else self.named()
        if tags and self._by_tag:
            named = [one for tag, one in self._by_tag.items() if tag in tags]
        # What is measured may be called otherwise than by its tag.
        entries = [replace(one, name=None) if tags else one for one in named if not isinstance(one, Run)]
        with progress("runs", len(entries)) as advance:
            read = iter(read_tops(entries, depth, lenient=self.lenient, progress=advance, **how))
        tops = [top_of(one, depth, **how) if isinstance(one, Run) else next(read) for one in named]
        if tags:
            names = [
                one.tag if isinstance(one, Run) else one.called(top.tag)
                for one, top in zip(named, tops, strict=True)
            ]
            pairs = zip(tops, names, strict=True)
            tops = [replace(top, tag=name, contributes=True) for top, name in pairs if name in tags]
        return FileRuns(tops)


@dataclass(eq=False)
class FileQrels:
    """Qrels of a file, or in memory."""

    qrels: str | Sequence[Qrel]
    codes: Sequence[str]
    scale: str | None
    level: Level
    lenient: bool

    def read(self) -> GivenQrels:
        """Read the grades, which must be on the scale, if there is one, but for untold codes."""
        from store.formats.qrels import DUPLICATE, read_plain_qrels

        name = self.qrels if isinstance(self.qrels, str) else "qrels"
        scale = None if self.scale is None else parse_scale(self.scale)
        values = set(scale.values) if scale else set()
        faults = FaultList(name)
        lines: Sequence[GradedRow] = ()
        qrels = self.qrels
        if isinstance(qrels, str):
            rows = read_plain_qrels(name)
            if rows is None or (scale and not {*rows.grades} <= values):  # lines are reported
                lines = read_given_qrels(name, lenient=self.lenient, faults=faults).rows
            qrels = rows or [Qrel(one.topic, one.docno, one.code, one.iteration) for one in lines]
        qrels = QrelColumns.of(qrels)
        grades = {*qrels.grades}
        meanings, unclear = understood(grades, self.codes, values)
        no_grades = {code for code, what in meanings.items() if what is not Meaning.GRADE}
        off = {line.code for line in lines} - values - no_grades - {*unclear} if scale else set()
        for line in lines if off else ():
            if line.code in off:
                known = ", ".join(map(str, sorted(values)))
                faults.add(line.line, f"expected a grade of the scale ({known}), got {line.code}", "grade")
        faults.raise_if_any(hint="--scale declares the grades there are" if off else None)
        has_others = not grades.isdisjoint(no_grades)
        graded = [row for row in qrels if row.grade not in no_grades] if has_others else qrels
        if DUPLICATE in qrels.iterations and (n_given := sum(row.iteration == DUPLICATE for row in graded)):
            say(f"{name}: {counted(n_given, 'grade')} copied to near-duplicates counted as well")
        pooled: dict[str, list[str]] = {}
        listed = no_grades - {code for code, what in meanings.items() if what is Meaning.NOT_POOLED}
        found = [row for row in qrels if row.grade in listed] if has_others else []
        for row in found:
            pooled.setdefault(row.topic, []).append(row.docno)
        if found:
            by = code_words({row.grade for row in found})
            say(f"{name}: {counted(len(found), 'pooled document')} without a grade ({by})")
        why = {(row.topic, row.docno): meanings[row.grade].value for row in found}
        left_out = {pair: word for pair, word in why.items() if word != Meaning.UNJUDGED}
        return GivenQrels(name, graded, level_of_files(scale, self.level), pooled, left_out, unclear)


@dataclass(eq=False)
class JudgesQrels:
    """Qrels that a definition makes of files of several judges."""

    files: Sequence[str]
    reading: FileReading
    definition: QrelsDefinition
    level: Level

    def read(self) -> GivenQrels:
        """Read the files, and make one grade a document of theirs."""
        from store.grades.qrels import check_sum, decide

        definition, given, reading = self.definition, self.level, self.reading
        is_sum = definition.aggregate == "sum"
        files = read_files(self.files, reading)
        scale = scale_of(files, reading, [] if is_sum or not isinstance(given, int) else [given])
        level = definition.level_on(scale, given) if is_sum else level_of_files(reading.declared(), given)
        definition.check_scale(scale, None if is_sum else level)
        all_votes, _ = gather_files(files, scale, reading, definition)
        final = decide(all_votes, definition, level if definition.binary_first else None)
        if is_sum:
            check_sum(all_votes, level)
        if n := final.count_left_out("undecided"):
            warn(f"{counted(n, 'document')} undecided, left out")
        warn_about_voters(all_votes.voters, is_headed=True)
        level = 1 if definition.binary_first else level
        return GivenQrels("the judges", final.rows, level, left_out=final.left_out)


def gather_files(
    files: Sequence[JudgedFile], scale: Scale, reading: FileReading, definition: QrelsDefinition
) -> tuple[AllVotes, list[Judge]]:
    """Return the votes of files, as a definition lets them count, and every judge.

    `PoolerError`: nothing is judged, or there are rulings, of which only a collection knows which stand.
    """
    from pooler.sources.meeting import doubt_forms
    from store.grades.opinions import gather

    decode(files, scale, reading)
    kinds: dict[str, JudgeKind] = {}
    for file in files:
        names = {one.judge for one in file.judgements} | {*filter(None, [file.named.judge])}
        kinds |= {name: file.kinds.get(name, JudgeKind.IMPORTED) for name in names}
    judges = [Judge(name, kinds[name]) for name in sorted(kinds)]
    judgements = [one for file in files for one in file.judgements]
    doubt_forms(look_alikes(docnos := {one.docno for one in judgements}, docnos))
    of: Sequence[str] = definition.judges
    # Judges of files of one judge each are named by the user.
    if not definition.kinds and all(file.named.judge is not None for file in files):
        of = of or [one.name for one in judges]
    graders = {one.judge for one in judgements if one.state is State.JUDGED}
    has_rulings = not definition.without_rulings
    voters = choose_voters(judges, graders, of=of, kinds=definition.kinds, rulings=has_rulings)
    adjudicators = {one.name for one in judges if one.kind is JudgeKind.ADJUDICATOR}
    _check_adjudicators(adjudicators, definition, voters)
    if not graders:
        names_of_files = ", ".join(file.named.file for file in files)
        raise PoolerError(f"{names_of_files}: has judged nothing here")
    judgements = [one for one in judgements if one.judge in voters.names]
    all_votes = gather(judgements, scale, definition, adjudicators=adjudicators)
    return replace(all_votes, voters=voters), judges


def _check_adjudicators(adjudicators: set[str], definition: QrelsDefinition, voters: Voters) -> None:
    """Refuse adjudicators who count, since files do not hold their rulings."""
    for name in definition.judges if definition.sole is None else ():
        if name in adjudicators:
            hint = "an adjudicator's rulings count, but not as votes"
            raise ArgumentError("--judge", "must be judges, not adjudicators", name, hint=hint)
    if not adjudicators.isdisjoint(voters.names) and not definition.without_rulings:
        message = f"{', '.join(sorted(adjudicators))} made rulings, and only"
        message += " a collection knows which of them stand"
        hint = "pooler import judgements, then pooler export qrels; or --without-rulings leaves them out"
        raise PoolerError(message, hint=hint)
