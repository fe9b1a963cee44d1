"""Agreement of all judges at once, graded or on relevant or not, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from store.analysis.intervals import Interval, asymptotic_interval
from store.analysis.many_judges import (
    ManyName,
    many_coefficient,
    stacked_many,
    stacked_many_raw,
    stacked_many_specific,
)
from store.analysis.overlap import (
    RelevantCounts,
    macro_overlap,
    macro_sums,
    relevant_to_all,
    stacked_macro_overlap,
)
from store.analysis.pair_stacks import IntervalKind
from store.analysis.populations import PopulationVotes
from store.analysis.resampling import (
    Statistic,
    distinct_patterns,
    item_bootstrap,
    topic_bootstrap,
    topic_bootstraps,
)
from store.analysis.vote_sums import sums_apart, sums_of_counts, vote_sums
from store.analysis.votes import Votes, grade_counts

GRADED: tuple[ManyName, ...] = (
    "alpha_ordinal",
    "alpha_nominal",
    "alpha_interval",
    "fleiss",
    "linear",
    "quadratic",
    "ac1",
    "ac2",
    "s",
)
BINARY: tuple[ManyName, ...] = ("alpha_nominal", "fleiss", "ac1", "s")
"""The others are one of these on two grades."""


@dataclass(frozen=True, slots=True)
class AllJudges:
    """One coefficient of all judges."""

    name: str
    """One of `MANY_NAMES`, ``raw``, ``positive`` or ``macro_overlap``."""
    value: float | None
    reason: str | None
    """Why there is no value; ``None`` when there is one."""
    n_documents: int
    """Documents with two grades or more; of ``macro_overlap``, with everybody's."""
    n_topics: int
    """Topics with such documents; of ``macro_overlap``, topics that have an overlap."""
    interval: Interval | None
    """``None`` = not asked for, or not to be had this way."""


def all_judges(
    population: PopulationVotes,
    level_index: int | None,
    kind: IntervalKind,
    *,
    resamples: int,
    seed: int,
) -> list[AllJudges]:
    """Measure the agreement of all judges by every coefficient.

    Parameters
    ----------
    population : PopulationVotes
        Graded votes of the judges in question.
    level_index : int or None
        Index into the scale of the least relevant grade; ``None`` = graded.
    kind : {"topic", "item", "asymptotic", "none"}
        Of the intervals. Alpha has no standard error, and none is computed for a population with
        documents that nobody touched.
    resamples, seed
        As for `store.analysis.resampling.topic_bootstrap`.

    Returns
    -------
    list of AllJudges
        The names of `GRADED`, or `BINARY`, then ``raw`` and, at a level, ``positive`` and
        ``macro_overlap``.
    """
    graded = population
    if level_index is not None:
        population = population.collapsed(level_index)
    names = GRADED if level_index is None else BINARY
    sums = population.total(vote_sums)
    whole = sums.sum(axis=0)
    statistics = _statistics(level_index, graded.votes.scale_values)
    shared = np.asarray(sums_apart(sums).n_shared > 0)
    n_documents, n_topics = int(sums_apart(whole).n_shared), int(np.count_nonzero(shared))
    intervals: dict[str, Interval] = {}
    if kind == "topic":
        intervals = topic_bootstraps(sums, statistics, units=shared, resamples=resamples, seed=seed)
    elif kind == "item":
        contributions, counts = _patterns(population)
        intervals = {
            name: item_bootstrap(contributions, counts, of, resamples=resamples, seed=seed)
            for name, of in statistics.items()
        }
    elif kind == "asymptotic" and not population.blanks.any():
        for many in names:
            one = many_coefficient(many, population.votes)
            intervals[many] = asymptotic_interval(
                one.value, one.standard_error, n_units=one.n_documents
            )
    made = []
    for name, of in statistics.items():
        value = float(of(whole[np.newaxis])[0])
        defined = not np.isnan(value)
        reason = None if defined else _reason(population, n_documents, name)
        made.append(
            AllJudges(
                name, value if defined else None, reason, n_documents, n_topics, intervals.get(name)
            )
        )
    if level_index is not None:
        made.append(_overlap(graded, level_index, kind, resamples, seed))
    return made


def all_judges_by_topic(
    population: PopulationVotes, level_index: int | None
) -> dict[str, list[AllJudges]]:
    """Measure the agreement of all judges topic by topic, without intervals.

    Parameters
    ----------
    population, level_index
        As for `all_judges`.

    Returns
    -------
    dict of str to list of AllJudges
        By topic, those in which a document has two grades or more; names as of `all_judges`, with
        the overlap of the topic's documents as ``macro_overlap``.
    """
    graded = population
    if level_index is not None:
        population = population.collapsed(level_index)
    sums = population.total(vote_sums)
    columns = _statistics(level_index, graded.votes.scale_values)
    values = {name: of(sums).tolist() for name, of in columns.items()}
    n_shared = sums_apart(sums).n_shared.astype(np.int64).tolist()
    counts = None if level_index is None else _relevant_counts(graded, level_index)
    made: dict[str, list[AllJudges]] = {}
    for topic, name in enumerate(population.votes.topics):
        if not (n := n_shared[topic]):
            continue
        made[name] = [
            AllJudges(coefficient, None, _reason(population, n, coefficient), n, 1, None)
            if np.isnan(column[topic])
            else AllJudges(coefficient, column[topic], None, n, 1, None)
            for coefficient, column in values.items()
        ]
        if counts is not None:
            one = macro_overlap(RelevantCounts(*(part[topic : topic + 1] for part in counts)))
            common = int(counts.common[topic])
            made[name].append(
                AllJudges("macro_overlap", one.value, one.reason, common, one.n_topics, None)
            )
    return made


def _statistics(level_index: int | None, values: Sequence[int]) -> dict[str, Statistic]:
    """Give every coefficient that follows from sums over documents as a function of them.

    Interval alpha takes the distances of grades, the weighted ones those of places on the scale.
    """
    names = GRADED if level_index is None else BINARY
    made: dict[str, Statistic] = {name: partial(stacked_many, name) for name in names}
    if level_index is None:
        made["alpha_interval"] = partial(stacked_many, "alpha_interval", values=values)
    made["raw"] = stacked_many_raw
    if level_index is not None:
        made["positive"] = _positive
    return made


def _positive(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give positive agreement: how likely another judge finds relevant what one does."""
    return stacked_many_specific(sums)[..., 1]


def _relevant_counts(population: PopulationVotes, level_index: int) -> RelevantCounts:
    """Count the documents that all judges graded, and found relevant, blank ones included."""

    def counted(votes: Votes) -> NDArray[np.int64]:
        return np.stack(relevant_to_all(votes, level_index), axis=-1)

    return RelevantCounts(*population.total(counted).T)


def _overlap(
    population: PopulationVotes, level_index: int, kind: IntervalKind, resamples: int, seed: int
) -> AllJudges:
    """Measure the mean overlap of topics of all judges' relevant documents."""
    counts = _relevant_counts(population, level_index)
    result = macro_overlap(counts)
    interval = None
    if kind == "topic":
        interval = topic_bootstrap(
            macro_sums(counts),
            stacked_macro_overlap,
            units=np.asarray(counts.common > 0),
            resamples=resamples,
            seed=seed,
        )
    n_documents = int(counts.common.sum())
    return AllJudges(
        "macro_overlap", result.value, result.reason, n_documents, result.n_topics, interval
    )


def _reason(population: PopulationVotes, n_documents: int, name: str) -> str:
    """Say why a coefficient has no value."""
    if n_documents:
        if name == "positive":
            return "no-relevant"
        return "one-doc" if n_documents == 1 else "single-grade"
    return "one-judge" if np.count_nonzero(population.graded) < 2 else "no-common-docs"


def _patterns(population: PopulationVotes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give what a document adds to the sums, for all that were graded alike, and count them."""
    votes = population.votes
    rows = grade_counts(votes)
    blank = np.zeros((1, votes.n_grades), dtype=np.int64)
    blank[0, population.default or 0] = len(votes.judges)
    patterns, counts = distinct_patterns(np.concatenate([rows, blank]))
    counts[np.all(patterns == blank, axis=1)] += int(population.blanks.sum()) - 1
    return sums_of_counts(patterns, np.arange(len(patterns)), len(patterns)), counts
