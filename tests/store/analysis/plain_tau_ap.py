"""tau_AP with ties, by walking down every order that a tied ranking may stand for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby, permutations, product


def plain_tau_ap(estimate: Sequence[Fraction | float], truth: Sequence[Fraction | float]) -> float:
    """Average, over all orders of the estimate, the right runs above; few runs, no rounding.

    Scores are tied where they are equal. A pair tied in one of the scorings is half right, a pair
    tied in both is right. 2/(n - 1) (C(2)/1 + C(3)/2 + ...) - 1, the mean over the orders.
    """
    ranked = sorted(range(len(estimate)), key=lambda run: -estimate[run])
    groups = [list(group) for _, group in groupby(ranked, key=lambda run: estimate[run])]
    found = []
    for parts in product(*(permutations(group) for group in groups)):
        order = [run for part in parts for run in part]
        shares = Fraction(0)
        for n_above in range(1, len(order)):
            run = order[n_above]
            for other in order[:n_above]:
                ahead = compare(estimate[other], estimate[run])
                truly = compare(truth[other], truth[run])
                if ahead == truly:
                    shares += Fraction(1, n_above)
                elif 0 in (ahead, truly):
                    shares += Fraction(1, 2 * n_above)
        found.append(2 * shares / (len(order) - 1) - 1)
    return float(sum(found) / len(found))


def compare(one: Fraction | float, other: Fraction | float) -> int:
    """Return 1 where the one is higher, -1 where it is lower, 0 where both are equal."""
    return (one > other) - (one < other)
