"""`pooler judge`: the judging screen, or the line mode."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import ExitCode, text_stdin
from pooler.cli.interrupts import last_words
from pooler.cli.judge.who import who_judges
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.signature import command, option
from pooler.messages import say, warn
from pooler.serving.inside import discreet, is_served
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from judge_ui.session.keys import Keymap
    from judge_ui.session.queue import Drawing
    from judge_ui.session.session import JudgingSession
    from judge_ui.session.words import Goal
    from store.collection import Collection
    from store.records import Scale

PlainOption = Annotated[bool, option("--plain", "Line mode: for screen readers, dumb terminals, scripts.")]
StayOption = Annotated[bool, option("--stay", "Stay on the document after deciding it.")]
MinDwellOption = Annotated[
    int,
    option(
        "--min-dwell MS",
        "Ignore grade keys pressed sooner than this after a document appears (full screen).",
        min=0,
    ),
]
MIN_DWELL_MS = 300
KeymapOption = Annotated[
    str | None,
    option(
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


def keymap_of(name: str | None, scale: Scale) -> Keymap | None:
    """Read the keymap that was asked for; ``None`` = the usual keys. Faults are reported at once."""
    from judge_ui.session.keymap import read_keymap
    from judge_ui.session.keys import key_table
    from store.formats.scale import read_toml
    from store.formats.syntax.lines import is_regular_file

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


def sit(session: JudgingSession, keys: Keymap | None, *, plain: bool) -> None:
    """Let somebody judge, in lines or full screen, end the sitting in any case, and say what became of it."""
    from judge_ui.session.messages import goodbye

    code = 0
    try:
        if plain:
            from judge_ui.plain.judging import run_plain
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
        raise typer.Exit(ExitCode.STORE if is_unsaved else ExitCode.DATA)


@command
def judge(
    name: Annotated[
        str | None,
        option(
            "--judge NAME",
            "Who is judging. Without it the command asks once, and opens the latest topic.",
            envvar="POOLER_JUDGE",
        ),
    ] = None,
    plain: PlainOption = False,
    topic: Annotated[str | None, option("--topic", "Open this topic right away.")] = None,
    stay: StayOption = False,
    min_dwell: MinDwellOption = MIN_DWELL_MS,
    keymap: KeymapOption = None,
    until: Annotated[
        str | None,
        option(
            "--until GOAL",
            "Offer to stop in a topic once this is reached: recall=.9@.95 = at least .9 of what is"
            " relevant is found, .95 sure, by a random sample; order=.95 = the order of the runs is"
            " settled, checked once, before the screen opens. Without it no goal is shown.",
            envvar="POOLER_UNTIL",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Judge the documents of the pool, one key each.

    Example: pooler judge --judge alice
    """
    with imports_at_once():
        from judge_ui.session.ending import last_topic
        from judge_ui.session.session import JudgingSession
        from pooler.version import __version__
        from store.collection import Collection

        if not plain:
            import judge_ui.screens.app  # noqa: F401 - here, so that it is one of those

    with Collection(collection) as opened:
        keys = keymap_of(keymap, opened.scale)
        goes_on = name is None or is_served()
        if name is None:
            name = who_judges(opened)
        _refuse_others(opened, name)
        desk = opened.desk(name, program=f"pooler {__version__}")
        if not plain:
            check_terminal("judge")
        if doubt := opened.clock_doubt():
            warn(doubt)
        if desk.is_idle():
            raise _nothing_to_judge(opened, desk.judge_name)
        dwell = 0.0 if plain else min_dwell / 1000
        drawing, goal = drawing_of(opened), _goal(opened, until)
        if is_served():
            desk = discreet(desk, opened.where)
            drawing = drawing and discreet(drawing, opened.where)
        session = JudgingSession(desk, min_dwell=dwell, advance=not stay, drawing=drawing, goal=goal)
        if goes_on and topic is None:
            topic = last_topic(desk.inbox())
        if topic is not None:
            session.open_topic(topic)
        sit(session, keys, plain=plain)


def _refuse_others(opened: Collection, name: str) -> None:
    """Refuse adjudicators, who settle disagreements, and models, which are not people."""
    from store.records import JudgeKind

    for judge in opened.judges.all():
        if judge.name == name and judge.kind is JudgeKind.ADJUDICATOR:
            message = f"`{name}` is an adjudicator, not a judge"
            raise PoolerError(message, hint=f"pooler adjudicate --judge {name}")
        if judge.name == name and judge.kind is JudgeKind.MODEL:
            message = f"judge `{name}` is of kind model, but only people judge here"
            hint = "pooler judges add NAME adds a person"
            if any(one.judge == name and one.identity for one in opened.models.all()):
                hint = f"{hint}; pooler ask {name} asks the model"
            raise PoolerError(message, hint=hint)


def _nothing_to_judge(opened: Collection, judge_name: str) -> PoolerError:
    from pooler.results.look.status import drawable, idle_words  # loads numpy

    if opened.assignments.workloads().lines:
        message = f"nothing is assigned to `{judge_name}`"
        if idle := drawable(opened.pools.all()):
            message += f", and {idle_words(idle)}"
        return PoolerError(message, hint="pooler assign --table places shows what is assigned to whom")
    message = "there is nothing to judge: no pool holds a document"
    return PoolerError(message, hint="pooler pool --depth 10 --name NAME makes one from the runs")


def _goal(opened: Collection, until: str | None) -> Goal | None:
    """Return what the organiser wants found; ``None`` = the judge sees no goal."""
    if not until:
        return None
    from pooler.results.look.goals import goal_of

    try:
        return goal_of(opened, until)
    except ArgumentError as error:
        raise error.named("--until") from None


def drawing_of(opened: Collection) -> Drawing | None:
    """Return the source of documents of adaptive pools; ``None`` when there is no such pool."""
    if not opened.pools.adaptive():
        return None
    from pooler.pools.live import LiveDrawing

    return LiveDrawing(opened)
