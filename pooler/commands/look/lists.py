"""The strategies by which documents are chosen, and the measures that score runs."""

from __future__ import annotations

from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy, AnyStrategy, Parameter, SamplingStrategy
from pooler.tables import Column, Table
from store.analysis.measures.names import ALIASES, DCGS, MEASURES, Definition


def strategies_table() -> Table:
    """Make a row a strategy: its kind, parameters with defaults, and source."""
    names = ("strategy", "kind", "parameters", "summary", "source")
    return Table.of_records(
        "strategies",
        [Column(name, "texts" if name == "parameters" else "text") for name in names],
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


def measures_table() -> Table:
    """Make a row a measure: what it can be told, and what else it is called."""
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
        "Upper and lower case make no difference. Names of trec_eval are known: map, P_5, ndcg_cut_10, ...",
    ]
    return Table.of_columns("measures", columns, notes=notes).seen_as(limit=len(MEASURES))


def _at(measure: Definition) -> str:
    if measure.at is None:
        return ""
    at = "@RECALL" if measure.at == "recall" else "@N"
    return at if measure.is_at_required else f"[{at}]"
