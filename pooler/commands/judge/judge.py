"""`pooler judge`: the judging screen, or the line mode; who judges is asked once, and remembered."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, Place, screen
from pooler.commands.judge.sitting import (
    MIN_DWELL_MS,
    KeymapName,
    MinDwell,
    Plain,
    Stay,
    check_terminal,
    drawing_of,
    imports_at_once,
    keymap_of,
    load_screen,
    sit,
)
from pooler.messages import say, warn
from pooler.serving.inside import discreet, is_served
from pooler.streams import text_stdin
from store.errors import ContradictionError, PoolerError
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from judge_ui.session.words import Goal
    from store.collection import Collection


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
        message = "no person can judge here yet"
        raise PoolerError(message, hint="pooler judges add NAME adds one")
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
            message = "no judge was named"
            raise PoolerError(message, hint=_NAME_IT)
        answer = line.strip()
        if answer in left:
            return answer
        # A full-width digit counts, too; a name that is a number has been taken for the name.
        if answer.isdecimal() and len(answer) < 9 and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        if answer:
            say(f"{sanitise_line(answer)} is none of them; an organiser adds people with pooler judges add")


def _remembered(place: Path) -> str:
    """Read who judged last; empty = unknown."""
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
    keymap: KeymapName = None,
    until: Annotated[str | None, Option("--until GOAL", envvar="POOLER_UNTIL")] = None,
) -> None:
    """Judge the documents of the pool, one key each.

    Example: pooler judge --judge alice

    name : Who is judging. Without it the command asks once, and opens the latest topic.
    until : Offer to stop in a topic once this is reached: recall=.9@.95 = at least .9 of what is
        relevant is found, .95 sure, by a random sample; order=.95 = the order of the runs is
        settled, checked once, before the screen opens. Without it no goal is shown.
    """
    with imports_at_once():
        from judge_ui.session.ending import last_topic
        from judge_ui.session.session import JudgingSession
        from pooler.version import __version__
        from store.collection import Collection

        if not plain:
            load_screen()

    with Collection(str(collection)) as opened:
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
    from pooler.pools.live import drawable, idle_words

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
    from pooler.commands.judge.goals import goal_of

    return goal_of(opened, until)
