"""Agreement of many judges: published tables, statsmodels, slow fractions, undefined cases."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from store.analysis.agreement.kappa import stacked_raw, stacked_specific
from store.analysis.agreement.many import (
    MANY_NAMES,
    ManyName,
    all_judges,
    stacked_many,
    stacked_many_raw,
    stacked_many_specific,
)
from store.analysis.agreement.tables import pair_tables, stacked, vote_sums
from store.analysis.agreement.votes import PopulationVotes, Votes, grade_counts
from tests.agreement.graded import MISSING, drawn_votes, texts_of, two_columns, votes_in
from tests.vectors.agreement_tables import FLEISS_CATEGORIES, JUDGES_TABLES, JudgesTable, assert_prints

TABLES = [
    pytest.param(vector, id=vector.name, marks=pytest.mark.vector(vector.source)) for vector in JUDGES_TABLES
]
FLEISS = JUDGES_TABLES[0]
VALUES = (0, 1, 2, 4, 5, 6)
"""Grade values, of which the alpha of intervals takes the distances."""


def slow_coefficient(votes: Votes, name: ManyName) -> Fraction | None:
    """Compute a coefficient from its definition, in fractions; ``None`` when it is undefined."""
    q = votes.n_grades
    grades = range(q)
    documents = [[int(place) for place in text if place != MISSING] for text in texts_of(votes)]
    shared = [places for places in documents if len(places) > 1]
    used = {place for places in (shared if "alpha" in name else documents) for place in places}
    if len(shared) < 2 or len(used) < 2:
        return None
    if name.startswith("alpha"):
        return slow_alpha(shared, q, name)
    power = {"linear": 1, "quadratic": 2, "ac2": 2}.get(name, 0)
    width = Fraction(q - 1) ** power

    def weight(one: int, other: int) -> Fraction:
        return 1 - abs(one - other) ** power / width * (one != other)

    observed = sum(
        sum(weight(*pair) for pair in permutations(places, 2)) / (len(places) * (len(places) - 1))
        for places in shared
    ) / len(shared)
    pi = [
        sum(Fraction(places.count(k), len(places)) for places in documents) / len(documents) for k in grades
    ]
    all_weights = sum(weight(c, k) for c, k in product(grades, repeat=2))
    if name == "s":
        expected = all_weights / q**2
    elif name.startswith("ac"):
        expected = all_weights / (q * (q - 1)) * sum(one * (1 - one) for one in pi)
    else:
        expected = sum(weight(c, k) * pi[c] * pi[k] for c, k in product(grades, repeat=2))
    return (observed - expected) / (1 - expected)


def slow_alpha(shared: list[list[int]], n_grades: int, name: str) -> Fraction:
    """Compute alpha as observed over expected disagreement of values."""
    values = [place for places in shared for place in places]
    counts = [Fraction(values.count(k)) for k in range(n_grades)]

    def distance(c: int, k: int) -> Fraction:
        if name == "alpha_nominal":
            return Fraction(c != k)
        if name == "alpha_interval":
            return Fraction(VALUES[c] - VALUES[k]) ** 2
        low, high = min(c, k), max(c, k)
        return (sum(counts[low : high + 1], Fraction(0)) - (counts[c] + counts[k]) / 2) ** 2

    seen = sum(
        (
            Fraction(sum(distance(*pair) for pair in permutations(places, 2)), len(places) - 1)
            for places in shared
        ),
        Fraction(0),
    ) / len(values)
    by_chance = sum(distance(*pair) for pair in permutations(values, 2))
    return 1 - seen / (by_chance / (len(values) * (len(values) - 1)))


def coefficient(name: str, votes: Votes) -> float:
    """Measure by one coefficient."""
    sums, values = vote_sums(votes).sum(axis=0), VALUES[: votes.n_grades]
    return float(stacked_many(name, sums, values=values))  # type: ignore[arg-type]


@pytest.mark.parametrize("vector", TABLES)
def test_published_table_gives_printed_digits(vector: JudgesTable) -> None:
    """Every published coefficient comes out to every printed digit."""
    votes = votes_in(vector.documents, vector.scale)
    for name, value in vector.coefficients:
        assert_prints(value, float(stacked_many(name, vote_sums(votes).sum(axis=0))))  # type: ignore[arg-type]


@pytest.mark.vector("Fleiss 1971, recomputed")
def test_fleiss_categories_against_the_rest_give_printed_digits() -> None:
    """Kappa of one category of Fleiss' table against all others; and its observed agreement."""
    votes = votes_in(FLEISS.documents, FLEISS.scale)
    for place, kappa in enumerate(FLEISS_CATEGORIES):
        binary = replace(votes, scale_values=(0, 1), places=(votes.places == place).astype(np.int64))
        assert_prints(kappa, coefficient("fleiss", binary))
    assert_prints("0.5556", float(stacked_many_raw(vote_sums(votes).sum(axis=0))))


@given(drawn_votes(max_judges=5, max_documents=8), st.sampled_from(MANY_NAMES))
def test_coefficient_random_votes_equal_slow_fractions(votes: Votes, name: ManyName) -> None:
    """With cells missing, every coefficient is its definition."""
    slow = slow_coefficient(votes, name)
    expected = np.nan if slow is None else float(slow)
    assert coefficient(name, votes) == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


@pytest.mark.slow
@given(st.lists(st.text("0123", min_size=3, max_size=3), min_size=2, max_size=12))
def test_fleiss_full_votes_equal_statsmodels(documents: list[str]) -> None:
    """Without missing cells Fleiss' kappa is statsmodels', wherever two grades are given."""
    votes = votes_in(documents, range(4))
    if len(set("".join(documents))) > 1:
        expected = fleiss_kappa(grade_counts(votes))
        assert coefficient("fleiss", votes) == pytest.approx(expected, abs=1e-12)


@given(drawn_votes(max_judges=2))
def test_two_judges_on_the_same_documents_have_the_pairs_coefficients(votes: Votes) -> None:
    """Of two judges' common documents, Fleiss is Scott's pi, and S, AC1, AC2 and alpha are the pair's."""
    texts = [text for text in texts_of(votes) if MISSING not in text and len(text) == 2]
    both = votes_in(texts, range(votes.n_grades), n_judges=2)
    table, sums = pair_tables(both, *both.judges).sum(axis=0), vote_sums(both).sum(axis=0)
    values = VALUES[: votes.n_grades]
    for name in ("pi", "s", "ac1", "ac2", "alpha_nominal", "alpha_ordinal", "alpha_interval"):
        expected = float(stacked(name, table, values))  # type: ignore[arg-type]
        assert coefficient("fleiss" if name == "pi" else name, both) == pytest.approx(
            expected, abs=1e-12, nan_ok=True
        )
    assert stacked_many_raw(sums) == pytest.approx(stacked_raw(table), rel=1e-14, nan_ok=True)
    assert np.array_equal(stacked_many_specific(sums), stacked_specific(table), equal_nan=True)


@pytest.mark.parametrize("level", [None, 1])
@pytest.mark.parametrize(
    ("documents", "reason", "n_documents"),
    [
        (["1111"] * 10, "single-grade", 10),
        (["0...", "1...", ".2..", "..0."], "no-common-docs", 0),
        (["1..."] * 5, "one-judge", 0),
        (["1111", "2...", ".0.."], "one-doc", 1),
        (["1211", "2...", ".0.."], "one-doc", 1),
    ],
    ids=["D1", "D4", "one-judge", "D6", "D6-differ"],
)
def test_degenerate_votes_give_a_reason(
    documents: list[str], reason: str, n_documents: int, level: int | None
) -> None:
    """D1, D4, D6: there is no coefficient of many judges either."""
    votes = votes_in(documents, range(4), n_judges=4)
    graded = np.bincount(votes.judge_codes, minlength=4)
    none = np.zeros(4, np.int64)
    population = PopulationVotes(votes, np.arange(votes.n_documents), graded, none, none, none)
    for one in all_judges(population, level, resamples=0, seed=1):
        if one.name in MANY_NAMES:
            assert (one.value, one.reason, one.n_documents) == (None, reason, n_documents)


@pytest.mark.parametrize(
    ("first", "second", "n_grades", "fleiss", "ac1", "alpha"),
    [
        ("1111111111", "0000011111", 2, -1 / 3, 0.2, -4 / 15),
        ("1111111111", "0000011111", 4, -1 / 3, 3 / 7, -4 / 15),
        ("0000000000", "1111111111", 2, -1.0, -1.0, -0.9),
        ("0000000000", "1111111111", 4, -1.0, -0.2, -0.9),
        # Documents with one vote count in pi, which is (1/4, 3/4), not in Po, which is 3/4: Pe of
        # Fleiss is 5/8, of AC1 3/8, and 1/8 on four grades. In alpha they count nowhere.
        ("0101.1", "01111.", 2, 1 / 3, 3 / 5, 8 / 15),
        ("0101.1", "01111.", 4, 1 / 3, 5 / 7, 8 / 15),
    ],
    ids=["D2", "D2-declared", "D3", "D3-declared", "D9", "D9-declared"],
)
def test_defined_degenerate_votes_have_the_stated_answers(
    first: str, second: str, n_grades: int, fleiss: float, ac1: float, alpha: float
) -> None:
    """D2, D3 and D9 of the degenerate table, on the scale that occurs and on a declared one."""
    votes = two_columns(first, second, range(n_grades))
    expected = {"fleiss": fleiss, "ac1": ac1, "alpha_nominal": alpha, "alpha_ordinal": alpha}
    assert {name: coefficient(name, votes) for name in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_raw_and_specific_agreement_by_hand() -> None:
    """Pairs of votes that agree: by document for the whole, by pair for each grade."""
    votes = votes_in(["001", "11.", "0..", "012"], range(4))
    # Of the three shared documents 1/3, 1 and 0 of the pairs agree.
    # Pairs that begin with 0: 2 * 2 + 2, of which 2 end with it; with 1: 2 + 2 + 2, of which 2;
    # with 2: 2, of which none; with 3: none at all.
    sums = vote_sums(votes)
    assert stacked_many_raw(sums)[0] == pytest.approx(4 / 9, rel=1e-15)
    shares = stacked_many_specific(sums)[0]
    assert shares == pytest.approx([1 / 3, 1 / 3, 0, np.nan], nan_ok=True)
