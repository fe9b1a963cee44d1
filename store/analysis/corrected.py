r"""Scores from a model's grades of all documents, corrected by people's grades of a sample.

A score that is linear in gains, :math:`\sum_d w_d y_d`, is estimated from a prediction x of every gain and
people's gains y of the sample s, in which document d is with probability :math:`\pi_d` [1]_:

.. math:: \hat\theta = \sum_U w_d x_d + \sum_s w_d (y_d - x_d) / \pi_d

It is unbiased for every x that does not depend on the sample. x = 0 is Horvitz and Thompson's estimator, from
people alone; x = m, the model's gain, is prediction-powered inference [2]_. Here the judged documents belong
to the population, so the first sum is exact.

References
----------
.. [1] C. E. Sarndal, B. Swensson and J. Wretman, *Model Assisted Survey Sampling*, 1992, 6.3.
.. [2] A. N. Angelopoulos et al., "Prediction-powered inference", *Science* 382, 2023,
   doi:10.1126/science.adi6000.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.average_precision import mean_average_precision
from store.analysis.measures.sampled import NOT_POOLED, at_places
from store.analysis.rankings import NOT_RETRIEVED
from store.analysis.ratios import quotient

NO_GRADE = -1
"""Of a document that the model did not grade: nothing is expected of it, which is a gain of 0."""
FEWEST = 30
"""Judged documents of every grade of the model, with which its grades may be calibrated."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Simple random samples from strata; build it with `drawn`."""

    topics: NDArray[np.int64]
    """Shape (n_documents,): topic of each document of the population, from 0, ascending."""
    strata: NDArray[np.int64]
    """Shape (n_documents,): from 0; a stratum may be of several topics."""
    judged: NDArray[np.int64]
    """Shape (n_judged,): rows of the population that were sampled and judged, ascending."""
    sizes: NDArray[np.int64]
    """Shape (n_strata,): documents."""
    counts: NDArray[np.int64]
    """Shape (n_strata,): judged documents."""

    @property
    def inclusion(self) -> NDArray[np.float64]:
        """Shape (n_judged,): share of its stratum that is judged, for each judged document."""
        return np.asarray((self.counts / np.maximum(self.sizes, 1))[self.strata[self.judged]])

    @property
    def joint(self) -> NDArray[np.float64]:
        r"""Shape (n_strata,): :math:`\pi_d \pi_e / \pi_{de}` of two documents of one stratum.

        With n of N judged it is n (N - 1) / (N (n - 1)); 1 where n < 2, since no two are judged.
        """
        n, size = self.counts, self.sizes
        found = np.ones(n.size)
        return np.divide(n * (size - 1.0), size * (n - 1.0), out=found, where=n > 1)

    @property
    def uncovered(self) -> NDArray[np.int64]:
        """Strata that have documents, of which none is judged: nothing can be estimated."""
        return np.flatnonzero((self.sizes > 0) & (self.counts == 0))


def drawn(topics: NDArray[np.int64], strata: NDArray[np.int64], judged: NDArray[np.bool_]) -> Drawn:
    """Describe a sample by the topic and stratum of every document, both from 0, and whether it was judged.

    Topics ascend. Sampled documents that could not be judged are lost at
    random within their stratum: they count as not sampled.

    Examples
    --------
    >>> sample = drawn(np.zeros(4, int), np.array([0, 0, 0, 1]), np.array([True, False, True, True]))
    >>> sample.inclusion.round(3).tolist(), sample.joint.round(3).tolist()
    ([0.667, 0.667, 1.0], [1.333, 1.0])
    """
    sizes = np.bincount(strata)
    counts = np.bincount(strata[judged], minlength=sizes.size)
    return Drawn(topics, strata, np.flatnonzero(judged), sizes, counts)


def grade_counts(model: NDArray[np.int64], sample: Drawn) -> NDArray[np.int64]:
    """Count judged documents by the model's grade, for the grades that documents have, ascending.

    Examples
    --------
    >>> sample = drawn(np.zeros(3, int), np.zeros(3, int), np.array([True, True, False]))
    >>> grade_counts(np.array([2, 0, 1]), sample).tolist()
    [1, 0, 1]
    """
    known = np.unique(model[model != NO_GRADE])
    of_judged = model[sample.judged]
    return np.array([np.count_nonzero(of_judged == one) for one in known.tolist()], dtype=np.int64)


def calibrated_shares(
    model: NDArray[np.int64], outcomes: NDArray[np.int64], n_outcomes: int, sample: Drawn
) -> NDArray[np.float64]:
    r"""Estimate how people grade documents that the model grades alike.

    Parameters
    ----------
    model : ndarray of int64, shape (n_documents,)
        The model's grades as numbers from 0; `NO_GRADE`.
    outcomes : ndarray of int64, shape (n_judged,)
        What people said of the judged documents, from 0.
    n_outcomes : int
        What they can say: 2 of relevance.
    sample : Drawn

    Returns
    -------
    ndarray of float64, shape (n_documents, n_outcomes)
        Of every document the shares of its grade, which sum to 1; all 0 without a grade.

    Notes
    -----
    With :math:`n_g` judged documents of the model's grade g, w = 1 / inclusion, and L outcomes,

    .. math:: p_{gl} = \frac{n_g \sum w [y = l] / \sum w + 1/L}{n_g + 1}

    Examples
    --------
    Grade 1: three of four judged are relevant, (3 + 1/2) / 5; grade 0: none is judged.

    >>> sample = drawn(np.zeros(5, int), np.zeros(5, int), np.array([True] * 4 + [False]))
    >>> calibrated_shares(np.array([1, 1, 1, 1, 0]), np.array([1, 1, 1, 0]), 2, sample)[:, 1].tolist()
    [0.7, 0.7, 0.7, 0.7, 0.5]
    """
    n_grades = int(model.max(initial=NO_GRADE)) + 1
    grades, expanded = model[sample.judged], 1 / sample.inclusion
    is_known = grades != NO_GRADE
    cells = grades[is_known] * n_outcomes + outcomes[is_known]
    sums = np.bincount(cells, expanded[is_known], minlength=n_grades * n_outcomes)
    sums = sums.reshape(n_grades, n_outcomes)
    counts = np.bincount(grades[is_known], minlength=n_grades)[:, None]
    total = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, total, out=np.zeros(sums.shape), where=total > 0)
    shares = (counts * shares + 1 / n_outcomes) / (counts + 1)
    return np.asarray(np.vstack([shares, np.zeros(n_outcomes)])[model])


NORMAL = 1.96
"""Standard errors to each side of an interval of 95 %."""


def difference_scores(
    expected: NDArray[np.float64], weights: NDArray[np.float64], residuals: NDArray[np.float64], sample: Drawn
) -> NDArray[np.float64]:
    """Estimate scores by topic.

    Parameters
    ----------
    expected : ndarray of float64, shape (n_runs, n_topics)
        Scores with the predictions as gains.
    weights : ndarray of float64, shape (n_runs, n_judged)
        Of the judged documents in each run; 0 where it does not have them.
    residuals : ndarray of float64, shape (n_judged,)
        People's gains less the predictions.
    sample : Drawn

    Returns
    -------
    ndarray of float64, shape (n_runs, n_topics)
        May be outside the range of the measure. O(n_runs n_judged).

    Examples
    --------
    Eight documents; people 1 0 1 0 1 0 0 0, the model 1 1 1 1 0 0 0 0; P@5 of the run d1 d5 d2 d6 d3. Of two
    strata d1, d2 and d5, d7 are judged; expected 3/5, residuals 0, -1, 1, 0, each for two documents:

    >>> from store.analysis.corrected import drawn
    >>> judged = np.isin(np.arange(1, 9), [1, 2, 5, 7])
    >>> sample = drawn(np.zeros(8, int), np.repeat([0, 1], 4), judged)
    >>> weights, residuals = np.array([[0.2, 0.2, 0.2, 0.0]]), np.array([0.0, -1.0, 1.0, 0.0])
    >>> difference_scores(np.array([[0.6]]), weights, residuals, sample).round(12).tolist()
    [[0.6]]
    """
    scores = np.array(expected, dtype=np.float64)
    if sample.judged.size:
        of_judged = sample.topics[sample.judged]
        starts = np.flatnonzero(np.diff(of_judged, prepend=-1))
        changes = np.add.reduceat(weights * (residuals / sample.inclusion), starts, axis=1)
        scores[:, of_judged[starts]] += changes
    return scores


def covariances(values: NDArray[np.float64], sample: Drawn) -> NDArray[np.float64]:
    r"""Estimate the covariances of sums over a population, from stratified simple random samples.

    Parameters
    ----------
    values : ndarray of float64, shape (n_sums, n_judged)
        What each judged document adds; for `difference_scores` weights x residuals.
    sample : Drawn

    Returns
    -------
    ndarray of float64, shape (n_sums, n_sums)
        :math:`\sum_c N_c^2 (1 - n_c/N_c) / n_c` times the covariance within stratum c, with divisor
        :math:`n_c - 1`. Strata that are judged whole add nothing. All NaN where a stratum of several
        documents has fewer than two judged. O(n_sums^2 n_judged).

    Examples
    --------
    As above, 4^2 (1 - 2/4) / 2 = 4 a stratum; of 0, -.2 and of .2, 0 the variance is .02:

    >>> from store.analysis.corrected import drawn
    >>> judged = np.isin(np.arange(1, 9), [1, 2, 5, 7])
    >>> sample = drawn(np.zeros(8, int), np.repeat([0, 1], 4), judged)
    >>> covariances(np.array([[0.0, -0.2, 0.2, 0.0]]), sample).round(12).tolist()
    [[0.16]]
    """
    found = np.zeros((len(values), len(values)))
    for rows, factor in _parts(sample):
        if rows.size < 2:
            return np.full(found.shape, np.nan)
        part = values[:, rows] - values[:, rows].mean(axis=1, keepdims=True)
        found += factor / (rows.size - 1) * (part @ part.T)
    return found


def _parts(sample: Drawn) -> list[tuple[NDArray[np.int64], float]]:
    """Return columns of the judged documents of every stratum not judged whole, and its factor k."""
    of_judged = sample.strata[sample.judged]
    order = np.argsort(of_judged, kind="stable")
    ends = np.cumsum(sample.counts)
    parts = []
    for stratum in np.flatnonzero(sample.counts < sample.sizes).tolist():
        n, size = int(sample.counts[stratum]), int(sample.sizes[stratum])
        factor = size * (size - n) / n if n else np.inf
        parts.append((order[ends[stratum] - n : ends[stratum]], factor))
    return parts


LEAST_EXPECTED = 0.25
"""Of the relevant documents that the predictions expect, the share that AP is divided by at least."""


def corrected_precision(
    places: NDArray[np.int32],
    predicted: NDArray[np.float64],
    relevant: NDArray[np.float64],
    sample: Drawn,
    *,
    is_cut: bool = True,
) -> NDArray[np.float64]:
    r"""Estimate average precision.

    Parameters
    ----------
    places : ndarray of int32, shape (n_runs, n_topics, width)
        In rank order, the place of a document among those of its topic; below 0 = not in it.
    predicted : ndarray of float64, shape (n_documents,)
        Prediction of each document's relevance.
    relevant : ndarray of float64, shape (n_judged,)
        People's, 0 or 1.
    sample : Drawn
    is_cut : bool, optional
        Whether to keep scores within [0, 1], and the divisor away from 0.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_topics)
        NaN where the divisor is 0.

    Notes
    -----
    With :math:`u_d = [d \in s] (y_d - x_d) / \pi_d`, :math:`z_d = x_d + u_d`, k the rank, and
    :math:`c_{de} = \pi_d \pi_e / \pi_{de}` (`Drawn.joint` within a stratum, else 1),

    .. math::

        \hat Q = \sum_d z_d / k_d + \sum_{e\,above\,d}
                 [z_d z_e + (c_{de} - 1) u_d u_e] / k_d, \quad \hat R = \sum z,
        \quad \widehat{AP} = \hat Q / \max(\hat R, \textstyle\sum x / 4)

    cut to [0, 1]. Q-hat and R-hat are unbiased for every x that does not depend on the sample. Where a topic
    is judged whole, the divisor is R and AP-hat is AP. O(n_runs width) for each stratum of a topic.

    Examples
    --------
    Four documents in rank order, relevant 1 0 1 1, the model 1 1 0 1; a and b judged: Q-hat 1/4, R-hat 1.

    >>> from store.analysis.corrected import drawn
    >>> sample = drawn(np.zeros(4, int), np.zeros(4, int), np.array([True, True, False, False]))
    >>> order, model = np.arange(4, dtype=np.int32).reshape(1, 1, 4), np.array([1.0, 1.0, 0.0, 1.0])
    >>> corrected_precision(order, model, np.array([1.0, 0.0]), sample).tolist()
    [[0.25]]
    """
    n_runs, n_topics, width = places.shape
    ranks = np.arange(1, width + 1)
    residuals = np.zeros(sample.topics.size)
    residuals[sample.judged] = (relevant - predicted[sample.judged]) / sample.inclusion
    joint = sample.joint
    ends = np.searchsorted(sample.topics, np.arange(n_topics + 1))
    n_judged = np.bincount(sample.topics[sample.judged], minlength=n_topics)
    found = np.full((n_runs, n_topics), np.nan)
    for topic in range(n_topics):
        rows = slice(ends[topic], ends[topic + 1])
        # Places below 0 pick the last two elements, which add nothing.
        u = np.append(residuals[rows], [0.0, 0.0])
        z = np.append(predicted[rows], [0.0, 0.0]) + u
        strata = np.append(sample.strata[rows], [-1, -1])
        n_expected, at = z.sum(), places[:, topic]
        of_rank = z[at]
        total = np.sum(of_rank * (1 + np.cumsum(of_rank, axis=1) - of_rank) / ranks, axis=1)
        for stratum in np.unique(strata[u != 0]).tolist():
            own = np.where(strata == stratum, u, 0.0)[at]
            pairs = np.sum(own * (np.cumsum(own, axis=1) - own) / ranks, axis=1)
            total += (joint[stratum] - 1) * pairs
        divisor = n_expected
        if is_cut and n_judged[topic] < ends[topic + 1] - ends[topic]:
            divisor = max(n_expected, LEAST_EXPECTED * predicted[rows].sum())
        if divisor:
            found[:, topic] = np.clip(total / divisor, 0, 1) if is_cut else total / divisor
    return found


def corrected_ideal(
    counts: NDArray[np.float64], gains: NDArray[np.float64], cutoff: int
) -> NDArray[np.float64]:
    """Return the discounted gain of the best list, from estimated numbers of documents, shape (n_topics,).

    Parameters
    ----------
    counts : ndarray of float64, shape (n_topics, n_levels)
        Documents of at least each level, levels ascending; any number. Below 0 they count as 0, and none is
        more than that of the level below it.
    gains : ndarray of float64, shape (n_levels,)
        What a level adds to the gain of the one below it.
    cutoff : int
        Ranks that count, at least 1.

    Notes
    -----
    Discounts log2(rank + 1), between whole numbers of documents by straight lines. It is concave in the
    counts: too high on the average where they are estimates.

    Examples
    --------
    1.5 relevant documents, 1 + 1/2 of 1 / log2(3):

    >>> corrected_ideal(np.array([[1.5]]), np.array([1.0]), 10).round(4).tolist()
    [1.3155]
    """
    kept = np.minimum.accumulate(np.maximum(counts, 0.0), axis=1)
    reached = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, cutoff + 2)))))
    return np.asarray(np.interp(kept, np.arange(cutoff + 1), reached) @ gains)


def corrected_ndcg(discounted: NDArray[np.float64], ideal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide estimated discounted gains by those of the best list, cut to [0, 1]; 0 where that has none.

    Examples
    --------
    >>> corrected_ndcg(np.array([[1.0, 3.0, 1.0]]), np.array([2.0, 2.0, 0.0])).tolist()
    [[0.5, 1.0, 0.0]]
    """
    found = np.divide(discounted, ideal, out=np.zeros(discounted.shape), where=ideal > 0)
    return np.asarray(np.clip(found, 0.0, 1.0))


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


_Expected = tuple[NDArray[np.float64], NDArray[np.float64]]
"""What is expected of every document: its gain, and for nDCG how likely each grade is."""


def _gains(population: Population, spec: MeasureSpec) -> NDArray[np.float64]:
    if spec.gains is not None:
        return spec.gains
    return (population.levels >= population.level).astype(np.float64)


def _expected(population: Population, spec: MeasureSpec, way: CorrectionMethod) -> _Expected:
    n, outcomes = population.levels.size, population.people
    if way == "people":
        return np.zeros(population.model.size), np.zeros((population.model.size, n))
    if spec.gains is not None:
        shares = calibrated_shares(population.model, outcomes, n, population.sample)
        return shares @ spec.gains, shares
    relevant = _gains(population, spec)[outcomes].astype(np.int64)
    shares = calibrated_shares(population.model, relevant, 2, population.sample)
    return shares[:, 1], shares


def _by_topic(population: Population, spec: MeasureSpec, expected: _Expected) -> NDArray[np.float64]:
    sample, (gains, shares) = population.sample, expected
    people = _gains(population, spec)[population.people]
    if spec.kind == "AP":
        places = population.places[:, :, : spec.worth.size]
        return corrected_precision(places, gains, people, sample)
    residuals = people - gains[sample.judged]
    sums = population.topic_sums(spec.worth, gains)
    linear = difference_scores(sums, population.weights(spec.worth), residuals, sample)
    if spec.kind == "linear":
        return linear
    counts = np.stack(
        [
            _count(population, population.people >= place, shares[:, place:].sum(axis=1))
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


def corrected_measure(
    population: Population, spec: MeasureSpec, *, whole: Drawn | None = None
) -> CorrectedMeasure:
    """Correct a model's scores by people's grades of a sample.

    Every stratum of `population` that has documents has a judged one; `whole` is the sample with the
    documents that could not be judged, of which bounds are. What is expected of documents that people did not
    judge is one of `WAYS`. Methods are those of `difference_scores`, `corrected_precision` and
    `corrected_ndcg`. O(n_runs^2 n_judged).
    """
    way: CorrectionMethod = "calibrated" if population.is_learnable else "people"
    expected = _expected(population, spec, way)
    scores, sample, bounds = _by_topic(population, spec, expected), population.sample, None
    if whole is not None and whole.judged.size > sample.judged.size:
        # People's grades, the least or the greatest where there is none.
        ends = []
        for least in (0, population.levels.size - 1):
            people = np.full(whole.judged.size, least)
            people[np.searchsorted(whole.judged, sample.judged)] = population.people
            ends.append(_mean(_by_topic(replace(population, sample=whole, people=people), spec, expected)))
        bounds = np.sort(ends, axis=0)
    found = CorrectedMeasure(
        spec.name, spec.kind, way, _mean(_by_model(population, spec)), scores, bounds=bounds
    )
    if spec.kind != "linear":
        return found
    weights = population.weights(spec.worth) / population.places.shape[1]
    grades = _gains(population, spec)[population.people]
    of_ways = {}
    for one in WAYS[WAYS.index(way) :]:
        gains, _ = _expected(population, spec, one)
        of_ways[one] = covariances(weights * (grades - gains[sample.judged]), sample)
    kept = population.places[:, :, : spec.worth.size]
    worth = spec.worth[: kept.shape[2]]
    filled, outside = (flags @ worth for flags in (kept != NOT_RETRIEVED, kept == NOT_POOLED))
    return replace(
        found,
        covariance=of_ways[way],
        variances={one: float(np.mean(np.diag(values))) for one, values in of_ways.items()},
        outside=np.nan_to_num(quotient(outside.sum(axis=1), filled.sum(axis=1))),
    )


def _by_model(population: Population, spec: MeasureSpec) -> NDArray[np.float64]:
    """Score the runs by the model's grades alone, by topic; NaN of nDCG where it found nothing."""
    none = replace(population.sample, judged=np.empty(0, np.int64))
    unjudged = replace(population, sample=none, people=np.empty(0, np.int64))
    of_level, n_levels = spec.gains, population.levels.size
    if of_level is None:
        of_level = (population.levels >= population.model_level).astype(np.float64)
    gains = np.append(of_level, 0.0)[population.model]  # 0 without a grade
    grades = np.vstack([np.eye(n_levels), np.zeros(n_levels)])[population.model]
    found = _by_topic(unjudged, spec, (gains, grades))
    if spec.kind == "nDCG":
        n_topics = population.places.shape[1]
        found[:, np.bincount(none.topics, gains, minlength=n_topics) == 0] = np.nan
    return found
