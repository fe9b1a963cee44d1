"""Scores of the runs of a source by measures: what every command that scores them shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pooler.sources.source import Source
from store.analysis.measures.names import MeasureName, Scores, parse_measure
from store.analysis.measures.names import evaluate as score
from store.analysis.rankings import GradedRankings
from store.errors import UnknownNameError


def known_measure(measure: str | MeasureName, *, level: int = 1) -> MeasureName:
    """Read a measure's name as `parse_measure` does, and say where an unknown one is looked up."""
    try:
        return measure if isinstance(measure, MeasureName) else parse_measure(str(measure), level=level)
    except UnknownNameError as error:
        error.hint = error.hint or "pooler show measures"
        raise


def measured(
    source: Source, names: Sequence[MeasureName], cutoff: int | None, threshold: float | None = None
) -> tuple[GradedRankings, list[Scores]]:
    """Score runs by measures, each named once; see `evaluate` of `cutoff` and `threshold`."""
    look = 1000 if cutoff is None else cutoff
    deep = [name for name in names if cutoff is None and (name.cutoff or 0) > look]
    plain = [name for name in names if name not in deep]
    rankings = _retrieved(source, look, threshold)
    scores = dict(zip(plain, score(rankings, plain), strict=True))
    if deep:  # some look deeper than the others
        further = _retrieved(source, max(name.cutoff or 0 for name in deep), threshold)
        scores |= dict(zip(deep, score(further, deep), strict=True))
    return rankings, [scores[name] for name in names]


def _retrieved(source: Source, cutoff: int, threshold: float | None) -> GradedRankings:
    """Return rankings beside grades, without the documents whose score is below a threshold."""
    rankings = source.graded(cutoff)
    if threshold is None:
        return rankings
    is_in = list_scores(source, rankings, cutoff) >= threshold  # NaN is not
    return replace(
        rankings,
        grades=np.where(is_in, rankings.grades, 0),
        judged=rankings.judged & is_in,
        lengths=np.count_nonzero(is_in, axis=-1),
        open=None if rankings.open is None else rankings.open & is_in,
    )


def list_scores(source: Source, rankings: GradedRankings, cutoff: int) -> NDArray[np.float64]:
    """Return scores by rank, as grades in shape (n_runs, n_topics, width); NaN below the end of a list."""
    runs = source.tops(cutoff, scores=True, tags=rankings.tags)
    places = [rankings.tags.index(run.tag) for run in runs.feeding]
    found = np.full(rankings.grades.shape, np.nan)
    for column, topic in enumerate(rankings.topics):
        if topic not in runs.topics:
            continue
        of_topic = runs.of_topic(topic, scores=True)
        scores = of_topic.rankings.scores
        assert scores is not None  # they were asked for
        for row, run in enumerate(of_topic.runs):
            length = int(rankings.lengths[places[run], column])
            found[places[run], column, :length] = scores[row, :length]
    return found
