r"""Short exponential sums that stand for 1/R and 1/R^2, and how far they are off.

An average precision divides by R, the number of relevant documents. Where judgements vary, R does,
and a mean of S/R seems to need the law of S and R together. But :math:`1/R = \int_0^1 t^{R-1} dt`,
and :math:`t^R` of independent judgements is a product: each node t is one easy problem, and some
forty of them are the integral, to any tolerance one can name beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil, floor, log, log2, sqrt

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-12
"""Relative error that a rule may have, unless another is asked for."""

_SIZES = (4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 384, 512)
_MOST_EXACT = 4096
"""Nodes in t at most; more would take minutes, and gigabytes."""
_CHECKED = 270
"""Numbers of relevant documents at which a rule is tried: all of a small window."""
_BERNSTEIN = 34.0
"""Minus the logarithm of the probability, 2e-15, that R lies outside its window."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    r"""Nodes and weights: :math:`1/R^k \approx \sum_j w_{kj} t_j^{R-1}`, for R in a window."""

    t: NDArray[np.float64]
    """Nodes, shape (n_nodes,), each in (0, 1)."""
    u: NDArray[np.float64]
    """``1 - t`` without its rounding error, shape (n_nodes,)."""
    weights: NDArray[np.float64]
    """Shape (2, n_nodes), all above 0: of 1/R and 1/R^2."""
    least: int
    """Smallest R of the window, at least 1."""
    most: int
    """Largest R of the window."""
    errors: tuple[float, float]
    """Greatest relative error over the window of 1/R and 1/R^2.

    A mean of a quantity that is never negative is off by no more than that; and a covariance by no
    more than that of 1/R^2 times the two standard deviations.
    """


def window(probabilities: NDArray[np.float64]) -> tuple[int, int]:
    """Return between what numbers the relevant documents lie, but for a probability of 2e-15.

    `probabilities`, shape (n_documents,), are of independent documents to be relevant, above 0 and at most 1.
    The numbers follow from Bernstein's inequality: the first is at least 1, the second at most n_documents
    and at least the first.

    Ten sure documents and a thousand of .5, of which 500 are expected, 15.8 being their standard deviation:

    >>> window(np.concatenate([np.ones(10), np.full(1000, 0.5)]))
    (367, 653)
    """
    expected = float(probabilities.sum())
    variance = max(expected - float(probabilities @ probabilities), 0.0)
    reach = _BERNSTEIN / 3 + sqrt((_BERNSTEIN / 3) ** 2 + 2 * _BERNSTEIN * variance)
    sure = int(np.count_nonzero(probabilities == 1))
    least = max(1, sure, floor(expected - reach))
    return least, max(least, min(probabilities.size, ceil(expected + reach)))


def rule_for(least: int, most: int, *, tolerance: float = TOLERANCE) -> Rule:
    """Return the smallest rule that keeps a tolerance in a window.

    Parameters
    ----------
    least, most : int
        The window, ``1 <= least <= most``.
    tolerance : float, default=1e-12
        Greatest relative error, from 1e-14 to below 1.

    Returns
    -------
    Rule
        Its window holds the one asked for; rules of nearly equal windows are one and the same. Its errors may
        exceed the tolerance where that is near 1e-14, or the window reaches from a few to a hundred thousand:
        there rounding alone is as large.

    Notes
    -----
    Three kinds are tried, of ever more nodes: Gauss-Legendre in t, which is exact as long as R is at most
    twice the number of nodes (1/R) or that number (1/R^2); in -ln t, which is short where R is large and its
    window narrow; and in the root of that, which is short in wide windows. The first use of a window takes
    milliseconds, others microseconds.

    Examples
    --------
    >>> rule = rule_for(1, 50)
    >>> rule.t.size, max(rule.errors) < 1e-12
    (40, True)
    >>> bool(abs((rule.weights[0] * rule.t**6).sum() - 1 / 7) < 1e-14)
    True
    """
    return _rule(_rounded(least, floor), _rounded(most, ceil), tolerance)


def _rounded(count: int, towards: Callable[[float], int]) -> int:
    """Round a number outwards to an eighth of a power of 2, which few windows do not share."""
    slack = -1e-9 if towards is ceil else 1e-9
    eighth = towards(8 * log2(count) + slack)
    return max(1, towards(2 ** (eighth / 8)))


@lru_cache(maxsize=1024)
def _rule(least: int, most: int, tolerance: float) -> Rule:
    end = (log(1 / tolerance) + 8) / least
    best = None
    for size in _SIZES:
        for make in (_in_t, partial(_in_logarithm, end=end), partial(_in_root_of_logarithm, end=end)):
            rule = make(size, least, most)
            if max(rule.errors) <= tolerance and (rule.weights > 0).all():
                return rule
            if best is None or max(rule.errors) < max(best.errors):
                best = rule
    if best is not None and most > _MOST_EXACT:
        return best
    return _in_t(max(most, _SIZES[-1]), least, most)


@lru_cache(maxsize=32)
def _nodes(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes in (-1, 1) and weights of Gauss and Legendre."""
    x, w = np.polynomial.legendre.leggauss(size)
    return x, w


@lru_cache(maxsize=32)
def _weights_in_t(size: int) -> NDArray[np.float64]:
    """Return the weights of 1 and -ln t at the nodes in t, shape (2, size)."""
    x, w = _nodes(size)
    degrees = np.arange(1, size)
    signs = np.where(degrees % 2, -1.0, 1.0)
    # Projections on the Legendre polynomials up to the last one that the nodes tell apart.
    polynomials = np.polynomial.legendre.legvander(x, size - 1) * (2 * np.arange(size) + 1)
    moments = polynomials @ np.concatenate([[1.0], signs / (degrees * (degrees + 1.0))])
    return np.asarray(0.5 * w * np.stack([np.ones(size), moments]))


def _in_t(size: int, least: int, most: int) -> Rule:
    x, _ = _nodes(size)
    return _checked((1 + x) / 2, (1 - x) / 2, _weights_in_t(size), least, most)


def _in_logarithm(size: int, least: int, most: int, end: float) -> Rule:
    """Make the rule in s = -ln t, cut off at `end`, where the least R leaves nothing to count."""
    x, w = _nodes(size)
    return _of_logarithms((1 + x) / 2 * end, w / 2 * end, least, most)


def _in_root_of_logarithm(size: int, least: int, most: int, end: float) -> Rule:
    """Make the rule in the square root of s, whose nodes crowd at 0: for wide windows."""
    x, w = _nodes(size)
    y = (1 + x) / 2
    return _of_logarithms(y * y * end, w * y * end, least, most)


def _of_logarithms(s: NDArray[np.float64], steps: NDArray[np.float64], least: int, most: int) -> Rule:
    """Make a rule of nodes s = -ln t and what each stands for."""
    t = np.exp(-s)
    weights = steps * t * np.stack([np.ones(s.size), s])
    return _checked(t, -np.expm1(-s), weights, least, most)


def _checked(
    t: NDArray[np.float64], u: NDArray[np.float64], weights: NDArray[np.float64], least: int, most: int
) -> Rule:
    """Measure the errors of a rule over its window; they are smooth in R."""
    if most - least < _CHECKED:
        counts = np.arange(least, most + 1, dtype=np.float64)
    else:
        counts = np.unique(np.geomspace(least, most, _CHECKED).round())
    sums = weights @ t[:, None] ** (counts - 1)
    errors = np.abs(1 - sums * counts ** np.array([[1], [2]])).max(axis=1)
    for values in (t, u, weights):
        values.flags.writeable = False
    return Rule(t, u, weights, least, most, tuple(errors.tolist()))
