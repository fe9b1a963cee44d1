"""Runs + judgements of files or a collection: Source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pooler.telling import progress, say
from store.errors import ArgumentError, FaultList, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pooler.reading.run_list import RunEntry
    from store.analysis.arrays import Grades, RankedDocuments
    from store.collection import Collection
    from store.grades.policy import Policy
    from store.ranking import Order
    from store.records import Qrel, Run, Scale


def level_of_files(scale: Scale | None, *, level: int | None, rigid: bool, relaxed: bool) -> int:
    """Return the least relevant grade of files: 1, or the relaxed one of their scale."""
    from store.analysis.collapse import level_of

    if scale is not None:
        cut = level_of(scale, level=level, rigid=rigid, relaxed=relaxed)
        return scale.relaxed if cut is None else cut
    if rigid or relaxed:
        hint = "--scale 0-3 or --scale ntcir declares it; or --level N"
        name = "--rigid" if rigid else "--relaxed"
        raise ArgumentError(name, "needs a declared scale", None, hint=hint)
    return 1 if level is None else level


def level_of_collection(
    scale: Scale, policy: Policy, *, level: int | None, rigid: bool, relaxed: bool
) -> int:
    """Return the least relevant grade, by default the relaxed one; of sums, the least sum."""
    from store.analysis.collapse import level_of, levels_of

    if policy.rule != "sum":
        cut = level_of(scale, level=level, rigid=rigid, relaxed=relaxed)
        return scale.relaxed if cut is None else cut
    levels_of(scale, rigid=rigid, relaxed=relaxed, sums=True)
    if level is None:
        requirement = "must say which sum of grades is relevant, with --aggregate sum"
        raise ArgumentError("--level", requirement, None)
    return level


def entries_of(files: Sequence[str], listed: str | None, group: str = "") -> list[RunEntry]:
    """Return the runs that arguments and `--runs FILE` name, arguments first."""
    from pooler.reading.run_list import RunEntry, read_run_list
    from store.fields import id_fault

    if group and (fault := id_fault(group)):
        raise ArgumentError("--group", f"must be one word ({fault})", group)
    entries = [RunEntry(file, group=group) for file in files]
    return entries + (read_run_list(listed) if listed is not None else [])


def read_entry(entry: RunEntry, *, lenient: bool) -> Run:
    """Read a run file, with what the list of runs says of it; its tag is what it is called."""
    from pooler.reading.whole import read_whole

    run = read_whole(entry.file, lenient=lenient)
    called = entry.called(run.tag)
    return replace(run, tag=called, group=entry.group, contributes=entry.contributes)


def read_entries(entries: Sequence[RunEntry], *, lenient: bool) -> Iterator[Run]:
    """Read one run file after the other, as `read_entry` does, and show how far that has come."""
    with progress("runs", len(entries)) as advance:
        for entry in entries:
            yield read_entry(entry, lenient=lenient)
            advance(1)


_ONE_GRADE = "is for a collection; --qrels already is one grade a document"
_NEEDS_QRELS = "--qrels FILE goes with run files; without, RUN is a run tag of a collection"
_MAKE_ONE = "pooler collapse makes one qrels file of several judges' files"


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
    """Tags of the runs that contribute to pools, in order; not told where `grades` are given."""
    tells_feeding: bool = True
    """Whether somebody said which runs contribute; run files without a list that says so do not."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group of each run, by its tag; empty = none. Not told where `grades` are given."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """Judges of each kind who vote, where there are several kinds."""
    models: tuple[str, ...] = ()
    """Who votes, where all of them are models. Not told where `grades` are given."""
    files: Mapping[str, str] = field(default_factory=dict)
    """File of each run, by its tag; empty for a collection."""

    def by_topic(self) -> Grades:
        """Return the grades by topic and document id."""
        from store.analysis.arrays import grades_by_topic

        return grades_by_topic(self.ranked, self.qrels) if self.grades is None else self.grades

    def pool_depth(self, depth: int | None) -> int:
        """Return the depth that was given, or that of the pools where they have one.

        Raises
        ------
        PoolerError
            If none is given, and the pools have none or several.
        """
        if depth is None and len(self.pool_depths) == 1:
            (depth,) = self.pool_depths
        if depth is None:
            known = ", ".join(map(str, sorted(self.pool_depths)))
            message = f"the pools have the depths {known}" if known else "which depth has the pool?"
            guess = "" if known else "; pooler diagnose says what the judgements look like"
            hint = f"--depth N: documents at rank N+1 are what is found{guess}"
            raise PoolerError(message, hint=hint)
        return depth


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
    from pooler.results.agree.aggregate import who_judged
    from pooler.results.judge_kinds import tell_kinds
    from store.formats.scale import parse_scale
    from store.judging.kinds import kind_counts, names_if_models

    if qrels is not None:
        _check_no_policy(policy)
        declared = None if scale is None else parse_scale(scale)
        cut = level_of_files(declared, level=level, rigid=rigid, relaxed=relaxed)
        entries = entries_of(runs, listed)
        return _from_files(entries, qrels, cut, order, lenient=lenient, scale=declared)
    _check_no_files(runs, collection)
    if not docnos:
        sole = _of_sole_judge(runs, collection, policy, order, level, rigid=rigid, relaxed=relaxed)
        if sole is not None:
            return sole
    from store.collection import Collection

    with Collection(collection) as opened:
        _check_no_file_for_a_tag(opened, runs)
        cut = level_of_collection(opened.scale, policy, level=level, rigid=rigid, relaxed=relaxed)
        # Grades stay grades where they can: measures may want them.
        is_binary = policy.collapse == "before" or policy.rule == "sum"
        final = opened.grades.final(replace(policy, level=cut) if is_binary else policy)
        ranked = _some_run(opened.runs.ranked(runs, order=order))
        what = "sum of grades" if policy.rule == "sum" else "grade"
        n_rows = f"{len(final.rows):,} judgements"
        say(f"{n_rows} ({who_judged(final)}), relevant = {what} {cut} or more")
        judges = opened.judges.all()
        kinds = kind_counts(judges, final.judges)
        tell_kinds(kinds)
        manifests = [pool.manifest for pool in opened.pools.all() if not pool.withdrawn]
        depths = frozenset(one["parameters"]["depth"] for one in manifests if one.get("strategy") == "depth")
        chosen = [run for run in opened.runs.all() if run.tag in ranked.tags]
        return Judged(
            ranked, final.rows, 1 if is_binary else cut, pool_depths=depths,
            feeding=tuple(run.tag for run in chosen if run.contributes),
            groups={run.tag: run.group for run in chosen}, kinds=kinds,
            models=names_if_models(judges, final.judges),
        )  # fmt: skip


def _of_sole_judge(
    runs: Sequence[str],
    collection: str,
    policy: Policy,
    order: Order,
    level: int | None,
    *,
    rigid: bool,
    relaxed: bool,
) -> Judged | None:
    """Read runs and the grades of one judge, without docnos; ``None`` = several have a say."""
    from store.collection import Collection

    with Collection(collection) as opened:
        _check_no_file_for_a_tag(opened, runs)
        cut = level_of_collection(opened.scale, policy, level=level, rigid=rigid, relaxed=relaxed)
        sole = opened.grades.sole(policy)
        if sole is None:
            return None
        ranked = _some_run(opened.runs.ranked(runs, order=order, docnos=False))
    n_rows = f"{sole.n_documents:,} judgements"
    say(f"{n_rows} (judge {sole.judge}), relevant = grade {cut} or more")
    return Judged(ranked, (), cut, grades=sole.by_topic)


def _check_no_file_for_a_tag(opened: Collection, runs: Sequence[str]) -> None:
    """Raise `PoolerError` where a run file is named for a run of the collection."""
    tags = {run.tag for run in opened.runs.all()}
    for run in runs:
        if run not in tags and Path(run).is_file():
            message = f"{run} is a file, and no run tag of the collection"
            raise PoolerError(message, hint=_NEEDS_QRELS)


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
    entries: Sequence[RunEntry], qrels: str, level: int, order: Order, *, lenient: bool, scale: Scale | None
) -> Judged:
    """Read bare files."""
    from pooler.results.judgement_files import read_given_qrels
    from store.analysis.arrays import ranked_documents
    from store.formats.codes import Meaning, decode_rows, graded_rows
    from store.records import Qrel

    if not entries:
        message = "no run file is named"
        raise PoolerError(message, hint="--qrels FILE goes with run files, or --runs FILE")
    faults = FaultList(qrels)
    content = read_given_qrels(qrels, lenient=lenient, faults=faults)
    if scale is None:
        faults.raise_if_any()
        rows = [Qrel(row.topic, row.docno, row.code, row.iteration) for row in content.rows if row.code >= 0]
    else:
        n_of_format = faults.count
        off = {row.code for row in content.rows if row.code < 0} - set(scale.values)
        graded = graded_rows(content.rows, judge="")
        rows = decode_rows(
            graded, scale, codes=dict.fromkeys(off, Meaning.UNJUDGED), faults=faults
        ).judged.get("", [])
        hint = "--scale declares the grades there are" if faults.count > n_of_format else None
        faults.raise_if_any(hint=hint)
    negative = len(content.rows) - len(rows)
    if negative:
        verb = "is" if negative == 1 else "are"
        say(f"{qrels}: {counted(negative, 'line')} with a negative code {verb} unjudged, as in"
            " trec_eval")  # fmt: skip

    feeding: list[str] = []
    groups: dict[str, str] = {}
    files: dict[str, str] = {}

    def read() -> Iterator[Run]:
        for entry, run in zip(entries, read_entries(entries, lenient=lenient), strict=True):
            groups[run.tag] = run.group
            files[run.tag] = entry.file
            if run.contributes:
                feeding.append(run.tag)
            yield run

    ranked = ranked_documents(read(), order=order)
    return Judged(
        ranked, rows, level, feeding=tuple(feeding),
        tells_feeding=any(entry.is_told for entry in entries), groups=groups, files=files,
    )  # fmt: skip


def names_collection(ctx: typer.Context) -> bool:
    """Say whether `--collection` stands on the command line; a setting is not meant for files."""
    source = ctx.get_parameter_source("collection")
    return source is not None and source.name == "COMMANDLINE"
