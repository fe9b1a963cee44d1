"""Final qrels of judgements that stand in a test."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from store.grades.opinions import CurrentRuling, gather
from store.grades.policy import Policy
from store.grades.qrels import FinalQrels, decide
from store.records import Judgement, Scale


def final_qrels(
    judgements: Sequence[Judgement],
    scale: Scale,
    policy: Policy | None = None,
    *,
    adjudicators: Collection[str] = (),
    rulings: Sequence[CurrentRuling] = (),
) -> FinalQrels:
    """Choose the grade of every judged document, by default the only judge's and rulings."""
    policy = policy or Policy()
    policy.check()
    policy.check_scale(scale)
    all_votes = gather(judgements, scale, policy, adjudicators=adjudicators, rulings=rulings)
    return decide(all_votes, policy)
