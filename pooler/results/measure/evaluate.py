"""Scores of the runs and qrels that a command was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.errors import UnknownNameError

if TYPE_CHECKING:
    from pooler.results.source import Judged
    from store.analysis.measures.names import MeasureName
    from store.analysis.measures.table import Scores
    from store.analysis.rankings import GradedRankings


def known_measure(text: str, *, level: int = 1) -> MeasureName:
    """Read a measure's name as `parse_measure` does, and say where an unknown one is looked up.

    Parameters
    ----------
    text : str
        As typed.
    level : int, default=1
        Least grade that is relevant where the name says none.

    Returns
    -------
    MeasureName
        Complete.

    Raises
    ------
    ArgumentError, UnknownNameError
        If it is none.
    """
    from store.analysis.measures.names import parse_measure

    try:
        return parse_measure(text, level=level)
    except UnknownNameError as error:
        error.hint = error.hint or "pooler evaluate --list"
        raise


def measure_judged(
    judged: Judged, names: Sequence[MeasureName], cutoff: int, *, is_given: bool
) -> tuple[GradedRankings, list[Scores]]:
    """Measure runs.

    Parameters
    ----------
    judged : Judged
        Runs and qrels.
    names : sequence of MeasureName
        Each once.
    cutoff : int
        Ranks that are looked at.
    is_given : bool
        Whether somebody asked for that cutoff. Otherwise a measure with a deeper one of its own,
        as P@2000, looks down to there, and the others do not.

    Returns
    -------
    rankings : GradedRankings
        At `cutoff`.
    scores : list of Scores
        In the order of `names`.

    Raises
    ------
    ArgumentError
        If a measure looks deeper than it may.
    """
    from store.analysis.arrays import graded_arrays
    from store.analysis.measures.table import evaluate

    grades = judged.by_topic()
    rankings = graded_arrays(judged.ranked, grades, cutoff=cutoff)
    deep = [] if is_given else [name for name in names if (name.cutoff or 0) > cutoff]
    plain = [name for name in names if name not in deep]
    scores = dict(zip(plain, evaluate(rankings, plain), strict=True))
    if deep:
        deepest = max(name.cutoff or 0 for name in deep)
        deeper = graded_arrays(judged.ranked, grades, cutoff=deepest)
        scores |= dict(zip(deep, evaluate(deeper, deep), strict=True))
    return rankings, [scores[name] for name in names]
