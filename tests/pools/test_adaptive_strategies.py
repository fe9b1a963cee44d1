"""Strategies that learn from judgements: by hand, and by definition from the whole past."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import ADAPTIVE, find_strategy
from pooler.strategies.adaptive import WeightedSums, depth_pool_size
from pooler.strategies.kinds import AdaptiveStrategy, ParameterValue
from pooler.strategies.rankings import rankings_of, uniform_numbers
from store.errors import UnknownNameError
from tests.helpers.strategy_play import (
    Decisions,
    Log,
    Rows,
    drawn_decisions,
    drawn_outcomes,
    drawn_rankings,
    order_of,
    play,
    relive,
    rows_of,
    start,
)

WORKED: list[tuple[str, dict[str, ParameterValue], str, str, str]] = [
    # Priorities of the three runs, the current one in brackets, before each document:
    # [0] 0 0   a relevant, stay.
    # [0] 0 0   b not: the first run falls, the second is the first of the highest.
    # -1 [0] 0  e relevant, stay; b was judged and is passed over.
    # -1 [0] 0  f not: the second run falls (and ends), the third is highest.
    # -1 -1 [0] g not: the third falls; the second has ended, the first remains.
    # [-1] . -1 c relevant, stay.
    # [-1] . -1 d not: falls to -2 (and ends). The third goes on: a was judged, h.
    ("mtf", {}, "abcd ebf gah", "aec", "abefgcdh"),
    # n = 4, ln 4 = 1.386. Rank 1: 1.386, rank 2: 0.693; documents a run did not return:
    # 1.386 - (ln 2 + ln 3) / 2 = 0.490.
    # d and a have 1.386 + 0.490 both: d, the greater docno. It is not relevant: loss of the
    # first run 1.386 / 2 = 0.693, of the second 0.490 / 2 = 0.245; weights 0.1**0.693 = 0.203
    # and 0.1**0.245 = 0.569.
    # a: 0.203 * 0.490 + 0.569 * 1.386 = 0.888. b: 0.203 * 0.490 + 0.569 * 0.693 = 0.494.
    # c: 0.203 * 0.693 + 0.569 * 0.490 = 0.420. So a. It is relevant: losses 0.693 - 0.245 and
    # 0.245 - 0.693, weights 0.356 and 2.806: b before c.
    ("hedge", {}, "dc ab", "a", "dabc"),
    # As above, but the first document is relevant, so its run goes on before the other.
    # Losses -0.693 and -0.245; weights 4.93 and 1.76.
    # a: 4.93 * 0.490 + 1.76 * 1.386 = 4.86. c: 4.93 * 0.693 + 1.76 * 0.490 = 4.28.
    # b: 4.93 * 0.490 + 1.76 * 0.693 = 3.64. So a. It is not relevant: losses -0.693 + 0.245 and
    # -0.245 + 0.693: weights 2.81 and 0.356, c before b.
    ("hedge", {}, "dc ab", "d", "dacb"),
    # p = 1/2, so the weights are 1/2, 1/4, 1/8, and all residuals 1 at first. In both methods
    # b = 1/4 + 1/2 comes first: all runs have the factor 1 in B, and 1/8 in C. Then the residuals
    # are 3/4 (first run), 1/2 (second) and 1 (third).
    # After b: a 1/2 * 3/4 = 0.375, c 1/8 * 3/4 = 0.094, d 1/4 * 1/2 = 0.125, e 1/2 * 1 = 0.5.
    # After e: a. Then the first run has 1/4 left: c 1/8 * 1/4 = 0.031, d 0.125.
    ("rbp-b", {"p": 0.5}, "abc bd e", "", "beadc"),
    ("rbp-b", {"p": 0.5}, "abc bd e", "b", "beadc"),
    # Without a relevant document the known runs lose.
    # After b: first run 3/4 * (3/8)**3 = 0.0396, second 1/2 * (1/4)**3 = 0.0078, third 1/8.
    # a 0.0198, c 0.0049, d 0.0020, e 0.0625. After e: a. Then the first run has
    # 1/4 * (1/8)**3 = 0.0005, so c 0.00006 and d 0.0020.
    ("rbp-c", {"p": 0.5}, "abc bd e", "", "beadc"),
    # The runs of a relevant document gain.
    # After b: first run 3/4 * (1/4 + 3/8)**3 = 0.1831, second 1/2 * (1/2 + 1/4)**3 = 0.2109,
    # third 1/8. a 0.0916, c 0.0229, d 0.0527, e 0.0625: a. It is not relevant: first run
    # 1/4 * (1/4 + 1/8)**3 = 0.0132, c 0.0016. So e, d, c.
    ("rbp-c", {"p": 0.5}, "abc bd e", "b", "baedc"),
    # Best rank 1: a, in two runs, then e. Move-To-Front sees a as the first run's, relevant, so
    # that run stays the current one; e is the second run's, not relevant, which falls to -1.
    # b of the first: not relevant, -1. The third is highest with 0: g, not relevant, -1. The
    # first is the first of -1: c, then second: f, third: h, first: d.
    ("depth-then", {"first": 1}, "abcd ebf agh", "a", "aebgcfhd"),
    # Means of the three runs before each document, 1/2 each at first:
    # 1/2 1/2 1/2  a of the first run.
    # 1/3 1/2 1/2  b of the second: relevant, to the credit of the first, too.
    # 2/4 2/3 1/2  d of the second, which ends.
    # 2/4  .  1/2  a tie: c of the first, which ends. e and f remain.
    ("max-mean", {}, "abc bd ef", "b", "abdcef"),
    # By default the last judgement of a run alone counts.
    # 1/2 1/2 1/2  a of the first run: now 1/3.
    # 1/3 1/2 1/2  b of the second, relevant: now 2/3 both, whatever a was.
    # 2/3 2/3 1/2  c of the first, which ends.
    #  .  2/3 1/2  d of the second, which ends. e and f remain.
    ("mm-ns", {}, "abc bd ef", "b", "abcdef"),
    # With rho = 1/2 a judgement counts half after the next one of its run.
    # After a: the first run has 0 hits of 1. After b: the first 0/2 + 1 = 1 of 1/2 + 1 = 3/2, so
    # 2 / 3.5 = 4/7; the second 1 of 1, 2/3. d of the second: 1/2 of 3/2, 1.5 / 3.5 = 3/7, and it
    # has ended. 4/7 of the first beats 1/2 of the third: c, then e and f.
    ("mm-ns", {"rho": 0.5}, "abc bd ef", "b", "abdcef"),
]
"""Runs of documents of one letter, which are relevant, and the order in which they are judged."""


@pytest.mark.parametrize(("name", "given_parameters", "runs", "relevant", "order"), WORKED)
def test_worked_examples(
    name: str, given_parameters: dict[str, ParameterValue], runs: str, relevant: str, order: str
) -> None:
    """Step by step, by hand."""
    rankings = [[*run] for run in runs.split()]
    assert play(name, rankings, dict.fromkeys(relevant, True), **given_parameters) == " ".join(order)


@pytest.mark.parametrize("name", ["rbp-b", "rbp-c"])
def test_rbp_without_judgement_leaves_residuals(name: str) -> None:
    """A document that nobody judged has told nothing, so its run stays as it was."""
    # a, of no judgement: b still has 1/4 of a whole residual, more than c with 1/8.
    rankings = [["a", "b"], ["e", "d", "c"]]
    assert play(name, rankings, {"a": None, "e": None}, p=0.5) == "e a d b c"


def head_of(rows: Rows, run: int, seen: list[int]) -> int | None:
    """Return the first unobserved document of a run."""
    return next((document for document in rows[run] if document not in seen), None)


def best_run(rows: Rows, seen: list[int], priorities: list[int], but: int | None) -> int | None:
    """Return the run of the highest priority with documents left."""
    runs = [run for run in range(len(rows)) if run != but and head_of(rows, run, seen) is not None]
    return min(runs, key=lambda run: (-priorities[run], run), default=None)


def next_to_front(rows: Rows, log: Log) -> int | None:
    """Work out the next document from the whole log: as the strategy is told, slowly."""
    seen: list[int] = []
    priorities = [0] * len(rows)
    current = best_run(rows, seen, priorities, None)
    for document, relevant in log:
        at_head = [run for run in range(len(rows)) if head_of(rows, run, seen) == document]
        seen.append(document)
        if relevant is not None and at_head:
            taken_from = min(at_head, key=lambda run: (run != current, -priorities[run], run))
            if relevant:
                current = taken_from
            else:
                priorities[taken_from] -= 1
                if taken_from == current:
                    other = best_run(rows, seen, priorities, current)
                    current = current if other is None else other
        if current is not None and head_of(rows, current, seen) is None:
            current = best_run(rows, seen, priorities, None)
    return None if current is None else head_of(rows, current, seen)


def test_hedge_equal_products_of_ranks_tie() -> None:
    """Ranks 1 and 6 are worth ranks 2 and 3, whatever the last bits of the logarithms are."""
    # Two runs of the same eight documents; y at 1 and 6, x and z at 2 and 3 and the reverse.
    # 1 * 6 = 2 * 3: all three tie, and the greatest docno comes first.
    rankings = [["y", "x", "z", "c", "d", "e", "f", "g"], ["g", "z", "x", "f", "e", "y", "d", "c"]]
    # g has 8 * 1, more than 6: it comes later.
    assert play("hedge", rankings, dict.fromkeys("xyz")).startswith("z y x g")


@pytest.mark.parametrize(("n_seen", "n_left"), [(200, 1), (1000, 0)])
def test_hedge_far_better_run_leaves_the_others_weights(n_seen: int, n_left: int) -> None:
    """When one run has nearly all the weight, what it did not return is still told apart."""
    # Of what was seen of the first run the first half is relevant, the other half not. The other two
    # runs returned none of it, so their gains and losses cancel out. The first run gained
    # (ln 200! - 2 ln 100!) / 2 = (863.2 - 2 * 363.7) / 2 = 67.9, or with 1,000
    # (5912.1 - 2 * 2611.3) / 2 = 344.7: the others' weights are 0.1**67.9 of its weight, which is
    # nothing beside what it gives to all documents alike, and 0.1**344.7 is no float.
    first = [f"a{i:04}" for i in range(n_seen + n_left)]
    rankings, docnos = rankings_of([first, ["x", "w"], ["z", "y"]])
    state = start("hedge", rankings)
    for i, docno in enumerate(first[:n_seen]):
        state.observe(docnos.index(docno), i < n_seen / 2)
    order = []
    while (chosen := state.choose()) is not None:
        order.append(docnos[chosen])
        state.observe(chosen, None)
    # First its own last one; then ranks, and docnos among equals.
    assert order == [*first[n_seen:], "z", "x", "y", "w"]


def hedge_sums(rows: Rows, log: Log, n_documents: int, beta: Decimal) -> dict[int, Decimal]:
    """Work out the sums of all unobserved documents from the whole log, as the formula stands."""
    logs = [Decimal()] + [Decimal(rank).ln() for rank in range(1, n_documents + 1)]
    seen = {document for document, _ in log}
    sums = dict.fromkeys((d for d in range(n_documents) if d not in seen), Decimal())
    for row in rows:
        missing = logs[len(row) : n_documents]
        others = logs[n_documents] - sum(missing) / len(missing) if missing else Decimal()
        advice = dict.fromkeys(range(n_documents), others)
        for rank, document in enumerate(row, start=1):
            advice[document] = logs[n_documents] - logs[rank]
        loss = sum(
            (advice[document] / 2 * (-1 if relevant else 1))
            for document, relevant in log
            if relevant is not None
        )
        for document in sums:
            sums[document] += beta**loss * advice[document]
    return sums


@given(runs=drawn_rankings, decisions=drawn_decisions, beta=st.sampled_from(["0.1", "0.5", "0.9"]))
def test_hedge_chooses_the_greatest_sum(runs: list[list[str]], decisions: Decisions, beta: str) -> None:
    """No document has a greater sum than the one chosen; of those with the same, it is the last."""
    rankings, _ = rankings_of(runs)
    rows = rows_of(rankings)

    def check(chosen: int | None, log: Log) -> None:
        with localcontext(prec=50):
            sums = hedge_sums(rows, log, rankings.n_documents, Decimal(beta))
            # Sums of a few terms between 0.1**20 and 10**20: 1e-40 is rounding, 1e-12 is not.
            best = max(sums.values(), default=Decimal())
            ties = [d for d, value in sums.items() if best - value <= best * Decimal("1e-40")]
            near = [d for d, value in sums.items() if best - value <= best * Decimal("1e-9")]
        if ties == near:
            assert chosen == max(ties, default=None)
        else:
            assert chosen in near

    relive(start("hedge", rankings, beta=float(beta)), rankings, decisions, check)


@pytest.mark.parametrize("p", [0.1, 0.2, 0.3, 0.35])
@pytest.mark.parametrize(("name", "n_drawn"), [("rbp-b", 99), ("rbp-c", 199)])
def test_rbp_residual_never_drowns(name: str, n_drawn: int, p: float) -> None:
    """What little is left of a run almost all known is told exactly, and is not rounding."""
    # First run: 60 documents judged, x left, so the residual is p**60, and x has
    # (1 - p) * p**60 * p**60 in method B, and (1 - p) * p**60 * p**240 / 8 in method C.
    # Second run: 99 or 199 documents drawn without judgement, so the residual is 1, and y has
    # (1 - p) * p**99, or (1 - p) * p**199 / 8: more. But 1 less the weights of the first run, in
    # floats, would leave about 1e-17 for the residual, and x with more than y.
    runs = [[f"a{i:02}" for i in range(60)] + ["x"], [f"b{i:03}" for i in range(n_drawn)] + ["y"]]
    rankings, docnos = rankings_of(runs)
    state = start(name, rankings, p=p)
    for run, outcome in zip(runs, (False, None), strict=True):
        for docno in run[:-1]:
            state.observe(docnos.index(docno), outcome)
    assert docnos[state.choose()] == "y"


def rbp_values(name: str, rows: Rows, log: Log, p: Fraction) -> dict[int, Fraction]:
    """Work out the values of the unobserved documents from the whole log, in fractions."""
    seen = {document for document, _ in log}
    judged = {document: relevant for document, relevant in log if relevant is not None}
    values: dict[int, Fraction] = {}
    for row in rows:
        weights = {document: (1 - p) * p**i for i, document in enumerate(row)}
        residual = 1 - sum(weights[document] for document in row if document in judged)
        base = sum((weights[document] for document in row if judged.get(document)), Fraction())
        factor = residual if name == "rbp-b" else residual * (base + residual / 2) ** 3
        for document in row:
            if document not in seen:
                values[document] = values.get(document, Fraction()) + weights[document] * factor
    return values


SHORT_RUNS = [["a", "b", "c", "d"], ["e", "b", "f"], ["a", "g", "h"]]


@given(
    runs=drawn_rankings,
    outcomes=st.dictionaries(st.sampled_from("abcdefghij"), drawn_outcomes),
    first=st.integers(1, 9),
    then=st.sampled_from([strategy.name for strategy in ADAPTIVE]),
)
def test_depth_then_equals_the_definition(
    runs: list[list[str]], outcomes: dict[str, bool | None], first: int, then: str
) -> None:
    """The depth pool in the order of take, then what the other strategy says having seen it."""
    rankings, docnos = rankings_of(runs, topic="51")
    pool = {docno for run in runs for docno in run[:first]}
    expected = [docno for docno in order_of("take", runs) if docno in pool]
    assert depth_pool_size(rankings, first=first) == len(expected)
    inner = start(then, rankings)
    for docno in expected:
        inner.observe(docnos.index(docno), outcomes.get(docno, False))
    while (chosen := inner.choose()) is not None:
        expected.append(docnos[chosen])
        inner.observe(chosen, outcomes.get(docnos[chosen], False))
    assert play("depth-then", runs, outcomes, then=then, first=first).split() == expected


def test_depth_then_unknown_strategy_is_told() -> None:
    """A name that is no adaptive strategy is told with those there are, nearest first."""
    strategy = find_strategy("depth-then")
    assert isinstance(strategy, AdaptiveStrategy)
    match = r"unknown adaptive strategy `mft`; known: `mtf`, .*`thompson`"
    with pytest.raises(UnknownNameError, match=match):
        strategy.needs_seed_for(strategy.complete({"then": "mft"}))
    with pytest.raises(UnknownNameError, match="unknown adaptive strategy `depth-then`; known: "):
        start("depth-then", rankings_of(SHORT_RUNS)[0], then="depth-then")


def test_weighted_sums_tie_within_a_share() -> None:
    """Sums within the share of the greatest tie with it; the next one does not."""
    rankings, docnos = rankings_of([["a", "b", "c"]])
    worth = np.array([[1.0, 0.995, 0.98]])
    for share, best in ((0.001, "a"), (0.01, "b"), (0.03, "c")):
        assert docnos[WeightedSums(rankings, worth, tie_within=share).best([1.0])] == best


def next_by_mean(rows: Rows, log: Log, rho: Fraction) -> int | None:
    """Work out the next document from the whole log, in fractions."""
    seen = {document for document, _ in log}
    best: tuple[Fraction, int] | None = None
    for row in rows:
        left = [document for document in row if document not in seen]
        hits = judged = Fraction()
        for document, relevant in log:
            if document in row and relevant is not None:
                hits = rho * hits + relevant
                judged = rho * judged + 1
        mean = (1 + hits) / (2 + judged)
        if left and (best is None or mean > best[0]):
            best = mean, left[0]
    return None if best is None else best[1]


def test_thompson_worked_example() -> None:
    """The third smallest of four numbers against the smallest of two."""
    rankings, docnos = rankings_of([["a", "b", "c", "x"], ["d", "y"]], topic="51")
    state = start("thompson", rankings, seed=5)
    for docno, relevant in ("a", True), ("b", False), ("c", True), ("d", False):
        state.observe(docnos.index(docno), relevant)
    # 2 hits of 3: Beta(3, 2), the third of four; 0 of 1: Beta(1, 2), the first of two.
    numbers = uniform_numbers(5, "51", 6, step=4).tolist()
    first, second = sorted(numbers[:4])[2], min(numbers[4:])
    assert docnos[state.choose()] == ("x" if first > second else "y")


def next_by_draw(rows: Rows, log: Log, seed: int) -> int | None:
    """Work out the next document from the whole log."""
    seen = {document for document, _ in log}
    draws = []
    n_used = 0
    for row in rows:
        left = [document for document in row if document not in seen]
        rewards = [relevant for document, relevant in log if document in row]
        hits, misses = rewards.count(True), rewards.count(False)
        if left:
            numbers = uniform_numbers(seed, "51", 200, step=len(log)).tolist()
            of_arm = sorted(numbers[n_used : n_used + hits + misses + 1])
            n_used += len(of_arm)
            draws.append((of_arm[hits], left[0]))
    return max(draws)[1] if draws else None


Next = Callable[[Rows, Log], int | None]


def next_by_rbp(name: str, rows: Rows, log: Log) -> int | None:
    """Work out the next document from the whole log; with p = 1/2 floats are exact."""
    values = rbp_values(name, rows, log, Fraction(1, 2))
    return max(values, key=lambda document: (values[document], document), default=None)


DEFINITIONS: list[tuple[str, dict[str, ParameterValue], Next]] = [
    ("mtf", {}, next_to_front),
    ("rbp-b", {"p": 0.5}, partial(next_by_rbp, "rbp-b")),
    ("rbp-c", {"p": 0.5}, partial(next_by_rbp, "rbp-c")),
    ("max-mean", {}, partial(next_by_mean, rho=Fraction(1))),
    *(("mm-ns", {"rho": one / 8}, partial(next_by_mean, rho=Fraction(one, 8))) for one in (0, 3, 8)),
    ("thompson", {}, partial(next_by_draw, seed=1)),
]


@given(runs=drawn_rankings, decisions=drawn_decisions)
def test_every_choice_is_that_of_the_definition(runs: list[list[str]], decisions: Decisions) -> None:
    """Each is the one worked out from all that was observed, in whatever order it came."""
    rankings, _ = rankings_of(runs, topic="51")
    rows = rows_of(rankings)

    def check(name: str, following: Next, chosen: int | None, log: Log) -> None:
        assert chosen == following(rows, log), name

    for name, parameters, following in DEFINITIONS:
        state = start(name, rankings, **parameters)
        relive(state, rankings, decisions, partial(check, name, following))


@given(
    runs=drawn_rankings,
    outcomes=st.dictionaries(st.integers(0, 9), drawn_outcomes),
    order=st.randoms(use_true_random=True),
)
def test_order_of_judgements_and_of_runs_changes_nothing(
    runs: list[list[str]], outcomes: dict[int, bool | None], order: random.Random
) -> None:
    """The same past in another order leads to the same next document; bandits ask by the runs' order."""
    rankings, docnos = rankings_of(runs, topic="51")
    shuffled, _ = rankings_of(order.sample(runs, len(runs)), topic="51")
    past = [document for document in outcomes if document < len(docnos)]
    other_past = order.sample(past, len(past))
    for name in ("rbp-b", "rbp-c", "hedge", "max-mean", "thompson"):
        one = start(name, rankings)
        other = start(name, rankings if name in ("max-mean", "thompson") else shuffled)
        for document in past:
            one.observe(document, outcomes[document])
        for document in other_past:
            other.observe(document, outcomes[document])
        assert one.choose() == other.choose(), name
