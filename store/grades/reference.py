"""Tables of some pairs of judges, of all their labels, and of an aggregate against one judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.tables import PairStack, binary_stack, pair_tables, stacks_of
from store.analysis.agreement.votes import NO_GRADE, PopulationVotes, Votes, level_index, votes_of_judges
from store.grades.definition import QrelsDefinition
from store.grades.opinions import NO_ROUND, AllVotes
from store.grades.qrels import GradeOutcome, outcome_of
from store.records import RANKS, Scale, State


def pairs_together(
    population: PopulationVotes, pairs: Sequence[tuple[str, str]], level_indices: Sequence[int]
) -> tuple[list[PairStack], list[PairStack]]:
    """Count how two judges graded the same documents, of some pairs.

    One pair for each of `pairs`, and one of all of them thrown together, in which a document counts once
    for each pair of judges who graded it. `level_indices`: see `store.analysis.agreement.tables.stacks_of`.
    """
    by_topic = np.array(
        [pair_tables(population.votes, first=first, second=second) for first, second in pairs]
    )
    together = by_topic.sum(axis=0)[np.newaxis]
    return stacks_of(by_topic, level_indices), stacks_of(together, level_indices)


def aggregate_against(
    population: PopulationVotes,
    reference: str,
    others: Sequence[str],
    scale: Scale,
    levels: Sequence[int],
    definition: QrelsDefinition,
) -> list[PairStack]:
    """Count how the aggregate of judges and a reference graded the same documents.

    The stacks are of one pair: graded, then at each level; none is graded where grades are binary first. The
    definition is a rule without rulings; documents that it leaves without a grade are not counted.
    """
    votes = population.votes
    of_reference = votes.judge_codes == votes.judge_index(reference)
    theirs = np.full(votes.n_documents, NO_GRADE, dtype=np.int64)
    theirs[votes.documents[of_reference]] = votes.places[of_reference]
    all_votes = votes_alone(votes, others, scale)
    indices = [level_index(scale, level) for level in levels]
    if not definition.binary_first:
        outcome = outcome_of(all_votes, definition)
        given = np.searchsorted(np.array(scale.values), outcome.grades)
        tables = _tables(votes, outcome, given, theirs, votes.n_grades)
        return stacks_of(tables[np.newaxis], indices)
    stacks = []
    for level, index in zip(levels, indices, strict=True):
        outcome = outcome_of(all_votes, definition, level)
        relevant = np.where(theirs == NO_GRADE, NO_GRADE, theirs >= index)
        binary = _tables(votes, outcome, outcome.grades, relevant, 2)
        stacks.append(binary_stack(binary[np.newaxis], index))
    return stacks


def votes_alone(votes: Votes, judges: Sequence[str], scale: Scale) -> AllVotes:
    """Return the votes of some judges as rules take them: without rounds, states and rulings.

    Documents are those of `votes`, in their order, and have no names: arrays say which is which.
    """
    voted = np.isin(votes.judge_codes, [votes.judge_index(judge) for judge in judges])
    return AllVotes(
        scale=scale,
        topics=votes.topics,
        docnos=(),
        topic_codes=votes.topic_codes,
        docno_codes=np.arange(votes.n_documents),
        votes=votes_of_judges(votes, judges),
        rows=np.unique(votes.documents[voted]),
        rounds=(),
        round_codes=np.full(votes.n_documents, NO_ROUND, dtype=np.int64),
        ranks=np.full(votes.n_documents, RANKS[State.JUDGED], dtype=np.int8),
        rulings={},
    )


def _tables(
    votes: Votes, outcome: GradeOutcome, given: NDArray[np.int64], theirs: NDArray[np.int64], n_grades: int
) -> NDArray[np.int64]:
    q, n_topics = n_grades, len(votes.topics)
    both = outcome.is_given & (theirs != NO_GRADE)
    cells = (votes.topic_codes[both] * q + given[both]) * q + theirs[both]
    return np.bincount(cells, minlength=n_topics * q * q).reshape(n_topics, q, q)
