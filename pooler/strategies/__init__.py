"""How documents are chosen for judging: one strategy a file, and the table of them all.

A strategy is pure: the rankings of one topic in, the chosen documents with their priorities out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pooler.strategies.depth import depth_priorities
from store.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a strategy."""

    name: str
    default: int
    summary: str


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way of choosing documents."""

    name: str
    summary: str
    """One sentence, for lists of strategies."""
    parameters: tuple[Parameter, ...]
    source: str
    """The publication that defines it."""
    choose: Callable[..., dict[str, float]]
    """From the rankings of one topic, and the parameters by name, to the chosen docnos in order
    of priority, each with its priority: higher first."""


STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy(
            name="depth",
            summary="the first documents of every run",
            parameters=(Parameter("depth", 100, "ranks taken from each run"),),
            source="Sparck Jones and van Rijsbergen 1975",
            choose=depth_priorities,
        ),
    )
}
"""Every strategy by name."""


def find_strategy(name: str) -> Strategy:
    """Return the strategy of that name.

    Raises
    ------
    UnknownNameError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> find_strategy("depth").source
    'Sparck Jones and van Rijsbergen 1975'
    """
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownNameError("strategy", name, STRATEGIES) from None
