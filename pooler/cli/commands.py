"""The commands in order of use, each imported when it is asked for.

Help, completion of a command's name and the answer to a misspelt one need only names and first
lines, so these stand in a table here.
"""

from __future__ import annotations

import os
import re
from collections import Counter, UserDict
from collections.abc import Mapping, Set
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pooler import commands
from pooler.cli.console import usage_errors_reported
from store.errors import ArgumentError, ParameterError

WIDEST = 110
"""Columns of a terminal that help fills at most: longer lines are hard to read."""
_WHOLE = 1000
"""More characters than any first sentence has."""
_TYPES = {"int": "N", "int range": "N", "float": "X", "float range": "X", "str": "TEXT", "path": "PATH"}
"""Typer's names of types, and what help shows."""


@cache
def load(word: str) -> Any:
    """Import what a word stands for, and return its command or the group of its forms."""
    forms = {one.form: one for one in commands.announced().values() if one.word == word}
    own = forms.pop("", None)
    if own is not None and not forms:
        return _command(own, word)
    settings: dict[str, Any] = {"name": word, "rich_markup_mode": None, "commands": {}}
    if own is None:
        group: Any = ListingGroup(**settings, help=commands.words()[word], no_args_is_help=True)
    else:
        group = FormGroup(own, **settings, help=own.first_line)
    group.commands = LazyCommands({name: partial(_command, one, name) for name, one in forms.items()})
    return group


@cache
def _command(one: commands.Announced, name: str) -> Any:
    """Import a command, and let typer make it."""
    from pooler.cli.from_function import from_function

    found = from_function(getattr(import_module(one.module), one.name))
    around = typer.Typer(add_completion=False, rich_markup_mode=None)
    around.command(name, cls=GroupedCommand)(found)
    made: Any = typer.main.get_command(around)
    kinds = {key: getattr(kind, "__origin__", None) for key, kind in found.__annotations__.items()}
    made.texts = {key for key, kind in kinds.items() if kind in (str, str | None, list[str] | None)}
    return made


class Quick:
    """A command that reads plain text itself; typer reads the rest with pydantic, which loads slowly."""

    texts: Set[str] = frozenset()
    """Names of parameters that are text."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, and the option of help."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of typer's command
        for param in found:
            param.process_value = partial(_read, param, param.name in self.texts)
        return found


def _read(param: Any, is_text: bool, ctx: typer.Context, value: Any) -> Any:  # noqa: FBT001 - of every call
    is_several = param.multiple or param.nargs == -1
    texts = value if is_several else [value]
    if is_text and value and all(map(str.isascii, texts)):
        return list(texts) if is_several else value
    if param.required or getattr(ctx.get_parameter_source(param.name), "name", "") != "DEFAULT":
        return type(param).process_value(param, ctx, value)
    return () if is_several and value is None else value


class LazyCommands(UserDict[str, Any]):
    """Commands by name, in their order; one is imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return self.data[name]()


def help_record(parameter: Any, context: Any) -> tuple[str, str] | None:
    """Return how an option or argument is typed and what it does, its default and range in one way."""
    record = parameter.get_help_record(context)
    if record is None:
        return None
    typed, words = record
    kind = re.search(r" <(?:list\[(.*)\]|(.*))>$", typed)
    if kind is not None:
        name = kind[1] or kind[2]
        value = "" if parameter.param_type_name == "argument" else f" {_TYPES.get(name, f'<{name}>')}"
        typed = f"{typed[: kind.start()]}{value}"
    words = re.sub(r"default: \((.*)\)(?=;|\])", r"default: \1", words.replace("]  [", "; "))
    words = re.sub(r"(?<=[\[ ])([\d.]+)<=x<=([\d.]+)(?=[;\]])", r"\1 to \2", words)
    words = re.sub(r"\b(\d+) to \1\b", r"\1", words)
    return typed, words.replace("x>=", "at least ").replace("x<=", "at most ")


class _Placeholder(TyperCommand):
    """Stands for a command in help and completion; the real one parses and runs."""

    def make_context(self, info_name: str | None, *rest: Any, **extra: Any) -> Any:
        return load(str(self.name)).make_context(info_name, *rest, **extra)


class GroupedCommand(Quick, TyperCommand):
    """A command whose help lists options by what they are about, its own first.

    Errors name parameters as Python does; here they get the name of the option.
    """

    forms: Mapping[str, Any] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; an option that takes one value is given once at most."""
        order: list[Any] = [*self.make_parser(ctx).parse_args(args=list(args))[2]] if args else []
        for param, n in Counter(one for one in order if one.param_type_name == "option").items():
            if n > 1 and not param.multiple and not param.is_flag:
                raise typer.BadParameter(f"expected once, got {n} times", ctx=ctx, param=param)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # typer's Context is click's
        """Run the command."""
        try:
            return super().invoke(ctx)
        except ArgumentError as error:
            if isinstance(error, ParameterError):
                raise error.named(f"--param {error.name}") from error
            option = self._options().get(error.name)
            if option is None:
                raise
            raise error.named(option) from error

    def _options(self) -> dict[str, str]:
        found: dict[str, str] = {}
        names: dict[str, str] = {}
        for param in self.params:
            option = max(param.opts, key=len)
            if param.param_type_name == "argument":
                option = str(getattr(param, "metavar", None) or param.name).removesuffix("...")
            names[str(param.name)] = option
            found[option.removeprefix("--").replace("-", "_")] = option
        return found | names

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer's Context is click's
        """Return the parts of the usage line; an argument that may be repeated has one ``...``."""
        pieces = super().collect_usage_pieces(ctx)
        has_dots = [one.endswith("...") and ("..." in one[:-3] or " " in one) for one in pieces]
        return [one[:-3] if is_twice else one for one, is_twice in zip(pieces, has_dots, strict=True)]

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # typer's Context is click's
        """Write arguments and options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = help_record(param, ctx)
            if record is not None:
                default = "Arguments" if param.param_type_name == "argument" else "Options"
                panel = getattr(param, "rich_help_panel", None) or default
                sections.setdefault(panel, []).append(record)
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)
        if self.forms:
            lines = [(name, one.get_short_help_str(limit=_WHOLE)) for name, one in self.forms.items()]
            with formatter.section("Forms, each with its own --help"):
                formatter.write_dl(lines)


class FormGroup(TyperGroup):
    """A command with forms: the first word names a form, or the whole line is for the command itself.

    A group of typer that takes arguments would look for a command among them. A file of a form's name is
    written with its folder, `./diff`.
    """

    def __init__(self, own: commands.Announced, **settings: Any) -> None:
        super().__init__(**settings)
        self._own = own

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Parse the command line by the options of the form that it is for."""
        if args and args[0] in self.commands:
            return self.commands[args[0]].make_context(f"{info_name} {args[0]}", args[1:], *rest, **extra)
        return self.alone.make_context(info_name, args, *rest, **extra)

    @property
    def alone(self) -> Any:
        """The command itself, for a line that names no form."""
        made = _command(self._own, str(self.name))
        made.forms = self.commands
        return made


class ListingGroup(Quick, TyperGroup):
    """A group whose help lists its commands in whole sentences; typer would cut them."""

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # typer's Context is click's
        """Write the list of commands."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(limit=_WHOLE))
                    for name, command in found
                    if command is not None and not command.hidden
                ]
            )


WORKFLOW = tuple(commands.words())
"""The commands in the order in which they are used."""


class ReaderGone(BaseException):
    """Stdout is closed at the other end. Not a BrokenPipeError, of which typer makes exit code 1."""


class Workflow(Quick, TyperGroup):
    """Lists the commands in the order in which they are used, importing none."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = LazyCommands({word: partial(load, word) for word in commands.words()})

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ARG002 - typer's own
        """Write the list of commands, by what they are for."""
        for heading, words in commands.by_heading().items():
            first_lines = [(word, commands.words()[word].partition(". ")[0].rstrip(".")) for word in words]
            with formatter.section(heading.capitalize()):
                formatter.write_dl(first_lines)

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002 - typer's own
        """Return the names of the commands."""
        return list(WORKFLOW)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ARG002 - typer's own
        """Return what stands for a command until it is called; ``None`` = there is none of that name."""
        first_line = commands.words().get(cmd_name)
        return None if first_line is None else _Placeholder(cmd_name, help=first_line)

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Read the options of the program; `help COMMAND` is `COMMAND --help`.

        Without a word it is `status` where a collection is named or lies in this folder, else help.
        """
        if not args and not extra.get("resilient_parsing"):  # of completion, which asks for words
            from pooler.sources.stored import DEFAULT_COLLECTION

            has_collection = os.environ.get("POOLER_COLLECTION") or Path(DEFAULT_COLLECTION).is_file()
            args = ["status"] if has_collection else []
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        with usage_errors_reported():
            return super().make_context(info_name, args, *rest, **extra)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # typer's Context is click's
        """Run a command."""
        try:
            with usage_errors_reported():
                return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGone from error


app = typer.Typer(
    name="pooler",
    cls=Workflow,
    help="From submitted runs to relevance judgements, and how far to trust them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # `[[grade]]` is no markup, and paragraphs fill the line
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    epilog="Start with: pooler demo",
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the flag
    if wanted:
        from pooler.version import __version__

        typer.echo(f"pooler {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """From submitted runs to relevance judgements, and how far to trust them."""


@cache
def program() -> Any:
    """Return the whole command line, which typer makes once."""
    return typer.main.get_command(app)
