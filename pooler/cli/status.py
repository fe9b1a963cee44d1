"""`pooler status`: how far judging has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import Cell, Column, Format, Table, counted, emit
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption

if TYPE_CHECKING:
    from store.pools import StoredPool
    from store.records import Counts, Grade


def status(
    by_topic: Annotated[
        bool, typer.Option("--by-topic", help="One row a topic and judge.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show how far each judge has come.

    Pooled = in any pool not withdrawn. Judged documents outside every pool are counted apart.
    Unjudged, skipped, cannot be judged and grade 0 are four different things.

    Example: pooler status --by-topic
    """
    from store.collection import Collection
    from store.ranking import natural_key
    from store.records import Counts

    with Collection(collection) as opened:
        scale = opened.scale
        counts = opened.progress()
        pools = [pool for pool in opened.pools() if not pool.withdrawn]
        n_runs, n_topics = len(opened.runs()), len(opened.topics())
        missing, documents = opened.count_pooled_without_text()
        where, name = opened.where, opened.name
    if not by_topic:
        totals: dict[tuple[str, str], Counts] = {}
        for (_, judge), one in counts.items():
            totals["", judge] = _sum(totals.get(("", judge), Counts()), one)
        counts = totals
    columns = [Column("topic")] if by_topic else []
    columns += [Column("judge"), Column("pooled"), Column("judged"), Column("unjudged")]
    columns += [Column("skipped"), Column("cannot"), Column("outside")]
    columns += [Column(f"grade_{grade.value}", _heading(grade)) for grade in scale.grades]
    table = Table("status", columns, title=f"{name} ({where})")
    for (topic, judge), one in sorted(
        counts.items(), key=lambda item: (natural_key(item[0][0]), item[0][1])
    ):
        row: dict[str, Cell] = {
            "topic": topic,
            "judge": judge,
            "pooled": one.pooled,
            "judged": one.judged,
        }
        row |= {"unjudged": one.unjudged, "skipped": one.skipped, "cannot": one.cannot}
        row |= {"outside": one.outside}
        row |= {f"grade_{value}": one.by_grade[value] for value in scale.values}
        table.rows.append(row)
    listed = ", ".join(f"{pool.name} ({_size(pool)})" for pool in pools) or "none"
    lines = [f"{counted(n_topics, 'topic')}, {counted(n_runs, 'run')}; pools: {listed}"]
    if table.rows:
        words = ", ".join(f"{_heading(grade)} {grade.label}" for grade in scale.grades)
        lines.append(f"grades: {words}")
    if any(one.outside for one in counts.values()):
        lines.append("outside: judged, but in no pool")
    if missing:
        lines.append(f"{missing:,} of {documents:,} pooled documents have no text:"
                     " pooler import docs FILE")  # fmt: skip
    if not table.rows:
        lines.append("no judges yet: pooler judges add NAME")
    table.caption = "\n".join(lines)
    emit([table], fmt)


def _size(pool: StoredPool) -> str:
    """Say how many documents a pool has to judge, and of how many an adaptive one draws them."""
    if pool.budget is None:
        return counted(pool.pairs, "pair")
    return f"{pool.pairs:,} of {pool.budget:,} drawn"


def _heading(grade: Grade) -> str:
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
