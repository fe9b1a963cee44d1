"""Three runs and what ranx makes of them.

Numbers of ranx 0.3.21 (Python 3.11, numba 0.68.1), to all digits: ``fuse(runs, norm=None,
method=...)``; for the Comb family ``norm="min-max"``; ``rrf`` with ``k=60``. No two
scores of a run are equal.
"""

from __future__ import annotations

RUNS: dict[str, dict[str, float]] = {
    "alpha": {"d3": 14.75, "d1": 13.5, "d7": 9.25, "d2": 6.125, "d9": 5.5, "d4": 2.25},
    "beta": {"d1": 0.875, "d5": 0.5, "d3": -0.25, "d8": -1.625},
    "gamma": {"d2": -3.0, "d1": -3.5, "d6": -4.75, "d5": -7.0, "d7": -8.5},
}
"""Scores by docno, best first."""

PARAMETERS: dict[str, dict[str, float]] = {"rrf": {"k": 60}}
"""Of the strategies that have any."""

VALUES: dict[str, dict[str, float]] = {
    "comb-max": {
        "d1": 1.0,
        "d2": 1.0,
        "d3": 1.0,
        "d4": 0.0,
        "d5": 0.85,
        "d6": 0.6818181818181818,
        "d7": 0.56,
        "d8": 0.0,
        "d9": 0.26,
    },
    "comb-sum": {
        "d1": 2.809090909090909,
        "d2": 1.31,
        "d3": 1.55,
        "d4": 0.0,
        "d5": 1.1227272727272726,
        "d6": 0.6818181818181818,
        "d7": 0.56,
        "d8": 0.0,
        "d9": 0.26,
    },
    "comb-mnz": {
        "d1": 8.427272727272728,
        "d2": 2.62,
        "d3": 3.1,
        "d4": 0.0,
        "d5": 2.245454545454545,
        "d6": 0.6818181818181818,
        "d7": 1.12,
        "d8": 0.0,
        "d9": 0.26,
    },
    "borda": {
        "d1": 25.0,
        "d2": 18.0,
        "d3": 18.5,
        "d4": 9.5,
        "d5": 16.0,
        "d6": 12.0,
        "d7": 15.0,
        "d8": 10.5,
        "d9": 10.5,
    },
    "rrf": {
        "d1": 0.048651507139079855,
        "d2": 0.032018442622950824,
        "d3": 0.032266458495966696,
        "d4": 0.015151515151515152,
        "d5": 0.031754032258064516,
        "d6": 0.015873015873015872,
        "d7": 0.03125763125763126,
        "d8": 0.015625,
        "d9": 0.015384615384615385,
    },
}
"""Fused scores by strategy and docno."""
