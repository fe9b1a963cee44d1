"""A rule applied to ballots: the grade of every document, as arrays that can be compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.aggregation import (
    AGGREGATED,
    AggregateResult,
    grade_sums,
    highest,
    lowest,
    majority,
    mean_half_up,
    median,
)
from store.analysis.collapse import collapse, level_index
from store.analysis.dawid_skene import DawidSkeneResult, dawid_skene
from store.analysis.grade_matrix import NO_GRADE
from store.analysis.votes import collapse_votes
from store.ballots import Ballots
from store.errors import ArgumentError, PoolerError
from store.policy import Policy

_NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What became of every document of `Ballots.pairs`; all arrays have shape (n_pairs,)."""

    is_given: NDArray[np.bool_]
    """Whether it has a grade."""
    grades: NDArray[np.int64]
    """Values of the scale; 0 and 1 where the policy has a level; or sums. 0 where none is given."""
    is_tied: NDArray[np.bool_]
    """Whether its votes are tied, resolved or not, and no ruling decided."""
    is_ruled: NDArray[np.bool_]
    """Whether a ruling decided, on a grade or on none."""
    n_fewer_votes: int = 0
    estimate: DawidSkeneResult | None = None

    def n_changed(self, other: Outcome) -> int:
        """Count the documents that have another grade, or a grade in one of the two alone."""
        return int(
            np.count_nonzero((self.is_given != other.is_given) | (self.grades != other.grades))
        )

    def at(self, level: int) -> Outcome:
        """Return the same, its grades collapsed at a level."""
        relevant = _relevant(self.grades, self.is_given, level)
        return Outcome(self.is_given, relevant, self.is_tied, self.is_ruled)


def outcome_of(ballots: Ballots, policy: Policy) -> Outcome:
    """Apply a policy's rule to votes, and put rulings in its place.

    Parameters
    ----------
    ballots : Ballots
        Gathered for this policy, or for one that differs in ties, collapse and level alone.
    policy : Policy
        Checked.

    Returns
    -------
    Outcome
        Of every document of `ballots`.

    Raises
    ------
    ArgumentError
        If sums and rulings are to be mixed, or the level of rule sum cuts nothing off.
    PoolerError
        If the rule is a single judge and several judged, or Dawid-Skene has too few judges.
    """
    n_pairs = len(ballots.pairs)
    is_given = np.zeros(n_pairs, dtype=np.bool_)
    is_tied = np.zeros(n_pairs, dtype=np.bool_)
    is_ruled = np.zeros(n_pairs, dtype=np.bool_)
    grades = np.zeros(n_pairs, dtype=np.int64)
    if policy.rule == "sum":
        sums, n_fewer = _sums(ballots, policy)
        is_given[ballots.rows], grades[ballots.rows] = True, sums
        level = policy.level
        return Outcome(is_given, grades if level is None else _relevant(grades, is_given, level),
                       is_tied, is_ruled, n_fewer)  # fmt: skip
    place, values = None, np.array(ballots.scale.values)
    if policy.collapse == "before" and policy.level is not None:
        place, values = level_index(ballots.scale, policy.level), np.array([0, 1])
    result, estimate = _apply(ballots, policy, place)
    has_grade = result.status == AGGREGATED
    is_given[ballots.rows] = has_grade
    grades[ballots.rows[has_grade]] = values[result.grades[has_grade]]
    is_tied[ballots.rows] = result.is_tied
    if policy.level is not None and place is None:
        grades = _relevant(grades, is_given, policy.level)
    for index, ruling in ballots.rulings.items():
        verdict = ruling.verdict
        is_ruled[index], is_tied[index] = True, False
        is_given[index] = verdict is not None
        if verdict is None:
            grades[index] = 0
        else:
            grades[index] = verdict if policy.level is None else verdict >= policy.level
    n_fewer = 0 if estimate is None else estimate.n_below_three
    return Outcome(is_given, grades, is_tied, is_ruled, n_fewer, estimate)


def _relevant(
    grades: NDArray[np.int64], is_given: NDArray[np.bool_], level: int
) -> NDArray[np.int64]:
    """Return 1 where a grade is given and at least the level."""
    return np.where(is_given, collapse(grades, level), 0).astype(np.int64)


def _apply(
    ballots: Ballots, policy: Policy, level_place: int | None
) -> tuple[AggregateResult, DawidSkeneResult | None]:
    """Apply any rule but sum; with a level, to votes collapsed there."""
    counts, values = ballots.counts, ballots.scale.values
    if level_place is not None:
        counts = np.add.reduceat(counts, [0, level_place], axis=1)
        values = (0, 1)
    match policy.rule:
        case "majority":
            return majority(counts, ties=policy.ties or "unresolved"), None
        case "median":
            return median(counts, ties=policy.ties or "unresolved"), None
        case "mean":
            return mean_half_up(counts, values), None
        case "min":
            return lowest(counts), None
        case "max":
            return highest(counts), None
        case "dawid-skene":
            return _estimated(ballots, level_place)
    judges = ballots.votes.judges
    if len(judges) > 1:
        more = ", ..." if len(judges) > _NAMES_SHOWN else ""
        names = ", ".join(judges[:_NAMES_SHOWN]) + more
        message = f"{len(judges)} judges judged ({names}); whose grades are meant?"
        hint = "--judge NAME takes one, --aggregate majority --ties low|high|unresolved all"
        raise PoolerError(message, hint=hint)
    return lowest(counts), None


def _estimated(
    ballots: Ballots, level_place: int | None
) -> tuple[AggregateResult, DawidSkeneResult]:
    """Apply Dawid and Skene's model, the rulings known to it."""
    votes, fixed = ballots.votes, ballots.fixed
    if level_place is not None:
        votes = collapse_votes(votes, level_place)
        fixed = np.where(fixed == NO_GRADE, NO_GRADE, fixed >= level_place).astype(np.int64)
    found = dawid_skene(votes, fixed=fixed)
    status = np.full(votes.n_documents, AGGREGATED, dtype=np.int8)
    return AggregateResult(found.low, status, found.low, found.high), found


def _sums(ballots: Ballots, policy: Policy) -> tuple[NDArray[np.int64], int]:
    """Return the sum of grades of every document with a vote, and how many had fewer votes."""
    if ballots.rulings:
        requirement = "must be another rule where rulings stand: a ruling is a grade, not a sum"
        hint = f"--without-rulings leaves {len(ballots.rulings):,} of them out"
        raise ArgumentError("--aggregate", requirement, "sum", hint=hint)
    n_votes = ballots.counts.sum(axis=1)
    values = ballots.scale.values
    if policy.level is not None and n_votes.size:
        low = int((n_votes * values[0]).min())
        high = int((n_votes * values[-1]).max())
        if not low < policy.level <= high:
            requirement = f"must be above {low} and at most {high}, as sums of grades can be here"
            raise ArgumentError("--level", requirement, policy.level)
    n_fewer = int(np.count_nonzero(n_votes < n_votes.max(initial=0)))
    return grade_sums(ballots.counts, values), n_fewer
