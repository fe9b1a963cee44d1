"""What trectools makes of three runs.

Numbers of trectools 0.0.50 (pandas 3.1.1), to all digits, for the runs of
`tests.vectors.fusion_ranx` as one topic with ranks from 1. The fused scores are those of
``fusion.reciprocal_rank_fusion`` and ``fusion.rank_biased_precision_fusion``, the pools those of
``TrecPoolMaker().make_pool``. trectools orders ties by docno ascending; here nothing ties.
"""

from __future__ import annotations

VALUES: dict[str, dict[str, float]] = {
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
