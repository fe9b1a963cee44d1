"""Judges to be compared with each other: of a collection, or files of one judge each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AggregateOption,
    CodeOption,
    CollapseOption,
    CollectionOption,
    InputColumnsOption,
    InputOption,
    JudgeColumnOption,
    LenientOption,
    MapOption,
    OrderOption,
    RepeatsOption,
    RunsOption,
    ScaleOption,
    TiesOption,
    TopicOption,
    names_collection,
    policy_of,
)
from pooler.cli.signature import argument, option
from pooler.results.judgement_files import FileReading, is_file
from pooler.results.source import Source
from store.errors import ArgumentError, PoolerError
from store.formats.syntax.lines import STDIN

if TYPE_CHECKING:
    from store.grades.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesOptions:
    """Judges of a collection, or files of one judge each."""

    PANEL: ClassVar[str] = "Judgements"

    ctx: typer.Context
    names: Annotated[
        list[str] | None,
        argument(
            "JUDGE|FILE...",
            "Two or more judges; default all who graded: people, models, and people with models, each apart"
            " (see --kinds), and no adjudicators. Or files, without a collection: each holds one judge's"
            " judgements and is called by its file name, or NAME=FILE.",
        ),
    ] = None
    form: InputOption = None
    input_columns: InputColumnsOption = None
    topic: TopicOption = None
    judge_column: JudgeColumnOption = None
    scale_text: ScaleOption = None
    codes: CodeOption = None
    mapped: MapOption = None
    repeats: RepeatsOption = None
    lenient: LenientOption = False
    collection: CollectionOption = DEFAULT_COLLECTION

    def made(self) -> Source:
        """Return what they judged."""
        return self._source()

    def tags(self) -> Sequence[str]:
        """Return the judges that were named, where they are those of a collection."""
        return () if self._are_files() else self.names or ()

    def _are_files(self) -> bool:
        return _are_files(self.names or (), self.collection, is_chosen=names_collection(self.ctx))

    def _source(
        self, runs: Sequence[str] | None = None, listed: str | None = None, order: OrderOption = "trec"
    ) -> Source:
        reading = FileReading(
            form=self.form,
            columns=self.input_columns,
            topic=self.topic,
            judge_column=self.judge_column,
            scale=self.scale_text,
            codes=self.codes,
            mapped=self.mapped,
            repeats=self.repeats,
            lenient=self.lenient,
        )
        if self._are_files():
            return Source(
                runs or (),
                judgements=self.names or (),
                reading=reading,
                listed=listed,
                order=order,
                lenient=self.lenient,
            )
        reading.refuse()
        _check_there(self.names or (), self.collection)
        return Source(collection=self.collection, order=order)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingJudgesOptions(JudgesOptions):
    """The same, with runs."""

    run_files: Annotated[
        list[str] | None, option("--run FILE", "With files of judgements: a run file; may be repeated.")
    ] = None
    listed: RunsOption = None
    order: OrderOption = "trec"

    def made(self) -> Source:
        """Return what they judged, and the runs."""
        if not self._are_files():
            for name, value in (("--run", self.run_files), ("--runs", self.listed)):
                if value:
                    requirement = "is for files; a collection has runs of its own"
                    raise ArgumentError(name, requirement, str(value))
        elif not self.run_files and self.listed is None:
            message = "the order of runs is compared, but no run is named"
            raise PoolerError(message, hint="name each with --run FILE, or a list of them with --runs FILE")
        return self._source(self.run_files, self.listed, self.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """How several people's grades become one, to be compared with one judge's."""

    aggregate: AggregateOption = None
    ties: TiesOption = None

    def made(self) -> Policy:
        """Return the rule."""
        return policy_of(**asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstOptions(RuleOptions):
    """The same, at levels."""

    collapse: CollapseOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Runs and judges of a collection, or files of one judge each: the audited one, and people's."""

    PANEL: ClassVar[str] = "Runs and judgements"

    ctx: typer.Context
    runs: Annotated[
        list[str] | None, argument("RUN...", "Run tags (default all), or files with --qrels.")
    ] = None
    qrels: Annotated[
        list[str] | None,
        option(
            "--qrels FILE",
            "Use files instead of a collection: a person's judgements, NAME=FILE or called by the file name;"
            " may be repeated.",
        ),
    ] = None
    order: OrderOption = "trec"
    scale_text: ScaleOption = None
    codes: CodeOption = None
    lenient: LenientOption = False
    collection: CollectionOption = DEFAULT_COLLECTION

    def made(self) -> Source:
        """Return runs and judgements."""
        reading = FileReading(scale=self.scale_text, codes=self.codes, lenient=self.lenient)
        runs, given = self.runs or [], self.ctx.params
        if not self.qrels:
            reading.refuse()
            return Source(runs, collection=self.collection, order=self.order)
        if given["against"]:
            requirement = "is for a collection; --qrels names people's files"
            raise ArgumentError("--against", requirement, given["against"][0])
        if names_collection(self.ctx):
            raise ArgumentError("--collection", "and --qrels exclude each other", self.collection)
        for file in runs:
            if not is_file(file):
                message = f"{file}: no such file or directory"
                raise PoolerError(message, hint="with --qrels a RUN is a file, not a tag")
        return Source(
            runs,
            judgements=[given["model"], *self.qrels],
            reading=reading,
            listed=given["uses"],
            order=self.order,
            lenient=self.lenient,
        )


def _are_files(names: Sequence[str], collection: str, *, is_chosen: bool) -> bool:
    """Return whether arguments are files; refuse those that may be judges as well."""
    if is_chosen:
        return False
    found = [name for name in names if _is_named_file(name)]
    if not found:
        return False
    others = [name for name in names if name not in found]
    if others:
        message = f"{others[0]} is not a file, but {found[0]} is"
        hint = f"name only files; --collection {collection} says that these are judges"
        raise PoolerError(message, hint=hint)
    words = [name for name in found if Path(name).name == name and not _has_file_shape(name)]
    if words and _is_there(collection):
        message = f"`{words[0]}` may be a judge of {collection} or a file"
        hint = f"./{words[0]} is the file; --collection {collection} says that these are judges"
        raise PoolerError(message, hint=hint)
    return True


def _is_named_file(name: str) -> bool:
    _, sign, file = name.partition("=")
    return is_file(name) or (bool(sign) and is_file(file))


def _has_file_shape(name: str) -> bool:
    return name == STDIN or "=" in name or bool(Path(name).suffix)


def _is_there(collection: str) -> bool:
    """Return whether there is a collection; a URL is believed."""
    return "://" in collection or Path(collection).exists()


def _check_there(names: Sequence[str], collection: str) -> None:
    """Raise `PoolerError` where an argument is no file and there is nothing else it could be."""
    if names and collection == DEFAULT_COLLECTION and not _is_there(collection):
        message = f"{names[0]}: there is no such file, and no {collection} with judges either"
        hint = "name files of judgements, or the collection of these judges with --collection FILE"
        raise PoolerError(message, hint=hint)
