"""Options of what commands work on: runs, judgements, a collection; a group makes one argument.

A group is a dataclass of options, or of other groups, and its method `made` returns the argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import typer

from pooler.command import Cutoff, Lenient, Level, Option, RankOrder, RunList
from pooler.sources.judgement_files import FileReading, is_file
from pooler.sources.source import DEFAULT_COLLECTION, Source
from pooler.sources.stored import opened_collection, topic_judges_of
from store.errors import ArgumentError, PoolerError
from store.formats import GradesFormat
from store.formats.lines import is_pattern
from store.grades import Aggregate
from store.grades.definition import QrelsDefinition, is_file_word
from store.records import Ties

Words = list[str] | None
CollectionPlace = Annotated[
    str,
    Option(
        "--collection PATH|URL",
        "SQLite file or postgresql:// URL of the collection.",
        envvar="POOLER_COLLECTION",
    ),
]
FilesScale = Annotated[
    str | None,
    Option(
        "--scale SCALE",
        "The scale of the files: 0-3, binary, ntcir or a TOML file, as in `init`.  [default:"
        " from the lowest to the highest grade in them]",
    ),
]
FilesCodes = Annotated[
    Words,
    Option(
        "--code CODE=MEANING",
        "A code of the files: unjudged (pooled, not judged), not-pooled, skipped, cannot or unjudgeable; or"
        " grade, if it is one.",
    ),
]


def _names_collection(ctx: typer.Context) -> bool:
    """Return whether `--collection` stands on the command line; a setting is not meant for files."""
    source = ctx.get_parameter_source("collection")
    return source is not None and source.name == "COMMANDLINE"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class StoredOptions:
    """The collection that a command works on."""

    collection: CollectionPlace = DEFAULT_COLLECTION

    def made(self) -> str:
        """Return its place."""
        return self.collection


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class BesideOptions:
    """A collection that says more, where one is named."""

    collection: Annotated[
        str | None,
        Option("--collection PATH|URL", "Also report topics and docnos that this collection does not know."),
    ] = None

    def made(self) -> str | None:
        """Return its place."""
        return self.collection


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class PooledOptions:
    """Runs alone: run files, or those of a collection."""

    PANEL: ClassVar[str] = "Runs"

    ctx: typer.Context
    runs: Annotated[Words, Option("RUN...", "Run files; without any, the runs of the collection.")] = None
    listed: RunList = None
    lenient: Lenient = False
    collection: CollectionPlace = DEFAULT_COLLECTION

    def made(self) -> Source:
        """Return what a command pools."""
        if not self.runs and self.listed is None:
            return Source(collection=self.collection, lenient=self.lenient)
        if _names_collection(self.ctx):
            hint = "pooler import runs brings files in; pooler pool without files pools a collection's runs"
            requirement = "and run files exclude each other: files need no collection"
            raise ArgumentError("--collection", requirement, self.collection, hint=hint)
        return Source(self.runs or [], listed=self.listed, qrels=(), lenient=self.lenient)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SourceOptions:
    """Runs, judgements and how to read them, of a collection or of files."""

    PANEL: ClassVar[str] = "Runs and judgements"

    ctx: typer.Context
    runs: Annotated[Words, Option("RUN...", "Run tags (default all), or with --qrels files.")] = None
    qrels: Annotated[
        str | None,
        Option(
            "--qrels NAME|FILE",
            "Qrels by name (`pooler qrels`), or a judge; a word with / . or =, or -, is a file.",
            default="official",
        ),
    ] = None
    listed: Annotated[
        str | None,
        Option(
            "--runs FILE",
            "TSV with a header that lists run files: file; maybe tag, group, contributes (yes/no), name"
            " here.",
        ),
    ] = None
    level: Level = None
    cutoff: Cutoff = None
    order: RankOrder = "trec"
    scale: Annotated[
        str | None,
        Option(
            "--scale SCALE", "With --qrels FILE: its scale: 0-3, binary, ntcir or a TOML file as in `init`."
        ),
    ] = None
    codes: Annotated[
        Words,
        Option(
            "--code CODE=MEANING",
            "With --qrels FILE: what a code means: grade, unjudged, not-pooled, skipped, cannot. Without: -1"
            " is unjudged; -2 and lower are judged, not relevant.",
        ),
    ] = None
    lenient: Lenient = False
    collection: CollectionPlace = DEFAULT_COLLECTION

    def made(self) -> Source:
        """Name the runs and the judgements; nothing is read until it is needed."""
        is_of_file = self._is_of_file()
        are_files = self.listed is not None or any(Path(run).exists() for run in self.runs or [])
        if is_of_file and are_files and _names_collection(self.ctx):
            requirement = "and --qrels FILE exclude each other where runs are files, too"
            raise ArgumentError("--collection", requirement, self.collection)
        is_of_sample = self.ctx.params.get("prels") is not None
        scale = None if is_of_sample else self.scale
        for name, value in {"--scale": scale, "--code": self.codes and self.codes[0]}.items():
            if not is_of_file and value is not None:
                raise ArgumentError(name, "is for files; a collection has declared its own", value)
        has_collection = "://" in self.collection or Path(self.collection).exists()
        for run in self.runs or [] if is_of_file and not has_collection else []:
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
        return self._with(qrels=self.qrels, collection=self.collection)

    def tags(self) -> Sequence[str]:
        """Return the runs that were named, where they are runs of a collection."""
        return () if self._is_of_file() else (self.runs or ())

    def _is_of_file(self) -> bool:
        return self.qrels is not None and is_file_word(self.qrels)

    def _are_files_alone(self) -> bool:
        """Return whether run files are named, and no judgements."""
        are_files = self.listed is not None or any(Path(run).is_file() for run in (self.runs or [])[:1])
        return are_files and self.qrels is None and not _names_collection(self.ctx)

    def _with(self, **judgements: Any) -> Source:
        names = ("listed", "order", "lenient", "level", "scale", "codes")
        return Source(self.runs or [], **judgements, **{name: getattr(self, name) for name in names})

    def _given(self, *names: str) -> Iterator[str]:
        """Yield the options of these that were given, and are not their default."""
        for name in names:
            source = self.ctx.get_parameter_source(name)
            is_given = source is not None and source.name != "DEFAULT"
            if _names_collection(self.ctx) if name == "collection" else is_given:
                yield name


class DiagnosedOptions(SourceOptions):
    """Runs and judgements; of run files there need not be any."""

    def made(self) -> Source:
        """Return the source, without judgements where run files are named alone."""
        return self._with(qrels=()) if self._are_files_alone() else SourceOptions.made(self)


class ProbableOptions(SourceOptions):
    """Runs and judgements, unless a file of probabilities takes the place of these."""

    def made(self) -> Source:
        """Return the source, likewise."""
        if not self._are_files_alone():
            return SourceOptions.made(self)
        for name in self._given("level", "scale", "codes"):
            requirement = "is for judgements, and only runs are named"
            raise ArgumentError(name, requirement, None, hint="--qrels FILE adds judgements")
        return self._with()


class PilotOptions(SourceOptions):
    """Runs that tell how much scores vary; or --variance does in their place."""

    def made(self) -> Source | None:  # type: ignore[override]  # where there are no runs
        """Return the runs, or nothing where the variance is given."""
        if self.ctx.params["variance"] is None:
            return SourceOptions.made(self)
        for name in self._given(*(one.name for one in fields(SourceOptions) if one.name != "ctx")):
            raise ArgumentError(name, "is for runs; --variance stands in their place", None)
        return None


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class OpinionOptions:
    """Judgements of several judges: those that qrels of a collection count, or files."""

    PANEL: ClassVar[str] = "Judgements"

    ctx: typer.Context
    qrels: Annotated[
        Words,
        Option(
            "--qrels NAME|FILE",
            "Whose judgements count: those of these qrels, whatever their rule, or of this judge alone. Or"
            " files, one of each judge, FILE or NAME=FILE; may be repeated.",
            default="official",
        ),
    ] = None
    scale: FilesScale = None
    codes: FilesCodes = None
    lenient: Lenient = False
    collection: CollectionPlace = DEFAULT_COLLECTION

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
            hint = f"of judges: pooler qrels define both --judge {' --judge '.join(named)}; then --qrels both"
            raise ArgumentError("--qrels", "must be one name of qrels", named[1], hint=hint)
        if files and _names_collection(self.ctx):
            raise ArgumentError("--collection", "and --qrels FILE exclude each other", self.collection)
        return files

    def of(self, runs: Sequence[str] = (), *, files: Sequence[str] = (), **how: Any) -> Source:
        """Return the judgements, and runs, as they are listed and ordered; `files` are of one more judge."""
        reading = FileReading(scale=self.scale, codes=self.codes, lenient=self.lenient)
        if named := self.files:
            judgements = [*files, *named]
            return Source(runs, judgements=judgements, reading=reading, lenient=self.lenient, **how)
        reading.refuse()
        name = self.qrels[0] if self.qrels else None
        return Source(runs, collection=self.collection, qrels=name, order=how.get("order", "trec"))


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class JudgesOptions(OpinionOptions):
    """The same, and which of the judges are meant."""

    judges: Annotated[
        Words,
        Option("JUDGE...", "Two or more judges; default all of --qrels who graded, and no adjudicators."),
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
            if _is_judge_file(name):
                message = f"{name} is a file, not the name of a judge"
                raise PoolerError(message, hint=f"name each judge's file with --qrels, as in --qrels {name}")


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RankingJudgesOptions(JudgesOptions):
    """The same, with runs."""

    judges: Annotated[
        Words,
        Option(
            "NAME...",
            "Two or more judges, or qrels of the collection by name (`pooler qrels`), as the union and the"
            " intersection of judges are; default all judges of --qrels who graded.",
        ),
    ] = None
    run_files: Annotated[Words, Option("--run FILE", "With --qrels FILE: a run file; may be repeated.")] = (
        None
    )
    listed: RunList = None
    order: RankOrder = "trec"

    def made(self) -> Source:
        """Return what they judged, and the runs."""
        self._check_judges()
        if not self.files:
            for name, value in (("--run", self.run_files), ("--runs", self.listed)):
                if value:
                    raise ArgumentError(name, "is for files; a collection has runs of its own", str(value))
        elif not self.run_files and self.listed is None:
            message = "the order of runs is compared, but no run is named"
            raise PoolerError(message, hint="name each with --run FILE, or a list of them with --runs FILE")
        return self.of(self.run_files or (), listed=self.listed, order=self.order)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class TwoRunsOptions(OpinionOptions):
    """Two runs and what several judges said."""

    PANEL: ClassVar[str] = "Runs and judgements"

    runs: Annotated[
        Words,
        Option(
            "RUN_A RUN_B",
            "Two run tags of the collection; default the two with the highest expected MAP. With --qrels"
            " FILE: run files, of which the two highest are compared.",
        ),
    ] = None
    order: RankOrder = "trec"

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


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AuditOptions(OpinionOptions):
    """Runs and judges of a collection, or files of one judge each: the audited one, and people's."""

    PANEL: ClassVar[str] = "Runs and judgements"

    runs: Annotated[Words, Option("RUN...", "Run tags (default all), or files with --qrels FILE.")] = None
    order: RankOrder = "trec"

    def made(self) -> Source:
        """Return runs and judgements."""
        runs, given = self.runs or [], self.ctx.params
        if not self.files:
            return self.of(runs, order=self.order)
        for file in runs:
            if not is_file(file):
                message = f"{file}: no such file or directory"
                raise PoolerError(message, hint="with --qrels FILE a RUN is a file, not a tag")
        model = [given["model"]] if _is_judge_file(given["model"]) else []
        return self.of(runs, files=model, listed=given["uses"], order=self.order)


def _is_judge_file(word: str) -> bool:
    """Return whether a word for a judge is that of a file, FILE or NAME=FILE."""
    return is_file_word(word) and is_file(word.partition("=")[2] or word)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RuleOptions:
    """Whose judgements count, and how several judges' grades become one."""

    aggregate: Annotated[
        Aggregate | None,
        Option(
            "--aggregate",
            "Make one grade of several: that of the primary judge, the most frequent one, the median, the"
            " mean (halves rounded up), the lowest, the highest, the sum (it leaves the scale), or the most"
            " probable one given each judge's habits (dawid-skene).",
            default="the primary judge's, else the only or equal ones",
        ),
    ] = None
    ties: Annotated[
        Ties | None,
        Option("--ties", "Ties of majority and median: the lower grade, the higher one, or none."),
    ] = None
    votes: Annotated[
        int | None, Option("--votes N", "Leave documents with fewer votes undecided.", least=1)
    ] = None
    binary_first: Annotated[
        bool, Option("--binary-first", "Make each judge's grade binary at the level, then aggregate.")
    ] = False
    judges: Annotated[
        Words,
        Option("--judge NAME", "Count only this judge's votes; may be repeated.", default="those of --kinds"),
    ] = None
    kinds: Annotated[
        str | None,
        Option(
            "--kinds KIND,...",
            "Count judges of these kinds together: human (with adjudicators), model, imported.",
            default="people alone; where no person judged, imported, else models",
        ),
    ] = None
    without_rulings: Annotated[
        bool, Option("--without-rulings", "Ignore adjudicators; otherwise their rulings override any rule.")
    ] = False
    primary: Annotated[
        str | None, Option("--primary FILE", "Who is primary: lines `topic judge`, a tab between.")
    ] = None

    def definition(self, **more: Any) -> QrelsDefinition:
        """Return what is asked for; its own `check` says what does not go together."""
        from store.formats.pairs import read_topic_judges

        own = {one.name: getattr(self, one.name) for one in fields(RuleOptions)}
        given = {name: value for name, value in (own | more).items() if value is not None}
        if self.primary is not None and "primary" not in more:
            given["primary"] = read_topic_judges(self.primary)
        return QrelsDefinition(**given)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DefinitionOptions(RuleOptions):
    """All that qrels are defined by."""

    ctx: typer.Context
    mapped: Annotated[Words, Option("--map FROM=TO", "Read one grade as another, before any rule.")] = None
    pool: Annotated[str | None, Option("--pool NAME", "Only documents of this pool.")] = None
    as_of: Annotated[
        str | None,
        Option(
            "--as-of DATE|now",
            "Judgements up to this moment, as 2026-03-01 (its end) or 2026-03-01T18:00.",
            default="live: as they stand when they are used",
        ),
    ] = None
    without_topics: Annotated[
        Words, Option("--without-topic TOPIC|FILE", "Leave this topic out, or those of a file, one a line.")
    ] = None
    relaxed: Annotated[
        int | None, Option("--relaxed SUM", "With --aggregate sum: the least sum that is relevant.")
    ] = None
    rigid: Annotated[
        int | None, Option("--rigid SUM", "With --relaxed: the least sum that is highly relevant.")
    ] = None

    def made(self) -> QrelsDefinition:
        """Return the definition."""
        from store.formats.scale import parse_map

        topics: list[str] = []
        for word in self.without_topics or []:
            path = Path(word)
            topics += path.read_text("utf-8").split() if path.is_file() else [word]
        more = {name: getattr(self, name) for name in ("pool", "as_of", "relaxed", "rigid")}
        if self.primary is not None:
            with opened_collection(self.ctx.params["collection"]) as opened:
                more["primary"] = topic_judges_of(opened, self.primary)
        return self.definition(map=parse_map(self.mapped or [], {}), without_topics=topics, **more)


class FileRules(RuleOptions):
    """How the judgements of files become one."""

    PANEL: ClassVar[str] = "Files of judges; what a collection does, its definition says"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ReadingOptions:
    """How files of judgements are read."""

    PANEL: ClassVar[str] = FileRules.PANEL

    scale: FilesScale = None
    codes: FilesCodes = None
    mapped: Annotated[Words, Option("--map FROM=TO", "Read one grade of the files as another.")] = None
    repeats: Annotated[
        Literal["refuse", "first", "last", "highest", "drop"] | None,
        Option(
            "--repeats",
            "Which line counts where lines of one topic, docno and judge differ.  [default: refuse]",
        ),
    ] = None
    input_form: Annotated[
        GradesFormat | None,
        Option("--input", "Form of the files, as in `import judgements`; jsonl and tsv are of every judge."),
    ] = None
    columns: Annotated[
        str | None,
        Option(
            "--columns NAME,...",
            "Columns of the files in order: docno, grade, and topic, iteration, judge if there are; - skips"
            " one.",
        ),
    ] = None
    topic: Annotated[
        str | None, Option("--topic T", "With --columns: the topic of every line, where no column holds it.")
    ] = None
    judge_column: Annotated[
        int | None, Option("--judge-column", "The column of the files that names the judge.", least=2, most=2)
    ] = None
    lenient: Lenient = False


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class GivenQrelsOptions:
    """Qrels of a collection by name; or files of judges, and how their grades become one."""

    words: Annotated[
        Words,
        Option(
            "[NAME|FILE...]",
            "Qrels of the collection by name, default `official`; or files, each of one judge and called by"
            " its file name, or NAME=FILE, - is stdin.",
        ),
    ] = None
    collection: CollectionPlace = DEFAULT_COLLECTION
    rule: FileRules
    reading: ReadingOptions

    def made(self) -> Source:
        """Return what the qrels are made of."""
        words = self.words or []
        files = [one for one in words if is_file_word(one)]
        if not files:
            for options in (self.rule, self.reading):
                for name in (one.name for one in fields(options) if getattr(options, one.name)):
                    option = "judge" if name == "judges" else name.replace("_", "-")
                    hint = f"pooler qrels define NAME --{option} ...; then pooler export qrels NAME"
                    is_rule = options is self.rule
                    raise ArgumentError(name, "is for files of judges", None, hint=hint if is_rule else None)
            if len(words) > 1:
                raise ArgumentError("words", "must be one: each has a file of its own", " ".join(words))
            return Source(collection=self.collection, qrels=words[0] if words else None)
        if len(files) < len(words):
            message = f"`{next(one for one in words if one not in files)}` is a name, {files[0]} a file"
            raise PoolerError(message, hint="./NAME is the file of that name")
        how = asdict(self.reading)
        reading = FileReading(form=how.pop("input_form"), **how)
        return Source(judgements=words, qrels=self.rule.definition(), reading=reading)
