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

from pooler.version import __version__ as __version__

if TYPE_CHECKING:
    from pooler.pages.report import report
    from pooler.qrels_rules import Qrels, qrels, qrels_define, qrels_drop
    from pooler.results.agree.aggregate import export_qrels
    from pooler.results.agree.agreement import agreement
    from pooler.results.agree.clusters import clusters
    from pooler.results.agree.differences import qrels_diff
    from pooler.results.agree.order_stability import disagreement_matters
    from pooler.results.agree.sharing import plan_sharing
    from pooler.results.audit.audit import audit
    from pooler.results.audit.corrected import corrected
    from pooler.results.keep.verify import verify
    from pooler.results.look.details import details
    from pooler.results.look.disagreements import disagreements
    from pooler.results.look.effort import effort
    from pooler.results.look.erasing import erasing
    from pooler.results.look.history import history
    from pooler.results.look.listing import listing
    from pooler.results.look.outdated import outdated
    from pooler.results.look.recall import recall_bounds
    from pooler.results.look.status import status
    from pooler.results.measures.at_rank import attainable
    from pooler.results.measures.choice import choose
    from pooler.results.measures.compare import compare
    from pooler.results.measures.curves import curves
    from pooler.results.measures.design import design
    from pooler.results.measures.estimate import estimate
    from pooler.results.measures.evaluate import evaluate, list_measures
    from pooler.results.paper.kishida import paper_of_kishida
    from pooler.results.paper.redone import paper
    from pooler.results.paper.required import ap_properties, required_difference, swap_of_ranks
    from pooler.results.pool.assign import assign, assigned, clear_assignments
    from pooler.results.pool.check import check_runs
    from pooler.results.pool.diagnose import diagnose
    from pooler.results.pool.diff import compare_pools
    from pooler.results.pool.duplicates import duplicates
    from pooler.results.pool.into import pool_collection
    from pooler.results.pool.pool import list_strategies, pool
    from pooler.results.pool.provenance import provenance
    from pooler.results.pool.replay import replay
    from pooler.results.pool.unpool import unpool
    from pooler.results.reading import create_collection, open_collection, read_qrels, read_runs
    from pooler.results.source import source
    from pooler.results.undiscovered.sensitivity import sensitivity, sensitivity_pairs
    from pooler.results.variation.next import next_documents
    from pooler.results.variation.probabilities import probabilities
    from pooler.results.variation.variation import variation
    from store.errors import ArgumentError, FormatError, PoolerError, StoreError, UnknownNameError

_MODULES = {
    "pooler.pages.report": ("report",),
    "pooler.qrels_rules": ("Qrels", "qrels", "qrels_define", "qrels_drop"),
    "pooler.results.agree.aggregate": ("export_qrels",),
    "pooler.results.agree.agreement": ("agreement",),
    "pooler.results.agree.clusters": ("clusters",),
    "pooler.results.agree.differences": ("qrels_diff",),
    "pooler.results.agree.order_stability": ("disagreement_matters",),
    "pooler.results.agree.sharing": ("plan_sharing",),
    "pooler.results.audit.audit": ("audit",),
    "pooler.results.audit.corrected": ("corrected",),
    "pooler.results.keep.verify": ("verify",),
    "pooler.results.look.details": ("details",),
    "pooler.results.look.disagreements": ("disagreements",),
    "pooler.results.look.effort": ("effort",),
    "pooler.results.look.erasing": ("erasing",),
    "pooler.results.look.history": ("history",),
    "pooler.results.look.listing": ("listing",),
    "pooler.results.look.outdated": ("outdated",),
    "pooler.results.look.recall": ("recall_bounds",),
    "pooler.results.look.status": ("status",),
    "pooler.results.measures.at_rank": ("attainable",),
    "pooler.results.measures.choice": ("choose",),
    "pooler.results.measures.compare": ("compare",),
    "pooler.results.measures.curves": ("curves",),
    "pooler.results.measures.design": ("design",),
    "pooler.results.measures.estimate": ("estimate",),
    "pooler.results.measures.evaluate": ("evaluate", "list_measures"),
    "pooler.results.paper.kishida": ("paper_of_kishida",),
    "pooler.results.paper.redone": ("paper",),
    "pooler.results.paper.required": ("ap_properties", "required_difference", "swap_of_ranks"),
    "pooler.results.pool.assign": ("assign", "assigned", "clear_assignments"),
    "pooler.results.pool.check": ("check_runs",),
    "pooler.results.pool.diagnose": ("diagnose",),
    "pooler.results.pool.diff": ("compare_pools",),
    "pooler.results.pool.duplicates": ("duplicates",),
    "pooler.results.pool.into": ("pool_collection",),
    "pooler.results.pool.pool": ("list_strategies", "pool"),
    "pooler.results.pool.provenance": ("provenance",),
    "pooler.results.pool.replay": ("replay",),
    "pooler.results.pool.unpool": ("unpool",),
    "pooler.results.reading": ("create_collection", "open_collection", "read_qrels", "read_runs"),
    "pooler.results.source": ("source",),
    "pooler.results.undiscovered.sensitivity": ("sensitivity", "sensitivity_pairs"),
    "pooler.results.variation.next": ("next_documents",),
    "pooler.results.variation.probabilities": ("probabilities",),
    "pooler.results.variation.variation": ("variation",),
    "store.errors": ("ArgumentError", "FormatError", "PoolerError", "StoreError", "UnknownNameError"),
}
"""Where each public name is."""
_WHERE = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "ArgumentError",
    "FormatError",
    "PoolerError",
    "Qrels",
    "StoreError",
    "UnknownNameError",
    "agreement",
    "ap_properties",
    "assign",
    "assigned",
    "attainable",
    "audit",
    "check_runs",
    "choose",
    "clear_assignments",
    "clusters",
    "compare",
    "compare_pools",
    "corrected",
    "create_collection",
    "curves",
    "design",
    "details",
    "diagnose",
    "disagreement_matters",
    "disagreements",
    "duplicates",
    "effort",
    "erasing",
    "estimate",
    "evaluate",
    "export_qrels",
    "history",
    "list_measures",
    "list_strategies",
    "listing",
    "next_documents",
    "open_collection",
    "outdated",
    "paper",
    "paper_of_kishida",
    "plan_sharing",
    "pool",
    "pool_collection",
    "probabilities",
    "provenance",
    "qrels",
    "qrels_define",
    "qrels_diff",
    "qrels_drop",
    "read_qrels",
    "read_runs",
    "recall_bounds",
    "replay",
    "report",
    "required_difference",
    "sensitivity",
    "sensitivity_pairs",
    "source",
    "status",
    "swap_of_ranks",
    "unpool",
    "variation",
    "verify",
]


def foreign_store() -> str:
    """Say in a sentence that `store` is not the package that came with this one; empty = it is."""
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


def __getattr__(name: str) -> Any:
    if name == "datasets":  # a module that needs an extra: its names are its own
        return import_module("pooler.datasets")
    if name not in _WHERE:
        message = f"module 'pooler' has no attribute {name!r}"
        raise AttributeError(message)
    if message := foreign_store():
        raise ImportError(message)
    found = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
