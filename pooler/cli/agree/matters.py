"""`pooler agreement --matters`: whether disagreement changes the order of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pooler.cli.console import emit
from pooler.results.agree.people import legend, population_line
from pooler.results.printed import Cell, Column, Format, Table
from pooler.telling import warn
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pooler.results.agree.settings import Asked
    from store.analysis.agreement.matters import JudgeOrder
    from store.analysis.agreement.populations import PopulationVotes
    from store.analysis.arrays import RankedDocuments

SHOWN = 10
"""Pairs of runs, and of judges when there are too many, that people are shown."""
MOST_JUDGES = 4
"""Judges with a column of their own."""
MOST_NAMED = 5
"""Judges whose missing topics are told."""
MIXED_COLUMNS = ("map_mean", "map_low", "map_high")

CODES = {
    "one-judge": "there is one judge only",
    "fewer-than-two": "there are fewer than two runs",
    "no-common-topics": "no topic has a score under two of the judges",
    "all-tied": "all runs have the same score",
}


def show_matters(
    votes: PopulationVotes, ranked: RankedDocuments, asked: Asked, fmt: Format, *, cutoff: int, mixtures: int
) -> None:
    """Compare the order of the runs under different judges and show it.

    Raises
    ------
    PoolerError
        If there is no run.
    ArgumentError
        If documents that nobody listed are to be relevant.
    """
    if not ranked.tags:
        message = "there is no run in the collection"
        raise PoolerError(message, hint="pooler import runs")
    [cut], judges = asked.level_indices, votes.votes.judges
    if votes.default is not None and votes.default >= cut and votes.blanks.any():
        # Documents that nobody listed are a number here, and no ranking can be looked up in it.
        requirement = f"must not be relevant with --matters and --population {votes.population}"
        raise ArgumentError("--unlisted-as", requirement, asked.scale.values[votes.default])
    found = judge_order_of(votes, ranked, level_index=cut, cutoff=cutoff,
                           mixtures=mixtures, seed=asked.seed)  # fmt: skip
    made = matters_tables(found, judges, ranked.tags)
    if lacking := missing_topics(found, judges, votes):
        warn(lacking)
    if fmt is Format.TABLE:
        made = matters_for_people(made, found, asked.levels[0], asked.seed, votes)
    emit(made, fmt)


def judge_order_of(
    population: PopulationVotes,
    ranked: RankedDocuments,
    *,
    level_index: int,
    cutoff: int,
    mixtures: int,
    seed: int,
) -> JudgeOrder:
    """Order the runs by MAP under every judge and under mixtures of them.

    Over topics with a score under every judge; where there is none, over those with a score under
    two, with mixtures of those who have one. Topics nobody has a score for do not count.
    """
    from store.analysis.agreement.matters import judge_average_precisions, judge_order

    scores = judge_average_precisions(
        population.votes,
        population.document_numbers,
        ranked.tags,
        ranked.rankings,
        level_index=level_index,
        cutoff=cutoff,
    )
    scores = scores[np.any(~np.isnan(scores), axis=(1, 2))]
    found = judge_order(scores, seed=seed, mixtures=mixtures)
    if not found.topics and len(found.judges) > 2:
        with_two = judge_order(scores, seed=seed, mixtures=mixtures, min_judges=2)
        return with_two if with_two.topics else found
    return found


def is_partial(order: JudgeOrder) -> bool:
    """Tell whether some judges have no score for some of the topics that are used."""
    return order.min_judges < len(order.judges)


def missing_topics(order: JudgeOrder, judges: Sequence[str], population: PopulationVotes) -> str | None:
    """Say which judges lack topics, and what to do; ``None`` when most topics have all scores."""
    used, left_out = len(order.topics), order.n_left_out
    if used > left_out and not is_partial(order):
        return None
    total = used + left_out
    if total == 0:
        if population.n_documents == 0:
            return "the judges share no document, so no run has a score; name others, who do"
        return "no judge found a relevant document, so no run has a score"
    number = 0 if is_partial(order) else used
    words = f"{number} of {counted(total, 'topic')} {'has' if number == 1 else 'have'}"
    words = f"{words if number else 'no topic has'} a score under every judge"
    lacking = sorted(
        ((total - scored, name) for scored, name in zip(order.n_scored, judges, strict=True)),
        key=lambda pair: -pair[0],
    )
    named = [f"{name} lacks {number}" for number, name in lacking if number]
    if named:
        n_more = len(named) - MOST_NAMED
        more = f" and {counted(n_more, 'more judge')} some" if n_more > 0 else ""
        words += f" (nothing judged or nothing relevant: {', '.join(named[:MOST_NAMED])}{more})"
    if is_partial(order):
        words += f"; so {counted(used, 'topic')} with a score under two judges or more"
        words += " is used" if used == 1 else " are used"
    if len(judges) == 2 or used == 0:
        return f"{words}; let them judge the same topics"
    if is_partial(order):
        pair = max(order.pairs, key=lambda pair: pair.n_topics)
        best = [judges[pair.first], judges[pair.second]]
    else:
        most = lacking[0][0]
        best = [name for number, name in lacking if number < most]
        best = sorted(best if len(best) > 1 else [name for _, name in lacking[-2:]])
    example = " ".join(best)
    return f"{words}; name judges of the same topics, as in: pooler agreement {example} --matters"


def matters_tables(order: JudgeOrder, judges: tuple[str, ...], tags: tuple[str, ...]) -> list[Table]:
    """Make the tables of run orders: runs, pairs of judges, mixtures, runs that change places."""
    return [_run_table(order, judges, tags), _pair_table(order, judges), _mixture_table(order),
            _swap_table(order, tags)]  # fmt: skip


def matters_for_people(
    tables: list[Table], order: JudgeOrder, level: int, seed: int, population: PopulationVotes
) -> list[Table]:
    """Explain the tables, and leave out what nobody needs to see."""
    runs, pairs, mixtures, swaps = tables
    mixed = order.mixtures
    n_topics = len(order.topics)
    runs.title = f"MAP of the runs under each judge's judgements, relevant = grade {level} or more"
    who = "two judges or more" if is_partial(order) else "every judge"
    lines = [f"{counted(n_topics, 'topic')} with a score under {who}"
             f"{f'; {order.n_left_out} others left out' if order.n_left_out else ''}."]  # fmt: skip
    hidden: list[str] = []
    if is_partial(order) or len(order.judges) > MOST_JUDGES:
        hidden += [column.name for column in runs.columns if column.name.startswith("map_judge")]
    if is_partial(order):
        lines.append("No columns of judges: their topics differ.")
    if mixed.reason is None:
        lines.append("mean: of the judges' scores. mix min, mix max: least and greatest MAP in the"
                     " mixtures of judges below.")  # fmt: skip
    else:
        hidden += MIXED_COLUMNS
    runs.columns = [column for column in runs.columns if column.name not in hidden]
    runs.caption = legend([*lines, population_line(population)])
    pairs.title = "Are the runs in the same order?"
    lines = [
        "tau: 1 = the same order of runs, -1 = the reverse. tau_AP: the same, more for the top,"
        " with the second judge's order taken as the true one; back: tau_AP with the first's.",
        "swapped: pairs of runs in opposite order.",
    ]
    if len(order.judges) > MOST_JUDGES and len(pairs.rows) > SHOWN:
        pairs.rows.sort(key=lambda row: 1.0 if row["tau"] is None else float(row["tau"]))
        lines.append(f"The {SHOWN} lowest tau of {counted(len(pairs.rows), 'pair')}.")
        pairs.rows = pairs.rows[:SHOWN]
    reasons = {str(row["reason"]) for row in pairs.rows if row["reason"]}
    if not reasons:
        pairs.columns = pairs.columns[:-1]
    lines += [f"{code}: {CODES[code]}." for code in CODES if code in reasons]
    shown = [runs, pairs] if n_topics else [pairs]
    if mixed.reason is not None:
        lines.append(f"No mixtures of judges: {CODES[mixed.reason]}.")
    pairs.caption = legend(lines)
    if mixed.reason is not None:
        return shown
    mixtures.columns = mixtures.columns[:7]
    mixtures.rows = [
        {**row, "coefficient": str(row["coefficient"]).replace("tau_ap", "tau_AP")} for row in mixtures.rows
    ]
    mixtures.title = "Order of the runs when the judge of each topic is drawn at random"
    lines = [f"{mixed.n_mixtures:,} mixtures, seed {seed}, each compared with the order by mean.",
             "least, greatest: of all mixtures; low, high: 95 % of them lie between."]  # fmt: skip
    shown.append(mixtures)
    if swaps.rows:
        n_more = len(swaps.rows) - SHOWN
        swaps.title = "Runs that change places"
        swaps.caption = legend([
            "mixtures: share of them in which the worse run comes out above the better.",
            f"{counted(n_more, 'more pair')} of runs {'does' if n_more == 1 else 'do'}."
            if n_more > 0 else "",
        ])  # fmt: skip
        swaps.rows = swaps.rows[:SHOWN]
        shown.append(swaps)
    else:
        lines.append("No two runs change places in more than a few of them.")
    mixtures.caption = legend(lines)
    return shown


def _run_table(order: JudgeOrder, judges: tuple[str, ...], tags: tuple[str, ...]) -> Table:
    """One row a run and judge would be long: one column a judge."""
    columns = [Column("run"), *(Column(f"map_judge_{judge}", judge, 3) for judge in judges),
               Column("map_mean", "mean", 3), Column("map_low", "mix min", 3),
               Column("map_high", "mix max", 3)]  # fmt: skip
    table = Table("run_scores", columns)
    mixed = order.mixtures
    for place, tag in enumerate(tags):
        row: dict[str, Cell] = {"run": tag}
        for judge, of_judge in zip(judges, order.judges, strict=True):
            scores = None if is_partial(order) else of_judge.scores  # means of other topics
            row[f"map_judge_{judge}"] = None if scores is None else scores[place]
        for name, scores in (("map_mean", mixed.reference), ("map_low", mixed.lowest),
                             ("map_high", mixed.highest)):  # fmt: skip
            row[name] = None if scores is None else scores[place]
        table.rows.append(row)
    table.rows.sort(key=lambda row: -float(row["map_mean"] or 0))
    return table


def _pair_table(order: JudgeOrder, judges: tuple[str, ...]) -> Table:
    """Compare the orders of every two judges."""
    columns = [Column("first"), Column("second"), Column("topics"), Column("tau", digits=3),
               Column("tau_ap", "tau_AP", 3), Column("tau_ap_reversed", "back", 3),
               Column("swapped"), Column("reason")]  # fmt: skip
    table = Table("order_pairs", columns)
    for pair in order.pairs:
        table.rows.append({
            "first": judges[pair.first], "second": judges[pair.second], "topics": pair.n_topics,
            "tau": pair.tau.tau, "tau_ap": pair.tau_ap.tau,
            "tau_ap_reversed": pair.tau_ap_reversed.tau, "swapped": pair.n_swapped,
            "reason": pair.tau.reason,
        })  # fmt: skip
    return table


def _mixture_table(order: JudgeOrder) -> Table:
    """Describe the correlations of the mixtures with their reference."""
    columns = [Column("coefficient"), Column("mean", digits=3), Column("least", digits=3),
               Column("low", digits=3), Column("median", digits=3), Column("high", digits=3),
               Column("greatest", digits=3), Column("mixtures"), Column("undefined"),
               Column("topics"), Column("left_out"), Column("min_judges"),
               Column("reason")]  # fmt: skip
    table = Table("mixtures", columns)
    mixed = order.mixtures
    for name, spread in (("tau", mixed.tau), ("tau_ap", mixed.tau_ap)):
        row: dict[str, Cell] = {
            "coefficient": name, "mixtures": mixed.n_mixtures, "undefined": mixed.n_undefined,
            "topics": mixed.n_topics, "left_out": order.n_left_out,
            "min_judges": order.min_judges, "reason": mixed.reason,
        }  # fmt: skip
        if spread is not None:
            row |= {"mean": spread.mean, "least": spread.least, "greatest": spread.greatest}
            row |= {"low": spread.quantiles[0], "median": spread.quantiles[2],
                    "high": spread.quantiles[-1]}  # fmt: skip
        table.rows.append(row)
    return table


def _swap_table(order: JudgeOrder, tags: tuple[str, ...]) -> Table:
    """List pairs of runs that change places."""
    columns = [Column("better"), Column("worse"), Column("share", "mixtures", 3),
               Column("difference", "MAP apart", 4)]  # fmt: skip
    table = Table("swaps", columns)
    for swap in order.mixtures.swaps:
        table.rows.append({"better": tags[swap.better], "worse": tags[swap.worse],
                           "share": swap.share, "difference": swap.difference})  # fmt: skip
    return table
