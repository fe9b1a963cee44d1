"""The table of strategies that `pooler pool --list` shows."""

from __future__ import annotations

from collections.abc import Mapping

from pooler.cli.console import Cell, Column, Format, Table, emit
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, Parameter, SamplingStrategy

CAPTION = """\
fixed: all documents at once; adaptive: while judging goes on; sample: at random.
comb-*: scores scaled to 0-1 within a run and topic, 0.5 where they are all equal.
k=60: a parameter and its default, changed by --param k=30; p=...: must be given."""


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
    emit([Table("strategies", columns, rows, caption=CAPTION)], fmt)


def _kind(row: AnyStrategy) -> str:
    """Name the kind of a strategy."""
    if isinstance(row, AdaptiveStrategy):
        return "adaptive"
    return "sample" if isinstance(row, SamplingStrategy) else "fixed"


def _parameter(parameter: Parameter) -> str:
    """Show a parameter with its default."""
    default = parameter.default
    shown = f"{default:g}" if isinstance(default, float) else default
    return f"{parameter.name}={'...' if default is None else shown}"
