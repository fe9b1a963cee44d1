"""What the commands have in common that sit somebody down: options, the terminal, the way out."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from pooler.cli.console import ExitCode, say, text_stdin
from store.errors import PoolerError

if TYPE_CHECKING:
    from judge_ui.keys import Keymap
    from judge_ui.session import JudgingSession
    from store.records import Scale

PlainOption = Annotated[
    bool, typer.Option("--plain", help="Line mode: for screen readers, dumb terminals, scripts.")
]
StayOption = Annotated[bool, typer.Option("--stay", help="Stay on the document after deciding it.")]
MinDwellOption = Annotated[
    int,
    typer.Option(
        "--min-dwell",
        min=0,
        metavar="MS",
        help="Grade keys sooner than this after a document appears are dropped (full screen).",
    ),
]
MIN_DWELL_MS = 300

PageOption = Annotated[
    int,
    typer.Option(
        "--page",
        min=0,
        metavar="LINES",
        help="Line mode: print so many lines of a document, Enter brings more; 0 = all.",
    ),
]
KeymapOption = Annotated[
    str | None,
    typer.Option(
        "--keymap",
        envvar="POOLER_KEYMAP",
        metavar="FILE|NAME",
        help="Your own keys: azerty, home-row, letters, or a TOML file with [grades] such as"
        ' 10 = "a" and [commands] such as undo = ["z", "f2"].',
        show_default=False,
    ),
]

RunPlain = Callable[[TextIO, TextIO, int], object]
"""Runs the line mode: from where answers come, where words go, and the terminal's width."""


@contextmanager
def imports_at_once() -> Iterator[None]:
    """Import many modules without looking for garbage meanwhile: a fifth faster."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def keymap_of(name: str | None, scale: Scale) -> Keymap | None:
    """Read the keymap that was asked for; ``None`` = the usual keys. Faults are told at once."""
    from judge_ui.keymap import read_keymap
    from judge_ui.keys import key_table
    from store.formats.lines import is_regular_file
    from store.formats.toml_files import read_toml

    if name is not None and is_regular_file(name):
        read_toml(name)  # its faults as TOML are told as those of every file
    keymap = None if name is None else read_keymap(name, scale)
    key_table(scale, keymap)
    return keymap


def check_terminal(command: str) -> None:
    """Refuse a terminal the full screen cannot work on, and say what can."""
    hint = f"pooler {command} --plain works without a full screen"
    # The screen is drawn on stderr.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "the judging screen needs a terminal on stdin and stderr"
        raise PoolerError(message, hint=hint)
    if os.environ.get("TERM", "") in ("", "dumb"):
        message = "the judging screen needs a terminal that can move its cursor (TERM is dumb)"
        raise PoolerError(message, hint=hint)
    if "utf" not in (sys.stderr.encoding or "").lower():
        message = f"the terminal's encoding is {sys.stderr.encoding}, not UTF-8"
        raise PoolerError(message, hint="set LANG=C.UTF-8, or use --plain")


def sit(session: JudgingSession, *, plain: RunPlain | None, full_screen: Callable[[], int]) -> None:
    """Let somebody judge, end the sitting, and say what became of it.

    Parameters
    ----------
    session : JudgingSession
        Ended here in any case.
    plain : callable or None
        Runs the line mode, and says itself what became of it; ``None`` = the full screen.
    full_screen : callable
        Runs the full screen and returns its exit code.
    """
    from judge_ui.messages import goodbye

    code = 0
    try:
        if plain is not None:
            plain(text_stdin(), sys.stdout, shutil.get_terminal_size().columns)
        else:
            code = full_screen()
    except BaseException:
        with suppress(PoolerError):
            session.leave()
        raise
    if plain is None:
        say(goodbye(session))
    session.leave()
    is_unsaved = bool(session.unsaved) or session.conflict is not None
    if code or is_unsaved:
        raise typer.Exit(ExitCode.STORE if is_unsaved else ExitCode.DATA)
