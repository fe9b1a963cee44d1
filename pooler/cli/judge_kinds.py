"""Words on judges of several kinds: people, models and files of unknown making are not alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pooler.cli.console import Table, counted, warn

if TYPE_CHECKING:
    from store.records import Judge

_NOUNS = {
    "human": ("person", "people"),
    "model": ("model", "models"),
    "imported": ("imported judge", "imported judges"),
    "adjudicator": ("adjudicator", "adjudicators"),
}


def kind_counts(judges: Iterable[Judge], names: Collection[str]) -> dict[str, int]:
    """Count some judges by kind, people first; empty where all are of one kind.

    Examples
    --------
    >>> from store.records import Judge, JudgeKind
    >>> known = [Judge("gpt", JudgeKind.MODEL), Judge("ann", JudgeKind.HUMAN)]
    >>> kind_counts(known, ["ann", "gpt"]), kind_counts(known, ["gpt"])
    ({'human': 1, 'model': 1}, {})
    """
    found = Counter(judge.kind.value for judge in judges if judge.name in names)
    return {kind: found[kind] for kind in _NOUNS if found[kind]} if len(found) > 1 else {}


def kinds_words(counts: Mapping[str, int]) -> str:
    """Write counts of kinds; empty for none.

    Examples
    --------
    >>> kinds_words({"human": 1, "model": 3})
    '1 person, 3 models'
    """
    return ", ".join(counted(count, *_NOUNS[kind]) for kind, count in counts.items())


def mixed(counts: Mapping[str, int], what: str = "vote together") -> str:
    """Say that judges of several kinds do something; empty where they are of one kind.

    Examples
    --------
    >>> mixed({"human": 3, "model": 2})
    'judges of several kinds vote together: 3 people, 2 models'
    """
    return f"judges of several kinds {what}: {kinds_words(counts)}" if counts else ""


def mixture_sentence(counts: Mapping[str, int], what: str = "vote together") -> list[str]:
    """Say the same as `mixed`, as a sentence of a text: a list of one, or of none."""
    return [f"{mixed(counts, what).capitalize()}."] if counts else []


def tell_kinds(counts: Mapping[str, int], what: str = "vote together") -> None:
    """Warn on stderr where judges of several kinds do something together."""
    if counts:
        warn(mixed(counts, what))


def titled(table: Table, counts: Mapping[str, int]) -> Table:
    """Say in the heading of a table which kinds of judges voted, where they were several."""
    if not counts:
        return table
    return replace(table, title=f"{table.title or 'Judged'} by {kinds_words(counts)} together")
