"""What another tie rule, or the other order of collapsing, would have made of the same votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from store.analysis.aggregation import TIE_RULES, TIES
from store.ballots import Ballots
from store.outcome import Outcome, outcome_of
from store.policy import Collapse, Policy


@dataclass(frozen=True, slots=True)
class Change:
    """Documents that fare otherwise under another choice, each counted once."""

    added: int = 0
    """They have a grade under the other choice alone."""
    removed: int = 0
    """They have a grade under the choice that was made alone."""
    changed: int = 0
    """They have a grade under both, and another one; of relevance, relevant or not."""

    @property
    def total(self) -> int:
        """All of them."""
        return self.added + self.removed + self.changed

    def to_json(self) -> dict[str, int]:
        """Return what a manifest says of it."""
        return {"added": self.added, "removed": self.removed, "changed": self.changed}


@dataclass(frozen=True, slots=True)
class Flip:
    """How many documents would fare otherwise under one other choice."""

    option: Literal["ties", "collapse"]
    value: str
    """The other choice."""
    grades: Change | None
    """``None`` = the policy has a level, or the choice is of no matter to grades."""
    relevance: dict[int, Change] = field(default_factory=dict)
    """By level."""


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
        change = _change(chosen, other)
        relevance = (
            {level: _change(chosen.at(level), other.at(level)) for level in wanted}
            if is_graded
            else dict.fromkeys(wanted, change)
        )
        flips.append(Flip("ties", ties, change if is_graded else None, relevance))
    relevance = {}
    for level in wanted:
        here = chosen.at(level) if is_graded else chosen
        order: Collapse = "after" if policy.collapse == "before" else "before"
        there = outcome_of(ballots, replace(policy, level=level, collapse=order))
        relevance[level] = _change(here, there)
    value = "after" if policy.collapse == "before" else "before"
    return [*flips, Flip("collapse", value, None, relevance)] if relevance else flips


def _change(here: Outcome, there: Outcome) -> Change:
    """Count what would be otherwise there."""
    added = int(np.count_nonzero(there.is_given & ~here.is_given))
    removed = int(np.count_nonzero(here.is_given & ~there.is_given))
    return Change(added, removed, here.n_changed(there) - added - removed)
