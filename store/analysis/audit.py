"""What a judge's grades in place of others do: to levels, to scores, to orders, to conclusions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import (
    Interval,
    ratio_of_sums,
    topic_bootstrap,
    topic_bootstraps,
    topic_weights,
)
from store.analysis.agreement.kappa import stacked_chance_corrected
from store.analysis.run_order import TauResult, kendall_tau_b, tau_ap
from store.analysis.significance.pairs import compare_pairs, holm
from store.analysis.significance.t_tests import TTest, paired_t
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class CutAgreement:
    """Two judges, each with a cut of his or her own between not relevant and relevant."""

    human: int
    """Least relevant place on the scale of the first judge, from 1."""
    model: int
    """The same of the second."""
    kappa: float | None
    """Cohen's, in [-1, 1]; ``None`` with `reason`."""
    reason: str | None
    """``no-common-docs``, or ``single-grade``: one of the two has documents on one side of the cut only."""
    interval: Interval
    """Over topics."""
    human_share: float | None
    """Share of documents at or above the cut of the first judge, in [0, 1]; ``None`` without documents."""
    model_share: float | None
    """The same of the second."""


def cut_agreements(by_topic: NDArray[np.int64], *, seed: int, resamples: int) -> list[CutAgreement]:
    """Measure how far two judges agree on what is relevant, at every cut of the one and of the other.

    Parameters
    ----------
    by_topic : ndarray of int64, shape (n_topics, n_grades, n_grades)
        Documents counted by topic and grade: the first judge in rows, the second in columns, grades ascend.
    seed, resamples : int
        Of the bootstrap over topics.

    Returns
    -------
    list of CutAgreement
        For each cut of the first judge every cut of the second, both from 1 to ``n_grades - 1``.

    Notes
    -----
    A cut that leaves a judge one class is undefined here, where kappa by its formula would be 0: it says
    nothing of agreement. O(resamples * n_topics * n_grades**2).

    Examples
    --------
    The second judge gives every document of grade 1 and more a 1: the cut that fits is 1, not 2.

    >>> found = cut_agreements(np.array([[[3, 0, 0], [0, 2, 0], [0, 2, 0]]]), seed=1, resamples=100)
    >>> [(one.human, one.model, one.kappa, one.reason) for one in found if one.model == 1]
    [(1, 1, 1.0, None), (2, 1, 0.461538..., None)]
    >>> found[1].reason
    'single-grade'
    """
    cuts = [(human, model) for human in range(1, by_topic.shape[1]) for model in range(1, by_topic.shape[1])]
    statistics = {str(cut): partial(kappas_at, human=cut[0], model=cut[1]) for cut in cuts}
    intervals = topic_bootstraps(by_topic, statistics, seed=seed, resamples=resamples)
    whole = by_topic.sum(axis=0)
    n = int(whole.sum())
    found = []
    for human, model in cuts:
        kappa = float(kappas_at(whole[np.newaxis], human, model)[0])
        is_defined = bool(np.isfinite(kappa))
        found.append(
            CutAgreement(
                human=human,
                model=model,
                kappa=kappa if is_defined else None,
                reason=None if is_defined else "single-grade" if n else "no-common-docs",
                interval=intervals[str((human, model))],
                human_share=float(whole[human:].sum() / n) if n else None,
                model_share=float(whole[:, model:].sum() / n) if n else None,
            )
        )
    return found


def cut_gain(
    by_topic: NDArray[np.int64], one: tuple[int, int], other: tuple[int, int], *, seed: int, resamples: int
) -> Interval:
    """Bootstrap by how much kappa at two cuts exceeds kappa at two others, over topics.

    Cuts are of the first judge and of the second; the rest is as in `cut_agreements`.
    """
    return topic_bootstrap(
        by_topic,
        lambda tables: kappas_at(tables, *one) - kappas_at(tables, *other),
        seed=seed,
        resamples=resamples,
    )


def kappas_at(tables: NDArray[Any], human: int, model: int) -> NDArray[np.float64]:
    """Return kappa of every table of a stack at two cuts, shape (n_tables,); NaN as in `cut_agreements`."""
    rows = np.stack([tables[:, :human].sum(axis=1), tables[:, human:].sum(axis=1)], axis=1)
    binary = np.stack([rows[..., :model].sum(axis=2), rows[..., model:].sum(axis=2)], axis=2)
    one_class = (binary.sum(axis=1) == 0).any(axis=1) | (binary.sum(axis=2) == 0).any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(one_class, np.nan, stacked_chance_corrected("cohen", binary.astype(np.float64)))


DIGITS = 10
"""Means are rounded to as many decimals before runs are put in order: sums of the same scores in another
order differ in the last bit, and would break ties."""
FEW_PAIRS = 30
"""With fewer documents a person, the t test of the paper does not hold."""
_SAME = 1e-12
"""Differences no further apart are one difference."""


@dataclass(frozen=True, slots=True)
class LeftOutPerson:
    """One person left out, and compared with the model by how near either is to the other people."""

    n: int
    """Documents that this person, another one and the model graded."""
    model_wins: float | None = None
    """Share of documents where the model is at least as near, in [0, 1]; ``None`` without documents."""
    person_wins: float | None = None
    """Share where the person is; a tie counts for both."""
    difference: float | None = None
    """`person_wins` less `model_wins`."""
    t: float | None = None
    """``None`` with a reason."""
    p: float | None = None
    """One-sided: how easily so low a difference comes about where it is `epsilon`; in [0, 1]."""
    t_of_topics: float | None = None
    """The same of the sums of topics, whose documents are not independent; ``None`` with fewer than two."""
    p_of_topics: float | None = None
    reason: str | None = None
    """``no-common-docs``, ``one-doc``, or ``same-difference``: then p is 0 or 1, as the difference is below
    `epsilon` or not."""
    rejected: bool = False
    """Whether the person is found no better than the model by `epsilon`, all people considered."""


@dataclass(frozen=True, slots=True)
class AlternativeTest:
    """Each person left out in turn."""

    people: tuple[LeftOutPerson, ...]
    winning_rate: float | None
    """Share of people of whom that is found, of those with a p: omega; ``None`` with fewer than two."""
    advantage: float | None
    """Mean over people of `model_wins`."""
    reason: str | None
    """``one-human``, or ``no-common-docs``."""


def alternative_test(
    people: NDArray[np.float64],
    model: NDArray[np.float64],
    topics: NDArray[np.int64],
    *,
    epsilon: float,
    nominal: bool = False,
    q: float = 0.05,
) -> AlternativeTest:
    r"""Test whether a model stands in for any person of a group.

    Parameters
    ----------
    people : ndarray of float64, shape (n_documents, n_people)
        Grades; NaN = not graded.
    model : ndarray of float64, shape (n_documents,)
        The model's; NaN likewise.
    topics : ndarray of int64, shape (n_documents,)
        Code of every document's topic.
    epsilon : float
        What a person's time is worth: by how much a person may be better and still be replaced, in [0, 1).
    nominal : bool, default=False
        Nearness is the share of other people with the same grade, instead of the distance of grades.
    q : float, default=0.05
        Least false discovery rate, in (0, 1).

    Returns
    -------
    AlternativeTest
        The paper has the model pass where `winning_rate` is at least one half.

    Notes
    -----
    For person j and each document i that j, another person and the model graded, the nearness to the others k
    is :math:`S = -\sqrt{\mathrm{mean}_k (x - x_{ki})^2}`, or if nominal the share of :math:`x = x_{ki}`;
    :math:`h_i` and :math:`f_i` are 1 where the person and the model are at least as near as the other, and
    :math:`d_i = h_i - f_i`. Of :math:`H_0: \bar d \ge \epsilon` a one-sided t test has n - 1 degrees of
    freedom [1]_; all p are judged together by Benjamini and Yekutieli [2]_: reject the r smallest, r the
    largest with :math:`p_{(r)} \le r q / (m \sum_{i \le m} 1/i)`. O(n_documents * n_people**2).

    References
    ----------
    .. [1] N. Calderon, R. Reichart and R. Dror, "The alternative annotator test for LLM-as-a-judge: how to
       statistically justify replacing human annotators with LLMs", *ACL* 2025, arXiv:2501.10970.
    .. [2] Y. Benjamini and D. Yekutieli, "The control of the false discovery rate in multiple testing under
       dependency", *The Annals of Statistics* 29(4), 1165-1188, 2001, doi:10.1214/aos/1013699998.

    Examples
    --------
    Six documents; the differences are all 0 of the first person, have the mean -1/6 of the second, -1/3 of
    the third; the limits of p are .0091, .0182, .0273:

    >>> people = np.array([[2, 2, 1], [1, 0, 1], [0, 0, 0], [3, 3, 2], [1, 2, 1], [0, 0, 1]], dtype=float)
    >>> model, topics = np.array([2.0, 1, 0, 3, 2, 1]), np.zeros(6, dtype=np.int64)
    >>> found = alternative_test(people, model, topics, epsilon=0.2, nominal=True)
    >>> [round(one.p, 5) for one in found.people], [one.rejected for one in found.people]
    ([0.0, 0.03955, 0.02627], [True, False, False])
    >>> round(found.winning_rate, 4), found.advantage
    (0.3333, 1.0)
    """
    if not 0 <= epsilon < 1:
        raise ArgumentError("epsilon", "must be at least 0 and below 1", epsilon)
    n_people = people.shape[1]
    if n_people < 2:
        return AlternativeTest((), None, None, "one-human")
    tested = [
        _tested(people, model, topics, person, epsilon=epsilon, nominal=nominal) for person in range(n_people)
    ]
    p_values = [one.p for one in tested]
    rejected = rejections(p_values, q)
    found = tuple(replace(one, rejected=is_in) for one, is_in in zip(tested, rejected, strict=True))
    wins = [one.model_wins for one in found if one.model_wins is not None]
    n_tested = sum(p is not None for p in p_values)
    return AlternativeTest(
        found,
        sum(rejected) / n_tested if n_tested > 1 else None,
        float(np.mean(wins)) if wins else None,
        None if n_tested > 1 else "no-common-docs",
    )


def rejections(p_values: Sequence[float | None], q: float) -> list[bool]:
    """Return which hypotheses Benjamini and Yekutieli reject at a false discovery rate; ``None`` is no test.

    Examples
    --------
    >>> rejections([0.04, None, 0.001, 0.5], 0.05)  # limits .0091, .0182, .0273
    [False, False, True, False]
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    m = len(known)
    limit = q / (m * sum(1 / i for i in range(1, m + 1))) if m else 0.0
    last = max((rank for rank, (p, _) in enumerate(known, start=1) if p <= rank * limit), default=0)
    chosen = {place for _, place in known[:last]}
    return [place in chosen for place in range(len(p_values))]


def _nearness(
    grades: NDArray[np.float64], others: NDArray[np.float64], *, nominal: bool
) -> NDArray[np.float64]:
    """Return how near grades are to those of others, who did not all grade."""
    apart = others - grades[:, np.newaxis]
    if nominal:
        n_graded = np.count_nonzero(~np.isnan(others), axis=1)
        return np.asarray(np.count_nonzero(apart == 0, axis=1) / n_graded)
    return np.asarray(-np.sqrt(np.nanmean(apart**2, axis=1)))


def _tested(
    people: NDArray[np.float64],
    model: NDArray[np.float64],
    topics: NDArray[np.int64],
    person: int,
    *,
    epsilon: float,
    nominal: bool,
) -> LeftOutPerson:
    """Compare one person's nearness to the others with the model's, by documents and by topics."""
    others = np.delete(people, person, axis=1)
    used = ~np.isnan(people[:, person]) & ~np.isnan(model) & ~np.isnan(others).all(axis=1)
    of_model, of_person = (
        _nearness(grades[used], others[used], nominal=nominal) for grades in (model, people[:, person])
    )
    model_wins, person_wins = of_model >= of_person - _SAME, of_person >= of_model - _SAME
    n = int(model_wins.size)
    if not n:
        return LeftOutPerson(n, reason="no-common-docs")
    differences = person_wins.astype(np.float64) - model_wins
    mean = float(differences.mean())
    found = LeftOutPerson(
        n,
        model_wins=float(model_wins.mean()),
        person_wins=float(person_wins.mean()),
        difference=mean,
        reason="one-doc",
    )
    if n < 2:
        return found
    t, p = _one_sided(differences - epsilon)
    _, of_topic = np.unique(topics[used], return_inverse=True)
    sums = np.bincount(of_topic, differences - epsilon).astype(np.float64)
    t_of_topics, p_of_topics = _one_sided(sums) if sums.size > 1 else (None, None)
    found = replace(found, t=t, p=p, t_of_topics=t_of_topics, p_of_topics=p_of_topics, reason=None)
    return found if t is not None else replace(found, p=float(mean >= epsilon), reason="same-difference")


def _one_sided(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Return t of a mean against 0, and its p below; ``None`` where nothing varies."""
    from scipy.special import stdtr

    if float(np.ptp(values)) <= _SAME:
        return None, None
    t = float(values.mean() / (values.std(ddof=1) / math.sqrt(values.size)))
    return t, float(stdtr(values.size - 1, t))


@dataclass(frozen=True, slots=True, eq=False)
class Bias:
    """Differences of scores, the second judge's less the first one's."""

    of_runs: NDArray[np.float64]
    """Shape (n_runs,): mean over topics."""
    mean: float
    """Over topics and the runs that count."""
    interval: Interval
    """Of the mean, over topics."""
    own: tuple[TTest, ...]
    """For each run, whether it gains more than the runs do on the average: a paired t test over topics."""
    p_holm: NDArray[np.float64]
    """Shape (n_runs,): their p, adjusted for the number of runs; NaN = undefined."""
    correlation: float | None
    """Pearson's, of runs' biases and their scores by the first judge; ``None`` where one does not vary."""


def bias(
    human: NDArray[np.float64],
    model: NDArray[np.float64],
    *,
    seed: int,
    resamples: int,
    counted: NDArray[np.bool_] | None = None,
) -> Bias:
    r"""Measure by how much one judge's scores lie above another's.

    Parameters
    ----------
    human, model : ndarray of float64, shape (n_runs, n_topics)
        Scores by the first judge and by the second; finite.
    seed, resamples : int
        Of the bootstrap over topics.
    counted : ndarray of bool, shape (n_runs,), optional
        Runs that means and the correlation are over, one at least; default all. The others, too, are held
        against their mean.

    Returns
    -------
    Bias
        With :math:`d_{rt}` the difference in scores, run r has the bias :math:`\bar d_r` and, of its own,
        :math:`e_{rt} = d_{rt} - \bar d_t`, whose mean over topics is tested. A negative `correlation` is a
        ceiling: good runs cannot gain as much, so a favour to them does not show.

    Examples
    --------
    >>> human, model = np.array([[0.1, 0.2], [0.2, 0.4]]), np.array([[0.3, 0.4], [0.2, 0.5]])
    >>> found = bias(human, model, seed=1, resamples=100)
    >>> found.of_runs.round(3).tolist(), round(found.mean, 3)
    ([0.2, 0.05], 0.125)
    >>> [round(one.difference, 3) for one in found.own]
    [0.075, -0.075]
    """
    differences = np.asarray(model, dtype=np.float64) - np.asarray(human, dtype=np.float64)
    counted = np.ones(len(differences), dtype=np.bool_) if counted is None else counted
    of_runs, by_topic = differences.mean(axis=1), differences[counted].mean(axis=0)
    own = tuple(paired_t(row) for row in differences - by_topic)
    x, y = of_runs[counted], np.mean(human, axis=1)[counted]
    varies = x.size > 1 and min(np.ptp(x), np.ptp(y)) > 1e-12
    return Bias(
        of_runs=of_runs,
        mean=float(by_topic.mean()),
        interval=_mean_interval(by_topic, seed=seed, resamples=resamples),
        own=own,
        p_holm=holm([np.nan if one.p is None else one.p for one in own]),
        correlation=float(np.corrcoef(x, y)[0, 1]) if varies else None,
    )


@dataclass(frozen=True, slots=True)
class Favour:
    """What some runs gain over the others."""

    test: TTest
    """Its `difference` is the mean over topics; a paired t test."""
    interval: Interval
    """Over topics."""


def favour(
    differences: NDArray[np.float64], chosen: NDArray[np.bool_], *, seed: int, resamples: int
) -> Favour | None:
    """Measure whether some runs gain more from the second judge than the others do.

    Topic by topic, the mean gain of the chosen runs less that of the others, from `differences`, scores by
    the second judge less those by the first, shape (n_runs, n_topics); ``None`` where there are none of one
    of the two.
    """
    if chosen.all() or not chosen.any():
        return None
    by_topic = differences[chosen].mean(axis=0) - differences[~chosen].mean(axis=0)
    return Favour(paired_t(by_topic), _mean_interval(by_topic, seed=seed, resamples=resamples))


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """How much likelier one judge calls documents of some runs relevant, at equal grades of another."""

    value: float | None
    """Above 0, 1 = no likelier; ``None`` where no stratum has documents of both kinds that differ."""
    interval: Interval
    """Over topics."""
    n_exposed: int
    """Documents that only these runs found."""
    n_others: int


def exposure_odds(
    topics: NDArray[np.int64],
    grades: NDArray[np.int64],
    exposed: NDArray[np.bool_],
    relevant: NDArray[np.bool_],
    *,
    seed: int,
    resamples: int,
) -> OddsRatio:
    r"""Measure whether a judge calls exposed documents relevant more readily than others of the same grade.

    Parameters
    ----------
    topics, grades : ndarray of int64, shape (n_documents,)
        Code of the topic, and place of the first judge's grade, both from 0: the strata.
    exposed : ndarray of bool, shape (n_documents,)
        Whether the document was found by the runs that are asked about, and by no other.
    relevant : ndarray of bool, shape (n_documents,)
        Whether the second judge calls it relevant.
    seed, resamples : int
        Of the bootstrap over topics.

    Returns
    -------
    OddsRatio

    Notes
    -----
    .. math:: \psi = \frac{\sum_s a_s d_s / n_s}{\sum_s b_s c_s / n_s}    [1]_

    over strata s of n documents: a exposed and relevant, b exposed and not, c other and relevant, d neither.

    References
    ----------
    .. [1] N. Mantel and W. Haenszel, "Statistical aspects of the analysis of data from retrospective studies
       of disease", *Journal of the National Cancer Institute* 22(4), 719-748, 1959.

    Examples
    --------
    One stratum with 2 of 3 exposed and 1 of 3 other documents relevant: (2 * 2) / (1 * 1).

    >>> zeros = np.zeros(6, dtype=np.int64)
    >>> exposed, relevant = np.array([1, 1, 1, 0, 0, 0]) > 0, np.array([1, 1, 0, 1, 0, 0]) > 0
    >>> exposure_odds(zeros, zeros, exposed, relevant, seed=1, resamples=100).value
    4.0
    """
    n_topics, n_grades = (1 + int(codes.max(initial=-1)) for codes in (topics, grades))
    cells = ((topics * n_grades + grades) * 2 + exposed) * 2 + relevant
    counts = np.bincount(cells, minlength=n_topics * n_grades * 4).reshape(n_topics, n_grades, 2, 2)
    n = np.maximum(counts.sum(axis=(2, 3)), 1)
    right = (counts[..., 1, 1] * counts[..., 0, 0] / n).sum(axis=1)
    left = (counts[..., 1, 0] * counts[..., 0, 1] / n).sum(axis=1)
    sums = np.stack([right, left], axis=1).reshape(n_topics, 2)
    interval = topic_bootstrap(sums, ratio_of_sums, seed=seed, resamples=resamples)
    n_exposed = int(np.count_nonzero(exposed))
    below = float(left.sum())
    value = float(right.sum()) / below if below else None
    return OddsRatio(value, interval, n_exposed, len(exposed) - n_exposed)


@dataclass(frozen=True, slots=True)
class LengthPart:
    """Documents of some lengths: mean grades, and the interval over topics of their difference."""

    shortest: int
    longest: int
    n: int
    human: float
    model: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class LengthBias:
    """Whether two judges differ more, or otherwise, on longer documents."""

    rho: float | None
    """Spearman's, of length and second grade less first, in [-1, 1]; ``None`` with `reason`."""
    reason: str | None
    """``no-texts``, ``one-length``, or ``same-difference``."""
    interval: Interval
    """Of rho, over topics."""
    parts: tuple[LengthPart, ...]
    """Thirds from the shortest on, those without a document left out; then all. Empty: no length is known."""


def length_bias(
    lengths: NDArray[np.int64],
    human: NDArray[np.float64],
    model: NDArray[np.float64],
    topics: NDArray[np.int64],
    *,
    seed: int,
    resamples: int,
) -> LengthBias:
    """Measure whether one judge's grades lie above another's by more where documents are longer.

    Parameters
    ----------
    lengths : ndarray of int64, shape (n_documents,)
        In any unit, at least 0; below 0 = not known, and the document is left out.
    human, model : ndarray of float64, shape (n_documents,)
        Grades of the first judge and of the second, values of the scale.
    topics : ndarray of int64, shape (n_documents,)
        Code of every document's topic, from 0.
    seed, resamples : int
        Of the bootstrap over topics.

    Returns
    -------
    LengthBias
        Where the first judge grades longer documents higher, a second who does not look at length has a rho
        below 0: read it beside the means of the thirds.

    Notes
    -----
    Spearman's rank correlation [1]_ is Pearson's of ranks, tied values having their mean rank; resamples keep
    the ranks of all documents. A third ends with all documents of the length of number ceil(n / 3), or
    ceil(2 n / 3), from the shortest. O(n_documents log n_documents + resamples n_topics).

    References
    ----------
    .. [1] C. Spearman, "The proof and measurement of association between two things", *The American Journal
       of Psychology* 15(1), 72-101, 1904, doi:10.2307/1412159.

    Examples
    --------
    Ranks 1, 2, 3, 4 of length and 1.5, 1.5, 3, 4 of the difference: rho is 4.5 / sqrt(5 * 4.5).

    >>> lengths, model = np.array([10, 20, 30, 40]), np.array([0.0, 0, 1, 2])
    >>> topics = np.array([0, 0, 1, 1])
    >>> found = length_bias(lengths, np.zeros(4), model, topics, seed=1, resamples=100)
    >>> round(found.rho, 4), [(one.n, one.model) for one in found.parts]
    (0.9487, [(2, 0.0), (1, 1.0), (1, 2.0), (4, 0.75)])
    """
    kept = lengths >= 0
    lengths, human, model = lengths[kept], human[kept], model[kept]
    none, n = Interval(None, None, "undefined"), lengths.size
    bootstrap = partial(topic_bootstrap, seed=seed, resamples=resamples)
    if not n:
        return LengthBias(None, "no-texts", none, ())
    apart, codes = model - human, topics[kept]

    def by_topic(*values: NDArray[Any]) -> NDArray[np.float64]:
        return np.stack([np.bincount(codes, one, minlength=codes.max() + 1) for one in values], axis=1)

    def part(chosen: NDArray[np.bool_]) -> LengthPart:
        sums = by_topic(apart * chosen, chosen)
        interval = bootstrap(sums, ratio_of_sums, units=sums[:, 1] > 0)
        span = int(lengths[chosen].min()), int(lengths[chosen].max()), int(chosen.sum())
        return LengthPart(*span, float(human[chosen].mean()), float(model[chosen].mean()), interval)

    first, second = np.sort(lengths)[[-(-n // 3) - 1, -(-2 * n // 3) - 1]]
    thirds = (lengths <= first, (lengths > first) & (lengths <= second), lengths > second, lengths >= 0)
    parts = tuple(part(chosen) for chosen in thirds if chosen.any())
    if np.ptp(lengths) == 0 or np.ptp(apart) <= _SAME:
        return LengthBias(None, "same-difference" if np.ptp(lengths) else "one-length", none, parts)
    x, y = (_ranks(values) - (n + 1) / 2 for values in (lengths, np.round(apart, DIGITS)))
    sums = by_topic(np.ones(n), x, y, x * x, y * y, x * y)
    interval = bootstrap(sums, _pearson)
    return LengthBias(float(_pearson(sums.sum(axis=0)[np.newaxis])[0]), None, interval, parts)


def _ranks(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return ranks from 1, tied values with their mean rank."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[codes])


def _pearson(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlation of n and sums of x, y, x**2, y**2 and x y, shape (n_stacked, 6); NaN = none."""
    n, x, y, xx, yy, xy = sums.T
    below = (n * xx - x * x) * (n * yy - y * y)
    return np.asarray((n * xy - x * y) / np.sqrt(np.where(below > _SAME, below, np.nan)))


def _mean_interval(by_topic: NDArray[np.float64], *, seed: int, resamples: int) -> Interval:
    n_topics = by_topic.size
    how = {"seed": seed, "resamples": resamples}
    return topic_bootstrap(by_topic, lambda sums: sums / n_topics, units=np.ones(n_topics, np.bool_), **how)


LEAST_TOP = 3
"""Fewer best runs have no order to speak of."""
Conclusion = Literal["both", "opposite", "vanishes", "appears", "neither", "neither-opposite"]
CONCLUSIONS: tuple[Conclusion, ...] = get_args(Conclusion)
"""Of a pair of runs, by two judges; see `conclusions`."""

_AT_ONCE = 500
"""Resamples whose pairs of runs are compared at once."""


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """Two orders of the same runs over the same topics."""

    tau: TauResult
    tau_interval: Interval
    tau_ap: TauResult
    """Down the order of the second judge, the first one's taken for true; every tied pair is half right."""
    tau_ap_interval: Interval
    n_top: int
    """Runs at or above the score of the last of the best runs asked for: more where runs are tied."""
    tau_top: TauResult
    """tau-b among these; also ``too-few-runs`` where they are fewer than `LEAST_TOP`."""
    tau_top_interval: Interval
    ceiling: float | None
    """Mean tau-b of the first judge's order on resampled topics and on all; ``None`` = undefined."""
    best: int
    """The first judge's best run, of several tied the first in the array."""
    best_place: int
    """Its place by the second: one more than there are runs above."""


def mean_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over topics, the last axis, rounded to `DIGITS`."""
    return np.asarray(np.round(scores.mean(axis=-1), DIGITS))


def top_runs(means: NDArray[np.float64], top: int) -> NDArray[np.bool_]:
    """Return which runs are at or above the mean at place `top`; all where there are no more; last axis."""
    at = min(top, means.shape[-1]) - 1
    limit = np.sort(means, axis=-1)[..., ::-1][..., at : at + 1]
    return np.asarray(means >= limit)


def order_agreement(
    human: NDArray[np.float64], model: NDArray[np.float64], *, top: int, seed: int, resamples: int
) -> OrderAgreement:
    """Compare the orders of runs that two judges' scores give.

    Parameters
    ----------
    human, model : ndarray of float64, shape (n_runs, n_topics)
        Scores by the first judge, taken for true, and by the second; finite. At least one run and one topic.
    top : int
        How many of the best runs to look at apart, at least 1.
    seed, resamples : int
        Of the bootstrap over topics: both judges' scores of the same topics are drawn.

    Returns
    -------
    OrderAgreement
        Percentiles are of resamples; the best runs are chosen anew in each. A tau of resampled topics is
        lower on the average than that of all topics, as each order then has noise of its own: `ceiling` is
        what the first judge's own order has against itself.

    Notes
    -----
    tau-b is Kendall's [1]_, tau_AP that of [2]_, down the order of the model, with ties as
    `store.analysis.run_order.tau_ap` has them. O(resamples * (n_runs**2 + n_runs * n_topics)).

    References
    ----------
    .. [1] M. G. Kendall, "The treatment of ties in ranking problems", *Biometrika* 33(3), 239-251, 1945,
       doi:10.1093/biomet/33.3.239.
    .. [2] E. Yilmaz, J. A. Aslam and S. Robertson, "A new rank correlation coefficient for information
       retrieval", *SIGIR* 2008, 587-594, doi:10.1145/1390334.1390435.

    Examples
    --------
    >>> human = np.array([[0.9, 0.7], [0.5, 0.5], [0.1, 0.3]])
    >>> found = order_agreement(human, human[[1, 0, 2]], top=3, seed=1, resamples=100)
    >>> found.tau.tau, found.tau_ap.tau, found.best_place
    (0.333..., 0.0, 2)
    """
    means_h, means_m = mean_scores(human), mean_scores(model)
    is_top = top_runs(means_h, top)
    n_top = int(np.count_nonzero(is_top))
    of_top = kendall_tau_b(means_h[is_top], means_m[is_top])
    if n_top < LEAST_TOP:
        of_top = TauResult(None, "too-few-runs")
    first, second = np.triu_indices(len(human), 1)
    n_topics = human.shape[1]

    def taus(sums: NDArray[np.float64], *, of_best: bool) -> NDArray[np.float64]:
        means = np.round(sums / n_topics, DIGITS)
        best = top_runs(means[:, 0], top) if of_best else None
        found = _taus(means[:, 0], means[:, 1], first, second, best)
        return found if n_top >= LEAST_TOP or not of_best else np.full(len(found), np.nan)

    def taus_ap(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        means = np.round(sums / n_topics, DIGITS)
        found = (tau_ap(of_model, of_human).tau for of_human, of_model in means)
        return np.array([np.nan if one is None else one for one in found], dtype=np.float64)

    sums = np.stack([human.T, model.T], axis=1)
    intervals = topic_bootstraps(
        sums,
        {"all": partial(taus, of_best=False), "ap": taus_ap, "top": partial(taus, of_best=True)},
        seed=seed,
        resamples=resamples,
        units=np.ones(n_topics, dtype=np.bool_),
    )
    own = np.empty(0)  # tau-b of the first judge's order on resampled topics and on all
    if n_topics > 1:
        resampled = (weights @ human.T / n_topics for weights in topic_weights(n_topics, resamples, seed))
        of_all = means_h[np.newaxis]
        own = np.concatenate([_taus(np.round(one, DIGITS), of_all, first, second, None) for one in resampled])
        own = own[np.isfinite(own)]
    best = int(np.argmax(means_h))
    return OrderAgreement(
        tau=kendall_tau_b(means_h, means_m),
        tau_interval=intervals["all"],
        tau_ap=tau_ap(means_m, means_h),
        tau_ap_interval=intervals["ap"],
        n_top=n_top,
        tau_top=of_top,
        tau_top_interval=intervals["top"],
        ceiling=float(own.mean()) if own.size else None,
        best=best,
        best_place=int(1 + np.sum(means_m > means_m[best])),
    )


def _taus(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    chosen: NDArray[np.bool_] | None,
) -> NDArray[np.float64]:
    """Return tau-b of every row, shape (n_rows,), NaN = undefined; of the chosen runs alone, if any are."""
    found = np.empty(len(x))
    for start in range(0, len(x), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        of_y = y if len(y) == 1 else y[rows]
        signs_x = np.sign(x[rows][:, first] - x[rows][:, second])
        signs_y = np.sign(of_y[:, first] - of_y[:, second])
        if chosen is not None:
            both = chosen[rows][:, first] & chosen[rows][:, second]
            signs_x, signs_y = signs_x * both, signs_y * both
        surplus = np.sum(signs_x * signs_y, axis=1)
        untied = np.abs(signs_x).sum(axis=1) * np.abs(signs_y).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[rows] = surplus / np.sqrt(untied)
    return found


def conclusions(
    human: NDArray[np.float64], model: NDArray[np.float64], *, alpha: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return for every pair of runs what two judges' scores conclude.

    Parameters
    ----------
    human, model : ndarray of float64, shape (n_runs, n_topics)
        Scores by the first judge and by the second; finite.
    alpha : float
        Level of the paired t test of each pair, two-sided, in (0, 1); not adjusted for the number of pairs.

    Returns
    -------
    ndarray of int64, shape (n_pairs,)
        Index into `CONCLUSIONS`, pairs in the order of ``np.triu_indices(n_runs, 1)``: significant by both
        in the same or in opposite directions, by the first alone, by the second alone, or by neither, in
        the same direction or in others.
    ndarray of bool, shape (n_pairs,)
        Whether the means differ in opposite directions; means that are level to 10 decimals have none.

    Notes
    -----
    The kinds are those of [1]_ and [2]_: active agreement and disagreement, mixed (two ways), passive
    agreement and disagreement. A pair that differs by the same in every topic has no t and is not
    significant. O(n_runs**2 * n_topics).

    References
    ----------
    .. [1] A. Moffat, F. Scholer and P. Thomas, "Models and metrics: IR evaluation as a user process", *ADCS*
       2012, 47-54.
    .. [2] N. Ferro and M. Sanderson, "Improving the accuracy of system performance estimation by using
       shards", *SIGIR* 2019.

    Examples
    --------
    >>> human = np.array([[0.1, 0.2, 0.3, 0.1], [0.5, 0.7, 0.8, 0.6]])
    >>> kinds, opposite = conclusions(
    ...     human, np.array([[0.1, 0.2, 0.3, 0.1], [0.2, 0.1, 0.3, 0.4]]), alpha=0.05
    ... )
    >>> CONCLUSIONS[kinds[0]], bool(opposite[0])
    ('vanishes', False)
    """
    both = [compare_pairs(np.asarray(scores), tests=("t",)) for scores in (human, model)]
    by_human, by_model = (one.p_t <= alpha for one in both)  # NaN is not
    signs = [np.sign(np.round(one.difference, 10)) for one in both]
    opposite = signs[0] * signs[1] < 0
    kinds = np.select(
        [by_human & by_model & ~opposite, by_human & by_model, by_human, by_model, ~opposite],
        list(range(5)),
        5,
    )
    return kinds.astype(np.int64), opposite
