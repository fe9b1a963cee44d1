"""`pooler agreement --against`: every judge, all labels, and their aggregate, against one judge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pooler.cli.agreement_rows import pair_rows
from pooler.cli.agreement_settings import ALL_LABELS, Asked, Pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.cli.console import Cell
    from store.analysis.populations import PopulationVotes
    from store.outcome import Outcome
    from store.policy import Policy


def against_rows(
    population: PopulationVotes,
    reference: str,
    others: Sequence[str],
    asked: Asked,
    policy: Policy | None,
    *,
    intervals: bool,
) -> list[dict[str, Cell]]:
    """Compare judges with a reference.

    Parameters
    ----------
    population : PopulationVotes
        Votes of `reference` and `others`.
    reference : str
        The second of every pair.
    others : sequence of str
        The first ones; then come all their labels thrown together.
    asked : Asked
        What is to be computed.
    policy : Policy, optional
        How the others' grades are aggregated, for one more comparison.
    intervals : bool
        Whether each judge has intervals; the rows on all of them have in any case.
    """
    from store.analysis.pair_stacks import stacks_of
    from store.analysis.pair_tables import pair_tables

    topics, levels = population.votes.topics, asked.level_indices
    by_topic = np.array([
        population.total(partial(pair_tables, first=other, second=reference)) for other in others
    ])  # fmt: skip
    together = by_topic.sum(axis=0)[np.newaxis]
    wanted = asked.kind != "none"
    rows = pair_rows(
        stacks_of(together, levels), [(ALL_LABELS, reference)], topics, asked, intervals=wanted
    )
    if policy is not None:
        rows += _aggregate_rows(population, reference, others, asked, policy, intervals=wanted)
    pairs: list[Pair] = [(other, reference) for other in others]
    rows += pair_rows(stacks_of(by_topic, levels), pairs, topics, asked, intervals=intervals)
    return rows


def aggregate_name(policy: Policy) -> str:
    """Name the aggregate in the place of a judge.

    Examples
    --------
    >>> from store.policy import Policy
    >>> aggregate_name(Policy(rule="majority", ties="low", collapse="before", level=2))
    '(majority, ties low, collapsed before)'
    """
    parts = [str(policy.rule), *([f"ties {policy.ties}"] if policy.ties else [])]
    parts += ["collapsed before"] if policy.collapse == "before" else []
    return f"({', '.join(parts)})"


def _aggregate_rows(
    population: PopulationVotes,
    reference: str,
    others: Sequence[str],
    asked: Asked,
    policy: Policy,
    *,
    intervals: bool,
) -> list[dict[str, Cell]]:
    """Compare the others' aggregate with the reference."""
    from dataclasses import replace

    from store.analysis.pair_stacks import binary_stack, stacks_of
    from store.analysis.votes import votes_of_judges
    from store.ballots import Ballots
    from store.outcome import outcome_of

    votes = population.votes
    code = votes.judge_index(reference)
    theirs = np.full(votes.n_documents, -1, dtype=np.int64)
    of_reference = votes.judge_codes == code
    theirs[votes.documents[of_reference]] = votes.places[of_reference]
    ballots = Ballots(
        scale=asked.scale,
        pairs=(("", ""),) * votes.n_documents,  # arrays say which is which
        votes=votes_of_judges(votes, others),
        rows=np.unique(votes.documents[~of_reference]),
        iterations={},
        reasons={},
        rulings={},
    )
    pairs: list[Pair] = [(aggregate_name(policy), reference)]
    if policy.collapse == "after":
        outcome = outcome_of(ballots, policy)
        given = np.searchsorted(np.array(asked.scale.values), outcome.grades)
        tables = _tables(population, outcome, given, theirs, population.default)
        stacks = stacks_of(tables[np.newaxis], asked.level_indices)
    else:
        stacks = []
        for level, index in zip(asked.levels, asked.level_indices, strict=True):
            outcome = outcome_of(ballots, replace(policy, level=level))
            relevant = np.where(theirs < 0, -1, theirs >= index)
            default = None if population.default is None else int(population.default >= index)
            binary = _tables(population, outcome, outcome.grades, relevant, default, n_grades=2)
            stacks.append(binary_stack(binary[np.newaxis], index))
    return pair_rows(stacks, pairs, votes.topics, asked, intervals=intervals)


def _tables(
    population: PopulationVotes,
    outcome: Outcome,
    given: NDArray[np.int64],
    theirs: NDArray[np.int64],
    default: int | None,
    n_grades: int | None = None,
) -> NDArray[np.int64]:
    """Count documents by topic, aggregated grade and the reference's grade."""
    votes = population.votes
    q, n_topics = n_grades or votes.n_grades, len(votes.topics)
    both = outcome.is_given & (theirs >= 0)
    cells = (votes.topic_codes[both] * q + given[both]) * q + theirs[both]
    tables = np.bincount(cells, minlength=n_topics * q * q).reshape(n_topics, q, q)
    if default is not None:
        tables[:, default, default] += population.blanks
    return tables
