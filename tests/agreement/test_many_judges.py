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

from store.analysis.agreement.kappa import Coefficient, stacked_raw, stacked_specific
from store.analysis.agreement.many import (
    MANY_NAMES,
    ManyName,
    many_coefficient,
    stacked_many,
    stacked_many_raw,
    stacked_many_specific,
)
from store.analysis.agreement.tables import pair_tables, sums_apart, vote_sums
from store.analysis.agreement.votes import Votes, grade_counts, votes_from_rows, votes_of_judges
from tests.agreement.graded import (
    MISSING,
    bennett_s,
    drawn_votes,
    gwet_ac,
    scott_pi,
    texts_of,
    two_columns,
    votes_in,
)
from tests.vectors.agreement_tables import FLEISS_CATEGORIES, JUDGES_TABLES, JudgesTable, assert_prints

TABLES = [
    pytest.param(vector, id=vector.name, marks=pytest.mark.vector(vector.source)) for vector in JUDGES_TABLES
]
FLEISS = JUDGES_TABLES[0]


def all_coefficients(votes: Votes, **values: object) -> dict[str, Coefficient]:
    """Measure by every coefficient."""
    return {name: many_coefficient(name, votes, **values) for name in MANY_NAMES}  # type: ignore[arg-type]


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
            return Fraction(c - k) ** 2
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


@pytest.mark.slow
@pytest.mark.parametrize("vector", TABLES)
def test_published_table_gives_printed_digits(vector: JudgesTable) -> None:
    """Every published coefficient and standard error comes out to every printed digit."""
    votes = votes_in(vector.documents, vector.scale)
    results = all_coefficients(votes)
    for name, value in vector.coefficients:
        assert_prints(value, results[name].value)  # type: ignore[index]
    for name, error in vector.errors:
        assert_prints(error, results[name].standard_error)  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.vector("Fleiss 1971, recomputed")
def test_fleiss_categories_against_the_rest_give_printed_digits() -> None:
    """Kappa of one category of Fleiss' table against all others has the known digits."""
    votes = votes_in(FLEISS.documents, FLEISS.scale)
    for place, kappa in enumerate(FLEISS_CATEGORIES):
        one = (votes.places == place).astype(np.int64)
        binary = replace(votes, scale_values=(0, 1), places=one)
        assert_prints(kappa, many_coefficient("fleiss", binary).value)


@pytest.mark.slow
@pytest.mark.vector("Fleiss 1971")
def test_fleiss_observed_gives_printed_digits() -> None:
    """Fleiss' table has the printed observed agreement."""
    sums = vote_sums(votes_in(FLEISS.documents, FLEISS.scale)).sum(axis=0)
    assert_prints("0.5556", float(stacked_many_raw(sums)))


@pytest.mark.slow
@given(drawn_votes(max_judges=5, max_documents=8), st.sampled_from(MANY_NAMES))
def test_coefficient_random_votes_equal_slow_fractions(votes: Votes, name: ManyName) -> None:
    """With cells missing, every coefficient is its definition, and so is a stack's."""
    slow = slow_coefficient(votes, name)
    result = many_coefficient(name, votes)
    stacked = stacked_many(name, vote_sums(votes).sum(axis=0)[np.newaxis])
    assert (result.value is None) == (slow is None)
    assert (result.reason is None) == (slow is not None)
    assert np.isnan(stacked[0]) == (slow is None)
    if slow is not None:
        assert result.value == pytest.approx(float(slow), rel=1e-12, abs=1e-12)
        assert stacked[0] == pytest.approx(float(slow), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@given(st.lists(st.text("0123", min_size=3, max_size=3), min_size=2, max_size=12))
def test_fleiss_full_votes_equal_statsmodels(documents: list[str]) -> None:
    """Without missing cells Fleiss' kappa is statsmodels', wherever two grades are given."""
    votes = votes_in(documents, range(4))
    result = many_coefficient("fleiss", votes)
    if len(set("".join(documents))) == 1:
        assert (result.value, result.reason) == (None, "single-grade")
    else:
        assert result.value == pytest.approx(fleiss_kappa(grade_counts(votes)), abs=1e-12)


@pytest.mark.slow
@given(drawn_votes(max_judges=2))
def test_two_judges_on_the_same_documents_have_the_pairs_coefficients(votes: Votes) -> None:
    """Of two judges' common documents, Fleiss is Scott's pi, and S, AC1, AC2 are the pair's."""
    texts = [text for text in texts_of(votes) if MISSING not in text and len(text) == 2]
    both = votes_in(texts, range(votes.n_grades), n_judges=2)
    table = pair_tables(both, *both.judges).sum(axis=0)
    results = all_coefficients(both)
    for name, one in (
        ("fleiss", scott_pi(table)),
        ("linear", scott_pi(table, "linear")),
        ("quadratic", scott_pi(table, "quadratic")),
        ("s", bennett_s(table)),
        ("ac1", gwet_ac(table)),
        ("ac2", gwet_ac(table, "quadratic")),
    ):
        many = results[name]
        if many.reason == "one-judge":
            continue
        assert (many.reason, many.n_documents) == (one.reason, one.n_documents)
        assert many.value == (None if one.value is None else pytest.approx(one.value, abs=1e-12))
    if texts:
        sums = vote_sums(both).sum(axis=0)
        assert stacked_many_raw(sums) == pytest.approx(stacked_raw(table), rel=1e-14)
        assert np.array_equal(stacked_many_specific(sums), stacked_specific(table), equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY_NAMES)
@pytest.mark.parametrize(
    ("documents", "reason", "n_documents"),
    [
        (["1111"] * 10, "single-grade", 10),
        (["0...", "1...", ".2..", "..0."], "no-common-docs", 0),
        (["1..."] * 5, "one-judge", 0),
        ([], "one-judge", 0),
        (["1111", "2...", ".0.."], "one-doc", 1),
        (["1211", "2...", ".0.."], "one-doc", 1),
    ],
    ids=["D1", "D4", "one-judge", "nobody", "D6", "D6-differ"],
)
def test_degenerate_votes_give_a_reason(
    documents: list[str], reason: str, n_documents: int, name: ManyName
) -> None:
    """D1, D4, D6: there is no coefficient of many judges either, and a stack has NaN."""
    votes = votes_in(documents, range(4), n_judges=4)
    result = many_coefficient(name, votes)
    assert (result.value, result.reason, result.n_documents) == (None, reason, n_documents)
    assert result.standard_error is None
    assert np.isnan(stacked_many(name, vote_sums(votes))).tolist() == [True]


@pytest.mark.slow
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
    results = all_coefficients(two_columns(first, second, range(n_grades)))
    assert results["fleiss"].value == pytest.approx(fleiss, abs=1e-12)
    assert results["ac1"].value == pytest.approx(ac1, abs=1e-12)
    for metric in ("alpha_nominal", "alpha_ordinal", "alpha_interval"):
        assert results[metric].value == pytest.approx(alpha, abs=1e-12)  # type: ignore[index]


@pytest.mark.slow
@given(drawn_votes(max_judges=5, max_documents=10), st.data())
def test_order_of_judges_documents_and_topics_changes_nothing(votes: Votes, data: st.DataObject) -> None:
    """Judges and documents in another order change no digit; topics none but the last."""
    results = all_coefficients(votes)
    judges = data.draw(st.permutations(votes.judges))
    moved_judges = votes_of_judges(votes, judges)
    again = all_coefficients(moved_judges)
    for share in (stacked_many_raw, stacked_many_specific):
        assert np.array_equal(share(vote_sums(moved_judges)), share(vote_sums(votes)), equal_nan=True)
    for name in MANY_NAMES:
        one, other = results[name], again[name]
        assert replace(one, standard_error=None) == replace(other, standard_error=None)
    topics = np.array(data.draw(st.permutations(range(len(votes.topics)))))
    moved = votes_from_rows(
        topics[votes.topic_codes[votes.documents]],
        -votes.documents,
        votes.judge_codes,
        votes.places,
        topics=votes.topics,
        judges=votes.judges,
        scale_values=votes.scale_values,
    )
    for name, one in results.items():
        other = many_coefficient(name, moved)  # type: ignore[arg-type]
        assert other.reason == one.reason
        for field in ("value", "standard_error"):
            left, right = getattr(one, field), getattr(other, field)
            assert right == (None if left is None else pytest.approx(left, rel=1e-9, abs=1e-12))


@pytest.mark.slow
@given(drawn_votes(max_judges=4), st.integers(0, 4))
def test_unused_grade_changes_no_alpha(votes: Votes, place: int) -> None:
    """A declared grade that nobody used leaves alpha and Fleiss' unweighted kappa alone."""
    values = [value + (value >= place) for value in votes.scale_values]
    wider = votes_from_rows(
        votes.topic_codes[votes.documents],
        votes.documents,
        votes.judge_codes,
        np.array(values)[votes.places],
        topics=votes.topics,
        judges=votes.judges,
        scale_values=range(votes.n_grades + 1),
    )
    narrow = all_coefficients(votes, values=values)
    wide = all_coefficients(wider)
    for name in ("alpha_nominal", "alpha_ordinal", "alpha_interval", "fleiss"):
        one, other = narrow[name], wide[name]  # type: ignore[index]
        assert one.reason == other.reason
        assert other.value == (None if one.value is None else pytest.approx(one.value, abs=1e-12))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MANY_NAMES if "alpha" not in name])
def test_standard_error_is_the_one_of_leaving_documents_out(name: ManyName) -> None:
    """The error of many documents, cells missing, is that of the jackknife, within a percent."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 4, 1500)
    cells = np.where(rng.random((1500, 5)) < 0.6, truth[:, np.newaxis], rng.integers(0, 4))
    noisy = np.where(rng.random(cells.shape) < 0.3, rng.integers(0, 4, cells.shape), cells)
    missing = rng.random(cells.shape) < 0.5
    documents = [
        "".join(MISSING if gone else str(grade) for grade, gone in zip(*row, strict=True))
        for row in zip(noisy.tolist(), missing.tolist(), strict=True)
    ]
    documents = [text for text in documents if text.strip(MISSING)]
    assert any(len(text.replace(MISSING, "")) == 1 for text in documents)
    whole = votes_in(documents, range(4))
    result = many_coefficient(name, whole)
    alone = np.array([vote_sums(votes_in([text], range(4), n_judges=5))[0] for text in documents])
    left_out = stacked_many(name, alone.sum(axis=0) - alone)
    n = len(documents)
    error = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))
    assert result.standard_error == pytest.approx(error, rel=0.01)


@pytest.mark.slow
def test_perfect_agreement_has_no_error() -> None:
    """Perfect agreement on several grades is 1, and has no standard error."""
    votes = votes_in(["000", "11.", "222", "1.1"], range(3))
    for result in all_coefficients(votes).values():
        assert result.value == pytest.approx(1.0, abs=1e-12)
        assert result.standard_error is None
    assert stacked_many_raw(vote_sums(votes)) == [1.0]


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


@pytest.mark.slow
@pytest.mark.parametrize("documents", [["0.", "1."], ["0.", ".1"]])
def test_votes_without_a_shared_document_have_no_share(documents: list[str]) -> None:
    """Where nobody shares a document there is no share."""
    assert np.isnan(stacked_many_raw(vote_sums(votes_in(documents, range(2))))).all()


@given(drawn_votes(max_judges=5, max_documents=12))
def test_sums_equal_pairs_of_votes_counted_one_by_one(votes: Votes) -> None:
    """Every ordered pair of votes of a document counts 1, 1 / (m - 1) and 1 / (m (m - 1))."""
    n_topics, q = len(votes.topics), votes.n_grades
    squares = np.full((3, n_topics, q, q), Fraction(0))
    given_ = np.full((n_topics, q), Fraction(0))
    n_graded, n_shared = [0] * n_topics, [0] * n_topics
    for topic, text in zip(votes.topic_codes.tolist(), texts_of(votes), strict=True):
        places = [int(place) for place in text if place != MISSING]
        m = len(places)
        n_graded[topic] += 1
        n_shared[topic] += m > 1
        for place in places:
            given_[topic, place] += Fraction(1, m)
        for one, other in permutations(places, 2):
            shares = [Fraction(1), Fraction(1, m - 1), Fraction(1, m * (m - 1))]
            squares[:, topic, one, other] += shares
    sums = vote_sums(votes)
    assert sums.dtype == np.float64
    parts = sums_apart(sums)
    assert parts.pairs.tolist() == squares[0].tolist()
    for part, slow in (
        (parts.coincidences, squares[1]),
        (parts.rates, squares[2]),
        (parts.grade_shares, given_),
    ):
        assert part == pytest.approx(slow.astype(float), rel=1e-14)
    assert (parts.n_graded.tolist(), parts.n_shared.tolist()) == (n_graded, n_shared)


@given(drawn_votes(max_judges=5, max_documents=12), st.data())
def test_sums_do_not_depend_on_the_order_of_judges_and_documents(votes: Votes, data: st.DataObject) -> None:
    """Other orders of judges and of documents change no digit."""
    sums = vote_sums(votes)
    judges = data.draw(st.permutations(votes.judges))
    assert np.array_equal(vote_sums(votes_of_judges(votes, judges)), sums)
    numbers = np.array(data.draw(st.permutations(range(votes.n_documents))), dtype=np.int64)
    shuffled = votes_from_rows(
        votes.topic_codes[votes.documents],
        numbers[votes.documents] if len(numbers) else votes.documents,
        votes.judge_codes,
        votes.places,
        topics=votes.topics,
        judges=votes.judges,
        scale_values=votes.scale_values,
    )
    assert np.array_equal(vote_sums(shuffled), sums)


@pytest.mark.parametrize("n_grades", range(2, 30))
def test_parts_are_found_for_any_scale(n_grades: int) -> None:
    """The number of sums says how many grades the scale has."""
    parts = sums_apart(np.zeros((2, 3 * n_grades**2 + n_grades + 2)))
    assert parts.grade_shares.shape == (2, n_grades)
    assert parts.rates.shape == (2, n_grades, n_grades)
