"""Near pairs against all pairs compared by Python's own sets; duplicates planted among real abstracts."""

from __future__ import annotations

import random
import re
import time
import unicodedata
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.duplicates import (
    ShingleSets,
    as_threshold,
    components,
    least_shared,
    near_pairs,
    shingle_sets,
    words_of,
)
from store.errors import ArgumentError
from tests.helpers.cf_collection import load_documents

FOX = "The quick brown fox jumps over the lazy dog near the old river bank today"
CJK = "トマトの育て方を学ぶための本です"


def plain_shingles(text: str) -> set[tuple[str, ...]]:
    """Make the shingles of a text by the definition, of texts of ASCII words."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    if not words:
        return set()
    length = 5 if len(words) >= 30 else min(3, len(words))
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


def plain_pairs(texts: list[str], least: Fraction) -> dict[tuple[int, int], tuple[int, int]]:
    """Compare every pair of texts."""
    sets = [plain_shingles(text) for text in texts]
    found = {}
    for one, other in combinations(range(len(texts)), 2):
        shared, united = len(sets[one] & sets[other]), len(sets[one] | sets[other])
        if united and Fraction(shared, united) >= least:
            found[one, other] = shared, united
    return found


def found_pairs(texts: list[str], least: Fraction | float) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the same as the join has it, what has the same words as another in its place."""
    sets = shingle_sets(texts)
    pairs = near_pairs(sets, least)
    columns = (pairs.first, pairs.second, pairs.shared, pairs.united)
    near = {(a, b): (s, u) for a, b, s, u in zip(*(one.tolist() for one in columns), strict=True)}
    twins = sets.twins.tolist()
    every = {}
    for one, other in combinations(range(len(texts)), 2):
        first, second = sorted((twins[one], twins[other]))
        if first == second:
            every[one, other] = (int(sets.sizes[first]),) * 2
        elif (first, second) in near:
            every[one, other] = near[first, second]
    return every


def test_reference_vectors_of_a_sentence() -> None:
    """Two ways to write it share 13 of 13, another animal 10 of 16: .6 takes all, .65 the first pair."""
    texts = [FOX, f"{FOX.lower()}!", FOX.replace("dog", "cat")]
    assert found_pairs(texts, 0.6) == {(0, 1): (13, 13), (0, 2): (10, 16), (1, 2): (10, 16)}
    assert found_pairs(texts, 0.65) == {(0, 1): (13, 13)}


def test_reference_vectors_of_japanese() -> None:
    """A full stop is no word: 14 of 14; of cucumbers instead of tomatoes 11 of 18 are alike."""
    texts = [CJK, f"{CJK}。", CJK.replace("トマト", "きゅうり")]
    assert found_pairs(texts, 0.6) == {(0, 1): (14, 14), (0, 2): (11, 18), (1, 2): (11, 18)}


def test_words_are_normalised() -> None:
    """Compatibility forms and case go; Han, kana and Hangul are words of one character; a dot is none."""
    assert words_of("ﬁ ＡＢ ß") == ["fi", "ab", "ss"]
    assert words_of("漢字ab가나 x・y ｶﾅ") == ["漢", "字", "ab", "가", "나", "x", "y", "カ", "ナ"]
    assert words_of("𠮷野 naïve_1") == ["𠮷", "野", "naïve_1"]
    assert words_of(" -- ") == []


@st.composite
def edited(draw: st.DrawFn) -> list[str]:
    """Draw texts of which many are edits of others, around the length where shingles change, too."""
    bases = draw(st.lists(st.lists(st.sampled_from("abcdefghijk"), max_size=40), min_size=1, max_size=4))
    texts = []
    for _ in range(draw(st.integers(1, 14))):
        words = list(draw(st.sampled_from(bases)))
        for _ in range(draw(st.integers(0, 4))):
            place = draw(st.integers(0, len(words)))
            words[place : place + draw(st.integers(0, 1) | st.just(40))] = draw(
                st.lists(st.sampled_from("abxyz"), max_size=2)
            )
        texts.append(" ".join(words))
    return texts


@given(texts=edited(), data=st.data())
def test_join_finds_every_pair_and_no_other(texts: list[str], data: st.DataObject) -> None:
    """What the prefixes leave out is nothing, at a threshold that some pair just reaches, too."""
    every = plain_pairs(texts, Fraction(1, 10**9))
    just = {Fraction(shared, united) for shared, united in every.values()}
    for least in [*sorted(just), data.draw(st.fractions(Fraction(1, 50), 1))]:
        expected = {pair: both for pair, both in every.items() if Fraction(*both) >= least}
        assert found_pairs(texts, least) == expected


@given(texts=edited())
def test_clusters_are_what_chains_of_near_pairs_join(texts: list[str]) -> None:
    """Whoever is reached from a document by near pairs is of its cluster, and nobody else."""
    least = Fraction(3, 5)
    sets = shingle_sets(texts)
    roots = components(near_pairs(sets, least), sets.twins).tolist()
    reached = {place: {place} for place in range(len(texts))}
    for one, other in plain_pairs(texts, least):
        joined = reached[one] | reached[other]
        for place in joined:
            reached[place] = joined
    assert [min(reached[place]) for place in range(len(texts))] == roots
    for root in set(roots):
        members = [place for place, one in enumerate(roots) if one == root]
        plain = [plain_shingles(texts[place]) for place in members]
        if len(members) > 1:
            every = [Fraction(len(a & b), len(a | b)) for a, b in combinations(plain, 2)]
            shared = least_shared(sets, members)
            assert shared is not None
            assert Fraction(*shared) == min(every)


@pytest.mark.parametrize("threshold", [0, -0.1, 1.0001, float("nan"), "x", "1/0", float("inf")])
def test_threshold_must_be_a_share(threshold: float | str) -> None:
    """It is above 0 and at most 1."""
    with pytest.raises(ArgumentError, match="must be above 0 and at most 1"):
        as_threshold(threshold)
    assert as_threshold("2/3") == Fraction(2, 3)


N_PLANTED = 200
SHARES = (0.0, 0.05, 0.1, 0.2)
Edit = Callable[[Sequence[str], float, Sequence[str], random.Random], list[str]]


def scattered(words: Sequence[str], share: float, others: Sequence[str], dice: random.Random) -> list[str]:
    """Replace, remove or add before a share of the words, wherever they stand."""
    edited = list(words)
    for place in sorted(dice.sample(range(len(words)), round(share * len(words))), reverse=True):
        way = dice.randrange(3)
        edited[place : place + (way < 2)] = [dice.choice(others)] if way else []
    return edited


def one_block(words: Sequence[str], share: float, others: Sequence[str], dice: random.Random) -> list[str]:
    """Replace a share of the words that stand together."""
    n = round(share * len(words))
    first = dice.randrange(len(words) - n + 1)
    return [*words[:first], *dice.choices(others, k=n), *words[first + n :]]


EDITS: dict[str, Edit] = {"scattered": scattered, "one block": one_block}


def plant(edit: Edit) -> tuple[list[str], dict[tuple[int, int], float]]:
    """Return the abstracts with their copies behind them, and the share edited of every planted pair."""
    texts = [f"{one.title}\n{one.text or ''}" for one in load_documents()]
    dice = random.Random(29)
    others = [word for text in texts for word in words_of(text)]
    long = [place for place, text in enumerate(texts) if len(words_of(text)) >= 40]
    planted = {}
    for share in SHARES:
        for place in dice.sample(long, N_PLANTED):
            planted[place, len(texts)] = share
            texts.append(" ".join(edit(words_of(texts[place]), share, others, dice)))
    return texts, planted


def pairs_with_twins(sets: ShingleSets, threshold: float) -> set[tuple[int, int]]:
    """Return the pairs that are found, what has the same words as another in its place, too."""
    pairs = near_pairs(sets, threshold)
    near = set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    by_twin: dict[int, list[int]] = {}
    for place, twin in enumerate(sets.twins.tolist()):
        by_twin.setdefault(twin, []).append(place)
    every = {(a, b) for one, other in near for a in by_twin[one] for b in by_twin[other]}
    every |= {(a, b) for group in by_twin.values() for a in group for b in group if a < b}
    return {(min(pair), max(pair)) for pair in every}


@pytest.mark.slow
@pytest.mark.parametrize("kind", EDITS)
def test_planted_near_duplicates_are_found(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All copies are, edited ones exactly where the Jaccard of Python's own sets reaches the threshold."""
    texts, planted = plant(EDITS[kind])
    begun = time.perf_counter()
    sets = shingle_sets(texts)
    lines = []
    # A copy of a copied abstract is one of its content, too.
    origin = {copy: place for place, copy in planted}
    for threshold in (0.8, 0.5, 0.3):
        found = pairs_with_twins(sets, threshold)
        for pair, share in planted.items():
            one, other = (plain_shingles(texts[place]) for place in pair)
            jaccard = Fraction(len(one & other), len(one | other))
            assert (pair in found) == (jaccard >= Fraction(str(threshold))), (pair, share, jaccard)
        right = sum(origin.get(a, a) == origin.get(b, b) for a, b in found)
        recalls = [
            sum(pair in found for pair, one in planted.items() if one == share) / N_PLANTED
            for share in SHARES
        ]
        assert recalls[0] == 1
        lines.append(
            f"{kind}, J >= {threshold}: recall of exact, 5, 10, 20 %: {recalls};"
            f" {right} of {len(found)} pairs found are of one abstract"
        )
    with capsys.disabled():
        took = f"{len(texts)} texts, {time.perf_counter() - begun:.1f} s"
        print("", *lines, took, sep="\n")  # noqa: T201 - figures that are reported
