"""Two orders of the same runs: how far they agree; by two files of qrels; beside a leaderboard."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from store.analysis.pools.differences import ChangeKind, order_effect, qrels_diff
from store.analysis.rankings import JudgedRankings, judged_rankings
from store.analysis.run_order import TauResult, kendall_tau_b, n_swapped_pairs, tau_ap
from store.errors import ArgumentError
from store.records import Qrel
from tests.helpers.plain_lists import plain_tau_ap
from tests.helpers.run import Cli, write, write_run

scorings = st.integers(2, 12).flatmap(
    lambda size: st.tuples(
        *(st.lists(st.integers(0, 6).map(float), min_size=size, max_size=size) for _ in "xy")
    )
)


@given(scorings)
def test_tau_equals_scipy(pair: tuple[list[float], list[float]]) -> None:
    """With and without ties, tau-b is that of scipy."""
    from scipy import stats

    x, y = (np.array(scores) for scores in pair)
    assume(len(set(pair[0])) > 1 and len(set(pair[1])) > 1)
    result = kendall_tau_b(x, y)
    assert result.reason is None
    assert result.tau == pytest.approx(float(stats.kendalltau(x, y).statistic), abs=1e-14)


@given(scorings)
def test_swaps_equal_a_plain_loop(pair: tuple[list[float], list[float]]) -> None:
    """A pair counts as swapped when the two orders are strictly opposite."""
    x, y = pair
    expected = 0
    for i in range(len(x)):
        for j in range(i):
            expected += (x[i] < x[j] and y[i] > y[j]) or (x[i] > x[j] and y[i] < y[j])
    assert n_swapped_pairs(np.array(x), np.array(y)) == expected


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "fewer-than-two"),
        ([0.3], [0.4], "fewer-than-two"),
        ([1.0, 1.0], [1.0, 2.0], "all-tied"),
        ([1.0, 2.0], [0.5, 0.5], "all-tied"),
    ],
)
def test_undefined_tau_has_a_reason(x: list[float], y: list[float], reason: str) -> None:
    """Without a pair to compare there is no number, and the reason is named."""
    for tau in (kendall_tau_b, tau_ap):
        assert tau(np.array(x), np.array(y)) == TauResult(None, reason)
    assert n_swapped_pairs(np.array(x), np.array(y)) == 0


def test_tolerance_ties_what_rounding_separates() -> None:
    """Two means equal but for rounding are tied when a tolerance is given."""
    x = np.array([0.1 + 0.2, 0.3, 0.5])  # .30000000000000004, .3
    y = np.array([0.1, 0.2, 0.3])
    assert n_swapped_pairs(x, y) == 1
    assert n_swapped_pairs(x, y, tolerance=1e-12) == 0
    assert kendall_tau_b(x, y).tau == pytest.approx(1 / 3)
    assert kendall_tau_b(x, y, tolerance=1e-12).tau == pytest.approx(2 / math.sqrt(6))


def test_tau_ap_with_ties_by_hand() -> None:
    """A tie made and a tie broken cost the same, half of a swap, and more at the first places.

    Orders a b c d and a b (c d): places 2 and 3 are right, 1/1 and 2/2. Of c and d, the one at
    place 4 has a and b rightly above, and the other half rightly: 2/3 (1 + 1 + 2.5/3) - 1 = 8/9;
    swapped, 2/3 (1 + 1 + 2/3) - 1 = 7/9. Orders a b c d and (a b) c d: place 2 has 1/2 of 1, and
    2/3 (1/2 + 1 + 1) - 1 = 2/3; swapped 1/3.
    """
    untied = np.array([4.0, 3.0, 2.0, 1.0])
    last, first = np.array([4.0, 3.0, 2.0, 2.0]), np.array([4.0, 4.0, 2.0, 1.0])
    for estimate, truth in ((last, untied), (untied, last)):
        assert tau_ap(estimate, truth).tau == pytest.approx(8 / 9, abs=1e-15)
    for estimate, truth in ((first, untied), (untied, first)):
        assert tau_ap(estimate, truth).tau == pytest.approx(2 / 3, abs=1e-15)
    assert tau_ap(np.array([4.0, 3.0, 1.0, 2.0]), untied).tau == pytest.approx(7 / 9, abs=1e-15)
    assert tau_ap(np.array([3.0, 4.0, 2.0, 1.0]), untied).tau == pytest.approx(1 / 3, abs=1e-15)


SET_1 = (
    [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
    [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
)
SET_2 = (
    [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
    [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
)
SET_3 = (
    [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
    [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
)


@pytest.mark.vector("tests of the R package ircor by J. Urbano: tauAP and tauAP_a, 4 decimals")
@pytest.mark.parametrize(
    ("data", "untied", "tied"), [(SET_1, 0.8519, 0.7454), (SET_2, 0.2504, 0.2692), (SET_3, -0.6971, -0.5558)]
)
def test_tau_ap_equals_ircor(data: tuple[list[float], list[float]], untied: float, tied: float) -> None:
    """Without ties tau_AP, with ties in the estimate tau_AP,a: both as their authors print them."""
    truth, estimate = (np.array(scores) for scores in data)
    assert tau_ap(estimate, truth).tau == pytest.approx(untied, abs=6e-5)
    # The package's tests tie the scores by rounding them to one decimal.
    assert tau_ap(estimate.round(1), truth).tau == pytest.approx(tied, abs=6e-5)


few = st.integers(2, 6).flatmap(
    lambda size: st.tuples(
        *(st.lists(st.integers(0, 3).map(float), min_size=size, max_size=size) for _ in "xy")
    )
)


@given(few)
def test_tau_ap_with_ties_equals_a_plain_walk(pair: tuple[list[float], list[float]]) -> None:
    """Ties in either scoring or both, against a walk down every order they may stand for."""
    estimate, truth = pair
    assume(len(set(estimate)) > 1 and len(set(truth)) > 1)
    result = tau_ap(np.array(estimate), np.array(truth))
    assert result.tau == pytest.approx(plain_tau_ap(estimate, truth), abs=1e-12)


@given(scorings)
def test_tau_ap_is_one_for_the_same_order_only(pair: tuple[list[float], list[float]]) -> None:
    """1 says that nothing moved, ties and all; less than 0, that a pair was swapped."""
    estimate, truth = (np.array(scores) for scores in pair)
    assume(len(set(pair[0])) > 1 and len(set(pair[1])) > 1)
    tau = tau_ap(estimate, truth).tau
    is_same = [np.unique(scores, return_inverse=True)[1].tolist() for scores in (estimate, truth)]
    assert (tau == 1) == (is_same[0] == is_same[1])
    assert tau is not None
    assert tau >= 0 or n_swapped_pairs(estimate, truth) > 0


def test_tau_ap_ties_within_the_tolerance() -> None:
    """Means equal but for rounding are tied in either scoring."""
    nearly = np.array([3.0, 1.0, 1.0 + 2e-16])
    untied = np.array([3.0, 2.0, 1.0])
    assert tau_ap(nearly, untied, tolerance=1e-12).tau == pytest.approx(0.75, abs=1e-15)
    assert tau_ap(untied, nearly, tolerance=1e-12).tau == pytest.approx(0.75, abs=1e-15)
    assert tau_ap(nearly, untied).tau == pytest.approx(0.5, abs=1e-15)


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


RUNS = {"a": "xyz", "b": "yxz", "c": "zyx"}
"""Documents in rank order; x is relevant for t1, x and y for t2: AP 1, 1/2, 1/3 and 1, 1, 7/12."""
BOARD = """a GRADE t1 0.5
a OK t1 True
a GRADE t2 0.25
a OK t2 False
b GRADE t1 1
b OK t1 False
b GRADE t2 0.25
b OK t2 False
c GRADE t1 0
c OK t1 True
c GRADE t2 0.5
c OK t2 True
d GRADE t1 1
a GRADE all 9
"""


@pytest.fixture
def evaluate(cli: Cli, tmp_path: Path) -> Cli:
    """Return `pooler evaluate` of three runs by qrels, for the options that follow."""
    runs = [write_run(tmp_path, tag, {"t1": docnos, "t2": docnos}) for tag, docnos in RUNS.items()]
    write(tmp_path / "some.qrels", "t1 0 x 1", "t2 0 x 1", "t2 0 y 1")
    return lambda *words, **how: cli("evaluate", "--qrels", "some.qrels", *runs, *words, **how)


def test_the_order_by_each_measure(evaluate: Cli, tmp_path: Path) -> None:
    """MAP 1, 3/4, 11/24; mean GRADE 3/8, 5/8, 1/4: a and b swapped; mean OK 1/2, 0, 1."""
    from scipy.stats import kendalltau

    write(tmp_path / "tot", BOARD)
    found = evaluate("--leaderboard", "tot", "--format", "json").fine().json()
    grade, ok = found["orders"]
    expected = {"GRADE": (3 / 8, 5 / 8, 1 / 4), "OK": (1 / 2, 0, 1)}
    for row in (grade, ok):
        tau = kendalltau((1, 3 / 4, 11 / 24), expected[row["leaderboard"]]).statistic
        assert (row["measure"], row["runs"], row["topics"]) == ("AP", 3, 2)
        assert row["tau"] == pytest.approx(tau, abs=1e-12)
        assert row["tau_low"] <= row["tau"] <= row["tau_high"]
    # b, a, c: of the places 2 and 3 the shares of right runs above are 0/1 and 2/2.
    assert (grade["tau_ap"], grade["swapped"]) == (pytest.approx(0), 1)
    # c, a, b: 0/1, and 1/2.
    assert (ok["tau_ap"], ok["swapped"]) == (pytest.approx(-1 / 2), 2)
    shown = evaluate("--leaderboard", "tot").fine()
    assert "left out, as not in both those measured and tot: d" in shown.err
    assert "Order of the runs, and of the leaderboard" in shown.out


def test_forms_of_one_leaderboard(evaluate: Cli, tmp_path: Path) -> None:
    """Fields in the other order, JSON lines, and nuggetizer's files, one a run, say the same."""
    rows = [line.split() for line in BOARD.splitlines()]
    write(tmp_path / "ir", "run topic measure value\n" + "".join(f"{a} {t} {m} {v}\n" for a, m, t, v in rows))
    keys = ("run_id", "measure", "topic_id", "value")
    write(tmp_path / "jsonl", "".join(f"{json.dumps(dict(zip(keys, row, strict=True)))}\n" for row in rows))
    for run in RUNS:
        scores: dict[str, dict[str, float]] = {}
        for tag, measure, topic, value in rows:
            if tag == run:
                number = {"True": 1.0, "False": 0.0}.get(value)
                scores.setdefault(topic, {})[measure] = float(value) if number is None else number
        write(tmp_path / f"{run}.jsonl", *(json.dumps({"qid": topic, **of}) for topic, of in scores.items()))
    write(tmp_path / "tot", BOARD)
    forms = (["tot"], ["ir"], ["jsonl"], [f"{run}.jsonl" for run in RUNS])
    options = ([word for file in files for word in ("--leaderboard", file)] for files in forms)
    answers = [evaluate(*one, "--format", "json").fine().json()["orders"] for one in options]
    assert answers == [answers[0]] * 4


def test_scores_without_the_run_are_of_the_run_the_file_is_named_after(cli: Cli, tmp_path: Path) -> None:
    """As `trec_eval -q` prints them; a run's name may have points."""
    for tag, docnos in {"x.1": "xy", "x.2": "yx"}.items():
        write_run(tmp_path, tag, {"t1": docnos})
    write(tmp_path / "some.qrels", "t1 0 x 1")
    for tag, value in {"x.1": "1.0", "x.2": "0.5"}.items():
        write(tmp_path / f"{tag}.eval", f"map t1 {value}", f"map all {value}")
    words = ("evaluate", "--qrels", "some.qrels", "x.1.run", "x.2.run", "--format", "json")
    (row,) = cli(*words, "--leaderboard", "x.1.eval", "--leaderboard", "x.2.eval").fine().json()["orders"]
    assert (row["leaderboard"], row["runs"], row["topics"], row["tau"]) == ("map", 2, 1, 1)


def test_what_runs_lack_is_told(evaluate: Cli, tmp_path: Path) -> None:
    """A run without a topic takes it from all; a mean alone is no score; no topic in common is a reason."""
    write(tmp_path / "gaps", "a M t1 3\na M t2 3\nb M t1 2\nc M all 1\n")
    told = evaluate("--leaderboard", "gaps", "--format", "json").fine()
    (row,) = told.json()["orders"]
    assert (row["runs"], row["topics"]) == (2, 1)
    assert "M: some runs lack topics that others have, which are left out: b" in told.err
    assert "M: left out, without such a score by topic: c" in told.err
    write(tmp_path / "apart", "a M T1 3\nb M T1 2\nc M T1 1\n")
    (row,) = evaluate("--leaderboard", "apart", "--format", "json").fine().json()["orders"]
    assert (row["topics"], row["tau"], row["reason"]) == (0, None, "no-common-topics")


def test_means_alone_and_faults(evaluate: Cli, tmp_path: Path) -> None:
    """A mean is compared as it is; what is no score, comes twice or is nuggets is refused by its line."""
    write(tmp_path / "means", "a M all 3\nb M all 2\nc M all 1\n")
    shown = evaluate("--leaderboard", "means")
    assert "Of M the mean over topics alone is there" in shown.fine().out
    assert evaluate("--leaderboard", "means", "--format", "json").json()["orders"][0]["tau"] == 1
    bad = 'a M t1 1e999\na M t2 1\na M t2 1\na M\n{"qid": "t1", "nuggets": []}\n{"value": 1}\n'
    write(tmp_path / "bad", bad)
    err = evaluate("--leaderboard", "bad").failed(1).err
    for part in (
        "bad:1: expected a score, got `1e999`",
        "bad:3: expected one M of run a for topic t2, got another",
        "bad:4: expected run, measure, topic and score, got 2 fields",
        "bad:5: expected scores of a topic, got nuggets",
        "bad:6: expected scores of a topic, got no `topic_id` or `qid`",
    ):
        assert part in err
    write(tmp_path / "others", "e M t1 1\n")
    assert "no run of those measured is in others" in evaluate("--leaderboard", "others").failed(1).err
