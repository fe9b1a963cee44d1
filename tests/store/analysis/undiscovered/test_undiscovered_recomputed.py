"""Sensitivity against scoring every list again: drawn collections, and TREC-COVID."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from store.analysis.measures.average_precision import R_MODES, RMode
from store.analysis.rankings import UNJUDGED, JudgedRankings
from store.analysis.undiscovered import ENDED, JUDGED, NO_RUN, SCENARIOS, Scenario, sensitivity
from store.ranking import Order
from tests.store.analysis.drawn_collections import as_float, plain_mean
from tests.store.analysis.plain_lists import Grades, Lists, arrays_of, plain_ap
from tests.store.analysis.plain_tau_ap import plain_tau_ap
from tests.strategies import examples
from tests.trec_covid import MIN_GRADE, covid_arrays, load_qrels, load_rankings

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    """A drawn collection, in plain lists."""

    tags: list[str]
    rankings: Lists
    grades: Grades
    cutoff: int
    depth: int

    def arrays(self, tags: list[str] | None = None) -> JudgedRankings:
        """Put the case into arrays."""
        return arrays_of(self.rankings, self.grades, self.cutoff, tags or self.tags)

    def listed(self, tag: str, topic: str) -> list[int]:
        """Return the documents within the cutoff."""
        return self.rankings.get((tag, topic), [])[: self.cutoff]

    def status(self, tag: str, topic: str) -> int:
        """Say what stands at rank N+1."""
        documents = self.listed(tag, topic)
        if not documents:
            return NO_RUN
        if len(documents) <= self.depth:
            return ENDED
        return JUDGED if documents[self.depth] in self.grades[topic] else UNJUDGED


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw short runs, missing topics, unretrieved relevant documents, topics without any."""
    tags = [f"r{number}" for number in range(draw(st.integers(1, 4)))]
    topics = [f"t{number}" for number in range(draw(st.integers(1, 3)))]
    rankings = {}
    for tag in tags:
        for topic in topics:
            order = draw(st.permutations(range(7)))
            length = draw(st.sampled_from([None, 0, 1, 3, 5, 7, 7]))
            if length is not None:
                rankings[tag, topic] = list(order[:length])
    graded = st.dictionaries(st.integers(0, 9), st.booleans(), max_size=6)
    grades = {topic: draw(graded) for topic in topics}
    cutoff = draw(st.integers(2, 8))
    return Case(tags, rankings, grades, cutoff, draw(st.integers(1, cutoff - 1)))


def plain_aps(
    case: Case, scenario: Scenario, r_mode: RMode, flipped: str | None
) -> dict[tuple[str, str], Fraction | None]:
    """Compute every AP from scratch, with the documents of one run turned relevant."""
    values = {}
    for topic, grades in case.grades.items():
        relevant = {document for document, flag in grades.items() if flag}
        discovered = None
        if flipped is not None and case.status(flipped, topic) == UNJUDGED:
            discovered = case.listed(flipped, topic)[case.depth]
        for tag in case.tags:
            counted = set(relevant)
            if discovered is not None and (scenario == "shared" or tag == flipped):
                counted.add(discovered)
            flags = [document in counted for document in case.listed(tag, topic)]
            n_relevant = len(counted) if r_mode == "pool" else sum(flags)
            if discovered is not None and scenario == "own" and tag != flipped:
                n_relevant += 1
            values[tag, topic] = plain_ap(flags, n_relevant)
    return values


def sign(number: Fraction) -> int:
    """Return -1, 0 or 1."""
    return (number > 0) - (number < 0)


def exact_tau_ap(after: list[Fraction | None], before: list[Fraction | None]) -> float:
    """Walk down the orders after, the one before being true, with the runs that have a MAP."""
    both = [(x, y) for x, y in zip(after, before, strict=True) if x is not None and y is not None]
    if len({x for x, _ in both}) < 2 or len({y for _, y in both}) < 2:
        return math.nan
    return plain_tau_ap([x for x, _ in both], [y for _, y in both])


@settings(max_examples=examples(300))
@given(cases(), st.sampled_from(SCENARIOS), st.sampled_from(R_MODES))
def test_sensitivity_equals_recomputation(case: Case, scenario: Scenario, r_mode: RMode) -> None:
    """Every score, order and count equals computing all lists again from scratch."""
    result = sensitivity(case.arrays(), depth=case.depth, scenario=scenario, r_mode=r_mode)
    assert (result.depth, result.scenario, result.r_mode) == (case.depth, scenario, r_mode)
    topics = sorted(case.grades)
    before = plain_aps(case, scenario, r_mode, None)
    maps_before = {tag: plain_mean([before[tag, topic] for topic in topics]) for tag in case.tags}
    event(f"unjudged at N+1: {np.count_nonzero(result.status == UNJUDGED)}")
    for row, flipped in enumerate(case.tags):
        after = plain_aps(case, scenario, r_mode, flipped)
        assert result.status[row].tolist() == [case.status(flipped, topic) for topic in topics]
        np.testing.assert_allclose(
            result.ap_before[row], [as_float(before[flipped, topic]) for topic in topics], rtol=1e-14
        )
        np.testing.assert_allclose(
            result.ap_after[row], [as_float(after[flipped, topic]) for topic in topics], rtol=1e-14
        )
        maps_after = {
            tag: plain_mean([after[tag, topic] for topic in topics if before[tag, topic] is not None])
            for tag in case.tags
        }
        np.testing.assert_allclose(result.map_before[row], as_float(maps_before[flipped]), rtol=1e-14)
        np.testing.assert_allclose(
            result.map_after[row], [as_float(maps_after[tag]) for tag in case.tags], rtol=1e-13
        )
        orders = [
            (sign(x1 - x2), sign(y1 - y2))
            for (x1, y1), (x2, y2) in combinations(
                [
                    (x, y)
                    for x, y in zip(maps_before.values(), maps_after.values(), strict=True)
                    if x is not None and y is not None
                ],
                2,
            )
        ]
        assert result.n_swapped[row] == sum(x * y < 0 for x, y in orders)
        product = sum(x != 0 for x, _ in orders) * sum(y != 0 for _, y in orders)
        if product:
            tau = sum(x * y for x, y in orders) / math.sqrt(product)
            assert result.tau_b[row] == pytest.approx(tau, abs=1e-14)
            assert result.tau_reason[row] is None
        else:
            assert np.isnan(result.tau_b[row])
            assert result.tau_reason[row] == ("all-tied" if orders else "fewer-than-two")
        expected = exact_tau_ap(
            [maps_after[tag] for tag in case.tags], [maps_before[tag] for tag in case.tags]
        )
        assert result.tau_ap[row] == pytest.approx(expected, abs=1e-13, nan_ok=True)


@given(cases(), st.sampled_from(SCENARIOS), st.sampled_from(R_MODES), st.data())
def test_permuting_runs_permutes_results(
    case: Case, scenario: Scenario, r_mode: RMode, data: st.DataObject
) -> None:
    """The order in which runs are given changes the order of the results and nothing else."""
    order = data.draw(st.permutations(range(len(case.tags))))
    plain = sensitivity(case.arrays(), depth=case.depth, scenario=scenario, r_mode=r_mode)
    tags = [case.tags[index] for index in order]
    mixed = sensitivity(case.arrays(tags), depth=case.depth, scenario=scenario, r_mode=r_mode)
    np.testing.assert_array_equal(mixed.status, plain.status[order])
    np.testing.assert_allclose(mixed.ap_after, plain.ap_after[order], rtol=1e-15)
    np.testing.assert_allclose(mixed.map_after, plain.map_after[order][:, order], rtol=1e-15)
    np.testing.assert_allclose(mixed.tau_b, plain.tau_b[order], rtol=1e-15)
    np.testing.assert_array_equal(mixed.n_swapped, plain.n_swapped[order])


# TREC-COVID round 1: 143 runs, 30 topics, first 120 ranks.


@pytest.mark.parametrize(
    ("order", "depth", "unjudged", "deep_enough"),
    [
        # Counted by other programs from the same files.
        ("docno-asc", 7, 1993, 4270),
        ("docno-asc", 10, 2211, 4262),
        ("docno-asc", 20, 2532, 4252),
        ("docno-asc", 50, 3027, 4151),
        ("trec", 7, 1978, 4270),
        ("trec", 10, 2205, 4262),
        pytest.param("trec", 20, 2530, 4252, marks=pytest.mark.slow),
        pytest.param("trec", 50, 3026, 4151, marks=pytest.mark.slow),
    ],
)
def test_unjudged_documents_of_trec_covid(order: Order, depth: int, unjudged: int, deep_enough: int) -> None:
    """The documents at rank N+1 that nobody judged are as many as counted elsewhere."""
    result = sensitivity(covid_arrays(order=order), depth=depth)
    n = {code: np.count_nonzero(result.status == code) for code in (UNJUDGED, JUDGED, ENDED, NO_RUN)}
    assert n[UNJUDGED] == unjudged
    assert n[UNJUDGED] + n[JUDGED] == deep_enough
    assert n[ENDED] + n[NO_RUN] == 143 * 30 - deep_enough


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_changes_of_trec_covid_equal_recomputation(scenario: Scenario) -> None:
    """In 200 sampled flips the AP of all 143 runs is that of scoring the lists again."""
    arrays, depth = covid_arrays(), 7
    rankings, grades = load_rankings(), load_qrels()
    whole = sensitivity(arrays, depth=depth, scenario=scenario)
    flips = np.argwhere(whole.status == UNJUDGED).tolist()
    sample = random.Random(20).sample(flips, 200)
    total = np.zeros((143, 143))
    for column, topic in enumerate(arrays.topics):
        # Over one topic, MAP is AP.
        single = sensitivity(one_topic(arrays, column), depth=depth, scenario=scenario)
        total += single.map_after
        relevant = {docno for docno, grade in grades[topic].items() if grade >= MIN_GRADE}
        for run in [run for run, of_topic in sample if of_topic == column]:
            discovered = rankings[arrays.tags[run], topic][depth]
            assert discovered not in grades[topic]
            for other, tag in enumerate(arrays.tags):
                counted = relevant | {discovered}
                if scenario == "own" and other != run:
                    counted = relevant
                flags = [docno in counted for docno in rankings.get((tag, topic), [])[:120]]
                hits = [rank for rank, flag in enumerate(flags, start=1) if flag]
                expected = math.fsum(number / rank for number, rank in enumerate(hits, start=1)) / (
                    len(relevant) + 1
                )
                value = float(single.map_after[run, other])
                assert value == pytest.approx(expected, rel=1e-12), (topic, run, tag)
                if other == run:
                    assert whole.ap_after[run, column] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(whole.map_after, total / 30, rtol=1e-12)


def one_topic(arrays: JudgedRankings, column: int) -> JudgedRankings:
    """Return the arrays of one topic alone."""
    kept = slice(column, column + 1)
    return JudgedRankings(
        topics=arrays.topics[kept],
        tags=arrays.tags,
        documents=arrays.documents[:, kept],
        lengths=arrays.lengths[:, kept],
        states=arrays.states[kept],
        n_relevant=arrays.n_relevant[kept],
        cutoff=arrays.cutoff,
    )
