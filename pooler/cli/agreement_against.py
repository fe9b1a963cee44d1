"""`pooler agreement --against`: every judge, all labels, and their aggregate, against one judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pooler.cli.agreement_rows import pair_rows
from pooler.cli.agreement_settings import ALL_LABELS, Asked, Pair

if TYPE_CHECKING:
    from pooler.cli.console import Cell
    from store.analysis.populations import PopulationVotes
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
    from store.reference_judge import aggregate_against, judges_against

    topics, wanted = population.votes.topics, asked.kind != "none"
    each, together = judges_against(population, reference, others, asked.level_indices)
    rows = pair_rows(together, [(ALL_LABELS, reference)], topics, asked, intervals=wanted)
    if policy is not None:
        stacks = aggregate_against(population, reference, others, asked.scale, asked.levels, policy)
        named: list[Pair] = [(aggregate_name(policy), reference)]
        rows += pair_rows(stacks, named, topics, asked, intervals=wanted)
    pairs: list[Pair] = [(other, reference) for other in others]
    rows += pair_rows(each, pairs, topics, asked, intervals=intervals)
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
