"""Judgings in which a topic has no relevant document: the option, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import counted, say, warn

if TYPE_CHECKING:
    from store.analysis.collection_variation import CollectionVariation

TOLD = 0.001
"""Probability of no relevant document above which a topic is told of."""
FLAGGED = 0.5
"""Probability above which a topic had better not be one."""


class EmptyRule(StrEnum):
    """What becomes of such judgings."""

    GIVEN = "given"
    ZERO = "zero"


EmptyOption = Annotated[
    EmptyRule,
    typer.Option(
        "--empty",
        help="Judgings in which a topic has no relevant document: left out, as AP is not defined"
        " there, or counted with an AP of 0, as by trec_eval.",
    ),
]


def empty_words(topics: Sequence[str], varied: CollectionVariation) -> list[str]:
    """Say in how many topics nothing may be relevant, and where that is likely.

    Parameters
    ----------
    topics : sequence of str
        Their names.
    varied : CollectionVariation
        Their moments.

    Returns
    -------
    list of str
        A sentence of those above .001 and one of those above .5, each where there are any.
    """
    chances = dict(zip(topics, varied.none_relevant.tolist(), strict=True))
    told = [topic for topic, chance in chances.items() if chance > TOLD]
    if not told:
        return []
    most = max(told, key=chances.__getitem__)
    rule = "are left out" if varied.empty == "given" else "count with an AP of 0"
    place = "it may be that nothing is relevant"
    words = [
        f"in {len(told):,} of {counted(len(topics), 'topic')} {place} (most likely in {most}:"
        f" {_percent(chances[most])}); such judgings {rule} (--empty given|zero)"
    ]
    flagged = [topic for topic in told if chances[topic] > FLAGGED]
    if flagged:
        others = f" and {len(flagged) - 3:,} more" if len(flagged) > 3 else ""
        words.append(
            f"{', '.join(flagged[:3])}{others}: more likely than not nothing is relevant; better"
            " no topic at all"
        )
    return words


def say_empty(topics: Sequence[str], varied: CollectionVariation) -> None:
    """Say it on stderr; topics that are likely to be empty are warned of."""
    for words, tell in zip(empty_words(topics, varied), (say, warn), strict=False):
        tell(words)


def _percent(chance: float) -> str:
    """Write a probability in per cent, with a digit more where it is small."""
    return f"{chance:.0%}" if chance >= 0.1 else f"{chance:.1%}"
