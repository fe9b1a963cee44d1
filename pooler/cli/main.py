"""Entry point of the `pooler` command."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pooler.cli import (
    adjudicate,
    agreement,
    assign,
    backup,
    check,
    copy_,
    demo,
    diff,
    effort,
    evaluate,
    export,
    guidelines,
    history,
    import_,
    init,
    judge,
    judges,
    list_,
    pool,
    provenance,
    rejudge,
    replay,
    restore,
    sensitivity,
    show,
    status,
    unpool,
    upgrade,
    verify,
)
from pooler.cli.console import (
    ExitCode,
    discard_stdout,
    say,
    set_up_stdout,
    show_error,
)
from pooler.cli.interrupts import Interrupted, catch_interrupts
from store.errors import PoolerError

WORKFLOW = ("demo", "init", "import", "check", "pool", "provenance", "unpool", "judges",
            "guidelines", "assign", "judge", "status", "list", "show", "history", "effort",
            "rejudge", "agreement", "adjudicate", "export", "evaluate", "diff", "sensitivity",
            "replay",
            "backup", "restore", "copy", "verify", "upgrade")  # fmt: skip


class _ReaderGoneError(BaseException):
    """Nobody reads stdout any more. Not a BrokenPipeError, of which typer makes exit code 1."""


class Workflow(TyperGroup):
    """Lists the commands in the order in which they are used."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer's Context is click's
        """Return the names of the commands."""
        known = super().list_commands(ctx)
        return sorted(known, key=WORKFLOW.index)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # as above
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error


app = typer.Typer(
    name="pooler",
    cls=Workflow,
    help="From submitted runs to relevance judgements that can be trusted - and how far.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # `[[grade]]` is no markup, and paragraphs fill the line
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: pooler demo",
)
app.command("init")(init.init)
app.add_typer(import_.app, name="import")
app.command("check")(check.check)
app.command("pool")(pool.pool)
app.command("provenance")(provenance.provenance)
app.command("unpool")(unpool.unpool)
app.add_typer(judges.app, name="judges")
app.add_typer(guidelines.app, name="guidelines")
app.command("assign")(assign.assign)
app.command("judge")(judge.judge)
app.command("status")(status.status)
app.add_typer(list_.app, name="list")
app.add_typer(show.app, name="show")
app.command("history")(history.history)
app.command("diff")(diff.diff)
app.command("effort")(effort.effort)
app.command("rejudge")(rejudge.rejudge)
app.command("agreement")(agreement.agreement)
app.command("adjudicate")(adjudicate.adjudicate)
app.add_typer(export.app, name="export")
app.command("evaluate")(evaluate.evaluate)
app.command("sensitivity")(sensitivity.sensitivity)
app.command("replay")(replay.replay)
app.command("backup")(backup.backup)
app.command("restore")(restore.restore)
app.command("copy")(copy_.copy)
app.command("verify")(verify.verify)
app.command("upgrade")(upgrade.upgrade)
app.command("demo")(demo.demo)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the flag
    """Print the version and stop."""
    if wanted:
        from pooler import __version__

        typer.echo(f"pooler {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """From submitted runs to relevance judgements that can be trusted - and how far."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default the process's own.
    """
    try:
        code = _run(arguments)
        sys.stdout.flush()  # here an error is told; at the exit of the interpreter it would not be
    except PoolerError as error:
        return show_error(error)
    except Interrupted as interruption:
        # Pressed once more on the way out, it would take the exit code with it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        say("interrupted: what was finished stays, what was under way is undone")
        return interruption.code
    except (_ReaderGoneError, BrokenPipeError):
        discard_stdout()
        return ExitCode.OK
    except OSError as error:
        discard_stdout()
        where = f"{error.filename}: " if error.filename else ""
        return show_error(PoolerError(f"{where}{error.strerror or error}"))
    return code


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command line; typer ends every command with SystemExit."""
    try:
        app(None if arguments is None else list(arguments), prog_name="pooler")
    except SystemExit as stop:
        code = stop.code
        return code if isinstance(code, int) else ExitCode.OK if code is None else ExitCode.DATA
    return ExitCode.OK


def main() -> None:
    """Run the command line and exit."""
    catch_interrupts()
    set_up_stdout()
    sys.exit(run())


if __name__ == "__main__":
    main()
