"""The command line of a function that `pooler.command` made a command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from importlib import import_module
from inspect import Parameter, Signature
from itertools import takewhile
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo

from pooler import command
from pooler.cli.console import confirm
from pooler.cli.render import Output, check_choice, render
from pooler.files import check_place
from pooler.messages import current_listener, say, warn
from pooler.result import Done, Result
from store.errors import ArgumentError

_TYPED: Mapping[Any, Any] = {str | Path: str, str | Path | None: str | None}
"""What typer reads of a type that it has no reader for."""
_NAMED = Parameter.KEYWORD_ONLY
_OF_COMMANDS: Mapping[str, tuple[Any, command.Option]] = {
    "plot": (Path | None, command.Option("--plot FILE.svg", "Also draw it, as an SVG file.")),
    "html": (str | None, command.Option("--html FILE", "Also write a page to read and print.")),
    "by_topic": (
        bool,
        command.Option("--by-topic -q", "A row a topic: the table `topics`, as --table topics."),
    ),
    "yes": (bool, command.Option("--yes -y", "Go on without asking.")),
}
"""Options of commands whose results have plots, a page or topics, or that ask before they go on."""


def from_function(function: Callable[..., Any]) -> Callable[..., None]:
    """Return what typer reads of a command: its own options, those of what it works on, those of tables.

    A result of tables is rendered, one that is a file is printed; anything else was said and written while
    it was done.
    """
    about = command.parameters_of(function)
    returned: Any = about.hints.get("return")
    kinds = get_args(returned) or [returned]
    results = [
        one
        for one in kinds
        if isinstance(one, type) and issubclass(one, Result) and not (issubclass(one, Done) or one.IS_FILE)
    ]
    groups = {name: _at(one.where) for name, one in about.given.items()}
    own = [
        _parameter(name, about.declared[name], about.hints[name], one)
        for name, one in about.options.items()
        if not one.hidden
    ]
    page = next((one.PAGE for one in results if one.PAGE), "")
    for name, is_there in {
        "plot": any(one.plots is not Result.plots for one in results),
        "html": bool(page),
        "by_topic": any(one.HAS_TOPICS for one in results),
        "yes": "confirm" in about.options,
    }.items():
        if is_there:
            kind, option = _OF_COMMANDS[name]
            declared = Parameter(name, _NAMED, default=False if kind is bool else None)
            own.append(_parameter(name, declared, kind, option))
    if "run_line" in about.options:
        own.append(Parameter("ctx", _NAMED, annotation=typer.Context))
    for group in [*groups.values(), *([Output] if results else [])]:
        known = {one.name for one in own}
        own += [one for one in _parameters_of(group) if one.name not in known]
    every = sorted(own, key=_place)

    def run(**values: Any) -> None:
        output = _given(Output, values) if results else None
        if output is not None:
            if values.get("by_topic") and "by_topic" not in about.options:
                output = replace(output, table=output.table or "topics")
            output.check(plot=values.get("plot"))
            if html := values.get("html"):
                check_place(html)
                from pooler.pages.report import check_replaceable

                check_replaceable(html, "html")
                if output.out is not None and output.out.resolve() == Path(html).resolve():
                    raise ArgumentError("html", "must be another file than --out", html)
            for one in results:
                if (blank := one.blank()) is not None:
                    check_choice(blank, output)
        worked_on = {name: _given(group, values) for name, group in groups.items()}
        named = {name: one.made() for name, one in worked_on.items()}
        runs: Sequence[str] = ()
        for name, option in about.options.items():
            if about.declared[name].kind is Parameter.VAR_POSITIONAL:
                runs = next(iter(worked_on.values())).tags() if option.hidden else values[name] or ()
            elif name == "limit" and option.hidden:
                named[name] = output and output.rows_needed(option.for_people)
            elif name == "confirm" and option.hidden:
                named[name] = partial(confirm, yes=values["yes"])
            elif name == "run_line" and option.hidden:
                named[name] = values["ctx"].obj
            elif option.hidden and option.for_people is not None and output and output.is_for_people:
                named[name] = option.for_people
            elif not option.hidden and values[name] is not None:
                named[name] = values[name] if option.read is None else option.read(name, values[name])
        first = [named.pop(name) for name in takewhile(groups.__contains__, about.declared)]
        # What returns nothing opens a screen, asks or serves; and `-` is perhaps being typed.
        is_waiting = NoneType in kinds or any(one in ("-", ["-"]) for one in values.values())
        with nullcontext() if is_waiting else current_listener().patience():
            found = function(*first, *runs, **named)
        if output is not None and found is not None:
            render(found, output, plot=values.get("plot"))
            if html:
                _at(page)(found).write(html)
        elif isinstance(found, Result) and found.IS_FILE:
            sys.stdout.writelines(f"{line}\n" for line in found.lines() or ())
        for kind, words in found.closing() if isinstance(found, Result) else ():
            (say if kind == "say" else warn)(words)
        if isinstance(found, Result) and found.exit_code:
            raise typer.Exit(found.exit_code)

    run.__signature__ = Signature(every)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {one.name: one.annotation for one in every}
    run.__doc__ = about.help
    run.__name__ = function.__name__
    return run


def _place(one: Parameter) -> int:
    if one.annotation is typer.Context:
        return 0
    if not any(isinstance(info, ArgumentInfo) for info in one.annotation.__metadata__):
        return 3
    return 1 if one.default is Parameter.empty else 2


def _given(group: Any, values: Mapping[str, Any]) -> Any:
    """Make a dataclass of options of what was given for its fields, of which some may be dataclasses."""
    made = {}
    for name, kind in _types(group).items():
        option = _option(kind)
        if is_dataclass(kind):
            made[name] = _given(kind, values)
        elif option is None or option.read is None or values[name] is None:
            made[name] = values[name]
        else:
            made[name] = option.read(name, values[name])
    return group(**made)


def _parameters_of(group: Any) -> Iterator[Parameter]:
    """Yield the fields of a dataclass, and of those in it, as parameters under its heading."""
    for field, kind in zip(fields(group), _types(group).values(), strict=True):
        option = _option(kind)
        if is_dataclass(kind):
            yield from _parameters_of(kind)
        elif option is None:
            yield Parameter(field.name, _NAMED, annotation=kind)
        else:
            panel = option.panel or getattr(group, "PANEL", "")
            declared = Parameter(field.name, _NAMED, default=field.default)
            yield _parameter(field.name, declared, kind.__origin__, replace(option, panel=panel))


@cache
def _types(group: Any) -> dict[str, Any]:
    types = get_type_hints(group, include_extras=True)
    return {field.name: types[field.name] for field in fields(group)}


def _option(kind: Any) -> command.Option | None:
    return next((one for one in getattr(kind, "__metadata__", ()) if isinstance(one, command.Option)), None)


def _parameter(name: str, declared: Parameter, kind: Any, option: command.Option) -> Parameter:
    parts = (option.form or f"--{name.replace('_', '-')}").split()
    names = [part for part in parts if part.startswith("-")]
    shown: dict[str, Any] = {
        "metavar": " ".join(parts[len(names) :]) or None,
        "help": option.words,
        "show_default": option.default or True,
    }
    kind = _TYPED.get(kind, kind)
    is_several = declared.kind is Parameter.VAR_POSITIONAL
    if is_several:
        kind = list[str] | None
    elif option.read is not None or get_origin(kind) is Sequence:
        of_what: Any = get_args(kind)[0] if option.read is None else str
        of_what = of_what if of_what in (int, float) else str
        kind = list[of_what] | None if option.repeated or option.read is None else str | None
    info: Any = typer.Argument(**shown)
    if names:
        info = typer.Option(
            *names,
            **shown,
            envvar=option.envvar or None,
            min=option.least,
            max=option.most,
            rich_help_panel=option.panel or None,
        )
    default = None if is_several or isinstance(declared.default, tuple) else declared.default
    default = Parameter.empty if option.required else default
    return Parameter(name, _NAMED, default=default, annotation=Annotated[kind, info])


def _at(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
