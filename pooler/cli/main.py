"""Entry point of the `pooler` command.

Little is imported at once: Ctrl-C is to be acted on from the first moment, and every process that
reads runs for another one imports this module too.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from pooler import foreign_store
from pooler.interrupts import catch_interrupts, ignore_interrupts, interrupt_behind

_ALLOCATIONS = 100_000
"""Before garbage is looked for; with Python's 700, that is a tenth of the time of a look."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default the process's own, and return its exit code."""
    return _until_interrupted(partial(_run, arguments))


def main() -> None:
    """Run the command line and exit."""
    if message := foreign_store():
        sys.exit(f"error: {message}")
    catch_interrupts()
    gc.set_threshold(_ALLOCATIONS)
    # Products here are small: threads would wait for each other longer than they take, above all on
    # a busy machine. numpy reads it when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    code = _until_interrupted(_run_process)
    ignore_interrupts()
    gc.freeze()  # the interpreter would look for garbage once more, in all there is
    sys.exit(code)


def _until_interrupted(work: Callable[[], int]) -> int:
    from pooler.messages import OnTerminal, listening

    listener = OnTerminal()
    try:
        with listening(listener):
            return work()
    except BaseException as error:
        interruption = interrupt_behind(error)
        if interruption is None:
            raise
        from traceback import clear_frames

        # A block that is entered and not begun is left at the end of its frames alone: without that, a part
        # of a file that was just made would stay.
        behind: BaseException | None = error
        while behind is not None:
            clear_frames(behind.__traceback__)
            behind = behind.__cause__ or behind.__context__
        with suppress(OSError):  # nothing reads it
            listener.say(f"interrupted: {_what_stays()}")
        return interruption.code


def _what_stays() -> str:
    database = sys.modules.get("store.db.engine")
    ends = {} if database is None else database.TRANSACTIONS
    if ends and not ends["undone"]:
        return "what was saved stays; nothing was in progress"
    if ends and not ends["kept"]:
        return "nothing was saved; what was in progress is undone"
    return "what was finished stays; what was in progress is undone"


def _run_process() -> int:
    from pooler.cli.console import set_up_stdout

    set_up_stdout()
    return _run(None)


def _run(arguments: Sequence[str] | None) -> int:
    """Run the command line; turn what a user can put right into words."""
    from pooler.cli.commands import ReaderGone, program
    from pooler.cli.console import ExitCode, discard_stdout, show_error
    from store.errors import PoolerError

    code: str | int | None = None
    try:
        try:
            program()(None if arguments is None else list(arguments), prog_name="pooler", obj=run)
        except SystemExit as stop:  # typer ends every command so
            code = stop.code
        sys.stdout.flush()  # here an error is told; at the exit of the interpreter it would not be
    except PoolerError as error:
        if interrupt_behind(error):
            raise  # a driver that was interrupted fails in its own words
        return show_error(error)
    except (ReaderGone, BrokenPipeError):
        discard_stdout()
        return ExitCode.OK
    except OSError as error:
        discard_stdout()
        where = f"{error.filename}: " if error.filename else ""
        return show_error(PoolerError(f"{where}{error.strerror or error}"))
    return code if isinstance(code, int) else ExitCode.OK if code is None else ExitCode.DATA


if __name__ == "__main__":
    main()
