"""Votes, and one grade or a probability of them: plain loops, plain EM, the paper's table."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from store.analysis.aggregation import (
    TIE_RULES,
    TIES,
    AggregateResult,
    TieRule,
    dawid_skene,
    grade_sums,
    highest,
    leaves_tied,
    lowest,
    majority,
    mean_half_up,
    median,
    share_probabilities,
    value_probabilities,
)
from store.analysis.agreement.votes import (
    CANNOT,
    NO_GRADE,
    SKIPPED,
    UNJUDGED,
    Cells,
    Votes,
    grade_counts,
    population_votes,
    votes_from_rows,
    votes_of_judges,
)
from store.errors import ArgumentError, PoolerError
from store.records import Ties
from tests.helpers.cf_collection import SCALE, load_judgements
from tests.helpers.graded_votes import MISSING, drawn_votes, texts_of, votes_of

Counts = NDArray[np.int64]
RULES: dict[TieRule, Callable[..., AggregateResult]] = {"majority": majority, "median": median}
counts_of_documents = st.tuples(st.integers(0, 8), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 4))
)


def places_of(row: list[int]) -> list[int]:
    """Write one document's grades out, ascending: counts 1, 0, 2 are grades 0, 2, 2."""
    return [place for place, count in enumerate(row) for _ in range(count)]


def slow_ends(rule: TieRule, places: list[int]) -> tuple[int, int]:
    """Return the lowest and the highest grade that a rule could give, by the standard library."""
    if not places:
        return NO_GRADE, NO_GRADE
    if rule == "median":
        return statistics.median_low(places), statistics.median_high(places)
    votes = Counter(places)
    tied = [place for place, count in votes.items() if count == max(votes.values())]
    return min(tied), max(tied)


@given(counts_of_documents, st.sampled_from(TIE_RULES), st.sampled_from(TIES))
def test_tie_rules_equal_slow_count(counts: Counts, rule: TieRule, ties: Ties) -> None:
    """Grade and both ends of the tie are those of looking at the grades one by one."""
    result = RULES[rule](counts, ties=ties)
    for index, row in enumerate(counts.tolist()):
        low, high = slow_ends(rule, places_of(row))
        chosen = high if ties == "high" else NO_GRADE if ties == "unresolved" and low != high else low
        assert result.grades[index] == chosen
        assert (result.low[index], result.high[index]) == (low, high)
        assert leaves_tied(rule, places_of(row)) == (low != high)
    assert result.n_ties == np.count_nonzero(result.low != result.high)


@given(counts_of_documents, st.integers(-3, 3))
def test_mean_lowest_highest_and_sum_equal_slow_count(counts: Counts, least: int) -> None:
    """Mean (halves up, in fractions), extremes and sum are those of Python's own arithmetic."""
    values = range(least, least + counts.shape[1])
    mean = mean_half_up(counts, values)
    low, high, sums = lowest(counts), highest(counts), grade_sums(counts, values)
    for index, row in enumerate(counts.tolist()):
        grades = [least + place for place in places_of(row)]
        assert sums[index] == sum(grades)
        if not grades:
            assert mean.grades[index] == low.grades[index] == high.grades[index] == NO_GRADE
            continue
        exact = Fraction(sum(grades), len(grades))
        assert least + mean.grades[index] == math.floor(exact + Fraction(1, 2))
        assert mean.is_tied[index] == (exact.denominator == 2)
        assert least + mean.low[index] == math.ceil(exact - Fraction(1, 2))
        assert (least + low.grades[index], least + high.grades[index]) == (min(grades), max(grades))
    assert low.n_ties == high.n_ties == 0


def test_mean_on_a_scale_with_gaps_is_refused() -> None:
    """Where a mean may lie between two grades of the scale there is no such rule."""
    with pytest.raises(ArgumentError, match="`scale_values` must rise by 1: a mean may lie on"):
        mean_half_up(np.array([[1, 0, 1]]), (0, 2, 4))


@pytest.mark.vector("Cystic Fibrosis collection, counts of its provenance note")
def test_cf_collection_gives_known_counts() -> None:
    """4,819 CF pairs: relevant to 2,267 by two of four judges, 1,655 by three, 1,188 by all.

    Any judge gives 2 to 1,927; the sum of grades is 4 or more for 1,544.
    """
    counts = grade_counts(votes_of(load_judgements(), SCALE))
    relevant = np.add.reduceat(counts, [0, 1], axis=1)
    # Four binary votes: half of them is a tie, which goes to relevant or to not relevant.
    high, low = majority(relevant, ties="high"), majority(relevant, ties="low")
    assert np.count_nonzero(high.grades) == 2267
    assert np.count_nonzero(low.grades) == 1655
    assert high.n_ties == 2267 - 1655
    assert np.count_nonzero(highest(counts).grades >= 1) == 4819
    assert np.count_nonzero(lowest(counts).grades >= 1) == 1188
    assert np.count_nonzero(highest(counts).grades == 2) == 1927
    assert np.count_nonzero(grade_sums(counts, SCALE) >= 4) == 1544


PlaceOf = dict[tuple[int, int], int]
"""Place of the grade by (document, judge)."""


def votes_of_cells(cells: PlaceOf, n_grades: int, judges: int) -> Votes:
    """Arrange votes of one topic."""
    rows = np.array([[*key, place] for key, place in cells.items()], dtype=np.int64)
    return votes_from_rows(
        np.zeros(len(rows), dtype=np.int64),
        rows[:, 0],
        rows[:, 1],
        rows[:, 2],
        topics=["1"],
        judges=[f"j{code}" for code in range(judges)],
        scale_values=range(n_grades),
    )


def slow_estimate(
    cells: PlaceOf, n_grades: int, fixed: dict[int, int], n_iterations: int
) -> dict[int, list[float]]:
    """Run the EM of the 1979 paper with plain products and sums; posteriors by document."""
    documents = sorted({document for document, _ in cells})
    judges = sorted({judge for _, judge in cells})
    grades = range(n_grades)
    least = 1e-10

    def clamp(document: int, shares: list[float]) -> list[float]:
        known = fixed.get(document)
        return shares if known is None else [float(grade == known) for grade in grades]

    posterior = {}
    for document in documents:
        own = [place for (one, _), place in cells.items() if one == document]
        posterior[document] = clamp(document, [own.count(grade) / len(own) for grade in grades])
    for _ in range(n_iterations):
        prior = [
            max(sum(posterior[one][true] for one in documents) / len(documents), least) for true in grades
        ]
        prior = [share / sum(prior) for share in prior]
        habits: dict[tuple[int, int], list[float]] = {}
        for judge in judges:
            for true in grades:
                given_each = [
                    max(
                        sum(
                            posterior[one][true]
                            for (one, who), place in cells.items()
                            if who == judge and place == said
                        ),
                        least,
                    )
                    for said in grades
                ]
                habits[judge, true] = [mass / sum(given_each) for mass in given_each]
        for document in documents:
            likelihood = [
                prior[true]
                * prod(habits[judge, true][place] for (one, judge), place in cells.items() if one == document)
                for true in grades
            ]
            shares = [value / sum(likelihood) for value in likelihood]
            posterior[document] = clamp(document, shares)
    return posterior


cells_of_judges = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 3)), st.integers(0, 2), min_size=3, max_size=20
).filter(lambda cells: len({judge for _, judge in cells}) >= 3)


@pytest.mark.slow
@given(cells_of_judges, st.integers(1, 6), st.data())
def test_estimate_equals_the_slow_one(cells: PlaceOf, n_iterations: int, data: st.DataObject) -> None:
    """After any number of steps the posteriors are those of plain products, fixed grades too."""
    documents = sorted({document for document, _ in cells})
    fixed = data.draw(st.dictionaries(st.sampled_from(documents), st.integers(0, 2), max_size=2))
    known = np.array([fixed.get(document, NO_GRADE) for document in documents])
    votes = votes_of_cells(cells, 3, 4)
    result = dawid_skene(votes, fixed=known, max_iterations=n_iterations, tolerance=1e-300)
    expected = slow_estimate(cells, 3, fixed, result.n_iterations)
    for index, document in enumerate(documents):
        assert result.posterior[index] == pytest.approx(expected[document], abs=1e-9)
        if document in fixed:
            assert result.low[index] == result.high[index] == fixed[document]
    assert result.posterior.sum(axis=1) == pytest.approx(1)
    assert result.n_below_three == sum(
        document not in fixed and sum(one == document for one, _ in cells) < 3 for document in documents
    )


def simulated(
    rng: np.random.Generator, n_documents: int, n_judges: int, n_votes: int, bias: float
) -> tuple[NDArray[np.int64], Votes]:
    """Draw true grades 0-3, and judges who see them with noise and a strictness of their own."""
    truth = rng.choice(4, n_documents, p=[0.5, 0.25, 0.15, 0.1])
    shift = rng.normal(0, bias, n_judges)
    noise = rng.uniform(0.35, 0.6, n_judges)
    chosen = rng.random((n_documents, n_judges)).argsort(axis=1)[:, :n_votes]
    seen = truth[:, None] + shift[chosen] + rng.normal(0, 1, chosen.shape) * noise[chosen]
    places = np.clip(np.floor(seen + 0.5), 0, 3).astype(np.int64)
    documents = np.repeat(np.arange(n_documents), n_votes)
    votes = votes_from_rows(
        np.zeros_like(documents),
        documents,
        chosen.ravel(),
        places.ravel(),
        topics=["1"],
        judges=[str(code) for code in range(n_judges)],
        scale_values=range(4),
    )
    return truth, votes


@pytest.mark.slow
def test_grades_known_for_sure_teach_how_judges_grade() -> None:
    """With a tenth of the documents adjudicated the others come out better."""
    truth, votes = simulated(np.random.default_rng(2), 400, 3, 3, 1.0)
    fixed = np.where(np.arange(400) % 10 == 0, truth, NO_GRADE)
    free = fixed == NO_GRADE
    without, helped = (dawid_skene(votes, fixed=known).low for known in (None, fixed))
    assert (helped[~free] == truth[~free]).all()
    assert (helped[free] == truth[free]).mean() > (without[free] == truth[free]).mean()


def plain_em(votes: Votes, tolerance: float) -> tuple[NDArray[np.float64], int]:
    """Repeat the two steps of the 1979 paper, plainly, until nothing moves by more."""
    q, n_judges = votes.n_grades, len(votes.judges)
    said = np.zeros((votes.n_documents, n_judges, q))
    said[votes.documents, votes.judge_codes, votes.places] = 1
    posterior = said.sum(axis=1) / said.sum(axis=(1, 2))[:, None]
    for n_iterations in range(1, 100_000):
        habits = np.maximum(np.einsum("ik,ijl->jkl", posterior, said), 1e-10)
        habits /= habits.sum(axis=2, keepdims=True)
        prior = np.maximum(posterior.mean(axis=0), 1e-10)
        weight = np.log(prior / prior.sum()) + np.einsum("ijl,jkl->ik", said, np.log(habits))
        after = np.exp(weight - weight.max(axis=1, keepdims=True))
        after /= after.sum(axis=1, keepdims=True)
        if np.abs(after - posterior).max() <= tolerance:
            return after, n_iterations
        posterior = after
    raise AssertionError


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 5])
def test_longer_steps_lead_where_plain_ones_do(seed: int) -> None:
    """Few votes a document, where plain EM takes long: the same estimate, in fewer iterations."""
    rng = np.random.default_rng(seed)
    cells = {}
    for document in range(400):
        grade = int(rng.integers(0, 4))
        for judge in rng.choice(5, rng.integers(1, 4), replace=False).tolist():
            cells[document, judge] = grade if rng.random() < 0.5 else int(rng.integers(0, 4))
    votes = votes_of_cells(cells, 4, 5)
    expected, n_plain = plain_em(votes, 1e-9)
    result = dawid_skene(votes, tolerance=1e-9)
    assert n_plain > 500
    assert result.converged
    assert result.n_iterations < n_plain / 2
    np.testing.assert_allclose(result.posterior, expected, atol=1e-5)


@pytest.mark.slow
def test_what_cannot_be_estimated_is_refused() -> None:
    """Fewer than three judges are an error."""
    two = votes_of_cells({(0, 0): 0, (0, 1): 1}, 2, 3)
    with pytest.raises(PoolerError, match="needs votes of at least 3 judges, and has 2"):
        dawid_skene(two)


counts_with_votes = arrays(
    np.int64, st.tuples(st.integers(0, 8), st.just(4)), elements=st.integers(0, 5)
).map(lambda counts: counts[counts.any(axis=1)])


@pytest.mark.vector("Kishida 2001, table 4")
def test_two_judges_of_three_grades() -> None:
    """Relevant 1, partially .8, not 0: the six patterns of two judges are 1 .9 .5 .8 .4 0."""
    patterns = list(combinations_with_replacement((2, 1, 0), 2))
    counts = np.array([np.bincount(pattern, minlength=3) for pattern in patterns])
    found = dict(zip(patterns, value_probabilities(counts, (0, 0.8, 1)).tolist(), strict=True))
    assert found == pytest.approx(
        {(2, 2): 1.0, (2, 1): 0.9, (2, 0): 0.5, (1, 1): 0.8, (1, 0): 0.4, (0, 0): 0.0}
    )


@given(counts_with_votes, st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_values_equal_the_mean_over_judges(counts: NDArray[np.int64], values: list[float]) -> None:
    """The probability is the plain mean of what each judge's grade is worth, within 0 and 1."""
    found = value_probabilities(counts, values)
    for row, p in zip(counts.tolist(), found.tolist(), strict=True):
        worth = [values[place] for place, count in enumerate(row) for _ in range(count)]
        assert p == pytest.approx(sum(worth) / len(worth))
        assert 0 <= p <= 1


@given(counts_with_votes, st.integers(1, 3))
def test_share_is_values_of_0_and_1(counts: NDArray[np.int64], level: int) -> None:
    """The share of judges at a level is the mean of 1 at or above it and 0 below."""
    values = [float(place >= level) for place in range(4)]
    assert share_probabilities(counts, level) == pytest.approx(value_probabilities(counts, values))


ARRAYS = ("topic_codes", "documents", "judge_codes", "places")
NAMES = ("topics", "judges", "scale_values")


def same(one: Votes, other: Votes) -> bool:
    """Tell whether two sets of votes hold the same."""
    return all(getattr(one, name) == getattr(other, name) for name in NAMES) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS
    )


def rows_of(votes: Votes) -> list[tuple[int, int, int, int]]:
    """List topic, document, judge, place of every vote."""
    columns = (votes.topic_codes[votes.documents], votes.documents, votes.judge_codes, votes.places)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(drawn_votes(), st.randoms())
def test_votes_from_rows_in_any_order_are_the_same(votes: Votes, random: object) -> None:
    """The order of rows changes nothing, and document numbers may have gaps."""
    rows = [(topic, 10 * document, *rest) for topic, document, *rest in rows_of(votes)]
    random.shuffle(rows)  # type: ignore[attr-defined]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    again = votes_from_rows(
        *columns, topics=votes.topics, judges=votes.judges, scale_values=votes.scale_values
    )
    assert same(again, votes)
    assert {getattr(again, name).dtype for name in ARRAYS} == {np.dtype(np.int64)}


@given(drawn_votes(), st.data())
def test_votes_of_judges_keep_their_documents(votes: Votes, data: st.DataObject) -> None:
    """Of some judges, in any order, their own columns stay, and documents one of them graded."""
    judges = data.draw(st.lists(st.sampled_from(votes.judges), unique=True))
    codes = [votes.judge_index(judge) for judge in judges]
    some = votes_of_judges(votes, judges)
    texts = ["".join(text[code] for code in codes) for text in texts_of(votes)]
    kept = [number for number, text in enumerate(texts) if text.strip(MISSING)]
    assert some.judges == tuple(judges)
    assert texts_of(some) == [texts[number] for number in kept]
    assert some.topic_codes.tolist() == votes.topic_codes[kept].tolist()
    assert rows_of(some) == sorted(rows_of(some))


JUDGES = ("ann", "bob", "cy")
VALUES = (-2, 0, 1)
N_DOCUMENTS = 5
Key = tuple[int, int, int]
"""Topic, document, judge."""
plain_cells = st.dictionaries(
    st.tuples(st.integers(0, 2), st.integers(0, N_DOCUMENTS - 1), st.integers(0, 2)),
    st.sampled_from([0, 1, 2, UNJUDGED, SKIPPED, CANNOT]),
    max_size=30,
)


def cells_of(plain: Mapping[Key, int]) -> Cells:
    """Put plain cells into arrays."""
    rows = np.array([(*key, place) for key, place in plain.items()], dtype=np.int64).reshape(-1, 4)
    return Cells(("1", "2", "3"), JUDGES, VALUES, *rows.T)


def grades_of(votes: Votes) -> list[tuple[int, dict[int, int]]]:
    """Give topic and grades by judge of every document, in order."""
    found: list[tuple[int, dict[int, int]]] = [(int(t), {}) for t in votes.topic_codes]
    for document, judge, place in zip(
        votes.documents.tolist(), votes.judge_codes.tolist(), votes.places.tolist(), strict=True
    ):
        found[document][1][judge] = place
    return found


@given(plain=plain_cells, least=st.integers(1, 2))
def test_votes_are_of_documents_that_enough_judges_graded(plain: dict[Key, int], least: int) -> None:
    """Each such document is there once with its grades; what is left out, skipped, impossible is counted."""
    made = population_votes(cells_of(plain), least=least)
    by_document: dict[tuple[int, int], dict[int, int]] = {}
    for (topic, document, judge), place in sorted(plain.items()):
        if place >= 0:
            by_document.setdefault((topic, document), {})[judge] = place
    kept = {pair: grades for pair, grades in sorted(by_document.items()) if len(grades) >= least}
    assert grades_of(made.votes) == [(topic, grades) for (topic, _), grades in kept.items()]
    assert made.document_numbers.tolist() == [document for _, document in kept]
    assert (made.n_documents, made.n_topics) == (len(kept), len({topic for topic, _ in kept}))
    for judge in range(3):
        of_judge = [place for (_, _, who), place in plain.items() if who == judge]
        graded = sum(place >= 0 for place in of_judge)
        measured = sum(judge in grades for grades in kept.values())
        assert (made.graded[judge], made.skipped[judge], made.cannot[judge], made.outside[judge]) == (
            graded,
            of_judge.count(SKIPPED),
            of_judge.count(CANNOT),
            graded - measured,
        )
        given_by = [grades[judge] for grades in kept.values() if judge in grades]
        assert made.given()[judge].tolist() == [given_by.count(place) for place in range(len(VALUES))]
