"""Agreement of two judges and of many: published tables, other programs, definitions in fractions."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from store.analysis.agreement.intervals import ratio_of_sums
from store.analysis.agreement.kappa import (
    WEIGHTS,
    MacroOverlap,
    RelevantCounts,
    Weights,
    macro_overlap,
    macro_sums,
    relevant_to_all,
    stacked_overlap,
    stacked_raw,
    stacked_specific,
)
from store.analysis.agreement.many import (
    MANY_NAMES,
    ManyName,
    all_judges,
    stacked_many,
    stacked_many_raw,
    stacked_many_specific,
)
from store.analysis.agreement.tables import PAIR_NAMES, StackName, pair_tables, stacked, vote_sums
from store.analysis.agreement.votes import PopulationVotes, Votes, collapse_table, grade_counts, level_index
from store.errors import UnknownNameError
from store.records import Grade
from tests.helpers.agreement_tables import (
    ANXIETY,
    ANXIETY_DECLARED,
    ANXIETY_OCCURRING,
    CF_KAPPAS,
    FLEISS_CATEGORIES,
    JUDGES_TABLES,
    KAPPA_TABLES,
    JudgesTable,
    KappaTable,
    assert_prints,
)
from tests.helpers.cf_collection import SCALE, load_judgements
from tests.helpers.graded_votes import (
    MISSING,
    Table,
    drawn_votes,
    expand,
    graded_tables,
    relevant_in,
    texts_of,
    two_columns,
    votes_in,
    votes_of,
)
from tests.helpers.world import make_scale, parse_scale

KAPPAS: dict[Weights, StackName] = {"none": "kappa", "linear": "linear", "quadratic": "quadratic"}
TABLES = [
    pytest.param(vector, id=vector.name, marks=pytest.mark.vector(vector.source)) for vector in KAPPA_TABLES
]
NAN = float("nan")
N_CF_UNLISTED = 100 * 1239 - 4819


@pytest.mark.parametrize("vector", TABLES)
def test_published_table_gives_printed_digits(vector: KappaTable) -> None:
    """Every published coefficient, observed and expected agreement, to every printed digit."""
    for weights, kappa in vector.kappas:
        assert_prints(kappa, float(stacked(KAPPAS[weights], vector.table)))  # type: ignore[index]
    for name, value in vector.others:
        assert_prints(value, float(stacked(name, vector.table)))  # type: ignore[arg-type]
    observed, kappa_ = float(stacked("raw", vector.table)), float(stacked("kappa", vector.table))
    if vector.observed is not None:
        assert_prints(vector.observed, observed)
    if vector.expected is not None:
        assert_prints(vector.expected, (observed - kappa_) / (1 - kappa_))


@pytest.mark.vector("R irr, anxiety data; scikit-learn with labels=")
def test_kappa_unused_grade_counts_when_declared() -> None:
    """A declared grade that nobody used widens the distance between its neighbours."""
    first, second = ([int(grade) - 1 for grade in grades] for grades in ANXIETY)
    assert sorted({*first, *second}) == [0, 1, 2, 3, 5]
    declared = np.zeros((6, 6), dtype=np.int64)
    np.add.at(declared, (first, second), 1)
    squeezed = np.delete(np.delete(declared, 4, axis=0), 4, axis=1)
    for table, printed in ((squeezed, ANXIETY_OCCURRING), (declared, ANXIETY_DECLARED)):
        for weights, kappa in printed:
            assert_prints(kappa, float(stacked(KAPPAS[weights], table)))  # type: ignore[index]


@pytest.mark.vector("scikit-learn 1.9.1 on the Cystic Fibrosis collection")
def test_kappa_cf_collection_gives_known_kappas() -> None:
    """All six judge pairs of the CF collection have the kappas measured by scikit-learn."""
    votes = votes_of(load_judgements(), SCALE)
    assert votes.n_documents == 4819
    for (first, second), printed in CF_KAPPAS.items():
        tables = pair_tables(votes, first, second)
        assert tables.shape == (100, 3, 3)
        overall = tables.sum(axis=0)
        everything = overall + np.diag([N_CF_UNLISTED, 0, 0])
        found = [
            *(stacked(name, overall) for name in KAPPAS.values()),
            *(stacked("kappa", collapse_table(overall, level)) for level in (1, 2)),
            *(stacked("kappa", everything), stacked("kappa", collapse_table(everything, 1))),
        ]
        for expected, kappa in zip(printed.split(), found, strict=True):
            assert_prints(expected, float(kappa))


def test_coefficients_of_a_table_by_hand() -> None:
    """Every coefficient of one table is the one that its definition gives by hand."""
    table = np.array([[3, 1, 0], [0, 1, 0], [0, 1, 1]])
    expected = {
        "kappa": 18 / 32,  # Po = 5/7 = 35/49, Pe = (4*3 + 1*3 + 2*1) / 49 = 17/49
        # Linear costs: observed 2; by chance 4*3 + 4*1*2 + 1*3 + 1*1 + 2*3*2 + 2*3 = 42; 1 - 7*2/42.
        "linear": (42 - 14) / 42,
        # Squared costs: by chance 4*3 + 4*1*4 + 1*3 + 1*1 + 2*3*4 + 2*3 = 62; 1 - 7*2/62.
        "quadratic": (62 - 14) / 62,
        # m = (7, 4, 3) / 14: Pe of pi 74/196, of AC1 (1 - 74/196) / 2 = 61/196; of S 1/3.
        "pi": (140 - 74) / (196 - 74),
        "ac1": (140 - 61) / (196 - 61),
        "s": (15 - 7) / (21 - 7),
        # Two of 14 votes' pairs disagree each way: 1 - 13 * 4 / (2 * (7*4 + 7*3 + 4*3)).
        "alpha_nominal": 1 - 52 / 122,
    }
    found = {name: float(stacked(name, table)) for name in expected}  # type: ignore[arg-type]
    assert found == pytest.approx(expected, rel=1e-14)
    binary = collapse_table(table, 1)
    # Pe = (4*3 + 3*4) / 49; kappa = (42 - 24) / (49 - 24).
    assert stacked("kappa", binary) == pytest.approx(18 / 25, rel=1e-14)
    assert (stacked("raw", binary), stacked("positive", binary)) == (6 / 7, 6 / 7)
    assert (stacked("overlap", binary), stacked("overlap", collapse_table(table, 2))) == (3 / 4, 1 / 2)
    # Agreement on a grade is 2 n_kk / (r_k + c_k), rows 4 1 2, columns 3 3 1; a grade nobody gave has none.
    padded = stacked_specific(np.pad(table, ((0, 1), (0, 1)))).tolist()
    assert padded == pytest.approx([6 / 7, 2 / 4, 2 / 3, NAN], nan_ok=True)
    # Two documents are enough: half of the agreement is expected by chance.
    assert stacked("kappa", np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])).tolist() == [1.0, -1.0]


NOTHING = dict.fromkeys(PAIR_NAMES, NAN)


@pytest.mark.parametrize(
    ("first", "second", "n_grades", "expected"),
    [
        ("1111111111", "1111111111", 4, {**NOTHING, "raw": 1.0}),
        # Judge a gives 1 alone, b 0 and 1 evenly: Po = 1/2, m = (1/4, 3/4). Pe of kappa 1/2, of pi 5/8, of S
        # 1/2, of AC1 2 * 1/4 * 3/4 = 3/8; on a declared scale of 4 grades, of S 1/4, of AC1 3/8 / 3 = 1/8.
        # n = 20 votes, 5 of 0 and 15 of 1; o_01 = 5: alpha is 1 - 19 * 10 / (2 * 75).
        ("1111111111", "0000011111", 2, {"kappa": 0, "pi": -1 / 3, "s": 0, "ac1": 1 / 5, "raw": 0.5}),
        ("1111111111", "0000011111", 4, {"quadratic": 0, "s": 1 / 3, "ac1": 3 / 7, "alpha_ordinal": -4 / 15}),
        # a gives 0, b gives 1: Po = 0, m = (1/2, 1/2). Pe is 1/2 for pi, S and AC1; on the scale of 4
        # grades, of S 1/4, of AC1 1/2 / 3 = 1/6. o_01 = 10 of n_0 = n_1 = 10: 1 - 19 * 20 / (2 * 100).
        ("0000000000", "1111111111", 2, {"kappa": 0, "pi": -1, "s": -1, "ac1": -1, "raw": 0}),
        ("0000000000", "1111111111", 4, {"linear": 0, "s": -1 / 3, "ac1": -1 / 5, "alpha_interval": -0.9}),
        ("012...", "...012", 4, {**NOTHING, "raw": NAN}),
        ("1..", "1..", 4, {**NOTHING, "raw": 1}),
        ("1..", "2..", 4, {**NOTHING, "raw": 0}),
        # Po = 3/4; rows 2/4, 2/4; columns 1/4, 3/4; Pe = 2/16 + 6/16 = 1/2; kappa = (1/4) / (1/2).
        # Votes 0 0 0 1 1 1 1 1, o_01 = 1: 1 - 7 * 2 / (2 * 15).
        ("0101.1", "01111.", 4, {"kappa": 0.5, "alpha_nominal": 8 / 15}),
    ],
    ids=["D1", "D2", "D2-declared", "D3", "D3-declared", "D4", "D6", "D6-differ", "D9"],
)
def test_degenerate_tables_have_the_stated_answers(
    first: str, second: str, n_grades: int, expected: dict[StackName, float]
) -> None:
    """D1 to D9: a number where there is one, NaN where there is none, on the declared scale."""
    tables = pair_tables(two_columns(first, second, range(n_grades)), "judge 0", "judge 1")
    found = {name: float(stacked(name, tables)[0]) for name in expected}
    assert found == pytest.approx(expected, abs=1e-14, nan_ok=True)


@given(graded_tables(), st.sampled_from(WEIGHTS))
def test_kappa_equals_other_programs(table: Table, weights: Weights) -> None:
    """scikit-learn's with the declared grades as labels, and statsmodels'."""
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import cohens_kappa

    kappa = float(stacked(KAPPAS[weights], table))
    if np.isnan(kappa):
        return
    named = None if weights == "none" else weights
    peer = cohen_kappa_score(*expand(table), labels=list(range(len(table))), weights=named)
    assert kappa == pytest.approx(peer, rel=1e-12, abs=1e-12)
    with warnings.catch_warnings():
        # statsmodels takes the root of a difference that may be a hair below 0, and divides by it.
        warnings.simplefilter("ignore", RuntimeWarning)
        theirs = cohens_kappa(table, wt=named)
    assert kappa == pytest.approx(theirs.kappa, rel=1e-9, abs=1e-9)


@given(graded_tables(), st.integers(0, 5))
def test_unused_grade_is_free_but_for_s_and_ac1(table: Table, place: int) -> None:
    """Wherever it stands on the scale; and 1 - alpha = (1 - pi) (1 - 1 / 2N)."""
    place = min(place, len(table))
    wider = np.insert(np.insert(table, place, 0, axis=0), place, 0, axis=1)
    values = [grade + (grade >= place) for grade in range(len(table))]
    for name in ("kappa", "pi", "alpha_nominal", "alpha_ordinal", "alpha_interval"):
        one, other = float(stacked(name, table, values)), float(stacked(name, wider))
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)
    for name in ("s", "ac1"):
        one, other = float(stacked(name, table)), float(stacked(name, wider))
        assert np.isnan(one) or one == 1 or one != other
    shrink = 1 - 1 / (2 * max(int(table.sum()), 1))
    expected = 1 - (1 - float(stacked("pi", table))) * shrink
    assert float(stacked("alpha_nominal", table)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.vector("Manning, Raghavan and Schütze 2008, table 8.2; scikit-learn's jaccard_score")
def test_overlap_ir_book_table_gives_printed_digits() -> None:
    """The overlap of the IR book's table is .909091, its positive agreement 600 / 630."""
    table = KAPPA_TABLES[0].table[::-1, ::-1]  # the book writes relevant first
    assert_prints("0.909091", float(stacked_overlap(table)))
    # 300 relevant to both, 310 and 320 relevant to one judge: 2 * 300 / (310 + 320).
    assert stacked_specific(table)[1] == 600 / 630


def test_overlap_of_nothing_is_no_number_and_of_disjoint_sets_0() -> None:
    """Judges who found nothing relevant have no overlap, which is neither 0 nor 1."""
    table = np.array([[[4, 0], [0, 0]], [[4, 1], [2, 0]]])
    assert stacked_overlap(table).tolist() == pytest.approx([NAN, 0], nan_ok=True)
    assert stacked_specific(table)[:, 1].tolist() == pytest.approx([NAN, 0], nan_ok=True)


def test_macro_overlap_averages_topics_and_counts_the_others() -> None:
    """Voorhees' overlap is a mean over topics, of which undefined ones are left out and counted."""
    tables = np.array(
        [
            [[5, 0], [1, 1]],  # 1 / 2
            [[0, 0], [0, 3]],  # 3 / 3
            [[9, 2], [1, 0]],  # 0 / 3
            [[4, 0], [0, 0]],  # nothing relevant
            [[0, 0], [0, 0]],  # no common document
        ]
    )
    assert macro_overlap(relevant_in(tables)) == MacroOverlap(0.5, None, 3)
    assert stacked_overlap(tables.sum(axis=0)) == 4 / 8  # 4 of 8: topics thrown together
    assert macro_overlap(relevant_in(tables[3:])) == MacroOverlap(None, "no-relevant", 0)
    for rest in (tables[4:], tables[:0]):
        assert macro_overlap(relevant_in(rest)) == MacroOverlap(None, "no-common-docs", 0)


@given(graded_tables(), st.integers(1, 4))
def test_overlap_random_table_equals_scikit_learn(table: Table, level: int) -> None:
    """Overlap is the Jaccard score of the documents at or above the level."""
    from sklearn.metrics import jaccard_score

    level = min(level, len(table) - 1)
    first, second = (grades >= level for grades in expand(table))
    expected = jaccard_score(first, second) if first.any() or second.any() else NAN
    assert float(stacked_overlap(collapse_table(table, level))) == pytest.approx(expected, nan_ok=True)


@given(drawn_votes(max_judges=4), st.integers(1, 3))
def test_relevant_to_all_equals_sets(votes: Votes, level: int) -> None:
    """Of any number of judges, over documents that all graded: what all and what any found."""
    level = min(level, votes.n_grades - 1)
    counts = relevant_to_all(votes, level)
    expected = np.zeros((3, len(votes.topics)), dtype=int)
    for topic, text in zip(votes.topic_codes.tolist(), texts_of(votes), strict=True):
        if MISSING not in text:
            relevant = [int(place) >= level for place in text]
            expected[:, topic] += (1, all(relevant), any(relevant))
    assert np.array(counts).tolist() == expected.tolist()
    if len(votes.judges) == 2:
        tables = collapse_table(pair_tables(votes, *votes.judges), level)
        assert np.array(relevant_in(tables)).tolist() == expected.tolist()


def test_macro_overlap_of_three_judges_by_hand() -> None:
    """Three judges' overlap is all three sets' intersection over their union, topic by topic."""
    votes = votes_in(["111", "110", "000", "11.", "222", "021"], range(3), topics=[0, 0, 0, 0, 1, 1])
    # Topic 1: 1 of 2 (the fourth document lacks a judge); topic 2: 1 of 2; topic 3: no document.
    assert macro_overlap(relevant_to_all(votes, 1)) == MacroOverlap(0.5, None, 2)
    # At level 2 topic 1 has no relevant document, topic 2 has 1 of 2.
    assert macro_overlap(relevant_to_all(votes, 2)) == MacroOverlap(0.5, None, 1)


@given(drawn_votes(max_judges=3, max_documents=12))
def test_macro_sums_give_the_macro_overlap(votes: Votes) -> None:
    """Sums over topics give the mean back, and weights count topics several times."""
    counts = relevant_to_all(votes, 1)
    sums = macro_sums(counts)
    for weights in ([1, 1, 1], [2, 0, 1]):
        drawn = np.repeat(np.arange(len(sums)), weights[: len(sums)])
        exact = macro_overlap(RelevantCounts(*(column[drawn] for column in counts))).value
        mean = float(ratio_of_sums(np.array(weights[: len(sums)]) @ sums))
        assert mean == pytest.approx(NAN if exact is None else exact, nan_ok=True, rel=1e-15)


@given(drawn_votes(max_judges=4))
def test_tables_of_a_pair_count_documents_graded_by_both(votes: Votes) -> None:
    """A topic's table counts the documents graded by both, and transposed the other way round."""
    grades, topics = [str(place) for place in range(votes.n_grades)], range(len(votes.topics))
    for first, second in combinations(range(len(votes.judges)), 2):
        seen = Counter(
            (topic, text[first], text[second])
            for topic, text in zip(votes.topic_codes.tolist(), texts_of(votes), strict=True)
        )
        names = votes.judges[first], votes.judges[second]
        tables = pair_tables(votes, *names)
        assert tables.tolist() == [[[seen[topic, a, b] for b in grades] for a in grades] for topic in topics]
        assert np.array_equal(pair_tables(votes, *names[::-1]), tables.transpose(0, 2, 1))
    with pytest.raises(UnknownNameError, match="unknown judge `ann`; known: `judge 0`"):
        pair_tables(votes, "judge 0", "ann")


@given(arrays(np.int64, (3, 2, 4, 4), elements=st.integers(0, 9)), st.integers(1, 3))
def test_collapse_table_equals_collapsing_the_grades(tables: NDArray[np.int64], level: int) -> None:
    """A collapsed table counts the collapsed grades of the same documents."""
    collapsed = collapse_table(tables, level)
    for stack in np.ndindex(3, 2):
        expected = np.zeros((2, 2), dtype=np.int64)
        for (row, column), count in np.ndenumerate(tables[stack]):
            expected[int(row >= level), int(column >= level)] += count
        assert collapsed[stack].tolist() == expected.tolist()


def test_level_index_is_the_least_relevant_place() -> None:
    """The place is that of the least grade at or above the level, on scales with gaps too."""
    gaps = make_scale(tuple(Grade(value, f"g{value}", key) for value, key in ((-2, "j"), (0, "0"), (3, "3"))))
    assert [level_index(parse_scale("0-3"), level) for level in (1, 2, 3)] == [1, 2, 3]
    assert [level_index(gaps, level) for level in (-1, 0, 1, 2, 3)] == [1, 1, 2, 2, 2]


MANY_TABLES = [
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


@pytest.mark.parametrize("vector", MANY_TABLES)
def test_published_table_of_many_judges_gives_printed_digits(vector: JudgesTable) -> None:
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
    from statsmodels.stats.inter_rater import fleiss_kappa

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
