"""`pooler judge`: the judging screen, or the line mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
from pooler.commands.judge.who import who_judges
from pooler.messages import warn
from pooler.serving.inside import discreet, is_served
from store.errors import PoolerError

if TYPE_CHECKING:
    from judge_ui.session.words import Goal
    from store.collection import Collection


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
    from pooler.pools.idle import drawable, idle_words

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
