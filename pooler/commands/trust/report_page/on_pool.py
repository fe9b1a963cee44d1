"""Parts of a report on the pool: what it is, what it missed, and what it owes to its runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pooler.commands.trust.conclusions import REASONS
from pooler.commands.trust.diagnose import (
    JUDGED_AT,
    SIBLINGS_FALL,
    chosen_left,
    facts,
    has_siblings,
    runs_table,
)
from pooler.commands.trust.report_page.material import Material
from pooler.pages.figures import HEADINGS, facts_table, figure, page_table
from pooler.pages.page import Figure, PageTable
from pooler.tables import Column, Plot, Table
from store.text import counted

FACT_WORDS = {
    "diagnosis": "runs and topics",
    "judged": "judged documents",
    "relevant": "relevant documents",
    "depth": "depth of the pool",
    "depth_known": "how the depth is known",
    "contributing_runs": "runs that fed the pool",
    "runs_known": "how these runs are known",
    "pool": "documents of the pool",
    "pool_judged": "judged documents of the pool",
    "pool_unjudged": "unjudged documents of the pool",
    "judged_outside_pool": "judged documents that are not in the pool",
    "left_out": "left out of the pool in turn",
    "unique": "documents that only one of these brought",
    "mean_change_left_out": "mean change of MAP of a run left out",
    "rank_changes_left_out": "places that runs move by being left out, added up",
    "rank_changes_significant": "places moved past runs whose scores differ significantly",
    "tau_all_left_out": "Kendall's tau of the orders of the runs before and after",
    "tau_ap_all_left_out": "tau_AP of these orders, where the first places weigh more",
    "newcomer_loses": "mean loss of MAP of a run left out (Webber and Park)",
    "unique_by_run": "documents that only one run brought",
    "mean_change_by_run": "mean change of MAP of a single run left out",
    "newcomer_loses_by_run": "mean loss of MAP of a single run left out",
    "relevant_to_twice_the_depth": "relevant documents from below the pool to twice its depth, a guess",
    "relevant_low": "the least of this guess",
    "relevant_high": "the most of this guess",
    "relevant_known_there": "relevant documents there that are known",
    "reason": "why there are no further conclusions",
}
"""What the facts of a diagnosis are."""
_COUNTED = ("topics", "documents", "judged", "unjudged", "runs")
_OF_POOLS = ("pool", "strategy", "depth", "budget", *_COUNTED, "withdrawn")
_RARE = ("withdrawn", "disabled", "budget")
"""Columns that are shown where they say something."""
MOST_TOPICS = 100
"""Topics that are drawn; the table has all."""
_OF_JUDGES = ("judge", "kind", "disabled", "topics", "judged", "cannot", "skipped", "relevant")
_LATE = ("ap", "ap_left_out", "change", "rank", "rank_left_out", "tau")
_OF_LATE_RUNS = ("run", "group", "unique", "unique_relevant", *_LATE)
_MISSED = ("relevant_to_twice_the_depth", "relevant_low", "relevant_high")
"""Of the facts, a guess and its limits."""


def what_it_is(material: Material) -> Iterator[str | PageTable]:
    """Show the facts of the collection: its pools, its judges, and what is measured."""
    commands, found, stored = material.commands, material.diagnosis.found, material.stored
    known = facts(found, material.diagnosis.left_out)
    if found.reason is not None:
        known["reason"] = REASONS.get(found.reason, "other runs or ranks made the pool")
    grades = f"Relevant = grade {material.judged.level} or more."
    if stored is not None:
        labels = ", ".join(f"{grade.value} {grade.label}" for grade in stored.scale.grades)
        grades = f"Grades: {labels}; relevant = grade {stored.level} or more."
    yield grades
    yield facts_table(
        known,
        FACT_WORDS,
        caption="Runs and judgements that this report is about",
        command=commands.of_runs("diagnose", *material.own_depth),
        interval=_MISSED,
    )
    if stored is not None:
        for table, names, caption, what in (
            (stored.pools, _OF_POOLS, "Pools, including withdrawn ones", "pools"),
            (stored.judges, _OF_JUDGES, "Judges", "judges"),
        ):
            if len(table):
                command = commands.of_collection("show", what)
                shown = [one for one in names if one not in _RARE or any(table.cells(one))]
                yield page_table(table, shown, caption=caption, command=command)


def pool(material: Material) -> Iterator[str | Figure]:
    """Show the size of the pool by topic, what is judged of it, and what each rank brought."""
    diagnosis, commands = material.diagnosis, material.commands
    depth_pool = diagnosis.found.pool
    if depth_pool is not None:
        by_topic = diagnosis.table("topics")
        pooled = f"{counted(len(by_topic), 'topic')}, {counted(depth_pool.n_pairs, 'document')} of the pool"
        drawn, which = by_topic, ""
        if len(by_topic) > MOST_TOPICS:
            drawn = by_topic.sort("pool_unjudged", descending=True).head(MOST_TOPICS)
            which = f" Of {len(by_topic):,} topics the {MOST_TOPICS} with the most unjudged ones are drawn."
        parts = {
            "pool_relevant": "relevant",
            "pool_not_relevant": "judged not relevant",
            "pool_unjudged": "unjudged",
        }
        yield figure(
            Plot(
                table=called(drawn, parts),
                kind="stacks",
                label="topic",
                parts=[*parts],
                axis="documents",
                title="Documents of the pool, topic by topic",
            ),
            "Each bar is the pool of a topic; its last part is unjudged, and a"
            f" topic without a first part has no relevant document.{which}",
            commands.of_runs("diagnose", "--by-topic", *material.own_depth),
            by_topic,
            n=pooled,
        )
    by_rank = replace(diagnosis.table("ranks"), notes=())
    n_runs = material.counted(counted(len(diagnosis.runs), "run"))
    command = commands.of_runs("diagnose", "--table", "ranks", *material.own_depth)
    last = "" if depth_pool is None else f" Rank {depth_pool.span} was the last of the pool."
    yield figure(
        Plot(
            table=called(by_rank, {"share_unjudged": "unjudged"}),
            kind="lines",
            label="rank",
            value="share_unjudged",
            axis="share of the runs' documents that are unjudged",
            ends=(0, 1),
            title="Unjudged documents, rank by rank",
        ),
        "The share of the runs' documents at each rank that are unjudged: runs that fed the pool"
        f" have few down to its depth, other runs more.{last}",
        command,
        by_rank,
        n=n_runs,
    )
    if depth_pool is not None:
        of_pool = by_rank.head(depth_pool.depth)
        parts = {
            "entering": "new documents",
            "entering_judged": "of them judged",
            "entering_relevant": "of them relevant",
        }
        yield figure(
            Plot(
                table=called(of_pool, parts),
                kind="lines",
                label="rank",
                parts=[*parts],
                ends=(0, None),
                axis="documents that no rank above had",
                title="Relevant documents by the rank that first found them",
            ),
            "Where the lowest line is still above 0 at the last rank of the pool, a deeper pool"
            " would probably have found more; ranks below it were not pooled and are left out.",
            command,
            of_pool,
            n=f"{counted(int(depth_pool.contributing.sum()), 'run')}, {pooled}",
        )


def contributions(material: Material) -> Iterator[Figure | str]:
    """Show what each run alone brought, and what it would lose had it come late."""
    found, commands = material.diagnosis.found, material.commands
    if found.pool is None:
        return
    siblings = has_siblings(found.pool)
    for by_group in (True, False) if siblings else (False,):
        table = runs_table(
            found, chosen_left(found, by="group" if by_group else "run"), material.judged.groups, JUDGED_AT
        )
        table = with_reasons(table, material)
        table = table.where([bool(fed) for fed in table.cells("contributes")])
        by_unique = table.sort("unique", descending=True)
        most, most_n = material.first(by_unique, "those that brought the most alone")
        late, late_n = material.first(table.sort("change"), "those that lose the most")
        place = SIBLINGS_FALL if by_group else ""
        who, of_whom = ("its group", "one group") if by_group else ("it", "one run")
        caption = (
            "brought alone, relevant among them: documents that no other"
            f" {('group' if by_group else 'run')} brought to the pool; AP if late, change: AP if they had"
            " not been judged; rank, rank if late: the run's place among all runs now, and without those"
            f" documents{place}; tau: between these two orders of all runs."
        )
        option = ("--by", "run") if siblings and not by_group else ()
        command = commands.of_runs("diagnose", *option, *material.own_depth)
        title = "Change of MAP had the run been submitted late"
        if siblings:
            title += ", with its whole group" if by_group else ", without its group"
        parts = {"unique": HEADINGS["unique"], "unique_relevant": HEADINGS["unique_relevant"]}
        yield figure(
            Plot(table=late, kind="bars", label="run", value="change", axis="change of MAP", title=title),
            f"How far the run's MAP falls without the documents that only {who} brought. A run that"
            " came later and differed as much from the others would lose as much.",
            command,
            table.sort("change"),
            _OF_LATE_RUNS,
            caption=caption,
            n=late_n,
        )
        yield figure(
            Plot(
                table=called(most, parts),
                kind="bars",
                label="run",
                parts=[*parts],
                axis="documents",
                title=f"Documents that only {of_whom} brought",
            ),
            f"How many documents the pool owes only to {of_whom}; the second bar counts the"
            " relevant ones among them.",
            command,
            by_unique,
            _OF_LATE_RUNS,
            caption=caption,
            n=most_n,
        )


def limits(material: Material) -> Figure | str:
    """Show between what limits each run's MAP lies."""
    table = with_reasons(material.diagnosis.table("runs"), material).sort("ap", descending=True)
    best, n = material.first(table, "the best")
    return figure(
        Plot(
            table=best,
            kind="dots",
            label="run",
            value="ap",
            low="low",
            high="high",
            axis="MAP",
            title="MAP between its limits",
        ),
        "The dot is MAP with unjudged documents counted as not relevant; the line goes from the lowest to"
        " the highest that it could be, depending on the unjudged documents of the run's own list. It is"
        " not a confidence interval: the topics stay the same.",
        material.commands.of_runs("diagnose", *material.own_depth),
        table,
        ("run", "judged", "ap", "bpref", "condensed", "low", "high"),
        n=n,
        caption=f"judged@{JUDGED_AT}: share of the first {JUDGED_AT} documents that are judged; bpref:"
        " from the order of the judged documents only; judged AP: AP of the judged documents"
        " only; low, high: the lowest and the highest that AP could be.",
    )


def other_pools(material: Material) -> list[str]:
    """Return which pools are no depth pools, as the conclusions look at one."""
    stored = material.stored
    if stored is None or not stored.made_otherwise:
        return []
    pool = material.diagnosis.found.pool
    depth = "" if pool is None else f" of depth {pool.span}"
    sampled = " `pooler evaluate -m xinfAP -m statAP` scores runs from a sample." if stored.is_sampled else ""
    return [
        f"Pool {'; pool '.join(stored.made_otherwise)}. This report looks at a depth pool{depth} of"
        f" the same runs instead.{sampled}"
    ]


def called(table: Table, headings: dict[str, str]) -> Table:
    """Return a table with other headings, as the parts of a plot are called."""
    columns = [replace(one, heading=headings.get(one.name, one.heading)) for one in table.columns]
    return replace(table, columns=columns)


def with_reasons(table: Table, material: Material) -> Table:
    """Add to the table of runs why some have no AP."""
    ap, tags = material.diagnosis.found.scores.ap, material.diagnosis.runs
    why = {tag: ap.reason(run, 0) for run, tag in enumerate(tags) if not ap.n_defined[run]}
    reasons = [why.get(str(run)) for run in table.cells("run")]
    return replace(table, columns=[*table.columns, Column("reason")], data={**table.data, "reason": reasons})
