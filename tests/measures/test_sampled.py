"""Judged samples: xinfAP, infNDCG, statAP as NIST's programs, and without bias."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.sampled import (
    GRADED,
    NOT_POOLED,
    NOT_SAMPLED,
    UNGRADED,
    SampledPool,
    StatapScores,
    StratifiedScores,
    sampled_pool,
    sampled_rankings,
    statap_scores,
    stratified_scores,
)
from store.analysis.rankings import NOT_RETRIEVED
from store.errors import ArgumentError


@given(data=st.data())
def test_every_rank_finds_its_document(data: st.DataObject) -> None:
    """Whatever order pool and rankings come in, and with ids that lie far apart."""
    ids = st.integers(0, 20).map(lambda number: number**5)
    pooled = data.draw(st.lists(ids, unique=True))
    states = data.draw(st.lists(st.sampled_from([NOT_SAMPLED, UNGRADED, GRADED]),
                                min_size=len(pooled), max_size=len(pooled)))  # fmt: skip
    pool = sampled_pool(pooled, states, list(range(len(pooled))))
    lists = {(tag, "t"): data.draw(st.lists(ids, unique=True)) for tag in "ab"}
    cutoff = data.draw(st.integers(1, 25))
    ranked = {key: np.array(documents, dtype=np.int64) for key, documents in lists.items()}
    arrays = sampled_rankings(["a", "b"], ranked, {"t": pool}, cutoff=cutoff)
    for run, tag in enumerate("ab"):
        expected = lists[tag, "t"][:cutoff]
        assert arrays.lengths[run, 0] == len(expected)
        row = arrays.places[run, 0].tolist()
        assert row[len(expected) :] == [NOT_RETRIEVED] * (len(row) - len(expected))
        for document, place in zip(expected, row, strict=False):
            if document not in pooled:
                assert place == NOT_POOLED
                continue
            assert pool.documents[place] == document
            number = pooled.index(document)
            assert pool.states[place] == states[number]
            assert pool.grades[place] == (number if states[number] == GRADED else 0)


def test_negative_grades_are_grades() -> None:
    """Junk is judged; what is not sampled has no grade to take for one."""
    pool = sampled_pool([1, 2], [GRADED, NOT_SAMPLED], [-2, 1])
    assert pool.graded.tolist() == [True, False]
    assert pool.relevant(-2).tolist() == [True, False]
    assert pool.relevant(0).tolist() == [False, False]


def test_probability_of_what_was_not_sampled_may_be_unknown_or_none() -> None:
    """A stratum of which nothing is drawn has probability 0."""
    pool = sampled_pool([1, 2, 3], [-1, -1, 1], [0, 0, 0], inclusion=[np.nan, 0, 0.5])
    assert pool.inclusion is not None
    assert pool.inclusion.tolist()[1:] == [0, 0.5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, 1], [1, 1], [0, 0], {}), "once, but got 1"),
        (([1], [1], [0], {"inclusion": [0.0]}), "above 0"),
        (([1], [0], [0], {"inclusion": [np.nan]}), "above 0"),
        (([1], [-1], [0], {"inclusion": [1.5]}), "at most 1"),
    ],
)
def test_pool_that_cannot_be_is_refused(given: tuple, message: str) -> None:  # type: ignore[type-arg]
    """Each argument by name."""
    documents, states, grades, others = given
    with pytest.raises(ArgumentError, match=message):
        sampled_pool(documents, states, grades, **others)


Sample = dict[int, tuple[int, float]]
"""Grade and inclusion probability of every sampled document."""


def statap_pool(sample: Sample) -> SampledPool:
    """Make a pool of graded documents."""
    return sampled_pool(
        list(sample),
        [1] * len(sample),
        [grade for grade, _ in sample.values()],
        inclusion=[chance for _, chance in sample.values()],
    )


def statap_of(sample: Sample, *some_lists: list[int], level: int = 1) -> StatapScores:
    """Score runs for one topic."""
    tags = [f"r{number}" for number in range(len(some_lists))]
    ranked = {(tag, "t"): np.array(one, dtype=np.int64)
              for tag, one in zip(tags, some_lists, strict=True)}  # fmt: skip
    arrays = sampled_rankings(tags, ranked, {"t": statap_pool(sample)}, cutoff=1000)
    return statap_scores(arrays, level=level)


def test_statap_of_the_program() -> None:
    """18 graded of 30 documents; a run of 40 and its first 9.

    The values are what the arithmetic of `statAP_MQ_eval_v4.pl` printed with 14 decimals.
    """
    sample = {i: ((i * i // 3) % 4, (1 + i % 8) / 8) for i in range(30) if (7 * i) % 5 < 3}
    ranked = [(17 * k + 5) % 40 for k in range(40)]
    scores = statap_of(sample, ranked, ranked[:9])
    assert scores.n_relevant == pytest.approx([28.86666666666667], abs=1e-13)
    assert scores.stat_ap[:, 0] == pytest.approx([0.86269406925296, 0.26772731160722], abs=1e-13)
    assert scores.variance[:, 0] == pytest.approx([0.20168337949087, 0.17229659013086], abs=1e-13)
    assert scores.n_relevant_retrieved[:, 0] == pytest.approx([28.86666666666667, 12], abs=1e-13)


some_lists = st.lists(st.integers(0, 35), unique=True, min_size=1)


graded = st.dictionaries(
    st.integers(0, 20),
    st.tuples(st.integers(-1, 3), st.one_of(st.floats(0.05, 1), st.sampled_from([0.25, 0.5, 1]))),
    min_size=1,
)


@given(sample=graded, ranked=some_lists, level=st.integers(1, 3))
def test_statap_of_any_sample_is_that_of_the_loops(sample: Sample, ranked: list[int], level: int) -> None:
    """R-hat and statAP of documents that stand for 1/pi each."""
    scores = statap_of(sample, ranked, level=level)
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


def test_undefined_and_empty() -> None:
    """Nothing relevant sampled; one document graded; a run with nothing for the topic."""
    nothing = statap_of({1: (0, 0.5), 2: (0, 1.0)}, [1, 2])
    for values in (nothing.stat_ap, nothing.variance):
        assert np.isnan(values).all()
    one = statap_of({1: (1, 0.5)}, [1], [])
    assert one.stat_ap[:, 0].tolist() == [1.0, 0.0]
    assert np.isnan(one.variance).all()


def test_pool_without_probabilities_is_refused() -> None:
    """Strata alone are not enough."""
    arrays = sampled_rankings(["r"], {}, {"t": sampled_pool([1], [1], [1], strata=[1])}, cutoff=10)
    with pytest.raises(ArgumentError, match="inclusion probabilities"):
        statap_scores(arrays, level=1)


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


def test_what_cannot_be_scored_is_refused() -> None:
    """Pools without strata."""
    pool = sampled_pool([1], [1], [1], inclusion=[1.0])
    arrays = sampled_rankings(["r"], {}, {"t": pool}, cutoff=10)
    with pytest.raises(ArgumentError, match="strata"):
        stratified_scores(arrays, **OPTIONS)
