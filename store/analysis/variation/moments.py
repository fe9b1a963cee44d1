r"""Mean, covariance and gradient of AP.

:math:`w_{ij} = 1 / \max(a_i, a_j)` is what two documents at ranks :math:`a_i` and :math:`a_j`, both
relevant, add to the sum of precisions of a run; :math:`v_i` is the variance of a judgement, at each
of several nodes, and the sums are added up over the nodes with weights.

Judges differ, so the relevance of a document is not sure: document i is judged relevant with
probability :math:`p_i`, independently of the others. Kishida [1]_ simulates what that does to AP;
here it is an integral over t in (0, 1) of plain sums, which a rule of some forty nodes gives to
twelve digits. R, in the denominator, varies too and is not taken to be fixed.

A topic is two arrays: how probably each document is judged relevant, and its rank in every run.
Documents that are surely not relevant only occupy ranks, and are left out.

Under the law tilted by t, which weighs an outcome by :math:`t^R`, judgements stay independent,
document i being relevant with :math:`q_i = p_i t / (1 - p_i (1 - t))`. All exact moments of average
precision are integrals over t of plain sums of the :math:`q_i`.

An outcome of judging may leave a topic without a relevant document, and AP undefined. Kishida (2001)
does not speak of that: in the paper's data it does not occur. There are two rules for R = 0, `Empty`:

``given``
    The law given that some document is relevant, in every topic: AP is defined in all that is left,
    as everywhere else, and topics stay independent of each other.
``zero``
    AP counts as 0, as trec_eval has it for a topic of the qrels without a relevant document.

Where a document is surely relevant, both are the same. Where none can be, ``given`` has no law and
such a topic has to be left out, while with ``zero`` its AP is 0 for certain, and counts in means.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 3.2 for the model, and 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.quadrature import Rule, rule_for, window
from store.analysis.rankings import dense_codes
from store.errors import ArgumentError

SUPPOSED = -1
"""Id of an unseen relevant document; see `probable_rankings`."""

Probabilities = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
"""Topic to the ids of the documents that have a probability, each once, and the probabilities;
both shape (n_judged,)."""


@dataclass(frozen=True, slots=True, eq=False)
class ProbableRankings:
    """Runs and probabilities over the evaluation topics; build it with `probable_rankings`.

    Every tuple of arrays has one array a topic. Documents ascend by id; those that are supposed
    (`SUPPOSED`) come last.
    """

    topics: tuple[str, ...]
    """The evaluation topics: those with probabilities."""
    tags: tuple[str, ...]
    """The runs."""
    probabilities: tuple[NDArray[np.float64], ...]
    """Shape (n_documents,), in [0, 1]: that the document is judged relevant."""
    ranks: tuple[NDArray[np.float64], ...]
    """Shape (n_runs, n_documents): rank from 1 on; infinite = not retrieved within the cutoff."""
    ids: tuple[NDArray[np.int64], ...]
    """Shape (n_documents,): ids of documents, or `SUPPOSED`."""
    judged: tuple[NDArray[np.bool_], ...]
    """Shape (n_documents,): whether the probability is the document's own, not the default of
    unjudged ones."""
    cutoff: int
    """Ranks that count, at least 1."""

    def by_topic(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return probabilities and ranks of each topic."""
        return list(zip(self.probabilities, self.ranks, strict=True))


def probable_rankings(
    topics: Sequence[str],
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.signedinteger]],
    probabilities: Probabilities,
    *,
    cutoff: int,
    unjudged: float = 0.0,
    keep_zero: bool = False,
    keep_rank: int | None = None,
    extra_relevant: int = 0,
) -> ProbableRankings:
    """Put rankings and probabilities of relevance side by side in arrays.

    Parameters
    ----------
    topics, tags, rankings, cutoff
        As for `store.analysis.rankings.judged_rankings`.
    probabilities : mapping of topic to (ids, p)
        Documents that have a probability, retrieved or not, each once, and p, in [0, 1], both of shape
        (n_judged,). Every one of `topics` has an entry, which may be empty.
    unjudged : float, default=0.0
        The probability of every document that a run retrieved and that has none of its own.
    keep_zero : bool, default=False
        Keep documents of probability 0. They change no score, but a gradient asks what it would be worth to
        find them relevant.
    keep_rank : int, optional
        Keep documents of probability 0 that some run has at this rank: what is found there is asked of
        `store.analysis.variation.collection`.
    extra_relevant : int, default=0
        Suppose so many more documents a topic, surely relevant, that no run retrieved: 1 makes R one more, as
        in section 4.3 of Kishida (2001).

    Returns
    -------
    ProbableRankings
        O(m log m) a topic for m documents retrieved and judged. It takes ``8 (n_runs + 2) + 1`` bytes a
        document that is kept, 1 kB at 120 runs.

    Examples
    --------
    Document 30 is surely not relevant, 10 is unjudged, and no run retrieved 40:

    >>> arrays = probable_rankings(
    ...     ["t1"],
    ...     ["a", "b"],
    ...     {("a", "t1"): np.array([30, 20, 10]), ("b", "t1"): np.array([10])},
    ...     {"t1": (np.array([20, 30, 40]), np.array([0.5, 0.0, 1.0]))},
    ...     cutoff=1000,
    ...     unjudged=0.1,
    ... )
    >>> arrays.ids[0].tolist(), arrays.probabilities[0].tolist(), arrays.judged[0].tolist()
    ([10, 20, 40], [0.1, 0.5, 1.0], [False, True, True])
    >>> arrays.ranks[0].tolist()
    [[3.0, 2.0, inf], [1.0, inf, inf]]
    """
    found: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]] = []
    for topic in topics:
        own, p = probabilities[topic]
        lists = [np.asarray(rankings.get((tag, topic), ())[:cutoff], dtype=np.int64) for tag in tags]
        everything = np.concatenate([own, *lists])
        n_known, codes = dense_codes(everything)
        ids, values, judged = (np.full(n_known, one) for one in (0, float(unjudged), False))
        ids[codes] = everything
        values[codes[: own.size]], judged[codes[: own.size]] = p, True
        lengths = np.array([one.size for one in lists], dtype=np.int64)
        filled = np.arange(lengths.max(initial=0)) < lengths[:, None]
        documents = np.full(filled.shape, -1, dtype=np.int64)
        documents[filled] = codes[own.size :]
        kept = (values > 0) | keep_zero
        if keep_rank is not None:
            kept[np.setdiff1d(documents[:, keep_rank - 1 : keep_rank], -1)] = True
        # Filler is the last one.
        places = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)[documents]
        runs, columns = np.nonzero(places >= 0)
        # Supposed documents come last, and no run has them.
        ranks = np.full((len(tags), np.count_nonzero(kept) + extra_relevant), np.inf)
        ranks[runs, places[runs, columns]] = columns + 1
        found.append(
            (
                np.append(values[kept], np.ones(extra_relevant)),
                ranks,
                np.append(ids[kept], np.full(extra_relevant, SUPPOSED)),
                np.append(judged[kept], np.zeros(extra_relevant, dtype=np.bool_)),
            )
        )
    return ProbableRankings(
        topics=tuple(topics),
        tags=tuple(tags),
        probabilities=tuple(one[0] for one in found),
        ranks=tuple(one[1] for one in found),
        ids=tuple(one[2] for one in found),
        judged=tuple(one[3] for one in found),
        cutoff=cutoff,
    )


@dataclass(frozen=True, slots=True, eq=False)
class JudgedLists:
    """Checked documents of one topic, and where runs have them."""

    probabilities: NDArray[np.float64]
    """Shape (n_documents,)."""
    ranks: NDArray[np.float64]
    """Shape (n_runs, n_documents); infinite where a run has not retrieved a document."""
    order: NDArray[np.int64]
    """Shape (n_runs, n_documents): documents by rank, those not retrieved last."""
    n_retrieved: NDArray[np.int64]
    """Shape (n_runs,): how many of `order` were retrieved."""

    def without(self, dropped: NDArray[np.bool_]) -> JudgedLists:
        """Leave documents out, those of probability 0 mostly; they only occupy ranks."""
        if not dropped.any():
            return self
        return _lists(self.probabilities[~dropped], self.ranks[:, ~dropped])


@dataclass(frozen=True, slots=True, eq=False)
class Tilted:
    """One topic's judgements at every node; arrays of shape (n_nodes, n_documents)."""

    rule: Rule
    q: NDArray[np.float64]
    """Probabilities of relevance."""
    v: NDArray[np.float64]
    """Variances ``q (1 - q)``; 0 where p is 0 or 1."""
    d: NDArray[np.float64]
    """``1 - p (1 - t)``."""
    density: NDArray[np.float64]
    """Shape (n_nodes,): G(t) / t, G being the mean of t^R."""


def check_lists(probabilities: ArrayLike, ranks: ArrayLike) -> JudgedLists:
    """Check the documents of a topic; raise `ArgumentError` if a shape or a value is wrong.

    `probabilities`, shape (n_documents,), are from 0 to 1; `ranks`, shape (n_runs, n_documents),
    from 1 on, each once in a run, or infinite = not retrieved.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    places = np.asarray(ranks, dtype=np.float64)
    # Written so that NaN is out of range; as plain reductions, since this is done often.
    if p.ndim != 1 or not (p.min(initial=0.0) >= 0 and p.max(initial=1.0) <= 1):
        raise ArgumentError("probabilities", "must be a row of numbers from 0 to 1", p.tolist())
    if places.ndim != 2 or places.shape[1] != p.size:
        raise ArgumentError("ranks", f"must have the shape (n_runs, {p.size})", places.shape)
    if not places.min(initial=1.0) >= 1:
        raise ArgumentError("ranks", "must be at least 1, or infinite", places.tolist())
    lists = _lists(p, places)
    for row, order, size in zip(places, lists.order, lists.n_retrieved.tolist(), strict=True):
        ordered = row[order[:size]]
        if (ordered[1:] == ordered[:-1]).any():
            raise ArgumentError("ranks", "must not repeat a rank within a run", places.tolist())
    return lists


def _lists(p: NDArray[np.float64], places: NDArray[np.float64]) -> JudgedLists:
    return JudgedLists(p, places, places.argsort(axis=1), (places < np.inf).sum(axis=1))


def tilt(probabilities: NDArray[np.float64], rule: Rule) -> Tilted:
    """Compute the law of the judgements at every node of a rule for their window.

    O(n_nodes n_documents). The product G is a sum of logarithms: plain, thousands of factors lose
    digits.
    """
    pt = probabilities * rule.t[:, None]
    # A sum of what is not negative: 1 - p u has no digits left where p and u are nearly 1.
    d = (1 - probabilities) + pt
    q = pt / d
    v = q * (1 - probabilities) / d
    logs = logarithms(d, probabilities * rule.u[:, None]).sum(axis=1)
    density = np.exp(logs - logarithms(rule.t, rule.u.copy()))
    return Tilted(rule, q, v, d, density)


def logarithms(d: NDArray[np.float64], lacking: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ln d of numbers in (0, 1] from d and from `lacking`, 1 - d, which is overwritten.

    Neither has the rounding error of the difference from 1.
    """
    is_small = d < 0.125
    lacking[is_small] = 0.0
    logs = np.log1p(-lacking)
    logs[is_small] = np.log(d[is_small])
    return logs


def run_sums(
    q: NDArray[np.float64], lists: JudgedLists, run: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Compute the mean of S, the sum of precisions of a run, and what each document adds to it.

    `q`, shape (n_nodes, n_documents), are probabilities of relevance. The mean, shape (n_nodes,), is
    :math:`E_t S = \sum_i (q_i / a_i) (1 + \sum_{a_k < a_i} q_k)`. The other, of the shape of `q`, is
    :math:`h_i = (1 / a_i) (1 + \sum_{a_k < a_i} q_k) + \sum_{a_k > a_i} q_k / a_k`: by how much S is
    larger on average with document i relevant than without; 0 where it was not retrieved.
    """
    order = lists.order[run, : lists.n_retrieved[run]]
    w = 1 / lists.ranks[run, order]
    ordered = q[:, order]
    before = ordered.cumsum(axis=1)
    before -= ordered
    before += 1
    before *= w
    mean = (ordered * before).sum(axis=1)
    ordered *= w
    before[:, :-1] += ordered[:, :0:-1].cumsum(axis=1)[:, ::-1]
    h = np.zeros(q.shape)
    h[:, order] = before
    return mean, h


Empty = Literal["given", "zero"]
"""What happens to outcomes without a relevant document."""


def chance_of_any(probabilities: NDArray[np.float64]) -> float:
    """Compute 1 - P(R = 0) of independent documents, with all its digits where it is small.

    In [0, 1]; 0 only where every probability is.

    >>> chance_of_any(np.array([0.5, 0.5])), chance_of_any(np.array([1e-20]))
    (0.75, 1e-20)
    """
    if (probabilities == 1).any():
        return 1.0
    return float(-np.expm1(np.log1p(-probabilities).sum()))


def chance_left(probabilities: NDArray[np.float64], empty: Empty) -> float:
    """Return the probability of a topic's outcomes that count by the rule: 1 with ``zero``."""
    if empty not in ("given", "zero"):
        raise ArgumentError("empty", "must be given or zero", empty)
    return 1.0 if empty == "zero" else chance_of_any(probabilities)


def check_chances(probabilities: Sequence[ArrayLike], empty: Empty) -> None:
    """Raise `ArgumentError` if a topic, of which these are the probabilities, has no outcome that counts."""
    for place, p in enumerate(probabilities):
        if not chance_left(np.asarray(p, dtype=np.float64), empty):
            requirement = "must each have a document that may be relevant, or `empty` be zero"
            raise ArgumentError("topics", requirement, place)


_ROWS = 64
"""Documents of which the products with all others are held at once."""


def pair_matrix(
    ranks: NDArray[np.float64], v: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Sum :math:`v_i v_j w^A_{ij} w^B_{ij}` over all pairs of documents: shape (n_runs, n_runs).

    `ranks`, shape (n_runs, n), may be infinite; `v`, shape (n_nodes, n), are variances; `weights` those of
    the nodes. Each document meets those that more runs have, in a matrix product of the runs
    that have it: O(n^2) times the mean square of their number, some megabytes at once.
    """
    inverse = 1 / ranks
    n_having = np.count_nonzero(inverse, axis=0)
    # The most products are then of few runs, and the largest of few documents.
    order = np.argsort(n_having, kind="stable")[np.count_nonzero(n_having == 0) :]
    inverse, v = inverse[:, order], v[:, order]
    n_runs, n = inverse.shape
    total = np.zeros((n_runs, n_runs))
    for first in range(0, n, _ROWS):
        part = v[:, first : first + _ROWS]
        roots = np.sqrt((part * weights[:, None]).T @ v[:, first:])
        for row in range(part.shape[1]):
            place = first + row
            runs = np.flatnonzero(inverse[:, place])
            others = inverse[runs, place + 1 :]
            np.minimum(others, inverse[runs, place, None], out=others)
            others *= roots[row, row + 1 :]
            total[runs[:, None], runs] += others @ others.T
    return total


def _pairs_of_two(
    ranks: NDArray[np.float64], v: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Do what `pair_matrix` does, for one or two runs, at once."""
    pairs = np.empty((len(ranks), len(ranks)))
    for run, places in enumerate(ranks):
        # The lower of two decides.
        order = np.argsort(places)[: np.count_nonzero(np.isfinite(places))]
        own = v[:, order]
        before = np.cumsum(own, axis=1) - own
        pairs[run, run] = weights @ np.einsum("mi,mi->m", own, before * (1 / places[order] ** 2))
    if len(ranks) > 1:
        both = np.isfinite(ranks).all(axis=0)
        first, second = 1 / ranks[:, both]
        smaller = np.minimum.outer(first, first) * np.minimum.outer(second, second)
        np.fill_diagonal(smaller, 0.0)
        products = (v[:, both] * weights[:, None]).T @ v[:, both]
        pairs[0, 1] = pairs[1, 0] = 0.5 * np.vdot(products, smaller)
    return pairs


_BLOCK = 4_000_000
"""Numbers of all runs and nodes that are held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMoments:
    """First and second moments of AP over repeated judging of one topic."""

    mean: NDArray[np.float64]
    """Shape (n_runs,): E[AP], in [0, 1]; NaN, as are covariances, where no outcome counts."""
    covariance: NDArray[np.float64]
    """Shape (n_runs, n_runs): of AP, symmetric; the diagonal is the variance of each run."""
    none_relevant: float
    """Probability that no document is relevant."""
    error: float
    """Bound, known beforehand, of the relative error of the quadrature in means and variances.

    Of a covariance it bounds the error in units of the two standard deviations. Rounding comes to
    some 1e-15 besides, 1e-14 with thousands of documents.
    """


def variation(probabilities: ArrayLike, ranks: ArrayLike, *, empty: Empty = "given") -> ScoreMoments:
    r"""Compute mean and covariance of the average precision of runs on one topic.

    Parameters
    ----------
    probabilities : array of float, shape (n_documents,)
        Of each document to be judged relevant, from 0 to 1. R counts all of them: also those that
        no run retrieved (pool mode). For R in own mode give one run and its documents alone.
    ranks : array of float, shape (n_runs, n_documents)
        Rank of each document in each run, from 1 on, each once in a run; infinite = not retrieved. Documents
        without a chance to be relevant may be left out: they occupy ranks and do no more.
    empty : {"given", "zero"}, default="given"
        The rule for R = 0, of `store.analysis.variation.moments`.

    Returns
    -------
    ScoreMoments
        With ``given`` of the law given R > 0, which does not exist where every probability is 0.

    Notes
    -----
    With n documents, :math:`AP = S/R`, :math:`S = \sum_i x_i / a_i + \sum_{i<j} w_{ij} x_i x_j`,
    :math:`w_{ij} = 1 / \max(a_i, a_j)`, and :math:`1/R = \int_0^1 t^{R-1} dt`, and with ``zero``:

    .. math::

        E[AP] &= \int_0^1 \frac{G(t)}{t} E_t S \, dt

        Cov(AP_A, AP_B) &= \int_0^1 (-\ln t) \frac{G(t)}{t} \Big\{
            (E_t S_A - \mu_A Q)(E_t S_B - \mu_B Q) + \sum_i v_i (h^A_i - \mu_A)(h^B_i - \mu_B) +
            \sum_{i<j} v_i v_j w^A_{ij} w^B_{ij} \Big\} dt + \mu_A \mu_B P(R = 0)

    where every term of a variance is positive, so that nothing cancels. With ``given``, the mean is
    the first integral over P(R > 0), and the covariance the second one, with the new means in it,
    over P(R > 0); there is no further term. Documents never retrieved count in the middle sum: each
    of them, found relevant, lowers AP.

    k runs cost O(k n n_nodes + k^2 n^2), in matrix products; memory is bounded whatever k.

    Examples
    --------
    Two documents at ranks 1 and 2, each relevant half of the time: AP is 1, 1 or 1/2; or 0.

    >>> moments = variation([0.5, 0.5], [[1, 2]])
    >>> moments.mean.round(6).tolist(), moments.covariance.round(6).tolist()
    ([0.833333], [[0.055556]])
    >>> variation([0.5, 0.5], [[1, 2]], empty="zero").mean.round(12).tolist()
    [0.625]
    """
    checked = check_lists(probabilities, ranks)
    lists = checked.without(checked.probabilities == 0)
    p = lists.probabilities
    n_runs = lists.ranks.shape[0]
    left = chance_left(p, empty)
    if not p.size:
        value = 0.0 if left else np.nan
        return ScoreMoments(np.full(n_runs, value), np.full((n_runs, n_runs), value), 1.0, 0.0)
    is_random = p < 1
    if not is_random.any():
        sums = [run_sums(np.ones((1, p.size)), lists, run)[0][0] for run in range(n_runs)]
        return ScoreMoments(np.array(sums) / p.size, np.zeros((n_runs, n_runs)), 0.0, 0.0)
    tilted = tilt(p, rule_for(*window(p)))
    mean, covariance = _moments(lists, tilted, is_random, left)
    none_relevant = float(np.exp(np.log1p(-p).sum())) if is_random.all() else 0.0
    if empty == "zero":
        covariance += np.outer(mean, mean) * none_relevant
    return ScoreMoments(mean, covariance, none_relevant, max(tilted.rule.errors))


def _moments(
    lists: JudgedLists, tilted: Tilted, is_random: NDArray[np.bool_], left: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Integrate, over the chance of what is left; the covariance lacks the part of R = 0."""
    rule = tilted.rule
    n_runs = lists.ranks.shape[0]
    n_nodes, n_documents = tilted.q.shape
    of_mean, of_square = rule.weights * tilted.density
    step = max(1, _BLOCK // (n_runs * n_documents))

    @lru_cache(maxsize=1)  # a single block is not computed again once the means are known
    def runs_sums(first: int) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        return [run_sums(tilted.q[first : first + step], lists, run) for run in range(n_runs)]

    firsts = range(0, n_nodes, step)
    sums = np.hstack([[of_run for of_run, _ in runs_sums(first)] for first in firsts])
    mean = sums @ of_mean / left
    covariance = np.zeros((n_runs, n_runs))
    for first in firsts:
        part = slice(first, first + step)
        weights, q = of_square[part], tilted.q[part]
        centred = sums[:, part] - mean[:, None] * q.sum(axis=1)
        roots = np.sqrt(weights[:, None] * tilted.v[part][:, is_random])
        rows = np.empty((n_runs, roots.size))
        for run, (_, h) in enumerate(runs_sums(first)):
            rows[run] = (roots * (h[:, is_random] - mean[run])).ravel()
        covariance += (centred * weights) @ centred.T + rows @ rows.T
    sum_pairs = pair_matrix if n_runs > 2 else _pairs_of_two
    covariance += sum_pairs(lists.ranks[:, is_random], tilted.v[:, is_random], of_square)
    return mean, covariance / left


def variation_gradient(
    probabilities: ArrayLike, ranks: ArrayLike, *, empty: Empty = "given"
) -> NDArray[np.float64]:
    r"""Compute how fast the expected AP grows with each document's probability of relevance.

    Parameters
    ----------
    probabilities, ranks, empty
        As in `variation`. Here documents of probability 0 matter: unjudged ones that are not expected
        anything of.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_documents)
        :math:`\partial E[AP] / \partial p_i`, negative where the run has not retrieved the
        document, or too low. With ``zero`` it is :math:`E[AP | x_i = 1] - E[AP | x_i = 0]`, in
        [-1, 1]. With ``given``, NaN where every probability is 0.

    Notes
    -----
    .. math::

        \frac{\partial E[AP]}{\partial p_i} = \int_0^1 \frac{G(t)}{t D_i} \left[ h_i \frac{t}{D_i}
            - (1 - t) E_t S \right] dt, \quad D_i = 1 - p_i (1 - t)

    all documents at once: O(n_runs n_documents n_nodes). With ``given``, E[AP | R > 0] =
    E[AP; R > 0] / P(R > 0) has the slope :math:`(\partial E[AP; R > 0] / \partial p_i -
    E[AP | R > 0] \prod_{j \ne i} (1 - p_j)) / P(R > 0)`. See `judgement_weights` for what the
    gradients of two runs say of their difference.

    Examples
    --------
    Of two documents at ranks 1 and 2, each relevant half of the time, the first is worth more: with
    it AP is 1, without it 1/4 on average, an AP of 0 being counted.

    >>> variation_gradient([0.5, 0.5], [[1, 2]], empty="zero").round(12).tolist()
    [[0.75, 0.25]]
    """
    lists = check_lists(probabilities, ranks)
    p = lists.probabilities
    gradient = np.zeros(lists.ranks.shape)
    left = chance_left(p, empty)
    if not left:
        return np.full(gradient.shape, np.nan)
    if not p.size:
        return gradient
    # One document more, or less, than what is expected.
    least, most = window(p[p > 0]) if p.any() else (1, 1)
    rule = rule_for(max(1, least - 1), most + 1)
    tilted = tilt(p, rule)
    of_mean = rule.weights[0] * tilted.density
    weights = of_mean[:, None] / tilted.d
    others = _none_of_others(p) if empty == "given" else np.zeros(p.size)
    for run in range(lists.ranks.shape[0]):
        sums, h = run_sums(tilted.q, lists, run)
        h *= rule.t[:, None] / tilted.d
        h -= (rule.u * sums)[:, None]
        gradient[run] = np.einsum("mi,mi->i", weights, h)
        gradient[run] -= float(sums @ of_mean) / left * others
    return gradient / left


def judgement_weights(probabilities: NDArray[np.float64], *, empty: Empty = "given") -> NDArray[np.float64]:
    r"""Compute by what squared gradients are multiplied to be variances that judgements take away.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_documents,)
        Of each document of a topic.
    empty : {"given", "zero"}, default="given"
        As of the gradients.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        0 of documents that are sure, impossible, or the only ones that may be relevant. With two
        runs' gradients :math:`g^A` and :math:`g^B`, the weight times :math:`(g^A_i - g^B_i)^2` is
        the variance of the difference of their AP that a certain judgement of document i takes
        away on average.

    Notes
    -----
    With ``zero``, :math:`p_i (1 - p_i)`: judgements are independent, and the gradient is the
    difference of two conditional means. Given R > 0 they are not; with :math:`P_0 = P(R = 0)` and
    :math:`P_i` the probability that no other document is relevant, the variance of the conditional
    means is :math:`p_i (1 - p_i) (1 - P_0)^2 / (1 - P_i)` times the squared gradient.

    Examples
    --------
    >>> (judgement_weights(np.array([0.5, 0.5])).tolist(), judgement_weights(np.array([0.5])).tolist())
    ([0.28125, 0.28125], [0.0])
    """
    p = probabilities
    weights = p * (1 - p)
    if empty == "zero" or not weights.any():
        return np.asarray(weights)
    if (p == 1).any():
        return np.asarray(weights)
    logarithms = np.log1p(-p)
    # No rounding may be left where there is no other document.
    others = np.where(logarithms < 0, logarithms.sum() - logarithms, 0.0)
    some_other = -np.expm1(others) if np.count_nonzero(p) > 1 else np.zeros(p.size)
    scaled = weights * chance_of_any(p) ** 2
    return np.divide(scaled, some_other, out=np.zeros(p.size), where=some_other > 0)


def _none_of_others(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that no document but this one is relevant, shape (n_documents,)."""
    before = np.concatenate([[1.0], np.cumprod(1 - p)[:-1]])
    after = np.concatenate([np.cumprod((1 - p)[::-1])[::-1][1:], [1.0]])
    return np.asarray(before * after)
