"""How many judges of each kind have a say."""

from __future__ import annotations

from store.judging.kinds import kind_counts, names_if_models
from store.records import Judge, JudgeKind

KNOWN = [Judge("gpt", JudgeKind.MODEL), Judge("ann", JudgeKind.HUMAN)]


def test_kinds_are_counted_where_there_are_several() -> None:
    """People first; nothing where all are of one kind."""
    assert kind_counts(KNOWN, ["ann", "gpt"]) == {"human": 1, "model": 1}
    assert kind_counts(KNOWN, ["gpt"]) == {}


def test_models_are_named_where_no_other_has_a_say() -> None:
    """One person among them, and nobody is named."""
    assert names_if_models(KNOWN, ["gpt"]) == ("gpt",)
    assert names_if_models(KNOWN, ["ann", "gpt"]) == ()
