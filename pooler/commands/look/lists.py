"""The strategies by which documents are chosen, and the measures that score runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pooler.result import Result
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, Parameter, SamplingStrategy
from pooler.tables import Column, Table
from store.analysis.measures.names import ALIASES, DCGS, MEASURES, Definition


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


def list_measures() -> MeasureList:
    """List the measures, what they can be told, and what else they are called.

    Examples
    --------
    >>> list_measures().table("measures").to_records()[0]["measure"]
    'AP[@N]'
    """
    return MeasureList()


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MeasureList(Result):
    """The measures there are; table: `measures`."""

    def _tables(self) -> Iterator[Table]:
        others: dict[str, list[str]] = {}
        for alias, known in ALIASES.items():
            others.setdefault(known, []).append(alias)
        columns = {
            Column("measure"): [known + _at(measure) for known, measure in MEASURES.items()],
            Column("parameters", "texts"): [
                [f"{parameter}=" for parameter in measure.parameters] for measure in MEASURES.values()
            ],
            Column("also", "texts"): [others.get(known, []) for known in MEASURES],
            Column("summary"): [measure.summary for measure in MEASURES.values()],
        }
        notes = [
            "@N: ranks that count; in brackets where optional. (rel=N): least relevant grade, instead of"
            f" the level. dcg: {', '.join(DCGS)} (the first two as ir_measures; the others of the original"
            " article, which it lacks).",
            "(condensed): of the list without its unjudged documents, as trec_eval -J; of all but estimates,"
            " Judged, Unjudged and RBPResidual. max: highest grade of the scale.",
            "docs: size of the collection. beta: how much more recall counts than precision; in Q, how"
            " much gains count.",
            "Upper and lower case make no difference. Names of trec_eval are known: map, P_5,"
            " ndcg_cut_10, ...",
        ]
        yield Table.of_columns("measures", columns, notes=notes).seen_as(limit=len(MEASURES))


def _at(measure: Definition) -> str:
    if measure.at is None:
        return ""
    at = "@RECALL" if measure.at == "recall" else "@N"
    return at if measure.is_at_required else f"[{at}]"
