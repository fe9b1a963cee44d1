"""Agreement from arrays, by this program and by others: seconds in one process.

One pair of judges with a million common documents; 50 judges of 100,000 documents, with half of
the cells missing and with 94 % missing; every pair's coefficients of 177 judges. Other programs are
called on arrays that are laid out as they want them. `POOLER_BENCH_DOCUMENTS` is the number of
documents of the 50 judges (default 100,000; the pair has ten times as many),
`POOLER_BENCH_REPEATS` how often each is timed (default 3; at least; the fastest is told).
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from store.analysis.agreement.kappa import chance_corrected, stacked_standard_errors
from store.analysis.agreement.many import MANY_NAMES, many_coefficient
from store.analysis.agreement.pairs import PAIR_NAMES, stacked
from store.analysis.agreement.tables import all_pair_tables, vote_sums
from store.analysis.agreement.votes import Votes, votes_from_rows

DOCUMENTS = int(os.environ.get("POOLER_BENCH_DOCUMENTS", "100000"))
REPEATS = int(os.environ.get("POOLER_BENCH_REPEATS", "3"))
JUDGES, TOPICS, GRADES = 50, 50, 4
ABSENT = "peer absent"


def fastest(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Time a call, a short one more often, and give the seconds of the fastest."""
    seconds: list[float] = []
    while len(seconds) < repeats or (repeats > 1 and sum(seconds) < 0.3):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def line(name: str, seconds: float | None, ours: float | None = None) -> str:
    """Write one figure; of another program, how many times ours it is."""
    if seconds is None:
        return f"  {name:58} {ABSENT}"
    times = "" if ours is None else f"  {seconds / ours:7.1f} x"
    return f"  {name:58} {seconds:8.4f} s{times}"


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


@pytest.mark.benchmark
def test_pair_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """Print seconds for one pair of judges: counting, quadratic kappa, its standard error."""
    n_documents = 10 * DOCUMENTS
    first, second = two_judges(n_documents)

    def by_pooler() -> object:
        counts = np.bincount(first * GRADES + second, minlength=GRADES**2).reshape(GRADES, GRADES)
        return chance_corrected("cohen", counts, "quadratic")

    ours = fastest(by_pooler)
    lines = [f"one pair, {n_documents:,} documents, from two arrays of places"]
    lines.append(line("pooler: quadratic kappa and its standard error", ours))
    sklearn, inter_rater = peer("sklearn.metrics"), peer("statsmodels.stats.inter_rater")
    nltk = peer("nltk.metrics.agreement")
    kappa = sklearn and fastest(lambda: sklearn.cohen_kappa_score(first, second, weights="quadratic"))
    lines.append(line("scikit-learn: quadratic kappa", kappa, ours))
    error = inter_rater and fastest(
        lambda: inter_rater.cohens_kappa(
            inter_rater.to_table(np.column_stack([first, second]), GRADES)[0], wt="quadratic"
        )
    )
    lines.append(line("statsmodels: quadratic kappa and standard errors", error, ours))
    small = 20_000

    def by_nltk() -> object:
        rows = [
            (judge, number, int(grade))
            for judge, grades in (("a", first), ("b", second))
            for number, grade in enumerate(grades[:small])
        ]
        return nltk.AnnotationTask(rows).kappa()

    slow = nltk and fastest(by_nltk, 1) * n_documents / small
    lines.append(line("NLTK: kappa (of 20,000, in proportion)", slow, ours))
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")


@pytest.mark.benchmark
@pytest.mark.parametrize("missing", [0.5, 0.94])
def test_many_judges_speed(missing: float, capsys: pytest.CaptureFixture[str]) -> None:
    """Print seconds for 50 judges: alpha, Fleiss, everything, all pairs' tables."""
    places = many_judges(missing)
    votes = votes_in(places)
    size = f"{DOCUMENTS:,} documents, {missing:.0%} missing, {len(votes.places):,} votes"
    lines = [f"{JUDGES} judges, {size}"]
    both = fastest(lambda: [many_coefficient(name, votes) for name in ("alpha_ordinal", "fleiss")])
    lines.append(line("pooler: ordinal alpha, Fleiss and its standard error", both))
    lines.append(
        line(
            "pooler: all nine coefficients",
            fastest(lambda: [many_coefficient(name, votes) for name in MANY_NAMES]),
        )
    )
    lines.append(line("pooler: sums of every topic, for resampling", fastest(lambda: vote_sums(votes))))
    krippendorff = peer("krippendorff")
    grid = np.where(places < 0, np.nan, places).T.astype(np.float64)
    alpha = krippendorff and fastest(
        lambda: krippendorff.alpha(
            reliability_data=grid, level_of_measurement="ordinal", value_domain=range(GRADES)
        )
    )
    lines.append(line("krippendorff: ordinal alpha", alpha, both))
    inter_rater = peer("statsmodels.stats.inter_rater")
    full = np.maximum(places, 0)
    fleiss = inter_rater and fastest(
        lambda: inter_rater.fleiss_kappa(inter_rater.aggregate_raters(full, GRADES)[0])
    )
    lines.append(line("statsmodels: Fleiss of filled cells, as it refuses gaps", fleiss, both))
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
    lines.append(line("NLTK: nominal alpha (of a hundredth, in proportion)", slow, both))
    tables = fastest(lambda: all_pair_tables(votes))
    lines.append(line(f"pooler: tables of all {JUDGES * (JUDGES - 1) // 2:,} pairs", tables))
    columns = [np.ascontiguousarray(column).astype(np.int64) for column in places.T]

    def pair_by_pair(pairs: list[tuple[int, int]]) -> None:
        for one, other in pairs:
            shared = (columns[one] >= 0) & (columns[other] >= 0)
            np.bincount(columns[one][shared] * GRADES + columns[other][shared], minlength=GRADES**2)

    few = list(combinations(range(JUDGES), 2))[:50]
    naive = fastest(lambda: pair_by_pair(few), 1) * JUDGES * (JUDGES - 1) / 2 / len(few)
    lines.append(line("numpy, one pair after another (50, in proportion)", naive, tables))
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")


@pytest.mark.benchmark
def test_stack_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """Print seconds for every coefficient of the 15,576 pairs of 177 judges."""
    tables = np.random.default_rng(3).integers(0, 50, (177 * 176 // 2, GRADES, GRADES))
    ours = fastest(lambda: [stacked(name, tables) for name in PAIR_NAMES])
    errors = fastest(lambda: stacked_standard_errors(tables, "quadratic"))
    lines = [f"{len(tables):,} pairs, tables counted"]
    lines.append(line(f"pooler: {len(PAIR_NAMES)} coefficients each", ours))
    lines.append(line("pooler: standard errors of quadratic kappa", errors))
    one = fastest(lambda: [chance_corrected("cohen", table, "quadratic") for table in tables[:100]], 1)
    lines.append(line("pooler: quadratic kappa exactly, one after another (of 100)", one * len(tables) / 100))
    inter_rater = peer("statsmodels.stats.inter_rater")
    slow = inter_rater and fastest(
        lambda: [inter_rater.cohens_kappa(table, wt="quadratic") for table in tables[:100]], 1
    ) * (len(tables) / 100)
    lines.append(line("statsmodels: quadratic kappa and standard error (of 100)", slow, errors))
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")
