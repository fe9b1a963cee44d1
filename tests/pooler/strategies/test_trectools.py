"""Depth pools and RRF beside trectools itself, where it is there (extra `peers`)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.pooler.strategies.fixed import order_of, values_of

DOCNOS = [f"doc-{number:02d}" for number in range(40)]
TOPICS = ["51", "52", "53"]


@pytest.fixture(scope="module")
def trectools() -> Any:
    """Import trectools, whose libraries warn, or skip."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("trectools.fusion", reason="trectools is absent (extra `peers`)")
        import trectools

        return trectools


@pytest.fixture(scope="module")
def rankings() -> dict[str, list[list[str]]]:
    """Draw six runs of three topics, of different lengths."""
    rng = np.random.default_rng(7)
    return {
        topic: [rng.permutation(DOCNOS)[: rng.integers(5, 30)].tolist() for _ in range(6)] for topic in TOPICS
    }


@pytest.fixture(scope="module")
def runs(trectools: Any, rankings: dict[str, list[list[str]]]) -> list[Any]:
    """Make them runs of trectools: ranks from 1, scores that fall."""
    import pandas as pd

    columns = ["query", "q0", "docid", "rank", "score", "system"]
    runs = []
    for number in range(6):
        rows = [
            (topic, "Q0", docno, rank, 100.0 - rank, f"run{number}")
            for topic in TOPICS
            for rank, docno in enumerate(rankings[topic][number], start=1)
        ]
        run = trectools.TrecRun(None)
        run.load_run_from_dataframe(pd.DataFrame(rows, columns=columns))
        runs.append(run)
    return runs


@pytest.mark.parametrize("depth", [1, 2, 5, 10, 30])
def test_depth_pool_agrees_with_trectools(
    trectools: Any, rankings: dict[str, list[list[str]]], runs: list[Any], depth: int
) -> None:
    """Every topic has the pool that trectools makes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool = trectools.TrecPoolMaker().make_pool(runs, strategy="topX", topX=depth).pool
    for topic in TOPICS:
        assert set(order_of("depth", rankings[topic], depth=depth)) == pool[topic]


@pytest.mark.parametrize("k", [0, 60])
def test_rrf_values_agree_with_trectools(
    trectools: Any, rankings: dict[str, list[list[str]]], runs: list[Any], k: int
) -> None:
    """Every document has the fused score of trectools."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fused = trectools.fusion.reciprocal_rank_fusion(runs, k=k).run_data
    for topic in TOPICS:
        of_topic = fused[fused["query"] == topic]
        expected = dict(zip(of_topic["docid"], of_topic["score"], strict=True))
        assert values_of("rrf", rankings[topic], k=k) == pytest.approx(expected, rel=1e-14)
