r"""All judges at once.

With counts :math:`n_{ik}` of document i and grade k, :math:`m_i = \sum_k n_{ik}` votes and costs
:math:`d_{ck}`, generalised Fleiss' kappa, Bennett's S and Gwet's AC are :math:`1 - D_o / D_e` with

.. math:: D_o = \textstyle\frac{1}{n'} \sum_{i: m_i \ge 2}
          \sum_{c \ne k} d_{ck} n_{ic} n_{ik} / (m_i (m_i - 1)), \qquad
          \pi_k = \frac{1}{n} \sum_i n_{ik} / m_i

and the :math:`D_e` that `chance_cost` makes of :math:`\pi`. A document with one vote counts in
:math:`\pi`, not in :math:`D_o` [1]_; in alpha it counts nowhere.

References
----------
.. [1] K. L. Gwet, *Handbook of Inter-Rater Reliability*, 4th edition, 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import (
    Interval,
    Statistic,
    ratio_of_sums,
    topic_bootstrap,
    topic_bootstraps,
)
from store.analysis.agreement.kappa import (
    METRIC_OF,
    Chance,
    Numbers,
    Reason,
    RelevantCounts,
    Weights,
    chance_cost,
    costs_of,
    macro_overlap,
    macro_sums,
    relevant_to_all,
    stacked_alpha,
)
from store.analysis.agreement.tables import VoteSums, sums_apart, vote_sums
from store.analysis.agreement.votes import PopulationVotes
from store.analysis.ratios import quotient

ManyName = Literal[
    "alpha_ordinal", "alpha_nominal", "alpha_interval", "fleiss", "linear", "quadratic", "ac1", "ac2", "s"
]
MANY_NAMES: tuple[ManyName, ...] = get_args(ManyName)
"""Alpha; Fleiss' kappa unweighted, linear and quadratic; AC1 and quadratic AC2; Bennett's S."""
BINARY_MANY: tuple[ManyName, ...] = ("alpha_nominal", "fleiss", "ac1", "s")
"""The others are one of these on two grades."""

_CHANCES: dict[str, tuple[Chance, Weights]] = {
    "fleiss": ("scott", "none"),
    "linear": ("scott", "linear"),
    "quadratic": ("scott", "quadratic"),
    "s": ("bennett", "none"),
    "ac1": ("gwet", "none"),
    "ac2": ("gwet", "quadratic"),
}


def stacked_many(
    name: ManyName, sums: Numbers, *, values: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """Return a coefficient of many judges for a stack of `vote_sums` or of sums of its rows, (..., n_sums).

    `values` are the grades, ascending, for ``alpha_interval``; by default places on the scale. NaN without
    two documents graded twice, and where one grade alone was given.
    """
    parts = sums_apart(sums)
    if name in METRIC_OF:
        coefficients = stacked_alpha(parts.coincidences, METRIC_OF[name], values=values)
        return np.where(parts.n_shared < 2, np.nan, coefficients)
    chance, costs = _chance_and_costs(name, parts)
    seen, by_chance = _disagreements(chance, costs, parts)
    single = np.count_nonzero(parts.grade_shares, axis=-1) < 2
    return np.where(single | (parts.n_shared < 2), np.nan, 1 - quotient(seen, by_chance))


def stacked_many_raw(sums: Numbers) -> NDArray[np.float64]:
    """Return the mean over documents of the share of pairs of votes that agree, of a stack."""
    parts = sums_apart(sums)
    return quotient(np.trace(parts.rates, axis1=-2, axis2=-1), parts.n_shared)


def stacked_many_specific(sums: Numbers) -> NDArray[np.float64]:
    """Return the agreement specific to every grade, shape (..., n_grades), of a stack.

    How likely another judge gives the grade when one does: pairs of votes that both give it over
    pairs whose first vote gives it. Of the grade "relevant" of binary votes it is positive
    agreement. NaN for a grade that no judge gave to a document with two votes.
    """
    pairs = sums_apart(sums).pairs
    return quotient(np.diagonal(pairs, axis1=-2, axis2=-1), pairs.sum(axis=-1))


def _chance_and_costs(name: str, sums: VoteSums) -> tuple[Chance, NDArray[np.float64]]:
    """Return what a coefficient counts as chance, and the costs of its disagreements."""
    chance, weights = _CHANCES[name]
    return chance, costs_of(sums.grade_shares.shape[-1], weights).astype(np.float64)


def _disagreements(
    chance: Chance, costs: NDArray[np.float64], sums: VoteSums
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average the cost of disagreeing: observed, and expected by chance."""
    seen = quotient((sums.rates * costs).sum(axis=(-2, -1)), sums.n_shared)
    return seen, quotient(*chance_cost(chance, sums.grade_shares, costs))


@dataclass(frozen=True, slots=True)
class AllJudges:
    """One coefficient of all judges."""

    name: str
    """One of `MANY_NAMES`, ``raw``, ``positive`` or ``macro_overlap``."""
    value: float | None
    reason: Reason | None
    """Why there is no value; ``None`` when there is one."""
    n_documents: int
    """Documents with two grades or more; of ``macro_overlap``, with everybody's."""
    n_topics: int
    """Topics with such documents; of ``macro_overlap``, topics that have an overlap."""
    interval: Interval | None
    """``None`` = not asked for, or not to be had this way."""


def all_judges(
    population: PopulationVotes, level_index: int | None, *, resamples: int, seed: int
) -> list[AllJudges]:
    """Measure the agreement of all judges by every coefficient, with intervals by resampled topics, if any.

    `MANY_NAMES`, or `BINARY_MANY`, then ``raw`` and, at a level, ``positive`` and ``macro_overlap``;
    `level_index` is the place of the least relevant grade, ``None`` = graded.
    """
    graded = population
    if level_index is not None:
        population = population.collapsed(level_index)
    sums = vote_sums(population.votes)
    whole = sums.sum(axis=0)
    statistics = _statistics(level_index, population.votes.scale_values)
    values = {name: float(of(whole[np.newaxis])[0]) for name, of in statistics.items()}
    shared = np.asarray(sums_apart(sums).n_shared > 0)
    n_documents, n_topics = int(sums_apart(whole).n_shared), int(np.count_nonzero(shared))
    intervals: dict[str, Interval] = {}
    if resamples:
        intervals = topic_bootstraps(sums, statistics, units=shared, resamples=resamples, seed=seed)
    made = [
        _one(population, name, value, n_documents, n_topics, intervals.get(name))
        for name, value in values.items()
    ]
    if level_index is not None:
        made.append(_overlap(graded, level_index, resamples, seed))
    return made


def all_judges_by_topic(population: PopulationVotes, level_index: int | None) -> dict[str, list[AllJudges]]:
    """Measure the agreement of all judges by topic, without intervals; arguments as for `all_judges`.

    Topics in which a document has two grades or more; names as of `all_judges`, with the overlap of the
    topic's documents as ``macro_overlap``.
    """
    graded = population
    if level_index is not None:
        population = population.collapsed(level_index)
    sums = vote_sums(population.votes)
    statistics = _statistics(level_index, population.votes.scale_values)
    values = {name: of(sums).tolist() for name, of in statistics.items()}
    n_shared = sums_apart(sums).n_shared.astype(np.int64).tolist()
    counts = None if level_index is None else relevant_to_all(graded.votes, level_index)
    made: dict[str, list[AllJudges]] = {}
    for topic, name in enumerate(population.votes.topics):
        if not (n := n_shared[topic]):
            continue
        made[name] = [
            _one(population, coefficient, column[topic], n) for coefficient, column in values.items()
        ]
        if counts is not None:
            one = macro_overlap(RelevantCounts(*(part[topic : topic + 1] for part in counts)))
            common = int(counts.common[topic])
            made[name].append(AllJudges("macro_overlap", one.value, one.reason, common, one.n_topics, None))
    return made


def _one(
    population: PopulationVotes,
    name: str,
    value: float,
    n_documents: int,
    n_topics: int = 1,
    interval: Interval | None = None,
) -> AllJudges:
    reason = _reason(population, n_documents, name) if np.isnan(value) else None
    return AllJudges(name, None if reason else value, reason, n_documents, n_topics, interval)


def _statistics(level_index: int | None, values: Sequence[int]) -> dict[str, Statistic]:
    """Return every coefficient that follows from sums over documents as a function of them."""
    names = MANY_NAMES if level_index is None else BINARY_MANY
    made: dict[str, Statistic] = {name: partial(stacked_many, name, values=values) for name in names}
    positive: dict[str, Statistic] = {"positive": lambda sums: stacked_many_specific(sums)[..., 1]}
    return made | {"raw": stacked_many_raw} | ({} if level_index is None else positive)


def _overlap(population: PopulationVotes, level_index: int, resamples: int, seed: int) -> AllJudges:
    """Measure the mean overlap of topics of all judges' relevant documents."""
    counts = relevant_to_all(population.votes, level_index)
    result = macro_overlap(counts)
    interval = None
    if resamples:
        interval = topic_bootstrap(
            macro_sums(counts),
            ratio_of_sums,
            units=np.asarray(counts.common > 0),
            resamples=resamples,
            seed=seed,
        )
    n_documents = int(counts.common.sum())
    return AllJudges("macro_overlap", result.value, result.reason, n_documents, result.n_topics, interval)


def _reason(population: PopulationVotes, n_documents: int, name: str) -> Reason:
    if n_documents:
        if name == "positive":
            return "no-relevant"
        return "one-doc" if n_documents == 1 else "single-grade"
    return "one-judge" if np.count_nonzero(population.graded) < 2 else "no-common-docs"
