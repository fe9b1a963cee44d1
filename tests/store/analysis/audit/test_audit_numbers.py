"""The arithmetic of an audit beside plain loops and calculations by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from store.analysis.audit import (
    CONCLUSIONS,
    alternative_test,
    bias,
    conclusions,
    cut_agreements,
    cut_gain,
    exposure_odds,
    favour,
    kappas_at,
    length_bias,
    order_agreement,
    rejections,
    top_runs,
)
from store.errors import ArgumentError

DRAWN = {"seed": 1, "resamples": 400}


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    """Nine runs and twenty topics, in tenths, so that means are tied."""
    rng = np.random.default_rng(5)
    human = rng.integers(0, 11, (9, 20)) / 10
    return human, np.clip(human + rng.integers(-2, 5, (9, 20)) / 10, 0, 1)


def test_orders_and_their_resamples_are_those_of_scipy(scores: tuple[np.ndarray, np.ndarray]) -> None:
    """tau-b, that of the best, and the quantiles of both and of the ceiling, by a loop over resamples."""
    human, model = scores
    found = order_agreement(human, model, top=4, **DRAWN)
    means = [np.round(one.mean(axis=1), 10) for one in scores]
    assert found.tau.tau == pytest.approx(stats.kendalltau(*means).statistic)
    best = means[0] >= np.sort(means[0])[-4]
    assert found.n_top == best.sum()
    assert found.tau_top.tau == pytest.approx(stats.kendalltau(means[0][best], means[1][best]).statistic)
    rng = np.random.default_rng(8)
    taus, tops, own = [], [], []
    for _ in range(1500):
        drawn = rng.integers(0, 20, 20)
        one, other = (np.round(part[:, drawn].mean(axis=1), 10) for part in scores)
        taus.append(stats.kendalltau(one, other).statistic)
        best = one >= np.sort(one)[-4]
        tops.append(stats.kendalltau(one[best], other[best]).statistic)
        own.append(stats.kendalltau(one, means[0]).statistic)
    for interval, values in ((found.tau_interval, taus), (found.tau_top_interval, tops)):
        defined = [one for one in values if one == one]
        assert interval.low == pytest.approx(np.quantile(defined, 0.025), abs=0.12)
        assert interval.high == pytest.approx(np.quantile(defined, 0.975), abs=0.12)
    assert found.ceiling == pytest.approx(np.mean(own), abs=0.02)


def test_last_bits_of_means_break_no_tie() -> None:
    """The same tenths in another order add up to another last bit; the means are tied all the same."""
    tenths = np.array([0.1, 0.2, 0.3, 0.4, 0.7])
    human = np.stack([tenths, tenths[::-1], np.zeros(5)])
    assert human[0].mean() != human[1].mean()
    assert order_agreement(human, human, top=1, **DRAWN).n_top == 2


def test_what_orders_cannot_say_is_a_reason() -> None:
    """One run, runs all tied, two best ones, one topic, or what is no number."""
    one = order_agreement(np.array([[0.5, 0.2]]), np.array([[0.4, 0.3]]), top=10, **DRAWN)
    assert (one.tau.reason, one.tau_ap.reason, one.tau_top.reason) == (
        *("fewer-than-two", "fewer-than-two", "too-few-runs"),
    )
    tied = order_agreement(np.full((4, 3), 0.5), np.eye(4)[:, :3], top=10, **DRAWN)
    assert (tied.tau.reason, tied.tau_top.reason, tied.ceiling) == ("all-tied", "all-tied", None)
    assert tied.tau_interval.reason == "undefined"
    human = np.array([[0.5, 0.1], [0.4, 0.3], [0.1, 0.1], [0, 0.1]])
    two = order_agreement(human, human, top=2, **DRAWN)
    assert (two.n_top, two.tau_top.reason, two.tau_top_interval.reason) == (2, "too-few-runs", "undefined")
    single = order_agreement(human[:, :1], human[:, :1], top=2, **DRAWN)
    assert (single.tau.tau, single.tau_interval.reason, single.ceiling) == (1.0, "one-topic", None)
    with pytest.raises(ArgumentError, match="runs by topics"):
        order_agreement(human, human[:2], top=2, **DRAWN)


def test_the_best_runs_are_with_those_tied_with_the_last() -> None:
    """Of two stacks at once."""
    means = np.array([[0.5, 0.4, 0.4, 0.1], [0.1, 0.2, 0.3, 0.4]])
    assert top_runs(means, 2).tolist() == [[True, True, True, False], [False, False, True, True]]
    assert top_runs(means[0], 9).tolist() == [True] * 4


def test_bias_is_scipys_t_against_the_mean_of_runs(scores: tuple[np.ndarray, np.ndarray]) -> None:
    """Runs that do not count are held against the mean of the others."""
    human, model = scores
    found = bias(human, model, **DRAWN)
    gains = model - human
    for run, test in enumerate(found.own):
        expected = stats.ttest_1samp(gains[run] - gains.mean(axis=0), 0)
        assert (test.t, test.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert found.correlation == pytest.approx(
        stats.pearsonr(gains.mean(axis=1), human.mean(axis=1)).statistic
    )
    counted = np.arange(9) < 7
    apart = bias(human, model, counted=counted, **DRAWN)
    assert apart.mean == pytest.approx(gains[:7].mean())
    expected = stats.ttest_1samp(gains[8] - gains[:7].mean(axis=0), 0)
    assert apart.own[8].t == pytest.approx(expected.statistic)


def test_favour_is_a_difference_of_means(scores: tuple[np.ndarray, np.ndarray]) -> None:
    """Of the chosen and the others, in every topic; nothing where one of the two is empty."""
    gains = scores[1] - scores[0]
    chosen = np.arange(9) < 3
    found = favour(gains, chosen, **DRAWN)
    assert found is not None
    expected = stats.ttest_1samp(gains[:3].mean(axis=0) - gains[3:].mean(axis=0), 0)
    assert found.test.t == pytest.approx(expected.statistic)
    assert found.interval.low is not None
    assert found.test.difference is not None
    assert found.interval.low < found.test.difference
    assert favour(gains, np.ones(9, dtype=bool), **DRAWN) is None
    assert favour(gains, np.zeros(9, dtype=bool), **DRAWN) is None


def test_odds_ratio_over_strata_by_hand() -> None:
    """Two strata: 3 of 4 exposed against 1 of 2, and 1 of 2 against 1 of 4.

    (3 * 1 / 6 + 1 * 3 / 6) / (1 * 1 / 6 + 1 * 1 / 6) = 3.
    """
    topics = np.array([0] * 6 + [1] * 6)
    exposed = np.array([1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0]) > 0
    relevant = np.array([1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0]) > 0
    found = exposure_odds(topics, np.zeros(12, dtype=np.int64), exposed, relevant, **DRAWN)
    assert (found.value, found.n_exposed, found.n_others) == (pytest.approx(3.0), 6, 6)
    # As grades in place of topics they are strata of one topic, which says nothing of others.
    of_one = exposure_odds(np.zeros(12, dtype=np.int64), topics, exposed, relevant, **DRAWN)
    assert (of_one.value, of_one.interval.reason) == (pytest.approx(3.0), "one-topic")
    none = exposure_odds(topics, topics, np.ones(12, dtype=bool), relevant, **DRAWN)
    assert (none.value, none.interval.low) == (None, None)


def test_every_pair_has_one_conclusion(scores: tuple[np.ndarray, np.ndarray]) -> None:
    """As SciPy's paired t test and the signs of the means have it."""
    human, model = scores
    model = model.copy()
    model[0], model[1] = 0.9 - human[0] / 9, human[0]  # a pair that turns
    kinds, opposite = conclusions(human, model, alpha=0.3)
    for place, (one, other) in enumerate(combinations(range(9), 2)):
        p, turned = [], 1.0
        for part in scores[0], model:
            p.append(stats.ttest_rel(part[one], part[other]).pvalue <= 0.3)
            turned *= round(part[one].mean() - part[other].mean(), 10)
        name = {(True, True): "both", (True, False): "vanishes", (False, True): "appears"}.get(tuple(p))
        if name in (None, "both") and turned < 0:
            name = "opposite" if name else "neither-opposite"
        assert CONCLUSIONS[kinds[place]] == (name or "neither")
        assert opposite[place] == (turned < 0)
    assert len(set(kinds.tolist())) > 3


def test_a_difference_that_never_varies_is_not_significant() -> None:
    """It has no t."""
    human = np.array([[0.5, 0.6, 0.7], [0.1, 0.2, 0.3]])
    kinds, _ = conclusions(human, human, alpha=0.05)
    assert CONCLUSIONS[kinds[0]] == "neither"


def test_one_class_has_no_kappa() -> None:
    """Where the formula would give 0: a judge with one grade alone tells nothing apart."""
    tables = np.array([[[3, 0, 0], [1, 2, 0], [0, 2, 0]], [[2, 1, 0], [0, 1, 0], [0, 3, 0]]])
    found = {(one.human, one.model): one for one in cut_agreements(tables, **DRAWN)}
    assert found[1, 2].reason == found[2, 2].reason == "single-grade"
    assert found[1, 2].interval.reason == "undefined"
    assert (found[1, 1].human_share, found[1, 1].model_share) == (9 / 15, 9 / 15)
    assert found[1, 1].kappa == pytest.approx((13 / 15 - 117 / 225) / (1 - 117 / 225))
    assert kappas_at(tables, 1, 1).tolist() == pytest.approx([3 / 4, 16 / 23])
    empty = cut_agreements(np.zeros((2, 3, 3), dtype=np.int64), **DRAWN)
    assert {one.reason for one in empty} == {"no-common-docs"}
    gain = cut_gain(tables, (1, 1), (2, 1), **DRAWN)
    assert gain.low is not None
    assert gain.low > -1
    with pytest.raises(ArgumentError, match="square table"):
        cut_agreements(tables[0], **DRAWN)


def test_rejections_are_those_of_scipy() -> None:
    """By its adjusted p values."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        p = rng.uniform(0, 0.06, 7)
        assert (
            rejections(p.tolist(), 0.05) == (stats.false_discovery_control(p, method="by") <= 0.05).tolist()
        )
    assert rejections([None, None], 0.05) == [False, False]


def test_people_who_share_nothing_are_a_reason() -> None:
    """Nobody can be left out and compared, or one person alone can."""
    nan = float("nan")
    people = np.array([[1, nan], [nan, 2], [nan, nan]])
    model, topics = np.array([1.0, 2, 3]), np.arange(3)
    found = alternative_test(people, model, topics, epsilon=0.2)
    assert (found.winning_rate, found.advantage, found.reason) == (None, None, "no-common-docs")
    assert [one.reason for one in found.people] == ["no-common-docs"] * 2
    single = alternative_test(np.array([[1, 2.0]]), np.array([1.0]), np.zeros(1, np.int64), epsilon=0.2)
    assert [one.reason for one in single.people] == ["one-doc"] * 2
    for arguments, name in (({"epsilon": 1.0}, "epsilon"), ({"epsilon": 0.1, "q": 0.0}, "q")):
        with pytest.raises(ArgumentError, match=name):
            alternative_test(people, model, topics, **arguments)
    with pytest.raises(ArgumentError, match="documents by people"):
        alternative_test(people[:2], model, topics, epsilon=0.2)


def test_length_bias_is_spearmans_and_by_thirds() -> None:
    """Rho as scipy has it, with ties; its interval beside resamples of scipy's; thirds and means by hand."""
    rng = np.random.default_rng(3)
    lengths, topics = rng.integers(100, 160, 400), rng.integers(0, 25, 400)
    human = rng.integers(0, 4, 400).astype(float)
    model = np.clip(human + (lengths > rng.integers(100, 160, 400)), 0, 3)
    found = length_bias(np.append(lengths, -1), np.append(human, 3), np.append(model, 0),
                        np.append(topics, 3), **DRAWN)  # fmt: skip
    assert found.rho == pytest.approx(stats.spearmanr(lengths, model - human).statistic, abs=1e-12)
    members = [np.flatnonzero(topics == topic) for topic in range(25)]
    rhos, means = [], []
    for _ in range(1000):
        rows = np.concatenate([members[topic] for topic in rng.integers(0, 25, 25)])
        rhos.append(stats.spearmanr(lengths[rows], (model - human)[rows]).statistic)
        means.append((model - human)[rows].mean())
    for interval, values in ((found.interval, rhos), (found.parts[-1].interval, means)):
        assert interval.low == pytest.approx(np.quantile(values, 0.025), abs=0.03)
        assert interval.high == pytest.approx(np.quantile(values, 0.975), abs=0.03)
    # Of seven, numbers 3 and 5 from the shortest both have length 30: no document is in the middle third.
    lengths, topics = np.array([30, 10, 30, 20, 30, 50, 40]), np.array([0, 0, 0, 1, 1, 1, 1])
    human, model = np.array([1.0, 0, 1, 2, 0, 1, 1]), np.array([2.0, 0, 2, 1, 0, 2, 2])
    parts = length_bias(lengths, human, model, topics, **DRAWN).parts
    assert [(one.shortest, one.longest, one.n) for one in parts] == [(10, 30, 5), (40, 50, 2), (10, 50, 7)]
    assert [(one.human, one.model) for one in parts] == [(4 / 5, 1), (1, 2), (6 / 7, 9 / 7)]
    assert [one.interval.reason for one in parts] == [None, "one-topic", None]


@pytest.mark.parametrize(
    ("lengths", "model", "reason", "n_parts"),
    [
        ([-1, -1, -1], [1, 0, 2], "no-texts", 0),
        ([5, 5, 5], [1, 0, 2], "one-length", 2),
        ([5, 6, 7], [1, 1, 1], "same-difference", 4),
        ([7, -1, -1], [1, 0, 2], "one-length", 2),
    ],
)
def test_length_bias_without_a_number(
    lengths: list[int], model: list[float], reason: str, n_parts: int
) -> None:
    """No texts, one length, one difference: a reason, and the parts that there are."""
    arrays = np.array(lengths), np.zeros(3), np.array(model, dtype=float), np.array([0, 1, 2])
    found = length_bias(*arrays, **DRAWN)
    assert (found.rho, found.reason, found.interval.low) == (None, reason, None)
    assert len(found.parts) == n_parts
