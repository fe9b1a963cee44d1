"""AP of runs by each judge alone."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.agreement.order_stability import judge_average_precisions
from store.analysis.agreement.votes import Votes, votes_from_rows
from store.analysis.measures.average_precision import average_precision
from tests.store.analysis.plain_lists import plain_ap
from tests.strategies import examples

Graded = dict[tuple[int, int, int], int]
"""Place of the grade, by (topic, document, judge)."""
Ranked = dict[tuple[int, int], list[int]]
"""Documents in rank order, by (run, topic)."""
N_JUDGES, N_RUNS, N_TOPICS, N_DOCUMENTS = 3, 3, 2, 9


def votes_of(graded: Graded) -> Votes:
    """Make votes of grades 0 to 2."""
    keys = np.array(sorted(graded), dtype=np.int64).reshape(-1, 3)
    return votes_from_rows(
        keys[:, 0],
        keys[:, 1],
        keys[:, 2],
        np.array([graded[key] for key in sorted(graded)], dtype=np.int64),
        topics=[f"t{topic}" for topic in range(N_TOPICS)],
        judges=[f"j{judge}" for judge in range(N_JUDGES)],
        scale_values=(0, 1, 2),
    )


def scores_of(graded: Graded, ranked: Ranked, *, level_index: int, cutoff: int) -> NDArray[np.float64]:
    """Score plain lists; a document has its number as id."""
    votes = votes_of(graded)
    documents = sorted({key[:2] for key in graded})
    ids = [one for _, one in documents]
    return judge_average_precisions(
        votes,
        np.array(ids, dtype=np.int64),
        [f"r{run}" for run in range(N_RUNS)],
        {(f"r{run}", f"t{topic}"): np.array(one) for (run, topic), one in ranked.items()},
        level_index=level_index,
        cutoff=cutoff,
    )


grades = st.dictionaries(
    st.tuples(st.integers(0, N_TOPICS - 1), st.integers(0, N_DOCUMENTS - 1), st.integers(0, N_JUDGES - 1)),
    st.integers(0, 2),
    max_size=40,
)
rankings = st.dictionaries(
    st.tuples(st.integers(0, N_RUNS - 1), st.integers(0, N_TOPICS - 1)),
    st.lists(st.integers(0, N_DOCUMENTS - 1), unique=True),
    max_size=6,
)


@settings(max_examples=examples(150))
@given(grades, rankings, st.integers(1, 2), st.integers(1, 10))
def test_equals_plain_lists(graded: Graded, ranked: Ranked, level: int, cutoff: int) -> None:
    """Every score is AP of the list by its definition, with R of the judge."""
    scores = scores_of(graded, ranked, level_index=level, cutoff=cutoff)
    assert scores.shape == (N_TOPICS, N_RUNS, N_JUDGES)
    for topic, run, judge in np.ndindex(*scores.shape):
        here = (topic, judge, True)
        found = {d for (t, d, j), place in graded.items() if (t, j, place >= level) == here}
        flags = [one in found for one in ranked.get((run, topic), [])[:cutoff]]
        expected = plain_ap(flags, len(found))
        if expected is None:
            assert np.isnan(scores[topic, run, judge])
        else:
            assert scores[topic, run, judge] == pytest.approx(float(expected), abs=1e-14)


def test_equals_average_precision_and_trec_eval() -> None:
    """On longer lists the scores are those of the project's AP and of trec_eval."""
    rng = np.random.default_rng(12)
    n_documents, n_ranked = 300, 200
    graded = {
        (0, document, judge): int(rng.random() < 0.2) * 2
        for document in range(n_documents)
        for judge in range(N_JUDGES)
        if rng.random() < 0.5
    }
    ranked = {(run, 0): rng.permutation(n_documents)[:n_ranked].tolist() for run in range(N_RUNS)}
    scores = scores_of(graded, ranked, level_index=1, cutoff=1000)
    for judge in range(N_JUDGES):
        qrels = {f"d{d}": grade for (_, d, j), grade in graded.items() if j == judge}
        evaluator = pytrec_eval.RelevanceEvaluator({"t": qrels}, {"map"})
        n_relevant = sum(grade > 0 for grade in qrels.values())
        for run in range(N_RUNS):
            listed = {f"d{d}": float(-rank) for rank, d in enumerate(ranked[run, 0])}
            theirs = evaluator.evaluate({"t": listed})["t"]["map"]
            flags = np.array([qrels.get(f"d{d}", 0) > 0 for d in ranked[run, 0]])
            ours = average_precision(flags, np.array(n_relevant))
            assert scores[0, run, judge] == pytest.approx(float(ours), abs=1e-14)
            assert scores[0, run, judge] == pytest.approx(theirs, abs=1e-12)


def test_judge_who_graded_nothing_relevant_has_no_score() -> None:
    """No grade and no relevant grade leave AP undefined; a run without documents has 0."""
    scores = scores_of({(0, 1, 0): 1, (0, 1, 1): 0}, {(0, 0): [1, 2]}, level_index=1, cutoff=5)
    np.testing.assert_array_equal(scores[0, :, 0], [1.0, 0.0, 0.0])
    assert np.isnan(scores[0, :, 1:]).all()
    assert np.isnan(scores[1]).all()


def test_level_is_a_place_on_the_scale() -> None:
    """A grade below the level is not relevant, and not in R."""
    graded = {(0, 1, 0): 1, (0, 2, 0): 2}
    ranked = {(0, 0): [1, 2]}
    assert scores_of(graded, ranked, level_index=1, cutoff=5)[0, 0, 0] == 1.0
    assert scores_of(graded, ranked, level_index=2, cutoff=5)[0, 0, 0] == 0.5
