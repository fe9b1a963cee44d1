"""Pairs of runs that turn about: the nearest to a swap get the law of all outcomes."""

from __future__ import annotations

import numpy as np
import pytest

from store.analysis import reversals as module
from store.analysis.collection_variation import Topic, collection_variation
from store.analysis.order_probability import order_probability
from store.analysis.reversals import reversals
from tests.store.analysis.kitchen_garden import two_runs


def three_runs() -> list[Topic]:
    """Add a run that is the second with its first two documents swapped."""
    topics = []
    for p, ranks in two_runs():
        third = ranks[1].copy()
        third[ranks[1] == 1], third[ranks[1] == 2] = 2, 1
        topics.append((p, np.vstack([ranks, third])))
    return topics


@pytest.mark.vector("methods of the project, section 1.6")
def test_outcomes_go_to_the_nearest_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """28 documents are halves of 14: with 2^14 outcomes for all, one of two pairs gets them."""
    topics = three_runs()
    varied = collection_variation(topics)
    whole = reversals(topics, varied)
    assert {one.method for one in whole.single.values()} == {"enumeration"}
    pairs = list(zip(whole.first.tolist(), whole.second.tolist(), strict=True))
    of_vector = whole.reversed[pairs.index((0, 1))]
    assert of_vector == pytest.approx(0.0811933471, abs=0.51e-10)
    monkeypatch.setattr(module, "MOST_OUTCOMES", 1 << 14)
    some = reversals(topics, varied)
    methods = [one.method for one in some.single.values()]
    assert methods[0] == "enumeration"
    assert len(methods) == 2
    assert methods[1] in ("mixture", "skewness")
    assert some.reversed == pytest.approx(whole.reversed, abs=0.01)
    assert all(one.error is not None for one in some.single.values())


def test_far_out_in_the_tail_a_probability_is_not_0() -> None:
    """.0005894610 of the sample collection with rank 6 of its second run found relevant."""
    topics = two_runs("not-relevant", of=1)
    found = reversals(topics, collection_variation(topics))
    assert (found.first.tolist(), found.second.tolist()) == ([1], [0])
    assert found.reversed == pytest.approx([0.0005894610], abs=0.51e-10)
    other = order_probability(topics, most_of_half=0)
    assert other.method == "mixture"
    assert other.above == pytest.approx(0.0005894610, abs=other.error)
