"""`pooler adjudicate`: settle what judges disagree on."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from pooler.cli.console import emit
from pooler.cli.interrupts import last_words
from pooler.cli.judge.judge import (
    MIN_DWELL_MS,
    KeymapOption,
    MinDwellOption,
    PageOption,
    PlainOption,
    StayOption,
    check_terminal,
    keymap_of,
    sit,
)
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.results.printed import Cell, Column, Format, Table
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_ui.session.adjudicating import AdjudicatingSession
    from judge_ui.session.keys import Keymap
    from store.collection import Collection
    from store.judging.disagreements import Case, Selection, Verdict
    from store.records import Scale


class TieRuleName(StrEnum):
    """Rules of `store.analysis.aggregation.rules` that leave ties."""

    MAJORITY = "majority"
    MEDIAN = "median"


def adjudicate(
    name: Annotated[
        str | None,
        typer.Option(
            "--judge", metavar="NAME", help="Who decides: a judge of kind adjudicator.", show_default=False
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the disagreements and what became of them.")
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Count them by the two grades, and what they were settled as.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--names", help="With --list: who A, B and C are. For the organiser alone.")
    ] = False,
    topic: Annotated[
        str | None, typer.Option("--topic", help="Of this topic alone.", show_default=False)
    ] = None,
    gap: Annotated[
        int | None,
        typer.Option(
            "--gap", min=1, metavar="N", help="Where two grades differ by N or more.", show_default=False
        ),
    ] = None,
    cell: Annotated[
        str | None,
        typer.Option(
            "--cell",
            metavar="X,Y",
            help="Where one judge gave X and another Y: a cell of the kappa table. Grades or"
            " letters of the scale; cant = cannot be judged.",
            show_default=False,
        ),
    ] = None,
    judges: Annotated[
        str | None,
        typer.Option(
            "--judges",
            metavar="A,B",
            help="Where these two disagree; --gap, --cell and --unresolved are then asked of them alone.",
            show_default=False,
        ),
    ] = None,
    unresolved: Annotated[
        TieRuleName | None,
        typer.Option(
            "--unresolved",
            help="Where this rule leaves the votes tied: what `pooler export qrels --aggregate RULE"
            " --ties unresolved` leaves out.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            "--level",
            help="With --unresolved: of votes made binary first, as by --collapse before.",
            show_default=False,
        ),
    ] = None,
    plain: PlainOption = False,
    stay: StayOption = False,
    min_dwell: MinDwellOption = MIN_DWELL_MS,
    page: PageOption = 0,
    keymap: KeymapOption = None,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Settle disagreements: documents that two judges or more have decided differently.

    The adjudicator sees the judges' grades, notes and passages as A, B, C: who is which differs
    from document to document. The outcome is the adjudicator's own judgement; nothing is
    overwritten. Notes and skips are never a disagreement.

    Example: pooler adjudicate --judge zoe --cell 0,2
    """
    from store.collection import Collection
    from store.judging.disagreements import Selection

    if names and not list_:
        raise ArgumentError("--names", "is a part of --list, which is absent", None)
    if level is not None and unresolved is None:
        raise ArgumentError("--level", "is a part of --unresolved, which is absent", level)
    if name is None and not (list_ or summary):
        hint = "pooler adjudicate --list shows what there is to decide"
        raise ArgumentError("--judge", "must name an adjudicator", None, hint=hint)
    with Collection(collection) as opened:
        chosen = Selection(
            topic,
            gap,
            _cell(cell, opened.scale),
            _two(judges),
            None if unresolved is None else unresolved.value,
            None if level is None else opened.scale.check_level(level),
        )
        if list_ or summary:
            if name is not None:
                # Refuses whoever could not sit down there; without a decision nothing is written.
                opened.adjudication_desk(name, selection=chosen)
            tables = [_listed(opened, chosen, names, fmt)] if list_ else []
            tables += [_cells(opened, chosen, fmt)] if summary else []
            emit(tables, fmt)
        elif name is not None:
            keys = keymap_of(keymap, opened.scale)
            session = _session(
                opened, name, chosen, plain=plain, advance=not stay, min_dwell=min_dwell / 1000
            )
            _sit(session, keys, plain=plain, page=page)


def _session(
    opened: Collection, name: str, selection: Selection, *, plain: bool, advance: bool, min_dwell: float
) -> AdjudicatingSession:
    """Sit the adjudicator down at a desk that has something to decide."""
    from judge_ui.session.adjudicating import AdjudicatingSession
    from pooler import __version__
    from store.judging.disagreements import Selection

    desk = opened.adjudication_desk(name, selection=selection, program=f"pooler {__version__}")
    if not plain:
        check_terminal("adjudicate")
    if desk.is_idle():
        which = "" if selection == Selection() else " of that kind"
        message = f"there is nothing to adjudicate: no disagreement{which} is left for `{name}`"
        raise PoolerError(message, hint="pooler adjudicate --list shows them all")
    dwell = 0.0 if plain else min_dwell
    session = AdjudicatingSession(desk, min_dwell=dwell, advance=advance)
    if selection.topic is not None:
        session.open_topic(selection.topic)
    return session


def _sit(session: AdjudicatingSession, keys: Keymap | None, *, plain: bool, page: int) -> None:
    """Let the adjudicator decide."""

    def run_lines(read: TextIO, write: TextIO, width: int) -> None:
        from judge_ui.plain.judging import run_plain_adjudication
        from judge_ui.session.keys import key_table
        from judge_ui.session.messages import goodbye

        table = key_table(session.scale, keys)
        with last_words(write, lambda: goodbye(session)):
            run_plain_adjudication(session, read, write, keys=table, page=page, width=width)

    def run_screen() -> int:
        from judge_ui.screens.adjudicate import run_adjudication

        return run_adjudication(session, keys)

    sit(session, plain=run_lines if plain else None, full_screen=run_screen)


def _cell(text: str | None, scale: Scale) -> tuple[Verdict, Verdict] | None:
    """Read the value of `--cell`."""
    from store.judging.disagreements import parse_cell

    return None if text is None else parse_cell(text, scale)


def _two(text: str | None) -> tuple[str, str] | None:
    """Read the value of `--judges`."""
    if text is None:
        return None
    first, comma, second = (part.strip() for part in text.partition(","))
    if not (first and comma and second):
        raise ArgumentError("--judges", "must be two judges, as in alice,bob", text)
    return first, second


def _listed(opened: Collection, selection: Selection, names: bool, fmt: Format) -> Table:  # noqa: FBT001 - private
    """List the disagreements."""
    cases = opened.disagreements.all(selection)
    columns = [Column("topic"), Column("docno"), Column("grades"), Column("gap"), Column("status"),
               Column("outcome")]  # fmt: skip
    who = opened.disagreements.judge_names() if names else {}
    columns += [Column("judges"), Column("adjudicator")] if names else []
    rows: list[Mapping[str, Cell]] = [_row(case, opened.scale, who, fmt) for case in cases]
    table = Table("disagreements", columns, rows, title=f"Disagreements ({opened.where})")
    counts = Counter(case.status for case in cases)
    parts = [f"{count} {status}" for status, count in sorted(counts.items())]
    table.caption = f"{counted(len(cases), 'document')}: {', '.join(parts)}"
    if not cases:
        table.caption = _why_none(opened, selection)
    return table


def _why_none(opened: Collection, selection: Selection) -> str:
    """Say why there is no disagreement to list."""
    n_deciders = opened.disagreements.count_deciders()
    if n_deciders < 2:
        who = "nobody has" if n_deciders == 0 else "one judge alone has"
        return f"no disagreement: fewer than two judges have judged; {who} so far"
    if selection != type(selection)():
        return "no disagreement of that kind"
    return "no disagreement: wherever two judges decided, they decided alike"


def _row(case: Case, scale: Scale, who: dict[int, str], fmt: Format) -> dict[str, Cell]:
    """Write one document."""
    from store.judging.disagreements import gap_of, letter

    votes = [(letter(place), vote) for place, vote in enumerate(case.votes)]
    ruling = case.ruling
    return {
        "topic": case.topic,
        "docno": case.docno,
        "grades": " ".join(f"{one}={_mark(vote.verdict, scale, fmt)}" for one, vote in votes),
        "gap": gap_of(case.verdicts),
        "status": case.status.value,
        "outcome": None if ruling is None else _mark(ruling.verdict, scale, fmt),
        "judges": " ".join(f"{one}={who[vote.judge]}" for one, vote in votes) if who else None,
        "adjudicator": who[ruling.judge] if who and ruling is not None else None,
    }


def _cells(opened: Collection, selection: Selection, fmt: Format) -> Table:
    """Count the disagreements by the two grades."""
    scale = opened.scale
    cells = opened.disagreements.cells(selection)
    verdicts: Sequence[Verdict] = [*scale.values, None]
    headings = {one: str(_mark(one, scale, fmt)) for one in verdicts}
    columns = [Column("first", "one gave"), Column("second", "another gave"),
               Column("documents"), Column("settled")]  # fmt: skip
    columns += [Column(f"as_{'cannot' if one is None else one}", f"as {headings[one]}") for one in verdicts]
    table = Table("cells", columns, title="Disagreements by the two grades")
    for one in cells:
        row: dict[str, Cell] = {
            "first": _mark(one.cell[0], scale, fmt),
            "second": _mark(one.cell[1], scale, fmt),
            "documents": one.documents,
            "settled": one.settled,
        }
        for verdict in verdicts:
            row[f"as_{'cannot' if verdict is None else verdict}"] = one.outcomes.get(verdict, 0)
        table.rows.append(row)
    table.caption = (
        "A document with three different grades is in three rows." if cells else "no disagreement to count"
    )
    return table


def _mark(verdict: Verdict, scale: Scale, fmt: Format) -> Cell:
    """Write a verdict: as judges know it for people, as it is stored for programs."""
    if fmt is not Format.TABLE:
        return "cannot" if verdict is None else verdict
    from judge_ui.session.messages import verdict_mark

    return verdict_mark(scale, verdict)
