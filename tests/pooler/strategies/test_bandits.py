"""`pooler.strategies.adaptive`: what all bandit strategies share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.strategies.rankings import rankings_of
from tests.pooler.strategies.adaptive import drawn_outcomes, drawn_rankings, start

BANDITS = ["max-mean", "mm-ns", "thompson"]
ORDER_FREE = [name for name in BANDITS if name != "mm-ns"]


@pytest.mark.parametrize("name", ["max-mean", "mm-ns"])
def test_bandit_credits_every_run_that_returned_the_document(name: str) -> None:
    """A reward goes to a run however far down the document stands, and to no other run."""
    # y, last of the third run, is relevant: this run alone is worth more than an unknown one.
    rankings, docnos = rankings_of([["a", "b"], ["c", "d"], ["e", "f", "y"]])
    state = start(name, rankings)
    state.observe(docnos.index("y"), True)
    assert docnos[state.choose()] == "e"


@pytest.mark.parametrize("name", BANDITS)
def test_bandit_passes_over_runs_that_have_ended(name: str) -> None:
    """A run without unobserved documents is no arm, however good it was."""
    rankings, docnos = rankings_of([["a", "b", "c"], ["d"]], topic="51")
    state = start(name, rankings)
    for docno in "abc":
        state.observe(docnos.index(docno), True)
    assert docnos[state.choose()] == "d"


@pytest.mark.parametrize("name", ORDER_FREE)
@given(runs=drawn_rankings, outcomes=st.dictionaries(st.integers(0, 9), drawn_outcomes), data=st.data())
def test_bandit_order_of_judgements_changes_nothing(
    name: str, runs: list[list[str]], outcomes: dict[int, bool | None], data: st.DataObject
) -> None:
    """The same past in another order leads to the same next document; MM-NS alone forgets."""
    rankings, docnos = rankings_of(runs, topic="51")
    past = [document for document in outcomes if document < len(docnos)]
    one, other = start(name, rankings), start(name, rankings)
    for document in past:
        one.observe(document, outcomes[document])
    for document in data.draw(st.permutations(past)):
        other.observe(document, outcomes[document])
    assert one.choose() == other.choose()
