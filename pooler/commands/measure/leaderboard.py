"""The order of runs by our measures beside that of a leaderboard: scores that another program gave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from pooler.messages import warn
from pooler.reading.results import tag_of
from pooler.sources.meeting import Ids, no_meeting
from pooler.tables import REASON, Column, Table, hidden, listed
from store.analysis.agreement.intervals import FEW_TOPICS, topic_bootstrap
from store.analysis.run_order import TIED_MAP, TauResult, kendall_tau_b, n_swapped_pairs, tau_ap
from store.formats.leaderboards import ALL, read_leaderboards
from store.text import natural_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from store.analysis.measures.names import Scores

RESAMPLES = 1000
"""Of topics, for intervals."""
_COLUMNS = (
    Column("measure"),
    Column("leaderboard"),
    Column("runs", "int"),
    Column("topics", "int", about="at which all these runs have both scores"),
    Column("tau", "float", about="Kendall's tau-b: 1 = the same order, -1 = the reverse", digits=3),
    Column("tau_ap", "float", "tau_AP", "the same with more weight on the leaderboard's top", digits=3),
    Column("swapped", "int", about="pairs of runs in opposite order"),
    REASON,
)


def orders_table(
    files: Iterable[str], scores: Iterable[Scores], runs: Sequence[str], topics: Sequence[str]
) -> Table:
    """Compare each measure with each of the leaderboards in `files`, over the runs that both have: `orders`.

    Means are over the topics at which each of these runs has both scores; tau_AP takes the order by our
    measure for the true one. Intervals are of 95 %, over resampled topics.
    """
    paths = {str(path): _run_of(str(path), runs) for path in files}
    boards = read_leaderboards(paths, {*topics})
    ours = Ids("those measured", {*runs})
    theirs = Ids(", ".join(paths), {run for of_measure in boards.values() for run, _ in of_measure})
    if ours.names.isdisjoint(theirs.names):
        raise no_meeting("run", ours, theirs, None)
    if alone := sorted(ours.names ^ theirs.names, key=natural_key):
        warn(f"left out, as not in both {ours.where} and {theirs.where}: {listed(alone, 3)}")
    rows, means = [], []
    for name, board in boards.items():
        values = np.array([[board.get((run, topic), np.nan) for topic in topics] for run in runs])
        if np.isnan(values).all():
            values[:] = np.array([[board.get((run, ALL), np.nan)] for run in runs])
            means.append(name)
        n_scored = dict(zip(runs, (~np.isnan(values)).sum(axis=1).tolist(), strict=True))
        if few := [run for run, n in n_scored.items() if 0 < n < max(n_scored.values())]:
            warn(f"{name}: some runs lack topics that others have, which are left out: {listed(few, 3)}")
        if none := [run for run, n in n_scored.items() if not n and run in theirs.names]:
            warn(f"{name}: left out, without such a score by topic: {listed(none, 3)}")
        rows += [{"leaderboard": name, **_order(own, values)} for own in scores]
    limits = [f"{name}_{end}" for name in ("tau", "tau_ap") for end in ("low", "high")]
    table = Table.of_rows("orders", [*_COLUMNS, *map(hidden, limits)], rows)
    shown, about = [*_COLUMNS], f"interval over {RESAMPLES:,} resamples of the topics"
    shown.insert(
        5, Column("interval", heading="95 %", about=about, interval=(limits[0], limits[1]), digits=2)
    )
    shown.insert(7, Column("ap_interval", heading="95 %", interval=(limits[2], limits[3]), digits=2))
    notes = [f"Of {', '.join(means)} the mean over topics alone is there: it is not resampled."] * bool(means)
    if any(row["topics"] < FEW_TOPICS for row in rows):
        notes.append(f"With fewer than {FEW_TOPICS} topics intervals are too narrow.")
    return table.seen_as(columns=shown, title="Order of the runs, and of the leaderboard", notes=notes)


def _run_of(path: str, runs: Sequence[str]) -> str:
    """Return the run that a file is named after: one of those measured, if its name goes on with a point."""
    name = PurePath(path).name
    after = [run for run in runs if name == run or name.startswith(f"{run}.")]
    return max(after, key=len, default=tag_of(path))


def _order(own: Scores, values: NDArray[np.float64]) -> dict[str, Any]:
    """Compare with scores of shape (n_runs, n_topics), NaN = none."""
    both = np.stack([values, own.values], axis=-1)[~np.isnan(values).all(axis=1)]
    # Means of other topics are no scores of one order.
    sums = both.swapaxes(0, 1)[~np.isnan(both).any(axis=(0, 2))]
    n_topics, n_runs, _ = sums.shape
    if not (n_runs and n_topics):
        return {"measure": str(own.measure), "runs": n_runs, "topics": 0, "reason": "no-common-topics"}

    def tau_of(how: Callable[..., TauResult], many: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([how(*one.T / n_topics, tolerance=TIED_MAP).tau for one in many], dtype=np.float64)

    theirs, mine = sums.sum(axis=0).T / n_topics
    row = {"measure": str(own.measure), "runs": n_runs, "topics": n_topics}
    row["swapped"] = n_swapped_pairs(theirs, mine, tolerance=TIED_MAP)
    for name, how in (("tau", kendall_tau_b), ("tau_ap", tau_ap)):
        found, units = how(theirs, mine, tolerance=TIED_MAP), np.ones(n_topics, dtype=np.bool_)
        among = topic_bootstrap(sums, partial(tau_of, how), seed=1, resamples=RESAMPLES, units=units)
        row |= {name: found.tau, f"{name}_low": among.low, f"{name}_high": among.high}
        row["reason"] = found.reason
    return row
