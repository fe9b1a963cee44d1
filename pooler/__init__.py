"""Pools, judgements, agreement, and what scores are worth: the API of notebooks and of the commands.

Every name is imported when it is first used::

    import pooler as p

    s = p.source("runs/*.run", qrels="strict.qrels", level=1)
    p.sensitivity(s, depth=100)  # a notebook shows the first view of a result

A result has arrays by name, `settings` with every parameter, `warnings`, and tables: `table(name)`
with `to_records`, `to_dict`, `to_pandas`, `to_polars`, `to_arrow`. What a command prints is what the
function of the same name returns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pooler.results.agree.agreement import agreement
    from pooler.results.agree.differences import compare_qrels
    from pooler.results.agree.matters import disagreement_matters
    from pooler.results.agree.sharing import plan_sharing
    from pooler.results.measure.compare import compare
    from pooler.results.measure.evaluate import evaluate, list_measures
    from pooler.results.measure.sensitivity import (
        missing_bounds,
        missing_pairs,
        sensitivity,
        sensitivity_each,
        sensitivity_pairs,
    )
    from pooler.results.reading import create_collection, open_collection, read_qrels, read_runs
    from pooler.results.source import source
    from store.errors import ArgumentError, FormatError, PoolerError, StoreError, UnknownNameError

__version__ = "0.1.0"

_MODULES = {
    "pooler.results.agree.agreement": ("agreement",),
    "pooler.results.agree.differences": ("compare_qrels",),
    "pooler.results.agree.matters": ("disagreement_matters",),
    "pooler.results.agree.sharing": ("plan_sharing",),
    "pooler.results.measure.compare": ("compare",),
    "pooler.results.measure.evaluate": ("evaluate", "list_measures"),
    "pooler.results.reading": ("create_collection", "open_collection", "read_qrels", "read_runs"),
    "pooler.results.source": ("source",),
    "pooler.results.measure.sensitivity": (
        "missing_bounds", "missing_pairs", "sensitivity", "sensitivity_each", "sensitivity_pairs",
    ),
    "store.errors": ("ArgumentError", "FormatError", "PoolerError", "StoreError", "UnknownNameError"),
}  # fmt: skip
"""Where each public name is."""
_WHERE = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "ArgumentError",
    "FormatError",
    "PoolerError",
    "StoreError",
    "UnknownNameError",
    "agreement",
    "compare",
    "compare_qrels",
    "create_collection",
    "disagreement_matters",
    "evaluate",
    "list_measures",
    "missing_bounds",
    "missing_pairs",
    "open_collection",
    "plan_sharing",
    "read_qrels",
    "read_runs",
    "sensitivity",
    "sensitivity_each",
    "sensitivity_pairs",
    "source",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _WHERE:
        message = f"module 'pooler' has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
