"""What another tie rule, or the other order of collapsing, would have made of the same votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from store.analysis.aggregation import TIE_RULES, TIES
from store.ballots import Ballots
from store.outcome import outcome_of
from store.policy import Collapse, Policy


@dataclass(frozen=True, slots=True)
class Flip:
    """How many documents would fare otherwise under one other choice."""

    option: Literal["ties", "collapse"]
    value: str
    """The other choice."""
    grades: int | None
    """Documents with another grade, or with one in one of the two alone; ``None`` = the policy
    has a level, or the choice is of no matter to grades."""
    relevance: dict[int, int] = field(default_factory=dict)
    """By level: documents that would be relevant or not where they are not or are, or left out
    where they are not or are."""


def flips_of(ballots: Ballots, policy: Policy, levels: Sequence[int] = ()) -> list[Flip]:
    """Count the documents that hang on the tie rule, and on the order of collapsing.

    Parameters
    ----------
    ballots : Ballots
        Gathered for the policy.
    policy : Policy
        What was chosen.
    levels : sequence of int
        Where the policy is graded: levels at which relevance is compared.

    Returns
    -------
    list of Flip
        The other tie rules of majority and median; then, for every rule but sum and a single
        judge, the other order of collapsing. What a ruling decides never changes.

    Raises
    ------
    PoolerError
        As `store.outcome.outcome_of` does.

    Notes
    -----
    One application of the rule for each choice and level: Dawid-Skene is estimated again for each.
    """
    if policy.rule in (None, "sum"):
        return []
    chosen = outcome_of(ballots, policy)
    is_graded = policy.level is None
    wanted = tuple(levels) if policy.level is None else (policy.level,)
    flips = []
    for ties in TIES if policy.rule in TIE_RULES else ():
        if ties == policy.ties:
            continue
        other = outcome_of(ballots, replace(policy, ties=ties))
        n_changed = chosen.n_changed(other)
        relevance = (
            {level: chosen.at(level).n_changed(other.at(level)) for level in wanted}
            if is_graded
            else dict.fromkeys(wanted, n_changed)
        )
        flips.append(Flip("ties", ties, n_changed if is_graded else None, relevance))
    relevance = {}
    for level in wanted:
        here = chosen.at(level) if is_graded else chosen
        order: Collapse = "after" if policy.collapse == "before" else "before"
        there = outcome_of(ballots, replace(policy, level=level, collapse=order))
        relevance[level] = here.n_changed(there)
    value = "after" if policy.collapse == "before" else "before"
    return [*flips, Flip("collapse", value, None, relevance)] if relevance else flips
