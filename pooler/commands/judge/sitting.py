"""What `judge` and `adjudicate` share: their options, the terminal, and a sitting from start to end."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.command import Option
from pooler.interrupts import last_words
from pooler.messages import say, text_stdin, warn
from pooler.serving.inside import is_served
from store.errors import PoolerError
from store.text import counted

if TYPE_CHECKING:
    from judge_ui.session.keys import Keymap
    from judge_ui.session.queue import Drawing
    from judge_ui.session.session import JudgingSession
    from store.collection import Collection
    from store.records import Scale

Plain = Annotated[bool, Option("--plain", "Line mode: for screen readers, dumb terminals, scripts.")]
Stay = Annotated[bool, Option("--stay", "Stay on the document after deciding it.")]
MinDwell = Annotated[
    int,
    Option(
        "--min-dwell MS",
        "Ignore grade keys pressed sooner than this after a document appears (full screen).",
        least=0,
    ),
]
MIN_DWELL_MS = 300
KeymapName = Annotated[
    str | None,
    Option(
        "--keymap FILE|NAME",
        "Your own keys: azerty, home-row, letters, or a TOML file with [grades] such as"
        ' 10 = "a" and [commands] such as undo = ["z", "f2"].',
        envvar="POOLER_KEYMAP",
    ),
]


@contextmanager
def imports_at_once() -> Iterator[None]:
    """Import many modules without looking for garbage meanwhile: a fifth faster."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def load_screen() -> None:
    """Import the full screen."""
    import judge_ui.screens.app  # noqa: F401 - it is used when somebody sits


def keymap_of(name: str | None, scale: Scale) -> Keymap | None:
    """Read the keymap that was asked for; ``None`` = the usual keys. Faults are reported at once."""
    from judge_ui.session.keys import key_table, read_keymap
    from store.formats.lines import is_regular_file
    from store.formats.scale import read_toml

    if name is not None and is_regular_file(name):
        read_toml(name)  # its faults as TOML are told as those of every file
    keymap = None if name is None else read_keymap(name, scale)
    key_table(scale, keymap)
    return keymap


def check_terminal(command: str) -> None:
    """Refuse a terminal the full screen cannot work on, and say what can."""
    if is_served():
        return  # a browser has one
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


def drawing_of(opened: Collection) -> Drawing | None:
    """Return the source of documents of adaptive pools; ``None`` when there is no such pool."""
    if not opened.pools.adaptive():
        return None
    from pooler.pools.live import LiveDrawing

    return LiveDrawing(opened)


def sit(session: JudgingSession, keys: Keymap | None, *, plain: bool) -> None:
    """Let somebody judge, in lines or full screen, end the sitting in any case, and say what became of it."""
    from judge_ui.session.messages import goodbye

    code = 0
    try:
        if plain:
            from judge_ui.plain import run_plain
            from judge_ui.session.keys import key_table

            read, write = text_stdin(), sys.stdout
            with last_words(write, lambda: goodbye(session)):
                ignored = run_plain(session, read, write, keys=key_table(session.scale, keys))
            if ignored:
                answers = counted(ignored, "answer")
                warn(f"{answers} ignored: given where no document was; an empty line goes on")
        else:
            from judge_ui.screens.app import run_app

            code = run_app(session, keys)
    except BaseException:
        with suppress(PoolerError):
            session.desk.leave()
        raise
    if not plain:
        say(goodbye(session))
    session.desk.leave()
    is_unsaved = bool(session.unsaved) or session.conflict is not None
    if code or is_unsaved:
        raise typer.Exit(3 if is_unsaved else 1)  # the store could not do it; what was asked is at fault
