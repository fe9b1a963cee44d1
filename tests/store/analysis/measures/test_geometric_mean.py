"""GMAP: pytrec_eval's `gm_map`, trec_eval's printed value, and floors by hand."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given

from store.analysis.measures.names import evaluate, parse_measure
from tests.store.analysis.measures.incomplete import Qrels, Runs, evaluations, in_arrays


@given(evaluations())
def test_gmap_is_that_of_trec_eval(evaluation: tuple[Qrels, Runs]) -> None:
    """By topic it is the logarithm of AP, over topics the exponential of the mean."""
    qrels, runs = evaluation
    rankings = in_arrays(qrels, runs)
    (scores,) = evaluate(rankings, [parse_measure("gm_map")])
    for run, tag in enumerate(rankings.tags):
        found = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map"}).evaluate(runs[tag])
        theirs = [found[topic]["gm_map"] for topic in rankings.topics]
        np.testing.assert_allclose(scores.values[run], theirs, rtol=1e-12, atol=1e-14)
        overall = pytrec_eval.compute_aggregated_measure("gm_map", theirs)
        assert scores.overall[run] == pytest.approx(overall, rel=1e-12)


def test_a_topic_where_nothing_was_found_counts_as_a_hundred_thousandth() -> None:
    """AP of 1, 1/4 and 0, and no AP: the cube root of 1 * 1/4 * .00001 over three topics."""
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}, "4": {"a": 0}}
    runs = {"x": {"1": {"a": 1.0}, "2": {"b": 4.0, "c": 3.0, "d": 2.0, "a": 1.0}, "4": {"a": 1.0}}}
    (scores,) = evaluate(in_arrays(qrels, runs), [parse_measure("GMAP")])
    assert scores.overall.item() == pytest.approx((0.25 * 0.00001) ** (1 / 3), rel=1e-14)
    assert (scores.n_defined.item(), scores.reason(0, 3)) == (3, "no-relevant")
