"""The order of runs by our measures beside that of a leaderboard: scores that another program gave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pooler.messages import warn
from pooler.reading.results import tag_of
from pooler.sources.meeting import Ids, no_meeting
from pooler.tables import REASON, Column, Table, hidden
from store.analysis.agreement.intervals import FEW_TOPICS, Interval, topic_bootstraps
from store.analysis.run_order import TIED_MAP, TauResult, kendall_tau_b, n_swapped_pairs, tau_ap
from store.formats.leaderboards import ALL, read_leaderboards
from store.text import counted, natural_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from store.analysis.measures.names import Scores

RESAMPLES = 1000
"""Of topics."""


@dataclass(frozen=True, slots=True)
class BoardOrder:
    """The order of runs by a measure, and by one of the leaderboard."""

    measure: str
    board: str
    """The leaderboard's measure."""
    n_runs: int
    """Runs with scores by both."""
    n_topics: int
    """Topics at which each of them has both; means are over these."""
    is_mean: bool
    """Whether the leaderboard has its mean over topics alone."""
    tau: TauResult
    """Kendall's tau-b; reasons ``fewer-than-two``, ``all-tied``, ``no-common-topics``."""
    tau_ap: TauResult
    """With the order by `measure` taken as the true one."""
    of_tau: Interval
    """95 % over resampled topics; where the leaderboard has its mean alone, this stays as it is."""
    of_tau_ap: Interval
    n_swapped: int | None
    """Pairs of runs in opposite order."""


def board_orders(
    files: Iterable[str], scores: Iterable[Scores], runs: Sequence[str], topics: Sequence[str]
) -> tuple[BoardOrder, ...]:
    """Compare each measure, of runs and topics as named, with each of the leaderboards in `files`."""
    paths = {str(path): tag_of(str(path)) for path in files}
    boards = read_leaderboards(paths, {*topics})
    ours = Ids("those measured", {*runs})
    theirs = Ids(", ".join(paths), {run for of_measure in boards.values() for run, _ in of_measure})
    if ours.names.isdisjoint(theirs.names):
        raise no_meeting("run", ours, theirs, None)
    for one, other in ((ours, theirs), (theirs, ours)):
        if alone := sorted(one.names - other.names, key=natural_key):
            named = ", ".join(alone[:3]) + (", ..." if len(alone) > 3 else "")
            of_all = counted(len(one.names), "run")
            warn(f"{len(alone):,} of {of_all} of {one.where} not in {other.where}: {named}")
    return tuple(_order(own, name, board, runs, topics) for own in scores for name, board in boards.items())


def _order(
    own: Scores, name: str, board: dict[tuple[str, str], float], runs: Sequence[str], topics: Sequence[str]
) -> BoardOrder:
    values = np.array([[board.get((run, topic), np.nan) for topic in topics] for run in runs])
    if is_mean := bool(np.isnan(values).all()):
        values[:] = np.array([[board.get((run, ALL), np.nan)] for run in runs])
    at = ~np.isnan(values).all(axis=1)
    both = np.stack([own.values[at], values[at]], axis=-1)
    # Means of other topics are no scores of one order.
    sums = both.swapaxes(0, 1)[~np.isnan(both).any(axis=(0, 2))]
    n_topics, n_runs, _ = sums.shape

    def taus(summed: NDArray[np.float64]) -> tuple[TauResult, TauResult]:
        mine, other = summed.T / n_topics
        return tuple(how(other, mine, tolerance=TIED_MAP) for how in (kendall_tau_b, tau_ap))  # type: ignore[return-value]  # two

    def each(place: int, many: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([taus(one)[place].tau for one in many], dtype=np.float64)

    none = TauResult(None, "no-common-topics")
    tau, of_top = taus(sums.sum(axis=0)) if n_topics else (none, none)
    statistics = {"tau": lambda many: each(0, many), "tau_ap": lambda many: each(1, many)}
    units = np.ones(n_topics, dtype=np.bool_)
    found = topic_bootstraps(sums, statistics, seed=1, resamples=RESAMPLES, units=units)
    swapped = n_swapped_pairs(*sums.sum(axis=0).T / n_topics, tolerance=TIED_MAP) if n_topics else None
    of_both = found["tau"], found["tau_ap"], swapped
    return BoardOrder(str(own.measure), name, n_runs, n_topics, is_mean, tau, of_top, *of_both)


def orders_table(orders: Sequence[BoardOrder]) -> Table:
    """Return a row a measure of ours and of the leaderboard."""
    limits = ("tau_low", "tau_high", "tau_ap_low", "tau_ap_high")
    ends = zip(
        *[(one.of_tau.low, one.of_tau.high, one.of_tau_ap.low, one.of_tau_ap.high) for one in orders],
        strict=True,
    )
    of_tau = "Kendall's tau-b of the two orders: 1 = the same, -1 = the reverse"
    of_top = (
        "the same with more weight on the leaderboard's top, the order by the measure taken as the true one"
    )
    about = f"interval over {RESAMPLES:,} resamples of the topics"
    columns = {
        Column("measure"): [one.measure for one in orders],
        Column("leaderboard"): [one.board for one in orders],
        Column("runs", "int"): [one.n_runs for one in orders],
        Column("topics", "int", about="at which all these runs have both scores"): [
            one.n_topics for one in orders
        ],
        Column("tau", "float", about=of_tau, digits=3): [one.tau.tau for one in orders],
        Column("tau_ap", "float", "tau_AP", of_top, digits=3): [one.tau_ap.tau for one in orders],
        Column("swapped", "int", about="pairs of runs in opposite order"): [one.n_swapped for one in orders],
        REASON: [one.tau.reason for one in orders],
        **{hidden(name): [*cells] for name, cells in zip(limits, ends, strict=True)},
        hidden("interval_reason", "text"): [one.of_tau.reason for one in orders],
    }
    table = Table.of_columns("orders", columns)
    shown = [*table.columns[:8]]
    shown.insert(5, Column("tau_interval", heading="95 %", about=about, interval=limits[:2], digits=2))
    shown.insert(7, Column("tau_ap_interval", heading="95 %", interval=limits[2:], digits=2))
    means = ", ".join(dict.fromkeys(one.board for one in orders if one.is_mean))
    notes = [f"Of {means} there is the mean over topics alone, which is not resampled."] if means else []
    if any(one.n_topics < FEW_TOPICS for one in orders):
        notes.append(f"With fewer than {FEW_TOPICS} topics intervals are too narrow.")
    return table.seen_as(columns=shown, title="Order of the runs, and of the leaderboard", notes=notes)
