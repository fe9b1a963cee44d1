"""Samples of the Deep Learning track drawn again and again: errors and coverage of the reference's tables.

Expected values were measured by a program that shares no code with this one, with other random numbers. An
error is the root mean square over redraws of a run's score less that by all of NIST's judgements, averaged
over the 63 runs; an interval covers where that score is in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from store.analysis.corrected import (
    NORMAL,
    Drawn,
    calibrated_shares,
    corrected_ideal,
    corrected_ndcg,
    corrected_precision,
    covariances,
    difference_scores,
    drawn,
)
from store.analysis.measures.average_precision import topic_interval
from tests.model_judges import JUDGES
from tests.store.analysis.corrected.redrawn import (
    Array,
    Population,
    calibrated,
    cells,
    population,
    relevance,
    samples,
    scores_of,
    sizes_to_draw,
)

RANKS = np.arange(1, 101)
WORTH = {"P@10": (RANKS <= 10) / 10, "RBP": 0.2 * 0.8 ** (RANKS - 1.0)}
LEVELS = np.arange(4)
SHARES = {541: "5 %", 1083: "10 %", 2166: "20 %"}

OF_PRECISION = [
    ("umbrela", 1083, "simple", (0.0882, 0.942), (0.0691, 0.938), (0.0554, 0.946)),
    ("umbrela", 1083, "topic", (0.0872, 0.944), (0.0685, 0.941), (0.0545, 0.951)),
    ("umbrela", 1083, "topicgrid", (0.0647, 0.905), (0.0604, 0.943), (0.0479, 0.949)),
    ("umbrela", 1083, "grid", (0.0526, 0.903), (0.0520, 0.927), (0.0406, 0.951)),
    ("umbrela", 541, "grid", (0.0845, 0.876), (0.0823, 0.901), (0.0647, 0.947)),
    ("umbrela", 2166, "grid", (0.0299, 0.915), (0.0304, 0.939), (0.0235, 0.948)),
    ("gpt-4o", 1083, "grid", (0.0531, 0.899), (0.0569, 0.915), (0.0420, 0.948)),
    ("llama", 1083, "grid", (0.0555, 0.901), (0.0724, 0.921), (0.0474, 0.947)),
]
"""Judge, pairs, design; error and coverage of people, diff, calibrated."""

OF_RBP = [
    ("umbrela", 541, 0.0525, 0.946),
    ("umbrela", 1083, 0.0323, 0.950),
    ("umbrela", 2166, 0.0181, 0.948),
    ("gpt-4o", 1083, 0.0335, 0.949),
    ("llama", 1083, 0.0379, 0.948),
]
OF_TOPICS = {
    ("P@10", 1083): (0.0475, -0.0008, 0.772, 0.953),
    ("P@10", 2166): (0.0281, -0.0001, 0.864, 0.951),
    ("AP", 1083): (0.0187, 0.0049, 0.871, 0.947),
    ("AP", 2166): (0.0114, -0.0012, 0.919, 0.944),
    ("nDCG@10", 1083): (0.0356, 0.0264, 0.875, 0.870),
    ("nDCG@10", 2166): (0.0221, 0.0121, 0.911, 0.928),
}
"""Error, bias, tau-b, coverage of the topics' interval, with `topicgrid`, umbrela."""


def tau_b(first: Array, second: Array) -> float:
    """Return SciPy's tau-b of rounded scores: sums of tenths in another order differ in the last bit."""
    return float(kendalltau(np.round(first, 10), np.round(second, 10)).statistic)


def error(differences: list[Array]) -> float:
    """Return the root mean square over redraws, averaged over runs."""
    return float(np.sqrt(np.mean(np.square(differences), axis=0)).mean())


def linear(
    judge: str, total: int, design: str, measure: str, n_redraws: int
) -> dict[str, tuple[float, float]]:
    """Return error and coverage by way."""
    track = population()
    people, model = relevance(judge)
    weights = track.weights(WORTH[measure])
    truth = weights @ people
    differences: dict[str, list[Array]] = {}
    covered: dict[str, list[NDArray[np.bool_]]] = {}
    for sample in samples(design, judge, total, n_redraws):
        rows = sample.judged
        of_sample = weights[:, rows]
        expected = {
            "people": np.zeros(people.size),
            "diff": model,
            "calibrated": calibrated(judge, people, sample),
        }
        for way, predicted in expected.items():
            off = scores_of(weights, predicted, people, sample) - truth
            variance = np.diag(covariances(of_sample * (people[rows] - predicted[rows]), sample))
            differences.setdefault(way, []).append(off)
            covered.setdefault(way, []).append(np.abs(off) <= NORMAL * np.sqrt(variance))
    return {way: (error(off), float(np.mean(covered[way]))) for way, off in differences.items()}


def check_precision(row: tuple, n_redraws: int, *, within: float) -> None:  # type: ignore[type-arg]
    """Hold a row against the table of the reference."""
    judge, total, design, *expected = row
    found = linear(judge, total, design, "P@10", n_redraws)
    for way, (size, coverage) in zip(("people", "diff", "calibrated"), expected, strict=True):
        assert found[way][0] == pytest.approx(size, rel=0.1), way
        assert found[way][1] == pytest.approx(coverage, abs=within), way


@pytest.mark.slow
def test_precision_of_a_grid_quickly() -> None:
    """200 redraws of 10 %: as the reference, coverage within three Monte Carlo errors."""
    check_precision(OF_PRECISION[3], 200, within=0.03)


@pytest.mark.long
@pytest.mark.parametrize("row", OF_PRECISION, ids=lambda row: f"{row[0]}-{SHARES[row[1]]}-{row[2]}")
def test_precision_as_in_the_reference(row: tuple) -> None:  # type: ignore[type-arg]
    """1,000 redraws: errors within a tenth, coverage within .01."""
    check_precision(row, 1000, within=0.01)


@pytest.mark.long
@pytest.mark.parametrize("row", OF_RBP, ids=lambda row: f"{row[0]}-{SHARES[row[1]]}")
def test_rbp_as_in_the_reference(row: tuple[str, int, float, float]) -> None:
    """1,000 redraws of RBP with a grid, calibrated."""
    judge, total, size, coverage = row
    found = linear(judge, total, "grid", "RBP", 1000)["calibrated"]
    assert found[0] == pytest.approx(size, rel=0.1)
    assert found[1] == pytest.approx(coverage, abs=0.01)


def by_topic(track: Population, sample: Drawn, judge: str) -> dict[str, Array]:
    """Estimate scores by topic."""
    grades, model = track.grades("nist"), track.grades(judge)
    people = (grades >= JUDGES["umbrela"][1]).astype(float)
    judged, n = sample.judged, track.n_topics
    relevant = calibrated_shares(model, people[judged].astype(np.int64), 2, sample)[:, 1]
    precision = track.weights(WORTH["P@10"] * n)
    gain = track.weights(n * (RANKS <= 10) / np.log2(RANKS + 1))
    shares = calibrated_shares(model, grades[judged], 4, sample)
    gains = shares @ LEVELS
    counts = []
    for level in (1, 2, 3):
        expected = shares[:, level:].sum(axis=1)
        extra = ((grades[judged] >= level) - expected[judged]) / sample.inclusion
        counts.append(
            np.bincount(sample.topics, expected, minlength=n)
            + np.bincount(sample.topics[judged], extra, minlength=n)
        )
    residuals = grades[judged] - gains[judged]
    found = difference_scores(track.by_topic(gain, gains), gain[:, judged], residuals, sample)
    off = people[judged] - relevant[judged]
    return {
        "P@10": difference_scores(track.by_topic(precision, relevant), precision[:, judged], off, sample),
        "AP": corrected_precision(track.places, relevant, people[judged], sample),
        "nDCG@10": corrected_ndcg(found, corrected_ideal(np.stack(counts, axis=1), np.ones(3), 10)),
    }


def redrawn_topics(judge: str, total: int, n_redraws: int) -> Iterator[tuple[Population, Drawn]]:
    """Draw topics with replacement, and of every one a sample afresh."""
    track = population()
    strata, taken = sizes_to_draw("topicgrid", judge, total)
    ends = np.append(track.starts, len(track.pairs))
    generator = np.random.default_rng(1)
    for _ in range(n_redraws):
        picked = generator.integers(0, track.n_topics, track.n_topics)
        sizes = ends[picked + 1] - ends[picked]
        rows = np.concatenate([np.arange(ends[topic], ends[topic + 1]) for topic in picked])
        topics = np.repeat(np.arange(track.n_topics), sizes)
        codes = cells(topics, strata[rows])
        judged = np.zeros(rows.size, np.bool_)
        for code in range(codes.max() + 1):
            members = np.flatnonzero(codes == code)
            judged[generator.choice(members, taken[strata[rows[members[0]]]], replace=False)] = True
        starts = np.searchsorted(topics, np.arange(track.n_topics))
        pairs = [track.pairs[row] for row in rows.tolist()]
        again = Population(pairs, topics, track.n_topics, track.places[:, picked], starts)
        yield again, drawn(topics, codes, judged)


def of_topics(total: int, n_redraws: int) -> dict[str, tuple[float, float, float, float]]:
    """Return by measure error, bias, tau-b and coverage of the topics' interval."""
    track = population()
    whole = drawn(track.topics, track.topics, np.ones(len(track.pairs), np.bool_))
    truth = {name: one.mean(axis=1) for name, one in by_topic(track, whole, "umbrela").items()}
    scores: dict[str, list[Array]] = {name: [] for name in truth}
    covered: dict[str, list[NDArray[np.bool_]]] = {name: [] for name in truth}
    for sample in samples("topicgrid", "umbrela", total, n_redraws):
        for name, one in by_topic(track, sample, "umbrela").items():
            scores[name].append(one.mean(axis=1))
    for again, sample in redrawn_topics("umbrela", total, n_redraws):
        for name, one in by_topic(again, sample, "umbrela").items():
            low, high = topic_interval(one)
            covered[name].append((low <= truth[name]) & (truth[name] <= high))
    return {
        name: (
            error([one - truth[name] for one in scores[name]]),
            float(np.mean([one - truth[name] for one in scores[name]])),
            float(np.mean([tau_b(truth[name], one) for one in scores[name]])),
            float(np.mean(covered[name])),
        )
        for name in truth
    }


@pytest.mark.long
@pytest.mark.parametrize("total", [1083, 2166])
def test_measures_of_topics_as_in_the_reference(total: int) -> None:
    """150 redraws, as the reference: coverage of intervals within .03, twice its Monte Carlo error."""
    for name, found in of_topics(total, 150).items():
        size, bias, tau, coverage = OF_TOPICS[name, total]
        assert found[0] == pytest.approx(size, rel=0.1), name
        assert found[1] == pytest.approx(bias, abs=0.003), name
        assert found[2] == pytest.approx(tau, abs=0.015), name
        assert found[3] == pytest.approx(coverage, abs=0.03), name
