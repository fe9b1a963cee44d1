"""How commands declare options, alone and in groups: a dataclass of them is a parameter like any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from inspect import Parameter
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import OptionInfo


def option(form: str, words: str, **how: Any) -> Any:
    """Declare an option as help shows it: its names, what stands for its value, and what it does.

    `how` is what else typer takes.

    Examples
    --------
    >>> made = option("--depth -N RANKS", "Ranks taken from each run.", min=1)
    >>> made.metavar, made.help
    ('RANKS', 'Ranks taken from each run.')
    """
    parts = form.split()
    names = [part for part in parts if part.startswith("-")]
    return typer.Option(*names, metavar=" ".join(parts[len(names) :]) or None, help=words, **how)


def argument(form: str, words: str) -> Any:
    """Declare an argument as help shows it: what stands for it, and what it is."""
    return typer.Argument(metavar=form, help=words)


def given(group: Any, values: Mapping[str, Any]) -> Any:
    """Make a dataclass of options of what was given for its fields, of which some may be dataclasses."""
    return group(
        **{
            name: given(kind, values) if is_dataclass(kind) else values[name]
            for name, kind in _types(group).items()
        }
    )


@cache
def _types(group: Any) -> dict[str, Any]:
    types = get_type_hints(group, include_extras=True)
    return {field.name: types[field.name] for field in fields(group)}


def parameters_of(group: Any, panel: str | None = None) -> Iterator[Parameter]:
    """Yield the fields of a dataclass, and of those in it, as parameters under its heading."""
    panel = getattr(group, "PANEL", panel)
    for field, kind in zip(fields(group), _types(group).values(), strict=True):
        if is_dataclass(kind):
            yield from parameters_of(kind, panel)
            continue
        default = Parameter.empty if field.default is MISSING else field.default
        annotation = _in_panel(kind, panel)
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _in_panel(annotation: Any, panel: str | None) -> Any:
    """Say of an option under which heading its help stands, unless it says so itself."""
    info = next((one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, OptionInfo)), None)
    if info is None or panel is None or info.rich_help_panel:
        return annotation
    info = copy(info)
    info.rich_help_panel = panel
    return Annotated[annotation.__origin__, info]


def is_signed(parameter: Parameter, kind: type[Any]) -> bool:
    """Return whether a parameter is annotated as an argument, or as an option."""
    return any(isinstance(one, kind) for one in getattr(parameter.annotation, "__metadata__", ()))
