"""`pooler judge`: sit down and judge."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import ExitCode, say, text_stdin
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from store.errors import PoolerError

if TYPE_CHECKING:
    from pooler.live import LiveDrawing
    from store.collection import Collection


def judge(
    name: Annotated[str, typer.Option("--judge", metavar="NAME", help="Who is judging.")],
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Line mode: for screen readers, dumb terminals, scripts."),
    ] = False,
    topic: Annotated[
        str | None, typer.Option("--topic", help="Open this topic at once.", show_default=False)
    ] = None,
    stay: Annotated[
        bool, typer.Option("--stay", help="Stay on the document after grading it.")
    ] = False,
    min_dwell: Annotated[
        int,
        typer.Option(
            "--min-dwell",
            min=0,
            metavar="MS",
            help="Grade keys sooner than this after a document appears are dropped (full screen).",
        ),
    ] = 300,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Judge the documents of the pool, one key each.

    Example: pooler judge --judge alice
    """
    from judge_ui.messages import goodbye
    from judge_ui.session import JudgingSession
    from pooler import __version__
    from store.collection import Collection

    with Collection(collection) as opened:
        desk = opened.desk(name, program=f"pooler {__version__}")
        if not desk.inbox():
            message = "there is nothing to judge: no pool holds a document"
            raise PoolerError(message, hint="pooler pool --depth 10 makes one of the runs")
        dwell = 0.0 if plain else min_dwell / 1000
        drawing = _drawing(opened)
        session = JudgingSession(desk, min_dwell=dwell, advance=not stay, drawing=drawing)
        if topic is not None:
            session.open_topic(topic)
        code = 0
        try:
            if plain:
                from judge_ui.plain import run_plain

                run_plain(session, text_stdin(), sys.stdout)
            else:
                _check_terminal()
                from judge_ui.app import run_app

                code = run_app(session)
        finally:
            session.leave()
        if not plain:
            say(goodbye(session))
        if code or session.unsaved:
            raise typer.Exit(ExitCode.STORE if session.unsaved else ExitCode.DATA)


def _drawing(opened: Collection) -> LiveDrawing | None:
    """Return the source of documents of adaptive pools; ``None`` when there is no such pool."""
    if not any(pool.budget is not None and not pool.withdrawn for pool in opened.pools()):
        return None
    from pooler.live import LiveDrawing

    return LiveDrawing(opened)


def _check_terminal() -> None:
    """Refuse a terminal the full screen cannot work on, and say what can."""
    hint = "pooler judge --plain works without a full screen"
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
