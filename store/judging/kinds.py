"""How many judges of each kind have a say: people, models and files of unknown making."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from store.records import Judge, JudgeKind


def kind_counts(judges: Iterable[Judge], names: Collection[str]) -> dict[str, int]:
    """Count some judges by kind, people first; empty where all are of one kind."""
    found = Counter(judge.kind for judge in judges if judge.name in names)
    return {kind.value: found[kind] for kind in JudgeKind if found[kind]} if len(found) > 1 else {}


def names_if_models(judges: Iterable[Judge], names: Collection[str]) -> tuple[str, ...]:
    """Return some judges' names where every one of them is a model's; else nothing."""
    found = [judge for judge in judges if judge.name in names]
    are_models = all(judge.kind is JudgeKind.MODEL for judge in found)
    return tuple(judge.name for judge in found) if are_models else ()
