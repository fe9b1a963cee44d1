"""DCG of a list by its definition."""

from __future__ import annotations

import math
from collections.abc import Sequence

from store.analysis.measures.names import MeasureName


def plain_gain(name: MeasureName, grades: Sequence[int]) -> float:
    """Compute DCG, rank by rank."""
    total = 0.0
    for rank, grade in enumerate(grades[: name.cutoff], start=1):
        worth = 2 ** max(0, grade) - 1 if name.dcg.startswith("exp") else max(0, grade)
        jarvelin = name.dcg.endswith("jarvelin")
        total += worth / (max(1.0, math.log2(rank)) if jarvelin else math.log2(rank + 1))
    return total
