"""Tables of two judges, sums of many, in stacks.

The first judge is in rows, the second in columns, grades of the declared scale in ascending order, used or
not. All is counted topic by topic; the sums of topics add up to those of all documents, so that topics can be
resampled without touching a vote again. Of 15,576 pairs of 177 judges the tables over all topics are one
stack; those of single topics are counted again where they are wanted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import Interval, Statistic, ratio_of_sums, topic_bootstraps
from store.analysis.agreement.kappa import (
    METRIC_OF,
    Chance,
    Numbers,
    RelevantCounts,
    Weights,
    macro_sums,
    stacked_alpha,
    stacked_chance_corrected,
    stacked_overlap,
    stacked_raw,
    stacked_specific,
)
from store.analysis.agreement.votes import PopulationVotes, Votes, collapse_table, grade_counts

PairName = Literal[
    "kappa",
    "linear",
    "quadratic",
    "pi",
    "s",
    "ac1",
    "ac2",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
]
PAIR_NAMES: tuple[PairName, ...] = get_args(PairName)
"""Cohen's kappa unweighted, linear and quadratic; Scott's pi; Bennett's S; AC1 and quadratic AC2;
Krippendorff's alpha."""
BINARY_NAMES: tuple[PairName, ...] = ("kappa", "pi", "s", "ac1", "alpha_nominal")
"""Those of `PAIR_NAMES` that differ on two grades; S is PABAK there."""
StackName = Literal[PairName, "raw", "positive", "overlap"]

_CHANCES: dict[str, tuple[Chance, Weights]] = {
    "kappa": ("cohen", "none"),
    "linear": ("cohen", "linear"),
    "quadratic": ("cohen", "quadratic"),
    "pi": ("scott", "none"),
    "s": ("bennett", "none"),
    "ac1": ("gwet", "none"),
    "ac2": ("gwet", "quadratic"),
}


def stacked(name: StackName, tables: Numbers, values: Sequence[int] | None = None) -> NDArray[np.float64]:
    """Measure a stack of pairs, topics or resamples by one coefficient.

    Parameters
    ----------
    name : str
        One of `PAIR_NAMES`, or ``raw``; ``positive`` and ``overlap`` are of tables of two grades.
    tables : ndarray, shape (..., n_grades, n_grades)
        Counts; weighted sums of topics' tables too.
    values : sequence of int, length n_grades, optional
        Grade values, ascending, for ``alpha_interval``; by default places on the scale.

    Returns
    -------
    ndarray of float64, shape (...)
        To rounding; NaN exactly where the coefficient of one table is a reason.

    Examples
    --------
    >>> stacked("kappa", np.array([[[2, 1], [1, 2]], [[9, 0], [0, 0]]]))
    array([0.33333333,        nan])
    """
    tables = np.asarray(tables, dtype=np.float64)
    if name == "raw":
        return stacked_raw(tables)
    if name in ("positive", "overlap"):
        return stacked_overlap(tables) if name == "overlap" else stacked_specific(tables)[..., 1]
    if name in METRIC_OF:
        coefficients = stacked_alpha(tables + np.swapaxes(tables, -1, -2), METRIC_OF[name], values=values)
        return np.where(tables.sum(axis=(-2, -1)) < 2, np.nan, coefficients)
    chance, weights = _CHANCES[name]
    return stacked_chance_corrected(chance, tables, weights)


def pair_tables(votes: Votes, first: str, second: str) -> NDArray[np.int64]:
    """Count, topic by topic, the documents that two judges graded, shape (n_topics, n_grades, n_grades).

    By grade of `first` (rows) and of `second` (columns), topics as in ``votes.topics``. `UnknownNameError`
    for a name that is none.

    Ann gives 0 1 2 to three documents, Bob 2 1 to the first two:

    >>> from store.analysis.agreement.votes import votes_from_rows
    >>> documents, judges, grades = np.array([[1, 1, 2, 2, 3], [0, 1, 0, 1, 0], [0, 2, 1, 1, 2]])
    >>> names = {"topics": ["1"], "judges": ["ann", "bob"], "scale_values": (0, 1, 2)}
    >>> votes = votes_from_rows(np.zeros(5, int), documents, judges, grades, **names)
    >>> pair_tables(votes, "ann", "bob").tolist()
    [[[0, 0, 1], [0, 1, 0], [0, 0, 0]]]
    """
    codes = votes.judge_index(first), votes.judge_index(second)
    mine, theirs = (np.flatnonzero(votes.judge_codes == code) for code in codes)
    row_of = np.full(votes.n_documents, -1, dtype=np.int64)
    row_of[votes.documents[mine]] = votes.places[mine]
    documents = votes.documents[theirs]
    rows = row_of[documents]
    both = rows >= 0
    q = votes.n_grades
    cells = (votes.topic_codes[documents] * q + rows) * q + votes.places[theirs]
    counts = np.bincount(cells[both], minlength=len(votes.topics) * q * q)
    return counts.reshape(len(votes.topics), q, q)


class VoteSums(NamedTuple):
    """The parts of `vote_sums`; each may have leading axes, one entry a topic or a resample."""

    pairs: NDArray[np.float64]
    """Shape (..., n_grades, n_grades): ordered pairs of votes on one document; whole numbers."""
    coincidences: NDArray[np.float64]
    """The same, every document's divided by its votes less one."""
    rates: NDArray[np.float64]
    """The same, every document's divided by the number of its pairs."""
    grade_shares: NDArray[np.float64]
    """Shape (..., n_grades): share of a document's votes, summed over graded documents."""
    n_shared: NDArray[np.float64]
    """Shape (...): documents with two grades or more."""


def vote_sums(votes: Votes) -> NDArray[np.float64]:
    """Count, topic by topic, all that coefficients of many judges are made of.

    Shape (n_topics, 3 * n_grades**2 + n_grades + 1); `sums_apart` names the parts. Rows add up; a weighted
    sum of rows is that of resampled topics.

    Documents of one topic with equally many votes are counted in whole numbers and divided once, so that the
    order of documents and judges changes no digit. O(n_votes + n_documents * n_grades**2).
    """
    return sums_of_counts(grade_counts(votes), votes.topic_codes, len(votes.topics))


def sums_of_counts(
    grade_counts: NDArray[np.int64], topic_codes: NDArray[np.int64], n_topics: int
) -> NDArray[np.float64]:
    """Make `vote_sums` of counts, shape (n_documents, n_grades), each document with a vote."""
    counts = grade_counts.astype(np.float64)
    q = counts.shape[1]
    sizes = counts.sum(axis=1).astype(np.int64)
    most = int(sizes.max(initial=0)) + 1
    groups, group_of = np.unique(topic_codes * most + sizes, return_inverse=True)
    topics, m = groups // most, (groups % most)[:, np.newaxis]

    pairs = np.empty((len(groups), q, q))
    for c in range(q):
        for k in range(c, q):
            products = counts[:, c] * (counts[:, k] - (c == k))
            pairs[:, c, k] = np.bincount(group_of, products, minlength=len(groups))
            pairs[:, k, c] = pairs[:, c, k]
    flat = pairs.reshape(len(groups), q * q)
    given = [np.bincount(group_of, counts[:, k], minlength=len(groups)) for k in range(q)]
    documents = np.bincount(group_of, minlength=len(groups))
    others = np.maximum(m - 1, 1)
    shares = np.stack(given, axis=1) / m
    shared = documents[:, np.newaxis] * (m > 1)
    of_groups = np.hstack([flat, flat / others, flat / (others * m), shares, shared])
    sums = np.zeros((n_topics, of_groups.shape[1]))
    np.add.at(sums, topics, of_groups)
    return sums


def sums_apart(sums: Numbers) -> VoteSums:
    """Return the parts of `vote_sums` by name, or of sums of its rows, shape (..., n_sums)."""
    sums = np.asarray(sums, np.float64)
    n_sums = sums.shape[-1]
    q = (math.isqrt(12 * n_sums - 11) - 1) // 6
    squares = sums[..., : 3 * q * q].reshape(*sums.shape[:-1], 3, q, q)
    return VoteSums(
        squares[..., 0, :, :],
        squares[..., 1, :, :],
        squares[..., 2, :, :],
        sums[..., 3 * q * q : -1],
        sums[..., -1],
    )


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
    """Count the tables of every pair of judges: graded, then at each level, an index into the scale from 1.

    Pairs are in the order of ``itertools.combinations(votes.judges, 2)``. Topics are counted one after
    another, so that no table is needed for each topic and pair; and of a topic those pairs alone that share a
    document, as of a crowd they are few.
    """
    votes = population.votes
    q = votes.n_grades
    pairs = list(combinations(votes.judges, 2))
    total = np.zeros((len(pairs), q, q), dtype=np.int64)
    overlaps = [np.zeros((len(pairs), 2)) for _ in levels]
    for numbers, tables in _tables_by_topic(votes):
        total[numbers] += tables
        for place, level in enumerate(levels):
            overlaps[place][numbers] += _overlap_sums(collapse_table(tables, level))

    def tables_of(pair: int) -> NDArray[np.int64]:
        first, second = pairs[pair]
        return pair_tables(votes, first=first, second=second)

    return _stacks(total, overlaps, levels, tables_of)


def stacks_of(by_topic: NDArray[np.int64], levels: Sequence[int]) -> list[PairStack]:
    """Stack counted tables, shape (n_pairs, n_topics, n_grades, n_grades), as `all_pair_stacks` does."""
    total = by_topic.sum(axis=1)
    overlaps = [
        sum(
            (_overlap_sums(collapse_table(tables, level)) for tables in by_topic.swapaxes(0, 1)),
            start=np.zeros((len(by_topic), 2)),
        )
        for level in levels
    ]
    return _stacks(total, overlaps, levels, by_topic.__getitem__)


def sharing_pairs(stacks: Sequence[PairStack]) -> tuple[list[PairStack], list[int]]:
    """Keep, of stacks of the same pairs, those that share a document: of a crowd they are few.

    With the numbers that these pairs had, ascending.
    """
    kept = np.flatnonzero(stacks[0].tables.any(axis=(1, 2))) if stacks else np.zeros(0, np.int64)
    numbers: list[int] = kept.tolist()

    def kept_of(stack: PairStack) -> PairStack:
        return replace(
            stack,
            tables=stack.tables[kept],
            overlaps=None if stack.overlaps is None else stack.overlaps[kept],
            topic_tables=lambda pair: stack.topic_tables(numbers[pair]),
        )

    return [kept_of(stack) for stack in stacks], numbers


def coefficients(
    tables: NDArray[np.int64], *, binary: bool, values: Sequence[int] | None = None
) -> dict[str, NDArray[np.float64]]:
    """Measure every table of a stack by every coefficient: by name, shape (n_tables,); NaN = undefined.

    `tables`, shape (n_tables, n_grades, n_grades), are of pairs, or of topics; `binary` says whether the
    grades are not relevant and relevant: weights have no meaning then, overlap has. `values` are the grades,
    for ``alpha_interval``, which takes their distances; by default places on the scale. Weighted kappas take
    places always, as other programs do.
    """
    names = BINARY_NAMES if binary else PAIR_NAMES
    columns = {"raw": stacked("raw", tables)} | {
        name: stacked(name, tables, None if binary else values) for name in names
    }
    if binary:
        columns["positive"] = stacked("positive", tables)
        columns["overlap"] = stacked("overlap", tables)
    return columns


def reasons(tables: NDArray[np.int64], columns: dict[str, NDArray[np.float64]]) -> list[str | None]:
    """Return for every table why a coefficient of it is undefined; ``None`` where all have a number.

    ``no-common-docs``, or what holds of ``one-doc``, ``single-grade`` and ``no-relevant``, joined by a comma.
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
    stacks: Sequence[PairStack], pair: int, *, resamples: int, seed: int
) -> list[dict[str, Interval]]:
    """Make the intervals of one pair by resampled topics: of kappa, and quadratic kappa or the mean overlap.

    One dict a stack of the same pairs, by ``kappa``, ``quadratic`` and ``macro_overlap``; `pair` is the
    number in the stacks. Topics are resampled once for all coefficients.
    """
    sums: list[NDArray[np.float64]] = []
    statistics: dict[str, Statistic] = {}
    start = 0
    for number, stack in enumerate(stacks):
        tables = stack.topic_tables(pair)
        shape = tables.shape[1:]
        sums.append(tables.reshape(len(tables), math.prod(shape)).astype(np.float64))
        statistics[f"{number} kappa"] = _of_part(_kappa, start, shape)
        if stack.level_index is None:
            statistics[f"{number} quadratic"] = _of_part(_quadratic, start, shape)
        start += math.prod(shape)
        if stack.level_index is not None:
            sums.append(_overlap_sums(tables))
            statistics[f"{number} macro_overlap"] = _of_part(ratio_of_sums, start, (2,))
            start += 2
    units = np.asarray(sums[0].any(axis=1))
    found = topic_bootstraps(
        np.concatenate(sums, axis=1), statistics, seed=seed, resamples=resamples, units=units
    )
    made: list[dict[str, Interval]] = [{} for _ in stacks]
    for key, interval in found.items():
        place, name = key.split()
        made[int(place)][name] = interval
    return made


_kappa: Statistic = partial(stacked, "kappa")
_quadratic: Statistic = partial(stacked, "quadratic")


def _of_part(statistic: Statistic, start: int, shape: tuple[int, ...]) -> Statistic:
    """Let a statistic of arrays of a shape see its part of resampled sums."""
    stop = start + math.prod(shape)
    return lambda sums: statistic(sums[:, start:stop].reshape(-1, *shape))


def _stacks(
    total: NDArray[np.int64],
    overlaps: Sequence[NDArray[np.float64]],
    levels: Sequence[int],
    tables_of: TopicTables,
) -> list[PairStack]:
    made = [PairStack(None, total, None, tables_of)]
    for level, of_level in zip(levels, overlaps, strict=True):

        def collapsed(pair: int, level: int = level) -> NDArray[np.int64]:
            return collapse_table(tables_of(pair), level)

        made.append(PairStack(level, collapse_table(total, level), of_level, collapsed))
    return made


def _overlap_sums(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the overlap of binary tables, or 0, and whether there is one, shape (n_tables, 2)."""
    common = tables.sum(axis=(-2, -1))
    return macro_sums(RelevantCounts(common, tables[:, 1, 1], common - tables[:, 0, 0]))


def _tables_by_topic(votes: Votes) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield, of each topic, the numbers of the pairs of judges who share a document, and their tables."""
    q, n_judges, judges = votes.n_grades, len(votes.judges), votes.judge_codes
    earlier = np.arange(n_judges)
    # The number of a pair is this, of its first judge, and the code of its second.
    start = earlier * (2 * n_judges - earlier - 1) // 2 - earlier - 1
    place_of = np.zeros(n_judges * (n_judges - 1) // 2, dtype=np.int64)
    # Each vote stands beside all that follow it on its document.
    ends = np.cumsum(np.bincount(votes.documents, minlength=votes.n_documents))
    n_behind = ends[votes.documents] - np.arange(judges.size) - 1
    bounds = np.searchsorted(votes.topic_codes[votes.documents], np.arange(len(votes.topics) + 1))
    for begin, end in pairwise(bounds.tolist()):
        behind = n_behind[begin:end]
        one = np.repeat(np.arange(begin, end), behind)
        other = one + 1 + np.arange(one.size) - np.repeat(np.cumsum(behind) - behind, behind)
        pairs = start[judges[one]] + judges[other]
        numbers = np.flatnonzero(np.bincount(pairs, minlength=place_of.size))
        place_of[numbers] = np.arange(numbers.size)
        cells = (place_of[pairs] * q + votes.places[one]) * q + votes.places[other]
        yield numbers, np.bincount(cells, minlength=numbers.size * q * q).reshape(-1, q, q)
