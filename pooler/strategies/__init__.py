"""How documents are chosen for judging: a kind a file, and the table of them all.

A strategy is pure: the rankings of one topic in, documents out (`pooler.strategies.kinds`).
"""

from __future__ import annotations

from pooler.strategies.adaptive import ADAPTIVE, depth_then_strategy
from pooler.strategies.fixed import FIXED
from pooler.strategies.kinds import AnyStrategy, FixedStrategy
from pooler.strategies.own import is_own, own_strategy
from pooler.strategies.sampling import SAMPLING
from store.errors import UnknownNameError

_LISTED: tuple[AnyStrategy, ...] = (*FIXED, *ADAPTIVE, depth_then_strategy(ADAPTIVE), *SAMPLING)
STRATEGIES = {strategy.name: strategy for strategy in _LISTED}
"""Every strategy by name, in the order they are listed."""


def find_strategy(name: str) -> AnyStrategy:
    """Return the strategy of that name, or of that function; `UnknownNameError` lists those there are.

    >>> find_strategy("depth").source
    'Sparck Jones and van Rijsbergen 1975'
    """
    if is_own(name):
        return own_strategy(name)
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownNameError("strategy", name, STRATEGIES) from None


def chooses_at_once(name: str | None) -> bool:
    """Return whether a strategy, as a manifest names it, values all documents at once, by no chance."""
    return name is not None and (is_own(name) or isinstance(STRATEGIES.get(name), FixedStrategy))
