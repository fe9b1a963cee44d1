"""Final qrels of judgements that stand in a test."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from store.grades.definition import QrelsDefinition
from store.grades.opinions import CurrentRuling, gather
from store.grades.qrels import FinalQrels, decide
from store.records import Judgement, Scale


def final_qrels(
    judgements: Sequence[Judgement],
    scale: Scale,
    definition: QrelsDefinition | None = None,
    level: int | None = None,
    *,
    adjudicators: Collection[str] = (),
    rulings: Sequence[CurrentRuling] = (),
) -> FinalQrels:
    """Choose the grade of every judged document, by default the only judge's and rulings."""
    definition = definition or QrelsDefinition()
    definition.check()
    definition.check_scale(scale, level)
    all_votes = gather(judgements, scale, definition, adjudicators=adjudicators, rulings=rulings)
    return decide(all_votes, definition, level)
