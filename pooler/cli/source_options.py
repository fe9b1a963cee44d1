"""The runs and judgements that a command works on: one set of options for everything that measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CodeOption,
    CollectionOption,
    ColumnsOption,
    CutoffOption,
    FileCodeOption,
    FileRunsOption,
    FileScaleOption,
    InputOption,
    JudgeColumnOption,
    LenientOption,
    LevelOption,
    MapOption,
    OrderOption,
    QrelsOption,
    RepeatsOption,
    RuleOptions,
    RunsOption,
    ScaleOption,
    TopicOption,
    names_collection,
)
from pooler.cli.signature import argument, option, parameters_of
from pooler.sources.source import Source
from store.errors import ArgumentError, PoolerError
from store.formats.lines import is_pattern
from store.grades.definition import is_file_word


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Runs, judgements and how to read them, of a collection or of files."""

    PANEL: ClassVar[str] = "Runs and judgements"

    ctx: typer.Context
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run tags (default all), or with --qrels files.")
    ] = None
    qrels: QrelsOption = None
    listed: FileRunsOption = None
    level: LevelOption = None
    cutoff: CutoffOption = 1000
    order: OrderOption = "trec"
    scale: FileScaleOption = None
    codes: FileCodeOption = None
    lenient: LenientOption = False
    collection: CollectionOption = DEFAULT_COLLECTION

    def names(self, option: str) -> bool:
        """Return whether an option was given, and is not its default."""
        source = self.ctx.get_parameter_source(option)
        return source is not None and source.name != "DEFAULT"

    @property
    def is_of_file(self) -> bool:
        """Whether the qrels are those of a file."""
        return self.qrels is not None and is_file_word(self.qrels)

    def _check_way(self) -> None:
        are_files = self.listed is not None or any(Path(run).exists() for run in self.runs or [])
        if self.is_of_file and are_files and names_collection(self.ctx):
            requirement = "and --qrels FILE exclude each other where runs are files, too"
            raise ArgumentError("--collection", requirement, self.collection)
        is_of_sample = self.ctx.params.get("prels") is not None
        scale = None if is_of_sample else self.scale
        for name, value in {"--scale": scale, "--code": self.codes and self.codes[0]}.items():
            if not self.is_of_file and value is not None:
                requirement = "is for files; a collection has declared its own"
                raise ArgumentError(name, requirement, value)
        for run in self.runs or [] if self.is_of_file and not self._has_collection() else []:
            if run != "-" and not is_pattern(run) and "://" not in run and not Path(run).exists():
                whose = "not the tag of one of --runs" if self.listed else "not a tag"
                message = f"{run}: no such file or directory"
                hint = f"with --qrels FILE, and no collection here, a RUN is a file, {whose}"
                raise PoolerError(message, hint=hint)
        if self.qrels is None and self.listed is not None and not is_of_sample:
            hint = (
                "--qrels FILE or NAME are the judgements to use with run files; without, RUN is a run's tag"
            )
            raise ArgumentError("--runs", "is for files, with --qrels", self.listed, hint=hint)

    def _has_collection(self) -> bool:
        return "://" in self.collection or Path(self.collection).exists()

    def made(self) -> Source:
        """Return what a command measures."""
        return self.source()

    def tags(self) -> Sequence[str]:
        """Return the runs that were named, where they are runs of a collection."""
        return () if self.is_of_file else (self.runs or ())

    def source(self) -> Source:
        """Name the runs and the judgements; nothing is read until it is needed."""
        self._check_way()
        return self._with(qrels=self.qrels, collection=self.collection)

    def _are_files_alone(self) -> bool:
        """Return whether run files are named, and no judgements."""
        are_files = self.listed is not None or any(Path(run).is_file() for run in (self.runs or [])[:1])
        return are_files and self.qrels is None and not names_collection(self.ctx)

    def runs_alone(self) -> Source:
        """Name run files whose judgements come from elsewhere, and what counts as relevant in them."""
        return self._with()

    def _with(self, **judgements: Any) -> Source:
        names = ("listed", "order", "lenient", "level", "scale", "codes")
        return Source(self.runs or [], **judgements, **{name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosedOptions(SourceOptions):
    """Runs and judgements; of run files there need not be any."""

    def source(self) -> Source:
        """Name the runs and the judgements, none where run files are named alone."""
        return self._with(qrels=()) if self._are_files_alone() else SourceOptions.source(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbableOptions(SourceOptions):
    """Runs and judgements, unless a file of probabilities takes the place of these."""

    def source(self) -> Source:
        """Name the runs and the judgements, none where run files are named alone."""
        if not self._are_files_alone():
            return SourceOptions.source(self)
        for name in ("level", "scale", "codes"):
            if self.names(name):
                requirement = "is for judgements, and only runs are named"
                raise ArgumentError(name, requirement, None, hint="--qrels FILE adds judgements")
        return self.runs_alone()


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotOptions(SourceOptions):
    """Runs that tell how much scores vary; or --variance does in their place."""

    def made(self) -> Source | None:  # type: ignore[override]  # where there are no runs
        """Return the runs, or nothing where the variance is given."""
        if self.ctx.params["variance"] is None:
            return self.source()
        for name in (one.name for one in parameters_of(SourceOptions) if one.name != "ctx"):
            if names_collection(self.ctx) if name == "collection" else self.names(name):
                raise ArgumentError(name, "is for runs; --variance stands in their place", None)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules(RuleOptions):
    """How the judgements of files become one."""

    PANEL: ClassVar[str] = "Files of judges; what a collection does, its definition says"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How files of judgements are read."""

    PANEL: ClassVar[str] = FileRules.PANEL

    scale: ScaleOption = None
    codes: CodeOption = None
    mapped: MapOption = None
    repeats: RepeatsOption = None
    input_form: InputOption = None
    columns: ColumnsOption = None
    topic: TopicOption = None
    judge_column: JudgeColumnOption = None
    lenient: LenientOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenQrelsOptions:
    """Qrels of a collection by name; or files of judges, and how their grades become one."""

    words: Annotated[
        list[str] | None,
        argument(
            "[NAME|FILE...]",
            "Qrels of the collection by name, default `official`; or files, each of one judge and called by"
            " its file name, or NAME=FILE, - is stdin.",
        ),
    ] = None
    collection: CollectionOption = DEFAULT_COLLECTION
    rule: FileRules
    reading: ReadingOptions

    def made(self) -> Source:
        """Return what the qrels are made of."""
        from pooler.sources.judgement_files import FileReading

        words = self.words or []
        files = [one for one in words if is_file_word(one)]
        if not files:
            self._refuse_file_options()
            if len(words) > 1:
                raise ArgumentError("words", "must be one: each has a file of its own", " ".join(words))
            return Source(collection=self.collection, qrels=words[0] if words else None)
        if len(files) < len(words):
            message = f"`{next(one for one in words if one not in files)}` is a name, {files[0]} a file"
            raise PoolerError(message, hint="./NAME is the file of that name")
        how = asdict(self.reading)
        reading = FileReading(form=how.pop("input_form"), **how)
        return Source(judgements=words, qrels=self.rule.definition(), reading=reading)

    def _refuse_file_options(self) -> None:
        for options in (self.rule, self.reading):
            for name in (one.name for one in fields(options) if getattr(options, one.name)):
                hint = f"pooler qrels define NAME --{name.replace('_', '-')} ...: pooler export qrels NAME"
                is_rule = options is self.rule
                raise ArgumentError(name, "is for files of judges", None, hint=hint if is_rule else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledOptions:
    """Runs alone: run files, or those of a collection."""

    PANEL: ClassVar[str] = "Runs"

    ctx: typer.Context
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run files; without any, the runs of the collection.")
    ] = None
    listed: RunsOption = None
    lenient: LenientOption = False
    collection: CollectionOption = DEFAULT_COLLECTION

    def made(self) -> Source:
        """Return what a command pools."""
        if not self.runs and self.listed is None:
            return Source(collection=self.collection, lenient=self.lenient)
        if names_collection(self.ctx):
            hint = "pooler import runs brings files in; pooler pool without files pools a collection's runs"
            requirement = "and run files exclude each other: files need no collection"
            raise ArgumentError("--collection", requirement, self.collection, hint=hint)
        return Source(self.runs or [], listed=self.listed, qrels=(), lenient=self.lenient)


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideOptions:
    """A collection that says more, where one is named."""

    collection: Annotated[
        str | None,
        option("--collection PATH|URL", "Also report topics and docnos that this collection does not know."),
    ] = None

    def made(self) -> str | None:
        """Return its place."""
        return self.collection


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOptions:
    """The collection that a command works on."""

    collection: CollectionOption = DEFAULT_COLLECTION

    def made(self) -> str:
        """Return its place."""
        return self.collection
