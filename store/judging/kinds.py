"""How many judges of each kind have a say: people, models and files of unknown making."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from store.records import Judge, JudgeKind


def kind_counts(judges: Iterable[Judge], names: Collection[str]) -> dict[str, int]:
    """Count some judges by kind, people first; empty where all are of one kind.

    Examples
    --------
    >>> known = [Judge("gpt", JudgeKind.MODEL), Judge("ann", JudgeKind.HUMAN)]
    >>> kind_counts(known, ["ann", "gpt"]), kind_counts(known, ["gpt"])
    ({'human': 1, 'model': 1}, {})
    """
    found = Counter(judge.kind for judge in judges if judge.name in names)
    return {kind.value: found[kind] for kind in JudgeKind if found[kind]} if len(found) > 1 else {}


def names_if_models(judges: Iterable[Judge], names: Collection[str]) -> tuple[str, ...]:
    """Return some judges' names where every one of them is a model's; else nothing.

    Examples
    --------
    >>> known = [Judge("gpt", JudgeKind.MODEL), Judge("ann", JudgeKind.HUMAN)]
    >>> names_if_models(known, ["gpt"]), names_if_models(known, ["ann", "gpt"])
    (('gpt',), ())
    """
    found = [judge for judge in judges if judge.name in names]
    are_models = all(judge.kind is JudgeKind.MODEL for judge in found)
    return tuple(judge.name for judge in found) if are_models else ()
