"""`pooler judge`: sit down and judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from pooler.cli.adaptive_words import drawable, idle_words
from pooler.cli.interrupts import last_words
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.sitting import (
    MIN_DWELL_MS,
    KeymapOption,
    MinDwellOption,
    PageOption,
    PlainOption,
    StayOption,
    check_terminal,
    imports_at_once,
    keymap_of,
    sit,
)
from store.errors import PoolerError

if TYPE_CHECKING:
    from pooler.live import LiveDrawing
    from store.collection import Collection


def judge(
    name: Annotated[str, typer.Option("--judge", metavar="NAME", help="Who is judging.")],
    plain: PlainOption = False,
    topic: Annotated[
        str | None, typer.Option("--topic", help="Open this topic at once.", show_default=False)
    ] = None,
    stay: StayOption = False,
    min_dwell: MinDwellOption = MIN_DWELL_MS,
    page: PageOption = 0,
    keymap: KeymapOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Judge the documents of the pool, one key each.

    Example: pooler judge --judge alice
    """
    with imports_at_once():
        from judge_ui.session import JudgingSession
        from pooler import __version__
        from store.collection import Collection

        if not plain:
            import judge_ui.app  # noqa: F401 - here, so that it is one of those

    with Collection(collection) as opened:
        keys = keymap_of(keymap, opened.scale)
        _refuse_others(opened, name)
        desk = opened.desk(name, program=f"pooler {__version__}")
        if not plain:
            check_terminal("judge")
        if desk.is_idle():
            raise _nothing_to_judge(opened, desk.judge_name)
        dwell = 0.0 if plain else min_dwell / 1000
        drawing = _drawing(opened)
        session = JudgingSession(desk, min_dwell=dwell, advance=not stay, drawing=drawing)
        if topic is not None:
            session.open_topic(topic)

        def run_lines(read: TextIO, write: TextIO, width: int) -> None:
            from judge_ui.keys import key_table
            from judge_ui.messages import goodbye
            from judge_ui.plain.judging import run_plain

            table = key_table(session.scale, keys)
            with last_words(write, lambda: goodbye(session)):
                run_plain(session, read, write, keys=table, page=page, width=width)

        def run_screen() -> int:
            from judge_ui.app import run_app

            return run_app(session, keys)

        sit(session, plain=run_lines if plain else None, full_screen=run_screen)


def _refuse_others(opened: Collection, name: str) -> None:
    """Refuse an adjudicator, who settles what judges disagree on, and a model, which is nobody."""
    from store.records import JudgeKind

    for judge in opened.judges():
        if judge.name == name and judge.kind is JudgeKind.ADJUDICATOR:
            message = f"`{name}` is an adjudicator, not a judge"
            raise PoolerError(message, hint=f"pooler adjudicate --judge {name}")
        if judge.name == name and judge.kind is JudgeKind.MODEL:
            message = f"judge `{name}` is of kind model, and people judge here"
            hint = "pooler judges add NAME adds a person; pooler import judgements --kind model"
            raise PoolerError(message, hint=f"{hint} reads what a model judged")


def _nothing_to_judge(opened: Collection, judge_name: str) -> PoolerError:
    """Say why a judge's desk is empty, and what would change that."""
    if opened.workloads().lines:
        message = f"nothing is assigned to `{judge_name}`"
        if idle := drawable(opened.pools()):
            message += f", and {idle_words(idle)}"
        return PoolerError(message, hint="pooler assign --show shows what is assigned to whom")
    message = "there is nothing to judge: no pool holds a document"
    return PoolerError(message, hint="pooler pool --depth 10 makes one of the runs")


def _drawing(opened: Collection) -> LiveDrawing | None:
    """Return the source of documents of adaptive pools; ``None`` when there is no such pool."""
    if not any(pool.budget is not None and not pool.withdrawn for pool in opened.pools()):
        return None
    from pooler.live import LiveDrawing

    return LiveDrawing(opened)
