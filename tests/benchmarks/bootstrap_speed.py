"""Topic bootstrap of quadratic kappa, beside scipy's and a loop of scikit-learn's kappa.

50 topics, 4 grades, 10,000 resamples. `scipy.stats.bootstrap` is over topics with the same stacked
statistic; the plain loop is over resampled documents, told as if it had made 10,000 resamples. Wall
time, the fastest of at least 5 (scipy 2, loop 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from store.analysis.agreement.intervals import item_bootstrap, topic_bootstrap, topic_bootstraps
from store.analysis.agreement.kappa import stacked_chance_corrected
from tests.benchmarks.timing import fastest, is_here

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


def bootstrap_speed() -> None:
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
    print(f"{TOPICS} topics x {DOCUMENTS} documents, {GRADES} grades, {RESAMPLES} resamples: seconds")
    taken = fastest(lambda: topic_bootstrap(tables, quadratic, seed=1), 5)
    print(f"topic bootstrap, one coefficient    {taken:8.4f}   [{ours.low:.3f}, {ours.high:.3f}] (aim 0.2)")
    taken = fastest(lambda: topic_bootstraps(tables, statistics, seed=1), 5)
    print(f"topic bootstrap, two together       {taken:8.4f}")
    taken = fastest(lambda: item_bootstrap(cells, whole, quadratic, seed=1), 5)
    print(f"item bootstrap                      {taken:8.4f}   [{items.low:.3f}, {items.high:.3f}]")
    taken = fastest(with_scipy, 2)
    print(f"scipy.stats.bootstrap over topics   {taken:8.4f}   [{low:.3f}, {high:.3f}]")
    if is_here("sklearn"):
        taken = fastest(with_loop, 1) * RESAMPLES / LOOPS
        print(f"loop of scikit-learn's kappa        {taken:8.1f}   (from {LOOPS})")
    else:
        print("scikit-learn: peer absent")


if __name__ == "__main__":
    bootstrap_speed()
