"""Status: how far judging has come."""

from __future__ import annotations

import sys
from string import ascii_letters
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.collect.exchange import missing_words
from pooler.cli.console import emit, erased_words, write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.cli.plots import Stack, plot_stacks
from pooler.results.look import drawable, idle_words
from pooler.results.printed import Cell, Column, Format, Table
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pooler.results.printed import Cell, Table
    from store.collection import Collection
    from store.content.pools import StoredPool
    from store.judging.disagreements import Case
    from store.judging.progress import Unclaimed
    from store.records import Counts, Grade, Judge, Scale

PACE = (
    Column("left"),
    Column("undrawn"),
    Column("open_places"),
    Column("unassigned"),
    Column("pace_s"),
    Column("forecast_s"),
    Column("forecast_low_s"),
    Column("forecast_high_s"),
    Column("timed"),
    Column("reason"),
)
PACE_FOR_PEOPLE = (
    Column("judge"),
    Column("left"),
    Column("pace_s", "s each", 1),
    Column("timed", "decisions"),
    Column("forecast", "at this pace"),
    Column("range", "90% interval"),
)


def status(
    by_topic: Annotated[bool, typer.Option("--by-topic", help="One row a topic and judge.")] = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw a bar a row: every grade, and what has none.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show how far each judge has come, and how long the rest will take.

    Pooled = in any pool not withdrawn; once documents are assigned, what is assigned to that judge.
    Judged documents outside of it are counted apart. Unjudged, skipped, cannot be judged and
    grade 0 are four different things. An adjudicator owes no pool: judged are the rulings. Left =
    unjudged, and what adaptive pools may still draw; once documents are assigned, they draw
    nothing. The forecast is the mean active time of the judge's latest decisions, times left:
    minutes at the desk, without pauses. `pooler effort` tells more of it.

    Example: pooler status --by-topic --plot
    """
    from pooler.cli.plots import check_plot, plot_width
    from store.collection import Collection

    if plot:
        check_plot(fmt)
    with Collection(collection) as opened:
        table, paces = progress_tables(opened, by_topic=by_topic)
        scale = opened.scale
    if fmt is not Format.TABLE:
        emit([table], fmt)
        return
    table.columns = table.columns[: -len(PACE)]
    emit([table, *_for_people(paces)], fmt)
    if plot and table.rows:
        write_lines(None, ["", *status_lines(table, scale, width=plot_width(sys.stdout))])


def progress_tables(opened: Collection, *, by_topic: bool) -> tuple[Table, dict[str, dict[str, Cell]]]:
    """Make the table of judges' progress with every column, and say the pace of each judge."""
    from store.analysis.pools.pace import RECENT_DECISIONS
    from store.records import Counts, JudgeKind
    from store.text import natural_key

    scale = opened.scale
    counts = opened.progress.counts()
    unclaimed = opened.progress.unclaimed()
    times = opened.progress.recent_times(limit=RECENT_DECISIONS)
    judges = {judge.name: judge for judge in opened.judges.all()}
    adjudicators = {name for name, judge in judges.items()
                    if judge.kind is JudgeKind.ADJUDICATOR}  # fmt: skip
    cases = opened.disagreements.all() if adjudicators else None
    pools = [pool for pool in opened.pools.all() if not pool.withdrawn]
    n_runs, n_topics = len(opened.runs.all()), len(opened.topics.all())
    missing = missing_words(opened.documents.count_without_text())
    where, name = opened.where, opened.name
    erased = erased_words(opened)
    totals: dict[tuple[str, str], Counts] = {}
    for (_, judge), one in counts.items():
        totals["", judge] = _sum(totals.get(("", judge), Counts()), one)
    shown = counts if by_topic else totals
    columns = [Column("topic")] if by_topic else []
    columns += [Column("judge"), Column("pooled"), Column("judged"), Column("unjudged")]
    columns += [Column("skipped"), Column("cannot"), Column("outside")]
    columns += [Column(f"grade_{grade.value}", grade_heading(grade)) for grade in scale.grades]
    table = Table("status", columns, title=f"{name} ({where})")
    for (topic, judge), one in sorted(shown.items(), key=lambda item: (natural_key(item[0][0]), item[0][1])):
        row: dict[str, Cell] = {"topic": topic, "judge": judge, "pooled": one.pooled, "judged": one.judged}
        row |= {"unjudged": one.unjudged, "skipped": one.skipped, "cannot": one.cannot}
        row |= {"outside": one.outside}
        row |= {f"grade_{value}": one.by_grade[value] for value in scale.values}
        if judge in adjudicators:
            row |= {"pooled": None, "judged": one.judged + one.outside}
            row |= {"unjudged": None, "outside": None}
        row |= _pace(judges[judge], one, times[judge], unclaimed, topic if by_topic else None)
        table.rows.append(row)
    listed = ", ".join(f"{pool.name} ({_size(pool)})" for pool in pools) or "none"
    lines = [f"{counted(n_topics, 'topic')}, {counted(n_runs, 'run')}; pools: {listed}"]
    if table.rows:
        words = ", ".join(f"{grade_heading(grade)} {grade.label}" for grade in scale.grades)
        lines.append(f"grades: {words}")
    if any(judge not in adjudicators for _, judge in counts):
        or_not = ", or not assigned to that judge" if unclaimed.is_assigned else ""
        lines.append(f"outside: judged, but in no pool{or_not}")
    if cases is not None:
        lines.append(_open_words(cases))
    lines += _lie_idle(unclaimed)
    if unclaimed.is_assigned and (idle := drawable(pools)):
        lines.append(idle_words(idle))
    if missing:
        lines.append(f"{missing}: pooler import docs FILE")
    if not judges:
        lines.append("no judges yet: pooler judges add NAME")
    lines += [erased] if erased else []
    table.caption = "\n".join(lines)
    table.columns = [*columns, *PACE]
    return table, {
        judge: {"judge": judge, **_pace(judges[judge], one, times[judge], unclaimed, None)}
        for (_, judge), one in totals.items()
    }


def _pace(
    judge: Judge, one: Counts, times: Sequence[int], unclaimed: Unclaimed, topic: str | None
) -> dict[str, Cell]:
    """Say what is left to a judge of a topic, or of all (``None``), and how long it will take."""
    from store.analysis.pools.pace import LEAST_DECISIONS, forecast
    from store.records import JudgeKind

    undrawn, places, unassigned = (
        sum(part.values()) if topic is None else part.get(topic, 0)
        for part in (unclaimed.undrawn, unclaimed.open_places, unclaimed.unassigned)
    )
    row: dict[str, Cell] = {"undrawn": undrawn}
    if unclaimed.is_assigned:
        row |= {"open_places": places, "unassigned": unassigned}
    if judge.disabled:
        return {**row, "reason": "disabled"}
    if judge.kind is not JudgeKind.HUMAN:
        return {**row, "reason": judge.kind.value}
    made = forecast(times, one.unjudged + undrawn)
    row |= {"left": made.left, "pace_s": made.pace, "forecast_s": made.seconds, "timed": made.n}
    row |= {"forecast_low_s": made.low, "forecast_high_s": made.high}
    if made.pace is None:
        row["reason"] = "no-times" if made.n == 0 else f"fewer-than-{LEAST_DECISIONS}"
    return row


def _for_people(paces: Mapping[str, Mapping[str, Cell]]) -> list[Table]:
    """Make the table of paces, in words; none before anybody has a timed decision."""
    people = {judge: row for judge, row in paces.items() if row.get("left") is not None}
    if not any(row["timed"] for row in people.values()):
        return []
    table = Table("pace", PACE_FOR_PEOPLE)
    for judge in sorted(people):
        row = people[judge]
        table.rows.append({**row, "forecast": _forecast(row), "range": _range(row)})
    table.caption = "s each: mean active time of the latest decisions, without pauses"
    return [table]


def _forecast(row: Mapping[str, Cell]) -> str:
    """Say how long the rest will take, or why nobody can say."""
    from store.analysis.pools.pace import duration_words

    if not row["left"]:
        return "nothing left"
    if isinstance(row["forecast_s"], float):
        return duration_words(row["forecast_s"])
    return "too few decisions" if row["timed"] else "no decision yet"


def _range(row: Mapping[str, Cell]) -> str | None:
    """Say between what the forecast lies."""
    from store.analysis.pools.pace import duration_words

    low, high = row["forecast_low_s"], row["forecast_high_s"]
    if not row["left"] or not (isinstance(low, float) and isinstance(high, float)):
        return None
    first, last = (duration_words(end).removeprefix("about ") for end in (low, high))
    if first == last:
        return first
    return f"{first.removesuffix(' min') if last.endswith(' min') else first} to {last}"


def _lie_idle(unclaimed: Unclaimed) -> list[str]:
    """Say what lies before nobody."""
    lines = []
    if undrawn := sum(unclaimed.undrawn.values()):
        lines.append(f"left counts {undrawn:,} that adaptive pools may still draw")
    if places := sum(unclaimed.open_places.values()):
        lines.append(f"{counted(places, 'place')} open to whoever claims them, counted for nobody")
    if lapsed := sum(unclaimed.lapsed.values()):
        lines.append(f"{counted(lapsed, 'claim')} lapsed: others may claim them")
    if unassigned := sum(unclaimed.unassigned.values()):
        lines.append(f"{counted(unassigned, 'pooled document')} assigned to nobody:"
                     " pooler assign --add")  # fmt: skip
    if drawn := sum(unclaimed.drawn.values()):
        lines.append(f"{counted(drawn, 'document')} that adaptive pools drew assigned to nobody:"
                     " none can be")  # fmt: skip
    return lines


def _open_words(cases: Sequence[Case]) -> str:
    """Say how many disagreements wait for an adjudicator."""
    from store.judging.disagreements import Status

    statuses = [case.status for case in cases if case.is_disagreement]
    n_open, n_changed = statuses.count(Status.OPEN), statuses.count(Status.CHANGED)
    waiting = f"{n_open:,} open" + (f", {n_changed:,} changed since" if n_changed else "")
    return f"{counted(len(statuses), 'disagreement')}, {waiting}: pooler adjudicate --list"


def _size(pool: StoredPool) -> str:
    """Say how many documents a pool has to judge, and of how many an adaptive one draws them."""
    if pool.budget is None:
        return counted(pool.pairs, "pair")
    return f"{pool.pairs:,} of {pool.budget:,} drawn"


def grade_heading(grade: Grade) -> str:
    """Name a grade in a narrow column: its value, or the letter that the judges know it by."""
    return grade.key.upper() if grade.key.isalpha() else str(grade.value)


def _sum(first: Counts, second: Counts) -> Counts:
    """Add the counts of two topics."""
    from store.records import Counts

    grades = {**first.by_grade}
    for value, count in second.by_grade.items():
        grades[value] = grades.get(value, 0) + count
    return Counts(
        pooled=first.pooled + second.pooled,
        judged=first.judged + second.judged,
        skipped=first.skipped + second.skipped,
        cannot=first.cannot + second.cannot,
        outside=first.outside + second.outside,
        by_grade=grades,
    )


_WITHOUT_GRADE = {
    "skipped": ("/", "skipped"),
    "cannot": ("!", "cannot be judged"),
    "unjudged": (".", "unjudged"),
}
"""By column: a character, and what it stands for."""
_MOST_GRADES = 12
"""Scales of more grades have one fill for all."""
_JUDGED = ("#", "judged")


def status_lines(table: Table, scale: Scale, *, width: int) -> list[str]:
    """Draw a bar for every row of the table of progress.

    Parameters
    ----------
    table : Table
        Of `pooler.cli.judge.status.progress_tables`; with rows.
    scale : Scale
        The declared grades.
    width : int
        Columns of a terminal.

    Returns
    -------
    list of str
        Of several judges by topic the bars of each judge stand together.
    """
    by_topic = any(column.name == "topic" for column in table.columns)
    parts = {**_grade_fills(scale), **_WITHOUT_GRADE}
    columns = [_columns(name, scale) for name in parts]
    judges = list(dict.fromkeys(str(row["judge"]) for row in table.rows))
    stacks = [
        Stack(
            label=sanitise_line(str(row["topic"] if by_topic else judge)),
            parts=[sum(_count(row, name) for name in names) for names in columns],
            notes=[_written_count(row["judged"]), _written_count(row["pooled"])],
            group=sanitise_line(judge) if by_topic and len(judges) > 1 else "",
        )
        for judge in judges
        for row in table.rows
        if row["judge"] == judge
    ]
    title = "What became of the documents"
    if any(_count(row, "outside") for row in table.rows):
        title += ", those judged outside among them"
    return plot_stacks(
        stacks, list(parts.values()), title=title, heading="topic" if by_topic else "judge",
        headings=("judged", "pooled"), width=width,
    )  # fmt: skip


def _grade_fills(scale: Scale) -> dict[str, tuple[str, str]]:
    """Choose a character for every grade: as its column is called, else its key, else a letter."""
    if len(scale.grades) > _MOST_GRADES:
        return {"judged": _JUDGED}
    taken = {character for character, _ in _WITHOUT_GRADE.values()}
    fills = {}
    for grade in scale.grades:
        heading = grade_heading(grade)
        character = next(
            one
            for one in (heading, grade.key, *ascii_letters)
            if len(one) == 1 and "!" <= one <= "~" and one not in taken
        )
        taken.add(character)
        words = grade.label if character == heading else f"{heading} {grade.label}"
        fills[f"grade_{grade.value}"] = character, sanitise_line(words)
    return fills


def _columns(name: str, scale: Scale) -> list[str]:
    """Return the columns that a part is the sum of."""
    return [f"grade_{value}" for value in scale.values] if name == "judged" else [name]


def _count(row: Mapping[str, Cell], name: str) -> int:
    """Return a count; 0 where an adjudicator owes nothing."""
    cell = row[name]
    return cell if isinstance(cell, int) else 0


def _written_count(cell: Cell) -> str:
    """Write a count as the table does."""
    return f"{cell:,}" if isinstance(cell, int) else "-"
