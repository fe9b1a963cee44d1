"""`pooler.strategies`: the table of strategies."""

from __future__ import annotations

import pytest

from pooler.strategies import STRATEGIES, find_strategy
from store.errors import UnknownNameError


def test_strategies_each_runs_with_its_defaults() -> None:
    """Every strategy chooses documents with the parameters the table states."""
    for name, strategy in STRATEGIES.items():
        assert strategy.name == name
        assert strategy.summary
        assert strategy.source
        defaults = {parameter.name: parameter.default for parameter in strategy.parameters}
        assert set(strategy.choose([["a", "b"], ["b"]], **defaults)) == {"a", "b"}


def test_find_strategy_unknown_name_lists_the_known() -> None:
    """A name that no strategy has is told with those there are."""
    assert find_strategy("depth") is STRATEGIES["depth"]
    with pytest.raises(UnknownNameError, match="unknown strategy `dept`; known: `depth`"):
        find_strategy("dept")
