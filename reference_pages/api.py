"""The public API, by what it is for: mkdocstrings writes each function and what it returns."""

from __future__ import annotations

import inspect
import sys

import pooler
from pooler.results.result import Result
from reference_pages.markdown import code, heading

GROUPS = {
    "Runs, judgements and collections": (
        "source", "read_runs", "read_qrels", "open_collection", "create_collection", "check_runs",
    ),
    "Pools": (
        "pool", "pool_collection", "list_strategies", "compare_pools", "unpool", "provenance", "duplicates",
        "replay",
    ),
    "Judging": (
        "assign", "assigned", "clear_assignments", "status", "status_effort", "status_outdated",
        "recall_bounds", "ask", "history",
        "erasing",
    ),
    "What there is": (
        "show_runs", "show_topics", "show_docs", "show_pools", "show_judges", "show_guidelines",
        "show_strategies", "show_measures",
    ),
    "Agreement": (
        "agreement", "audit", "agreement_orders", "plan_sharing", "adjudicate", "compare_qrels",
        "clusters",
    ),
    "One grade for each document": ("aggregate", "collapse", "Qrels", "probabilities"),
    "Measures and comparisons": (
        "evaluate", "list_measures", "curves", "attainable", "choose", "estimate", "corrected",
        "compare", "design",
    ),
    "What the pool missed, and what judging again would change": (
        "diagnose", "sensitivity", "sensitivity_pairs", "variation", "next_documents", "report",
    ),
    "The paper": (
        "paper", "paper_of_kishida", "ap_properties", "required_difference", "swap_of_ranks",
    ),
    "Keeping": ("verify",),
    "Errors": ("PoolerError", "FormatError", "ArgumentError", "UnknownNameError", "StoreError"),
}  # fmt: skip


def _returned(name: str) -> str:
    """Return the path of the class of a function's result, or nothing where it is no result."""
    function = getattr(pooler, name)
    if inspect.isclass(function):
        return ""
    module = sys.modules[function.__module__]
    found = getattr(module, str(inspect.signature(function).return_annotation).strip("'\""), None)
    is_result = inspect.isclass(found) and issubclass(found, Result)
    return f"{found.__module__}.{found.__name__}" if is_result and found is not None else ""


def page() -> str:
    """Return the sections of the page; every public name is in one of them."""
    named = [name for names in GROUPS.values() for name in names]
    missing = set(pooler.__all__) - {"__version__"} ^ set(named)
    assert not missing, f"{sorted(missing)}: not in pooler.__all__, or in no group of reference_pages/api.py"
    lines: list[str] = []
    for title, names in GROUPS.items():
        lines += [f"**{title}**: {', '.join(f'[{code(name)}](#pooler.{name})' for name in names)}", ""]
    shown: set[str] = set()
    for title, names in GROUPS.items():
        lines += heading(2, title, f"group {title}")
        for name in names:
            lines += [f"::: pooler.{name}", ""]
            result = _returned(name)
            if result and result not in shown:
                shown.add(result)
                lines += [
                    f"::: {result}",
                    "    options:",
                    "      heading_level: 4",
                    "      members: true",
                    "",
                ]
    return "\n".join(lines)
