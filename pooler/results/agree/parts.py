"""Agreement of people and of models apart: people with people, people with models, models with models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from pooler.results.agree.rows import judges_rows, pair_rows
from store.analysis.agreement.tables import all_pair_stacks, sharing_pairs

if TYPE_CHECKING:
    from pooler.results.agree.settings import AgreementOptions, Chosen, Pair
    from store.analysis.agreement.populations import PopulationVotes

Row = Mapping[str, Any]

PEOPLE, ACROSS, MODELS = "people", "people and models", "models"
"""The parts, in order."""
EVERY_PERSON, EVERY_MODEL = "(people)", "(models)"
"""Stand for every label of one side; no judge's name has a bracket in front."""

_ACROSS = ("kappa", "linear", "quadratic", "pi", "s", "ac1", "ac2", "raw", "positive", "macro_overlap")
"""Coefficients of pairs that say how far two sides agree, all pairs thrown together."""
_WITH_INTERVAL = ("kappa", "quadratic", "macro_overlap")


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the judges who are measured, and which pairs of them."""

    name: str
    judges: tuple[str, ...]
    pairs: tuple[Pair, ...]

    @property
    def is_across(self) -> bool:
        """Whether each pair is a person and a model."""
        return self.name == ACROSS


def parts_of(chosen: Chosen) -> Iterator[Part]:
    """Yield the parts that have a pair."""
    people, models = chosen.people, chosen.models
    for part in (
        Part(PEOPLE, people, tuple(combinations(people, 2))),
        Part(ACROSS, (*people, *models), tuple(product(people, models))),
        Part(MODELS, models, tuple(combinations(models, 2))),
    ):
        if part.pairs:
            yield part


def across_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Turn rows of one pair, the labels of both sides, into rows of coefficients of all judges."""
    return [
        {
            "topic": row["topic"],
            "level": row["level"],
            "coefficient": name,
            "value": row[name],
            "low": row.get(f"{name}_low"),
            "high": row.get(f"{name}_high"),
            "n": row["n"],
            "topics": row.get("macro_topics") if name == "macro_overlap" else row["topics"],
            "reason": row["reason"] if row[name] is None else None,
            "interval_reason": row.get("interval_reason") if name in _WITH_INTERVAL else None,
        }
        for row in rows
        for name in _ACROSS
        if name == "kappa" or row.get(name) is not None
    ]


def part_rows(
    part: Part, population: PopulationVotes, options: AgreementOptions, *, intervals: bool, leaves_out: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Measure one part of the judges: rows of its pairs, of all of them, and how many pairs are left out.

    `population` has the judges of the part; `leaves_out`: pairs that share no document.
    """
    from store.grades.reference import pairs_together

    topics, named = population.votes.topics, list(part.pairs)
    if part.is_across:
        stacks, both = pairs_together(population, named, options.level_indices)
        labels = (EVERY_PERSON, EVERY_MODEL)
        together = pair_rows(both, [labels], topics, options, intervals=options.kind != "none")
        n_topics = int(both[0].topic_tables(0).any(axis=(1, 2)).sum())
        all_ = across_rows([{"topics": n_topics if row["topic"] == "all" else 1, **row} for row in together])
    else:
        stacks = list(all_pair_stacks(population, options.level_indices))
        all_ = judges_rows(population, options)
    n_pairs = len(named)
    if leaves_out:
        stacks, kept = sharing_pairs(stacks)
        named = [named[number] for number in kept]
    rows = pair_rows(stacks, named, topics, options, intervals=intervals)
    of_part = {"part": part.name}
    return ([{**of_part, **row} for row in rows], [{**of_part, **row} for row in all_], n_pairs - len(named))
