"""Three runs, and what ranx and trectools make of them.

Numbers of ranx 0.3.21 (Python 3.11, numba 0.68.1), to all digits: ``fuse(runs, norm=None, method=...)``; for
the Comb family ``norm="min-max"``; ``rrf`` with ``k=60``. No two scores of a run are equal.

Numbers of trectools 0.0.50 (pandas 3.1.1), to all digits, for the same runs as one topic with ranks from 1.
The fused scores are those of ``fusion.reciprocal_rank_fusion`` and ``fusion.rank_biased_precision_fusion``,
the pools those of ``TrecPoolMaker().make_pool``. trectools orders ties by docno ascending; here nothing ties.
"""

from __future__ import annotations

RUNS: dict[str, dict[str, float]] = {
    "alpha": {"d3": 14.75, "d1": 13.5, "d7": 9.25, "d2": 6.125, "d9": 5.5, "d4": 2.25},
    "beta": {"d1": 0.875, "d5": 0.5, "d3": -0.25, "d8": -1.625},
    "gamma": {"d2": -3.0, "d1": -3.5, "d6": -4.75, "d5": -7.0, "d7": -8.5},
}
"""Scores by docno, best first."""
RANX: dict[str, dict[str, float]] = {
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
TRECTOOLS: dict[str, dict[str, float]] = {
    "rrf": {
        "d1": 0.048651507139079855,
        "d3": 0.032266458495966696,
        "d2": 0.032018442622950824,
        "d5": 0.031754032258064516,
        "d7": 0.03125763125763126,
        "d6": 0.015873015873015872,
        "d8": 0.015625,
        "d9": 0.015384615384615385,
        "d4": 0.015151515151515152,
    },
    "rbp-a": {
        "d1": 0.5199999999999999,
        "d3": 0.32799999999999996,
        "d2": 0.30239999999999995,
        "d5": 0.26239999999999997,
        "d7": 0.20992,
        "d6": 0.128,
        "d8": 0.1024,
        "d9": 0.08191999999999999,
        "d4": 0.065536,
    },
}
"""Fused scores by strategy and docno, best first: ``k=60``, ``p=0.8``."""
DEPTH_POOLS: dict[int, set[str]] = {
    1: {"d1", "d2", "d3"},
    2: {"d1", "d2", "d3", "d5"},
    3: {"d1", "d2", "d3", "d5", "d6", "d7"},
    4: {"d1", "d2", "d3", "d5", "d6", "d7", "d8"},
    5: {"d1", "d2", "d3", "d5", "d6", "d7", "d8", "d9"},
    6: {"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"},
}
"""``strategy="topX"`` by ``topX``."""
RRF_POOLS: dict[int, set[str]] = {
    1: {"d1"},
    2: {"d1", "d3"},
    3: {"d1", "d2", "d3"},
    5: {"d1", "d2", "d3", "d5", "d7"},
    7: {"d1", "d2", "d3", "d5", "d6", "d7", "d8"},
}
"""``strategy="rrf", rrf_den=60`` by ``topX``."""
