"""Every score of the runs that a model's grades and a sample judged by people allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.corrected.drawn import FEWEST, Drawn, calibrated_shares, grade_counts
from store.analysis.corrected.linear import covariances, difference_scores
from store.analysis.corrected.whole_lists import corrected_ideal, corrected_ndcg, corrected_precision
from store.analysis.measures.average_precision import mean_average_precision
from store.analysis.measures.sampled import NOT_POOLED, at_places
from store.analysis.rankings import NOT_RETRIEVED

CorrectionMethod = Literal["calibrated", "people"]
WAYS: tuple[CorrectionMethod, ...] = get_args(CorrectionMethod)
"""What is expected of documents that people did not judge: the share of people's judgements of the model's
grade, where the sample has `FEWEST` documents of every grade to learn it from; else nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """The documents of a sampled pool, topic by topic, and what people and the model said of them."""

    sample: Drawn
    places: NDArray[np.int32]
    """Shape (n_runs, n_topics, width): see `store.analysis.measures.sampled.SampledRankings`."""
    people: NDArray[np.int64]
    """Shape (n_judged,): people's grades of the judged documents, as numbers of `levels`."""
    model: NDArray[np.int64]
    """Shape (n_documents,): the model's likewise; `NO_GRADE` = none."""
    levels: NDArray[np.int64]
    """Shape (n_levels,): grades from 0, ascending."""
    level: int
    """Least relevant grade of people."""
    model_level: int
    """The same of the model."""

    @property
    def is_learnable(self) -> bool:
        """Whether every grade of the model has `FEWEST` judged documents or more."""
        return bool((grade_counts(self.model, self.sample) >= FEWEST).all())

    def topic_sums(self, worth: NDArray[np.float64], gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sums over ranks of worth times gain, shape (n_runs, n_topics)."""
        found = np.empty(self.places.shape[:2])
        seen = self.places[:, :, : worth.size]
        for topic, rows in enumerate(self.topic_rows()):
            found[:, topic] = at_places(gains[rows], seen[:, topic]) @ worth[: seen.shape[2]]
        return found

    def weights(self, worth: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what a gain of each judged document adds in its topic, shape (n_runs, n_judged)."""
        judged, seen = self.sample.judged, self.places[:, :, : worth.size]
        found = np.zeros((len(self.places), judged.size))
        for topic, rows in enumerate(self.topic_rows()):
            columns = slice(*np.searchsorted(judged, [rows.start, rows.stop]))
            of_topic = np.full(rows.stop - rows.start + 2, -1)
            of_topic[judged[columns] - rows.start] = np.arange(columns.start, columns.stop)
            at = of_topic[seen[:, topic]]
            runs, ranks = np.nonzero(at >= 0)
            found[runs, at[runs, ranks]] = worth[ranks]
        return found

    def topic_rows(self) -> list[slice]:
        """Return the rows of every topic."""
        ends = np.searchsorted(self.sample.topics, np.arange(self.places.shape[1] + 1)).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]


@dataclass(frozen=True, slots=True, eq=False)
class MeasureSpec:
    """A measure, as sums of worths of ranks times gains of grades."""

    name: str
    kind: Literal["linear", "AP", "nDCG"]
    worth: NDArray[np.float64]
    """Shape (cutoff,): of ranks, from the first."""
    gains: NDArray[np.float64] | None = None
    """Shape (n_levels,): of grades; ``None`` = 1 from the least relevant grade on."""


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedMeasure:
    """One measure of all runs."""

    name: str
    kind: Literal["linear", "AP", "nDCG"]
    way: CorrectionMethod
    """What was used: ``people`` where there was too little to learn from."""
    by_model: NDArray[np.float64]
    """Shape (n_runs,): mean over topics with the model's grades alone; NaN = no topic has one."""
    by_topic: NDArray[np.float64]
    """Shape (n_runs, n_topics): corrected; NaN = undefined: of AP and nDCG where nothing is relevant."""
    covariance: NDArray[np.float64] | None = None
    """Shape (n_runs, n_runs): of the means, for these topics; NaN where a stratum has one judged document
    alone; ``None`` of measures that are not linear."""
    variances: Mapping[CorrectionMethod, float] = field(default_factory=dict)
    """Mean over runs of the variance, by way; of linear measures. ``calibrated`` where it can be learnt."""
    outside: NDArray[np.float64] | None = None
    """Shape (n_runs,): share of the weight of filled ranks that is on documents outside the pool."""
    bounds: NDArray[np.float64] | None = None
    """Shape (2, n_runs): means with 0 and with the greatest gain for sampled documents without a grade;
    ``None`` = there are none."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """Shape (n_runs,): corrected means over topics."""
        return _mean(self.by_topic)

    @property
    def helped(self) -> bool | None:
        """Whether the model's grades make variances smaller than people's alone; ``None`` = not known."""
        if "calibrated" not in self.variances or np.isnan(self.variances["people"]):
            return None
        return self.variances["calibrated"] < self.variances["people"]


def _mean(by_topic: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over topics where a score is defined; NaN = nowhere."""
    return mean_average_precision(by_topic)[0]


def corrected_measures(
    population: Population, specs: Sequence[MeasureSpec], *, whole: Drawn | None = None
) -> list[CorrectedMeasure]:
    """Correct a model's scores by people's grades of a sample.

    Parameters
    ----------
    population : Population
        Every stratum that has documents has a judged one.
    specs : sequence of MeasureSpec
    whole : Drawn, optional
        The sample with the documents that could not be judged; bounds are of it.

    Returns
    -------
    list of CorrectedMeasure
        What is expected of documents that people did not judge is one of `WAYS`.

    Notes
    -----
    Methods are those of `linear` and `whole_lists` in this room. O(n_runs^2 n_judged) a measure.
    """
    used: CorrectionMethod = "calibrated" if population.is_learnable else "people"
    found = []
    for spec in specs:
        one = _corrected(population, spec, used)
        if whole is not None and whole.judged.size > population.sample.judged.size:
            filled = [
                replace(population, sample=whole, people=_filled(population, whole, end)) for end in (0, -1)
            ]
            expected = _expected(population, spec, used)
            bounds = [_mean(_by_topic(each, spec, expected)) for each in filled]
            one = replace(one, bounds=np.sort(bounds, axis=0))
        found.append(one)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Expected:
    """What is expected of every document: its gain, and for nDCG how likely each grade is."""

    gains: NDArray[np.float64]
    shares: NDArray[np.float64]


def _gains(population: Population, spec: MeasureSpec) -> NDArray[np.float64]:
    if spec.gains is not None:
        return spec.gains
    return (population.levels >= population.level).astype(np.float64)


def _model_gains(population: Population, spec: MeasureSpec) -> NDArray[np.float64]:
    """Return the gain of every document by the model; 0 without a grade."""
    of_level = spec.gains
    if of_level is None:
        of_level = (population.levels >= population.model_level).astype(np.float64)
    return np.append(of_level, 0.0)[population.model]


def _shares(population: Population, spec: MeasureSpec) -> NDArray[np.float64]:
    """Return how likely each outcome is by the sample: relevant or not, or every grade."""
    outcomes, n = population.people, population.levels.size
    if spec.gains is None:
        outcomes, n = _gains(population, spec)[outcomes].astype(np.int64), 2
    return calibrated_shares(population.model, outcomes, n, population.sample)


def _expected(population: Population, spec: MeasureSpec, way: CorrectionMethod) -> _Expected:
    if way == "people":
        return _Expected(
            np.zeros(population.model.size), np.zeros((population.model.size, population.levels.size))
        )
    shares = _shares(population, spec)
    gains = shares[:, 1] if spec.gains is None else shares @ spec.gains
    return _Expected(gains, shares)


def _by_topic(population: Population, spec: MeasureSpec, expected: _Expected) -> NDArray[np.float64]:
    sample = population.sample
    people = _gains(population, spec)[population.people]
    if spec.kind == "AP":
        places = population.places[:, :, : spec.worth.size]
        return corrected_precision(places, expected.gains, people, sample)
    residuals = people - expected.gains[sample.judged]
    sums = population.topic_sums(spec.worth, expected.gains)
    linear = difference_scores(sums, population.weights(spec.worth), residuals, sample)
    if spec.kind == "linear":
        return linear
    counts = np.stack(
        [
            _count(population, population.people >= place, expected.shares[:, place:].sum(axis=1))
            for place in range(1, population.levels.size)
        ],
        axis=1,
    )
    ideal = corrected_ideal(counts, np.diff(_gains(population, spec)), spec.worth.size)
    found = corrected_ndcg(linear, ideal)
    n_open = np.bincount(sample.topics, minlength=ideal.size)
    n_open -= np.bincount(sample.topics[sample.judged], minlength=ideal.size)
    found[:, (ideal == 0) & (n_open == 0)] = np.nan  # people judged all of it, and found nothing
    return found


def _count(
    population: Population, is_one: NDArray[np.bool_], expected: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Estimate how many documents of every topic are such that `is_one` of the judged ones."""
    sample, n_topics = population.sample, population.places.shape[1]
    extra = (is_one - expected[sample.judged]) / sample.inclusion
    of_judged = np.bincount(sample.topics[sample.judged], extra, minlength=n_topics)
    return np.asarray(np.bincount(sample.topics, expected, minlength=n_topics) + of_judged)


def _corrected(population: Population, spec: MeasureSpec, way: CorrectionMethod) -> CorrectedMeasure:
    by_model = _mean(_by_model(population, spec))
    if spec.kind != "linear":
        scores = _by_topic(population, spec, _expected(population, spec, way))
        return CorrectedMeasure(spec.name, spec.kind, way, by_model, scores)
    sample, n_topics = population.sample, population.places.shape[1]
    rows = sample.judged
    weights = population.weights(spec.worth) / n_topics
    people = _gains(population, spec)[population.people]
    variances: dict[CorrectionMethod, float] = {}
    covariance = np.empty((0, 0))
    for one in WAYS:
        if one == "calibrated" and not population.is_learnable:
            continue
        expected = _expected(population, spec, one)
        found = covariances(weights * (people - expected.gains[rows]), sample)
        variances[one] = float(np.mean(np.diag(found)))
        covariance = found if one == way else covariance
    scores = _by_topic(population, spec, _expected(population, spec, way))
    return CorrectedMeasure(
        name=spec.name,
        kind=spec.kind,
        way=way,
        by_model=by_model,
        by_topic=scores,
        covariance=covariance,
        variances=variances,
        outside=_outside(population, spec),
    )


def _by_model(population: Population, spec: MeasureSpec) -> NDArray[np.float64]:
    """Score the runs by the model's grades alone, by topic; NaN of nDCG where it found nothing."""
    none = replace(population.sample, judged=np.empty(0, np.int64))
    unjudged = replace(population, sample=none, people=np.empty(0, np.int64))
    n_levels = population.levels.size
    grades = np.vstack([np.eye(n_levels), np.zeros(n_levels)])[population.model]
    expected = _Expected(_model_gains(population, spec), grades)
    found = _by_topic(unjudged, spec, expected)
    if spec.kind == "nDCG":
        n_topics = population.places.shape[1]
        found[:, np.bincount(none.topics, expected.gains, minlength=n_topics) == 0] = np.nan
    return found


def _outside(population: Population, spec: MeasureSpec) -> NDArray[np.float64]:
    """Return the share of weight on documents outside the pool."""
    kept = population.places[:, :, : spec.worth.size]
    worth = spec.worth[: kept.shape[2]]
    total = ((kept != NOT_RETRIEVED) @ worth).sum(axis=1)
    outside = ((kept == NOT_POOLED) @ worth).sum(axis=1)
    return np.asarray(np.divide(outside, total, out=np.zeros(total.shape), where=total > 0))


def _filled(population: Population, whole: Drawn, place: int) -> NDArray[np.int64]:
    """Return people's grades of a sample, the least or the greatest where there is none."""
    found = np.full(whole.judged.size, np.arange(population.levels.size)[place])
    found[np.searchsorted(whole.judged, population.sample.judged)] = population.people
    return found
