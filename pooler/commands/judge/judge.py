"""`pooler judge`: the judging screen, or the line mode; what `adjudicate` shares of it; who judges."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.command import Option, Place, screen
from pooler.interrupts import last_words
from pooler.messages import say, text_stdin, warn
from store.errors import ContradictionError, PoolerError
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from judge_ui.session.queue import Drawing
    from judge_ui.session.session import JudgingSession
    from judge_ui.session.words import Goal
    from store.collection import Collection
    from store.judging.desk import Desk


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
GoalText = Annotated[
    str | None,
    Option(
        "--goal GOAL",
        "Offer to stop in a topic once this is reached: recall=.9@.95 = at least .9 of what is relevant"
        " is found, .95 sure, by a random sample; order=.95 = the order of the runs is settled, checked"
        " once, at the start. Without it no goal is shown.",
        envvar="POOLER_GOAL",
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


def check_terminal(command: str) -> None:
    """Refuse a terminal the full screen cannot work on, and say what can."""
    hint = f"pooler {command} --plain works without a full screen"
    # The screen is drawn on stderr.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise PoolerError("the judging screen needs a terminal on stdin and stderr", hint=hint)
    if os.environ.get("TERM", "") in ("", "dumb"):
        message = "the judging screen needs a terminal that can move its cursor (TERM is dumb)"
        raise PoolerError(message, hint=hint)
    if "utf" not in (sys.stderr.encoding or "").lower():
        message = f"the terminal's encoding is {sys.stderr.encoding}, not UTF-8"
        raise PoolerError(message, hint="set LANG=C.UTF-8, or use --plain")


def begin(opened: Collection, desk: Desk, command: str, *, plain: bool) -> None:
    """Make a desk ready for its judge: a screen needs a terminal, and a clock that jumped is told."""
    from store.db.engine import SCREEN_PATIENCE_MS

    if not plain:
        desk.patience_ms = SCREEN_PATIENCE_MS
        check_terminal(command)
    if doubt := opened.clock_doubt():
        warn(doubt)


def drawing_of(opened: Collection) -> Drawing | None:
    """Return the source of documents of adaptive pools; ``None`` when there is no such pool."""
    if not opened.pools.adaptive():
        return None
    from pooler.pools.live import LiveDrawing

    return LiveDrawing(opened)


def read_goal(opened: Collection, text: str | None) -> Goal | None:
    """Return the goal that a text says; ``None`` = there is none, and judges are told of none."""
    if not text:
        return None
    from pooler.commands.judge.status_recall import goal_of

    return goal_of(opened, text)


def sit(session: JudgingSession, *, plain: bool) -> None:
    """Let somebody judge, in lines or full screen, end the sitting in any case, and say what became of it."""
    from judge_ui.session.messages import goodbye

    code = 0
    try:
        if plain:
            from judge_ui.plain import run_plain

            read, write = text_stdin(), sys.stdout
            with last_words(write, lambda: goodbye(session)):
                ignored = run_plain(session, read, write)
            if ignored:
                answers = counted(ignored, "answer")
                warn(f"{answers} ignored: given where no document was; an empty line goes on")
        else:
            from judge_ui.screens.app import run_app

            code = run_app(session)
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


_NAME_IT = "pooler judge --judge NAME names the judge, and so does POOLER_JUDGE"


def who_judges(opened: Collection) -> str:
    """Return who judged here last, else ask; `PoolerError`: no answer, or no judge of that name.

    Without a terminal what is remembered does not count: a script's judgements are not to depend on who sat
    at the machine before.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        missing = "must be given, or POOLER_JUDGE: there is no terminal to ask on"
        raise ContradictionError("--judge", missing, None, hint="pooler judge --judge NAME")
    left = _left_by_judge(opened)
    if not left:
        raise PoolerError("no person can judge here yet", hint="pooler judges add NAME adds one")
    place = memory_of(opened.where)
    name = _remembered(place)
    if name in left:
        say(f"{sanitise_line(name)}, as last time; pooler judge --judge NAME for somebody else")
        return name
    name = _ask(left)
    _remember(place, opened.where, name)
    return name


def memory_of(where: str) -> Path:
    """Name the file in the user's state folder that remembers the judge of a collection, if there is one."""
    known = _in_full(where)
    # The standard says that a relative path is no folder.
    given = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(given) if Path(given).is_absolute() else Path("~/.local/state").expanduser()
    return folder / "pooler" / f"judge-{hashlib.sha256(known.encode()).hexdigest()[:16]}.json"


def drafts_of(where: str, judge: str) -> Path:
    """Name the folder, beside it, of one judge's drafts of notes."""
    known = hashlib.sha256(json.dumps([_in_full(where), judge]).encode()).hexdigest()[:16]
    return memory_of(where).with_name(f"drafts-{known}")


def _in_full(where: str) -> str:
    """Name a collection whatever the folder is that a command is run in."""
    return where if "://" in where else str(Path(where).resolve())


def _left_by_judge(opened: Collection) -> dict[str, str]:
    from pooler.commands.judge.status import status
    from store.records import JudgeKind

    rows: dict[Any, Any] = {row["judge"]: row for row in status(opened).table("status").to_records()}
    left = {}
    for judge in opened.judges.all():
        if judge.kind is JudgeKind.HUMAN and not judge.disabled:
            row = rows.get(judge.name, {})
            skipped = f", {row['skipped']:,} skipped" if row.get("skipped") else ""
            to_claim = f", {row['open_places']:,} open to any judge" if row.get("open_places") else ""
            left[judge.name] = f"{counted(row.get('left') or 0, 'document')} left{skipped}{to_claim}"
    return left


def _ask(left: dict[str, str]) -> str:
    names = list(left)
    width = max(len(sanitise_line(name)) for name in names)
    say("Who are you?")
    for number, name in enumerate(names, start=1):
        say(f"  {number}  {sanitise_line(name):{width}}  {left[name]}")
    while True:
        sys.stderr.write("your number or name > ")
        sys.stderr.flush()
        line = text_stdin().readline()
        if not line:
            raise PoolerError("no judge was named", hint=_NAME_IT)
        answer = line.strip()
        if answer in left:
            return answer
        # A full-width digit counts, too; a name that is a number has been taken for the name.
        if answer.isdecimal() and len(answer) < 9 and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        if answer:
            say(f"{sanitise_line(answer)} is none of them; an organiser adds people with pooler judges add")


def _remembered(place: Path) -> str:
    with suppress(OSError, ValueError):
        known = json.loads(place.read_text("utf-8"))
        if isinstance(known, dict) and isinstance(known.get("judge"), str):
            return str(known["judge"])
    return ""


def _remember(place: Path, where: str, name: str) -> None:
    """Write down who judges, wholly or not at all; where that fails, they are asked again next time."""
    from store.db.files import made_whole

    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with made_whole(place, replaces=True) as part:
            part.write_text(json.dumps({"collection": _in_full(where), "judge": name}) + "\n", "utf-8")
    except (OSError, PoolerError) as error:
        warn(f"{place}: your name could not be remembered: {getattr(error, 'strerror', None) or error}")


@screen
def judge(
    collection: Place,
    *,
    name: Annotated[str | None, Option("--judge NAME", envvar="POOLER_JUDGE")] = None,
    plain: Plain = False,
    topic: Annotated[str | None, Option("--topic", "Open this topic right away.")] = None,
    stay: Stay = False,
    min_dwell: MinDwell = MIN_DWELL_MS,
    goal: GoalText = None,
) -> None:
    """Judge the documents of the pool, one key each.

    Example: pooler judge --judge alice

    name : Who is judging. Without it the command asks once, and opens the latest topic.
    """
    with imports_at_once():
        from judge_ui.session.drafts import Drafts
        from judge_ui.session.messages import last_topic
        from judge_ui.session.session import JudgingSession
        from pooler.version import __version__
        from store.collection import Collection

        if not plain:
            import judge_ui.screens.app  # noqa: F401 - it is used when somebody sits

    with Collection(str(collection)) as opened:
        goes_on = name is None
        if name is None:
            name = who_judges(opened)
        _refuse_others(opened, name)
        desk = opened.desk(name, program=f"pooler {__version__}")
        begin(opened, desk, "judge", plain=plain)
        if desk.is_idle():
            raise _nothing_to_judge(opened, desk.judge_name)
        dwell = 0.0 if plain else min_dwell / 1000
        drawing = drawing_of(opened)
        wanted = read_goal(opened, goal)
        drafts = Drafts(drafts_of(opened.where, name))
        session = JudgingSession(
            desk, min_dwell=dwell, advance=not stay, drawing=drawing, goal=wanted, drafts=drafts
        )
        if goes_on and topic is None:
            topic = last_topic(desk.inbox())
        if topic is not None:
            session.open_topic(topic)
        sit(session, plain=plain)


def _refuse_others(opened: Collection, name: str) -> None:
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
    from pooler.pools.live import drawable, idle_words

    if opened.assignments.workloads().lines:
        message = f"nothing is assigned to `{judge_name}`"
        if idle := drawable(opened.pools.all()):
            message += f", and {idle_words(idle)}"
        return PoolerError(message, hint="pooler assign --table places shows what is assigned to whom")
    message = "there is nothing to judge: no pool holds a document"
    return PoolerError(message, hint="pooler pool --depth 10 --name NAME makes one from the runs")
