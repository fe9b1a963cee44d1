"""Agreement of people and of models apart: people with people, people with models, models with models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pooler.results.agree.settings import Chosen, Pair

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
