"""`pooler adjudicate`: settle what judges disagree on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pooler.cli.judge.judge import (
    MIN_DWELL_MS,
    KeymapOption,
    MinDwellOption,
    PlainOption,
    StayOption,
    check_terminal,
    keymap_of,
    sit,
)
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, KindsOption, kinds_of
from pooler.cli.render import Output, render
from pooler.cli.signature import command, option
from pooler.messages import warn
from store.errors import ArgumentError, PoolerError
from store.records import TieRule

if TYPE_CHECKING:
    from judge_ui.session.adjudicating import AdjudicatingSession
    from store.collection import Collection
    from store.judging.disagreements import Selection


@command
def adjudicate(
    name: Annotated[str | None, option("--judge NAME", "Who decides: a judge of kind adjudicator.")] = None,
    list_: Annotated[bool, option("--list", "List the disagreements and how each was settled.")] = False,
    summary: Annotated[
        bool, option("--summary", "Count them by the two grades, and by what they were settled as.")
    ] = False,
    names: Annotated[
        bool, option("--names", "With --list: name A, B and C. For the organiser only.")
    ] = False,
    topic: Annotated[str | None, option("--topic", "Only this topic.")] = None,
    gap: Annotated[int | None, option("--gap N", "Only where two grades differ by N or more.", min=1)] = None,
    unresolved: Annotated[
        TieRule | None,
        option(
            "--unresolved",
            "Only where this rule leaves the votes tied: what `pooler export qrels --aggregate RULE --ties"
            " unresolved` leaves out.",
        ),
    ] = None,
    kinds: KindsOption = None,
    plain: PlainOption = False,
    stay: StayOption = False,
    min_dwell: MinDwellOption = MIN_DWELL_MS,
    keymap: KeymapOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Settle documents that judges have decided differently.

    The adjudicator sees the judges' grades, notes and passages as A, B, C; which judge is which changes
    from document to document. Where a person has judged, only people count, unless --kinds names others.
    The outcome is the adjudicator's own judgement; nothing is overwritten. Notes and skips never count as
    a disagreement.

    Example: pooler adjudicate --judge zoe --gap 2
    """
    from pooler.results.look.disagreements import disagreements, selection
    from store.collection import Collection

    if names and not list_:
        raise ArgumentError("--names", "needs --list", None)
    if name is None and not (list_ or summary):
        hint = "pooler adjudicate --list shows what there is to decide"
        raise ArgumentError("--judge", "must name an adjudicator", None, hint=hint)
    output.check()
    wanted: dict[str, Any] = {"topic": topic, "gap": gap, "unresolved": unresolved, "kinds": kinds_of(kinds)}
    with Collection(collection) as opened:
        if list_ or summary:
            if name is not None:
                # Refuses whoever could not sit down there; without a decision nothing is written.
                opened.adjudication_desk(name, selection=selection(**wanted))
            shown = ("disagreements",) * list_ + ("cells",) * summary
            render(disagreements(opened, **wanted, names=names), output, *shown)
        elif name is not None:
            keys = keymap_of(keymap, opened.scale)
            asked = selection(**wanted)
            session = _session(opened, name, asked, plain=plain, advance=not stay, min_dwell=min_dwell / 1000)
            sit(session, keys, plain=plain)


def _session(
    opened: Collection, name: str, selection: Selection, *, plain: bool, advance: bool, min_dwell: float
) -> AdjudicatingSession:
    from judge_ui.session.adjudicating import AdjudicatingSession
    from pooler.results.judge_kinds import warn_about_voters
    from pooler.version import __version__
    from store.judging.disagreements import Selection

    desk = opened.adjudication_desk(name, selection=selection, program=f"pooler {__version__}")
    if not plain:
        check_terminal("adjudicate")
    if doubt := opened.clock_doubt():
        warn(doubt)
    warn_about_voters(desk.voters(), "stand side by side")
    if desk.is_idle():
        which = "" if selection == Selection() else " of that kind"
        message = f"there is nothing to adjudicate: no disagreement{which} is left for `{name}`"
        raise PoolerError(message, hint="pooler adjudicate --list shows them all")
    dwell = 0.0 if plain else min_dwell
    session = AdjudicatingSession(desk, min_dwell=dwell, advance=advance)
    if selection.topic is not None:
        session.open_topic(selection.topic)
    return session
