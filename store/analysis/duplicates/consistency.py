"""Whether near-duplicates got the same grade: pairs of judgements that ought to be alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from store.analysis.agreement.alpha import alpha
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class PairConsistency:
    """How alike the grades of pairs are."""

    pairs: int
    same: int
    """With equal grades."""
    alpha: float | None
    """Krippendorff's, ordinal: the two of a pair have no order. ``None`` = undefined."""
    reason: str | None
    """Why it is: ``no-common-docs`` (no pair), ``one-doc`` (one pair), ``single-grade`` (no other grade)."""

    @property
    def share(self) -> float | None:
        """Share of the pairs with equal grades; ``None`` = there is no pair."""
        return self.same / self.pairs if self.pairs else None


def pair_consistency(pairs: Sequence[tuple[int, int]], values: Sequence[int]) -> PairConsistency:
    """Measure how alike the two grades of pairs are.

    Parameters
    ----------
    pairs : sequence of (int, int)
        Grades, in either order.
    values : sequence of int
        The grades of the scale, ascending. `ArgumentError` if a pair has another.

    Returns
    -------
    PairConsistency

    Notes
    -----
    A pair is a unit of two votes of which neither is the first, so that alpha, and not kappa, corrects for
    chance.

    Examples
    --------
    >>> pair_consistency([(1, 1), (0, 0), (1, 0)], [0, 1]).same
    2
    >>> pair_consistency([(1, 1)], [0, 1]).reason
    'one-doc'
    """
    place = {value: index for index, value in enumerate(values)}
    if unknown := {grade for pair in pairs for grade in pair if grade not in place}:
        raise ArgumentError("pairs", f"must be of grades {list(values)}", min(unknown))
    table = np.zeros((len(values), len(values)), dtype=np.int64)
    for one, other in pairs:
        table[place[one], place[other]] += 1
    found = alpha(table + table.T, "ordinal", n_documents=len(pairs))
    return PairConsistency(len(pairs), int(np.trace(table)), found.value, found.reason)
