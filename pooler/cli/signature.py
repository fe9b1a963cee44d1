"""Commands whose options stand in groups: a dataclass of options is a parameter like any other."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Let typer read a command some of whose parameters are dataclasses of options.

    A parameter whose type is a dataclass gets an instance of it, made of what was given for its fields.
    Arguments come first, its own before those of dataclasses; then its own options; then those of the
    dataclasses, in order.
    """
    own: list[Parameter] = []
    groups: dict[str, Any] = {}
    for one in signature(function, eval_str=True).parameters.values():
        if is_dataclass(one.annotation):
            groups[one.name] = one.annotation
        else:
            own.append(one.replace(kind=Parameter.KEYWORD_ONLY))
    of_groups = {name: _parameters(group) for name, group in groups.items()}
    grouped = {one.name: one for parameters in of_groups.values() for one in parameters}
    contexts = [one for one in (*own, *grouped.values()) if one.annotation is typer.Context]
    others = [one for one in (*own, *grouped.values()) if one.annotation is not typer.Context]
    arguments = [one for one in others if _info(one, ArgumentInfo)]
    parameters = [*contexts[:1], *arguments, *(one for one in others if one not in arguments)]

    @wraps(function)
    def told(**values: Any) -> None:
        made = {
            name: group(**{one.name: values[one.name] for one in of_groups[name]})
            for name, group in groups.items()
        }
        kept = {one.name: values[one.name] for one in own}
        function(**kept, **made)

    told.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    told.__annotations__ = {one.name: one.annotation for one in parameters}
    return told


def _parameters(group: Any) -> list[Parameter]:
    """Return the fields of a dataclass as parameters."""
    types = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=_in_panel(types[field.name], getattr(group, "PANEL", None)),
        )
        for field in fields(group)
    ]


def _in_panel(annotation: Any, panel: str | None) -> Any:
    """Say of an option under which heading its help stands, unless it says so itself."""
    info = next((one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, OptionInfo)), None)
    if info is None or panel is None or info.rich_help_panel:
        return annotation
    info = copy(info)
    info.rich_help_panel = panel
    return Annotated[annotation.__origin__, info]


def _info(parameter: Parameter, kind: type[Any]) -> Any:
    """Return what typer is told of a parameter, if it is of a kind."""
    described = getattr(parameter.annotation, "__metadata__", ())
    return next((one for one in described if isinstance(one, kind)), None)
