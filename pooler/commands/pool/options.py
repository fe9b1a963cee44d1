"""What a pool is to be, as it was asked for; what is not said is as in an earlier pool."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pooler.messages import warn
from pooler.pools.plan import Plan
from pooler.strategies import STRATEGIES, chooses_at_once, find_strategy
from pooler.strategies.kinds import AdaptiveStrategy
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from store.content.pools import StoredPool
    from store.records import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """The options as given; ``None`` = not given."""

    strategy: str | None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """As text or as values."""
    depth: int | None
    order: Order | None
    budget: int | None
    seed: int | None
    level: int | None
    name: str | None
    round: str | None
    one_of: bool = False
    """Whether classes of near-duplicates are given, which a manifest does not hold."""

    @property
    def pool_name(self) -> str:
        """The name of the pool."""
        return self.name or "pool"

    def plan(self, *, level: int | None = None) -> Plan:
        """Make the plan; what is not given takes its default, and `level` where it is needed."""
        strategy = find_strategy(self.strategy or "depth")
        is_adaptive = isinstance(strategy, AdaptiveStrategy)
        if self.level is not None and not is_adaptive:
            requirement = f"is for adaptive strategies, and `{strategy.name}` is not"
            raise ArgumentError("level", requirement, self.level)
        texts = {name: one for name, one in self.parameters.items() if isinstance(one, str)}
        values = {**self.parameters, **strategy.parse(texts)}
        return Plan(
            strategy=self.strategy or "depth",
            parameters=values,
            budget=self.budget,
            seed=self.seed,
            level=(self.level if self.level is not None else level) if is_adaptive else None,
            name=self.pool_name,
            round=self.round or "0",
        )


def parse_parameters(option: str, given: Sequence[str]) -> dict[str, str]:
    """Read ``NAME=VALUE`` texts, each name once.

    >>> parse_parameters("parameters", ["k=60"])
    {'k': '60'}
    """
    parameters: dict[str, str] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ArgumentError(option, "must be NAME=VALUE", text)
        if name in parameters:
            raise ArgumentError(option, f"must give `{name}` once", text)
        parameters[name] = value
    return parameters


def options_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of `PoolOptions` as a pool's manifest says them."""
    own = {name: str(value) for name, value in manifest["parameters"].items() if name != "depth"}
    return {
        "strategy": manifest["strategy"],
        "parameters": own,
        "depth": manifest["parameters"]["depth"],
        "order": manifest["order"],
        "budget": manifest.get("budget"),
        "seed": manifest["seed"],
        "level": manifest.get("level"),
    }


def as_added_to(options: PoolOptions, pools: Sequence[StoredPool]) -> PoolOptions:
    """Fill in what is not given from the newest fixed pool, with the next name and round.

    `ArgumentError`: no round is given and none can be counted on.
    """
    own = [pool for pool in pools if not pool.withdrawn and chooses_at_once(pool.manifest.get("strategy"))]
    if not own:
        message = (
            "--add needs a pool to add to, and the collection has none whose documents were chosen at once"
        )
        raise PoolerError(message, hint="pooler pool without --add makes the first")
    names = {pool.name for pool in pools}
    return replace(
        _filled(options, own[-1]),
        name=options.name or _next_name(own[-1].name, names),
        round=options.round or _next_round([pool.round for pool in pools]),
    )


def as_replaced(options: PoolOptions, pools: Sequence[StoredPool]) -> PoolOptions:
    """Fill in what is not given from the pool that has the name, its round too.

    A pool that no run fed, as an imported one, says nothing but its round.
    """
    old = _named(options.pool_name, pools)
    if old is None:
        return options
    strategy = old.manifest.get("strategy")
    if strategy in STRATEGIES or chooses_at_once(strategy):
        options = _filled(options, old)
    return replace(options, round=options.round or old.round)


def leaves_others_out(options: PoolOptions, pools: Sequence[StoredPool], *, has_minus: bool) -> bool:
    """Return whether what takes a pool's place leaves out other pools' documents, as that one did.

    Where the old pool had a file of pairs left out, and there is none now, that is warned of.
    """
    old = _named(options.pool_name, pools)
    without = {} if old is None else old.manifest.get("without", {})
    if old is None or not without:
        return False
    left_out = "pools" in without
    if ("others" in without or not left_out) and not has_minus:
        what = "the pairs of a file, too" if left_out else "documents of other pools, or of a file"
        warn(f"pool `{old.name}` left out {what}; its replacement does not, unless --minus FILE says so")
    if left_out and not chooses_at_once(options.strategy or "depth"):
        warn(f"pool `{old.name}` left out documents of other pools; `{options.strategy}` cannot")
        return False
    return left_out


def _named(name: str, pools: Sequence[StoredPool]) -> StoredPool | None:
    return next((pool for pool in pools if pool.name == name), None)


def _filled(options: PoolOptions, old: StoredPool) -> PoolOptions:
    if "one_of" in old.manifest and not options.one_of:
        has_one = f"pool `{old.name}` has one document of near-duplicates"
        warn(f"{has_one}; the new pool has all, unless --one-of CLASSES names them")
    before = options_of(old.manifest)
    if options.strategy not in (None, before["strategy"]):
        before["strategy"], before["parameters"] = options.strategy, {}
        before["level"] = None
    given = {name: getattr(options, name) for name in before}
    filled = {name: before[name] if value is None else value for name, value in given.items()}
    filled["parameters"] = {**before["parameters"], **options.parameters}
    return replace(options, **filled)


def _next_name(name: str, taken: Container[str]) -> str:
    stem = re.sub(r"-[0-9]+$", "", name)
    number = 2
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"


def _next_round(rounds: Sequence[str]) -> str:
    """Return the whole number after the highest round; rounds need not be numbers, though."""
    numbers = [float(label) for label in rounds if re.fullmatch(r"[0-9]+(\.[0-9]+)?", label)]
    if not numbers:
        hint = "--round LABEL names the new one"
        raise ArgumentError("round", "must be given, since no round is a number", None, hint=hint)
    return str(int(max(numbers)) + 1)
