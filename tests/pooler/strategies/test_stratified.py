"""`pooler.strategies.sampling`: strata of best ranks, each with its share."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.rankings import TopicRankings, rankings_of
from pooler.strategies.sampling import Stratum, draw_stratified, parse_strata
from store.errors import ArgumentError
from tests.strategies import ids

runs = st.lists(st.lists(ids, max_size=9, unique=True), max_size=4)


def ranked(n_documents: int) -> TopicRankings:
    """Rank documents by one run: best ranks are 1, 2, ..., in the order of their numbers."""
    return rankings_of([[f"d{number:04d}" for number in range(n_documents)]], topic="51")[0]


def drawn_of(rankings: TopicRankings, strata: str, budget: int | None, seed: int = 1) -> list[int]:
    """Count the documents drawn from each stratum."""
    sample = draw_stratified(rankings, budget=budget, seed=seed, strata=strata)
    counts = Counter(sample.strata[sample.sampled].tolist())
    return [counts[number] for number in range(1, len(parse_strata(strata)) + 1)]


def test_worked_example() -> None:
    """Two runs by hand: the top rank whole, half of the others; ranks below 3 are not pooled."""
    # Best ranks: a 1, b 2 (run 1) and 1 (run 2), so 1; c 3; d 2; e 4.
    rankings, docnos = rankings_of([["a", "b", "c", "e"], ["b", "d"]], topic="51")
    sample = draw_stratified(rankings, seed=1, strata="1,2:3:0.5")
    assert docnos == ["a", "b", "c", "d", "e"]
    assert sample.strata.tolist() == [1, 1, 2, 2, 0]
    assert sample.inclusion.tolist() == [1.0, 1.0, 0.5, 0.5, 0.0]
    assert sample.sampled.tolist()[:2] == [True, True]
    assert sample.sampled[2] != sample.sampled[3]
    assert not sample.sampled[4]


def test_earlier_stratum_wins_where_two_overlap() -> None:
    """A later stratum gets only what the earlier ones left, and keeps its number."""
    sample = draw_stratified(ranked(12), seed=1, strata="5:8:0.5,1:10:1,9:12:0.25")
    assert sample.strata.tolist() == [2] * 4 + [1] * 4 + [2] * 2 + [3] * 2
    assert sample.inclusion.tolist() == [1.0] * 4 + [0.5] * 4 + [1.0] * 2 + [0.5] * 2


@pytest.mark.parametrize(
    ("size", "rate", "drawn"),
    [
        (10, "0.25", 3),  # 2.5
        (10, "0.24", 2),  # 2.4
        (9, "0.5", 5),  # 4.5
        (100, "0.145", 15),  # 14.5, which is below in binary
        (100, "0.285", 29),  # 28.5, the same
        (3, "0.01", 1),  # 0.03: at least one
        (7, ".999", 7),  # 6.993
        (7, "1.0", 7),
    ],
)
def test_rate_is_rounded_half_up(size: int, rate: str, drawn: int) -> None:
    """A stratum gives rate x size, rounded as on paper, and at least one document."""
    assert drawn_of(ranked(size), f"1:{size}:{rate}", None) == [drawn]


@pytest.mark.parametrize(
    ("strata", "budget", "drawn"),
    [
        ("1:10:1,11:100", 19, [10, 9]),  # 9 of 90
        ("1:10:1,11:100", 500, [10, 90]),  # more than there is
        ("1:10,11:100", 10, [1, 9]),  # 10 x 10/100, 10 x 90/100
        ("1:10,11:100", 15, [2, 13]),  # 1.5 and 13.5: equal remainders, the earlier first
        ("1:10,11:100", 14, [1, 13]),  # 1.4 and 12.6
        ("1:2,3:20,21:100", 10, [1, 2, 7]),  # 0.2, so 1; 9 x 18/98 = 1.65, 9 x 80/98 = 7.35
        ("1:1,2:2,3:100", 3, [1, 1, 1]),
        ("1:50:0.1,51:60,61:100:0.2", 14, [5, 1, 8]),
        ("101:200,1:100", 7, [0, 7]),  # an empty stratum takes no share
        ("101:200:0.5,1:100:0.02", 2, [0, 2]),
    ],
)
def test_strata_without_a_rate_share_what_is_left(strata: str, budget: int, drawn: list[int]) -> None:
    """Shares by size, largest remainders first, at least one each, over 100 documents."""
    assert drawn_of(ranked(100), strata, budget) == drawn


@given(
    rankings=runs,
    cuts=st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True).map(sorted),
    rates=st.lists(st.sampled_from(["", ":1", ":0.5", ":0.34"]), min_size=4, max_size=4),
    budget=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_sample_keeps_every_promise(
    rankings: list[list[str]], cuts: list[int], rates: list[str], budget: int, seed: int
) -> None:
    """Strata by minimum rank, exact sizes and probabilities, budget kept, shares nearly equal."""
    firsts = [1, *(cut + 1 for cut in cuts)]
    strata = ",".join(f"{a}:{b}{rate}" for a, b, rate in zip(firsts, cuts, rates, strict=False))
    table, docnos = rankings_of(rankings, topic="7")
    try:
        sample = draw_stratified(table, budget=budget, seed=seed, strata=strata)
    except ArgumentError:  # the messages have tests of their own
        return
    sizes: Counter[int] = Counter()
    for number, docno in enumerate(docnos):
        best = min(run.index(docno) + 1 for run in rankings if docno in run)
        stratum = next((at + 1 for at, cut in enumerate(cuts) if best <= cut), 0)
        assert sample.strata[number] == stratum
        sizes[stratum] += 1
    drawn = Counter(sample.strata[sample.sampled].tolist())
    assert drawn[0] == 0
    assert drawn.total() <= budget
    open_drawn, open_size = 0, 0
    for number, rate in enumerate(rates[: len(cuts)], start=1):
        inclusion = set(sample.inclusion[sample.strata == number].tolist())
        assert inclusion <= {drawn[number] / max(sizes[number], 1)}
        assert sizes[number] == 0 or drawn[number] > 0
        if rate:
            exact = Fraction(rate[1:]) * sizes[number]
            assert drawn[number] == max(int(exact + Fraction(1, 2)), min(sizes[number], 1))
        else:
            open_drawn += drawn[number]
            open_size += sizes[number]
    fixed = drawn.total() - open_drawn
    assert open_drawn == min(open_size, budget - fixed)
    for number in range(1, len(cuts) + 1):
        if not rates[number - 1] and drawn[number] > 1:
            assert drawn[number] < Fraction(open_drawn * sizes[number], open_size) + 1


@given(rankings=runs, data=st.data())
def test_order_of_runs_changes_nothing(rankings: list[list[str]], data: st.DataObject) -> None:
    """The runs may come in any order."""
    shuffled = data.draw(st.permutations(rankings))
    first, second = (
        draw_stratified(rankings_of(some)[0], seed=1, strata="2,3:8:0.5") for some in (rankings, shuffled)
    )
    assert first.sampled.tolist() == second.sampled.tolist()
    assert first.values.tolist() == second.values.tolist()


def test_every_subset_of_a_stratum_is_as_likely() -> None:
    """Over 4,000 seeds, pairs (1 of 2, 1 of 3) come up as chi-squared allows."""
    n_seeds = 4000
    counts = Counter(
        tuple(draw_stratified(ranked(5), seed=seed, strata="1:2:0.5,3:5:0.3").sampled.nonzero()[0].tolist())
        for seed in range(n_seeds)
    )
    expected = n_seeds / 6
    pairs = list(product((0, 1), (2, 3, 4)))
    chi_squared = sum((counts[pair] - expected) ** 2 / expected for pair in pairs)
    assert sum(counts[pair] for pair in pairs) == n_seeds
    assert chi_squared < 20.52  # 5 degrees of freedom, probability 0.001


def test_one_stratum_of_rate_one_is_a_depth_pool() -> None:
    """`20` is short for 1:20:1, and draws all of it."""
    assert parse_strata("20") == parse_strata("1:20:1") == (Stratum(1, 20, Fraction(1)),)
    sample = draw_stratified(ranked(30), seed=1, strata="20")
    assert np.flatnonzero(sample.sampled).tolist() == list(range(20))


def test_blanks_around_commas_do_not_matter() -> None:
    """A text typed with blanks is the same."""
    assert parse_strata(" 1:10:1 , 11:100") == parse_strata("1:10:1,11:100")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be FROM:TO:RATE, FROM:TO or DEPTH, with commas between: stratum ``"),
        ("1:10,", "stratum ``"),
        ("1:10:0.5:2", "stratum `1:10:0.5:2`"),
        ("1:10;11:20", "must be FROM:TO:RATE"),
        ("1:10:", "stratum `1:10:`"),
        ("1:10:.", "stratum `1:10:.`"),
        ("a:b", "stratum `a:b`"),
        ("1:10:1/2", "stratum `1:10:1/2`"),
        ("1:10:1e-1", "stratum `1:10:1e-1`"),
        ("1:10:nan", "stratum `1:10:nan`"),
        ("-5", "stratum `-5`"),
        ("1:9999999999", "stratum `1:9999999999`"),
        ("0", "must have ranks from 1, the first of a stratum not above its last: stratum `1:0:1`"),
        ("0:10", "must have ranks from 1"),
        ("1:10,20:11", "stratum `20:11`"),
        ("1:10:0", "must have rates above 0 and at most 1: stratum `1:10:0`"),
        ("1:10:1.01", "must have rates above 0 and at most 1"),
    ],
)
def test_text_that_is_no_strata_is_refused_naming_the_stratum(text: str, message: str) -> None:
    """One clear error names what was typed and what it should be."""
    with pytest.raises(ArgumentError) as caught:
        parse_strata(text)
    assert caught.value.name == "strata"
    assert message in caught.value.message
    assert caught.value.message.endswith(f"but got {text!r}")


@pytest.mark.parametrize(
    ("strata", "budget", "message"),
    [
        ("1:10:1,11:100", None, "must be given: stratum 11:100 has no rate"),
        ("1:10:1", 9, "must be at least 10 for topic `51`: 10 by the rates of its strata, but"),
        ("1:10:1,11:20,21:30", 11, "must be at least 12 for topic `51`: 10 by the rates of its"
         " strata, and one from each of the 2 without a rate, but got 11"),
    ],
)  # fmt: skip
def test_budget_that_is_missing_or_too_small_is_refused(
    strata: str, budget: int | None, message: str
) -> None:
    """The error says what this topic needs."""
    with pytest.raises(ArgumentError) as caught:
        draw_stratified(ranked(100), budget=budget, seed=1, strata=strata)
    assert caught.value.name == "budget"
    assert message in caught.value.message


def test_no_documents_are_an_empty_sample() -> None:
    """Without runs there is nothing to draw."""
    assert draw_stratified(rankings_of([])[0], budget=3, seed=1, strata="1:10").sampled.size == 0
