"""Dawid-Skene: against an obvious estimate in plain Python, and against simulated judges."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.aggregation import DawidSkeneResult, dawid_skene, majority
from store.analysis.agreement.votes import NO_GRADE, Votes, grade_counts, votes_from_rows
from store.errors import PoolerError

pytestmark = pytest.mark.slow

Cells = dict[tuple[int, int], int]
"""Place of the grade by (document, judge)."""


def votes_of_cells(cells: Cells, n_grades: int, judges: int) -> Votes:
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
    cells: Cells, n_grades: int, fixed: dict[int, int], n_iterations: int
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


@given(cells_of_judges, st.integers(1, 6), st.data())
def test_estimate_equals_the_slow_one(cells: Cells, n_iterations: int, data: st.DataObject) -> None:
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
    assert result.confusion.sum(axis=2) == pytest.approx(1)
    assert result.n_below_three == sum(
        document not in fixed and sum(one == document for one, _ in cells) < 3 for document in documents
    )


@given(cells_of_judges, st.permutations(range(4)))
def test_order_of_judges_changes_nothing(cells: Cells, order: list[int]) -> None:
    """Exchanging judges changes no grade, and exchanges their confusion matrices."""
    mixed = {(document, order[judge]): place for (document, judge), place in cells.items()}
    one, other = (dawid_skene(votes_of_cells(given, 3, 4), max_iterations=5) for given in (cells, mixed))
    assert np.allclose(one.posterior, other.posterior, atol=1e-9)
    assert np.allclose(one.confusion, other.confusion[order], atol=1e-9)
    assert (one.low.tolist(), one.high.tolist()) == (other.low.tolist(), other.high.tolist())


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


@pytest.mark.parametrize(
    ("n_judges", "n_votes", "bias"), [(3, 3, 0.0), (3, 3, 0.6), (20, 5, 0.0), (20, 5, 0.6)]
)
def test_better_than_majority_with_three_votes_or_more(n_judges: int, n_votes: int, bias: float) -> None:
    """Of 5,000 simulated documents it grades more correctly, with biased judges by far."""
    truth, votes = simulated(np.random.default_rng(1), 5000, n_judges, n_votes, bias)
    result = dawid_skene(votes)
    plain = majority(grade_counts(votes), ties="low").grades
    ours, theirs = (float((grades == truth).mean()) for grades in (result.low, plain))
    assert result.converged
    assert result.n_below_three == 0
    assert ours > theirs + (0.03 if bias else 0.0)


def test_grades_known_for_sure_teach_how_judges_grade() -> None:
    """With a tenth of the documents adjudicated the others come out better."""
    truth, votes = simulated(np.random.default_rng(2), 400, 3, 3, 1.0)
    fixed = np.where(np.arange(400) % 10 == 0, truth, NO_GRADE)
    free = fixed == NO_GRADE
    without, helped = (dawid_skene(votes, fixed=known).low for known in (None, fixed))
    assert (helped[~free] == truth[~free]).all()
    assert (helped[free] == truth[free]).mean() > (without[free] == truth[free]).mean()


def test_two_equally_probable_grades_are_told() -> None:
    """Where judges are each other's mirror image no grade is more probable, and low is not high."""
    cells = {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0, (2, 2): 0, (3, 2): 1}
    result: DawidSkeneResult = dawid_skene(votes_of_cells(cells, 2, 3))
    assert (result.low[:2].tolist(), result.high[:2].tolist()) == ([0, 0], [1, 1])
    assert result.n_below_three == 4


def test_limit_of_iterations_is_told() -> None:
    """An estimate that still moves when it has to stop says so."""
    _, votes = simulated(np.random.default_rng(3), 200, 3, 3, 0.6)
    result = dawid_skene(votes, max_iterations=2)
    assert (result.n_iterations, result.converged) == (2, False)
    again = dawid_skene(votes)
    assert again.converged
    assert np.array_equal(again.posterior, dawid_skene(votes).posterior)


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


@pytest.mark.parametrize("seed", [3, 4, 5])
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


@pytest.mark.parametrize("seed", [7, 25])
def test_no_grade_changes_after_convergence(seed: int) -> None:
    """Two thousand documents of three votes each: a hundred times as exact is the same."""
    rng = np.random.default_rng(seed)
    cells = {}
    for document in range(2000):
        grade = int(rng.integers(0, 3))
        for judge in rng.choice(20, 3, replace=False).tolist():
            cells[document, judge] = grade if rng.random() < 0.5 else int(rng.integers(0, 3))
    votes = votes_of_cells(cells, 3, 20)
    found, exact = dawid_skene(votes), dawid_skene(votes, tolerance=1e-11)
    assert found.converged
    assert np.array_equal(found.low, exact.low)
    assert not np.array_equal(found.low, dawid_skene(votes, tolerance=1e-4).low)


def test_converged_is_what_moves_by_no_more_than_the_tolerance() -> None:
    """A tolerance of just what the first iteration moves is kept by it, and the next smaller one is not."""
    grades = [(0, 0, 1), (1, 1, 1), (0, 1, 1), (0, 0, 0)]
    cells = {(document, judge): one[judge] for document, one in enumerate(grades) for judge in range(3)}
    votes = votes_of_cells(cells, 2, 3)
    shares = grade_counts(votes) / 3
    moved = float(np.abs(dawid_skene(votes, max_iterations=1).posterior - shares).max())
    assert moved > 0.01
    kept = dawid_skene(votes, tolerance=moved)
    assert (kept.n_iterations, kept.converged) == (1, True)
    assert dawid_skene(votes, tolerance=float(np.nextafter(moved, 0))).n_iterations > 1


def test_what_cannot_be_estimated_is_refused() -> None:
    """Fewer than three judges are an error."""
    two = votes_of_cells({(0, 0): 0, (0, 1): 1}, 2, 3)
    with pytest.raises(PoolerError, match="needs votes of at least 3 judges, and has 2"):
        dawid_skene(two)
