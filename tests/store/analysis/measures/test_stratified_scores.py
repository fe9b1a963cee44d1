"""xinfAP and infNDCG: values of NIST's program, what they become when all is judged, no bias."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.gain import normalised_gain
from store.analysis.measures.sampled import (
    EPSILON,
    GRADED,
    NOT_SAMPLED,
    UNGRADED,
    SampledPool,
    StratifiedScores,
    sampled_pool,
    sampled_rankings,
    stratified_scores,
)
from store.errors import ArgumentError
from tests.store.analysis.plain_lists import plain_ap

Rows = list[tuple[int, int, int]]
"""Document, stratum and rel; -1 = not sampled."""


def pool_of(rows: Rows) -> SampledPool:
    """Make a pool from the columns of a prels file."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    states = np.where(columns[2] < 0, NOT_SAMPLED, GRADED)
    return sampled_pool(columns[0], states, columns[2], strata=columns[1])


OPTIONS = {"cutoffs": (5, 10), "max_retrieved": 1000, "level": 1}


def scores_of(rows: Rows, *lists: list[int], **options: object) -> StratifiedScores:
    """Score runs for one topic."""
    tags = [f"r{number}" for number in range(len(lists))]
    ranked = {(tag, "t"): np.array(one, dtype=np.int64)
              for tag, one in zip(tags, lists, strict=True)}  # fmt: skip
    arrays = sampled_rankings(tags, ranked, {"t": pool_of(rows)}, cutoff=1000)
    return stratified_scores(arrays, **OPTIONS | options)  # type: ignore[arg-type]


@pytest.mark.vector("V5: sample_eval.pl, printed with four decimals")
def test_the_small_vector_of_the_program() -> None:
    """Two strata, one judged whole; d8 is not pooled. Printed with four decimals."""
    rows = [(1, 1, 1), (2, 1, 0), (3, 1, 2), (4, 2, -1), (5, 2, 1), (6, 2, 0), (7, 2, -1)]
    scores = scores_of(rows, [1, 4, 5, 2, 8, 3])
    assert scores.n_relevant.tolist() == [4.0]
    assert scores.inf_ap.round(4).tolist() == [[0.8056]]
    assert scores.inf_ndcg.round(4).tolist() == [[0.7616]]
    assert scores.precision[:2, 0, 0].round(4).tolist() == [0.6, 0.4]


def test_the_small_vector_by_hand() -> None:
    """The same, step by step, without the small constants.

    Ranks 1, 3, 6 are relevant: 1 (stratum 1), 1/3 + 1/3 (1 of 1 sampled above in stratum 1, of
    stratum 2 one pooled and none sampled, so a third), 1/6 (1 + 2 * 1/2 + 2 * 1/1). Stratum 2
    counts 4/2 fold: (1 + 2 * (1 + 1 + 1/3) / 3 + 4/6) / 4.
    """
    rows = [(1, 1, 1), (2, 1, 0), (3, 1, 2), (4, 2, -1), (5, 2, 1), (6, 2, 0), (7, 2, -1)]
    scores = scores_of(rows, [1, 4, 5, 2, 8, 3])
    by_hand = (1 + 2 * (1 + 1 + 1 / 3) / 3 + (1 + 1 + 2) / 6) / 4
    assert scores.inf_ap[0, 0] == pytest.approx(by_hand, abs=2e-5)
    # Gains 1 at rank 1 and 2 at rank 6 (2 of 2 pooled were sampled), 1 at rank 3 for two.
    gain = 1 + 2 / math.log2(7) + 2 * 1 / math.log2(4)
    ideal = 2 + sum(1 / math.log2(rank + 1) for rank in (2, 3, 4))
    assert scores.inf_ndcg[0, 0] == pytest.approx(gain / ideal, rel=1e-14)


def test_precision_is_told_at_the_ranks_of_the_program() -> None:
    """`sample_eval.pl` prints iP5 to iP1000; by hand where one document stands below each of its ranks.

    All are judged, so nothing is estimated but for the program's small constants.
    """
    ranks = [5, 10, 15, 20, 30, 100, 200, 500, 1000]
    below = [rank + 1 for rank in ranks]
    rows = [(rank, 1, int(rank in below)) for rank in range(1, 1001)]
    scores = scores_of(rows, list(range(1, 1001)), cutoffs=ranks)
    expected = [number / rank for number, rank in enumerate(ranks)]
    assert scores.precision[:, 0, 0] == pytest.approx(expected, abs=1e-5)


ARITHMETIC: Rows = [(i, 1 + i % 3, (i * i // 3) % 4 if (7 * i) % 5 < 3 else -1) for i in range(30)]
LONG = [(17 * k + 5) % 40 for k in range(40)]
PROGRAM = {
    # max_retrieved, length: infAP, infNDCG, inum_rel_ret, iP5, iP10, iP20, as printed.
    (1000, 40): (0.56195712291000, 0.59415417657948, 14.99997500012500,
                 0.39999400017999, 0.59999300015000, 0.63749555213586),
    (10, 40): (0.23765334878349, 0.32373494792670, 5.99993000149996,
               0.39999400017999, 0.59999300015000, 0.29999650007500),
    (1000, 9): (0.15843556585566, 0.28745287753936, 5.99993000149996,
                0.39999400017999, 0.59999300015000, 0.29999650007500),
}  # fmt: skip


@pytest.mark.parametrize(("max_retrieved", "length"), PROGRAM)
def test_values_of_the_program(max_retrieved: int, length: int) -> None:
    """Three strata, grades 0 to 3, documents outside the pool; with the cap of 10 below R-hat 15.

    The values are what the arithmetic of `sample_eval.pl` printed with 14 decimals.
    """
    inf_ap, inf_ndcg, retrieved, *precisions = PROGRAM[max_retrieved, length]
    scores = scores_of(ARITHMETIC, LONG[:length], max_retrieved=max_retrieved, cutoffs=[5, 10, 20])
    assert scores.n_relevant[0] == pytest.approx(15, abs=1e-13)
    assert scores.inf_ap[0, 0] == pytest.approx(inf_ap, abs=1e-13)
    assert scores.inf_ndcg[0, 0] == pytest.approx(inf_ndcg, abs=1e-13)
    assert scores.n_relevant_retrieved[0, 0] == pytest.approx(retrieved, abs=1e-13)
    assert scores.precision[:, 0, 0] == pytest.approx(precisions, abs=1e-13)


def plain_scores(
    rows: Rows, ranked: list[int], level: int, max_retrieved: int
) -> tuple[float, float, list[float]]:
    """Compute xinfAP, infNDCG and the relevant documents expected down to each rank.

    Document by document, as `sample_eval.pl` does; 0 where nothing is relevant, as there.
    """
    place = {document: (stratum, rel) for document, stratum, rel in rows}
    strata = sorted({stratum for _, stratum, _ in rows})
    pooled = {c: sum(stratum == c for _, stratum, _ in rows) for c in strata}
    graded = {c: sum(stratum == c and rel >= 0 for _, stratum, rel in rows) for c in strata}
    expected, gains = 0.0, {}
    for c in strata:
        for value in sorted({rel for _, _, rel in rows if rel > 0}):
            found = sum(stratum == c and rel == value for _, stratum, rel in rows)
            if found:
                gains[value] = gains.get(value, 0.0) + found * pooled[c] / graded[c]
                expected += found * pooled[c] / graded[c] if value >= level else 0
    above = {c: [0, 0, 0] for c in strata}  # pooled, graded, relevant
    sums, gained = dict.fromkeys(strata, 0.0), dict.fromkeys(strata, 0.0)
    by_rank = [0.0]
    for rank, document in enumerate(ranked[:max_retrieved], start=1):
        c, rel = place.get(document, (None, -1))
        if c is not None and rel >= level:
            sums[c] += 1 / rank + by_rank[-1] / rank
        if c is not None:
            above[c][0] += 1
            above[c][1] += rel >= 0
            above[c][2] += rel >= level
            gained[c] += max(rel, 0) / math.log2(rank + 1)
        by_rank.append(sum(n * (r + 1e-5) / (s + 3e-5) for n, s, r in above.values()))
    ap = sum(pooled[c] / graded[c] * sums[c] for c in strata if sums[c])
    ap = ap / expected * max(1.0, expected / max_retrieved) if expected else 0.0
    dcg = sum(n * gained[c] / s for c, (n, s, _) in above.items() if s)
    best = start = 0.0
    for value in sorted(gains, reverse=True):
        rank = start + 1
        while rank <= start + gains[value]:
            best += value / math.log2(rank + 1)
            if rank >= max_retrieved:
                break
            rank += 1
        start += gains[value]
    return ap, dcg / best if best else 0.0, by_rank


strata_rows = st.lists(
    st.tuples(st.integers(0, 25), st.integers(1, 4), st.integers(-1, 3)),
    min_size=1,
    unique_by=lambda row: row[0],
)


@given(
    rows=strata_rows,
    ranked=st.lists(st.integers(0, 30), unique=True),
    level=st.integers(1, 3),
    max_retrieved=st.sampled_from([1, 4, 1000]),
)
def test_any_sample_has_the_scores_of_the_loops(
    rows: Rows, ranked: list[int], level: int, max_retrieved: int
) -> None:
    """Strata sampled in part, not at all, and absent from the run; documents outside the pool."""
    scores = scores_of(
        rows, ranked, cutoffs=[1, 3, 50], level=level, max_retrieved=max_retrieved
    )  # fmt: skip
    ap, ndcg, by_rank = plain_scores(rows, ranked, level, max_retrieved)
    assert np.isnan(scores.inf_ap[0, 0]) == (not any(rel >= level for _, _, rel in rows))
    assert np.isnan(scores.inf_ndcg[0, 0]) == (not any(rel > 0 for _, _, rel in rows))
    assert np.nan_to_num(scores.inf_ap[0, 0]) == pytest.approx(ap, rel=1e-12)
    assert np.nan_to_num(scores.inf_ndcg[0, 0]) == pytest.approx(ndcg, rel=1e-12)
    assert scores.n_relevant_retrieved[0, 0] == pytest.approx(by_rank[-1], rel=1e-12)
    for row, cutoff in enumerate((1, 3, 50)):
        expected = by_rank[min(cutoff, len(by_rank) - 1)] / cutoff
        assert scores.precision[row, 0, 0] == pytest.approx(expected, rel=1e-12)


judged_rows = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 4), st.integers(0, 3)),
    min_size=1,
    unique_by=lambda row: row[0],
)
lists = st.lists(st.integers(0, 35), unique=True)


@given(rows=judged_rows, ranked=lists)
def test_pool_judged_whole_has_the_scores_of_its_qrels(rows: Rows, ranked: list[int]) -> None:
    """AP and P but for the constants, nDCG but for rounding; what is not pooled counts as 0."""
    scores = scores_of(rows, ranked, cutoffs=[5])
    grades = {document: grade for document, _, grade in rows}
    relevant = [grades.get(document, 0) > 0 for document in ranked]
    n_relevant = sum(grade > 0 for grade in grades.values())
    n_strata = len({stratum for _, stratum, _ in rows})
    assert scores.n_relevant[0] == n_relevant
    assert scores.n_uncovered[0] == 0
    bound = 2 * EPSILON * n_strata
    assert abs(scores.precision[0, 0, 0] - sum(relevant[:5]) / 5) <= bound / 5 + 1e-15
    expected = plain_ap(relevant, n_relevant)
    if expected is None:
        assert math.isnan(scores.inf_ap[0, 0])
        assert math.isnan(scores.inf_ndcg[0, 0])
        return
    below = sum(1 / rank for rank, flag in enumerate(relevant, start=1) if flag)
    assert abs(scores.inf_ap[0, 0] - expected) <= bound * below / n_relevant + 1e-12
    by_rank = np.array([[grades.get(document, 0) for document in ranked]])
    ndcg = normalised_gain(by_rank.reshape(1, 1, -1), [np.array(list(grades.values()))])
    assert scores.inf_ndcg[0, 0] == pytest.approx(ndcg[0, 0], rel=1e-12)


sampled_rows = st.lists(
    st.tuples(st.integers(0, 30), st.just(1), st.sampled_from([-1, -1, 0, 1])),
    min_size=1,
    unique_by=lambda row: row[0],
)


@given(rows=sampled_rows, ranked=lists.filter(bool))
def test_one_stratum_is_inferred_ap_but_for_a_constant(rows: Rows, ranked: list[int]) -> None:
    """trec_eval adds 2e-5 below the line, this program 3e-5: a half and a third of nothing."""
    scores = scores_of(rows, ranked)
    codes = {document: code for document, _, code in rows}
    n_relevant = sum(code > 0 for code in codes.values())
    if not n_relevant:
        assert math.isnan(scores.inf_ap[0, 0])
        return
    qrels = {"t": {f"d{document:02d}": code for document, code in codes.items()}}
    run = {"t": {f"d{document:02d}": -float(rank) for rank, document in enumerate(ranked)}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"}).evaluate(run)["t"]["infAP"]
    pooled = graded = relevant = 0
    more = 0.0
    for rank, document in enumerate(ranked, start=1):
        if codes.get(document, 0) > 0:
            shares = [(relevant + EPSILON) / (graded + n * EPSILON) for n in (2, 3)]
            more += pooled / rank * (shares[0] - shares[1])
            relevant += 1
        pooled += document in codes
        graded += codes.get(document, -1) >= 0
    assert scores.inf_ap[0, 0] + more / n_relevant == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (3, 2)])
def test_estimated_relevant_is_unbiased(sizes: tuple[int, int]) -> None:
    """The mean over every sample of two strata is the number itself, 3 + 2."""
    strata = {1: {0: 1, 1: 0, 2: 2, 3: 1}, 2: {4: 0, 5: 1, 6: 1}}
    choices = [combinations(strata[s], size) for s, size in zip((1, 2), sizes, strict=True)]
    estimates = []
    for chosen in product(*choices):
        sampled = {*chosen[0], *chosen[1]}
        rows = [
            (document, stratum, grade if document in sampled else -1)
            for stratum, documents in strata.items()
            for document, grade in documents.items()
        ]
        estimates.append(scores_of(rows, []).n_relevant[0])
    assert len(estimates) == math.comb(4, sizes[0]) * math.comb(3, sizes[1])
    assert np.mean(estimates) == pytest.approx(5, rel=1e-14)


def test_ideal_list_ends_at_the_cap_and_gives_every_grade_one_document() -> None:
    """Three of grade 2, then one of grade 1 at rank 4, below a cap of 2."""
    scores = scores_of([(0, 1, 2), (1, 1, 2), (2, 1, 2), (3, 1, 1)], [3], max_retrieved=2)
    ideal = 2 + 2 / math.log2(3) + 1 / math.log2(5)
    assert scores.inf_ndcg.item() == pytest.approx(1 / ideal, rel=1e-14)


def test_ideal_list_does_not_round_what_it_expects() -> None:
    """5/3 of each grade: one each, at the ranks 1, 8/3 and 13/3."""
    scores = scores_of([(0, 1, 3), (1, 1, 2), (2, 1, 1), (3, 1, -1), (4, 1, -1)], [2])
    ideal = 3 + 2 / math.log2(5 / 3 + 2) + 1 / math.log2(10 / 3 + 2)
    assert scores.inf_ndcg.item() == pytest.approx(1 / ideal, rel=1e-14)


def test_ideal_list_has_grades_by_number() -> None:
    """Grade 10 stands above grade 2."""
    scores = scores_of([(0, 1, 2), (1, 1, 10)], [1])
    assert scores.inf_ndcg.item() == pytest.approx(10 / (10 + 2 / math.log2(3)), rel=1e-14)


def test_stratum_without_a_grade_is_counted_apart() -> None:
    """Its documents add nothing to R-hat, and a third of each to what a run found."""
    scores = scores_of([(0, 1, 1), (1, 2, -1), (2, 2, -1)], [1, 2, 0], [], cutoffs=[2])
    assert scores.n_relevant.tolist() == [1.0]
    assert scores.n_uncovered.tolist() == [2]
    assert scores.n_relevant_retrieved[:, 0] == pytest.approx([1 + 2 / 3, 0], abs=3e-5)
    assert scores.precision[0, :, 0] == pytest.approx([1 / 3, 0], abs=3e-5)
    assert scores.inf_ap[:, 0] == pytest.approx([(1 + 2 / 3) / 3, 0], abs=3e-5)
    assert scores.inf_ndcg[:, 0] == pytest.approx([1 / math.log2(4), 0])


def test_sampled_without_a_grade_is_as_not_sampled() -> None:
    """The estimate rests on what is graded."""
    ranked = {("r", "t"): np.array([1, 2, 3, 4])}
    grades = [2, 0, 1, 0]
    found = []
    for states in (UNGRADED, NOT_SAMPLED):
        pool = sampled_pool([1, 2, 3, 4], [1, states, 1, states], grades, strata=[1, 1, 1, 1])
        scores = stratified_scores(sampled_rankings(["r"], ranked, {"t": pool}, cutoff=10), **OPTIONS)
        found.append((scores.inf_ap[0, 0], scores.inf_ndcg[0, 0], scores.n_relevant[0]))
    assert found[0] == found[1]
    assert found[0][2] == 4.0


def test_level_moves_relevance_and_not_gain() -> None:
    """Grade 1 is not relevant at level 2."""
    rows = [(0, 1, 1), (1, 1, 2)]
    low, high = scores_of(rows, [0, 1]), scores_of(rows, [0, 1], level=2)
    assert high.n_relevant.tolist() == [1.0]
    assert high.inf_ap[0, 0] == pytest.approx(0.5, abs=1e-5)
    assert low.inf_ap[0, 0] == pytest.approx(1, abs=2e-5)
    assert high.inf_ndcg.tolist() == low.inf_ndcg.tolist()


@given(pools=st.lists(judged_rows, min_size=1, max_size=3), data=st.data())
def test_runs_and_topics_do_not_touch_each_other(pools: list[Rows], data: st.DataObject) -> None:
    """Scored together they have the scores they have alone."""
    ranked = {(tag, str(topic)): np.array(data.draw(lists), dtype=np.int64)
              for tag in "ab" for topic in range(len(pools))}  # fmt: skip
    by_topic = {str(topic): pool_of(rows) for topic, rows in enumerate(pools)}
    together = stratified_scores(sampled_rankings(["a", "b"], ranked, by_topic, cutoff=20), **OPTIONS)
    for (run, tag), (column, topic) in product(enumerate("ab"), enumerate(by_topic)):
        alone = sampled_rankings([tag], ranked, {topic: by_topic[topic]}, cutoff=20)
        scores = stratified_scores(alone, **OPTIONS)
        for name in ("inf_ap", "inf_ndcg", "n_relevant_retrieved"):
            ours, theirs = getattr(together, name)[run, column], getattr(scores, name)[0, 0]
            assert ours == pytest.approx(theirs, rel=1e-14, nan_ok=True)
        assert together.precision[:, run, column] == pytest.approx(scores.precision[:, 0, 0])


def test_what_cannot_be_scored_is_refused() -> None:
    """Pools without strata."""
    pool = sampled_pool([1], [1], [1], inclusion=[1.0])
    arrays = sampled_rankings(["r"], {}, {"t": pool}, cutoff=10)
    with pytest.raises(ArgumentError, match="strata"):
        stratified_scores(arrays, **OPTIONS)
