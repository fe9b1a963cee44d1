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
from typing import Any

from pooler.version import __version__ as __version__

_MODULES = {
    "pooler.commands.measure.evaluate": ("attainable",),
    "pooler.commands.measure.measured": ("choose",),
    "pooler.commands.trust.paper_formulas": ("swap_of_ranks",),
    "pooler.qrels_rules": ("Qrels",),
    "pooler.commands.look.show": ("list_measures", "list_strategies"),
    "pooler.sources.opening": ("open_collection", "read_qrels", "read_runs"),
    "pooler.sources.source": ("source",),
    "store.errors": ("ArgumentError", "FormatError", "PoolerError", "StoreError", "UnknownNameError"),
}
"""Modules of the public names that are not commands."""
_WHERE = {name: module for module, names in _MODULES.items() for name in names}


def foreign_store() -> str:
    """Return a sentence if `store` is not the package that came with this one; empty = it is."""
    from importlib.util import find_spec
    from pathlib import Path

    found = find_spec("store")
    own = Path(__file__).resolve().parents[1] / "store" / "__init__.py"
    if found is not None and found.origin is not None and Path(found.origin).resolve() == own:
        return ""
    if not own.is_file():
        return f"pooler is not whole: {own} is missing; install it again"
    place = found and (found.origin or next(iter(found.submodule_search_locations or ()), None))
    return (
        f"another `store` stands before pooler's own: {place} instead of {own}; start elsewhere, rename it,"
        " or install pooler into an environment of its own"
    )


def _where() -> dict[str, str]:
    from pooler.commands import announced

    return _WHERE | {name: one.module for name, one in announced().items() if one.is_api}


def __getattr__(name: str) -> Any:
    if name == "datasets":  # a module that needs an extra: its names are its own
        return import_module("pooler.datasets")
    if name == "__all__":
        return sorted(_where())
    if name.startswith("_") or name not in _where():
        raise AttributeError(f"module 'pooler' has no attribute {name!r}")
    if message := foreign_store():
        raise ImportError(message)
    found = getattr(import_module(_where()[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_where()])
