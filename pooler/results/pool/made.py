"""How the pools of a collection were made, where that is not by depth alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pooler.messages import say, warn
from pooler.results.source import Source, opened_collection
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import SamplingStrategy


def check_pools(source: Source, *, depth: int | None) -> None:
    """Say where pools of the collection are no depth pools."""
    if source.is_of_files:
        return
    with opened_collection(source.collection) as opened:
        pools = [pool for pool in opened.pools.all() if not pool.withdrawn]
    others = [f"pool `{pool.name}` {made}" for pool in pools if (made := made_otherwise(pool.manifest))]
    if others and depth is None:
        what = "; ".join(others)
        warn(f"{what}: what follows describes a depth pool of the same runs; --depth N chooses its depth")
    if any(is_sampled(pool.manifest) for pool in pools):
        say("`pooler estimate` scores runs from a sample of a pool")


def made_otherwise(manifest: Mapping[str, Any]) -> str | None:
    """Say how a pool was made; ``None`` = by depth alone."""
    strategy = manifest.get("strategy")
    budget = manifest.get("budget")
    if strategy == "depth" and budget is None:
        return None
    by = f"was made by `{strategy}`" if strategy else "was not made here"
    return by if budget is None else f"{by} with {budget:,} documents per topic"


def is_sampled(manifest: Mapping[str, Any]) -> bool:
    """Return whether a pool is a sample."""
    name = manifest.get("strategy")
    return name in STRATEGIES and isinstance(STRATEGIES[name], SamplingStrategy)
