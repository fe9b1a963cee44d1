"""The runs and judgements that a command works on: one set of options for everything that measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    CutoffOption,
    FileCodeOption,
    FileRunsOption,
    FileScaleOption,
    LenientOption,
    LevelOption,
    OrderOption,
    QrelsOption,
    RelaxedOption,
    RigidOption,
    RunsOption,
    WhoseOptions,
    names_collection,
)
from pooler.cli.signature import argument, option
from pooler.results.source import Source
from store.errors import ArgumentError, PoolerError
from store.formats.syntax.lines import is_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Runs, judgements and how to read them, of a collection or of files."""

    PANEL: ClassVar[str] = "Runs and judgements"

    ctx: typer.Context
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run tags (default all), or files with --qrels.")
    ] = None
    qrels: QrelsOption = None
    listed: FileRunsOption = None
    whose: WhoseOptions
    level: LevelOption = None
    rigid: RigidOption = False
    relaxed: RelaxedOption = False
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

    def _check_way(self) -> None:
        if self.qrels is not None and names_collection(self.ctx):
            requirement = "and --qrels exclude each other: files need no collection"
            raise ArgumentError("--collection", requirement, self.collection)
        for name, value in {"--scale": self.scale, "--code": self.codes and self.codes[0]}.items():
            if self.qrels is None and value is not None:
                requirement = "is for files; a collection has declared its own"
                raise ArgumentError(name, requirement, value)
        if self.qrels is None and self.listed is not None:
            hint = (
                "--qrels FILE names the judgements to use with run files; without it, RUN is the tag of a run"
            )
            raise ArgumentError("--runs", "is for files, with --qrels", self.listed, hint=hint)
        for run in self.runs or []:
            is_tag = run != "-" and not is_pattern(run) and "://" not in run and not Path(run).exists()
            if self.qrels is not None and is_tag:
                whose = "not the tag of one of --runs" if self.listed else "not a tag"
                message = f"{run}: no such file or directory"
                raise PoolerError(message, hint=f"with --qrels a RUN is a file, {whose}")

    def made(self) -> Source:
        """Return what a command measures."""
        return self.source()

    def tags(self) -> Sequence[str]:
        """Return the runs that were named, where they are runs of a collection."""
        return (self.runs or ()) if self.qrels is None else ()

    def source(self) -> Source:
        """Name the runs and the judgements; nothing is read until it is needed."""
        self._check_way()
        return self._with(qrels=self.qrels, collection=self.collection, policy=self.whose.policy())

    def _are_files_alone(self) -> bool:
        """Return whether run files are named, and no judgements."""
        are_files = self.listed is not None or any(Path(run).is_file() for run in (self.runs or [])[:1])
        return are_files and self.qrels is None and not names_collection(self.ctx)

    def runs_alone(self) -> Source:
        """Name run files whose judgements come from elsewhere, and what counts as relevant in them."""
        return self._with()

    def _with(self, **judgements: Any) -> Source:
        names = ("listed", "order", "lenient", "level", "rigid", "relaxed", "scale", "codes")
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
        whose = asdict(self.whose)
        for name in (*whose, "level", "rigid", "relaxed", "scale", "codes"):
            if self.names(name):
                hint = "--qrels FILE adds judgements"
                if name in whose:
                    hint = "leave it out, or name runs of the collection by their tags"
                raise ArgumentError(name, "is for judgements, and only runs are named", None, hint=hint)
        return self.runs_alone()


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
