"""The table of `pooler sensitivity --each`."""

from __future__ import annotations

from math import isnan

import numpy as np

from pooler.cli.agreement_words import legend
from pooler.cli.console import Column, Table, counted
from pooler.cli.sensitivity_runs import Docnos
from store.analysis.each_discovery import EachDiscovery
from store.analysis.judged_rankings import JudgedRankings


def each_table(
    arrays: JudgedRankings, result: EachDiscovery, docnos: Docnos, limit: int | None
) -> Table:
    """Make the table of documents, those that swap most pairs of runs first."""
    columns = [
        Column("topic"), Column("docno", most=30), Column("runs"), Column("best_rank", "best rank"),
        Column("best_run", "in run", most=20), Column("up", "MAP up"), Column("down", "down"),
        Column("tau_b", "tau-b"), Column("swapped"),
    ]  # fmt: skip
    order = result.order()[:limit]
    table = Table("each", columns)
    for place in order.tolist():
        run, topic = int(result.best_run[place]), int(result.topic[place])
        tau = float(result.tau_b[place])
        rank = int(result.best_rank[place])
        table.rows.append({
            "topic": arrays.topics[topic], "docno": docnos.at(run, topic, rank - 1),
            "runs": int(result.n_runs_with[place]), "best_rank": rank,
            "best_run": arrays.tags[run], "up": float(result.up[place]),
            "down": float(result.down[place]), "tau_b": None if isnan(tau) else tau,
            "swapped": int(result.n_swapped[place]),
        })  # fmt: skip
    n_runs = int((~np.isnan(result.map_before)).sum())
    n_pairs = n_runs * (n_runs - 1) // 2
    n_all, n_swapping = result.code.size, int((result.n_swapped > 0).sum())
    shown = f"the first {len(order):,} of " if len(order) < n_all else ""
    most = int(result.n_swapped.max()) if n_all else 0
    words = [
        "Each unjudged document, inside and below the pool, turned relevant alone in every run"
        f" that retrieved it: {shown}{counted(n_all, 'document')}, those that swap most pairs of"
        " runs first.",
        "runs: how many retrieved it; best rank, in run: the highest it has, and where. MAP up,"
        " down: the largest rise and fall of a run's MAP. tau-b: the order of all runs after it"
        " against the order as judged, 1 = the same; swapped: pairs of runs that change places.",
        f"{n_swapping:,} of {counted(n_all, 'document')} swap a pair of runs or more; none swaps"
        f" more than {most:,} of {counted(n_pairs, 'pair')}." if n_pairs and most else
        "None swaps a pair of runs." if n_pairs and n_all else "",
    ]  # fmt: skip
    if result.n_undefined:
        words.append(
            f"{counted(result.n_undefined, 'document')} of topics without a relevant document move"
            " no MAP and are not shown."
        )
    table.caption = legend(words)
    return table
