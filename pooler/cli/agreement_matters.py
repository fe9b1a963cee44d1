"""`pooler agreement --matters`: whether disagreement changes the order of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.console import Cell, Column, Table, counted

if TYPE_CHECKING:
    from store.analysis.judge_order import JudgeOrder
    from store.analysis.populations import PopulationVotes
    from store.arrays import RankedDocuments

SHOWN = 10
"""Pairs of runs, and of judges when there are too many, that people are shown."""
MOST_JUDGES = 5
"""Judges with a column of their own."""


def judge_order_of(
    population: PopulationVotes,
    ranked: RankedDocuments,
    *,
    level_index: int,
    cutoff: int,
    mixtures: int,
    seed: int,
) -> JudgeOrder:
    """Order the runs by MAP under every judge and under mixtures of them."""
    from store.analysis.judge_order import judge_order
    from store.analysis.judge_scores import judge_average_precisions

    scores = judge_average_precisions(
        population.votes,
        population.document_numbers,
        ranked.tags,
        ranked.rankings,
        level_index=level_index,
        cutoff=cutoff,
    )
    return judge_order(scores, seed=seed, mixtures=mixtures)


def matters_tables(
    order: JudgeOrder, judges: tuple[str, ...], tags: tuple[str, ...]
) -> list[Table]:
    """Make the tables of run orders: runs, pairs of judges, mixtures, runs that change places."""
    return [_run_table(order, judges, tags), _pair_table(order, judges), _mixture_table(order),
            _swap_table(order, tags)]  # fmt: skip


def matters_for_people(
    tables: list[Table], order: JudgeOrder, level: int, seed: int
) -> list[Table]:
    """Explain the tables, and leave out what nobody needs to see."""
    runs, pairs, mixtures, swaps = tables
    n_topics = len(order.topics)
    runs.title = f"MAP of the runs under each judge's judgements, relevant = grade {level} or more"
    runs.caption = f"{n_topics} topics with a score under every judge"
    if order.n_left_out:
        runs.caption += f"; {order.n_left_out} others left out"
    pairs.title = "Are the runs in the same order?"
    pairs.caption = (
        "tau: 1 = the same order of runs, -1 = the reverse. tau_AP: the same, more for the top.\n"
        "swapped: pairs of runs in opposite order."
    )
    if len(order.judges) > MOST_JUDGES:
        runs.columns = [
            column for column in runs.columns if not column.name.startswith("map_judge")
        ]
        runs.caption += "; mean, and lowest and highest of the mixtures"
        pairs.rows.sort(key=lambda row: 1.0 if row["tau"] is None else float(row["tau"]))
        pairs.caption += f"\nThe {SHOWN} lowest tau of {counted(len(pairs.rows), 'pair')}."
        pairs.rows = pairs.rows[:SHOWN]
    if not any(row["reason"] for row in pairs.rows):
        pairs.columns = pairs.columns[:-1]
    shown = [runs, pairs]
    mixed = order.mixtures
    if mixed.reason is not None:
        pairs.caption += f"\nNo mixtures of judges: {mixed.reason}."
        return shown
    mixtures.columns = mixtures.columns[:-3]
    mixtures.title = "Order of the runs when the judge of each topic is drawn at random"
    mixtures.caption = (
        f"{mixed.n_mixtures:,} mixtures, seed {seed}, each compared with the mean of the judges.\n"
        "low, high: 95 % of the mixtures lie between."
    )
    shown.append(mixtures)
    if swaps.rows:
        n_more = len(swaps.rows) - SHOWN
        swaps.title = "Runs that change places"
        swaps.caption = "mixtures: share of them in which the worse run comes out above the better."
        swaps.caption += f"\n{counted(n_more, 'more pair')} of runs do." if n_more > 0 else ""
        swaps.rows = swaps.rows[:SHOWN]
        shown.append(swaps)
    else:
        mixtures.caption += "\nNo two runs change places in more than a few of them."
    return shown


def _run_table(order: JudgeOrder, judges: tuple[str, ...], tags: tuple[str, ...]) -> Table:
    """One row a run and judge would be long: one column a judge."""
    columns = [Column("run"), *(Column(f"map_judge_{judge}", judge, 3) for judge in judges),
               Column("map_mean", "mean", 3), Column("map_low", "lowest", 3),
               Column("map_high", "highest", 3)]  # fmt: skip
    table = Table("run_scores", columns)
    mixed = order.mixtures
    for place, tag in enumerate(tags):
        row: dict[str, Cell] = {"run": tag}
        for judge, of_judge in zip(judges, order.judges, strict=True):
            row[f"map_judge_{judge}"] = None if of_judge.scores is None else of_judge.scores[place]
        for name, scores in (("map_mean", mixed.reference), ("map_low", mixed.lowest),
                             ("map_high", mixed.highest)):  # fmt: skip
            row[name] = None if scores is None else scores[place]
        table.rows.append(row)
    table.rows.sort(key=lambda row: -float(row["map_mean"] or 0))
    return table


def _pair_table(order: JudgeOrder, judges: tuple[str, ...]) -> Table:
    """Compare the orders of every two judges."""
    columns = [Column("first"), Column("second"), Column("topics"), Column("tau", digits=3),
               Column("tau_ap", "tau_AP", 3), Column("tau_ap_reversed", "tau_AP back", 3),
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
               Column("reason")]  # fmt: skip
    table = Table("mixtures", columns)
    mixed = order.mixtures
    for name, spread in (("tau", mixed.tau), ("tau_ap", mixed.tau_ap)):
        row: dict[str, Cell] = {
            "coefficient": name, "mixtures": mixed.n_mixtures, "undefined": mixed.n_undefined,
            "reason": mixed.reason,
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
