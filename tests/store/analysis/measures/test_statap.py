"""statAP: values of NIST's program, AP where all is judged, no bias over all samples."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.sampled import (
    SampledPool,
    StatapScores,
    sampled_pool,
    sampled_rankings,
    statap_scores,
)
from store.errors import ArgumentError
from tests.store.analysis.plain_lists import plain_ap

Sample = dict[int, tuple[int, float]]
"""Grade and inclusion probability of every sampled document."""


def pool_of(sample: Sample) -> SampledPool:
    """Make a pool of graded documents."""
    return sampled_pool(
        list(sample),
        [1] * len(sample),
        [grade for grade, _ in sample.values()],
        inclusion=[chance for _, chance in sample.values()],
    )


def scores_of(sample: Sample, *lists: list[int], level: int = 1) -> StatapScores:
    """Score runs for one topic."""
    tags = [f"r{number}" for number in range(len(lists))]
    ranked = {(tag, "t"): np.array(one, dtype=np.int64)
              for tag, one in zip(tags, lists, strict=True)}  # fmt: skip
    arrays = sampled_rankings(tags, ranked, {"t": pool_of(sample)}, cutoff=1000)
    return statap_scores(arrays, level=level)


def test_values_of_the_program() -> None:
    """18 graded of 30 documents; a run of 40 and its first 9.

    The values are what the arithmetic of `statAP_MQ_eval_v4.pl` printed with 14 decimals.
    """
    sample = {i: ((i * i // 3) % 4, (1 + i % 8) / 8) for i in range(30) if (7 * i) % 5 < 3}
    ranked = [(17 * k + 5) % 40 for k in range(40)]
    scores = scores_of(sample, ranked, ranked[:9])
    assert scores.n_relevant == pytest.approx([28.86666666666667], abs=1e-13)
    assert scores.stat_ap[:, 0] == pytest.approx([0.86269406925296, 0.26772731160722], abs=1e-13)
    assert scores.variance[:, 0] == pytest.approx([0.20168337949087, 0.17229659013086], abs=1e-13)
    assert scores.n_relevant_retrieved[:, 0] == pytest.approx([28.86666666666667, 12], abs=1e-13)


judged = st.dictionaries(st.integers(0, 30), st.tuples(st.integers(0, 2), st.just(1.0)), min_size=1)
lists = st.lists(st.integers(0, 35), unique=True, min_size=1)


@given(sample=judged, ranked=lists)
def test_pool_judged_whole_has_the_scores_of_its_qrels(sample: Sample, ranked: list[int]) -> None:
    """Of trec_eval, where whatever has no grade counts as not relevant."""
    scores = scores_of(sample, ranked)
    qrels = {"t": {f"d{document:02d}": grade for document, (grade, _) in sample.items()}}
    run = {"t": {f"d{document:02d}": -float(rank) for rank, document in enumerate(ranked)}}
    names = {"map", "num_rel_ret"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)["t"]
    ours = {"map": scores.stat_ap[0, 0], "num_rel_ret": scores.n_relevant_retrieved[0, 0]}
    if scores.n_relevant[0] == 0:
        assert math.isnan(ours.pop("map"))
        assert math.isnan(scores.variance[0, 0])
    for name, value in ours.items():
        assert value == pytest.approx(theirs[name], rel=1e-12), name


def test_no_bias_over_all_samples() -> None:
    """Documents drawn one by one: the mean of R-hat is R, that of statAP R-hat is AP R."""
    chances = {1: 0.5, 2: 0.25, 3: 0.9, 4: 0.6, 5: 1.0}
    grades = {1: 1, 2: 1, 3: 0, 4: 2, 5: 0}
    ranked = [2, 3, 9, 4, 5]
    relevant = [grades.get(document, 0) > 0 for document in ranked]
    expected = plain_ap(relevant, 3)
    assert expected is not None
    mean_relevant = mean_product = weight = 0.0
    for drawn in product([True, False], repeat=4):
        sampled = [document for document, kept in zip(chances, drawn, strict=False) if kept] + [5]
        chance = math.prod(chances[document] if kept else 1 - chances[document]
                           for document, kept in zip(chances, drawn, strict=False))  # fmt: skip
        weight += chance
        sample = {document: (grades[document], chances[document]) for document in sampled}
        scores = scores_of(sample, ranked)
        estimate = scores.n_relevant[0]
        mean_relevant += chance * estimate
        if estimate:
            mean_product += chance * scores.stat_ap[0, 0] * estimate
    assert weight == pytest.approx(1, rel=1e-14)
    assert mean_relevant == pytest.approx(3, rel=1e-14)
    assert mean_product == pytest.approx(float(3 * expected), rel=1e-14)


sampled = st.dictionaries(st.integers(0, 20), st.tuples(st.integers(0, 1), st.floats(0.05, 1)), min_size=2)


graded = st.dictionaries(
    st.integers(0, 20),
    st.tuples(st.integers(-1, 3), st.one_of(st.floats(0.05, 1), st.sampled_from([0.25, 0.5, 1]))),
    min_size=1,
)


@given(sample=graded, ranked=lists, level=st.integers(1, 3))
def test_any_sample_has_the_scores_of_the_loops(sample: Sample, ranked: list[int], level: int) -> None:
    """R-hat and statAP of documents that stand for 1/pi each."""
    scores = scores_of(sample, ranked, level=level)
    worth = {document: 1 / chance for document, (grade, chance) in sample.items() if grade >= level}
    total, above, found = sum(worth.values()), 0.0, 0.0
    for rank, document in enumerate(ranked, start=1):
        if document in worth:
            found += (1 + above) / rank * worth[document]
            above += worth[document]
    assert scores.n_relevant[0] == pytest.approx(total, rel=1e-12)
    assert scores.n_relevant_retrieved[0, 0] == pytest.approx(above, rel=1e-12)
    expected = found / total if worth else np.nan
    assert scores.stat_ap[0, 0] == pytest.approx(expected, rel=1e-12, nan_ok=True)


@given(sample=sampled, ranked=lists)
def test_variance_is_that_of_the_loops(sample: Sample, ranked: list[int]) -> None:
    """Every pair of relevant documents looked at, as the program does."""
    scores = scores_of(sample, ranked)
    ap, total = scores.stat_ap[0, 0], scores.n_relevant[0]
    if total == 0:
        return
    terms, ranks = [], []
    above = 0.0
    for rank, document in enumerate(ranked, start=1):
        grade, chance = sample.get(document, (0, 1.0))
        if grade:
            terms.append((chance, ((1 + above) / rank - ap) / chance))
            ranks.append(rank)
            above += 1 / chance
    for document, (grade, chance) in sample.items():
        if grade and document not in ranked:
            terms.append((chance, -ap / chance))
    own = sum((1 - chance) * y * y for chance, y in terms)
    pairs = sum(2 * terms[i][1] * terms[j][1] for i in range(len(terms)) for j in range(i))
    third = below = 0.0
    for (chance, _), rank in zip(terms[len(ranks) - 1 :: -1] if ranks else [], ranks[::-1],
                                 strict=True):  # fmt: skip
        third += below**2 * (1 - chance) / chance**2
        below += 1 / rank / chance
    n = len(sample)
    m = sum(document in sample for document in ranked)
    expected = (own - pairs / (n - 1) + third) / total**2 / (m + 0.1) * n
    assert scores.variance[0, 0] == pytest.approx(min(expected, 1), rel=1e-9, abs=1e-9)


def test_undefined_and_empty() -> None:
    """Nothing relevant sampled; one document graded; a run with nothing for the topic."""
    nothing = scores_of({1: (0, 0.5), 2: (0, 1.0)}, [1, 2])
    for values in (nothing.stat_ap, nothing.variance):
        assert np.isnan(values).all()
    one = scores_of({1: (1, 0.5)}, [1], [])
    assert one.stat_ap[:, 0].tolist() == [1.0, 0.0]
    assert np.isnan(one.variance).all()


def test_level_and_errors() -> None:
    """Grades below the level are not relevant; a pool without probabilities is refused."""
    scores = scores_of({1: (1, 0.5), 2: (2, 0.25)}, [1, 2], level=2)
    assert scores.n_relevant.tolist() == [4.0]
    assert scores.stat_ap.tolist() == [[0.5]]
    pool = sampled_pool([1], [1], [1], strata=[1])
    arrays = sampled_rankings(["r"], {}, {"t": pool}, cutoff=10)
    with pytest.raises(ArgumentError, match="inclusion probabilities"):
        statap_scores(arrays, level=1)
