"""Two qrels: every pair once, three states apart, and what the difference does to runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.pools.differences import ChangeKind, order_effect, qrels_diff
from store.analysis.rankings import JudgedRankings, judged_rankings
from store.errors import ArgumentError
from store.records import Qrel

CODES = st.integers(-2, 2)
FILES = st.dictionaries(
    st.tuples(st.sampled_from(["1", "001", "NA", "10"]), st.sampled_from("abA")), CODES, max_size=12
)


def as_qrels(codes: dict[tuple[str, str], int]) -> list[Qrel]:
    """Turn codes by topic and docno into lines."""
    return [Qrel(topic, docno, code) for (topic, docno), code in codes.items()]


def obvious_kind(before: int | None, after: int | None) -> ChangeKind:
    """Say what became of a document, one case after the other; -1 alone is no judgement."""
    if before is None:
        return ChangeKind.LISTED if after == -1 else ChangeKind.ADDED
    if after is None:
        return ChangeKind.UNLISTED if before == -1 else ChangeKind.REMOVED
    if before == -1:
        return ChangeKind.NOW_JUDGED
    return ChangeKind.NOW_UNJUDGED if after == -1 else ChangeKind.CHANGED


@given(FILES, FILES)
def test_every_pair_is_counted_once_and_of_the_right_kind(
    before: dict[tuple[str, str], int], after: dict[tuple[str, str], int]
) -> None:
    """Differences, likes and the table of codes are those of a plain walk over all pairs."""
    found = qrels_diff(as_qrels(before), as_qrels(after))
    differing = {}
    pairs: dict[tuple[int | None, int | None], int] = {}
    for pair in before.keys() | after.keys():
        codes = (before.get(pair), after.get(pair))
        pairs[codes] = pairs.get(codes, 0) + 1
        if codes[0] != codes[1]:
            differing[pair] = (*codes, obvious_kind(*codes))
    told = {(one.topic, one.docno): (one.before, one.after, one.kind) for one in found.differences}
    assert told == differing
    assert len(found.differences) == len(differing)
    assert found.pairs == pairs
    assert found.n_same == sum(before[pair] == after.get(pair) for pair in before)
    assert sum(found.counts().values()) == len(differing)
    assert set(found.same) == {topic for topic, _ in before.keys() | after.keys()}


@given(FILES, FILES)
def test_turning_the_files_about_turns_every_difference_about(
    before: dict[tuple[str, str], int], after: dict[tuple[str, str], int]
) -> None:
    """B against A has the same documents, with the grades and the crossings the other way."""
    there = qrels_diff(as_qrels(before), as_qrels(after))
    back = qrels_diff(as_qrels(after), as_qrels(before))
    assert [(one.topic, one.docno, one.after, one.before) for one in there.differences] == [
        (one.topic, one.docno, one.before, one.after) for one in back.differences
    ]
    assert there.same == back.same
    assert there.crossings(1) == back.crossings(1)[::-1]


def test_ids_are_text_and_topics_come_in_natural_order() -> None:
    """Topic 001 is not 1, docno A is not a, and 9 comes before 10."""
    before = [Qrel("10", "a", 1), Qrel("9", "a", 1), Qrel("1", "A", 0)]
    after = [Qrel("001", "a", 1), Qrel("1", "a", 0)]
    found = qrels_diff(before, after)
    assert [(one.topic, one.docno, one.kind) for one in found.differences] == [
        ("001", "a", ChangeKind.ADDED),
        ("1", "A", ChangeKind.REMOVED),
        ("1", "a", ChangeKind.ADDED),
        ("9", "a", ChangeKind.REMOVED),
        ("10", "a", ChangeKind.REMOVED),
    ]


def test_negative_codes_are_unjudged_unless_they_are_grades() -> None:
    """From -1 to 0 a document is now judged; on a scale with -1 its grade changed."""
    before, after = [Qrel("1", "a", -1)], [Qrel("1", "a", 0)]
    [difference] = qrels_diff(before, after).differences
    assert difference.kind is ChangeKind.NOW_JUDGED
    [difference] = qrels_diff(before, after, unjudged=()).differences
    assert difference.kind is ChangeKind.CHANGED


def test_another_iteration_is_no_other_judgement() -> None:
    """The same grade of another round is alike, and counted."""
    found = qrels_diff([Qrel("1", "a", 1, "0")], [Qrel("1", "a", 1, "2")])
    assert (found.differences, found.n_same, found.n_iterations) == ((), 1, 1)


def test_document_twice_in_a_topic_is_refused() -> None:
    """Which of two grades counts is never guessed."""
    with pytest.raises(ArgumentError, match="`after` must have each document once a topic"):
        qrels_diff([], [Qrel("1", "a", 1), Qrel("1", "a", 1)])


def arrays(*relevant: bool) -> JudgedRankings:
    """Lay judgements of documents 0, 1, 2 of one topic over three runs."""
    rankings = {
        ("x", "1"): np.array([0, 1, 2]),
        ("y", "1"): np.array([1, 0, 2]),
        ("z", "1"): np.array([2, 1, 0]),
    }
    judged = {"1": (np.arange(3), np.array(relevant))}
    return judged_rankings(["1"], ("x", "y", "z"), rankings, judged, cutoff=10)


def test_effect_on_runs_is_that_of_a_hand_calculation() -> None:
    """One relevant document at ranks 1, 2, 3, then another at ranks 3, 3, 1: APs and places.

    Before: APs 1, 1/2, 1/3. After: 1/3, 1/3, 1. Of three pairs x-z and y-z swap, and x-y is tied
    after: tau-b = -2 / sqrt(3 * 2). tau_AP with the first places before: place 2 has the tied run
    above, which is half right; place 3 has two runs above, both wrong: 2/2 * (.5/1 + 0/2) - 1. With
    the first places after: x and y share places 2 and 3, each below z, which is wrong, and half
    right for each other: 2/2 * (0/1 + .5/2) - 1.
    """
    effect = order_effect(arrays(True, False, False), arrays(False, False, True))
    assert effect.map_before == pytest.approx([1, 1 / 2, 1 / 3])
    assert effect.map_after == pytest.approx([1 / 3, 1 / 3, 1])
    assert (effect.places_before, effect.places_after) == ((1, 2, 3), (2, 2, 1))
    assert effect.tau.tau == pytest.approx(-2 / 6**0.5)
    assert effect.tau_ap.tau == pytest.approx(-1 / 2)
    assert effect.tau_ap_reversed.tau == pytest.approx(-3 / 4)
    assert effect.n_swapped == 2


def test_order_without_a_relevant_document_is_undefined() -> None:
    """Where one file has nothing relevant there is no MAP, no tau and no count of swaps."""
    effect = order_effect(arrays(True, False, False), arrays(False, False, False))
    assert (effect.n_topics_before, effect.n_topics_after) == (1, 0)
    assert np.isnan(effect.map_after).all()
    assert effect.places_after == (None, None, None)
    assert (effect.tau.tau, effect.tau.reason) == (None, "no-relevant")
    assert (effect.tau_ap.tau, effect.n_swapped) == (None, None)


def test_crossings_are_of_changed_grades_alone() -> None:
    """A grade that is no longer listed, or now unjudged, did not become irrelevant."""
    before = [Qrel("1", docno, 2) for docno in "abcd"]
    after = [Qrel("1", "a", -1), Qrel("1", "b", 0), Qrel("1", "c", 1)]
    assert qrels_diff(before, after).crossings(1) == (0, 1)
    assert qrels_diff(before, after).crossings(2) == (0, 2)
    assert qrels_diff(before, after, unjudged=()).crossings(1) == (0, 2)
