"""The runs and judgements that a command was given: one set of options for all that measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer
from typer.models import ArgumentInfo

from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AggregateOption,
    CollapseOption,
    CollectionOption,
    CutoffOption,
    FileRunsOption,
    FileScaleOption,
    FormatOption,
    JudgeOption,
    LenientOption,
    LevelOption,
    OfOption,
    OrderName,
    OrderOption,
    QrelsOption,
    RelaxedOption,
    RigidOption,
    TiesOption,
    WithoutRulingsOption,
    check_way,
    policy_of,
)
from pooler.results.printed import Format
from pooler.results.source import Judged, Source, names_collection
from store.errors import ArgumentError, PoolerError
from store.formats.lines import is_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Runs, judgements and how to read them, of a collection or of files."""

    PANEL: ClassVar[str] = "Runs and judgements"

    ctx: typer.Context
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Run tags (default all), or files with --qrels."),
    ] = None
    qrels: QrelsOption = None
    listed: FileRunsOption = None
    judge: JudgeOption = None
    aggregate: AggregateOption = None
    ties: TiesOption = None
    collapse: CollapseOption = None
    of: OfOption = None
    without_rulings: WithoutRulingsOption = False
    level: LevelOption = None
    rigid: RigidOption = False
    relaxed: RelaxedOption = False
    cutoff: CutoffOption = 1000
    order: OrderOption = OrderName.TREC
    scale: FileScaleOption = None
    lenient: LenientOption = False
    collection: CollectionOption = DEFAULT_COLLECTION

    def names(self, option: str) -> bool:
        """Say whether an option was given, and is not its default."""
        source = self.ctx.get_parameter_source(option)
        return source is not None and source.name != "DEFAULT"

    def check(self) -> None:
        """Refuse options of files and of a collection together; see `check_way`."""
        check_way(self.ctx, qrels=self.qrels, scale=self.scale, collection=self.collection,
                  listed=self.listed)  # fmt: skip

    def _check_files(self) -> None:
        """Raise `PoolerError` for a run that is no file, where the runs are files."""
        for run in self.runs or []:
            is_tag = run != "-" and not is_pattern(run) and not Path(run).exists()
            if self.qrels is not None and is_tag:
                whose = "not the tag of one of --runs" if self.listed else "not a tag"
                message = f"{run}: no such file or directory"
                raise PoolerError(message, hint=f"with --qrels a RUN is a file, {whose}")

    def source(self) -> Source:
        """Name the runs and the judgements; nothing is read yet."""
        self.check()
        self._check_files()
        policy = policy_of(
            judge=self.judge, aggregate=self.aggregate, ties=self.ties, collapse=self.collapse,
            of=self.of, without_rulings=self.without_rulings,
        )  # fmt: skip
        return Source(
            self.runs or [], qrels=self.qrels, collection=self.collection, policy=policy,
            level=self.level, rigid=self.rigid, relaxed=self.relaxed, order=self.order.value,
            lenient=self.lenient, scale=self.scale, listed=self.listed,
        )  # fmt: skip

    def probable_source(self, probabilities: str | None) -> Source:
        """Name the runs, and the judgements unless there is a file of probabilities in their place."""
        are_files = self.listed is not None or any(Path(run).is_file() for run in (self.runs or [])[:1])
        if self.qrels is not None or probabilities is None or names_collection(self.ctx) or not are_files:
            return self.source()
        self._check_no_judgements()
        return Source(self.runs or [], listed=self.listed, order=self.order.value, lenient=self.lenient)

    def _check_no_judgements(self) -> None:
        """Refuse options on judgements where there are run files and probabilities alone."""
        options = {
            "--judge": self.judge,
            "--aggregate": self.aggregate,
            "--ties": self.ties,
            "--collapse": self.collapse,
            "--of": self.of or None,
            "--without-rulings": self.without_rulings or None,
            "--level": self.level,
            "--rigid": self.rigid or None,
            "--relaxed": self.relaxed or None,
            "--scale": self.scale,
        }
        for name, value in options.items():
            if value is not None:
                requirement = "is of judgements; the file already says how likely a document is relevant"
                raise ArgumentError(name, requirement, None, hint="--qrels FILE adds them")

    def load(self, *, docnos: bool = True) -> Judged:
        """Read the runs and the judgements; see `load_judged`."""
        source = self.source()
        return source.judged if docnos else source.numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPrinted(Given):
    """The same with a format, for commands whose tables are printed one by one."""

    fmt: FormatOption = Format.TABLE


def on_given_runs(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the options of `Given` around its own, and be called with a `Given`.

    Parameters
    ----------
    command : callable
        Its first argument is the `Given`; the others are options as typer reads them, whose types
        can be had at run time, and arguments that stand before the runs.

    Returns
    -------
    callable
        What typer is given: the command's arguments, RUN, the command's options, then the others of
        `Given`.
    """
    types = get_type_hints(GivenPrinted, include_extras=True)
    of_given = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(GivenPrinted)
    ]
    _, *own = signature(command, eval_str=True).parameters.values()
    own = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own]

    @wraps(command)
    def told(**values: Any) -> None:
        given = GivenPrinted(**{one.name: values.pop(one.name) for one in of_given})
        command(given, **values)

    before = [one for one in own if _is_argument(one)]
    options = [one for one in own if one not in before]
    parameters = [of_given[0], *before, of_given[1], *options, *of_given[2:]]
    told.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    told.__annotations__ = {one.name: one.annotation for one in parameters}
    return told


def _is_argument(parameter: Parameter) -> bool:
    """Say whether typer reads a parameter by its place."""
    described = getattr(parameter.annotation, "__metadata__", ())
    return any(isinstance(one, ArgumentInfo) for one in described)
