"""Topic bootstrap of quadratic kappa: 50 topics, 4 grades, 10,000 resamples.

Beside it `scipy.stats.bootstrap` over topics with the same stacked statistic, and a plain loop of
scikit-learn's kappa over resampled documents, told as if it had made 10,000 resamples. Wall time,
best of 5 (scipy 2, loop 1).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from store.analysis.agreement.intervals import item_bootstrap, topic_bootstrap, topic_bootstraps
from store.analysis.agreement.kappa import stacked_chance_corrected

TOPICS, DOCUMENTS, GRADES, RESAMPLES = 50, 100, 4, 10_000
LOOPS = 50


def quadratic(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quadratic kappa of a stack of tables."""
    return stacked_chance_corrected("cohen", tables, "quadratic")


def unweighted(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return unweighted kappa of a stack of tables."""
    return stacked_chance_corrected("cohen", tables)


def judged_topics(seed: int) -> list[NDArray[np.int64]]:
    """Draw the grades of two judges, shape (2, DOCUMENTS) for each topic."""
    rng = np.random.default_rng(seed)
    topics = []
    for _ in range(TOPICS):
        seen = rng.normal(rng.normal(), size=DOCUMENTS) + rng.normal(size=(2, DOCUMENTS)) * 0.7
        topics.append(np.digitize(seen, [0.0, 1.0, 2.0]))
    return topics


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the least wall time of some calls."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


@pytest.mark.benchmark
def test_bootstrap_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """Print seconds of the bootstraps and of the peers, and the limits each finds."""
    topics = judged_topics(1)
    tables = np.zeros((TOPICS, GRADES, GRADES), np.int64)
    for table, grades in zip(tables, topics, strict=True):
        np.add.at(table, tuple(grades), 1)
    whole = tables.sum(axis=0).ravel()
    rng = np.random.default_rng(2)

    def with_scipy() -> tuple[float, float]:
        def of_topics(places: NDArray[np.int64], axis: int) -> NDArray[np.float64]:
            return quadratic(tables[np.moveaxis(places, axis, -1)].sum(axis=-3))

        found = stats.bootstrap(
            (np.arange(TOPICS),), of_topics, n_resamples=RESAMPLES, method="percentile", batch=1000, rng=rng
        )
        limits = found.confidence_interval
        return float(limits.low), float(limits.high)

    def with_loop() -> None:
        from sklearn.metrics import cohen_kappa_score

        for _ in range(LOOPS):
            drawn = np.concatenate([topics[t] for t in rng.integers(0, TOPICS, TOPICS)], axis=1)
            cohen_kappa_score(*drawn, weights="quadratic")

    ours = topic_bootstrap(tables, quadratic, seed=1, resamples=RESAMPLES)
    cells = np.eye(GRADES**2).reshape(-1, GRADES, GRADES)
    items = item_bootstrap(cells, whole, quadratic, seed=1)
    low, high = with_scipy()
    statistics = {"quadratic": quadratic, "unweighted": unweighted}
    lines = [
        f"{TOPICS} topics x {DOCUMENTS} documents, {GRADES} grades, {RESAMPLES} resamples: seconds",
        f"topic bootstrap, one coefficient    "
        f"{seconds(lambda: topic_bootstrap(tables, quadratic, seed=1), 5):8.4f}"
        f"   [{ours.low:.3f}, {ours.high:.3f}]   (wanted: under 0.2)",
        f"topic bootstrap, two together       "
        f"{seconds(lambda: topic_bootstraps(tables, statistics, seed=1), 5):8.4f}",
        f"item bootstrap                      "
        f"{seconds(lambda: item_bootstrap(cells, whole, quadratic, seed=1), 5):8.4f}"
        f"   [{items.low:.3f}, {items.high:.3f}]",
        f"scipy.stats.bootstrap over topics   {seconds(with_scipy, 2):8.4f}   [{low:.3f}, {high:.3f}]",
        f"loop of scikit-learn's kappa        "
        f"{seconds(with_loop, 1) * RESAMPLES / LOOPS:8.1f}   (from {LOOPS})",
    ]
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")
