"""Agreement from arrays, beside scikit-learn, statsmodels, NLTK and krippendorff: seconds in one process.

One pair of judges with a million common documents; 50 judges of 100,000 documents, with half of
the cells missing and with 94 % missing; every pair's coefficients of 177 judges. Other programs are
called on arrays that are laid out as they want them. `POOLER_BENCH_DOCUMENTS` is the number of
documents of the 50 judges (default 100,000; the pair has ten times as many),
`POOLER_BENCH_REPEATS` how often each is timed (default 3; at least; the fastest is told).
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.kappa import stacked_chance_corrected, stacked_standard_errors
from store.analysis.agreement.many import MANY_NAMES, many_coefficient
from store.analysis.agreement.tables import PAIR_NAMES, stacked, vote_sums
from store.analysis.agreement.votes import Votes, votes_from_rows
from tests.benchmarks.timing import fastest

DOCUMENTS = int(os.environ.get("POOLER_BENCH_DOCUMENTS", "100000"))
JUDGES, TOPICS, GRADES = 50, 50, 4


def show(name: str, seconds: float | None, ours: float | None = None) -> None:
    """Print one figure; of another program, how many times ours it is."""
    times = "" if seconds is None or ours is None else f"  {seconds / ours:7.1f} x"
    print(f"  {name:58} {'peer absent' if seconds is None else f'{seconds:8.4f} s'}{times}")


def peer(name: str) -> Any:
    """Import another program; ``None`` when it is absent."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def two_judges(n_documents: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw two judges who give the same grade to most documents."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, GRADES, n_documents)
    return first, np.where(rng.random(n_documents) < 0.6, first, rng.integers(0, GRADES))


def many_judges(missing: float) -> NDArray[np.int8]:
    """Draw 50 judges' places, shape (n_documents, n_judges), -1 where missing."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, GRADES, (DOCUMENTS, 1), dtype=np.int8)
    noise = rng.integers(0, GRADES, (DOCUMENTS, JUDGES), dtype=np.int8)
    places = np.where(rng.random((DOCUMENTS, JUDGES)) < 0.6, truth, noise)
    places[rng.random((DOCUMENTS, JUDGES)) < missing] = -1
    return places


def votes_in(places: NDArray[np.int8]) -> Votes:
    """Arrange places as votes on as many documents of every topic."""
    documents, judges = np.nonzero(places >= 0)
    return votes_from_rows(
        documents * TOPICS // len(places),
        documents,
        judges,
        places[places >= 0].astype(np.int64),
        topics=[str(topic) for topic in range(TOPICS)],
        judges=[f"judge {number:02}" for number in range(places.shape[1])],
        scale_values=range(GRADES),
    )


def pair_speed() -> None:
    """Print seconds for one pair of judges: counting, quadratic kappa, its standard error."""
    n_documents = 10 * DOCUMENTS
    first, second = two_judges(n_documents)

    def by_pooler() -> object:
        counts = np.bincount(first * GRADES + second, minlength=GRADES**2).reshape(GRADES, GRADES)
        return (
            stacked_chance_corrected("cohen", counts, "quadratic"),
            stacked_standard_errors(counts, "quadratic"),
        )

    ours = fastest(by_pooler)
    print(f"one pair, {n_documents:,} documents, from two arrays of places")
    show("pooler: quadratic kappa and its standard error", ours)
    sklearn, inter_rater = peer("sklearn.metrics"), peer("statsmodels.stats.inter_rater")
    nltk = peer("nltk.metrics.agreement")
    kappa = sklearn and fastest(lambda: sklearn.cohen_kappa_score(first, second, weights="quadratic"))
    show("scikit-learn: quadratic kappa", kappa, ours)
    error = inter_rater and fastest(
        lambda: inter_rater.cohens_kappa(
            inter_rater.to_table(np.column_stack([first, second]), GRADES)[0], wt="quadratic"
        )
    )
    show("statsmodels: quadratic kappa and standard errors", error, ours)
    small = 20_000

    def by_nltk() -> object:
        rows = [
            (judge, number, int(grade))
            for judge, grades in (("a", first), ("b", second))
            for number, grade in enumerate(grades[:small])
        ]
        return nltk.AnnotationTask(rows).kappa()

    slow = nltk and fastest(by_nltk, 1) * n_documents / small
    show("NLTK: kappa (of 20,000, in proportion)", slow, ours)


def many_judges_speed(missing: float) -> None:
    """Print seconds for 50 judges: alpha, Fleiss, everything, all pairs' tables."""
    places = many_judges(missing)
    votes = votes_in(places)
    size = f"{DOCUMENTS:,} documents, {missing:.0%} missing, {len(votes.places):,} votes"
    print(f"{JUDGES} judges, {size}")
    both = fastest(lambda: [many_coefficient(name, votes) for name in ("alpha_ordinal", "fleiss")])
    show("pooler: ordinal alpha, Fleiss and its standard error", both)
    every = fastest(lambda: [many_coefficient(name, votes) for name in MANY_NAMES])
    show("pooler: all nine coefficients", every)
    show("pooler: sums of every topic, for resampling", fastest(lambda: vote_sums(votes)))
    krippendorff = peer("krippendorff")
    grid = np.where(places < 0, np.nan, places).T.astype(np.float64)
    alpha = krippendorff and fastest(
        lambda: krippendorff.alpha(
            reliability_data=grid, level_of_measurement="ordinal", value_domain=range(GRADES)
        )
    )
    show("krippendorff: ordinal alpha", alpha, both)
    inter_rater = peer("statsmodels.stats.inter_rater")
    full = np.maximum(places, 0)
    fleiss = inter_rater and fastest(
        lambda: inter_rater.fleiss_kappa(inter_rater.aggregate_raters(full, GRADES)[0])
    )
    show("statsmodels: Fleiss of filled cells, as it refuses gaps", fleiss, both)
    nltk = peer("nltk.metrics.agreement")
    small = max(DOCUMENTS // 100, 1)

    def by_nltk() -> object:
        rows = [
            (judge, document, int(places[document, judge]))
            for document in range(small)
            for judge in range(JUDGES)
            if places[document, judge] >= 0
        ]
        return nltk.AnnotationTask(rows).alpha()

    slow = nltk and fastest(by_nltk, 1) * DOCUMENTS / small
    show("NLTK: nominal alpha (of a hundredth, in proportion)", slow, both)


def stack_speed() -> None:
    """Print seconds for every coefficient of the 15,576 pairs of 177 judges."""
    tables = np.random.default_rng(3).integers(0, 50, (177 * 176 // 2, GRADES, GRADES))
    ours = fastest(lambda: [stacked(name, tables) for name in PAIR_NAMES])
    errors = fastest(lambda: stacked_standard_errors(tables, "quadratic"))
    print(f"{len(tables):,} pairs, tables counted")
    show(f"pooler: {len(PAIR_NAMES)} coefficients each", ours)
    show("pooler: standard errors of quadratic kappa", errors)
    inter_rater = peer("statsmodels.stats.inter_rater")
    slow = inter_rater and fastest(
        lambda: [inter_rater.cohens_kappa(table, wt="quadratic") for table in tables[:100]], 1
    ) * (len(tables) / 100)
    show("statsmodels: quadratic kappa and standard error (of 100)", slow, errors)


if __name__ == "__main__":
    pair_speed()
    for share in (0.5, 0.94):
        many_judges_speed(share)
    stack_speed()
