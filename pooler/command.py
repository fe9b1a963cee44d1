"""A command is one function: its signature is the API and the options, its docstring the help.

::

    @command
    def compare(source: Measured, *, measure: Measure = "AP", alpha: Share = 0.05) -> Comparison:
        '''Test whether runs differ.

        Two runs get every test ...

        Example: pooler compare bm25-words rm3-words-title

        measure : The measure to compare by.
        alpha : Level of significance, two-sided; intervals cover 1 - alpha.

        (sections of numpydoc: Returns, Raises, Notes ...)
        '''

The paragraphs before the parameters are the help; the sections after them are for Python only. The type
of a parameter says how it is typed and which numbers it takes (`Option`), and is checked here for Python
and the command line alike. What the function returns gets its settings and its warnings here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, wraps
from inspect import Parameter, cleandoc, signature
from operator import ge, gt, le, lt
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    get_type_hints,
    overload,
)

from pooler.result import Done, Result, collect_warnings, frozen_settings
from pooler.sources.source import Measurable, SomeRuns, Source, opened_collection, runs_of, source_of
from store.errors import ArgumentError
from store.records import Order

if TYPE_CHECKING:
    from store.collection import Collection

P = ParamSpec("P")
Returned = TypeVar("Returned")

_PARAMETERS = re.compile(r"^(\w+) : (.+(?:\n +\S.*)*)", re.MULTILINE)
"""`name : words`, and the lines below that are further in."""
_SECTION = re.compile(r"^\S.*\n-{3,}$", re.MULTILINE)


@dataclass(frozen=True)
class Option:
    """How a parameter is typed on the command line, and which values it may have."""

    form: str = ""
    """Its names and what stands for its value, as help shows them (``--measure -m MEASURE``); default the
    parameter's name. Without a dash it is an argument."""
    words: str = ""
    """What it does; the docstring of a command may have words of its own for it."""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    """Least number, itself left out."""
    below: float | None = None
    read: Callable[[str, Any], Any] | None = None
    """Converts the text, or each of several, to the value; called with the parameter's name and the text."""
    repeated: bool = False
    """Whether `read` takes a list: the option may be repeated."""
    default: str = ""
    """What help shows as the default."""
    envvar: str = ""
    """Variable of the environment that stands for it."""
    panel: str = ""
    """Heading under which help lists it; default the command's own options."""
    for_people: Any = None
    """Value of a hidden parameter where people read the output; of `Limit`, unless they give one."""
    hidden: bool = False
    """Whether only Python has it, and not the command line."""
    required: bool = False
    """Whether the command line needs it, where Python does not."""

    def check(self, name: str, value: Any) -> None:
        """Raise `ArgumentError` for a number out of range, of several for the first of them."""
        if isinstance(value, Sequence) and not isinstance(value, str):
            for one in value:
                self.check(name, one)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return
        bounds = ((self.least, ">=", ge), (self.most, "<=", le), (self.above, ">", gt), (self.below, "<", lt))
        broken = [one for one in bounds if one[0] is not None and not one[2](value, one[0])]
        if not broken:
            return
        noun = "an integer" if isinstance(value, int) and self.above is self.below is None else "a number"
        requirement = f"must be {noun} {broken[0][1]} {broken[0][0]:g}"
        if self.above is not None and self.below is not None:
            requirement = f"must be between {self.above:g} and {self.below:g}"
        elif self.least is not None and self.most is not None:
            requirement = f"must be {noun} from {self.least:g} to {self.most:g}"
        raise ArgumentError(name, requirement, value)


_WHOLE = re.compile(r"[0-9]{1,9}", re.ASCII)
_DECIMAL = re.compile(r"-?(?:[0-9]{1,9}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:e[+-]?[0-9]{1,2})?", re.ASCII)


def whole_numbers(name: str, text: str) -> list[int]:
    """Read whole numbers like ``10,20,50``, each once, in the order given.

    >>> whole_numbers("topics", "50, 30,50")
    [50, 30]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(map(_WHOLE.fullmatch, parts)):
        raise ArgumentError(name, "must be integers, separated by commas", text)
    return list(dict.fromkeys(map(int, parts)))


def decimals(name: str, text: str) -> list[float]:
    """Read numbers, each once, in the order given.

    >>> decimals("variance", ".01,.03")
    [0.01, 0.03]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(map(_DECIMAL.fullmatch, parts)):
        raise ArgumentError(name, "must be numbers, separated by commas", text)
    return list(dict.fromkeys(map(float, parts)))


def level_word(name: str, text: str) -> int | str:
    """Read a level: a grade, ``rigid`` or ``relaxed``.

    >>> level_word("level", "2"), level_word("level", "rigid")
    (2, 'rigid')
    """
    if text in ("rigid", "relaxed"):
        return text
    if not re.fullmatch(r"-?[0-9]{1,9}", text, re.ASCII):
        raise ArgumentError(name, "must be an integer, rigid or relaxed", text)
    return int(text)


def levels_of(name: str, texts: Sequence[str]) -> list[int | str]:
    """Read several levels, each once."""
    return list(dict.fromkeys(level_word(name, text) for text in texts))


@dataclass(frozen=True)
class Given:
    """A parameter that the command line makes from the fields of a dataclass of options.

    `where` is ``module:class``, imported when the command line is; its method `made` returns the value.
    """

    where: str
    kind: Literal["source", "runs", "collection", "other"] = "other"
    """What Python may give instead: what `source_of` or `runs_of` takes; an open collection, or its place."""


# What commands work on: the first parameter of each.
Measured = Annotated[Source, Given("pooler.cli.options:SourceOptions", "source")]
"""Runs and judgements, of a collection or of files."""
if TYPE_CHECKING:

    class Pooled(Source):
        """Runs alone, of files, of memory or of a collection."""

    Stored: TypeAlias = Collection
    OptionalPlace: TypeAlias = str | Path | Collection | None
    Beside: TypeAlias = str | Path | Collection | None
else:  # nothing of the database is loaded for a type
    OptionalPlace = Annotated[object, Given("pooler.cli.options:StoredOptions")]
    """A collection beside what a command works on, by name: its place, or an open one."""
    Beside = Annotated[object, Given("pooler.cli.options:BesideOptions")]
    """The same, none by default."""
    Pooled = Annotated[Source, Given("pooler.cli.options:PooledOptions", "runs")]
    Stored = Annotated[object, Given("pooler.cli.options:StoredOptions", "collection")]

Place = Annotated[str | Path, Given("pooler.cli.options:StoredOptions")]
"""A file or URL, where a collection is or will be."""

QrelsName = Annotated[
    str | None,
    Option(
        "--qrels NAME",
        "Qrels by their name in the collection (`pooler qrels`), or a judge's name for that judge's own"
        " grades.",
        default="the collection's default, official",
    ),
]

# Parameters of many commands.
Measure = Annotated[str, Option("--measure -m MEASURE", "A measure; see `show measures`.")]
Seed = Annotated[int, Option("--seed", "Seed of the random numbers.", least=0)]
Share = Annotated[float, Option(above=0, below=1)]
Depth = Annotated[int, Option("--depth -N", "N: the pool's depth.", least=1)]
PoolDepth = Annotated[
    int | None,
    Option(
        "--depth -N",
        "N: the pool's depth.",
        least=1,
        default="the pools', where they have one; else what the judgements look like",
    ),
]
Level = Annotated[
    int | str | None,
    Option(
        "--level N|rigid|relaxed",
        "Least relevant grade; or the scale's rigid level (NTCIR: S, A) or its relaxed one (S, A, B).",
        read=level_word,
        default="relaxed",
    ),
]
Levels = Annotated[
    Sequence[int | str],
    Option(
        "--level N|rigid|relaxed",
        "Least grade that counts as relevant, or a level of the scale; may be repeated.",
        read=levels_of,
        repeated=True,
        default="the relaxed and the rigid level",
    ),
]
Cutoff = Annotated[
    int | None,
    Option(
        "--cutoff",
        "Ranks that count (trec_eval -M), but for measures with a rank of their own.",
        least=1,
        default="1000",
        panel="Runs and judgements",
    ),
]
Confirm = Annotated[Callable[[str], None] | None, Option(hidden=True)]
"""Asks a question, `PoolerError` = no; on the command line, where `--yes` answers it. Python does not ask."""
Out = Annotated[str | Path | None, Option("--out -o FILE", "Default stdout.")]
"""A file that a result is written to; of Python, by default none: the result has its lines."""
Manifest = Annotated[
    str | Path | None, Option("--manifest FILE", "Default: the name of the file with .manifest.json added.")
]
RunLine = Annotated[Callable[[Sequence[str]], int], Option(hidden=True)]
"""Runs the words of a line of `pooler`, and returns its exit code."""
Replace = Annotated[
    bool, Option("--replace", "Replace different content that the collection has under the same name.")
]
Lenient = Annotated[
    bool,
    Option(
        "--lenient",
        "Read files as trec_eval does: extra fields and # lines are ignored, and a topic's lines need not"
        " stand together.",
    ),
]
RunList = Annotated[
    str | Path | None,
    Option(
        "--runs FILE",
        "TSV with a header that lists the runs: file, and optionally tag, group, contributes (yes/no).",
    ),
]
TrackRules = Annotated[
    str | Path | None,
    Option(
        "--rules FILE",
        "TOML with the rules of a track: topics, documents, depth, min_depth, tag, descending, ranks, group,"
        " runs_per_group, models; and in `warn` those that do not refuse a run.",
    ),
]
ORDER_WORDS = (
    "By score, ties by docno descending (trec; trec9 with scores of 32 bits, as trec_eval 9.0.4) or ascending"
    " (docno-asc); by the rank in the file (rank), or its lines (file)."
)
RankOrder = Annotated[Order, Option("--order", ORDER_WORDS)]
Limit = Annotated[int | None, Option(hidden=True)]
"""Rows that are wanted: on the command line those of `--limit`."""


@dataclass(frozen=True)
class Parameters:
    """What the signature and the docstring of a command say."""

    hints: Mapping[str, Any]
    """Type of each parameter and of ``return``, without annotations."""
    options: Mapping[str, Option]
    """How each is typed, with its words; not of what is `Given`."""
    given: Mapping[str, Given]
    declared: Mapping[str, Parameter]
    help: str
    """Paragraphs and examples."""


@overload
def command(  # type: ignore[overload-overlap]  # what takes any source takes one of runs alone
    function: Callable[Concatenate[Source, P], Returned],
) -> Callable[Concatenate[Measurable, P], Returned]: ...
@overload
def command(
    function: Callable[Concatenate[Pooled, P], Returned],
) -> Callable[Concatenate[SomeRuns, P], Returned]: ...
@overload
def command(
    function: Callable[Concatenate[Collection, P], Returned],
) -> Callable[Concatenate[Collection | str | Path, P], Returned]: ...
@overload
def command(function: Callable[P, Returned]) -> Callable[P, Returned]: ...
def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function a command, see this module.

    The command also takes `progress` by name, called with steps done. A first parameter `Measured` or
    `Pooled` may be whatever `source_of` takes, and `Stored` an open collection or its place. `*runs` may be
    given as one list. The settings of a result are the parameters, and what the function itself puts there,
    by default what it worked on.

    >>> from pooler import compare
    >>> compare.__name__, parameters_of(compare).options["alpha"].below
    ('compare', 1)
    """
    declared = signature(function)

    @wraps(function)
    def call(*args: Any, progress: Callable[[int], None] | None = None, **named: Any) -> Any:
        bound = declared.bind(*args, **named)
        bound.apply_defaults()
        values = bound.arguments
        about = parameters_of(call)
        for name, value in values.items():
            if name in about.options:
                about.options[name].check(name, value)
                if isinstance(value, str) and about.hints[name] == Sequence[str]:
                    values[name] = (value,)
                elif type(value) is int and about.hints[name] in (float, float | None):
                    values[name] = float(value)
                elif declared.parameters[name].kind is Parameter.VAR_POSITIONAL and len(value) == 1:
                    is_list = isinstance(value[0], Sequence) and not isinstance(value[0], str)
                    values[name] = (*value[0],) if is_list else value
        settings = {
            name: _plain(value)
            for name, value in values.items()
            if name not in about.given and not callable(value)
        }
        with ExitStack() as opened:
            collected = opened.enter_context(collect_warnings(progress))
            for name in about.given:
                if values[name] is None and declared.parameters[name].default is None:
                    continue
                kind = about.given[name].kind
                if kind == "collection":
                    values[name] = opened.enter_context(opened_collection(values[name]))
                elif kind != "other":
                    values[name] = (source_of if kind == "source" else runs_of)(values[name])
            found = function(*bound.args, **bound.kwargs)
            if not isinstance(found, Result):
                return found
            own = found.settings
            for name, one in () if own else about.given.items():
                if one.kind == "source":
                    own = values[name].settings()
                elif one.kind == "collection":
                    own = {"collection": values[name].name}
        warnings = tuple(dict.fromkeys((*collected.warnings, *found.warnings)))
        found = replace(found, settings=frozen_settings(**settings | {**own}), warnings=warnings)
        if isinstance(found, Done):
            found = replace(found, messages=(*collected.messages,), written=(*collected.written,))
        return found

    call.is_command = True  # type: ignore[attr-defined]
    return call


def screen(function: Callable[P, Returned]) -> Callable[P, Returned]:
    """Make a function a command of the command line alone: it draws a screen, or serves."""
    return command(function)


def is_command(found: object) -> bool:
    """Return whether a function was made a command."""
    return getattr(found, "is_command", False)


@cache
def parameters_of(made: Callable[..., Any]) -> Parameters:
    """Read the signature and the docstring of a command."""
    function = made.__wrapped__  # type: ignore[attr-defined]  # `wraps` sets it
    help_, words = described(function.__doc__ or "")
    hints: dict[str, Any] = {}
    options: dict[str, Option] = {}
    given: dict[str, Given] = {}
    for name, kind in get_type_hints(function, include_extras=True).items():
        more = getattr(kind, "__metadata__", ())
        hints[name] = kind.__origin__ if more else kind
        if name == "return":
            continue
        if how := next((one for one in more if isinstance(one, Given)), None):
            given[name] = how
        else:
            ways = [one for one in more if isinstance(one, Option)] or [Option()]
            # A second `Option`, beside a shared type, has another default.
            options[name] = replace(
                ways[0], words=words.get(name, ways[0].words), default=ways[-1].default or ways[0].default
            )
    declared = signature(function).parameters
    unknown = [name for name in words if name not in declared]
    assert not unknown, f"{function.__name__}: the docstring describes {unknown}, which are no parameters"
    return Parameters(hints, options, given, declared, help_)


def described(docstring: str) -> tuple[str, dict[str, str]]:
    r"""Split a docstring into the help of the command and the words of its parameters.

    >>> described("Do it.\n\nMore.\n\ndepth : Ranks\n    of a run.\nseed : A seed.\n\nNotes\n-----\nEq. 1.")
    ('Do it.\n\nMore.', {'depth': 'Ranks of a run.', 'seed': 'A seed.'})
    """
    text = cleandoc(docstring)
    section = _SECTION.search(text)
    text = text[: section.start()] if section else text
    words = {name: " ".join(about.split()) for name, about in _PARAMETERS.findall(text)}
    return _PARAMETERS.sub("", text).strip(), words


def _plain(value: Any) -> Any:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(_plain, value))
    return value
