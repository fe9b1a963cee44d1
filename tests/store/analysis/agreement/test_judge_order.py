"""Whether disagreement between judges changes the order of runs."""

from __future__ import annotations

import itertools
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from store.analysis.agreement.order_stability import QUANTILES, JudgeOrder, RunSwap, judge_order
from store.analysis.run_order import TauResult, tau_ap
from tests.strategies import examples

pytestmark = pytest.mark.slow

NAN = float("nan")

TWO_BY_TWO = np.array([[[0.9, 0.5], [0.5, 0.6]], [[0.6, 0.6], [0.5, 0.9]]])
"""Two topics, two runs, two judges. Twice the MAPs of the four mixtures, judges of the topics in
order: AA 1.5 and 1.0; AB 1.5 and 1.4; BA 1.1 and 1.1; BB 1.1 and 1.5."""


def test_four_mixtures_by_hand() -> None:
    """Of four equally likely mixtures two keep the order, one ties and one turns it round."""
    result = judge_order(TWO_BY_TWO, seed=3, mixtures=10_000)
    mixtures = result.mixtures
    # Means over judges: .7 and .55, .6 and .7: .65 against .625.
    assert mixtures.reference == pytest.approx((0.65, 0.625))
    assert (mixtures.reason, mixtures.n_topics, mixtures.n_mixtures) == (None, 2, 10_000)
    assert mixtures.n_undefined == pytest.approx(2500, abs=170)  # standard deviation 43
    (swap,) = mixtures.swaps
    assert (swap.better, swap.worse) == (0, 1)
    assert swap.difference == pytest.approx(0.025)
    assert swap.n_mixtures == pytest.approx(2500, abs=170)
    assert swap.share == swap.n_mixtures / 10_000
    defined = 10_000 - mixtures.n_undefined
    assert mixtures.tau is not None
    assert mixtures.tau.mean == pytest.approx(1 - 2 * swap.n_mixtures / defined)
    assert (mixtures.tau.least, mixtures.tau.greatest) == (-1.0, 1.0)
    assert mixtures.tau.quantiles == (-1.0, -1.0, 1.0, 1.0, 1.0)
    assert mixtures.lowest == pytest.approx((0.55, 0.5))
    assert mixtures.highest == pytest.approx((0.75, 0.75))


def test_judges_by_hand() -> None:
    """Each judge's MAP, and the two opposite orders they make."""
    result = judge_order(TWO_BY_TWO, seed=1)
    assert result.topics == (0, 1)
    assert result.n_left_out == 0
    assert [judge.scores for judge in result.judges] == [
        pytest.approx((0.75, 0.5)),
        pytest.approx((0.55, 0.75)),
    ]
    (pair,) = result.pairs
    assert (pair.first, pair.second, pair.n_topics, pair.n_swapped) == (0, 1, 2, 1)
    assert pair.tau == pair.tau_ap == pair.tau_ap_reversed == TauResult(-1.0)


@st.composite
def scored(draw: st.DrawFn) -> NDArray[np.float64]:
    """Draw AP of a few topics, runs and judges, in tenths so that there are ties, some missing."""
    n_topics, n_runs = draw(st.integers(1, 5)), draw(st.integers(2, 5))
    n_judges = draw(st.integers(2, 4))
    tenths = draw(
        st.lists(
            st.integers(0, 10), min_size=n_topics * n_runs * n_judges, max_size=n_topics * n_runs * n_judges
        )
    )
    ap = np.array(tenths).reshape(n_topics, n_runs, n_judges) / 10
    for topic, judge in itertools.product(range(n_topics), range(n_judges)):
        if draw(st.integers(0, 4)) == 0:
            ap[topic, :, judge] = NAN
    return ap


@settings(max_examples=examples(80))
@given(scored(), st.integers(0, 2**66))
def test_equals_plain_loops(ap: NDArray[np.float64], seed: int) -> None:
    """Drawing a judge a topic and averaging fractions gives every number of the result."""
    n_topics, n_runs, n_judges = ap.shape
    tenths = {
        (t, r, j): Fraction(round(ap[t, r, j] * 10), 10)
        for t, r, j in np.ndindex(*ap.shape)
        if not np.isnan(ap[t, r, j])
    }
    who = [[j for j in range(n_judges) if (t, 0, j) in tenths] for t in range(n_topics)]
    used = [t for t in range(n_topics) if len(who[t]) >= 2]
    result = judge_order(ap, seed=seed, mixtures=40, min_judges=2, shown_share=0)
    assert result.topics == tuple(used)
    assert result.n_left_out == n_topics - len(used)
    for j, judge in enumerate(result.judges):
        own = [t for t in used if j in who[t]]
        assert judge.n_topics == len(own)
        if own:
            maps = [sum(tenths[t, r, j] for t in own) / len(own) for r in range(n_runs)]
            assert judge.scores == pytest.approx([float(one) for one in maps])
        else:
            assert judge.scores is None
    mixtures = result.mixtures
    if not used:
        assert (mixtures.reason, mixtures.tau) == ("no-common-topics", None)
        return
    reference = [sum(sum(tenths[t, r, j] for j in who[t]) / len(who[t]) for t in used) for r in range(n_runs)]
    if len(set(reference)) == 1:
        assert mixtures.reason == "all-tied"
        return
    bits = np.random.PCG64(seed)
    drawn = []
    for t in used:
        raw = [int(one) >> 32 for one in bits.random_raw(40)]
        drawn.append([who[t][one * len(who[t]) >> 32] for one in raw])
    taus, taus_ap, counts = [], [], dict.fromkeys(itertools.permutations(range(n_runs), 2), 0)
    for m in range(40):
        scores = [sum(tenths[t, r, js[m]] for t, js in zip(used, drawn, strict=True)) for r in range(n_runs)]
        for a, b in counts:
            counts[a, b] += reference[a] > reference[b] and scores[a] < scores[b]
        if len(set(scores)) > 1:
            x, y = ([sorted(set(one)).index(x) for x in one] for one in (scores, reference))
            taus.append(float(stats.kendalltau(x, y).statistic))
            taus_ap.append(tau_ap(np.array(x, float), np.array(y, float)).tau)
    assert mixtures.n_undefined == 40 - len(taus)
    if taus:
        assert mixtures.tau is not None
        assert mixtures.tau.mean == pytest.approx(sum(taus) / len(taus))
        assert mixtures.tau_ap is not None
        assert mixtures.tau_ap.mean == pytest.approx(np.mean(taus_ap))
        assert mixtures.tau.least == pytest.approx(min(taus))
        assert mixtures.tau.greatest == pytest.approx(max(taus))
        assert mixtures.tau.quantiles == pytest.approx(np.quantile(taus, QUANTILES).tolist())
    else:
        assert mixtures.tau is None
    assert {(s.better, s.worse): s.n_mixtures for s in mixtures.swaps} == {
        pair: n for pair, n in counts.items() if n
    }
    times = [swap.n_mixtures for swap in mixtures.swaps]
    assert times == sorted(times, reverse=True)


def test_a_hundred_thousand_mixtures_of_a_track_fit_into_little_memory() -> None:
    """143 runs of 30 topics: what is held is a number a topic, and two correlations, a mixture."""
    ap = np.random.default_rng(6).random((30, 143, 3))
    tracemalloc.start()
    try:
        result = judge_order(ap, seed=1, mixtures=100_000, drawn=[0, 2])
        assert tracemalloc.get_traced_memory()[1] < 40e6  # scores of all mixtures alone are 114 MB
    finally:
        tracemalloc.stop()
    assert result.mixtures.reference == pytest.approx(ap[:, :, [0, 2]].mean(axis=(0, 2)))
    assert len(result.pairs) == 3


def test_tau_ap_takes_its_second_judge_as_true() -> None:
    """Tau-AP counts the runs above each place of the first judge, as the second is true."""
    orders = np.array([[[0.9, 0.7], [0.8, 0.9], [0.7, 0.8]]])
    pair = judge_order(orders, seed=1).pairs[0]
    # First 0 1 2, second 1 2 0. First as estimate: run 1 has 0/1, run 2 has 1/2 (run 1).
    assert pair.tau_ap.tau == pytest.approx(2 / 2 * (0 + 1 / 2) - 1)
    # Second as estimate: run 2 has 1/1, run 0 has 0/2.
    assert pair.tau_ap_reversed.tau == pytest.approx(2 / 2 * (1 + 0) - 1)


def test_equal_judges_never_disagree() -> None:
    """Judges with the same scores have one order, and so has every mixture."""
    rng = np.random.default_rng(1)
    ap = np.repeat(rng.random((9, 6, 1)), 4, axis=2)
    result = judge_order(ap, seed=5, mixtures=50)
    assert all(pair.tau.tau == 1 and pair.n_swapped == 0 for pair in result.pairs)
    assert result.mixtures.tau is not None
    assert (result.mixtures.tau.least, result.mixtures.swaps) == (1.0, ())
    assert result.mixtures.lowest == pytest.approx(result.mixtures.highest)


def test_runs_in_another_order() -> None:
    """Putting the runs in another order renames them in the result and changes nothing else."""
    ap = np.random.default_rng(2).random((6, 5, 3))
    order = np.array([3, 0, 4, 1, 2])
    one = judge_order(ap, seed=4, mixtures=200, shown_share=0).mixtures
    other = judge_order(ap[:, order], seed=4, mixtures=200, shown_share=0).mixtures
    assert one.tau == other.tau

    def named(swaps: tuple[RunSwap, ...], names: NDArray[np.int64]) -> set[tuple[int, ...]]:
        return {(int(names[s.better]), int(names[s.worse]), s.n_mixtures) for s in swaps}

    assert named(one.swaps, np.arange(5)) == named(other.swaps, order)


def test_seed_decides() -> None:
    """The same seed gives the same mixtures, another seed others."""
    ap = np.random.default_rng(3).random((8, 4, 3))
    assert judge_order(ap, seed=7) == judge_order(ap, seed=7)
    assert judge_order(ap, seed=7).mixtures != judge_order(ap, seed=8).mixtures


def test_topics_without_all_judges_are_left_out() -> None:
    """By default a topic counts when every judge has a score, and the others are counted."""
    ap = np.random.default_rng(4).random((5, 3, 3))
    ap[1, :, 2] = NAN
    ap[3, :, :2] = NAN
    result = judge_order(ap, seed=1, mixtures=20)
    assert (result.topics, result.n_left_out) == ((0, 2, 4), 2)
    complete = judge_order(ap[[0, 2, 4]], seed=1, mixtures=20)
    assert result.judges == complete.judges
    assert result.mixtures == complete.mixtures
    assert all(judge.n_topics == 3 for judge in result.judges)
    with_two = judge_order(ap, seed=1, mixtures=20, min_judges=2)
    assert with_two.topics == (0, 1, 2, 4)
    assert [judge.n_topics for judge in with_two.judges] == [4, 4, 3]
    assert [pair.n_topics for pair in with_two.pairs] == [4, 3, 3]


def test_judges_without_a_common_topic() -> None:
    """Judges of different topics cannot be compared."""
    ap = np.full((2, 3, 3), NAN)
    ap[0, :, :2] = 0.5
    ap[1, :, 1:] = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    result = judge_order(ap, seed=1)
    assert (result.topics, result.n_left_out) == ((), 2)
    assert result.mixtures.reason == "no-common-topics"
    with_two = judge_order(ap, seed=1, mixtures=5, min_judges=2)
    none = TauResult(None, "no-common-topics")
    assert with_two.pairs[1].tau == with_two.pairs[1].tau_ap_reversed == none
    assert with_two.pairs[1].n_swapped is None
    assert [pair.n_topics for pair in with_two.pairs] == [1, 0, 1]
    assert with_two.pairs[0].tau == TauResult(None, "all-tied")
    assert with_two.pairs[2].tau == TauResult(1.0)


def test_rare_swaps_are_not_listed() -> None:
    """A pair is listed from the share asked for on."""
    ap = np.random.default_rng(8).random((12, 6, 2))
    every = judge_order(ap, seed=2, mixtures=400, shown_share=0).mixtures
    shares = [swap.share for swap in every.swaps]
    middle = sorted(shares)[len(shares) // 2]
    some = judge_order(ap, seed=2, mixtures=400, shown_share=middle).mixtures
    assert 0 < len(some.swaps) < len(every.swaps)
    assert some.swaps == tuple(swap for swap in every.swaps if swap.share >= middle)


def small(**options: object) -> JudgeOrder:
    """Run the experiment on the small example."""
    return judge_order(TWO_BY_TWO, **({"seed": 1, "mixtures": 5} | options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ap", "reason"),
    [
        (TWO_BY_TWO[:, :, :1], "one-judge"),
        (TWO_BY_TWO[:, :1], "fewer-than-two"),
        (TWO_BY_TWO[:0], "no-common-topics"),
        (np.full((2, 3, 2), 0.25), "all-tied"),
        (np.full((2, 3, 2), NAN), "no-common-topics"),
    ],
)
def test_nothing_to_compare(ap: NDArray[np.float64], reason: str) -> None:
    """Data that cannot be compared give a reason and no number."""
    mixtures = judge_order(ap, seed=1).mixtures
    assert (mixtures.reason, mixtures.tau, mixtures.tau_ap) == (reason, None, None)
    assert (mixtures.n_mixtures, mixtures.swaps) == (0, ())


def test_no_runs() -> None:
    """Without runs no topic has a score."""
    result = judge_order(np.zeros((2, 0, 2)), seed=1)
    assert (result.topics, result.mixtures.reason) == ((), "no-common-topics")
