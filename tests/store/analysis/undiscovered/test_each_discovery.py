"""Each unjudged document in every run that has it, against scoring and ordering from scratch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.average_precision import R_MODES, RMode
from store.analysis.run_order import TIED_MAP, kendall_tau_b, n_swapped_pairs
from store.analysis.undiscovered.each import each_discovery
from tests.store.analysis.drawn_collections import Drawn, as_float, drawn_collections, plain_mean
from tests.store.analysis.plain_lists import arrays_of
from tests.trec_covid import covid_arrays


@given(drawn_collections(4, 3), st.sampled_from(R_MODES))
def test_each_document_equals_recomputation(case: Drawn, r_mode: RMode) -> None:
    """Every document is there once, with the changes, tau-b and swaps of the edited qrels."""
    arrays = case.arrays()
    found = each_discovery(arrays, r_mode=r_mode)
    topics = list(arrays.topics)
    before = {(tag, topic): case.ap(tag, topic, r_mode) for tag in case.tags for topic in topics}
    old = [plain_mean(before[tag, topic] for topic in topics) for tag in case.tags]
    np.testing.assert_allclose(found.map_before, list(map(as_float, old)), rtol=1e-14)
    got = {}
    for place in range(found.code.size):
        topic = topics[found.topic[place]]
        tag, rank = case.tags[found.best_run[place]], int(found.best_rank[place])
        document = case.listed(tag, topic)[rank - 1]
        assert (topic, document) not in got
        got[topic, document] = place
    expected = {
        (topic, document)
        for topic in topics
        if any(before[tag, topic] is not None for tag in case.tags)
        for tag in case.tags
        for document in case.unjudged(tag, topic)
    }
    assert set(got) == expected
    every = {(t, d) for t in topics for tag in case.tags for d in case.unjudged(tag, t)}
    assert found.n_undefined == len(every) - len(expected)
    for (topic, document), place in got.items():
        ranks = [
            case.listed(tag, topic).index(document) + 1
            for tag in case.tags
            if document in case.listed(tag, topic)
        ]
        assert found.n_runs_with[place] == len(ranks)
        assert found.best_rank[place] == min(ranks)
        new = [
            plain_mean(
                case.ap(tag, one, r_mode, [document] if one == topic else [])
                for one in topics
                if before[tag, one] is not None
            )
            for tag in case.tags
        ]
        pairs = [(x, y) for x, y in zip(old, new, strict=True) if x is not None and y is not None]
        moved = [float(y - x) for x, y in pairs]
        assert found.up[place] == pytest.approx(max([0.0, *moved]), abs=1e-14)
        assert found.down[place] == pytest.approx(min([0.0, *moved]), abs=1e-14)
        x, y = (np.array([float(pair[side]) for pair in pairs]) for side in (0, 1))
        assert found.n_swapped[place] == n_swapped_pairs(x, y, tolerance=TIED_MAP)
        tau = kendall_tau_b(x, y, tolerance=TIED_MAP).tau
        assert found.tau_b[place] == pytest.approx(math.nan if tau is None else tau, abs=1e-14, nan_ok=True)
    keys = [
        (-int(found.n_swapped[one]), -max(float(found.up[one]), -float(found.down[one])))
        for one in found.order().tolist()
    ]
    assert keys == sorted(keys)


def test_means_equal_but_for_rounding_are_tied() -> None:
    """A tie that rounding alone hides is a tie before and after, when others change places.

    MAP of `a` and `b` is (1 + 1/2 + 1/6 + 1)/4, added up in two orders, and above those of `c` and
    `d`. Document 30, at rank 1 of `d` alone, brings `d` above `c`.
    """
    grades = {f"t{number}": {9: True} | dict.fromkeys(range(1, 9), False) for number in range(4)}
    places = {"a": (1, 2, 6, 1), "b": (2, 6, 1, 1), "c": (6, 6, 6, 6), "d": (8, 8, 8, 8)}
    lists = {
        (tag, f"t{number}"): [9 if rank == place else rank for rank in range(1, 9)]
        for tag, ranks in places.items()
        for number, place in enumerate(ranks)
    }
    lists["d", "t3"][0] = 30
    found = each_discovery(arrays_of(lists, grades, 8))
    assert 0 < found.map_before[0] - found.map_before[1] < 1e-15
    # In t3: d (1 + 2/8)/2, c 1/12, a and b 1/2. Five pairs were untied, four keep their order.
    assert found.n_swapped.tolist() == [1]
    assert found.tau_b.tolist() == [pytest.approx((4 - 1) / 5)]


@pytest.mark.slow
def test_documents_of_trec_covid_equal_ordering_all_runs() -> None:
    """Of 143 runs, 300 sampled documents swap the pairs that a full count over all pairs swaps."""
    arrays = covid_arrays()
    found = each_discovery(arrays)
    assert (found.n_swapped > 0).any()
    relevant = [arrays.states_by_rank(topic) == 1 for topic in range(len(arrays.topics))]
    ranks = np.arange(1, arrays.documents.shape[2] + 1)
    order = found.order()
    sample = [*order[:100], *order[:: max(1, order.size // 200)]]
    for place in sample:
        topic = int(found.topic[place])
        has = arrays.documents[:, topic] == found.code[place]
        flags = relevant[topic] | has
        old, new = (
            (x * np.cumsum(x, axis=1) / ranks).sum(axis=1) / r
            for x, r in ((relevant[topic], arrays.n_relevant[topic]), (flags, arrays.n_relevant[topic] + 1))
        )
        after = found.map_before + (new - old) / len(arrays.topics)
        assert found.n_runs_with[place] == has.any(axis=1).sum()
        assert found.n_swapped[place] == n_swapped_pairs(found.map_before, after, tolerance=TIED_MAP)
        tau = kendall_tau_b(found.map_before, after, tolerance=TIED_MAP).tau
        assert found.tau_b[place] == pytest.approx(tau, abs=1e-12)
        assert found.up[place] == pytest.approx(max(0.0, (after - found.map_before).max()), abs=1e-14)
