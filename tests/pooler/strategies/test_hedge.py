"""`pooler.strategies.adaptive`: runs as experts."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies import find_strategy
from pooler.strategies.rankings import rankings_of
from store.errors import ArgumentError
from tests.pooler.strategies.adaptive import (
    Decisions,
    Log,
    Rows,
    drawn_decisions,
    drawn_outcomes,
    drawn_rankings,
    play,
    relive,
    rows_of,
    start,
)


def test_hedge_worked_example() -> None:
    """Two runs of two documents by hand: one advises in vain, the other is followed."""
    # n = 4, ln 4 = 1.386. Rank 1: 1.386, rank 2: 0.693; documents a run did not return:
    # 1.386 - (ln 2 + ln 3) / 2 = 0.490.
    # d and a have 1.386 + 0.490 both: d, the greater docno. It is not relevant: loss of the
    # first run 1.386 / 2 = 0.693, of the second 0.490 / 2 = 0.245; weights 0.1**0.693 = 0.203
    # and 0.1**0.245 = 0.569.
    # a: 0.203 * 0.490 + 0.569 * 1.386 = 0.888. b: 0.203 * 0.490 + 0.569 * 0.693 = 0.494.
    # c: 0.203 * 0.693 + 0.569 * 0.490 = 0.420. So a. It is relevant: losses 0.693 - 0.245 and
    # 0.245 - 0.693, weights 0.356 and 2.806: b before c.
    assert play("hedge", [["d", "c"], ["a", "b"]], {"a": True}) == "d a b c"


def test_hedge_relevant_advice_is_followed() -> None:
    """As above, but the first document is relevant, so its run goes on before the other."""
    # Losses -0.693 and -0.245; weights 4.93 and 1.76.
    # a: 4.93 * 0.490 + 1.76 * 1.386 = 4.86. c: 4.93 * 0.693 + 1.76 * 0.490 = 4.28.
    # b: 4.93 * 0.490 + 1.76 * 0.693 = 3.64. So a. It is not relevant: losses -0.693 + 0.245 and
    # -0.245 + 0.693: weights 2.81 and 0.356, c before b.
    assert play("hedge", [["d", "c"], ["a", "b"]], {"d": True}) == "d a c b"


def test_hedge_missing_documents_teach_too() -> None:
    """A run is credited for having left out what is not relevant."""
    # n = 6, ln 6 = 1.792. First run: one document; the others ln 6 - (ln 1 + .. + ln 5) / 5 =
    # 0.834. Second: five; the other one ln 6 - ln 5 = 0.182.
    # First choice: f, in the first run only: 1.792 + 0.182 = 1.974. a: 1.792 + 0.834 = 2.626: a.
    # b: ln 6 - ln 2 + 0.834 = 1.933, so f is next if all weights stay alike. a is not relevant:
    # losses 0.417 and 0.896, and the first run is favoured even more: weights 0.383 and 0.127.
    # f: 0.383 * 1.792 + 0.127 * 0.182 = 0.709; b: 0.383 * 0.834 + 0.127 * 1.099 = 0.459.
    assert play("hedge", [["f"], ["a", "b", "c", "d", "e"]], {}).startswith("a f")
    # a is relevant: weights 1 / 0.383 = 2.61 and 1 / 0.127 = 7.87.
    # f: 2.61 * 1.792 + 7.87 * 0.182 = 6.11; b: 2.61 * 0.834 + 7.87 * 1.099 = 10.83.
    assert play("hedge", [["f"], ["a", "b", "c", "d", "e"]], {"a": True}).startswith("a b")


def test_hedge_runs_lose_most_by_what_they_would_have_ranked_highest() -> None:
    """A document that neither of two runs returned costs the shorter one more."""
    # n = 5, ln 5 = 1.609. Documents a run did not return: of those with one document
    # 1.609 - (ln 1 + ln 2 + ln 3 + ln 4) / 4 = 0.815, of that with three 1.609 - (ln 3 + ln 4) / 2
    # = 0.367. x is not relevant: losses 1.609 / 2 of its own run, 0.367 / 2 of the run of three,
    # 0.815 / 2 of that of b; weights 0.1**0.805 = 0.157, 0.1**0.183 = 0.656, 0.1**0.407 = 0.391.
    # a: 0.656 * 1.609 + (0.391 + 0.157) * 0.815 = 1.502.
    # b: 0.391 * 1.609 + 0.656 * 0.367 + 0.157 * 0.815 = 0.998.
    # (With ln n + the mean in place of ln n - the mean the run of three would have lost more:
    # 2.852 / 2 against 2.404 / 2, and b would come before a.)
    rankings, docnos = rankings_of([["x"], ["a", "c", "d"], ["b"]])
    state = start("hedge", rankings)
    state.observe(docnos.index("x"), False)
    chosen = state.choose()
    assert chosen is not None
    assert docnos[chosen] == "a"


def test_hedge_equal_products_of_ranks_tie() -> None:
    """Ranks 1 and 6 are worth ranks 2 and 3, whatever the last bits of the logarithms are."""
    # Two runs of the same eight documents; y at 1 and 6, x and z at 2 and 3 and the reverse.
    # 1 * 6 = 2 * 3: all three tie, and the greatest docno comes first.
    rankings = [["y", "x", "z", "c", "d", "e", "f", "g"], ["g", "z", "x", "f", "e", "y", "d", "c"]]
    # g has 8 * 1, more than 6: it comes later.
    assert play("hedge", rankings, dict.fromkeys("xyz")).startswith("z y x g")


def test_hedge_long_history_keeps_the_order_of_bad_runs() -> None:
    """When one run has nearly all the weight, what it did not return is still told apart."""
    # Of the first run's first 200 documents, the first half is relevant, the other half not. The
    # other two runs returned none of them, so their gains and losses cancel out. The first run
    # gained (ln 200! - 2 ln 100!) / 2 = (863.2 - 2 * 363.7) / 2 = 67.9: the others' weights are
    # 0.1**67.9 of its weight, which is nothing beside what it gives to all documents alike.
    first = [f"a{i:03}" for i in range(201)]
    rankings, docnos = rankings_of([first, ["x", "w"], ["z", "y"]])
    state = start("hedge", rankings)
    for i, docno in enumerate(first[:200]):
        state.observe(docnos.index(docno), i < 100)
    order = []
    while (chosen := state.choose()) is not None:
        order.append(docnos[chosen])
        state.observe(chosen, None)
    # First its own last one; then ranks, and docnos among equals.
    assert order == ["a200", "z", "x", "y", "w"]


def test_hedge_far_better_run_that_has_ended_leaves_the_others_weights() -> None:
    """Weights are told apart however much better a run was, once it has nothing left."""
    # As above, with 1,000 documents, and none left: the first run gained
    # (ln 1000! - 2 ln 500!) / 2 = (5912.1 - 2 * 2611.3) / 2 = 344.7, and 0.1**344.7 is no float.
    first = [f"a{i:03}" for i in range(1000)]
    rankings, docnos = rankings_of([first, ["x", "w"], ["z", "y"]])
    state = start("hedge", rankings)
    for i, docno in enumerate(first):
        state.observe(docnos.index(docno), i < 500)
    order = []
    while (chosen := state.choose()) is not None:
        order.append(docnos[chosen])
        state.observe(chosen, None)
    assert order == ["z", "x", "y", "w"]


@pytest.mark.parametrize("beta", [0, 1])
def test_hedge_impossible_beta_is_refused(beta: float) -> None:
    """Weights must fall, and must not vanish at once."""
    with pytest.raises(ArgumentError, match=r"`beta` must be a number > 0 and < 1"):
        find_strategy("hedge").complete({"beta": beta})


def _sums(rows: Rows, log: Log, n_documents: int, beta: Decimal) -> dict[int, Decimal]:
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
            sums = _sums(rows, log, rankings.n_documents, Decimal(beta))
            # Sums of a few terms between 0.1**20 and 10**20: 1e-40 is rounding, 1e-12 is not.
            best = max(sums.values(), default=Decimal())
            ties = [d for d, value in sums.items() if best - value <= best * Decimal("1e-40")]
            near = [d for d, value in sums.items() if best - value <= best * Decimal("1e-9")]
        if ties == near:
            assert chosen == max(ties, default=None)
        else:
            assert chosen in near

    relive(start("hedge", rankings, beta=float(beta)), rankings, decisions, check)


@given(
    runs=drawn_rankings,
    outcomes=st.dictionaries(st.sampled_from("abcdefghij"), drawn_outcomes),
    data=st.data(),
)
def test_hedge_order_of_runs_and_of_judgements_changes_nothing(
    runs: list[list[str]], outcomes: dict[str, bool | None], data: st.DataObject
) -> None:
    """Other run tags give the same documents; so does the same past in another order."""
    order = play("hedge", runs, outcomes)
    assert play("hedge", data.draw(st.permutations(runs)), outcomes) == order

    rankings, docnos = rankings_of(runs)
    n_observed = data.draw(st.integers(0, len(docnos)))
    state = start("hedge", rankings)
    for docno in data.draw(st.permutations(order.split()[:n_observed])):
        state.observe(docnos.index(docno), outcomes.get(docno, False))
    chosen = state.choose()
    assert order.split()[n_observed:][:1] == ([] if chosen is None else [docnos[chosen]])
