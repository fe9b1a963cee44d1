"""A group of commands of which only the one that is called is imported.

Its help, the completion of a command's name and the answer to a misspelt one need no more than
names and first lines, so these stand in a table. Help lists every command with its whole first
sentence, on as many lines as it takes.
"""

from __future__ import annotations

from collections import UserDict
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

_WHOLE = 1000
"""Characters of a first sentence: more than any has."""


@dataclass(frozen=True, slots=True)
class Announced:
    """A command before its module is imported."""

    where: str
    """`module:name` of its function, or of the typer app of its sub-commands."""
    first_line: str
    """The first line of its help."""

    @cache  # noqa: B019 - the announcements are a table that lives as long as the process
    def load(self, name: str) -> Any:
        """Import the module and return the command, made as typer would have made it at once."""
        module, _, attribute = self.where.partition(":")
        found = getattr(import_module(module), attribute)
        around = typer.Typer(add_completion=False, rich_markup_mode=None)
        if isinstance(found, typer.Typer):
            own = found.info.cls
            around.add_typer(found, name=name, cls=own if isinstance(own, type) else ListingGroup)
        else:
            around.command(name)(found)
        return typer.main.get_group(around).commands[name]


class Commands(UserDict[str, Any]):
    """Commands by name, in the order of the table; one is imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        found = self.data[name]
        return found.load(name) if isinstance(found, Announced) else found

    def announced(self, name: str) -> Announced | None:
        """Return the announcement of a command that is imported when it is looked up."""
        found = self.data.get(name)
        return found if isinstance(found, Announced) else None


class _Placeholder(TyperCommand):
    """Stands for a command in help and completion; the real one parses and runs."""

    def __init__(self, name: str, first_line: str, commands: Commands) -> None:
        super().__init__(name, help=first_line)
        self._commands = commands

    def make_context(self, info_name: str | None, *rest: Any, **extra: Any) -> Any:
        """Parse the command line of the real command."""
        return self._commands[str(self.name)].make_context(info_name, *rest, **extra)


class ListingGroup(TyperGroup):
    """A group whose help lists its commands in whole sentences; typer would cut them."""

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # typer's Context is click's
        """Write the list of commands."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([
                (name, command.get_short_help_str(limit=_WHOLE))
                for name, command in found if command is not None and not command.hidden
            ])  # fmt: skip


class LazyGroup(ListingGroup):
    """A group whose subclass announces its commands, in the order in which help lists them."""

    table: ClassVar[dict[str, Announced]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Beside the announced ones stand those that were registered with typer as usual.
        self.commands = Commands({**self.table, **self.commands})

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002 - typer's own
        """Return the names of the commands, importing none."""
        return list(self.commands)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # typer's Context is click's
        """Return a command, or what stands for it until it is called."""
        assert isinstance(self.commands, Commands)
        announced = self.commands.announced(cmd_name)
        if announced is None:
            return super().get_command(ctx, cmd_name)
        return _Placeholder(cmd_name, announced.first_line, self.commands)
