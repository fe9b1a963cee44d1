"""The logistic curve of relevance by best rank: by hand, and against two other programs."""

from __future__ import annotations

import math
import warnings
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.undiscovered.by_rank import RankCurve, Reason, rank_curve
from store.errors import ArgumentError, PoolerError

Ranks = NDArray[np.float64]


def drawn(seed: int, *, is_fractional: bool, n_documents: int = 60) -> tuple[Ranks, Ranks]:
    """Draw ranks and probabilities that fall with the rank and overlap."""
    rng = np.random.default_rng(seed)
    ranks = rng.integers(1, 101, n_documents).astype(np.float64)
    true = 1 / (1 + np.exp(-(1 - 0.6 * np.log(ranks))))
    n_judges = 4 if is_fractional else 1
    return ranks, rng.binomial(n_judges, true) / n_judges


def solved(curve: RankCurve) -> tuple[float, float, float, float]:
    """Return the four numbers of a curve that there is."""
    assert curve.reason is None
    numbers = curve.intercept, curve.slope, curve.intercept_error, curve.slope_error
    assert all(number is not None for number in numbers)
    return numbers  # type: ignore[return-value]


def test_two_ranks_by_hand() -> None:
    """The curve of two ranks meets both means, and its errors are those of two binomials.

    At rank 1 three of four are relevant: logit ln 3, variance 1/(4 x 3/4 x 1/4) = 4/3. At rank 3
    the four p sum to 2: logit 0, variance 1/(4 x 1/4) = 1. The slope is the difference over ln 3.
    """
    ranks = [1, 1, 1, 1, 3, 3, 3, 3]
    p = [1, 1, 1, 0, 0.5, 0.5, 0.25, 0.75]
    intercept, slope, intercept_error, slope_error = solved(rank_curve(ranks, p))
    assert intercept == pytest.approx(math.log(3), rel=1e-12)
    assert slope == pytest.approx(-1, rel=1e-12)
    assert intercept_error == pytest.approx(math.sqrt(4 / 3), rel=1e-12)
    assert slope_error == pytest.approx(math.sqrt(4 / 3 + 1) / math.log(3), rel=1e-12)
    assert rank_curve(ranks, p)([1, 3, 9]) == pytest.approx([3 / 4, 1 / 2, 1 / 4], rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("is_fractional", [False, True])
def test_likelihood_is_greatest_there(seed: int, is_fractional: bool) -> None:
    """A general maximiser finds the same curve, and its Hessian the same standard errors."""
    from scipy.optimize import minimize

    ranks, p = drawn(seed, is_fractional=is_fractional)
    logs = np.log(ranks)

    def loss(of: NDArray[np.float64]) -> float:
        logits = of[0] + of[1] * logs
        return float((np.logaddexp(0, logits) - p * logits).sum())

    def gradient(of: NDArray[np.float64]) -> NDArray[np.float64]:
        left = 1 / (1 + np.exp(-(of[0] + of[1] * logs))) - p
        return np.array([left.sum(), left @ logs])

    best = minimize(loss, [0.0, 0.0], jac=gradient, method="BFGS", options={"gtol": 1e-11}).x
    intercept, slope, intercept_error, slope_error = solved(rank_curve(ranks, p))
    assert (intercept, slope) == pytest.approx(tuple(best), rel=1e-7)
    step = 1e-5
    rows = [(gradient(best + step * axis) - gradient(best - step * axis)) / (2 * step) for axis in np.eye(2)]
    errors = np.sqrt(np.diag(np.linalg.inv(np.array(rows))))
    assert (intercept_error, slope_error) == pytest.approx(tuple(errors), rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_finds_the_same_curve(seed: int) -> None:
    """A fractional p is p of a relevant and 1 - p of an irrelevant document."""
    linear_model = pytest.importorskip("sklearn.linear_model", reason="sklearn is not installed")
    ranks, p = drawn(seed, is_fractional=True)
    model = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(
            np.log(np.tile(ranks, 2))[:, None],
            np.repeat([1, 0], ranks.size),
            sample_weight=np.concatenate([p, 1 - p]),
        )
    intercept, slope, *_ = solved(rank_curve(ranks, p))
    assert intercept == pytest.approx(float(model.intercept_[0]), rel=1e-5)
    assert slope == pytest.approx(float(model.coef_[0, 0]), rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_statsmodels_finds_the_same_errors(seed: int) -> None:
    """The binomial model of statsmodels gives the same estimates and standard errors."""
    api = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    ranks, p = drawn(seed, is_fractional=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        design = np.column_stack([np.ones(ranks.size), np.log(ranks)])
        fit = api.GLM(p, design, family=api.families.Binomial()).fit(tol=1e-14)
    assert solved(rank_curve(ranks, p)) == pytest.approx((*fit.params, *fit.bse), rel=1e-8)


@pytest.mark.parametrize(
    ("ranks", "p", "reason"),
    [
        ([], [], "no-docs"),
        ([np.inf, np.inf], [1, 0], "no-docs"),
        ([1, 2, 3], [0, 0, 0], "all-irrelevant"),
        ([1, 2, 3, np.inf], [0, 0, 0, 1], "all-irrelevant"),
        ([1, 2, 3], [1, 1, 1], "all-relevant"),
        ([4, 4, 4], [1, 0, 0.5], "one-rank"),
        ([1, 2, 3, 4], [1, 1, 0, 0], "separation"),
        ([1, 2, 3, 4], [0, 0, 0, 1], "separation"),
        ([1, 2, 2, 4], [1, 1, 0, 0], "separation"),
        ([1, 2, 4], [1, 0.5, 0], "separation"),
        ([1, 2, 4], [0, 0.5, 1], "separation"),
        ([1, 2, 2, 4, 1], [1, 1, 0, 0, 1e-9], None),
        ([1, 2], [0.5, 0.5], None),
        ([1, 2, 3], [1, 0, 1], None),
    ],
)
def test_no_curve_has_a_reason(ranks: list[float], p: list[float], reason: str | None) -> None:
    """Where the likelihood has no maximum there is a reason and no number."""
    curve = rank_curve(ranks, p)
    assert curve.reason == reason
    assert reason is None or reason in get_args(Reason)
    numbers = curve.intercept, curve.slope, curve.intercept_error, curve.slope_error
    assert [number is None for number in numbers] == [reason is not None] * 4
    assert curve.n_documents == np.isfinite(ranks).sum()
    if reason is not None:
        with pytest.raises(PoolerError, match=f"there is no curve by rank: {reason}"):
            curve([1])


documents = st.lists(
    st.tuples(st.integers(1, 12), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=25
)


@given(documents)
def test_score_is_zero_or_there_is_no_maximum(pairs: list[tuple[int, float]]) -> None:
    """The fit solves the score equations; without one, a rank parts the two kinds of document."""
    ranks = np.array([rank for rank, _ in pairs], dtype=np.float64)
    p = np.array([value for _, value in pairs])
    curve = rank_curve(ranks, p)
    assert curve.reason != "not-converged"
    if curve.reason is None:
        left = p - curve(ranks)
        assert abs(left.sum()) < 1e-9
        assert abs((left * np.log(ranks)).sum()) < 1e-9
        return
    surely, never = ranks[p > 0], ranks[p < 1]
    assert not surely.size or not never.size or surely.max() <= never.min() or never.max() <= surely.min()


@given(documents, st.integers(2, 4))
def test_copies_of_documents_divide_the_errors(pairs: list[tuple[int, float]], n: int) -> None:
    """Every document n times over is the same curve, with errors smaller by the root of n."""
    ranks, p = zip(*pairs, strict=True)
    one, many = rank_curve(ranks, p), rank_curve(ranks * n, p * n)
    assert (one.reason, one.n_documents * n) == (many.reason, many.n_documents)
    if one.reason is None:
        intercept, slope, intercept_error, slope_error = solved(one)
        root = math.sqrt(n)
        expected = intercept, slope, intercept_error / root, slope_error / root
        assert solved(many) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_curve_has_limits() -> None:
    """Far down a falling curve is 0 and a rising one 1, and a flat one is what it is elsewhere."""
    for slope, limit in ((-0.5, 0.0), (0.5, 1.0), (0.0, 0.5)):
        curve = RankCurve(0.0, slope, 1.0, 1.0, 9, None)
        assert curve([1, np.inf]).tolist() == [0.5, limit]
    assert RankCurve(800.0, -900.0, 1.0, 1.0, 9, None)([1, 100]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("intercept", "slope"), [(0.0, None), (None, -1.0)])
def test_half_a_curve_is_none(intercept: float | None, slope: float | None) -> None:
    """A curve that lacks one of its numbers is refused, and not taken to be flat."""
    curve = RankCurve(intercept, slope, None, None, 9, "not-converged")
    with pytest.raises(PoolerError, match="there is no curve by rank: not-converged"):
        curve([1, 2])


@pytest.mark.parametrize(
    ("ranks", "p", "message"),
    [
        ([0.5], [1], "`ranks` must be at least 1, but got 0.5"),
        ([math.nan], [1], "`ranks` must be at least 1, but got nan"),
        ([1, 2], [1], "`probabilities` must be as many as the ranks, but got '1 and 2'"),
        ([1], [1.5], "`probabilities` must be from 0 to 1"),
        ([1], [math.nan], "`probabilities` must be from 0 to 1"),
        ([[1]], [1], "`ranks` must be one-dimensional"),
    ],
)
def test_what_are_no_ranks_or_probabilities_is_refused(
    ranks: list[float], p: list[float], message: str
) -> None:
    """Arguments that cannot be used are told by name."""
    with pytest.raises(ArgumentError, match=message):
        rank_curve(ranks, p)


def test_many_documents_are_grouped_by_rank() -> None:
    """200,000 documents give back the curve that they were drawn from, within its errors."""
    rng = np.random.default_rng(5)
    ranks = rng.integers(1, 1001, 200_000)
    p = (rng.random(ranks.size) < 1 / (1 + np.exp(1 + 0.5 * np.log(ranks)))).astype(np.float64)
    intercept, slope, intercept_error, slope_error = solved(rank_curve(ranks, p))
    assert abs(intercept + 1) < 4 * intercept_error
    assert abs(slope + 0.5) < 4 * slope_error
