"""When to stop judging, and how long it takes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.pools.pace import LEAST_DECISIONS, RECENT_DECISIONS, Forecast, duration_words, forecast
from store.analysis.pools.stopping import Candidates, RecallBound, least_sample, most_relevant, recall_bound
from tests.pools.stopping_rules import most_relevant_once

Limit = Callable[..., int]


@pytest.mark.vector("methods of the project, 6: least n for recall .8, .9, .95 at f=40, N=900")
def test_least_sample() -> None:
    """Told before: what a target costs if nothing relevant is found, looked at once and at any time."""
    once = [least_sample(900, 40, target, limit=most_relevant_once) for target in (0.8, 0.9, 0.95)]
    assert once == [214, 405, 568]
    assert least_sample(900, 40, 0.8) == 328
    assert least_sample(900, 0, 0.8) is None


@pytest.mark.vector("methods of the project, 6: looks as often as you like")
def test_any_look() -> None:
    """The prior-posterior ratio, with two priors."""
    flat = partial(most_relevant, prior=(1, 1))
    assert (flat(900, 300, 0), flat(2000, 500, 1)) == (21, 40)
    cases = [(900, 100, 0), (900, 300, 0), (900, 300, 3), (900, 500, 0)]
    assert [most_relevant(*case) for case in cases] == [34, 12, 27, 6]


def ever_wrong(limit: Limit, n_documents: int, n_relevant: int) -> float:
    """Compute how likely a limit is below the truth at some look, looked at after every document: exactly.

    The number of relevant documents among the first n of a random order is a Markov chain; what has been
    wrong once is taken out of it.
    """
    right = {0: 1.0}
    wrong = 0.0
    for n in range(1, n_documents + 1):
        left, following = n_documents - n + 1, dict.fromkeys(range(n_relevant + 1), 0.0)
        for k, weight in right.items():
            hit = weight * (n_relevant - k) / left
            if hit:
                following[k + 1] += hit
            following[k] += weight - hit
        right = {}
        for k, weight in following.items():
            if weight <= 0 or n - k > n_documents - n_relevant:
                continue
            if limit(n_documents, n, k) < n_relevant:
                wrong += weight
            else:
                right[k] = weight
    return wrong


@pytest.mark.parametrize("n_documents", [1, 2, 7, 30])
def test_it_is_hardly_ever_wrong_however_often_one_looks(n_documents: int) -> None:
    """For every number of relevant documents, at several confidences: exactly, not by simulation."""
    for confidence in (0.8, 0.95):
        limit = partial(most_relevant, confidence=confidence)
        for n_relevant in range(n_documents + 1):
            assert ever_wrong(limit, n_documents, n_relevant) <= 1 - confidence + 1e-12


@pytest.mark.vector("methods of the project, 6: simulated, N=300, K=20: 26.0% and 3.9%")
def test_looking_often_breaks_the_hypergeometric_limit() -> None:
    """What was simulated there, computed: within three standard errors of 1,000 cases."""
    assert ever_wrong(most_relevant_once, 300, 20) == pytest.approx(0.260, abs=0.042)
    assert ever_wrong(most_relevant, 300, 20) == pytest.approx(0.039, abs=0.018)


@given(st.integers(0, 60), st.data())
def test_more_relevant_documents_never_lower_the_limit(n_documents: int, data: st.DataObject) -> None:
    """So counting what has no grade as relevant is safe; and the limit is the last possible number."""
    n_judged = data.draw(st.integers(0, n_documents))
    limits = [most_relevant(n_documents, n_judged, k) for k in range(n_judged + 1)]
    assert limits == sorted(limits)
    assert all(k <= limit <= n_documents - n_judged + k for k, limit in enumerate(limits))


@given(st.integers(1, 40), st.data())
def test_the_limit_is_where_the_ratio_says(n_documents: int, data: st.DataObject) -> None:
    """Found by bisection; here by looking at every number, with whole binomial coefficients."""
    n = data.draw(st.integers(0, n_documents))
    k = data.draw(st.integers(0, n))

    def beta_binomial(of: int, a: int, b: int, count: int) -> float:
        if not 0 <= count <= of:
            return 0.0
        return math.comb(of, count) * rising(a, count) * rising(b, of - count) / rising(a + b, of)

    def rising(start: int, times: int) -> int:
        return math.prod(range(start, start + times))

    possible = [
        relevant
        for relevant in range(n_documents + 1)
        if (after := beta_binomial(n_documents - n, 1 + k, 50 + n - k, relevant - k)) > 0
        and beta_binomial(n_documents, 1, 50, relevant) / after < 20 * (1 - 1e-12)
    ]
    assert most_relevant(n_documents, n, k) == max(possible)


def candidates(
    outcomes: str, *, known: str = "", is_shuffled: bool = True, undrawn: int = 0, strata: str = ""
) -> Candidates:
    """Make candidates of letters: r relevant, n not, `.` no grade; first known ones, then the sample."""
    letters = known + outcomes
    n_drawn = len(letters)
    graded = np.array([one != "." for one in letters] + [False] * undrawn, dtype=np.bool_)
    return Candidates(
        graded=graded,
        relevant=np.array([one == "r" for one in letters] + [False] * undrawn, dtype=np.bool_),
        known=np.arange(graded.size) < len(known),
        strata=np.array([int(one) for one in strata] if strata else [1] * graded.size, dtype=np.int64),
        sampled=(np.arange(graded.size) >= len(known)) & (np.arange(graded.size) < n_drawn),
        places=np.arange(graded.size),
        is_shuffled=is_shuffled,
    )


def test_a_topic_by_its_parts() -> None:
    """40 known relevant ones, 300 of 900 judged at random, none relevant: 40 / (40 + 12)."""
    found = recall_bound(candidates("n" * 300, known="r" * 40, undrawn=600), target=0.8)
    assert (found.found, found.n_random, found.judged, found.relevant) == (40, 900, 300, 0)
    assert (found.more, found.recall, found.reason) == (12, 40 / 52, None)
    assert found.needed == 28  # 328 in all, as in the printed table


def test_what_is_skipped_counts_as_relevant() -> None:
    """A gap in the order is no way to a better bound; the beginning before it may be the better one."""
    whole = recall_bound(candidates("n" * 300, known="r" * 40, undrawn=600))
    gaps = recall_bound(candidates("n" * 100 + "..." + "n" * 197, known="r" * 40, undrawn=600))
    assert (whole.more, gaps.more, gaps.waiting) == (12, most_relevant(900, 300, 3), 3)
    early = recall_bound(candidates("n" * 100 + "." * 199 + "n", known="r" * 40, undrawn=600))
    assert early.more == most_relevant(900, 100, 0)


def test_an_order_that_is_not_random_has_no_beginning() -> None:
    """By docno or by priority the sample counts whole, what is not judged as relevant."""
    of_docno = recall_bound(candidates("n" * 200 + "." * 100, known="r" * 40, undrawn=600, is_shuffled=False))
    assert of_docno.more == most_relevant(900, 300, 100)
    at_random = recall_bound(candidates("n" * 200 + "." * 100, known="r" * 40, undrawn=600))
    assert at_random.more == most_relevant(900, 200, 0)


def test_strata_share_what_may_go_wrong() -> None:
    """Two strata at .975 each; one drawn whole is known, and has no share."""
    letters = "n" * 30 + "n" * 40
    found = recall_bound(
        candidates(letters, undrawn=130, known="r", strata="1" * 31 + "2" * 40 + "1" * 60 + "2" * 70)
    )
    each = partial(most_relevant, confidence=0.975)
    assert found.more == each(90, 30, 0) + each(110, 40, 0)
    assert found.needed is None
    whole = recall_bound(candidates("n" * 30 + "rr.n", undrawn=60, strata="1" * 30 + "2222" + "1" * 60))
    assert (whole.found, whole.open, whole.more) == (2, 1, 1 + most_relevant(90, 30, 0))


def test_no_bound_and_a_certain_one() -> None:
    """Nothing judged, nothing relevant, everything judged."""
    nothing = recall_bound(candidates("." * 5, known="rr", undrawn=9))
    assert (nothing.recall, nothing.more, nothing.reason) == (None, None, "sample-unjudged")
    undrawn = recall_bound(candidates("", known="rr", undrawn=9, is_shuffled=False))
    assert (undrawn.n_random, undrawn.recall, undrawn.reason) == (9, None, "sample-unjudged")
    none = recall_bound(candidates("n" * 5, undrawn=9), target=0.8)
    assert (none.recall, none.more, none.reason, none.needed) == (
        None,
        most_relevant(14, 5, 0),
        "no-relevant",
        None,
    )
    every = recall_bound(candidates("rnrn", known="n"), target=0.9)
    assert (every.recall, every.more, every.needed) == (1, 0, 0)
    empty = recall_bound(candidates(""))
    assert (empty.recall, empty.more, empty.reason) == (None, 0, "no-relevant")


def test_what_was_judged_by_another_way_counts_as_found() -> None:
    """A relevant document of the tail that was not drawn is found; too many of them refute the sample."""
    plain = candidates("n" * 300, known="r" * 40, undrawn=600)

    def with_others(count: int) -> RecallBound:
        graded, relevant = plain.graded.copy(), plain.relevant.copy()
        graded[-count:] = relevant[-count:] = True
        return recall_bound(
            Candidates(
                graded, relevant, plain.known, plain.strata, plain.sampled, plain.places, is_shuffled=True
            )
        )

    found = with_others(5)
    assert (found.found, found.more, found.recall) == (45, 7, 45 / 52)
    refuted = with_others(20)
    assert (refuted.found, refuted.more, refuted.recall) == (60, None, None)
    assert refuted.reason == "sample-contradicted"


times = st.lists(st.integers(0, 600_000), min_size=LEAST_DECISIONS, max_size=RECENT_DECISIONS)


def test_total_is_the_mean_times_what_is_left() -> None:
    """One long document in ten counts: 10 s nine times and 910 s make 100 s each, not 10."""
    made = forecast([10_000] * 9 + [910_000], 20)
    assert (made.left, made.pace, made.seconds, made.n) == (20, 100.0, 2000.0, 10)


@given(times, st.integers(1, 5000))
def test_interval_equals_the_formula_by_other_programs(active: list[int], left: int) -> None:
    """With mean and deviation of the standard library and scipy's quantile, the ends are these."""
    made = forecast(active, left)
    seconds = [value / 1000 for value in active]
    mean, n = statistics.fmean(seconds), len(seconds)
    assert made.seconds == pytest.approx(mean * left)
    assert made.low is not None
    assert made.high is not None
    assert made.seconds is not None
    if mean == 0:
        assert made.low == made.high == 0
        return
    relative = statistics.stdev(seconds) / mean * math.sqrt(1 / n + 1 / left)
    log_width = float(stats.t.ppf(0.95, n - 1)) * relative
    assert math.log(made.high / made.seconds) == pytest.approx(log_width, rel=2e-3, abs=1e-9)
    assert math.log(made.seconds / made.low) == pytest.approx(log_width, rel=2e-3, abs=1e-9)


@given(times, st.integers(1, 5000))
def test_arrays_are_times_too(active: list[int], left: int) -> None:
    """Of an array the forecast is that of the same times in a list, in Python's own numbers."""
    made = forecast(np.array(active, dtype=np.int64), left)
    assert made == forecast(np.array(active, dtype=np.float64), left) == forecast(active, left)
    assert type(made.pace) is float


def test_equal_times_leave_no_doubt() -> None:
    """Where every decision took the same time, the interval is a point."""
    assert forecast([12_000] * 6, 5) == Forecast(5, 60.0, 60.0, 60.0, 6, 12.0)


def test_no_number_below_five_decisions() -> None:
    """Four decisions say nothing, and five do; how many there are is told in both cases."""
    assert forecast([1000] * 4, 10) == Forecast(10, None, None, None, 4, None)
    assert forecast([], 10) == Forecast(10, None, None, None, 0, None)
    assert forecast([1000] * 5, 10).seconds == 10.0


def test_nothing_left_takes_no_time() -> None:
    """With nothing left the answer is 0, whatever the pace."""
    assert forecast([], 0) == Forecast(0, 0.0, 0.0, 0.0, 0, None)
    assert forecast([1000] * 5, 0) == Forecast(0, 0.0, 0.0, 0.0, 5, 1.0)


def test_newest_decisions_alone_count() -> None:
    """What is older than the newest so many has no influence."""
    newest = [2000] * RECENT_DECISIONS
    assert forecast([500_000, *newest], 10) == forecast(newest, 10)
    assert forecast([500_000, *newest[1:]], 10).pace != 2.0


DURATIONS = {
    "under a minute": [0, 59.9], "about 1 min": [60, 89], "about 2 min": [90], "about 59 min": [3569],
    "about 1 h": [3571, 3600, 3899], "about 1 h 10": [3901], "about 1 h 50": [6600, 6899],
    "about 2 h": [6901], "about 9 h 50": [35_699], "about 10 h": [35_701], "about 11 h": [37_801],
    "about 1,250 h": [4_500_000],
}  # fmt: skip


def test_durations_in_words() -> None:
    """Durations are rounded as coarsely as they are known."""
    for words, known in DURATIONS.items():
        assert [duration_words(seconds) for seconds in known] == [words] * len(known)
