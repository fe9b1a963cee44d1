"""Agreement of many pairs of judges at once: tables in a stack, coefficients as arrays.

177 judges make 15,576 pairs. Their tables over all topics are one stack, and each coefficient of
all of them is one array; the tables of single topics are counted again where they are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement import BINARY_NAMES, PAIR_NAMES, stacked
from store.analysis.coefficient import divide
from store.analysis.collapse import collapse_table
from store.analysis.intervals import Interval, asymptotic_interval
from store.analysis.kappa import stacked_standard_errors
from store.analysis.overlap import RelevantCounts, macro_sums
from store.analysis.pair_tables import all_pair_tables, pair_tables
from store.analysis.populations import PopulationVotes
from store.analysis.resampling import (
    Statistic,
    cell_contributions,
    item_bootstrap,
    topic_bootstraps,
)
from store.analysis.votes import Votes

IntervalKind = Literal["topic", "item", "asymptotic", "none"]
INTERVAL_KINDS: tuple[IntervalKind, ...] = get_args(IntervalKind)

TopicTables = Callable[[int], NDArray[np.int64]]
"""From the number of a pair to its tables, shape (n_topics, n_grades, n_grades)."""


@dataclass(frozen=True, slots=True, eq=False)
class PairStack:
    """The tables of some pairs of judges, on all grades or on relevant or not."""

    level_index: int | None
    """Index into the scale of the least relevant grade; ``None`` = graded."""
    tables: NDArray[np.int64]
    """Shape (n_pairs, n_grades, n_grades): over all topics, first judge in rows."""
    overlaps: NDArray[np.float64] | None
    """Shape (n_pairs, 2): sum of topics' overlaps, and topics that have one; ``None`` = graded."""
    topic_tables: TopicTables


def all_pair_stacks(population: PopulationVotes, levels: Sequence[int]) -> list[PairStack]:
    """Count the tables of every pair of judges: graded, then at each level.

    Parameters
    ----------
    population : PopulationVotes
        Votes of the judges in question.
    levels : sequence of int
        Indices into the scale, each from 1 to ``n_grades - 1``.

    Returns
    -------
    list of PairStack
        Pairs in the order of ``itertools.combinations(votes.judges, 2)``. Topics are counted one
        after another, so that 15,576 pairs need no table for each topic and pair.
    """
    votes, default = population.votes, population.default
    q = votes.n_grades
    pairs = list(combinations(votes.judges, 2))
    total = np.zeros((len(pairs), q, q), dtype=np.int64)
    overlaps = [np.zeros((len(pairs), 2)) for _ in levels]
    for topic, of_topic in _topics_of(votes):
        tables = all_pair_tables(of_topic)
        if default is not None:
            tables[:, default, default] += population.blanks[topic]
        total += tables
        for place, level in enumerate(levels):
            overlaps[place] += _overlap_sums(collapse_table(tables, level))
    if default is not None:
        untouched = np.bincount(votes.topic_codes, minlength=len(votes.topics)) == 0
        total[:, default, default] += population.blanks[untouched].sum()
        for place, level in enumerate(levels):
            overlaps[place] += (default >= level) * np.count_nonzero(
                untouched & (population.blanks > 0)
            )

    def tables_of(pair: int) -> NDArray[np.int64]:
        first, second = pairs[pair]
        return population.total(partial(pair_tables, first=first, second=second))

    return _stacks(total, overlaps, levels, tables_of)


def stacks_of(by_topic: NDArray[np.int64], levels: Sequence[int]) -> list[PairStack]:
    """Stack tables that are counted already: graded, then at each level.

    Parameters
    ----------
    by_topic : ndarray of int64, shape (n_pairs, n_topics, n_grades, n_grades)
        Tables of each pair and topic.
    levels : sequence of int
        As for `all_pair_stacks`.
    """
    total = by_topic.sum(axis=1)
    overlaps = [
        sum((_overlap_sums(collapse_table(tables, level)) for tables in by_topic.swapaxes(0, 1)),
            start=np.zeros((len(by_topic), 2)))
        for level in levels
    ]  # fmt: skip
    return _stacks(total, overlaps, levels, by_topic.__getitem__)


def binary_stack(by_topic: NDArray[np.int64], level: int) -> PairStack:
    """Stack tables that are binary already, shape (n_pairs, n_topics, 2, 2)."""
    [_, stack] = stacks_of(by_topic, [1])
    return replace(stack, level_index=level)


def coefficients(
    tables: NDArray[np.int64], *, binary: bool, values: Sequence[int] | None = None
) -> dict[str, NDArray[np.float64]]:
    """Measure every table of a stack by every coefficient.

    Parameters
    ----------
    tables : ndarray of int64, shape (n_tables, n_grades, n_grades)
        Of pairs, or of topics.
    binary : bool
        Whether the grades are not relevant and relevant: weights have no meaning then, overlap
        has.
    values : sequence of int, length n_grades, optional
        The grades, for ``alpha_interval``, which takes their distances; by default places on the
        scale. Weighted kappas take places always, as other programs do.

    Returns
    -------
    dict of str to ndarray of float64, shape (n_tables,)
        By the name of the coefficient; NaN where it is undefined.
    """
    names = BINARY_NAMES if binary else PAIR_NAMES
    columns = {"raw": stacked("raw", tables)} | {
        name: stacked(name, tables, values if name == "alpha_interval" else None) for name in names
    }
    columns["kappa_se"] = stacked_standard_errors(tables)
    if binary:
        columns["positive"] = stacked("positive", tables)
        columns["overlap"] = stacked("overlap", tables)
    else:
        columns["quadratic_se"] = stacked_standard_errors(tables, "quadratic")
    return columns


def reasons(tables: NDArray[np.int64], columns: dict[str, NDArray[np.float64]]) -> list[str | None]:
    """Say of every table why a coefficient of it is undefined; ``None`` where all have a number.

    Returns
    -------
    list of str or None
        ``no-common-docs``, or what holds of ``one-doc``, ``single-grade`` and ``no-relevant``,
        joined by a comma.
    """
    n = tables.sum(axis=(-2, -1))
    no_kappa = np.isnan(columns["kappa"])
    no_overlap = np.isnan(columns["overlap"]) if "overlap" in columns else np.zeros_like(no_kappa)
    found: list[str | None] = [None] * len(n)
    for row in np.flatnonzero(no_kappa | no_overlap).tolist():
        if n[row] == 0:
            found[row] = "no-common-docs"
            continue
        codes = ["one-doc" if n[row] == 1 else "single-grade"] if no_kappa[row] else []
        codes += ["no-relevant"] if no_overlap[row] else []
        found[row] = ", ".join(codes)
    return found


def pair_intervals(
    stacks: Sequence[PairStack],
    pair: int,
    kind: IntervalKind,
    *,
    resamples: int,
    seed: int,
) -> list[dict[str, Interval]]:
    """Make the intervals of one pair: of kappa, and of quadratic kappa or the mean overlap.

    Parameters
    ----------
    stacks : sequence of PairStack
        Of the same pairs.
    pair : int
        Its number in the stacks.
    kind : {"topic", "item", "asymptotic"}
        Topic bootstrap, item bootstrap, or kappa's standard error.
    resamples, seed
        As for `store.analysis.resampling.topic_bootstrap`.

    Returns
    -------
    list of dict of str to Interval
        One a stack, by ``kappa``, ``quadratic`` and ``macro_overlap``. The mean overlap of topics
        has an interval from the topic bootstrap alone.
    """
    if kind == "topic":
        return _from_topics(stacks, pair, resamples, seed)
    made: list[dict[str, Interval]] = []
    for stack in stacks:
        table = stack.tables[pair]
        names: dict[str, Statistic] = {"kappa": _kappa}
        if stack.level_index is None:
            names["quadratic"] = _quadratic
        if kind == "item":
            cells = cell_contributions(len(table))
            made.append({
                name: item_bootstrap(cells, table.ravel(), of, resamples=resamples, seed=seed)
                for name, of in names.items()
            })  # fmt: skip
            continue
        columns = coefficients(table[np.newaxis], binary=stack.level_index is not None)
        made.append({
            name: asymptotic_interval(
                _number(columns[name]), _number(columns[f"{name}_se"]), n_units=int(table.sum())
            )
            for name in names
        })  # fmt: skip
    return made


def _from_topics(
    stacks: Sequence[PairStack], pair: int, resamples: int, seed: int
) -> list[dict[str, Interval]]:
    """Resample the topics of one pair once for all its coefficients."""
    sums: list[NDArray[np.float64]] = []
    statistics: dict[str, Statistic] = {}
    start = 0
    for number, stack in enumerate(stacks):
        tables = stack.topic_tables(pair)
        width = tables.shape[-1] ** 2
        sums.append(tables.reshape(len(tables), width).astype(np.float64))
        statistics[f"{number} kappa"] = _of_part(_kappa, start, width)
        if stack.level_index is None:
            statistics[f"{number} quadratic"] = _of_part(_quadratic, start, width)
        else:
            sums.append(_overlap_sums(tables))
            statistics[f"{number} macro_overlap"] = partial(_mean, start=start + width)
            width += 2
        start += width
    units = np.asarray(sums[0].any(axis=1))
    found = topic_bootstraps(
        np.concatenate(sums, axis=1), statistics, seed=seed, resamples=resamples, units=units
    )
    made: list[dict[str, Interval]] = [{} for _ in stacks]
    for key, interval in found.items():
        place, name = key.split()
        made[int(place)][name] = interval
    return made


def _kappa(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    return stacked("kappa", tables)


def _quadratic(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    return stacked("quadratic", tables)


def _mean(sums: NDArray[np.float64], *, start: int) -> NDArray[np.float64]:
    """Divide a column of resampled sums by the one after it."""
    return divide(sums[:, start], sums[:, start + 1])


def _of_part(statistic: Statistic, start: int, width: int) -> Statistic:
    """Let a statistic of tables see its part of resampled sums."""
    side = round(width**0.5)
    return lambda sums: statistic(sums[:, start : start + width].reshape(-1, side, side))


def _number(values: NDArray[Any]) -> float | None:
    """Return the one value of an array; ``None`` for NaN."""
    value = float(values[0])
    return None if np.isnan(value) else value


def _stacks(
    total: NDArray[np.int64],
    overlaps: Sequence[NDArray[np.float64]],
    levels: Sequence[int],
    tables_of: TopicTables,
) -> list[PairStack]:
    """Make the graded stack, and of it one for each level."""
    made = [PairStack(None, total, None, tables_of)]
    for level, of_level in zip(levels, overlaps, strict=True):

        def collapsed(pair: int, level: int = level) -> NDArray[np.int64]:
            return collapse_table(tables_of(pair), level)

        made.append(PairStack(level, collapse_table(total, level), of_level, collapsed))
    return made


def _overlap_sums(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the overlap of binary tables, or 0, and whether there is one, shape (n_tables, 2)."""
    common = tables.sum(axis=(-2, -1))
    return macro_sums(RelevantCounts(common, tables[:, 1, 1], common - tables[:, 0, 0]))


def _topics_of(votes: Votes) -> Iterator[tuple[int, Votes]]:
    """Yield the votes of every topic that has some, with its code."""
    bounds = np.searchsorted(votes.topic_codes, np.arange(len(votes.topics) + 1))
    first_votes = np.searchsorted(votes.documents, bounds)
    for topic, name in enumerate(votes.topics):
        begin, end = bounds[topic : topic + 2].tolist()
        if begin == end:
            continue
        part = slice(*first_votes[topic : topic + 2].tolist())
        yield (
            topic,
            replace(
                votes,
                topics=(name,),
                topic_codes=np.zeros(end - begin, dtype=np.int64),
                documents=votes.documents[part] - begin,
                judge_codes=votes.judge_codes[part],
                places=votes.places[part],
            ),
        )
