"""A pilot: scores of runs, from which the next collection is planned; how reliable they are; their cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.commands.measure.measured import known_measure, measured
from pooler.messages import progress, warn
from pooler.reasons import REASONS
from pooler.sources.source import Source, opened_collection
from pooler.tables import REASON, Column, Plot, Table
from store.analysis.arrays import graded_arrays
from store.analysis.measures.names import MeasureName, Scores, evaluate
from store.analysis.pools.pace import LEAST_DECISIONS
from store.analysis.rankings import GradedRankings
from store.analysis.run_order import TIED_MAP, tau_ap
from store.analysis.significance.generalizability import order_on_new_topics, score_components
from store.analysis.significance.power import score_variance
from store.analysis.variation.order import expected_tau, expected_tau_ap
from store.errors import PoolerError
from store.records import JudgeKind
from store.text import counted, percent

TOPICS = (30, 50, 100, 150)
"""Numbers of topics that are shown beside those at hand."""


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """Scores of runs over the topics where all have one."""

    source: Source
    measure: MeasureName
    rankings: GradedRankings
    scores: NDArray[np.float64]
    """Shape (n_runs, n_topics)."""

    @property
    def runs(self) -> Sequence[str]:
        """Axis of runs."""
        return tuple(map(str, self.rankings.tags))

    @property
    def feeding(self) -> Sequence[str]:
        """The runs that pools are made of: those of the pilot that contribute, or all, if none is said to."""
        judged = self.source.judged
        feeding = [tag for tag in judged.feeding if tag in self.runs] if judged.tells_feeding else []
        return feeding or self.runs


def load_pilot(source: Source, measure: str, cutoff: int | None, *, docnos: bool = False) -> Pilot:
    """Score the runs of a source; `PoolerError` for fewer than two runs or topics with a score.

    `docnos`: unjudged documents will have to be told apart, and the runs that contribute.
    """
    known_measure(measure)  # before anything is read
    level = (source.judged if docnos else source.numbered).level
    name = known_measure(measure, level=level)
    rankings, (found,) = measured(source, [name], cutoff)
    if len(rankings.tags) < 2:
        message = f"there is one run, `{rankings.tags[0]}`: a pilot needs two or more"
        raise PoolerError(message, hint="name another run; or pooler design topics --variance S2")
    scores = _common(found)
    n_without = len(rankings.topics) - scores.shape[1]
    if n_without:
        warn(f"{counted(n_without, 'topic')} of {len(rankings.topics):,} left out: no {name} there")
    n_missing = int((rankings.lengths == 0).any(axis=0).sum())
    if n_missing:
        warn(f"in {counted(n_missing, 'topic')} a run has no documents and scores as if it had found nothing")
    if scores.shape[1] < 2:
        message = f"{counted(scores.shape[1], 'topic')} with a score in every run: a pilot needs two or more"
        raise PoolerError(message, hint="pooler design topics --variance S2 plans without runs")
    return Pilot(source, name, rankings, scores)


def _common(found: Scores) -> NDArray[np.float64]:
    return np.asarray(found.values[:, np.isfinite(found.values).all(axis=0)])


@dataclass(frozen=True, slots=True)
class PilotDepth:
    """What a pilot would have been, had its pools been of one depth."""

    depth: int
    pooled: float
    """Documents of a pool, mean over topics."""
    judged: float
    """Those of them that are judged."""
    variance: float
    """Of scores within runs; NaN = fewer than two topics."""
    order: float
    """E rho^2 with these topics; NaN = not enough runs or topics."""
    tau_ap: float
    """Of the order of the runs, beside that of all judgements; NaN = all tied."""
    moved: float
    """By how much the mean score of a run changes at most."""
    n_below: int
    """Judged documents that its pool lacks."""


def pilot_depths(pilot: Pilot, depths: Sequence[int]) -> Iterator[PilotDepth]:
    """Cut judgements to the pools of some depths and score the runs again.

    A pool is the first documents of the runs that contribute; unjudged ones are counted, and stay unjudged.
    """
    judged = pilot.source.judged
    ranked, grades = judged.ranked, judged.by_topic()
    whole, cutoff = pilot.scores.mean(axis=1), max(pilot.rankings.cutoff, pilot.measure.cutoff or 0)
    with progress("depths", len(depths)) as advance:
        for depth in depths:
            kept, sizes, n_below = {}, [], 0
            for topic, (ids, given) in grades.items():
                tops = [ranked.rankings.get((tag, topic)) for tag in pilot.feeding]
                pool = np.unique(
                    np.concatenate([one[:depth] for one in tops if one is not None] or [ids[:0]])
                )
                mask = np.isin(ids, pool)
                kept[topic] = ids[mask], given[mask]
                sizes.append((pool.size, int(mask.sum())))
                n_below += int((~mask).sum())
            arrays = graded_arrays(ranked, kept, cutoff=cutoff)
            scores = _common(evaluate(arrays, [pilot.measure])[0])
            n_topics, (pooled, of_pool) = scores.shape[1], np.mean(sizes, axis=0).tolist()
            means = scores.mean(axis=1) if n_topics else np.full(len(whole), np.nan)
            tau = tau_ap(means, whole, tolerance=TIED_MAP).tau if n_topics else None
            parts = score_components(scores)
            yield PilotDepth(
                depth,
                pooled,
                of_pool,
                score_variance(scores) if n_topics > 1 else np.nan,
                float(parts.order().at(n_topics)[0]),
                np.nan if tau is None else tau,
                float(np.abs(means - whole).max()),
                n_below,
            )
            advance(1)


def known_depth(source: Source) -> int | None:
    """Return the greatest depth of the collection's depth pools; ``None`` = not known, or of files."""
    return max((one.depth for one in source.judged.pools), default=None)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a judgement takes."""

    seconds: float
    """Active time, the mean over decisions: what a total is made of."""
    n_decisions: int = 0
    """It rests on; 0 = it was told."""
    n_judges: int = 0

    def words(self) -> str:
        """Say what hours are made of."""
        words = f"{self.seconds:.4g} seconds a judgement"
        if not self.n_decisions:
            return f"{words}."
        decisions, judges = counted(self.n_decisions, "decision"), counted(self.n_judges, "judge")
        return f"{words}, the mean of {decisions} of {judges} (status effort)."


def pace_of(source: Source) -> Pace | None:
    """Return the pace of the people who judged in a collection; ``None`` = no, or too few, times.

    It is that of `pooler status effort`, over all of them.
    """
    if source.is_of_files:
        return None
    with opened_collection(source.collection) as opened:
        efforts = [one for one in opened.progress.effort() if one.kind != JudgeKind.MODEL]
    times = [[each.active_ms for each in one.documents if each.active_ms is not None] for one in efforts]
    spent = [each / 1000 for one in times for each in one]
    if len(spent) < LEAST_DECISIONS:
        return None
    return Pace(float(np.mean(spent)), len(spent), sum(map(bool, times)))


TARGET = 0.95
"""Reliability of the order from which on it counts as reached."""
ORDER = "E rho2"


def reliability_table(scores: NDArray[np.float64], topics: Sequence[int], *, alpha: float = 0.05) -> Table:
    """Make a row for every number of topics; `scores`: shape (n_runs, n_topics), all finite."""
    found = score_components(scores)
    of = f"{1 - alpha:.0%}"
    columns: dict[Column, Any] = {Column("topics", "int"): topics}
    for name, heading, about, one in (
        ("order", ORDER, "how far so many topics fix the order of the runs, from 0 to 1", found.order(alpha)),
        ("level", "Phi", "how far they fix their scores", found.level(alpha)),
    ):
        value, low, high = one.at(topics)
        columns[Column(name, "float", heading, about, digits=3)] = value
        columns[Column(f"{name}_low", "float", of, digits=3)] = low
        columns[Column(f"{name}_high", "float", "to", digits=3)] = high
    means, above = scores.mean(axis=1), order_on_new_topics(scores, topics, found)
    about = "Kendall's tau to expect between the order here and that of so many new topics"
    columns[Column("tau", "float", about=about, digits=3)] = [expected_tau(one, means) for one in above]
    columns[Column("tau_ap", "float", "tau_AP", "the same, first places counting most", digits=3)] = [
        expected_tau_ap(one, means) for one in above
    ]
    columns[REASON] = [found.reason] * len(topics)
    title = "Reliability of the order and of the scores with so many topics"
    return Table.of_columns("reliability", columns, title=title, notes=reliability_notes(scores, alpha=alpha))


def reliability_notes(scores: NDArray[np.float64], *, alpha: float = 0.05) -> list[str]:
    """Say in sentences how far these topics fix the order of the runs, and how many would."""
    n_runs, n_topics = scores.shape
    found = score_components(scores)
    if found.reason is not None:
        return [f"How reliable the order of the runs is over topics is not known: {REASONS[found.reason]}."]
    order = found.order(alpha)
    value, low, high = (float(one) for one in order.at(n_topics))
    needed, _, most = order.needed(TARGET)
    words = f"With these {n_topics:,} topics {ORDER} is {value:.3f} ({low:.3f} to {high:.3f})"
    if needed is None:
        words += ": nothing shows that these runs differ at all."
    else:
        upper = f"{most:,} to be safe" if most is not None else "no number is safe"
        verb = "has reached" if value >= TARGET else "is short of"
        words += f", which {verb} {TARGET:g}: that takes {counted(needed, 'topic')}, {upper}."
    whole = sum(found.variances)
    of_run, of_topic, rest = (percent(one, whole) for one in found.variances)
    return [
        words,
        f"Of the variance of one score {of_run} comes from the run, {of_topic} from the topic, {rest} from"
        f" neither. The runs count as a sample of systems, and there are {n_runs:,}; among runs that are more"
        " alike, more topics are needed.",
    ]


def reliability_plot(table: Table, *, alpha: float = 0.05) -> Plot:
    """Draw the reliability of the order by topics."""
    return Plot(
        table=table,
        kind="dots",
        label="topics",
        value="order",
        low="order_low",
        high="order_high",
        axis=ORDER,
        ends=(0, 1),
        title="How far so many topics fix the order of the runs",
        words=(ORDER, f"{1 - alpha:.0%} interval"),
    )
