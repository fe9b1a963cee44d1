"""`pooler pool RUN...` and `pooler pool diff A B`: one word apart."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

DIFF = "diff"
"""The first word that is no run; a run file of that name is `./diff`."""


class PoolGroup(TyperGroup):
    """Compares two pools where the first word is `diff`; else pools runs.

    A group of typer that takes arguments of its own would look for a command among them, so this
    one leaves all of the command line to one command or the other.
    """

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Parse the command line by the options of the command that it is for."""
        if args[:1] == [DIFF]:
            return self.commands[DIFF].make_context(f"{info_name} {DIFF}", args[1:], *rest, **extra)
        return self.alone.make_context(info_name, args, *rest, **extra)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the command that pools: the other one is named in it."""
        self.alone.format_help(ctx, formatter)

    @property
    def alone(self) -> Any:
        """The command that pools: what the group is without `diff`."""
        from pooler.cli.pool import pool

        around = typer.Typer(add_completion=False, rich_markup_mode=None)
        around.command("pool")(pool)
        return typer.main.get_command(around)
