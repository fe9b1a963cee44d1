"""How the pools of a collection were made, where that is another way than by depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pooler.cli.console import say, warn
from pooler.cli.diagnosis_plan import Recipe, recipe_of
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import SamplingStrategy
from store.collection import Collection
from store.errors import PoolerError

if TYPE_CHECKING:
    from pooler.cli.given import Given

_HINT = "without --repool, what a run alone brought within the depth is taken away"


def check_pools(given: Given, *, repool: bool, depth: int | None) -> Recipe | None:
    """Say where pools of the collection are no depth pools, and how they can be made again.

    Parameters
    ----------
    given : Given
        What the user named.
    repool : bool
        Whether the pool shall be made again without each run.
    depth : int or None
        That the user named.

    Returns
    -------
    Recipe or None
        With `repool`, how the pool was made; ``None`` = by depth alone.

    Raises
    ------
    PoolerError
        If `repool` and the pool cannot be made again.
    """
    if given.qrels is not None:
        return None
    with Collection(given.collection) as opened:
        pools = [pool for pool in opened.pools() if not pool.withdrawn]
    others = [
        f"pool `{pool.name}` {made}" for pool in pools if (made := made_otherwise(pool.manifest))
    ]
    if not others:
        return None
    what = "; ".join(others)
    if repool:
        recipe: Recipe | str = "there are others beside it"
        if len(pools) == 1:
            recipe = recipe_of(pools[0].manifest, order=given.order.value)
        if isinstance(recipe, Recipe) and depth not in (None, recipe.depth):
            recipe = f"its depth is {recipe.depth:,}, not {depth:,}"
        if isinstance(recipe, str):
            message = f"{what}; it cannot be made again without a run: {recipe}"
            raise PoolerError(message, hint=_HINT)
        return recipe
    if depth is None:
        warn(f"{what}: what follows looks at a depth pool of the same runs; --depth N says which")
    if any(is_sampled(pool.manifest) for pool in pools):
        say("`pooler estimate` scores runs by a sample of a pool")
    return None


def made_otherwise(manifest: Mapping[str, Any]) -> str | None:
    """Say how a pool was made; ``None`` = by depth alone."""
    strategy = manifest.get("strategy")
    budgets = {
        "documents a topic": manifest.get("budget"),
        "documents in all": manifest.get("total_budget"),
    }
    limits = [f"{size:,} {what}" for what, size in budgets.items() if size is not None]
    if strategy == "depth" and not limits:
        return None
    by = f"was made by `{strategy}`" if strategy else "was not made here"
    return f"{by} with {limits[0]}" if limits else by


def is_sampled(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a pool is a sample."""
    name = manifest.get("strategy")
    return name in STRATEGIES and isinstance(STRATEGIES[name], SamplingStrategy)
