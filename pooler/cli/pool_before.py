"""What is not said of a pool is as in an earlier one: the one added to, or the one replaced."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pooler.cli.console import warn
from pooler.cli.pool_plan import Wishes, as_wishes
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from store.pools import StoredPool


def as_added_to(wishes: Wishes, pools: Sequence[StoredPool]) -> Wishes:
    """Fill in what is not given from the newest fixed pool, with the next name and round.

    Raises
    ------
    PoolerError
        If there is no such pool.
    ArgumentError
        If no round is given and none can be counted on.
    """
    from pooler.strategies import STRATEGIES
    from pooler.strategies.kinds import FixedStrategy

    own = [
        pool
        for pool in pools
        if not pool.withdrawn
        and isinstance(STRATEGIES.get(pool.manifest.get("strategy", "")), FixedStrategy)
    ]
    if not own:
        message = "--add needs a pool to add to, and the collection has none chosen at once"
        raise PoolerError(message, hint="pooler pool without --add makes the first")
    names = {pool.name for pool in pools}
    return replace(
        _filled(wishes, own[-1]),
        name=wishes.name or _next_name(own[-1].name, names),
        round=wishes.round or _next_round([pool.round for pool in pools]),
    )


def as_replaced(wishes: Wishes, pools: Sequence[StoredPool]) -> Wishes:
    """Fill in what is not given from the pool that has the name, its round too.

    A pool that no run fed, as an imported one, says nothing but its round.
    """
    from pooler.strategies import STRATEGIES

    old = _named(wishes.pool_name, pools)
    if old is None:
        return wishes
    if old.manifest.get("strategy", "") in STRATEGIES:
        wishes = _filled(wishes, old)
    return replace(wishes, round=wishes.round or old.round)


def leaves_others_out(wishes: Wishes, pools: Sequence[StoredPool], *, has_minus: bool) -> bool:
    """Say whether what takes a pool's place leaves out other pools' documents, as that one did.

    Parameters
    ----------
    wishes : Wishes
        Of `as_replaced`.
    pools : sequence of StoredPool
        All there are.
    has_minus : bool
        Whether a file says what else to leave out. Where the old pool had one, and there is none
        now, that is warned of: its pairs are not kept.
    """
    from pooler.strategies import STRATEGIES
    from pooler.strategies.kinds import FixedStrategy

    old = _named(wishes.pool_name, pools)
    without = {} if old is None else old.manifest.get("without", {})
    if old is None or not without:
        return False
    left_out = "pools" in without
    if ("others" in without or not left_out) and not has_minus:
        what = "the pairs of a file, too" if left_out else "documents of other pools, or of a file"
        warn(f"pool `{old.name}` left out {what}; what takes its place does not, unless"
             " --minus FILE says so")  # fmt: skip
    if left_out and not isinstance(STRATEGIES.get(wishes.strategy or "depth"), FixedStrategy):
        warn(f"pool `{old.name}` left out documents of other pools; `{wishes.strategy}` cannot")
        return False
    return left_out


def _named(name: str, pools: Sequence[StoredPool]) -> StoredPool | None:
    """Return the pool that has a name."""
    return next((pool for pool in pools if pool.name == name), None)


def _filled(wishes: Wishes, old: StoredPool) -> Wishes:
    """Fill in what is not given from a pool."""
    before = as_wishes(old.manifest)
    if wishes.strategy not in (None, before["strategy"]):
        before["strategy"], before["parameters"] = wishes.strategy, {}
        before["level"] = None
    if wishes.budget is not None or wishes.total_budget is not None:
        before["budget"] = before["total_budget"] = None
    given = {name: getattr(wishes, name) for name in before}
    filled = {name: before[name] if value is None else value for name, value in given.items()}
    filled["parameters"] = {**before["parameters"], **wishes.parameters}
    return replace(wishes, **filled)


def _next_name(name: str, taken: Collection[str]) -> str:
    """Return the first free name of `pool-2`, `pool-3`, and so on."""
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
        raise ArgumentError("--round", "must be given, since no round is a number", None, hint=hint)
    return str(int(max(numbers)) + 1)
