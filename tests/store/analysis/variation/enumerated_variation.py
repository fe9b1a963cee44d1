"""Every outcome of judging a topic, one after another: the slow, obvious reference.

Numbers are what goes in: fractions give exact fractions, floats give sums by `math.fsum`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeVar

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Number = TypeVar("Number", float, Fraction)

MOST_DOCUMENTS = 12
"""2^12 outcomes of one topic take some hundredths of a second."""

Topic = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Probabilities, shape (n_documents,), and ranks, shape (n_runs, n_documents)."""


@dataclass(frozen=True)
class Outcome:
    """One way the judgements of a topic can turn out."""

    flags: tuple[int, ...]
    """1 for every document judged relevant, 0 for the others."""
    weight: float | Fraction
    """Its probability."""
    scores: list[Fraction]
    """AP of every run."""


@dataclass(frozen=True)
class Enumerated:
    """Moments over all outcomes, and how often one run is above another."""

    mean: NDArray[np.float64]
    """Shape (n_runs,)."""
    covariance: NDArray[np.float64]
    """Shape (n_runs, n_runs)."""
    gradient: NDArray[np.float64]
    """Shape (n_runs, n_documents): E[AP | relevant] - E[AP | not relevant]."""
    above: NDArray[np.float64]
    """Shape (n_runs, n_runs): P(AP of the row's run > AP of the column's)."""


def plain_ap(flags: Sequence[int], ranks: Sequence[float]) -> Fraction:
    """Compute AP of one run from its definition; 0 without relevant documents."""
    found = sorted(int(rank) for flag, rank in zip(flags, ranks, strict=True)
                   if flag and math.isfinite(rank))  # fmt: skip
    total = sum((Fraction(place, rank) for place, rank in enumerate(found, 1)), Fraction(0))
    return total / sum(flags) if any(flags) else Fraction(0)


def outcomes(
    probabilities: Sequence[float] | Sequence[Fraction], ranks: Sequence[Sequence[float]]
) -> Iterator[Outcome]:
    """List all 2^n outcomes, the impossible ones too."""
    assert len(probabilities) <= MOST_DOCUMENTS
    for flags in product((0, 1), repeat=len(probabilities)):
        weight: float | Fraction = 1
        for place, flag in enumerate(flags):
            chance = probabilities[place]
            weight = weight * (chance if flag else 1 - chance)
        yield Outcome(flags, weight, [plain_ap(flags, of_run) for of_run in ranks])


def total(values: Iterable[float | Fraction]) -> float | Fraction:
    """Add fractions exactly, floats with one rounding."""
    listed = list(values)
    if all(isinstance(value, Fraction | int) for value in listed):
        return sum((Fraction(value) for value in listed), Fraction(0))
    return math.fsum(listed)


def enumerated(
    probabilities: Sequence[float] | Sequence[Fraction] | NDArray[np.float64],
    ranks: Sequence[Sequence[float]] | NDArray[np.float64],
) -> Enumerated:
    """Compute every moment from all outcomes."""
    chances, places = _plain(probabilities), [list(row) for row in np.atleast_2d(ranks).tolist()]
    cases = list(outcomes(chances, places))
    runs, documents = range(len(places)), range(len(chances))
    mean = [total(one.weight * one.scores[run] for one in cases) for run in runs]
    apart = [[one.scores[run] - mean[run] for run in runs] for one in cases]
    weights = [one.weight for one in cases]

    covariance = [[total(w * away[first] * away[second]
                         for w, away in zip(weights, apart, strict=True))
                   for second in runs] for first in runs]  # fmt: skip
    above = [[total(one.weight for one in cases if one.scores[first] > one.scores[second])
              for second in runs] for first in runs]  # fmt: skip
    gradient = [[_conditional(chances, places, document, run) for document in documents]
                for run in runs]  # fmt: skip
    shape = (len(runs), len(documents))
    return Enumerated(_floats(mean), _floats(covariance), _floats(gradient).reshape(shape), _floats(above))


def _conditional(
    chances: list[float] | list[Fraction], places: list[list[float]], document: int, run: int
) -> float | Fraction:
    """Return what a run's mean gains when one document turns from surely not to surely relevant."""
    means = []
    for sure in (0, 1):
        given = [*chances[:document], sure, *chances[document + 1 :]]
        cases = outcomes(given, [places[run]])
        means.append(total(one.weight * one.scores[0] for one in cases if one.weight))
    return means[1] - means[0]


def _plain(
    probabilities: Sequence[float] | Sequence[Fraction] | NDArray[np.float64],
) -> list[float] | list[Fraction]:
    """Return the probabilities as numbers of Python."""
    if isinstance(probabilities, np.ndarray):
        return [float(p) for p in probabilities]
    return [*probabilities]


def _floats(values: object) -> NDArray[np.float64]:
    """Round each number once."""
    return np.array(values, dtype=np.float64)


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
