"""The Deep Learning track as a population that samples are drawn from, again and again."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from store.analysis.corrected import Drawn, calibrated_shares, difference_scores, drawn
from tests.model_judges import JUDGES, PEOPLE_LEVEL, grades_of, run_paths

DEPTH = 100
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Population:
    """Every pair that NIST graded, topic by topic, and where the 63 runs have it."""

    pairs: list[tuple[str, str]]
    topics: NDArray[np.int64]
    n_topics: int
    places: NDArray[np.int32]
    """Shape (n_runs, n_topics, 100): place among the documents of the topic; -1 = not graded, -2 = none."""
    starts: NDArray[np.int64]
    """First row of every topic."""

    def weights(self, worth: Array) -> Array:
        """Return what a gain of each pair adds to each run's mean, shape (n_runs, n_pairs)."""
        found = np.zeros((len(self.places), len(self.pairs)))
        for topic, start in enumerate(self.starts):
            rows, ranks = np.nonzero(self.places[:, topic] >= 0)
            found[rows, start + self.places[rows, topic, ranks]] = worth[ranks] / self.n_topics
        return found

    def by_topic(self, weights: Array, gains: Array) -> Array:
        """Return sums of weights times gains, shape (n_runs, n_topics)."""
        return np.add.reduceat(weights * gains, self.starts, axis=1)

    def grades(self, judge: str) -> NDArray[np.int64]:
        """Return a judge's grades; -1 = none."""
        known = grades_of(judge)
        return np.array([known.get(pair, -1) for pair in self.pairs])

    def attention(self) -> Array:
        """Return the sum of 1 / rank over the runs, of every pair."""
        return self.weights(1 / np.arange(1, DEPTH + 1)).sum(axis=0) * self.n_topics


@cache
def population() -> Population:
    """Read the track: documents by score descending, then docno descending."""
    pairs = sorted(grades_of("nist"))
    names = sorted({topic for topic, _ in pairs})
    codes = {name: code for code, name in enumerate(names)}
    topics = np.array([codes[topic] for topic, _ in pairs])
    starts = np.searchsorted(topics, np.arange(len(names)))
    rows = {pair: row for row, pair in enumerate(pairs)}
    files = run_paths()
    places = np.full((len(files), len(names), DEPTH), -2, np.int32)
    for run, path in enumerate(files):
        lists: dict[str, list[tuple[float, str]]] = {}
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                topic, _, docno, _, score, *_ = line.split()
                lists.setdefault(topic, []).append((float(score), docno))
        for topic, ranking in lists.items():
            code = codes[topic]
            for rank, (_, docno) in enumerate(sorted(ranking, reverse=True)[:DEPTH]):
                row = rows.get((topic, docno))
                places[run, code, rank] = -1 if row is None else row - starts[code]
    return Population(pairs, topics, len(names), places, starts)


def cells(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give every combination that occurs a number."""
    return np.unique(np.stack(parts), axis=1, return_inverse=True)[1].ravel()


def weight_classes(weights: Array, n_classes: int) -> NDArray[np.int64]:
    """Cut pairs, by weight ascending, into classes of about the same total weight."""
    order = np.argsort(weights, kind="stable")
    reached = np.cumsum(weights[order])
    classes = np.zeros(weights.size, np.int64)
    classes[order] = np.minimum(n_classes * (reached / reached[-1]), n_classes - 1).astype(np.int64)
    return classes


def allocation(sizes: NDArray[np.int64], spreads: Array, total: int) -> NDArray[np.int64]:
    """Draw two of each stratum, or all; share the rest by size x spread, rounded down, then one by one."""
    taken = np.minimum(2, sizes).astype(np.int64)
    left = total - int(taken.sum())
    shares = sizes * spreads
    while left:
        is_open = taken < sizes
        wanted = np.floor(left * (shares / shares[is_open].sum())).astype(np.int64)
        more = np.where(is_open, np.minimum(wanted, sizes - taken), 0)
        if not more.any():
            break
        taken += more
        left -= int(more.sum())
    for _ in range(left):
        taken[np.argmax(np.where(taken < sizes, shares / (taken + 1), -1.0))] += 1
    return taken


def strata_of(design: str, judge: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the stratum of every pair, and whether the model says relevant."""
    track = population()
    model = track.grades(judge)
    relevant = model >= JUDGES[judge][1]
    heavy = track.attention()
    if design == "simple":
        return np.zeros(len(model), np.int64), relevant
    if design == "topic":
        return track.topics, relevant
    if design == "grid":
        return cells(weight_classes(heavy, 4), model), relevant
    classes = np.concatenate(
        [weight_classes(heavy[track.topics == topic], 2) for topic in range(track.n_topics)]
    )
    return cells(track.topics, classes, relevant), relevant


def sizes_to_draw(design: str, judge: str, total: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return strata, and how many documents of each are drawn."""
    track = population()
    strata, relevant = strata_of(design, judge)
    sizes = np.bincount(strata)
    if design == "simple":
        return strata, np.array([total])
    if design == "topic":
        exact = total * sizes / sizes.sum()
        taken = np.floor(exact).astype(np.int64)
        taken[np.argsort(taken - exact, kind="stable")[: total - taken.sum()]] += 1
        return strata, taken
    guessed = np.zeros(sizes.size)
    guessed[strata] = np.where(relevant, 0.25, 0.1)
    squares = np.bincount(strata, track.attention() ** 2) / sizes
    return strata, allocation(sizes, np.sqrt(squares * guessed), total)


def samples(design: str, judge: str, total: int, n_redraws: int, seed: int = 1) -> Iterator[Drawn]:
    """Draw samples, each afresh."""
    track = population()
    strata, taken = sizes_to_draw(design, judge, total)
    members = [np.flatnonzero(strata == stratum) for stratum in range(taken.size)]
    generator = np.random.default_rng(seed)
    for _ in range(n_redraws):
        judged = np.zeros(strata.size, np.bool_)
        for rows, n in zip(members, taken.tolist(), strict=True):
            judged[generator.choice(rows, n, replace=False)] = True
        yield drawn(track.topics, strata, judged)


def relevance(judge: str) -> tuple[Array, Array]:
    """Return people's relevance and the model's, 0 or 1."""
    track = population()
    people = track.grades("nist") >= PEOPLE_LEVEL
    return people.astype(float), (track.grades(judge) >= JUDGES[judge][1]).astype(float)


def calibrated(judge: str, people: Array, sample: Drawn) -> Array:
    """Return the calibrated prediction of every pair's relevance."""
    outcomes = people[sample.judged].astype(np.int64)
    return calibrated_shares(population().grades(judge), outcomes, 2, sample)[:, 1]


def scores_of(weights: Array, predicted: Array, people: Array, sample: Drawn) -> Array:
    """Return mean scores of the runs."""
    rows = sample.judged
    expected = population().by_topic(weights, predicted)
    return difference_scores(expected, weights[:, rows], people[rows] - predicted[rows], sample).sum(axis=1)
