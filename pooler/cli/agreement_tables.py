"""What `pooler agreement` computes, before anybody chooses what people are shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pooler.cli import agreement_rows as rows
from pooler.cli.agreement_against import against_rows
from pooler.cli.agreement_people import MOST_PAIRS
from pooler.cli.agreement_plan import pairs_of
from pooler.cli.agreement_settings import flat
from pooler.cli.console import Cell, Column, Table
from store.analysis.pair_stacks import all_pair_stacks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pooler.cli.agreement_settings import Asked, Pair
    from store.analysis.pair_stacks import PairStack
    from store.analysis.populations import PopulationVotes
    from store.policy import Policy


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Agreement of judges, as rows with every number."""

    judges: Table
    pairs: list[Pair]
    found: list[dict[str, Cell]]
    """Of the pairs."""
    together: list[dict[str, Cell]]
    """Of all judges; empty for two, and against a reference."""
    stacks: list[PairStack]
    """Contingency tables of every two judges; empty where nobody needs them."""
    intervals: bool
    """Whether pairs have intervals."""


def coefficients(
    votes: PopulationVotes,
    asked: Asked,
    *,
    against: str | None,
    policy: Policy,
    per_grade: bool,
    tables: bool,
    pairs_too: bool,
) -> Coefficients:
    """Compute agreement; intervals of many pairs take long, and `pairs_too` asks for them."""
    judges, topics = votes.votes.judges, votes.votes.topics
    pairs = pairs_of(judges, against)
    intervals = asked.kind != "none" and (pairs_too or len(pairs) <= MOST_PAIRS)
    together: list[dict[str, Cell]] = []
    stacks: list[PairStack] = []
    if against is None or per_grade or tables:
        stacks = list(all_pair_stacks(votes, asked.level_indices))
    if against is None:
        found = rows.pair_rows(stacks, pairs, topics, asked, intervals=intervals)
        together = rows.judges_rows(votes, asked) if len(judges) > 2 else []
    else:
        others = [first for first, _ in pairs]
        rule = None if policy.rule is None else policy
        found = against_rows(votes, against, others, asked, rule, intervals=intervals)
    return Coefficients(rows.judge_table(votes, asked), pairs, found, together, stacks, intervals)


def for_programs(
    made: Coefficients, settings: dict[str, Any], extra: Sequence[Table], *, by_topic: bool
) -> list[Table]:
    """Make the tables with every column and row."""
    columns = [Column(name) for name in settings]
    return [
        Table("settings", columns, [{key: flat(value) for key, value in settings.items()}]),
        made.judges,
        Table("all_judges", rows.judges_columns(by_topic=by_topic), list(made.together)),
        Table("pairs", rows.pair_columns(by_topic=by_topic), list(made.found)),
        *extra,
    ]


def extra_tables(
    stacks: Sequence[PairStack],
    pairs: Sequence[Pair],
    asked: Asked,
    *,
    per_grade: bool,
    tables: bool,
    every: bool,
) -> list[Table]:
    """Make the tables of grades that were asked for, of every pair or of those with documents."""
    if not stacks:
        return []
    stack = stacks[0]
    if not every:
        kept: NDArray[np.bool_] = stack.tables.sum(axis=(1, 2)) > 0
        stack = replace(stack, tables=stack.tables[kept])
        pairs = [pair for pair, is_kept in zip(pairs, kept.tolist(), strict=True) if is_kept]
    made = [rows.grade_table(stack, pairs, asked.scale)] if per_grade else []
    return [*made, *([rows.cross_tables(stack, pairs, asked.scale)] if tables else [])]
