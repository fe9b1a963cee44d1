"""Every pair of runs at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.significance.pairs import compare_pairs, neighbours
from store.analysis.significance.randomisation import randomisation_test, wilcoxon_test
from store.analysis.significance.t_tests import paired_t
from tests.vectors.three_systems import SCORES

score_rows = st.tuples(st.integers(1, 4), st.integers(0, 7)).flatmap(
    lambda shape: st.lists(
        st.lists(
            st.one_of(st.sampled_from([0.0, 0.1, 0.3, float("nan")]), st.floats(0, 1)),
            min_size=shape[1],
            max_size=shape[1],
        ),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@given(score_rows)
def test_every_pair_has_what_it_has_alone(rows: list[list[float]]) -> None:
    """Each number equals the test of the pair over the topics where both have a score."""
    scores = np.array(rows).reshape(len(rows), -1)
    compared = compare_pairs(scores, level=0.9, resolution=0.01)
    pairs = zip(compared.first.tolist(), compared.second.tolist(), strict=True)
    for place, (first, second) in enumerate(pairs):
        differences = scores[first] - scores[second]
        differences = differences[~np.isnan(differences)]
        t = paired_t(differences, level=0.9)
        randomised = randomisation_test(differences, resolution=0.01)
        ranked = wilcoxon_test(differences, resolution=0.01)
        assert compared.t_reasons[place] == t.reason
        assert compared.n_topics[place] == t.n_topics
        for column, expected in (
            (compared.difference, t.difference),
            (compared.variance, t.variance),
            (compared.low, t.low),
            (compared.high, t.high),
            (compared.t, t.t),
            (compared.p_t, t.p),
            (compared.effect_size, t.effect_size),
            (compared.p_randomisation, randomised.p),
            (compared.p_wilcoxon, ranked.p),
        ):
            wanted = np.nan if expected is None else expected
            assert column[place] == pytest.approx(wanted, rel=1e-9, abs=1e-9, nan_ok=True)


def test_all_pairs_of_the_three_systems() -> None:
    """Pairs come in the order of the runs; one that is asked for twice is done twice."""
    compared = compare_pairs(SCORES)
    assert compared.first.tolist() == [0, 0, 1]
    assert compared.second.tolist() == [1, 2, 2]
    assert compared.p_randomisation[0] == pytest.approx(0.065918, abs=5e-7)
    chosen = compare_pairs(SCORES, pairs=(np.array([1, 1]), np.array([0, 0])))
    np.testing.assert_array_equal(chosen.p_randomisation, compared.p_randomisation[[0, 0]])
    np.testing.assert_allclose(chosen.difference, -compared.difference[[0, 0]])


def test_only_what_is_asked_for_is_done() -> None:
    """Tests left out are NaN, and progress adds up to the pairs."""
    done: list[int] = []
    compared = compare_pairs(np.tile(SCORES, (10, 1)), tests=["t"], progress=done.append)
    assert sum(done) == 30 * 29 // 2 == compared.first.size
    assert len(done) == 2
    assert np.isnan(compared.p_randomisation).all()
    assert np.isnan(compared.p_wilcoxon).all()
    assert compare_pairs(SCORES[:1]).first.size == 0


@given(st.permutations(range(7)), st.integers(2, 7))
def test_neighbours_are_next_to_each_other(order: list[int], n_runs: int) -> None:
    """However the pairs are listed, those that remain are the steps of the order."""
    order = [run for run in order if run < n_runs]
    place = {run: number for number, run in enumerate(order)}
    pairs = [(low, high) for low in range(n_runs) for high in range(low + 1, n_runs)]
    first, second = np.array([sorted(pair, key=place.__getitem__) for pair in pairs]).T
    kept = neighbours(first, second).tolist()
    assert [(int(first[k]), int(second[k])) for k in kept] == list(pairwise(order))


def test_a_circle_of_ties_has_neighbours_too() -> None:
    """0 before 1, 1 before 2, 2 before 0: each has one ahead, so the rows decide."""
    assert neighbours(np.array([0, 2, 1]), np.array([1, 0, 2])).tolist() == [0, 2]


def test_differences_of_rounding_alone_are_no_variation_beside_a_pair_that_varies() -> None:
    """The first run is the second one and .1 for every topic; .7 + .1 - .7 and the like are not all .1."""
    second = np.array([0.1, 0.2, 0.3, 0.7])
    compared = compare_pairs(np.array([second + 0.1, second, [0.9, 0.1, 0.5, 0.2]]))
    assert np.ptp(second + 0.1 - second) > 0
    assert (compared.variance == 0).tolist() == [True, False, False]
    assert compared.t_reasons == ("no-variation", None, None)
    assert np.isnan(compared.t).tolist() == [True, False, False]
