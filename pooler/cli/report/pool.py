"""Parts of a report on the pool: what it is, what it missed, and what it owes to its runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pooler.cli.report.figures import Row, bars, dots, facts_table, in_order, lines, number, page_table
from pooler.cli.report.material import JUDGED_AT, Material
from pooler.report.drawing import Axis
from pooler.report.page import Figure, PageTable, Section
from pooler.results.measure.conclusions import REASONS
from pooler.results.measure.diagnose import (
    SIBLINGS_FALL,
    chosen_left,
    facts,
    has_siblings,
    ranks_table,
    runs_table,
    topics_table,
)
from pooler.results.printed import explained, printed

if TYPE_CHECKING:
    from store.analysis.pools.diagnosis import Diagnosis

_OF_POOLS = ("pool", "strategy", "depth", "budget", "topics", "documents", "judged", "unjudged",
             "runs", "withdrawn")  # fmt: skip
_RARE = ("withdrawn", "disabled", "budget")
"""Columns that are shown where they say something."""
MOST_TOPICS = 100
"""Topics that are drawn; the table has all."""
_OF_JUDGES = ("judge", "kind", "disabled", "topics", "judged", "cannot", "skipped", "relevant")


def what_it_is(material: Material) -> Section:
    """Show the facts of the collection: its pools, its judges, and what is measured."""
    commands, found = material.commands, material.diagnosis
    known = facts(found, chosen_left(found))
    said = explained(known)
    if found.reason is not None:
        # Why a guess came to nothing stands in the summary, at length.
        said.append(f"{found.reason}: {REASONS.get(found.reason, 'other runs or ranks made the pool')}")
    blocks: list[str | PageTable | Figure] = [
        facts_table(
            known,
            caption=". ".join(["Runs and judgements that this report is of", *said]),
            command=commands.of_runs("diagnose", *material.own_depth),
        )
    ]
    if material.stored is None:
        blocks.insert(0, f"Relevant = grade {material.judged.level} or more.")
    else:
        blocks.insert(0, f"{material.stored.grades} relevant = grade {material.stored.level} or more.")
        for table, names, caption, what in (
            (material.stored.pools, _OF_POOLS, "Pools, withdrawn ones too", "pools"),
            (material.stored.judges, _OF_JUDGES, "Judges", "judges"),
        ):
            if table.rows:
                command = commands.of_collection("list", what)
                said = [one for one in names if one not in _RARE
                        or any(row[one] for row in table.rows)]  # fmt: skip
                blocks.append(page_table(table, caption=caption, names=said, command=command))
    return Section("What it is", tuple(blocks))


def pool(material: Material) -> Section:
    """Show the size of the pool by topic, what is judged of it, and what each rank brought."""
    return Section("The pool", tuple(_pool(material)))


def _pool(material: Material) -> Iterator[str | Figure]:
    """Yield the figures of the pool."""
    found, commands = material.diagnosis, material.commands
    by_topic = printed(topics_table(found))
    if found.pool is not None:
        title = "Documents of the pool, topic by topic"
        parts = {
            "pool_relevant": "relevant",
            "pool_not_relevant": "judged not relevant",
            "pool_unjudged": "unjudged",
        }
        drawn, which = by_topic, ""
        if len(by_topic.rows) > MOST_TOPICS:
            rows = sorted(by_topic.rows, key=lambda row: -number(row, "pool_unjudged"))
            drawn = replace(by_topic, rows=rows[:MOST_TOPICS])
            which = f" Of {len(rows):,} topics the {MOST_TOPICS} with the most unjudged ones are drawn."
        yield Figure(
            title,
            "A bar is the pool of a topic; its last part is what nobody has judged yet, and without"
            f" a first part a topic has no relevant document.{which}",
            bars(drawn, parts, title=title, axis=Axis("documents"),
                 label=lambda row: str(row["topic"]), is_stacked=True),
            page_table(by_topic),
            commands.of_runs("diagnose", "--by-topic", *material.own_depth),
        )  # fmt: skip
    by_rank = printed(ranks_table(found))
    command = commands.of_runs("diagnose", "--by-rank", *material.own_depth)
    title = "Unjudged documents, rank by rank"
    depth = "" if found.pool is None else f" Rank {found.pool.depth:,} was the last of the pool."
    yield Figure(
        title,
        "The share of the runs' documents at each rank that nobody judged: runs that fed the pool"
        f" have few down to its depth, other runs more.{depth}",
        lines(by_rank, "rank", {"share_unjudged": "unjudged"}, title=title, x_axis=Axis("rank"),
              y_axis=Axis("share of the runs' documents that are unjudged", 0, 1)),
        page_table(by_rank),
        command,
    )  # fmt: skip
    if found.pool is not None:
        title = "Relevant documents by the rank that first found them"
        pooled = replace(by_rank, rows=by_rank.rows[: found.pool.depth])
        yield Figure(
            title,
            "Where the lowest line is still above 0 at the last rank of the pool, a deeper pool"
            " would probably have found more; ranks below it were not pooled and are left out.",
            lines(
                pooled, "rank",
                {"entering": "new documents", "entering_judged": "of them judged",
                 "entering_relevant": "of them relevant"},
                title=title, x_axis=Axis("rank"), y_axis=Axis("documents that no rank above had"),
            ),
            page_table(pooled),
            command,
        )  # fmt: skip


def contributions(material: Material) -> Section | None:
    """Show what each run alone brought, and what it would lose had it come late."""
    found, commands = material.diagnosis, material.commands
    if found.pool is None:
        return None
    blocks: list[str | Figure] = []
    siblings = has_siblings(found.pool)
    for by_group in (True, False) if siblings else (False,):
        left = chosen_left(found, by_group=by_group)
        every = printed(runs_table(found, left, material.judged.groups, JUDGED_AT))
        table = in_order(every, "run", material.order)
        table.rows = [row for row in table.rows if row["contributes"]]
        table.rows = _with_reasons(table.rows, found)
        place = SIBLINGS_FALL if by_group else ""
        who, of_whom = ("its group", "a run's group") if by_group else ("it", "a run")
        caption = (
            f"unique, relevant: documents, and relevant ones, that no other"
            f" {'group' if by_group else 'run'} brought to the pool; ap left out, change: AP had"
            f" they not been judged; rank, late: the place among all runs, and then{place}; tau:"
            " the order of all runs then, with that now."
        )
        option = ("--by-run",) if siblings and not by_group else ()
        command = commands.of_runs("diagnose", *option, *material.own_depth)
        names = ("run", "group", "unique", "unique_relevant", "ap", "ap_left_out", "change", "rank",
                 "rank_left_out", "tau")  # fmt: skip
        title = f"Documents that {of_whom} alone brought"
        late_title = "Change of MAP had the run come late"
        if by_group:
            late_title += ", with its whole group"
        elif siblings:
            late_title += ", alone"
        blocks += [
            Figure(
                title,
                f"How many documents the pool owes to {of_whom} alone; the second bar counts the"
                " relevant ones among them.",
                bars(table, {"unique": "unique", "unique_relevant": "relevant"}, title=title,
                     axis=Axis("documents"), label=_run),
                page_table(table, names=names, caption=caption),
                command,
            ),
            Figure(
                late_title,
                f"How far the run's MAP falls without the documents that {who} alone brought. A"
                " run that comes later, and is as unlike the others, loses as much.",
                bars(table, {"change": "change"}, title=late_title, axis=Axis("change of MAP"),
                     label=_run),
                page_table(table, names=names, caption=caption),
                command,
            ),
        ]  # fmt: skip
    return Section("What the pool owes to its runs", tuple(blocks))


def limits(material: Material) -> Figure:
    """Show between what limits each run's MAP lies."""
    found = material.diagnosis
    every = printed(runs_table(found, chosen_left(found), material.judged.groups, JUDGED_AT))
    table = in_order(every, "run", material.order)
    table.rows = _with_reasons(table.rows, found)
    title = "MAP between its limits"
    return Figure(
        title,
        "The dot is MAP with unjudged documents taken for not relevant; the line goes from the"
        " least to the most that it could be, whatever those of the run's own list are. It is no"
        " confidence interval: the topics stay the same.",
        dots(table, "ap", ("low", "high"), title=title, axis=Axis("MAP", with_zero=False),
             label=_run),
        page_table(
            table,
            names=("run", "judged", "ap", "bpref", "condensed", "low", "high"),
            interval=("ap", "low", "high"),
            caption=f"judged@{JUDGED_AT}: share of the first {JUDGED_AT} documents that are judged;"
            " bpref: of the judged documents alone, by how they are ordered; judged AP: AP of the"
            " judged documents alone; low, high: the least and the most that AP could be.",
        ),
        material.commands.of_runs("diagnose", *material.own_depth),
    )  # fmt: skip


def other_pools(material: Material) -> list[str]:
    """Say which pools are no depth pools, as what is said of the pool looks at one."""
    stored = material.stored
    if stored is None or not stored.made_otherwise:
        return []
    depth = "" if material.depth is None else f" of depth {material.depth:,}"
    sampled = " `pooler estimate` scores runs by a sample." if stored.is_sampled else ""
    return [
        f"Pool {'; pool '.join(stored.made_otherwise)}: what is said of the pool here looks at a"
        f" depth pool{depth} of the same runs, which is not what was judged.{sampled}"
    ]


def _with_reasons(rows: Iterable[Row], found: Diagnosis) -> list[Row]:
    """Add to runs without an AP why they have none."""
    ap, tags = found.scores.ap, found.rankings.tags
    why = {tag: ap.reason(run, 0) for run, tag in enumerate(tags) if not ap.n_defined[run]}
    return [{**row, "reason": why.get(str(row["run"]))} for row in rows]


def _run(row: Row) -> str:
    """Name the row of a run."""
    return str(row["run"])
