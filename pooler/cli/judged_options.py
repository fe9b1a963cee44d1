"""Whose judgements are compared with each other: those that qrels of a collection count, or files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CodeOption,
    CollectionOption,
    LenientOption,
    OrderOption,
    RunsOption,
    ScaleOption,
    names_collection,
)
from pooler.cli.signature import argument, option
from pooler.sources.judgement_files import FileReading, is_file
from pooler.sources.source import Source
from store.errors import ArgumentError, PoolerError
from store.grades.definition import is_file_word


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionOptions:
    """Judgements of several judges: those that qrels of a collection count, or files."""

    PANEL: ClassVar[str] = "Judgements"

    ctx: typer.Context
    qrels: Annotated[
        list[str] | None,
        option(
            "--qrels NAME|FILE",
            "Whose judgements count: those of these qrels, whatever their rule, or of this judge alone. Or"
            " files, one of each judge, FILE or NAME=FILE; may be repeated.",
            show_default="official",
        ),
    ] = None
    scale: ScaleOption = None
    codes: CodeOption = None
    lenient: LenientOption = False
    collection: CollectionOption = DEFAULT_COLLECTION

    @property
    def files(self) -> list[str]:
        """The files that are named; none = the judgements are those of a collection."""
        named = self.qrels or []
        files = [one for one in named if is_file_word(one)]
        if files and len(files) < len(named):
            other = next(one for one in named if one not in files)
            hint = f"--qrels {files[0]} is a file; ./{other} would be one, too"
            raise ArgumentError("--qrels", "must be files, or one name of qrels", other, hint=hint)
        if not files and len(named) > 1:
            raise ArgumentError("--qrels", "must be one name of qrels", named[1])
        if files and names_collection(self.ctx):
            requirement = "and --qrels FILE exclude each other"
            raise ArgumentError("--collection", requirement, self.collection)
        return files

    def of(
        self,
        runs: Sequence[str] = (),
        *,
        files: Sequence[str] = (),
        listed: str | None = None,
        order: OrderOption = "trec",
    ) -> Source:
        """Return the judgements, and runs; `files` are those of one more judge."""
        reading = FileReading(scale=self.scale, codes=self.codes, lenient=self.lenient)
        if named := self.files:
            return Source(
                runs,
                judgements=[*files, *named],
                reading=reading,
                listed=listed,
                order=order,
                lenient=self.lenient,
            )
        reading.refuse()
        name = self.qrels[0] if self.qrels else None
        return Source(runs, collection=self.collection, qrels=name, order=order)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesOptions(OpinionOptions):
    """The same, and which of the judges are meant."""

    judges: Annotated[
        list[str] | None,
        argument(
            "JUDGE...",
            "Two or more judges; default all of --qrels who graded: people, models, and people with models,"
            " each apart, and no adjudicators.",
        ),
    ] = None

    def made(self) -> Source:
        """Return what they judged."""
        self._check_judges()
        return self.of()

    def tags(self) -> Sequence[str]:
        """Return the judges that were named."""
        return self.judges or ()

    def _check_judges(self) -> None:
        for name in self.judges or ():
            if _is_file(name):
                message = f"{name} is a file, not the name of a judge"
                raise PoolerError(message, hint=f"name each judge's file with --qrels, as in --qrels {name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingJudgesOptions(JudgesOptions):
    """The same, with runs."""

    run_files: Annotated[
        list[str] | None, option("--run FILE", "With --qrels FILE: a run file; may be repeated.")
    ] = None
    listed: RunsOption = None
    order: OrderOption = "trec"

    def made(self) -> Source:
        """Return what they judged, and the runs."""
        self._check_judges()
        if not self.files:
            for name, value in (("--run", self.run_files), ("--runs", self.listed)):
                if value:
                    requirement = "is for files; a collection has runs of its own"
                    raise ArgumentError(name, requirement, str(value))
        elif not self.run_files and self.listed is None:
            message = "the order of runs is compared, but no run is named"
            raise PoolerError(message, hint="name each with --run FILE, or a list of them with --runs FILE")
        return self.of(self.run_files or (), listed=self.listed, order=self.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoRunsOptions(OpinionOptions):
    """Two runs and what several judges said."""

    PANEL: ClassVar[str] = "Runs and judgements"

    runs: Annotated[
        list[str] | None,
        argument(
            "RUN_A RUN_B",
            "Two run tags of the collection; default the two with the highest expected MAP. With --qrels"
            " FILE: run files, of which the two highest are compared.",
        ),
    ] = None
    order: OrderOption = "trec"

    def made(self) -> Source:
        """Return the runs and the judges."""
        named = self.runs or []
        if self.files:
            return self.of(named, order=self.order)
        for run in named:
            if is_file(run):
                hint = "run files go with --qrels FILE"
                raise ArgumentError("RUN_A", "must be a run tag of the collection", run, hint=hint)
        return self.of(order=self.order)

    def tags(self) -> Sequence[str]:
        """Return the runs that were named, where they are runs of a collection."""
        return () if self.files else self.runs or ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions(OpinionOptions):
    """Runs and judges of a collection, or files of one judge each: the audited one, and people's."""

    PANEL: ClassVar[str] = "Runs and judgements"

    runs: Annotated[
        list[str] | None, argument("RUN...", "Run tags (default all), or files with --qrels FILE.")
    ] = None
    order: OrderOption = "trec"

    def made(self) -> Source:
        """Return runs and judgements."""
        runs, given = self.runs or [], self.ctx.params
        if not self.files:
            return self.of(runs, order=self.order)
        for file in runs:
            if not is_file(file):
                message = f"{file}: no such file or directory"
                raise PoolerError(message, hint="with --qrels FILE a RUN is a file, not a tag")
        model = [given["model"]] if _is_file(given["model"]) else []
        return self.of(runs, files=model, listed=given["uses"], order=self.order)


def _is_file(word: str) -> bool:
    """Return whether a word for a judge is that of a file, FILE or NAME=FILE."""
    return is_file_word(word) and is_file(word.partition("=")[2] or word)
