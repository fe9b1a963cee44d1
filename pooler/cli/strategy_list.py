"""The table of strategies that `pooler pool --list` shows."""

from __future__ import annotations

from collections.abc import Mapping

from pooler.cli.console import Cell, Column, Format, Table, emit
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, Parameter, SamplingStrategy


def show_strategies(fmt: Format) -> None:
    """Print every strategy with its parameters and source."""
    rows: list[Mapping[str, Cell]] = [
        {
            "strategy": row.name,
            "kind": _kind(row),
            "parameters": " ".join(map(_parameter, row.parameters)),
            "summary": row.summary,
            "source": row.source,
        }
        for row in STRATEGIES.values()
    ]
    columns = [Column(name) for name in ("strategy", "kind", "parameters", "summary", "source")]
    emit([Table("strategies", columns, rows)], fmt)


def _kind(row: AnyStrategy) -> str:
    """Name the kind of a strategy."""
    if isinstance(row, AdaptiveStrategy):
        return "adaptive"
    return "sample" if isinstance(row, SamplingStrategy) else "fixed"


def _parameter(parameter: Parameter) -> str:
    """Show a parameter with its default."""
    default = "..." if parameter.default is None else parameter.default
    return f"{parameter.name}={default}"
