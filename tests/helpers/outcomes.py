"""Every outcome of judging a topic: the slow, obvious reference, in fractions, and one in arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from tests.helpers.oracles import first_documents, read_qrels, runs_of

Topic = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Probabilities, shape (n_documents,), and ranks, shape (n_runs, n_documents)."""


@dataclass(frozen=True)
class Enumerated:
    """Moments over all outcomes."""

    mean: NDArray[np.float64]
    """Shape (n_runs,)."""
    covariance: NDArray[np.float64]
    """Shape (n_runs, n_runs)."""


def plain_ap(flags: Sequence[int], ranks: Sequence[float]) -> Fraction:
    """Compute AP of one run from its definition; 0 without relevant documents."""
    found = sorted(int(rank) for flag, rank in zip(flags, ranks, strict=True)
                   if flag and math.isfinite(rank))  # fmt: skip
    total = sum((Fraction(place, rank) for place, rank in enumerate(found, 1)), Fraction(0))
    return total / sum(flags) if any(flags) else Fraction(0)


def enumerated(probabilities: Iterable[float | Fraction], ranks: ArrayLike) -> Enumerated:
    """Compute every moment from all 2^n outcomes, in fractions: each number is rounded once."""
    chances = np.array([Fraction(one) for one in probabilities], dtype=object)
    flags = np.array([*product((0, 1), repeat=chances.size)], dtype=object)
    places = np.atleast_2d(np.asarray(ranks, dtype=np.float64)).tolist()
    scores = np.array([[plain_ap(row, run) for run in places] for row in flags.tolist()], dtype=object)
    weights = np.prod(np.where(flags == 1, chances, 1 - chances), axis=1)
    mean = weights @ scores
    apart = scores - mean
    found = mean, (apart * weights[:, np.newaxis]).T @ apart
    return Enumerated(*(np.array(one, dtype=np.float64) for one in found))


@st.composite
def drawn_topics(
    draw: st.DrawFn, *, most_documents: int = 10, fewest_runs: int = 1, most_runs: int = 3
) -> Topic:
    """Draw probabilities with 0, 1 and .001 among them, unretrieved documents and empty runs."""
    n_documents = draw(st.integers(1, most_documents))
    chance = st.one_of(st.sampled_from([0.0, 1.0, 1e-3, 0.5]), st.floats(0.01, 0.99, allow_nan=False))
    probabilities = draw(st.lists(chance, min_size=n_documents, max_size=n_documents))
    n_runs = draw(st.integers(fewest_runs, most_runs))
    ranks = np.full((n_runs, n_documents), math.inf)
    for row in ranks:
        n_retrieved = draw(st.integers(0, n_documents))
        retrieved = draw(st.permutations(range(n_documents)))[:n_retrieved]
        places = draw(
            st.lists(st.integers(1, 2 * n_documents), min_size=n_retrieved, max_size=n_retrieved, unique=True)
        )
        row[list(retrieved)] = places
    return np.array(probabilities), ranks


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class OutcomeTable:
    """Scores of all runs in all 2^n outcomes; probabilities come later."""

    relevant: NDArray[np.bool_]
    """Shape (2^n, n)."""
    scores: Floats
    """Shape (2^n, n_runs): AP, 0 without a relevant document."""

    def weights(self, p: Floats) -> Floats:
        """Return the probability of every outcome."""
        return np.asarray(np.where(self.relevant, p, 1 - p).prod(axis=1))

    def moments(self, p: Floats) -> tuple[Floats, Floats]:
        """Return means and covariances."""
        weights = self.weights(p)
        mean = weights @ self.scores
        apart = self.scores - mean
        return mean, (apart * weights[:, None]).T @ apart

    def spread(self, p: Floats, first: int, second: int) -> float:
        """Return the variance of the difference of two runs."""
        _, of = self.moments(p)
        return float(of[first, first] + of[second, second] - 2 * of[first, second])

    def gradient(self, p: Floats) -> Floats:
        """Return E[AP | relevant] - E[AP | not relevant], shape (n_runs, n)."""
        columns = []
        for document in range(p.size):
            ends = []
            for value in (0.0, 1.0):
                settled = p.copy()
                settled[document] = value
                ends.append(self.weights(settled) @ self.scores)
            columns.append(ends[1] - ends[0])
        return np.array(columns).T


def outcome_table(ranks: Floats) -> OutcomeTable:
    """Score every outcome."""
    n = ranks.shape[1]
    relevant = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
    scores = np.zeros((2**n, len(ranks)))
    for run, row in enumerate(ranks):
        order = np.argsort(row)[: np.isfinite(row).sum()]
        flags = relevant[:, order].astype(np.float64)
        precision = flags.cumsum(axis=1) / row[order]
        scores[:, run] = (flags * precision).sum(axis=1) / np.maximum(relevant.sum(axis=1), 1)
    return OutcomeTable(relevant, scores)


def all_maps(topics: list[tuple[Floats, Floats]], *, empty: str = "given") -> tuple[Floats, Floats]:
    """Return the runs' MAPs in every outcome of all topics, shape (n, n_runs), and its probability."""
    totals, chances = np.zeros((1, len(topics[0][1]))), np.ones(1)
    for p, ranks in topics:
        table = outcome_table(ranks)
        weights = table.weights(p) * (table.relevant.any(axis=1) if empty == "given" else 1)
        kept = weights > 0
        totals = (totals[:, None] + table.scores[kept]).reshape(-1, len(ranks))
        chances = np.multiply.outer(chances, weights[kept] / weights.sum()).ravel()
    return totals / len(topics), chances


def reversed_in(
    topics: list[tuple[Floats, Floats]], first: int, second: int, *, empty: str = "given"
) -> float:
    """Add up the probabilities of all outcomes in which the second run has the higher MAP."""
    maps, chances = all_maps(topics, empty=empty)
    return float(chances[maps[:, second] - maps[:, first] > 1e-12].sum())


Long = NDArray[np.longdouble]


@dataclass(frozen=True)
class Dynamic:
    """Exact moments of one run, pool mode."""

    mean: float
    variance: float
    n_relevant: NDArray[np.float64]
    """Shape (n_documents + 1,): P(R = k)."""


def dynamic(probabilities: NDArray[np.float64], ranks: NDArray[np.float64]) -> Dynamic:
    """Compute E[AP] and Var[AP] of one run.

    By the number of relevant documents so far, in rank order: the probability, and the first two
    moments of the precision sum over the outcomes with that number. O(n_documents**2).
    """
    order = np.argsort(ranks, kind="stable")
    weights = 1 / ranks[order].astype(np.longdouble)
    length = len(probabilities) + 1
    counts = np.arange(length, dtype=np.longdouble)
    chance: Long = np.zeros(length, dtype=np.longdouble)
    chance[0] = 1
    first, second = np.zeros_like(chance), np.zeros_like(chance)
    for p, weight in zip(probabilities[order].astype(np.longdouble), weights, strict=True):
        step = weight * counts[1:]
        gained_second = second[:-1] + 2 * step * first[:-1] + step**2 * chance[:-1]
        gained_first = first[:-1] + step * chance[:-1]
        gained = chance[:-1].copy()
        for array, more in ((second, gained_second), (first, gained_first), (chance, gained)):
            array *= 1 - p
            array[1:] += p * more
    some = counts[1:]
    mean = (first[1:] / some).sum()
    # Centred before the division by R^2: nothing cancels but within one number of documents.
    spread = second[1:] - 2 * mean * some * first[1:] + (mean * some) ** 2 * chance[1:]
    variance = (spread / some**2).sum() + mean**2 * chance[0]
    return Dynamic(float(mean), float(variance), chance.astype(np.float64))


FOLDER = Path(__file__).parents[2] / "sample_collections" / "kitchen_garden"
RUNS = ("lm-words-full", "bm25-words")
JUDGES = ("strict", "lenient")
WORTH = {"0": 0.0, "1": 0.8, "2": 1.0}
DEPTH = 5


def chances() -> dict[str, dict[str, float]]:
    """Return the probability of every judged document, by topic."""
    found: dict[str, dict[str, list[float]]] = {}
    for judge in JUDGES:
        for line in (FOLDER / "judgements" / f"{judge}.qrels").read_text().splitlines():
            topic, _, docno, grade = line.split()
            found.setdefault(topic, {}).setdefault(docno, []).append(WORTH[grade])
    return {
        topic: {docno: sum(worth) / len(worth) for docno, worth in sorted(own.items())}
        for topic, own in sorted(found.items())
    }


def lists(tag: str) -> dict[str, list[str]]:
    """Return a run's documents in order, by topic: score down, ties docno down."""
    rows: dict[str, list[tuple[float, str]]] = {}
    for line in (FOLDER / "runs" / f"{tag}.run").read_text().splitlines():
        topic, _, docno, _, score, _ = line.split()
        rows.setdefault(topic, []).append((float(score), docno))
    return {topic: [docno for _, docno in sorted(own, reverse=True)][:1000] for topic, own in rows.items()}


def two_runs(
    flip: Literal["not-relevant", "unjudged"] | None = None,
    *,
    of: int = 1,
    scenario: Literal["own", "shared"] = "own",
) -> list[Topic]:
    """Make the topics, with one run's documents at rank 6 surely relevant if that is wanted.

    ``not-relevant`` turns those of probability 0, judged or not; ``unjudged`` those that nobody
    judged. With ``own`` no other run has them.
    """
    runs = [lists(tag) for tag in RUNS]
    topics = []
    for topic, judged in chances().items():
        p = {docno: chance for docno, chance in judged.items() if chance}
        ranks = [{docno: place for place, docno in enumerate(run[topic], 1)} for run in runs]
        listed = runs[of][topic]
        found = listed[DEPTH] if len(listed) > DEPTH else None
        turns = judged.get(found or "", 0.0) == 0 if flip == "not-relevant" else found not in judged
        if flip is not None and found is not None and turns:
            p[found] = 1.0
            if scenario == "own":
                ranks[1 - of].pop(found, None)
        rows = [[float(own.get(docno, np.inf)) for docno in p] for own in ranks]
        topics.append((np.array(list(p.values())), np.array(rows)))
    return topics


def topics_of(folder: Path) -> dict[str, Topic]:
    """Read how likely documents are relevant, by the share of judges, and the runs' ranks."""
    qrels = [read_qrels(file) for file in sorted((folder / "judgements").iterdir())]
    runs = [run for _, run in sorted(runs_of(folder).items())]
    found = {}
    for topic in qrels[0]:
        share = {docno: sum(one[topic][docno] >= 1 for one in qrels) / len(qrels)
                 for docno in qrels[0][topic]}  # fmt: skip
        likely = [docno for docno, p in share.items() if p]
        ranks = np.full((len(runs), len(likely)), np.inf)
        for row, run in zip(ranks, runs, strict=True):
            listed = first_documents(run, topic, 1000)
            row[:] = [listed.index(docno) + 1 if docno in listed else np.inf for docno in likely]
        found[topic] = (np.array([share[docno] for docno in likely]), ranks)
    return found
