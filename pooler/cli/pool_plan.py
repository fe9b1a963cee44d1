"""What the options of `pooler pool` ask for, and the plan they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.plan import OutOrder, Plan
    from store.ranking import Order


DEPTH = 100
"""Ranks taken from each run, unless another number is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """The options as given; ``None`` = not given."""

    strategy: str | None
    parameters: dict[str, str] = field(default_factory=dict)
    depth: int | None
    order: Order | None
    budget: int | None
    total_budget: int | None
    out_order: OutOrder | None
    seed: int | None
    level: int | None
    name: str | None
    round: str | None

    @property
    def pool_name(self) -> str:
        """The name of the pool."""
        return self.name or "pool"

    def plan(self, *, level: int | None = None) -> Plan:
        """Make the plan; what is not given takes its default, and `level` where it is needed.

        Raises
        ------
        UnknownNameError
            If there is no such strategy, or it has no such parameter.
        ArgumentError
            If a parameter's value cannot be read.
        """
        from pooler.plan import Plan
        from pooler.strategies import find_strategy
        from pooler.strategies.kinds import AdaptiveStrategy

        strategy = find_strategy(self.strategy or "depth")
        is_adaptive = isinstance(strategy, AdaptiveStrategy)
        if self.level is not None and not is_adaptive:
            requirement = f"is for adaptive strategies, and `{strategy.name}` is not"
            raise ArgumentError("--level", requirement, self.level)
        values = strategy.parse(self.parameters)
        return Plan(
            strategy=strategy.name,
            parameters=values,
            budget=self.budget,
            total_budget=self.total_budget,
            out_order=self.out_order or "docno",
            seed=self.seed,
            level=(self.level if self.level is not None else level) if is_adaptive else None,
            name=self.pool_name,
            round=self.round or "0",
        )


def parse_parameters(given: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=VALUE`` texts.

    Raises
    ------
    ArgumentError
        If one has no ``=``, or a name comes twice.

    Examples
    --------
    >>> parse_parameters(["k=60"])
    {'k': '60'}
    """
    parameters: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ArgumentError("--param", "must be NAME=VALUE", text)
        if name in parameters:
            raise ArgumentError("--param", f"must give `{name}` once", text)
        parameters[name] = value
    return parameters


def as_wishes(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a pool's manifest says in the words of `Wishes`."""
    out_order = manifest.get("out_order")  # of an adaptive pool, `drawn`
    own = {name: str(value) for name, value in manifest["parameters"].items() if name != "depth"}
    return {
        "strategy": manifest["strategy"],
        "parameters": own,
        "depth": manifest["parameters"]["depth"],
        "order": manifest["order"],
        "budget": manifest.get("budget"),
        "total_budget": manifest.get("total_budget"),
        "out_order": out_order if out_order in ("priority", "random") else None,
        "seed": manifest["seed"],
        "level": manifest.get("level"),
    }
