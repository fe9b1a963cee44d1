"""Near-duplicates planted among real abstracts: exact ones, and edits of 5, 10 and 20 % of the words."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from store.analysis.duplicates import ShingleSets, near_pairs, shingle_sets, words_of
from tests.cf_collection import load_documents

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


def plain(text: str) -> set[tuple[str, ...]]:
    """Make the shingles of five words of a text of thirty or more."""
    words = words_of(text)
    return {tuple(words[place : place + 5]) for place in range(len(words) - 4)}


def found_pairs(sets: ShingleSets, threshold: float) -> set[tuple[int, int]]:
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
        found = found_pairs(sets, threshold)
        for pair, share in planted.items():
            one, other = plain(texts[pair[0]]), plain(texts[pair[1]])
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
