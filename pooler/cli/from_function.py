"""The command line of a function that `pooler.command` made a command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from inspect import Parameter, Signature
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from pooler import command
from pooler.cli.console import check_place, confirm
from pooler.cli.options import YesOption
from pooler.cli.render import ByTopicOption, HtmlOption, Output, PlotOption, check_choice, render
from pooler.cli.signature import given, is_signed, parameters_of
from pooler.messages import say, warn
from pooler.result import Done, Result
from store.errors import ArgumentError

_TYPED: Mapping[Any, Any] = {str | Path: str, str | Path | None: str | None}
"""What typer reads of a type that it has no reader for."""


def from_function(function: Callable[..., Any]) -> Callable[..., None]:
    """Return what typer reads of a command: its own options, those of what it works on, those of tables.

    A result of tables is rendered, one that is a file is printed; anything else was said and written while
    it was done.
    """
    about = command.parameters_of(function)
    returned: Any = about.hints.get("return")
    results = [
        one
        for one in get_args(returned) or [returned]
        if isinstance(one, type) and issubclass(one, Result) and not (issubclass(one, Done) or one.IS_FILE)
    ]
    groups = {name: _at(one.where) for name, one in about.given.items()}
    own = [
        _parameter(about.declared[name], about.hints[name], one)
        for name, one in about.options.items()
        if not one.hidden
    ]
    if any(one.plots is not Result.plots for one in results):
        own.append(Parameter("plot", Parameter.KEYWORD_ONLY, default=None, annotation=PlotOption))
    page = next((one.PAGE for one in results if one.PAGE), "")
    if page:
        own.append(Parameter("html", Parameter.KEYWORD_ONLY, default=None, annotation=HtmlOption))
    if any(one.HAS_TOPICS for one in results):
        own.append(Parameter("by_topic", Parameter.KEYWORD_ONLY, default=False, annotation=ByTopicOption))
    if "confirm" in about.options:
        own.append(Parameter("yes", Parameter.KEYWORD_ONLY, default=False, annotation=YesOption))
    if "run_line" in about.options:
        own.append(Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context))
    for group in [*groups.values(), *([Output] if results else [])]:
        known = {one.name for one in own}
        own += [one for one in parameters_of(group) if one.name not in known]
    every = sorted(own, key=_place)

    def run(**values: Any) -> None:
        output = given(Output, values) if results else None
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
        worked_on = {name: given(group, values) for name, group in groups.items()}
        named = {name: one.made() for name, one in worked_on.items()}
        runs: Sequence[str] = ()
        for name, option in about.options.items():
            if about.declared[name].kind is Parameter.VAR_POSITIONAL:
                runs = next(iter(worked_on.values())).tags() if option.hidden else values[name] or ()
            elif name == "limit" and option.hidden:
                named[name] = output and output.wanted(option.for_people)
            elif name == "confirm" and option.hidden:
                named[name] = partial(confirm, yes=values["yes"])
            elif name == "run_line" and option.hidden:
                named[name] = values["ctx"].obj
            elif option.hidden and option.for_people is not None and output and output.is_for_people:
                named[name] = option.for_people
            elif not option.hidden and values[name] is not None:
                named[name] = values[name] if option.read is None else option.read(name, values[name])
        first = [named.pop(name) for name in takewhile(groups.__contains__, about.declared)]
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
    """Order a command line: what must be given, other arguments, options."""
    if one.annotation is typer.Context:
        return 0
    if not is_signed(one, ArgumentInfo):
        return 3
    return 1 if one.default is Parameter.empty else 2


def _parameter(declared: Parameter, kind: Any, option: command.Option) -> Parameter:
    """Return a parameter of a function as typer reads it."""
    parts = (option.form or f"--{declared.name.replace('_', '-')}").split()
    names = [part for part in parts if part.startswith("-")]
    metavar = " ".join(parts[len(names) :]) or None
    kind = _TYPED.get(kind, kind)
    is_several = declared.kind is Parameter.VAR_POSITIONAL
    if is_several:
        kind = list[str] | None
    elif option.read is not None or get_origin(kind) is Sequence:
        of_what: Any = get_args(kind)[0] if option.read is None else str
        of_what = of_what if of_what in (int, float) else str
        kind = list[of_what] | None if option.repeated or option.read is None else str | None
    info: Any
    if names:
        info = typer.Option(
            *names,
            metavar=metavar,
            help=option.words,
            show_default=option.default or True,
            envvar=option.envvar or None,
            min=option.least,
            max=option.most,
            rich_help_panel=option.panel or None,
        )
    else:
        info = typer.Argument(metavar=metavar, help=option.words, show_default=option.default or True)
    default = None if is_several or isinstance(declared.default, tuple) else declared.default
    default = Parameter.empty if option.required else default
    return Parameter(declared.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def _at(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
