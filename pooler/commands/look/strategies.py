"""The strategies by which documents are chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pooler.result import Result
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, Parameter, SamplingStrategy
from pooler.tables import Column, Table


def list_strategies() -> Strategies:
    """List the strategies there are.

    Returns
    -------
    Strategies
        Their names, kinds, parameters with defaults, and sources.

    Examples
    --------
    >>> list_strategies().table("strategies").head(1).to_dict()["strategy"]
    ['depth']
    """
    return Strategies()


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Strategies(Result):
    """The strategies; table: `strategies`, a row each."""

    def _tables(self) -> Iterator[Table]:
        columns = [
            Column("strategy"),
            Column("kind"),
            Column("parameters", "texts"),
            Column("summary"),
            Column("source"),
        ]
        yield Table.of_records(
            "strategies",
            columns,
            STRATEGIES.values(),
            notes=_NOTES,
            strategy=lambda one: one.name,
            kind=_kind,
            parameters=lambda one: [*map(_parameter, one.parameters)],
        )


_NOTES = (
    "fixed: all documents at once; adaptive: while judging goes on; sample: at random.",
    "comb-*: scores scaled to 0-1 within a run and topic, 0.5 where they are all equal.",
    "FILE.py:function: your own, from the rankings of a topic to a value for each document.",
    "k=60: a parameter and its default, changed by --param k=30; p=...: must be given.",
)


def _kind(row: AnyStrategy) -> str:
    if isinstance(row, AdaptiveStrategy):
        return "adaptive"
    return "sample" if isinstance(row, SamplingStrategy) else "fixed"


def _parameter(parameter: Parameter) -> str:
    default = parameter.default
    shown = f"{default:g}" if isinstance(default, float) else default
    return f"{parameter.name}={'...' if default is None else shown}"
