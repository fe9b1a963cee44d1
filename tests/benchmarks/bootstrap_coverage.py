"""How often intervals of quadratic kappa hold the true kappa: 95 % would be right.

Documents have a relevance that is normal about a mean of their topic, which is normal itself
(prevalence varies). Two judges see it with an error of their own a document and, in two of the four
settings, with a shift of their own a topic (strictness). Both cut what they see into four grades.
The true kappa is that of 20,000 topics. In brackets stands the coverage that an earlier simulation
of the same four settings found, with spreads of its own: the numbers can be near, not equal.

`POOLER_BENCH_RUNS` is the number of simulated collections a setting (default 400).
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import Interval, asymptotic_interval, item_bootstrap, topic_bootstrap
from store.analysis.agreement.kappa import stacked_chance_corrected, stacked_standard_errors

RUNS = int(os.environ.get("POOLER_BENCH_RUNS", "400"))
TRUE_TOPICS, RESAMPLES, GRADES = 20_000, 2000, 4
CUTS = [0.5, 1.25, 2.0]
TOPIC_SD, ERROR_SD = 1.0, 0.7
SETTINGS = [
    (0.0, 50, 40, (0.797, 0.782, 0.880)),
    (0.0, 10, 200, (0.517, 0.497, 0.715)),
    (0.5, 50, 40, (0.713, 0.705, 0.930)),
    (0.5, 10, 200, (0.367, 0.367, 0.845)),
]
"""Standard deviation of strictness, topics, documents, and the earlier coverages."""


def quadratic(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quadratic kappa of a stack of tables."""
    return stacked_chance_corrected("cohen", tables, "quadratic")


def drawn_tables(
    rng: np.random.Generator, n_topics: int, n_documents: int, strictness: float
) -> NDArray[np.int64]:
    """Draw the tables of a collection's topics, shape (n_topics, GRADES, GRADES)."""
    mean = rng.normal(0, TOPIC_SD, size=(n_topics, 1))
    relevance = mean + rng.normal(size=(n_topics, n_documents))
    places = []
    for _ in range(2):
        shift = rng.normal(0, strictness, size=(n_topics, 1))
        seen = relevance + shift + rng.normal(0, ERROR_SD, size=relevance.shape)
        places.append(np.digitize(seen, CUTS))
    cells = (np.arange(n_topics)[:, np.newaxis] * GRADES + places[0]) * GRADES + places[1]
    counts = np.bincount(cells.ravel(), minlength=n_topics * GRADES**2)
    return counts.reshape(n_topics, GRADES, GRADES)


def intervals(tables: NDArray[np.int64], seed: int) -> tuple[Interval, Interval, Interval]:
    """Return the asymptotic interval and those of the item and the topic bootstrap."""
    whole = tables.sum(axis=0)
    kappa, error = float(quadratic(whole)), float(stacked_standard_errors(whole, "quadratic"))
    cells = np.eye(GRADES**2).reshape(-1, GRADES, GRADES)
    return (
        asymptotic_interval(kappa, error),
        item_bootstrap(cells, whole.ravel(), quadratic, seed=seed, resamples=RESAMPLES),
        topic_bootstrap(tables, quadratic, seed=seed, resamples=RESAMPLES),
    )


def bootstrap_coverage() -> None:
    """Print the coverage and the mean width of three intervals beside the earlier coverage."""
    print(
        f"{RUNS} collections a setting; nominal .95; coverage (mean width) [earlier]",
        "strictness topics x docs  true kappa  asymptotic            item bootstrap        topic bootstrap",
        sep="\n",
    )
    for number, (strictness, n_topics, n_documents, earlier) in enumerate(SETTINGS):
        rng = np.random.default_rng([5, number])
        truth = quadratic(drawn_tables(rng, TRUE_TOPICS, n_documents, strictness).sum(axis=0)[None])
        held, widths = np.zeros(3), np.zeros(3)
        for run in range(RUNS):
            tables = drawn_tables(rng, n_topics, n_documents, strictness)
            for kind, interval in enumerate(intervals(tables, run)):
                if interval.low is None or interval.high is None or interval.width is None:
                    continue  # no interval holds nothing
                held[kind] += interval.low <= truth[0] <= interval.high
                widths[kind] += interval.width
        cells = "  ".join(
            f"{h / RUNS:.3f} ({w / RUNS:.3f}) [{r:.3f}]"
            for h, w, r in zip(held, widths, earlier, strict=True)
        )
        setting = f"sd {strictness:3.1f}     {n_topics:3} x {n_documents:3}"
        print(f"{setting}      {truth[0]:.3f}       {cells}")


if __name__ == "__main__":
    bootstrap_coverage()
