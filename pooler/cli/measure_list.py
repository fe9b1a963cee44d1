"""The table of measures that `pooler evaluate --list` shows."""

from __future__ import annotations

from collections.abc import Mapping

from pooler.cli.console import Cell, Column, Format, Table, emit
from store.analysis.measure_names import ALIASES, DCGS, SIGNATURES, Signature

CAPTION = f"""\
@N: ranks that count; in brackets where it may be left out. (rel=N): least relevant
grade, instead of the level. dcg: {", ".join(DCGS)}.
docs: size of the collection. beta: how much more recall weighs than precision;
in Q, what gains weigh.
Upper and lower case are the same. Names of trec_eval are known: map, P_5, ndcg_cut_10, ..."""


def show_measures(fmt: Format) -> None:
    """Print every measure with what it can be told."""
    others: dict[str, list[str]] = {}
    for alias, name in ALIASES.items():
        others.setdefault(name, []).append(alias)
    rows: list[Mapping[str, Cell]] = [
        {
            "measure": name + _at(signature),
            "parameters": " ".join(f"{parameter}=" for parameter in signature.parameters) or None,
            "also": " ".join(others.get(name, ())) or None,
            "summary": signature.summary,
        }
        for name, signature in SIGNATURES.items()
    ]
    columns = [Column("measure"), Column("parameters"), Column("also"), Column("summary")]
    emit([Table("measures", columns, rows, caption=CAPTION)], fmt)


def _at(signature: Signature) -> str:
    """Show what stands after the name."""
    if signature.at is None:
        return ""
    at = "@RECALL" if signature.at == "recall" else "@N"
    return at if signature.is_at_required else f"[{at}]"
