"""`pooler.strategies.adaptive`: the run with the best mean, and old judgements that fade."""

from __future__ import annotations

from fractions import Fraction

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
    drawn_rankings,
    play,
    relive,
    rows_of,
    start,
)

RANKINGS = [["a", "b", "c"], ["b", "d"], ["e", "f"]]


def test_max_mean_worked_example() -> None:
    """Three runs by hand; b is the one relevant document, in two of them."""
    # Means of the three runs before each document, 1/2 each at first:
    # 1/2 1/2 1/2  a of the first run.
    # 1/3 1/2 1/2  b of the second: relevant, to the credit of the first, too.
    # 2/4 2/3 1/2  d of the second, which ends.
    # 2/4  .  1/2  a tie: c of the first, which ends. e and f remain.
    assert play("max-mean", RANKINGS, {"b": True}) == "a b d c e f"


def test_mm_ns_worked_example() -> None:
    """By default the last judgement of a run alone counts."""
    # 1/2 1/2 1/2  a of the first run: now 1/3.
    # 1/3 1/2 1/2  b of the second, relevant: now 2/3 both, whatever a was.
    # 2/3 2/3 1/2  c of the first, which ends.
    #  .  2/3 1/2  d of the second, which ends. e and f remain.
    assert play("mm-ns", RANKINGS, {"b": True}) == "a b c d e f"


def test_mm_ns_half_forgotten_worked_example() -> None:
    """With rho = 1/2 a judgement counts half after the next one of its run."""
    # After a: the first run has 0 hits of 1. After b: the first 0/2 + 1 = 1 of 1/2 + 1 = 3/2, so
    # 2 / 3.5 = 4/7; the second 1 of 1, 2/3. d of the second: 1/2 of 3/2, 1.5 / 3.5 = 3/7, and it
    # has ended. 4/7 of the first beats 1/2 of the third: c, then e and f.
    assert play("mm-ns", RANKINGS, {"b": True}, rho=0.5) == "a b d c e f"


def test_max_mean_without_judgement_counts_nothing() -> None:
    """A document that nobody judged leaves its run where it was."""
    assert play("max-mean", [["a", "b"], ["c"]], {"a": None}) == "a b c"


@pytest.mark.parametrize("rho", [-0.1, 1.1])
def test_mm_ns_impossible_rho_is_refused(rho: float) -> None:
    """The past cannot count more than the present, nor less than nothing."""
    with pytest.raises(ArgumentError, match=r"`rho` must be a number >= 0 and <= 1"):
        find_strategy("mm-ns").complete({"rho": rho})


def _next(rows: Rows, log: Log, rho: Fraction) -> int | None:
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


@given(runs=drawn_rankings, decisions=drawn_decisions, eighths=st.integers(0, 8))
def test_mm_ns_equals_the_definition(runs: list[list[str]], decisions: Decisions, eighths: int) -> None:
    """Every choice is the one worked out from all that was observed, in whatever order it came."""
    rankings, _ = rankings_of(runs)
    rows = rows_of(rankings)
    rho = Fraction(eighths, 8)

    def check(chosen: int | None, log: Log) -> None:
        assert chosen == _next(rows, log, rho)

    relive(start("mm-ns", rankings, rho=float(rho)), rankings, decisions, check)


@given(runs=drawn_rankings, decisions=drawn_decisions)
def test_max_mean_equals_the_definition(runs: list[list[str]], decisions: Decisions) -> None:
    """Every choice is the one worked out from all that was observed, in whatever order it came."""
    rankings, _ = rankings_of(runs)
    rows = rows_of(rankings)

    def check(chosen: int | None, log: Log) -> None:
        assert chosen == _next(rows, log, Fraction(1))

    relive(start("max-mean", rankings), rankings, decisions, check)
